//! Test cases with data [SYM04, §4 and §5]: the JSON in which suites keep them, and what other tools and
//! people want of them.

mod function;
mod identifiers;
pub mod iol;
pub mod json;
mod sort;
mod term;
pub mod ttcn3;
