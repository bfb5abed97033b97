//! Readers of the event stream: for people, for machines, for build servers.

pub(crate) mod chart;
mod console;
mod counted;
pub(crate) mod hexdump;
mod json_lines;
mod junit;
mod residual_risk;
mod xml_lines;

pub use console::{Console, Extent};
pub use counted::counted;
pub use json_lines::JsonLines;
pub use junit::JUnit;
pub use residual_risk::{Discovery, ResidualRisk};
