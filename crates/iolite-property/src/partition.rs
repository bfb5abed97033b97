//! Good, currently good, currently bad and bad states [PROP12, def. 12].

use std::fmt;

use crate::state_set::StateSet;
use crate::streett::StreettAutomaton;
use crate::structure::StateId;

/// Where a finite sequence stands, with all finite continuations in view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Quality {
    /// G: accepting, and so is every reachable state.
    Good,
    /// `G_c`: accepting, but a state that is not can be reached.
    CurrentlyGood,
    /// `B_c`: not accepting, but an accepting state can be reached.
    CurrentlyBad,
    /// B: not accepting, and no accepting state can be reached.
    Bad,
}

impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Good => "good",
            Self::CurrentlyGood => "currently good",
            Self::CurrentlyBad => "currently bad",
            Self::Bad => "bad",
        })
    }
}

/// The partition {G, `G_c`, `B_c`, B} of an automaton's states [PROP12, def. 12].
///
/// A state that leaves finite sequences open is neither good nor bad, nor is one from which it can be
/// reached; it stands among the currently good ones, since nothing is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    quality: Vec<Quality>,
}

impl Partition {
    /// Two backward searches, linear in the automaton.
    pub fn new(automaton: &StreettAutomaton) -> Self {
        let structure = automaton.structure();
        let accepting = automaton.finite();
        let may_accept = structure.co_reach(accepting);
        let may_reject = structure.co_reach(&automaton.accepted().complement());
        let quality = structure
            .states()
            .map(|q| {
                match (
                    accepting.contains(q),
                    may_accept.contains(q),
                    may_reject.contains(q),
                ) {
                    (true, _, false) => Quality::Good,
                    (true, _, true) => Quality::CurrentlyGood,
                    (false, true, _) => Quality::CurrentlyBad,
                    (false, false, _) => Quality::Bad,
                }
            })
            .collect();
        Self { quality }
    }

    /// The part that a state is in.
    #[inline]
    pub fn quality(&self, q: StateId) -> Quality {
        self.quality[q.index()]
    }

    /// One part.
    pub fn part(&self, quality: Quality) -> StateSet {
        StateSet::of(self.quality.len(), |q| self.quality(q) == quality)
    }
}
