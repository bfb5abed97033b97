//! What an item came to, as it is stored.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::FleetError;

/// What an item came to.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The item.
    pub item: u64,
    /// Its verdict; `error` where it has none.
    pub verdict: String,
    /// Who made it.
    pub worker: String,
    /// Everything about it, in the words of the command that made it.
    pub record: Box<RawValue>,
    /// What was said in tries that came to nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tries: Vec<String>,
}

/// Bytes of a record when it is unpacked.
const MOST_UNPACKED: u64 = 256 << 20;

/// Bytes of a record that is packed.
pub(crate) const MOST_PACKED: usize = 64 << 20;

/// The verdict of an item that came to none.
pub(crate) const ERROR: &str = "error";

impl Outcome {
    /// Packed.
    pub(crate) fn pack(&self) -> Result<Vec<u8>, FleetError> {
        let failed =
            |e: &dyn std::fmt::Display| FleetError::Input(format!("packing a result: {e}"));
        let json = serde_json::to_vec(self).map_err(|e| failed(&e))?;
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&json).map_err(|e| failed(&e))?;
        encoder.finish().map_err(|e| failed(&e))
    }

    /// Unpacks the result of `item`.
    pub(crate) fn unpack(bytes: &[u8], item: u64) -> Result<Self, FleetError> {
        let wrong = |why: String| FleetError::content(format!("the result of {item}: {why}"));
        let mut json = Vec::new();
        let mut decoder = GzDecoder::new(bytes).take(MOST_UNPACKED + 1);
        decoder
            .read_to_end(&mut json)
            .map_err(|e| wrong(e.to_string()))?;
        if json.len() as u64 > MOST_UNPACKED {
            return Err(wrong(format!("more than {MOST_UNPACKED} bytes")));
        }
        let outcome: Self = serde_json::from_slice(&json).map_err(|e| wrong(e.to_string()))?;
        if outcome.item != item {
            return Err(wrong(format!("it says that it is of {}", outcome.item)));
        }
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_back_as_they_were() {
        let record = RawValue::from_string(r#"[{"event":"run-started"}]"#.into()).unwrap();
        let outcome = Outcome {
            item: 7,
            verdict: "pass".into(),
            worker: "w".into(),
            record,
            tries: vec!["killed".into()],
        };
        let packed = outcome.pack().unwrap();
        let back = Outcome::unpack(&packed, 7).unwrap();
        assert_eq!(back.record.get(), outcome.record.get());
        assert_eq!(back.tries, outcome.tries);
        assert!(Outcome::unpack(&packed, 8).is_err());
        // Every shorter text, and every one with another byte, is refused or says what it says.
        for end in 0..packed.len() {
            assert!(Outcome::unpack(&packed[..end], 7).is_err(), "{end}");
        }
        for k in 0..packed.len() {
            let mut bytes = packed.clone();
            bytes[k] ^= 0x55;
            let _ = Outcome::unpack(&bytes, 7);
        }
    }

    #[test]
    fn a_bomb_is_refused() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        let zeros = vec![b' '; 1 << 20];
        for _ in 0..300 {
            encoder.write_all(&zeros).unwrap();
        }
        let bomb = encoder.finish().unwrap();
        assert!(
            Outcome::unpack(&bomb, 0)
                .unwrap_err()
                .to_string()
                .contains("more than")
        );
    }
}
