//! A model that starts where a run is.

use iolite_expr::{Span, Substitution, Term, Value, Var, VarId};

use crate::analysis::equation;
use crate::iosts::{Iosts, Variable, space};
use crate::symbolic::{Symbolic, literal};
use crate::symbolic_state::{Data, SymbolicState};

impl Iosts {
    /// The model in which these constants have these values; names that it does not have are passed over.
    #[must_use]
    pub fn with_constants(&self, values: &[(String, Value)]) -> Self {
        let mut model = self.clone();
        for (name, value) in values {
            let known = self.constants.iter().find(|c| *c.var.name == **name);
            let equations = known.map(|c| equation(&c.var, value));
            model.assumptions.extend(equations);
        }
        model
    }

    /// The model with further conditions on its constants.
    #[must_use]
    pub fn assuming(mut self, conditions: impl IntoIterator<Item = Term>) -> Self {
        self.assumptions.extend(conditions);
        self
    }
}

impl Symbolic {
    /// The model that starts in this state: its initial states are those that the symbolic state stands for,
    /// with the constants that are known. Locations, actions and transitions keep their numbers; values that
    /// nobody knows become variables behind the others. `None` where a term grows too large.
    pub fn restarted(&self, state: &SymbolicState) -> Option<Iosts> {
        let mut model = Iosts::clone(&self.model);
        model.initial = state.location;
        model.assumptions.clear();
        for (constant, value) in self.model.constants.iter().zip(&self.constants) {
            if let Some(value) = value {
                model.assumptions.push(equation(&constant.var, value));
            }
        }
        match &state.data {
            Data::Concrete(values) => {
                for (v, value) in model.variables.iter_mut().zip(values.iter()) {
                    v.initial = Some(literal(&v.var, value.clone()));
                }
            }
            Data::Symbolic { values, condition } => {
                let mut map = Substitution::new();
                for u in values.iter().chain([condition]).flat_map(Term::free_vars) {
                    if u.id.space() != space::UNKNOWN || map.get(u.id).is_some() {
                        continue;
                    }
                    let id = VarId::new(space::VARIABLE, model.variables.len());
                    let var = Var::new(id, &u.name, u.sort.clone());
                    map.insert(u.id, var.term());
                    model.variables.push(Variable {
                        var,
                        initial: None,
                        span: Span::NONE,
                    });
                }
                for (x, value) in values.iter().enumerate() {
                    let value = value.substitute(&map).ok()?;
                    let v = &mut model.variables[x];
                    v.initial = None;
                    model.assumptions.push(v.var.term().equals(value).ok()?);
                }
                model.assumptions.push(condition.substitute(&map).ok()?);
            }
        }
        Some(model)
    }
}
