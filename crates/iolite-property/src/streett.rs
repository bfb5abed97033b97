//! Streett m-automata, the automata view of r-properties [PROP12, §4.3].
//!
//! An r-property is a pair (φ, ϕ) of a finitary and an infinitary language. A Streett automaton
//! tells both: infinite sequences by its pairs as usual, finite ones by the state they end in
//! (definition 3). That ties the two parts together: a run that stays from some point on in states
//! that accept finite sequences is accepted itself. r-properties without this tie exist (the union
//! of two persistence r-properties may lack it), so an automaton here may instead carry its finite
//! acceptance as a set of its own; [`StreettAutomaton::follows_definition_3`] tells, and
//! [`StreettAutomaton::to_definition_3`] ties the parts wherever that is possible at all.

use std::sync::Arc;

use crate::acceptance::{AcceptanceFormula, Colours};
use crate::alphabet::{Alphabet, Letter};
use crate::cycles::cyclic_components;
use crate::diagram::{Diagrams, Function};
use crate::omega::OmegaAutomaton;
use crate::state_set::StateSet;
use crate::structure::{AutomatonError, DEFAULT_BUDGET, Lasso, StateId, Structure};

/// An accepting pair (`R_i`, `P_i`) [PROP12, def. 2].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pair {
    /// R: one of these infinitely often, …
    pub recurrent: StateSet,
    /// P: … or only these from some point on.
    pub persistent: StateSet,
}

impl Pair {
    /// R ∪ P, where the pair accepts finite sequences.
    pub fn finite(&self) -> StateSet {
        self.recurrent.union(&self.persistent)
    }
}

/// A deterministic and complete Streett m-automaton with acceptance of finite sequences
/// [PROP12, def. 2 and 3].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreettAutomaton {
    structure: Structure,
    pairs: Vec<Pair>,
    finite: StateSet,
    /// A subset of `finite`.
    open: StateSet,
    names: Option<Vec<String>>,
}

impl StreettAutomaton {
    /// An automaton whose finite acceptance is that of definition 3.
    pub fn new(structure: Structure, pairs: Vec<Pair>) -> Result<Self, AutomatonError> {
        let n = structure.len();
        for set in pairs.iter().flat_map(|p| [&p.recurrent, &p.persistent]) {
            if set.universe() != n {
                return Err(AutomatonError::UnknownState(set.universe()));
            }
        }
        let finite = Self::definition_3(n, &pairs);
        Ok(Self {
            structure,
            pairs,
            finite,
            open: StateSet::empty(n),
            names: None,
        })
    }

    /// From rows of successors in the order of the letters and lists of R and P states.
    pub fn from_rows(
        alphabet: Arc<Alphabet>,
        initial: usize,
        rows: &[Vec<usize>],
        pairs: &[(&[usize], &[usize])],
    ) -> Result<Self, AutomatonError> {
        let n = rows.len();
        for row in rows {
            if row.len() != alphabet.len() {
                let (expected, found) = (alphabet.len(), row.len());
                return Err(AutomatonError::TableSize { expected, found });
            }
        }
        let next = rows.iter().flatten().map(|&q| StateId::new(q)).collect();
        let structure = Structure::new(alphabet, StateId::new(initial), next)?;
        let set = |list: &[usize]| match list.iter().find(|&&q| q >= n) {
            Some(&q) => Err(AutomatonError::UnknownState(q)),
            None => Ok(StateSet::of(n, |q| list.contains(&q.index()))),
        };
        let pairs = pairs
            .iter()
            .map(|(r, p)| {
                Ok(Pair {
                    recurrent: set(r)?,
                    persistent: set(p)?,
                })
            })
            .collect::<Result<_, AutomatonError>>()?;
        Self::new(structure, pairs)
    }

    fn definition_3(n: usize, pairs: &[Pair]) -> StateSet {
        pairs
            .iter()
            .fold(StateSet::full(n), |set, p| set.intersection(&p.finite()))
    }

    /// The same automaton with names for its states, as the user wrote them.
    #[must_use]
    pub fn with_names(mut self, names: Vec<String>) -> Self {
        assert_eq!(names.len(), self.structure.len(), "one name a state");
        self.names = Some(names);
        self
    }

    /// The same automaton with another finitary part, which leaves nothing open.
    #[must_use]
    pub fn with_finite(mut self, finite: StateSet) -> Self {
        assert_eq!(
            finite.universe(),
            self.structure.len(),
            "a set of this automaton's states"
        );
        self.open = StateSet::empty(self.structure.len());
        self.finite = finite;
        self
    }

    /// The same automaton, with the finite sequences that end in these states left open: the property
    /// neither accepts nor rejects them. They count as accepted where only two answers are possible, so
    /// that nothing fails for them.
    #[must_use]
    pub fn with_open(mut self, open: &StateSet) -> Self {
        assert_eq!(
            open.universe(),
            self.structure.len(),
            "a set of this automaton's states"
        );
        self.finite = self.finite.union(open);
        self.open = open.clone();
        self
    }

    /// States and transitions.
    pub fn structure(&self) -> &Structure {
        &self.structure
    }

    /// Σ.
    pub fn alphabet(&self) -> &Arc<Alphabet> {
        self.structure.alphabet()
    }

    /// The accepting pairs; their number is the automaton's m.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The states in which accepted finite sequences end, and those that are left open.
    pub fn finite(&self) -> &StateSet {
        &self.finite
    }

    /// The states in which finite sequences end that the property does not judge; see
    /// [`crate::finitary_part`].
    pub fn open(&self) -> &StateSet {
        &self.open
    }

    /// The states in which finite sequences end that are accepted, not only left open.
    pub fn accepted(&self) -> StateSet {
        self.finite.intersection(&self.open.complement())
    }

    /// The name of a state: the user's, else its number.
    pub fn name(&self, q: StateId) -> String {
        self.names
            .as_ref()
            .map_or_else(|| q.index().to_string(), |n| n[q.index()].clone())
    }

    /// The state with this name.
    pub fn state(&self, name: &str) -> Option<StateId> {
        self.structure.states().find(|&q| self.name(q) == name)
    }

    /// Whether finite sequences are accepted as definition 3 says.
    pub fn follows_definition_3(&self) -> bool {
        self.open.is_empty() && self.finite == Self::definition_3(self.structure.len(), &self.pairs)
    }

    /// Π(σ) for a finite sequence [PROP12, def. 3]; also where it is left open.
    pub fn accepts(&self, word: &[Letter]) -> bool {
        self.finite
            .contains(self.structure.after(self.structure.initial(), word))
    }

    /// Π(σ) for an infinite sequence [PROP12, def. 3].
    pub fn accepts_lasso(&self, word: &Lasso) -> bool {
        let seen = word.vinf(&self.structure, self.structure.initial());
        self.pairs
            .iter()
            .all(|p| !seen.intersection(&p.recurrent).is_empty() || seen.is_subset(&p.persistent))
    }

    /// Two colours a pair, each in the set if it is said to be.
    fn marks(&self, has: impl Fn(&Pair) -> [bool; 2]) -> Colours {
        let places = self.pairs.iter().flat_map(has).zip(0..);
        places.filter_map(|(has, c)| has.then_some(c)).collect()
    }

    /// The same automaton as one with colours.
    pub fn to_omega(&self) -> OmegaAutomaton {
        let colours = self
            .structure
            .states()
            .map(|q| self.marks(|p| [p.recurrent.contains(q), !p.persistent.contains(q)]))
            .collect();
        OmegaAutomaton {
            structure: self.structure.clone(),
            colours,
            acceptance: AcceptanceFormula::streett(self.pairs.len()),
            finite: self.finite.clone(),
        }
    }

    /// Π₁ ∧ Π₂, both parts conjoined [PROP12, §3.5]: the product with the pairs of
    /// both.
    pub fn intersection(&self, other: &Self) -> Result<Self, AutomatonError> {
        let (structure, meaning) = self.structure.product(&other.structure, DEFAULT_BUDGET)?;
        let n = structure.len();
        let left = |set: &StateSet| StateSet::of(n, |s| set.contains(meaning[s.index()].0));
        let right = |set: &StateSet| StateSet::of(n, |s| set.contains(meaning[s.index()].1));
        let mut pairs: Vec<Pair> = self
            .pairs
            .iter()
            .map(|p| Pair {
                recurrent: left(&p.recurrent),
                persistent: left(&p.persistent),
            })
            .collect();
        pairs.extend(other.pairs.iter().map(|p| Pair {
            recurrent: right(&p.recurrent),
            persistent: right(&p.persistent),
        }));
        let finite = left(&self.finite).intersection(&right(&other.finite));
        let sure = left(&self.accepted()).intersection(&right(&other.accepted()));
        let open = finite.intersection(&sure.complement());
        Ok(Self::new(structure, pairs)?
            .with_finite(finite)
            .with_open(&open))
    }

    /// Π₁ ∨ Π₂, both parts united. Streett conditions are not closed under union on the same
    /// states, so the automaton is rebuilt from its cycles, with as few pairs as the union needs.
    pub fn union(&self, other: &Self) -> Result<Self, AutomatonError> {
        let product = self
            .to_omega()
            .product(&other.to_omega(), false, DEFAULT_BUDGET)?;
        let (_, meaning) = self.structure.product(&other.structure, DEFAULT_BUDGET)?;
        // Open where neither accepts and one is open.
        let (left, right) = (self.accepted(), other.accepted());
        let open = StateSet::of(product.structure.len(), |s| {
            let (p, q) = meaning[s.index()];
            product.finite.contains(s) && !left.contains(p) && !right.contains(q)
        });
        product.to_streett_open(&open, DEFAULT_BUDGET)
    }

    /// The negation of Π, both parts complemented. The complement of a Streett condition is a
    /// Rabin condition; it becomes Streett's again by way of the cycles.
    pub fn negation(&self) -> Result<Self, AutomatonError> {
        self.to_omega()
            .negation()
            .to_streett_open(&self.open, DEFAULT_BUDGET)
    }

    /// An infinite sequence that one of the two accepts and the other does not; none if their
    /// infinitary parts are equal.
    pub fn infinitary_difference(&self, other: &Self) -> Result<Option<Lasso>, AutomatonError> {
        let (a, b) = (self.to_omega(), other.to_omega());
        for (x, y) in [(&a, &b), (&b, &a)] {
            let only = x.product(&y.negation(), true, DEFAULT_BUDGET)?;
            if let Some(word) = only.accepted_lasso()? {
                return Ok(Some(word));
            }
        }
        Ok(None)
    }

    /// A shortest finite sequence that the two judge differently; *open* is a judgement of its own.
    pub fn finitary_difference(&self, other: &Self) -> Result<Option<Vec<Letter>>, AutomatonError> {
        let (product, meaning) = self.structure.product(&other.structure, DEFAULT_BUDGET)?;
        let differ = StateSet::of(product.len(), |s| {
            let (p, q) = meaning[s.index()];
            self.finite.contains(p) != other.finite.contains(q)
                || self.open.contains(p) != other.open.contains(q)
        });
        Ok(product.shortest(product.initial(), &differ))
    }

    /// The reachable part. Definition 2 supposes that all states are reachable.
    #[must_use]
    pub fn reachable_part(&self) -> Self {
        let (structure, meaning) = self.structure.reachable_part();
        self.image(structure, &meaning)
    }

    /// The quotient by the coarsest bisimulation that keeps pairs and finite acceptance, of the
    /// reachable part. The r-property stays the same; the number of states need not be least.
    #[must_use]
    pub fn reduced(&self) -> Self {
        let small = self.reachable_part();
        let class = small.structure.bisimulation(|q| {
            let marks = small.marks(|p| [p.recurrent.contains(q), p.persistent.contains(q)]);
            (marks, small.finite.contains(q), small.open.contains(q))
        });
        let (structure, meaning) = small.structure.quotient(&class);
        let names = (structure.len() == small.structure.len())
            .then_some(())
            .and(small.names.as_ref());
        let names = names.map(|n| meaning.iter().map(|q| n[q.index()].clone()).collect());
        Self {
            names,
            ..small.image(structure, &meaning)
        }
    }

    /// The same automaton over letters of which each is one of this one's.
    pub(crate) fn over(
        &self,
        alphabet: &Arc<Alphabet>,
        classes: &[u32],
    ) -> Result<Self, AutomatonError> {
        let next = self
            .structure
            .states()
            .flat_map(|q| classes.iter().map(move |&c| (q, Letter::new(c as usize))))
            .map(|(q, l)| self.structure.step(q, l))
            .collect();
        Ok(Self {
            structure: Structure::new(alphabet.clone(), self.structure.initial(), next)?,
            ..self.clone()
        })
    }

    /// The same automaton over a wide alphabet, of which a function says which letter is which of this one's.
    pub(crate) fn over_functions(
        &self,
        alphabet: &Arc<Alphabet>,
        classes: (&Diagrams, Function),
    ) -> Result<Self, AutomatonError> {
        Ok(Self {
            structure: self.structure.over_functions(alphabet, classes)?,
            ..self.clone()
        })
    }

    pub(crate) fn image(&self, structure: Structure, meaning: &[StateId]) -> Self {
        let n = structure.len();
        let map = |set: &StateSet| StateSet::of(n, |q| set.contains(meaning[q.index()]));
        Self {
            pairs: self
                .pairs
                .iter()
                .map(|p| Pair {
                    recurrent: map(&p.recurrent),
                    persistent: map(&p.persistent),
                })
                .collect(),
            finite: map(&self.finite),
            open: map(&self.open),
            names: self
                .names
                .as_ref()
                .map(|names| meaning.iter().map(|q| names[q.index()].clone()).collect()),
            structure,
        }
    }

    /// An automaton for the same r-property whose finite acceptance is that of definition 3.
    ///
    /// This exists iff every run that from some point on stays in finitely accepting states is
    /// accepted, in the papers' words `P(φ) ⊆ ϕ`: under definition 3 such a run meets every pair.
    /// Then two things are repaired. A state that should accept finite sequences but is bad for
    /// pair i passes its badness on to the next state that accepts none (a flag a pair); and a
    /// state that should accept none is put outside one of two new pairs, alternately, each of
    /// which the other one's states make recurrent.
    pub fn to_definition_3(&self) -> Result<Self, AutomatonError> {
        if self.follows_definition_3() {
            return Ok(self.clone());
        }
        let inside: Vec<StateId> = self.finite.iter().collect();
        let omega = self.to_omega();
        let tied = StreettAutomaton {
            finite: StateSet::full(self.structure.len()),
            ..self.clone()
        };
        for component in cyclic_components(&self.structure, &inside) {
            let sub = StateSet::of(self.structure.len(), |q| {
                component.binary_search(&q).is_ok()
            });
            if tied.has_rejecting_cycle_in(&omega, &sub)? {
                return Err(AutomatonError::FinitaryPart);
            }
        }
        // (state, pairs broken since the last state that accepts no finite sequence, parity of
        // such states so far)
        let enter = |q: StateId, mut owed: Colours, odd: bool| {
            let outside = self
                .pairs
                .iter()
                .map(|p| !p.persistent.contains(q))
                .zip(0..);
            owed.unite(&outside.filter_map(|(out, i)| out.then_some(i)).collect());
            (q, owed, odd == self.finite.contains(q))
        };
        let (structure, meaning) = self.structure.explore_along(
            enter(self.structure.initial(), Colours::default(), false),
            DEFAULT_BUDGET,
            |&(q, _, _)| q,
            |(q, owed, odd), to| {
                let kept = if self.finite.contains(*q) {
                    owed.clone()
                } else {
                    Colours::default()
                };
                Ok::<_, AutomatonError>(enter(to, kept, *odd))
            },
        )?;
        let n = structure.len();
        let accepts = |s: StateId| self.finite.contains(meaning[s.index()].0);
        let mut pairs: Vec<Pair> = self
            .pairs
            .iter()
            .zip(0..)
            .map(|(p, i)| Pair {
                recurrent: StateSet::of(n, |s| p.recurrent.contains(meaning[s.index()].0)),
                persistent: StateSet::of(n, |s| accepts(s) || !meaning[s.index()].1.contains(i)),
            })
            .collect();
        for side in [false, true] {
            pairs.push(Pair {
                recurrent: StateSet::of(n, |s| !accepts(s) && meaning[s.index()].2 != side),
                persistent: StateSet::of(n, accepts),
            });
        }
        Ok(Self::new(structure, pairs)?.reduced())
    }

    fn has_rejecting_cycle_in(
        &self,
        omega: &OmegaAutomaton,
        sub: &StateSet,
    ) -> Result<bool, AutomatonError> {
        // A sink replaces what lies outside, so that only cycles inside are looked at.
        let n = self.structure.len();
        let sink = n as u32;
        let mut successors: Vec<Vec<u32>> = Vec::with_capacity(n + 1);
        for q in self.structure.states() {
            let stays = |to: &StateId| sub.contains(q) && sub.contains(*to);
            let to = |to: &StateId| if stays(to) { to.index() as u32 } else { sink };
            successors.push(self.structure.row(q).iter().map(to).collect());
        }
        successors.push(vec![sink]);
        let mut colours = omega.colours.clone();
        colours.push(Colours::default());
        let cut = OmegaAutomaton {
            structure: Structure::of_graph(self.structure.initial(), &successors)?,
            colours,
            acceptance: omega.acceptance.clone(),
            finite: StateSet::empty(n + 1),
        };
        let forest = cut.low_forest()?;
        Ok(forest
            .roots()
            .any(|r| forest.cycles[r].states != [StateId::new(n)] && forest.has_cycle(r, false)))
    }
}
