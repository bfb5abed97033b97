//! Testers and test cases: what to do to a system under test, and what its answers mean.
//!
//! Everything here walks the lazy views of `iolite-lts`; `after` and `out` are theirs.
//!
//! - **Testers** answer the three questions of [`Tester`]: [`IocoTester`] (also as a monitor),
//!   [`IoconfTester`] and [`OracleTester`], [`ConfTester`], [`StoredTester`] for a stored test case,
//!   [`SafetyTester`] and [`PurposeTester`] for goals, [`PropertyTester`] for properties alone,
//!   [`SymbolicTester`] for models with data. A [`Guide`] also knows a way.
//! - **Test cases** ([`TestCase`]) are those of [LTS96, def. 3.1 and 7.1; IOCO99, §4]; they come
//!   from [`RandomDerivation`] and [`ExhaustiveDerivation`] over an [`Oracle`] ([`IocoOracle`],
//!   [`IoconfOracle`]), from [`ConfDerivation`], [`CoverageSuite`], [`GoalTest`] and
//!   [`RequirementSuite`]. [`test_runs`] runs one against a model, in every way there is.
//! - **Safety** [SAFE04]: [`verify`] and [`relevance`] of observers, [`Forcing`], [`mirror`],
//!   [`prune`](prune()), [`SafetyTest`]; test purposes are the same with another [`Objective`].
//!
//! The crate opens no file, reads no clock, knows no adapter and touches no system under test.

mod coverage;
mod location;
mod oracle;
mod testcase;
mod tester;
mod verdict;
mod verify;

pub use coverage::{Count, Coverage, CoverageReport, ModelTransition};
pub use location::{location, locations};
pub use oracle::ioco_derivation::IocoOracle;
pub use oracle::ioconf_derivation::{IoconfOracle, IoconfState};
pub use oracle::{Meaning, Oracle, Silence};
pub use testcase::conf_derivation::{ConfDerivation, Offered};
pub use testcase::coverage_suite::{CoverageSuite, Covering, Goal};
pub use testcase::exhaustive_derivation::{
    Enumerated, Enumeration, ExhaustiveDerivation, MAX_ENUMERATION_DEPTH,
};
pub use testcase::goal_test::{Drawing, GoalTest};
pub use testcase::passes::{TestRuns, passes, test_runs};
pub use testcase::random_derivation::{RandomDerivation, Weights};
pub use testcase::requirement_suite::{Requirement, RequirementSuite, transitions_of};
pub use testcase::test_case::{
    ModelRef, TestCase, TestCaseError, TestState, TestStateId, TestStep, model_hash,
};
pub use tester::conf_tester::ConfTester;
pub use tester::goal_tester::{DEFAULT_LOOKAHEAD, GoalTester, PurposeTester, SafetyTester};
pub use tester::guide::{Guide, Hint};
pub use tester::ioco_tester::IocoTester;
pub use tester::oracle_tester::{IoconfTester, OracleTester};
pub use tester::property_tester::{
    Naming, PropertyEnd, PropertyOutcome, PropertyTester, Refusal, WatchedProperty,
};
pub use tester::stored_tester::StoredTester;
pub use tester::symbolic_tester::{Doubt, SymbolicTester, SymbolicTesterError};
pub use tester::{Menu, Observation, Progress, Tester};
pub use verdict::Verdict;
pub use verify::forcing::{Forced, Forcing, Pair};
pub use verify::mirror::{mirror, mirror_labels};
pub use verify::objective::{Breach, Move, Objective};
pub use verify::prune::prune;
pub use verify::purpose_test::PurposeTest;
pub use verify::safety_test::SafetyTest;
pub use verify::test_graph::{NodeKind, TestGraph};
pub use verify::{Relevance, Satisfaction, Verification, relevance, verify};
