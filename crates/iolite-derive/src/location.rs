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
    let model = view.inner();
    let mut places = Places::default();
    for &state in view.members(set) {
        places.locations.push(location(model, state));
        let name = model.place(&state);
        if !places.names.contains(&name) {
            places.names.push(name);
        }
    }
    places
}

/// The names of places that are only known in words, as far as these tell: without their lines. What
/// looks like values may be part of a name, so it stays.
pub(crate) fn without_lines(locations: &[String]) -> Vec<String> {
    let mut places: Vec<String> = Vec::new();
    for location in locations {
        let name = location
            .strip_suffix(')')
            .and_then(|rest| rest.rsplit_once(" (line "))
            .filter(|(_, line)| line.bytes().all(|b| b.is_ascii_digit()))
            .map_or(location.as_str(), |(name, _)| name);
        if !places.iter().any(|p| p == name) {
            places.push(name.to_owned());
        }
    }
    places
}
