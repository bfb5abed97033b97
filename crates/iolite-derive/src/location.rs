//! Places of the model in words the user knows.

use iolite_lts::{Determinised, Semantics, SetId, StateId};

/// A state with its line, `Wait_Ack (line 12)`.
pub fn location<M: Semantics<State = StateId>>(model: &M, state: StateId) -> String {
    let name = model.describe(&state);
    match model.line(&state) {
        Some(line) => format!("{name} (line {line})"),
        None => name,
    }
}

/// The places of a set's states, each once.
pub(crate) fn places<M: Semantics<State = StateId>>(
    view: &Determinised<M>,
    set: SetId,
) -> Vec<String> {
    let model = view.inner();
    let mut places: Vec<String> = Vec::new();
    for state in view.members(set) {
        let place = model.place(state);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// The states of a set, in order.
pub fn locations<M: Semantics<State = StateId>>(view: &Determinised<M>, set: SetId) -> Vec<String> {
    let model = view.inner();
    view.members(set)
        .iter()
        .map(|&s| location(model, s))
        .collect()
}
