//! The ioco tester of `iolite-derive`, run by the engine, against the one written from the definition.

mod support;

use iolite_derive::{Action, ConformanceTester, IocoOracle, Progress, Step, Tester, Verdict};
use iolite_exec::codec::LabelDictionary;
use iolite_exec::{ModelSut, RefusedInput, RunId, Uniform, run};
use iolite_lts::{LabelKind, Lts, LtsBuilder, QuiescencePolicy, StateId};
use proptest::prelude::*;
use support::{SpecTester, quick};

const SPECIFIED: &[&str] = &["?a", "?b", "!x", "!y", "i"];

/// In another order, and with actions that no specification declares.
const OF_MODELS: &[&str] = &["!z", "?c", "i", "!y", "?b", "!x", "?a", "!x(1)"];

fn random_lts(labels: &'static [&'static str]) -> impl Strategy<Value = Lts> {
    let label = prop::sample::select(labels);
    prop::collection::vec((0usize..5, label, 0usize..5), 1..14).prop_map(move |transitions| {
        let mut builder = LtsBuilder::new();
        builder.ensure_states(5);
        for label in labels {
            builder.labels_mut().intern_text(label);
        }
        for (from, label, to) in transitions {
            builder.transition_text(StateId::new(from), label, StateId::new(to));
        }
        builder.build().unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever the model under test does, declared or not, both testers come to the same verdict at
    /// the same step, and the certificate's allowed set is out of the definition.
    #[test]
    fn verdicts_are_those_of_the_definition(
        spec in random_lts(SPECIFIED),
        model in random_lts(OF_MODELS),
        seed: u64,
    ) {
        let oracle = IocoOracle::new(spec.clone(), QuiescencePolicy::Livelock);
        let mut tester = ConformanceTester::new(oracle);
        let dictionary = LabelDictionary::new(tester.alphabet(), spec.labels());
        let mut adapter =
            ModelSut::new(model, dictionary, seed).on_refused_input(RefusedInput::SelfLoop);
        let mut options = quick();
        options.limits.steps = Some(60);
        let id = RunId::of(seed, 0);
        let outcome = run(&mut tester, &mut adapter, &mut Uniform, &options, id, &mut ()).unwrap();
        let mut slow = SpecTester::new(spec);
        let steps = outcome.trace.steps();
        let mut verdict = Verdict::Pass;
        for (i, step) in steps.iter().enumerate() {
            let mut allowed = slow.allowed();
            // By its name: the two testers have different tables.
            let text = step.text(tester.alphabet());
            let foreign = || {
                let name = text.strip_prefix('!').expect("an output");
                let action = Action::plain(LabelKind::Output, name);
                Step::Output(slow.alphabet().intern(action))
            };
            let known = Step::parse(&text, slow.parser());
            let step = known.unwrap_or_else(foreign);
            if let Progress::Ended(ended) = slow.step(step) {
                prop_assert_eq!(i + 1, steps.len());
                verdict = ended;
                let certificate = outcome.certificate.clone().unwrap();
                prop_assert_eq!(certificate.observed, Some(text));
                let mut told = certificate.allowed;
                told.sort();
                allowed.sort();
                prop_assert_eq!(told, allowed);
            }
        }
        prop_assert_eq!(outcome.verdict, verdict);
    }
}
