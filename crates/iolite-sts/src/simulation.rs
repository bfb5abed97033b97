//! A model that runs: one state ⟨l, v⟩ with values for all constants, and lots where the model
//! leaves a choice.
//!
//! What it shows is a suspension trace of the model. It is silent where the guard of δ [SYM04, def. 7] holds, or in a livelock; what the solver cannot decide is an error, never silence.

use std::sync::Arc;

use iolite_expr::{Answer, EvalError, Sampler, Span, Strategy, Term, Value, Var};
use iolite_lts::Completion;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::FxHashSet;

use crate::firing::Firing;
use crate::input_choice::InputChoice;
use crate::iosts::{GateId, Iosts, LabelKind, TransitionId, space};
use crate::semantics::{Frame, State, ValuedAction};
use crate::symbolic::{Doubt, Symbolic, SymbolicError, literal, substituted};
use crate::symbolic_out::Enabled;
use crate::symbolic_state::SymbolicState;

/// Why a model does not run on. None of these is an observation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimulationError {
    /// The initial condition has no solution.
    #[error("no values of constants and variables satisfy the assumptions")]
    NoInitialState,
    /// The solver or a bound gave up.
    #[error("what it does is not decided in {state}: {reason}")]
    Undecided {
        /// Where.
        state: String,
        /// Why.
        reason: Arc<str>,
        /// The undecided query in SMT-LIB; empty where none was asked.
        query: String,
    },
    /// The model's terms have no value.
    #[error("{error}, in {state}")]
    Fault {
        /// Where.
        state: String,
        /// Which, with its place.
        error: SymbolicError,
    },
    /// Internal actions without an end.
    #[error("more than {INTERNAL_BOUND} internal steps in a row, the last in {state}")]
    Diverges {
        /// Where it was then.
        state: String,
    },
}

impl SimulationError {
    /// The place of the term that has no value, in the model's text.
    pub fn place(&self, model: &Iosts) -> Option<Span> {
        let span = match self {
            Self::Fault {
                error: SymbolicError::Fault(fault),
                ..
            } => fault.error.span.or(model.transition(fault.transition).span),
            Self::Fault {
                error: SymbolicError::Initial(error),
                ..
            } => error.span,
            _ => return None,
        };
        span.is_some().then_some(span)
    }
}

/// Internal steps in a row before an output, an input or silence.
const INTERNAL_BOUND: usize = 1 << 16;

/// A model that runs, step by step; the same seed and inputs give the same run.
///
/// Constants and variables without a value get one when a run starts. Where several transitions
/// can fire, each is as likely as the other; their parameters are drawn as a tester draws those of
/// its inputs.
#[derive(Debug)]
pub struct Simulation {
    pub(crate) semantics: Symbolic,
    /// What the user says of the constants.
    pub(crate) given: Vec<Option<Value>>,
    constants: Vec<Value>,
    here: Here,
    completion: Option<Completion>,
    /// By transition, once it was looked at.
    firings: Vec<Option<Arc<Firing>>>,
    values: InputChoice,
    pub(crate) rng: Xoshiro256PlusPlus,
}

/// Where it is; chaos as in [`iolite_lts::Completed`].
#[derive(Clone, Debug)]
enum Here {
    Model(State),
    /// It will speak, or be silent.
    Chaos,
    ChaosOutput,
    ChaosQuiet,
}

enum Move {
    Internal,
    Output(ValuedAction),
    /// Nothing: silence, or the stimulus that waits goes first.
    Other,
}

impl Simulation {
    /// A simulation of the model of `semantics`, whose constants win over random ones.
    /// [`Simulation::start`] comes first.
    pub fn new(semantics: Symbolic) -> Self {
        let firings = vec![None; semantics.model().transitions().len()];
        Self {
            given: semantics.constants.clone(),
            constants: Vec::new(),
            here: Here::Model(State {
                location: semantics.model().initial(),
                values: Arc::default(),
            }),
            completion: None,
            firings,
            values: InputChoice::new(0, Strategy::Mixed),
            rng: Xoshiro256PlusPlus::seed_from_u64(0),
            semantics,
        }
    }

    /// What becomes of inputs that the model does not take; without it they are refused.
    #[must_use]
    pub fn completed(mut self, completion: Option<Completion>) -> Self {
        self.completion = completion;
        self
    }

    /// The model.
    pub fn model(&self) -> &Arc<Iosts> {
        self.semantics.model()
    }

    /// The values of the constants in this run.
    pub fn constants(&self) -> &[Value] {
        &self.constants
    }

    /// The state; `None` in chaos.
    pub fn state(&self) -> Option<&State> {
        match &self.here {
            Here::Model(state) => Some(state),
            _ => None,
        }
    }

    /// The present state in words.
    pub fn describe(&self) -> String {
        match &self.here {
            Here::Model(state) => self.model().describe(state),
            Here::Chaos => "chaos".to_owned(),
            Here::ChaosOutput => "chaos-output".to_owned(),
            Here::ChaosQuiet => "chaos-quiet".to_owned(),
        }
    }

    /// A fresh run.
    pub fn start(&mut self, seed: u64) -> Result<(), SimulationError> {
        self.rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        self.values = InputChoice::new(self.rng.random(), Strategy::Mixed);
        self.semantics.set_constants(self.given.clone());
        let initial = self.draw_initial();
        let model = self.model();
        let at = || model.location(model.initial()).name.to_string();
        let (constants, state) = match initial {
            Ok(Answer::Sat(found)) => self.valued(&found),
            Ok(Answer::Unsat) => return Err(SimulationError::NoInitialState),
            Ok(Answer::Unknown(reason)) => {
                let (state, query) = (at(), String::new());
                return Err(SimulationError::Undecided {
                    state,
                    reason,
                    query,
                });
            }
            Err(error) => Err(error),
        }
        .map_err(|error| error_in(at(), error))?;
        let known = constants.iter().cloned().map(Some).collect();
        self.semantics.set_constants(known);
        self.constants = constants;
        self.here = Here::Model(state);
        Ok(())
    }

    /// Runs on to the next output; `None` where it stays silent.
    pub fn observe(&mut self) -> Result<Option<ValuedAction>, SimulationError> {
        self.settle(false)
    }

    /// A race between a stimulus that waits and what the model does by itself; `None` where the
    /// stimulus goes first.
    pub fn race(&mut self) -> Result<Option<ValuedAction>, SimulationError> {
        self.settle(true)
    }

    /// Whether the present state is quiescent [SYM04, def. 7]: no output and no internal
    /// action can happen in it.
    pub fn is_quiescent(&mut self) -> Result<bool, SimulationError> {
        let state = match &self.here {
            Here::Model(state) => state.clone(),
            Here::Chaos => return Ok(false),
            Here::ChaosOutput => return Ok(self.outputs().is_empty()),
            Here::ChaosQuiet => return Ok(true),
        };
        let mut doubt = Doubt::default();
        match self.quiet(&state, &mut doubt)? {
            Some(quiet) => Ok(quiet),
            None => Err(self.undecided(doubt)),
        }
    }

    fn settle(&mut self, stimulus: bool) -> Result<Option<ValuedAction>, SimulationError> {
        // A cycle that was not decided is not asked for at each of its states.
        let mut cycles = true;
        for _ in 0..INTERNAL_BOUND {
            match self.schedule(stimulus, &mut cycles)? {
                Move::Internal => {}
                Move::Output(action) => return Ok(Some(action)),
                Move::Other => return Ok(None),
            }
        }
        Err(SimulationError::Diverges {
            state: self.describe(),
        })
    }

    fn schedule(&mut self, stimulus: bool, cycles: &mut bool) -> Result<Move, SimulationError> {
        let state = match &self.here {
            Here::Model(state) => state.clone(),
            chaos => {
                let chaos = chaos.clone();
                return self.chaotic(&chaos, stimulus);
            }
        };
        let mut doubt = Doubt::default();
        if self.quiet(&state, &mut doubt)? == Some(true) {
            return Ok(Move::Other);
        }
        let model = self.model().clone();
        let own =
            |t: &TransitionId| matches!(model.kind(*t), LabelKind::Output | LabelKind::Internal);
        let mut open: Vec<TransitionId> = model.outgoing(state.location).to_vec();
        open.retain(own);
        let other = stimulus || self.livelocked(&state, cycles)?;
        loop {
            let count = open.len() + usize::from(other);
            if count == 0 {
                // Nothing fires, and δ's guard does not say so: it is not known to hold.
                doubt.note("whether it is silent", String::new);
                return Err(self.undecided(doubt));
            }
            let pick = self.rng.random_range(0..count);
            if pick == open.len() {
                return Ok(Move::Other);
            }
            let t = open.swap_remove(pick);
            if let Some((action, next)) = self.fire(&state, t)? {
                self.here = Here::Model(next);
                return Ok(match model.kind(t) {
                    LabelKind::Internal => Move::Internal,
                    _ => Move::Output(action),
                });
            }
        }
    }

    /// Chaos decides internally to speak or to be silent, and speaks any output with any values.
    fn chaotic(&mut self, chaos: &Here, stimulus: bool) -> Result<Move, SimulationError> {
        let outputs = match chaos {
            Here::Chaos => {
                let pick = self.rng.random_range(0..2 + usize::from(stimulus));
                self.here = match pick {
                    0 => Here::ChaosOutput,
                    1 => Here::ChaosQuiet,
                    _ => return Ok(Move::Other),
                };
                return Ok(Move::Internal);
            }
            Here::ChaosOutput => self.outputs(),
            _ => Vec::new(),
        };
        let count = outputs.len() + usize::from(stimulus);
        if outputs.is_empty() {
            return Ok(Move::Other);
        }
        let Some(&action) = outputs.get(self.rng.random_range(0..count)) else {
            return Ok(Move::Other);
        };
        let seed = self.rng.random();
        let model = self.model().clone();
        let params = &model.gate(action).params;
        match Sampler::new(seed, Strategy::Mixed).sample(self.semantics.solver(), params) {
            Answer::Sat(found) => {
                self.here = Here::Chaos;
                Ok(Move::Output(ValuedAction {
                    action,
                    values: drawn(params, &found),
                }))
            }
            Answer::Unsat => Err(self.gave_up("a sort without values".into())),
            Answer::Unknown(reason) => Err(self.gave_up(reason)),
        }
    }

    fn outputs(&self) -> Vec<GateId> {
        let actions = self.model().gates();
        let outputs = actions.filter(|(_, a)| a.kind == LabelKind::Output);
        outputs.map(|(id, _)| id).collect()
    }

    /// Whether δ's guard holds.
    fn quiet(&mut self, state: &State, doubt: &mut Doubt) -> Result<Option<bool>, SimulationError> {
        let quiet =
            self.semantics
                .is_quiescent(&SymbolicState::concrete(state), &state.values, doubt);
        quiet.map_err(|e| self.failed(e))
    }

    /// Whether the state comes back to itself by internal actions alone, as far as that is known.
    fn livelocked(&mut self, state: &State, cycles: &mut bool) -> Result<bool, SimulationError> {
        if !*cycles {
            return Ok(false);
        }
        let here = SymbolicState::concrete(state);
        let livelocked = self.semantics.is_livelocked(&here, &mut Doubt::default());
        let livelocked = livelocked.map_err(|e| self.failed(e))?;
        *cycles = livelocked.is_some();
        Ok(livelocked == Some(true))
    }

    /// An output or internal transition with random values, if it can fire.
    fn fire(
        &mut self,
        state: &State,
        t: TransitionId,
    ) -> Result<Option<(ValuedAction, State)>, SimulationError> {
        let model = self.model().clone();
        let transition = model.transition(t);
        let (action, params) = (transition.action, &model.gate(transition.action).params);
        let Some(values) = self.parameters(state, t, params)? else {
            return Ok(None);
        };
        let next = model.fire(state, &self.constants, t, &values);
        let next = next.map_err(|fault| self.failed(fault.into()))?;
        Ok(next.map(|next| (ValuedAction { action, values }, next)))
    }

    /// Values of the parameters to try: the guard holds for them if it holds for any, and faults for
    /// them if it faults for any.
    fn parameters(
        &mut self,
        state: &State,
        t: TransitionId,
        params: &[Var],
    ) -> Result<Option<Vec<Value>>, SimulationError> {
        if params.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let model = self.model().clone();
        let firing = self.firings[t.index()].get_or_insert_with(|| Firing::new(&model, t).into());
        let firing = Arc::clone(firing);
        let frame = Frame {
            variables: &state.values,
            constants: &self.constants,
            params: &[],
        };
        if !firing.faults_by_value && !matches!(firing.defined.eval_bool(&frame), Ok(true)) {
            // It faults whatever the values are.
            return Ok(Some(
                params.iter().map(|p| p.sort.default_value()).collect(),
            ));
        }
        // Most outputs say what their values are; then there is nothing to solve.
        let determined = firing.determined(&frame);
        if !firing.faults_by_value
            && let Some(values) = determined.iter().cloned().collect::<Option<Vec<Value>>>()
        {
            return Ok(Some(values));
        }
        let variables = model.variables().iter().zip(state.values.iter());
        let terms: Vec<Term> = variables.map(|(v, x)| literal(&v.var, x.clone())).collect();
        let mut map = self.semantics.state_map(&terms, None);
        // A guard that faults for some values leaves the state without a meaning.
        if firing.faults_by_value
            && let Some(row) = model.faulting_values(&mut self.semantics.solver, &map, t)
        {
            return Ok(Some(row));
        }
        for (p, value) in params.iter().zip(&determined) {
            if let Some(value) = value {
                if !p.sort.contains(value) {
                    return Ok(None);
                }
                map.insert_value(p, value.clone());
            }
        }
        let guard = substituted(&firing.guard, &map).map_err(|e| self.failed(e))?;
        let way = Enabled {
            action: model.transition(t).action,
            transition: t,
            guard: guard.simplify(),
            condition: true.into(),
        };
        if way.guard.is_false() {
            return Ok(None);
        }
        match self.values.values(&mut self.semantics, &way) {
            Answer::Sat(found) => {
                let values = drawn(params, &found).into_iter().zip(determined);
                Ok(Some(values.map(|(v, fixed)| fixed.unwrap_or(v)).collect()))
            }
            Answer::Unsat => Ok(None),
            Answer::Unknown(reason) => {
                let solver = self.semantics.solver();
                solver.push();
                solver.assert(&way.guard);
                let query = solver.query_text();
                solver.pop();
                Err(self.gave_up_on(reason, query))
            }
        }
    }

    /// Takes an input, after internal steps where the present state does not take it; `false` where
    /// the model refuses it.
    pub fn input(&mut self, input: &ValuedAction) -> Result<bool, SimulationError> {
        let Here::Model(state) = &self.here else {
            return Ok(self.refuse());
        };
        let state = state.clone();
        let mut takers = self.takers(&state, input, false)?;
        if takers.is_empty() {
            takers = self.takers(&state, input, true)?;
        }
        if takers.is_empty() {
            return Ok(self.refuse());
        }
        let taker = takers.swap_remove(self.rng.random_range(0..takers.len()));
        self.here = Here::Model(self.concretised(&taker)?);
        Ok(true)
    }

    /// Meets an input that the model does not take, or does not have: whether it goes on.
    pub fn refuse(&mut self) -> bool {
        match self.completion {
            Some(Completion::SelfLoop) => true,
            Some(Completion::Chaos) => {
                self.here = Here::Chaos;
                true
            }
            None => false,
        }
    }

    /// The states after the input, where it is taken at once or else after internal steps.
    fn takers(
        &mut self,
        state: &State,
        input: &ValuedAction,
        later: bool,
    ) -> Result<Vec<SymbolicState>, SimulationError> {
        let model = self.model().clone();
        let mut doubt = Doubt::default();
        let mut takers = Vec::new();
        let mut queue = vec![SymbolicState::concrete(state)];
        let mut seen: FxHashSet<SymbolicState> = queue.iter().cloned().collect();
        let mut next = 0;
        while let Some(here) = queue.get(next).cloned() {
            next += 1;
            for &t in model.outgoing(here.location) {
                let taken = model.transition(t).action == input.action;
                let reached = if taken {
                    if !model.gate(input.action).takes(&input.values) {
                        continue;
                    }
                    let given = Some(input.values.as_slice());
                    let step = self.semantics.step(&here, t, given, &mut doubt);
                    takers.extend(step.map_err(|e| self.failed(e))?);
                    continue;
                } else if later && model.kind(t) == LabelKind::Internal {
                    self.semantics.internal(&here, t, &mut doubt)
                } else {
                    continue;
                };
                for reached in reached.map_err(|e| self.failed(e))? {
                    if seen.insert(reached.clone()) {
                        queue.push(reached);
                    }
                }
            }
            if queue.len() > self.semantics.max_states {
                doubt.note("too many internal steps", String::new);
                break;
            }
        }
        match doubt.first() {
            Some((reason, query)) if takers.is_empty() => Err(self.gave_up_on(reason, query)),
            _ => Ok(takers),
        }
    }

    /// One of the states that a symbolic one stands for, chosen at random.
    fn concretised(&mut self, symbolic: &SymbolicState) -> Result<State, SimulationError> {
        if let Some(state) = symbolic.as_concrete() {
            return Ok(state);
        }
        let values = symbolic.values(self.semantics.model());
        let condition = symbolic.condition();
        let mut unknowns: Vec<Var> = Vec::new();
        for u in values.iter().chain([&condition]).flat_map(Term::free_vars) {
            if u.id.space() == space::UNKNOWN && !unknowns.contains(&u) {
                unknowns.push(u);
            }
        }
        let seed = self.rng.random();
        let solver = self.semantics.solver();
        solver.push();
        solver.assert(&condition);
        let answer = Sampler::new(seed, Strategy::Mixed).sample(solver, &unknowns);
        solver.pop();
        let found = match answer {
            Answer::Sat(found) => found,
            Answer::Unsat => return Err(self.gave_up("its condition is false".into())),
            Answer::Unknown(reason) => return Err(self.gave_up(reason)),
        };
        let values = values.iter().map(|t| t.eval(&found));
        let values = values.collect::<Result<_, EvalError>>();
        Ok(State {
            location: symbolic.location(),
            values: values.map_err(|e| self.gave_up(e.to_string().into()))?,
        })
    }

    fn failed(&self, error: SymbolicError) -> SimulationError {
        error_in(self.describe(), error)
    }

    fn gave_up(&self, reason: Arc<str>) -> SimulationError {
        self.gave_up_on(reason, String::new())
    }

    fn gave_up_on(&self, reason: Arc<str>, query: String) -> SimulationError {
        SimulationError::Undecided {
            state: self.describe(),
            reason,
            query,
        }
    }

    fn undecided(&self, doubt: Doubt) -> SimulationError {
        match doubt.first() {
            Some((reason, query)) => self.gave_up_on(reason, query),
            None => self.gave_up("whether it is silent".into()),
        }
    }
}

/// The drawn values of parameters.
fn drawn(params: &[Var], found: &iolite_expr::Model) -> Vec<Value> {
    let value = |p: &Var| {
        let value = found.value(p.id).cloned();
        value.unwrap_or_else(|| p.sort.default_value())
    };
    params.iter().map(value).collect()
}

fn error_in(state: String, error: SymbolicError) -> SimulationError {
    match error {
        SymbolicError::Bound(reason) => SimulationError::Undecided {
            state,
            reason: reason.into(),
            query: String::new(),
        },
        error => SimulationError::Fault { state, error },
    }
}
