//! What "the same system" means.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file uses a part of it"
)]

use std::collections::{BTreeMap, BTreeSet};

use iolite_lts::{Lts, StateId};

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

/// Bisimilarity classes by naive refinement of both systems side by side, straight from the
/// definition: strong bisimulation is finer than every relation that Iolite decides.
pub fn bisimilar(a: &Lts, b: &Lts) -> bool {
    let mut states: Vec<(usize, usize)> = Vec::new();
    states.extend((0..a.state_count()).map(|s| (0, s)));
    states.extend((0..b.state_count()).map(|s| (1, s)));
    let systems = [a, b];
    let mut class: BTreeMap<(usize, usize), usize> = states.iter().map(|&s| (s, 0)).collect();
    loop {
        let signature = |&(which, s): &(usize, usize)| {
            let lts = systems[which];
            let moves: BTreeSet<(String, usize)> = lts
                .steps(StateId::new(s))
                .iter()
                .map(|&(l, t)| (lts.labels().text(l), class[&(which, t.index())]))
                .collect();
            (class[&(which, s)], moves)
        };
        let mut ids = BTreeMap::new();
        let mut next = BTreeMap::new();
        for s in &states {
            let fresh = ids.len();
            next.insert(*s, *ids.entry(signature(s)).or_insert(fresh));
        }
        let before: BTreeSet<_> = class.values().copied().collect();
        if ids.len() == before.len() {
            return next[&(0, a.initial().index())] == next[&(1, b.initial().index())];
        }
        class = next;
    }
}
