//! A small conflict-driven SAT core: two watched literals, first unique implication points,
//! activities, phase saving. Theories hang on from outside.

/// A Boolean variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct BoolVar(u32);

impl BoolVar {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }

    pub(super) fn positive(self) -> Lit {
        Lit(self.0 << 1)
    }
}

/// A variable or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Lit(u32);

impl Lit {
    pub(super) fn var(self) -> BoolVar {
        BoolVar(self.0 >> 1)
    }

    pub(super) fn is_negative(self) -> bool {
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

#[derive(Default)]
pub(super) struct Sat {
    clauses: Vec<Vec<Lit>>,
    /// By literal: the clauses that watch its negation.
    watches: Vec<Vec<u32>>,
    value: Vec<Option<bool>>,
    level: Vec<u32>,
    reason: Vec<Reason>,
    activity: Vec<f64>,
    phase: Vec<bool>,
    trail: Vec<Lit>,
    level_starts: Vec<usize>,
    head: usize,
    bump: f64,
    unsat: bool,
    pub(super) conflicts: u64,
}

impl Sat {
    pub(super) fn new() -> Self {
        Self {
            bump: 1.0,
            ..Self::default()
        }
    }

    pub(super) fn new_var(&mut self) -> BoolVar {
        let v = BoolVar(self.value.len() as u32);
        self.value.push(None);
        self.level.push(0);
        self.reason.push(Reason::Decision);
        self.activity.push(0.0);
        self.phase.push(false);
        self.watches.push(Vec::new());
        self.watches.push(Vec::new());
        v
    }

    pub(super) fn value(&self, l: Lit) -> Option<bool> {
        self.value[l.var().index()].map(|b| b != l.is_negative())
    }

    pub(super) fn trail(&self) -> &[Lit] {
        &self.trail
    }

    pub(super) fn is_unsat(&self) -> bool {
        self.unsat
    }

    /// Adds a clause at any time. Goes back as far as the clause wants to be propagated.
    pub(super) fn add_clause(&mut self, mut lits: Vec<Lit>) {
        lits.sort_unstable();
        lits.dedup();
        if lits.windows(2).any(|w| w[0] == !w[1]) {
            return;
        }
        lits.retain(|l| !(self.value(*l) == Some(false) && self.level[l.var().index()] == 0));
        if lits
            .iter()
            .any(|l| self.value(*l) == Some(true) && self.level[l.var().index()] == 0)
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
                    Some(false) => u64::from(self.level[l.var().index()]),
                    _ => u64::MAX,
                };
                lits.sort_by_key(|l| std::cmp::Reverse(rank(l)));
                let (first, second) = (self.value(lits[0]), self.value(lits[1]));
                if second == Some(false) {
                    // Unit or false: go back until it is neither, propagation does the rest.
                    let lower = self.level[lits[1].var().index()];
                    let target = if first == Some(false) {
                        let upper = self.level[lits[0].var().index()];
                        if upper == lower {
                            upper.saturating_sub(1)
                        } else {
                            lower
                        }
                    } else {
                        lower
                    };
                    self.backtrack(target as usize);
                }
                let id = self.attach(lits);
                let clause = &self.clauses[id as usize];
                let (a, b) = (clause[0], clause[1]);
                if self.value(b) == Some(false) && self.value(a).is_none() {
                    self.enqueue(a, Reason::Clause(id));
                }
            }
        }
    }

    fn attach(&mut self, lits: Vec<Lit>) -> u32 {
        let id = self.clauses.len() as u32;
        self.watches[(!lits[0]).index()].push(id);
        self.watches[(!lits[1]).index()].push(id);
        self.clauses.push(lits);
        id
    }

    fn enqueue(&mut self, l: Lit, reason: Reason) {
        let v = l.var().index();
        self.value[v] = Some(!l.is_negative());
        self.phase[v] = !l.is_negative();
        self.level[v] = self.level_starts.len() as u32;
        self.reason[v] = reason;
        self.trail.push(l);
    }

    pub(super) fn backtrack(&mut self, level: usize) {
        if self.level_starts.len() <= level {
            return;
        }
        let start = self.level_starts[level];
        for l in self.trail.drain(start..) {
            self.value[l.var().index()] = None;
        }
        self.level_starts.truncate(level);
        self.head = self.head.min(start);
    }

    /// Unit propagation; a clause that became false.
    pub(super) fn propagate(&mut self) -> Option<Vec<Lit>> {
        while self.head < self.trail.len() {
            let l = self.trail[self.head];
            self.head += 1;
            let watching = std::mem::take(&mut self.watches[l.index()]);
            let mut kept = Vec::with_capacity(watching.len());
            let mut conflict = None;
            for (i, &id) in watching.iter().enumerate() {
                let falsified = !l;
                let clause = &mut self.clauses[id as usize];
                if clause[0] == falsified {
                    clause.swap(0, 1);
                }
                let other = clause[0];
                let value = |l: Lit| self.value[l.var().index()].map(|b| b != l.is_negative());
                if value(other) == Some(true) {
                    kept.push(id);
                    continue;
                }
                if let Some(k) = (2..clause.len()).find(|&k| value(clause[k]) != Some(false)) {
                    clause.swap(1, k);
                    let watch = !clause[1];
                    self.watches[watch.index()].push(id);
                    continue;
                }
                kept.push(id);
                if value(other) == Some(false) {
                    conflict = Some(clause.clone());
                    kept.extend_from_slice(&watching[i + 1..]);
                    break;
                }
                self.enqueue(other, Reason::Clause(id));
            }
            self.watches[l.index()] = kept;
            if conflict.is_some() {
                return conflict;
            }
        }
        None
    }

    /// Learns from a clause all of whose literals are false, and goes back.
    pub(super) fn resolve(&mut self, conflict: Vec<Lit>) {
        self.conflicts += 1;
        let top = conflict
            .iter()
            .map(|l| self.level[l.var().index()])
            .max()
            .unwrap_or(0);
        if top == 0 {
            self.unsat = true;
            return;
        }
        self.backtrack(top as usize);
        let mut seen = vec![false; self.value.len()];
        let mut learned: Vec<Lit> = Vec::new();
        let mut open = 0;
        let mut clause = conflict;
        let mut at = self.trail.len();
        let uip = loop {
            for &l in &clause {
                let v = l.var().index();
                if seen[v] || self.level[v] == 0 {
                    continue;
                }
                seen[v] = true;
                self.activity[v] += self.bump;
                if self.level[v] == top {
                    open += 1;
                } else {
                    learned.push(l);
                }
            }
            let l = loop {
                at -= 1;
                if seen[self.trail[at].var().index()] {
                    break self.trail[at];
                }
            };
            open -= 1;
            if open == 0 {
                break !l;
            }
            clause = match self.reason[l.var().index()] {
                Reason::Clause(id) => self.clauses[id as usize].clone(),
                // A decision is the first of its level: it can only be the last open literal.
                Reason::Decision => Vec::new(),
            };
        };
        self.bump *= 1.05;
        if self.bump > 1e100 {
            self.activity.iter_mut().for_each(|a| *a *= 1e-100);
            self.bump *= 1e-100;
        }
        learned.push(uip);
        self.add_clause(learned);
    }

    /// Tries the literal first when its variable is decided.
    pub(super) fn prefer(&mut self, l: Lit) {
        self.phase[l.var().index()] = !l.is_negative();
    }

    /// Decides the most active open variable; `false` when all are assigned.
    pub(super) fn decide(&mut self) -> bool {
        let mut best: Option<usize> = None;
        for v in 0..self.value.len() {
            if self.value[v].is_none() && best.is_none_or(|b| self.activity[v] > self.activity[b]) {
                best = Some(v);
            }
        }
        let Some(v) = best else { return false };
        self.level_starts.push(self.trail.len());
        let l = BoolVar(v as u32).positive();
        self.enqueue(if self.phase[v] { l } else { !l }, Reason::Decision);
        true
    }
}
