//! Views of a system that are shown state by state: S^δ, det(S), det(S^δ), Δ, completions.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::sync::Arc;

use iolite_lts::{
    Completed, Completion, DeltaTrace, Determinised, Interned, LabelId, Labels, Lts,
    QuiescencePolicy, Semantics, StateId, StateNames, Suspension, System, determinise, explore,
};

use crate::workspace::too_many_states;
use crate::{Budget, Error, QuiescenceFlag, Workspace};

/// What is made of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateView {
    /// The system as it is.
    Model,
    /// S^δ: a δ-loop on every quiescent state.
    Suspension,
    /// det(S).
    Determinised,
    /// det(S^δ), the suspension automaton.
    SuspensionAutomaton,
    /// Δ of [LTS96, def. 6.3]: determinised, δ leads to stop.
    DeltaTrace,
    /// An input that a state does not take changes nothing.
    SelfLoopCompleted,
    /// After an input that a state does not take anything may happen.
    ChaosCompleted,
}

impl Workspace {
    /// A view of a system, whole. It does not depend on the number of threads, which is that of
    /// [`with_jobs`](Self::with_jobs).
    pub fn state_view(
        &self,
        system: System,
        view: StateView,
        quiescence: QuiescenceFlag,
        names: StateNames,
    ) -> Result<Arc<Lts>, Error> {
        let limit = self.options().budget();
        let policy = quiescence.policy();
        let system = match (view, system) {
            (StateView::Model, System::Explicit(lts)) => return Ok(lts),
            (StateView::Determinised, System::Explicit(lts)) => {
                let (_, lts) = self.determinise_by_threads(&&*lts, names, self.jobs)?;
                return Ok(Arc::new(lts));
            }
            (StateView::SuspensionAutomaton, System::Explicit(lts)) => {
                // The strict policy reports the livelock that one view meets first.
                let jobs = match policy {
                    QuiescencePolicy::Strict => NonZeroUsize::MIN,
                    QuiescencePolicy::Livelock | QuiescencePolicy::Fair => self.jobs,
                };
                let model = Suspension::new(&*lts, policy);
                let (view, lts) = self.determinise_by_threads(&model, names, jobs)?;
                without_livelock(view.inner())?;
                return Ok(Arc::new(lts));
            }
            (_, system) => CountedSystem::new(system, self.budget()),
        };
        // Behind one type, so that views of views are compiled once.
        let system: &dyn Semantics<State = StateId> = &system;
        let determinised = |view: &dyn Semantics<State = StateId>| {
            determinise(&mut Determinised::new(view), names, limit).map_err(|e| too_many_states(&e))
        };
        let completed =
            |how| explore(&Completed::new(system, how), limit).map_err(|e| too_many_states(&e));
        let lts = match view {
            StateView::Model => explore(&system, limit).map_err(|e| too_many_states(&e)),
            StateView::Suspension => {
                let view = Suspension::new(system, policy);
                let lts = explore(&view, limit).map_err(|e| too_many_states(&e))?;
                without_livelock(&view)?;
                Ok(lts)
            }
            StateView::Determinised => determinised(system),
            StateView::SuspensionAutomaton => {
                let view = Suspension::new(system, policy);
                let lts = determinised(&view)?;
                without_livelock(&view)?;
                Ok(lts)
            }
            StateView::DeltaTrace => determinised(&Interned::new(DeltaTrace::new(system, policy))),
            StateView::SelfLoopCompleted => completed(Completion::SelfLoop),
            StateView::ChaosCompleted => completed(Completion::Chaos),
        };
        lts.map(Arc::new)
    }

    /// det(M) of a view that other threads may copy. The answer does not depend on their number.
    fn determinise_by_threads<M>(
        &self,
        model: &M,
        names: StateNames,
        jobs: NonZeroUsize,
    ) -> Result<(Determinised<M>, Lts), Error>
    where
        M: Semantics<State = StateId> + Clone + Send,
    {
        let limit = self.options().budget();
        let others = vec![model.clone(); jobs.get() - 1];
        let mut view = Determinised::new(model.clone());
        let mut said = 0;
        view.explore(others, limit, &mut |sets| {
            if said == 0 || sets >= said + 4096 {
                said = sets;
                let known = format!("the transitions of {sets} sets of states were asked for");
                self.budget().know(known);
            }
        });
        let lts = determinise(&mut view, names, limit).map_err(|e| too_many_states(&e))?;
        Ok((view, lts))
    }
}

/// What a strict view reports.
fn without_livelock<M>(view: &Suspension<M>) -> Result<(), Error>
where
    M: Semantics<State = StateId>,
{
    match view.livelock() {
        None => Ok(()),
        Some(state) => Err(Error::input(format!(
            "state {} lies on a cycle of internal actions",
            view.describe(&state)
        ))
        .hint("--quiescence livelock takes such a cycle for quiescence")),
    }
}

/// A system that tells now and then how much of it was looked at.
struct CountedSystem<'a> {
    system: System,
    rows: Cell<u64>,
    budget: &'a Budget,
}

impl<'a> CountedSystem<'a> {
    fn new(system: System, budget: &'a Budget) -> Self {
        Self {
            system,
            rows: Cell::new(0),
            budget,
        }
    }

    fn count(&self, rows: u64) {
        let before = self.rows.get();
        let rows = before + rows;
        self.rows.set(rows);
        if before == 0 || rows / 4096 > before / 4096 {
            let known = format!("the transitions of states were asked for {rows} times");
            self.budget.know(known);
        }
    }
}

impl Semantics for CountedSystem<'_> {
    type State = StateId;

    fn labels(&self) -> &Labels {
        self.system.labels()
    }

    fn initial(&self) -> StateId {
        self.system.initial()
    }

    fn successors(&self, state: &StateId, row: &mut Vec<(LabelId, StateId)>) {
        self.count(1);
        self.system.successors(state, row);
    }

    fn successors_of(
        &self,
        states: &[StateId],
        rows: &mut Vec<(LabelId, StateId)>,
        ends: &mut Vec<usize>,
    ) {
        self.count(states.len() as u64);
        self.system.successors_of(states, rows, ends);
    }

    fn describe(&self, state: &StateId) -> String {
        self.system.describe(state)
    }

    fn place(&self, state: &StateId) -> String {
        self.system.place(state)
    }

    fn line(&self, state: &StateId) -> Option<u32> {
        self.system.line(state)
    }
}
