//! A model as the system under test: everything it shows is in its suspension traces, and everything
//! in them is shown sooner or later.

mod support;

use std::collections::BTreeSet;

use iolite_derive::{Tester, Verdict};
use iolite_exec::{Adapter, ModelSut, Received, RefusedInput, RunId, Sent, Uniform, run};
use iolite_lts::{LabelKind, Lts, LtsBuilder, StateId};
use proptest::prelude::*;
use support::{SpecTester, lts, quick, script};

fn random_lts() -> impl Strategy<Value = Lts> {
    let labels = prop::sample::select(vec!["?a", "?b", "!x", "!y", "i"]);
    prop::collection::vec((0usize..5, labels, 0usize..5), 1..12).prop_map(|transitions| {
        let mut builder = LtsBuilder::new();
        builder.ensure_states(5);
        for label in ["?a", "?b", "!x", "!y"] {
            builder.labels_mut().intern_text(label);
        }
        for (from, label, to) in transitions {
            builder.transition_text(StateId::new(from), label, StateId::new(to));
        }
        // Input-enabled, as ioco asks of implementations.
        for state in 0..5 {
            for label in ["?a", "?b"] {
                let id = builder.labels_mut().intern_text(label);
                builder.transition(StateId::new(state), id, StateId::new(state));
            }
        }
        builder.build().unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// i ioco i for input-enabled i: the tester, from the definition, must never fail it.
    #[test]
    fn a_model_conforms_to_itself(model in random_lts(), seed: u64) {
        let mut tester = SpecTester::new(model.clone());
        let mut adapter = ModelSut::new(model, tester.dictionary(), seed);
        let mut options = quick();
        options.limits.steps = Some(200);
        let outcome = run(&mut tester, &mut adapter, &mut Uniform, &options, RunId::of(seed, 0), &mut ());
        prop_assert_eq!(outcome.unwrap().verdict, Verdict::Pass);
    }

    /// out(s0) from the definition is what is seen first over many seeds, δ by livelock included.
    #[test]
    fn every_first_observation_is_possible_and_comes(model in random_lts()) {
        let mut tester = SpecTester::new(model.clone());
        let allowed: BTreeSet<String> = tester.allowed().into_iter().collect();
        let mut adapter = ModelSut::new(model.clone(), tester.dictionary(), 0);
        let mut seen = BTreeSet::new();
        for seed in 0..400 {
            adapter.start(seed).unwrap();
            seen.insert(match adapter.receive(std::time::Duration::ZERO).unwrap() {
                Received::Output(x) => tester.alphabet().text(x).to_string(),
                Received::Nothing => "delta".to_owned(),
                Received::Ended(exit) => panic!("{exit}"),
            });
        }
        prop_assert!(seen.is_subset(&allowed), "{:?} of {:?}", seen, allowed);
        // In 400 tries an observation that takes few steps is missed with hardly any probability;
        // through a maze of internal steps it may be, so only models without them are held to it.
        let internal = model
            .transitions()
            .any(|(_, l, _)| model.labels().kind(l) == LabelKind::Internal);
        if !internal {
            prop_assert_eq!(seen, allowed);
        }
    }
}

#[test]
fn a_livelock_is_silent_and_can_be_left() {
    let spec = lts(&[(0, "i", 1), (1, "i", 0), (1, "!x", 2), (2, "?a", 2)]);
    let tester = SpecTester::new(spec.clone());
    let mut adapter = ModelSut::new(spec, tester.dictionary(), 0);
    let mut counts = [0; 2];
    for seed in 0..200 {
        adapter.start(seed).unwrap();
        match adapter.receive(std::time::Duration::ZERO).unwrap() {
            Received::Nothing => counts[0] += 1,
            Received::Output(_) => counts[1] += 1,
            Received::Ended(_) => unreachable!(),
        }
    }
    assert!(counts[0] > 20 && counts[1] > 20, "{counts:?}");
}

#[test]
fn a_refused_input_is_an_error_that_names_it() {
    let spec = lts(&[(0, "?a", 0)]);
    let mut tester = SpecTester::new(spec.clone());
    let a = tester.action("?a");
    // Only after an internal step is the input taken.
    let weak = lts(&[(0, "i", 1), (1, "?a", 2)]);
    let mut adapter = ModelSut::new(weak.clone(), tester.dictionary(), 0);
    adapter.start(0).unwrap();
    assert_eq!(adapter.send(a), Ok(Sent::Given));
    assert_eq!(adapter.describe_state(), "2");
    let Ok(Sent::Refused { reason }) = adapter.send(a) else {
        panic!("taken");
    };
    assert!(reason.contains("state 2"), "{reason}");
    // The engine makes it an error.
    let error = run(
        &mut tester,
        &mut adapter,
        &mut script(&spec, &["?a", "?a"]),
        &quick(),
        RunId::of(0, 0),
        &mut (),
    )
    .unwrap_err();
    assert_eq!(error.code(), "refused");
    assert!(error.to_string().contains("?a") && error.to_string().contains("state 2"));
    let mut lenient =
        ModelSut::new(weak, tester.dictionary(), 0).on_refused_input(RefusedInput::SelfLoop);
    lenient.start(0).unwrap();
    assert_eq!(lenient.send(a), Ok(Sent::Given));
    assert_eq!(lenient.send(a), Ok(Sent::Given));
    assert_eq!(lenient.describe_state(), "2");
}
