//! WebSocket [RFC 6455], with the tester as client: a message is a message.
//!
//! `tungstenite` speaks the protocol; it never sees the socket. It is given the answer to the
//! handshake and after that one whole frame at a time, and what it writes goes into the channel's
//! output. So the bytes of an incomplete message stay in the channel's own buffer, where the rule
//! "no δ while a message is half read" finds them, and no thread is needed.

use std::io::{self, Cursor, ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use tungstenite::client::IntoClientRequest;
use tungstenite::handshake::HandshakeError;
use tungstenite::handshake::client::{ClientHandshake, Request};
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role, WebSocketConfig, WebSocketContext};
use tungstenite::{Error, Message};

use crate::transport::http_request::Url;
use crate::transport::link::{Address, ExitProbe};
use crate::transport::readiness::wait;
use crate::transport::socket::{Server, Socket};
use crate::transport::stream_buffer::StreamBuffer;
use crate::transport::stream_link::{Endpoint, Frames};
use crate::{Bounds, ExecError, TlsConfig};

/// Bytes of the answer to a handshake.
const HEAD: usize = 64 << 10;

/// Control frames without a message between them that come within [`CONTROL_WINDOW`] at most; a
/// system that sends more would keep the tester busy without end.
const CONTROL_FRAMES: usize = 1 << 14;
const CONTROL_WINDOW: Duration = Duration::from_secs(1);

/// A WebSocket connection to a server.
pub(crate) struct WebSocket {
    url: Url,
    server: Server,
}

impl WebSocket {
    pub(crate) fn new(url: &str, tls: Option<TlsConfig>) -> Result<Self, ExecError> {
        let parts = Url::parse(url, "ws")?;
        let socket = Self {
            server: Server::new(&parts.address, tls)?,
            url: parts,
        };
        socket
            .request()
            .map_err(|e| ExecError::Config(format!("{url:?} cannot be requested: {e}")))?;
        Ok(socket)
    }

    /// The request of the handshake, with a new key.
    fn request(&self) -> Result<Request, Error> {
        let path = match &*self.url.path {
            "" => "/",
            path => path,
        };
        format!("ws://{}{path}", self.url.host).into_client_request()
    }

    fn handshake(
        &self,
        stream: &mut Socket,
        buffer: &mut StreamBuffer,
        deadline: Instant,
    ) -> Result<(), String> {
        let stream = HandshakeStream {
            stream,
            buffer,
            head: 0,
        };
        let failed = |error: Error| match error {
            Error::Http(answer) => {
                format!("the handshake was answered with {}", answer.status())
            }
            error => error.to_string(),
        };
        let request = self.request().map_err(failed)?;
        let mut handshake = ClientHandshake::start(stream, request, None).map_err(failed)?;
        loop {
            handshake = match handshake.handshake() {
                Ok(_) => return Ok(()),
                Err(HandshakeError::Interrupted(waiting)) => waiting,
                Err(HandshakeError::Failure(error)) => return Err(failed(error)),
            };
            handshake.get_mut().get_mut().exchange(deadline)?;
        }
    }
}

impl Endpoint for WebSocket {
    type Stream = Socket;

    fn prepare(&mut self) -> Result<(), ExecError> {
        self.server.prepare();
        Ok(())
    }

    fn address(&self) -> Option<Address<'_>> {
        Some(Address::Tcp(&self.url.address))
    }

    fn open(
        &mut self,
        buffer: &mut StreamBuffer,
        deadline: Instant,
        retry: bool,
        alive: ExitProbe,
    ) -> Result<Socket, ExecError> {
        let mut stream = self.server.connect(deadline, retry, alive)?;
        self.handshake(&mut stream, buffer, deadline)
            .map_err(|reason| ExecError::unreachable(&self.url.address, reason))?;
        Ok(stream)
    }
}

/// The stream of a handshake. It gives the head of the server's answer and nothing behind it: the
/// first messages may come in one piece with that head, and belong to the channel.
struct HandshakeStream<'a> {
    stream: &'a mut Socket,
    buffer: &'a mut StreamBuffer,
    /// Bytes of the head that were not given yet.
    head: usize,
}

impl HandshakeStream<'_> {
    /// Writes the request out and reads until a head is there.
    fn exchange(&mut self, deadline: Instant) -> Result<(), String> {
        loop {
            let left = self
                .buffer
                .write_to(self.stream)
                .map_err(|e| e.to_string())?;
            if let Some(end) = head_end(self.buffer.unread()) {
                self.head = end;
                return Ok(());
            }
            if self.buffer.unread().len() > HEAD {
                return Err(format!(
                    "an answer to the handshake of more than {HEAD} bytes"
                ));
            }
            if self.buffer.ended.is_some() {
                return Err("closed during the handshake".into());
            }
            let patience = deadline.saturating_duration_since(Instant::now());
            if patience.is_zero() {
                return Err("no answer to the handshake".into());
            }
            let both = PollFlags::IN | PollFlags::OUT;
            let wanted = if left > 0 { both } else { PollFlags::IN };
            let mut fds = [PollFd::new(self.stream, wanted)];
            wait(&mut fds, Some(patience)).map_err(|e| e.to_string())?;
            self.buffer.read_from(self.stream);
        }
    }
}

/// Where the head of an HTTP message ends: behind its first empty line.
fn head_end(bytes: &[u8]) -> Option<usize> {
    (0..bytes.len()).find_map(|i| match &bytes[i..] {
        [b'\n', b'\r', b'\n', ..] => Some(i + 3),
        [b'\n', b'\n', ..] => Some(i + 2),
        _ => None,
    })
}

impl Read for HandshakeStream<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.head.min(room.len());
        if count == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        room[..count].copy_from_slice(&self.buffer.unread()[..count]);
        self.buffer.take(count);
        self.head -= count;
        Ok(count)
    }
}

impl Write for HandshakeStream<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.output.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the protocol sees of a channel: the frame that it is to read, and the output.
struct FrameStream<'a> {
    frame: &'a [u8],
    output: &'a mut Vec<u8>,
}

impl Read for FrameStream<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.frame.is_empty() {
            return Err(ErrorKind::WouldBlock.into());
        }
        self.frame.read(room)
    }
}

impl Write for FrameStream<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn context(bounds: &Bounds) -> WebSocketContext {
    let config = WebSocketConfig::default()
        // Frames come from memory; a large buffer would be filled with zeros at each read.
        .read_buffer_size(4 << 10)
        .write_buffer_size(0)
        .max_frame_size(Some(bounds.max_message))
        .max_message_size(Some(bounds.max_message));
    WebSocketContext::new(Role::Client, Some(config))
}

/// The frames of a WebSocket connection, as a client reads and writes them.
pub(crate) struct WebSocketFrames {
    bounds: Bounds,
    context: WebSocketContext,
    /// Bytes at the front of the buffer that the protocol has seen: the first fragments of a message,
    /// and control frames between them. They are taken when the message is whole.
    seen: usize,
    /// Control frames since the last message, or since `since`.
    controls: usize,
    since: Instant,
}

impl WebSocketFrames {
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self {
            context: context(&bounds),
            bounds,
            seen: 0,
            controls: 0,
            since: Instant::now(),
        }
    }

    fn count_control_frame(&mut self) -> Result<(), ExecError> {
        if self.controls == 0 {
            self.since = Instant::now();
        }
        self.controls += 1;
        if self.controls < CONTROL_FRAMES {
            return Ok(());
        }
        self.controls = 0;
        if self.since.elapsed() < CONTROL_WINDOW {
            return Err(ExecError::Flooding {
                statement: format!(
                    "{CONTROL_FRAMES} WebSocket control frames in {:?} without a message",
                    self.since.elapsed()
                ),
            });
        }
        Ok(())
    }
}

/// Where the first frame ends, and `None` while its header is incomplete.
fn frame_end(bytes: &[u8]) -> Result<Option<u64>, Error> {
    let mut cursor = Cursor::new(bytes);
    let header = FrameHeader::parse(&mut cursor)?;
    Ok(header.map(|(_, payload)| cursor.position().saturating_add(payload)))
}

impl Frames for WebSocketFrames {
    fn next(
        &mut self,
        channel: &str,
        buffer: &mut StreamBuffer,
        bounds: &Bounds,
        message: &mut Vec<u8>,
    ) -> Result<bool, ExecError> {
        /// More than any header.
        const HEADER: usize = 16;
        let broken = |buffer: &StreamBuffer, error: Error| ExecError::Undecodable {
            channel: channel.into(),
            reason: error.to_string(),
            dump: crate::hexdump(buffer.unread()),
        };
        // Fragments may be short and headers between them many.
        let most = bounds
            .max_message
            .saturating_mul(8)
            .saturating_add(64 << 10);
        loop {
            let (unread, output) = buffer.split();
            let frame = &unread[self.seen..];
            let end = match frame_end(frame) {
                Ok(Some(end)) => end,
                Ok(None) => return Ok(false),
                Err(error) => return Err(broken(buffer, error)),
            };
            let limit = bounds.max_message.saturating_add(HEADER) as u64;
            if end > limit || self.seen > most {
                return Err(buffer.too_long(channel, bounds));
            }
            let Some(frame) = frame.get(..end as usize) else {
                return Ok(false);
            };
            let mut stream = FrameStream { frame, output };
            let read = self.context.read(&mut stream);
            if let Ok(Message::Ping(_) | Message::Close(_)) = read {
                // The answer; nothing can go wrong, since output is memory.
                let _ = self.context.flush(&mut stream);
            }
            let end = end as usize;
            let data = match read {
                Ok(Message::Text(text)) => text.into(),
                Ok(Message::Binary(data)) => data,
                Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => {
                    self.count_control_frame()?;
                    match self.seen {
                        0 => buffer.take(end),
                        _ => self.seen += end,
                    }
                    continue;
                }
                Ok(Message::Close(close)) => {
                    buffer.ended = Some(match close {
                        Some(CloseFrame { code, .. }) => {
                            format!("closed by the system under test with code {code}")
                        }
                        None => "closed by the system under test".into(),
                    });
                    let rest = buffer.unread().len();
                    buffer.take(rest);
                    self.seen = 0;
                    return Ok(false);
                }
                // A fragment: the protocol wants the next one.
                Err(Error::Io(e)) if e.kind() == ErrorKind::WouldBlock => {
                    self.seen += end;
                    continue;
                }
                Err(Error::Capacity(_)) => return Err(buffer.too_long(channel, bounds)),
                Err(error) => return Err(broken(buffer, error)),
            };
            message.extend_from_slice(&data);
            buffer.take(self.seen + end);
            (self.seen, self.controls) = (0, 0);
            return Ok(true);
        }
    }

    fn frame(&mut self, message: &[u8], output: &mut Vec<u8>) -> Result<(), ExecError> {
        if !self.context.can_write() {
            // The system has closed the channel, and that is reported when it is read.
            return Ok(());
        }
        let frame = match std::str::from_utf8(message) {
            Ok(text) => Message::text(text),
            Err(_) => Message::binary(message.to_vec()),
        };
        let mut stream = FrameStream { frame: &[], output };
        self.context
            .write(&mut stream, frame)
            .and_then(|()| self.context.flush(&mut stream))
            .map_err(|e| ExecError::Unencodable {
                action: String::from_utf8_lossy(message).into_owned(),
                reason: e.to_string(),
            })
    }

    fn farewell(&mut self, output: &mut Vec<u8>) {
        let close = CloseFrame {
            code: CloseCode::Normal,
            reason: "".into(),
        };
        let mut stream = FrameStream { frame: &[], output };
        // A courtesy; the stream is closed in any case.
        let _ = self.context.close(&mut stream, Some(close));
    }

    fn clear(&mut self) {
        *self = Self::new(self.bounds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bounds(max_message: usize) -> Bounds {
        Bounds {
            max_message,
            ..Bounds::default()
        }
    }

    /// A server's frame, written from RFC 6455, §5.2.
    fn frame(last: bool, opcode: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![u8::from(last) << 7 | opcode];
        match payload.len() {
            length @ 0..126 => bytes.push(length as u8),
            length @ 126..0x1_0000 => {
                bytes.push(126);
                bytes.extend((length as u16).to_be_bytes());
            }
            length => {
                bytes.push(127);
                bytes.extend((length as u64).to_be_bytes());
            }
        }
        bytes.extend(payload);
        bytes
    }

    fn all(frames: &mut WebSocketFrames, buffer: &mut StreamBuffer) -> Vec<Vec<u8>> {
        let mut got = Vec::new();
        let mut message = Vec::new();
        let bounds = frames.bounds;
        while frames.next("c", buffer, &bounds, &mut message).unwrap() {
            got.push(std::mem::take(&mut message));
        }
        got
    }

    proptest! {
        /// However bytes are cut on their way, messages come back, never early, and the buffer holds
        /// bytes exactly while a message or a frame is half read.
        #[test]
        fn messages_come_back_from_any_cut(
            messages in prop::collection::vec(
                (prop::collection::vec(b' '..=b'~', 0..300), 1usize..4, any::<bool>()),
                0..5,
            ),
            cut in 1usize..40,
        ) {
            let mut bytes = Vec::new();
            // Where nothing is half read.
            let mut ends = vec![0];
            for (text, pieces, ping) in &messages {
                let size = text.len() / pieces + 1;
                let count = text.chunks(size).len().max(1);
                for i in 0..count {
                    let piece = text.chunks(size).nth(i).unwrap_or_default();
                    bytes.extend(frame(i + 1 == count, u8::from(i == 0), piece));
                    if i + 1 == count {
                        ends.push(bytes.len());
                    }
                    if *ping {
                        bytes.extend(frame(true, 9, b"?"));
                        if i + 1 == count {
                            ends.push(bytes.len());
                        }
                    }
                }
            }
            let mut frames = WebSocketFrames::new(bounds(1000));
            let mut buffer = StreamBuffer::new();
            let mut got = Vec::new();
            let mut read = 0;
            for piece in bytes.chunks(cut) {
                read += piece.len();
                let mut piece = piece;
                buffer.read_from(&mut piece);
                got.extend(all(&mut frames, &mut buffer));
                prop_assert_eq!(buffer.unread().is_empty(), ends.contains(&read));
            }
            let sent: Vec<_> = messages.iter().map(|(text, ..)| text.clone()).collect();
            prop_assert_eq!(got, sent);
        }
    }

    #[test]
    fn bad_frames_are_errors() {
        for (bytes, code) in [
            (frame(true, 1, &[0xff]), "undecodable"),
            (frame(true, 0, b"x"), "undecodable"),
            (frame(true, 3, b"x"), "undecodable"),
            (frame(false, 9, b"x"), "undecodable"),
            (vec![0x81, 0x81, 0, 0, 0, 0, b'x'], "undecodable"),
            (vec![0xc1, 0x01, b'x'], "undecodable"),
            (
                [frame(false, 1, b"x"), frame(true, 1, b"x")].concat(),
                "undecodable",
            ),
            (vec![0x82, 0x7e, 0x01, 0x00], "too-long"),
            (
                vec![0x82, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
                "too-long",
            ),
            (
                [frame(false, 1, &[b'x'; 60]), frame(true, 0, &[b'x'; 60])].concat(),
                "too-long",
            ),
            (
                frame(false, 1, b"")
                    .into_iter()
                    .chain(frame(false, 0, b"").repeat(1 << 16))
                    .collect(),
                "too-long",
            ),
            (frame(true, 9, b"").repeat(CONTROL_FRAMES), "flooding"),
        ] {
            let mut frames = WebSocketFrames::new(bounds(100));
            let mut buffer = StreamBuffer::new();
            let mut source = &bytes[..];
            while !source.is_empty() {
                buffer.read_from(&mut source);
            }
            let error = frames
                .next("c", &mut buffer, &bounds(100), &mut Vec::new())
                .unwrap_err();
            assert_eq!(error.code(), code, "{error}");
        }
    }

    /// A ping is answered with its payload, a close ends the channel.
    #[test]
    fn control_frames_are_answered() {
        let mut frames = WebSocketFrames::new(bounds(100));
        let mut buffer = StreamBuffer::new();
        let bytes = [frame(true, 9, b"ab"), frame(true, 8, &[0x03, 0xe9])].concat();
        buffer.read_from(&mut &bytes[..]);
        assert!(all(&mut frames, &mut buffer).is_empty());
        assert_eq!(
            buffer.ended.as_deref(),
            Some("closed by the system under test with code 1001")
        );
        let [0x8a, 0x82, a, b, _, _, x, y, 0x88, ..] = buffer.output[..] else {
            panic!("{:x?}", buffer.output);
        };
        assert_eq!([x ^ a, y ^ b], *b"ab");
    }
}
