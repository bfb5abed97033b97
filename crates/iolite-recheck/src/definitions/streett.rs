//! A property as a Streett automaton [PROP12, def. 1 to 3]: what it reads of an action, and which words it has no continuation of.

use std::collections::BTreeSet;

use crate::format::document::{Pair, Property};
use crate::{Outcome, rejected};

/// Every number in the automaton is one of its states, and every state has a successor for each letter.
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

/// The letter of an action: that of its values, itself, or its name with whatever values.
pub(crate) fn letter(property: &Property, action: &str) -> Option<usize> {
    let find = |text: &str| property.letters.iter().position(|l| l == text);
    let valued = || find(property.values.get(action)?);
    let whole = valued().or_else(|| find(action));
    whole.or_else(|| find(action.split_once('(')?.0))
}

/// What the property does not see changes nothing.
pub(crate) fn step(property: &Property, q: usize, action: &str) -> usize {
    letter(property, action).map_or(q, |letter| property.rows[q][letter])
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
