//! The names that an expression may read, and the sort that it must have.

use std::collections::BTreeMap;

use super::expr::infer;
use super::sorts::{ResolvedSort, Sorts, constant};
use crate::syntax::ast::Expr;
use crate::{Diagnostic, codes};

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

    /// The sort of a name.
    pub(super) fn sort_of(&self, name: &str) -> Option<&ResolvedSort> {
        self.names.get(name)
    }

    /// The names, in alphabetical order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// Adds a name; the sort it had before, if any.
    pub(super) fn bind(&mut self, name: &str, sort: ResolvedSort) -> Option<ResolvedSort> {
        self.names.insert(name.to_owned(), sort)
    }

    /// The scope with one more name, which may hide another one.
    pub(super) fn with(&self, name: &str, sort: ResolvedSort) -> Self {
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
pub(super) fn decimal_hint(actual: &ResolvedSort, wanted: &ResolvedSort) -> Option<String> {
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
