//! LOTOS-style parallel composition: `|[A]|`, `||` and `|||`.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::{LabelId, LabelKind, Labels, Semantics};

/// On which names two systems meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gates {
    /// `||`: on every visible action [LTS96, def. 2.4].
    All,
    /// `|[A]|`: on these names.
    Names(BTreeSet<String>),
    /// `|||`: on none.
    None,
}

impl Gates {
    fn contains(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Names(names) => names.contains(name),
            Self::None => false,
        }
    }
}

/// A gate on which a directed and a plain action would have to meet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{left} cannot synchronise with {right}: one is directed, the other is not")]
pub struct GateMismatch {
    /// The label of the left system.
    pub left: String,
    /// The label of the right system.
    pub right: String,
}

/// `B₁ |[A]| B₂`: actions named in `A` happen in both together, all others in one alone.
///
/// Actions meet by name: an output meets an input as the output, which the environment still sees
/// until it is hidden; two inputs meet as an input; two outputs, as in LOTOS, as one output.
#[derive(Debug)]
pub struct Composition<A, B> {
    left: A,
    right: B,
    labels: Labels,
    from_left: Vec<Role>,
    from_right: Vec<Role>,
    /// The joint label of a pair that meets.
    met: FxHashMap<(LabelId, LabelId), LabelId>,
}

/// What a component's label is in the composition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It happens in this component alone, under this label.
    Alone(LabelId),
    /// It needs a partner on the other side.
    Meets,
}

fn joint_kind(left: LabelKind, right: LabelKind) -> Option<LabelKind> {
    use LabelKind::{Delta, Input, Output, Undirected};
    match (left, right) {
        (Undirected, Undirected) => Some(Undirected),
        (Delta, Delta) => Some(Delta),
        (Input, Input) => Some(Input),
        (Output, Output | Input) | (Input, Output) => Some(Output),
        _ => None,
    }
}

impl<A: Semantics, B: Semantics> Composition<A, B> {
    /// Composes two systems on the given gates.
    pub fn new(left: A, right: B, gates: &Gates) -> Result<Self, GateMismatch> {
        let mut labels = Labels::new();
        let mut roles = |table: &Labels| -> Vec<Role> {
            let role = |(_, l): (LabelId, &crate::Label)| {
                if l.kind.is_visible() && gates.contains(&l.name) {
                    Role::Meets
                } else {
                    Role::Alone(labels.intern(l.kind, &l.name))
                }
            };
            table.iter().map(role).collect()
        };
        let from_left = roles(left.labels());
        let from_right = roles(right.labels());
        let mut met = FxHashMap::default();
        for (l, left_label) in left.labels().iter() {
            if from_left[l.index()] != Role::Meets {
                continue;
            }
            for (r, right_label) in right.labels().iter() {
                if from_right[r.index()] != Role::Meets || left_label.name != right_label.name {
                    continue;
                }
                let Some(kind) = joint_kind(left_label.kind, right_label.kind) else {
                    return Err(GateMismatch {
                        left: left_label.to_string(),
                        right: right_label.to_string(),
                    });
                };
                met.insert((l, r), labels.intern(kind, &left_label.name));
            }
        }
        Ok(Self {
            left,
            right,
            labels,
            from_left,
            from_right,
            met,
        })
    }
}

impl<A: Semantics, B: Semantics> Semantics for Composition<A, B> {
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
        for (l, p2) in &left {
            match self.from_left[l.index()] {
                Role::Alone(label) => row.push((label, (p2.clone(), q.clone()))),
                Role::Meets => {
                    for (r, q2) in &right {
                        if let Some(&label) = self.met.get(&(*l, *r)) {
                            row.push((label, (p2.clone(), q2.clone())));
                        }
                    }
                }
            }
        }
        for (r, q2) in right {
            if let Role::Alone(label) = self.from_right[r.index()] {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lts, LtsBuilder, StateId, explore};

    fn cycle(labels: &[&str]) -> Lts {
        let mut b = LtsBuilder::new();
        b.ensure_states(labels.len());
        for (k, l) in labels.iter().enumerate() {
            b.transition_text(StateId::new(k), l, StateId::new((k + 1) % labels.len()));
        }
        b.build().unwrap()
    }

    #[test]
    fn an_output_meets_an_input_as_the_output() {
        let (left, right) = (cycle(&["?in", "!mid"]), cycle(&["?mid", "!out"]));
        let gates = Gates::Names(BTreeSet::from(["mid".to_owned()]));
        let both = explore(&Composition::new(&left, &right, &gates).unwrap(), 100).unwrap();
        assert_eq!((both.state_count(), both.transition_count()), (4, 5));
        assert!(both.labels().get_text("!mid").is_some());
        assert!(both.labels().get_text("?mid").is_none());
    }

    #[test]
    fn full_synchronisation_blocks_what_one_side_lacks() {
        let (left, right) = (cycle(&["a", "b"]), cycle(&["a", "c"]));
        let both = explore(&Composition::new(&left, &right, &Gates::All).unwrap(), 100).unwrap();
        assert_eq!((both.state_count(), both.transition_count()), (2, 1));
        let free = explore(&Composition::new(&left, &right, &Gates::None).unwrap(), 100).unwrap();
        assert_eq!((free.state_count(), free.transition_count()), (4, 8));
    }

    #[test]
    fn plain_and_directed_labels_do_not_meet() {
        let (left, right) = (cycle(&["a"]), cycle(&["?a"]));
        assert!(Composition::new(&left, &right, &Gates::All).is_err());
    }
}
