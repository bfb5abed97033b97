//! Advice on what to do next, for selection strategies that want more than chance.

use crate::{ActionId, Menu, Tester};

/// A next step that leads somewhere the guide wants to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Give this stimulus, which the menu offers.
    Stimulate(ActionId),
    /// Wait for an output or δ.
    Observe,
}

/// A tester that knows a way to its goal. A hint is always one of the menu's choices, so following it
/// or not never changes what a verdict means.
pub trait Guide: Tester {
    /// The next step towards the goal among what the menu offers, or `None` when there is no goal left within reach. The system
    /// under test may choose otherwise at any time; then the next hint starts from there.
    fn hint(&mut self, menu: &Menu) -> Option<Hint>;
}

impl<T: Guide + ?Sized> Guide for Box<T> {
    fn hint(&mut self, menu: &Menu) -> Option<Hint> {
        (**self).hint(menu)
    }
}
