//! The explicit kernel of Iolite: labels, transition systems in compressed rows, and lazy views of
//! them.
//!
//! A transition system is anything that gives an initial state and successors on demand
//! ([`Semantics`]). [`Suspension`], [`Determinised`], [`Product`], [`Composition`], [`Relabelled`],
//! [`Completed`] and [`Interned`] are views; nothing is built that is not walked. There is one `after`
//! and one `out`: those of [`Determinised`]. [`relation`] decides the implementation relations on these
//! views, with shortest counterexamples, and looks at their certificates again.
//!
//! This crate opens no file, reads no clock and knows no solver.
//!
//! # Example
//!
//! ```
//! use iolite_lts::relation::{Holds, Relation, relate};
//! use iolite_lts::{LtsBuilder, QuiescencePolicy, StateId};
//!
//! let system = |steps: &[(usize, &str, usize)]| {
//!     let mut builder = LtsBuilder::new();
//!     for &(from, label, to) in steps {
//!         builder.transition_text(StateId::new(from), label, StateId::new(to));
//!     }
//!     builder.build().unwrap()
//! };
//! let tea = system(&[(0, "?coin", 1), (1, "?coin", 1), (1, "!tea", 0)]);
//! let mute = system(&[(0, "?coin", 0)]);
//! let policy = QuiescencePolicy::Livelock;
//!
//! assert_eq!(relate(Relation::Ioco, &tea, &tea, policy, None)?.holds, Holds::Yes);
//!
//! // After a coin the specification does not allow silence.
//! let answer = relate(Relation::Ioco, &mute, &tea, policy, None)?;
//! let Holds::No(found) = answer.holds else { panic!("no tea comes") };
//! let trace: Vec<String> = found[0].trace.iter().map(|&l| answer.labels.text(l)).collect();
//! assert_eq!(trace, ["?coin"]);
//! # Ok::<(), iolite_lts::relation::RelateError>(())
//! ```

mod checks;
mod closure;
mod completed;
mod composition;
mod delta_trace;
mod determinised;
mod explore;
mod extended;
mod graph;
mod in_order;
mod interned;
mod label;
mod level_order;
mod lts;
mod product;
mod relabelled;
pub mod relation;
mod row_block;
mod scc;
mod semantics;
mod set_table;
mod straces;
mod suspension;
mod system;

pub use checks::{Nondeterminism, missing_input, nondeterminism};
use closure::Closure;
pub use completed::{Completed, Completion};
pub use composition::{Composition, GateMismatch, Gates};
pub use delta_trace::DeltaTrace;
pub use determinised::{DEFAULT_MEMO_BYTES, Determinised, SetMembers};
pub use explore::{BudgetExceeded, StateNames, determinise, explore};
pub use extended::Extended;
pub use graph::{Predecessors, coreach, reachable, restrict};
pub use in_order::in_order;
pub use interned::Interned;
pub use label::{Label, LabelId, LabelKind, Labels};
pub use level_order::LevelOrder;
pub use lts::{BuildError, Lts, LtsBuilder, StateId, Step};
pub use product::Product;
pub use relabelled::Relabelled;
pub use scc::Tarjan;
pub use semantics::Semantics;
pub use set_table::SetId;
pub use straces::straces;
pub use suspension::{Quiescence, QuiescencePolicy, Suspension};
pub use system::System;
