//! Systems as DOT.

use std::fmt::Write;

use iolite_lts::{Lts, StateId};

use crate::WriteError;
use crate::label_text::{label_text, reads_back};

/// Writes a system. States are `s0`, `s1`, …, labelled with their names; the states in `accepting`
/// are double circles.
pub fn write(lts: &Lts, accepting: &[StateId], out: &mut dyn Write) -> Result<(), WriteError> {
    out.write_str(
        "digraph {\n  rankdir=LR;\n  node [shape=circle];\n  __start0 [label=\"\", shape=none];\n",
    )?;
    for s in lts.states() {
        write!(out, "  s{} [label={}", s.index(), quoted(&lts.name(s)))?;
        if accepting.contains(&s) {
            out.write_str(", shape=doublecircle")?;
        }
        out.write_str("];\n")?;
    }
    writeln!(out, "  __start0 -> s{};", lts.initial().index())?;
    for (s, l, t) in lts.transitions() {
        let label = lts.labels().label(l);
        let text = label_text(label);
        if !reads_back(label, text.trim()) {
            return Err(WriteError::Label {
                label: text,
                format: "DOT",
            });
        }
        writeln!(
            out,
            "  s{} -> s{} [label={}];",
            s.index(),
            t.index(),
            quoted(&text)
        )?;
    }
    out.write_str("}\n")?;
    Ok(())
}

/// A string in quotes, which the reader gives back as it was.
pub(crate) fn quoted(text: &str) -> String {
    let mut result = String::with_capacity(text.len() + 2);
    result.push('"');
    for c in text.chars() {
        match c {
            '"' => result.push_str("\\\""),
            '\\' => result.push_str("\\\\"),
            '\n' => result.push_str("\\n"),
            '\r' => result.push_str("\\r"),
            c => result.push(c),
        }
    }
    result.push('"');
    result
}
