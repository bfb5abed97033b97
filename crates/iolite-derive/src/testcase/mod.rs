//! Test cases, how they are derived, and what they say of a model.

pub(crate) mod arena;
pub(crate) mod by_relation;
pub(crate) mod case_work;
pub(crate) mod choice;
pub(crate) mod complete_suite;
pub(crate) mod conf_derivation;
pub(crate) mod coverage_suite;
pub(crate) mod exhaustive_derivation;
pub(crate) mod goal_test;
pub(crate) mod goal_tree;
#[cfg(test)]
pub(crate) mod goal_tree_tests;
pub(crate) mod over_strict;
pub(crate) mod passes;
pub(crate) mod random_derivation;
pub(crate) mod requirement_suite;
pub(crate) mod symbolic_test_case;
pub(crate) mod test_case;
pub(crate) mod test_case_display;
pub(crate) mod test_case_lts;
