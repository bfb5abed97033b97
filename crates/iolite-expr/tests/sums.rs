//! Sums, functions that call themselves, quantifiers over arrays and parts of strings: simplification,
//! definedness and solvers against evaluation, value by value.
#![allow(missing_docs, clippy::cast_possible_wrap)]

mod support;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use iolite_expr::{
    Answer, Callee, Fault, Limits, Op, ResultSort, Signature, Solver, Sort, Span, SumDeclaration,
    SumSort, Term, Value, Var, VarId, Variant,
};
use support::{Gen, cases};

const HERE: Span = Span::NONE;

fn variant(name: &str, fields: &[(&str, Sort)]) -> Variant {
    Variant {
        name: name.into(),
        fields: fields
            .iter()
            .map(|(n, s)| ((*n).into(), s.clone()))
            .collect(),
    }
}

fn sum_sort(name: &str, variants: Vec<Variant>) -> SumSort {
    let declaration = SumDeclaration {
        name: name.into(),
        variants,
    };
    match Sort::sums(vec![declaration]).unwrap().remove(0) {
        Sort::Sum(s) => s,
        other => panic!("{other} is no sum"),
    }
}

/// `Point | Circle(r: 0..2) | Rect(w: 0..2, full: bool)`.
fn shape() -> SumSort {
    let small = Sort::range(0, 2).unwrap();
    sum_sort(
        "Shape",
        vec![
            variant("Point", &[]),
            variant("Circle", &[("r", small.clone())]),
            variant("Rect", &[("w", small), ("full", Sort::Bool)]),
        ],
    )
}

/// `Nil | Cons(head: int, tail: List)`.
fn list() -> SumSort {
    sum_sort(
        "List",
        vec![
            variant("Nil", &[]),
            variant("Cons", &[("head", Sort::Int), ("tail", Sort::Member(0))]),
        ],
    )
}

fn list_value(items: &[i64]) -> Value {
    let sort = list();
    let nil = Value::sum(&sort, 0, Vec::new()).unwrap();
    items.iter().rev().fold(nil, |tail, n| {
        Value::sum(&sort, 1, vec![Value::from(*n), tail]).unwrap()
    })
}

fn app(op: Op, args: Vec<Term>) -> Term {
    Term::apply(op, args, HERE).unwrap()
}

/// A function of a list and perhaps a number, from what it is of the empty list and of others.
fn recursive(
    name: &str,
    params: &[(&str, Sort)],
    result: Sort,
    body: impl Fn(&Callee, &[Term]) -> Term,
) -> Callee {
    let params: Vec<Var> = params
        .iter()
        .enumerate()
        .map(|(i, (n, s))| Var::new(VarId::new(100, i), n, s.clone()))
        .collect();
    let terms: Vec<Term> = params.iter().map(Var::term).collect();
    let signature = Signature {
        name: name.into(),
        params,
        result: ResultSort(result),
    };
    let member = Callee::member(signature, 0);
    let body = body(&member, &terms);
    Callee::group(vec![(member, body)]).unwrap().remove(0)
}

fn call(callee: &Callee, args: Vec<Term>) -> Term {
    Term::call(callee, args, HERE).unwrap()
}

struct Functions {
    length: Callee,
    sum: Callee,
    has: Callee,
    /// The element at a place; faults beyond the end.
    item: Callee,
    gcd: Callee,
}

impl Functions {
    fn new() -> Self {
        let list = Sort::Sum(list());
        let nil = |l: &Term| app(Op::Is(0), vec![l.clone()]);
        let head = |l: &Term| app(Op::Get(1, 0), vec![l.clone()]);
        let tail = |l: &Term| app(Op::Get(1, 1), vec![l.clone()]);
        let ite = |c, a, b| app(Op::Ite, vec![c, a, b]);
        let l = ("l", list);
        let n = ("n", Sort::Int);
        Self {
            length: recursive("length", std::slice::from_ref(&l), Sort::Int, |me, p| {
                let rest = call(me, vec![tail(&p[0])]).plus(1).unwrap();
                ite(nil(&p[0]), 0.into(), rest)
            }),
            sum: recursive("sum", std::slice::from_ref(&l), Sort::Int, |me, p| {
                let rest = call(me, vec![tail(&p[0])]).plus(head(&p[0])).unwrap();
                ite(nil(&p[0]), 0.into(), rest)
            }),
            has: recursive("has", &[l.clone(), n.clone()], Sort::Bool, |me, p| {
                let here = head(&p[0]).equals(&p[1]).unwrap();
                let rest = call(me, vec![tail(&p[0]), p[1].clone()]);
                ite(nil(&p[0]), false.into(), here.or(rest).unwrap())
            }),
            item: recursive("item", &[l, n], Sort::Int, |me, p| {
                let rest = call(me, vec![tail(&p[0]), p[1].minus(1).unwrap()]);
                ite(p[1].equals(0).unwrap(), head(&p[0]), rest)
            }),
            gcd: recursive(
                "gcd",
                &[("a", Sort::Int), ("b", Sort::Int)],
                Sort::Int,
                |me, p| {
                    let rest = call(me, vec![p[1].clone(), p[0].modulo(&p[1]).unwrap()]);
                    ite(p[1].equals(0).unwrap(), p[0].clone(), rest)
                },
            ),
        }
    }
}

/// Random terms over two shapes, two lists, two numbers, an array and a string.
struct Terms {
    random: Gen,
    functions: Functions,
}

impl Terms {
    fn new(seed: u64) -> Self {
        let (shape, list) = (Sort::Sum(shape()), Sort::Sum(list()));
        let small = Sort::range(-1, 2).unwrap();
        let array = Sort::array(Sort::Int).unwrap();
        let sorts = [
            shape.clone(),
            shape,
            list.clone(),
            list,
            small.clone(),
            small,
            array,
            Sort::String,
        ];
        Self {
            random: Gen::new(seed, &sorts),
            functions: Functions::new(),
        }
    }

    fn var(&self, i: usize) -> Term {
        self.random.vars[i].term()
    }

    fn shape(&mut self, depth: u32) -> Term {
        match self.random.below(if depth == 0 { 2 } else { 5 }) {
            0 => self.var(0),
            1 => self.var(1),
            2 => Term::construct(&shape(), 0, Vec::new(), HERE).unwrap(),
            3 => {
                let r = app(Op::Mod, vec![self.int(depth - 1), 3.into()]);
                Term::construct(&shape(), 1, vec![r], HERE).unwrap()
            }
            _ => {
                let parts = vec![
                    self.boolean(depth - 1),
                    self.shape(depth - 1),
                    self.shape(depth - 1),
                ];
                app(Op::Ite, parts)
            }
        }
    }

    fn list(&mut self, depth: u32) -> Term {
        match self.random.below(if depth == 0 { 3 } else { 6 }) {
            0 => self.var(2),
            1 => self.var(3),
            2 => list_value(&[1, 0][..self.random.below(3)]).into(),
            3 | 4 => {
                let parts = vec![self.int(depth - 1), self.list(depth - 1)];
                Term::construct(&list(), 1, parts, HERE).unwrap()
            }
            _ => app(Op::Get(1, 1), vec![self.list(depth - 1)]),
        }
    }

    fn int(&mut self, depth: u32) -> Term {
        if depth == 0 {
            return match self.random.below(3) {
                0 => self.random.constant(),
                n => self.var(3 + n),
            };
        }
        let d = depth - 1;
        match self.random.below(10) {
            0 => app(Op::Add, vec![self.int(d), self.int(d)]),
            1 => app(Op::Get(1, 0), vec![self.shape(d)]),
            2 => app(Op::Get(1, 0), vec![self.list(d)]),
            3 => {
                let l = self.list(d);
                call(&self.functions.length, vec![l])
            }
            4 => {
                let l = self.list(d);
                call(&self.functions.sum, vec![l])
            }
            5 => {
                let args = vec![self.list(d), self.int(d)];
                call(&self.functions.item, args)
            }
            6 => {
                let args = vec![self.int(0), self.int(0)];
                call(&self.functions.gcd, args)
            }
            7 => app(Op::IndexOf, vec![self.text(d), self.text(0)]),
            8 => app(Op::Len, vec![self.var(6)]),
            _ => self.int(0),
        }
    }

    fn text(&mut self, depth: u32) -> Term {
        match self.random.below(if depth == 0 { 2 } else { 4 }) {
            0 => self.var(7),
            1 => ["", "a", "b", "ab"][self.random.below(4)].into(),
            2 => app(Op::At, vec![self.text(depth - 1), self.int(0)]),
            _ => {
                let args = vec![self.text(depth - 1), self.int(0), self.int(0)];
                app(Op::Substring, args)
            }
        }
    }

    fn boolean(&mut self, depth: u32) -> Term {
        if depth == 0 {
            let (v, variant) = (self.random.below(2), self.random.below(3) as u32);
            return app(Op::Is(variant), vec![self.var(v)]);
        }
        let d = depth - 1;
        match self.random.below(11) {
            0 => app(Op::Not, vec![self.boolean(d)]),
            1 => app(Op::And, vec![self.boolean(d), self.boolean(d)]),
            2 => app(Op::Or, vec![self.boolean(d), self.boolean(d)]),
            3 => app(Op::Eq, vec![self.shape(d), self.shape(d)]),
            4 => app(Op::Ne, vec![self.list(d), self.list(d)]),
            5 => app(Op::Eq, vec![self.list(d), self.list(d)]),
            6 => {
                let variant = self.random.below(2) as u32;
                app(Op::Is(variant), vec![self.list(d)])
            }
            7 => {
                let args = vec![self.list(d), self.int(d)];
                call(&self.functions.has, args)
            }
            8 => {
                let x = Var::new(
                    VarId::new(VarId::BOUND_SPACE, depth as usize),
                    "x",
                    Sort::Int,
                );
                let body = app(Op::Lt, vec![x.term(), self.int(d)]);
                let op = [Op::ForAll(x.clone()), Op::ForSome(x)][self.random.below(2)].clone();
                app(op, vec![self.var(6), body])
            }
            9 => app(Op::Eq, vec![self.text(d), self.text(d)]),
            _ => {
                let op = [Op::Lt, Op::Eq, Op::Ge][self.random.below(3)].clone();
                app(op, vec![self.int(d), self.int(d)])
            }
        }
    }

    /// Values of all variables: some of infinitely many.
    fn valuation(&mut self) -> BTreeMap<VarId, Value> {
        let vars = self.random.vars.clone();
        let mut env = BTreeMap::new();
        for v in vars {
            let value = match &v.sort {
                Sort::Sum(s) if s.name() == "List" => {
                    let n = self.random.below(4);
                    let items: Vec<i64> = (0..n).map(|_| self.random.below(4) as i64 - 1).collect();
                    list_value(&items)
                }
                Sort::Array(_) => {
                    let n = self.random.below(3);
                    Value::array(
                        (0..n)
                            .map(|_| Value::from(self.random.below(3) as i64))
                            .collect(),
                    )
                }
                Sort::String => Value::str(["", "a", "ba", "aba", "cab"][self.random.below(5)]),
                sort => {
                    let all = sort.values(1_000).unwrap();
                    all[self.random.below(all.len())].clone()
                }
            };
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

#[test]
fn the_solver_agrees_with_evaluation() {
    let (mut sat, mut unsat, mut unknown) = (0, 0, 0);
    let mut solver = Solver::embedded();
    solver.set_limits(Limits::new(Duration::from_millis(500), 1_024));
    for seed in 0..cases(300) {
        let mut t = Terms::new(seed);
        let term = t.boolean(4);
        solver.push();
        solver.assert(&term);
        let answer = solver.check();
        solver.pop();
        match answer {
            // The port has evaluated the term under the model.
            Answer::Sat(_) => sat += 1,
            Answer::Unsat => {
                unsat += 1;
                for _ in 0..200 {
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
    assert!(sat > 100 && unsat > 5, "{sat} sat, {unsat} unsat");
    assert!(unknown * 10 < sat + unsat, "{unknown} unknown");
}

#[test]
fn what_contains_itself_is_impossible_and_what_has_no_end_is_unknown() {
    let l = Var::new(VarId::new(0, 0), "l", Sort::Sum(list()));
    let itself = Term::construct(&list(), 1, vec![1.into(), l.term()], HERE).unwrap();
    let mut solver = Solver::embedded();
    assert_eq!(
        solver.check_with(&l.term().equals(itself).unwrap()),
        Answer::Unsat
    );

    let forever = recursive("forever", &[("n", Sort::Int)], Sort::Int, |me, p| {
        call(me, vec![p[0].plus(1).unwrap()])
    });
    let n = Var::new(VarId::new(0, 1), "n", Sort::Int);
    let claim = call(&forever, vec![n.term()]).equals(3).unwrap();
    assert!(matches!(solver.check_with(&claim), Answer::Unknown(_)));
    assert!(matches!(
        solver.check_with(&claim.negated()),
        Answer::Unknown(_)
    ));
    let value = call(&forever, vec![0.into()]).eval(&BTreeMap::new());
    assert_eq!(value.unwrap_err().fault, Fault::OutOfFuel("forever".into()));
}

/// A model that has a call without an end meets it at every step: it costs all of its fuel once, and the
/// answer is the same each time, whatever is remembered.
#[test]
fn calls_without_an_end_are_remembered_and_always_answered_alike() {
    let forever = recursive("forever", &[("n", Sort::Int)], Sort::Int, |me, p| {
        call(me, vec![p[0].plus(1).unwrap()])
    });
    let none = BTreeMap::new();
    let of = |n: i64| call(&forever, vec![n.into()]).eval(&none).unwrap_err();
    let start = Instant::now();
    let first = of(0);
    let once = start.elapsed();
    assert_eq!(first.fault, Fault::OutOfFuel("forever".into()));
    let start = Instant::now();
    for _ in 0..1_000 {
        assert_eq!(of(0), first);
    }
    // A thousand times as long where nothing is remembered.
    let again = start.elapsed();
    assert!(again < 50 * once, "{again:?} beside {once:?}");
    // More of them than are remembered, and the first one again.
    for n in 1..40 {
        assert_eq!(of(n).fault, first.fault);
    }
    assert_eq!(of(0), first);

    let n = Var::new(VarId::new(0, 1), "n", Sort::Int);
    let claim = call(&forever, vec![n.term()]).equals(3).unwrap();
    let ask = || Solver::embedded().check_with(&claim);
    let Answer::Unknown(why) = ask() else {
        panic!("an answer for what has no end")
    };
    assert_eq!(ask(), Answer::Unknown(why));
}

#[test]
fn deep_recursion_needs_no_deep_stack() {
    let functions = Functions::new();
    let items: Vec<i64> = (0..900).collect();
    let l: Term = list_value(&items).into();
    let none = BTreeMap::new();
    let sum = call(&functions.sum, vec![l.clone()]);
    assert_eq!(sum.eval(&none), Ok(Value::from(404_550)));
    assert_eq!(sum.simplify(), Term::from(404_550));
    let item = call(&functions.item, vec![l.clone(), 899.into()]);
    assert_eq!(item.eval(&none), Ok(Value::from(899)));
    // With a number that is not known the function is unfolded along the list.
    let n = Var::new(VarId::new(0, 0), "n", Sort::Int);
    let l = Term::from(list_value(&items[..150]));
    let has = call(&functions.has, vec![l, n.term()]);
    let mut solver = Solver::embedded();
    solver.assert(&has.and(n.term().gt(147).unwrap()).unwrap());
    let Answer::Sat(model) = solver.check() else {
        panic!("some number above 147 is in the list");
    };
    assert!(
        [148, 149]
            .map(Value::from)
            .contains(model.value(n.id).unwrap())
    );
    let deeper: Vec<i64> = (0..5_000).collect();
    let built = deeper.iter().fold(Term::from(list_value(&[])), |l, n| {
        let cons = Term::construct(&list(), 1, vec![(*n).into(), l], HERE).unwrap();
        cons.eval(&none)
            .map_or_else(|_| list_value(&[]).into(), Term::from)
    });
    assert!(
        built.eval(&none).is_ok(),
        "too deep a value is a fault, not a crash"
    );
}

#[test]
fn guards_that_people_write_about_lists_are_solved() {
    let f = Functions::new();
    let l = Var::new(VarId::new(0, 0), "l", Sort::Sum(list()));
    let n = Var::new(VarId::new(0, 1), "n", Sort::Int);
    let length = call(&f.length, vec![l.term()]);
    let has = call(&f.has, vec![l.term(), n.term()]);
    let three = length.equals(3).unwrap();
    let sum = call(&f.sum, vec![l.term()]).equals(100).unwrap();
    let mut solver = Solver::embedded();
    for guard in [
        three.clone(),
        three.and(&sum).unwrap(),
        three
            .and(&has)
            .unwrap()
            .and(n.term().gt(50).unwrap())
            .unwrap(),
        call(&f.gcd, vec![n.term(), 12.into()])
            .equals(4)
            .unwrap()
            .and(n.term().gt(12).unwrap())
            .unwrap(),
    ] {
        assert!(
            matches!(solver.check_with(&guard), Answer::Sat(_)),
            "{guard}"
        );
    }
    let never = length.lt(0).unwrap();
    // Lists of every length would have to be looked at.
    assert!(!matches!(solver.check_with(&never), Answer::Sat(_)));
}
