//! The Omega test: a complete decision procedure for conjunctions of linear integer
//! constraints [Pugh, The Omega test, CACM 1992]. The last resort where branch and bound would
//! go on for ever.

use std::collections::{BTreeMap, BTreeSet};

use crate::Int;
use crate::linear::Linear;

/// Values by variable; a variable that is missing may have any value.
pub(super) type Model = BTreeMap<usize, Int>;

/// The procedure gave up.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OutOfBudget;

type Lin = Linear<usize>;

/// Integer values that satisfy all `ge` (≥ 0) and `eq` (= 0), if there are some. What it takes is taken
/// off the budget.
pub(super) fn solve(
    ge: Vec<Lin>,
    eq: Vec<Lin>,
    budget: &mut u64,
) -> Result<Option<Model>, OutOfBudget> {
    let fresh = ge
        .iter()
        .chain(&eq)
        .filter_map(|l| l.terms.keys().next_back().copied())
        .max()
        .map_or(0, |k| k + 1);
    let mut omega = Omega {
        fresh,
        budget: *budget,
    };
    let result = omega.solve(ge, eq);
    *budget = omega.budget;
    result
}

struct Omega {
    fresh: usize,
    budget: u64,
}

fn value(l: &Lin, model: &Model) -> Int {
    l.terms
        .iter()
        .fold(l.constant.clone(), |sum, (k, a)| match model.get(k) {
            Some(v) => &sum + &(a * v),
            None => sum,
        })
}

impl Omega {
    /// Takes the costs of going through all constraints off the budget.
    fn spend_on<'a>(&mut self, all: impl Iterator<Item = &'a Lin>) -> Result<(), OutOfBudget> {
        let cost = all.map(Lin::cost).sum();
        self.spend(cost)
    }

    fn spend(&mut self, n: u64) -> Result<(), OutOfBudget> {
        let n = n.saturating_add(1);
        if self.budget < n {
            self.budget = 0;
            return Err(OutOfBudget);
        }
        self.budget -= n;
        Ok(())
    }

    fn solve(&mut self, mut ge: Vec<Lin>, mut eq: Vec<Lin>) -> Result<Option<Model>, OutOfBudget> {
        self.spend_on(ge.iter().chain(&eq))?;
        // Substitutions x = form, to be read backwards when a model is found.
        let mut defined: Vec<(usize, Lin)> = Vec::new();
        while let Some(e) = eq.pop() {
            self.spend_on(ge.iter().chain(&eq).chain([&e]))?;
            let content = e.content();
            if content.is_zero() {
                if e.constant.is_zero() {
                    continue;
                }
                return Ok(None);
            }
            if !e.constant.modulo(&content).is_zero() {
                return Ok(None);
            }
            let Some((k, a)) = e
                .terms
                .iter()
                .min_by(|x, y| x.1.abs().cmp(&y.1.abs()))
                .map(|(k, a)| (*k, a.clone()))
            else {
                continue;
            };
            let by = if a.abs() == content {
                // k is determined: k = −(rest)/a.
                let mut rest = e.clone();
                rest.terms.remove(&k);
                let exact = |n: &Int| -n.div_mod(&a).map_or(Int::ZERO, |(q, _)| q);
                let mut by = Lin::constant(exact(&rest.constant));
                for (x, b) in &rest.terms {
                    by.add_term(*x, &exact(b));
                }
                by
            } else {
                // A unimodular change of variables, k = y − Σ qᵢxᵢ, makes the other
                // coefficients smaller than a; Euclid's algorithm on the whole row.
                let y = self.fresh;
                self.fresh += 1;
                let mut by = Lin::atom(y);
                for (x, b) in &e.terms {
                    if *x != k
                        && let Some((q, _)) = b.div_mod(&a)
                    {
                        by.add_term(*x, &-q);
                    }
                }
                eq.push(e.replaced(&k, &by));
                by
            };
            ge.iter_mut()
                .chain(eq.iter_mut())
                .for_each(|l| *l = l.replaced(&k, &by));
            defined.push((k, by));
        }
        let Some(mut model) = self.inequalities(ge)? else {
            return Ok(None);
        };
        for (k, by) in defined.into_iter().rev() {
            for x in by.terms.keys() {
                model.entry(*x).or_default();
            }
            model.insert(k, value(&by, &model));
        }
        Ok(Some(model))
    }

    /// Divides by the content, rounds the constant, drops what is implied by a parallel one.
    fn normalise(ge: Vec<Lin>) -> Option<Vec<Lin>> {
        let mut best: BTreeMap<BTreeMap<usize, Int>, Int> = BTreeMap::new();
        for l in ge {
            let g = l.content();
            if g.is_zero() {
                if l.constant.signum() < 0 {
                    return None;
                }
                continue;
            }
            let terms = l
                .terms
                .iter()
                .map(|(k, a)| (*k, a.div_mod(&g).map_or(Int::ZERO, |(q, _)| q)))
                .collect();
            let c = l.constant.div_floor(&g);
            let slot = best.entry(terms).or_insert_with(|| c.clone());
            if c < *slot {
                *slot = c;
            }
        }
        Some(
            best.into_iter()
                .map(|(terms, constant)| Lin { terms, constant })
                .collect(),
        )
    }

    fn inequalities(&mut self, ge: Vec<Lin>) -> Result<Option<Model>, OutOfBudget> {
        let Some(ge) = Self::normalise(ge) else {
            return Ok(None);
        };
        self.spend_on(ge.iter())?;
        if ge.is_empty() {
            return Ok(Some(Model::new()));
        }
        // Two parallel constraints that meet are an equality.
        for l in &ge {
            let opposite = l.scaled(&Int::from(-1));
            // They are sorted by their terms.
            if let Ok(at) = ge.binary_search_by(|m| m.terms.cmp(&opposite.terms)) {
                let m = &ge[at];
                let gap = &l.constant + &m.constant;
                if gap.signum() < 0 {
                    return Ok(None);
                }
                if gap.is_zero() {
                    let rest = ge.iter().filter(|x| *x != l && *x != m).cloned().collect();
                    return self.solve(rest, vec![l.clone()]);
                }
            }
        }
        let vars: BTreeSet<usize> = ge.iter().flat_map(|l| l.terms.keys().copied()).collect();
        // Prefer a variable whose elimination is exact and cheap.
        let mut choice: Option<(bool, usize, usize)> = None;
        for z in vars {
            let (mut low, mut high, mut low_unit, mut high_unit) = (0usize, 0usize, true, true);
            for l in &ge {
                let a = l.coefficient(&z);
                if a.signum() > 0 {
                    low += 1;
                    low_unit &= a.is_one();
                } else if a.signum() < 0 {
                    high += 1;
                    high_unit &= a == -1;
                }
            }
            let exact = low == 0 || high == 0 || low_unit || high_unit;
            let cost = low * high;
            if choice.is_none_or(|(e, c, _)| (!exact, cost) < (!e, c)) {
                choice = Some((exact, cost, z));
            }
        }
        let Some((exact, _, z)) = choice else {
            return Ok(Some(Model::new()));
        };
        self.eliminate(&ge, z, exact)
    }

    fn eliminate(
        &mut self,
        ge: &[Lin],
        z: usize,
        exact: bool,
    ) -> Result<Option<Model>, OutOfBudget> {
        let (mut lower, mut upper, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for l in ge {
            match l.coefficient(&z).signum() {
                1 => lower.push(l.clone()),
                -1 => upper.push(l.clone()),
                _ => rest.push(l.clone()),
            }
        }
        // Each of one side meets each of the other.
        let cost = |side: &[Lin]| side.iter().map(Lin::cost).sum::<u64>();
        let pairs = cost(&lower).saturating_mul(upper.len() as u64);
        let others = cost(&upper).saturating_mul(lower.len() as u64);
        self.spend(pairs.saturating_add(others))?;
        let shadow = |dark: bool| {
            let mut out = rest.clone();
            for l in &lower {
                for u in &upper {
                    let (b, a) = (l.coefficient(&z), -u.coefficient(&z));
                    // b·z ≥ β and a·z ≤ α give aβ ≤ bα; the dark shadow wants a gap.
                    let mut c = l.scaled(&a);
                    c.add_scaled(u, &b);
                    if dark {
                        let gap = (&a - &Int::ONE) * (&b - &Int::ONE);
                        c.constant = &c.constant - &gap;
                    }
                    out.push(c);
                }
            }
            out
        };
        let found = self.inequalities(shadow(!exact))?;
        if let Some(model) = found {
            return Ok(Some(Self::complete(model, z, &lower, &upper)));
        }
        if exact {
            return Ok(None);
        }
        if self.inequalities(shadow(false))?.is_none() {
            return Ok(None);
        }
        // Splinters: a solution outside the dark shadow lies close above some lower bound.
        let m = upper
            .iter()
            .map(|u| -u.coefficient(&z))
            .max()
            .unwrap_or(Int::ONE);
        for l in &lower {
            let b = l.coefficient(&z);
            let last = (&(&m * &b) - &(&m + &b)).div_floor(&m);
            let mut i = Int::ZERO;
            while i <= last {
                let mut e = l.clone();
                e.constant = &e.constant - &i;
                if let Some(model) = self.solve(ge.to_vec(), vec![e])? {
                    return Ok(Some(model));
                }
                i += &Int::ONE;
            }
        }
        Ok(None)
    }

    fn complete(mut model: Model, z: usize, lower: &[Lin], upper: &[Lin]) -> Model {
        for l in lower.iter().chain(upper) {
            for k in l.terms.keys().filter(|k| **k != z) {
                model.entry(*k).or_default();
            }
        }
        model.remove(&z);
        let low = lower
            .iter()
            .map(|l| (-value(l, &model)).div_ceil(&l.coefficient(&z)))
            .max();
        let high = upper
            .iter()
            .map(|u| value(u, &model).div_floor(&-u.coefficient(&z)))
            .min();
        let v = match (low, high) {
            (Some(l), Some(h)) => Int::ZERO.max(l).min(h),
            (Some(l), None) => Int::ZERO.max(l),
            (None, Some(h)) => Int::ZERO.min(h),
            (None, None) => Int::ZERO,
        };
        model.insert(z, v);
        model
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lin(row: &[i64]) -> Lin {
        let mut l = Lin::constant(row[row.len() - 1].into());
        for (k, a) in row[..row.len() - 1].iter().enumerate() {
            l.add_term(k, &Int::from(*a));
        }
        l
    }

    #[test]
    fn known_hard_rows() {
        // 27 ≤ 11x + 13y ≤ 45, −10 ≤ 7x − 9y ≤ 4 has no integer solution [Pugh 1992].
        let ge = [[11, 13, -27], [-11, -13, 45], [7, -9, 10], [-7, 9, 4]];
        let ge = ge.iter().map(|r| lin(r)).collect();
        assert_eq!(solve(ge, Vec::new(), &mut 1_000_000), Ok(None));
        assert_eq!(
            solve(Vec::new(), vec![lin(&[6, 10, 1])], &mut 1_000),
            Ok(None)
        );
        let model = solve(Vec::new(), vec![lin(&[6, 10, 15, 1])], &mut 1_000)
            .unwrap()
            .unwrap();
        assert!(value(&lin(&[6, 10, 15, 1]), &model).is_zero());
    }

    proptest! {
        #[test]
        fn agrees_with_enumeration(
            rows in prop::collection::vec(prop::array::uniform4(-5i64..6), 1..5),
            equal in prop::collection::vec(prop::array::uniform4(-5i64..6), 0..2),
        ) {
            // A box makes enumeration possible.
            let mut ge: Vec<Lin> = rows.iter().map(|r| lin(r)).collect();
            for k in 0..3 {
                let mut low = [0; 4];
                low[k] = 1;
                low[3] = 4;
                ge.push(lin(&low));
                low[k] = -1;
                ge.push(lin(&low));
            }
            let eq: Vec<Lin> = equal.iter().map(|r| lin(r)).collect();
            let holds = |v: &[i64; 3]| {
                let at = |r: &[i64; 4]| r[0] * v[0] + r[1] * v[1] + r[2] * v[2] + r[3];
                rows.iter().all(|r| at(r) >= 0) && equal.iter().all(|r| at(r) == 0)
            };
            let mut expected = false;
            for x in -4..=4 {
                for y in -4..=4 {
                    for z in -4..=4 {
                        expected |= holds(&[x, y, z]);
                    }
                }
            }
            let found = solve(ge, eq, &mut 10_000_000).unwrap();
            prop_assert_eq!(found.is_some(), expected);
            if let Some(m) = found {
                let get = |k: usize| m.get(&k).and_then(Int::to_i64).unwrap_or(0);
                prop_assert!(holds(&[get(0), get(1), get(2)]));
            }
        }
    }
}
