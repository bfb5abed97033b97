//! `iolite verify`: does a specification satisfy its requirements?

use std::sync::Arc;

use iolite_derive::{Relevance, Satisfaction, relevance, verify};
use iolite_lts::{Determinised, Semantics, Suspension};
use iolite_property::Observer;
use serde::Serialize;

use super::objective;
use super::semantics_options::QuiescenceFlag;
use super::source::{self, ModelRef, ReadOptions, texts};
use super::{Exit, Failure, print, print_json};

/// Does the specification satisfy its safety properties: proved, refuted or unknown
#[derive(clap::Args)]
pub(super) struct Args {
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
    system: ModelRef,
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

/// One answer for each observer.
pub(super) fn answers(
    reference: &ModelRef,
    read: &ReadOptions,
    quiescence: QuiescenceFlag,
    observers: &[Observer],
) -> Result<Vec<Satisfaction>, Failure> {
    let model = source::load(reference, read)?;
    let labels = Arc::new(model.system.labels().clone());
    let observers: Vec<Observer> = observers.iter().map(|o| o.over(&labels)).collect();
    let view = Suspension::new(&model.system, quiescence.policy());
    Ok(verify(&view, &observers, 1_000_000).answers)
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let model = source::load(&args.model, &args.read)?;
    let labels = Arc::new(model.system.labels().clone());
    let mut observers = Vec::new();
    for reference in &args.property {
        observers.extend(objective::observers(
            reference,
            &args.read,
            &model.reference,
            &labels,
        )?);
    }
    let policy = args.quiescence.policy();
    let view = Suspension::new(&model.system, policy);
    let verification = verify(&view, &observers, args.max_pairs);
    if let Some(state) = view.livelock() {
        return Err(Failure::input(format!(
            "state {} lies on a cycle of internal actions",
            view.describe(&state)
        ))
        .hint("--quiescence livelock takes such a cycle for quiescence"));
    }
    let mut determinised = Determinised::new(Suspension::new(&model.system, policy));
    let mut properties = Vec::new();
    let mut exit = Exit::Holds;
    for (observer, answer) in observers.iter().zip(&verification.answers) {
        let mut document = PropertyDocument {
            name: observer.name().to_owned(),
            result: "proved",
            trace: None,
            state: None,
            relevant: None,
            irrelevant_trace: None,
        };
        match answer {
            Satisfaction::Holds => {}
            Satisfaction::Violated { trace, state } => {
                document.result = "refuted";
                document.trace = Some(texts(&labels, trace));
                document.state = Some(model.system.describe(state));
                exit = Exit::Fails;
            }
            Satisfaction::Unknown => {
                document.result = "unknown";
                if exit == Exit::Holds {
                    exit = Exit::Inconclusive;
                }
            }
        }
        if args.relevant {
            match relevance(&mut determinised, observer, args.max_pairs) {
                Relevance::Relevant => document.relevant = Some(true),
                Relevance::Irrelevant { trace, .. } => {
                    document.relevant = Some(false);
                    document.irrelevant_trace = Some(texts(&labels, &trace));
                }
                Relevance::Unknown => {}
            }
        }
        properties.push(document);
    }
    let document = Document {
        system: model.reference,
        pairs: verification.pairs,
        properties,
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
