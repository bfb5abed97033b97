//! Test cases as the papers define them: deterministic, controllable, finite, with verdicts.

use std::sync::Arc;

use iolite_lts::{LabelId, LabelKind, Labels, Lts};

use crate::{Criterion, ModelRef, Verdict};

/// Index of a state of a test case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TestStateId(u32);

impl TestStateId {
    /// No test case has so many states.
    pub(crate) const LAST: Self = Self(u32::MAX);

    /// The id with this index.
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 test states"))
    }

    /// The index, for tables beside the states.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a test case does in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestStep {
    /// Nothing: the test is over.
    End,
    /// `init(t) = {a}` for one input of the implementation.
    Stimulate {
        /// The stimulus.
        stimulus: LabelId,
        /// Where the test goes on.
        next: TestStateId,
        /// The verdicts on outputs that come first, where they are failing ones. The papers' test
        /// cases are synchronous and know no such thing; a real system may pre-empt a stimulus,
        /// and any other output that does so ends the test `inconc`.
        preempted: Vec<(LabelId, Verdict)>,
    },
    /// `init(t) = L_U ∪ {θ}` [IOCO99, §4], or `init(t) = L_U` [LTS96, def. 7.1].
    Observe {
        /// Where each output leads; all outputs of the alphabet are there, in order.
        outputs: Vec<(LabelId, TestStateId)>,
        /// Where θ, the observation of δ, leads. Without it, no output means deadlock and ends the
        /// run with the verdict of the state.
        quiescence: Option<TestStateId>,
    },
    /// A choice of plain actions, to be agreed on with the implementation [LTS96, §4].
    /// Deadlock ends the run with the verdict of the state.
    Offer {
        /// Where each action leads, in order.
        actions: Vec<(LabelId, TestStateId)>,
    },
}

/// A state of a test case with ν of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestState {
    /// What is done here.
    pub step: TestStep,
    /// ν: the verdict when the run ends here [LTS96, def. 3.1].
    pub verdict: Verdict,
    /// Where the model can be, in words. States that are at the same places share the list: texts are most of
    /// the memory of a large test case.
    pub locations: Arc<[String]>,
    /// The names of those places alone, without values and lines.
    pub places: Arc<[String]>,
}

impl TestState {
    /// A final state.
    pub fn end(verdict: Verdict) -> Self {
        Self {
            step: TestStep::End,
            verdict,
            locations: Arc::default(),
            places: Arc::default(),
        }
    }

    /// The labelled steps, θ as δ.
    pub fn steps(&self) -> Vec<(LabelId, TestStateId)> {
        self.each_step().collect()
    }

    /// The same one by one.
    pub fn each_step(&self) -> impl Iterator<Item = (LabelId, TestStateId)> + '_ {
        let (many, last): (&[_], _) = match &self.step {
            TestStep::End => (&[], None),
            TestStep::Stimulate { stimulus, next, .. } => (&[], Some((*stimulus, *next))),
            TestStep::Observe {
                outputs,
                quiescence,
            } => (outputs, quiescence.map(|next| (LabelId::DELTA, next))),
            TestStep::Offer { actions } => (actions, None),
        };
        many.iter().copied().chain(last)
    }
}

/// A hash of alphabet, initial state and transitions; names and lines of states do not count.
pub fn model_hash(model: &Lts) -> String {
    let mut hash = Fnv::default();
    let mut write = |bytes: &[u8]| hash.write(bytes);
    for (_, label) in model.labels().iter() {
        write(label.to_string().as_bytes());
        write(&[0]);
    }
    write(&(model.state_count() as u64).to_le_bytes());
    write(&(model.initial().index() as u32).to_le_bytes());
    for (source, label, target) in model.transitions() {
        for index in [source.index(), label.index(), target.index()] {
            write(&(index as u32).to_le_bytes());
        }
    }
    hash.text()
}

/// FNV-1a with 128 bits: stable across versions and machines, and no secrets are at stake.
pub(crate) struct Fnv(u128);

impl Default for Fnv {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Fnv {
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 ^= u128::from(byte);
            self.0 = self
                .0
                .wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }

    pub(crate) fn text(&self) -> String {
        format!("fnv1a128:{:032x}", self.0)
    }
}

/// A breach of what a test case must be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TestCaseError {
    /// No states.
    #[error("the test case has no states")]
    NoStates,
    /// A state that is not there.
    #[error("state {state} leads to state {target}, which does not exist")]
    UnknownState {
        /// Where it is named.
        state: usize,
        /// What is named.
        target: usize,
    },
    /// A label of the wrong kind.
    #[error("state {state}: {label} cannot be {role}")]
    WrongKind {
        /// The state.
        state: usize,
        /// The label.
        label: String,
        /// "a stimulus", "an output", "offered".
        role: &'static str,
    },
    /// A label twice in one state: the test case is not deterministic.
    #[error("state {state}: {label} occurs twice")]
    Nondeterministic {
        /// The state.
        state: usize,
        /// The label.
        label: String,
    },
    /// An output without a step: an observing state takes all of them.
    #[error("state {state} observes but does not say what {label} means")]
    NotComplete {
        /// The state.
        state: usize,
        /// The output.
        label: String,
    },
    /// Several stimuli, or a stimulus beside an observation [LTS96, def. 7.1].
    #[error(
        "state {name} is not controllable: one stimulus, or outputs only, or plain actions only"
    )]
    NotControllable {
        /// The state.
        state: usize,
        /// Its name.
        name: String,
    },
    /// A name that no tester gives.
    #[error("state {state}: {verdict} is a result of runs, not a verdict of a test case")]
    NoVerdict {
        /// The state.
        state: usize,
        /// Its verdict.
        verdict: Verdict,
    },
    /// The behaviour is not finite.
    #[error("state {state} lies on a cycle; a test case has finite behaviour")]
    Cycle {
        /// A state of the cycle.
        state: usize,
    },
}

/// A test case ⟨S, L, T, ν, s₀⟩ [LTS96, def. 3.1 and 7.1; IOCO99, §4]; the initial state is the
/// first. States may be shared, so it is a graph without cycles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCase {
    name: String,
    criterion: Criterion,
    model: ModelRef,
    labels: Arc<Labels>,
    states: Vec<TestState>,
    /// The length of the longest run, a function of the states.
    depth: usize,
}

impl TestCase {
    /// Checks that the states make a test case over `labels`.
    pub fn new(
        name: impl Into<String>,
        criterion: Criterion,
        model: ModelRef,
        labels: Arc<Labels>,
        states: Vec<TestState>,
    ) -> Result<Self, TestCaseError> {
        let mut case = Self {
            name: name.into(),
            criterion,
            model,
            labels,
            states,
            depth: 0,
        };
        case.check_states()?;
        case.depth = case.longest_run()?;
        Ok(case)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives it another name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// What it tests for.
    pub fn criterion(&self) -> Criterion {
        self.criterion
    }

    /// The model it comes from.
    pub fn model(&self) -> &ModelRef {
        &self.model
    }

    /// The alphabet.
    pub fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    /// s₀.
    pub fn initial(&self) -> TestStateId {
        TestStateId(0)
    }

    /// The states, the initial one first.
    pub fn states(&self) -> &[TestState] {
        &self.states
    }

    /// A state.
    pub fn state(&self, id: TestStateId) -> &TestState {
        &self.states[id.index()]
    }

    /// The length of the longest run.
    pub fn depth(&self) -> usize {
        self.depth
    }

    fn check_states(&self) -> Result<(), TestCaseError> {
        if self.states.is_empty() {
            return Err(TestCaseError::NoStates);
        }
        let outputs: Vec<LabelId> = self.labels.outputs().collect();
        for (state, found) in self.states.iter().enumerate() {
            if matches!(found.verdict, Verdict::Crash | Verdict::Flaky) {
                return Err(TestCaseError::NoVerdict {
                    state,
                    verdict: found.verdict,
                });
            }
            let unknown = |t: TestStateId| t.index() >= self.states.len();
            if let Some((_, target)) = found.each_step().find(|&(_, t)| unknown(t)) {
                return Err(TestCaseError::UnknownState {
                    state,
                    target: target.index(),
                });
            }
            let text = |label: LabelId| self.labels.text(label);
            let wants = |label: LabelId, kind: LabelKind, role| {
                if self.labels.kind(label) == kind {
                    return Ok(());
                }
                Err(TestCaseError::WrongKind {
                    state,
                    label: text(label),
                    role,
                })
            };
            match &found.step {
                TestStep::End => {}
                TestStep::Stimulate {
                    stimulus,
                    preempted,
                    ..
                } => {
                    wants(*stimulus, LabelKind::Input, "a stimulus")?;
                    for &(label, _) in preempted {
                        wants(label, LabelKind::Output, "an output")?;
                    }
                    check_once(preempted.iter().map(|&(l, _)| l), state, &text)?;
                }
                TestStep::Observe { outputs: given, .. } => {
                    for &(label, _) in given {
                        wants(label, LabelKind::Output, "an output")?;
                    }
                    check_once(given.iter().map(|&(l, _)| l), state, &text)?;
                    if given.len() < outputs.len() {
                        let missing = outputs.iter().find(|&&o| !given.iter().any(|g| g.0 == o));
                        return Err(TestCaseError::NotComplete {
                            state,
                            label: missing.map(|&l| text(l)).unwrap_or_default(),
                        });
                    }
                }
                TestStep::Offer { actions } => {
                    for &(label, _) in actions {
                        if matches!(
                            self.labels.kind(label),
                            LabelKind::Internal | LabelKind::Delta
                        ) {
                            wants(label, LabelKind::Undirected, "offered")?;
                        }
                    }
                    check_once(actions.iter().map(|&(l, _)| l), state, &text)?;
                }
            }
        }
        Ok(())
    }

    /// The length of the longest run. A state on a cycle is an error: there would be none.
    fn longest_run(&self) -> Result<usize, TestCaseError> {
        #[derive(Clone, Copy)]
        enum Mark {
            New,
            Open,
            /// With the length of the longest run from here.
            Done(usize),
        }
        let mut marks = vec![Mark::New; self.states.len()];
        let mut stack = Vec::new();
        for root in 0..self.states.len() {
            if !matches!(marks[root], Mark::New) {
                continue;
            }
            marks[root] = Mark::Open;
            stack.push((root, self.states[root].each_step(), 0));
            while let Some((state, steps, longest)) = stack.last_mut() {
                let Some((_, target)) = steps.next() else {
                    let (state, longest) = (*state, *longest);
                    marks[state] = Mark::Done(longest);
                    stack.pop();
                    if let Some((_, _, before)) = stack.last_mut() {
                        *before = (*before).max(longest + 1);
                    }
                    continue;
                };
                let target = target.index();
                match marks[target] {
                    Mark::New => {
                        marks[target] = Mark::Open;
                        stack.push((target, self.states[target].each_step(), 0));
                    }
                    Mark::Open => return Err(TestCaseError::Cycle { state: target }),
                    Mark::Done(length) => *longest = (*longest).max(length + 1),
                }
            }
        }
        Ok(match marks.first() {
            Some(&Mark::Done(longest)) => longest,
            _ => 0,
        })
    }
}

fn check_once(
    labels: impl Iterator<Item = LabelId> + Clone,
    state: usize,
    text: &impl Fn(LabelId) -> String,
) -> Result<(), TestCaseError> {
    // In order, as derivation and reading give them, no label comes twice.
    if labels.clone().is_sorted_by(|a, b| a < b) {
        return Ok(());
    }
    let mut labels: Vec<LabelId> = labels.collect();
    labels.sort_unstable();
    match labels.windows(2).find(|w| w[0] == w[1]) {
        None => Ok(()),
        Some(twice) => Err(TestCaseError::Nondeterministic {
            state,
            label: text(twice[0]),
        }),
    }
}
