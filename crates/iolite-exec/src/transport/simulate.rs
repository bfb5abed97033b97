//! A model as a running program: what `iolite simulate` starts.

use std::io::{Read, Write};
use std::marker::PhantomData;
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::time::Duration;

use iolite_lts::{LabelId, LabelKind, Labels, Semantics};
use rustc_hash::FxHashMap;
use rustix::event::{PollFd, PollFlags};

use crate::codec::{ActionCodec, ActionMap, ChannelId, CodecError, Decoded};
use crate::transport::framing::Framer;
use crate::transport::readiness::wait;
use crate::transport::stream_buffer::StreamBuffer;
use crate::transport::stream_link::Frames;
use crate::{Adapter, Bounds, ConcreteAction, ExecError, Framing, ModelSut, Received};

/// Outputs that a model may still give when its input has ended.
const LAST_WORDS: usize = 1000;

/// A model that runs by itself, as a program does.
pub trait RunningModel<A>: Adapter<A> {
    /// Whether it could do something by itself, now or after internal steps.
    fn can_move(&mut self) -> Result<bool, ExecError>;
}

/// Runs a model over byte streams, in real time.
pub struct Simulator<A, S, C> {
    sut: S,
    codec: C,
    framing: Framing,
    /// Time before each move of the model's own.
    delay: Duration,
    seed: u64,
    action: PhantomData<A>,
}

/// The labels of a model as the messages of the system that it plays.
pub struct PlayedLabels {
    inputs: FxHashMap<ConcreteAction, LabelId>,
    outputs: Vec<Option<ConcreteAction>>,
    map: ActionMap,
}

impl PlayedLabels {
    fn new(labels: &Labels, map: &ActionMap) -> Self {
        let mut inputs = FxHashMap::default();
        let mut outputs = vec![None; labels.len()];
        for (id, label) in labels.iter() {
            let action = ConcreteAction::parse(&label.name);
            match label.kind {
                LabelKind::Input => {
                    inputs.entry(action).or_insert(id);
                }
                LabelKind::Output => outputs[id.index()] = Some(action),
                _ => {}
            }
        }
        Self {
            inputs,
            outputs,
            map: map.reversed(),
        }
    }
}

impl ActionCodec<LabelId> for PlayedLabels {
    fn encode(&mut self, output: &LabelId, bytes: &mut Vec<u8>) -> Result<ChannelId, CodecError> {
        match &self.outputs[output.index()] {
            Some(action) => self.map.encode(action, bytes),
            // A plain label happens, and nobody hears of it.
            None => Ok(ChannelId::FIRST),
        }
    }

    fn decode(&mut self, channel: ChannelId, bytes: &[u8]) -> Result<Decoded<LabelId>, CodecError> {
        let action = self.map.decode(channel, bytes)?;
        let input = self.inputs.get(&action);
        let input = input.ok_or_else(|| CodecError(format!("no input of the model is {action}")));
        Ok(Decoded::plain(*input?))
    }

    fn show(&self, output: &LabelId) -> String {
        let action = self.outputs[output.index()].as_ref();
        action.map_or_else(|| format!("number {}", output.index()), ToString::to_string)
    }
}

impl<M: Semantics> Simulator<LabelId, ModelSut<M>, PlayedLabels> {
    /// A simulator of `sut`, whose labels are `labels`. `map` is the tester's: its `send` templates
    /// are read here, its `recv` templates written.
    pub fn new(
        sut: ModelSut<M>,
        labels: &Labels,
        map: &ActionMap,
        framing: Framing,
        delay: Duration,
        seed: u64,
    ) -> Self {
        let codec = PlayedLabels::new(labels, map);
        Self::over(sut, codec, framing, delay, seed)
    }
}

impl<A, S: RunningModel<A>, C: ActionCodec<A>> Simulator<A, S, C> {
    /// A simulator of `sut`, with the messages that `codec` has for its outputs and inputs.
    pub fn over(sut: S, codec: C, framing: Framing, delay: Duration, seed: u64) -> Self {
        Self {
            sut,
            codec,
            framing,
            delay,
            seed,
            action: PhantomData,
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
        let mut framer = Framer::new(self.framing);
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
                    if !self.output(&output, &mut framer, &mut writer)? {
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
                    if !self.output(&output, &mut framer, &mut writer)? {
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
        output: &A,
        framer: &mut Framer,
        writer: &mut impl Write,
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
        self.sut.send(&input.action)
    }
}
