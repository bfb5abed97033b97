//! A property beside a specification: the specification drives, the property selects and judges
//! [PROP12, §9.2 and §9.3].

use std::sync::Arc;

use iolite_lts::{LabelId, Labels, StateId};
use iolite_property::{CanonicalTester, Letter, PropertyVerdict};

use crate::{Breach, Criterion, LetterMap, Move, Objective, Verdict};

/// The canonical tester of a property as the goal of a test: a failing verdict of it, unless another is
/// wanted.
///
/// A failing verdict on a trace of the specification is `violate`, since the specification has this
/// execution too; with an observation that the specification forbids it is `violate-fail`. A positive
/// verdict ends the goal with itself: nothing that follows can change it.
#[derive(Clone, Debug)]
pub struct PropertyObjective {
    name: String,
    tester: Arc<CanonicalTester>,
    labels: Arc<Labels>,
    letters: Vec<Option<Letter>>,
    /// Steps to a verdict that is wanted.
    distance: Vec<Option<u32>>,
    /// Whether failing verdicts are wanted, and whether others are.
    wanted: (bool, bool),
}

impl PropertyObjective {
    /// Over the labels of a specification. Without a `target`, failing verdicts are wanted, or any
    /// other where there is no failing one; `None` where no verdict can be reached at all.
    pub fn new(
        name: &str,
        tester: CanonicalTester,
        labels: &Arc<Labels>,
        target: Option<PropertyVerdict>,
    ) -> Option<Self> {
        let to = |wanted: &dyn Fn(PropertyVerdict) -> bool| distances(&tester, wanted);
        let mut distance = match target {
            Some(target) => to(&|v| v == target),
            None => to(&|v| verdict(v).is_failing()),
        };
        let start = tester.initial().index();
        let mut wanted = match target {
            Some(target) => (verdict(target).is_failing(), !verdict(target).is_failing()),
            None => (true, false),
        };
        if target.is_none() && distance[start].is_none() {
            distance = to(&|v| v.is_final());
            wanted = (false, true);
        }
        distance[start]?;
        let letters = letters(&tester, labels);
        Some(Self {
            name: name.to_owned(),
            tester: Arc::new(tester),
            labels: Arc::clone(labels),
            letters,
            distance,
            wanted,
        })
    }

    /// The labels it runs on.
    pub fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    fn step(&self, at: StateId, label: LabelId) -> StateId {
        match self.letters.get(label.index()).copied().flatten() {
            Some(letter) => self.tester.structure().step(at, letter),
            None => at,
        }
    }
}

fn letters(tester: &CanonicalTester, labels: &Labels) -> Vec<Option<Letter>> {
    let map = LetterMap::new(tester.alphabet(), labels);
    labels.iter().map(|(l, _)| map.letter(l)).collect()
}

fn distances(
    tester: &CanonicalTester,
    wanted: &dyn Fn(PropertyVerdict) -> bool,
) -> Vec<Option<u32>> {
    let s = tester.structure();
    let mut before: Vec<Vec<StateId>> = vec![Vec::new(); s.len()];
    for q in s.states() {
        for &to in s.row(q) {
            before[to.index()].push(q);
        }
    }
    let mut distance = vec![None; s.len()];
    let mut layer: Vec<StateId> = s.states().filter(|&q| wanted(tester.verdict(q))).collect();
    let mut d = 0;
    while !layer.is_empty() {
        layer.retain(|q| distance[q.index()].is_none());
        for q in &layer {
            distance[q.index()] = Some(d);
        }
        let next = layer.iter().flat_map(|q| before[q.index()].iter().copied());
        layer = next.collect();
        d += 1;
    }
    distance
}

/// A property's verdict as one of the closed set.
pub(crate) fn verdict(verdict: PropertyVerdict) -> Verdict {
    match verdict {
        PropertyVerdict::Pass => Verdict::Pass,
        PropertyVerdict::Fail => Verdict::Fail,
        PropertyVerdict::WeakPass => Verdict::WeakPass,
        PropertyVerdict::WeakFail => Verdict::WeakFail,
        PropertyVerdict::Inconc => Verdict::Inconc,
        PropertyVerdict::Unknown => Verdict::Unknown,
    }
}

impl Objective for PropertyObjective {
    fn name(&self) -> &str {
        &self.name
    }

    fn criterion(&self) -> Criterion {
        Criterion::Safety
    }

    fn over_labels(mut self, labels: &Labels) -> Self {
        if *self.labels != *labels {
            self.letters = letters(&self.tester, labels);
            self.labels = Arc::new(labels.clone());
        }
        self
    }

    fn initial(&self) -> StateId {
        self.tester.initial()
    }

    fn allowed(&self, at: StateId, label: LabelId) -> Move {
        let next = self.step(at, label);
        match verdict(self.tester.verdict(next)) {
            v if v.is_failing() => Move::Goal(Verdict::Violate),
            Verdict::Unknown if self.distance[next.index()].is_none() => Move::Lost,
            Verdict::Unknown => Move::To(next),
            positive => Move::Goal(positive),
        }
    }

    fn forbidden(&self, at: StateId, label: LabelId) -> Breach {
        let next = self.step(at, label);
        let goal = verdict(self.tester.verdict(next)).is_failing();
        let verdict = if goal {
            Verdict::ViolateFail
        } else {
            Verdict::Fail
        };
        Breach { verdict, goal }
    }

    fn distance(&self, at: StateId) -> Option<u32> {
        self.distance[at.index()]
    }

    fn wants(&self, verdict: Verdict) -> bool {
        if verdict.is_failing() {
            self.wanted.0
        } else {
            self.wanted.1
        }
    }

    /// Nothing wrong was seen: the run conforms, and the property is not broken.
    fn open_verdict(&self) -> Verdict {
        Verdict::Pass
    }

    fn describe(&self, at: StateId) -> String {
        self.tester.name(at).to_owned()
    }
}
