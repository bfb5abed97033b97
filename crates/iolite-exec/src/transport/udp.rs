//! UDP: a message a datagram, with an own and a peer address.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::PollFd;

use crate::transport::interrupt;
use crate::transport::link::{Address, ExitProbe, Inbox, Link};
use crate::transport::listener;
use crate::transport::readiness::reading;
use crate::transport::tcp::resolve;
use crate::{Bounds, ExecError};

/// A pair of UDP addresses as a channel. Datagrams of others are faults: taken for silence they could make a
/// verdict.
pub(crate) struct UdpLink {
    name: String,
    own: String,
    peer: String,
    /// Whether the peer may answer from any of its ports; what follows is sent to that one.
    any_port: bool,
    /// Whether a run begins only when somebody has bound the peer's port.
    awaits_peer: bool,
    /// Where the next datagram goes.
    target: Option<SocketAddr>,
    socket: Option<UdpSocket>,
    inbox: VecDeque<Vec<u8>>,
    outbox: VecDeque<Vec<u8>>,
    bounds: Bounds,
    datagram: Box<[u8]>,
    /// Memory for the next datagram that is sent.
    spare: Vec<u8>,
}

/// Time between two looks whether the peer is there.
const PEER_POLL: Duration = Duration::from_millis(5);

/// More than any datagram can hold.
const DATAGRAM: usize = 65_536;

impl UdpLink {
    pub(crate) fn new(
        name: &str,
        (own, peer): (&str, &str),
        any_port: bool,
        bounds: Bounds,
    ) -> Self {
        Self {
            name: name.into(),
            own: own.into(),
            peer: peer.into(),
            any_port,
            awaits_peer: false,
            target: None,
            socket: None,
            inbox: VecDeque::new(),
            outbox: VecDeque::new(),
            bounds,
            datagram: vec![0; DATAGRAM].into(),
            spare: Vec::new(),
        }
    }

    /// Begins no run before somebody has bound the peer's port, where that can be known. Who answers from any port need not have
    /// bound this one.
    pub(crate) fn awaiting_peer(mut self, awaits: bool) -> Self {
        self.awaits_peer = awaits && !self.any_port;
        self
    }

    /// Reads a datagram of the peer into `self.datagram`, if one is there; its length.
    fn read(&mut self) -> Result<Option<usize>, ExecError> {
        let Some(socket) = &self.socket else {
            return Ok(None);
        };
        let datagram = &mut self.datagram;
        match socket.recv_from(datagram) {
            Ok((_, from)) if !is_peer(from, self.target, self.any_port) => {
                let hint = if self.any_port {
                    ""
                } else {
                    "; `from = \"any-port\"` takes answers from any port of the peer"
                };
                Err(ExecError::dropped(
                    &self.name,
                    format!(
                        "a datagram of {from} came, and the peer is {}{hint}",
                        self.peer
                    ),
                ))
            }
            Ok((length, _)) if length > self.bounds.max_message => Err(ExecError::TooLong {
                channel: self.name.clone(),
                limit: self.bounds.max_message,
                dump: crate::hexdump(&datagram[..length]),
            }),
            Ok((length, from)) => {
                self.target = Some(from);
                Ok(Some(length))
            }
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                Ok(None)
            }
            // Nobody listens at the peer's port: an earlier datagram was lost, as UDP may. A system
            // that has ended is noticed by its process.
            Err(e) if e.kind() == ErrorKind::ConnectionRefused => Ok(None),
            Err(e) => Err(ExecError::dropped(&self.name, e)),
        }
    }
}

/// Whether a datagram is of the peer, by its address and, unless any will do, its port.
fn is_peer(from: SocketAddr, target: Option<SocketAddr>, any_port: bool) -> bool {
    target.is_some_and(|target| {
        from.ip().to_canonical() == target.ip().to_canonical()
            && (any_port || from.port() == target.port())
    })
}

impl Link for UdpLink {
    /// The own port is bound before the system starts, so that its first datagram is not lost.
    fn prepare(&mut self) -> Result<(), ExecError> {
        self.close();
        let socket = UdpSocket::bind(resolve(&self.own)?)
            .and_then(|socket| socket.set_nonblocking(true).map(|()| socket))
            .map_err(|e| ExecError::unreachable(&self.own, e))?;
        self.target = Some(resolve(&self.peer)?);
        self.socket = Some(socket);
        Ok(())
    }

    fn address(&self) -> Option<Address<'_>> {
        Some(Address::Udp(&self.peer))
    }

    /// Nobody answers who is not there yet: a datagram to a port that nobody has bound is lost, and that would look like a system that
    /// is silent.
    fn connect(
        &mut self,
        deadline: Instant,
        retry: bool,
        alive: ExitProbe,
    ) -> Result<(), ExecError> {
        if self.socket.is_none() {
            self.prepare()?;
        }
        while self.awaits_peer && listener::is_bound(&self.peer)? == Some(false) {
            interrupt::check()?;
            if let Some(exit) = alive() {
                return Err(ExecError::unreachable(
                    &self.peer,
                    format!("the system under test ended: {exit}"),
                ));
            }
            if !retry || Instant::now() >= deadline {
                return Err(ExecError::unreachable(
                    &self.peer,
                    "nobody receives datagrams there",
                ));
            }
            std::thread::sleep(PEER_POLL);
        }
        Ok(())
    }

    fn close(&mut self) {
        self.socket = None;
        self.target = None;
        self.inbox.clear();
        self.outbox.clear();
    }

    fn readers<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        fds.extend(self.socket.as_ref().map(reading));
    }

    fn writer(&self) -> Option<BorrowedFd<'_>> {
        self.socket.as_ref().map(AsFd::as_fd)
    }

    fn pump(&mut self) -> Result<bool, ExecError> {
        let read = self.read()?;
        if let Some(length) = read {
            self.inbox.push_back(self.datagram[..length].to_vec());
        }
        Ok(read.is_some())
    }

    fn next(&mut self, message: &mut Vec<u8>) -> Result<bool, ExecError> {
        Ok(match self.inbox.pop_front() {
            Some(datagram) => {
                message.extend_from_slice(&datagram);
                true
            }
            None => false,
        })
    }

    fn receive(&mut self, message: &mut Vec<u8>) -> Result<Inbox, ExecError> {
        if self.next(message)? {
            return Ok(Inbox::Message);
        }
        // A datagram is a message, so that it need not be kept.
        Ok(match self.read()? {
            Some(length) => {
                message.extend_from_slice(&self.datagram[..length]);
                Inbox::Message
            }
            None => Inbox::Empty,
        })
    }

    fn half(&self) -> Option<&[u8]> {
        None
    }

    fn pending(&self) -> usize {
        self.inbox.iter().map(Vec::len).sum()
    }

    fn is_connectionless(&self) -> bool {
        true
    }

    /// Datagrams of others too: those that came for an earlier run are no fault of the next one.
    fn discard(&mut self) -> Result<(), ExecError> {
        let Some(socket) = &self.socket else {
            return Ok(());
        };
        loop {
            match socket.recv_from(&mut self.datagram) {
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(()),
                Ok(_) => {}
                Err(e)
                    if matches!(
                        e.kind(),
                        ErrorKind::Interrupted | ErrorKind::ConnectionRefused
                    ) => {}
                Err(e) => return Err(ExecError::dropped(&self.name, e)),
            }
        }
    }

    fn ended(&self) -> Option<&str> {
        None
    }

    fn enqueue(&mut self, message: &[u8]) -> Result<(), ExecError> {
        let mut datagram = std::mem::take(&mut self.spare);
        datagram.clear();
        datagram.extend_from_slice(message);
        self.outbox.push_back(datagram);
        Ok(())
    }

    fn flush(&mut self) -> Result<usize, ExecError> {
        let Some(socket) = &self.socket else {
            return Err(ExecError::dropped(&self.name, "not connected"));
        };
        let mut refused = 0;
        while let Some(datagram) = self.outbox.front() {
            let Some(target) = self.target else {
                return Err(ExecError::dropped(&self.name, "not connected"));
            };
            match socket.send_to(datagram, target) {
                Ok(_) => self.spare = self.outbox.pop_front().unwrap_or_default(),
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    return Ok(self.outbox.iter().map(Vec::len).sum());
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                // The report is on an earlier datagram; this one was not sent.
                Err(e) if e.kind() == ErrorKind::ConnectionRefused && refused < 3 => refused += 1,
                Err(e) => return Err(ExecError::dropped(&self.name, e)),
            }
        }
        Ok(0)
    }
}
