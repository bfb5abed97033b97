//! What of a finite model a run has been through, and the way to what is left.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use iolite_lts::{
    BudgetExceeded, Determinised, LabelId, LabelKind, Semantics, SetId, StateId, Suspension,
};

use crate::{Hint, location::location};

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Count {
    /// Seen so far.
    pub seen: usize,
    /// All there are.
    pub total: usize,
}

impl Count {
    /// Percentage; all of nothing is 100.
    #[allow(clippy::cast_precision_loss)]
    pub fn percentage(self) -> f64 {
        if self.total == 0 {
            return 100.0;
        }
        self.seen as f64 * 100.0 / self.total as f64
    }

    /// Whether nothing is left.
    pub fn is_complete(self) -> bool {
        self.seen == self.total
    }
}

/// A report on coverage. A transition of the model counts as seen when the run may have taken it:
/// which of several nondeterministic ones was really taken, no observer can tell.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CoverageReport {
    /// States of the determinised suspension automaton.
    pub states: Count,
    /// Its transitions.
    pub transitions: Count,
    /// States of the model, those that can be reached.
    pub model_states: Count,
    /// Transitions of the model between them.
    pub model_transitions: Count,
    /// Transitions of the automaton that are left, as `{places} action`, at most as many as asked.
    pub left: Vec<String>,
}

/// A visit record of the determinised suspension automaton of a finite model.
///
/// The ids are those of the view it was made from, so that view must not be trimmed meanwhile.
#[derive(Clone, Debug)]
pub struct Coverage {
    initial: SetId,
    /// Which labels are the system's to choose: outputs and δ.
    observable: Vec<bool>,
    reachable: Vec<bool>,
    /// The steps of each set: a range of `edges`.
    rows: Vec<(u32, u32)>,
    edges: Vec<(LabelId, SetId)>,
    seen_edge: Vec<bool>,
    seen_state: Vec<bool>,
    states: Count,
    transitions: Count,
    /// How often a hint waited for an output that did not come, by edge: the way over it gets longer.
    misses: Vec<u32>,
    /// Misses since the last transition that was new.
    in_vain: u32,
    /// Hints that are not given, so that whoever asks chooses otherwise.
    pause: u32,
    expected: Option<(SetId, u32)>,
    plan: Vec<(SetId, u32)>,
}

/// After many misses in a row there are two to this hints that are not given, for each that is in vain.
const LONGEST_PAUSE: u32 = 4;

impl Coverage {
    /// Walks the whole automaton, up to `limit` sets.
    pub fn explore<M: Semantics<State = StateId>>(
        view: &mut Determinised<M>,
        limit: usize,
    ) -> Result<Self, BudgetExceeded> {
        let initial = view.initial();
        let mut reachable = vec![false; view.set_count()];
        reachable[initial.index()] = true;
        let mut queue = vec![initial];
        let mut rows = vec![(0, 0); view.set_count()];
        let mut edges = Vec::new();
        let mut next = 0;
        while next < queue.len() {
            if queue.len() > limit {
                return Err(BudgetExceeded { budget: limit });
            }
            let set = queue[next];
            next += 1;
            let start = edges.len() as u32;
            edges.extend_from_slice(view.row_in_order(set));
            reachable.resize(view.set_count(), false);
            rows.resize(view.set_count(), (0, 0));
            rows[set.index()] = (start, edges.len() as u32);
            for &(_, target) in &edges[start as usize..] {
                if !std::mem::replace(&mut reachable[target.index()], true) {
                    queue.push(target);
                }
            }
        }
        let count = |total| Count { seen: 0, total };
        let kinds = view.labels().kinds();
        let mut coverage = Self {
            initial,
            observable: kinds.iter().map(|k| k.is_observation()).collect(),
            seen_edge: vec![false; edges.len()],
            seen_state: vec![false; rows.len()],
            states: count(queue.len()),
            transitions: count(edges.len()),
            misses: vec![0; edges.len()],
            in_vain: 0,
            pause: 0,
            reachable,
            rows,
            edges,
            expected: None,
            plan: Vec::new(),
        };
        coverage.visit(initial);
        Ok(coverage)
    }

    /// The initial set.
    pub fn initial(&self) -> SetId {
        self.initial
    }

    /// The sets, in order.
    pub fn sets(&self) -> impl Iterator<Item = SetId> + '_ {
        (0..self.rows.len())
            .map(SetId::new)
            .filter(|s| self.reachable[s.index()])
    }

    /// The steps of a set.
    pub fn row(&self, set: SetId) -> &[(LabelId, SetId)] {
        let (start, end) = self.rows[set.index()];
        &self.edges[start as usize..end as usize]
    }

    /// The numbers of the steps of a set, in the order of its row.
    pub(crate) fn numbers(&self, set: SetId) -> std::ops::Range<usize> {
        let (start, end) = self.rows[set.index()];
        start as usize..end as usize
    }

    /// How many steps there are, and how many numbers of sets.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.edges.len(), self.rows.len())
    }

    /// The number of the step under `label` out of `set`. Numbers are those of the walk that found the
    /// steps, so that whoever explores the same model gives the same ones.
    pub fn number(&self, set: SetId, label: LabelId) -> Option<usize> {
        self.edge(set, label)
    }

    /// `P after a`, or `None` when no state of `P` can do `a`.
    pub(crate) fn after(&self, set: SetId, label: LabelId) -> Option<SetId> {
        self.edge(set, label).map(|edge| self.edges[edge].1)
    }

    fn edge(&self, set: SetId, label: LabelId) -> Option<usize> {
        let (start, _) = self.rows[set.index()];
        let row = self.row(set);
        let i = row.partition_point(|&(l, _)| l < label);
        (row.get(i)?.0 == label).then_some(start as usize + i)
    }

    fn visit(&mut self, set: SetId) {
        if !std::mem::replace(&mut self.seen_state[set.index()], true) {
            self.states.seen += 1;
        }
    }

    /// Records the step under `label` out of `set`. Returns whether it was new.
    pub fn step(&mut self, set: SetId, label: LabelId) -> bool {
        let Some(edge) = self.edge(set, label) else {
            return false;
        };
        if let Some((from, wanted)) = self.expected.take()
            && from == set
            && wanted as usize != edge
            && self.observable[label.index()]
        {
            self.misses[wanted as usize] = self.misses[wanted as usize].saturating_add(1);
            self.in_vain = self.in_vain.saturating_add(1);
            self.pause = 1 << self.in_vain.min(LONGEST_PAUSE);
        }
        let target = self.edges[edge].1;
        self.visit(target);
        let new = !std::mem::replace(&mut self.seen_edge[edge], true);
        self.transitions.seen += usize::from(new);
        if new {
            self.in_vain = 0;
            self.pause = 0;
        }
        new
    }

    /// Takes steps for seen that others saw, by their numbers.
    pub fn take_seen(&mut self, numbers: impl IntoIterator<Item = usize>) {
        for edge in numbers {
            let Some(seen) = self.seen_edge.get_mut(edge) else {
                continue;
            };
            self.transitions.seen += usize::from(!std::mem::replace(seen, true));
            let target = self.edges[edge].1;
            self.visit(target);
        }
    }

    /// Whether the step under `label` out of `set` was seen.
    pub(crate) fn has_seen(&self, set: SetId, label: LabelId) -> bool {
        self.edge(set, label).is_some_and(|e| self.seen_edge[e])
    }

    /// States seen.
    pub fn states(&self) -> Count {
        self.states
    }

    /// Transitions seen.
    pub fn transitions(&self) -> Count {
        self.transitions
    }

    /// The next step on the shortest known way from `set` to a transition not yet seen. A way that
    /// waits for an output costs more each time the system chose another, so that a transition the
    /// system never takes does not hold up the rest. Where one hint after the other is in vain there are
    /// ever fewer of them: a specification allows what an implementation need not do, and whoever goes on
    /// towards it all the time does not test the rest.
    pub fn hint(&mut self, set: SetId) -> Option<Hint> {
        if self.transitions.is_complete() {
            return None;
        }
        if self.pause > 0 {
            self.pause -= 1;
            return None;
        }
        let stale = |plan: &Vec<(SetId, u32)>| plan.last().is_none_or(|&(at, _)| at != set);
        while self.plan.last().is_some_and(|&(at, _)| at != set) {
            self.plan.pop();
        }
        if stale(&self.plan) || self.seen_edge[self.plan[0].1 as usize] {
            self.find_plan(set);
        }
        let (_, edge) = self.plan.pop()?;
        let (label, _) = self.edges[edge as usize];
        Some(if self.observable[label.index()] {
            self.expected = Some((set, edge));
            Hint::Observe
        } else {
            Hint::Stimulate(label.into())
        })
    }

    /// Dijkstra over 1 + misses; the plan is the way backwards, its goal first.
    fn find_plan(&mut self, from: SetId) {
        self.plan.clear();
        let mut best: Vec<Option<(u64, Option<u32>, SetId)>> = vec![None; self.rows.len()];
        let mut heap = BinaryHeap::new();
        best[from.index()] = Some((0, None, from));
        heap.push(Reverse((0u64, from)));
        let mut goal: Option<(u64, SetId, u32)> = None;
        while let Some(Reverse((cost, at))) = heap.pop() {
            if goal.is_some_and(|(c, ..)| c <= cost) {
                break;
            }
            if best[at.index()].is_none_or(|(c, ..)| c < cost) {
                continue;
            }
            let (start, end) = self.rows[at.index()];
            for edge in start..end {
                let next_cost = cost + 1 + u64::from(self.misses[edge as usize]);
                if !self.seen_edge[edge as usize] {
                    if goal.is_none_or(|(c, ..)| next_cost < c) {
                        goal = Some((next_cost, at, edge));
                    }
                    continue;
                }
                let target = self.edges[edge as usize].1;
                if best[target.index()].is_none_or(|(c, ..)| next_cost < c) {
                    best[target.index()] = Some((next_cost, Some(edge), at));
                    heap.push(Reverse((next_cost, target)));
                }
            }
        }
        if let Some((_, at, edge)) = goal {
            self.plan.push((at, edge));
            let mut at = at;
            while let Some((_, Some(edge), before)) = best[at.index()] {
                self.plan.push((before, edge));
                at = before;
            }
        }
    }

    /// The report; `left` lists at most so many transitions that were not seen.
    pub fn report<M: Semantics<State = StateId>>(
        &self,
        view: &Determinised<Suspension<M>>,
        left: usize,
    ) -> CoverageReport {
        let model = view.inner().inner();
        let (all_states, all_transitions) = self.of_model(view, |_, _| true, |_| true);
        let (states, transitions) = self.of_model(
            view,
            |set, label| self.has_seen(set, label),
            |set| self.seen_state[set.index()],
        );
        let left = self
            .sets()
            .flat_map(|set| self.row(set).iter().map(move |&(label, _)| (set, label)))
            .filter(|&(set, label)| !self.has_seen(set, label))
            .take(left)
            .map(|(set, label)| {
                let places: Vec<String> = view
                    .members(set)
                    .iter()
                    .map(|&s| location(model, s))
                    .collect();
                format!("{{{}}} {}", places.join(", "), model.labels().text(label))
            })
            .collect();
        CoverageReport {
            states: self.states,
            transitions: self.transitions,
            model_states: Count {
                seen: states.len(),
                total: all_states.len(),
            },
            model_transitions: Count {
                seen: transitions.len(),
                total: all_transitions.len(),
            },
            left,
        }
    }

    /// The transitions of the model that a run may have taken, as state, action and state.
    pub fn seen_of_model<M: Semantics<State = StateId>>(
        &self,
        view: &Determinised<Suspension<M>>,
    ) -> BTreeSet<(String, String, String)> {
        let model = view.inner().inner();
        let (_, transitions) = self.of_model(
            view,
            |set, label| self.has_seen(set, label),
            |set| self.seen_state[set.index()],
        );
        let text = |(source, label, target): ModelTransition| {
            let action = model.labels().text(label);
            (model.describe(&source), action, model.describe(&target))
        };
        transitions.into_iter().map(text).collect()
    }

    /// The states and transitions of the model under the chosen steps and sets.
    pub(crate) fn of_model<M: Semantics<State = StateId>>(
        &self,
        view: &Determinised<Suspension<M>>,
        edge: impl Fn(SetId, LabelId) -> bool,
        set_chosen: impl Fn(SetId) -> bool,
    ) -> (BTreeSet<StateId>, BTreeSet<ModelTransition>) {
        let model = view.inner().inner();
        let kinds = model.labels().kinds();
        let (mut states, mut transitions) = (BTreeSet::new(), BTreeSet::new());
        let mut row = Vec::new();
        for set in self.sets() {
            let chosen = set_chosen(set);
            for &state in view.members(set) {
                if chosen {
                    states.insert(state);
                }
                row.clear();
                model.successors(&state, &mut row);
                for &(label, target) in &row {
                    let taken = if kinds[label.index()] == LabelKind::Internal {
                        chosen
                    } else {
                        edge(set, label)
                    };
                    if taken {
                        transitions.insert((state, label, target));
                    }
                }
            }
        }
        (states, transitions)
    }
}

/// A transition of the model.
pub type ModelTransition = (StateId, LabelId, StateId);
