//! A property that goes out as a declaration comes in again as it was.

use std::sync::Arc;

use iolite_formats::property::iol;
use iolite_lang::{diagnostic, lower_property, parse_and_check};
use iolite_property::{Alphabet, Pair, StateId, StateSet, StreettAutomaton, Structure};
use proptest::prelude::*;

/// Names that a language likes to trip over.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-h][a-z]{0,2}",
        1 => "[ -~]{1,6}",
        2 => prop::sample::select(vec![
            "state", "pair", "initial", "recurrent", "persistent", "0", "17", "2x", "é—ω", "a'",
            "delta", "i", "back\\slash", "q\"uote", "line\nbreak", "tab\t", "*", "->", "a, b", "//",
        ]).prop_map(str::to_owned),
    ]
}

fn automaton() -> impl Strategy<Value = StreettAutomaton> {
    let actions = prop::collection::btree_set(name(), 1..4);
    let names = prop::collection::btree_set(name(), 1..5);
    (
        actions,
        names,
        prop::collection::vec((any::<u8>(), any::<u8>()), 1..3),
        any::<bool>(),
    )
        .prop_flat_map(|(actions, names, pairs, directed)| {
            let (n, letters) = (names.len(), actions.len());
            prop::collection::vec(0..n, n * letters).prop_map(move |next| {
                let actions: Vec<String> = actions
                    .iter()
                    .map(|a| if directed { format!("?{a}") } else { a.clone() })
                    .collect();
                let sigma = Alphabet::of_names(actions.iter().map(String::as_str)).ok()?;
                let next = next.into_iter().map(StateId::new).collect();
                let structure = Structure::new(Arc::new(sigma), StateId::new(0), next).ok()?;
                let set = |bits: u8| StateSet::of(n, |q| bits >> q.index() & 1 == 1);
                let pairs = pairs
                    .iter()
                    .map(|&(r, p)| Pair {
                        recurrent: set(r),
                        persistent: set(p),
                    })
                    .collect();
                let automaton = StreettAutomaton::new(structure, pairs).ok()?;
                Some(automaton.with_names(names.iter().cloned().collect()))
            })
        })
        .prop_filter_map("not every text is an action", |a| a)
}

/// An automaton in words: its actions, and for each state its name, its steps and its sets.
fn shape(a: &StreettAutomaton) -> (Vec<String>, String, Vec<String>) {
    let (s, sigma) = (a.structure(), a.alphabet());
    let state = |q: StateId| {
        let steps: Vec<String> = sigma.iter().map(|l| a.name(s.step(q, l))).collect();
        let sets: Vec<(bool, bool)> = a
            .pairs()
            .iter()
            .map(|p| (p.recurrent.contains(q), p.persistent.contains(q)))
            .collect();
        format!(
            "{:?} {steps:?} {sets:?} {}",
            a.name(q),
            a.finite().contains(q)
        )
    };
    (
        sigma.iter().map(|l| sigma.text(l)).collect(),
        a.name(s.initial()),
        s.states().map(state).collect(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn through_iol(automaton in automaton()) {
        let text = iol::write(&automaton, "P").expect("the pairs decide");
        let (file, found) = parse_and_check(&text);
        prop_assert!(!diagnostic::has_errors(&found), "{text}\n{found:?}");
        let back = lower_property(&file, "P", &[]);
        prop_assert!(back.is_ok(), "{text}\n{back:?}");
        prop_assert_eq!(shape(&back.unwrap()), shape(&automaton), "{}", text);
    }
}
