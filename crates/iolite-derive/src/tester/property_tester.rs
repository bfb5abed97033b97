//! Canonical testers of properties at work: one or several, driving a system or watching it
//! [PROP12, §7 and §8].

use std::sync::Arc;

use iolite_expr::Value;
use iolite_lts::{Label, LabelId, LabelKind, Labels, StateId};
use iolite_property::canonical_tester::DEADLOCK;
use iolite_property::{
    CanonicalTester, Debt, EventReading, Letter, Monitor, PropertyVerdict, StateSet,
};
use rustc_hash::FxHashMap;

use crate::verify::property_objective::verdict;
use crate::{
    ActionId, Alphabet, LabelMap, Menu, Notice, Progress, Step, Tester, Undecided, Verdict,
};

/// Product states that the monitor remembers before it starts anew.
const MONITOR_STATES: usize = 1 << 20;

/// A property that is watched.
#[derive(Clone, Debug)]
pub struct WatchedProperty {
    /// What people call it.
    pub name: String,
    /// Its canonical tester.
    pub tester: CanonicalTester,
}

/// What a run said of one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyOutcome {
    /// The property.
    pub name: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The number of the step, from 1, that settled it; `None` where the verdict is not final.
    pub step: Option<u64>,
    /// What is owed at the end, and the number of the step since which something is: after it every
    /// sequence was rejected as it stood; 0 where that is so from the beginning.
    pub pending: Option<(Debt, u64)>,
    /// Why the verdict is `unknown` where the property could not say which letter an event was.
    pub doubt: Option<String>,
    /// The steps of its tester that the run took, each once, and the state that it is in; where they were
    /// recorded.
    pub trail: Option<(Vec<(StateId, StateId)>, StateId)>,
}

/// When a run ends before its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PropertyEnd {
    /// When a property has a failing verdict, or all are settled.
    #[default]
    FirstFailing,
    /// When all are settled.
    AllSettled,
}

/// Watches properties on one stream of events, and offers the inputs it was given.
///
/// Its actions are those of the caller's alphabet, made of the caller's labels. One that no property
/// knows, by kind and name, changes nothing; nor does one beyond the labels, unless a property has guards on
/// its values. Where a guard has no value, the property that has it is `unknown` from there on.
pub struct PropertyTester {
    names: Vec<String>,
    monitor: Monitor,
    actions: LabelMap,
    /// Labels of the caller to labels of the monitor.
    to_monitor: Vec<Option<LabelId>>,
    deadlock: Option<LabelId>,
    inputs: Vec<ActionId>,
    end: PropertyEnd,
    /// The verdict aimed at, with the states of each tester from which it can be reached.
    target: Option<(PropertyVerdict, Vec<StateSet>)>,
    /// The verdicts before the last stimulus, should it be refused.
    before: Vec<PropertyVerdict>,
    refused: bool,
    settled: Vec<Option<u64>>,
    /// Since which step something is pending.
    since: Vec<Option<u64>>,
    /// What the monitor said last, see [`Monitor::said`]: who is settled, and who has something pending.
    said: (Vec<u64>, Vec<u64>),
    /// Why a property cannot be judged any further.
    doubts: Vec<Option<String>>,
    /// What actions with values are to the properties, where one has guards.
    readings: Option<FxHashMap<ActionId, Arc<[EventReading]>>>,
    /// The steps that each tester took, where they are recorded.
    trails: Option<Vec<Vec<(StateId, StateId)>>>,
    steps: u64,
}

/// Actions whose meaning is remembered, where it depends on their values.
const REMEMBERED: usize = 1 << 16;

impl PropertyTester {
    /// A watcher over the labels of a table, with an alphabet of its own.
    pub fn new(properties: Vec<WatchedProperty>, labels: &Arc<Labels>) -> Self {
        Self::with_alphabet(properties, &Alphabet::of_labels(labels), labels)
    }

    /// A watcher over an alphabet that was made of these labels.
    pub fn with_alphabet(
        properties: Vec<WatchedProperty>,
        alphabet: &Alphabet,
        labels: &Arc<Labels>,
    ) -> Self {
        let (names, testers): (Vec<_>, Vec<_>) =
            properties.into_iter().map(|p| (p.name, p.tester)).unzip();
        let monitor = Monitor::new(testers, MONITOR_STATES);
        let known = monitor.labels();
        let to_monitor = labels
            .iter()
            .map(|(_, l)| known.get(l.kind, &l.name))
            .collect();
        let deadlock = known.get(LabelKind::Undirected, DEADLOCK);
        let guarded = |t: &CanonicalTester| !t.alphabet().guarded().is_empty();
        let readings = monitor.testers().iter().any(guarded);
        let mut tester = Self {
            settled: vec![None; names.len()],
            since: vec![None; names.len()],
            said: (Vec::new(), Vec::new()),
            doubts: vec![None; names.len()],
            readings: readings.then(FxHashMap::default),
            trails: None,
            before: Vec::new(),
            names,
            monitor,
            actions: LabelMap::own(alphabet, labels),
            to_monitor,
            deadlock,
            inputs: Vec::new(),
            end: PropertyEnd::default(),
            target: None,
            refused: false,
            steps: 0,
        };
        tester.reset();
        tester
    }

    /// Records which steps the testers take, for pictures.
    #[must_use]
    pub fn recording(mut self) -> Self {
        self.trails = Some(vec![Vec::new(); self.names.len()]);
        self
    }

    fn record(&mut self, before: &[StateId]) {
        let Some(trails) = &mut self.trails else {
            return;
        };
        let steps = before.iter().zip(self.monitor.states());
        for (trail, (&from, &to)) in trails.iter_mut().zip(steps) {
            if !trail.contains(&(from, to)) {
                trail.push((from, to));
            }
        }
    }

    /// Drives with these inputs.
    #[must_use]
    pub fn driving(mut self, inputs: Vec<ActionId>) -> Self {
        self.inputs = inputs;
        self
    }

    /// Selects for a verdict [PROP12, §7.2]: inputs after which no property can reach
    /// it are left out, and where none can the run ends with `inconc`.
    #[must_use]
    pub fn aiming_at(mut self, target: PropertyVerdict) -> Self {
        let coreach = |t: &CanonicalTester| t.structure().co_reach(&t.with_verdict(target));
        let sets = self.monitor.testers().iter().map(coreach).collect();
        self.target = Some((target, sets));
        self
    }

    /// When the run ends.
    #[must_use]
    pub fn until(mut self, end: PropertyEnd) -> Self {
        self.end = end;
        self
    }

    /// What the run has said of each property so far.
    pub fn outcomes(&self) -> Vec<PropertyOutcome> {
        let verdicts = self.verdicts();
        let parts = self.names.iter().zip(&verdicts).zip(&self.settled);
        let testers = self.monitor.testers().iter().zip(self.monitor.states());
        parts
            .zip(testers)
            .zip(self.since.iter().zip(&self.doubts))
            .map(
                |((((name, &verdict), &step), (tester, &q)), (&since, doubt))| PropertyOutcome {
                    name: name.clone(),
                    verdict,
                    step,
                    pending: match doubt {
                        None => tester.debt(q).zip(since),
                        Some(_) => None,
                    },
                    doubt: doubt.clone(),
                    trail: None,
                },
            )
            .zip(self.monitor.states())
            .enumerate()
            .map(|(i, (outcome, &at))| PropertyOutcome {
                trail: self.trails.as_ref().map(|trails| (trails[i].clone(), at)),
                ..outcome
            })
            .collect()
    }

    /// The verdict of each property: that of the tester, or `inconc` where the target is lost.
    fn verdicts(&self) -> Vec<Verdict> {
        if self.refused {
            return self.before.iter().map(|&v| verdict(v)).collect();
        }
        let states = self.monitor.states();
        let lost = |i: usize| {
            let sets = self.target.as_ref().map(|(_, sets)| &sets[i]);
            sets.is_some_and(|set| !set.contains(states[i])) && self.doubts[i].is_none()
        };
        self.monitor
            .verdicts()
            .iter()
            .enumerate()
            .map(|(i, &v)| match v {
                PropertyVerdict::Unknown if lost(i) => Verdict::Inconc,
                v => verdict(v),
            })
            .collect()
    }

    fn is_over(&self) -> bool {
        let verdicts = self.monitor.verdicts();
        let failing = |v: &PropertyVerdict| verdict(*v).is_failing();
        self.refused
            || self.monitor.is_finished()
            || self.end == PropertyEnd::FirstFailing && verdicts.iter().any(failing)
            || self.target.is_some() && !self.verdicts().contains(&Verdict::Unknown)
    }

    fn progress(&self) -> Progress {
        if self.is_over() {
            Progress::Ended(self.verdict())
        } else {
            Progress::Continue
        }
    }

    fn take(&mut self, label: Option<LabelId>) {
        let Some(label) = label else { return };
        if self.doubts.iter().all(Option::is_none) {
            return self.monitor.step(label);
        }
        // What cannot be judged any further stays where it is.
        let label = self.monitor.labels().label(label);
        let testers = self.monitor.testers().iter().zip(&self.doubts);
        let letters = testers.map(|(tester, doubt)| {
            let sigma = tester.alphabet();
            let own = sigma.labels().get(label.kind, &label.name);
            own.filter(|_| doubt.is_none())
                .and_then(|l| sigma.letter(l))
        });
        let letters: Vec<Option<Letter>> = letters.collect();
        self.monitor.step_letters(&letters);
    }

    fn count(&mut self) {
        self.steps += 1;
        self.note();
    }

    /// Notes which properties this step settled, and where something came to be pending.
    fn note(&mut self) {
        let now = self.monitor.said();
        let (settled, pending) = &mut self.said;
        if settled == now.settled && pending == now.pending {
            return;
        }
        // Before the first step nobody is settled, and nothing pending.
        settled.resize(now.settled.len(), 0);
        pending.resize(now.pending.len(), 0);
        for i in changed(settled, now.settled) {
            if self.settled[i].is_none() {
                self.settled[i] = Some(self.steps);
            }
        }
        for i in changed(pending, now.pending) {
            let is_pending = now.pending[i / 64] >> (i % 64) & 1 == 1;
            self.since[i] = is_pending.then_some(self.steps);
        }
        settled.copy_from_slice(now.settled);
        pending.copy_from_slice(now.pending);
    }

    fn known(&mut self, action: ActionId) -> Option<LabelId> {
        let label = self.actions.label(action)?;
        self.to_monitor.get(label.index()).copied().flatten()
    }

    /// Takes an action, by its values where a property has guards.
    fn take_action(&mut self, action: ActionId) {
        let Some(readings) = self.readings(action) else {
            let label = self.known(action);
            return self.take(label);
        };
        let mut letters: Vec<Option<Letter>> = readings.iter().map(EventReading::letter).collect();
        for (i, reading) in readings.iter().enumerate() {
            if let EventReading::Undefined(why) = reading
                && self.doubts[i].is_none()
                && !self.monitor.verdicts()[i].is_final()
            {
                self.doubts[i] = Some(why.clone());
            }
            // What cannot be judged any further stays where it is.
            if self.doubts[i].is_some() {
                letters[i] = None;
            }
        }
        self.monitor.step_letters(&letters);
    }

    /// What an action is to each property, where one of them has guards.
    fn readings(&mut self, action: ActionId) -> Option<Arc<[EventReading]>> {
        let known = self.readings.as_mut()?;
        if let Some(readings) = known.get(&action) {
            return Some(Arc::clone(readings));
        }
        let text = self.actions.alphabet().text(action);
        let label = Label::parse(&text);
        let read = |tester: &CanonicalTester| match tester.alphabet().read(label.kind, &label.name)
        {
            // A property may leave the direction away.
            EventReading::Unseen => tester.alphabet().read(LabelKind::Undirected, &label.name),
            reading => reading,
        };
        let readings: Arc<[EventReading]> = self.monitor.testers().iter().map(read).collect();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(action, Arc::clone(&readings));
        Some(readings)
    }

    /// Whether no property's verdict is failing, and some can still reach the target, after a
    /// label of the monitor.
    fn continuations(
        &self,
        label: LabelId,
        check: impl Fn(usize, iolite_lts::StateId) -> bool,
    ) -> Vec<bool> {
        let label = self.monitor.labels().label(label);
        let parts = self.monitor.testers().iter().zip(self.monitor.states());
        parts
            .enumerate()
            .map(|(i, (tester, &q))| {
                let own = tester.alphabet().labels().get(label.kind, &label.name);
                check(i, own.map_or(q, |l| tester.step(q, l)))
            })
            .collect()
    }

    /// Whether a label that one property has for some values of an action is fine for all others that have
    /// guards on it too, whatever the values.
    fn others_agree(&self, id: LabelId) -> bool {
        if self.readings.is_none() {
            return true;
        }
        let label = self.monitor.labels().label(id);
        let (name, _) = Value::split_action(label.name.split(" [").next().unwrap_or_default());
        let parts = self.monitor.testers().iter().zip(self.monitor.states());
        parts.into_iter().all(|(tester, &q)| {
            let sigma = tester.alphabet();
            let own = sigma.labels().get(label.kind, &label.name);
            let mut guarded = sigma.guarded().iter();
            let same = guarded.find(|(a, _)| a.kind() == label.kind && a.name() == name);
            match same {
                Some((_, letters)) if own.is_none() => letters.iter().all(|&l| {
                    let next = tester.structure().step(q, l);
                    !verdict(tester.verdict(next)).is_failing()
                }),
                _ => true,
            }
        })
    }

    fn leads_to_target(&mut self, input: ActionId) -> bool {
        if self.target.is_none() {
            return true;
        }
        if let (Some(readings), Some((_, sets))) = (self.readings(input), &self.target) {
            let testers = self.monitor.testers().iter().zip(self.monitor.states());
            let parts = testers.zip(readings.iter()).zip(sets);
            return parts.into_iter().any(|(((tester, &q), reading), set)| {
                let letter = reading.letter();
                set.contains(letter.map_or(q, |l| tester.structure().step(q, l)))
            });
        }
        let label = self.known(input);
        match (&self.target, label) {
            (None, _) | (_, None) => true,
            (Some((_, sets)), Some(label)) => {
                let after = self.continuations(label, |i, q| sets[i].contains(q));
                after.contains(&true)
            }
        }
    }
}

/// The bits in which two rows of words differ.
fn changed(one: &[u64], other: &[u64]) -> impl Iterator<Item = usize> {
    let words = one.iter().zip(other).map(|(a, b)| a ^ b).enumerate();
    words.flat_map(|(at, mut left)| {
        std::iter::from_fn(move || {
            let bit = left.trailing_zeros() as usize;
            // What is left without its last bit.
            left &= left.checked_sub(1)?;
            Some(64 * at + bit)
        })
    })
}

impl Tester for PropertyTester {
    fn alphabet(&self) -> &Alphabet {
        self.actions.alphabet()
    }

    fn reset(&mut self) {
        self.monitor.reset();
        self.steps = 0;
        self.refused = false;
        self.before.clear();
        self.settled.fill(None);
        self.since.fill(None);
        self.doubts.fill(None);
        for trail in self.trails.iter_mut().flatten() {
            trail.clear();
        }
        if let Some(readings) = &mut self.readings {
            // What an earlier run met may have been forgotten, and its ids used again.
            readings.clear();
        }
        self.said = (Vec::new(), Vec::new());
        self.note();
    }

    fn menu(&mut self, menu: &mut Menu) {
        menu.stop = true;
        if self.is_over() {
            return;
        }
        menu.observe = true;
        for i in 0..self.inputs.len() {
            let input = self.inputs[i];
            if self.leads_to_target(input) {
                menu.stimuli.push(input);
            }
        }
    }

    fn step(&mut self, step: Step) -> Progress {
        if self.is_over() {
            return Progress::Ended(self.verdict());
        }
        let states = self
            .trails
            .is_some()
            .then(|| self.monitor.states().to_vec());
        match step {
            Step::Stimulus(action) => {
                self.before.clear();
                self.before.extend_from_slice(self.monitor.verdicts());
                self.take_action(action);
            }
            Step::Output(action) => self.take_action(action),
            Step::Quiescence => self.take(Some(LabelId::DELTA)),
            Step::Deadlock => {
                // A property with a letter δ of its own does not tell the two apart. For the others
                // `δ_o` before `δ_d` changes nothing: it leads nowhere, or where `δ_d` leads.
                self.take(Some(LabelId::DELTA));
                self.take(self.deadlock);
            }
        }
        if let Some(states) = states {
            self.record(&states);
        }
        self.count();
        self.progress()
    }

    /// "If the IUT refuses an input, the test execution terminates and the associated verdict is the
    /// last produced one, before trying to emit the input" [PROP12, §7].
    fn refused(&mut self) -> Option<Progress> {
        if self.before.is_empty() {
            return None;
        }
        self.refused = true;
        for (settled, v) in self.settled.iter_mut().zip(&self.before) {
            if !v.is_final() {
                *settled = None;
            }
        }
        Some(Progress::Ended(self.verdict()))
    }

    fn verdict(&self) -> Verdict {
        Verdict::worst(self.verdicts()).unwrap_or(Verdict::Pass)
    }

    fn results(&self) -> Vec<(String, Verdict)> {
        let outcomes = self.outcomes().into_iter();
        outcomes.map(|o| (o.name, o.verdict)).collect()
    }

    fn conclude(&mut self) -> Vec<Notice> {
        let doubts = self.names.iter().zip(&self.doubts);
        let doubts = doubts.filter_map(|(name, doubt)| {
            let why = format!("{name}: {}", doubt.as_ref()?);
            Some(Notice::Undecided(Undecided::new(why)))
        });
        doubts.collect()
    }

    fn allowed(&mut self) -> Vec<String> {
        let labels = self.monitor.labels();
        let fine = |id: LabelId| {
            let testers = self.monitor.testers();
            if !self.others_agree(id) {
                return false;
            }
            let after = self.continuations(id, |i, q| !verdict(testers[i].verdict(q)).is_failing());
            !after.contains(&false)
        };
        let observable = |kind| {
            matches!(
                kind,
                LabelKind::Output | LabelKind::Undirected | LabelKind::Delta
            )
        };
        labels
            .iter()
            .filter(|(id, l)| observable(l.kind) && fine(*id))
            .map(|(id, _)| {
                if Some(id) == self.deadlock {
                    "deadlock".to_owned()
                } else {
                    labels.text(id)
                }
            })
            .collect()
    }

    fn locations(&mut self) -> Vec<String> {
        let parts = self.monitor.testers().iter().zip(self.monitor.states());
        parts
            .zip(&self.names)
            .map(|((tester, &q), name)| format!("{name}: state {}", tester.name(q)))
            .collect()
    }
}
