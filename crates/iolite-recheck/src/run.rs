//! A run beside a specification: it failed, it violated an observer, or both; and a specification that
//! violates an observer itself.

use std::collections::BTreeSet;

use crate::channels::Channels;
use crate::document::{Certificate, Kind, Observation, Observer};
use crate::observer_orders::Orders;
use crate::property::as_observer;
use crate::queues::Queues;
use crate::system::{DELTA, Policy, States, System};
use crate::{Fault, Outcome, Report, Watched, check_list, rejected};

/// The actions of a list that must hold nothing else.
pub(crate) fn actions(list: &[Observation]) -> Outcome<Vec<String>> {
    let action = |o: &Observation| match o {
        Observation::Action(action) => Ok(action.clone()),
        Observation::Refusal(_) => rejected("allowed: a refusal among actions"),
    };
    list.iter().map(action).collect()
}

/// How a specification is followed.
struct Rules {
    /// δ may stand within the trace (ioco), or only at its end [LTS96, §6].
    suspension: bool,
    /// An input counts only where every state takes it (uioco).
    every_state: bool,
}

pub(crate) fn check(
    certificate: &Certificate,
    watched: Option<&[Watched]>,
    report: &mut Report,
) -> Outcome<()> {
    let kind = certificate.kind.as_str();
    let rules = Rules {
        suspension: !matches!(kind, "ioconf" | "ioconf-f"),
        every_state: kind == "uioco",
    };
    if !matches!(
        kind,
        "ioco" | "uioco" | "ioconf" | "ioconf-f" | "safety" | "purpose"
    ) {
        return rejected(format!("no run is judged by `{kind}`"));
    }
    if certificate.complete_inputs.is_some() {
        return rejected("nothing is completed where the implementation is no model");
    }
    if (kind == "ioconf-f") != certificate.traces.is_some() {
        return rejected("ioconf-f and a set of traces belong together");
    }
    let unwatched = certificate.observers.is_empty()
        && certificate.data_observers.is_empty()
        && certificate.properties.is_empty();
    if kind == "purpose" && !certificate.properties.is_empty() {
        return rejected("a purpose is no property");
    }
    if (kind == "safety") == unwatched && kind != "purpose" {
        return rejected("observers belong to safety, and to nothing else");
    }
    if certificate.property.is_some() || certificate.implementation_location.is_some() {
        return rejected("a run has neither a property nor a state of a model beside it");
    }
    let policy = Policy::parse(&certificate.quiescence)?;
    let s = crate::relation::system(certificate.specification.as_ref(), policy)?;
    let watched = match watched {
        Some(watched) => watched,
        None if certificate.data_observers.is_empty() => &[],
        None => {
            return Err(Fault::Undecided(
                "an observer has data and so no table; `iolite explain` solves for them".to_owned(),
            ));
        }
    };
    if certificate.verdict == "refuted" {
        return refuted(certificate, watched, &s, report);
    }
    let observed = match &certificate.observed {
        // A deadlock is silence that lasts.
        Some(Observation::Action(action)) if action == "deadlock" => DELTA,
        Some(Observation::Action(action)) => action.as_str(),
        Some(Observation::Refusal(_)) => return rejected("a run observes no refusals"),
        None => return rejected("no observation decided the verdict"),
    };
    if observed != DELTA && !observed.starts_with('!') {
        return rejected(format!("{observed} is neither an output nor delta"));
    }
    // `!o(…)` stands for values of an output that an unfolded model never gives, and is a label of it.
    if observed.ends_with("(…)") && !s.texts(Kind::Output).any(|own| own == observed) {
        return rejected(format!("the specification has no output {observed}"));
    }
    let (at, allowed, is_allowed) = match certificate.context.as_str() {
        "synchronous" if !certificate.channels.is_empty() => {
            return rejected("channels matter only through queues");
        }
        "synchronous" => synchronous(certificate, &s, &rules, observed)?,
        "queues" => through_queues(certificate, &s, &rules, observed)?,
        other => return rejected(format!("`{other}` is no context")),
    };
    let steps = certificate.trace.len();
    report
        .confirmed
        .push(format!("trace: {steps} steps that the specification has"));
    let (violated, observers) = follow_observers(certificate, watched, Some(observed))?;
    let right = match (is_allowed, violated && kind == "safety") {
        (true, true) => "violate",
        (true, false) => return rejected(format!("the specification allows {observed} there")),
        (false, true) => "violate-fail",
        (false, false) => "fail",
    };
    if certificate.verdict != right {
        let verdict = &certificate.verdict;
        return rejected(format!("the verdict is `{right}`, not `{verdict}`"));
    }
    report
        .confirmed
        .push(format!("verdict: {right}, from {observed} after the trace"));
    let told = actions(&certificate.allowed)?;
    check_list("allowed", &told, &allowed, Clone::clone, report)?;
    check_locations(certificate, &s, &at, observers, report)
}

/// Where the specification is, what it allows, and whether that holds the observation.
type AllowedThere = (States, BTreeSet<String>, bool);

fn synchronous(
    certificate: &Certificate,
    s: &System,
    rules: &Rules,
    observed: &str,
) -> Outcome<AllowedThere> {
    let mut at = s.start()?;
    for (k, action) in certificate.trace.iter().enumerate() {
        let step = k + 1;
        if rules.every_state && action.starts_with('?') {
            for &state in &at {
                if s.refuses(state, std::slice::from_ref(action))? {
                    return rejected(format!("step {step}: a state refuses {action}"));
                }
            }
        }
        at = s.after(&at, action, rules.suspension)?;
        if at.is_empty() && certificate.traces.is_none() {
            return rejected(format!(
                "step {step}: {action} leaves the specification's traces"
            ));
        }
    }
    if let Some(traces) = &certificate.traces {
        check_member(traces, &certificate.trace)?;
    }
    let allowed = s.out(&at)?;
    let is_allowed = allowed.contains(observed);
    Ok((at, allowed, is_allowed))
}

fn through_queues(
    certificate: &Certificate,
    s: &System,
    rules: &Rules,
    observed: &str,
) -> Outcome<AllowedThere> {
    if certificate.traces.is_some() {
        return Err(crate::Fault::Undecided(
            "sets of traces through queues are not re-checked".to_owned(),
        ));
    }
    if !certificate.channels.is_empty() {
        let channels = Channels::new(s, &certificate.channels, rules.every_state)?;
        return explained(channels, certificate, rules, observed);
    }
    let queues = Queues::new(s, rules.suspension, rules.every_state)?;
    explained(queues, certificate, rules, observed)
}

/// All explanations of what was observed, through one pair of queues or through several channels.
trait Explanations: Sized {
    fn after(&self, action: &str) -> Outcome<Self>;
    fn is_empty(&self) -> bool;
    fn states(&self) -> Outcome<States>;
    fn out(&self) -> Outcome<BTreeSet<String>>;
}

macro_rules! explanations {
    ($type:ident) => {
        impl Explanations for $type<'_> {
            fn after(&self, action: &str) -> Outcome<Self> {
                $type::after(self, action)
            }

            fn is_empty(&self) -> bool {
                $type::is_empty(self)
            }

            fn states(&self) -> Outcome<States> {
                $type::states(self)
            }

            fn out(&self) -> Outcome<BTreeSet<String>> {
                $type::out(self)
            }
        }
    };
}

explanations!(Queues);
explanations!(Channels);

/// Follows the trace; some explanation must be left after each step of it.
fn explained(
    mut at: impl Explanations,
    certificate: &Certificate,
    rules: &Rules,
    observed: &str,
) -> Outcome<AllowedThere> {
    for (k, action) in certificate.trace.iter().enumerate() {
        let step = k + 1;
        if action == DELTA && !rules.suspension {
            let kind = &certificate.kind;
            return rejected(format!(
                "step {step}: {kind} knows no silence within a trace"
            ));
        }
        at = at.after(action)?;
        if at.is_empty() {
            return rejected(format!(
                "step {step}: no order of messages explains {action}"
            ));
        }
    }
    let is_allowed = !at.after(observed)?.is_empty();
    Ok((at.states()?, at.out()?, is_allowed))
}

/// A specification that violates an observer itself [SAFE04, def. 6].
fn refuted(
    certificate: &Certificate,
    watched: &[Watched],
    s: &System,
    report: &mut Report,
) -> Outcome<()> {
    if certificate.kind != "safety" || certificate.context != "synchronous" {
        return rejected(
            "only a safety property of a specification is refuted, and without queues",
        );
    }
    if !certificate.properties.is_empty() {
        return rejected("a property is refuted by an execution");
    }
    if certificate.observed.is_some() || !certificate.allowed.is_empty() {
        return rejected("a refutation is its trace; nothing is observed after it");
    }
    let mut at = s.start()?;
    for (k, action) in certificate.trace.iter().enumerate() {
        at = s.after(&at, action, true)?;
        if at.is_empty() {
            let step = k + 1;
            return rejected(format!("step {step}: the specification cannot do {action}"));
        }
    }
    let steps = certificate.trace.len();
    report
        .confirmed
        .push(format!("trace: {steps} steps that the specification has"));
    let (violated, observers) = follow_observers(certificate, watched, None)?;
    if !violated {
        return rejected("the trace violates no observer");
    }
    report
        .confirmed
        .push("verdict: the observer is violated".to_owned());
    check_locations(certificate, s, &at, observers, report)
}

/// Whether an observer is violated by the trace and what was observed after it. Its place is the one
/// before the observation, or the violating one where there is none.
pub(crate) fn follow_observers(
    certificate: &Certificate,
    watched: &[Watched],
    observed: Option<&str>,
) -> Outcome<(bool, Vec<String>)> {
    let mut violated = watched.iter().any(|w| w.violated);
    let mut places: Vec<String> = watched.iter().map(|w| w.place.clone()).collect();
    let through_queues = certificate.context == "queues" && certificate.kind == "safety";
    let trace = certificate.trace.iter().map(String::as_str);
    let actions: BTreeSet<&str> = trace.chain(observed).collect();
    let properties = certificate.properties.iter();
    let properties = properties.map(|p| as_observer(p, &actions));
    let properties = properties.collect::<Outcome<Vec<Observer>>>()?;
    for observer in certificate.observers.iter().chain(&properties) {
        check_observer(observer)?;
        if through_queues && certificate.channels.is_empty() {
            let orders = Orders::of(observer, &certificate.trace)?;
            places.push(format!("{}: {}", observer.name, orders.places()));
            let end = observed.map_or_else(|| orders.clone(), |observed| orders.after(observed));
            violated |= end.is_violated();
            continue;
        }
        let mut at = Some(observer.initial);
        for (k, action) in certificate.trace.iter().enumerate() {
            at = at.and_then(|at| observer_step(observer, at, action));
            let last = observed.is_none() && k + 1 == certificate.trace.len();
            let early = at.is_some_and(|at| observer.marked.contains(&at)) && !last;
            if early && certificate.kind == "safety" {
                let (name, step) = (&observer.name, k + 1);
                return rejected(format!("{name} is violated before the end, at step {step}"));
            }
        }
        let place = at.map_or("left for good", |at| observer.states[at].as_str());
        places.push(format!("{}: {place}", observer.name));
        let end = match observed {
            Some(observed) => at.and_then(|at| observer_step(observer, at, observed)),
            None => at,
        };
        // Through several channels the tester's order proves nothing.
        let proves = certificate.channels.is_empty() || !through_queues;
        violated |= proves && end.is_some_and(|at| observer.marked.contains(&at));
    }
    Ok((violated, places))
}

pub(crate) fn check_observer(observer: &Observer) -> Outcome<()> {
    let count = observer.states.len();
    let fits = |&(from, label, to): &(usize, usize, usize)| {
        from < count && label < observer.labels.len() && to < count
    };
    let marks = observer.marked.iter().all(|&m| m < count);
    if observer.initial >= count || !observer.steps.iter().all(fits) || !marks {
        return rejected(format!("{}: a number is out of range", observer.name));
    }
    let mut keys: Vec<_> = observer
        .steps
        .iter()
        .map(|&(from, label, _)| (from, label))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    if keys.len() < observer.steps.len() {
        return rejected(format!("{} is not deterministic", observer.name));
    }
    Ok(())
}

/// The label of an action. One with values that no label has is `o(…)`, where there is such a label.
fn observer_label(observer: &Observer, action: &str) -> Option<usize> {
    let find = |text: &str| observer.labels.iter().position(|known| known == text);
    find(action).or_else(|| find(&format!("{}(…)", action.split_once('(')?.0)))
}

/// An action that the automaton does not know changes nothing.
pub(crate) fn observer_step(observer: &Observer, at: usize, action: &str) -> Option<usize> {
    let Some(label) = observer_label(observer, action) else {
        return Some(at);
    };
    let steps = &observer.steps;
    let step = steps
        .iter()
        .find(|&&(from, by, _)| (from, by) == (at, label));
    step.map(|&(.., to)| to)
}

/// The trace is in the set that an acceptor stands for.
pub(crate) fn check_member(traces: &Observer, trace: &[String]) -> Outcome<()> {
    check_observer(traces)?;
    if let Some(foreign) = trace.iter().find(|action| !traces.labels.contains(action)) {
        return rejected(format!("{} does not know {foreign}", traces.name));
    }
    let end = trace.iter().try_fold(traces.initial, |at, action| {
        observer_step(traces, at, action)
    });
    match end {
        Some(end) if traces.marked.contains(&end) => Ok(()),
        _ => rejected(format!("the trace is not in {}", traces.name)),
    }
}

/// The places are those of the specification after the trace, all of them, and of the observers.
pub(crate) fn check_locations(
    certificate: &Certificate,
    s: &System,
    at: &States,
    observers: Vec<String>,
    report: &mut Report,
) -> Outcome<()> {
    let found = at.iter().map(|&state| s.state(state).to_string());
    let found: BTreeSet<String> = found.chain(observers).collect();
    check_list(
        "locations",
        &certificate.locations,
        &found,
        Clone::clone,
        report,
    )
}
