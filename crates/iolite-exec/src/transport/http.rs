//! HTTP/1.1: a request is a stimulus, its response an output.
//!
//! A small client of our own, because a tester needs what client libraries hide: the response comes
//! when it comes, several requests may be open at once, and a half-read response is known as such.
//! No TLS, no redirects, no cookies: what the system answers is what is observed.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use rustix::event::PollFd;

use crate::transport::bounds::from_now;
use crate::transport::link::{Alive, Link};
use crate::transport::readiness::reading;
use crate::transport::stream_buffer::StreamBuffer;
use crate::transport::tcp::connect;
use crate::{Bounds, ExecError, hexdump};

/// `http://host:port/base` in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) host: String,
    pub(crate) address: String,
    pub(crate) path: String,
}

pub(crate) fn parse_url(url: &str, scheme: &str, port: u16) -> Result<Url, ExecError> {
    let rest = url
        .strip_prefix(scheme)
        .and_then(|rest| rest.strip_prefix("://"))
        .ok_or_else(|| ExecError::Config(format!("{url:?} does not start with {scheme}://")))?;
    let (host, path) = match rest.find('/') {
        Some(slash) => rest.split_at(slash),
        None => (rest, ""),
    };
    if host.is_empty() {
        return Err(ExecError::Config(format!("{url:?} has no host")));
    }
    let has_port = host
        .rsplit_once(':')
        .is_some_and(|(_, p)| p.parse::<u16>().is_ok());
    Ok(Url {
        host: host.into(),
        address: if has_port {
            host.into()
        } else {
            format!("{host}:{port}")
        },
        path: path.trim_end_matches('/').into(),
    })
}

struct Connection {
    stream: TcpStream,
    buffer: StreamBuffer,
    /// The method of the request whose response is awaited.
    awaiting: Option<String>,
}

/// Requests that may be open at the same time.
const CONNECTIONS: usize = 64;

/// An HTTP service as a channel.
pub(crate) struct HttpLink {
    name: String,
    url: Url,
    connections: Vec<Connection>,
    /// The connection that the last request goes out on.
    sending: Option<usize>,
    responses: VecDeque<Vec<u8>>,
    ended: Option<String>,
    bounds: Bounds,
}

impl HttpLink {
    pub(crate) fn new(name: &str, url: &str, bounds: Bounds) -> Result<Self, ExecError> {
        Ok(Self {
            name: name.into(),
            url: parse_url(url, "http", 80)?,
            connections: Vec::new(),
            sending: None,
            responses: VecDeque::new(),
            ended: None,
            bounds,
        })
    }

    fn open(&mut self, deadline: Instant, retry: bool, alive: Alive) -> Result<usize, ExecError> {
        if self.connections.len() >= CONNECTIONS {
            return Err(ExecError::Refused {
                stimulus: "an HTTP request".into(),
                reason: format!("{CONNECTIONS} requests are open already"),
            });
        }
        let stream = connect(&self.url.address, deadline, retry, alive)?;
        self.connections.push(Connection {
            stream,
            buffer: StreamBuffer::new(),
            awaiting: None,
        });
        Ok(self.connections.len() - 1)
    }

    fn undecodable(&self, reason: &str, bytes: &[u8]) -> ExecError {
        ExecError::Undecodable {
            channel: self.name.clone(),
            reason: reason.into(),
            dump: hexdump(bytes),
        }
    }

    /// Takes what is complete from one connection; whether the connection stays.
    fn harvest(&mut self, index: usize) -> Result<bool, ExecError> {
        let connection = &self.connections[index];
        let closed = connection.buffer.ended.is_some();
        let unread = connection.buffer.unread();
        let Some(method) = &connection.awaiting else {
            if unread.is_empty() {
                return Ok(!closed);
            }
            return Err(self.undecodable("bytes that answer no request", unread));
        };
        match parse_response(unread, method == "HEAD", closed, self.bounds.max_message) {
            Ok(Some(response)) => {
                let mut message = response.status.to_string().into_bytes();
                if !response.body.is_empty() {
                    message.push(b' ');
                    message.extend_from_slice(&response.body);
                }
                self.responses.push_back(message);
                let connection = &mut self.connections[index];
                connection.buffer.take(response.consumed);
                connection.awaiting = None;
                // A server that does one thing at a time waits on an idle connection and would
                // never come to another one.
                Ok(response.keep_alive && !closed && self.connections.len() == 1)
            }
            Ok(None) if closed => {
                if unread.is_empty() {
                    self.ended = Some("closed before the response came".into());
                    Ok(false)
                } else {
                    Err(self.undecodable("a response that was cut off", unread))
                }
            }
            Ok(None) => Ok(true),
            Err(reason) => {
                let error = if reason == TOO_LONG {
                    connection.buffer.too_long(&self.name, &self.bounds)
                } else {
                    self.undecodable(&reason, self.connections[index].buffer.unread())
                };
                Err(error)
            }
        }
    }
}

impl Link for HttpLink {
    fn connect(&mut self, deadline: Instant, retry: bool, alive: Alive) -> Result<(), ExecError> {
        self.close();
        self.open(deadline, retry, alive).map(|_| ())
    }

    fn close(&mut self) {
        self.connections.clear();
        self.sending = None;
        self.responses.clear();
        self.ended = None;
    }

    fn readers<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        fds.extend(
            self.connections
                .iter()
                .filter(|c| c.buffer.ended.is_none())
                .map(|c| reading(&c.stream)),
        );
    }

    fn writer(&self) -> Option<BorrowedFd<'_>> {
        self.sending.map(|i| self.connections[i].stream.as_fd())
    }

    fn pump(&mut self) -> Result<bool, ExecError> {
        let mut any = false;
        let mut index = 0;
        while index < self.connections.len() {
            let connection = &mut self.connections[index];
            if connection.buffer.read_from(&mut connection.stream) {
                any = true;
                if !self.harvest(index)? && self.sending != Some(index) {
                    self.connections.remove(index);
                    if let Some(sending) = &mut self.sending
                        && *sending > index
                    {
                        *sending -= 1;
                    }
                    continue;
                }
            }
            index += 1;
        }
        Ok(any)
    }

    fn next(&mut self, message: &mut Vec<u8>) -> Result<bool, ExecError> {
        Ok(match self.responses.pop_front() {
            Some(response) => {
                message.extend_from_slice(&response);
                true
            }
            None => false,
        })
    }

    fn half(&self) -> Option<&[u8]> {
        self.connections
            .iter()
            .map(|c| c.buffer.unread())
            .find(|bytes| !bytes.is_empty())
    }

    fn pending(&self) -> usize {
        self.responses.iter().map(Vec::len).sum::<usize>()
            + self
                .connections
                .iter()
                .map(|c| c.buffer.unread().len())
                .sum::<usize>()
    }

    fn ended(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    fn enqueue(&mut self, message: &[u8]) -> Result<(), ExecError> {
        let (method, request) =
            request(message, &self.url).map_err(|reason| ExecError::Unencodable {
                action: String::from_utf8_lossy(message).into_owned(),
                reason,
            })?;
        // An idle connection that the server has closed is not used again.
        self.pump()?;
        let idle = self.connections.iter().position(|c| c.awaiting.is_none());
        let index = if let Some(index) = idle {
            index
        } else {
            let deadline = from_now(self.bounds.send_timeout);
            match self.open(deadline, false, &mut || None) {
                Ok(index) => index,
                Err(ExecError::Unreachable { reason, .. }) => {
                    return Err(ExecError::dropped(&self.name, reason));
                }
                Err(error) => return Err(error),
            }
        };
        let connection = &mut self.connections[index];
        connection.buffer.output.extend_from_slice(&request);
        connection.awaiting = Some(method);
        self.sending = Some(index);
        Ok(())
    }

    fn flush(&mut self) -> Result<usize, ExecError> {
        let result = match self.sending {
            Some(index) => {
                let connection = &mut self.connections[index];
                connection.buffer.write_to(&mut connection.stream)
            }
            None => Err(ErrorKind::NotConnected.into()),
        };
        match result {
            Ok(left) => {
                if left == 0 {
                    self.sending = None;
                }
                Ok(left)
            }
            Err(e) => Err(ExecError::dropped(&self.name, e)),
        }
    }
}

/// The bytes of a request whose message is `METHOD PATH`, header lines, an empty line and a body.
fn request(message: &[u8], url: &Url) -> Result<(String, Vec<u8>), String> {
    let (head, body) = match message.windows(2).position(|w| w == b"\n\n") {
        Some(at) => (&message[..at], &message[at + 2..]),
        None => (message, &b""[..]),
    };
    let head = std::str::from_utf8(head).map_err(|_| "the request's head is no text")?;
    let mut lines = head.lines();
    let first = lines.next().unwrap_or_default();
    let (method, path) = first
        .split_once(' ')
        .ok_or_else(|| format!("{first:?} is no `METHOD PATH`"))?;
    if method.is_empty() || !method.bytes().all(|b| b.is_ascii_uppercase()) {
        return Err(format!("{method:?} is no HTTP method"));
    }
    if !path.starts_with('/') || path.bytes().any(|b| b <= b' ' || b == 0x7f) {
        return Err(format!("{path:?} is no HTTP path"));
    }
    let mut bytes = format!(
        "{method} {}{path} HTTP/1.1\r\nHost: {}\r\n",
        url.path, url.host
    )
    .into_bytes();
    for line in lines {
        if !line.contains(':') {
            return Err(format!("{line:?} is no HTTP header"));
        }
        bytes.extend_from_slice(line.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    if !body.is_empty() || matches!(method, "POST" | "PUT" | "PATCH") {
        bytes.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body);
    Ok((method.into(), bytes))
}

const TOO_LONG: &str = "too long";

/// Bytes of a response's head.
const HEAD: usize = 64 << 10;

#[derive(Debug, PartialEq, Eq)]
struct Response {
    status: u16,
    body: Vec<u8>,
    consumed: usize,
    keep_alive: bool,
}

/// Reads a response; `None` while it is incomplete.
fn parse_response(
    bytes: &[u8],
    head_only: bool,
    closed: bool,
    limit: usize,
) -> Result<Option<Response>, String> {
    let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") else {
        return if bytes.len() > HEAD {
            Err(TOO_LONG.into())
        } else if !b"HTTP/1.".starts_with(&bytes[..bytes.len().min(7)]) {
            Err("no HTTP response".into())
        } else {
            Ok(None)
        };
    };
    let head = std::str::from_utf8(&bytes[..end])
        .map_err(|_| "an HTTP head that is no text".to_owned())?;
    let mut lines = head.split("\r\n");
    let first = lines.next().unwrap_or_default();
    let mut words = first.splitn(3, ' ');
    let version = words.next().unwrap_or_default();
    let status: u16 = words
        .next()
        .filter(|s| s.len() == 3)
        .and_then(|s| s.parse().ok())
        .filter(|_| matches!(version, "HTTP/1.1" | "HTTP/1.0"))
        .ok_or_else(|| format!("{first:?} is no HTTP status line"))?;
    let mut length = None;
    let mut chunked = false;
    let mut keep_alive = version == "HTTP/1.1";
    for line in lines {
        let (name, value) = line
            .split_once(':')
            .ok_or_else(|| format!("{line:?} is no HTTP header"))?;
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => {
                let count: usize = value
                    .parse()
                    .map_err(|_| format!("content-length {value:?} is no length"))?;
                if length.is_some_and(|l| l != count) {
                    return Err("two content-lengths that differ".into());
                }
                length = Some(count);
            }
            "transfer-encoding" => {
                chunked = value.eq_ignore_ascii_case("chunked");
                if !chunked {
                    return Err(format!("transfer-encoding {value:?} is not supported"));
                }
            }
            "connection" => {
                if value.eq_ignore_ascii_case("close") {
                    keep_alive = false;
                } else if value.eq_ignore_ascii_case("keep-alive") {
                    keep_alive = true;
                }
            }
            _ => {}
        }
    }
    let start = end + 4;
    if (100..200).contains(&status) {
        // An interim response; the real one follows.
        let rest = parse_response(&bytes[start..], head_only, closed, limit)?;
        return Ok(rest.map(|r| Response {
            consumed: r.consumed + start,
            ..r
        }));
    }
    let done = |body: &[u8], consumed, keep_alive| {
        Ok(Some(Response {
            status,
            body: body.to_vec(),
            consumed,
            keep_alive,
        }))
    };
    let rest = &bytes[start..];
    if head_only || status == 204 || status == 304 {
        return done(b"", start, keep_alive);
    }
    if chunked {
        return match dechunk(rest, limit)? {
            Some((body, consumed)) => done(&body, start + consumed, keep_alive),
            None => Ok(None),
        };
    }
    match length {
        Some(length) if length > limit => Err(TOO_LONG.into()),
        Some(length) if rest.len() >= length => done(&rest[..length], start + length, keep_alive),
        None if rest.len() > limit => Err(TOO_LONG.into()),
        // Without a length the end of the connection is the end of the body.
        None if closed => done(rest, bytes.len(), false),
        Some(_) | None => Ok(None),
    }
}

fn dechunk(bytes: &[u8], limit: usize) -> Result<Option<(Vec<u8>, usize)>, String> {
    let mut body = Vec::new();
    let mut at = 0;
    let line = |at: usize| bytes[at..].windows(2).position(|w| w == b"\r\n");
    loop {
        let Some(end) = line(at) else {
            return if bytes.len() - at > 1024 {
                Err("a chunk without a size".into())
            } else {
                Ok(None)
            };
        };
        let size = std::str::from_utf8(&bytes[at..at + end])
            .ok()
            .and_then(|text| usize::from_str_radix(text.split(';').next()?.trim(), 16).ok())
            .ok_or("a chunk without a size")?;
        at += end + 2;
        if size > limit || body.len() + size > limit {
            return Err(TOO_LONG.into());
        }
        if size == 0 {
            // Trailers, up to an empty line.
            loop {
                let Some(end) = line(at) else {
                    return Ok(None);
                };
                at += end + 2;
                if end == 0 {
                    return Ok(Some((body, at)));
                }
            }
        }
        if bytes.len() < at + size + 2 {
            return Ok(None);
        }
        body.extend_from_slice(&bytes[at..at + size]);
        if &bytes[at + size..at + size + 2] != b"\r\n" {
            return Err("a chunk that does not end".into());
        }
        at += size + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let response = parse_response(text.as_bytes(), false, closed, 100)
                .unwrap()
                .unwrap();
            let body = String::from_utf8(response.body).unwrap();
            assert_eq!(
                (response.status, &*body, response.keep_alive),
                want,
                "{text}"
            );
            assert_eq!(response.consumed, text.len());
            for cut in 0..text.len() {
                if closed && cut >= text.find("\r\n\r\n").unwrap() + 4 {
                    break;
                }
                assert_eq!(
                    parse_response(&text.as_bytes()[..cut], false, false, 100),
                    Ok(None),
                    "{text} cut at {cut}"
                );
            }
        }
    }

    #[test]
    fn bad_responses_are_errors() {
        for text in [
            "SSH-2.0-x\r\n",
            "HTTP/1.1 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        ] {
            assert!(
                parse_response(text.as_bytes(), false, false, 100).is_err(),
                "{text}"
            );
        }
    }

    #[test]
    fn requests_are_written() {
        let url = parse_url("http://localhost:8080/api/", "http", 80).unwrap();
        let (method, bytes) = request(b"POST /users\nX: 1\n\n{\"a\":1}", &url).unwrap();
        assert_eq!(method, "POST");
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            "POST /api/users HTTP/1.1\r\nHost: localhost:8080\r\nX: 1\r\nContent-Length: 7\r\n\r\n{\"a\":1}"
        );
        assert!(request(b"GET /a b", &url).is_err());
        assert!(request(b"nothing", &url).is_err());
    }
}
