//! Selection that knows the model: what was covered, and the way to what was not.

use iolite_derive::{Guide, Hint, IocoTester, Menu, Observation, Tester};
use iolite_exec::{Choice, Coverage, Step, Strategy};
use iolite_lts::{LabelId, Semantics, StateId};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Follows every run with an ioco tester of its own that records coverage, whichever tester judges the
/// run, and leaves the choice to another strategy, or leads towards transitions that no run has seen
/// yet. (A tester's own advice is followed by `iolite_exec::guided`.)
///
/// A choice never changes what a verdict means: the run's tester judges whatever happens.
pub struct CoverageGuide<M, S> {
    shadow: IocoTester<M>,
    otherwise: S,
    leads: bool,
}

impl<M: Semantics<State = StateId>, S> CoverageGuide<M, S> {
    /// Leads to what is not covered; `otherwise` chooses where nothing uncovered is within reach.
    /// `shadow` must track coverage.
    pub fn leading(shadow: IocoTester<M>, otherwise: S) -> Self {
        Self {
            shadow,
            otherwise,
            leads: true,
        }
    }

    /// Only records; `otherwise` chooses.
    pub fn recording(shadow: IocoTester<M>, otherwise: S) -> Self {
        Self {
            shadow,
            otherwise,
            leads: false,
        }
    }
}

impl<M: Semantics<State = StateId>, S: Strategy<LabelId>> Strategy<LabelId>
    for CoverageGuide<M, S>
{
    fn begin(&mut self) {
        self.shadow.reset();
        self.otherwise.begin();
    }

    fn choose(&mut self, menu: &Menu<LabelId>, rng: &mut Xoshiro256PlusPlus) -> Choice<LabelId> {
        let hint = if self.leads { self.shadow.hint() } else { None };
        let led = match hint {
            Some(Hint::Stimulate(label)) => menu
                .stimuli
                .iter()
                .position(|&s| s == label)
                .map(Choice::Stimulate),
            Some(Hint::Observe) => menu.observe.then_some(Choice::Observe),
            None => None,
        };
        led.unwrap_or_else(|| self.otherwise.choose(menu, rng))
    }

    fn happened(&mut self, step: &Step<LabelId>, preempted: bool) {
        match step {
            Step::Stimulus(label) => self.shadow.stimulate(label),
            Step::Output(label) => self.shadow.observe(&Observation::Output(*label)),
            Step::Quiescence => self.shadow.observe(&Observation::Quiescence),
            Step::Deadlock => self.shadow.observe(&Observation::Deadlock),
        };
        self.otherwise.happened(step, preempted);
    }

    fn coverage(&self) -> Option<Coverage> {
        let count = self.shadow.coverage()?.transitions();
        Some(Coverage {
            seen: count.seen as u64,
            total: count.total as u64,
        })
    }
}
