//! ioco, uioco and ioconf between systems with data, against the search over the unfolded systems: the same
//! answer, and counterexamples of the same length.
#![allow(missing_docs)]

mod support;

use iolite_expr::{Solver, Value};
use iolite_lts::relation::{Holds, Relation, relate};
use iolite_lts::{Completed, Completion, Interned, Lts, QuiescencePolicy};
use iolite_sts::analysis::{Answer, VerifyBudget};
use iolite_sts::{DataRelation, Iosts, UnfoldBudget, conforms, is_input_enabled};
use support::{random_model, random_model_and_more};

/// A random system with known data and no cycle of internal actions.
fn system(seed: u64) -> Option<Iosts> {
    let model = random_model(seed);
    let fixed = model.variables().iter().all(|v| v.initial.is_some());
    let usable = fixed && model.internal_cycle().is_none();
    usable.then(|| model.instance("M", &[("c", Value::from(2))]).unwrap())
}

fn unfolded(model: &Iosts) -> Lts {
    let budget = UnfoldBudget {
        states: 20_000,
        values: 50,
    };
    model.unfold(&mut Solver::embedded(), budget).unwrap()
}

#[test]
fn relations_with_data_are_those_of_the_unfolded_systems() {
    let policy = QuiescencePolicy::Strict;
    let budget = VerifyBudget {
        steps: 60_000,
        ..VerifyBudget::default()
    };
    let (mut yes, mut no, mut unknown, mut refused) = (0, 0, 0, 0);
    for seed in 0..260 {
        // Every third implementation is the specification itself.
        let other = if seed % 3 == 0 { seed } else { seed / 2 + 500 };
        let (Some(i), Some(s)) = (system(other), system(seed)) else {
            continue;
        };
        let mut solver = Solver::embedded();
        let Ok(completed) = i.input_completed(&s, &mut solver) else {
            continue;
        };
        let (_, enabled) = is_input_enabled(&completed, &s, &mut solver, budget).unwrap();
        assert_eq!(enabled.decided(), Some(true), "seed {seed}: {enabled:?}");
        let (i_lts, s_lts) = (unfolded(&i), unfolded(&s));
        let view = Completed::over(&i_lts, Completion::SelfLoop, s_lts.labels());
        let view = Interned::new(view);
        for (relation, own) in [
            (Relation::Ioco, DataRelation::Ioco),
            (Relation::Uioco, DataRelation::Uioco),
            (Relation::Ioconf, DataRelation::Ioconf),
        ] {
            let right = relate(relation, &view, &s_lts, policy, None).unwrap().holds;
            let Ok(found) = conforms(&completed, &s, own, policy, &mut solver, budget) else {
                refused += 1;
                continue;
            };
            let context = || {
                format!(
                    "seed {seed}, {relation}\n{i}\n{s}\n{:?}\n{right:?}",
                    found.answer
                )
            };
            match (&found.answer, &right) {
                (Answer::Proved(_), Holds::Yes) => yes += 1,
                (Answer::Refuted(refutation), Holds::No(all)) => {
                    let shortest = all[0].trace.len() + 1;
                    assert_eq!(refutation.trace.len(), shortest, "{}", context());
                    assert_eq!(found.depth, shortest - 1, "{}", context());
                    no += 1;
                }
                // Only runs are searched for there.
                (Answer::Unknown { left }, _)
                    if left.iter().any(|l| l.contains("no deterministic form")) =>
                {
                    refused += 1;
                }
                (Answer::Unknown { .. }, _) => unknown += 1,
                _ => panic!("{}", context()),
            }
        }
    }
    println!("{yes} hold, {no} do not, {unknown} unknown, {refused} without a deterministic form");
    assert!(
        yes > 20 && no > 20 && unknown * 10 < yes + no,
        "{yes} {no} {unknown} {refused}"
    );
}

/// Implementations for a specification whose constant has no value: itself, one of its instances, either with outputs
/// that it may not allow, another system.
fn implementation(seed: u64) -> Option<Iosts> {
    let model = match seed % 6 {
        0 => random_model(seed),
        1 => {
            let value = Value::from(i64::try_from(seed / 6 % 3).unwrap());
            random_model(seed).instance("M", &[("c", value)]).ok()?
        }
        2 | 3 => random_model_and_more(seed, 1),
        4 => {
            let value = Value::from(i64::try_from(seed / 6 % 3).unwrap());
            let model = random_model_and_more(seed, 2);
            model.instance("M", &[("c", value)]).ok()?
        }
        _ => random_model(seed / 2 + 700),
    };
    model.internal_cycle().is_none().then_some(model)
}

#[test]
fn a_specification_without_values_is_the_union_of_its_instances() {
    let policy = QuiescencePolicy::Strict;
    let budget = VerifyBudget {
        steps: 20_000,
        ..VerifyBudget::default()
    };
    let (mut yes, mut no, mut unknown) = (0, 0, 0);
    for seed in 0..48 {
        let s = random_model(seed);
        let Some(i) = implementation(seed) else {
            continue;
        };
        if s.internal_cycle().is_some() {
            continue;
        }
        let mut solver = Solver::embedded();
        let Ok(completed) = i.input_completed(&s, &mut solver) else {
            continue;
        };
        let (i_lts, s_lts) = (unfolded(&i), unfolded(&s));
        let view = Completed::over(&i_lts, Completion::SelfLoop, s_lts.labels());
        let view = Interned::new(view);
        for (relation, own) in [
            (Relation::Ioco, DataRelation::Ioco),
            (Relation::Uioco, DataRelation::Uioco),
            (Relation::Ioconf, DataRelation::Ioconf),
        ] {
            let right = relate(relation, &view, &s_lts, policy, None).unwrap().holds;
            let found = conforms(&completed, &s, own, policy, &mut solver, budget).unwrap();
            let context = || {
                format!(
                    "seed {seed}, {relation}\n{completed}\n{s}\n{:?}\ndepth {}\n{right:?}",
                    found.answer, found.depth
                )
            };
            if let Holds::No(all) = &right {
                // What the depth claims is true whatever the answer is.
                assert!(found.depth <= all[0].trace.len(), "{}", context());
            }
            match (&found.answer, &right) {
                (Answer::Proved(_), Holds::Yes) => yes += 1,
                (Answer::Refuted(refutation), Holds::No(all)) => {
                    let shortest = all[0].trace.len() + 1;
                    assert!(refutation.trace.len() >= shortest, "{}", context());
                    if found.depth + 1 == refutation.trace.len() {
                        assert_eq!(refutation.trace.len(), shortest, "{}", context());
                    }
                    no += 1;
                }
                (Answer::Unknown { .. }, _) => unknown += 1,
                _ => panic!("{}", context()),
            }
        }
    }
    println!("{yes} hold, {no} do not, {unknown} unknown");
    assert!(yes > 10 && no > 20, "{yes} {no} {unknown}");
    assert!(unknown < yes + no, "{yes} {no} {unknown}");
}
