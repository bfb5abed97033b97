//! Observers and test purposes with data beside a run, followed by formulas. The goals that testers
//! walk are not asked.

use std::sync::Arc;

use iolite_derive::{GoalMarks, ModelRef, valued_label};
use iolite_expr::{Answer, Solver, Term};
use iolite_lts::LabelKind;
use iolite_recheck::{Certificate, DataObserver, Observation, Watched};
use iolite_sts::{GivenConstant, LocationId, TraceStep, ValuedAction, Watch, WatchedStates};

use super::CheckOutcome;
use crate::{DataAutomaton, Error, GoalAutomaton, Spec, Workspace};

/// Points that are looked at for one step.
const BUDGET: usize = 2_000;

/// Orders of messages that are followed.
const MOST_ORDERS: usize = 1_000;

/// The conditions over the specification's constants under which it has a trace.
pub(super) type Known<'a> =
    &'a mut dyn FnMut(&[String], &mut Solver) -> Result<Vec<Term>, Arc<str>>;

/// An observer or a purpose with data, with what is known of its constants.
pub(super) struct Watcher {
    automaton: DataAutomaton,
    given: Vec<(String, GivenConstant)>,
}

/// Whether it is violated, and why that is not known.
enum Violation {
    Yes,
    No,
    Open(Arc<str>),
}

/// One order in which the system may have taken its inputs.
#[derive(Clone, PartialEq)]
struct Order {
    at: WatchedStates,
    violated: bool,
    /// How many of the inputs given last are not taken.
    untaken: usize,
}

impl Workspace {
    /// The watchers of a certificate.
    pub(super) fn watchers(
        &self,
        claim: &Certificate,
        spec: &Spec,
    ) -> Result<Result<Vec<Watcher>, CheckOutcome>, Error> {
        let mut all = Vec::new();
        for named in &claim.data_observers {
            let one = [ModelRef::from(named.reference.as_str())];
            let goals = match claim.kind.as_str() {
                "purpose" => self.goals(&[], &one, spec),
                _ => self.goals(&one, &[], spec),
            };
            let refuted = |reason: String| {
                let reference = &named.reference;
                Ok(Err(CheckOutcome::Refuted(format!("{reference}: {reason}"))))
            };
            match goals.as_deref() {
                Ok([GoalAutomaton::Data(automaton)]) => {
                    match Watcher::new(automaton.clone(), spec, named) {
                        Ok(watcher) => all.push(watcher),
                        Err(reason) => return refuted(reason),
                    }
                }
                Ok(_) => return refuted("it is not one observer with data".to_owned()),
                Err(e) => return refuted(e.to_string()),
            }
        }
        Ok(Ok(all))
    }
}

impl Watcher {
    pub(super) fn new(
        automaton: DataAutomaton,
        spec: &Spec,
        named: &DataObserver,
    ) -> Result<Self, String> {
        let model = match spec {
            Spec::Symbolic(spec) => Some(spec.model()),
            Spec::Explicit(spec) => spec.signature().map(crate::Signature::model),
            Spec::Properties(_) => None,
        };
        let mut own = Vec::new();
        for text in &named.constants {
            let (name, value) = text
                .split_once('=')
                .ok_or_else(|| format!("`{text}` is not of the form NAME=VALUE"))?;
            own.push((name.trim(), value.trim()));
        }
        let constants: Vec<_> = automaton.iosts.constants().to_vec();
        let mut given = Vec::new();
        for constant in &constants {
            let name = &*constant.var.name;
            let value = |list: &[(&str, &str)]| {
                let (_, text) = list.iter().find(|(n, _)| *n == name)?;
                automaton.constant(name, text)
            };
            let shared = model.and_then(|model| {
                let same = |c: &&iolite_sts::Constant| {
                    c.var.name == constant.var.name && c.var.sort == constant.var.sort
                };
                model.constants().iter().find(same)
            });
            let own_value = value(&own);
            own.retain(|(n, _)| *n != name);
            let known = match (shared, own_value) {
                (Some(_), Some(_)) => {
                    return Err(format!("`{name}` is the specification's to say"));
                }
                (None, Some(value)) => GivenConstant::Value(value.map_err(|e| e.to_string())?),
                (Some(shared), None) => GivenConstant::Shared(shared.var.clone()),
                (None, None) => continue,
            };
            given.push((name.to_owned(), known));
        }
        if let Some((name, _)) = own.first() {
            return Err(format!("it has no constant `{name}`, or it is given twice"));
        }
        Ok(Self { automaton, given })
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        self.automaton.iosts.name()
    }

    fn is_shared(&self) -> bool {
        let shared =
            |(_, given): &(String, GivenConstant)| matches!(given, GivenConstant::Shared(_));
        self.given.iter().any(shared)
    }

    /// Where it is violated; a purpose nowhere.
    fn violating(&self) -> &[LocationId] {
        match &self.automaton.marks {
            GoalMarks::Violate(all) => all,
            GoalMarks::Purpose { .. } => &[],
        }
    }

    /// The step that an action of the specification is to it; `None` where it does not know it.
    fn step(&self, spec: &Spec, text: &str) -> Option<TraceStep> {
        let own = &self.automaton.iosts;
        if matches!(text, "delta" | "deadlock") {
            let mut gates = own.gates();
            let known = gates.any(|(_, gate)| gate.kind == LabelKind::Delta);
            return known.then_some(TraceStep::Delta);
        }
        let (kind, name, values) = match spec {
            Spec::Symbolic(spec) => {
                let valued = iolite_lang::parse_action(spec.file(), spec.model(), text)?;
                let gate = spec.model().gate(valued.action);
                (gate.kind, gate.name.to_string(), valued.values)
            }
            Spec::Explicit(spec) => {
                if let Some(signature) = spec.signature() {
                    let valued = signature.parse(text)?;
                    let gate = signature.model().gate(valued.action);
                    (gate.kind, gate.name.to_string(), valued.values)
                } else {
                    let kind = match text.as_bytes().first()? {
                        b'?' => LabelKind::Input,
                        b'!' => LabelKind::Output,
                        _ => return None,
                    };
                    return valued_label(own, kind, &text[1..]).map(TraceStep::Action);
                }
            }
            Spec::Properties(_) => return None,
        };
        let action = own.find_gate(kind, &name)?;
        let fits = own.gate(action).params.len() == values.len();
        fits.then_some(TraceStep::Action(ValuedAction { action, values }))
    }
}

/// A watcher beside a specification.
pub(super) struct Following<'a> {
    watcher: &'a Watcher,
    watch: Watch<'a>,
    spec: &'a Spec,
    solver: &'a mut Solver,
}

impl<'a> Following<'a> {
    pub(super) fn new(
        watcher: &'a Watcher,
        spec: &'a Spec,
        solver: &'a mut Solver,
    ) -> Result<Self, Arc<str>> {
        let watch = Watch::new(&watcher.automaton.iosts, &watcher.given, solver, BUDGET)?;
        Ok(Self {
            watcher,
            watch,
            spec,
            solver,
        })
    }

    fn after(&mut self, at: &WatchedStates, action: &str) -> Result<WatchedStates, Arc<str>> {
        match self.watcher.step(self.spec, action) {
            Some(step) => self.watch.after(at, &step, self.solver),
            None => Ok(at.clone()),
        }
    }

    /// Whether it is violated, for all values of shared constants that explain the trace.
    fn violation(
        &mut self,
        at: &WatchedStates,
        trace: &[String],
        known: Known<'_>,
    ) -> Result<Violation, Arc<str>> {
        let violating = self.watcher.violating();
        if !at.may_be_at(violating) {
            return Ok(Violation::No);
        }
        if !self.watcher.is_shared() {
            return Ok(Violation::Yes);
        }
        let ways = self.watch.ways_to(at, violating, self.solver);
        let eliminated = ways.iter().all(Option::is_some);
        let otherwise = Term::any(ways.into_iter().flatten()).negated();
        let explained = Term::any(known(trace, self.solver)?);
        let query = Term::all([explained, otherwise]);
        Ok(match self.solver.check_with(&query) {
            Answer::Unsat => Violation::Yes,
            Answer::Sat(_) if eliminated => Violation::No,
            Answer::Sat(_) => {
                Violation::Open("what it does not know could not be eliminated".into())
            }
            Answer::Unknown(why) => Violation::Open(why),
        })
    }

    /// What it comes to beside a run in which messages are taken as they are seen.
    fn in_step(
        &mut self,
        trace: &[String],
        observed: Option<&str>,
        known: Known<'_>,
    ) -> Result<Result<Watched, String>, Arc<str>> {
        let mut at = self.watch.start();
        let name = self.watcher.name().to_owned();
        let mut violated = false;
        for (k, action) in trace.iter().enumerate() {
            at = self.after(&at, action)?;
            violated = match self.violation(&at, &trace[..=k], known)? {
                Violation::Yes => true,
                Violation::No => false,
                Violation::Open(why) => return Err(why),
            };
            if violated && (observed.is_some() || k + 1 < trace.len()) {
                let step = k + 1;
                return Ok(Err(format!(
                    "{name} is violated before the end, at step {step}"
                )));
            }
        }
        let place = self.place(std::iter::once(&at));
        if let Some(observed) = observed {
            let mut whole = trace.to_vec();
            whole.push(observed.to_owned());
            at = self.after(&at, observed)?;
            violated = match self.violation(&at, &whole, known)? {
                Violation::Yes => true,
                Violation::No => false,
                Violation::Open(why) => return Err(why),
            };
        }
        Ok(Ok(Watched { violated, place }))
    }

    fn place<'s>(&self, all: impl Iterator<Item = &'s WatchedStates>) -> String {
        let mut places = std::collections::BTreeSet::new();
        for at in all {
            if at.is_empty() {
                places.insert("left for good".to_owned());
            }
            places.extend(self.watch.places(at));
        }
        let places: Vec<String> = places.into_iter().collect();
        format!("{}: {}", self.watcher.name(), places.join(" or "))
    }

    /// Every order after one more action.
    fn orders_after(
        &mut self,
        orders: Vec<Order>,
        given: &mut Vec<String>,
        action: &str,
    ) -> Result<Vec<Order>, Arc<str>> {
        if action.starts_with('?') {
            given.push(action.to_owned());
            let longer = orders.into_iter().map(|order| Order {
                untaken: order.untaken + 1,
                ..order
            });
            return Ok(longer.collect());
        }
        let mut next: Vec<Order> = Vec::new();
        for order in orders {
            for way in self.taking(order, given)? {
                if matches!(action, "delta" | "deadlock") && way.untaken > 0 {
                    continue;
                }
                let way = self.observing(way, action)?;
                if !next.contains(&way) {
                    next.push(way);
                }
            }
            if next.len() > MOST_ORDERS {
                return Err(format!("more than {MOST_ORDERS} orders explain the trace").into());
            }
        }
        Ok(next)
    }

    /// An order, and those in which it has taken more of its inputs.
    fn taking(&mut self, order: Order, given: &[String]) -> Result<Vec<Order>, Arc<str>> {
        let mut all = vec![order];
        while let Some(last) = all.last()
            && last.untaken > 0
        {
            let input = given[given.len() - last.untaken].clone();
            let mut next = self.observing(last.clone(), &input)?;
            next.untaken -= 1;
            all.push(next);
        }
        Ok(all)
    }

    fn observing(&mut self, mut order: Order, action: &str) -> Result<Order, Arc<str>> {
        if !order.violated {
            order.at = self.after(&order.at, action)?;
            order.violated = order.at.may_be_at(self.watcher.violating());
        }
        Ok(order)
    }

    /// What it comes to in every order that a FIFO each way allows.
    fn in_every_order(
        &mut self,
        trace: &[String],
        observed: Option<&str>,
    ) -> Result<Result<Watched, String>, Arc<str>> {
        if self.watcher.is_shared() {
            return Err(
                "constants that the observer shares are unknown, and so is the order".into(),
            );
        }
        let (mut orders, mut given) = (self.first_orders(), Vec::new());
        for (k, action) in trace.iter().enumerate() {
            orders = self.orders_after(orders, &mut given, action)?;
            if orders.iter().all(|order| order.violated) {
                let (name, step) = (self.watcher.name(), k + 1);
                return Ok(Err(format!(
                    "{name} is violated before the end, at step {step}"
                )));
            }
        }
        let place = self.place_in_orders(&orders, &given)?;
        if let Some(observed) = observed {
            orders = self.orders_after(orders, &mut given, observed)?;
        }
        let violated = orders.iter().all(|order| order.violated);
        Ok(Ok(Watched { violated, place }))
    }

    fn first_orders(&self) -> Vec<Order> {
        vec![Order {
            at: self.watch.start(),
            violated: false,
            untaken: 0,
        }]
    }

    fn place_in_orders(&mut self, orders: &[Order], given: &[String]) -> Result<String, Arc<str>> {
        let mut all = Vec::new();
        for order in orders {
            all.extend(self.taking(order.clone(), given)?);
        }
        Ok(self.place(all.iter().map(|order| &order.at)))
    }

    /// Where it is after a trace.
    pub(super) fn place_after(
        &mut self,
        trace: &[String],
        every_order: bool,
    ) -> Result<String, Arc<str>> {
        if every_order {
            let (mut orders, mut given) = (self.first_orders(), Vec::new());
            for action in trace {
                orders = self.orders_after(orders, &mut given, action)?;
            }
            return self.place_in_orders(&orders, &given);
        }
        let mut at = self.watch.start();
        for action in trace {
            at = self.after(&at, action)?;
        }
        Ok(self.place(std::iter::once(&at)))
    }
}

/// What each observer with data came to beside a run.
pub(super) fn watched(
    watchers: &[Watcher],
    claim: &Certificate,
    spec: &Spec,
    solver: &mut Solver,
    known: Known<'_>,
) -> Result<Vec<Watched>, CheckOutcome> {
    let observed = match &claim.observed {
        Some(Observation::Action(action)) => Some(action.as_str()),
        _ => None,
    };
    let safety = claim.kind == "safety";
    let queues = claim.context == "queues" && safety;
    let mut all = Vec::new();
    for watcher in watchers {
        let undecided =
            |why: Arc<str>| CheckOutcome::Undecided(format!("{}: {why}", watcher.name()));
        let mut following = Following::new(watcher, spec, solver).map_err(undecided)?;
        let found = if queues && claim.channels.is_empty() {
            following.in_every_order(&claim.trace, observed)
        } else {
            following.in_step(&claim.trace, observed, known)
        };
        let mut found = found.map_err(undecided)?.map_err(CheckOutcome::Refuted)?;
        // Through several channels the tester's order proves nothing.
        found.violated &= safety && (!queues || claim.channels.is_empty());
        all.push(found);
    }
    Ok(all)
}
