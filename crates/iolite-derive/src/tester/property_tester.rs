//! Canonical testers of properties at work: one or several, driving a system or watching it
//! [PROP12, §7 and §8].

use std::sync::Arc;

use iolite_lts::{LabelId, LabelKind, Labels};
use iolite_property::canonical_tester::DEADLOCK;
use iolite_property::{CanonicalTester, Debt, Monitor, PropertyVerdict, StateSet};

use crate::verify::property_objective::verdict;
use crate::{ActionId, Alphabet, LabelMap, Menu, Progress, Step, Tester, Verdict};

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
/// knows, by kind and name, changes nothing; nor does one beyond the labels.
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
    /// What the monitor said last, see [`Monitor::saying`].
    saying: Option<u32>,
    steps: u64,
}

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
        let mut tester = Self {
            settled: vec![None; names.len()],
            since: vec![None; names.len()],
            saying: None,
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
            .zip(&self.since)
            .map(
                |((((name, &verdict), &step), (tester, &q)), &since)| PropertyOutcome {
                    name: name.clone(),
                    verdict,
                    step,
                    pending: tester.debt(q).zip(since),
                },
            )
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
            sets.is_some_and(|set| !set.contains(states[i]))
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
        if let Some(label) = label {
            self.monitor.step(label);
        }
    }

    fn count(&mut self) {
        self.steps += 1;
        self.note();
    }

    /// Notes which properties this step settled, and where something came to be pending.
    fn note(&mut self) {
        let saying = self.monitor.saying();
        if self.saying == Some(saying) {
            return;
        }
        self.saying = Some(saying);
        for (settled, v) in self.settled.iter_mut().zip(self.monitor.verdicts()) {
            if settled.is_none() && v.is_final() {
                *settled = Some(self.steps);
            }
        }
        let testers = self.monitor.testers().iter().zip(self.monitor.states());
        for (since, (tester, &q)) in self.since.iter_mut().zip(testers) {
            if !tester.is_pending(q) {
                *since = None;
            } else if since.is_none() {
                *since = Some(self.steps);
            }
        }
    }

    fn known(&mut self, action: ActionId) -> Option<LabelId> {
        let label = self.actions.label(action)?;
        self.to_monitor.get(label.index()).copied().flatten()
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

    fn leads_to_target(&mut self, input: ActionId) -> bool {
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
        self.saying = None;
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
        match step {
            Step::Stimulus(action) => {
                self.before.clear();
                self.before.extend_from_slice(self.monitor.verdicts());
                let label = self.known(action);
                self.take(label);
            }
            Step::Output(action) => {
                let label = self.known(action);
                self.take(label);
            }
            Step::Quiescence => self.take(Some(LabelId::DELTA)),
            Step::Deadlock => {
                // A property with a letter δ of its own does not tell the two apart. For the others
                // `δ_o` before `δ_d` changes nothing: it leads nowhere, or where `δ_d` leads.
                self.take(Some(LabelId::DELTA));
                self.take(self.deadlock);
            }
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
        self.saying = None;
        Some(Progress::Ended(self.verdict()))
    }

    fn verdict(&self) -> Verdict {
        Verdict::worst(self.verdicts()).unwrap_or(Verdict::Pass)
    }

    fn results(&self) -> Vec<(String, Verdict)> {
        let outcomes = self.outcomes().into_iter();
        outcomes.map(|o| (o.name, o.verdict)).collect()
    }

    fn allowed(&mut self) -> Vec<String> {
        let labels = self.monitor.labels();
        let fine = |id: LabelId| {
            let testers = self.monitor.testers();
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
