//! Where a message ends in a stream of bytes.

use std::fmt;
use std::str::FromStr;

use regex::bytes::Regex;

use crate::transport::stream_buffer::StreamBuffer;
use crate::transport::stream_link::Frames;
use crate::{Bounds, ExecError};

/// Why a message of several lines is not sent, and what takes one.
const LINE_END_INSIDE: &str = "a line end inside a message that is framed by lines; \
     framing = 'lf-lines /PATTERN/', or 'lines /PATTERN/' with \\r\\n between them, sends messages of several";

/// How messages are cut from a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// A message a line; `\n` ends it, and a `\r` before that does not belong to it.
    #[default]
    Line,
    /// `\r\n` ends a message; a `\n` alone belongs to it.
    Crlf,
    /// Lines that end with `\r\n`, up to one that the pattern matches, are one message with `\n` between
    /// them. A message that is sent may have several lines.
    Lines(LastLine),
    /// The same for lines that end with `\n`, as those of programs on a terminal; a `\r` before it is dropped.
    LfLines(LastLine),
    /// A value of the Redis protocol, without its last `\r\n`; a message that is sent is an inline command.
    Resp,
    /// Whatever one read gives: for systems that answer in one piece and mark no end.
    Raw,
    /// An unsigned length in front of the message.
    Length {
        /// Bytes of the length: 1, 2, 4 or 8.
        width: usize,
        /// Most significant byte first.
        big_endian: bool,
    },
}

/// The pattern of the last line of a message.
#[derive(Clone, Debug)]
pub struct LastLine(Regex);

/// The last line of a reply of SMTP and FTP: three digits and no hyphen.
const REPLY: &str = "^[0-9]{3}( |$)";

impl PartialEq for LastLine {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for LastLine {}

impl LastLine {
    fn parse(pattern: &str) -> Result<Self, String> {
        Regex::new(pattern)
            .map(Self)
            .map_err(|e| format!("bad regular expression /{pattern}/: {e}"))
    }
}

impl fmt::Display for Framing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line => f.write_str("line"),
            Self::Crlf => f.write_str("crlf"),
            Self::Lines(last) if last.0.as_str() == REPLY => f.write_str("reply"),
            Self::Lines(last) => write!(f, "lines /{}/", last.0),
            Self::LfLines(last) => write!(f, "lf-lines /{}/", last.0),
            Self::Resp => f.write_str("resp"),
            Self::Raw => f.write_str("raw"),
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
        let pattern = |kind: &str| -> Option<&str> {
            let rest = text.strip_prefix(kind)?.strip_prefix(" /")?;
            rest.strip_suffix('/').filter(|p| !p.is_empty())
        };
        match text {
            "line" => Ok(Self::Line),
            "crlf" => Ok(Self::Crlf),
            "reply" => LastLine::parse(REPLY).map(Self::Lines),
            "resp" => Ok(Self::Resp),
            "raw" => Ok(Self::Raw),
            "u8" => length(1, true),
            "u16be" => length(2, true),
            "u16le" => length(2, false),
            "u32be" => length(4, true),
            "u32le" => length(4, false),
            "u64be" => length(8, true),
            "u64le" => length(8, false),
            _ => {
                if let Some(last) = pattern("lines") {
                    return LastLine::parse(last).map(Self::Lines);
                }
                if let Some(last) = pattern("lf-lines") {
                    return LastLine::parse(last).map(Self::LfLines);
                }
                Err(format!(
                    "unknown framing {text:?}; known: line, crlf, reply, lines /PATTERN OF THE LAST LINE/, \
                     lf-lines /PATTERN/, resp, raw, and as length before the message u8, \
                     u16be, u16le, u32be, u32le, u64be, u64le"
                ))
            }
        }
    }
}

/// Where the next `\r\n` begins.
fn find_crlf(bytes: &[u8], from: usize) -> Option<usize> {
    let found = bytes
        .get(from..)?
        .windows(2)
        .position(|two| two == b"\r\n")?;
    Some(from + found)
}

/// No message is complete: an error where it is too long already.
fn within(buffer: &StreamBuffer, channel: &str, bounds: &Bounds) -> Result<bool, ExecError> {
    if buffer.unread().len() > bounds.max_message {
        return Err(buffer.too_long(channel, bounds));
    }
    Ok(false)
}

/// Where the first value of the Redis protocol ends, its `\r\n` included; `None` where more must come.
/// Aggregates say how many values follow, so that counting is enough and nothing recurses.
fn resp_end(bytes: &[u8]) -> Result<Option<usize>, String> {
    let mut values: u64 = 1;
    let mut at = 0;
    while values > 0 {
        let Some(end) = find_crlf(bytes, at) else {
            return Ok(None);
        };
        let (kind, rest) = (bytes.get(at).copied(), &bytes[(at + 1).min(end)..end]);
        at = end + 2;
        values -= 1;
        let count = || -> Result<Option<u64>, String> {
            let text = String::from_utf8_lossy(rest);
            if text == "-1" {
                return Ok(None);
            }
            let count = text.parse().map_err(|_| format!("{text:?} is no length"));
            count.map(Some)
        };
        match kind {
            Some(b'$' | b'=' | b'!') => {
                if let Some(length) = count()? {
                    let end = usize::try_from(length)
                        .ok()
                        .and_then(|length| at.checked_add(length)?.checked_add(2))
                        .ok_or("a length beyond memory")?;
                    if bytes.len() < end {
                        return Ok(None);
                    }
                    if &bytes[end - 2..end] != b"\r\n" {
                        return Err("a text is longer than its length".into());
                    }
                    at = end;
                }
            }
            Some(b'*' | b'~' | b'>') => {
                values = values.saturating_add(count()?.unwrap_or(0));
            }
            Some(b'%') => values = values.saturating_add(count()?.unwrap_or(0).saturating_mul(2)),
            Some(b'|') => {
                let pairs = count()?.unwrap_or(0).saturating_mul(2);
                values = values.saturating_add(pairs).saturating_add(1);
            }
            Some(b'+' | b'-' | b':' | b'_' | b'#' | b',' | b'(') => {}
            _ => return Err("no value of the Redis protocol begins so".into()),
        }
    }
    Ok(Some(at))
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
                "no line came that ends with \\r\\n and matches /{}/, its framing; `lf-lines` takes \\n",
                last.0
            )),
            Framing::LfLines(last) => Some(format!(
                "no line came that matches /{}/, its framing",
                last.0
            )),
            Framing::Resp | Framing::Raw | Framing::Length { .. } => None,
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
                    if last.0.is_match(&unread[start..end]) {
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
                    if last.0.is_match(line.strip_suffix(b"\r").unwrap_or(line)) {
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
                Err(reason) => {
                    return Err(ExecError::Undecodable {
                        channel: channel.into(),
                        reason,
                        dump: crate::hexdump(unread),
                    });
                }
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
            kind in prop::sample::select(vec!["line", "crlf", "u8", "u16be", "u16le", "u32be", "u64le"]),
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
            "line",
            "crlf",
            "reply",
            "lines /^end$/",
            "lf-lines /^end$/",
            "resp",
            "raw",
            "u8",
            "u16be",
            "u16le",
            "u32be",
            "u32le",
            "u64be",
            "u64le",
        ] {
            assert_eq!(text.parse::<Framing>().unwrap().to_string(), text);
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
                got.push(String::from_utf8(std::mem::take(&mut message)).unwrap());
            }
        }
        got
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
        for wrong in [
            &b"x\r\n"[..],
            b"$z\r\n",
            b"$1\r\nabcd\r\n",
            b"$99999999999999999999\r\n",
            b"\r\n",
        ] {
            assert!(resp_end(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(resp_end(b"*18446744073709551615\r\n"), Ok(None));
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
