//! Between the tester's actions and the valued actions of a model.

use iolite_expr::Value;
use iolite_sts::{Iosts, LabelKind, ValuedAction};

use crate::{Action, ActionId, Alphabet};

/// The id of a valued action of a model.
pub fn action_of(model: &Iosts, alphabet: &Alphabet, action: &ValuedAction) -> ActionId {
    let gate = model.gate(action.action);
    let new = Action {
        kind: gate.kind,
        name: (*gate.name).into(),
        args: action.values.clone(),
    };
    alphabet.intern(new)
}

/// What an action is to a model; `None` where no gate takes it.
pub fn valued_action(model: &Iosts, action: &Action) -> Option<ValuedAction> {
    let gate = model.find_gate(action.kind, &action.name)?;
    let params = &model.gate(gate).params;
    // An integer outside of its range is still a value: the model forbids it, which is a verdict.
    (params.len() == action.args.len()).then(|| ValuedAction {
        action: gate,
        values: action.args.clone(),
    })
}

/// The same for a label that may carry its values in its text, `reply(503)`.
pub fn valued_label(model: &Iosts, kind: LabelKind, text: &str) -> Option<ValuedAction> {
    let gate = |name: &str| model.find_gate(kind, name);
    if let Some(action) = gate(text) {
        return model.gate(action).params.is_empty().then(|| ValuedAction {
            action,
            values: Vec::new(),
        });
    }
    let (name, texts) = Value::split_action(text);
    let action = gate(name)?;
    let params = &model.gate(action).params;
    if params.len() != texts.len() {
        return None;
    }
    let read = params
        .iter()
        .zip(texts)
        .map(|(p, t)| Value::read(t, &p.sort));
    let values: Option<Vec<Value>> = read.collect();
    values.map(|values| ValuedAction { action, values })
}
