//! States that every parity automaton for a language needs, where the letters that recur decide.
//!
//! Let the acceptance of a word depend on the set of letters that recur in it and on nothing else. A part of an
//! automaton that is strongly connected by the letters of X and closed under them has a cycle through all its
//! states with all these letters, so its least priority says whether X is accepted. For a maximal subset Y of X
//! that is judged otherwise there is such a part for Y inside. Two of them, for Y and Y', share no state: a cycle
//! through both has letters that are judged as X is, and its least priority would be that of one of the two. And the
//! state with the least priority of the whole lies in none of them. So X needs one state more than its maximal
//! opposites together: the nodes of its Zielonka tree [Zielonka 1998], where a leaf needs the residuals that its
//! letters lead through. For priorities on transitions the leaves alone count
//! [Casares, Colcombet & Fijalkow 2021].

use std::collections::BTreeMap;

use crate::copy_search::Task;
use crate::labelling::{ABSENT, Fuel, Graph, Table};

/// Letters whose sets are looked at one by one.
const MAX_LETTERS: usize = 12;

/// How many states every automaton needs for the task; at least one a residual.
pub(crate) fn states_needed(task: &Task<'_>, fuel: &mut Fuel) -> usize {
    let least = task.residuals.len();
    let needed = RecurringLetters::new(task, fuel).map(|mut letters| letters.needed(letters.all()));
    needed.map_or(least, |needed| needed.max(least))
}

/// A set of letters, a bit each.
type Set = usize;

/// A language of infinite words that is decided by the letters that recur.
struct RecurringLetters {
    letters: usize,
    /// By set: whether a word in which these recur is accepted.
    accepts: Vec<bool>,
    /// By set: the residuals that these letters lead through for ever, at least.
    residuals: Vec<usize>,
    needed: BTreeMap<Set, usize>,
}

impl RecurringLetters {
    /// Nothing if other things decide, or if there are too many letters to find out.
    fn new(task: &Task<'_>, fuel: &mut Fuel) -> Option<Self> {
        let letters = task.reference.table.letters;
        let stays = |&c: &u32| (0..letters).all(|l| (task.next)(c, l) != ABSENT);
        if letters > MAX_LETTERS || !task.residuals.iter().all(stays) {
            return None;
        }
        let place = |c: u32| task.residuals.binary_search(&c).ok();
        let next = task.residuals.iter().flat_map(|&c| {
            let after = (0..letters).map(move |l| (task.next)(c, l));
            after.map(|to| place(to).map_or(ABSENT, |p| p as u32))
        });
        let residuals = Table {
            letters,
            initial: 0,
            next: next.collect(),
        };
        let mut found = Self {
            letters,
            accepts: vec![false; 1 << letters],
            residuals: vec![0; 1 << letters],
            needed: BTreeMap::new(),
        };
        for set in 1..1 << letters {
            found.accepts[set] = accepts(task, set, fuel)?;
            found.residuals[set] = smallest_end(&residuals, set);
        }
        Some(found)
    }

    fn all(&self) -> Set {
        (1 << self.letters) - 1
    }

    fn needed(&mut self, set: Set) -> usize {
        if let Some(&needed) = self.needed.get(&set) {
            return needed;
        }
        let mut opposites: Vec<Set> = Vec::new();
        // The subsets of a set, larger numbers first: one comes before those within it.
        let mut part = (set - 1) & set;
        while part > 0 {
            let is_within = opposites.iter().any(|&y| part & y == part);
            if self.accepts[part] != self.accepts[set] && !is_within {
                opposites.push(part);
            }
            part = (part - 1) & set;
        }
        let inside: usize = opposites.iter().map(|&y| self.needed(y)).sum();
        let needed = self.residuals[set].max(1 + inside);
        self.needed.insert(set, needed);
        needed
    }
}

/// The steps of the reference by letters of the set, as far as its states count.
fn steps_by(task: &Task<'_>, set: Set) -> Graph {
    let mut graph = Graph::default();
    for (q, &residual) in task.residual.iter().enumerate() {
        graph.open();
        if residual == ABSENT {
            continue;
        }
        for l in (0..task.reference.table.letters).filter(|l| set >> l & 1 == 1) {
            let to = task.reference.table.step(q as u32, l);
            graph.add(to, l as u32, task.reference.mark(q as u32, l));
        }
    }
    graph
}

/// Whether words are accepted in which exactly these letters recur; nothing if only some are.
fn accepts(task: &Task<'_>, set: Set, fuel: &mut Fuel) -> Option<bool> {
    let graph = steps_by(task, set);
    let mut found = [false; 2];
    for least in task.reference.priorities() {
        if !fuel.burn(graph.len() * task.reference.table.letters + 1) {
            return None;
        }
        // Cycles with this as their least priority, and all letters of the set.
        let component = graph.components(|e| e.priority >= least);
        let mut letters: BTreeMap<u32, (Set, bool)> = BTreeMap::new();
        for e in graph.within(&component, |e| e.priority >= least) {
            let (letters, is_met) = letters.entry(component[e.from as usize]).or_default();
            *letters |= 1 << e.element;
            *is_met |= e.priority == least;
        }
        let is_there = letters.values().any(|&found| found == (set, true));
        found[(least % 2) as usize] |= is_there;
    }
    (found[0] != found[1]).then_some(found[0])
}

/// How many residuals the smallest part has that these letters lead through and not out of.
fn smallest_end(residuals: &Table, set: Set) -> usize {
    let mut graph = Graph::default();
    for c in 0..residuals.len() as u32 {
        graph.open();
        for l in (0..residuals.letters).filter(|l| set >> l & 1 == 1) {
            graph.add(residuals.step(c, l), 0, 0);
        }
    }
    let component = graph.components(|_| true);
    let mut sizes: BTreeMap<u32, usize> = BTreeMap::new();
    for (c, &of) in component.iter().enumerate() {
        let leaves = (0..residuals.letters)
            .filter(|l| set >> l & 1 == 1)
            .any(|l| component[residuals.step(c as u32, l) as usize] != of);
        // One that is left is no end, however small.
        *sizes.entry(of).or_default() += if leaves { residuals.len() } else { 1 };
    }
    sizes.into_values().min().unwrap_or(0).min(residuals.len())
}
