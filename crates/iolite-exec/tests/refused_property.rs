//! A tester of properties judges a refused stimulus itself.

use std::sync::Arc;
use std::time::Duration;

use iolite_derive::{PropertyTester, Tester, Verdict, WatchedProperty};
use iolite_exec::codec::LabelDictionary;
use iolite_exec::{End, ModelSut, Op, Options, Quiescence, RunId, Script, run};
use iolite_lts::{Labels, LtsBuilder, StateId};
use iolite_property::ltl::Options as Translation;
use iolite_property::{Alphabet, CanonicalTester, Ltl, TesterOptions};

/// "If the IUT refuses an input, the test execution terminates and the associated verdict is the last
/// produced one, before trying to emit the input" [PROP12, §7].
#[test]
fn a_refused_stimulus_ends_a_property_test_with_the_verdict_before() {
    let sigma = Arc::new(Alphabet::of_names(["?a", "!x"]).unwrap());
    let formula = Ltl::parse("G ! ?a", &sigma).unwrap();
    let automaton = formula.translate(&sigma, Translation::default()).unwrap();
    let canonical = CanonicalTester::new(&automaton.automaton, TesterOptions::default()).unwrap();
    let mut labels = Labels::new();
    labels.join(sigma.labels());
    let labels = Arc::new(labels);
    for (taken, verdict) in [("?a", Verdict::Fail), ("?b", Verdict::Unknown)] {
        let watched = WatchedProperty {
            name: "no a".into(),
            tester: canonical.clone(),
        };
        let mut tester = PropertyTester::new(vec![watched], &labels);
        let a = tester.alphabet().declared("?a").unwrap();
        tester = tester.driving(vec![a]);
        let mut model = LtsBuilder::new();
        model.ensure_states(3);
        model.transition_text(StateId::new(0), "!x", StateId::new(1));
        model.transition_text(StateId::new(1), taken, StateId::new(2));
        let dictionary = LabelDictionary::new(tester.alphabet(), &labels);
        let mut adapter = ModelSut::new(model.build().unwrap(), dictionary, 1);
        let options = Options {
            quiescence: Quiescence::after(Duration::from_millis(100)),
            ..Options::default()
        };
        let mut script = Script::new(vec![Op::Observe, Op::Give(a), Op::Observe]);
        let id = RunId::of(0, 0);
        let outcome = run(
            &mut tester,
            &mut adapter,
            &mut script,
            &options,
            id,
            &mut (),
        )
        .unwrap();
        assert_eq!((outcome.verdict, outcome.end), (verdict, End::Tester));
        assert_eq!(outcome.results, [("no a".to_owned(), verdict)]);
        assert_eq!(outcome.certificate.is_some(), verdict == Verdict::Fail);
        assert_eq!(outcome.steps, 2);
    }
}
