//! A system over a larger alphabet than its own.

use crate::{LabelId, Labels, Semantics};

/// The same system with more labels in its table: those of another system, or outputs that only the
/// implementation knows, so that they have names when they are seen. No state does them.
#[derive(Debug)]
pub struct Extended<M> {
    model: M,
    labels: Labels,
}

impl<M: Semantics> Extended<M> {
    /// `model` over its own labels and those of `more`. Its own keep their ids.
    pub fn new(model: M, more: &Labels) -> Self {
        let mut labels = model.labels().clone();
        labels.join(more);
        Self { model, labels }
    }
}

impl<M: Semantics> Semantics for Extended<M> {
    type State = M::State;

    fn labels(&self) -> &Labels {
        &self.labels
    }

    fn initial(&self) -> Self::State {
        self.model.initial()
    }

    fn successors(&self, state: &Self::State, row: &mut Vec<(LabelId, Self::State)>) {
        self.model.successors(state, row);
    }

    fn describe(&self, state: &Self::State) -> String {
        self.model.describe(state)
    }

    fn place(&self, state: &Self::State) -> String {
        self.model.place(state)
    }

    fn line(&self, state: &Self::State) -> Option<u32> {
        self.model.line(state)
    }
}
