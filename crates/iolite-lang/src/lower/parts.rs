//! The parts of a composition: one walk over parallel composition, hiding, renaming, calls and
//! `each`, whatever the parts are made into.

use std::collections::BTreeSet;

use iolite_lts::Gates;

use super::term::Scope;
use crate::names::Names;
use crate::syntax::ast::{
    Behaviour, BehaviourKind, Definition, Expr, ExprKind, Item, Machine, Name, Sync, UnaryOp,
};
use crate::{Diagnostic, Span, codes};

/// A composition of more parts than this is refused.
pub const MOST_COMPONENTS: usize = 1024;

pub(super) type Result<T, E = Vec<Diagnostic>> = std::result::Result<T, E>;

/// What a composition is made into.
pub(super) trait Target<'f> {
    /// A part, or parts composed.
    type Part;

    /// An instance of a machine, with values for its constants.
    fn machine(
        &mut self,
        machine: &'f Machine,
        args: &'f [(Name, Expr)],
        scope: &Scope,
    ) -> Result<Self::Part>;

    /// Whether a definition is one part, made as a whole, and not composed of the parts it names;
    /// `depth` definitions are being composed around it.
    fn is_one_part(&mut self, definition: &'f Definition, depth: usize) -> Result<bool>;

    /// A definition made as a whole.
    fn definition(&mut self, item: &'f Item) -> Result<Self::Part>;

    /// Sequential behaviour that stands in the definition called `whose`.
    fn behaviour(&mut self, node: &'f Behaviour, whose: &str) -> Result<Self::Part>;

    /// Parts that run together, at least one.
    fn compose(&self, parts: Vec<Self::Part>, gates: &Gates, span: Span) -> Result<Self::Part>;

    /// Labels made internal.
    fn hide(&self, part: Self::Part, labels: &[Name], span: Span) -> Result<Self::Part>;

    /// Labels under new names.
    fn rename(&self, part: Self::Part, pairs: &[(Name, Name)], span: Span) -> Result<Self::Part>;
}

/// Walks the operators of compositions.
pub(super) struct Composer<'f, T> {
    names: &'f Names<'f>,
    target: T,
    /// Definitions that are being composed.
    open: BTreeSet<&'f str>,
    components: usize,
}

impl<'f, T: Target<'f>> Composer<'f, T> {
    pub(super) fn new(names: &'f Names<'f>, target: T) -> Self {
        Self {
            names,
            target,
            open: BTreeSet::new(),
            components: 0,
        }
    }

    pub(super) fn item(
        &mut self,
        item: &'f Item,
        args: &'f [(Name, Expr)],
        scope: &Scope,
    ) -> Result<T::Part> {
        match item {
            Item::Machine(machine) => {
                self.component(machine.name.span)?;
                self.target.machine(machine, args, scope)
            }
            Item::Definition(definition) => {
                if self.target.is_one_part(definition, self.open.len())? {
                    self.component(definition.name.span)?;
                    return self.target.definition(item);
                }
                let name = definition.name.text.as_str();
                self.open.insert(name);
                let built = self.behaviour(&definition.body, name, scope);
                self.open.remove(name);
                built
            }
            _ => Err(vec![Diagnostic::error(
                codes::WRONG_KIND,
                item.name().span,
                "only systems and processes can be composed",
            )]),
        }
    }

    fn component(&mut self, span: Span) -> Result<()> {
        self.components += 1;
        if self.components > MOST_COMPONENTS {
            return Err(vec![Diagnostic::error(
                codes::OVER_BUDGET,
                span,
                format!("the composition has more than {MOST_COMPONENTS} parts"),
            )]);
        }
        Ok(())
    }

    fn behaviour(&mut self, node: &'f Behaviour, whose: &str, scope: &Scope) -> Result<T::Part> {
        match &node.kind {
            BehaviourKind::Parallel { sync, parts } => {
                let parts = parts
                    .iter()
                    .map(|p| self.behaviour(p, whose, scope))
                    .collect::<Result<Vec<_>>>()?;
                self.target.compose(parts, &gates(sync), node.span)
            }
            BehaviourKind::Each {
                index,
                range,
                sync,
                body,
            } => {
                let count = count(range, body).map_err(|d| vec![d])?;
                let first = literal(&range.0).unwrap_or(0);
                let parts = (0..count)
                    .map(|k| {
                        let mut inner = scope.clone();
                        let number = first.saturating_add(i64::try_from(k).unwrap_or(i64::MAX));
                        inner.insert(index.text.clone(), number.into());
                        self.behaviour(body, whose, &inner)
                    })
                    .collect::<Result<Vec<_>>>()?;
                self.target.compose(parts, &gates(sync), node.span)
            }
            BehaviourKind::Hide { labels, body } => {
                let part = self.behaviour(body, whose, scope)?;
                self.target.hide(part, labels, node.span)
            }
            BehaviourKind::Rename { pairs, body } => {
                let part = self.behaviour(body, whose, scope)?;
                self.target.rename(part, pairs, node.span)
            }
            BehaviourKind::Call { name, args } => {
                let item = self
                    .names
                    .behaviour(&name.text, name.span)
                    .map_err(|d| vec![d])?;
                self.item(item, args, scope)
            }
            BehaviourKind::Stop
            | BehaviourKind::Prefix { .. }
            | BehaviourKind::Choice(_)
            | BehaviourKind::Error => {
                self.component(node.span)?;
                self.target.behaviour(node, whose)
            }
        }
    }
}

fn gates(sync: &Sync) -> Gates {
    match sync {
        Sync::All => Gates::All,
        Sync::Interleave => Gates::None,
        Sync::On(names) => Gates::Names(names.iter().map(|n| n.text.clone()).collect()),
    }
}

/// Why nothing came of composing no parts.
pub(super) fn no_parts(span: Span) -> Vec<Diagnostic> {
    vec![Diagnostic::error(
        codes::EACH_RANGE,
        span,
        "the composition has no parts",
    )]
}

/// How many instances `each` makes.
pub(super) fn count(range: &(Box<Expr>, Box<Expr>), body: &Behaviour) -> Result<usize, Diagnostic> {
    let (Some(first), Some(last)) = (literal(&range.0), literal(&range.1)) else {
        return Err(Diagnostic::error(
            codes::EACH_RANGE,
            range.0.span.to(range.1.span),
            "the range of `each` must be two numbers",
        ));
    };
    match usize::try_from(last.saturating_sub(first).saturating_add(1)) {
        Ok(count @ 1..=MOST_COMPONENTS) => Ok(count),
        _ => Err(Diagnostic::error(
            codes::EACH_RANGE,
            range.0.span.to(range.1.span),
            format!("`each` makes between 1 and {MOST_COMPONENTS} instances"),
        )
        .related(body.span, "of this")),
    }
}

fn literal(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Int(digits) => digits.parse().ok(),
        ExprKind::Unary(UnaryOp::Neg, inner) => literal(inner).map(|n| -n),
        _ => None,
    }
}
