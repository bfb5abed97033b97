//! What a trace tells of constants that were left unknown.

use iolite_expr::{Answer, Kind, Op, Term};

use crate::iosts::space;
use crate::symbolic::{Symbolic, SymbolicStates};
use crate::symbolic_state::{conjuncts, either};

/// Conditions larger than this are not worked on.
const MOST: u32 = 2_000;
/// Of more ways nothing is said.
const MOST_WAYS: usize = 64;
/// A choice longer than this is left out.
const LONGEST: u32 = 200;

impl Symbolic {
    /// What every valuation of the constants meets that explains how the states were reached. Where
    /// an unknown value cannot be eliminated, what is said of it is left out: the condition may then
    /// be weaker than it could be.
    pub fn narrowed(&mut self, states: &SymbolicStates) -> Term {
        if self.known.is_some() {
            return true.into();
        }
        if states.len() > MOST_WAYS {
            return true.into();
        }
        let ways: Vec<Vec<Term>> = states
            .iter()
            .map(|s| self.of_constants(&s.condition()))
            .collect();
        let mut conditions: Vec<Term> = Vec::new();
        for way in ways {
            let way = Term::all(way);
            if !conditions.contains(&way) {
                conditions.push(way);
            }
        }
        let whole = either(&conditions);
        // What remains of the choice may say nothing, and a long one says nothing to people.
        let parts = conjuncts(&whole).into_iter();
        let (choices, sure): (Vec<Term>, Vec<Term>) =
            parts.partition(|c| matches!(c.kind(), Kind::App(Op::Or, _)));
        let sure = Term::all(sure);
        let told = choices.into_iter().filter(|c| {
            c.size() <= LONGEST
                && !matches!(
                    self.solver
                        .check_with(&Term::all([sure.clone(), c.negated()])),
                    Answer::Unsat
                )
        });
        let told: Vec<Term> = told.collect();
        Term::all([sure].into_iter().chain(told)).simplify()
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
