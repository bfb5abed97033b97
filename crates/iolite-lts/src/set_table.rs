//! Sorted sets of states, interned in one arena.

use std::hash::BuildHasher;
use std::ops::Range;

use rustc_hash::FxBuildHasher;

use crate::StateId;

/// Index of a set of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SetId(u32);

impl SetId {
    /// No set: the table gives out fewer numbers than this.
    pub(crate) const NONE: Self = Self(u32::MAX);

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
    entries: Vec<Entry>,
    /// The members of sets that do not fit into their entries.
    members: Vec<StateId>,
    /// Open addressing with linear probing; the length is a power of two, and one slot in four at least
    /// is free. A slot keeps the hash of its set, so that a set that is not there costs one look into
    /// memory, and growing costs none into the sets.
    slots: Vec<Slot>,
}

/// A set of one or two states itself, or where its members are: most sets are that small, and to find them
/// costs one look into memory instead of two.
///
/// The second number tells which it is: [`Entry::ONE`], or with the highest bit set how many members there are from
/// the first number on, or else the second state.
#[derive(Clone, Copy, Debug)]
struct Entry([StateId; 2]);

impl Entry {
    const ONE: StateId = StateId::LAST;
    const MANY: usize = 1 << 31;

    /// The set in its entry, if it fits.
    fn small(set: &[StateId]) -> Option<Self> {
        match *set {
            [a] => Some(Self([a, Self::ONE])),
            [a, b] if b.index() < Self::MANY => Some(Self([a, b])),
            _ => None,
        }
    }

    fn many(start: usize, count: usize) -> Self {
        assert!(
            count < Self::MANY - 1,
            "fewer than 2^31 - 1 members of a set"
        );
        Self([StateId::new(start), StateId::new(Self::MANY | count)])
    }

    #[inline]
    fn members<'a>(&'a self, members: &'a [StateId]) -> &'a [StateId] {
        let [first, second] = self.0;
        if second.index() < Self::MANY {
            &self.0
        } else if second == Self::ONE {
            &self.0[..1]
        } else {
            &members[first.index()..][..second.index() - Self::MANY]
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    /// The set, or [`SetId::NONE`] where the slot is free.
    set: SetId,
}

impl Slot {
    const FREE: Self = Self {
        hash: 0,
        set: SetId::NONE,
    };

    fn is_free(self) -> bool {
        self.set == SetId::NONE
    }
}

/// The hash of a set, as the table uses it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SetHash(u32);

impl SetHash {
    #[inline]
    pub(crate) fn of(set: &[StateId]) -> Self {
        // The low half: that is where the hasher puts its best bits.
        Self(FxBuildHasher.hash_one(set) as u32)
    }
}

impl SetTable {
    /// The id of a set, which must be sorted and free of repetition.
    pub(crate) fn intern(&mut self, set: &[StateId]) -> SetId {
        self.intern_hashed(set, SetHash::of(set))
    }

    /// The same, where the hash of the set is known.
    pub(crate) fn intern_hashed(&mut self, set: &[StateId], SetHash(hash): SetHash) -> SetId {
        debug_assert!(set.is_sorted_by(|a, b| a < b));
        if 4 * (self.entries.len() + 1) > 3 * self.slots.len() {
            self.grow();
        }
        let at = match self.slot_of(set, hash) {
            Ok(found) => return found,
            Err(free) => free,
        };
        let id = SetId::new(self.entries.len());
        assert!(id != SetId::NONE, "fewer than 2^32 - 1 sets");
        self.slots[at] = Slot { hash, set: id };
        self.entries.push(Entry::small(set).unwrap_or_else(|| {
            self.members.extend_from_slice(set);
            Entry::many(self.members.len() - set.len(), set.len())
        }));
        id
    }

    /// The id of a set that is there, where the hash of the set is known.
    pub(crate) fn find_hashed(&self, set: &[StateId], SetHash(hash): SetHash) -> Option<SetId> {
        if self.slots.is_empty() {
            return None;
        }
        self.slot_of(set, hash).ok()
    }

    /// The id of a set, or the free slot where it belongs.
    #[inline]
    fn slot_of(&self, set: &[StateId], hash: u32) -> Result<SetId, usize> {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot.is_free() {
                return Err(at);
            }
            if slot.hash == hash && self.members(slot.set) == set {
                return Ok(slot.set);
            }
            at = (at + 1) & mask;
        }
    }

    /// Reads what the search for sets with these hashes looks at first. Asked before the sets are interned
    /// it brings their slots near all at once, where interning alone waits for one after the other.
    pub(crate) fn look_ahead(&self, hashes: impl Iterator<Item = SetHash> + Clone) {
        if self.slots.is_empty() {
            return;
        }
        let mask = self.slots.len() - 1;
        let slots = hashes.map(|SetHash(hash)| (self.slots[hash as usize & mask], hash));
        // One pass for each thing that is found by what was read before.
        let found = slots.clone().fold(0, |sum, (slot, _)| sum ^ slot.hash);
        let sets = slots.filter(|(slot, hash)| slot.hash == *hash && !slot.is_free());
        let entries = sets.clone().map(|(slot, _)| self.entries[slot.set.index()]);
        let found = entries.fold(found, |sum, Entry([first, _])| sum ^ first.index() as u32);
        let members = sets.filter_map(|(slot, _)| self.members(slot.set).first());
        std::hint::black_box(members.fold(found, |sum, s| sum ^ s.index() as u32));
    }

    fn grow(&mut self) {
        let length = (2 * self.slots.len()).max(16);
        let old = std::mem::replace(&mut self.slots, vec![Slot::FREE; length]);
        let mask = length - 1;
        for slot in old.into_iter().filter(|slot| !slot.is_free()) {
            let mut at = slot.hash as usize & mask;
            while !self.slots[at].is_free() {
                at = (at + 1) & mask;
            }
            self.slots[at] = slot;
        }
    }

    /// The members of a set, in order.
    #[inline]
    pub(crate) fn members(&self, id: SetId) -> &[StateId] {
        self.entries[id.index()].members(&self.members)
    }

    /// Replaces `members` by those of all these sets, one set after the other, and `ends` by where those of
    /// each end.
    pub(crate) fn members_of_all(
        &self,
        sets: Range<usize>,
        members: &mut Vec<StateId>,
        ends: &mut Vec<usize>,
    ) {
        members.clear();
        ends.clear();
        for entry in &self.entries[sets] {
            members.extend_from_slice(entry.members(&self.members));
            ends.push(members.len());
        }
    }

    /// Number of sets.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Forgets all sets.
    pub(crate) fn clear(&mut self) {
        self.members.clear();
        self.entries.clear();
        self.slots.clear();
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.members.len() * size_of::<StateId>()
            + self.entries.len() * size_of::<Entry>()
            + self.slots.len() * size_of::<Slot>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_all_sizes_are_what_they_were() {
        let last = u32::MAX as usize - 1;
        let sets: Vec<Vec<StateId>> = [
            &[][..],
            &[0],
            &[7],
            &[last],
            &[0, 7],
            &[3, 1 << 31],
            &[0, last],
            &[1, 2, 3],
            &[1, 2, 3, 1 << 31, last],
        ]
        .iter()
        .map(|set| set.iter().map(|&s| StateId::new(s)).collect())
        .collect();
        let mut table = SetTable::default();
        for round in 0..2 {
            for (i, set) in sets.iter().enumerate() {
                assert_eq!(table.intern(set), SetId::new(i), "{round}");
            }
        }
        assert_eq!(table.len(), sets.len());
        let (mut all, mut ends) = (Vec::new(), Vec::new());
        for (i, set) in sets.iter().enumerate() {
            assert_eq!(table.members(SetId::new(i)), set);
            table.members_of_all(i..sets.len(), &mut all, &mut ends);
            assert_eq!(all, sets[i..].concat());
            assert_eq!(ends.len(), sets.len() - i);
            assert_eq!(ends[0], set.len());
        }
    }
}
