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
    let begin = line.len();
    let written = match event {
        Event::Stimulus {
            run,
            step,
            action,
            at,
        } => {
            place("{\"event\":\"stimulus\",\"run\":", *run, *step, line);
            text(",\"action\":", action, line) && {
                number(",\"at\":", *at, line);
                true
            }
        }
        Event::Output {
            run,
            step,
            action,
            at,
            preempted,
            note: None,
        } => {
            place("{\"event\":\"output\",\"run\":", *run, *step, line);
            text(",\"action\":", action, line) && {
                number(",\"at\":", *at, line);
                preempted
                    .as_ref()
                    .is_none_or(|other| text(",\"preempted\":", other, line))
            }
        }
        Event::Quiescence {
            run,
            step,
            at,
            patience,
        } => {
            place("{\"event\":\"quiescence\",\"run\":", *run, *step, line);
            number(",\"at\":", *at, line);
            number(",\"patience\":", *patience, line);
            true
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
            place("{\"event\":\"bytes\",\"run\":", *run, *step, line);
            number(",\"at\":", *at, line);
            let way: &[u8] = match way {
                Way::Sent => b",\"way\":\"sent\"",
                Way::Received => b",\"way\":\"received\"",
                Way::Stderr => b",\"way\":\"stderr\"",
            };
            line.extend_from_slice(way);
            channel
                .as_ref()
                .is_none_or(|channel| text(",\"channel\":", channel, line))
                && {
                    number(",\"length\":", *length, line);
                    bytes
                        .as_ref()
                        .is_none_or(|bytes| text(",\"text\":", bytes, line))
                }
        }
        _ => false,
    };
    if written {
        line.push(b'}');
    } else {
        line.truncate(begin);
        serde_json::to_writer(line, event)?;
    }
    Ok(())
}

fn place(event: &str, run: u64, step: u64, line: &mut Vec<u8>) {
    number(event, run, line);
    number(",\"step\":", step, line);
}

/// Digits of the largest number.
const DIGITS: usize = 20;

fn number(name: &str, mut value: u64, line: &mut Vec<u8>) {
    line.extend_from_slice(name.as_bytes());
    let mut digits = [0; DIGITS];
    let mut first = DIGITS;
    loop {
        first -= 1;
        digits[first] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    line.extend_from_slice(&digits[first..]);
}

/// Appends a text; `false` where it has characters that JSON writes in another way.
fn text(name: &str, text: &str, line: &mut Vec<u8>) -> bool {
    if text.bytes().any(|b| b < b' ' || b == b'"' || b == b'\\') {
        return false;
    }
    line.extend_from_slice(name.as_bytes());
    line.push(b'"');
    line.extend_from_slice(text.as_bytes());
    line.push(b'"');
    true
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
