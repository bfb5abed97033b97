//! A solved path to the goal of a stored test case with data.

use std::collections::VecDeque;
use std::time::Duration;

use iolite_expr::Solver;
use iolite_sts::analysis::{Answer, Method, VerifyBudget, verify_by};
use iolite_sts::{Iosts, LabelKind, LocationId, Symbolic, SymbolicStates, ValuedAction};

/// What looking for a way may cost.
const PLANNING: VerifyBudget = VerifyBudget {
    steps: 20_000,
    time: Duration::from_millis(500),
    question: Duration::from_millis(100),
};

/// The steps that lead to the goal, as long as the system takes them. They say which stimulus is given;
/// what a run means does not depend on them.
#[derive(Debug)]
pub(crate) struct CasePlan {
    goals: Vec<LocationId>,
    solver: Solver,
    steps: VecDeque<ValuedAction>,
    /// Steps before a way is looked for again in this run, and how many the next failure costs.
    pause: u32,
    patience: u32,
}

impl CasePlan {
    /// Heads for these locations of the program.
    pub(crate) fn new(goals: Vec<LocationId>, solver: Solver) -> Self {
        Self {
            goals,
            solver,
            steps: VecDeque::new(),
            pause: 0,
            patience: 1,
        }
    }

    /// A new run begins.
    pub(crate) fn reset(&mut self) {
        self.steps.clear();
        (self.pause, self.patience) = (0, 1);
    }

    /// The next step of a path from these states; `None` where none was found.
    pub(crate) fn next(
        &mut self,
        program: &Symbolic,
        states: &SymbolicStates,
    ) -> Option<&ValuedAction> {
        if self.steps.is_empty() && self.pause == 0 {
            self.steps = self.found(program, states).unwrap_or_default().into();
            if self.steps.is_empty() {
                self.pause = self.patience;
                self.patience = self.patience.saturating_mul(2);
            }
        }
        self.steps.front()
    }

    fn found(&mut self, program: &Symbolic, states: &SymbolicStates) -> Option<Vec<ValuedAction>> {
        let model = program.restarted(states.iter().next()?)?;
        let search = [Method::Explicit, Method::Bounded];
        let solver = &mut self.solver;
        match verify_by(&search, &model, &self.goals, solver, PLANNING, &mut []) {
            Answer::Refuted(way) => Some(way.trace),
            Answer::Proved(_) | Answer::Unknown { .. } => None,
        }
    }

    /// A step was taken; `settled` says that it was a silence that changed nothing. A path goes on after that
    /// if its next step is a stimulus.
    pub(crate) fn taken(&mut self, program: &Iosts, step: &ValuedAction, settled: bool) {
        self.pause = self.pause.saturating_sub(1);
        let Some(next) = self.steps.front() else {
            return;
        };
        let stimulus = program.gate(next.action).kind == LabelKind::Input;
        if next == step {
            self.steps.pop_front();
        } else if !(settled && stimulus) {
            self.steps.clear();
        }
    }
}
