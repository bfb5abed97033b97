//! The numerical domains against sets of integer points: every operation keeps what its meaning on
//! sets keeps, and is exact where its domain promises that.

mod domains_support;

use std::collections::BTreeSet;

use domains_support::{
    Case, Point, Rng, case, cases, constraint, contains, expr, grid, ints, octagonal, point_of,
};
use iolite_expr::Int;
use iolite_sts::analysis::domain::{
    Constraint, Dim, Interval, IntervalBox, LinExpr, MAX_POLYHEDRON_DIMENSIONS, NumericDomain,
    Octagon, Polyhedron, Rhs,
};
use rand::{RngExt, SeedableRng};

fn updates(rng: &mut Rng, dims: usize) -> Vec<(Dim, Rhs)> {
    let mut all = Vec::new();
    for x in 0..dims {
        match rng.random_range(0..5) {
            0 => all.push((Dim::new(x), Rhs::Unknown)),
            1 | 2 => all.push((Dim::new(x), Rhs::Linear(expr(rng, dims, 2, 3)))),
            _ => {}
        }
    }
    all
}

/// Where the assignment leads: one point for each of a few values that an unknown may take.
fn images(p: &Point, updates: &[(Dim, Rhs)]) -> Vec<Point> {
    let mut all = vec![p.clone()];
    for (x, rhs) in updates {
        let values = match rhs {
            Rhs::Linear(e) => vec![e.value_at(&ints(p)).to_i64().unwrap()],
            Rhs::Unknown => vec![-7, 0, 2],
        };
        all = all
            .iter()
            .flat_map(|q| {
                values.iter().map(|v| {
                    let mut q = q.clone();
                    q[x.index()] = *v;
                    q
                })
            })
            .collect();
    }
    all
}

fn thresholds(rng: &mut Rng, dims: usize) -> Vec<Constraint> {
    let general = Constraint::at_least(expr(rng, dims, 2, 9));
    (0..rng.random_range(0..5))
        .map(|_| Constraint::at_least(octagonal(rng, dims, 9)))
        .chain([general])
        .collect()
}

fn step<N: NumericDomain>(rng: &mut Rng, a: &Case<N>) -> (String, Case<N>) {
    let dims = a.element.dimensions();
    let b: Case<N> = case(rng, dims);
    let union = || a.points.union(&b.points).cloned().collect();
    let both = || a.points.intersection(&b.points).cloned().collect();
    let with = |element: N, points: BTreeSet<Point>| Case { element, points };
    match rng.random_range(0..9) {
        0 => {
            let c = constraint(rng, dims);
            let kept = a.points.iter().filter(|p| c.holds_at(&ints(p)));
            let kept = kept.cloned().collect();
            (format!("guard {c}"), with(a.element.guard(&c), kept))
        }
        1 => {
            let u = updates(rng, dims);
            let image = a.points.iter().flat_map(|p| images(p, &u)).collect();
            (format!("assign {u:?}"), with(a.element.assign(&u), image))
        }
        2 => {
            let dims: Vec<Dim> = (0..dims)
                .filter(|_| rng.random_bool(0.4))
                .map(Dim::new)
                .collect();
            let u: Vec<(Dim, Rhs)> = dims.iter().map(|x| (*x, Rhs::Unknown)).collect();
            let image = a.points.iter().flat_map(|p| images(p, &u)).collect();
            (
                format!("forget {dims:?}"),
                with(a.element.forget(&dims), image),
            )
        }
        3 => ("join".into(), with(a.element.join(&b.element), union())),
        4 => ("meet".into(), with(a.element.meet(&b.element), both())),
        5 => {
            let t = thresholds(rng, dims);
            let widened = a.element.widen(&b.element, &t);
            assert!(a.element.leq(&widened) && b.element.leq(&widened));
            ("widen".into(), with(widened, union()))
        }
        6 => {
            let smaller = a.element.meet(&b.element);
            let narrowed = a.element.narrow(&smaller);
            assert!(smaller.leq(&narrowed), "{smaller:?} in {narrowed:?}");
            assert!(narrowed.leq(&a.element));
            ("narrow".into(), with(narrowed, both()))
        }
        7 => {
            let u = updates(rng, dims);
            let from = grid(dims, 3).into_iter();
            let pre = from.filter(|p| images(p, &u).iter().any(|q| a.points.contains(q)));
            (
                format!("preimage {u:?}"),
                with(a.element.preimage(&u), pre.collect()),
            )
        }
        _ => {
            let more = rng.random_range(0..3);
            let wide = a.element.add_dimensions(more);
            let c = constraint(rng, dims + more);
            let extend = |p: &Point| {
                grid(more, 2)
                    .into_iter()
                    .map(|q| [p.clone(), q].concat())
                    .any(|p| c.holds_at(&ints(&p)))
            };
            let kept = a.points.iter().filter(|p| extend(p)).cloned().collect();
            (
                format!("add {more}, guard {c}, keep"),
                with(wide.guard(&c).keep_dimensions(dims), kept),
            )
        }
    }
}

/// Random sequences of operations on an element and on the points that it must contain.
fn soundness<N: NumericDomain>(count: u64) {
    for seed in 0..cases(count) {
        let mut rng = Rng::seed_from_u64(seed);
        let dims = rng.random_range(1..=3);
        let mut a: Case<N> = case(&mut rng, dims);
        let mut history = vec![format!("{a:?}")];
        for _ in 0..5 {
            let (what, next) = step(&mut rng, &a);
            history.push(format!("{what}: {:?}", next.element.constraints()));
            a = next;
            // Enough points to see a mistake, few enough to be quick.
            while a.points.len() > 300 {
                a.points.pop_last();
            }
            let told = || format!("{} seed {seed}: {history:#?}", N::NAME);
            assert!(!a.element.is_bottom() || a.points.is_empty(), "{}", told());
            let e = expr(&mut rng, dims, 3, 3);
            let bounds = a.element.bounds(&e);
            let c = constraint(&mut rng, dims);
            let entailed = a.element.entails(&c);
            for p in &a.points {
                assert!(contains(&a.element, p), "{p:?} of {}", told());
                assert!(bounds.contains(&e.value_at(&ints(p))), "{}", told());
                assert!(!entailed || c.holds_at(&ints(p)), "{}", told());
            }
        }
    }
}

#[test]
fn boxes_are_sound() {
    soundness::<IntervalBox>(2_000);
}

#[test]
fn octagons_are_sound() {
    soundness::<Octagon>(2_000);
}

#[test]
fn polyhedra_are_sound() {
    soundness::<Polyhedron>(2_000);
}

/// ⊑ agrees with inclusion of points, and the lattice operations with ⊑.
fn order<N: NumericDomain>(count: u64) {
    for seed in 0..cases(count) {
        let mut rng = Rng::seed_from_u64(seed);
        let dims = rng.random_range(1..=3);
        let a: Case<N> = case(&mut rng, dims);
        let b: Case<N> = case(&mut rng, dims);
        let (a, b) = (a.element, b.element);
        let told = || format!("{} seed {seed}: {a:?} {b:?}", N::NAME);
        let (joined, met) = (a.join(&b), a.meet(&b));
        for small in [&met, &N::bottom(dims)] {
            assert!(small.leq(&a) && small.leq(&b), "{}", told());
        }
        for large in [&joined, &N::top(dims)] {
            assert!(a.leq(large) && b.leq(large), "{}", told());
        }
        assert!(
            a.leq(&a) && joined.meet(&a).leq(&a) && a.leq(&joined.meet(&a)),
            "{}",
            told()
        );
        let again = N::top(dims).guard_all(&a.constraints());
        assert!(again.leq(&a), "constraints say it all: {}", told());
        let e = constraint(&mut rng, dims);
        assert!(a.guard(&e).leq(&a), "{}", told());
        if a.leq(&b) {
            for p in grid(dims, 4) {
                assert!(!contains(&a, &p) || contains(&b, &p), "{p:?} {}", told());
            }
        } else if dims == 1 {
            let inside = |n: &N, p: &Point| contains(n, p);
            let seen = grid(1, 40).iter().any(|p| inside(&a, p) && !inside(&b, p));
            assert!(seen, "not ⊑ without a point that shows it: {}", told());
        }
    }
}

#[test]
fn order_of_boxes() {
    order::<IntervalBox>(2_000);
}

#[test]
fn order_of_octagons() {
    order::<Octagon>(2_000);
}

#[test]
fn order_of_polyhedra() {
    order::<Polyhedron>(2_000);
}

/// A chain that always finds a point outside: it must come to an end.
fn widening_ends<N: NumericDomain>(count: u64) {
    let mut longest = 0;
    for seed in 0..cases(count) {
        let mut rng = Rng::seed_from_u64(seed);
        let dims = rng.random_range(1..=3);
        let t = thresholds(&mut rng, dims);
        let mut x: N = case(&mut rng, dims).element;
        let mut length = 0;
        loop {
            let reach = 2i64.pow(rng.random_range(2..20));
            let outside = (0..200).find_map(|_| {
                let p: Point = (0..dims)
                    .map(|_| rng.random_range(-reach..=reach))
                    .collect();
                (!contains(&x, &p)).then_some(p)
            });
            let Some(p) = outside else { break };
            let y = x.join(&point_of(&p));
            let next = x.widen(&y, &t);
            assert!(x.leq(&next) && contains(&next, &p));
            x = next;
            length += 1;
            assert!(
                length < 150,
                "{} seed {seed}: {:?}",
                N::NAME,
                x.constraints()
            );
        }
        longest = longest.max(length);
    }
    println!("{}: the longest chain has {longest} steps", N::NAME);
}

#[test]
fn widening_of_boxes_ends() {
    widening_ends::<IntervalBox>(500);
}

#[test]
fn widening_of_octagons_ends() {
    widening_ends::<Octagon>(500);
}

#[test]
fn widening_of_polyhedra_ends() {
    widening_ends::<Polyhedron>(500);
}

fn narrowing_ends<N: NumericDomain>(count: u64) {
    for seed in 0..cases(count) {
        let mut rng = Rng::seed_from_u64(seed);
        let mut x = N::top(2);
        let mut falls = 0;
        for _ in 0..200 {
            let c = Constraint::at_least(expr(&mut rng, 2, 9, 50));
            let next = x.narrow(&x.guard(&c));
            assert!(next.leq(&x));
            falls += usize::from(!x.leq(&next));
            x = next;
            if x.is_bottom() {
                break;
            }
        }
        // The forms that narrowing brings back have coefficients up to 4.
        assert!(falls <= 80, "{} seed {seed}: {falls}", N::NAME);
    }
}

#[test]
fn narrowing_ends_in_each_domain() {
    narrowing_ends::<IntervalBox>(200);
    narrowing_ends::<Octagon>(200);
    narrowing_ends::<Polyhedron>(100);
}

/// A translation by a number beyond machine words, to reach the slow paths.
fn shifts() -> [Int; 3] {
    let big: Int = "1237940039285380274899124224".parse().unwrap();
    [Int::ZERO, Int::from(1i64 << 50), big]
}

fn shifted(c: &Constraint, by: &Int) -> Constraint {
    let sum = c.expr.terms().fold(Int::ZERO, |s, (_, a)| &s + &(a * by));
    Constraint {
        expr: c.expr.plus_constant(&-sum),
        relation: c.relation,
    }
}

/// Octagonal constraints within a small cube, in random order.
fn octagonal_constraints(rng: &mut Rng, dims: usize) -> Vec<Constraint> {
    let mut all: Vec<Constraint> = (0..rng.random_range(0..9))
        .map(|_| {
            let e = octagonal(rng, dims, 5);
            if rng.random_bool(0.2) {
                Constraint::equal(e)
            } else {
                Constraint::at_least(e)
            }
        })
        .collect();
    for x in 0..dims {
        all.push(Constraint::lower(Dim::new(x), &Int::from(-4)));
        all.push(Constraint::upper(Dim::new(x), &Int::from(4)));
    }
    for i in (1..all.len()).rev() {
        all.swap(i, rng.random_range(0..=i));
    }
    all
}

/// The octagon of constraints that are moved by `shift`, and the unmoved points.
fn octagon(rng: &mut Rng, dims: usize, shift: &Int) -> (Octagon, Vec<Point>) {
    let all = octagonal_constraints(rng, dims);
    let points: Vec<Point> = grid(dims, 4)
        .into_iter()
        .filter(|p| all.iter().all(|c| c.holds_at(&ints(p))))
        .collect();
    let mut octagon = Octagon::top(dims);
    for c in &all {
        octagon = octagon.guard(&shifted(c, shift));
        // Asking now closes now: what follows goes the incremental way.
        if rng.random_bool(0.5) {
            assert!(!octagon.is_bottom() || points.is_empty());
        }
    }
    (octagon, points)
}

/// Octagons promise the exact set of integer points of octagonal constraints, its emptiness, its
/// greatest values, inclusion, and the least octagon around two.
#[test]
fn octagons_are_exact_on_integer_points() {
    for seed in 0..cases(3_000) {
        let mut rng = Rng::seed_from_u64(seed);
        let dims = rng.random_range(1..=3);
        let shift = &shifts()[rng.random_range(0..3)];
        let (a, points) = octagon(&mut rng, dims, shift);
        let (b, others) = octagon(&mut rng, dims, shift);
        assert_eq!(a.is_bottom(), points.is_empty(), "seed {seed}");
        let included = points.iter().all(|p| others.contains(p));
        assert_eq!(a.leq(&b), included, "seed {seed}");
        let there = |p: &Point| -> Vec<Int> { p.iter().map(|n| shift + &Int::from(*n)).collect() };
        let both = [points.clone(), others].concat();
        let exact = |octagon: &Octagon, points: &[Point], e: &LinExpr| {
            let values: Vec<Int> = points.iter().map(|p| e.value_at(&there(p))).collect();
            let expected = Interval {
                lo: values.iter().min().cloned(),
                hi: values.iter().max().cloned(),
            };
            assert_eq!(octagon.bounds(e), expected, "seed {seed}: {e}");
        };
        for _ in 0..6 {
            let e = octagonal(&mut rng, dims, 5);
            exact(&a, &points, &e);
            exact(&a.join(&b), &both, &e);
        }
        let listed = a.constraints();
        for p in grid(dims, 5) {
            let inside = listed.iter().all(|c| c.holds_at(&there(&p)));
            assert_eq!(inside, points.contains(&p), "seed {seed}: {p:?}");
        }
    }
}

fn determinant(rows: &[Vec<i64>]) -> i64 {
    match rows.len() {
        0 => 1,
        n => (0..n)
            .map(|j| {
                let minor: Vec<Vec<i64>> = rows[1..]
                    .iter()
                    .map(|r| [&r[..j], &r[j + 1..]].concat())
                    .collect();
                let sign = if j % 2 == 0 { 1 } else { -1 };
                sign * rows[0][j] * determinant(&minor)
            })
            .sum(),
    }
}

/// Whether a point is in the convex hull: by Carathéodory, whether it is in a simplex of some of
/// the points, which Cramer's rule decides. Affinely dependent corners are tried as smaller sets.
fn in_hull(p: &Point, points: &[Point]) -> bool {
    (0u32..1 << points.len()).any(|set| {
        let corners: Vec<&Point> = (0..points.len())
            .filter(|i| set >> i & 1 == 1)
            .map(|i| &points[i])
            .collect();
        corners.len() <= p.len() + 1 && in_simplex(p, &corners)
    })
}

/// Whether weights ≥ 0 with sum 1 give the point, for affinely independent corners.
fn in_simplex(p: &Point, corners: &[&Point]) -> bool {
    let Some((first, rest)) = corners.split_first() else {
        return false;
    };
    let from = |q: &Point| -> Vec<i64> { q.iter().zip(first.iter()).map(|(a, b)| a - b).collect() };
    let edges: Vec<Vec<i64>> = rest.iter().map(|q| from(q)).collect();
    let target = from(p);
    // Normal equations: exact, and with a non-zero determinant iff the edges are independent.
    let product = |a: &[i64], b: &[i64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<i64>();
    let gram: Vec<Vec<i64>> = edges
        .iter()
        .map(|a| edges.iter().map(|b| product(a, b)).collect())
        .collect();
    let right: Vec<i64> = edges.iter().map(|a| product(a, &target)).collect();
    let scale = determinant(&gram);
    if scale == 0 {
        return false;
    }
    let weights: Vec<i64> = (0..edges.len())
        .map(|j| {
            let mut m = gram.clone();
            for (row, r) in m.iter_mut().zip(&right) {
                row[j] = *r;
            }
            determinant(&m)
        })
        .collect();
    let reached = (0..p.len()).all(|x| {
        let sum: i64 = edges.iter().zip(&weights).map(|(e, w)| e[x] * w).sum();
        sum == target[x] * scale
    });
    reached && weights.iter().all(|w| *w >= 0) && weights.iter().sum::<i64>() <= scale
}

/// The join of points is their convex hull.
#[test]
fn polyhedra_join_to_the_convex_hull() {
    for seed in 0..cases(1_000) {
        let mut rng = Rng::seed_from_u64(seed);
        let dims = rng.random_range(1..=3);
        let shift = &shifts()[rng.random_range(0..3)];
        let mut points: Vec<Point> = (0..rng.random_range(1..=6))
            .map(|_| (0..dims).map(|_| rng.random_range(-2..=2)).collect())
            .collect();
        points.sort();
        points.dedup();
        let mut hull = Polyhedron::bottom(dims);
        for p in &points {
            let there = (0..dims).map(|x| {
                let at = LinExpr::dim(Dim::new(x)).plus_constant(&Int::from(-p[x]));
                shifted(&Constraint::equal(at), shift)
            });
            let there: Vec<Constraint> = there.collect();
            hull = hull.join(&Polyhedron::top(dims).guard_all(&there));
        }
        let facets = hull.rational_constraints();
        for p in grid(dims, 3) {
            let there: Vec<Int> = p.iter().map(|n| shift + &Int::from(*n)).collect();
            let inside = facets.iter().all(|c| c.holds_at(&there));
            assert_eq!(
                inside,
                in_hull(&p, &points),
                "seed {seed}: {p:?} of {points:?}"
            );
        }
    }
}

/// Polyhedra promise exactly the integer points of any constraints without `≠`.
#[test]
fn polyhedra_are_exact_on_constraints() {
    for seed in 0..cases(1_500) {
        let mut rng = Rng::seed_from_u64(seed);
        let dims = rng.random_range(1..=3);
        let all: Vec<Constraint> = (0..rng.random_range(0..7))
            .map(|_| constraint(&mut rng, dims))
            .filter(|c| *c != Constraint::differ(c.expr.clone()))
            .collect();
        let polyhedron = Polyhedron::top(dims).guard_all(&all);
        for p in grid(dims, 5) {
            let expected = all.iter().all(|c| c.holds_at(&ints(&p)));
            assert_eq!(
                contains(&polyhedron, &p),
                expected,
                "seed {seed}: {p:?} {all:?}"
            );
        }
    }
}

/// A box promises the least box around its points.
#[test]
fn boxes_are_exact_on_sides() {
    for seed in 0..cases(1_000) {
        let mut rng = Rng::seed_from_u64(seed);
        let dims = rng.random_range(1..=3);
        let points: Vec<Point> = (0..rng.random_range(1..6))
            .map(|_| (0..dims).map(|_| rng.random_range(-9..=9)).collect())
            .collect();
        let hull = points
            .iter()
            .fold(IntervalBox::bottom(dims), |b, p| b.join(&point_of(p)));
        for x in 0..dims {
            let side = Interval {
                lo: points.iter().map(|p| p[x]).min().map(Int::from),
                hi: points.iter().map(|p| p[x]).max().map(Int::from),
            };
            assert_eq!(hull.side(Dim::new(x)), Some(&side));
        }
    }
}

/// Widening keeps a threshold that both sides satisfy, in each domain that can express it.
#[test]
fn widening_stops_at_thresholds() {
    fn check<N: NumericDomain>(related: bool) {
        let (x, y) = (LinExpr::dim(Dim::new(0)), LinExpr::dim(Dim::new(1)));
        let at = |n: i64| {
            let fixed = Constraint::equal(x.plus_constant(&Int::from(-n)));
            N::top(2)
                .guard(&fixed)
                .guard(&Constraint::le(&LinExpr::constant(100), &y))
        };
        let (a, b) = (at(0), at(0).join(&at(1)));
        let limit = Constraint::upper(Dim::new(0), &Int::from(10));
        let relation = Constraint::le(&x, &y);
        let widened = a.widen(&b, &[limit.clone(), relation.clone()]);
        assert!(widened.entails(&limit), "{}", N::NAME);
        assert!(!a.widen(&b, &[]).entails(&limit), "{}", N::NAME);
        let related_only = a.widen(&b, std::slice::from_ref(&relation));
        assert_eq!(related_only.entails(&relation), related, "{}", N::NAME);
    }
    check::<IntervalBox>(false);
    check::<Octagon>(true);
    check::<Polyhedron>(true);
}

/// Constants at the ends of machine words, where sums and negations leave them.
#[test]
fn extreme_constants_do_not_overflow() {
    fn check<N: NumericDomain>() {
        let (x, y) = (Dim::new(0), Dim::new(1));
        let ends = [i64::MIN, i64::MIN + 1, -1, 0, i64::MAX - 1, i64::MAX];
        for lo in ends {
            for hi in ends {
                let sum = LinExpr::dim(x).plus(&LinExpr::dim(y));
                let all = [
                    Constraint::lower(x, &Int::from(lo)),
                    Constraint::upper(y, &Int::from(hi)),
                    Constraint::le(&sum, &LinExpr::constant(hi)),
                    Constraint::lower(y, &Int::from(lo)),
                ];
                let element = N::top(2).guard_all(&all);
                let shift = (x, Rhs::Linear(sum.plus_constant(&Int::from(hi))));
                let moved = element.assign(std::slice::from_ref(&shift));
                for p in ends.iter().flat_map(|a| ends.map(|b| vec![*a, b])) {
                    if all.iter().all(|c| c.holds_at(&ints(&p))) {
                        assert!(contains(&element, &p), "{} {p:?}", N::NAME);
                        let Rhs::Linear(e) = &shift.1 else {
                            unreachable!()
                        };
                        let image = [e.value_at(&ints(&p)), Int::from(p[1])];
                        assert!(moved.constraints().iter().all(|c| c.holds_at(&image)));
                    }
                }
                assert!(element.leq(&element.widen(&moved, &all)));
                assert!(moved.preimage(&[shift]).meet(&element).leq(&element));
            }
        }
    }
    check::<IntervalBox>();
    check::<Octagon>();
    check::<Polyhedron>();
}

/// Beyond its budget a polyhedron becomes an octagon, says so, and stays sound.
#[test]
fn large_polyhedra_are_weakened() {
    for dims in [
        14,
        MAX_POLYHEDRON_DIMENSIONS,
        MAX_POLYHEDRON_DIMENSIONS + 1,
        30,
    ] {
        // A cube has a vertex for each subset of its sides.
        let mut cube = Polyhedron::top(dims);
        for x in 0..dims {
            cube = cube
                .guard(&Constraint::lower(Dim::new(x), &Int::ZERO))
                .guard(&Constraint::upper(Dim::new(x), &Int::from(3)));
        }
        let related = cube.guard(&Constraint::le(
            &LinExpr::dim(Dim::new(0)),
            &LinExpr::dim(Dim::new(1)),
        ));
        assert!(related.is_weakened(), "{dims}");
        assert!(!related.is_bottom());
        let corner: Point = [0, 1, 2, 3].into_iter().cycle().take(dims).collect();
        assert!(contains(&related, &corner));
        let mut outside = corner.clone();
        outside[0] = 2;
        assert!(
            !contains(&related, &outside),
            "the octagon keeps the relation"
        );
        assert!(related.leq(&cube) && related.join(&cube).leq(&cube));
        assert!(related.widen(&cube, &[]).is_weakened());
    }
    let small = Polyhedron::top(3).guard(&Constraint::lower(Dim::new(0), &Int::ZERO));
    assert!(!small.is_weakened());
}
