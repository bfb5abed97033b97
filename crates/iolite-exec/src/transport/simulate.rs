//! A model as a running program: what `iolite simulate` starts.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::time::Duration;

use iolite_derive::ActionId;
use rustix::event::{PollFd, PollFlags};

use crate::codec::{ChannelId, WireCodec};
use crate::transport::framer::Framer;
use crate::transport::readiness::wait;
use crate::transport::stream_buffer::StreamBuffer;
use crate::transport::stream_link::Frames;
use crate::{Adapter, Bounds, ExecError, Framing, Received, Sent};

/// Outputs that a model may still give when its input has ended.
const LAST_WORDS: usize = 1000;

/// A model that runs by itself, as a program does.
pub trait RunningModel: Adapter {
    /// Whether it could do something by itself, now or after internal steps.
    fn can_move(&mut self) -> Result<bool, ExecError>;
}

/// Runs a model over byte streams, in real time.
pub struct Simulator {
    sut: Box<dyn RunningModel>,
    codec: WireCodec,
    framing: Framing,
    /// Time before each move of the model's own.
    delay: Duration,
    seed: u64,
}

impl Simulator {
    /// A simulator of `sut`, with the messages that `codec` has for its outputs and inputs.
    pub fn new(
        sut: Box<dyn RunningModel>,
        codec: WireCodec,
        framing: Framing,
        delay: Duration,
        seed: u64,
    ) -> Self {
        Self {
            sut,
            codec,
            framing,
            delay,
            seed,
        }
    }

    /// Serves one connection from a fresh start, until the other side closes it. A message that is
    /// no input of the model, or that the model refuses, is an error.
    pub fn serve(
        &mut self,
        mut reader: impl Read + AsFd,
        mut writer: impl Write,
    ) -> Result<(), ExecError> {
        let bounds = Bounds::default();
        let mut framer = Framer::new(self.framing.clone());
        let mut buffer = StreamBuffer::new();
        let mut message = Vec::new();
        // Whether the model can do nothing before the next input.
        let mut quiet = false;
        self.sut.start(self.seed)?;
        self.seed = self.seed.wrapping_add(1);
        loop {
            message.clear();
            while framer.next("input", &mut buffer, &bounds, &mut message)? {
                self.input(&message)?;
                quiet = false;
                message.clear();
            }
            if buffer.ended.is_some() {
                // What the last inputs led to is still said: `echo a | iolite simulate …`.
                for _ in 0..LAST_WORDS {
                    let Received::Output(output) = self.sut.receive(Duration::ZERO)? else {
                        break;
                    };
                    if !self.output(output, &mut framer, &mut writer)? {
                        break;
                    }
                }
                return Ok(());
            }
            let mut fds = [PollFd::new(&reader, PollFlags::IN)];
            match wait(&mut fds, (!quiet).then_some(self.delay))? {
                Some(0) => {}
                Some(_) => {
                    buffer.read_from(&mut reader);
                    continue;
                }
                None => continue,
            }
            match self.sut.receive(Duration::ZERO)? {
                Received::Output(output) => {
                    if !self.output(output, &mut framer, &mut writer)? {
                        return Ok(());
                    }
                }
                // Where only a livelock makes it silent, it may go on later.
                _ => quiet = !self.sut.can_move()?,
            }
        }
    }

    /// Writes an output; `false` when nobody listens any more.
    fn output(
        &mut self,
        output: ActionId,
        framer: &mut Framer,
        writer: &mut dyn Write,
    ) -> Result<bool, ExecError> {
        let mut bytes = Vec::new();
        self.codec
            .encode(output, &mut bytes)
            .map_err(|e| ExecError::Unencodable {
                action: self.codec.show(output),
                reason: e.0,
            })?;
        if bytes.is_empty() {
            return Ok(true);
        }
        let mut frame = Vec::new();
        framer.frame(&bytes, &mut frame)?;
        Ok(writer
            .write_all(&frame)
            .and_then(|()| writer.flush())
            .is_ok())
    }

    /// Serves one connection after the other, for ever; each starts afresh.
    pub fn listen(&mut self, listener: &TcpListener) -> Result<(), ExecError> {
        loop {
            let (stream, _) = listener
                .accept()
                .map_err(|e| ExecError::system("accept", e))?;
            let _ = stream.set_nodelay(true);
            self.serve(&stream, &stream)?;
        }
    }

    fn input(&mut self, message: &[u8]) -> Result<(), ExecError> {
        let decoded = self.codec.decode(ChannelId::FIRST, message);
        let input = decoded.map_err(|e| ExecError::Undecodable {
            channel: "input".into(),
            reason: e.0,
            dump: crate::hexdump(message),
        })?;
        match self.sut.send(input.action)? {
            Sent::Given => Ok(()),
            Sent::Refused { reason } => Err(ExecError::Refused {
                stimulus: self.codec.show(input.action),
                reason,
            }),
        }
    }
}
