//! A tester whose failing verdicts count only where another concurs.

use crate::{Alphabet, Menu, Notice, Progress, Step, Tester, Verdict};

/// Drives as one tester says, and lets a second one judge the same run. A failing verdict of the first
/// that the second does not share becomes `inconc`, or `unknown` where the second could not decide it.
///
/// A derived test case is synchronous: where messages queue, it fails systems for an output that was
/// under way. The second is then a tester of the same specification through queues. It knows of no property:
/// that one is violated is the word of the first, in the order in which the tester saw the messages.
pub struct Concurring<T, U> {
    first: T,
    second: U,
    /// The verdict of the first, once it has ended.
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
        if !verdict.is_failing() {
            return verdict;
        }
        match (verdict, self.second.verdict()) {
            (_, Verdict::Unknown) => Verdict::Unknown,
            (_, second) if !second.is_failing() => Verdict::Inconc,
            _ => verdict,
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
        self.second.begin(seed);
    }

    fn menu(&mut self, menu: &mut Menu) {
        self.first.menu(menu);
    }

    fn step(&mut self, step: Step) -> Progress {
        self.second.step(step);
        if self.ended.is_none()
            && let Progress::Ended(verdict) = self.first.step(step)
        {
            self.ended = Some(verdict);
        }
        match self.ended {
            // What comes afterwards may still explain what the second has seen.
            Some(verdict) => Progress::Ended(self.weighed(verdict)),
            None => Progress::Continue,
        }
    }

    fn refused(&mut self) -> Option<Progress> {
        self.first.refused()
    }

    fn verdict(&self) -> Verdict {
        let verdict = self.ended.unwrap_or_else(|| self.first.verdict());
        self.weighed(verdict)
    }

    fn awaits_explanation(&self) -> bool {
        self.second.awaits_explanation()
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

    /// Comes to this verdict with its first step.
    struct Verdicts(Alphabet, Verdict, bool);

    impl Tester for Verdicts {
        fn alphabet(&self) -> &Alphabet {
            &self.0
        }

        fn reset(&mut self) {
            self.2 = false;
        }

        fn menu(&mut self, _: &mut Menu) {}

        fn step(&mut self, _: Step) -> Progress {
            self.2 = true;
            Progress::Ended(self.1)
        }

        fn verdict(&self) -> Verdict {
            if self.2 { self.1 } else { Verdict::Pass }
        }

        fn allowed(&mut self) -> Vec<String> {
            Vec::new()
        }

        fn locations(&mut self) -> Vec<String> {
            Vec::new()
        }
    }

    #[test]
    fn no_more_is_claimed_than_both_have_seen() {
        use Verdict::{Fail, Inconc, Pass, Unknown, ViolateFail};
        for (first, second, both) in [
            (Fail, Fail, Fail),
            (Fail, Pass, Inconc),
            (Fail, Unknown, Unknown),
            (ViolateFail, Fail, ViolateFail),
            (ViolateFail, ViolateFail, ViolateFail),
            (ViolateFail, Unknown, Unknown),
            (Pass, Fail, Pass),
            (Inconc, Fail, Inconc),
        ] {
            let tester = |verdict| Verdicts(Alphabet::default(), verdict, false);
            let mut tester = Concurring::new(tester(first), tester(second));
            assert_eq!(tester.step(Step::Quiescence), Progress::Ended(both));
            assert_eq!(tester.verdict(), both, "{first} {second}");
            tester.begin(0);
            assert_eq!(tester.verdict(), Pass);
        }
    }

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
