//! The general simplex of Dutertre and de Moura: bounds on variables and on linear forms,
//! backtrackable, with explanations; and branch and bound for integers on top.

use std::cmp::Ordering;
use std::collections::BTreeSet;

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

/// A basic variable as a sum over the others, sorted.
struct Row {
    basic: IntVar,
    terms: Vec<(IntVar, Rational)>,
}

impl Row {
    fn coefficient(&self, x: IntVar) -> Option<&Rational> {
        let at = self.terms.binary_search_by_key(&x, |(y, _)| *y).ok()?;
        Some(&self.terms[at].1)
    }
}

/// Pivots of one check that look for short columns; then Bland's rule, for termination.
const GREEDY: u32 = 40;

#[derive(Default)]
pub(super) struct Simplex {
    lower: Vec<Bound>,
    upper: Vec<Bound>,
    value: Vec<Rational>,
    rows: Vec<Row>,
    /// By variable: its row, when it is basic.
    row_of: Vec<Option<usize>>,
    /// By variable: the rows in which it may occur.
    columns: Vec<Vec<usize>>,
    /// Basic variables whose bounds may be broken.
    suspects: BTreeSet<IntVar>,
    /// The form of each slack over the variables that are none.
    forms: Vec<Option<Linear<IntVar>>>,
    trail: Vec<(IntVar, bool, Bound)>,
    pub(super) pivots: u64,
    /// Coefficients that were looked at, long ones counted by what they cost: a pivot in a large table
    /// costs more than one in a small one.
    pub(super) coefficients: u64,
    /// Beyond so many of them `check` ends early.
    most_coefficients: Option<u64>,
}

/// How branch and bound ended.
pub(super) enum Integral {
    Yes,
    No(Core),
    OutOfBudget,
}

impl Simplex {
    /// Sets how many coefficients may be looked at.
    pub(super) fn set_most_coefficients(&mut self, most: u64) {
        self.most_coefficients = Some(most);
    }

    /// Whether it has cost more than it may. What `check` said since means nothing.
    pub(super) fn is_exhausted(&self) -> bool {
        self.most_coefficients
            .is_some_and(|most| self.coefficients > most)
    }

    pub(super) fn new_var(&mut self) -> IntVar {
        let v = IntVar(self.value.len());
        self.lower.push(None);
        self.upper.push(None);
        self.value.push(Int::ZERO.into());
        self.row_of.push(None);
        self.columns.push(Vec::new());
        self.forms.push(None);
        v
    }

    /// A variable that always equals the form (without constant) over variables that are no
    /// slacks.
    pub(super) fn new_slack(&mut self, form: &Linear<IntVar>) -> IntVar {
        let s = self.new_var();
        let mut terms: Vec<(IntVar, Rational)> = Vec::new();
        let mut value: Rational = Int::ZERO.into();
        for (x, a) in &form.terms {
            let a: Rational = a.clone().into();
            value = value.plus(&a.times(&self.value[x.0]));
            terms = match self.row_of[x.0] {
                Some(r) => sum(&terms, &self.rows[r].terms, &a),
                None => sum(&terms, &[(*x, Int::ONE.into())], &a),
            };
            self.coefficients += cost(&terms);
        }
        for (y, _) in &terms {
            self.columns[y.0].push(self.rows.len());
        }
        self.value[s.0] = value;
        self.row_of[s.0] = Some(self.rows.len());
        self.rows.push(Row { basic: s, terms });
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
        if self.value[x.0].cmp_int(&n).is_gt() {
            if self.row_of[x.0].is_some() {
                self.suspects.insert(x);
            } else {
                self.update(x, n.into());
            }
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
        if self.value[x.0].cmp_int(&n).is_lt() {
            if self.row_of[x.0].is_some() {
                self.suspects.insert(x);
            } else {
                self.update(x, n.into());
            }
        }
        Ok(())
    }

    /// The rows in which a variable occurs.
    fn column(&mut self, x: IntVar) -> Vec<usize> {
        let mut column = std::mem::take(&mut self.columns[x.0]);
        column.sort_unstable();
        column.dedup();
        column.retain(|r| self.rows[*r].coefficient(x).is_some());
        column
    }

    fn update(&mut self, x: IntVar, to: Rational) {
        let delta = to.minus(&self.value[x.0]);
        self.value[x.0] = to;
        let column = self.column(x);
        for &r in &column {
            let row = &self.rows[r];
            if let Some(a) = row.coefficient(x) {
                let b = row.basic;
                self.value[b.0] = self.value[b.0].plus(&a.times(&delta));
                self.coefficients += self.value[b.0].cost();
                self.suspects.insert(b);
            }
        }
        self.columns[x.0] = column;
    }

    fn pivot(&mut self, row: usize, enter: IntVar) {
        self.pivots += 1;
        let column = self.column(enter);
        let Row { basic, terms } = &mut self.rows[row];
        let Ok(at) = terms.binary_search_by_key(&enter, |(y, _)| *y) else {
            return;
        };
        // enter = (basic − Σ rest) / a
        let (_, a) = terms.remove(at);
        for (_, b) in terms.iter_mut() {
            *b = b.over(&a).negated();
        }
        let leave = std::mem::replace(basic, enter);
        let at = terms.partition_point(|(y, _)| *y < leave);
        terms.insert(at, (leave, Rational::from(Int::ONE).over(&a)));
        let new = std::mem::take(terms);
        self.row_of[leave.0] = None;
        self.row_of[enter.0] = Some(row);
        for other in column.into_iter().filter(|r| *r != row) {
            let old = &mut self.rows[other].terms;
            let Ok(at) = old.binary_search_by_key(&enter, |(y, _)| *y) else {
                continue;
            };
            let (_, c) = old.remove(at);
            for (y, _) in &new {
                // A column may name a row twice until it is read next.
                if old.binary_search_by_key(y, |(z, _)| *z).is_err() {
                    self.columns[y.0].push(other);
                }
            }
            let terms = sum(old, &new, &c);
            self.coefficients += cost(&terms) + new.len() as u64;
            self.rows[other].terms = terms;
        }
        self.columns[leave.0].push(row);
        self.rows[row].terms = new;
    }

    /// The bound that a variable breaks, and whether it is below it.
    fn broken(&self, b: IntVar) -> Option<(bool, &Int)> {
        let v = &self.value[b.0];
        if let Some((l, _)) = &self.lower[b.0]
            && v.cmp_int(l).is_lt()
        {
            return Some((true, l));
        }
        if let Some((u, _)) = &self.upper[b.0]
            && v.cmp_int(u).is_gt()
        {
            return Some((false, u));
        }
        None
    }

    /// Finds rational values within all bounds, or a core of bounds that allow none. Ends early where
    /// it is exhausted; the values may break bounds then.
    pub(super) fn check(&mut self) -> Result<(), Core> {
        let mut greedy = GREEDY;
        loop {
            // The least index, for termination.
            let Some(&basic) = self.suspects.first() else {
                return Ok(());
            };
            if self.is_exhausted() {
                return Ok(());
            }
            let found = self.row_of[basic.0].zip(self.broken(basic));
            let Some((r, (below, target))) = found else {
                self.suspects.pop_first();
                continue;
            };
            let target = target.clone();
            let row = &self.rows[r];
            let mut fitting = row.terms.iter().filter(|(y, a)| {
                if (a.signum() > 0) == below {
                    self.can_rise(*y)
                } else {
                    self.can_fall(*y)
                }
            });
            let enter = if greedy > 0 {
                greedy -= 1;
                fitting.min_by_key(|(y, _)| self.columns[y.0].len())
            } else {
                fitting.next()
            };
            let Some((enter, a)) = enter else {
                let mut core = Vec::new();
                let own = if below {
                    &self.lower[basic.0]
                } else {
                    &self.upper[basic.0]
                };
                core.extend(own.as_ref().map(|(_, w)| *w));
                for (y, a) in &row.terms {
                    let bound = if (a.signum() > 0) == below {
                        &self.upper[y.0]
                    } else {
                        &self.lower[y.0]
                    };
                    core.extend(bound.as_ref().map(|(_, w)| *w));
                }
                return Err(core);
            };
            let enter = *enter;
            let theta = Rational::from(target).minus(&self.value[basic.0]).over(a);
            let to = self.value[enter.0].plus(&theta);
            self.update(enter, to);
            self.pivot(r, enter);
            self.suspects.insert(enter);
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
        if self.is_exhausted() {
            return Integral::OutOfBudget;
        }
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

    /// Whether the variable is at most `n` where it stands.
    pub(super) fn is_at_most(&self, x: IntVar, n: &Int) -> bool {
        self.value[x.0].cmp_int(n).is_le()
    }

    /// The value of a variable, when it is an integer.
    pub(super) fn int_value(&self, x: IntVar) -> Option<&Int> {
        self.value[x.0].as_int()
    }

    /// All bounds as constraints `form ≥ 0` over the variables that are no slacks.
    pub(super) fn constraints(&self) -> Vec<Linear<IntVar>> {
        self.reasons().into_iter().map(|(l, _)| l).collect()
    }

    /// The same, and why each holds.
    pub(super) fn reasons(&self) -> Vec<(Linear<IntVar>, Because)> {
        let mut out = Vec::new();
        for i in 0..self.value.len() {
            let form = self.forms[i]
                .clone()
                .unwrap_or_else(|| Linear::atom(IntVar(i)));
            if let Some((l, why)) = &self.lower[i] {
                let mut c = form.clone();
                c.constant = &c.constant - l;
                out.push((c, *why));
            }
            if let Some((u, why)) = &self.upper[i] {
                let mut c = form.scaled(&Int::from(-1));
                c.constant = &c.constant + u;
                out.push((c, *why));
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

    /// The bounds of a variable as they are now.
    pub(super) fn bounds(&self, x: IntVar) -> (Option<&Int>, Option<&Int>) {
        (
            self.lower[x.0].as_ref().map(|(n, _)| n),
            self.upper[x.0].as_ref().map(|(n, _)| n),
        )
    }

    /// Whether the bounds leave one value.
    pub(super) fn is_fixed(&self, x: IntVar) -> bool {
        let (lower, upper) = (&self.lower[x.0], &self.upper[x.0]);
        lower
            .as_ref()
            .zip(upper.as_ref())
            .is_some_and(|((l, _), (u, _))| l == u)
    }

    pub(super) fn has_bounds(&self, x: IntVar) -> bool {
        self.lower[x.0].is_some() && self.upper[x.0].is_some()
    }
}

/// What it costs to go through a row.
fn cost(terms: &[(IntVar, Rational)]) -> u64 {
    terms.iter().map(|(_, a)| a.cost()).sum()
}

/// `a + factor · b`, both sorted.
fn sum(
    a: &[(IntVar, Rational)],
    b: &[(IntVar, Rational)],
    factor: &Rational,
) -> Vec<(IntVar, Rational)> {
    let mut out = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let order = match (a.get(i), b.get(j)) {
            (Some((x, _)), Some((y, _))) => x.cmp(y),
            (Some(_), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        match order {
            Ordering::Less => {
                out.push(a[i].clone());
                i += 1;
            }
            Ordering::Greater => {
                out.push((b[j].0, factor.times(&b[j].1)));
                j += 1;
            }
            Ordering::Equal => {
                let both = a[i].1.plus(&factor.times(&b[j].1));
                if !both.is_zero() {
                    out.push((a[i].0, both));
                }
                i += 1;
                j += 1;
            }
        }
    }
    out
}
