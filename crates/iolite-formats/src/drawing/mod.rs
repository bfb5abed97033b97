//! Drawings: nodes and edges with the text and the meaning that a picture shows, whatever they were
//! before. Systems, declarations of the language, test cases and properties become a [`Drawing`]; SVG,
//! DOT, Mermaid and `PlantUML` are made of one.

mod composition;
pub mod dot;
mod fold;
mod lts;
mod machine;
mod mealy;
pub mod mermaid;
pub mod plantuml;
mod property;
mod test_case;

use iolite_derive::Verdict;
use iolite_lts::LabelKind;

/// Index of a node in its [`Drawing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    /// The id with this index.
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 nodes"))
    }

    /// The index, for tables beside the drawing.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node means, which its colour shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Meaning {
    /// A state like any other.
    #[default]
    Plain,
    /// `pass`, accepting, or good for ever.
    Good,
    /// Good if the sequence ended here.
    CurrentlyGood,
    /// Bad if the sequence ended here.
    CurrentlyBad,
    /// `fail`, or bad for ever.
    Bad,
    /// A violation of a property.
    Violation,
    /// `inconc`, `unknown`, refusing.
    Open,
}

impl Meaning {
    /// Of all meanings, for tables of styles.
    pub(crate) const ALL: [Self; 7] = [
        Self::Plain,
        Self::Good,
        Self::CurrentlyGood,
        Self::CurrentlyBad,
        Self::Bad,
        Self::Violation,
        Self::Open,
    ];

    /// The colour of its nodes, as three bytes in hexadecimal.
    pub(crate) fn fill(self) -> &'static str {
        match self {
            Self::Plain => "f4f6fb",
            Self::Good => "b7e4b4",
            Self::CurrentlyGood => "e8f6e6",
            Self::CurrentlyBad => "fbe5e2",
            Self::Bad => "f4a59b",
            Self::Violation => "ee7b5b",
            Self::Open => "f6e7a8",
        }
    }

    /// A name that is an identifier in the formats that know style classes.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Good => "good",
            Self::CurrentlyGood => "currentlyGood",
            Self::CurrentlyBad => "currentlyBad",
            Self::Bad => "bad",
            Self::Violation => "violation",
            Self::Open => "open",
        }
    }
}

impl From<Verdict> for Meaning {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass | Verdict::WeakPass => Self::Good,
            Verdict::Fail | Verdict::WeakFail | Verdict::Crash => Self::Bad,
            Verdict::ViolateFail | Verdict::Violate => Self::Violation,
            Verdict::Inconc | Verdict::Unknown | Verdict::Flaky => Self::Open,
        }
    }
}

/// A state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// What stands in it.
    pub name: String,
    /// What is shown when it is pointed at.
    pub tooltip: Option<String>,
    /// Whether it has a double border: accepting.
    pub accepting: bool,
    /// Its colour.
    pub meaning: Meaning,
    /// Whether it is a part of a composition, drawn with corners, and not a state.
    pub is_box: bool,
    /// The nodes that it stands for in a drawing that was folded, by their ids before.
    pub members: Vec<NodeId>,
}

/// A transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Where it starts.
    pub source: NodeId,
    /// Where it leads.
    pub target: NodeId,
    /// What stands on it.
    pub label: String,
    /// Its colour: inputs and outputs are told apart.
    pub kind: LabelKind,
}

/// Nodes and edges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawing {
    /// What it is a picture of.
    pub title: String,
    /// The nodes, in the order of their ids.
    pub nodes: Vec<Node>,
    /// The edges, in order.
    pub edges: Vec<Edge>,
    /// The node with the arrow from nowhere.
    pub initial: Option<NodeId>,
    /// A path that a run took, where one is shown.
    pub path: Option<Path>,
}

/// What a run went through, for pictures that show it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// The steps that it took, each once.
    pub steps: Vec<(NodeId, NodeId)>,
    /// Where it is.
    pub at: Option<NodeId>,
}

impl Path {
    /// Whether it took a step.
    pub fn has_step(&self, source: NodeId, target: NodeId) -> bool {
        self.steps.contains(&(source, target))
    }

    /// Whether it was at a node.
    pub fn has_node(&self, node: NodeId) -> bool {
        self.at == Some(node) || self.steps.iter().any(|&(a, b)| a == node || b == node)
    }
}

impl Drawing {
    /// The ids of the nodes, in order.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId::new)
    }

    /// A node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The labels between two nodes together, in the order of their first edges: pictures have one
    /// arrow for them.
    pub(crate) fn merged(&self) -> Vec<(NodeId, NodeId, Vec<&Edge>)> {
        let mut places = rustc_hash::FxHashMap::default();
        let mut merged: Vec<(NodeId, NodeId, Vec<&Edge>)> = Vec::new();
        for edge in &self.edges {
            let place = *places
                .entry((edge.source, edge.target))
                .or_insert(merged.len());
            if place == merged.len() {
                merged.push((edge.source, edge.target, Vec::new()));
            }
            merged[place].2.push(edge);
        }
        merged
    }
}

/// The colour a verdict has in DOT.
pub(crate) fn colour(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass | Verdict::WeakPass => "palegreen",
        Verdict::Fail | Verdict::WeakFail | Verdict::Crash => "salmon",
        Verdict::ViolateFail | Verdict::Violate => "orangered",
        Verdict::Inconc | Verdict::Unknown | Verdict::Flaky => "khaki",
    }
}

/// A string in DOT's quotes, for people: control characters become blanks.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests;
