//! Symmetric interaction: tester and system take an action together or not at all [LTS96, §4].
//!
//! A test case for conf offers actions; the system agrees to one of them, or refuses them all, which is
//! the only other thing that can be observed. There are no inputs and outputs, and nothing pre-empts.

use iolite_derive::{TestCase, TestStep, Verdict};
use iolite_lts::{LabelId, LabelKind, Semantics};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::FxHashSet;

/// A system that interacts symmetrically.
pub trait SymmetricSystem {
    /// Goes back to the start; a system that chooses at random chooses by this seed.
    fn reset(&mut self, seed: u64);

    /// Takes one of the actions, whichever it likes, and says which: its index. `None` where it refuses
    /// them all for good.
    fn offer(&mut self, actions: &[String]) -> Option<usize>;
}

/// What a run of a test case came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymmetricRun {
    /// The actions that were taken.
    pub trace: Vec<LabelId>,
    /// Whether the system refused what was offered then.
    pub refused: bool,
    /// The verdict.
    pub verdict: Verdict,
}

/// Why a test case cannot be run, or was not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SymmetricError {
    /// It gives inputs or waits for outputs.
    #[error("state {state} of {case} stimulates or observes; symmetric interaction only offers")]
    NotSymmetric {
        /// The test case.
        case: String,
        /// The state.
        state: usize,
    },
    /// The system took what nobody offered.
    #[error("the system took offer {taken} of {offered}")]
    NotOffered {
        /// The index that it gave.
        taken: usize,
        /// How many there were.
        offered: usize,
    },
}

/// Runs a test case once.
pub fn run_symmetric(
    case: &TestCase,
    system: &mut (impl SymmetricSystem + ?Sized),
    seed: u64,
) -> Result<SymmetricRun, SymmetricError> {
    let wrong =
        |step: &TestStep| matches!(step, TestStep::Stimulate { .. } | TestStep::Observe { .. });
    if let Some(state) = case.states().iter().position(|s| wrong(&s.step)) {
        let case = case.name().to_owned();
        return Err(SymmetricError::NotSymmetric { case, state });
    }
    system.reset(seed);
    let mut trace = Vec::new();
    let mut at = case.initial();
    loop {
        let state = case.state(at);
        let steps = state.steps();
        let ended = |refused| SymmetricRun {
            trace: trace.clone(),
            refused,
            verdict: state.verdict,
        };
        if state.step == TestStep::End {
            return Ok(ended(false));
        }
        let actions: Vec<String> = steps.iter().map(|&(l, _)| case.labels().text(l)).collect();
        let Some(taken) = system.offer(&actions) else {
            return Ok(ended(true));
        };
        let Some(&(label, next)) = steps.get(taken) else {
            let offered = steps.len();
            return Err(SymmetricError::NotOffered { taken, offered });
        };
        trace.push(label);
        at = next;
    }
}

/// Internal steps in a row that a model takes at random; then it heads for what is offered.
const INTERNAL_STEPS: usize = 10_000;

/// A model that plays the system. Where it can do several things, internal actions among them, a
/// seeded scheduler chooses.
pub struct SymmetricModel<M: Semantics> {
    model: M,
    state: M::State,
    rng: Xoshiro256PlusPlus,
}

impl<M: Semantics> SymmetricModel<M> {
    /// Runs `model`.
    pub fn new(model: M) -> Self {
        Self {
            state: model.initial(),
            model,
            rng: Xoshiro256PlusPlus::seed_from_u64(0),
        }
    }

    fn steps(&self, state: &M::State) -> Vec<(LabelId, M::State)> {
        let mut row = Vec::new();
        self.model.successors(state, &mut row);
        row
    }

    fn is_internal(&self, label: LabelId) -> bool {
        self.model.labels().kind(label) == LabelKind::Internal
    }

    /// The nearest state, by internal actions, that can do one of these; `None` where they are all
    /// refused for good.
    fn willing(&self, actions: &[Option<LabelId>]) -> Option<M::State> {
        let mut seen = FxHashSet::from_iter([self.state.clone()]);
        let mut queue = std::collections::VecDeque::from([self.state.clone()]);
        while let Some(state) = queue.pop_front() {
            for (label, next) in self.steps(&state) {
                if actions.contains(&Some(label)) {
                    return Some(state);
                }
                if self.is_internal(label) && seen.insert(next.clone()) {
                    queue.push_back(next);
                }
            }
        }
        None
    }
}

impl<M: Semantics> SymmetricSystem for SymmetricModel<M> {
    fn reset(&mut self, seed: u64) {
        self.state = self.model.initial();
        self.rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    }

    fn offer(&mut self, actions: &[String]) -> Option<usize> {
        let labels = self.model.labels();
        let wanted: Vec<Option<LabelId>> = actions.iter().map(|a| labels.get_text(a)).collect();
        for step in 0.. {
            let willing = self.willing(&wanted)?;
            if step == INTERNAL_STEPS {
                self.state = willing;
            }
            let mut moves = self.steps(&self.state);
            let late = step >= INTERNAL_STEPS;
            moves.retain(|(l, _)| wanted.contains(&Some(*l)) || !late && self.is_internal(*l));
            let pick = self.rng.random_range(0..moves.len());
            let (label, next) = moves.swap_remove(pick);
            self.state = next;
            if let Some(taken) = wanted.iter().position(|w| *w == Some(label)) {
                return Some(taken);
            }
        }
        None
    }
}
