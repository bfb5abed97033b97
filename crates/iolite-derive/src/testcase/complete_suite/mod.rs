//! Suites that every implementation fails which does not conform and has at most so many states.

mod automaton;
mod distinction;
mod plan;

use std::collections::VecDeque;
use std::sync::Arc;

use iolite_lts::{BudgetExceeded, LabelId};
use rustc_hash::FxHashMap;

use self::automaton::{Automaton, Before, Quotient, common};
use self::distinction::{Choice, Distinction};
use self::plan::{Plan, PlanId, Plans};
use crate::testcase::arena::Arena;
use crate::testcase::case_work::{AT_A_TIME, collected};
use crate::testcase::choice::{numbered_case, observe_state, redirect, stimulate_state};
use crate::{CaseWork, FiniteOracle, ModelRef, TestCase, TestStateId, Verdict};

/// A complete suite for ioco or uioco: the W method carried over to suspension automata, by counting states.
///
/// **Fault domain.** Implementations that are input-enabled and whose determinised suspension automaton has at
/// most m states, where m is the number of states n of the specification's automaton, states with the same futures being
/// one, and [`extra`](Self::extra) more. Within it the suite is complete: an implementation passes every test case, in all its test runs
/// ([`test_runs`](crate::test_runs)), if and only if it conforms. On a real system, which chooses by itself what it
/// shows, "all its test runs" is an assumption: each test case has to be repeated until everything was seen that
/// the system does.
///
/// **How.** An implementation need not show every output that the specification allows, so a state of the specification
/// need not be reached, and one state of the implementation may stand for several. Hence
///
/// - V: the states that a tester reaches whatever a conforming implementation shows (adaptively);
/// - states are *told apart* if there is an experiment that no state of an implementation passes as both;
/// - from each state of V every continuation is explored, with the experiments that tell its states apart after each
///   step, until some set R of states that are pairwise told apart was visited m − |V ∩ R| + 1 times.
///
/// Why that is enough: take a failure after v·w, where v leads to V and w is as short as possible over all v.
/// The pairs of states (implementation, specification) along w are distinct, and distinct from those after each v.
/// Of those with a state in R, no two have the same state of the implementation, since it would have passed
/// an experiment that it cannot pass as both. So w visits R at most m − |V ∩ R| times, and was explored.
///
/// With m = n, all states reached and all told apart, this is the W method's P·L·W. The idea of complete suites for
/// ioco is of van den Bos, Janssen and Moerman; counting states for specifications that leave choices open, of Petrenko
/// and Yevtushenko, and of Hierons.
#[derive(Clone, Debug)]
pub struct CompleteSuite {
    /// States that an implementation may have beyond those of the specification.
    pub extra: usize,
    /// At most so many test cases.
    pub limit: usize,
    /// At most so many states of the specification's automaton.
    pub states: usize,
}

/// What a complete suite came to.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Completeness {
    /// n: the states of the specification's automaton, those with the same futures being one.
    pub states: usize,
    /// m: an implementation has at most so many.
    pub bound: usize,
    /// |V|: the states that are reached whatever a conforming implementation shows.
    pub reached: usize,
    /// The size of the largest set of states used of which every two are told apart.
    pub told_apart: usize,
    /// The test cases.
    pub cases: usize,
    /// Whether these are all. If not, a limit was hit, and the suite is not complete.
    pub complete: bool,
}

/// Steps of a way to a state of V, and of a continuation, at most. A state that is further away does not count
/// as reached; a continuation that would be longer makes the suite incomplete.
const LONGEST: usize = 500;

impl CompleteSuite {
    /// Derives the suite by several threads, without keeping the test cases. They are made one after the other, while
    /// others check and store those before.
    pub fn derive_each<O: FiniteOracle<State: Send + Sync> + Send>(
        &self,
        oracle: &mut O,
        model: &ModelRef,
        work: CaseWork<'_>,
    ) -> Result<Completeness, BudgetExceeded> {
        let whole = Automaton::explore(oracle, self.states)?;
        let Quotient {
            automaton,
            class_of,
        } = whole.quotient();
        let distinction = Distinction::new(&automaton);
        let count = automaton.len();
        let before = Before::new(&automaton);
        let ways: Vec<Option<Way>> = (0..count)
            .map(|state| Way::to(&automaton, &before, state))
            .collect();
        let reached: Vec<bool> = ways.iter().map(Option::is_some).collect();
        let search = Search::new(&automaton, &distinction, &reached, self, count + self.extra);
        let labels = Arc::new(oracle.labels().clone());
        let criterion = oracle.criterion();
        let mut cases = CompleteCases {
            oracle,
            whole: &whole,
            class_of: &class_of,
            ways: &ways,
            search,
            next: 0,
            plans: Vec::new().into_iter(),
            left: self.limit,
        };
        let make = |(n, (arena, root)): (usize, (Arena, TestStateId))| {
            numbered_case(criterion, model, &labels, n, arena.into_states(root))
        };
        let published = work.each((1..).zip(&mut cases), AT_A_TIME, &make);
        let search = cases.search;
        Ok(Completeness {
            states: count,
            bound: count + self.extra,
            reached: reached.iter().filter(|r| **r).count(),
            told_apart: search.sets.iter().map(|set| set.members).max().unwrap_or(0),
            cases: published.cases,
            complete: search.complete && published.all,
        })
    }

    /// The suite in memory.
    pub fn derive<O: FiniteOracle<State: Send + Sync> + Send>(
        &self,
        oracle: &mut O,
        model: &ModelRef,
    ) -> Result<(Vec<TestCase>, Completeness), BudgetExceeded> {
        let (cases, done) = collected(|work| self.derive_each(oracle, model, work));
        Ok((cases, done?))
    }
}

/// The test cases of a complete suite, in order.
struct CompleteCases<'a, O: FiniteOracle> {
    oracle: &'a mut O,
    whole: &'a Automaton<O::State>,
    class_of: &'a [usize],
    ways: &'a [Option<Way>],
    search: Search<'a, O::State>,
    /// The state of V whose plans come next, and those of the one before that are left.
    next: usize,
    plans: std::vec::IntoIter<PlanId>,
    /// How many test cases may still be made.
    left: usize,
}

impl<O: FiniteOracle> Iterator for CompleteCases<'_, O> {
    type Item = (Arena, TestStateId);

    fn next(&mut self) -> Option<(Arena, TestStateId)> {
        let plan = loop {
            if let Some(plan) = self.plans.next() {
                break plan;
            }
            let way = self.ways.get(self.next)?;
            if way.is_some() {
                self.plans = self.search.continuations(self.next).into_iter();
            }
            self.next += 1;
        };
        if self.left == 0 {
            self.search.complete = false;
            (self.next, self.plans) = (self.ways.len(), Vec::new().into_iter());
            return None;
        }
        self.left -= 1;
        let target = self.next - 1;
        let mut writer = Writer {
            oracle: &mut *self.oracle,
            automaton: self.whole,
            class_of: self.class_of,
            plans: &self.search.plans,
            way: self.ways[target].as_ref()?,
            target,
            arena: Arena::default(),
            made: FxHashMap::default(),
        };
        let root = writer.state(0, Phase::Way(plan));
        Some((writer.arena, root))
    }
}

/// A strategy that comes to a state, whatever is observed on the way.
struct Way(Vec<Option<Choice>>);

impl Way {
    /// The shortest from the initial state, if there is one.
    fn to<S>(automaton: &Automaton<S>, before: &Before, target: usize) -> Option<Self> {
        let count = automaton.states.len();
        let mut choices = vec![None; count];
        let mut distance = vec![usize::MAX; count];
        // Observations of each state that do not lead on yet.
        let mut open: Vec<usize> = automaton.observations.iter().map(Vec::len).collect();
        distance[target] = 0;
        let mut queue = VecDeque::from([target]);
        while let Some(state) = queue.pop_front() {
            let next = distance[state] + 1;
            if distance[0] != usize::MAX || next > LONGEST {
                break;
            }
            let inputs = before.inputs[state].iter();
            let inputs = inputs.map(|&(label, source)| (source, Choice::Stimulate(label)));
            let observed = before.observations[state].iter();
            for (source, choice) in inputs.chain(observed.map(|&(_, s)| (s, Choice::Observe))) {
                if choice == Choice::Observe {
                    open[source] -= 1;
                }
                let leads = choice != Choice::Observe || open[source] == 0;
                if leads && distance[source] == usize::MAX {
                    distance[source] = next;
                    choices[source] = Some(choice);
                    queue.push_back(source);
                }
            }
        }
        (distance[0] != usize::MAX).then_some(Self(choices))
    }
}

/// States of which every two are told apart.
struct DistinctSet {
    members: usize,
    /// It may be visited so often without a contradiction: m − |V ∩ R|.
    visits: usize,
}

/// Looks for continuations that have to be tried.
struct Search<'a, S> {
    automaton: &'a Automaton<S>,
    plans: Plans,
    sets: Vec<DistinctSet>,
    /// For each state, the sets that it is in.
    sets_of: Vec<Vec<usize>>,
    /// For each state, the experiments that tell it from all others of those sets.
    experiments: Vec<Vec<PlanId>>,
    /// How often each set was visited on the way that is looked at.
    visits: Vec<usize>,
    /// Steps and plans that may still be looked at.
    left: usize,
    limit: usize,
    complete: bool,
}

impl<'a, S: Copy + Eq + std::hash::Hash> Search<'a, S> {
    fn new(
        automaton: &'a Automaton<S>,
        distinction: &Distinction,
        reached: &[bool],
        suite: &CompleteSuite,
        bound: usize,
    ) -> Self {
        let count = automaton.len();
        let mut members: Vec<Vec<usize>> = (0..count)
            .map(|state| distinction.set_with(state, reached))
            .collect();
        members.sort_unstable();
        members.dedup();
        let mut sets_of = vec![Vec::new(); count];
        let mut rivals = vec![vec![false; count]; count];
        let mut sets = Vec::new();
        for (number, set) in members.iter().enumerate() {
            let certain = set.iter().filter(|&&s| reached[s]).count();
            sets.push(DistinctSet {
                members: set.len(),
                visits: bound - certain,
            });
            for &state in set {
                sets_of[state].push(number);
                for &other in set {
                    rivals[state][other] |= other != state;
                }
            }
        }
        let mut plans = Plans::new();
        let mut known = FxHashMap::default();
        let mut experiments = Vec::new();
        for (state, rivals) in rivals.iter().enumerate() {
            let mut list = Vec::new();
            for other in (0..count).filter(|&other| rivals[other]) {
                let plan = experiment(automaton, distinction, &mut plans, &mut known, state, other);
                plans.add(&mut list, plan);
            }
            experiments.push(list);
        }
        Self {
            automaton,
            plans,
            visits: vec![0; sets.len()],
            sets,
            sets_of,
            experiments,
            left: suite.limit.saturating_mul(64).max(1 << 20),
            limit: suite.limit,
            complete: true,
        }
    }

    /// The plans to be carried out from a state of V.
    fn continuations(&mut self, state: usize) -> Vec<PlanId> {
        self.from(state, false, 0)
    }

    /// One more step has led to a state.
    fn visit(&mut self, state: usize, depth: usize) -> Vec<PlanId> {
        let mut over = false;
        for &set in &self.sets_of[state] {
            self.visits[set] += 1;
            over |= self.visits[set] > self.sets[set].visits;
        }
        let plans = self.from(state, over, depth);
        for &set in &self.sets_of[state] {
            self.visits[set] -= 1;
        }
        plans
    }

    fn from(&mut self, state: usize, over: bool, depth: usize) -> Vec<PlanId> {
        let mut list = Vec::new();
        if !over && (depth == LONGEST || self.left == 0) {
            self.complete = false;
        } else if !over {
            self.left -= 1;
            self.go_on(state, depth, &mut list);
        }
        for experiment in self.experiments[state].clone() {
            self.plans.add(&mut list, experiment);
        }
        if list.len() > self.limit {
            list.truncate(self.limit);
            self.complete = false;
        }
        list
    }

    /// Every step from a state, and what has to be tried after it.
    fn go_on(&mut self, state: usize, depth: usize, list: &mut Vec<PlanId>) {
        let automaton = self.automaton;
        // Whatever is observed, the k-th plan goes on with the k-th of what has to be tried then.
        let observed = automaton.observations[state].iter();
        let observed: Vec<(LabelId, Vec<PlanId>)> = observed
            .map(|&(label, target)| (label, self.visit(target, depth + 1)))
            .collect();
        let most = observed.iter().map(|(_, plans)| plans.len()).max();
        for k in 0..most.unwrap_or(0).max(1) {
            let steps = observed.iter();
            let steps = steps.filter_map(|(label, plans)| Some((*label, *plans.get(k)?)));
            let plan = Plan::Observe(steps.collect());
            list.push(self.plans.intern(plan));
        }
        for &(label, target) in &automaton.inputs[state] {
            for plan in self.visit(target, depth + 1) {
                let plan = self.plans.intern(Plan::Stimulate(label, plan));
                list.push(plan);
            }
        }
        self.left = match self.plans.len() {
            0..LARGEST => self.left,
            _ => 0,
        };
    }
}

/// Plans at most.
const LARGEST: usize = 20_000_000;

/// The experiment that tells two states apart: the same from both.
fn experiment<S>(
    automaton: &Automaton<S>,
    distinction: &Distinction,
    plans: &mut Plans,
    known: &mut FxHashMap<(usize, usize), PlanId>,
    one: usize,
    other: usize,
) -> PlanId
where
    S: Copy + Eq + std::hash::Hash,
{
    let key = (one.min(other), one.max(other));
    if let Some(&plan) = known.get(&key) {
        return plan;
    }
    let plan = match distinction.of(one, other) {
        None => Plan::Stop,
        Some(Choice::Stimulate(label)) => {
            let targets = automaton
                .after(one, label)
                .zip(automaton.after(other, label));
            let next = targets.map(|(s, t)| experiment(automaton, distinction, plans, known, s, t));
            Plan::Stimulate(label, next.unwrap_or(Plans::STOP))
        }
        Some(Choice::Observe) => {
            let rows = &automaton.observations;
            let steps: Vec<(LabelId, usize, usize)> = common(&rows[one], &rows[other]).collect();
            let steps = steps.into_iter().map(|(label, s, t)| {
                let next = experiment(automaton, distinction, plans, known, s, t);
                (label, next)
            });
            Plan::Observe(steps.collect())
        }
    };
    let plan = plans.intern(plan);
    known.insert(key, plan);
    plan
}

/// Where a test case is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    /// On the way to the state from which the plan is carried out.
    Way(PlanId),
    Plan(PlanId),
}

/// Writes a way and a plan as a test case.
struct Writer<'a, O: FiniteOracle> {
    oracle: &'a mut O,
    /// With all its states, so that a test case names the places where the specification is.
    automaton: &'a Automaton<O::State>,
    /// Where each of them is in the automaton of ways and plans.
    class_of: &'a [usize],
    plans: &'a Plans,
    way: &'a Way,
    target: usize,
    arena: Arena,
    made: FxHashMap<(usize, Phase), TestStateId>,
}

impl<O: FiniteOracle> Writer<'_, O> {
    fn state(&mut self, at: usize, phase: Phase) -> TestStateId {
        let phase = match phase {
            Phase::Way(plan) if self.class_of[at] == self.target => Phase::Plan(plan),
            phase => phase,
        };
        if let Some(&made) = self.made.get(&(at, phase)) {
            return made;
        }
        let state = match phase {
            Phase::Way(_) => {
                if let Some(Choice::Stimulate(label)) = self.way.0[self.class_of[at]] {
                    self.stimulate(at, label, phase)
                } else {
                    let row = &self.automaton.observations[at];
                    self.observe(at, row.iter().map(|&(label, _)| (label, phase)).collect())
                }
            }
            Phase::Plan(plan) => match self.plans.plan(plan) {
                Plan::Stop => self.arena.verdict(Verdict::Pass),
                &Plan::Stimulate(label, next) => self.stimulate(at, label, Phase::Plan(next)),
                Plan::Observe(steps) => {
                    let steps = steps
                        .iter()
                        .map(|&(label, next)| (label, Phase::Plan(next)));
                    self.observe(at, steps.collect())
                }
            },
        };
        self.made.insert((at, phase), state);
        state
    }

    fn stimulate(&mut self, at: usize, label: LabelId, next: Phase) -> TestStateId {
        let next = match self.automaton.after(at, label) {
            Some(target) => self.state(target, next),
            None => self.arena.verdict(Verdict::Pass),
        };
        let place = self.automaton.states[at];
        let places = self.oracle.places(&place).shared();
        let state = stimulate_state(self.oracle, place, label, next, places);
        self.arena.push(state)
    }

    fn observe(&mut self, at: usize, steps: Vec<(LabelId, Phase)>) -> TestStateId {
        let place = self.automaton.states[at];
        let places = self.oracle.places(&place).shared();
        let end = &mut |arena: &mut Arena, _| arena.verdict(Verdict::Pass);
        let mut state = observe_state(self.oracle, place, &mut self.arena, end, places);
        for (label, phase) in steps {
            // What a plan names may be something that this state does not have.
            if let Some(target) = self.automaton.after(at, label) {
                let next = self.state(target, phase);
                state = redirect(state, label, next);
            }
        }
        self.arena.push(state)
    }
}
