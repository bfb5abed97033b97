//! Conformance by a bounded search over sets of symbolic states of S: no deterministic form is needed, and
//! constants of S may have any value. It refutes, or says up to which length of traces there is no difference.

use std::sync::Arc;
use std::time::Duration;

use iolite_expr::{Limits, Solver};
use iolite_lts::QuiescencePolicy;

use crate::analysis::{
    Answer, DifferenceBudget, DifferenceSearch, Refutation, Run, is_without_fault,
};
use crate::conformance::{Conformance, DataRelation, Question};
use crate::iosts::{Iosts, LabelKind};
use crate::path_formula::HasTrace;
use crate::semantics::ValuedAction;
use crate::symbolic::{After, Symbolic};

/// Steps of a budget for one question to the solver.
const QUESTION: u64 = 100;
/// The part of the time that a search may use.
const PART: u32 = 3;
const HOW: &str = "search over sets of symbolic states";

impl Question<'_> {
    /// Looks for a difference on traces, shortest first; `left` says why nothing is proved.
    pub(crate) fn search(&mut self, quiescent: &Iosts, mut left: Vec<String>) -> Conformance {
        let Searched {
            model,
            refutation,
            depth,
            ended,
        } = self.searched(quiescent);
        let answer = if let Some(refutation) = refutation {
            Answer::Refuted(refutation)
        } else {
            left.push(format!("{HOW}: {ended}"));
            Answer::Unknown { left }
        };
        Conformance {
            product: model,
            answer,
            depth,
            instance: None,
        }
    }

    /// The same, before it is an answer. `quiescent` is S^δ.
    pub(crate) fn searched(&mut self, quiescent: &Iosts) -> Searched {
        let model = self.implementation.quiescent_with(self.solver);
        let budget = DifferenceBudget {
            questions: usize::try_from(self.budget.steps / QUESTION).unwrap_or(usize::MAX),
            time: (self.budget.time / PART).max(Duration::from_secs(1)),
        };
        let ends_at_delta = self.relation == DataRelation::Ioconf;
        let memory = Limits::default().memory_mb;
        self.solver
            .set_limits(Limits::new(self.budget.question, memory));
        let search = DifferenceSearch::new(&model, quiescent, ends_at_delta, self.solver, budget);
        let asked = Confirmation {
            implementation: &self.implementation,
            specification: &self.specification,
            relation: self.relation,
            policy: self.policy,
        };
        let found = search.run(&mut |run| asked.confirms(run, &model));
        self.solver.set_limits(Limits::default());
        let refutation = found.run.map(|run| Refutation {
            trace: run.trace(&model),
            run,
            how: HOW.to_owned(),
        });
        // Whether a cycle of internal actions is silent was not asked.
        let exact = self.policy == QuiescencePolicy::Strict
            || self.implementation.internal_cycle().is_none();
        Searched {
            model,
            refutation,
            depth: if exact { found.depth } else { 0 },
            ended: found.ended,
        }
    }
}

/// What a search found.
pub(crate) struct Searched {
    /// I^δ.
    pub(crate) model: Iosts,
    pub(crate) refutation: Option<Refutation>,
    /// Up to this length of traces there is no difference.
    pub(crate) depth: usize,
    pub(crate) ended: String,
}

/// Who looks at runs again: sets of symbolic states of S, which know nothing of the search.
pub(crate) struct Confirmation<'a> {
    pub(crate) implementation: &'a Iosts,
    pub(crate) specification: &'a Iosts,
    pub(crate) relation: DataRelation,
    pub(crate) policy: QuiescencePolicy,
}

impl Confirmation<'_> {
    /// Whether a run of `model`, which is I^δ or a product with it, is one of the implementation, and S
    /// forbids its last step.
    pub(crate) fn confirms(&self, run: &Run, model: &Iosts) -> bool {
        let mut solver = Solver::embedded();
        run.replay(model).is_some()
            && is_without_fault(run, model, self.implementation, &mut solver) == HasTrace::Yes
            && self.forbids(&run.trace(model), model) == Some(true)
    }

    /// Whether S has all of the trace but its last step, an observation. `None` where it was not found out.
    fn forbids(&self, trace: &[ValuedAction], model: &Iosts) -> Option<bool> {
        let specification = Arc::new(self.specification.clone());
        let semantics = Symbolic::new(specification, &[], self.policy, Solver::embedded());
        let mut semantics = semantics.ok()?;
        let mut at = match semantics.initial().ok()? {
            After::Possible(states) => states,
            After::Impossible | After::Unknown { .. } => return None,
        };
        let (last, before) = trace.split_last()?;
        for action in before {
            let gate = model.gate(action.action);
            let after = if gate.kind == LabelKind::Delta {
                if self.relation == DataRelation::Ioconf {
                    return Some(false);
                }
                semantics.after_delta(&at)
            } else {
                let own = ValuedAction {
                    action: self.specification.find_gate(gate.kind, &gate.name)?,
                    values: action.values.clone(),
                };
                if gate.kind == LabelKind::Input && self.relation == DataRelation::Uioco {
                    match semantics.takes_everywhere(&at, &own).ok()? {
                        Some(true) => {}
                        Some(false) => return Some(false),
                        None => return None,
                    }
                }
                semantics.after(&at, &own)
            };
            at = match after.ok()? {
                After::Possible(states) => states,
                After::Impossible => return Some(false),
                After::Unknown { .. } => return None,
            };
        }
        let gate = model.gate(last.action);
        let after = if gate.kind == LabelKind::Delta {
            semantics.after_delta(&at)
        } else {
            let Some(action) = self.specification.find_gate(gate.kind, &gate.name) else {
                return Some(true);
            };
            let values = last.values.clone();
            semantics.after(&at, &ValuedAction { action, values })
        };
        match after.ok()? {
            After::Possible(_) => Some(false),
            After::Impossible => Some(true),
            After::Unknown { .. } => None,
        }
    }
}
