//! The double description of a polyhedron and Chernikova's conversion between its two sides.
//!
//! A polyhedron is the slice `ξ = 1` of a cone in homogeneous coordinates. A [`Cone`] is given by
//! lines and rays. The constraints of a polyhedron form a cone as well (the dual one: its lines
//! are the equations, its rays the inequalities), so that one procedure, the intersection of a
//! generated cone with half-spaces, converts in both directions.

use iolite_expr::Int;

use super::row::{self, Row};

/// A conversion left its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

/// What a conversion may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// Lines and rays.
    pub(super) rows: usize,
    /// Bits of a coefficient.
    pub(super) bits: u64,
    /// Comparisons of saturation sets.
    pub(super) steps: u64,
}

/// Lines, both directions of which belong, and rays. As constraints: equations and inequalities.
#[derive(Clone, Debug, Default)]
pub(super) struct Cone {
    pub(super) lines: Vec<Row>,
    pub(super) rays: Vec<Row>,
}

impl Cone {
    /// The whole space with so many homogeneous coordinates.
    pub(super) fn space(length: usize) -> Self {
        Self {
            lines: (0..length).map(|i| row::unit(i, length)).collect(),
            rays: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len() + self.rays.len()
    }

    pub(super) fn extend(&mut self, other: &Self) {
        self.lines.extend(other.lines.iter().cloned());
        self.rays.extend(other.rays.iter().cloned());
    }
}

/// Both sides, each without redundancy.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) constraints: Cone,
    pub(super) generators: Cone,
}

impl Pair {
    /// The pair seen from the other side.
    fn dual(self) -> Self {
        Self {
            constraints: self.generators,
            generators: self.constraints,
        }
    }

    /// All points.
    pub(super) fn universe(dimensions: usize) -> Self {
        let mut lines = Cone::space(dimensions + 1).lines;
        let origin = lines.remove(0);
        Self {
            constraints: Cone {
                lines: Vec::new(),
                rays: vec![origin.clone()],
            },
            generators: Cone {
                lines,
                rays: vec![origin],
            },
        }
    }

    /// The pair with further constraints.
    pub(super) fn constrained(&self, more: &Cone, budget: Budget) -> Result<Self, TooLarge> {
        let generators = intersect(&self.generators, &self.constraints, more, budget)?;
        let mut all = self.constraints.clone();
        all.extend(more);
        let constraints = minimised(&all, &generators);
        Ok(Self {
            constraints,
            generators,
        })
    }

    /// The pair with further generators.
    pub(super) fn generated(&self, more: &Cone, budget: Budget) -> Result<Self, TooLarge> {
        let dual = self.clone().dual().constrained(more, budget)?;
        Ok(dual.dual())
    }

    /// The pair of a non-empty set of generators, among them a vertex.
    pub(super) fn of_generators(
        cone: &Cone,
        length: usize,
        budget: Budget,
    ) -> Result<Self, TooLarge> {
        let constraints = intersect(&Cone::space(length), &Cone::default(), cone, budget)?;
        let generators = minimised(cone, &constraints);
        Ok(Self {
            constraints,
            generators,
        })
    }

    /// Whether there is a point: a generator off the plane `ξ = 0`.
    pub(super) fn has_point(&self) -> bool {
        self.generators.rays.iter().any(|r| r[0].signum() > 0)
    }
}

/// A set of indices of inequalities.
#[derive(Clone, PartialEq, Eq)]
struct Saturation(Vec<u64>);

impl Saturation {
    fn new(length: usize) -> Self {
        Self(vec![0; length.div_ceil(64)])
    }

    fn insert(&mut self, i: usize) {
        self.0[i / 64] |= 1 << (i % 64);
    }

    fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    fn len(&self) -> usize {
        self.0.iter().map(|w| w.count_ones() as usize).sum()
    }

    fn includes(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| b & !a == 0)
    }
}

struct Ray {
    row: Row,
    saturates: Saturation,
}

/// The state of a conversion: the lines and extreme rays of what is left of the cone.
struct Conversion {
    lines: Vec<Row>,
    rays: Vec<Ray>,
    /// Independent equations so far.
    equations: usize,
    /// Inequalities in all, old and new.
    inequalities: usize,
    length: usize,
    budget: Budget,
    steps: u64,
}

/// The cone cut by `new`, of which `old` are the constraints that it satisfies already; `old` must
/// hold all its facets.
fn intersect(cone: &Cone, old: &Cone, new: &Cone, budget: Budget) -> Result<Cone, TooLarge> {
    let count = old.rays.len() + new.rays.len();
    let saturates = |r: &Row| {
        let mut set = Saturation::new(count);
        for (i, c) in old.rays.iter().enumerate() {
            if row::dot(c, r).is_zero() {
                set.insert(i);
            }
        }
        set
    };
    let length = cone.lines.iter().chain(&cone.rays).map(Vec::len).max();
    let mut conversion = Conversion {
        lines: cone.lines.clone(),
        rays: cone
            .rays
            .iter()
            .map(|r| Ray {
                row: r.clone(),
                saturates: saturates(r),
            })
            .collect(),
        equations: old.lines.len(),
        inequalities: count,
        length: length.unwrap_or(0),
        budget,
        steps: 0,
    };
    for c in &new.lines {
        conversion.cut(c, None, 0)?;
    }
    for (i, c) in new.rays.iter().enumerate() {
        conversion.cut(c, Some(old.rays.len() + i), old.rays.len() + i)?;
    }
    Ok(Cone {
        lines: conversion.lines,
        rays: conversion.rays.into_iter().map(|r| r.row).collect(),
    })
}

impl Conversion {
    /// Cuts with one constraint; an inequality has an index. `before` inequalities came earlier.
    fn cut(&mut self, c: &Row, inequality: Option<usize>, before: usize) -> Result<(), TooLarge> {
        let hit = self.lines.iter().position(|l| !row::dot(c, l).is_zero());
        if let Some(hit) = hit {
            self.cut_line(hit, c, inequality, before);
        } else {
            self.cut_rays(c, inequality)?;
        }
        let rows = self.lines.len() + self.rays.len();
        if rows > self.budget.rows || self.steps > self.budget.steps {
            return Err(TooLarge);
        }
        let rows = self.lines.iter().chain(self.rays.iter().map(|r| &r.row));
        if rows.map(|r| row::bits(r)).any(|b| b > self.budget.bits) {
            return Err(TooLarge);
        }
        Ok(())
    }

    /// One line leaves the plane of the constraint: everything else is moved along it into the
    /// plane, and half of the line remains for an inequality.
    fn cut_line(&mut self, hit: usize, c: &Row, inequality: Option<usize>, before: usize) {
        let mut line = self.lines.remove(hit);
        let mut product = row::dot(c, &line);
        if product.signum() < 0 {
            row::negate(&mut line);
            product = -product;
        }
        for other in &mut self.lines {
            let p = row::dot(c, other);
            if !p.is_zero() {
                *other = row::combine(&product, other, &-p, &line);
            }
        }
        for ray in &mut self.rays {
            let p = row::dot(c, &ray.row);
            if !p.is_zero() {
                ray.row = row::combine(&product, &ray.row, &-p, &line);
            }
            if let Some(i) = inequality {
                ray.saturates.insert(i);
            }
        }
        if inequality.is_none() {
            self.equations += 1;
            return;
        }
        let mut saturates = Saturation::new(self.inequalities);
        (0..before).for_each(|k| saturates.insert(k));
        self.rays.push(Ray {
            row: line,
            saturates,
        });
    }

    fn cut_rays(&mut self, c: &Row, inequality: Option<usize>) -> Result<(), TooLarge> {
        let (mut above, mut on, mut below) = (Vec::new(), Vec::new(), Vec::new());
        for mut ray in std::mem::take(&mut self.rays) {
            let p = row::dot(c, &ray.row);
            match p.signum() {
                1 => above.push((p, ray)),
                -1 => below.push((p, ray)),
                _ => {
                    if let Some(i) = inequality {
                        ray.saturates.insert(i);
                    }
                    on.push(ray);
                }
            }
        }
        // Two extreme rays span a face of dimension 2 only if they share so many facets.
        let face = (self.length - self.lines.len()).saturating_sub(self.equations + 2);
        let mut new = Vec::new();
        for (p, a) in &above {
            for (q, b) in &below {
                self.steps += 1;
                let mut common = a.saturates.and(&b.saturates);
                if common.len() < face {
                    continue;
                }
                // They are adjacent if no third ray lies on their smallest common face.
                let mut others = 0;
                let rays = above
                    .iter()
                    .map(|(_, r)| r)
                    .chain(below.iter().map(|(_, r)| r));
                let adjacent = rays.chain(&on).all(|r| {
                    others += 1;
                    let same = std::ptr::eq(r, a) || std::ptr::eq(r, b);
                    // Rays in the plane have the new index in addition, which changes nothing.
                    same || !r.saturates.includes(&common)
                });
                self.steps += others;
                if self.steps > self.budget.steps || on.len() + new.len() > self.budget.rows {
                    return Err(TooLarge);
                }
                if adjacent {
                    if let Some(i) = inequality {
                        common.insert(i);
                    }
                    new.push(Ray {
                        row: row::combine(&-q, &a.row, p, &b.row),
                        saturates: common,
                    });
                }
            }
        }
        if inequality.is_none() && !(above.is_empty() && below.is_empty()) {
            self.equations += 1;
        }
        self.rays = on;
        self.rays.extend(new);
        if inequality.is_some() {
            self.rays.extend(above.into_iter().map(|(_, r)| r));
        }
        Ok(())
    }
}

/// The irredundant part of `all`, whose dual side is `dual` (its extreme rays and lines): what every
/// ray saturates is an equation, and of the others the facets remain.
fn minimised(all: &Cone, dual: &Cone) -> Cone {
    let mut equations = all.lines.clone();
    let mut facets: Vec<(Row, Saturation)> = Vec::new();
    for c in &all.rays {
        let mut set = Saturation::new(dual.rays.len());
        for (i, r) in dual.rays.iter().enumerate() {
            if row::dot(c, r).is_zero() {
                set.insert(i);
            }
        }
        if set.len() == dual.rays.len() {
            equations.push(c.clone());
        } else {
            facets.push((c.clone(), set));
        }
    }
    let lines = echelon(equations);
    let mut rays = Vec::new();
    for (k, (c, set)) in facets.iter().enumerate() {
        let redundant = facets
            .iter()
            .enumerate()
            .any(|(l, (_, other))| l != k && other.includes(set) && (other != set || l < k));
        if !redundant {
            rays.push(reduced(c.clone(), &lines));
        }
    }
    Cone { lines, rays }
}

/// The last coordinate that a row uses; constants (column 0) only when nothing else is left.
fn pivot(row: &[Int]) -> Option<usize> {
    row.iter().rposition(|n| !n.is_zero())
}

/// The row with the pivots of the equations eliminated; its direction is kept.
fn reduced(mut row: Row, equations: &[Row]) -> Row {
    for e in equations {
        let Some(at) = pivot(e) else { continue };
        if !row[at].is_zero() {
            let sign = Int::from(e[at].signum());
            let factor = -(&row[at] * &sign);
            row = row::combine(&e[at].abs(), &row, &factor, e);
        }
    }
    row::reduce(&mut row);
    row
}

/// Independent equations with the same solutions, each pivot in one equation only.
fn echelon(rows: Vec<Row>) -> Vec<Row> {
    let mut done: Vec<Row> = Vec::new();
    for row in rows {
        let mut row = reduced(row, &done);
        let Some(at) = pivot(&row) else { continue };
        if row[at].signum() < 0 {
            row::negate(&mut row);
        }
        for other in &mut done {
            if !other[at].is_zero() {
                let factor = -&other[at];
                *other = row::combine(&row[at], other, &factor, &row);
            }
        }
        done.push(row);
    }
    done
}
