//! The on-the-fly conf tester: plain actions, offered and agreed on or refused.

use iolite_lts::Determinised;
use iolite_lts::{LabelId, Labels, Semantics, SetId, StateId};

use crate::location::{locations, places};
use crate::tester::ioco_tester::show;
use crate::{Menu, Observation, Progress, Tester, Verdict};

/// Tests for conf [LTS96, §4]: which actions the implementation refuses after a trace of the
/// specification.
///
/// The menu's stimuli are the actions of the specification; one that happened is reported by
/// [`Tester::stimulate`], and that all of them were refused by a [`Observation::Quiescence`] or
/// [`Observation::Deadlock`]. Who offered fewer than the menu says so with [`Self::refused`]. An
/// action beyond the specification is allowed by conf, and nothing is known after it: `inconc`.
#[derive(Debug)]
pub struct ConfTester<M> {
    view: Determinised<M>,
    state: SetId,
    verdict: Verdict,
    ended: bool,
}

impl<M: Semantics<State = StateId>> ConfTester<M> {
    /// A tester for `specification`, with a memo budget in bytes.
    pub fn new(specification: M, bytes: usize) -> Self {
        let mut view = Determinised::with_budget(specification, bytes);
        let state = view.initial();
        Self {
            view,
            state,
            verdict: Verdict::Pass,
            ended: false,
        }
    }

    /// The alphabet of the actions.
    pub fn labels(&self) -> &Labels {
        self.view.labels()
    }

    /// The implementation refused all of `offered`: `fail` unless the specification may refuse them
    /// too.
    pub fn refused(&mut self, offered: &[LabelId]) -> Progress {
        if self.ended {
            return Progress::Ended(self.verdict);
        }
        let members = self.view.members(self.state).to_vec();
        let allowed = members.into_iter().any(|s| {
            let closed = self.view.set_of(&[s]);
            let row = self.view.row(closed);
            !row.iter().any(|(l, _)| offered.contains(l))
        });
        self.end(if allowed {
            Verdict::Pass
        } else {
            Verdict::Fail
        })
    }

    fn end(&mut self, verdict: Verdict) -> Progress {
        self.verdict = verdict;
        self.ended = true;
        Progress::Ended(verdict)
    }
}

impl<M: Semantics<State = StateId>> Tester for ConfTester<M> {
    type Action = LabelId;

    fn reset(&mut self) {
        self.state = self.view.initial();
        self.verdict = Verdict::Pass;
        self.ended = false;
    }

    fn menu(&mut self, menu: &mut Menu<LabelId>) {
        menu.stop = true;
        if !self.ended {
            menu.observe = true;
            let row = self.view.row(self.state);
            menu.stimuli.extend(row.iter().map(|&(l, _)| l));
        }
    }

    fn stimulate(&mut self, action: &LabelId) -> Progress {
        if self.ended {
            return Progress::Ended(self.verdict);
        }
        match self.view.after(self.state, *action) {
            Some(next) => {
                self.state = self.view.trim(next);
                Progress::Continue
            }
            None => self.end(Verdict::Inconc),
        }
    }

    fn observe(&mut self, observation: &Observation<LabelId>) -> Progress {
        match observation {
            Observation::Output(label) => self.stimulate(label),
            Observation::Quiescence | Observation::Deadlock => {
                let offered: Vec<LabelId> =
                    self.view.row(self.state).iter().map(|&(l, _)| l).collect();
                self.refused(&offered)
            }
        }
    }

    fn verdict(&self) -> Verdict {
        self.verdict
    }

    fn allowed(&mut self) -> Vec<String> {
        let row = self.view.row(self.state).to_vec();
        row.iter()
            .map(|&(l, _)| self.view.labels().text(l))
            .collect()
    }

    fn locations(&mut self) -> Vec<String> {
        locations(&self.view, self.state)
    }

    fn places(&mut self) -> Vec<String> {
        places(&self.view, self.state)
    }

    fn show(&self, action: &LabelId) -> String {
        show(self.view.labels(), *action)
    }
}
