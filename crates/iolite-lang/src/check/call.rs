//! Calls: functions of the file, variants with values, functions that the language brings along.

use super::expr::infer;
use super::operator::operand;
use super::scope::Scope;
use super::sorts::{ResolvedSort, constant};
use crate::syntax::ast::{Expr, Name, Variant};
use crate::{Diagnostic, Span, codes, diagnostic};

/// Functions that the language brings along: name, sorts of the arguments, sort of the result.
fn builtin(name: &str) -> Option<(&'static [ResolvedSort], ResolvedSort)> {
    use ResolvedSort::{Bool, Int, String};
    Some(match name {
        "prefix" | "suffix" | "contains" | "matches" => (&[String, String], Bool),
        "at" => (&[String, Int], String),
        "indexOf" => (&[String, String], Int),
        _ => return None,
    })
}

const BUILTINS: &[&str] = &[
    "abs",
    "at",
    "ceil",
    "contains",
    "decimal",
    "difference",
    "floor",
    "indexOf",
    "insert",
    "intersection",
    "keys",
    "len",
    "matches",
    "max",
    "min",
    "prefix",
    "put",
    "remove",
    "round",
    "slice",
    "store",
    "subset",
    "suffix",
    "union",
    "units",
];

pub(super) fn call(
    expr: &Expr,
    name: &Name,
    args: &[Expr],
    scope: &Scope<'_>,
    found: &mut Vec<Diagnostic>,
) -> ResolvedSort {
    use ResolvedSort::{Array, Int, Map, Set, String, Unknown};
    let arity = |count: usize, found: &mut Vec<Diagnostic>| {
        if args.len() != count {
            found.push(Diagnostic::error(
                codes::ARITY,
                expr.span,
                format!(
                    "function `{}` takes {count} arguments, not {}",
                    name.text,
                    args.len()
                ),
            ));
        }
        args.len() == count
    };
    if let Some(function) = scope.sorts.function(&name.text) {
        arity(function.params.len(), found);
        for (arg, param) in args.iter().zip(&function.params) {
            let sort = scope.sorts.resolve(&param.sort);
            scope.expect(
                arg,
                &sort,
                &format!("parameter `{}`", param.name.text),
                found,
            );
        }
        return scope.sorts.resolve(&function.result);
    }
    if let Some((sum, variant)) = scope.sorts.variant(&name.text) {
        if args.len() != variant.fields.len() {
            found.push(wrong_arity(expr.span, variant, args.len()));
        }
        for (arg, field) in args.iter().zip(&variant.fields) {
            let sort = scope.sorts.resolve(&field.sort);
            scope.expect(arg, &sort, &format!("field `{}`", field.name.text), found);
        }
        return ResolvedSort::Sum(sum.name.text.clone());
    }
    if let Some((params, result)) = builtin(&name.text) {
        arity(params.len(), found);
        for (arg, sort) in args.iter().zip(params) {
            operand(arg, sort, &format!("`{}`", name.text), scope, found);
        }
        return result;
    }
    let sorts: Vec<_> = args.iter().map(|a| infer(a, scope, found)).collect();
    let given = super::builtin::Given {
        expr,
        name: &name.text,
        args,
        sorts: &sorts,
    };
    if let Some(result) = given.result(found) {
        return result;
    }
    match name.text.as_str() {
        "len" => {
            let counted = |s: &ResolvedSort| matches!(s, String | Array(_) | Set(_) | Map(..));
            if arity(1, found) && !counted(&sorts[0]) && sorts[0] != Unknown {
                let of = &sorts[0];
                found.push(Diagnostic::error(
                    codes::OPERAND_SORT,
                    args[0].span,
                    format!("`len` needs a string, an array, a set or a map, this is {of}"),
                ));
            }
            Int
        }
        "slice" => {
            if !arity(3, found) {
                return Unknown;
            }
            slice(args, &sorts, found);
            match &sorts[0] {
                Array(_) | String => sorts[0].clone(),
                _ => Unknown,
            }
        }
        "store" => {
            if !arity(3, found) {
                return Unknown;
            }
            let wanted = Array(Box::new(sorts[2].clone()));
            if !sorts[0].fits(&wanted) || !sorts[1].is_int() {
                found.push(Diagnostic::error(
                    codes::OPERAND_SORT,
                    expr.span,
                    "`store` takes an array, an index and an element of the array's sort",
                ));
            }
            sorts[0].clone()
        }
        _ if scope.sorts.spoilt().may_declare(&name.text)
            || scope.sorts.spoilt().may_have_value(&name.text) =>
        {
            Unknown
        }
        _ => {
            let known = BUILTINS.iter().copied().chain(scope.sorts.function_names());
            found.push(
                Diagnostic::error(
                    codes::UNKNOWN_FUNCTION,
                    name.span,
                    format!("no function is called `{}`", name.text),
                )
                .maybe_hint(diagnostic::did_you_mean(&name.text, known)),
            );
            Unknown
        }
    }
}

pub(super) fn wrong_arity(span: Span, variant: &Variant, given: usize) -> Diagnostic {
    let name = &variant.name.text;
    let fields: Vec<&str> = variant
        .fields
        .iter()
        .map(|f| f.name.text.as_str())
        .collect();
    let written = if fields.is_empty() {
        name.clone()
    } else {
        format!("{name}({})", fields.join(", "))
    };
    let message = format!("`{name}` has {} fields, not {given}", fields.len());
    Diagnostic::error(codes::ARITY, span, message).hint(format!("write `{written}`"))
}

/// `slice(a, from, to)`: the elements `from` to `to - 1`.
fn slice(args: &[Expr], sorts: &[ResolvedSort], found: &mut Vec<Diagnostic>) {
    let wrong = |k: usize, needs: &str| {
        Diagnostic::error(
            codes::OPERAND_SORT,
            args[k].span,
            format!("`slice` needs {needs}, this is {}", sorts[k]),
        )
    };
    match &sorts[0] {
        ResolvedSort::Array(_) | ResolvedSort::String | ResolvedSort::Unknown => {}
        _ => found.push(wrong(0, "an array or a string")),
    }
    for k in [1, 2] {
        if !sorts[k].is_int() {
            found.push(wrong(k, "int"));
        }
    }
    if let (Some(from), Some(to)) = (constant(&args[1]), constant(&args[2]))
        && (from < 0 || from > to)
    {
        found.push(
            Diagnostic::error(
                codes::EMPTY_RANGE,
                args[1].span.to(args[2].span),
                format!("nothing has elements from {from} up to {to}"),
            )
            .hint("`slice(a, from, to)` has the elements `from` to `to - 1`, counted from 0"),
        );
    }
}
