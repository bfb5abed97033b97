//! Synchronous composition on shared visible actions.

use crate::{LabelId, LabelKind, Labels, Semantics};

/// M₁ ∥ M₂: both take the same visible action together, each its internal actions alone, and a
/// visible action that one of them does not know cannot happen [SAFE04, def. 4].
#[derive(Debug)]
pub struct Product<A, B> {
    left: A,
    right: B,
    labels: Labels,
    /// Ids of the right table in the joint one; those of the left stay what they are.
    from_right: Vec<LabelId>,
}

impl<A: Semantics, B: Semantics> Product<A, B> {
    /// The product; its alphabet is the left one with what the right one adds, of which only the
    /// shared visible labels and the internal ones can occur.
    pub fn new(left: A, right: B) -> Self {
        let mut labels = left.labels().clone();
        let from_right = labels.join(right.labels());
        Self {
            left,
            right,
            labels,
            from_right,
        }
    }
}

impl<A: Semantics, B: Semantics> Semantics for Product<A, B> {
    type State = (A::State, B::State);

    fn labels(&self) -> &Labels {
        &self.labels
    }

    fn initial(&self) -> Self::State {
        (self.left.initial(), self.right.initial())
    }

    fn successors(&self, (p, q): &Self::State, row: &mut Vec<(LabelId, Self::State)>) {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        self.left.successors(p, &mut left);
        self.right.successors(q, &mut right);
        for (label, _) in &mut right {
            *label = self.from_right[label.index()];
        }
        for (label, p2) in &left {
            if self.labels.kind(*label) == LabelKind::Internal {
                row.push((*label, (p2.clone(), q.clone())));
                continue;
            }
            for (_, q2) in right.iter().filter(|(l, _)| l == label) {
                row.push((*label, (p2.clone(), q2.clone())));
            }
        }
        for (label, q2) in right {
            if self.labels.kind(label) == LabelKind::Internal {
                row.push((label, (p.clone(), q2)));
            }
        }
    }

    fn describe(&self, (p, q): &Self::State) -> String {
        format!("{}|{}", self.left.describe(p), self.right.describe(q))
    }

    fn place(&self, (p, q): &Self::State) -> String {
        format!("{}|{}", self.left.place(p), self.right.place(q))
    }

    fn line(&self, (p, _): &Self::State) -> Option<u32> {
        self.left.line(p)
    }
}
