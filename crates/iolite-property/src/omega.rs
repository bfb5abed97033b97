//! Deterministic automata with any Emerson–Lei acceptance: what Boolean combinations, formulas and
//! foreign formats give before it becomes a Streett automaton.

use std::sync::Arc;

use crate::acceptance::{AcceptanceFormula, Colours, Condition};
use crate::alphabet::{Alphabet, Letter};
use crate::cycles::CycleForest;
use crate::normalise::pairs_of_priorities;
use crate::state_set::StateSet;
use crate::streett::{Pair, StreettAutomaton};
use crate::structure::{AutomatonError, Lasso, StateId, Structure};

/// A deterministic, complete automaton with colours on its states, and the finite sequences told
/// by a set of states.
#[derive(Clone, Debug)]
pub struct OmegaAutomaton {
    /// States and transitions.
    pub structure: Structure,
    /// The colours of each state.
    pub colours: Vec<Colours>,
    /// Which colours must recur and which must not.
    pub acceptance: AcceptanceFormula,
    /// Where accepted finite sequences end.
    pub finite: StateSet,
}

/// One state of the parity automaton: the old state, the cycle of the forest it is in, the
/// priority of the step that led here.
type Branch = (StateId, Option<u32>, u32);

impl OmegaAutomaton {
    /// Whether it accepts an infinite sequence.
    pub fn accepts_lasso(&self, word: &Lasso) -> bool {
        let seen = word.vinf(&self.structure, self.structure.initial());
        let colours = seen.iter().map(|q| &self.colours[q.index()]);
        self.acceptance.accepts(&Colours::union_of(colours))
    }

    /// The complement in both parts.
    #[must_use]
    pub fn negation(&self) -> Self {
        Self {
            structure: self.structure.clone(),
            colours: self.colours.clone(),
            acceptance: self.acceptance.dual(),
            finite: self.finite.complement(),
        }
    }

    /// The product; `both` takes conjunction in both parts, else disjunction.
    pub fn product(&self, other: &Self, both: bool, budget: usize) -> Result<Self, AutomatonError> {
        let (structure, meaning) = self.structure.product(&other.structure, budget)?;
        let shift = self.acceptance.colour_count();
        let colours = meaning
            .iter()
            .map(|(p, q)| {
                let own = self.colours[p.index()].iter().filter(|&c| c < shift);
                own.chain(other.colours[q.index()].iter().map(|c| c + shift))
                    .collect()
            })
            .collect();
        let parts = vec![self.acceptance.clone(), other.acceptance.shifted(shift)];
        let acceptance = if both {
            AcceptanceFormula::And(parts)
        } else {
            AcceptanceFormula::Or(parts)
        };
        let finite = StateSet::of(structure.len(), |s| {
            let (p, q) = meaning[s.index()];
            let (p, q) = (self.finite.contains(p), other.finite.contains(q));
            if both { p && q } else { p || q }
        });
        Ok(Self {
            structure,
            colours,
            acceptance,
            finite,
        })
    }

    /// An infinite sequence that it accepts, if there is one: a lasso into a cycle near the
    /// initial state.
    pub fn accepted_lasso(&self) -> Result<Option<Lasso>, AutomatonError> {
        let forest = self.low_forest()?;
        let s = &self.structure;
        let mut best: Option<(Vec<Letter>, &[StateId])> = None;
        for cycle in forest.cycles.iter().filter(|c| c.accepting) {
            let inside = StateSet::of(s.len(), |q| cycle.contains(q));
            if let Some(stem) = s.shortest(s.initial(), &inside)
                && best.as_ref().is_none_or(|(b, _)| stem.len() < b.len())
            {
                best = Some((stem, &cycle.states));
            }
        }
        Ok(best.map(|(stem, states)| {
            let start = s.after(s.initial(), &stem);
            Lasso {
                stem,
                cycle: self.tour(start, states),
            }
        }))
    }

    /// A closed walk from `start` through all of a strongly connected set.
    fn tour(&self, start: StateId, states: &[StateId]) -> Vec<Letter> {
        let s = &self.structure;
        let inside = StateSet::of(s.len(), |q| states.binary_search(&q).is_ok());
        let stay = |q: StateId, l: Letter| inside.contains(q) && inside.contains(s.step(q, l));
        let mut left = inside.clone();
        left.remove(start);
        let mut walk = Vec::new();
        let mut at = start;
        loop {
            let back = left.is_empty();
            let mut target = left.clone();
            if back {
                target.insert(start);
            }
            let part = if back && at == start {
                // At least one step, also where the set is a single state.
                let mut letters = s.edges(at).into_iter().map(|(l, _)| l);
                let first = letters.find(|&l| !walk.is_empty() || stay(at, l));
                if walk.is_empty() {
                    first.into_iter().collect()
                } else {
                    Vec::new()
                }
            } else {
                s.shortest_within(at, &target, stay)
                    .expect("the set is strongly connected")
            };
            for &l in &part {
                at = s.step(at, l);
                left.remove(at);
            }
            walk.extend(part);
            if back && at == start {
                return walk;
            }
        }
    }

    pub(crate) fn forest(&self) -> Result<CycleForest, AutomatonError> {
        CycleForest::new(
            &self.structure,
            &self.colours,
            Condition::new(&self.acceptance),
            true,
        )
    }

    /// Roots and their children only.
    pub(crate) fn low_forest(&self) -> Result<CycleForest, AutomatonError> {
        CycleForest::new(
            &self.structure,
            &self.colours,
            Condition::new(&self.acceptance),
            false,
        )
    }

    /// Streett pairs on the same states, where the condition is a conjunction whose conjuncts
    /// have at most one `Fin` each.
    pub fn pairs_on_the_spot(&self) -> Option<Vec<Pair>> {
        use AcceptanceFormula as A;
        let n = self.structure.len();
        let coloured = |c: u32| StateSet::of(n, |q| self.colours[q.index()].contains(c));
        let mut conjuncts = Vec::new();
        let mut todo = vec![&self.acceptance];
        while let Some(f) = todo.pop() {
            match f {
                A::And(fs) => todo.extend(fs.iter().rev()),
                A::True => {}
                _ => conjuncts.push(f),
            }
        }
        let mut pairs = Vec::new();
        for conjunct in conjuncts {
            let mut pair = Pair {
                recurrent: StateSet::empty(n),
                persistent: StateSet::empty(n),
            };
            let (mut fins, mut parts) = (0, vec![conjunct]);
            while let Some(f) = parts.pop() {
                match f {
                    A::Or(fs) => parts.extend(fs),
                    A::False => {}
                    &A::Inf(c) => pair.recurrent = pair.recurrent.union(&coloured(c)),
                    &A::Fin(c) => {
                        fins += 1;
                        pair.persistent = coloured(c).complement();
                    }
                    A::True | A::And(_) => return None,
                }
            }
            if fins > 1 {
                return None;
            }
            pairs.push(pair);
        }
        Some(pairs)
    }

    /// A Streett automaton for the same r-property, with the least number of pairs that any
    /// deterministic Streett automaton for its infinitary part has.
    ///
    /// The alternating cycle decomposition gives a parity automaton with the fewest priorities;
    /// its odd priorities become the pairs.
    pub fn to_streett(&self, budget: usize) -> Result<StreettAutomaton, AutomatonError> {
        self.to_streett_open(&StateSet::empty(self.structure.len()), budget)
    }

    /// The same, where some states leave finite sequences open.
    pub(crate) fn to_streett_open(
        &self,
        open: &StateSet,
        budget: usize,
    ) -> Result<StreettAutomaton, AutomatonError> {
        let (structure, meaning) = self.parity(budget)?;
        let n = structure.len();
        let priority: Vec<u32> = meaning.iter().map(|&(_, _, p)| p).collect();
        let pairs = pairs_of_priorities(n, &priority);
        let finite = StateSet::of(n, |q| self.finite.contains(meaning[q.index()].0));
        let open = StateSet::of(n, |q| open.contains(meaning[q.index()].0));
        Ok(StreettAutomaton::new(structure, pairs)?
            .with_finite(finite)
            .with_open(&open)
            .reduced())
    }

    /// The parity automaton of the alternating cycle decomposition: a run is accepted iff the least
    /// priority that recurs is even.
    pub(crate) fn parity(&self, budget: usize) -> Result<(Structure, Vec<Branch>), AutomatonError> {
        let forest = self.forest()?;
        let depth = |mut node: usize| {
            let mut d = 0;
            while let Some(up) = forest.cycles[node].parent {
                node = up;
                d += 1;
            }
            d + u32::from(!forest.cycles[node].accepting)
        };
        // The neutral priority of steps between components must be even for a transient state to
        // count as accepted so far, and is seen finitely often anyway.
        let deepest = |mut node: usize, q: StateId| {
            while let Some(&c) = forest.cycles[node]
                .children
                .iter()
                .find(|&&c| forest.cycles[c].contains(q))
            {
                node = c;
            }
            node
        };
        let enter = |q: StateId| match forest.root_of[q.index()] {
            None => (q, None, 0),
            Some(root) => {
                let leaf = deepest(root, q);
                (q, Some(leaf as u32), depth(leaf))
            }
        };
        self.structure.explore_along(
            enter(self.structure.initial()),
            budget,
            |&(q, _, _)| q,
            |&(q, node, _), to| {
                let root = forest.root_of[q.index()];
                let (Some(leaf), true) = (node, root == forest.root_of[to.index()]) else {
                    return Ok(enter(to));
                };
                let mut below = None;
                let mut at = leaf as usize;
                while !forest.cycles[at].contains(to) {
                    below = Some(at);
                    at = forest.cycles[at]
                        .parent
                        .expect("the root contains its component");
                }
                let priority = depth(at);
                let children = &forest.cycles[at].children;
                let start = below.map_or(0, |b| {
                    children
                        .iter()
                        .position(|&c| c == b)
                        .expect("a child of its parent")
                        + 1
                });
                let next = (0..children.len())
                    .map(|i| children[(start + i) % children.len()])
                    .find(|&c| forest.cycles[c].contains(to));
                let leaf = next.map_or(at, |c| deepest(c, to));
                Ok((to, Some(leaf as u32), priority))
            },
        )
    }

    /// Σ.
    pub fn alphabet(&self) -> &Arc<Alphabet> {
        self.structure.alphabet()
    }
}
