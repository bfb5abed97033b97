//! `iolite explain`: look again at a certificate, with code that shares nothing with the search.

use std::collections::BTreeSet;
use std::path::PathBuf;

use iolite_derive::location;
use iolite_exec::{Certificate, chart};
use iolite_lts::relation::{Claim, Recheck, Relation, follow_run, recheck, recheck_run};
use iolite_lts::{Completed, Completion, Interned, Semantics};

use super::data_explain;
use super::property_explain;
use super::property_source::{self, PropertyReadOptions, PropertyRef};
use super::relate::trace_set;
use super::relate_document::{CounterexampleDocument, Document, ObservedDocument};
use super::semantics_options::{CompletionFlag, QuiescenceFlag};
use super::source::{self, Format, Model, ModelRef, Opened, ReadOptions, System};
use super::time_limit::TimeLimit;
use super::{Exit, Failure, print, print_json, suite};

/// Re-check a certificate against the models, step by step
///
/// Exit code 0 means that the certificate is right: the counterexample is one.
#[derive(clap::Args)]
pub(super) struct Args {
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

/// What the specification allows after a trace, and where it is then.
pub(super) struct Found {
    pub(super) allowed: Vec<String>,
    pub(super) locations: Vec<String>,
}

impl Found {
    /// What stepping along the trace of a run gives.
    fn of(model: &System, args: &Args, certificate: &Certificate) -> Option<Self> {
        let policy = args.quiescence.policy();
        let suspension = !certificate.kind.starts_with("ioconf");
        let found = follow_run(model, policy, suspension, &certificate.trace)?;
        let locations = found.states.iter().map(|&s| location(model, s));
        Some(Self {
            locations: locations.collect(),
            allowed: found.allowed,
        })
    }

    /// Whether the certificate says the same. Observers and purposes tell of their own places too.
    fn is_told_by(&self, certificate: &Certificate) -> bool {
        let set = |texts: &[String]| texts.iter().cloned().collect::<BTreeSet<String>>();
        let told = set(&certificate.locations);
        let mine = set(&self.locations);
        let places = match certificate.kind.as_str() {
            "safety" | "purpose" => mine.is_subset(&told),
            _ => mine == told,
        };
        places && set(&self.allowed) == set(&certificate.allowed)
    }
}

/// What looking again has shown.
pub(super) enum Checked {
    Confirmed,
    Refuted(String),
    /// A solver or a bound gave up.
    Undecided(String),
}

impl From<Recheck> for Checked {
    fn from(verdict: Recheck) -> Self {
        match verdict {
            Recheck::Confirmed => Self::Confirmed,
            Recheck::Refuted(reason) => Self::Refuted(reason),
        }
    }
}

#[derive(serde::Serialize)]
struct Outcome {
    confirmed: bool,
    /// Neither confirmed nor refuted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    undecided: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    models_changed: Vec<ModelRef>,
    /// What is allowed after the trace, where the certificate says something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed: Option<Vec<String>>,
    /// Where the specification is then, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    locations: Option<Vec<String>>,
}

impl Outcome {
    fn new(checked: Checked, models_changed: Vec<ModelRef>) -> Self {
        let undecided = matches!(checked, Checked::Undecided(_));
        let (confirmed, reason) = match checked {
            Checked::Confirmed => (true, None),
            Checked::Refuted(reason) | Checked::Undecided(reason) => (false, Some(reason)),
        };
        Self {
            confirmed,
            undecided,
            reason,
            models_changed,
            allowed: None,
            locations: None,
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

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let bytes = source::read(&args.certificate)?;
    if let Ok(certificate) = serde_json::from_slice::<Certificate>(&bytes) {
        return explain_run(args, &certificate);
    }
    let document: Document = serde_json::from_slice(&bytes).map_err(|e| {
        Failure::input(format!(
            "{}: no certificate: {e}",
            args.certificate.display()
        ))
        .hint("`iolite relate … --certificate FILE` writes one")
    })?;
    let claimed = document.counterexample.as_ref();
    let Some(counterexample) = claimed.filter(|_| document.holds == Some(false)) else {
        return Err(Failure::input(format!(
            "{}: the answer is no negative one with a counterexample, so there is nothing to re-check",
            args.certificate.display()
        )));
    };
    let reference = args
        .implementation
        .as_ref()
        .unwrap_or(&document.implementation);
    let implementation = source::load(reference, &document.reading)?;
    let reference = args
        .specification
        .as_ref()
        .unwrap_or(&document.specification);
    let specification = source::load(reference, &document.reading)?;
    let changed = [
        (&implementation, &document.implementation_hash),
        (&specification, &document.specification_hash),
    ];
    let models_changed = changed
        .into_iter()
        .filter(|(m, hash)| m.hash != **hash)
        .map(|(m, _)| m.reference.clone());
    let models_changed: Vec<ModelRef> = models_changed.collect();
    let verdict = look_again(&document, counterexample, &implementation, &specification)?;
    let outcome = Outcome::new(verdict.into(), models_changed);
    if args.json {
        print_json(&outcome)?;
    } else {
        print(&tell(&document, counterexample, &outcome))?;
    }
    Ok(outcome.exit())
}

/// What runs are judged by.
const KINDS: [&str; 6] = [
    "ioco", "ioconf", "ioconf-f", "safety", "purpose", "property",
];

const TOO_LONG: &str = "the run was too long for its certificate; see the journal";

/// A certificate of `iolite test` or `iolite monitor`: the specification alone is stepped.
fn explain_run(args: &Args, certificate: &Certificate) -> Result<Exit, Failure> {
    let named = || {
        let file = certificate.model.file.as_ref()?;
        let name = certificate
            .model
            .name
            .as_ref()
            .map(|n| format!("#{n}"))
            .unwrap_or_default();
        Some(ModelRef::from(format!("{file}{name}")))
    };
    let reference = args.specification.clone().or_else(named);
    let reference = reference.ok_or_else(|| {
        Failure::input("the certificate names no model").hint("add --specification MODEL")
    })?;
    if !certificate.verdict.is_failing() {
        let reason = format!("it claims `{}`, which is no failure", certificate.verdict);
        return conclude_run(args, certificate, Checked::Refuted(reason), None, "", None);
    }
    if let Some(observed) = &certificate.observed
        && certificate.allowed.contains(observed)
    {
        let reason = format!("it says itself that {observed} is allowed");
        return conclude_run(args, certificate, Checked::Refuted(reason), None, "", None);
    }
    if certificate.kind == suite::WRITTEN {
        return Err(Failure::input(
            "it is of a hand-written test case, whose verdicts are its author's: nothing follows from \
             the model that could be re-checked",
        ));
    }
    if !KINDS.contains(&certificate.kind.as_str()) {
        return Err(Failure::input(format!(
            "`{}` is no kind of run: {} are",
            certificate.kind,
            KINDS.join(", ")
        )));
    }
    if certificate.kind == "property" {
        let property = property_source::load(&PropertyRef::from(&reference), &args.property)?;
        let changed = certificate.model.hash.as_ref() != Some(&property.hash);
        let verdict = property_explain::recheck(&property.automaton, certificate)?;
        return conclude_run(
            args,
            certificate,
            verdict.into(),
            changed.then_some(property.reference),
            "the property's automaton was stepped along the trace again",
            None,
        );
    }
    if Format::of(&reference.path)? == Format::Iol && certificate.kind == "ioco" {
        let opened = source::open(&reference)?;
        if iolite_lang::has_data(&opened.file, &opened.name) {
            let policy = args.quiescence.policy();
            let solver = args.solver.as_deref();
            let watch = args.time_limit.start()?;
            let verdict = if certificate.trace_omitted > 0 {
                Checked::Refuted(TOO_LONG.to_owned())
            } else {
                data_explain::recheck(&opened, policy, solver, watch.until(), certificate)?
            };
            let verdict = match (verdict, watch.time_is_up()) {
                (Checked::Undecided(_), Some(reason)) => Checked::Undecided(reason),
                (verdict, _) => verdict,
            };
            let changed = certificate.model.hash.as_ref();
            let changed = changed.is_some_and(|hash| *hash != opened.hash);
            let found = match verdict {
                Checked::Confirmed => found_in_data(args, &opened, certificate)?,
                _ => None,
            };
            return conclude_run(
                args,
                certificate,
                verdict,
                changed.then_some(opened.reference),
                "every way through the locations was tried, each as one formula",
                found,
            );
        }
    }
    let model = source::load(&reference, &args.read)?;
    let verdict = match &certificate.observed {
        _ if certificate.trace_omitted > 0 => Recheck::Refuted(TOO_LONG.to_owned()),
        None => Recheck::Refuted("no observation decided the verdict".to_owned()),
        Some(observed) => {
            // Only ioconf and its family end a trace with δ.
            let suspension = !certificate.kind.starts_with("ioconf");
            let observed = if observed == "deadlock" {
                "delta"
            } else {
                observed.as_str()
            };
            let policy = args.quiescence.policy();
            recheck_run(
                &model.system,
                policy,
                suspension,
                &certificate.trace,
                observed,
            )
        }
    };
    let changed = certificate
        .model
        .hash
        .as_ref()
        .is_some_and(|hash| *hash != model.hash);
    // What ioconf-f allows depends on the set of traces, which the certificate does not name.
    let found = match verdict {
        Recheck::Confirmed if certificate.kind != "ioconf-f" => {
            Found::of(&model.system, args, certificate)
        }
        _ => None,
    };
    conclude_run(
        args,
        certificate,
        verdict.into(),
        changed.then_some(model.reference),
        "the specification was stepped along the trace again",
        found,
    )
}

/// States that data may unfold to, to read a certificate of an unfolded model.
const UNFOLDED: usize = 10_000;

/// A run may have been judged by the unfolded model, which tells of values one by one.
fn found_in_data(
    args: &Args,
    opened: &Opened,
    certificate: &Certificate,
) -> Result<Option<Found>, Failure> {
    let policy = args.quiescence.policy();
    let solver = args.solver.as_deref();
    let found = data_explain::found(opened, policy, solver, &certificate.trace)?;
    if found.as_ref().is_some_and(|f| f.is_told_by(certificate)) {
        return Ok(found);
    }
    let few = ReadOptions {
        max_states: Some(UNFOLDED),
        ..args.read.clone()
    };
    let unfolded = source::load(&opened.reference, &few).ok();
    let unfolded = unfolded.and_then(|model| Found::of(&model.system, args, certificate));
    let unfolded = unfolded.filter(|f| f.is_told_by(certificate));
    Ok(unfolded.or(found))
}

fn conclude_run(
    args: &Args,
    certificate: &Certificate,
    verdict: Checked,
    changed: Option<ModelRef>,
    how: &str,
    found: Option<Found>,
) -> Result<Exit, Failure> {
    let mut outcome = Outcome::new(verdict, changed.into_iter().collect());
    let mut shown = certificate.clone();
    if let Some(found) = found.filter(|f| !f.is_told_by(certificate)) {
        outcome.allowed = Some(found.allowed.clone());
        outcome.locations = Some(found.locations.clone());
        shown.allowed = found.allowed;
        shown.locations = found.locations;
    }
    if args.json {
        print_json(&outcome)?;
    } else {
        print(&chart(&shown))?;
        print(&tell_outcome(&outcome, how))?;
    }
    Ok(outcome.exit())
}

fn look_again(
    document: &Document,
    counterexample: &CounterexampleDocument,
    implementation: &Model,
    specification: &Model,
) -> Result<Recheck, Failure> {
    let relation: Relation = document
        .relation
        .parse()
        .map_err(|e| Failure::input(format!("{e}")))?;
    let policy = document.semantics.policy();
    let observed = match &counterexample.observed {
        ObservedDocument::Action(action) => Ok(action.clone()),
        ObservedDocument::Refusal { refuses } => Err(refuses.clone()),
    };
    let trace = counterexample.trace.clone();
    let claim = Claim {
        relation,
        policy,
        trace,
        observed,
    };
    let labels = specification.system.labels();
    if let Some(traces) = &document.traces {
        let set = trace_set(traces, &document.reading, labels)?;
        let step = |at, action: &String| set.follow(at, labels.get_text(action)?);
        let end = claim.trace.iter().try_fold(set.initial(), step);
        if !end.is_some_and(|end| set.accepts(end)) {
            return Ok(Recheck::Refuted(format!("the trace is not in {traces}")));
        }
    }
    let how = match document.semantics.complete_inputs {
        None => {
            return Ok(recheck(
                &implementation.system,
                &specification.system,
                &claim,
            ));
        }
        Some(CompletionFlag::SelfLoop) => Completion::SelfLoop,
        Some(CompletionFlag::Chaos) => Completion::Chaos,
    };
    let view = Interned::new(Completed::over(&implementation.system, how, labels));
    Ok(recheck(&view, &specification.system, &claim))
}

fn tell(document: &Document, found: &CounterexampleDocument, outcome: &Outcome) -> String {
    let mut text = format!(
        "{} {} {} does not hold, says the certificate:\n",
        document.implementation, document.relation, document.specification
    );
    for (k, action) in found.trace.iter().enumerate() {
        text += &format!("  {:>3}  {action}\n", k + 1);
    }
    text += &format!("  then the implementation shows {}\n", found.observed);
    text + &tell_outcome(outcome, "both models were stepped along the trace again")
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
