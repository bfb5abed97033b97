//! `passes` against all words that a test case and an implementation can do together, listed from
//! definition 3.2 of [LTS96] and from [IOCO99, §4].

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use common::{after, any_model, closure, complete, initial, model, not_ioco, quiescent};
use iolite_derive::{
    ConfDerivation, Criterion, Enumeration, ExhaustiveDerivation, IocoOracle, IoconfOracle,
    ModelRef, RandomDerivation, TestCase, TestRuns, TestState, TestStateId, TestStep, Verdict,
    passes, test_runs,
};
use iolite_lts::{LabelId, LabelKind, Labels, Lts, LtsBuilder, QuiescencePolicy, StateId};
use proptest::prelude::*;

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;

/// Some outputs renamed to one that no test case knows.
fn with_foreign(lts: &Lts, renamed: &[bool]) -> Lts {
    let mut b = LtsBuilder::with_labels(lts.labels().clone());
    let foreign = b.labels_mut().intern_text("!z");
    b.ensure_states(lts.state_count());
    b.set_initial(lts.initial());
    for (k, (s, l, t)) in lts.transitions().enumerate() {
        let output = lts.labels().kind(l) == LabelKind::Output;
        let rename = output && renamed[k % renamed.len()];
        b.transition(s, if rename { foreign } else { l }, t);
    }
    b.build().unwrap()
}

/// The same model over plain actions.
fn plain(lts: &Lts) -> Lts {
    let mut b = LtsBuilder::new();
    b.ensure_states(lts.state_count());
    b.set_initial(lts.initial());
    for (s, l, t) in lts.transitions() {
        let text = lts.labels().text(l);
        b.transition_text(s, text.trim_start_matches(['?', '!']), t);
    }
    b.build().unwrap()
}

/// The same test case with other verdicts, as an author might have written it.
fn rewritten(case: &TestCase, seed: &[u8]) -> TestCase {
    let verdicts = [Verdict::Pass, Verdict::Fail, Verdict::Inconc];
    let state = |(k, state): (usize, &TestState)| TestState {
        verdict: verdicts[usize::from(seed[k % seed.len()]) % 3],
        ..state.clone()
    };
    let states = case.states().iter().enumerate().map(state).collect();
    let labels = Arc::clone(case.labels());
    TestCase::new("t", Criterion::Written, ModelRef::default(), labels, states).unwrap()
}

/// The verdicts of all runs, with the length of a shortest one each.
struct Listed<'a> {
    case: &'a TestCase,
    i: &'a Lts,
    lengths: BTreeMap<Verdict, usize>,
}

impl Listed<'_> {
    fn end(&mut self, verdict: Verdict, length: usize) {
        let known = self.lengths.entry(verdict).or_insert(length);
        *known = (*known).min(length);
    }

    /// init(t'), as labels of the implementation where it has them.
    fn init(&self, t: TestStateId) -> Vec<(LabelId, TestStateId)> {
        let own = self.case.state(t).steps();
        let theirs = |l: LabelId| {
            let label = self.case.labels().label(l);
            self.i.labels().get(label.kind, &label.name)
        };
        own.iter()
            .filter_map(|&(l, t)| Some((theirs(l)?, t)))
            .collect()
    }

    fn walk(&mut self, t: TestStateId, at: &BTreeSet<StateId>, length: usize) {
        let state = self.case.state(t);
        let init = self.init(t);
        for &s in at {
            let weak = closure(self.i, &BTreeSet::from([s]));
            let refuses = init
                .iter()
                .all(|&(a, _)| after(self.i, &weak, Some(a)).is_empty());
            let deadlock = match &state.step {
                TestStep::End => true,
                TestStep::Observe { quiescence, .. } => {
                    quiescence.is_none() && quiescent(self.i, s)
                }
                TestStep::Stimulate { .. } | TestStep::Offer { .. } => refuses,
            };
            if deadlock {
                self.end(state.verdict, length);
            }
        }
        for &(a, next) in &init {
            let there = after(self.i, at, Some(a));
            if !there.is_empty() {
                self.walk(next, &there, length + 1);
            }
        }
        if matches!(state.step, TestStep::Observe { .. }) {
            for output in self.i.labels().outputs() {
                let unknown = init.iter().all(|&(a, _)| a != output);
                if unknown && !after(self.i, at, Some(output)).is_empty() {
                    self.end(Verdict::Fail, length + 1);
                }
            }
        }
    }
}

fn listed(case: &TestCase, i: &Lts) -> BTreeMap<Verdict, usize> {
    let mut listed = Listed {
        case,
        i,
        lengths: BTreeMap::new(),
    };
    listed.walk(case.initial(), &initial(i), 0);
    listed.lengths
}

fn lengths(runs: &TestRuns) -> BTreeMap<Verdict, usize> {
    runs.verdicts().map(|(v, run)| (v, run.len())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_runs_are_found(
        s in any_model(4, 9),
        i in any_model(4, 9),
        renamed in prop::collection::vec(prop::bool::weighted(0.3), 5),
        verdicts in prop::collection::vec(any::<u8>(), 7),
        seed in any::<u64>(),
        completed in any::<bool>(),
    ) {
        let i = with_foreign(&i, &renamed);
        let i = if completed { complete(&i) } else { i };
        let how = RandomDerivation { count: 3, depth: 5, seed, ..RandomDerivation::default() };
        let model = ModelRef::default();
        let mut cases = how.derive(&mut IocoOracle::new(&s, POLICY), &model);
        cases.extend(how.derive(&mut IoconfOracle::new(&s, POLICY), &model));
        let written: Vec<TestCase> = cases.iter().map(|c| rewritten(c, &verdicts)).collect();
        for case in cases.iter().chain(&written) {
            prop_assert_eq!(lengths(&test_runs(case, &i, POLICY)), listed(case, &i), "{}", case);
        }
        // Symmetric interaction.
        let (s, i) = (plain(&s), plain(&i));
        let cases = ConfDerivation::new(&s).random(&how, &model);
        for case in &cases {
            prop_assert_eq!(lengths(&test_runs(case, &i, POLICY)), listed(case, &i), "{}", case);
        }
    }

    /// i passes all test cases of depth n iff i ioco s up to depth n, also where the implementation
    /// has outputs that the specification does not know [LTS96, theorem 7.4; IOCO99].
    #[test]
    fn exhaustive_suites_decide_ioco(
        s in any_model(3, 7),
        i in any_model(3, 7),
        renamed in prop::collection::vec(prop::bool::weighted(0.2), 5),
        depth in 1usize..5,
    ) {
        let i = complete(&with_foreign(&i, &renamed));
        let how = ExhaustiveDerivation { depth, enumeration: Enumeration::Traces, limit: 4000 };
        let found = how.derive(&mut IocoOracle::new(&s, POLICY), &ModelRef::default());
        if found.complete {
            // The definition compares models over one table of labels.
            let wide = with_foreign(&s, &[false]);
            let differs = not_ioco(&i, &wide, depth - 1).is_some();
            let fails = found.cases.iter().any(|t| !passes(t, &i, POLICY));
            prop_assert_eq!(fails, differs);
        }
    }
}

fn observing(outputs: &[&str]) -> TestCase {
    let mut labels = Labels::new();
    let ids: Vec<LabelId> = outputs.iter().map(|o| labels.intern_text(o)).collect();
    let end = TestStateId::new(1);
    let observe = TestState {
        step: TestStep::Observe {
            outputs: ids.iter().map(|&l| (l, end)).collect(),
            quiescence: Some(end),
        },
        ..TestState::end(Verdict::Inconc)
    };
    let states = vec![observe, TestState::end(Verdict::Pass)];
    let model = ModelRef::default();
    TestCase::new("t", Criterion::Written, model, Arc::new(labels), states).unwrap()
}

#[test]
fn an_output_that_the_test_case_does_not_know_fails() {
    let case = observing(&["!x"]);
    let runs = test_runs(&case, &model(&[], &[("0", "!y", "1")]), POLICY);
    let (verdict, run) = runs.failing().unwrap();
    assert_eq!(verdict, Verdict::Fail);
    assert_eq!(run.actions, ["!y"]);
    assert!(run.is_foreign());
    assert_eq!(run.implementation, StateId::new(1));
}

#[test]
fn values_that_no_label_has_are_the_label_for_other_values() {
    let case = observing(&["!x(1)", "!x(…)"]);
    let i = model(&[], &[("0", "!x(2)", "1")]);
    assert!(passes(&case, &i, POLICY));
    let case = observing(&["!x(1)"]);
    assert!(!passes(&case, &i, POLICY));
}

#[test]
fn the_strict_policy_tells_of_a_livelock() {
    let i = model(&[], &[("0", "!x", "1"), ("1", "i", "1")]);
    let case = observing(&["!x"]);
    assert_eq!(
        test_runs(&case, &i, QuiescencePolicy::Strict).livelock(),
        Some(StateId::new(1))
    );
}
