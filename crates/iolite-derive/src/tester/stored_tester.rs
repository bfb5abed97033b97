//! A stored test case, run as a tester.

use iolite_lts::LabelId;

use crate::tester::ioco_tester::show;
use crate::{Menu, Observation, Progress, TestCase, TestStateId, TestStep, Tester, Verdict};

/// Runs a test case. Actions are labels of the test case's alphabet.
///
/// A run that is broken off before the test case ended says nothing: `inconc`.
#[derive(Clone, Debug)]
pub struct StoredTester {
    case: TestCase,
    at: TestStateId,
    ended: Option<Verdict>,
}

impl StoredTester {
    /// A tester that follows `case`.
    pub fn new(case: TestCase) -> Self {
        let mut tester = Self {
            at: case.initial(),
            case,
            ended: None,
        };
        tester.reset();
        tester
    }

    /// The test case.
    pub fn case(&self) -> &TestCase {
        &self.case
    }

    fn end(&mut self, verdict: Verdict) -> Progress {
        self.ended = Some(verdict);
        Progress::Ended(verdict)
    }

    fn go(&mut self, next: TestStateId) -> Progress {
        self.at = next;
        let state = self.case.state(next);
        match state.step {
            TestStep::End => self.end(state.verdict),
            _ => Progress::Continue,
        }
    }
}

fn find(steps: &[(LabelId, TestStateId)], label: LabelId) -> Option<TestStateId> {
    steps.iter().find(|&&(l, _)| l == label).map(|&(_, t)| t)
}

impl Tester for StoredTester {
    type Action = LabelId;

    fn reset(&mut self) {
        self.ended = None;
        let initial = self.case.initial();
        self.go(initial);
    }

    fn menu(&mut self, menu: &mut Menu<LabelId>) {
        match &self.case.state(self.at).step {
            _ if self.ended.is_some() => menu.stop = true,
            TestStep::End => menu.stop = true,
            TestStep::Stimulate { stimulus, .. } => menu.stimuli.push(*stimulus),
            TestStep::Observe { .. } => menu.observe = true,
            TestStep::Offer { actions } => {
                menu.stimuli.extend(actions.iter().map(|&(l, _)| l));
                menu.observe = true;
            }
        }
    }

    fn stimulate(&mut self, given: &LabelId) -> Progress {
        if let Some(verdict) = self.ended {
            return Progress::Ended(verdict);
        }
        let next = match &self.case.state(self.at).step {
            TestStep::Stimulate { stimulus, next, .. } => (stimulus == given).then_some(*next),
            TestStep::Offer { actions } => find(actions, *given),
            TestStep::End | TestStep::Observe { .. } => None,
        };
        match next {
            Some(next) => self.go(next),
            None => self.end(Verdict::Inconc),
        }
    }

    fn observe(&mut self, observation: &Observation<LabelId>) -> Progress {
        if let Some(verdict) = self.ended {
            return Progress::Ended(verdict);
        }
        let state = self.case.state(self.at);
        let verdict = state.verdict;
        let seen = match observation {
            Observation::Output(label) => Some(*label),
            Observation::Quiescence | Observation::Deadlock => None,
        };
        match (&state.step, seen) {
            (TestStep::Observe { outputs, .. }, Some(label)) => match find(outputs, label) {
                Some(next) => self.go(next),
                // Beyond the alphabet, so certainly not among the outputs the model allows.
                None => self.end(Verdict::Fail),
            },
            (
                TestStep::Observe {
                    quiescence: Some(next),
                    ..
                },
                None,
            ) => {
                let next = *next;
                self.go(next)
            }
            (TestStep::End, _) | (TestStep::Observe { .. } | TestStep::Offer { .. }, None) => {
                self.end(verdict)
            }
            (TestStep::Stimulate { preempted, .. }, Some(label)) => {
                let known = preempted.iter().find(|&&(l, _)| l == label);
                let verdict = known.map_or(Verdict::Inconc, |&(_, v)| v);
                self.end(verdict)
            }
            // Silence before a stimulus pre-empts nothing.
            (TestStep::Stimulate { .. }, None) => Progress::Continue,
            (TestStep::Offer { actions }, Some(label)) => match find(actions, label) {
                Some(next) => self.go(next),
                None => self.end(Verdict::Inconc),
            },
        }
    }

    fn verdict(&self) -> Verdict {
        self.ended.unwrap_or(Verdict::Inconc)
    }

    fn allowed(&mut self) -> Vec<String> {
        let state = self.case.state(self.at);
        let fine = |t: TestStateId| {
            let to = self.case.state(t);
            !(to.step == TestStep::End && to.verdict.is_failing())
        };
        let mut allowed: Vec<String> = match &state.step {
            TestStep::End | TestStep::Stimulate { .. } => Vec::new(),
            TestStep::Observe { .. } | TestStep::Offer { .. } => state
                .steps()
                .into_iter()
                .filter(|&(_, t)| fine(t))
                .map(|(l, _)| self.case.labels().text(l))
                .collect(),
        };
        let silent_end = matches!(
            state.step,
            TestStep::Observe {
                quiescence: None,
                ..
            }
        );
        if silent_end && !state.verdict.is_failing() {
            allowed.push("delta".to_owned());
        }
        allowed
    }

    fn locations(&mut self) -> Vec<String> {
        self.case.state(self.at).locations.clone()
    }

    fn places(&mut self) -> Vec<String> {
        self.case.state(self.at).places.clone()
    }

    fn show(&self, action: &LabelId) -> String {
        show(self.case.labels(), *action)
    }
}
