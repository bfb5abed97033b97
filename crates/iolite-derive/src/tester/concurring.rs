//! A tester whose failing verdicts count only where another concurs.

use crate::{Alphabet, Menu, Notice, Progress, Step, Tester, Verdict};

/// Drives as one tester says, and lets a second one judge the same run. A failing verdict of the first
/// that the second does not share becomes `inconc`.
///
/// A derived test case is synchronous: where messages queue, it fails systems for an output that was
/// under way. The second is then a tester of the same specification through queues.
pub struct Concurring<T, U> {
    first: T,
    second: U,
    ended: Option<Verdict>,
}

impl<T: Tester, U: Tester> Concurring<T, U> {
    /// Both over one alphabet.
    pub fn new(first: T, second: U) -> Self {
        Self {
            first,
            second,
            ended: None,
        }
    }

    fn weighed(&self, verdict: Verdict) -> Verdict {
        if verdict.is_failing() && !self.second.verdict().is_failing() {
            Verdict::Inconc
        } else {
            verdict
        }
    }
}

impl<T: Tester, U: Tester> Tester for Concurring<T, U> {
    fn alphabet(&self) -> &Alphabet {
        self.first.alphabet()
    }

    fn reset(&mut self) {
        self.ended = None;
        self.first.reset();
        self.second.reset();
    }

    fn begin(&mut self, seed: u64) {
        self.ended = None;
        self.first.begin(seed);
        self.second.reset();
    }

    fn menu(&mut self, menu: &mut Menu) {
        self.first.menu(menu);
    }

    fn step(&mut self, step: Step) -> Progress {
        if let Some(verdict) = self.ended {
            return Progress::Ended(verdict);
        }
        self.second.step(step);
        match self.first.step(step) {
            Progress::Continue => Progress::Continue,
            Progress::Ended(verdict) => {
                let verdict = self.weighed(verdict);
                self.ended = Some(verdict);
                Progress::Ended(verdict)
            }
        }
    }

    fn refused(&mut self) -> Option<Progress> {
        self.first.refused()
    }

    fn verdict(&self) -> Verdict {
        self.ended
            .unwrap_or_else(|| self.weighed(self.first.verdict()))
    }

    fn allowed(&mut self) -> Vec<String> {
        self.second.allowed()
    }

    fn locations(&mut self) -> Vec<String> {
        self.second.locations()
    }

    fn places(&mut self) -> Vec<String> {
        self.first.places()
    }

    fn results(&self) -> Vec<(String, Verdict)> {
        self.first.results()
    }

    fn conclude(&mut self) -> Vec<Notice> {
        let mut notices = self.first.conclude();
        notices.extend(self.second.conclude());
        notices
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConformanceTester, IocoOracle, QueueOptions, QueueOracle};
    use iolite_lts::{LtsBuilder, QuiescencePolicy, StateId};

    #[test]
    fn a_fail_that_queues_explain_is_inconclusive() {
        let mut b = LtsBuilder::new();
        let labels = b.labels_mut();
        let [ask, tick, ok] = ["?ask", "!tick", "!ok"].map(|l| labels.intern_text(l));
        let [idle, asked, ticked] = [0, 1, 2].map(StateId::new);
        b.transition(idle, tick, ticked);
        b.transition(idle, ask, asked);
        b.transition(asked, ok, idle);
        b.transition(ticked, ask, ticked);
        let spec = b.build().unwrap();
        let policy = QuiescencePolicy::Livelock;
        let run = |outputs: &[crate::ActionId]| {
            let oracle = IocoOracle::new(&spec, policy);
            let queued = IocoOracle::with_alphabet(&spec, policy, crate::Oracle::alphabet(&oracle));
            let queued = QueueOracle::new(queued, QueueOptions::default());
            let second = ConformanceTester::new(queued);
            let mut tester = Concurring::new(ConformanceTester::new(oracle), second);
            tester.step(Step::Stimulus(ask.into()));
            for &output in outputs {
                tester.step(Step::Output(output));
            }
            tester.verdict()
        };
        assert_eq!(run(&[tick.into()]), Verdict::Inconc);
        assert_eq!(run(&[ok.into()]), Verdict::Pass);
        let foreign = crate::ActionId::new(9);
        assert_eq!(run(&[foreign]), Verdict::Fail);
    }
}
