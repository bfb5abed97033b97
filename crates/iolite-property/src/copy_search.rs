//! Steps between copies of residuals that can bear a language, by clause learning.
//!
//! A Boolean variable says that a step from one copy leads to another. Whatever is decided so far is laid beside the
//! reference automaton: a copy and a state of the reference with the same residual expect the same words, so from
//! every such pair on both must agree, wherever the run began. Where no priorities are right for the cycles of
//! this product, a few of its cycles are enough to show it, and the steps on them are a clause: not all of these
//! together. It is as true with any other copies of the same residuals in their place, and learned for these too.

use std::collections::VecDeque;

use iolite_expr::{Lit, Sat};

use crate::labelling::{ABSENT, Fuel, Graph, Reference, bear};

/// Variables for steps; more are not tried.
const MAX_STEPS: usize = 1 << 17;
/// Clauses that are learned from one conflict by renaming states.
const MAX_IMAGES: usize = 1 << 10;

/// What is searched for: automata whose states are copies of these residuals.
pub(crate) struct Task<'a> {
    /// The language, from any of its states that has a residual here.
    pub(crate) reference: &'a Reference,
    /// The residual of each state of the reference; [`ABSENT`] for states that do not count.
    pub(crate) residual: &'a [u32],
    /// The residuals that need copies.
    pub(crate) residuals: &'a [u32],
    /// By residual and letter: the residual after the step; [`ABSENT`] where the step leaves.
    pub(crate) next: &'a dyn Fn(u32, usize) -> u32,
}

/// States with their residuals and priorities, and the steps that stay.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    pub(crate) class: Vec<u32>,
    pub(crate) next: Vec<u32>,
    pub(crate) priority: Vec<u32>,
}

/// The search was given up.
pub(crate) struct OutOfFuel;

/// A step from a copy by a letter to a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    from: usize,
    letter: usize,
    to: usize,
}

/// What a variable says.
#[derive(Clone, Copy, Debug)]
enum Meaning {
    Step(Step),
    /// The state is a copy of the residual at this place among those of the task.
    Copy {
        state: usize,
        place: usize,
    },
    /// The walk has met a state.
    Met,
}

/// What is decided so far.
struct Decided {
    /// By state: the place of its residual.
    place: Vec<Option<usize>>,
    /// By state and letter: where the step leads; only from states whose residual is known.
    next: Vec<u32>,
}

/// The search with a given number of states.
pub(crate) struct CopySearch<'a> {
    task: &'a Task<'a>,
    count: usize,
    letters: usize,
    priorities: Vec<u32>,
    /// By state and place of a residual: whether it is a copy of it.
    copy: Vec<Vec<Lit>>,
    /// By state and letter, then by state: whether the step leads there.
    steps: Vec<Vec<Lit>>,
    /// By the number of a variable.
    meaning: Vec<Meaning>,
    sat: Sat,
}

impl<'a> CopySearch<'a> {
    /// So many states; nothing if that is too much to be tried.
    pub(crate) fn new(task: &'a Task<'a>, count: usize) -> Option<Self> {
        let letters = task.reference.table.letters;
        if count.checked_mul(letters)?.checked_mul(count)? > MAX_STEPS {
            return None;
        }
        let mut search = Self {
            task,
            count,
            letters,
            priorities: task.reference.priorities(),
            copy: Vec::new(),
            steps: Vec::new(),
            meaning: Vec::new(),
            sat: Sat::new(),
        };
        search.add_copies();
        search.add_steps();
        search.number_states();
        Some(search)
    }

    fn variable(&mut self, meaning: Meaning) -> Lit {
        self.meaning.push(meaning);
        self.sat.new_var().positive()
    }

    /// Each state is a copy of one residual. The automaton is strongly connected, so that the first state may be
    /// one of the first residual.
    fn add_copies(&mut self) {
        for state in 0..self.count {
            let places = 0..self.task.residuals.len();
            let copy: Vec<Lit> = places
                .map(|place| self.variable(Meaning::Copy { state, place }))
                .collect();
            self.sat.add_clause(copy.clone());
            self.at_most_one(&copy);
            self.copy.push(copy);
        }
        self.sat.add_clause(vec![self.copy[0][0]]);
    }

    fn at_most_one(&mut self, lits: &[Lit]) {
        for (i, &one) in lits.iter().enumerate() {
            for &other in &lits[..i] {
                self.sat.add_clause(vec![!one, !other]);
            }
        }
    }

    /// Each letter leads to one copy of the residual after the step, unless it leads out.
    fn add_steps(&mut self) {
        for from in 0..self.count {
            for letter in 0..self.letters {
                let steps: Vec<Lit> = (0..self.count)
                    .map(|to| self.variable(Meaning::Step(Step { from, letter, to })))
                    .collect();
                self.at_most_one(&steps);
                for (place, &residual) in self.task.residuals.iter().enumerate() {
                    let here = self.copy[from][place];
                    let after = (self.task.next)(residual, letter);
                    let Ok(after) = self.task.residuals.binary_search(&after) else {
                        for &step in &steps {
                            self.sat.add_clause(vec![!here, !step]);
                        }
                        continue;
                    };
                    let some = steps.iter().copied().chain([!here]);
                    self.sat.add_clause(some.collect());
                    for (to, &step) in steps.iter().enumerate() {
                        let there = self.copy[to][after];
                        self.sat.add_clause(vec![!here, !step, there]);
                    }
                }
                self.steps.push(steps);
            }
        }
    }

    /// States are numbered in the order in which a walk from the first one meets them, so that automata that differ in
    /// names only are met once.
    fn number_states(&mut self) {
        // By state: whether it was met before the step that comes now.
        let mut met: Vec<Option<Lit>> = vec![None; self.count];
        for at in 0..self.steps.len() {
            let from = at / self.letters;
            if from > 0 && at % self.letters == 0 {
                // It must have been met when its own turn comes.
                let clause = met[from].into_iter().collect();
                self.sat.add_clause(clause);
            }
            let mut now = met.clone();
            for to in 1..self.count {
                let step = self.steps[at][to];
                if to > 1 {
                    let clause = [!step].into_iter().chain(met[to - 1]);
                    self.sat.add_clause(clause.collect());
                }
                let is_met = self.variable(Meaning::Met);
                let clause = [!is_met, step].into_iter().chain(met[to]);
                self.sat.add_clause(clause.collect());
                now[to] = Some(is_met);
            }
            met = now;
        }
    }

    /// An automaton, or none if there is none.
    pub(crate) fn run(&mut self, fuel: &mut Fuel) -> Result<Option<Part>, OutOfFuel> {
        let mut visits = 0;
        let mut priority = vec![0; self.count];
        loop {
            if self.sat.is_unsat() {
                return Ok(None);
            }
            let looked = self.sat.visits - visits;
            visits = self.sat.visits;
            if !fuel.burn(usize::try_from(looked).unwrap_or(usize::MAX).max(1)) {
                return Err(OutOfFuel);
            }
            if let Some(conflict) = self.sat.propagate() {
                self.sat.resolve(conflict);
                continue;
            }
            let fresh = &self.sat.trail()[self.sat.kept..];
            let counts = |l: &Lit| {
                !l.is_negative() && !matches!(self.meaning[l.var().index()], Meaning::Met)
            };
            if fresh.iter().any(counts) {
                let mut decided = self.decided();
                let product = self.product(&decided);
                let answer = bear(&product, self.count, &self.priorities, fuel);
                match answer.ok_or(OutOfFuel)? {
                    Ok(labels) => priority = labels,
                    Err(stuck) => {
                        let reduced = self.reduce(&mut decided, &stuck, fuel);
                        reduced.ok_or(OutOfFuel)?;
                        self.learn(&decided);
                        continue;
                    }
                }
            }
            self.sat.kept = self.sat.trail().len();
            // A step that is decided to be leads on; one that is decided not to be says little.
            if !self.sat.decide(|_| true) {
                return Ok(Some(self.part(&priority)));
            }
        }
    }

    fn decided(&self) -> Decided {
        let mut decided = Decided {
            place: vec![None; self.count],
            next: vec![ABSENT; self.steps.len()],
        };
        for l in self.sat.trail().iter().filter(|l| !l.is_negative()) {
            match self.meaning[l.var().index()] {
                Meaning::Step(step) => {
                    decided.next[step.from * self.letters + step.letter] = step.to as u32;
                }
                Meaning::Copy { state, place } => decided.place[state] = Some(place),
                Meaning::Met => {}
            }
        }
        for (at, to) in decided.next.iter_mut().enumerate() {
            if decided.place[at / self.letters].is_none() {
                *to = ABSENT;
            }
        }
        decided
    }

    /// Where a state and one of the reference are together.
    fn node(&self, state: usize, q: usize) -> u32 {
        (state * self.task.residual.len() + q) as u32
    }

    /// Whether a state and one of the reference expect the same.
    fn agree(&self, decided: &Decided, state: usize, q: usize) -> bool {
        let residual = decided.place[state].map(|place| self.task.residuals[place]);
        residual == Some(self.task.residual[q])
    }

    /// The steps beside those of the reference, from all that expect the same.
    fn product(&self, decided: &Decided) -> Graph {
        let mut graph = Graph::default();
        for state in 0..self.count {
            for q in 0..self.task.residual.len() {
                graph.open();
                if !self.agree(decided, state, q) {
                    continue;
                }
                for letter in 0..self.letters {
                    let to = decided.next[state * self.letters + letter];
                    let after = self.task.reference.table.step(q as u32, letter);
                    if to != ABSENT && after != ABSENT {
                        let to = self.node(to as usize, after as usize);
                        graph.add(to, state as u32, self.task.reference.mark(q as u32, letter));
                    }
                }
            }
        }
        graph
    }

    /// Leaves a few of the steps that alone leave some states without a priority.
    fn reduce(&self, decided: &mut Decided, stuck: &[bool], fuel: &mut Fuel) -> Option<()> {
        let mut inside = vec![false; decided.next.len()];
        let first = stuck.iter().position(|&s| s)?;
        let mut todo = vec![first];
        let mut known = vec![false; stuck.len()];
        known[first] = true;
        while let Some(state) = todo.pop() {
            for parity in 0..2 {
                for at in self.cycle((state, parity), decided, stuck, &inside, fuel)? {
                    inside[at] = true;
                    let to = decided.next[at] as usize;
                    if !std::mem::replace(&mut known[to], true) {
                        todo.push(to);
                    }
                }
            }
        }
        for (step, inside) in decided.next.iter_mut().zip(&inside) {
            if !inside {
                *step = ABSENT;
            }
        }
        // Without those that are not needed.
        for at in (0..inside.len()).filter(|&at| inside[at]) {
            let step = std::mem::replace(&mut decided.next[at], ABSENT);
            let answer = bear(&self.product(decided), self.count, &self.priorities, fuel)?;
            if answer.is_ok() {
                decided.next[at] = step;
            }
        }
        Some(())
    }

    /// The steps of a cycle through a state, within those that are stuck, whose least priority has this parity; with
    /// as few steps as possible beside those that are there already.
    fn cycle(
        &self,
        (through, parity): (usize, u32),
        decided: &Decided,
        stuck: &[bool],
        inside: &[bool],
        fuel: &mut Fuel,
    ) -> Option<Vec<usize>> {
        let n = self.task.residual.len();
        let mut best: Option<(usize, Vec<usize>)> = None;
        for &least in self.priorities.iter().filter(|&&d| d % 2 == parity) {
            for q in (0..n).filter(|&q| self.agree(decided, through, q)) {
                // Nodes with whether the least priority was met: twice as many.
                let mut cost = vec![usize::MAX; 2 * n * self.count];
                let mut from = vec![(usize::MAX, usize::MAX); cost.len()];
                let start = 2 * self.node(through, q) as usize;
                cost[start] = 0;
                let mut queue = VecDeque::from([start]);
                while let Some(here) = queue.pop_front() {
                    if !fuel.burn(self.letters) {
                        return None;
                    }
                    let (at, state) = (here / 2 / n, here / 2 % n);
                    for letter in 0..self.letters {
                        let step = at * self.letters + letter;
                        let after = self.task.reference.table.step(state as u32, letter);
                        let mark = self.task.reference.mark(state as u32, letter);
                        let to = decided.next[step] as usize;
                        if decided.next[step] == ABSENT
                            || after == ABSENT
                            || mark < least
                            || !stuck[to]
                        {
                            continue;
                        }
                        let is_met = here % 2 == 1 || mark == least;
                        let next = 2 * self.node(to, after as usize) as usize + usize::from(is_met);
                        let price = usize::from(!inside[step]);
                        if cost[here] + price < cost[next] {
                            cost[next] = cost[here] + price;
                            from[next] = (here, step);
                            if price == 0 {
                                queue.push_front(next);
                            } else {
                                queue.push_back(next);
                            }
                        }
                    }
                }
                let end = start + 1;
                if best.as_ref().is_none_or(|(least, _)| cost[end] < *least)
                    && cost[end] != usize::MAX
                {
                    let mut steps = Vec::new();
                    let mut here = end;
                    while here != start {
                        let (before, step) = from[here];
                        steps.push(step);
                        here = before;
                    }
                    best = Some((cost[end], steps));
                }
            }
        }
        // What is stuck lies on cycles of both kinds.
        best.map(|(_, steps)| steps)
    }

    /// Not all of these steps together, nor those of other states in their place.
    fn learn(&mut self, core: &Decided) {
        let steps = core
            .next
            .iter()
            .enumerate()
            .filter(|(_, to)| **to != ABSENT);
        let steps: Vec<Step> = steps
            .map(|(at, &to)| Step {
                from: at / self.letters,
                letter: at % self.letters,
                to: to as usize,
            })
            .collect();
        let mut met: Vec<usize> = steps.iter().flat_map(|s| [s.from, s.to]).collect();
        met.sort_unstable();
        met.dedup();
        let mut images = Vec::new();
        self.images(&met, &mut vec![usize::MAX; self.count], &mut images);
        let clause = |image: &[usize]| -> Vec<Lit> {
            let step = |s: &Step| !self.steps[image[s.from] * self.letters + s.letter][image[s.to]];
            let copy = |&s: &usize| core.place[s].map(|place| !self.copy[image[s]][place]);
            let copies = met.iter().filter_map(copy);
            steps.iter().map(step).chain(copies).collect()
        };
        let clauses: Vec<Vec<Lit>> = images.iter().map(|image| clause(image)).collect();
        // The first is what was decided.
        if let Some(conflict) = clauses.first() {
            self.sat.resolve(conflict.clone());
        }
        for clause in clauses {
            self.sat.add_clause(clause);
        }
    }

    /// Ways to put states in the place of these, the first of which changes nothing; not all where there are very many.
    fn images(&self, met: &[usize], image: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
        let Some((&first, rest)) = met.split_first() else {
            found.push(image.clone());
            return;
        };
        for state in std::iter::once(first).chain((0..self.count).filter(|&s| s != first)) {
            if found.len() >= MAX_IMAGES {
                return;
            }
            if !image.contains(&state) {
                image[first] = state;
                self.images(rest, image, found);
                image[first] = usize::MAX;
            }
        }
    }

    fn part(&self, priority: &[u32]) -> Part {
        let decided = self.decided();
        let residual = |place: &Option<usize>| place.map_or(ABSENT, |p| self.task.residuals[p]);
        Part {
            class: decided.place.iter().map(residual).collect(),
            next: decided.next,
            priority: priority.to_vec(),
        }
    }
}
