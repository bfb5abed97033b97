//! A second opinion on a certificate, from the definitions alone.
//!
//! A certificate claims that something is wrong: a relation does not hold, a run failed, a model fails
//! a test case, a test case is not sound, a suite misses an error, a specification violates an observer, a trace is outside a property. It carries transition tables
//! of all models involved. [`check`] walks them with plain sets and compares every part of the claim
//! with what it finds. It shares no code with what made the claim, depends on nothing but the reader of
//! JSON, and remembers nothing between steps, so that it can be read beside the papers.
//!
//! What it cannot decide it says: whether a table is what the text beside it means needs the
//! language's own reader, and models whose data were not unfolded have no table.
//!
//! Read in this order: `document.rs` (what a certificate holds), `system.rs` (τ-closure, quiescence,
//! after, out, refusals), `relation.rs` (two models), `run.rs` (a run beside a specification, observers),
//! `queues.rs` (the same through queues), `holding.rs` and `holding_queues.rs` (positive answers), `test_run.rs` (a model that fails a test case), `suite.rs` (test cases that fail
//! what conforms, or miss an error), `property.rs`
//! (Streett automata), `lasso.rs` (executions of a specification that a property rejects).

mod channels;
mod document;
mod holding;
mod holding_queues;
mod lasso;
mod observer_orders;
mod property;
mod queues;
mod relation;
mod run;
mod suite;
mod system;
mod test_run;

pub use document::{
    Certificate, Channel, DataClaim, DataObserver, Execution, FORMAT, Kind, LocationCondition,
    Model, Named, Observation, Observer, Pair, Pairs, Property, QueuePlaces, Refusal, SourceText,
    State, Table, Test, TestState, TestStep, ValuedRun, ValuedStep, WatchedProperty, hash,
};

/// What looking again has shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The parts that were found again, one a line.
    pub confirmed: Vec<String>,
    /// What is true, but not written as it would have been.
    pub notes: Vec<String>,
    /// What the certificate says and nobody can check.
    pub told: Vec<String>,
}

/// Why a certificate is not confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A part of the claim is false.
    Rejected(String),
    /// It is neither confirmed nor found false.
    Undecided(String),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rejected(reason) | Self::Undecided(reason) => f.write_str(reason),
        }
    }
}

type Outcome<T> = Result<T, Fault>;

fn rejected<T>(reason: impl Into<String>) -> Outcome<T> {
    Err(Fault::Rejected(reason.into()))
}

/// What an observer with data came to. It has no table, so whoever can read it has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// Whether the trace and the observation after it are a violation, and the trace alone is not.
    pub violated: bool,
    /// Its name, and where it is after the trace, as `Watch: Busy`.
    pub place: String,
}
/// What is left to those who know data.
const NO_TABLE: &str = "the model has data and so no table; `iolite explain` solves for them";

/// States and transitions that all tables of a certificate may have together.
const LARGEST: usize = 20_000_000;

/// Looks at all of a certificate again.
///
/// # Errors
///
/// The first part that is false, or that cannot be decided.
pub fn check(certificate: &Certificate) -> Result<Report, Fault> {
    check_beside(certificate, None)
}

/// The same of a certificate with observers that have data: what each of them came to is found by other
/// means.
///
/// # Errors
///
/// The first part that is false, or that cannot be decided.
pub fn check_beside(
    certificate: &Certificate,
    watched: Option<&[Watched]>,
) -> Result<Report, Fault> {
    let mut report = Report::default();
    check_files(certificate, &mut report)?;
    if certificate.trace_omitted > 0 {
        return Err(Fault::Undecided(
            "the run was too long for its certificate; see the journal".to_owned(),
        ));
    }
    let tables = [&certificate.specification, &certificate.implementation];
    let tables = || tables.into_iter().flatten();
    let size = |t: &Table| t.states.len() + t.rows.iter().flatten().map(Vec::len).sum::<usize>();
    if tables()
        .filter_map(|m| m.table.as_ref())
        .map(size)
        .sum::<usize>()
        > LARGEST
    {
        return Err(Fault::Undecided("the tables are too large".to_owned()));
    }
    let execution = certificate.ending.is_some()
        || certificate.cycle.is_some()
        || certificate.execution.is_some()
        || certificate.fairness.is_some()
        || certificate.environment.is_some();
    let of_suite = suite::is_claimed(certificate);
    if !of_suite && !certificate.suite.is_empty() {
        return rejected("several test cases belong to an error that they miss");
    }
    let claims = [
        execution,
        certificate.pairs.is_some(),
        certificate.test.is_some() || of_suite,
        certificate.data.is_some(),
    ];
    if claims.iter().filter(|claim| **claim).count() > 1 {
        return rejected(
            "pairs, test cases, endings of executions and invariants are claims of their own",
        );
    }
    if let Some(data) = &certificate.data {
        check_data_claim(certificate, data)?;
        return Err(Fault::Undecided(NO_TABLE.to_owned()));
    }
    let alone = claims.contains(&true) || certificate.kind == "property";
    let beside = !certificate.data_observers.is_empty() || !certificate.properties.is_empty();
    if beside && (alone || certificate.implementation.is_some()) {
        return rejected(
            "observers with data and properties belong to runs beside a specification",
        );
    }
    if certificate.pairs.is_some() && tables().all(|model| model.table.is_some()) {
        match certificate.implementation {
            Some(_) => holding::relation(certificate, &mut report)?,
            None => holding::observer(certificate, &mut report)?,
        }
    } else if of_suite {
        suite::check(certificate, &mut report)?;
    } else if certificate.test.is_some() {
        test_run::check(certificate, &mut report)?;
    } else if execution {
        if certificate.kind != "property" {
            return rejected("only executions and properties have endings and cycles");
        }
        lasso::check(certificate, &mut report)?;
    } else if certificate.kind == "property" {
        property::check(certificate, &mut report)?;
    } else if tables().any(|model| model.table.is_none()) {
        return Err(Fault::Undecided(NO_TABLE.to_owned()));
    } else if certificate.implementation.is_some() {
        relation::check(certificate, &mut report)?;
    } else {
        run::check(certificate, watched, &mut report)?;
    }
    if certificate.run.is_some() || certificate.seed.is_some() || certificate.patience.is_some() {
        let told = "that a run with this number and seed showed it, after that silence";
        report.told.push(told.to_owned());
    }
    Ok(report)
}

/// What all observers beside a run came to: whether one of them is violated, and where each is.
///
/// # Errors
///
/// Where one is violated before the end, or its table is wrong.
pub fn observe(
    certificate: &Certificate,
    watched: &[Watched],
) -> Result<(bool, Vec<String>), Fault> {
    let observed = match &certificate.observed {
        Some(Observation::Action(action)) if action == "deadlock" => Some("delta"),
        Some(Observation::Action(action)) => Some(action.as_str()),
        _ => None,
    };
    run::follow_observers(certificate, watched, observed)
}

/// An observer beside a model with data is proved or refuted, and nothing else is claimed beside it.
fn check_data_claim(certificate: &Certificate, data: &DataClaim) -> Outcome<()> {
    let verdict = match (&data.invariant, &data.run) {
        (Some(_), None) => "proved",
        (None, Some(_)) if data.faults.is_empty() => "refuted",
        _ => return rejected("it is a proof by an invariant, or a refutation by a run"),
    };
    if certificate.kind != "safety" || certificate.verdict != verdict {
        return rejected(format!(
            "it is of an observer, and the verdict is `{verdict}`"
        ));
    }
    let table = certificate
        .specification
        .as_ref()
        .map(|m| m.table.is_some());
    let plain = Certificate {
        model: certificate.model.clone(),
        trace: certificate.trace.clone(),
        locations: certificate.locations.clone(),
        specification: certificate.specification.clone(),
        data: certificate.data.clone(),
        files: certificate.files.clone(),
        reading: certificate.reading.clone(),
        ..Certificate::new("safety", verdict, &certificate.quiescence)
    };
    if table != Some(false) || *certificate != plain {
        return rejected("it is of a model without a table, and claims nothing else");
    }
    match certificate.quiescence.as_str() {
        "livelock" | "strict" | "fair" => Ok(()),
        other => rejected(format!("`{other}` is no policy of quiescence")),
    }
}

/// Format and files: each is what its hash says, each is used, and each model has one.
fn check_files(certificate: &Certificate, report: &mut Report) -> Outcome<()> {
    if certificate.format != FORMAT {
        return rejected(format!("`{}` is not {FORMAT}", certificate.format));
    }
    let models = [&certificate.specification, &certificate.implementation];
    let models = models.into_iter().flatten().map(|m| &m.reference);
    let observers = certificate.observers.iter().chain(&certificate.traces);
    let references = models
        .chain(observers.map(|o| &o.reference))
        .chain(certificate.data_observers.iter().map(|o| &o.reference))
        .chain(certificate.property.iter().map(|p| &p.reference))
        .chain(
            certificate
                .properties
                .iter()
                .map(|p| &p.automaton.reference),
        )
        .chain(certificate.test.iter().map(|t| &t.reference))
        .chain(certificate.suite.iter().map(|t| &t.reference))
        .chain(certificate.data.iter().map(|d| &d.observer));
    let references: Vec<&String> = references.collect();
    let is_in = |reference: &str, path: &str| {
        let rest = reference.strip_prefix(path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
    };
    for (k, file) in certificate.files.iter().enumerate() {
        if hash(file.text.as_bytes()) != file.hash {
            return rejected(format!("{}: the text does not have its hash", file.path));
        }
        if certificate.files[..k]
            .iter()
            .any(|other| other.path == file.path)
        {
            return rejected(format!("{} is there twice", file.path));
        }
        if !references
            .iter()
            .any(|reference| is_in(reference, &file.path))
        {
            report
                .notes
                .push(format!("{} is of no model here", file.path));
        }
    }
    for reference in references {
        let found = certificate
            .files
            .iter()
            .any(|file| is_in(reference, &file.path));
        if !found && !reference.starts_with("ltl:") {
            return rejected(format!("the text of {reference} is missing"));
        }
    }
    report
        .confirmed
        .push("files: each text has its hash".to_owned());
    check_name(certificate)
}

/// What judged is the test case, the specification or the property, with the hash of its file.
fn check_name(certificate: &Certificate) -> Outcome<()> {
    let Named {
        file,
        name,
        hash: told,
    } = &certificate.model;
    let file = file.as_deref().unwrap_or_default();
    let whole = match name {
        Some(name) => format!("{file}#{name}"),
        None => file.to_owned(),
    };
    let specification = certificate.specification.as_ref().map(|m| &m.reference);
    let property = certificate.property.as_ref().map(|p| &p.reference);
    let test = certificate.test.as_ref().map(|t| &t.reference);
    let judge = if suite::is_claimed(certificate) {
        specification
    } else {
        test.or(specification).or(property)
    };
    let formula = file.starts_with("ltl:") && judge.is_some_and(|judge| judge.starts_with(file));
    if judge != Some(&whole) && !formula {
        return rejected(format!("{whole} is not what judged"));
    }
    let own = match certificate.files.iter().find(|f| f.path == file) {
        Some(own) => own.hash.clone(),
        None => hash(file.trim_start_matches("ltl:").as_bytes()),
    };
    if told.as_ref().is_some_and(|told| *told != own) {
        return rejected(format!("{file}: this is not its hash"));
    }
    Ok(())
}

/// Compares a list with what was found: as a set it must be that; order and repetition are noted.
fn check_list<T: Ord + Clone>(
    what: &str,
    told: &[T],
    found: &std::collections::BTreeSet<T>,
    show: impl Fn(&T) -> String,
    report: &mut Report,
) -> Outcome<()> {
    if let Some(wrong) = told.iter().find(|item| !found.contains(item)) {
        return rejected(format!("{what}: {} is not among them", show(wrong)));
    }
    if let Some(missing) = found.iter().find(|item| !told.contains(item)) {
        return rejected(format!("{what}: {} is missing", show(missing)));
    }
    if told.len() > found.len() {
        report
            .notes
            .push(format!("{what}: something is there twice"));
    }
    report
        .confirmed
        .push(format!("{what}: all of it, and no more"));
    Ok(())
}
