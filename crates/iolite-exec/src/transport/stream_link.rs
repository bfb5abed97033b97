//! A channel over one byte stream, whatever carries the stream and however messages are cut from it.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::BorrowedFd;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags};

use crate::transport::link::{Address, ExitProbe, Inbox, Link};
use crate::transport::stream_buffer::StreamBuffer;
use crate::{Bounds, ExecError};

/// An open stream, whose descriptors do not block.
pub(crate) trait Stream: Send {
    /// What is read from.
    fn source(&mut self) -> &mut impl Read;

    /// What is written to.
    fn sink(&mut self) -> &mut impl Write;

    /// The descriptor that is read from.
    fn source_fd(&self) -> BorrowedFd<'_>;

    /// The descriptor that is written to.
    fn sink_fd(&self) -> BorrowedFd<'_>;

    /// The beginning of a piece of the stream that cannot be read before its rest has come.
    fn half(&self) -> Option<&[u8]> {
        None
    }
}

/// Where a stream comes from.
pub(crate) trait Endpoint: Send {
    /// The stream that it opens.
    type Stream: Stream;

    /// See [`Link::prepare`].
    fn prepare(&mut self) -> Result<(), ExecError> {
        Ok(())
    }

    /// See [`Link::address`].
    fn address(&self) -> Option<Address<'_>> {
        None
    }

    /// Opens a stream; see [`Link::connect`]. Bytes of messages that were read with a handshake are
    /// left in the buffer.
    fn open(
        &mut self,
        buffer: &mut StreamBuffer,
        deadline: Instant,
        retry: bool,
        alive: ExitProbe,
    ) -> Result<Self::Stream, ExecError>;
}

/// How messages are cut from a stream, and put into it.
pub(crate) trait Frames: Send {
    /// Moves the next complete message into `message`. An answer that the protocol asks for goes
    /// into the buffer's output. Where everything that was read is taken, no message is complete.
    fn next(
        &mut self,
        channel: &str,
        buffer: &mut StreamBuffer,
        bounds: &Bounds,
        message: &mut Vec<u8>,
    ) -> Result<bool, ExecError>;

    /// Appends a message with its frame.
    fn frame(&mut self, message: &[u8], output: &mut Vec<u8>) -> Result<(), ExecError>;

    /// Appends what the protocol sends before the stream is closed.
    fn farewell(&mut self, _output: &mut Vec<u8>) {}

    /// Forgets what was read.
    fn clear(&mut self);

    /// See [`Link::missing`].
    fn missing(&self) -> Option<String> {
        None
    }
}

/// A stream as a channel.
pub(crate) struct StreamLink<E: Endpoint, F> {
    name: String,
    endpoint: E,
    frames: F,
    stream: Option<E::Stream>,
    buffer: StreamBuffer,
    bounds: Bounds,
}

impl<E: Endpoint, F: Frames> StreamLink<E, F> {
    pub(crate) fn new(name: &str, endpoint: E, frames: F, bounds: Bounds) -> Self {
        Self {
            name: name.into(),
            endpoint,
            frames,
            stream: None,
            buffer: StreamBuffer::new(),
            bounds,
        }
    }
}

impl<E: Endpoint, F: Frames> Link for StreamLink<E, F> {
    fn missing(&self) -> Option<String> {
        self.frames.missing()
    }

    fn prepare(&mut self) -> Result<(), ExecError> {
        self.endpoint.prepare()
    }

    fn address(&self) -> Option<Address<'_>> {
        self.endpoint.address()
    }

    fn connect(
        &mut self,
        deadline: Instant,
        retry: bool,
        alive: ExitProbe,
    ) -> Result<(), ExecError> {
        self.close();
        let stream = self
            .endpoint
            .open(&mut self.buffer, deadline, retry, alive)?;
        self.stream = Some(stream);
        Ok(())
    }

    fn close(&mut self) {
        self.buffer.clear();
        if let Some(mut stream) = self.stream.take() {
            self.frames.farewell(&mut self.buffer.output);
            // A courtesy; the stream is closed in any case.
            let _ = self.buffer.write_to(stream.sink());
            self.buffer.clear();
        }
        self.frames.clear();
    }

    fn readers<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        if let (Some(stream), None) = (&self.stream, &self.buffer.ended) {
            fds.push(PollFd::from_borrowed_fd(stream.source_fd(), PollFlags::IN));
        }
    }

    fn writer(&self) -> Option<BorrowedFd<'_>> {
        self.stream.as_ref().map(Stream::sink_fd)
    }

    fn pump(&mut self) -> Result<bool, ExecError> {
        Ok(match &mut self.stream {
            Some(stream) => self.buffer.read_from(stream.source()),
            None => false,
        })
    }

    fn next(&mut self, message: &mut Vec<u8>) -> Result<bool, ExecError> {
        let found = self
            .frames
            .next(&self.name, &mut self.buffer, &self.bounds, message)?;
        if !self.buffer.output.is_empty() {
            self.flush()?;
        }
        Ok(found)
    }

    fn receive(&mut self, message: &mut Vec<u8>) -> Result<Inbox, ExecError> {
        // Most looks find everything taken and nothing new.
        if self.buffer.unread().is_empty() && !self.pump()? {
            return Ok(self.rest());
        }
        loop {
            if self.next(message)? {
                return Ok(Inbox::Message);
            }
            if !self.pump()? {
                return Ok(self.rest());
            }
        }
    }

    fn half(&self) -> Option<&[u8]> {
        let unread = Some(self.buffer.unread()).filter(|unread| !unread.is_empty());
        unread.or_else(|| self.stream.as_ref()?.half())
    }

    fn pending(&self) -> usize {
        self.buffer.unread().len()
    }

    fn ended(&self) -> Option<&str> {
        self.buffer.ended.as_deref()
    }

    fn enqueue(&mut self, message: &[u8]) -> Result<(), ExecError> {
        self.frames.frame(message, &mut self.buffer.output)
    }

    fn flush(&mut self) -> Result<usize, ExecError> {
        match &mut self.stream {
            Some(stream) => self.buffer.write_to(stream.sink()),
            None => Err(ErrorKind::NotConnected.into()),
        }
        .map_err(|e| ExecError::dropped(&self.name, e))
    }
}
