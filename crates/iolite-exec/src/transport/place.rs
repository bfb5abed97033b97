//! What one of several parallel instances has for itself: ports, a directory, a number.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use rustix::net::{self, AddressFamily, SocketFlags, SocketType};

use crate::{ExecError, JobId};

/// Ports that were given to an instance and not given back: the operating system may offer a port
/// again before its first owner listens on it.
static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

static DIRECTORIES: AtomicU64 = AtomicU64::new(0);

/// Directories of jobs that are there now.
static PRESENT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// How long the directories of jobs may take to be removed when the tester ends at once.
const AT_ONCE: Duration = Duration::from_millis(500);

/// Removes the directories of all jobs, as far as that goes at once.
pub(crate) fn remove_directories() {
    let (done, wait) = mpsc::channel();
    let remover = thread::Builder::new().spawn(move || {
        let present = PRESENT.lock().unwrap_or_else(PoisonError::into_inner);
        for dir in &*present {
            let _ = fs::remove_dir_all(dir);
        }
        let _ = done.send(());
    });
    if remover.is_ok() {
        let _ = wait.recv_timeout(AT_ONCE);
    }
}

/// The substitutions of a job: `{job}`, `{port}`, `{port2}` … `{port9}`, `{dir}`.
///
/// Ports are free ones, or with a base port `base + 10 * job + k`. The directory is made when it is
/// first asked for, and removed in the end.
#[derive(Debug)]
pub struct JobPlace {
    job: JobId,
    base_port: Option<u16>,
    ports: Vec<Option<u16>>,
    dir: Option<PathBuf>,
}

impl JobPlace {
    /// The place of a job.
    pub fn new(job: JobId, base_port: Option<u16>) -> Self {
        Self {
            job,
            base_port,
            ports: vec![None; 10],
            dir: None,
        }
    }

    fn port(&mut self, index: usize) -> Result<u16, ExecError> {
        if let Some(port) = self.ports[index] {
            return Ok(port);
        }
        let port = match self.base_port {
            Some(base) => usize::from(base)
                .checked_add(10 * self.job.0 + index - 1)
                .and_then(|port| u16::try_from(port).ok())
                .ok_or_else(|| {
                    ExecError::Config(format!("no port is left above {base} for this job"))
                })?,
            None => free_port()?,
        };
        self.ports[index] = Some(port);
        Ok(port)
    }

    /// The directory of this job.
    pub fn dir(&mut self) -> Result<&Path, ExecError> {
        if self.dir.is_none() {
            let number = DIRECTORIES.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!(
                "iolite-{}-{number}-job{}",
                std::process::id(),
                self.job.0
            ));
            fs::create_dir_all(&path)
                .map_err(|e| ExecError::system(format!("cannot make {}", path.display()), e))?;
            let mut present = PRESENT.lock().unwrap_or_else(PoisonError::into_inner);
            present.insert(path.clone());
            self.dir = Some(path);
        }
        Ok(self.dir.as_deref().unwrap_or(Path::new(".")))
    }

    /// Fills in `{job}`, `{port}`, `{dir}`; other braces stay as they are.
    pub fn fill(&mut self, text: &str) -> Result<String, ExecError> {
        let mut out = String::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            out.push_str(&rest[..open]);
            rest = &rest[open..];
            let Some(close) = rest.find('}') else { break };
            match &rest[1..close] {
                "job" => out.push_str(&self.job.0.to_string()),
                "dir" => out.push_str(&self.dir()?.display().to_string()),
                "port" => out.push_str(&self.port(1)?.to_string()),
                name => {
                    let index = name
                        .strip_prefix("port")
                        .and_then(|n| n.parse::<usize>().ok())
                        .filter(|n| (1..10).contains(n));
                    let Some(index) = index else {
                        out.push('{');
                        rest = &rest[1..];
                        continue;
                    };
                    out.push_str(&self.port(index)?.to_string());
                }
            }
            rest = &rest[close + 1..];
        }
        out.push_str(rest);
        Ok(out)
    }
}

/// Ports that operating systems give to nobody by themselves. A client that tries to reach a port
/// of theirs before anybody listens there may be given that very port and meet itself; then the
/// system under test cannot have it any more.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// Whether nobody uses a port. Nothing ever listens there: another instance may be waiting for its
/// own system at the very port, and would be connected to a listener that is gone at once.
fn is_unused(port: u16) -> std::io::Result<bool> {
    // A system that another job starts meanwhile must not inherit it, and keep the port.
    let own = SocketFlags::CLOEXEC;
    let socket = net::socket_with(AddressFamily::INET, SocketType::STREAM, own, None)?;
    Ok(net::bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)).is_ok())
}

fn free_port() -> Result<u16, ExecError> {
    let fault = |e: &dyn std::fmt::Display| ExecError::system("cannot find a free port", e);
    for _ in 0..1_000 {
        let lot = RandomState::new().build_hasher().finish();
        let width = u64::from(PORTS.end - PORTS.start);
        let port = PORTS.start + (lot % width) as u16;
        let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
        if !given.contains(&port) && is_unused(port).map_err(|e| fault(&e))? {
            given.insert(port);
            return Ok(port);
        }
    }
    Err(fault(&"all are taken"))
}

impl Drop for JobPlace {
    fn drop(&mut self) {
        let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
        for port in self.ports.iter().flatten() {
            given.remove(port);
        }
        if let Some(dir) = &self.dir {
            let _ = fs::remove_dir_all(dir);
            let mut present = PRESENT.lock().unwrap_or_else(PoisonError::into_inner);
            present.remove(dir);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_filled_in() {
        let mut place = JobPlace::new(JobId(3), Some(4000));
        assert_eq!(
            place
                .fill("{job} {port} {port2} {port} {x} {{n}} {")
                .unwrap(),
            "3 4030 4031 4030 {x} {{n}} {"
        );
        let mut free = JobPlace::new(JobId(0), None);
        assert_eq!(free.fill("{port}").unwrap(), free.fill("{port}").unwrap());
        assert_ne!(free.fill("{port}").unwrap(), free.fill("{port2}").unwrap());
        let dir = PathBuf::from(free.fill("{dir}").unwrap());
        assert!(dir.is_dir());
        drop(free);
        assert!(!dir.exists());
    }
}
