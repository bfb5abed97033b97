//! A specification that does not satisfy a property: one execution of it that is not in Π [PROP12,
//! def. 3]. It may end, or go round for ever.

use std::collections::BTreeSet;

use crate::definitions::executions::{Fairness, check_alone, fairness};
use crate::definitions::streett::{letter, no_continuation, step};
use crate::definitions::system::{DELTA, Policy, States, System};
use crate::format::document::{Certificate, Kind, Property};
use crate::{LETTERS_OF_VALUES, Outcome, Report, rejected};

pub(crate) fn check(certificate: &Certificate, report: &mut Report) -> Outcome<()> {
    let (Some(property), Some(ending)) = (&certificate.property, &certificate.ending) else {
        return rejected("the property, or how the execution goes on, is missing");
    };
    check_alone(certificate, property)?;
    if certificate.verdict != "refuted" {
        return rejected("an execution outside of a property refutes it");
    }
    if (ending == "cycle") != certificate.cycle.is_some() {
        return rejected("a cycle, and that there is one, belong together");
    }
    let policy = Policy::parse(&certificate.quiescence)?;
    let s = System::of(certificate.specification.as_ref(), policy)?;
    let own_delta = property.letters.iter().any(|letter| letter == DELTA);
    let mut at = s.start()?;
    let mut q = property.initial;
    for (k, action) in certificate.trace.iter().enumerate() {
        at = s.after(&at, action, own_delta)?;
        if at.is_empty() {
            let step = k + 1;
            return rejected(format!("step {step}: the specification cannot do {action}"));
        }
        q = step(property, q, action);
    }
    let steps = certificate.trace.len();
    report
        .confirmed
        .push(format!("trace: {steps} steps that the specification has"));
    let fair = fairness(certificate)?;
    if let Some(execution) = &certificate.execution {
        let end = steps_of(
            &s,
            s.initial(),
            &execution.stem,
            &certificate.trace,
            own_delta,
        )?;
        at = States::from([end]);
        if ending == "cycle" {
            at = s.close(at)?;
        }
        let visible = certificate.cycle.as_deref().unwrap_or_default();
        if ending != "cycle" && !execution.cycle.is_empty() {
            return rejected("an execution that ends has no steps after that");
        }
        if ending == "cycle" {
            let back = steps_of(&s, end, &execution.cycle, visible, own_delta)?;
            if back != end || execution.cycle.is_empty() {
                return rejected("the cycle does not lead back to where it begins");
            }
            check_fair(&s, fair, end, &execution.cycle)?;
        }
        let steps = execution.stem.len() + execution.cycle.len();
        report
            .confirmed
            .push(format!("execution: {steps} steps of the table, and fair"));
    } else if fair != Fairness::default() {
        return rejected("what is fair depends on the steps, and they are missing");
    }
    if fair.goes_on && ending == "output-lock" {
        return rejected("the environment would give another input");
    }
    let outside = !property.finite.contains(&q);
    let how = match ending.as_str() {
        "bad-prefix" => {
            no_continuation(property, q)?;
            "no continuation of the trace is in the property"
        }
        "output-lock" | "deadlock" => {
            let silent = |kind: &Kind| match ending.as_str() {
                "deadlock" => false,
                _ => matches!(kind, Kind::Input | Kind::Plain),
            };
            let mut waits = false;
            for &state in &at {
                waits |= s.steps(state)?.iter().all(|(kind, ..)| silent(kind));
            }
            if !waits || own_delta {
                return rejected("the specification does not end there");
            }
            if !outside {
                return rejected("the trace is in the property");
            }
            "the execution ends outside of the property"
        }
        "cycle" => cycle(certificate, property, &s, at, q)?,
        other => return rejected(format!("`{other}` is no way for an execution to go on")),
    };
    if !property.values.is_empty() {
        report.told.push(LETTERS_OF_VALUES.to_owned());
    }
    report.confirmed.push(format!("verdict: refuted, {how}"));
    Ok(())
}

/// Follows steps of the table; those that can be seen must be these. Gives the state that they lead to.
fn steps_of(
    s: &System,
    from: usize,
    steps: &[(String, usize)],
    visible: &[String],
    own_delta: bool,
) -> Outcome<usize> {
    let mut at = from;
    let mut seen = Vec::new();
    for (action, to) in steps {
        if action == DELTA {
            if !own_delta || to != &at || !s.is_quiescent(at)? {
                return rejected(format!("{} is not silent", s.state(at)));
            }
            seen.push(action.clone());
            continue;
        }
        let row = s.steps(at)?;
        let step = row
            .iter()
            .find(|(_, text, next)| text == action && next == to);
        let Some((kind, ..)) = step else {
            return rejected(format!("{} has no such step {action}", s.state(at)));
        };
        if *kind != Kind::Internal {
            seen.push(action.clone());
        }
        at = *to;
    }
    if seen != visible {
        return rejected("the steps do not show what the claim says");
    }
    Ok(at)
}

/// Nothing that the specification owes is neglected for ever on a cycle.
fn check_fair(s: &System, fair: Fairness, start: usize, cycle: &[(String, usize)]) -> Outcome<()> {
    let states: States = cycle.iter().map(|&(_, to)| to).chain([start]).collect();
    let waits = cycle.iter().all(|(action, _)| action == DELTA);
    if waits && fair.goes_on {
        let row = s.steps(start)?;
        let has = |wanted: Kind| row.iter().any(|(kind, ..)| *kind == wanted);
        if has(Kind::Input) && !has(Kind::Internal) {
            return rejected("the environment would give another input");
        }
    }
    let mut owed: BTreeSet<String> = BTreeSet::new();
    let mut first = true;
    for &state in &states {
        let row = s.steps(state)?;
        let own = row
            .iter()
            .filter(|(kind, ..)| matches!(kind, Kind::Output | Kind::Internal));
        let own: BTreeSet<String> = own.map(|(_, text, _)| (*text).to_owned()).collect();
        owed = match (fair.strong, fair.weak, first) {
            (true, ..) => owed.union(&own).cloned().collect(),
            (false, true, true) => own,
            (false, true, false) => owed.intersection(&own).cloned().collect(),
            (false, false, _) => owed,
        };
        first = false;
    }
    match owed
        .iter()
        .find(|text| !cycle.iter().any(|(action, _)| action == *text))
    {
        Some(text) => rejected(format!("{text} is neglected, so the execution is not fair")),
        None => Ok(()),
    }
}

/// The specification can go round for ever, and the property rejects that.
fn cycle(
    certificate: &Certificate,
    property: &Property,
    s: &System,
    mut at: States,
    mut q: usize,
) -> Outcome<&'static str> {
    let cycle = certificate.cycle.as_deref().unwrap_or_default();
    let own_delta = property.letters.iter().any(|letter| letter == DELTA);
    let sees = |action: &String| letter(property, action).is_some();
    if cycle.is_empty() {
        if own_delta {
            return rejected("the property sees the silence of a livelock, and it never ends");
        }
        let mut stays = false;
        for &state in &at {
            let moves = s.steps(state)?.iter().any(|(k, ..)| *k == Kind::Internal);
            stays |= moves && s.is_quiescent(state)?;
        }
        if !stays {
            return rejected("the specification cannot do internal actions for ever there");
        }
    }
    // As often as there are states: then a state has come again, and so it can for ever.
    for _ in 0..=s.count() {
        for action in cycle {
            at = s.after(&at, action, own_delta)?;
        }
        if at.is_empty() {
            return rejected("the specification cannot go round for ever");
        }
    }
    if !cycle.iter().any(sees) {
        return if property.finite.contains(&q) {
            rejected("what the property sees of it is in the property")
        } else {
            Ok("what the property sees of it ends outside of it")
        };
    }
    for _ in 0..property.rows.len() {
        q = cycle.iter().fold(q, |q, action| step(property, q, action));
    }
    // Now on the part that comes again and again.
    let (start, mut recurring) = (q, BTreeSet::new());
    loop {
        for action in cycle {
            q = step(property, q, action);
            recurring.insert(q);
        }
        if q == start {
            break;
        }
    }
    let rejects = |pair: &crate::Pair| {
        !pair.recurrent.iter().any(|r| recurring.contains(r))
            && !recurring.iter().all(|r| pair.persistent.contains(r))
    };
    if property.pairs.iter().any(rejects) {
        Ok("the execution that goes round is not in the property")
    } else {
        rejected("the execution that goes round is in the property")
    }
}
