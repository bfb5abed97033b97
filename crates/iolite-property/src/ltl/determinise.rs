//! Determinisation of Büchi automata to parity automata: Safra's construction in the form of
//! nested braces, with names kept in the order of age [Safra 1988; Piterman 2007; Redziejowski 2012].

use std::sync::Arc;

use crate::acceptance::AcceptanceFormula;
use crate::alphabet::{Alphabet, Letter};
use crate::omega::OmegaAutomaton;
use crate::state_set::StateSet;
use crate::structure::{AutomatonError, Structure};

use super::LtlError;
use super::tableau::Buchi;

/// Each Büchi state with the braces around it, outermost first. Braces are numbered by age, and
/// `parents` is implied: a brace's parent is the one before it in any path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Braces {
    /// Sorted by state.
    paths: Vec<(u32, Vec<u32>)>,
    /// Priority of the step that led here; even is bad, odd is good, the least one counts.
    priority: u32,
}

/// Older braces first; of two paths where one goes on inside the other, the deeper one.
fn better(a: &[u32], b: &[u32]) -> bool {
    for (x, y) in a.iter().zip(b) {
        if x != y {
            return x < y;
        }
    }
    a.len() > b.len()
}

fn step(buchi: &Buchi, from: &Braces, letters: usize, l: Letter, neutral: u32) -> Braces {
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
        for &(to, accepting) in &buchi.next[*q as usize * letters + l.index()] {
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
            priority = priority.min(2 * b as u32);
        } else if green[b] {
            priority = priority.min(2 * b as u32 + 1);
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
    Braces { paths, priority }
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
    let mut initial = initial;
    initial.sort_unstable();
    initial.dedup();
    determinise(&Buchi { initial, next }, alphabet, budget)
}

/// A deterministic automaton for the same language; its finitary part is empty.
pub(super) fn determinise(
    buchi: &Buchi,
    alphabet: &Arc<Alphabet>,
    budget: usize,
) -> Result<OmegaAutomaton, LtlError> {
    let letters = alphabet.len();
    let states = buchi.next.len() / letters;
    // More braces than states cannot be used after a step.
    let neutral = 4 * states as u32 + 4;
    let start = Braces {
        paths: buchi.initial.iter().map(|&q| (q, Vec::new())).collect(),
        priority: neutral,
    };
    let (structure, meaning) = Structure::explore(alphabet.clone(), start, budget, |from, l| {
        Ok::<_, AutomatonError>(step(buchi, from, letters, l, neutral))
    })?;
    // Only priorities that occur get a colour, from the least on, and runs of one kind share one.
    let mut kinds: Vec<u32> = meaning.iter().map(|b| b.priority).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut colour_of = Vec::with_capacity(kinds.len());
    let mut colour = 0;
    for (i, p) in kinds.iter().enumerate() {
        if i > 0 && kinds[i - 1] % 2 != p % 2 {
            colour += 1;
        }
        colour_of.push(colour);
    }
    if colour as usize >= crate::acceptance::MAX_COLOURS {
        let limit = crate::acceptance::MAX_COLOURS;
        return Err(AutomatonError::TooManyColours {
            found: colour as usize + 1,
            limit,
        }
        .into());
    }
    let good_first = kinds.first().is_some_and(|p| p % 2 == 1);
    let mut acceptance = AcceptanceFormula::False;
    for c in (0..=colour).rev() {
        acceptance = if (c % 2 == 0) == good_first {
            AcceptanceFormula::Or(vec![AcceptanceFormula::Inf(c), acceptance])
        } else {
            AcceptanceFormula::And(vec![AcceptanceFormula::Fin(c), acceptance])
        };
    }
    let colours = meaning
        .iter()
        .map(|b| 1 << colour_of[kinds.binary_search(&b.priority).expect("listed")])
        .collect();
    let finite = StateSet::empty(structure.len());
    Ok(OmegaAutomaton {
        structure,
        colours,
        acceptance,
        finite,
    })
}
