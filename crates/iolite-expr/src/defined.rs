//! Where a term has a value at all.

use rustc_hash::FxHashMap;

use crate::term::{Kind, Op};
use crate::{Int, Sort, Term};

impl Term {
    /// The condition under which evaluating this term does not fault: divisors are not zero,
    /// indices lie in their arrays, keys in their maps, narrowed integers fit. It follows the evaluation order of
    /// `&&`, `||`, `=>` and `?:`, and is itself free of faults when read from left to right.
    #[must_use]
    pub fn defined(&self) -> Self {
        defined(self, &mut FxHashMap::default())
    }
}

impl Op {
    /// Whether this operation on these arguments cannot fault, whatever their values are.
    pub(crate) fn is_total(&self, args: &[Term]) -> bool {
        match self {
            Self::Div | Self::Mod => args[1]
                .as_value()
                .and_then(|v| v.as_int())
                .is_some_and(|n| !n.is_zero()),
            Self::Select
            | Self::Store
            | Self::Slice
            | Self::Narrow
            | Self::At
            | Self::Lookup
            | Self::Substring => false,
            Self::Get(variant, _) => match args[0].sort() {
                Sort::Sum(s) => s.variants().len() == 1 && *variant == 0,
                _ => false,
            },
            Self::Call(callee) => callee.is_total(),
            _ => true,
        }
    }
}

fn defined(term: &Term, memo: &mut FxHashMap<usize, Term>) -> Term {
    let Kind::App(op, args) = term.kind() else {
        return true.into();
    };
    if let Some(done) = memo.get(&term.key()) {
        return done.clone();
    }
    let mut of = |t: &Term| defined(t, memo);
    let zero = || Term::from(0);
    let compare = |op: Op, a: &Term, b: &Term| Term::bool_app(op, vec![a.clone(), b.clone()]);
    let result = match op {
        // d(a && rest) = d(a) && (a => d(rest))
        Op::And | Op::Or => {
            let mut rest: Term = true.into();
            for (i, a) in args.iter().enumerate().rev() {
                let guarded = if rest.is_true() || i + 1 == args.len() {
                    rest
                } else if *op == Op::And {
                    Term::any([a.negated(), rest])
                } else {
                    Term::any([a.clone(), rest])
                };
                rest = Term::all([of(a), guarded]);
            }
            rest
        }
        Op::Implies => {
            let inner = of(&args[1]);
            let guarded = if inner.is_true() {
                inner
            } else {
                Term::any([args[0].negated(), inner])
            };
            Term::all([of(&args[0]), guarded])
        }
        Op::Ite => {
            let (a, b) = (of(&args[1]), of(&args[2]));
            let branches = if a.is_true() && b.is_true() {
                a
            } else {
                Term::all([
                    Term::any([args[0].negated(), a]),
                    Term::any([args[0].clone(), b]),
                ])
            };
            Term::all([of(&args[0]), branches])
        }
        Op::Div | Op::Mod => Term::all([
            of(&args[0]),
            of(&args[1]),
            match args[1].as_value().and_then(|v| v.as_int()) {
                Some(n) => (!n.is_zero()).into(),
                None => compare(Op::Ne, &args[1], &zero()),
            },
        ]),
        Op::Select | Op::Store | Op::At => {
            let mut parts: Vec<Term> = args.iter().map(&mut of).collect();
            let length = length(&args[0]);
            parts.push(compare(Op::Le, &zero(), &args[1]));
            parts.push(compare(Op::Lt, &args[1], &length));
            Term::all(parts)
        }
        Op::Lookup => Term::all([of(&args[0]), of(&args[1]), Term::has(&args[1], &args[0])]),
        Op::Slice | Op::Substring => {
            let mut parts: Vec<Term> = args.iter().map(&mut of).collect();
            let length = length(&args[0]);
            parts.push(compare(Op::Le, &zero(), &args[1]));
            parts.push(compare(Op::Le, &args[1], &args[2]));
            parts.push(compare(Op::Le, &args[2], &length));
            Term::all(parts)
        }
        Op::Narrow => {
            let bounds = match term.sort() {
                Sort::Range(r) => {
                    let literal = |n: &Int| Term::from(n.clone());
                    Term::all([
                        compare(Op::Le, &literal(&r.lo), &args[0]),
                        compare(Op::Le, &args[0], &literal(&r.hi)),
                    ])
                }
                _ => true.into(),
            };
            Term::all([of(&args[0]), bounds])
        }
        Op::Get(variant, _) if !op.is_total(args) => {
            Term::all([of(&args[0]), args[0].is_variant(*variant)])
        }
        Op::Call(callee) if !callee.is_total() => {
            let mut parts: Vec<Term> = args.iter().map(&mut of).collect();
            let callee = Op::Call(callee.definedness());
            parts.push(Term::bool_app(callee, args.to_vec()));
            Term::all(parts)
        }
        Op::ForAll(x) | Op::ForSome(x) => {
            let (array, inner) = (of(&args[0]), of(&args[1]));
            if inner.is_true() {
                array
            } else {
                let each = Term::bool_app(Op::ForAll(x.clone()), vec![args[0].clone(), inner]);
                Term::all([array, each])
            }
        }
        // Evaluation tries every value, so the body must be defined for each.
        Op::Exists(vars) => {
            let inner = of(&args[0]);
            if inner.is_true() {
                inner
            } else {
                Term::exists(vars.to_vec(), inner.negated()).negated()
            }
        }
        _ => Term::all(args.iter().map(of)),
    };
    memo.insert(term.key(), result.clone());
    result
}

fn length(sequence: &Term) -> Term {
    let op = match sequence.sort() {
        Sort::String => Op::StrLen,
        _ => Op::Len,
    };
    Term::int_app(op, vec![sequence.clone()])
}
