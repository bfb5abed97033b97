//! Where a run of a model starts: values for what has none.

use iolite_expr::{Answer, Sampler, Strategy, Term, Value, Var, VarId};
use rand::RngExt;
use rustc_hash::FxHashMap;

use crate::semantics::State;
use crate::simulation::Simulation;
use crate::symbolic::{SymbolicError, substituted};

impl Simulation {
    /// Values for what has none, small ones: who wants others gives them.
    pub(crate) fn draw_initial(&mut self) -> Result<Answer, SymbolicError> {
        let model = self.model().clone();
        let mut map = self.semantics.constant_map();
        let mut conditions = Vec::new();
        for v in model.variables() {
            if let Some(initial) = &v.initial {
                let initial = substituted(initial, &map)?;
                if initial.is_ground() {
                    let value = initial.eval(&FxHashMap::default());
                    map.insert_value(&v.var, value.map_err(SymbolicError::Initial)?);
                } else {
                    conditions.push(initial.defined());
                    map.insert(v.var.id, initial);
                }
            }
        }
        for assumption in model.assumptions() {
            let assumption = substituted(assumption, &map)?;
            conditions.push(assumption.defined());
            conditions.push(assumption);
        }
        let constants = model.constants().iter().zip(&self.given);
        let open = constants.filter(|(_, value)| value.is_none());
        let unset = model.variables().iter().filter(|v| v.initial.is_none());
        let vars: Vec<Var> = open
            .map(|(c, _)| c.var.clone())
            .chain(unset.map(|v| v.var.clone()))
            .collect();
        let (seed, draws) = (self.rng.random(), self.rng.random_range(1..=4));
        let solver = self.semantics.solver();
        solver.push();
        solver.assert(&Term::all(conditions).simplify());
        // A sampler draws nothing twice in a row, but its first draw is often the least one.
        let mut sampler = Sampler::new(seed, Strategy::Small);
        let mut answer = sampler.sample(solver, &vars);
        for _ in 1..draws {
            match sampler.sample(solver, &vars) {
                Answer::Sat(found) => answer = Answer::Sat(found),
                _ => break,
            }
        }
        solver.pop();
        Ok(answer)
    }

    /// The constants and the initial state that a solution of the initial condition stands for.
    pub(crate) fn valued(
        &self,
        found: &iolite_expr::Model,
    ) -> Result<(Vec<Value>, State), SymbolicError> {
        let model = self.model();
        let drawn = |v: &Var| {
            let value = found.value(v.id).cloned();
            value.unwrap_or_else(|| v.sort.default_value())
        };
        let constants: Vec<Value> = model
            .constants()
            .iter()
            .zip(&self.given)
            .map(|(c, given)| given.clone().unwrap_or_else(|| drawn(&c.var)))
            .collect();
        let names = model.constants().iter().map(|c| c.var.id);
        let env: FxHashMap<VarId, Value> = names.zip(constants.iter().cloned()).collect();
        let values = model.variables().iter().map(|v| match &v.initial {
            Some(initial) => initial.eval(&env).map_err(SymbolicError::Initial),
            None => Ok(drawn(&v.var)),
        });
        let state = State {
            location: model.initial(),
            values: values.collect::<Result<_, _>>()?,
        };
        Ok((constants, state))
    }
}
