//! What a verification says.

use iolite_expr::{Term, Value};

use super::invariant::Invariant;
use super::k_induction::Induction;
use super::run::Run;
use crate::iosts::{Iosts, TransitionId};
use crate::semantics::ValuedAction;

/// The answer to "is a violating location reachable?".
#[derive(Clone, Debug)]
pub enum Answer {
    /// None is, and the invariant shows it; the checker agreed.
    Proved(Proof),
    /// One is, and the run shows it; firing it step by step agreed.
    Refuted(Refutation),
    /// Neither was found out.
    Unknown {
        /// What each member of the portfolio was left with.
        left: Vec<String>,
    },
}

/// Why no violating location is reachable.
#[derive(Clone, Debug)]
pub struct Proof {
    /// An inductive invariant that excludes the violating locations.
    pub invariant: Invariant,
    /// Who found it.
    pub how: String,
    /// Transitions for which the invariant does not exclude that a guard or an effect has no value.
    /// Nothing is claimed of the values with which that happens: of constants, of inputs or of internal choices.
    pub faults: Vec<TransitionId>,
    /// The same by k-induction, where the invariant is large and that was checked too.
    pub induction: Option<Induction>,
}

/// How a violating location is reached.
#[derive(Clone, Debug)]
pub struct Refutation {
    /// The run, internal steps included.
    pub run: Run,
    /// What it shows: inputs, outputs and δ with their values.
    pub trace: Vec<ValuedAction>,
    /// Who found it.
    pub how: String,
}

impl Answer {
    /// `Some(true)` for proved, `Some(false)` for refuted.
    pub fn decided(&self) -> Option<bool> {
        match self {
            Self::Proved(_) => Some(true),
            Self::Refuted(_) => Some(false),
            Self::Unknown { .. } => None,
        }
    }
}

impl Refutation {
    /// The trace in `?a(1)`, `!x`, `delta` notation.
    pub fn texts(&self, model: &Iosts) -> Vec<String> {
        let text = |a: &ValuedAction| {
            let sigil = model.gate(a.action).kind.sigil();
            format!("{sigil}{}", model.label(a))
        };
        self.trace.iter().map(text).collect()
    }

    /// The values of the constants, by name.
    pub fn constants<'m>(&'m self, model: &'m Iosts) -> impl Iterator<Item = (&'m str, &'m Value)> {
        let names = model.constants().iter().map(|c| &*c.var.name);
        names.zip(&self.run.constants)
    }
}

impl Proof {
    /// Whether the invariant also shows that no guard and no effect is ever without a value.
    pub fn is_free_of_faults(&self) -> bool {
        self.faults.is_empty()
    }

    /// The invariant's condition at each location, in their order.
    pub fn terms<'m>(&'m self, model: &'m Iosts) -> impl Iterator<Item = (&'m str, &'m Term)> {
        let locations = model.locations();
        locations.map(|(id, l)| (&*l.name, self.invariant.at(id)))
    }
}
