//! Terms without a value: what they leave of a model.
//!
//! The papers' terms are total. Here a guard may divide by zero or read beyond an array, and then
//! the model says neither yes nor no. That is a matter of the constants: values of them with which a
//! term faults on the way of a trace make no specification and are left out, with every state that
//! they have. Where no values are left, nothing is known.

use iolite_expr::{Answer, Span, Term};

use crate::symbolic::{Doubt, Symbolic};
use crate::symbolic_state::SymbolicState;

/// Why something is not known where a term faults.
pub(crate) const NO_VALUE: &str =
    "the model has no meaning here: a guard or an effect has no value";

impl Symbolic {
    /// The place of the term that had no value last.
    pub fn fault_place(&self) -> Option<Span> {
        self.fault
    }

    /// Notes the constants with which a state that meets `condition` has a fault.
    pub(crate) fn exclude(
        &mut self,
        condition: &Term,
        faulting: &Term,
        place: Span,
        doubt: &mut Doubt,
    ) {
        if faulting.is_false() {
            return;
        }
        let fault = Term::all([condition.clone(), faulting.clone()]).simplify();
        if fault.is_false() {
            return;
        }
        let constants = self.project(&fault).unwrap_or_else(|| {
            // Which constants they are is not known, so it may be any.
            let possible = !matches!(self.solver.check_with(&fault), Answer::Unsat);
            possible.into()
        });
        if !constants.is_false() {
            self.fault = Some(place);
            doubt.fault(constants);
        }
    }

    /// The states without those of faulty constants; `None`, with the reason in `doubt`, where no
    /// other constants explain the trace before.
    pub(crate) fn without_faults(
        &mut self,
        before: &[SymbolicState],
        states: Vec<SymbolicState>,
        doubt: &mut Doubt,
    ) -> Option<Vec<SymbolicState>> {
        let sound = Term::all(doubt.faults().iter().map(Term::negated)).simplify();
        let mut reason = None;
        let meaningful = before.iter().any(|s| {
            let left = Term::all([s.condition(), sound.clone()]);
            match self.solver.check_with(&left) {
                Answer::Sat(_) => s.is_certain(),
                Answer::Unsat => false,
                Answer::Unknown(why) => {
                    reason.get_or_insert(why);
                    false
                }
            }
        });
        if !meaningful {
            let reason = reason.unwrap_or_else(|| NO_VALUE.into());
            doubt.note(&reason, String::new);
            return None;
        }
        let faults = doubt.faults().to_vec();
        let sound_part = |s: SymbolicState| {
            // Mostly the condition says so already.
            let met = |f: &&Term| {
                !Term::all([s.condition(), (*f).clone()])
                    .simplify()
                    .is_false()
            };
            let faults: Vec<Term> = faults.iter().filter(met).map(Term::negated).collect();
            if faults.is_empty() {
                return Some(s);
            }
            let condition = Term::all([s.condition()].into_iter().chain(faults)).simplify();
            let next = self.settled(s.location, s.values(&self.model), condition, None, doubt)?;
            Some(SymbolicState {
                tainted: s.tainted,
                ..next
            })
        };
        Some(states.into_iter().filter_map(sound_part).collect())
    }
}
