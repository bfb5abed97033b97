//! The canonical layout of `.iol` files.
//!
//! Two spaces a level, one transition a line, one empty line at most between things. Comments stay:
//! one that stood on the line of something stays behind it, every other goes on a line of its own
//! before what followed it.

mod expr;
mod layout;
mod text;

pub(crate) use text::{behaviour_text, gate as gate_text};

use crate::syntax::ast::{Expr, File, Transition};
use crate::{Diagnostic, Span, diagnostic};

/// The canonical layout of a text, or its errors: a file that does not parse is left alone.
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let (file, found) = crate::parse(text);
    let only_empty = found.iter().all(|d| d.code == crate::codes::NO_DECLARATION);
    if diagnostic::has_errors(&found) && !only_empty {
        return Err(found);
    }
    let laid_out = layout::file(&file);
    // The layout has more parentheses than need be, and their nesting is bounded.
    if let Some(deep) = crate::parse(&laid_out).1.into_iter().find(is_too_deep) {
        let place = file
            .items
            .first()
            .map_or(Span::default(), |i| i.name().span);
        let message = format!("{}, once it is laid out", deep.message);
        return Err(vec![Diagnostic::error(deep.code, place, message)]);
    }
    Ok(laid_out)
}

fn is_too_deep(diagnostic: &Diagnostic) -> bool {
    diagnostic.code == crate::codes::TOO_DEEP
}

/// A transition as the layout has it.
pub(crate) fn transition_text(transition: &Transition) -> String {
    layout::transition(transition)
}

/// An expression as the layout has it.
pub(crate) fn expr_text(e: &Expr) -> String {
    expr::expr(e)
}

/// The canonical layout of a tree.
pub fn format_file(file: &File) -> String {
    layout::file(file)
}

/// What a transition waits for and does, `event [guard] / effect`, without the state it leads to.
pub fn step_text(transition: &Transition) -> String {
    layout::step(transition)
}
