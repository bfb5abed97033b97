//! DOT: automata as Graphviz draws them, in the dialects of several tools.
//!
//! Read as an IOLTS (labels `?a`, `!x`, `tau`, plain), as a Mealy machine of the automata wiki
//! (`input/output`; the edge becomes an input step and an output step), as a Moore machine (the
//! label of the target state is the output), or as an acceptor (double circles accept).

mod graph;
mod mealy;
mod write;

use iolite_lang::{Diagnostic, LineIndex, Loaded, Rejected, Span, codes, diagnostic};
use iolite_lts::{LabelId, Lts, LtsBuilder, StateId};

use self::graph::{Edge, Graph, Text};
use crate::delta::{self, DeltaStep};
use crate::{DeltaPolicy, Directions};

pub use mealy::MealyOptions;
pub(crate) use write::quoted;
pub use write::write;

/// How the edges of a DOT file are understood.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum DotMode {
    /// An edge is a transition.
    #[default]
    Iolts,
    /// An edge `a/x` is the input `a`, then the output `x`.
    Mealy(MealyOptions),
    /// An edge `a` is the input `a`, then the output that its target state is labelled with.
    Moore(MealyOptions),
}

/// How a DOT file is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DotOptions {
    /// What an edge is.
    pub mode: DotMode,
    /// How plain labels are directed (IOLTS mode).
    pub directions: Directions,
    /// What happens to δ-loops (IOLTS mode).
    pub delta: DeltaPolicy,
}

/// A system with a set of states that are drawn as accepting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptor {
    /// The automaton.
    pub lts: Lts,
    /// Its accepting states, in order.
    pub accepting: Vec<StateId>,
}

/// Reads a system.
pub fn read(bytes: &[u8], options: &DotOptions) -> Result<Loaded<Lts>, Rejected> {
    let Loaded { value, lints } = read_acceptor(bytes, options)?;
    Ok(Loaded {
        value: value.lts,
        lints,
    })
}

/// Reads a system with its accepting states: double circles, `peripheries=2` or `accepting=true`.
pub fn read_acceptor(bytes: &[u8], options: &DotOptions) -> Result<Loaded<Acceptor>, Rejected> {
    let graph = graph::parse(bytes)?;
    let mut found = Vec::new();
    let frame = Frame::new(bytes, &graph, &options.mode, &mut found);
    let lts = frame.and_then(|frame| match &options.mode {
        DotMode::Iolts => iolts(&graph, frame, options, &mut found),
        DotMode::Mealy(mealy) => mealy::mealy(&graph, frame, mealy, &mut found),
        DotMode::Moore(mealy) => mealy::moore(&graph, frame, mealy, &mut found),
    });
    match lts {
        Some(value) if !diagnostic::has_errors(&found) => Ok(Loaded {
            value,
            lints: found,
        }),
        _ => Err(Rejected(found)),
    }
}

/// Whether the file looks like a Mealy machine: every transition is labelled `input/output`.
pub fn looks_like_mealy(bytes: &[u8]) -> bool {
    let Ok(graph) = graph::parse(bytes) else {
        return false;
    };
    let markers = markers(&graph);
    let mut edges = graph.edges.iter().filter(|e| !markers[e.source]).peekable();
    edges.peek().is_some()
        && edges.all(|e| e.label.as_ref().is_some_and(|l| mealy::split(l).is_some()))
}

/// The states of a graph, before its edges are read.
struct Frame {
    builder: LtsBuilder,
    /// State of each node, `None` for the marks of the initial state.
    states: Vec<Option<StateId>>,
    accepting: Vec<StateId>,
    lines: LineIndex,
}

/// Which nodes only mark the initial state.
///
/// `__start…` always does; otherwise a node that nothing leads to and that leads on without a label,
/// or that is drawn as nothing or as a point.
fn markers(graph: &Graph) -> Vec<bool> {
    let n = graph.nodes.len();
    let mut entered = vec![false; n];
    let mut leads_on = vec![false; n];
    let mut labelled = vec![false; n];
    for edge in &graph.edges {
        entered[edge.target] = true;
        leads_on[edge.source] = true;
        labelled[edge.source] |= edge.label.as_ref().is_some_and(|l| !l.is_empty());
    }
    graph
        .nodes
        .iter()
        .enumerate()
        .map(|(i, node)| {
            let invisible = node
                .attributes
                .shape
                .as_deref()
                .is_some_and(|s| matches!(s, "none" | "point" | "plaintext" | "plain"));
            node.id.starts_with("__start")
                || (!entered[i] && leads_on[i] && (!labelled[i] || invisible))
        })
        .collect()
}

impl Frame {
    fn new(
        bytes: &[u8],
        graph: &Graph,
        mode: &DotMode,
        found: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let markers = markers(graph);
        let lines = LineIndex::new(bytes);
        let mut builder = LtsBuilder::new();
        let names = names(graph, &markers, mode);
        let mut accepting = Vec::new();
        let mut marked: Vec<(StateId, Span)> = Vec::new();
        let mut states = Vec::with_capacity(graph.nodes.len());
        for (i, node) in graph.nodes.iter().enumerate() {
            if markers[i] {
                states.push(None);
                continue;
            }
            let state = builder.named_state(&names[i]);
            builder.set_line(state, lines.line(node.span.start));
            if node.attributes.accepting {
                accepting.push(state);
            }
            if node.attributes.initial {
                marked.push((state, node.span));
            }
            states.push(Some(state));
        }
        for edge in graph.edges.iter().filter(|e| markers[e.source]) {
            if let Some(state) = states[edge.target] {
                marked.push((state, edge.span));
            }
            if edge.label.as_ref().is_some_and(|l| !l.is_empty()) {
                found.push(Diagnostic::warning(
                    codes::DOT_START_LABEL,
                    edge.span,
                    "the edge marks the initial state; its label is ignored",
                ));
            }
        }
        if builder.state_count() == 0 {
            found.push(Diagnostic::error(
                codes::DOT_NO_STATES,
                Span::at(0),
                "the graph has no states",
            ));
            return None;
        }
        if let Some(&(initial, first)) = marked.first() {
            if let Some((_, other)) = marked.iter().find(|(s, _)| *s != initial) {
                found.push(
                    Diagnostic::error(
                        codes::DOT_MANY_INITIAL,
                        *other,
                        "a second initial state is marked",
                    )
                    .related(first, "the first one"),
                );
                return None;
            }
            builder.set_initial(initial);
        } else {
            let first = StateId::new(0);
            let node = states.iter().position(|s| *s == Some(first)).unwrap_or(0);
            found.push(
                Diagnostic::warning(
                    codes::DOT_NO_INITIAL,
                    graph.nodes[node].span,
                    format!("no initial state is marked; `{}` is taken", names[node]),
                )
                .hint("mark it with `__start0 [shape=none]; __start0 -> STATE`"),
            );
        }
        Some(Self {
            builder,
            states,
            accepting,
            lines,
        })
    }

    fn ends(&self, edge: &Edge) -> Option<(StateId, StateId)> {
        Some((self.states[edge.source]?, self.states[edge.target]?))
    }

    fn build(self, found: &mut Vec<Diagnostic>) -> Option<Acceptor> {
        match self.builder.build() {
            Ok(lts) => Some(Acceptor {
                lts,
                accepting: self.accepting,
            }),
            Err(e) => {
                found.push(Diagnostic::error(
                    codes::DOT_TOO_BIG,
                    Span::at(0),
                    e.to_string(),
                ));
                None
            }
        }
    }
}

/// The labels of the nodes, where they tell the nodes apart, else their ids.
fn names(graph: &Graph, markers: &[bool], mode: &DotMode) -> Vec<String> {
    let ids = || graph.nodes.iter().map(|n| n.id.to_string()).collect();
    if matches!(mode, DotMode::Moore(_)) {
        return ids();
    }
    let mut seen = rustc_hash::FxHashSet::default();
    let labels: Option<Vec<String>> = graph
        .nodes
        .iter()
        .zip(markers)
        .map(|(node, &marker)| {
            if marker {
                return Some(String::new());
            }
            let name = match &node.attributes.label {
                Some(Text::Plain(label)) if !label.trim().is_empty() => label,
                _ => &node.id,
            };
            seen.insert(name.clone()).then(|| name.to_string())
        })
        .collect();
    labels.unwrap_or_else(ids)
}

fn iolts(
    graph: &Graph,
    mut frame: Frame,
    options: &DotOptions,
    found: &mut Vec<Diagnostic>,
) -> Option<Acceptor> {
    let mut deltas = Vec::new();
    for edge in &graph.edges {
        if has_many_errors(found) {
            break;
        }
        let Some((source, target)) = frame.ends(edge) else {
            continue;
        };
        let Some(text) = plain_label(edge, found) else {
            continue;
        };
        let label = options.directions.label(text.trim());
        let id = frame.builder.label(label.kind, &label.name);
        if id == LabelId::DELTA && options.delta == DeltaPolicy::Check {
            deltas.push(DeltaStep {
                source,
                target,
                span: edge.span,
            });
        } else {
            frame.builder.transition(source, id, target);
        }
    }
    let acceptor = frame.build(found)?;
    delta::check(&acceptor.lts, &deltas, found);
    Some(acceptor)
}

/// A file with more wrong edges than this is not read on.
const MOST_ERRORS: usize = 20;

/// Whether the last edges that were found fault with are so many that the rest is not read.
fn has_many_errors(found: &[Diagnostic]) -> bool {
    let errors = found.iter().rev().take_while(|d| d.is_error());
    errors.take(MOST_ERRORS).count() == MOST_ERRORS
}

/// The text of an edge's label, or a diagnostic.
fn plain_label<'g>(edge: &'g Edge, found: &mut Vec<Diagnostic>) -> Option<&'g str> {
    match &edge.label {
        Some(Text::Plain(text)) if !text.trim().is_empty() => Some(text),
        Some(Text::Html(_)) => {
            found.push(
                Diagnostic::error(codes::DOT_HTML, edge.span, "the label is HTML markup")
                    .hint("write it as a quoted string"),
            );
            None
        }
        _ => {
            found.push(
                Diagnostic::error(codes::DOT_EDGE_LABEL, edge.span, "the edge has no label")
                    .hint("write for example `[label=\"?a\"]`"),
            );
            None
        }
    }
}

#[cfg(test)]
mod tests;
