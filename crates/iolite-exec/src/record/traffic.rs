//! Bytes between tester and system as the journal keeps them: bounded, and readable where they are text.

use serde::{Deserialize, Serialize};

/// Bytes of one message that are kept.
pub(crate) const MOST_KEPT: usize = 1024;

/// Which way bytes went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// From the tester to the system.
    #[default]
    Sent,
    /// From the system to the tester.
    Received,
    /// From the system to its standard error. When it was written is not known, only when it was read.
    Stderr,
}

/// A message without its framing, or a piece of standard error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Traffic {
    /// Which way it went.
    pub way: Way,
    /// The channel; none for standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// How many bytes it had; those beyond the first 1024 are not kept.
    pub length: u64,
    /// The bytes, where they are text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The bytes in hexadecimal, where they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hex: Option<String>,
}

/// Sets a text, in the memory of the one that was there.
fn set(slot: &mut Option<String>, text: Option<&str>) {
    match (slot, text) {
        (Some(slot), Some(text)) => {
            slot.clear();
            slot.push_str(text);
        }
        (slot, text) => *slot = text.map(str::to_owned),
    }
}

impl Traffic {
    /// The beginning of these bytes, of which there were `length`.
    pub(crate) fn new(way: Way, channel: Option<&str>, bytes: &[u8], length: usize) -> Self {
        let mut traffic = Self::default();
        traffic.fill(way, channel, bytes, length);
        traffic
    }

    /// Becomes the beginning of these bytes, in the memory that it has.
    fn fill(&mut self, way: Way, channel: Option<&str>, bytes: &[u8], length: usize) {
        let kept = &bytes[..bytes.len().min(MOST_KEPT)];
        let text = text_of(kept, kept.len() < length);
        self.way = way;
        self.length = length as u64;
        set(&mut self.channel, channel);
        set(&mut self.text, text);
        self.hex = text.is_none().then(|| {
            use std::fmt::Write as _;
            kept.iter().fold(String::new(), |mut hex, byte| {
                let _ = write!(hex, "{byte:02x}");
                hex
            })
        });
    }

    /// A whole message.
    #[cfg(test)]
    fn message(way: Way, channel: &str, bytes: &[u8]) -> Self {
        Self::new(way, Some(channel), bytes, bytes.len())
    }
}

/// Bytes that went either way since they were last asked for. A message is short and its round too, so that memory is used again.
#[derive(Debug, Default)]
pub(crate) struct TrafficLog {
    kept: Vec<Traffic>,
    spare: Vec<Traffic>,
}

/// Pieces of traffic whose memory is kept.
const SPARE: usize = 8;

impl TrafficLog {
    /// Adds a whole message.
    pub(crate) fn message(&mut self, way: Way, channel: &str, bytes: &[u8]) {
        let mut traffic = self.spare.pop().unwrap_or_default();
        traffic.fill(way, Some(channel), bytes, bytes.len());
        self.kept.push(traffic);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Moves everything out, and takes the memory of what is there.
    pub(crate) fn exchange(&mut self, traffic: &mut Vec<Traffic>) {
        self.spare.append(traffic);
        self.spare.truncate(SPARE);
        traffic.append(&mut self.kept);
    }
}

/// Bytes as text, if they are: no control characters but those of lines. Where the end was cut off, that of
/// a character in several bytes may be missing.
fn text_of(bytes: &[u8], cut: bool) -> Option<&str> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) if cut && e.error_len().is_none() => {
            std::str::from_utf8(&bytes[..e.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    let plain = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    text.chars().all(plain).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads what was kept again, the slow way.
    fn read(traffic: &Traffic) -> Vec<u8> {
        match (&traffic.text, &traffic.hex) {
            (Some(text), None) => text.clone().into_bytes(),
            (None, Some(hex)) => (0..hex.len())
                .step_by(2)
                .map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("two digits"))
                .collect(),
            other => panic!("one of both: {other:?}"),
        }
    }

    proptest! {
        #[test]
        fn what_is_kept_is_what_was_there(bytes in proptest::collection::vec(any::<u8>(), 0..1100)) {
            let traffic = Traffic::message(Way::Sent, "tcp", &bytes);
            let kept = read(&traffic);
            prop_assert_eq!(traffic.length, bytes.len() as u64);
            prop_assert!(bytes.starts_with(&kept));
            prop_assert!(kept.len() + 3 >= bytes.len().min(MOST_KEPT));
        }

        #[test]
        fn text_stays_text(text in "[ -~äöü€😀\n\t]{0,900}") {
            let traffic = Traffic::message(Way::Received, "tcp", text.as_bytes());
            prop_assert!(traffic.hex.is_none());
            let kept = traffic.text.unwrap_or_default();
            prop_assert!(text.starts_with(&kept));
            prop_assert!(kept.len() + 3 >= text.len().min(MOST_KEPT));
        }
    }

    /// Memory that was used before says nothing of what it held.
    #[test]
    fn memory_is_used_again() {
        let messages: [&[u8]; 5] = [b"a long text", b"\x00\xff", b"", b"ok", b"\x01"];
        let mut log = TrafficLog::default();
        let mut told = Vec::new();
        for (i, message) in messages.iter().cycle().take(40).enumerate() {
            let (way, channel) = if i % 3 == 0 {
                (Way::Sent, "in")
            } else {
                (Way::Received, "out")
            };
            log.message(way, channel, message);
            if i % 2 == 0 {
                log.exchange(&mut told);
                let last = told.last();
                assert_eq!(last, Some(&Traffic::message(way, channel, message)));
                assert!(log.is_empty() && told.len() <= 2);
            }
        }
    }

    #[test]
    fn control_characters_are_shown_by_number() {
        let traffic = Traffic::message(Way::Sent, "tcp", b"\x1b[31m");
        assert_eq!(traffic.hex.as_deref(), Some("1b5b33316d"));
        let json = serde_json::to_string(&traffic).expect("JSON");
        assert_eq!(
            serde_json::from_str::<Traffic>(&json).expect("JSON"),
            traffic
        );
    }
}
