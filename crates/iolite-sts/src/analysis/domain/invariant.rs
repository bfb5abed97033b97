//! Abstract states as terms over the model's variables, for people and for the solver that checks
//! them again.

use iolite_expr::{Int, Op, Span, Term, TypeError};

use super::abstract_state::UNTRACKED;
use super::{Abstract, Constraint, NumericDomain, Relation, Vocabulary};

impl<N: NumericDomain> Abstract<N> {
    /// A Boolean term that is true of exactly the described valuations. The error is a term beyond
    /// the size that terms may have.
    pub fn to_term(&self) -> Result<Term, TypeError> {
        let mut parts = Vec::new();
        for (key, n) in &self.parts {
            let mut all = Vec::new();
            for (i, value) in key.iter().enumerate().filter(|(_, v)| **v != UNTRACKED) {
                let finite = &self.vocabulary.finite[i];
                let value = &finite.values[usize::from(*value)];
                all.push(match value.as_bool() {
                    Some(true) => finite.var.term(),
                    Some(false) => finite.var.term().negated(),
                    None => finite.var.term().equals_value(value)?,
                });
            }
            for c in n.constraints() {
                all.push(self.vocabulary.to_term(&c)?);
            }
            parts.push(apply(Op::And, all, true)?);
        }
        apply(Op::Or, parts, false)
    }
}

fn apply(op: Op, args: Vec<Term>, of_none: bool) -> Result<Term, TypeError> {
    match args.len() {
        0 => Ok(of_none.into()),
        1 => Ok(args[0].clone()),
        _ => Term::apply(op, args, Span::NONE),
    }
}

impl Vocabulary {
    /// A constraint over the coordinates as a term, without negative coefficients.
    pub fn to_term(&self, constraint: &Constraint) -> Result<Term, TypeError> {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for (x, a) in constraint.expr.terms() {
            let Some(quantity) = self.quantities().get(x.index()) else {
                // A coordinate that is no variable's can have any value.
                return Ok(true.into());
            };
            let mut term = quantity.term();
            if !a.abs().is_one() {
                term = Term::from(a.abs()).times(term)?;
            }
            if a.signum() > 0 {
                left.push(term);
            } else {
                right.push(term);
            }
        }
        let c = constraint.expr.constant_term();
        match c.signum() {
            1 => left.push(Term::from(c.clone())),
            -1 => right.push(Term::from(-c)),
            _ => {}
        }
        let sum = |terms: Vec<Term>| match terms.len() {
            0 => Ok(Term::from(Int::ZERO)),
            1 => Ok(terms[0].clone()),
            _ => Term::apply(Op::Add, terms, Span::NONE),
        };
        let op = match constraint.relation {
            Relation::AtLeast => Op::Ge,
            Relation::Equal => Op::Eq,
            Relation::Differ => Op::Ne,
        };
        Term::apply(op, vec![sum(left)?, sum(right)?], Span::NONE)
    }
}
