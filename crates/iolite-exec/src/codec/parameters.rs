//! Holes of templates and the parameters that a model declares.

use iolite_lts::LabelKind;

use super::{ActionMap, ActionRule, CodecError};
use crate::report::counted;

/// Names of an action's parameters in the order of the model. `None` where the model declares none: it does not
/// know the action, or its labels are plain names.
pub type Parameters<'a> = dyn Fn(LabelKind, &str) -> Option<Vec<String>> + 'a;

impl ActionMap {
    /// Matches holes with the parameters of the model. Holes that have the names of all parameters are matched by
    /// name, others by position; a name of the model in another place than the model's is an error, since either
    /// reading could be meant and the wrong one would send and judge other values.
    pub fn by_parameters(mut self, declared: &Parameters<'_>) -> Result<Self, CodecError> {
        for (name, rule) in self.rules_mut() {
            arrange(rule, name, declared)
                .map_err(|e| CodecError(format!("action {name}: {}", e.0)))?;
        }
        Ok(self)
    }
}

fn arrange(rule: &mut ActionRule, name: &str, declared: &Parameters<'_>) -> Result<(), CodecError> {
    let is_ordered = rule.is_ordered;
    if let (Some(send), Some(params)) = (&mut rule.send, declared(LabelKind::Input, name))
        && is_permuted("send", send.params(), &params, is_ordered)?
    {
        let ordered = send.clone().with_params(&params);
        *send = ordered.map_err(|e| CodecError(e.to_string()))?;
    }
    if let (Some(recv), Some(params)) = (&mut rule.recv, declared(LabelKind::Output, name))
        && is_permuted("recv", recv.params(), &params, is_ordered)?
    {
        let ordered = recv.clone().with_params(&params);
        *recv = ordered.map_err(|e| CodecError(e.to_string()))?;
        let parts = std::mem::take(&mut rule.parts).into_iter();
        let parts = parts.map(|part| part.with_params(&params));
        rule.parts = parts.collect::<Result<_, _>>().map_err(CodecError)?;
    }
    Ok(())
}

/// Whether the holes are the parameters of the model in another order. `is_ordered`: their order is that of the
/// key `params`, which is meant to be the model's.
fn is_permuted(
    key: &str,
    holes: &[String],
    declared: &[String],
    is_ordered: bool,
) -> Result<bool, CodecError> {
    if holes.len() != declared.len() {
        let what = if is_ordered { "params" } else { key };
        return Err(CodecError(format!(
            "`{what}` has {} ({}), and the model declares {} ({}); `{{_}}` in recv reads what is dropped, and \
             `params` names parameters that are not sent",
            counted(holes.len(), if is_ordered { "name" } else { "hole" }),
            holes.join(", "),
            counted(declared.len(), "parameter"),
            declared.join(", "),
        )));
    }
    let place = |name: &String| declared.iter().position(|d| d == name);
    let all_known = holes.iter().all(|hole| place(hole).is_some());
    let misplaced =
        (holes.iter().enumerate()).find(|(i, hole)| place(hole).is_some_and(|at| at != *i));
    match misplaced {
        Some(_) if all_known && !is_ordered => Ok(true),
        Some((i, hole)) => Err(CodecError(format!(
            "`{}` has {hole} where the model has {}; name {} as the model does ({})",
            if is_ordered { "params" } else { key },
            declared[i],
            if is_ordered {
                "them in the order"
            } else {
                "all holes"
            },
            declared.join(", "),
        ))),
        None => Ok(false),
    }
}
