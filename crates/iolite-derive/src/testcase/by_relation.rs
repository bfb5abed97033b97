//! Derivation for any relation with an oracle, compiled once.

use iolite_lts::{BudgetExceeded, Lts};

use crate::{
    CaseWork, CompleteSuite, Completeness, ExhaustiveDerivation, FiniteOracle, FiniteQueueOracle,
    ModelRef, QueueOptions, RandomDerivation, RelationOracle, TakeCase, Undecided,
};

/// Which test cases are derived.
#[derive(Clone, Copy, Debug)]
pub enum CaseSelection<'a> {
    /// At random.
    Random(&'a RandomDerivation),
    /// All there are, up to a bound.
    Exhaustive(&'a ExhaustiveDerivation),
    /// Enough for every implementation with so many states.
    Complete(&'a CompleteSuite),
}

/// What a derivation came to, beside its test cases.
#[derive(Debug, Default)]
pub struct CaseDerivation {
    /// Whether an exhaustive derivation lists all there are up to the depth, or a complete suite is one.
    pub complete: Option<bool>,
    /// What a complete suite came to.
    pub completeness: Option<Completeness>,
    /// Through queues: what was not decided, so that the test cases are not the whole answer.
    pub undecided: Option<Box<Undecided>>,
}

/// Derives test cases, through queues where options for them are given, and hands each over as it is
/// made, until no more are wanted. The suite does not depend on the number of jobs. A complete suite may
/// find the specification too large.
pub fn derive_cases(
    mut oracle: RelationOracle<&Lts>,
    queues: Option<QueueOptions>,
    selection: CaseSelection<'_>,
    model: &ModelRef,
    work: CaseWork<'_>,
    take: &mut TakeCase<'_>,
) -> Result<CaseDerivation, BudgetExceeded> {
    let Some(queues) = queues else {
        return derive(&mut oracle, selection, model, work, take);
    };
    let mut oracle = FiniteQueueOracle::new(oracle, queues);
    let derived = derive(&mut oracle, selection, model, work, take)?;
    Ok(CaseDerivation {
        undecided: oracle.undecided().cloned().map(Box::new),
        ..derived
    })
}

fn derive(
    oracle: &mut (impl FiniteOracle<State: Send> + Send),
    selection: CaseSelection<'_>,
    model: &ModelRef,
    work: CaseWork<'_>,
    take: &mut TakeCase<'_>,
) -> Result<CaseDerivation, BudgetExceeded> {
    let mut derived = CaseDerivation::default();
    match selection {
        CaseSelection::Random(how) => {
            how.derive_each(oracle, model, work, take);
        }
        CaseSelection::Exhaustive(how) => {
            derived.complete = Some(how.derive_each(oracle, model, work, take));
        }
        CaseSelection::Complete(how) => {
            let done = how.derive_each(oracle, model, &mut |case| take(work.written(case)))?;
            derived.complete = Some(done.complete);
            derived.completeness = Some(done);
        }
    }
    Ok(derived)
}
