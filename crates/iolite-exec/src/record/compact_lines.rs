//! Journals in the compact form, as the lines of the other one.

use std::io::{self, BufRead, Read};

use super::compact_journal::compact_first_line;
use super::compact_records::{CompactRecords, Record, StepKind, StepRecord};
use super::event_line::{number, place};

/// Bytes of the header.
const HEADER: u64 = 64 << 20;

/// Reads a compact journal, behind its first line, as the JSON lines of the other form: a header and
/// the events. A block that is cut off, because the writer was killed, is a last line that is cut off.
#[derive(Debug)]
struct CompactLines<R> {
    reader: R,
    header_is_read: bool,
    records: CompactRecords,
    /// The texts of the records as JSON, by their numbers.
    quoted: Vec<Vec<u8>>,
    line: Vec<u8>,
    at: usize,
}

/// What stands for a line that was not written to its end.
const TORN: &[u8] = b"{";

impl<R: BufRead> CompactLines<R> {
    fn new(reader: R) -> Self {
        Self {
            reader,
            header_is_read: false,
            records: CompactRecords::default(),
            quoted: Vec::new(),
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
            let mut header = self.reader.by_ref().take(HEADER);
            header.read_until(b'\n', &mut self.line)?;
            return Ok(());
        }
        match self.records.next(&mut self.reader)? {
            None => {}
            Some(Record::Torn) => self.line.extend_from_slice(TORN),
            Some(Record::Step(step)) => {
                for text in &self.records.texts()[self.quoted.len()..] {
                    self.quoted.push(serde_json::to_vec(text)?);
                }
                write_step(&mut self.line, &step, &self.quoted);
            }
            Some(Record::Event(event)) => {
                serde_json::to_writer(&mut self.line, &*event)?;
                self.line.push(b'\n');
            }
        }
        Ok(())
    }
}

/// Writes the line of a step, as serde would.
fn write_step(line: &mut Vec<u8>, step: &StepRecord, quoted: &[Vec<u8>]) {
    let event: &[u8] = match step.kind {
        StepKind::Stimulus(_) => b"{\"event\":\"stimulus\",\"run\":",
        StepKind::Output(_) => b"{\"event\":\"output\",\"run\":",
        StepKind::Quiescence { .. } => b"{\"event\":\"quiescence\",\"run\":",
    };
    line.extend_from_slice(event);
    place(step.run, step.step, line);
    if let StepKind::Stimulus(text) | StepKind::Output(text) = step.kind {
        line.extend_from_slice(b",\"action\":");
        line.extend_from_slice(&quoted[text.index()]);
    }
    line.extend_from_slice(b",\"at\":");
    number(step.at, line);
    if let StepKind::Quiescence { patience } = step.kind {
        line.extend_from_slice(b",\"patience\":");
        number(patience, line);
    }
    line.extend_from_slice(b"}\n");
}

impl<R: BufRead> BufRead for CompactLines<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at >= self.line.len() {
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

/// Whether this is a journal in the compact form; its first line is behind the reader then.
pub(super) fn is_compact(reader: &mut impl BufRead) -> io::Result<bool> {
    // A pipe may give less at first; a file gives more than that.
    let first_line = compact_first_line(reader.fill_buf()?);
    reader.consume(first_line.unwrap_or(0));
    Ok(first_line.is_some())
}

/// Reads a journal in either form, or any other log, as lines.
pub fn journal_lines<'a>(mut reader: impl BufRead + 'a) -> io::Result<Box<dyn BufRead + 'a>> {
    if is_compact(&mut reader)? {
        return Ok(Box::new(CompactLines::new(reader)));
    }
    Ok(Box::new(reader))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::ErrorKind;

    use iolite_derive::Verdict;
    use proptest::prelude::*;

    use super::super::compact_journal::{COMPACT_FORMAT, CompactEncoder};
    use super::*;
    use crate::{End, Event, Exit, ExitKind, Traffic, Way};

    fn lines(file: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        journal_lines(file)?.read_to_string(&mut text)?;
        Ok(text)
    }

    fn file(blocks: &[Vec<u8>]) -> Vec<u8> {
        let start = format!("{COMPACT_FORMAT}\n{{\"header\": 1}}\n").into_bytes();
        [&start, &blocks.concat()].map(|part| &part[..]).concat()
    }

    fn traffic() -> impl Strategy<Value = Traffic> {
        let way = prop::sample::select(vec![Way::Sent, Way::Received, Way::Stderr]);
        let text = || prop::option::of(prop::sample::select(vec!["", "ok", "say \"ä\"\n", "00ff"]));
        let length = prop_oneof![0u64..9, any::<u64>()];
        (way, text(), text(), text(), length).prop_map(|(way, channel, text, hex, length)| {
            Traffic {
                way,
                channel: channel.map(Into::into),
                length,
                text: text.map(Into::into),
                hex: hex.map(Into::into),
            }
        })
    }

    /// Events as they come in runs, and now and then some that do not fit their place.
    fn event() -> impl Strategy<Value = Event> {
        let small = || 0u64..4;
        let text = || prop::sample::select(vec!["?a", "!x", "!say(\"ä\\n\")", ""]);
        let big = || prop_oneof![0u64..200, Just(u64::MAX), any::<u64>()];
        prop_oneof![
            (small(), any::<u64>()).prop_map(|(run, seed)| Event::RunStarted { run, seed }),
            (small(), small(), text(), big()).prop_map(|(run, step, action, at)| {
                let action = action.into();
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
                    action: action.into(),
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
            (small(), small(), big(), traffic()).prop_map(|(run, step, at, traffic)| {
                Event::Bytes {
                    run,
                    step,
                    at,
                    traffic,
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
                    stderr: "x".into(),
                    within: None,
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
            (0u32..3, prop::collection::vec(prop_oneof![0u8..10, any::<u8>()], 0..60)), 0..5,
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
            let action = action.into();
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
    fn journals_of_the_older_version_are_read() {
        let start = |format: &str| format!("{format}\n{{\"header\": 1}}\n").into_bytes();
        let mut encoder = CompactEncoder::default();
        let event = Event::RunStarted { run: 3, seed: 1 };
        encoder.push(&event).unwrap();
        let mut block = Vec::new();
        encoder.block(0, &mut block);
        for (format, is_read) in [
            (COMPACT_FORMAT, true),
            ("iolite-journal-compact/1", true),
            ("iolite-journal-compact/3", false),
            ("iolite-journal-compact/22", false),
        ] {
            let bytes = [start(format), block.clone()].concat();
            let read = is_compact(&mut &bytes[..]).unwrap();
            assert_eq!(read, is_read, "{format}");
            if read {
                let want = serde_json::to_string(&event).unwrap();
                assert_eq!(
                    lines(&bytes).unwrap(),
                    format!("{{\"header\": 1}}\n{want}\n")
                );
            }
        }
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
