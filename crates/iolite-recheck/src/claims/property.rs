//! A trace that determines a property negatively.

use std::collections::BTreeSet;

use crate::format::document::{
    Certificate, Observation, Observer, Pair, Property, WatchedProperty,
};
use crate::{LETTERS_OF_VALUES, Outcome, Report, rejected};

/// Whether no continuation of the trace, finite or infinite, is in Π [PROP12, def. 1 and 14]; or the
/// system is silent where the trace is not in Π [PROP12, §8].
pub(crate) fn check(certificate: &Certificate, report: &mut Report) -> Outcome<()> {
    let Some(property) = &certificate.property else {
        return rejected("the property is missing");
    };
    check_table(property)?;
    let others = certificate.specification.is_some() || certificate.implementation.is_some();
    if others || !certificate.observers.is_empty() || certificate.traces.is_some() {
        return rejected("a property judges alone, without models");
    }
    if certificate.complete_inputs.is_some()
        || certificate.context != "synchronous"
        || !certificate.channels.is_empty()
    {
        return rejected("a property judges what was observed, in the order of observation");
    }
    if certificate.implementation_location.is_some()
        || !certificate.locations.is_empty()
        || !certificate.allowed.is_empty()
    {
        return rejected("a property has no places and nothing that is allowed");
    }
    crate::definitions::system::Policy::parse(&certificate.quiescence)?;
    // [PROP12, §6]: one execution outside Π refutes inclusion and equality; of the other relations it
    // says something of itself only, and nothing of what is to be implemented.
    let right = match property.relation.as_str() {
        "inclusion" | "equality" => "fail",
        "non-disjointness" => "weak-fail",
        other => return rejected(format!("`{other}` is no relation to a property")),
    };
    if certificate.verdict != right {
        let verdict = &certificate.verdict;
        return rejected(format!("the verdict is `{right}`, not `{verdict}`"));
    }
    let observed = match &certificate.observed {
        None => None,
        Some(Observation::Action(action)) => Some(action),
        Some(Observation::Refusal(_)) => return rejected("a property sees no refusals"),
    };
    let events: Vec<&String> = certificate.trace.iter().chain(observed).collect();
    let own_delta = letter(property, "delta").is_some();
    let mut at = property.initial;
    let mut unseen = 0;
    for event in &events {
        let text = match event.as_str() {
            "deadlock" if own_delta => "delta",
            text => text,
        };
        match letter(property, text) {
            Some(letter) => at = property.rows[at][letter],
            None => unseen += 1,
        }
    }
    let steps = events.len();
    report
        .confirmed
        .push(format!("trace: {steps} steps of the property's automaton"));
    if !property.values.is_empty() {
        report.told.push(LETTERS_OF_VALUES.to_owned());
    }
    let silences = || {
        events
            .iter()
            .filter(|e| matches!(e.as_str(), "delta" | "deadlock"))
            .count()
    };
    if unseen > silences() {
        report
            .told
            .push("events that the property does not see".to_owned());
    }
    let silent = match events.last().map(|e| e.as_str()) {
        // More inputs may follow an output-lock, so only a relation of all executions minds it.
        Some("delta") => !own_delta && right == "fail",
        Some("deadlock") => !own_delta,
        _ => false,
    };
    if silent && !property.finite.contains(&at) {
        let how = format!("verdict: {right}, the system is silent outside the property");
        report.confirmed.push(how);
        return Ok(());
    }
    no_continuation(property, at)?;
    report.confirmed.push(format!(
        "verdict: {right}, no continuation is in the property"
    ));
    Ok(())
}

/// Nothing that begins with a trace which leads here is in Π, the trace itself included.
pub(crate) fn no_continuation(property: &Property, at: usize) -> Outcome<()> {
    let all = reachable(property, at, &(0..property.rows.len()).collect());
    if all.iter().any(|state| property.finite.contains(state)) {
        return rejected("a finite continuation of the trace is in the property");
    }
    if accepts(property, &property.pairs, &all) {
        return rejected("an infinite continuation of the trace is in the property");
    }
    Ok(())
}

pub(crate) fn check_table(property: &Property) -> Outcome<()> {
    let count = property.rows.len();
    let within = |states: &[usize]| states.iter().all(|&s| s < count);
    let complete = |row: &Vec<usize>| row.len() == property.letters.len() && within(row);
    let pair = |p: &Pair| within(&p.recurrent) && within(&p.persistent);
    if property.initial >= count
        || !property.rows.iter().all(complete)
        || !within(&property.finite)
        || !property.pairs.iter().all(pair)
    {
        return rejected("the automaton names a state that it does not have, or is not complete");
    }
    let name = |text: &str| text.split('(').next().map(|t| t.trim_end().to_owned());
    let fits = |(event, letter): (&String, &String)| {
        property.letters.contains(letter) && name(event) == name(letter)
    };
    if !property.values.iter().all(fits) {
        return rejected("the values of an action are said to be the letter of another one");
    }
    let letters: BTreeSet<&String> = property.letters.iter().collect();
    if letters.len() < property.letters.len() {
        return rejected("the automaton has a letter twice");
    }
    Ok(())
}

/// A property beside a specification as an observer of a run with these actions, which it violates where
/// its canonical tester fails [PROP12, def. 13 and 15]: no continuation is in Π, or the system is silent
/// where the trace is not in Π. Only what the actions lead to is looked at.
pub(crate) fn as_observer(
    watched: &WatchedProperty,
    actions: &BTreeSet<&str>,
) -> Outcome<Observer> {
    let property = &watched.automaton;
    check_table(property)?;
    let count = property.rows.len();
    if watched.states.len() != count {
        return rejected("each state of the automaton has one name");
    }
    // Of one relation silence outside Π is final, of the other one silence in it.
    let silent_in = match property.relation.as_str() {
        "inclusion" | "equality" => false,
        "non-disjointness" => true,
        other => return rejected(format!("`{other}` has no failing verdict")),
    };
    let own = ["delta", "delta_d"]
        .iter()
        .any(|own| property.letters.iter().any(|l| l == own));
    let judges_silence = !own && !watched.ignores_silence;
    let (broken, kept) = (count, count + 1);
    let labels: Vec<&str> = actions.iter().copied().collect();
    let mut observer = Observer {
        reference: property.reference.clone(),
        name: watched.name.clone(),
        labels: labels.iter().map(|&l| l.to_owned()).collect(),
        states: watched.states.clone(),
        initial: property.initial,
        marked: vec![broken],
        steps: Vec::new(),
    };
    observer
        .states
        .extend(["q_fail", "q_wpass"].map(str::to_owned));
    for sink in [broken, kept] {
        observer
            .steps
            .extend((0..labels.len()).map(|l| (sink, l, sink)));
    }
    let mut seen = BTreeSet::from([property.initial]);
    let mut todo = vec![property.initial];
    while let Some(at) = todo.pop() {
        let failed = no_continuation(property, at).is_ok();
        if failed {
            observer.marked.push(at);
        }
        for (number, label) in labels.iter().enumerate() {
            let letter = letter_beside(property, label);
            let silence = *label == "delta" && judges_silence && !failed;
            let inside = property.finite.contains(&at);
            let to = match letter {
                _ if silence && inside == silent_in => [broken, kept][usize::from(inside)],
                Some(letter) => property.rows[at][letter],
                None => at,
            };
            observer.steps.push((at, number, to));
            if to < count && seen.insert(to) {
                todo.push(to);
            }
        }
    }
    Ok(observer)
}

/// The letter of an action beside a specification: that of its values, itself, or its name with whatever values.
fn letter_beside(property: &Property, action: &str) -> Option<usize> {
    let find = |text: &str| property.letters.iter().position(|l| l == text);
    let valued = || find(property.values.get(action)?);
    let whole = valued().or_else(|| find(action));
    whole.or_else(|| find(action.split_once('(')?.0))
}

/// The letter of an event; a property may leave its direction away.
fn letter(property: &Property, text: &str) -> Option<usize> {
    let find = |text: &str| property.letters.iter().position(|l| l == text);
    let valued = || find(property.values.get(text)?);
    let whole = valued().or_else(|| find(text));
    whole.or_else(|| find(text.trim_start_matches(['?', '!'])))
}

/// The states that are reached from one within a set, itself included.
fn reachable(property: &Property, from: usize, within: &BTreeSet<usize>) -> BTreeSet<usize> {
    let mut reached = BTreeSet::from([from]);
    let mut todo = vec![from];
    while let Some(state) = todo.pop() {
        for &to in &property.rows[state] {
            if within.contains(&to) && reached.insert(to) {
                todo.push(to);
            }
        }
    }
    reached
}

/// Whether a run that stays in these states is accepted. Its infinitely visited states are strongly
/// connected; where such a set breaks a pair, a run that is accepted stays in P of that pair.
fn accepts(property: &Property, pairs: &[Pair], states: &BTreeSet<usize>) -> bool {
    let mut left = states.clone();
    while let Some(&state) = left.first() {
        let component = component(property, state, states);
        left.retain(|other| !component.contains(other));
        let cyclic = component.iter().any(|&s| {
            let mut next = property.rows[s].iter();
            next.any(|to| component.contains(to))
        });
        if !cyclic {
            continue;
        }
        let broken = pairs.iter().find(|pair| {
            !pair.recurrent.iter().any(|s| component.contains(s))
                && !component.iter().all(|s| pair.persistent.contains(s))
        });
        let accepted = match broken {
            None => true,
            Some(pair) => {
                let inside = |s: &&usize| pair.persistent.contains(s);
                let inside: BTreeSet<usize> = component.iter().filter(inside).copied().collect();
                accepts(property, pairs, &inside)
            }
        };
        if accepted {
            return true;
        }
    }
    false
}

/// The strongly connected component of a state within a set.
fn component(property: &Property, of: usize, within: &BTreeSet<usize>) -> BTreeSet<usize> {
    let forth = reachable(property, of, within);
    let back = |&&state: &&usize| reachable(property, state, within).contains(&of);
    forth.iter().filter(back).copied().collect()
}
