//! Whether an implementation with data passes a test case with data, every run counted.

use iolite_expr::{Solver, Span};
use iolite_lts::QuiescencePolicy;

use crate::analysis::{Answer, VerifyBudget, satisfies};
use crate::conformance::ConformanceError;
use crate::iosts::{Iosts, LocationId, Transition};

/// A test case as the system has its actions: its stimuli are inputs. It takes every observation of its own
/// gates, except in the locations of its verdicts.
#[derive(Clone, Copy, Debug)]
pub struct TestProgram<'a> {
    /// The program.
    pub model: &'a Iosts,
    /// The locations with a verdict.
    pub verdicts: &'a [LocationId],
}

impl TestProgram<'_> {
    /// Whether a run of the test case with the implementation ends in one of these verdicts, or fails by an
    /// output that the test case does not know; refuted by such a run. The product is the one that the answer
    /// speaks of.
    ///
    /// A constant of the test case stands for all its values, and a run fails only if it fails for all of
    /// them; so a test case with constants is not decided here.
    pub fn avoids(
        self,
        implementation: &Iosts,
        verdicts: &[LocationId],
        policy: QuiescencePolicy,
        solver: &mut Solver,
        budget: VerifyBudget,
    ) -> Result<(Iosts, Answer), ConformanceError> {
        let open = self.model.variables().iter();
        let open = open.filter(|v| v.initial.is_none()).map(|v| &v.var);
        let mut open = open.chain(self.model.constants().iter().map(|c| &c.var));
        if let Some(var) = open.next() {
            return Err(ConformanceError::Unknown((*var.name).into()));
        }
        let implementation = implementation.with_gates_of(self.model)?;
        let mut program = self.model.with_gates_of(&implementation)?;
        let foreign = program.add_location("Foreign");
        let known = self.model.gates().len();
        let gates: Vec<_> = program.gates().skip(known).map(|(id, _)| id).collect();
        for (source, _) in self.model.locations() {
            for &action in &gates {
                // New inputs are never given.
                if self.verdicts.contains(&source) || !program.gate(action).kind.is_observation() {
                    continue;
                }
                program.transitions.push(Transition {
                    source,
                    action,
                    guard: true.into(),
                    assignments: Vec::new(),
                    target: foreign,
                    span: Span::NONE,
                });
            }
        }
        program.index_outgoing();
        let avoided: Vec<LocationId> = verdicts.iter().copied().chain([foreign]).collect();
        let found = satisfies(&implementation, &program, &avoided, policy, solver, budget);
        Ok(found?)
    }
}
