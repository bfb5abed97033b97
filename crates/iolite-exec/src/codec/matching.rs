//! Reading a message by a template: each open hole ends where the literal after it is found, and the search goes back
//! where the rest does not fit.

use crate::WireValue;

use super::HoleKind;
use super::hole::Extent;
use super::template::Part;

/// Work a match may cost before it is given up; a hostile message could otherwise make a template
/// with several open holes take time of a high power of its length.
const BUDGET: u32 = 100_000;

/// A message that is matched with the parts of a template.
pub(super) struct Matching<'a> {
    parts: &'a [Part],
    bytes: &'a [u8],
    args: Vec<Option<WireValue>>,
    budget: u32,
    /// Offset and part of the mismatch that got furthest, for the message.
    furthest: (usize, usize),
}

/// Why a message does not fit.
pub(super) enum Mismatch {
    /// The work that a match may cost was spent.
    GivenUp { attempts: u32 },
    /// The mismatch that got furthest.
    At { byte: usize, part: usize },
}

impl<'a> Matching<'a> {
    pub(super) fn new(parts: &'a [Part], bytes: &'a [u8], slots: usize) -> Self {
        Self {
            parts,
            bytes,
            args: vec![None; slots],
            budget: BUDGET,
            furthest: (0, 0),
        }
    }

    /// The values of the slots.
    pub(super) fn run(mut self) -> Result<Vec<Option<WireValue>>, Mismatch> {
        if self.go(0, 0) {
            return Ok(self.args);
        }
        if self.budget == 0 {
            return Err(Mismatch::GivenUp { attempts: BUDGET });
        }
        let (byte, part) = self.furthest;
        Err(Mismatch::At { byte, part })
    }

    fn go(&mut self, part: usize, at: usize) -> bool {
        self.budget = self.budget.saturating_sub(1);
        if self.budget == 0 {
            return false;
        }
        self.furthest = self.furthest.max((at, part));
        let rest = &self.bytes[at..];
        match self.parts.get(part) {
            None => rest.is_empty(),
            Some(Part::Literal(l)) => rest.starts_with(l) && self.go(part + 1, at + l.len()),
            Some(Part::Hole { slot, kind }) => match kind.extent(rest) {
                Extent::None => false,
                Extent::To(end) => self.fill(part, *slot, kind, at, at + end),
                Extent::Open => match self.parts.get(part + 1) {
                    None => self.fill(part, *slot, kind, at, self.bytes.len()),
                    Some(Part::Literal(l)) => {
                        let mut from = at;
                        while let Some(found) = find(&self.bytes[from..], l) {
                            if self.fill(part, *slot, kind, at, from + found) {
                                return true;
                            }
                            if self.budget == 0 {
                                return false;
                            }
                            from += found + 1;
                        }
                        false
                    }
                    // Refused by `check_readable`.
                    Some(Part::Hole { .. }) => false,
                },
            },
        }
    }

    fn fill(
        &mut self,
        part: usize,
        slot: Option<usize>,
        kind: &HoleKind,
        from: usize,
        to: usize,
    ) -> bool {
        // What is dropped without a type may be anything, bytes that are no text too.
        if slot.is_none() && matches!(kind, HoleKind::Any) {
            return self.go(part + 1, to);
        }
        let Some(value) = kind.read(&self.bytes[from..to]) else {
            return false;
        };
        let Some(slot) = slot else {
            return self.go(part + 1, to);
        };
        let before = self.args[slot].clone();
        if before.as_ref().is_some_and(|known| *known != value) {
            return false;
        }
        self.args[slot] = Some(value);
        let matched = self.go(part + 1, to);
        if !matched {
            self.args[slot] = before;
        }
        matched
    }
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|w| w == needle)
}
