//! `iolite explain`: look again at a certificate, with code that shares nothing with the search.

use std::io::Read;
use std::path::{Path, PathBuf};

use iolite::{
    CheckOutcome, ConfirmedPart, Error, ExplainOptions, Explanation, ModelRef, Observation,
    PropertyReadOptions, QuiescenceFlag, ReadOptions, WholeCertificate,
};
use iolite_derive::told_places;

use super::replay::journaled_certificate;
use super::verify::shortened;
use crate::args::bounds;
use crate::args::workspace;
use crate::output::{Exit, print, print_json};

/// Re-check a certificate, part by part
///
/// The models in the certificate are followed by a checker of its own that shares nothing with what made
/// the claim; then its tables are compared with the texts. With data, formulas of all ways through the
/// locations take its place; they share terms and the solver. Exit code 0 means that every part is
/// true, but for those that are said to be not re-checked independently; 1 that one is not, 3 that something is
/// left open. Formulas end at a counted bound, which leaves the same open on any machine.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The certificate, the JSON document of an answer that has one, or the journal of a failing test
    certificate: PathBuf,
    /// Which run of a journal or of `test --json`, or which test case of `passes --json` or
    /// `suite --json`, from 0
    /// [default: the first failing one]
    #[arg(long, value_name = "N")]
    run: Option<u64>,
    /// Look at this implementation instead of the one the certificate names
    #[arg(long, value_name = "MODEL")]
    implementation: Option<ModelRef>,
    /// Look at this specification instead of the one the certificate names
    #[arg(long, value_name = "MODEL")]
    specification: Option<ModelRef>,
    /// Whether a cycle of internal actions is quiescent, where the certificate does not say it
    #[arg(long, value_name = "POLICY", default_value = "livelock")]
    quiescence: QuiescenceFlag,
    /// The solver for models with data: `embedded`, an SMT-LIB program, or `auto` for one that is
    /// found [default: `IOLITE_SOLVER`, else embedded]
    #[arg(long, value_name = "PATH")]
    solver: Option<String>,
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
    /// What was confirmed, and by whom.
    parts: Vec<PartDocument>,
    /// What is true, but not as it would have been written.
    notes: Vec<String>,
    /// What nobody confirmed.
    told: Vec<String>,
    /// Parts of the claim that nobody says but the tester that made it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_rechecked: Vec<String>,
}

#[derive(serde::Serialize)]
struct PartDocument {
    part: String,
    by: &'static str,
}

impl Outcome {
    fn new(explanation: &Explanation) -> Self {
        let (confirmed, reason) = match &explanation.checked {
            CheckOutcome::Confirmed => (true, None),
            CheckOutcome::Refuted(reason) | CheckOutcome::Undecided(reason) => {
                (false, Some(reason.clone()))
            }
        };
        let changed = explanation.models_changed.iter().map(ToString::to_string);
        let part = |p: &ConfirmedPart| PartDocument {
            part: p.what.clone(),
            by: p.by,
        };
        Self {
            confirmed,
            undecided: matches!(explanation.checked, CheckOutcome::Undecided(_)),
            reason,
            models_changed: changed.collect(),
            parts: explanation.parts.iter().map(part).collect(),
            notes: explanation.notes.clone(),
            told: explanation.told.clone(),
            not_rechecked: explanation.not_rechecked.clone(),
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
    let watch = bounds::watch();
    let options = ExplainOptions {
        implementation: args.implementation.clone(),
        specification: args.specification.clone(),
        quiescence: args.quiescence.policy(),
        solver: args.solver.clone(),
        until: watch.until().zip(watch.when_it_is_up()),
        property: args.property.clone(),
        run: args.run,
    };
    let explanation = if is_journal(&args.certificate) {
        let (claim, from_disk) = journaled_certificate(&args.certificate, args.run)?;
        workspace(&args.read).explain_now(claim, from_disk, &options)?
    } else {
        workspace(&args.read)
            .without_explorers()
            .explain(&args.certificate, &options)?
    };
    let outcome = Outcome::new(&explanation);
    if args.json {
        print_json(&outcome)?;
        return Ok(outcome.exit());
    }
    print(&tell(&explanation.claim))?;
    print(&tell_outcome(&outcome))?;
    Ok(outcome.exit())
}

/// Whether a file begins as journals do, in either form.
fn is_journal(path: &Path) -> bool {
    let mut start = [0; 10];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    let compact = iolite_exec::COMPACT_FORMAT.as_bytes();
    read.is_ok() && (start == *b"{\"journal\"" || compact.starts_with(&start))
}

fn show(observation: &Observation) -> String {
    match observation {
        Observation::Action(action) => action.clone(),
        Observation::Refusal(refusal) => format!("refusal of {{{}}}", refusal.refuses.join(", ")),
    }
}

fn tell(claim: &WholeCertificate) -> String {
    let name = |model: &Option<iolite::WholeModel>| {
        model
            .as_ref()
            .map(|m| m.reference.clone())
            .unwrap_or_default()
    };
    let (kind, verdict) = (&claim.kind, &claim.verdict);
    let mut text = match (&claim.implementation, &claim.property) {
        (Some(_), _) if claim.verdict == "holds" => format!(
            "{} {kind} {} holds, says the certificate\n",
            name(&claim.implementation),
            name(&claim.specification)
        ),
        (None, None) if claim.pairs.is_some() => {
            let observers: Vec<&str> = claim.observers.iter().map(|o| o.name.as_str()).collect();
            format!(
                "{} satisfies {}, says the certificate\n",
                name(&claim.specification),
                observers.join(", ")
            )
        }
        (Some(_), _) if claim.test.is_some() || claim.data.is_some() => format!(
            "{} fails {} ({kind}) with `{verdict}`, says the certificate:\n",
            name(&claim.implementation),
            match (&claim.test, &claim.data) {
                (Some(test), _) => test.name.as_str(),
                (None, Some(data)) => data.name.as_str(),
                (None, None) => "",
            }
        ),
        (Some(_), _) => format!(
            "{} {kind} {} does not hold, says the certificate:\n",
            name(&claim.implementation),
            name(&claim.specification)
        ),
        (None, Some(property)) if claim.ending.is_some() => {
            let specification = name(&claim.specification);
            let property = &property.reference;
            format!("{specification} does not satisfy {property}, says the certificate:\n")
        }
        (None, Some(property)) if claim.pairs.is_some() => {
            let specification = name(&claim.specification);
            let property = &property.reference;
            format!("{specification} satisfies {property}, says the certificate\n")
        }
        (None, Some(property)) => {
            format!(
                "a run is `{verdict}` by {}, says the certificate:\n",
                property.reference
            )
        }
        (None, None) if claim.data.is_some() => tell_data(&name(&claim.specification), claim),
        (None, None) if claim.verdict == "unsound" => format!(
            "{} is not sound for {kind} to {}, says the certificate: what conforms may do\n",
            claim.test.as_ref().map_or("", |test| test.name.as_str()),
            name(&claim.specification)
        ),
        (None, None) if claim.verdict == "undetected" => format!(
            "none of {} test cases for {kind} to {} detects, says the certificate:\n",
            claim.suite.len(),
            name(&claim.specification)
        ),
        (None, None) => format!(
            "`{verdict}` by {} ({kind}), says the certificate:\n",
            name(&claim.specification)
        ),
    };
    for (k, action) in claim.trace.iter().enumerate() {
        text += &format!("  {:>3}  {action}\n", k + 1);
    }
    if let Some(ending) = &claim.ending {
        let on = match claim.cycle.as_deref() {
            None => ending.clone(),
            Some([]) => "internal actions for ever".to_owned(),
            Some(cycle) => format!("{} for ever", cycle.join(" ")),
        };
        text += &format!("  then {on}\n");
    }
    if let Some(observed) = &claim.observed {
        text += &format!("  observed: {}\n", show(observed));
        let mut allowed: Vec<String> = claim.allowed.iter().map(show).collect();
        if allowed.is_empty() {
            allowed.push("nothing is told".to_owned());
        }
        text += &format!("  allowed:  {}\n", allowed.join(", "));
    }
    if !claim.locations.is_empty() {
        let places = told_places(&claim.locations, &claim.context, &claim.trace);
        text += &format!("  in:       {places}\n");
    }
    if let Some(place) = &claim.implementation_location {
        text += &format!("  implementation in {place}\n");
    }
    text
}

/// A claim of an observer beside a model whose data were kept.
fn tell_data(system: &str, claim: &WholeCertificate) -> String {
    let Some(data) = &claim.data else {
        return String::new();
    };
    let Some(conditions) = &data.invariant else {
        let mut text = format!(
            "{system} does not satisfy {}, says the certificate",
            data.name
        );
        if let Some(run) = data.run.as_ref().filter(|run| !run.constants.is_empty()) {
            let values = run
                .constants
                .iter()
                .map(|(name, value)| format!("{name} = {value}"));
            text += &format!(", with {}", values.collect::<Vec<_>>().join(", "));
        }
        return text + ":\n";
    };
    let by = match data.induction {
        Some(k) => format!("k-induction with k = {k} and these lemmas"),
        None => "an invariant".to_owned(),
    };
    let mut text = format!(
        "{system} satisfies {}, says the certificate, by {by}:\n",
        data.name
    );
    // That violating locations are unreachable is the claim itself.
    for condition in conditions.iter().filter(|c| !c.any.is_empty()) {
        let any = condition.any.join(" || ");
        text += &format!("  {}: {}\n", condition.location, shortened(&any));
    }
    text
}

fn tell_outcome(outcome: &Outcome) -> String {
    let mut text = String::new();
    for model in &outcome.models_changed {
        text += &format!("note: {model} is not the file that the certificate was made from\n");
    }
    for note in &outcome.notes {
        text += &format!("note: {note}\n");
    }
    for part in &outcome.parts {
        text += &format!("  {} (by {})\n", part.part, part.by);
    }
    for told in &outcome.told {
        text += &format!("  not checked: {told}\n");
    }
    for part in &outcome.not_rechecked {
        text += &format!("  not re-checked independently: {part}\n");
    }
    text += &match &outcome.reason {
        None if !outcome.not_rechecked.is_empty() => {
            "confirmed: every part of the claim that was re-checked is true\n".to_owned()
        }
        None => "confirmed: every part of the claim is true\n".to_owned(),
        Some(reason) if outcome.undecided => format!("not decided: {reason}\n"),
        Some(reason) => format!("not confirmed: {reason}\n"),
    };
    text
}
