//! Nondeterministic Büchi automata, made smaller before they are determinised.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagram::{Diagrams, Function};
use crate::structure::AutomatonError;

/// States up to which simulation is computed, a square of them.
const MAX_SIMULATION: usize = 1 << 10;
/// Pairs of choices that it may have to compare; beyond, states are not compared at all.
const MAX_COMPARED: usize = 1 << 22;

/// Where a step leads, and whether it is accepting.
pub type Step = (u32, bool);

/// Sets of steps, each with a number.
#[derive(Default)]
pub(super) struct Choices {
    list: Vec<Vec<Step>>,
    index: FxHashMap<Vec<Step>, u32>,
}

impl Choices {
    pub(super) fn number(&mut self, mut steps: Vec<Step>) -> u32 {
        steps.sort_unstable();
        steps.dedup();
        if let Some(&known) = self.index.get(&steps) {
            return known;
        }
        let number = self.list.len() as u32;
        self.list.push(steps.clone());
        self.index.insert(steps, number);
        number
    }
}

/// Nondeterministic, Büchi acceptance on transitions.
///
/// What a state can do is a function of the letter, whose values are numbers of choices; so letters that no state
/// tells apart are never listed.
pub(super) struct Buchi {
    /// In order.
    pub(super) initial: Vec<u32>,
    pub(super) diagrams: Diagrams,
    /// One a state.
    pub(super) rows: Vec<Function>,
    choices: Choices,
    /// `simulated[p * len + q]`: q can do whatever p can, as acceptingly; empty if not known.
    simulated: Vec<bool>,
}

impl Buchi {
    pub(super) fn new(
        mut initial: Vec<u32>,
        diagrams: Diagrams,
        rows: Vec<Function>,
        choices: Choices,
    ) -> Self {
        initial.sort_unstable();
        initial.dedup();
        Self {
            initial,
            diagrams,
            rows,
            choices,
            simulated: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The steps of a choice, in order.
    pub(super) fn steps(&self, choice: u32) -> &[Step] {
        &self.choices.list[choice as usize]
    }

    /// An automaton for the same language without dead states, without states that do the same, and
    /// without transitions that another one beside them makes superfluous.
    pub(super) fn reduced(self) -> Self {
        let mut small = self.bisimilar().without_dead().bisimilar();
        loop {
            let before = small.size();
            small = small.with_simulation();
            if small.simulated.is_empty() {
                return small;
            }
            small = small.pruned().without_dead();
            if small.size() == before {
                return small.with_simulation();
            }
        }
    }

    /// States, and steps in all choices of each.
    fn size(&self) -> (usize, usize) {
        let steps = |&f: &Function| -> usize {
            let choices = self.diagrams.values(f).into_iter();
            choices.map(|(c, _)| self.steps(c).len()).sum()
        };
        (self.len(), self.rows.iter().map(steps).sum())
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

    /// The automaton of some states, whose choices become others.
    fn with_choices(
        &self,
        states: impl Iterator<Item = u32>,
        initial: Vec<u32>,
        becomes: impl Fn(&[Step]) -> Vec<Step>,
    ) -> Self {
        let (mut diagrams, mut choices) = (Diagrams::default(), Choices::default());
        let mut memo = FxHashMap::default();
        let mut value = |_: &mut Diagrams, c: u32| Ok(choices.number(becomes(self.steps(c))));
        let rows = states
            .map(|q| {
                let f = self.rows[q as usize];
                diagrams.mapped::<AutomatonError>(&self.diagrams, f, &mut memo, &mut value)
            })
            .collect::<Result<Vec<_>, _>>()
            .expect("no larger than the diagrams themselves");
        Self::new(initial, diagrams, rows, choices)
    }

    /// Every step of each state.
    fn successors(&self) -> Vec<Vec<Step>> {
        let steps = |&f: &Function| {
            let choices = self.diagrams.values(f).into_iter();
            let mut steps: Vec<Step> = choices
                .flat_map(|(c, _)| self.steps(c).iter().copied())
                .collect();
            steps.sort_unstable();
            steps.dedup();
            steps
        };
        self.rows.iter().map(steps).collect()
    }

    /// Only states that can be reached and from which a word is accepted.
    fn without_dead(self) -> Self {
        let n = self.len();
        let successors = self.successors();
        let mut reached = vec![false; n];
        let mut todo = self.initial.clone();
        while let Some(q) = todo.pop() {
            if !std::mem::replace(&mut reached[q as usize], true) {
                todo.extend(successors[q as usize].iter().map(|&(to, _)| to));
            }
        }
        let component = components(&successors);
        // States on a cycle with an accepting step.
        let mut live = vec![false; n];
        for (q, steps) in successors.iter().enumerate() {
            live[q] = steps
                .iter()
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
            let mut beyond = successors[q].iter().map(|&(to, _)| component[to as usize]);
            let c = component[q] as usize;
            of_component[c] |= beyond.any(|to| of_component[to as usize]);
        }
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
        if count == 0 {
            // One state that can do nothing, so that there is an automaton.
            let mut choices = Choices::default();
            let nothing = Function::constant(choices.number(Vec::new()));
            return Self::new(Vec::new(), Diagrams::default(), vec![nothing], choices);
        }
        let initial = self.initial.iter().copied().filter(|&q| kept(q));
        let initial = initial.map(|q| number[q as usize]).collect();
        self.with_choices((0..n).filter(|&q| kept(q)), initial, |steps| {
            let steps = steps.iter().filter(|(to, _)| kept(*to));
            steps.map(|&(to, acc)| (number[to as usize], acc)).collect()
        })
    }

    /// One state for each class, which does as the first of them.
    fn image(&self, class: &[u32], first: &[u32]) -> Self {
        let initial = self.initial.iter().map(|&q| class[q as usize]).collect();
        self.with_choices(first.iter().copied(), initial, |steps| {
            let image = steps.iter().map(|&(to, acc)| (class[to as usize], acc));
            image.collect()
        })
    }

    /// Merges states with the same outgoing transitions, again and again.
    fn bisimilar(self) -> Self {
        let n = self.len();
        let mut class = vec![0_u32; n];
        let mut first = vec![0_u32];
        loop {
            let all = 0..n as u32;
            let image = self.with_choices(all, Vec::new(), |steps| {
                let image = steps.iter().map(|&(to, acc)| (class[to as usize], acc));
                image.collect()
            });
            let count = first.len();
            let mut names: FxHashMap<Function, u32> = FxHashMap::default();
            first.clear();
            for (q, f) in image.rows.into_iter().enumerate() {
                class[q] = *names.entry(f).or_insert_with(|| {
                    first.push(q as u32);
                    first.len() as u32 - 1
                });
            }
            if first.len() == count {
                return self.image(&class, &first);
            }
        }
    }

    /// The pairs of choices that two states have on the same letter; nothing if they are too many.
    fn joint_choices(&self, p: u32, q: u32, limit: usize) -> Option<Vec<(u32, u32)>> {
        let mut seen: FxHashSet<(Function, Function)> = FxHashSet::default();
        let mut found = Vec::new();
        let mut todo = vec![(self.rows[p as usize], self.rows[q as usize])];
        while let Some(pair) = todo.pop() {
            if !seen.insert(pair) {
                continue;
            }
            if seen.len() > limit {
                return None;
            }
            match self.diagrams.halves(pair.0, pair.1) {
                Ok((low, high)) => todo.extend([high, low]),
                Err(values) => found.push(values),
            }
        }
        Some(found)
    }

    /// Direct simulation: the greatest relation such that each step of p has one of q beside it, at
    /// least as accepting, to a state that simulates where p's leads. States that simulate each other
    /// become one: the steps of one are outdone by those of the other, so those of the first are enough. The automaton
    /// as it is, if it is too large for that.
    fn with_simulation(mut self) -> Self {
        let n = self.len();
        if n > MAX_SIMULATION {
            return self;
        }
        let mut joint = Vec::with_capacity(n * n);
        let mut left = MAX_COMPARED;
        for p in 0..n as u32 {
            for q in 0..n as u32 {
                let pairs = if p == q {
                    Some(Vec::new())
                } else {
                    self.joint_choices(p, q, left)
                };
                let Some(pairs) = pairs else { return self };
                left = left.saturating_sub(pairs.len());
                joint.push(pairs);
            }
        }
        let mut simulated = vec![true; n * n];
        let mut changed = true;
        while changed {
            changed = false;
            for at in 0..n * n {
                if !simulated[at] {
                    continue;
                }
                let holds = joint[at].iter().all(|&(own, other)| {
                    self.steps(own).iter().all(|&(to, acc)| {
                        self.steps(other).iter().any(|&(there, marked)| {
                            (marked || !acc) && simulated[to as usize * n + there as usize]
                        })
                    })
                });
                if !holds {
                    simulated[at] = false;
                    changed = true;
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
                first.push(q as u32);
            }
        }
        let m = first.len();
        if m < n {
            let small = self.image(&class, &first);
            let between = |i: usize| simulated[first[i / m] as usize * n + first[i % m] as usize];
            return Self {
                simulated: (0..m * m).map(between).collect(),
                ..small
            };
        }
        self.simulated = simulated;
        self
    }

    /// Without transitions and initial states that another one beside them outdoes. The relation is an
    /// order here, since states that simulate each other are one.
    fn pruned(self) -> Self {
        let outdone = |(to, acc): Step, steps: &[Step]| {
            steps.iter().any(|&(other, marked)| {
                (other, marked) != (to, acc) && (marked || !acc) && self.simulates(to, other)
            })
        };
        let initial = self.initial.iter().copied();
        let initial = initial
            .filter(|&q| !self.initial.iter().any(|&p| p != q && self.simulates(q, p)))
            .collect();
        self.with_choices(0..self.len() as u32, initial, |steps| {
            let kept = steps.iter().copied().filter(|&s| !outdone(s, steps));
            kept.collect()
        })
    }
}

fn components(successors: &[Vec<Step>]) -> Vec<u32> {
    let mut graph = crate::labelling::Graph::default();
    for steps in successors {
        graph.open();
        for &(to, _) in steps {
            graph.add(to, 0, 0);
        }
    }
    graph.components(|_| true)
}
