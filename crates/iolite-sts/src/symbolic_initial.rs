//! The symbolic states before anything is observed.

use iolite_expr::{Term, Value, Var};
use rustc_hash::FxHashMap;

use crate::iosts::{Iosts, space};
use crate::symbolic::{
    After, Doubt, Symbolic, SymbolicError, bounded, literal, substituted, unknown,
};
use crate::symbolic_state::SymbolicState;

impl Symbolic {
    /// The states before anything is observed.
    pub fn initial(&mut self) -> Result<After, SymbolicError> {
        bounded(self.try_initial())
    }

    fn try_initial(&mut self) -> Result<After, SymbolicError> {
        let model = self.model.clone();
        let mut doubt = Doubt::default();
        let mut states = Vec::new();
        for row in self.initial_cases() {
            states.extend(self.initial_state(&model, &row, &mut doubt)?);
        }
        self.finish(&states.clone(), states, doubt)
    }

    /// Values to try one by one for open data of small sorts: unknown constants and variables
    /// without an initial value. A case each keeps values concrete where terms over an unknown
    /// would grow with every step; what has too many values stays symbolic.
    fn initial_cases(&self) -> Vec<Vec<(Var, Value)>> {
        let constants = self.model.constants().iter().zip(&self.constants);
        let open = constants
            .filter(|(_, value)| value.is_none())
            .map(|(c, _)| &c.var)
            .chain(
                self.model
                    .variables()
                    .iter()
                    .filter(|v| v.initial.is_none())
                    .map(|v| &v.var),
            );
        let mut rows: Vec<Vec<(Var, Value)>> = vec![Vec::new()];
        for v in open {
            let Some(column) = v.sort.values((self.max_cases / rows.len()) as u64) else {
                continue;
            };
            rows = rows
                .iter()
                .flat_map(|row| {
                    column.iter().map(|x| {
                        row.iter()
                            .cloned()
                            .chain([(v.clone(), x.clone())])
                            .collect()
                    })
                })
                .collect();
        }
        rows
    }

    fn initial_state(
        &mut self,
        model: &Iosts,
        row: &[(Var, Value)],
        doubt: &mut Doubt,
    ) -> Result<Option<SymbolicState>, SymbolicError> {
        let mut map = self.constant_map();
        let mut conditions: Vec<Term> = Vec::new();
        for (v, x) in row {
            map.insert_value(v, x.clone());
            if v.id.space() == space::CONSTANT
                && let Ok(equal) = v.term().equals_value(x)
            {
                conditions.push(equal);
            }
        }
        let mut unknowns = 0;
        let mut values: Vec<Term> = Vec::new();
        for v in model.variables() {
            let value = match (&v.initial, map.get(v.var.id)) {
                (Some(t), _) => {
                    let t = substituted(t, &map)?;
                    if t.is_ground() {
                        let value = t
                            .eval(&FxHashMap::default())
                            .map_err(SymbolicError::Initial)?;
                        literal(&v.var, value)
                    } else {
                        conditions.push(t.defined());
                        t.simplify()
                    }
                }
                (None, Some(value)) => value.clone(),
                (None, None) => unknown(&v.var, &mut unknowns)?.term(),
            };
            values.push(value);
        }
        for (v, t) in model.variables().iter().zip(&values) {
            map.insert(v.var.id, t.clone());
        }
        for a in model.assumptions() {
            let a = substituted(a, &map)?;
            conditions.push(a.defined());
            conditions.push(a);
        }
        let condition = Term::all(conditions).simplify();
        Ok(self.settled(model.initial(), values, condition, None, doubt))
    }
}
