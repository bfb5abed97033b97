//! The linear form as an [`Iosts`]: actions with their parameters, variables, locations, transitions.

use std::collections::{BTreeMap, BTreeSet};

use iolite_expr::{Sort, Term, Var};
use iolite_lts::LabelKind;
use iolite_sts::{BuildError, Builder, GateId, Iosts, LocationId};

use super::config::{Config, MOST_STATIC};
use super::step::{Action, equal};
use super::{Arrival, LinearStep, Stop};
use crate::lower::data::{build_error, declared_sorts};
use crate::lower::process::Context;
use crate::lower::term::{literal, place};
use crate::syntax::ast::{Behaviour, Event, EventKind, Offer};
use crate::{Diagnostic, Span, codes};

/// The parameters of an action.
struct Signature {
    names: Vec<String>,
    sorts: Vec<Sort>,
    span: Span,
}

pub(super) struct Emission<'f> {
    context: Context<'f>,
    builder: Builder,
    span: Span,
    locations: Vec<LocationId>,
}

impl<'f> Emission<'f> {
    pub(super) fn new(context: Context<'f>, name: &str, span: Span) -> Self {
        Self {
            context,
            builder: Builder::new(name),
            span,
            locations: Vec::new(),
        }
    }

    fn wrong(span: Span) -> impl Fn(BuildError) -> Stop {
        move |e| build_error(&e, span).into()
    }

    /// Declares the actions: of the alphabet, of the steps, and what else occurs in the text.
    pub(super) fn declare(
        &mut self,
        over: &[Event],
        body: &Behaviour,
        steps: &[LinearStep<'_>],
    ) -> Result<(), Stop> {
        let mut signatures: BTreeMap<(LabelKind, String), Signature> = BTreeMap::new();
        for event in over {
            self.declared(event, &mut signatures)?;
        }
        let fixed: BTreeSet<(LabelKind, String)> = signatures.keys().cloned().collect();
        for LinearStep { step, .. } in steps {
            let Action::Visible { kind, name, args } = &step.action else {
                continue;
            };
            let key = (*kind, name.clone());
            let is_fixed = fixed.contains(&key);
            let signature = signatures.entry(key).or_insert_with(|| Signature {
                names: (0..args.len()).map(|k| format!("p{k}")).collect(),
                sorts: args.iter().map(|a| a.sort().clone()).collect(),
                span: step.span,
            });
            if signature.sorts.len() != args.len() {
                return Err(different(name, signature, step.span));
            }
            for (k, arg) in args.iter().enumerate() {
                if let Some(var) = step.is_fresh(arg)
                    && signature.names[k] == format!("p{k}")
                    && !signature.names.iter().any(|n| *n == *var.name)
                {
                    signature.names[k] = var.name.to_string();
                }
                if !is_fixed {
                    match joined(&signature.sorts[k], arg.sort()) {
                        Some(sort) => signature.sorts[k] = sort,
                        None => return Err(different(name, signature, step.span)),
                    }
                }
            }
        }
        for (kind, name) in self.context.names.labels_of_body(body) {
            let is_action = matches!(kind, LabelKind::Input | LabelKind::Output);
            if is_action && !signatures.contains_key(&(kind, name.clone())) {
                // Of a system with data that never does it here.
                let sorts = declared_sorts(self.context, &name)
                    .next()
                    .unwrap_or_default();
                let signature = Signature {
                    names: (0..sorts.len()).map(|k| format!("p{k}")).collect(),
                    sorts,
                    span: self.span,
                };
                signatures.insert((kind, name), signature);
            }
        }
        for ((kind, name), signature) in signatures {
            let sorts = if fixed.contains(&(kind, name.clone())) {
                signature.sorts
            } else {
                self.shared(&name, signature.sorts)
            };
            let names = signature.names.iter().map(String::as_str);
            let params: Vec<(&str, Sort)> = names.zip(sorts).collect();
            self.builder
                .gate(kind, &name, &params, place(signature.span))
                .map_err(Self::wrong(signature.span))?;
        }
        Ok(())
    }

    /// An action of the alphabet after `over`.
    fn declared(
        &self,
        event: &Event,
        signatures: &mut BTreeMap<(LabelKind, String), Signature>,
    ) -> Result<(), Stop> {
        let (kind, name, offers): (_, _, &[Offer]) = match &event.kind {
            EventKind::Label { kind, name, .. } => (*kind, name, &[]),
            EventKind::Offer {
                kind, name, offers, ..
            } => (*kind, name, offers),
            _ => return Ok(()),
        };
        let (mut names, mut sorts) = (Vec::new(), Vec::new());
        for (k, offer) in offers.iter().enumerate() {
            match offer {
                Offer::Variable(param) => {
                    names.push(param.name.text.clone());
                    sorts.push(self.context.terms.sort(&param.sort)?);
                }
                Offer::Value(expr) => {
                    names.push(format!("p{k}"));
                    let term = self.context.terms.term(expr, &BTreeMap::new(), None)?;
                    sorts.push(term.sort().clone());
                }
            }
        }
        let span = event.span;
        let signature = Signature { names, sorts, span };
        signatures.insert((kind, name.text.clone()), signature);
        Ok(())
    }

    /// The sorts that a system of the file declares for an action of this name, where they hold all
    /// that it carries here: the two may meet.
    fn shared(&self, name: &str, own: Vec<Sort>) -> Vec<Sort> {
        let holds = |sorts: &Vec<Sort>| {
            let mut pairs = sorts.iter().zip(&own);
            sorts.len() == own.len() && pairs.all(|(wide, sort)| sort.fits(wide))
        };
        let declared = declared_sorts(self.context, name).find(holds);
        declared.unwrap_or(own)
    }

    pub(super) fn data(
        &mut self,
        vars: &[Var],
        initial: &BTreeMap<usize, Term>,
    ) -> Result<(), Stop> {
        for (k, var) in vars.iter().enumerate() {
            let value = match initial.get(&k) {
                Some(term) => term.clone(),
                None => literal(var.sort.default_value(), &var.sort, self.span)?,
            };
            let sort = var.sort.clone();
            self.builder
                .variable(&var.name, sort, Some(value), place(self.span))
                .map_err(Self::wrong(self.span))?;
        }
        Ok(())
    }

    pub(super) fn locations(&mut self, points: &[Config<'_>]) -> Result<(), Stop> {
        let mut taken: BTreeMap<String, usize> = BTreeMap::new();
        for (k, point) in points.iter().enumerate() {
            let text = point.text(self.context.names);
            let count = taken.entry(text.clone()).or_default();
            *count += 1;
            let name = match *count {
                1 => text,
                n => format!("{text} #{n}"),
            };
            let span = point.span();
            let id = self
                .builder
                .location(&name, k == 0, place(span))
                .map_err(Self::wrong(span))?;
            self.locations.push(id);
        }
        Ok(())
    }

    /// One transition, or one for each of finitely many values that nobody sees.
    pub(super) fn transition(
        &mut self,
        linear: LinearStep<'_>,
        arrival: Arrival,
        live: &[usize],
        vars: &[Var],
    ) -> Result<(), Stop> {
        let LinearStep { source, mut step } = linear;
        let span = step.span;
        // What the variables become takes part as further arguments while values are fixed.
        let action = std::mem::replace(&mut step.action, Action::Internal);
        let (targets, values): (Vec<usize>, Vec<Term>) = arrival.values.into_iter().unzip();
        let (kind, name, args) = match action {
            Action::Visible { kind, name, args } => (kind, name, args),
            Action::Internal | Action::Exit(_) => (LabelKind::Internal, "i".to_owned(), Vec::new()),
        };
        let count = args.len();
        step.action = Action::Exit(args.into_iter().chain(values).collect());
        let gate = if kind == LabelKind::Internal {
            step.fresh = {
                let reads = |v: &Var| step.reads(v);
                step.fresh.iter().filter(|v| reads(v)).cloned().collect()
            };
            self.internal(&step.fresh, span)?
        } else {
            let known = self.builder.model().find_gate(kind, &name);
            known.ok_or(Stop::Budget)?
        };
        let params: Vec<Var> = self.builder.params(gate).to_vec();
        if kind == LabelKind::Internal {
            for (var, param) in step.fresh.clone().iter().zip(&params) {
                step.fix(var, &param.term())?;
            }
        }
        let mut given = Vec::new();
        for (k, param) in params.iter().enumerate().take(count) {
            let Action::Exit(args) = &step.action else {
                break;
            };
            match step.is_fresh(&args[k]) {
                Some(var) => step.fix(&var, &param.term())?,
                None => given.push(k),
            }
        }
        // The values that a process offers are computed once its guards hold.
        for k in given {
            let Action::Exit(args) = &step.action else {
                break;
            };
            step.guard.push(equal(&params[k].term(), &args[k], span)?);
        }
        let hidden: Vec<Var> = step.fresh.clone();
        let hidden: Vec<Var> = hidden.into_iter().filter(|v| step.reads(v)).collect();
        let mut all = vec![step];
        for var in hidden {
            let Some(values) = var.sort.values(MOST_STATIC) else {
                return Err(hidden_choice(&var, &name, span));
            };
            let mut more = Vec::new();
            for one in all {
                for value in &values {
                    let mut one = one.clone();
                    one.fix(&var, &literal(value.clone(), &var.sort, span)?)?;
                    more.push(one);
                }
            }
            all = more;
        }
        for one in all.into_iter().filter(|one| !one.is_impossible()) {
            let Action::Exit(args) = one.action else {
                continue;
            };
            let mut assignments: Vec<(Var, Term)> = Vec::new();
            for (target, value) in targets.iter().zip(args.into_iter().skip(count)) {
                let var = &vars[*target];
                if value.as_var().is_none_or(|v| v.id != var.id) {
                    assignments.push((var.clone(), value));
                }
            }
            for &dead in live.iter().filter(|v| !targets.contains(v)) {
                let var = &vars[dead];
                let value = literal(var.sort.default_value(), &var.sort, span)?;
                assignments.push((var.clone(), value));
            }
            let conditions = [one.guard, one.condition].concat();
            let guard = (!conditions.is_empty()).then(|| Term::all(conditions));
            let (from, to) = (self.locations[source], self.locations[arrival.location]);
            self.builder
                .transition(from, gate, guard, assignments, to, place(span))
                .map_err(Self::wrong(span))?;
        }
        Ok(())
    }

    /// The internal action that chooses these values.
    fn internal(&mut self, fresh: &[Var], span: Span) -> Result<GateId, Stop> {
        let mut name = "i".to_owned();
        for var in fresh {
            name.push_str(&format!(" {}: {}", var.name, var.sort));
        }
        if let Some(known) = self.builder.model().find_gate(LabelKind::Internal, &name) {
            return Ok(known);
        }
        let names: Vec<String> = (0..fresh.len()).map(|k| format!("p{k}")).collect();
        let sorts = fresh.iter().map(|v| v.sort.clone());
        let params: Vec<(&str, Sort)> = names.iter().map(String::as_str).zip(sorts).collect();
        self.builder
            .gate(LabelKind::Internal, &name, &params, place(span))
            .map_err(Self::wrong(span))
    }

    pub(super) fn build(self) -> Result<Iosts, Stop> {
        self.builder.build().map_err(Self::wrong(self.span))
    }
}

/// The sort of values of either.
fn joined(a: &Sort, b: &Sort) -> Option<Sort> {
    if a == b {
        return Some(a.clone());
    }
    match (a, b) {
        (Sort::Range(a), Sort::Range(b)) => {
            let (lo, hi) = (
                a.lo.clone().min(b.lo.clone()),
                a.hi.clone().max(b.hi.clone()),
            );
            Sort::range(lo, hi).ok()
        }
        _ if a.is_int() && b.is_int() => Some(Sort::Int),
        _ if a.fits(b) => Some(b.clone()),
        _ if b.fits(a) => Some(a.clone()),
        _ => None,
    }
}

fn different(name: &str, first: &Signature, span: Span) -> Stop {
    let message = format!("`{name}` carries values of different sorts, or numbers of them, here");
    Diagnostic::error(codes::DATA_COMPOSITION, span, message)
        .related(first.span, "and here")
        .into()
}

fn hidden_choice(var: &Var, action: &str, span: Span) -> Stop {
    let (name, sort) = (&var.name, &var.sort);
    let message =
        format!("`{name}` is chosen among the values of {sort}, and `{action}` does not carry it");
    Diagnostic::error(codes::HIDDEN_CHOICE, span, message)
        .hint(format!(
            "let the action carry it, or choose it with an internal step: `i; …{name}…`"
        ))
        .into()
}
