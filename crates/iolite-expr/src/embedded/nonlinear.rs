//! Values for what is not linear: intervals are narrowed, then factors and divisors are tried.
//!
//! The lemmas of the search cut away one point of a product at a time. Guards that people write
//! (`x * y == 391`, `part * 100 / total == 37`) have few candidates once the intervals of all
//! factors are known, so these are tried one by one: with one factor of each product
//! fixed, the rest is linear, and the Omega test decides it. Where every candidate was
//! tried, there is no solution.

use std::time::Instant;

use super::interval::{Domains, Empty, Interval};
use super::omega;
use super::problem::{Definition, Lin};
use super::simplex::IntVar;
use crate::Int;
use crate::linear::Linear;

/// How the search ended.
pub(super) enum Outcome {
    /// Values by variable; what is missing may have any value.
    Values(omega::Model),
    /// There are none.
    Impossible,
    /// The candidates were too many.
    Unknown,
}

/// Candidates for one factor, in one round: few for all before many for one.
const WINDOWS: [usize; 3] = [8, 64, 1_024];
/// Steps of the Omega test for one choice of factors.
const OMEGA: u64 = 200_000;
/// Constraints in one round of narrowing that cost as much as a candidate.
const ROUND: usize = 16;
/// Numbers up to this are taken apart into divisors.
const FACTORED: i64 = 1 << 36;
/// Numbers that are tried as divisors that cost as much as a candidate.
const DIVISORS: usize = 10_000;

/// What the search may spend, in candidates, over all calls for one query.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    pub(super) nodes: u32,
    /// Steps of the Omega test, all candidates together.
    pub(super) omega: u64,
    pub(super) deadline: Option<Instant>,
}

struct Nonlinear<'a> {
    ge: &'a [Lin],
    definitions: &'a [Definition],
    allowance: &'a mut Allowance,
    window: usize,
    /// Whether every candidate was tried so far.
    complete: bool,
}

/// Integers that satisfy `ge` (each ≥ 0) and the definitions of products and quotients.
pub(super) fn solve(
    ge: &[Lin],
    definitions: &[Definition],
    variables: usize,
    allowance: &mut Allowance,
) -> Outcome {
    let mut root = Domains::new(variables);
    for window in WINDOWS {
        let mut search = Nonlinear {
            ge,
            definitions,
            allowance,
            window,
            complete: true,
        };
        if search.propagate(&mut root).is_err() {
            return Outcome::Impossible;
        }
        if let Some(found) = search.descend(&root, &mut Vec::new()) {
            return Outcome::Values(found);
        }
        if search.complete {
            return Outcome::Impossible;
        }
        if allowance.nodes == 0 {
            break;
        }
    }
    Outcome::Unknown
}

impl Nonlinear<'_> {
    fn propagate(&mut self, domains: &mut Domains) -> Result<(), Empty> {
        // Each round narrows; a fixed point may be far away, and to stop early is sound. Rounds over
        // many constraints count for more than one candidate.
        let cost = ((self.ge.len() + self.definitions.len()) / ROUND) as u32;
        for _ in 0..24 {
            self.allowance.nodes = self.allowance.nodes.saturating_sub(cost);
            let mut changed = false;
            for l in self.ge {
                changed |= domains.at_least_zero(l)?;
            }
            for d in self.definitions {
                changed |= match d {
                    Definition::Product { product, a, b } => domains.product(*product, a, b)?,
                    Definition::Quotient {
                        quotient,
                        remainder,
                        a,
                        b,
                    } => domains.quotient(*quotient, *remainder, a, b)?,
                    _ => false,
                };
            }
            if !changed {
                break;
            }
        }
        Ok(())
    }

    /// The factor to try values for, and these values; `None` where all is linear.
    fn choose(&mut self, domains: &Domains) -> Option<(Lin, Vec<Int>)> {
        let mut best: Option<(usize, &Lin, Option<Int>)> = None;
        let size_of = |l: &Lin, whole: &Option<Int>| {
            let size = domains.of(l).count();
            // A number that must divide a known one has few values, however large it may be.
            if whole.is_some() { size.min(64) } else { size }
        };
        for d in self.definitions {
            if let Definition::Product { product, a, b } = d {
                if domains.of(a).fixed().is_some() || domains.of(b).fixed().is_some() {
                    continue;
                }
                let whole = domains.of(&Lin::atom(*product)).fixed();
                let whole = whole
                    .filter(|n| !n.is_zero() && n.abs().to_i64().is_some_and(|n| n <= FACTORED));
                for l in [a, b] {
                    let size = size_of(l, &whole);
                    if best.as_ref().is_none_or(|(s, _, _)| size < *s) {
                        best = Some((size, l, whole.clone()));
                    }
                }
            }
        }
        let (_, l, whole) = best?;
        let range = domains.of(l);
        let (values, all) = match whole {
            Some(whole) if range.count() > 64 => {
                let root = whole.abs().square_root().to_usize();
                let cost = root.map_or(0, |root| (root / DIVISORS) as u32);
                self.allowance.nodes = self.allowance.nodes.saturating_sub(cost);
                (divisors(&whole, &range), true)
            }
            _ => range.values(self.window),
        };
        self.complete &= all;
        Some((l.clone(), values))
    }

    fn descend(&mut self, domains: &Domains, fixed: &mut Vec<Lin>) -> Option<omega::Model> {
        let Some((l, values)) = self.choose(domains) else {
            return self.linear(domains, fixed);
        };
        for value in values {
            let late = self.allowance.deadline.is_some_and(|d| Instant::now() >= d);
            if self.allowance.nodes == 0 || late {
                self.allowance.nodes = 0;
                self.complete = false;
                return None;
            }
            self.allowance.nodes -= 1;
            let mut inner = domains.clone();
            let here = Interval::point(value.clone());
            let narrowed = inner.narrow(&l, &here);
            if narrowed.and_then(|_| self.propagate(&mut inner)).is_err() {
                continue;
            }
            fixed.push(l.minus(&Lin::constant(value)));
            let found = self.descend(&inner, fixed);
            fixed.pop();
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// One factor of each product is known: what is left is linear.
    fn linear(&mut self, domains: &Domains, fixed: &[Lin]) -> Option<omega::Model> {
        let mut eq: Vec<Lin> = fixed.to_vec();
        let mut known = |l: &Lin, n: &Int| {
            if l.as_constant().is_none() {
                eq.push(l.minus(&Lin::constant(n.clone())));
            }
        };
        let mut more = Vec::new();
        for d in self.definitions {
            if let Definition::Product { product, a, b } = d {
                let (n, l, other) = match (domains.of(a).fixed(), domains.of(b).fixed()) {
                    (Some(n), _) => (n, a, b),
                    (None, Some(n)) => (n, b, a),
                    (None, None) => return None,
                };
                known(l, &n);
                more.push(Lin::atom(*product).minus(&other.scaled(&n)));
            }
        }
        eq.extend(more);
        let most = OMEGA.min(self.allowance.omega);
        let mut left = most;
        let found = omega::solve(plain(self.ge), plain(&eq), &mut left);
        self.allowance.omega -= most - left;
        if self.allowance.omega == 0 {
            self.allowance.nodes = 0;
        }
        let Ok(found) = found else {
            self.complete = false;
            return None;
        };
        found
    }
}

fn plain(forms: &[Lin]) -> Vec<Linear<usize>> {
    let one = |l: &Lin| Linear {
        terms: l
            .terms
            .iter()
            .map(|(IntVar(x), a)| (*x, a.clone()))
            .collect(),
        constant: l.constant.clone(),
    };
    forms.iter().map(one).collect()
}

/// The divisors of a number within a range, the small ones first.
fn divisors(whole: &Int, range: &Interval) -> Vec<Int> {
    let Some(n) = whole.abs().to_i64() else {
        return Vec::new();
    };
    let mut small = Vec::new();
    let mut d = 1;
    while d * d <= n {
        if n % d == 0 {
            small.push(d);
        }
        d += 1;
    }
    let large: Vec<i64> = small
        .iter()
        .rev()
        .map(|d| n / d)
        .filter(|e| !small.contains(e))
        .collect();
    let all = small.into_iter().chain(large);
    let signed = all.flat_map(|d| [Int::from(d), Int::from(-d)]);
    signed.filter(|d| range.contains(d)).collect()
}
