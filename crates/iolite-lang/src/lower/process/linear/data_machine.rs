//! Systems with data as parts of processes: their locations are control points, their variables data of these.

use std::collections::BTreeMap;
use std::rc::Rc;

use iolite_expr::{Sort, Substitution, Term, Var};
use iolite_lts::LabelKind;
use iolite_sts::{Iosts, LocationId, Transition};

use super::super::{Context, Stop};
use super::config::{Config, DataPlace};
use super::step::{Action, Step, of_sort};
use crate::lower::data;
use crate::lower::term::{Scope, unplace};
use crate::syntax::ast::{Expr, Machine, Name};
use crate::{Diagnostic, Span, codes};

/// The systems with data that a process calls, each with values for its constants.
#[derive(Default)]
pub(super) struct DataMachines {
    models: Vec<Iosts>,
    /// By name and values.
    ids: BTreeMap<String, u32>,
}

impl DataMachines {
    /// Where a system begins that is called at `at`.
    pub(super) fn start<'f>(
        &mut self,
        context: Context<'f>,
        m: &'f Machine,
        args: &'f [(Name, Expr)],
        scope: &Scope,
        at: Span,
    ) -> Result<Config<'f>, Stop> {
        let mut key = m.name.text.clone();
        for (name, expr) in args {
            let value = context.terms.value(expr, scope, None)?;
            key += &format!(",{}={value}", name.text);
        }
        let machine = if let Some(known) = self.ids.get(&key).copied() {
            known
        } else {
            let model = data::instance(context, m, args, scope, &m.name.text);
            let model = model.map_err(Stop::Found)?;
            check(&model, &m.name.text, at)?;
            let new = u32::try_from(self.models.len()).map_err(|_| Stop::Budget)?;
            self.models.push(model);
            self.ids.insert(key, new);
            new
        };
        let model = &self.models[machine as usize];
        let mut values = Scope::new();
        for variable in model.variables() {
            let Some(initial) = &variable.initial else {
                continue;
            };
            let value = of_sort(&initial.simplify(), &variable.var.sort, at)?;
            values.insert(variable.var.name.to_string(), value);
        }
        Ok(self.at(machine, model.initial(), values))
    }

    fn at<'f>(&self, machine: u32, location: LocationId, values: Scope) -> Config<'f> {
        let model = &self.models[machine as usize];
        let place = model.location(location);
        let place = DataPlace {
            machine,
            location,
            text: format!("{}.{}", model.name(), place.name),
            span: unplace(place.span, Span::default()),
        };
        Config::Data(Rc::new(place), values)
    }

    /// The steps from a location, with the terms that its variables have there.
    pub(super) fn steps<'f>(
        &self,
        place: &DataPlace,
        values: &Scope,
        choose: &mut dyn FnMut(&str, Sort) -> Var,
    ) -> Result<Vec<Step<'f>>, Stop> {
        let model = &self.models[place.machine as usize];
        let outgoing = model.outgoing(place.location).iter();
        let mut steps = Vec::new();
        for &transition in outgoing {
            let transition = model.transition(transition);
            steps.extend(self.step(place.machine, transition, values, choose)?);
        }
        Ok(steps)
    }

    /// One step; `None` where what is known of the variables excludes it.
    fn step<'f>(
        &self,
        machine: u32,
        transition: &Transition,
        values: &Scope,
        choose: &mut dyn FnMut(&str, Sort) -> Var,
    ) -> Result<Option<Step<'f>>, Stop> {
        let model = &self.models[machine as usize];
        let span = unplace(transition.span, Span::default());
        let gate = model.gate(transition.action);
        let mut map = Substitution::new();
        for variable in model.variables() {
            if let Some(term) = values.get(&*variable.var.name) {
                map.insert(variable.var.id, term.clone());
            }
        }
        let mut fresh = Vec::new();
        for param in &gate.params {
            let var = choose(&param.name, param.sort.clone());
            map.insert(param.id, var.term());
            fresh.push(var);
        }
        let replaced = |term: &Term| {
            let replaced = term.substitute(&map).map(|term| term.simplify());
            replaced.map_err(|_| {
                let message = "the terms of this step grow too large";
                Stop::from(Diagnostic::error(codes::BAD_TERM, span, message))
            })
        };
        let guard = replaced(&transition.guard)?;
        if guard.is_false() {
            return Ok(None);
        }
        let mut target = values.clone();
        for (number, term) in &transition.assignments {
            let var = &model.variables()[*number].var;
            let value = of_sort(&replaced(term)?, &var.sort, span)?;
            target.insert(var.name.to_string(), value);
        }
        let action = match gate.kind {
            LabelKind::Internal => Action::Internal,
            kind => Action::Visible {
                kind,
                name: gate.name.to_string(),
                args: fresh.iter().map(Var::term).collect(),
            },
        };
        Ok(Some(Step {
            action,
            guard: Vec::new(),
            condition: vec![guard],
            fresh,
            target: self.at(machine, transition.target, target),
            span,
        }))
    }
}

/// What a control point needs to know of a system: where it begins.
fn check(model: &Iosts, name: &str, at: Span) -> Result<(), Stop> {
    let wrong = |what: String| {
        let message = format!("{what}, and `{name}` is called within a process");
        let error = Diagnostic::error(codes::INSTANCE_ARGUMENT, at, message);
        Err(Stop::from(error.hint(
            "a process that calls a system knows where it begins",
        )))
    };
    if let Some(constant) = model.constants().first() {
        return wrong(format!("constant `{}` has no value", constant.var.name));
    }
    let open = model.variables().iter().find(|v| v.initial.is_none());
    if let Some(open) = open {
        return wrong(format!("variable `{}` has no initial value", open.var.name));
    }
    if model.assumptions().iter().any(|a| !a.simplify().is_true()) {
        return wrong("an assumption is not met by the values that are given".to_owned());
    }
    Ok(())
}
