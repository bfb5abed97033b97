//! The on-the-fly conf tester: plain actions, offered and agreed on or refused.

use std::sync::Arc;

use iolite_lts::{Determinised, LabelId, Semantics, SetId, StateId};

use crate::location::places;
use crate::{ActionId, Alphabet, LabelMap, Menu, Progress, Step, Tester, Verdict};

/// Tests for conf [LTS96, §4]: which actions the implementation refuses after a trace of the
/// specification.
///
/// The menu's stimuli are the actions of the specification; one that happened is reported by
/// [`Step::Stimulus`], and that all of them were refused by [`Step::Quiescence`] or
/// [`Step::Deadlock`]. Who offered fewer than the menu says so with [`Self::refuses`]. An action
/// beyond the specification is allowed by conf, and nothing is known after it: `inconc`.
#[derive(Debug)]
pub struct ConfTester<M> {
    view: Determinised<M>,
    actions: LabelMap,
    state: SetId,
    verdict: Verdict,
    ended: bool,
}

impl<M: Semantics<State = StateId>> ConfTester<M> {
    /// A tester for `specification`, with a memo budget in bytes.
    pub fn new(specification: M, bytes: usize) -> Self {
        let alphabet = Alphabet::of_labels(specification.labels());
        let mut view = Determinised::with_budget(specification, bytes);
        let labels = Arc::new(view.labels().clone());
        let state = view.initial();
        Self {
            view,
            actions: LabelMap::own(&alphabet, &labels),
            state,
            verdict: Verdict::Pass,
            ended: false,
        }
    }

    /// The implementation refused all of `offered`: `fail` unless the specification may refuse them
    /// too.
    pub fn refuses(&mut self, offered: &[LabelId]) -> Progress {
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
    fn alphabet(&self) -> &Alphabet {
        self.actions.alphabet()
    }

    fn reset(&mut self) {
        self.state = self.view.initial();
        self.verdict = Verdict::Pass;
        self.ended = false;
    }

    fn menu(&mut self, menu: &mut Menu) {
        menu.stop = true;
        if !self.ended {
            menu.observe = true;
            let row = self.view.row(self.state);
            menu.stimuli
                .extend(row.iter().map(|&(l, _)| ActionId::from(l)));
        }
    }

    fn step(&mut self, step: Step) -> Progress {
        if self.ended {
            return Progress::Ended(self.verdict);
        }
        let (Step::Stimulus(action) | Step::Output(action)) = step else {
            let offered: Vec<LabelId> = self.view.row(self.state).iter().map(|&(l, _)| l).collect();
            return self.refuses(&offered);
        };
        let label = self.actions.label(action);
        match label.and_then(|label| self.view.after(self.state, label)) {
            Some(next) => {
                self.state = self.view.trim(next);
                Progress::Continue
            }
            None => self.end(Verdict::Inconc),
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
        places(&self.view, self.state).locations
    }

    fn places(&mut self) -> Vec<String> {
        places(&self.view, self.state).names
    }
}
