//! Canonical testers [PROP12, §7 and §8].
//!
//! The tester is the property's automaton with a verdict on each state. It is a table: one look-up
//! an event. If the implementation refuses an input, the verdict is that of the state before
//! (§7, "alphabet and test architecture"); the caller just does not step.

use std::sync::Arc;

use iolite_lts::{LabelId, LabelKind, Labels};
use thiserror::Error;

use crate::alphabet::{Alphabet, AlphabetError, Letter};
use crate::state_set::StateSet;
use crate::streett::StreettAutomaton;
use crate::structure::{AutomatonError, StateId, Structure};
use crate::testability::{Basis, Relation};
use crate::verdict::{PropertyVerdict, Quiescence};

/// The name of `δ_d` in a tester's alphabet; `δ_o` is [`LabelId::DELTA`].
pub const DEADLOCK: &str = "delta_d";

/// Why there is no tester.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TesterError {
    /// The property speaks of quiescence itself, so its observation is a letter already.
    #[error("the property's alphabet has {0} already, so quiescence cannot be added to it")]
    QuiescenceInAlphabet(String),
    /// No alphabet.
    #[error(transparent)]
    Alphabet(#[from] AlphabetError),
    /// No automaton.
    #[error(transparent)]
    Automaton(#[from] AutomatonError),
}

/// How a canonical tester is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TesterOptions {
    /// The relation it tests.
    pub relation: Relation,
    /// Whether `δ_o` and `δ_d` are observed (definition 15).
    pub quiescence: bool,
    /// On what verdicts rest.
    pub basis: Basis,
}

impl Default for TesterOptions {
    fn default() -> Self {
        Self {
            relation: Relation::Inclusion,
            quiescence: false,
            basis: Basis::Partition,
        }
    }
}

/// The canonical tester of a property: a Moore automaton that produces verdicts
/// [PROP12, def. 13 and 15].
#[derive(Clone, Debug)]
pub struct CanonicalTester {
    structure: Structure,
    verdicts: Vec<PropertyVerdict>,
    names: Vec<String>,
    options: TesterOptions,
    /// Where the property rejects what was seen so far, and may yet be satisfied.
    pending: StateSet,
}

/// What a run still owes: the property rejects it as it stands, and may yet accept it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Debt {
    /// The actions that lie on a shortest way to where nothing is owed any more.
    pub owed: Vec<String>,
    /// The length of such a way.
    pub steps: usize,
}

impl CanonicalTester {
    /// Builds the tester. For a property that is not testable all its verdicts are `unknown`; that
    /// is no error here.
    pub fn new(automaton: &StreettAutomaton, options: TesterOptions) -> Result<Self, TesterError> {
        let (positive, negative) = options.basis.determined(automaton)?;
        let s = automaton.structure();
        let verdict = |q: StateId| {
            if positive.contains(q) {
                options.relation.verdict(true)
            } else if negative.contains(q) {
                options.relation.verdict(false)
            } else {
                PropertyVerdict::Unknown
            }
        };
        let mut verdicts: Vec<PropertyVerdict> = s.states().map(verdict).collect();
        let mut names: Vec<String> = s.states().map(|q| automaton.name(q)).collect();
        let is_pending = |q: StateId| {
            q.index() < s.len()
                && !automaton.finite().contains(q)
                && !positive.contains(q)
                && !negative.contains(q)
        };
        if !options.quiescence {
            return Ok(Self {
                structure: s.clone(),
                verdicts,
                names,
                options,
                pending: StateSet::of(s.len(), is_pending),
            });
        }
        let n = s.len();
        let table = s.table()?;
        let alphabet = Arc::new(with_quiescence(s.alphabet())?);
        let (q_fail, q_pass) = (StateId::new(n), StateId::new(n + 1));
        let mut next = Vec::with_capacity((n + 2) * alphabet.len());
        for (q, row) in s.states().zip(table.chunks(s.alphabet().len())) {
            next.extend_from_slice(row);
            for kind in [Quiescence::OutputLock, Quiescence::Deadlock] {
                // Definition 15 leaves out the states with a verdict, which is final. And a sequence
                // that the property leaves open is as open when nothing follows.
                let judged = verdicts[q.index()] == PropertyVerdict::Unknown
                    && !automaton.open().contains(q);
                next.push(if judged {
                    quiet_step(options.relation, automaton.finite().contains(q), kind)
                        .map_or(q, |positive| if positive { q_pass } else { q_fail })
                } else {
                    q
                });
            }
        }
        for q in [q_fail, q_pass] {
            next.extend(std::iter::repeat_n(q, alphabet.len()));
        }
        verdicts.extend([
            options.relation.verdict(false),
            options.relation.verdict(true),
        ]);
        names.extend(["q_fail".to_owned(), "q_wpass".to_owned()]);
        let structure = Structure::new(alphabet, s.initial(), next)?;
        Ok(Self {
            pending: StateSet::of(structure.len(), is_pending),
            structure,
            verdicts,
            names,
            options,
        })
    }

    /// Whether the property rejects the sequences that end here, and may yet accept what follows.
    pub fn is_pending(&self, q: StateId) -> bool {
        self.pending.contains(q)
    }

    /// What is owed in a state, if anything is. Silence pays no debt.
    pub fn debt(&self, q: StateId) -> Option<Debt> {
        if !self.is_pending(q) {
            return None;
        }
        let s = &self.structure;
        let acts = |l: Letter| {
            let silence = self.alphabet().kind(l) == LabelKind::Delta;
            !silence && self.alphabet().text(l) != DEADLOCK
        };
        let failing = self.options.relation.verdict(false);
        let paid = StateSet::of(s.len(), |q| {
            let broken = self.verdict(q) == failing && failing != PropertyVerdict::Unknown;
            !self.is_pending(q) && !broken
        });
        let way = |from: StateId| s.shortest_within(from, &paid, |_, l| acts(l));
        let steps = way(q)?.len();
        let nearer =
            |l: &Letter| acts(*l) && way(s.step(q, *l)).is_some_and(|rest| rest.len() + 1 == steps);
        let owed = s.alphabet().iter().filter(nearer);
        Some(Debt {
            owed: owed.map(|l| self.alphabet().text(l)).collect(),
            steps,
        })
    }

    /// Σ, with `δ_o` and `δ_d` last when quiescence is observed.
    pub fn alphabet(&self) -> &Arc<Alphabet> {
        self.structure.alphabet()
    }

    /// States and transitions.
    pub fn structure(&self) -> &Structure {
        &self.structure
    }

    /// How it was built.
    pub fn options(&self) -> TesterOptions {
        self.options
    }

    /// `q_init`.
    pub fn initial(&self) -> StateId {
        self.structure.initial()
    }

    /// The state after an event. An event outside the property's vocabulary changes nothing.
    #[inline]
    pub fn step(&self, q: StateId, label: LabelId) -> StateId {
        match self.alphabet().letter(label) {
            Some(letter) => self.structure.step(q, letter),
            None => q,
        }
    }

    /// The state after quiescence; the same one in a tester that does not observe it.
    pub fn step_quiescent(&self, q: StateId, kind: Quiescence) -> StateId {
        if !self.options.quiescence {
            return q;
        }
        let k = self.alphabet().len();
        let letter = match kind {
            Quiescence::OutputLock => k - 2,
            Quiescence::Deadlock => k - 1,
        };
        self.structure.step(q, Letter::new(letter))
    }

    /// Γ(q).
    #[inline]
    pub fn verdict(&self, q: StateId) -> PropertyVerdict {
        self.verdicts[q.index()]
    }

    /// The name of a state.
    pub fn name(&self, q: StateId) -> &str {
        &self.names[q.index()]
    }

    /// The states with a verdict.
    pub fn with_verdict(&self, verdict: PropertyVerdict) -> StateSet {
        StateSet::of(self.verdicts.len(), |q| self.verdict(q) == verdict)
    }
}

/// Where quiescence leads from a state without a verdict: to a verdict in this direction, or
/// nowhere [PROP12, def. 15, and its dual for non-disjointness].
fn quiet_step(relation: Relation, accepting: bool, kind: Quiescence) -> Option<bool> {
    let final_side = match relation {
        Relation::Inclusion | Relation::Equality => false,
        Relation::NonDisjointness => true,
        Relation::Implementation => return None,
    };
    // On one side any quiescence is final; on the other, stopping at an output lock would be the
    // tester's choice, and only termination is the implementation's.
    (accepting == final_side || kind == Quiescence::Deadlock).then_some(accepting)
}

fn with_quiescence(alphabet: &Alphabet) -> Result<Alphabet, TesterError> {
    let mut labels: Labels = alphabet.labels().clone();
    let mut letters: Vec<LabelId> = alphabet.iter().map(|l| alphabet.label(l)).collect();
    for id in [
        LabelId::DELTA,
        labels.intern(LabelKind::Undirected, DEADLOCK),
    ] {
        if letters.contains(&id) {
            return Err(TesterError::QuiescenceInAlphabet(labels.text(id)));
        }
        letters.push(id);
    }
    Ok(Alphabet::new(labels, letters)?.guarded_as(alphabet))
}

/// A controllable test case: at most one input in each state, every output, and a verdict at its
/// ends [PROP12, §7.2].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyTestCase {
    alphabet: Arc<Alphabet>,
    target: PropertyVerdict,
    verdicts: Vec<PropertyVerdict>,
    names: Vec<String>,
    steps: Vec<Vec<(LabelId, StateId)>>,
}

impl PropertyTestCase {
    pub(crate) fn of(
        alphabet: &Arc<Alphabet>,
        target: PropertyVerdict,
        verdicts: Vec<PropertyVerdict>,
        names: Vec<String>,
        steps: Vec<Vec<(LabelId, StateId)>>,
    ) -> Self {
        Self {
            alphabet: Arc::clone(alphabet),
            target,
            verdicts,
            names,
            steps,
        }
    }

    /// The letters, with the label table that its ids belong to.
    pub fn alphabet(&self) -> &Arc<Alphabet> {
        &self.alphabet
    }

    /// The verdict it was selected for.
    pub fn target(&self) -> PropertyVerdict {
        self.target
    }

    /// The number of states; the first is the initial one.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Never: there is an initial state.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// What may happen in a state, its input first; nothing where the test ends.
    pub fn steps(&self, q: StateId) -> &[(LabelId, StateId)] {
        &self.steps[q.index()]
    }

    /// The input that the tester gives in a state, if any.
    pub fn input(&self, q: StateId) -> Option<LabelId> {
        let first = self.steps(q).first()?.0;
        (self.alphabet.labels().kind(first) == LabelKind::Input).then_some(first)
    }

    /// The verdict of a state.
    pub fn verdict(&self, q: StateId) -> PropertyVerdict {
        self.verdicts[q.index()]
    }

    /// The name that the state has in the tester.
    pub fn name(&self, q: StateId) -> &str {
        &self.names[q.index()]
    }
}
