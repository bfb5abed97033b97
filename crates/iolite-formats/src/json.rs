//! Systems as JSON, in the schema `iolite/lts/1`.
//!
//! ```json
//! {
//!   "schema": "iolite/lts/1",
//!   "initial": 0,
//!   "labels": [
//!     {"kind": "internal", "name": "i"},
//!     {"kind": "delta", "name": "delta"},
//!     {"kind": "input", "name": "a"}
//!   ],
//!   "states": [{"name": "Idle", "line": 3}, {"name": "Busy"}],
//!   "transitions": [{"source": 0, "label": 2, "target": 1}]
//! }
//! ```
//!
//! `initial`, `source` and `target` index `states`, `label` indexes `labels`. The first two labels are
//! always τ and δ. Kinds are `input`, `output`, `internal`, `undirected`, `delta`; names are bare, so
//! that `?a` has the name `a`. A state's `name` and `line` (from 1) may be absent. Transitions are in
//! order of source, label and target. Readers ignore members they do not know, so members may be
//! added within version 1; any other change makes a new version.

use std::fmt::Write;

use iolite_lang::{Diagnostic, LineIndex, Loaded, Rejected, Span, codes};
use iolite_lts::{LabelKind, Labels, Lts, LtsBuilder, StateId};
use serde::{Deserialize, Serialize};

use crate::WriteError;

/// The value of `schema`.
pub(crate) const SCHEMA: &str = "iolite/lts/1";

#[derive(Serialize, Deserialize)]
struct Document {
    schema: String,
    initial: u32,
    labels: Vec<JsonLabel>,
    states: Vec<JsonState>,
    transitions: Vec<JsonTransition>,
}

#[derive(Serialize, Deserialize)]
struct JsonLabel {
    kind: JsonKind,
    name: String,
}

#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum JsonKind {
    Input,
    Output,
    Internal,
    Undirected,
    Delta,
}

#[derive(Serialize, Deserialize)]
struct JsonState {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    line: Option<u32>,
}

#[derive(Serialize, Deserialize)]
struct JsonTransition {
    source: u32,
    label: u32,
    target: u32,
}

impl From<LabelKind> for JsonKind {
    fn from(kind: LabelKind) -> Self {
        match kind {
            LabelKind::Input => Self::Input,
            LabelKind::Output => Self::Output,
            LabelKind::Internal => Self::Internal,
            LabelKind::Undirected => Self::Undirected,
            LabelKind::Delta => Self::Delta,
        }
    }
}

impl From<JsonKind> for LabelKind {
    fn from(kind: JsonKind) -> Self {
        match kind {
            JsonKind::Input => Self::Input,
            JsonKind::Output => Self::Output,
            JsonKind::Internal => Self::Internal,
            JsonKind::Undirected => Self::Undirected,
            JsonKind::Delta => Self::Delta,
        }
    }
}

/// A system as a JSON value, to be part of a larger document.
pub fn to_value(lts: &Lts) -> serde_json::Value {
    serde_json::to_value(document(lts)).unwrap_or_default()
}

/// Writes a system as one indented document.
pub fn write(lts: &Lts, out: &mut dyn Write) -> Result<(), WriteError> {
    let text = serde_json::to_string_pretty(&document(lts)).map_err(|_| std::fmt::Error)?;
    out.write_str(&text)?;
    out.write_char('\n')?;
    Ok(())
}

fn document(lts: &Lts) -> Document {
    Document {
        schema: SCHEMA.to_owned(),
        initial: lts.initial().index() as u32,
        labels: lts
            .labels()
            .iter()
            .map(|(_, l)| JsonLabel {
                kind: l.kind.into(),
                name: l.name.to_string(),
            })
            .collect(),
        states: lts
            .states()
            .map(|s| JsonState {
                name: lts.has_names().then(|| lts.name(s)),
                line: lts.line(s),
            })
            .collect(),
        transitions: lts
            .transitions()
            .map(|(s, l, t)| JsonTransition {
                source: s.index() as u32,
                label: l.index() as u32,
                target: t.index() as u32,
            })
            .collect(),
    }
}

/// Reads a system.
pub fn read(bytes: &[u8]) -> Result<Loaded<Lts>, Rejected> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(Diagnostic::error(codes::EMPTY_FILE, Span::at(0), "the file is empty").into());
    }
    let document: Document = serde_json::from_slice(bytes).map_err(|e| {
        let line = LineIndex::new(bytes).line_span(bytes, (e.line() as u32).max(1));
        let at = (line.start + e.column().saturating_sub(1)).min(bytes.len());
        // The place is in the span; serde repeats it in the message.
        let message = e.to_string();
        let message = message
            .split(" at line ")
            .next()
            .unwrap_or_default()
            .to_owned();
        Diagnostic::error(codes::JSON_SYNTAX, Span::at(at), message)
    })?;
    let wrong = |message: String| {
        Rejected::from(Diagnostic::error(codes::JSON_CONTENT, Span::at(0), message))
    };
    if document.schema != SCHEMA {
        return Err(wrong(format!(
            "the schema is `{}`, not `{SCHEMA}`",
            document.schema
        )));
    }
    let mut labels = Labels::new();
    for (k, label) in document.labels.iter().enumerate() {
        if labels.intern(label.kind.into(), &label.name).index() != k {
            return Err(wrong(format!(
                "label {k} repeats an earlier one, or τ and δ are not the first two"
            )));
        }
    }
    let label_count = document.labels.len();
    let mut builder = LtsBuilder::with_labels(labels);
    let state_count = document.states.len();
    builder.ensure_states(state_count);
    for (k, state) in document.states.iter().enumerate() {
        if let Some(name) = &state.name {
            builder.set_name(StateId::new(k), name);
        }
        if let Some(line) = state.line {
            builder.set_line(StateId::new(k), line);
        }
    }
    let state = |k: u32| {
        ((k as usize) < state_count)
            .then(|| StateId::new(k as usize))
            .ok_or_else(|| wrong(format!("there is no state {k}")))
    };
    for t in &document.transitions {
        if t.label as usize >= label_count {
            return Err(wrong(format!("there is no label {}", t.label)));
        }
        let label = iolite_lts::LabelId::new(t.label as usize);
        builder.transition(state(t.source)?, label, state(t.target)?);
    }
    builder.set_initial(state(document.initial)?);
    let value = builder.build().map_err(|e| wrong(e.to_string()))?;
    Ok(Loaded {
        value,
        lints: Vec::new(),
    })
}
