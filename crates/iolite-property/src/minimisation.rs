//! The smallest deterministic automaton of a property, on request: an exact search for small ones.
//!
//! A state of any deterministic automaton for the property stands for one residual: the infinite words that
//! may follow, and the finite words that may. So there are as many states as residuals at least, and what
//! is to be found is how many copies each residual needs and which copy a step leads to. A run changes the
//! component of its residual finitely often, so each component of residuals is searched for itself, and a
//! smallest automaton for it is strongly connected.
//!
//! The search is for steps between copies, with more and more states in all (`copy_search.rs`), from as many on as are
//! known to be needed: one a residual, and more where the letters that recur decide (`zielonka.rs`). Part of an
//! automaton is given up as soon as no priorities on its states are right for the cycles that it has already, see
//! `labelling.rs`; more steps only add cycles. The first automaton that is found is the smallest with priorities on
//! its states, that is, with nested pairs; priorities, and so pairs, are as few as the language allows
//! [Carton & Maceiras 1999].

use std::collections::BTreeMap;

use crate::copy_search::{CopySearch, OutOfFuel, Part, Task};
use crate::labelling::{ABSENT, Fuel, Reference, Table};
use crate::normalise::pairs_of_priorities;
use crate::reduction::Columns;
use crate::residual::classes;
use crate::state_set::StateSet;
use crate::streett::StreettAutomaton;
use crate::structure::{AutomatonError, DEFAULT_BUDGET, StateId, Structure};
use crate::zielonka::states_needed;

/// Steps that one search may take unless its caller says otherwise: some ten seconds.
pub const DEFAULT_STEPS: usize = 1 << 29;
/// An automaton for the same finite and infinite words.
#[derive(Clone, Debug)]
pub struct Minimised {
    /// The smallest that was found; not larger than the one that was given.
    pub automaton: StreettAutomaton,
    /// Whether no automaton with nested pairs has fewer states; otherwise the search was given up.
    pub is_smallest: bool,
    /// How many states every automaton with nested pairs has at least, as far as that was found out.
    pub at_least: usize,
}

impl Minimised {
    /// Searches with so many steps at most.
    pub fn new(automaton: &StreettAutomaton, steps: usize) -> Result<Self, AutomatonError> {
        let given = automaton.reachable_part().reduced();
        let given_up = |automaton, at_least| Self {
            automaton,
            is_smallest: false,
            at_least,
        };
        let smallest = |automaton: StreettAutomaton| Self {
            is_smallest: true,
            at_least: automaton.structure().len(),
            automaton,
        };
        let residuals = match FullResiduals::new(&given) {
            // Too many states to be compared.
            Err(AutomatonError::TooManyStates(_)) => return Ok(given_up(given, 1)),
            other => other?,
        };
        let components = residuals.components();
        let mut fuel = Fuel(steps);
        let mut parts: Vec<Part> = Vec::new();
        let mut room = given.structure().len();
        let mut still_needed: usize = components.iter().map(Vec::len).sum();
        for component in &components {
            still_needed -= component.len();
            let most = room.saturating_sub(still_needed);
            let component = Component::new(&residuals, component);
            match component.smallest(most, &mut fuel) {
                Found::Part(part) => {
                    room -= part.class.len();
                    parts.push(part);
                }
                // Pairs that are not nested may do with fewer states.
                Found::OnlyLarger => return Ok(smallest(given)),
                Found::NotKnown { needed } => {
                    let found: usize = parts.iter().map(|part| part.class.len()).sum();
                    return Ok(given_up(given, found + needed + still_needed));
                }
            }
        }
        Ok(smallest(residuals.assembled(&parts)?))
    }
}

/// A parity automaton for the property and the residual of each of its states, finite words included.
struct FullResiduals {
    reference: Reference,
    columns: Columns,
    /// The residual of each state.
    class: Vec<u32>,
    /// By residual and column: the residual after the step.
    next: Vec<u32>,
    /// By residual: whether the finite word that leads here is accepted, and whether it is left open.
    marks: Vec<(bool, bool)>,
    initial: u32,
    alphabet: std::sync::Arc<crate::alphabet::Alphabet>,
}

impl FullResiduals {
    fn new(automaton: &StreettAutomaton) -> Result<Self, AutomatonError> {
        let (structure, meaning) = automaton.to_omega().parity(DEFAULT_BUDGET)?;
        let table = structure.table()?;
        let next: Vec<u32> = table.iter().map(|to| to.index() as u32).collect();
        let wide = Reference {
            priority: next.iter().map(|&q| meaning[q as usize].2).collect(),
            table: Table {
                letters: structure.alphabet().len(),
                initial: structure.initial().index() as u32,
                next,
            },
        };
        let columns = Columns::new(&wide);
        let reference = columns.narrow(&wide);
        let infinitary = classes(&reference)?;
        let marks = |q: StateId| {
            let old = meaning[q.index()].0;
            (
                automaton.finite().contains(old),
                automaton.open().contains(old),
            )
        };
        let class = structure.bisimulation(|q| (infinitary[q.index()], marks(q)));
        let count = class.iter().max().map_or(0, |&c| c as usize + 1);
        let k = reference.table.letters;
        let mut of_class = vec![(false, false); count];
        let mut next = vec![0; count * k];
        for q in structure.states() {
            let c = class[q.index()] as usize;
            of_class[c] = marks(q);
            for (l, &to) in reference.table.row(q.index() as u32).iter().enumerate() {
                next[c * k + l] = class[to as usize];
            }
        }
        Ok(Self {
            initial: class[structure.initial().index()],
            alphabet: structure.alphabet().clone(),
            reference,
            columns,
            class,
            next,
            marks: of_class,
        })
    }

    /// The residuals, those together that lead to one another.
    fn components(&self) -> Vec<Vec<u32>> {
        let table = Table {
            letters: self.reference.table.letters,
            initial: self.initial,
            next: self.next.clone(),
        };
        let mut components: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (class, component) in table.components().into_iter().enumerate() {
            components.entry(component).or_default().push(class as u32);
        }
        components.into_values().collect()
    }

    /// The whole automaton: steps that leave a component lead to the first copy of their residual.
    fn assembled(&self, parts: &[Part]) -> Result<StreettAutomaton, AutomatonError> {
        let mut first: BTreeMap<u32, u32> = BTreeMap::new();
        let (mut class, mut priority) = (Vec::new(), Vec::new());
        for part in parts {
            for (&c, &p) in part.class.iter().zip(&part.priority) {
                first.entry(c).or_insert(class.len() as u32);
                class.push(c);
                priority.push(p);
            }
        }
        let k = self.reference.table.letters;
        let mut next = Vec::new();
        let mut start = 0;
        for part in parts {
            for (state, &c) in part.class.iter().enumerate() {
                for l in 0..k {
                    next.push(match part.next[state * k + l] {
                        ABSENT => first[&self.next[c as usize * k + l]],
                        inside => start + inside,
                    });
                }
            }
            start += part.class.len() as u32;
        }
        let table = Table {
            letters: k,
            initial: first[&self.initial],
            next,
        };
        let (table, old) = table.reachable();
        let structure: Structure = self.columns.widen(&table, self.alphabet.clone())?;
        let n = structure.len();
        let priority: Vec<u32> = old.iter().map(|&q| priority[q as usize]).collect();
        let marks = |q: StateId| self.marks[class[old[q.index()] as usize] as usize];
        let finite = StateSet::of(n, |q| marks(q).0);
        let open = StateSet::of(n, |q| marks(q).1);
        let pairs = pairs_of_priorities(n, &priority);
        Ok(StreettAutomaton::new(structure, pairs)?
            .with_finite(finite)
            .with_open(&open))
    }
}

/// A component of residuals, and the language of the words that stay in it.
struct Component<'a> {
    residuals: &'a FullResiduals,
    classes: &'a [u32],
    reference: Reference,
    /// The residual of each state of the reference that counts.
    residual: Vec<u32>,
}

impl<'a> Component<'a> {
    fn new(residuals: &'a FullResiduals, classes: &'a [u32]) -> Self {
        let whole = &residuals.reference;
        let inside = |q: u32| classes.binary_search(&residuals.class[q as usize]).is_ok();
        let steps = (0..whole.table.len() as u32).flat_map(|q| {
            let row = whole.table.row(q).iter();
            row.map(move |&to| if inside(q) && inside(to) { to } else { ABSENT })
        });
        let mut table = Table {
            letters: whole.table.letters,
            initial: 0,
            next: steps.collect(),
        };
        // Where no way leads out any more there are all residuals of the component, and the fewest states.
        let component = table.components();
        let states = (0..table.len() as u32).filter(|&q| inside(q));
        table.initial = states
            .min_by_key(|&q| component[q as usize])
            .expect("a residual has a state");
        // What its start does not lead to need not be looked at.
        let mut residual = vec![ABSENT; table.len()];
        let mut todo = vec![table.initial];
        while let Some(q) = todo.pop() {
            if residual[q as usize] != ABSENT {
                continue;
            }
            residual[q as usize] = residuals.class[q as usize];
            todo.extend(table.row(q).iter().filter(|&&to| to != ABSENT));
        }
        Self {
            residuals,
            classes,
            reference: Reference {
                table,
                priority: whole.priority.clone(),
            },
            residual,
        }
    }

    /// A smallest automaton for the component, of so many states at most.
    fn smallest(&self, most: usize, fuel: &mut Fuel) -> Found {
        let k = self.reference.table.letters;
        let next = |class: u32, letter: usize| {
            let to = self.residuals.next[class as usize * k + letter];
            let stays = self.classes.binary_search(&to).is_ok();
            if stays { to } else { ABSENT }
        };
        let task = Task {
            reference: &self.reference,
            residual: &self.residual,
            residuals: self.classes,
            next: &next,
        };
        for count in states_needed(&task, fuel)..=most {
            let search = |fuel: &mut Fuel| match CopySearch::new(&task, count) {
                Some(mut search) => search.run(fuel),
                None => Err(OutOfFuel),
            };
            if count == most {
                // There are none with fewer states, and one with as many is there; nested pairs are worth a little.
                let mut little = Fuel(fuel.0 / 16);
                return match search(&mut little) {
                    Ok(Some(part)) => Found::Part(part),
                    Ok(None) | Err(OutOfFuel) => Found::OnlyLarger,
                };
            }
            match search(fuel) {
                Ok(Some(part)) => return Found::Part(part),
                Ok(None) => {}
                Err(OutOfFuel) => return Found::NotKnown { needed: count },
            }
        }
        Found::OnlyLarger
    }
}

/// What a search comes to.
enum Found {
    Part(Part),
    /// None that has fewer states than there is room for.
    OnlyLarger,
    /// The steps are used up; so many states are needed at least.
    NotKnown {
        needed: usize,
    },
}
