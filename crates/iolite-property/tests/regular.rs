//! Regular expressions: the automaton against matching from the definition.

use std::sync::Arc;

use iolite_property::regular::RegularError;
use iolite_property::{Alphabet, Dfa, Letter, Regular};
use proptest::prelude::*;

fn expression() -> impl Strategy<Value = Regular> {
    let leaf = prop_oneof![
        1 => Just(Regular::Empty),
        1 => Just(Regular::Epsilon),
        1 => Just(Regular::Any),
        4 => prop::sample::select(&["a", "b"][..]).prop_map(|s| Regular::Symbol(s.to_owned())),
    ];
    leaf.prop_recursive(4, 12, 2, |inner| {
        let two = (inner.clone(), inner.clone());
        let one = inner;
        prop_oneof![
            two.clone()
                .prop_map(|(a, b)| Regular::Concat(Box::new(a), Box::new(b))),
            two.clone()
                .prop_map(|(a, b)| Regular::Alt(Box::new(a), Box::new(b))),
            two.prop_map(|(a, b)| Regular::And(Box::new(a), Box::new(b))),
            one.clone().prop_map(|a| Regular::Star(Box::new(a))),
            one.clone().prop_map(|a| Regular::Plus(Box::new(a))),
            one.clone().prop_map(|a| Regular::Opt(Box::new(a))),
            one.prop_map(|a| Regular::Not(Box::new(a))),
        ]
    })
}

/// Whether the word matches, by trying all ways to cut it.
fn matches(e: &Regular, word: &[char]) -> bool {
    let cuts = |a: &Regular, b: &Regular, from: usize| {
        (from..=word.len()).any(|i| matches(a, &word[..i]) && matches(b, &word[i..]))
    };
    match e {
        Regular::Empty => false,
        Regular::Epsilon => word.is_empty(),
        Regular::Any => word.len() == 1,
        Regular::Symbol(s) => word.len() == 1 && s.starts_with(word[0]),
        Regular::Concat(a, b) => cuts(a, b, 0),
        Regular::Alt(a, b) => matches(a, word) || matches(b, word),
        Regular::And(a, b) => matches(a, word) && matches(b, word),
        // A first round that takes nothing is no progress.
        Regular::Star(a) => word.is_empty() || cuts(a, e, 1),
        Regular::Plus(a) => matches(a, word) || cuts(a, &Regular::Star(a.clone()), 1),
        Regular::Opt(a) => word.is_empty() || matches(a, word),
        Regular::Not(a) => !matches(a, word),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn automaton_matches_what_matches(e in expression()) {
        let sigma = Arc::new(Alphabet::of_names(["a", "b"]).unwrap());
        let dfa = Dfa::new(&e, &sigma).unwrap();
        for bits in 0..1_u32 << 6 {
            for length in 0..=5 {
                let letters: Vec<usize> = (0..length).map(|i| (bits >> i & 1) as usize).collect();
                let word: Vec<Letter> = letters.iter().map(|&l| Letter::new(l)).collect();
                let text: Vec<char> = letters.iter().map(|&l| ['a', 'b'][l]).collect();
                prop_assert_eq!(dfa.accepts(&word), matches(&e, &text), "{:?} on {:?}", e, text);
            }
        }
    }

    #[test]
    fn hostile_text(text in "[ab()|&~*+?.! ·-]{0,40}") {
        let _ = Regular::parse(&text);
    }
}

#[test]
fn syntax() {
    let sigma = Arc::new(Alphabet::of_names(["?a", "!b", "op-sec"]).unwrap());
    let dfa = |text: &str| Dfa::new(&Regular::parse(text)?, &sigma);
    let accepts = |text: &str, word: &str| dfa(text).unwrap().accepts(&sigma.word(word).unwrap());
    assert!(accepts("(?a !b)+", "?a !b ?a !b"));
    assert!(accepts("?a?!b", "!b"));
    assert!(accepts("?a + op-sec", "op-sec"));
    assert!(accepts("~(.* !b .*) & . .", "?a op-sec"));
    assert!(accepts("() | ?a", ""));
    for (text, at) in [("(?a", 3), ("?a )", 3), ("", 0), ("* ?a", 0), ("?", 1)] {
        match Regular::parse(text) {
            Err(RegularError::Syntax { at: found, .. }) => assert_eq!(found, at, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    assert_eq!(
        dfa("c").unwrap_err(),
        RegularError::UnknownAction("c".into())
    );
    assert_eq!(
        Regular::parse(&"(".repeat(100_000)),
        Err(RegularError::TooDeep)
    );
    assert_eq!(
        Regular::parse(&"~".repeat(100_000)),
        Err(RegularError::TooDeep)
    );
    assert_eq!(
        Regular::parse(&"a ".repeat(100_000)),
        Err(RegularError::TooDeep)
    );
}
