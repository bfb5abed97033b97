//! Reachability and coreachability on explicit systems.

use std::sync::Arc;

use crate::{Lts, LtsBuilder, StateId};

/// The states that `lts` reaches from its initial one.
pub fn reachable(lts: &Lts) -> Vec<bool> {
    let mut seen = vec![false; lts.state_count()];
    let mut stack = vec![lts.initial()];
    seen[lts.initial().index()] = true;
    while let Some(state) = stack.pop() {
        for &(_, target) in lts.steps(state) {
            if !std::mem::replace(&mut seen[target.index()], true) {
                stack.push(target);
            }
        }
    }
    seen
}

/// coreach(T): the states from which some state of `targets` is reachable, the targets included.
pub fn coreach(lts: &Lts, targets: impl IntoIterator<Item = StateId>) -> Vec<bool> {
    let predecessors = Predecessors::of(lts);
    let mut seen = vec![false; lts.state_count()];
    let mut stack = Vec::new();
    for target in targets {
        if !std::mem::replace(&mut seen[target.index()], true) {
            stack.push(target);
        }
    }
    while let Some(state) = stack.pop() {
        for &source in predecessors.of_state(state) {
            if !std::mem::replace(&mut seen[source.index()], true) {
                stack.push(source);
            }
        }
    }
    seen
}

/// The part of `lts` that consists of the states for which `keep` says yes, with their names, places
/// and lines; `None` when the initial state is not among them. Of an acceptor whose accepted words are
/// prefix-closed, the accepting states make the system with just those traces.
pub fn restrict(lts: &Lts, keep: impl Fn(StateId) -> bool) -> Option<Lts> {
    let mut builder = LtsBuilder::with_labels(lts.labels().clone());
    let mut number = vec![None; lts.state_count()];
    for state in lts.states().filter(|&s| keep(s)) {
        let new = builder.named_state(&lts.name(state));
        if let Some(line) = lts.line(state) {
            builder.set_line(new, line);
        }
        if let Some(place) = lts.place(state) {
            builder.set_place(new, Arc::clone(place));
        }
        number[state.index()] = Some(new);
    }
    builder.set_initial(number[lts.initial().index()]?);
    for (source, label, target) in lts.transitions() {
        if let (Some(s), Some(t)) = (number[source.index()], number[target.index()]) {
            builder.transition(s, label, t);
        }
    }
    builder.build().ok()
}

/// The transitions backwards, in rows.
#[derive(Clone, Debug)]
pub struct Predecessors {
    offsets: Vec<u32>,
    sources: Vec<StateId>,
}

impl Predecessors {
    /// Turns the transitions of `lts` around.
    pub fn of(lts: &Lts) -> Self {
        let mut offsets = vec![0u32; lts.state_count() + 1];
        for (_, _, target) in lts.transitions() {
            offsets[target.index() + 1] += 1;
        }
        for i in 0..lts.state_count() {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut sources = vec![StateId::new(0); lts.transition_count()];
        for (source, _, target) in lts.transitions() {
            let slot = &mut next[target.index()];
            sources[*slot as usize] = source;
            *slot += 1;
        }
        Self { offsets, sources }
    }

    /// The states with a transition to `state`, repeated once a transition.
    pub fn of_state(&self, state: StateId) -> &[StateId] {
        let i = state.index();
        &self.sources[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LtsBuilder;

    #[test]
    fn reach_and_coreach() {
        let mut b = LtsBuilder::new();
        for (s, t) in [(0, 1), (1, 0), (1, 2), (3, 2), (4, 4)] {
            b.transition_text(StateId::new(s), "a", StateId::new(t));
        }
        let lts = b.build().unwrap();
        assert_eq!(reachable(&lts), [true, true, true, false, false]);
        assert_eq!(
            coreach(&lts, [StateId::new(2)]),
            [true, true, true, true, false]
        );
        assert_eq!(coreach(&lts, []), [false; 5]);
        let part = restrict(&lts, |s| s.index() != 1).unwrap();
        assert_eq!((part.state_count(), part.transition_count()), (4, 2));
        assert_eq!(part.name(part.initial()), "0");
        assert_eq!(restrict(&lts, |s| s.index() > 0), None);
    }
}
