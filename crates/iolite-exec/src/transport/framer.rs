//! Where a message ends in a stream of bytes.

use crate::transport::framing::Framing;
use crate::transport::header_block::{Announced, announced, find_crlf};
use crate::transport::resp::resp_end;
use crate::transport::stream_buffer::StreamBuffer;
use crate::transport::stream_link::Frames;
use crate::transport::varint;
use crate::{Bounds, ExecError};

/// Why a message of several lines is not sent, and what takes one.
const LINE_END_INSIDE: &str = "a line end inside a message that is framed by lines; \
     framing = 'lf-lines /PATTERN/', or 'lines /PATTERN/' with \\r\\n between them, sends messages of several";

/// No message is complete: an error where it is too long already.
fn within(buffer: &StreamBuffer, channel: &str, bounds: &Bounds) -> Result<bool, ExecError> {
    if buffer.unread().len() > bounds.max_message {
        return Err(buffer.too_long(channel, bounds));
    }
    Ok(false)
}

/// What is there of a body whose length was said before it.
enum Body {
    /// It is longer than is read.
    TooLong,
    /// Some of it must come.
    Coming,
    /// It ends here.
    Whole(usize),
}

/// Looks for a body that begins at `from`.
fn whole(unread: &[u8], from: usize, length: Option<usize>, bounds: &Bounds) -> Body {
    match length {
        Some(length) if length <= bounds.max_message => {
            if unread.len() - from < length {
                Body::Coming
            } else {
                Body::Whole(from + length)
            }
        }
        _ => Body::TooLong,
    }
}

/// How many bytes of a message stand before its length, and of how many bytes that may be.
fn before_length(kind: &Framing) -> (usize, usize) {
    match kind {
        Framing::Mqtt => (1, 4),
        _ => (0, 10),
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
    fn missing(&self) -> Option<String> {
        match &self.framing {
            Framing::Line => Some("no line end came; a prompt has none".into()),
            Framing::Crlf => Some("no \\r\\n came; `framing = \"line\"` takes \\n too".into()),
            Framing::Lines(last) => Some(format!(
                "no line came that ends with \\r\\n and matches {last}, its framing; `lf-lines` takes \\n"
            )),
            Framing::LfLines(last) => {
                Some(format!("no line came that matches {last}, its framing"))
            }
            Framing::ContentLength => Some(
                "its header, with an empty line behind it, says how many bytes there are".into(),
            ),
            Framing::Resp
            | Framing::Raw
            | Framing::Length { .. }
            | Framing::Varint
            | Framing::Mqtt => None,
        }
    }

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
        let undecodable = |reason: String| ExecError::Undecodable {
            channel: channel.into(),
            reason,
            dump: crate::hexdump(unread),
        };
        let (from, to, taken) = match &self.framing {
            Framing::Crlf => {
                let Some(end) = find_crlf(unread, self.scanned) else {
                    // The `\r` may have come without its `\n`.
                    self.scanned = unread.len().saturating_sub(1);
                    return within(buffer, channel, bounds);
                };
                (0, end, end + 2)
            }
            Framing::Lines(last) => {
                let mut start = self.scanned;
                loop {
                    let Some(end) = find_crlf(unread, start) else {
                        self.scanned = start;
                        return within(buffer, channel, bounds);
                    };
                    if last.is_match(&unread[start..end]) {
                        if end > bounds.max_message {
                            return Err(buffer.too_long(channel, bounds));
                        }
                        for (i, &b) in unread[..end].iter().enumerate() {
                            if b != b'\r' || unread[i + 1] != b'\n' {
                                message.push(b);
                            }
                        }
                        buffer.take(end + 2);
                        self.scanned = 0;
                        return Ok(true);
                    }
                    start = end + 2;
                }
            }
            Framing::LfLines(last) => {
                let mut start = self.scanned;
                loop {
                    let Some(length) = unread[start..].iter().position(|&b| b == b'\n') else {
                        self.scanned = start;
                        return within(buffer, channel, bounds);
                    };
                    let end = start + length;
                    let line = &unread[start..end];
                    if last.is_match(line.strip_suffix(b"\r").unwrap_or(line)) {
                        if end > bounds.max_message {
                            return Err(buffer.too_long(channel, bounds));
                        }
                        for (i, line) in unread[..end].split(|&b| b == b'\n').enumerate() {
                            message.extend_from_slice(if i > 0 { b"\n" } else { b"" });
                            message.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
                        }
                        buffer.take(end + 1);
                        self.scanned = 0;
                        return Ok(true);
                    }
                    start = end + 1;
                }
            }
            Framing::Resp => match resp_end(unread) {
                Ok(Some(end)) => (0, end - 2, end),
                Ok(None) => return within(buffer, channel, bounds),
                Err(reason) => return Err(undecodable(reason)),
            },
            Framing::Raw if unread.is_empty() => return Ok(false),
            Framing::Raw => (0, unread.len(), unread.len()),
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
            &Framing::Length { width, big_endian } => {
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
                match whole(unread, width, usize::try_from(length).ok(), bounds) {
                    Body::TooLong => return Err(buffer.too_long(channel, bounds)),
                    Body::Coming => return Ok(false),
                    Body::Whole(to) => (width, to, to),
                }
            }
            kind @ (Framing::Varint | Framing::Mqtt) => {
                let (head, most) = before_length(kind);
                let Some(rest) = unread.get(head..) else {
                    return Ok(false);
                };
                let Some((length, width)) = varint::read(rest, most).map_err(undecodable)? else {
                    return Ok(false);
                };
                let from = head + width;
                match whole(unread, from, usize::try_from(length).ok(), bounds) {
                    Body::TooLong => return Err(buffer.too_long(channel, bounds)),
                    Body::Coming => return Ok(false),
                    Body::Whole(to) => {
                        message.extend_from_slice(&unread[..head]);
                        (from, to, to)
                    }
                }
            }
            Framing::ContentLength => {
                let Some(Announced { start, length }) =
                    announced(unread, self.scanned).map_err(undecodable)?
                else {
                    // The empty line may have come in part.
                    self.scanned = unread.len().saturating_sub(3);
                    return within(buffer, channel, bounds);
                };
                // The header is read again until its body is there.
                self.scanned = start - 4;
                match whole(unread, start, length, bounds) {
                    Body::TooLong => return Err(buffer.too_long(channel, bounds)),
                    Body::Coming => return Ok(false),
                    Body::Whole(to) => (start, to, to),
                }
            }
        };
        if to - from > bounds.max_message {
            return Err(buffer.too_long(channel, bounds));
        }
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
        match &self.framing {
            Framing::Crlf | Framing::Resp => {
                if find_crlf(message, 0).is_some() {
                    return Err(fail(LINE_END_INSIDE));
                }
                output.extend_from_slice(message);
                output.extend_from_slice(b"\r\n");
            }
            Framing::Lines(_) => {
                for line in message.split(|&b| b == b'\n') {
                    output.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
                    output.extend_from_slice(b"\r\n");
                }
            }
            Framing::Raw => output.extend_from_slice(message),
            Framing::LfLines(_) => {
                output.extend_from_slice(message);
                output.push(b'\n');
            }
            Framing::Line => {
                if message.contains(&b'\n') {
                    return Err(fail(LINE_END_INSIDE));
                }
                output.extend_from_slice(message);
                output.push(b'\n');
            }
            &Framing::Length { width, big_endian } => {
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
            kind @ (Framing::Varint | Framing::Mqtt) => {
                let (head, most) = before_length(kind);
                let Some((head, body)) = message.split_at_checked(head) else {
                    return Err(fail(
                        "a control packet begins with a byte that says what it is",
                    ));
                };
                if most < 10 && body.len() >> (7 * most) != 0 {
                    return Err(fail("the message is longer than its length can say"));
                }
                output.extend_from_slice(head);
                varint::write(body.len() as u64, output);
                output.extend_from_slice(body);
            }
            Framing::ContentLength => {
                output.extend_from_slice(
                    format!("Content-Length: {}\r\n\r\n", message.len()).as_bytes(),
                );
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
            mut messages in prop::collection::vec(prop::collection::vec(b' '..=b'~', 0..200), 0..6),
            cut in 1usize..9,
            kind in prop::sample::select(vec!["line", "crlf", "u8", "u16be", "u16le", "u32be", "u64le", "varint", "mqtt", "content-length"]),
        ) {
            if kind == "mqtt" {
                messages.retain(|message| !message.is_empty());
            }
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
    fn lines_of_programs_on_a_terminal_end_with_a_line_feed() {
        let bytes = b"a\nb\r\nend\n\nend\nrest";
        for size in 1..bytes.len() {
            assert_eq!(cut("lf-lines /^end$/", bytes, size), ["a\nb\nend", "\nend"]);
        }
        let mut framer = Framer::new("lf-lines /x/".parse().unwrap());
        let mut output = Vec::new();
        framer.frame(b"a\ntext\n.", &mut output).unwrap();
        assert_eq!(output, b"a\ntext\n.\n");
    }

    fn cut(kind: &str, bytes: &[u8], size: usize) -> Vec<String> {
        let messages = cut_bytes(kind, bytes, size).into_iter();
        messages.map(|m| String::from_utf8(m).unwrap()).collect()
    }

    fn cut_bytes(kind: &str, bytes: &[u8], size: usize) -> Vec<Vec<u8>> {
        let mut framer = Framer::new(kind.parse().unwrap());
        let mut buffer = StreamBuffer::new();
        let mut got = Vec::new();
        for mut piece in bytes.chunks(size) {
            buffer.read_from(&mut piece);
            let mut message = Vec::new();
            while framer
                .next("c", &mut buffer, &Bounds::default(), &mut message)
                .unwrap()
            {
                got.push(std::mem::take(&mut message));
            }
        }
        got
    }

    #[test]
    fn packets_and_bodies_are_whole_messages() {
        let mqtt = b"\x20\x02\x00\x00\xc0\x00\x30\x05\x00\x01thi";
        let bodies = b"Content-Length: 2\r\n\r\n{}CONTENT-LENGTH:0\r\nX: y\r\n\r\nContent-Length: 4\r\n\r\n\r\n\r\n";
        for size in 1..mqtt.len() {
            assert_eq!(
                cut_bytes("mqtt", mqtt, size),
                [&b"\x20\0\0"[..], b"\xc0", b"\x30\0\x01thi"]
            );
        }
        for size in 1..bodies.len() {
            assert_eq!(cut("content-length", bodies, size), ["{}", "", "\r\n\r\n"]);
        }
        let mut output = Vec::new();
        let mut framer = Framer::new(Framing::Mqtt);
        framer.frame(&[b'x'; 201], &mut output).unwrap();
        assert_eq!(output[..3], [b'x', 0xc8, 1]);
        assert!(framer.frame(b"", &mut output).is_err());
    }

    #[test]
    fn replies_and_values_are_whole_messages() {
        let smtp = b"220 hi\r\n250-one\r\n250-two\r\n250 three\r\n354\r\n";
        let redis =
            b"+OK\r\n$-1\r\n$5\r\na\r\nbc\r\n*2\r\n$1\r\nx\r\n*1\r\n:3\r\n%1\r\n+k\r\n_\r\n*0\r\n";
        for size in 1..smtp.len() {
            assert_eq!(
                cut("reply", smtp, size),
                ["220 hi", "250-one\n250-two\n250 three", "354"]
            );
        }
        for size in 1..redis.len() {
            assert_eq!(
                cut("resp", redis, size),
                [
                    "+OK",
                    "$-1",
                    "$5\r\na\r\nbc",
                    "*2\r\n$1\r\nx\r\n*1\r\n:3",
                    "%1\r\n+k\r\n_",
                    "*0"
                ]
            );
        }
        assert_eq!(cut("crlf", b"a\nb\r\n\r\n", 1), ["a\nb", ""]);
        assert_eq!(cut("raw", b"abcd", 3), ["abc", "d"]);
        // A text of several lines is sent as such.
        let mut framer = Framer::new("reply".parse().unwrap());
        let mut output = Vec::new();
        framer.frame(b"hello\n..\n.", &mut output).unwrap();
        assert_eq!(output, b"hello\r\n..\r\n.\r\n");
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
            ("crlf", b"01234567890\r\n"),
            ("reply", b"01234567890"),
            ("reply", b"123 4567890\r\n"),
            ("resp", b"$99\r\n0123456789"),
            ("raw", b"01234567890"),
            ("u32be", b"\xff\xff\xff\xff"),
            ("u64le", b"\x0b\0\0\0\0\0\0\0"),
            ("varint", b"\x0b"),
            ("mqtt", b"0\xff\xff\xff\x7f"),
            ("content-length", b"Content-Length"),
            ("content-length", b"A: 1\r\nContent-Length: 11\r\n\r\n"),
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
