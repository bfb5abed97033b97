//! Calls, quantifiers over arrays, sets and maps, unfolded for solvers that know neither.
//!
//! What is left of a call after some unfoldings, and the elements of an array beyond some, are cut off:
//! a variable that nothing is known of stands for them. So what has no model when cut has none at all,
//! and a model in which nothing that was cut is needed is one of the original.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::eval::Fault;
use crate::term::{Kind, Op};
use crate::unfold_collection::Shape;
use crate::{Model, Sort, Term, Value, Var, VarId};

/// Calls within calls, and elements of arrays, that are unfolded; the next where one is not enough. First
/// nothing is: much has no model whatever functions say, as long as they say the same of the same.
pub(crate) const ROUNDS: [u32; 3] = [0, 4, 12];
/// Nodes of all unfolded terms together.
pub(crate) const MAX_NODES: u64 = 200_000;
/// Pairs of calls of which it is said that equal arguments have equal results.
const PAIRS: usize = 64;
/// The variables that stand for what was cut off.
const CUT_SPACE: u8 = 252;

/// Assertions without calls, quantifiers over arrays, sets and maps.
pub(crate) struct Unfolded {
    /// In the order of the originals; with variables of their own for what was cut off.
    pub(crate) terms: Vec<Term>,
    /// Each holds where something that was cut off is needed.
    pub(crate) cuts: Vec<Term>,
    /// What is known of the variables that unknown sets and maps were taken apart into.
    pub(crate) facts: Vec<Term>,
    /// The variables that are gone, and what they were taken apart into.
    pub(crate) shapes: Vec<(Var, Shape)>,
    /// How many nodes were made.
    pub(crate) nodes: u64,
}

/// The assertions, unfolded so many times; the reason where that is too much, or where something unknown
/// cannot be taken apart.
pub(crate) fn unfold(assertions: &[Term], fuel: u32) -> Result<Unfolded, String> {
    let mut unfolding = Unfolding {
        cuts: Vec::new(),
        nodes: 0,
        fresh: 0,
        memo: FxHashMap::default(),
        beyond: Vec::new(),
        facts: Vec::new(),
        shapes: BTreeMap::new(),
        answers: FxHashMap::default(),
        cut_calls: Vec::new(),
        whole: None,
    };
    let terms = assertions
        .iter()
        .map(|t| unfolding.term(t, &true.into(), fuel).map(|t| t.simplify()))
        .collect::<Option<Vec<_>>>();
    let Some(terms) = terms else {
        return Err(match unfolding.whole {
            Some(sort) => format!(
                "sets and maps inside an unknown {sort} are not taken apart: they may stand alone, in records and in maps"
            ),
            None => "a function or a quantifier was unfolded without end".into(),
        });
    };
    unfolding.say_the_same();
    let mut cuts = unfolding.cuts;
    cuts.extend(unfolding.beyond);
    Ok(Unfolded {
        terms,
        cuts,
        facts: unfolding.facts,
        shapes: unfolding.shapes.into_values().collect(),
        nodes: unfolding.nodes,
    })
}

/// Valuations that are tried before anything is unfolded.
const GUESSES: u64 = 400;

/// Small values that happen to satisfy everything: what is hard to unfold often has an easy model.
/// The same ones in every run.
pub(crate) fn guess(assertions: &[Term], vars: &[Var]) -> Option<Model> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for round in 0..GUESSES {
        let values = vars.iter().map(|v| {
            let value = match &v.sort {
                Sort::Int | Sort::Range(_) => Value::from(random(round + 1).cast_signed() - 2),
                Sort::Bool => Value::Bool(random(2) == 1),
                Sort::Enum(e) => Value::Enum(e.clone(), random(e.variants.len() as u64) as u32),
                _ => v.sort.default_value(),
            };
            let fits = v.sort.contains(&value);
            let value = if fits { value } else { v.sort.default_value() };
            (v.id, value)
        });
        let model = Model::new(values.collect());
        let mut holds = true;
        for a in assertions {
            match a.eval_bool(&model) {
                Ok(true) => {}
                // Others would cost as much.
                Err(e) if matches!(e.fault, Fault::OutOfFuel(_)) => return None,
                _ => {
                    holds = false;
                    break;
                }
            }
        }
        if holds {
            return Some(model);
        }
    }
    None
}

pub(crate) struct Unfolding {
    cuts: Vec<Term>,
    /// Each holds where an unknown set or map has more entries than are looked at.
    pub(crate) beyond: Vec<Term>,
    nodes: u64,
    fresh: usize,
    pub(crate) facts: Vec<Term>,
    pub(crate) shapes: BTreeMap<VarId, (Var, Shape)>,
    /// What stands for the answer to a question about more entries than are known.
    pub(crate) answers: FxHashMap<Term, Term>,
    /// What a call comes to, by callee, arguments and fuel: the variables for what was cut are those
    /// of the function, and do not differ between equal calls.
    memo: FxHashMap<(Term, u32), (Term, Vec<Term>)>,
    /// The calls that were cut off, and the variables that stand for them.
    cut_calls: Vec<(Term, Term)>,
    /// The sort of something unknown with sets or maps inside that cannot be taken apart.
    pub(crate) whole: Option<Sort>,
}

impl Unfolding {
    /// The term, which is evaluated where `path` holds.
    fn term(&mut self, term: &Term, path: &Term, fuel: u32) -> Option<Term> {
        if !term.unfolds() {
            return Some(term.clone());
        }
        let Kind::App(op, args) = term.kind() else {
            return Some(term.clone());
        };
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return None;
        }
        match op {
            // Each operand is evaluated only where those before it let it be.
            Op::And | Op::Or => {
                let mut before = path.clone();
                let mut parts = Vec::with_capacity(args.len());
                for a in args {
                    let part = self.term(a, &before, fuel)?;
                    let goes_on = if *op == Op::And {
                        part.clone()
                    } else {
                        part.negated()
                    };
                    before = Term::all([before, goes_on]);
                    parts.push(part);
                }
                Some(term.with_args(parts))
            }
            Op::Implies => {
                let a = self.term(&args[0], path, fuel)?;
                let b = self.term(&args[1], &Term::all([path.clone(), a.clone()]), fuel)?;
                Some(term.with_args(vec![a, b]))
            }
            Op::Ite => {
                let c = self.term(&args[0], path, fuel)?.simplify();
                if let Some(known) = c.as_value().and_then(crate::Value::as_bool) {
                    return self.term(&args[if known { 1 } else { 2 }], path, fuel);
                }
                let a = self.term(&args[1], &Term::all([path.clone(), c.clone()]), fuel)?;
                let b = self.term(&args[2], &Term::all([path.clone(), c.negated()]), fuel)?;
                Some(term.with_args(vec![c, a, b]))
            }
            Op::Call(_) => self.call(term, path, fuel),
            Op::ForAll(x) | Op::ForSome(x) => self.quantifier(op, x, args, path, fuel),
            Op::Has | Op::Len | Op::Lookup | Op::Eq | Op::Ne | Op::Field(_)
                if args.iter().any(|a| a.sort().has_collection())
                    && !term.sort().has_collection() =>
            {
                let args = args
                    .iter()
                    .map(|a| self.term(a, path, fuel))
                    .collect::<Option<Vec<_>>>()?;
                let asked = term.with_args(args);
                self.nodes += u64::from(asked.size());
                let result = self.observed(&asked, fuel)?;
                self.nodes += u64::from(result.size());
                Some(result)
            }
            // A question about sets and maps within arrays and variants.
            _ if !matches!(op, Op::Call(_))
                && !term.sort().has_collection()
                && args.iter().any(|a| a.sort().has_collection()) =>
            {
                let inner = args.iter().find(|a| a.sort().has_collection());
                self.whole = inner.map(|a| a.sort().clone());
                None
            }
            // What is cut off would depend on the variables that are bound.
            Op::Exists(_) => None,
            _ => {
                let args = args
                    .iter()
                    .map(|a| self.term(a, path, fuel))
                    .collect::<Option<Vec<_>>>()?;
                Some(term.with_args(args))
            }
        }
    }

    fn cut(&mut self, term: &Term, path: &Term) -> Term {
        self.cuts.push(path.clone());
        self.new_var("cut", term.sort().clone()).term()
    }

    pub(crate) fn new_var(&mut self, name: &str, sort: Sort) -> Var {
        let id = VarId::new(CUT_SPACE, self.fresh);
        self.fresh += 1;
        Var::new(id, name, sort)
    }

    fn call(&mut self, term: &Term, path: &Term, fuel: u32) -> Option<Term> {
        let Kind::App(op @ Op::Call(callee), args) = term.kind() else {
            return None;
        };
        let args = args
            .iter()
            .map(|a| self.term(a, path, fuel).map(|a| a.simplify()))
            .collect::<Option<Vec<_>>>()?;
        let call = Term::app(op.clone(), args.clone(), term.sort().clone(), term.span());
        let simple = call.simplify();
        if !simple.unfolds() {
            return Some(simple);
        }
        if fuel == 0 {
            let known = self.cut_calls.iter().find(|(c, _)| *c == call);
            if let Some((_, known)) = known {
                let known = known.clone();
                self.cuts.push(path.clone());
                return Some(known);
            }
            let result = self.cut(term, path);
            self.cut_calls.push((call, result.clone()));
            return Some(result);
        }
        let key = (call, fuel);
        if let Some((result, cuts)) = self.memo.get(&key) {
            let cuts = cuts.iter().map(|c| Term::all([path.clone(), c.clone()]));
            self.cuts.extend(cuts);
            return Some(result.clone());
        }
        let body = callee.unfolded(&args)?.ok()?.simplify();
        let outer = std::mem::take(&mut self.cuts);
        let result = self.term(&body, &true.into(), fuel - 1)?.simplify();
        let inner = std::mem::replace(&mut self.cuts, outer);
        let cuts = inner.iter().map(|c| Term::all([path.clone(), c.clone()]));
        self.cuts.extend(cuts);
        self.nodes += u64::from(result.size());
        self.memo.insert(key, (result.clone(), inner));
        Some(result)
    }

    /// Calls that were cut off say the same of the same arguments: each has a value, or might as well.
    fn say_the_same(&mut self) {
        let mut left = PAIRS;
        for (k, (call, result)) in self.cut_calls.iter().enumerate() {
            for (other, other_result) in &self.cut_calls[..k] {
                let (Kind::App(Op::Call(f), args), Kind::App(Op::Call(g), others)) =
                    (call.kind(), other.kind())
                else {
                    continue;
                };
                // Sets and maps are taken apart elsewhere.
                if f != g || args.iter().chain(others).any(Term::unfolds) {
                    continue;
                }
                if left == 0 {
                    return;
                }
                left -= 1;
                let equal = |(a, b): (&Term, &Term)| {
                    Term::apply(Op::Eq, vec![a.clone(), b.clone()], a.span()).ok()
                };
                let arguments: Option<Vec<Term>> = args.iter().zip(others).map(equal).collect();
                let (Some(arguments), Some(results)) = (arguments, equal((result, other_result)))
                else {
                    continue;
                };
                let fact = Term::any([Term::all(arguments).negated(), results]);
                self.facts.push(fact.simplify());
            }
        }
    }

    /// The elements of a set that may be there one by one.
    fn over_set(
        &mut self,
        op: &Op,
        x: &Var,
        set: &Term,
        body: &Term,
        path: &Term,
        fuel: u32,
    ) -> Option<Term> {
        let all = matches!(op, Op::ForAll(_));
        let (items, more) = self.elements(set, fuel)?;
        let mut parts = Vec::new();
        for (present, item) in items {
            let map = [(x.id, item)].into_iter().collect();
            let here = Term::all([path.clone(), present.clone()]);
            let body = self.term(&body.substitute(&map).ok()?.simplify(), &here, fuel)?;
            self.nodes += u64::from(body.size());
            parts.push(if all {
                Term::any([present.negated(), body])
            } else {
                Term::all([present, body])
            });
        }
        let exact = if all {
            Term::all(parts)
        } else {
            Term::any(parts)
        };
        let asked = Term::bool_app(op.clone(), vec![set.clone(), body.clone()]);
        Some(self.unless(&more, exact.simplify(), &asked))
    }

    /// The first elements one by one; the rest is cut off.
    fn quantifier(
        &mut self,
        op: &Op,
        x: &Var,
        args: &[Term],
        path: &Term,
        fuel: u32,
    ) -> Option<Term> {
        let array = self.term(&args[0], path, fuel)?.simplify();
        if matches!(array.sort(), Sort::Set(_)) {
            return self.over_set(op, x, &array, &args[1], path, fuel);
        }
        let whole = Term::bool_app(op.clone(), vec![array.clone(), args[1].clone()]).simplify();
        if !matches!(whole.kind(), Kind::App(Op::ForAll(_) | Op::ForSome(_), _)) {
            return self.term(&whole, path, fuel);
        }
        let all = matches!(op, Op::ForAll(_));
        let length = Term::int_app(Op::Len, vec![array.clone()]).simplify();
        let inside = |i: u32| {
            let i = Term::from(i64::from(i));
            Term::bool_app(Op::Lt, vec![i, length.clone()])
        };
        let mut parts = Vec::new();
        for i in 0..fuel {
            let index = vec![array.clone(), i64::from(i).into()];
            let item = Term::app(Op::Select, index, x.sort.clone(), crate::Span::NONE).simplify();
            let map = [(x.id, item)].into_iter().collect();
            let here = Term::all([path.clone(), inside(i)]);
            let body = args[1].substitute(&map).ok()?;
            let body = self.term(&body, &here, fuel)?;
            parts.push(if all {
                Term::any([inside(i).negated(), body])
            } else {
                Term::all([inside(i), body])
            });
        }
        let beyond = inside(fuel);
        let rest = self.cut(&true.into(), &Term::all([path.clone(), beyond.clone()]));
        parts.push(if all {
            Term::any([beyond.negated(), rest])
        } else {
            Term::all([beyond, rest])
        });
        Some(
            if all {
                Term::all(parts)
            } else {
                Term::any(parts)
            }
            .simplify(),
        )
    }
}
