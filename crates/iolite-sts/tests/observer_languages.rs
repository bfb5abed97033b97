//! Languages of observers [SYM04, def. 9, lemma 2 and def. 10], trace by trace.
#![allow(missing_docs)]

mod support;

use std::collections::BTreeSet;
use std::time::Duration;

use iolite_expr::{Solver, Value};
use iolite_lts::{Determinised, QuiescencePolicy, Suspension};
use iolite_sts::analysis::{VerifyBudget, satisfies};
use iolite_sts::{Iosts, LabelKind, LocationId, State, UnfoldBudget};
use support::{random_model, random_observer, values_of};

/// The actions of an observer with all their values, as text and as gate and value.
fn actions(observer: &Iosts) -> Vec<(String, LabelKind, String, Vec<Value>)> {
    let mut all = Vec::new();
    for (_, gate) in observer.gates().filter(|(_, g)| g.kind.is_visible()) {
        let rows = match gate.params.first() {
            None => vec![Vec::new()],
            Some(p) => values_of(&p.sort).into_iter().map(|v| vec![v]).collect(),
        };
        for row in rows {
            let values = match row.first() {
                None => String::new(),
                Some(v) => format!("({v})"),
            };
            let text = match gate.kind {
                LabelKind::Delta => "delta".to_owned(),
                kind => format!("{}{}{values}", kind.sigil(), gate.name),
            };
            all.push((text, gate.kind, gate.name.to_string(), row));
        }
    }
    all
}

/// The traces of up to `length` actions that end in a marked location.
fn language(observer: &Iosts, marked: &[LocationId], length: usize) -> BTreeSet<Vec<String>> {
    let actions = actions(observer);
    let initial: Vec<Value> = vec![Value::from(0); observer.variables().len()];
    let start = State {
        location: observer.initial(),
        values: initial.into(),
    };
    let mut found = BTreeSet::new();
    let mut layer = vec![(Vec::new(), BTreeSet::from([start]))];
    for _ in 0..length {
        let mut next = Vec::new();
        for (trace, states) in layer {
            for (text, kind, name, values) in &actions {
                let mut after = BTreeSet::new();
                for state in &states {
                    for &t in observer.outgoing(state.location) {
                        let gate = observer.gate(observer.transition(t).action);
                        if (gate.kind, &*gate.name) == (*kind, name.as_str()) {
                            after.extend(observer.fire(state, &[], t, values).unwrap());
                        }
                    }
                }
                if after.is_empty() {
                    continue;
                }
                let mut longer: Vec<String> = trace.clone();
                longer.push(text.clone());
                if after.iter().any(|s| marked.contains(&s.location)) {
                    found.insert(longer.clone());
                }
                next.push((longer, after));
            }
        }
        layer = next;
    }
    found
}

/// Lemma 2: the language of ω ∥ φ with violating pairs is what the languages of ω and φ have in common.
#[test]
fn two_observers_together_see_what_both_see() {
    let mut seen = 0;
    for seed in 0..40 {
        let system = random_model(seed);
        let (one, bad_one) = random_observer(&system, seed);
        let (two, bad_two) = random_observer(&system, seed + 500);
        let both = one.product(&two).unwrap();
        let name = |model: &Iosts, l: LocationId| model.location(l).name.to_string();
        let wanted = format!("{}.{}", name(&one, bad_one[0]), name(&two, bad_two[0]));
        let marked: Vec<LocationId> = both
            .locations()
            .filter(|(_, l)| *l.name == *wanted)
            .map(|(id, _)| id)
            .collect();
        let (x, y) = (language(&one, &bad_one, 3), language(&two, &bad_two, 3));
        let common: BTreeSet<_> = x.intersection(&y).cloned().collect();
        assert_eq!(language(&both, &marked, 3), common, "seed {seed}");
        seen += common.len();
    }
    assert!(seen > 20, "{seen}");
}

/// Definition 10: S ⊨ ω iff Traces(S^δ) ∩ L(ω) = ∅, the traces being those of the unfolded system.
#[test]
fn a_system_satisfies_an_observer_if_they_have_no_trace_in_common() {
    let policy = QuiescencePolicy::Strict;
    let (mut proved, mut refuted) = (0, 0);
    for seed in 0..60 {
        let system = random_model(seed);
        if system.internal_cycle().is_some() {
            continue;
        }
        let (observer, violate) = random_observer(&system, seed);
        let unfolded = system.unfold(&mut Solver::embedded(), UnfoldBudget::default());
        let Ok(lts) = unfolded else { continue };
        let labels = lts.labels().clone();
        let mut view = Determinised::new(Suspension::new(lts, policy));
        let mut traces: BTreeSet<Vec<String>> = BTreeSet::new();
        let mut layer = vec![(Vec::<String>::new(), view.initial())];
        for _ in 0..3 {
            let mut next = Vec::new();
            for (trace, set) in layer {
                for (label, to) in view.row(set).to_vec() {
                    let mut longer = trace.clone();
                    longer.push(labels.text(label));
                    traces.insert(longer.clone());
                    next.push((longer, to));
                }
            }
            layer = next;
        }
        let short = !traces.is_disjoint(&language(&observer, &violate, 3));
        let budget = VerifyBudget {
            time: Duration::from_secs(20),
            ..VerifyBudget::default()
        };
        let mut solver = Solver::embedded();
        let found = satisfies(&system, &observer, &violate, policy, &mut solver, budget);
        let (model, answer) = found.unwrap();
        match &answer {
            iolite_sts::analysis::Answer::Proved(_) => {
                assert!(!short, "seed {seed}");
                proved += 1;
            }
            iolite_sts::analysis::Answer::Refuted(r) => {
                let texts = r.texts(&model);
                // A short trace is among those that both have; a long one may be the only one.
                assert!(
                    texts.len() > 3 || traces.contains(&texts),
                    "seed {seed}: {texts:?}"
                );
                refuted += 1;
            }
            iolite_sts::analysis::Answer::Unknown { left } => panic!("seed {seed}: {left:?}"),
        }
    }
    println!("{proved} proved, {refuted} refuted");
    assert!(proved > 10 && refuted > 5, "{proved}, {refuted}");
}
