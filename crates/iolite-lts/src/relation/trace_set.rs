//! F of `ioconf_F`: a set of traces, listed or given by an automaton.

use std::collections::BTreeMap;

use crate::{Determinised, LabelId, Labels, Lts, StateId};

/// A regular set of traces as a deterministic automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceSet {
    steps: Vec<BTreeMap<LabelId, StateId>>,
    accepting: Vec<bool>,
}

impl TraceSet {
    /// The set of just these traces.
    pub fn listed<'a>(traces: impl IntoIterator<Item = &'a [LabelId]>) -> Self {
        let mut set = Self {
            steps: vec![BTreeMap::new()],
            accepting: vec![false],
        };
        for trace in traces {
            let mut at = set.initial();
            for &label in trace {
                at = match set.follow(at, label) {
                    Some(next) => next,
                    None => set.grow(at, label),
                };
            }
            set.accepting[at.index()] = true;
        }
        set
    }

    fn grow(&mut self, from: StateId, label: LabelId) -> StateId {
        let new = StateId::new(self.steps.len());
        self.steps[from.index()].insert(label, new);
        self.steps.push(BTreeMap::new());
        self.accepting.push(false);
        new
    }

    /// The traces that take `automaton` to a state for which `accepts` says yes, over the alphabet
    /// `labels`, which are all that occur in the traces of interest: traces with another label are left out.
    pub fn accepted(
        automaton: &Lts,
        labels: &Labels,
        mut accepts: impl FnMut(StateId) -> bool,
    ) -> Self {
        let mut view = Determinised::new(automaton);
        view.initial();
        let mut set = Self {
            steps: Vec::new(),
            accepting: Vec::new(),
        };
        while set.steps.len() < view.set_count() {
            let here = crate::SetId::new(set.steps.len());
            set.accepting
                .push(view.members(here).iter().any(|&s| accepts(s)));
            let row = view.row(here).iter();
            let known = row.filter_map(|&(l, target)| {
                let label = automaton.labels().label(l);
                Some((
                    labels.get(label.kind, &label.name)?,
                    StateId::new(target.index()),
                ))
            });
            set.steps.push(known.collect());
        }
        set
    }

    /// The state before any action.
    pub fn initial(&self) -> StateId {
        StateId::new(0)
    }

    /// The state after one more action, or `None` when no trace of the set goes on so.
    pub fn follow(&self, state: StateId, label: LabelId) -> Option<StateId> {
        self.steps[state.index()].get(&label).copied()
    }

    /// Whether the trace so far belongs to the set.
    pub fn accepts(&self, state: StateId) -> bool {
        self.accepting[state.index()]
    }
}
