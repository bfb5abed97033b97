//! Observers, purposes and sets of traces as explicit automata.
//!
//! Observers and purposes read the actions of a system, so they are lowered over its alphabet; only
//! then is known what `*` stands for.

use iolite_lts::{LabelId, LabelKind, Labels, StateId};

use super::{machine, not_yet};
use crate::names::{Names, event_id, event_ids, unknown_label};
use crate::syntax::ast::{
    Event, EventKind, File, Item, Machine, Mark, Role, State, TraceList, Transition,
};
use crate::{Diagnostic, Span, codes, diagnostic};

/// A state of an automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutomatonState {
    /// Its name.
    pub name: String,
    /// The line (from 1) that declares it.
    pub line: u32,
}

/// A deterministic automaton over the visible labels of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automaton {
    /// The declared name.
    pub name: String,
    /// Its states.
    pub states: Vec<AutomatonState>,
    /// Where it starts.
    pub initial: StateId,
    /// Row by row, one entry for each label of the alphabet.
    table: Vec<Option<StateId>>,
    labels: usize,
}

impl Automaton {
    fn new(name: &str, states: Vec<AutomatonState>, initial: StateId, labels: usize) -> Self {
        Self {
            name: name.to_owned(),
            table: vec![None; states.len() * labels],
            states,
            initial,
            labels,
        }
    }

    /// Where an action leads; `None` where the automaton has no transition for it.
    pub fn next(&self, state: StateId, label: LabelId) -> Option<StateId> {
        self.table[state.index() * self.labels + label.index()]
    }

    /// All transitions, by state and label.
    pub fn transitions(&self) -> impl Iterator<Item = (StateId, LabelId, StateId)> + '_ {
        self.table.iter().enumerate().filter_map(|(k, target)| {
            let (state, label) = (k / self.labels, k % self.labels);
            target.map(|t| (StateId::new(state), LabelId::new(label), t))
        })
    }

    fn set(&mut self, state: StateId, label: LabelId, target: StateId) -> Option<StateId> {
        let slot = &mut self.table[state.index() * self.labels + label.index()];
        slot.replace(target).filter(|&old| old != target)
    }
}

/// The negation of a safety property [SAFE04, def. 5]. The paper has one violating state;
/// several are allowed here, they can be read as one, since none has transitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObserverAutomaton {
    /// States and transitions.
    pub automaton: Automaton,
    /// The violating states, in order.
    pub violate: Vec<StateId>,
}

/// A test purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurposeAutomaton {
    /// States and transitions.
    pub automaton: Automaton,
    /// The accepting states, in order.
    pub accept: Vec<StateId>,
    /// The refusing states, in order.
    pub refuse: Vec<StateId>,
}

/// The observer of this name over the labels of a system.
pub fn lower_observer(
    file: &File,
    name: &str,
    labels: &Labels,
) -> Result<ObserverAutomaton, Vec<Diagnostic>> {
    let machine = find(file, name, Role::Observer)?;
    observer(file, machine, labels)
}

/// The purpose of this name over the labels of a system.
pub fn lower_purpose(
    file: &File,
    name: &str,
    labels: &Labels,
) -> Result<PurposeAutomaton, Vec<Diagnostic>> {
    let machine = find(file, name, Role::Purpose)?;
    purpose(file, machine, labels)
}

/// A set of traces over the labels of a system, as an automaton with accepting states.
pub fn lower_traces(
    file: &File,
    name: &str,
    labels: &Labels,
) -> Result<(Automaton, Vec<StateId>), Vec<Diagnostic>> {
    if let Some(Item::Traces(list)) = Names::new(file).get(name) {
        return trace_tree(file, list, labels);
    }
    let machine = find(file, name, Role::Traces)?;
    let automaton = automaton(file, machine, labels)?;
    Ok((automaton, marked(machine, Mark::Accept)))
}

pub(super) fn find<'f>(
    file: &'f File,
    name: &str,
    role: Role,
) -> Result<&'f Machine, Vec<Diagnostic>> {
    let machines = || {
        file.items.iter().filter_map(|item| match item {
            Item::Machine(m) if m.role == role => Some(m),
            _ => None,
        })
    };
    machines().find(|m| m.name.text == name).ok_or_else(|| {
        let error = Diagnostic::error(
            codes::UNKNOWN_NAME,
            Span::default(),
            format!("no {} is called `{name}`", role.keyword()),
        );
        let candidates = machines().map(|m| m.name.text.as_str());
        vec![error.maybe_hint(diagnostic::did_you_mean(name, candidates))]
    })
}

pub(crate) fn marked(machine: &Machine, mark: Mark) -> Vec<StateId> {
    machine
        .states()
        .enumerate()
        .filter(|(_, s)| s.marks.contains(&mark))
        .map(|(k, _)| StateId::new(k))
        .collect()
}

pub(crate) fn observer(
    file: &File,
    machine: &Machine,
    labels: &Labels,
) -> Result<ObserverAutomaton, Vec<Diagnostic>> {
    let mut found = Vec::new();
    let violate = marked(machine, Mark::Violate);
    if violate.is_empty() {
        found.push(
            Diagnostic::error(
                codes::NO_VIOLATE,
                machine.name.span,
                format!("observer `{}` has no violating state", machine.name.text),
            )
            .hint("write `violate state Bad`"),
        );
    }
    for state in machine
        .states()
        .filter(|s| s.marks.contains(&Mark::Violate))
    {
        if let Some(first) = state.transitions.first() {
            found.push(
                Diagnostic::error(
                    codes::VIOLATE_LEFT,
                    first.span,
                    format!("violating state `{}` is left again", state.name.text),
                )
                .hint("a violation is final; remove the transitions"),
            );
        }
        if state.marks.contains(&Mark::Initial) {
            found.push(Diagnostic::error(
                codes::VIOLATE_INITIAL,
                state.name.span,
                "the initial state cannot be a violating one",
            ));
        }
    }
    let automaton = match automaton(file, machine, labels) {
        Ok(automaton) => automaton,
        Err(more) => {
            found.extend(more);
            diagnostic::sort(&mut found);
            return Err(found);
        }
    };
    let mut reported = None;
    for (source, label, target) in automaton.transitions() {
        if labels.kind(label) == LabelKind::Input
            && violate.contains(&target)
            && reported != Some(source)
        {
            reported = Some(source);
            let state = machine.states().nth(source.index());
            found.push(
                Diagnostic::error(
                    codes::VIOLATE_BY_INPUT,
                    state
                        .and_then(|s| entering(s, &automaton.states[target.index()].name))
                        .unwrap_or(machine.name.span),
                    format!(
                        "input `{}` enters violating state `{}`, but a violation is an output or δ",
                        labels.text(label),
                        automaton.states[target.index()].name
                    ),
                )
                .hint("the system is blamed for what its environment does; name the inputs apart from `*`"),
            );
        }
    }
    if found.is_empty() {
        Ok(ObserverAutomaton { automaton, violate })
    } else {
        diagnostic::sort(&mut found);
        Err(found)
    }
}

fn entering(state: &State, target: &str) -> Option<Span> {
    state
        .transitions
        .iter()
        .find(|t| t.target.text == target)
        .map(|t| t.span)
}

pub(crate) fn purpose(
    file: &File,
    machine: &Machine,
    labels: &Labels,
) -> Result<PurposeAutomaton, Vec<Diagnostic>> {
    let accept = marked(machine, Mark::Accept);
    let mut found = Vec::new();
    if accept.is_empty() {
        found.push(
            Diagnostic::error(
                codes::NO_ACCEPT,
                machine.name.span,
                format!("purpose `{}` has no accepting state", machine.name.text),
            )
            .hint("write `accept state Done`"),
        );
    }
    match automaton(file, machine, labels) {
        Ok(automaton) if found.is_empty() => Ok(PurposeAutomaton {
            automaton,
            accept,
            refuse: marked(machine, Mark::Refuse),
        }),
        result => {
            found.extend(result.err().unwrap_or_default());
            diagnostic::sort(&mut found);
            Err(found)
        }
    }
}

/// A deterministic machine over the visible labels of a system.
pub(crate) fn automaton(
    file: &File,
    machine: &Machine,
    labels: &Labels,
) -> Result<Automaton, Vec<Diagnostic>> {
    if machine.has_data() {
        return Err(vec![not_yet(machine)]);
    }
    let mut found = Vec::new();
    let table = machine::StateTable::new(machine.states(), &mut found);
    let initial = machine::initial(machine, &table, &mut found);
    let states: Vec<_> = machine
        .states()
        .map(|s| AutomatonState {
            name: s.name.text.clone(),
            line: file.lines.line(s.name.span.start),
        })
        .collect();
    let mut result = Automaton::new(
        &machine.name.text,
        states,
        initial.unwrap_or(StateId::new(0)),
        labels.len(),
    );
    let whose = match &machine.of {
        Some(system) => format!("system `{}`", system.text),
        None => "the system".to_owned(),
    };
    let own = format!("{} `{}`", machine.role.keyword(), machine.name.text);
    for (k, state) in machine.states().enumerate() {
        let source = StateId::new(k);
        let mut wildcard: Option<(&Transition, Option<StateId>)> = None;
        for transition in &state.transitions {
            let target = table.find(&transition.target, &own, &mut found);
            for event in &transition.events {
                if event.kind == EventKind::Any {
                    if let Some((first, _)) = wildcard {
                        found.push(
                            Diagnostic::error(
                                codes::WILDCARD_TWICE,
                                event.span,
                                format!("state `{}` has a second `*`", state.name.text),
                            )
                            .related(first.span, "the first one"),
                        );
                    } else {
                        wildcard = Some((transition, target));
                    }
                    continue;
                }
                let matching = matching(file, event, labels);
                if matching.is_none() {
                    found.push(unknown_label(event, labels, &whose));
                }
                for label in matching.unwrap_or_default() {
                    if labels.kind(label) == LabelKind::Internal {
                        found.push(Diagnostic::error(
                            codes::EVENT_NOT_HERE,
                            event.span,
                            format!("{own} cannot see internal actions"),
                        ));
                        break;
                    }
                    if let Some(target) = target
                        && let Some(other) = result.set(source, label, target)
                    {
                        found.push(
                            Diagnostic::error(
                                codes::NONDETERMINISTIC,
                                event.span,
                                format!(
                                    "`{}` leads from state `{}` to `{}` and to `{}`",
                                    labels.text(label),
                                    state.name.text,
                                    result.states[other.index()].name,
                                    transition.target.text
                                ),
                            )
                            .hint(format!("{own} must be deterministic")),
                        );
                        break;
                    }
                }
            }
        }
        if let Some((_, Some(target))) = wildcard {
            for (label, known) in labels.iter() {
                if known.kind.is_visible() && result.next(source, label).is_none() {
                    result.set(source, label, target);
                }
            }
        }
    }
    if found.is_empty() {
        Ok(result)
    } else {
        diagnostic::sort(&mut found);
        Err(found)
    }
}

/// The labels that an event stands for. `None` where the system has no such action; there may be
/// one that takes no value at all with these constants.
fn matching(file: &File, event: &Event, labels: &Labels) -> Option<Vec<LabelId>> {
    let known = event_ids(event, labels);
    let declared = || {
        let EventKind::Label { kind, name, .. } = &event.kind else {
            return false;
        };
        let machines = file.items.iter().filter_map(|item| match item {
            Item::Machine(m) => Some(m),
            _ => None,
        });
        let mut labels = machines.flat_map(Machine::labels);
        labels.any(|(k, l)| k == *kind && l.name.text == name.text && !l.params.is_empty())
    };
    (!known.is_empty() || declared()).then_some(known)
}

/// The traces as a tree; the ends of traces accept.
fn trace_tree(
    file: &File,
    list: &TraceList,
    labels: &Labels,
) -> Result<(Automaton, Vec<StateId>), Vec<Diagnostic>> {
    let mut found = Vec::new();
    let root = AutomatonState {
        name: "eps".to_owned(),
        line: file.lines.line(list.name.span.start),
    };
    let mut tree = Automaton::new(&list.name.text, vec![root], StateId::new(0), labels.len());
    let mut accept = Vec::new();
    let whose = match &list.of {
        Some(system) => format!("system `{}`", system.text),
        None => "the system".to_owned(),
    };
    for trace in &list.traces {
        let mut state = tree.initial;
        for event in &trace.events {
            let Some(label) =
                event_id(event, labels).filter(|&l| labels.kind(l) != LabelKind::Internal)
            else {
                found.push(unknown_label(event, labels, &whose));
                break;
            };
            state = tree.next(state, label).unwrap_or_else(|| {
                let next = StateId::new(tree.states.len());
                let name = match tree.states[state.index()].name.as_str() {
                    "eps" => labels.text(label),
                    before => format!("{before}.{}", labels.text(label)),
                };
                tree.states.push(AutomatonState {
                    name,
                    line: file.lines.line(event.span.start),
                });
                tree.table.resize(tree.states.len() * tree.labels, None);
                tree.set(state, label, next);
                next
            });
        }
        accept.push(state);
    }
    accept.sort_unstable();
    accept.dedup();
    if found.is_empty() {
        Ok((tree, accept))
    } else {
        Err(found)
    }
}
