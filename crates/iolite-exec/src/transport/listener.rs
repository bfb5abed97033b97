//! Who listens at an address: a run must not talk to a process that somebody else started.

use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use rustix::process::Pid;

use crate::ExecError;
use crate::transport::tcp::{resolve, resolve_all};

/// How long an answer may take where nobody should answer. Own addresses refuse at once.
const PROBE: Duration = Duration::from_millis(300);

/// The fault of an address that was taken before the system was started.
fn taken(address: &str, target: SocketAddr) -> ExecError {
    let by = match owner::listener_pid(target) {
        Some((pid, name)) => format!(" by process {pid} ({name})"),
        None => String::new(),
    };
    ExecError::unreachable(
        address,
        format!(
            "it is in use{by} before the command was started; end that process, choose another port \
             such as {{port}}, or say `attach = true` to test what is there"
        ),
    )
}

/// Nobody may accept connections at an address where the system is about to listen.
pub(crate) fn check_tcp_is_free(address: &str) -> Result<(), ExecError> {
    for target in resolve_all(address)? {
        if let Ok(stream) = TcpStream::connect_timeout(&target, PROBE) {
            // Where nobody listens, the socket may have met itself. Closed without TIME_WAIT.
            let itself = stream.local_addr().ok() == stream.peer_addr().ok();
            let _ = set_socket_linger(&stream, Some(Duration::ZERO));
            if !itself {
                return Err(taken(address, target));
            }
        }
    }
    Ok(())
}

/// Nobody may have bound the port where the system is about to receive datagrams.
pub(crate) fn check_udp_is_free(address: &str) -> Result<(), ExecError> {
    let target = resolve(address)?;
    match UdpSocket::bind(target) {
        Err(e) if e.kind() == std::io::ErrorKind::AddrInUse => Err(taken(address, target)),
        _ => Ok(()),
    }
}

/// Whether somebody has bound the port, on this machine, that datagrams to this address come to. `None` where that cannot be known.
pub(crate) fn is_bound(address: &str) -> Result<Option<bool>, ExecError> {
    let target = resolve(address)?;
    Ok(if target.ip().to_canonical().is_loopback() {
        owner::is_bound(target)
    } else {
        None
    })
}

/// Whoever listens at an address of this machine must be of the system that was started: it may have
/// failed to listen there because another process was quicker. Nothing is said where no listener is
/// found: the system may be elsewhere, or listen no longer.
pub(crate) fn check_listener(address: &str, leader: Pid, mark: &str) -> Result<(), ExecError> {
    let mut foreign = resolve_all(address)?
        .into_iter()
        .filter_map(|target| owner::foreign_listener(target, leader, mark));
    let Some((pid, name)) = foreign.next() else {
        return Ok(());
    };
    Err(ExecError::unreachable(
        address,
        format!(
            "process {pid} ({name}) listens there, which is not of the command that was started; end \
             that process, choose another port such as {{port}}, or say `attach = true` to test what \
             is there"
        ),
    ))
}

#[cfg(target_os = "linux")]
mod owner {
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

    use rustix::process::Pid;

    use crate::transport::process_tree::MARK;

    /// State of a listening TCP socket, and of a bound UDP socket, in the tables of the kernel.
    const LISTEN: &str = "0A";
    const BOUND: &str = "07";

    /// An address as the kernel's tables write it: words of four bytes, each in the machine's order.
    fn parse_address(text: &str) -> Option<SocketAddr> {
        let (ip, port) = text.split_once(':')?;
        let port = u16::from_str_radix(port, 16).ok()?;
        if !ip.is_ascii() {
            return None;
        }
        let mut bytes = Vec::new();
        for word in ip.as_bytes().chunks(8) {
            let word = u32::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok()?;
            bytes.extend(word.to_ne_bytes());
        }
        let ip = match *bytes {
            [a, b, c, d] => IpAddr::V4(Ipv4Addr::new(a, b, c, d)),
            _ => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?)),
        };
        Some(SocketAddr::new(ip.to_canonical(), port))
    }

    /// The sockets that take what is sent to an address of this machine.
    fn sockets(target: SocketAddr) -> Vec<String> {
        let mut inodes = Vec::new();
        let wanted = target.ip().to_canonical();
        for (table, state) in [
            ("tcp", LISTEN),
            ("tcp6", LISTEN),
            ("udp", BOUND),
            ("udp6", BOUND),
        ] {
            let Ok(text) = std::fs::read_to_string(format!("/proc/net/{table}")) else {
                continue;
            };
            for line in text.lines().skip(1) {
                let fields: Vec<&str> = line.split_whitespace().collect();
                let (Some(local), Some(found), Some(inode)) =
                    (fields.get(1), fields.get(3), fields.get(9))
                else {
                    continue;
                };
                let Some(local) = parse_address(local).filter(|_| *found == state) else {
                    continue;
                };
                let reaches = local.ip() == wanted || local.ip().is_unspecified();
                if local.port() == target.port() && reaches {
                    inodes.push(format!("socket:[{inode}]"));
                }
            }
        }
        inodes
    }

    /// Whether a UDP socket, connected or not, takes what is sent to an address of this machine.
    pub(super) fn is_bound(target: SocketAddr) -> Option<bool> {
        let wanted = target.ip().to_canonical();
        let mut known = false;
        for table in ["udp", "udp6"] {
            let Ok(text) = std::fs::read_to_string(format!("/proc/net/{table}")) else {
                continue;
            };
            known = true;
            let locals = text
                .lines()
                .skip(1)
                .filter_map(|line| parse_address(line.split_whitespace().nth(1)?));
            for local in locals {
                let reaches = local.ip() == wanted || local.ip().is_unspecified();
                if local.port() == target.port() && reaches {
                    return Some(true);
                }
            }
        }
        known.then_some(false)
    }

    fn holds(pid: &str, sockets: &[String]) -> bool {
        let Ok(fds) = std::fs::read_dir(format!("/proc/{pid}/fd")) else {
            return false;
        };
        fds.flatten().any(|fd| {
            std::fs::read_link(fd.path())
                .is_ok_and(|link| sockets.iter().any(|s| link.as_os_str() == s.as_str()))
        })
    }

    fn pids() -> Vec<String> {
        let Ok(entries) = std::fs::read_dir("/proc") else {
            return Vec::new();
        };
        let names = entries
            .flatten()
            .filter_map(|e| e.file_name().into_string().ok());
        names
            .filter(|name| name.bytes().all(|b| b.is_ascii_digit()))
            .collect()
    }

    fn name(pid: &str) -> String {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        name.trim_end().escape_debug().to_string()
    }

    /// A process that listens at this address, and its name.
    pub(super) fn listener_pid(target: SocketAddr) -> Option<(String, String)> {
        let sockets = sockets(target);
        if sockets.is_empty() {
            return None;
        }
        let pid = pids().into_iter().find(|pid| holds(pid, &sockets))?;
        let name = name(&pid);
        Some((pid, name))
    }

    /// Parent and process group.
    fn kin(pid: &str) -> Option<(i32, i32)> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (_, rest) = stat.rsplit_once(") ")?;
        let mut fields = rest.split(' ').skip(1);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    }

    /// Whether a process belongs to the system: by its group, by its mark, by its parents.
    fn is_of(pid: &str, leader: Pid, mark: &str) -> bool {
        let leader = leader.as_raw_nonzero().get();
        let entry = format!("{MARK}={mark}");
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        if environment
            .split(|&b| b == 0)
            .any(|e| e == entry.as_bytes())
        {
            return true;
        }
        let mut at = pid.to_owned();
        // Parents end at process 0; the bound is for tables that change while they are read.
        for _ in 0..1000 {
            let Some((parent, group)) = kin(&at) else {
                return false;
            };
            if at == leader.to_string() || group == leader {
                return true;
            }
            if parent <= 1 {
                return false;
            }
            at = parent.to_string();
        }
        false
    }

    /// A process outside of the system that listens at this address, if nobody of the system does.
    pub(super) fn foreign_listener(
        target: SocketAddr,
        leader: Pid,
        mark: &str,
    ) -> Option<(String, String)> {
        let sockets = sockets(target);
        // Most systems listen in the process that was started.
        if sockets.is_empty() || holds(&leader.to_string(), &sockets) {
            return None;
        }
        let holders = pids().into_iter().filter(|pid| holds(pid, &sockets));
        let mut foreign = None;
        for pid in holders {
            if is_of(&pid, leader, mark) {
                return None;
            }
            foreign.get_or_insert(pid);
        }
        foreign.map(|pid| {
            let name = name(&pid);
            (pid, name)
        })
    }
}

#[cfg(not(target_os = "linux"))]
mod owner {
    use std::net::SocketAddr;

    use rustix::process::Pid;

    pub(super) fn listener_pid(_: SocketAddr) -> Option<(String, String)> {
        None
    }

    pub(super) fn is_bound(_: SocketAddr) -> Option<bool> {
        None
    }

    pub(super) fn foreign_listener(_: SocketAddr, _: Pid, _: &str) -> Option<(String, String)> {
        None
    }
}
