//! Abstract states against valuations: guards, assignments and their preimages keep every valuation
//! that evaluation keeps, on random terms with faults; and the invariant of the sender of
//! [SYM04, fig. 1] is found.

mod domains_support;
mod support;

use std::collections::BTreeMap;
use std::sync::Arc;

use domains_support::{Rng, cases};
use iolite_expr::{Answer, Op, Solver, Sort, Span, Term, Value, Var, VarId};
use iolite_sts::analysis::domain::{
    Abstract, IntervalBox, Limits, NumericDomain, Octagon, Polyhedron, Vocabulary, Widening,
};
use iolite_sts::{Iosts, LocationId, space};
use rand::{RngExt, SeedableRng};

type Valuation = BTreeMap<VarId, Value>;

fn colours() -> Sort {
    Sort::enumeration("Colour", &["red", "green", "blue"]).unwrap()
}

fn numbers() -> Sort {
    Sort::array(Sort::Int).unwrap()
}

fn variables() -> Vec<Var> {
    let small = Sort::range(-1, 3).unwrap();
    let sorts = [
        ("x", Sort::Int),
        ("y", Sort::Int),
        ("n", small),
        ("b", Sort::Bool),
        ("d", Sort::Bool),
        ("c", colours()),
        ("a", numbers()),
    ];
    let var = |(i, (name, sort)): (usize, &(&str, Sort))| {
        Var::new(VarId::new(space::VARIABLE, i), name, sort.clone())
    };
    sorts.iter().enumerate().map(var).collect()
}

fn value(rng: &mut Rng, sort: &Sort) -> Value {
    match sort {
        Sort::Int => Value::from(rng.random_range(-4i64..=4)),
        Sort::Array(_) => Value::array((0..rng.random_range(0..3)).map(Value::from).collect()),
        sort => {
            let all = sort.values(100).unwrap();
            all[rng.random_range(0..all.len())].clone()
        }
    }
}

fn valuation(rng: &mut Rng, vars: &[Var]) -> Valuation {
    vars.iter().map(|v| (v.id, value(rng, &v.sort))).collect()
}

fn apply(op: Op, args: Vec<Term>) -> Term {
    Term::apply(op, args, Span::NONE).unwrap()
}

fn one_of<'a>(rng: &mut Rng, vars: &'a [Var], fits: impl Fn(&Sort) -> bool) -> &'a Var {
    let all: Vec<&Var> = vars.iter().filter(|v| fits(&v.sort)).collect();
    all[rng.random_range(0..all.len())]
}

fn int(rng: &mut Rng, vars: &[Var], depth: u32) -> Term {
    let Some(depth) = depth.checked_sub(1) else {
        return if rng.random_bool(0.3) {
            Term::from(rng.random_range(-3i64..=3))
        } else {
            one_of(rng, vars, Sort::is_int).term()
        };
    };
    let i = |rng: &mut Rng| int(rng, vars, depth);
    match rng.random_range(0..14) {
        0..4 => apply(Op::Add, vec![i(rng), i(rng)]),
        4 | 5 => apply(Op::Sub, vec![i(rng), i(rng)]),
        6 => apply(Op::Mul, vec![i(rng), i(rng)]),
        7 => apply(Op::Div, vec![i(rng), i(rng)]),
        8 => apply(Op::Mod, vec![i(rng), i(rng)]),
        9 => apply(Op::Abs, vec![i(rng)]),
        10 => {
            let c = boolean(rng, vars, depth);
            apply(Op::Ite, vec![c, i(rng), i(rng)])
        }
        11 => apply(Op::Select, vec![array(rng, vars, depth), i(rng)]),
        12 => apply(Op::Len, vec![array(rng, vars, depth)]),
        _ => i(rng)
            .coerce(&Sort::range(-1, 3).unwrap())
            .unwrap_or_else(|_| 0.into()),
    }
}

fn array(rng: &mut Rng, vars: &[Var], depth: u32) -> Term {
    let plain = one_of(rng, vars, |s| matches!(s, Sort::Array(_))).term();
    let Some(depth) = depth.checked_sub(1) else {
        return plain;
    };
    let i = |rng: &mut Rng| int(rng, vars, depth);
    match rng.random_range(0..6) {
        0 => apply(Op::Store, vec![plain, i(rng), i(rng)]),
        1 => apply(Op::Append, vec![plain.clone(), plain]),
        2 => apply(Op::Slice, vec![plain, i(rng), i(rng)]),
        3 => Term::array(&numbers(), vec![i(rng), i(rng)], Span::NONE).unwrap(),
        _ => plain,
    }
}

fn colour(rng: &mut Rng, vars: &[Var], depth: u32) -> Term {
    if depth == 0 || rng.random_bool(0.6) {
        return if rng.random_bool(0.5) {
            value(rng, &colours()).into()
        } else {
            one_of(rng, vars, |s| matches!(s, Sort::Enum(_))).term()
        };
    }
    let c = boolean(rng, vars, depth - 1);
    let (a, b) = (colour(rng, vars, depth - 1), colour(rng, vars, depth - 1));
    apply(Op::Ite, vec![c, a, b])
}

fn boolean(rng: &mut Rng, vars: &[Var], depth: u32) -> Term {
    let Some(depth) = depth.checked_sub(1) else {
        return if rng.random_bool(0.1) {
            rng.random_bool(0.5).into()
        } else {
            one_of(rng, vars, |s| *s == Sort::Bool).term()
        };
    };
    let b = |rng: &mut Rng| boolean(rng, vars, depth);
    match rng.random_range(0..16) {
        0 => apply(Op::Not, vec![b(rng)]),
        1 | 2 => apply(Op::And, vec![b(rng), b(rng), b(rng)]),
        3 | 4 => apply(Op::Or, vec![b(rng), b(rng)]),
        5 => apply(Op::Implies, vec![b(rng), b(rng)]),
        6 => apply(Op::Ite, vec![b(rng), b(rng), b(rng)]),
        7 => apply(Op::Eq, vec![b(rng), b(rng)]),
        8 => {
            let op = if rng.random_bool(0.5) { Op::Eq } else { Op::Ne };
            apply(op, vec![colour(rng, vars, depth), colour(rng, vars, depth)])
        }
        9 => apply(
            Op::Eq,
            vec![array(rng, vars, depth), array(rng, vars, depth)],
        ),
        10 => {
            let bound = Var::new(VarId::new(100, 0), "e", Sort::range(-2, 2).unwrap());
            let mut inner = vars.to_vec();
            inner.push(bound.clone());
            Term::exists(vec![bound], boolean(rng, &inner, depth.min(1)))
        }
        k => {
            let ops = [Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge];
            let op = ops[k % ops.len()].clone();
            apply(op, vec![int(rng, vars, depth), int(rng, vars, depth)])
        }
    }
}

fn term_for(rng: &mut Rng, vars: &[Var], target: &Var) -> Option<Term> {
    match &target.sort {
        Sort::Bool => Some(boolean(rng, vars, 2)),
        Sort::Enum(_) => Some(colour(rng, vars, 2)),
        Sort::Array(_) => Some(array(rng, vars, 2)),
        sort => int(rng, vars, 2).coerce(sort).ok(),
    }
}

fn assignments(rng: &mut Rng, vars: &[Var]) -> Vec<(Var, Term)> {
    let chosen: Vec<&Var> = vars.iter().filter(|_| rng.random_bool(0.4)).collect();
    chosen
        .into_iter()
        .filter_map(|v| Some((v.clone(), term_for(rng, vars, v)?)))
        .collect()
}

/// The valuation after the assignment, if no term faults.
fn assigned(v: &Valuation, updates: &[(Var, Term)]) -> Option<Valuation> {
    let mut next = v.clone();
    for (x, e) in updates {
        next.insert(x.id, e.eval(v).ok()?);
    }
    Some(next)
}

fn limits(rng: &mut Rng) -> Limits {
    // Small limits now and then, so that giving up is tried as well.
    if rng.random_bool(0.3) {
        Limits {
            dimensions: rng.random_range(0..4),
            auxiliaries: rng.random_range(0..3),
            finite: rng.random_range(0..4),
            values: rng.random_range(0..4),
            parts: rng.random_range(1..5),
            steps: rng.random_range(0..30),
        }
    } else {
        Limits::default()
    }
}

fn soundness<N: NumericDomain>(count: u64) {
    let vars = variables();
    for seed in 0..cases(count) {
        let mut rng = Rng::seed_from_u64(seed);
        let vocabulary = Vocabulary::new(vars.clone(), limits(&mut rng));
        let mut points: Vec<Valuation> = (0..60).map(|_| valuation(&mut rng, &vars)).collect();
        let mut state = Abstract::<N>::top(&vocabulary);
        let mut history = Vec::new();
        for _ in 0..5 {
            let g = boolean(&mut rng, &vars, 3);
            let other = Abstract::<N>::top(&vocabulary).guard(&g);
            let holds = |v: &Valuation| g.eval_bool(v) == Ok(true);
            match rng.random_range(0..7) {
                0 | 1 => {
                    history.push(format!("guard {g}"));
                    state = state.guard(&g);
                    points.retain(holds);
                }
                2 | 3 => {
                    let u = assignments(&mut rng, &vars);
                    history.push(format!("assign {u:?}"));
                    state = state.assign(&u);
                    points = points.iter().filter_map(|v| assigned(v, &u)).collect();
                }
                4 => {
                    history.push(format!("join {g}"));
                    assert!(state.leq(&state.join(&other)) && other.leq(&state.join(&other)));
                    state = state.join(&other);
                    let more = (0..20).map(|_| valuation(&mut rng, &vars));
                    points.extend(more.filter(holds));
                }
                5 => {
                    history.push(format!("widen {g}"));
                    let widened = state.widen(&other, &[]);
                    assert!(state.leq(&widened) && other.leq(&widened), "{history:?}");
                    state = widened;
                }
                _ => {
                    history.push(format!("meet {g}"));
                    state = state.meet(&other);
                    points.retain(holds);
                }
            }
            let term = state.to_term().unwrap();
            for v in &points {
                let told = format!(
                    "{} seed {seed}: {v:?} not in {term} after {history:#?}",
                    N::NAME
                );
                assert_eq!(term.eval_bool(v), Ok(true), "{told}");
            }
        }
        // Backwards: who satisfies the guard and is led into the state is in the preimage.
        let (g, u) = (boolean(&mut rng, &vars, 2), assignments(&mut rng, &vars));
        let pre = state.preimage(&Abstract::top(&vocabulary), &g, &u);
        let (term, pre) = (state.to_term().unwrap(), pre.to_term().unwrap());
        for _ in 0..60 {
            let v = valuation(&mut rng, &vars);
            let inside = |v: &Valuation| term.eval_bool(v) == Ok(true);
            if g.eval_bool(&v) == Ok(true) && assigned(&v, &u).is_some_and(|w| inside(&w)) {
                let told = format!("{} seed {seed}: {v:?}, guard {g}, {u:?}", N::NAME);
                assert_eq!(pre.eval_bool(&v), Ok(true), "{told}\n{term}\n{pre}");
            }
        }
    }
}

#[test]
fn states_over_boxes_are_sound() {
    soundness::<IntervalBox>(1_500);
}

#[test]
fn states_over_octagons_are_sound() {
    soundness::<Octagon>(800);
}

#[test]
fn states_over_polyhedra_are_sound() {
    soundness::<Polyhedron>(500);
}

fn widening_ends<N: NumericDomain>(count: u64) {
    let vars = variables();
    for seed in 0..cases(count) {
        let mut rng = Rng::seed_from_u64(seed);
        let limits = Limits {
            parts: rng.random_range(1..20),
            ..Limits::default()
        };
        let vocabulary = Vocabulary::new(vars.clone(), limits);
        let mut x = Abstract::<N>::bottom(&vocabulary);
        let mut length = 0;
        loop {
            let term = x.to_term().unwrap();
            let outside = (0..60).find_map(|_| {
                let mut v = valuation(&mut rng, &vars);
                let far = 10i64.pow(rng.random_range(0..6));
                for (id, value) in &mut v {
                    if id.index() < 2 {
                        *value = Value::from(rng.random_range(-far..=far));
                    }
                }
                (term.eval_bool(&v) != Ok(true)).then_some(v)
            });
            let Some(v) = outside else { break };
            let one = vars
                .iter()
                .map(|w| w.term().equals_value(&v[&w.id]).unwrap());
            let one = Abstract::top(&vocabulary).guard(&Term::all(one));
            assert!(!one.is_bottom(), "seed {seed}: {v:?}");
            let next = x.widen(&x.join(&one), &[]);
            assert!(x.leq(&next) && one.leq(&next));
            x = next;
            length += 1;
            assert!(length < 400, "{} seed {seed}", N::NAME);
        }
    }
}

#[test]
fn widening_of_states_ends() {
    widening_ends::<IntervalBox>(60);
    widening_ends::<Octagon>(30);
    widening_ends::<Polyhedron>(20);
}

/// Many variables, many disjuncts and terms that would be visited exponentially often: the limits
/// hold, and giving up is sound.
#[test]
fn limits_hold_on_large_input() {
    fn check<N: NumericDomain>() {
        let var = |i: usize| {
            let sort = [Sort::Int, Sort::Bool][i % 2].clone();
            Var::new(VarId::new(space::VARIABLE, i), &format!("v{i}"), sort)
        };
        let vars: Vec<Var> = (0..600).map(var).collect();
        let limits = Limits::default();
        let vocabulary = Vocabulary::new(vars.clone(), limits);
        assert_eq!(vocabulary.quantities().len(), limits.dimensions);
        let described = limits.dimensions + limits.finite;
        assert_eq!(vocabulary.ignored().len(), vars.len() - described);
        let ints: Vec<Term> = vars.iter().step_by(2).map(Var::term).collect();
        let bools: Vec<Term> = vars.iter().skip(1).step_by(2).map(Var::term).collect();
        let chain = Term::all(ints.windows(2).map(|w| w[0].lt(&w[1]).unwrap()));
        let either = Term::any(ints.windows(2).map(|w| w[0].gt(&w[1]).unwrap()));
        let parity = bools[1..150]
            .iter()
            .fold(bools[0].clone(), |t, b| t.equals(b).unwrap());
        let top = Abstract::<N>::top(&vocabulary);
        for g in [&chain, &either, &parity] {
            let state = top.guard(g);
            assert!(!state.is_bottom() && state.parts() <= limits.parts);
        }
        assert!(
            top.guard(&chain)
                .guard(&ints[0].gt(&ints[9]).unwrap())
                .is_bottom()
                || N::NAME == "intervals"
        );
        let swap: Vec<(Var, Term)> = vars
            .iter()
            .cloned()
            .zip(vars.iter().rev().map(Var::term))
            .filter(|(v, t)| v.sort == *t.sort())
            .collect();
        assert!(!top.assign(&swap).is_bottom());
    }
    check::<IntervalBox>();
    check::<Octagon>();
    check::<Polyhedron>();
}

/// Where a right side is not understood, its target may come from anywhere.
#[test]
fn preimages_of_unknown_values_are_whole() {
    let vars = variables();
    let limits = Limits {
        auxiliaries: 0,
        ..Limits::default()
    };
    let vocabulary = Vocabulary::new(vars.clone(), limits);
    let (x, y) = (vars[0].term(), vars[1].term());
    let target = x.ge(5).unwrap().and(y.le(3).unwrap()).unwrap();
    let target = Abstract::<Octagon>::top(&vocabulary).guard(&target);
    let updates = [(vars[0].clone(), x.times(&y).unwrap())];
    let pre = target.preimage(&Abstract::top(&vocabulary), &true.into(), &updates);
    let holds = |guard: Term| !pre.guard(&guard).is_bottom();
    assert!(holds(
        x.equals(3).unwrap().and(y.equals(3).unwrap()).unwrap()
    ));
    assert!(!holds(y.equals(4).unwrap()), "what is kept is still known");
}

/// What is linear over finite and numeric data is exact, not only sound.
#[test]
fn linear_guards_are_exact() {
    let vars = variables();
    let vocabulary = Vocabulary::new(vars.clone(), Limits::default());
    let var = |name: &str| vars.iter().find(|v| &*v.name == name).unwrap().term();
    let (x, y, b, c) = (var("x"), var("y"), var("b"), var("c"));
    let red = Term::from(Value::variant(&colours(), "red").unwrap());
    let guards = [
        x.lt(&y).unwrap(),
        b.and(x.le(2).unwrap()).unwrap(),
        apply(Op::Eq, vec![b.clone(), x.le(&y).unwrap()]),
        c.equals(&red).unwrap().and(x.equals(3).unwrap()).unwrap(),
        c.differs(&red).unwrap(),
        apply(Op::Ite, vec![b.clone(), x.le(0).unwrap(), x.ge(1).unwrap()]),
        x.div(2).unwrap().equals(1).unwrap(),
        apply(Op::Abs, vec![y.clone()]).equals(0).unwrap(),
        apply(Op::Len, vec![var("a")]).ge(2).unwrap(),
    ];
    let mut rng = Rng::seed_from_u64(7);
    for g in &guards {
        let term = Abstract::<Polyhedron>::top(&vocabulary)
            .guard(g)
            .to_term()
            .unwrap();
        for _ in 0..300 {
            let v = valuation(&mut rng, &vars);
            assert_eq!(
                term.eval_bool(&v),
                g.eval_bool(&v),
                "{g} as {term} at {v:?}"
            );
        }
    }
}

/// Reachable valuations by location: widening with delay, then a few rounds of narrowing.
fn reachable<N: NumericDomain>(model: &Iosts, vocabulary: &Arc<Vocabulary>) -> Vec<Abstract<N>> {
    let widening = Widening::of(model, vocabulary, 1);
    let count = model.locations().len();
    let start = Abstract::<N>::initial(model, vocabulary);
    let arriving = |states: &[Abstract<N>], at: LocationId| {
        let mut sum = Abstract::bottom(vocabulary);
        if at == model.initial() {
            sum = start.clone();
        }
        for (_, t) in model.transitions().filter(|(_, t)| t.target == at) {
            sum = sum.join(&states[t.source.index()].post(model, t));
        }
        sum
    };
    let mut states = vec![Abstract::<N>::bottom(vocabulary); count];
    for visit in 0.. {
        assert!(visit < 100, "widening ends");
        let mut changed = false;
        for (id, _) in model.locations() {
            let new = arriving(&states, id);
            if !new.leq(&states[id.index()]) {
                states[id.index()] = widening.step(visit, &states[id.index()], &new);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    for _ in 0..3 {
        for (id, _) in model.locations() {
            let new = arriving(&states, id);
            states[id.index()] = states[id.index()].narrow(&states[id.index()].meet(&new));
        }
    }
    states
}

/// [SYM04, §3.2 and §3.4]: the sender is never silent in `Wait_Ack` because `rn <= max` there. The relation
/// with the symbolic constant is what intervals cannot find; and the solver agrees that what was
/// found is inductive.
#[test]
fn the_sender_never_counts_beyond_max() {
    fn check<N: NumericDomain>(proves: bool) {
        let model = support::brp_sender(true);
        let vocabulary = Vocabulary::of(&model, Limits::default());
        let states = reachable::<N>(&model, &vocabulary);
        let at = model.find_location("Wait_Ack").unwrap();
        let var = |name: &str| {
            let variables = model.variables().iter().map(|v| &v.var);
            let mut all = variables.chain(model.constants().iter().map(|c| &c.var));
            all.find(|v| &*v.name == name).unwrap().term()
        };
        let silent = var("rn").gt(var("max")).unwrap();
        let there = &states[at.index()];
        assert_eq!(there.guard(&silent).is_bottom(), proves, "{}", N::NAME);
        assert!(!there.is_bottom());
        // Each transition leads from the invariant of its source into that of its target.
        for (_, t) in model.transitions() {
            let source = states[t.source.index()].to_term().unwrap();
            let mut map = iolite_expr::Substitution::new();
            for (x, e) in &t.assignments {
                map.insert(model.variables()[*x].var.id, e.clone());
            }
            let target = states[t.target.index()].to_term().unwrap();
            let escapes = target.substitute(&map).unwrap().negated();
            let query = Term::all([source, t.guard.clone(), escapes]);
            let answer = Solver::embedded().check_with(&query);
            assert!(
                matches!(answer, Answer::Unsat),
                "{}: {query}: {answer:?}",
                N::NAME
            );
        }
        // Backwards: nothing leads to silence in Wait_Ack but silence itself.
        let bad = Abstract::<N>::top(&vocabulary).guard(&silent);
        for (_, t) in model.transitions().filter(|(_, t)| t.target == at) {
            let before = bad.pre(&model, t, &states[t.source.index()]);
            assert_eq!(before.is_bottom(), proves, "{}", N::NAME);
        }
    }
    check::<IntervalBox>(false);
    check::<Octagon>(true);
    check::<Polyhedron>(true);
}
