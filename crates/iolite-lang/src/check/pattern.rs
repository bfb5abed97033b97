//! Patterns of `match`: sorts, cases that nothing reaches and values that no case takes.
//!
//! Whether a row of patterns takes a value that the rows before it leave is asked column by column: by
//! each constructor of the first column's sort, or by one that no row names.

use super::scope::Scope;
use super::sorts::{ResolvedSort, constant};
use super::structured::{variant_of, variants_of};
use crate::syntax::ast::{Arm, Expr, ExprKind, Name, Param, Pattern, PatternKind, UnaryOp};
use crate::{Diagnostic, Span, codes, diagnostic};

/// Questions about rows before the cases count as too many.
const MOST_QUESTIONS: u32 = 20_000;
/// Missing cases that a message names.
const MOST_NAMED: usize = 4;
/// Values of a range that are told apart one by one.
const MOST_VALUES: i128 = 64;

/// A pattern without names.
#[derive(Clone)]
enum Row {
    Any,
    /// A variant, a value or a literal, as it is written, with patterns for its fields.
    Of(String, Vec<Row>),
}

/// A constructor of a sort, with the sorts of its fields.
type Constructor = (String, Vec<ResolvedSort>);

/// Binds the names of a pattern for a value of this sort, and reports what cannot be.
pub(super) fn bind(
    pattern: &Pattern,
    sort: &ResolvedSort,
    scope: &Scope<'_>,
    inner: &mut Scope<'_>,
    outermost: bool,
    found: &mut Vec<Diagnostic>,
) {
    match &pattern.kind {
        PatternKind::Any => {}
        PatternKind::Literal(literal) => {
            let actual = super::expr::infer(literal, scope, found);
            let told = match sort {
                ResolvedSort::Array(_)
                | ResolvedSort::Set(_)
                | ResolvedSort::Map(..)
                | ResolvedSort::Record(_) => false,
                _ => actual.fits(sort),
            };
            if !told {
                let message = format!("a case for {actual}, and the value is {sort}");
                found.push(Diagnostic::error(
                    codes::OPERAND_SORT,
                    pattern.span,
                    message,
                ));
            }
        }
        PatternKind::Name(name) => {
            let declared = scope.sorts.variant(&name.text).is_some()
                || scope.sorts.value(&name.text).is_some();
            let variants = variants_of(sort, scope);
            if declared || outermost && variants.is_some() {
                variant_of(sort, name, scope, found);
                return;
            }
            // Most likely a variant that is misspelt, and else it would take everything.
            let known = variants.iter().flatten().map(|(n, _)| n.text.as_str());
            if let Some(hint) = diagnostic::did_you_mean(&name.text, known) {
                let message = format!("`{sort}` has no variant `{}`", name.text);
                found
                    .push(Diagnostic::error(codes::UNKNOWN_VARIANT, name.span, message).hint(hint));
            }
            inner.bind(&name.text, sort.clone());
        }
        PatternKind::Variant(variant, fields) => {
            let declared = variant_of(sort, variant, scope, found);
            if let Some(declared) = declared
                && declared.len() != fields.len()
            {
                let (name, count) = (&variant.text, declared.len());
                let message = format!("`{name}` has {count} fields, not {}", fields.len());
                found.push(Diagnostic::error(codes::ARITY, pattern.span, message));
            }
            for (i, field) in fields.iter().enumerate() {
                let of = declared.and_then(|d| d.get(i));
                let of = of.map_or(ResolvedSort::Unknown, |f| scope.sorts.resolve(&f.sort));
                bind(field, &of, scope, inner, false, found);
            }
        }
    }
}

/// The names that a pattern binds.
pub(super) fn names<'p>(pattern: &'p Pattern, scope: &Scope<'_>, out: &mut Vec<&'p Name>) {
    match &pattern.kind {
        PatternKind::Name(name)
            if scope.sorts.variant(&name.text).is_none()
                && scope.sorts.value(&name.text).is_none() =>
        {
            out.push(name);
        }
        PatternKind::Variant(_, fields) => {
            for f in fields {
                names(f, scope, out);
            }
        }
        _ => {}
    }
}

/// Cases that are never reached, and values without a case.
pub(super) fn coverage(
    span: Span,
    sort: &ResolvedSort,
    arms: &[Arm],
    scope: &Scope<'_>,
    found: &mut Vec<Diagnostic>,
) {
    let sorts = [sort.clone()];
    let mut questions = MOST_QUESTIONS;
    let mut rows: Vec<Vec<Row>> = Vec::new();
    for arm in arms {
        let row = vec![row_of(&arm.pattern, scope)];
        match left(&rows, &row, &sorts, scope, &mut questions) {
            Ok(Some(_)) => rows.push(row),
            Ok(None) => {
                let message = "this case is never reached: those before it take its values";
                found.push(Diagnostic::error(
                    codes::MATCH_CASES,
                    arm.pattern.span,
                    message,
                ));
            }
            Err(TooMany) => {
                found.push(too_many(span));
                return;
            }
        }
    }
    let mut missing: Vec<String> = Vec::new();
    while missing.len() <= MOST_NAMED {
        match left(&rows, &[Row::Any], &sorts, scope, &mut questions) {
            Ok(None) => break,
            Err(TooMany) => {
                found.push(too_many(span));
                return;
            }
            Ok(Some(mut witness)) => {
                let Some(row) = witness.pop() else { break };
                missing.push(match &row {
                    Row::Any => "other values".to_owned(),
                    row @ Row::Of(..) => format!("`{}`", shown(row)),
                });
                rows.push(vec![row]);
            }
        }
    }
    if missing.is_empty() && !arms.is_empty() {
        return;
    }
    if missing.len() > MOST_NAMED {
        "others".clone_into(&mut missing[MOST_NAMED]);
    }
    let message = format!("`match` has no case for {}", missing.join(", "));
    found.push(
        Diagnostic::error(codes::MATCH_CASES, span, message)
            .hint("`_ => …` takes all that the other cases leave"),
    );
}

fn too_many(span: Span) -> Diagnostic {
    let message = "the cases are too many to tell whether they take every value";
    Diagnostic::error(codes::MATCH_CASES, span, message)
        .hint("look at one part after the other, with a `match` within a `match`")
}

fn row_of(pattern: &Pattern, scope: &Scope<'_>) -> Row {
    match &pattern.kind {
        PatternKind::Any => Row::Any,
        PatternKind::Literal(literal) => Row::Of(literal_text(literal), Vec::new()),
        PatternKind::Name(name) => {
            let known = scope.sorts.value(&name.text).is_some();
            match scope.sorts.variant(&name.text) {
                Some((_, v)) => Row::Of(name.text.clone(), vec![Row::Any; v.fields.len()]),
                None if known => Row::Of(name.text.clone(), Vec::new()),
                None => Row::Any,
            }
        }
        PatternKind::Variant(name, fields) => {
            let mut fields: Vec<Row> = fields.iter().map(|f| row_of(f, scope)).collect();
            if let Some((_, v)) = scope.sorts.variant(&name.text) {
                fields.resize(v.fields.len(), Row::Any);
            }
            Row::Of(name.text.clone(), fields)
        }
    }
}

/// Equal values have equal texts.
fn literal_text(literal: &Expr) -> String {
    if let Some(n) = constant(literal) {
        return n.to_string();
    }
    match &literal.kind {
        ExprKind::Bool(b) => b.to_string(),
        ExprKind::Str(text) => format!("{text:?}"),
        ExprKind::Int(digits) => digits.trim_start_matches('0').to_owned(),
        ExprKind::Decimal(digits) => {
            let digits = digits.trim_start_matches('0').trim_end_matches('0');
            let digits = digits.strip_suffix('.').unwrap_or(digits);
            match digits {
                "" => "0".to_owned(),
                fraction if fraction.starts_with('.') => format!("0{fraction}"),
                digits => digits.to_owned(),
            }
        }
        ExprKind::Unary(UnaryOp::Neg, a) => match literal_text(a) {
            zero if zero == "0" => zero,
            digits => format!("-{digits}"),
        },
        _ => "?".to_owned(),
    }
}

/// All constructors of a sort; none where its values cannot be listed.
fn constructors(sort: &ResolvedSort, scope: &Scope<'_>) -> Option<Vec<Constructor>> {
    match sort {
        ResolvedSort::Bool => Some(vec![
            ("true".to_owned(), Vec::new()),
            ("false".to_owned(), Vec::new()),
        ]),
        ResolvedSort::Range(Some(first), Some(last))
            if last.checked_sub(*first).is_some_and(|n| n < MOST_VALUES) =>
        {
            let values = (*first..=*last).map(|n| (n.to_string(), Vec::new()));
            Some(values.collect())
        }
        _ => {
            let variants = variants_of(sort, scope)?.into_iter();
            let fields = |fields: &[Param]| {
                let fields = fields.iter();
                fields.map(|f| scope.sorts.resolve(&f.sort)).collect()
            };
            Some(
                variants
                    .map(|(name, of)| (name.text.clone(), fields(of)))
                    .collect(),
            )
        }
    }
}

/// There were more questions than are asked.
struct TooMany;

/// A value that a row takes and that those before it leave, if there is one.
fn left(
    rows: &[Vec<Row>],
    asked: &[Row],
    sorts: &[ResolvedSort],
    scope: &Scope<'_>,
    questions: &mut u32,
) -> Result<Option<Vec<Row>>, TooMany> {
    *questions = questions.checked_sub(1).ok_or(TooMany)?;
    let (Some(first), Some(sort)) = (asked.first(), sorts.first()) else {
        return Ok(rows.is_empty().then(Vec::new));
    };
    let by = |name: &str,
              fields: &[ResolvedSort],
              questions: &mut u32|
     -> Result<Option<Vec<Row>>, TooMany> {
        let arity = fields.len();
        let apart = |row: &[Row]| -> Option<Vec<Row>> {
            let mut parts = match &row[0] {
                Row::Any => vec![Row::Any; arity],
                Row::Of(own, parts) if own == name => {
                    let mut parts = parts.clone();
                    parts.resize(arity, Row::Any);
                    parts
                }
                Row::Of(..) => return None,
            };
            parts.extend_from_slice(&row[1..]);
            Some(parts)
        };
        let rows: Vec<Vec<Row>> = rows.iter().filter_map(|r| apart(r)).collect();
        let Some(asked) = apart(asked) else {
            return Ok(None);
        };
        let mut inner = fields.to_vec();
        inner.extend_from_slice(&sorts[1..]);
        let witness = left(&rows, &asked, &inner, scope, questions)?;
        Ok(witness.map(|mut parts| {
            let rest = parts.split_off(arity);
            let mut whole = vec![Row::Of(name.to_owned(), parts)];
            whole.extend(rest);
            whole
        }))
    };
    let all = constructors(sort, scope);
    if let Row::Of(name, parts) = first {
        let fields = all
            .as_ref()
            .and_then(|all| all.iter().find(|(n, _)| n == name))
            .map_or_else(
                || vec![ResolvedSort::Unknown; parts.len()],
                |(_, fields)| fields.clone(),
            );
        return by(name, &fields, questions);
    }
    let named = |name: &str| {
        let mut firsts = rows.iter().map(|r| &r[0]);
        firsts.any(|r| matches!(r, Row::Of(own, _) if own == name))
    };
    if let Some(all) = all.as_ref().filter(|all| all.iter().all(|(n, _)| named(n))) {
        for (name, fields) in all {
            if let Some(witness) = by(name, fields, questions)? {
                return Ok(Some(witness));
            }
        }
        return Ok(None);
    }
    // Some constructor is named by no row: only rows that take anything take it.
    let others = rows.iter().filter(|r| matches!(r[0], Row::Any));
    let others: Vec<Vec<Row>> = others.map(|r| r[1..].to_vec()).collect();
    let witness = left(&others, &asked[1..], &sorts[1..], scope, questions)?;
    let other = all.and_then(|all| all.into_iter().find(|(n, _)| !named(n)));
    let other = match other {
        Some((name, fields)) => Row::Of(name, vec![Row::Any; fields.len()]),
        None => Row::Any,
    };
    Ok(witness.map(|rest| {
        let mut whole = vec![other];
        whole.extend(rest);
        whole
    }))
}

fn shown(row: &Row) -> String {
    match row {
        Row::Any => "_".to_owned(),
        Row::Of(name, fields) if fields.iter().all(|f| matches!(f, Row::Any)) => name.clone(),
        Row::Of(name, fields) => {
            let fields: Vec<String> = fields.iter().map(shown).collect();
            format!("{name}({})", fields.join(", "))
        }
    }
}
