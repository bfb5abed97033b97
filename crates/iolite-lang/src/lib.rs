//! The `.iol` language: syntax, checks, lowering, layout, and diagnostics.
//!
//! Text becomes a tree ([`parse`]), the tree is checked ([`check()`]) and lowered: finite systems,
//! behaviour expressions and compositions to the kernel's systems ([`lower_system`],
//! [`lower_lazily`]), observers and purposes to automata over the alphabet of their system
//! ([`lower_observer`], [`lower_purpose`]), systems with data to symbolic models ([`lower_data`]), and
//! observers and purposes with data to automata over their gates ([`lower_data_observer`],
//! [`lower_data_purpose`]). Parsing never stops at the first mistake; every diagnostic has a place, a
//! stable code and, where there is one, a hint.
//!
//! This crate turns text into models. It executes nothing, opens no file and reads no clock. Foreign
//! formats are the business of `iolite-formats`, which shares the diagnostics of this crate.
//!
//! ```
//! use iolite_lang::{DEFAULT_BUDGET, diagnostic, lower_system, parse_and_check};
//!
//! let (file, found) = parse_and_check(
//!     "system Candy { input shil output liq
//!        initial state Ready { ?shil -> Paid }
//!        state Paid { !liq -> Ready } }",
//! );
//! assert!(!diagnostic::has_errors(&found));
//! let candy = lower_system(&file, "Candy", DEFAULT_BUDGET).unwrap();
//! assert_eq!(candy.state_count(), 2);
//! ```

pub mod check;
pub mod codes;
pub mod diagnostic;
pub mod fmt;
mod gate;
mod gate_parameters;
mod lower;
pub mod mutation;
mod names;
mod render;
mod span;
pub mod syntax;
mod watched;

pub use check::{check, parse_and_check, parse_and_check_bytes};
pub use codes::Code;
pub use diagnostic::{Diagnostic, Loaded, Rejected, Severity};
pub use lower::{
    ActionLetters, ActionSignature, Automaton, AutomatonState, DEFAULT_BUDGET, DataNames,
    DataObserver, DataPurpose, MOST_COMPONENTS, ObserverAutomaton, PurposeAutomaton,
    action_letters, data_lints, data_observer_lints, data_unreached, guard_lints, has_data,
    lower_data, lower_data_observer, lower_data_purpose, lower_lazily, lower_observer,
    lower_property, lower_purpose, lower_system, lower_test, lower_test_over, lower_traces,
    parse_action, parse_value, property_alphabet, systems, unfold_data,
};
pub use names::Names;
pub use render::{Style, render};
pub use span::{LineIndex, Span};
pub use syntax::{File, parse, parse_bytes};
pub use watched::{
    declares_labels, is_instance_of, missing_actions, named_instances, watched_system,
};
