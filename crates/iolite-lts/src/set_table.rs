//! Sorted sets of states, interned in one arena.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::StateId;

/// Index of a set of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SetId(u32);

impl SetId {
    /// The id with this index.
    #[inline]
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 sets"))
    }

    /// The index, for tables beside the sets.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Interned sorted sets: equal sets have equal ids, numbered in the order of their first use.
#[derive(Clone, Debug, Default)]
pub(crate) struct SetTable {
    members: Vec<StateId>,
    ends: Vec<u32>,
    index: HashTable<SetId>,
}

fn hash(set: &[StateId]) -> u64 {
    FxBuildHasher.hash_one(set)
}

impl SetTable {
    /// The id of a set, which must be sorted and free of repetition.
    pub(crate) fn intern(&mut self, set: &[StateId]) -> SetId {
        debug_assert!(set.is_sorted_by(|a, b| a < b));
        let Self {
            members,
            ends,
            index,
        } = self;
        let h = hash(set);
        if let Some(&id) = index.find(h, |&id| slice(members, ends, id) == set) {
            return id;
        }
        let id = SetId::new(ends.len());
        members.extend_from_slice(set);
        ends.push(u32::try_from(members.len()).expect("fewer than 2^32 members in all sets"));
        index.insert_unique(h, id, |&id| hash(slice(members, ends, id)));
        id
    }

    /// The members of a set, in order.
    pub(crate) fn members(&self, id: SetId) -> &[StateId] {
        slice(&self.members, &self.ends, id)
    }

    /// Number of sets.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Forgets all sets and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.members.clear();
        self.ends.clear();
        self.index.clear();
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        (self.members.len() + self.ends.len()) * size_of::<u32>()
            + self.index.capacity() * (size_of::<SetId>() + 1) * 8 / 7
    }
}

fn slice<'a>(members: &'a [StateId], ends: &[u32], id: SetId) -> &'a [StateId] {
    let i = id.index();
    let start = if i == 0 { 0 } else { ends[i - 1] };
    &members[start as usize..ends[i] as usize]
}
