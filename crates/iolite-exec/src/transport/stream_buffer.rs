//! What is read from a byte stream and not taken yet, and what is to be written to it.

use std::io::{self, ErrorKind, Read, Write};

use crate::{Bounds, ExecError};

/// The outcome of one read from a non-blocking descriptor.
#[derive(Debug)]
pub(crate) enum ReadOutcome {
    /// This many bytes were read.
    Bytes(usize),
    /// Nothing is available yet.
    Nothing,
    /// The other side closed the stream.
    Closed,
    /// The stream is broken.
    Broken(io::Error),
}

/// Reads once.
pub(crate) fn read_once(reader: &mut impl Read, chunk: &mut [u8]) -> ReadOutcome {
    loop {
        return match reader.read(chunk) {
            Ok(0) => ReadOutcome::Closed,
            Ok(count) => ReadOutcome::Bytes(count),
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) if e.kind() == ErrorKind::WouldBlock => ReadOutcome::Nothing,
            Err(e) => ReadOutcome::Broken(e),
        };
    }
}

/// The two buffers of a byte stream.
#[derive(Debug)]
pub(crate) struct StreamBuffer {
    /// Room for input, of which `start..end` was read and not taken.
    input: Vec<u8>,
    start: usize,
    end: usize,
    pub(crate) output: Vec<u8>,
    written: usize,
    pub(crate) ended: Option<String>,
}

/// The least room that a read is given.
const CHUNK: usize = 64 << 10;

impl StreamBuffer {
    pub(crate) fn new() -> Self {
        Self {
            input: vec![0; CHUNK],
            start: 0,
            end: 0,
            output: Vec::new(),
            written: 0,
            ended: None,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.output.clear();
        self.start = 0;
        self.end = 0;
        self.written = 0;
        self.ended = None;
    }

    /// The input that was not taken yet.
    pub(crate) fn unread(&self) -> &[u8] {
        &self.input[self.start..self.end]
    }

    /// The input that was not taken yet, and the output.
    pub(crate) fn split(&mut self) -> (&[u8], &mut Vec<u8>) {
        (&self.input[self.start..self.end], &mut self.output)
    }

    pub(crate) fn take(&mut self, count: usize) {
        self.start += count;
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        }
    }

    /// Where the next read goes. Unread input moves to the front when at least as much was taken, so
    /// that no byte is moved often.
    fn room(&mut self) -> &mut [u8] {
        if self.end > 0 && self.input.len() - self.end < CHUNK {
            let unread = self.end - self.start;
            if self.start >= unread {
                self.input.copy_within(self.start..self.end, 0);
                self.start = 0;
                self.end = unread;
            }
            if self.input.len() - self.end < CHUNK {
                self.input.resize(2 * self.input.len(), 0);
            }
        }
        &mut self.input[self.end..]
    }

    /// Reads once from a non-blocking descriptor; true if bytes or the end of the stream came.
    pub(crate) fn read_from(&mut self, reader: &mut impl Read) -> bool {
        if self.ended.is_some() {
            return false;
        }
        match read_once(reader, self.room()) {
            ReadOutcome::Bytes(count) => self.end += count,
            ReadOutcome::Nothing => return false,
            ReadOutcome::Closed => self.ended = Some("closed by the system under test".into()),
            ReadOutcome::Broken(e) => self.ended = Some(e.to_string()),
        }
        true
    }

    /// Writes as much as a non-blocking descriptor takes; returns how many bytes are left.
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
        loop {
            return match writer.flush() {
                Ok(()) => Ok(0),
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                // What the writer has taken and not given on; how much that is nobody says.
                Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(1),
                Err(e) => Err(e),
            };
        }
    }

    /// The error of a message that exceeds `max-message-bytes`.
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

    /// However reads and takes are mixed, bytes come out as they went in.
    #[test]
    fn bytes_keep_their_order() {
        let sent: Vec<u8> = (0..3_000_000u32).map(|i| (i % 251) as u8).collect();
        let mut source = &sent[..];
        let mut buffer = StreamBuffer::new();
        let mut got = Vec::new();
        let mut turn = 0;
        while got.len() < sent.len() {
            turn += 1;
            buffer.read_from(&mut source);
            let unread = buffer.unread();
            // Most of the time less is taken than read, now and then everything.
            let count = unread.len() / (1 + turn % 7);
            got.extend_from_slice(&unread[..count]);
            buffer.take(count);
        }
        assert!(got == sent);
    }
}
