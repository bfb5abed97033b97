//! What test cases can come through.

use iolite_lts::{BudgetExceeded, QuiescencePolicy, Semantics, SetId, StateId};
use rustc_hash::FxHashSet;

use super::Meanings;
use crate::{Coverage, CoverageReport, IocoOracle, TestCase, TestStateId};

/// What of a specification a suite can come through, if the system chooses as it hopes.
pub type Reach = CoverageReport;

/// Walks every test case beside the suspension automaton, of at most `limit` states, and lists at most
/// `left` transitions that none of them takes.
pub fn reach<M: Semantics<State = StateId>>(
    cases: &[&TestCase],
    specification: &M,
    policy: QuiescencePolicy,
    limit: usize,
    left: usize,
) -> Result<Reach, BudgetExceeded> {
    let mut oracle = IocoOracle::new(specification, policy);
    let mut coverage = Coverage::explore(oracle.view_mut(), limit)?;
    for case in cases {
        let meanings = Meanings::new(specification.labels(), case);
        let start: (TestStateId, SetId) = (case.initial(), coverage.initial());
        let mut seen = FxHashSet::from_iter([start]);
        let mut todo = vec![start];
        while let Some((t, set)) = todo.pop() {
            for (own, to) in case.state(t).steps() {
                for &label in &meanings.stands_for[own.index()] {
                    let row = coverage.row(set);
                    let Some(&(_, next)) = row.iter().find(|&&(l, _)| l == label) else {
                        continue;
                    };
                    coverage.step(set, label);
                    if seen.insert((to, next)) {
                        todo.push((to, next));
                    }
                }
            }
        }
    }
    Ok(coverage.report(oracle.view(), left))
}
