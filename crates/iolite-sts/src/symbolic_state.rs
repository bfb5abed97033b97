//! Symbolic states: a location, values as terms over what is still unknown, and the condition
//! under which the trace so far leads there.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use iolite_expr::{Kind, Op, Substitution, Term, Value, Var, VarId};
use rustc_hash::FxHashMap;

use crate::iosts::{Iosts, LocationId, Variable, space};
use crate::semantics::State;
use crate::symbolic::literal;

/// A set of concrete states, given symbolically.
#[derive(Clone, Debug)]
pub struct SymbolicState {
    pub(crate) location: LocationId,
    pub(crate) data: Data,
    /// Whether the condition is known to be satisfiable. A state that the solver could not decide
    /// is kept, and never alone a reason for a verdict.
    pub(crate) certain: bool,
    /// Whether an undecided step led here that the condition does not tell of. Nothing that
    /// follows from this state is certain.
    pub(crate) tainted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Data {
    /// One value a variable; constants are all known. No solver is ever needed.
    Concrete(Arc<[Value]>),
    Symbolic {
        values: Arc<[Term]>,
        condition: Term,
    },
}

impl PartialEq for SymbolicState {
    fn eq(&self, other: &Self) -> bool {
        self.location == other.location && self.tainted == other.tainted && self.data == other.data
    }
}

impl Eq for SymbolicState {}

impl Hash for SymbolicState {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.location.hash(state);
        match &self.data {
            Data::Concrete(values) => values.hash(state),
            Data::Symbolic { values, condition } => {
                values.hash(state);
                condition.hash(state);
            }
        }
    }
}

impl SymbolicState {
    /// The one state `state`.
    pub(crate) fn concrete(state: &State) -> Self {
        Self {
            location: state.location,
            data: Data::Concrete(state.values.clone()),
            certain: true,
            tainted: false,
        }
    }

    /// The location.
    pub fn location(&self) -> LocationId {
        self.location
    }

    /// The one concrete state that this is, if it is one.
    pub(crate) fn as_concrete(&self) -> Option<State> {
        match &self.data {
            Data::Concrete(values) => Some(State {
                location: self.location,
                values: values.clone(),
            }),
            Data::Symbolic { .. } => None,
        }
    }

    /// The value of each variable of the model as a term over constants and unknowns.
    pub fn values(&self, model: &Iosts) -> Vec<Term> {
        match &self.data {
            Data::Concrete(values) => {
                let variables = model.variables().iter().zip(values.iter());
                let term = |(v, x): (&Variable, &Value)| match x.sort() {
                    Some(_) => x.clone().into(),
                    // Of what is empty the variable knows the sort.
                    None => literal(&v.var, x.clone()),
                };
                variables.map(term).collect()
            }
            Data::Symbolic { values, .. } => values.to_vec(),
        }
    }

    /// The path condition over constants and unknowns.
    pub fn condition(&self) -> Term {
        match &self.data {
            Data::Concrete(_) => true.into(),
            Data::Symbolic { condition, .. } => condition.clone(),
        }
    }

    /// Whether each variable has one value, whatever the constants are.
    pub(crate) fn has_literal_values(&self) -> bool {
        match &self.data {
            Data::Concrete(_) => true,
            Data::Symbolic { values, .. } => values.iter().all(|t| t.as_value().is_some()),
        }
    }

    /// Size of its terms.
    pub(crate) fn size(&self) -> u64 {
        match &self.data {
            Data::Concrete(_) => 0,
            Data::Symbolic { values, condition } => {
                let terms = values.iter().chain([condition]);
                terms.map(|t| u64::from(t.size())).sum()
            }
        }
    }

    /// Whether the trace so far is known to lead here.
    pub fn is_certain(&self) -> bool {
        self.certain && !self.tainted
    }

    /// The state in words.
    pub fn describe(&self, model: &Iosts) -> String {
        let mut out = model.location(self.location).name.to_string();
        let mut sign = " (";
        for (v, x) in model.variables().iter().zip(self.values(model)) {
            out.push_str(&format!("{sign}{} = {x}", v.var.name));
            sign = ", ";
        }
        if sign == ", " {
            out.push(')');
        }
        let condition = self.condition();
        if !condition.is_true() {
            out.push_str(&format!(" when {condition}"));
        }
        out
    }
}

/// The parts of a conjunction; none of `true`.
pub(crate) fn conjuncts(condition: &Term) -> Vec<Term> {
    match condition.kind() {
        Kind::App(Op::And, args) => args.to_vec(),
        _ if condition.is_true() => Vec::new(),
        _ => vec![condition.clone()],
    }
}

/// The unknowns and constants that a condition fixes: its conjuncts `x == value`.
pub(crate) fn fixed(condition: &Term) -> Vec<(VarId, Term)> {
    conjuncts(condition)
        .iter()
        .filter_map(|c| match c.kind() {
            Kind::Var(v) => Some((v.id, true.into())),
            Kind::App(Op::Not, x) => x[0].as_var().map(|v| (v.id, false.into())),
            Kind::App(Op::Eq, x) => match (x[0].kind(), x[1].kind()) {
                (Kind::Var(v), Kind::Lit(_)) => Some((v.id, x[1].clone())),
                _ => None,
            },
            _ => None,
        })
        .collect()
}

/// Sets of fewer states are left as they are: people read them.
const MANY: usize = 8;

/// The states, those at one place with the same values as one: the way there was one or the other.
/// Unknowns are bound by their state, and `∃u: a ∨ ∃u: b` is `∃u: a ∨ b`, so they may share names.
pub(crate) fn merged(states: Vec<SymbolicState>) -> Vec<SymbolicState> {
    if states.len() < MANY {
        return states;
    }
    let mut groups: FxHashMap<(LocationId, Vec<Term>, bool, bool), usize> = FxHashMap::default();
    let mut out: Vec<(SymbolicState, Vec<Term>)> = Vec::new();
    for s in states {
        let Data::Symbolic { values, condition } = &s.data else {
            out.push((s, Vec::new()));
            continue;
        };
        let key = (s.location, values.to_vec(), s.certain, s.tainted);
        let condition = condition.clone();
        let at = *groups.entry(key).or_insert(out.len());
        match out.get_mut(at) {
            Some((_, conditions)) => {
                if !conditions.contains(&condition) {
                    conditions.push(condition);
                }
            }
            None => out.push((s, vec![condition])),
        }
    }
    let one = |(s, conditions): (SymbolicState, Vec<Term>)| match &s.data {
        Data::Symbolic { values, .. } if conditions.len() > 1 => SymbolicState {
            data: Data::Symbolic {
                values: values.clone(),
                condition: either(&conditions),
            },
            ..s
        },
        _ => s,
    };
    out.into_iter().map(one).collect()
}

/// One of the conditions: what they share is said once, and one that says more than another is left
/// out.
pub(crate) fn either(conditions: &[Term]) -> Term {
    let ways: Vec<Vec<Term>> = conditions.iter().map(conjuncts).collect();
    let Some((first, others)) = ways.split_first() else {
        return false.into();
    };
    let shared: Vec<Term> = first
        .iter()
        .filter(|c| others.iter().all(|way| way.contains(c)))
        .cloned()
        .collect();
    let own: Vec<Vec<Term>> = ways
        .iter()
        .map(|way| {
            way.iter()
                .filter(|c| !shared.contains(c))
                .cloned()
                .collect()
        })
        .collect();
    let weaker = |a: &Vec<Term>, b: &Vec<Term>| a.iter().all(|c| b.contains(c));
    let mut rest: Vec<Term> = Vec::new();
    for (i, way) in own.iter().enumerate() {
        let absorbed = own
            .iter()
            .enumerate()
            .any(|(j, other)| j != i && weaker(other, way) && (j < i || !weaker(way, other)));
        if !absorbed {
            rest.push(Term::all(way.iter().cloned()));
        }
    }
    Term::all(shared.into_iter().chain([Term::any(rest)])).simplify()
}

/// Elimination may let a condition grow to this size.
const SMALL: u32 = 60;

/// Puts what the condition fixes into the values, and forgets unknowns that nothing reads any
/// more: `∃u: u == 5` is true.
pub(crate) fn settle(values: &mut [Term], condition: Term) -> Term {
    let mut condition = condition;
    let known = fixed(&condition);
    if !known.is_empty() {
        let map: Substitution = known.iter().cloned().collect();
        for v in values.iter_mut() {
            if let Ok(new) = v.substitute(&map) {
                *v = new.simplify();
            }
        }
        if let Kind::App(Op::And | Op::Eq | Op::Not, _) | Kind::Var(_) = condition.kind() {
            // The simplifier has put the value into the other conjuncts already, so an unknown
            // occurs in its own conjunct only.
            let conjuncts = conjuncts(&condition);
            let spent = |c: &Term| {
                fixed(c).first().is_some_and(|(id, _)| {
                    id.space() == space::UNKNOWN
                        && conjuncts.iter().filter(|d| d.reads(*id)).count() == 1
                        && values.iter().all(|v| !v.reads(*id))
                })
            };
            condition = Term::all(conjuncts.iter().filter(|c| !spent(c)).cloned());
        }
    }
    let dead: Vec<_> = condition
        .free_vars()
        .into_iter()
        .filter(|u| u.id.space() == space::UNKNOWN && values.iter().all(|v| !v.reads(u.id)))
        .collect();
    // Conditions carry their definedness, so elimination is exact here.
    if !dead.is_empty()
        && let Some(smaller) = iolite_expr::qe::eliminate(&dead, &condition)
        && smaller.size() <= condition.size().max(SMALL)
    {
        condition = smaller;
    }
    condition
}

/// Numbers the unknowns of a state by where they occur first. They are bound by the state, so
/// two states that differ in their names only are the same; and long runs do not use names up.
pub(crate) fn renumber(values: &mut [Term], condition: &mut Term) {
    let mut map = Substitution::new();
    let mut next = 0;
    let mut changed = false;
    for t in values.iter().chain([&*condition]) {
        for u in t.free_vars() {
            if u.id.space() == space::UNKNOWN && map.get(u.id).is_none() {
                next += 1;
                let id = VarId::new(space::UNKNOWN, next);
                changed |= id != u.id;
                let base = u.name.split('\'').next().unwrap_or("u");
                let name = format!("{base}'{next}");
                map.insert(u.id, Var::new(id, &name, u.sort.clone()).term());
            }
        }
    }
    if !changed {
        return;
    }
    for t in values.iter_mut().chain([condition]) {
        // A renaming keeps the size.
        if let Ok(renamed) = t.substitute(&map) {
            *t = renamed;
        }
    }
}

/// The greatest number of an unknown in a state.
pub(crate) fn last_unknown(values: &[Term], condition: &Term) -> usize {
    values
        .iter()
        .chain([condition])
        .flat_map(Term::free_vars)
        .filter(|v| v.id.space() == space::UNKNOWN)
        .map(|v| v.id.index())
        .max()
        .unwrap_or(0)
}
