//! Complete test graphs: every choice of tester and system, with verdicts at the ends.

use std::collections::VecDeque;
use std::sync::Arc;

use iolite_lts::{LabelId, Lts, LtsBuilder, Predecessors, StateId};

use crate::{Pair, Verdict, mirror};

/// What a node of a test graph is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// The test goes on; the pair it stands for, or none where the goal was given up.
    Inner(Option<Pair>),
    /// The test is over.
    Verdict {
        /// The verdict.
        verdict: Verdict,
        /// Whether it is what the test is after.
        goal: bool,
    },
}

/// A test graph. The labels are the implementation's: `?a` is what the tester gives, `!x` and δ what
/// it sees; [`Self::mirrored`] turns them.
#[derive(Clone, Debug)]
pub struct TestGraph {
    name: String,
    lts: Arc<Lts>,
    kinds: Vec<NodeKind>,
}

impl TestGraph {
    pub(crate) fn new(name: String, lts: Arc<Lts>, kinds: Vec<NodeKind>) -> Self {
        debug_assert_eq!(lts.state_count(), kinds.len());
        Self { name, lts, kinds }
    }

    /// The name of the objective.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The graph itself.
    pub fn lts(&self) -> &Lts {
        &self.lts
    }

    /// What a node is.
    pub fn kind(&self, node: StateId) -> NodeKind {
        self.kinds[node.index()]
    }

    /// The verdict of a node that ends the test.
    pub fn verdict(&self, node: StateId) -> Option<Verdict> {
        match self.kind(node) {
            NodeKind::Verdict { verdict, .. } => Some(verdict),
            NodeKind::Inner(_) => None,
        }
    }

    /// The nodes that the test is after.
    pub fn goals(&self) -> Vec<StateId> {
        self.lts
            .states()
            .filter(|&n| matches!(self.kind(n), NodeKind::Verdict { goal: true, .. }))
            .collect()
    }

    /// The steps from each node to the nearest goal, `None` where there is no way.
    pub fn distances(&self) -> Vec<Option<u32>> {
        let predecessors = Predecessors::of(&self.lts);
        let mut distance = vec![None; self.kinds.len()];
        let mut queue = VecDeque::new();
        for goal in self.goals() {
            distance[goal.index()] = Some(0);
            queue.push_back((goal, 0));
        }
        while let Some((node, d)) = queue.pop_front() {
            for &source in predecessors.of_state(node) {
                if distance[source.index()].is_none() {
                    distance[source.index()] = Some(d + 1);
                    queue.push_back((source, d + 1));
                }
            }
        }
        distance
    }

    /// A shortest trace from the initial node to a node with this verdict.
    pub fn shortest(&self, verdict: Verdict) -> Option<Vec<LabelId>> {
        let initial = self.lts.initial();
        let mut before: Vec<Option<(StateId, LabelId)>> = vec![None; self.kinds.len()];
        let mut seen = vec![false; self.kinds.len()];
        seen[initial.index()] = true;
        let mut queue = VecDeque::from([initial]);
        while let Some(node) = queue.pop_front() {
            if self.verdict(node) == Some(verdict) {
                let mut trace = Vec::new();
                let mut at = node;
                while let Some((from, label)) = before[at.index()] {
                    trace.push(label);
                    at = from;
                }
                trace.reverse();
                return Some(trace);
            }
            for &(label, target) in self.lts.steps(node) {
                if !std::mem::replace(&mut seen[target.index()], true) {
                    before[target.index()] = Some((node, label));
                    queue.push_back(target);
                }
            }
        }
        None
    }

    /// The graph as the tester sees it, with inputs and outputs exchanged; nodes are named by their
    /// verdicts or numbers.
    pub fn mirrored(&self) -> Lts {
        let mut builder = LtsBuilder::with_labels(self.lts.labels().clone());
        for node in self.lts.states() {
            match self.verdict(node) {
                Some(verdict) => builder.named_state(verdict.name()),
                None => builder.named_state(&node.index().to_string()),
            };
        }
        builder.set_initial(self.lts.initial());
        for (source, label, target) in self.lts.transitions() {
            builder.transition(source, label, target);
        }
        mirror(&builder.build().expect("the initial node is there"))
    }
}
