//! What a tester towards a goal asks of the goal, action by action.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use iolite_expr::Term;
use iolite_lts::{LabelId, Labels, StateId};

use crate::{ActionId, Alphabet, Breach, LabelMap, Move, Objective, Undecided, Verdict};

/// A stimulus with values that a goal asks for.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The name of the input.
    pub input: Box<str>,
    /// The condition on its parameters, numbered by position as those of a symbolic model are.
    pub condition: Term,
}

/// A goal beside a specification: an observer's violation, a purpose's acceptance. Its automaton is
/// deterministic and runs on the actions of the run's alphabet.
pub trait Goal {
    /// A state of its automaton.
    type State: Clone + Eq + Hash + Debug;

    /// Its name.
    fn name(&self) -> &str;

    /// Where it starts.
    fn initial(&self) -> Self::State;

    /// The step under an action that the specification allows.
    fn allowed(&mut self, at: &Self::State, action: ActionId) -> Move<Self::State>;

    /// An output, or δ, that the specification does not allow.
    fn forbidden(&mut self, at: &Self::State, action: ActionId) -> Breach;

    /// A lower bound on the steps to the goal, from the automaton alone; `None` when there is no way.
    fn distance(&self, at: &Self::State) -> Option<u32>;

    /// Whether a test is led towards this verdict; others that end the goal only happen to it.
    fn wants(&self, _verdict: Verdict) -> bool {
        true
    }

    /// Observations that nothing in the specification allows and that may still reach the goal.
    fn observations(&self) -> &[ActionId];

    /// Whether these are all: outputs with values are too many to be listed.
    fn lists_observations(&self) -> bool {
        true
    }

    /// How far the goal is at best after an output or δ; 0 where it is reached by one.
    fn after_observation(&mut self, at: &Self::State) -> Option<u32> {
        nearest_observation(self, at)
    }

    /// The stimuli that bring the goal nearer.
    fn wishes(&self, _at: &Self::State) -> Vec<Wish> {
        Vec::new()
    }

    /// Whether the goal speaks of constants of the specification that have no value; it is then told
    /// what a run says of them.
    fn asks_constants(&self) -> bool {
        false
    }

    /// What is known of the specification's constants, as a condition over them.
    fn learn(&mut self, _known: Term) {}

    /// Why the last step was [`Move::Open`].
    fn doubt(&self) -> Option<Undecided> {
        None
    }

    /// The verdict of a run that is broken off with the goal still open.
    fn open_verdict(&self) -> Verdict;

    /// The same, where it depends on the state.
    fn verdict_at(&self, _at: &Self::State) -> Verdict {
        self.open_verdict()
    }

    /// A state in words.
    fn describe(&self, at: &Self::State) -> String;
}

/// How far a goal is at best after one of the observations that it lists.
fn nearest_observation<G: Goal + ?Sized>(goal: &mut G, at: &G::State) -> Option<u32> {
    let seen = (0..goal.observations().len()).filter_map(|i| {
        let observation = goal.observations()[i];
        if goal.forbidden(at, observation).goal {
            return Some(0);
        }
        match goal.allowed(at, observation) {
            Move::Goal(_) => Some(0),
            Move::To(to) => goal.distance(&to),
            Move::Lost | Move::Open => None,
        }
    });
    seen.min()
}

/// An objective over labels as a goal over actions: `!o` of an observer stands for `!o(…)` with
/// whatever values.
#[derive(Debug)]
pub struct LabelGoal<O> {
    objective: O,
    actions: LabelMap,
    observations: Vec<ActionId>,
    /// Why the last step was open.
    doubt: Option<String>,
}

impl<O: Objective> LabelGoal<O> {
    /// The goal over the labels that the alphabet was made of.
    pub fn own(objective: O, alphabet: &Alphabet, labels: &Arc<Labels>) -> Self {
        Self::over(objective, LabelMap::own(alphabet, labels))
    }

    /// The goal over any labels; actions meet them by their text.
    pub fn by_text(objective: O, alphabet: &Alphabet, labels: &Arc<Labels>) -> Self {
        Self::over(objective, LabelMap::by_text(alphabet, labels))
    }

    fn over(objective: O, actions: LabelMap) -> Self {
        let labels = actions.labels().clone();
        let seen = labels.iter().filter(|(_, l)| l.kind.is_observation());
        let observations = seen.map(|(id, _)| actions.action(id)).collect();
        // Its ids outlive runs.
        actions.alphabet().pin();
        Self {
            objective: objective.over_labels(&labels),
            actions,
            observations,
            doubt: None,
        }
    }

    fn label(&mut self, action: ActionId) -> Option<LabelId> {
        if self.objective.looks_at_values() && action != ActionId::DELTA {
            let text = self.actions.alphabet().text(action);
            return self.objective.valued_label(&text);
        }
        self.actions.label(action)
    }
}

impl<O: Objective> Goal for LabelGoal<O> {
    type State = StateId;

    fn name(&self) -> &str {
        self.objective.name()
    }

    fn initial(&self) -> StateId {
        self.objective.initial()
    }

    fn allowed(&mut self, at: &StateId, action: ActionId) -> Move<StateId> {
        match self.label(action) {
            Some(label) => {
                let step = self.objective.allowed(*at, label);
                if step == Move::Open {
                    let text = self.actions.alphabet().text(action);
                    self.doubt = self.objective.doubt(&text);
                }
                step
            }
            // An action that the goal's alphabet does not have changes nothing.
            None => Move::To(*at),
        }
    }

    fn forbidden(&mut self, at: &StateId, action: ActionId) -> Breach {
        match self.label(action) {
            Some(label) => self.objective.forbidden(*at, label),
            None => Breach {
                verdict: Verdict::Fail,
                goal: false,
            },
        }
    }

    fn distance(&self, at: &StateId) -> Option<u32> {
        self.objective.distance(*at)
    }

    fn wants(&self, verdict: Verdict) -> bool {
        self.objective.wants(verdict)
    }

    fn observations(&self) -> &[ActionId] {
        &self.observations
    }

    fn lists_observations(&self) -> bool {
        !self.objective.looks_at_values()
    }

    fn after_observation(&mut self, at: &StateId) -> Option<u32> {
        if self.objective.looks_at_values() {
            return self.objective.after_observation(*at);
        }
        nearest_observation(self, at)
    }

    fn wishes(&self, at: &StateId) -> Vec<Wish> {
        self.objective.wishes(*at)
    }

    fn doubt(&self) -> Option<Undecided> {
        self.doubt.as_deref().map(Undecided::new)
    }

    fn open_verdict(&self) -> Verdict {
        self.objective.open_verdict()
    }

    fn describe(&self, at: &StateId) -> String {
        self.objective.describe(*at)
    }
}
