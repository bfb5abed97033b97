//! On-the-fly testing with any oracle: ioconf and `ioconf_F`.

use iolite_lts::{LabelId, QuiescencePolicy, Semantics, StateId};

use crate::tester::ioco_tester::show;
use crate::{IoconfOracle, Meaning, Menu, Observation, Oracle, Progress, Silence, Tester, Verdict};

/// Walks an oracle as the run goes. For ioco, [`IocoTester`](crate::IocoTester) does the same faster.
#[derive(Debug)]
pub struct OracleTester<O: Oracle> {
    oracle: O,
    at: O::State,
    verdict: Verdict,
    ended: bool,
    stimuli: Vec<(LabelId, O::State)>,
    outputs: Vec<(LabelId, Meaning<O::State>)>,
}

/// Tests for ioconf or `ioconf_F`: δ is observed once, as the end of the run.
pub type IoconfTester<M> = OracleTester<IoconfOracle<M>>;

impl<M: Semantics<State = StateId>> IoconfTester<M> {
    /// A tester for ioconf.
    pub fn ioconf(specification: M, policy: QuiescencePolicy) -> Self {
        Self::new(IoconfOracle::new(specification, policy))
    }
}

impl<O: Oracle> OracleTester<O> {
    /// A tester that walks `oracle`.
    pub fn new(mut oracle: O) -> Self {
        let at = oracle.initial();
        Self {
            oracle,
            at,
            verdict: Verdict::Pass,
            ended: false,
            stimuli: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// The oracle.
    pub fn oracle(&self) -> &O {
        &self.oracle
    }

    fn end(&mut self, verdict: Verdict) -> Progress {
        self.verdict = verdict;
        self.ended = true;
        Progress::Ended(verdict)
    }

    fn meant(&mut self, meaning: Meaning<O::State>) -> Progress {
        match meaning {
            Meaning::Forbidden => self.end(Verdict::Fail),
            Meaning::Unjudged => self.end(Verdict::Pass),
            Meaning::Allowed(next) => {
                self.at = self.oracle.trim(next);
                Progress::Continue
            }
        }
    }
}

impl<O: Oracle> Tester for OracleTester<O> {
    type Action = LabelId;

    fn reset(&mut self) {
        self.at = self.oracle.initial();
        self.verdict = Verdict::Pass;
        self.ended = false;
    }

    fn menu(&mut self, menu: &mut Menu<LabelId>) {
        menu.stop = true;
        if self.ended {
            return;
        }
        menu.observe = true;
        self.stimuli.clear();
        self.oracle.stimuli(self.at, &mut self.stimuli);
        menu.stimuli.extend(self.stimuli.iter().map(|&(l, _)| l));
    }

    fn stimulate(&mut self, stimulus: &LabelId) -> Progress {
        if self.ended {
            return Progress::Ended(self.verdict);
        }
        self.stimuli.clear();
        self.oracle.stimuli(self.at, &mut self.stimuli);
        let known = self.stimuli.iter().find(|(l, _)| l == stimulus);
        match known.map(|&(_, next)| next) {
            Some(next) => self.meant(Meaning::Allowed(next)),
            None => self.end(Verdict::Inconc),
        }
    }

    fn observe(&mut self, observation: &Observation<LabelId>) -> Progress {
        if self.ended {
            return Progress::Ended(self.verdict);
        }
        match observation {
            Observation::Output(label) => {
                self.outputs.clear();
                self.oracle.outputs(self.at, &mut self.outputs);
                let known = self.outputs.iter().find(|(l, _)| l == label);
                let meaning = known.map_or(Meaning::Forbidden, |&(_, meaning)| meaning);
                self.meant(meaning)
            }
            Observation::Quiescence | Observation::Deadlock => {
                match self.oracle.quiescence(self.at) {
                    Silence::Observed(meaning) => self.meant(meaning),
                    Silence::Final { allowed: true } => self.end(Verdict::Pass),
                    Silence::Final { allowed: false } => self.end(Verdict::Fail),
                }
            }
        }
    }

    fn verdict(&self) -> Verdict {
        self.verdict
    }

    fn allowed(&mut self) -> Vec<String> {
        self.outputs.clear();
        self.oracle.outputs(self.at, &mut self.outputs);
        let labels = self.oracle.labels();
        let mut allowed: Vec<String> = self
            .outputs
            .iter()
            .filter(|(_, meaning)| *meaning != Meaning::Forbidden)
            .map(|&(l, _)| labels.text(l))
            .collect();
        let quiet = match self.oracle.quiescence(self.at) {
            Silence::Observed(meaning) => meaning != Meaning::Forbidden,
            Silence::Final { allowed } => allowed,
        };
        if quiet {
            allowed.push("delta".to_owned());
        }
        allowed
    }

    fn locations(&mut self) -> Vec<String> {
        self.oracle.locations(self.at)
    }

    fn places(&mut self) -> Vec<String> {
        self.oracle.places(self.at)
    }

    fn show(&self, action: &LabelId) -> String {
        show(self.oracle.labels(), *action)
    }
}
