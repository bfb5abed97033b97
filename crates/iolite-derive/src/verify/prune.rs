//! Pruning: what cannot lead to the goal goes.

use std::sync::Arc;

use iolite_lts::{LabelKind, LtsBuilder, StateId, coreach};

use crate::{NodeKind, TestGraph, Verdict};

/// The graph without the parts from which no goal is reachable [SAFE04, §4, Pruning]: a
/// stimulus into such a part is not given, and an observation into it ends the test `inconc`. Steps
/// to other verdicts stay.
///
/// Where the goal cannot be reached at all, the whole test is `inconc`.
#[must_use]
pub fn prune(graph: &TestGraph) -> TestGraph {
    let lts = graph.lts();
    let live = coreach(lts, graph.goals());
    let labels = lts.labels();
    let mut builder = LtsBuilder::with_labels(labels.clone());
    let mut kinds = Vec::new();
    let mut new: Vec<Option<StateId>> = vec![None; lts.state_count()];
    let mut inconc = None;
    let mut queue = Vec::new();
    let mut keep = |node: StateId, kinds: &mut Vec<NodeKind>, queue: &mut Vec<StateId>| {
        let ends = graph.verdict(node).is_some();
        let slot = if live[node.index()] || ends {
            &mut new[node.index()]
        } else {
            &mut inconc
        };
        *slot.get_or_insert_with(|| {
            kinds.push(if live[node.index()] || ends {
                graph.kind(node)
            } else {
                NodeKind::Verdict {
                    verdict: Verdict::Inconc,
                    goal: false,
                }
            });
            if live[node.index()] && !ends {
                queue.push(node);
            }
            StateId::new(kinds.len() - 1)
        })
    };
    let initial = keep(lts.initial(), &mut kinds, &mut queue);
    let mut next = 0;
    while next < queue.len() {
        let node = queue[next];
        next += 1;
        let source = keep(node, &mut kinds, &mut queue);
        for &(label, target) in lts.steps(node) {
            let dead = !live[target.index()] && graph.verdict(target).is_none();
            if dead && labels.kind(label) == LabelKind::Input {
                continue;
            }
            let target = keep(target, &mut kinds, &mut queue);
            builder.transition(source, label, target);
        }
    }
    builder.ensure_states(kinds.len());
    builder.set_initial(initial);
    let lts = builder.build().expect("the initial node is there");
    TestGraph::new(graph.name().to_owned(), Arc::new(lts), kinds)
}
