//! Positive and negative determinacy [PROP12, def. 1 and 14].
//!
//! The paper gives determinacy two readings. Definition 1 asks about infinite continuations only;
//! the sentence below it, and the partition of definition 12, ask about finite ones too. Lemma 1
//! claims that they agree (good = positively determined, bad = negatively determined). They part:
//!
//! * `1 → 2 → 2` with R = {2}: every infinite sequence is accepted, so ε determines the property
//!   positively by definition 1, but state 1 rejects ε: it is currently bad, not good.
//! * `1 → 2 → 2` with P = {1}: no infinite sequence is accepted, so ε determines the property
//!   negatively by definition 1, but state 1 accepts ε: it is currently good, not bad.
//! * `1 ⇄ 2` with (R₁, P₁) = ({1}, ∅), (R₂, P₂) = ({2}, ∅): no finite sequence is accepted, so both
//!   states are bad, yet every infinite sequence is. Here even the direction from the partition to
//!   determinacy fails. It needs two pairs; with one it holds, and for good states it always holds.
//!
//! So determinacy is computed from the cycles, exactly, in either reading.

use crate::cycles::CycleForest;
use crate::partition::{Partition, Quality};
use crate::state_set::StateSet;
use crate::streett::StreettAutomaton;
use crate::structure::{AutomatonError, StateId, Structure};

/// Which continuations must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Reading {
    /// The infinite ones, as definition 1 is written.
    Infinite,
    /// The sequence itself, its finite and its infinite continuations, as the text explains it.
    #[default]
    FiniteAndInfinite,
}

/// The states whose sequences determine the property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Determinacy {
    /// ⊕-determined(σ, Π) iff σ ends here.
    pub positive: StateSet,
    /// ⊖-determined(σ, Π) iff σ ends here.
    pub negative: StateSet,
}

impl Determinacy {
    /// Determinacy of every state, in one reading.
    pub fn new(automaton: &StreettAutomaton, reading: Reading) -> Result<Self, AutomatonError> {
        let live = Liveness::new(automaton)?;
        let (positive, negative) = (live.rejecting.complement(), live.accepting.complement());
        Ok(match reading {
            Reading::Infinite => Self { positive, negative },
            Reading::FiniteAndInfinite => {
                let partition = Partition::new(automaton);
                Self {
                    positive: positive.intersection(&partition.part(Quality::Good)),
                    negative: negative.intersection(&partition.part(Quality::Bad)),
                }
            }
        })
    }

    /// The states where the readings part: determined by definition 1, not by the other.
    pub fn parting(automaton: &StreettAutomaton) -> Result<Vec<StateId>, AutomatonError> {
        let one = Self::new(automaton, Reading::Infinite)?;
        let two = Self::new(automaton, Reading::FiniteAndInfinite)?;
        Ok(automaton
            .structure()
            .states()
            .filter(|&q| {
                one.positive.contains(q) != two.positive.contains(q)
                    || one.negative.contains(q) != two.negative.contains(q)
            })
            .collect())
    }
}

/// Which states still have an accepted, and which a rejected, infinite continuation.
pub(crate) struct Liveness {
    pub(crate) accepting: StateSet,
    pub(crate) rejecting: StateSet,
}

impl Liveness {
    pub(crate) fn new(automaton: &StreettAutomaton) -> Result<Self, AutomatonError> {
        Ok(Self::of_forest(
            automaton.structure(),
            &automaton.to_omega().low_forest()?,
        ))
    }

    pub(crate) fn of_forest(structure: &Structure, forest: &CycleForest) -> Self {
        let with = |verdict: bool| {
            let mut set = StateSet::empty(structure.len());
            for root in forest.roots().filter(|&r| forest.has_cycle(r, verdict)) {
                forest.cycles[root].states.iter().for_each(|&q| {
                    set.insert(q);
                });
            }
            structure.co_reach(&set)
        };
        Self {
            accepting: with(true),
            rejecting: with(false),
        }
    }
}
