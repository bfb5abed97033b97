//! Answers looked at again: an invariant or a run that somebody else claims to have.
//!
//! Nothing is searched for here. An invariant is three kinds of questions to the solver, a run is
//! fired step by step; the product that both speak of is made anew from system and observer.

use iolite_expr::{Solver, Value};
use iolite_lts::QuiescencePolicy;

use super::invariant::{Broken, Invariant, Undecided, broken, excludes, possible};
use super::k_induction::{NotInductive, not_inductive};
use super::problem::{Problem, faulting, may_fault};
use super::run::Run;
use super::watch::ObservedProduct;
use crate::iosts::{Iosts, LabelKind, LocationId, TransitionId};
use crate::path_formula::{HasTrace, TraceStep};
use crate::semantics::ValuedAction;

/// Points of runs that are looked at where a term of the model may have no value.
const POINTS: usize = 2_000;

impl ObservedProduct {
    /// The product that proofs speak of, and its marked locations: with δ wherever a cycle of
    /// internal actions might be silent.
    pub fn for_proofs(&self) -> (&Iosts, &[LocationId]) {
        match &self.silent {
            Some((model, marked)) => (model, marked),
            None => (&self.model, &self.marked),
        }
    }

    /// Why an invariant does not prove that no marked location is reached; `None` where it does.
    ///
    /// # Errors
    ///
    /// A question that the solver did not decide.
    pub fn recheck_proof(
        &self,
        invariant: &Invariant,
        solver: &mut Solver,
    ) -> Result<Option<Broken>, Undecided> {
        let (model, marked) = self.for_proofs();
        let problem = Problem::new(model, marked);
        if let Some(broken) = broken(&problem, invariant, solver)? {
            return Ok(Some(broken));
        }
        for l in problem.violating() {
            let here = Problem::new(model, &[l]);
            if !excludes(&here, invariant, solver)? {
                return Ok(Some(Broken::Exclusion(l)));
            }
        }
        Ok(None)
    }

    /// Why k-induction with these lemmas does not prove that no marked location is reached; `None` where it
    /// does. The lemmas are checked too.
    ///
    /// # Errors
    ///
    /// A question that the solver did not decide, or too many of them.
    pub fn recheck_induction(
        &self,
        lemmas: &Invariant,
        k: usize,
        solver: &mut Solver,
    ) -> Result<Option<NotInductive>, Undecided> {
        let (model, marked) = self.for_proofs();
        not_inductive(&Problem::new(model, marked), lemmas, k, solver)
    }

    /// The transitions for which an invariant does not exclude that a guard or an effect has no value,
    /// as far as the solver can tell.
    pub fn faults(&self, invariant: &Invariant, solver: &mut Solver) -> Vec<TransitionId> {
        faults(self.for_proofs().0, invariant, solver)
    }

    /// Whether a run of the product comes to a marked location, and is one of the system with
    /// constants of which something is claimed.
    ///
    /// # Errors
    ///
    /// Where a term may have no value, and whether that happens was not decided.
    pub fn recheck_run(
        &self,
        system: &Iosts,
        run: &Run,
        solver: &mut Solver,
    ) -> Result<bool, Undecided> {
        let problem = Problem::new(&self.model, &self.marked);
        if !run.ends_in_violation(&problem) {
            return Ok(false);
        }
        for model in [&self.model, system] {
            match is_without_fault(run, &self.model, model, solver) {
                HasTrace::Yes => {}
                HasTrace::No => return Ok(false),
                HasTrace::Unknown(why) => return Err(Undecided(why)),
            }
        }
        Ok(true)
    }
}

/// The transitions for which an invariant does not exclude that a guard or an effect has no value.
pub(super) fn faults(
    model: &Iosts,
    invariant: &Invariant,
    solver: &mut Solver,
) -> Vec<TransitionId> {
    let mut found = Vec::new();
    for (id, t) in model.transitions() {
        let fault = faulting(t);
        if fault.is_false() {
            continue;
        }
        let terms = [invariant.at(t.source).clone(), fault];
        if possible(solver, &terms) != Ok(false) {
            found.push(id);
        }
    }
    found
}

/// Whether a model, the product or its system, has the trace of a run of the product although a term
/// of it may have no value: with constants with which one faults on the way it is no specification.
/// S^δ has no δ where a guard has no value, and there nobody can say whether the system is silent.
pub(crate) fn is_without_fault(
    run: &Run,
    product: &Iosts,
    model: &Iosts,
    solver: &mut Solver,
) -> HasTrace {
    if !may_fault(model, solver) {
        return HasTrace::Yes;
    }
    let constants = product.constants().iter().zip(&run.constants);
    let constants: Vec<(&str, Value)> = constants
        .take(model.constants().len())
        .map(|(c, v)| (&*c.var.name, v.clone()))
        .collect();
    let step = |a: &ValuedAction| {
        let gate = product.gate(a.action);
        let own = model.find_gate(gate.kind, &gate.name);
        match (gate.kind, own) {
            (LabelKind::Delta, None) => Some(TraceStep::Delta),
            (_, own) => own.map(|action| {
                let values = a.values.clone();
                TraceStep::Action(ValuedAction { action, values })
            }),
        }
    };
    let trace: Option<Vec<TraceStep>> = run.trace(product).iter().map(step).collect();
    let instance = model.instance(model.name(), &constants);
    let policy = QuiescencePolicy::Strict;
    match (trace, instance) {
        (Some(trace), Ok(instance)) => instance.has_trace(&trace, policy, solver, POINTS),
        _ => HasTrace::Unknown("the constants do not fit".into()),
    }
}
