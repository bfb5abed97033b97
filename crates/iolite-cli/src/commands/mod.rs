//! One function a command.

pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod classify;
pub(crate) mod derive;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod explain_code;
pub(crate) mod fmt;
pub(crate) mod merge;
pub(crate) mod monitor;
mod monitor_properties;
pub(crate) mod mutate;
pub(crate) mod recorded;
pub(crate) mod relate;
mod relate_matrix;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod show;
mod show_property;
pub(crate) mod simulate;
mod simulate_data;
pub(crate) mod test;
mod test_suite;
pub(crate) mod testable;
pub(crate) mod tester;
pub(crate) mod verify;
