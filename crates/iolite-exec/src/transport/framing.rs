//! The ways in which a stream of bytes is cut into messages.

use std::fmt;
use std::str::FromStr;

use regex::bytes::Regex;

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
    /// An unsigned length in front of the message, seven bits a byte, the least significant first, with the top bit set in
    /// all but the last byte: Protocol Buffers that are written one after the other.
    Varint,
    /// A control packet of MQTT, whose first byte stands before its length: that byte and what the length counts are the
    /// message.
    Mqtt,
    /// Header lines, of which `Content-Length` says how many bytes follow the empty line; these are the message. The base
    /// protocol of language servers and debug adapters.
    ContentLength,
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

    /// Whether a line, without its end, is the last one of a message.
    pub(crate) fn is_match(&self, line: &[u8]) -> bool {
        self.0.is_match(line)
    }
}

impl fmt::Display for LastLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/", self.0)
    }
}

impl fmt::Display for Framing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line => f.write_str("line"),
            Self::Crlf => f.write_str("crlf"),
            Self::Lines(last) if last.0.as_str() == REPLY => f.write_str("reply"),
            Self::Lines(last) => write!(f, "lines {last}"),
            Self::LfLines(last) => write!(f, "lf-lines {last}"),
            Self::Resp => f.write_str("resp"),
            Self::Raw => f.write_str("raw"),
            Self::Length { width: 1, .. } => f.write_str("u8"),
            Self::Length { width, big_endian } => {
                let order = if *big_endian { "be" } else { "le" };
                write!(f, "u{}{order}", 8 * width)
            }
            Self::Varint => f.write_str("varint"),
            Self::Mqtt => f.write_str("mqtt"),
            Self::ContentLength => f.write_str("content-length"),
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
            "varint" => Ok(Self::Varint),
            "mqtt" => Ok(Self::Mqtt),
            "content-length" => Ok(Self::ContentLength),
            _ => {
                if let Some(last) = pattern("lines") {
                    return LastLine::parse(last).map(Self::Lines);
                }
                if let Some(last) = pattern("lf-lines") {
                    return LastLine::parse(last).map(Self::LfLines);
                }
                Err(format!(
                    "unknown framing {text:?}; known: line, crlf, reply, lines /PATTERN OF THE LAST LINE/, \
                     lf-lines /PATTERN/, resp, mqtt, content-length, raw, and as length before the message u8, \
                     u16be, u16le, u32be, u32le, u64be, u64le, varint"
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            "varint",
            "mqtt",
            "content-length",
        ] {
            assert_eq!(text.parse::<Framing>().unwrap().to_string(), text);
        }
    }
}
