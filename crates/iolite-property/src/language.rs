//! The language view: the operators A, E, R, P over a regular ψ, with their finitary partners
//! [PROP12, §4.2 and app. A]. Boolean combinations are those of the automata.

use crate::cycles::cyclic_components;
use crate::regular::Dfa;
use crate::state_set::StateSet;
use crate::streett::{Pair, StreettAutomaton};
use crate::structure::{AutomatonError, StateId, Structure};

/// One of the four operators; as an r-property always the pair (`X_f(ψ)`, X(ψ)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// A: all prefixes are in ψ. Safety.
    Always,
    /// E: some prefix is in ψ. Guarantee.
    Eventually,
    /// R: infinitely many prefixes are in ψ. Response.
    Recurrently,
    /// P: all but finitely many prefixes are in ψ. Persistence.
    Persistently,
}

impl Operator {
    /// The operator's automaton, in the shape of its class.
    ///
    /// The empty sequence is a prefix: A(ψ) is empty unless ε ∈ ψ [PROP12, def. 16].
    /// (Example 1 lets A(ψ₁) be a^ω + a⁺·b^ω; by the definition b^ω belongs to it as well.)
    pub fn apply(self, psi: &Dfa) -> Result<StreettAutomaton, AutomatonError> {
        let s = &psi.structure;
        let sigma = s.alphabet().clone();
        let holds = |q: StateId| psi.accepting.contains(q);
        match self {
            Self::Always => {
                let enter = |q: StateId, ok: bool| (ok && holds(q)).then_some(q);
                latched(
                    &sigma,
                    enter(s.initial(), true),
                    |q, l| q.and_then(|q| enter(s.step(q, l), true)),
                    true,
                )
            }
            Self::Eventually => {
                let enter = |q: StateId| (!holds(q)).then_some(q);
                latched(
                    &sigma,
                    enter(s.initial()),
                    |q, l| q.and_then(|q| enter(s.step(q, l))),
                    false,
                )
            }
            Self::Recurrently => {
                let n = s.len();
                let recurrent = recurrent_part(s, &psi.accepting);
                let pair = Pair {
                    recurrent,
                    persistent: StateSet::empty(n),
                };
                Ok(StreettAutomaton::new(s.clone(), vec![pair])?.reduced())
            }
            Self::Persistently => {
                let n = s.len();
                let persistent = persistent_part(s, &psi.accepting);
                let pair = Pair {
                    recurrent: StateSet::empty(n),
                    persistent,
                };
                Ok(StreettAutomaton::new(s.clone(), vec![pair])?.reduced())
            }
        }
    }
}

/// A run of ψ's automaton until the latch falls (None), which is final.
fn latched(
    sigma: &std::sync::Arc<crate::alphabet::Alphabet>,
    start: Option<StateId>,
    mut step: impl FnMut(Option<StateId>, crate::alphabet::Letter) -> Option<StateId>,
    persistent: bool,
) -> Result<StreettAutomaton, AutomatonError> {
    let (structure, meaning) = Structure::explore(sigma.clone(), start, usize::MAX, |&q, l| {
        Ok::<_, AutomatonError>(step(q, l))
    })?;
    let n = structure.len();
    let pair = if persistent {
        let persistent = StateSet::of(n, |q| meaning[q.index()].is_some());
        Pair {
            recurrent: StateSet::empty(n),
            persistent,
        }
    } else {
        let recurrent = StateSet::of(n, |q| meaning[q.index()].is_none());
        Pair {
            recurrent,
            persistent: StateSet::empty(n),
        }
    };
    Ok(StreettAutomaton::new(structure, vec![pair])?.reduced())
}

/// `R_f` on the states: those of ψ from which infinitely many continuations are in ψ
/// [PROP12, def. 17].
pub(crate) fn recurrent_part(structure: &Structure, psi: &StateSet) -> StateSet {
    let all: Vec<StateId> = structure.states().collect();
    let mut pump = StateSet::empty(structure.len());
    for q in cyclic_components(structure, &all).into_iter().flatten() {
        pump.insert(q);
    }
    let pump = pump.intersection(&structure.co_reach(psi));
    psi.intersection(&structure.co_reach(&pump))
}

/// `P_f` on the states: those of ψ from which a sequence can be reached that has continuations
/// staying in ψ for ever.
///
/// That is how the sentence below definition 17 says it. The formula there asks only for one continuation in ψ
/// of each length, not for a chain of them; on that reading `P_f(ψ)` could hold where no run stays in ψ: of ψ = ε + a*·b
/// it holds for ε, although P(ψ) is empty.
pub(crate) fn persistent_part(structure: &Structure, psi: &StateSet) -> StateSet {
    let inside: Vec<StateId> = psi.iter().collect();
    let mut stay = StateSet::empty(structure.len());
    for q in cyclic_components(structure, &inside).into_iter().flatten() {
        stay.insert(q);
    }
    psi.intersection(&structure.co_reach(&stay))
}
