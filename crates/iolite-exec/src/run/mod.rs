//! A run and a campaign: who judges, who chooses, when it ends.

pub(crate) mod adapter;
pub(crate) mod calibrate;
pub(crate) mod campaign;
pub(crate) mod confirm;
pub(crate) mod engine;
pub(crate) mod guided;
pub(crate) mod options;
pub(crate) mod pace;
pub(crate) mod patient;
pub(crate) mod quiescence;
pub(crate) mod run_outcome;
pub(crate) mod run_setup;
pub(crate) mod script;
pub(crate) mod share;
pub(crate) mod steering;
pub(crate) mod step_clock;
pub(crate) mod strategy;
pub(crate) mod symmetric;
pub(crate) mod weighted;
