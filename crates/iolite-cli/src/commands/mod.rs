//! One function a command.

pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod classify;
pub(crate) mod derive;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod explain_code;
pub(crate) mod fmt;
pub(crate) mod init;
pub(crate) mod monitor;
mod monitor_properties;
pub(crate) mod mutate;
pub(crate) mod passes;
pub(crate) mod relate;
mod relate_matrix;
pub(crate) mod replay;
pub(crate) mod show;
mod show_property;
pub(crate) mod simulate;
mod simulate_data;
pub(crate) mod suite;
pub(crate) mod test;
pub(crate) mod test_suite;
mod test_symmetric;
pub(crate) mod testable;
pub(crate) mod tester;
pub(crate) mod verify;
