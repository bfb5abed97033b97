//! A run beside a specification: it failed, it violated an observer, or both; and a specification that
//! violates an observer itself.

use std::collections::BTreeSet;

use crate::claims::run_queues::through_queues;
use crate::definitions::observer::{check_member, check_observer, observer_step};
use crate::definitions::observer_orders::Orders;
use crate::definitions::property_observer::as_observer;
use crate::definitions::system::{DELTA, Policy, States, System};
use crate::format::document::{Certificate, Kind, Observation, Observer};
use crate::lists::{actions, check_list, check_locations};
use crate::{Fault, LETTERS_OF_VALUES, Outcome, Report, Watched, rejected};

/// How a specification is followed.
pub(crate) struct Rules {
    /// δ may stand within the trace (ioco), or only at its end [LTS96, §6].
    pub(crate) suspension: bool,
    /// An input counts only where every state takes it (uioco).
    pub(crate) every_state: bool,
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
    let s = System::of(certificate.specification.as_ref(), policy)?;
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
    let mut properties = certificate.properties.iter();
    if properties.any(|p| !p.automaton.values.is_empty()) {
        report.told.push(LETTERS_OF_VALUES.to_owned());
    }
    let told = actions(&certificate.allowed)?;
    check_list("allowed", &told, &allowed, Clone::clone, report)?;
    check_locations(certificate, &s, &at, observers, report)
}

/// Where the specification is, what it allows, and whether that holds the observation.
pub(crate) type AllowedThere = (States, BTreeSet<String>, bool);

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
