//! A tester whose model another program explores.

use std::sync::Arc;

use iolite_derive::{Alphabet, Menu, Notice, Progress, Step, Tester, Undecided, Verdict};

use super::Explorer;
use crate::campaign::AnyTester;

/// Ends a run as soon as the explorer has failed, and asks it once more before a failure is told.
pub(crate) struct ExploredTester {
    inner: AnyTester,
    explorer: Arc<Explorer>,
}

impl ExploredTester {
    pub(crate) fn new(inner: AnyTester, explorer: Arc<Explorer>) -> Self {
        Self { inner, explorer }
    }
}

impl Tester for ExploredTester {
    fn alphabet(&self) -> &Alphabet {
        self.inner.alphabet()
    }

    fn reset(&mut self) {
        self.inner.reset();
    }

    fn begin(&mut self, seed: u64) {
        self.inner.begin(seed);
    }

    fn menu(&mut self, menu: &mut Menu) {
        self.inner.menu(menu);
        if self.explorer.fault().is_some() {
            // Nothing is left but to end the run.
            menu.clear();
        }
    }

    fn step(&mut self, step: Step) -> Progress {
        let progress = self.inner.step(step);
        if let Progress::Ended(verdict) = progress
            && verdict.is_failing()
        {
            self.explorer.confirm();
        }
        match self.explorer.fault() {
            Some(_) => Progress::Ended(Verdict::Unknown),
            None => progress,
        }
    }

    fn refused(&mut self) -> Option<Progress> {
        self.inner.refused()
    }

    fn verdict(&self) -> Verdict {
        match self.explorer.fault() {
            Some(_) => Verdict::Unknown,
            None => self.inner.verdict(),
        }
    }

    fn awaits_explanation(&self) -> bool {
        self.explorer.fault().is_none() && self.inner.awaits_explanation()
    }

    fn allowed(&mut self) -> Vec<String> {
        self.inner.allowed()
    }

    fn locations(&mut self) -> Vec<String> {
        self.inner.locations()
    }

    fn places(&mut self) -> Vec<String> {
        self.inner.places()
    }

    fn results(&self) -> Vec<(String, Verdict)> {
        self.inner.results()
    }

    fn conclude(&mut self) -> Vec<Notice> {
        let mut notices = self.inner.conclude();
        notices.extend(self.explorer.fault().map(|fault| {
            if fault.is_bound {
                Notice::Undecided(Undecided::new(fault.text))
            } else {
                Notice::ModelFault(fault.text)
            }
        }));
        notices
    }
}
