//! Behaviour expressions as explicit systems, by their operational rules.
//!
//! States are terms, hash-consed: a position in the text of a process, or an operator over terms,
//! with the values of indices, parameters and variables that the text reads. The steps of a term
//! are computed once, from those of its parts [LTS96, def. 2.4], with LOTOS's `|||`,
//! `|[A]|`, `hide`, guards, values, `exit`, `>>`, `[>` and gate parameters beside the paper's operators.

mod describe;
mod ending;
pub(super) mod linear;
mod rules;
mod term;

use std::collections::{BTreeMap, VecDeque};

use iolite_expr::Value;
use iolite_lts::{LabelId, Labels, Lts, LtsBuilder, StateId};
use rustc_hash::FxHashMap;

pub(super) use self::ending::{Ending, Endings};
use self::rules::Rules;
use self::term::TermId;
use super::over_budget;
use super::term::{Scope, Terms};
use crate::names::Names;
use crate::syntax::ast::{Behaviour, Event, EventKind, File, Item};
use crate::{Diagnostic, check};

/// What the lowering of a file's processes needs.
#[derive(Clone, Copy)]
pub(super) struct Context<'f> {
    pub(super) file: &'f File,
    pub(super) names: &'f Names<'f>,
    pub(super) terms: &'f Terms<'f>,
}

/// An explicit system, with the actions and values behind its labels that have any.
pub(super) struct Explicit {
    pub(super) lts: Lts,
    pub(super) values: BTreeMap<String, (String, Vec<Value>)>,
}

/// Why a term has no steps that could be given.
enum Stop {
    /// Too many states, steps or levels.
    Budget,
    Found(Vec<Diagnostic>),
}

impl From<Diagnostic> for Stop {
    fn from(d: Diagnostic) -> Self {
        Self::Found(vec![d])
    }
}

/// A definition whose parameters stand for what `scope` says.
pub(super) fn lower<'f>(
    context: Context<'f>,
    item: &'f Item,
    scope: &Scope,
    ending: Ending,
    budget: usize,
) -> Result<Explicit, Vec<Diagnostic>> {
    let Item::Definition(definition) = item else {
        return Err(Vec::new());
    };
    let name = definition.name.text.as_str();
    let over = definition.over.as_deref().unwrap_or_default();
    let body = &definition.body;
    lower_behaviour(context, body, scope, over, name, ending, budget)
}

/// A behaviour of the definition called `name`.
pub(super) fn lower_behaviour<'f>(
    context: Context<'f>,
    body: &'f Behaviour,
    scope: &Scope,
    over: &[Event],
    name: &str,
    ending: Ending,
    budget: usize,
) -> Result<Explicit, Vec<Diagnostic>> {
    let unguarded = check::unguarded(context.names, body);
    if !unguarded.is_empty() {
        return Err(unguarded);
    }
    let mut rules = Rules::new(context, budget);
    explore(&mut rules, body, scope, over, ending, budget).map_err(|stop| match stop {
        Stop::Budget => vec![over_budget(context.file, name, budget)],
        Stop::Found(found) => found,
    })
}

/// What the result knows beside the labels of its transitions. Hidden labels are not in it.
fn alphabet<'f>(
    rules: &mut Rules<'f>,
    body: &'f Behaviour,
    scope: &Scope,
    over: &[Event],
) -> Result<Labels, Stop> {
    let mut labels = Labels::new();
    for event in over {
        match &event.kind {
            EventKind::Label { kind, name, .. } => {
                labels.intern(*kind, &name.text);
            }
            EventKind::Offer { .. } => {
                for (label, _) in rules.event(event, scope)? {
                    let label = rules.label(label);
                    labels.intern(label.kind, &label.name);
                }
            }
            _ => {}
        }
    }
    for (kind, label) in rules.names().labels_of_body(body) {
        labels.intern(kind, &label);
    }
    Ok(labels)
}

fn explore<'f>(
    rules: &mut Rules<'f>,
    body: &'f Behaviour,
    scope: &Scope,
    over: &[Event],
    ending: Ending,
    budget: usize,
) -> Result<Explicit, Stop> {
    let alphabet = alphabet(rules, body, scope, over)?;
    let initial = rules.initial(body, scope)?;
    let mut builder = LtsBuilder::new();
    let mut states: FxHashMap<TermId, StateId> = FxHashMap::default();
    let mut queue = VecDeque::from([initial]);
    states.insert(initial, builder.state());
    let mut transitions = Vec::new();
    while let Some(term) = queue.pop_front() {
        let source = states[&term];
        for &(label, target) in rules.steps(term)?.iter() {
            let label = match ending {
                _ if !rules.is_exit(label) => label,
                Ending::Internal => LabelId::TAU,
                Ending::Never => continue,
            };
            let target = *states.entry(target).or_insert_with(|| {
                queue.push_back(target);
                builder.state()
            });
            transitions.push((source, label, target));
        }
        if builder.state_count() > budget {
            return Err(Stop::Budget);
        }
    }
    *builder.labels_mut() = alphabet;
    for (source, label, target) in transitions {
        let label = rules.label(label);
        let label = builder.label(label.kind, &label.name);
        builder.transition(source, label, target);
    }
    let mut named: Vec<_> = states.into_iter().map(|(t, s)| (s, t)).collect();
    named.sort_unstable();
    for (state, term) in named {
        builder.set_name(state, &rules.describe(term));
        if let Some(line) = rules.line(term) {
            builder.set_line(state, line);
        }
    }
    let lts = builder.build().map_err(|_| Stop::Budget)?;
    let values = rules.take_values();
    Ok(Explicit { lts, values })
}
