//! Choosing inputs with values: diverse, seeded, within what the states specify.

use std::collections::BTreeMap;
use std::sync::Arc;

use iolite_expr::{
    Answer, CandidateValues, Distribution, Drawn, Model, Sampler, Strategy, Term, Value,
};
use iolite_lts::LabelKind;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::FxHashMap;

use crate::iosts::{GateId, Iosts, TransitionId, parameter_id, space};
use crate::semantics::{Frame, ValuedAction};
use crate::symbolic::{Symbolic, SymbolicError, SymbolicStates};
use crate::symbolic_out::Enabled;
use crate::symbolic_state::{Data, SymbolicState};

/// Values of a run that are kept.
const MET: usize = 24;

/// Chooses inputs.
#[derive(Debug)]
pub struct InputChoice {
    rng: Xoshiro256PlusPlus,
    seed: u64,
    strategy: Strategy,
    samplers: BTreeMap<GateId, Sampler>,
    distributions: Vec<(GateId, usize, Distribution)>,
    /// Values of the run at hand, for samplers that are made later.
    met: Vec<Value>,
    /// Values that may matter.
    candidates: Arc<CandidateValues>,
    /// Transitions that have no values in a concrete state, by the values that their guards read; with
    /// the reason where that was not found out.
    refused: FxHashMap<(TransitionId, Vec<Value>), Option<Arc<str>>>,
}

/// Refusals that are remembered.
const REFUSALS: usize = 4096;

/// Elements of a list that a solver is not asked about where values are at hand.
const LONG: usize = 256;

fn is_long(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.len() > LONG,
        Value::Set(items) => items.len() > LONG,
        Value::Map(pairs) => pairs.len() > LONG,
        Value::Record(_, fields) => fields.iter().any(is_long),
        _ => false,
    }
}

/// The answer that these are the values of an action's parameters.
fn row_of(model: &Iosts, action: GateId, row: Vec<Value>) -> Answer {
    let ids = model.gate(action).params.iter().map(|p| p.id);
    Answer::Sat(Model::new(ids.zip(row).collect()))
}

/// What came of the wish for an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// This one.
    Input(ValuedAction),
    /// The states specify no input now.
    None,
    /// The solver gave up on all that were tried.
    Unknown(Arc<str>),
}

impl InputChoice {
    /// A chooser; the same seed chooses the same inputs after the same trace.
    pub fn new(seed: u64, strategy: Strategy) -> Self {
        Self {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            seed,
            strategy,
            samplers: BTreeMap::new(),
            distributions: Vec::new(),
            met: Vec::new(),
            candidates: Arc::default(),
            refused: FxHashMap::default(),
        }
    }

    /// Values that may matter, from now on.
    pub fn set_candidates(&mut self, candidates: Arc<CandidateValues>) {
        self.candidates = candidates;
        self.samplers.clear();
    }

    /// Starts again with another seed, as if nothing had been chosen before.
    pub fn reseed(&mut self, seed: u64) {
        self.rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        self.seed = seed;
        self.samplers.clear();
        self.met.clear();
        // A run depends on nothing that another one could not find out.
        self.refused.retain(|_, why| why.is_none());
    }

    /// How the values of a parameter of an action are drawn.
    pub fn set_distribution(
        &mut self,
        action: GateId,
        position: usize,
        distribution: Distribution,
    ) {
        if let Some(sampler) = self.samplers.get_mut(&action) {
            sampler.set_distribution(parameter_id(position), distribution.clone());
        }
        self.distributions.push((action, position, distribution));
    }

    fn sampler(&mut self, action: GateId) -> &mut Sampler {
        let (seed, strategy, wanted) = (self.seed, self.strategy, &self.distributions);
        let (met, candidates) = (&self.met, &self.candidates);
        self.samplers.entry(action).or_insert_with(|| {
            let seed = seed ^ (action.index() as u64 + 1) << 32;
            let mut sampler = Sampler::with_candidates(seed, strategy, Arc::clone(candidates));
            for (_, position, wish) in wanted.iter().filter(|(a, _, _)| *a == action) {
                sampler.set_distribution(parameter_id(*position), wish.clone());
            }
            for value in met {
                sampler.meet(value);
            }
            sampler
        })
    }

    /// An action happened in the run at hand. Its values are drawn again now and then, and where it is
    /// an input all of them together.
    pub fn happened(&mut self, model: &Iosts, action: &ValuedAction) {
        for value in &action.values {
            if self.met.len() >= MET {
                self.met.remove(0);
            }
            self.met.push(value.clone());
            for sampler in self.samplers.values_mut() {
                sampler.meet(value);
            }
        }
        if model.gate(action.action).kind == LabelKind::Input && !action.values.is_empty() {
            self.sampler(action.action).use_row(&action.values);
        }
    }

    /// An input that some state specifies, its transition chosen at random.
    pub fn choose(
        &mut self,
        semantics: &mut Symbolic,
        states: &SymbolicStates,
    ) -> Result<Chosen, SymbolicError> {
        let mut open: Vec<(usize, TransitionId)> = Vec::new();
        for (i, state) in states.iter().enumerate() {
            let outgoing = semantics.model().outgoing(state.location()).iter();
            let inputs = outgoing.filter(|t| semantics.model().kind(**t) == LabelKind::Input);
            open.extend(inputs.map(|t| (i, *t)));
        }
        let mut unknown = None;
        while !open.is_empty() {
            let (i, t) = open.swap_remove(self.rng.random_range(0..open.len()));
            match self.values_at(semantics, &states.states[i], t)? {
                Answer::Sat(model) => {
                    let action = semantics.model().transition(t).action;
                    return Ok(Chosen::Input(ValuedAction::of(
                        semantics.model(),
                        action,
                        &model,
                    )));
                }
                Answer::Unsat => {}
                Answer::Unknown(why) => unknown = Some(why),
            }
        }
        Ok(unknown.map_or(Chosen::None, Chosen::Unknown))
    }

    /// Values for the parameters of a transition in a state. Where the state is concrete they are drawn
    /// by evaluation, and the solver is asked only where that finds none.
    pub fn values_at(
        &mut self,
        semantics: &mut Symbolic,
        state: &SymbolicState,
        t: TransitionId,
    ) -> Result<Answer, SymbolicError> {
        let model = Arc::clone(semantics.model());
        let action = model.transition(t).action;
        let mut key = None;
        let mut standing = None;
        if let (Data::Concrete(variables), Some(_)) = (&state.data, &semantics.known) {
            let profile = semantics.profile(t);
            let read = profile
                .others()
                .iter()
                .filter(|v| v.space() == space::VARIABLE);
            let read: Vec<Value> = read.map(|v| variables[v.index()].clone()).collect();
            if let Some(refusal) = self.refused.get(&(t, read.clone())) {
                return Ok(refusal.clone().map_or(Answer::Unsat, Answer::Unknown));
            }
            let frame = Frame {
                variables,
                constants: semantics.known.as_deref().unwrap_or_default(),
                params: &[],
            };
            match self.sampler(action).draw(&profile, &frame) {
                Drawn::Row(row) => return Ok(row_of(&model, action, row)),
                // Terms about long lists are long, and there is a row.
                Drawn::Standing(row) if read.iter().any(is_long) => {
                    return Ok(row_of(&model, action, row));
                }
                Drawn::Standing(row) => standing = Some(row),
                Drawn::Impossible => return Ok(Answer::Unsat),
                Drawn::NotFound => key = Some((t, read)),
            }
        }
        let Some(input) = semantics.enabled_at(state, t)? else {
            self.refuse(key, None);
            return Ok(Answer::Unsat);
        };
        let answer = self.values(semantics, &input);
        if let (Some(row), false) = (standing, matches!(answer, Answer::Sat(_))) {
            // Nothing else was found, but what was drawn holds.
            return Ok(row_of(&model, action, row));
        }
        match &answer {
            Answer::Sat(_) => {}
            Answer::Unsat => self.refuse(key, None),
            Answer::Unknown(why) => self.refuse(key, Some(Arc::clone(why))),
        }
        Ok(answer)
    }

    fn refuse(&mut self, key: Option<(TransitionId, Vec<Value>)>, why: Option<Arc<str>>) {
        if let Some(key) = key {
            if self.refused.len() >= REFUSALS {
                self.refused.clear();
            }
            self.refused.insert(key, why);
        }
    }

    /// Values for the parameters of one enabled input.
    pub fn values(&mut self, semantics: &mut Symbolic, input: &Enabled) -> Answer {
        let model: Arc<Iosts> = semantics.model().clone();
        let params = &model.gate(input.action).params;
        if params.is_empty() && input.guard.is_true() && input.condition.is_true() {
            return Answer::Sat(iolite_expr::Model::default());
        }
        let solver = semantics.solver();
        solver.push();
        solver.assert(&Term::all([input.condition.clone()]));
        solver.assert(&input.guard);
        let answer = self.sampler(input.action).sample(solver, params);
        solver.pop();
        answer
    }
}
