//! TCP, with the tester as client or as server.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::sockopt::set_socket_linger;

use crate::ExecError;
use crate::transport::interrupt;
use crate::transport::link::{Address, ExitProbe};
use crate::transport::socket::{Server, Socket};
use crate::transport::stream_buffer::StreamBuffer;
use crate::transport::stream_link::Endpoint;

/// Who connects to whom.
pub(crate) enum TcpRole {
    /// The system listens, and the tester connects.
    Client(Server),
    /// The tester listens at this address, and the system connects.
    Server(String),
}

/// The first address of a name.
pub(crate) fn resolve(address: &str) -> Result<SocketAddr, ExecError> {
    resolve_all(address).map(|all| all[0])
}

/// All addresses of a name, at least one: `localhost` may be two, and the system listen at one of them.
pub(crate) fn resolve_all(address: &str) -> Result<Vec<SocketAddr>, ExecError> {
    let all: Vec<SocketAddr> = address
        .to_socket_addrs()
        .map_err(|e| ExecError::unreachable(address, e))?
        .collect();
    if all.is_empty() {
        return Err(ExecError::unreachable(address, "the name has no address"));
    }
    Ok(all)
}

/// Connects to the first of these addresses where somebody listens.
fn connect_any(targets: &[SocketAddr], deadline: Instant) -> std::io::Result<TcpStream> {
    let mut result = Err(ErrorKind::AddrNotAvailable.into());
    for target in targets {
        let left = deadline.saturating_duration_since(Instant::now()).max(NAP);
        result = TcpStream::connect_timeout(target, left);
        if result.is_ok() {
            break;
        }
    }
    result
}

const NAP: Duration = Duration::from_millis(2);

/// Connects as a client; a system that is just starting may refuse for a while.
pub(crate) fn connect(
    address: &str,
    deadline: Instant,
    retry: bool,
    alive: ExitProbe,
) -> Result<TcpStream, ExecError> {
    let targets = resolve_all(address)?;
    loop {
        interrupt::check()?;
        match connect_any(&targets, deadline) {
            // Where nobody listens, the system may choose the target as our own local port, and the
            // socket connects to itself.
            Ok(stream) if stream.local_addr().ok() == stream.peer_addr().ok() => {
                // Closed without TIME_WAIT, which would keep the system off the port for a minute.
                let _ = set_socket_linger(&stream, Some(Duration::ZERO));
                drop(stream);
                thread::sleep(NAP);
            }
            Ok(stream) => {
                configure(&stream).map_err(|e| ExecError::unreachable(address, e))?;
                return Ok(stream);
            }
            Err(e) => {
                if !retry || Instant::now() >= deadline {
                    return Err(ExecError::unreachable(address, e));
                }
                if let Some(exit) = alive() {
                    return Err(ExecError::unreachable(
                        address,
                        format!("the system under test ended: {exit}"),
                    ));
                }
                thread::sleep(NAP);
            }
        }
    }
}

fn configure(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)
}

/// A TCP connection in one of the roles.
pub(crate) struct Tcp {
    role: TcpRole,
    listener: Option<TcpListener>,
}

impl Tcp {
    pub(crate) fn new(role: TcpRole) -> Self {
        Self {
            role,
            listener: None,
        }
    }
}

impl Endpoint for Tcp {
    type Stream = Socket;

    fn prepare(&mut self) -> Result<(), ExecError> {
        if let TcpRole::Client(server) = &mut self.role {
            server.prepare();
        }
        if let (TcpRole::Server(address), None) = (&self.role, &self.listener) {
            let listener =
                TcpListener::bind(address).map_err(|e| ExecError::unreachable(address, e))?;
            listener
                .set_nonblocking(true)
                .map_err(|e| ExecError::unreachable(address, e))?;
            self.listener = Some(listener);
        }
        // A connection that the earlier run's system made and nobody took is not this run's.
        while let Some(Ok(_)) = self.listener.as_ref().map(TcpListener::accept) {}
        Ok(())
    }

    fn address(&self) -> Option<Address<'_>> {
        match &self.role {
            TcpRole::Client(server) => Some(Address::Tcp(server.address())),
            TcpRole::Server(_) => None,
        }
    }

    fn open(
        &mut self,
        _: &mut StreamBuffer,
        deadline: Instant,
        retry: bool,
        alive: ExitProbe,
    ) -> Result<Socket, ExecError> {
        match (&mut self.role, &self.listener) {
            (TcpRole::Client(server), _) => server.connect(deadline, retry, alive),
            (TcpRole::Server(address), Some(listener)) => {
                accept(address, listener, deadline, alive).map(Socket::Plain)
            }
            (TcpRole::Server(address), None) => {
                Err(ExecError::unreachable(&**address, "not listening"))
            }
        }
    }
}

/// Waits for the system to connect.
fn accept(
    address: &str,
    listener: &TcpListener,
    deadline: Instant,
    alive: ExitProbe,
) -> Result<TcpStream, ExecError> {
    loop {
        interrupt::check()?;
        match listener.accept() {
            Ok((stream, _)) => {
                configure(&stream).map_err(|e| ExecError::unreachable(address, e))?;
                return Ok(stream);
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => {}
            Err(e) => return Err(ExecError::unreachable(address, e)),
        }
        if let Some(exit) = alive() {
            return Err(ExecError::unreachable(
                address,
                format!("the system under test ended: {exit}"),
            ));
        }
        if Instant::now() >= deadline {
            return Err(ExecError::unreachable(
                address,
                "the system under test did not connect",
            ));
        }
        thread::sleep(NAP);
    }
}
