//! One byte-carrying channel to a system under test.
//!
//! Channels are read by the engine's own thread, without blocking, after one `poll` over all of
//! them. There is no reader thread: nothing is read from the operating system that is not known to
//! the half-message rule, a flood stays in the operating system's buffers and stops the sender, and
//! a step costs no hand-over between threads.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::BorrowedFd;
use std::time::Instant;

use crate::{Bounds, ExecError, Exit};

/// Tells whether the system that a connection is waited for has ended in the meantime.
pub(crate) type Alive<'a> = &'a mut dyn FnMut() -> Option<Exit>;

/// A channel that carries messages.
pub(crate) trait Link: Send {
    /// What is to be done before the system is started: a server starts to listen.
    fn prepare(&mut self) -> Result<(), ExecError> {
        Ok(())
    }

    /// Connects. `retry` says that the system is just starting, so a refusal is not final.
    fn connect(&mut self, deadline: Instant, retry: bool, alive: Alive) -> Result<(), ExecError>;

    /// Forgets the connection and everything that was read from it.
    fn close(&mut self);

    /// The descriptors whose readiness for reading matters.
    fn readers<'a>(&'a self, fds: &mut Vec<BorrowedFd<'a>>);

    /// The descriptor to wait for while a stimulus is not written out.
    fn writer(&self) -> Option<BorrowedFd<'_>>;

    /// Reads once what is there, without blocking. Whether anything came, an end included.
    fn pump(&mut self) -> Result<bool, ExecError>;

    /// Moves the next complete message into `message`.
    fn next(&mut self, message: &mut Vec<u8>) -> Result<bool, ExecError>;

    /// The bytes of a message that is not complete.
    fn half(&self) -> Option<&[u8]>;

    /// Bytes that were read and not taken yet.
    fn pending(&self) -> usize;

    /// Why the system can give no more messages here.
    fn ended(&self) -> Option<&str>;

    /// Puts a message in line to be written.
    fn enqueue(&mut self, message: &[u8]) -> Result<(), ExecError>;

    /// Writes what can be written without blocking; how many bytes are left.
    fn flush(&mut self) -> Result<usize, ExecError>;
}

/// The two buffers of a byte stream.
#[derive(Debug)]
pub(crate) struct StreamBuffer {
    pub(crate) input: Vec<u8>,
    /// Where unread input starts; the front is removed in one go when all is read.
    start: usize,
    pub(crate) output: Vec<u8>,
    written: usize,
    chunk: Box<[u8]>,
    pub(crate) ended: Option<String>,
}

const CHUNK: usize = 64 << 10;

impl StreamBuffer {
    pub(crate) fn new() -> Self {
        Self {
            input: Vec::new(),
            start: 0,
            output: Vec::new(),
            written: 0,
            chunk: vec![0; CHUNK].into(),
            ended: None,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.input.clear();
        self.output.clear();
        self.start = 0;
        self.written = 0;
        self.ended = None;
    }

    /// The input that was not taken yet.
    pub(crate) fn unread(&self) -> &[u8] {
        &self.input[self.start..]
    }

    pub(crate) fn take(&mut self, count: usize) {
        self.start += count;
        if self.start == self.input.len() {
            self.input.clear();
            self.start = 0;
        } else if self.start >= CHUNK {
            self.input.drain(..self.start);
            self.start = 0;
        }
    }

    /// Reads once from a descriptor that does not block.
    pub(crate) fn read_from(&mut self, reader: &mut impl Read) -> bool {
        if self.ended.is_some() {
            return false;
        }
        loop {
            match reader.read(&mut self.chunk) {
                Ok(0) => {
                    self.ended = Some("closed by the system under test".into());
                    return true;
                }
                Ok(count) => {
                    self.input.extend_from_slice(&self.chunk[..count]);
                    return true;
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return false,
                Err(e) => {
                    self.ended = Some(e.to_string());
                    return true;
                }
            }
        }
    }

    /// Writes what a descriptor that does not block takes; the bytes that are left.
    pub(crate) fn write_to(&mut self, writer: &mut impl Write) -> io::Result<usize> {
        while self.written < self.output.len() {
            match writer.write(&self.output[self.written..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => self.written += count,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    return Ok(self.output.len() - self.written);
                }
                Err(e) => return Err(e),
            }
        }
        self.output.clear();
        self.written = 0;
        Ok(0)
    }

    /// The error of a message that passed the limit.
    pub(crate) fn too_long(&self, channel: &str, bounds: &Bounds) -> ExecError {
        ExecError::TooLong {
            channel: channel.into(),
            limit: bounds.max_message,
            dump: crate::hexdump(self.unread()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_bytes_do_not_pile_up() {
        let mut buffer = StreamBuffer::new();
        let mut source = io::repeat(7);
        for _ in 0..1000 {
            assert!(buffer.read_from(&mut source));
            buffer.take(CHUNK - 1);
            buffer.take(1);
        }
        assert!(buffer.input.capacity() < 8 * CHUNK);
    }
}
