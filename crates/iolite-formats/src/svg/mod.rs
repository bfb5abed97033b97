//! Systems as SVG, drawn in layers from top to bottom.
//!
//! The classic layered method: reverse the edges that close cycles, put states in layers, give long
//! edges and labels places in the layers between, order each layer by barycentres, then move things
//! sideways until edges are as straight as the order allows.

#![allow(
    clippy::cast_precision_loss,
    reason = "coordinates: counts are far below 2^52"
)]

mod draw;
mod layers;
mod order;
mod place;

use std::fmt::Write;

use iolite_lts::{Lts, StateId};

use self::layers::Layers;

/// What is drawn differently.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SvgOptions {
    /// States with a double border.
    pub accepting: Vec<StateId>,
}

/// A system that cannot be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SvgError {
    /// Nobody could read the drawing, and the layout would take long.
    #[error("a drawing of {states} states and {transitions} transitions would not be readable")]
    TooBig {
        /// States of the system.
        states: usize,
        /// Transitions of the system.
        transitions: usize,
    },
    /// The sink failed.
    #[error("cannot write: the sink failed")]
    Sink(#[from] std::fmt::Error),
}

/// Places for edges and labels that a drawing may need at most.
const MOST_PLACES: usize = 60_000;
const MOST_STATES: usize = 3000;

/// Draws a system.
pub fn write(lts: &Lts, options: &SvgOptions, out: &mut dyn Write) -> Result<(), SvgError> {
    let too_big = || SvgError::TooBig {
        states: lts.state_count(),
        transitions: lts.transition_count(),
    };
    if lts.state_count() > MOST_STATES || lts.transition_count() > MOST_PLACES {
        return Err(too_big());
    }
    let mut layers = Layers::new(lts, MOST_PLACES).ok_or_else(too_big)?;
    order::reduce_crossings(&mut layers);
    let drawing = place::place(&layers);
    draw::draw(lts, options, &layers, &drawing, out)?;
    Ok(())
}

#[cfg(test)]
mod tests;
