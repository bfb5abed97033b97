//! The parallel assignments of a transition.

use std::collections::{BTreeMap, BTreeSet};

use iolite_expr::{Op, Sort, Term, Var};

use super::Result;
use crate::lower::term::{Scope, Terms, place, type_error};
use crate::syntax::ast::{Effect, Expr, ExprKind};
use crate::{Diagnostic, codes};

/// Makes the assignments of one transition. Writes to parts of one variable become one write of
/// the whole; all of them read old values, and of two that hit the same part the later one counts.
pub(super) struct Assignments<'a, 'f> {
    terms: &'a Terms<'f>,
    scope: &'a Scope,
    variables: &'a BTreeMap<&'a str, Var>,
    /// New values so far.
    pending: Scope,
}

impl<'a, 'f> Assignments<'a, 'f> {
    pub(super) fn new(
        terms: &'a Terms<'f>,
        scope: &'a Scope,
        variables: &'a BTreeMap<&'a str, Var>,
    ) -> Self {
        Self {
            terms,
            scope,
            variables,
            pending: Scope::new(),
        }
    }

    pub(super) fn of(mut self, effects: &[Effect]) -> Result<Vec<(Var, Term)>, Diagnostic> {
        let mut order: Vec<&str> = Vec::new();
        let mut whole = BTreeSet::new();
        for effect in effects {
            let root = root(&effect.place);
            let var = root.and_then(|r| self.variables.get(r));
            let (Some(root), Some(_)) = (root, var) else {
                return Err(Diagnostic::error(
                    codes::ASSIGNED_CONSTANT,
                    effect.place.span,
                    "only variables, their elements and their fields can be assigned to",
                ));
            };
            let is_whole = matches!(effect.place.kind, ExprKind::Name(_));
            if order.contains(&root) && (is_whole || whole.contains(root)) {
                return Err(Diagnostic::error(
                    codes::ASSIGNED_TWICE,
                    effect.place.span,
                    format!("`{root}` is assigned twice, and assignments are parallel"),
                ));
            }
            if is_whole {
                whole.insert(root);
            }
            let current = self.read(&effect.place)?;
            let value = self
                .terms
                .term(&effect.value, self.scope, Some(current.sort()))?;
            let new = self.write(&effect.place, value)?;
            self.pending.insert(root.to_owned(), new);
            if !order.contains(&root) {
                order.push(root);
            }
        }
        Ok(order
            .into_iter()
            .filter_map(|root| {
                let new = self.pending.get(root)?.clone();
                Some((self.variables.get(root)?.clone(), new))
            })
            .collect())
    }

    /// The present value of a place, with the writes that came before.
    fn read(&self, at: &Expr) -> Result<Term, Diagnostic> {
        let typed = |e| type_error(&e, at.span);
        match &at.kind {
            ExprKind::Name(name) if self.pending.contains_key(name) => {
                Ok(self.pending[name].clone())
            }
            ExprKind::Index(base, index) => {
                let base = self.read(base)?;
                let (op, index) = match base.sort() {
                    Sort::Map(m) => (Op::Lookup, self.terms.key(index, self.scope, &m.0)?),
                    _ => (Op::Select, self.terms.term(index, self.scope, None)?),
                };
                Term::apply(op, vec![base, index], place(at.span)).map_err(typed)
            }
            ExprKind::Field(base, field) => {
                Term::field(self.read(base)?, &field.text, place(at.span)).map_err(typed)
            }
            _ => self.terms.term(at, self.scope, None),
        }
    }

    /// The new value of the variable that a place is part of.
    fn write(&self, at: &Expr, value: Term) -> Result<Term, Diagnostic> {
        let typed = |e| type_error(&e, at.span);
        match &at.kind {
            ExprKind::Index(base, index) => {
                let old = self.read(base)?;
                let (op, index) = match old.sort() {
                    Sort::Map(m) => (Op::Put, self.terms.key(index, self.scope, &m.0)?),
                    _ => (Op::Store, self.terms.term(index, self.scope, None)?),
                };
                let args = vec![old, index, value];
                let new = Term::apply(op, args, place(at.span)).map_err(typed)?;
                self.write(base, new)
            }
            ExprKind::Field(base, field) => {
                let old = self.read(base)?;
                let new = Term::update(old, &field.text, value, place(at.span)).map_err(typed)?;
                self.write(base, new)
            }
            _ => Ok(value),
        }
    }
}

fn root(place: &Expr) -> Option<&str> {
    match &place.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Index(base, _) | ExprKind::Field(base, _) => root(base),
        _ => None,
    }
}
