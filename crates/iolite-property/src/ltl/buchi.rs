//! Nondeterministic Büchi automata, made smaller before they are determinised.

use rustc_hash::FxHashMap;

/// States up to which simulation is computed, a square of them.
const MAX_SIMULATION: usize = 1 << 10;

/// Nondeterministic, Büchi acceptance on transitions.
pub(super) struct Buchi {
    pub(super) letters: usize,
    /// In order.
    pub(super) initial: Vec<u32>,
    /// `next[q * letters + l]`: successors, and whether the step is accepting; in order.
    pub(super) next: Vec<Vec<(u32, bool)>>,
    /// `simulated[p * len + q]`: q can do whatever p can, as acceptingly; empty if not known.
    simulated: Vec<bool>,
}

impl Buchi {
    pub(super) fn new(letters: usize, initial: Vec<u32>, next: Vec<Vec<(u32, bool)>>) -> Self {
        let sorted = |mut row: Vec<(u32, bool)>| {
            row.sort_unstable();
            row.dedup();
            row
        };
        let mut initial = initial;
        initial.sort_unstable();
        initial.dedup();
        Self {
            letters,
            initial,
            next: next.into_iter().map(sorted).collect(),
            simulated: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.next.len() / self.letters
    }

    /// An automaton for the same language without dead states, without states that do the same, and
    /// without transitions that another one beside them makes superfluous.
    pub(super) fn reduced(self) -> Self {
        let mut small = self.bisimilar().without_dead().bisimilar();
        if small.len() <= MAX_SIMULATION {
            loop {
                let before = (small.len(), small.transitions());
                small = small.with_simulation().pruned().without_dead();
                if (small.len(), small.transitions()) == before {
                    return small.with_simulation();
                }
            }
        }
        small
    }

    fn transitions(&self) -> usize {
        self.next.iter().map(Vec::len).sum()
    }

    fn simulates(&self, p: u32, q: u32) -> bool {
        self.simulated
            .get(p as usize * self.len() + q as usize)
            .is_some_and(|&s| s)
    }

    /// Of states in the same run, those that another one outdoes, in braces at least as good.
    pub(super) fn drop_simulated(&self, paths: &mut Vec<(u32, Vec<u32>)>) {
        if self.simulated.is_empty() {
            return;
        }
        let mut kept = vec![true; paths.len()];
        for (i, (p, path)) in paths.iter().enumerate() {
            kept[i] = !paths.iter().enumerate().any(|(j, (q, other))| {
                i != j
                    && kept[j]
                    && self.simulates(*p, *q)
                    && (other == path || super::determinise::better(other, path))
            });
        }
        let mut keep = kept.iter();
        paths.retain(|_| *keep.next().expect("one for each"));
    }

    /// Only states that can be reached and from which a word is accepted.
    fn without_dead(self) -> Self {
        let n = self.len();
        let k = self.letters;
        // States on a cycle with an accepting step, by way of what each can reach.
        let reach = |from: &mut dyn Iterator<Item = u32>| {
            let mut seen = vec![false; n];
            let mut todo: Vec<u32> = from.collect();
            while let Some(q) = todo.pop() {
                if !std::mem::replace(&mut seen[q as usize], true) {
                    let row = &self.next[q as usize * k..(q as usize + 1) * k];
                    todo.extend(row.iter().flatten().map(|&(to, _)| to));
                }
            }
            seen
        };
        let component = self.components();
        let mut live = vec![false; n];
        for q in 0..n {
            let row = self.next[q * k..(q + 1) * k].iter().flatten();
            live[q] = row
                .clone()
                .any(|&(to, acc)| acc && component[to as usize] == component[q]);
        }
        // Components come before those that lead to them, so one pass in their order is enough.
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&q| component[q]);
        let mut of_component = vec![false; n];
        for &q in &order {
            of_component[component[q] as usize] |= live[q];
        }
        for &q in &order {
            let row = self.next[q * k..(q + 1) * k].iter().flatten();
            let mut row = row.map(|&(to, _)| component[to as usize] as usize);
            let c = component[q] as usize;
            of_component[c] |= row.any(|to| of_component[to]);
        }
        let reached = reach(&mut self.initial.iter().copied());
        let kept = |q: u32| reached[q as usize] && of_component[component[q as usize] as usize];
        self.restricted(kept)
    }

    fn restricted(&self, kept: impl Fn(u32) -> bool) -> Self {
        let n = self.len() as u32;
        let mut number = vec![0; n as usize];
        let mut count = 0;
        for q in (0..n).filter(|&q| kept(q)) {
            number[q as usize] = count;
            count += 1;
        }
        let mut next = Vec::new();
        for q in (0..n).filter(|&q| kept(q)) {
            for row in &self.next[q as usize * self.letters..(q as usize + 1) * self.letters] {
                let row = row.iter().filter(|(to, _)| kept(*to));
                next.push(row.map(|&(to, acc)| (number[to as usize], acc)).collect());
            }
        }
        let initial = self.initial.iter().copied().filter(|&q| kept(q));
        let initial = initial.map(|q| number[q as usize]).collect();
        if count == 0 {
            // One state that can do nothing, so that there is an automaton.
            return Self::new(self.letters, Vec::new(), vec![Vec::new(); self.letters]);
        }
        Self::new(self.letters, initial, next)
    }

    fn components(&self) -> Vec<u32> {
        let mut graph = crate::labelling::Graph::default();
        for q in 0..self.len() {
            graph.open();
            for &(to, _) in self.next[q * self.letters..(q + 1) * self.letters]
                .iter()
                .flatten()
            {
                graph.add(to, 0, 0);
            }
        }
        graph.components(|_| true)
    }

    fn image(&self, class: &[u32], count: usize) -> Self {
        let mut next = vec![Vec::new(); count * self.letters];
        for q in 0..self.len() {
            for l in 0..self.letters {
                let row = &self.next[q * self.letters + l];
                let to = &mut next[class[q] as usize * self.letters + l];
                to.extend(row.iter().map(|&(q, acc)| (class[q as usize], acc)));
            }
        }
        let initial = self.initial.iter().map(|&q| class[q as usize]).collect();
        Self::new(self.letters, initial, next)
    }

    /// Merges states with the same outgoing transitions, again and again.
    fn bisimilar(self) -> Self {
        let n = self.len();
        let mut class = vec![0_u32; n];
        let mut count = 1;
        loop {
            let mut names: FxHashMap<Vec<Vec<(u32, bool)>>, u32> = FxHashMap::default();
            let refined: Vec<u32> = (0..n)
                .map(|q| {
                    let rows = &self.next[q * self.letters..(q + 1) * self.letters];
                    let signature = rows
                        .iter()
                        .map(|row| {
                            let mut image: Vec<(u32, bool)> = row
                                .iter()
                                .map(|&(q, acc)| (class[q as usize], acc))
                                .collect();
                            image.sort_unstable();
                            image.dedup();
                            image
                        })
                        .collect();
                    let fresh = names.len() as u32;
                    *names.entry(signature).or_insert(fresh)
                })
                .collect();
            let found = names.len();
            class = refined;
            if found == count {
                break;
            }
            count = found;
        }
        self.image(&class, count)
    }

    /// Direct simulation: the greatest relation such that each step of p has one of q beside it, at
    /// least as accepting, to a state that simulates where p's leads. States that simulate each other
    /// become one.
    fn with_simulation(mut self) -> Self {
        let n = self.len();
        let k = self.letters;
        let mut simulated = vec![true; n * n];
        let mut changed = true;
        while changed {
            changed = false;
            for p in 0..n {
                for q in 0..n {
                    if !simulated[p * n + q] || p == q {
                        continue;
                    }
                    let holds = (0..k).all(|l| {
                        self.next[p * k + l].iter().all(|&(to, acc)| {
                            self.next[q * k + l].iter().any(|&(other, marked)| {
                                (marked || !acc) && simulated[to as usize * n + other as usize]
                            })
                        })
                    });
                    if !holds {
                        simulated[p * n + q] = false;
                        changed = true;
                    }
                }
            }
        }
        let mut class = vec![u32::MAX; n];
        let mut first = Vec::new();
        for q in 0..n {
            if class[q] == u32::MAX {
                for p in q..n {
                    if simulated[p * n + q] && simulated[q * n + p] {
                        class[p] = first.len() as u32;
                    }
                }
                first.push(q);
            }
        }
        let m = first.len();
        if m < n {
            let small = self.image(&class, m);
            return Self {
                simulated: (0..m * m)
                    .map(|i| simulated[first[i / m] * n + first[i % m]])
                    .collect(),
                ..small
            };
        }
        self.simulated = simulated;
        self
    }

    /// Without transitions and initial states that another one beside them outdoes. The relation is an
    /// order here, since states that simulate each other are one.
    fn pruned(self) -> Self {
        let outdone = |(to, acc): (u32, bool), row: &[(u32, bool)]| {
            row.iter().any(|&(other, marked)| {
                (other, marked) != (to, acc) && (marked || !acc) && self.simulates(to, other)
            })
        };
        let next = self
            .next
            .iter()
            .map(|row| row.iter().copied().filter(|&t| !outdone(t, row)).collect())
            .collect();
        let initial = self.initial.iter().copied();
        let initial = initial
            .filter(|&q| !self.initial.iter().any(|&p| p != q && self.simulates(q, p)))
            .collect();
        Self::new(self.letters, initial, next)
    }
}
