//! Iolite tests real systems against formal models and says, for each verdict, what it proves.
//!
//! A [`Workspace`] reads model files, each once; a [`Campaign`] tests a system against a specification
//! of it, or by properties alone. Everything that the `iolite` command does, it does through this
//! library.
//!
//! # A crate that tests itself
//!
//! ```
//! use std::time::Duration;
//!
//! use iolite::{Campaign, SystemUnderTest, Workspace};
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
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let workspace = Workspace::new();
//! workspace.insert(
//!     "counter.iol".as_ref(),
//!     "system Counter {
//!        input push
//!        output third
//!        initial state Zero { ?push -> One }
//!        state One { ?push -> Two }
//!        state Two { ?push -> Three }
//!        state Three { !third -> Zero }
//!      }",
//! );
//! let passed = Campaign::of(&workspace, "counter.iol")?.check(Counter::default())?;
//! assert!(passed.summary.steps > 0);
//! # Ok(())
//! # }
//! ```

mod as_iosts;
mod budget;
mod campaign;
mod cover;
mod data;
mod derivation;
mod error;
mod evidence;
mod explorer;
mod files;
mod label_gates;
mod monitor;
mod mutation;
mod passes;
mod property_verification;
mod relation;
mod semantics;
mod starter;
mod state_view;
mod suite;
mod symbolic_view;
mod system_text;
mod trace_judge;
mod vacuity;
mod verification;
mod verification_turns;
mod walk;
mod workspace;

pub use budget::{Budget, Exceeded, LastResort, MemoryLimit, Watch, watch};
pub use campaign::{
    ActionWeight, AnyAdapter, AnyStrategy, AnyTester, Campaign, CheckError, ConstantBounds,
    Constants, CoverageGuide, CoveredModel, ExplicitJudge, GoalKind, Judge, JudgeOptions,
    MissedGoal, ModelCoverage, ModelCoverageReport, ModelGoal, ModelUnderTest, Pair, Passed,
    PropertyJudge, PropertyOptions, RecordedRun, Retracing, Selection, SelectionOptions,
    SharedConstants, SharedCoverage, SuiteCoverage, SymbolicJudge, SymmetricCase, SymmetricFailure,
    Target, TargetOptions, ValuesTried, chosen_constants, not_solved, running_model, symbolic_sut,
};
pub use cover::Cover;
pub use data::{DataOptions, KnownModel, ValueOptions, Values, answers_count, solver};
pub use derivation::{
    Derivation, DerivationOptions, DerivationSelection, Derived, GoalDerivation, PublishCase,
    StoreDerived, TakeDerived, UndecidedGoal, UnreachableGoal,
};
pub use error::{Error, ErrorKind, UnfoldingLimit};
pub use evidence::{
    CheckOutcome, ExplainOptions, Explanation, JudgedBy, Part as ConfirmedPart, SharedCertificates,
};
pub use explorer::{EXPLORE, ExploredModel, ExploredSystem, explorer_command, explorer_fault};
pub use files::{GrowingFile, PartFile, save_query, write_packed, write_whole, write_whole_by};
pub use iolite_derive::{
    Action, ActionId, Alphabet, Channel, Context, Criterion, DEFAULT_MAX_IN_FLIGHT, ModelRef,
    Notice, QueueOptions, Step, ValueCoverage, Verdict,
};
pub use iolite_exec::{
    Adapter, Certificate, ConcreteAction, Event, Journal, MergeError, MergeOptions, Merged,
    Notation, Order, Partition, Received, RunRange, Sent, Share, Sink, Steering, Summary,
    SymmetricModel, SymmetricRun, SymmetricSystem, SystemUnderTest, WireValue, merge,
    run_symmetric,
};
pub use iolite_lang::mutation::Operator;
pub use iolite_lts::System;
pub use iolite_lts::relation::Relation;
pub use iolite_recheck::{Certificate as WholeCertificate, Model as WholeModel, Observation};
pub use iolite_sts::PruningGoal;
pub use monitor::{JournalRun, Log, LogReport, Monitor, journal_lines, verdict_beside};
pub use mutation::{
    Done, MergedMutants, MutantDocument, MutationDocument, MutationOptions, OnTheFly, Score,
};
pub use passes::{PassesDocument, ProceedSuite, SuiteEffort, TestRunDocument, TestedCase};
pub use property_verification::{EnvironmentFlag, ExecutionEnding, FairnessFlag};
pub use relation::{
    CounterexampleDocument, Decision, EffortDocument, ObservedDocument, Place,
    PreparedSpecification, Proceed, RelationDocument, RelationOptions, all_cores,
};
pub use semantics::{CompletionFlag, QuiescenceFlag, SemanticsOptions};
pub use starter::{Starter, StarterFile, StarterKind};
pub use state_view::StateView;
pub use suite::{
    ExhaustivenessDocument, JudgedCase, SuiteDocument, SuiteOptions, UndetectedDocument,
    UnsoundDocument,
};
pub use symbolic_view::{PruningReason, SymbolicGraph, SymbolicView};
pub use system_text::system_text;
pub use verification::{DataAnswer, Proof, Verification, VerificationOptions, VerifiedProperty};
pub use verification_turns::FEW_STATES;
pub use walk::{Offer, Position, Taken, Walk};
pub use workspace::{
    DataAutomaton, DotKind, ExplicitSpec, Format, GoalAutomaton, HoaLetters, Origin, Property,
    PropertyReadOptions, ReadOptions, Signature, SourceFile, Spec, SuiteCase, SymbolicSpec,
    SymbolicSuiteCase, Workspace, read_foreign,
};
