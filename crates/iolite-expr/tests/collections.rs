//! Sets, maps and decimals: simplification, definedness and solvers against evaluation, value by value.
#![allow(missing_docs, clippy::cast_possible_wrap)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use iolite_expr::{
    Answer, Env, Fault, Int, Limits, Op, Smtlib, Solver, Sort, Span, SumDeclaration, Term, Value,
    Var, VarId, Variant,
};
use support::{Gen, cases};

const HERE: Span = Span::NONE;

fn set_sort() -> Sort {
    Sort::set(Sort::Int).unwrap()
}

fn map_sort() -> Sort {
    Sort::map(Sort::Int, Sort::Int).unwrap()
}

fn app(op: Op, args: Vec<Term>) -> Term {
    Term::apply(op, args, HERE).unwrap()
}

/// Random terms over two sets, two maps, a set of few elements, two numbers and two decimals.
struct Terms(Gen);

impl Terms {
    fn new(seed: u64) -> Self {
        let small = Sort::range(-1, 3).unwrap();
        let few = Sort::set(Sort::range(0, 2).unwrap()).unwrap();
        let sorts = [
            set_sort(),
            set_sort(),
            map_sort(),
            map_sort(),
            few,
            small.clone(),
            small,
            Sort::Decimal(1),
            Sort::Decimal(2),
        ];
        Self(Gen::new(seed, &sorts))
    }

    fn var(&self, i: usize) -> Term {
        self.0.vars[i].term()
    }

    fn below(&mut self, n: usize) -> usize {
        self.0.below(n)
    }

    fn set(&mut self, depth: u32) -> Term {
        let Some(d) = depth.checked_sub(1) else {
            return match self.below(3) {
                0 => Term::set(&set_sort(), vec![1.into(), 2.into()], HERE).unwrap(),
                n => self.var(n - 1),
            };
        };
        match self.below(9) {
            0 => app(Op::Insert, vec![self.set(d), self.int(0)]),
            1 => app(Op::Remove, vec![self.set(d), self.int(0)]),
            2 => app(Op::Union, vec![self.set(d), self.set(d)]),
            3 => app(Op::Intersection, vec![self.set(d), self.set(d)]),
            4 => app(Op::Difference, vec![self.set(d), self.set(d)]),
            5 => app(Op::Keys, vec![self.map(d)]),
            6 => {
                let items = vec![self.int(0), self.int(0)];
                Term::set(&set_sort(), items, HERE).unwrap()
            }
            7 => app(Op::Ite, vec![self.boolean(d), self.set(d), self.set(d)]),
            _ => self.set(0),
        }
    }

    fn map(&mut self, depth: u32) -> Term {
        let Some(d) = depth.checked_sub(1) else {
            let n = self.below(2);
            return self.var(2 + n);
        };
        match self.below(5) {
            0 | 1 => app(Op::Put, vec![self.map(d), self.int(0), self.int(d)]),
            2 => app(Op::Remove, vec![self.map(d), self.int(0)]),
            3 => {
                let pairs = vec![(self.int(0), self.int(0)), (self.int(0), self.int(0))];
                Term::map(&map_sort(), pairs, HERE).unwrap()
            }
            _ => self.map(0),
        }
    }

    fn int(&mut self, depth: u32) -> Term {
        let Some(d) = depth.checked_sub(1) else {
            return match self.below(3) {
                0 => (self.below(4) as i64).into(),
                n => self.var(4 + n),
            };
        };
        match self.below(7) {
            0 => app(Op::Len, vec![self.set(d)]),
            1 => app(Op::Len, vec![self.map(d)]),
            2 | 3 => app(Op::Lookup, vec![self.map(d), self.int(0)]),
            4 => app(Op::Len, vec![self.var(4)]),
            5 => self.decimal(d).floor(HERE).unwrap(),
            _ => app(Op::Add, vec![self.int(d), self.int(d)]),
        }
    }

    fn decimal(&mut self, depth: u32) -> Term {
        let Some(d) = depth.checked_sub(1) else {
            return match self.below(4) {
                0 => Term::from(Value::decimal("0.5", 1).unwrap()),
                1 => Term::from(Value::decimal("-1.25", 2).unwrap()),
                n => self.var(5 + n),
            };
        };
        let op = [Op::Add, Op::Sub, Op::Mul, Op::Div][self.below(4)].clone();
        let (a, b) = (self.decimal(d), self.decimal(0));
        Term::decimal_op(op, a, b, HERE).unwrap()
    }

    fn boolean(&mut self, depth: u32) -> Term {
        let Some(d) = depth.checked_sub(1) else {
            return app(Op::Has, vec![self.int(0), self.var(0)]);
        };
        match self.below(12) {
            0 => app(Op::Not, vec![self.boolean(d)]),
            1 => app(Op::And, vec![self.boolean(d), self.boolean(d)]),
            2 => app(Op::Or, vec![self.boolean(d), self.boolean(d)]),
            3 => app(Op::Has, vec![self.int(0), self.set(d)]),
            4 => app(Op::Has, vec![self.int(0), self.map(d)]),
            5 => app(Op::Eq, vec![self.set(d), self.set(d)]),
            6 => app(Op::Ne, vec![self.map(d), self.map(d)]),
            7 => {
                let id = VarId::new(VarId::BOUND_SPACE, depth as usize);
                let x = Var::new(id, "x", Sort::Int);
                let body = app(Op::Lt, vec![x.term(), self.int(d)]);
                let op = [Op::ForAll(x.clone()), Op::ForSome(x)][self.below(2)].clone();
                app(op, vec![self.set(d), body])
            }
            8 => {
                let few = self.var(4);
                app(Op::Has, vec![self.int(0), few])
            }
            9 | 10 => {
                let op = [Op::Lt, Op::Eq, Op::Ge][self.below(3)].clone();
                let (a, b) = (self.decimal(d.min(1)), self.decimal(0));
                Term::decimal_op(op, a, b, HERE).unwrap()
            }
            _ => {
                let op = [Op::Lt, Op::Eq, Op::Ge][self.below(3)].clone();
                app(op, vec![self.int(d), self.int(d)])
            }
        }
    }

    fn valuation(&mut self) -> BTreeMap<VarId, Value> {
        let vars = self.0.vars.clone();
        let mut env = BTreeMap::new();
        for v in vars {
            let mut number = || Value::from(self.0.below(5) as i64 - 1);
            let value = match &v.sort {
                Sort::Set(e) if **e == Sort::Int => {
                    let items = [number(), number(), number()];
                    let n = self.0.below(4);
                    Value::set(items[..n].to_vec())
                }
                Sort::Map(_) => {
                    let pairs = [(number(), number()), (number(), number())];
                    let n = self.0.below(3);
                    Value::map(pairs[..n].to_vec())
                }
                Sort::Decimal(scale) => {
                    Value::Decimal(Int::from(self.0.below(61) as i64 - 30), *scale)
                }
                sort => {
                    let all = sort.values(1_000).unwrap();
                    all[self.0.below(all.len())].clone()
                }
            };
            assert!(v.sort.contains(&value));
            env.insert(v.id, value);
        }
        env
    }
}

#[test]
fn simplified_terms_have_the_same_value_and_are_defined_where_nothing_faults() {
    let mut faults = 0;
    for seed in 0..cases(1_500) {
        let mut t = Terms::new(seed);
        let term = t.boolean(4);
        let (simple, defined) = (term.simplify(), term.defined());
        for _ in 0..12 {
            let env = t.valuation();
            let value = term.eval_bool(&env);
            assert_eq!(
                defined.eval_bool(&env),
                Ok(value.is_ok()),
                "seed {seed}: {term} under {env:?} is {value:?}, defined: {defined}"
            );
            match value {
                Ok(value) => assert_eq!(
                    simple.eval_bool(&env),
                    Ok(value),
                    "seed {seed}: {term} vs {simple} under {env:?}"
                ),
                Err(e) => {
                    assert!(
                        !matches!(e.fault, Fault::WrongSort | Fault::Unbound(_)),
                        "{e}"
                    );
                    faults += 1;
                }
            }
        }
    }
    assert!(faults > 100, "the generator reaches faults");
}

fn agrees(solver: &mut Solver, count: u64) {
    let (mut sat, mut unsat, mut unknown) = (0, 0, 0);
    solver.set_limits(Limits::new(Duration::from_millis(300), 1_024));
    for seed in 0..count {
        let mut t = Terms::new(seed);
        let term = t.boolean(4);
        solver.push();
        solver.assert(&term);
        let answer = solver.check();
        solver.pop();
        match answer {
            // The port has evaluated the term under the model; here it is once more.
            Answer::Sat(model) => {
                sat += 1;
                let mut env = t.valuation();
                for v in term.free_vars() {
                    env.insert(v.id, Env::get(&model, v.id).unwrap().clone());
                }
                assert_eq!(term.eval_bool(&env), Ok(true), "seed {seed}: {term}");
            }
            Answer::Unsat => {
                unsat += 1;
                for _ in 0..300 {
                    let env = t.valuation();
                    assert_ne!(
                        term.eval_bool(&env),
                        Ok(true),
                        "seed {seed}: {term}, {env:?}"
                    );
                }
            }
            Answer::Unknown(_) => unknown += 1,
        }
    }
    println!("{sat} sat, {unsat} unsat, {unknown} unknown");
    assert!(sat * 4 > count, "{sat} sat");
    assert!(unsat * 60 > count, "{unsat} unsat");
    assert!(unknown * 3 < sat + unsat, "{unknown} unknown");
}

#[test]
fn the_solver_agrees_with_evaluation() {
    agrees(&mut Solver::embedded(), cases(200));
}

#[test]
fn a_process_solver_agrees_with_evaluation() {
    let bundled = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools/z3/bin/z3");
    let bundled = std::path::PathBuf::from(bundled);
    let found = Smtlib::find(None).or_else(|| Some(bundled).filter(|p| p.is_file()));
    let Some(path) = found else {
        println!("skipped: no SMT-LIB solver (scripts/install-solver puts one into .tools)");
        return;
    };
    let solver = Smtlib::new(&path).expect("the solver runs");
    agrees(&mut Solver::new(Box::new(solver)), cases(40));
}

/// Operations of sets by those of another library, element by element.
#[test]
fn operations_of_sets_and_maps_are_what_they_are_called() {
    for seed in 0..cases(200) {
        let mut t = Terms::new(seed);
        let env = t.valuation();
        let set = |i: usize| match env[&t.0.vars[i].id].clone() {
            Value::Set(items) => items.iter().cloned().collect::<BTreeSet<Value>>(),
            other => panic!("{other} is no set"),
        };
        let (a, b) = (set(0), set(1));
        for (op, expected) in [
            (Op::Union, &a | &b),
            (Op::Intersection, &a & &b),
            (Op::Difference, &a - &b),
        ] {
            let term = app(op, vec![t.var(0), t.var(1)]);
            let expected = Value::set(expected.into_iter().rev().collect());
            assert_eq!(term.eval(&env), Ok(expected), "{term} under {env:?}");
        }
        let x = env[&t.0.vars[5].id].clone();
        let insert = app(Op::Insert, vec![t.var(0), t.var(5)]);
        let mut more = a.clone();
        more.insert(x.clone());
        assert_eq!(
            insert.eval(&env),
            Ok(Value::set(more.into_iter().collect()))
        );
        let Value::Map(pairs) = env[&t.0.vars[2].id].clone() else {
            panic!("a map");
        };
        let mut map: BTreeMap<Value, Value> = pairs.iter().cloned().collect();
        let lookup = app(Op::Lookup, vec![t.var(2), t.var(5)]).eval(&env);
        match map.get(&x) {
            Some(value) => assert_eq!(lookup.as_ref(), Ok(value)),
            None => assert_eq!(lookup.unwrap_err().fault, Fault::NoKey(x.clone())),
        }
        map.insert(x.clone(), x);
        let put = app(Op::Put, vec![t.var(2), t.var(5), t.var(5)]);
        assert_eq!(put.eval(&env), Ok(Value::map(map.into_iter().collect())));
    }
}

/// Arithmetic by fractions: the number that is nearest, of two the one farther from zero.
#[test]
fn decimals_are_rounded_to_the_nearest() {
    let ten = |n: u8| 10i128.pow(u32::from(n));
    // Of all numbers of units around num/den, the nearest.
    let nearest = |num: i128, den: i128| {
        let guess = num / den;
        let distance = |n: i128| (n * den - num).abs();
        let around = guess - 2..=guess + 2;
        around
            .min_by_key(|n| (distance(*n), -n.abs()))
            .expect("five numbers")
    };
    let mut halves = 0;
    for seed in 0..cases(3_000) {
        let mut random = Gen::new(seed, &[]);
        let mut number = || {
            let scale = 1 + random.below(3) as u8;
            (random.below(401) as i128 - 200, scale)
        };
        let ((a, p), (b, q)) = (number(), number());
        let literal = |n: i128, scale: u8| {
            Term::from(Value::Decimal(Int::from(i64::try_from(n).unwrap()), scale))
        };
        let places = p.max(q);
        let (wide_a, wide_b) = (a * ten(places - p), b * ten(places - q));
        let value = |op: Op| Term::decimal_op(op, literal(a, p), literal(b, q), HERE).unwrap();
        let units = |op: Op| match value(op).eval(&BTreeMap::new()) {
            Ok(Value::Decimal(n, scale)) => {
                assert_eq!(scale, places);
                Some(i128::from(n.to_i64().unwrap()))
            }
            Err(e) => {
                assert_eq!(e.fault, Fault::DivisionByZero);
                None
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(units(Op::Add), Some(wide_a + wide_b));
        assert_eq!(units(Op::Sub), Some(wide_a - wide_b));
        let den = ten(p + q - places);
        halves += u32::from((2 * a * b) % den == 0 && (a * b) % den != 0);
        assert_eq!(
            units(Op::Mul),
            Some(nearest(a * b, den)),
            "{a} {p} * {b} {q}"
        );
        // a / 10^p over b / 10^q in units of 10^-places.
        let (num, den) = (a * ten(places + q), b * ten(p));
        let (num, den) = if den < 0 { (-num, -den) } else { (num, den) };
        let quotient = (den != 0).then(|| nearest(num, den));
        assert_eq!(units(Op::Div), quotient, "{a} {p} / {b} {q}");
        for (op, expected) in [
            (Op::Eq, wide_a == wide_b),
            (Op::Lt, wide_a < wide_b),
            (Op::Ge, wide_a >= wide_b),
        ] {
            assert_eq!(value(op).eval(&BTreeMap::new()), Ok(Value::Bool(expected)));
        }
        let rounded = literal(a, p).with_places(0, HERE).unwrap();
        let rounded = rounded.eval(&BTreeMap::new()).unwrap();
        let expected = nearest(a, ten(p));
        assert_eq!(rounded, Value::from(i64::try_from(expected).unwrap()));
        let floor = literal(a, p).floor(HERE).unwrap().eval(&BTreeMap::new());
        assert_eq!(
            floor,
            Ok(Value::from(i64::try_from(a.div_euclid(ten(p))).unwrap()))
        );
    }
    assert!(halves > 20, "{halves} halves");
}

/// What people write, and what has no answer within the bounds.
#[test]
fn guards_that_people_write_are_solved() {
    let s = Var::new(VarId::new(0, 0), "s", set_sort());
    let m = Var::new(VarId::new(0, 1), "m", map_sort());
    let n = Var::new(VarId::new(0, 2), "n", Sort::Int);
    let d = Var::new(VarId::new(0, 3), "d", Sort::Decimal(2));
    let mut solver = Solver::embedded();
    let len = |v: &Var| app(Op::Len, vec![v.term()]);
    let has = |k: Term, of: &Var| app(Op::Has, vec![k, of.term()]);
    let known: Vec<Term> = (0..500i64).map(|i| (2 * i).into()).collect();
    let known = Term::set(&set_sort(), known, HERE).unwrap();
    let even = app(Op::Has, vec![n.term(), known]);
    let twelve = Term::from(Value::decimal("12.50", 2).unwrap());
    let tax = Term::from(Value::decimal("0.19", 2).unwrap());
    let times = Term::decimal_op(Op::Mul, d.term(), tax, HERE).unwrap();
    for (guard, sat) in [
        (
            len(&s).equals(3).unwrap().and(has(7.into(), &s)).unwrap(),
            true,
        ),
        (
            has(n.term(), &m)
                .and(app(Op::Lookup, vec![m.term(), n.term()]).gt(100).unwrap())
                .unwrap(),
            true,
        ),
        (even.clone().and(n.term().gt(900).unwrap()).unwrap(), true),
        (even.and(n.term().equals(901).unwrap()).unwrap(), false),
        (
            has(n.term(), &s).and(has(n.term(), &s).negated()).unwrap(),
            false,
        ),
        (
            app(
                Op::Eq,
                vec![app(Op::Insert, vec![s.term(), 1.into()]), s.term()],
            )
            .and(has(1.into(), &s).negated())
            .unwrap(),
            false,
        ),
        (
            Term::decimal_op(Op::Eq, times.clone(), twelve.clone(), HERE).unwrap(),
            true,
        ),
        (
            Term::decimal_op(Op::Ge, times, twelve, HERE)
                .unwrap()
                .and(Term::decimal_op(Op::Lt, d.term(), 66.into(), HERE).unwrap())
                .unwrap(),
            true,
        ),
    ] {
        let answer = solver.check_with(&guard);
        match answer {
            Answer::Sat(_) => assert!(sat, "{guard}"),
            Answer::Unsat => assert!(!sat, "{guard}"),
            // A set that is not known may have more elements than are looked at.
            Answer::Unknown(why) => assert!(!sat, "{guard}: {why}"),
        }
    }
}

/// Unknown sets inside arrays and variants are not taken apart. A guess may find a model, and what it finds is
/// one; else the answer is unknown, and says why. It is never "impossible".
#[test]
fn sets_inside_unknown_arrays_and_variants_are_unknown_with_the_reason() {
    let arrays = Var::new(VarId::new(0, 0), "a", Sort::array(set_sort()).unwrap());
    let first = app(Op::Select, vec![arrays.term(), 0.into()]);
    let some = Variant {
        name: "Some".into(),
        fields: vec![("items".into(), set_sort())],
    };
    let declaration = SumDeclaration {
        name: "Maybe".into(),
        variants: vec![
            Variant {
                name: "None".into(),
                fields: vec![],
            },
            some,
        ],
    };
    let Some(Sort::Sum(maybe)) = Sort::sums(vec![declaration]).unwrap().pop() else {
        panic!("a sum")
    };
    let variant = Var::new(VarId::new(0, 1), "v", Sort::Sum(maybe));
    let items = app(Op::Get(1, 0), vec![variant.term()]);
    for (name, inner, defined) in [
        (
            "[]",
            first,
            app(Op::Len, vec![arrays.term()]).gt(0).unwrap(),
        ),
        ("Maybe", items, app(Op::Is(1), vec![variant.term()])),
    ] {
        let query = Term::all([defined, app(Op::Has, vec![77_777.into(), inner])]);
        let mut solver = Solver::embedded();
        match solver.check_with(&query) {
            Answer::Sat(model) => assert_eq!(query.eval_bool(&model), Ok(true)),
            Answer::Unsat => panic!("{query} has a model"),
            Answer::Unknown(why) => {
                assert!(why.contains("sets and maps inside an unknown"), "{why}");
                assert!(why.contains(name), "{why}");
            }
        }
    }
}
