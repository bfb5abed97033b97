//! Systems with data as symbolic transition systems [SYM04, def. 1].
//!
//! A machine becomes an [`Iosts`] transition by transition; compositions, hiding, renaming and
//! instances are those of `iolite-sts`. Parts without data may be behaviour expressions: they are
//! made explicit first and take part without variables.

mod assignment;
mod explicit;
mod instances;
mod machine;
mod observer;

pub use observer::{DataObserver, DataPurpose, lower_data_observer, lower_data_purpose};

use std::collections::{BTreeMap, BTreeSet};

use iolite_lts::Gates;
use iolite_sts::{BuildError, BuildErrorKind, ComposeError, Iosts};

use super::parts::{self, Composer, Meeting, Result, Target};
use super::process::{self, Context};
use super::term::{Scope, Terms, unplace};
use crate::gate::Pattern;
use crate::names::Names;
use crate::syntax::ast::{Behaviour, Definition, Expr, File, Item, Machine, Name};
use crate::{Diagnostic, Span, check, codes};

/// States that a part without data may have when it is composed with parts that have some.
const MOST_EXPLICIT_STATES: usize = 100_000;

/// Whether a declared system has data, or is composed of systems that have.
pub fn has_data(file: &File, name: &str) -> bool {
    reaches_data(&Names::new(file), vec![name])
}

fn reaches_data<'f>(names: &Names<'f>, mut open: Vec<&'f str>) -> bool {
    let mut seen = BTreeSet::new();
    while let Some(next) = open.pop() {
        match names.get(next) {
            Some(Item::Machine(m)) if m.has_data() => return true,
            Some(Item::Definition(d)) if seen.insert(next) => {
                d.body.calls(&mut |call| open.push(&call.text));
            }
            _ => {}
        }
    }
    false
}

/// A declared system as a symbolic one. The file should be free of errors: see
/// [`crate::check()`].
pub fn lower_data(file: &File, name: &str) -> Result<Iosts> {
    let names = Names::new(file);
    let item = names
        .behaviour(name, Span::default())
        .map_err(|d| vec![d])?;
    let context = Context {
        file,
        names: &names,
        terms: &Terms::new(file),
    };
    let lowering = Lowering {
        context,
        instances: BTreeMap::new(),
    };
    let model = Composer::new(context, lowering).whole(item)?;
    let span = item.name().span;
    model
        .instance(name, &[])
        .map_err(|e| vec![compose_error(&e, span)])
}

fn build_error(error: &BuildError, otherwise: Span) -> Diagnostic {
    let code = match &error.kind {
        BuildErrorKind::Twice(_) => codes::DUPLICATE_NAME,
        BuildErrorKind::AssignedTwice(_) => codes::ASSIGNED_TWICE,
        BuildErrorKind::NotAVariable(_) => codes::ASSIGNED_CONSTANT,
        BuildErrorKind::NoInitialLocation => codes::NO_INITIAL,
        BuildErrorKind::SecondInitialLocation => codes::MANY_INITIAL,
        BuildErrorKind::OutOfScope { .. } | BuildErrorKind::Type(_) | BuildErrorKind::BadKind => {
            codes::BAD_TERM
        }
    };
    Diagnostic::error(code, unplace(error.span, otherwise), error.to_string())
}

fn compose_error(error: &ComposeError, span: Span) -> Diagnostic {
    Diagnostic::error(codes::DATA_COMPOSITION, span, error.to_string())
}

struct Lowering<'f> {
    context: Context<'f>,
    /// Instances of each system so far, to keep their data apart by name.
    instances: BTreeMap<&'f str, usize>,
}

impl<'f> Target<'f> for Lowering<'f> {
    type Part = Iosts;

    fn machine(
        &mut self,
        m: &'f Machine,
        args: &'f [(Name, Expr)],
        scope: &Scope,
    ) -> Result<Iosts> {
        let given: BTreeSet<&str> = args.iter().map(|(n, _)| n.text.as_str()).collect();
        let model = machine::lower(m, &given, self.context.terms)?;
        let mut values = Vec::new();
        for (name, expr) in args {
            let constant = model
                .constants()
                .iter()
                .find(|c| *c.var.name == *name.text)
                .ok_or_else(|| {
                    vec![Diagnostic::error(
                        codes::INSTANCE_ARGUMENT,
                        name.span,
                        format!("system `{}` has no constant `{}`", m.name.text, name.text),
                    )]
                })?;
            let value = self
                .context
                .terms
                .value(expr, scope, Some(&constant.var.sort))
                .map_err(|d| vec![d])?;
            values.push((name.text.as_str(), value));
        }
        let number = self.instances.entry(m.name.text.as_str()).or_default();
        *number += 1;
        let name = match *number {
            1 => m.name.text.clone(),
            n => format!("{}{n}", m.name.text),
        };
        let at = args.first().map_or(m.name.span, |(n, e)| n.span.to(e.span));
        model
            .instance(&name, &values)
            .map_err(|e| vec![compose_error(&e, at)])
    }

    fn is_one_part(&mut self, definition: &'f Definition, depth: usize) -> Result<bool> {
        let name = definition.name.text.as_str();
        if !reaches_data(self.context.names, vec![name]) {
            return Ok(true);
        }
        let refused = |why: String| {
            let span = definition.name.span;
            Err(vec![Diagnostic::error(codes::DATA_COMPOSITION, span, why)])
        };
        if definition.over.is_some() || check::calls_itself(self.context.names, name) {
            return refused(format!(
                "`{name}` calls itself or declares an alphabet, and its parts have data"
            ));
        }
        if depth > 100 {
            return refused(format!("`{name}` is composed too deeply"));
        }
        Ok(false)
    }

    /// What has no data is made explicit as a whole: it may then hide, rename and meet on instances
    /// of actions.
    fn is_one_behaviour(&self, node: &'f Behaviour) -> bool {
        let mut open = Vec::new();
        node.calls(&mut |call| open.push(call.text.as_str()));
        !reaches_data(self.context.names, open)
    }

    fn definition(&mut self, item: &'f Item, scope: &Scope) -> Result<Iosts> {
        let part = process::lower(self.context, item, scope, MOST_EXPLICIT_STATES)?;
        let name = item.name();
        explicit::lower(self.context, &name.text, &part, name.span)
    }

    fn behaviour(&mut self, node: &'f Behaviour, _: &str, scope: &Scope) -> Result<Iosts> {
        let (context, most) = (self.context, MOST_EXPLICIT_STATES);
        let name = "behaviour";
        let part = process::lower_behaviour(context, node, scope, &[], name, most)?;
        explicit::lower(context, name, &part, node.span)
    }

    fn compose(&self, parts: Vec<Iosts>, meeting: &Meeting, span: Span) -> Result<Iosts> {
        let wrong = |e: ComposeError| vec![compose_error(&e, span)];
        let together = |parts: Vec<Iosts>, gates: &Gates| {
            let mut parts = parts.into_iter();
            let first = parts.next().ok_or_else(|| parts::no_parts(span))?;
            parts.try_fold(first, |left, right| {
                left.compose(&right, gates).map_err(wrong)
            })
        };
        match meeting {
            Meeting::All => together(parts, &Gates::All),
            Meeting::None => together(parts, &Gates::None),
            Meeting::On(patterns) => {
                let (parts, singled) = instances::single_out(parts, patterns).map_err(wrong)?;
                let gates = patterns.iter().map(|p| p.label().to_owned()).collect();
                let whole = together(parts, &Gates::Names(gates))?;
                instances::put_back(whole, &singled).map_err(wrong)
            }
        }
    }

    fn hide(&self, part: Iosts, labels: &[Pattern], span: Span) -> Result<Iosts> {
        instances::hide(part, labels).map_err(|e| vec![compose_error(&e, span)])
    }

    fn rename(&self, part: Iosts, pairs: &[(Pattern, Pattern)], span: Span) -> Result<Iosts> {
        instances::rename(self.context, part, pairs).map_err(|e| vec![compose_error(&e, span)])
    }
}
