//! Several channels, and channels that lose or reorder messages, against explicit queues.

mod common;

use std::collections::BTreeSet;

use common::{any_model, any_mutant, complete, quiescent, show, step};
use iolite_derive::{
    Channel, ChannelOracle, IocoOracle, Meaning, Oracle, QueueOptions, QueueOracle, UiocoOracle,
};
use iolite_lts::relation::{Holds, Relation, relate};
use iolite_lts::{LabelId, LabelKind, Labels, Lts, LtsBuilder, QuiescencePolicy, StateId};
use proptest::prelude::*;

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;

/// Steps of an observed trace.
const LENGTH: usize = 4;

/// Outputs under way in all channels together: what needs more is not shown by the slow version, so it
/// is enough for soundness.
const FEW: usize = 4;

/// The same for exactness: an output of small models is not explained by more than these before it.
const MANY: usize = 16;

fn channel(names: &[&str], loss: bool, reorder: bool) -> Channel {
    let names: Vec<String> = names.iter().map(|&n| n.to_owned()).collect();
    Channel {
        name: names.join("-"),
        inputs: names.clone(),
        outputs: names,
        loss,
        reorder,
    }
}

/// Two channels, one for each pair of actions.
fn two() -> Vec<Channel> {
    vec![
        channel(&["a", "x"], false, false),
        channel(&["b", "y"], false, false),
    ]
}

/// Ways to carry `a`, `b`, `x` and `y`.
fn ways() -> Vec<Vec<Channel>> {
    let all = ["a", "b", "x", "y"];
    vec![
        two(),
        vec![channel(&all, false, true)],
        vec![channel(&all, true, false)],
        vec![channel(&all, true, true)],
        vec![
            channel(&["a", "b", "x"], false, false),
            channel(&["y"], false, false),
        ],
        vec![
            channel(&["a", "x", "y"], false, true),
            channel(&["b"], true, false),
        ],
        // Nobody says which channel the outputs come through.
        vec![channel(&["a"], false, false), channel(&["b"], false, false)],
    ]
}

fn options(channels: &[Channel]) -> QueueOptions {
    QueueOptions {
        channels: channels.to_vec().into(),
        ..QueueOptions::default()
    }
}

/// A system, and what is under way in each channel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Composed {
    at: StateId,
    inputs: Vec<Vec<LabelId>>,
    outputs: Vec<Vec<LabelId>>,
}

/// The channels of a label: all of them for an output that nobody lists, of which the system picks one.
fn carriers(labels: &Labels, channels: &[Channel], label: LabelId) -> Vec<usize> {
    let name = &labels.label(label).name;
    let input = labels.kind(label) == LabelKind::Input;
    let lists = |c: &Channel| {
        let names = if input { &c.inputs } else { &c.outputs };
        names.iter().any(|n| **n == **name)
    };
    match channels.iter().position(lists) {
        Some(own) => vec![own],
        None if input => vec![0],
        None => (0..channels.len()).collect(),
    }
}

/// The positions of a queue that may go next.
fn next_in(queue: &[LabelId], channel: &Channel) -> std::ops::Range<usize> {
    if channel.reorder {
        0..queue.len()
    } else {
        0..queue.len().min(1)
    }
}

fn close(
    s: &Lts,
    channels: &[Channel],
    from: BTreeSet<Composed>,
    under_way: usize,
) -> BTreeSet<Composed> {
    let mut all = from.clone();
    let mut todo: Vec<Composed> = from.into_iter().collect();
    while let Some(now) = todo.pop() {
        let mut found = Vec::new();
        for &(label, at) in s.steps(now.at) {
            match s.labels().kind(label) {
                LabelKind::Internal => found.push(Composed { at, ..now.clone() }),
                LabelKind::Output => {
                    if now.outputs.iter().map(Vec::len).sum::<usize>() >= under_way {
                        continue;
                    }
                    for c in carriers(s.labels(), channels, label) {
                        let mut next = Composed { at, ..now.clone() };
                        next.outputs[c].push(label);
                        found.push(next);
                    }
                }
                LabelKind::Input => {
                    let c = carriers(s.labels(), channels, label)[0];
                    for k in next_in(&now.inputs[c], &channels[c]) {
                        if now.inputs[c][k] == label {
                            let mut next = Composed { at, ..now.clone() };
                            next.inputs[c].remove(k);
                            found.push(next);
                        }
                    }
                }
                _ => {}
            }
        }
        for (c, _) in channels.iter().enumerate().filter(|(_, c)| c.loss) {
            for k in 0..now.inputs[c].len() {
                let mut next = now.clone();
                next.inputs[c].remove(k);
                found.push(next);
            }
            for k in 0..now.outputs[c].len() {
                let mut next = now.clone();
                next.outputs[c].remove(k);
                found.push(next);
            }
        }
        for next in found {
            if all.insert(next.clone()) {
                todo.push(next);
            }
        }
    }
    all
}

fn observe(
    s: &Lts,
    channels: &[Channel],
    from: &BTreeSet<Composed>,
    label: LabelId,
    under_way: usize,
) -> BTreeSet<Composed> {
    let mut to = BTreeSet::new();
    for now in from {
        match s.labels().kind(label) {
            LabelKind::Input => {
                let mut next = now.clone();
                next.inputs[carriers(s.labels(), channels, label)[0]].push(label);
                to.insert(next);
            }
            LabelKind::Output => {
                for (c, channel) in channels.iter().enumerate() {
                    for k in next_in(&now.outputs[c], channel) {
                        if now.outputs[c][k] == label {
                            let mut next = now.clone();
                            next.outputs[c].remove(k);
                            to.insert(next);
                        }
                    }
                }
            }
            _ => {
                let empty = |queues: &[Vec<LabelId>]| queues.iter().all(Vec::is_empty);
                if empty(&now.inputs) && empty(&now.outputs) && quiescent(s, now.at) {
                    to.insert(now.clone());
                }
            }
        }
    }
    close(s, channels, to, under_way)
}

fn start(s: &Lts, channels: &[Channel], under_way: usize) -> BTreeSet<Composed> {
    let none = vec![Vec::new(); channels.len()];
    let start = Composed {
        at: s.initial(),
        inputs: none.clone(),
        outputs: none,
    };
    close(s, channels, BTreeSet::from([start]), under_way)
}

fn visible(labels: &Labels) -> Vec<LabelId> {
    let visible = labels.iter().filter(|(_, l)| l.kind.is_visible());
    visible.map(|(id, _)| id).collect()
}

/// All traces up to `LENGTH` of the composition, or with `exact` of either.
fn compare<O: Oracle>(
    i: &Lts,
    channels: &[Channel],
    oracle: O,
    exact: bool,
) -> Result<usize, TestCaseError> {
    let mut view = ChannelOracle::new(oracle, options(channels));
    let first = view.initial().unwrap();
    let under_way = if exact { MANY } else { FEW };
    let mut walk = vec![(Vec::new(), start(i, channels, under_way), first)];
    let mut traces = 0;
    while let Some((trace, set, at)) = walk.pop() {
        for label in visible(i.labels()) {
            let shown = observe(i, channels, &set, label, under_way);
            if shown.is_empty() && !exact {
                continue;
            }
            traces += 1;
            let longer = [&trace[..], &[label]].concat();
            let text = || format!("{} through {channels:?}", show(i.labels(), &longer));
            match view.after(&at, step(i.labels(), label)).unwrap() {
                Meaning::Allowed(next) => {
                    prop_assert!(
                        !shown.is_empty() || !exact,
                        "explained, never shown: {}",
                        text()
                    );
                    if longer.len() < LENGTH {
                        walk.push((longer, shown, next));
                    }
                }
                Meaning::Forbidden => {
                    prop_assert!(shown.is_empty(), "shown, not explained: {}", text());
                }
                Meaning::Ends => prop_assert!(!exact || !shown.is_empty()),
                Meaning::Unspecified => prop_assert!(false, "an input is never refused"),
            }
        }
    }
    Ok(traces)
}

/// Internal steps lead upwards only: a livelock with unread inputs is silent for the composition, and
/// not for the view.
fn without_livelock(lts: &Lts) -> Lts {
    let mut b = LtsBuilder::with_labels(lts.labels().clone());
    b.ensure_states(lts.state_count());
    for (s, l, t) in lts.transitions() {
        if l != LabelId::TAU || s < t {
            b.transition(s, l, t);
        }
    }
    b.build().unwrap()
}

fn conforms(relation: Relation, i: &Lts, s: &Lts) -> bool {
    relate(relation, i, s, POLICY, None).unwrap().holds == Holds::Yes
}

/// What a view says, for comparisons.
fn said<S>(meaning: &Meaning<S>) -> &'static str {
    match meaning {
        Meaning::Allowed(_) => "allowed",
        Meaning::Forbidden => "forbidden",
        Meaning::Ends => "ends",
        Meaning::Unspecified => "unspecified",
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    /// What a conforming implementation shows is explained, however messages are carried.
    #[test]
    fn conforming_implementations_never_fail(
        (s, mutants) in any_model(3, 8).prop_flat_map(|s| {
            let mutants = prop::collection::vec(any_mutant(s.clone()), 2);
            (Just(s), mutants)
        }),
        way in 0usize..7,
    ) {
        let channels = &ways()[way];
        for i in mutants.iter().map(without_livelock).map(|i| complete(&i)) {
            if conforms(Relation::Ioco, &i, &s) {
                compare(&i, channels, IocoOracle::new(&s, POLICY), false)?;
            }
            if conforms(Relation::Uioco, &i, &s) {
                compare(&i, channels, UiocoOracle::new(&s, POLICY), false)?;
            }
        }
        let i = complete(&without_livelock(&s));
        compare(&i, channels, IocoOracle::new(&i, POLICY), false)?;
    }

    /// And nothing else is, where the specification takes every input.
    #[test]
    fn the_view_is_the_composition(s in any_model(3, 7)) {
        let s = complete(&without_livelock(&s));
        compare(&s, &two(), IocoOracle::new(&s, POLICY), true)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// One channel that keeps order is a FIFO each way.
    #[test]
    fn one_channel_is_a_queue(
        s in any_model(4, 11),
        words in prop::collection::vec(prop::collection::vec(0usize..5, 1..9), 20),
    ) {
        let one = [channel(&["a", "b", "x", "y"], false, false)];
        let mut channels = ChannelOracle::new(IocoOracle::new(&s, POLICY), options(&one));
        let mut queues = QueueOracle::new(IocoOracle::new(&s, POLICY), QueueOptions::default());
        for word in words {
            let mut here = channels.initial().unwrap();
            let mut there = queues.initial().unwrap();
            for index in word {
                let step = step(s.labels(), visible(s.labels())[index]);
                let set = |texts: Vec<String>| texts.into_iter().collect::<BTreeSet<_>>();
                let next = channels.after(&here, step).unwrap();
                let other = queues.after(&there, step).unwrap();
                prop_assert_eq!(said(&next), said(&other));
                let (Meaning::Allowed(next), Meaning::Allowed(other)) = (next, other) else { break };
                (here, there) = (next, other);
                let out = set(queues.out(&there));
                if !out.iter().any(|text| text.starts_with("anything")) {
                    prop_assert_eq!(set(channels.out(&here)), out);
                }
                let places = set(channels.places(&here).locations);
                prop_assert_eq!(places, set(queues.places(&there).locations));
                let (mut menu, mut other) = (Vec::new(), Vec::new());
                channels.stimuli(&here, &mut menu);
                queues.stimuli(&there, &mut other);
                let sorted = |mut menu: Vec<iolite_derive::ActionId>| {
                    menu.sort_unstable();
                    menu
                };
                prop_assert_eq!(sorted(menu), sorted(other));
            }
        }
    }
}

fn judge(s: &Lts, channels: &[Channel], trace: &str) -> &'static str {
    let mut view = ChannelOracle::new(IocoOracle::new(s, POLICY), options(channels));
    let mut at = view.initial().unwrap();
    for label in common::trace(s.labels(), trace) {
        match view.after(&at, step(s.labels(), label)).unwrap() {
            Meaning::Allowed(next) => at = next,
            other => return said(&other),
        }
    }
    "allowed"
}

#[test]
fn an_output_may_overtake_one_of_another_channel() {
    // First x, then y.
    let s = common::model(
        &["?a", "?b", "!x", "!y"],
        &[
            ("0", "?a", "1"),
            ("1", "!x", "2"),
            ("2", "!y", "3"),
            ("0", "?b", "0"),
        ],
    );
    assert_eq!(judge(&s, &two(), "?a !y !x delta"), "allowed");
    assert_eq!(judge(&s, &two(), "?a !y delta"), "forbidden");
    assert_eq!(judge(&s, &two(), "!y"), "forbidden");
    assert_eq!(judge(&s, &two(), "?a !y !y"), "forbidden");
    // An input that was given after y arrived was taken after y was sent.
    assert_eq!(judge(&s, &two(), "?a !y ?b !x delta"), "ends");
    let one = [channel(&["a", "b", "x", "y"], false, false)];
    assert_eq!(judge(&s, &one, "?a !y"), "forbidden");
    let reordering = [channel(&["a", "b", "x", "y"], false, true)];
    assert_eq!(judge(&s, &reordering, "?a !y !x delta"), "allowed");
    assert_eq!(judge(&s, &reordering, "?a !y delta"), "forbidden");
    let losing = [channel(&["a", "b", "x", "y"], true, false)];
    assert_eq!(judge(&s, &losing, "?a !y delta"), "allowed");
    assert_eq!(judge(&s, &losing, "?a delta"), "allowed");
    assert_eq!(judge(&s, &losing, "?a !y !x"), "forbidden");
}

#[test]
fn inputs_of_two_channels_arrive_in_any_order() {
    let s = common::model(
        &["?a", "?b", "!x", "!y"],
        &[
            ("0", "?a", "A"),
            ("0", "?b", "B"),
            ("A", "?b", "AB"),
            ("B", "?a", "BA"),
            ("AB", "!x", "E"),
            ("BA", "!y", "E"),
        ],
    );
    for (trace, expected) in [
        ("?a ?b !x", "allowed"),
        ("?a ?b !y", "allowed"),
        ("?a ?b delta", "forbidden"),
    ] {
        assert_eq!(judge(&s, &two(), trace), expected, "{trace}");
    }
    let one = [channel(&["a", "b", "x", "y"], false, false)];
    assert_eq!(judge(&s, &one, "?a ?b !y"), "forbidden");
    let losing = [channel(&["a", "b", "x", "y"], true, false)];
    assert_eq!(judge(&s, &losing, "?a ?b delta"), "allowed");
}
