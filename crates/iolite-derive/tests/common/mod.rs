//! Shared by the integration tests: models from text, random models, slow definitions.
#![allow(dead_code, unreachable_pub, missing_docs)]

use std::collections::BTreeSet;

use iolite_derive::Step;
use iolite_lts::{LabelId, LabelKind, Labels, Lts, LtsBuilder, StateId};
use proptest::prelude::*;

/// What a label of the specification is as a step of a run.
pub fn step(labels: &Labels, label: LabelId) -> Step {
    match labels.kind(label) {
        LabelKind::Input => Step::Stimulus(label.into()),
        LabelKind::Delta => Step::Quiescence,
        _ => Step::Output(label.into()),
    }
}

/// A model from `(source, label, target)` with named states; the first is initial. `alphabet` is
/// declared first.
pub fn model(alphabet: &[&str], transitions: &[(&str, &str, &str)]) -> Lts {
    let mut b = LtsBuilder::new();
    for text in alphabet {
        b.labels_mut().intern_text(text);
    }
    let mut names: Vec<&str> = Vec::new();
    let mut id = |b: &mut LtsBuilder, name| {
        if let Some(i) = names.iter().position(|n| *n == name) {
            return StateId::new(i);
        }
        names.push(name);
        b.named_state(name)
    };
    for &(s, l, t) in transitions {
        let s = id(&mut b, s);
        let t = id(&mut b, t);
        b.transition_text(s, l, t);
    }
    if transitions.is_empty() {
        b.named_state("0");
    }
    b.build().unwrap()
}

/// The same with every missing input added as a self-loop: the convention of [LTS96, §5] for
/// what figure 3 does not draw.
pub fn input_enabled(alphabet: &[&str], transitions: &[(&str, &str, &str)]) -> Lts {
    complete(&model(alphabet, transitions))
}

/// Self-loops for inputs that a state takes neither itself nor after internal actions.
pub fn complete(lts: &Lts) -> Lts {
    let mut b = LtsBuilder::with_labels(lts.labels().clone());
    for s in lts.states() {
        b.named_state(&lts.name(s));
    }
    b.set_initial(lts.initial());
    for (s, l, t) in lts.transitions() {
        b.transition(s, l, t);
    }
    for s in lts.states() {
        let weak = after(lts, &closure(lts, &BTreeSet::from([s])), None);
        for input in lts.labels().inputs() {
            if !weak.iter().any(|&w| !lts.steps_on(w, input).is_empty()) {
                b.transition(s, input, s);
            }
        }
    }
    b.build().unwrap()
}

/// What the states reach by internal actions.
pub fn closure(lts: &Lts, from: &BTreeSet<StateId>) -> BTreeSet<StateId> {
    let mut all = from.clone();
    loop {
        let more: Vec<StateId> = all
            .iter()
            .flat_map(|&s| lts.steps(s))
            .filter(|(l, _)| lts.labels().kind(*l) == LabelKind::Internal)
            .map(|&(_, t)| t)
            .filter(|t| !all.contains(t))
            .collect();
        if more.is_empty() {
            return all;
        }
        all.extend(more);
    }
}

/// Quiescent with the livelock policy, from the definition [SAFE04, §2.3].
pub fn quiescent(lts: &Lts, s: StateId) -> bool {
    let kind = |l: LabelId| lts.labels().kind(l);
    let internal: BTreeSet<StateId> = lts
        .steps(s)
        .iter()
        .filter(|(l, _)| kind(*l) == LabelKind::Internal)
        .map(|&(_, t)| t)
        .collect();
    if !internal.is_empty() {
        return closure(lts, &internal).contains(&s);
    }
    !lts.steps(s)
        .iter()
        .any(|(l, _)| kind(*l) == LabelKind::Output)
}

/// `P after a` for a closed P, δ included; `None` as the label gives the closure alone.
pub fn after(lts: &Lts, from: &BTreeSet<StateId>, label: Option<LabelId>) -> BTreeSet<StateId> {
    let Some(label) = label else {
        return closure(lts, from);
    };
    let next: BTreeSet<StateId> = if label == LabelId::DELTA {
        from.iter()
            .copied()
            .filter(|&s| quiescent(lts, s))
            .collect()
    } else {
        from.iter()
            .flat_map(|&s| lts.steps_on(s, label))
            .map(|&(_, t)| t)
            .collect()
    };
    closure(lts, &next)
}

pub fn initial(lts: &Lts) -> BTreeSet<StateId> {
    closure(lts, &BTreeSet::from([lts.initial()]))
}

/// out(P).
pub fn out(lts: &Lts, from: &BTreeSet<StateId>) -> BTreeSet<LabelId> {
    lts.labels()
        .iter()
        .map(|(l, _)| l)
        .filter(|&l| lts.labels().kind(l).is_observation())
        .filter(|&l| !after(lts, from, Some(l)).is_empty())
        .collect()
}

/// A shortest (σ, x) with σ ∈ Straces(s), x ∈ out(i after σ) \ out(s after σ), up to a length of σ;
/// by listing the suspension traces. Both over the same label table.
pub fn not_ioco(i: &Lts, s: &Lts, length: usize) -> Option<(Vec<LabelId>, LabelId)> {
    divergence(i, s, length, |_, _| true)
}

/// The same for uioco: only inputs that no state of `s after σ` refuses.
pub fn not_uioco(i: &Lts, s: &Lts, length: usize) -> Option<(Vec<LabelId>, LabelId)> {
    divergence(i, s, length, |q, l| {
        s.labels().kind(l) != LabelKind::Input || takes(s, q, l)
    })
}

/// Whether every state takes the input, itself or after internal actions.
pub fn takes(lts: &Lts, from: &BTreeSet<StateId>, input: LabelId) -> bool {
    from.iter().all(|&q| {
        let closed = closure(lts, &BTreeSet::from([q]));
        !after(lts, &closed, Some(input)).is_empty()
    })
}

/// The same for ioconf: δ only as the last observation.
pub fn not_ioconf(i: &Lts, s: &Lts, length: usize) -> Option<(Vec<LabelId>, LabelId)> {
    divergence(i, s, length, |_, l| l != LabelId::DELTA)
}

fn divergence(
    i: &Lts,
    s: &Lts,
    length: usize,
    follows: impl Fn(&BTreeSet<StateId>, LabelId) -> bool,
) -> Option<(Vec<LabelId>, LabelId)> {
    assert_eq!(i.labels(), s.labels());
    let mut level = vec![(Vec::new(), initial(i), initial(s))];
    for n in 0..=length {
        let mut next = Vec::new();
        for (trace, p, q) in level {
            let (io, so) = (out(i, &p), out(s, &q));
            if let Some(&x) = io.difference(&so).next() {
                return Some((trace, x));
            }
            if n == length {
                continue;
            }
            for (l, label) in s.labels().iter() {
                if !label.kind.is_visible() || !follows(&q, l) {
                    continue;
                }
                let (p2, q2) = (after(i, &p, Some(l)), after(s, &q, Some(l)));
                if !p2.is_empty() && !q2.is_empty() {
                    next.push(([&trace[..], &[l]].concat(), p2, q2));
                }
            }
        }
        level = next;
    }
    None
}

/// Whether a trace over L ∪ {δ} is a suspension trace.
pub fn has_trace(lts: &Lts, trace: &[LabelId]) -> bool {
    let mut at = initial(lts);
    for &l in trace {
        at = after(lts, &at, Some(l));
    }
    !at.is_empty()
}

/// The fixed alphabet of the random models.
pub fn small_labels() -> Labels {
    let mut labels = Labels::new();
    for text in ["?a", "?b", "!x", "!y"] {
        labels.intern_text(text);
    }
    labels
}

/// Random models with up to `states` states over `?a ?b !x !y i`.
pub fn any_model(states: usize, transitions: usize) -> impl Strategy<Value = Lts> {
    let step = (0..states, 0usize..11, 0..states);
    prop::collection::vec(step, 0..=transitions).prop_map(move |steps| {
        let mut b = LtsBuilder::with_labels(small_labels());
        b.ensure_states(states);
        for (s, l, t) in steps {
            // τ is rarer than the others.
            let label = match l {
                0 => LabelId::TAU,
                l => LabelId::new(2 + (l - 1) % 4),
            };
            b.transition(StateId::new(s), label, StateId::new(t));
        }
        b.build().unwrap()
    })
}

/// Random input-enabled models.
pub fn any_implementation(states: usize, transitions: usize) -> impl Strategy<Value = Lts> {
    any_model(states, transitions).prop_map(|m| complete(&m))
}

/// A mutant of a model: some transitions dropped, some added, then completed.
pub fn any_mutant(lts: Lts) -> impl Strategy<Value = Lts> {
    let n = lts.state_count();
    let labels = lts.labels().len();
    let drop = prop::collection::vec(prop::bool::weighted(0.15), lts.transition_count());
    let add = prop::collection::vec((0..n, 2..labels, 0..n), 0..2);
    (drop, add).prop_map(move |(drop, add)| {
        let mut b = LtsBuilder::with_labels(lts.labels().clone());
        b.ensure_states(n);
        for ((s, l, t), drop) in lts.transitions().zip(drop) {
            if !drop {
                b.transition(s, l, t);
            }
        }
        for (s, l, t) in add {
            b.transition(StateId::new(s), LabelId::new(l), StateId::new(t));
        }
        complete(&b.build().unwrap())
    })
}

pub fn trace(labels: &Labels, text: &str) -> Vec<LabelId> {
    text.split_whitespace()
        .map(|t| labels.get_text(t).unwrap())
        .collect()
}

pub fn show(labels: &Labels, trace: &[LabelId]) -> String {
    let texts: Vec<String> = trace.iter().map(|&l| labels.text(l)).collect();
    texts.join(" ")
}

pub mod property {
    //! Observers and purposes, written and random.

    use std::sync::Arc;

    use iolite_lts::{LabelId, Labels, StateId};
    use iolite_property::star_automaton::{Edge, On, Place};
    use iolite_property::{AutomatonSource, Observer, ObserverRules, Purpose};
    use proptest::prelude::*;

    pub fn source(
        name: &str,
        labels: &Arc<Labels>,
        states: &[&str],
        edges: &[(&str, &str, &str)],
    ) -> AutomatonSource {
        let id = |n: &str| StateId::new(states.iter().position(|s| *s == n).unwrap());
        AutomatonSource {
            name: name.to_owned(),
            labels: Arc::clone(labels),
            states: states.iter().map(|s| Place::new(*s, 0)).collect(),
            initial: StateId::new(0),
            edges: edges
                .iter()
                .map(|&(s, on, t)| Edge {
                    source: id(s),
                    on: match on {
                        "*" => On::Any,
                        text => On::Label(labels.get_text(text).unwrap()),
                    },
                    target: id(t),
                    line: 0,
                })
                .collect(),
        }
    }

    /// The last state violates.
    pub fn observer(
        name: &str,
        labels: &Arc<Labels>,
        states: &[&str],
        edges: &[(&str, &str, &str)],
    ) -> Observer {
        let source = source(name, labels, states, edges);
        let bad = StateId::new(states.len() - 1);
        Observer::new(source, &[bad], ObserverRules::Definition5).unwrap()
    }

    /// The last state but one accepts, the last refuses.
    pub fn purpose(
        name: &str,
        labels: &Arc<Labels>,
        states: &[&str],
        edges: &[(&str, &str, &str)],
    ) -> Purpose {
        let source = source(name, labels, states, edges);
        let [accept, refuse] = [2, 1].map(|k| StateId::new(states.len() - k));
        Purpose::new(source, &[accept], &[refuse]).unwrap()
    }

    fn any_source(
        labels: Arc<Labels>,
        states: usize,
        name: &'static str,
        final_states: usize,
    ) -> impl Strategy<Value = AutomatonSource> {
        let visible: Vec<LabelId> = labels
            .iter()
            .filter(|(_, l)| l.kind.is_visible())
            .map(|(id, _)| id)
            .collect();
        let cells = states * visible.len();
        prop::collection::vec(0usize..states + final_states + 2, cells).prop_map(move |targets| {
            let mut edges = Vec::new();
            for (cell, target) in targets.into_iter().enumerate() {
                let (source, label) = (cell / visible.len(), visible[cell % visible.len()]);
                let finals = states..states + final_states;
                let enters = name == "P" || labels.kind(label).is_observation();
                if target < states || (finals.contains(&target) && enters) {
                    edges.push(Edge {
                        source: StateId::new(source),
                        on: On::Label(label),
                        target: StateId::new(target),
                        line: 0,
                    });
                }
            }
            AutomatonSource {
                name: name.to_owned(),
                labels: Arc::clone(&labels),
                states: (0..states + final_states)
                    .map(|s| Place::new(format!("w{s}"), 0))
                    .collect(),
                initial: StateId::new(0),
                edges,
            }
        })
    }

    /// Random observers with three states and Violate.
    pub fn any_observer(labels: Arc<Labels>) -> impl Strategy<Value = Observer> {
        any_source(labels, 3, "W", 1).prop_map(|source| {
            Observer::new(source, &[StateId::new(3)], ObserverRules::Definition5).unwrap()
        })
    }

    /// Random purposes with three states, one that accepts and one that refuses.
    pub fn any_purpose(labels: Arc<Labels>) -> impl Strategy<Value = Purpose> {
        any_source(labels, 3, "P", 2).prop_map(|source| {
            Purpose::new(source, &[StateId::new(3)], &[StateId::new(4)]).unwrap()
        })
    }

    /// σ ∈ L(ω), from the definition.
    pub fn in_language(observer: &Observer, word: &[LabelId]) -> bool {
        let end = word
            .iter()
            .try_fold(observer.initial(), |q, &l| observer.step(q, l));
        end.is_some_and(|q| observer.is_violate(q))
    }
}

/// All words over the visible labels, δ included, up to a length, shortest first.
pub fn words(labels: &Labels, length: usize) -> Vec<Vec<LabelId>> {
    let visible: Vec<LabelId> = labels
        .iter()
        .filter(|(_, l)| l.kind.is_visible())
        .map(|(id, _)| id)
        .collect();
    let mut all = vec![Vec::new()];
    let mut start = 0;
    for _ in 0..length {
        let end = all.len();
        for w in start..end {
            for &l in &visible {
                let mut longer = all[w].clone();
                longer.push(l);
                all.push(longer);
            }
        }
        start = end;
    }
    all
}
