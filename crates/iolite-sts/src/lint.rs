//! What a model says that its author may not have meant.

use iolite_expr::{Answer, Model, Solver, Term};
use iolite_lts::LabelKind;

use crate::iosts::{Iosts, LocationId, TransitionId, space};

/// A finding.
#[derive(Clone, Debug)]
pub enum Lint {
    /// No values make the guard true.
    NeverTrue {
        /// The transition.
        transition: TransitionId,
    },
    /// Two transitions of one action can both be taken with the same values.
    Overlap {
        /// The first.
        first: TransitionId,
        /// The second.
        second: TransitionId,
        /// Values of variables, constants and parameters that enable both.
        witness: Model,
    },
    /// No transition that can be taken leads there.
    Unreachable {
        /// The location.
        location: LocationId,
    },
}

impl Iosts {
    /// Looks for guards that are never true, overlapping guards and unreachable locations. What
    /// the solver cannot decide is not reported.
    pub fn lint(&self, solver: &mut Solver) -> Vec<Lint> {
        let mut found = Vec::new();
        solver.push();
        // Assumptions on constants hold in every state; those on variables only in the first.
        for a in &self.assumptions {
            if a.free_vars()
                .iter()
                .all(|v| v.id.space() == space::CONSTANT)
            {
                solver.assert(a);
            }
        }
        let mut dead = vec![false; self.transitions.len()];
        for (id, t) in self.transitions() {
            if !t.guard.is_true() && solver.check_with(&t.guard) == Answer::Unsat {
                dead[id.index()] = true;
                found.push(Lint::NeverTrue { transition: id });
            }
        }
        for (l, _) in self.locations() {
            let out = self.outgoing(l);
            for (i, &a) in out.iter().enumerate() {
                for &b in &out[i + 1..] {
                    let (t, u) = (self.transition(a), self.transition(b));
                    let same_effect = t.target == u.target && t.assignments == u.assignments;
                    if t.action != u.action
                        || same_effect
                        || self.kind(a) == LabelKind::Internal
                        || dead[a.index()]
                        || dead[b.index()]
                    {
                        continue;
                    }
                    let both = Term::all([t.guard.clone(), u.guard.clone()]);
                    if let Answer::Sat(witness) = solver.check_with(&both) {
                        found.push(Lint::Overlap {
                            first: a,
                            second: b,
                            witness,
                        });
                    }
                }
            }
        }
        solver.pop();
        let mut reached = vec![false; self.locations.len()];
        let mut stack = vec![self.initial];
        while let Some(l) = stack.pop() {
            if std::mem::replace(&mut reached[l.index()], true) {
                continue;
            }
            let live = self.outgoing(l).iter().filter(|t| !dead[t.index()]);
            stack.extend(live.map(|t| self.transition(*t).target));
        }
        for (location, _) in self.locations() {
            if !reached[location.index()] {
                found.push(Lint::Unreachable { location });
            }
        }
        found
    }
}
