//! The Conference Protocol experiment of [IOCO99, §5], rebuilt: a chat box over UDP, one implementation
//! and 27 mutants of it.
//!
//! `cargo run --release -p conference` runs the whole experiment and writes its table.

mod driver;
mod entity;
mod experiment;
mod in_step;
mod server;
mod suites;

pub use driver::Driver;
pub use entity::{Entity, FAULTS, NAMES, Sap, Sent};
pub use experiment::{Detection, Experiment, Row};
pub use in_step::InStep;
pub use server::Server;
pub use suites::{Score, Suite};
