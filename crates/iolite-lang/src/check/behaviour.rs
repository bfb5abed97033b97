//! Processes and compositions: calls, gates, guarded recursion.

use std::collections::{BTreeMap, BTreeSet};

use iolite_lts::Labels;

use super::exits::{Exit, ExitTable};
use super::expr::infer;
use super::scope::Scope;
use super::sorts::{ResolvedSort, Sorts};
use crate::gate::is_instance;
use crate::names::Names;
use crate::syntax::ast::{
    Behaviour, BehaviourKind, Definition, Event, EventKind, Expr, File, Gate, Item, Machine, Name,
    Offer, Param, Sync,
};
use crate::{Diagnostic, codes, diagnostic};

pub(super) fn check<'f>(
    definition: &'f Definition,
    names: &Names<'f>,
    sorts: &Sorts<'f>,
    exits: &ExitTable<'f>,
    found: &mut Vec<Diagnostic>,
) {
    let params = definition.params.iter().map(|p| &p.name);
    super::duplicates(params, "parameter", codes::DUPLICATE_NAME, found);
    super::duplicates(
        definition.gates.iter(),
        "gate",
        codes::DUPLICATE_NAME,
        found,
    );
    let mut scope = Scope::new(sorts);
    for param in &definition.params {
        sorts.check(&param.sort, found);
        scope.bind(&param.name.text, sorts.resolve(&param.sort));
    }
    if let Some(over) = &definition.over {
        alphabet(definition, over, names, &mut scope, found);
    }
    exits_of(definition, names, scope, exits, found);
}

/// Walks the body of a definition; what it exits with.
fn exits_of<'f>(
    definition: &Definition,
    names: &Names<'f>,
    scope: Scope<'_>,
    exits: &ExitTable<'f>,
    found: &mut Vec<Diagnostic>,
) -> Option<Exit> {
    let mut walk = Walk {
        names,
        scope,
        exits,
        found,
    };
    walk.behaviour(&definition.body)
}

/// What the processes of a file exit with, as a fixed point, since they call one another.
pub(super) fn exit_table<'f>(names: &Names<'f>, sorts: &Sorts<'f>) -> ExitTable<'f> {
    let mut table = ExitTable::new();
    let (order, _) = names.calls();
    for _ in 0..MOST_ROUNDS {
        let mut changed = false;
        for name in &order {
            let Some(Item::Definition(d)) = names.get(name) else {
                continue;
            };
            if table.contains_key(name) {
                continue;
            }
            let mut scope = Scope::new(sorts);
            for param in &d.params {
                scope.bind(&param.name.text, sorts.resolve(&param.sort));
            }
            // What is wrong is said when the definition is checked.
            if let Some(exit) = exits_of(d, names, scope, &table, &mut Vec::new()) {
                table.insert(name, exit);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    table
}

/// Rounds after which what a process exits with is taken as it is: calls are followed in their order,
/// so that only long cycles of calls need more than a few.
const MOST_ROUNDS: usize = 64;

/// A declared alphabet holds what the process does.
fn alphabet(
    definition: &Definition,
    over: &[Event],
    names: &Names<'_>,
    scope: &mut Scope<'_>,
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
            EventKind::Offer {
                kind, name, offers, ..
            } => {
                labels.intern(*kind, &name.text);
                let bound = self::offers(offers, scope, found);
                unbind(bound, scope);
            }
            _ => found.push(Diagnostic::error(
                codes::EVENT_NOT_HERE,
                event.span,
                "an alphabet consists of labels",
            )),
        }
    }
    for (kind, name) in names.actions_of_body(&definition.body) {
        if kind.is_visible() && labels.get(kind, &name).is_none() {
            found.push(Diagnostic::error(
                codes::UNKNOWN_LABEL,
                definition.name.span,
                format!(
                    "process `{}` does `{}{name}`, which its alphabet lacks",
                    definition.name.text,
                    kind.sigil()
                ),
            ));
        }
    }
}

pub(super) type Bound<'e> = Vec<(&'e str, Option<ResolvedSort>)>;

/// Checks the values of an action, and binds its variables.
pub(super) fn offers<'e>(
    offers: &'e [Offer],
    scope: &mut Scope<'_>,
    found: &mut Vec<Diagnostic>,
) -> Bound<'e> {
    let variables = offers.iter().filter_map(|o| match o {
        Offer::Variable(param) => Some(&param.name),
        Offer::Value(_) => None,
    });
    super::duplicates(variables, "variable", codes::DUPLICATE_NAME, found);
    let mut bound = Vec::new();
    for offer in offers {
        match offer {
            Offer::Value(expr) => {
                infer(expr, scope, found);
            }
            Offer::Variable(param) => {
                scope.sorts.check(&param.sort, found);
                let sort = scope.sorts.resolve(&param.sort);
                bound.push((param.name.text.as_str(), scope.bind(&param.name.text, sort)));
            }
        }
    }
    bound
}

pub(super) fn unbind(bound: Bound<'_>, scope: &mut Scope<'_>) {
    for (name, before) in bound.into_iter().rev() {
        scope.restore(name, before);
    }
}

pub(super) struct Walk<'a, 'f> {
    names: &'a Names<'f>,
    pub(super) scope: Scope<'a>,
    exits: &'a ExitTable<'f>,
    pub(super) found: &'a mut Vec<Diagnostic>,
}

impl Walk<'_, '_> {
    /// Checks a behaviour; what it may exit with.
    pub(super) fn behaviour(&mut self, node: &Behaviour) -> Option<Exit> {
        match &node.kind {
            BehaviourKind::Stop | BehaviourKind::Error => None,
            BehaviourKind::Exit(values) => Some(self.exit(values)),
            BehaviourKind::Prefix { events, rest } => {
                let mut bound = Vec::new();
                for event in events {
                    match &event.kind {
                        EventKind::Any => self.found.push(Diagnostic::error(
                            codes::EVENT_NOT_HERE,
                            event.span,
                            "`*` stands for the other actions of an observer, a process names its actions",
                        )),
                        EventKind::Offer {
                            offers: list,
                            guard,
                            ..
                        } => {
                            bound.extend(offers(list, &mut self.scope, self.found));
                            if let Some(guard) = guard {
                                let bool = ResolvedSort::Bool;
                                self.scope.expect(guard, &bool, "a guard", self.found);
                            }
                        }
                        _ => {}
                    }
                }
                let exit = self.behaviour(rest);
                unbind(bound, &mut self.scope);
                exit
            }
            BehaviourKind::Guard { condition, body } => {
                self.scope
                    .expect(condition, &ResolvedSort::Bool, "a guard", self.found);
                self.behaviour(body)
            }
            BehaviourKind::Choice(parts) => self.any_exit(parts),
            BehaviourKind::Disable(parts) => self.any_exit(&parts[..]),
            BehaviourKind::ChoiceOver { params, body } => {
                let bound = self.bind(params);
                let exit = self.behaviour(body);
                unbind(bound, &mut self.scope);
                exit
            }
            BehaviourKind::Let {
                name,
                sort,
                value,
                body,
            } => {
                let sort = if let Some(sort) = sort {
                    self.scope.sorts.check(sort, self.found);
                    let sort = self.scope.sorts.resolve(sort);
                    let what = format!("`{}`", name.text);
                    self.scope.expect(value, &sort, &what, self.found);
                    sort
                } else {
                    infer(value, &self.scope, self.found)
                };
                let before = self.scope.bind(&name.text, sort);
                let exit = self.behaviour(body);
                self.scope.restore(&name.text, before);
                exit
            }
            BehaviourKind::Enable { accept, parts } => {
                let [left, right] = &**parts;
                let exit = self.behaviour(left);
                self.accepts(left, exit, accept);
                let bound = self.bind(accept);
                let exit = self.behaviour(right);
                unbind(bound, &mut self.scope);
                exit
            }
            BehaviourKind::Parallel { sync, parts } => {
                let exit = self.all_exit(parts);
                self.sync(sync, parts);
                exit
            }
            BehaviourKind::Hide { labels, body } => {
                let exit = self.behaviour(body);
                self.gates(labels, std::slice::from_ref(body), "hides");
                exit
            }
            BehaviourKind::Rename { pairs, body } => {
                let exit = self.behaviour(body);
                let old = pairs.iter().map(|(old, _)| old);
                self.gates(old, std::slice::from_ref(body), "renames");
                for (_, new) in pairs {
                    self.values(new);
                }
                exit
            }
            BehaviourKind::Call { name, gates, args } => {
                match self.names.behaviour(&name.text, name.span) {
                    Ok(Item::Machine(machine)) => {
                        gate_count(name, &[], gates, self.found);
                        arguments(name, machine, args, &self.scope, self.found);
                    }
                    Ok(Item::Definition(called)) => {
                        gate_count(name, &called.gates, gates, self.found);
                        parameters(name, called, args, &self.scope, self.found);
                    }
                    Ok(_) => {}
                    Err(_) if self.names.is_spoilt(&name.text) => {}
                    Err(error) if !args.is_empty() && error.hint.is_none() => {
                        self.found.push(error.hint("an action is followed by `;`"));
                    }
                    Err(error) => self.found.push(error),
                }
                self.exits.get(name.text.as_str()).cloned()
            }
            BehaviourKind::Each {
                index,
                range,
                sync,
                body,
            } => {
                for end in [&range.0, &range.1] {
                    let int = ResolvedSort::Int;
                    self.scope
                        .expect(end, &int, "an end of the range", self.found);
                }
                let shadowed = self.scope.bind(&index.text, ResolvedSort::Int);
                let exit = self.behaviour(body);
                self.scope.restore(&index.text, shadowed);
                let before = self.found.len();
                self.sync(sync, std::slice::from_ref(body));
                let index = format!("`{}` is not declared", index.text);
                for d in self.found[before..]
                    .iter_mut()
                    .filter(|d| d.message == index)
                {
                    d.hint = Some("all instances share these, so they have no index".to_owned());
                }
                exit
            }
        }
    }

    fn bind<'e>(&mut self, params: &'e [Param]) -> Bound<'e> {
        let names = params.iter().map(|p| &p.name);
        super::duplicates(names, "variable", codes::DUPLICATE_NAME, self.found);
        let bind = |p: &'e Param| {
            self.scope.sorts.check(&p.sort, self.found);
            let sort = self.scope.sorts.resolve(&p.sort);
            (p.name.text.as_str(), self.scope.bind(&p.name.text, sort))
        };
        params.iter().map(bind).collect()
    }

    fn sync(&mut self, sync: &Sync, parts: &[Behaviour]) {
        if let Sync::On(gates) = sync {
            self.gates(gates, parts, "synchronises on");
        }
    }

    fn values(&mut self, gate: &Gate) {
        for value in gate.values.iter().flatten() {
            infer(value, &self.scope, self.found);
        }
    }

    /// The values of gates, and a lint for actions that no part has.
    fn gates<'g>(
        &mut self,
        gates: impl IntoIterator<Item = &'g Gate>,
        parts: &[Behaviour],
        what: &str,
    ) {
        let known = parts.iter().map(|part| self.names.actions_in(part));
        let known: Option<Vec<BTreeSet<String>>> = known.collect();
        let known: Option<BTreeSet<String>> = known.map(|k| k.into_iter().flatten().collect());
        for gate in gates {
            self.values(gate);
            let name = &gate.name.text;
            let Some(known) = &known else { continue };
            if known.iter().any(|k| is_instance(k, name)) {
                continue;
            }
            self.found.push(
                Diagnostic::warning(
                    codes::UNKNOWN_GATE,
                    gate.name.span,
                    format!("this {what} `{name}`, which nothing here does"),
                )
                .maybe_hint(diagnostic::did_you_mean(
                    name,
                    known.iter().map(String::as_str),
                )),
            );
        }
    }
}

/// The values that a call gives to the parameters of a process.
fn parameters(
    name: &Name,
    called: &Definition,
    args: &[(Name, Expr)],
    scope: &Scope<'_>,
    found: &mut Vec<Diagnostic>,
) {
    super::duplicates(
        args.iter().map(|(n, _)| n).filter(|n| !n.text.is_empty()),
        "the value of parameter",
        codes::INSTANCE_ARGUMENT,
        found,
    );
    if let Some((arg, value)) = args.iter().find(|(arg, _)| arg.text.is_empty()) {
        infer(value, scope, found);
        let message = match called.params.len() {
            0 => format!("process `{}` has no parameters", name.text),
            1 => format!(
                "process `{}` has one parameter; values by name come last",
                name.text
            ),
            n => format!(
                "process `{}` has {n} parameters; values by name come last",
                name.text
            ),
        };
        found.push(Diagnostic::error(
            codes::INSTANCE_ARGUMENT,
            arg.span.to(value.span),
            message,
        ));
        return;
    }
    let find = |text: &str| called.params.iter().find(|p| p.name.text == text);
    for (arg, value) in args {
        if let Some(param) = find(&arg.text) {
            let sort = scope.sorts.resolve(&param.sort);
            scope.expect(value, &sort, &format!("parameter `{}`", arg.text), found);
        } else {
            infer(value, scope, found);
            let candidates = called.params.iter().map(|p| p.name.text.as_str());
            found.push(
                Diagnostic::error(
                    codes::INSTANCE_ARGUMENT,
                    arg.span,
                    format!("process `{}` has no parameter `{}`", name.text, arg.text),
                )
                .maybe_hint(diagnostic::did_you_mean(&arg.text, candidates)),
            );
        }
    }
    let given = |param: &Param| args.iter().any(|(n, _)| n.text == param.name.text);
    let missing: Vec<&str> = called
        .params
        .iter()
        .filter(|p| !given(p))
        .map(|p| p.name.text.as_str())
        .collect();
    if !missing.is_empty() {
        found.push(
            Diagnostic::error(
                codes::INSTANCE_ARGUMENT,
                name.span,
                format!(
                    "process `{}` needs a value for `{}`",
                    name.text,
                    missing.join("`, `")
                ),
            )
            .hint(format!(
                "write `{}({} = …)`",
                name.text,
                missing.join(" = …, ")
            )),
        );
    }
}

fn were(count: usize) -> String {
    match count {
        0 => "none is".to_owned(),
        1 => "one is".to_owned(),
        n => format!("{n} are"),
    }
}

/// Each formal gate gets an action.
fn gate_count(name: &Name, formal: &[Name], given: &[Name], found: &mut Vec<Diagnostic>) {
    if formal.len() == given.len() {
        return;
    }
    let message = match formal.len() {
        0 => format!("`{}` has no gates to give actions to", name.text),
        n => format!(
            "process `{}` has {n} gates, and {} given",
            name.text,
            were(given.len())
        ),
    };
    let written: Vec<&str> = formal.iter().map(|g| g.text.as_str()).collect();
    let hint =
        (!formal.is_empty()).then(|| format!("write `{}[{}]`", name.text, written.join(", ")));
    found.push(Diagnostic::error(codes::INSTANCE_ARGUMENT, name.span, message).maybe_hint(hint));
}

fn arguments(
    name: &Name,
    machine: &Machine,
    args: &[(Name, Expr)],
    scope: &Scope<'_>,
    found: &mut Vec<Diagnostic>,
) {
    super::duplicates(
        args.iter().map(|(n, _)| n).filter(|n| !n.text.is_empty()),
        "the value of constant",
        codes::INSTANCE_ARGUMENT,
        found,
    );
    for (constant, value) in args {
        if constant.text.is_empty() {
            infer(value, scope, found);
            let message = format!(
                "a constant of system `{}` gets its value by name",
                name.text
            );
            let hint = format!("write `{}(name = value)`", name.text);
            let error = Diagnostic::error(codes::INSTANCE_ARGUMENT, value.span, message);
            found.push(error.hint(hint));
            continue;
        }
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

/// The calls of a behaviour, each with whether an action comes before it.
fn calls<'f>(node: &'f Behaviour, guarded: bool, out: &mut Vec<(&'f Name, bool)>) {
    if let BehaviourKind::Call { name, .. } = &node.kind {
        out.push((name, guarded));
    }
    let guarded = guarded || matches!(node.kind, BehaviourKind::Prefix { .. });
    let enables = matches!(node.kind, BehaviourKind::Enable { .. });
    for (k, part) in node.parts().iter().enumerate() {
        // What `>>` enables begins with an internal step.
        calls(part, guarded || enables && k == 1, out);
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
