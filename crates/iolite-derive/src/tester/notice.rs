//! What a run has to say beside its verdict.

use std::sync::Arc;

use iolite_expr::{Span, Term};
use iolite_sts::ValueCoverage;

use crate::Verdict;

/// Why a question was not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecided {
    /// In words.
    pub reason: Arc<str>,
    /// The query that the solver could not decide, in SMT-LIB; empty where none was asked.
    pub query: String,
    /// The place in the model of a term that has no value.
    pub place: Option<Span>,
    /// Whether it is known that nothing can be decided any more, so that the verdict is `inconc` and
    /// not `unknown`: an input of the run is specified by some values of the constants only.
    pub inconclusive: bool,
}

impl Undecided {
    /// Only a reason.
    pub fn new(reason: impl Into<Arc<str>>) -> Self {
        Self {
            reason: reason.into(),
            query: String::new(),
            place: None,
            inconclusive: false,
        }
    }

    /// The verdict of a run that ends with it.
    pub fn verdict(&self) -> Verdict {
        if self.inconclusive {
            Verdict::Inconc
        } else {
            Verdict::Unknown
        }
    }
}

/// Something that a run found out and that no verdict tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// An input that was not offered somewhere, so that the runs say nothing about it there.
    Untried {
        /// Its name.
        input: String,
        /// Why no values were found for it.
        reason: Arc<str>,
    },
    /// An input that was given, with whatever values. What one run could not fill another may have
    /// tried, so a campaign needs both.
    Tried {
        /// Its name.
        input: String,
    },
    /// Which boundaries, transitions and pairs of values were tried by the runs of this tester so far.
    Values(ValueCoverage),
    /// An input was given that only some values of the unknown constants specify. The others explain
    /// whatever follows, so the run cannot fail any more.
    Guessed {
        /// Its name.
        input: String,
    },
    /// Why the verdict is neither `pass` nor `fail`.
    Undecided(Undecided),
    /// What the run says of constants that were left unknown: every valuation that explains the run
    /// meets this.
    Learnt(Term),
    /// An input may have crossed an output under way, and so have been taken where the model does not
    /// specify it. Anything may follow, so the run ended there.
    Crossed {
        /// The input, with its sign.
        input: String,
    },
    /// Why a stored test case ended `inconc`: what the system did instead of what the test needed, in
    /// words.
    LeftGoal(String),
    /// The solver ended by itself or is wrong: nothing that rests on it counts, so this is a fault and
    /// not a verdict.
    SolverFault(String),
    /// The program that explores the model failed or contradicted itself: nothing that rests on it
    /// counts.
    ModelFault(String),
    /// A failure by silence was not repeated with more time: the run is longer than what is kept of it.
    NotRepeated,
    /// A look ahead hit its bound, so that "no goal in sight" was no proof.
    LookaheadBound,
}
