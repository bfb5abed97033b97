//! Recorded runs, walked again with the model: what they covered, and what they show about constants.

use std::collections::BTreeMap;

use iolite_derive::{Alphabet, Notice, Progress, Step, ValueCoverage};
use iolite_exec::{Coverage, Event, KEPT_NOTICES, Strategy, Uniform};
use iolite_formats::drawing::Drawing;

use super::judge::AnyStrategy;
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

/// What recorded runs tried of a model with data.
#[derive(Clone, Debug)]
pub struct ValuesTried {
    /// Boundaries, transitions and pairs of values.
    pub coverage: ValueCoverage,
    /// How many steps were looked at.
    pub steps: usize,
    /// By source and target: how many visible transitions may have been taken, and how many there are.
    pub taken: BTreeMap<(String, String), (u32, u32)>,
}

fn steps_by_run(events: &[Event]) -> BTreeMap<u64, RecordedSteps> {
    let mut runs: BTreeMap<u64, RecordedSteps> = BTreeMap::new();
    for event in events {
        let Some(number) = event.run() else { continue };
        let run = runs.entry(number).or_default();
        match event {
            Event::RunStarted { seed, .. } => run.seed = *seed,
            Event::Stimulus { action, .. } | Event::Output { action, .. } => {
                run.texts.push(action.to_string());
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
                let lts = judge.spec().whole_system(MOST_DRAWN).ok()?;
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
            self.follow(strategy, alphabet, run);
        }
    }

    fn follow(&self, strategy: &mut impl Strategy, alphabet: &Alphabet, run: &RecordedSteps) {
        alphabet.begin_run();
        strategy.begin();
        for text in &run.texts {
            let Some(step) = self.recorded_step(alphabet, text) else {
                break;
            };
            strategy.happened(step, false);
        }
    }

    fn recorded_step(&self, alphabet: &Alphabet, text: &str) -> Option<Step> {
        Step::parse(text, |text| Some(self.judge().recorded(alphabet, text)))
    }

    /// What recorded runs covered together, as one job that made all of them would have counted; `None`
    /// where nothing is counted.
    pub fn coverage_of(&self, events: &[Event]) -> Result<Option<Coverage>, Error> {
        let mut retracing = Retracing {
            constants: None,
            ..self.retracing()?
        };
        retracing.read(events);
        Ok(retracing.coverage())
    }

    /// Which boundaries of guards, transitions and pairs of values recorded runs tried, in no more than `most`
    /// steps. Nothing without data.
    pub fn values_tried(
        &self,
        events: &[Event],
        most: usize,
    ) -> Result<Option<ValuesTried>, Error> {
        let Judge::Symbolic(judge) = self.judge() else {
            return Ok(None);
        };
        let alphabet = self.judge().alphabet();
        let mut tester = self.judge().tester(&alphabet)?;
        let (mut tried, mut walked): (Option<ValueCoverage>, usize) = (None, 0);
        for run in steps_by_run(events).values() {
            tester.begin(run.seed);
            for text in run.texts.iter().take(most - walked) {
                let Some(step) = self.recorded_step(&alphabet, text) else {
                    break;
                };
                walked += 1;
                if let Progress::Ended(_) = tester.step(step) {
                    break;
                }
            }
            for notice in tester.conclude() {
                match (notice, &mut tried) {
                    (Notice::Values(new), Some(tried)) => tried.merge(&new),
                    (Notice::Values(new), none) => *none = Some(new),
                    _ => {}
                }
            }
            if walked >= most {
                break;
            }
        }
        let model = judge.spec().model();
        Ok(tried.map(|coverage| {
            let mut taken: BTreeMap<(String, String), (u32, u32)> = BTreeMap::new();
            for (id, t) in model.transitions() {
                let Some(is_taken) = coverage.is_taken(id) else {
                    continue;
                };
                let name = |l| model.location(l).name.to_string();
                let (seen, all) = taken.entry((name(t.source), name(t.target))).or_default();
                *all += 1;
                *seen += u32::from(is_taken);
            }
            ValuesTried {
                coverage,
                steps: walked,
                taken,
            }
        }))
    }

    /// What recorded runs show about constants that were left unknown.
    pub fn learnt_from(&self, events: &[Event]) -> Result<Vec<Notice>, Error> {
        let mut retracing = Retracing {
            coverage: None,
            ..self.retracing()?
        };
        retracing.read(events);
        Ok(retracing.learnt())
    }

    /// Walks recorded runs again, a few at a time, in the order in which they are given.
    pub fn retracing(&self) -> Result<Retracing<'_>, Error> {
        let alphabet = self.judge().alphabet();
        let (_tester, strategy) = self.chooser()?.pair(self.judge(), &alphabet)?;
        let counts = strategy.coverage().is_some();
        let unknown = match self.judge() {
            Judge::Symbolic(judge) => !judge.unknown_constants().is_empty(),
            _ => false,
        };
        let constants = if unknown {
            let alphabet = self.judge().alphabet();
            Some((self.judge().tester(&alphabet)?, alphabet))
        } else {
            None
        };
        Ok(Retracing {
            campaign: self,
            coverage: counts.then_some((strategy, alphabet)),
            constants,
            learnt: Vec::new(),
        })
    }
}

/// Recorded runs that are walked again: what they cover together, and what they show about constants. Of the runs
/// themselves nothing is kept.
pub struct Retracing<'a> {
    campaign: &'a Campaign,
    /// Where something is counted.
    coverage: Option<(AnyStrategy, Alphabet)>,
    /// Where constants were left unknown.
    constants: Option<(AnyTester, Alphabet)>,
    learnt: Vec<Notice>,
}

impl Retracing<'_> {
    /// Walks the runs of these events, each of which is there as a whole.
    pub fn read(&mut self, events: &[Event]) {
        for run in steps_by_run(events).values() {
            if let Some((strategy, alphabet)) = &mut self.coverage {
                self.campaign.follow(strategy, alphabet, run);
            }
            if run.ended {
                self.learn(run);
            }
        }
    }

    fn learn(&mut self, run: &RecordedSteps) {
        let Some((tester, alphabet)) = &mut self.constants else {
            return;
        };
        tester.begin(run.seed);
        for text in &run.texts {
            let Some(step) = self.campaign.recorded_step(alphabet, text) else {
                break;
            };
            if let Progress::Ended(_) = tester.step(step) {
                break;
            }
        }
        for notice in tester.conclude() {
            let new = matches!(notice, Notice::Learnt(_)) && !self.learnt.contains(&notice);
            if new && self.learnt.len() < KEPT_NOTICES {
                self.learnt.push(notice);
            }
        }
    }

    /// What was covered so far; `None` where nothing is counted.
    pub fn coverage(&self) -> Option<Coverage> {
        self.coverage.as_ref()?.0.coverage()
    }

    /// What the runs show about constants.
    pub fn learnt(self) -> Vec<Notice> {
        self.learnt
    }
}
