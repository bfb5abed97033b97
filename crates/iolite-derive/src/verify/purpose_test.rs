//! Tests for a purpose, in the way of TGV.

use iolite_property::Purpose;

use crate::GoalTest;

/// The complete test graph of a test purpose: `pass` at its accept states, `fail` where the
/// implementation does what the specification does not allow, `inconc` where a right observation
/// leads to a refuse state or away from acceptance.
pub type PurposeTest<M> = GoalTest<M, Purpose>;
