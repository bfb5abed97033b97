//! Verification of safety properties on systems with data [SYM04, §3.4].
//!
//! A property is an observer ω; S satisfies it when no violating location of S^δ || ω is reachable
//! [def. 9 and 10]. That is undecidable, so a portfolio of incomplete methods takes turns: [`verify`].
//! Whatever a method claims is checked by means that it did not choose: a proof is an inductive
//! invariant that [`is_inductive`] accepts, a refutation is a run that fires step by step.

mod answer;
mod backward;
mod bounded;
mod candidates;
mod claim;
mod coreachable;
mod cube;
mod difference;
pub mod domain;
mod explicit;
mod fixpoint;
mod horn;
mod houdini;
mod interpretation;
mod invariant;
mod k_induction;
mod listing;
mod member;
mod minimise;
mod partition;
mod pdr;
mod portfolio;
mod problem;
mod refinement;
mod run;
mod watch;

pub use answer::{Answer, Proof, Refutation};
pub(crate) use claim::is_without_fault;
pub use coreachable::coreachable;
pub(crate) use coreachable::coreachable_within;
pub(crate) use difference::{DifferenceBudget, DifferenceSearch};
pub use horn::{HornProgram, horn_clauses};
pub use interpretation::{Strength, described, reachable};
pub use invariant::{Broken, Invariant, Undecided, is_inductive};
pub use k_induction::{Induction, NotInductive};
pub use member::{InvariantSource, Suggestion};
pub use portfolio::{Method, VerifyBudget, verify, verify_by};
pub use problem::{Problem, equation};
pub use run::Run;
pub use watch::{ObservedProduct, satisfies, satisfies_with, watch};
pub(crate) use watch::{refuted_soon, watched_product};
