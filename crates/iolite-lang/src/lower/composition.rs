//! Composed systems as lazy views of the kernel.
//!
//! Parallel composition, hiding and renaming that stand outside of sequential behaviour become
//! views; everything inside a prefix or a choice, and every process that calls itself, is built by
//! the rules of [`super::process`].

use std::collections::BTreeMap;

use iolite_lts::{Composition, Gates, Interned, Lts, Relabelled};

use super::parts::{self, Composer, Meeting, Result, Target};
use super::process::{Context, Ending};
use super::term::{Scope, Terms};
use super::{LazySystem, machine, process};
use crate::gate::{self, Pattern};
use crate::names::Names;
use crate::syntax::ast::{Behaviour, Definition, Expr, File, Item, Machine, Name};
use crate::{Diagnostic, Span, check, codes};

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

pub(super) fn build(file: &File, name: &str, budget: usize) -> Result<Built> {
    let names = Names::new(file);
    let item = names
        .behaviour(name, Span::default())
        .map_err(|d| vec![d])?;
    let context = Context {
        file,
        names: &names,
        terms: &Terms::new(file),
    };
    let views = Views {
        context,
        budget,
        recursive: BTreeMap::new(),
    };
    Composer::new(context, views).whole(item)
}

struct Views<'f> {
    context: Context<'f>,
    budget: usize,
    /// Whether a definition calls itself, as far as asked.
    recursive: BTreeMap<&'f str, bool>,
}

impl<'f> Target<'f> for Views<'f> {
    type Part = Built;

    fn machine(
        &mut self,
        machine: &'f Machine,
        args: &'f [(Name, Expr)],
        _: &Scope,
    ) -> Result<Built> {
        no_arguments(machine, args).map_err(|d| vec![d])?;
        machine::lower(self.context.file, machine).map(Built::Explicit)
    }

    fn is_one_part(&mut self, definition: &'f Definition, depth: usize) -> Result<bool> {
        let name = definition.name.text.as_str();
        // A declared alphabet may have labels that no view of the parts knows.
        Ok(definition.over.is_some()
            || *self
                .recursive
                .entry(name)
                .or_insert_with(|| check::calls_itself(self.context.names, name))
            || depth > 100)
    }

    fn is_one_behaviour(&self, _: &'f Behaviour) -> bool {
        false
    }

    fn definition(&mut self, item: &'f Item, scope: &Scope, ending: Ending) -> Result<Built> {
        let explicit = process::lower(self.context, item, scope, ending, self.budget)?;
        Ok(Built::Explicit(explicit.lts))
    }

    fn behaviour(
        &mut self,
        node: &'f Behaviour,
        whose: &str,
        scope: &Scope,
        ending: Ending,
    ) -> Result<Built> {
        let (context, budget) = (self.context, self.budget);
        let explicit = process::lower_behaviour(context, node, scope, &[], whose, ending, budget)?;
        Ok(Built::Explicit(explicit.lts))
    }

    /// All operators of one chain are the same, so the order of pairing does not matter; pairs of
    /// pairs keep the views shallow.
    fn compose(&self, parts: Vec<Built>, meeting: &Meeting, span: Span) -> Result<Built> {
        let mut parts: Vec<LazySystem> = parts.into_iter().map(Built::lazy).collect();
        let gates = gates(&parts, meeting);
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
        let whole = parts.pop().ok_or_else(|| parts::no_parts(span))?;
        Ok(Built::Lazy(whole))
    }

    fn hide(&self, part: Built, labels: &[Pattern], _: Span) -> Result<Built> {
        let view = Relabelled::hide(part.lazy(), |label| {
            label.kind.is_visible() && labels.iter().any(|l| l.matches(&label.name))
        });
        Ok(Built::Lazy(Box::new(view)))
    }

    fn rename(&self, part: Built, pairs: &[(Pattern, Pattern)], _: Span) -> Result<Built> {
        let view = Relabelled::rename(part.lazy(), |label| {
            let pair = gate::renaming(&label.name, pairs).filter(|_| label.kind.is_visible());
            let new = match pair {
                Some((old, new)) => old.renamed(&label.name, new),
                None => label.name.to_string(),
            };
            Some((label.kind, new))
        });
        Ok(Built::Lazy(Box::new(view)))
    }
}

/// The labels of these parts on which they meet.
fn gates(parts: &[LazySystem], meeting: &Meeting) -> Gates {
    match meeting {
        Meeting::All => Gates::All,
        Meeting::None => Gates::None,
        Meeting::On(patterns) => {
            let labels = parts.iter().flat_map(|p| p.labels().iter());
            let named = labels.filter(|(_, l)| patterns.iter().any(|p| p.matches(&l.name)));
            Gates::Names(named.map(|(_, l)| l.name.to_string()).collect())
        }
    }
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
