//! The Hanoi Omega-Automata format, in and out, for deterministic automata.
//!
//! Every acceptance condition that the format can write is read; what is not Streett's becomes so
//! by way of the cycles. Letters are valuations of the propositions; or, with the header
//! `iolite-alphabet: actions` (or when the caller says so), the propositions are actions of which
//! exactly one happens at a time. The header `iolite-finite:` lists the states in which accepted finite
//! sequences end; without it definition 3 decides.
//!
//! The crate `hoars` would read the syntax, but brings a diagnostics renderer, a parser combinator
//! library, a BDD library and a tracing framework with it, and leaves determinism, completion and
//! acceptance to the caller; the part of the format that is needed is smaller than that.

mod acc_name;
mod label;
mod lex;
mod nondeterministic;
mod read;
mod rows;
mod write;

use iolite_property::alphabet::AlphabetError;
use iolite_property::structure::AutomatonError;
use thiserror::Error;

pub use read::{HoaReading, read, read_omega};
pub use write::{write, write_omega};

/// Why a text is no automaton in HOA that can be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum HoaError {
    /// Not the format.
    #[error("{message} in line {line}")]
    Syntax {
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// Two edges of a state have a letter in common, or there are several initial states, and yet finite
    /// words are marked on its states.
    #[error("the automaton marks finite words and is not deterministic: {0}")]
    Nondeterministic(String),
    /// A stream of automata.
    #[error("the file holds several automata, and one is read")]
    Several,
    /// Conjunctions of states are not followed.
    #[error("alternating automata are not supported")]
    Alternating,
    /// Larger than is read.
    #[error("the automaton is too large: {0}")]
    TooLarge(String),
    /// No alphabet.
    #[error(transparent)]
    Alphabet(#[from] AlphabetError),
    /// No automaton.
    #[error(transparent)]
    Automaton(#[from] AutomatonError),
}

impl HoaError {
    /// Whether a bound was met, so that the automaton may be right; else it is wrong.
    pub fn is_bound(&self) -> bool {
        match self {
            Self::TooLarge(_) => true,
            Self::Alphabet(e) => matches!(e, AlphabetError::TooManyPropositions(_)),
            Self::Automaton(e) => e.is_bound(),
            _ => false,
        }
    }
}
