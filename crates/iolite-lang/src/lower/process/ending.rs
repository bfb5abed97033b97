//! Where `exit` leads when no `>>` waits for it.

use std::collections::BTreeSet;

use crate::names::Names;
use crate::syntax::ast::{Behaviour, BehaviourKind, Item};

/// What becomes of the exits of a behaviour that is lowered by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) enum Ending {
    /// Nobody waits for it: an internal step to `stop`, as in `B >> stop`.
    Internal,
    /// A part that never exits runs beside it, so that it cannot.
    Never,
}

/// The definitions that may exit, by their text.
pub(in crate::lower) struct Endings<'f> {
    exiting: BTreeSet<&'f str>,
}

impl<'f> Endings<'f> {
    pub(in crate::lower) fn new(names: &Names<'f>) -> Self {
        let mut endings = Self {
            exiting: BTreeSet::new(),
        };
        let (order, _) = names.calls();
        loop {
            let before = endings.exiting.len();
            for &name in &order {
                if let Some(Item::Definition(d)) = names.get(name)
                    && endings.may_exit(&d.body)
                {
                    endings.exiting.insert(name);
                }
            }
            if endings.exiting.len() == before {
                return endings;
            }
        }
    }

    /// Whether a behaviour may exit, whatever its guards say.
    pub(in crate::lower) fn may_exit(&self, node: &Behaviour) -> bool {
        let mut parts = node.parts().iter();
        match &node.kind {
            BehaviourKind::Exit(_) => true,
            BehaviourKind::Call { name, .. } => self.exiting.contains(name.text.as_str()),
            BehaviourKind::Parallel { .. } => parts.all(|p| self.may_exit(p)),
            BehaviourKind::Enable { parts, .. } => self.may_exit(&parts[1]),
            _ => parts.any(|p| self.may_exit(p)),
        }
    }
}
