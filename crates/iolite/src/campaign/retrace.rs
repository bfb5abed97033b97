//! Recorded runs, walked again with the model: what they covered, and what they show about constants.

use std::collections::BTreeMap;

use iolite_derive::{Alphabet, Notice, Progress, Step};
use iolite_exec::{Coverage, Event, KEPT_NOTICES, Strategy, Uniform};
use iolite_formats::drawing::Drawing;

use super::{AnyTester, Campaign, CoveredModel, Judge};
use crate::{Error, Workspace};

/// The steps of one recorded run.
#[derive(Clone, Debug, Default)]
struct RecordedSteps {
    seed: u64,
    texts: Vec<String>,
    /// How many of them were taken: the last stimulus of a journal may have been written ahead.
    taken: Option<u64>,
    /// Whether it came to a verdict.
    ended: bool,
}

fn steps_by_run(events: &[Event]) -> BTreeMap<u64, RecordedSteps> {
    let mut runs: BTreeMap<u64, RecordedSteps> = BTreeMap::new();
    for event in events {
        let Some(number) = event.run() else { continue };
        let run = runs.entry(number).or_default();
        match event {
            Event::RunStarted { seed, .. } => run.seed = *seed,
            Event::Stimulus { action, .. } | Event::Output { action, .. } => {
                run.texts.push(action.clone());
            }
            Event::Quiescence { .. } => run.texts.push("delta".to_owned()),
            Event::Deadlock { .. } => run.texts.push("deadlock".to_owned()),
            Event::RunEnded { steps, .. } | Event::Fault { steps, .. } => {
                run.taken = Some(*steps);
                run.ended = matches!(event, Event::RunEnded { .. });
            }
            _ => {}
        }
    }
    for run in runs.values_mut() {
        if let Some(taken) = run.taken.and_then(|taken| usize::try_from(taken).ok()) {
            run.texts.truncate(taken);
        }
    }
    runs
}

/// States of a model that are drawn at most.
const MOST_DRAWN: usize = 400;

/// Sets of states whose coverage is looked at.
const MOST_SETS: usize = 20_000;

impl Campaign {
    /// The picture of the model; `None` where it has none of a size that people can read.
    pub fn drawing(&self, workspace: &Workspace) -> Option<Drawing> {
        match self.judge() {
            Judge::Explicit(judge) => {
                let lts = judge.spec().system().explicit(MOST_DRAWN).ok()?;
                Some(Drawing::of_lts(
                    &judge.spec().reference().to_string(),
                    &lts,
                    &[],
                ))
            }
            Judge::Symbolic(judge) => {
                let mut reference = judge.spec().reference().clone();
                // Constants that were given do not change the picture.
                let name = reference.name.take();
                reference.name = name.map(|n| n.split('(').next().unwrap_or_default().to_owned());
                workspace.picture(&reference).ok().flatten()
            }
            Judge::Properties(_) => None,
        }
    }

    /// What recorded runs covered of the model, and at most `left` transitions that they did not.
    pub fn covered_model(&self, events: &[Event], left: usize) -> Option<CoveredModel> {
        let Judge::Explicit(judge) = self.judge() else {
            return None;
        };
        let alphabet = self.judge().alphabet();
        let guide = judge.covering(&alphabet, Box::new(Uniform), false, MOST_SETS);
        let mut guide = guide.ok()?;
        self.walk(&mut guide, &alphabet, events);
        Some(guide.covered_model(left))
    }

    /// The places of the model where a recorded run can have been: at its start, and after each of the
    /// first `most` steps, as long as the model follows it.
    pub fn places_along(&self, steps: &[&str], most: usize) -> Result<Vec<Vec<String>>, Error> {
        let alphabet = self.judge().alphabet();
        let mut tester = self.judge().tester(&alphabet)?;
        let explicit = matches!(self.judge(), Judge::Explicit(_));
        let places = |tester: &mut AnyTester| {
            if !explicit {
                return tester.places();
            }
            let bare = |text: String| match text.rsplit_once(" (line ") {
                Some((name, _)) => name.to_owned(),
                None => text,
            };
            tester.locations().into_iter().map(bare).collect()
        };
        tester.reset();
        let mut all = vec![places(&mut tester)];
        for text in steps.iter().take(most) {
            let Some(step) = self.recorded_step(&alphabet, text) else {
                break;
            };
            if let Progress::Ended(_) = tester.step(step) {
                break;
            }
            all.push(places(&mut tester));
        }
        Ok(all)
    }

    /// Lets a strategy follow recorded runs.
    fn walk(&self, strategy: &mut impl Strategy, alphabet: &Alphabet, events: &[Event]) {
        for run in steps_by_run(events).values() {
            alphabet.begin_run();
            strategy.begin();
            for text in &run.texts {
                let Some(step) = self.recorded_step(alphabet, text) else {
                    break;
                };
                strategy.happened(step, false);
            }
        }
    }

    fn recorded_step(&self, alphabet: &Alphabet, text: &str) -> Option<Step> {
        Step::parse(text, |text| Some(self.judge().recorded(alphabet, text)))
    }

    /// What recorded runs covered together, as one job that made all of them would have counted; `None`
    /// where nothing is counted.
    pub fn coverage_of(&self, events: &[Event]) -> Result<Option<Coverage>, Error> {
        let alphabet = self.judge().alphabet();
        let (_tester, mut strategy) = self.chooser()?.pair(self.judge(), &alphabet)?;
        if strategy.coverage().is_none() {
            return Ok(None);
        }
        self.walk(&mut strategy, &alphabet, events);
        Ok(strategy.coverage())
    }

    /// What recorded runs show about constants that were left unknown.
    pub fn learnt_from(&self, events: &[Event]) -> Result<Vec<Notice>, Error> {
        let mut learnt = Vec::new();
        let Judge::Symbolic(judge) = self.judge() else {
            return Ok(learnt);
        };
        if judge.unknown_constants().is_empty() {
            return Ok(learnt);
        }
        let alphabet = self.judge().alphabet();
        let mut tester = self.judge().tester(&alphabet)?;
        for run in steps_by_run(events).values().filter(|run| run.ended) {
            tester.begin(run.seed);
            for text in &run.texts {
                let Some(step) = self.recorded_step(&alphabet, text) else {
                    break;
                };
                if let Progress::Ended(_) = tester.step(step) {
                    break;
                }
            }
            for notice in tester.conclude() {
                let new = matches!(notice, Notice::Learnt(_)) && !learnt.contains(&notice);
                if new && learnt.len() < KEPT_NOTICES {
                    learnt.push(notice);
                }
            }
        }
        Ok(learnt)
    }
}
