//! Events as lines of JSON.
//!
//! Steps and their bytes are written by hand, since there are many of them and serde looks at each name and number through a
//! layer of its own; everything else is left to serde. A property compares the two.

use std::io;

use crate::{Event, Traffic, Way};

/// Room of a [`Piece`]: three numbers do not fit, two do with what stands before them.
const PIECE: usize = 64;

/// A part of a line that many lines have alike, with room behind it: so many bytes are copied by a few instructions, however many of
/// them are meant.
#[derive(Clone, Debug)]
struct Piece {
    bytes: [u8; PIECE],
    length: usize,
}

impl Piece {
    const EMPTY: Self = Self {
        bytes: [0; PIECE],
        length: 0,
    };

    /// Becomes some texts, each with a number behind it.
    fn renew(&mut self, parts: &[(&[u8], u64)]) {
        let mut text = Vec::with_capacity(PIECE);
        for (before, value) in parts {
            text.extend_from_slice(before);
            number(*value, &mut text);
        }
        self.length = text.len();
        text.resize(PIECE, 0);
        self.bytes.copy_from_slice(&text);
    }

    /// Ends the line.
    fn close(&mut self) {
        self.bytes[self.length..self.length + 2].copy_from_slice(b"}\n");
        self.length += 2;
    }

    #[inline]
    fn append_to(&self, line: &mut Vec<u8>) {
        let end = line.len() + self.length;
        line.extend_from_slice(&self.bytes);
        line.truncate(end);
    }
}

/// Writes the events of one job as lines. What the steps of a run begin with, and what those of one time end with, is put together once.
#[derive(Debug)]
pub(crate) struct LineWriter {
    /// The run of the beginnings; `None` before the first one.
    run: Option<u64>,
    stimulus: Piece,
    output: Piece,
    quiescence: Piece,
    /// The time of the last line.
    last: u64,
    /// The time of the ends; `None` before the first one.
    at: Option<u64>,
    end: Piece,
    /// What was waited for in the line that ends so.
    patience: Option<u64>,
    silent_end: Piece,
}

impl Default for LineWriter {
    fn default() -> Self {
        Self {
            run: None,
            stimulus: Piece::EMPTY,
            output: Piece::EMPTY,
            quiescence: Piece::EMPTY,
            last: 0,
            at: None,
            end: Piece::EMPTY,
            patience: None,
            silent_end: Piece::EMPTY,
        }
    }
}

impl LineWriter {
    /// Appends an event and a line end.
    #[inline]
    pub(crate) fn write(&mut self, event: &Event, line: &mut Vec<u8>) -> io::Result<()> {
        let (run, step, action, at, is_stimulus) = match event {
            Event::Stimulus {
                run,
                step,
                action,
                at,
            } => (*run, *step, action, *at, true),
            Event::Output {
                run,
                step,
                action,
                at,
                preempted: None,
                note: None,
            } => (*run, *step, action, *at, false),
            Event::Quiescence {
                run,
                step,
                at,
                patience,
            } if self.at == Some(*at) => {
                self.silence((*run, *step, *at), *patience, line);
                return Ok(());
            }
            _ => return write_line(event, line),
        };
        if !is_plain(action) {
            return write_line(event, line);
        }
        self.begin(run, at);
        // One look whether there is room.
        line.reserve(ROOM + action.len());
        let begin = if is_stimulus {
            &self.stimulus
        } else {
            &self.output
        };
        begin.append_to(line);
        if step < SHORT {
            short_number(step, line);
        } else {
            long_number(step, line);
        }
        line.extend_from_slice(b",\"action\":\"");
        append(action.as_bytes(), line);
        if self.at == Some(at) {
            self.end.append_to(line);
        } else {
            line.extend_from_slice(b"\",\"at\":");
            number(at, line);
            line.extend_from_slice(b"}\n");
        }
        Ok(())
    }

    /// Appends a silence that has the time of the ends.
    fn silence(&mut self, (run, step, at): (u64, u64, u64), patience: u64, line: &mut Vec<u8>) {
        self.begin(run, at);
        if self.patience != Some(patience) {
            self.set_patience(at, patience);
        }
        line.reserve(ROOM);
        self.quiescence.append_to(line);
        number(step, line);
        self.silent_end.append_to(line);
    }

    /// Prepares for a line of this run and time. Many lines have one time where it comes twice in a row.
    #[inline]
    fn begin(&mut self, run: u64, at: u64) {
        if self.run != Some(run) {
            self.set_run(run);
        }
        if std::mem::replace(&mut self.last, at) == at && self.at != Some(at) {
            self.set_time(at);
        }
    }

    #[cold]
    fn set_run(&mut self, run: u64) {
        self.run = Some(run);
        for (piece, before) in [
            (&mut self.stimulus, &b"{\"event\":\"stimulus\",\"run\":"[..]),
            (&mut self.output, b"{\"event\":\"output\",\"run\":"),
            (&mut self.quiescence, b"{\"event\":\"quiescence\",\"run\":"),
        ] {
            piece.renew(&[(before, run), (b",\"step\":", 0)]);
            // The number of the step is that of the line.
            piece.length -= 1;
        }
    }

    #[cold]
    fn set_time(&mut self, at: u64) {
        self.at = Some(at);
        self.patience = None;
        self.end.renew(&[(b"\",\"at\":", at)]);
        self.end.close();
    }

    #[cold]
    fn set_patience(&mut self, at: u64, patience: u64) {
        self.patience = Some(patience);
        self.silent_end
            .renew(&[(b",\"at\":", at), (b",\"patience\":", patience)]);
        self.silent_end.close();
    }
}

/// Bytes that a line has at most beside the name of its action: two pieces, a number, what is between them.
const ROOM: usize = 2 * PIECE + 48;

/// Appends a text that is short in most cases: two moves, which may overlap, instead of the call that long ones need.
#[inline]
fn append(text: &[u8], line: &mut Vec<u8>) {
    fn ends<const N: usize>(text: &[u8], line: &mut Vec<u8>) -> Option<()> {
        let second = line.len() + text.len().checked_sub(N)?;
        line.extend_from_slice(text.first_chunk::<N>()?);
        line.truncate(second);
        line.extend_from_slice(text.last_chunk::<N>()?);
        Some(())
    }
    let short = match text.len() {
        2..4 => ends::<2>(text, line),
        4..8 => ends::<4>(text, line),
        8..17 => ends::<8>(text, line),
        _ => None,
    };
    if short.is_none() {
        line.extend_from_slice(text);
    }
}

/// Appends an event and a line end.
fn write_line(event: &Event, line: &mut Vec<u8>) -> io::Result<()> {
    write_json(event, line)?;
    line.push(b'\n');
    Ok(())
}

/// Appends an event.
pub(crate) fn write_json(event: &Event, line: &mut Vec<u8>) -> io::Result<()> {
    if !write_step(event, line) {
        serde_json::to_writer(line, event)?;
    }
    Ok(())
}

/// Appends an event of the usual kinds; `false`, and nothing, for any other. Everything is written where it stays: what is put
/// together elsewhere first would be read again before the processor has written it, which takes longer than the rest.
fn write_step(event: &Event, line: &mut Vec<u8>) -> bool {
    match event {
        Event::Stimulus {
            run,
            step,
            action,
            at,
        } => {
            if !is_plain(action) {
                return false;
            }
            line.extend_from_slice(b"{\"event\":\"stimulus\",\"run\":");
            act((*run, *step, *at), action, line);
        }
        Event::Output {
            run,
            step,
            action,
            at,
            preempted,
            note: None,
        } => {
            if !is_plain(action) || preempted.as_ref().is_some_and(|other| !is_plain(other)) {
                return false;
            }
            line.extend_from_slice(b"{\"event\":\"output\",\"run\":");
            act((*run, *step, *at), action, line);
            if let Some(other) = preempted {
                text(b",\"preempted\":\"", other, line);
            }
        }
        Event::Quiescence {
            run,
            step,
            at,
            patience,
        } => {
            line.extend_from_slice(b"{\"event\":\"quiescence\",\"run\":");
            place(*run, *step, line);
            line.extend_from_slice(b",\"at\":");
            number(*at, line);
            line.extend_from_slice(b",\"patience\":");
            number(*patience, line);
        }
        Event::Bytes {
            run,
            step,
            at,
            traffic:
                Traffic {
                    way,
                    channel,
                    length,
                    text: bytes,
                    hex: None,
                },
        } => {
            if ![channel, bytes]
                .into_iter()
                .flatten()
                .all(|text| is_plain(text))
            {
                return false;
            }
            line.extend_from_slice(b"{\"event\":\"bytes\",\"run\":");
            place(*run, *step, line);
            line.extend_from_slice(b",\"at\":");
            number(*at, line);
            match way {
                Way::Sent => line.extend_from_slice(b",\"way\":\"sent\""),
                Way::Received => line.extend_from_slice(b",\"way\":\"received\""),
                Way::Stderr => line.extend_from_slice(b",\"way\":\"stderr\""),
            }
            if let Some(channel) = channel {
                text(b",\"channel\":\"", channel, line);
            }
            line.extend_from_slice(b",\"length\":");
            number(*length, line);
            if let Some(bytes) = bytes {
                text(b",\"text\":\"", bytes, line);
            }
        }
        _ => return false,
    }
    line.push(b'}');
    true
}

/// Whether JSON writes a text as it is.
#[inline]
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    if let (8..17, Some(first), Some(last)) = (bytes.len(), bytes.first_chunk(), bytes.last_chunk())
    {
        return are_plain(*first) && are_plain(*last);
    }
    !bytes.iter().any(|&b| b < b' ' || b == b'"' || b == b'\\')
}

/// The same of eight bytes at once: a byte below another, or equal to one, borrows or becomes zero in a difference.
#[inline]
fn are_plain(bytes: [u8; 8]) -> bool {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    let word = u64::from_ne_bytes(bytes);
    let below = |word: u64, least: u8| word.wrapping_sub(ONES * u64::from(least)) & !word & HIGH;
    let has = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    below(word, b' ') | has(b'"') | has(b'\\') == 0
}

/// Appends what stimuli and outputs have alike: run, whose name is there already, step, action, which is plain, and time.
#[inline]
fn act((run, step, at): (u64, u64, u64), action: &str, line: &mut Vec<u8>) {
    place(run, step, line);
    text(b",\"action\":\"", action, line);
    line.extend_from_slice(b",\"at\":");
    number(at, line);
}

/// Appends a name, with the first quote of what it names, and a plain text.
#[inline]
fn text<const N: usize>(name: &[u8; N], text: &str, line: &mut Vec<u8>) {
    line.extend_from_slice(name);
    line.extend_from_slice(text.as_bytes());
    line.push(b'"');
}

/// Appends run and step of an event; the name of the run is there already.
#[inline]
pub(super) fn place(run: u64, step: u64, line: &mut Vec<u8>) {
    number(run, line);
    line.extend_from_slice(b",\"step\":");
    number(step, line);
}

/// The numbers below a hundred, two digits each.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
};

/// Numbers below have four digits at most.
const SHORT: u64 = 10_000;

/// Appends a number.
pub(super) fn number(value: u64, line: &mut Vec<u8>) {
    // Runs, steps and times of fast runs are small.
    if value < SHORT {
        short_number(value, line);
    } else {
        long_number(value, line);
    }
}

#[expect(clippy::inline_always, reason = "once a line")]
#[inline(always)]
fn short_number(value: u64, line: &mut Vec<u8>) {
    let (hundreds, rest) = (value / 100, value % 100);
    if hundreds > 0 {
        two_digits_at_most(hundreds, line);
        line.extend_from_slice(&PAIRS[rest as usize]);
    } else {
        two_digits_at_most(rest, line);
    }
}

#[inline]
fn two_digits_at_most(value: u64, line: &mut Vec<u8>) {
    if value < 10 {
        line.push(b'0' + value as u8);
    } else {
        line.extend_from_slice(&PAIRS[value as usize]);
    }
}

#[inline(never)]
fn long_number(value: u64, line: &mut Vec<u8>) {
    // Its digits by fours; a number of 64 bits has twenty at most.
    let mut fours = [0; 5];
    let mut first = fours.len();
    let mut left = value;
    while left > 0 {
        first -= 1;
        fours[first] = left % 10_000;
        left /= 10_000;
    }
    let Some((most, rest)) = fours[first..].split_first() else {
        return line.push(b'0');
    };
    short_number(*most, line);
    for four in rest {
        line.extend_from_slice(&PAIRS[(four / 100) as usize]);
        line.extend_from_slice(&PAIRS[(four % 100) as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn action() -> impl Strategy<Value = String> {
        prop_oneof![
            "[?!][a-z]{0,20}",
            "[?!a-z\"\\\\\n]{0,20}",
            "\\PC{0,8}",
            any::<String>()
        ]
    }

    fn step() -> impl Strategy<Value = Event> {
        // Runs and times that come again, and any others.
        let often = || prop_oneof![0..3u64, any::<u64>()];
        let place = (often(), prop_oneof![0..100u64, any::<u64>()], often());
        let texts = (
            action(),
            proptest::option::of(action()),
            proptest::option::weighted(0.1, action()),
        );
        (place, texts, 0..6u8, any::<u64>()).prop_map(
            |((run, step, at), (action, preempted, note), kind, patience)| match kind {
                0 => Event::Stimulus {
                    run,
                    step,
                    action,
                    at,
                },
                1 => Event::Output {
                    run,
                    step,
                    action,
                    at,
                    preempted,
                    note,
                },
                2 => Event::Quiescence {
                    run,
                    step,
                    at,
                    patience,
                },
                way => Event::Bytes {
                    run,
                    step,
                    at,
                    traffic: Traffic {
                        way: [Way::Sent, Way::Received, Way::Stderr][usize::from(way - 3)],
                        channel: preempted,
                        length: patience,
                        text: Some(action),
                        hex: note,
                    },
                },
            },
        )
    }

    #[test]
    fn short_texts_are_appended_as_they_are() {
        let text: Vec<u8> = (0..40).collect();
        for length in 0..text.len() {
            let mut line = b"before".to_vec();
            append(&text[..length], &mut line);
            assert_eq!(line, [b"before", &text[..length]].concat());
        }
    }

    #[test]
    fn plainness_is_that_of_each_byte() {
        for byte in 0..=255u8 {
            let is_plain = byte >= b' ' && byte != b'"' && byte != b'\\';
            for place in 0..8 {
                for beside in [b' ', b'!', b'#', b'[', b']', 0x7f, 0x80, 0xff] {
                    let mut bytes = [beside; 8];
                    bytes[place] = byte;
                    assert_eq!(are_plain(bytes), is_plain, "{bytes:?}");
                }
            }
        }
    }

    #[test]
    fn numbers_are_decimal() {
        let powers = (0..20).map(|n| 10u64.pow(n));
        let near = powers.flat_map(|power| [power - 1, power, power + 1, power.saturating_mul(9)]);
        for value in near.chain(0..20_000).chain([u64::MAX]) {
            let mut line = Vec::new();
            number(value, &mut line);
            assert_eq!(String::from_utf8(line), Ok(value.to_string()));
        }
    }

    proptest! {
        #[test]
        fn lines_are_those_of_serde(events in proptest::collection::vec(step(), 1..12)) {
            let mut lines = Vec::new();
            let mut apart = Vec::new();
            let mut slow = Vec::new();
            let mut writer = LineWriter::default();
            for event in &events {
                writer.write(event, &mut lines).expect("memory takes all");
                write_line(event, &mut apart).expect("memory takes all");
                serde_json::to_writer(&mut slow, event).expect("events are JSON");
                slow.push(b'\n');
            }
            prop_assert_eq!(&lines, &apart);
            prop_assert_eq!(String::from_utf8(lines), String::from_utf8(slow));
        }
    }
}
