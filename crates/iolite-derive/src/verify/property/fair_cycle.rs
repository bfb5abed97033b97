//! Fair cycles of the product that a property rejects.
//!
//! A run breaks a Streett pair (R, P) iff from some point on it avoids R and is outside P again and
//! again; so each pair is looked for in the part without R. Strong fairness is a Streett condition
//! again, on edges: a component that does not take what it enables is searched without the states that
//! enable it [Emerson and Lei 1987].

use std::collections::VecDeque;

use iolite_lts::{LabelId, LabelKind, Quiescence, StateId};
use iolite_property::StreettAutomaton;

use super::product::{Edge, Product};
use super::{Environment, Executions, Fairness};

type Steps = Vec<(LabelId, StateId)>;

/// A node, and a fair cycle from it whose sequence the property rejects.
pub(super) fn rejected(
    product: &Product,
    property: &StreettAutomaton,
    executions: Executions,
) -> Option<(u32, Steps)> {
    let at = |node: u32| product.nodes[node as usize].1;
    let finite = |n: u32| !property.finite().contains(at(n));
    let mut found = Vec::new();
    found.extend(unseen_cycle(product, executions, finite));
    for pair in property.pairs() {
        let mut search = Search::new(product, executions, Sequence::Infinite);
        let outside = |n: u32| !pair.persistent.contains(at(n));
        found.extend(search.run(|n| !pair.recurrent.contains(at(n)), outside));
    }
    found
        .into_iter()
        .min_by_key(|(node, steps)| (product.length(*node) as usize + steps.len(), *node))
}

/// The same for an infinite execution whose sequence is finite and left open.
pub(super) fn open(
    product: &Product,
    property: &StreettAutomaton,
    executions: Executions,
) -> Option<(u32, Steps)> {
    let at = |node: u32| product.nodes[node as usize].1;
    unseen_cycle(product, executions, |n| property.open().contains(at(n)))
}

/// A cycle of which the property sees nothing, so that its sequence is finite.
fn unseen_cycle(
    product: &Product,
    executions: Executions,
    wanted: impl Fn(u32) -> bool,
) -> Option<(u32, Steps)> {
    let mut search = Search::new(product, executions, Sequence::Finite);
    search.run(wanted, |_| true)
}

/// Whether a cycle adds to the sequence of the property.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sequence {
    Infinite,
    Finite,
}

struct Search<'a> {
    product: &'a Product,
    executions: Executions,
    sequence: Sequence,
    /// The last call that had the node in its subset.
    member: Vec<u32>,
    call: u32,
    number: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
}

impl<'a> Search<'a> {
    fn new(product: &'a Product, executions: Executions, sequence: Sequence) -> Self {
        let n = product.len();
        Self {
            product,
            executions,
            sequence,
            member: vec![0; n],
            call: 0,
            number: vec![0; n],
            low: vec![0; n],
            on_stack: vec![false; n],
        }
    }

    /// A fair cycle among the `allowed` nodes through a `wanted` one.
    fn run(
        &mut self,
        allowed: impl Fn(u32) -> bool,
        wanted: impl Fn(u32) -> bool,
    ) -> Option<(u32, Steps)> {
        let all = (0..self.product.len() as u32).filter(|&n| allowed(n));
        let mut todo: Vec<Vec<u32>> = vec![all.collect()];
        while let Some(subset) = todo.pop() {
            for component in self.components(&subset) {
                self.mark(&component);
                let Some(&through) = component.iter().find(|&&n| wanted(n)) else {
                    continue;
                };
                if !self.has_substance(&component) {
                    continue;
                }
                match self.neglected(&component) {
                    None => {
                        let nearest = |n: &&u32| (self.product.length(**n), **n);
                        let start = *component.iter().min_by_key(nearest).unwrap_or(&through);
                        return Some((start, self.tour(&component, start, through)));
                    }
                    Some(label) if self.executions.fairness == Fairness::Strong => {
                        let rest = component.iter().copied();
                        let rest = rest.filter(|&n| !self.enables(n, label));
                        todo.push(rest.collect());
                    }
                    // What a component enables everywhere and never takes, no part of it takes.
                    Some(_) => {}
                }
            }
        }
        None
    }

    fn mark(&mut self, nodes: &[u32]) {
        self.call += 1;
        for &n in nodes {
            self.member[n as usize] = self.call;
        }
    }

    fn used(&self, edge: &Edge) -> bool {
        self.member[edge.to as usize] == self.call
            && (self.sequence == Sequence::Infinite || !edge.letter)
    }

    /// The edges inside the component that was marked last.
    fn inside(&self, node: u32) -> impl Iterator<Item = &'a Edge> + '_ {
        self.product
            .edges(node)
            .iter()
            .filter(move |e| self.used(e))
    }

    /// Whether the component is an infinite execution of the wanted kind: a sequence without end needs
    /// a letter; a finite one either goes on with actions that the property does not see, or stays in
    /// a livelock, unless its silence is a letter: then its δ, again and again, is a sequence without end
    /// already. Where the environment goes on, more than silence must happen unless nothing can.
    fn has_substance(&self, component: &[u32]) -> bool {
        let edges = || component.iter().flat_map(|&n| self.inside(n));
        match self.sequence {
            Sequence::Infinite => {
                let goes_on = self.executions.environment == Environment::GoesOn;
                let silence = |k| self.product.silence[component[0] as usize] == Some(k);
                let only_waits = edges().all(|e| e.label == LabelId::DELTA);
                edges().any(|e| e.letter)
                    && !(goes_on && only_waits && silence(Quiescence::OutputLock))
            }
            Sequence::Finite => {
                let visible = |e: &Edge| self.product.kinds[e.label.index()] != LabelKind::Internal;
                let livelock = |&n: &u32| {
                    let silence = self.product.silence[n as usize];
                    silence == Some(Quiescence::Livelock) && !self.product.shows_silence(n)
                };
                edges().any(visible) || component.iter().any(livelock) && edges().next().is_some()
            }
        }
    }

    fn enables(&self, node: u32, label: LabelId) -> bool {
        let (state, _) = self.product.nodes[node as usize];
        let enabled = self.product.enabled.get(&state);
        enabled.is_some_and(|e| e.binary_search(&label).is_ok())
    }

    fn is_owed(&self, label: LabelId) -> bool {
        matches!(
            self.product.kinds[label.index()],
            LabelKind::Output | LabelKind::Internal
        )
    }

    /// An action that fairness asks for and the marked component does not take.
    fn neglected(&self, component: &[u32]) -> Option<LabelId> {
        let mut candidates: Vec<LabelId> = match self.executions.fairness {
            Fairness::None => return None,
            // What is enabled everywhere is enabled in the first.
            Fairness::Weak => self.labels_of(component[0]).to_vec(),
            Fairness::Strong => {
                let labels = component.iter().flat_map(|&n| self.labels_of(n));
                labels.copied().collect()
            }
        };
        candidates.retain(|&l| self.is_owed(l));
        candidates.sort_unstable();
        candidates.dedup();
        let taken = |l: LabelId| {
            let mut nodes = component.iter();
            nodes.any(|&n| self.inside(n).any(|e| e.label == l))
        };
        let due = |l: LabelId| match self.executions.fairness {
            Fairness::Weak => component.iter().all(|&n| self.enables(n, l)),
            Fairness::None | Fairness::Strong => true,
        };
        candidates.into_iter().find(|&l| due(l) && !taken(l))
    }

    fn labels_of(&self, node: u32) -> &'a [LabelId] {
        let (state, _) = self.product.nodes[node as usize];
        self.product.enabled.get(&state).map_or(&[], |e| e)
    }

    /// A closed walk from `start` in the marked component, which is strongly connected and fair:
    /// through `through`, over what makes it an infinite execution of its kind, and, for each action
    /// that fairness may ask for, over it or through a state where it is not asked for.
    fn tour(&self, component: &[u32], start: u32, through: u32) -> Steps {
        let mut walk = Walk {
            at: start,
            steps: Vec::new(),
            passed: vec![start],
        };
        if through != start {
            self.go(&mut walk, |e| e.to == through);
        }
        let edges = || component.iter().flat_map(|&n| self.inside(n));
        if self.executions.fairness != Fairness::None {
            let labels = component.iter().flat_map(|&n| self.labels_of(n));
            let mut owed: Vec<LabelId> = labels.copied().filter(|&l| self.is_owed(l)).collect();
            owed.sort_unstable();
            owed.dedup();
            for label in owed {
                if edges().any(|e| e.label == label) {
                    self.cross(&mut walk, component, |e| e.label == label);
                } else if walk.passed.iter().all(|&n| self.enables(n, label)) {
                    self.go(&mut walk, |e| !self.enables(e.to, label));
                }
            }
        }
        match self.sequence {
            Sequence::Infinite => {
                self.cross(&mut walk, component, |e| e.letter);
                if self.executions.environment == Environment::GoesOn {
                    self.cross(&mut walk, component, |e| e.label != LabelId::DELTA);
                }
            }
            Sequence::Finite => {
                let kind = |e: &Edge| self.product.kinds[e.label.index()];
                self.cross(&mut walk, component, |e| kind(e) != LabelKind::Internal);
            }
        }
        if walk.at != start || walk.steps.is_empty() {
            self.go(&mut walk, |e| e.to == start);
        }
        walk.steps
    }

    /// Goes over an edge whose label is as wanted, unless the walk has one or the component has none.
    fn cross(&self, walk: &mut Walk, component: &[u32], wanted: impl Fn(&Edge) -> bool) {
        let edges = component.iter().flat_map(|&n| self.inside(n));
        let mut labels: Vec<LabelId> = edges.filter(|e| wanted(e)).map(|e| e.label).collect();
        labels.sort_unstable();
        labels.dedup();
        if labels.is_empty() || walk.steps.iter().any(|(l, _)| labels.contains(l)) {
            return;
        }
        self.go(walk, wanted);
    }

    /// A shortest way in the marked component whose last edge is as wanted.
    fn go(&self, walk: &mut Walk, wanted: impl Fn(&Edge) -> bool) {
        let mut came: rustc_hash::FxHashMap<u32, (u32, Edge)> = rustc_hash::FxHashMap::default();
        let mut queue = VecDeque::from([walk.at]);
        while let Some(node) = queue.pop_front() {
            for edge in self.inside(node) {
                if wanted(edge) {
                    let mut way = vec![*edge];
                    let mut at = node;
                    while at != walk.at {
                        let (from, edge) = came[&at];
                        way.push(edge);
                        at = from;
                    }
                    for edge in way.into_iter().rev() {
                        walk.steps
                            .push((edge.label, self.product.nodes[edge.to as usize].0));
                        walk.passed.push(edge.to);
                        walk.at = edge.to;
                    }
                    return;
                }
                if edge.to != walk.at && !came.contains_key(&edge.to) {
                    came.insert(edge.to, (node, *edge));
                    queue.push_back(edge.to);
                }
            }
        }
    }

    /// The components with a cycle of the part on `subset`. Tarjan's algorithm without recursion.
    fn components(&mut self, subset: &[u32]) -> Vec<Vec<u32>> {
        self.mark(subset);
        for &n in subset {
            self.number[n as usize] = 0;
        }
        let mut counter = 0;
        let mut stack: Vec<u32> = Vec::new();
        let mut found = Vec::new();
        let mut path: Vec<(u32, usize)> = Vec::new();
        for &root in subset {
            if self.number[root as usize] != 0 {
                continue;
            }
            path.push((root, 0));
            while let Some(&mut (n, ref mut next)) = path.last_mut() {
                if *next == 0 {
                    counter += 1;
                    self.number[n as usize] = counter;
                    self.low[n as usize] = counter;
                    stack.push(n);
                    self.on_stack[n as usize] = true;
                }
                let edges = self.product.edges(n);
                if let Some(edge) = edges.get(*next) {
                    *next += 1;
                    if !self.used(edge) {
                        continue;
                    }
                    let to = edge.to;
                    if self.number[to as usize] == 0 {
                        path.push((to, 0));
                    } else if self.on_stack[to as usize] {
                        self.low[n as usize] = self.low[n as usize].min(self.number[to as usize]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(parent, _)) = path.last() {
                    let low = self.low[n as usize];
                    self.low[parent as usize] = self.low[parent as usize].min(low);
                }
                if self.low[n as usize] == self.number[n as usize] {
                    let mut component = Vec::new();
                    while let Some(top) = stack.pop() {
                        self.on_stack[top as usize] = false;
                        component.push(top);
                        if top == n {
                            break;
                        }
                    }
                    let loops = self.inside(n).any(|e| e.to == n);
                    if component.len() > 1 || loops {
                        component.sort_unstable();
                        found.push(component);
                    }
                }
            }
        }
        found
    }
}

/// A walk in the making.
struct Walk {
    at: u32,
    steps: Steps,
    passed: Vec<u32>,
}
