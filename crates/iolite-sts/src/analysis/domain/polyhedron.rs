//! Convex polyhedra by double description.

use std::sync::{Arc, OnceLock};

use iolite_expr::Int;

use super::double_description::{Budget, Cone, Pair, TooLarge};
use super::row::{self, Row};
use super::{Constraint, Dim, Interval, LinExpr, NumericDomain, Octagon, Rhs};

/// A polyhedron with more coordinates is weakened to an octagon.
pub const MAX_POLYHEDRON_DIMENSIONS: usize = 20;
/// A polyhedron with more constraints or generators is weakened to an octagon.
pub const MAX_POLYHEDRON_ROWS: usize = 1_000;
/// A polyhedron with larger coefficients is weakened to an octagon.
pub const MAX_POLYHEDRON_COEFFICIENT_BITS: u64 = 1_024;

const BUDGET: Budget = Budget {
    rows: MAX_POLYHEDRON_ROWS,
    bits: MAX_POLYHEDRON_COEFFICIENT_BITS,
    steps: 4_000_000,
};

/// How often the constraints of one polyhedron are rounded to integers.
const MAX_TIGHTENINGS: usize = 3;

/// A convex polyhedron: any conjunction of linear constraints. Its join is the convex hull.
///
/// It keeps what it was made from and converts between constraints and generators when one asks.
/// Where a conversion leaves its budget, the polyhedron becomes the octagon around it and
/// [`is_weakened`](NumericDomain::is_weakened) says so; what is computed from a weakened
/// polyhedron is weakened too.
#[derive(Clone, Debug)]
pub struct Polyhedron {
    dimensions: usize,
    form: Form,
    shape: OnceLock<Shape>,
}

/// What a polyhedron is made from.
#[derive(Clone, Debug)]
enum Form {
    /// The shape is known.
    Known,
    /// A polyhedron cut by further constraints.
    Constraints {
        base: Arc<Pair>,
        more: Cone,
        /// Whether to round the result's constraints. Not after widening: what rounding gains
        /// could undo what widening has dropped, step by step for ever.
        tighten: bool,
    },
    /// The convex hull of a polyhedron, if any, and further generators.
    Generators { base: Option<Arc<Pair>>, more: Cone },
}

/// A polyhedron after conversion.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Empty,
    Exact(Arc<Pair>),
    Weak(Octagon),
}

impl Polyhedron {
    fn of_form(dimensions: usize, form: Form) -> Self {
        Self {
            dimensions,
            form,
            shape: OnceLock::new(),
        }
    }

    pub(super) fn of_shape(dimensions: usize, shape: Shape) -> Self {
        let shape = match shape {
            Shape::Weak(o) if o.is_bottom() => Shape::Empty,
            shape => shape,
        };
        Self {
            dimensions,
            form: Form::Known,
            shape: OnceLock::from(shape),
        }
    }

    /// The polyhedron of these constraints, not rounded.
    pub(super) fn of_constraints(dimensions: usize, more: Cone) -> Self {
        let base = Arc::new(Pair::universe(dimensions));
        Self::of_form(
            dimensions,
            Form::Constraints {
                base,
                more,
                tighten: false,
            },
        )
    }

    fn of_generators(dimensions: usize, mut more: Cone) -> Self {
        let nonzero = |r: &Row| r.iter().any(|n| !n.is_zero());
        more.lines.retain(nonzero);
        more.rays.retain(nonzero);
        Self::of_form(dimensions, Form::Generators { base: None, more })
    }

    pub(super) fn shape(&self) -> &Shape {
        self.shape.get_or_init(|| match self.convert() {
            Ok(Some(pair)) => Shape::Exact(Arc::new(pair)),
            Ok(None) => Shape::Empty,
            Err(TooLarge) => match self.octagon_of_form() {
                o if o.is_bottom() => Shape::Empty,
                o => Shape::Weak(o),
            },
        })
    }

    fn convert(&self) -> Result<Option<Pair>, TooLarge> {
        let length = self.dimensions + 1;
        match &self.form {
            Form::Known => Ok(None),
            Form::Constraints {
                base,
                more,
                tighten,
            } => {
                let mut pair = base.constrained(more, BUDGET)?;
                for _ in 0..MAX_TIGHTENINGS {
                    if !pair.has_point() || !tighten {
                        break;
                    }
                    let cuts = match cuts(&pair.constraints) {
                        None => return Ok(None),
                        Some(cuts) if cuts.len() == 0 => break,
                        Some(cuts) => cuts,
                    };
                    pair = pair.constrained(&cuts, BUDGET)?;
                }
                Ok(pair.has_point().then_some(pair))
            }
            Form::Generators { base, more } => Ok(Some(match base {
                Some(base) => base.generated(more, BUDGET)?,
                None => Pair::of_generators(more, length, BUDGET)?,
            })),
        }
    }

    fn octagon_of_form(&self) -> Octagon {
        match &self.form {
            Form::Known => Octagon::bottom(self.dimensions),
            Form::Constraints { base, more, .. } => {
                let hull = hull(self.dimensions, &base.generators);
                let equal = more
                    .lines
                    .iter()
                    .map(|r| Constraint::equal(row::to_expr(r)));
                let rest = more
                    .rays
                    .iter()
                    .map(|r| Constraint::at_least(row::to_expr(r)));
                let all: Vec<Constraint> = equal.chain(rest).collect();
                hull.guard_all(&all)
            }
            Form::Generators { base, more } => {
                let mut all = more.clone();
                if let Some(base) = base {
                    all.extend(&base.generators);
                }
                hull(self.dimensions, &all)
            }
        }
    }

    /// The least octagon around the polyhedron.
    pub fn octagon(&self) -> Octagon {
        match self.shape() {
            Shape::Empty => Octagon::bottom(self.dimensions),
            Shape::Exact(pair) => hull(self.dimensions, &pair.generators),
            Shape::Weak(octagon) => octagon.clone(),
        }
    }

    fn weak(octagon: Octagon) -> Self {
        Self::of_shape(octagon.dimensions(), Shape::Weak(octagon))
    }

    /// The constraints over the rationals: no redundant one, none rounded.
    pub fn rational_constraints(&self) -> Vec<Constraint> {
        match self.shape() {
            Shape::Empty => vec![Constraint::contradiction()],
            Shape::Weak(octagon) => octagon.constraints(),
            Shape::Exact(pair) => {
                let equal = |r: &Row| Constraint::equal(row::to_expr(r));
                let at_least = |r: &Row| Constraint::at_least(row::to_expr(r));
                let cone = &pair.constraints;
                cone.lines
                    .iter()
                    .map(equal)
                    .chain(cone.rays.iter().map(at_least))
                    // The constraint ξ ≥ 0 of the homogeneous cone.
                    .filter(|c| c.truth() != Some(true))
                    .collect()
            }
        }
    }

    /// The number of constraints and of generators after conversion; zeros for ⊥ and for a
    /// weakened polyhedron.
    pub fn size(&self) -> (usize, usize) {
        match self.shape() {
            Shape::Exact(pair) => (pair.constraints.len(), pair.generators.len()),
            Shape::Empty | Shape::Weak(_) => (0, 0),
        }
    }

    /// Both shapes, when they are exact.
    fn exact<'a>(&'a self, other: &'a Self) -> Option<(&'a Arc<Pair>, &'a Arc<Pair>)> {
        match (self.shape(), other.shape()) {
            (Shape::Exact(a), Shape::Exact(b)) => Some((a, b)),
            _ => None,
        }
    }
}

/// The least octagon around generators, among them a vertex.
fn hull(dimensions: usize, cone: &Cone) -> Octagon {
    Octagon::hull(dimensions, |expr| {
        greatest(cone, &row::of_expr(expr, dimensions))
    })
}

/// The greatest integer value of a constraint row over generators, among them a vertex.
fn greatest(cone: &Cone, expr: &Row) -> Option<Int> {
    if cone.lines.iter().any(|l| !row::dot(expr, l).is_zero()) {
        return None;
    }
    let mut most: Option<Int> = None;
    for r in &cone.rays {
        let value = row::dot(expr, r);
        if r[0].is_zero() {
            if value.signum() > 0 {
                return None;
            }
        } else {
            let value = value.div_floor(&r[0]);
            most = most.max(Some(value));
        }
    }
    most
}

/// The rounded forms of the constraints that rounding makes stronger; `None` when an equation has
/// no integer solution.
fn cuts(constraints: &Cone) -> Option<Cone> {
    let content = |r: &Row| r[1..].iter().fold(Int::ZERO, |g, n| g.gcd(n));
    for r in &constraints.lines {
        let g = content(r);
        if !g.is_zero() && !r[0].modulo(&g).is_zero() {
            return None;
        }
    }
    let mut cuts = Cone::default();
    for r in &constraints.rays {
        let g = content(r);
        if !g.is_zero() && !r[0].modulo(&g).is_zero() {
            cuts.rays.push(r.iter().map(|n| n.div_floor(&g)).collect());
        }
    }
    Some(cuts)
}

fn padded(rows: &[Row], length: usize) -> Vec<Row> {
    let pad = |r: &Row| {
        let mut r = r.clone();
        r.resize(length, Int::ZERO);
        r
    };
    rows.iter().map(pad).collect()
}

impl NumericDomain for Polyhedron {
    const NAME: &'static str = "polyhedra";

    fn top(dimensions: usize) -> Self {
        let shape = if dimensions > MAX_POLYHEDRON_DIMENSIONS {
            Shape::Weak(Octagon::top(dimensions))
        } else {
            Shape::Exact(Arc::new(Pair::universe(dimensions)))
        };
        Self::of_shape(dimensions, shape)
    }

    fn bottom(dimensions: usize) -> Self {
        Self::of_shape(dimensions, Shape::Empty)
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn is_bottom(&self) -> bool {
        matches!(self.shape(), Shape::Empty)
    }

    fn is_weakened(&self) -> bool {
        matches!(self.shape(), Shape::Weak(_))
    }

    fn leq(&self, other: &Self) -> bool {
        match (self.shape(), other.shape()) {
            (Shape::Empty, _) => true,
            (_, Shape::Empty) => false,
            (Shape::Exact(a), Shape::Exact(b)) => {
                let (points, bounds) = (&a.generators, &b.constraints);
                let on = |c: &Row, r: &Row| row::dot(c, r).is_zero();
                let inside = |c: &Row, r: &Row| row::dot(c, r).signum() >= 0;
                bounds.lines.iter().all(|c| {
                    points.lines.iter().all(|l| on(c, l)) && points.rays.iter().all(|r| on(c, r))
                }) && bounds.rays.iter().all(|c| {
                    points.lines.iter().all(|l| on(c, l))
                        && points.rays.iter().all(|r| inside(c, r))
                })
            }
            (Shape::Weak(a), Shape::Weak(b)) => a.leq(b),
            _ => other.rational_constraints().iter().all(|c| self.entails(c)),
        }
    }

    fn join(&self, other: &Self) -> Self {
        match (self.shape(), other.shape()) {
            (Shape::Empty, _) => other.clone(),
            (_, Shape::Empty) => self.clone(),
            (Shape::Exact(a), Shape::Exact(b)) => Self::of_form(
                self.dimensions,
                Form::Generators {
                    base: Some(a.clone()),
                    more: b.generators.clone(),
                },
            ),
            _ => Self::weak(self.octagon().join(&other.octagon())),
        }
    }

    fn meet(&self, other: &Self) -> Self {
        match (self.shape(), other.shape()) {
            (Shape::Empty, _) | (_, Shape::Empty) => Self::bottom(self.dimensions),
            (Shape::Exact(a), Shape::Exact(b)) => Self::of_form(
                self.dimensions,
                Form::Constraints {
                    base: a.clone(),
                    more: b.constraints.clone(),
                    tighten: true,
                },
            ),
            _ => Self::weak(self.octagon().meet(&other.octagon())),
        }
    }

    fn widen(&self, next: &Self, thresholds: &[Constraint]) -> Self {
        if self.is_bottom() || next.is_bottom() {
            return self.join(next);
        }
        let both = self.join(next);
        match self.exact(&both) {
            Some((a, b)) => self.h79(a, &both, b, thresholds),
            None => Self::weak(self.octagon().widen(&next.octagon(), thresholds)),
        }
    }

    fn narrow(&self, next: &Self) -> Self {
        match (self.shape(), next.shape()) {
            (Shape::Empty, _) | (_, Shape::Empty) => Self::bottom(self.dimensions),
            (Shape::Exact(a), Shape::Exact(b)) => self.regained(a, b),
            (Shape::Weak(a), _) => Self::weak(a.narrow(&next.octagon())),
            // The exact one stays as it is, which lies between the two.
            (Shape::Exact(_), Shape::Weak(_)) => self.clone(),
        }
    }

    fn restrict(&self, expr: &LinExpr, equal: bool) -> Self {
        let row = row::of_expr(expr, self.dimensions);
        let (base, mut more) = match (&self.form, self.shape.get()) {
            // Further constraints of one that was not converted yet are collected.
            (
                Form::Constraints {
                    base,
                    more,
                    tighten: true,
                },
                None,
            ) if more.len() < self.dimensions * 2 => (base.clone(), more.clone()),
            _ => match self.shape() {
                Shape::Empty => return self.clone(),
                Shape::Exact(pair) => (pair.clone(), Cone::default()),
                Shape::Weak(octagon) => return Self::weak(octagon.restrict(expr, equal)),
            },
        };
        if equal {
            more.lines.push(row);
        } else {
            more.rays.push(row);
        }
        Self::of_form(
            self.dimensions,
            Form::Constraints {
                base,
                more,
                tighten: true,
            },
        )
    }

    fn assign(&self, updates: &[(Dim, Rhs)]) -> Self {
        let pair = match self.shape() {
            Shape::Empty => return self.clone(),
            Shape::Weak(octagon) => return Self::weak(octagon.assign(updates)),
            Shape::Exact(pair) => pair,
        };
        let map: Vec<(usize, Option<Row>)> = updates
            .iter()
            .map(|(x, rhs)| {
                let row = match rhs {
                    Rhs::Linear(e) => Some(row::of_expr(e, self.dimensions)),
                    Rhs::Unknown => None,
                };
                (x.index() + 1, row)
            })
            .collect();
        let image = |r: &Row| {
            let mut new = r.clone();
            for (at, e) in &map {
                new[*at] = e.as_ref().map_or(Int::ZERO, |e| row::dot(e, r));
            }
            row::reduce(&mut new);
            new
        };
        let mut cone = Cone {
            lines: pair.generators.lines.iter().map(image).collect(),
            rays: pair.generators.rays.iter().map(image).collect(),
        };
        for (x, rhs) in updates {
            if *rhs == Rhs::Unknown {
                cone.lines.push(row::direction(*x, self.dimensions));
            }
        }
        Self::of_generators(self.dimensions, cone)
    }

    fn forget(&self, dims: &[Dim]) -> Self {
        match self.shape() {
            Shape::Empty => self.clone(),
            Shape::Weak(octagon) => Self::weak(octagon.forget(dims)),
            Shape::Exact(pair) => {
                let lines = dims.iter().map(|x| row::direction(*x, self.dimensions));
                let more = Cone {
                    lines: lines.collect(),
                    rays: Vec::new(),
                };
                Self::of_form(
                    self.dimensions,
                    Form::Generators {
                        base: Some(pair.clone()),
                        more,
                    },
                )
            }
        }
    }

    fn add_dimensions(&self, count: usize) -> Self {
        let dimensions = self.dimensions + count;
        match self.shape() {
            Shape::Empty => Self::bottom(dimensions),
            Shape::Exact(pair) if dimensions <= MAX_POLYHEDRON_DIMENSIONS => {
                let length = dimensions + 1;
                let pad = |cone: &Cone| Cone {
                    lines: padded(&cone.lines, length),
                    rays: padded(&cone.rays, length),
                };
                let mut generators = pad(&pair.generators);
                let new = self.dimensions..dimensions;
                generators
                    .lines
                    .extend(new.map(|x| row::direction(Dim::new(x), dimensions)));
                let constraints = pad(&pair.constraints);
                Self::of_shape(
                    dimensions,
                    Shape::Exact(Arc::new(Pair {
                        constraints,
                        generators,
                    })),
                )
            }
            Shape::Exact(_) | Shape::Weak(_) => Self::weak(self.octagon().add_dimensions(count)),
        }
    }

    fn keep_dimensions(&self, count: usize) -> Self {
        match self.shape() {
            Shape::Empty => Self::bottom(count),
            Shape::Weak(octagon) => Self::weak(octagon.keep_dimensions(count)),
            Shape::Exact(pair) => {
                let cut = |rows: &[Row]| rows.iter().map(|r| r[..=count].to_vec()).collect();
                Self::of_generators(
                    count,
                    Cone {
                        lines: cut(&pair.generators.lines),
                        rays: cut(&pair.generators.rays),
                    },
                )
            }
        }
    }

    fn constraints(&self) -> Vec<Constraint> {
        let mut all: Vec<Constraint> = self
            .rational_constraints()
            .iter()
            .map(Constraint::tightened)
            .collect();
        // The order in which facets are found depends on the history; the printed one does not.
        all.sort();
        all.dedup();
        all
    }

    fn bounds(&self, expr: &LinExpr) -> Interval {
        match self.shape() {
            Shape::Empty => Interval::FULL,
            Shape::Weak(octagon) => octagon.bounds(expr),
            Shape::Exact(pair) => {
                let most =
                    |e: &LinExpr| greatest(&pair.generators, &row::of_expr(e, self.dimensions));
                Interval {
                    lo: most(&expr.scaled(&Int::from(-1))).map(|n| -n),
                    hi: most(expr),
                }
            }
        }
    }
}
