//! Sorts of expressions.

use std::collections::BTreeMap;

use super::pattern;
use super::sorts::{ResolvedSort, Sorts, constant, field_names};
use iolite_expr::MAX_SCALE;

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
            let message = format!("{what} is of sort {sort}, but this is {actual}");
            let error = Diagnostic::error(codes::SORT_MISMATCH, expr.span, message);
            found.push(error.maybe_hint(decimal_hint(&actual, sort)));
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

/// How a decimal comes to a sort with fewer places.
fn decimal_hint(actual: &ResolvedSort, wanted: &ResolvedSort) -> Option<String> {
    match (actual, wanted) {
        (ResolvedSort::Decimal(_), ResolvedSort::Decimal(places)) => {
            Some(format!("`round(…, {places})` has {places} places"))
        }
        (ResolvedSort::Decimal(_), _) if wanted.is_int() => {
            Some("`round(…)`, `floor(…)` and `ceil(…)` are integers".to_owned())
        }
        _ => None,
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

fn join(a: ResolvedSort, b: ResolvedSort) -> ResolvedSort {
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

fn same(expr: &Expr, a: &ResolvedSort, b: &ResolvedSort, what: &str, found: &mut Vec<Diagnostic>) {
    if !a.goes_with(b) {
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
    wrong_operand(expr, &actual, sort, what, found);
}

fn wrong_operand(
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

fn decimal_literal(span: Span, text: &str, found: &mut Vec<Diagnostic>) -> ResolvedSort {
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

fn binary(
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

fn call(
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
pub(super) fn variants_of<'f>(
    sort: &ResolvedSort,
    scope: &Scope<'f>,
) -> Option<Vec<(&'f Name, &'f [Param])>> {
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
pub(super) fn variant_of<'f>(
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
    if matches!(
        sort,
        ResolvedSort::Record(_)
            | ResolvedSort::Array(_)
            | ResolvedSort::Set(_)
            | ResolvedSort::Map(..)
    ) {
        let message = format!("`match` tells variants and literals apart, and {sort} has neither");
        found.push(Diagnostic::error(codes::OPERAND_SORT, of.span, message));
        return ResolvedSort::Unknown;
    }
    let wrong = |d: &Diagnostic| matches!(d.code, codes::UNKNOWN_VARIANT | codes::OPERAND_SORT);
    let mut sound = sort != ResolvedSort::Unknown;
    let mut result = ResolvedSort::Unknown;
    for arm in arms {
        let mut inner = scope.clone();
        let before = found.len();
        pattern::bind(&arm.pattern, &sort, scope, &mut inner, true, found);
        sound &= !found[before..].iter().any(wrong);
        let mut names = Vec::new();
        pattern::names(&arm.pattern, scope, &mut names);
        let named = names.into_iter();
        super::duplicates(named, "name of a field", codes::DUPLICATE_NAME, found);
        let next = infer(&arm.body, &inner, found);
        same(&arm.body, &result, &next, "`match`", found);
        result = join(result, next);
    }
    // Of a pattern that is wrong nobody knows what it takes.
    if sound {
        pattern::coverage(expr.span, &sort, arms, scope, found);
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
