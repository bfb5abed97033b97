//! Dense ids for the states of any system, given out as they are met.

use std::cell::RefCell;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::{LabelId, Labels, Semantics, StateId, Step};

/// A view whose states are ids, numbered in the order in which they are met, with the steps of every
/// visited state remembered. It is how composed systems enter the views that need ids, and how a
/// shape known only at run time becomes one type: `Box<dyn Semantics<State = StateId>>`.
#[derive(Debug)]
pub struct Interned<M: Semantics> {
    model: M,
    memo: RefCell<Memo<M::State>>,
}

#[derive(Debug)]
struct Memo<S> {
    states: Vec<S>,
    index: HashTable<StateId>,
    rows: Vec<Option<(u32, u32)>>,
    steps: Vec<Step>,
    row: Vec<(LabelId, S)>,
}

impl<S: Clone + Eq + std::hash::Hash> Memo<S> {
    fn intern(&mut self, state: &S) -> StateId {
        let Self { states, index, .. } = self;
        let h = FxBuildHasher.hash_one(state);
        if let Some(&id) = index.find(h, |id| states[id.index()] == *state) {
            return id;
        }
        let id = StateId::new(states.len());
        states.push(state.clone());
        index.insert_unique(h, id, |id| FxBuildHasher.hash_one(&states[id.index()]));
        self.rows.push(None);
        id
    }
}

impl<M: Semantics> Interned<M> {
    /// The view of `model` with ids for states.
    pub fn new(model: M) -> Self {
        let memo = Memo {
            states: Vec::new(),
            index: HashTable::new(),
            rows: Vec::new(),
            steps: Vec::new(),
            row: Vec::new(),
        };
        Self {
            model,
            memo: RefCell::new(memo),
        }
    }

    /// The model underneath.
    pub fn inner(&self) -> &M {
        &self.model
    }

    /// The state of the model behind an id.
    pub fn state(&self, id: StateId) -> M::State {
        self.memo.borrow().states[id.index()].clone()
    }

    /// Number of states met so far.
    pub fn state_count(&self) -> usize {
        self.memo.borrow().states.len()
    }
}

impl<M: Semantics> Semantics for Interned<M> {
    type State = StateId;

    fn labels(&self) -> &Labels {
        self.model.labels()
    }

    fn initial(&self) -> StateId {
        let initial = self.model.initial();
        self.memo.borrow_mut().intern(&initial)
    }

    fn successors(&self, state: &StateId, row: &mut Vec<Step>) {
        let mut memo = self.memo.borrow_mut();
        let (start, end) = if let Some(range) = memo.rows[state.index()] {
            range
        } else {
            let mut found = std::mem::take(&mut memo.row);
            self.model
                .successors(&memo.states[state.index()], &mut found);
            let start = memo.steps.len() as u32;
            for (label, target) in found.drain(..) {
                let id = memo.intern(&target);
                memo.steps.push((label, id));
            }
            let end = u32::try_from(memo.steps.len()).expect("fewer than 2^32 steps");
            memo.row = found;
            memo.rows[state.index()] = Some((start, end));
            (start, end)
        };
        row.extend_from_slice(&memo.steps[start as usize..end as usize]);
    }

    fn describe(&self, state: &StateId) -> String {
        self.model
            .describe(&self.memo.borrow().states[state.index()])
    }

    fn place(&self, state: &StateId) -> String {
        self.model.place(&self.memo.borrow().states[state.index()])
    }

    fn line(&self, state: &StateId) -> Option<u32> {
        self.model.line(&self.memo.borrow().states[state.index()])
    }
}
