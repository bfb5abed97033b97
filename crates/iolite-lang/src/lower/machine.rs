//! Finite machines as explicit systems.

use std::collections::BTreeMap;

use iolite_lts::{LabelKind, Lts, LtsBuilder, StateId};

use super::not_yet;
use crate::names::{event_id, machine_labels, unknown_label};
use crate::syntax::ast::{EventKind, File, Machine, Mark, Name, State};
use crate::{Diagnostic, codes, diagnostic};

/// States keep the order of the file, labels the order of their declarations.
pub(super) fn lower(file: &File, machine: &Machine) -> Result<Lts, Vec<Diagnostic>> {
    if machine.has_data() {
        return Err(vec![not_yet(machine)]);
    }
    let mut found = Vec::new();
    let labels = machine_labels(machine);
    let whose = format!("{} `{}`", machine.role.keyword(), machine.name.text);
    let mut builder = LtsBuilder::with_labels(labels);
    let states = StateTable::new(machine.states(), &mut found);
    for state in machine.states() {
        let id = builder.named_state(&state.name.text);
        builder.set_line(id, file.lines.line(state.name.span.start));
    }
    if let Some(initial) = initial(machine, &states, &mut found) {
        builder.set_initial(initial);
    }
    for state in machine.states() {
        let Some(source) = states.get(&state.name.text) else {
            continue;
        };
        for transition in &state.transitions {
            let target = states.find(&transition.target, &whose, &mut found);
            for event in &transition.events {
                let label = match (event_id(event, builder.labels()), &event.kind) {
                    (_, EventKind::Any) => {
                        found.push(Diagnostic::error(
                            codes::EVENT_NOT_HERE,
                            event.span,
                            "`*` stands for the other actions of an observer, a system names its actions",
                        ));
                        continue;
                    }
                    (Some(label), _) => label,
                    (None, _) => {
                        found.push(unknown_label(event, builder.labels(), &whose));
                        continue;
                    }
                };
                if builder.labels().kind(label) == LabelKind::Delta
                    && machine.role == crate::syntax::ast::Role::System
                {
                    found.push(
                        Diagnostic::error(
                            codes::EVENT_NOT_HERE,
                            event.span,
                            "δ is no action of a system: it is observed where no output comes",
                        )
                        .hint("leave it out"),
                    );
                } else if let Some(target) = target {
                    builder.transition(source, label, target);
                }
            }
        }
    }
    if !found.is_empty() {
        diagnostic::sort(&mut found);
        return Err(found);
    }
    builder.build().map_err(|e| {
        vec![Diagnostic::error(
            codes::NO_INITIAL,
            machine.name.span,
            e.to_string(),
        )]
    })
}

/// The states of a machine by name, numbered in the order of the file.
pub(crate) struct StateTable<'a> {
    index: BTreeMap<&'a str, StateId>,
}

impl<'a> StateTable<'a> {
    pub(crate) fn new(
        states: impl Iterator<Item = &'a State>,
        found: &mut Vec<Diagnostic>,
    ) -> Self {
        let mut index = BTreeMap::new();
        let mut first: BTreeMap<&str, &Name> = BTreeMap::new();
        for (k, state) in states.enumerate() {
            let name = state.name.text.as_str();
            if let Some(earlier) = first.get(name) {
                found.push(
                    Diagnostic::error(
                        codes::DUPLICATE_STATE,
                        state.name.span,
                        format!("state `{name}` is declared twice"),
                    )
                    .related(earlier.span, "first declared here"),
                );
            } else {
                first.insert(name, &state.name);
                index.insert(name, StateId::new(k));
            }
        }
        Self { index }
    }

    pub(crate) fn get(&self, name: &str) -> Option<StateId> {
        self.index.get(name).copied()
    }

    pub(crate) fn find(
        &self,
        name: &Name,
        whose: &str,
        found: &mut Vec<Diagnostic>,
    ) -> Option<StateId> {
        let id = self.get(&name.text);
        if id.is_none() {
            found.push(
                Diagnostic::error(
                    codes::UNKNOWN_STATE,
                    name.span,
                    format!("{whose} has no state `{}`", name.text),
                )
                .maybe_hint(diagnostic::did_you_mean(
                    &name.text,
                    self.index.keys().copied(),
                )),
            );
        }
        id
    }
}

/// The one state marked as initial.
pub(crate) fn initial(
    machine: &Machine,
    states: &StateTable<'_>,
    found: &mut Vec<Diagnostic>,
) -> Option<StateId> {
    initial_of(
        machine.states(),
        states,
        machine.name.span,
        &format!("{} `{}`", machine.role.keyword(), machine.name.text),
        found,
    )
}

pub(crate) fn initial_of<'a>(
    all: impl Iterator<Item = &'a State> + Clone,
    states: &StateTable<'_>,
    span: crate::Span,
    whose: &str,
    found: &mut Vec<Diagnostic>,
) -> Option<StateId> {
    let mut marked = all.clone().filter(|s| s.marks.contains(&Mark::Initial));
    let Some(first) = marked.next() else {
        let example = all
            .map(|s| s.name.text.as_str())
            .next()
            .map(|s| format!("write for example `initial state {s}`"));
        found.push(
            Diagnostic::error(
                codes::NO_INITIAL,
                span,
                format!("{whose} has no initial state"),
            )
            .maybe_hint(example),
        );
        return None;
    };
    for other in marked {
        found.push(
            Diagnostic::error(
                codes::MANY_INITIAL,
                other.name.span,
                format!("{whose} has a second initial state"),
            )
            .related(first.name.span, "the first one"),
        );
    }
    states.get(&first.name.text)
}
