//! Choosing inputs with values: diverse, seeded, within what the states specify.

use std::collections::BTreeMap;
use std::sync::Arc;

use iolite_expr::{Answer, CandidateValues, Distribution, Sampler, Strategy, Term, Value};
use iolite_lts::LabelKind;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::iosts::{GateId, Iosts, parameter_id};
use crate::semantics::ValuedAction;
use crate::symbolic::{Symbolic, SymbolicError, SymbolicStates};
use crate::symbolic_out::Enabled;

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
        let mut open = semantics.inputs(states)?;
        let mut unknown = None;
        while !open.is_empty() {
            let candidate = open.swap_remove(self.rng.random_range(0..open.len()));
            match self.values(semantics, &candidate) {
                Answer::Sat(model) => {
                    let params = &semantics.model().gate(candidate.action).params;
                    let values = params
                        .iter()
                        .map(|p| {
                            model
                                .value(p.id)
                                .cloned()
                                .unwrap_or_else(|| p.sort.default_value())
                        })
                        .collect();
                    return Ok(Chosen::Input(ValuedAction {
                        action: candidate.action,
                        values,
                    }));
                }
                Answer::Unsat => {}
                Answer::Unknown(why) => unknown = Some(why),
            }
        }
        Ok(unknown.map_or(Chosen::None, Chosen::Unknown))
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
