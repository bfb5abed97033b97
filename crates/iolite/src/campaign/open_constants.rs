//! Stimuli that split what is still open of unknown constants.

use iolite_derive::{Oracle, SymbolicOracle, SymbolicPlace, Wish};
use iolite_expr::{Int, Op, Solver, Span, Substitution, Term, Value, Var};
use iolite_sts::space;

use super::shared_constants::{ConstantBounds, SharedConstants};

/// Constants that are looked at.
const MOST: usize = 8;

/// The unknown integer constants of a model, what all runs together left of them, and what the run at hand leaves.
///
/// Nothing of it is assumed when a run is judged: a stimulus is asked of the oracle, which knows this run alone.
/// Where the run contradicts what was learnt before (another device, with other constants), the run is right.
pub(super) struct OpenConstants {
    constants: Vec<Var>,
    shared: SharedConstants,
    /// What is left in the run at hand, by constant; nothing where it was not asked yet.
    left: Option<Vec<ConstantBounds>>,
    /// Stimuli that were asked for.
    asked: usize,
    /// Whether the last choice was left to others.
    waited: bool,
}

impl OpenConstants {
    pub(super) fn new(constants: impl IntoIterator<Item = Var>, shared: SharedConstants) -> Self {
        let integers = constants.into_iter().filter(|c| c.sort.is_int());
        Self {
            constants: integers.take(MOST).collect(),
            shared,
            left: None,
            asked: 0,
            waited: true,
        }
    }

    /// Whether the next choice is for a constant: every other one.
    pub(super) fn take_turn(&mut self) -> bool {
        self.waited = !self.waited;
        !self.waited && !self.is_empty()
    }

    /// A run begins, or went on.
    pub(super) fn forget(&mut self) {
        self.left = None;
    }

    /// Whether there are no such constants.
    pub(super) fn is_empty(&self) -> bool {
        self.constants.is_empty()
    }

    /// What is left of the constants, as conditions: in the run at hand where that was asked, else by all runs, but
    /// nothing of constants in which the systems differ.
    pub(super) fn conditions(&self) -> Vec<Term> {
        let left = |(k, constant): (usize, &Var)| match &self.left {
            Some(left) => between(constant, left[k]),
            None => match self.shared.of(&constant.name) {
                differ if differ.is_empty() => Vec::new(),
                bounds => between(constant, bounds),
            },
        };
        self.constants.iter().enumerate().flat_map(left).collect()
    }

    /// Finds out what the way to a place leaves of the constants, and tells the others.
    pub(super) fn learn(
        &mut self,
        oracle: &mut SymbolicOracle,
        solver: &mut Solver,
        place: &SymbolicPlace,
    ) {
        if self.left.is_some() || self.constants.is_empty() {
            return;
        }
        let narrowed = oracle.constants(place);
        let mut left = Vec::new();
        for constant in &self.constants {
            let known = self.shared.of(&constant.name);
            let together = bounds(solver, constant, &narrowed, known);
            let own = match together {
                // This system differs from the others.
                None => bounds(solver, constant, &narrowed, ConstantBounds::default()),
                some => some,
            };
            let own = own.unwrap_or_default();
            self.shared.add(&constant.name, own);
            left.push(own);
        }
        self.left = Some(left);
    }

    /// A stimulus at a point where a guard changes if a constant lies in the middle of what is left of it; `None` where
    /// no constant is open, or no guard here compares it with a parameter.
    pub(super) fn splitting(
        &mut self,
        oracle: &mut SymbolicOracle,
        place: &SymbolicPlace,
    ) -> Option<Wish> {
        let left = self.left.as_ref()?;
        let open = self.constants.iter().zip(left);
        let open: Vec<(&Var, i64)> = open
            .filter_map(|(c, left)| middle(*left).map(|middle| (c, middle)))
            .collect();
        if open.is_empty() {
            return None;
        }
        let ways = oracle.semantics().inputs(place.states()).ok()?;
        let mut wishes = Vec::new();
        for (constant, middle) in open {
            for way in &ways {
                for (one, other) in way.guard.comparisons_with(&constant.term()) {
                    let Ok(equal) = one.equals(other) else {
                        continue;
                    };
                    // Which side of the middle a comparison changes at differs, so both are tried in turn.
                    for middle in [middle, middle.saturating_add(1)] {
                        let mut value = Substitution::new();
                        value.insert_value(constant, Value::from(middle));
                        let condition = equal.substitute(&value).map(|c| c.simplify());
                        if let Ok(condition) = condition
                            && condition.free_vars().iter().any(is_parameter)
                        {
                            wishes.push((way.action, condition));
                        }
                    }
                }
            }
        }
        if wishes.is_empty() {
            return None;
        }
        let (gate, condition) = wishes.swap_remove(self.asked % wishes.len());
        self.asked += 1;
        Some(Wish {
            input: oracle.model().gate(gate).name.clone(),
            condition,
        })
    }
}

fn is_parameter(var: &Var) -> bool {
    var.id.space() == space::PARAMETER
}

/// The bounds as conditions on the constant.
fn between(constant: &Var, bounds: ConstantBounds) -> Vec<Term> {
    let ends = [(Op::Ge, bounds.least), (Op::Le, bounds.greatest)];
    let ends = ends.into_iter().filter_map(|(op, end)| Some((op, end?)));
    let side = |(op, end): (Op, i64)| {
        Term::apply(op, vec![constant.term(), Int::from(end).into()], Span::NONE)
    };
    ends.filter_map(|end| side(end).ok()).collect()
}

/// The ends of a constant's values under a condition; `None` where it has none.
fn bounds(
    solver: &mut Solver,
    constant: &Var,
    condition: &Term,
    known: ConstantBounds,
) -> Option<ConstantBounds> {
    solver.push();
    solver.declare(constant);
    solver.assert(condition);
    for end in between(constant, known) {
        solver.assert(&end);
    }
    let found = solver.bounds_of(&constant.term());
    solver.pop();
    let (least, greatest) = found?;
    Some(ConstantBounds {
        least: least.and_then(|n| n.to_i64()),
        greatest: greatest.and_then(|n| n.to_i64()),
    })
}

/// A value that halves what is left, or doubles what is known where there is no end; `None` where one value is left.
fn middle(left: ConstantBounds) -> Option<i64> {
    let doubled = |end: i64| end.saturating_abs().saturating_add(1);
    match (left.least, left.greatest) {
        (Some(least), Some(greatest)) if least >= greatest => None,
        // Rounded down, so that it is below the greatest.
        (Some(least), Some(greatest)) => {
            Some((least >> 1) + (greatest >> 1) + (least & greatest & 1))
        }
        (Some(least), None) => Some(least.saturating_add(doubled(least))),
        (None, Some(greatest)) => Some(greatest.saturating_sub(doubled(greatest))),
        (None, None) => Some(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_halves_what_is_left() {
        for least in -9..9 {
            for greatest in least..9 {
                let left = ConstantBounds {
                    least: Some(least),
                    greatest: Some(greatest),
                };
                let floor = (least + greatest).div_euclid(2);
                assert_eq!(middle(left), (least < greatest).then_some(floor));
            }
        }
        let ends = ConstantBounds {
            least: Some(i64::MIN),
            greatest: Some(i64::MAX),
        };
        assert_eq!(middle(ends), Some(-1));
        let above = |least: i64| ConstantBounds {
            least: Some(least),
            greatest: None,
        };
        assert_eq!(middle(above(7)), Some(15));
        assert_eq!(middle(above(-7)), Some(1));
        assert_eq!(middle(above(i64::MAX)), Some(i64::MAX));
        assert_eq!(middle(ConstantBounds::default()), Some(0));
    }
}
