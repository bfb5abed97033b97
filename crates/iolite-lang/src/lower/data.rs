//! Systems with data as symbolic transition systems [Rusu et al. 2004, def. 1].
//!
//! A machine becomes an [`Iosts`] transition by transition; compositions, hiding, renaming and
//! instances are those of `iolite-sts`. Parts without data may be behaviour expressions: they are
//! made explicit first and take part without variables.

use std::collections::{BTreeMap, BTreeSet};

use iolite_expr::{Op, Sort as TermSort, Term, Var};
use iolite_lts::{Gates, LabelId, LabelKind, Lts};
use iolite_sts::{ActionId, BuildError, BuildErrorKind, Builder, ComposeError, Iosts};

use super::composition::{MOST_COMPONENTS, count, literal};
use super::term::{Scope, Terms, place, type_error, unplace};
use super::{machine, process};
use crate::names::{Names, event_id, machine_labels, unknown_label};
use crate::syntax::ast::{
    Behaviour, BehaviourKind, Definition, Effect, Event, EventKind, Expr, ExprKind, File, Item,
    Machine, Mark, Member, Name, Sync, Transition,
};
use crate::{Diagnostic, Span, check, codes};

/// States that a part without data may have when it is composed with parts that have some.
const MOST_EXPLICIT_STATES: usize = 100_000;

type Result<T, E = Vec<Diagnostic>> = std::result::Result<T, E>;

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
    let mut lowering = Lowering {
        file,
        names: &names,
        terms: Terms::new(file),
        open: BTreeSet::new(),
        instances: BTreeMap::new(),
        components: 0,
    };
    let model = lowering.item(item, &[], &Scope::new())?;
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
    /// Definitions that are being expanded.
    open: BTreeSet<&'f str>,
    /// Instances of each system so far, to keep their data apart by name.
    instances: BTreeMap<&'f str, usize>,
    components: usize,
}

impl<'f> Lowering<'f> {
    fn item(&mut self, item: &'f Item, args: &'f [(Name, Expr)], scope: &Scope) -> Result<Iosts> {
        match item {
            Item::Machine(m) => {
                self.component(m.name.span)?;
                self.instance(m, args, scope)
            }
            Item::Definition(d) => self.definition(item, d, scope),
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

    fn definition(&mut self, item: &'f Item, d: &'f Definition, scope: &Scope) -> Result<Iosts> {
        let name = d.name.text.as_str();
        if !has_data(self.file, name) {
            self.component(d.name.span)?;
            let lts = process::lower(self.file, self.names, item, MOST_EXPLICIT_STATES)?;
            return from_lts(name, &lts, d.name.span);
        }
        if d.over.is_some() || check::calls_itself(self.names, name) {
            return Err(vec![Diagnostic::error(
                codes::DATA_COMPOSITION,
                d.name.span,
                format!("`{name}` calls itself or declares an alphabet, and its parts have data"),
            )]);
        }
        if self.open.len() > 100 || !self.open.insert(name) {
            return Err(vec![Diagnostic::error(
                codes::DATA_COMPOSITION,
                d.name.span,
                format!("`{name}` is composed too deeply"),
            )]);
        }
        let built = self.behaviour(&d.body, scope);
        self.open.remove(name);
        built
    }

    fn behaviour(&mut self, node: &'f Behaviour, scope: &Scope) -> Result<Iosts> {
        let wrong = |e: ComposeError| vec![compose_error(&e, node.span)];
        match &node.kind {
            BehaviourKind::Parallel { sync, parts } => {
                let parts = parts
                    .iter()
                    .map(|p| self.behaviour(p, scope))
                    .collect::<Result<Vec<_>>>()?;
                compose(parts, sync, node.span)
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
                        self.behaviour(body, &inner)
                    })
                    .collect::<Result<Vec<_>>>()?;
                compose(parts, sync, node.span)
            }
            BehaviourKind::Hide { labels, body } => {
                let labels: Vec<&str> = labels.iter().map(|l| l.text.as_str()).collect();
                self.behaviour(body, scope)?.hide(&labels).map_err(wrong)
            }
            BehaviourKind::Rename { pairs, body } => {
                let pairs: Vec<(&str, &str)> = pairs
                    .iter()
                    .map(|(old, new)| (old.text.as_str(), new.text.as_str()))
                    .collect();
                self.behaviour(body, scope)?.rename(&pairs).map_err(wrong)
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
                let lts = process::lower_behaviour(
                    self.file,
                    self.names,
                    node,
                    &[],
                    "behaviour",
                    MOST_EXPLICIT_STATES,
                )?;
                from_lts("behaviour", &lts, node.span)
            }
        }
    }

    fn instance(
        &mut self,
        m: &'f Machine,
        args: &'f [(Name, Expr)],
        scope: &Scope,
    ) -> Result<Iosts> {
        let given: BTreeSet<&str> = args.iter().map(|(n, _)| n.text.as_str()).collect();
        let model = self.machine(m, &given)?;
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

    /// A machine, with values for its constants where it declares them, unless they are `given`.
    fn machine(&self, m: &'f Machine, given: &BTreeSet<&str>) -> Result<Iosts> {
        let mut found = Vec::new();
        let table = machine::StateTable::new(m.states(), &mut found);
        let initial = machine::initial(m, &table, &mut found);
        if !found.is_empty() || initial.is_none() {
            return Err(found);
        }
        let mut builder = Builder::new(&m.name.text);
        let mut scope = Scope::new();
        let mut variables = BTreeMap::new();
        for member in &m.members {
            self.member(member, given, &mut builder, &mut scope, &mut variables)
                .map_err(|d| vec![d])?;
        }
        let build = |e: BuildError| vec![build_error(&e, m.name.span)];
        let mut locations = BTreeMap::new();
        for state in m.states() {
            let initial = state.marks.contains(&Mark::Initial);
            let id = builder
                .location(&state.name.text, initial, place(state.name.span))
                .map_err(build)?;
            locations.insert(state.name.text.as_str(), id);
        }
        if m.labels().next().is_none() {
            for (_, label) in machine_labels(m).iter().skip(2) {
                builder
                    .action(label.kind, &label.name, &[], place(m.name.span))
                    .map_err(build)?;
            }
        }
        for state in m.states() {
            for t in &state.transitions {
                let (Some(&source), Some(&target)) = (
                    locations.get(state.name.text.as_str()),
                    locations.get(t.target.text.as_str()),
                ) else {
                    return Err(vec![Diagnostic::error(
                        codes::UNKNOWN_STATE,
                        t.target.span,
                        format!("no state is called `{}`", t.target.text),
                    )]);
                };
                for event in &t.events {
                    let step = self.step(m, t, event, &mut builder, &scope, &variables);
                    let (action, guard, assignments) = step.map_err(|d| vec![d])?;
                    builder
                        .transition(source, action, guard, assignments, target, place(t.span))
                        .map_err(|e| vec![build_error(&e, t.span)])?;
                }
            }
        }
        builder.build().map_err(build)
    }

    fn member(
        &self,
        member: &'f Member,
        given: &BTreeSet<&str>,
        builder: &mut Builder,
        scope: &mut Scope,
        variables: &mut BTreeMap<&'f str, Var>,
    ) -> Result<(), Diagnostic> {
        match member {
            Member::Const(bindings) => {
                for b in bindings {
                    let sort = self.terms.sort(&b.sort)?;
                    let name = b.name.text.as_str();
                    let term = match &b.value {
                        Some(value) if !given.contains(name) => self
                            .terms
                            .term(value, scope, Some(&sort))?
                            .coerce(&sort)
                            .map_err(|e| type_error(&e, value.span))?,
                        _ => builder
                            .constant(name, sort, place(b.span))
                            .map_err(|e| build_error(&e, b.span))?
                            .term(),
                    };
                    scope.insert(b.name.text.clone(), term);
                }
            }
            Member::Var(bindings) => {
                for b in bindings {
                    let sort = self.terms.sort(&b.sort)?;
                    let initial = match &b.value {
                        Some(value) => Some(self.terms.term(value, scope, Some(&sort))?),
                        None => None,
                    };
                    let var = builder
                        .variable(&b.name.text, sort, initial, place(b.span))
                        .map_err(|e| build_error(&e, b.span))?;
                    scope.insert(b.name.text.clone(), var.term());
                    variables.insert(&b.name.text, var);
                }
            }
            Member::Assume { condition, span } => {
                let term = self.terms.term(condition, scope, Some(&TermSort::Bool))?;
                builder.assume(term).map_err(|e| build_error(&e, *span))?;
            }
            Member::Labels { kind, labels, .. } => {
                for label in labels {
                    let params = label
                        .params
                        .iter()
                        .map(|p| Ok((p.name.text.as_str(), self.terms.sort(&p.sort)?)))
                        .collect::<Result<Vec<_>, Diagnostic>>()?;
                    builder
                        .action(*kind, &label.name.text, &params, place(label.name.span))
                        .map_err(|e| build_error(&e, label.name.span))?;
                }
            }
            Member::State(_) => {}
        }
        Ok(())
    }

    /// Action, guard and assignments of one event of a transition.
    #[expect(clippy::type_complexity, reason = "the parts of one transition")]
    fn step(
        &self,
        m: &Machine,
        t: &Transition,
        event: &Event,
        builder: &mut Builder,
        scope: &Scope,
        variables: &BTreeMap<&'f str, Var>,
    ) -> Result<(ActionId, Option<Term>, Vec<(Var, Term)>), Diagnostic> {
        let action = action(m, event, builder)?;
        let mut scope = scope.clone();
        if let EventKind::Label {
            args: Some(args), ..
        } = &event.kind
        {
            let params = builder.params(action);
            if args.len() != params.len() {
                return Err(Diagnostic::error(
                    codes::EVENT_ARITY,
                    event.span,
                    format!("the label has {} parameters", params.len()),
                ));
            }
            for (arg, param) in args.iter().zip(params).filter(|(a, _)| a.text != "_") {
                scope.insert(arg.text.clone(), param.term());
            }
        }
        let guard = t
            .guard
            .as_ref()
            .map(|g| self.terms.term(g, &scope, Some(&TermSort::Bool)))
            .transpose()?;
        let assignments = self.assignments(&t.effects, &scope, variables)?;
        Ok((action, guard, assignments))
    }

    /// Parallel assignments. Writes to parts of one variable become one write of the whole; all of
    /// them read old values, and of two that hit the same part the later one counts.
    fn assignments(
        &self,
        effects: &[Effect],
        scope: &Scope,
        variables: &BTreeMap<&'f str, Var>,
    ) -> Result<Vec<(Var, Term)>, Diagnostic> {
        let mut order: Vec<&str> = Vec::new();
        let mut pending = Scope::new();
        let mut whole = BTreeSet::new();
        for effect in effects {
            let root = root(&effect.place);
            let var = root.and_then(|r| variables.get(r));
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
            let current = self.read(&effect.place, scope, &pending)?;
            let value = self
                .terms
                .term(&effect.value, scope, Some(current.sort()))?;
            let new = self.write(&effect.place, value, scope, &pending)?;
            pending.insert(root.to_owned(), new);
            if !order.contains(&root) {
                order.push(root);
            }
        }
        Ok(order
            .into_iter()
            .filter_map(|root| Some((variables.get(root)?.clone(), pending.get(root)?.clone())))
            .collect())
    }

    /// The present value of a place, with the writes that came before.
    fn read(&self, at: &Expr, scope: &Scope, pending: &Scope) -> Result<Term, Diagnostic> {
        let typed = |e| type_error(&e, at.span);
        match &at.kind {
            ExprKind::Name(name) if pending.contains_key(name) => Ok(pending[name].clone()),
            ExprKind::Index(base, index) => {
                let args = vec![
                    self.read(base, scope, pending)?,
                    self.terms.term(index, scope, None)?,
                ];
                Term::apply(Op::Select, args, place(at.span)).map_err(typed)
            }
            ExprKind::Field(base, field) => {
                let base = self.read(base, scope, pending)?;
                Term::field(base, &field.text, place(at.span)).map_err(typed)
            }
            _ => self.terms.term(at, scope, None),
        }
    }

    /// The new value of the variable that a place is part of.
    fn write(
        &self,
        at: &Expr,
        value: Term,
        scope: &Scope,
        pending: &Scope,
    ) -> Result<Term, Diagnostic> {
        let typed = |e| type_error(&e, at.span);
        match &at.kind {
            ExprKind::Index(base, index) => {
                let args = vec![
                    self.read(base, scope, pending)?,
                    self.terms.term(index, scope, None)?,
                    value,
                ];
                let new = Term::apply(Op::Store, args, place(at.span)).map_err(typed)?;
                self.write(base, new, scope, pending)
            }
            ExprKind::Field(base, field) => {
                let old = self.read(base, scope, pending)?;
                let new = Term::update(old, &field.text, value, place(at.span)).map_err(typed)?;
                self.write(base, new, scope, pending)
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

/// The action of an event; `i` is one of its own.
fn action(m: &Machine, event: &Event, builder: &mut Builder) -> Result<ActionId, Diagnostic> {
    let named = |kind, name: &str, builder: &Builder| builder.model().find_action(kind, name);
    match &event.kind {
        EventKind::Tau => match named(LabelKind::Internal, "i", builder) {
            Some(id) => Ok(id),
            None => builder
                .action(LabelKind::Internal, "i", &[], place(event.span))
                .map_err(|e| build_error(&e, event.span)),
        },
        EventKind::Label { name, .. } => {
            let labels = machine_labels(m);
            let id = event_id(event, &labels).and_then(|id| {
                let label = labels.label(id);
                named(label.kind, &label.name, builder)
            });
            let whose = format!("system `{}`", m.name.text);
            id.ok_or_else(|| match event_id(event, &labels) {
                Some(_) => Diagnostic::error(
                    codes::BAD_TERM,
                    event.span,
                    format!("`{}` is neither input, output nor internal", name.text),
                ),
                None => unknown_label(event, &labels, &whose),
            })
        }
        EventKind::Delta | EventKind::Any => Err(Diagnostic::error(
            codes::EVENT_NOT_HERE,
            event.span,
            "this event cannot stand in a system",
        )),
    }
}

fn compose(parts: Vec<Iosts>, sync: &Sync, span: Span) -> Result<Iosts> {
    let gates = match sync {
        Sync::All => Gates::All,
        Sync::Interleave => Gates::None,
        Sync::On(names) => Gates::Names(names.iter().map(|n| n.text.clone()).collect()),
    };
    let mut parts = parts.into_iter();
    let first = parts.next().ok_or_else(|| {
        vec![Diagnostic::error(
            codes::EACH_RANGE,
            span,
            "the composition has no parts",
        )]
    })?;
    parts.try_fold(first, |left, right| {
        left.compose(&right, &gates)
            .map_err(|e| vec![compose_error(&e, span)])
    })
}

/// An explicit system as a symbolic one without data.
fn from_lts(name: &str, lts: &Lts, span: Span) -> Result<Iosts> {
    let at = place(span);
    let wrong = |e: BuildError| vec![build_error(&e, span)];
    let mut builder = Builder::new(name);
    let mut actions: BTreeMap<LabelId, ActionId> = BTreeMap::new();
    for (id, label) in lts.labels().iter() {
        if id == LabelId::DELTA {
            continue;
        }
        let (kind, text) = if id == LabelId::TAU {
            (LabelKind::Internal, "i")
        } else {
            (label.kind, &*label.name)
        };
        actions.insert(id, builder.action(kind, text, &[], at).map_err(wrong)?);
    }
    let mut locations = Vec::new();
    for state in lts.states() {
        let text = format!("{}.{}", name, state.index());
        let initial = state == lts.initial();
        locations.push(builder.location(&text, initial, at).map_err(wrong)?);
    }
    for state in lts.states() {
        for (label, target) in lts.steps(state) {
            let Some(&action) = actions.get(label) else {
                continue;
            };
            let (source, target) = (locations[state.index()], locations[target.index()]);
            builder
                .transition(source, action, None, Vec::new(), target, at)
                .map_err(wrong)?;
        }
    }
    builder.build().map_err(wrong)
}
