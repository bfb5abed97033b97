//! Iolite tests real systems against formal models and says, for each verdict, what it proves.
//!
//! [`cli`] is the command line. It holds no semantics: it reads flags and files, calls the crates
//! that do, and tells people and scripts what they found. [`Model`] and [`Tests`] are for a crate that
//! tests itself against a model in its own `#[test]`s.

pub mod cli;
mod coverage_guide;
mod embedded;

pub use coverage_guide::CoverageGuide;
pub use embedded::{EmbeddedError, Model, Passed, Tests};
pub use iolite_exec::SystemUnderTest;
