//! How many items came to what, counted on from where somebody has counted before.

use std::collections::BTreeMap;

use async_nats::jetstream::Message;
use serde::{Deserialize, Serialize};

use crate::FleetError;
use crate::board::{Board, VERDICT};
use crate::outcome::ERROR;

/// Items that were set aside and are named.
const MOST_NAMED: usize = 100;

/// Results beyond the last note after which another is written.
const WORTH_NOTING: u64 = 500;

/// The key of the note.
const KEY: &str = "tally";

/// What was read of results. They are written once and never changed, so a count goes on where it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Tally {
    /// The place in the bucket up to which results are counted.
    sequence: u64,
    pub(crate) verdicts: BTreeMap<String, u64>,
    pub(crate) done: u64,
    pub(crate) set_aside: Vec<u64>,
    /// When the first and the last of them were written, in nanoseconds.
    pub(crate) first: Option<i64>,
    pub(crate) last: Option<i64>,
}

impl Tally {
    /// Counts what came after the last note, and notes what that comes to.
    pub(crate) async fn of(board: &Board) -> Result<Self, FleetError> {
        let mut tally = Self::read(&board.value(KEY).await?, board.extent().await?);
        let noted = tally.done;
        board
            .each(tally.sequence, &mut |item, message| {
                tally.add(item, &message);
                Ok(())
            })
            .await?;
        if tally.done >= noted + WORTH_NOTING {
            let note = |old: &[u8]| {
                let old = Self::read(old, (u64::MAX, u64::MAX));
                let further = tally.sequence > old.sequence;
                further.then(|| (serde_json::to_vec(&tally).unwrap_or_default(), ()))
            };
            // Whoever may only read looks all the same.
            let _ = board.change(KEY, note).await;
        }
        Ok(tally)
    }

    /// Reads a note; nothing where it is none, or cannot be of a bucket with this last place and so many values.
    fn read(value: &[u8], (last, values): (u64, u64)) -> Self {
        let tally: Self = serde_json::from_slice(value).unwrap_or_default();
        let total = tally
            .verdicts
            .values()
            .try_fold(0u64, |sum, n| sum.checked_add(*n));
        let is_one = total == Some(tally.done)
            && tally.done <= tally.sequence
            && tally.sequence <= last
            && tally.done <= values
            && tally.verdicts.keys().all(|verdict| is_word(verdict))
            && tally.set_aside.len() <= MOST_NAMED;
        if is_one { tally } else { Self::default() }
    }

    pub(crate) fn add(&mut self, item: u64, message: &Message) {
        let header = message.headers.as_ref().and_then(|h| h.get(VERDICT));
        // Whoever wrote something else counts as nobody.
        let verdict = header.map_or("", |v| v.as_str());
        let verdict = if is_word(verdict) { verdict } else { ERROR };
        if verdict == ERROR && self.set_aside.len() < MOST_NAMED {
            self.set_aside.push(item);
        }
        *self.verdicts.entry(verdict.to_owned()).or_default() += 1;
        self.done += 1;
        if let Ok(info) = message.info() {
            self.sequence = self.sequence.max(info.stream_sequence);
            let time = i64::try_from(info.published.unix_timestamp_nanos()).unwrap_or_default();
            self.first = Some(self.first.map_or(time, |first| first.min(time)));
            self.last = Some(self.last.map_or(time, |last| last.max(time)));
        }
    }
}

fn is_word(verdict: &str) -> bool {
    let letters = |c: u8| c.is_ascii_lowercase() || c == b'-';
    (1..=40).contains(&verdict.len()) && verdict.bytes().all(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_with_care() {
        let right = r#"{"sequence":9,"verdicts":{"pass":3,"fail":1},"done":4,"set_aside":[],"first":1,"last":2}"#;
        assert_eq!(Tally::read(right.as_bytes(), (9, 9)).done, 4);
        // The bucket is shorter than what was counted: it is another one.
        assert_eq!(Tally::read(right.as_bytes(), (8, 8)), Tally::default());
        // Its values were removed.
        assert_eq!(Tally::read(right.as_bytes(), (9, 3)), Tally::default());
        for wrong in [
            "",
            "[]",
            r#"{"sequence":9,"verdicts":{"pass":3},"done":4}"#,
            r#"{"sequence":3,"verdicts":{"pass":4},"done":4}"#,
            r#"{"sequence":9,"verdicts":{"Pass!":4},"done":4}"#,
            r#"{"sequence":9,"verdicts":{"pass":4},"done":4,"more":1}"#,
            r#"{"sequence":9,"verdicts":{"pass":18446744073709551615,"fail":5},"done":4}"#,
        ] {
            assert_eq!(
                Tally::read(wrong.as_bytes(), (9, 9)),
                Tally::default(),
                "{wrong}"
            );
        }
    }
}
