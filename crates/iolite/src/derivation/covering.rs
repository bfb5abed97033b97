//! Test cases that cover a model with data: each heads for one goal of the symbolic model.

use std::collections::BTreeMap;
use std::time::Duration;

use iolite_derive::{Count, SymbolicTestCase, symbolic_model_hash};
use iolite_lang::LineIndex;
use iolite_sts::analysis::{self, Answer, Proof, VerifyBudget};
use iolite_sts::{CoverageCriterion, CoverageGoal, CriterionGoals, Iosts, SymbolicTest};
use serde::Serialize;

use super::symbolic::SymbolicSource;
use super::{Derivation, Derived, TakeDerived};
use crate::campaign::{GoalKind, ModelGoal, named_goal};
use crate::symbolic_view::{MOST_LOCATIONS, pruned_to_cover};
use crate::{Error, Spec, SymbolicGraph, answers_count, solver};

/// The time for one goal: a way there, or a proof that there is none.
const ONE_GOAL: Duration = Duration::from_secs(10);

/// A goal that is proved to be out of reach.
#[derive(Clone, Debug, Serialize)]
pub struct UnreachableGoal {
    /// The goal.
    #[serde(flatten)]
    pub goal: ModelGoal,
    /// Which method found the proof.
    pub by: String,
    /// An inductive invariant, by location, that excludes the goal.
    pub invariant: BTreeMap<String, String>,
}

impl UnreachableGoal {
    pub(crate) fn new(goal: ModelGoal, proof: &Proof, probed: &Iosts, written: usize) -> Self {
        let terms = proof.terms(probed).take(written);
        Self {
            goal,
            by: proof.how.clone(),
            invariant: terms
                .filter(|(_, condition)| !condition.is_true())
                .map(|(location, condition)| (location.to_owned(), condition.to_string()))
                .collect(),
        }
    }
}

/// A goal for which neither a test case nor a proof was found, and why.
#[derive(Clone, Debug, Serialize)]
pub struct UndecidedGoal {
    /// The goal.
    #[serde(flatten)]
    pub goal: ModelGoal,
    /// What stood in the way.
    pub reason: String,
}

impl SymbolicSource<'_> {
    /// One test case for each goal of the criterion that can be reached.
    pub(super) fn cover(
        &self,
        criterion: CoverageCriterion,
        take: &mut TakeDerived<'_>,
    ) -> Result<Derivation, Error> {
        let goals = criterion
            .goals(&self.system)
            .ok_or_else(|| Error::undecided("the model has too many switch pairs"))?;
        let lines = match &*self.spec {
            Spec::Symbolic(spec) => LineIndex::new(spec.source().bytes()),
            Spec::Explicit(_) | Spec::Properties(_) => LineIndex::new(b""),
        };
        let model = self.reference.with_hash(symbolic_model_hash(&self.system));
        let mut derivation = Derivation::default();
        let (mut covered, mut total) = (0, 0);
        let width = goals.wanted.len().to_string().len();
        for (number, &k) in goals.wanted.iter().enumerate() {
            let goal = goals.goals.get(k);
            let named = named_goal(&self.system, &lines, goal, Some(&goals));
            if matches!(goal, CoverageGoal::Location(l) if *l == self.system.initial()) {
                // Every run is there before anything happens.
                (covered, total) = (covered + 1, total + 1);
                continue;
            }
            match self.towards(&goals, goal)? {
                Towards::Test(test, reasons, constants) => {
                    (covered, total) = (covered + 1, total + 1);
                    let name = format!("{}-{:0width$}", prefix(named.kind), number + 1);
                    let case = SymbolicTestCase::of(&name, model.clone(), &test);
                    let made = Derived::Symbolic {
                        case: Box::new(case),
                        graph: Box::new(SymbolicGraph::of(*test, reasons)),
                        goal: Some(said(&named, &constants)),
                    };
                    if take(made)?.is_break() {
                        derivation.notes.push("not all goals were looked at".into());
                        break;
                    }
                }
                Towards::Unreachable(proof, probed) => {
                    let written = goals.model.locations().len();
                    let proved = UnreachableGoal::new(named, &proof, &probed, written);
                    derivation.proofs.push(proved);
                }
                Towards::Undecided(reason) => {
                    total += 1;
                    let goal = named;
                    derivation.undecided.push(UndecidedGoal { goal, reason });
                }
            }
        }
        derivation.covered = Some(Count {
            seen: covered,
            total,
        });
        Ok(derivation)
    }

    fn towards(&self, goals: &CriterionGoals, goal: &CoverageGoal) -> Result<Towards, Error> {
        let budget = self.workspace.budget();
        if let Some(why) = budget.exceeded() {
            return Ok(Towards::Undecided(why.to_string()));
        }
        let mut solver = solver(self.solver)?;
        let (probed, location) = goals.model.with_probe(goal);
        let time = VerifyBudget {
            time: ONE_GOAL,
            ..VerifyBudget::default()
        };
        let answer = analysis::verify(&probed, &[location], &mut solver, time);
        answers_count(&solver)?;
        let refutation = match answer {
            // Constants with which terms fault are no specification, but nobody has excluded them.
            Answer::Proved(proof) if !proof.faults.is_empty() => {
                return Ok(Towards::Undecided(
                    "no way there was found, but terms of the model may have no value".into(),
                ));
            }
            Answer::Proved(proof) => {
                return Ok(Towards::Unreachable(Box::new(proof), Box::new(probed)));
            }
            Answer::Unknown { left } => {
                return Ok(Towards::Undecided(format!(
                    "neither a way there nor a proof was found ({})",
                    left.join("; ")
                )));
            }
            Answer::Refuted(refutation) => refutation,
        };
        let constants = refutation.constants(&probed);
        let constants: Vec<String> = constants.map(|(c, v)| format!("{c} = {v}")).collect();
        let test = SymbolicTest::covering(&goals.model, goal, &mut solver, MOST_LOCATIONS);
        let test = match test {
            Ok(test) => test,
            Err(e) => {
                let way = refutation.texts(&probed);
                return Ok(Towards::Undecided(format!(
                    "it is reached by {}, but a test case needs a deterministic form: {e}",
                    way.join(" ")
                )));
            }
        };
        let (test, reasons) = pruned_to_cover(&test, &mut solver);
        answers_count(&solver)?;
        let test = test.compacted();
        Ok(Towards::Test(Box::new(test), reasons, constants))
    }
}

/// What came of one goal.
enum Towards {
    Test(Box<SymbolicTest>, Vec<crate::PruningReason>, Vec<String>),
    Unreachable(Box<Proof>, Box<Iosts>),
    Undecided(String),
}

fn prefix(kind: GoalKind) -> &'static str {
    match kind {
        GoalKind::State => "location",
        GoalKind::Transition => "transition",
        GoalKind::Branch => "branch",
        GoalKind::Boundary => "boundary",
        GoalKind::SwitchPair => "pair",
    }
}

/// The goal, with values of the constants with which it is reached.
fn said(goal: &ModelGoal, constants: &[String]) -> String {
    if constants.is_empty() {
        goal.name.clone()
    } else {
        format!("{}, for example with {}", goal.name, constants.join(", "))
    }
}
