//! Test cases with data whose constant nobody knows, against one tester for each value of it: a run fails if
//! it fails with all values that explain it, and values that the test case says no more of explain everything.

mod data_models;

use std::collections::BTreeSet;
use std::sync::Arc;

use data_models::{actions, picks, step, text};
use iolite_derive::{
    Alphabet, ModelRef, Progress, SymbolicCaseTester, SymbolicOracleError, SymbolicTestCase,
    Tester, Verdict,
};
use iolite_expr::{Solver, Strategy, Value};
use iolite_lang::{lower_data, lower_data_observer, lower_data_purpose, parse_and_check};
use iolite_sts::{LabelKind, PruningGoal, SymbolicTest};

/// What the test case says with one value of the constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instance {
    /// It goes on.
    Running,
    /// The run does not conform to this instance.
    Failed,
    /// It has nothing to say any more: this value explains whatever follows.
    Gone,
}

fn tester(
    case: &Arc<SymbolicTestCase>,
    known: &[(String, Value)],
    alphabet: &Alphabet,
) -> SymbolicCaseTester {
    let solver = || Ok::<_, SymbolicOracleError>(Solver::embedded());
    SymbolicCaseTester::new(Arc::clone(case), known, alphabet, Strategy::Small, solver)
        .expect("a tester")
}

/// The verdict by the definition, and the instances after the step; `results` are those of the running ones.
fn verdict(
    instances: &mut [Instance],
    results: &[Option<Progress>],
    stimulus: bool,
) -> Option<Verdict> {
    let running = |k: &usize| results[*k].is_some();
    let all: Vec<usize> = (0..instances.len()).filter(running).collect();
    if stimulus {
        for k in &all {
            if results[*k] != Some(Progress::Continue) {
                instances[*k] = Instance::Gone;
            }
        }
        let none = !instances.contains(&Instance::Running);
        return none.then_some(Verdict::Inconc);
    }
    let mut met = BTreeSet::new();
    let mut conforming = BTreeSet::new();
    for k in &all {
        let said = match results[*k] {
            Some(Progress::Ended(verdict)) => Some(verdict),
            _ => None,
        };
        met.insert(said);
        if matches!(said, Some(Verdict::Fail | Verdict::ViolateFail)) {
            instances[*k] = Instance::Failed;
        } else {
            conforming.insert(said);
            if said == Some(Verdict::Inconc) {
                instances[*k] = Instance::Gone;
            }
        }
    }
    let before = |instances: &[Instance]| {
        let gone = |k: usize| instances[k] == Instance::Gone && !all.contains(&k);
        (0..instances.len()).any(gone)
    };
    let said: Vec<Option<Verdict>> = conforming.into_iter().collect();
    match said.as_slice() {
        [] | [Some(Verdict::Violate)] if before(instances) => Some(Verdict::Inconc),
        [] if met == BTreeSet::from([Some(Verdict::ViolateFail)]) => Some(Verdict::ViolateFail),
        [] => Some(Verdict::Fail),
        [only] => *only,
        [None, Some(Verdict::Inconc)] | [Some(Verdict::Inconc), None] => None,
        _ => Some(Verdict::Unknown),
    }
}

#[test]
fn verdicts_with_unknown_constants_are_those_of_all_values_together() {
    let (mut steps, mut met, mut mixed) = (0, BTreeSet::new(), 0);
    for i in 0..24usize {
        let text = text(&picks(i));
        let (file, _) = parse_and_check(&text);
        let system = lower_data(&file, "S").expect("a system");
        let observer = lower_data_observer(&file, "W", &system).expect("an observer");
        let purpose = lower_data_purpose(&file, "G", &system).expect("a purpose");
        let mut solver = Solver::embedded();
        let test = if i % 3 == 0 {
            let (accept, refuse) = (&purpose.accept, &purpose.refuse);
            SymbolicTest::towards(&system, &purpose.iosts, accept, refuse, &mut solver, 200)
        } else {
            SymbolicTest::new(
                &system,
                &observer.iosts,
                &observer.violate,
                &mut solver,
                200,
            )
        };
        // Some choices cannot be postponed.
        let Ok(test) = test else { continue };
        let trimmed = test.trimmed(&mut solver, 4_000);
        let (pruned, _) = trimmed.pruned_towards(PruningGoal::ViolateFail, &mut solver, 4_000);
        let case = SymbolicTestCase::of("T", ModelRef::from("m.iol#S"), &pruned.compacted());
        let case = Arc::new(case);
        let alphabet = Alphabet::default();
        let mut unknown = tester(&case, &[], &alphabet);
        let mut known: Vec<SymbolicCaseTester> = (0..3)
            .map(|k| tester(&case, &[("k".to_owned(), Value::int(k))], &alphabet))
            .collect();
        let mut open = vec![(Vec::new(), vec![Instance::Running; 3])];
        while let Some((trace, instances)) = open.pop() {
            for a in 0..actions().len() {
                unknown.reset();
                known.iter_mut().for_each(Tester::reset);
                for &b in &trace {
                    let taken = step(&system, &alphabet, b);
                    assert_eq!(unknown.step(taken), Progress::Continue, "{trace:?}");
                    for tester in &mut known {
                        tester.step(taken);
                    }
                }
                let taken = step(&system, &alphabet, a);
                let results: Vec<Option<Progress>> = known
                    .iter_mut()
                    .zip(&instances)
                    .map(|(k, at)| (*at == Instance::Running).then(|| k.step(taken)))
                    .collect();
                let mut after = instances.clone();
                let stimulus = actions()[a].0 == LabelKind::Input;
                let expected = verdict(&mut after, &results, stimulus);
                let got = match unknown.step(taken) {
                    Progress::Continue => None,
                    Progress::Ended(verdict) => Some(verdict),
                };
                assert_eq!(
                    got,
                    expected,
                    "system {i} after {trace:?} then {a}: {results:?}, {instances:?}\n{text}\n{}",
                    case.program()
                );
                steps += 1;
                met.insert(got);
                mixed += usize::from(after.contains(&Instance::Failed) && got.is_none());
                if got.is_none() && trace.len() < 2 {
                    let longer: Vec<usize> = trace.iter().copied().chain([a]).collect();
                    open.push((longer, after));
                }
            }
        }
    }
    println!("{steps} steps, {mixed} went on without a value, {met:?}");
    assert!(steps > 500 && mixed > 30, "{steps}, {mixed}");
    for verdict in [Verdict::Fail, Verdict::Inconc, Verdict::Unknown] {
        assert!(
            met.contains(&Some(verdict)),
            "{verdict:?} is not met: {met:?}"
        );
    }
}
