//! The general simplex of Dutertre and de Moura: bounds on variables and on linear forms,
//! backtrackable, with explanations; and branch and bound for integers on top.

use std::collections::BTreeMap;

use super::rational::Rational;
use super::sat::Lit;
use crate::Int;
use crate::linear::Linear;

/// An integer variable or the value of a linear form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct IntVar(pub(super) usize);

/// Why a bound holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Because {
    /// It always does.
    Axiom,
    /// The literal is true.
    Lit(Lit),
    /// A case of branch and bound.
    Branch,
}

type Bound = Option<(Int, Because)>;

/// Bounds that contradict each other.
pub(super) type Core = Vec<Because>;

#[derive(Default)]
pub(super) struct Simplex {
    lower: Vec<Bound>,
    upper: Vec<Bound>,
    value: Vec<Rational>,
    /// For basic variables, their row over the non-basic ones.
    rows: BTreeMap<IntVar, BTreeMap<IntVar, Rational>>,
    /// The form of each slack over the variables that are none.
    forms: Vec<Option<Linear<IntVar>>>,
    trail: Vec<(IntVar, bool, Bound)>,
    pub(super) pivots: u64,
}

/// How branch and bound ended.
pub(super) enum Integral {
    Yes,
    No(Core),
    OutOfBudget,
}

impl Simplex {
    pub(super) fn new_var(&mut self) -> IntVar {
        let v = IntVar(self.value.len());
        self.lower.push(None);
        self.upper.push(None);
        self.value.push(Int::ZERO.into());
        self.forms.push(None);
        v
    }

    /// A variable that always equals the form (without constant) over variables that are no
    /// slacks.
    pub(super) fn new_slack(&mut self, form: &Linear<IntVar>) -> IntVar {
        let s = self.new_var();
        let mut row: BTreeMap<IntVar, Rational> = BTreeMap::new();
        let mut value: Rational = Int::ZERO.into();
        for (x, a) in &form.terms {
            let a: Rational = a.clone().into();
            value = value.plus(&a.times(&self.value[x.0]));
            match self.rows.get(x) {
                Some(of_x) => {
                    for (y, b) in of_x {
                        add_to(&mut row, *y, &a.times(b));
                    }
                }
                None => add_to(&mut row, *x, &a),
            }
        }
        self.value[s.0] = value;
        self.rows.insert(s, row);
        self.forms[s.0] = Some(form.clone());
        s
    }

    pub(super) fn mark(&self) -> usize {
        self.trail.len()
    }

    pub(super) fn undo_to(&mut self, mark: usize) {
        while self.trail.len() > mark {
            if let Some((x, is_upper, old)) = self.trail.pop() {
                if is_upper {
                    self.upper[x.0] = old;
                } else {
                    self.lower[x.0] = old;
                }
            }
        }
    }

    pub(super) fn assert_upper(&mut self, x: IntVar, n: Int, why: Because) -> Result<(), Core> {
        if self.upper[x.0].as_ref().is_some_and(|(u, _)| *u <= n) {
            return Ok(());
        }
        if let Some((l, because)) = &self.lower[x.0]
            && n < *l
        {
            return Err(vec![*because, why]);
        }
        let old = self.upper[x.0].replace((n.clone(), why));
        self.trail.push((x, true, old));
        if !self.rows.contains_key(&x) && self.value[x.0].cmp_int(&n).is_gt() {
            self.update(x, n.into());
        }
        Ok(())
    }

    pub(super) fn assert_lower(&mut self, x: IntVar, n: Int, why: Because) -> Result<(), Core> {
        if self.lower[x.0].as_ref().is_some_and(|(l, _)| n <= *l) {
            return Ok(());
        }
        if let Some((u, because)) = &self.upper[x.0]
            && *u < n
        {
            return Err(vec![*because, why]);
        }
        let old = self.lower[x.0].replace((n.clone(), why));
        self.trail.push((x, false, old));
        if !self.rows.contains_key(&x) && self.value[x.0].cmp_int(&n).is_lt() {
            self.update(x, n.into());
        }
        Ok(())
    }

    fn update(&mut self, x: IntVar, to: Rational) {
        let delta = to.minus(&self.value[x.0]);
        self.value[x.0] = to;
        for (b, row) in &self.rows {
            if let Some(a) = row.get(&x) {
                self.value[b.0] = self.value[b.0].plus(&a.times(&delta));
            }
        }
    }

    fn pivot(&mut self, basic: IntVar, enter: IntVar) {
        self.pivots += 1;
        let mut row = self.rows.remove(&basic).unwrap_or_default();
        let Some(a) = row.remove(&enter) else { return };
        // enter = (basic − Σ rest) / a
        let mut new: BTreeMap<IntVar, Rational> = BTreeMap::new();
        new.insert(basic, Rational::from(Int::ONE).over(&a));
        for (y, b) in row {
            new.insert(y, b.over(&a).negated());
        }
        for other in self.rows.values_mut() {
            if let Some(c) = other.remove(&enter) {
                for (y, b) in &new {
                    add_to(other, *y, &c.times(b));
                }
            }
        }
        self.rows.insert(enter, new);
    }

    /// Finds rational values within all bounds, or a core of bounds that allow none.
    pub(super) fn check(&mut self) -> Result<(), Core> {
        loop {
            // Bland's rule: the least index, for termination.
            let broken = self.rows.keys().copied().find_map(|b| {
                let v = &self.value[b.0];
                if let Some((l, _)) = &self.lower[b.0]
                    && v.cmp_int(l).is_lt()
                {
                    return Some((b, true, l.clone()));
                }
                if let Some((u, _)) = &self.upper[b.0]
                    && v.cmp_int(u).is_gt()
                {
                    return Some((b, false, u.clone()));
                }
                None
            });
            let Some((basic, below, target)) = broken else {
                return Ok(());
            };
            let row = &self.rows[&basic];
            let enter = row.iter().find(|(y, a)| {
                if (a.signum() > 0) == below {
                    self.can_rise(**y)
                } else {
                    self.can_fall(**y)
                }
            });
            let Some((&enter, _)) = enter else {
                let mut core = Vec::new();
                let own = if below {
                    &self.lower[basic.0]
                } else {
                    &self.upper[basic.0]
                };
                core.extend(own.as_ref().map(|(_, w)| *w));
                for (y, a) in row {
                    let bound = if (a.signum() > 0) == below {
                        &self.upper[y.0]
                    } else {
                        &self.lower[y.0]
                    };
                    core.extend(bound.as_ref().map(|(_, w)| *w));
                }
                return Err(core);
            };
            let a = row[&enter].clone();
            let theta = Rational::from(target.clone())
                .minus(&self.value[basic.0])
                .over(&a);
            let to = self.value[enter.0].plus(&theta);
            self.update(enter, to);
            self.pivot(basic, enter);
        }
    }

    fn can_rise(&self, x: IntVar) -> bool {
        self.upper[x.0]
            .as_ref()
            .is_none_or(|(u, _)| self.value[x.0].cmp_int(u).is_lt())
    }

    fn can_fall(&self, x: IntVar) -> bool {
        self.lower[x.0]
            .as_ref()
            .is_none_or(|(l, _)| self.value[x.0].cmp_int(l).is_gt())
    }

    /// Branch and bound from a rational solution. After `Yes` all values are integers.
    pub(super) fn integral(&mut self, budget: &mut u32, depth: u32) -> Integral {
        let fraction = (0..self.value.len())
            .map(IntVar)
            .find(|x| self.value[x.0].as_int().is_none());
        let Some(x) = fraction else {
            return Integral::Yes;
        };
        if *budget == 0 || depth > 60 {
            return Integral::OutOfBudget;
        }
        *budget -= 1;
        let floor = self.value[x.0].floor();
        let mut core: Core = Vec::new();
        for up in [false, true] {
            let mark = self.mark();
            let asserted = if up {
                self.assert_lower(x, &floor + &Int::ONE, Because::Branch)
            } else {
                self.assert_upper(x, floor.clone(), Because::Branch)
            };
            let result = match asserted.and_then(|()| self.check()) {
                Ok(()) => self.integral(budget, depth + 1),
                Err(core) => Integral::No(core),
            };
            self.undo_to(mark);
            match result {
                // A conflict that needs no branch refutes the whole problem.
                Integral::No(part) if !part.contains(&Because::Branch) => {
                    return Integral::No(part);
                }
                Integral::No(part) => {
                    core.extend(part.into_iter().filter(|b| *b != Because::Branch));
                }
                other => return other,
            }
        }
        // Marks the conflict as one of branches, for the levels above.
        if depth > 0 {
            core.push(Because::Branch);
        }
        Integral::No(core)
    }

    /// The value of a variable, when it is an integer.
    pub(super) fn int_value(&self, x: IntVar) -> Option<&Int> {
        self.value[x.0].as_int()
    }

    /// All bounds as constraints `form ≥ 0` over the variables that are no slacks.
    pub(super) fn constraints(&self) -> Vec<Linear<IntVar>> {
        let mut out = Vec::new();
        for i in 0..self.value.len() {
            let form = self.forms[i]
                .clone()
                .unwrap_or_else(|| Linear::atom(IntVar(i)));
            if let Some((l, _)) = &self.lower[i] {
                let mut c = form.clone();
                c.constant = &c.constant - l;
                out.push(c);
            }
            if let Some((u, _)) = &self.upper[i] {
                let mut c = form.scaled(&Int::from(-1));
                c.constant = &c.constant + u;
                out.push(c);
            }
        }
        out
    }

    /// Whether the variable is one of the problem and not a slack.
    pub(super) fn is_original(&self, x: IntVar) -> bool {
        self.forms[x.0].is_none()
    }

    pub(super) fn form(&self, x: IntVar) -> Option<&Linear<IntVar>> {
        self.forms[x.0].as_ref()
    }

    pub(super) fn len(&self) -> usize {
        self.value.len()
    }

    pub(super) fn has_bounds(&self, x: IntVar) -> bool {
        self.lower[x.0].is_some() && self.upper[x.0].is_some()
    }
}

fn add_to(row: &mut BTreeMap<IntVar, Rational>, x: IntVar, a: &Rational) {
    let sum = row.get(&x).map_or_else(|| a.clone(), |b| a.plus(b));
    if sum.is_zero() {
        row.remove(&x);
    } else {
        row.insert(x, sum);
    }
}
