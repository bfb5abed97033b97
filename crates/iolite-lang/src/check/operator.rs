//! Operators: which sorts they take, and which they give.

use iolite_expr::MAX_SCALE;

use super::expr::infer;
use super::scope::{Scope, decimal_hint};
use super::sorts::ResolvedSort;
use crate::syntax::ast::{BinaryOp, Expr};
use crate::{Diagnostic, Span, codes};

pub(super) fn join(a: ResolvedSort, b: ResolvedSort) -> ResolvedSort {
    match (a, b) {
        (ResolvedSort::Unknown, b) => b,
        (a, b) if a == b => a,
        (ResolvedSort::Decimal(a), b) | (b, ResolvedSort::Decimal(a)) => {
            ResolvedSort::Decimal(b.places().map_or(a, |b| a.max(b)))
        }
        // The empty set tells least.
        (ResolvedSort::Set(e), b) if *e == ResolvedSort::Unknown => b,
        (a, b) if a.is_int() && b.is_int() => ResolvedSort::Int,
        (a, _) => a,
    }
}

pub(super) fn same(
    expr: &Expr,
    a: &ResolvedSort,
    b: &ResolvedSort,
    what: &str,
    found: &mut Vec<Diagnostic>,
) {
    if !a.goes_with(b) {
        found.push(Diagnostic::error(
            codes::OPERAND_SORT,
            expr.span,
            format!("{what} has parts of different sorts: {a} and {b}"),
        ));
    }
}

pub(super) fn operand(
    expr: &Expr,
    sort: &ResolvedSort,
    what: &str,
    scope: &Scope<'_>,
    found: &mut Vec<Diagnostic>,
) {
    let actual = infer(expr, scope, found);
    wrong_operand(expr, &actual, sort, what, found);
}

pub(super) fn wrong_operand(
    expr: &Expr,
    actual: &ResolvedSort,
    sort: &ResolvedSort,
    what: &str,
    found: &mut Vec<Diagnostic>,
) {
    if !actual.fits(sort) {
        let message = format!("{what} needs {sort}, this is {actual}");
        let error = Diagnostic::error(codes::OPERAND_SORT, expr.span, message);
        found.push(error.maybe_hint(decimal_hint(actual, sort)));
    }
}

pub(super) fn decimal_literal(span: Span, text: &str, found: &mut Vec<Diagnostic>) -> ResolvedSort {
    let places = text.split_once('.').map_or(0, |(_, places)| places.len());
    match u8::try_from(places) {
        Ok(places) if places <= MAX_SCALE => ResolvedSort::Decimal(places),
        _ => {
            let message = format!("a decimal has at most {MAX_SCALE} places after the point");
            found.push(Diagnostic::error(codes::OPERAND_SORT, span, message));
            ResolvedSort::Unknown
        }
    }
}

/// The places of two numbers, where one of them is a decimal; what is no number is reported.
fn decimals(
    operands: [(&Expr, &ResolvedSort); 2],
    symbol: &str,
    found: &mut Vec<Diagnostic>,
) -> Option<u8> {
    let decimal = |s: &ResolvedSort| matches!(s, ResolvedSort::Decimal(_));
    if !operands.iter().any(|(_, s)| decimal(s)) {
        return None;
    }
    let mut most = 0;
    for (expr, sort) in operands {
        if let Some(places) = sort.places() {
            most = most.max(places);
        } else {
            let message = format!("{symbol} needs a number, this is {sort}");
            found.push(Diagnostic::error(codes::OPERAND_SORT, expr.span, message));
        }
    }
    Some(most)
}

pub(super) fn binary(
    expr: &Expr,
    op: BinaryOp,
    a: &Expr,
    b: &Expr,
    scope: &Scope<'_>,
    found: &mut Vec<Diagnostic>,
) -> ResolvedSort {
    use ResolvedSort::{Array, Bool, Decimal, Int, Map, Set, String, Unknown};
    let symbol = format!("`{}`", op.symbol());
    match op {
        BinaryOp::Implies | BinaryOp::Or | BinaryOp::And => {
            operand(a, &Bool, &symbol, scope, found);
            operand(b, &Bool, &symbol, scope, found);
            Bool
        }
        BinaryOp::Eq | BinaryOp::Ne => {
            let (left, right) = (infer(a, scope, found), infer(b, scope, found));
            if !left.goes_with(&right) {
                found.push(Diagnostic::error(
                    codes::OPERAND_SORT,
                    expr.span,
                    format!("{symbol} compares {left} with {right}"),
                ));
            }
            Bool
        }
        BinaryOp::In => {
            let (left, right) = (infer(a, scope, found), infer(b, scope, found));
            let within = match &right {
                Array(of) | Set(of) | Map(of, _) => left.fits(of),
                Unknown => true,
                _ => false,
            };
            if !within {
                let message = format!(
                    "`in` asks for an element of an array or a set, or a key of a map, not {left} in {right}"
                );
                found.push(Diagnostic::error(codes::OPERAND_SORT, expr.span, message));
            }
            Bool
        }
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
            let (left, right) = (infer(a, scope, found), infer(b, scope, found));
            if decimals([(a, &left), (b, &right)], &symbol, found).is_none() {
                wrong_operand(a, &left, &Int, &symbol, found);
                wrong_operand(b, &right, &Int, &symbol, found);
            }
            Bool
        }
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Mod => {
            let (left, right) = (infer(a, scope, found), infer(b, scope, found));
            let before = found.len();
            if let Some(places) = decimals([(a, &left), (b, &right)], &symbol, found) {
                if op == BinaryOp::Mod {
                    let message = "`%` needs int, and one of these is a decimal";
                    found.push(
                        Diagnostic::error(codes::OPERAND_SORT, expr.span, message)
                            .hint("`units(x)` counts units of the last place: `units(x) % 5`"),
                    );
                }
                return Decimal(places);
            }
            wrong_operand(a, &left, &Int, &symbol, found);
            wrong_operand(b, &right, &Int, &symbol, found);
            if op == BinaryOp::Add
                && let Some(error) = found[before..]
                    .iter_mut()
                    .find(|d| d.message.ends_with("this is string"))
            {
                error.hint = Some("strings are joined with `++`".to_owned());
            }
            let sets = |s: &ResolvedSort| matches!(s, Set(_) | Map(..));
            if (sets(&left) || sets(&right))
                && let Some(error) = found[before..].first_mut()
            {
                error.hint = Some(
                    "sets have `union(a, b)`, `difference(a, b)`, `insert(s, x)`, `remove(s, x)`"
                        .to_owned(),
                );
            }
            Int
        }
        BinaryOp::Concat => {
            let (left, right) = (infer(a, scope, found), infer(b, scope, found));
            let joinable = |s: &ResolvedSort| matches!(s, String | Array(_) | Unknown);
            if !joinable(&left) || !joinable(&right) || !left.fits(&right) {
                found.push(Diagnostic::error(
                    codes::OPERAND_SORT,
                    expr.span,
                    format!("`++` joins two strings or two arrays, not {left} and {right}"),
                ));
                return Unknown;
            }
            join(left, right)
        }
    }
}
