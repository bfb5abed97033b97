//! Testers and test cases: what to do to a system under test, and what its answers mean.
//!
//! Everything here walks the lazy views of `iolite-lts`; `after` and `out` are theirs.
//!
//! - **Testers** answer the three questions of [`Tester`]: [`IocoTester`] (also as a monitor),
//!   [`IoconfTester`] and [`OracleTester`], [`ConfTester`], [`StoredTester`] for a stored test case,
//!   [`SafetyTester`] and [`PurposeTester`] for goals, [`PropertyTester`] for properties alone,
//!   [`SymbolicTester`] for models with data. A [`Guide`] also knows a way.
//! - **Test cases** ([`TestCase`]) are those of [Tretmans 1996, def. 3.1 and 7.1; 1999, §4]; they come
//!   from [`RandomDerivation`] and [`ExhaustiveDerivation`] over an [`Oracle`] ([`IocoOracle`],
//!   [`IoconfOracle`]), from [`ConfDerivation`], [`CoverageSuite`], [`GoalTest`] and
//!   [`RequirementSuite`]. [`test_runs`] runs one against a model, in every way there is.
//! - **Safety** [Rusu et al. 2004]: [`verify`] and [`relevance`] of observers, [`Forcing`], [`mirror`],
//!   [`prune`](prune()), [`SafetyTest`]; test purposes are the same with another [`Objective`].
//!
//! The crate opens no file, reads no clock, knows no adapter and touches no system under test.

mod arena;
mod choice;
mod conf_derivation;
mod conf_tester;
mod coverage;
mod coverage_suite;
mod exhaustive_derivation;
mod forcing;
mod goal_test;
mod goal_tester;
mod guide;
mod ioco_derivation;
mod ioco_tester;
mod ioconf_derivation;
mod location;
mod mirror;
mod objective;
mod oracle;
mod oracle_tester;
mod passes;
mod property_tester;
mod prune;
mod purpose_test;
mod random_derivation;
mod requirement_suite;
mod safety_test;
mod stored_tester;
mod symbolic_tester;
mod test_case;
mod test_case_display;
mod test_case_export;
pub mod test_case_json;
mod test_case_lts;
mod test_graph;
mod tester;
mod ttcn3;
mod verdict;
mod verify;

pub use conf_derivation::{ConfDerivation, Offered};
pub use conf_tester::ConfTester;
pub use coverage::{Count, Coverage, CoverageReport, ModelTransition};
pub use coverage_suite::{CoverageSuite, Covering, Goal};
pub use exhaustive_derivation::{
    Enumerated, Enumeration, ExhaustiveDerivation, MAX_ENUMERATION_DEPTH,
};
pub use forcing::{Forced, Forcing, Pair};
pub use goal_test::{Drawing, GoalTest};
pub use goal_tester::{DEFAULT_LOOKAHEAD, GoalTester, PurposeTester, SafetyTester};
pub use guide::{Guide, Hint};
pub use ioco_derivation::IocoOracle;
pub use ioco_tester::IocoTester;
pub use ioconf_derivation::{IoconfOracle, IoconfState};
pub use location::{location, locations};
pub use mirror::{mirror, mirror_labels};
pub use objective::{Breach, Move, Objective};
pub use oracle::{Meaning, Oracle, Silence};
pub use oracle_tester::{IoconfTester, OracleTester};
pub use passes::{TestRuns, passes, test_runs};
pub use property_tester::{
    Naming, PropertyEnd, PropertyOutcome, PropertyTester, Refusal, WatchedProperty,
};
pub use prune::prune;
pub use purpose_test::PurposeTest;
pub use random_derivation::{RandomDerivation, Weights};
pub use requirement_suite::{Requirement, RequirementSuite, transitions_of};
pub use safety_test::SafetyTest;
pub use stored_tester::StoredTester;
pub use symbolic_tester::{Doubt, SymbolicTester, SymbolicTesterError};
pub use test_case::{
    ModelRef, TestCase, TestCaseError, TestState, TestStateId, TestStep, model_hash,
};
pub use test_case_json::ReadError;
pub use test_graph::{NodeKind, TestGraph};
pub use tester::{Menu, Observation, Progress, Tester};
pub use verdict::Verdict;
pub use verify::{Relevance, Satisfaction, Verification, relevance, verify};
