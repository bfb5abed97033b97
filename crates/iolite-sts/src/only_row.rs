//! Internal transitions whose parameters a guard determines: concrete states stay concrete.

use iolite_expr::{Substitution, Value};
use rustc_hash::FxHashMap;

use crate::firing::Firing;
use crate::iosts::TransitionId;
use crate::semantics::Frame;
use crate::symbolic::{Symbolic, substituted};
use crate::symbolic_state::{Data, SymbolicState};

/// Answers that are kept.
const MOST: usize = 4_096;

/// Whether guards have a value whatever their parameters are, by transition and the values of the
/// variables that decide it. Many states of a set share these values, so that a recursive function
/// is unfolded once for all of them.
#[derive(Debug, Default)]
pub(crate) struct HarmlessGuards(FxHashMap<(TransitionId, Vec<Value>), bool>);

impl Symbolic {
    /// The only values of a transition's parameters for which its guard can hold in a concrete state,
    /// where the guard says so.
    pub(crate) fn only_row(&mut self, s: &SymbolicState, t: TransitionId) -> Option<Vec<Value>> {
        let Data::Concrete(variables) = &s.data else {
            return None;
        };
        let model = self.model.clone();
        let firing = self.firings[t.index()].get_or_insert_with(|| Firing::new(&model, t));
        let frame = Frame {
            variables,
            constants: self.known.as_deref()?,
            params: &[],
        };
        let row: Vec<Value> = firing
            .determined(&frame)
            .into_iter()
            .collect::<Option<_>>()?;
        let gate = model.gate(model.transition(t).action);
        let fits = firing.fits || gate.takes(&row);
        // A fault with other values would be one of the model.
        let harmless = !firing.faults_by_value || self.has_value(t, variables);
        (fits && harmless).then_some(row)
    }

    /// Whether the guard of a transition has a value in a concrete state, whatever its parameters are.
    fn has_value(&mut self, t: TransitionId, variables: &[Value]) -> bool {
        let Some(firing) = &self.firings[t.index()] else {
            return false;
        };
        let read = firing.faults_by.iter().map(|i| variables[*i].clone());
        let key = (t, read.collect());
        if let Some(known) = self.harmless.0.get(&key) {
            return *known;
        }
        let mut map: Substitution = self.constant_map();
        for (v, value) in self.model.variables().iter().zip(variables) {
            map.insert_value(&v.var, value.clone());
        }
        let faults = substituted(&firing.defined.negated(), &map);
        let harmless = faults.is_ok_and(|f| f.simplify().is_false());
        if self.harmless.0.len() >= MOST {
            self.harmless.0.clear();
        }
        self.harmless.0.insert(key, harmless);
        harmless
    }
}
