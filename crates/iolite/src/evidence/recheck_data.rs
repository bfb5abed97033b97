//! Claims about models with data, which have no table.

use std::collections::BTreeSet;
use std::time::Instant;

use iolite_derive::{ModelRef, location};
use iolite_lts::QuiescencePolicy;
use iolite_lts::relation::{follow_run, follow_run_in_queues};
use iolite_recheck::{Certificate, Fault, LETTERS_OF_VALUES, Observation, check_beside, observe};

use super::certify::Reading;
use super::told::{OTHER_NUMBER, ToldBy};
use super::watcher::{Known, watched};
use super::{CheckOutcome, ExplainOptions, Part, READER, RECHECK, data, policy};
use crate::{Error, Spec, System, Workspace, solver};

const TOO_LONG: &str = "the run was too long for its certificate; see the journal";

/// The route for models with data.
pub(super) const FORMULAS: &str = "one formula for each way through the locations, and the solver";

/// What the specification allows after a trace, and where it is then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AllowedThere {
    pub(super) allowed: Vec<String>,
    pub(super) locations: Vec<String>,
}

impl AllowedThere {
    /// What stepping along the trace of a run gives.
    pub(super) fn of(
        model: &System,
        policy: QuiescencePolicy,
        claim: &Certificate,
    ) -> Option<Self> {
        if !claim.channels.is_empty() {
            return None;
        }
        let suspension = !matches!(claim.kind.as_str(), "ioconf" | "ioconf-f" | "iot");
        let found = match claim.context.as_str() {
            "queues" => follow_run_in_queues(model, policy, claim.kind == "uioco", &claim.trace)?,
            _ => follow_run(model, policy, suspension, &claim.trace)?,
        };
        let locations = found.states.iter().map(|&s| location(model, s));
        Some(Self {
            locations: locations.collect(),
            allowed: found.allowed,
        })
    }

    /// The same, with the places of observers.
    fn beside(mut self, observers: &[String]) -> Self {
        self.locations.extend_from_slice(observers);
        self
    }

    /// Whether the certificate says the same.
    fn is_told_by(&self, claim: &Certificate) -> Told {
        let set = |texts: &[String]| texts.iter().cloned().collect::<BTreeSet<String>>();
        let action = |o: &Observation| match o {
            Observation::Action(action) => Some(action.clone()),
            Observation::Refusal(_) => None,
        };
        let allowed: Option<Vec<String>> = claim.allowed.iter().map(action).collect();
        let Some(allowed) = allowed else {
            return Told::No;
        };
        let (places, outputs) = (set(&self.locations), set(&self.allowed));
        if places != set(&claim.locations) || outputs != set(&allowed) {
            return Told::No;
        }
        let more = claim.locations.len() > places.len() || allowed.len() > outputs.len();
        if more { Told::Twice } else { Told::Yes }
    }
}

impl Workspace {
    /// A table is the union of its instances over unknown constants. That a run is wrong there does not
    /// prove that it is wrong for all of them.
    pub(super) fn recheck_constants(
        &self,
        claim: &Certificate,
        options: &ExplainOptions,
    ) -> Result<CheckOutcome, Error> {
        let model = claim.specification.as_ref();
        let Some(model) = model.filter(|_| claim.implementation.is_none()) else {
            return Ok(CheckOutcome::Confirmed);
        };
        let spec = self.spec(&model.reference.as_str().into())?;
        let Spec::Symbolic(symbolic) = &*spec else {
            return Ok(CheckOutcome::Confirmed);
        };
        let run = data::DataRun {
            spec: &spec,
            model: symbolic.model(),
            policy: policy(claim),
            solver: options.solver.as_deref(),
            until: options.until.as_ref().map(|(until, _)| *until),
            every_state: claim.kind == "uioco",
            of_the_union: false,
            fronts: data::fronts(symbolic.model(), policy(claim)),
        };
        let between = data::Between::of(claim);
        let observed = match &claim.observed {
            Some(Observation::Action(action)) => Some(action.as_str()),
            _ => None,
        };
        let crossed = !matches!(between, data::Between::Nothing);
        if !crossed || observed.is_none() || symbolic.model().constants().is_empty() {
            return run.recheck_constants(&claim.trace);
        }
        // Through queues each order asks for it.
        Ok(match run.is_allowed(&claim.trace, observed, between)? {
            Ok(_) => CheckOutcome::Confirmed,
            Err(checked) => checked,
        })
    }

    /// A run of a model with data, or beside observers with data, looked at by formulas; `None` where
    /// that is not what is missing.
    pub(super) fn recheck_data(
        &self,
        claim: &Certificate,
        reading: &Reading,
        options: &ExplainOptions,
    ) -> Result<Option<DataReport>, Error> {
        let Some(model) = &claim.specification else {
            return Ok(None);
        };
        let by_data = model.table.is_none() || !claim.data_observers.is_empty();
        if !by_data {
            return Ok(None);
        }
        let undecided = |reason: &str| Ok(Some(DataReport::undecided(reason)));
        if claim.trace_omitted > 0 {
            return undecided(TOO_LONG);
        }
        if !matches!(claim.quiescence.as_str(), "livelock" | "strict" | "fair") {
            let reason = format!("`{}` is no policy of quiescence here", claim.quiescence);
            return Ok(Some(DataReport::refuted(reason)));
        }
        let mut report = if let Some(implementation) = &claim.implementation {
            self.recheck_difference(claim, implementation, model, options)?
        } else if model.table.is_some() {
            self.recheck_beside(claim, reading, options)?
        } else if matches!(
            claim.kind.as_str(),
            "ioco" | "uioco" | "ioconf" | "safety" | "purpose"
        ) && matches!(claim.context.as_str(), "synchronous" | "queues")
        {
            self.recheck_run(claim, &model.reference, reading, options)?
        } else {
            return Ok(None);
        };
        if let (CheckOutcome::Undecided(_), Some((until, reason))) =
            (&report.checked, &options.until)
            && Instant::now() >= *until
        {
            report.checked = CheckOutcome::Undecided(reason.clone());
        }
        Ok(Some(report))
    }

    /// Observers with data beside a specification that has a table: formulas for them, the checker for
    /// the rest.
    fn recheck_beside(
        &self,
        claim: &Certificate,
        reading: &Reading,
        options: &ExplainOptions,
    ) -> Result<DataReport, Error> {
        let reference = claim.specification.as_ref().map(|m| m.reference.clone());
        let reference = ModelRef::from(reference.unwrap_or_default().as_str());
        let spec = Spec::Explicit(self.explicit(&reference)?);
        let watchers = match self.watchers(claim, &spec)? {
            Ok(watchers) => watchers,
            Err(checked) => return Ok(checked.into()),
        };
        let mut solver = solver(options.solver.as_deref())?;
        solver.set_deadline(options.until.as_ref().map(|(until, _)| *until));
        let any: Known<'_> = &mut |_, _| Ok(vec![true.into()]);
        let watched = match watched(&watchers, claim, &spec, &mut solver, any) {
            Ok(watched) => watched,
            Err(checked) => return Ok(checked.into()),
        };
        Ok(match check_beside(claim, Some(&watched)) {
            Err(Fault::Rejected(reason)) => DataReport::refuted(reason),
            Err(Fault::Undecided(reason)) => DataReport::undecided(&reason),
            Ok(found) => {
                let mut report = DataReport::from(CheckOutcome::Confirmed);
                let confirmed = found.confirmed.into_iter();
                report.parts = confirmed.map(|what| part(&what, RECHECK)).collect();
                report.parts.push(part(OBSERVERS, FORMULAS));
                (report.notes, report.told) = (found.notes, found.told);
                match self.compare_tables(claim, reading) {
                    Ok(what) => {
                        report.parts.push(part(&what, READER));
                        report.told.retain(|told| told != LETTERS_OF_VALUES);
                    }
                    Err(checked) => report.checked = checked,
                }
                report
            }
        })
    }

    /// A run beside a specification that has no table.
    fn recheck_run(
        &self,
        claim: &Certificate,
        reference: &str,
        reading: &Reading,
        options: &ExplainOptions,
    ) -> Result<DataReport, Error> {
        let spec = self.spec(&reference.into())?;
        let Spec::Symbolic(model) = &*spec else {
            let reason = "the model has no data, so its table must be there".to_owned();
            return Ok(DataReport::refuted(reason));
        };
        if claim.kind == "ioconf" && claim.trace.iter().any(|action| action == "delta") {
            let reason = "ioconf knows no silence within a trace".to_owned();
            return Ok(DataReport::refuted(reason));
        }
        if let Some(reason) = misplaced(claim) {
            return Ok(DataReport::refuted(reason.to_owned()));
        }
        let observed = match &claim.observed {
            Some(Observation::Action(action)) => Some(action.clone()),
            _ => None,
        };
        let until = options.until.as_ref().map(|(until, _)| *until);
        let run = data::DataRun {
            spec: &spec,
            model: model.model(),
            policy: policy(claim),
            solver: options.solver.as_deref(),
            until,
            every_state: claim.kind == "uioco",
            of_the_union: false,
            fronts: data::fronts(model.model(), policy(claim)),
        };
        let between = data::Between::of(claim);
        let allowed = match run.is_allowed(&claim.trace, observed.as_deref(), between)? {
            Ok(allowed) => allowed,
            Err(checked) => return Ok(checked.into()),
        };
        let watchers = match self.watchers(claim, &spec)? {
            Ok(watchers) => watchers,
            Err(checked) => return Ok(checked.into()),
        };
        let mut own = solver(options.solver.as_deref())?;
        own.set_deadline(until);
        let known: Known<'_> = &mut |trace, solver| run.conditions(trace, solver);
        let watched = match watched(&watchers, claim, &spec, &mut own, known) {
            Ok(watched) => watched,
            Err(checked) => return Ok(checked.into()),
        };
        let (violated, places) = match observe(claim, &watched) {
            Ok(found) => found,
            Err(Fault::Rejected(reason)) => return Ok(DataReport::refuted(reason)),
            Err(Fault::Undecided(reason)) => return Ok(DataReport::undecided(&reason)),
        };
        let shown = observed.unwrap_or_default();
        let foreign = data::step(&spec, model.model(), &shown).is_none();
        let right = match (allowed, violated && claim.kind == "safety") {
            (true, true) => "violate",
            (true, false) => {
                let reason = format!("the specification allows {shown} there");
                return Ok(DataReport::refuted(reason));
            }
            (false, true) => "violate-fail",
            (false, false) => "fail",
        };
        if claim.verdict != right {
            let verdict = &claim.verdict;
            let reason = format!("the verdict is `{right}`, not `{verdict}`");
            return Ok(DataReport::refuted(reason));
        }
        if let Err(checked) = self.compare_observers(claim, reading, &spec) {
            return Ok(checked.into());
        }
        let mut report = DataReport::from(CheckOutcome::Confirmed);
        report
            .parts
            .push(part("files: each text has its hash", RECHECK));
        let how = if allowed {
            "the specification allows what was observed"
        } else {
            "no way explains what was observed"
        };
        let what = format!("trace and verdict: {right}, {how}");
        report.parts.push(part(&what, FORMULAS));
        if foreign && !shown.ends_with("(…)") {
            let note = format!("observed: {shown} is no action of the specification");
            report.notes.push(note);
        }
        if !claim.observers.is_empty() {
            let what = "observers without data: their tables, and where each is";
            report.parts.push(part(what, RECHECK));
        }
        if !claim.properties.is_empty() {
            let what = "properties: their automata, and where each is";
            report.parts.push(part(what, RECHECK));
        }
        if !claim.data_observers.is_empty() {
            report.parts.push(part(OBSERVERS, FORMULAS));
        }
        if claim.run.is_some() || claim.seed.is_some() || claim.patience.is_some() {
            let told = "that a run with this number and seed showed it, after that silence";
            report.told.push(told.to_owned());
        }
        // A replaced specification allows other things.
        if options.specification.is_none() {
            Self::recheck_told(&run, claim, &places, &mut report)?;
        }
        Ok(report)
    }

    /// Whether what a certificate says was allowed, and where, is so by formulas. The tester, which wrote it, is asked how
    /// it would have written it, and confirms nothing: what formulas do not decide is left open. `beside` is where the
    /// observers are.
    pub(super) fn recheck_told(
        run: &data::DataRun<'_>,
        claim: &Certificate,
        beside: &[String],
        report: &mut DataReport,
    ) -> Result<(), Error> {
        let by = run.recheck_told(claim, beside)?;
        if let ToldBy::Not(reason) = by {
            *report = DataReport::refuted(reason);
            return Ok(());
        }
        let found = run.found(&claim.trace, data::Between::of(claim))?;
        let found = found.map(|found| found.beside(beside));
        if let ToldBy::Allowed { whole, places } = by {
            report.note_allowed(claim, found.as_ref(), whole, places);
            return Ok(());
        }
        let spelled = found.map_or(Told::No, |f| f.is_told_by(claim));
        match (by, spelled) {
            (ToldBy::Formulas, Told::No) => {
                report.parts.push(part(ALLOWED, FORMULAS));
                let note = "allowed or locations: they are so, and the tester would have written them in \
                            other words";
                report.notes.push(note.to_owned());
            }
            (ToldBy::Formulas, _) => report.parts.push(part(ALLOWED, FORMULAS)),
            (ToldBy::Listed, Told::Yes | Told::Twice) => {
                report
                    .parts
                    .push(part("allowed and locations that are listed", FORMULAS));
                let more = "allowed and locations: how many more there are";
                report.not_rechecked.push(more.to_owned());
            }
            (ToldBy::Listed, Told::No) => {
                *report = DataReport::refuted(OTHER_NUMBER.to_owned());
            }
            (ToldBy::Unread, Told::Yes | Told::Twice) => {
                report.leave_open("they have no meaning in the language");
            }
            (ToldBy::Open(why), _) => report.leave_open(&why),
            (ToldBy::Unread | ToldBy::Not(_) | ToldBy::Allowed { .. }, _) => {
                let reason = "what is allowed, or where, is something else".to_owned();
                *report = DataReport::refuted(reason);
            }
        }
        if spelled == Told::Twice && report.checked == CheckOutcome::Confirmed {
            report.notes.push(TWICE.to_owned());
        }
        Ok(())
    }
}

const TWICE: &str = "allowed or locations: something is there twice";

/// What a certificate tells of, beside its verdict.
const ALLOWED: &str = "allowed and locations";

/// What a run beside a model with data cannot have.
fn misplaced(claim: &Certificate) -> Option<&'static str> {
    let unwatched = claim.observers.is_empty()
        && claim.data_observers.is_empty()
        && claim.properties.is_empty();
    if claim.context == "synchronous" && !claim.channels.is_empty() {
        Some("channels matter only through queues")
    } else if claim.complete_inputs.is_some() {
        Some("nothing is completed where the implementation is no model")
    } else if claim.traces.is_some() {
        Some("ioconf-f and a set of traces belong together")
    } else if claim.property.is_some() || claim.implementation_location.is_some() {
        Some("a run has neither a property nor a state of a model beside it")
    } else if claim.kind != "safety" && !claim.properties.is_empty() {
        Some("properties belong to safety, and to nothing else")
    } else if (claim.kind == "safety") == unwatched && claim.kind != "purpose" {
        Some("observers belong to safety, and to nothing else")
    } else {
        None
    }
}

/// Observers with data, as they are told of.
const OBSERVERS: &str = "observers with data: whether they are violated, and where they are";

pub(super) fn part(what: &str, by: &'static str) -> Part {
    let what = what.to_owned();
    Part { what, by }
}

/// What formulas have shown of a certificate.
pub(super) struct DataReport {
    pub(super) checked: CheckOutcome,
    pub(super) parts: Vec<Part>,
    pub(super) notes: Vec<String>,
    pub(super) told: Vec<String>,
    /// Parts that nobody says but the tester.
    pub(super) not_rechecked: Vec<String>,
}

impl From<CheckOutcome> for DataReport {
    fn from(checked: CheckOutcome) -> Self {
        Self {
            checked,
            parts: Vec::new(),
            notes: Vec::new(),
            told: Vec::new(),
            not_rechecked: Vec::new(),
        }
    }
}

impl DataReport {
    pub(super) fn refuted(reason: String) -> Self {
        CheckOutcome::Refuted(reason).into()
    }

    pub(super) fn undecided(reason: &str) -> Self {
        CheckOutcome::Undecided(reason.to_owned()).into()
    }

    /// Through several channels what was allowed is confirmed. Where the system was is confirmed where formulas come to the
    /// same (`placed`); else the tester alone says it.
    fn note_allowed(
        &mut self,
        claim: &Certificate,
        tester: Option<&AllowedThere>,
        whole: bool,
        placed: bool,
    ) {
        let set = |texts: &[String]| texts.iter().cloned().collect::<BTreeSet<String>>();
        let places = set(&claim.locations);
        if tester.is_none_or(|tester| set(&tester.locations) != places) {
            let reason = "locations: the tester that wrote them gives others".to_owned();
            *self = Self::refuted(reason);
            return;
        }
        let what = if whole {
            "allowed: all of it, and no more"
        } else {
            let more = "allowed: how many more there are";
            self.not_rechecked.push(more.to_owned());
            "allowed: what is listed"
        };
        self.parts.push(part(what, FORMULAS));
        if placed {
            let what = "locations: all of them, and no more";
            self.parts.push(part(what, FORMULAS));
        } else {
            self.not_rechecked.push("locations".to_owned());
        }
        let once = |o: &Observation| claim.allowed.iter().filter(|other| *other == o).count() == 1;
        if places.len() < claim.locations.len() || !claim.allowed.iter().all(once) {
            self.notes.push(TWICE.to_owned());
        }
    }

    /// What was allowed, and where, is confirmed by nobody but the tester that wrote it; the other parts stay confirmed.
    fn leave_open(&mut self, why: &str) {
        self.not_rechecked.push(ALLOWED.to_owned());
        let reason = format!("{ALLOWED} are not re-checked independently: {why}");
        self.checked = CheckOutcome::Undecided(reason);
    }
}

/// Whether a certificate says what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Yes,
    /// It does, and something of it twice.
    Twice,
    No,
}
