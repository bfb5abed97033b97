//! Strongly connected components, by Tarjan's algorithm without recursion.

use crate::StateId;

const UNSEEN: u32 = u32::MAX;

/// A search that can be continued: components found from one root are not visited again from the
/// next, so that a view may ask for the component of one state at a time at linear cost in all.
#[derive(Clone, Debug, Default)]
pub struct Tarjan {
    /// Discovery number, or `UNSEEN`.
    number: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
    stack: Vec<StateId>,
    next_number: u32,
}

struct Frame {
    state: StateId,
    /// Where this state's successors start in the shared buffer, and which comes next.
    start: usize,
    next: usize,
}

impl Tarjan {
    /// A search that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the component of this state is known already.
    pub fn seen(&self, state: StateId) -> bool {
        self.number.get(state.index()).is_some_and(|&n| n != UNSEEN)
    }

    fn grow(&mut self, state: StateId) {
        let len = state.index() + 1;
        if self.number.len() < len {
            self.number.resize(len, UNSEEN);
            self.low.resize(len, 0);
            self.on_stack.resize(len, false);
        }
    }

    fn enter(&mut self, state: StateId) {
        self.grow(state);
        self.number[state.index()] = self.next_number;
        self.low[state.index()] = self.next_number;
        self.next_number += 1;
        self.stack.push(state);
        self.on_stack[state.index()] = true;
    }

    /// Visits what `root` reaches and was not seen before. `successors` appends the successors of
    /// a state; `component` gets each component, those that others lead to first.
    pub fn visit(
        &mut self,
        root: StateId,
        mut successors: impl FnMut(StateId, &mut Vec<StateId>),
        mut component: impl FnMut(&[StateId]),
    ) {
        if self.seen(root) {
            return;
        }
        let mut buffer = Vec::new();
        let mut frames = Vec::new();
        self.enter(root);
        successors(root, &mut buffer);
        frames.push(Frame {
            state: root,
            start: 0,
            next: 0,
        });
        while let Some(frame) = frames.last_mut() {
            let state = frame.state;
            if frame.next < buffer.len() {
                let target = buffer[frame.next];
                frame.next += 1;
                if !self.seen(target) {
                    self.enter(target);
                    let start = buffer.len();
                    successors(target, &mut buffer);
                    frames.push(Frame {
                        state: target,
                        start,
                        next: start,
                    });
                } else if self.on_stack[target.index()] {
                    self.low[state.index()] =
                        self.low[state.index()].min(self.number[target.index()]);
                }
                continue;
            }
            buffer.truncate(frame.start);
            frames.pop();
            if let Some(parent) = frames.last() {
                let p = parent.state.index();
                self.low[p] = self.low[p].min(self.low[state.index()]);
            }
            if self.low[state.index()] == self.number[state.index()] {
                let from = self
                    .stack
                    .iter()
                    .rposition(|&s| s == state)
                    .expect("root on stack");
                for s in &self.stack[from..] {
                    self.on_stack[s.index()] = false;
                }
                component(&self.stack[from..]);
                self.stack.truncate(from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn components(edges: &[(usize, usize)], n: usize) -> Vec<Vec<usize>> {
        let mut tarjan = Tarjan::new();
        let mut found = Vec::new();
        for root in (0..n).map(StateId::new) {
            tarjan.visit(
                root,
                |s, out| {
                    out.extend(
                        edges
                            .iter()
                            .filter(|e| e.0 == s.index())
                            .map(|e| StateId::new(e.1)),
                    );
                },
                |c| {
                    let mut c: Vec<_> = c.iter().map(|s| s.index()).collect();
                    c.sort_unstable();
                    found.push(c);
                },
            );
        }
        found
    }

    #[test]
    fn components_come_in_reverse_topological_order() {
        let edges = [(0, 1), (1, 2), (2, 1), (2, 3), (3, 3), (0, 3)];
        assert_eq!(
            components(&edges, 5),
            [vec![3], vec![1, 2], vec![0], vec![4]]
        );
    }

    #[test]
    fn a_long_chain_does_not_exhaust_the_stack() {
        let n = 200_000;
        let mut tarjan = Tarjan::new();
        let mut count = 0;
        tarjan.visit(
            StateId::new(0),
            |s, out| out.push(StateId::new((s.index() + 1) % n)),
            |c| {
                assert_eq!(c.len(), n);
                count += 1;
            },
        );
        assert_eq!(count, 1);
    }

    mod against_reachability {
        use super::*;
        use proptest::prelude::*;

        proptest! {
            #[test]
            fn two_states_share_a_component_iff_they_reach_each_other(
                edges in prop::collection::vec((0usize..7, 0usize..7), 0..20)
            ) {
                let mut reach = [[false; 7]; 7];
                for (i, row) in reach.iter_mut().enumerate() {
                    row[i] = true;
                }
                for _ in 0..7 {
                    for &(a, b) in &edges {
                        for row in &mut reach {
                            row[b] |= row[a];
                        }
                    }
                }
                let found = components(&edges, 7);
                prop_assert_eq!(found.iter().map(Vec::len).sum::<usize>(), 7);
                for (a, row) in reach.iter().enumerate() {
                    for (b, &there) in row.iter().enumerate() {
                        let same = found.iter().any(|c| c.contains(&a) && c.contains(&b));
                        prop_assert_eq!(same, there && reach[b][a]);
                    }
                }
            }
        }
    }
}
