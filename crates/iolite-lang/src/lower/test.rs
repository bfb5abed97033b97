//! Hand-written test cases as explicit systems with verdicts.

use std::collections::BTreeSet;

use iolite_lts::{LabelId, LabelKind, Labels, Lts, LtsBuilder};

use super::automaton::find;
use super::machine::{StateTable, initial};
use super::not_yet;
use crate::names::{Names, event_ids, machine_labels, unknown_label};
use crate::syntax::ast::{EventKind, File, Machine, Mark, Role, State};
use crate::{Diagnostic, codes, diagnostic};

/// The test case of this name [LTS96, def. 3.1] with the verdict of each state; δ stands
/// for θ, the observation of the tester that nothing comes. Its actions are those that it declares,
/// else those of its system, else those that occur.
pub fn lower_test(file: &File, name: &str) -> Result<(Lts, Vec<Mark>), Vec<Diagnostic>> {
    let machine = find(file, name, Role::Test)?;
    let system = machine
        .of
        .as_ref()
        .filter(|_| machine.labels().next().is_none())
        .and_then(|of| Names::new(file).alphabet(&of.text));
    lower(
        file,
        machine,
        system.unwrap_or_else(|| machine_labels(machine)),
    )
}

/// The test case of this name over the labels of a system. `!x` is every `!x(…)`, and `*` every
/// output, and δ, that the state's other transitions do not name.
pub fn lower_test_over(
    file: &File,
    name: &str,
    labels: &Labels,
) -> Result<(Lts, Vec<Mark>), Vec<Diagnostic>> {
    lower(file, find(file, name, Role::Test)?, labels.clone())
}

fn lower(
    file: &File,
    machine: &Machine,
    labels: Labels,
) -> Result<(Lts, Vec<Mark>), Vec<Diagnostic>> {
    if machine.has_data() {
        return Err(vec![not_yet(machine)]);
    }
    let mut found = Vec::new();
    let mut builder = LtsBuilder::with_labels(labels);
    let own = format!("test `{}`", machine.name.text);
    let table = StateTable::new(machine.states(), &mut found);
    let mut verdicts = Vec::new();
    for state in machine.states() {
        let id = builder.named_state(&state.name.text);
        builder.set_line(id, file.lines.line(state.name.span.start));
        match verdict(state) {
            Ok(verdict) => verdicts.push(verdict),
            Err(missing) => found.push(missing),
        }
    }
    if let Some(initial) = initial(machine, &table, &mut found) {
        builder.set_initial(initial);
    }
    for state in machine.states() {
        let Some(source) = table.get(&state.name.text) else {
            continue;
        };
        let mut named = BTreeSet::new();
        let mut others = None;
        for transition in &state.transitions {
            let target = table.find(&transition.target, &own, &mut found);
            for event in &transition.events {
                if event.kind == EventKind::Any {
                    if others.is_some() {
                        let twice = format!("state `{}` has a second `*`", state.name.text);
                        found.push(Diagnostic::error(codes::WILDCARD_TWICE, event.span, twice));
                    }
                    others = Some(target);
                    continue;
                }
                let meant = event_ids(event, builder.labels());
                if meant.is_empty() {
                    found.push(unknown_label(event, builder.labels(), "the system"));
                }
                for &label in &meant {
                    if builder.labels().kind(label) == LabelKind::Internal {
                        let unseen = format!("{own} cannot see internal actions");
                        found.push(Diagnostic::error(codes::EVENT_NOT_HERE, event.span, unseen));
                    } else if let Some(target) = target {
                        builder.transition(source, label, target);
                    }
                }
                named.extend(meant);
            }
        }
        if let Some(Some(target)) = others {
            let outputs: Vec<LabelId> = builder.labels().outputs().collect();
            for label in outputs.into_iter().chain([LabelId::DELTA]) {
                if !named.contains(&label) {
                    builder.transition(source, label, target);
                }
            }
        }
    }
    if !found.is_empty() {
        diagnostic::sort(&mut found);
        return Err(found);
    }
    let lts = builder.build().map_err(|e| {
        let span = machine.name.span;
        vec![Diagnostic::error(codes::NO_INITIAL, span, e.to_string())]
    })?;
    Ok((lts, verdicts))
}

fn verdict(state: &State) -> Result<Mark, Diagnostic> {
    let is_verdict = |mark: &&Mark| matches!(mark, Mark::Pass | Mark::Fail | Mark::Inconc);
    let mut verdicts = state.marks.iter().filter(is_verdict);
    if let (Some(&one), None) = (verdicts.next(), verdicts.next()) {
        return Ok(one);
    }
    let message = format!(
        "state `{}` of the test case needs one verdict",
        state.name.text
    );
    let missing = Diagnostic::error(codes::TEST_VERDICT, state.name.span, message);
    Err(missing.hint("write `pass state`, `fail state` or `inconc state`"))
}
