//! `iolite verify`: does a specification satisfy its requirements?

use iolite::{
    Error, ModelRef, Proof, QuiescenceFlag, ReadOptions, VerificationOptions, VerifiedProperty,
};
use serde::Serialize;

use crate::args::workspace;
use crate::output::{Exit, print, print_json};

/// Does the specification satisfy its safety properties: proved, refuted or unknown
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The system
    model: ModelRef,
    /// Observers: declarations of .iol files (all of a file without #Name), or DOT acceptors whose
    /// double circles violate (repeatable)
    #[arg(long, value_name = "FILE#W", required = true, num_args = 1..)]
    property: Vec<ModelRef>,
    /// Say too whether each observer is relevant: parts from the system by outputs only
    #[arg(long)]
    relevant: bool,
    /// Give up beyond so many pairs of system and observer states
    #[arg(long, value_name = "N", default_value_t = 50_000_000)]
    max_pairs: usize,
    /// Whether a cycle of internal actions is quiescent, or an error
    #[arg(long, value_name = "POLICY", default_value = "livelock")]
    quiescence: QuiescenceFlag,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    read: ReadOptions,
}

#[derive(Serialize)]
struct Document {
    system: String,
    pairs: usize,
    properties: Vec<PropertyDocument>,
}

#[derive(Serialize)]
struct PropertyDocument {
    name: String,
    /// proved, refuted or unknown.
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    relevant: Option<bool>,
    /// A trace of the observer that leaves the system by something other than an output.
    #[serde(skip_serializing_if = "Option::is_none")]
    irrelevant_trace: Option<Vec<String>>,
}

impl From<VerifiedProperty> for PropertyDocument {
    fn from(property: VerifiedProperty) -> Self {
        let (result, trace, state) = match property.proof {
            Proof::Proved => ("proved", None, None),
            Proof::Refuted { trace, state } => ("refuted", Some(trace), Some(state)),
            Proof::Unknown => ("unknown", None, None),
        };
        Self {
            name: property.name,
            result,
            trace,
            state,
            relevant: property.relevance.as_ref().map(Result::is_ok),
            irrelevant_trace: property.relevance.and_then(Result::err),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let options = VerificationOptions {
        properties: args.property.clone(),
        quiescence: args.quiescence.policy(),
        max_pairs: args.max_pairs,
        relevance: args.relevant,
    };
    let found = workspace(&args.read).verify(&args.model, &options)?;
    let proofs = || found.properties.iter().map(|p| &p.proof);
    let exit = if proofs().any(|p| matches!(p, Proof::Refuted { .. })) {
        Exit::Fails
    } else if proofs().any(|p| *p == Proof::Unknown) {
        Exit::Inconclusive
    } else {
        Exit::Holds
    };
    let document = Document {
        system: found.system.to_string(),
        pairs: found.pairs,
        properties: found.properties.into_iter().map(Into::into).collect(),
    };
    if args.json {
        print_json(&document)?;
    } else {
        print(&tell(&document, args.relevant))?;
    }
    Ok(exit)
}

fn tell(document: &Document, relevance: bool) -> String {
    let mut text = String::new();
    for property in &document.properties {
        text += &format!(
            "{} ⊨ {}: {}",
            document.system, property.name, property.result
        );
        if let (Some(trace), Some(state)) = (&property.trace, &property.state) {
            text += &format!(
                "\n  violated after  {}\n  last in state   {state}",
                trace.join(" ")
            );
        }
        text.push('\n');
        if relevance {
            text += &match (property.relevant, &property.irrelevant_trace) {
                (Some(true), _) => {
                    "  relevant: it parts from the system by outputs only\n".to_owned()
                }
                (Some(false), Some(trace)) => format!(
                    "  not relevant: {} is a violation that leaves the system's traces before its \
                     last action\n",
                    trace.join(" ")
                ),
                _ => "  relevance unknown\n".to_owned(),
            };
        }
    }
    text
}
