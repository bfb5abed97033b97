//! Test cases: the JSON in which suites are kept, and what other tools and people want of them.

pub mod aut;
pub mod dot;
mod ending;
pub mod json;
mod state_text;
pub mod ttcn3;
