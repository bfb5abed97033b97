//! Which goals a covering suite or a led campaign is after.

use std::sync::Arc;

use crate::coverage_goal::{CoverageGoal, CoverageGoals};
use crate::iosts::{Iosts, Location, LocationId, Transition, TransitionId};

/// Transitions of a model that is split by entry.
const MOST_PAIRS: usize = 20_000;

/// What is to be covered of a symbolic model. Transitions are the switches of van den Bos and Tretmans,
/// "Coverage-based testing with symbolic transition systems" (2019).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CoverageCriterion {
    /// Every location.
    Locations,
    /// Every transition.
    #[default]
    Transitions,
    /// Every transition with each side of the disjunctions in its guard.
    Branches,
    /// Every two transitions of which one can follow the other at once.
    SwitchPairs,
}

/// The goals of a criterion.
#[derive(Clone, Debug)]
pub struct CriterionGoals {
    /// The model that the goals are of: for switch pairs, the one that is split by entry.
    pub model: Arc<Iosts>,
    /// All goals of that model.
    pub goals: Arc<CoverageGoals>,
    /// Those that are wanted, by number.
    pub wanted: Vec<usize>,
    /// By transition of the model: the one before it, and itself, as the written model has them. Empty
    /// unless the model is split.
    pairs: Vec<SwitchPair>,
}

impl CoverageCriterion {
    /// The goals of a model; `None` where it has too many.
    pub fn goals(self, model: &Arc<Iosts>) -> Option<CriterionGoals> {
        let (model, pairs) = match self {
            Self::SwitchPairs => {
                let (split, pairs) = model.split_by_entry()?;
                (Arc::new(split), pairs)
            }
            _ => (Arc::clone(model), Vec::new()),
        };
        let goals = CoverageGoals::new(&model);
        let branched = |t: &TransitionId| {
            goals
                .iter()
                .any(|g| matches!(g, CoverageGoal::Branch(own, _) if own == t))
        };
        let is_wanted = |goal: &CoverageGoal| match (self, goal) {
            (Self::Locations, CoverageGoal::Location(_))
            | (Self::Transitions, CoverageGoal::Transition(_))
            | (Self::Branches, CoverageGoal::Branch(..)) => true,
            (Self::Branches, CoverageGoal::Transition(t)) => !branched(t),
            (Self::SwitchPairs, CoverageGoal::Transition(t)) => pairs[t.index()].0.is_some(),
            _ => false,
        };
        let all = goals.iter().enumerate();
        let wanted = all.filter(|(_, goal)| is_wanted(goal)).map(|(k, _)| k);
        Some(CriterionGoals {
            wanted: wanted.collect(),
            model,
            goals: Arc::new(goals),
            pairs,
        })
    }
}

impl CriterionGoals {
    /// The two transitions, as the written model has them, that a transition of the split model stands for;
    /// `None` where it is one transition.
    pub fn pair(&self, transition: TransitionId) -> Option<(TransitionId, TransitionId)> {
        let (before, own) = self.pairs.get(transition.index())?;
        Some(((*before)?, *own))
    }
}

/// A transition with the one before it; the first of a run has none.
type SwitchPair = (Option<TransitionId>, TransitionId);

impl Iosts {
    /// The model with a copy of each location for each transition that leads there, so that its transitions
    /// are the switch pairs; and for each of them the transition before it and itself. The traces stay what
    /// they are. `None` beyond a number of pairs.
    fn split_by_entry(&self) -> Option<(Self, Vec<SwitchPair>)> {
        let mut result = self.clone();
        result.locations = vec![self.location(self.initial).clone()];
        result.initial = LocationId::new(0);
        result.transitions.clear();
        let mut entries = vec![(None, self.initial)];
        for (id, t) in self.transitions() {
            let target = self.location(t.target);
            result.locations.push(Location {
                name: format!("{}#{}", target.name, id.index()).into(),
                span: target.span,
            });
            entries.push((Some(id), t.target));
        }
        let mut pairs = Vec::new();
        for (copy, (before, at)) in entries.into_iter().enumerate() {
            for &t in self.outgoing(at) {
                result.transitions.push(Transition {
                    source: LocationId::new(copy),
                    target: LocationId::new(1 + t.index()),
                    ..self.transition(t).clone()
                });
                pairs.push((before, t));
                if pairs.len() > MOST_PAIRS {
                    return None;
                }
            }
        }
        result.index_outgoing();
        Some((result, pairs))
    }
}
