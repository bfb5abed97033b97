//! Parameters that a guard leaves one value: `p == e`, where e reads no parameter.
//!
//! What a composition hands over inside is of this form, so that a concrete state stays concrete and
//! the value is evaluated, not solved for.

use iolite_expr::{Kind, Op, Term};

use crate::iosts::{Iosts, TransitionId, space};

impl Iosts {
    /// Terms over variables and constants, one for each parameter, to which the guard of a transition
    /// equates them; `None` where it leaves one open.
    ///
    /// With other values of the parameters the guard is then false and does not fault: only conjuncts
    /// without faults stand before the equations, and what follows a false one is not evaluated.
    pub(crate) fn determined(&self, t: TransitionId) -> Option<Vec<Term>> {
        let transition = self.transition(t);
        let params = &self.gate(transition.action).params;
        let mut found: Vec<Option<Term>> = vec![None; params.len()];
        let mut conjuncts = Vec::new();
        flatten(&transition.guard, &mut conjuncts);
        for c in conjuncts.iter().take_while(|c| c.is_total()) {
            let Kind::App(Op::Eq, sides) = c.kind() else {
                continue;
            };
            for (one, other) in [(0, 1), (1, 0)] {
                if let Some(p) = sides[one].as_var()
                    && let Some(i) = params.iter().position(|q| q == p)
                    && found[i].is_none()
                    && !reads_parameters(&sides[other])
                {
                    found[i] = Some(sides[other].clone());
                }
            }
        }
        found.into_iter().collect()
    }
}

fn reads_parameters(term: &Term) -> bool {
    let vars = term.free_vars();
    vars.iter().any(|v| v.id.space() == space::PARAMETER)
}

fn flatten(term: &Term, out: &mut Vec<Term>) {
    match term.kind() {
        Kind::App(Op::And, args) => args.iter().for_each(|a| flatten(a, out)),
        _ => out.push(term.clone()),
    }
}
