//! The guard of an output or internal transition, taken apart for firing it.

use iolite_expr::{Env, Kind, Op, Term, Value, Var, VarId};

use crate::iosts::{Iosts, TransitionId, space};

/// What has to be known of a guard to fire it from one state after the other.
#[derive(Debug)]
pub(crate) struct Firing {
    /// The guard has a value.
    pub(crate) defined: Term,
    /// Whether that depends on the parameters, and on which variables.
    pub(crate) faults_by_value: bool,
    pub(crate) faults_by: Vec<usize>,
    /// It has a value, and holds.
    pub(crate) guard: Term,
    /// By parameter: the term over V ∪ C that a conjunct `m == f[head]` wants it to equal.
    equal: Vec<Option<Term>>,
    /// Whether these terms have the sorts of the parameters.
    pub(crate) fits: bool,
}

impl Firing {
    pub(crate) fn new(model: &Iosts, transition: TransitionId) -> Self {
        let transition = model.transition(transition);
        let guard = &transition.guard;
        let defined = guard.defined();
        let params = &model.gate(transition.action).params;
        let mut equal = vec![None; params.len()];
        determine(guard, params, &mut equal);
        let mut sorts = equal.iter().zip(params);
        Self {
            fits: sorts.all(|(e, p)| e.as_ref().is_some_and(|e| *e.sort() == p.sort)),
            faults_by_value: reads_parameters(&defined),
            faults_by: variables(&defined),
            guard: Term::all([defined.clone(), guard.clone()]).simplify(),
            defined,
            equal,
        }
    }

    /// The values that the guard wants its parameters to have, as far as it says so and they have
    /// one: a conjunct further left may be false, and then nobody asks.
    pub(crate) fn determined(&self, state: &impl Env) -> Vec<Option<Value>> {
        let value = |t: &Option<Term>| t.as_ref().and_then(|t| t.eval(state).ok());
        self.equal.iter().map(value).collect()
    }
}

/// The variables of the model that a term reads.
fn variables(term: &Term) -> Vec<usize> {
    let read = term.free_vars();
    let read = read.iter().filter(|v| v.id.space() == space::VARIABLE);
    read.map(|v| v.id.index()).collect()
}

fn reads_parameters(term: &Term) -> bool {
    let is_parameter = |id: VarId| id.space() == space::PARAMETER;
    term.free_vars().iter().any(|v| is_parameter(v.id))
}

fn determine(term: &Term, params: &[Var], equal: &mut [Option<Term>]) {
    let mut set = |var: &Term, value: &Term| {
        let var = var.as_var();
        let at = var.and_then(|v| params.iter().position(|p| p.id == v.id));
        if let Some(at) = at
            && equal[at].is_none()
            && !reads_parameters(value)
        {
            equal[at] = Some(value.clone());
        }
    };
    match term.kind() {
        Kind::App(Op::And, conjuncts) => {
            for conjunct in conjuncts {
                determine(conjunct, params, equal);
            }
        }
        Kind::App(Op::Eq, sides) => {
            set(&sides[0], &sides[1]);
            set(&sides[1], &sides[0]);
        }
        Kind::App(Op::Not, negated) => set(&negated[0], &false.into()),
        Kind::Var(_) => set(term, &true.into()),
        _ => {}
    }
}
