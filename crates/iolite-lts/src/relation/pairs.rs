//! The pairs of a search: for each state of the implementation an antichain of specification sets.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::{LabelId, StateId};

use super::search::PairRules;
use super::set_row::Target;

/// What the specification may be in, as the rules of a relation number it.
pub(super) type Node = u32;

/// What the specification may be in after a step, numbered or not yet.
#[derive(Clone, Copy)]
pub(super) enum Goal {
    Node(Node),
    /// The set after a label, `None` when σ is no trace of the specification, and its part.
    Step(Option<Target>, u32),
}

/// A node as the order sees it: a set of specification states, and a part of the search within
/// which sets may be compared.
#[derive(Clone, Copy)]
pub(super) struct NodeSet<'a> {
    pub(super) members: &'a [StateId],
    pub(super) part: u32,
}

/// Which pairs count as met before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The same ones alone.
    Equality,
    /// Those with a larger set, too: for relations that a pair with a smaller set violates whenever
    /// one with a larger set does, after as few actions.
    Inclusion,
}

impl Order {
    /// How long a chain may grow. A pair beyond it is kept in a table, where it compares with equal
    /// ones only, so that a step costs at most so many comparisons. Where only equal sets are looked
    /// for, a chain is a way to do without the number of a set, and a table soon is faster.
    fn chain(self) -> usize {
        match self {
            Self::Equality => 4,
            Self::Inclusion => 24,
        }
    }
}

/// The end of a chain.
const END: u32 = u32::MAX;
/// In place of the next pair: this one is in no chain, and a smaller one of its level goes for it.
const REPLACED: u32 = u32::MAX - 1;

#[derive(Clone, Copy)]
struct Pair {
    state: StateId,
    node: Node,
    /// The pair and the action it was first reached by.
    from: u32,
    label: LabelId,
    /// The next pair in the chain of the state.
    next: u32,
    signature: u32,
}

/// The pairs met so far, level by level. Each is kept with the pair and the action that led to it.
pub(super) struct Pairs {
    order: Order,
    met: Vec<Pair>,
    /// For each state of the implementation the first pair of its chain. The sets of a chain differ,
    /// and with the order of inclusion they do not include one another.
    chains: Vec<u32>,
    /// The pairs that are in no chain, by state and node.
    table: HashTable<u32>,
    /// From here on pairs are not taken yet, and may be replaced.
    fresh: u32,
    /// Whether a pair was left out because of a smaller set.
    dropped: bool,
}

/// Where a pair belongs.
enum Place {
    /// Nowhere: it, or one with a smaller set, is there.
    Known,
    Chain,
    Table,
}

impl Pairs {
    pub(super) fn new(order: Order) -> Self {
        Self {
            order,
            met: Vec::new(),
            chains: Vec::new(),
            table: HashTable::new(),
            fresh: 0,
            dropped: false,
        }
    }

    pub(super) fn len(&self) -> u32 {
        self.met.len() as u32
    }

    pub(super) fn state(&self, pair: u32) -> StateId {
        self.met[pair as usize].state
    }

    pub(super) fn node(&self, pair: u32) -> Node {
        self.met[pair as usize].node
    }

    /// Whether a pair with a smaller set came up at the same level, so that this one need not be
    /// taken.
    pub(super) fn is_replaced(&self, pair: u32) -> bool {
        self.met[pair as usize].next == REPLACED
    }

    /// Pairs from `first` on are those of the level that is being filled.
    pub(super) fn begin_level(&mut self, first: u32) {
        self.fresh = first;
    }

    pub(super) fn order(&self) -> Order {
        self.order
    }

    /// Whether a pair was left out because of one with a smaller set.
    pub(super) fn has_dropped(&self) -> bool {
        self.dropped
    }

    /// From now on only equal pairs count as met.
    pub(super) fn compare_by_equality(&mut self) {
        self.order = Order::Equality;
    }

    /// Reaches a pair of `state` and `goal`, from a pair by an action. Says whether it is new.
    pub(super) fn reach<R: PairRules>(
        &mut self,
        rules: &mut R,
        state: StateId,
        goal: Goal,
        (from, label): (u32, LabelId),
    ) -> bool {
        let set = rules.set(goal);
        let signature = signature_of(set.members);
        let place = self.place(rules, state, set, signature);
        if let Place::Known = place {
            return false;
        }
        let node = rules.node(goal);
        let new = self.len();
        assert!(new < REPLACED, "fewer than 2^32 - 2 pairs");
        let mut next = END;
        if let Place::Chain = place {
            next = std::mem::replace(&mut self.chains[state.index()], new);
        } else if self.is_in_table(state, node) {
            return false;
        }
        self.met.push(Pair {
            state,
            node,
            from,
            label,
            next,
            signature,
        });
        if let Place::Table = place {
            self.enter_table(new);
        }
        true
    }

    /// Where a pair with this set belongs; the pairs with larger sets leave the chain.
    fn place<R: PairRules>(
        &mut self,
        rules: &R,
        state: StateId,
        set: NodeSet<'_>,
        signature: u32,
    ) -> Place {
        if self.chains.len() <= state.index() {
            self.chains.resize(state.index() + 1, END);
        }
        let mut length = 0;
        let mut previous = END;
        let mut at = self.chains[state.index()];
        while at != END {
            let Pair {
                node,
                next,
                signature: known,
                ..
            } = self.met[at as usize];
            let (may_be_smaller, may_be_larger) = match self.order {
                Order::Inclusion => (known & !signature == 0, signature & !known == 0),
                Order::Equality => (known == signature, false),
            };
            if may_be_smaller || may_be_larger {
                let other = rules.set(Goal::Node(node));
                let comparable = other.part == set.part
                    && (self.order == Order::Inclusion || other.members.len() == set.members.len());
                if comparable && may_be_smaller && is_subset(other.members, set.members) {
                    self.dropped |= other.members.len() < set.members.len();
                    return Place::Known;
                }
                if comparable && may_be_larger && is_subset(set.members, other.members) {
                    self.dropped = true;
                    if at >= self.fresh {
                        self.met[at as usize].next = REPLACED;
                    }
                    match self.met.get_mut(previous as usize) {
                        Some(previous) => previous.next = next,
                        None => self.chains[state.index()] = next,
                    }
                    at = next;
                    continue;
                }
            }
            length += 1;
            previous = at;
            at = next;
        }
        if length < self.order.chain() {
            Place::Chain
        } else {
            Place::Table
        }
    }

    fn is_in_table(&self, state: StateId, node: Node) -> bool {
        let equal = |&i: &u32| {
            let pair = &self.met[i as usize];
            (pair.state, pair.node) == (state, node)
        };
        self.table.find(hash(state, node), equal).is_some()
    }

    fn enter_table(&mut self, pair: u32) {
        let Self { met, table, .. } = self;
        let key = |&i: &u32| hash(met[i as usize].state, met[i as usize].node);
        table.insert_unique(key(&pair), pair, key);
    }

    /// The visible actions that led to a pair.
    pub(super) fn trace(&self, mut pair: u32) -> Vec<LabelId> {
        let mut trace = Vec::new();
        while pair != 0 {
            let Pair { from, label, .. } = self.met[pair as usize];
            if label != LabelId::TAU {
                trace.push(label);
            }
            pair = from;
        }
        trace.reverse();
        trace
    }

    pub(super) fn bytes(&self) -> usize {
        self.met.len() * size_of::<Pair>()
            + self.chains.len() * size_of::<u32>()
            + self.table.capacity() * (size_of::<u32>() + 1) * 8 / 7
    }
}

fn hash(state: StateId, node: Node) -> u64 {
    FxBuildHasher.hash_one((state, node))
}

/// One bit for each member, so that most sets that do not include one another are told apart
/// without a look at their members.
fn signature_of(set: &[StateId]) -> u32 {
    set.iter().fold(0, |bits, state| {
        let mixed = (state.index() as u32).wrapping_mul(0x9E37_79B9);
        bits | 1 << (mixed >> 27)
    })
}

/// Whether a sorted set is a subset of another.
fn is_subset(small: &[StateId], large: &[StateId]) -> bool {
    if small.len() > large.len() {
        return false;
    }
    let mut rest = large;
    small.iter().all(|state| {
        // Members are near to one another as a rule, so look ahead in growing strides.
        let mut stride = 1;
        while rest.get(stride - 1).is_some_and(|s| s < state) {
            rest = &rest[stride..];
            stride = (2 * stride).min(rest.len().max(1));
        }
        let i = rest[..stride.min(rest.len())].partition_point(|s| s < state);
        rest = &rest[i..];
        rest.first() == Some(state)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsets_of_sorted_sets() {
        let set = |bits: u32| -> Vec<StateId> {
            let members = (0..9).filter(|k| bits >> k & 1 == 1);
            members.map(StateId::new).collect()
        };
        for a in 0..512 {
            for b in 0..512 {
                assert_eq!(is_subset(&set(a), &set(b)), a & !b == 0, "{a:b} {b:b}");
            }
        }
    }
}
