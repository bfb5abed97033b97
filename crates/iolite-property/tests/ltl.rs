//! LTL: the translation against direct evaluation on lasso words, and the pattern collection.

mod support;

use std::fs;
use std::sync::Arc;

use iolite_property::ltl::{Options, Route};
use iolite_property::{Alphabet, Lasso, Letter, Ltl, Normalised};
use proptest::prelude::*;
use support::with_past;

fn formula(atoms: &'static [&'static str]) -> impl Strategy<Value = Ltl> {
    let leaf = prop_oneof![
        1 => Just(Ltl::True),
        1 => Just(Ltl::False),
        8 => prop::sample::select(atoms).prop_map(|a| Ltl::Atom(a.to_owned())),
    ];
    leaf.prop_recursive(5, 24, 2, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            inner.clone().prop_map(|a| Ltl::Not(Box::new(a))),
            inner.clone().prop_map(|a| Ltl::Next(Box::new(a))),
            inner.clone().prop_map(|a| Ltl::Eventually(Box::new(a))),
            inner.clone().prop_map(|a| Ltl::Always(Box::new(a))),
            two.clone().prop_map(|(a, b)| Ltl::And(vec![a, b])),
            two.clone().prop_map(|(a, b)| Ltl::Or(vec![a, b])),
            two.clone()
                .prop_map(|(a, b)| Ltl::Implies(Box::new(a), Box::new(b))),
            two.clone()
                .prop_map(|(a, b)| Ltl::Iff(Box::new(a), Box::new(b))),
            two.clone()
                .prop_map(|(a, b)| Ltl::Until(Box::new(a), Box::new(b))),
            two.clone()
                .prop_map(|(a, b)| Ltl::Release(Box::new(a), Box::new(b))),
            two.clone()
                .prop_map(|(a, b)| Ltl::WeakUntil(Box::new(a), Box::new(b))),
            two.prop_map(|(a, b)| Ltl::StrongRelease(Box::new(a), Box::new(b))),
        ]
    })
}

fn lasso(letters: usize) -> impl Strategy<Value = Lasso> {
    let word = |min, max| prop::collection::vec((0..letters).prop_map(Letter::new), min..max);
    (word(0, 5), word(1, 6)).prop_map(|(stem, cycle)| Lasso { stem, cycle })
}

fn check(
    f: &Ltl,
    sigma: &Arc<Alphabet>,
    words: &[Lasso],
    route: Route,
) -> Result<(), TestCaseError> {
    let options = Options {
        route,
        budget: 20_000,
    };
    let Ok(translation) = f.translate(sigma, options) else {
        // Determinisation of the whole formula may be too large; the usual route may not.
        prop_assert!(route == Route::Safra, "{f:?}");
        return Ok(());
    };
    for w in words {
        prop_assert_eq!(
            translation.automaton.accepts_lasso(w),
            f.holds(w, sigma).unwrap(),
            "{:?} on {}",
            f,
            w.show(sigma)
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn actions(f in formula(&["a", "b", "c"]), words in prop::collection::vec(lasso(3), 60)) {
        let sigma = Arc::new(Alphabet::of_names(["a", "b", "c"]).unwrap());
        check(&f, &sigma, &words, Route::Best)?;
    }

    #[test]
    fn valuations(f in formula(&["p", "q"]), words in prop::collection::vec(lasso(4), 60)) {
        let sigma = Arc::new(Alphabet::valuations(&["p", "q"]).unwrap());
        check(&f, &sigma, &words, Route::Best)?;
    }

    #[test]
    fn past(f in with_past(&["a", "b", "c"]), words in prop::collection::vec(lasso(3), 40)) {
        let sigma = Arc::new(Alphabet::of_names(["a", "b", "c"]).unwrap());
        // Beyond the number of past operators that are followed there is an error, never an answer.
        if let Ok(t) = f.translate(&sigma, Options { budget: 20_000, ..Options::default() }) {
            for w in &words {
                prop_assert_eq!(
                    t.automaton.accepts_lasso(w), f.holds(w, &sigma).unwrap(),
                    "{:?} on {}", f, w.show(&sigma)
                );
            }
        }
    }

    #[test]
    fn determinised(f in formula(&["p", "q"]), words in prop::collection::vec(lasso(4), 60)) {
        let sigma = Arc::new(Alphabet::valuations(&["p", "q"]).unwrap());
        check(&f, &sigma, &words, Route::Safra)?;
        let options = |route| Options { route, budget: 20_000 };
        if let (Ok(best), Ok(safra)) =
            (f.translate(&sigma, options(Route::Best)), f.translate(&sigma, options(Route::Safra)))
        {
            prop_assert_eq!(best.class, safra.class);
            prop_assert_eq!(best.automaton.infinitary_difference(&safra.automaton).unwrap(), None);
        }
    }
}

#[test]
fn pattern_classes() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/cases/ltl/dac-patterns.tsv"
    );
    let Ok(text) = fs::read_to_string(path) else {
        println!("skipped: {path} is not there");
        return;
    };
    let mut count = 0;
    for line in text.lines() {
        let [name, code, source] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("three fields expected: {line}");
        };
        let (f, sigma) = Ltl::parse_propositional(source).unwrap();
        let sigma = Arc::new(sigma);
        let start = std::time::Instant::now();
        let t = f
            .translate(&sigma, Options::default())
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        println!(
            "{name} {} states {} pairs {} {:?}",
            t.class.class,
            t.automaton.structure().len(),
            t.automaton.pairs().len(),
            start.elapsed()
        );
        assert_eq!(t.class.class.code().to_string(), code, "{name}: {source}");
        count += 1;
    }
    assert_eq!(count, 55);
}

/// Classes as Spot finds them, and in each group no more states than Spot has (deterministic, complete
/// parity automata with acceptance on states).
#[test]
fn sizes_beside_spot() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/cases/ltl/spot-sizes.tsv"
    );
    let Ok(text) = fs::read_to_string(path) else {
        println!("skipped: {path} is not there");
        return;
    };
    let mut sums: Vec<(String, [usize; 5])> = Vec::new();
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let [group, code, spot, _, source] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("five fields expected: {line}");
        };
        let (f, sigma) = Ltl::parse_propositional(source).unwrap();
        let start = std::time::Instant::now();
        let options = Options {
            budget: 20_000,
            ..Options::default()
        };
        let made = f.translate(&Arc::new(sigma), options);
        let at = sums
            .iter()
            .position(|(g, _)| g == group)
            .unwrap_or_else(|| {
                sums.push((group.to_owned(), [0; 5]));
                sums.len() - 1
            });
        let sum = &mut sums[at].1;
        let t = match made {
            Ok(t) => t,
            Err(e) => {
                println!("{source}: {e}");
                sum[4] += 1;
                continue;
            }
        };
        assert_eq!(t.class.class.code().to_string(), code, "{source}");
        let shape = Normalised::new(&t.automaton).unwrap().automaton;
        sum[0] += spot.parse::<usize>().unwrap();
        sum[1] += shape.structure().len();
        sum[2] += t.automaton.structure().len();
        sum[3] += start.elapsed().as_millis() as usize;
    }
    for (group, [spot, shape, whole, time, failed]) in sums {
        println!(
            "{group}: Spot {spot} states, ours {shape}, with finite words {whole}; {time} ms, {failed} without an answer"
        );
        assert_eq!(failed, 0, "{group}");
        assert!(shape <= spot, "{group}");
    }
}

/// States and pairs of families whose growth is known: pairs on the spot, one state for each part of a
/// chain, a component for each residual.
#[test]
fn families() {
    let size = |text: &str| {
        let (f, sigma) = Ltl::parse_propositional(text).unwrap();
        let t = f.translate(&Arc::new(sigma), Options::default()).unwrap();
        let shape = Normalised::new(&t.automaton).unwrap().automaton;
        (shape.structure().len(), shape.pairs().len())
    };
    let pairs = |n: usize| {
        let part = |i| format!("(GFa{i} -> GFb{i})");
        size(&(0..n).map(part).collect::<Vec<_>>().join(" & "))
    };
    assert_eq!([pairs(1), pairs(2), pairs(3)], [(3, 1), (9, 2), (27, 3)]);
    let chain = (1..14).fold("p0".to_owned(), |f, i| format!("p{i} U ({f})"));
    assert_eq!(size(&chain), (15, 1));
    assert_eq!(size("G(p -> F q)"), (2, 1));
    assert_eq!(size("X (GF p | FG q)"), (3, 1));
}

/// An eventuality that is fulfilled while another formula asks for it again must not be lost.
#[test]
fn until_with_always_is_weak_until() {
    let a = "((p1 & X(!p2 U p3)) -> X(!p2 U (p3 & Fp4)))";
    let (f, sigma) = Ltl::parse_propositional(&format!("G(p0 -> ({a} U (p2 | G{a})))")).unwrap();
    let (g, _) = Ltl::parse_propositional(&format!("G(p0 -> ({a} W p2))")).unwrap();
    let sigma = Arc::new(sigma);
    let f = f.translate(&sigma, Options::default()).unwrap().automaton;
    let g = g.translate(&sigma, Options::default()).unwrap().automaton;
    assert_eq!(f.infinitary_difference(&g).unwrap(), None);
}

#[test]
fn syntax() {
    let sigma = Arc::new(Alphabet::of_names(["?op-sec", "!log", "GRANT", "stop"]).unwrap());
    let parse = |text: &str| Ltl::parse(text, &sigma);
    let atom = |name: &str| Box::new(Ltl::Atom(name.to_owned()));
    assert_eq!(
        parse("G(?op-sec -> F !log)").unwrap(),
        Ltl::Always(Box::new(Ltl::Implies(
            atom("?op-sec"),
            Box::new(Ltl::Eventually(atom("!log")))
        )))
    );
    // A blank makes it a negation; without the output it is one too.
    assert_eq!(parse("! log").unwrap(), Ltl::Not(atom("log")));
    assert_eq!(parse("!stop").unwrap(), Ltl::Not(atom("stop")));
    // A name of the alphabet is a name, whatever letter it begins with.
    assert_eq!(parse("GRANT").unwrap(), Ltl::Atom("GRANT".into()));
    assert_eq!(parse("GFstop").unwrap(), parse("[]<> stop").unwrap());
    assert_eq!(
        parse("stop U GRANT && true || false").unwrap(),
        parse("((stop U GRANT) & true) | false").unwrap()
    );
    assert_eq!(
        parse("{?op-sec, \"!log\"}").unwrap(),
        Ltl::AnyOf(vec!["?op-sec".into(), "!log".into()])
    );
    for text in [
        "",
        "(",
        "stop stop",
        "U",
        "stop U",
        "G",
        "nonsense",
        "?other",
        "{",
        "\"x",
        "a\u{301}",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
    assert!(parse(&"!".repeat(100_000)).is_err());
    assert!(parse(&"(".repeat(100_000)).is_err());
    assert!(parse(&"stop & ".repeat(100_000)).is_err());
    assert!(parse(&"stop U ".repeat(100_000)).is_err());
}

proptest! {
    #[test]
    fn hostile_text(text in "[FGXUWRMabp0-9()!?&|<>\\[\\]{}\", =-]{0,40}") {
        let _ = Ltl::parse_propositional(&text);
    }
}

/// The finitary part by class, as the module documentation fixes it.
#[test]
fn finite_sequences() {
    let sigma = Arc::new(Alphabet::of_names(["a", "b", "c"]).unwrap());
    for (formula, accepted, rejected) in [
        ("G !c", &["", "a b"][..], &["c", "a c a"][..]),
        ("F c", &["c", "a c b"], &["", "a b"]),
        ("G(a -> F b)", &["", "b", "a b", "a b c"], &["a", "a b a"]),
        ("F G a", &["a", "b a a"], &["b", "a c"]),
        ("G !a | F b", &["", "c", "a b", "b"], &["a", "c a"]),
    ] {
        let f = Ltl::parse(formula, &sigma).unwrap();
        let t = f.translate(&sigma, Options::default()).unwrap();
        for (words, expected) in [(accepted, true), (rejected, false)] {
            for w in words {
                let word = sigma.word(w).unwrap();
                assert_eq!(t.automaton.accepts(&word), expected, "{formula} on {w:?}");
            }
        }
    }
}

#[test]
fn past_operators() {
    let sigma = Arc::new(Alphabet::of_names(["a", "b", "c"]).unwrap());
    let translate = |text: &str| {
        Ltl::parse(text, &sigma)
            .unwrap()
            .translate(&sigma, Options::default())
    };
    for (with, without) in [
        ("G(b -> O a)", "!b W a"),
        ("G(c -> (! b) S a)", "(!c W a) & G(b -> X(!c W a))"),
        ("G(H a)", "G a"),
        ("G(b -> Y a)", "!b & G(Xb -> a)"),
        ("F(c & Y b)", "F(b & X c)"),
    ] {
        let (x, y) = (
            translate(with).unwrap().automaton,
            translate(without).unwrap().automaton,
        );
        assert_eq!(x.infinitary_difference(&y).unwrap(), None, "{with}");
        assert_eq!(x.finitary_difference(&y).unwrap(), None, "{with}");
    }
    assert_eq!(
        translate("O F a").unwrap_err(),
        iolite_property::LtlError::FutureInPast
    );
}

/// Formulas made to blow up end in an error, soon.
#[test]
fn hostile_formulas() {
    let list = |k: usize, f: &dyn Fn(usize) -> String, sign: &str| {
        (0..k).map(f).collect::<Vec<_>>().join(sign)
    };
    let x = |n: usize| "X".repeat(n);
    let options = Options {
        budget: 5_000,
        ..Options::default()
    };
    for text in [
        // A diagram with a bad order of its variables.
        format!(
            "({}) & ({})",
            list(60, &|i| format!("{}p", x(i + 1)), " | "),
            list(60, &|i| format!("({}p & {}q)", x(i + 1), x(61 + i)), " | ")
        ),
        format!("G(p -> {}q)", x(60)),
        format!(
            "F(G(p | {}(q U F(G p)))) & G(F(q U G(F(p & {}q))))",
            x(30),
            x(30)
        ),
        list(
            40,
            &|i| format!("(G({}p U {}q) U q)", x(i), x(41 - i)),
            " | ",
        ),
    ] {
        let Ok((f, sigma)) = Ltl::parse_propositional(&text) else {
            continue;
        };
        let _ = f.translate(&Arc::new(sigma), options);
    }
}
