//! The quality of suites against listings from the definitions, and against implementations.

mod common;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use common::{
    after, any_implementation, any_model, any_mutant, complete, initial, not_ioco, not_ioconf, out,
    show,
};
use iolite_derive::{
    ConfDerivation, CoverageGoal, CoverageSuite, Criterion, Enumeration, ExhaustiveDerivation,
    Exhaustiveness, IocoOracle, IoconfOracle, ModelRef, RandomDerivation, SuiteRelation, TestCase,
    TestState, TestStateId, TestStep, Verdict, exhaustiveness, passes, reach, soundness, test_runs,
};
use iolite_lts::relation::{Holds, Relation, relate};
use iolite_lts::{LabelId, LabelKind, Lts, LtsBuilder, QuiescencePolicy, StateId};
use proptest::prelude::*;

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;
const INPUT_OUTPUT: [SuiteRelation; 2] = [SuiteRelation::Ioco, SuiteRelation::Ioconf];

/// The same test case with some verdicts turned, as an author might have erred.
fn turned(case: &TestCase, seed: &[u8]) -> TestCase {
    let state = |(k, state): (usize, &TestState)| {
        let verdict = match seed[k % seed.len()] % 4 {
            0 => Verdict::Fail,
            1 => Verdict::Pass,
            _ => state.verdict,
        };
        TestState {
            verdict,
            ..state.clone()
        }
    };
    let states = case.states().iter().enumerate().map(state).collect();
    let labels = Arc::clone(case.labels());
    TestCase::new("t", Criterion::Written, ModelRef::default(), labels, states).unwrap()
}

fn plain(lts: &Lts) -> Lts {
    let mut b = LtsBuilder::new();
    for text in ["a", "b", "x", "y"] {
        b.labels_mut().intern_text(text);
    }
    b.ensure_states(lts.state_count());
    b.set_initial(lts.initial());
    for (s, l, t) in lts.transitions() {
        let text = lts.labels().text(l);
        b.transition_text(s, text.trim_start_matches(['?', '!']), t);
    }
    b.build().unwrap()
}

/// All traces that are this one without some of its δs.
fn thinned(trace: &[LabelId]) -> BTreeSet<Vec<LabelId>> {
    let mut all = BTreeSet::from([Vec::new()]);
    for &label in trace {
        let longer: Vec<Vec<LabelId>> = all.iter().map(|t| [&t[..], &[label]].concat()).collect();
        if label != LabelId::DELTA {
            all.clear();
        }
        all.extend(longer);
    }
    all
}

fn set_after(s: &Lts, trace: &[LabelId]) -> BTreeSet<StateId> {
    trace
        .iter()
        .fold(initial(s), |at, &l| after(s, &at, Some(l)))
}

/// Whether an implementation that conforms may have the run: each observation is one of
/// out(s after σ), for every σ before it that counts.
fn may_have(s: &Lts, run: &[LabelId], relation: SuiteRelation) -> bool {
    (0..run.len()).all(|k| {
        let x = run[k];
        if !s.labels().kind(x).is_observation() {
            return true;
        }
        let counts = |before: &Vec<LabelId>| {
            relation == SuiteRelation::Ioco || !before.contains(&LabelId::DELTA)
        };
        let befores = thinned(&run[..k]);
        befores.iter().filter(|b| counts(b)).all(|before| {
            let at = set_after(s, before);
            at.is_empty() || out(s, &at).contains(&x)
        })
    })
}

/// All runs of a test case that end with a claim, θ and deadlock as δ.
fn failing_runs(case: &TestCase) -> Vec<Vec<LabelId>> {
    let claims = |v: Verdict| v == Verdict::Fail;
    let mut found = Vec::new();
    let mut todo = vec![(case.initial(), Vec::new())];
    while let Some((t, run)) = todo.pop() {
        let state = case.state(t);
        match &state.step {
            TestStep::End if claims(state.verdict) => found.push(run.clone()),
            TestStep::Observe {
                quiescence: None, ..
            } if claims(state.verdict) => {
                found.push([&run[..], &[LabelId::DELTA]].concat());
            }
            _ => {}
        }
        for (l, to) in state.steps() {
            todo.push((to, [&run[..], &[l]].concat()));
        }
    }
    found
}

fn always(_: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn depth_of(found: &Exhaustiveness) -> Option<usize> {
    match found {
        Exhaustiveness::Complete => None,
        Exhaustiveness::UpTo(depth, _) => Some(*depth),
        Exhaustiveness::AtLeast(_) => panic!("nobody stopped it"),
    }
}

/// Whether all runs of a test case that begin so fail.
fn fails_after(case: &TestCase, run: &[LabelId]) -> bool {
    fn doomed(case: &TestCase, t: TestStateId) -> bool {
        let state = case.state(t);
        let mut steps = state.steps().into_iter();
        match state.step {
            TestStep::End => state.verdict == Verdict::Fail,
            TestStep::Observe {
                quiescence: None, ..
            } => state.verdict == Verdict::Fail && steps.all(|(_, to)| doomed(case, to)),
            _ => steps.all(|(_, to)| doomed(case, to)),
        }
    }
    let mut t = case.initial();
    for (k, &label) in run.iter().enumerate() {
        let state = case.state(t);
        let ends = matches!(
            state.step,
            TestStep::Observe {
                quiescence: None,
                ..
            }
        );
        if ends && label == LabelId::DELTA && k + 1 == run.len() {
            return state.verdict == Verdict::Fail;
        }
        match state.steps().iter().find(|(l, _)| *l == label) {
            Some(&(_, to)) => t = to,
            None => return false,
        }
    }
    // The last step is an observation, not the tester's own.
    doomed(case, t)
}

/// The length of a shortest trace after which something wrong is not detected, up to a length; by
/// listing traces.
fn first_undetected(
    cases: &[TestCase],
    s: &Lts,
    relation: SuiteRelation,
    length: usize,
) -> Option<usize> {
    for trace in common::words(s.labels(), length) {
        let ioco = relation == SuiteRelation::Ioco;
        let at = set_after(s, &trace);
        if at.is_empty() || !ioco && trace.contains(&LabelId::DELTA) {
            continue;
        }
        let allowed = out(s, &at);
        for (x, label) in s.labels().iter() {
            if !label.kind.is_observation() || allowed.contains(&x) {
                continue;
            }
            let detected = thinned(&trace).iter().any(|before| {
                let run = [&before[..], &[x]].concat();
                cases.iter().any(|case| fails_after(case, &run))
            });
            if !detected {
                return Some(trace.len());
            }
        }
    }
    None
}

fn derive(s: &Lts, relation: SuiteRelation, how: &RandomDerivation) -> Vec<TestCase> {
    let model = ModelRef::default();
    match relation {
        SuiteRelation::Ioco => how.derive(&mut IocoOracle::new(s, POLICY), &model),
        SuiteRelation::Ioconf => how.derive(&mut IoconfOracle::new(s, POLICY), &model),
        SuiteRelation::Conf => ConfDerivation::new(s).random(how, &model),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Sound exactly where no run that fails may be one of an implementation that conforms.
    #[test]
    fn soundness_is_its_definition(
        s in any_model(4, 9),
        other in any_model(4, 9),
        seed in any::<u64>(),
        verdicts in prop::collection::vec(any::<u8>(), 7),
    ) {
        let how = RandomDerivation { count: 2, depth: 4, seed, ..RandomDerivation::default() };
        for relation in INPUT_OUTPUT {
            let own = derive(&s, relation, &how);
            for case in &own {
                prop_assert_eq!(soundness(case, &s, relation, POLICY), None, "{}", case);
            }
            // Test cases of another specification, and ones with wrong verdicts.
            let mut cases = derive(&other, relation, &how);
            cases.extend(own.iter().map(|case| turned(case, &verdicts)));
            for case in &cases {
                let listed = failing_runs(case).into_iter().filter(|run| may_have(&s, run, relation));
                let shortest = listed.map(|run| run.len()).min();
                let found = soundness(case, &s, relation, POLICY);
                prop_assert_eq!(found.as_ref().map(|f| f.run.len()), shortest, "{}", case);
                if let Some(found) = found {
                    let run: Vec<LabelId> =
                        found.run.iter().map(|a| s.labels().get_text(a).unwrap()).collect();
                    prop_assert!(may_have(&s, &run, relation), "{}", show(s.labels(), &run));
                    prop_assert!(failing_runs(case).contains(&run));
                }
            }
        }
    }

    /// An implementation that conforms passes what is sound; an input-enabled specification itself
    /// fails what is not, if it is the one to have the run.
    #[test]
    fn implementations_agree_with_soundness(
        s in any_model(3, 7),
        other in any_model(3, 7),
        i in any_implementation(3, 7),
        seed in any::<u64>(),
        verdicts in prop::collection::vec(any::<u8>(), 7),
    ) {
        let how = RandomDerivation { count: 2, depth: 4, seed, ..RandomDerivation::default() };
        let relations = [(SuiteRelation::Ioco, Relation::Ioco), (SuiteRelation::Ioconf, Relation::Ioconf)];
        for (relation, kernel) in relations {
            let mut cases = derive(&other, relation, &how);
            cases.extend(derive(&s, relation, &how).iter().map(|case| turned(case, &verdicts)));
            for case in &cases {
                let sound = soundness(case, &s, relation, POLICY).is_none();
                for i in [&i, &complete(&s)] {
                    let answer = relate(kernel, i, &s, POLICY, None).unwrap();
                    let conforms = matches!(answer.holds, Holds::Yes);
                    let fails = test_runs(case, i, POLICY).run(Verdict::Fail).is_some();
                    prop_assert!(!(sound && conforms && fails), "{}", case);
                }
                let whole = complete(&s);
                let found = soundness(case, &whole, relation, POLICY);
                let fails = test_runs(case, &whole, POLICY).run(Verdict::Fail).is_some();
                prop_assert_eq!(found.is_some(), fails, "{}", case);
            }
        }
    }

    #[test]
    fn exhaustiveness_is_its_definition(
        s in any_model(3, 7),
        seed in any::<u64>(),
        verdicts in prop::collection::vec(any::<u8>(), 7),
        count in 0usize..12,
    ) {
        let how = RandomDerivation { count, depth: 4, seed, ..RandomDerivation::default() };
        for relation in INPUT_OUTPUT {
            let own = derive(&s, relation, &how);
            let turned: Vec<TestCase> = own.iter().map(|case| turned(case, &verdicts)).collect();
            for cases in [own, turned] {
                let all: Vec<&TestCase> = cases.iter().collect();
                let found = exhaustiveness(&all, &s, relation, POLICY, &mut always);
                let depth = depth_of(&found);
                let listed = first_undetected(&cases, &s, relation, 4);
                prop_assert_eq!(depth.filter(|&d| d <= 4), listed);
                if let Exhaustiveness::UpTo(_, witness) = found {
                    let id = |a: &String| s.labels().get_text(a).unwrap();
                    let trace: Vec<LabelId> = witness.trace.iter().map(id).collect();
                    let at = set_after(&s, &trace);
                    prop_assert!(!at.is_empty());
                    prop_assert!(!out(&s, &at).contains(&id(witness.observed.as_ref().unwrap())));
                }
            }
        }
    }

    /// A suite that is exhaustive to a depth fails every implementation that differs within it, and
    /// suites that are derived to be exhaustive are found to be.
    #[test]
    fn implementations_agree_with_exhaustiveness(
        (s, i) in any_model(3, 8).prop_flat_map(|s| {
            let i = prop_oneof![any_mutant(s.clone()), any_implementation(3, 7)];
            (Just(s), i)
        }),
        depth in 1usize..5,
        kept in any::<u8>(),
    ) {
        let how = ExhaustiveDerivation { depth, enumeration: Enumeration::Traces, limit: 2000 };
        let model = ModelRef::default();
        let suites = [
            (SuiteRelation::Ioco, how.derive(&mut IocoOracle::new(&s, POLICY), &model)),
            (SuiteRelation::Ioconf, how.derive(&mut IoconfOracle::new(&s, POLICY), &model)),
        ];
        for (relation, found) in suites {
            let mut cases = found.cases;
            if found.complete {
                let all: Vec<&TestCase> = cases.iter().collect();
                let found = exhaustiveness(&all, &s, relation, POLICY, &mut always);
                prop_assert!(depth_of(&found).is_none_or(|d| d >= depth), "{:?}", found);
            }
            let every = 1 + usize::from(kept) % 3;
            let mut number = 0;
            cases.retain(|_| { number += 1; number % every == 0 });
            let all: Vec<&TestCase> = cases.iter().collect();
            let found = exhaustiveness(&all, &s, relation, POLICY, &mut always);
            let exact = depth_of(&found).unwrap_or(6).min(6);
            let differs = exact > 0 && match relation {
                SuiteRelation::Ioco => not_ioco(&i, &s, exact - 1).is_some(),
                _ => not_ioconf(&i, &s, exact - 1).is_some(),
            };
            let fails = cases.iter().any(|case| !passes(case, &i, POLICY));
            prop_assert!(!differs || fails, "{:?}", found);
        }
    }

    /// The same for conf, whose observations are refusals [LTS96, prop. 4.8].
    #[test]
    fn conf_suites(
        s in any_model(4, 8),
        i in any_model(4, 8),
        seed in any::<u64>(),
        verdicts in prop::collection::vec(any::<u8>(), 7),
        depth in 1usize..4,
    ) {
        let (s, i) = (plain(&s), plain(&i));
        let conforms = |i: &Lts| {
            matches!(relate(Relation::Conf, i, &s, POLICY, None).unwrap().holds, Holds::Yes)
        };
        let relation = SuiteRelation::Conf;
        let how = RandomDerivation { count: 3, depth: 4, seed, ..RandomDerivation::default() };
        for case in derive(&s, relation, &how) {
            prop_assert_eq!(soundness(&case, &s, relation, POLICY), None, "{}", case);
            let wrong = turned(&case, &verdicts);
            let found = soundness(&wrong, &s, relation, POLICY);
            for i in [&i, &s] {
                let fails = test_runs(&wrong, i, POLICY).run(Verdict::Fail).is_some();
                prop_assert!(!(fails && conforms(i) && found.is_none()), "{}", wrong);
            }
            if let Some(found) = found {
                // An implementation that shows it: the specification with the run beside it.
                let shows = beside(&s, &found.run);
                prop_assert!(conforms(&shows), "{}\n{:?}", wrong, found);
                prop_assert!(!passes(&wrong, &shows, POLICY), "{}\n{:?}", wrong, found);
            }
        }
        let how = ExhaustiveDerivation { depth, enumeration: Enumeration::Traces, limit: 2000 };
        let found = ConfDerivation::new(&s).exhaustive(&how, &ModelRef::default());
        if found.complete {
            let all: Vec<&TestCase> = found.cases.iter().collect();
            let quality = exhaustiveness(&all, &s, relation, POLICY, &mut always);
            prop_assert!(depth_of(&quality).is_none_or(|d| d >= depth), "{:?}", quality);
            let fewer: Vec<&TestCase> = all.iter().skip(1).copied().collect();
            let quality = exhaustiveness(&fewer, &s, relation, POLICY, &mut always);
            let fails = fewer.iter().any(|case| !passes(case, &i, POLICY));
            if let Holds::No(found) = relate(Relation::Conf, &i, &s, POLICY, None).unwrap().holds {
                let length = found[0].trace.len() + 1;
                prop_assert!(fails || depth_of(&quality).is_some_and(|d| d < length));
            }
        }
    }

    /// What covering suites cover is what they reach.
    #[test]
    fn covering_suites_reach_what_they_cover(s in any_model(4, 10), depth in 1usize..7) {
        let suite = CoverageSuite { goal: CoverageGoal::Transitions, depth, limit: 1000 };
        let covering = suite.derive(&s, POLICY, &ModelRef::default()).unwrap();
        let all: Vec<&TestCase> = covering.cases.iter().collect();
        let report = reach(&all, &s, POLICY, 1000, usize::MAX).unwrap();
        prop_assert!(report.transitions.seen >= covering.covered.seen);
        prop_assert_eq!(report.transitions.total, covering.covered.total);
        prop_assert_eq!(report.left.len(), report.transitions.total - report.transitions.seen);
    }
}

/// The specification that can also do a run, and nothing after it. On the way it can do all that one
/// state of the specification can, so it refuses no more than that.
fn beside(s: &Lts, run: &[String]) -> Lts {
    let mut b = LtsBuilder::with_labels(s.labels().clone());
    b.ensure_states(s.state_count());
    for (from, l, to) in s.transitions() {
        b.transition(from, l, to);
    }
    let mut at = Some(initial(s));
    let start = b.state();
    let mut here = start;
    for action in run {
        let label = b.labels_mut().intern_text(action);
        let next = b.state();
        if let Some(set) = &at {
            // A state without internal steps, or any of a livelock, offers what it can.
            let calm = |q: &&StateId| {
                s.steps(**q)
                    .iter()
                    .all(|(l, _)| s.labels().kind(*l) != LabelKind::Internal)
            };
            match set.iter().find(calm) {
                Some(&q) => {
                    for &(l, to) in s.steps(q) {
                        b.transition(here, l, to);
                    }
                }
                None => {
                    if let Some(&q) = set.first() {
                        b.transition(here, LabelId::TAU, q);
                    }
                }
            }
        }
        b.transition(here, label, next);
        at = at
            .map(|set| after(s, &set, Some(label)))
            .filter(|set| !set.is_empty());
        here = next;
    }
    // After a trace of the specification it goes on as the specification may.
    if let Some(set) = &at {
        for &q in set {
            b.transition(here, LabelId::TAU, q);
        }
    }
    let initial = b.state();
    b.transition(initial, LabelId::TAU, s.initial());
    b.transition(initial, LabelId::TAU, start);
    b.set_initial(initial);
    b.build().unwrap()
}
