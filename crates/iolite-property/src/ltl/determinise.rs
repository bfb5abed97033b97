//! Determinisation of Büchi automata to parity automata: Safra's construction in the form of
//! nested braces, with names kept in the order of age [Safra 1988; Piterman 2007; Redziejowski 2012].

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::alphabet::{Alphabet, Letter};
use crate::diagram::{Diagrams, Function};
use crate::labelling::{Reference, Table};
use crate::omega::OmegaAutomaton;
use crate::reduction::Reduced;
use crate::structure::{AutomatonError, Structure};

use super::buchi::{Buchi, Choices, Step};

/// Each Büchi state with the braces around it, outermost first. Braces are numbered by age, and
/// `parents` is implied: a brace's parent is the one before it in any path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Braces {
    /// Sorted by state.
    paths: Vec<(u32, Vec<u32>)>,
}

/// Older braces first; of two paths where one goes on inside the other, the deeper one.
pub(super) fn better(a: &[u32], b: &[u32]) -> bool {
    for (x, y) in a.iter().zip(b) {
        if x != y {
            return x < y;
        }
    }
    a.len() > b.len()
}

/// The next braces, and the priority of the step: even is good, odd is bad, the least one counts. The letter is
/// given by the choices that it leaves to each state inside the braces.
fn step(buchi: &Buchi, from: &Braces, choices: &[u32], neutral: u32) -> (Braces, u32) {
    let mut fresh = from
        .paths
        .iter()
        .flat_map(|(_, p)| p)
        .max()
        .map_or(0, |&b| b + 1);
    let mut paths: Vec<(u32, Vec<u32>)> = Vec::new();
    // One new brace for each brace that opens one: states that were together stay together.
    let mut opened: Vec<(Vec<u32>, u32)> = Vec::new();
    for ((_, path), &choice) in from.paths.iter().zip(choices) {
        for &(to, accepting) in buchi.steps(choice) {
            let mut path = path.clone();
            if accepting {
                let brace = if let Some(&(_, brace)) = opened.iter().find(|(p, _)| *p == path) {
                    brace
                } else {
                    opened.push((path.clone(), fresh));
                    fresh += 1;
                    fresh - 1
                };
                path.push(brace);
            }
            match paths.binary_search_by_key(&to, |(q, _)| *q) {
                Ok(i) => {
                    if better(&path, &paths[i].1) {
                        paths[i].1 = path;
                    }
                }
                Err(i) => paths.insert(i, (to, path)),
            }
        }
    }
    buchi.drop_simulated(&mut paths);
    let braces = fresh as usize;
    let mut empty = vec![true; braces];
    let mut green = vec![true; braces];
    for (_, path) in &paths {
        for &b in path {
            empty[b as usize] = false;
        }
        if let Some(&inner) = path.last() {
            green[inner as usize] = false;
        }
    }
    let mut priority = neutral;
    for b in 0..braces {
        if empty[b] {
            priority = priority.min(2 * b as u32 + 1);
        } else if green[b] {
            priority = priority.min(2 * b as u32 + 2);
        }
    }
    // Braces inside a green one vanish; then names close up.
    for (_, path) in &mut paths {
        if let Some(i) = path.iter().position(|&b| green[b as usize]) {
            path.truncate(i + 1);
        }
    }
    let mut used = vec![false; braces];
    for &b in paths.iter().flat_map(|(_, p)| p) {
        used[b as usize] = true;
    }
    // A brace that vanished inside a green one is a removal as well, but its name is younger than
    // the green one's, so the least priority is not changed by it.
    let mut name = vec![0; braces];
    let mut count = 0;
    for b in 0..braces {
        name[b] = count;
        count += u32::from(used[b]);
    }
    for (_, path) in &mut paths {
        for b in path {
            *b = name[*b as usize];
        }
    }
    (Braces { paths }, priority)
}

/// An automaton with choices: Büchi acceptance on its transitions, and rows that are functions of the letter.
pub struct NondeterministicBuchi {
    /// Where runs begin.
    pub initial: Vec<u32>,
    /// The arena of the rows.
    pub diagrams: Diagrams,
    /// One a state; the values are positions in `choices`.
    pub rows: Vec<Function>,
    /// Where steps lead, and whether they are accepting.
    pub choices: Vec<Vec<Step>>,
}

impl NondeterministicBuchi {
    /// A deterministic automaton for the same language. The finitary part is empty.
    pub fn determinise(
        self,
        alphabet: &Arc<Alphabet>,
        budget: usize,
    ) -> Result<OmegaAutomaton, AutomatonError> {
        let states = self.rows.len();
        let steps = self.choices.iter().flatten().map(|(q, _)| q);
        if let Some(&q) = self
            .initial
            .iter()
            .chain(steps)
            .find(|&&q| q as usize >= states)
        {
            return Err(AutomatonError::UnknownState(q as usize));
        }
        let mut choices = Choices::default();
        let numbers: Vec<u32> = self
            .choices
            .into_iter()
            .map(|c| choices.number(c))
            .collect();
        let (mut diagrams, mut memo) = (Diagrams::default(), FxHashMap::default());
        let mut number = |_: &mut Diagrams, c: u32| Ok(numbers[c as usize]);
        let rows = self
            .rows
            .iter()
            .map(|&f| diagrams.mapped::<AutomatonError>(&self.diagrams, f, &mut memo, &mut number))
            .collect::<Result<_, _>>()?;
        let buchi = Buchi::new(self.initial, diagrams, rows, choices).reduced();
        let parity = ParityFunctions::of_buchi(&buchi, budget)?;
        if !alphabet.is_wide() {
            let letters: Vec<u64> = alphabet.iter().map(Letter::bits).collect();
            let parity = parity.table(&letters);
            return Ok(Reduced::of_reference(&parity, alphabet.clone())?.to_omega());
        }
        let Some(Narrow {
            classes,
            class,
            table,
        }) = parity.narrow()?
        else {
            return parity.to_omega(alphabet, budget);
        };
        let narrow = Arc::new(Alphabet::numbers(table.table.letters).expect("there is a class"));
        let small = Reduced::of_reference(&table, narrow)?.to_omega();
        Ok(OmegaAutomaton {
            structure: small
                .structure
                .over_functions(alphabet, (&classes, class))?,
            ..small
        })
    }
}

/// Combinations of choices that all steps of a determinisation may look at.
const MAX_COMBINATIONS: usize = 1 << 24;
/// Classes of letters up to which a deterministic automaton becomes a table, so that more reductions are known.
const MAX_CLASSES: usize = 1 << 12;
/// Entries of such a table.
const MAX_ENTRIES: usize = 1 << 20;

/// A deterministic parity automaton with priorities on transitions, which are functions of the letter.
pub(super) struct ParityFunctions {
    diagrams: Diagrams,
    /// One a state; the values are positions in `edges`.
    rows: Vec<Function>,
    /// Where an edge leads, and its priority: a run is accepted iff the least one that recurs is even.
    edges: Vec<(u32, u32)>,
}

/// A parity automaton over the classes of letters that it tells apart.
pub(super) struct Narrow {
    pub(super) classes: Diagrams,
    /// The class of each letter.
    pub(super) class: Function,
    pub(super) table: Reference,
}

impl ParityFunctions {
    /// For the language of a nondeterministic automaton.
    pub(super) fn of_buchi(buchi: &Buchi, budget: usize) -> Result<Self, AutomatonError> {
        // More braces than twice the states cannot be open in the midst of a step; a step where nothing
        // happens is bad.
        let neutral = 4 * buchi.len() as u32 + 5;
        let start = Braces {
            paths: buchi.initial.iter().map(|&q| (q, Vec::new())).collect(),
        };
        let mut index: FxHashMap<Braces, u32> = FxHashMap::default();
        let mut states = vec![start.clone()];
        index.insert(start, 0);
        let mut parity = Self {
            diagrams: Diagrams::default(),
            rows: Vec::new(),
            edges: Vec::new(),
        };
        let mut known: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut left = MAX_COMBINATIONS;
        while parity.rows.len() < states.len() {
            let from = states[parity.rows.len()].clone();
            let parts: Vec<Function> = from
                .paths
                .iter()
                .map(|(q, _)| buchi.rows[*q as usize])
                .collect();
            let edges = &mut parity.edges;
            let mut edge = |choices: &[u32]| {
                let (to, mark) = step(buchi, &from, choices, neutral);
                let to = if let Some(&id) = index.get(&to) {
                    id
                } else {
                    if states.len() >= budget {
                        return Err(AutomatonError::TooManyStates(budget));
                    }
                    let id = states.len() as u32;
                    states.push(to.clone());
                    index.insert(to, id);
                    id
                };
                Ok(*known.entry((to, mark)).or_insert_with(|| {
                    edges.push((to, mark));
                    edges.len() as u32 - 1
                }))
            };
            let mut memo = FxHashMap::default();
            let row = parity
                .diagrams
                .joint(&buchi.diagrams, parts, &mut memo, &mut edge)?;
            parity.rows.push(row);
            left = left
                .checked_sub(memo.len())
                .ok_or(AutomatonError::TooManyStates(budget))?;
        }
        Ok(parity)
    }

    /// Over numbered letters, of which each has these bits.
    pub(super) fn table(&self, letters: &[u64]) -> Reference {
        let places = self
            .rows
            .iter()
            .flat_map(|&f| letters.iter().map(move |&l| (f, l)));
        let (mut next, mut priority) = (Vec::new(), Vec::new());
        for (f, l) in places {
            let (to, mark) = self.edges[self.diagrams.at(f, l) as usize];
            next.push(to);
            priority.push(mark);
        }
        Reference {
            table: Table {
                letters: letters.len(),
                initial: 0,
                next,
            },
            priority,
        }
    }

    /// Over the classes of letters that it tells apart, if these are few.
    pub(super) fn narrow(&self) -> Result<Option<Narrow>, AutomatonError> {
        let most = MAX_CLASSES.min(MAX_ENTRIES / self.rows.len());
        let mut rows = self.rows.clone();
        rows.sort_unstable();
        rows.dedup();
        let (mut classes, mut class) = (Diagrams::default(), Function::constant(0));
        for row in rows {
            let mut finer = Diagrams::default();
            let mut pairs: FxHashMap<(u32, u32), u32> = FxHashMap::default();
            let mut pair = |c: u32, edge: u32| {
                let fresh = pairs.len() as u32;
                let number = *pairs.entry((c, edge)).or_insert(fresh);
                if number as usize >= most {
                    return Err(AutomatonError::DiagramTooLarge(most));
                }
                Ok(number)
            };
            let (one, two) = ((&classes, class), (&self.diagrams, row));
            class = match finer.joined(one, two, &mut FxHashMap::default(), &mut pair) {
                Err(AutomatonError::DiagramTooLarge(_)) => return Ok(None),
                other => other?,
            };
            classes = finer;
        }
        let mut letters = classes.values(class);
        letters.sort_unstable();
        let letters: Vec<u64> = letters.into_iter().map(|(_, letter)| letter).collect();
        let table = self.table(&letters);
        Ok(Some(Narrow {
            classes,
            class,
            table,
        }))
    }

    /// With the priorities on the states, and a colour for each.
    pub(super) fn to_omega(
        &self,
        alphabet: &Arc<Alphabet>,
        budget: usize,
    ) -> Result<OmegaAutomaton, AutomatonError> {
        let marks = self.close_marks();
        let (structure, meaning) = Structure::explore_functions(
            alphabet.clone(),
            (0, 0),
            budget,
            |&(q, _): &(u32, u32), diagrams, frontier| {
                let mut lead = |_: &mut Diagrams, edge: u32| {
                    let (to, mark) = self.edges[edge as usize];
                    frontier.number((to, marks[&mark]))
                };
                let row = self.rows[q as usize];
                let mut memo = FxHashMap::default();
                diagrams.mapped::<AutomatonError>(&self.diagrams, row, &mut memo, &mut lead)
            },
        )?;
        let priority = meaning.into_iter().map(|(_, mark)| mark).collect();
        let parity = Reduced {
            structure,
            priority,
        };
        Ok(parity.to_omega())
    }

    /// The priorities that occur, as low as their order and parity let them be.
    fn close_marks(&self) -> FxHashMap<u32, u32> {
        let mut marks: Vec<u32> = self.edges.iter().map(|&(_, mark)| mark).collect();
        marks.sort_unstable();
        marks.dedup();
        let mut close: Option<u32> = None;
        marks
            .into_iter()
            .map(|mark| {
                let least = close.unwrap_or(0);
                let low = least + u32::from(least % 2 != mark % 2);
                close = Some(low);
                (mark, low)
            })
            .collect()
    }
}
