//! Values of a call by their place: `P(n + 1)` is `P(n = n + 1)`.

use std::collections::BTreeMap;

use super::ast::{Behaviour, BehaviourKind, Item};

/// Gives names to the values of calls that have none. Where the process is unknown or has fewer
/// parameters they stay without, and the check says so.
pub(super) fn name_values(items: &mut [Item]) {
    let mut params: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for item in items.iter() {
        if let Item::Definition(d) = item {
            let names = d.params.iter().map(|p| p.name.text.clone()).collect();
            params.entry(d.name.text.clone()).or_insert(names);
        }
    }
    for item in items {
        if let Item::Definition(d) = item {
            in_behaviour(&mut d.body, &params);
        }
    }
}

fn in_behaviour(node: &mut Behaviour, params: &BTreeMap<String, Vec<String>>) {
    if let BehaviourKind::Call { name, args, .. } = &mut node.kind
        && let Some(params) = params.get(&name.text)
    {
        for ((arg, _), param) in args.iter_mut().zip(params) {
            if !arg.text.is_empty() {
                break;
            }
            arg.text.clone_from(param);
        }
    }
    for part in node.parts_mut() {
        in_behaviour(part, params);
    }
}
