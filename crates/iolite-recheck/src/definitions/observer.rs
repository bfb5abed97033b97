//! Observers and sets of traces: deterministic automata over actions, with marked states [SAFE04, def. 5].

use crate::format::document::Observer;
use crate::{Outcome, rejected};

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
