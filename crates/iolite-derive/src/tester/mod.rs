//! The one trait of everything that drives or watches a system under test.

pub(crate) mod case_plan;
pub(crate) mod concurring;
pub(crate) mod conf_tester;
pub(crate) mod conformance_tester;
pub(crate) mod goal_tester;
pub(crate) mod guide;
pub(crate) mod in_context;
pub(crate) mod notice;
pub(crate) mod property_tester;
pub(crate) mod stored_tester;
pub(crate) mod symbolic_case_tester;

use crate::{ActionId, Alphabet, Notice, Verdict};

/// One step of a run, or of a suspension trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A stimulus was given.
    Stimulus(ActionId),
    /// An output was seen.
    Output(ActionId),
    /// No output came in time: δ.
    Quiescence,
    /// The system has ended and can do nothing any more: `δ_d` of [PROP12, §8]. A tester that does
    /// not tell the two apart takes it for [`Step::Quiescence`].
    Deadlock,
}

impl Step {
    /// The step in `?a`, `!x`, `delta`, `deadlock` notation.
    pub fn text(self, alphabet: &Alphabet) -> String {
        match self {
            Self::Stimulus(a) | Self::Output(a) => alphabet.text(a).to_string(),
            Self::Quiescence => "delta".into(),
            Self::Deadlock => "deadlock".into(),
        }
    }

    /// Whether the step is the tester's own.
    pub fn is_stimulus(self) -> bool {
        matches!(self, Self::Stimulus(_))
    }

    /// Reads the notation of [`Step::text`]; `read` reads an action.
    pub fn parse(text: &str, read: impl Fn(&str) -> Option<ActionId>) -> Option<Self> {
        match text {
            "delta" | "δ" => Some(Self::Quiescence),
            "deadlock" => Some(Self::Deadlock),
            _ if text.starts_with('?') => read(text).map(Self::Stimulus),
            _ => read(text).map(Self::Output),
        }
    }

    /// The action of the step, δ for both kinds of silence.
    pub fn action(self) -> ActionId {
        match self {
            Self::Stimulus(a) | Self::Output(a) => a,
            Self::Quiescence | Self::Deadlock => ActionId::DELTA,
        }
    }
}

/// What a tester may do now. Reused between steps, so that a warm run does not allocate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Menu {
    /// The stimuli it may give.
    pub stimuli: Vec<ActionId>,
    /// Whether it may wait for an output or δ.
    pub observe: bool,
    /// Whether it may end the run here with its verdict so far.
    pub stop: bool,
    /// Whether silence was just observed and δ once more would tell nothing new.
    /// Waiting for it is still allowed, and strategies leave it where something else can be done.
    pub settled: bool,
}

impl Menu {
    /// Empties the menu for the next step.
    pub fn clear(&mut self) {
        self.stimuli.clear();
        self.observe = false;
        self.stop = false;
        self.settled = false;
    }
}

/// What a step meant to the tester.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The run goes on.
    Continue,
    /// The run has come to its end.
    Ended(Verdict),
}

/// Whatever drives a system under test: a conformance tester, a stored test case, test(S, ω), a test
/// purpose, a canonical tester of a property, a monitor.
///
/// It answers three questions: what may I do now, what does this step mean, what is the verdict so
/// far. It never touches the system itself; the executor does. Actions are those of its alphabet.
pub trait Tester {
    /// The alphabet of its actions, which whoever talks to the system shares.
    fn alphabet(&self) -> &Alphabet;

    /// Goes back to the start of a new run.
    fn reset(&mut self);

    /// The same, for a run with this seed: whatever the tester draws at random depends on it, and on
    /// nothing that earlier runs left behind.
    fn begin(&mut self, _seed: u64) {
        self.alphabet().begin_run();
        self.reset();
    }

    /// Fills in what may be done now. The menu comes in cleared.
    fn menu(&mut self, menu: &mut Menu);

    /// The step was taken. A stimulus must be one of the menu's, or one that the model allows all the
    /// same (replay); a tester answers `Ended(Inconc)` to a stimulus it knows nothing of.
    fn step(&mut self, step: Step) -> Progress;

    /// The implementation refused the stimulus that was given last. `None` where that is not for the
    /// tester to judge: the papers' implementations are input-enabled, and the fault is the user's.
    fn refused(&mut self) -> Option<Progress> {
        None
    }

    /// The verdict if the run ended here.
    fn verdict(&self) -> Verdict;

    /// Whether an output was observed that only others which are still to come would explain. Silence means that none is, so
    /// whoever drives the system looks for one before the run ends.
    fn awaits_explanation(&self) -> bool {
        false
    }

    /// The observations that would have been right now, in `!x`, `delta` notation, or as guards; for
    /// the certificate and for people.
    fn allowed(&mut self) -> Vec<String>;

    /// The places of the model where the run can be now, in words the user knows.
    fn locations(&mut self) -> Vec<String>;

    /// The names of those places alone, as the model declares them: without values, without lines.
    fn places(&mut self) -> Vec<String> {
        self.locations()
    }

    /// The verdict of each goal or property by itself, where there are several.
    fn results(&self) -> Vec<(String, Verdict)> {
        Vec::new()
    }

    /// What else the run has to say, asked once at its end.
    fn conclude(&mut self) -> Vec<Notice> {
        Vec::new()
    }
}

impl<T: Tester + ?Sized> Tester for Box<T> {
    #[inline]
    fn alphabet(&self) -> &Alphabet {
        (**self).alphabet()
    }

    fn reset(&mut self) {
        (**self).reset();
    }

    fn begin(&mut self, seed: u64) {
        (**self).begin(seed);
    }

    #[inline]
    fn menu(&mut self, menu: &mut Menu) {
        (**self).menu(menu);
    }

    #[inline]
    fn step(&mut self, step: Step) -> Progress {
        (**self).step(step)
    }

    #[inline]
    fn refused(&mut self) -> Option<Progress> {
        (**self).refused()
    }

    #[inline]
    fn verdict(&self) -> Verdict {
        (**self).verdict()
    }

    fn awaits_explanation(&self) -> bool {
        (**self).awaits_explanation()
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

    fn results(&self) -> Vec<(String, Verdict)> {
        (**self).results()
    }

    fn conclude(&mut self) -> Vec<Notice> {
        (**self).conclude()
    }
}
