//! States in layers, edges cut into pieces between neighbouring layers.

use std::collections::BTreeMap;

use iolite_lts::LabelKind;

use crate::drawing::{self, Drawing, NodeId};

/// Font size and what a character of it is wide, on average.
pub(super) const FONT: f64 = 12.0;
pub(super) const CHARACTER: f64 = 6.6;
/// Height of a line of a label.
pub(super) const LINE: f64 = 14.0;
/// Labels of one edge that are shown; the rest is counted.
const MOST_LINES: usize = 8;
/// Characters of one line of a label, or of a name.
const LONGEST: usize = 48;
/// Lines that one label is wrapped into.
const MOST_WRAPPED: usize = 3;

/// Something that takes up room in a layer: a state, or a place of an edge with or without label.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Room left and right of its middle.
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) height: f64,
    /// The state, for states.
    pub(super) state: Option<NodeId>,
}

/// All transitions from one node to another.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) source: NodeId,
    pub(super) target: NodeId,
    pub(super) lines: Vec<Line>,
    /// The whole text, where the lines do not show all of it.
    pub(super) tooltip: Option<String>,
    /// Items from top to bottom, the two states included.
    pub(super) path: Vec<usize>,
    /// Whether the arrow points upwards.
    pub(super) reversed: bool,
    /// The place of the path that carries the label.
    pub(super) label: usize,
}

/// A line of a label.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) kind: LabelKind,
}

#[derive(Clone, Debug)]
pub(super) struct Layers {
    pub(super) items: Vec<Item>,
    /// Items by layer, from left to right. Even layers hold states, odd ones labels.
    pub(super) rows: Vec<Vec<usize>>,
    pub(super) edges: Vec<Edge>,
    /// Labels of self-loops, by state.
    pub(super) loops: BTreeMap<NodeId, Vec<Line>>,
    /// Neighbours in the layer above and below.
    pub(super) above: Vec<Vec<usize>>,
    pub(super) below: Vec<Vec<usize>>,
}

pub(super) fn width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// A text of at most [`LONGEST`] characters: the middle of a longer one is left out, since long names
/// tend to differ at their ends.
fn shortened(text: &str) -> String {
    let length = text.chars().count();
    if length <= LONGEST {
        return text.to_owned();
    }
    let half = (LONGEST - 1) / 2;
    let head = text.chars().take(half);
    let tail = text.chars().skip(length - half);
    head.chain(std::iter::once('…')).chain(tail).collect()
}

/// A text in lines of at most [`LONGEST`] characters, cut at blanks where there are some; at most
/// [`MOST_WRAPPED`] of them, the rest shortened.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let full = lines.len() == MOST_WRAPPED;
        let Some(line) = lines.last_mut() else { break };
        let fits = line.chars().count() + 1 + word.chars().count() <= LONGEST;
        if line.is_empty() || fits || full {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.iter().map(|line| shortened(line)).collect()
}

/// What stands in a node.
pub(super) fn node_name(drawing: &Drawing, node: NodeId) -> String {
    shortened(&drawing.node(node).name)
}

/// The lines of the labels of one arrow, and all of their text where it is more than the lines show.
fn lines(edges: &[&drawing::Edge]) -> (Vec<Line>, Option<String>) {
    let mut lines = Vec::new();
    for edge in edges.iter().take(MOST_LINES) {
        let kind = edge.kind;
        let texts = wrapped(&edge.label).into_iter();
        lines.extend(texts.map(|text| Line { text, kind }));
    }
    let mut whole = edges.len() <= MOST_LINES;
    if !whole {
        lines.push(Line {
            text: format!("… {} more", edges.len() - MOST_LINES),
            kind: LabelKind::Internal,
        });
    }
    whole &= !edges.iter().any(|e| e.label.chars().count() > LONGEST);
    let texts = || edges.iter().map(|e| e.label.as_str());
    let tooltip = (!whole).then(|| texts().collect::<Vec<_>>().join("\n"));
    (lines, tooltip)
}

pub(super) fn lines_width(lines: &[Line]) -> f64 {
    lines.iter().map(|l| width(&l.text)).fold(0.0, f64::max)
}

impl Layers {
    /// `None` where more than `most` places would be needed.
    pub(super) fn new(drawing: &Drawing, most: usize) -> Option<Self> {
        let mut between: BTreeMap<(NodeId, NodeId), Vec<&drawing::Edge>> = BTreeMap::new();
        let mut targets = vec![Vec::new(); drawing.nodes.len()];
        for edge in &drawing.edges {
            let (s, t) = (edge.source, edge.target);
            between.entry((s, t)).or_default().push(edge);
            targets[s.index()].push(t);
        }
        let graph = Graph {
            initial: drawing.initial,
            targets,
        };
        let reversed = graph.reversed_edges();
        let rank = graph.ranks(&reversed);
        let depth = rank.iter().copied().max().unwrap_or(0);
        let mut result = Self {
            items: Vec::new(),
            rows: vec![Vec::new(); 2 * depth + 1],
            edges: Vec::new(),
            loops: BTreeMap::new(),
            above: Vec::new(),
            below: Vec::new(),
        };
        for (&(s, t), edges) in &between {
            if s == t {
                result.loops.insert(s, lines(edges).0);
            }
        }
        for s in graph.breadth_first() {
            let half = (width(&node_name(drawing, s)) / 2.0 + 10.0).max(18.0);
            let looped = result
                .loops
                .get(&s)
                .map_or(0.0, |lines| 30.0 + lines_width(lines));
            let height = result
                .loops
                .get(&s)
                .map_or(36.0, |lines| (lines.len() as f64 * LINE).max(36.0));
            let item = Item {
                left: half
                    + if drawing.initial == Some(s) {
                        26.0
                    } else {
                        0.0
                    },
                right: half + looped,
                height,
                state: Some(s),
            };
            let id = result.add(item, 2 * rank[s.index()]);
            debug_assert_eq!(result.items[id].state, Some(s));
        }
        let place: BTreeMap<NodeId, usize> = result
            .items
            .iter()
            .enumerate()
            .filter_map(|(k, item)| item.state.map(|s| (s, k)))
            .collect();
        for ((s, t), edges) in between {
            if s == t {
                continue;
            }
            let up = rank[s.index()] > rank[t.index()];
            let (top, bottom) = if up { (t, s) } else { (s, t) };
            let (first, last) = (2 * rank[top.index()], 2 * rank[bottom.index()]);
            if result.items.len() + (last - first) > most {
                return None;
            }
            let (lines, tooltip) = lines(&edges);
            // The label stands near the state that the edge leaves.
            let label_layer = if up { last - 1 } else { first + 1 };
            let mut path = vec![place[&top]];
            let mut label = 1;
            for layer in first + 1..last {
                let item = if layer == label_layer {
                    label = path.len();
                    let half = lines_width(&lines) / 2.0 + 4.0;
                    Item {
                        left: half,
                        right: half,
                        height: lines.len() as f64 * LINE + 4.0,
                        state: None,
                    }
                } else {
                    Item {
                        left: 3.0,
                        right: 3.0,
                        height: 0.0,
                        state: None,
                    }
                };
                path.push(result.add(item, layer));
            }
            path.push(place[&bottom]);
            for pair in path.windows(2) {
                result.below[pair[0]].push(pair[1]);
                result.above[pair[1]].push(pair[0]);
            }
            result.edges.push(Edge {
                source: s,
                target: t,
                lines,
                tooltip,
                path,
                reversed: up,
                label,
            });
        }
        Some(result)
    }

    fn add(&mut self, item: Item, layer: usize) -> usize {
        let id = self.items.len();
        self.items.push(item);
        self.above.push(Vec::new());
        self.below.push(Vec::new());
        self.rows[layer].push(id);
        id
    }
}

/// What the layering asks of a drawing.
struct Graph {
    initial: Option<NodeId>,
    targets: Vec<Vec<NodeId>>,
}

impl Graph {
    /// The nodes that walks start from: the initial one, then whatever it does not reach.
    fn roots(&self) -> impl Iterator<Item = NodeId> + use<> {
        let all = (0..self.targets.len()).map(NodeId::new);
        self.initial.into_iter().chain(all)
    }

    /// Nodes in the order of a breadth-first walk; the unreachable ones at the end.
    fn breadth_first(&self) -> Vec<NodeId> {
        let mut seen = vec![false; self.targets.len()];
        let mut order = Vec::new();
        for root in self.roots() {
            if std::mem::replace(&mut seen[root.index()], true) {
                continue;
            }
            let mut next = order.len();
            order.push(root);
            while next < order.len() {
                for &t in &self.targets[order[next].index()] {
                    if !std::mem::replace(&mut seen[t.index()], true) {
                        order.push(t);
                    }
                }
                next += 1;
            }
        }
        order
    }

    /// For each node the targets of edges that close a cycle on a depth-first walk.
    fn reversed_edges(&self) -> Vec<Vec<NodeId>> {
        let n = self.targets.len();
        let mut colour = vec![0u8; n];
        let mut reversed = vec![Vec::new(); n];
        for root in self.roots() {
            if colour[root.index()] != 0 {
                continue;
            }
            colour[root.index()] = 1;
            let mut path = vec![(root, 0)];
            while let Some((s, k)) = path.last_mut() {
                let s = *s;
                let Some(&t) = self.targets[s.index()].get(*k) else {
                    colour[s.index()] = 2;
                    path.pop();
                    continue;
                };
                *k += 1;
                match colour[t.index()] {
                    0 => {
                        colour[t.index()] = 1;
                        path.push((t, 0));
                    }
                    1 if t != s => reversed[s.index()].push(t),
                    _ => {}
                }
            }
        }
        reversed
    }

    /// Longest paths from the top, once the reversed edges are turned round.
    fn ranks(&self, reversed: &[Vec<NodeId>]) -> Vec<usize> {
        let n = self.targets.len();
        let mut down = vec![Vec::new(); n];
        let mut entering = vec![0usize; n];
        for s in (0..n).map(NodeId::new) {
            let mut targets = self.targets[s.index()].clone();
            targets.sort_unstable();
            targets.dedup();
            for t in targets {
                if t == s {
                    continue;
                }
                let (from, to) = if reversed[s.index()].contains(&t) {
                    (t, s)
                } else {
                    (s, t)
                };
                down[from.index()].push(to);
                entering[to.index()] += 1;
            }
        }
        let mut rank = vec![0; n];
        let all = (0..n).map(NodeId::new);
        let mut open: Vec<NodeId> = all.filter(|s| entering[s.index()] == 0).collect();
        while let Some(s) = open.pop() {
            for &t in &down[s.index()] {
                rank[t.index()] = rank[t.index()].max(rank[s.index()] + 1);
                entering[t.index()] -= 1;
                if entering[t.index()] == 0 {
                    open.push(t);
                }
            }
        }
        rank
    }
}
