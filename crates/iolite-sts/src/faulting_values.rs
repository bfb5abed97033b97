//! Parameters for which a guard has no value.

use iolite_expr::{Answer, Solver, Substitution, Value, Var};

use crate::iosts::{Iosts, TransitionId};

impl Iosts {
    /// Values of the parameters for which the guard of a transition faults, `map` giving the values
    /// of variables and constants. `None` where the solver finds none.
    pub(crate) fn faulting_values(
        &self,
        solver: &mut Solver,
        map: &Substitution,
        transition: TransitionId,
    ) -> Option<Vec<Value>> {
        let transition = self.transition(transition);
        let defined = transition.guard.defined();
        if defined.is_true() {
            return None;
        }
        let fault = defined.substitute(map).ok()?.negated().simplify();
        if fault.is_false() {
            return None;
        }
        let params = &self.gate(transition.action).params;
        solver.push();
        for p in params {
            solver.declare(p);
        }
        solver.assert(&fault);
        let answer = solver.check();
        solver.pop();
        let Answer::Sat(found) = answer else {
            return None;
        };
        let value = |p: &Var| {
            let value = found.value(p.id).cloned();
            value.unwrap_or_else(|| p.sort.default_value())
        };
        Some(params.iter().map(value).collect())
    }
}
