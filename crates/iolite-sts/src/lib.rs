//! Symbolic models: input-output symbolic transition systems (IOSTS) \[SYM04\], their
//! product, quiescence and composition, the symbolic states after a trace, a model that runs, and the
//! unfolding of finite data into the explicit kernel.
//!
//! - A model ([`Iosts`]) is made by a [`Builder`]; functions from models to models are its methods:
//!   [`Iosts::product`], [`Iosts::compose`], [`Iosts::quiescent`], [`Iosts::determinised`],
//!   [`Iosts::output_completed`], [`Iosts::unfold`].
//! - [`Symbolic`] walks sets of symbolic states: `after` and `out` for data. [`Iosts::has_trace`] answers
//!   the same by path formulas, for certificates.
//! - [`Simulation`] runs a model with one location and one valuation.
//! - [`SymbolicTest`] is test(S, ω), mirrored and pruned.
//! - [`analysis`] verifies safety properties, and has the abstract domains.
//!
//! The crate drives no system under test and reads no model text; it knows solvers only through
//! the port of `iolite-expr`.
//!
//! A counter that takes three inputs, unfolded:
//!
//! ```
//! use iolite_expr::{Solver, Sort, Span};
//! use iolite_sts::{Builder, LabelKind, UnfoldBudget};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut b = Builder::new("Counter");
//! let n = b.variable("n", Sort::Int, Some(0.into()), Span::NONE)?;
//! let up = b.gate(LabelKind::Input, "up", &[], Span::NONE)?;
//! let at = b.location("Count", true, Span::NONE)?;
//! let (guard, next) = (n.term().lt(3)?, n.term().plus(1)?);
//! b.transition(at, up, Some(guard), vec![(n, next)], at, Span::NONE)?;
//! let lts = b.build()?.unfold(&mut Solver::embedded(), UnfoldBudget::default())?;
//! assert_eq!(lts.state_count(), 4);
//! # Ok(())
//! # }
//! ```

// A term may hold a `Regex`, whose lazily built automaton takes no part in its identity.
#![allow(clippy::mutable_key_type)]

pub mod analysis;
mod builder;
mod closure;
mod compaction;
mod compose;
mod conformance;
mod conformance_instances;
mod conformance_search;
mod coverage_criterion;
mod coverage_goal;
mod covering_test;
mod determinise;
mod faulting_values;
mod faults;
mod firing;
mod input_choice;
mod iosts;
mod lint;
mod narrowed;
mod only_row;
mod passing;
mod path_formula;
mod product;
mod quantified;
mod quiescence;
mod refusal;
mod semantics;
mod simulation;
mod simulation_initial;
mod singled_out;
mod specified;
mod symbolic;
mod symbolic_delta;
mod symbolic_initial;
mod symbolic_out;
mod symbolic_restart;
mod symbolic_state;
mod symbolic_test;
mod unfold;
mod value_coverage;

pub use builder::{BuildError, BuildErrorKind, Builder};
pub use closure::DeterminiseError;
pub use compose::ComposeError;
pub use conformance::{
    Comparison, Conformance, ConformanceError, DataRelation, InstanceProof, conforms,
    is_input_enabled, refusing,
};
pub use conformance_instances::InstanceComparison;
pub use coverage_criterion::{CoverageCriterion, CriterionGoals};
pub use coverage_goal::{CoverageGoal, CoverageGoals};
pub use input_choice::{Chosen, InputChoice};
pub use iosts::{
    Constant, Gate, GateId, Iosts, LabelKind, Location, LocationId, Transition, TransitionId,
    Variable, space,
};
pub use lint::Lint;
pub use passing::TestProgram;
pub use path_formula::{
    Beside, Fronts, GivenConstant, HasTrace, OUT_OF_POINTS, PathPlace, RunPlace, Stop, TraceStep,
    WORK_OF_A_POINT, Watch, WatchedStates,
};
pub use quiescence::DeltaGuard;
pub use semantics::{ModelFault, State, ValuedAction};
pub use simulation::{Simulation, SimulationError};
pub use symbolic::{After, Symbolic, SymbolicError, SymbolicStates};
pub use symbolic_out::{Enabled, Out};
pub use symbolic_state::SymbolicState;
pub use symbolic_test::{PrunedTransition, PruningGoal, SymbolicTest, SymbolicTestError, TestKind};
pub use unfold::{TooMany, UnfoldBudget, UnfoldError};
pub use value_coverage::ValueCoverage;
// What a coverage of values is made of.
pub use iolite_expr::CandidateValues;
