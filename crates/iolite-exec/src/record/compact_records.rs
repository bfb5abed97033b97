//! The records of a journal in the compact form, read one after the other.

use std::collections::BTreeMap;
use std::io::{self, BufRead, ErrorKind, Read};

use super::compact_journal::{IS_BEFORE, IS_HEX, NAMES_CHANNEL, Place, TEXTS, WAYS};
use crate::{Event, Traffic};

/// Bytes of a block; more is no journal.
const BLOCK: usize = 64 << 20;

/// Streams of a journal.
const STREAMS: usize = 1 << 16;

/// The number of a text among those of all streams, in the order in which they were met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextId(u32);

impl TextId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What comes next in a journal.
#[derive(Debug)]
pub(super) enum Record {
    /// A step of one of the most usual kinds.
    Step(StepRecord),
    /// Any other event.
    Event(Box<Event>),
    /// A block that was not written to its end; nothing comes behind it.
    Torn,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct StepRecord {
    pub(super) kind: StepKind,
    pub(super) run: u64,
    pub(super) step: u64,
    pub(super) at: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum StepKind {
    Stimulus(TextId),
    Output(TextId),
    Quiescence { patience: u64 },
}

/// What is known of a stream while it is read.
#[derive(Debug, Default)]
struct Stream {
    place: Place,
    /// Its texts, by their numbers in it.
    texts: Vec<TextId>,
}

impl Stream {
    fn text(&self, rest: &mut &[u8]) -> Option<TextId> {
        let number = usize::try_from(number(rest)?).ok()?;
        self.texts.get(number).copied()
    }

    /// Reads the record of a step; `None` where it is none, or a wrong one.
    fn step(&mut self, rest: &mut &[u8]) -> Option<StepRecord> {
        let (&first, mut behind) = rest.split_first()?;
        let (kind, since) = match first {
            3 => (
                StepKind::Stimulus(self.text(&mut behind)?),
                number(&mut behind)?,
            ),
            4 => (
                StepKind::Output(self.text(&mut behind)?),
                number(&mut behind)?,
            ),
            6 => {
                let since = number(&mut behind)?;
                let patience = number(&mut behind)?;
                (StepKind::Quiescence { patience }, since)
            }
            _ => return None,
        };
        let step = self.place.step_after(since)?;
        *rest = behind;
        Some(StepRecord {
            kind,
            run: step.run?,
            step: step.step,
            at: step.at,
        })
    }

    /// Reads one record of the block that is no step; `None` where it is a text.
    fn other(&mut self, rest: &mut &[u8], texts: &mut Vec<String>) -> Option<io::Result<Event>> {
        let wrong = |reason: &str| Some(Err(broken(reason)));
        let cut_off = || wrong("a record that is cut off, or out of range");
        let Some((&kind, behind)) = rest.split_first() else {
            return cut_off();
        };
        *rest = behind;
        let event = match kind {
            0 => {
                let Some(text) = bytes(rest) else {
                    return cut_off();
                };
                match serde_json::from_slice(text) {
                    Ok(event) => event,
                    Err(e) => return wrong(&e.to_string()),
                }
            }
            1 => {
                let Some((run, (seed, behind))) = number(rest).zip(rest.split_first_chunk()) else {
                    return cut_off();
                };
                let seed = u64::from_le_bytes(*seed);
                *rest = behind;
                Event::RunStarted { run, seed }
            }
            2 => {
                let Some(text) = bytes(rest) else {
                    return cut_off();
                };
                let (Ok(text), Ok(id)) = (str::from_utf8(text), u32::try_from(texts.len())) else {
                    return wrong("no text");
                };
                if self.texts.len() >= TEXTS {
                    return wrong("too many texts");
                }
                self.texts.push(TextId(id));
                texts.push(text.to_owned());
                return None;
            }
            5 => {
                let actions = self.text(rest).zip(self.text(rest));
                let place = number(rest).and_then(|since| self.place.step_after(since));
                let (
                    Some((action, preempted)),
                    Some(Place {
                        run: Some(run),
                        step,
                        at,
                    }),
                ) = (actions, place)
                else {
                    return cut_off();
                };
                let text = |text: TextId| texts[text.index()].as_str();
                return Some(Ok(Event::Output {
                    run,
                    step,
                    action: text(action).into(),
                    at,
                    preempted: Some(text(preempted).to_owned()),
                    note: None,
                }));
            }
            7 => {
                let Some((run, length)) = self.place.run.zip(number(rest)) else {
                    return cut_off();
                };
                Event::Pause {
                    run,
                    step: self.place.step,
                    length,
                }
            }
            8 => match self.bytes(rest, texts) {
                Some(event) => event,
                None => return cut_off(),
            },
            3 | 4 | 6 => return cut_off(),
            _ => return wrong("an unknown record"),
        };
        self.place.follow(&event);
        Some(Ok(event))
    }

    /// Reads what follows the first byte of a record of bytes.
    fn bytes(&self, rest: &mut &[u8], texts: &[String]) -> Option<Event> {
        let (&kind, behind) = rest.split_first()?;
        *rest = behind;
        let channel = match kind & NAMES_CHANNEL {
            0 => None,
            _ => Some(texts[self.text(rest)?.index()].clone()),
        };
        let at = self.place.at.checked_add(number(rest)?)?;
        let length = number(rest)?;
        let kept = str::from_utf8(bytes(rest)?).ok()?.to_owned();
        let (text, hex) = match kind & IS_HEX {
            0 => (Some(kept), None),
            _ => (None, Some(kept)),
        };
        let before = u64::from(kind & IS_BEFORE != 0);
        Some(Event::Bytes {
            run: self.place.run?,
            step: self.place.step.checked_sub(before)?,
            at,
            traffic: Traffic {
                way: *WAYS.get(usize::from(kind & !(NAMES_CHANNEL | IS_HEX | IS_BEFORE)))?,
                channel,
                length,
                text,
                hex,
            },
        })
    }
}

fn broken(reason: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("compact journal: {reason}"))
}

/// The number that comes now; `None` where it is cut off or out of range.
fn number(rest: &mut &[u8]) -> Option<u64> {
    // Most numbers are small.
    if let [first @ 0..0x80, behind @ ..] = *rest {
        *rest = behind;
        return Some(u64::from(*first));
    }
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, behind) = rest.split_first()?;
        *rest = behind;
        let bits = u64::from(byte & 0x7f);
        if (bits << shift) >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Bytes with their length before them.
fn bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(number(rest)?).ok()?;
    let (bytes, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some(bytes)
}

/// Where the reader of a compact journal is, behind the header.
#[derive(Debug, Default)]
pub(super) struct CompactRecords {
    streams: Vec<Stream>,
    /// Streams by their numbers in the file.
    numbers: BTreeMap<u32, usize>,
    /// The stream of the block.
    stream: usize,
    block: Vec<u8>,
    /// What was read of the block.
    read: usize,
    texts: Vec<String>,
    ended: bool,
    /// Whether it ended in the middle of a block: its writer was killed.
    torn: bool,
}

impl CompactRecords {
    /// Whether it ended in the middle of a block.
    pub(super) fn is_torn(&self) -> bool {
        self.torn
    }

    /// The texts that were met so far, by their numbers.
    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// The next record where it is a step of the block that was read last: what a journal mostly has.
    pub(super) fn next_step(&mut self) -> Option<StepRecord> {
        let mut rest = self.block.get(self.read..)?;
        let step = self.streams.get_mut(self.stream)?.step(&mut rest)?;
        self.read = self.block.len() - rest.len();
        Some(step)
    }

    /// The next record, or `None` at the end.
    pub(super) fn next(&mut self, reader: &mut impl BufRead) -> io::Result<Option<Record>> {
        while !self.ended {
            if let Some(step) = self.next_step() {
                return Ok(Some(Record::Step(step)));
            }
            let mut rest = &self.block[self.read..];
            if rest.is_empty() {
                if !self.next_block(reader)? {
                    return Ok(Some(Record::Torn));
                }
                continue;
            }
            let event = self.streams[self.stream].other(&mut rest, &mut self.texts);
            self.read = self.block.len() - rest.len();
            if let Some(event) = event {
                return Ok(Some(Record::Event(Box::new(event?))));
            }
        }
        Ok(None)
    }

    /// Reads the next block, or finds the end; `false` where it is torn.
    fn next_block(&mut self, reader: &mut impl BufRead) -> io::Result<bool> {
        self.block.clear();
        self.read = 0;
        let mut head = Vec::new();
        reader.by_ref().take(8).read_to_end(&mut head)?;
        let Some((&[a, b, c, d, lengths @ ..], _)) = head.split_first_chunk::<8>() else {
            self.ended = true;
            self.torn = !head.is_empty();
            return Ok(head.is_empty());
        };
        let length = u32::from_le_bytes(lengths) as usize;
        if length > BLOCK {
            return Err(broken("a block of more than 64 MiB"));
        }
        let stream = u32::from_le_bytes([a, b, c, d]);
        self.stream = match self.numbers.get(&stream) {
            Some(&known) => known,
            None if self.streams.len() >= STREAMS => return Err(broken("too many streams")),
            None => {
                let new = self.streams.len();
                self.numbers.insert(stream, new);
                self.streams.push(Stream::default());
                new
            }
        };
        let mut records = reader.by_ref().take(length as u64);
        records.read_to_end(&mut self.block)?;
        if self.block.len() < length {
            self.ended = true;
            self.torn = true;
            self.block.clear();
            return Ok(false);
        }
        Ok(true)
    }
}
