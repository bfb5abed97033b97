//! Hiding and renaming.

use crate::{LabelId, LabelKind, Labels, Semantics};

/// A system under other labels: `hide A in B`, and renaming.
#[derive(Debug)]
pub struct Relabelled<M> {
    model: M,
    labels: Labels,
    map: Vec<LabelId>,
}

impl<M: Semantics> Relabelled<M> {
    /// The labels for which `hidden` answers yes become τ.
    pub fn hide(model: M, mut hidden: impl FnMut(&crate::Label) -> bool) -> Self {
        Self::rename(model, |label| {
            (!hidden(label)).then(|| (label.kind, label.name.to_string()))
        })
    }

    /// Each label becomes what `rename` says, τ for `None`. Two labels may become one. τ and δ stay.
    pub fn rename(
        model: M,
        mut rename: impl FnMut(&crate::Label) -> Option<(LabelKind, String)>,
    ) -> Self {
        let mut labels = Labels::new();
        let map = model
            .labels()
            .iter()
            .map(|(id, label)| match id {
                LabelId::TAU | LabelId::DELTA => id,
                _ => match rename(label) {
                    None => LabelId::TAU,
                    Some((kind, name)) => labels.intern(kind, &name),
                },
            })
            .collect();
        Self { model, labels, map }
    }
}

impl<M: Semantics> Semantics for Relabelled<M> {
    type State = M::State;

    fn labels(&self) -> &Labels {
        &self.labels
    }

    fn initial(&self) -> Self::State {
        self.model.initial()
    }

    fn successors(&self, state: &Self::State, row: &mut Vec<(LabelId, Self::State)>) {
        let start = row.len();
        self.model.successors(state, row);
        for (label, _) in &mut row[start..] {
            *label = self.map[label.index()];
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LtsBuilder, StateId, explore};

    #[test]
    fn hidden_labels_are_internal_and_renamed_ones_may_merge() {
        let mut b = LtsBuilder::new();
        for (k, l) in ["!mid", "!x", "!y"].iter().enumerate() {
            b.transition_text(StateId::new(0), l, StateId::new(k + 1));
        }
        let lts = b.build().unwrap();
        let hidden = explore(&Relabelled::hide(&lts, |l| &*l.name == "mid"), 10).unwrap();
        assert_eq!(hidden.steps_on(hidden.initial(), LabelId::TAU).len(), 1);
        let merged = Relabelled::rename(&lts, |l| Some((l.kind, "z".to_owned())));
        assert_eq!(merged.labels().outputs().count(), 1);
    }
}
