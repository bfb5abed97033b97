//! Random systems, and what "the same system" means.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file uses a part of it"
)]

use std::collections::BTreeSet;

use iolite_lts::{LabelKind, Lts, LtsBuilder, StateId};
use proptest::prelude::*;

/// Transitions with labels as text: two systems with the same states, initial state and these are
/// the same, whatever the order of their labels.
pub type Shape = (usize, usize, BTreeSet<(usize, String, usize)>);

pub fn shape(lts: &Lts) -> Shape {
    let text = |l| {
        let label = lts.labels().label(l);
        format!("{:?} {}", label.kind, label.name)
    };
    (
        lts.state_count(),
        lts.initial().index(),
        lts.transitions()
            .map(|(s, l, t)| (s.index(), text(l), t.index()))
            .collect(),
    )
}

/// Names that formats like to trip over.
pub fn label_name() -> impl Strategy<Value = String> {
    prop_oneof![
        // `i` and `tau` are no plain labels.
        4 => "[a-h][a-z]{0,2}",
        1 => Just("G !TRUE".to_owned()),
        1 => Just("send(1, \"x\")".to_owned()),
        1 => Just("a/b".to_owned()),
        1 => Just("back\\slash".to_owned()),
        1 => Just("state".to_owned()),
        1 => Just("é—ω".to_owned()),
        1 => Just("<b>&amp;".to_owned()),
        1 => Just("[]".to_owned()),
    ]
}

fn kind() -> impl Strategy<Value = LabelKind> {
    prop_oneof![
        Just(LabelKind::Input),
        Just(LabelKind::Output),
        Just(LabelKind::Undirected),
        Just(LabelKind::Internal),
    ]
}

/// A system whose labels differ in their names, δ left out.
pub fn system() -> impl Strategy<Value = Lts> {
    let labels = proptest::collection::btree_map(label_name(), kind(), 1..6);
    (1..7usize, labels).prop_flat_map(|(states, labels)| {
        let labels: Vec<(String, LabelKind)> = labels.into_iter().collect();
        let count = labels.len();
        let step = (0..states, 0..=count, 0..states);
        (
            proptest::collection::vec(step, 0..14),
            0..states,
            proptest::option::of(proptest::collection::vec("[ -~]{0,8}", states)),
        )
            .prop_map(move |(steps, initial, names)| {
                let mut b = LtsBuilder::new();
                b.ensure_states(states);
                let ids: Vec<_> = labels.iter().map(|(n, k)| b.label(*k, n)).collect();
                for (s, l, t) in steps {
                    let label = ids.get(l).copied().unwrap_or(iolite_lts::LabelId::TAU);
                    b.transition(StateId::new(s), label, StateId::new(t));
                }
                for (k, name) in names.iter().flatten().enumerate() {
                    b.set_name(StateId::new(k), name);
                }
                b.set_initial(StateId::new(initial));
                b.build().expect("states")
            })
    })
}
