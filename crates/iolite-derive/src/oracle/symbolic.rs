//! ioco, uioco and ioconf for systems with data: no unfolding, no determinisation.
//!
//! The oracle stands in the set of symbolic states after the trace so far. Constants without a value
//! are part of the state [SYM04, §2], so whatever happens narrows them, and what no value of them
//! explains is forbidden.

mod stimuli;
mod text;
mod valued;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use iolite_expr::{CandidateValues, Distribution, Strategy, Term};
use iolite_lts::relation::Relation;
use iolite_sts::{
    After, CoverageGoals, GateId, InputChoice, Iosts, LabelKind, Symbolic, SymbolicError,
    SymbolicStates, ValueCoverage, ValuedAction,
};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{
    ActionId, Alphabet, Criterion, Meaning, Notice, Oracle, Places, Step, Undecided, Wish,
};

pub(crate) use text::{guarded, shortened};
pub use valued::{action_of, valued_action, valued_label};

/// Why there is no oracle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SymbolicOracleError {
    /// The initial condition has no solution.
    #[error("no values of constants and variables satisfy the assumptions")]
    NoInitialState,
    /// The solver could not tell whether there is an initial state.
    #[error("the initial states could not be computed: {0}")]
    Undecided(Arc<str>),
    /// The solver's answers are worth nothing.
    #[error("the solver: {0}")]
    SolverFault(String),
    /// The model's terms have no value.
    #[error(transparent)]
    Model(#[from] SymbolicError),
}

/// ioco with values. Inputs are solved for, diverse and seeded; outputs are checked exactly against
/// every symbolic state; δ has the guard of [SYM04, def. 7].
///
/// A constant without a value stands for each value that the assumptions allow: a run fails if it
/// fails for all of them. Values that leave an input of the run unspecified explain all that comes
/// after it, so nothing fails any more then; such inputs are given only where there is no other.
///
/// For uioco an input is specified only where every state of the set takes it; for ioconf δ ends the run.
///
/// Where the solver gives up, or the model divides by zero, the answer is [`Undecided`].
#[derive(Debug)]
pub struct SymbolicOracle {
    semantics: Symbolic,
    relation: Relation,
    alphabet: Alphabet,
    initial: SymbolicStates,
    choice: InputChoice,
    rng: Xoshiro256PlusPlus,
    /// What actions are to the model, as far as they were asked for in this run.
    valued: BTreeMap<ActionId, Option<ValuedAction>>,
    /// Inputs that were not offered somewhere because the solver gave up, with its reason.
    untried: BTreeMap<GateId, Arc<str>>,
    /// Inputs that were given since the oracle was made.
    tried: BTreeSet<GateId>,
    /// Values that may matter.
    candidates: Arc<CandidateValues>,
    /// What of the model's data runs have tried since the oracle was made.
    coverage: ValueCoverage,
    /// Whether an input is specified that some values of the constants specify.
    union: bool,
}

/// A set of symbolic states, and what the way there leaves in doubt.
#[derive(Clone, Debug, PartialEq)]
pub struct SymbolicPlace {
    states: SymbolicStates,
    /// The first input of the run that not all constants specify.
    guessed: Option<ActionId>,
    /// The first of which it was not found out.
    unsure: Option<ActionId>,
}

impl SymbolicPlace {
    /// The symbolic states.
    pub fn states(&self) -> &SymbolicStates {
        &self.states
    }

    /// The first input of the run that only some values of the unknown constants specify.
    pub fn guessed(&self) -> Option<ActionId> {
        self.guessed
    }

    /// The first input of the run of which it was not found out whether all values specify it.
    pub fn unsure(&self) -> Option<ActionId> {
        self.unsure
    }
}

/// Keeps the values apart from whatever else a run's seed decides.
const VALUES: u64 = 0x76a1_0e5f_4c3d_9b27;
/// Actions of a run whose meaning is remembered.
const REMEMBERED: usize = 1 << 16;

impl SymbolicOracle {
    /// An oracle; the same seed offers the same inputs after the same runs. A run that begins with a
    /// seed of its own depends on that alone.
    pub fn new(
        mut semantics: Symbolic,
        alphabet: &Alphabet,
        seed: u64,
        strategy: Strategy,
    ) -> Result<Self, SymbolicOracleError> {
        let initial = match semantics.initial()? {
            After::Possible(states) => states,
            After::Impossible => return Err(SymbolicOracleError::NoInitialState),
            After::Unknown { reason, .. } => {
                let fault = semantics.solver().fault();
                return Err(match fault {
                    Some(why) => SymbolicOracleError::SolverFault(why.clone()),
                    None => SymbolicOracleError::Undecided(reason),
                });
            }
        };
        let candidates = Arc::new(semantics.candidates());
        let mut choice = InputChoice::new(seed, strategy);
        choice.set_candidates(Arc::clone(&candidates));
        Ok(Self {
            coverage: ValueCoverage::new(semantics.model(), &candidates),
            candidates,
            semantics,
            relation: Relation::Ioco,
            alphabet: alphabet.clone(),
            initial,
            choice,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            valued: BTreeMap::new(),
            untried: BTreeMap::new(),
            tried: BTreeSet::new(),
            union: false,
        })
    }

    /// The same for Traces(S^δ) as [SYM04, §2] has them, where constants are part of the initial state: a trace is
    /// specified if some values of them have it. So it is for relations between models.
    #[must_use]
    pub fn of_the_union(mut self) -> Self {
        self.union = true;
        self
    }

    /// The same for ioco, uioco or ioconf; other relations have no oracle over data.
    #[must_use]
    pub fn for_relation(mut self, relation: Relation) -> Self {
        if matches!(relation, Relation::Uioco | Relation::Ioconf) {
            self.relation = relation;
        }
        self
    }

    /// How the values of a parameter of an input are drawn.
    pub fn draw(&mut self, gate: GateId, position: usize, distribution: Distribution) {
        self.choice.set_distribution(gate, position, distribution);
    }

    /// Words of the user that may matter as values, beside the model's own constants.
    pub fn add_words<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) {
        let candidates = Arc::make_mut(&mut self.candidates);
        for word in words {
            candidates.add_word(word);
        }
        self.coverage = ValueCoverage::new(self.semantics.model(), candidates);
        self.choice.set_candidates(Arc::clone(&self.candidates));
    }

    /// The model.
    pub fn model(&self) -> &Arc<Iosts> {
        self.semantics.model()
    }

    /// The semantics, for its solver and its statistics.
    pub fn semantics(&mut self) -> &mut Symbolic {
        &mut self.semantics
    }

    /// What the way to a place shows about the constants: see [`Symbolic::narrowed`].
    pub fn narrowed(&mut self, at: &SymbolicPlace) -> Term {
        self.semantics.narrowed(&at.states)
    }

    /// Inputs for which the solver found neither values nor that there are none, and why; they were
    /// not offered there, so the runs say nothing about them.
    pub fn untried(&self) -> &BTreeMap<GateId, Arc<str>> {
        &self.untried
    }

    /// The id of a valued action of the model.
    pub fn action(&self, action: &ValuedAction) -> ActionId {
        action_of(self.model(), &self.alphabet, action)
    }

    /// What an action is to the model; `None` where no gate takes it.
    pub fn valued(&mut self, id: ActionId) -> Option<ValuedAction> {
        if let Some(known) = self.valued.get(&id) {
            return known.clone();
        }
        let action = self.alphabet.action(id)?;
        let valued = valued_action(self.model(), &action);
        if self.valued.len() >= REMEMBERED {
            self.valued.clear();
        }
        self.valued.insert(id, valued.clone());
        valued
    }

    /// The goals of the model that an action from here may reach.
    pub fn reached(
        &mut self,
        goals: &Arc<CoverageGoals>,
        at: &SymbolicPlace,
        action: ActionId,
    ) -> BTreeSet<usize> {
        match self.valued(action) {
            Some(action) => self.semantics.reached_by(goals, &at.states, &action),
            None => BTreeSet::new(),
        }
    }

    fn settle(
        &mut self,
        at: &SymbolicPlace,
        step: Step,
        after: Result<After, SymbolicError>,
    ) -> Result<Meaning<SymbolicPlace>, Box<Undecided>> {
        match after {
            Ok(After::Possible(states)) => Ok(Meaning::Allowed(SymbolicPlace {
                states,
                guessed: at.guessed,
                unsure: at.unsure,
            })),
            Ok(After::Impossible) if step.is_stimulus() => Ok(Meaning::Unspecified),
            Ok(After::Impossible) => self.forbidden(at),
            Ok(After::Unknown { reason, query }) => Err(Box::new(Undecided {
                reason,
                place: self.semantics.fault_place(),
                query,
                inconclusive: false,
            })),
            Err(error) => {
                let mut why = Undecided::new(format!("the model has no meaning here: {error}"));
                why.place = match error {
                    SymbolicError::Fault(fault) => Some(fault.error.span),
                    _ => self.semantics.fault_place(),
                };
                Err(Box::new(why))
            }
        }
    }

    /// An observation that no value of the constants explains, among those that the states leave possible.
    fn forbidden(&self, at: &SymbolicPlace) -> Result<Meaning<SymbolicPlace>, Box<Undecided>> {
        match (at.guessed, at.unsure) {
            (Some(input), _) => Err(Box::new(Undecided {
                inconclusive: true,
                ..Undecided::new(format!(
                    "no values of the constants that specify {} explain this, but the others do",
                    self.alphabet.text(input)
                ))
            })),
            (None, Some(input)) => Err(Box::new(Undecided::new(format!(
                "no values of the constants that specify {} explain this; whether all do was not \
                 found out",
                self.alphabet.text(input)
            )))),
            (None, None) => Ok(Meaning::Forbidden),
        }
    }

    /// What the states can do, inputs and outputs alike: an action with random values, and the guard
    /// that all its values satisfy, for people.
    pub fn offers(&mut self, at: &SymbolicPlace) -> Result<Vec<(ActionId, String)>, SymbolicError> {
        let mut ways = self.semantics.inputs(&at.states)?;
        ways.extend(self.semantics.out(&at.states)?.outputs);
        let mut offers: Vec<(ActionId, String)> = Vec::new();
        for way in ways {
            let text = guarded(self.semantics.model(), &way);
            if offers.iter().any(|(_, known)| *known == text) {
                continue;
            }
            if let Some(action) = self.solved(vec![way]) {
                offers.push((self.action(&action), text));
            }
        }
        Ok(offers)
    }

    /// Whether silence is possible now; `None` where that was not found out.
    pub fn may_be_silent(&mut self, at: &SymbolicPlace) -> Result<Option<bool>, SymbolicError> {
        Ok(match self.semantics.after_delta(&at.states)? {
            After::Possible(_) => Some(true),
            After::Impossible => Some(false),
            After::Unknown { .. } => None,
        })
    }
}

impl Oracle for SymbolicOracle {
    type State = SymbolicPlace;

    fn criterion(&self) -> Criterion {
        Criterion::Relation(self.relation)
    }

    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn begin(&mut self, seed: u64) {
        // A new run may give old ids to new actions.
        self.alphabet.begin_run();
        self.valued.clear();
        // Strategies draw from the run's seed too; values must not follow their choices.
        let own = seed.rotate_left(29) ^ VALUES;
        self.choice.reseed(own);
        self.rng = Xoshiro256PlusPlus::seed_from_u64(own);
    }

    /// The conditions under which states are quiescent hold already, so δ once more leaves all of them, whether values
    /// are known or not; and a system with data has no δ of its own.
    fn stays_silent(&mut self, _at: &SymbolicPlace) -> bool {
        true
    }

    fn initial(&mut self) -> Result<SymbolicPlace, Box<Undecided>> {
        Ok(SymbolicPlace {
            states: self.initial.clone(),
            guessed: None,
            unsure: None,
        })
    }

    fn stimuli(&mut self, at: &SymbolicPlace, menu: &mut Vec<ActionId>) {
        self.offer_stimuli(at, menu);
    }

    fn solve(&mut self, at: &SymbolicPlace, wish: &Wish) -> Option<ActionId> {
        let gate = self.model().find_gate(LabelKind::Input, &wish.input)?;
        let mut ways = self.semantics.inputs(&at.states).unwrap_or_default();
        ways.retain(|way| way.action == gate);
        for way in &mut ways {
            way.guard = Term::all([way.guard.clone(), wish.condition.clone()]).simplify();
        }
        // A guess would end what the run can show.
        let input = self.specified(at, &ways).ok()??;
        Some(self.action(&input))
    }

    fn constants(&mut self, at: &SymbolicPlace) -> Term {
        if at.guessed.is_some() || at.unsure.is_some() {
            return true.into();
        }
        self.semantics.narrowed(&at.states)
    }

    fn after(
        &mut self,
        at: &SymbolicPlace,
        step: Step,
    ) -> Result<Meaning<SymbolicPlace>, Box<Undecided>> {
        let (Step::Stimulus(id) | Step::Output(id)) = step else {
            let after = self.semantics.after_delta(&at.states);
            let meaning = self.settle(at, step, after)?;
            // ioconf speaks of traces without δ [LTS96, def. 6.10].
            let ends = self.relation == Relation::Ioconf;
            return Ok(match meaning {
                Meaning::Allowed(_) if ends => Meaning::Ends,
                meaning => meaning,
            });
        };
        let valued = self.valued(id);
        if valued.is_none() {
            self.alphabet.reject_forgotten(id)?;
        }
        // Only the environment gives inputs, and only the system shows the rest.
        let given = |a: &ValuedAction| self.model().gate(a.action).kind == LabelKind::Input;
        let Some(action) = valued.filter(|a| given(a) == step.is_stimulus()) else {
            // An action that the model does not have.
            return if step.is_stimulus() {
                Ok(Meaning::Unspecified)
            } else {
                self.forbidden(at)
            };
        };
        let mut from = at.clone();
        if step.is_stimulus() {
            if let Some(refused) = self.refused(at, &action) {
                return refused;
            }
            match self.is_specified(at, &action) {
                Some(true) => {}
                Some(false) => from.guessed = Some(id),
                None => from.unsure = from.unsure.or(Some(id)),
            }
        }
        let after = self.semantics.after(&at.states, &action);
        self.settle(&from, step, after)
    }

    const LISTENS: bool = true;

    fn happened(&mut self, at: &[SymbolicPlace], step: Step) {
        let (Step::Stimulus(id) | Step::Output(id)) = step else {
            return;
        };
        let Some(action) = self.valued(id) else {
            return;
        };
        let model = Arc::clone(self.model());
        self.choice.happened(&model, &action);
        if step.is_stimulus() {
            self.tried.insert(action.action);
            self.coverage.give(&action);
        }
        for place in at {
            self.semantics
                .note_tried(&mut self.coverage, &place.states, &action);
        }
    }

    fn out(&mut self, at: &SymbolicPlace) -> Vec<String> {
        let Ok(out) = self.semantics.out(&at.states) else {
            return Vec::new();
        };
        let model = self.semantics.model();
        let mut texts: Vec<String> = Vec::new();
        let mut add = |text: String| {
            if !texts.contains(&text) {
                texts.push(text);
            }
        };
        for way in &out.outputs {
            add(guarded(model, way));
        }
        for (guard, condition) in &out.delta {
            let guard = Term::all([condition.clone(), guard.clone()]).simplify();
            add(if guard.is_true() {
                "delta".to_owned()
            } else {
                format!("delta [{guard}]")
            });
        }
        shortened(texts)
    }

    fn places(&mut self, at: &SymbolicPlace) -> Places {
        let model = self.semantics.model();
        let mut places = Places::default();
        for state in at.states.iter() {
            let text = state.describe(model);
            if !places.locations.contains(&text) {
                places.locations.push(text);
            }
            let name = &*model.location(state.location()).name;
            if !places.names.iter().any(|n| n == name) {
                places.names.push(name.to_owned());
            }
        }
        places.locations = shortened(places.locations);
        places
    }

    fn is_same(&self, one: &SymbolicPlace, other: &SymbolicPlace) -> bool {
        one == other
    }

    fn conclude(&mut self, at: &SymbolicPlace) -> Vec<Notice> {
        let mut notices: Vec<Notice> = self
            .tried
            .iter()
            .map(|&gate| Notice::Tried {
                input: self.model().gate(gate).name.to_string(),
            })
            .collect();
        notices.push(Notice::Values(self.coverage.clone()));
        notices.extend(self.semantics.solver().fault().map(Notice::SolverFault));
        for (&gate, reason) in &self.untried {
            notices.push(Notice::Untried {
                input: self.model().gate(gate).name.to_string(),
                reason: Arc::clone(reason),
            });
        }
        if let Some(input) = at.guessed {
            let action = self.alphabet.action(input);
            let input = action.map(|a| a.name.to_string()).unwrap_or_default();
            notices.push(Notice::Guessed { input });
        }
        // After a guess there are values that the states do not account for.
        if at.guessed.is_none() && at.unsure.is_none() {
            notices.push(Notice::Learnt(self.semantics.narrowed(&at.states)));
        }
        notices
    }
}
