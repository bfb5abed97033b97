//! Behaviour expressions: the rules of definition 2.4 and the kernel's views give the same system.

mod common;

use std::collections::{BTreeSet, VecDeque};

use common::bisimilar;
use iolite_lang::{lower_lazily, lower_system, parse_and_check};
use iolite_lts::{Lts, explore};
use proptest::prelude::*;

/// A behaviour of names a, b, c over processes P and Q, always guarded where it calls.
fn behaviour(depth: u32) -> BoxedStrategy<String> {
    let action = prop::sample::select(vec!["?a", "!a", "?b", "!b", "!c", "i"]);
    let leaf = prop_oneof![
        Just("stop".to_owned()),
        (action.clone(), prop::sample::select(vec!["P", "Q", "M"]))
            .prop_map(|(a, p)| format!("{a}; {p}")),
        Just("M".to_owned()),
    ];
    leaf.prop_recursive(depth, 12, 3, move |inner| {
        let action = action.clone();
        prop_oneof![
            (action, inner.clone()).prop_map(|(a, b)| format!("{a}; ({b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(({a}) [] ({b}))")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(({a}) || ({b}))")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("(({a}) |[a, b]| ({b}) |[b, a]| ({c}))")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(({a}) ||| ({b}))")),
            inner.clone().prop_map(|b| format!("(hide a in ({b}))")),
            inner.prop_map(|b| format!("(rename a -> c, c -> d in ({b}))")),
        ]
    })
    .boxed()
}

const MACHINE: &str = "system M { input a output b, c internal step initial state s { ?a -> t } state t { !b -> s step -> s } }";

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn rules_and_views_agree(top in behaviour(4)) {
        let text = format!(
            "{MACHINE}\nprocess P = ?a; (!b; Q [] i; P)\nprocess Q = !b; P [] ?a; stop\nsystem T = {top}"
        );
        let (file, found) = parse_and_check(&text);
        prop_assert!(!iolite_lang::diagnostic::has_errors(&found), "{text}\n{found:?}");
        let Ok(rules) = lower_system(&file, "T", 400) else { return Ok(()) };
        let view = lower_lazily(&file, "T", 400).expect("the rules found it finite");
        let views = explore(&view, 2000).expect("as finite as by the rules");
        prop_assert!(bisimilar(&rules, &views), "{top}");
        // Both know the same visible labels, used or not.
        let alphabet = |lts: &Lts| -> BTreeSet<String> {
            lts.labels().iter().skip(2).filter(|(_, l)| l.kind.is_visible())
                .filter(|(id, _)| lts.transitions().any(|(_, l, _)| l == *id))
                .map(|(_, l)| l.to_string()).collect()
        };
        prop_assert_eq!(alphabet(&rules), alphabet(&views));
    }
}

fn lower(text: &str, name: &str) -> Lts {
    let (file, found) = parse_and_check(text);
    assert!(!iolite_lang::diagnostic::has_errors(&found), "{found:?}");
    lower_system(&file, name, 10_000).expect("finite")
}

fn traces(lts: &Lts, length: usize) -> BTreeSet<String> {
    let mut result = BTreeSet::new();
    let mut open = VecDeque::from([(lts.initial(), String::new(), 0)]);
    while let Some((s, trace, n)) = open.pop_front() {
        if n < length {
            for &(l, t) in lts.steps(s) {
                open.push_back((t, format!("{trace}{} ", lts.labels().text(l)), n + 1));
            }
        }
        result.insert(trace);
    }
    result
}

#[test]
fn a_hidden_channel() {
    let text =
        "process L = ?a; !mid; L process R = ?mid; !x; R system Net = hide mid in (L |[mid]| R)";
    let net = lower(text, "Net");
    assert_eq!((net.state_count(), net.transition_count()), (4, 5));
    assert!(
        net.labels().get_text("!mid").is_none(),
        "hidden labels leave the alphabet"
    );
    assert!(traces(&net, 3).contains("?a i !x "));
}

#[test]
fn instances_interleave() {
    let text = "process C = a; b; stop system T = each k in 1..3 ||| C";
    let lts = lower(text, "T");
    assert_eq!(lts.state_count(), 27);
}

#[test]
fn states_know_their_lines() {
    let text =
        "process P =\n  a;\n  b; stop\nsystem S {\n  initial state x {\n a -> y }\n state y }";
    let p = lower(text, "P");
    assert_eq!(
        p.states().map(|s| p.line(s)).collect::<Vec<_>>(),
        [Some(2), Some(3), None]
    );
    let s = lower(text, "S");
    assert_eq!(
        s.states().map(|q| s.line(q)).collect::<Vec<_>>(),
        [Some(5), Some(7)]
    );
}
