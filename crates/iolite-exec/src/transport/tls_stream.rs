//! A TLS connection as a byte stream that does not block.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};

use rustls::ClientConnection;

/// Reads from the socket for one read of plain bytes. TLS has messages of its own, and a system that
/// sends them without end must not keep the tester from looking at the clock.
const READS: usize = 64;

/// Bytes of a record's header: type, version, length [RFC 8446, §5.1].
const HEADER: usize = 5;

/// The socket, with the knowledge where records end: no silence is observed while one is half read.
struct RecordStream {
    tcp: TcpStream,
    /// The header of the record that is being read, of which so many bytes are known.
    header: [u8; HEADER],
    known: usize,
    /// Bytes of the record that are still to come.
    left: usize,
    /// The first bytes of all, for messages to people.
    beginning: Vec<u8>,
}

impl RecordStream {
    fn follow(&mut self, mut bytes: &[u8]) {
        /// As much as is shown.
        const BEGINNING: usize = 24;
        let room = BEGINNING - self.beginning.len();
        self.beginning
            .extend_from_slice(&bytes[..room.min(bytes.len())]);
        while let [first, rest @ ..] = bytes {
            if self.known < HEADER {
                self.header[self.known] = *first;
                self.known += 1;
                bytes = rest;
                if self.known == HEADER {
                    self.left = u16::from_be_bytes([self.header[3], self.header[4]]).into();
                }
            } else {
                let count = self.left.min(bytes.len());
                self.left -= count;
                bytes = &bytes[count..];
            }
            if self.known == HEADER && self.left == 0 {
                self.known = 0;
            }
        }
    }
}

impl Read for RecordStream {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.tcp.read(room)?;
        self.follow(&room[..count]);
        Ok(count)
    }
}

/// TLS over a socket.
pub(crate) struct TlsStream {
    records: RecordStream,
    connection: ClientConnection,
}

impl TlsStream {
    pub(crate) fn new(tcp: TcpStream, connection: ClientConnection) -> Self {
        Self {
            records: RecordStream {
                tcp,
                header: [0; HEADER],
                known: 0,
                left: 0,
                beginning: Vec::new(),
            },
            connection,
        }
    }

    /// Goes on with the handshake as far as that goes without waiting. An error of the protocol is
    /// inside of the error that is returned.
    pub(crate) fn shake(&mut self) -> io::Result<()> {
        let mut reads = 0;
        while self.connection.is_handshaking() && reads < READS {
            self.push_or_wait()?;
            if !self.connection.wants_read() {
                break;
            }
            match self.fill() {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => reads += 1,
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) => return Err(e),
            }
        }
        self.push_or_wait()
    }

    pub(crate) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    pub(crate) fn wants_write(&self) -> bool {
        self.connection.wants_write()
    }

    /// The first bytes that came.
    pub(crate) fn beginning(&self) -> &[u8] {
        &self.records.beginning
    }

    /// The header of a record whose rest is still to come.
    pub(crate) fn half(&self) -> Option<&[u8]> {
        Some(&self.records.header[..self.records.known]).filter(|header| !header.is_empty())
    }

    /// Announces the end, as far as that goes without waiting.
    pub(crate) fn farewell(&mut self) {
        self.connection.send_close_notify();
        let _ = self.push();
    }

    /// Reads once from the socket; 0 at its end.
    fn fill(&mut self) -> io::Result<usize> {
        let count = self.connection.read_tls(&mut self.records)?;
        if let Err(error) = self.connection.process_new_packets() {
            // The reason is sent to the other side, if it still reads.
            let _ = self.push();
            return Err(io::Error::new(ErrorKind::InvalidData, error));
        }
        Ok(count)
    }

    /// Writes what TLS has to say until nothing is left.
    fn push(&mut self) -> io::Result<()> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut self.records.tcp) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    fn push_or_wait(&mut self) -> io::Result<()> {
        match self.push() {
            Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(()),
            pushed => pushed,
        }
    }
}

impl Read for TlsStream {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        for _ in 0..READS {
            match self.connection.reader().read(room) {
                Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                // Many systems close the socket without saying so in TLS. Nobody cuts the tester's
                // connections, so an end is an end.
                Err(e) if e.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                read => return read,
            }
            match self.fill() {
                Ok(_) => {}
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            }
            // An answer that TLS asks for; a socket that takes no more says so at the next write.
            let _ = self.push();
        }
        // What the last one brought would not wake a wait.
        match self.connection.reader().read(room) {
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => Ok(0),
            read => read,
        }
    }
}

impl Write for TlsStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Nothing new is taken while something is under way, so a system that does not read blocks us
        // as it does without TLS.
        self.push()?;
        let count = self.connection.writer().write(bytes)?;
        self.push_or_wait()?;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.push()
    }
}

impl AsFd for TlsStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.records.tcp.as_fd()
    }
}
