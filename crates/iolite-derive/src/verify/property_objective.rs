//! A property beside a specification: the specification drives, the property selects and judges
//! [PROP12, §9.2 and §9.3].

use std::sync::Arc;

use iolite_lts::{Label, LabelId, LabelKind, Labels, StateId};
use iolite_property::{CanonicalTester, EventReading, Letter, PropertyVerdict};

use crate::{Breach, Criterion, LetterMap, Move, Objective, Verdict, Wish};

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
    /// Of the labels, then of the letters themselves.
    letters: Vec<Seen>,
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

    /// Where a step leads; `None` where the property cannot say which letter it is.
    fn step(&self, at: StateId, label: LabelId) -> Option<StateId> {
        match self.letters.get(label.index()) {
            Some(Seen::Letter(letter)) => Some(self.tester.structure().step(at, *letter)),
            Some(Seen::Undefined) => None,
            Some(Seen::Nothing) | None => Some(at),
        }
    }

    fn read(&self, action: &str) -> EventReading {
        let label = Label::parse(action);
        self.tester.alphabet().read(label.kind, &label.name)
    }

    /// Letters of these kinds after which the goal can be reached, and how far it is then.
    fn nearer(&self, at: StateId, wanted: impl Fn(LabelKind) -> bool) -> Vec<(Letter, u32)> {
        let sigma = self.tester.alphabet();
        let letters = sigma.iter().filter(|&l| wanted(sigma.kind(l)));
        let after = letters.filter_map(|l| {
            let next = self.tester.structure().step(at, l);
            Some((l, self.distance[next.index()]?))
        });
        after.collect()
    }
}

/// What a label is to the property.
#[derive(Clone, Copy, Debug)]
enum Seen {
    Letter(Letter),
    Nothing,
    /// A guard has no value for it.
    Undefined,
}

/// The labels of the table, then the letters themselves, then one that cannot be read.
fn letters(tester: &CanonicalTester, labels: &Labels) -> Vec<Seen> {
    let map = LetterMap::new(tester.alphabet(), labels);
    let own = labels.iter().map(|(l, _)| match map.letter(l) {
        Some(letter) => Seen::Letter(letter),
        None if map.undefined(l).is_some() => Seen::Undefined,
        None => Seen::Nothing,
    });
    let letters = tester.alphabet().iter().map(Seen::Letter);
    own.chain(letters).chain([Seen::Undefined]).collect()
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
        let Some(next) = self.step(at, label) else {
            return Move::Open;
        };
        match verdict(self.tester.verdict(next)) {
            v if v.is_failing() => Move::Goal(Verdict::Violate),
            Verdict::Unknown if self.distance[next.index()].is_none() => Move::Lost,
            Verdict::Unknown => Move::To(next),
            positive => Move::Goal(positive),
        }
    }

    fn forbidden(&self, at: StateId, label: LabelId) -> Breach {
        let next = self.step(at, label);
        let goal = next.is_some_and(|q| verdict(self.tester.verdict(q)).is_failing());
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

    fn looks_at_values(&self) -> bool {
        !self.tester.alphabet().guarded().is_empty()
    }

    fn valued_label(&self, action: &str) -> Option<LabelId> {
        let first = self.labels.len();
        match self.read(action) {
            EventReading::Letter(letter) => Some(LabelId::new(first + letter.index())),
            EventReading::Undefined(_) => Some(LabelId::new(first + self.tester.alphabet().len())),
            EventReading::Unseen => None,
        }
    }

    fn doubt(&self, action: &str) -> Option<String> {
        match self.read(action) {
            EventReading::Undefined(why) => Some(why),
            EventReading::Letter(_) | EventReading::Unseen => None,
        }
    }

    fn after_observation(&self, at: StateId) -> Option<u32> {
        let sigma = self.tester.alphabet();
        let mut seen = sigma.iter().filter(|&l| sigma.kind(l) != LabelKind::Input);
        let fails =
            |l| verdict(self.tester.verdict(self.tester.structure().step(at, l))).is_failing();
        if seen.any(fails) {
            return Some(0);
        }
        let nearer = self.nearer(at, |kind| kind != LabelKind::Input);
        nearer.into_iter().map(|(_, d)| d).min()
    }

    fn wishes(&self, at: StateId) -> Vec<Wish> {
        let sigma = self.tester.alphabet();
        let now = self.distance[at.index()].unwrap_or(u32::MAX);
        let inputs = self.nearer(at, |kind| kind == LabelKind::Input).into_iter();
        let nearer = inputs.filter(|&(_, left)| left < now);
        let wish = |(letter, _)| match sigma.cell_of(letter) {
            Some((action, cell)) => Wish {
                input: action.name().into(),
                condition: action.cells()[cell].condition().clone(),
            },
            None => Wish {
                input: sigma
                    .labels()
                    .label(sigma.label(letter))
                    .name
                    .to_string()
                    .into(),
                condition: true.into(),
            },
        };
        nearer.map(wish).collect()
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
