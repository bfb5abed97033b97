//! What goes out and comes in again is the same system.

mod common;

use common::{shape, system};
use iolite_formats::aut::{self, AutOptions};
use iolite_formats::dot::{self, DotOptions};
use iolite_formats::{iol, json};
use iolite_lang::{lower_system, parse_and_check, systems};
use iolite_lts::{Lts, LtsBuilder, StateId};
use proptest::prelude::*;

fn names(lts: &Lts) -> Vec<String> {
    lts.states().map(|s| lts.name(s)).collect()
}

fn distinct(lts: &Lts) -> bool {
    let mut all = names(lts);
    all.sort();
    all.dedup();
    all.len() == lts.state_count()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn through_aut(lts in system()) {
        let mut text = String::new();
        aut::write(&lts, &mut text).expect("no label with a line break");
        let back = aut::read(text.as_bytes(), &AutOptions::default()).expect("own output");
        prop_assert_eq!(shape(&back.value), shape(&lts));
        let crlf = text.replace('\n', "\r\n");
        let back = aut::read(crlf.as_bytes(), &AutOptions::default()).expect("own output");
        prop_assert_eq!(shape(&back.value), shape(&lts));
    }

    #[test]
    fn through_dot(lts in system()) {
        let accepting: Vec<StateId> = lts.states().step_by(2).collect();
        let mut text = String::new();
        dot::write(&lts, &accepting, &mut text).expect("every label can be written");
        let back = dot::read_acceptor(text.as_bytes(), &DotOptions::default());
        let back = back.expect("own output").value;
        prop_assert_eq!(shape(&back.lts), shape(&lts));
        prop_assert_eq!(back.accepting, accepting);
        if distinct(&lts) && names(&lts).iter().all(|n| !n.trim().is_empty()) {
            prop_assert_eq!(names(&back.lts), names(&lts));
        }
    }

    #[test]
    fn through_iol(lts in system()) {
        let mut text = String::new();
        iol::write(&lts, "M", &mut text).expect("labels differ in their names");
        let (file, found) = parse_and_check(&text);
        prop_assert!(!iolite_lang::diagnostic::has_errors(&found), "{text}\n{found:?}");
        prop_assert_eq!(systems(&file), ["M"]);
        let back = lower_system(&file, "M", 100).expect("an explicit system");
        prop_assert_eq!(shape(&back), shape(&lts));
        prop_assert_eq!(back.labels(), lts.labels());
        if lts.has_names() && distinct(&lts) {
            prop_assert_eq!(names(&back), names(&lts));
        }
        // The writer and the formatter agree on the layout.
        prop_assert_eq!(iolite_lang::fmt::format(&text).expect("parses"), text);
    }

    #[test]
    fn through_json(lts in system()) {
        let mut text = String::new();
        json::write(&lts, &mut text).expect("a string");
        let back = json::read(text.as_bytes()).expect("own output").value;
        prop_assert_eq!(back, lts);
    }
}

#[test]
fn delta_survives_where_it_is_kept() {
    let mut b = LtsBuilder::new();
    b.transition_text(StateId::new(0), "delta", StateId::new(1));
    b.transition_text(StateId::new(1), "?a", StateId::new(0));
    let lts = b.build().expect("states");
    let (mut aut_text, mut dot_text) = (String::new(), String::new());
    aut::write(&lts, &mut aut_text).expect("aut");
    dot::write(&lts, &[], &mut dot_text).expect("dot");
    let keep = iolite_formats::DeltaPolicy::Keep;
    let aut_options = AutOptions {
        delta: keep,
        ..AutOptions::default()
    };
    let dot_options = DotOptions {
        delta: keep,
        ..DotOptions::default()
    };
    let from_aut = aut::read(aut_text.as_bytes(), &aut_options)
        .expect("aut")
        .value;
    let from_dot = dot::read(dot_text.as_bytes(), &dot_options)
        .expect("dot")
        .value;
    assert_eq!(shape(&from_aut), shape(&lts));
    assert_eq!(shape(&from_dot), shape(&lts));
    assert!(
        iol::write(&lts, "M", &mut String::new()).is_err(),
        "δ is no action of a system"
    );
}

#[test]
fn labels_that_would_change_are_refused() {
    use iolite_lts::LabelKind::{Internal, Undirected};
    for (kind, name) in [
        (Undirected, "?a"),
        (Undirected, "tau"),
        (Undirected, "i:x"),
        (Internal, ""),
    ] {
        let mut b = LtsBuilder::new();
        let label = b.label(kind, name);
        b.transition(StateId::new(0), label, StateId::new(0));
        let lts = b.build().expect("states");
        assert!(aut::write(&lts, &mut String::new()).is_err(), "{name}");
        assert!(dot::write(&lts, &[], &mut String::new()).is_err(), "{name}");
    }
}
