//! A counterexample looked at again, from the definitions and without the product.

use iolite_lts::{LabelId, LabelKind, Quiescence, Semantics, StateId, Suspension};
use iolite_property::{Lasso, Letter, StreettAutomaton};

use super::{Ending, Environment, Execution, Executions, Fairness, LetterMap};

/// Whether this is an execution of the system under these assumptions, and one that the property
/// rejects; otherwise why not.
pub fn recheck_violation<M: Semantics<State = StateId>>(
    model: &M,
    property: &StreettAutomaton,
    letters: &LetterMap,
    executions: Executions,
    execution: &Execution,
) -> Result<(), String> {
    let view = Suspension::new(model, executions.quiescence);
    if execution.initial != model.initial() {
        return Err("it does not begin in the initial state".to_owned());
    }
    let mut at = execution.initial;
    let mut stem = Vec::new();
    for &step in &execution.stem {
        stem.extend(take(model, &view, letters, &mut at, step)?);
    }
    let end = property
        .structure()
        .after(property.structure().initial(), &stem);
    let rejected = !property.finite().contains(end);
    match &execution.ending {
        Ending::BadPrefix => bad_prefix(property, end),
        Ending::OutputLock | Ending::Deadlock => {
            let kind = view.quiescence(at);
            let silent = match execution.ending {
                Ending::Deadlock => kind == Some(Quiescence::Deadlock),
                _ => {
                    kind == Some(Quiescence::OutputLock)
                        && executions.environment == Environment::MayStop
                }
            };
            let seen = kind.is_some_and(|k| letters.silence(k).is_some());
            (silent && !seen && rejected)
                .then_some(())
                .ok_or_else(|| "silence is not possible or not wrong there".to_owned())
        }
        Ending::Cycle(steps) => {
            let start = at;
            let mut cycle = Vec::new();
            let mut states = vec![start];
            for &step in steps {
                cycle.extend(take(model, &view, letters, &mut at, step)?);
                states.push(at);
            }
            if at != start || steps.is_empty() {
                return Err("the cycle does not close".to_owned());
            }
            if cycle.is_empty() {
                let visible = |l: LabelId| model.labels().kind(l) != LabelKind::Internal;
                // Where the property sees silence, a livelock shows it for ever.
                let unseen = letters.silence(Quiescence::Livelock).is_none();
                let livelock =
                    |&s: &StateId| unseen && view.quiescence(s) == Some(Quiescence::Livelock);
                if !steps.iter().any(|&(l, _)| visible(l)) && !states.iter().any(livelock) {
                    return Err("the system does not stay in this cycle".to_owned());
                }
                if !rejected {
                    return Err("the property does not reject the finite sequence".to_owned());
                }
            } else if property.accepts_lasso(&Lasso { stem, cycle }) {
                return Err("the property accepts the sequence".to_owned());
            }
            let waits = steps.iter().all(|&(l, _)| l == LabelId::DELTA);
            if waits
                && executions.environment == Environment::GoesOn
                && view.quiescence(start) == Some(Quiescence::OutputLock)
            {
                return Err("the environment would go on".to_owned());
            }
            fair(model, executions.fairness, steps, &states)
        }
    }
}

/// One step of the model, and the letter it gives.
fn take<M: Semantics<State = StateId>>(
    model: &M,
    view: &Suspension<&M>,
    letters: &LetterMap,
    at: &mut StateId,
    (label, to): (LabelId, StateId),
) -> Result<Option<Letter>, String> {
    let from = *at;
    *at = to;
    if label == LabelId::DELTA {
        let letter = view.quiescence(from).and_then(|k| letters.silence(k));
        return match letter {
            Some(letter) if from == to => Ok(Some(letter)),
            _ => Err(format!("{} is not silent", model.describe(&from))),
        };
    }
    let mut row = Vec::new();
    model.successors(&from, &mut row);
    if row.contains(&(label, to)) {
        Ok(letters.letter(label))
    } else {
        Err(format!(
            "{} has no step {}",
            model.describe(&from),
            model.labels().text(label)
        ))
    }
}

/// No continuation is accepted: no reachable state accepts finite sequences, and the automaton that
/// starts here has no accepted infinite one.
fn bad_prefix(property: &StreettAutomaton, end: StateId) -> Result<(), String> {
    let s = property.structure();
    let reach = s.reach(end);
    if reach.iter().any(|q| property.finite().contains(q)) {
        return Err("a finite continuation is accepted".to_owned());
    }
    let omega = property.to_omega();
    let next = s.table().map_err(|e| e.to_string())?.into_owned();
    let moved = iolite_property::Structure::new(s.alphabet().clone(), end, next);
    let moved = moved.map_err(|e| e.to_string())?;
    let omega = iolite_property::OmegaAutomaton {
        structure: moved,
        ..omega
    };
    match omega.accepted_lasso() {
        Ok(None) => Ok(()),
        Ok(Some(_)) => Err("an infinite continuation is accepted".to_owned()),
        Err(e) => Err(e.to_string()),
    }
}

fn fair<M: Semantics<State = StateId>>(
    model: &M,
    fairness: Fairness,
    steps: &[(LabelId, StateId)],
    states: &[StateId],
) -> Result<(), String> {
    let enabled = |s: &StateId, l: LabelId| {
        let mut row = Vec::new();
        model.successors(s, &mut row);
        row.iter().any(|(m, _)| *m == l)
    };
    for (l, label) in model.labels().iter() {
        let due = matches!(label.kind, LabelKind::Output | LabelKind::Internal)
            && match fairness {
                Fairness::None => false,
                Fairness::Weak => states.iter().all(|s| enabled(s, l)),
                Fairness::Strong => states.iter().any(|s| enabled(s, l)),
            };
        if due && !steps.iter().any(|&(m, _)| m == l) {
            return Err(format!("{label} is neglected"));
        }
    }
    Ok(())
}
