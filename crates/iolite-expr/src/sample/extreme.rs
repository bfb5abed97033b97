//! The ends of what a query allows.

use super::power_of_two;
use crate::solver::{Answer, Model, Solver};
use crate::{Int, Op, Term, Value};

impl Solver {
    /// The least and the greatest value of an integer term under the assertions, where they are found; `None`
    /// where it has no value.
    pub fn bounds_of(&mut self, term: &Term) -> Option<(Option<Int>, Option<Int>)> {
        let Answer::Sat(model) = self.check() else {
            return None;
        };
        let least = extreme(self, term, &model, false);
        let greatest = extreme(self, term, &model, true);
        Some((least, greatest))
    }
}

/// The greatest (least) value of an integer term, if it is bounded within reason.
pub(super) fn extreme(solver: &mut Solver, term: &Term, model: &Model, up: bool) -> Option<Int> {
    let Ok(Value::Int(mut best)) = term.eval(model) else {
        return None;
    };
    let beyond = |from: &Int, solver: &mut Solver| -> Option<Int> {
        let op = if up { Op::Ge } else { Op::Le };
        let wish = Term::bool_app(op, vec![term.clone(), from.clone().into()]);
        match solver.check_with(&wish) {
            Answer::Sat(m) => match term.eval(&m) {
                Ok(Value::Int(n)) => Some(n),
                _ => None,
            },
            _ => None,
        }
    };
    let offset = |n: &Int, by: &Int| if up { n + by } else { n - by };
    // Mostly there is no end, and one question shows it.
    if beyond(&offset(&best, &power_of_two(40)), solver).is_some() {
        return None;
    }
    let mut step = Int::ONE;
    let mut limit = loop {
        let wanted = offset(&best, &step);
        match beyond(&wanted, solver) {
            Some(n) => best = n,
            None => break wanted,
        }
        step = &step + &step;
        if step.bits() > 40 {
            return None;
        }
    };
    // best is possible, limit is not.
    loop {
        let middle = (&best + &limit).div_floor(&Int::from(2));
        if middle == best || middle == limit {
            // For the lower end the floor may hit the limit itself: look one further.
            let next = offset(&best, &Int::ONE);
            if next == limit {
                return Some(best);
            }
            match beyond(&next, solver) {
                Some(n) => best = n,
                None => return Some(best),
            }
            continue;
        }
        match beyond(&middle, solver) {
            Some(n) => best = n,
            None => limit = middle,
        }
    }
}
