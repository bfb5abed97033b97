//! Systems with data as symbolic transition systems [Rusu et al. 2004, def. 1].
//!
//! A machine becomes an [`Iosts`] transition by transition; compositions, hiding, renaming and
//! instances are those of `iolite-sts`. Parts without data may be behaviour expressions: they are
//! made explicit first and take part without variables.

mod assignment;
mod explicit;
mod machine;

use std::collections::{BTreeMap, BTreeSet};

use iolite_lts::Gates;
use iolite_sts::{BuildError, BuildErrorKind, ComposeError, Iosts};

use super::parts::{self, Composer, Result, Target};
use super::process;
use super::term::{Scope, Terms, unplace};
use crate::names::Names;
use crate::syntax::ast::{Behaviour, BehaviourKind, Definition, Expr, File, Item, Machine, Name};
use crate::{Diagnostic, Span, check, codes};

/// States that a part without data may have when it is composed with parts that have some.
const MOST_EXPLICIT_STATES: usize = 100_000;

/// Whether a declared system has data, or is composed of systems that have.
pub fn has_data(file: &File, name: &str) -> bool {
    let names = Names::new(file);
    let mut seen = BTreeSet::new();
    let mut open = vec![name];
    while let Some(next) = open.pop() {
        match names.get(next) {
            Some(Item::Machine(m)) if m.has_data() => return true,
            Some(Item::Definition(d)) if seen.insert(next) => called(&d.body, &mut open),
            _ => {}
        }
    }
    false
}

fn called<'f>(node: &'f Behaviour, out: &mut Vec<&'f str>) {
    match &node.kind {
        BehaviourKind::Stop | BehaviourKind::Error => {}
        BehaviourKind::Prefix { rest, .. } => called(rest, out),
        BehaviourKind::Choice(parts) | BehaviourKind::Parallel { parts, .. } => {
            for part in parts {
                called(part, out);
            }
        }
        BehaviourKind::Hide { body, .. }
        | BehaviourKind::Rename { body, .. }
        | BehaviourKind::Each { body, .. } => called(body, out),
        BehaviourKind::Call { name, .. } => out.push(&name.text),
    }
}

/// A declared system as a symbolic one. The file should be free of errors: see
/// [`crate::check()`].
pub fn lower_data(file: &File, name: &str) -> Result<Iosts> {
    let names = Names::new(file);
    let item = names
        .behaviour(name, Span::default())
        .map_err(|d| vec![d])?;
    let lowering = Lowering {
        file,
        names: &names,
        terms: Terms::new(file),
        instances: BTreeMap::new(),
    };
    let model = Composer::new(&names, lowering).item(item, &[], &Scope::new())?;
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
    file: &'f File,
    names: &'f Names<'f>,
    terms: Terms<'f>,
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
        let model = machine::lower(m, &given, &self.terms)?;
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
        if !has_data(self.file, name) {
            return Ok(true);
        }
        let refused = |why: String| {
            let span = definition.name.span;
            Err(vec![Diagnostic::error(codes::DATA_COMPOSITION, span, why)])
        };
        if definition.over.is_some() || check::calls_itself(self.names, name) {
            return refused(format!(
                "`{name}` calls itself or declares an alphabet, and its parts have data"
            ));
        }
        if depth > 100 {
            return refused(format!("`{name}` is composed too deeply"));
        }
        Ok(false)
    }

    fn definition(&mut self, item: &'f Item) -> Result<Iosts> {
        let lts = process::lower(self.file, self.names, item, MOST_EXPLICIT_STATES)?;
        let name = item.name();
        explicit::lower(&name.text, &lts, name.span)
    }

    fn behaviour(&mut self, node: &'f Behaviour, _: &str) -> Result<Iosts> {
        let name = "behaviour";
        let most = MOST_EXPLICIT_STATES;
        let lts = process::lower_behaviour(self.file, self.names, node, &[], name, most)?;
        explicit::lower(name, &lts, node.span)
    }

    fn compose(&self, parts: Vec<Iosts>, gates: &Gates, span: Span) -> Result<Iosts> {
        let mut parts = parts.into_iter();
        let first = parts.next().ok_or_else(|| parts::no_parts(span))?;
        parts.try_fold(first, |left, right| {
            left.compose(&right, gates)
                .map_err(|e| vec![compose_error(&e, span)])
        })
    }

    fn hide(&self, part: Iosts, labels: &[Name], span: Span) -> Result<Iosts> {
        let labels: Vec<&str> = labels.iter().map(|l| l.text.as_str()).collect();
        part.hide(&labels)
            .map_err(|e| vec![compose_error(&e, span)])
    }

    fn rename(&self, part: Iosts, pairs: &[(Name, Name)], span: Span) -> Result<Iosts> {
        let pairs: Vec<(&str, &str)> = pairs
            .iter()
            .map(|(old, new)| (old.text.as_str(), new.text.as_str()))
            .collect();
        part.rename(&pairs)
            .map_err(|e| vec![compose_error(&e, span)])
    }
}
