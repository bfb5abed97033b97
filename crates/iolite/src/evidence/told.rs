//! Whether what a certificate says was allowed after a run of a model with data, and where the model was, is so.
//! The tester that wrote it is not asked: both sides are conditions, of the texts and of all ways through the
//! locations, and the solver says whether one holds where the other does not.

use std::collections::BTreeSet;
use std::sync::Arc;

use iolite_expr::{Answer, Kind, Op, Solver, Term, Value, Var};
use iolite_recheck::{Certificate, Channel, Observation};
use iolite_sts::{Beside, Iosts, OUT_OF_POINTS, PathPlace, WORK_OF_A_POINT, space};

use super::CheckOutcome;
use super::data::{BUDGET, Between, DataRun, WHOLE_BUDGET};
use super::data_channels::Channels;
use super::told_texts::{Entry, Shown, Texts, equal};
use crate::Error;

/// What formulas say of the texts of a certificate.
pub(super) enum ToldBy {
    /// They are true.
    Formulas,
    /// Those that are listed are true, and others were left out.
    Listed,
    /// What is allowed is true, and all of it where nothing was left out.
    Allowed {
        /// Whether nothing was left out.
        whole: bool,
        /// Whether the model is where it is said to be, and nowhere else.
        places: bool,
    },
    /// They are not true.
    Not(String),
    /// They have no meaning in the language.
    Unread,
    /// It was not found out, and why.
    Open(String),
}

/// A place, and whether silence is explained there: through queues only where every input was taken.
pub(super) struct Stage {
    pub(super) place: PathPlace,
    pub(super) settled: bool,
}

impl DataRun<'_> {
    /// Looks at the texts of a certificate; `beside` is where the observers are.
    pub(super) fn recheck_told(
        &self,
        claim: &Certificate,
        beside: &[String],
    ) -> Result<ToldBy, Error> {
        let action = |o: &Observation| match o {
            Observation::Action(action) => Some(action.clone()),
            Observation::Refusal(_) => None,
        };
        let allowed: Option<Vec<String>> = claim.allowed.iter().map(action).collect();
        let Some(mut allowed) = allowed else {
            let reason = "a refusal is allowed where there are outputs and silence";
            return Ok(ToldBy::Not(reason.to_owned()));
        };
        if let Some(missing) = beside.iter().find(|place| !claim.locations.contains(place)) {
            return Ok(ToldBy::Not(format!(
                "locations: {missing} is not among them"
            )));
        }
        let mut places = claim.locations.clone();
        places.retain(|place| !beside.contains(place));
        let left_out = LeftOut {
            allowed: shortened(&mut allowed),
            places: shortened(&mut places),
        };
        let crossed = match Between::of(claim) {
            Between::Channels(channels) => Some(channels),
            Between::Nothing | Between::Queues => None,
        };
        let texts = Texts {
            model: self.model,
            allowed: &allowed,
            // Through several channels each is asked by itself: the tester does not know all orders.
            places: if crossed.is_some() { &[] } else { &places },
        };
        let readings = texts.readings();
        if readings.is_empty() {
            return Ok(ToldBy::Unread);
        }
        let mut solver = crate::solver(self.solver)?;
        solver.set_deadline(self.until);
        let found = if let Some(channels) = crossed {
            self.found_through(channels, &claim.trace)?
        } else {
            let through_queues = claim.context == "queues";
            self.found_at(&claim.trace, through_queues, &mut solver)?
        };
        let (found, known) = match found {
            Ok(found) => found,
            Err(why) => return Ok(ToldBy::Open(why)),
        };
        let mut comparison = Comparison {
            model: self.model,
            solver: &mut solver,
            more: (left_out.allowed.is_some(), left_out.places.is_some()),
        };
        let mut last = ToldBy::Unread;
        for told in readings {
            last = match comparison.compare(&told, &found, &known) {
                Ok(None) if crossed.is_some() => ToldBy::Allowed {
                    whole: left_out.allowed.is_none(),
                    places: false,
                },
                Ok(None) => match comparison.counts(&left_out, &told, &found) {
                    Some(true) => ToldBy::Formulas,
                    Some(false) => ToldBy::Not(OTHER_NUMBER.to_owned()),
                    None => ToldBy::Listed,
                },
                Ok(Some(reason)) => ToldBy::Not(reason),
                Err(why) => ToldBy::Open(why.to_string()),
            };
            if !matches!(last, ToldBy::Not(_) | ToldBy::Open(_)) {
                break;
            }
        }
        crate::answers_count(&solver)?;
        if let (ToldBy::Allowed { places: told, .. }, Some(channels)) = (&mut last, crossed) {
            *told =
                left_out.places.is_none() && self.are_places(&places, channels, &claim.trace)?;
        }
        Ok(last)
    }

    /// Whether places through several channels are those that formulas say, and no others. Where they are not, or that is
    /// not found out, they are the tester's word.
    fn are_places(
        &self,
        places: &[String],
        channels: &[Channel],
        trace: &[String],
    ) -> Result<bool, Error> {
        let texts = Texts {
            model: self.model,
            allowed: &[],
            places,
        };
        let Ok(found) = Channels::new(self, channels)?.places(trace)? else {
            return Ok(false);
        };
        let known = Term::any(found.iter().map(|place| place.condition.clone()));
        let Ok(found) = found.iter().map(|place| self.entry(place)).collect() else {
            return Ok(false);
        };
        let found: Vec<Entry> = found;
        let mut solver = crate::solver(self.solver)?;
        solver.set_deadline(self.until);
        let mut comparison = Comparison {
            model: self.model,
            solver: &mut solver,
            more: (false, false),
        };
        let mut readings = texts.readings().into_iter();
        let same = readings.any(|told| {
            let differ = comparison.compare(&told, &found, &known);
            matches!(differ, Ok(None))
        });
        crate::answers_count(&solver)?;
        Ok(same)
    }

    /// A place with its values, as what texts are compared with.
    fn entry(&self, place: &PathPlace) -> Result<Entry, Arc<str>> {
        let variables = self.model.variables().iter().zip(&place.values);
        let values = variables.map(|(v, value)| equal(&v.var.term(), value));
        let mut parts: Vec<Term> = values
            .collect::<Option<_>>()
            .ok_or("values that cannot be compared")?;
        parts.insert(0, place.condition.clone());
        Ok(Entry {
            what: Shown::Place(place.location),
            condition: Term::all(parts).simplify(),
        })
    }

    /// What is allowed through several channels, and when the model has the trace.
    fn found_through(
        &self,
        channels: &[Channel],
        trace: &[String],
    ) -> Result<Result<(Vec<Entry>, Term), String>, Error> {
        let found = Channels::new(self, channels)?.allowed(trace)?;
        Ok(match found {
            Ok((found, known)) => Ok((found, Term::any(known))),
            Err(CheckOutcome::Refuted(why) | CheckOutcome::Undecided(why)) => Err(why),
            Err(CheckOutcome::Confirmed) => Ok((Vec::new(), false.into())),
        })
    }

    /// What is allowed, and where the model is, and when it has the trace.
    fn found_at(
        &self,
        trace: &[String],
        through_queues: bool,
        solver: &mut Solver,
    ) -> Result<Result<(Vec<Entry>, Term), String>, Error> {
        let stages = match self.stages(trace, through_queues, solver)? {
            Ok(stages) => stages,
            Err(why) => return Ok(Err(why)),
        };
        let known = Term::any(stages.iter().map(|s| s.place.condition.clone()));
        let found = self.entries(&stages, solver);
        Ok(found.map(|f| (f, known)).map_err(|why| why.to_string()))
    }

    /// What is allowed, and where the model is, by formulas.
    fn entries(&self, stages: &[Stage], solver: &mut Solver) -> Result<Vec<Entry>, Arc<str>> {
        let mut found = Vec::new();
        for Stage { place, settled } in stages {
            for (gate, condition) in self.model.outputs_at(place)? {
                let what = Shown::Output(gate);
                found.push(Entry { what, condition });
            }
            if *settled {
                for condition in self.model.silence_at(place, self.policy, solver, BUDGET)? {
                    let what = Shown::Delta;
                    found.push(Entry { what, condition });
                }
            }
            found.push(self.entry(place)?);
        }
        Ok(found)
    }

    /// Everywhere that the model may be after a trace.
    fn stages(
        &self,
        texts: &[String],
        through_queues: bool,
        solver: &mut Solver,
    ) -> Result<Result<Vec<Stage>, String>, Error> {
        let Some(trace) = self.steps(texts) else {
            return Ok(Err(
                "the specification does not have all actions of the trace".to_owned(),
            ));
        };
        let locals = if through_queues {
            match self.explained(&trace)? {
                Ok(locals) => locals,
                Err(CheckOutcome::Refuted(why) | CheckOutcome::Undecided(why)) => {
                    return Ok(Err(why));
                }
                Err(CheckOutcome::Confirmed) => Vec::new(),
            }
        } else {
            vec![(trace, true)]
        };
        let mut stages = Vec::new();
        for (local, settled) in locals {
            let mut fronts = self.fronts.borrow_mut();
            match fronts.places(&local, Beside::default(), solver) {
                Ok(places) => {
                    stages.extend(places.into_iter().map(|place| Stage { place, settled }));
                }
                Err(why) => return Ok(Err(why.to_string())),
            }
        }
        Ok(Ok(stages))
    }
}

/// That another number of entries was left out than formulas count.
pub(super) const OTHER_NUMBER: &str = "how many more are allowed, or where, is something else";

/// How many entries the lists of a certificate are said to leave out.
struct LeftOut {
    allowed: Option<usize>,
    places: Option<usize>,
}

/// An output, δ or place with the value of each parameter or variable; `None` where its condition says less, or more.
fn valued(model: &Iosts, entry: &Entry) -> Option<(Shown, Vec<String>)> {
    let data: Vec<&Var> = match entry.what {
        Shown::Output(gate) => model.gate(gate).params.iter().collect(),
        Shown::Delta => Vec::new(),
        Shown::Place(_) => model.variables().iter().map(|v| &v.var).collect(),
    };
    let mut values: Vec<Option<String>> = vec![None; data.len()];
    let condition = entry.condition.simplify();
    for part in parts(&condition, &Op::And) {
        let (var, value) = match part.kind() {
            Kind::Var(var) => (var.id, Value::from(true).to_string()),
            Kind::App(Op::Not, of) => (of[0].as_var()?.id, Value::from(false).to_string()),
            _ if part.is_true() => continue,
            _ => {
                let (term, value) = equation(&part)?;
                (term.as_var()?.id, value.to_string())
            }
        };
        let at = data.iter().position(|v| v.id == var)?;
        if values[at].replace(value).is_some() {
            return None;
        }
    }
    let values = values.into_iter().collect::<Option<Vec<String>>>()?;
    Some((entry.what, values))
}

/// Takes out texts that say how many were left out, and adds these numbers up.
fn shortened(texts: &mut Vec<String>) -> Option<usize> {
    let mut all = None;
    texts.retain(|text| {
        let number = text.strip_prefix("… and ");
        let number = number.and_then(|text| text.strip_suffix(" more"));
        let number = number.and_then(|n| n.parse::<usize>().ok());
        if let Some(number) = number {
            all = Some(number.saturating_add(all.unwrap_or_default()));
        }
        number.is_none()
    });
    all
}

struct Comparison<'a> {
    model: &'a Iosts,
    solver: &'a mut Solver,
    /// Whether outputs and δ, and places, are left out of the texts.
    more: (bool, bool),
}

impl Comparison<'_> {
    /// Whether as many entries are left out as is said, where every entry is one output, δ or place with all its values, so that they
    /// can be counted; `None` where one stands for many.
    fn counts(&mut self, left_out: &LeftOut, told: &[Entry], found: &[Entry]) -> Option<bool> {
        let mut right = true;
        for (number, places) in [(left_out.allowed, false), (left_out.places, true)] {
            if let Some(number) = number {
                let all = self.count(told, places)?.checked_add(number);
                right &= all == Some(self.count(found, places)?);
            }
        }
        Some(right)
    }

    /// How many outputs and δ, or places, these are.
    fn count(&mut self, entries: &[Entry], places: bool) -> Option<usize> {
        let mut all = BTreeSet::new();
        for entry in entries {
            if matches!(entry.what, Shown::Place(_)) != places {
                continue;
            }
            match valued(self.model, entry) {
                Some(one) => drop(all.insert(one)),
                // What is so under no condition is not there.
                None if matches!(self.solver.check_with(&entry.condition), Answer::Unsat) => {}
                None => return None,
            }
        }
        Some(all.len())
    }

    /// Where the texts and what was found differ, for the constants that explain the trace. Texts that read no
    /// constants may also tell of what is so for some values of theirs.
    fn compare(
        &mut self,
        told: &[Entry],
        found: &[Entry],
        known: &Term,
    ) -> Result<Option<String>, Arc<str>> {
        let constants: Vec<Var> = self
            .model
            .constants()
            .iter()
            .map(|c| c.var.clone())
            .collect();
        let first = self.differ(told, found, known, &[]);
        let reads = |e: &Entry| constants.iter().any(|c| e.condition.reads(c.id));
        if matches!(first, Ok(None)) || constants.is_empty() || told.iter().any(reads) {
            return first;
        }
        match self.differ(told, found, &true.into(), &constants) {
            Ok(None) => Ok(None),
            _ => first,
        }
    }

    fn differ(
        &mut self,
        told: &[Entry],
        found: &[Entry],
        known: &Term,
        constants: &[Var],
    ) -> Result<Option<String>, Arc<str>> {
        let all = told.iter().chain(found).map(|entry| entry.what);
        let all: BTreeSet<Shown> = all.collect();
        for what in all {
            let of = |entries: &[Entry]| -> Vec<Term> {
                let own = entries.iter().filter(|entry| entry.what == what);
                own.map(|entry| entry.condition.clone()).collect()
            };
            let (told, found) = (of(told), of(found));
            let is_found = self.some(&found, constants);
            for condition in &told {
                let condition = self.without_unknowns(condition, &[]).0;
                if self.holds_outside(&[known, &condition], &is_found)? {
                    let name = self.name(what);
                    return Ok(Some(format!("{name} is not so wherever it is said to be")));
                }
            }
            let left_out = match what {
                Shown::Place(_) => self.more.1,
                Shown::Output(_) | Shown::Delta => self.more.0,
            };
            if left_out {
                continue;
            }
            let is_told = self.some(&told, &[]);
            for condition in &found {
                let condition = self.without_unknowns(condition, &[]).0;
                if self.holds_outside(&[&condition], &is_told)? {
                    let name = self.name(what);
                    return Ok(Some(format!("{name} is so where it is not said to be")));
                }
            }
        }
        Ok(None)
    }

    /// That one of the conditions holds, for some values that are not known, and some of these constants.
    fn some(&mut self, conditions: &[Term], constants: &[Var]) -> Term {
        let some = conditions.iter().map(|condition| {
            let (condition, open) = self.without_unknowns(condition, constants);
            if open.is_empty() {
                condition
            } else {
                Term::exists(open, condition)
            }
        });
        Term::any(some.collect::<Vec<_>>())
    }

    /// A condition without values that are not known and without these constants, and those that could not be
    /// eliminated. A record that internal actions handed over is known by its fields, and a solver that is asked
    /// about both sides of that has to find it out again.
    fn without_unknowns(&mut self, condition: &Term, constants: &[Var]) -> (Term, Vec<Var>) {
        let total = Term::all([condition.defined(), condition.clone()]).simplify();
        let free = total.free_vars().into_iter();
        let open: Vec<Var> = free
            .filter(|v| v.id.space() == space::UNKNOWN || constants.contains(v))
            .collect();
        if open.is_empty() {
            return (total, open);
        }
        match self.solver.eliminate(&open, &total) {
            Some(closed) => (closed, Vec::new()),
            None => (total, open),
        }
    }

    fn holds_outside(&mut self, conditions: &[&Term], of: &Term) -> Result<bool, Arc<str>> {
        let given = Term::all(conditions.iter().map(|&c| c.clone())).simplify();
        let query = Term::all([given.clone(), within(&given, of).negated()]).simplify();
        if query.is_false() {
            return Ok(false);
        }
        if self.solver.stats().work > WHOLE_BUDGET * WORK_OF_A_POINT {
            return Err(OUT_OF_POINTS.into());
        }
        match self.solver.check_with(&query) {
            Answer::Unsat => Ok(false),
            Answer::Sat(_) => Ok(true),
            Answer::Unknown(why) => Err(why),
        }
    }

    fn name(&self, what: Shown) -> String {
        match what {
            Shown::Output(gate) => format!("allowed: !{}", self.model.gate(gate).name),
            Shown::Delta => "allowed: delta".to_owned(),
            Shown::Place(location) => {
                format!("locations: {}", self.model.location(location).name)
            }
        }
    }
}

/// A choice where a condition holds: without ways that contradict a part of it, and without parts of ways that are parts of
/// it. Places with all their values are compared by this alone, and no solver has to look into lists and records.
fn within(given: &Term, choice: &Term) -> Term {
    let given = parts(given, &Op::And);
    let known: Vec<(&Term, &Value)> = given.iter().filter_map(|part| equation(part)).collect();
    let contradicts = |part: &Term| {
        let other = equation(part).is_some_and(|(term, value)| {
            let mut same = known.iter().filter(|(known, _)| *known == term);
            same.any(|(_, known)| *known != value)
        });
        let negated = |one: &Term, other: &Term| match one.kind() {
            Kind::App(Op::Not, of) => of[0] == *other,
            _ => false,
        };
        let mut given = given.iter();
        other || given.any(|known| negated(known, part) || negated(part, known))
    };
    let mut left = Vec::new();
    for way in parts(choice, &Op::Or) {
        let mut rest = parts(&way, &Op::And);
        if rest.iter().any(contradicts) {
            continue;
        }
        rest.retain(|part| !given.contains(part));
        left.push(Term::all(rest));
    }
    Term::any(left)
}

/// A term and the value that an equation gives it.
fn equation(part: &Term) -> Option<(&Term, &Value)> {
    let Kind::App(Op::Eq, sides) = part.kind() else {
        return None;
    };
    match &sides[..] {
        [term, value] | [value, term] if value.as_value().is_some() => {
            Some((term, value.as_value()?))
        }
        _ => None,
    }
}

/// The operands of a conjunction or a disjunction, or the term itself.
fn parts(term: &Term, of: &Op) -> Vec<Term> {
    let mut all = Vec::new();
    let mut todo = vec![term];
    while let Some(term) = todo.pop() {
        match term.kind() {
            Kind::App(op, args) if op == of => todo.extend(args.iter()),
            _ => all.push(term.clone()),
        }
    }
    all
}
