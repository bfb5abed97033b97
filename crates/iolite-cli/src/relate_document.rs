//! The answer of `iolite relate`, for scripts and for people.

use iolite_lts::relation::Effort;
use iolite_lts::{Semantics, StateId};
use serde::{Deserialize, Serialize};

use super::semantics_options::SemanticsOptions;
use super::source::{ModelRef, ReadOptions};

/// The JSON document: an answer, and for a negative one its certificate.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Document {
    pub(super) relation: String,
    pub(super) implementation: ModelRef,
    pub(super) implementation_hash: String,
    pub(super) specification: ModelRef,
    pub(super) specification_hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) traces: Option<ModelRef>,
    pub(super) semantics: SemanticsOptions,
    pub(super) reading: ReadOptions,
    /// `null` when the search was given up.
    pub(super) holds: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) unknown: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) counterexample: Option<CounterexampleDocument>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) counterexamples: Vec<CounterexampleDocument>,
    #[serde(default)]
    pub(super) effort: EffortDocument,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CounterexampleDocument {
    pub(super) trace: Vec<String>,
    pub(super) observed: ObservedDocument,
    pub(super) allowed: Vec<ObservedDocument>,
    pub(super) implementation_state: Place,
    pub(super) specification_states: Vec<Place>,
}

/// An action, or a set of refused actions.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum ObservedDocument {
    Action(String),
    Refusal { refuses: Vec<String> },
}

impl std::fmt::Display for ObservedDocument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Action(action) => write!(f, "{action}"),
            Self::Refusal { refuses } => write!(f, "refusal of {{{}}}", refuses.join(", ")),
        }
    }
}

/// A state and where its declaration stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) state: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<u32>,
}

impl Place {
    pub(super) fn of(model: &impl Semantics<State = StateId>, state: StateId) -> Self {
        Self {
            state: model.describe(&state),
            line: model.line(&state),
        }
    }

    fn show(&self, reference: &ModelRef) -> String {
        match self.line {
            Some(line) => format!("{} ({}:{line})", self.state, reference.path.display()),
            None => self.state.clone(),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct EffortDocument {
    pairs: usize,
    sets: usize,
    depth: usize,
    bytes: usize,
}

impl From<Effort> for EffortDocument {
    fn from(
        Effort {
            pairs,
            sets,
            depth,
            bytes,
        }: Effort,
    ) -> Self {
        Self {
            pairs,
            sets,
            depth,
            bytes,
        }
    }
}

/// The answer for people.
pub(super) fn tell(document: &Document) -> String {
    let Document {
        relation,
        implementation,
        specification,
        effort,
        ..
    } = document;
    let claim = format!("{implementation} {relation} {specification}");
    match document.holds {
        Some(true) => format!("{claim}: holds ({} pairs of states)\n", effort.pairs),
        None => format!(
            "{claim}: unknown, {}\n  no difference up to traces of length {} ({} pairs of states)\n",
            document
                .unknown
                .as_deref()
                .unwrap_or("the search was stopped"),
            effort.depth,
            effort.pairs
        ),
        Some(false) => {
            let mut text = format!("{claim}: does not hold\n");
            let first = document.counterexample.as_slice();
            let found = if document.counterexamples.is_empty() {
                first
            } else {
                &document.counterexamples
            };
            for counterexample in found {
                text += &tell_counterexample(document, counterexample);
            }
            text
        }
    }
}

fn tell_counterexample(document: &Document, found: &CounterexampleDocument) -> String {
    let or = |text: String, empty: &str| {
        if text.is_empty() {
            empty.to_owned()
        } else {
            text
        }
    };
    let trace = or(found.trace.join(" "), "nothing (at the start)");
    let allowed: Vec<String> = found.allowed.iter().map(ToString::to_string).collect();
    let allowed = or(
        allowed.join(", "),
        "nothing: the trace itself is not specified",
    );
    let places: Vec<String> = found
        .specification_states
        .iter()
        .map(|p| p.show(&document.specification))
        .collect();
    format!(
        "\n  after     {trace}\n  observed  {}\n  allowed   {allowed}\n  \
         implementation in {}\n  specification in {}\n",
        found.observed,
        found.implementation_state.show(&document.implementation),
        or(places.join(", "), "no state")
    )
}
