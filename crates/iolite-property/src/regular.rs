//! Regular expressions over actions, and the finite automata ψ that the language view starts from.

mod derivative;
mod parse;

use std::sync::Arc;

use thiserror::Error;

use crate::alphabet::{Alphabet, Letter};
use crate::state_set::StateSet;
use crate::structure::{AutomatonError, StateId, Structure};

use derivative::Pool;
use parse::Parser;

/// A regular expression over a set of actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Regular {
    /// ∅, no word.
    Empty,
    /// ε.
    Epsilon,
    /// One action, in `?a`, `!x` or plain notation.
    Symbol(String),
    /// Any one action, written `.`.
    Any,
    /// One after the other.
    Concat(Box<Self>, Box<Self>),
    /// One or the other.
    Alt(Box<Self>, Box<Self>),
    /// Both at once.
    And(Box<Self>, Box<Self>),
    /// Any number of times.
    Star(Box<Self>),
    /// At least once.
    Plus(Box<Self>),
    /// At most once.
    Opt(Box<Self>),
    /// Every word that does not match, written `~e`.
    Not(Box<Self>),
}

/// Why an expression gives no automaton.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RegularError {
    /// Not the text of an expression.
    #[error("{message} at byte {at} of the expression")]
    Syntax {
        /// Byte offset.
        at: usize,
        /// What is wrong.
        message: &'static str,
    },
    /// An action outside the alphabet.
    #[error("action {0} is not in the alphabet")]
    UnknownAction(String),
    /// More nested than the parser or the construction follows.
    #[error("expression is nested deeper than {MAX_DEPTH}")]
    TooDeep,
    /// The automaton would be too large.
    #[error(transparent)]
    Automaton(#[from] AutomatonError),
}

/// Nesting that is followed.
pub const MAX_DEPTH: usize = 256;
const MAX_STATES: usize = 1 << 16;

impl Regular {
    /// Reads `a* (b* | c (c|a)* b+)`: juxtaposition or `·` for concatenation, `|` or `+` between
    /// blanks for choice, `&` for intersection, `~` for complement, postfix `*`, `+`, `?`, `.` for
    /// any action, `()` for ε. A `?` or `!` directly before a name belongs to the name.
    pub fn parse(text: &str) -> Result<Self, RegularError> {
        let mut parser = Parser { text, at: 0 };
        let e = parser.alt(0)?;
        parser.blanks();
        if parser.at < text.len() {
            return Err(parser.error("unexpected text"));
        }
        Ok(e)
    }

    /// The actions it names, in order of appearance, each once.
    pub fn actions(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut todo = vec![self];
        while let Some(e) = todo.pop() {
            match e {
                Self::Symbol(s) if !found.contains(s) => found.push(s.clone()),
                Self::Concat(a, b) | Self::Alt(a, b) | Self::And(a, b) => todo.extend([&**b, a]),
                Self::Star(a) | Self::Plus(a) | Self::Opt(a) | Self::Not(a) => todo.push(a),
                _ => {}
            }
        }
        found
    }
}

/// A deterministic, complete finite automaton: the finitary property ψ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dfa {
    /// States and transitions.
    pub structure: Structure,
    /// Where words of ψ end.
    pub accepting: StateSet,
}

impl Dfa {
    /// ψ(σ).
    pub fn accepts(&self, word: &[Letter]) -> bool {
        self.accepting
            .contains(self.structure.after(self.structure.initial(), word))
    }

    /// The minimal automaton of an expression, by derivatives [Brzozowski 1964].
    pub fn new(expression: &Regular, alphabet: &Arc<Alphabet>) -> Result<Self, RegularError> {
        let mut pool = Pool::new(alphabet.clone());
        let start = pool.build(expression, 0)?;
        let (structure, meaning) =
            Structure::explore(alphabet.clone(), start, MAX_STATES, |&e, l| {
                pool.derivative(e, l)
            })?;
        let accepting = StateSet::of(structure.len(), |q| pool.is_nullable(meaning[q.index()]));
        Ok(Self {
            structure,
            accepting,
        }
        .minimal())
    }

    /// The minimal automaton of the same language.
    #[must_use]
    pub fn minimal(&self) -> Self {
        let (reachable, old) = self.structure.reachable_part();
        let class = reachable.bisimulation(|q| self.accepting.contains(old[q.index()]));
        let (structure, meaning) = reachable.quotient(&class);
        let accepting = StateSet::of(structure.len(), |q| {
            self.accepting.contains(old[meaning[q.index()].index()])
        });
        Self {
            structure,
            accepting,
        }
    }

    /// From rows of successors and the accepting states.
    pub fn from_rows(
        alphabet: Arc<Alphabet>,
        initial: usize,
        rows: &[Vec<usize>],
        accepting: &[usize],
    ) -> Result<Self, AutomatonError> {
        let next = rows.iter().flatten().map(|&q| StateId::new(q)).collect();
        let structure = Structure::new(alphabet, StateId::new(initial), next)?;
        if structure.len() != rows.len() {
            let (expected, found) = (rows.len(), structure.len());
            return Err(AutomatonError::TableSize { expected, found });
        }
        let accepting = StateSet::of(rows.len(), |q| accepting.contains(&q.index()));
        Ok(Self {
            structure,
            accepting,
        })
    }
}
