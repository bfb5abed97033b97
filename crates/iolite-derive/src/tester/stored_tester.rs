//! A stored test case, run as a tester.

use iolite_lts::LabelId;

use crate::{
    Alphabet, LabelMap, Menu, Notice, Progress, Step, TestCase, TestStateId, TestStep, Tester,
    Verdict,
};

/// Runs a test case. Its labels and the alphabet's actions meet by their text.
///
/// A run that is broken off before the test case ended says nothing: `inconc`.
#[derive(Clone, Debug)]
pub struct StoredTester {
    case: TestCase,
    actions: LabelMap,
    at: TestStateId,
    ended: Option<Verdict>,
    /// The step that ended it `inconc`.
    left_by: Option<Step>,
    /// Where the test case was before it.
    left_at: TestStateId,
}

impl StoredTester {
    /// A tester that follows `case`, with an alphabet of its own.
    pub fn new(case: TestCase) -> Self {
        let alphabet = Alphabet::of_labels(case.labels());
        Self::with_alphabet(case, &alphabet)
    }

    /// A tester that follows `case`, over the actions of an alphabet.
    pub fn with_alphabet(case: TestCase, alphabet: &Alphabet) -> Self {
        let mut tester = Self {
            at: case.initial(),
            actions: LabelMap::by_text(alphabet, case.labels()),
            case,
            ended: None,
            left_by: None,
            left_at: TestStateId::new(0),
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

impl StoredTester {
    fn stimulate(&mut self, given: Option<LabelId>) -> Progress {
        let next = match (&self.case.state(self.at).step, given) {
            (TestStep::Stimulate { stimulus, next, .. }, Some(given)) => {
                (*stimulus == given).then_some(*next)
            }
            (TestStep::Offer { actions }, Some(given)) => find(actions, given),
            _ => None,
        };
        match next {
            Some(next) => self.go(next),
            None => self.end(Verdict::Inconc),
        }
    }

    /// An output, which need not be one of the test case's.
    fn output(&mut self, label: Option<LabelId>) -> Progress {
        let state = self.case.state(self.at);
        let listed = |steps| label.and_then(|l| find(steps, l));
        match &state.step {
            TestStep::Observe { outputs, .. } => match listed(outputs) {
                Some(next) => self.go(next),
                // Beyond the alphabet, so certainly not among the outputs the model allows.
                None => self.end(Verdict::Fail),
            },
            TestStep::Stimulate { preempted, .. } => {
                let known = preempted.iter().find(|&&(l, _)| Some(l) == label);
                let verdict = known.map_or(Verdict::Inconc, |&(_, v)| v);
                // An output that nobody declared is allowed nowhere.
                self.end(if label.is_none() {
                    Verdict::Fail
                } else {
                    verdict
                })
            }
            TestStep::Offer { actions } => match listed(actions) {
                Some(next) => self.go(next),
                None => self.end(Verdict::Inconc),
            },
            TestStep::End => {
                let verdict = state.verdict;
                self.end(verdict)
            }
        }
    }

    fn silence(&mut self) -> Progress {
        let state = self.case.state(self.at);
        match &state.step {
            TestStep::Observe {
                quiescence: Some(next),
                ..
            } => {
                let next = *next;
                self.go(next)
            }
            // Silence before a stimulus pre-empts nothing.
            TestStep::Stimulate { .. } => Progress::Continue,
            TestStep::End | TestStep::Observe { .. } | TestStep::Offer { .. } => {
                let verdict = state.verdict;
                self.end(verdict)
            }
        }
    }
}

impl StoredTester {
    /// What a step means.
    fn take(&mut self, step: Step) -> Progress {
        match step {
            Step::Stimulus(action) => {
                let label = self.actions.label(action);
                self.stimulate(label)
            }
            Step::Output(action) => {
                let label = self.actions.label(action);
                self.output(label)
            }
            Step::Quiescence | Step::Deadlock => self.silence(),
        }
    }

    /// Why a run that ended `inconc` by this step did so.
    fn reason(&self, step: Step) -> String {
        let state = self.case.state(self.left_at);
        let seen = match step {
            Step::Quiescence => "silence".to_owned(),
            Step::Deadlock => "the end of the system".to_owned(),
            step => step.text(self.alphabet()),
        };
        let on = |t: TestStateId| {
            let to = self.case.state(t);
            to.step != TestStep::End || to.verdict == Verdict::Pass
        };
        let text = |l: LabelId| self.case.labels().text(l);
        let mut needed: Vec<String> = Vec::new();
        match &state.step {
            TestStep::Stimulate { stimulus, .. } => needed.push(text(*stimulus)),
            TestStep::Observe {
                outputs,
                quiescence,
            } => {
                needed.extend(
                    outputs
                        .iter()
                        .filter(|(_, t)| on(*t))
                        .map(|&(l, _)| text(l)),
                );
                needed.extend(quiescence.filter(|t| on(*t)).map(|_| "delta".to_owned()));
            }
            TestStep::Offer { actions } => {
                needed.extend(
                    actions
                        .iter()
                        .filter(|(_, t)| on(*t))
                        .map(|&(l, _)| text(l)),
                );
            }
            TestStep::End => {}
        }
        let needed = match needed.as_slice() {
            [] => "nothing that leads to its goal any more".to_owned(),
            needed => needed.join(" or "),
        };
        format!(
            "{}: {seen} is allowed, and the test needed {needed} here",
            self.case.name()
        )
    }
}

impl Tester for StoredTester {
    fn alphabet(&self) -> &Alphabet {
        self.actions.alphabet()
    }

    fn reset(&mut self) {
        self.ended = None;
        self.left_by = None;
        let initial = self.case.initial();
        self.go(initial);
    }

    fn menu(&mut self, menu: &mut Menu) {
        match &self.case.state(self.at).step {
            _ if self.ended.is_some() => menu.stop = true,
            TestStep::End => menu.stop = true,
            TestStep::Stimulate { stimulus, .. } => {
                menu.stimuli.push(self.actions.action(*stimulus));
            }
            TestStep::Observe { .. } => menu.observe = true,
            TestStep::Offer { actions } => {
                let offered = actions.iter().map(|&(l, _)| self.actions.action(l));
                menu.stimuli.extend(offered);
                menu.observe = true;
            }
        }
    }

    fn step(&mut self, step: Step) -> Progress {
        if let Some(verdict) = self.ended {
            return Progress::Ended(verdict);
        }
        let from = self.at;
        let progress = self.take(step);
        if progress == Progress::Ended(Verdict::Inconc) {
            self.left_by = Some(step);
            // The place where it happened is what people want to see.
            self.left_at = from;
        }
        progress
    }

    fn verdict(&self) -> Verdict {
        self.ended.unwrap_or(Verdict::Inconc)
    }

    fn conclude(&mut self) -> Vec<Notice> {
        let reason = self.left_by.map(|step| self.reason(step));
        reason.map(Notice::LeftGoal).into_iter().collect()
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
        self.case.state(self.at).locations.to_vec()
    }

    fn places(&mut self) -> Vec<String> {
        self.case.state(self.at).places.to_vec()
    }
}
