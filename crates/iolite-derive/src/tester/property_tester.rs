//! Canonical testers of properties at work: one or several, driving a system or watching it
//! [PROP12, §7 and §8].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use iolite_lts::{LabelId, LabelKind, Labels};
use iolite_property::canonical_tester::DEADLOCK;
use iolite_property::{CanonicalTester, Monitor, PropertyVerdict, StateSet};

use crate::tester::ioco_tester::show;
use crate::{Menu, Observation, Progress, Tester, Verdict};

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

/// A flag that the executor's side raises when the implementation refuses an input. "If the IUT
/// refuses an input, the test execution terminates and the associated verdict is the last produced
/// one, before trying to emit the input" [PROP12, §7].
pub type Refusal = Arc<AtomicBool>;

/// Names for labels beyond a tester's table.
pub type Naming = Arc<dyn Fn(LabelId) -> Option<String> + Send + Sync>;

/// Watches properties on one stream of events, and offers the inputs it was given.
///
/// Its labels are those of the caller's table. One that no property knows, by kind and name,
/// changes nothing; nor does one beyond the table.
pub struct PropertyTester {
    names: Vec<String>,
    monitor: Monitor,
    labels: Arc<Labels>,
    /// Ids of the caller to ids of the monitor.
    to_monitor: Vec<Option<LabelId>>,
    deadlock: Option<LabelId>,
    inputs: Vec<LabelId>,
    end: PropertyEnd,
    /// The verdict aimed at, with the states of each tester from which it can be reached.
    target: Option<(PropertyVerdict, Vec<StateSet>)>,
    refusal: Option<Refusal>,
    /// The verdicts before the last stimulus, should it be refused.
    before: Vec<PropertyVerdict>,
    refused: bool,
    settled: Vec<Option<u64>>,
    steps: u64,
    naming: Option<Naming>,
}

impl PropertyTester {
    /// A watcher over the labels of a table.
    pub fn new(properties: Vec<WatchedProperty>, labels: Arc<Labels>) -> Self {
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
            before: Vec::new(),
            names,
            monitor,
            labels,
            to_monitor,
            deadlock,
            inputs: Vec::new(),
            end: PropertyEnd::default(),
            target: None,
            refusal: None,
            refused: false,
            steps: 0,
            naming: None,
        };
        tester.reset();
        tester
    }

    /// Drives with these inputs of the table.
    ///
    /// A verdict that a stimulus brings then waits for the next menu, since the implementation may
    /// refuse it.
    #[must_use]
    pub fn driving(mut self, inputs: Vec<LabelId>, refusal: Refusal) -> Self {
        self.inputs = inputs;
        self.refusal = Some(refusal);
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

    /// Shows labels beyond the table by these names.
    #[must_use]
    pub fn naming(mut self, naming: Naming) -> Self {
        self.naming = Some(naming);
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
        parts
            .map(|((name, &verdict), &step)| PropertyOutcome {
                name: name.clone(),
                verdict,
                step,
            })
            .collect()
    }

    /// The verdict of each property: that of the tester, or `inconc` where the target is lost.
    fn verdicts(&self) -> Vec<Verdict> {
        if self.is_refused() {
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
        self.is_refused()
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
        for (settled, v) in self.settled.iter_mut().zip(self.monitor.verdicts()) {
            if settled.is_none() && v.is_final() {
                *settled = Some(self.steps);
            }
        }
    }

    fn is_refused(&self) -> bool {
        let raised = |flag: &Refusal| flag.load(Ordering::Relaxed);
        self.refused || self.refusal.as_ref().is_some_and(raised)
    }

    /// Looks whether the last stimulus was refused.
    fn hear(&mut self) {
        if !self.refused && self.is_refused() {
            self.refused = true;
            for (settled, v) in self.settled.iter_mut().zip(&self.before) {
                if !v.is_final() {
                    *settled = None;
                }
            }
        }
    }

    fn known(&self, label: LabelId) -> Option<LabelId> {
        self.to_monitor.get(label.index()).copied().flatten()
    }

    /// Whether no property's verdict is failing, and some can still reach the target, after a
    /// label of the monitor.
    fn after(
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

    fn leads_to_target(&self, input: LabelId) -> bool {
        let Some((_, sets)) = &self.target else {
            return true;
        };
        match self.known(input) {
            None => true,
            Some(label) => self
                .after(label, |i, q| sets[i].contains(q))
                .contains(&true),
        }
    }
}

/// A property's verdict as one of the closed set.
fn verdict(verdict: PropertyVerdict) -> Verdict {
    match verdict {
        PropertyVerdict::Pass => Verdict::Pass,
        PropertyVerdict::Fail => Verdict::Fail,
        PropertyVerdict::WeakPass => Verdict::WeakPass,
        PropertyVerdict::WeakFail => Verdict::WeakFail,
        PropertyVerdict::Inconc => Verdict::Inconc,
        PropertyVerdict::Unknown => Verdict::Unknown,
    }
}

impl Tester for PropertyTester {
    type Action = LabelId;

    fn reset(&mut self) {
        self.monitor.reset();
        self.settled.fill(None);
        self.steps = 0;
        self.refused = false;
        if let Some(flag) = &self.refusal {
            flag.store(false, Ordering::Relaxed);
        }
        for (settled, v) in self.settled.iter_mut().zip(self.monitor.verdicts()) {
            *settled = v.is_final().then_some(0);
        }
    }

    fn menu(&mut self, menu: &mut Menu<LabelId>) {
        self.hear();
        menu.stop = true;
        if self.is_over() {
            return;
        }
        menu.observe = true;
        let inputs = self.inputs.iter().copied();
        menu.stimuli
            .extend(inputs.filter(|&l| self.leads_to_target(l)));
    }

    fn stimulate(&mut self, stimulus: &LabelId) -> Progress {
        self.hear();
        if self.is_over() {
            return Progress::Ended(self.verdict());
        }
        self.before.clear();
        self.before.extend_from_slice(self.monitor.verdicts());
        self.take(self.known(*stimulus));
        self.count();
        if self.refusal.is_some() {
            Progress::Continue
        } else {
            self.progress()
        }
    }

    fn observe(&mut self, observation: &Observation<LabelId>) -> Progress {
        self.hear();
        if self.is_over() {
            return Progress::Ended(self.verdict());
        }
        match observation {
            Observation::Output(label) => self.take(self.known(*label)),
            Observation::Quiescence => self.take(Some(LabelId::DELTA)),
            Observation::Deadlock => {
                // A property with a letter δ of its own does not tell the two apart. For the others
                // `δ_o` before `δ_d` changes nothing: it leads nowhere, or where `δ_d` leads.
                self.take(Some(LabelId::DELTA));
                self.take(self.deadlock);
            }
        }
        self.count();
        self.progress()
    }

    /// A failing verdict first; else the one that says least.
    fn verdict(&self) -> Verdict {
        let verdicts = self.verdicts();
        [
            Verdict::Fail,
            Verdict::WeakFail,
            Verdict::Unknown,
            Verdict::Inconc,
            Verdict::WeakPass,
        ]
        .into_iter()
        .find(|v| verdicts.contains(v))
        .unwrap_or(Verdict::Pass)
    }

    fn allowed(&mut self) -> Vec<String> {
        let labels = self.monitor.labels();
        let fine = |id: LabelId| {
            let testers = self.monitor.testers();
            let after = self.after(id, |i, q| !verdict(testers[i].verdict(q)).is_failing());
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

    fn show(&self, action: &LabelId) -> String {
        let beyond = action.index() >= self.labels.len();
        let named = self.naming.as_ref().filter(|_| beyond);
        named
            .and_then(|naming| naming(*action))
            .unwrap_or_else(|| show(&self.labels, *action))
    }
}
