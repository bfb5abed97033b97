//! Sorts of expressions.

use std::collections::BTreeMap;

use super::sorts::{ResolvedSort, Sorts, constant, field_names};
use crate::syntax::ast::{
    Arm, BinaryOp, Expr, ExprKind, Function, Name, Param, Sum, UnaryOp, Variant,
};
use crate::{Diagnostic, Span, codes, diagnostic};

/// The names that an expression may read.
#[derive(Clone)]
pub(super) struct Scope<'a> {
    pub(super) sorts: &'a Sorts<'a>,
    names: BTreeMap<String, ResolvedSort>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(sorts: &'a Sorts<'a>) -> Self {
        Self {
            sorts,
            names: BTreeMap::new(),
        }
    }

    /// Adds a name; the sort it had before, if any.
    pub(super) fn bind(&mut self, name: &str, sort: ResolvedSort) -> Option<ResolvedSort> {
        self.names.insert(name.to_owned(), sort)
    }

    /// The scope with one more name, which may hide another one.
    fn with(&self, name: &str, sort: ResolvedSort) -> Self {
        let mut inner = self.clone();
        inner.bind(name, sort);
        inner
    }

    /// Undoes [`Self::bind`].
    pub(super) fn restore(&mut self, name: &str, before: Option<ResolvedSort>) {
        match before {
            Some(sort) => self.names.insert(name.to_owned(), sort),
            None => self.names.remove(name),
        };
    }

    /// Checks that an expression has a sort.
    pub(super) fn expect(
        &self,
        expr: &Expr,
        sort: &ResolvedSort,
        what: &str,
        found: &mut Vec<Diagnostic>,
    ) {
        let actual = infer(expr, self, found);
        if !actual.fits(sort) {
            found.push(Diagnostic::error(
                codes::SORT_MISMATCH,
                expr.span,
                format!("{what} is of sort {sort}, but this is {actual}"),
            ));
        } else if let ResolvedSort::Range(first, last) = sort
            && let Some(value) = constant(expr)
            && (first.is_some_and(|f| value < f) || last.is_some_and(|l| value > l))
        {
            found.push(Diagnostic::error(
                codes::SORT_MISMATCH,
                expr.span,
                format!("{what} is of sort {sort}, and {value} is outside"),
            ));
        }
    }
}

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
    use ResolvedSort::{Array, Bool, Enum, Int, Record, String, Unknown};
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
                Array(of) => *of,
                Unknown => Unknown,
                other => {
                    let message = format!("`{}` goes over an array, this is {other}", q.word());
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
        ExprKind::Bool(_) => Bool,
        ExprKind::Str(_) => String,
        ExprKind::Error => Unknown,
        ExprKind::Name(name) => {
            if let Some(sort) = scope.names.get(name) {
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
            let known = scope
                .names
                .keys()
                .map(std::string::String::as_str)
                .chain(scope.sorts.values());
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
            operand(a, &Int, "`-`", scope, found);
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
            operand(index, &Int, "an index", scope, found);
            match infer(base, scope, found) {
                Array(of) => *of,
                String => String,
                Unknown => Unknown,
                other => {
                    found.push(Diagnostic::error(
                        codes::OPERAND_SORT,
                        base.span,
                        format!("only arrays and strings have elements, this is {other}"),
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

fn join(a: ResolvedSort, b: ResolvedSort) -> ResolvedSort {
    match (a, b) {
        (ResolvedSort::Unknown, b) => b,
        (a, b) if a == b => a,
        (a, b) if a.is_int() && b.is_int() => ResolvedSort::Int,
        (a, _) => a,
    }
}

fn same(expr: &Expr, a: &ResolvedSort, b: &ResolvedSort, what: &str, found: &mut Vec<Diagnostic>) {
    if !a.fits(b) {
        found.push(Diagnostic::error(
            codes::OPERAND_SORT,
            expr.span,
            format!("{what} has parts of different sorts: {a} and {b}"),
        ));
    }
}

fn operand(
    expr: &Expr,
    sort: &ResolvedSort,
    what: &str,
    scope: &Scope<'_>,
    found: &mut Vec<Diagnostic>,
) {
    let actual = infer(expr, scope, found);
    if !actual.fits(sort) {
        found.push(Diagnostic::error(
            codes::OPERAND_SORT,
            expr.span,
            format!("{what} needs {sort}, this is {actual}"),
        ));
    }
}

fn binary(
    expr: &Expr,
    op: BinaryOp,
    a: &Expr,
    b: &Expr,
    scope: &Scope<'_>,
    found: &mut Vec<Diagnostic>,
) -> ResolvedSort {
    use ResolvedSort::{Array, Bool, Int, String, Unknown};
    let symbol = format!("`{}`", op.symbol());
    match op {
        BinaryOp::Implies | BinaryOp::Or | BinaryOp::And => {
            operand(a, &Bool, &symbol, scope, found);
            operand(b, &Bool, &symbol, scope, found);
            Bool
        }
        BinaryOp::Eq | BinaryOp::Ne => {
            let (left, right) = (infer(a, scope, found), infer(b, scope, found));
            if !left.fits(&right) {
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
            if !right.fits(&Array(Box::new(left.clone()))) {
                let message =
                    format!("`in` asks for an element of an array, not {left} in {right}");
                found.push(Diagnostic::error(codes::OPERAND_SORT, expr.span, message));
            }
            Bool
        }
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
            operand(a, &Int, &symbol, scope, found);
            operand(b, &Int, &symbol, scope, found);
            Bool
        }
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Mod => {
            let before = found.len();
            operand(a, &Int, &symbol, scope, found);
            operand(b, &Int, &symbol, scope, found);
            if op == BinaryOp::Add
                && let Some(error) = found[before..]
                    .iter_mut()
                    .find(|d| d.message.ends_with("this is string"))
            {
                error.hint = Some("strings are joined with `++`".to_owned());
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

/// Functions that the language brings along: name, sorts of the arguments, sort of the result.
fn builtin(name: &str) -> Option<(&'static [ResolvedSort], ResolvedSort)> {
    use ResolvedSort::{Bool, Int, String};
    Some(match name {
        "abs" => (&[Int], Int),
        "min" | "max" => (&[Int, Int], Int),
        "prefix" | "suffix" | "contains" | "matches" => (&[String, String], Bool),
        "at" => (&[String, Int], String),
        "indexOf" => (&[String, String], Int),
        _ => return None,
    })
}

const BUILTINS: &[&str] = &[
    "abs", "at", "contains", "indexOf", "len", "matches", "max", "min", "prefix", "slice", "store",
    "suffix",
];

fn call(
    expr: &Expr,
    name: &Name,
    args: &[Expr],
    scope: &Scope<'_>,
    found: &mut Vec<Diagnostic>,
) -> ResolvedSort {
    use ResolvedSort::{Array, Int, String, Unknown};
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
    match name.text.as_str() {
        "len" => {
            if arity(1, found) && !matches!(sorts[0], String | Array(_) | Unknown) {
                found.push(Diagnostic::error(
                    codes::OPERAND_SORT,
                    args[0].span,
                    format!("`len` needs a string or an array, this is {}", sorts[0]),
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

fn wrong_arity(span: Span, variant: &Variant, given: usize) -> Diagnostic {
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

/// The field of whatever variant has one of this name.
fn sum_field(
    sum: &str,
    field: &Name,
    scope: &Scope<'_>,
    found: &mut Vec<Diagnostic>,
) -> ResolvedSort {
    let declared = scope.sorts.sum(sum).map_or(&[][..], |s| &s.variants);
    let fields = declared.iter().flat_map(|v| &v.fields);
    let same = fields.clone().filter(|f| f.name.text == field.text);
    let sorts: Vec<_> = same.map(|f| scope.sorts.resolve(&f.sort)).collect();
    let Some(first) = sorts.first() else {
        let known = fields.map(|f| f.name.text.as_str());
        let message = format!("no variant of `{sum}` has a field `{}`", field.text);
        found.push(
            Diagnostic::error(codes::UNKNOWN_FIELD, field.span, message)
                .maybe_hint(diagnostic::did_you_mean(&field.text, known)),
        );
        return ResolvedSort::Unknown;
    };
    if let Some(other) = sorts.iter().find(|s| !s.fits(first)) {
        let name = &field.text;
        let message =
            format!("`{name}` is {first} in one variant of `{sum}` and {other} in another");
        found.push(
            Diagnostic::error(codes::OPERAND_SORT, field.span, message)
                .hint("tell the variants apart with `match`"),
        );
    }
    first.clone()
}

/// The variants of a sort that can be told apart: those of a sum, or the values of an enumeration.
fn variants_of<'f>(sort: &ResolvedSort, scope: &Scope<'f>) -> Option<Vec<(&'f Name, &'f [Param])>> {
    match sort {
        ResolvedSort::Sum(name) => {
            let sum: &Sum = scope.sorts.sum(name)?;
            let variants = sum.variants.iter();
            Some(variants.map(|v| (&v.name, v.fields.as_slice())).collect())
        }
        ResolvedSort::Enum(name) => {
            let values = scope.sorts.enumeration(name)?.values.iter();
            Some(values.map(|v| (v, &[][..])).collect())
        }
        _ => None,
    }
}

/// The fields of a variant that a value of this sort may be of.
fn variant_of<'f>(
    sort: &ResolvedSort,
    variant: &Name,
    scope: &Scope<'f>,
    found: &mut Vec<Diagnostic>,
) -> Option<&'f [Param]> {
    if *sort == ResolvedSort::Unknown {
        return None;
    }
    let name = &variant.text;
    let Some(variants) = variants_of(sort, scope) else {
        let message = format!("{sort} has no variants, so nothing of it is `{name}`");
        found.push(Diagnostic::error(
            codes::OPERAND_SORT,
            variant.span,
            message,
        ));
        return None;
    };
    let declared = variants.iter().find(|(n, _)| n.text == *name);
    if declared.is_none() {
        let known = variants.iter().map(|(n, _)| n.text.as_str());
        found.push(
            Diagnostic::error(
                codes::UNKNOWN_VARIANT,
                variant.span,
                format!("`{sort}` has no variant `{name}`"),
            )
            .maybe_hint(diagnostic::did_you_mean(name, known)),
        );
    }
    declared.map(|(_, fields)| *fields)
}

fn cases(
    expr: &Expr,
    of: &Expr,
    arms: &[Arm],
    scope: &Scope<'_>,
    found: &mut Vec<Diagnostic>,
) -> ResolvedSort {
    let sort = infer(of, scope, found);
    if sort != ResolvedSort::Unknown && variants_of(&sort, scope).is_none() {
        let message = format!("`match` tells variants apart, and {sort} has none");
        found.push(Diagnostic::error(codes::OPERAND_SORT, of.span, message));
        return ResolvedSort::Unknown;
    }
    let mut result = ResolvedSort::Unknown;
    let mut seen: Vec<&str> = Vec::new();
    let mut complete = false;
    for arm in arms {
        let mut inner = scope.clone();
        let again = complete || matches!(&arm.variant, Some(v) if seen.contains(&v.text.as_str()));
        if again {
            let message = "this case is never reached: those before it take its values";
            found.push(Diagnostic::error(codes::MATCH_CASES, arm.span, message));
        }
        match &arm.variant {
            None => complete = true,
            Some(variant) => {
                seen.push(&variant.text);
                if let Some(fields) = variant_of(&sort, variant, scope, found) {
                    if !arm.fields.is_empty() && arm.fields.len() != fields.len() {
                        let (name, count) = (&variant.text, fields.len());
                        let message =
                            format!("`{name}` has {count} fields, not {}", arm.fields.len());
                        found.push(Diagnostic::error(codes::ARITY, arm.span, message));
                    }
                    for (name, field) in arm.fields.iter().zip(fields) {
                        inner.bind(&name.text, scope.sorts.resolve(&field.sort));
                    }
                } else {
                    for name in &arm.fields {
                        inner.bind(&name.text, ResolvedSort::Unknown);
                    }
                }
                for name in &arm.fields {
                    let known = scope.sorts;
                    if known.variant(&name.text).is_some() || known.value(&name.text).is_some() {
                        let message = format!("`{}` is a variant, and a name is wanted", name.text);
                        found.push(
                            Diagnostic::error(codes::MATCH_CASES, name.span, message)
                                .hint("cases look one level deep; look at the field in the value"),
                        );
                    }
                }
                let named = arm.fields.iter().filter(|f| f.text != "_");
                super::duplicates(named, "name of a field", codes::DUPLICATE_NAME, found);
            }
        }
        let next = infer(&arm.body, &inner, found);
        same(&arm.body, &result, &next, "`match`", found);
        result = join(result, next);
    }
    let all = variants_of(&sort, scope).unwrap_or_default();
    let missing: Vec<String> = all
        .iter()
        .filter(|(n, _)| !seen.contains(&n.text.as_str()))
        .map(|(n, _)| format!("`{}`", n.text))
        .collect();
    if !complete && (!missing.is_empty() || arms.is_empty()) {
        let message = format!("`match` has no case for {}", missing.join(", "));
        found.push(
            Diagnostic::error(codes::MATCH_CASES, expr.span, message)
                .hint("`_ => …` takes all that the other cases leave"),
        );
    }
    result
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

fn record(
    expr: &Expr,
    name: &Name,
    fields: &[(Name, Expr)],
    scope: &Scope<'_>,
    found: &mut Vec<Diagnostic>,
) -> ResolvedSort {
    if let Some((sum, variant)) = scope.sorts.variant(&name.text) {
        let what = format!("variant `{}`", name.text);
        named_fields(expr, &what, &variant.fields, fields, scope, found);
        return ResolvedSort::Sum(sum.name.text.clone());
    }
    let Some(declared) = scope.sorts.record(&name.text) else {
        for (_, value) in fields {
            infer(value, scope, found);
        }
        let spoilt = scope.sorts.spoilt();
        if !spoilt.may_declare(&name.text) && !spoilt.may_have_value(&name.text) {
            found.push(Diagnostic::error(
                codes::UNKNOWN_SORT,
                name.span,
                format!("no record is called `{}`", name.text),
            ));
        }
        return ResolvedSort::Unknown;
    };
    let what = format!("record `{}`", name.text);
    named_fields(expr, &what, &declared.fields, fields, scope, found);
    ResolvedSort::Record(name.text.clone())
}

/// The values of fields that are given by name.
fn named_fields(
    expr: &Expr,
    what: &str,
    declared: &[Param],
    fields: &[(Name, Expr)],
    scope: &Scope<'_>,
    found: &mut Vec<Diagnostic>,
) {
    super::duplicates(
        fields.iter().map(|(n, _)| n),
        "the value of field",
        codes::DUPLICATE_NAME,
        found,
    );
    let names = declared.iter().map(|f| &f.name);
    for (field, value) in fields {
        if let Some(f) = declared.iter().find(|f| f.name.text == field.text) {
            let sort = scope.sorts.resolve(&f.sort);
            scope.expect(value, &sort, &format!("field `{}`", field.text), found);
        } else {
            infer(value, scope, found);
            let known = names.clone().map(|n| n.text.as_str());
            found.push(
                Diagnostic::error(
                    codes::UNKNOWN_FIELD,
                    field.span,
                    format!("{what} has no field `{}`", field.text),
                )
                .maybe_hint(diagnostic::did_you_mean(&field.text, known)),
            );
        }
    }
    let missing: Vec<_> = names
        .filter(|n| !fields.iter().any(|(f, _)| f.text == n.text))
        .map(|n| format!("`{}`", n.text))
        .collect();
    if !missing.is_empty() {
        found.push(Diagnostic::error(
            codes::MISSING_FIELD,
            expr.span,
            format!("{what} lacks {}", missing.join(", ")),
        ));
    }
}
