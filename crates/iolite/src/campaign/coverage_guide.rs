//! Selection that knows the model: what was covered, and the way to what was not.

use std::collections::BTreeSet;

use iolite_derive::{Coverage, CoverageReport, Hint, IocoOracle, Menu, QueueOptions, Step};
use iolite_exec::{Choice, Strategy};
use iolite_lts::{Semantics, SetId, StateId};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::follower::{Follower, Position};
use super::judge::AnyStrategy;
use super::shared_coverage::SharedCoverage;

/// Follows every run with an oracle of its own and records coverage, whichever tester judges the
/// run, and leaves the choice to another strategy, or leads towards transitions that no run has seen
/// yet. (A tester's own advice is followed by `iolite_exec::guided`.)
///
/// Where messages queue, a transition counts once it is known that it was taken: when only one local
/// explanation of what was seen is left.
///
/// A choice never changes what a verdict means: the run's tester judges whatever happens.
pub struct CoverageGuide<M: Semantics<State = StateId>> {
    follower: Follower<IocoOracle<M>>,
    at: Position<SetId>,
    coverage: Coverage,
    otherwise: AnyStrategy,
    leads: bool,
    /// What others saw, and how much of it was taken over.
    shared: Option<(SharedCoverage, usize)>,
}

impl<M: Semantics<State = StateId>> CoverageGuide<M> {
    /// The same, with others.
    #[must_use]
    pub(crate) fn sharing(mut self, seen: SharedCoverage) -> Self {
        seen.set_total(self.coverage.transitions().total);
        self.shared = Some((seen, 0));
        self.take_over();
        self
    }

    /// Takes what others saw since the last time.
    fn take_over(&mut self) {
        if let Some((shared, taken)) = &mut self.shared {
            let more = shared.after(*taken);
            *taken += more.len();
            self.coverage.take_seen(more);
        }
    }

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
        let mut follower = Follower::new(oracle, queues);
        Ok(Self {
            at: follower.start(),
            follower,
            coverage,
            otherwise,
            leads,
            shared: None,
        })
    }
}

impl<M: Semantics<State = StateId>> CoverageGuide<M> {
    /// What was covered, in the words of the model; `left` names at most so many transitions that were not.
    pub(crate) fn covered_model(&self, left: usize) -> CoveredModel {
        let oracle = self.follower.inner();
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
        self.take_over();
        self.at = self.follower.start();
        self.otherwise.begin();
    }

    fn choose(&mut self, menu: &Menu, rng: &mut Xoshiro256PlusPlus) -> Choice {
        let led = if self.leads {
            self.follower.place(&self.at)
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
        self.otherwise.happened(step, preempted);
        if self.coverage.transitions().is_complete() && self.coverage.states().is_complete() {
            // Nothing is left to be seen, so nobody asks any more where the run is.
            return;
        }
        let coverage = &mut self.coverage;
        let shared = self.shared.as_ref().map(|(shared, _)| shared);
        let mut count = |oracle: &mut IocoOracle<M>, at: &SetId, action| {
            if let Some(label) = oracle.actions().label(action)
                && coverage.step(*at, label)
                && let Some(shared) = shared
            {
                shared.add(coverage.number(*at, label));
            }
        };
        self.follower.step(&mut self.at, step, &mut count);
    }

    fn coverage(&self) -> Option<iolite_exec::Coverage> {
        let count = self.coverage.transitions();
        // All that this guide saw is there too.
        let shared = self.shared.as_ref().map(|(shared, _)| shared.count());
        Some(iolite_exec::Coverage {
            seen: shared.unwrap_or(count.seen) as u64,
            total: count.total as u64,
        })
    }
}
