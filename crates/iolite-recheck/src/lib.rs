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
//! `definitions` are those of the papers, `claims` compares each kind of claim with them, `format` is what a certificate
//! holds and knows no definition. README.md has an order to read them in, with what each establishes.

mod claims;
mod definitions;
mod format;
mod lists;
mod outcome;

use claims::{data_claim, holding, lasso, property, relation, run, satisfied, suite, test_run};
use format::files;
use outcome::{Outcome, rejected};

pub use outcome::{Fault, Report};

pub use format::document::{
    Certificate, Channel, DataClaim, DataObserver, Execution, FORMAT, Group, Kind,
    LocationCondition, Model, Named, Observation, Observer, Pair, Pairs, Property, QueuePlaces,
    Refusal, SourceText, State, Table, Test, TestState, TestStep, ValuedRun, ValuedStep,
    WatchedProperty, hash,
};

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
    files::check_files(certificate, &mut report)?;
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
        || certificate.execution.is_some();
    let satisfied = certificate.pairs.is_some() && certificate.kind == "property";
    let assumed = certificate.fairness.is_some() || certificate.environment.is_some();
    if assumed && !execution && !satisfied {
        return rejected("what is fair matters for executions alone");
    }
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
        data_claim::check(certificate, data)?;
        return Err(Fault::Undecided(NO_TABLE.to_owned()));
    }
    if certificate.pairs.is_some() && tables().any(|model| model.table.is_none()) {
        return rejected("pairs are of tables, and one is missing");
    }
    let alone = claims.contains(&true) || certificate.kind == "property";
    let beside = !certificate.data_observers.is_empty() || !certificate.properties.is_empty();
    if beside && (alone || certificate.implementation.is_some()) {
        return rejected(
            "observers with data and properties belong to runs beside a specification",
        );
    }
    if satisfied {
        satisfied::check(certificate, &mut report)?;
    } else if certificate.pairs.is_some() {
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

/// What this checker takes from the certificate of a property with guards; who can read the property can look at it.
pub const LETTERS_OF_VALUES: &str = "which letter of the property each action with values is";

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
