//! Processes and compositions: calls, gates, guarded recursion.

use std::collections::{BTreeMap, BTreeSet};

use iolite_lts::Labels;

use super::expr::{Scope, infer};
use super::sorts::{ResolvedSort, Sorts};
use crate::names::Names;
use crate::syntax::ast::{
    Behaviour, BehaviourKind, Definition, Event, EventKind, File, Item, Machine, Name, Sync,
};
use crate::{Diagnostic, codes, diagnostic};

pub(super) fn check(
    definition: &Definition,
    names: &Names<'_>,
    sorts: &Sorts<'_>,
    found: &mut Vec<Diagnostic>,
) {
    let mut scope = Scope::new(sorts);
    walk(&definition.body, names, &mut scope, found);
    if let Some(over) = &definition.over {
        alphabet(definition, over, names, found);
    }
}

/// A declared alphabet holds what the process does.
fn alphabet(
    definition: &Definition,
    over: &[Event],
    names: &Names<'_>,
    found: &mut Vec<Diagnostic>,
) {
    let mut labels = Labels::new();
    for event in over {
        match &event.kind {
            EventKind::Label {
                kind,
                name,
                args: None,
            } => {
                labels.intern(*kind, &name.text);
            }
            _ => found.push(Diagnostic::error(
                codes::EVENT_NOT_HERE,
                event.span,
                "an alphabet consists of labels without parameters",
            )),
        }
    }
    let all = names.alphabet(&definition.name.text).unwrap_or_default();
    for (_, label) in all.iter().skip(2) {
        if label.kind.is_visible() && labels.get(label.kind, &label.name).is_none() {
            found.push(Diagnostic::error(
                codes::UNKNOWN_LABEL,
                definition.name.span,
                format!(
                    "process `{}` does `{label}`, which its alphabet lacks",
                    definition.name.text
                ),
            ));
        }
    }
}

fn walk(node: &Behaviour, names: &Names<'_>, scope: &mut Scope<'_>, found: &mut Vec<Diagnostic>) {
    match &node.kind {
        BehaviourKind::Stop | BehaviourKind::Error => {}
        BehaviourKind::Prefix { events, rest } => {
            for event in events {
                match &event.kind {
                    EventKind::Any => found.push(Diagnostic::error(
                        codes::EVENT_NOT_HERE,
                        event.span,
                        "`*` stands for the other actions of an observer, a process names its actions",
                    )),
                    EventKind::Label { args: Some(_), .. } => found.push(Diagnostic::error(
                        codes::EVENT_NOT_HERE,
                        event.span,
                        "actions of processes have no parameters; data live in `system … { … }`",
                    )),
                    _ => {}
                }
            }
            walk(rest, names, scope, found);
        }
        BehaviourKind::Choice(parts) => {
            for part in parts {
                walk(part, names, scope, found);
            }
        }
        BehaviourKind::Parallel { sync, parts } => {
            for part in parts {
                walk(part, names, scope, found);
            }
            gates(sync, parts.iter(), names, found);
        }
        BehaviourKind::Hide { labels, body } => {
            walk(body, names, scope, found);
            occur(labels, std::iter::once(&**body), names, "hides", found);
        }
        BehaviourKind::Rename { pairs, body } => {
            walk(body, names, scope, found);
            let old: Vec<Name> = pairs.iter().map(|(old, _)| old.clone()).collect();
            occur(&old, std::iter::once(&**body), names, "renames", found);
        }
        BehaviourKind::Call { name, args } => match names.behaviour(&name.text, name.span) {
            Ok(Item::Machine(machine)) => arguments(name, machine, args, scope, found),
            Ok(_) => {
                if let Some((constant, _)) = args.first() {
                    found.push(Diagnostic::error(
                        codes::INSTANCE_ARGUMENT,
                        constant.span,
                        format!("process `{}` has no constants", name.text),
                    ));
                }
            }
            Err(_) if names.is_spoilt(&name.text) => {}
            Err(error) => found.push(error),
        },
        BehaviourKind::Each {
            index,
            range,
            sync,
            body,
        } => {
            for end in [&range.0, &range.1] {
                scope.expect(end, &ResolvedSort::Int, "an end of the range", found);
            }
            let shadowed = scope.bind(&index.text, ResolvedSort::Int);
            walk(body, names, scope, found);
            scope.restore(&index.text, shadowed);
            gates(sync, std::iter::once(&**body), names, found);
        }
    }
}

fn arguments(
    name: &Name,
    machine: &Machine,
    args: &[(Name, crate::syntax::ast::Expr)],
    scope: &Scope<'_>,
    found: &mut Vec<Diagnostic>,
) {
    super::duplicates(
        args.iter().map(|(n, _)| n),
        "the value of constant",
        codes::INSTANCE_ARGUMENT,
        found,
    );
    for (constant, value) in args {
        let declared = machine
            .bindings()
            .find(|(is_const, b)| *is_const && b.name.text == constant.text);
        if let Some((_, binding)) = declared {
            let sort = scope.sorts.resolve(&binding.sort);
            scope.expect(
                value,
                &sort,
                &format!("constant `{}`", constant.text),
                found,
            );
        } else {
            infer(value, scope, found);
            let candidates = machine
                .bindings()
                .filter(|(is_const, _)| *is_const)
                .map(|(_, b)| b.name.text.as_str());
            found.push(
                Diagnostic::error(
                    codes::INSTANCE_ARGUMENT,
                    constant.span,
                    format!("system `{}` has no constant `{}`", name.text, constant.text),
                )
                .maybe_hint(diagnostic::did_you_mean(&constant.text, candidates)),
            );
        }
    }
}

fn gates<'a>(
    sync: &Sync,
    parts: impl Iterator<Item = &'a Behaviour>,
    names: &Names<'_>,
    found: &mut Vec<Diagnostic>,
) {
    if let Sync::On(labels) = sync {
        occur(labels, parts, names, "synchronises on", found);
    }
}

/// A lint for labels of `hide`, `rename` and `|[…]|` that no part has.
fn occur<'a>(
    labels: &[Name],
    parts: impl Iterator<Item = &'a Behaviour>,
    names: &Names<'_>,
    what: &str,
    found: &mut Vec<Diagnostic>,
) {
    let mut known = BTreeSet::new();
    for part in parts {
        match names.labels_in(part) {
            Some(labels) => known.extend(labels),
            None => return,
        }
    }
    for label in labels {
        if !known.contains(&label.text) {
            found.push(
                Diagnostic::warning(
                    codes::UNKNOWN_GATE,
                    label.span,
                    format!("this {what} `{}`, which nothing here does", label.text),
                )
                .maybe_hint(diagnostic::did_you_mean(
                    &label.text,
                    known.iter().map(String::as_str),
                )),
            );
        }
    }
}

/// The calls of a behaviour, each with whether a prefix stands before it.
fn calls<'f>(node: &'f Behaviour, guarded: bool, out: &mut Vec<(&'f Name, bool)>) {
    match &node.kind {
        BehaviourKind::Stop | BehaviourKind::Error => {}
        BehaviourKind::Prefix { rest, .. } => calls(rest, true, out),
        BehaviourKind::Choice(parts) | BehaviourKind::Parallel { parts, .. } => {
            for part in parts {
                calls(part, guarded, out);
            }
        }
        BehaviourKind::Hide { body, .. }
        | BehaviourKind::Rename { body, .. }
        | BehaviourKind::Each { body, .. } => calls(body, guarded, out),
        BehaviourKind::Call { name, .. } => out.push((name, guarded)),
    }
}

fn definition<'f>(names: &Names<'f>, name: &str) -> Option<&'f Definition> {
    match names.get(name) {
        Some(Item::Definition(d)) => Some(d),
        _ => None,
    }
}

/// Whether a definition can reach itself through calls.
pub(crate) fn calls_itself(names: &Names<'_>, name: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![name];
    while let Some(next) = open.pop() {
        let Some(d) = definition(names, next) else {
            continue;
        };
        let mut called = Vec::new();
        calls(&d.body, false, &mut called);
        for (callee, _) in called {
            if callee.text == name {
                return true;
            }
            if seen.insert(callee.text.as_str()) {
                open.push(&callee.text);
            }
        }
    }
    false
}

/// Calls by which a process reaches itself without doing anything first, in what `body` can reach:
/// such a process has no steps that the rules could give.
pub(crate) fn unguarded(names: &Names<'_>, body: &Behaviour) -> Vec<Diagnostic> {
    let mut reached = BTreeSet::new();
    let mut open = vec![body];
    while let Some(node) = open.pop() {
        let mut called = Vec::new();
        calls(node, false, &mut called);
        for (callee, _) in called {
            if let Some(d) = definition(names, &callee.text)
                && reached.insert(d.name.text.as_str())
            {
                open.push(&d.body);
            }
        }
    }
    unguarded_among(names, &reached)
}

pub(super) fn unguarded_definitions(file: &File, names: &Names<'_>) -> Vec<Diagnostic> {
    let all = file
        .sound_items()
        .filter(|i| matches!(i, Item::Definition(_)))
        .map(|i| i.name().text.as_str())
        .collect();
    unguarded_among(names, &all)
}

fn unguarded_among(names: &Names<'_>, among: &BTreeSet<&str>) -> Vec<Diagnostic> {
    let mut edges: BTreeMap<&str, Vec<&Name>> = BTreeMap::new();
    for name in among {
        let Some(d) = definition(names, name) else {
            continue;
        };
        let mut called = Vec::new();
        calls(&d.body, false, &mut called);
        let direct = called
            .into_iter()
            .filter(|(callee, guarded)| !guarded && definition(names, &callee.text).is_some())
            .map(|(callee, _)| callee)
            .collect();
        edges.insert(&d.name.text, direct);
    }
    let mut found = Vec::new();
    // 0 unseen, 1 on the path, 2 done.
    let mut colour: BTreeMap<&str, u8> = BTreeMap::new();
    for &root in edges.keys() {
        if colour.contains_key(root) {
            continue;
        }
        colour.insert(root, 1);
        let mut path: Vec<(&str, usize)> = vec![(root, 0)];
        while let Some((name, k)) = path.last_mut() {
            let name = *name;
            let Some(&callee) = edges.get(name).and_then(|e| e.get(*k)) else {
                colour.insert(name, 2);
                path.pop();
                continue;
            };
            *k += 1;
            match colour.get(callee.text.as_str()) {
                None => {
                    colour.insert(&callee.text, 1);
                    path.push((&callee.text, 0));
                }
                Some(1) => found.push(
                    Diagnostic::error(
                        codes::UNGUARDED,
                        callee.span,
                        format!(
                            "process `{}` calls itself here before it has done anything",
                            callee.text
                        ),
                    )
                    .hint(format!("put an action first: `a; {}`", callee.text)),
                ),
                Some(_) => {}
            }
        }
    }
    found
}
