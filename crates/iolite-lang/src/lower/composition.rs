//! Composed systems as lazy views of the kernel.
//!
//! Parallel composition, hiding and renaming that stand outside of sequential behaviour become
//! views; everything inside a prefix or a choice, and every process that calls itself, is built by
//! the rules of [`super::process`].

use std::collections::{BTreeMap, BTreeSet};

use iolite_lts::{Composition, Gates, Interned, Lts, Relabelled};

use super::{LazySystem, machine, process};
use crate::names::Names;
use crate::syntax::ast::{
    Behaviour, BehaviourKind, Expr, ExprKind, File, Item, Machine, Name, Sync, UnaryOp,
};
use crate::{Diagnostic, Span, check, codes};

/// A composition of more parts than this is refused.
pub const MOST_COMPONENTS: usize = 1024;

pub(super) enum Built {
    Explicit(Lts),
    Lazy(LazySystem),
}

impl Built {
    fn lazy(self) -> LazySystem {
        match self {
            Self::Explicit(lts) => Box::new(lts),
            Self::Lazy(view) => view,
        }
    }
}

pub(super) fn build(file: &File, name: &str, budget: usize) -> Result<Built, Vec<Diagnostic>> {
    let names = Names::new(file);
    let item = names
        .behaviour(name, Span::default())
        .map_err(|d| vec![d])?;
    let mut composer = Composer {
        file,
        names: &names,
        budget,
        open: BTreeSet::new(),
        recursive: BTreeMap::new(),
        components: 0,
    };
    composer.item(item, &[])
}

struct Composer<'f> {
    file: &'f File,
    names: &'f Names<'f>,
    budget: usize,
    /// Definitions that are being expanded.
    open: BTreeSet<&'f str>,
    /// Whether a definition calls itself, as far as asked.
    recursive: BTreeMap<&'f str, bool>,
    components: usize,
}

type Result<T, E = Vec<Diagnostic>> = std::result::Result<T, E>;

impl<'f> Composer<'f> {
    fn item(&mut self, item: &'f Item, args: &[(Name, Expr)]) -> Result<Built> {
        match item {
            Item::Machine(m) => {
                no_arguments(m, args).map_err(|d| vec![d])?;
                self.component(m.name.span)?;
                machine::lower(self.file, m).map(Built::Explicit)
            }
            Item::Definition(definition) => {
                let name = definition.name.text.as_str();
                // A declared alphabet may have labels that no view of the parts knows.
                if definition.over.is_some()
                    || *self
                        .recursive
                        .entry(name)
                        .or_insert_with(|| check::calls_itself(self.names, name))
                    || self.open.len() > 100
                {
                    self.component(definition.name.span)?;
                    return process::lower(self.file, self.names, item, self.budget)
                        .map(Built::Explicit);
                }
                self.open.insert(name);
                let built = self.behaviour(&definition.body, name);
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

    fn behaviour(&mut self, node: &'f Behaviour, whose: &str) -> Result<Built> {
        Ok(match &node.kind {
            BehaviourKind::Parallel { sync, parts } => {
                let parts = parts
                    .iter()
                    .map(|p| Ok(self.behaviour(p, whose)?.lazy()))
                    .collect::<Result<Vec<_>>>()?;
                Built::Lazy(compose(parts, sync, node.span)?)
            }
            BehaviourKind::Each {
                range, sync, body, ..
            } => {
                let count = count(range, body).map_err(|d| vec![d])?;
                let parts = (0..count)
                    .map(|_| Ok(self.behaviour(body, whose)?.lazy()))
                    .collect::<Result<Vec<_>>>()?;
                Built::Lazy(compose(parts, sync, node.span)?)
            }
            BehaviourKind::Hide { labels, body } => {
                let inner = self.behaviour(body, whose)?.lazy();
                let view = Relabelled::hide(inner, |label| {
                    label.kind.is_visible() && labels.iter().any(|l| *l.text == *label.name)
                });
                Built::Lazy(Box::new(view))
            }
            BehaviourKind::Rename { pairs, body } => {
                let inner = self.behaviour(body, whose)?.lazy();
                let view = Relabelled::rename(inner, |label| {
                    let visible = label.kind.is_visible();
                    let new = pairs
                        .iter()
                        .find(|(old, _)| visible && *old.text == *label.name)
                        .map_or(&*label.name, |(_, new)| new.text.as_str());
                    Some((label.kind, new.to_owned()))
                });
                Built::Lazy(Box::new(view))
            }
            BehaviourKind::Call { name, args } => {
                let item = self
                    .names
                    .behaviour(&name.text, name.span)
                    .map_err(|d| vec![d])?;
                self.item(item, args)?
            }
            BehaviourKind::Stop
            | BehaviourKind::Prefix { .. }
            | BehaviourKind::Choice(_)
            | BehaviourKind::Error => {
                self.component(node.span)?;
                Built::Explicit(process::lower_behaviour(
                    self.file,
                    self.names,
                    node,
                    &[],
                    whose,
                    self.budget,
                )?)
            }
        })
    }
}

/// All operators of one chain are the same, so the order of pairing does not matter; pairs of pairs
/// keep the views shallow.
fn compose(parts: Vec<LazySystem>, sync: &Sync, span: Span) -> Result<LazySystem> {
    let gates = match sync {
        Sync::All => Gates::All,
        Sync::Interleave => Gates::None,
        Sync::On(names) => Gates::Names(names.iter().map(|n| n.text.clone()).collect()),
    };
    let mut parts = parts;
    while parts.len() > 1 {
        let mut paired: Vec<LazySystem> = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(left) = rest.next() {
            let Some(right) = rest.next() else {
                paired.push(left);
                break;
            };
            let pair = Composition::new(left, right, &gates)
                .map_err(|e| vec![gate_mismatch(span, &e.left, &e.right)])?;
            paired.push(Box::new(Interned::new(pair)));
        }
        parts = paired;
    }
    parts.pop().ok_or_else(|| {
        vec![Diagnostic::error(
            codes::EACH_RANGE,
            span,
            "the composition has no parts",
        )]
    })
}

pub(super) fn gate_mismatch(span: Span, left: &str, right: &str) -> Diagnostic {
    Diagnostic::error(
        codes::GATE_MISMATCH,
        span,
        format!("`{left}` cannot synchronise with `{right}`: one is directed, the other is not"),
    )
}

/// Values for constants need the semantics of data.
pub(super) fn no_arguments(machine: &Machine, args: &[(Name, Expr)]) -> Result<(), Diagnostic> {
    match args.first() {
        Some((constant, _)) if !machine.has_data() => Err(Diagnostic::error(
            codes::INSTANCE_ARGUMENT,
            constant.span,
            format!(
                "system `{}` has no constant `{}`",
                machine.name.text, constant.text
            ),
        )),
        Some((_, value)) => Err(Diagnostic::error(
            codes::NOT_EXPLICIT,
            value.span,
            format!(
                "an instance of `{}` with values for its constants is no explicit system",
                machine.name.text
            ),
        )),
        None => Ok(()),
    }
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

pub(super) fn literal(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Int(digits) => digits.parse().ok(),
        ExprKind::Unary(UnaryOp::Neg, inner) => literal(inner).map(|n| -n),
        _ => None,
    }
}
