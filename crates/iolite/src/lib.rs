//! Iolite tests real systems against formal models and says, for each verdict, what it proves.
//!
//! [`Model`] and [`Tests`] are for a crate that tests itself against a model in its own `#[test]`s.

mod coverage_guide;
mod embedded;

pub use coverage_guide::CoverageGuide;
pub use embedded::{EmbeddedError, Model, Passed, Tests};
pub use iolite_exec::SystemUnderTest;
