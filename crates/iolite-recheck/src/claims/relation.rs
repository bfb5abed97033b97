//! Two models: an implementation that is not in a relation to a specification.

use std::collections::BTreeSet;

use crate::definitions::observer::check_member;
use crate::definitions::system::{DELTA, Policy, States, System};
use crate::format::document::{Certificate, Kind, Observation};
use crate::lists::check_list;
use crate::lists::{actions, check_locations};
use crate::{Outcome, Report, rejected};

/// The two systems, and where they are after the trace.
struct Both {
    i: System,
    s: System,
    at_i: States,
    at_s: States,
}

/// The claim that a relation does not hold.
pub(crate) fn check(certificate: &Certificate, report: &mut Report) -> Outcome<()> {
    let kind = certificate.kind.as_str();
    let directed = matches!(kind, "iot" | "ioconf" | "ioconf-f" | "ioco" | "uioco");
    if !directed && !matches!(kind, "trace" | "testing" | "conf") {
        return rejected(format!("`{kind}` is no relation between two models"));
    }
    if certificate.verdict != "fail" {
        let verdict = &certificate.verdict;
        return rejected(format!(
            "`{verdict}` is not what a relation that does not hold gives"
        ));
    }
    if !certificate.observers.is_empty() || certificate.property.is_some() {
        return rejected("a relation knows neither observers nor properties");
    }
    if !certificate.channels.is_empty() {
        return rejected("models are related through one queue each way");
    }
    match certificate.context.as_str() {
        "synchronous" => {}
        "queues" => return super::relation_queues::check(certificate, report),
        other => return rejected(format!("`{other}` is no context")),
    }
    let both = walk(certificate, directed)?;
    report.confirmed.push(format!(
        "trace: {} steps of both models, and the relation asks for them",
        certificate.trace.len()
    ));
    match &certificate.observed {
        Some(Observation::Action(action)) => {
            observed_action(certificate, directed, &both, action, report)?;
        }
        Some(Observation::Refusal(refusal)) => {
            observed_refusal(certificate, &both, &refusal.refuses, report)?;
        }
        None => return rejected("nothing was observed"),
    }
    check_locations(certificate, &both.s, &both.at_s, Vec::new(), report)
}

/// The two systems; the implementation takes every input.
pub(crate) fn systems(certificate: &Certificate, directed: bool) -> Outcome<(System, System)> {
    let policy = Policy::parse(&certificate.quiescence)?;
    let mut i = System::of(certificate.implementation.as_ref(), policy)?;
    let s = System::of(certificate.specification.as_ref(), policy)?;
    if let Some(how) = &certificate.complete_inputs {
        i.complete(how, s.labels())?;
    } else if directed && let Some((state, input)) = i.lacks_input()? {
        let state = &i.state(state).state;
        return rejected(format!(
            "{state} of the implementation does not take {input}"
        ));
    }
    Ok((i, s))
}

/// Steps both systems along the trace, as far as the relation speaks of it.
fn walk(certificate: &Certificate, directed: bool) -> Outcome<Both> {
    let kind = certificate.kind.as_str();
    let (i, s) = systems(certificate, directed)?;
    if (kind == "ioconf-f") != certificate.traces.is_some() {
        return rejected("ioconf-f and a set of traces belong together");
    }
    if let Some(traces) = &certificate.traces {
        check_member(traces, &certificate.trace)?;
    }
    let suspension = matches!(kind, "ioco" | "uioco");
    // ≤te, ≤iot and ioconf_F speak of traces outside the specification too.
    let within = !matches!(kind, "testing" | "iot" | "ioconf-f");
    let (mut at_i, mut at_s) = (i.start()?, s.start()?);
    for (k, action) in certificate.trace.iter().enumerate() {
        let step = k + 1;
        if kind == "uioco" && action.starts_with('?') {
            for &state in &at_s {
                if s.refuses(state, std::slice::from_ref(action))? {
                    return rejected(format!(
                        "step {step}: a state of the specification refuses {action}"
                    ));
                }
            }
        }
        at_i = i.after(&at_i, action, suspension)?;
        at_s = s.after(&at_s, action, suspension)?;
        if at_i.is_empty() {
            return rejected(format!(
                "step {step}: the implementation cannot do {action}"
            ));
        }
        if at_s.is_empty() && within {
            return rejected(format!(
                "step {step}: {action} leaves the specification's traces"
            ));
        }
    }
    Ok(Both { i, s, at_i, at_s })
}

fn observed_action(
    certificate: &Certificate,
    directed: bool,
    both: &Both,
    action: &String,
    report: &mut Report,
) -> Outcome<()> {
    let Both { i, s, at_i, at_s } = both;
    let kind = certificate.kind.as_str();
    if matches!(kind, "testing" | "conf") {
        return rejected("a refusal is needed, not an action");
    }
    if directed && action != DELTA && !action.starts_with('!') {
        return rejected(format!("{action} is neither an output nor delta"));
    }
    if i.after(at_i, action, directed)?.is_empty() {
        return rejected(format!("the implementation cannot show {action} there"));
    }
    if !s.after(at_s, action, directed)?.is_empty() {
        return rejected(format!("the specification allows {action} there"));
    }
    report.confirmed.push(format!(
        "observed: {action}, which the implementation shows and the specification does not"
    ));
    let allowed = if directed {
        s.out(at_s)?
    } else {
        s.enabled(at_s)?
    };
    let told = actions(&certificate.allowed)?;
    check_list("allowed", &told, &allowed, Clone::clone, report)?;
    implementation_place(certificate, both, report, |state| {
        let here = i.close(States::from([state]))?;
        Ok(!i.after(&here, action, directed)?.is_empty())
    })
}

fn observed_refusal(
    certificate: &Certificate,
    both: &Both,
    refused: &[String],
    report: &mut Report,
) -> Outcome<()> {
    let Both { i, s, at_i, at_s } = both;
    if !matches!(certificate.kind.as_str(), "testing" | "conf") {
        return rejected("an action is needed, not a refusal");
    }
    let mut refuses = false;
    for &state in at_i {
        refuses |= i.refuses(state, refused)?;
    }
    if !refuses {
        return rejected("the implementation cannot refuse that there");
    }
    let mut largest = Vec::new();
    let kinds = [Kind::Plain, Kind::Input, Kind::Output];
    let labels = |x: &System| {
        kinds
            .iter()
            .flat_map(|&k| x.texts(k).cloned().collect::<Vec<_>>())
            .collect()
    };
    let mut alphabet: BTreeSet<String> = labels(i);
    let of_s: BTreeSet<String> = labels(s);
    alphabet.extend(of_s);
    if let Some(foreign) = refused.iter().find(|a| !alphabet.contains(*a)) {
        return rejected(format!("no model has the action {foreign}"));
    }
    for &state in at_s {
        if s.refuses(state, refused)? {
            return rejected("the specification may refuse that there");
        }
        let enabled = s.enabled(&s.close(States::from([state]))?)?;
        largest.push(&alphabet - &enabled);
    }
    report.confirmed.push(
        "observed: a refusal that the implementation shows and the specification does not"
            .to_owned(),
    );
    // A specification that may refuse a set may refuse its subsets, so largest sets say it all.
    let mut told: Vec<BTreeSet<String>> = Vec::new();
    for allowed in &certificate.allowed {
        match allowed {
            Observation::Refusal(set) => told.push(set.refuses.iter().cloned().collect()),
            Observation::Action(action) => {
                return rejected(format!("allowed: {action} is no refusal"));
            }
        }
    }
    let covered = |x: &BTreeSet<String>, by: &[BTreeSet<String>]| by.iter().any(|y| x.is_subset(y));
    if told.iter().any(|set| !covered(set, &largest)) {
        return rejected("allowed: the specification may not refuse so much");
    }
    if largest.iter().any(|set| !covered(set, &told)) {
        return rejected("allowed: the specification may refuse more");
    }
    if (0..told.len()).any(|k| (0..told.len()).any(|j| j != k && told[k].is_subset(&told[j]))) {
        report
            .notes
            .push("allowed: a set lies in another one".to_owned());
    }
    report
        .confirmed
        .push("allowed: all of it, and no more".to_owned());
    implementation_place(certificate, both, report, |state| i.refuses(state, refused))
}

/// One state of the implementation after the trace that has this name shows the observation.
fn implementation_place(
    certificate: &Certificate,
    both: &Both,
    report: &mut Report,
    shows: impl Fn(usize) -> Outcome<bool>,
) -> Outcome<()> {
    let Some(place) = &certificate.implementation_location else {
        report
            .notes
            .push("it does not say where the implementation is".to_owned());
        return Ok(());
    };
    for &state in &both.at_i {
        if both.i.state(state).to_string() == *place && shows(state)? {
            report
                .confirmed
                .push("the place of the implementation".to_owned());
            return Ok(());
        }
    }
    rejected(format!("the implementation does not show it in {place}"))
}
