//! `iolite explain`: look again at a certificate, with code that shares nothing with the search.

use std::path::PathBuf;

use iolite::{
    Certificate, Checked, Claimed, Error, ExplainOptions, Explanation, Found, ModelRef,
    PropertyReadOptions, QuiescenceFlag, ReadOptions, RelationDocument,
};
use iolite_exec::chart;

use crate::args::time_limit::TimeLimit;
use crate::args::workspace;
use crate::output::{Exit, print, print_json};

/// Re-check a certificate against the models, step by step
///
/// Exit code 0 means that the certificate is right: the counterexample is one.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The JSON document of a negative answer
    certificate: PathBuf,
    /// Look at this implementation instead of the one the certificate names
    #[arg(long, value_name = "MODEL")]
    implementation: Option<ModelRef>,
    /// Look at this specification instead of the one the certificate names
    #[arg(long, value_name = "MODEL")]
    specification: Option<ModelRef>,
    /// Whether a cycle of internal actions is quiescent (certificates of test runs)
    #[arg(long, value_name = "POLICY", default_value = "livelock")]
    quiescence: QuiescenceFlag,
    /// The solver for models with data: `embedded`, an SMT-LIB program, or `auto` for one that is
    /// found [default: `IOLITE_SOLVER`, else embedded]
    #[arg(long, value_name = "PATH")]
    solver: Option<String>,
    #[command(flatten)]
    time_limit: TimeLimit,
    #[command(flatten)]
    read: ReadOptions,
    #[command(flatten)]
    property: PropertyReadOptions,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(serde::Serialize)]
struct Outcome {
    confirmed: bool,
    /// Neither confirmed nor refuted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    undecided: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    models_changed: Vec<String>,
    /// What is allowed after the trace, where the certificate says something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed: Option<Vec<String>>,
    /// Where the specification is then, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    locations: Option<Vec<String>>,
}

impl Outcome {
    fn new(explanation: &Explanation) -> Self {
        let (confirmed, reason) = match &explanation.checked {
            Checked::Confirmed => (true, None),
            Checked::Refuted(reason) | Checked::Undecided(reason) => (false, Some(reason.clone())),
        };
        let changed = explanation.models_changed.iter().map(ToString::to_string);
        let found = explanation.found.clone();
        let (allowed, locations) = found.map(|f| (f.allowed, f.locations)).unzip();
        Self {
            confirmed,
            undecided: matches!(explanation.checked, Checked::Undecided(_)),
            reason,
            models_changed: changed.collect(),
            allowed,
            locations,
        }
    }

    fn exit(&self) -> Exit {
        match (self.confirmed, self.undecided) {
            (true, _) => Exit::Holds,
            (false, true) => Exit::Inconclusive,
            (false, false) => Exit::Fails,
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let watch = args.time_limit.start()?;
    let options = ExplainOptions {
        implementation: args.implementation.clone(),
        specification: args.specification.clone(),
        quiescence: args.quiescence.policy(),
        solver: args.solver.clone(),
        until: watch.until().zip(watch.when_it_is_up()),
        property: args.property.clone(),
    };
    let explanation = workspace(&args.read).explain(&args.certificate, &options)?;
    let outcome = Outcome::new(&explanation);
    if args.json {
        print_json(&outcome)?;
        return Ok(outcome.exit());
    }
    match &explanation.claimed {
        Claimed::Relation(document) => print(&tell(document))?,
        Claimed::Run(certificate) => {
            print(&chart(&shown(certificate, explanation.found.as_ref())))?;
        }
    }
    print(&tell_outcome(&outcome, explanation.how))?;
    Ok(outcome.exit())
}

/// The certificate, with what was found in the place of what it says.
fn shown(certificate: &Certificate, found: Option<&Found>) -> Certificate {
    let mut shown = certificate.clone();
    if let Some(found) = found {
        shown.allowed.clone_from(&found.allowed);
        shown.locations.clone_from(&found.locations);
    }
    shown
}

fn tell(document: &RelationDocument) -> String {
    let mut text = format!(
        "{} {} {} does not hold, says the certificate:\n",
        document.implementation, document.relation, document.specification
    );
    if let Some(found) = &document.counterexample {
        for (k, action) in found.trace.iter().enumerate() {
            text += &format!("  {:>3}  {action}\n", k + 1);
        }
        text += &format!("  then the implementation shows {}\n", found.observed);
    }
    text
}

fn tell_outcome(outcome: &Outcome, how: &str) -> String {
    let mut text = String::new();
    for model in &outcome.models_changed {
        text += &format!("note: {model} is not the file that the certificate was made from\n");
    }
    if outcome.allowed.is_some() {
        text += "note: the certificate says something else of what is allowed, or where; this was found again\n";
    }
    text += &match &outcome.reason {
        None => format!("confirmed: {how}\n"),
        Some(reason) if outcome.undecided => format!("not decided: {reason}\n"),
        Some(reason) => format!("not confirmed: {reason}\n"),
    };
    text
}
