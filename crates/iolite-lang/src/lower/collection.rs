//! Sets, maps and decimals as terms.

use iolite_expr::{Op, Sort as TermSort, Span as TermSpan, Term, TypeError, Value};

use super::term::{Scope, Terms, literal, place, sort_error, type_error};
use crate::syntax::ast::{Expr, Name};
use crate::{Diagnostic, Span, codes};

type Result<T, E = Diagnostic> = std::result::Result<T, E>;

/// `12.50`: as many places as it is written with.
pub(super) fn decimal(text: &str, span: Span) -> Result<Term> {
    let places = text.split_once('.').map_or(0, |(_, places)| places.len());
    let value = u8::try_from(places).ok();
    let value = value.filter(|p| (1..=iolite_expr::MAX_SCALE).contains(p));
    match value.and_then(|p| Some((p, Value::decimal(text, p)?))) {
        Some((places, value)) => literal(value, &TermSort::Decimal(places), span),
        None => Err(Diagnostic::error(
            codes::BAD_TERM,
            span,
            "this is no decimal",
        )),
    }
}

/// Two numbers with the same places after the point, where one of them is a decimal.
pub(super) fn alike(a: Term, b: Term, span: Span) -> Result<(Term, Term)> {
    let places = |t: &Term| match t.sort() {
        TermSort::Decimal(places) => *places,
        _ => 0,
    };
    let most = places(&a).max(places(&b));
    if !Term::is_decimal_pair(&a, &b) || places(&a) == places(&b) {
        return Ok((a, b));
    }
    let widened = |t: Term| t.coerce(&TermSort::Decimal(most));
    let typed = |e| type_error(&e, span);
    Ok((widened(a).map_err(typed)?, widened(b).map_err(typed)?))
}

/// The sort of elements that stand together: the most places of decimals, integers without their ranges.
pub(super) fn joint(items: &[Term]) -> TermSort {
    let most = items.iter().filter_map(|t| match t.sort() {
        TermSort::Decimal(places) => Some(*places),
        _ => None,
    });
    match most.max() {
        Some(places) => TermSort::Decimal(places),
        None => items
            .first()
            .map_or(TermSort::Int, |first| first.sort().widened()),
    }
}

/// `round`, `floor`, `ceil`, `units`, `decimal`, and what is there for integers too, of decimals.
pub(super) fn decimal_call(
    name: &str,
    terms: &[Term],
    at: TermSpan,
) -> Option<Result<Term, TypeError>> {
    let number = |t: &Term| t.sort().is_int() || matches!(t.sort(), TermSort::Decimal(_));
    let first = terms.first().filter(|t| number(t))?.clone();
    let places = |t: &Term| -> Option<u8> {
        let n = t.as_value()?.as_int()?.to_i64()?;
        u8::try_from(n)
            .ok()
            .filter(|n| *n <= iolite_expr::MAX_SCALE)
    };
    Some(match (name, terms.len()) {
        ("round", 1) => first.with_places(0, at),
        ("round", 2) => first.with_places(places(&terms[1])?, at),
        ("floor", 1) => first.floor(at),
        ("ceil", 1) => first.ceiling(at),
        ("units", 1) => first.units(at),
        ("decimal", 2) if first.sort().is_int() => Term::of_units(first, places(&terms[1])?, at),
        ("abs", 1) => match *first.sort() {
            TermSort::Decimal(places) => first
                .units(at)
                .and_then(|u| Term::apply(Op::Abs, vec![u], at))
                .and_then(|u| Term::of_units(u, places, at)),
            _ => return None,
        },
        ("min" | "max", 2) if Term::is_decimal_pair(&terms[0], &terms[1]) => {
            let op = if name == "min" { Op::Le } else { Op::Ge };
            let (a, b) = alike(first, terms[1].clone(), Span::new(0, 0)).ok()?;
            Term::decimal_op(op, a.clone(), b.clone(), at)
                .and_then(|c| Term::apply(Op::Ite, vec![c, a, b], at))
        }
        _ => return None,
    })
}

impl Terms<'_> {
    /// An element or a key of this sort. An integer outside of a range is just not there.
    pub(super) fn key(&self, expr: &Expr, scope: &Scope, sort: &TermSort) -> Result<Term> {
        let key = self.term(expr, scope, Some(sort))?;
        match sort {
            TermSort::Decimal(_) => key.coerce(sort).map_err(|e| type_error(&e, expr.span)),
            _ => Ok(key),
        }
    }

    /// `{1, 2, 3}`; `{}` is the empty set or map that is wanted.
    pub(super) fn set(
        &self,
        expr: &Expr,
        items: &[Expr],
        scope: &Scope,
        wanted: Option<&TermSort>,
    ) -> Result<Term> {
        let typed = |e| type_error(&e, expr.span);
        if let (Some(sort @ TermSort::Map(_)), []) = (wanted, items) {
            return Term::map(sort, Vec::new(), place(expr.span)).map_err(typed);
        }
        let element = match wanted {
            Some(TermSort::Set(e)) => Some((**e).clone()),
            _ => None,
        };
        let items = items
            .iter()
            .map(|i| self.term(i, scope, element.as_ref()))
            .collect::<Result<Vec<_>>>()?;
        let element = element.unwrap_or_else(|| joint(&items));
        let sort = TermSort::set(element).map_err(|e| sort_error(&e, expr.span))?;
        Term::set(&sort, items, place(expr.span)).map_err(typed)
    }

    /// `{1: "one", 2: "two"}`.
    pub(super) fn map(
        &self,
        expr: &Expr,
        pairs: &[(Expr, Expr)],
        scope: &Scope,
        wanted: Option<&TermSort>,
    ) -> Result<Term> {
        let typed = |e| type_error(&e, expr.span);
        let sorts = match wanted {
            Some(TermSort::Map(m)) => Some(m.clone()),
            _ => None,
        };
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        for (key, value) in pairs {
            keys.push(self.term(key, scope, sorts.as_ref().map(|m| &m.0))?);
            values.push(self.term(value, scope, sorts.as_ref().map(|m| &m.1))?);
        }
        let sort = match wanted {
            Some(sort @ TermSort::Map(_)) => sort.clone(),
            _ => TermSort::map(joint(&keys), joint(&values))
                .map_err(|e| sort_error(&e, expr.span))?,
        };
        let pairs = keys.into_iter().zip(values).collect();
        Term::map(&sort, pairs, place(expr.span)).map_err(typed)
    }

    /// The functions of sets and maps; `None` for others.
    pub(super) fn collection_call(
        &self,
        expr: &Expr,
        name: &Name,
        args: &[Expr],
        scope: &Scope,
    ) -> Result<Option<Term>> {
        let at = place(expr.span);
        let apply = |op: Op, terms: Vec<Term>| {
            let term = Term::apply(op, terms, at);
            term.map(Some).map_err(|e| type_error(&e, expr.span))
        };
        let key_sort = |of: &Term| match of.sort() {
            TermSort::Set(e) => Some((**e).clone()),
            TermSort::Map(m) => Some(m.0.clone()),
            _ => None,
        };
        match (name.text.as_str(), args) {
            ("insert" | "remove", [of, key]) => {
                let of = match self.term(of, scope, None)? {
                    // Nothing is known of an empty one but what is put into it.
                    empty if is_empty_literal(of) => {
                        let item = self.term(key, scope, None)?;
                        let sort = TermSort::set(item.sort().widened());
                        let sort = sort.map_err(|e| sort_error(&e, expr.span))?;
                        let typed = Term::set(&sort, Vec::new(), at);
                        typed.unwrap_or(empty)
                    }
                    of => of,
                };
                let key = match key_sort(&of) {
                    Some(sort) => self.key(key, scope, &sort)?,
                    None => self.term(key, scope, None)?,
                };
                let op = if name.text == "insert" {
                    Op::Insert
                } else {
                    Op::Remove
                };
                apply(op, vec![of, key])
            }
            ("put", [of, key, value]) => {
                let of = self.term(of, scope, None)?;
                let (key, value) = match of.sort() {
                    TermSort::Map(m) => (
                        self.key(key, scope, &m.0)?,
                        self.term(value, scope, Some(&m.1))?,
                    ),
                    _ => (self.term(key, scope, None)?, self.term(value, scope, None)?),
                };
                apply(Op::Put, vec![of, key, value])
            }
            ("keys", [of]) => apply(Op::Keys, vec![self.term(of, scope, None)?]),
            ("union" | "intersection" | "difference" | "subset", [a, b]) => {
                let (a, b) = self.pair(a, b, scope, None)?;
                let op = match name.text.as_str() {
                    "union" => Op::Union,
                    "intersection" => Op::Intersection,
                    "difference" => Op::Difference,
                    _ => {
                        let TermSort::Set(element) = a.sort() else {
                            return apply(Op::Union, vec![a, b]);
                        };
                        let x = self.bound_var("x", (**element).clone());
                        let within = apply(Op::Has, vec![x.term(), b])?;
                        let within = within.unwrap_or_else(|| false.into());
                        return apply(Op::ForAll(x), vec![a, within]);
                    }
                };
                apply(op, vec![a, b])
            }
            _ => Ok(None),
        }
    }
}

fn is_empty_literal(expr: &Expr) -> bool {
    matches!(&expr.kind, crate::syntax::ast::ExprKind::Set(items) if items.is_empty())
}
