//! uioco: the tester on the fly and derived test cases, against the kernel's relation and against the
//! definition.

mod common;

use std::collections::BTreeSet;

use common::{
    after, any_implementation, any_model, any_mutant, complete, initial, model, not_uioco, out,
    step, takes, words,
};
use iolite_derive::{
    ActionId, ConformanceTester, Criterion, Enumeration, ExhaustiveDerivation, FiniteOracle,
    IocoOracle, Menu, ModelRef, Oracle, Progress, RandomDerivation, Step, TestCase, Tester,
    UiocoOracle, Verdict, passes,
};
use iolite_lts::relation::{Holds, Observed, Relation, relate};
use iolite_lts::{LabelId, LabelKind, Lts, QuiescencePolicy, StateId};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;

/// Nondeterministic specifications are the ones that ioco and uioco tell apart.
fn pair() -> impl Strategy<Value = (Lts, Lts)> {
    any_model(4, 11).prop_flat_map(|s| {
        let i = prop_oneof![
            3 => any_mutant(s.clone()),
            1 => any_implementation(3, 7),
            1 => Just(complete(&s)),
        ];
        (Just(s), i)
    })
}

/// The kernel's shortest counterexample: a trace, and what is seen after it.
fn kernel(i: &Lts, s: &Lts) -> Option<(Vec<LabelId>, LabelId)> {
    let answer = relate(Relation::Uioco, i, s, POLICY, None).expect("input-enabled");
    match answer.holds {
        Holds::Yes => None,
        Holds::No(found) => {
            let Observed::Action(seen) = found[0].observed else {
                panic!("uioco is about outputs");
            };
            Some((found[0].trace.clone(), seen))
        }
        Holds::Unknown => panic!("nothing stops the search"),
    }
}

fn tester(s: &Lts) -> ConformanceTester<UiocoOracle<&Lts>> {
    ConformanceTester::new(UiocoOracle::new(s, POLICY))
}

fn enumerate<O: FiniteOracle>(
    oracle: &mut O,
    depth: usize,
    enumeration: Enumeration,
) -> Option<Vec<TestCase>> {
    let how = ExhaustiveDerivation {
        depth,
        enumeration,
        limit: 4000,
    };
    let found = how.derive(oracle, &ModelRef::default());
    found.complete.then_some(found.cases)
}

/// The length of the shortest trace after which the tester fails the implementation, by walking all
/// suspension traces of the implementation that the menu allows.
fn shortest_failure(i: &Lts, s: &Lts, depth: usize) -> Option<usize> {
    let mut tester = tester(s);
    let mut level: Vec<(Vec<LabelId>, BTreeSet<StateId>)> = vec![(Vec::new(), initial(i))];
    for length in 0..depth {
        let mut next = Vec::new();
        for (trace, p) in level {
            for (label, _) in s.labels().iter().filter(|(_, l)| l.kind.is_visible()) {
                let q = after(i, &p, Some(label));
                if q.is_empty() {
                    continue;
                }
                tester.reset();
                for &l in &trace {
                    assert_eq!(tester.step(step(s.labels(), l)), Progress::Continue);
                }
                let mut menu = Menu::default();
                tester.menu(&mut menu);
                let input = s.labels().kind(label) == LabelKind::Input;
                if input && !menu.stimuli.contains(&label.into()) {
                    continue;
                }
                match tester.step(step(s.labels(), label)) {
                    Progress::Continue => next.push(([&trace[..], &[label]].concat(), q)),
                    Progress::Ended(verdict) => {
                        assert_eq!(verdict, Verdict::Fail);
                        return Some(length);
                    }
                }
            }
        }
        level = next;
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// On every word: the verdict, the menu and the allowed set are those of the definition.
    #[test]
    fn the_tester_is_the_definition(s in any_model(4, 11)) {
        let labels = s.labels();
        let mut tester = tester(&s);
        prop_assert_eq!(tester.oracle().criterion(), Criterion::Relation(Relation::Uioco));
        'words: for word in words(labels, 3) {
            tester.reset();
            let mut p = initial(&s);
            for &l in &word {
                let mut menu = Menu::default();
                tester.menu(&mut menu);
                let inputs: Vec<ActionId> = labels
                    .inputs()
                    .filter(|&l| takes(&s, &p, l))
                    .map(ActionId::from)
                    .collect();
                prop_assert_eq!(&menu.stimuli, &inputs);
                let allowed: Vec<String> = out(&s, &p).iter().map(|&l| labels.text(l)).collect();
                prop_assert_eq!(tester.allowed(), allowed);
                // A look ahead sees the same steps.
                let at = *tester.state().expect("explicit models are decided");
                let mut row = Vec::new();
                tester.oracle_mut().row(&at, &mut row);
                let row: BTreeSet<ActionId> = row.into_iter().map(|(a, _)| a).collect();
                let known: BTreeSet<ActionId> =
                    out(&s, &p).into_iter().map(ActionId::from).chain(inputs).collect();
                prop_assert_eq!(row, known);
                let expected = match labels.kind(l) {
                    LabelKind::Input if takes(&s, &p, l) => Progress::Continue,
                    LabelKind::Input => Progress::Ended(Verdict::Inconc),
                    _ if out(&s, &p).contains(&l) => Progress::Continue,
                    _ => Progress::Ended(Verdict::Fail),
                };
                prop_assert_eq!(tester.step(step(labels, l)), expected);
                if expected != Progress::Continue {
                    continue 'words;
                }
                p = after(&s, &p, Some(l));
            }
            prop_assert_eq!(tester.verdict(), Verdict::Pass);
        }
    }

    /// A walk against an implementation fails only where the relation does not hold.
    #[test]
    fn walks_are_sound((s, i) in pair(), seed in any::<u64>()) {
        let difference = kernel(&i, &s);
        let mut tester = tester(&s);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        for _ in 0..8 {
            tester.reset();
            let mut p = initial(&i);
            for length in 0..30 {
                let mut menu = Menu::default();
                tester.menu(&mut menu);
                let pick = |rng: &mut Xoshiro256PlusPlus, from: &[LabelId]| {
                    from[rng.random_range(0..from.len())]
                };
                let stimuli: Vec<LabelId> =
                    menu.stimuli.iter().map(|a| LabelId::new(a.index())).collect();
                let seen: Vec<LabelId> = out(&i, &p).into_iter().collect();
                let give = seen.is_empty() || (!stimuli.is_empty() && rng.random_bool(0.5));
                if give && stimuli.is_empty() {
                    break;
                }
                let label = pick(&mut rng, if give { &stimuli } else { &seen });
                p = after(&i, &p, Some(label));
                prop_assert!(!p.is_empty(), "it takes every input");
                match tester.step(step(s.labels(), label)) {
                    Progress::Continue => {}
                    Progress::Ended(verdict) => {
                        prop_assert_eq!(verdict, Verdict::Fail);
                        let shortest = difference.as_ref().map(|(trace, _)| trace.len());
                        prop_assert!(shortest.is_some_and(|n| n <= length), "{:?}", difference);
                        break;
                    }
                }
            }
        }
    }

    /// All walks up to a depth find a difference exactly where the kernel has one of that length, and
    /// its counterexample is a walk that fails.
    #[test]
    fn exhaustive_walks_find_what_the_kernel_finds((s, i) in pair()) {
        let depth = 4;
        let difference = kernel(&i, &s);
        let within = difference.as_ref().map(|(trace, _)| trace.len()).filter(|n| *n < depth);
        prop_assert_eq!(shortest_failure(&i, &s, depth), within);
        if let Some((trace, seen)) = difference {
            let mut tester = tester(&s);
            for l in trace {
                prop_assert_eq!(tester.step(step(s.labels(), l)), Progress::Continue);
            }
            prop_assert_eq!(tester.step(step(s.labels(), seen)), Progress::Ended(Verdict::Fail));
        }
    }

    /// A suite enumerated up to a depth fails exactly the implementations that differ within it, by
    /// the definition and by the kernel; random test cases fail no implementation that conforms.
    #[test]
    fn derived_suites_are_complete_up_to_their_depth((s, i) in pair(), depth in 1usize..5, seed in any::<u64>()) {
        let difference = kernel(&i, &s);
        let mut oracle = UiocoOracle::new(&s, POLICY);
        let some_fails = |cases: &[TestCase]| cases.iter().any(|t| !passes(t, &i, POLICY));
        for (enumeration, depth) in [
            (Enumeration::Traces, depth),
            (Enumeration::Maximal, depth.min(3)),
            (Enumeration::Every, depth.min(3)),
        ] {
            let differs = not_uioco(&i, &s, depth - 1).is_some();
            let by_kernel = difference.as_ref().is_some_and(|(trace, _)| trace.len() < depth);
            prop_assert_eq!(differs, by_kernel);
            if let Some(cases) = enumerate(&mut oracle, depth, enumeration) {
                prop_assert_eq!(some_fails(&cases), differs, "{:?}", enumeration);
            }
        }
        let how = RandomDerivation {
            count: 12,
            depth: 6,
            seed,
            max_states: 60,
            ..RandomDerivation::default()
        };
        let cases = how.derive(&mut oracle, &ModelRef::default());
        prop_assert!(difference.is_some() || !some_fails(&cases));
    }
}

/// The textbook case: after `?a` the specification may be where it refuses `?b`, so that uioco says
/// nothing after `?a ?b`, and ioco does.
#[test]
fn ioco_and_uioco_part_where_an_input_may_be_refused() {
    let alphabet = ["?a", "?b", "!x", "!y"];
    let s = model(
        &alphabet,
        &[
            ("0", "?a", "1"),
            ("0", "?a", "2"),
            ("1", "?b", "3"),
            ("3", "!x", "4"),
        ],
    );
    let i = complete(&model(
        &alphabet,
        &[("0", "?a", "1"), ("1", "?b", "2"), ("2", "!y", "3")],
    ));
    let holds = |relation| {
        let answer = relate(relation, &i, &s, POLICY, None);
        answer.expect("input-enabled").holds == Holds::Yes
    };
    assert!(!holds(Relation::Ioco));
    assert!(holds(Relation::Uioco));
    let l = |text: &str| ActionId::from(s.labels().get_text(text).unwrap());
    let mut by_ioco = ConformanceTester::new(IocoOracle::new(&s, POLICY));
    let mut by_uioco = tester(&s);
    for (tester, offered) in [
        (&mut by_ioco as &mut dyn Tester, vec![l("?b")]),
        (&mut by_uioco, Vec::new()),
    ] {
        tester.step(Step::Stimulus(l("?a")));
        let mut menu = Menu::default();
        tester.menu(&mut menu);
        assert_eq!(menu.stimuli, offered);
    }
    assert_eq!(by_ioco.step(Step::Stimulus(l("?b"))), Progress::Continue);
    assert_eq!(
        by_ioco.step(Step::Output(l("!y"))),
        Progress::Ended(Verdict::Fail)
    );
    assert_eq!(
        by_uioco.step(Step::Stimulus(l("?b"))),
        Progress::Ended(Verdict::Inconc)
    );
}
