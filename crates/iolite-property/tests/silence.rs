//! Silence and the end of a word: verdicts are a function of the language of a formula, not of how it
//! is written or translated.

use std::collections::BTreeSet;
use std::sync::Arc;

use iolite_formats::hoa::{self, HoaReading};
use iolite_property::finitary_part::induced;
use iolite_property::ltl::{Options, Route};
use iolite_property::{
    Alphabet, Basis, CanonicalTester, Class, Dfa, Lasso, Letter, Ltl, Operator,
    PropertyVerdict as V, Quiescence, Reading, Regular, Relation, StreettAutomaton, Structure,
    TesterOptions,
};
use proptest::prelude::*;

const QUIET: [Option<Quiescence>; 3] = [
    None,
    Some(Quiescence::OutputLock),
    Some(Quiescence::Deadlock),
];
const BASES: [Basis; 3] = [
    Basis::Partition,
    Basis::Determinacy(Reading::Infinite),
    Basis::Determinacy(Reading::FiniteAndInfinite),
];

fn sigma(names: &[&str]) -> Arc<Alphabet> {
    Arc::new(Alphabet::of_names(names.iter().copied()).unwrap())
}

fn ltl(text: &str, sigma: &Arc<Alphabet>) -> StreettAutomaton {
    let formula = Ltl::parse(text, sigma).unwrap();
    formula
        .translate(sigma, Options::default())
        .unwrap()
        .automaton
}

fn words(letters: usize, max: usize) -> Vec<Vec<Letter>> {
    let mut all = vec![vec![]];
    let mut layer = all.clone();
    for _ in 0..max {
        layer = layer
            .iter()
            .flat_map(|w| (0..letters).map(move |l| [&w[..], &[Letter::new(l)]].concat()))
            .collect();
        all.extend(layer.clone());
    }
    all
}

/// The verdict on a word, and on the word followed by quiescence.
fn verdict(
    a: &StreettAutomaton,
    relation: Relation,
    basis: Basis,
    word: &[Letter],
    quiet: Option<Quiescence>,
) -> V {
    let quiescence = quiet.is_some();
    let options = TesterOptions {
        relation,
        quiescence,
        basis,
    };
    let tester = CanonicalTester::new(a, options).unwrap();
    let q = tester.structure().after(tester.initial(), word);
    tester.verdict(quiet.map_or(q, |kind| tester.step_quiescent(q, kind)))
}

/// All verdicts on all words of these lengths, for all relations, with and without quiescence, agree.
fn same_verdicts(
    a: &StreettAutomaton,
    b: &StreettAutomaton,
    lengths: std::ops::RangeInclusive<usize>,
) -> Result<(), TestCaseError> {
    let words = words(a.alphabet().len(), *lengths.end());
    for relation in Relation::ALL {
        for basis in BASES {
            for quiescence in [false, true] {
                let options = TesterOptions {
                    relation,
                    quiescence,
                    basis,
                };
                let testers = [a, b].map(|x| CanonicalTester::new(x, options).unwrap());
                for w in words.iter().filter(|w| lengths.contains(&w.len())) {
                    for quiet in QUIET.into_iter().take(if quiescence { 3 } else { 1 }) {
                        let [x, y] = testers.each_ref().map(|t| {
                            let q = t.structure().after(t.initial(), w);
                            t.verdict(quiet.map_or(q, |kind| t.step_quiescent(q, kind)))
                        });
                        prop_assert_eq!(
                            x,
                            y,
                            "{:?} {:?} on {} {:?}",
                            relation,
                            basis,
                            a.alphabet().show(w),
                            quiet
                        );
                    }
                }
            }
        }
    }
    Ok(())
}

/// The verdicts that a log gets: inclusion, finite and infinite continuations.
fn on_log(formula: &str, log: &str) -> V {
    let sigma = sigma(&["?a", "!b", "!c"]);
    let (word, quiet) = match log.strip_suffix("delta") {
        Some(word) => (word.trim(), Some(Quiescence::OutputLock)),
        None => (log, None),
    };
    let basis = Basis::Determinacy(Reading::FiniteAndInfinite);
    let word = sigma.word(word).unwrap();
    verdict(
        &ltl(formula, &sigma),
        Relation::Inclusion,
        basis,
        &word,
        quiet,
    )
}

#[test]
fn conjuncts_commute() {
    for log in ["!c delta", "!b delta", "!b !c delta", "?a delta"] {
        for formula in ["GF !b & GF !c", "GF !c & GF !b"] {
            assert_eq!(on_log(formula, log), V::Fail, "{formula} on {log}");
        }
    }
    // Before anything happened there is no last action to go by, and none would do.
    assert_eq!(on_log("GF !b & GF !c", "delta"), V::Unknown);
}

/// Over these letters the two formulas have the infinite words of Π₄ [PROP12, ex. 11], and its verdicts.
#[test]
fn example_11_as_a_formula() {
    let sigma = sigma(&["?a", "!b"]);
    for formula in ["G(?a -> F !b)", "GF !b"] {
        let a = ltl(formula, &sigma);
        let view = recurrently("ε | .* !b", &sigma);
        same_verdicts(&a, &view, 0..=5).unwrap();
        let on = |word: &str, quiet| {
            let word = sigma.word(word).unwrap();
            verdict(&a, Relation::Inclusion, BASES[2], &word, Some(quiet))
        };
        assert_eq!(on("", Quiescence::OutputLock), V::Unknown);
        assert_eq!(on("", Quiescence::Deadlock), V::WeakPass);
        assert_eq!(on("?a !b ?a", Quiescence::OutputLock), V::Fail);
        assert_eq!(on("?a !b", Quiescence::OutputLock), V::Unknown);
        assert_eq!(on("?a !b", Quiescence::Deadlock), V::WeakPass);
    }
}

#[test]
fn a_system_that_only_waits_is_not_failed() {
    assert_eq!(on_log("FG ! ?a", "delta"), V::Unknown);
    assert_eq!(on_log("FG ! ?a", "!b delta"), V::Unknown);
    assert_eq!(on_log("FG ! ?a", "?a delta"), V::Fail);
}

#[test]
fn reactivity_is_that_of_its_view() {
    let sigma = sigma(&["?a", "!b", "!c"]);
    let view = persistently("ε | .* (!b | !c)", &sigma)
        .union(&recurrently(".* !b", &sigma))
        .unwrap();
    let basis = Basis::Determinacy(Reading::FiniteAndInfinite);
    for (log, expected) in [
        ("", V::Unknown),
        ("!b ?a", V::Fail),
        ("!b !c ?a", V::Fail),
        ("?a !c", V::Unknown),
        ("?a !c !c", V::Unknown),
    ] {
        for formula in [
            "GF ?a -> GF !b",
            "FG ! ?a | GF !b",
            "!(GF ?a & FG ! !b)",
            "!(FG ! !b & GF ?a)",
        ] {
            let found = on_log(formula, &format!("{log} delta"));
            assert_eq!(found, expected, "{formula} on {log}");
        }
        let word = sigma.word(log).unwrap();
        let quiet = Some(Quiescence::OutputLock);
        let found = verdict(&view, Relation::Inclusion, basis, &word, quiet);
        assert_eq!(found, expected, "{log}");
    }
}

/// Where more than the last action must be remembered several languages of finite words fit, and none
/// is chosen.
#[test]
fn what_nothing_fixes_is_unknown() {
    for log in ["!b delta", "!b !b delta", "!c delta", "delta"] {
        assert_eq!(on_log("GF(!b & X !b)", log), V::Unknown, "{log}");
    }
    // The view that names its finite words is judged by them.
    let sigma = sigma(&["?a", "!b", "!c"]);
    let view = recurrently(".* !b !b", &sigma);
    let quiet = Some(Quiescence::OutputLock);
    let word = sigma.word("!b").unwrap();
    let found = verdict(&view, Relation::Inclusion, BASES[2], &word, quiet);
    assert_eq!(found, V::Fail);
}

#[test]
fn pending_answers_fail_under_silence() {
    let answered = "G(?a -> F !b)";
    assert_eq!(on_log(answered, "?a delta"), V::Fail);
    assert_eq!(on_log(answered, "?a !c delta"), V::Fail);
    assert_eq!(on_log(answered, "?a !b delta"), V::Unknown);
    assert_eq!(on_log(answered, "delta"), V::Unknown);
    assert_eq!(on_log("F !b", "!c delta"), V::Fail);
    assert_eq!(on_log("! !b W ?a", "delta"), V::Unknown);
}

fn applied(operator: Operator, text: &str, sigma: &Arc<Alphabet>) -> StreettAutomaton {
    let psi = Dfa::new(&Regular::parse(text).unwrap(), sigma).unwrap();
    operator.apply(&psi).unwrap()
}

fn recurrently(text: &str, sigma: &Arc<Alphabet>) -> StreettAutomaton {
    applied(Operator::Recurrently, text, sigma)
}

fn persistently(text: &str, sigma: &Arc<Alphabet>) -> StreettAutomaton {
    applied(Operator::Persistently, text, sigma)
}

/// Formulas beside the language view of the same property, equal on every word.
#[test]
fn formulas_and_language_views() {
    let sigma = sigma(&["?a", "!b", "!c"]);
    for (formula, operator, psi) in [
        ("G ! !c", Operator::Always, "(?a | !b)*"),
        (
            "G(?a -> X !b)",
            Operator::Always,
            "((!b | !c) | ?a !b)* (ε | ?a)",
        ),
        ("F !b", Operator::Eventually, ".* !b"),
        ("F(?a & X !b)", Operator::Eventually, ".* ?a !b"),
        (
            "G(?a -> F !b)",
            Operator::Recurrently,
            "ε | .* !b !c* | !c*",
        ),
        (
            "FG ! ?a & F !b",
            Operator::Persistently,
            ".* !b (ε | .* (!b | !c))",
        ),
    ] {
        let view = applied(operator, psi, &sigma);
        let made = ltl(formula, &sigma);
        assert_eq!(
            made.infinitary_difference(&view).unwrap(),
            None,
            "{formula}"
        );
        same_verdicts(&made, &view, 0..=5).unwrap_or_else(|e| panic!("{formula}: {e}"));
    }
}

fn formula(atoms: &'static [&'static str]) -> impl Strategy<Value = Ltl> {
    let atom = prop::sample::select(atoms).prop_map(|a| Ltl::Atom(a.to_owned()));
    let leaf = prop_oneof![
        1 => Just(Ltl::True),
        4 => atom.clone(),
        4 => atom.clone().prop_map(|a| eventually(always(a))),
        4 => atom.clone().prop_map(|a| always(eventually(a))),
        2 => (atom.clone(), atom).prop_map(|(a, b)| {
            always(Ltl::Implies(Box::new(a), Box::new(eventually(b))))
        }),
    ];
    leaf.prop_recursive(4, 14, 2, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            2 => inner.clone().prop_map(not),
            1 => inner.clone().prop_map(|a| Ltl::Next(Box::new(a))),
            1 => inner.clone().prop_map(eventually),
            2 => inner.prop_map(always),
            3 => two.clone().prop_map(|(a, b)| Ltl::And(vec![a, b])),
            3 => two.clone().prop_map(|(a, b)| Ltl::Or(vec![a, b])),
            1 => two.clone().prop_map(|(a, b)| Ltl::Implies(Box::new(a), Box::new(b))),
            1 => two.clone().prop_map(|(a, b)| Ltl::Until(Box::new(a), Box::new(b))),
            1 => two.prop_map(|(a, b)| Ltl::Release(Box::new(a), Box::new(b))),
        ]
    })
}

fn not(a: Ltl) -> Ltl {
    Ltl::Not(Box::new(a))
}

fn always(a: Ltl) -> Ltl {
    Ltl::Always(Box::new(a))
}

fn eventually(a: Ltl) -> Ltl {
    Ltl::Eventually(Box::new(a))
}

fn until(a: Ltl, b: Ltl) -> Ltl {
    Ltl::Until(Box::new(a), Box::new(b))
}

/// The same formula in negation normal form; `negated` for its negation.
fn normal_form(f: &Ltl, negated: bool) -> Ltl {
    let go = |g: &Ltl| Box::new(normal_form(g, negated));
    let all = |fs: &[Ltl]| fs.iter().map(|g| normal_form(g, negated)).collect();
    match (f, negated) {
        (Ltl::Not(a), _) => normal_form(a, !negated),
        (Ltl::True, true) => Ltl::False,
        (Ltl::False, true) => Ltl::True,
        (Ltl::And(fs), false) | (Ltl::Or(fs), true) => Ltl::And(all(fs)),
        (Ltl::Or(fs), false) | (Ltl::And(fs), true) => Ltl::Or(all(fs)),
        (Ltl::Implies(a, b), false) => Ltl::Or(vec![normal_form(a, true), normal_form(b, false)]),
        (Ltl::Implies(a, b), true) => Ltl::And(vec![normal_form(a, false), normal_form(b, true)]),
        (Ltl::Next(a), _) => Ltl::Next(go(a)),
        (Ltl::Eventually(a), false) | (Ltl::Always(a), true) => Ltl::Eventually(go(a)),
        (Ltl::Always(a), false) | (Ltl::Eventually(a), true) => Ltl::Always(go(a)),
        (Ltl::Until(a, b), false) | (Ltl::Release(a, b), true) => Ltl::Until(go(a), go(b)),
        (Ltl::Release(a, b), false) | (Ltl::Until(a, b), true) => Ltl::Release(go(a), go(b)),
        (other, true) => not(other.clone()),
        (other, false) => other.clone(),
    }
}

/// An equivalent formula: at each operator the next of `choices` says which law is used.
fn rewritten(f: &Ltl, choices: &mut impl Iterator<Item = u8>) -> Ltl {
    let choice = choices.next().unwrap_or(0) % 4;
    let mut go = |g: &Ltl| rewritten(g, choices);
    match f {
        Ltl::And(fs) => {
            let mut parts: Vec<Ltl> = fs.iter().map(&mut go).collect();
            match choice {
                0 => parts.reverse(),
                1 => return not(Ltl::Or(parts.into_iter().map(not).collect())),
                2 => parts.push(Ltl::True),
                _ => parts.extend(parts.first().cloned()),
            }
            Ltl::And(parts)
        }
        Ltl::Or(fs) => {
            let mut parts: Vec<Ltl> = fs.iter().map(&mut go).collect();
            match choice {
                0 => parts.reverse(),
                1 => return not(Ltl::And(parts.into_iter().map(not).collect())),
                2 => parts.push(Ltl::False),
                _ if parts.len() == 2 => {
                    let right = parts.remove(1);
                    return Ltl::Implies(Box::new(not(parts.remove(0))), Box::new(right));
                }
                _ => {}
            }
            Ltl::Or(parts)
        }
        Ltl::Implies(a, b) => {
            let (a, b) = (go(a), go(b));
            match choice {
                0 => Ltl::Or(vec![b, not(a)]),
                1 => Ltl::Implies(Box::new(not(b)), Box::new(not(a))),
                _ => not(Ltl::And(vec![a, not(b)])),
            }
        }
        Ltl::Not(a) => match choice {
            0 => not(not(not(go(a)))),
            _ => not(go(a)),
        },
        Ltl::Next(a) => match choice {
            0 => not(Ltl::Next(Box::new(not(go(a))))),
            _ => Ltl::Next(Box::new(go(a))),
        },
        Ltl::Always(a) => {
            let a = go(a);
            match choice {
                0 => not(eventually(not(a))),
                1 => Ltl::Release(Box::new(Ltl::False), Box::new(a)),
                2 => always(always(a)),
                _ => Ltl::And(vec![Ltl::Next(Box::new(always(a.clone()))), a]),
            }
        }
        Ltl::Eventually(a) => {
            let a = go(a);
            match choice {
                0 => not(always(not(a))),
                1 => until(Ltl::True, a),
                2 => eventually(eventually(a)),
                _ => Ltl::Or(vec![Ltl::Next(Box::new(eventually(a.clone()))), a]),
            }
        }
        Ltl::Until(a, b) => {
            let (a, b) = (go(a), go(b));
            match choice {
                0 => not(Ltl::Release(Box::new(not(a)), Box::new(not(b)))),
                1 => Ltl::And(vec![
                    Ltl::WeakUntil(Box::new(a), Box::new(b.clone())),
                    eventually(b),
                ]),
                2 => Ltl::StrongRelease(Box::new(b.clone()), Box::new(Ltl::Or(vec![a, b]))),
                _ => until(a, b),
            }
        }
        Ltl::Release(a, b) => {
            let (a, b) = (go(a), go(b));
            match choice {
                0 => not(until(not(a), not(b))),
                1 => Ltl::WeakUntil(Box::new(b.clone()), Box::new(Ltl::And(vec![a, b]))),
                _ => Ltl::Release(Box::new(a), Box::new(b)),
            }
        }
        other => other.clone(),
    }
}

/// A Boolean combination of "one of X infinitely often" and "from some point on only X", as a formula
/// and as the same combination of the operators R and P.
#[derive(Clone, Debug)]
enum Combination {
    Recurrent(Vec<bool>),
    Persistent(Vec<bool>),
    Not(Box<Self>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
}

impl Combination {
    fn any() -> impl Strategy<Value = Self> {
        let set = prop::collection::vec(any::<bool>(), 3);
        let leaf = prop_oneof![
            set.clone().prop_map(Self::Recurrent),
            set.prop_map(Self::Persistent),
        ];
        leaf.prop_recursive(3, 6, 2, |inner| {
            let two = (inner.clone(), inner.clone());
            prop_oneof![
                1 => inner.prop_map(|a| Self::Not(Box::new(a))),
                2 => two.clone().prop_map(|(a, b)| Self::And(Box::new(a), Box::new(b))),
                2 => two.prop_map(|(a, b)| Self::Or(Box::new(a), Box::new(b))),
            ]
        })
    }

    fn formula(&self, names: &[&str]) -> Ltl {
        let set = |x: &[bool]| {
            let chosen = names.iter().zip(x).filter(|(_, x)| **x);
            Ltl::AnyOf(chosen.map(|(n, _)| (*n).to_owned()).collect())
        };
        match self {
            Self::Recurrent(x) => always(eventually(set(x))),
            Self::Persistent(x) => eventually(always(set(x))),
            Self::Not(a) => not(a.formula(names)),
            Self::And(a, b) => Ltl::And(vec![a.formula(names), b.formula(names)]),
            Self::Or(a, b) => Ltl::Or(vec![a.formula(names), b.formula(names)]),
        }
    }

    fn view(&self, sigma: &Arc<Alphabet>) -> StreettAutomaton {
        // 0: the last action is in X; 1: it is not. Nothing has recurred in the empty word, and nothing
        // has been outside of X.
        let ends_in = |x: &[bool], start: usize| {
            let row: Vec<usize> = x.iter().map(|&x| usize::from(!x)).collect();
            Dfa::from_rows(sigma.clone(), start, &[row.clone(), row], &[0]).unwrap()
        };
        match self {
            Self::Recurrent(x) => Operator::Recurrently.apply(&ends_in(x, 1)).unwrap(),
            Self::Persistent(x) => Operator::Persistently.apply(&ends_in(x, 0)).unwrap(),
            Self::Not(a) => a.view(sigma).negation().unwrap(),
            Self::And(a, b) => a.view(sigma).intersection(&b.view(sigma)).unwrap(),
            Self::Or(a, b) => a.view(sigma).union(&b.view(sigma)).unwrap(),
        }
    }
}

fn translated(f: &Ltl, sigma: &Arc<Alphabet>, route: Route) -> Option<StreettAutomaton> {
    let options = Options {
        route,
        budget: 20_000,
    };
    f.translate(sigma, options).ok().map(|t| t.automaton)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn equivalent_formulas(
        f in formula(&["?a", "!b", "!c"]),
        choices in prop::collection::vec(any::<u8>(), 40),
    ) {
        let sigma = sigma(&["?a", "!b", "!c"]);
        let g = rewritten(&f, &mut choices.into_iter());
        let (Some(x), Some(y)) =
            (translated(&f, &sigma, Route::Best), translated(&g, &sigma, Route::Best))
        else {
            return Ok(());
        };
        prop_assert_eq!(x.infinitary_difference(&y).unwrap(), None, "{:?}\n{:?}", f, g);
        prop_assert_eq!(x.finitary_difference(&y).unwrap(), None, "{:?}\n{:?}", f, g);
        same_verdicts(&x, &y, 0..=5)?;
        let n = translated(&normal_form(&f, false), &sigma, Route::Best).unwrap();
        prop_assert_eq!(x.finitary_difference(&n).unwrap(), None, "{:?}", f);
    }

    /// Another construction gives another automaton, and the same judgement of every finite word.
    #[test]
    fn constructions(f in formula(&["?a", "!b"])) {
        let sigma = sigma(&["?a", "!b"]);
        if let (Some(x), Some(y)) =
            (translated(&f, &sigma, Route::Best), translated(&f, &sigma, Route::Safra))
        {
            // Both were reduced by their residuals, each in its own way.
            prop_assert_eq!(x.infinitary_difference(&y).unwrap(), None, "{:?}", f);
            prop_assert_eq!(x.finitary_difference(&y).unwrap(), None, "{:?}", f);
            same_verdicts(&x, &y, 0..=5)?;
        }
    }

    /// A file that tells only the infinite words has the finite ones from them.
    #[test]
    fn hoa_round_trip(f in formula(&["?a", "!b", "!c"])) {
        let sigma = sigma(&["?a", "!b", "!c"]);
        let Some(x) = translated(&f, &sigma, Route::Best) else { return Ok(()) };
        let read = |text: &str| hoa::read(text, HoaReading::AsMarked).unwrap();
        let back = read(&hoa::write(&x, "x"));
        let y = induced(&back).unwrap();
        prop_assert_eq!(x.finitary_difference(&y).unwrap(), None, "{:?}", f);
        same_verdicts(&x, &y, 0..=4)?;
        // Read as it is: what is left open counts as accepted, and fails nothing.
        for w in words(3, 4) {
            for quiet in QUIET.into_iter().take(2) {
                let [one, two] =
                    [&x, &back].map(|a| verdict(a, Relation::Inclusion, BASES[2], &w, quiet));
                prop_assert_eq!(one, two, "{:?} on {}", f, sigma.show(&w));
            }
        }
    }

    /// The negation leaves open what was open and changes every other judgement, above obligation and
    /// after the first action.
    #[test]
    fn negation(f in formula(&["?a", "!b", "!c"])) {
        let sigma = sigma(&["?a", "!b", "!c"]);
        let made = f.translate(&sigma, Options::default());
        let Ok(x) = made else { return Ok(()) };
        if !x.class.class.is_within(Class::Obligation(usize::MAX)) {
            let y = translated(&not(f.clone()), &sigma, Route::Best).unwrap();
            let z = x.automaton.negation().unwrap();
            for w in words(3, 5).iter().skip(1) {
                let [one, two] = [&y, &z].map(|a| {
                    let q = a.structure().after(a.structure().initial(), w);
                    (a.finite().contains(q), a.open().contains(q))
                });
                prop_assert_eq!(one, two, "{:?} on {}", f, sigma.show(w));
            }
        }
    }

    /// Formulas of recurring and persisting last actions against the operators R and P.
    #[test]
    fn formulas_and_operators(c in Combination::any()) {
        let names = ["?a", "!b", "!c"];
        let sigma = sigma(&names);
        let view = c.view(&sigma);
        let made = translated(&c.formula(&names), &sigma, Route::Best).unwrap();
        prop_assert_eq!(made.infinitary_difference(&view).unwrap(), None, "{:?}", c);
        // On no action at all the operators say what their ψ says of the empty word, which φ does
        // not tell.
        for relation in Relation::ALL {
            for w in words(3, 4).iter().skip(1) {
                for quiet in QUIET {
                    let basis = Basis::Determinacy(Reading::FiniteAndInfinite);
                    prop_assert_eq!(
                        verdict(&made, relation, basis, w, quiet),
                        verdict(&view, relation, basis, w, quiet),
                        "{:?} {} on {}", c, relation, sigma.show(w)
                    );
                }
            }
        }
    }

    /// The rules of the finitary part, from their definition: residuals are compared as languages, and
    /// continuations are tried one by one and evaluated by the semantics of the formula.
    #[test]
    fn rules_by_enumeration(f in formula(&["a", "b", "c"])) {
        let sigma = sigma(&["a", "b", "c"]);
        let made = f.translate(&sigma, Options::default());
        let Ok(t) = made else { return Ok(()) };
        let a = &t.automaton;
        if t.class.class.is_within(Class::Obligation(usize::MAX)) || a.structure().len() > 4 {
            return Ok(());
        }
        let shifted: Vec<StreettAutomaton> = a
            .structure()
            .states()
            .map(|q| {
                let table = a.structure().states().flat_map(|p| a.structure().row(p).to_vec());
                let s = Structure::new(sigma.clone(), q, table.collect()).unwrap();
                StreettAutomaton::new(s, a.pairs().to_vec()).unwrap()
            })
            .collect();
        let residual: Vec<usize> = shifted
            .iter()
            .map(|x| {
                let same = |y: &&StreettAutomaton| x.infinitary_difference(y).unwrap().is_none();
                shifted.iter().position(|y| same(&y)).unwrap()
            })
            .collect();
        let of = |w: &[Letter]| residual[a.structure().after(a.structure().initial(), w).index()];
        for w in words(3, 2) {
            let here = of(&w);
            let (mut returning, mut staying) = (BTreeSet::new(), BTreeSet::new());
            let mut by_letters: Vec<BTreeSet<bool>> = vec![BTreeSet::new(); 8];
            for u in words(3, 6).into_iter().skip(1) {
                if of(&[&w[..], &u].concat()) != here {
                    continue;
                }
                let stays = (1..u.len()).all(|i| of(&[&w[..], &u[..i]].concat()) == here);
                let letters = u.iter().fold(0, |set, l| set | 1 << l.index());
                let holds = f.holds(&Lasso { stem: w.clone(), cycle: u }, &sigma).unwrap();
                returning.insert(holds);
                if stays {
                    staying.insert(holds);
                    by_letters[letters].insert(holds);
                }
            }
            let only = |set: &BTreeSet<bool>| (set.len() == 1).then(|| set.contains(&true));
            let memoryless = by_letters.iter().all(|s| s.len() < 2);
            let repeated = || match w.last().filter(|_| memoryless) {
                Some(last) => only(&by_letters[1 << last.index()]),
                None => (memoryless && w.is_empty())
                    .then(|| [1, 2, 4].iter().any(|&a| only(&by_letters[a]) == Some(true)))
                    .filter(|&accepted| accepted),
            };
            let expected = only(&returning)
                .or_else(|| only(&staying))
                .or_else(repeated);
            let q = a.structure().after(a.structure().initial(), &w);
            let found = (!a.open().contains(q)).then(|| a.finite().contains(q));
            prop_assert_eq!(found, expected, "{:?} on {}", f, sigma.show(&w));
        }
    }
}

/// Formulas of the past beside formulas of the future with the same infinite words, where letters are
/// actions, one at a time.
const PAST_AND_FUTURE: [(&str, &str); 8] = [
    ("G(!b -> O ?a)", "(not !b) W ?a"),
    ("G(!b -> Y ?a)", "(not !b) and G((not ?a) -> X not !b)"),
    ("F(!b & Z H ?a)", "?a U !b"),
    ("F(!b & O ?a)", "F(?a & F !b)"),
    ("GF(!c S ?a)", "GF ?a or F(?a & XG !c)"),
    ("FG O ?a", "F ?a"),
    ("G(!b -> Z !c)", "G((not !c) -> X not !b)"),
    ("GF(?a & Y !b)", "GF(!b & X ?a)"),
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 120, ..ProptestConfig::default() })]

    /// Whether what happened is remembered or awaited, the verdicts are the same.
    #[test]
    fn past_and_future(
        first in 0..PAST_AND_FUTURE.len(),
        second in 0..PAST_AND_FUTURE.len(),
        shape in 0..4_u8,
    ) {
        let sigma = sigma(&["?a", "!b", "!c"]);
        let joined = |a: &str, b: &str| match shape {
            0 => format!("({a}) and ({b})"),
            1 => format!("({a}) or not ({b})"),
            2 => format!("not ({a}) or ({b})"),
            _ => format!("not (({a}) and not ({b}))"),
        };
        let (one, two) = (PAST_AND_FUTURE[first], PAST_AND_FUTURE[second]);
        let past = ltl(&joined(one.0, two.0), &sigma);
        let future = ltl(&joined(one.1, two.1), &sigma);
        let mixed = ltl(&joined(one.0, two.1), &sigma);
        for other in [&past, &mixed] {
            prop_assert_eq!(other.infinitary_difference(&future).unwrap(), None);
            prop_assert_eq!(other.finitary_difference(&future).unwrap(), None);
            same_verdicts(other, &future, 0..=4)?;
        }
    }
}
