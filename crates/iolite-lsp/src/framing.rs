//! Messages on a byte stream: `Content-Length: N`, an empty line, N bytes.

use std::io::{self, BufRead, Read};

/// The longest message that is read.
pub const MOST_MESSAGE_BYTES: u64 = 16 << 20;

/// The longest header, all its lines together.
const MOST_HEADER_BYTES: u64 = 4096;

/// What came.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// The bytes of a message.
    Message(Vec<u8>),
    /// A message of so many bytes, which were dropped.
    TooLong(u64),
    /// The stream ended between two messages.
    End,
}

/// After these nobody knows where the next message begins.
#[derive(Debug, thiserror::Error)]
pub enum FramingError {
    /// A header without end.
    #[error("the header of a message is longer than {MOST_HEADER_BYTES} bytes")]
    LongHeader,
    /// A line that is no field.
    #[error("a line in the header of a message has no `:`")]
    NoField,
    /// There is no `Content-Length`.
    #[error("the header of a message has no Content-Length")]
    NoLength,
    /// A `Content-Length` that is no number, or two that differ.
    #[error("the Content-Length of a message is no number of bytes")]
    BadLength,
    /// The stream ended within a message.
    #[error("the input ended within a message")]
    Cut,
    /// Reading failed.
    #[error("reading a message: {0}")]
    Read(#[from] io::Error),
}

/// Reads the next message. Memory follows what comes, not what was announced.
pub(crate) fn read(input: &mut impl BufRead) -> Result<Incoming, FramingError> {
    let Some(length) = header(input)? else {
        return Ok(Incoming::End);
    };
    if length > MOST_MESSAGE_BYTES {
        let dropped = io::copy(&mut input.take(length), &mut io::sink())?;
        return if dropped == length {
            Ok(Incoming::TooLong(length))
        } else {
            Err(FramingError::Cut)
        };
    }
    let mut body = Vec::new();
    input.take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Err(FramingError::Cut);
    }
    Ok(Incoming::Message(body))
}

/// The length that the header says; none where the stream has ended.
fn header(input: &mut impl BufRead) -> Result<Option<u64>, FramingError> {
    let mut left = MOST_HEADER_BYTES;
    let mut length = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        left -= input.take(left).read_until(b'\n', &mut line)? as u64;
        let Some(text) = line.strip_suffix(b"\n") else {
            return match left {
                0 => Err(FramingError::LongHeader),
                MOST_HEADER_BYTES => Ok(None),
                _ => Err(FramingError::Cut),
            };
        };
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if text.is_empty() {
            return length.map(Some).ok_or(FramingError::NoLength);
        }
        let colon = text.iter().position(|b| *b == b':');
        let (name, value) = text.split_at(colon.ok_or(FramingError::NoField)?);
        if name.eq_ignore_ascii_case(b"content-length") {
            let value = std::str::from_utf8(&value[1..]).unwrap_or_default().trim();
            let digits = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
            let number = value.parse().ok().filter(|_| digits);
            let number = number.ok_or(FramingError::BadLength)?;
            if length.is_some_and(|other| other != number) {
                return Err(FramingError::BadLength);
            }
            length = Some(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(bytes: &[u8]) -> String {
        match read(&mut &bytes[..]) {
            Ok(Incoming::Message(body)) => String::from_utf8_lossy(&body).into_owned(),
            Ok(Incoming::TooLong(n)) => format!("{n} bytes"),
            Ok(Incoming::End) => "end".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn messages_and_what_is_none() {
        let long = format!("Content-Length: {}\r\n\r\n", MOST_MESSAGE_BYTES + 1);
        let whole = [long.as_bytes(), &vec![b' '; 16 << 20], b"!"].concat();
        for (bytes, expected) in [
            (&b""[..], "end"),
            (b"Content-Length: 2\r\n\r\n{}", "{}"),
            (
                b"content-length:2\nContent-Type: application/vscode-jsonrpc; charset=utf-8\n\n{}more",
                "{}",
            ),
            (b"Content-Length: 0\r\n\r\n", ""),
            (b"Content-Length: 3\r\n\r\n{}", "the input ended within a message"),
            (b"Content-Length: 2\r\n", "the input ended within a message"),
            (b"Content-Len", "the input ended within a message"),
            (b"\r\n{}", "the header of a message has no Content-Length"),
            (b"{\"jsonrpc\":\"2.0\"}\n\n", "the header of a message has no Content-Length"),
            (b"hello\n", "a line in the header of a message has no `:`"),
            (
                b"Content-Length: -2\r\n\r\n{}",
                "the Content-Length of a message is no number of bytes",
            ),
            (
                b"Content-Length: +2\r\n\r\n{}",
                "the Content-Length of a message is no number of bytes",
            ),
            (
                b"Content-Length: 99999999999999999999\r\n\r\n{}",
                "the Content-Length of a message is no number of bytes",
            ),
            (
                b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
                "the Content-Length of a message is no number of bytes",
            ),
            (
                b"Content-Length: 18446744073709551615\r\n\r\n{}",
                "the input ended within a message",
            ),
            (&[b'x'; 5000], "the header of a message is longer than 4096 bytes"),
            (&whole, "16777217 bytes"),
        ] {
            let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
            assert_eq!(told(bytes), expected, "{shown}");
        }
    }
}
