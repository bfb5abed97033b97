//! Properties of executions, and what testing can say about them.
//!
//! An *r-property* is a pair of a finitary and an infinitary language \[PROP12\]. It is
//! written as a Streett automaton ([`streett`]), as A, E, R or P over a regular language
//! ([`regular`], [`language`]), or as a formula of linear temporal logic ([`ltl`]); all become Streett
//! automata. On these the crate decides the class in the Safety–Progress hierarchy ([`class`],
//! [`normalise`]), which verdicts testing can reach ([`partition`], [`determinacy`], [`testability`]),
//! and builds testers ([`canonical_tester`]) and monitors ([`monitor`]).
//!
//! Safety properties and scenarios beside a specification are automata that run along with it:
//! [`observer`] \[SAFE04\] and [`purpose`]; [`safety_observer`] makes the first of an r-property.
//!
//! The crate opens no file, reads no clock, drives no system under test and prints nothing; it turns
//! text into automata and automata into answers. Guards on values make letters ([`guarded_action`]); which
//! of them are possible is a question to the solver of `iolite-expr`.
//!
//! "Every operation is logged" is a response property, and no test decides it:
//!
//! ```
//! use std::sync::Arc;
//!
//! use iolite_property::ltl::Options;
//! use iolite_property::{Alphabet, Basis, Class, Ltl, Relation, Testability};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let sigma = Arc::new(Alphabet::of_names(["?op", "!log"])?);
//! let formula = Ltl::parse("G(?op -> F !log)", &sigma)?;
//! let found = formula.translate(&sigma, Options::default())?;
//! assert_eq!(found.class.class, Class::Response);
//! let testable = Testability::new(&found.automaton, Relation::Inclusion, false, Basis::default())?;
//! assert!(!testable.is_testable());
//! # Ok(())
//! # }
//! ```

pub mod acceptance;
pub mod alphabet;
pub mod alphabet_map;
pub mod canonical_tester;
pub mod class;
mod colours;
pub mod conformance;
mod copy_search;
mod cycles;
pub mod determinacy;
pub mod diagram;
pub mod finitary_part;
pub mod guarded_action;
mod labelling;
pub mod language;
pub mod ltl;
pub mod minimisation;
pub mod monitor;
pub mod normalise;
pub mod observer;
pub mod omega;
pub mod partition;
mod property_class;
pub mod purpose;
mod reduction;
mod refinement;
pub mod regular;
mod residual;
pub mod safety_observer;
pub mod star_automaton;
pub mod state_set;
pub mod streett;
pub mod structure;
pub mod test_selection;
pub mod testability;
pub mod verdict;
mod zielonka;

pub use alphabet::{Alphabet, Letter};
pub use alphabet_map::{ActionPattern, AlphabetMap, Image, Predicate};
pub use canonical_tester::{CanonicalTester, Debt, PropertyTestCase, TesterError, TesterOptions};
pub use class::{Class, Classification, SemanticClass};
pub use determinacy::{Determinacy, Reading};
pub use guarded_action::{EventReading, GuardError, GuardedAction};
pub use language::Operator;
pub use ltl::{Ltl, LtlError};
pub use minimisation::Minimised;
pub use monitor::{Monitor, Said};
pub use normalise::Normalised;
pub use observer::{Observer, ObserverError, ObserverRules};
pub use omega::OmegaAutomaton;
pub use partition::{Partition, Quality};
pub use purpose::{Purpose, PurposeError};
pub use regular::{Dfa, Regular};
pub use star_automaton::{AutomatonSource, StarAutomaton, StarError};
pub use state_set::StateSet;
pub use streett::{Pair, StreettAutomaton};
pub use structure::{AutomatonError, Lasso, StateId, Structure};
pub use test_selection::{Selection, SelectionError};
pub use testability::{Basis, Obstacle, Obtainable, Relation, Testability, Witness};
pub use verdict::{PropertyVerdict, Quiescence};
