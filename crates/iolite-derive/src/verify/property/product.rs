//! The product of a system and a Streett automaton, with what the search for cycles needs to know.

use std::collections::VecDeque;

use iolite_lts::{LabelId, LabelKind, Quiescence, Semantics, StateId, Suspension};
use iolite_property::StreettAutomaton;
use iolite_property::determinacy::Determinacy;
use rustc_hash::FxHashMap;

use super::{Ending, Environment, Execution, Executions, LetterMap};

/// A step of the product.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) label: LabelId,
    pub(super) to: u32,
    /// Whether the property sees it.
    pub(super) letter: bool,
}

/// The reachable product, without what follows a verdict of the property: after a bad prefix nothing
/// is of interest, and after a good one nothing is wrong.
pub(super) struct Product {
    pub(super) nodes: Vec<(StateId, StateId)>,
    pub(super) silence: Vec<Option<Quiescence>>,
    edges: Vec<Edge>,
    first: Vec<u32>,
    /// For each state of the system the labels it enables, in order.
    pub(super) enabled: FxHashMap<StateId, Box<[LabelId]>>,
    pub(super) kinds: Vec<LabelKind>,
    before: Vec<Option<(u32, LabelId)>>,
    /// The first node with a step that the property cannot read, and the step; it is not followed.
    pub(super) undefined: Option<(u32, LabelId)>,
    /// The first node whose trace determines the property negatively.
    pub(super) bad: Option<u32>,
    /// Visible actions on the way to each node.
    length: Vec<u32>,
    environment: Environment,
}

struct Discovered {
    /// Visible actions on the way.
    length: u32,
    done: bool,
}

impl Product {
    /// `Err` with the number of nodes met where there are more than `limit`.
    pub(super) fn explore<M: Semantics<State = StateId>>(
        model: &M,
        property: &StreettAutomaton,
        letters: &LetterMap,
        executions: Executions,
        determined: &Determinacy,
        limit: usize,
    ) -> Result<Self, usize> {
        let view = Suspension::new(model, executions.quiescence);
        let structure = property.structure();
        // Where a finite sequence may be left open, there is still something to find.
        let open = structure.co_reach(property.open());
        let good = determined.positive.intersection(&open.complement());
        let mut product = Self {
            nodes: Vec::new(),
            silence: Vec::new(),
            edges: Vec::new(),
            first: Vec::new(),
            enabled: FxHashMap::default(),
            kinds: model.labels().kinds().to_vec(),
            before: Vec::new(),
            bad: None,
            undefined: None,
            length: Vec::new(),
            environment: executions.environment,
        };
        let mut index: FxHashMap<(StateId, StateId), u32> = FxHashMap::default();
        let mut met: Vec<Discovered> = Vec::new();
        let mut rows: Vec<Vec<Edge>> = Vec::new();
        let mut queue = VecDeque::new();
        let start = (model.initial(), structure.initial());
        index.insert(start, 0);
        product.nodes.push(start);
        product.before.push(None);
        met.push(Discovered {
            length: 0,
            done: false,
        });
        rows.push(Vec::new());
        queue.push_back(0_u32);
        let mut row = Vec::new();
        let mut edge_count = 0;
        // Breadth first in visible actions: internal ones come to the front.
        while let Some(id) = queue.pop_front() {
            if std::mem::replace(&mut met[id as usize].done, true) {
                continue;
            }
            let (state, q) = product.nodes[id as usize];
            if determined.negative.contains(q) {
                product.bad = product.bad.or(Some(id));
                break;
            }
            if good.contains(q) {
                continue;
            }
            row.clear();
            model.successors(&state, &mut row);
            product.enabled.entry(state).or_insert_with(|| {
                let mut labels: Vec<LabelId> = row.iter().map(|(l, _)| *l).collect();
                labels.sort_unstable();
                labels.dedup();
                labels.into()
            });
            let mut steps: Vec<(LabelId, StateId, StateId, bool)> = row
                .iter()
                .filter(|(label, _)| *label != LabelId::DELTA)
                .filter(|(label, _)| letters.undefined(*label).is_none())
                .map(|&(label, to)| match letters.letter(label) {
                    Some(letter) => (label, to, structure.step(q, letter), true),
                    None => (label, to, q, false),
                })
                .collect();
            let unread = row.iter().find(|(l, _)| letters.undefined(*l).is_some());
            if let (None, Some(&(label, _))) = (product.undefined, unread) {
                product.undefined = Some((id, label));
            }
            let silence = view.quiescence(state);
            if let Some(letter) = silence.and_then(|kind| letters.silence(kind)) {
                steps.push((LabelId::DELTA, state, structure.step(q, letter), true));
            }
            for (label, to, next, letter) in steps {
                let visible = product.kinds[label.index()] != LabelKind::Internal;
                let length = met[id as usize].length + u32::from(visible);
                let new = product.nodes.len() as u32;
                let target = *index.entry((to, next)).or_insert(new);
                if target == new {
                    if product.nodes.len() + edge_count / 8 >= limit {
                        return Err(product.nodes.len());
                    }
                    product.nodes.push((to, next));
                    product.before.push(Some((id, label)));
                    met.push(Discovered {
                        length,
                        done: false,
                    });
                    rows.push(Vec::new());
                }
                let known = &mut met[target as usize];
                if target == new || (!known.done && length < known.length) {
                    known.length = length;
                    product.before[target as usize] = Some((id, label));
                    if visible {
                        queue.push_back(target);
                    } else {
                        queue.push_front(target);
                    }
                }
                rows[id as usize].push(Edge {
                    label,
                    to: target,
                    letter,
                });
                edge_count += 1;
            }
        }
        product.silence = product
            .nodes
            .iter()
            .map(|&(s, _)| view.quiescence(s))
            .collect();
        product.length = met.iter().map(|m| m.length).collect();
        for row in rows {
            product.first.push(product.edges.len() as u32);
            product.edges.extend(row);
        }
        product.first.push(product.edges.len() as u32);
        Ok(product)
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn edges(&self, node: u32) -> &[Edge] {
        let range = self.first[node as usize] as usize..self.first[node as usize + 1] as usize;
        &self.edges[range]
    }

    /// Whether silence is a letter at a node: it goes on as an infinite sequence.
    pub(super) fn shows_silence(&self, node: u32) -> bool {
        self.edges(node).iter().any(|e| e.label == LabelId::DELTA)
    }

    /// Whether an execution may end at a node, and how.
    fn may_end(&self, node: u32) -> Option<Ending> {
        if self.shows_silence(node) {
            return None;
        }
        match (self.silence[node as usize]?, self.environment) {
            (Quiescence::Deadlock, _) => Some(Ending::Deadlock),
            (Quiescence::OutputLock, Environment::MayStop) => Some(Ending::OutputLock),
            (Quiescence::OutputLock, Environment::GoesOn) | (Quiescence::Livelock, _) => None,
        }
    }

    fn first_end(&self, wanted: impl Fn(StateId) -> bool) -> Option<(u32, Ending)> {
        let nearest = |&(node, _): &(u32, Ending)| self.length(node);
        (0..self.len() as u32)
            .filter(|&n| wanted(self.nodes[n as usize].1))
            .filter_map(|n| Some((n, self.may_end(n)?)))
            .min_by_key(nearest)
    }

    /// Silence after a finite sequence that the property rejects.
    pub(super) fn silent_violation(&self, property: &StreettAutomaton) -> Option<(u32, Ending)> {
        self.first_end(|q| !property.finite().contains(q))
    }

    /// Silence after a finite sequence that the property leaves open.
    pub(super) fn silent_open(&self, property: &StreettAutomaton) -> Option<(u32, Ending)> {
        self.first_end(|q| property.open().contains(q))
    }

    /// Visible actions on the way to a node.
    pub(super) fn length(&self, node: u32) -> u32 {
        self.length[node as usize]
    }

    /// The execution that reaches a node and goes on as the ending says.
    pub(super) fn execution(&self, node: u32, ending: Ending) -> Execution {
        let mut stem = Vec::new();
        let mut at = node;
        while let Some((from, label)) = self.before[at as usize] {
            stem.push((label, self.nodes[at as usize].0));
            at = from;
        }
        stem.reverse();
        Execution {
            initial: self.nodes[0].0,
            stem,
            ending,
        }
    }
}
