//! A property of any class beside a specification, as an observer of one run.

use std::collections::BTreeSet;

use crate::definitions::streett::{check_table, letter, no_continuation};
use crate::format::document::{Observer, WatchedProperty};
use crate::{Outcome, rejected};

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
            let letter = letter(property, label);
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
