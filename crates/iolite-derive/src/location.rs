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
