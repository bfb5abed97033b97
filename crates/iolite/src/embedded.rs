//! Iolite in a crate's own tests: no command line, no process, no files but the model.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use iolite::{Model, SystemUnderTest, Tests};
//!
//! /// A counter that answers every third push.
//! #[derive(Default)]
//! struct Counter(u32);
//!
//! // Actions go by their bare names: `push`, not `?push`.
//! impl SystemUnderTest<String> for Counter {
//!     fn reset(&mut self) {
//!         self.0 = 0;
//!     }
//!
//!     fn stimulate(&mut self, stimulus: &String) {
//!         assert_eq!(stimulus, "push");
//!         self.0 += 1;
//!     }
//!
//!     fn output(&mut self, _patience: Duration) -> Option<String> {
//!         (self.0 == 3).then(|| {
//!             self.0 = 0;
//!             "third".to_owned()
//!         })
//!     }
//! }
//!
//! # fn main() -> Result<(), iolite::EmbeddedError> {
//! let model = Model::load("counter.iol#Counter")?;
//! Tests::new(&model).runs(100).steps(50).check(Counter::default())?;
//! # Ok(())
//! # }
//! ```

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use iolite_derive::IocoTester;
use iolite_exec::{
    Adapter, Certificate, ExecError, InProcess, Options, Received, RunId, SystemUnderTest, Uniform,
    chart, run,
};
use iolite_lang::{
    Rejected, Style, diagnostic, lower_system, parse_and_check_bytes, render, systems,
};
use iolite_lts::{LabelId, LabelKind, Labels, Lts, QuiescencePolicy};

/// Why an embedded test could not be run, or what it found.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// The model file cannot be read.
    #[error("{file}: {error}")]
    Read {
        /// The file.
        file: String,
        /// What the operating system says.
        error: std::io::Error,
    },
    /// The model has mistakes, or the reference does not fit it; the text tells where.
    #[error("{0}")]
    Model(String),
    /// The system does not conform: a proof, drawn.
    #[error("{}", chart(.0))]
    Fails(Box<Certificate>),
    /// The infrastructure failed: no verdict.
    #[error(transparent)]
    Fault(#[from] ExecError),
}

/// A specification with inputs and outputs.
#[derive(Clone, Debug)]
pub struct Model {
    reference: String,
    lts: Arc<Lts>,
}

impl Model {
    /// Reads `FILE.iol` or `FILE.iol#Name`; without a name, the only system of the file.
    pub fn load(reference: &str) -> Result<Self, EmbeddedError> {
        let (path, name) = match reference.rsplit_once('#') {
            Some((path, name)) => (path, Some(name)),
            None => (reference, None),
        };
        let bytes = std::fs::read(Path::new(path)).map_err(|error| EmbeddedError::Read {
            file: path.to_owned(),
            error,
        })?;
        Self::parse(&bytes, path, name)
    }

    /// Reads the text of an `.iol` file; `file` is for messages.
    pub fn parse(bytes: &[u8], file: &str, name: Option<&str>) -> Result<Self, EmbeddedError> {
        let rejected = |found: &[iolite_lang::Diagnostic]| {
            EmbeddedError::Model(render(file, bytes, found, Style::default()))
        };
        let (tree, found) = parse_and_check_bytes(bytes);
        if diagnostic::has_errors(&found) {
            return Err(rejected(&found));
        }
        let names = systems(&tree);
        let name = match (name, names.as_slice()) {
            (Some(name), _) if names.contains(&name) => name,
            (None, [only]) => only,
            _ => {
                let known = names.join(", ");
                return Err(EmbeddedError::Model(format!("{file}: pick one of {known}")));
            }
        };
        let lts = lower_system(&tree, name, iolite_lang::DEFAULT_BUDGET)
            .map_err(|found| rejected(&Rejected(found).0))?;
        Ok(Self {
            reference: format!("{file}#{name}"),
            lts: Arc::new(lts),
        })
    }

    /// The system itself.
    pub fn lts(&self) -> &Lts {
        &self.lts
    }
}

/// A campaign of on-the-fly ioco tests.
#[derive(Clone, Debug)]
pub struct Tests {
    model: Model,
    runs: u64,
    steps: u64,
    seed: u64,
}

impl Tests {
    /// Ten runs of a hundred steps, seed 0.
    pub fn new(model: &Model) -> Self {
        Self {
            model: model.clone(),
            runs: 10,
            steps: 100,
            seed: 0,
        }
    }

    /// How many runs.
    #[must_use]
    pub fn runs(mut self, runs: u64) -> Self {
        self.runs = runs;
        self
    }

    /// How many steps a run has.
    #[must_use]
    pub fn steps(mut self, steps: u64) -> Self {
        self.steps = steps;
        self
    }

    /// The seed of everything random.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Tests until the first failure or the last run. `Ok` means that nothing wrong was seen.
    pub fn check<S: SystemUnderTest<String>>(&self, system: S) -> Result<Passed, EmbeddedError> {
        let labels = Arc::new(self.model.lts.labels().clone());
        let mut options = Options {
            kind: "ioco".to_owned(),
            ..Options::default()
        };
        options.model.file = Some(self.model.reference.clone());
        options.limits.steps = Some(self.steps);
        let mut tester = IocoTester::new(Arc::clone(&self.model.lts), QuiescencePolicy::Livelock);
        let mut adapter = Driven {
            system: InProcess::new(system),
            labels,
        };
        let mut passed = Passed { runs: 0, steps: 0 };
        for number in 0..self.runs {
            let id = RunId::of(self.seed, number);
            let outcome = run(
                &mut tester,
                &mut adapter,
                &mut Uniform,
                &options,
                id,
                &mut (),
            )?;
            if let Some(certificate) = outcome.certificate {
                return Err(EmbeddedError::Fails(Box::new(certificate)));
            }
            passed.runs += 1;
            passed.steps += outcome.steps;
        }
        Ok(passed)
    }
}

/// What was tested without finding anything wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Number of runs.
    pub runs: u64,
    /// Steps of all runs.
    pub steps: u64,
}

/// The adapter between names and labels.
struct Driven<S> {
    system: InProcess<S>,
    labels: Arc<Labels>,
}

impl<S> Driven<S> {
    fn label(&self, received: Received<String>) -> Result<Received<LabelId>, ExecError> {
        Ok(match received {
            Received::Output(name) => match self.labels.get(LabelKind::Output, &name) {
                Some(label) => Received::Output(label),
                None => {
                    return Err(ExecError::Model(format!(
                        "!{name} is no output of the model"
                    )));
                }
            },
            Received::Nothing => Received::Nothing,
            Received::Ended(exit) => Received::Ended(exit),
        })
    }
}

impl<S: SystemUnderTest<String>> Adapter<LabelId> for Driven<S> {
    fn start(&mut self, seed: u64) -> Result<(), ExecError> {
        self.system.start(seed)
    }

    fn poll(&mut self) -> Result<Option<Received<LabelId>>, ExecError> {
        let polled = self.system.poll()?;
        polled.map(|received| self.label(received)).transpose()
    }

    fn send(&mut self, stimulus: &LabelId) -> Result<(), ExecError> {
        self.system
            .send(&self.labels.label(*stimulus).name.to_string())
    }

    fn receive(&mut self, patience: Duration) -> Result<Received<LabelId>, ExecError> {
        let received = self.system.receive(patience)?;
        self.label(received)
    }

    fn stop(&mut self) -> Result<(), ExecError> {
        self.system.stop()
    }

    fn is_timed(&self) -> bool {
        false
    }
}
