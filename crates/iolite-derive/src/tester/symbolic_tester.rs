//! The on-the-fly ioco tester for systems with data: no unfolding, no determinisation.
//!
//! It stands in the set of symbolic states after the trace so far. Constants without a value are
//! part of the state [SYM04, §2], so whatever happens narrows them, and what no value of
//! them explains is a `fail`.

use std::collections::BTreeMap;
use std::sync::Arc;

use iolite_expr::{Answer, Distribution, Kind, Op, Span, Strategy, Term};
use iolite_sts::{
    After, Enabled, GateId, InputChoice, Iosts, LabelKind, Symbolic, SymbolicError, SymbolicStates,
    ValuedAction,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Menu, Observation, Progress, Tester, Verdict};

/// Why a verdict is `unknown`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// In words.
    pub reason: Arc<str>,
    /// The query that the solver could not decide, in SMT-LIB; empty where none was asked.
    pub query: String,
    /// The place in the model of a term that has no value.
    pub place: Option<Span>,
}

/// Why there is no tester.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SymbolicTesterError {
    /// The initial condition has no solution.
    #[error("no values of constants and variables satisfy the assumptions")]
    NoInitialState,
    /// The solver could not tell whether there is an initial state.
    #[error("the initial states could not be computed: {0}")]
    Undecided(Arc<str>),
    /// The model's terms have no value.
    #[error(transparent)]
    Model(#[from] SymbolicError),
}

/// Tests for ioco with values. Inputs are solved for, diverse and seeded; outputs are checked
/// exactly against every symbolic state; δ has the guard of [SYM04, def. 7].
///
/// A constant without a value stands for each value that the assumptions allow: a run fails if it
/// fails for all of them. Values that leave an input of the run unspecified explain all that comes
/// after it, so nothing fails any more then; such inputs are given only where there is no other.
///
/// Where the solver gives up, or the model divides by zero, the run ends `unknown` and
/// [`SymbolicTester::doubt`] keeps the reason: never a pass, never a fail.
#[derive(Debug)]
pub struct SymbolicTester {
    semantics: Symbolic,
    initial: SymbolicStates,
    states: SymbolicStates,
    choice: InputChoice,
    rng: Xoshiro256PlusPlus,
    verdict: Verdict,
    ended: bool,
    doubt: Option<Doubt>,
    /// The first input of the run that not all constants specify.
    guessed: Option<ValuedAction>,
    /// The first of which it was not found out.
    unsure: Option<ValuedAction>,
    /// Inputs that were not offered somewhere because the solver gave up, with its reason.
    untried: BTreeMap<GateId, Arc<str>>,
}

/// Keeps the values apart from whatever else a run's seed decides.
const VALUES: u64 = 0x76a1_0e5f_4c3d_9b27;
/// How often values are drawn for an input before it is given with values that not all constants
/// specify.
const DRAWS: usize = 4;
/// Locations and guards that people are shown at once.
const MOST_SHOWN: usize = 20;

impl SymbolicTester {
    /// A tester; the same seed offers the same inputs after the same runs. A run that begins with a
    /// seed of its own depends on that alone.
    pub fn new(
        mut semantics: Symbolic,
        seed: u64,
        strategy: Strategy,
    ) -> Result<Self, SymbolicTesterError> {
        let initial = match semantics.initial()? {
            After::Possible(states) => states,
            After::Impossible => return Err(SymbolicTesterError::NoInitialState),
            After::Unknown { reason, .. } => return Err(SymbolicTesterError::Undecided(reason)),
        };
        Ok(Self {
            semantics,
            states: initial.clone(),
            initial,
            choice: InputChoice::new(seed, strategy),
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            verdict: Verdict::Pass,
            ended: false,
            doubt: None,
            guessed: None,
            unsure: None,
            untried: BTreeMap::new(),
        })
    }

    /// How the values of a parameter of an input are drawn.
    pub fn draw(&mut self, action: GateId, position: usize, distribution: Distribution) {
        self.choice.set_distribution(action, position, distribution);
    }

    /// The model.
    pub fn model(&self) -> &Arc<Iosts> {
        self.semantics.model()
    }

    /// The symbolic states where the run can be now.
    pub fn states(&self) -> &SymbolicStates {
        &self.states
    }

    /// What the run tells of the constants so far: see [`Symbolic::narrowed`].
    pub fn narrowed(&mut self) -> Term {
        self.semantics.narrowed(&self.states)
    }

    /// Why the verdict is `unknown`, when it is.
    pub fn doubt(&self) -> Option<&Doubt> {
        self.doubt.as_ref()
    }

    /// Inputs for which the solver found neither values nor that there are none, and why; they were
    /// not offered there, so the runs say nothing about them.
    pub fn untried(&self) -> &BTreeMap<GateId, Arc<str>> {
        &self.untried
    }

    /// The first input of the run that only some values of the unknown constants specify.
    pub fn guessed(&self) -> Option<&ValuedAction> {
        self.guessed.as_ref()
    }

    /// The first input of the run of which it was not found out whether all values specify it.
    pub fn unsure(&self) -> Option<&ValuedAction> {
        self.unsure.as_ref()
    }

    /// The semantics, for its solver's statistics.
    pub fn semantics(&mut self) -> &mut Symbolic {
        &mut self.semantics
    }

    fn end(&mut self, verdict: Verdict) -> Progress {
        self.verdict = verdict;
        self.ended = true;
        Progress::Ended(verdict)
    }

    fn undecided(&mut self, reason: Arc<str>, query: String) -> Progress {
        self.doubt = Some(Doubt {
            reason,
            query,
            place: self.semantics.fault_place(),
        });
        self.end(Verdict::Unknown)
    }

    fn settle(&mut self, after: Result<After, SymbolicError>, otherwise: Verdict) -> Progress {
        match after {
            Ok(After::Possible(states)) => {
                self.states = states;
                Progress::Continue
            }
            Ok(After::Impossible) if otherwise == Verdict::Fail => self.fail(),
            Ok(After::Impossible) => self.end(otherwise),
            Ok(After::Unknown { reason, query }) => self.undecided(reason, query),
            Err(error) => {
                let reason = format!("the model has no meaning here: {error}");
                self.undecided(reason.into(), String::new());
                if let (SymbolicError::Fault(fault), Some(doubt)) = (error, &mut self.doubt) {
                    doubt.place = Some(fault.error.span);
                }
                Progress::Ended(self.verdict)
            }
        }
    }

    /// The end of a run that no values of the constants explain which the states tell of.
    fn fail(&mut self) -> Progress {
        let (verdict, reason) = match (&self.guessed, &self.unsure) {
            (Some(input), _) => (
                Verdict::Inconc,
                format!(
                    "no values of the constants that specify {} explain this, but the others do",
                    self.show(input)
                ),
            ),
            (None, Some(input)) => (
                Verdict::Unknown,
                format!(
                    "no values of the constants that specify {} explain this; whether all do was \
                     not found out",
                    self.show(input)
                ),
            ),
            (None, None) => return self.end(Verdict::Fail),
        };
        self.doubt = Some(Doubt {
            reason: reason.into(),
            query: String::new(),
            place: None,
        });
        self.end(verdict)
    }

    fn step(&mut self, action: &ValuedAction, otherwise: Verdict) -> Progress {
        if self.ended {
            return Progress::Ended(self.verdict);
        }
        // An action of another model has no meaning in this one.
        if action.action.index() >= self.semantics.model().gates().len() {
            return self.end(otherwise);
        }
        let after = self.semantics.after(&self.states, action);
        self.settle(after, otherwise)
    }

    /// What the states can do, inputs and outputs alike: an action with values by lot, and the
    /// guard that all its values satisfy, for people.
    pub fn offers(&mut self) -> Result<Vec<(ValuedAction, String)>, SymbolicError> {
        let mut ways = self.semantics.inputs(&self.states)?;
        ways.extend(self.semantics.out(&self.states)?.outputs);
        let mut offers: Vec<(ValuedAction, String)> = Vec::new();
        for way in ways {
            let text = guarded(self.semantics.model(), &way);
            if offers.iter().any(|(_, known)| *known == text) {
                continue;
            }
            if let Some(action) = self.solved(vec![way]) {
                offers.push((action, text));
            }
        }
        Ok(offers)
    }

    /// Whether silence is possible now; `None` where that was not found out.
    pub fn may_be_silent(&mut self) -> Result<Option<bool>, SymbolicError> {
        Ok(match self.semantics.after_delta(&self.states)? {
            After::Possible(_) => Some(true),
            After::Impossible => Some(false),
            After::Unknown { .. } => None,
        })
    }

    /// Whether all constants that explain the run so far specify an input, as far as it matters;
    /// `None` where that is not found out.
    fn is_specified(&mut self, input: &ValuedAction) -> Option<bool> {
        if self.ended
            || self.guessed.is_some()
            || self.semantics.knows_constants()
            || input.action.index() >= self.semantics.model().gates().len()
        {
            return Some(true);
        }
        self.semantics
            .specifies(&self.states, input)
            .unwrap_or_default()
    }

    /// Values for an input that all constants specify; one that only some do where no other was
    /// found.
    fn specified(&mut self, ways: &[Enabled]) -> Result<Option<ValuedAction>, ValuedAction> {
        let mut guess = None;
        for _ in 0..DRAWS {
            match self.solved(ways.to_vec()) {
                Some(input) if self.is_specified(&input) == Some(true) => return Ok(Some(input)),
                Some(input) => guess = guess.or(Some(input)),
                None => break,
            }
        }
        guess.map_or(Ok(None), Err)
    }

    /// Values for one of the ways to take an input, tried in an order drawn by lot.
    fn solved(&mut self, mut ways: Vec<Enabled>) -> Option<ValuedAction> {
        while !ways.is_empty() {
            let way = ways.swap_remove(self.rng.random_range(0..ways.len()));
            let found = match self.choice.values(&mut self.semantics, &way) {
                Answer::Sat(found) => found,
                Answer::Unsat => continue,
                // What the solver cannot decide is not offered: there is nothing to judge yet.
                Answer::Unknown(why) => {
                    self.untried.entry(way.action).or_insert(why);
                    continue;
                }
            };
            let params = &self.semantics.model().gate(way.action).params;
            let value = |p: &iolite_expr::Var| found.value(p.id).cloned();
            return Some(ValuedAction {
                action: way.action,
                values: params
                    .iter()
                    .map(|p| value(p).unwrap_or_else(|| p.sort.default_value()))
                    .collect(),
            });
        }
        None
    }
}

impl Tester for SymbolicTester {
    type Action = ValuedAction;

    fn reset(&mut self) {
        self.states = self.initial.clone();
        self.verdict = Verdict::Pass;
        self.ended = false;
        self.doubt = None;
        self.guessed = None;
        self.unsure = None;
    }

    fn begin(&mut self, seed: u64) {
        // Strategies draw from the run's seed too; values must not follow their choices.
        let own = seed.rotate_left(29) ^ VALUES;
        self.choice.reseed(own);
        self.rng = Xoshiro256PlusPlus::seed_from_u64(own);
        self.reset();
    }

    fn menu(&mut self, menu: &mut Menu<ValuedAction>) {
        menu.stop = true;
        if self.ended {
            return;
        }
        menu.observe = true;
        // A model fault in a guard shows when the step is taken; here it offers nothing.
        let inputs = self.semantics.inputs(&self.states).unwrap_or_default();
        let mut gates: BTreeMap<GateId, Vec<Enabled>> = BTreeMap::new();
        for way in inputs {
            gates.entry(way.action).or_default().push(way);
        }
        let mut guesses = Vec::new();
        for ways in gates.into_values() {
            match self.specified(&ways) {
                Ok(input) => menu.stimuli.extend(input),
                Err(guess) => guesses.push(guess),
            }
        }
        if menu.stimuli.is_empty() {
            menu.stimuli = guesses;
            return;
        }
        for guess in guesses {
            let why = "only some values of the unknown constants specify it";
            self.untried
                .entry(guess.action)
                .or_insert_with(|| why.into());
        }
    }

    fn stimulate(&mut self, stimulus: &ValuedAction) -> Progress {
        match self.is_specified(stimulus) {
            Some(true) => {}
            Some(false) => self.guessed = Some(stimulus.clone()),
            None => {
                self.unsure.get_or_insert_with(|| stimulus.clone());
            }
        }
        self.step(stimulus, Verdict::Inconc)
    }

    fn observe(&mut self, observation: &Observation<ValuedAction>) -> Progress {
        match observation {
            Observation::Output(action) => self.step(action, Verdict::Fail),
            Observation::Quiescence | Observation::Deadlock => {
                if self.ended {
                    return Progress::Ended(self.verdict);
                }
                let after = self.semantics.after_delta(&self.states);
                self.settle(after, Verdict::Fail)
            }
        }
    }

    fn verdict(&self) -> Verdict {
        self.verdict
    }

    fn allowed(&mut self) -> Vec<String> {
        let Ok(out) = self.semantics.out(&self.states) else {
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

    fn locations(&mut self) -> Vec<String> {
        let model = self.semantics.model();
        let mut texts: Vec<String> = Vec::new();
        for state in self.states.iter() {
            let text = state.describe(model);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        shortened(texts)
    }

    fn places(&mut self) -> Vec<String> {
        let model = self.semantics.model();
        let mut places: Vec<String> = Vec::new();
        for state in self.states.iter() {
            let place = &*model.location(state.location()).name;
            if !places.iter().any(|p| p == place) {
                places.push(place.to_owned());
            }
        }
        places
    }

    fn show(&self, action: &ValuedAction) -> String {
        let model = self.semantics.model();
        if action.action.index() >= model.gates().len() {
            return format!("unknown action {}", action.action.index());
        }
        let kind: LabelKind = model.gate(action.action).kind;
        format!("{}{}", kind.sigil(), model.label(action))
    }
}

fn shortened(mut texts: Vec<String>) -> Vec<String> {
    if texts.len() > MOST_SHOWN {
        let more = texts.len() - MOST_SHOWN;
        texts.truncate(MOST_SHOWN);
        texts.push(format!("… and {more} more"));
    }
    texts
}

/// `!MSG(3, true)` where the guard leaves one value each, else `!MSG(m, b) [m > 3]`.
fn guarded(model: &Iosts, way: &Enabled) -> String {
    let action = model.gate(way.action);
    let guard = Term::all([way.condition.clone(), way.guard.clone()]).simplify();
    let conjuncts = match guard.kind() {
        Kind::App(Op::And, parts) => parts.to_vec(),
        _ if guard.is_true() => Vec::new(),
        _ => vec![guard.clone()],
    };
    let mut values: Vec<Option<String>> = vec![None; action.params.len()];
    let mut rest = Vec::new();
    for part in conjuncts {
        let fixed = match part.kind() {
            Kind::Var(v) => Some((v.id, "true".to_owned())),
            Kind::App(Op::Not, x) => x[0].as_var().map(|v| (v.id, "false".to_owned())),
            Kind::App(Op::Eq, x) => match (x[0].as_var(), x[1].as_value()) {
                (Some(v), Some(value)) => Some((v.id, value.to_string())),
                _ => None,
            },
            _ => None,
        };
        let position = fixed
            .and_then(|(id, text)| Some((action.params.iter().position(|p| p.id == id)?, text)));
        match position {
            Some((i, text)) if values[i].is_none() => values[i] = Some(text),
            _ => rest.push(part),
        }
    }
    let mut text = format!("{}{}", action.kind.sigil(), action.name);
    if !action.params.is_empty() {
        let shown: Vec<String> = action
            .params
            .iter()
            .zip(values)
            .map(|(p, value)| value.unwrap_or_else(|| p.name.to_string()))
            .collect();
        text += &format!("({})", shown.join(", "));
    }
    if rest.is_empty() {
        text
    } else {
        format!("{text} [{}]", Term::all(rest))
    }
}
