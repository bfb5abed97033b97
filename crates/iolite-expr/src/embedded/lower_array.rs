//! Arrays in the solver's own shape: reads of unknown ones agree where indices do (Ackermann).

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::lower::{Low, Lowered, Lowering, Unsupported};
use super::problem::Lin;
use super::sat::Lit;
use super::simplex::IntVar;
use crate::{Int, Sort};

/// Longest array that a model may have; a query that needs a longer one is "unknown".
pub(super) const MAX_ARRAY: i64 = 4_096;

/// Rounds of reads that reads make, and reads in all, for arrays that are equal.
const MAX_ROUNDS: usize = 4;
const MAX_AGREEMENTS: usize = 400;

/// An array.
pub(super) enum Arr {
    Var(usize),
    Items(Vec<Low>, Sort),
    Store(Rc<Arr>, Lin, Low),
    Ite(Lit, Rc<Arr>, Rc<Arr>),
    Append(Rc<Arr>, Rc<Arr>),
    Slice(Rc<Arr>, Lin, Lin),
}

/// An unknown array: its length and the reads made so far.
pub(super) struct ArrVar {
    pub(super) length: IntVar,
    pub(super) element: Sort,
    pub(super) reads: Vec<(Lin, Low)>,
}

impl Lowering {
    pub(super) fn equal_arrays(&mut self, a: &Rc<Arr>, b: &Rc<Arr>) -> Lowered<Lit> {
        if Rc::ptr_eq(a, b) {
            return Ok(self.problem.truth);
        }
        let (la, lb) = (self.len(a)?, self.len(b)?);
        let same_length = self.problem.eq_int(&la, &lb);
        let known = [&la, &lb]
            .into_iter()
            .find_map(|l| l.as_constant().and_then(Int::to_usize));
        let Some(n) = known.filter(|n| *n <= 64) else {
            // Equality of two unknown arrays: a free literal that implies equal lengths, and equal
            // items wherever one of them is read (see `agree`). Arrays that differ do so in length
            // or at an index of their own.
            let lit = self.problem.new_bool();
            self.problem.clause(vec![!lit, same_length]);
            let at = Lin::atom(self.problem.new_bounded(Some(Int::ZERO), None));
            let inside = !self.problem.le(&la, &at);
            let (x, y) = (self.select(a, &at)?, self.select(b, &at)?);
            let same = self.equal(&x, &y)?;
            self.problem.clause(vec![lit, !same_length, inside]);
            self.problem.clause(vec![lit, !same_length, !same]);
            self.equalities.push((lit, a.clone(), b.clone()));
            return Ok(lit);
        };
        let mut parts = vec![same_length];
        for i in 0..n {
            let i = Lin::constant(i.into());
            let (x, y) = (self.select(a, &i)?, self.select(b, &i)?);
            parts.push(self.equal(&x, &y)?);
        }
        Ok(self.problem.and(parts))
    }

    /// Equal arrays agree at every index that is read or written anywhere. Reads may make new
    /// reads, so this goes on until there is none; what a bound cuts off is caught by evaluation.
    pub(super) fn agree(&mut self) -> Lowered<()> {
        let mut done: FxHashSet<(usize, Lin)> = FxHashSet::default();
        for _ in 0..MAX_ROUNDS {
            let mut indices: Vec<Lin> = Vec::new();
            for array in &self.arrays {
                indices.extend(array.reads.iter().map(|(i, _)| i.clone()));
            }
            let equalities = self.equalities.clone();
            for (_, a, b) in &equalities {
                for side in [a, b] {
                    self.touched(side, &mut indices)?;
                }
            }
            indices.sort();
            indices.dedup();
            let mut new = false;
            for (n, (lit, a, b)) in equalities.iter().enumerate() {
                let length = self.len(a)?;
                for i in &indices {
                    if done.len() >= MAX_AGREEMENTS {
                        return Ok(());
                    }
                    if !done.insert((n, i.clone())) {
                        continue;
                    }
                    new = true;
                    let inside = !self.problem.le(&length, i);
                    let natural = self.problem.le(&Lin::constant(Int::ZERO), i);
                    let (x, y) = (self.select(a, i)?, self.select(b, i)?);
                    let same = self.equal(&x, &y)?;
                    self.problem.clause(vec![!*lit, !inside, !natural, same]);
                }
            }
            if !new {
                break;
            }
        }
        Ok(())
    }

    /// The indices at which an array is put together.
    fn touched(&mut self, a: &Rc<Arr>, indices: &mut Vec<Lin>) -> Lowered<()> {
        self.spend(1)?;
        match &**a {
            Arr::Var(_) => {}
            Arr::Items(items, _) => {
                indices.extend((0..items.len().min(16)).map(|i| Lin::constant(i.into())));
            }
            Arr::Store(b, i, _) => {
                indices.push(i.clone());
                self.touched(b, indices)?;
            }
            Arr::Ite(_, x, y) => {
                self.touched(x, indices)?;
                self.touched(y, indices)?;
            }
            Arr::Append(x, y) => {
                let n = self.len(x)?;
                let mut behind = Vec::new();
                self.touched(y, &mut behind)?;
                indices.extend(behind.iter().map(|i| i.plus(&n)));
                self.touched(x, indices)?;
            }
            Arr::Slice(b, lo, _) => {
                let mut whole = Vec::new();
                self.touched(b, &mut whole)?;
                indices.extend(whole.iter().map(|i| i.minus(lo)));
            }
        }
        Ok(())
    }

    pub(super) fn len(&mut self, a: &Rc<Arr>) -> Lowered<Lin> {
        self.spend(1)?;
        let at = Rc::as_ptr(a).cast::<()>() as usize;
        if let Some((_, length)) = self.lengths.get(&at) {
            return Ok(length.clone());
        }
        let length = self.length(a)?;
        self.lengths.insert(at, (a.clone(), length.clone()));
        Ok(length)
    }

    fn length(&mut self, a: &Rc<Arr>) -> Lowered<Lin> {
        Ok(match &**a {
            Arr::Var(v) => Lin::atom(self.arrays[*v].length),
            Arr::Items(items, _) => Lin::constant(items.len().into()),
            Arr::Store(a, _, _) => self.len(a)?,
            Arr::Ite(c, x, y) => {
                let (x, y) = (self.len(x)?, self.len(y)?);
                match self.ite(*c, &Low::Int(x), &Low::Int(y))? {
                    Low::Int(l) => l,
                    _ => return Err(Unsupported("ill-sorted term")),
                }
            }
            Arr::Append(x, y) => self.len(x)?.plus(&self.len(y)?),
            Arr::Slice(_, lo, hi) => hi.minus(lo),
        })
    }

    /// The item at an index. Arrays are shared, so what was read once is remembered.
    pub(super) fn select(&mut self, a: &Rc<Arr>, i: &Lin) -> Lowered<Low> {
        self.spend(1)?;
        let at = (Rc::as_ptr(a).cast::<()>() as usize, i.clone());
        if let Some((_, low)) = self.selected.get(&at) {
            return Ok(low.clone());
        }
        let low = self.read(a, i)?;
        // With the array, lest another one comes to stand at its place.
        self.selected.insert(at, (a.clone(), low.clone()));
        Ok(low)
    }

    fn read(&mut self, a: &Rc<Arr>, i: &Lin) -> Lowered<Low> {
        match &**a {
            Arr::Var(v) => {
                let element = self.arrays[*v].element.clone();
                let low = self.fresh(&element)?;
                let before: Vec<(Lin, Low)> = self.arrays[*v].reads.clone();
                self.spend(before.len())?;
                for (j, other) in before {
                    let same_index = self.problem.eq_int(i, &j);
                    let same = self.equal(&low, &other)?;
                    self.problem.clause(vec![!same_index, same]);
                }
                self.arrays[*v].reads.push((i.clone(), low.clone()));
                Ok(low)
            }
            Arr::Items(items, element) => {
                if let Some(n) = i.as_constant() {
                    return match n.to_usize().and_then(|n| items.get(n)) {
                        Some(item) => Ok(item.clone()),
                        // Out of range: never read where the term is defined.
                        None => self.fresh(element),
                    };
                }
                if items.len() > 256 {
                    return Err(Unsupported("an unknown index into a long array"));
                }
                let Some(last) = items.last() else {
                    return self.fresh(element);
                };
                let mut low = last.clone();
                for (n, item) in items.iter().enumerate().rev().skip(1) {
                    let here = self.problem.eq_int(i, &Lin::constant(n.into()));
                    low = self.ite(here, item, &low)?;
                }
                Ok(low)
            }
            Arr::Store(b, j, v) => {
                let same = self.problem.eq_int(i, j);
                if same == self.problem.truth {
                    return Ok(v.clone());
                }
                let other = self.select(b, i)?;
                self.ite(same, v, &other)
            }
            Arr::Ite(c, x, y) => {
                let (a, b) = (self.select(x, i)?, self.select(y, i)?);
                self.ite(*c, &a, &b)
            }
            Arr::Append(x, y) => {
                let n = self.len(x)?;
                let first = !self.problem.le(&n, i);
                let (a, b) = (self.select(x, i)?, self.select(y, &i.minus(&n))?);
                self.ite(first, &a, &b)
            }
            Arr::Slice(b, lo, _) => self.select(b, &lo.plus(i)),
        }
    }
}
