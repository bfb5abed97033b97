//! The answer to a question of relation, for scripts and for people.

use std::sync::Arc;

use iolite_derive::{Context, ModelRef};
use iolite_lts::relation::Effort;
use iolite_lts::{Semantics, StateId};
use serde::{Deserialize, Serialize};

use crate::evidence::RelationProof;
use crate::{ReadOptions, SemanticsOptions};

/// The JSON document: an answer, and for a negative one its certificate.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelationDocument {
    /// The relation's name.
    pub relation: String,
    /// The implementation, `FILE#Name`.
    pub implementation: String,
    /// The hash of its file.
    pub implementation_hash: String,
    /// The specification.
    pub specification: String,
    /// The hash of its file.
    pub specification_hash: String,
    /// The set F of `ioconf_F`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traces: Option<String>,
    /// Through what the implementation is observed.
    #[serde(default)]
    pub context: Context,
    /// Through queues: how many inputs are under way at a time, at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_in_flight: Option<usize>,
    /// What the models mean where they leave it open.
    pub semantics: SemanticsOptions,
    /// How the files were read.
    pub reading: ReadOptions,
    /// `null` when the search was given up.
    pub holds: Option<bool>,
    /// Why it was given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// A shortest counterexample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<CounterexampleDocument>,
    /// The first of each kind, where all were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counterexamples: Vec<CounterexampleDocument>,
    /// Why a positive answer says less than it seems to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Who proved it, where states were not searched: models with data that do not unfold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
    /// What the search took.
    #[serde(default)]
    pub effort: EffortDocument,
    /// The whole certificate of a negative answer, for `iolite explain`.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "certificate"
    )]
    pub certificate: Option<Box<iolite_recheck::Certificate>>,
    /// What proves it, where data were kept: its certificate is made of that.
    #[serde(skip)]
    pub(crate) evidence: Option<Arc<RelationProof>>,
}

/// Reads the certificate as a document first, so that its parts are read by code compiled elsewhere.
fn certificate<'de, D>(reader: D) -> Result<Option<Box<iolite_recheck::Certificate>>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    let document = Option::<serde_json::Value>::deserialize(reader)?;
    let certificate = document.map(iolite_recheck::Certificate::from_document);
    let certificate = certificate.transpose().map_err(serde::de::Error::custom)?;
    Ok(certificate.map(Box::new))
}

/// Why a relation does not hold.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CounterexampleDocument {
    /// The trace before the observation.
    pub trace: Vec<String>,
    /// What the implementation shows then.
    pub observed: ObservedDocument,
    /// What the specification allows.
    pub allowed: Vec<ObservedDocument>,
    /// Where the implementation is.
    pub implementation_state: Place,
    /// Where the specification may be.
    pub specification_states: Vec<Place>,
}

/// An action, or a set of refused actions.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ObservedDocument {
    /// An action.
    Action(String),
    /// A refusal.
    Refusal {
        /// What is refused.
        refuses: Vec<String>,
    },
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
pub struct Place {
    /// The state.
    pub state: String,
    /// Its line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

impl Place {
    pub(crate) fn of(model: &dyn Semantics<State = StateId>, state: StateId) -> Self {
        Self {
            state: model.describe(&state),
            line: model.line(&state),
        }
    }

    pub(crate) fn show(&self, reference: &str) -> String {
        match self.line {
            Some(line) => {
                let reference = ModelRef::from(reference);
                format!("{} ({}:{line})", self.state, reference.path().display())
            }
            None => self.state.clone(),
        }
    }
}

/// What a search took.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct EffortDocument {
    pairs: usize,
    sets: usize,
    pub(crate) depth: usize,
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
pub(super) fn tell(document: &RelationDocument) -> String {
    let RelationDocument {
        relation,
        implementation,
        specification,
        effort,
        ..
    } = document;
    let mut claim = format!("{implementation} {relation} {specification}");
    if let Some(most) = document.max_in_flight {
        let plural = if most == 1 { "" } else { "s" };
        claim += &format!(", through queues with at most {most} input{plural} under way");
    }
    match document.holds {
        Some(true) => match &document.proof {
            Some(how) => format!("{claim}: holds, by an inductive invariant ({how})\n"),
            None => format!("{claim}: holds ({} pairs of states)\n", effort.pairs),
        },
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

fn tell_counterexample(document: &RelationDocument, found: &CounterexampleDocument) -> String {
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
