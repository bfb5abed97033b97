//! Symbolic determinisation [SYM04, def. 8 and §3.3].
//!
//! After internal actions are gone, a choice between transitions whose guards overlap is postponed: a
//! location of det(S) is a set of locations of S, each with the values that the variables would have
//! had, as terms over the values before the choice. Where only one is left, its values are assigned.
//! Parameters that such terms read are kept in variables of their own.

use std::collections::BTreeMap;

use iolite_expr::{Answer, Solver, Sort, Span, Substitution, Term, Var, VarId};

use crate::closure::{DeterminiseError, MustTake, composed};
use crate::iosts::{
    GateId, Iosts, Location, LocationId, Transition, TransitionId, Variable, space,
};

/// Transitions of one action from one location between which choices are postponed.
const CHOICES: usize = 8;

/// One of the places where the system may be: the location, and the variables whose value differs
/// from the stored one.
type Place = (LocationId, Vec<(usize, Term)>);

/// Kept parameters: where each is stored, and what is stored there by the transition.
type Kept = Vec<(usize, Term)>;

struct Determinisation<'a> {
    /// Without internal actions.
    model: &'a Iosts,
    result: Iosts,
    index: BTreeMap<Vec<Place>, LocationId>,
    places: Vec<Vec<Place>>,
    most: usize,
    /// By location and action of the model: the condition under which an input is kept, where some are not.
    kept_inputs: Option<MustTake>,
}

impl Iosts {
    /// det(S): a deterministic system with the same traces. The procedure need not end, so it gives
    /// up beyond `most` locations or transitions.
    pub fn determinised(&self, solver: &mut Solver, most: usize) -> Result<Self, DeterminiseError> {
        self.determinised_with(None, solver, most)
    }

    /// The same with an input only where every state after the trace takes it: the traces are Utraces(S).
    pub(crate) fn determinised_for_uioco(
        &self,
        solver: &mut Solver,
        most: usize,
    ) -> Result<Self, DeterminiseError> {
        let must = self.must_take(solver, most)?;
        self.determinised_with(Some(must), solver, most)
    }

    fn determinised_with(
        &self,
        kept_inputs: Option<MustTake>,
        solver: &mut Solver,
        most: usize,
    ) -> Result<Self, DeterminiseError> {
        let model = self.without_internal(solver, most)?;
        let mut result = model.clone();
        result.transitions.clear();
        result.locations.clear();
        let mut work = Determinisation {
            model: &model,
            result,
            index: BTreeMap::new(),
            places: Vec::new(),
            most,
            kept_inputs,
        };
        let first = work.location(vec![(model.initial, Vec::new())])?;
        work.result.initial = first;
        let mut next = 0;
        while next < work.places.len() {
            for (gate, _) in model.gates() {
                work.extend(LocationId::new(next), gate, solver)?;
            }
            next += 1;
        }
        work.result.index_outgoing();
        Ok(work.result)
    }
}

impl Determinisation<'_> {
    fn location(&mut self, places: Vec<Place>) -> Result<LocationId, DeterminiseError> {
        if let Some(known) = self.index.get(&places) {
            return Ok(*known);
        }
        let id = LocationId::new(self.places.len());
        if id.index() >= self.most {
            return Err(DeterminiseError::TooMany(self.most));
        }
        let names = places.iter().map(|(l, _)| &*self.model.location(*l).name);
        let mut name = names.collect::<Vec<_>>().join("|");
        // Several sets of values over the same locations.
        if self.result.find_location(&name).is_some() {
            name = format!("{name}#{}", id.index());
        }
        self.result.locations.push(Location {
            name: name.into(),
            span: self.model.location(places[0].0).span,
        });
        self.index.insert(places.clone(), id);
        self.places.push(places);
        Ok(id)
    }

    fn extend(
        &mut self,
        source: LocationId,
        gate: GateId,
        solver: &mut Solver,
    ) -> Result<(), DeterminiseError> {
        let mut choices: Vec<(TransitionId, Term, Substitution)> = Vec::new();
        let mut must = Vec::new();
        for (l, values) in &self.places[source.index()] {
            let variables = &self.model.variables;
            let map: Substitution = values
                .iter()
                .map(|(x, e)| (variables[*x].var.id, e.clone()))
                .collect();
            if let Some(kept) = &self.kept_inputs
                && let Some(condition) = kept.condition(*l, self.model.gate(gate))
            {
                must.push(composed(condition, &map)?);
            }
            for &t in self.model.outgoing(*l) {
                let transition = self.model.transition(t);
                if transition.action == gate {
                    let guard = composed(&transition.guard, &map)?;
                    let after = self.model.composed_values(transition, &map)?;
                    choices.push((t, guard, after));
                }
            }
        }
        // Guards that exclude one another need no case of their own.
        let n = choices.len();
        if n > CHOICES {
            let all: Vec<_> = choices.iter().collect();
            return Err(self.unsettled(source, gate, &all));
        }
        let mut overlaps = vec![vec![false; n]; n];
        for i in 0..n {
            for j in 0..i {
                let both = Term::all([choices[i].1.clone(), choices[j].1.clone()]);
                let overlap = !matches!(solver.check_with(&both), Answer::Unsat);
                overlaps[i][j] = overlap;
                overlaps[j][i] = overlap;
            }
        }
        for case in 1..1usize << n {
            let taken: Vec<usize> = (0..n).filter(|i| case >> i & 1 == 1).collect();
            let together = taken
                .iter()
                .all(|i| taken.iter().all(|j| i == j || overlaps[*i][*j]));
            if !together {
                continue;
            }
            let others = (0..n).filter(|j| case >> j & 1 == 0);
            let others = others.filter(|j| taken.iter().all(|i| overlaps[*i][*j]));
            let without = others.map(|j| choices[j].1.negated());
            let with = taken.iter().map(|i| choices[*i].1.clone());
            let guard = Term::all(with.chain(without).chain(must.iter().cloned()));
            let guard = if n == 1 && must.is_empty() {
                guard
            } else {
                // Simplified it could hold where it has no value.
                Term::all([guard.defined(), guard]).simplify()
            };
            let open = n > 1 || !must.is_empty();
            if guard.is_false() || (open && matches!(solver.check_with(&guard), Answer::Unsat)) {
                continue;
            }
            let chosen: Vec<&(TransitionId, Term, Substitution)> =
                taken.iter().map(|i| &choices[*i]).collect();
            let postponed = self.postponed(source, gate, guard, &chosen);
            let transition = match postponed {
                Err(DeterminiseError::TooMany(_)) if chosen.len() > 1 => {
                    return Err(self.unsettled(source, gate, &chosen));
                }
                other => other?,
            };
            self.result.transitions.push(transition);
            if self.result.transitions.len() > self.most {
                return Err(DeterminiseError::TooMany(self.most));
            }
        }
        Ok(())
    }

    /// Which choice it was that is postponed for ever.
    fn unsettled(
        &self,
        source: LocationId,
        gate: GateId,
        chosen: &[&(TransitionId, Term, Substitution)],
    ) -> DeterminiseError {
        let way = |(t, guard, _): &&(TransitionId, Term, Substitution)| {
            let target = &self.model.location(self.model.transition(*t).target).name;
            if guard.is_true() {
                format!("to {target}")
            } else {
                format!("to {target} where {guard}")
            }
        };
        let mut ways: Vec<String> = chosen.iter().map(way).collect();
        ways.dedup();
        let action = self.model.gate(gate);
        DeterminiseError::Unsettled {
            action: format!("{}{}", action.kind.sigil(), action.name).into(),
            place: self.result.location(source).name.clone(),
            ways: ways.join(", or ").into(),
            most: self.most,
        }
    }

    /// The transition for the case that exactly the chosen ones are possible.
    fn postponed(
        &mut self,
        source: LocationId,
        gate: GateId,
        guard: Term,
        chosen: &[&(TransitionId, Term, Substitution)],
    ) -> Result<Transition, DeterminiseError> {
        let mut places: Vec<Place> = Vec::new();
        for (t, _, after) in chosen {
            let target = self.model.transition(*t).target;
            let variables = self.model.variables.iter().enumerate();
            let changed = variables.filter_map(|(x, v)| {
                let e = after.get(v.var.id)?.simplify();
                (e != v.var.term()).then_some((x, e))
            });
            let place = (target, changed.collect());
            if !places.contains(&place) {
                places.push(place);
            }
        }
        let span = self.model.transition(chosen[0].0).span;
        let (assignments, places) = if places.len() == 1 {
            let (target, values) = places.remove(0);
            // The unsimplified terms keep their places in the text.
            let after = &chosen[0].2;
            let variables = &self.model.variables;
            let written = values.into_iter().map(|(x, e)| {
                let kept = after.get(variables[x].var.id).cloned();
                (x, kept.unwrap_or(e))
            });
            (written.collect(), vec![(target, Vec::new())])
        } else {
            self.kept(places)?
        };
        let target = self.location(places)?;
        Ok(Transition {
            source,
            action: gate,
            guard,
            assignments,
            target,
            span,
        })
    }

    /// Stores the parameters, and kept ones, that the places read.
    fn kept(&mut self, places: Vec<Place>) -> Result<(Kept, Vec<Place>), DeterminiseError> {
        let own = self.model.variables.len();
        let is_own = |v: &Var| match v.id.space() {
            space::VARIABLE => v.id.index() < own,
            space::CONSTANT => true,
            _ => false,
        };
        let mut map = Substitution::new();
        let mut assignments: Kept = Vec::new();
        for (_, values) in &places {
            for v in values.iter().flat_map(|(_, e)| e.free_vars()) {
                if is_own(&v) || map.get(v.id).is_some() {
                    continue;
                }
                let store = self.store(&v.sort, &assignments);
                map.insert(v.id, self.result.variables[store].var.term());
                assignments.push((store, v.term()));
            }
        }
        let mut new = Vec::new();
        for (l, values) in places {
            let renamed: Result<Vec<(usize, Term)>, _> = values
                .into_iter()
                .map(|(x, e)| Ok((x, composed(&e, &map)?)))
                .collect();
            new.push((l, renamed?));
        }
        new.sort();
        Ok((assignments, new))
    }

    /// A variable of this sort that is not taken yet.
    fn store(&mut self, sort: &Sort, taken: &Kept) -> usize {
        let own = self.model.variables.len();
        let stores = self.result.variables.iter().enumerate().skip(own);
        let mut free =
            stores.filter(|(i, v)| v.var.sort == *sort && taken.iter().all(|(x, _)| x != i));
        if let Some((known, _)) = free.next() {
            return known;
        }
        let index = self.result.variables.len();
        let name = format!("kept{}", index - own);
        let var = Var::new(VarId::new(space::VARIABLE, index), &name, sort.clone());
        let initial = crate::symbolic::literal(&var, sort.default_value());
        self.result.variables.push(Variable {
            var,
            initial: Some(initial),
            span: Span::NONE,
        });
        index
    }
}
