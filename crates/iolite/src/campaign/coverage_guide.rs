//! Selection that knows the model: what was covered, and the way to what was not.

use std::collections::BTreeSet;

use iolite_derive::{
    ActionId, Coverage, CoverageReport, FiniteOracle, Hint, IocoOracle, Meaning, Menu, Oracle,
    QueueOptions, QueueOracle, QueueState, Step,
};
use iolite_exec::{Choice, Strategy};
use iolite_lts::{Semantics, SetId, StateId};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::judge::AnyStrategy;

/// Follows every run with an oracle of its own and records coverage, whichever tester judges the
/// run, and leaves the choice to another strategy, or leads towards transitions that no run has seen
/// yet. (A tester's own advice is followed by `iolite_exec::guided`.)
///
/// Where messages queue, a transition counts once it is known that it was taken: when only one local
/// explanation of what was seen is left.
///
/// A choice never changes what a verdict means: the run's tester judges whatever happens.
pub struct CoverageGuide<M> {
    follower: Follower<M>,
    coverage: Coverage,
    otherwise: AnyStrategy,
    leads: bool,
}

/// Where the run is; `at` is `None` once it has left the specification.
enum Follower<M> {
    Synchronous {
        oracle: IocoOracle<M>,
        at: Option<SetId>,
    },
    Queues {
        oracle: QueueOracle<IocoOracle<M>>,
        at: Option<QueueState<SetId>>,
    },
}

impl<M: Semantics<State = StateId>> Follower<M> {
    fn begin(&mut self) {
        match self {
            Self::Synchronous { oracle, at } => *at = Some(oracle.start()),
            Self::Queues { oracle, at } => *at = oracle.initial().ok(),
        }
    }

    /// Where the specification is, or will be once everything sent was taken; `None` where several
    /// places are possible.
    fn place(&mut self) -> Option<SetId> {
        match self {
            Self::Synchronous { at, .. } => *at,
            Self::Queues { oracle, at } => {
                let state = at.as_ref()?;
                let [only] = state.configurations() else {
                    return None;
                };
                let untaken = state.untaken(only).iter();
                untaken.copied().try_fold(only.at, |place, input| {
                    follow(oracle.inner_mut(), place, Step::Stimulus(input))
                })
            }
        }
    }

    /// Goes on, and counts the transitions that are known to have been taken.
    fn step(&mut self, step: Step, coverage: &mut Coverage) {
        let mut count = |oracle: &mut IocoOracle<M>, at: SetId, action: ActionId| {
            if let Some(label) = oracle.actions().label(action) {
                coverage.step(at, label);
            }
        };
        match self {
            Self::Synchronous { oracle, at } => {
                if let Some(from) = *at {
                    count(oracle, from, step.action());
                    *at = follow(oracle, from, step);
                }
            }
            Self::Queues { oracle, at } => {
                let Some(from) = at.take() else { return };
                let Ok(Meaning::Allowed(next)) = oracle.after(&from, step) else {
                    return;
                };
                if let (false, [before], [after]) = (
                    step.is_stimulus(),
                    from.configurations(),
                    next.configurations(),
                ) {
                    let taken = before.untaken - after.untaken;
                    let mut place = Some(before.at);
                    for &input in &from.untaken(before)[..taken] {
                        let Some(now) = place else { break };
                        count(oracle.inner_mut(), now, input);
                        place = follow(oracle.inner_mut(), now, Step::Stimulus(input));
                    }
                    if let Some(now) = place {
                        count(oracle.inner_mut(), now, step.action());
                    }
                }
                *at = Some(next);
            }
        }
    }
}

fn follow<M: Semantics<State = StateId>>(
    oracle: &mut IocoOracle<M>,
    at: SetId,
    step: Step,
) -> Option<SetId> {
    match oracle.after(&at, step) {
        Ok(Meaning::Allowed(next)) => Some(next),
        _ => None,
    }
}

impl<M: Semantics<State = StateId>> CoverageGuide<M> {
    /// Records, and leads to what is not covered where `leads` says so; `otherwise` chooses where
    /// nothing uncovered is within reach. The whole suspension automaton is walked once; where it has
    /// more than `limit` sets, there is no guide.
    pub(crate) fn new(
        mut oracle: IocoOracle<M>,
        queues: Option<QueueOptions>,
        otherwise: AnyStrategy,
        leads: bool,
        limit: usize,
    ) -> Result<Self, AnyStrategy> {
        let Ok(coverage) = Coverage::explore(oracle.view_mut(), limit) else {
            return Err(otherwise);
        };
        let mut follower = match queues {
            None => Follower::Synchronous { oracle, at: None },
            Some(queues) => Follower::Queues {
                oracle: QueueOracle::new(oracle, queues),
                at: None,
            },
        };
        follower.begin();
        Ok(Self {
            follower,
            coverage,
            otherwise,
            leads,
        })
    }
}

impl<M: Semantics<State = StateId>> CoverageGuide<M> {
    /// What was covered, in the words of the model; `left` names at most so many transitions that were not.
    pub(crate) fn covered_model(&self, left: usize) -> CoveredModel {
        let oracle = match &self.follower {
            Follower::Synchronous { oracle, .. } => oracle,
            Follower::Queues { oracle, .. } => oracle.inner(),
        };
        CoveredModel {
            report: self.coverage.report(oracle.view(), left),
            seen: self.coverage.seen_of_model(oracle.view()),
        }
    }
}

/// What runs covered of a model.
#[derive(Clone, Debug)]
pub struct CoveredModel {
    /// Counts, and what is left.
    pub report: CoverageReport,
    /// Transitions of the model that may have been taken, as state, action and state.
    pub seen: BTreeSet<(String, String, String)>,
}

impl<M: Semantics<State = StateId>> Strategy for CoverageGuide<M> {
    fn begin(&mut self) {
        self.follower.begin();
        self.otherwise.begin();
    }

    fn choose(&mut self, menu: &Menu, rng: &mut Xoshiro256PlusPlus) -> Choice {
        let led = if self.leads {
            self.follower.place()
        } else {
            None
        };
        let led = match led.and_then(|at| self.coverage.hint(at)) {
            Some(Hint::Stimulate(stimulus)) => menu
                .stimuli
                .iter()
                .position(|&s| s == stimulus)
                .map(Choice::Stimulate),
            Some(Hint::Observe) => menu.observe.then_some(Choice::Observe),
            None => None,
        };
        led.unwrap_or_else(|| self.otherwise.choose(menu, rng))
    }

    fn happened(&mut self, step: Step, preempted: bool) {
        self.follower.step(step, &mut self.coverage);
        self.otherwise.happened(step, preempted);
    }

    fn coverage(&self) -> Option<iolite_exec::Coverage> {
        let count = self.coverage.transitions();
        Some(iolite_exec::Coverage {
            seen: count.seen as u64,
            total: count.total as u64,
        })
    }
}
