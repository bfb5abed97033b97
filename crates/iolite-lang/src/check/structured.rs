//! Values that have parts: variants of sums, the cases of a `match`, records.

use super::expr::infer;
use super::operator::{join, same};
use super::pattern;
use super::scope::Scope;
use super::sorts::ResolvedSort;
use crate::syntax::ast::{Arm, Expr, Name, Param, Sum};
use crate::{Diagnostic, codes, diagnostic};

/// The field of whatever variant has one of this name.
pub(super) fn sum_field(
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

pub(super) fn cases(
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

pub(super) fn record(
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
