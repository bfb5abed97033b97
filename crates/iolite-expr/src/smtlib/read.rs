//! Terms from SMT-LIB, as far as tactics of solvers print them: Booleans and integers.

use rustc_hash::FxHashMap;

use super::int;
use super::sexpr::Sexpr;
use crate::term::Op;
use crate::{Span, Term};

/// Lets and applications nested deeper than this are not read.
const MAX_DEPTH: usize = 500;

/// The term of an expression over named terms; `None` for what is beyond Booleans and integers.
pub(super) fn term(e: &Sexpr, names: &FxHashMap<String, Term>) -> Option<Term> {
    read(e, names, MAX_DEPTH)
}

fn read(e: &Sexpr, names: &FxHashMap<String, Term>, depth: usize) -> Option<Term> {
    let depth = depth.checked_sub(1)?;
    let items = match e {
        Sexpr::Atom(atom) => {
            return match atom.as_str() {
                "true" => Some(true.into()),
                "false" => Some(false.into()),
                name => names.get(name).cloned().or_else(|| Some(int(e)?.into())),
            };
        }
        Sexpr::Text(_) => return None,
        Sexpr::List(items) => items,
    };
    let (Sexpr::Atom(head), rest) = items.split_first()? else {
        return None;
    };
    if head == "let" {
        let [Sexpr::List(bindings), body] = rest else {
            return None;
        };
        // A let binds all at once: its values know the names outside only.
        let mut inner = names.clone();
        for binding in bindings {
            let Sexpr::List(pair) = binding else {
                return None;
            };
            let [Sexpr::Atom(name), value] = pair.as_slice() else {
                return None;
            };
            inner.insert(name.clone(), read(value, names, depth)?);
        }
        return read(body, &inner, depth);
    }
    let args: Vec<Term> = rest
        .iter()
        .map(|arg| read(arg, names, depth))
        .collect::<Option<_>>()?;
    apply(head, args)
}

fn apply(head: &str, mut args: Vec<Term>) -> Option<Term> {
    let binary = |op: Op, args: Vec<Term>| Term::apply(op, args, Span::NONE).ok();
    let folded = |op: Op, args: Vec<Term>| {
        let mut all = args.into_iter();
        let first = all.next()?;
        all.try_fold(first, |a, b| {
            Term::apply(op.clone(), vec![a, b], Span::NONE).ok()
        })
    };
    match (head, args.len()) {
        ("and", _) => folded(Op::And, args).or_else(|| Some(true.into())),
        ("or", _) => folded(Op::Or, args).or_else(|| Some(false.into())),
        ("not", 1) => Term::apply(Op::Not, args, Span::NONE).ok(),
        ("=>", 2) => {
            let then = args.pop()?;
            Some(Term::any([args.pop()?.negated(), then]))
        }
        ("ite", 3) => Term::apply(Op::Ite, args, Span::NONE).ok(),
        ("=", 2) => binary(Op::Eq, args),
        ("distinct", 2) => binary(Op::Ne, args),
        ("<", 2) => binary(Op::Lt, args),
        ("<=", 2) => binary(Op::Le, args),
        (">", 2) => binary(Op::Gt, args),
        (">=", 2) => binary(Op::Ge, args),
        ("+", _) => folded(Op::Add, args),
        ("*", _) => folded(Op::Mul, args),
        ("-", 1) => binary(Op::Sub, vec![0.into(), args.pop()?]),
        ("-", _) => folded(Op::Sub, args),
        // A divisor that may be zero has another meaning there than here.
        ("div", 2) if nonzero(&args[1]) => binary(Op::Div, args),
        ("mod", 2) if nonzero(&args[1]) => binary(Op::Mod, args),
        _ => None,
    }
}

fn nonzero(t: &Term) -> bool {
    t.as_value()
        .is_some_and(|value| *value != crate::Value::from(0))
}
