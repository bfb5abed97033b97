//! Systems, observers, purposes and test cases.

use std::collections::{BTreeMap, BTreeSet};

use iolite_lts::{LabelKind, Labels};

use super::expr::infer;
use super::scope::Scope;
use super::sorts::{ResolvedSort, Sorts};
use super::{duplicates, target_system};
use crate::lower::{automaton, machine as lowered};
use crate::names::{Names, bare, event_id, events, machine_labels, unknown_label};
use crate::syntax::ast::{
    Event, EventKind, Expr, ExprKind, File, Item, LabelDecl, Machine, Mark, Member, Role, State,
    Transition,
};
use crate::{Diagnostic, codes, diagnostic};

pub(super) fn check(
    file: &File,
    machine: &Machine,
    names: &Names<'_>,
    sorts: &Sorts<'_>,
    found: &mut Vec<Diagnostic>,
) {
    declarations(machine, sorts, found);
    marks(machine, found);
    let target = machine
        .of
        .as_ref()
        .filter(|of| target_system(of, names, found))
        .and_then(|of| names.get(&of.text));
    let alphabet = target.and_then(|t| names.alphabet(&t.name().text));
    match (machine.role, alphabet) {
        (Role::Observer | Role::Purpose | Role::Traces, alphabet) if !machine.has_data() => {
            // Where the system is elsewhere, what occurs is all that is known of its labels.
            let labels = alphabet.unwrap_or_else(|| machine_labels(machine));
            let result = match machine.role {
                Role::Observer => automaton::observer(file, machine, &labels).map(drop),
                Role::Purpose => automaton::purpose(file, machine, &labels).map(drop),
                _ => automaton::automaton(file, machine, &labels).map(drop),
            };
            found.extend(result.err().unwrap_or_default());
        }
        (_, alphabet) => {
            let labels = alphabet.unwrap_or_else(|| machine_labels(machine));
            let owner = match target {
                Some(Item::Machine(system)) => system,
                _ => machine,
            };
            body(machine, owner, &labels, sorts, found);
        }
    }
    if machine.role == Role::Test {
        acyclic(machine, found);
    }
    unreachable_states(machine, found);
    if machine.role == Role::System {
        unused_labels(machine, found);
    }
}

fn declarations(machine: &Machine, sorts: &Sorts<'_>, found: &mut Vec<Diagnostic>) {
    duplicates(
        machine.bindings().map(|(_, b)| &b.name),
        "name",
        codes::DUPLICATE_NAME,
        found,
    );
    let mut seen: BTreeMap<&str, Vec<(LabelKind, &LabelDecl)>> = BTreeMap::new();
    for (kind, label) in machine.labels() {
        let earlier = seen.entry(&label.name.text).or_default();
        // `?ping` and `!ping` are two labels; a bare name must be one.
        let clash = earlier.iter().find(|(k, _)| {
            *k == kind
                || matches!(kind, LabelKind::Internal | LabelKind::Undirected)
                || matches!(k, LabelKind::Internal | LabelKind::Undirected)
        });
        if let Some((_, first)) = clash {
            found.push(
                Diagnostic::error(
                    codes::DUPLICATE_LABEL,
                    label.name.span,
                    format!("label `{}` is declared twice", label.name.text),
                )
                .related(first.name.span, "first declared here"),
            );
        }
        earlier.push((kind, label));
        duplicates(
            label.params.iter().map(|p| &p.name),
            "parameter",
            codes::DUPLICATE_NAME,
            found,
        );
        for param in &label.params {
            sorts.check(&param.sort, found);
        }
    }
    let mut scope = Scope::new(sorts);
    for member in &machine.members {
        match member {
            Member::Const(bindings) | Member::Var(bindings) => {
                for binding in bindings {
                    sorts.check(&binding.sort, found);
                    let sort = sorts.resolve(&binding.sort);
                    if let Some(value) = &binding.value {
                        let what = format!("`{}`", binding.name.text);
                        scope.expect(value, &sort, &what, found);
                    }
                    scope.bind(&binding.name.text, sort);
                }
            }
            Member::Assume { condition, .. } => {
                scope.expect(condition, &ResolvedSort::Bool, "an assumption", found);
            }
            Member::Labels { .. } | Member::State(_) => {}
        }
    }
}

fn marks(machine: &Machine, found: &mut Vec<Diagnostic>) {
    let allowed: &[Mark] = match machine.role {
        Role::System => &[Mark::Initial],
        Role::Observer => &[Mark::Initial, Mark::Violate],
        Role::Purpose => &[Mark::Initial, Mark::Accept, Mark::Refuse],
        Role::Test => &[Mark::Initial, Mark::Pass, Mark::Fail, Mark::Inconc],
        Role::Traces => &[Mark::Initial, Mark::Accept],
    };
    for state in machine.states() {
        for mark in &state.marks {
            if !allowed.contains(mark) {
                found.push(Diagnostic::error(
                    codes::MARK_NOT_HERE,
                    state.name.span,
                    format!(
                        "a state of {} `{}` cannot be marked `{}`",
                        machine.role.keyword(),
                        machine.name.text,
                        mark.keyword()
                    ),
                ));
            }
        }
        if machine.role == Role::Test
            && !state
                .marks
                .iter()
                .any(|m| matches!(m, Mark::Pass | Mark::Fail | Mark::Inconc))
        {
            found.push(
                Diagnostic::error(
                    codes::TEST_VERDICT,
                    state.name.span,
                    format!(
                        "state `{}` of the test case needs one verdict",
                        state.name.text
                    ),
                )
                .hint("write `pass state`, `fail state` or `inconc state`"),
            );
        }
    }
}

/// States, events, guards and effects; `owner` declares the labels.
fn body(
    machine: &Machine,
    owner: &Machine,
    labels: &Labels,
    sorts: &Sorts<'_>,
    found: &mut Vec<Diagnostic>,
) {
    let table = lowered::StateTable::new(machine.states(), found);
    lowered::initial(machine, &table, found);
    let whose = format!("{} `{}`", owner.role.keyword(), owner.name.text);
    let own = format!("{} `{}`", machine.role.keyword(), machine.name.text);
    let is_system = machine.role == Role::System;
    let mut scope = Scope::new(sorts);
    for (_, binding) in machine.bindings() {
        scope.bind(&binding.name.text, sorts.resolve(&binding.sort));
    }
    for transition in machine.states().flat_map(|s| &s.transitions) {
        table.find(&transition.target, &own, found);
        for event in &transition.events {
            match &event.kind {
                EventKind::Any if is_system => found.push(Diagnostic::error(
                    codes::EVENT_NOT_HERE,
                    event.span,
                    "`*` stands for the other actions of an observer, a system names its actions",
                )),
                EventKind::Delta if is_system => found.push(
                    Diagnostic::error(
                        codes::EVENT_NOT_HERE,
                        event.span,
                        "δ is no action of a system: it is observed where no output comes",
                    )
                    .hint("leave it out"),
                ),
                // Which values there are is known when a test case meets its system.
                EventKind::Label { kind, name, .. }
                    if event_id(event, labels).is_none()
                        && !(machine.role == Role::Test
                            && labels.get(*kind, bare(&name.text)).is_some()) =>
                {
                    found.push(unknown_label(event, labels, &whose));
                }
                _ => {}
            }
        }
        data(machine, owner, transition, &mut scope, found);
    }
}

/// The declaration behind an event.
fn declaration<'m>(owner: &'m Machine, event: &Event) -> Option<&'m LabelDecl> {
    let EventKind::Label { kind, name, .. } = &event.kind else {
        return None;
    };
    owner
        .labels()
        .find(|(k, l)| {
            l.name.text == name.text
                && (k == kind || (*kind == LabelKind::Undirected && *k == LabelKind::Internal))
        })
        .map(|(_, l)| l)
}

fn data(
    machine: &Machine,
    owner: &Machine,
    transition: &Transition,
    scope: &mut Scope<'_>,
    found: &mut Vec<Diagnostic>,
) {
    // A parameter can be read when every event of the transition binds it.
    let mut bound: Option<BTreeMap<&str, ResolvedSort>> = None;
    for event in &transition.events {
        let mut here = BTreeMap::new();
        if let EventKind::Label {
            name,
            args: Some(args),
            ..
        } = &event.kind
        {
            let declared = declaration(owner, event);
            let params = declared.map_or(&[][..], |d| &d.params);
            // Of a system elsewhere, or one with syntax errors, the labels are not known.
            // So they are where an observer or a purpose says neither for which system it is nor what its labels are.
            let watches_any = matches!(machine.role, Role::Observer | Role::Purpose)
                && machine.labels().next().is_none();
            let unknown = declared.is_none() && (machine.of.is_some() || watches_any);
            if args.len() != params.len() && !unknown {
                found.push(Diagnostic::error(
                    codes::EVENT_ARITY,
                    event.span,
                    format!(
                        "label `{}` has {} parameters, not {}",
                        name.text,
                        params.len(),
                        args.len()
                    ),
                ));
            }
            duplicates(
                args.iter().filter(|a| a.text != "_"),
                "parameter",
                codes::DUPLICATE_NAME,
                found,
            );
            for (k, arg) in args.iter().enumerate().filter(|(_, a)| a.text != "_") {
                if let Some((_, hidden)) = machine.bindings().find(|(_, b)| b.name.text == arg.text)
                {
                    found.push(
                        Diagnostic::error(
                            codes::PARAMETER_HIDES,
                            arg.span,
                            format!("parameter `{}` hides a variable or constant", arg.text),
                        )
                        .related(hidden.name.span, "declared here")
                        .hint("give the parameter a name of its own, and compare the two in the guard"),
                    );
                }
                let sort = params
                    .get(k)
                    .map_or(ResolvedSort::Unknown, |p| scope.sorts.resolve(&p.sort));
                here.insert(arg.text.as_str(), sort);
            }
        }
        bound = Some(match bound {
            None => here,
            Some(before) => before
                .into_iter()
                .filter(|(name, sort)| here.get(name).is_some_and(|s| s.fits(sort)))
                .collect(),
        });
    }
    let mut shadowed = Vec::new();
    for (name, sort) in bound.unwrap_or_default() {
        shadowed.push((name, scope.bind(name, sort)));
    }
    if let Some(guard) = &transition.guard {
        scope.expect(guard, &ResolvedSort::Bool, "a guard", found);
    }
    let mut assigned = BTreeSet::new();
    for effect in &transition.effects {
        if let Some(root) = root(&effect.place) {
            match machine.bindings().find(|(_, b)| b.name.text == *root) {
                Some((false, _))
                    if matches!(effect.place.kind, ExprKind::Name(_)) && !assigned.insert(root) =>
                {
                    found.push(Diagnostic::error(
                        codes::ASSIGNED_TWICE,
                        effect.place.span,
                        format!("`{root}` is assigned twice, and assignments are parallel"),
                    ));
                }
                Some((true, constant)) => found.push(
                    Diagnostic::error(
                        codes::ASSIGNED_CONSTANT,
                        effect.place.span,
                        format!("constant `{root}` cannot be assigned to"),
                    )
                    .related(constant.name.span, "declared here"),
                ),
                _ if shadowed.iter().any(|(name, _)| name == root) => {
                    found.push(Diagnostic::error(
                        codes::ASSIGNED_CONSTANT,
                        effect.place.span,
                        format!("parameter `{root}` cannot be assigned to"),
                    ));
                }
                _ => {}
            }
        }
        let before = found.len();
        let sort = infer(&effect.place, scope, found);
        let sort = if found.len() > before {
            ResolvedSort::Unknown
        } else {
            sort
        };
        scope.expect(&effect.value, &sort, "the variable", found);
    }
    for (name, before) in shadowed.into_iter().rev() {
        scope.restore(name, before);
    }
}

/// The variable that an assignment changes.
fn root(place: &Expr) -> Option<&String> {
    match &place.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Index(base, _) | ExprKind::Field(base, _) => root(base),
        _ => None,
    }
}

fn successors(machine: &Machine) -> BTreeMap<&str, Vec<&str>> {
    machine
        .states()
        .map(|s| {
            let targets = s.transitions.iter().map(|t| t.target.text.as_str());
            (s.name.text.as_str(), targets.collect())
        })
        .collect()
}

fn unreachable_states(machine: &Machine, found: &mut Vec<Diagnostic>) {
    let Some(initial) = machine.states().find(|s| s.marks.contains(&Mark::Initial)) else {
        return;
    };
    let next = successors(machine);
    if next
        .values()
        .flatten()
        .any(|target| !next.contains_key(target))
    {
        // A wrong name is reported as such, not by its consequences.
        return;
    }
    let mut seen = BTreeSet::from([initial.name.text.as_str()]);
    let mut open = vec![initial.name.text.as_str()];
    while let Some(state) = open.pop() {
        for &target in next.get(state).into_iter().flatten() {
            if seen.insert(target) {
                open.push(target);
            }
        }
    }
    for state in machine.states() {
        if !seen.contains(state.name.text.as_str()) {
            found.push(Diagnostic::warning(
                codes::UNREACHABLE_STATE,
                state.name.span,
                format!("state `{}` cannot be reached", state.name.text),
            ));
        }
    }
}

fn unused_labels(machine: &Machine, found: &mut Vec<Diagnostic>) {
    let mut used = BTreeSet::new();
    // One that stands there in the wrong direction is an error of its own.
    let mut turned = BTreeSet::new();
    for event in events(machine) {
        match (declaration(machine, event), &event.kind) {
            (Some(declared), _) => {
                used.insert(declared.name.span);
            }
            (None, EventKind::Label { name, .. }) => {
                turned.insert(name.text.as_str());
            }
            (None, _) => {}
        }
    }
    for (kind, label) in machine.labels() {
        if !used.contains(&label.name.span) && !turned.contains(label.name.text.as_str()) {
            found.push(
                Diagnostic::warning(
                    codes::UNUSED_LABEL,
                    label.name.span,
                    format!(
                        "no transition carries `{}{}`",
                        kind.sigil(),
                        label.name.text
                    ),
                )
                .hint("it still belongs to the alphabet"),
            );
        }
    }
}

/// A test case has finite behaviour [LTS96, def. 3.1].
fn acyclic(machine: &Machine, found: &mut Vec<Diagnostic>) {
    let next = successors(machine);
    let mut colour: BTreeMap<&str, u8> = BTreeMap::new();
    let place = |name: &str| -> Option<&State> { machine.states().find(|s| s.name.text == name) };
    for &root in next.keys() {
        if colour.contains_key(root) {
            continue;
        }
        colour.insert(root, 1);
        let mut path = vec![(root, 0)];
        while let Some((state, k)) = path.last_mut() {
            let state = *state;
            let Some(&target) = next.get(state).and_then(|t| t.get(*k)) else {
                colour.insert(state, 2);
                path.pop();
                continue;
            };
            *k += 1;
            match colour.get(target) {
                None if next.contains_key(target) => {
                    colour.insert(target, 1);
                    path.push((target, 0));
                }
                Some(1) => {
                    if let Some(state) = place(target) {
                        found.push(Diagnostic::error(
                            codes::TEST_CYCLE,
                            state.name.span,
                            format!("the test case can come back to state `{target}` for ever"),
                        ));
                    }
                }
                _ => {}
            }
        }
    }
    diagnostic::sort(found);
}
