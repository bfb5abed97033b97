//! Selection that knows the model: what was covered, and the way to what was not.

use iolite_derive::{Coverage, FiniteOracle, Hint, IocoOracle, Meaning, Menu, Oracle, Step};
use iolite_exec::{Choice, Strategy};
use iolite_lts::{Semantics, SetId, StateId};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::judge::AnyStrategy;

/// Follows every run with an oracle of its own and records coverage, whichever tester judges the
/// run, and leaves the choice to another strategy, or leads towards transitions that no run has seen
/// yet. (A tester's own advice is followed by `iolite_exec::guided`.)
///
/// A choice never changes what a verdict means: the run's tester judges whatever happens.
pub struct CoverageGuide<M> {
    oracle: IocoOracle<M>,
    coverage: Coverage,
    /// Where the run is; `None` once it has left the specification.
    at: Option<SetId>,
    otherwise: AnyStrategy,
    leads: bool,
}

impl<M: Semantics<State = StateId>> CoverageGuide<M> {
    /// Records, and leads to what is not covered where `leads` says so; `otherwise` chooses where
    /// nothing uncovered is within reach. The whole suspension automaton is walked once; where it has
    /// more than `limit` sets, there is no guide.
    pub(crate) fn new(
        mut oracle: IocoOracle<M>,
        otherwise: AnyStrategy,
        leads: bool,
        limit: usize,
    ) -> Result<Self, AnyStrategy> {
        let Ok(coverage) = Coverage::explore(oracle.view_mut(), limit) else {
            return Err(otherwise);
        };
        Ok(Self {
            at: Some(oracle.start()),
            oracle,
            coverage,
            otherwise,
            leads,
        })
    }
}

impl<M: Semantics<State = StateId>> Strategy for CoverageGuide<M> {
    fn begin(&mut self) {
        self.at = Some(self.oracle.start());
        self.otherwise.begin();
    }

    fn choose(&mut self, menu: &Menu, rng: &mut Xoshiro256PlusPlus) -> Choice {
        let led = self.at.filter(|_| self.leads);
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
        if let Some(at) = self.at {
            if let Some(label) = self.oracle.actions().label(step.action()) {
                self.coverage.step(at, label);
            }
            self.at = match self.oracle.after(&at, step) {
                Ok(Meaning::Allowed(next)) => Some(next),
                _ => None,
            };
        }
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
