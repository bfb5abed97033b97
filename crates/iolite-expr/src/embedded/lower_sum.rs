//! Sums in the solver's own shape: a number for the variant, and fields that are made when they are
//! read first. A rank, which falls from a sum to the sums in its fields and is the same for equal ones,
//! keeps values finite: nothing contains itself.

use std::rc::Rc;

use super::lower::{Low, Lowered, Lowering, Unsupported};
use super::problem::Lin;
use super::sat::Lit;
use super::simplex::IntVar;
use crate::{Int, Sort, SumSort, SumValue};

/// How deep two unknown sums are compared; deeper ones are "unknown".
const MAX_COMPARED: u32 = 4;
/// How deep a known sum may nest to be compared with an unknown one.
const MAX_KNOWN: u32 = 200;

/// A sum.
pub(super) enum Sum {
    /// Nothing is known of it: by number of [`SumVar`].
    Var(usize),
    Known(std::sync::Arc<SumValue>),
    /// A variant with its fields.
    Made(SumSort, u32, Rc<[Low]>, Lin),
    Ite(Lit, Rc<Sum>, Rc<Sum>),
}

/// An unknown sum.
pub(super) struct SumVar {
    pub(super) sort: SumSort,
    pub(super) tag: IntVar,
    rank: IntVar,
    /// By variant and field, those that were read.
    pub(super) fields: Vec<((u32, u32), Low)>,
}

/// Variants whose values contain no sum of the group.
fn is_ground(sort: &SumSort, variant: u32) -> bool {
    let sorts = sort.field_sorts(variant);
    sorts.iter().all(|s| !contains_recursive(s))
}

fn ground_variants(sort: &SumSort) -> Vec<u32> {
    let all = 0..sort.variants().len() as u32;
    all.filter(|v| is_ground(sort, *v)).collect()
}

fn contains_recursive(sort: &Sort) -> bool {
    match sort {
        Sort::Sum(s) => s.is_recursive(),
        Sort::Record(r) => r.fields.iter().any(|(_, s)| contains_recursive(s)),
        Sort::Array(e) => contains_recursive(e),
        _ => false,
    }
}

impl Lowering {
    pub(super) fn fresh_sum(&mut self, sort: &SumSort) -> Low {
        let last = Int::from(sort.variants().len()) - Int::ONE;
        let tag = self.problem.new_bounded(Some(Int::ZERO), Some(last));
        let rank = self.problem.new_bounded(Some(Int::ZERO), None);
        self.sums.push(SumVar {
            sort: sort.clone(),
            tag,
            rank,
            fields: Vec::new(),
        });
        Low::Sum(Rc::new(Sum::Var(self.sums.len() - 1)))
    }

    pub(super) fn make(&mut self, sort: &SumSort, variant: u32, fields: Rc<[Low]>) -> Lowered<Low> {
        let rank = Lin::atom(self.problem.new_bounded(Some(Int::ZERO), None));
        for f in fields.iter() {
            self.below(f, &rank, &[])?;
        }
        let made = Sum::Made(sort.clone(), variant, fields, rank);
        Ok(Low::Sum(Rc::new(made)))
    }

    /// The recursive sums in `part` have a lower rank, where the literals are false.
    fn below(&mut self, part: &Low, rank: &Lin, unless: &[Lit]) -> Lowered<()> {
        match part {
            Low::Sum(s) if self.sum_sort(s).is_recursive() => {
                let inner = self.rank(s)?.plus(&Lin::constant(Int::ONE));
                let lower = self.problem.le(&inner, rank);
                let mut clause = unless.to_vec();
                clause.push(lower);
                self.problem.clause(clause);
            }
            Low::Record(fields) => {
                for f in fields.iter() {
                    self.below(f, rank, unless)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn sum_sort(&self, sum: &Sum) -> SumSort {
        match sum {
            Sum::Var(v) => self.sums[*v].sort.clone(),
            Sum::Known(value) => value.sort().clone(),
            Sum::Made(sort, ..) => sort.clone(),
            Sum::Ite(_, a, _) => self.sum_sort(a),
        }
    }

    fn rank(&mut self, sum: &Rc<Sum>) -> Lowered<Lin> {
        Ok(match &**sum {
            Sum::Var(v) => Lin::atom(self.sums[*v].rank),
            Sum::Known(value) => Lin::constant(value.depth().into()),
            Sum::Made(_, _, _, rank) => rank.clone(),
            Sum::Ite(c, a, b) => {
                let (a, b) = (self.rank(a)?, self.rank(b)?);
                match self.ite(*c, &Low::Int(a), &Low::Int(b))? {
                    Low::Int(l) => l,
                    _ => return Err(Unsupported("ill-sorted term")),
                }
            }
        })
    }

    /// Whether the sum is of this variant.
    pub(super) fn is_variant(&mut self, sum: &Rc<Sum>, variant: u32) -> Lit {
        match &**sum {
            Sum::Var(v) => {
                let tag = Lin::atom(self.sums[*v].tag);
                self.problem.eq_int(&tag, &Lin::constant(variant.into()))
            }
            Sum::Known(value) => self.problem.constant(value.variant() == variant),
            Sum::Made(_, v, ..) => self.problem.constant(*v == variant),
            Sum::Ite(c, a, b) => {
                let (x, y) = (self.is_variant(a, variant), self.is_variant(b, variant));
                self.problem.ite(*c, x, y)
            }
        }
    }

    /// A field; anything where the sum is of another variant.
    pub(super) fn get(&mut self, sum: &Rc<Sum>, variant: u32, field: u32) -> Lowered<Low> {
        let sort = self.sum_sort(sum).field_sort(variant, field);
        let sort = sort.ok_or(Unsupported("ill-sorted term"))?;
        match &**sum {
            Sum::Var(v) => {
                let known = self.sums[*v].fields.iter();
                if let Some((_, low)) = known.clone().find(|(at, _)| *at == (variant, field)) {
                    return Ok(low.clone());
                }
                let low = self.fresh(&sort)?;
                let here = self.is_variant(sum, variant);
                let rank = Lin::atom(self.sums[*v].rank);
                self.below(&low, &rank, &[!here])?;
                let of = &mut self.sums[*v];
                of.fields.push(((variant, field), low.clone()));
                Ok(low)
            }
            Sum::Known(value) if value.variant() == variant => {
                Ok(self.value(&value.fields()[field as usize], &sort))
            }
            Sum::Made(_, v, fields, _) if *v == variant => Ok(fields[field as usize].clone()),
            Sum::Known(_) | Sum::Made(..) => self.fresh(&sort),
            Sum::Ite(c, a, b) => {
                let (x, y) = (self.get(a, variant, field)?, self.get(b, variant, field)?);
                self.ite(*c, &x, &y)
            }
        }
    }

    pub(super) fn equal_sums(&mut self, a: &Rc<Sum>, b: &Rc<Sum>) -> Lowered<Lit> {
        match (&**a, &**b) {
            _ if Rc::ptr_eq(a, b) => return Ok(self.problem.truth),
            (Sum::Var(v), Sum::Var(w)) if v == w => return Ok(self.problem.truth),
            (Sum::Known(x), Sum::Known(y)) => return Ok(self.problem.constant(x == y)),
            (Sum::Known(x), _) | (_, Sum::Known(x)) if x.depth() > MAX_KNOWN => {
                return Err(Unsupported("a value that nests deeply"));
            }
            (Sum::Ite(c, x, y), _) => {
                let (x, y) = (self.equal_sums(x, b)?, self.equal_sums(y, b)?);
                return Ok(self.problem.ite(*c, x, y));
            }
            (_, Sum::Ite(c, x, y)) => {
                let (x, y) = (self.equal_sums(a, x)?, self.equal_sums(a, y)?);
                return Ok(self.problem.ite(*c, x, y));
            }
            _ => {}
        }
        let known = |s: &Sum| match s {
            Sum::Known(value) => Some(value.variant()),
            Sum::Made(_, variant, ..) => Some(*variant),
            _ => None,
        };
        let sort = self.sum_sort(a);
        let lit = match (known(a), known(b)) {
            (Some(v), Some(w)) if v != w => return Ok(!self.problem.truth),
            (Some(v), _) | (_, Some(v)) => self.equal_as(a, b, v)?,
            (None, None) if self.compared >= MAX_COMPARED && sort.is_recursive() => {
                self.cut = true;
                if self.bound_arrays {
                    let ground = ground_variants(&sort);
                    for side in [a, b] {
                        let is = ground.iter().map(|v| self.is_variant(side, *v)).collect();
                        self.problem.clause(is);
                    }
                    self.equal_among(a, b, &ground)?
                } else {
                    self.problem.new_bool()
                }
            }
            (None, None) => {
                let all: Vec<u32> = (0..sort.variants().len() as u32).collect();
                self.compared += 1;
                let lit = self.equal_among(a, b, &all);
                self.compared -= 1;
                lit?
            }
        };
        if sort.is_recursive() {
            let (x, y) = (self.rank(a)?, self.rank(b)?);
            let same = self.problem.eq_int(&x, &y);
            self.problem.clause(vec![!lit, same]);
        }
        Ok(lit)
    }

    fn equal_among(&mut self, a: &Rc<Sum>, b: &Rc<Sum>, variants: &[u32]) -> Lowered<Lit> {
        let cases = variants
            .iter()
            .map(|v| self.equal_as(a, b, *v))
            .collect::<Lowered<Vec<_>>>()?;
        Ok(self.problem.or(cases))
    }

    /// Whether both are of this variant, with equal fields.
    fn equal_as(&mut self, a: &Rc<Sum>, b: &Rc<Sum>, variant: u32) -> Lowered<Lit> {
        let mut parts = vec![self.is_variant(a, variant), self.is_variant(b, variant)];
        let fields = self.sum_sort(a).field_sorts(variant).len() as u32;
        for field in 0..fields {
            let (x, y) = (self.get(a, variant, field)?, self.get(b, variant, field)?);
            parts.push(self.equal(&x, &y)?);
        }
        Ok(self.problem.and(parts))
    }
}
