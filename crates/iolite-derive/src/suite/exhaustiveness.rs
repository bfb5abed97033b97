//! Up to which depth a suite finds every error.

use std::collections::{BTreeSet, VecDeque};
use std::ops::ControlFlow;

use iolite_lts::{
    Determinised, LabelId, LabelKind, Labels, QuiescencePolicy, Semantics, SetId, StateId,
    Suspension,
};
use rustc_hash::FxHashMap;

use super::{Meanings, SuiteRelation, claims, known_labels};
use crate::{ConfDerivation, TestCase, TestStateId, TestStep};

/// An observation that does not conform and that no test case detects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undetected {
    /// A trace of the specification, a shortest one.
    pub trace: Vec<String>,
    /// An output or δ that the specification does not allow after it.
    pub observed: Option<String>,
    /// Actions that must not all be refused after it, where that is what is observed (conf).
    pub refuses: Option<Vec<String>>,
}

/// Up to which depth a suite finds every error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exhaustiveness {
    /// Every observation that does not conform is detected, however long.
    Complete,
    /// Up to this many actions, the wrong one included; then comes one that is not detected.
    UpTo(usize, Undetected),
    /// At least up to this many; then the search was stopped, or had too much to look at.
    AtLeast(usize),
}

/// Entries that the search may remember.
const MOST: usize = 40_000_000;

/// Up to which depth a suite detects every observation that does not conform: an output, δ or refusal x
/// after a trace σ of the specification that the relation forbids there. It is detected by a test
/// case that has the run σ·x and then fails, whatever else follows. Who shows σ·x shows it without the
/// δs of σ too, so a test case for that will do.
///
/// `proceed` hears now and then how many places were met, and may stop the search.
pub fn exhaustiveness<M: Semantics<State = StateId>>(
    cases: &[&TestCase],
    specification: &M,
    relation: SuiteRelation,
    policy: QuiescencePolicy,
    proceed: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Exhaustiveness {
    let mut search = Search {
        suite: Suite::new(cases, specification),
        view: Determinised::new(Suspension::new(specification, policy)),
        conf: ConfDerivation::new(specification),
        relation,
        policy,
    };
    search.run(proceed)
}

/// The states of all test cases, numbered through.
struct Suite<'a> {
    cases: &'a [&'a TestCase],
    meanings: Vec<Meanings>,
    /// Case and state of each number.
    states: Vec<(u32, TestStateId)>,
    /// The number of the first state of each case.
    first: Vec<u32>,
    /// Whether every run from a state on fails.
    doomed: Vec<bool>,
    /// Outputs of test cases that the specification does not have.
    foreign: Vec<LabelText>,
}

/// The name of an output.
type LabelText = Box<str>;

impl<'a> Suite<'a> {
    fn new<M: Semantics<State = StateId>>(cases: &'a [&'a TestCase], specification: &M) -> Self {
        let mut states = Vec::new();
        let mut first = Vec::new();
        let mut doomed = Vec::new();
        for (number, case) in cases.iter().enumerate() {
            first.push(u32::try_from(states.len()).expect("fewer than 2^32 test states"));
            let case_number = u32::try_from(number).expect("fewer than 2^32 test cases");
            let ids = (0..case.states().len()).map(TestStateId::new);
            states.extend(ids.map(|id| (case_number, id)));
            doomed.extend(doom(case));
        }
        Self {
            cases,
            meanings: cases
                .iter()
                .map(|case| Meanings::new(specification.labels(), case))
                .collect(),
            states,
            first,
            doomed,
            foreign: foreign(cases, specification.labels()),
        }
    }

    fn number(&self, case: u32, state: TestStateId) -> u32 {
        self.first[case as usize] + u32::try_from(state.index()).expect("a state of the case")
    }

    fn fails(&self, case: u32, state: TestStateId) -> bool {
        self.doomed[self.number(case, state) as usize]
    }

    /// Where a label of the specification leads.
    fn step(&self, id: u32, label: LabelId) -> Option<u32> {
        let (case, state) = self.states[id as usize];
        let own = self.meanings[case as usize].known[label.index()]?;
        let steps = self.cases[case as usize].state(state).steps();
        let &(_, to) = steps.iter().find(|&&(l, _)| l == own)?;
        Some(self.number(case, to))
    }

    /// Whether an output or δ of the specification's alphabet leads to failing runs only.
    fn detects(&self, id: u32, observed: LabelId) -> bool {
        let (case, state) = self.states[id as usize];
        let here = self.cases[case as usize].state(state);
        let TestStep::Observe {
            outputs,
            quiescence,
        } = &here.step
        else {
            return false;
        };
        if observed == LabelId::DELTA {
            return match quiescence {
                Some(to) => self.fails(case, *to),
                None => claims(here.verdict),
            };
        }
        match self.meanings[case as usize].known[observed.index()] {
            // An output that the test case does not know fails it.
            None => true,
            Some(own) => outputs
                .iter()
                .any(|&(l, to)| l == own && self.fails(case, to)),
        }
    }

    /// The same for an output that the specification does not have.
    fn detects_foreign(&self, id: u32, output: &str) -> bool {
        let (case, state) = self.states[id as usize];
        let of = self.cases[case as usize];
        let TestStep::Observe { outputs, .. } = &of.state(state).step else {
            return false;
        };
        let labels = of.labels();
        let other = || labels.other_values(LabelKind::Output, output.split_once('(')?.0);
        match labels.get(LabelKind::Output, output).or_else(other) {
            None => true,
            Some(own) => outputs
                .iter()
                .any(|&(l, to)| l == own && self.fails(case, to)),
        }
    }

    /// The actions that are offered where their refusal fails, as labels of the specification; `None`
    /// where nothing is claimed, or where one of them is not the specification's.
    fn must_not_be_refused(&self, id: u32) -> Option<BTreeSet<LabelId>> {
        let (case, state) = self.states[id as usize];
        let here = self.cases[case as usize].state(state);
        let TestStep::Offer { actions } = &here.step else {
            return None;
        };
        if !claims(here.verdict) {
            return None;
        }
        let meanings = &self.meanings[case as usize];
        let theirs =
            |&(own, _): &(LabelId, TestStateId)| meanings.stands_for[own.index()].first().copied();
        actions.iter().map(theirs).collect()
    }
}

fn foreign(cases: &[&TestCase], specification: &Labels) -> Vec<LabelText> {
    let mut names = BTreeSet::new();
    for case in cases {
        let labels = case.labels();
        let unknown = known_labels(labels, specification);
        let outputs = labels.outputs().filter(|o| unknown[o.index()].is_none());
        names.extend(outputs.map(|o| labels.label(o).name.clone()));
    }
    names.into_iter().collect()
}

/// For each state of a test case whether every run from there on fails, whatever an input-enabled
/// implementation does.
fn doom(case: &TestCase) -> Vec<bool> {
    let mut doomed: Vec<Option<bool>> = vec![None; case.states().len()];
    for start in 0..doomed.len() {
        // A state whose successors are known is decided; the others wait for theirs.
        let mut stack = vec![start];
        while let Some(&at) = stack.last() {
            let state = &case.states()[at];
            let steps = state.steps();
            let open = steps.iter().find(|(_, to)| doomed[to.index()].is_none());
            if doomed[at].is_none()
                && let Some(&(_, to)) = open
            {
                stack.push(to.index());
                continue;
            }
            let all = steps.iter().all(|(_, to)| doomed[to.index()] == Some(true));
            doomed[at] = Some(match &state.step {
                TestStep::End => claims(state.verdict),
                TestStep::Stimulate { .. }
                | TestStep::Observe {
                    quiescence: Some(_),
                    ..
                } => all,
                TestStep::Observe {
                    quiescence: None, ..
                }
                | TestStep::Offer { .. } => all && claims(state.verdict),
            });
            stack.pop();
        }
    }
    doomed.into_iter().map(|d| d == Some(true)).collect()
}

/// A set of the specification, the test states that a run with its trace may be in, and whether δ came
/// last.
type Place = (SetId, Vec<u32>, bool);

struct Search<'a, M: Semantics<State = StateId>> {
    suite: Suite<'a>,
    view: Determinised<Suspension<&'a M>>,
    conf: ConfDerivation<&'a M>,
    relation: SuiteRelation,
    policy: QuiescencePolicy,
}

impl<M: Semantics<State = StateId>> Search<'_, M> {
    fn run(&mut self, proceed: &mut dyn FnMut(usize) -> ControlFlow<()>) -> Exhaustiveness {
        let initial = match self.relation {
            SuiteRelation::Conf => self.conf.initial(),
            _ => self.view.initial(),
        };
        let start: Place = (initial, self.suite.first.clone(), false);
        let mut size = start.1.len();
        // Places by number, with where they come from.
        let mut places: Vec<(Option<(usize, LabelId)>, usize)> = vec![(None, 0)];
        let mut numbers: FxHashMap<Place, usize> = FxHashMap::default();
        numbers.insert(start.clone(), 0);
        let mut queue = VecDeque::from([(start, 0usize)]);
        let mut visited = 0usize;
        while let Some((place, number)) = queue.pop_front() {
            let depth = places[number].1;
            visited += 1;
            let stop = visited.is_multiple_of(256) && proceed(places.len()).is_break();
            if stop || size > MOST {
                return Exhaustiveness::AtLeast(depth);
            }
            match self.undetected(&place) {
                Ok(None) => {}
                Err(TooMany) => return Exhaustiveness::AtLeast(depth),
                Ok(Some((observed, refuses))) => {
                    let mut trace = Vec::new();
                    let mut at = number;
                    while let (Some((from, label)), _) = places[at] {
                        trace.push(self.text(label));
                        at = from;
                    }
                    trace.reverse();
                    let found = Undetected {
                        trace,
                        observed,
                        refuses,
                    };
                    return Exhaustiveness::UpTo(depth, found);
                }
            }
            for (label, next) in self.steps(&place) {
                if numbers.contains_key(&next) {
                    continue;
                }
                size += next.1.len() + 16;
                numbers.insert(next.clone(), places.len());
                queue.push_back((next, places.len()));
                places.push((Some((number, label)), depth + 1));
            }
        }
        Exhaustiveness::Complete
    }

    fn text(&self, label: LabelId) -> String {
        self.view.labels().text(label)
    }

    /// What no test state at this place detects: an observation, or a refusal.
    #[expect(clippy::type_complexity, reason = "two kinds of observations")]
    fn undetected(
        &mut self,
        (set, ids, quiet): &Place,
    ) -> Result<Option<(Option<String>, Option<Vec<String>>)>, TooMany> {
        if self.relation == SuiteRelation::Conf {
            let (forbidden, complete) = self.conf.forbidden_refusals(*set);
            let must: Vec<BTreeSet<LabelId>> = ids
                .iter()
                .filter_map(|&id| self.suite.must_not_be_refused(id))
                .collect();
            for set in forbidden {
                let detected = must.iter().any(|m| m.iter().all(|l| set.contains(l)));
                if !detected {
                    let refuses = set.iter().map(|&l| self.text(l)).collect();
                    return Ok(Some((None, Some(refuses))));
                }
            }
            return if complete { Ok(None) } else { Err(TooMany) };
        }
        let labels = self.view.labels();
        let outputs: Vec<LabelId> = labels.outputs().collect();
        let speaks = !*quiet || self.policy == QuiescencePolicy::Livelock;
        let outputs = outputs.into_iter().filter(|_| speaks);
        for observed in outputs.chain([LabelId::DELTA]) {
            let conforms = self.view.after(*set, observed).is_some();
            if !conforms && !ids.iter().any(|&id| self.suite.detects(id, observed)) {
                return Ok(Some((Some(self.text(observed)), None)));
            }
        }
        let foreign = self.suite.foreign.iter().filter(|_| speaks);
        for output in foreign {
            if !ids.iter().any(|&id| self.suite.detects_foreign(id, output)) {
                return Ok(Some((Some(format!("!{output}")), None)));
            }
        }
        Ok(None)
    }

    fn steps(&mut self, (set, ids, _): &Place) -> Vec<(LabelId, Place)> {
        let row = match self.relation {
            SuiteRelation::Conf => self.conf.row(*set),
            _ => self.view.row(*set).to_vec(),
        };
        let mut all = Vec::new();
        for (label, next) in row {
            let delta = self.view.labels().kind(label) == LabelKind::Delta;
            if delta && self.relation != SuiteRelation::Ioco {
                continue;
            }
            let stays = ids.iter().copied().filter(|_| delta);
            let moves = ids.iter().filter_map(|&id| self.suite.step(id, label));
            let mut there: Vec<u32> = stays.chain(moves).collect();
            there.sort_unstable();
            there.dedup();
            // Only the fair and the strict policy ask what came last.
            let quiet = delta && self.policy != QuiescencePolicy::Livelock;
            all.push((label, (next, there, quiet)));
        }
        all
    }
}

/// There are too many sets of actions to list.
struct TooMany;
