//! Test cases as Aldebaran graphs and as drawings.

use std::fmt::Write;

use iolite_lts::{LabelId, LabelKind};

use crate::{TestCase, TestStep, Verdict};

impl TestCase {
    /// The test case in Aldebaran form. A step into a final state carries its verdict,
    /// `"!choc (fail)"`, as TGV writes them; θ is `delta`. Labels are the implementation's: `?` what
    /// the tester sends, `!` what it receives.
    pub fn to_aut(&self) -> String {
        let mut body = String::new();
        let mut count = 0;
        for (source, state) in self.states().iter().enumerate() {
            for (label, target) in state.steps() {
                let to = self.state(target);
                let verdict = match to.step {
                    TestStep::End => format!(" ({})", to.verdict),
                    _ => String::new(),
                };
                let text = self.labels().text(label).replace('"', "'");
                let _ = writeln!(body, "({source}, \"{text}{verdict}\", {})", target.index());
                count += 1;
            }
        }
        format!("des (0, {count}, {})\n{body}", self.states().len())
    }

    /// The test case as a DOT graph: stimuli solid, observations dashed, verdicts coloured.
    pub fn to_dot(&self) -> String {
        let mut out = format!("digraph {} {{\n", quote(self.name()));
        out.push_str("  node [shape=circle, label=\"\"];\n  start [shape=none];\n  start -> s0;\n");
        for (i, state) in self.states().iter().enumerate() {
            let tooltip = if state.locations.is_empty() {
                String::new()
            } else {
                format!(", tooltip={}", quote(&state.locations.join(", ")))
            };
            match state.step {
                TestStep::End => {
                    let _ = writeln!(
                        out,
                        "  s{i} [shape=box, label={}, style=filled, fillcolor={}{tooltip}];",
                        quote(state.verdict.name()),
                        quote(colour(state.verdict)),
                    );
                }
                _ => {
                    let _ = writeln!(out, "  s{i} [label=\"{i}\"{tooltip}];");
                }
            }
        }
        for (i, state) in self.states().iter().enumerate() {
            for (label, target) in state.steps() {
                let style = match self.labels().kind(label) {
                    LabelKind::Output | LabelKind::Delta => ", style=dashed",
                    _ => "",
                };
                let text = match label {
                    LabelId::DELTA => "θ".to_owned(),
                    _ => self.labels().text(label),
                };
                let _ = writeln!(
                    out,
                    "  s{i} -> s{} [label={}{style}];",
                    target.index(),
                    quote(&text)
                );
            }
        }
        out.push_str("}\n");
        out
    }
}

/// The colour a verdict has in drawings.
pub(crate) fn colour(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass | Verdict::WeakPass => "palegreen",
        Verdict::Fail | Verdict::WeakFail => "salmon",
        Verdict::ViolateFail | Verdict::Violate => "orangered",
        Verdict::Inconc | Verdict::Unknown => "khaki",
    }
}

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
