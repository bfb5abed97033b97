//! What a condition says of one integer alone, as an interval where it is one: `c in 1..3` for `1003 / c >= 333`.

use crate::term::{Kind, Op};
use crate::{Answer, Int, Solver, Sort, Term, Var};

/// Queries for both ends of one interval.
const QUERIES: u32 = 150;
/// Beyond so many bits an end is not looked for: the interval is taken to have none there.
const BITS: u64 = 64;

/// Which end.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Least,
    Greatest,
}

/// Where the values end.
enum Limit {
    At(Int),
    /// They seem not to end there.
    Nowhere,
}

impl Limit {
    fn number(self) -> Option<Int> {
        match self {
            Self::At(n) => Some(n),
            Self::Nowhere => None,
        }
    }
}

impl End {
    /// So far away from a number, towards the end.
    fn towards(self, from: &Int, by: &Int) -> Int {
        match self {
            Self::Least => from - by,
            Self::Greatest => from + by,
        }
    }

    /// That the variable is at the number, or nearer to the end.
    fn reaches(self, var: &Var, n: &Int) -> Option<Term> {
        let n = Term::from(n.clone());
        match self {
            Self::Least => var.term().le(n),
            Self::Greatest => var.term().ge(n),
        }
        .ok()
    }
}

impl Solver {
    /// An equivalent condition, in which the parts that read a single integer and are not plain bounds are
    /// replaced by its least and its greatest value, where these say the same. Both directions are proved; what the
    /// solver leaves open stays as it is. A fault of the condition counts as `false`.
    #[must_use]
    pub fn with_intervals(&mut self, condition: &Term) -> Term {
        let condition = condition.simplify();
        let mut parts = match condition.kind() {
            Kind::App(Op::And, args) => args.to_vec(),
            _ => vec![condition.clone()],
        };
        for var in condition.free_vars() {
            if !matches!(var.sort, Sort::Int | Sort::Range(_)) {
                continue;
            }
            let is_own = |t: &Term| t.free_vars().iter().all(|v| v.id == var.id) && !t.is_ground();
            let own: Vec<Term> = parts.iter().filter(|t| is_own(t)).cloned().collect();
            if own.iter().all(is_plain) {
                continue;
            }
            let Some(interval) = self.interval(&var, &Term::all(own)) else {
                continue;
            };
            // It stands where the first of them stood.
            let at = parts.iter().position(is_own).unwrap_or(0);
            parts.retain(|t| !is_own(t));
            parts.splice(at..at, interval);
        }
        Term::all(parts).simplify()
    }

    /// The bounds that are equivalent to a condition on one variable.
    fn interval(&mut self, var: &Var, condition: &Term) -> Option<Vec<Term>> {
        // Division by zero is no solution, and no reason to leave zero out of the other direction.
        let holds = Term::all([condition.defined(), condition.clone()]);
        let fails = Term::any([condition.defined().negated(), condition.negated()]);
        let Answer::Sat(model) = self.check_with(&holds) else {
            return None;
        };
        let start = model.value(var.id)?.as_int()?.clone();
        let mut queries = QUERIES;
        let least = self.end(var, &holds, &start, End::Least, &mut queries)?;
        let greatest = self.end(var, &holds, &start, End::Greatest, &mut queries)?;
        let bounds: Vec<Term> = match (least.number(), greatest.number()) {
            (Some(a), Some(b)) if a == b => vec![var.term().equals(a).ok()?],
            (least, greatest) => {
                let least = least.map(|n| End::Greatest.reaches(var, &n));
                let greatest = greatest.map(|n| End::Least.reaches(var, &n));
                least.into_iter().chain(greatest).collect::<Option<_>>()?
            }
        };
        let within = Term::all(bounds.clone());
        let outside = Term::all([holds, within.negated()]);
        let missing = Term::all([within, fails]);
        let same = self.check_with(&outside) == Answer::Unsat
            && self.check_with(&missing) == Answer::Unsat;
        same.then_some(bounds)
    }

    /// The end of the values that satisfy a condition, seen from one of them: steps that double, then halves.
    /// `None` where that was not found out.
    fn end(
        &mut self,
        var: &Var,
        holds: &Term,
        start: &Int,
        end: End,
        queries: &mut u32,
    ) -> Option<Limit> {
        let mut known = start.clone();
        let mut step = Int::ONE;
        // No value is there, or further.
        let mut beyond: Option<Int> = None;
        loop {
            let next = match &beyond {
                None if step.bits() > BITS => return Some(Limit::Nowhere),
                None => end.towards(&known, &step),
                Some(beyond) => {
                    let apart = (beyond - &known).abs();
                    if apart.is_one() {
                        return Some(Limit::At(known));
                    }
                    end.towards(&known, &apart.div_floor(&Int::from(2)))
                }
            };
            *queries = queries.checked_sub(1)?;
            let asked = Term::all([holds.clone(), end.reaches(var, &next)?]);
            match self.check_with(&asked) {
                Answer::Sat(model) => {
                    known = model.value(var.id)?.as_int()?.clone();
                    step = &step + &step;
                }
                Answer::Unsat => beyond = Some(next),
                Answer::Unknown(_) => return None,
            }
        }
    }
}

/// Whether it compares a variable with a number.
fn is_plain(term: &Term) -> bool {
    let Kind::App(Op::Eq | Op::Lt | Op::Le | Op::Gt | Op::Ge, args) = term.kind() else {
        return false;
    };
    args.iter().any(|a| a.as_var().is_some()) && args.iter().any(|a| a.as_value().is_some())
}
