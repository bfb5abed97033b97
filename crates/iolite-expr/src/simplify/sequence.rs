//! Strings, arrays and records.

use super::as_int;
use super::linear_form::{from_linear, linear};
use crate::term::{Kind, Op};
use crate::{Int, Sort, Term, Value};

pub(super) fn concat(args: &[Term]) -> Term {
    let mut parts: Vec<Term> = Vec::new();
    let mut stack: Vec<Term> = args.iter().rev().cloned().collect();
    while let Some(a) = stack.pop() {
        if let Kind::App(Op::Concat, inner) = a.kind() {
            stack.extend(inner.iter().rev().cloned());
            continue;
        }
        let Some(text) = a.as_value().and_then(Value::as_str) else {
            parts.push(a);
            continue;
        };
        if text.is_empty() {
            continue;
        }
        match parts
            .last()
            .and_then(Term::as_value)
            .and_then(Value::as_str)
        {
            Some(before) => {
                let joined = Term::from(format!("{before}{text}").as_str());
                parts.pop();
                parts.push(joined);
            }
            None => parts.push(a),
        }
    }
    match parts.len() {
        0 => "".into(),
        1 => parts.remove(0),
        _ => Term::app(Op::Concat, parts, Sort::String, crate::Span::NONE),
    }
}

pub(super) fn str_len(text: &Term) -> Term {
    match text.kind() {
        Kind::Lit(Value::Str(s)) => Int::from(s.chars().count()).into(),
        Kind::App(Op::Concat, parts) => {
            let lengths = parts.iter().map(str_len).collect();
            from_linear(&linear(&Term::int_app(Op::Add, lengths)))
        }
        _ => Term::int_app(Op::StrLen, vec![text.clone()]),
    }
}

pub(super) fn select(term: &Term, args: Vec<Term>) -> Term {
    match args[0].kind() {
        Kind::App(Op::Store, inner) => {
            if inner[1] == args[1] {
                return inner[2].clone();
            }
            if let (Some(i), Some(j)) = (as_int(&inner[1]), as_int(&args[1]))
                && i != j
            {
                return select(term, vec![inner[0].clone(), args[1].clone()]);
            }
        }
        Kind::App(Op::Array, items) => {
            if let Some(item) = as_int(&args[1])
                .and_then(Int::to_usize)
                .and_then(|i| items.get(i))
            {
                return item.clone();
            }
        }
        _ => {}
    }
    term.with_args(args)
}

pub(super) fn len(args: Vec<Term>) -> Term {
    match args[0].kind() {
        Kind::Lit(Value::Array(items)) => Int::from(items.len()).into(),
        Kind::App(Op::Array, items) => Int::from(items.len()).into(),
        Kind::App(Op::Store, inner) => len(vec![inner[0].clone()]),
        Kind::App(Op::Append, inner) => {
            let sum = inner.iter().map(|a| len(vec![a.clone()])).collect();
            from_linear(&linear(&Term::int_app(Op::Add, sum)))
        }
        Kind::App(Op::Slice, inner) => from_linear(&linear(&inner[2]).minus(&linear(&inner[1]))),
        _ => Term::int_app(Op::Len, args),
    }
}

/// The elements of an array whose length is plain.
pub(super) fn array_items(t: &Term) -> Option<Vec<Term>> {
    match (t.kind(), t.sort()) {
        (Kind::App(Op::Array, items), _) => Some(items.to_vec()),
        (Kind::Lit(Value::Array(items)), Sort::Array(e)) => Some(
            items
                .iter()
                .map(|v| Term::value_of_sort(v.clone(), (**e).clone()))
                .collect(),
        ),
        _ => None,
    }
}

pub(super) fn append(term: &Term, args: Vec<Term>) -> Term {
    match (array_items(&args[0]), array_items(&args[1])) {
        (Some(mut a), Some(b)) => {
            a.extend(b);
            Term::app(Op::Array, a, term.sort().clone(), term.span())
        }
        (Some(a), None) if a.is_empty() => args[1].clone(),
        (None, Some(b)) if b.is_empty() => args[0].clone(),
        _ => term.with_args(args),
    }
}

pub(super) fn field(term: &Term, i: u32, args: Vec<Term>) -> Term {
    match args[0].kind() {
        Kind::App(Op::Record, items) => items[i as usize].clone(),
        Kind::Lit(Value::Record(_, items)) => {
            Term::value_of_sort(items[i as usize].clone(), term.sort().clone())
        }
        Kind::App(Op::Update(j), inner) if *j == i => inner[1].clone(),
        Kind::App(Op::Update(_), inner) => field(term, i, vec![inner[0].clone()]),
        _ => term.with_args(args),
    }
}
