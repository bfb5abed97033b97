//! The explicit kernel of Iolite: labels, transition systems in compressed rows, and lazy views of
//! them.
//!
//! A transition system is anything that gives an initial state and successors on demand
//! ([`Semantics`]). [`Suspension`], [`Determinised`], [`Product`], [`Composition`], [`Relabelled`],
//! [`Completed`] and [`Interned`] are views that intern what they visit; nothing is built that is
//! not walked. There is one `after` and one `out`: those of [`Determinised`].
//!
//! This crate opens no file, reads no clock and knows no solver.

mod checks;
mod closure;
mod completed;
mod composition;
mod delta_trace;
mod determinised;
mod explore;
mod extended;
mod graph;
mod interned;
mod label;
mod lts;
mod product;
mod relabelled;
pub mod relation;
mod scc;
mod semantics;
mod set_table;
mod straces;
mod suspension;

pub use checks::{Nondeterminism, missing_input, nondeterminism};
pub use closure::Closure;
pub use completed::{Completed, Completion};
pub use composition::{Composition, GateMismatch, Gates};
pub use delta_trace::DeltaTrace;
pub use determinised::{DEFAULT_MEMO_BYTES, Determinised};
pub use explore::{BudgetExceeded, determinise, explore};
pub use extended::Extended;
pub use graph::{Predecessors, coreach, reachable, restrict};
pub use interned::Interned;
pub use label::{Label, LabelId, LabelKind, Labels};
pub use lts::{BuildError, Lts, LtsBuilder, StateId, Step};
pub use product::Product;
pub use relabelled::Relabelled;
pub use scc::Tarjan;
pub use semantics::Semantics;
pub use set_table::{SetId, SetTable};
pub use straces::straces;
pub use suspension::{Quiescence, QuiescencePolicy, Suspension};
