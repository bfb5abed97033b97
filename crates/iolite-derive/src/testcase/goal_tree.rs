//! Test cases that follow a trace, and find back to it where the system chooses otherwise.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use iolite_lts::{LabelId, Lts, SetId, SetMembers};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::location::places_of;
use crate::testcase::arena::Arena;
use crate::{Coverage, Places, TestState, TestStateId, TestStep, Verdict};

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

/// For sets that can be reached, how far they are and the first step there; the set itself has none, and says δ.
type Ways = FxHashMap<SetId, (u32, LabelId)>;

/// Long lists of ways that threads have found, so that each is found once.
#[derive(Debug, Default)]
pub(crate) struct KnownWays(Mutex<FxHashMap<SetId, Arc<Ways>>>);

impl KnownWays {
    fn lock(&self) -> MutexGuard<'_, FxHashMap<SetId, Arc<Ways>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The determinised suspension automaton of a specification, explored, as several threads may read it.
#[derive(Clone, Copy)]
pub(crate) struct ExploredAutomaton<'a> {
    pub(crate) specification: &'a Lts,
    pub(crate) coverage: &'a Coverage,
    pub(crate) members: SetMembers<'a>,
    /// The outputs of the specification, in order.
    pub(crate) outputs: &'a [LabelId],
}

impl ExploredAutomaton<'_> {
    fn places(&self, set: SetId) -> Places {
        places_of(&self.specification, self.members.of(set))
    }

    fn is_observation(&self, label: LabelId) -> bool {
        self.specification.labels().kind(label).is_observation()
    }

    /// Choice 2 of the algorithm: a stimulus, and failing verdicts on outputs that come first and are wrong.
    fn stimulate(&self, at: SetId, stimulus: LabelId, next: TestStateId) -> TestState {
        let wrong = |output: &LabelId| self.coverage.after(at, *output).is_none();
        let preempted = self.outputs.iter().copied().filter(wrong);
        let places = self.places(at).shared();
        TestState {
            step: TestStep::Stimulate {
                stimulus,
                next,
                preempted: preempted.map(|output| (output, Verdict::Fail)).collect(),
            },
            verdict: Verdict::Pass,
            locations: places.locations,
            places: places.names,
        }
    }

    /// Choice 3: all outputs and θ; `grow` gives the state in which a right observation goes on.
    fn observe(
        &self,
        at: SetId,
        mut grow: impl FnMut(Option<(LabelId, SetId)>) -> TestStateId,
    ) -> TestState {
        let mut target =
            |seen: LabelId| grow(self.coverage.after(at, seen).map(|next| (seen, next)));
        let outputs = self.outputs.iter().map(|&output| (output, target(output)));
        let outputs = outputs.collect();
        let quiescence = Some(target(LabelId::DELTA));
        let places = self.places(at).shared();
        TestState {
            step: TestStep::Observe {
                outputs,
                quiescence,
            },
            // ν of a state from which θ leads on is never a run's verdict; "not ended" is what it is.
            verdict: Verdict::Inconc,
            locations: places.locations,
            places: places.names,
        }
    }
}

/// What the test cases of a suite have used up of what is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    /// Sets looked at for ways back, those from one set counted once.
    looked_at: usize,
    /// States beside the traces.
    beside: usize,
}

/// What one test case needed.
#[derive(Debug, Default)]
pub(crate) struct Needed {
    /// The sets that ways were asked from, with the number of sets looked at.
    ways: Vec<(SetId, usize)>,
    beside: usize,
}

/// What suites have used up after each of their test cases.
///
/// Threads make test cases at the same time, and the suite may not depend on how many there are. So a
/// test case is made by what the suite had spent some test cases before it, whether or not these
/// are made already: at first as many as half of those there are, later [`Ledger::WINDOW`].
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    now: Spent,
    after: Vec<Spent>,
    /// The sets that ways were asked from so far.
    asked: Vec<bool>,
}

impl Ledger {
    /// Test cases that may be made at a time.
    pub(crate) const WINDOW: usize = 16;

    /// How many test cases were made.
    pub(crate) fn made(&self) -> usize {
        self.after.len()
    }

    /// The number of the first test case that has to wait where so many were made.
    pub(crate) fn until(made: usize) -> usize {
        (2 * made).min(made + Self::WINDOW) + 1
    }

    /// What counts as spent for the test case with this number, from 0 on.
    pub(crate) fn before(&self, number: usize) -> Spent {
        let known = number.div_ceil(2).max(number.saturating_sub(Self::WINDOW));
        let last = known.checked_sub(1).map(|last| self.after[last]);
        last.unwrap_or_default()
    }

    /// Notes what the next test case needed.
    pub(crate) fn note(&mut self, needed: &Needed) {
        self.now.beside += needed.beside;
        if self.now.looked_at < FREE_SETS {
            for &(set, looked_at) in &needed.ways {
                if self.asked.len() <= set.index() {
                    self.asked.resize(set.index() + 1, false);
                }
                if !std::mem::replace(&mut self.asked[set.index()], true) {
                    self.now.looked_at += looked_at;
                }
            }
        }
        self.after.push(self.now);
    }
}

/// Makes test cases towards traces of the suspension automaton. A run that an allowed observation takes
/// off the trace goes on as long as the rest of the trace can be reached in [`DETOUR`] steps more; then
/// it ends `inconc`. It passes when the whole trace was seen; where a part of it had to be left out after a
/// detour, the rest is still tried, and the run ends `inconc`.
pub(crate) struct GoalTrees<'a> {
    automaton: ExploredAutomaton<'a>,
    /// The ways that were asked for, by the most sets that were looked at.
    ways: FxHashMap<(SetId, usize), Arc<Ways>>,
    /// What all threads know.
    known_ways: &'a KnownWays,
    /// Sets in `ways`, and how many these may be.
    remembered: usize,
    memory: usize,
    /// For each set the last search for ways that met it.
    seen: Vec<u32>,
    round: u32,
    /// The sets that a search has met, with how far they are and the first step there.
    met: Vec<(SetId, u32, LabelId)>,
    /// What was spent before, and what the present test case needs.
    spent: Spent,
    needed: Needed,
    asked: FxHashSet<SetId>,
    looked_at: usize,
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
    queue: VecDeque<(TestStateId, Place, Option<Planned>)>,
}

/// A step that was looked for when its place was met.
#[derive(Clone, Copy)]
struct Planned {
    step: (LabelId, usize),
    /// How many sets were looked at for it at most.
    most: usize,
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
    /// A state that is filled in when its turn comes.
    fn later(&mut self, place: Place, planned: Option<Planned>) -> TestStateId {
        let id = self.arena.hole();
        self.queue.push_back((id, place, planned));
        id
    }

    /// Whether a run that comes here took the trace and nothing else.
    fn is_on_trace(&self, place: Place) -> bool {
        let steps = self.trace.len() + DETOUR - place.left;
        place.done == steps && self.sets[steps] == place.set
    }
}

impl<'a> GoalTrees<'a> {
    /// `sharing` threads have trees like these.
    pub(crate) fn new(
        automaton: ExploredAutomaton<'a>,
        known_ways: &'a KnownWays,
        sharing: usize,
    ) -> Self {
        let (_, sets) = automaton.coverage.size();
        Self {
            automaton,
            ways: FxHashMap::default(),
            known_ways,
            remembered: 0,
            memory: FREE_SETS / sharing,
            seen: vec![0; sets],
            round: 0,
            met: Vec::new(),
            spent: Spent::default(),
            needed: Needed::default(),
            asked: FxHashSet::default(),
            looked_at: 0,
        }
    }

    /// The states of the test case towards a trace, where so much was spent before, and what it needed.
    /// What is remembered of other test cases makes no difference.
    pub(crate) fn states(&mut self, trace: &[LabelId], spent: Spent) -> (Vec<TestState>, Needed) {
        let initial = self.automaton.coverage.initial();
        self.spent = spent;
        self.asked.clear();
        self.looked_at = 0;
        let mut sets = vec![initial];
        for &label in trace {
            let at = sets[sets.len() - 1];
            let Some(next) = self.automaton.coverage.after(at, label) else {
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
        while let Some((id, place, planned)) = tree.queue.pop_front() {
            let state = self.expand(&mut tree, place, planned);
            tree.arena.states[id.index()] = state;
        }
        self.needed.beside = tree.known.len().saturating_sub(trace.len());
        let needed = std::mem::take(&mut self.needed);
        (tree.arena.into_states(root), needed)
    }

    /// The state of the test case for a place.
    fn node(&mut self, tree: &mut Tree<'_>, place: Place) -> TestStateId {
        if let Some(&id) = tree.known.get(&place) {
            return id;
        }
        let done = place.done;
        let observed = |l: LabelId| self.automaton.is_observation(l);
        let id = if done == tree.trace.len() && tree.trace.last().is_none_or(|&l| observed(l)) {
            tree.arena.verdict(place.verdict())
        } else if done == tree.trace.len() || tree.is_on_trace(place) {
            tree.later(place, None)
        } else if tree.known.len() >= self.most_states() {
            tree.arena.verdict(Verdict::Inconc)
        } else {
            let most = self.most_sets();
            match self.step(tree, place) {
                None => tree.arena.verdict(Verdict::Inconc),
                Some(step) => tree.later(place, Some(Planned { step, most })),
            }
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
        let fits = |distance: u32, m: usize| distance as usize + length - m <= left;
        let found = if ways.len() < length - done {
            let ways = ways.iter().filter_map(|(set, &(distance, first))| {
                let positions = tree.positions.get(set)?;
                let least = done.max((distance as usize + length).saturating_sub(left));
                let m = *positions.get(positions.partition_point(|&m| m < least))?;
                (m < length).then_some((m, distance, first))
            });
            ways.min_by_key(|&(m, ..)| m)
        } else {
            (done..length).find_map(|m| {
                let &(distance, first) = ways.get(&tree.sets[m])?;
                fits(distance, m).then_some((m, distance, first))
            })
        };
        found.map(|(m, distance, first)| match distance {
            0 => (tree.trace[m], m + 1),
            _ => (first, done),
        })
    }

    fn most_states(&self) -> usize {
        if self.spent.beside < FREE_STATES {
            MOST_STATES
        } else {
            FEW_STATES
        }
    }

    fn expand(&mut self, tree: &mut Tree<'_>, place: Place, planned: Option<Planned>) -> TestState {
        let Place { set: at, done, .. } = place;
        let left = place.left.saturating_sub(1);
        // The step counts as long as no fewer sets may be looked at than when it was found.
        let planned = planned.filter(|planned| planned.most == self.most_sets());
        let step = match planned {
            Some(planned) => Some(planned.step),
            None if done < tree.trace.len() => self.step(tree, place),
            None => None,
        };
        let Some((label, then)) = step else {
            // The trace ends with a stimulus: whatever is right after it is the end.
            return self.automaton.observe(at, |right| {
                let right = right.map(|_| place.verdict());
                tree.arena.verdict(right.unwrap_or(Verdict::Fail))
            });
        };
        let after = |set: SetId, then: usize| Place {
            set,
            done: then,
            missed: place.missed || then > done + 1,
            left,
        };
        let automaton = self.automaton;
        if !automaton.is_observation(label) {
            let next = match automaton.coverage.after(at, label) {
                Some(next) => self.node(tree, after(next, then)),
                None => tree.arena.verdict(Verdict::Inconc),
            };
            return automaton.stimulate(at, label, next);
        }
        automaton.observe(at, |right| match right {
            None => tree.arena.verdict(Verdict::Fail),
            Some((seen, next)) => {
                let done = if seen == label { then } else { done };
                self.node(tree, after(next, done))
            }
        })
    }

    /// How many sets are looked at for a way back.
    fn most_sets(&self) -> usize {
        if self.spent.looked_at + self.looked_at < FREE_SETS {
            MOST_SETS
        } else {
            FEW_SETS
        }
    }

    /// The shortest ways from a set.
    fn ways_from(&mut self, from: SetId) -> Arc<Ways> {
        let most = self.most_sets();
        let ways = match self.ways.get(&(from, most)) {
            Some(known) => Arc::clone(known),
            None => self.find_ways(from, most),
        };
        if self.asked.insert(from) {
            self.looked_at += ways.len();
            self.needed.ways.push((from, ways.len()));
        }
        ways
    }

    fn find_ways(&mut self, from: SetId, most: usize) -> Arc<Ways> {
        let known_ways = self.known_ways;
        let known = (most == MOST_SETS).then(|| known_ways.lock().get(&from).cloned());
        let ways = known.flatten().unwrap_or_else(|| {
            let ways = Arc::new(self.search_ways(from, most));
            if most == MOST_SETS {
                known_ways.lock().insert(from, Arc::clone(&ways));
            }
            ways
        });
        self.remembered += ways.len();
        if self.remembered > self.memory {
            self.remembered = ways.len();
            self.ways.clear();
            known_ways.lock().clear();
        }
        self.ways.insert((from, most), Arc::clone(&ways));
        ways
    }

    /// Breadth first, until so many sets were met.
    fn search_ways(&mut self, from: SetId, most: usize) -> Ways {
        self.round += 1;
        self.seen[from.index()] = self.round;
        self.met.clear();
        self.met.push((from, 0, LabelId::DELTA));
        let mut next = 0;
        while let Some(&(at, distance, first)) = self.met.get(next)
            && self.met.len() < most
        {
            next += 1;
            for &(label, target) in self.automaton.coverage.row(at) {
                let seen = &mut self.seen[target.index()];
                if std::mem::replace(seen, self.round) != self.round {
                    let first = if distance == 0 { label } else { first };
                    self.met.push((target, distance + 1, first));
                }
            }
        }
        let met = self.met.iter();
        met.map(|&(set, distance, first)| (set, (distance, first)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_as_spent_is_known_when_work_may_begin() {
        for made in 0..200 {
            for number in 0..Ledger::until(made) {
                let known = number
                    .div_ceil(2)
                    .max(number.saturating_sub(Ledger::WINDOW));
                assert!(known <= made, "{number} after {made}");
            }
        }
    }
}
