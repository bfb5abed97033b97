//! The views against plain definitions, on random systems.

mod common;

use std::collections::BTreeSet;

use common::*;
use iolite_lts::{
    Determinised, Interned, LabelId, LabelKind, Labels, Lts, LtsBuilder, Product, QuiescencePolicy,
    Semantics, SetId, StateId, StateNames, Suspension, determinise, explore, straces,
};
use proptest::prelude::*;

const POLICIES: [QuiescencePolicy; 3] = [
    QuiescencePolicy::Strict,
    QuiescencePolicy::Livelock,
    QuiescencePolicy::Fair,
];
const ACTIONS: [&str; 5] = ["?a", "?b", "!x", "!y", "delta"];

/// All traces up to a length, from the definition.
fn slow_straces(slow: &Slow, length: usize) -> BTreeSet<Vec<String>> {
    let mut all = BTreeSet::new();
    let mut last = vec![(Vec::new(), slow.start())];
    for _ in 0..=length {
        let mut longer = Vec::new();
        for (trace, set) in last {
            for a in ACTIONS {
                let next = slow.then(&set, a);
                if !next.is_empty() {
                    let mut t: Vec<String> = trace.clone();
                    t.push(a.to_owned());
                    longer.push((t, next));
                }
            }
            all.insert(trace);
        }
        last = longer;
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn straces_after_and_out_are_those_of_the_definition(lts in directed(), which in 0usize..3) {
        let policy = POLICIES[which];
        let slow = Slow::new(&lts, policy);
        let mut view = Determinised::new(Suspension::new(&lts, policy));
        let (traces, complete) = straces(&mut view, 4, 100_000);
        prop_assert!(complete);
        let mut listed = BTreeSet::new();
        for trace in traces {
            let text: Vec<String> = trace.iter().map(|&l| lts.labels().text(l)).collect();
            let set = view.after_trace(&trace).unwrap();
            let expected = text.iter().fold(slow.start(), |set, a| slow.then(&set, a));
            let members: Set = view.members(set).iter().map(|s| s.index()).collect();
            prop_assert_eq!(&members, &expected);
            let out: BTreeSet<String> = view.out(set).iter().map(|&l| lts.labels().text(l)).collect();
            prop_assert_eq!(out, slow.observations(&expected));
            listed.insert(text);
        }
        prop_assert_eq!(listed, slow_straces(&slow, 4));
    }

    /// The memo is dropped when it is full, and nothing else changes.
    #[test]
    fn a_small_memo_gives_the_same_walk(
        lts in directed(),
        walk in prop::collection::vec(prop::sample::select(ACTIONS.to_vec()), 0..40),
    ) {
        let policy = QuiescencePolicy::Livelock;
        let mut large = Determinised::new(Suspension::new(&lts, policy));
        let mut small = Determinised::with_budget(Suspension::new(&lts, policy), 0);
        let (mut at_large, mut at_small) = (large.initial(), small.initial());
        for action in walk {
            let label = lts.labels().get_text(action).unwrap();
            if let Some(next) = large.after(at_large, label) {
                at_large = next;
                let next = small.after(at_small, label).unwrap();
                at_small = small.trim(next);
                prop_assert_eq!(small.set_count(), 1);
                prop_assert_eq!(large.members(at_large), small.members(at_small));
            } else {
                prop_assert_eq!(small.after(at_small, label), None);
            }
        }
    }

    /// det(S^δ) as a whole, whose rows are computed many at once, is the subset construction written
    /// down: the same sets, breadth first, the same steps, and the names of the members.
    #[test]
    fn the_whole_suspension_automaton_is_the_subset_construction(lts in larger_directed(), which in 0usize..3) {
        let policy = POLICIES[which];
        let slow = Slow::new(&lts, policy);
        let mut sets = vec![slow.start()];
        let mut steps = BTreeSet::new();
        let mut next = 0;
        while next < sets.len() {
            // In the order of the label table, in which rows are.
            for (_, label) in lts.labels().iter().filter(|(_, l)| l.kind != LabelKind::Internal) {
                let target = slow.then(&sets[next], &label.to_string());
                if !target.is_empty() {
                    let known = sets.iter().position(|set| *set == target);
                    let target = known.unwrap_or_else(|| { sets.push(target); sets.len() - 1 });
                    steps.insert((next, label.to_string(), target));
                }
            }
            next += 1;
        }
        let mut view = Determinised::new(Suspension::new(&lts, policy));
        let whole = determinise(&mut view, StateNames::Members, 100_000).unwrap();
        let found: BTreeSet<_> = whole
            .transitions()
            .map(|(s, l, t)| (s.index(), whole.labels().text(l), t.index()))
            .collect();
        prop_assert_eq!(found, steps);
        let names: Vec<String> = whole.states().map(|s| whole.name(s)).collect();
        let expected: Vec<String> = sets.iter().map(|set| {
            let members: Vec<String> = set.iter().map(usize::to_string).collect();
            match members.as_slice() {
                [only] => only.clone(),
                several => format!("{{{}}}", several.join(",")),
            }
        }).collect();
        prop_assert_eq!(names, expected);
        // One row after the other, as testers ask for them, and without names.
        let mut again = Determinised::new(Suspension::new(&lts, policy));
        let mut set = again.initial().index();
        while set < again.set_count() {
            let id = SetId::new(set);
            let row: Vec<_> = again.row(id).to_vec();
            prop_assert_eq!(view.known_row(id), Some(row.as_slice()));
            set += 1;
        }
        let numbered = determinise(&mut again, StateNames::Numbers, 100_000).unwrap();
        prop_assert!(!numbered.has_names() && numbered.transitions().eq(whole.transitions()));
    }

    /// Rows that are asked for together are those that are asked for one by one.
    #[test]
    fn rows_of_many_states_are_those_of_each(
        lts in larger_directed(),
        states in prop::collection::vec(0usize..5, 0..12),
        which in 0usize..3,
    ) {
        let states: Vec<StateId> = states.into_iter().map(StateId::new).collect();
        let view = Suspension::new(&lts, POLICIES[which]);
        let (mut rows, mut ends) = (vec![(LabelId::TAU, StateId::FIRST)], vec![1]);
        let (mut slow_rows, mut slow_ends) = (rows.clone(), ends.clone());
        view.successors_of(&states, &mut rows, &mut ends);
        for state in &states {
            view.successors(state, &mut slow_rows);
            slow_ends.push(slow_rows.len());
        }
        prop_assert_eq!((rows, ends), (slow_rows, slow_ends));
    }

    /// Rows are the transitions, sorted and each once, in whatever order and shape they come.
    #[test]
    fn rows_are_the_transitions_sorted(
        mut transitions in prop::collection::vec((0usize..9, 0usize..3, 0usize..9), 0..60),
        sorted in 0usize..60,
        far in prop::option::of(1000usize..5000),
    ) {
        let sorted = sorted.min(transitions.len());
        transitions[..sorted].sort_unstable();
        if let (Some(far), Some(last)) = (far, transitions.last_mut()) {
            last.0 = far;
        }
        let mut builder = LtsBuilder::new();
        let labels: Vec<_> = PLAIN.map(|l| builder.labels_mut().intern_text(l)).to_vec();
        builder.ensure_states(1);
        for &(source, label, target) in &transitions {
            builder.transition(StateId::new(source), labels[label], StateId::new(target));
        }
        let lts = builder.build().unwrap();
        let found: Vec<_> = lts
            .transitions()
            .map(|(s, l, t)| (s.index(), l.index() - labels[0].index(), t.index()))
            .collect();
        let states = transitions.iter().map(|t| 1 + t.0.max(t.2)).max();
        prop_assert_eq!(lts.state_count(), states.unwrap_or(1));
        transitions.sort_unstable();
        transitions.dedup();
        prop_assert_eq!(found, transitions);
    }

    /// Traces(M1 ∥ M2) = Traces(M1) ∩ Traces(M2) [SAFE04, def. 4].
    #[test]
    fn the_traces_of_a_product_are_the_common_ones(m1 in directed(), m2 in directed()) {
        let traces = |m: &Lts| {
            let mut view = Determinised::new(m);
            let (traces, complete) = straces(&mut view, 4, 100_000);
            assert!(complete);
            texts(m.labels(), traces)
        };
        let product = explore(&Product::new(&m1, &m2), 1000).unwrap();
        let common: BTreeSet<_> = traces(&m1).intersection(&traces(&m2)).cloned().collect();
        prop_assert_eq!(traces(&product), common);
    }

    /// The same system is numbered alike however often it is explored, and interning changes nothing
    /// but numbers.
    #[test]
    fn exploring_is_repeatable(m1 in directed(), m2 in directed()) {
        let view = Product::new(&m1, &m2);
        let first = explore(&view, 1000).unwrap();
        prop_assert_eq!(&first, &explore(&Product::new(&m1, &m2), 1000).unwrap());
        let interned = Interned::new(&view);
        prop_assert_eq!(interned.describe(&interned.initial()), first.name(first.initial()));
        prop_assert_eq!(&first, &explore(&interned, 1000).unwrap());
    }
}

fn texts(labels: &Labels, traces: Vec<Vec<iolite_lts::LabelId>>) -> BTreeSet<Vec<String>> {
    traces
        .into_iter()
        .map(|t| t.into_iter().map(|l| labels.text(l)).collect())
        .collect()
}
