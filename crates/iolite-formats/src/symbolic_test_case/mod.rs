//! Test cases with data [SYM04, §4 and §5]: the JSON in which suites keep them, and what other tools and
//! people want of them.

mod function;
mod identifiers;
pub mod iol;
mod iol_term;
pub mod json;
mod quantifier;
mod sort;
mod term;
pub mod ttcn3;
mod ttcn3_term;
