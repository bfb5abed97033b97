//! Events as lines of JSON.
//!
//! Steps and their bytes are written by hand, since there are many of them and serde looks at each name and number through a
//! layer of its own; everything else is left to serde. A property compares the two.

use std::io;

use crate::{Event, Traffic, Way};

/// Appends an event and a line end.
pub(crate) fn write_line(event: &Event, line: &mut Vec<u8>) -> io::Result<()> {
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
fn is_plain(text: &str) -> bool {
    !text.bytes().any(|b| b < b' ' || b == b'"' || b == b'\\')
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

/// Appends a number.
#[inline]
pub(super) fn number(value: u64, line: &mut Vec<u8>) {
    // Runs, steps and times of fast runs are small.
    if value < 10_000 {
        short_number(value, line);
    } else {
        long_number(value, line);
    }
}

#[inline]
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
        prop_oneof!["[?!][a-z]{1,3}", "\\PC{0,8}", any::<String>()]
    }

    fn step() -> impl Strategy<Value = Event> {
        let place = (any::<u64>(), 0..100u64, any::<u64>());
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
        fn lines_are_those_of_serde(events in proptest::collection::vec(step(), 1..5)) {
            let mut lines = Vec::new();
            let mut slow = Vec::new();
            for event in &events {
                write_line(event, &mut lines).expect("memory takes all");
                serde_json::to_writer(&mut slow, event).expect("events are JSON");
                slow.push(b'\n');
            }
            prop_assert_eq!(String::from_utf8(lines), String::from_utf8(slow));
        }
    }
}
