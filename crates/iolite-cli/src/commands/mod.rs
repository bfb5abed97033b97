//! One function a command.

pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod classify;
pub(crate) mod completions;
pub(crate) mod derive;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod explain_code;
#[cfg(feature = "fleet")]
pub(crate) mod fleet;
pub(crate) mod fmt;
pub(crate) mod init;
mod log_input;
pub(crate) mod merge;
pub(crate) mod monitor;
pub(crate) mod monitor_logs;
mod monitor_properties;
pub(crate) mod mutate;
pub(crate) mod passes;
pub(crate) mod recorded;
pub(crate) mod relate;
mod relate_matrix;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod serve;
pub(crate) mod show;
mod show_property;
pub(crate) mod simulate;
mod simulate_walk;
pub(crate) mod suite;
pub(crate) mod test;
pub(crate) mod test_suite;
mod test_symmetric;
pub(crate) mod testable;
pub(crate) mod tester;
pub(crate) mod verify;
