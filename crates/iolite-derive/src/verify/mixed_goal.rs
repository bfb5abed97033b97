//! Goals of different kinds beside one another: over labels, and with data.

use iolite_expr::Term;
use iolite_lts::StateId;
use iolite_property::{Observer, Purpose};
use iolite_sts::SymbolicStates;

use crate::{
    ActionId, Breach, DataGoal, Goal, LabelGoal, Move, PropertyObjective, Undecided, Verdict, Wish,
};

/// A goal of either kind.
#[derive(Debug)]
pub enum MixedGoal {
    /// An observer over labels.
    Observer(Box<LabelGoal<Observer>>),
    /// A test purpose over labels.
    Purpose(Box<LabelGoal<Purpose>>),
    /// A property of any class, over labels.
    Property(Box<LabelGoal<PropertyObjective>>),
    /// An observer or a purpose with data.
    Data(Box<DataGoal>),
}

impl From<LabelGoal<Observer>> for MixedGoal {
    fn from(goal: LabelGoal<Observer>) -> Self {
        Self::Observer(Box::new(goal))
    }
}

impl From<LabelGoal<Purpose>> for MixedGoal {
    fn from(goal: LabelGoal<Purpose>) -> Self {
        Self::Purpose(Box::new(goal))
    }
}

impl From<LabelGoal<PropertyObjective>> for MixedGoal {
    fn from(goal: LabelGoal<PropertyObjective>) -> Self {
        Self::Property(Box::new(goal))
    }
}

/// A state of a goal of either kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MixedState {
    /// Of an automaton over labels.
    Label(StateId),
    /// Of one with data.
    Data(SymbolicStates),
}

impl From<StateId> for MixedState {
    fn from(state: StateId) -> Self {
        Self::Label(state)
    }
}

impl From<SymbolicStates> for MixedState {
    fn from(states: SymbolicStates) -> Self {
        Self::Data(states)
    }
}

fn mixed<S: Into<MixedState>>(step: Move<S>) -> Move<MixedState> {
    match step {
        Move::To(at) => Move::To(at.into()),
        Move::Goal(verdict) => Move::Goal(verdict),
        Move::Lost => Move::Lost,
        Move::Open => Move::Open,
    }
}

/// Asks the goal that a state is of. States never meet a goal of the other kind.
macro_rules! ask {
    ($self:expr, $at:expr, |$goal:ident, $state:ident| $answer:expr, $never:expr) => {
        match ($self, $at) {
            (MixedGoal::Observer($goal), MixedState::Label($state)) => $answer,
            (MixedGoal::Purpose($goal), MixedState::Label($state)) => $answer,
            (MixedGoal::Property($goal), MixedState::Label($state)) => $answer,
            (MixedGoal::Data($goal), MixedState::Data($state)) => $answer,
            _ => $never,
        }
    };
}

impl Goal for MixedGoal {
    type State = MixedState;

    fn name(&self) -> &str {
        match self {
            Self::Observer(goal) => goal.name(),
            Self::Purpose(goal) => goal.name(),
            Self::Property(goal) => goal.name(),
            Self::Data(goal) => goal.name(),
        }
    }

    fn initial(&self) -> MixedState {
        match self {
            Self::Observer(goal) => goal.initial().into(),
            Self::Purpose(goal) => goal.initial().into(),
            Self::Property(goal) => goal.initial().into(),
            Self::Data(goal) => goal.initial().into(),
        }
    }

    fn allowed(&mut self, at: &MixedState, action: ActionId) -> Move<MixedState> {
        ask!(
            self,
            at,
            |goal, state| mixed(goal.allowed(state, action)),
            Move::Open
        )
    }

    fn forbidden(&mut self, at: &MixedState, action: ActionId) -> Breach {
        let fail = Breach {
            verdict: Verdict::Fail,
            goal: false,
        };
        ask!(self, at, |goal, state| goal.forbidden(state, action), fail)
    }

    fn distance(&self, at: &MixedState) -> Option<u32> {
        ask!(self, at, |goal, state| goal.distance(state), None)
    }

    fn observations(&self) -> &[ActionId] {
        match self {
            Self::Observer(goal) => goal.observations(),
            Self::Purpose(goal) => goal.observations(),
            Self::Property(goal) => goal.observations(),
            Self::Data(goal) => goal.observations(),
        }
    }

    fn wants(&self, verdict: Verdict) -> bool {
        match self {
            Self::Observer(goal) => goal.wants(verdict),
            Self::Purpose(goal) => goal.wants(verdict),
            Self::Property(goal) => goal.wants(verdict),
            Self::Data(goal) => goal.wants(verdict),
        }
    }

    fn lists_observations(&self) -> bool {
        match self {
            Self::Observer(goal) => goal.lists_observations(),
            Self::Purpose(goal) => goal.lists_observations(),
            Self::Property(goal) => goal.lists_observations(),
            Self::Data(goal) => goal.lists_observations(),
        }
    }

    fn after_observation(&mut self, at: &MixedState) -> Option<u32> {
        ask!(self, at, |goal, state| goal.after_observation(state), None)
    }

    fn wishes(&self, at: &MixedState) -> Vec<Wish> {
        ask!(self, at, |goal, state| goal.wishes(state), Vec::new())
    }

    fn asks_constants(&self) -> bool {
        matches!(self, Self::Data(goal) if goal.asks_constants())
    }

    fn learn(&mut self, known: Term) {
        if let Self::Data(goal) = self {
            goal.learn(known);
        }
    }

    fn doubt(&self) -> Option<Undecided> {
        match self {
            Self::Observer(goal) => goal.doubt(),
            Self::Purpose(goal) => goal.doubt(),
            Self::Property(goal) => goal.doubt(),
            Self::Data(goal) => goal.doubt(),
        }
    }

    fn open_verdict(&self) -> Verdict {
        match self {
            Self::Observer(goal) => goal.open_verdict(),
            Self::Purpose(goal) => goal.open_verdict(),
            Self::Property(goal) => goal.open_verdict(),
            Self::Data(goal) => goal.open_verdict(),
        }
    }

    fn verdict_at(&self, at: &MixedState) -> Verdict {
        ask!(
            self,
            at,
            |goal, state| goal.verdict_at(state),
            self.open_verdict()
        )
    }

    fn describe(&self, at: &MixedState) -> String {
        ask!(self, at, |goal, state| goal.describe(state), String::new())
    }
}
