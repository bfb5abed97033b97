//! What one relation asks of a pair.

use crate::{LabelId, LabelKind, Semantics, StateId};

use super::Allowed;
use super::cover::Cover;
use super::nodes::Place;
use super::set_row::{Target, TargetSets};

/// What the specification may be in after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Goal {
    pub(super) set: Target,
    pub(super) part: u32,
}

/// What becomes of a visible action of the implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Both go on.
    Go(Goal),
    /// Both go on, to a pair that violates the relation whatever the implementation does there.
    Lost(Goal),
    /// The relation asks nothing about what comes after it, whatever the specification may be in.
    Outside,
    /// The set that the specification may be in leaves it open, so the relation asks nothing about
    /// what comes after it. A larger set might take it, and ask.
    Unspecified,
    /// The specification does not allow it here.
    Forbidden,
}

/// What becomes of the inputs at a place, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Inputs {
    /// Those that may lead somewhere: of these [`PairRules::step`] is asked.
    pub(super) taken: u64,
    /// Those that the set leaves open.
    pub(super) open: u64,
}

/// How one relation treats a pair.
///
/// A search drops a pair when it knows one of the same state with a smaller set that is reached by
/// no more actions. So where two sets have the same part, P ⊆ P', the rules promise, of each state
/// of the implementation:
///
/// 1. What is forbidden at P', or a refusal there, is so at P.
/// 2. Where a label leads from P' to Q', it is forbidden at P, or unspecified, or leads to a set
///    Q ⊆ Q' of the same part.
///
/// *Why that is enough.* Take a path of pairs that ends in a violation after n actions. By induction
/// along it the search takes, for each of its pairs (i', P'), a pair (i', P) with P ⊆ P' that is
/// reached by no more actions; or it meets, before, something forbidden, which is a violation
/// after fewer than n; or it meets something unspecified. At the end of the path 1 gives a violation
/// after n actions or fewer. Internal steps change the state and keep the set, and all of a level
/// are done before the first visible one, so that "no more actions" holds of every pair that is there
/// when another is dropped. So a search that meets nothing unspecified finds a shortest violation,
/// and one that does, after it has dropped a pair, has to begin again without dropping any, or with an
/// order that leaves nothing unspecified: [`Cover`].
pub(super) trait PairRules {
    /// Whether places differ by more than their sets.
    fn has_parts(&self) -> bool {
        false
    }

    /// Whether the order compares no sets of different parts. Always; tests have rules that promise
    /// more.
    fn separates_parts(&self) -> bool {
        true
    }

    /// What the specification may be in before any action.
    fn initial(&mut self) -> (Vec<StateId>, u32);

    /// Reads from memory what questions about these states of the specification will need.
    fn look_ahead(&self, _members: &[StateId]) {}

    /// From now on, until the next call, the questions are about this place.
    fn enter(&mut self, place: Place<'_>);

    /// A refusal of `state` that the specification lacks, where the relation asks for refusals.
    fn refusal<M: Semantics<State = StateId>>(
        &mut self,
        _implementation: &M,
        _map: &[LabelId],
        _state: StateId,
    ) -> Option<Vec<LabelId>> {
        None
    }

    /// The visible action `label`, an id of the joint table. The kind comes along because the
    /// specification may not know the label. The set after it goes to `sets`.
    fn step(&mut self, label: LabelId, kind: LabelKind, sets: &mut TargetSets) -> Next;

    /// Where it is known without asking for one input after the other: the inputs that lead somewhere, and
    /// those that are left open, [`Next::Unspecified`], each as bits by the index in the joint table. All
    /// others are [`Next::Outside`].
    fn inputs(&mut self) -> Option<Inputs> {
        None
    }

    /// The order with which nothing is unspecified at P that leads somewhere from P', where there is one and the rules
    /// leave something unspecified at all.
    fn cover(&self) -> Option<Cover> {
        None
    }

    /// What is allowed.
    fn allowed(&mut self) -> Allowed;

    /// The bytes that the rules hold.
    fn bytes(&self) -> usize;
}
