//! The conformance tester: any relation that has an oracle, derived as far as the run goes.

use crate::{Alphabet, Meaning, Menu, Notice, Oracle, Progress, Step, Tester, Undecided, Verdict};

/// Tests for the relation of an oracle, or watches (it judges any sequence of stimuli and
/// observations, whoever chose them).
///
/// An observation outside `out` is `fail`; a stimulus that the specification does not have leads to
/// where it says nothing, and the run ends `inconc`. Where the oracle cannot decide, the run ends
/// `unknown`: never a pass, never a fail.
#[derive(Debug)]
pub struct ConformanceTester<O: Oracle> {
    oracle: O,
    at: Option<O::State>,
    verdict: Verdict,
    ended: bool,
    /// Whether the last step was δ and left the state as it was.
    settled: bool,
    doubt: Option<Undecided>,
}

impl<O: Oracle> ConformanceTester<O> {
    /// A tester that walks `oracle`.
    pub fn new(oracle: O) -> Self {
        let mut tester = Self {
            oracle,
            at: None,
            verdict: Verdict::Pass,
            ended: false,
            settled: false,
            doubt: None,
        };
        tester.reset();
        tester
    }

    /// The oracle.
    pub fn oracle(&self) -> &O {
        &self.oracle
    }

    /// The oracle, to ask it more.
    pub fn oracle_mut(&mut self) -> &mut O {
        &mut self.oracle
    }

    /// Where the run is; `None` where the initial states themselves are not decided.
    pub fn state(&self) -> Option<&O::State> {
        self.at.as_ref()
    }

    /// Why the verdict is `unknown` or `inconc`, where the oracle told.
    pub fn doubt(&self) -> Option<&Undecided> {
        self.doubt.as_ref()
    }

    fn end(&mut self, verdict: Verdict) -> Progress {
        self.verdict = verdict;
        self.ended = true;
        Progress::Ended(verdict)
    }

    /// Why a run that ends here says nothing.
    fn unexplained(&self) -> Option<Undecided> {
        let at = self.at.as_ref().filter(|_| !self.ended)?;
        self.oracle.unexplained(at)
    }

    fn undecided(&mut self, why: Undecided) -> Progress {
        let verdict = why.verdict();
        self.doubt = Some(why);
        self.end(verdict)
    }
}

impl<O: Oracle> Tester for ConformanceTester<O> {
    fn alphabet(&self) -> &Alphabet {
        self.oracle.alphabet()
    }

    fn reset(&mut self) {
        self.verdict = Verdict::Pass;
        self.ended = false;
        self.settled = false;
        self.doubt = None;
        match self.oracle.initial() {
            Ok(initial) => self.at = Some(initial),
            Err(why) => {
                self.undecided(*why);
            }
        }
    }

    fn begin(&mut self, seed: u64) {
        self.oracle.begin(seed);
        self.reset();
    }

    #[inline]
    fn menu(&mut self, menu: &mut Menu) {
        menu.stop = true;
        let (false, Some(at)) = (self.ended, &self.at) else {
            return;
        };
        menu.observe = true;
        menu.settled = self.settled;
        self.oracle.stimuli(at, &mut menu.stimuli);
    }

    #[inline]
    fn step(&mut self, step: Step) -> Progress {
        let (false, Some(at)) = (self.ended, &self.at) else {
            return Progress::Ended(self.verdict);
        };
        if O::LISTENS {
            self.oracle.happened(std::slice::from_ref(at), step);
        }
        match self.oracle.after(at, step) {
            Ok(Meaning::Allowed(next)) => {
                self.settled = step == Step::Quiescence && self.oracle.stays_silent(&next);
                self.at = Some(self.oracle.trim(next));
                Progress::Continue
            }
            Ok(Meaning::Forbidden) => self.end(Verdict::Fail),
            Ok(Meaning::Ends) => self.end(Verdict::Pass),
            Ok(Meaning::Unspecified) => self.end(Verdict::Inconc),
            Err(why) => self.undecided(*why),
        }
    }

    fn verdict(&self) -> Verdict {
        match self.unexplained() {
            Some(why) => why.verdict(),
            None => self.verdict,
        }
    }

    fn awaits_explanation(&self) -> bool {
        let at = self.at.as_ref().filter(|_| !self.ended);
        at.is_some_and(|at| self.oracle.awaits_explanation(at))
    }

    fn allowed(&mut self) -> Vec<String> {
        let at = self.at.as_ref();
        at.map(|at| self.oracle.out(at)).unwrap_or_default()
    }

    fn locations(&mut self) -> Vec<String> {
        let at = self.at.as_ref();
        at.map(|at| self.oracle.places(at).locations)
            .unwrap_or_default()
    }

    fn places(&mut self) -> Vec<String> {
        let at = self.at.as_ref();
        at.map(|at| self.oracle.waiting(at)).unwrap_or_default()
    }

    fn conclude(&mut self) -> Vec<Notice> {
        let doubt = self.doubt.clone().or_else(|| self.unexplained());
        let doubt = doubt.map(Notice::Undecided);
        let mut notices: Vec<Notice> = doubt.into_iter().collect();
        if let Some(at) = &self.at {
            notices.extend(self.oracle.conclude(at));
        }
        if self.verdict() != Verdict::Pass {
            // Only a run that passed is explained by the constants that are left.
            notices.retain(|notice| !matches!(notice, Notice::Learnt(_)));
        }
        notices
    }
}
