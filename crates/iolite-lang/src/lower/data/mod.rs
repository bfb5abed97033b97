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

pub(super) use explicit::declared_sorts;
pub use observer::{
    DataObserver, DataPurpose, data_observer_lints, lower_data_observer, lower_data_purpose,
};

use std::collections::{BTreeMap, BTreeSet};

use iolite_expr::Value;
use iolite_lts::{Gates, LabelKind};
use iolite_sts::{BuildError, BuildErrorKind, ComposeError, Iosts};

use super::parts::{self, Composer, Meeting, Result, Target};
use super::process::{self, Context, Ending};
use super::term::{Scope, Terms, unplace};
use crate::check::Sorts;
use crate::gate::Pattern;
use crate::names::Names;
use crate::syntax::ast::{
    Behaviour, BehaviourKind, Definition, Event, EventKind, Expr, File, Item, Machine, Name, Offer,
    Param,
};
use crate::{Diagnostic, Span, check, codes, gate_parameters};

/// States that a part without data may have when it is composed with parts that have some.
const MOST_EXPLICIT_STATES: usize = 100_000;

/// Whether a declared system has data, or is composed of systems that have.
pub fn has_data(file: &File, name: &str) -> bool {
    let sorts = Sorts::new(file, &mut Vec::new());
    reach(&Names::new(file), &sorts, vec![name]) != Reach::Explicit
}

/// What a behaviour needs of a semantics with data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// Nothing: its data are finite.
    Explicit,
    /// A process takes or keeps values of an infinite sort.
    Process,
    /// A system with data is among its parts.
    System,
}

/// What can be reached through calls. Processes with actions that have no direction have no symbolic
/// form, so their data are followed value by value.
fn reach<'f>(names: &Names<'f>, sorts: &Sorts<'f>, mut open: Vec<&'f str>) -> Reach {
    let mut seen = BTreeSet::new();
    let (mut infinite, mut plain) = (false, false);
    while let Some(next) = open.pop() {
        match names.get(next) {
            Some(Item::Machine(m)) if m.has_data() => return Reach::System,
            Some(Item::Definition(d)) if seen.insert(next) => {
                let over = d.over.iter().flatten();
                infinite |= d.params.iter().any(|p| !is_finite(sorts, p))
                    || over.clone().any(|e| takes_infinite(sorts, e))
                    || chooses_infinite(sorts, &d.body);
                plain |= over.clone().any(is_plain) || has_plain(&d.body);
                d.body.calls(&mut |call| open.push(&call.text));
            }
            _ => {}
        }
    }
    if infinite && !plain {
        Reach::Process
    } else {
        Reach::Explicit
    }
}

fn is_finite(sorts: &Sorts<'_>, param: &Param) -> bool {
    sorts.is_finite(&sorts.resolve(&param.sort))
}

fn takes_infinite(sorts: &Sorts<'_>, event: &Event) -> bool {
    match &event.kind {
        EventKind::Offer { offers, .. } => leave_infinite(sorts, offers),
        _ => false,
    }
}

fn leave_infinite(sorts: &Sorts<'_>, offers: &[Offer]) -> bool {
    let infinite = |o: &Offer| matches!(o, Offer::Variable(p) if !is_finite(sorts, p));
    offers.iter().any(infinite)
}

/// Whether a behaviour takes, accepts, chooses or leaves open values of an infinite sort.
fn chooses_infinite(sorts: &Sorts<'_>, node: &Behaviour) -> bool {
    let own = match &node.kind {
        BehaviourKind::Prefix { events, .. } => events.iter().any(|e| takes_infinite(sorts, e)),
        BehaviourKind::ChoiceOver { params, .. } | BehaviourKind::Enable { accept: params, .. } => {
            params.iter().any(|p| !is_finite(sorts, p))
        }
        BehaviourKind::Exit(values) => leave_infinite(sorts, values),
        _ => false,
    };
    own || node.parts().iter().any(|p| chooses_infinite(sorts, p))
}

fn is_plain(event: &Event) -> bool {
    matches!(
        &event.kind,
        EventKind::Label { kind, .. } | EventKind::Offer { kind, .. } if *kind == LabelKind::Undirected
    )
}

fn has_plain(node: &Behaviour) -> bool {
    let own =
        matches!(&node.kind, BehaviourKind::Prefix { events, .. } if events.iter().any(is_plain));
    own || node.parts().iter().any(has_plain)
}

/// A declared system as a symbolic one. The file should be free of errors: see
/// [`crate::check()`].
pub fn lower_data(file: &File, name: &str) -> Result<Iosts> {
    let file = &gate_parameters::distinct_file(file);
    lower_distinct(file, name).map_err(gate_parameters::unmark)
}

fn lower_distinct(file: &File, name: &str) -> Result<Iosts> {
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

pub(super) fn build_error(error: &BuildError, otherwise: Span) -> Diagnostic {
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

/// A system with values for its constants, called `name`.
pub(super) fn instance(
    context: Context<'_>,
    m: &Machine,
    args: &[(Name, Expr)],
    scope: &Scope,
    name: &str,
) -> Result<Iosts> {
    let given: BTreeSet<&str> = args.iter().map(|(n, _)| n.text.as_str()).collect();
    let model = machine::lower(m, &given, context.terms)?;
    let values = instance_values(context, &model, m, args, scope)?;
    let values: Vec<(&str, Value)> = values
        .iter()
        .map(|(n, v)| (n.as_str(), v.clone()))
        .collect();
    let at = args.first().map_or(m.name.span, |(n, e)| n.span.to(e.span));
    model
        .instance(name, &values)
        .map_err(|e| vec![compose_error(&e, at)])
}

/// The values that a call gives to the constants of a system.
fn instance_values(
    context: Context<'_>,
    model: &Iosts,
    m: &Machine,
    args: &[(Name, Expr)],
    scope: &Scope,
) -> Result<Vec<(String, Value)>> {
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
        let value = context.terms.value(expr, scope, Some(&constant.var.sort));
        values.push((name.text.clone(), value.map_err(|d| vec![d])?));
    }
    Ok(values)
}

struct Lowering<'f> {
    context: Context<'f>,
    /// Instances of each system so far, to keep their data apart by name.
    instances: BTreeMap<&'f str, usize>,
}

impl<'f> Lowering<'f> {
    fn reach(&self, open: Vec<&'f str>) -> Reach {
        reach(self.context.names, &self.context.terms.sorts, open)
    }

    fn reach_of(&self, node: &'f Behaviour) -> Reach {
        let mut open = Vec::new();
        node.calls(&mut |call| open.push(call.text.as_str()));
        match self.reach(open) {
            Reach::Explicit if chooses_infinite(&self.context.terms.sorts, node) => Reach::Process,
            reach => reach,
        }
    }

    /// A part of processes alone.
    fn processes(
        &self,
        node: &'f Behaviour,
        scope: &Scope,
        over: &[Event],
        name: &str,
        ending: Ending,
    ) -> Result<Iosts> {
        let context = self.context;
        if self.reach_of(node) != Reach::Explicit {
            return process::linear::lower(context, node, scope, over, name, ending);
        }
        let most = MOST_EXPLICIT_STATES;
        let part = process::lower_behaviour(context, node, scope, over, name, ending, most)?;
        explicit::lower(context, name, &part, node.span)
    }
}

impl<'f> Target<'f> for Lowering<'f> {
    type Part = Iosts;

    fn machine(
        &mut self,
        m: &'f Machine,
        args: &'f [(Name, Expr)],
        scope: &Scope,
    ) -> Result<Iosts> {
        let number = self.instances.entry(m.name.text.as_str()).or_default();
        *number += 1;
        let name = match *number {
            1 => m.name.text.clone(),
            n => format!("{}{n}", m.name.text),
        };
        instance(self.context, m, args, scope, &name)
    }

    fn is_one_part(&mut self, definition: &'f Definition, depth: usize) -> Result<bool> {
        let name = definition.name.text.as_str();
        if self.reach(vec![name]) != Reach::System {
            return Ok(true);
        }
        let refused = |why: String| {
            let span = definition.name.span;
            Err(vec![Diagnostic::error(codes::DATA_COMPOSITION, span, why)])
        };
        // A process that calls systems with data is one part: their locations are some of its control points.
        if definition.over.is_some() || check::calls_itself(self.context.names, name) {
            return Ok(true);
        }
        if depth > 100 {
            return refused(format!("`{name}` is composed too deeply"));
        }
        Ok(false)
    }

    /// What has no data is made explicit as a whole: it may then hide, rename and meet on instances
    /// of actions.
    fn is_one_behaviour(&self, node: &'f Behaviour) -> bool {
        self.reach_of(node) != Reach::System
    }

    fn definition(&mut self, item: &'f Item, scope: &Scope, ending: Ending) -> Result<Iosts> {
        let Item::Definition(definition) = item else {
            return Err(Vec::new());
        };
        let over = definition.over.as_deref().unwrap_or_default();
        let name = definition.name.text.as_str();
        let context = self.context;
        if self.reach(vec![name]) != Reach::Explicit {
            return process::linear::lower(context, &definition.body, scope, over, name, ending);
        }
        let part = process::lower(context, item, scope, ending, MOST_EXPLICIT_STATES)?;
        explicit::lower(context, name, &part, definition.name.span)
    }

    fn behaviour(
        &mut self,
        node: &'f Behaviour,
        _: &str,
        scope: &Scope,
        ending: Ending,
    ) -> Result<Iosts> {
        self.processes(node, scope, &[], "behaviour", ending)
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
