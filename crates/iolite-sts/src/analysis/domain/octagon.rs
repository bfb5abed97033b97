//! Octagons: constraints `±x ± y ≤ c`.
//!
//! The representation is Miné's difference-bound matrix over `V₂ₖ = xₖ` and `V₂ₖ₊₁ = -xₖ`; the cell
//! in row i and column j bounds `Vⱼ - Vᵢ`. Memory is quadratic in the number of coordinates and
//! closure cubic; a [`Vocabulary`](super::Vocabulary) bounds that number.

use std::sync::{Arc, OnceLock};

use iolite_expr::Int;

use super::tight_closure::close;
use super::{Constraint, Dim, Interval, LinExpr, NumericDomain, Relation, Rhs};

type Cells = Vec<Option<Int>>;

/// A conjunction of constraints `±x ± y ≤ c` and `±x ≤ c`.
#[derive(Clone, Debug)]
pub struct Octagon {
    dimensions: usize,
    /// The bounds as they were given. Widening needs them unclosed on its left side: closure
    /// could bring back for ever what widening has dropped.
    raw: Arc<Cells>,
    /// Bounds with the same meaning that were closed before edges at these vertices were added.
    partial: Option<(Arc<Cells>, Vec<usize>)>,
    /// The tightly closed bounds, `None` when there is no integer point.
    closed: OnceLock<Option<Arc<Cells>>>,
}

/// Row or column of `sign·x`.
fn vertex(x: Dim, positive: bool) -> usize {
    2 * x.index() + usize::from(!positive)
}

fn smaller(a: Option<&Int>, b: Option<&Int>) -> Option<Int> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b).clone()),
        (a, b) => a.or(b).cloned(),
    }
}

/// Whether the bound `a` is at most `b`.
fn at_most(a: Option<&Int>, b: Option<&Int>) -> bool {
    b.is_none_or(|b| a.is_some_and(|a| a <= b))
}

/// A bound `Vⱼ - Vᵢ ≤ c` that an octagon can hold.
struct Edge {
    i: usize,
    j: usize,
    c: Int,
}

impl Edge {
    /// `expr ≥ 0`, if it has at most two coordinates with coefficients ±1.
    fn of(expr: &LinExpr) -> Option<Self> {
        let mut terms = expr.terms();
        let (x, a) = terms.next()?;
        let second = terms.next();
        let unit = |n: &Int| n.abs().is_one();
        if terms.next().is_some() || !unit(a) || second.is_some_and(|(_, b)| !unit(b)) {
            return None;
        }
        // -a·x - b·y ≤ c reads Vⱼ - Vᵢ ≤ c with Vⱼ = -a·x and Vᵢ = b·y; alone, -2a·x ≤ 2c.
        let j = vertex(x, a.signum() < 0);
        let c = expr.constant_term();
        Some(match second {
            Some((y, b)) => Self {
                i: vertex(y, b.signum() > 0),
                j,
                c: c.clone(),
            },
            None => Self {
                i: j ^ 1,
                j,
                c: c + c,
            },
        })
    }
}

impl Octagon {
    fn size(&self) -> usize {
        2 * self.dimensions
    }

    fn of(dimensions: usize, raw: Cells) -> Self {
        Self {
            dimensions,
            raw: Arc::new(raw),
            partial: None,
            closed: OnceLock::new(),
        }
    }

    /// Cells that are known to be closed.
    fn of_closed(dimensions: usize, cells: Cells) -> Self {
        let cells = Arc::new(cells);
        Self {
            dimensions,
            raw: cells.clone(),
            partial: None,
            closed: OnceLock::from(Some(cells)),
        }
    }

    fn closed(&self) -> Option<&Arc<Cells>> {
        self.closed
            .get_or_init(|| {
                let (cells, pivots) = match &self.partial {
                    Some((cells, pivots)) if pivots.len() < self.size() => (cells, pivots.clone()),
                    _ => (&self.raw, (0..self.size()).collect()),
                };
                let mut cells = (**cells).clone();
                close(&mut cells, self.size(), &pivots).then(|| Arc::new(cells))
            })
            .as_ref()
    }

    fn zip(
        &self,
        a: &Cells,
        b: &Cells,
        f: impl Fn(Option<&Int>, Option<&Int>) -> Option<Int>,
    ) -> Cells {
        debug_assert_eq!(a.len(), self.size() * self.size());
        a.iter()
            .zip(b)
            .map(|(a, b)| f(a.as_ref(), b.as_ref()))
            .collect()
    }

    fn add_edge(cells: &mut Cells, size: usize, edge: &Edge) {
        let Edge { i, j, c } = edge;
        for at in [i * size + j, (j ^ 1) * size + (i ^ 1)] {
            cells[at] = smaller(cells[at].as_ref(), Some(c));
        }
    }

    /// The least octagon that contains what `most` describes: the greatest value of an
    /// expression, `None` where there is none. The described set is not empty.
    pub(super) fn hull(dimensions: usize, most: impl Fn(&LinExpr) -> Option<Int>) -> Self {
        let size = 2 * dimensions;
        let mut cells = vec![None; size * size];
        let sign = |v: usize| Int::from(if v.is_multiple_of(2) { 1 } else { -1 });
        for i in 0..size {
            for j in 0..size {
                if i == j {
                    cells[i * size + j] = Some(Int::ZERO);
                    continue;
                }
                let mut expr = LinExpr::scaled_dim(Dim::new(j / 2), &sign(j));
                if i == j ^ 1 {
                    let bound = most(&expr);
                    cells[i * size + j] = bound.map(|c| &c + &c);
                } else {
                    expr.add_term(Dim::new(i / 2), &-sign(i));
                    cells[i * size + j] = most(&expr);
                }
            }
        }
        Self::of(dimensions, cells)
    }

    /// The interval of one coordinate in closed cells.
    fn side(&self, cells: &Cells, x: Dim) -> Interval {
        let (p, n) = (vertex(x, true), vertex(x, false));
        let two = Int::from(2);
        Interval {
            lo: cells[p * self.size() + n]
                .as_ref()
                .map(|c| -c.div_floor(&two)),
            hi: cells[n * self.size() + p]
                .as_ref()
                .map(|c| c.div_floor(&two)),
        }
    }

    /// The edges that follow from `expr ≥ 0` with the intervals of the coordinates.
    fn approximate(&self, cells: &Cells, expr: &LinExpr) -> Vec<Edge> {
        if let Some(edge) = Edge::of(expr) {
            return vec![edge];
        }
        let mut edges = Vec::new();
        let terms: Vec<(Dim, Int)> = expr.terms().map(|(x, a)| (x, a.clone())).collect();
        let most = |e: &LinExpr| Interval::of_expr(e, |x| self.side(cells, x)).hi;
        for (k, (x, a)) in terms.iter().enumerate() {
            let mut rest = expr.clone();
            rest.add_term(*x, &-a);
            if let Some(rest) = most(&rest) {
                // a·x + rest ≥ 0, so x, in the direction of a, is at least -⌊rest / |a|⌋.
                let unit = LinExpr::scaled_dim(*x, &Int::from(a.signum()));
                let bound = rest.div_floor(&a.abs());
                edges.extend(Edge::of(&unit.plus_constant(&bound)));
            }
            for (y, b) in &terms[k + 1..] {
                // The part (±x ± y)·m is kept, everything else is replaced by its most.
                let m = a.abs().min(b.abs());
                let mut pair = LinExpr::scaled_dim(*x, &Int::from(a.signum()));
                pair.add_term(*y, &Int::from(b.signum()));
                let mut rest = expr.clone();
                rest.add_scaled(&pair, &-&m);
                if let Some(rest) = most(&rest) {
                    edges.extend(Edge::of(&pair.plus_constant(&rest.div_floor(&m))));
                }
            }
        }
        edges
    }

    /// Copies cells into a matrix of another size, leaving what has no source free.
    fn remapped(
        &self,
        cells: &Cells,
        dimensions: usize,
        source: impl Fn(usize) -> Option<usize>,
    ) -> Cells {
        let (from, size) = (self.size(), 2 * dimensions);
        let mut result = vec![None; size * size];
        let vertex = |v: usize| source(v / 2).map(|x| 2 * x + v % 2);
        for i in 0..size {
            for j in 0..size {
                result[i * size + j] = match (vertex(i), vertex(j)) {
                    _ if i == j => Some(Int::ZERO),
                    (Some(i), Some(j)) => cells[i * from + j].clone(),
                    _ => None,
                };
            }
        }
        result
    }
}

impl NumericDomain for Octagon {
    const NAME: &'static str = "octagons";

    fn top(dimensions: usize) -> Self {
        let size = 2 * dimensions;
        let mut cells = vec![None; size * size];
        for i in 0..size {
            cells[i * size + i] = Some(Int::ZERO);
        }
        Self::of_closed(dimensions, cells)
    }

    fn bottom(dimensions: usize) -> Self {
        Self {
            dimensions,
            raw: Self::top(dimensions).raw,
            partial: None,
            closed: OnceLock::from(None),
        }
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn is_bottom(&self) -> bool {
        self.closed().is_none()
    }

    fn leq(&self, other: &Self) -> bool {
        let Some(a) = self.closed() else {
            return true;
        };
        let holds = |(a, b): (&Option<Int>, &Option<Int>)| at_most(a.as_ref(), b.as_ref());
        !other.is_bottom() && a.iter().zip(other.raw.iter()).all(holds)
    }

    fn join(&self, other: &Self) -> Self {
        match (self.closed(), other.closed()) {
            (None, _) => other.clone(),
            (_, None) => self.clone(),
            (Some(a), Some(b)) => {
                let cells = self.zip(a, b, |a, b| Some(a?.max(b?).clone()));
                Self::of_closed(self.dimensions, cells)
            }
        }
    }

    fn meet(&self, other: &Self) -> Self {
        if self.is_bottom() || other.is_bottom() {
            return Self::bottom(self.dimensions);
        }
        Self::of(self.dimensions, self.zip(&self.raw, &other.raw, smaller))
    }

    fn widen(&self, next: &Self, thresholds: &[Constraint]) -> Self {
        let (Some(closed), Some(next)) = (self.closed(), next.closed()) else {
            return self.join(next);
        };
        let size = self.size();
        // The nearest octagonal threshold of each cell that both sides satisfy.
        let mut limits: Cells = vec![None; size * size];
        let negated = |t: &Constraint| t.expr.scaled(&Int::from(-1));
        for t in thresholds {
            let exprs = match t.relation {
                Relation::AtLeast => vec![t.tightened().expr],
                Relation::Equal => vec![t.expr.clone(), negated(t)],
                Relation::Differ => vec![],
            };
            for edge in exprs.iter().filter_map(Edge::of) {
                let at = edge.i * size + edge.j;
                let satisfied = |c: &Cells| at_most(c[at].as_ref(), Some(&edge.c));
                if satisfied(closed) && satisfied(next) {
                    Self::add_edge(&mut limits, size, &edge);
                }
            }
        }
        let mut cells = self.zip(&self.raw, next, |a, b| {
            if at_most(b, a) { a.cloned() } else { None }
        });
        for (cell, limit) in cells.iter_mut().zip(&limits) {
            *cell = smaller(cell.as_ref(), limit.as_ref());
        }
        Self::of(self.dimensions, cells)
    }

    fn narrow(&self, next: &Self) -> Self {
        match (self.closed(), next.closed()) {
            (Some(_), Some(next)) => {
                let cells = self.zip(&self.raw, next, |a, b| a.or(b).cloned());
                Self::of(self.dimensions, cells)
            }
            _ => Self::bottom(self.dimensions),
        }
    }

    fn restrict(&self, expr: &LinExpr, equal: bool) -> Self {
        let sides = if equal {
            vec![expr.clone(), expr.scaled(&Int::from(-1))]
        } else {
            vec![expr.clone()]
        };
        let mut raw = (*self.raw).clone();
        let mut partial = match self.closed.get() {
            Some(None) => return self.clone(),
            Some(Some(cells)) => Some((cells.clone(), Vec::new())),
            None => self.partial.clone(),
        };
        for side in sides {
            let edges = match Edge::of(&side) {
                Some(edge) => vec![edge],
                None => match self.closed() {
                    Some(cells) => self.approximate(cells, &side),
                    None => return self.clone(),
                },
            };
            for edge in &edges {
                Self::add_edge(&mut raw, self.size(), edge);
                if let Some((cells, pivots)) = &mut partial {
                    Self::add_edge(Arc::make_mut(cells), self.size(), edge);
                    let ends = [edge.i, edge.j, edge.i ^ 1, edge.j ^ 1];
                    pivots.extend(
                        ends.iter()
                            .filter(|v| !pivots.contains(v))
                            .collect::<Vec<_>>(),
                    );
                }
            }
        }
        Self {
            partial,
            ..Self::of(self.dimensions, raw)
        }
    }

    fn assign(&self, updates: &[(Dim, Rhs)]) -> Self {
        if self.is_bottom() {
            return self.clone();
        }
        // New coordinates take the right sides over the old ones, then their place.
        let n = self.dimensions;
        let mut wide = self.add_dimensions(updates.len());
        for (k, (_, rhs)) in updates.iter().enumerate() {
            if let Rhs::Linear(e) = rhs {
                let new = LinExpr::dim(Dim::new(n + k));
                wide = wide.guard(&Constraint::equal(new.minus(e)));
            }
        }
        let Some(cells) = wide.closed() else {
            return Self::bottom(n);
        };
        let source = |x: usize| {
            let update = updates.iter().rposition(|(y, _)| y.index() == x);
            Some(update.map_or(x, |k| n + k))
        };
        Self::of_closed(n, wide.remapped(cells, n, source))
    }

    fn forget(&self, dims: &[Dim]) -> Self {
        let Some(cells) = self.closed() else {
            return self.clone();
        };
        let kept = |x: usize| (!dims.contains(&Dim::new(x))).then_some(x);
        Self::of_closed(self.dimensions, self.remapped(cells, self.dimensions, kept))
    }

    fn add_dimensions(&self, count: usize) -> Self {
        let dimensions = self.dimensions + count;
        let Some(cells) = self.closed() else {
            return Self::bottom(dimensions);
        };
        let source = |x: usize| (x < self.dimensions).then_some(x);
        Self::of_closed(dimensions, self.remapped(cells, dimensions, source))
    }

    fn keep_dimensions(&self, count: usize) -> Self {
        let Some(cells) = self.closed() else {
            return Self::bottom(count);
        };
        Self::of_closed(count, self.remapped(cells, count, Some))
    }

    fn constraints(&self) -> Vec<Constraint> {
        let Some(cells) = self.closed() else {
            return vec![Constraint::contradiction()];
        };
        let size = self.size();
        let two = Int::from(2);
        let cell = |i: usize, j: usize| cells[i * size + j].as_ref();
        // Whether the bounds of the two coordinates alone give this bound of the pair.
        let implied = |i: usize, j: usize| {
            let unary = cell(i, i ^ 1).zip(cell(j ^ 1, j));
            unary.is_some_and(|(a, b)| cell(i, j).is_some_and(|c| (a + b).div_floor(&two) <= *c))
        };
        let mut all = Vec::new();
        for j in 0..size {
            // A pair of cells says the same: the half with i ≥ j̄ is enough.
            for i in (j ^ 1)..size {
                let Some(c) = cell(i, j).filter(|_| i != j) else {
                    continue;
                };
                let sign = |v: usize| Int::from(if v.is_multiple_of(2) { -1 } else { 1 });
                let mut expr = LinExpr::scaled_dim(Dim::new(j / 2), &sign(j));
                let equal = cell(j, i).is_some_and(|o| (o + c).is_zero());
                // Of the two sides of an equation one is enough.
                if equal && j.is_multiple_of(2) {
                    continue;
                }
                if i == j ^ 1 {
                    expr = expr.plus_constant(&c.div_floor(&two));
                } else {
                    if implied(i, j) && (!equal || implied(j, i)) {
                        continue;
                    }
                    expr.add_term(Dim::new(i / 2), &-sign(i));
                    expr = expr.plus_constant(c);
                }
                all.push(if equal {
                    Constraint::equal(expr)
                } else {
                    Constraint::at_least(expr)
                });
            }
        }
        all
    }

    fn bounds(&self, expr: &LinExpr) -> Interval {
        let Some(cells) = self.closed() else {
            return Interval::FULL;
        };
        let plain = Interval::of_expr(expr, |x| self.side(cells, x));
        // The greatest value of -expr + c: the cell of the edge that bounds it.
        let most = |e: &LinExpr| {
            let edge = Edge::of(&e.scaled(&Int::from(-1)))?;
            let bound = cells[edge.i * self.size() + edge.j].as_ref()?;
            let bound = if edge.i == edge.j ^ 1 {
                bound.div_floor(&Int::from(2))
            } else {
                bound.clone()
            };
            Some(&bound + e.constant_term())
        };
        plain.meet(&Interval {
            lo: most(&expr.scaled(&Int::from(-1))).map(|n| -n),
            hi: most(expr),
        })
    }
}
