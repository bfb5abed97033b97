//! Every foreign format, in and out: `.aut`, DOT, JSON, SVG, HOA, Java-PT's XML, TTCN-3, and the forms
//! in which test cases, test graphs, properties and their testers are kept and drawn.
//!
//! A module is a format ([`aut`], [`dot`], [`iol`], [`json`], [`svg`] for systems, [`hoa`] and
//! [`javapt`] for properties), or a thing with a format in each of its modules ([`mod@test_case`],
//! [`mod@symbolic_test_case`], [`test_graph`], [`property`], [`property_tester`]). Pictures are made of a [`drawing`]: as SVG, Mermaid
//! or `PlantUML`.
//!
//! The crate holds no semantics and opens no file: readers take bytes or text, writers give text. Input is
//! hostile: no reader trusts a number of the file for an allocation, and what is reserved follows the
//! length of the file.
//!
//! ```
//! use iolite_formats::{aut, dot};
//!
//! let text = "des (0, 2, 2)\n(0, \"?but\", 1)\n(1, \"!liq\", 0)\n";
//! let candy = aut::read(text.as_bytes(), &aut::AutOptions::default())?.value;
//! assert_eq!(candy.state_count(), 2);
//!
//! let mut drawing = String::new();
//! dot::write(&candy, &[], &mut drawing)?;
//! assert!(drawing.contains("s0 -> s1 [label=\"?but\"];"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod aut;
mod delta;
mod directions;
pub mod dot;
pub mod drawing;
pub mod hoa;
pub mod iol;
pub mod javapt;
pub mod json;
mod label_text;
pub mod property;
pub mod property_tester;
pub mod svg;
pub mod symbolic_test_case;
pub mod test_case;
pub mod test_graph;

pub use delta::DeltaPolicy;
pub use directions::{Directions, names_label};
pub use label_text::WriteError;
