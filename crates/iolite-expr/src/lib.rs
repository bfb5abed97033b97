//! Data for symbolic models: sorts, values, terms, exact evaluation, simplification, and the
//! [`Solver`] port with an embedded default and an SMT-LIB process backend.
//!
//! The crate knows no automata: what a variable stands for (state, parameter, unknown) is the
//! business of its users, who choose the spaces of their [`VarId`]s. An assertion means "evaluates to
//! true without a fault", and a model leaves the port only after evaluation agrees.
//!
//! # Example
//!
//! ```
//! use iolite_expr::{Answer, Solver, Sort, Value, Var, VarId};
//!
//! let x = Var::new(VarId::new(0, 0), "x", Sort::Int);
//! let mut solver = Solver::embedded();
//! solver.assert(&x.term().times(3)?.equals(12)?);
//! let Answer::Sat(model) = solver.check() else { panic!("3x = 12 has a solution") };
//! assert_eq!(model.value(x.id), Some(&Value::from(4)));
//!
//! solver.assert(&x.term().gt(4)?);
//! assert_eq!(solver.check(), Answer::Unsat);
//! # Ok::<(), iolite_expr::TypeError>(())
//! ```

// The automaton that a `Regex` builds when it is first used takes no part in its identity.
#![allow(clippy::mutable_key_type)]

mod bounds;
mod collection;
mod construct;
mod decimal;
mod defined;
mod display;
mod embedded;
mod eval;
mod eval_call;
mod function;
mod int;
mod interval;
mod linear;
mod own_stack;
pub mod qe;
mod read;
mod recursion;
mod regex;
mod sample;
mod sequence;
mod simplify;
mod smtlib;
mod solver;
mod sort;
mod span;
mod substitute;
mod sum;
mod term;
mod typing;
mod unfold;
mod unfold_collection;
mod value;

pub use decimal::MAX_SCALE;
pub use embedded::Embedded;
pub use embedded::sat::{BoolVar, Lit, Sat};
pub use eval::{Env, EvalError, Fault};
pub use function::Function;
pub use int::{Int, ParseIntError};
pub use recursion::{Callee, ResultSort, Signature};
pub use regex::{Regex, RegexError};
pub use sample::{
    CandidateValues, Distribution, Draw, Drawn, GuardProfile, PairCover, Sampler, Strategy,
};
pub use sequence::Sequence;
pub use smtlib::{
    HornAnswer, HornAtom, HornClauses, HornFact, HornRule, SOLVER_VARIABLE, Smtlib, SmtlibError,
};
pub use solver::{Answer, Assertion, Backend, Limits, Model, Solver, SolverStats};
pub use sort::{EnumSort, MAX_SORT_DEPTH, RangeSort, RecordSort, Sort, SortError};
pub use span::Span;
pub use substitute::Substitution;
pub use sum::{MAX_VALUE_DEPTH, SumDeclaration, SumSort, SumValue, Variant};
pub use term::{Kind, MAX_DEPTH, MAX_SIZE, Op, Term, TermTooLarge, Var, VarId};
pub use typing::{TypeError, TypeErrorKind};
pub use value::Value;
