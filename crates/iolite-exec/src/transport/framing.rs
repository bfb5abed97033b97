//! Where a message ends in a stream of bytes.

use std::fmt;
use std::str::FromStr;

use crate::transport::stream_buffer::StreamBuffer;
use crate::transport::stream_link::Frames;
use crate::{Bounds, ExecError};

/// How messages are cut from a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// A message a line; `\n` ends it, and a `\r` before that does not belong to it.
    #[default]
    Line,
    /// An unsigned length in front of the message.
    Length {
        /// Bytes of the length: 1, 2, 4 or 8.
        width: usize,
        /// Most significant byte first.
        big_endian: bool,
    },
}

impl fmt::Display for Framing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line => f.write_str("line"),
            Self::Length { width: 1, .. } => f.write_str("u8"),
            Self::Length { width, big_endian } => {
                let order = if *big_endian { "be" } else { "le" };
                write!(f, "u{}{order}", 8 * width)
            }
        }
    }
}

impl FromStr for Framing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let length = |width, big_endian| Ok(Self::Length { width, big_endian });
        match text {
            "line" => Ok(Self::Line),
            "u8" => length(1, true),
            "u16be" => length(2, true),
            "u16le" => length(2, false),
            "u32be" => length(4, true),
            "u32le" => length(4, false),
            "u64be" => length(8, true),
            "u64le" => length(8, false),
            _ => Err(format!(
                "unknown framing {text:?}; known: line, and as length before the message u8, \
                 u16be, u16le, u32be, u32le, u64be, u64le"
            )),
        }
    }
}

/// A framing at work on one stream.
#[derive(Debug)]
pub(crate) struct Framer {
    framing: Framing,
    /// Unread bytes that are known to hold no line end, so that a long line is looked at once.
    scanned: usize,
}

impl Framer {
    pub(crate) fn new(framing: Framing) -> Self {
        Self {
            framing,
            scanned: 0,
        }
    }
}

impl Frames for Framer {
    fn clear(&mut self) {
        self.scanned = 0;
    }

    fn next(
        &mut self,
        channel: &str,
        buffer: &mut StreamBuffer,
        bounds: &Bounds,
        message: &mut Vec<u8>,
    ) -> Result<bool, ExecError> {
        let unread = buffer.unread();
        let (from, to, taken) = match self.framing {
            Framing::Line => {
                let Some(end) = unread[self.scanned..].iter().position(|&b| b == b'\n') else {
                    self.scanned = unread.len();
                    if unread.len() > bounds.max_message {
                        return Err(buffer.too_long(channel, bounds));
                    }
                    return Ok(false);
                };
                let end = self.scanned + end;
                if end > bounds.max_message {
                    return Err(buffer.too_long(channel, bounds));
                }
                let to = end - usize::from(end > 0 && unread[end - 1] == b'\r');
                (0, to, end + 1)
            }
            Framing::Length { width, big_endian } => {
                if unread.len() < width {
                    return Ok(false);
                }
                let mut wide = [0u8; 8];
                let length = if big_endian {
                    wide[8 - width..].copy_from_slice(&unread[..width]);
                    u64::from_be_bytes(wide)
                } else {
                    wide[..width].copy_from_slice(&unread[..width]);
                    u64::from_le_bytes(wide)
                };
                let Some(length) = usize::try_from(length)
                    .ok()
                    .filter(|&l| l <= bounds.max_message)
                else {
                    return Err(buffer.too_long(channel, bounds));
                };
                if unread.len() - width < length {
                    return Ok(false);
                }
                (width, width + length, width + length)
            }
        };
        message.extend_from_slice(&unread[from..to]);
        buffer.take(taken);
        self.scanned = 0;
        Ok(true)
    }

    fn frame(&mut self, message: &[u8], output: &mut Vec<u8>) -> Result<(), ExecError> {
        let fail = |reason: &str| ExecError::Unencodable {
            action: String::from_utf8_lossy(message).into_owned(),
            reason: reason.into(),
        };
        match self.framing {
            Framing::Line => {
                if message.contains(&b'\n') {
                    return Err(fail("a line end inside a message that is framed by lines"));
                }
                output.extend_from_slice(message);
                output.push(b'\n');
            }
            Framing::Length { width, big_endian } => {
                let length = message.len() as u64;
                if width < 8 && length >> (8 * width) != 0 {
                    return Err(fail("the message is longer than its length can say"));
                }
                if big_endian {
                    output.extend_from_slice(&length.to_be_bytes()[8 - width..]);
                } else {
                    output.extend_from_slice(&length.to_le_bytes()[..width]);
                }
                output.extend_from_slice(message);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever way the bytes are cut on their way, the messages come back, and never early.
        #[test]
        fn frames_come_back_from_any_cut(
            messages in prop::collection::vec(prop::collection::vec(b' '..=b'~', 0..20), 0..6),
            cut in 1usize..9,
            kind in prop::sample::select(vec!["line", "u8", "u16be", "u16le", "u32be", "u64le"]),
        ) {
            let mut framer = Framer::new(kind.parse().unwrap());
            let mut bytes = Vec::new();
            for message in &messages {
                framer.frame(message, &mut bytes).unwrap();
            }
            let mut buffer = StreamBuffer::new();
            let mut got = Vec::new();
            for piece in bytes.chunks(cut) {
                let mut piece = piece;
                buffer.read_from(&mut piece);
                let mut message = Vec::new();
                while framer.next("c", &mut buffer, &Bounds::default(), &mut message).unwrap() {
                    got.push(std::mem::take(&mut message));
                }
            }
            prop_assert_eq!(got, messages);
            prop_assert!(buffer.unread().is_empty());
        }
    }

    #[test]
    fn framings_are_written_as_they_are_read() {
        for text in [
            "line", "u8", "u16be", "u16le", "u32be", "u32le", "u64be", "u64le",
        ] {
            assert_eq!(text.parse::<Framing>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_message_beyond_the_limit_is_an_error() {
        let bounds = Bounds {
            max_message: 10,
            ..Bounds::default()
        };
        for (kind, bytes) in [
            ("line", &b"01234567890"[..]),
            ("line", b"01234567890\n"),
            ("u32be", b"\xff\xff\xff\xff"),
            ("u64le", b"\x0b\0\0\0\0\0\0\0"),
        ] {
            let mut bytes = bytes;
            let mut buffer = StreamBuffer::new();
            buffer.read_from(&mut bytes);
            let error = Framer::new(kind.parse().unwrap())
                .next("c", &mut buffer, &bounds, &mut Vec::new())
                .unwrap_err();
            assert_eq!(error.code(), "too-long", "{kind}");
        }
    }
}
