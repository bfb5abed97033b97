//! Places of the model in words the user knows.

use iolite_lts::{Determinised, Semantics, SetId, StateId};

use crate::Places;

/// A state with its line, `Wait_Ack (line 12)`.
pub fn location<M: Semantics<State = StateId>>(model: &M, state: StateId) -> String {
    let name = model.describe(&state);
    match model.line(&state) {
        Some(line) => format!("{name} (line {line})"),
        None => name,
    }
}

/// The places of a set's states, in order; each name once.
pub(crate) fn places<M: Semantics<State = StateId>>(view: &Determinised<M>, set: SetId) -> Places {
    places_of(view.inner(), view.members(set))
}

/// The places of some states, in order; each name once.
pub(crate) fn places_of<M: Semantics<State = StateId>>(model: &M, members: &[StateId]) -> Places {
    let mut places = Places::default();
    for &state in members {
        places.locations.push(location(model, state));
        let name = model.place(&state);
        if !places.names.contains(&name) {
            places.names.push(name);
        }
    }
    places
}

/// Places that are told to people; through several channels there may be thousands, and a certificate has them all.
const MOST_TOLD: usize = 12;

/// The places of a run in words, as many as people read. Through queues the inputs after the last silence may still be under
/// way, so that the system is before or after them.
pub fn told_places(locations: &[String], context: &str, trace: &[String]) -> String {
    let since = trace.iter().rev().take_while(|action| *action != "delta");
    let mut inputs: Vec<&str> = since
        .filter(|action| action.starts_with('?'))
        .map(String::as_str)
        .collect();
    inputs.dedup();
    let mut list = locations[..locations.len().min(MOST_TOLD)].join(", ");
    if locations.len() > MOST_TOLD {
        list += &format!(" and {} more", locations.len() - MOST_TOLD);
    }
    if context != crate::Context::Queues.name() || locations.len() < 2 || inputs.is_empty() {
        return list;
    }
    let which = match inputs.as_slice() {
        [input] => format!("whether {input} had been taken"),
        _ => "how many of the inputs since the last silence had been taken".to_owned(),
    };
    format!("one of {list}: the tester cannot tell {which}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_told_a_dozen_places() {
        let places = |n: usize| (0..n).map(|k| format!("S{k}")).collect::<Vec<_>>();
        let told = |n: usize| told_places(&places(n), "synchronous", &[]);
        assert_eq!(told(2), "S0, S1");
        assert!(told(12).ends_with("S10, S11"));
        assert!(told(1000).ends_with("S10, S11 and 988 more"));
        let through_queues = told_places(&places(14), "queues", &["?a".to_owned()]);
        assert!(through_queues.starts_with("one of S0, "));
        assert!(
            through_queues
                .ends_with(" and 2 more: the tester cannot tell whether ?a had been taken")
        );
    }
}
