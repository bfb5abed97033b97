//! What a trace tells of constants that were left unknown.

use iolite_expr::Term;

use crate::iosts::space;
use crate::symbolic::{Symbolic, SymbolicStates};
use crate::symbolic_state::conjuncts;

/// Conditions larger than this are not worked on.
const MOST: u32 = 2_000;

impl Symbolic {
    /// What every valuation of the constants meets that explains how the states were reached. Where
    /// an unknown value cannot be eliminated, what is said of it is left out: the condition may then
    /// be weaker than it could be.
    pub fn narrowed(&mut self, states: &SymbolicStates) -> Term {
        if self.known.is_some() {
            return true.into();
        }
        let ways: Vec<Vec<Term>> = states
            .iter()
            .map(|s| self.of_constants(&s.condition()))
            .collect();
        // What all ways share is said once.
        let Some((first, others)) = ways.split_first() else {
            return false.into();
        };
        let shared: Vec<Term> = first
            .iter()
            .filter(|c| others.iter().all(|way| way.contains(c)))
            .cloned()
            .collect();
        let mut rest: Vec<Term> = Vec::new();
        for way in &ways {
            let own = Term::all(way.iter().filter(|c| !shared.contains(c)).cloned());
            if !rest.contains(&own) {
                rest.push(own);
            }
        }
        Term::all(shared.into_iter().chain([Term::any(rest)])).simplify()
    }

    /// The conjuncts of `∃ unknowns: condition`, as far as they are found.
    fn of_constants(&mut self, condition: &Term) -> Vec<Term> {
        if let Some(whole) = self.project(condition) {
            return conjuncts(&whole);
        }
        let mut parts = conjuncts(condition);
        let reads_unknown = |c: &Term| c.free_vars().iter().any(|v| v.id.space() == space::UNKNOWN);
        parts.retain(|c| !reads_unknown(c));
        parts
    }

    /// `∃ unknowns: condition`, over the constants alone, if it is found. The condition carries its
    /// definedness, so elimination is exact.
    pub(crate) fn project(&mut self, condition: &Term) -> Option<Term> {
        let unknowns: Vec<_> = condition
            .free_vars()
            .into_iter()
            .filter(|v| v.id.space() == space::UNKNOWN)
            .collect();
        if unknowns.is_empty() {
            return Some(condition.clone());
        }
        if condition.size() > MOST {
            return None;
        }
        self.solver.eliminate(&unknowns, condition)
    }
}
