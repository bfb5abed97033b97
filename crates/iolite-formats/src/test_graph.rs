//! Complete test graphs, drawn and as Aldebaran graphs.

use std::fmt::Write;

use iolite_derive::{TestGraph, Verdict};
use iolite_lts::{LabelKind, StateId};

use crate::drawing::{colour, quote};

/// The graph as DOT, `fail` left out where the papers' figures leave it out too.
pub fn write_dot(graph: &TestGraph, with_fail: bool) -> String {
    let mut out = format!("digraph {} {{\n", quote(graph.name()));
    let hidden = |node: StateId| !with_fail && graph.verdict(node) == Some(Verdict::Fail);
    let _ = writeln!(
        out,
        "  start [shape=none, label=\"\"];\n  start -> s{};",
        graph.lts().initial().index()
    );
    for node in graph.lts().states().filter(|&n| !hidden(n)) {
        let i = node.index();
        let _ = match graph.verdict(node) {
            Some(verdict) => writeln!(
                out,
                "  s{i} [shape=box, label={}, style=filled, fillcolor={}];",
                quote(verdict.name()),
                quote(colour(verdict))
            ),
            None => writeln!(out, "  s{i} [shape=circle, label=\"{i}\"];"),
        };
    }
    for (source, label, target) in graph.lts().transitions() {
        if hidden(target) {
            continue;
        }
        let style = if graph.lts().labels().kind(label) == LabelKind::Input {
            ""
        } else {
            ", style=dashed"
        };
        let _ = writeln!(
            out,
            "  s{} -> s{} [label={}{style}];",
            source.index(),
            target.index(),
            quote(&graph.lts().labels().text(label))
        );
    }
    out.push_str("}\n");
    out
}

/// The graph in Aldebaran form, verdicts on the steps into final nodes.
pub fn write_aut(graph: &TestGraph) -> String {
    let mut out = format!(
        "des ({}, {}, {})\n",
        graph.lts().initial().index(),
        graph.lts().transition_count(),
        graph.lts().state_count()
    );
    for (source, label, target) in graph.lts().transitions() {
        let verdict = match graph.verdict(target) {
            Some(verdict) => format!(" ({verdict})"),
            None => String::new(),
        };
        let text = graph.lts().labels().text(label).replace('"', "'");
        let _ = writeln!(
            out,
            "({}, \"{text}{verdict}\", {})",
            source.index(),
            target.index()
        );
    }
    out
}
