//! Automata over many propositions, whose rows are functions: beside those over tables, and beside the definition.

mod support;

use std::sync::Arc;

use iolite_formats::hoa::{self, HoaReading};
use iolite_property::finitary_part::induced;
use iolite_property::ltl::{Options, Route, Translation};
use iolite_property::{
    Alphabet, Classification, Lasso, Letter, Ltl, Normalised, Partition, StreettAutomaton,
};
use proptest::prelude::*;
use support::with_past;

const FEW: [&str; 3] = ["p", "q", "r"];
/// The same with others that formulas over the first do not speak of: rows are functions then.
const MANY: [&str; 10] = ["p", "a", "q", "b", "c", "r", "d", "e", "f", "g"];

fn sigma(names: &[&str]) -> Arc<Alphabet> {
    Arc::new(Alphabet::valuations(names).unwrap())
}

fn translated(f: &Ltl, sigma: &Arc<Alphabet>, route: Route) -> Translation {
    let budget = 50_000;
    f.translate(sigma, Options { route, budget }).unwrap()
}

fn formula(atoms: &'static [&'static str]) -> impl Strategy<Value = Ltl> {
    let leaf = prop::sample::select(atoms).prop_map(|a| Ltl::Atom(a.to_owned()));
    leaf.prop_recursive(4, 14, 2, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            1 => inner.clone().prop_map(|a| Ltl::Not(Box::new(a))),
            1 => inner.clone().prop_map(|a| Ltl::Next(Box::new(a))),
            2 => inner.clone().prop_map(|a| Ltl::Eventually(Box::new(a))),
            2 => inner.clone().prop_map(|a| Ltl::Always(Box::new(a))),
            2 => two.clone().prop_map(|(a, b)| Ltl::And(vec![a, b])),
            2 => two.clone().prop_map(|(a, b)| Ltl::Or(vec![a, b])),
            1 => two.clone().prop_map(|(a, b)| Ltl::Implies(Box::new(a), Box::new(b))),
            1 => two.clone().prop_map(|(a, b)| Ltl::Until(Box::new(a), Box::new(b))),
            1 => two.prop_map(|(a, b)| Ltl::Release(Box::new(a), Box::new(b))),
        ]
    })
}

/// Conjunctions and disjunctions of what recurs and what persists, where one round of all is a mark.
fn recurring() -> impl Strategy<Value = Ltl> {
    let part = formula(&FEW).prop_flat_map(|f| {
        let once = Ltl::Always(Box::new(Ltl::Eventually(Box::new(f.clone()))));
        let last = Ltl::Eventually(Box::new(Ltl::Always(Box::new(f.clone()))));
        prop_oneof![2 => Just(once), 1 => Just(last), 1 => Just(f)]
    });
    (prop::collection::vec(part, 1..4), any::<bool>())
        .prop_map(|(parts, all)| if all { Ltl::And(parts) } else { Ltl::Or(parts) })
}

/// Formulas with so many alternations that only determinisation is left.
fn alternating(atoms: &'static [&'static str]) -> impl Strategy<Value = Ltl> {
    let set = || {
        let literal = (prop::sample::select(atoms), any::<bool>()).prop_map(|(a, holds)| {
            let atom = Ltl::Atom(a.to_owned());
            if holds {
                atom
            } else {
                Ltl::Not(Box::new(atom))
            }
        });
        prop::collection::vec(literal, 1..4).prop_map(Ltl::And)
    };
    let inner = (set(), set(), any::<bool>()).prop_map(|(a, b, until)| {
        let (a, b) = (Box::new(a), Box::new(b));
        if until {
            Ltl::Until(a, b)
        } else {
            Ltl::Release(a, b)
        }
    });
    let level = |inner: BoxedStrategy<Ltl>| {
        (set(), set(), inner, 0..4_u8)
            .prop_map(|(a, b, f, kind)| match kind {
                0 => Ltl::Always(Box::new(Ltl::Or(vec![a, Ltl::Next(Box::new(f))]))),
                1 => Ltl::Eventually(Box::new(Ltl::And(vec![a, Ltl::Next(Box::new(f))]))),
                2 => Ltl::Until(Box::new(Ltl::Or(vec![a, f])), Box::new(b)),
                _ => Ltl::Release(Box::new(a), Box::new(Ltl::Or(vec![f, b]))),
            })
            .boxed()
    };
    level(level(level(inner.boxed())))
}

/// By the definition, letter by letter of some words; a bound may be met on the way.
fn right(
    f: &Ltl,
    sigma: &Arc<Alphabet>,
    route: Route,
    words: &[(Vec<Letter>, Vec<Letter>)],
) -> Result<(), TestCaseError> {
    let options = Options {
        route,
        budget: 5_000,
    };
    let found = match f.translate(sigma, options) {
        Err(e) => {
            prop_assert!(e.is_bound(), "{e}: {f:?}");
            return Ok(());
        }
        Ok(found) => found.automaton,
    };
    for (stem, cycle) in words {
        let lasso = Lasso {
            stem: stem.clone(),
            cycle: cycle.clone(),
        };
        let expected = f.holds(&lasso, sigma).unwrap();
        prop_assert_eq!(found.accepts_lasso(&lasso), expected, "{:?} {:?}", route, f);
    }
    Ok(())
}

/// Letters over the many, as numbers of ten bits.
fn word(min: usize, max: usize) -> impl Strategy<Value = Vec<Letter>> {
    prop::collection::vec((0..1_u64 << MANY.len()).prop_map(Letter::of_bits), min..max)
}

/// The letter over the few that one over the many is.
fn narrowed(l: Letter) -> Letter {
    let holds = |name: &str| {
        let at = MANY.iter().position(|m| *m == name).unwrap();
        l.bits() >> at & 1
    };
    let bits = FEW.iter().enumerate().map(|(i, name)| holds(name) << i);
    Letter::of_bits(bits.sum())
}

fn judged(a: &StreettAutomaton, word: &[Letter]) -> (bool, bool) {
    let end = a.structure().after(a.structure().initial(), word);
    (a.finite().contains(end), a.open().contains(end))
}

fn same(
    f: &Ltl,
    finite: &[Vec<Letter>],
    infinite: &[(Vec<Letter>, Vec<Letter>)],
) -> Result<(), TestCaseError> {
    let (few, many) = (sigma(&FEW), sigma(&MANY));
    let table = translated(f, &few, Route::Best);
    let lifted = translated(f, &many, Route::Best);
    let functions = translated(f, &many, Route::Functions);
    prop_assert_eq!(table.class, functions.class, "{:?}", f);
    for wide in [&lifted.automaton, &functions.automaton] {
        for w in finite {
            let narrow: Vec<Letter> = w.iter().map(|&l| narrowed(l)).collect();
            prop_assert_eq!(
                judged(&table.automaton, &narrow),
                judged(wide, w),
                "{:?}",
                f
            );
        }
        for (stem, cycle) in infinite {
            let lasso = Lasso {
                stem: stem.clone(),
                cycle: cycle.clone(),
            };
            prop_assert_eq!(
                wide.accepts_lasso(&lasso),
                f.holds(&lasso, &many).unwrap(),
                "{:?}",
                f
            );
        }
        let class = Classification::new(wide).unwrap();
        prop_assert_eq!(
            class.property,
            Classification::new(&table.automaton).unwrap().property
        );
        let normal = Normalised::new(wide).unwrap();
        prop_assert_eq!(normal.automaton.infinitary_difference(wide).unwrap(), None);
        Partition::new(wide);
    }
    let (x, y) = (&lifted.automaton, &functions.automaton);
    prop_assert_eq!(x.infinitary_difference(y).unwrap(), None, "{:?}", f);
    prop_assert_eq!(x.finitary_difference(y).unwrap(), None, "{:?}", f);
    // Written with functions for labels, and read without listing letters.
    let back = hoa::read(&hoa::write(y, "x"), HoaReading::AsMarked).unwrap();
    prop_assert_eq!(back.infinitary_difference(y).unwrap(), None, "{:?}", f);
    prop_assert_eq!(
        induced(&back).unwrap().finitary_difference(y).unwrap(),
        None,
        "{:?}",
        f
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn functions_and_tables(
        f in formula(&FEW),
        finite in prop::collection::vec(word(0, 6), 30),
        infinite in prop::collection::vec((word(0, 4), word(1, 5)), 30),
    ) {
        same(&f, &finite, &infinite)?;
    }

    #[test]
    fn rounds(
        f in recurring(),
        finite in prop::collection::vec(word(0, 6), 30),
        infinite in prop::collection::vec((word(0, 4), word(1, 5)), 30),
    ) {
        same(&f, &finite, &infinite)?;
    }

    #[test]
    fn determinised_functions_and_tables(
        f in alternating(&FEW),
        finite in prop::collection::vec(word(0, 6), 20),
        infinite in prop::collection::vec((word(0, 4), word(1, 5)), 30),
    ) {
        same(&f, &finite, &infinite)?;
    }

    #[test]
    fn past_functions_and_tables(
        f in with_past(&FEW),
        finite in prop::collection::vec(word(0, 6), 20),
        infinite in prop::collection::vec((word(0, 4), word(1, 5)), 30),
    ) {
        same(&f, &finite, &infinite)?;
    }

    /// Letters of all of the many, of which there are too many for a table.
    #[test]
    fn determinised_by_the_definition(
        f in alternating(&MANY),
        g in formula(&MANY),
        infinite in prop::collection::vec((word(0, 4), word(1, 5)), 40),
    ) {
        let many = sigma(&MANY);
        for route in [Route::Best, Route::Functions, Route::Safra] {
            right(&f, &many, route, &infinite)?;
        }
        right(&g, &many, Route::Safra, &infinite)?;
    }

    #[test]
    fn past_by_the_definition(
        f in with_past(&MANY),
        infinite in prop::collection::vec((word(0, 4), word(1, 5)), 40),
    ) {
        let many = sigma(&MANY);
        for route in [Route::Best, Route::Functions, Route::Safra] {
            right(&f, &many, route, &infinite)?;
        }
    }

    /// Over all of the many there are too many classes of letters for tables.
    #[test]
    fn all_propositions(
        f in formula(&MANY),
        parts in prop::collection::vec(formula(&MANY), 1..4),
        infinite in prop::collection::vec((word(0, 4), word(1, 5)), 40),
    ) {
        let many = sigma(&MANY);
        let f = Ltl::And(parts.into_iter().chain([f]).collect());
        let found = translated(&f, &many, Route::Best).automaton;
        for (stem, cycle) in infinite {
            let lasso = Lasso { stem, cycle };
            prop_assert_eq!(found.accepts_lasso(&lasso), f.holds(&lasso, &many).unwrap(), "{:?}", f);
        }
    }
}

fn translated_text(text: &str) -> StreettAutomaton {
    let (f, sigma) = Ltl::parse_propositional(text).unwrap();
    let found = f.translate(&Arc::new(sigma), Options::default()).unwrap();
    found.automaton
}

/// The states of the shape; what is written is read again as the same.
fn states(text: &str) -> usize {
    let found = translated_text(text);
    let back = hoa::read(&hoa::write(&found, "x"), HoaReading::AsMarked).unwrap();
    assert_eq!(back.infinitary_difference(&found).unwrap(), None);
    let shape = Normalised::new(&found).unwrap().automaton;
    shape.structure().len()
}

#[test]
fn families_of_many_propositions() {
    let names: Vec<String> = (1..=60).map(|i| format!("a{i}")).collect();
    let recur: Vec<String> = names.iter().map(|a| format!("G F {a}")).collect();
    assert_eq!(states(&recur[..16].join(" & ")), 17);
    assert!(translated_text(&recur.join(" & ")).structure().len() <= 63);
    // The parser nests no deeper.
    let (last, others) = names[..40].split_last().unwrap();
    let nest = |inner: String, a: &String| format!("{a} U ({inner})");
    let chain = others.iter().rev().fold(last.clone(), nest);
    assert_eq!(states(&chain), 41);
    let all: Vec<String> = names.iter().map(|a| format!("F {a}")).collect();
    assert_eq!(states(&all[..9].join(" & ")), 1 << 9);
}

/// Constructions that had a letter for each valuation once.
#[test]
fn determinisation_and_the_past_over_many_propositions() {
    let names: Vec<String> = (1..=40).map(|i| format!("a{i}")).collect();
    let all = |by: &str| names.join(by);
    // The debt of each position is paid by a set of letters that twenty propositions tell apart.
    let text = format!("G(({}) | F G ({}))", all(" | "), all(" & "));
    let few = translated_text("G(p | F G q)");
    assert!(translated_text(&text).structure().len() <= few.structure().len() + 2);
    let nested = format!("F({} & G({} | F (a1 U (a2 & X a3))))", names[3], names[4]);
    assert!(translated_text(&nested).structure().len() < 60);
    let since = format!(
        "G(a1 -> ({}) S ({}))",
        names[2..20].join(" | "),
        names[20..].join(" & ")
    );
    assert_eq!(states(&since), 3);
    let once: Vec<String> = names[..12].iter().map(|a| format!("O {a}")).collect();
    let found = translated_text(&format!("G(z -> {})", once.join(" & ")));
    assert!(found.structure().len() <= (1 << 12) + 2);
}

#[test]
fn what_is_too_large_ends() {
    let recur: Vec<String> = (0..40).map(|i| format!("F a{i}")).collect();
    let (f, sigma) = Ltl::parse_propositional(&recur.join(" & ")).unwrap();
    let error = f
        .translate(&Arc::new(sigma), Options::default())
        .unwrap_err();
    assert!(error.is_bound(), "{error}");
    let names: Vec<String> = (0..64).map(|i| format!("a{i}")).collect();
    let error = Ltl::parse_propositional(&names.join(" | ")).unwrap_err();
    assert!(error.is_bound(), "{error}");
}
