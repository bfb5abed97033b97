//! WebSocket [RFC 6455], with the tester as client: a message is a message.
//!
//! A small client of our own on a socket that does not block: it knows when a message is half read,
//! which libraries hide. The tests run it against an independent implementation.

use std::net::TcpStream;
use std::time::Instant;

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::event::{PollFd, PollFlags};

use crate::transport::accept_key::{accept_key, base64};
use crate::transport::http::{Url, parse_url};
use crate::transport::link::Alive;
use crate::transport::readiness::wait;
use crate::transport::stream_buffer::StreamBuffer;
use crate::transport::stream_link::{Endpoint, Frames};
use crate::transport::tcp::connect;
use crate::{Bounds, ExecError};

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

/// For keys and masks, which guard proxies and not us: the seed does not matter.
fn chance() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(0)
}

/// A WebSocket connection to a server.
pub(crate) struct WebSocket {
    url: Url,
    rng: Xoshiro256PlusPlus,
}

/// Bytes of the answer to a handshake.
const HEAD: usize = 64 << 10;

impl WebSocket {
    pub(crate) fn new(url: &str) -> Result<Self, ExecError> {
        Ok(Self {
            url: parse_url(url, "ws", 80)?,
            rng: chance(),
        })
    }

    fn handshake(
        &mut self,
        stream: &mut TcpStream,
        buffer: &mut StreamBuffer,
        deadline: Instant,
    ) -> Result<(), String> {
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
        buffer.output.extend_from_slice(request.as_bytes());
        let head = loop {
            let left = buffer.write_to(stream).map_err(|e| e.to_string())?;
            let unread = buffer.unread();
            if let Some(end) = unread.windows(4).position(|w| w == b"\r\n\r\n") {
                break end + 4;
            }
            if unread.len() > HEAD {
                return Err("an endless handshake".into());
            }
            if buffer.ended.is_some() {
                return Err("closed during the handshake".into());
            }
            let patience = deadline.saturating_duration_since(Instant::now());
            if patience.is_zero() {
                return Err("no answer to the handshake".into());
            }
            let both = PollFlags::IN | PollFlags::OUT;
            let wanted = if left > 0 { both } else { PollFlags::IN };
            let mut fds = [PollFd::new(stream, wanted)];
            wait(&mut fds, Some(patience)).map_err(|e| e.to_string())?;
            buffer.read_from(stream);
        };
        let answer = String::from_utf8_lossy(&buffer.unread()[..head]);
        let mut lines = answer.split("\r\n");
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
        buffer.take(head);
        Ok(())
    }
}

impl Endpoint for WebSocket {
    type Stream = TcpStream;

    fn open(
        &mut self,
        buffer: &mut StreamBuffer,
        deadline: Instant,
        retry: bool,
        alive: Alive,
    ) -> Result<TcpStream, ExecError> {
        let mut stream = connect(&self.url.address, deadline, retry, alive)?;
        self.handshake(&mut stream, buffer, deadline)
            .map_err(|reason| ExecError::unreachable(&self.url.address, reason))?;
        Ok(stream)
    }
}

/// The frames of a WebSocket connection, as a client reads and writes them.
pub(crate) struct WebSocketFrames {
    /// The fragments of a message so far.
    fragments: Vec<u8>,
    /// Whether a message has begun whose last fragment has not come.
    fragmented: bool,
    rng: Xoshiro256PlusPlus,
}

impl WebSocketFrames {
    pub(crate) fn new() -> Self {
        Self {
            fragments: Vec::new(),
            fragmented: false,
            rng: chance(),
        }
    }

    fn mask(&mut self) -> [u8; 4] {
        self.rng.next_u32().to_be_bytes()
    }
}

impl Frames for WebSocketFrames {
    fn next(
        &mut self,
        channel: &str,
        buffer: &mut StreamBuffer,
        bounds: &Bounds,
        message: &mut Vec<u8>,
    ) -> Result<bool, ExecError> {
        let broken = |buffer: &StreamBuffer, reason: String| ExecError::Undecodable {
            channel: channel.into(),
            reason,
            dump: crate::hexdump(buffer.unread()),
        };
        loop {
            let frame = match parse_header(buffer.unread()) {
                Ok(Some(frame)) => frame,
                Ok(None) => return Ok(false),
                Err(reason) => return Err(broken(buffer, reason)),
            };
            let room = bounds.max_message.saturating_sub(self.fragments.len()) as u64;
            if frame.payload > room {
                return Err(buffer.too_long(channel, bounds));
            }
            let end = frame.header + frame.payload as usize;
            let unread = buffer.unread();
            if unread.len() < end {
                return Ok(false);
            }
            let payload = &unread[frame.header..end];
            let control = frame.opcode >= CLOSE;
            if control && (!frame.last || frame.payload > 125) {
                return Err(broken(buffer, "a control frame that is too long".into()));
            }
            match frame.opcode {
                PING => {
                    let payload = payload.to_vec();
                    write_frame(PONG, &payload, self.mask(), &mut buffer.output);
                    buffer.take(end);
                }
                PONG => buffer.take(end),
                CLOSE => {
                    let code = payload.first_chunk::<2>().map(|c| u16::from_be_bytes(*c));
                    buffer.ended = Some(match code {
                        Some(code) => format!("closed by the system under test with code {code}"),
                        None => "closed by the system under test".into(),
                    });
                    let rest = buffer.unread().len();
                    buffer.take(rest);
                    return Ok(false);
                }
                TEXT | BINARY if self.fragmented => {
                    let reason = "a message inside a fragmented message";
                    return Err(broken(buffer, reason.into()));
                }
                CONTINUATION if !self.fragmented => {
                    return Err(broken(buffer, "a continuation of nothing".into()));
                }
                CONTINUATION | TEXT | BINARY => {
                    self.fragments.extend_from_slice(payload);
                    buffer.take(end);
                    self.fragmented = !frame.last;
                    if frame.last {
                        message.extend_from_slice(&self.fragments);
                        self.fragments.clear();
                        return Ok(true);
                    }
                }
                opcode => return Err(broken(buffer, format!("a frame with opcode {opcode}"))),
            }
        }
    }

    fn frame(&mut self, message: &[u8], output: &mut Vec<u8>) -> Result<(), ExecError> {
        let opcode = match std::str::from_utf8(message) {
            Ok(_) => TEXT,
            Err(_) => BINARY,
        };
        write_frame(opcode, message, self.mask(), output);
        Ok(())
    }

    fn begun(&self) -> Option<&[u8]> {
        self.fragmented.then_some(&*self.fragments)
    }

    fn farewell(&mut self, output: &mut Vec<u8>) {
        write_frame(CLOSE, &1000u16.to_be_bytes(), [0; 4], output);
    }

    fn clear(&mut self) {
        self.fragments.clear();
        self.fragmented = false;
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
