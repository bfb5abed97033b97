//! The one trait of everything that drives or watches a system under test.

pub(crate) mod conf_tester;
pub(crate) mod goal_tester;
pub(crate) mod guide;
pub(crate) mod ioco_tester;
pub(crate) mod oracle_tester;
pub(crate) mod property_tester;
pub(crate) mod stored_tester;
pub(crate) mod symbolic_tester;

use std::fmt::Debug;

use crate::Verdict;

/// What was seen of the system under test.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Observation<A> {
    /// An output.
    Output(A),
    /// No output came in time: δ.
    Quiescence,
    /// The system has ended and can do nothing any more: `δ_d` of [PROP12, §8]. A tester
    /// that does not tell the two apart takes it for [`Observation::Quiescence`].
    Deadlock,
}

/// What a tester may do now. Reused between steps, so that a warm run does not allocate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Menu<A> {
    /// The stimuli it may give.
    pub stimuli: Vec<A>,
    /// Whether it may wait for an output or δ.
    pub observe: bool,
    /// Whether it may end the run here with its verdict so far.
    pub stop: bool,
}

impl<A> Default for Menu<A> {
    fn default() -> Self {
        Self {
            stimuli: Vec::new(),
            observe: false,
            stop: false,
        }
    }
}

impl<A> Menu<A> {
    /// Empties the menu for the next step.
    pub fn clear(&mut self) {
        self.stimuli.clear();
        self.observe = false;
        self.stop = false;
    }
}

/// What an observation, or a stimulus, meant to the tester.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The run goes on.
    Continue,
    /// The run has come to its end.
    Ended(Verdict),
}

/// Whatever drives a system under test: a random ioco tester, a stored test case, a symbolic tester,
/// test(S, ω), a test purpose, a canonical tester of a property, a monitor.
///
/// It answers three questions: what may I do now, what does this observation mean, what is the
/// verdict so far. It never touches the system itself; the executor does.
pub trait Tester {
    /// An action as this tester sees it: a label, or an action with values.
    type Action: Clone + Eq + Debug;

    /// Goes back to the start of a new run.
    fn reset(&mut self);

    /// The same, for a run with this seed: whatever the tester draws by lot depends on it, and on
    /// nothing that earlier runs left behind.
    fn begin(&mut self, _seed: u64) {
        self.reset();
    }

    /// Fills in what may be done now. The menu comes in cleared.
    fn menu(&mut self, menu: &mut Menu<Self::Action>);

    /// The stimulus was given. It must be one of the menu's, or one that the model allows all the
    /// same (replay); a tester answers `Ended(Inconc)` to a stimulus it knows nothing of.
    fn stimulate(&mut self, stimulus: &Self::Action) -> Progress;

    /// Something was seen.
    fn observe(&mut self, observation: &Observation<Self::Action>) -> Progress;

    /// The verdict if the run ended here.
    fn verdict(&self) -> Verdict;

    /// The observations that would have been right now, in `!x`, `delta` notation, or as guards; for
    /// the certificate and for people.
    fn allowed(&mut self) -> Vec<String>;

    /// The places of the model where the run can be now, in words the user knows.
    fn locations(&mut self) -> Vec<String>;

    /// The names of those places alone, as the model declares them: without values, without lines.
    fn places(&mut self) -> Vec<String> {
        self.locations()
    }

    /// The action in `?a`, `!x`, `MSG(3, true)` notation.
    fn show(&self, action: &Self::Action) -> String;
}

impl<T: Tester + ?Sized> Tester for Box<T> {
    type Action = T::Action;

    fn reset(&mut self) {
        (**self).reset();
    }

    fn begin(&mut self, seed: u64) {
        (**self).begin(seed);
    }

    fn menu(&mut self, menu: &mut Menu<Self::Action>) {
        (**self).menu(menu);
    }

    fn stimulate(&mut self, stimulus: &Self::Action) -> Progress {
        (**self).stimulate(stimulus)
    }

    fn observe(&mut self, observation: &Observation<Self::Action>) -> Progress {
        (**self).observe(observation)
    }

    fn verdict(&self) -> Verdict {
        (**self).verdict()
    }

    fn allowed(&mut self) -> Vec<String> {
        (**self).allowed()
    }

    fn locations(&mut self) -> Vec<String> {
        (**self).locations()
    }

    fn places(&mut self) -> Vec<String> {
        (**self).places()
    }

    fn show(&self, action: &Self::Action) -> String {
        (**self).show(action)
    }
}
