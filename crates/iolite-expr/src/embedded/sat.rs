//! A conflict-driven SAT core: two watched literals with blockers, first unique implication
//! points, minimised clauses, activities in a heap, phase saving, restarts, deletion of learned
//! clauses. Theories hang on from outside.

use super::activity_heap::ActivityHeap;

/// A Boolean variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BoolVar(u32);

impl BoolVar {
    /// Its number, in the order in which variables were made.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The literal that is true when the variable is.
    pub fn positive(self) -> Lit {
        Lit(self.0 << 1)
    }
}

/// A variable or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lit(u32);

impl Lit {
    /// Its variable.
    pub fn var(self) -> BoolVar {
        BoolVar(self.0 >> 1)
    }

    /// Whether it is a negation.
    pub fn is_negative(self) -> bool {
        self.0 & 1 == 1
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

impl std::ops::Not for Lit {
    type Output = Self;
    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reason {
    Decision,
    Clause(u32),
}

/// A clause that somebody watches; without literals when it was deleted.
struct Clause {
    lits: Box<[Lit]>,
    /// Of a learned clause, the decision levels that met in it.
    glue: Option<u32>,
}

/// A clause that watches a literal, and another of its literals: while that one is true the clause
/// need not be looked at.
#[derive(Clone, Copy)]
struct Watch {
    clause: u32,
    blocker: Lit,
}

/// Conflicts between restarts, times the sequence of Luby.
const RESTART: u64 = 64;
/// Learned clauses that are kept at first, and how many more after each deletion.
const LEARNED: usize = 2_000;
const MORE_LEARNED: usize = 500;
/// Clauses that count as much as taking a variable out of the heap: after a restart all of them are taken out again.
const POP: u64 = 16;
/// Learned clauses with so few levels are kept for good.
const GLUE: u32 = 2;

/// Clauses, and the search for values that satisfy them. Whoever drives it calls [`Sat::propagate`], gives
/// conflicts to [`Sat::resolve`] and asks for a decision when there is none, and may add clauses at any time.
#[derive(Default)]
pub struct Sat {
    clauses: Vec<Clause>,
    /// By literal: the clauses that watch its negation.
    watches: Vec<Vec<Watch>>,
    value: Vec<Option<bool>>,
    level: Vec<u32>,
    reason: Vec<Reason>,
    activity: Vec<f64>,
    heap: ActivityHeap,
    /// The value that a variable had last, or that was asked for.
    phase: Vec<Option<bool>>,
    trail: Vec<Lit>,
    level_starts: Vec<usize>,
    head: usize,
    bump: f64,
    unsat: bool,
    learned: usize,
    most_learned: usize,
    restarts: u64,
    restart_at: u64,
    /// Variables that the running analysis has met; all `false` between analyses.
    seen: Vec<bool>,
    /// Conflicts that were resolved.
    pub conflicts: u64,
    /// Literals at the begin of the trail that are there since somebody set this to its length.
    pub kept: usize,
    /// Clauses that propagation and analysis looked at, and what decisions cost beside them.
    pub visits: u64,
}

/// The sequence 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 …, from index 1.
fn luby(mut i: u64) -> u64 {
    loop {
        let k = u64::from(u64::BITS - i.leading_zeros());
        if i + 1 == 1 << k {
            return 1 << (k - 1);
        }
        i -= (1 << (k - 1)) - 1;
    }
}

impl Sat {
    /// No variables and no clauses.
    pub fn new() -> Self {
        Self {
            bump: 1.0,
            most_learned: LEARNED,
            restart_at: RESTART,
            ..Self::default()
        }
    }

    /// Another variable.
    pub fn new_var(&mut self) -> BoolVar {
        let v = BoolVar(self.value.len() as u32);
        self.value.push(None);
        self.level.push(0);
        self.reason.push(Reason::Decision);
        self.activity.push(0.0);
        self.phase.push(None);
        self.seen.push(false);
        self.watches.push(Vec::new());
        self.watches.push(Vec::new());
        self.heap.insert(v.0, &self.activity);
        v
    }

    /// What a literal is now.
    pub fn value(&self, l: Lit) -> Option<bool> {
        self.value[l.var().index()].map(|b| b != l.is_negative())
    }

    /// The literals that are true now, in the order in which they became so.
    pub fn trail(&self) -> &[Lit] {
        &self.trail
    }

    /// Whether it is known that nothing satisfies the clauses.
    pub fn is_unsat(&self) -> bool {
        self.unsat
    }

    fn level_of(&self, l: Lit) -> u32 {
        self.level[l.var().index()]
    }

    /// Adds a clause at any time. Goes back as far as the clause wants to be propagated.
    pub fn add_clause(&mut self, lits: Vec<Lit>) {
        self.add(lits, None);
    }

    fn add(&mut self, mut lits: Vec<Lit>, glue: Option<u32>) {
        lits.sort_unstable();
        lits.dedup();
        if lits.windows(2).any(|w| w[0] == !w[1]) {
            return;
        }
        lits.retain(|l| !(self.value(*l) == Some(false) && self.level_of(*l) == 0));
        if lits
            .iter()
            .any(|l| self.value(*l) == Some(true) && self.level_of(*l) == 0)
        {
            return;
        }
        match lits.len() {
            0 => self.unsat = true,
            1 => {
                self.backtrack(0);
                match self.value(lits[0]) {
                    Some(false) => self.unsat = true,
                    Some(true) => {}
                    None => self.enqueue(lits[0], Reason::Decision),
                }
            }
            _ => {
                // Unassigned and true literals first, then the latest false ones, so that the
                // two watched literals are the last ones to become false.
                let rank = |l: &Lit| match self.value(*l) {
                    Some(false) => u64::from(self.level_of(*l)),
                    _ => u64::MAX,
                };
                lits.sort_by_key(|l| std::cmp::Reverse(rank(l)));
                let (first, second) = (self.value(lits[0]), self.value(lits[1]));
                if second == Some(false) {
                    // Unit or false: go back until it is neither, propagation does the rest.
                    let lower = self.level_of(lits[1]);
                    let upper = self.level_of(lits[0]);
                    let target = if first == Some(false) && upper == lower {
                        upper.saturating_sub(1)
                    } else {
                        lower
                    };
                    self.backtrack(target as usize);
                }
                let (a, b) = (lits[0], lits[1]);
                let id = self.attach(lits, glue);
                if self.value(b) == Some(false) && self.value(a).is_none() {
                    self.enqueue(a, Reason::Clause(id));
                }
            }
        }
    }

    fn attach(&mut self, lits: Vec<Lit>, glue: Option<u32>) -> u32 {
        let clause = self.clauses.len() as u32;
        for (own, blocker) in [(lits[0], lits[1]), (lits[1], lits[0])] {
            self.watches[(!own).index()].push(Watch { clause, blocker });
        }
        self.learned += usize::from(glue.is_some());
        self.clauses.push(Clause {
            lits: lits.into(),
            glue,
        });
        clause
    }

    fn enqueue(&mut self, l: Lit, reason: Reason) {
        let v = l.var().index();
        self.value[v] = Some(!l.is_negative());
        self.phase[v] = Some(!l.is_negative());
        self.level[v] = self.level_starts.len() as u32;
        self.reason[v] = reason;
        self.trail.push(l);
    }

    /// Takes decisions back, down to this many.
    pub fn backtrack(&mut self, level: usize) {
        if self.level_starts.len() <= level {
            return;
        }
        let start = self.level_starts[level];
        for l in self.trail.drain(start..) {
            self.value[l.var().index()] = None;
            self.heap.insert(l.var().0, &self.activity);
        }
        self.level_starts.truncate(level);
        self.head = self.head.min(start);
        self.kept = self.kept.min(start);
    }

    /// Unit propagation; a clause that became false.
    pub fn propagate(&mut self) -> Option<Vec<Lit>> {
        while self.head < self.trail.len() {
            let l = self.trail[self.head];
            self.head += 1;
            let falsified = !l;
            let mut watching = std::mem::take(&mut self.watches[l.index()]);
            let mut conflict = None;
            let mut kept = 0;
            let mut at = 0;
            while at < watching.len() {
                let watch = watching[at];
                at += 1;
                if self.value(watch.blocker) == Some(true) {
                    watching[kept] = watch;
                    kept += 1;
                    continue;
                }
                let value = |l: Lit| self.value[l.var().index()].map(|b| b != l.is_negative());
                let lits = &mut self.clauses[watch.clause as usize].lits;
                if lits[0] == falsified {
                    lits.swap(0, 1);
                }
                let other = lits[0];
                let watch = Watch {
                    blocker: other,
                    ..watch
                };
                if value(other) != Some(true)
                    && let Some(k) = (2..lits.len()).find(|&k| value(lits[k]) != Some(false))
                {
                    lits.swap(1, k);
                    let to = !lits[1];
                    self.watches[to.index()].push(watch);
                    continue;
                }
                watching[kept] = watch;
                kept += 1;
                match value(other) {
                    Some(true) => {}
                    Some(false) => {
                        conflict = Some(lits.to_vec());
                        break;
                    }
                    None => self.enqueue(other, Reason::Clause(watch.clause)),
                }
            }
            self.visits += at as u64 + 1;
            watching.drain(kept..at);
            self.watches[l.index()] = watching;
            if conflict.is_some() {
                return conflict;
            }
        }
        None
    }

    /// Learns from a clause all of whose literals are false, and goes back.
    pub fn resolve(&mut self, conflict: Vec<Lit>) {
        self.conflicts += 1;
        let top = conflict.iter().map(|l| self.level_of(*l)).max();
        let top = top.unwrap_or(0);
        if top == 0 {
            self.unsat = true;
            return;
        }
        self.backtrack(top as usize);
        let learned = self.analyse(conflict, top);
        let mut levels: Vec<u32> = learned.iter().map(|l| self.level_of(*l)).collect();
        levels.sort_unstable();
        levels.dedup();
        self.bump *= 1.05;
        if self.bump > 1e100 {
            self.activity.iter_mut().for_each(|a| *a *= 1e-100);
            self.bump *= 1e-100;
        }
        self.add(learned, Some(levels.len() as u32));
        if self.learned > self.most_learned {
            self.forget();
        }
        if self.conflicts >= self.restart_at {
            self.restarts += 1;
            self.restart_at = self.conflicts + RESTART * luby(self.restarts + 1);
            self.backtrack(0);
        }
    }

    /// The clause of the first unique implication point, minimised.
    fn analyse(&mut self, conflict: Vec<Lit>, top: u32) -> Vec<Lit> {
        let mut met: Vec<usize> = Vec::new();
        let mut learned: Vec<Lit> = Vec::new();
        let mut open = 0;
        let mut clause = conflict;
        let mut at = self.trail.len();
        let uip = loop {
            self.visits += 1 + clause.len() as u64 / 4;
            for &l in &clause {
                let v = l.var().index();
                if self.seen[v] || self.level[v] == 0 {
                    continue;
                }
                self.seen[v] = true;
                met.push(v);
                self.activity[v] += self.bump;
                self.heap.rise(v as u32, &self.activity);
                if self.level[v] == top {
                    open += 1;
                } else {
                    learned.push(l);
                }
            }
            let l = loop {
                at -= 1;
                if self.seen[self.trail[at].var().index()] {
                    break self.trail[at];
                }
            };
            open -= 1;
            if open == 0 {
                break !l;
            }
            clause.clear();
            // A decision is the first of its level: it can only be the last open literal.
            if let Reason::Clause(id) = self.reason[l.var().index()] {
                clause.extend_from_slice(&self.clauses[id as usize].lits);
            }
        };
        // What the other literals imply need not be said.
        let implied = |l: &Lit| match self.reason[l.var().index()] {
            Reason::Decision => false,
            Reason::Clause(id) => self.clauses[id as usize].lits.iter().all(|m| {
                m.var() == l.var() || self.seen[m.var().index()] || self.level_of(*m) == 0
            }),
        };
        learned.retain(|l| !implied(l));
        learned.push(uip);
        for v in met {
            self.seen[v] = false;
        }
        learned
    }

    /// Deletes the half of the learned clauses in which most levels met.
    fn forget(&mut self) {
        let mut order: Vec<(std::cmp::Reverse<u32>, u32)> = Vec::new();
        for (id, c) in self.clauses.iter().enumerate() {
            let Some(glue) = c.glue.filter(|g| *g > GLUE && !c.lits.is_empty()) else {
                continue;
            };
            let first = c.lits[0].var().index();
            let locked =
                self.value[first].is_some() && self.reason[first] == Reason::Clause(id as u32);
            if !locked {
                order.push((std::cmp::Reverse(glue), id as u32));
            }
        }
        // The older of two alike goes first.
        order.sort_unstable();
        for (_, id) in order.iter().take(order.len() / 2) {
            self.clauses[*id as usize].lits = Box::default();
            self.learned -= 1;
        }
        let clauses = &self.clauses;
        for list in &mut self.watches {
            list.retain(|w| !clauses[w.clause as usize].lits.is_empty());
        }
        self.most_learned = self.learned + LEARNED / 2 + MORE_LEARNED;
    }

    /// Tries the literal first when its variable is decided.
    pub fn prefer(&mut self, l: Lit) {
        self.phase[l.var().index()] = Some(!l.is_negative());
    }

    /// Decides the most active open variable; `false` when all are assigned. `wish` says what a
    /// variable should be that never had a value.
    pub fn decide(&mut self, wish: impl Fn(BoolVar) -> bool) -> bool {
        while let Some(v) = self.heap.pop(&self.activity) {
            self.visits += POP;
            let var = BoolVar(v);
            if self.value[var.index()].is_some() {
                continue;
            }
            self.level_starts.push(self.trail.len());
            let l = var.positive();
            let yes = self.phase[var.index()].unwrap_or_else(|| wish(var));
            self.enqueue(if yes { l } else { !l }, Reason::Decision);
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn luby_begins_as_it_should() {
        let begin: Vec<u64> = (1..=15).map(luby).collect();
        assert_eq!(begin, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
    }

    /// Whether the clauses have a model, by search.
    fn solve(clauses: &[Vec<(u32, bool)>], variables: u32) -> Option<Vec<bool>> {
        let mut sat = Sat::new();
        let vars: Vec<BoolVar> = (0..variables).map(|_| sat.new_var()).collect();
        for c in clauses {
            let lits = c.iter().map(|(v, yes)| {
                let l = vars[*v as usize].positive();
                if *yes { l } else { !l }
            });
            sat.add_clause(lits.collect());
        }
        loop {
            if sat.is_unsat() {
                return None;
            }
            if let Some(conflict) = sat.propagate() {
                sat.resolve(conflict);
            } else if !sat.decide(|_| false) {
                let value = |v: &BoolVar| sat.value(v.positive()) == Some(true);
                return Some(vars.iter().map(value).collect());
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_enumeration(
            clauses in prop::collection::vec(
                prop::collection::vec((0u32..8, any::<bool>()), 1..4), 1..40),
        ) {
            let holds = |model: &dyn Fn(u32) -> bool| {
                clauses.iter().all(|c| c.iter().any(|(v, yes)| model(*v) == *yes))
            };
            let expected = (0u32..256).any(|bits| holds(&|v| bits >> v & 1 == 1));
            let found = solve(&clauses, 8);
            prop_assert_eq!(found.is_some(), expected);
            if let Some(model) = found {
                prop_assert!(holds(&|v| model[v as usize]));
            }
        }
    }

    /// More pigeons than holes: some thousand conflicts, so restarts and deletion take part.
    #[test]
    fn pigeons_do_not_fit() {
        let (pigeons, holes) = (8u32, 7u32);
        let at = |p: u32, h: u32| p * holes + h;
        let mut clauses: Vec<Vec<(u32, bool)>> = Vec::new();
        for p in 0..pigeons {
            clauses.push((0..holes).map(|h| (at(p, h), true)).collect());
            for q in 0..p {
                clauses.extend((0..holes).map(|h| vec![(at(p, h), false), (at(q, h), false)]));
            }
        }
        assert_eq!(solve(&clauses, pigeons * holes), None);
        let fewer: Vec<_> = clauses.split_off(holes as usize);
        assert!(solve(&fewer, pigeons * holes).is_some());
    }
}
