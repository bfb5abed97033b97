//! A connection to a server, plain or over TLS.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use crate::transport::link::ExitProbe;
use crate::transport::stream_link::Stream;
use crate::transport::tcp::connect;
use crate::transport::tls::{HandshakeError, TlsClient};
use crate::transport::tls_stream::TlsStream;
use crate::{ExecError, TlsConfig};

/// A server that the tester connects to.
pub(crate) struct Server {
    address: String,
    tls: Option<TlsClient>,
}

impl Server {
    /// The server at `host:port`.
    pub(crate) fn new(address: &str, tls: Option<TlsConfig>) -> Result<Self, ExecError> {
        let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']');
        Ok(Self {
            address: address.into(),
            tls: tls.map(|tls| TlsClient::new(host, tls)).transpose()?,
        })
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Forgets what was read from files: the system is started anew.
    pub(crate) fn prepare(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.forget_files();
        }
    }

    /// Connects; a system that is just starting may refuse for a while (`retry`).
    pub(crate) fn connect(
        &mut self,
        deadline: Instant,
        retry: bool,
        alive: ExitProbe,
    ) -> Result<Socket, ExecError> {
        let tcp = connect(&self.address, deadline, retry, &mut *alive)?;
        let Some(tls) = &mut self.tls else {
            return Ok(Socket::Plain(tcp));
        };
        match tls.handshake(tcp, deadline, alive) {
            Ok(stream) => Ok(Socket::Tls(Box::new(stream))),
            Err(HandshakeError::Reason(reason)) => {
                Err(ExecError::unreachable(&*self.address, reason))
            }
            Err(HandshakeError::Fault(fault)) => Err(fault),
        }
    }
}

/// A connection that does not block.
pub(crate) enum Socket {
    Plain(TcpStream),
    Tls(Box<TlsStream>),
}

impl Socket {
    /// The beginning of a piece of the stream that cannot be read before its rest has come.
    pub(crate) fn half(&self) -> Option<&[u8]> {
        match self {
            Self::Plain(_) => None,
            Self::Tls(stream) => stream.half(),
        }
    }
}

impl Read for Socket {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(room),
            Self::Tls(stream) => stream.read(room),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Plain(stream) => stream.as_fd(),
            Self::Tls(stream) => stream.as_fd(),
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if let Self::Tls(stream) = self {
            stream.farewell();
        }
    }
}

impl Stream for Socket {
    fn source(&mut self) -> &mut impl Read {
        self
    }

    fn sink(&mut self) -> &mut impl Write {
        self
    }

    fn source_fd(&self) -> BorrowedFd<'_> {
        self.as_fd()
    }

    fn sink_fd(&self) -> BorrowedFd<'_> {
        self.as_fd()
    }

    fn half(&self) -> Option<&[u8]> {
        self.half()
    }
}
