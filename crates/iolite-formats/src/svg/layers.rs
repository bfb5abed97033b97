//! States in layers, edges cut into pieces between neighbouring layers.

use std::collections::BTreeMap;

use iolite_lts::{LabelId, LabelKind, Lts, StateId};

/// Font size and what a character of it is wide, on average.
pub(super) const FONT: f64 = 12.0;
pub(super) const CHARACTER: f64 = 6.6;
/// Height of a line of a label.
pub(super) const LINE: f64 = 14.0;
/// Labels of one edge that are shown; the rest is counted.
const MOST_LINES: usize = 8;
/// Characters of one label or name that are shown.
const LONGEST: usize = 48;

/// Something that takes up room in a layer: a state, or a place of an edge with or without label.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Room left and right of its middle.
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) height: f64,
    /// The state, for states.
    pub(super) state: Option<StateId>,
}

/// All transitions from one state to another.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) source: StateId,
    pub(super) target: StateId,
    pub(super) lines: Vec<Line>,
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
    pub(super) loops: BTreeMap<StateId, Vec<Line>>,
    /// Neighbours in the layer above and below.
    pub(super) above: Vec<Vec<usize>>,
    pub(super) below: Vec<Vec<usize>>,
}

pub(super) fn width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let mut result: String = text.chars().take(LONGEST - 1).collect();
    result.push('…');
    result
}

pub(super) fn state_name(lts: &Lts, state: StateId) -> String {
    shortened(&lts.name(state))
}

fn lines(lts: &Lts, labels: &[LabelId]) -> Vec<Line> {
    let mut lines: Vec<Line> = labels
        .iter()
        .take(MOST_LINES)
        .map(|&l| {
            let label = lts.labels().label(l);
            let text = match label.kind {
                LabelKind::Internal if &*label.name == "i" => "τ".to_owned(),
                LabelKind::Delta => "δ".to_owned(),
                _ => shortened(&label.to_string()),
            };
            Line {
                text,
                kind: label.kind,
            }
        })
        .collect();
    if labels.len() > MOST_LINES {
        lines.push(Line {
            text: format!("… {} more", labels.len() - MOST_LINES),
            kind: LabelKind::Internal,
        });
    }
    lines
}

pub(super) fn lines_width(lines: &[Line]) -> f64 {
    lines.iter().map(|l| width(&l.text)).fold(0.0, f64::max)
}

impl Layers {
    /// `None` where more than `most` places would be needed.
    pub(super) fn new(lts: &Lts, most: usize) -> Option<Self> {
        let mut between: BTreeMap<(StateId, StateId), Vec<LabelId>> = BTreeMap::new();
        for (s, l, t) in lts.transitions() {
            between.entry((s, t)).or_default().push(l);
        }
        let reversed = reversed_edges(lts);
        let rank = ranks(lts, &reversed);
        let depth = rank.iter().copied().max().unwrap_or(0);
        let mut result = Self {
            items: Vec::new(),
            rows: vec![Vec::new(); 2 * depth + 1],
            edges: Vec::new(),
            loops: BTreeMap::new(),
            above: Vec::new(),
            below: Vec::new(),
        };
        for (&(s, t), labels) in &between {
            if s == t {
                result.loops.insert(s, lines(lts, labels));
            }
        }
        for s in breadth_first(lts) {
            let half = (width(&state_name(lts, s)) / 2.0 + 10.0).max(18.0);
            let looped = result
                .loops
                .get(&s)
                .map_or(0.0, |lines| 30.0 + lines_width(lines));
            let height = result
                .loops
                .get(&s)
                .map_or(36.0, |lines| (lines.len() as f64 * LINE).max(36.0));
            let item = Item {
                left: half + if s == lts.initial() { 26.0 } else { 0.0 },
                right: half + looped,
                height,
                state: Some(s),
            };
            let id = result.add(item, 2 * rank[s.index()]);
            debug_assert_eq!(result.items[id].state, Some(s));
        }
        let place: BTreeMap<StateId, usize> = result
            .items
            .iter()
            .enumerate()
            .filter_map(|(k, item)| item.state.map(|s| (s, k)))
            .collect();
        for ((s, t), labels) in between {
            if s == t {
                continue;
            }
            let up = rank[s.index()] > rank[t.index()];
            let (top, bottom) = if up { (t, s) } else { (s, t) };
            let (first, last) = (2 * rank[top.index()], 2 * rank[bottom.index()]);
            if result.items.len() + (last - first) > most {
                return None;
            }
            let lines = lines(lts, &labels);
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

/// States in the order of a breadth-first walk; the unreachable ones at the end.
fn breadth_first(lts: &Lts) -> Vec<StateId> {
    let mut seen = vec![false; lts.state_count()];
    let mut order = Vec::new();
    let roots = std::iter::once(lts.initial()).chain(lts.states());
    for root in roots {
        if std::mem::replace(&mut seen[root.index()], true) {
            continue;
        }
        let mut next = order.len();
        order.push(root);
        while next < order.len() {
            for &(_, t) in lts.steps(order[next]) {
                if !std::mem::replace(&mut seen[t.index()], true) {
                    order.push(t);
                }
            }
            next += 1;
        }
    }
    order
}

/// For each state the targets of edges that close a cycle on a depth-first walk.
fn reversed_edges(lts: &Lts) -> Vec<Vec<StateId>> {
    let n = lts.state_count();
    let mut colour = vec![0u8; n];
    let mut reversed = vec![Vec::new(); n];
    for root in std::iter::once(lts.initial()).chain(lts.states()) {
        if colour[root.index()] != 0 {
            continue;
        }
        colour[root.index()] = 1;
        let mut path = vec![(root, 0)];
        while let Some((s, k)) = path.last_mut() {
            let s = *s;
            let Some(&(_, t)) = lts.steps(s).get(*k) else {
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
fn ranks(lts: &Lts, reversed: &[Vec<StateId>]) -> Vec<usize> {
    let n = lts.state_count();
    let mut down = vec![Vec::new(); n];
    let mut entering = vec![0usize; n];
    for s in lts.states() {
        let mut targets: Vec<StateId> = lts.steps(s).iter().map(|&(_, t)| t).collect();
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
    let mut open: Vec<StateId> = lts.states().filter(|s| entering[s.index()] == 0).collect();
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
