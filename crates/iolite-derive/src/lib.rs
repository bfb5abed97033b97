//! Testers and test cases: what to do to a system under test, and what its answers mean.
//!
//! Everything here walks the lazy views of `iolite-lts` and the symbolic states of `iolite-sts`;
//! `after` and `out` are theirs.
//!
//! - **Actions** ([`Action`]) are what tester and system exchange; an [`Alphabet`] interns them.
//! - **Oracles** ([`Oracle`]) answer what a step means under a relation: [`IocoOracle`],
//!   [`UiocoOracle`], [`IoconfOracle`], and [`SymbolicOracle`] for models with data; [`QueueOracle`]
//!   is any of them seen through queues.
//! - **Testers** ([`Tester`]) drive or watch: [`ConformanceTester`] and [`GoalTester`] over any oracle,
//!   [`ConfTester`], [`StoredTester`] and [`SymbolicCaseTester`] for stored test cases, [`PropertyTester`] for properties alone.
//!   A [`Guide`] also knows a way.
//! - **Test cases** ([`TestCase`]) are those of [LTS96, def. 3.1 and 7.1] and [IOCO99, §4]; they come
//!   from [`RandomDerivation`] and [`ExhaustiveDerivation`] over a [`FiniteOracle`], from
//!   [`ConfDerivation`], [`CoverageSuite`], [`CompleteSuite`], [`GoalTest`] and [`RequirementSuite`]. [`test_runs`] runs
//!   one against a model, in every way there is.
//! - **Safety** \[SAFE04\]: [`verify`] and [`relevance`] of observers, [`Forcing`], [`mirror`],
//!   [`prune`](prune()), [`SafetyTest`]; test purposes are the same with another [`Objective`].
//!
//! The crate opens no file, reads no clock, knows no adapter and touches no system under test.
//!
//! # Example
//!
//! ```
//! use iolite_derive::{ConformanceTester, IocoOracle, Menu, Progress, Step, Tester, Verdict};
//! use iolite_lts::{LtsBuilder, QuiescencePolicy, StateId};
//!
//! let mut builder = LtsBuilder::new();
//! let labels = builder.labels_mut();
//! let (coin, tea) = (labels.intern_text("?coin"), labels.intern_text("!tea"));
//! builder.transition(StateId::new(0), coin, StateId::new(1));
//! builder.transition(StateId::new(1), tea, StateId::new(0));
//! let machine = builder.build().unwrap();
//!
//! let mut tester = ConformanceTester::new(IocoOracle::new(&machine, QuiescencePolicy::Livelock));
//! let mut menu = Menu::default();
//! tester.menu(&mut menu);
//! assert_eq!(menu.stimuli, [coin.into()]);
//! assert_eq!(tester.step(Step::Stimulus(coin.into())), Progress::Continue);
//! // Silence after the coin is no behaviour of the specification.
//! assert_eq!(tester.step(Step::Quiescence), Progress::Ended(Verdict::Fail));
//! ```

// The definitions that the integration tests share are used by unit tests as well.
#[cfg(test)]
extern crate self as iolite_derive;

mod action;
mod alphabet;
mod channel;
mod context;
mod coverage;
mod criterion;
mod location;
mod model_ref;
mod oracle;
mod queue_relation;
mod race;
mod seed;
mod suite;
mod testcase;
mod tester;
mod verdict;
mod verify;

pub use action::{Action, ActionId};
pub use alphabet::{Alphabet, LabelMap};
pub use channel::Channel;
pub use context::{Context, UnknownContext};
pub use coverage::{Count, Coverage, CoverageReport, ModelTransition};
pub use criterion::{Criterion, UnknownCriterion};
pub use location::{location, told_places};
pub use model_ref::ModelRef;
pub use oracle::any::{AnyOracle, AnyState};
pub use oracle::channel_queues::{ChannelOracle, ChannelState};
pub use oracle::finite_queues::{FiniteQueueOracle, QueueStateId};
pub use oracle::ioco::IocoOracle;
pub use oracle::ioconf::{IoconfOracle, IoconfState};
pub use oracle::queues::{
    Configuration, DEFAULT_MAX_IN_FLIGHT, QueueOptions, QueueOracle, QueueState,
};
pub use oracle::relation::RelationOracle;
pub use oracle::symbolic::{
    SymbolicOracle, SymbolicOracleError, SymbolicPlace, action_of, valued_action, valued_label,
};
pub use oracle::uioco::UiocoOracle;
pub use oracle::{FiniteOracle, Meaning, Oracle, Places, StateKey};
pub use queue_relation::{QueueAnswer, QueueCounterexample, QueueRelation, relate_in_queues};
pub use race::{Race, RaceLoss, RaceReport, races};
pub use seed::seed_of;
pub use suite::{
    Exhaustiveness, Reach, SuiteRelation, Undetected, Unsound, exhaustiveness, reach, soundness,
};
pub use testcase::by_relation::{CaseDerivation, CaseSelection, derive_cases};
pub use testcase::case_work::{CaseWork, Publish, StoreCase, collected};
pub use testcase::complete_suite::{CompleteSuite, Completeness};
pub use testcase::conf_derivation::{ConfDerivation, OfferedSet};
pub use testcase::coverage_suite::{CoverageGoal, CoverageSuite, Covered, CoveringSuite};
pub use testcase::exhaustive_derivation::{Enumerated, Enumeration, ExhaustiveDerivation};
pub use testcase::goal_test::{Drawing, GoalTest};
pub use testcase::over_strict::over_strict;
pub use testcase::passes::{TestRun, TestRuns, passes, test_runs, test_runs_while};
pub use testcase::random_derivation::{RandomDerivation, Weights};
pub use testcase::requirement_suite::{Requirement, RequirementSuite};
pub use testcase::symbolic_test_case::{
    SymbolicTestCase, SymbolicTestCaseError, symbolic_model_hash, verdict_locations,
};
pub use testcase::test_case::{
    TestCase, TestCaseError, TestState, TestStateId, TestStep, model_hash,
};
pub use tester::concurring::Concurring;
pub use tester::conf_tester::ConfTester;
pub use tester::conformance_tester::ConformanceTester;
pub use tester::goal_tester::{GoalTester, PurposeTester, SafetyTester};
pub use tester::guide::{Guide, Hint};
pub use tester::in_context::TestedOracle;
pub use tester::notice::{Notice, Undecided};
pub use tester::property_tester::{PropertyEnd, PropertyOutcome, PropertyTester, WatchedProperty};
pub use tester::stored_tester::StoredTester;
pub use tester::symbolic_case_tester::SymbolicCaseTester;
pub use tester::{Menu, Progress, Step, Tester};
pub use verdict::Verdict;
// What runs tried of a model's data is reported with their verdicts.
pub use iolite_sts::ValueCoverage;
pub use verify::data_goal::{DataGoal, DataGoalError, GoalMarks};
pub use verify::forcing::{ForcedStep, Forcing, Pair};
pub use verify::goal::{Goal, LabelGoal, Wish};
pub use verify::mirror::mirror;
pub use verify::mixed_goal::{MixedGoal, MixedState};
pub use verify::objective::{Breach, Move, Objective};
pub use verify::property::{
    Ending, Environment, Execution, Executions, Fairness, LetterMap, PropertySatisfaction,
    recheck_violation, satisfies,
};
pub use verify::property_objective::PropertyObjective;
pub use verify::prune::prune;
pub use verify::purpose_test::PurposeTest;
pub use verify::queue_goal::{MessageOrder, QueueGoal, QueueGoalState};
pub use verify::safety_test::SafetyTest;
pub use verify::test_graph::{NodeKind, TestGraph};
pub use verify::{
    Relevance, Satisfaction, Verification, relevance, verify, verify_while, verify_with_jobs,
};
