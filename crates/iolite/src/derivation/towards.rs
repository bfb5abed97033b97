//! Test cases that head for a goal: an observer's violation, a purpose, a property.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use iolite_derive::{
    CaseWork, Drawing, GoalTest, ModelRef, Objective, RequirementSuite, SafetyTest, TestCase,
};

use iolite_lts::{Semantics, StateId};
use iolite_sts::PruningGoal;

use super::{Derivation, DerivationSource, Derived, LARGEST, TakeDerived, too_large};
use crate::{Error, PropertyOptions};

/// Steps that a run towards a goal may take more than the shortest way, as those towards coverage may.
const DETOUR: usize = 10;

/// Goals, and how many test cases are drawn for each.
#[derive(Clone, Debug)]
pub struct GoalDerivation {
    /// Safety properties to be violated.
    pub observers: Vec<ModelRef>,
    /// Test purposes to be reached.
    pub purposes: Vec<ModelRef>,
    /// Properties of any class, to be violated or settled.
    pub properties: Vec<ModelRef>,
    /// Test cases for each goal, the shortest way first.
    pub alternatives: u64,
    /// Seed of the alternatives.
    pub seed: u64,
    /// How much longer than the shortest way an alternative may be.
    pub slack: usize,
    /// What must be within reach in test cases with data, or they end `inconc`.
    pub pruning: PruningGoal,
}

impl GoalDerivation {
    /// The option that gives the goals.
    pub(super) fn flag(&self) -> &'static str {
        if !self.observers.is_empty() {
            "--observer"
        } else if !self.purposes.is_empty() {
            "--purpose"
        } else {
            "--property"
        }
    }

    pub(super) fn derive(
        &self,
        source: &DerivationSource<'_>,
        work: CaseWork<'_>,
        take: &mut TakeDerived<'_>,
    ) -> Result<Derivation, Error> {
        let mut derivation = Derivation::default();
        let notes = &mut derivation.notes;
        if !self.observers.is_empty() {
            self.observers(source, notes, work, take)?;
        }
        for reference in &self.purposes {
            for purpose in source.workspace.purposes_of(reference, source.spec)? {
                if self.towards(source, purpose, notes, work, take)?.is_break() {
                    return Ok(derivation);
                }
            }
        }
        if !self.properties.is_empty() {
            let options = PropertyOptions {
                properties: self.properties.clone(),
                ..PropertyOptions::default()
            };
            let workspace = source.workspace;
            for property in workspace.property_objectives(&options, source.spec)? {
                if self
                    .towards(source, property, notes, work, take)?
                    .is_break()
                {
                    return Ok(derivation);
                }
            }
        }
        Ok(derivation)
    }

    fn observers(
        &self,
        source: &DerivationSource<'_>,
        notes: &mut Vec<String>,
        work: CaseWork<'_>,
        take: &mut TakeDerived<'_>,
    ) -> Result<(), Error> {
        let (lts, policy) = (source.lts, source.policy);
        let mut observers = Vec::new();
        for reference in &self.observers {
            observers.extend(source.workspace.observers_of(reference, source.spec)?);
        }
        let suite =
            RequirementSuite::derive(lts, policy, &observers, &source.model, LARGEST, work.jobs)
                .map_err(|e| too_large(&e))?;
        if take(Derived::Matrix(suite.to_csv(lts)))?.is_break() {
            return Ok(());
        }
        for (observer, requirement) in observers.into_iter().zip(&suite.requirements) {
            let name = &requirement.name;
            if let Some(trace) = &requirement.specification_violates {
                let trace: Vec<String> = trace.iter().map(|&l| lts.labels().text(l)).collect();
                notes.push(format!(
                    "the specification itself violates {name}, after {}",
                    trace.join(" ")
                ));
            }
            let mut test =
                SafetyTest::build(lts, policy, observer, LARGEST).map_err(|e| too_large(&e))?;
            if !test.is_reachable() {
                notes.push(format!(
                    "{name}: no trace of the specification comes near it"
                ));
                continue;
            }
            let graph = test.graph();
            if take(Derived::Graph { name, graph })?.is_break() {
                return Ok(());
            }
            let test = Mutex::new(&mut test);
            let draw = |drawing| drawn(&test, drawing, &source.model);
            if self.draw_each(name, &draw, work).is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Test cases towards one goal.
    fn towards<O: Objective + Send>(
        &self,
        source: &DerivationSource<'_>,
        goal: O,
        notes: &mut Vec<String>,
        work: CaseWork<'_>,
        take: &mut TakeDerived<'_>,
    ) -> Result<ControlFlow<()>, Error> {
        let name = goal.name().to_owned();
        let mut test =
            GoalTest::build(source.lts, source.policy, goal, LARGEST).map_err(|e| too_large(&e))?;
        if !test.is_reachable() {
            notes.push(format!("{name}: no trace of the specification reaches it"));
            return Ok(ControlFlow::Continue(()));
        }
        let (name, graph) = (name.as_str(), test.graph());
        if take(Derived::Graph { name, graph })?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let test = Mutex::new(&mut test);
        let draw = |drawing| drawn(&test, drawing, &source.model);
        Ok(self.draw_each(name, &draw, work))
    }

    /// The alternatives for a goal, named after it.
    fn draw_each(
        &self,
        goal: &str,
        draw: &(dyn Fn(Drawing) -> TestCase + Sync),
        work: CaseWork<'_>,
    ) -> ControlFlow<()> {
        work.numbered(self.alternatives, &|k| match k {
            // The shortest way, and ways back to it where the system chooses otherwise.
            0 => {
                let (seed, slack) = (None, DETOUR);
                draw(Drawing { seed, slack }).named(goal)
            }
            k => {
                let (seed, slack) = (Some(self.seed + k), self.slack);
                draw(Drawing { seed, slack }).named(format!("{goal}-{}", k + 1))
            }
        })
    }
}

/// A test case of a graph that threads share: one draws at a time, while others check and store what they have drawn.
fn drawn<M: Semantics<State = StateId>, O: Objective>(
    test: &Mutex<&mut GoalTest<M, O>>,
    drawing: Drawing,
    model: &ModelRef,
) -> TestCase {
    let test = test.lock().unwrap_or_else(PoisonError::into_inner);
    test.draw(drawing, model)
}
