//! HTTP/1.1: a request is a stimulus, its response an output.
//!
//! The connection is our own, because a tester needs what client libraries hide: the response comes
//! when it comes, several requests may be open at once, and a half-read response is known as such.
//! Responses are parsed by `httparse`. No redirects: what the system answers is what is observed.

use std::collections::{BTreeSet, VecDeque};
use std::io::ErrorKind;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags};

use crate::transport::bounds::from_now;
use crate::transport::http_request::{Url, encode};
use crate::transport::http_response::{HttpError, ResponseReader};
use crate::transport::interrupt;
use crate::transport::link::{Address, ExitProbe, Link};
use crate::transport::readiness::{reading, wait};
use crate::transport::socket::{Server, Socket};
use crate::transport::stream_buffer::StreamBuffer;
use crate::{Bounds, ExecError, TlsConfig, hexdump};

struct Connection {
    stream: Socket,
    buffer: StreamBuffer,
    /// Reads the response of the request that is open.
    awaiting: Option<ResponseReader>,
    /// Whether a response came here before.
    is_reused: bool,
    /// The request that is open, where it may be sent again: on a connection that was used before, and of an idempotent method.
    again: Vec<u8>,
    /// Whether the request asks the server to close the connection.
    is_last: bool,
}

/// What becomes of a connection.
enum Fate {
    Stays,
    Goes,
    /// The server closed it when the request was on its way: the request is sent once more.
    Again,
}

/// Requests that may be open at the same time.
const CONNECTIONS: usize = 64;

/// An HTTP service as a channel.
pub(crate) struct HttpLink {
    name: String,
    url: Url,
    server: Server,
    connections: Vec<Connection>,
    /// The connection that the last request goes out on.
    sending: Option<usize>,
    responses: VecDeque<Vec<u8>>,
    ended: Option<String>,
    bounds: Bounds,
    /// Header fields that are part of messages, in lower case.
    headers: Arc<BTreeSet<String>>,
    /// Whether the last look at all connections found nothing, and nothing was sent since.
    is_dry: bool,
    /// Memory for a request, and for a message.
    request: Vec<u8>,
    spare: Vec<u8>,
}

impl HttpLink {
    pub(crate) fn new(
        name: &str,
        url: &str,
        tls: Option<TlsConfig>,
        bounds: Bounds,
    ) -> Result<Self, ExecError> {
        let url = Url::parse(url, "http")?;
        Ok(Self {
            name: name.into(),
            server: Server::new(&url.address, tls)?,
            url,
            connections: Vec::new(),
            sending: None,
            responses: VecDeque::new(),
            ended: None,
            bounds,
            headers: Arc::default(),
            is_dry: false,
            request: Vec::new(),
            spare: Vec::new(),
        })
    }

    /// Puts these header fields, in lower case, into the messages.
    pub(crate) fn with_headers(mut self, headers: BTreeSet<String>) -> Self {
        self.headers = Arc::new(headers);
        self
    }

    fn open(
        &mut self,
        deadline: Instant,
        retry: bool,
        alive: ExitProbe,
    ) -> Result<usize, ExecError> {
        if self.connections.len() >= CONNECTIONS {
            return Err(ExecError::Refused {
                stimulus: "an HTTP request".into(),
                reason: format!("{CONNECTIONS} requests are open already"),
            });
        }
        let stream = self.server.connect(deadline, retry, alive)?;
        self.connections.push(Connection {
            stream,
            buffer: StreamBuffer::new(),
            awaiting: None,
            is_reused: false,
            again: Vec::new(),
            is_last: false,
        });
        Ok(self.connections.len() - 1)
    }

    /// Takes what is complete from one connection.
    fn harvest(&mut self, index: usize) -> Result<Fate, ExecError> {
        let alone = self.connections.len() == 1;
        let connection = &mut self.connections[index];
        let closed = connection.buffer.ended.is_some();
        let unread = connection.buffer.unread();
        let undecodable = |reason: String| ExecError::Undecodable {
            channel: self.name.clone(),
            reason,
            dump: hexdump(unread),
        };
        let Some(reader) = &mut connection.awaiting else {
            if unread.is_empty() {
                return Ok(if closed { Fate::Goes } else { Fate::Stays });
            }
            return Err(undecodable(NO_REQUEST.into()));
        };
        match reader.read(unread, closed, self.bounds.max_message) {
            Ok(Some(response)) => {
                let mut message = std::mem::take(&mut self.spare);
                message.clear();
                write_status(response.status, &mut message);
                if !self.headers.is_empty() {
                    message.push(b'\n');
                    message.extend_from_slice(&response.headers);
                    message.push(b'\n');
                } else if !response.body.is_empty() {
                    message.push(b' ');
                }
                message.extend_from_slice(&response.body);
                self.responses.push_back(message);
                let (consumed, keep_alive) = (response.consumed, response.keep_alive);
                if consumed < unread.len() {
                    return Err(ExecError::Undecodable {
                        channel: self.name.clone(),
                        reason: NO_REQUEST.into(),
                        dump: hexdump(&unread[consumed..]),
                    });
                }
                connection.buffer.take(consumed);
                connection.awaiting = None;
                connection.is_reused = true;
                // A server that does one thing at a time waits on an idle connection and would
                // never come to another one.
                let stays = keep_alive && !closed && !connection.is_last && alone;
                Ok(if stays { Fate::Stays } else { Fate::Goes })
            }
            Ok(None) if closed && unread.is_empty() && !connection.again.is_empty() => {
                Ok(Fate::Again)
            }
            Ok(None) if closed && unread.is_empty() => {
                let hint = if connection.is_reused {
                    "; the connection had been used before, and the server may have closed it when the request was on its way. Whether \
                     it has done what was asked is not known, and the method is not idempotent, so it is not asked again: with the line \
                     `Connection: close` in each request, each has a connection of its own"
                } else {
                    ""
                };
                self.ended = Some(format!("closed before the response came{hint}"));
                Ok(Fate::Goes)
            }
            Ok(None) if closed => Err(undecodable("a response that was cut off".into())),
            Ok(None) => Ok(Fate::Stays),
            Err(HttpError::LongBody) => Err(connection.buffer.too_long(&self.name, &self.bounds)),
            // An alert of TLS [RFC 8446, §5.1].
            Err(error) if unread.starts_with(b"\x15\x03") => Err(undecodable(format!(
                "{error}; it speaks TLS: write https:// for http://"
            ))),
            Err(error) => Err(undecodable(error.to_string())),
        }
    }

    /// Takes a connection away.
    fn remove(&mut self, index: usize) -> Connection {
        self.sending = match self.sending {
            Some(sending) if sending > index => Some(sending - 1),
            Some(sending) if sending == index => None,
            sending => sending,
        };
        self.connections.remove(index)
    }

    /// Sends the request of a connection that the server has closed once more, on a new one. A server may close an idle connection at any
    /// time, and a client then repeats what is idempotent [RFC 9110, §9.2.2; RFC 9112, §9.3.1].
    fn send_again(&mut self, index: usize) -> Result<(), ExecError> {
        let is_sending = self.sending == Some(index);
        let Connection {
            awaiting,
            again,
            is_last,
            ..
        } = self.remove(index);
        let deadline = from_now(self.bounds.send_timeout);
        let Ok(index) = self.open(deadline, false, &mut || None) else {
            // There is nobody any more: the request may have been the end of the system.
            self.ended = Some("closed before the response came".into());
            return Ok(());
        };
        let connection = &mut self.connections[index];
        connection.awaiting = awaiting;
        connection.is_last = is_last;
        connection.buffer.output.extend_from_slice(&again);
        let dropped = |e| ExecError::dropped(&self.name, e);
        while connection
            .buffer
            .write_to(&mut connection.stream)
            .map_err(dropped)?
            > 0
        {
            interrupt::check()?;
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ExecError::dropped(
                    &self.name,
                    "a request that was sent again was not taken",
                ));
            }
            let writer = PollFd::from_borrowed_fd(connection.stream.as_fd(), PollFlags::OUT);
            wait(&mut [writer], Some(left))?;
        }
        if is_sending {
            self.sending = Some(index);
        }
        Ok(())
    }
}

/// Bytes that came without a request.
const NO_REQUEST: &str = "bytes that answer no request";

/// Whether to do this twice has the effect of doing it once [RFC 9110, §9.2.2].
fn is_idempotent(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "PUT" | "DELETE" | "OPTIONS")
}

/// Whether a request has the header field `Connection: close`.
fn asks_to_close(request: &[u8]) -> bool {
    let lines = request.split(|&byte| byte == b'\n').skip(1);
    let mut fields = lines
        .map(<[u8]>::trim_ascii)
        .take_while(|line| !line.is_empty());
    fields.any(|field| {
        let field = field.to_ascii_lowercase();
        field
            .strip_prefix(b"connection:")
            .is_some_and(|value| value.trim_ascii() == b"close")
    })
}

/// Appends a status, which has three digits.
fn write_status(status: u16, message: &mut Vec<u8>) {
    for unit in [100, 10, 1] {
        message.push(b'0' + (status / unit % 10) as u8);
    }
}

impl Link for HttpLink {
    fn prepare(&mut self) -> Result<(), ExecError> {
        self.server.prepare();
        Ok(())
    }

    fn address(&self) -> Option<Address<'_>> {
        Some(Address::Tcp(&self.url.address))
    }

    fn connect(
        &mut self,
        deadline: Instant,
        retry: bool,
        alive: ExitProbe,
    ) -> Result<(), ExecError> {
        self.close();
        self.open(deadline, retry, alive).map(|_| ())
    }

    fn close(&mut self) {
        self.connections.clear();
        self.sending = None;
        self.responses.clear();
        self.ended = None;
        self.is_dry = false;
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
                match self.harvest(index)? {
                    Fate::Again => {
                        self.send_again(index)?;
                        continue;
                    }
                    Fate::Goes if self.sending != Some(index) => {
                        self.remove(index);
                        continue;
                    }
                    Fate::Goes | Fate::Stays => {}
                }
            }
            index += 1;
        }
        self.is_dry = !any;
        Ok(any)
    }

    fn next(&mut self, message: &mut Vec<u8>) -> Result<bool, ExecError> {
        Ok(match self.responses.pop_front() {
            Some(response) => {
                message.extend_from_slice(&response);
                self.spare = response;
                true
            }
            None => false,
        })
    }

    fn half(&self) -> Option<&[u8]> {
        self.connections
            .iter()
            .find_map(|c| match c.buffer.unread() {
                [] => c.stream.half(),
                unread => Some(unread),
            })
    }

    fn pending(&self) -> usize {
        self.responses.iter().map(Vec::len).sum::<usize>()
            + self
                .connections
                .iter()
                .map(|c| c.buffer.unread().len())
                .sum::<usize>()
    }

    fn owes(&self) -> bool {
        !self.responses.is_empty() || self.connections.iter().any(|c| c.awaiting.is_some())
    }

    fn only_answers(&self) -> bool {
        true
    }

    fn forsake(&mut self) {
        self.connections.retain(|c| c.awaiting.is_none());
        self.sending = None;
        self.is_dry = false;
    }

    fn ended(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    fn enqueue(&mut self, message: &[u8]) -> Result<(), ExecError> {
        self.request.clear();
        let method = encode(message, &self.url, &mut self.request).map_err(|error| {
            ExecError::Unencodable {
                action: String::from_utf8_lossy(message).into_owned(),
                reason: error.to_string(),
            }
        })?;
        let may_repeat = is_idempotent(method);
        // An idle connection that the server has closed is not used again. The tester has looked just now, in most cases; where the
        // request cannot be sent again, what has come since then matters.
        if !std::mem::take(&mut self.is_dry) || !may_repeat {
            self.pump()?;
            self.is_dry = false;
        }
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
        connection.buffer.output.extend_from_slice(&self.request);
        connection.again.clear();
        if connection.is_reused && may_repeat {
            connection.again.extend_from_slice(&self.request);
        }
        connection.is_last = asks_to_close(&self.request);
        connection.awaiting = Some(ResponseReader::new(method, Arc::clone(&self.headers)));
        self.sending = Some(index);
        Ok(())
    }

    fn flush(&mut self) -> Result<usize, ExecError> {
        let result = match self.sending {
            Some(index) => {
                let connection = &mut self.connections[index];
                let result = connection.buffer.write_to(&mut connection.stream);
                if result.is_err() && !connection.again.is_empty() {
                    // A response that came all the same is read, and is none to be asked for again.
                    connection.buffer.read_from(&mut connection.stream);
                    if connection.buffer.unread().is_empty() {
                        self.send_again(index)?;
                        self.sending = None;
                        return Ok(0);
                    }
                }
                result
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
