//! Determinisation of Büchi automata to parity automata: Safra's construction in the form of
//! nested braces, with names kept in the order of age [Safra 1988; Piterman 2007; Redziejowski 2012].

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::alphabet::Alphabet;
use crate::labelling::{Reference, Table};
use crate::omega::OmegaAutomaton;
use crate::reduction::Reduced;
use crate::structure::AutomatonError;

use super::LtlError;
use super::buchi::Buchi;

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

/// The next braces, and the priority of the step: even is good, odd is bad, the least one counts.
fn step(buchi: &Buchi, from: &Braces, letters: usize, l: usize, neutral: u32) -> (Braces, u32) {
    let mut fresh = from
        .paths
        .iter()
        .flat_map(|(_, p)| p)
        .max()
        .map_or(0, |&b| b + 1);
    let mut paths: Vec<(u32, Vec<u32>)> = Vec::new();
    // One new brace for each brace that opens one: states that were together stay together.
    let mut opened: Vec<(Vec<u32>, u32)> = Vec::new();
    for (q, path) in &from.paths {
        for &(to, accepting) in &buchi.next[*q as usize * letters + l] {
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

/// A deterministic automaton for the language of a nondeterministic one with Büchi acceptance on its
/// transitions, given by its initial states and, at `q * letters + l`, the successors of each state with
/// whether the step is accepting. The finitary part is empty.
pub fn determinise_buchi(
    alphabet: &Arc<Alphabet>,
    initial: Vec<u32>,
    next: Vec<Vec<(u32, bool)>>,
    budget: usize,
) -> Result<OmegaAutomaton, LtlError> {
    let states = next.len() / alphabet.len();
    let mut named = initial.iter().chain(next.iter().flatten().map(|(q, _)| q));
    if let Some(&q) = named.find(|&&q| q as usize >= states) {
        return Err(AutomatonError::UnknownState(q as usize).into());
    }
    let buchi = Buchi::new(alphabet.len(), initial, next).reduced();
    let parity = determinise(&buchi, budget)?;
    Ok(Reduced::of_reference(&parity, alphabet.clone())?.to_omega()?)
}

/// A deterministic parity automaton for the same language.
pub(super) fn determinise(buchi: &Buchi, budget: usize) -> Result<Reference, LtlError> {
    let letters = buchi.letters;
    // More braces than twice the states cannot be open in the midst of a step; a step where nothing
    // happens is bad.
    let neutral = 4 * buchi.len() as u32 + 5;
    let start = Braces {
        paths: buchi.initial.iter().map(|&q| (q, Vec::new())).collect(),
    };
    let mut index: FxHashMap<Braces, u32> = FxHashMap::default();
    let mut states = vec![start.clone()];
    index.insert(start, 0);
    let (mut next, mut marks) = (Vec::new(), Vec::new());
    let mut done = 0;
    while done < states.len() {
        let from = states[done].clone();
        done += 1;
        for l in 0..letters {
            let (to, mark) = step(buchi, &from, letters, l, neutral);
            marks.push(mark);
            next.push(if let Some(&id) = index.get(&to) {
                id
            } else {
                if states.len() >= budget {
                    return Err(AutomatonError::TooManyStates(budget).into());
                }
                let id = states.len() as u32;
                states.push(to.clone());
                index.insert(to, id);
                id
            });
        }
    }
    let table = Table {
        letters,
        initial: 0,
        next,
    };
    Ok(Reference {
        table,
        priority: marks,
    })
}
