//! Coverage goals of a model with data, with a way to each, or a proof that there is none.

use std::time::{Duration, Instant};

use iolite_sts::analysis::{self, Answer, VerifyBudget};
use iolite_sts::{CoverageCriterion, CriterionGoals, Iosts, ValuedAction};

use super::SymbolicJudge;
use crate::{Error, answers_count};

/// The time for all goals together.
const ALL_GOALS: Duration = Duration::from_secs(20);
/// The time for one goal.
const ONE_GOAL: Duration = Duration::from_secs(2);

/// What is known of a goal before anything was run.
#[derive(Clone, Debug)]
pub(super) enum Examined {
    /// A trace that reaches it from the start, with values of the constants.
    Reachable(Vec<ValuedAction>),
    /// An inductive invariant excludes it.
    Unreachable,
    /// Neither was found.
    Undecided,
}

/// The goals of a criterion, examined once for all jobs of a campaign.
#[derive(Debug)]
pub(super) struct ExaminedGoals {
    pub(super) goals: CriterionGoals,
    /// By wanted goal.
    pub(super) known: Vec<Examined>,
}

impl ExaminedGoals {
    /// Solves a path to each goal, or proves that there is none, while time lasts.
    pub(super) fn new(judge: &SymbolicJudge, criterion: CoverageCriterion) -> Result<Self, Error> {
        let goals = criterion
            .goals(judge.spec().model())
            .ok_or_else(|| Error::undecided("the model has too many switch pairs"))?;
        let mut solver = judge.solver()?;
        let until = Instant::now() + ALL_GOALS;
        let model = judge.with_known_constants(&goals.model);
        let mut known = Vec::new();
        for &k in &goals.wanted {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                known.push(Examined::Undecided);
                continue;
            }
            let (probed, location) = model.with_probe(goals.goals.get(k));
            let budget = VerifyBudget {
                steps: 100_000,
                time: left.min(ONE_GOAL),
                question: Duration::from_millis(200),
            };
            known.push(
                match analysis::verify(&probed, &[location], &mut solver, budget) {
                    Answer::Refuted(way) => Examined::Reachable(way.trace),
                    // A proof that leaves out constants with which the model has faults is none here.
                    Answer::Proved(proof) if proof.faults.is_empty() => Examined::Unreachable,
                    Answer::Proved(_) | Answer::Unknown { .. } => Examined::Undecided,
                },
            );
            answers_count(&solver)?;
        }
        Ok(Self { goals, known })
    }

    /// The model that the goals are of.
    pub(super) fn model(&self) -> &std::sync::Arc<Iosts> {
        &self.goals.model
    }
}
