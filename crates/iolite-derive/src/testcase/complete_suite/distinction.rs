//! Which states of a specification no state of an implementation can conform to both.

use std::collections::VecDeque;

use iolite_lts::LabelId;

use super::automaton::{Automaton, Before, Row, common};

/// How two states are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Observe,
    Stimulate(LabelId),
}

/// Experiments that tell states apart are not longer than this. A pair that needs a longer one counts as
/// one that cannot be told apart, which makes a suite larger and no less complete.
const LONGEST: u32 = 500;

/// Pairs of states that are told apart by some experiment, whatever an implementation chooses to show.
///
/// s and s' are told apart if they have no observation in common; or if each of those that they have in common
/// leads to states that are told apart; or if some input that both specify does.
pub(super) struct Distinction {
    /// For each pair that is told apart, how, and in how many steps.
    pairs: Vec<Option<(Choice, u32)>>,
}

fn place(one: usize, other: usize) -> usize {
    let (small, large) = (one.min(other), one.max(other));
    large * (large + 1) / 2 + small
}

impl Distinction {
    pub(super) fn new<S>(automaton: &Automaton<S>) -> Self {
        let count = automaton.states.len();
        let size = count * (count + 1) / 2;
        let mut pairs = vec![None; size];
        // Observations in common that do not yet lead to states that are told apart.
        let mut open = vec![0_u32; size];
        let mut queue = VecDeque::new();
        for large in 0..count {
            for small in 0..large {
                let rows = &automaton.observations;
                let at = place(small, large);
                open[at] = common(&rows[small], &rows[large]).count() as u32;
                if open[at] == 0 {
                    pairs[at] = Some((Choice::Observe, 1));
                    queue.push_back((small, large));
                }
            }
        }
        let Before {
            inputs,
            observations,
        } = Before::new(automaton);
        while let Some((one, other)) = queue.pop_front() {
            let length = pairs[place(one, other)].map_or(0, |(_, length)| length) + 1;
            if length > LONGEST {
                break;
            }
            for (label, s, t) in crossed(&inputs[one], &inputs[other]) {
                let at = place(s, t);
                if s != t && pairs[at].is_none() {
                    pairs[at] = Some((Choice::Stimulate(label), length));
                    queue.push_back((s, t));
                }
            }
            for (_, s, t) in crossed(&observations[one], &observations[other]) {
                let at = place(s, t);
                if s == t || pairs[at].is_some() {
                    continue;
                }
                open[at] -= 1;
                if open[at] == 0 {
                    pairs[at] = Some((Choice::Observe, length));
                    queue.push_back((s, t));
                }
            }
        }
        Self { pairs }
    }

    /// How two states are told apart, if they are.
    pub(super) fn of(&self, one: usize, other: usize) -> Option<Choice> {
        self.pairs[place(one, other)].map(|(choice, _)| choice)
    }

    /// A set of states of which every two are told apart, with `first` in it, the `preferred` ones before
    /// others.
    pub(super) fn set_with(&self, first: usize, preferred: &[bool]) -> Vec<usize> {
        let mut set = vec![first];
        for wanted in [true, false] {
            for (state, &is_preferred) in preferred.iter().enumerate() {
                let fits = |&member: &usize| self.of(state, member).is_some();
                if is_preferred == wanted && state != first && set.iter().all(fits) {
                    set.push(state);
                }
            }
        }
        set.sort_unstable();
        set
    }
}

/// Steps with one label into each of two states.
fn crossed<'a>(one: &'a Row, other: &'a Row) -> impl Iterator<Item = (LabelId, usize, usize)> + 'a {
    one.iter().flat_map(move |&(label, source)| {
        let begin = other.partition_point(|step| step.0 < label);
        let same = other[begin..]
            .iter()
            .take_while(move |step| step.0 == label);
        same.map(move |&(_, theirs)| (label, source, theirs))
    })
}
