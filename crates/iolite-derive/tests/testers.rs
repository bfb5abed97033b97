//! The on-the-fly testers, as testers and as monitors, against the definitions.

mod common;

use common::{
    after, any_implementation, any_model, any_mutant, complete, initial, model, out, small_labels,
    step, words,
};
use iolite_derive::{
    ActionId, Alphabet, ConfTester, ConformanceTester, Coverage, FiniteOracle, Hint, IocoOracle,
    IoconfOracle, Menu, Progress, Step, Tester, Verdict,
};
use iolite_lts::relation::TraceSet;
use iolite_lts::{LabelId, LabelKind, Lts, LtsBuilder, QuiescencePolicy, StateId};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;

type IocoTester<'a> = ConformanceTester<IocoOracle<&'a Lts>>;

fn ioco_within(s: &Lts, bytes: usize) -> IocoTester<'_> {
    let alphabet = Alphabet::of_labels(s.labels());
    ConformanceTester::new(IocoOracle::with_budget(s, POLICY, &alphabet, bytes))
}

/// The states of the specification where the run can be now.
fn states(tester: &IocoTester<'_>) -> Vec<StateId> {
    let at = tester.state().expect("explicit models are decided");
    tester.oracle().view().members(*at).to_vec()
}

/// A run of a tester with a record of what it has been through.
struct Walk<'a> {
    tester: IocoTester<'a>,
    coverage: Coverage,
}

impl<'a> Walk<'a> {
    fn new(s: &'a Lts, limit: usize) -> Self {
        let mut tester = ConformanceTester::new(IocoOracle::new(s, POLICY));
        let view = tester.oracle_mut().view_mut();
        let coverage = Coverage::explore(view, limit).unwrap();
        Self { tester, coverage }
    }

    fn reset(&mut self) {
        self.tester.reset();
    }

    fn step(&mut self, label: LabelId) -> Progress {
        let from = *self.tester.state().expect("explicit models are decided");
        let step = step(self.tester.oracle().labels(), label);
        let progress = self.tester.step(step);
        if progress == Progress::Continue {
            self.coverage.step(from, label);
        }
        progress
    }

    fn hint(&mut self) -> Option<Hint> {
        self.coverage.hint(*self.tester.state()?)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// On every word: the verdict, the menu and the allowed set are those of `out` and `after`. With
    /// a memo that is always full the answers are the same.
    #[test]
    fn ioco_tester_is_the_definition(s in any_model(4, 9), budget in prop_oneof![Just(1usize), Just(1 << 30)]) {
        let mut tester = ioco_within(&s, budget);
        let labels = s.labels();
        'words: for word in words(labels, 3) {
            tester.reset();
            let mut p = initial(&s);
            for &l in &word {
                let mut menu = Menu::default();
                tester.menu(&mut menu);
                let inputs: Vec<ActionId> = labels
                    .inputs()
                    .filter(|&l| !after(&s, &p, Some(l)).is_empty())
                    .map(ActionId::from)
                    .collect();
                prop_assert_eq!(&menu.stimuli, &inputs);
                prop_assert!(menu.observe && menu.stop);
                let allowed: Vec<String> = out(&s, &p).iter().map(|&l| labels.text(l)).collect();
                prop_assert_eq!(tester.allowed(), allowed);
                let q = after(&s, &p, Some(l));
                let progress = tester.step(step(labels, l));
                let expected = match (q.is_empty(), labels.kind(l)) {
                    (false, _) => Progress::Continue,
                    (true, LabelKind::Input) => Progress::Ended(Verdict::Inconc),
                    (true, _) => Progress::Ended(Verdict::Fail),
                };
                prop_assert_eq!(progress, expected);
                if progress != Progress::Continue {
                    prop_assert!(tester.verdict() != Verdict::Pass);
                    prop_assert_eq!(tester.step(step(labels, l)), expected);
                    continue 'words;
                }
                prop_assert_eq!(states(&tester), q.iter().copied().collect::<Vec<_>>());
                p = q;
            }
            prop_assert_eq!(tester.verdict(), Verdict::Pass);
        }
    }

    #[test]
    fn ioconf_tester_ends_at_quiescence(s in any_model(4, 9)) {
        let mut tester = ConformanceTester::new(IoconfOracle::new(&s, POLICY));
        let labels = s.labels();
        'words: for word in words(labels, 3) {
            tester.reset();
            let mut p = initial(&s);
            for &l in &word {
                let q = after(&s, &p, Some(l));
                let progress = tester.step(step(labels, l));
                let expected = match (q.is_empty(), labels.kind(l)) {
                    (false, LabelKind::Delta) => Progress::Ended(Verdict::Pass),
                    (false, _) => Progress::Continue,
                    (true, LabelKind::Input) => Progress::Ended(Verdict::Inconc),
                    (true, _) => Progress::Ended(Verdict::Fail),
                };
                prop_assert_eq!(progress, expected);
                if progress != Progress::Continue {
                    continue 'words;
                }
                p = q;
            }
        }
    }

    /// ioconf_F on the fly: fail exactly for an observation after a trace of F that is not in
    /// out(Δ_s after σ).
    #[test]
    fn ioconf_f_tester_judges_after_f(
        s in any_model(4, 9),
        f in prop::collection::vec(prop::collection::vec(2usize..6, 0..3), 1..4),
    ) {
        let f: Vec<Vec<LabelId>> = f
            .into_iter()
            .map(|t| t.into_iter().map(LabelId::new).collect())
            .collect();
        let set = TraceSet::listed(f.iter().map(Vec::as_slice));
        let oracle = IoconfOracle::with_traces(&s, POLICY, Some(set));
        let mut tester = ConformanceTester::new(oracle);
        let labels = s.labels();
        for word in words(labels, 3) {
            tester.reset();
            let mut last = Progress::Continue;
            let mut done = 0;
            for &l in &word {
                last = tester.step(step(labels, l));
                done += 1;
                if last != Progress::Continue {
                    break;
                }
            }
            let (Some((&l, before)), true) = (word[..done].split_last(), done == word.len()) else {
                continue;
            };
            let p = before.iter().fold(initial(&s), |p, &l| after(&s, &p, Some(l)));
            let wrong = f.iter().any(|t| t == before)
                && labels.kind(l).is_observation()
                && !out(&s, &p).contains(&l);
            prop_assert_eq!(last == Progress::Ended(Verdict::Fail), wrong);
        }
    }

    /// Following the hints with a system that is fair comes to full coverage, for any model whose
    /// every place can be left again or is reached by resets.
    #[test]
    fn hints_lead_to_full_coverage(s in any_model(4, 8), seed in any::<u64>()) {
        let mut tester = Walk::new(&s, 10_000);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        // The system under test is the specification itself, choosing at random in det(S^δ).
        for _ in 0..3000 {
            tester.reset();
            let mut p = initial(&s);
            for _ in 0..40 {
                let hint = tester.hint();
                if tester.coverage.transitions().is_complete() {
                    break;
                }
                // Without a hint, whoever asks chooses: here, to observe.
                let label = match hint {
                    Some(Hint::Stimulate(action)) => LabelId::new(action.index()),
                    Some(Hint::Observe) | None => {
                        let out: Vec<LabelId> = out(&s, &p).into_iter().collect();
                        out[rng.random_range(0..out.len())]
                    }
                };
                p = after(&s, &p, Some(label));
                prop_assert!(!p.is_empty());
                prop_assert_eq!(tester.step(label), Progress::Continue);
            }
            if tester.coverage.transitions().is_complete() {
                break;
            }
        }
        let report = tester.coverage.report(tester.tester.oracle().view(), 10);
        prop_assert!(report.transitions.is_complete(), "{:?}", report);
        prop_assert!(report.states.is_complete() && report.model_transitions.is_complete());
        prop_assert!(report.left.is_empty());
        prop_assert_eq!(tester.hint(), None);
    }

    /// A monitor of a run of an implementation fails it exactly when it leaves the specification.
    #[test]
    fn monitoring((s, i) in any_model(4, 9).prop_flat_map(|s| {
        let i = prop_oneof![any_mutant(s.clone()), any_implementation(3, 6), Just(complete(&s))];
        (Just(s), i)
    }), seed in any::<u64>()) {
        let mut tester = ConformanceTester::new(IocoOracle::new(&s, POLICY));
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (mut p, mut q) = (initial(&i), initial(&s));
        for _ in 0..30 {
            let possible: Vec<LabelId> = s.labels().iter().map(|(l, _)| l)
                .filter(|&l| s.labels().kind(l).is_visible() && !after(&i, &p, Some(l)).is_empty())
                .collect();
            if possible.is_empty() {
                break;
            }
            let l = possible[rng.random_range(0..possible.len())];
            let kind = s.labels().kind(l);
            let progress = tester.step(step(s.labels(), l));
            p = after(&i, &p, Some(l));
            q = after(&s, &q, Some(l));
            if q.is_empty() {
                let verdict = if kind == LabelKind::Input { Verdict::Inconc } else { Verdict::Fail };
                prop_assert_eq!(progress, Progress::Ended(verdict));
                break;
            }
            prop_assert_eq!(progress, Progress::Continue);
        }
    }
}

#[test]
fn conf_tester_knows_what_must_not_be_refused() {
    // p₃ of [LTS96, fig. 1].
    let p3 = model(
        &["shil", "liq", "choc"],
        &[
            ("p", "shil", "q"),
            ("q", "liq", "l"),
            ("q", "i", "r"),
            ("r", "choc", "c"),
        ],
    );
    let l = |t: &str| p3.labels().get_text(t).unwrap();
    let mut tester = ConfTester::new(&p3, 1 << 20);
    let refused = |tester: &mut ConfTester<&Lts>, offered: &[&str]| {
        tester.reset();
        tester.step(Step::Stimulus(l("shil").into()));
        let offered: Vec<LabelId> = offered.iter().map(|t| l(t)).collect();
        tester.refuses(&offered)
    };
    assert_eq!(
        refused(&mut tester, &["liq"]),
        Progress::Ended(Verdict::Pass)
    );
    assert_eq!(
        refused(&mut tester, &["choc"]),
        Progress::Ended(Verdict::Fail)
    );
    assert_eq!(
        refused(&mut tester, &["liq", "choc"]),
        Progress::Ended(Verdict::Fail)
    );
    tester.reset();
    assert_eq!(tester.step(Step::Deadlock), Progress::Ended(Verdict::Fail));
    tester.reset();
    // conf allows what the specification does not have, and says nothing after it.
    assert_eq!(
        tester.step(Step::Stimulus(l("choc").into())),
        Progress::Ended(Verdict::Inconc)
    );
    tester.reset();
    tester.step(Step::Stimulus(l("shil").into()));
    tester.step(Step::Stimulus(l("choc").into()));
    // At the end the specification may deadlock.
    assert_eq!(tester.step(Step::Deadlock), Progress::Ended(Verdict::Pass));
}

/// A model whose determinisation has many sets: the memo must stay in its budget for as long as one
/// likes.
#[test]
fn the_memo_stays_in_its_budget() {
    // "The twelfth action from the end was ?a": the textbook case, 2^12 sets.
    let n = 12;
    let mut b = LtsBuilder::with_labels(small_labels());
    let first = StateId::new(0);
    b.transition_text(first, "?a", first);
    b.transition_text(first, "?b", first);
    b.transition_text(first, "?a", StateId::new(1));
    for k in 1..n {
        for label in ["?a", "?b"] {
            b.transition_text(StateId::new(k), label, StateId::new(k + 1));
        }
    }
    let s = b.build().unwrap();
    let budget = 20_000;
    let mut tester = ioco_within(&s, budget);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut menu = Menu::default();
    let mut most = 0;
    for step in 0..200_000 {
        menu.clear();
        tester.menu(&mut menu);
        let label = menu.stimuli[rng.random_range(0..menu.stimuli.len())];
        assert_eq!(tester.step(Step::Stimulus(label)), Progress::Continue);
        if step > 1000 {
            most = most.max(tester.oracle().bytes());
        }
        if step % 997 == 0 {
            tester.reset();
        }
    }
    assert!(most < 2 * budget, "{most}");
    // Without the budget it would be more, so the test tests something.
    let mut free = ConformanceTester::new(IocoOracle::new(&s, POLICY));
    for _ in 0..50_000 {
        menu.clear();
        free.menu(&mut menu);
        let label = menu.stimuli[rng.random_range(0..menu.stimuli.len())];
        free.step(Step::Stimulus(label));
    }
    assert!(
        free.oracle().bytes() > 4 * budget,
        "{}",
        free.oracle().bytes()
    );
}

#[test]
fn hints_do_not_wait_for_ever() {
    // The system never gives !y, which is near, and gives !z, which is farther, the third time only.
    let s = model(
        &["?a", "?b", "!x", "!y", "!z"],
        &[
            ("0", "?a", "1"),
            ("1", "!x", "0"),
            ("1", "!y", "0"),
            ("0", "?b", "2"),
            ("2", "?b", "3"),
            ("3", "!x", "0"),
            ("3", "!z", "4"),
            ("4", "?a", "0"),
        ],
    );
    let l = |t: &str| s.labels().get_text(t).unwrap();
    let mut tester = Walk::new(&s, 100);
    let mut visits = 0;
    for _ in 0..300 {
        let place = s.name(states(&tester.tester)[0]);
        match tester.hint() {
            Some(Hint::Stimulate(action)) => {
                let label = LabelId::new(action.index());
                assert_eq!(tester.step(label), Progress::Continue);
            }
            Some(Hint::Observe) => {
                let seen = match place.as_str() {
                    "1" => l("!x"),
                    "3" => {
                        visits += 1;
                        l(if visits > 2 { "!z" } else { "!x" })
                    }
                    _ => LabelId::DELTA,
                };
                assert_eq!(tester.step(seen), Progress::Continue);
            }
            // There is still something to see, so this is a pause.
            None => {}
        }
    }
    let report = tester.coverage.report(tester.tester.oracle().view(), 10);
    assert_eq!(report.left, ["{1} !y"]);
    assert_eq!(report.transitions.total - report.transitions.seen, 1);
    assert!(report.states.is_complete());
    assert!((report.states.percentage() - 100.0).abs() < f64::EPSILON);
}

#[test]
fn unknown_actions_do_not_panic() {
    let s = model(&["?a", "!x"], &[("0", "?a", "1"), ("1", "!x", "0")]);
    let beyond = ActionId::new(99);
    let mut tester = ConformanceTester::new(IocoOracle::new(&s, POLICY));
    assert_eq!(
        tester.step(Step::Output(beyond)),
        Progress::Ended(Verdict::Fail)
    );
    assert_eq!(&*tester.alphabet().text(beyond), "forgotten action");
    assert_eq!(tester.alphabet().action(beyond), None);
    tester.reset();
    assert_eq!(
        tester.step(Step::Stimulus(beyond)),
        Progress::Ended(Verdict::Inconc)
    );
}
