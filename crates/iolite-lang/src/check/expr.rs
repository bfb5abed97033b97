//! Sorts of expressions.

use super::call::{call, wrong_arity};
use super::operator::{binary, decimal_literal, join, operand, same, wrong_operand};
use super::scope::Scope;
use super::sorts::{ResolvedSort, Sorts, field_names};
use super::structured::{cases, record, sum_field, variant_of};
use crate::syntax::ast::{Expr, ExprKind, Function, UnaryOp};
use crate::{Diagnostic, codes, diagnostic};

pub(super) fn function(function: &Function, sorts: &Sorts<'_>, found: &mut Vec<Diagnostic>) {
    let mut scope = Scope::new(sorts);
    for param in &function.params {
        scope.bind(&param.name.text, sorts.resolve(&param.sort));
    }
    let result = sorts.resolve(&function.result);
    let what = format!("function `{}`", function.name.text);
    scope.expect(&function.body, &result, &what, found);
}

/// The sort of an expression; every mistake inside is reported once.
pub(super) fn infer(expr: &Expr, scope: &Scope<'_>, found: &mut Vec<Diagnostic>) -> ResolvedSort {
    use ResolvedSort::{Array, Bool, Decimal, Enum, Int, Map, Record, Set, String, Unknown};
    match &expr.kind {
        ExprKind::Is(a, variant) => {
            let of = infer(a, scope, found);
            variant_of(&of, variant, scope, found);
            Bool
        }
        ExprKind::Match(of, arms) => cases(expr, of, arms, scope, found),
        ExprKind::Let(name, a, b) => {
            let sort = infer(a, scope, found);
            infer(b, &scope.with(&name.text, sort), found)
        }
        ExprKind::Quantified(q, name, a, b) => {
            let of = match infer(a, scope, found) {
                Array(of) | Set(of) | Map(of, _) => *of,
                Unknown => Unknown,
                other => {
                    let message = format!(
                        "`{}` goes over an array, a set or a map, this is {other}",
                        q.word()
                    );
                    found.push(Diagnostic::error(codes::OPERAND_SORT, a.span, message));
                    Unknown
                }
            };
            operand(
                b,
                &Bool,
                &format!("`{}`", q.word()),
                &scope.with(&name.text, of),
                found,
            );
            Bool
        }
        ExprKind::Int(_) => Int,
        ExprKind::Decimal(text) => decimal_literal(expr.span, text, found),
        ExprKind::Set(items) => {
            let mut sort = Unknown;
            for item in items {
                let next = infer(item, scope, found);
                same(item, &sort, &next, "a set", found);
                sort = join(sort, next);
            }
            Set(Box::new(sort))
        }
        ExprKind::Map(pairs) => {
            let (mut key, mut value) = (Unknown, Unknown);
            for (k, v) in pairs {
                let next = infer(k, scope, found);
                same(k, &key, &next, "a map", found);
                key = join(key, next);
                let next = infer(v, scope, found);
                same(v, &value, &next, "a map", found);
                value = join(value, next);
            }
            Map(Box::new(key), Box::new(value))
        }
        ExprKind::Bool(_) => Bool,
        ExprKind::Str(_) => String,
        ExprKind::Error => Unknown,
        ExprKind::Name(name) => {
            if let Some(sort) = scope.sort_of(name) {
                return sort.clone();
            }
            if let Some(of) = scope.sorts.value(name) {
                return Enum(of.to_owned());
            }
            if let Some((sum, variant)) = scope.sorts.variant(name) {
                if !variant.fields.is_empty() {
                    found.push(wrong_arity(expr.span, variant, 0));
                }
                return ResolvedSort::Sum(sum.name.text.clone());
            }
            if scope.sorts.spoilt().may_have_value(name) {
                return Unknown;
            }
            let known = scope.names().chain(scope.sorts.values());
            found.push(
                Diagnostic::error(
                    codes::UNDECLARED,
                    expr.span,
                    format!("`{name}` is not declared"),
                )
                .maybe_hint(diagnostic::did_you_mean(name, known)),
            );
            Unknown
        }
        ExprKind::Unary(UnaryOp::Neg, a) => {
            let sort = infer(a, scope, found);
            if let Decimal(_) = sort {
                return sort;
            }
            wrong_operand(a, &sort, &Int, "`-`", found);
            Int
        }
        ExprKind::Unary(UnaryOp::Not, a) => {
            operand(a, &Bool, "`!`", scope, found);
            Bool
        }
        ExprKind::Binary(op, a, b) => binary(expr, *op, a, b, scope, found),
        ExprKind::If(c, a, b) => {
            operand(c, &Bool, "`if`", scope, found);
            let yes = infer(a, scope, found);
            let no = infer(b, scope, found);
            same(expr, &yes, &no, "`if`", found);
            join(yes, no)
        }
        ExprKind::Call(name, args) => call(expr, name, args, scope, found),
        ExprKind::Index(base, index) => {
            let of = infer(base, scope, found);
            if let Map(key, value) = of {
                scope.expect(index, &key, "the key", found);
                return *value;
            }
            if of == Unknown {
                infer(index, scope, found);
                return Unknown;
            }
            operand(index, &Int, "an index", scope, found);
            match of {
                Array(of) => *of,
                String => String,
                Unknown => Unknown,
                other => {
                    found.push(Diagnostic::error(
                        codes::OPERAND_SORT,
                        base.span,
                        format!("only arrays, strings and maps have elements, this is {other}"),
                    ));
                    Unknown
                }
            }
        }
        ExprKind::Field(base, field) => match infer(base, scope, found) {
            Record(name) => {
                let record = scope.sorts.record(&name);
                let declared =
                    record.and_then(|r| r.fields.iter().find(|f| f.name.text == field.text));
                if let Some(declared) = declared {
                    return scope.sorts.resolve(&declared.sort);
                }
                let known = record
                    .into_iter()
                    .flat_map(field_names)
                    .map(|n| n.text.as_str());
                found.push(
                    Diagnostic::error(
                        codes::UNKNOWN_FIELD,
                        field.span,
                        format!("record `{name}` has no field `{}`", field.text),
                    )
                    .maybe_hint(diagnostic::did_you_mean(&field.text, known)),
                );
                Unknown
            }
            ResolvedSort::Sum(name) => sum_field(&name, field, scope, found),
            Unknown => Unknown,
            other => {
                found.push(Diagnostic::error(
                    codes::OPERAND_SORT,
                    base.span,
                    format!("only records and variants have fields, this is {other}"),
                ));
                Unknown
            }
        },
        ExprKind::Array(elements) => {
            let mut sort = Unknown;
            for element in elements {
                let next = infer(element, scope, found);
                same(element, &sort, &next, "an array", found);
                sort = join(sort, next);
            }
            Array(Box::new(sort))
        }
        ExprKind::Record(name, fields) => record(expr, name, fields, scope, found),
    }
}
