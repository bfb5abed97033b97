//! Canonical testers at work: against the definition, and conformance as a property against ioco.

mod common;

use std::sync::Arc;

use common::{any_model, step, words};
use iolite_derive::{
    ActionId, ConformanceTester, IocoOracle, Menu, Progress, PropertyEnd, PropertyTester, Step,
    Tester, Verdict, WatchedProperty,
};
use iolite_lts::{Determinised, LabelId, Labels, QuiescencePolicy, Suspension};
use iolite_property::conformance::conformance;
use iolite_property::ltl::Options;
use iolite_property::{
    Alphabet, Basis, CanonicalTester, Ltl, PropertyVerdict, Quiescence, Reading, Relation,
    StreettAutomaton, TesterOptions,
};
use proptest::prelude::*;

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;

fn property(names: &[&str], formula: &str) -> StreettAutomaton {
    let sigma = Arc::new(Alphabet::of_names(names.iter().copied()).unwrap());
    let ltl = Ltl::parse(formula, &sigma).unwrap();
    ltl.translate(&sigma, Options::default()).unwrap().automaton
}

fn watch(properties: &[(&str, &StreettAutomaton)], options: TesterOptions) -> PropertyTester {
    let mut labels = Labels::new();
    let watched = properties
        .iter()
        .map(|(name, a)| {
            labels.join(a.alphabet().labels());
            WatchedProperty {
                name: (*name).to_owned(),
                tester: CanonicalTester::new(a, options).unwrap(),
            }
        })
        .collect();
    labels.intern_text("!other");
    PropertyTester::new(watched, &Arc::new(labels))
}

fn quiet(relation: Relation) -> TesterOptions {
    TesterOptions {
        relation,
        quiescence: true,
        basis: Basis::Determinacy(Reading::FiniteAndInfinite),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    /// The tester of conformance as a safety property fails exactly where ioco's does
    /// [PROP12, §9.1].
    #[test]
    fn conformance_is_the_tester_of_ioco(s in any_model(4, 9)) {
        let labels = s.labels();
        let letters: Vec<LabelId> = labels
            .inputs()
            .chain(labels.outputs())
            .chain([LabelId::DELTA])
            .collect();
        let sigma = Arc::new(Alphabet::new(labels.clone(), letters).unwrap());
        let mut view = Determinised::new(Suspension::new(&s, POLICY));
        let start = view.initial();
        let automaton = conformance(sigma.clone(), start, 10_000, |&set, l| {
            view.after(set, sigma.label(l))
        })
        .unwrap();
        let tester = CanonicalTester::new(&automaton, TesterOptions::default()).unwrap();
        let watched = vec![WatchedProperty { name: "ioco".into(), tester }];
        let mut by_property = PropertyTester::new(watched, &Arc::new(labels.clone()));
        let mut by_ioco = ConformanceTester::new(IocoOracle::new(&s, POLICY));
        'words: for word in words(labels, 4) {
            by_property.reset();
            by_ioco.reset();
            for &l in &word {
                let expected = by_ioco.step(step(labels, l));
                let found = by_property.step(step(labels, l));
                prop_assert_eq!(
                    found == Progress::Ended(Verdict::Fail),
                    expected == Progress::Ended(Verdict::Fail)
                );
                if expected != Progress::Continue {
                    continue 'words;
                }
            }
        }
    }

    /// Several at once say what each says alone, step by step.
    #[test]
    fn several_properties_are_each_alone(word in prop::collection::vec(0_usize..6, 0..12)) {
        let names = ["?a", "!x", "!y"];
        let automata = [
            property(&names, "G(?a -> F !x)"),
            property(&names[..2], "! !x W ?a"),
            property(&names, "F !y"),
            property(&names[1..], "G ! (!y & !x) & (!x R ! !y)"),
        ];
        let options = quiet(Relation::Inclusion);
        let named: Vec<(&str, &StreettAutomaton)> = automata.iter().map(|a| ("p", a)).collect();
        let mut all = watch(&named, options).until(PropertyEnd::AllSettled);
        let mut states: Vec<(CanonicalTester, _)> = automata
            .iter()
            .map(|a| {
                let tester = CanonicalTester::new(a, options).unwrap();
                let q = tester.initial();
                (tester, q)
            })
            .collect();
        let mut table = Labels::new();
        for a in &automata {
            table.join(a.alphabet().labels());
        }
        for &k in &word {
            let text = ["?a", "!x", "!y", "!other", "delta", "deadlock"][k];
            let label = table.get_text(text);
            for (tester, q) in &mut states {
                let own = tester.alphabet().labels();
                *q = match text {
                    "delta" => tester.step_quiescent(*q, Quiescence::OutputLock),
                    "deadlock" => tester.step_quiescent(*q, Quiescence::Deadlock),
                    _ => own.get_text(text).map_or(*q, |l| tester.step(*q, l)),
                };
            }
            let progress = match text {
                "?a" => all.step(Step::Stimulus(label.unwrap().into())),
                "delta" => all.step(Step::Quiescence),
                "deadlock" => all.step(Step::Deadlock),
                "!other" => all.step(Step::Output(LabelId::new(table.len()).into())),
                _ => all.step(Step::Output(label.unwrap().into())),
            };
            let expected: Vec<String> =
                states.iter().map(|(t, q)| t.verdict(*q).to_string()).collect();
            let found: Vec<String> =
                all.outcomes().iter().map(|o| o.verdict.to_string()).collect();
            prop_assert_eq!(&found, &expected);
            let settled = states.iter().all(|(t, q)| t.verdict(*q).is_final());
            prop_assert_eq!(matches!(progress, Progress::Ended(_)), settled);
            if settled {
                break;
            }
        }
    }
}

#[test]
fn silence_while_something_is_pending() {
    let p = property(&["?a", "!x"], "G(?a -> F !x)");
    let mut tester = watch(&[("P", &p)], quiet(Relation::Inclusion));
    let a = LabelId::new(2);
    assert_eq!(tester.step(Step::Quiescence), Progress::Continue);
    assert_eq!(tester.step(Step::Stimulus(a.into())), Progress::Continue);
    assert_eq!(tester.allowed(), ["!x"]);
    assert_eq!(
        tester.step(Step::Quiescence),
        Progress::Ended(Verdict::Fail)
    );
    let outcome = &tester.outcomes()[0];
    assert_eq!((outcome.verdict, outcome.step), (Verdict::Fail, Some(3)));
    tester.reset();
    // Termination with nothing pending: this execution is over, and inside.
    assert_eq!(
        tester.step(Step::Deadlock),
        Progress::Ended(Verdict::WeakPass)
    );
}

/// [PROP12, §7]: after a refused input the verdict is the one before it.
#[test]
fn a_refused_input_ends_the_run_with_the_verdict_before() {
    let p = property(&["?a", "!x"], "G ! ?a");
    let a = ActionId::from(LabelId::new(2));
    let mut tester = watch(&[("P", &p)], quiet(Relation::Inclusion)).driving(vec![a]);
    let mut menu = Menu::default();
    tester.menu(&mut menu);
    assert_eq!(menu.stimuli, [a]);
    let failed = Progress::Ended(Verdict::Fail);
    assert_eq!(tester.step(Step::Stimulus(a)), failed);
    assert_eq!(tester.verdict(), Verdict::Fail);
    let before = Progress::Ended(Verdict::Unknown);
    assert_eq!(tester.refused(), Some(before));
    assert_eq!(tester.verdict(), Verdict::Unknown);
    assert_eq!(tester.step(Step::Quiescence), before);
    menu.clear();
    tester.menu(&mut menu);
    assert!(menu.stop && !menu.observe && menu.stimuli.is_empty());
    assert_eq!(tester.verdict(), Verdict::Unknown);
    assert_eq!(tester.outcomes()[0].step, None);
    // The next run starts afresh.
    tester.reset();
    assert_eq!(tester.step(Step::Stimulus(a)), failed);
    menu.clear();
    tester.menu(&mut menu);
    assert!(!menu.observe);
    assert_eq!(tester.verdict(), Verdict::Fail);
}

/// [PROP12, §7.2].
#[test]
fn inputs_that_lose_the_target_are_left_out() {
    let names = ["?a", "?b", "!x"];
    // `?b` before `!x` makes the guarantee unreachable.
    let p = property(&names, "! ?b U !x");
    let [a, b, x] = [2, 3, 4].map(ActionId::new);
    let driving = || {
        let options = quiet(Relation::NonDisjointness);
        watch(&[("P", &p)], options).driving(vec![a, b])
    };
    let mut menu = Menu::default();
    driving().menu(&mut menu);
    assert_eq!(menu.stimuli, [a, b]);
    let mut aimed = driving().aiming_at(PropertyVerdict::Pass);
    menu.clear();
    aimed.menu(&mut menu);
    assert_eq!(menu.stimuli, [a]);
    assert_eq!(aimed.step(Step::Output(x)), Progress::Ended(Verdict::Pass));
    // Where the target is lost without another verdict, nothing is left to do.
    let q = property(&names, "G F !x & (! ?b W !x)");
    let mut lost = watch(&[("Q", &q)], TesterOptions::default())
        .driving(vec![a, b])
        .aiming_at(PropertyVerdict::Fail);
    assert_eq!(lost.step(Step::Output(x)), Progress::Ended(Verdict::Inconc));
}

/// What is owed and since when, against the prefixes of the sequence one by one: after each from *since*
/// on the property rejects, and an owed action lies on a shortest way to acceptance.
#[test]
fn what_is_pending_is_told_by_prefixes() {
    let names = ["?a", "?c", "!x", "!y"];
    let mut pending = 0;
    for formula in [
        "G(?a -> F !x)",
        "G(?a -> F(!x & X !y))",
        "F !x",
        "G F !x",
        "G(?a -> F !x) & G(?c -> F !y)",
        "F G ! ?a",
        "G ! !y",
    ] {
        let automaton = property(&names, formula);
        let options = quiet(Relation::Inclusion);
        let mut tester = watch(&[("P", &automaton)], options);
        let sigma = automaton.alphabet().clone();
        for word in words(sigma.labels(), 4) {
            tester.reset();
            let letters: Vec<_> = word.iter().filter_map(|&l| sigma.letter(l)).collect();
            if letters.len() < word.len() {
                continue;
            }
            for &l in &word {
                tester.step(step(sigma.labels(), l));
            }
            let outcome = tester.outcomes().remove(0);
            let rejected = |n: usize| !automaton.accepts(&letters[..n]);
            let open = outcome.verdict == Verdict::Unknown && rejected(letters.len());
            assert_eq!(outcome.pending.is_some(), open, "{formula} {word:?}");
            let Some((debt, since)) = outcome.pending else {
                continue;
            };
            pending += 1;
            let since = usize::try_from(since).unwrap();
            assert!((since..=letters.len()).all(rejected), "{formula} {word:?}");
            assert!(since == 0 || !rejected(since - 1), "{formula} {word:?}");
            // The shortest ways, tried one by one.
            let mut ways: Vec<Vec<_>> = vec![Vec::new()];
            let accepted: Vec<Vec<_>> = loop {
                let longer = ways.iter().flat_map(|w: &Vec<_>| {
                    let one = |l| [&w[..], &[l]].concat();
                    sigma.iter().map(one).collect::<Vec<_>>()
                });
                ways = longer.collect();
                let paid = |w: &&Vec<_>| automaton.accepts(&[&letters[..], &w[..]].concat());
                let found: Vec<Vec<_>> = ways.iter().filter(paid).cloned().collect();
                if !found.is_empty() {
                    break found;
                }
            };
            assert_eq!(debt.steps, accepted[0].len(), "{formula} {word:?}");
            let mut first: Vec<String> = accepted.iter().map(|w| sigma.text(w[0])).collect();
            first.dedup();
            assert_eq!(debt.owed, first, "{formula} {word:?}");
        }
    }
    assert!(pending > 500, "{pending}");
}
