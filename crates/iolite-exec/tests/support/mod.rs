//! What the tests share: an ioco tester written straight from the definition, slow and plain.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use iolite_derive::{Menu, Observation, Progress, Tester, Verdict};
use iolite_exec::{
    Adapter, ExecError, JobId, Options, Quiescence, RunId, RunOutcome, Strategy, SutConfig, run,
};
use iolite_lts::{LabelId, LabelKind, Labels, Lts, LtsBuilder, StateId};

/// A system from its transitions; states are named by numbers, 0 is the first.
pub(crate) fn lts(transitions: &[(usize, &str, usize)]) -> Lts {
    let mut builder = LtsBuilder::new();
    builder.state();
    for &(from, label, to) in transitions {
        builder.transition_text(StateId::new(from), label, StateId::new(to));
    }
    builder.build().unwrap()
}

/// The finite subset of the language that the examples use. The language's own reader is not known
/// here.
pub(crate) fn read_iol(text: &str) -> Lts {
    let text: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap().to_owned() + "\n")
        .collect();
    let text = text.replace(['{', '}'], " ; ");
    let mut builder = LtsBuilder::new();
    let mut names: Vec<String> = Vec::new();
    let mut id = |name: &str, builder: &mut LtsBuilder| {
        let at = names.iter().position(|n| n == name).unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        });
        builder.ensure_states(names.len());
        builder.set_name(StateId::new(at), name);
        StateId::new(at)
    };
    let mut words = text.split_whitespace();
    let (mut source, mut initial) = (None, false);
    while let Some(word) = words.next() {
        match word {
            "initial" => initial = true,
            "state" => {
                let state = id(words.next().unwrap(), &mut builder);
                if std::mem::take(&mut initial) {
                    builder.set_initial(state);
                }
                source = Some(state);
            }
            _ if word.starts_with(['?', '!']) => {
                assert_eq!(words.next(), Some("->"));
                let target = id(words.next().unwrap(), &mut builder);
                builder.transition_text(source.unwrap(), word, target);
            }
            _ => {}
        }
    }
    builder.build().unwrap()
}

/// ioco on the fly, from the definition: the set of states after the suspension trace so far.
#[derive(Clone)]
pub(crate) struct SpecTester {
    lts: Arc<Lts>,
    now: BTreeSet<StateId>,
    verdict: Verdict,
}

impl SpecTester {
    pub(crate) fn new(lts: Lts) -> Self {
        let mut tester = Self {
            lts: Arc::new(lts),
            now: BTreeSet::new(),
            verdict: Verdict::Pass,
        };
        tester.reset();
        tester
    }

    pub(crate) fn labels(&self) -> Arc<Labels> {
        Arc::clone(self.lts.shared_labels())
    }

    pub(crate) fn label(&self, text: &str) -> LabelId {
        self.lts.labels().get_text(text).unwrap()
    }

    pub(crate) fn parser(&self) -> impl Fn(&str) -> Option<LabelId> + use<> {
        let labels = self.labels();
        move |text: &str| labels.get_text(text)
    }

    fn closure(&self, states: BTreeSet<StateId>) -> BTreeSet<StateId> {
        let mut all = states.clone();
        let mut todo: Vec<_> = states.into_iter().collect();
        while let Some(s) = todo.pop() {
            for &(label, t) in self.lts.steps(s) {
                if self.lts.labels().kind(label) == LabelKind::Internal && all.insert(t) {
                    todo.push(t);
                }
            }
        }
        all
    }

    /// Reachable from itself by one or more internal steps.
    fn on_cycle(&self, s: StateId) -> bool {
        let next: BTreeSet<_> = self
            .lts
            .steps(s)
            .iter()
            .filter(|(l, _)| self.lts.labels().kind(*l) == LabelKind::Internal)
            .map(|&(_, t)| t)
            .collect();
        self.closure(next).contains(&s)
    }

    fn quiescent(&self, s: StateId) -> bool {
        let kinds = |k| {
            self.lts
                .steps(s)
                .iter()
                .any(|(l, _)| self.lts.labels().kind(*l) == k)
        };
        (!kinds(LabelKind::Output) && !kinds(LabelKind::Internal)) || self.on_cycle(s)
    }

    fn after(&self, label: LabelId) -> BTreeSet<StateId> {
        let targets = self
            .now
            .iter()
            .flat_map(|&s| self.lts.steps_on(s, label))
            .map(|&(_, t)| t)
            .collect();
        self.closure(targets)
    }

    fn step(&mut self, next: BTreeSet<StateId>) -> Progress {
        if next.is_empty() {
            self.verdict = Verdict::Fail;
            return Progress::Ended(Verdict::Fail);
        }
        self.now = next;
        Progress::Continue
    }
}

impl Tester for SpecTester {
    type Action = LabelId;

    fn reset(&mut self) {
        self.verdict = Verdict::Pass;
        self.now = self.closure([self.lts.initial()].into());
    }

    fn menu(&mut self, menu: &mut Menu<LabelId>) {
        for input in self.lts.labels().inputs() {
            if !self.after(input).is_empty() {
                menu.stimuli.push(input);
            }
        }
        menu.observe = true;
        menu.stop = true;
    }

    fn stimulate(&mut self, stimulus: &LabelId) -> Progress {
        let next = self.after(*stimulus);
        if next.is_empty() {
            return Progress::Ended(Verdict::Inconc);
        }
        self.step(next)
    }

    fn observe(&mut self, observation: &Observation<LabelId>) -> Progress {
        let next = match observation {
            Observation::Output(label) => self.after(*label),
            Observation::Quiescence | Observation::Deadlock => {
                let quiet = self.now.iter().copied().filter(|&s| self.quiescent(s));
                self.closure(quiet.collect())
            }
        };
        self.step(next)
    }

    fn verdict(&self) -> Verdict {
        self.verdict
    }

    fn allowed(&mut self) -> Vec<String> {
        let mut allowed: Vec<_> = self
            .lts
            .labels()
            .outputs()
            .filter(|&x| !self.after(x).is_empty())
            .map(|x| self.lts.labels().text(x))
            .collect();
        if self.now.iter().any(|&s| self.quiescent(s)) {
            allowed.push("delta".into());
        }
        allowed
    }

    fn locations(&mut self) -> Vec<String> {
        self.now.iter().map(|&s| self.lts.name(s)).collect()
    }

    fn show(&self, action: &LabelId) -> String {
        self.lts.labels().text(*action)
    }
}

/// Folder of the example systems.
pub(crate) fn examples() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples"))
}

/// `command` that runs a Python program.
pub(crate) fn python(program: &str) -> SutConfig {
    let words = ["python3", "-u", "-c", program].map(Into::into);
    let mut config = SutConfig {
        system: iolite_exec::CommandLine::Words(words.into()).into(),
        ..SutConfig::default()
    };
    config.quiescence.timeout_ms = Some(300);
    config.limits.stop_grace_ms = Some(200);
    config
}

pub(crate) fn options(config: &SutConfig) -> Options {
    Options {
        quiescence: config.quiescence(),
        on_exit: config.on_exit,
        kind: "ioco".into(),
        ..Options::default()
    }
}

pub(crate) fn quick() -> Options {
    Options {
        quiescence: Quiescence::after(Duration::from_millis(100)),
        ..Options::default()
    }
}

/// One run of the specification against a described system.
pub(crate) fn run_once(
    spec: &Lts,
    config: &SutConfig,
    strategy: &mut dyn Strategy<LabelId>,
) -> Result<RunOutcome<LabelId>, ExecError> {
    let mut tester = SpecTester::new(spec.clone());
    let mut adapter = config.label_adapter(JobId(0), tester.labels())?;
    let result = run(
        &mut tester,
        &mut adapter,
        strategy,
        &options(config),
        RunId::of(1, 0),
        &mut (),
    );
    adapter.stop()?;
    result
}

/// A script in `?a`, `observe` notation.
pub(crate) fn script(spec: &Lts, ops: &[&str]) -> iolite_exec::Script<LabelId> {
    iolite_exec::Script::new(
        ops.iter()
            .map(|&op| match op {
                "observe" => iolite_exec::Op::Observe,
                text => iolite_exec::Op::Give(spec.labels().get_text(text).unwrap()),
            })
            .collect(),
    )
}

pub(crate) fn texts(spec: &Lts, outcome: &RunOutcome<LabelId>) -> Vec<String> {
    let tester = SpecTester::new(spec.clone());
    outcome
        .trace
        .steps()
        .iter()
        .map(|s| s.text(&tester))
        .collect()
}
