//! What the tests share: an ioco tester written straight from the definition, slow and plain.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use iolite_derive::{ActionId, Alphabet, Menu, Progress, Step, Tester, Verdict};
use iolite_exec::codec::{LabelDictionary, WireCodec};
use iolite_exec::{
    Adapter, ByteAdapter, ExecError, JobId, Options, Quiescence, RunId, RunOutcome, Strategy,
    SutConfig, run,
};
use iolite_lts::{LabelId, LabelKind, Lts, LtsBuilder, StateId};

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
    alphabet: Alphabet,
    now: BTreeSet<StateId>,
    verdict: Verdict,
}

impl SpecTester {
    pub(crate) fn new(lts: Lts) -> Self {
        let mut tester = Self {
            alphabet: Alphabet::of_labels(lts.labels()),
            lts: Arc::new(lts),
            now: BTreeSet::new(),
            verdict: Verdict::Pass,
        };
        tester.reset();
        tester
    }

    /// What a system's words are to this tester.
    pub(crate) fn dictionary(&self) -> LabelDictionary {
        LabelDictionary::new(&self.alphabet, self.lts.labels())
    }

    /// The id of an action of the specification.
    pub(crate) fn action(&self, text: &str) -> ActionId {
        self.alphabet.declared(text).unwrap()
    }

    pub(crate) fn parser(&self) -> impl Fn(&str) -> Option<ActionId> + use<> {
        let alphabet = self.alphabet.clone();
        move |text: &str| alphabet.declared(text)
    }

    /// The adapter of a described system, for this tester.
    pub(crate) fn adapter(&self, config: &SutConfig, job: JobId) -> Result<ByteAdapter, ExecError> {
        config.adapter(
            job,
            WireCodec::new(config.action_map()?, self.dictionary())?,
        )
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

    /// Nothing comes after an action that the specification does not declare.
    fn after(&self, action: ActionId) -> BTreeSet<StateId> {
        if action.index() >= self.lts.labels().len() {
            return BTreeSet::new();
        }
        let label = LabelId::new(action.index());
        let targets = self
            .now
            .iter()
            .flat_map(|&s| self.lts.steps_on(s, label))
            .map(|&(_, t)| t)
            .collect();
        self.closure(targets)
    }

    fn go(&mut self, next: BTreeSet<StateId>) -> Progress {
        if next.is_empty() {
            self.verdict = Verdict::Fail;
            return Progress::Ended(Verdict::Fail);
        }
        self.now = next;
        Progress::Continue
    }
}

impl Tester for SpecTester {
    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn reset(&mut self) {
        self.verdict = Verdict::Pass;
        self.now = self.closure([self.lts.initial()].into());
    }

    fn menu(&mut self, menu: &mut Menu) {
        for input in self.lts.labels().inputs() {
            let input = input.into();
            if !self.after(input).is_empty() {
                menu.stimuli.push(input);
            }
        }
        menu.observe = true;
        menu.stop = true;
    }

    fn step(&mut self, step: Step) -> Progress {
        let next = match step {
            Step::Stimulus(action) | Step::Output(action) => self.after(action),
            Step::Quiescence | Step::Deadlock => {
                let quiet = self.now.iter().copied().filter(|&s| self.quiescent(s));
                self.closure(quiet.collect())
            }
        };
        if step.is_stimulus() && next.is_empty() {
            return Progress::Ended(Verdict::Inconc);
        }
        self.go(next)
    }

    fn verdict(&self) -> Verdict {
        self.verdict
    }

    fn allowed(&mut self) -> Vec<String> {
        let mut allowed: Vec<_> = self
            .lts
            .labels()
            .outputs()
            .filter(|&x| !self.after(x.into()).is_empty())
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
    strategy: &mut dyn Strategy,
) -> Result<RunOutcome, ExecError> {
    let mut tester = SpecTester::new(spec.clone());
    let mut adapter = tester.adapter(config, JobId(0))?;
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
pub(crate) fn script(spec: &Lts, ops: &[&str]) -> iolite_exec::Script {
    iolite_exec::Script::new(
        ops.iter()
            .map(|&op| match op {
                "observe" => iolite_exec::Op::Observe,
                text => iolite_exec::Op::Give(spec.labels().get_text(text).unwrap().into()),
            })
            .collect(),
    )
}

/// The steps of a run that met no action but the specification's.
pub(crate) fn texts(spec: &Lts, outcome: &RunOutcome) -> Vec<String> {
    let alphabet = Alphabet::of_labels(spec.labels());
    let steps = outcome.trace.steps().iter();
    steps.map(|s| s.text(&alphabet)).collect()
}
