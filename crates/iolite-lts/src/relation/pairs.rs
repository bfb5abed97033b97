//! The pairs of a search: for each state of the implementation an antichain of specification sets.

use std::cmp::Ordering;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::set_table::SetHash;
use crate::{LabelId, StateId};

use super::cover::Cover;
use super::nodes::{Node, Nodes, Place};
use super::rules::Goal;
use super::set_row::{Number, TargetSets, signature_of};

/// Which pairs count as met before.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order<'a> {
    /// The same ones alone.
    Equality,
    /// Those with a larger set, too: for relations that a pair with a smaller set violates whenever
    /// one with a larger set does, after as few actions.
    Inclusion,
    /// Those with a larger set that the smaller one covers: for relations that are not so, where a set leaves
    /// something open.
    Covered(&'a Cover),
}

impl Order<'_> {
    /// How long a chain may grow. A pair beyond it is kept in a table, where it compares with equal
    /// ones only, so that a step costs at most so many comparisons. Where only equal sets are looked
    /// for, a chain is a way to do without the number of a set, and a table soon is faster.
    fn chain(self) -> usize {
        match self {
            Self::Equality => 4,
            Self::Inclusion | Self::Covered(_) => 24,
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
pub(super) struct Pairs<'a> {
    order: Order<'a>,
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
    /// Whether sets of different parts are never compared.
    separate: bool,
}

/// The place of a pair that may be new.
#[derive(Clone, Copy)]
struct Ours<'a> {
    place: Place<'a>,
    signature: u32,
    hash: SetHash,
}

/// Where a pair belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slot {
    /// Nowhere: it, or one with a smaller set, is there.
    Known,
    Chain,
    Table,
}

impl<'o> Pairs<'o> {
    /// No pairs yet. Sets of different parts are compared only where they are not `separate`, which is
    /// wrong and for tests.
    pub(super) fn new(order: Order<'o>, separate: bool) -> Self {
        Self {
            order,
            met: Vec::new(),
            chains: Vec::new(),
            table: HashTable::new(),
            fresh: 0,
            dropped: false,
            separate,
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

    pub(super) fn order(&self) -> Order<'o> {
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

    /// The first pair.
    pub(super) fn start(&mut self, nodes: &mut Nodes, state: StateId, place: Place<'_>) {
        let hash = SetHash::of(place.members);
        let node = nodes.intern(place, hash);
        let signature = signature_of(place.members);
        let ours = Ours {
            place,
            signature,
            hash,
        };
        let slot = self.slot(nodes, state, ours, &mut Number::Known(node));
        self.enter(state, node, (0, LabelId::TAU), signature, slot);
    }

    /// Reaches a pair of `state` and the place of `pair`, by an internal action.
    pub(super) fn reach_internally(&mut self, nodes: &Nodes, state: StateId, pair: u32) {
        let Pair {
            node, signature, ..
        } = self.met[pair as usize];
        let (members, part) = nodes.place(node);
        let ours = Ours {
            place: Place {
                members: &members,
                part,
            },
            signature,
            hash: SetHash::default(),
        };
        let slot = self.slot(nodes, state, ours, &mut Number::Known(node));
        self.enter(state, node, (pair, LabelId::TAU), signature, slot);
    }

    /// Reads from memory the chains of these states and the first pair of each, all at once.
    pub(super) fn look_ahead(&self, states: impl Iterator<Item = StateId> + Clone) {
        let chains = states.filter_map(|state| self.chains.get(state.index()));
        let found = chains.clone().fold(0, |sum, first| sum ^ first);
        let pairs = chains.filter_map(|&first| self.met.get(first as usize));
        std::hint::black_box(pairs.fold(found, |sum, pair| sum ^ pair.signature));
    }

    /// Reaches a pair of `state` and `goal`, from a pair by an action. Its number, if it is new.
    pub(super) fn reach(
        &mut self,
        nodes: &mut Nodes,
        sets: &mut TargetSets,
        state: StateId,
        goal: Goal,
        by: (u32, LabelId),
    ) -> Option<u32> {
        if let Some(new) = self.reach_first(nodes, state, goal, by) {
            return Some(new);
        }
        let members = sets.members(goal.set);
        let ours = Ours {
            place: Place {
                members: &members,
                part: goal.part,
            },
            signature: sets.signature(goal.set),
            hash: sets.hash(goal.set),
        };
        let before = sets.number(goal.set, goal.part);
        let mut number = before;
        let slot = self.slot(nodes, state, ours, &mut number);
        if slot == Slot::Known {
            if number != before {
                sets.set_number(goal.set, goal.part, number);
            }
            return None;
        }
        let node = match number {
            // A set of one state has a number before it is met.
            Number::Known(node) if members.len() != 1 => node,
            _ => nodes.intern(ours.place, ours.hash),
        };
        let signature = ours.signature;
        sets.set_number(goal.set, goal.part, Number::Known(node));
        self.enter(state, node, by, signature, slot)
    }

    /// The same where `goal` is a set of one state, which has its number, and no other pair of `state` was met: most pairs
    /// of large machines come so, and there is nothing to compare.
    #[inline]
    fn reach_first(
        &mut self,
        nodes: &mut Nodes,
        state: StateId,
        goal: Goal,
        by: (u32, LabelId),
    ) -> Option<u32> {
        if self.chains.get(state.index()) != Some(&END) {
            return None;
        }
        let one = nodes.meet_one(goal.set.number())?;
        let signature = signature_of(&[one]);
        self.enter(state, one.index() as Node, by, signature, Slot::Chain)
    }

    /// Enters a pair. Its number, if it is new.
    fn enter(
        &mut self,
        state: StateId,
        node: Node,
        (from, label): (u32, LabelId),
        signature: u32,
        slot: Slot,
    ) -> Option<u32> {
        let new = self.len();
        assert!(new < REPLACED, "fewer than 2^32 - 2 pairs");
        let next = match slot {
            Slot::Known => return None,
            Slot::Table if self.is_in_table(state, node) => return None,
            Slot::Table => END,
            Slot::Chain => std::mem::replace(&mut self.chains[state.index()], new),
        };
        self.met.push(Pair {
            state,
            node,
            from,
            label,
            next,
            signature,
        });
        if slot == Slot::Table {
            self.enter_table(new);
        }
        Some(new)
    }

    /// Where a pair with this set belongs; the pairs with larger sets leave the chain.
    fn slot(&mut self, nodes: &Nodes, state: StateId, ours: Ours<'_>, number: &mut Number) -> Slot {
        if self.chains.len() <= state.index() {
            self.chains.resize(state.index() + 1, END);
        }
        let Ours {
            place,
            signature,
            hash,
        } = ours;
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
                Order::Inclusion | Order::Covered(_) => {
                    (known & !signature == 0, signature & !known == 0)
                }
                Order::Equality => (known == signature, false),
            };
            if may_be_smaller || may_be_larger {
                // Equal sets come up most often, and equal they are by their numbers.
                if number.find(nodes, place, hash) == Some(node) {
                    return Slot::Known;
                }
                let order = match self.order {
                    Order::Equality if self.separate => None,
                    order => compare(nodes, node, place, self.separate, order),
                };
                match order {
                    Some(Ordering::Less) => {
                        self.dropped = true;
                        return Slot::Known;
                    }
                    Some(Ordering::Equal) => return Slot::Known,
                    Some(Ordering::Greater) => {
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
                    None => {}
                }
            }
            length += 1;
            previous = at;
            at = next;
        }
        if length < self.order.chain() {
            Slot::Chain
        } else {
            Slot::Table
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
        let order = match self.order {
            Order::Equality | Order::Inclusion => 0,
            Order::Covered(cover) => cover.bytes(),
        };
        order
            + self.met.len() * size_of::<Pair>()
            + self.chains.len() * size_of::<u32>()
            + self.table.capacity() * (size_of::<u32>() + 1) * 8 / 7
    }
}

fn hash(state: StateId, node: Node) -> u64 {
    FxBuildHasher.hash_one((state, node))
}

/// How the set of a node compares with ours; sets of different parts do not where these are separate.
#[inline]
fn compare(
    nodes: &Nodes,
    node: Node,
    ours: Place<'_>,
    separate: bool,
    order: Order<'_>,
) -> Option<Ordering> {
    let (theirs, part) = nodes.place(node);
    if separate && part != ours.part {
        return None;
    }
    let by_size = theirs.len().cmp(&ours.members.len());
    let (small, large) = match by_size {
        Ordering::Less | Ordering::Equal => (&*theirs, ours.members),
        Ordering::Greater => (ours.members, &*theirs),
    };
    let is_smaller = match order {
        Order::Equality => by_size.is_eq() && small == large,
        Order::Inclusion => is_subset(small, large),
        Order::Covered(cover) => is_subset(small, large) && cover.covers(small, large),
    };
    is_smaller.then_some(by_size)
}

/// Whether a sorted set is a subset of another.
fn is_subset(small: &[StateId], large: &[StateId]) -> bool {
    if small.len() >= large.len() {
        return small == large;
    }
    if large.len() <= NEAR * small.len() {
        return is_subset_of_near(small, large);
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

/// A set that is at most so many times as large is walked member by member.
const NEAR: usize = 8;

/// The same for sets of like sizes: no step depends on a comparison that is hard to foresee.
fn is_subset_of_near(small: &[StateId], large: &[StateId]) -> bool {
    let mut found = 0;
    for &state in large {
        let wanted = small.get(found).copied().unwrap_or(StateId::LAST);
        found += usize::from(wanted == state);
    }
    found >= small.len()
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
