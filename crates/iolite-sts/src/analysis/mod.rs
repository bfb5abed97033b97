//! Verification of models with data.

pub mod domain;
