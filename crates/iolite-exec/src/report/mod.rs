//! Readers of the event stream: for people, for machines, for build servers.

mod console;
mod json_lines;
mod junit;

pub use console::Console;
pub use json_lines::JsonLines;
pub use junit::JUnit;
