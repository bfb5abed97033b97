//! Large drawings with fewer nodes, so that people can read them.

use std::collections::VecDeque;

use iolite_lts::{LabelKind, StateId, Tarjan};
use rustc_hash::FxHashMap;

use super::{Drawing, Edge, Meaning, Node, NodeId};

/// Labels between two nodes that are written out; more are counted.
const WRITTEN: usize = 3;

impl Drawing {
    /// The same with at most `most` nodes. Strongly connected components become one node each, the largest
    /// first, as far as that is needed; where that leaves too many, or one component that is nearly
    /// everything, the nodes nearest to the initial one stay and one node stands for the rest. `None` where
    /// nothing needs folding.
    pub fn folded(&self, most: usize) -> Option<Self> {
        let count = self.nodes.len();
        if count <= most || most < 2 {
            return None;
        }
        let mut groups = self.components();
        groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
        let largest = groups.first().map_or(0, Vec::len);
        let mut left = count;
        let mut of = vec![None; count];
        let mut folded = Vec::new();
        // A picture of one blob says nothing.
        if largest * 10 < count * 9 {
            for group in groups.iter().take_while(|group| group.len() > 1) {
                if left <= most {
                    break;
                }
                for &node in group {
                    of[node] = Some(folded.len());
                }
                left -= group.len() - 1;
                folded.push(group.len());
            }
        }
        let drawing = self.merged_into(&of, &folded);
        Some(if drawing.nodes.len() <= most {
            drawing
        } else {
            self.nearest(most - 1)
        })
    }

    /// The same with each group of nodes as one. A node that two groups name is in the first; ids that the
    /// drawing does not have, and groups of one node, change nothing.
    #[must_use]
    pub fn collapsed(&self, groups: &[Vec<NodeId>]) -> Self {
        let mut of: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let mut sizes = Vec::new();
        for group in groups {
            let free = group.iter().map(|id| id.index());
            let mut free: Vec<usize> = free
                .filter(|&k| of.get(k).is_some_and(Option::is_none))
                .collect();
            free.sort_unstable();
            free.dedup();
            if free.len() < 2 {
                continue;
            }
            for &node in &free {
                of[node] = Some(sizes.len());
            }
            sizes.push(free.len());
        }
        self.merged_into(&of, &sizes)
    }

    /// The strongly connected components, by index, in an order that depends on the drawing alone.
    fn components(&self) -> Vec<Vec<usize>> {
        let mut next = vec![Vec::new(); self.nodes.len()];
        for edge in &self.edges {
            next[edge.source.index()].push(StateId::new(edge.target.index()));
        }
        let mut components = Vec::new();
        let mut search = Tarjan::new();
        for node in 0..self.nodes.len() {
            let root = StateId::new(node);
            if search.seen(root) {
                continue;
            }
            search.visit(
                root,
                |state, row| row.extend(&next[state.index()]),
                |component| {
                    let mut nodes: Vec<usize> = component.iter().map(|s| s.index()).collect();
                    nodes.sort_unstable();
                    components.push(nodes);
                },
            );
        }
        components
    }

    /// One node for each group; `of` says of which group a node is, `sizes` how large groups are.
    fn merged_into(&self, of: &[Option<usize>], sizes: &[usize]) -> Self {
        let mut nodes: Vec<Node> = Vec::new();
        let mut group_nodes = vec![None; sizes.len()];
        let mut places = Vec::with_capacity(of.len());
        for (k, (node, group)) in self.nodes.iter().zip(of).enumerate() {
            // What is folded again stands for what it stood for.
            let mut members = node.members.clone();
            if members.is_empty() {
                members.push(NodeId::new(k));
            }
            let Some(group) = *group else {
                places.push(NodeId::new(nodes.len()));
                nodes.push(Node {
                    members,
                    ..node.clone()
                });
                continue;
            };
            let place = *group_nodes[group].get_or_insert_with(|| {
                nodes.push(Node {
                    name: format!("{} and {} more", node.name, sizes[group] - 1),
                    meaning: Meaning::Open,
                    ..Node::default()
                });
                NodeId::new(nodes.len() - 1)
            });
            nodes[place.index()].members.extend(members);
            places.push(place);
        }
        for place in group_nodes.into_iter().flatten() {
            let node: &mut Node = &mut nodes[place.index()];
            node.tooltip = Some(format!("{} states folded into one", node.members.len()));
        }
        // Labels between two nodes of which one is a group are counted where they are many.
        let mut edges: Vec<Edge> = Vec::new();
        let mut counted: FxHashMap<(NodeId, NodeId), (usize, usize)> = FxHashMap::default();
        for edge in &self.edges {
            let (s, t) = (edge.source.index(), edge.target.index());
            let (source, target) = (places[s], places[t]);
            if of[s].is_some() && of[s] == of[t] {
                continue;
            }
            let whole = of[s].is_none() && of[t].is_none();
            let moved = Edge {
                source,
                target,
                ..edge.clone()
            };
            if whole {
                edges.push(moved);
                continue;
            }
            let (last, count) = counted.entry((source, target)).or_insert((0, 0));
            *count += 1;
            if *count <= WRITTEN {
                *last = edges.len();
                edges.push(moved);
            } else {
                let more = *count - WRITTEN + 1;
                edges[*last].label = format!("and {more} more");
                edges[*last].kind = LabelKind::Undirected;
            }
        }
        Self {
            path: None,
            title: self.title.clone(),
            initial: self.initial.map(|id| places[id.index()]),
            nodes,
            edges,
        }
    }

    /// The nodes nearest to the initial one, and one for all others.
    fn nearest(&self, most: usize) -> Self {
        let mut next = vec![Vec::new(); self.nodes.len()];
        for edge in &self.edges {
            next[edge.source.index()].push(edge.target.index());
        }
        let mut kept = vec![false; self.nodes.len()];
        let mut queue = VecDeque::new();
        let mut left = most;
        let start = self.initial.map_or(0, NodeId::index);
        for root in std::iter::once(start).chain(0..self.nodes.len()) {
            if !kept[root] && left > 0 {
                kept[root] = true;
                left -= 1;
                queue.push_back(root);
            }
            while let Some(node) = queue.pop_front() {
                for &to in &next[node] {
                    if !kept[to] && left > 0 {
                        kept[to] = true;
                        left -= 1;
                        queue.push_back(to);
                    }
                }
            }
        }
        let group = |kept: &bool| (!kept).then_some(0);
        let of: Vec<Option<usize>> = kept.iter().map(group).collect();
        let rest = of.iter().flatten().count();
        self.merged_into(&of, &[rest])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawing(nodes: usize, edges: &[(usize, usize)]) -> Drawing {
        let node = |k: usize| Node {
            name: format!("s{k}"),
            ..Node::default()
        };
        let edge = |&(s, t): &(usize, usize)| Edge {
            source: NodeId::new(s),
            target: NodeId::new(t),
            label: format!("!x{s}"),
            kind: LabelKind::Output,
        };
        Drawing {
            title: String::new(),
            nodes: (0..nodes).map(node).collect(),
            edges: edges.iter().map(edge).collect(),
            initial: Some(NodeId::new(0)),
            path: None,
        }
    }

    #[test]
    fn small_drawings_stay_as_they_are() {
        assert_eq!(drawing(3, &[(0, 1), (1, 2), (2, 0)]).folded(3), None);
    }

    #[test]
    fn components_become_nodes() {
        // 0 → a ring of four → 5 → a ring of three.
        let edges = [
            (0, 1),
            (1, 2),
            (2, 3),
            (3, 4),
            (4, 1),
            (3, 5),
            (5, 6),
            (6, 7),
            (7, 8),
            (8, 6),
        ];
        let folded = drawing(9, &edges).folded(6).expect("nine are too many");
        let names: Vec<&str> = folded.nodes.iter().map(|n| n.name.as_str()).collect();
        assert_eq!(names, ["s0", "s1 and 3 more", "s5", "s6", "s7", "s8"]);
        let ends = |e: &Edge| (e.source.index(), e.target.index());
        let edges: Vec<_> = folded.edges.iter().map(ends).collect();
        assert_eq!(edges, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 3)]);
    }

    #[test]
    fn groups_by_hand_become_nodes_and_remember_their_members() {
        let chain = drawing(5, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 1)]);
        let id = NodeId::new;
        let folded = chain.collapsed(&[vec![id(2), id(1), id(9)], vec![id(2), id(4)], vec![id(3)]]);
        let names: Vec<&str> = folded.nodes.iter().map(|n| n.name.as_str()).collect();
        assert_eq!(names, ["s0", "s1 and 1 more", "s3", "s4"]);
        assert_eq!(folded.nodes[1].members, [id(1), id(2)]);
        assert_eq!(folded.nodes[3].members, [id(4)]);
        let ends = |e: &Edge| (e.source.index(), e.target.index());
        let edges: Vec<_> = folded.edges.iter().map(ends).collect();
        assert_eq!(edges, [(0, 1), (1, 2), (2, 3), (3, 1)]);
        // Folding what is folded keeps the ids of the first drawing.
        let again = folded.collapsed(&[vec![id(1), id(3)]]);
        assert_eq!(again.nodes[1].members, [id(1), id(2), id(4)]);
        assert_eq!(
            again.nodes[1].tooltip.as_deref(),
            Some("3 states folded into one")
        );
    }

    #[test]
    fn one_ring_keeps_what_is_near() {
        let ring: Vec<_> = (0..100).map(|k| (k, (k + 1) % 100)).collect();
        let folded = drawing(100, &ring).folded(10).expect("too many");
        assert_eq!(folded.nodes.len(), 10);
        assert_eq!(folded.nodes[9].name, "s9 and 90 more");
        assert_eq!(folded.edges.len(), 10);
    }

    #[test]
    fn many_labels_to_a_group_are_counted() {
        // A chain of 40 that each also goes to its end, where a ring waits.
        let mut edges: Vec<_> = (0..40)
            .flat_map(|k| [(k, k + 1), (0, 41 + k % 20)])
            .collect();
        edges.extend((41..60).map(|k| (k, k + 1)));
        edges.push((60, 41));
        let folded = drawing(61, &edges).folded(45).expect("too many");
        let to_ring = folded.edges.iter().filter(|e| e.source.index() == 0);
        let labels: Vec<&str> = to_ring.map(|e| e.label.as_str()).collect();
        assert_eq!(labels.len(), 1 + WRITTEN);
        assert_eq!(labels.last(), Some(&"and 38 more"));
    }
}
