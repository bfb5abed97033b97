//! The typed holes of a template.

use regex::bytes::Regex;

use crate::WireValue;
use crate::codec::concrete_action::{bytes_of_hex, integer};

use super::CodecError;
use super::json::{read_json, write_json};

/// What may stand in a hole, and how a value is written there.
#[derive(Clone, Debug)]
pub enum HoleKind {
    /// `{n}`: any value; read as an integer or Boolean where it looks like one, else as text.
    Any,
    /// `{n:int}`: decimal digits, at most 10,000, with `-` before a negative number.
    Int,
    /// `{b:bool}`: `true` or `false`.
    Bool,
    /// `{b:Bool}`: `True` or `False`.
    CapitalBool,
    /// `{s:dot-lines}`: text in lines, of which those that begin with a dot get another one, as in the bodies
    /// of SMTP, POP3 and NNTP.
    DotLines,
    /// `{s:string}`: any text up to the next literal, as short as the rest allows.
    Text,
    /// `{s:word}`: text without white space.
    Word,
    /// `{b:hex}`: bytes as pairs of hexadecimal digits.
    Hex,
    /// `{v:json}`: one JSON value; records are objects.
    Json,
    /// `{s:/re/}`: text that the regular expression matches as a whole.
    Regex(Regex),
    /// `{n:u8}`, `{n:u16be}`, `{n:u32le}`, …: an unsigned binary number.
    Binary {
        /// Bytes: 1, 2, 4 or 8.
        width: usize,
        /// Most significant byte first.
        big_endian: bool,
    },
}

/// How far a hole reaches.
pub(crate) enum Extent {
    /// To this offset from its start.
    To(usize),
    /// To some occurrence of what follows.
    Open,
    /// Nothing fits here.
    None,
}

impl HoleKind {
    /// The kind after the colon.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let binary = |width, big_endian| Ok(Self::Binary { width, big_endian });
        match text {
            "any" => Ok(Self::Any),
            "int" => Ok(Self::Int),
            "bool" => Ok(Self::Bool),
            "Bool" => Ok(Self::CapitalBool),
            "dot-lines" => Ok(Self::DotLines),
            "string" | "str" | "text" => Ok(Self::Text),
            "word" => Ok(Self::Word),
            "hex" => Ok(Self::Hex),
            "json" => Ok(Self::Json),
            "u8" => binary(1, true),
            "u16be" => binary(2, true),
            "u16le" => binary(2, false),
            "u32be" => binary(4, true),
            "u32le" => binary(4, false),
            "u64be" => binary(8, true),
            "u64le" => binary(8, false),
            _ => match text
                .strip_prefix('/')
                .and_then(|rest| rest.strip_suffix('/'))
            {
                Some(re) => Regex::new(&format!(r"\A(?:{re})\z"))
                    .map(Self::Regex)
                    .map_err(|e| format!("bad regular expression /{re}/: {e}")),
                None => Err(format!(
                    "unknown hole type {text} (a brace that is text is doubled: {{{{ and }}}}); known: int, bool, Bool, string, dot-lines, \
                     word, hex, json, any, u8, u16be, u16le, u32be, u32le, u64be, u64le, /regular expression/"
                )),
            },
        }
    }

    /// Whether the hole ends by itself, without a literal after it.
    pub(crate) fn is_self_delimiting(&self) -> bool {
        matches!(
            self,
            Self::Int | Self::Bool | Self::CapitalBool | Self::Json | Self::Binary { .. }
        )
    }

    /// Where a hole that starts with `bytes` ends.
    pub(crate) fn extent(&self, bytes: &[u8]) -> Extent {
        match self {
            Self::Any | Self::Text | Self::DotLines | Self::Word | Self::Hex | Self::Regex(_) => {
                Extent::Open
            }
            Self::Int => {
                let sign = usize::from(bytes.first() == Some(&b'-'));
                match bytes[sign..]
                    .iter()
                    .take_while(|b| b.is_ascii_digit())
                    .count()
                {
                    0 => Extent::None,
                    digits => Extent::To(sign + digits),
                }
            }
            Self::Bool if bytes.starts_with(b"true") => Extent::To(4),
            Self::Bool if bytes.starts_with(b"false") => Extent::To(5),
            Self::CapitalBool if bytes.starts_with(b"True") => Extent::To(4),
            Self::CapitalBool if bytes.starts_with(b"False") => Extent::To(5),
            Self::Json => {
                let mut stream = serde_json::Deserializer::from_slice(bytes)
                    .into_iter::<serde::de::IgnoredAny>();
                match stream.next() {
                    Some(Ok(_)) => Extent::To(stream.byte_offset()),
                    _ => Extent::None,
                }
            }
            Self::Binary { width, .. } if bytes.len() >= *width => Extent::To(*width),
            Self::Bool | Self::CapitalBool | Self::Binary { .. } => Extent::None,
        }
    }

    /// The value that these bytes, the hole's as a whole, stand for.
    pub(crate) fn read(&self, bytes: &[u8]) -> Option<WireValue> {
        let text = || {
            std::str::from_utf8(bytes)
                .ok()
                .map(|t| WireValue::Text(t.into()))
        };
        match self {
            Self::Any => match bytes {
                b"true" => Some(WireValue::Bool(true)),
                b"false" => Some(WireValue::Bool(false)),
                // `007` is no number that was written so, and may well be a text.
                _ => integer(bytes)
                    .filter(|n| n.to_string().as_bytes() == bytes)
                    .map(WireValue::Int)
                    .or_else(text),
            },
            Self::Int => integer(bytes).map(WireValue::Int),
            Self::Bool => Some(WireValue::Bool(bytes == b"true")),
            Self::CapitalBool => Some(WireValue::Bool(bytes == b"True")),
            Self::Text => text(),
            Self::DotLines => {
                let text = std::str::from_utf8(bytes).ok()?;
                let lines = text.split('\n').map(|line| match line.strip_prefix('.') {
                    Some(rest) => rest.strip_prefix('.').map(|_| rest),
                    None => Some(line),
                });
                // A line of one dot ends such a text and cannot stand in it.
                let lines: Option<Vec<&str>> = lines.collect();
                Some(WireValue::Text(lines?.join("\n")))
            }
            Self::Word => (!bytes.is_empty() && !bytes.iter().any(u8::is_ascii_whitespace))
                .then(text)
                .flatten(),
            Self::Hex => bytes_of_hex(bytes).map(WireValue::Bytes),
            Self::Json => read_json(bytes),
            Self::Regex(re) => re.is_match(bytes).then(text).flatten(),
            Self::Binary { width, big_endian } => {
                let mut wide = [0u8; 8];
                if *big_endian {
                    wide[8 - width..].copy_from_slice(bytes);
                    Some(WireValue::Int(u64::from_be_bytes(wide).into()))
                } else {
                    wide[..*width].copy_from_slice(bytes);
                    Some(WireValue::Int(u64::from_le_bytes(wide).into()))
                }
            }
        }
    }

    /// Appends the bytes of a value. A value that this hole would not read back is an error.
    pub(crate) fn write(&self, value: &WireValue, bytes: &mut Vec<u8>) -> Result<(), CodecError> {
        let start = bytes.len();
        match (self, value) {
            (Self::Json, _) | (Self::Any, WireValue::List(_) | WireValue::Record(_)) => {
                write_json(value, bytes);
                return Ok(());
            }
            (Self::Any | Self::Text | Self::Word | Self::Regex(_), WireValue::Text(t)) => {
                bytes.extend_from_slice(t.as_bytes());
            }
            (
                Self::Any | Self::Int | Self::Text | Self::Word | Self::Regex(_),
                WireValue::Int(n),
            ) => {
                bytes.extend_from_slice(n.to_string().as_bytes());
            }
            (Self::Any | Self::Text | Self::Word | Self::Regex(_), WireValue::Number(text)) => {
                bytes.extend_from_slice(text.as_bytes());
            }
            (
                Self::Any | Self::Bool | Self::Text | Self::Word | Self::Regex(_),
                WireValue::Bool(b),
            ) => {
                bytes.extend_from_slice(b.to_string().as_bytes());
            }
            (Self::CapitalBool, WireValue::Bool(b)) => {
                bytes.extend_from_slice(if *b { b"True" } else { b"False" });
            }
            (Self::DotLines, WireValue::Text(t)) => {
                for (i, line) in t.split('\n').enumerate() {
                    if i > 0 {
                        bytes.push(b'\n');
                    }
                    if line.starts_with('.') {
                        bytes.push(b'.');
                    }
                    bytes.extend_from_slice(line.as_bytes());
                }
            }
            (Self::Any | Self::Hex, WireValue::Bytes(_)) => {
                bytes.extend_from_slice(&value.to_string().as_bytes()[2..]);
            }
            (Self::Hex, WireValue::Text(t)) => {
                t.bytes()
                    .for_each(|b| bytes.extend_from_slice(format!("{b:02x}").as_bytes()));
            }
            (Self::Binary { width, big_endian }, WireValue::Int(n)) => {
                let n = u64::try_from(n)
                    .ok()
                    .filter(|n| *width == 8 || n >> (8 * width) == 0)
                    .ok_or_else(|| CodecError(format!("{n} does not fit {width} bytes")))?;
                if *big_endian {
                    bytes.extend_from_slice(&n.to_be_bytes()[8 - width..]);
                } else {
                    bytes.extend_from_slice(&n.to_le_bytes()[..*width]);
                }
            }
            _ => {
                return Err(CodecError(format!(
                    "value {value} does not fit a hole of type {}",
                    self.name()
                )));
            }
        }
        let whole = match self {
            Self::Word | Self::Regex(_) => self.read(&bytes[start..]).is_some(),
            _ => true,
        };
        if whole {
            Ok(())
        } else {
            bytes.truncate(start);
            Err(CodecError(format!(
                "value {value} does not fit a hole of type {}",
                self.name()
            )))
        }
    }

    /// The type as a template writes it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Any => "any".into(),
            Self::Int => "int".into(),
            Self::Bool => "bool".into(),
            Self::CapitalBool => "Bool".into(),
            Self::DotLines => "dot-lines".into(),
            Self::Text => "string".into(),
            Self::Word => "word".into(),
            Self::Hex => "hex".into(),
            Self::Json => "json".into(),
            Self::Regex(re) => {
                let text = re.as_str();
                format!("/{}/", &text[5..text.len() - 3])
            }
            Self::Binary { width: 1, .. } => "u8".into(),
            Self::Binary { width, big_endian } => {
                format!("u{}{}", width * 8, if *big_endian { "be" } else { "le" })
            }
        }
    }
}
