//! A safety problem: may a system come to one of its violating locations?

use iolite_expr::{Answer, Solver, Span, Substitution, Term, TermTooLarge, Value, Var, qe};

use crate::iosts::{Iosts, LocationId, Transition, TransitionId};
use crate::symbolic::literal;

/// The question, with what every member of the portfolio reads of the model.
#[derive(Debug)]
pub struct Problem<'a> {
    /// The system, mostly S^δ || ω [SYM04, def. 6, 7 and 9].
    pub model: &'a Iosts,
    violating: Vec<bool>,
    /// By transition: the guard holds, and neither it nor an effect faults.
    enabled: Vec<Term>,
    /// By transition: the same without the parameters that no effect reads, where they could be
    /// eliminated.
    fireable: Vec<Term>,
    /// By location: whether transitions lead from it to a violating one.
    leads: Vec<bool>,
    /// By location: the transitions that lead to it and that a first violation can take.
    incoming: Vec<Vec<TransitionId>>,
    /// The conjuncts of Θ that speak of constants alone: they hold in every state.
    lasting: Term,
}

impl<'a> Problem<'a> {
    /// The question whether one of these locations can be reached.
    pub fn new(model: &'a Iosts, violating: &[LocationId]) -> Self {
        let mut marks = vec![false; model.locations().len()];
        for l in violating {
            if let Some(mark) = marks.get_mut(l.index()) {
                *mark = true;
            }
        }
        let mut incoming = vec![Vec::new(); marks.len()];
        for (id, t) in model.transitions() {
            if !marks[t.source.index()] {
                incoming[t.target.index()].push(id);
            }
        }
        let constant = |a: &&Term| {
            let vars = a.free_vars();
            vars.iter()
                .all(|v| model.constants().iter().any(|c| c.var == *v))
        };
        let lasting = model.assumptions().iter().filter(constant);
        let mut leads = vec![false; marks.len()];
        let mut open: Vec<usize> = (0..marks.len()).filter(|l| marks[*l]).collect();
        while let Some(l) = open.pop() {
            if !std::mem::replace(&mut leads[l], true) {
                let before = incoming[l].iter();
                open.extend(before.map(|t: &TransitionId| model.transition(*t).source.index()));
            }
        }
        let enabled: Vec<Term> = model.transitions().map(|(_, t)| enabling(t)).collect();
        let fireable = model
            .transitions()
            .zip(&enabled)
            .map(|((_, t), enabled)| fireable(model, t, enabled));
        Self {
            model,
            violating: marks,
            fireable: fireable.collect(),
            enabled,
            leads,
            incoming,
            lasting: Term::all(lasting.map(sound)).simplify(),
        }
    }

    /// Whether the location is a violating one.
    pub(crate) fn is_violating(&self, location: LocationId) -> bool {
        self.violating[location.index()]
    }

    /// The violating locations.
    pub fn violating(&self) -> impl Iterator<Item = LocationId> + '_ {
        let marked = |(i, on): (usize, &bool)| on.then(|| LocationId::new(i));
        self.violating.iter().enumerate().filter_map(marked)
    }

    /// The condition over V ∪ C ∪ π under which a transition fires.
    pub fn enabled(&self, transition: TransitionId) -> &Term {
        &self.enabled[transition.index()]
    }

    /// The condition under which values of the parameters that no effect reads let a transition fire:
    /// over V ∪ C and the other parameters, as far as that could be found.
    pub(crate) fn fireable(&self, transition: TransitionId) -> &Term {
        &self.fireable[transition.index()]
    }

    /// Whether transitions lead from the location to a violating one, whatever their guards say.
    pub(crate) fn leads_to_violation(&self, location: LocationId) -> bool {
        self.leads[location.index()]
    }

    /// The transitions into a location, without those that leave violating ones: what follows the
    /// first violation does not matter.
    pub fn incoming(&self, location: LocationId) -> &[TransitionId] {
        &self.incoming[location.index()]
    }

    /// What Θ says of the constants alone.
    pub(crate) fn lasting(&self) -> &Term {
        &self.lasting
    }

    /// Θ, as a term that has a value everywhere.
    pub fn initial(&self) -> Term {
        sound(&self.model.initial_condition()).simplify()
    }

    /// A condition on the state after a transition, as one on the state before and the parameters.
    pub fn before(&self, transition: TransitionId, after: &Term) -> Result<Term, TermTooLarge> {
        after.substitute(&self.effects(transition))
    }

    /// The parallel assignments of a transition as a substitution.
    pub fn effects(&self, transition: TransitionId) -> Substitution {
        let variables = self.model.variables();
        let assignments = self.model.transition(transition).assignments.iter();
        assignments
            .map(|(x, e)| (variables[*x].var.id, e.clone()))
            .collect()
    }

    /// The parameters of a transition's action.
    pub fn params(&self, transition: TransitionId) -> &[Var] {
        let action = self.model.transition(transition).action;
        &self.model.gate(action).params
    }

    /// V and then C.
    pub fn data(&self) -> Vec<Var> {
        let variables = self.model.variables().iter().map(|v| v.var.clone());
        let constants = self.model.constants().iter().map(|c| c.var.clone());
        variables.chain(constants).collect()
    }
}

/// The term, false where it has no value.
pub(super) fn sound(term: &Term) -> Term {
    if term.is_total() {
        return term.clone();
    }
    Term::all([term.defined(), term.clone()])
}

/// The condition under which a transition fires, and neither its guard nor an effect faults.
pub(super) fn enabling(t: &Transition) -> Term {
    let effects = t.assignments.iter().map(|(_, e)| e.defined());
    Term::all(
        [t.guard.defined(), t.guard.clone()]
            .into_iter()
            .chain(effects),
    )
    .simplify()
}

fn fireable(model: &Iosts, t: &Transition, enabled: &Term) -> Term {
    let params = &model.gate(t.action).params;
    let read = |p: &Var| t.assignments.iter().any(|(_, e)| e.reads(p.id));
    let free: Vec<Var> = params.iter().filter(|p| !read(p)).cloned().collect();
    if free.iter().all(|p| !enabled.reads(p.id)) {
        return enabled.clone();
    }
    // Where the condition is false it does not fault: its definedness is a part of it.
    let rest = qe::eliminate(&free, enabled);
    rest.map_or_else(|| enabled.clone(), |rest| sound(&rest).simplify())
}

/// Whether some guard or effect may have no value, whatever the state is.
pub(super) fn may_fault(model: &Iosts, solver: &mut Solver) -> bool {
    model.transitions().any(|(_, t)| {
        let fault = faulting(t);
        !fault.is_false() && !matches!(solver.check_with(&fault), Answer::Unsat)
    })
}

/// The condition under which firing a transition meets a term without a value.
pub(super) fn faulting(t: &Transition) -> Term {
    if t.never_faults() {
        return false.into();
    }
    let effects = Term::all(t.assignments.iter().map(|(_, e)| e.defined()));
    let lost = Term::all([t.guard.clone(), effects.negated()]);
    Term::any([t.guard.defined().negated(), lost]).simplify()
}

/// `var == value`.
pub fn equation(var: &Var, value: &Value) -> Term {
    let sides = vec![var.term(), literal(var, value.clone())];
    // A variable and a value of its sort can be compared.
    Term::apply(iolite_expr::Op::Eq, sides, Span::NONE).unwrap_or_else(|_| false.into())
}
