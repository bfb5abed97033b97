//! Reading journals in the compact form, as the lines of the other one.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Cursor, ErrorKind, Read};

use super::compact_journal::{COMPACT_FORMAT, Place, TEXTS};
use crate::Event;

/// Bytes of a block; more is no journal.
const BLOCK: usize = 64 << 20;

/// Streams of a journal.
const STREAMS: usize = 1 << 16;

/// What is known of a stream while it is read.
#[derive(Debug, Default)]
struct Stream {
    place: Place,
    texts: Vec<String>,
}

impl Stream {
    fn text(&self, number: u64) -> io::Result<String> {
        let text = usize::try_from(number).ok().and_then(|n| self.texts.get(n));
        text.cloned().ok_or_else(|| broken("no such text"))
    }

    /// The next event of the records, if there is one.
    fn event(&mut self, records: &mut Cursor<Vec<u8>>) -> io::Result<Option<Event>> {
        let event = loop {
            let mut kind = [0];
            if records.read(&mut kind)? == 0 {
                return Ok(None);
            }
            let Place { run, step, at } = self.place;
            let run = || run.ok_or_else(|| broken("a step before the first run"));
            let since = |records: &mut Cursor<Vec<u8>>| {
                let since = number(records)?;
                at.checked_add(since)
                    .ok_or_else(|| broken("a time out of range"))
            };
            break match kind[0] {
                0 => serde_json::from_slice(&bytes(records)?)?,
                1 => {
                    let run = number(records)?;
                    let mut seed = [0; 8];
                    records.read_exact(&mut seed)?;
                    let seed = u64::from_le_bytes(seed);
                    Event::RunStarted { run, seed }
                }
                2 => {
                    if self.texts.len() >= TEXTS {
                        return Err(broken("too many texts"));
                    }
                    let text = String::from_utf8(bytes(records)?);
                    self.texts.push(text.map_err(|_| broken("no text"))?);
                    continue;
                }
                3 => Event::Stimulus {
                    run: run()?,
                    step,
                    action: self.text(number(records)?)?,
                    at: since(records)?,
                },
                4 => Event::Output {
                    run: run()?,
                    step,
                    action: self.text(number(records)?)?,
                    at: since(records)?,
                    preempted: None,
                    note: None,
                },
                5 => {
                    let action = self.text(number(records)?)?;
                    let preempted = Some(self.text(number(records)?)?);
                    Event::Output {
                        run: run()?,
                        step,
                        action,
                        at: since(records)?,
                        preempted,
                        note: None,
                    }
                }
                6 => Event::Quiescence {
                    run: run()?,
                    step,
                    at: since(records)?,
                    patience: number(records)?,
                },
                7 => Event::Pause {
                    run: run()?,
                    step,
                    length: number(records)?,
                },
                _ => return Err(broken("an unknown record")),
            };
        };
        self.place.follow(&event);
        Ok(Some(event))
    }
}

fn broken(reason: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("compact journal: {reason}"))
}

fn number(records: &mut impl Read) -> io::Result<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let mut byte = [0];
        records.read_exact(&mut byte)?;
        let bits = u64::from(byte[0] & 0x7f);
        if bits.checked_shl(shift).is_none_or(|b| b >> shift != bits) {
            break;
        }
        number |= bits << shift;
        if byte[0] < 0x80 {
            return Ok(number);
        }
    }
    Err(broken("a number out of range"))
}

/// Bytes with their length before them; a length cannot ask for more than the block has.
fn bytes(records: &mut Cursor<Vec<u8>>) -> io::Result<Vec<u8>> {
    let length = number(records)?;
    let mut bytes = Vec::new();
    let count = records.take(length).read_to_end(&mut bytes)?;
    if count as u64 == length {
        Ok(bytes)
    } else {
        Err(broken("a text that is cut off"))
    }
}

/// Reads a compact journal, behind its first line, as the JSON lines of the other form: a header and
/// the events. A block that is cut off, because the writer was killed, is a last line that is cut off.
#[derive(Debug)]
pub(crate) struct CompactLines<R> {
    reader: R,
    header_is_read: bool,
    ended: bool,
    streams: BTreeMap<u32, Stream>,
    stream: u32,
    records: Cursor<Vec<u8>>,
    line: Vec<u8>,
    at: usize,
}

/// What stands for a line that was not written to its end.
const TORN: &[u8] = b"{";

impl<R: BufRead> CompactLines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self {
            reader,
            header_is_read: false,
            ended: false,
            streams: BTreeMap::new(),
            stream: 0,
            records: Cursor::default(),
            line: Vec::new(),
            at: 0,
        }
    }

    /// Puts the next line into `line`, or nothing at the end.
    fn next_line(&mut self) -> io::Result<()> {
        self.line.clear();
        self.at = 0;
        if !self.header_is_read {
            self.header_is_read = true;
            let limit = BLOCK as u64;
            self.reader
                .by_ref()
                .take(limit)
                .read_until(b'\n', &mut self.line)?;
            return Ok(());
        }
        while !self.ended {
            let stream = self.streams.entry(self.stream).or_default();
            if let Some(event) = stream.event(&mut self.records).map_err(of_block)? {
                serde_json::to_writer(&mut self.line, &event)?;
                self.line.push(b'\n');
                return Ok(());
            }
            self.next_block()?;
        }
        Ok(())
    }

    fn next_block(&mut self) -> io::Result<()> {
        let mut head = [0; 8];
        let mut count = 0;
        while count < head.len() {
            match self.reader.read(&mut head[count..]) {
                Ok(0) => break,
                Ok(more) => count += more,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        let [a, b, c, d, lengths @ ..] = head;
        self.stream = u32::from_le_bytes([a, b, c, d]);
        let length = u32::from_le_bytes(lengths) as usize;
        let records = self.records.get_mut();
        records.clear();
        if count == head.len() {
            if length > BLOCK {
                return Err(broken("a block of more than 64 MiB"));
            }
            if self.streams.len() >= STREAMS && !self.streams.contains_key(&self.stream) {
                return Err(broken("too many streams"));
            }
            self.reader
                .by_ref()
                .take(length as u64)
                .read_to_end(records)?;
        }
        if count < head.len() || records.len() < length {
            self.ended = true;
            records.clear();
            if count > 0 {
                self.line.extend_from_slice(TORN);
            }
        }
        self.records.set_position(0);
        Ok(())
    }
}

/// The end of a block inside of a record is no end of the file.
fn of_block(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::UnexpectedEof => broken("a record that is cut off"),
        _ => error,
    }
}

impl<R: BufRead> BufRead for CompactLines<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at >= self.line.len() && !(self.ended && self.header_is_read) {
            self.next_line()?;
        }
        Ok(&self.line[self.at..])
    }

    fn consume(&mut self, amount: usize) {
        self.at = (self.at + amount).min(self.line.len());
    }
}

impl<R: BufRead> Read for CompactLines<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let mut line = self.fill_buf()?;
        let count = line.read(room)?;
        self.consume(count);
        Ok(count)
    }
}

/// Reads a journal in either form, or any other log, as lines.
pub fn journal_lines<'a>(mut reader: impl BufRead + 'a) -> io::Result<Box<dyn BufRead + 'a>> {
    let first = format!("{COMPACT_FORMAT}\n");
    // A pipe may give less at first; a file gives more than that.
    if reader.fill_buf()?.starts_with(first.as_bytes()) {
        reader.consume(first.len());
        return Ok(Box::new(CompactLines::new(reader)));
    }
    Ok(Box::new(reader))
}

#[cfg(test)]
mod tests {
    use iolite_derive::Verdict;
    use proptest::prelude::*;

    use super::super::compact_journal::CompactEncoder;
    use super::*;
    use crate::{End, Exit, ExitKind};

    fn lines(file: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        journal_lines(file)?.read_to_string(&mut text)?;
        Ok(text)
    }

    fn file(blocks: &[Vec<u8>]) -> Vec<u8> {
        let start = format!("{COMPACT_FORMAT}\n{{\"header\": 1}}\n").into_bytes();
        [&start, &blocks.concat()].map(|part| &part[..]).concat()
    }

    /// Events as they come in runs, and now and then some that do not fit their place.
    fn event() -> impl Strategy<Value = Event> {
        let small = || 0u64..4;
        let text = || prop::sample::select(vec!["?a", "!x", "!say(\"ä\\n\")", ""]);
        let big = || prop_oneof![0u64..200, Just(u64::MAX), any::<u64>()];
        prop_oneof![
            (small(), any::<u64>()).prop_map(|(run, seed)| Event::RunStarted { run, seed }),
            (small(), small(), text(), big()).prop_map(|(run, step, action, at)| {
                let action = action.to_owned();
                Event::Stimulus {
                    run,
                    step,
                    action,
                    at,
                }
            }),
            (
                small(),
                small(),
                text(),
                big(),
                prop::option::of(text()),
                prop::option::of(text())
            )
                .prop_map(|(run, step, action, at, preempted, note)| Event::Output {
                    run,
                    step,
                    action: action.to_owned(),
                    at,
                    preempted: preempted.map(Into::into),
                    note: note.map(Into::into),
                }),
            (small(), small(), big(), big()).prop_map(|(run, step, at, patience)| {
                Event::Quiescence {
                    run,
                    step,
                    at,
                    patience,
                }
            }),
            (small(), small(), big()).prop_map(|(run, step, length)| Event::Pause {
                run,
                step,
                length
            }),
            (small(), small(), big()).prop_map(|(run, step, at)| Event::Deadlock {
                run,
                step,
                at,
                exit: Exit {
                    how: ExitKind::Code(3),
                    stderr: "x".into()
                },
            }),
            (small(), small(), big()).prop_map(|(run, steps, elapsed)| Event::RunEnded {
                run,
                verdict: Verdict::Pass,
                end: End::StepLimit,
                steps,
                elapsed,
                certificate: None,
                results: BTreeMap::new(),
            }),
        ]
    }

    proptest! {
        /// The lines of a compact journal are those of the other form, whatever the events and however
        /// they are cut into blocks; and a file that is cut off gives the events of its whole blocks.
        #[test]
        fn events_come_back(
            events in prop::collection::vec((event(), any::<bool>()), 0..40),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut encoder = CompactEncoder::default();
            let (mut blocks, mut block) = (Vec::new(), Vec::new());
            let mut want = "{\"header\": 1}\n".to_owned();
            // The lines behind each block.
            let mut whole = vec![want.clone()];
            for (i, (event, ends)) in events.iter().enumerate() {
                encoder.push(event).unwrap();
                want += &(serde_json::to_string(event).unwrap() + "\n");
                if *ends || i + 1 == events.len() {
                    encoder.block(7, &mut block);
                    blocks.push(block.clone());
                    whole.push(want.clone());
                }
            }
            let bytes = file(&blocks);
            prop_assert_eq!(lines(&bytes).unwrap(), want);
            let start = bytes.len() - blocks.concat().len();
            let cut = start + cut.index(bytes.len() - start + 1);
            let mut end = start;
            let count = blocks.iter().take_while(|b| { end += b.len(); end <= cut }).count();
            let torn = start + blocks[..count].concat().len() < cut;
            let got = lines(&bytes[..cut]).unwrap();
            prop_assert_eq!(got, whole[count].clone() + if torn { "{" } else { "" });
        }

        #[test]
        fn hostile_files_never_panic(blocks in prop::collection::vec(
            (0u32..3, prop::collection::vec(prop_oneof![0u8..9, any::<u8>()], 0..60)), 0..5,
        )) {
            let blocks: Vec<Vec<u8>> = blocks.into_iter().map(|(stream, records)| {
                let length = records.len() as u32;
                [&stream.to_le_bytes()[..], &length.to_le_bytes(), &records].concat()
            }).collect();
            let _ = lines(&file(&blocks));
        }
    }

    #[test]
    fn streams_have_their_own_texts() {
        let mut bytes = file(&[]);
        let mut encoders = [CompactEncoder::default(), CompactEncoder::default()];
        for (stream, action) in [(0, "?a"), (1, "?b"), (0, "?c"), (1, "?a"), (0, "?a")] {
            let encoder = &mut encoders[stream];
            let run = stream as u64;
            let step = encoder.place.step;
            if step == 0 {
                encoder.push(&Event::RunStarted { run, seed: 1 }).unwrap();
            }
            let action = action.to_owned();
            encoder
                .push(&Event::Stimulus {
                    run,
                    step,
                    action,
                    at: 5,
                })
                .unwrap();
            let mut block = Vec::new();
            encoder.block(stream as u32, &mut block);
            bytes.extend(block);
        }
        let text = lines(&bytes).unwrap();
        let actions: Vec<_> = text
            .match_indices("\"?")
            .map(|(at, _)| &text[at + 1..at + 3])
            .collect();
        assert_eq!(actions, ["?a", "?b", "?c", "?a", "?a"]);
    }

    #[test]
    fn other_logs_are_left_as_they_are() {
        for log in ["", "x", "{\"journal\": 1}\n", COMPACT_FORMAT] {
            assert_eq!(lines(log.as_bytes()).unwrap(), log);
        }
        for wrong in [
            &b"\x00\x00\x00\x00\xff\xff\xff\xff"[..],
            b"\x00\x00\x00\x00\x01\x00\x00\x00\x03",
            b"\x00\x00\x00\x00\x02\x00\x00\x00\x02\xff",
            b"\x00\x00\x00\x00\x01\x00\x00\x00\x63",
        ] {
            let error = lines(&file(&[wrong.to_vec()])).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidData, "{error}");
        }
    }
}
