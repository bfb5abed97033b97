//! Steps of control points, and how they meet.

use iolite_expr::{Op, Sort, Substitution, Term, Value, Var};
use iolite_lts::LabelKind;

use super::super::Stop;
use super::config::Config;
use crate::gate::Pattern;
use crate::lower::term::{literal, place, type_error};
use crate::{Diagnostic, Span, codes};

/// What a step shows.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Internal,
    /// The end, with what it hands on.
    Exit(Vec<Term>),
    Visible {
        kind: LabelKind,
        name: String,
        args: Vec<Term>,
    },
}

/// A step with its conditions. `fresh` are values that it chooses: those that its action takes, and those of
/// choices.
///
/// A term may have no value, so the order of conditions matters: those of `guard` come first, then what the
/// action carries is computed, then those of `condition` are asked. It is the order of the rules by values.
#[derive(Clone, Debug)]
pub(super) struct Step<'f> {
    pub(super) action: Action,
    /// What has to hold before the action is offered, and how the values of parts that meet are related. It
    /// protects the terms that the action carries.
    pub(super) guard: Vec<Term>,
    /// What is asked of the values that the action carries.
    pub(super) condition: Vec<Term>,
    pub(super) fresh: Vec<Var>,
    pub(super) target: Config<'f>,
    pub(super) span: Span,
}

fn too_large(span: Span) -> Stop {
    Diagnostic::error(
        codes::BAD_TERM,
        span,
        "the terms of this step grow too large",
    )
    .into()
}

impl Step<'_> {
    fn args_mut(&mut self) -> &mut [Term] {
        match &mut self.action {
            Action::Internal => &mut [],
            Action::Exit(args) | Action::Visible { args, .. } => args,
        }
    }

    /// Whether a chosen value still matters.
    pub(super) fn reads(&self, var: &Var) -> bool {
        let args: &[Term] = match &self.action {
            Action::Internal => &[],
            Action::Exit(args) | Action::Visible { args, .. } => args,
        };
        let mut terms = args.iter().chain(&self.guard).chain(&self.condition);
        terms.any(|t| t.reads(var.id)) || self.target.reads(var.id)
    }

    /// Fixes a chosen value to a term that always has a value; it has to be one of its sort.
    pub(super) fn fix(&mut self, var: &Var, term: &Term) -> Result<(), Stop> {
        let belongs = self.replace(var, term)?;
        // What asks whether the value is there comes before what reads it.
        self.guard.splice(0..0, belongs);
        Ok(())
    }

    /// Puts a term where a chosen value is read; what it returns says whether it is one of its sort.
    fn replace(&mut self, var: &Var, term: &Term) -> Result<Option<Term>, Stop> {
        let span = self.span;
        let belongs = belongs(term, &var.sort, span)?;
        let impossible = belongs.as_ref().is_some_and(Term::is_false);
        let narrowed = if impossible {
            literal(var.sort.default_value(), &var.sort, span)?
        } else {
            of_sort(term, &var.sort, span)?
        };
        let mut map = Substitution::new();
        map.insert(var.id, narrowed);
        for arg in self.args_mut() {
            *arg = arg.substitute(&map).map_err(|_| too_large(span))?;
        }
        for condition in self.guard.iter_mut().chain(&mut self.condition) {
            *condition = condition.substitute(&map).map_err(|_| too_large(span))?;
        }
        self.target.substitute(&map).map_err(|_| too_large(span))?;
        self.fresh.retain(|v| v.id != var.id);
        Ok(belongs)
    }

    pub(super) fn is_fresh(&self, term: &Term) -> Option<Var> {
        let var = term.as_var()?;
        self.fresh.iter().find(|v| v.id == var.id).cloned()
    }

    /// Two of its arguments are the same. Both are computed once all of `guard` holds, which so far is what the
    /// parts that meet ask before they offer them.
    fn equate(&mut self, one: usize, two: usize) -> Result<(), Stop> {
        let args = self.args_mut();
        let (first, second) = (args[one].clone(), args[two].clone());
        if first == second {
            return Ok(());
        }
        let choice = |term: &Term, other: &Term| self.is_fresh(term).filter(|v| !other.reads(v.id));
        let (a, b) = (choice(&first, &second), choice(&second, &first));
        if let (Some(a), Some(b)) = (&a, &b) {
            // That of the wider sort stays, and is what the action carries.
            let (var, kept) = if b.sort.fits(&a.sort) && !a.sort.fits(&b.sort) {
                (b, first)
            } else {
                (a, second)
            };
            self.fix(var, &kept)?;
            self.args_mut()[one] = kept;
            return Ok(());
        }
        if let Some((var, term)) = a.zip(Some(&second)).or(b.zip(Some(&first))) {
            if term.is_total() {
                return self.fix(&var, term);
            }
            // A guard that reads the value would compute the term before the guards that protect it.
            if !self.guard.iter().any(|g| g.reads(var.id)) {
                let belongs = self.replace(&var, term)?;
                self.guard.extend(belongs);
                return Ok(());
            }
        }
        // A chosen value that stays is carried, so that it remains one of the action's.
        if self.is_fresh(&first).is_none() && self.is_fresh(&second).is_some() {
            self.args_mut().swap(one, two);
        }
        self.guard.push(equal(&first, &second, self.span)?);
        Ok(())
    }

    /// The step that both do together, each going its own way; `None` if their actions are not the
    /// same. The target of `self` is a composition that the other's is put into.
    pub(super) fn met(&self, other: &Self) -> Result<Option<Self>, Stop> {
        use LabelKind::{Input, Output};
        let (action, count, others) = match (&self.action, &other.action) {
            (Action::Exit(a), Action::Exit(b)) if a.len() == b.len() => {
                (Action::Exit(a.clone()), a.len(), b)
            }
            (
                Action::Visible { kind, name, args },
                Action::Visible {
                    kind: other_kind,
                    name: other_name,
                    args: others,
                },
            ) if name == other_name && args.len() == others.len() => {
                let kind = match (kind, other_kind) {
                    (Input, Input) => Input,
                    _ => Output,
                };
                let (name, args) = (name.clone(), args.clone());
                (Action::Visible { kind, name, args }, others.len(), others)
            }
            _ => return Ok(None),
        };
        let mut step = self.clone();
        step.action = action;
        step.guard.extend(other.guard.iter().cloned());
        // What an output says of its values comes before what inputs ask of them.
        let asks = |step: &Self| matches!(step.action, Action::Visible { kind: Input, .. });
        let (says, asks) = if asks(self) && !asks(other) {
            (other, self)
        } else {
            (self, other)
        };
        step.condition = [says, asks].map(|s| s.condition.as_slice()).concat();
        step.fresh.extend(other.fresh.iter().cloned());
        if let Config::Parallel(_, _, parts) = &mut step.target {
            parts.push(other.target.clone());
        }
        // The other's arguments are carried along, so that what is fixed is fixed in them, too.
        let (Action::Exit(args) | Action::Visible { args, .. }) = &mut step.action else {
            return Ok(None);
        };
        args.extend(others.iter().cloned());
        for k in 0..count {
            step.equate(k, count + k)?;
        }
        if let Action::Exit(args) | Action::Visible { args, .. } = &mut step.action {
            args.truncate(count);
        }
        Ok(Some(step))
    }

    /// The part of a step that is the action, or instance, of a gate, and the part that is not.
    pub(super) fn split(self, gate: &Pattern) -> (Option<Self>, Option<Self>) {
        let Action::Visible { name, args, .. } = &self.action else {
            return (None, Some(self));
        };
        if args.is_empty() || !gate.is_instance() {
            let matches = if args.is_empty() {
                gate.matches(name)
            } else {
                gate.name == *name
            };
            return if matches {
                (Some(self), None)
            } else {
                (None, Some(self))
            };
        }
        if gate.name != *name || gate.values.len() != args.len() {
            return (None, Some(self));
        }
        let mut is = Vec::new();
        for (arg, value) in args.iter().zip(&gate.values) {
            match arg.equals_value(value) {
                Ok(equal) => is.push(equal),
                // Values of another sort are never equal.
                Err(_) => return (None, Some(self)),
            }
        }
        let is = Term::all(is);
        let mut with = self.clone();
        let mut without = self;
        without.condition.push(is.negated());
        with.condition.push(is);
        let possible = |step: Self| (!step.is_impossible()).then_some(step);
        (possible(with), possible(without))
    }

    /// Whether its guard is false by itself.
    pub(super) fn is_impossible(&self) -> bool {
        let mut conditions = self.guard.iter().chain(&self.condition);
        conditions.any(|g| g.simplify().is_false())
    }
}

/// A term as one of a sort that its values belong to: variables have the sort that is declared, not
/// that of what they are given.
pub(super) fn of_sort(term: &Term, sort: &Sort, span: Span) -> Result<Term, Stop> {
    if term.sort() == sort {
        return Ok(term.clone());
    }
    if let Some(value) = term.as_value() {
        return Ok(literal(value.clone(), sort, span)?);
    }
    let wide = if term.sort().is_int() && sort.is_int() {
        Term::apply(Op::Add, vec![term.clone(), 0.into()], place(span))
    } else {
        Ok(term.clone())
    };
    let term = wide.and_then(|term| term.coerce(sort));
    Ok(term.map_err(|e| type_error(&e, span))?)
}

pub(super) fn equal(a: &Term, b: &Term, span: Span) -> Result<Term, Stop> {
    if !a.sort().comparable(b.sort()) {
        return Ok(false.into());
    }
    let equal = Term::apply(Op::Eq, vec![a.clone(), b.clone()], place(span));
    Ok(equal.map_err(|e| type_error(&e, span))?)
}

/// Whether the value of a term belongs to a sort, where that is not clear.
fn belongs(term: &Term, sort: &Sort, span: Span) -> Result<Option<Term>, Stop> {
    if term.sort() == sort || *sort == Sort::Int && term.sort().is_int() {
        return Ok(None);
    }
    if let Some(value) = term.as_value() {
        return Ok((!sort.contains(value)).then(|| false.into()));
    }
    let Sort::Range(range) = sort else {
        if !term.sort().comparable(sort) {
            return Ok(Some(false.into()));
        }
        let message = format!("values of sorts {} and {sort} meet here", term.sort());
        return Err(Diagnostic::error(codes::BAD_TERM, span, message).into());
    };
    if !term.sort().is_int() {
        return Ok(Some(false.into()));
    }
    if let Sort::Range(own) = term.sort()
        && own.lo >= range.lo
        && own.hi <= range.hi
    {
        return Ok(None);
    }
    let end = |n: &iolite_expr::Int| literal(Value::Int(n.clone()), &Sort::Int, span);
    let apply = |op: Op, args: Vec<Term>| {
        Term::apply(op, args, place(span)).map_err(|e| type_error(&e, span))
    };
    let low = apply(Op::Ge, vec![term.clone(), end(&range.lo)?])?;
    let high = apply(Op::Le, vec![term.clone(), end(&range.hi)?])?;
    Ok(Some(Term::all([low, high])))
}
