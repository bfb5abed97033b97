//! Drawings as SVG, laid out in layers from top to bottom.
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

use self::layers::Layers;
use crate::drawing::Drawing;

/// A drawing that cannot be laid out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SvgError {
    /// Nobody could read the drawing, and the layout would take long.
    #[error("a drawing of {states} states and {transitions} transitions would not be readable")]
    TooBig {
        /// Its nodes.
        states: usize,
        /// Its edges.
        transitions: usize,
    },
    /// The sink failed.
    #[error("cannot write: the sink failed")]
    Sink(#[from] std::fmt::Error),
}

/// Places for edges and labels that a drawing may need at most.
const MOST_PLACES: usize = 60_000;
const MOST_STATES: usize = 3000;

/// Lays a drawing out and writes it.
pub fn write(drawing: &Drawing, out: &mut dyn Write) -> Result<(), SvgError> {
    let too_big = || SvgError::TooBig {
        states: drawing.nodes.len(),
        transitions: drawing.edges.len(),
    };
    if drawing.nodes.len() > MOST_STATES || drawing.edges.len() > MOST_PLACES {
        return Err(too_big());
    }
    let mut layers = Layers::new(drawing, MOST_PLACES).ok_or_else(too_big)?;
    order::reduce_crossings(&mut layers);
    let layout = place::place(&layers);
    draw::draw(drawing, &layers, &layout, out)?;
    Ok(())
}

#[cfg(test)]
mod tests;
