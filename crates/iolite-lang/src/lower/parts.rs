//! The parts of a composition: one walk over parallel composition, hiding, renaming, calls and
//! `each`, whatever the parts are made into.

use std::collections::BTreeSet;

use super::process::{Context, Ending, Endings};
use super::term::Scope;
use crate::gate::Pattern;
use crate::syntax::ast::{Behaviour, BehaviourKind, Definition, Expr, Item, Machine, Name, Sync};
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

    /// Whether a composition is one part, too.
    fn is_one_behaviour(&self, node: &'f Behaviour) -> bool;

    /// A definition made as a whole, with values for its parameters.
    fn definition(&mut self, item: &'f Item, scope: &Scope, ending: Ending) -> Result<Self::Part>;

    /// A behaviour that stands in the definition called `whose`.
    fn behaviour(
        &mut self,
        node: &'f Behaviour,
        whose: &str,
        scope: &Scope,
        ending: Ending,
    ) -> Result<Self::Part>;

    /// Parts that run together, at least one.
    fn compose(&self, parts: Vec<Self::Part>, gates: &Meeting, span: Span) -> Result<Self::Part>;

    /// Labels made internal.
    fn hide(&self, part: Self::Part, labels: &[Pattern], span: Span) -> Result<Self::Part>;

    /// Labels under new names.
    fn rename(
        &self,
        part: Self::Part,
        pairs: &[(Pattern, Pattern)],
        span: Span,
    ) -> Result<Self::Part>;
}

/// On what parts meet.
pub(super) enum Meeting {
    /// Every visible action.
    All,
    /// None.
    None,
    /// These.
    On(Vec<Pattern>),
}

/// Walks the operators of compositions.
pub(super) struct Composer<'f, T> {
    context: Context<'f>,
    target: T,
    /// Definitions that are being composed.
    open: BTreeSet<&'f str>,
    components: usize,
    endings: Endings<'f>,
}

impl<'f, T: Target<'f>> Composer<'f, T> {
    pub(super) fn new(context: Context<'f>, target: T) -> Self {
        Self {
            context,
            target,
            open: BTreeSet::new(),
            components: 0,
            endings: Endings::new(context.names),
        }
    }

    /// A declaration by itself.
    pub(super) fn whole(&mut self, item: &'f Item) -> Result<T::Part> {
        let at = item.name().span;
        self.item(item, &[], &Scope::new(), at, Ending::Internal)
    }

    /// A declaration called at `at`.
    fn item(
        &mut self,
        item: &'f Item,
        args: &'f [(Name, Expr)],
        scope: &Scope,
        at: Span,
        ending: Ending,
    ) -> Result<T::Part> {
        match item {
            Item::Machine(machine) => {
                self.component(machine.name.span)?;
                self.target.machine(machine, args, scope)
            }
            Item::Definition(definition) => {
                let terms = self.context.terms;
                let scope = terms.parameters(definition, args, scope, at);
                let scope = scope.map_err(|d| vec![d])?;
                if self.target.is_one_part(definition, self.open.len())? {
                    self.component(definition.name.span)?;
                    return self.target.definition(item, &scope, ending);
                }
                let name = definition.name.text.as_str();
                self.open.insert(name);
                let built = self.behaviour(&definition.body, name, &scope, ending);
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

    /// A behaviour as one part.
    fn one_part(
        &mut self,
        node: &'f Behaviour,
        whose: &str,
        scope: &Scope,
        ending: Ending,
    ) -> Result<T::Part> {
        self.component(node.span)?;
        self.target.behaviour(node, whose, scope, ending)
    }

    fn behaviour(
        &mut self,
        node: &'f Behaviour,
        whose: &str,
        scope: &Scope,
        ending: Ending,
    ) -> Result<T::Part> {
        let terms = self.context.terms;
        let one = |d| vec![d];
        if !matches!(node.kind, BehaviourKind::Call { .. }) && self.target.is_one_behaviour(node) {
            return self.one_part(node, whose, scope, ending);
        }
        match &node.kind {
            // Parts that exit together are no parts of their own.
            BehaviourKind::Parallel { .. } | BehaviourKind::Each { .. }
                if self.endings.may_exit(node) =>
            {
                self.one_part(node, whose, scope, ending)
            }
            BehaviourKind::Parallel { sync, parts } => {
                let parts = parts
                    .iter()
                    .map(|p| self.behaviour(p, whose, scope, Ending::Never))
                    .collect::<Result<Vec<_>>>()?;
                let gates = self.meeting(sync, scope)?;
                self.target.compose(parts, &gates, node.span)
            }
            BehaviourKind::Each {
                index,
                range,
                sync,
                body,
            } => {
                let mut inner = scope.clone();
                let mut parts = Vec::new();
                for value in terms.indices(range, body, scope).map_err(one)? {
                    inner.insert(index.text.clone(), value);
                    parts.push(self.behaviour(body, whose, &inner, Ending::Never)?);
                }
                let gates = self.meeting(sync, scope)?;
                self.target.compose(parts, &gates, node.span)
            }
            BehaviourKind::Hide { labels, body } => {
                let part = self.behaviour(body, whose, scope, ending)?;
                let labels = terms.patterns(labels, scope).map_err(one)?;
                self.target.hide(part, &labels, node.span)
            }
            BehaviourKind::Rename { pairs, body } => {
                let part = self.behaviour(body, whose, scope, ending)?;
                let pairs = terms.pattern_pairs(pairs, scope).map_err(one)?;
                self.target.rename(part, &pairs, node.span)
            }
            BehaviourKind::Guard { condition, body }
                if terms.holds(condition, scope).map_err(one)? =>
            {
                self.behaviour(body, whose, scope, ending)
            }
            BehaviourKind::Let {
                name,
                sort,
                value,
                body,
            } => {
                let value = terms.bound(sort.as_ref(), value, scope).map_err(one)?;
                let mut inner = scope.clone();
                inner.insert(name.text.clone(), value);
                self.behaviour(body, whose, &inner, ending)
            }
            BehaviourKind::Call { name, gates, args } if gates.is_empty() => {
                let names = self.context.names;
                let item = names.behaviour(&name.text, name.span).map_err(one)?;
                self.item(item, args, scope, name.span, ending)
            }
            BehaviourKind::Stop
            | BehaviourKind::Exit(_)
            | BehaviourKind::Prefix { .. }
            | BehaviourKind::Guard { .. }
            | BehaviourKind::Choice(_)
            | BehaviourKind::ChoiceOver { .. }
            | BehaviourKind::Enable { .. }
            | BehaviourKind::Disable(_)
            | BehaviourKind::Call { .. }
            | BehaviourKind::Error => self.one_part(node, whose, scope, ending),
        }
    }

    fn meeting(&self, sync: &Sync, scope: &Scope) -> Result<Meeting> {
        Ok(match sync {
            Sync::All => Meeting::All,
            Sync::Interleave => Meeting::None,
            Sync::On(gates) => {
                let gates = self.context.terms.patterns(gates, scope);
                Meeting::On(gates.map_err(|d| vec![d])?)
            }
        })
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
