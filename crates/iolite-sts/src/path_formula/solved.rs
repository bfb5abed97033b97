//! Points of runs in a solved form: an unknown value that an equation determines is replaced by what it is equal to.
//!
//! Where parts of a composition hand values to one another by hidden actions, each such action chooses values that nobody
//! sees and that its guard determines (`j == held`). With a name for each of them two ways that come to the same values
//! never meet, and all interleavings are looked at one by one; solved, they are one point.

use iolite_expr::{Kind, Op, Substitution, Term, TermTooLarge, Var};

use super::{FIRST_SHOWN, Point, Search};
use crate::iosts::space;
use crate::symbolic::literal;

impl Search<'_> {
    /// Unknown values up to this number are those of somebody who asks, and keep their names.
    pub(super) fn own_unknowns_after(&mut self, fresh: usize) {
        self.fresh = fresh;
        self.own_after = fresh;
    }

    /// Begins at a point.
    pub(super) fn begin_at(&mut self, start: Point) {
        if self.is_new(&start) {
            self.open[start.shown].push_back(start);
        }
    }

    /// Whether no way has come to the same place under a condition that follows from this one; notes it then. The
    /// condition of a way is a conjunction, and one with fewer of the same parts is weaker.
    pub(super) fn is_new(&mut self, point: &Point) -> bool {
        let spot = (point.location, point.shown, point.values.clone());
        let known = self.seen.entry(spot).or_default();
        let parts = conjuncts(&point.condition);
        let weaker = |other: &Term| conjuncts(other).iter().all(|part| parts.contains(part));
        if known.iter().any(weaker) {
            return false;
        }
        known.push(point.condition.clone());
        self.noted += 1;
        true
    }

    /// The values and the condition of a point, without the unknown values of this search that equations determine.
    pub(super) fn solved(
        &self,
        values: &[Term],
        before: Term,
        parts: Vec<Term>,
    ) -> Result<(Vec<Term>, Term), TermTooLarge> {
        let mut values = values.to_vec();
        // Equations between records are looked at before simplification takes them apart.
        let mut condition = Term::all([before].into_iter().chain(parts));
        let mut simplified = false;
        loop {
            let mut equations = conjuncts(&condition).into_iter();
            let Some((var, value)) = equations.find_map(|part| self.determined(&part)) else {
                if simplified {
                    break;
                }
                condition = condition.simplify();
                simplified = true;
                continue;
            };
            let map: Substitution = [(var.id, value)].into_iter().collect();
            condition = condition.substitute(&map)?;
            for value in &mut values {
                *value = value.substitute(&map)?;
            }
            if simplified {
                condition = condition.simplify();
            }
        }
        let values = values.iter().map(Term::simplify).collect();
        Ok((values, condition))
    }

    /// An unknown value of this search, and the term that a part of a condition says it is equal to. The term is a
    /// value of its sort, or has the same sort and reads only what was there before, so that what others have named
    /// stays.
    fn determined(&self, part: &Term) -> Option<(Var, Term)> {
        let Kind::App(Op::Eq, sides) = part.kind() else {
            return None;
        };
        let [one, other] = &sides[..] else {
            return None;
        };
        for (var, term) in [(one, other), (other, one)] {
            let Some(var) = var.as_var().filter(|v| self.is_own(v)) else {
                continue;
            };
            if let Some(value) = term.as_value() {
                if var.sort.contains(value) {
                    return Some((var.clone(), literal(var, value.clone())));
                }
                continue;
            }
            let older = |v: &Var| v.id.space() != space::UNKNOWN || v.id.index() < var.id.index();
            if *term.sort() == var.sort && term.is_total() && term.free_vars().iter().all(older) {
                return Some((var.clone(), term.clone()));
            }
        }
        None
    }

    fn is_own(&self, var: &Var) -> bool {
        let own = self.own_after + 1..FIRST_SHOWN;
        var.id.space() == space::UNKNOWN && own.contains(&var.id.index())
    }
}

/// The parts of a conjunction.
fn conjuncts(condition: &Term) -> Vec<Term> {
    let mut all = Vec::new();
    let mut todo = vec![condition];
    while let Some(term) = todo.pop() {
        match term.kind() {
            Kind::App(Op::And, args) => todo.extend(args.iter()),
            _ => all.push(term.clone()),
        }
    }
    all
}
