//! An automaton in the shape of the property's semantic class.

use crate::acceptance::{Colours, Condition};
use crate::alphabet::Letter;
use crate::class::{Class, SemanticClass};
use crate::cycles::{CycleForest, cyclic_components};
use crate::determinacy::Liveness;
use crate::omega::OmegaAutomaton;
use crate::reduction::Reduced;
use crate::state_set::StateSet;
use crate::streett::{Pair, StreettAutomaton};
use crate::structure::{AutomatonError, DEFAULT_BUDGET, StateId, Structure};

/// How many times as large a parity automaton may be before pairs on the spot are preferred unseen.
const MUCH_LARGER: usize = 4;

/// A property in the shape of its lowest class.
#[derive(Clone, Debug)]
pub struct Normalised {
    /// The same infinitary part, in the shape that definition 5 asks of the class, with the
    /// finite acceptance that definition 3 gives this shape.
    pub automaton: StreettAutomaton,
    /// The class.
    pub class: SemanticClass,
    /// A shortest finite sequence on which the finitary part had to change; none if it is the
    /// same too.
    pub finite_change: Option<Vec<Letter>>,
}

impl Normalised {
    /// Normalises a Streett automaton.
    pub fn new(automaton: &StreettAutomaton) -> Result<Self, AutomatonError> {
        Self::of_omega(&automaton.reachable_part().to_omega(), DEFAULT_BUDGET)
    }

    /// Normalises any deterministic automaton; all its states must be reachable.
    pub(crate) fn of_omega(omega: &OmegaAutomaton, budget: usize) -> Result<Self, AutomatonError> {
        let forest = omega.forest()?;
        let class = SemanticClass::of_forest(&omega.structure, &forest);
        let automaton = match class.class {
            Class::SafetyAndGuarantee | Class::Safety => {
                let live = Liveness::of_forest(&omega.structure, &forest).accepting;
                plain(omega, StateSet::empty, |_| live)?
            }
            Class::Guarantee => {
                let sure = Liveness::of_forest(&omega.structure, &forest)
                    .rejecting
                    .complement();
                plain(omega, |_| sure, StateSet::empty)?
            }
            Class::Obligation(m) => obligation(omega, &forest, m)?,
            Class::Response | Class::Persistence | Class::Reactivity(_) => {
                above_obligation(omega, &forest, class.class, budget)?
            }
        };
        let finite_change = difference(omega, &automaton);
        Ok(Self {
            automaton,
            class,
            finite_change,
        })
    }
}

fn plain(
    omega: &OmegaAutomaton,
    recurrent: impl FnOnce(usize) -> StateSet,
    persistent: impl FnOnce(usize) -> StateSet,
) -> Result<StreettAutomaton, AutomatonError> {
    let n = omega.structure.len();
    let pair = Pair {
        recurrent: recurrent(n),
        persistent: persistent(n),
    };
    Ok(StreettAutomaton::new(omega.structure.clone(), vec![pair])?.reduced())
}

/// Levels that never rise along a run, even ones accepting: the least such colouring, which gives
/// the minimal weak automaton [Löding 2001]. Pair j is broken on the j-th odd level only.
fn obligation(
    omega: &OmegaAutomaton,
    forest: &CycleForest,
    m: usize,
) -> Result<StreettAutomaton, AutomatonError> {
    let n = omega.structure.len();
    let mut level = vec![0_usize; n];
    for (states, root) in &forest.components {
        let below = states
            .iter()
            .flat_map(|&q| omega.structure.row(q))
            .filter(|q| states.binary_search(q).is_err())
            .map(|q| level[q.index()])
            .max()
            .unwrap_or(0);
        let here = match root.map(|r| forest.cycles[r].accepting) {
            None => below,
            Some(accepting) => below + usize::from((below % 2 == 0) != accepting),
        };
        for q in states {
            level[q.index()] = here;
        }
    }
    let pairs = (0..m)
        .map(|j| Pair {
            recurrent: StateSet::of(n, |q| level[q.index()] < 2 * j + 1),
            persistent: StateSet::of(n, |q| level[q.index()] > 2 * j + 1),
        })
        .collect();
    Ok(StreettAutomaton::new(omega.structure.clone(), pairs)?.reduced())
}

/// The smallest automaton that is found of those in the shape of the class.
fn above_obligation(
    omega: &OmegaAutomaton,
    forest: &CycleForest,
    class: Class,
    budget: usize,
) -> Result<StreettAutomaton, AutomatonError> {
    let m = match class {
        Class::Reactivity(m) => m,
        _ => 1,
    };
    // A parity automaton multiplies states that several pairs do without.
    let spot = match class {
        Class::Response => marks_on_the_spot(omega, forest)
            .map(|marked| with_marks(omega.structure.clone(), marked, true)),
        Class::Persistence => {
            let negation = omega.negation();
            marks_on_the_spot(&negation, &negation.forest()?)
                .map(|marked| with_marks(omega.structure.clone(), marked, false))
        }
        _ => omega
            .pairs_on_the_spot()
            .filter(|pairs| pairs.len() == m)
            .map(|pairs| Ok(StreettAutomaton::new(omega.structure.clone(), pairs)?.reduced())),
    };
    let spot = spot.transpose()?;
    if omega.structure.alphabet().is_wide() {
        // States are made one by trial over tables only.
        if let Some(spot) = spot {
            return Ok(spot);
        }
        let (structure, meaning) = omega.parity(budget)?;
        let priority: Vec<u32> = meaning.iter().map(|b| b.2).collect();
        return of_priorities(structure, &priority, class);
    }
    let limit = spot
        .as_ref()
        .map_or(budget, |s| budget.min(MUCH_LARGER * s.structure().len()));
    let reduced = match (Reduced::new(omega, limit), &spot) {
        (Err(AutomatonError::TooManyStates(_)), Some(spot)) => return Ok(spot.clone()),
        (other, _) => other?,
    };
    let Reduced {
        structure,
        priority,
    } = reduced;
    let found = of_priorities(structure, &priority, class)?;
    Ok(match spot {
        Some(spot) if spot.structure().len() < found.structure().len() => spot,
        _ => found,
    })
}

/// In the shape of a class above obligation.
fn of_priorities(
    structure: Structure,
    priority: &[u32],
    class: Class,
) -> Result<StreettAutomaton, AutomatonError> {
    let n = structure.len();
    let marked = |p: u32| StateSet::of(n, |q| priority[q.index()] == p);
    match class {
        Class::Response => with_marks(structure, marked(0), true),
        Class::Persistence => with_marks(structure, marked(1), false),
        _ => {
            let pairs = pairs_of_priorities(n, priority);
            Ok(StreettAutomaton::new(structure, pairs)?.reduced())
        }
    }
}

/// A pair for each odd priority.
pub(crate) fn pairs_of_priorities(n: usize, priority: &[u32]) -> Vec<Pair> {
    let highest = priority.iter().copied().max().unwrap_or(0);
    (1..=highest)
        .step_by(2)
        .map(|bad| Pair {
            recurrent: StateSet::of(n, |q| {
                let p = priority[q.index()];
                p < bad && p.is_multiple_of(2)
            }),
            persistent: StateSet::of(n, |q| priority[q.index()] != bad),
        })
        .collect()
}

fn with_marks(
    structure: Structure,
    marked: StateSet,
    recurrent: bool,
) -> Result<StreettAutomaton, AutomatonError> {
    let n = structure.len();
    let pair = if recurrent {
        Pair {
            recurrent: marked,
            persistent: StateSet::empty(n),
        }
    } else {
        Pair {
            recurrent: StateSet::empty(n),
            persistent: marked.complement(),
        }
    };
    Ok(StreettAutomaton::new(structure, vec![pair])?.reduced())
}

/// Recurrent states without any change of the transitions, where these suffice: the states on
/// cycles none of which rejects. They do iff no accepting cycle avoids them.
fn marks_on_the_spot(omega: &OmegaAutomaton, forest: &CycleForest) -> Option<StateSet> {
    let n = omega.structure.len();
    let mut rejected = StateSet::empty(n);
    for cycle in forest.cycles.iter().filter(|c| !c.accepting) {
        for &q in &cycle.states {
            rejected.insert(q);
        }
    }
    let condition = Condition::new(&omega.acceptance);
    let inside: Vec<StateId> = rejected.iter().collect();
    // Response: inside a maximal rejecting cycle every cycle rejects; so an accepting cycle among
    // these states, if any, shows in a component of theirs.
    let accepting = |states: &Vec<StateId>| {
        let colours = states.iter().map(|q| &omega.colours[q.index()]);
        condition.accepts(&Colours::union_of(colours))
    };
    let fits = !cyclic_components(&omega.structure, &inside)
        .iter()
        .any(accepting);
    fits.then(|| {
        StateSet::of(n, |q| {
            forest.root_of[q.index()].is_some() && !rejected.contains(q)
        })
    })
}

/// A shortest finite sequence on which the two differ.
fn difference(omega: &OmegaAutomaton, automaton: &StreettAutomaton) -> Option<Vec<Letter>> {
    let (product, meaning) = omega
        .structure
        .product(automaton.structure(), usize::MAX)
        .ok()?;
    let differ = StateSet::of(product.len(), |s| {
        let (p, q) = meaning[s.index()];
        omega.finite.contains(p) != automaton.finite().contains(q)
    });
    product.shortest(product.initial(), &differ)
}
