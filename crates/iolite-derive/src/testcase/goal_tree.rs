//! Test cases that follow a trace, and find back to it where the system chooses otherwise.

use std::collections::VecDeque;
use std::rc::Rc;

use iolite_lts::{LabelId, Semantics, SetId, StateId};
use rustc_hash::FxHashMap;

use crate::testcase::arena::Arena;
use crate::testcase::choice::{observe_state, stimulate_state};
use crate::{
    Coverage, FiniteOracle, IocoOracle, Meaning, Oracle, TestState, TestStateId, TestStep, Verdict,
};

/// Steps that a run may take more than the trace has.
const DETOUR: usize = 10;
/// States of one test case beside its trace; what would lead to more ends `inconc`.
const MOST_STATES: usize = 1000;
/// Sets that are looked at for one way back.
const MOST_SETS: usize = 10_000;
/// The same two once a suite is so large that its [`FREE_STATES`] and [`FREE_SETS`] are used up: what ways
/// back cost is then in proportion to the traces.
const FEW_STATES: usize = 50;
const FEW_SETS: usize = 64;
/// States beside the traces that a suite may have before its test cases get fewer.
const FREE_STATES: usize = 200_000;
/// Sets that may be looked at for ways back before they get fewer, and those that are remembered.
const FREE_SETS: usize = 4_000_000;

/// For sets that can be reached, how far they are and the first step there.
type Ways = FxHashMap<SetId, (usize, Option<LabelId>)>;

/// Makes test cases towards traces of the suspension automaton. A run that an allowed observation takes
/// off the trace goes on as long as the rest of the trace can be reached in [`DETOUR`] steps more; then
/// it ends `inconc`. It passes when the whole trace was seen; where a part of it had to be left out after a
/// detour, the rest is still tried, and the run ends `inconc`.
pub(crate) struct GoalTrees<'a, M: Semantics<State = StateId>> {
    oracle: &'a mut IocoOracle<M>,
    coverage: &'a Coverage,
    ways: FxHashMap<SetId, Rc<Ways>>,
    /// Sets in `ways`.
    remembered: usize,
    /// Sets looked at so far, and states beside traces made so far.
    looked_at: usize,
    beside: usize,
}

/// Where a run of the test case is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    set: SetId,
    /// How much of the trace is done.
    done: usize,
    /// Whether a part of that was left out.
    missed: bool,
    /// How many steps are left.
    left: usize,
}

impl Place {
    /// The verdict at the end of the trace.
    fn verdict(self) -> Verdict {
        if self.missed {
            Verdict::Inconc
        } else {
            Verdict::Pass
        }
    }
}

struct Tree<'t> {
    trace: &'t [LabelId],
    /// The sets along the trace: `sets[i]` is before its step `i`.
    sets: Vec<SetId>,
    /// Where each of these sets comes in it.
    positions: FxHashMap<SetId, Vec<usize>>,
    arena: Arena,
    known: FxHashMap<Place, TestStateId>,
    queue: VecDeque<(TestStateId, Place)>,
}

/// Where each set comes, in order.
fn positions(sets: &[SetId]) -> FxHashMap<SetId, Vec<usize>> {
    let mut positions: FxHashMap<SetId, Vec<usize>> = FxHashMap::default();
    for (m, &set) in sets.iter().enumerate() {
        positions.entry(set).or_default().push(m);
    }
    positions
}

impl Tree<'_> {
    /// Whether a run that comes here took the trace and nothing else.
    fn is_on_trace(&self, place: Place) -> bool {
        let steps = self.trace.len() + DETOUR - place.left;
        place.done == steps && self.sets[steps] == place.set
    }
}

impl<'a, M: Semantics<State = StateId>> GoalTrees<'a, M> {
    pub(crate) fn new(oracle: &'a mut IocoOracle<M>, coverage: &'a Coverage) -> Self {
        Self {
            oracle,
            coverage,
            ways: FxHashMap::default(),
            remembered: 0,
            looked_at: 0,
            beside: 0,
        }
    }

    pub(crate) fn oracle(&self) -> &IocoOracle<M> {
        self.oracle
    }

    /// The states of the test case towards a trace.
    pub(crate) fn states(&mut self, initial: SetId, trace: &[LabelId]) -> Vec<TestState> {
        let mut sets = vec![initial];
        for &label in trace {
            let at = sets[sets.len() - 1];
            let row = self.coverage.row(at);
            let Some(&(_, next)) = row.iter().find(|(l, _)| *l == label) else {
                break;
            };
            sets.push(next);
        }
        let mut tree = Tree {
            trace: &trace[..sets.len() - 1],
            positions: positions(&sets),
            sets,
            arena: Arena::default(),
            known: FxHashMap::default(),
            queue: VecDeque::new(),
        };
        let root = self.node(
            &mut tree,
            Place {
                set: initial,
                done: 0,
                missed: false,
                left: trace.len() + DETOUR,
            },
        );
        while let Some((id, place)) = tree.queue.pop_front() {
            let state = self.expand(&mut tree, place);
            tree.arena.states[id.index()] = state;
        }
        self.beside += tree.known.len().saturating_sub(trace.len());
        tree.arena.extract(root)
    }

    /// The state of the test case for a place.
    fn node(&mut self, tree: &mut Tree<'_>, place: Place) -> TestStateId {
        if let Some(&id) = tree.known.get(&place) {
            return id;
        }
        let done = place.done;
        let observed = |l: LabelId| self.oracle.labels().kind(l).is_observation();
        let id = if done == tree.trace.len() && tree.trace.last().is_none_or(|&l| observed(l)) {
            tree.arena.verdict(place.verdict())
        } else if done < tree.trace.len()
            && !tree.is_on_trace(place)
            && (tree.known.len() >= self.most_states() || self.step(tree, place).is_none())
        {
            tree.arena.verdict(Verdict::Inconc)
        } else {
            let id = tree.arena.hole();
            tree.queue.push_back((id, place));
            id
        };
        tree.known.insert(place, id);
        id
    }

    /// The next step from a place, and how much of the trace is done after it: the trace's own where
    /// the run is on it, else one that leads back to its earliest point within reach.
    fn step(&mut self, tree: &Tree<'_>, place: Place) -> Option<(LabelId, usize)> {
        let (done, left) = (place.done, place.left);
        let length = tree.trace.len();
        if tree.sets[done] == place.set && length - done <= left {
            return Some((tree.trace[done], done + 1));
        }
        let ways = self.ways_from(place.set);
        // The earliest point of the trace from which the rest fits into the steps that are left.
        let fits = |distance: usize, m: usize| distance + length - m <= left;
        let found = if ways.len() < length - done {
            let ways = ways.iter().filter_map(|(set, &(distance, first))| {
                let positions = tree.positions.get(set)?;
                let least = done.max((distance + length).saturating_sub(left));
                let m = *positions.get(positions.partition_point(|&m| m < least))?;
                (m < length).then_some((m, first))
            });
            ways.min_by_key(|&(m, _)| m)
        } else {
            (done..length).find_map(|m| {
                let &(distance, first) = ways.get(&tree.sets[m])?;
                fits(distance, m).then_some((m, first))
            })
        };
        found.map(|(m, first)| match first {
            None => (tree.trace[m], m + 1),
            Some(first) => (first, done),
        })
    }

    fn most_states(&self) -> usize {
        if self.beside < FREE_STATES {
            MOST_STATES
        } else {
            FEW_STATES
        }
    }

    fn expand(&mut self, tree: &mut Tree<'_>, place: Place) -> TestState {
        let Place { set: at, done, .. } = place;
        let left = place.left.saturating_sub(1);
        let Some((label, then)) = (done < tree.trace.len())
            .then(|| self.step(tree, place))
            .flatten()
        else {
            // The trace ends with a stimulus: whatever is right after it is the end.
            return observe_state(self.oracle, at, &mut tree.arena, &mut |arena, _| {
                arena.verdict(place.verdict())
            });
        };
        let after = |set: SetId, then: usize| Place {
            set,
            done: then,
            missed: place.missed || then > done + 1,
            left,
        };
        if !self.oracle.labels().kind(label).is_observation() {
            let row = self.coverage.row(at);
            let next = row.iter().find(|(l, _)| *l == label).map(|&(_, t)| t);
            let next = match next {
                Some(next) => self.node(tree, after(next, then)),
                None => tree.arena.verdict(Verdict::Inconc),
            };
            return stimulate_state(self.oracle, at, label, next);
        }
        let mut meanings = Vec::new();
        self.oracle.outputs_from(at, &mut meanings);
        meanings.push((LabelId::DELTA, self.oracle.meaning(at, LabelId::DELTA)));
        let mut targets: Vec<(LabelId, TestStateId)> = Vec::with_capacity(meanings.len());
        for (seen, meaning) in meanings {
            let target = match meaning {
                Meaning::Forbidden => tree.arena.verdict(Verdict::Fail),
                Meaning::Ends | Meaning::Unspecified => tree.arena.verdict(Verdict::Inconc),
                Meaning::Allowed(next) => {
                    let done = if seen == label { then } else { done };
                    self.node(tree, after(next, done))
                }
            };
            targets.push((seen, target));
        }
        let quiescence = targets.pop().map(|(_, target)| target);
        let places = self.oracle.places(&at);
        TestState {
            step: TestStep::Observe {
                outputs: targets,
                quiescence,
            },
            verdict: Verdict::Inconc,
            locations: places.locations,
            places: places.names,
        }
    }

    /// The shortest ways from a set.
    fn ways_from(&mut self, from: SetId) -> Rc<Ways> {
        if let Some(known) = self.ways.get(&from) {
            return Rc::clone(known);
        }
        let most = if self.looked_at < FREE_SETS {
            MOST_SETS
        } else {
            FEW_SETS
        };
        let mut ways = Ways::default();
        ways.insert(from, (0, None));
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            let (distance, first) = ways[&at];
            if ways.len() >= most {
                break;
            }
            for &(label, next) in self.coverage.row(at) {
                ways.entry(next).or_insert_with(|| {
                    queue.push_back(next);
                    (distance + 1, first.or(Some(label)))
                });
            }
        }
        self.looked_at += ways.len();
        self.remembered += ways.len();
        if self.remembered > FREE_SETS {
            self.remembered = ways.len();
            self.ways.clear();
        }
        let ways = Rc::new(ways);
        self.ways.insert(from, Rc::clone(&ways));
        ways
    }
}
