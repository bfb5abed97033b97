//! Another model as the system under test, with a seeded scheduler.

use std::sync::Arc;
use std::time::Duration;

use iolite_lts::{LabelId, LabelKind, Labels, Semantics};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{Adapter, ExecError, Received, RunningModel};

/// What a model does with an input that it does not take in its present state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RefusedInput {
    /// An error that names state and input: ioco asks for input-enabled implementations.
    #[default]
    Error,
    /// The input changes nothing.
    SelfLoop,
}

/// States that a search for a cycle of internal actions looks at before it gives up.
const CYCLE_BOUND: usize = 1 << 20;

/// Internal steps in a row that one observation may take.
const INTERNAL_BOUND: usize = 1 << 20;

/// A model that runs. Where it can do several things, a seeded scheduler chooses, each alike.
///
/// Time does not pass: quiescence is known. A state on a cycle of internal actions may stay silent
/// (livelock, [SYM04, §2.3]) and may leave the cycle, so both can happen there.
pub struct ModelSut<M: Semantics> {
    model: M,
    /// Ids of the model to ids of the tester; `None` for an output the tester does not know.
    to_tester: Vec<Option<LabelId>>,
    /// Ids of the tester to ids of the model.
    of_tester: Vec<Option<LabelId>>,
    kinds: Vec<LabelKind>,
    state: M::State,
    row: Vec<(LabelId, M::State)>,
    choices: Vec<usize>,
    on_cycle: FxHashMap<M::State, bool>,
    refused: RefusedInput,
    seed: u64,
    rng: Xoshiro256PlusPlus,
}

/// Sets the scheduler's random numbers apart from the tester's.
const SCHEDULER: u64 = 0x5c4e_d01e_5c4e_d01e;

/// The seed of a model's lots in a run. The tester draws from the run's seed too; the schedule must
/// not follow its choices.
pub(crate) fn scheduler_seed(own: u64, run: u64) -> u64 {
    own ^ run.rotate_left(17) ^ SCHEDULER
}

enum Move {
    Internal,
    Output(LabelId),
    Silence,
    Stimulus,
}

impl<M: Semantics> ModelSut<M> {
    /// Runs `model` for a tester over `labels`; labels are matched by kind and name.
    pub fn new(model: M, labels: &Arc<Labels>, seed: u64) -> Self {
        let own = model.labels();
        let to_tester = own
            .iter()
            .map(|(_, l)| {
                let other = || labels.other_values(l.kind, l.name.split_once('(')?.0);
                labels.get(l.kind, &l.name).or_else(other)
            })
            .collect();
        let of_tester = labels
            .iter()
            .map(|(_, l)| own.get(l.kind, &l.name))
            .collect();
        let kinds: Vec<_> = own.iter().map(|(_, l)| l.kind).collect();
        Self {
            to_tester,
            of_tester,
            kinds,
            state: model.initial(),
            model,
            row: Vec::new(),
            choices: Vec::new(),
            on_cycle: FxHashMap::default(),
            refused: RefusedInput::default(),
            seed,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// What becomes of an input that the present state does not take.
    #[must_use]
    pub fn on_refused_input(mut self, policy: RefusedInput) -> Self {
        self.refused = policy;
        self
    }

    /// The present state, for people.
    pub fn describe_state(&self) -> String {
        self.model.describe(&self.state)
    }

    fn load(&mut self) {
        self.row.clear();
        self.model.successors(&self.state, &mut self.row);
    }

    /// Whether the present state lies on a cycle of internal actions. The row must be loaded.
    fn on_internal_cycle(&mut self) -> Result<bool, ExecError> {
        if !self
            .row
            .iter()
            .any(|(l, _)| self.kinds[l.index()] == LabelKind::Internal)
        {
            return Ok(false);
        }
        if let Some(&known) = self.on_cycle.get(&self.state) {
            return Ok(known);
        }
        let mut seen = FxHashSet::default();
        let mut stack = vec![self.state.clone()];
        let mut row = Vec::new();
        let mut found = false;
        'search: while let Some(state) = stack.pop() {
            row.clear();
            self.model.successors(&state, &mut row);
            for (label, next) in row.drain(..) {
                if self.kinds[label.index()] != LabelKind::Internal {
                    continue;
                }
                if next == self.state {
                    found = true;
                    break 'search;
                }
                if seen.insert(next.clone()) {
                    stack.push(next);
                }
            }
            if seen.len() > CYCLE_BOUND {
                return Err(ExecError::Model(format!(
                    "more than {CYCLE_BOUND} states by internal actions from {}",
                    self.describe_state()
                )));
            }
        }
        self.on_cycle.insert(self.state.clone(), found);
        Ok(found)
    }

    /// The scheduler's next move; `stimulus` when an input waits to be taken.
    fn schedule(&mut self, stimulus: bool) -> Result<Move, ExecError> {
        self.load();
        self.choices.clear();
        for (i, (label, _)) in self.row.iter().enumerate() {
            let kind = self.kinds[label.index()];
            if matches!(
                kind,
                LabelKind::Output | LabelKind::Internal | LabelKind::Undirected
            ) {
                self.choices.push(i);
            }
        }
        let moves = self.choices.len();
        if moves == 0 {
            return Ok(if stimulus {
                Move::Stimulus
            } else {
                Move::Silence
            });
        }
        let other = usize::from(stimulus || self.on_internal_cycle()?);
        let pick = self.pick(moves + other);
        if pick == moves {
            return Ok(if stimulus {
                Move::Stimulus
            } else {
                Move::Silence
            });
        }
        let (label, next) = self.row.swap_remove(self.choices[pick]);
        self.state = next;
        if self.kinds[label.index()] == LabelKind::Internal {
            return Ok(Move::Internal);
        }
        self.to_tester[label.index()]
            .map(Move::Output)
            .ok_or_else(|| {
                ExecError::Model(format!(
                    "output {} is not in the tester's alphabet",
                    self.model.labels().text(label)
                ))
            })
    }

    fn pick(&mut self, count: usize) -> usize {
        if count == 1 {
            0
        } else {
            self.rng.random_range(0..count)
        }
    }

    fn settle(&mut self, stimulus: bool) -> Result<Move, ExecError> {
        for _ in 0..INTERNAL_BOUND {
            match self.schedule(stimulus)? {
                Move::Internal => {}
                done => return Ok(done),
            }
        }
        Err(ExecError::Model(format!(
            "more than {INTERNAL_BOUND} internal steps in a row"
        )))
    }

    /// The states that take the input, after internal steps where the present one does not.
    fn takers(&self, input: LabelId) -> Result<Vec<M::State>, ExecError> {
        let mut seen = FxHashSet::default();
        let mut queue = vec![self.state.clone()];
        let mut takers = Vec::new();
        let mut row = Vec::new();
        let mut next = 0;
        seen.insert(self.state.clone());
        while next < queue.len() {
            row.clear();
            self.model.successors(&queue[next], &mut row);
            next += 1;
            for (label, target) in row.drain(..) {
                if label == input {
                    takers.push(target);
                } else if self.kinds[label.index()] == LabelKind::Internal
                    && seen.insert(target.clone())
                {
                    queue.push(target);
                }
            }
            if seen.len() > CYCLE_BOUND {
                return Err(ExecError::Model(format!(
                    "more than {CYCLE_BOUND} states by internal actions from {}",
                    self.describe_state()
                )));
            }
        }
        Ok(takers)
    }

    fn refuse(&self, stimulus: LabelId, name: &str) -> Result<(), ExecError> {
        match self.refused {
            RefusedInput::SelfLoop => Ok(()),
            RefusedInput::Error => Err(ExecError::Refused {
                stimulus: if name.is_empty() {
                    format!("number {}", stimulus.index())
                } else {
                    name.into()
                },
                reason: format!(
                    "the model under test does not take it in state {}; complete its inputs",
                    self.describe_state()
                ),
            }),
        }
    }
}

impl<M: Semantics> RunningModel<LabelId> for ModelSut<M> {
    fn can_move(&mut self) -> Result<bool, ExecError> {
        self.load();
        Ok(self.row.iter().any(|(l, _)| {
            matches!(
                self.kinds[l.index()],
                LabelKind::Output | LabelKind::Internal | LabelKind::Undirected
            )
        }))
    }
}

impl<M: Semantics> Adapter<LabelId> for ModelSut<M> {
    fn start(&mut self, seed: u64) -> Result<(), ExecError> {
        self.state = self.model.initial();
        self.rng = Xoshiro256PlusPlus::seed_from_u64(scheduler_seed(self.seed, seed));
        Ok(())
    }

    /// A race between the waiting stimulus and what the model may do by itself.
    fn poll(&mut self) -> Result<Option<Received<LabelId>>, ExecError> {
        Ok(match self.settle(true)? {
            Move::Output(label) => Some(Received::Output(label)),
            _ => None,
        })
    }

    fn send(&mut self, stimulus: &LabelId) -> Result<(), ExecError> {
        let Some(input) = self.of_tester[stimulus.index()] else {
            return self.refuse(*stimulus, "");
        };
        self.load();
        self.choices.clear();
        for (i, (label, _)) in self.row.iter().enumerate() {
            if *label == input {
                self.choices.push(i);
            }
        }
        if !self.choices.is_empty() {
            let pick = self.pick(self.choices.len());
            self.state = self.row.swap_remove(self.choices[pick]).1;
            return Ok(());
        }
        let mut takers = self.takers(input)?;
        if takers.is_empty() {
            return self.refuse(*stimulus, &self.model.labels().text(input));
        }
        let pick = self.pick(takers.len());
        self.state = takers.swap_remove(pick);
        Ok(())
    }

    fn receive(&mut self, _: Duration) -> Result<Received<LabelId>, ExecError> {
        Ok(match self.settle(false)? {
            Move::Output(label) => Received::Output(label),
            _ => Received::Nothing,
        })
    }

    fn stop(&mut self) -> Result<(), ExecError> {
        Ok(())
    }

    fn is_timed(&self) -> bool {
        false
    }
}
