//! Suites that cover the determinised suspension automaton.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use iolite_lts::{
    BudgetExceeded, LabelId, Labels, Lts, QuiescencePolicy, SetId, Suspension, in_order, reachable,
};

use crate::location::places;
use crate::testcase::case_work::collected;
use crate::testcase::choice::numbered_case;
use crate::testcase::goal_tree::{ExploredAutomaton, GoalTrees, KnownWays, Ledger};
use crate::{CaseWork, Count, Coverage, FiniteOracle, IocoOracle, ModelRef, Oracle, TestCase};

/// What is to be covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoverageGoal {
    /// Every state of the determinised suspension automaton.
    States,
    /// Every transition of it.
    Transitions,
}

/// How to make a covering suite.
#[derive(Clone, Debug)]
pub struct CoverageSuite {
    /// What is to be covered.
    pub goal: CoverageGoal,
    /// Longest way of a test case; a run that the system takes off it may be a few steps longer.
    pub depth: usize,
    /// At most so many states of the automaton are looked at.
    pub limit: usize,
}

/// What a suite covers.
#[derive(Clone, Debug)]
pub struct Covered {
    /// What is covered when the system under test chooses as the test cases hope.
    pub covered: Count,
    /// What no test case of that depth covers, in words.
    pub uncovered: Vec<String>,
    /// States of the model that nothing reaches, in words.
    pub unreachable: Vec<String>,
    /// Whether all test cases were made; else somebody wanted no more of them.
    pub complete: bool,
}

/// A covering suite.
#[derive(Clone, Debug)]
pub struct CoveringSuite {
    /// The test cases, in the order in which they were chosen: each takes the shortest way to what is
    /// nearest to the start and not yet covered, and goes on to what is near while its depth lasts.
    pub cases: Vec<TestCase>,
    /// What is covered when the system under test chooses as the test cases hope.
    pub covered: Count,
    /// What no test case of that depth covers, in words.
    pub uncovered: Vec<String>,
    /// States of the model that nothing reaches, in words.
    pub unreachable: Vec<String>,
}

impl CoverageSuite {
    /// A depth that fits a model of so many transitions: large models get long test cases, so that
    /// there are not too many of them.
    pub fn fitting_depth(transitions: usize) -> usize {
        (transitions / 50).clamp(20, 500)
    }

    /// Makes the suite for an explicit model.
    pub fn derive(
        &self,
        specification: &Lts,
        policy: QuiescencePolicy,
        model: &ModelRef,
    ) -> Result<CoveringSuite, BudgetExceeded> {
        let (cases, done) = collected(|work| self.derive_each(specification, policy, model, work));
        let done = done?;
        Ok(CoveringSuite {
            cases,
            covered: done.covered,
            uncovered: done.uncovered,
            unreachable: done.unreachable,
        })
    }

    /// The same by several threads, without keeping the test cases: each is published when it is made. The suite does not depend on the number of threads: what is covered by which
    /// test case is decided one after the other, and the rest by what `Ledger` says.
    pub fn derive_each(
        &self,
        specification: &Lts,
        policy: QuiescencePolicy,
        model: &ModelRef,
        work: CaseWork<'_>,
    ) -> Result<Covered, BudgetExceeded> {
        let mut oracle = IocoOracle::new(specification, policy);
        let others = match policy {
            // This policy reports the livelock that one view meets first.
            QuiescencePolicy::Strict => 0,
            QuiescencePolicy::Livelock | QuiescencePolicy::Fair => work.helpers(),
        };
        let others = vec![Suspension::new(specification, policy); others];
        oracle.view_mut().explore(others, self.limit, &mut |_| ());
        let coverage = Coverage::explore(oracle.view_mut(), self.limit)?;
        let labels = Arc::new(oracle.labels().clone());
        let outputs: Vec<LabelId> = labels.outputs().collect();
        let mut wanted = Wanted::new(self.goal, &coverage, &labels, self.depth);
        let automaton = ExploredAutomaton {
            specification,
            coverage: &coverage,
            members: oracle.view().set_members(),
            outputs: &outputs,
        };
        let ledger = Mutex::new(Ledger::default());
        let locked = || ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let traces = (0..).map_while(|number| {
            let trace = wanted.next_trace()?;
            Some((number, trace, locked().before(number)))
        });
        let criterion = oracle.criterion();
        let make = |trees: &mut GoalTrees<'_>, (number, trace, spent): (usize, Vec<_>, _)| {
            let (states, needed) = trees.states(&trace, spent);
            let case = numbered_case(criterion, model, &labels, number + 1, states);
            ((work.store)(case), needed)
        };
        let known_ways = KnownWays::default();
        let trees = || GoalTrees::new(automaton, &known_ways, work.jobs.get());
        let mut own = trees();
        let helper = |_| {
            let mut trees = trees();
            move |item| make(&mut trees, item)
        };
        let end = in_order(
            traces,
            &mut |item| make(&mut own, item),
            (0..work.helpers()).map(helper).collect(),
            &Ledger::until,
            &mut |(publish, needed)| {
                locked().note(&needed);
                publish()
            },
        );
        let given = locked().made();
        wanted.forget_after(given);
        let uncovered = wanted.left(&oracle);
        let seen = reachable(specification);
        let unreachable = specification
            .states()
            .filter(|s| !seen[s.index()])
            .map(|s| crate::location(specification, s))
            .collect();
        Ok(Covered {
            covered: Count {
                seen: wanted.total - uncovered.len(),
                total: wanted.total,
            },
            uncovered,
            unreachable,
            complete: end.is_continue(),
        })
    }
}

/// Sets that are looked at for the next thing to cover from where a test case is. What is further away
/// is left to another test case: a search that may go through the whole automaton for each of its
/// transitions would be quadratic.
const NEARBY: usize = 512;

/// What a trace covers that none before it did.
#[derive(Default)]
struct Newly {
    edges: Vec<(SetId, usize)>,
    sets: Vec<SetId>,
}

/// A set that a search has met.
#[derive(Clone, Copy)]
struct Met {
    set: SetId,
    /// The step by which it was met, and the place in the search of the set that has it. The first has none.
    label: LabelId,
    before: u32,
    /// How many steps there are before it.
    length: u32,
}

/// What is left to cover, and the ways there.
struct Wanted<'a> {
    coverage: &'a Coverage,
    labels: &'a Labels,
    depth: usize,
    /// The steps that are wanted for themselves, by number.
    edges: Vec<bool>,
    /// The sets that are, and whether any ever was: a look at the set of each step waits for memory.
    sets: Vec<bool>,
    goes_for_sets: bool,
    /// How many of both are left, and how many there were.
    left: usize,
    total: usize,
    /// What the latest traces cover that none before them did, and how many traces there were.
    latest: VecDeque<Newly>,
    traces: usize,
    /// The one search from the start: its sets in the order it met them, and how it came to each.
    order: Vec<SetId>,
    before: Vec<Option<(SetId, LabelId)>>,
    distance: Vec<u32>,
    /// The first of `order` that may have a wanted step. What is covered stays covered, and a step that is
    /// too deep for a new test case is too deep for all, so this never goes back.
    next: usize,
    /// How many steps of each set are wanted for themselves: most sets of a search have none, and need no look at their steps.
    open: Vec<u32>,
    /// For each set the last search of [`Wanted::nearby`] that met it.
    seen: Vec<u32>,
    round: u32,
    /// The sets that a search has met, in order.
    met: Vec<Met>,
    /// For each set up to which depth [`Wanted::nearby`] found nothing from it. Less and less is wanted, so it never will.
    in_vain: Vec<u32>,
}

impl<'a> Wanted<'a> {
    fn new(goal: CoverageGoal, coverage: &'a Coverage, labels: &'a Labels, depth: usize) -> Self {
        let (edges, sets) = coverage.size();
        let mut wanted = Self {
            coverage,
            labels,
            depth,
            edges: vec![goal == CoverageGoal::Transitions; edges],
            sets: vec![false; sets],
            goes_for_sets: goal == CoverageGoal::States,
            left: 0,
            total: 0,
            latest: VecDeque::new(),
            traces: 0,
            order: Vec::new(),
            before: vec![None; sets],
            distance: vec![u32::MAX; sets],
            next: 0,
            open: vec![0; sets],
            seen: vec![0; sets],
            round: 0,
            met: Vec::new(),
            in_vain: vec![0; sets],
        };
        let initial = coverage.initial();
        wanted.total = edges;
        if goal == CoverageGoal::States {
            wanted.total = 0;
            for set in coverage.sets() {
                wanted.sets[set.index()] = true;
                wanted.total += 1;
            }
        } else {
            for set in coverage.sets() {
                wanted.open[set.index()] = coverage.row(set).len() as u32;
            }
        }
        wanted.left = wanted.total;
        wanted.cover_set(initial);
        wanted.distance[initial.index()] = 0;
        wanted.order.push(initial);
        let mut next = 0;
        while let Some(&set) = wanted.order.get(next) {
            next += 1;
            for &(label, target) in coverage.row(set) {
                if wanted.distance[target.index()] == u32::MAX {
                    wanted.distance[target.index()] = wanted.distance[set.index()] + 1;
                    wanted.before[target.index()] = Some((set, label));
                    wanted.order.push(target);
                }
            }
        }
        wanted
    }

    fn cover_set(&mut self, set: SetId) -> bool {
        let is_new = std::mem::take(&mut self.sets[set.index()]);
        self.left -= usize::from(is_new);
        is_new
    }

    fn cover(&mut self, source: SetId, edge: usize, target: SetId, newly: &mut Newly) {
        if std::mem::take(&mut self.edges[edge]) {
            self.left -= 1;
            self.open[source.index()] -= 1;
            newly.edges.push((source, edge));
        }
        if self.cover_set(target) {
            newly.sets.push(target);
        }
    }

    /// Takes back what traces after so many cover: other threads may have asked for some that nobody wanted
    /// in the end.
    fn forget_after(&mut self, traces: usize) {
        for _ in traces..self.traces {
            let newly = self.latest.pop_back().unwrap_or_default();
            self.left += newly.edges.len() + newly.sets.len();
            for (source, edge) in newly.edges {
                self.edges[edge] = true;
                self.open[source.index()] += 1;
            }
            for set in newly.sets {
                self.sets[set.index()] = true;
            }
        }
        self.traces = self.traces.min(traces);
    }

    /// The first wanted step of a set for which `length` steps before it are not too many.
    fn wanted_of(&self, set: SetId, length: usize, depth: usize) -> Option<(LabelId, SetId)> {
        if self.open[set.index()] == 0 && !self.goes_for_sets {
            return None;
        }
        let row = self.coverage.row(set).iter();
        let mut steps = self.coverage.numbers(set).zip(row);
        let found = steps.find(|&(edge, &(label, target))| {
            // A stimulus is followed by an observation of what it does.
            let own = if self.labels.kind(label).is_observation() {
                1
            } else {
                2
            };
            length + own <= depth
                && (self.edges[edge] || self.goes_for_sets && self.sets[target.index()])
        });
        found.map(|(_, &step)| step)
    }

    /// The way of the one search tree to what is wanted and nearest to the start.
    fn first_way(&mut self) -> Option<Vec<(LabelId, SetId)>> {
        let (last, set) = loop {
            let &set = self.order.get(self.next)?;
            let length = self.distance[set.index()] as usize;
            match self.wanted_of(set, length, self.depth) {
                Some(step) => break (step, set),
                None => self.next += 1,
            }
        };
        let mut way = vec![last];
        let mut at = set;
        while let Some((before, label)) = self.before[at.index()] {
            way.push((label, at));
            at = before;
        }
        way.reverse();
        Some(way)
    }

    /// The shortest way from `from`, within `depth` steps, over something wanted nearby.
    fn nearby(&mut self, from: SetId, depth: usize) -> Option<Vec<(LabelId, SetId)>> {
        if self.left == 0 || depth <= self.in_vain[from.index()] as usize {
            return None;
        }
        let way = self.search_nearby(from, depth);
        if way.is_none() {
            self.in_vain[from.index()] = u32::try_from(depth).unwrap_or(u32::MAX);
        }
        way
    }

    /// Breadth first over the first [`NEARBY`] sets. Each is looked at when it is met, so that the search ends
    /// before the steps of those are read that are met last.
    fn search_nearby(&mut self, from: SetId, depth: usize) -> Option<Vec<(LabelId, SetId)>> {
        if let Some(step) = self.wanted_of(from, 0, depth) {
            return Some(vec![step]);
        }
        self.round += 1;
        self.seen[from.index()] = self.round;
        self.met.clear();
        self.met.push(Met {
            set: from,
            label: LabelId::DELTA,
            before: 0,
            length: 0,
        });
        let coverage = self.coverage;
        let mut next = 0;
        while let Some(&Met { set, length, .. }) = self.met.get(next) {
            let length = length + 1;
            // Deeper sets have no step that is short enough.
            if length as usize >= depth {
                return None;
            }
            for &(label, target) in coverage.row(set) {
                let seen = &mut self.seen[target.index()];
                if std::mem::replace(seen, self.round) == self.round {
                    continue;
                }
                if self.met.len() == NEARBY {
                    return None;
                }
                self.met.push(Met {
                    set: target,
                    label,
                    before: next as u32,
                    length,
                });
                if let Some(last) = self.wanted_of(target, length as usize, depth) {
                    return Some(self.way_by(last));
                }
            }
            next += 1;
        }
        None
    }

    /// The way of the search to the set that it met last, and a step from there.
    fn way_by(&self, last: (LabelId, SetId)) -> Vec<(LabelId, SetId)> {
        let mut way = vec![last];
        let mut at = self.met.len() - 1;
        while at > 0 {
            let met = self.met[at];
            way.push((met.label, met.set));
            at = met.before as usize;
        }
        way.reverse();
        way
    }

    /// The greedy trace: what is nearest to the start first, then what is nearest from there; what it
    /// covers is wanted no more.
    fn next_trace(&mut self) -> Option<Vec<LabelId>> {
        let mut trace = Vec::new();
        let mut newly = Newly::default();
        let mut at = self.coverage.initial();
        let mut way = self.first_way();
        while let Some(steps) = way {
            for (label, target) in steps {
                if let Some(edge) = self.coverage.number(at, label) {
                    self.cover(at, edge, target, &mut newly);
                }
                trace.push(label);
                at = target;
            }
            way = self.nearby(at, self.depth.saturating_sub(trace.len()));
        }
        if trace.is_empty() {
            return None;
        }
        if self.latest.len() > Ledger::WINDOW {
            self.latest.pop_front();
        }
        self.latest.push_back(newly);
        self.traces += 1;
        Some(trace)
    }

    /// What is left, in words.
    fn left<M>(&self, oracle: &IocoOracle<M>) -> Vec<String>
    where
        M: iolite_lts::Semantics<State = iolite_lts::StateId>,
    {
        let mut left = Vec::new();
        let places = |set| format!("{{{}}}", places(oracle.view(), set).locations.join(", "));
        for set in self.coverage.sets() {
            if self.sets[set.index()] {
                left.push(places(set));
            }
            let row = self.coverage.row(set).iter();
            for (edge, &(label, _)) in self.coverage.numbers(set).zip(row) {
                if self.edges[edge] {
                    left.push(format!("{} {}", places(set), oracle.labels().text(label)));
                }
            }
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolite_lts::{LtsBuilder, StateId};

    /// Searches that are known to be in vain are left out, and nothing else: the traces are those of a search each time.
    #[test]
    fn what_is_known_to_be_in_vain_makes_no_difference() {
        let mut number = 0x2545_F491_4F6C_DD1D_u64;
        let mut random = |below: usize| {
            number ^= number << 13;
            number ^= number >> 7;
            number ^= number << 17;
            (number % below as u64) as usize
        };
        let mut left_out = 0;
        for _ in 0..60 {
            let mut builder = LtsBuilder::new();
            for _ in 0..40 {
                let (source, target) = (StateId::new(random(16)), StateId::new(random(16)));
                builder.transition_text(source, ["?a", "?b", "!x", "!y", "i"][random(5)], target);
            }
            let lts = builder.build().unwrap();
            let mut oracle = IocoOracle::new(&lts, QuiescencePolicy::Livelock);
            let coverage = Coverage::explore(oracle.view_mut(), 10_000).unwrap();
            for goal in [CoverageGoal::States, CoverageGoal::Transitions] {
                let depth = 1 + random(12);
                let new = || Wanted::new(goal, &coverage, lts.labels(), depth);
                let (mut knowing, mut searching) = (new(), new());
                loop {
                    // What is in vain is known only from the ends of traces before.
                    searching.in_vain.fill(0);
                    let trace = searching.next_trace();
                    assert_eq!(knowing.next_trace(), trace);
                    if trace.is_none() {
                        break;
                    }
                }
                left_out += searching.round - knowing.round;
            }
        }
        assert!(left_out > 100, "{left_out} searches were left out");
    }

    /// The search from its definition: sets one after the other, each looked at when its turn comes.
    fn searched(wanted: &Wanted<'_>, from: SetId, depth: usize) -> Option<Vec<(LabelId, SetId)>> {
        let mut ways = vec![(from, Vec::new())];
        for turn in 0..NEARBY {
            let (set, way) = ways.get(turn)?.clone();
            if let Some(step) = wanted.wanted_of(set, way.len(), depth) {
                return Some([way.as_slice(), &[step]].concat());
            }
            for &(label, target) in wanted.coverage.row(set) {
                if ways.iter().all(|(known, _)| *known != target) {
                    ways.push((target, [way.as_slice(), &[(label, target)]].concat()));
                }
            }
        }
        None
    }

    #[test]
    fn the_search_nearby_is_the_one_of_its_definition() {
        let mut number = 0x9E37_79B9_7F4A_7C15_u64;
        let mut random = |below: usize| {
            number ^= number << 13;
            number ^= number >> 7;
            number ^= number << 17;
            (number % below as u64) as usize
        };
        let (mut found, mut in_vain) = (0, 0);
        // The largest have more sets than are looked at.
        for states in [5, 30, 900] {
            let mut builder = LtsBuilder::new();
            // Deterministic, so that there are not many more sets than states.
            for source in 0..states {
                for text in ["?a", "?b", "!x", "!y"] {
                    if random(4) > 0 {
                        let target = StateId::new(random(states));
                        builder.transition_text(StateId::new(source), text, target);
                    }
                }
            }
            let lts = builder.build().unwrap();
            let mut oracle = IocoOracle::new(&lts, QuiescencePolicy::Livelock);
            let coverage = Coverage::explore(oracle.view_mut(), 10_000).unwrap();
            for goal in [CoverageGoal::States, CoverageGoal::Transitions] {
                let mut wanted = Wanted::new(goal, &coverage, lts.labels(), 30);
                let sets: Vec<SetId> = coverage.sets().collect();
                while wanted.next_trace().is_some() {
                    for _ in 0..random(6) {
                        let (from, depth) = (sets[random(sets.len())], random(25));
                        let expected = searched(&wanted, from, depth);
                        assert_eq!(wanted.search_nearby(from, depth), expected);
                        found += usize::from(expected.is_some());
                        in_vain += usize::from(expected.is_none());
                    }
                }
            }
        }
        assert!(
            found > 50 && in_vain > 50,
            "{found} found, {in_vain} in vain"
        );
    }
}
