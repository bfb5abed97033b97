//! Runs a tester against a system under test.
//!
//! The way of a run ([`run`](run())): an [`Adapter`] reaches the system, a codec turns bytes into
//! actions, the engine asks the tester what may be done, a [`Strategy`] chooses, the system answers, the
//! tester judges, and each step is an [`Event`] that a journal, a report and the console read alike.
//! [`campaign`] makes many runs, [`replay`] and [`shrink`] repeat one, [`monitor`] judges a log.
//!
//! - `run`: engine, strategies, campaigns, calibration.
//! - `sut`, `transport`: the description of a system, and how it is reached.
//! - [`codec`]: templates between actions and bytes, and dictionaries between alphabets.
//! - `record`, [`report`]: events, journal, certificates; what people and build servers read.
//!
//! This crate must not know model text, nor decide conformance: verdicts are the tester's alone. A
//! fault of the infrastructure is an [`ExecError`], never a verdict.
//!
//! One run against a model that plays the system:
//!
//! ```
//! use iolite_derive::{Alphabet, ConformanceTester, IocoOracle, Verdict};
//! use iolite_exec::codec::LabelDictionary;
//! use iolite_exec::{ModelSut, Options, RunId, Uniform, run};
//! use iolite_lang::{DEFAULT_BUDGET, lower_system, parse};
//! use iolite_lts::QuiescencePolicy;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (file, _) = parse(
//!     "system Candy { input shil output liq
//!        initial state Ready { ?shil -> Paid }
//!        state Paid { !liq -> Ready } }",
//! );
//! let candy = lower_system(&file, "Candy", DEFAULT_BUDGET).expect("a model without mistakes");
//! let alphabet = Alphabet::of_labels(candy.labels());
//! let dictionary = LabelDictionary::new(&alphabet, candy.labels());
//! let mut system = ModelSut::new(&candy, dictionary, 0);
//! let oracle = IocoOracle::with_alphabet(&candy, QuiescencePolicy::Livelock, &alphabet);
//! let mut tester = ConformanceTester::new(oracle);
//! let mut options = Options::default();
//! options.limits.steps = Some(20);
//! let id = RunId::of(0, 0);
//! let outcome = run(&mut tester, &mut system, &mut Uniform, &options, id, &mut ())?;
//! assert_eq!(outcome.verdict, Verdict::Pass);
//! # Ok(())
//! # }
//! ```

pub mod codec;
mod error;
mod key_hint;
mod record;
pub mod report;
mod run;
mod sut;
mod transport;

pub use codec::concrete_action::{ConcreteAction, WireValue, brief};
pub use error::ExecError;
pub use iolite_derive::ModelRef;
pub use record::action_text::ActionText;
pub use record::certificate::{CERTIFICATE_FORMAT, Certificate};
pub use record::compact_journal::{COMPACT_FORMAT, compact_first_line};
pub use record::compact_lines::journal_lines;
pub use record::description::Description;
pub use record::event::{End, Event, Fanout, Sink};
pub use record::journal::{
    COMPACT_ENDING, Journal, JournalForm, JournalHeader, JournalWriter, ModelText,
};
pub use record::journal_place::new_journal_path;
pub use record::log::{LogEntry, LogFormat, LogReader, LogStep};
pub use record::merge::{MergeError, MergeOptions, Merged, merge};
pub use record::monitor::{LoggedTrace, MonitorOptions, Monitored, monitor};
pub use record::replay::{Divergence, Record, Replay, replay};
pub use record::shrink::{ShrinkPlan, Shrunk, shrink};
pub use record::trace::Trace;
pub use record::traffic::{Traffic, Way};
pub use report::chart::chart;
use report::hexdump::hexdump;
pub use run::adapter::{Adapter, Received, Sent};
pub use run::calibrate::{Calibrator, Measure, Proposal};
pub use run::campaign::{Instance, JobId, KEPT_NOTICES, Plan, Summary, campaign};
pub use run::confirm::{Confirm, Confirmation};
pub use run::guided::{AdvisedTester, GuidedStrategy, guided};
pub use run::options::{Limits, OnExit, Options};
pub use run::pace::Pace;
pub use run::patient::Patient;
pub use run::quiescence::Quiescence;
pub use run::run_outcome::{RunId, RunOutcome};
pub use run::run_setup::{RunSetup, run};
pub use run::script::{Op, Script};
pub use run::share::{Partition, RunNumbers, RunRange, Share, ShareError};
pub use run::steering::{Order, Steered, Steering, UnknownOrder};
pub use run::strategy::{Choice, Coverage, Strategy, Uniform};
pub use run::symmetric::{
    SymmetricError, SymmetricModel, SymmetricRun, SymmetricSystem, run_symmetric,
};
pub use run::weighted::{Weighted, Weights, WithoutWeightless};
pub use sut::{
    ActionConfig, ChannelConfig, DatagramSource, LimitsConfig, ProcessConfig, QuiescenceConfig,
    ResetConfig, SutConfig, System, TlsConfig, Transport, UdpAddresses, UndecodableKind,
};
pub use transport::bounds::Bounds;
pub use transport::byte_adapter::{ByteAdapter, Reset};
pub use transport::command_line::CommandLine;
pub use transport::dialogue::{Dialogue, DialogueError, DialogueLimits};
pub use transport::exit::{Exit, ExitKind};
pub use transport::framing::Framing;
pub use transport::in_process::{
    AsyncSystemUnderTest, Blocking, InProcess, NamedSystem, Notation, SystemUnderTest,
};
pub use transport::interrupt::{
    Interruption, await_readable, end_well_on_signals, interrupt_at_bound, interrupted,
    kill_systems,
};
pub use transport::model_sut::{ModelSut, RefusedInput};
pub use transport::place::JobPlace;
pub use transport::process::CommandSpec;
pub use transport::simulate::{RunningModel, Simulator};
pub use transport::symbolic_sut::SymbolicSut;
