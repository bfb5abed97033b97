//! `iolite verify`: does a specification satisfy its requirements?

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use iolite::{
    EnvironmentFlag, Error, ExecutionEnding, FairnessFlag, ModelRef, Proof, QuiescenceFlag,
    ReadOptions, Verification, VerificationOptions, VerifiedProperty, WholeCertificate, Workspace,
    all_cores,
};
use serde::Serialize;

use crate::args::bounds;
use crate::args::workspace;
use crate::output::{Exit, beside_answer, print, print_json, write_json};

/// Does the specification satisfy its properties: proved, refuted or unknown
///
/// Observers are safety properties. Properties may be of any class, on models that are finite once their
/// data are unfolded; what counts as an execution is said in docs/properties.md.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The system
    model: ModelRef,
    /// Observers: declarations of .iol files (all of a file without #Name), or DOT acceptors whose
    /// double circles violate; or properties: FILE.iol#P, FILE.hoa, FILE.xml, ltl:FORMULA (repeatable)
    #[arg(long, value_name = "FILE#W", required = true, num_args = 1..)]
    property: Vec<ModelRef>,
    /// Which infinite executions count, for properties
    #[arg(long, value_name = "WHICH", default_value = "none")]
    fairness: FairnessFlag,
    /// Whether the environment may stop giving inputs, for properties
    #[arg(long, value_name = "HOW", default_value = "may-stop")]
    environment: EnvironmentFlag,
    /// Say too whether each observer is relevant: parts from the system by outputs only
    #[arg(long)]
    relevant: bool,
    /// Give up beyond so many pairs of system and observer states
    #[arg(long, value_name = "N", default_value_t = 50_000_000)]
    max_pairs: usize,
    /// How many threads read and search a model without data [default: one for each core]; neither the answer nor the
    /// trace depends on it
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Whether a cycle of internal actions is quiescent, or an error
    #[arg(long, value_name = "POLICY", default_value = "livelock")]
    quiescence: QuiescenceFlag,
    /// Unfold finite data into an explicit model instead of proving with them
    #[arg(long)]
    unfold: bool,
    /// The solver for models with data: `embedded`, an SMT-LIB program, or `auto` for one that is
    /// found [default: `IOLITE_SOLVER`, else embedded]
    #[arg(long, value_name = "PATH")]
    solver: Option<String>,
    /// Write a certificate to this file, for `iolite explain`: of the first refuted property, or of the
    /// only one if it is proved: the invariant, or pairs of states, unless they are too many
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
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
    /// Why a proof says less than it seems to, and certificates that could not be made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Default, Serialize)]
struct PropertyDocument {
    name: String,
    /// proved, refuted or unknown.
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Vec<String>>,
    /// How the execution goes on after the trace: bad-prefix, output-lock, deadlock, or a cycle.
    #[serde(skip_serializing_if = "Option::is_none")]
    ending: Option<&'static str>,
    /// What comes again and again then.
    #[serde(skip_serializing_if = "Option::is_none")]
    cycle: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    /// Values of unknown constants with which it is refuted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    constants: Vec<String>,
    /// Who found the proof of a model with data.
    #[serde(skip_serializing_if = "Option::is_none")]
    how: Option<String>,
    /// The inductive invariant, a line a location.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    invariant: Vec<String>,
    /// Transitions that may have no value: nothing is claimed of values, of constants, inputs and internal choices,
    /// with which that happens.
    #[serde(skip_serializing_if = "is_zero")]
    faults: usize,
    /// What is left to show, where the answer is unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    relevant: Option<bool>,
    /// A trace of the observer that leaves the system by something other than an output.
    #[serde(skip_serializing_if = "Option::is_none")]
    irrelevant_trace: Option<Vec<String>>,
    /// The whole certificate of a refutation.
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<WholeCertificate>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

impl From<VerifiedProperty> for PropertyDocument {
    fn from(property: VerifiedProperty) -> Self {
        let mut document = Self {
            name: property.name,
            relevant: property.relevance.as_ref().map(Result::is_ok),
            irrelevant_trace: property.relevance.and_then(Result::err),
            ..Self::default()
        };
        document.ending = property.ending.as_ref().map(|ending| match ending {
            ExecutionEnding::BadPrefix => "bad-prefix",
            ExecutionEnding::OutputLock => "output-lock",
            ExecutionEnding::Deadlock => "deadlock",
            ExecutionEnding::Cycle(_) => "cycle",
        });
        if let Some(ExecutionEnding::Cycle(steps)) = property.ending {
            document.cycle = Some(steps);
        }
        match property.proof {
            Proof::Proved { invariant, faults } => {
                document.result = "proved";
                document.faults = faults;
                if let Some((how, invariant)) = invariant {
                    document.how = Some(how);
                    document.invariant = invariant.lines().map(str::to_owned).collect();
                }
            }
            Proof::Refuted {
                trace,
                state,
                constants,
            } => {
                document.result = "refuted";
                document.trace = Some(trace);
                document.state = Some(state);
                document.constants = constants;
            }
            Proof::Unknown { left } => {
                document.result = "unknown";
                document.left = left;
            }
        }
        document
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let options = VerificationOptions {
        properties: args.property.clone(),
        fairness: args.fairness,
        environment: args.environment,
        quiescence: args.quiescence.policy(),
        max_pairs: args.max_pairs,
        relevance: args.relevant,
        unfold: args.unfold,
        solver: args.solver.clone(),
        time: bounds::budget().time(),
        jobs: args.jobs.unwrap_or_else(all_cores),
    };
    let wanted = args.json || args.certificate.is_some();
    let mut workspace = workspace(&args.read)
        .without_texts()
        .with_jobs(options.jobs);
    if !wanted {
        workspace = workspace.without_hashes();
    }
    let found = workspace.verify(&args.model, &options)?;
    let mut missing = Vec::new();
    let mut certificates: Vec<Option<WholeCertificate>> = Vec::new();
    // One reads the files again and makes tables, which would be most of the time of a large model.
    for property in &found.properties {
        if !wanted {
            certificates.push(None);
            continue;
        }
        let certified = refutation(&workspace, &found, property, &options);
        certificates.push(certified.unwrap_or_else(|reason| {
            missing.push(format!("{}: {reason}", property.name));
            None
        }));
    }
    for reason in &missing {
        warning!("warning: {reason}");
    }
    let first = certificates.iter().flatten().next();
    // The answer does not depend on it: what goes wrong is said after that.
    let written = match (&args.certificate, first) {
        (None, _) => Ok(()),
        (Some(path), Some(certificate)) => write_json(path, certificate),
        (Some(path), None) => write_proof(&workspace, &found, &options, path),
    };
    let proofs = || found.properties.iter().map(|p| &p.proof);
    let exit = if proofs().any(|p| matches!(p, Proof::Refuted { .. })) {
        Exit::Fails
    } else if proofs().any(|p| matches!(p, Proof::Unknown { .. })) {
        Exit::Inconclusive
    } else {
        Exit::Holds
    };
    let vacuous = found.properties.iter().filter_map(|p| p.vacuous.clone());
    let warnings = vacuous.chain(missing).collect();
    let properties = found.properties.into_iter().zip(certificates);
    let document = Document {
        warnings,
        system: found.system.to_string(),
        pairs: found.pairs,
        properties: properties
            .map(|(property, certificate)| PropertyDocument {
                certificate,
                ..property.into()
            })
            .collect(),
    };
    if args.json {
        print_json(&document)?;
    } else {
        print(&tell(&document, args.relevant))?;
    }
    Ok(beside_answer(exit, written))
}

/// The certificate of a refuted property: with tables where data unfold, else with the run; or why there is
/// none.
fn refutation(
    workspace: &Workspace,
    found: &Verification,
    property: &VerifiedProperty,
    options: &VerificationOptions,
) -> Result<Option<WholeCertificate>, String> {
    if !matches!(property.proof, Proof::Refuted { .. }) {
        return Ok(None);
    }
    let certified = match workspace.certify_refutation(found, property, options) {
        Ok(None) => workspace.certify_data(found, property, options),
        certified => certified,
    };
    match certified {
        Ok(Some(whole)) => Ok(Some(whole)),
        Ok(None) => Err("there is no certificate of this refutation".to_owned()),
        Err(reason) => Err(reason.message().to_owned()),
    }
}

/// The certificate of the one property that is proved.
fn write_proof(
    workspace: &Workspace,
    found: &Verification,
    options: &VerificationOptions,
    path: &Path,
) -> Result<(), Error> {
    let mut proofs = Vec::new();
    for property in &found.properties {
        let proof = match workspace.certify_data(found, property, options) {
            Ok(None) => workspace.certify_proof(found, property, options),
            found => found,
        };
        match proof {
            Ok(proof) => proofs.extend(proof),
            Err(reason) => {
                warning!("warning: {}", reason.message());
                return Ok(());
            }
        }
    }
    match proofs.as_slice() {
        [proof] => write_json(path, proof),
        [] => {
            warning!(
                "warning: no certificate is written: nothing was proved or refuted that it could show"
            );
            Ok(())
        }
        _ => {
            warning!(
                "warning: no certificate is written: it is of one property, and several are proved"
            );
            Ok(())
        }
    }
}

fn tell(document: &Document, relevance: bool) -> String {
    let mut text = String::new();
    for property in &document.properties {
        text += &format!(
            "{} ⊨ {}: {}",
            document.system, property.name, property.result
        );
        if let (Some(trace), Some(state)) = (&property.trace, &property.state) {
            text += &violation(property, trace, state);
        }
        text.push('\n');
        if !property.constants.is_empty() {
            text += &format!("  with            {}\n", property.constants.join(", "));
        }
        if let Some(how) = &property.how {
            text += &format!("  by              {how}\n");
        }
        // That violating locations are unreachable is the answer itself.
        let told = property
            .invariant
            .iter()
            .filter(|l| !l.ends_with(": false"));
        for (k, line) in told.enumerate() {
            let head = if k == 0 { "invariant" } else { "" };
            text += &format!("  {head:<16}{}\n", shortened(line));
        }
        if property.faults > 0 {
            text += &format!(
                "  note            {} transitions may have no value; nothing is claimed of values, of inputs and \
                 internal choices too, with which that happens\n",
                property.faults
            );
        }
        for (k, line) in property.left.iter().enumerate() {
            let head = if k == 0 { "left" } else { "" };
            text += &format!("  {head:<16}{line}\n");
        }
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

/// The trace, and how the execution goes on.
fn violation(property: &PropertyDocument, trace: &[String], state: &str) -> String {
    let shown = |steps: &[String]| match steps {
        [] => "ε".to_owned(),
        steps => steps.join(" "),
    };
    let trace = shown(trace);
    match (property.ending, &property.cycle) {
        (None, _) => format!("\n  violated after  {trace}\n  last in state   {state}"),
        (Some("output-lock"), _) => {
            format!("\n  violated by     {trace}, and no input any more\n  waiting in      {state}")
        }
        (Some("deadlock"), _) => {
            format!("\n  violated by     {trace}, and nothing any more\n  stuck in        {state}")
        }
        (Some(_), Some(cycle)) if cycle.is_empty() => format!(
            "\n  violated by     {trace}, and internal actions for ever\n  from state      {state}"
        ),
        (Some(_), Some(cycle)) => format!(
            "\n  violated by     {trace}\n  and for ever    {}\n  from state      {state}",
            shown(cycle)
        ),
        (Some(_), None) => {
            format!("\n  violated after  {trace}\n  in state        {state}")
        }
    }
}

/// Characters of an invariant that people are shown; the document has it whole.
const SHOWN: usize = 100;

pub(super) fn shortened(line: &str) -> String {
    match line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{} …", &line[..at]),
        None => line.to_owned(),
    }
}
