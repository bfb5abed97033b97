//! A walk through the symbolic states of a model with data.

use iolite_derive::{
    Alphabet, ConformanceTester, Progress, Step, SymbolicOracle, SymbolicPlace, Tester,
};

use super::{Offer, Position, Taken};
use crate::{Error, SymbolicJudge, answers_count};

pub(super) struct SymbolicWalk {
    judge: SymbolicJudge,
    tester: ConformanceTester<SymbolicOracle>,
    alphabet: Alphabet,
    trace: Vec<Step>,
}

impl SymbolicWalk {
    pub(super) fn new(judge: SymbolicJudge) -> Result<Self, Error> {
        let alphabet = Alphabet::default();
        Ok(Self {
            tester: ConformanceTester::new(judge.oracle(&alphabet)?),
            judge,
            alphabet,
            trace: Vec::new(),
        })
    }

    pub(super) fn position(&mut self) -> Result<Position, Error> {
        let wrong = |e: iolite_sts::SymbolicError| Error::input(e.to_string());
        let places = self.tester.locations();
        let Some(at): Option<SymbolicPlace> = self.tester.state().cloned() else {
            answers_count(self.tester.oracle_mut().semantics().solver())?;
            return Err(Error::undecided("the initial states are undecided"));
        };
        let oracle = self.tester.oracle_mut();
        let mut offers = Vec::new();
        for (action, guard) in oracle.offers(&at).map_err(wrong)? {
            let action = self.alphabet.text(action).to_string();
            let guard = (guard != action).then_some(guard);
            offers.push(Offer { action, guard });
        }
        let silent = oracle.may_be_silent(&at).map_err(wrong)?;
        answers_count(oracle.semantics().solver())?;
        if silent == Some(true) {
            offers.push(Offer {
                action: "delta".to_owned(),
                guard: None,
            });
        }
        Ok(Position {
            places,
            offers,
            silence_undecided: silent.is_none(),
        })
    }

    /// Goes on with an action; its full text.
    pub(super) fn take(&mut self, action: &str) -> Result<Result<String, Taken>, Error> {
        let spec = self.judge.spec();
        let read = |text: &str| spec.read_action(&self.alphabet, text);
        let Some(step) = Step::parse(action, read) else {
            return Ok(Err(Taken::NoAction));
        };
        let progress = self.tester.step(step);
        answers_count(self.tester.oracle_mut().semantics().solver())?;
        Ok(match progress {
            Progress::Continue => {
                self.trace.push(step);
                Ok(step.text(&self.alphabet))
            }
            Progress::Ended(verdict) => {
                let why = match self.tester.doubt() {
                    Some(doubt) => format!("is undecided: {}", doubt.reason),
                    None => format!("is not possible here ({verdict} in a test)"),
                };
                self.again();
                Err(Taken::NotPossible(why))
            }
        })
    }

    pub(super) fn back(&mut self) {
        self.trace.pop();
        self.again();
    }

    /// Walks the trace from the start.
    fn again(&mut self) {
        self.tester.reset();
        for step in self.trace.clone() {
            self.tester.step(step);
        }
    }
}
