//! WebSocket [RFC 6455], with the tester as client: a message is a message.
//!
//! A small client of our own on a socket that does not block: it knows when a message is half read,
//! which libraries hide. The tests run it against an independent implementation.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::accept_key::{accept_key, base64};
use crate::http::{Url, parse_url};
use crate::link::{Alive, Link, StreamBuffer};
use crate::tcp::connect;
use crate::{Bounds, ExecError};

/// A WebSocket connection as a channel.
pub(crate) struct WebSocketLink {
    name: String,
    url: Url,
    stream: Option<TcpStream>,
    buffer: StreamBuffer,
    /// The fragments of a message so far.
    fragments: Vec<u8>,
    /// Whether a message has begun whose last fragment has not come.
    fragmented: bool,
    bounds: Bounds,
    /// For keys and masks, which guard proxies and not us: their seed does not matter.
    rng: Xoshiro256PlusPlus,
}

const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// The header of a frame.
#[derive(Debug, PartialEq, Eq)]
struct FrameHeader {
    last: bool,
    opcode: u8,
    header: usize,
    payload: u64,
}

/// Reads a frame's header; `None` while it is incomplete.
fn parse_header(bytes: &[u8]) -> Result<Option<FrameHeader>, String> {
    let &[first, second, ref rest @ ..] = bytes else {
        return Ok(None);
    };
    if first & 0x70 != 0 {
        return Err("a frame with reserved bits".into());
    }
    if second & 0x80 != 0 {
        return Err("a masked frame from the server".into());
    }
    let (header, payload) = match second & 0x7f {
        126 => match rest.first_chunk::<2>() {
            Some(length) => (4, u64::from(u16::from_be_bytes(*length))),
            None => return Ok(None),
        },
        127 => match rest.first_chunk::<8>() {
            Some(length) => (10, u64::from_be_bytes(*length)),
            None => return Ok(None),
        },
        length => (2, u64::from(length)),
    };
    Ok(Some(FrameHeader {
        last: first & 0x80 != 0,
        opcode: first & 0x0f,
        header,
        payload,
    }))
}

/// Appends a client's frame, masked as the RFC asks.
fn write_frame(opcode: u8, payload: &[u8], mask: [u8; 4], output: &mut Vec<u8>) {
    output.push(0x80 | opcode);
    match payload.len() {
        length @ 0..126 => output.push(0x80 | length as u8),
        length @ 126..0x1_0000 => {
            output.push(0x80 | 0x7e);
            output.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            output.push(0x80 | 0x7f);
            output.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    output.extend_from_slice(&mask);
    output.extend(payload.iter().zip(mask.iter().cycle()).map(|(b, m)| b ^ m));
}

impl WebSocketLink {
    pub(crate) fn new(name: &str, url: &str, bounds: Bounds) -> Result<Self, ExecError> {
        Ok(Self {
            name: name.into(),
            url: parse_url(url, "ws", 80)?,
            stream: None,
            buffer: StreamBuffer::new(),
            fragments: Vec::new(),
            fragmented: false,
            bounds,
            rng: Xoshiro256PlusPlus::seed_from_u64(0),
        })
    }

    fn handshake(&mut self, stream: &mut TcpStream, deadline: Instant) -> Result<(), String> {
        let mut nonce = [0; 16];
        self.rng.fill_bytes(&mut nonce);
        let key = base64(&nonce);
        let path = if self.url.path.is_empty() {
            "/"
        } else {
            &self.url.path
        };
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n",
            self.url.host
        );
        stream.set_nonblocking(false).map_err(|e| e.to_string())?;
        stream
            .write_all(request.as_bytes())
            .map_err(|e| e.to_string())?;
        let mut response = Vec::new();
        let mut byte = [0];
        // Byte by byte: what follows the head is the first frame already.
        while !response.ends_with(b"\r\n\r\n") {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err("no answer to the handshake".into());
            }
            stream
                .set_read_timeout(Some(left.max(Duration::from_millis(1))))
                .map_err(|e| e.to_string())?;
            match stream.read(&mut byte) {
                Ok(0) => return Err("closed during the handshake".into()),
                Ok(_) => response.push(byte[0]),
                Err(e)
                    if matches!(
                        e.kind(),
                        ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut
                    ) => {}
                Err(e) => return Err(e.to_string()),
            }
            if response.len() > 64 << 10 {
                return Err("an endless handshake".into());
            }
        }
        let text = String::from_utf8_lossy(&response);
        let mut lines = text.split("\r\n");
        let status = lines.next().unwrap_or_default();
        if status.split(' ').nth(1) != Some("101") {
            return Err(format!("the handshake was answered with {status:?}"));
        }
        let accepted = lines.any(|line| {
            line.split_once(':').is_some_and(|(name, value)| {
                name.eq_ignore_ascii_case("sec-websocket-accept")
                    && value.trim() == accept_key(&key)
            })
        });
        if !accepted {
            return Err("the handshake's accept key is wrong or missing".into());
        }
        stream
            .set_read_timeout(None)
            .and_then(|()| stream.set_nonblocking(true))
            .map_err(|e| e.to_string())
    }

    fn mask(&mut self) -> [u8; 4] {
        self.rng.next_u32().to_be_bytes()
    }

    fn broken(&mut self, reason: String) -> ExecError {
        ExecError::Undecodable {
            channel: self.name.clone(),
            reason,
            dump: crate::hexdump(self.buffer.unread()),
        }
    }
}

impl Link for WebSocketLink {
    fn connect(&mut self, deadline: Instant, retry: bool, alive: Alive) -> Result<(), ExecError> {
        self.close();
        let mut stream = connect(&self.url.address, deadline, retry, alive)?;
        self.handshake(&mut stream, deadline)
            .map_err(|reason| ExecError::unreachable(&self.url.address, reason))?;
        self.stream = Some(stream);
        Ok(())
    }

    fn close(&mut self) {
        if let Some(mut stream) = self.stream.take() {
            let mut bye = Vec::new();
            write_frame(CLOSE, &1000u16.to_be_bytes(), [0; 4], &mut bye);
            // A courtesy; the connection is closed in any case.
            let _ = stream.write(&bye);
        }
        self.buffer.clear();
        self.fragments.clear();
        self.fragmented = false;
    }

    fn readers<'a>(&'a self, fds: &mut Vec<BorrowedFd<'a>>) {
        if let (Some(stream), None) = (&self.stream, &self.buffer.ended) {
            fds.push(stream.as_fd());
        }
    }

    fn writer(&self) -> Option<BorrowedFd<'_>> {
        self.stream.as_ref().map(AsFd::as_fd)
    }

    fn pump(&mut self) -> Result<bool, ExecError> {
        Ok(match &mut self.stream {
            Some(stream) => self.buffer.read_from(stream),
            None => false,
        })
    }

    fn next(&mut self, message: &mut Vec<u8>) -> Result<bool, ExecError> {
        loop {
            let frame = match parse_header(self.buffer.unread()) {
                Ok(Some(frame)) => frame,
                Ok(None) => return Ok(false),
                Err(reason) => return Err(self.broken(reason)),
            };
            let room = self.bounds.max_message.saturating_sub(self.fragments.len()) as u64;
            if frame.payload > room {
                return Err(self.buffer.too_long(&self.name, &self.bounds));
            }
            let end = frame.header + frame.payload as usize;
            let unread = self.buffer.unread();
            if unread.len() < end {
                return Ok(false);
            }
            let payload = &unread[frame.header..end];
            let control = frame.opcode >= CLOSE;
            if control && (!frame.last || frame.payload > 125) {
                return Err(self.broken("a control frame that is too long".into()));
            }
            match frame.opcode {
                PING => {
                    let payload = payload.to_vec();
                    let mask = self.mask();
                    write_frame(PONG, &payload, mask, &mut self.buffer.output);
                    self.buffer.take(end);
                    self.flush()?;
                }
                PONG => self.buffer.take(end),
                CLOSE => {
                    let code = payload.first_chunk::<2>().map(|c| u16::from_be_bytes(*c));
                    self.buffer.ended = Some(match code {
                        Some(code) => format!("closed by the system under test with code {code}"),
                        None => "closed by the system under test".into(),
                    });
                    let rest = self.buffer.unread().len();
                    self.buffer.take(rest);
                    return Ok(false);
                }
                TEXT | BINARY if self.fragmented => {
                    return Err(self.broken("a message inside a fragmented message".into()));
                }
                CONTINUATION if !self.fragmented => {
                    return Err(self.broken("a continuation of nothing".into()));
                }
                CONTINUATION | TEXT | BINARY => {
                    self.fragments.extend_from_slice(payload);
                    self.buffer.take(end);
                    self.fragmented = !frame.last;
                    if frame.last {
                        message.extend_from_slice(&self.fragments);
                        self.fragments.clear();
                        return Ok(true);
                    }
                }
                opcode => return Err(self.broken(format!("a frame with opcode {opcode}"))),
            }
        }
    }

    fn half(&self) -> Option<&[u8]> {
        match self.buffer.unread() {
            [] if self.fragmented => Some(&self.fragments),
            [] => None,
            bytes => Some(bytes),
        }
    }

    fn pending(&self) -> usize {
        self.buffer.unread().len() + self.fragments.len()
    }

    fn ended(&self) -> Option<&str> {
        self.buffer.ended.as_deref()
    }

    fn enqueue(&mut self, message: &[u8]) -> Result<(), ExecError> {
        let opcode = match std::str::from_utf8(message) {
            Ok(_) => TEXT,
            Err(_) => BINARY,
        };
        let mask = self.mask();
        write_frame(opcode, message, mask, &mut self.buffer.output);
        Ok(())
    }

    fn flush(&mut self) -> Result<usize, ExecError> {
        match &mut self.stream {
            Some(stream) => self.buffer.write_to(stream),
            None => Err(ErrorKind::NotConnected.into()),
        }
        .map_err(|e| ExecError::Dropped {
            channel: self.name.clone(),
            reason: e.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 6455, §5.7.
    #[test]
    fn frames_are_those_of_the_rfc() {
        let mut output = Vec::new();
        write_frame(TEXT, b"Hello", [0x37, 0xfa, 0x21, 0x3d], &mut output);
        assert_eq!(
            output,
            [
                0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58
            ]
        );
        let header = |bytes: &[u8]| parse_header(bytes).unwrap().unwrap();
        let hello = header(&[0x81, 0x05, 0x48]);
        assert_eq!(
            (hello.last, hello.opcode, hello.header, hello.payload),
            (true, TEXT, 2, 5)
        );
        assert!(!header(&[0x01, 0x03]).last);
        assert_eq!(header(&[0x82, 0x7e, 0x01, 0x00]).payload, 256);
        assert_eq!(
            header(&[0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0]).payload,
            65_536
        );
        assert_eq!(parse_header(&[0x82, 0x7f, 0, 0]), Ok(None));
        assert!(parse_header(&[0x81, 0x85]).is_err());
    }
}
