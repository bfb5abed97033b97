//! Random small systems, and slow definitions to compare with.
//!
//! The definitions here are written from the papers with plain sets of states and texts for labels;
//! they share no code with the library beyond reading a system's rows.
#![allow(dead_code, unreachable_pub)]

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use iolite_lts::{LabelKind, Lts, LtsBuilder, QuiescencePolicy, StateId};
use proptest::prelude::*;

pub const INPUTS: [&str; 2] = ["?a", "?b"];
pub const OUTPUTS: [&str; 2] = ["!x", "!y"];
pub const PLAIN: [&str; 3] = ["a", "b", "c"];

/// Builds a system with these states and edges, and these labels declared.
pub fn system(states: usize, declared: &[&str], edges: &[(usize, &str, usize)]) -> Lts {
    let mut b = LtsBuilder::new();
    b.ensure_states(states);
    for l in declared {
        b.labels_mut().intern_text(l);
    }
    for &(s, l, t) in edges {
        b.transition_text(StateId::new(s), l, StateId::new(t));
    }
    b.build().unwrap()
}

fn edges(
    labels: Vec<&'static str>,
) -> impl Strategy<Value = (usize, Vec<(usize, &'static str, usize)>)> {
    (1usize..=4).prop_flat_map(move |n| {
        let label = prop::sample::select(labels.clone());
        (
            Just(n),
            prop::collection::vec((0..n, label, 0..n), 0..=2 * n + 2),
        )
    })
}

/// A system over plain labels and τ.
pub fn plain() -> impl Strategy<Value = Lts> {
    edges([PLAIN.as_slice(), &["i"]].concat()).prop_map(|(n, e)| system(n, &PLAIN, &e))
}

/// A system over inputs, outputs and τ, partial and nondeterministic.
pub fn directed() -> impl Strategy<Value = Lts> {
    edges([INPUTS.as_slice(), &OUTPUTS, &["i"]].concat())
        .prop_map(|(n, e)| system(n, &[INPUTS, OUTPUTS].concat(), &e))
}

/// The same with the labels of its steps alone.
pub fn sparing() -> impl Strategy<Value = Lts> {
    edges([INPUTS.as_slice(), &OUTPUTS, &["i"]].concat()).prop_map(|(n, e)| system(n, &[], &e))
}

/// A system whose inputs are completed by chaos, with these labels, as it is defined: a state that takes an input neither at
/// once nor after internal actions goes where anything may happen, silence included.
pub fn chaotic(lts: &Lts, labels: &BTreeSet<String>) -> Lts {
    let slow = Slow::new(lts, QuiescencePolicy::Livelock);
    let (chaos, speaks, waits) = (slow.states, slow.states + 1, slow.states + 2);
    let mut edges = slow.edges.clone();
    for label in labels {
        if label.starts_with('?') {
            let lacks = |&q: &usize| !slow.weak_initials(q).contains(label);
            let lacking = (0..slow.states).filter(lacks);
            edges.extend(lacking.map(|q| (q, label.clone(), chaos)));
            edges.push((waits, label.clone(), chaos));
        }
        edges.push((speaks, label.clone(), chaos));
    }
    edges.extend([speaks, waits].map(|to| (chaos, "i".to_owned(), to)));
    let edges: Vec<_> = edges.iter().map(|(s, l, t)| (*s, l.as_str(), *t)).collect();
    system(slow.states + 3, &[], &edges)
}

/// The same with more states, so that its subset construction has some hundred sets at times.
pub fn larger_directed() -> impl Strategy<Value = Lts> {
    let labels = [INPUTS.as_slice(), &OUTPUTS, &["i"]].concat();
    (5usize..=14).prop_flat_map(move |n| {
        let label = prop::sample::select(labels.clone());
        let edges = prop::collection::vec((0..n, label, 0..n), 2 * n..=4 * n);
        edges.prop_map(move |e| system(n, &[INPUTS, OUTPUTS].concat(), &e))
    })
}

/// The same, with a self-loop for every input that a state does not take weakly.
pub fn input_enabled() -> impl Strategy<Value = Lts> {
    directed().prop_map(|lts| complete_inputs(&lts))
}

fn complete_inputs(lts: &Lts) -> Lts {
    let slow = Slow::new(lts, QuiescencePolicy::Livelock);
    let mut edges: Vec<(usize, String, usize)> = lts
        .transitions()
        .map(|(s, l, t)| (s.index(), lts.labels().text(l), t.index()))
        .collect();
    for s in 0..lts.state_count() {
        for a in INPUTS {
            if !slow.weak_initials(s).contains(a) {
                edges.push((s, a.to_owned(), s));
            }
        }
    }
    let borrowed: Vec<_> = edges.iter().map(|(s, l, t)| (*s, l.as_str(), *t)).collect();
    system(lts.state_count(), &[INPUTS, OUTPUTS].concat(), &borrowed)
}

/// How many random cases: `IOLITE_CASES` in the environment, else the default.
pub fn cases(default: u32) -> u32 {
    std::env::var("IOLITE_CASES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(default)
}

type Edges = Vec<(usize, &'static str, usize)>;

/// Pairs on which a search meets sets that include one another: few labels and many steps, and an
/// implementation that is the specification without some of its steps and with some more.
fn branching(labels: Vec<&'static str>) -> impl Strategy<Value = (Edges, Edges)> {
    let step = (0..NEAR, prop::sample::select(labels), 0..NEAR);
    let steps = prop::collection::vec((step.clone(), prop::bool::weighted(0.9)), 6..=18);
    (steps, prop::collection::vec(step, 0..=2)).prop_map(|(steps, more)| {
        let specification = steps.iter().map(|&(step, _)| step).collect();
        let kept = steps
            .iter()
            .filter(|(_, keep)| *keep)
            .map(|&(step, _)| step);
        (kept.chain(more).collect(), specification)
    })
}

/// The number of states of the systems of a near pair.
const NEAR: usize = 5;

/// An implementation near to its specification, over plain labels and τ.
pub fn near_plain() -> impl Strategy<Value = (Lts, Lts)> {
    branching(vec!["a", "a", "b", "b", "i"])
        .prop_map(|(i, s)| (system(NEAR, &PLAIN, &i), system(NEAR, &PLAIN, &s)))
}

/// An input-enabled implementation near to its specification, which is partial or, where `complete`
/// says so, input-enabled too.
pub fn near_directed(complete: bool) -> impl Strategy<Value = (Lts, Lts)> {
    let labels = vec!["?a", "?a", "?b", "!x", "!x", "!y", "i"];
    branching(labels).prop_map(move |(i, s)| {
        let declared = [INPUTS, OUTPUTS].concat();
        let (i, s) = (system(NEAR, &declared, &i), system(NEAR, &declared, &s));
        (
            complete_inputs(&i),
            if complete { complete_inputs(&s) } else { s },
        )
    })
}

pub type Set = BTreeSet<usize>;

/// A system as the definitions see it.
pub struct Slow {
    pub initial: usize,
    pub edges: Vec<(usize, String, usize)>,
    pub states: usize,
    policy: QuiescencePolicy,
}

impl Slow {
    pub fn new(lts: &Lts, policy: QuiescencePolicy) -> Self {
        let text = |l| match lts.labels().kind(l) {
            LabelKind::Internal => "i".to_owned(),
            _ => lts.labels().text(l),
        };
        let edges = lts
            .transitions()
            .map(|(s, l, t)| (s.index(), text(l), t.index()))
            .collect();
        Self {
            initial: lts.initial().index(),
            edges,
            states: lts.state_count(),
            policy,
        }
    }

    pub fn closure(&self, set: &Set) -> Set {
        let mut closed = set.clone();
        for _ in 0..self.states {
            for (s, l, t) in &self.edges {
                if l == "i" && closed.contains(s) {
                    closed.insert(*t);
                }
            }
        }
        closed
    }

    pub fn start(&self) -> Set {
        self.closure(&Set::from([self.initial]))
    }

    pub fn quiescent(&self, q: usize) -> bool {
        let silent = !self
            .edges
            .iter()
            .any(|(s, l, _)| *s == q && (l == "i" || l.starts_with('!')));
        let on_cycle = self
            .edges
            .iter()
            .filter(|(s, l, _)| *s == q && l == "i")
            .any(|(_, _, t)| self.closure(&Set::from([*t])).contains(&q));
        // A livelock that can be left, internally or by an output, is left.
        let stays = || {
            self.closure(&Set::from([q])).iter().all(|r| {
                let back = self.closure(&Set::from([*r])).contains(&q);
                back && !self
                    .edges
                    .iter()
                    .any(|(s, l, _)| s == r && l.starts_with('!'))
            })
        };
        let livelock = match self.policy {
            QuiescencePolicy::Livelock => on_cycle,
            QuiescencePolicy::Strict => false,
            QuiescencePolicy::Fair => on_cycle && stays(),
        };
        silent || livelock
    }

    /// P after a, δ included.
    pub fn then(&self, set: &Set, action: &str) -> Set {
        let next = if action == "delta" {
            set.iter().copied().filter(|&q| self.quiescent(q)).collect()
        } else {
            self.edges
                .iter()
                .filter(|(s, l, _)| l == action && set.contains(s))
                .map(|(_, _, t)| *t)
                .collect()
        };
        self.closure(&next)
    }

    pub fn observations(&self, set: &Set) -> BTreeSet<String> {
        let mut seen: BTreeSet<String> = self
            .edges
            .iter()
            .filter(|(s, l, _)| set.contains(s) && l.starts_with('!'))
            .map(|(_, l, _)| l.clone())
            .collect();
        if set.iter().any(|&q| self.quiescent(q)) {
            seen.insert("delta".to_owned());
        }
        seen
    }

    pub fn weak_initials(&self, q: usize) -> BTreeSet<String> {
        let closed = self.closure(&Set::from([q]));
        let visible = self
            .edges
            .iter()
            .filter(|(s, l, _)| closed.contains(s) && l != "i");
        visible.map(|(_, l, _)| l.clone()).collect()
    }

    /// p after σ refuses A, for the set after σ.
    pub fn refuses(&self, set: &Set, actions: &BTreeSet<String>) -> bool {
        set.iter()
            .any(|&q| self.weak_initials(q).is_disjoint(actions))
    }
}

/// All subsets of a list.
pub fn subsets(labels: &[&str]) -> Vec<BTreeSet<String>> {
    (0..1u32 << labels.len())
        .map(|bits| {
            let chosen = labels
                .iter()
                .enumerate()
                .filter(|(k, _)| bits >> k & 1 == 1);
            chosen.map(|(_, l)| (*l).to_owned()).collect()
        })
        .collect()
}

/// Visits every pair (i after σ, s after σ), one for each pair of sets, shortest σ first, over the
/// given actions; `ask` says whether something is wrong, `goes_on` whether σ·a is in the domain.
/// The result is the length of a shortest σ at which something is wrong.
pub fn shortest_violation(
    i: &Slow,
    s: &Slow,
    actions: &[&str],
    ask: impl Fn(&Set, &Set) -> bool,
    goes_on: impl Fn(&Set, &Set, &str) -> bool,
) -> Option<usize> {
    let start = (i.start(), s.start());
    let mut length = BTreeMap::from([(start.clone(), 0)]);
    let mut queue = VecDeque::from([start]);
    while let Some((p, q)) = queue.pop_front() {
        let n = length[&(p.clone(), q.clone())];
        if ask(&p, &q) {
            return Some(n);
        }
        for a in actions {
            let next = (i.then(&p, a), s.then(&q, a));
            if !next.0.is_empty() && goes_on(&p, &q, a) && !length.contains_key(&next) {
                length.insert(next.clone(), n + 1);
                queue.push_back(next);
            }
        }
    }
    None
}

/// The length of a shortest σ that is a trace of `f`, taken as an automaton with all states accepting,
/// and at which something is wrong.
pub fn shortest_violation_within(
    (i, s, f): (&Slow, &Slow, &Slow),
    actions: &[&str],
    ask: impl Fn(&Set, &Set) -> bool,
) -> Option<usize> {
    let start = (i.start(), s.start(), f.start());
    let mut met = BTreeSet::from([start.clone()]);
    let mut queue = VecDeque::from([(start, 0)]);
    while let Some(((p, q, r), n)) = queue.pop_front() {
        if ask(&p, &q) {
            return Some(n);
        }
        for a in actions {
            let next = (i.then(&p, a), s.then(&q, a), f.then(&r, a));
            if !next.0.is_empty() && !next.2.is_empty() && met.insert(next.clone()) {
                queue.push_back((next, n + 1));
            }
        }
    }
    None
}
