//! Numbers of things, for people.

use std::fmt::Display;

/// A number of things: `1 error`, `2 errors`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let plural = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
