//! Responses of HTTP/1.1, read piece by piece.
//!
//! `httparse` reads heads, chunk sizes and trailers. What was read stays in the connection's buffer
//! until the response is whole, so that the buffer holds bytes exactly while a message is half read.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::mem::MaybeUninit;
use std::sync::Arc;

use httparse::{EMPTY_HEADER, Header, ParserConfig, Status};

/// Bytes of all heads of one response, those of interim responses included.
const HEAD: usize = 64 << 10;

/// Header fields of one head.
const HEADERS: usize = 256;

/// Interim (1xx) responses before the final one.
const INTERIM: usize = 256;

/// Bytes of the line that gives the size of a chunk.
const CHUNK_LINE: usize = 1024;

/// Why bytes are no response that can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HttpError {
    #[error("no HTTP response: {0}")]
    Syntax(httparse::Error),
    #[error("an HTTP head of more than {HEAD} bytes")]
    LongHead,
    #[error("more than {INTERIM} interim (1xx) responses to one request")]
    Interim,
    #[error("content-length {0:?} is no length")]
    ContentLength(String),
    #[error("two content-lengths that differ")]
    ContentLengths,
    #[error("transfer-encoding {0:?} is not supported")]
    TransferEncoding(String),
    #[error("a chunk without a size")]
    ChunkSize,
    #[error("a chunk that does not end where its size says")]
    ChunkEnd,
    /// The body exceeds `limits.max-message-bytes`; the run ends with an error.
    #[error("the body is too long")]
    LongBody,
}

/// A whole response.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Response<'a> {
    pub(crate) status: u16,
    /// The header fields that are wanted, a line each.
    pub(crate) headers: Vec<u8>,
    /// Where it stands in the bytes that were read, unless it came in chunks.
    pub(crate) body: Cow<'a, [u8]>,
    /// Bytes of the response on the wire.
    pub(crate) consumed: usize,
    /// Whether the server takes another request on this connection.
    pub(crate) keep_alive: bool,
}

/// What the reader expects next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Head,
    /// A body of so many bytes.
    Sized(usize),
    /// The line with the size of the next chunk.
    ChunkSize,
    /// The bytes of a chunk, and the line end behind them.
    ChunkData(usize),
    Trailers,
    /// A body that ends with the connection.
    UntilClose,
}

/// Reads one response from a buffer that grows.
#[derive(Debug)]
pub(crate) struct ResponseReader {
    /// The request was a `HEAD`: there is no body.
    bodyless: bool,
    stage: Stage,
    /// Bytes at the front of the buffer that are understood.
    at: usize,
    interim: usize,
    status: u16,
    keep_alive: bool,
    /// Names of the header fields that are wanted, in lower case, and their lines.
    wanted: Arc<BTreeSet<String>>,
    headers: Vec<u8>,
    /// The chunks so far.
    body: Vec<u8>,
}

impl ResponseReader {
    /// Reads the response to a request, with these header fields.
    pub(crate) fn new(method: &str, wanted: Arc<BTreeSet<String>>) -> Self {
        Self {
            wanted,
            headers: Vec::new(),
            bodyless: method == "HEAD",
            stage: Stage::Head,
            at: 0,
            interim: 0,
            status: 0,
            keep_alive: false,
            body: Vec::new(),
        }
    }

    /// Reads on; `None` while the response is incomplete. `bytes` begin where the response begins at
    /// each call, and `closed` says that no more will come.
    pub(crate) fn read<'a>(
        &mut self,
        bytes: &'a [u8],
        closed: bool,
        limit: usize,
    ) -> Result<Option<Response<'a>>, HttpError> {
        loop {
            let rest = &bytes[self.at..];
            match self.stage {
                Stage::Head => {
                    if !self.head(rest)? {
                        return Ok(None);
                    }
                }
                Stage::Sized(length) if length > limit => return Err(HttpError::LongBody),
                Stage::Sized(length) if rest.len() < length => return Ok(None),
                Stage::Sized(length) => {
                    self.at += length;
                    return Ok(Some(self.finish(rest[..length].into())));
                }
                Stage::UntilClose if rest.len() > limit => return Err(HttpError::LongBody),
                Stage::UntilClose if !closed => return Ok(None),
                Stage::UntilClose => {
                    self.at = bytes.len();
                    self.keep_alive = false;
                    return Ok(Some(self.finish(rest.into())));
                }
                // Each chunk of one byte takes six on the wire, and what is taken stays in the
                // buffer: extensions of chunks must not fill it without bound.
                _ if self.at > HEAD.saturating_add(limit.saturating_mul(8)) => {
                    return Err(HttpError::LongBody);
                }
                Stage::ChunkSize => {
                    if !self.chunk_size(rest, limit)? {
                        return Ok(None);
                    }
                }
                Stage::ChunkData(size) if rest.len() < size + 2 => return Ok(None),
                Stage::ChunkData(size) => {
                    if &rest[size..size + 2] != b"\r\n" {
                        return Err(HttpError::ChunkEnd);
                    }
                    self.body.extend_from_slice(&rest[..size]);
                    self.at += size + 2;
                    self.stage = Stage::ChunkSize;
                }
                Stage::Trailers => {
                    let mut headers = [EMPTY_HEADER; HEADERS];
                    let trailers = httparse::parse_headers(rest, &mut headers);
                    return match trailers.map_err(HttpError::Syntax)? {
                        Status::Complete((length, _)) => {
                            self.at += length;
                            let body = std::mem::take(&mut self.body);
                            Ok(Some(self.finish(body.into())))
                        }
                        Status::Partial if rest.len() > HEAD => Err(HttpError::LongHead),
                        Status::Partial => Ok(None),
                    };
                }
            }
        }
    }

    fn finish<'a>(&mut self, body: Cow<'a, [u8]>) -> Response<'a> {
        Response {
            status: self.status,
            headers: std::mem::take(&mut self.headers),
            body,
            consumed: self.at,
            keep_alive: self.keep_alive,
        }
    }

    /// Reads a head; whether it was complete.
    fn head(&mut self, rest: &[u8]) -> Result<bool, HttpError> {
        // Room for many fields, of which most responses use few.
        let mut headers = [const { MaybeUninit::uninit() }; HEADERS];
        let mut response = httparse::Response::new(&mut []);
        let parsed = ParserConfig::default().parse_response_with_uninit_headers(
            &mut response,
            rest,
            &mut headers,
        );
        let length = match parsed.map_err(HttpError::Syntax)? {
            Status::Complete(length) => length,
            Status::Partial if self.at + rest.len() > HEAD => return Err(HttpError::LongHead),
            Status::Partial => return Ok(false),
        };
        self.at += length;
        if self.at > HEAD {
            return Err(HttpError::LongHead);
        }
        self.status = response.code.unwrap_or_default();
        let fields = Fields::of(response.version == Some(1), response.headers)?;
        self.keep_alive = fields.keep_alive;
        self.headers.clear();
        let fields_of_messages: &[_] = if self.wanted.is_empty() {
            &[]
        } else {
            response.headers
        };
        for header in fields_of_messages {
            let name = header.name.to_ascii_lowercase();
            if self.wanted.contains(&name) {
                self.headers.extend_from_slice(name.as_bytes());
                self.headers.extend_from_slice(b": ");
                self.headers.extend_from_slice(header.value.trim_ascii());
                self.headers.push(b'\n');
            }
        }
        self.stage = match self.status {
            100..200 => {
                // An interim response; the real one follows.
                self.interim += 1;
                if self.interim > INTERIM {
                    return Err(HttpError::Interim);
                }
                Stage::Head
            }
            204 | 304 => Stage::Sized(0),
            _ if self.bodyless => Stage::Sized(0),
            _ if fields.chunked => Stage::ChunkSize,
            _ => fields.length.map_or(Stage::UntilClose, Stage::Sized),
        };
        Ok(true)
    }

    /// Reads the size of a chunk; whether it was complete.
    fn chunk_size(&mut self, rest: &[u8], limit: usize) -> Result<bool, HttpError> {
        // The parser skips an extension of any length.
        let line = &rest[..rest.len().min(CHUNK_LINE)];
        match httparse::parse_chunk_size(line).map_err(|_| HttpError::ChunkSize)? {
            Status::Partial if rest.len() > CHUNK_LINE => Err(HttpError::ChunkSize),
            Status::Partial => Ok(false),
            Status::Complete((length, size)) => {
                self.at += length;
                let room = limit.saturating_sub(self.body.len());
                self.stage = match usize::try_from(size) {
                    Ok(0) => Stage::Trailers,
                    Ok(size) if size <= room => Stage::ChunkData(size),
                    _ => return Err(HttpError::LongBody),
                };
                Ok(true)
            }
        }
    }
}

/// The header fields that say where a response ends.
struct Fields {
    length: Option<usize>,
    chunked: bool,
    keep_alive: bool,
}

impl Fields {
    fn of(keep_alive: bool, headers: &[Header<'_>]) -> Result<Self, HttpError> {
        let mut fields = Self {
            length: None,
            chunked: false,
            keep_alive,
        };
        for header in headers {
            let is = |name: &str| header.name.eq_ignore_ascii_case(name);
            let value = header.value.trim_ascii();
            let text = || String::from_utf8_lossy(value).into_owned();
            if is("content-length") {
                let length = std::str::from_utf8(value)
                    .ok()
                    .filter(|text| text.bytes().all(|b| b.is_ascii_digit()))
                    .and_then(|text| text.parse().ok())
                    .ok_or_else(|| HttpError::ContentLength(text()))?;
                if fields.length.is_some_and(|known| known != length) {
                    return Err(HttpError::ContentLengths);
                }
                fields.length = Some(length);
            } else if is("transfer-encoding") {
                if !value.eq_ignore_ascii_case(b"chunked") {
                    return Err(HttpError::TransferEncoding(text()));
                }
                fields.chunked = true;
            } else if is("connection") {
                if value.eq_ignore_ascii_case(b"close") {
                    fields.keep_alive = false;
                } else if value.eq_ignore_ascii_case(b"keep-alive") {
                    fields.keep_alive = true;
                }
            }
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], closed: bool) -> Result<Option<Response<'_>>, HttpError> {
        ResponseReader::new("GET", Arc::default()).read(text, closed, 100)
    }

    #[test]
    fn responses_are_read_in_any_piece() {
        for (text, closed, want) in [
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
                false,
                (200, "abc", true),
            ),
            (
                "HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n",
                false,
                (200, "", false),
            ),
            (
                "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x\r\nc\r\n0\r\nT: 1\r\n\r\n",
                false,
                (201, "abc", true),
            ),
            (
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\n",
                false,
                (204, "", true),
            ),
            (
                "HTTP/1.1 500 Oops\r\n\r\nall of it",
                true,
                (500, "all of it", false),
            ),
        ] {
            let response = read(text.as_bytes(), closed).unwrap().unwrap();
            let body = String::from_utf8(response.body.into_owned()).unwrap();
            assert_eq!(
                (response.status, &*body, response.keep_alive),
                want,
                "{text}"
            );
            assert_eq!(response.consumed, text.len());
            // One reader that sees the bytes come one by one, and a new one for each beginning.
            let mut growing = ResponseReader::new("GET", Arc::default());
            for cut in 0..text.len() {
                if closed && cut >= text.find("\r\n\r\n").unwrap() + 4 {
                    break;
                }
                let part = &text.as_bytes()[..cut];
                assert_eq!(read(part, false), Ok(None), "{text} cut at {cut}");
                assert_eq!(growing.read(part, false, 100), Ok(None), "{text} at {cut}");
            }
            let response = growing.read(text.as_bytes(), closed, 100).unwrap().unwrap();
            assert_eq!(
                (
                    response.status,
                    response.body.into_owned(),
                    response.consumed
                ),
                (want.0, want.1.as_bytes().to_vec(), text.len())
            );
        }
    }

    #[test]
    fn wanted_headers_are_kept() {
        let wanted = Arc::new(BTreeSet::from(["location".to_owned(), "x".to_owned()]));
        let text = b"HTTP/1.1 100 Continue\r\nX: 0\r\n\r\nHTTP/1.1 201 Made\r\nX: 1\r\nDate: now\r\nLOCATION: /7 \r\nX: 2\r\nContent-Length: 0\r\n\r\n";
        let mut reader = ResponseReader::new("POST", wanted);
        let response = reader.read(text, false, 100).unwrap().unwrap();
        assert_eq!(response.headers, b"x: 1\nlocation: /7\nx: 2\n");
    }

    #[test]
    fn a_response_to_head_has_no_body() {
        let text = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n";
        let response = ResponseReader::new("HEAD", Arc::default()).read(text, false, 100);
        assert_eq!(&*response.unwrap().unwrap().body, b"");
    }

    #[test]
    fn bad_responses_are_errors() {
        for (text, want) in [
            ("SSH-2.0-x\r\n", "no HTTP response"),
            ("HTTP/1.1 OK\r\n\r\n", "no HTTP response"),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
                "is no length",
            ),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n",
                "is no length",
            ),
            ("HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n", "too long"),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
                "not supported",
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n",
                "too long",
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                "without a size",
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc",
                "does not end",
            ),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                "that differ",
            ),
        ] {
            let error = read(text.as_bytes(), false).unwrap_err().to_string();
            assert!(error.contains(want), "{text}: {error}");
        }
    }

    /// Whatever a server repeats without end, reading stops at a bound.
    #[test]
    fn what_does_not_end_is_an_error() {
        let ok = "HTTP/1.1 200 OK\r\n";
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let extended = format!("1;{}\r\na\r\n", "x".repeat(1000));
        for (start, again, want) in [
            ("", "HTTP/1.1 100 Continue\r\n\r\n", HttpError::Interim),
            (ok, "A: b", HttpError::LongHead),
            ("HTTP/1.1 200 ", "O", HttpError::LongHead),
            (chunked, "1;", HttpError::ChunkSize),
            (chunked, "1\r\na\r\n", HttpError::LongBody),
            (chunked, &extended, HttpError::LongBody),
            (&format!("{chunked}0\r\nT: "), "x", HttpError::LongHead),
        ] {
            let mut bytes = start.as_bytes().to_vec();
            let mut reader = ResponseReader::new("GET", Arc::default());
            let mut result = Ok(None);
            while result == Ok(None) {
                assert!(bytes.len() < 4 * HEAD, "{want}: {} bytes", bytes.len());
                for _ in 0..50 {
                    bytes.extend_from_slice(again.as_bytes());
                }
                result = reader.read(&bytes, false, 100).map(|read| read.map(|_| ()));
            }
            assert_eq!(result, Err(want));
        }
    }
}
