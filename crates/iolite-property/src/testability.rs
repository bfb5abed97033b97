//! Which verdicts testing can reach for a property [PROP12, §5, §6 and §8].
//!
//! Tables 1, 2 and 3 give the conditions class by class. They are instances of one question: can a
//! state be reached whose sequences determine the property? That is asked here directly, for any
//! automaton, so redundant shapes do not matter. (Table 2 prints R̄ ≠ ∅ for guarantee properties; the
//! condition is R ≠ ∅, as the language view beside it and example 7 say.)

use std::fmt;

use crate::alphabet::{Alphabet, Letter};
use crate::cycles::cyclic_components;
use crate::determinacy::{Determinacy, Reading};
use crate::partition::{Partition, Quality};
use crate::state_set::StateSet;
use crate::streett::StreettAutomaton;
use crate::structure::{AutomatonError, StateId};
use crate::verdict::{PropertyVerdict, Quiescence};

/// A relation between the executions of an implementation and a property
/// [PROP12, def. 6].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Relation {
    /// Exec(P) ⊆ Π: the implementation respects the property.
    Inclusion,
    /// Exec(P) = Π: its behaviours are exactly those of the property.
    Equality,
    /// Exec(P) ∩ Π ≠ ∅: some behaviour is one of the property.
    NonDisjointness,
    /// Π ⊆ Exec(P): the implementation implements the property.
    Implementation,
}

impl Relation {
    /// The fixed spelling, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inclusion => "inclusion",
            Self::Equality => "equality",
            Self::NonDisjointness => "non-disjointness",
            Self::Implementation => "implementation",
        }
    }

    /// All four, in the paper's order of definition 6.
    pub const ALL: [Self; 4] = [
        Self::Inclusion,
        Self::Equality,
        Self::NonDisjointness,
        Self::Implementation,
    ];

    /// The verdict on a sequence that determines the property in this direction.
    pub fn verdict(self, positive: bool) -> PropertyVerdict {
        match (self, positive) {
            (Self::Inclusion | Self::Equality, true) => PropertyVerdict::WeakPass,
            (Self::Inclusion | Self::Equality, false) => PropertyVerdict::Fail,
            (Self::NonDisjointness, true) => PropertyVerdict::Pass,
            (Self::NonDisjointness, false) => PropertyVerdict::WeakFail,
            (Self::Implementation, _) => PropertyVerdict::Unknown,
        }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inclusion => "Exec ⊆ Π",
            Self::Equality => "Exec = Π",
            Self::NonDisjointness => "Exec ∩ Π ≠ ∅",
            Self::Implementation => "Π ⊆ Exec",
        })
    }
}

/// On what a verdict rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Basis {
    /// The good and the bad states, as definition 13 builds the canonical tester.
    #[default]
    Partition,
    /// Determinacy proper, in one of its readings; see [`crate::determinacy`] for the difference.
    Determinacy(Reading),
}

impl Basis {
    /// The states whose sequences determine the property positively, and negatively.
    pub fn determined(
        self,
        automaton: &StreettAutomaton,
    ) -> Result<(StateSet, StateSet), AutomatonError> {
        match self {
            Self::Partition => {
                let partition = Partition::new(automaton);
                Ok((partition.part(Quality::Good), partition.part(Quality::Bad)))
            }
            Self::Determinacy(reading) => {
                let determinacy = Determinacy::new(automaton, reading)?;
                Ok((determinacy.positive, determinacy.negative))
            }
        }
    }
}

/// A sequence that earns a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// A shortest sequence of actions.
    pub word: Vec<Letter>,
    /// Then this must be observed.
    pub quiescence: Option<Quiescence>,
}

impl Witness {
    /// In `a·b·delta_o` notation.
    pub fn show(&self, alphabet: &Alphabet) -> String {
        match self.quiescence {
            None => alphabet.show(&self.word),
            Some(q) if self.word.is_empty() => q.to_string(),
            Some(q) => format!("{}·{q}", alphabet.show(&self.word)),
        }
    }
}

/// Why a verdict cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Obstacle {
    /// No reachable state determines the property positively.
    NeverSatisfiedForGood,
    /// No reachable state determines the property negatively.
    NeverViolatedForGood,
    /// One execution never shows that all executions are in Π, unless Π holds them all.
    NeedsAllExecutions,
    /// That no execution is in Π cannot be seen on one execution, unless Π is empty.
    NeedsNoExecution,
    /// That a sequence of Π is not feasible cannot be seen: the implementation may be
    /// nondeterministic [PROP12, §6.4].
    NeedsDeterminism,
    /// One execution cannot show that all of Π is feasible [PROP12, §6.4].
    NeedsAllOfTheProperty,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NeverSatisfiedForGood => "no sequence satisfies the property for good",
            Self::NeverViolatedForGood => "no sequence violates the property for good",
            Self::NeedsAllExecutions => "one execution cannot speak for all",
            Self::NeedsNoExecution => {
                "one execution outside the property leaves room for others inside"
            }
            Self::NeedsDeterminism => "another execution may still show the missing sequence",
            Self::NeedsAllOfTheProperty => {
                "one execution cannot show every sequence of the property to be feasible"
            }
        })
    }
}

/// A verdict with a witness, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obtainable {
    /// The verdict.
    pub verdict: PropertyVerdict,
    /// How to obtain it.
    pub outcome: Result<Witness, Obstacle>,
}

/// The testability of a property with respect to a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Testability {
    /// The relation.
    pub relation: Relation,
    /// `pass`, `fail`, then the weak verdict that the relation has, if any.
    pub verdicts: Vec<Obtainable>,
}

impl Testability {
    /// Decides what can be obtained; with `quiescence`, `δ_o` and `δ_d` can be observed.
    pub fn new(
        automaton: &StreettAutomaton,
        relation: Relation,
        quiescence: bool,
        basis: Basis,
    ) -> Result<Self, AutomatonError> {
        let question = Question::new(automaton, quiescence, basis)?;
        let rows: Vec<(PropertyVerdict, Result<Witness, Obstacle>)> = match relation {
            Relation::Inclusion | Relation::Equality => {
                // Everything allowed: any implementation is included (§6.1.1); equal it need not be.
                let pass = if relation == Relation::Inclusion && question.everything()? {
                    Ok(Witness {
                        word: Vec::new(),
                        quiescence: None,
                    })
                } else {
                    Err(Obstacle::NeedsAllExecutions)
                };
                vec![
                    (PropertyVerdict::Pass, pass),
                    (
                        PropertyVerdict::Fail,
                        question.negative(&[Quiescence::OutputLock]),
                    ),
                    (
                        PropertyVerdict::WeakPass,
                        question.positive(&[Quiescence::Deadlock]),
                    ),
                ]
            }
            Relation::NonDisjointness => {
                // The dual of inclusion in the negation (§6.3).
                let fail = if question.nothing()? {
                    Ok(Witness {
                        word: Vec::new(),
                        quiescence: None,
                    })
                } else {
                    Err(Obstacle::NeedsNoExecution)
                };
                vec![
                    (
                        PropertyVerdict::Pass,
                        question.positive(&[Quiescence::OutputLock]),
                    ),
                    (PropertyVerdict::Fail, fail),
                    (
                        PropertyVerdict::WeakFail,
                        question.negative(&[Quiescence::Deadlock]),
                    ),
                ]
            }
            Relation::Implementation => {
                let pass = match question.single_branch()? {
                    Some(word) => Ok(Witness {
                        word,
                        quiescence: None,
                    }),
                    None => Err(Obstacle::NeedsAllOfTheProperty),
                };
                vec![
                    (PropertyVerdict::Pass, pass),
                    (PropertyVerdict::Fail, Err(Obstacle::NeedsDeterminism)),
                ]
            }
        };
        let verdicts = rows
            .into_iter()
            .map(|(verdict, outcome)| Obtainable { verdict, outcome })
            .collect();
        Ok(Self { relation, verdicts })
    }

    /// The witness of a verdict, where it can be obtained.
    pub fn witness(&self, verdict: PropertyVerdict) -> Option<&Witness> {
        self.verdicts
            .iter()
            .find(|o| o.verdict == verdict)?
            .outcome
            .as_ref()
            .ok()
    }

    /// Whether `pass` or `fail` can be obtained [PROP12, def. 8].
    pub fn is_testable(&self) -> bool {
        [PropertyVerdict::Pass, PropertyVerdict::Fail]
            .iter()
            .any(|&v| self.witness(v).is_some())
    }

    /// Whether any verdict but `unknown` can be obtained [PROP12, cor. 1].
    pub fn is_testable_with_weak_verdicts(&self) -> bool {
        self.verdicts.iter().any(|o| o.outcome.is_ok())
    }
}

struct Question<'a> {
    automaton: &'a StreettAutomaton,
    quiescence: bool,
    positive: StateSet,
    negative: StateSet,
}

impl<'a> Question<'a> {
    fn new(
        automaton: &'a StreettAutomaton,
        quiescence: bool,
        basis: Basis,
    ) -> Result<Self, AutomatonError> {
        let (positive, negative) = basis.determined(automaton)?;
        Ok(Self {
            automaton,
            quiescence,
            positive,
            negative,
        })
    }

    fn initial(&self) -> StateId {
        self.automaton.structure().initial()
    }

    /// Π = (Σ*, Σ^ω).
    fn everything(&self) -> Result<bool, AutomatonError> {
        let exact = Determinacy::new(self.automaton, Reading::FiniteAndInfinite)?;
        Ok(exact.positive.contains(self.initial()))
    }

    /// Π = (∅, ∅).
    fn nothing(&self) -> Result<bool, AutomatonError> {
        let exact = Determinacy::new(self.automaton, Reading::FiniteAndInfinite)?;
        Ok(exact.negative.contains(self.initial()))
    }

    fn positive(&self, kinds: &[Quiescence]) -> Result<Witness, Obstacle> {
        let now = self.automaton.accepted();
        self.reach(&self.positive, &now, kinds)
            .ok_or(Obstacle::NeverSatisfiedForGood)
    }

    fn negative(&self, kinds: &[Quiescence]) -> Result<Witness, Obstacle> {
        let now = self.automaton.finite().complement();
        self.reach(&self.negative, &now, kinds)
            .ok_or(Obstacle::NeverViolatedForGood)
    }

    /// A shortest way into `determined`, or into `now` with quiescence after it
    /// [PROP12, def. 14].
    ///
    /// Definition 14 asks for a sequence of more than one event; the tester of definition 15 gives
    /// its verdict on quiescence in the initial state too, and so does this.
    fn reach(
        &self,
        determined: &StateSet,
        now: &StateSet,
        kinds: &[Quiescence],
    ) -> Option<Witness> {
        let s = self.automaton.structure();
        let sure = s.shortest(self.initial(), determined).map(|word| Witness {
            word,
            quiescence: None,
        });
        if !self.quiescence {
            return sure;
        }
        let quiet = s.shortest(self.initial(), now).map(|word| Witness {
            word,
            quiescence: kinds.first().copied(),
        });
        match (sure, quiet) {
            (Some(a), Some(b)) => Some(if a.word.len() <= b.word.len() + 1 {
                a
            } else {
                b
            }),
            (a, b) => a.or(b),
        }
    }

    /// When no infinite sequence is in Π and all finite ones are prefixes of one of them, that one
    /// execution shows Π ⊆ Exec(P), executions being prefix-closed.
    fn single_branch(&self) -> Result<Option<Vec<Letter>>, AutomatonError> {
        let s = self.automaton.structure();
        let infinite = Determinacy::new(self.automaton, Reading::Infinite)?;
        if !infinite.negative.contains(self.initial()) {
            return Ok(None);
        }
        let useful = s
            .reach(self.initial())
            .intersection(&s.co_reach(self.automaton.finite()));
        let states: Vec<StateId> = useful.iter().collect();
        if !cyclic_components(s, &states).is_empty() {
            return Ok(None);
        }
        let (mut word, mut longest) = (Vec::new(), 0);
        let mut at = self.initial();
        loop {
            if self.automaton.finite().contains(at) {
                longest = word.len();
            }
            let mut ways = s
                .alphabet()
                .iter()
                .filter(|&l| useful.contains(s.step(at, l)));
            match (ways.next(), ways.next()) {
                (Some(l), None) => {
                    word.push(l);
                    at = s.step(at, l);
                }
                (None, _) => {
                    word.truncate(longest);
                    return Ok(Some(word));
                }
                _ => return Ok(None),
            }
        }
    }
}
