//! What the runs of a suite really covered, whatever its derivation hoped for.

use iolite_derive::{Count, Coverage, FiniteOracle, IocoOracle, Meaning};
use iolite_exec::Event;
use iolite_lts::{LabelId, SetId};

use super::{Campaign, Judge};
use crate::System;

/// States of the suspension automaton that are measured at most.
const LIMIT: usize = 100_000;

/// Reads the events of runs, one after the other, and walks the suspension automaton with them.
pub struct SuiteCoverage {
    oracle: IocoOracle<System>,
    coverage: Coverage,
    at: Option<SetId>,
}

impl Campaign {
    /// Measures coverage from the events of runs; `None` where the model has no automaton of a size that
    /// can be measured.
    pub fn suite_coverage(&self) -> Option<SuiteCoverage> {
        let Judge::Explicit(judge) = self.judge() else {
            return None;
        };
        let mut oracle = judge.ioco(&self.judge().alphabet());
        let coverage = Coverage::explore(oracle.view_mut(), LIMIT).ok()?;
        Some(SuiteCoverage {
            oracle,
            coverage,
            at: None,
        })
    }
}

impl SuiteCoverage {
    /// The transitions of the suspension automaton that runs took.
    pub fn transitions(&self) -> Count {
        self.coverage.transitions()
    }

    fn step(&mut self, label: Option<LabelId>) {
        let (Some(at), Some(label)) = (self.at, label) else {
            self.at = None;
            return;
        };
        self.coverage.step(at, label);
        let mut inputs = Vec::new();
        self.oracle.inputs_from(at, &mut inputs);
        self.at = match inputs.iter().find(|(l, _)| *l == label) {
            Some(&(_, next)) => Some(next),
            None => match self.oracle.meaning(at, label) {
                Meaning::Allowed(next) => Some(next),
                _ => None,
            },
        };
    }

    /// Reads the next event.
    pub fn read(&mut self, event: &Event) {
        match event {
            Event::RunStarted { .. } => self.at = Some(self.coverage.initial()),
            Event::Stimulus { action, .. } | Event::Output { action, .. } => {
                let label = self.oracle.labels().get_text(action);
                self.step(label);
            }
            Event::Quiescence { .. } | Event::Deadlock { .. } => self.step(Some(LabelId::DELTA)),
            _ => {}
        }
    }
}
