//! A model with data and one value for each constant, walked by the definition: one concrete state after the
//! other, with each value of each parameter.
#![allow(dead_code, missing_docs, unreachable_pub)]

use std::collections::BTreeSet;
use std::sync::Arc;

use iolite_expr::{Int, Kind, Model, Op, Solver, Sort, Term, Value};
use iolite_lts::QuiescencePolicy;
use iolite_sts::{
    CoverageGoal, CoverageGoals, GateId, Iosts, LabelKind, State, Symbolic, TransitionId,
};

use super::support::random_model;

pub struct World {
    pub model: Arc<Iosts>,
    pub constants: Vec<Value>,
    pub goals: Arc<CoverageGoals>,
}

/// A comparison as it is meant: the operands, and what their difference is where it is only just true.
fn edges(guard: &Term, holds: bool, found: &mut Vec<(Term, Term, i64)>) {
    let Kind::App(op, parts) = guard.kind() else {
        return;
    };
    let just = match (op, holds) {
        (Op::And | Op::Or, _) => return parts.iter().for_each(|p| edges(p, holds, found)),
        (Op::Not, _) => return parts.iter().for_each(|p| edges(p, !holds, found)),
        // left - right, where one more or one less makes it false.
        (Op::Lt, true) | (Op::Ge, false) => -1,
        (Op::Gt, true) | (Op::Le, false) => 1,
        (Op::Le | Op::Ge, true) | (Op::Lt | Op::Gt, false) => 0,
        _ => return,
    };
    let [left, right] = &**parts else { return };
    let number = |t: &Term| matches!(t.sort(), Sort::Int | Sort::Range(_));
    let free = |t: &Term| t.free_vars().is_empty();
    if number(left) && number(right) && !(free(left) && free(right)) {
        found.push((left.clone(), right.clone(), just));
    }
}

impl World {
    pub fn new(seed: u64) -> Self {
        let model = Arc::new(random_model(seed));
        let constant = Value::from(1 + i64::try_from(seed % 2).unwrap());
        let constants = model.constants().iter().map(|_| constant.clone());
        Self {
            constants: constants.collect(),
            goals: Arc::new(CoverageGoals::new(&model)),
            model,
        }
    }

    pub fn symbolic(&self) -> Symbolic {
        let named = self.model.constants().iter().zip(&self.constants);
        let named: Vec<(&str, Value)> = named.map(|(c, v)| (&*c.var.name, v.clone())).collect();
        let policy = QuiescencePolicy::Livelock;
        Symbolic::new(Arc::clone(&self.model), &named, policy, Solver::embedded()).unwrap()
    }

    pub fn env(&self, state: &State, t: TransitionId, params: &[Value]) -> Model {
        let mut env = Model::default();
        for (v, x) in self.model.variables().iter().zip(state.values.iter()) {
            env.insert(v.var.id, x.clone());
        }
        for (c, x) in self.model.constants().iter().zip(&self.constants) {
            env.insert(c.var.id, x.clone());
        }
        let gate = self.model.gate(self.model.transition(t).action);
        for (p, x) in gate.params.iter().zip(params) {
            env.insert(p.id, x.clone());
        }
        env
    }

    /// The initial states, by every value of what has no initial one.
    pub fn initial(&self) -> Vec<State> {
        let mut all = vec![Vec::new()];
        for v in self.model.variables() {
            let values = match &v.initial {
                Some(initial) => {
                    let mut env = Model::default();
                    for (c, x) in self.model.constants().iter().zip(&self.constants) {
                        env.insert(c.var.id, x.clone());
                    }
                    vec![initial.eval(&env).unwrap()]
                }
                None => v.var.sort.values(100).unwrap(),
            };
            all = all
                .into_iter()
                .flat_map(|known: Vec<Value>| {
                    let more = values.iter().map(move |value| {
                        let mut known = known.clone();
                        known.push(value.clone());
                        known
                    });
                    more.collect::<Vec<_>>()
                })
                .collect();
        }
        let states = all.into_iter().map(|values| State {
            location: self.model.initial(),
            values: values.into(),
        });
        let first = self.model.transitions().next().map(|(id, _)| id);
        let allowed = |s: &State| {
            let Some(t) = first else { return true };
            let env = self.env(s, t, &[]);
            let mut all = self.model.assumptions().iter();
            all.all(|a| a.eval_bool(&env) == Ok(true))
        };
        states.filter(allowed).collect()
    }

    /// The goals that one firing reaches.
    pub fn fired(
        &self,
        from: &State,
        t: TransitionId,
        params: &[Value],
        to: &State,
    ) -> BTreeSet<usize> {
        let env = self.env(from, t, params);
        let mut just = Vec::new();
        edges(&self.model.transition(t).guard, true, &mut just);
        let value = |term: &Term| match term.eval(&env) {
            Ok(Value::Int(n)) => Some(n),
            _ => None,
        };
        let at_edge = |(l, r, by): &(Term, Term, i64)| {
            let (Some(l), Some(r)) = (value(l), value(r)) else {
                return false;
            };
            l == &r + &Int::from(*by)
        };
        let any_edge = just.iter().any(at_edge);
        let mut any_boundary = false;
        let mut reached = BTreeSet::new();
        for (k, goal) in self.goals.iter().enumerate() {
            let holds = match goal {
                CoverageGoal::Location(l) => *l == to.location,
                CoverageGoal::Transition(own) => *own == t,
                CoverageGoal::Branch(own, condition) => {
                    *own == t && condition.eval_bool(&env) == Ok(true)
                }
                CoverageGoal::Boundary(own, condition) => {
                    let holds = *own == t && condition.eval_bool(&env) == Ok(true);
                    any_boundary |= holds;
                    holds
                }
            };
            if holds {
                reached.insert(k);
            }
        }
        assert_eq!(any_edge, any_boundary, "{}", self.model);
        reached
    }

    /// Every firing from a state by an action, or by internal ones.
    pub fn firings(
        &self,
        from: &State,
        wanted: impl Fn(GateId, LabelKind) -> bool,
        given: Option<&[Value]>,
    ) -> Vec<(TransitionId, Vec<Value>, State)> {
        let mut all = Vec::new();
        for &t in self.model.outgoing(from.location) {
            let action = self.model.transition(t).action;
            let gate = self.model.gate(action);
            if !wanted(action, gate.kind) {
                continue;
            }
            let mut choices = vec![Vec::new()];
            for p in &gate.params {
                let values = p.sort.values(10).unwrap();
                choices = choices
                    .into_iter()
                    .flat_map(|c: Vec<Value>| {
                        let more = values.iter().map(move |v| {
                            let mut c = c.clone();
                            c.push(v.clone());
                            c
                        });
                        more.collect::<Vec<_>>()
                    })
                    .collect();
            }
            if let Some(given) = given {
                choices = vec![given.to_vec()];
            }
            for params in choices {
                let fired = self.model.fire(from, &self.constants, t, &params);
                if let Some(to) = fired.expect("no faults") {
                    all.push((t, params, to));
                }
            }
        }
        all
    }

    /// States after internal actions, and what these reach.
    pub fn closed(&self, mut at: Vec<State>, reached: &mut BTreeSet<usize>) -> Vec<State> {
        let mut done = 0;
        while done < at.len() {
            let from = at[done].clone();
            let internal = |_, kind| kind == LabelKind::Internal;
            for (t, params, to) in self.firings(&from, internal, None) {
                reached.extend(self.fired(&from, t, &params, &to));
                if !at.contains(&to) {
                    at.push(to);
                }
            }
            done += 1;
        }
        at
    }

    pub fn locations(&self, at: &[State], reached: &mut BTreeSet<usize>) {
        for (k, goal) in self.goals.iter().enumerate() {
            if let CoverageGoal::Location(l) = goal
                && at.iter().any(|s| s.location == *l)
            {
                reached.insert(k);
            }
        }
    }
}
