//! Events as lines of JSON.
//!
//! Steps and their bytes are written by hand, since there are many of them and serde looks at each name and number through a
//! layer of its own; everything else is left to serde. A property compares the two.

use std::io;

use crate::record::action_text::{ActionText, ByAction};
use crate::{Event, Traffic, Way};

/// A part of a line that many lines have alike, with room behind it: so many bytes are copied by a few instructions, however many of
/// them are meant.
#[derive(Clone, Debug)]
struct Piece<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Default for Piece<N> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<const N: usize> Piece<N> {
    const EMPTY: Self = Self {
        bytes: [0; N],
        length: 0,
    };

    const fn of(text: &[u8]) -> Self {
        Self::EMPTY.and(text)
    }

    fn text(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    const fn and(mut self, text: &[u8]) -> Self {
        let (_, room) = self.bytes.split_at_mut(self.length);
        room.split_at_mut(text.len()).0.copy_from_slice(text);
        self.length += text.len();
        self
    }
}

const STIMULUS: Piece<32> = Piece::of(b"{\"event\":\"stimulus\",\"run\":");
const OUTPUT: Piece<32> = Piece::of(b"{\"event\":\"output\",\"run\":");
const QUIESCENCE: Piece<32> = Piece::of(b"{\"event\":\"quiescence\",\"run\":");
const STEP: Piece<8> = Piece::of(b",\"step\":");
const ACTION: &[u8] = b",\"action\":\"";
const AT: Piece<6> = Piece::of(b",\"at\":");
const END: Piece<2> = Piece::of(b"}\n");

/// What stands between the step and the time of a stimulus or an output.
type Middle = Piece<64>;

/// The longest text of an action that fits a [`Middle`].
const LONGEST: usize = 64 - ACTION.len() - 1 - AT.bytes.len();

/// Room of a line: its pieces, and three numbers of twenty digits at most.
const ROOM: usize = 32 + 8 + 6 + 64 + 2 + 3 * 20;

/// A line while it is put together.
struct Line<'a> {
    room: &'a mut [u8; ROOM],
    length: usize,
}

impl<'a> Line<'a> {
    /// A line behind so many of these bytes; `None` where they have no room for it.
    #[inline]
    fn behind(bytes: &'a mut [u8], length: usize) -> Option<Self> {
        let room = bytes.get_mut(length..)?.first_chunk_mut()?;
        Some(Self { room, length: 0 })
    }

    #[expect(clippy::inline_always, reason = "some instructions")]
    #[inline(always)]
    fn append<const N: usize>(&mut self, bytes: &[u8; N], meant: usize) {
        self.room[self.length..][..N].copy_from_slice(bytes);
        self.length += meant;
    }

    #[expect(clippy::inline_always, reason = "some instructions")]
    #[inline(always)]
    fn piece<const N: usize>(&mut self, piece: &Piece<N>) {
        self.append(&piece.bytes, piece.length);
    }

    /// Appends a number. Runs, steps and times of fast runs are small.
    #[expect(clippy::inline_always, reason = "some instructions in most cases")]
    #[inline(always)]
    fn number(&mut self, value: u64) {
        if let Some(digits) = LEADING.get(value as usize) {
            self.append(digits, usize::from(digits[3]));
        } else {
            self.length = long_number(value, self.room, self.length);
        }
    }
}

/// Puts a number of more than three digits into a line that is so long; how long it is then.
fn long_number(value: u64, room: &mut [u8; ROOM], length: usize) -> usize {
    let mut line = Line { room, length };
    line.number(value / 1000);
    line.append(&FULL[(value % 1000) as usize], 3);
    line.length
}

/// Writes the events of one job as lines, those of steps where they stay: what is put together elsewhere first would be read again before
/// the processor has written it, which takes longer than the rest.
#[derive(Debug, Default)]
pub(crate) struct LineWriter {
    /// Lines, and room behind them.
    bytes: Vec<u8>,
    /// Of the lines.
    length: usize,
    middles: ByAction<Middle>,
    /// What was waited for in the last silence.
    patience: u64,
    /// How silences of this patience end, behind their time; empty before the first one.
    silent_end: Piece<64>,
    /// Memory for a line that is put together elsewhere.
    other: Vec<u8>,
}

impl LineWriter {
    /// The lines that were added since they were cleared.
    pub(crate) fn lines(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    pub(crate) fn clear(&mut self) {
        self.length = 0;
    }

    /// Adds the line of an event.
    #[inline]
    pub(crate) fn write(&mut self, event: &Event) -> io::Result<()> {
        let (begin, run, step, action, at) = match event {
            Event::Stimulus {
                run,
                step,
                action,
                at,
            } => (&STIMULUS, *run, *step, action, *at),
            Event::Output {
                run,
                step,
                action,
                at,
                preempted: None,
                note: None,
            } => (&OUTPUT, *run, *step, action, *at),
            Event::Quiescence {
                run,
                step,
                at,
                patience,
            } => return self.write_silence((*run, *step, *at), *patience),
            _ => return self.write_other(event),
        };
        let Some(middle) = self.middles.get(action) else {
            return self.write_new(event, action);
        };
        let Some(mut line) = Line::behind(&mut self.bytes, self.length) else {
            self.make_room();
            return self.write(event);
        };
        line.piece(begin);
        line.number(run);
        line.piece(&STEP);
        line.number(step);
        line.piece(middle);
        line.number(at);
        line.piece(&END);
        self.length += line.length;
        Ok(())
    }

    /// Adds the line of an event whose action was not met before.
    #[cold]
    fn write_new(&mut self, event: &Event, action: &ActionText) -> io::Result<()> {
        if action.len() > LONGEST || !is_plain(action) {
            return self.write_other(event);
        }
        let middle = Middle::of(ACTION).and(action.as_bytes()).and(b"\"");
        self.middles.insert(action, middle.and(AT.text()));
        self.write(event)
    }

    /// Adds the line of a silence.
    fn write_silence(&mut self, (run, step, at): (u64, u64, u64), patience: u64) -> io::Result<()> {
        if self.patience != patience || self.silent_end.length == 0 {
            self.patience = patience;
            let end = format!(",\"patience\":{patience}}}\n");
            self.silent_end = Piece::of(end.as_bytes());
        }
        let Some(mut line) = Line::behind(&mut self.bytes, self.length) else {
            self.make_room();
            return self.write_silence((run, step, at), patience);
        };
        line.piece(&QUIESCENCE);
        line.number(run);
        line.piece(&STEP);
        line.number(step);
        line.piece(&AT);
        line.number(at);
        line.piece(&self.silent_end);
        self.length += line.length;
        Ok(())
    }

    #[cold]
    fn make_room(&mut self) {
        self.bytes.resize(2 * self.length + ROOM, 0);
    }

    /// Adds the line of an event that is no stimulus, or no usual output.
    fn write_other(&mut self, event: &Event) -> io::Result<()> {
        self.other.clear();
        write_line(event, &mut self.other)?;
        let end = self.length + self.other.len();
        if end > self.bytes.len() {
            self.bytes.resize(2 * end, 0);
        }
        self.bytes[self.length..end].copy_from_slice(&self.other);
        self.length = end;
        Ok(())
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
    if !write_step(event, line)? {
        serde_json::to_writer(line, event)?;
    }
    Ok(())
}

/// Appends an event of the usual kinds; `false`, and nothing, for any other.
fn write_step(event: &Event, line: &mut Vec<u8>) -> io::Result<bool> {
    match event {
        Event::Stimulus {
            run,
            step,
            action,
            at,
        } => {
            line.extend_from_slice(b"{\"event\":\"stimulus\",\"run\":");
            act((*run, *step, *at), action, line)?;
        }
        Event::Output {
            run,
            step,
            action,
            at,
            preempted,
            note: None,
        } => {
            line.extend_from_slice(b"{\"event\":\"output\",\"run\":");
            act((*run, *step, *at), action, line)?;
            if let Some(other) = preempted {
                text(b",\"preempted\":", other, line)?;
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
                text(b",\"channel\":", channel, line)?;
            }
            line.extend_from_slice(b",\"length\":");
            number(*length, line);
            if let Some(bytes) = bytes {
                text(b",\"text\":", bytes, line)?;
            }
        }
        _ => return Ok(false),
    }
    line.push(b'}');
    Ok(true)
}

/// Whether JSON writes a text as it is. All bytes are looked at, many at once.
fn is_plain(text: &str) -> bool {
    let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    text.bytes().fold(true, |all, byte| all & is_plain(byte))
}

/// Appends what stimuli and outputs have alike: run, whose name is there already, step, action and time.
#[inline]
fn act((run, step, at): (u64, u64, u64), action: &str, line: &mut Vec<u8>) -> io::Result<()> {
    place(run, step, line);
    text(b",\"action\":", action, line)?;
    line.extend_from_slice(b",\"at\":");
    number(at, line);
    Ok(())
}

/// Appends a name and a text.
#[inline]
fn text<const N: usize>(name: &[u8; N], text: &str, line: &mut Vec<u8>) -> io::Result<()> {
    line.extend_from_slice(name);
    if is_plain(text) {
        line.push(b'"');
        line.extend_from_slice(text.as_bytes());
        line.push(b'"');
    } else {
        serde_json::to_writer(line, text)?;
    }
    Ok(())
}

/// Appends run and step of an event; the name of the run is there already.
#[inline]
pub(super) fn place(run: u64, step: u64, line: &mut Vec<u8>) {
    number(run, line);
    line.extend_from_slice(b",\"step\":");
    number(step, line);
}

/// The numbers below a thousand, without zeros before them; behind them room, and last how many digits they have.
const LEADING: [[u8; 4]; 1000] = {
    let mut all = FULL;
    let mut number = 0;
    while number < 100 {
        let [_, tens, ones, _] = FULL[number];
        all[number] = if number < 10 {
            [ones, 0, 0, 1]
        } else {
            [tens, ones, 0, 2]
        };
        number += 1;
    }
    all
};

/// The numbers below a thousand with three digits, and how many these are.
const FULL: [[u8; 4]; 1000] = {
    let mut all = [[0; 4]; 1000];
    let mut number = 0;
    while number < 1000 {
        let zero = b'0';
        all[number] = [
            zero + (number / 100) as u8,
            zero + (number / 10 % 10) as u8,
            zero + (number % 10) as u8,
            3,
        ];
        number += 1;
    }
    all
};

/// Appends a number.
pub(super) fn number(value: u64, line: &mut Vec<u8>) {
    let digits = if value < 1000 {
        LEADING[value as usize]
    } else {
        number(value / 1000, line);
        FULL[(value % 1000) as usize]
    };
    let end = line.len() + usize::from(digits[3]);
    line.extend_from_slice(&digits);
    line.truncate(end);
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
        // Runs, times and patience that come again, and any others.
        let often = || prop_oneof![0..3u64, any::<u64>()];
        let place = (often(), prop_oneof![0..100u64, any::<u64>()], often());
        let texts = (
            action(),
            proptest::option::of(action()),
            proptest::option::weighted(0.1, action()),
        );
        (place, texts, 0..6u8, often()).prop_map(
            |((run, step, at), (action, preempted, note), kind, patience)| match kind {
                0 => Event::Stimulus {
                    run,
                    step,
                    action: action.into(),
                    at,
                },
                1 => Event::Output {
                    run,
                    step,
                    action: action.into(),
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

    /// Texts of all lengths, with the largest numbers.
    #[test]
    fn the_longest_lines_have_room() {
        let mut writer = LineWriter::default();
        let mut slow = Vec::new();
        for length in 0..3 * LONGEST {
            let (run, step, at) = (u64::MAX, u64::MAX, u64::MAX);
            let action = "a".repeat(length).into();
            let event = Event::Stimulus {
                run,
                step,
                action,
                at,
            };
            let patience = u64::MAX;
            let silence = Event::Quiescence {
                run,
                step,
                at,
                patience,
            };
            for event in [&event, &silence, &event] {
                writer.write(event).expect("memory takes all");
                write_line(event, &mut slow).expect("memory takes all");
            }
        }
        assert_eq!(writer.lines(), slow);
    }

    #[test]
    fn plainness_is_that_of_each_byte() {
        for byte in 0..=127 {
            let is_plain = byte >= b' ' && byte != b'"' && byte != b'\\';
            for place in 0..40 {
                let mut bytes = [b'~'; 40];
                bytes[place] = byte;
                let text = str::from_utf8(&bytes).expect("ASCII");
                assert_eq!(super::is_plain(text), is_plain, "{text:?}");
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
            let mut apart = Vec::new();
            let mut slow = Vec::new();
            let mut writer = LineWriter::default();
            for event in &events {
                writer.write(event).expect("memory takes all");
                write_line(event, &mut apart).expect("memory takes all");
                serde_json::to_writer(&mut slow, event).expect("events are JSON");
                slow.push(b'\n');
            }
            prop_assert_eq!(writer.lines(), &apart);
            prop_assert_eq!(String::from_utf8(apart), String::from_utf8(slow));
        }
    }
}
