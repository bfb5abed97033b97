//! TCP, with the tester as client or as server.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;
use std::time::{Duration, Instant};

use crate::framing::Framer;
use crate::link::{Alive, Link, StreamBuffer};
use crate::{Bounds, ExecError, Framing};

/// Who connects to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TcpRole {
    /// The system listens at this address.
    Client(String),
    /// The tester listens at this address, and the system connects.
    Server(String),
}

pub(crate) fn resolve(address: &str) -> Result<SocketAddr, ExecError> {
    address
        .to_socket_addrs()
        .map_err(|e| ExecError::unreachable(address, e))?
        .next()
        .ok_or_else(|| ExecError::unreachable(address, "the name has no address"))
}

const NAP: Duration = Duration::from_millis(2);

/// Connects as a client; a system that is just starting may refuse for a while.
pub(crate) fn connect(
    address: &str,
    deadline: Instant,
    retry: bool,
    alive: Alive,
) -> Result<TcpStream, ExecError> {
    let target = resolve(address)?;
    loop {
        let left = deadline.saturating_duration_since(Instant::now()).max(NAP);
        match TcpStream::connect_timeout(&target, left) {
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

/// A TCP connection as a channel.
pub(crate) struct TcpLink {
    name: String,
    role: TcpRole,
    listener: Option<TcpListener>,
    stream: Option<TcpStream>,
    buffer: StreamBuffer,
    framer: Framer,
    bounds: Bounds,
}

impl TcpLink {
    pub(crate) fn new(name: &str, role: TcpRole, framing: Framing, bounds: Bounds) -> Self {
        Self {
            name: name.into(),
            role,
            listener: None,
            stream: None,
            buffer: StreamBuffer::new(),
            framer: Framer::new(framing),
            bounds,
        }
    }

    fn accept(&mut self, deadline: Instant, alive: Alive) -> Result<TcpStream, ExecError> {
        let TcpRole::Server(address) = &self.role else {
            unreachable!("only a server accepts");
        };
        let Some(listener) = &self.listener else {
            return Err(ExecError::unreachable(address, "not listening"));
        };
        loop {
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
}

impl Link for TcpLink {
    fn prepare(&mut self) -> Result<(), ExecError> {
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

    fn connect(&mut self, deadline: Instant, retry: bool, alive: Alive) -> Result<(), ExecError> {
        self.close();
        self.stream = Some(match &self.role {
            TcpRole::Client(address) => connect(address, deadline, retry, alive)?,
            TcpRole::Server(_) => self.accept(deadline, alive)?,
        });
        Ok(())
    }

    fn close(&mut self) {
        self.stream = None;
        self.buffer.clear();
        self.framer.clear();
    }

    fn readers<'a>(&'a self, fds: &mut Vec<BorrowedFd<'a>>) {
        if let (Some(stream), None) = (&self.stream, &self.buffer.ended) {
            fds.push(stream.as_fd());
        }
    }

    fn writer(&self) -> Option<BorrowedFd<'_>> {
        self.stream.as_ref().map(AsFd::as_fd)
    }

    fn pump(&mut self) -> Result<bool, ExecError> {
        Ok(match &mut self.stream {
            Some(stream) => self.buffer.read_from(stream),
            None => false,
        })
    }

    fn next(&mut self, message: &mut Vec<u8>) -> Result<bool, ExecError> {
        self.framer
            .next(&self.name, &mut self.buffer, &self.bounds, message)
    }

    fn half(&self) -> Option<&[u8]> {
        Some(self.buffer.unread()).filter(|bytes| !bytes.is_empty())
    }

    fn pending(&self) -> usize {
        self.buffer.unread().len()
    }

    fn ended(&self) -> Option<&str> {
        self.buffer.ended.as_deref()
    }

    fn enqueue(&mut self, message: &[u8]) -> Result<(), ExecError> {
        self.framer.frame(message, &mut self.buffer.output)
    }

    fn flush(&mut self) -> Result<usize, ExecError> {
        match &mut self.stream {
            Some(stream) => self.buffer.write_to(stream),
            None => Err(ErrorKind::NotConnected.into()),
        }
        .map_err(|e| ExecError::Dropped {
            channel: self.name.clone(),
            reason: e.to_string(),
        })
    }
}
