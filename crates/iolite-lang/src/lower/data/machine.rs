//! A machine with data, transition by transition.

use std::collections::{BTreeMap, BTreeSet};

use iolite_expr::{Sort as TermSort, Term, Var};
use iolite_lts::{LabelKind, Labels};
use iolite_sts::{BuildError, Builder, GateId, Iosts};

use super::assignment::Assignments;
use super::{Result, build_error};
use crate::lower::machine::{StateTable, initial};
use crate::lower::term::{Scope, Terms, place, type_error};
use crate::names::{event_id, machine_labels, unknown_label};
use crate::syntax::ast::{Binding, Event, EventKind, LabelDecl, Machine, Mark, Member, Transition};
use crate::{Diagnostic, codes};

/// The machine with values for its constants where it declares them, unless they are `given`.
pub(super) fn lower(m: &Machine, given: &BTreeSet<&str>, terms: &Terms<'_>) -> Result<Iosts> {
    let mut found = Vec::new();
    let table = StateTable::new(m.states(), &mut found);
    let initial = initial(m, &table, &mut found);
    if !found.is_empty() || initial.is_none() {
        return Err(found);
    }
    let mut lowering = MachineLowering {
        machine: m,
        labels: machine_labels(m),
        terms,
        builder: Builder::new(&m.name.text),
        scope: Scope::new(),
        variables: BTreeMap::new(),
    };
    for member in &m.members {
        lowering.member(member, given).map_err(|d| vec![d])?;
    }
    lowering.transitions()?;
    lowering
        .builder
        .build()
        .map_err(|e| vec![build_error(&e, m.name.span)])
}

pub(super) struct MachineLowering<'a, 'f> {
    pub(super) machine: &'a Machine,
    pub(super) labels: Labels,
    pub(super) terms: &'a Terms<'f>,
    pub(super) builder: Builder,
    /// Constants and variables.
    pub(super) scope: Scope,
    pub(super) variables: BTreeMap<&'a str, Var>,
}

impl<'a> MachineLowering<'a, '_> {
    pub(super) fn member(
        &mut self,
        member: &'a Member,
        given: &BTreeSet<&str>,
    ) -> Result<(), Diagnostic> {
        match member {
            Member::Const(bindings) => {
                for b in bindings {
                    self.constant(b, given)?;
                }
            }
            Member::Var(bindings) => {
                for b in bindings {
                    self.variable(b)?;
                }
            }
            Member::Assume { condition, span } => {
                let term = self
                    .terms
                    .term(condition, &self.scope, Some(&TermSort::Bool))?;
                self.builder
                    .assume(term)
                    .map_err(|e| build_error(&e, *span))?;
            }
            Member::Labels { kind, labels, .. } => {
                for label in labels {
                    self.label(*kind, label)?;
                }
            }
            Member::State(_) => {}
        }
        Ok(())
    }

    fn constant(&mut self, b: &Binding, given: &BTreeSet<&str>) -> Result<(), Diagnostic> {
        let sort = self.terms.sort(&b.sort)?;
        let name = b.name.text.as_str();
        let term = match &b.value {
            Some(value) if !given.contains(name) => self
                .terms
                .term(value, &self.scope, Some(&sort))?
                .coerce(&sort)
                .map_err(|e| type_error(&e, value.span))?,
            _ => self
                .builder
                .constant(name, sort, place(b.span))
                .map_err(|e| build_error(&e, b.span))?
                .term(),
        };
        self.scope.insert(b.name.text.clone(), term);
        Ok(())
    }

    fn variable(&mut self, b: &'a Binding) -> Result<(), Diagnostic> {
        let sort = self.terms.sort(&b.sort)?;
        let initial = match &b.value {
            Some(value) => Some(self.terms.term(value, &self.scope, Some(&sort))?),
            None => None,
        };
        let var = self
            .builder
            .variable(&b.name.text, sort, initial, place(b.span))
            .map_err(|e| build_error(&e, b.span))?;
        self.scope.insert(b.name.text.clone(), var.term());
        self.variables.insert(&b.name.text, var);
        Ok(())
    }

    fn label(&mut self, kind: LabelKind, label: &LabelDecl) -> Result<(), Diagnostic> {
        let params = label
            .params
            .iter()
            .map(|p| Ok((p.name.text.as_str(), self.terms.sort(&p.sort)?)))
            .collect::<Result<Vec<_>, Diagnostic>>()?;
        self.builder
            .gate(kind, &label.name.text, &params, place(label.name.span))
            .map_err(|e| build_error(&e, label.name.span))?;
        Ok(())
    }

    fn transitions(&mut self) -> Result<()> {
        let m = self.machine;
        let build = |e: BuildError| vec![build_error(&e, m.name.span)];
        let mut locations = BTreeMap::new();
        for state in m.states() {
            let initial = state.marks.contains(&Mark::Initial);
            let id = self
                .builder
                .location(&state.name.text, initial, place(state.name.span))
                .map_err(build)?;
            locations.insert(state.name.text.as_str(), id);
        }
        if m.labels().next().is_none() {
            for (_, label) in self.labels.iter().skip(2) {
                self.builder
                    .gate(label.kind, &label.name, &[], place(m.name.span))
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
                    let step = self.step(t, event);
                    let (action, guard, assignments) = step.map_err(|d| vec![d])?;
                    self.builder
                        .transition(source, action, guard, assignments, target, place(t.span))
                        .map_err(|e| vec![build_error(&e, t.span)])?;
                }
            }
        }
        Ok(())
    }

    /// Action, guard and assignments of one event of a transition.
    #[expect(clippy::type_complexity, reason = "the parts of one transition")]
    fn step(
        &mut self,
        t: &Transition,
        event: &Event,
    ) -> Result<(GateId, Option<Term>, Vec<(Var, Term)>), Diagnostic> {
        let action = self.gate(event)?;
        let mut scope = self.scope.clone();
        if let EventKind::Label {
            args: Some(args), ..
        } = &event.kind
        {
            let params = self.builder.params(action);
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
        let assignments = Assignments::new(self.terms, &scope, &self.variables).of(&t.effects)?;
        Ok((action, guard, assignments))
    }

    /// The action of an event; `i` is one of its own.
    fn gate(&mut self, event: &Event) -> Result<GateId, Diagnostic> {
        let named = |kind, name: &str, builder: &Builder| builder.model().find_gate(kind, name);
        match &event.kind {
            EventKind::Tau => match named(LabelKind::Internal, "i", &self.builder) {
                Some(id) => Ok(id),
                None => self
                    .builder
                    .gate(LabelKind::Internal, "i", &[], place(event.span))
                    .map_err(|e| build_error(&e, event.span)),
            },
            EventKind::Label { name, .. } => {
                let id = event_id(event, &self.labels);
                let action = id.and_then(|id| {
                    let label = self.labels.label(id);
                    named(label.kind, &label.name, &self.builder)
                });
                action.ok_or_else(|| {
                    if id.is_none() {
                        let whose = format!("system `{}`", self.machine.name.text);
                        return unknown_label(event, &self.labels, &whose);
                    }
                    Diagnostic::error(
                        codes::BAD_TERM,
                        event.span,
                        format!("`{}` is neither input, output nor internal", name.text),
                    )
                })
            }
            EventKind::Delta | EventKind::Any | EventKind::Offer { .. } => Err(Diagnostic::error(
                codes::EVENT_NOT_HERE,
                event.span,
                "this event cannot stand in a system",
            )),
        }
    }
}
