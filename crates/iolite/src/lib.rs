//! Iolite tests real systems against formal models and says, for each verdict, what it proves.
//!
//! [`cli`] is the command line. It holds no semantics: it reads flags and files, calls the crates
//! that do, and tells people and scripts what they found.

pub mod cli;
mod coverage_guide;

pub use coverage_guide::CoverageGuide;
