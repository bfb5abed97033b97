//! Journals in a compact form: a step is three or four bytes instead of seventy.
//!
//! | part | bytes |
//! | --- | --- |
//! | first line | [`COMPACT_FORMAT`] and `\n` |
//! | second line | the [`JournalHeader`](crate::JournalHeader) as JSON, and `\n` |
//! | blocks, to the end | number of the stream, length of the records (each 32 bits, little-endian), records |
//!
//! A stream is what one job writes, and its blocks follow each other in the file's order. Records are
//! the events of a stream, one after the other. Numbers are LEB128. Times are differences to the event
//! before in the run; runs and steps are not written, since they follow from the order.
//!
//! | record | bytes behind its first one |
//! | --- | --- |
//! | 0 any event | length, the event as JSON |
//! | 1 `run-started` | run, seed (64 bits, little-endian) |
//! | 2 a text | length, UTF-8; texts of a stream are numbered from 0 |
//! | 3 `stimulus` | text, time |
//! | 4 `output` | text, time |
//! | 5 `output` before a stimulus | text, text of the stimulus, time |
//! | 6 `quiescence` | time, patience |
//! | 7 `pause` | length |
//! | 8 `bytes` | what they are (see below), text of the channel if there is one, time, length, length of what was kept, and that |
//!
//! What they are is a byte: 0 for sent, 1 for received, 2 for standard error; 4 more where a channel is named, 8 more where they were
//! kept in hexadecimal, 16 more where they belong to the step before the next one, as the message of a stimulus does.

use std::io;

use rustc_hash::FxHashMap;

use crate::record::action_text::{ActionText, ByAction};
use crate::record::event_line::write_json;
use crate::{Event, Traffic, Way};

/// The first line of a journal in the compact form.
pub const COMPACT_FORMAT: &str = "iolite-journal-compact/2";

/// The first line of journals before bytes had a record; all else is the same.
const OLDER_FORMAT: &str = "iolite-journal-compact/1";

/// The length of the first line, its end included, where a file begins as journals in the compact form do.
pub fn compact_first_line(start: &[u8]) -> Option<usize> {
    [COMPACT_FORMAT, OLDER_FORMAT].iter().find_map(|format| {
        let behind = start.strip_prefix(format.as_bytes())?;
        (behind.first() == Some(&b'\n')).then_some(format.len() + 1)
    })
}

/// The ways of bytes, by their numbers in records.
pub(super) const WAYS: [Way; 3] = [Way::Sent, Way::Received, Way::Stderr];

/// In the records of bytes: a channel is named.
pub(super) const NAMES_CHANNEL: u8 = 4;

/// In the records of bytes: what was kept is in hexadecimal.
pub(super) const IS_HEX: u8 = 8;

/// In the records of bytes: they belong to the step before the next one.
pub(super) const IS_BEFORE: u8 = 16;

/// Texts of a stream that have numbers; the events of others are written out.
pub(super) const TEXTS: usize = 1 << 16;

/// Where a stream is: what both sides know without its being written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub(super) run: Option<u64>,
    pub(super) step: u64,
    pub(super) at: u64,
}

impl Place {
    /// Goes behind an event.
    pub(super) fn follow(&mut self, event: &Event) {
        match event {
            Event::RunStarted { run, .. } => {
                *self = Self {
                    run: Some(*run),
                    step: 0,
                    at: 0,
                };
            }
            Event::Stimulus { run, step, at, .. }
            | Event::Output { run, step, at, .. }
            | Event::Quiescence { run, step, at, .. }
            | Event::Deadlock { run, step, at, .. }
                if Some(*run) == self.run =>
            {
                self.step = step.wrapping_add(1);
                self.at = *at;
            }
            _ => {}
        }
    }

    /// Goes behind a step of this run that comes so long after the event before; where it was. `None` where there
    /// is no run, or no such time.
    pub(super) fn step_after(&mut self, since: u64) -> Option<Self> {
        self.run?;
        self.at = self.at.checked_add(since)?;
        let here = *self;
        self.step = self.step.wrapping_add(1);
        Some(here)
    }

    /// The time since the event before, where run and step of an event are those that follow.
    fn since(&self, run: u64, step: u64, at: u64) -> Option<u64> {
        let follows = Some(run) == self.run && step == self.step;
        follows.then(|| at.checked_sub(self.at)).flatten()
    }
}

fn put(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Writes the events of one stream.
#[derive(Debug, Default)]
pub(crate) struct CompactEncoder {
    pub(super) place: Place,
    texts: FxHashMap<Box<str>, u32>,
    /// The numbers of texts of actions.
    numbers: ByAction<u32>,
    /// The channel that was named last, and its number.
    last_channel: (String, Option<u32>),
    /// Records that no block has yet.
    records: Vec<u8>,
    /// Memory for an event that has no shorter form.
    json: Vec<u8>,
}

impl CompactEncoder {
    /// The number of a text, which is written when it is met first.
    fn text(&mut self, text: &str) -> Option<u32> {
        if let Some(&number) = self.texts.get(text) {
            return Some(number);
        }
        if self.texts.len() >= TEXTS {
            return None;
        }
        let number = self.texts.len() as u32;
        self.texts.insert(text.into(), number);
        self.records.push(2);
        put(text.len() as u64, &mut self.records);
        self.records.extend_from_slice(text.as_bytes());
        Some(number)
    }

    /// The same of a channel.
    fn channel(&mut self, channel: &str) -> Option<u32> {
        let (last, number) = &self.last_channel;
        if number.is_none() || last != channel {
            let number = self.text(channel);
            channel.clone_into(&mut self.last_channel.0);
            self.last_channel.1 = number;
        }
        self.last_channel.1
    }

    /// The same of an action.
    #[inline]
    fn action(&mut self, action: &ActionText) -> Option<u32> {
        let known = self.numbers.get(action).copied();
        known.or_else(|| self.new_action(action))
    }

    #[cold]
    fn new_action(&mut self, action: &ActionText) -> Option<u32> {
        let number = self.text(action)?;
        self.numbers.insert(action, number);
        Some(number)
    }

    /// Adds an event.
    #[inline]
    pub(crate) fn push(&mut self, event: &Event) -> io::Result<()> {
        if self.step(event).is_some() {
            return Ok(());
        }
        self.push_other(event)
    }

    /// Adds a stimulus, a usual output or a silence, if it has a short form here.
    #[inline]
    fn step(&mut self, event: &Event) -> Option<()> {
        let (kind, run, step, action, at) = match event {
            Event::Stimulus {
                run,
                step,
                action,
                at,
            } => (3, *run, *step, action, *at),
            Event::Output {
                run,
                step,
                action,
                at,
                preempted: None,
                note: None,
            } => (4, *run, *step, action, *at),
            Event::Quiescence {
                run,
                step,
                at,
                patience,
            } => {
                let since = self.place.since(*run, *step, *at)?;
                self.put_step(6, since, *patience);
                self.place.step_after(since)?;
                return Some(());
            }
            _ => return None,
        };
        let since = self.place.since(run, step, at)?;
        let text = self.action(action)?;
        self.put_step(kind, text.into(), since);
        self.place.step_after(since)?;
        Some(())
    }

    /// Adds a record of two numbers.
    #[inline]
    fn put_step(&mut self, kind: u8, first: u64, second: u64) {
        if (first | second) < 0x80 {
            // Each is a byte.
            let record = [kind, first as u8, second as u8];
            return self.records.extend_from_slice(&record);
        }
        self.records.push(kind);
        put(first, &mut self.records);
        put(second, &mut self.records);
    }

    /// Adds an event that is no usual step, or has no short form here.
    fn push_other(&mut self, event: &Event) -> io::Result<()> {
        if self.short(event).is_none() {
            self.json.clear();
            write_json(event, &mut self.json)?;
            self.records.push(0);
            put(self.json.len() as u64, &mut self.records);
            self.records.extend_from_slice(&self.json);
        }
        self.place.follow(event);
        Ok(())
    }

    /// Adds an event in its short form, if it has one here.
    fn short(&mut self, event: &Event) -> Option<()> {
        let (kind, numbers): (u8, [Option<u64>; 3]) = match event {
            Event::RunStarted { run, seed } => {
                self.records.push(1);
                put(*run, &mut self.records);
                self.records.extend_from_slice(&seed.to_le_bytes());
                return Some(());
            }
            Event::Output {
                run,
                step,
                action,
                at,
                preempted: Some(other),
                note: None,
            } => {
                let since = self.place.since(*run, *step, *at)?;
                let texts = (self.action(action)?, self.text(other)?);
                let (action, other) = (texts.0.into(), texts.1.into());
                (5, [Some(action), Some(other), Some(since)])
            }
            Event::Pause { run, step, length } => {
                self.place.since(*run, *step, self.place.at)?;
                (7, [Some(*length), None, None])
            }
            Event::Bytes {
                run,
                step,
                at,
                traffic,
            } => return self.bytes((*run, *step, *at), traffic),
            _ => return None,
        };
        self.records.push(kind);
        for number in numbers.into_iter().flatten() {
            put(number, &mut self.records);
        }
        Some(())
    }

    /// Adds bytes that went either way, if they have a short form here.
    fn bytes(&mut self, (run, step, at): (u64, u64, u64), traffic: &Traffic) -> Option<()> {
        let (mut kind, kept) = match (&traffic.text, &traffic.hex) {
            (Some(text), None) => (0, text),
            (None, Some(hex)) => (IS_HEX, hex),
            _ => return None,
        };
        let is_before = step.checked_add(1) == Some(self.place.step);
        let since = self.place.since(run, step + u64::from(is_before), at)?;
        kind |= traffic.way as u8 | if is_before { IS_BEFORE } else { 0 };
        let channel = match &traffic.channel {
            Some(channel) => Some(self.channel(channel)?.into()),
            None => None,
        };
        if channel.is_some() {
            kind |= NAMES_CHANNEL;
        }
        self.records.extend_from_slice(&[8, kind]);
        for number in [channel, Some(since), Some(traffic.length)]
            .into_iter()
            .flatten()
        {
            put(number, &mut self.records);
        }
        put(kept.len() as u64, &mut self.records);
        self.records.extend_from_slice(kept.as_bytes());
        Some(())
    }

    /// Bytes that no block has yet.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// Moves the records into a block of this stream.
    pub(crate) fn block(&mut self, stream: u32, block: &mut Vec<u8>) {
        block.clear();
        if self.records.is_empty() {
            return;
        }
        block.extend_from_slice(&stream.to_le_bytes());
        block.extend_from_slice(&(self.records.len() as u32).to_le_bytes());
        block.append(&mut self.records);
    }
}
