//! The test runs of \[LTS96\] and \[IOCO99\], with exactly their verdicts. The figures are
//! missing from the texts at hand; the models are rebuilt from the words of the examples.

mod common;

use common::{input_enabled, model, trace};
use iolite_derive::{
    ConfDerivation, Enumeration, ExhaustiveDerivation, IocoOracle, IoconfOracle, ModelRef,
    RandomDerivation, TestCase, Verdict, passes, test_runs,
};
use iolite_lts::{Lts, QuiescencePolicy};

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;
const CANDY: [&str; 3] = ["shil", "liq", "choc"];

/// p₁ of figure 1: example 4.2 gives its traces, example 4.6 that it refuses nothing after shil.
fn p1() -> Lts {
    model(
        &CANDY,
        &[("p", "shil", "p'"), ("p'", "liq", "l"), ("p'", "choc", "c")],
    )
}

/// p₃ = shil; (liq; stop □ i; choc; stop), example 2.5.
fn p3() -> Lts {
    model(
        &CANDY,
        &[
            ("p", "shil", "p'"),
            ("p'", "liq", "l"),
            ("p'", "i", "p'''"),
            ("p'''", "choc", "c"),
        ],
    )
}

fn enumerate_conf(s: &Lts, depth: usize) -> Vec<TestCase> {
    let how = ExhaustiveDerivation {
        depth,
        enumeration: Enumeration::Every,
        limit: 1000,
    };
    let found = ConfDerivation::new(s).exhaustive(&how, &ModelRef::default());
    assert!(found.complete);
    found.cases
}

fn find(cases: Vec<TestCase>, text: &str) -> TestCase {
    let shown: Vec<String> = cases.iter().map(ToString::to_string).collect();
    cases
        .into_iter()
        .find(|c| c.to_string() == text)
        .unwrap_or_else(|| panic!("{text} is not among {shown:#?}"))
}

/// t₁ of figure 2 is shil; liq with `fail` before and `pass` at the end (example 3.3).
fn t1() -> TestCase {
    let s = model(&CANDY, &[("s", "shil", "s'"), ("s'", "liq", "s''")]);
    find(enumerate_conf(&s, 2), "(shil; (liq; pass)/fail)/fail")
}

#[test]
fn example_3_3() {
    let t1 = t1();
    let labels = t1.labels();
    let p1_runs = test_runs(&t1, &p1(), POLICY);
    assert!(p1_runs.passes());
    assert_eq!(
        p1_runs.run(Verdict::Pass).unwrap().trace,
        trace(labels, "shil liq")
    );
    // The test runs of t₁ with p₃ are shil·liq and shil.
    let runs = test_runs(&t1, &p3(), POLICY);
    assert_eq!(
        runs.run(Verdict::Pass).unwrap().trace,
        trace(labels, "shil liq")
    );
    assert_eq!(
        runs.run(Verdict::Fail).unwrap().trace,
        trace(labels, "shil")
    );
    assert!(!runs.passes());
}

#[test]
fn example_4_13() {
    let s = p3();
    let cases = enumerate_conf(&s, 2);
    let t2 = find(cases.clone(), "(shil; (choc; pass)/fail)/fail");
    let t3 = find(cases.clone(), "(shil; (liq; pass + choc; pass)/fail)/fail");
    let t4 = find(cases.clone(), "(shil; pass)/fail");
    // The sets A named by the example, and no others, plus the test case stop.
    assert_eq!(cases.len(), 4);
    for t in [&t2, &t3, &t4] {
        assert!(passes(t, &s, POLICY), "sound: {t}");
    }
    // p₄ = shil; liq; stop refuses choc after shil, which p₃ does not (example 4.6).
    let p4 = model(&CANDY, &[("p", "shil", "p'"), ("p'", "liq", "l")]);
    assert!(!passes(&t2, &p4, POLICY));
    assert!(passes(&t3, &p4, POLICY));
    assert!(passes(&t2, &p1(), POLICY));
}

#[test]
fn conf_passes_at_deadlock_where_the_specification_may_deadlock() {
    // a; stop □ i; stop may refuse everything: only A = init(s) with pass, or stop.
    let s = model(&["a"], &[("s", "a", "t"), ("s", "i", "u")]);
    let shown: Vec<String> = enumerate_conf(&s, 1)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(shown, ["pass", "(a; pass)/pass"]);
}

const BUTTON: [&str; 3] = ["?but", "!liq", "!choc"];

/// q₁, q₂, q₃ of figure 3, rebuilt from examples 5.2, 6.4 and 6.7; unlabelled self-loops are those of
/// the convention of example 5.2.
fn q1() -> Lts {
    input_enabled(&BUTTON, &[("0", "?but", "1"), ("1", "!liq", "2")])
}

fn q2() -> Lts {
    input_enabled(
        &BUTTON,
        &[("0", "?but", "1"), ("1", "!liq", "2"), ("1", "!choc", "3")],
    )
}

fn q3() -> Lts {
    input_enabled(
        &BUTTON,
        &[
            ("0", "?but", "s1"),
            ("0", "?but", "s2"),
            ("s1", "!liq", "s3"),
        ],
    )
}

/// s₁ of figure 5: one button, then liquorice (example 7.5 gives Δ' = liq; δ; stop).
fn s1() -> Lts {
    model(&BUTTON, &[("0", "?but", "1"), ("1", "!liq", "2")])
}

/// The test case of figure 6 as example 7.5 derives it.
const T6: &str = "?but; (!liq; (!liq; fail + !choc; fail)/pass + !choc; fail)/fail";

fn t6() -> TestCase {
    let mut oracle = IoconfOracle::new(s1(), POLICY);
    let how = ExhaustiveDerivation {
        depth: 3,
        enumeration: Enumeration::Every,
        limit: 10_000,
    };
    let found = how.derive(&mut oracle, &ModelRef::default());
    assert!(found.complete);
    find(found.cases, T6)
}

#[test]
fn examples_7_2_and_7_5() {
    let t = t6();
    assert!(passes(&t, &q1(), POLICY));
    assert!(!passes(&t, &q2(), POLICY));
    assert!(!passes(&t, &q3(), POLICY));
    // The two test runs of example 7.2.
    let runs = test_runs(&t, &q2(), POLICY);
    assert_eq!(
        runs.run(Verdict::Pass).unwrap().trace,
        trace(t.labels(), "?but !liq")
    );
    assert_eq!(
        runs.run(Verdict::Fail).unwrap().trace,
        trace(t.labels(), "?but !choc")
    );
    // q₃ fails by being silent after the button.
    let runs = test_runs(&t, &q3(), POLICY);
    assert_eq!(
        runs.run(Verdict::Fail).unwrap().trace,
        trace(t.labels(), "?but")
    );
}

#[test]
fn random_ioconf_cases_agree_with_example_6_11() {
    // q₁ ioconf s₁, but neither q₂ nor q₃.
    let mut oracle = IoconfOracle::new(s1(), POLICY);
    let cases = RandomDerivation {
        count: 50,
        seed: 3,
        depth: 4,
        ..RandomDerivation::default()
    }
    .derive(&mut oracle, &ModelRef::default());
    assert!(cases.iter().all(|t| passes(t, &q1(), POLICY)));
    assert!(cases.iter().any(|t| !passes(t, &q2(), POLICY)));
    assert!(cases.iter().any(|t| !passes(t, &q3(), POLICY)));
}

/// r₁ and r₂ of [IOCO99, fig. 1], rebuilt from examples 1 and 3: a button, then liquorice or
/// silence; after silence the button again, which in r₁ gives liquorice or chocolate, in r₂
/// chocolate.
fn r1() -> Lts {
    input_enabled(
        &BUTTON,
        &[
            ("0", "?but", "1"),
            ("0", "?but", "2"),
            ("1", "!liq", "3"),
            ("2", "?but", "4"),
            ("2", "?but", "5"),
            ("4", "!liq", "6"),
            ("5", "!choc", "7"),
        ],
    )
}

fn r2() -> Lts {
    input_enabled(
        &BUTTON,
        &[
            ("0", "?but", "1"),
            ("0", "?but", "2"),
            ("1", "!liq", "3"),
            ("2", "?but", "5"),
            ("5", "!choc", "7"),
        ],
    )
}

/// The test case of [IOCO99, fig. 2], which example 5 derives from r₂: the button, then
/// liquorice passes and silence goes on; the button again, then only chocolate, then silence.
const T_FIG_2: &str = "?but; (!liq; pass + !choc; fail + θ; ?but; \
     (!liq; fail + !choc; (!liq; fail + !choc; fail + θ; pass) + θ; fail))";

#[test]
fn examples_2_to_5() {
    let labels = r2().labels().clone();
    let mut oracle = IocoOracle::new(r2(), POLICY);
    let how = ExhaustiveDerivation {
        depth: 5,
        enumeration: Enumeration::Traces,
        limit: 10_000,
    };
    let found = how.derive(&mut oracle, &ModelRef::of("r2", &r2()));
    assert!(found.complete);
    let t = find(found.cases, T_FIG_2);
    // Example 3: the three observations with r₁.
    let runs = test_runs(&t, &r1(), POLICY);
    let liq = trace(&labels, "?but !liq");
    let observed: Vec<_> = runs
        .verdicts()
        .map(|(v, run)| (v, &run.trace[..]))
        .collect();
    assert_eq!(
        observed,
        [
            (Verdict::Pass, &liq[..]),
            (Verdict::Fail, &trace(&labels, "?but delta ?but !liq")[..])
        ]
    );
    // Example 4: fail for r₁, pass for r₂.
    assert!(!passes(&t, &r1(), POLICY));
    assert!(passes(&t, &r2(), POLICY));
    // The third observation of example 3 ends in pass too, and is longer: take the first and the
    // second away to see it.
    let third = input_enabled(
        &BUTTON,
        &[("0", "?but", "2"), ("2", "?but", "5"), ("5", "!choc", "7")],
    );
    let runs = test_runs(&t, &third, POLICY);
    assert_eq!(
        runs.run(Verdict::Pass).unwrap().trace,
        trace(&labels, "?but delta ?but !choc delta")
    );
    assert!(runs.passes());
}
