//! What the specification may be in, numbered.

use std::ops::Deref;

use rustc_hash::FxHashMap;

use crate::set_table::{SetHash, SetTable};
use crate::{SetId, StateId};

/// The number of what the specification may be in.
pub(super) type Node = u32;

/// What the specification may be in after a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place<'a> {
    /// A sorted set of its states, closed under internal steps; empty when σ is no trace of it.
    pub(super) members: &'a [StateId],
    /// The part of the search within which sets may be compared: where σ is in F.
    pub(super) part: u32,
}

/// The states of a set. Most sets are of one state, and are written down nowhere.
#[derive(Clone, Copy, Debug)]
pub(super) enum Members<'a> {
    One(StateId),
    All(&'a [StateId]),
}

impl Deref for Members<'_> {
    type Target = [StateId];

    #[inline]
    fn deref(&self) -> &[StateId] {
        match self {
            Self::One(state) => std::slice::from_ref(state),
            Self::All(members) => members,
        }
    }
}

/// The number of the empty set, "σ is no trace of the specification". It is the last one, so that pairs with it
/// are taken last.
const NO_TRACE: Node = Node::MAX;

/// The other bits of a number with this one are the place of a set in a table. One without it is the state of a set of one
/// state, which needs no table, and on large models to look into one is to wait for memory. Sets of one state are
/// taken first: what is in a larger set need not be taken then.
pub(super) const IN_TABLE: Node = 1 << 31;

/// The number of a set that needs no table.
#[inline]
pub(super) fn number_without_table(members: &[StateId]) -> Option<Node> {
    match *members {
        [] => Some(NO_TRACE),
        [state] if state.index() < IN_TABLE as usize => Some(state.index() as Node),
        _ => None,
    }
}

/// The set with this number, if it needs no table.
#[inline]
pub(super) fn members_without_table(set: Node) -> Option<Members<'static>> {
    match set {
        NO_TRACE => Some(Members::All(&[])),
        _ if set < IN_TABLE => Some(Members::One(StateId::new(set as usize))),
        _ => None,
    }
}

/// The number of a set in the table.
#[inline]
fn in_table(set: SetId) -> Node {
    // The last one with the bit is the empty set.
    assert!(
        set.index() < (NO_TRACE & !IN_TABLE) as usize,
        "fewer than 2^31 - 1 sets of several states"
    );
    set.index() as Node | IN_TABLE
}

/// The places met so far, each once.
#[derive(Default)]
pub(super) struct Nodes {
    sets: SetTable,
    /// One bit for each state that a set of it alone was met of, and how many these are.
    ones: Vec<u64>,
    one_count: usize,
    /// Without parts the number of a set is its node; only with parts places are numbered anew.
    parts: Option<Parts>,
}

/// Places by the numbers of their sets, and their parts.
#[derive(Default)]
struct Parts {
    places: Vec<(Node, u32)>,
    index: FxHashMap<(Node, u32), Node>,
}

impl Nodes {
    /// No nodes yet; `has_parts` where places differ by more than their sets.
    pub(super) fn new(has_parts: bool) -> Self {
        Self {
            parts: has_parts.then(Parts::default),
            ..Self::default()
        }
    }

    /// Whether places differ by more than their sets.
    pub(super) fn has_parts(&self) -> bool {
        self.parts.is_some()
    }

    /// The set of a node, and its part.
    #[inline]
    pub(super) fn place(&self, node: Node) -> (Members<'_>, u32) {
        let (set, part) = match &self.parts {
            Some(parts) => parts.places[node as usize],
            None => (node, 0),
        };
        let members = members_without_table(set).unwrap_or_else(|| {
            let set = SetId::new((set & !IN_TABLE) as usize);
            Members::All(self.sets.members(set))
        });
        (members, part)
    }

    /// How many numbers were given from tables: as long as these are no more, what has none has none.
    #[inline]
    pub(super) fn numbered(&self) -> usize {
        let places = self.parts.as_ref().map(|parts| parts.places.len());
        places.unwrap_or_else(|| self.sets.len())
    }

    /// The number of a place, if it has one, where the hash of its set is known.
    pub(super) fn find(&self, place: Place<'_>, hash: SetHash) -> Option<Node> {
        let set = match number_without_table(place.members) {
            Some(set) => set,
            None => in_table(self.sets.find_hashed(place.members, hash)?),
        };
        match &self.parts {
            Some(parts) => parts.index.get(&(set, place.part)).copied(),
            None => Some(set),
        }
    }

    /// The number of a place, where the hash of its set is known.
    pub(super) fn intern(&mut self, place: Place<'_>, hash: SetHash) -> Node {
        let set = match number_without_table(place.members) {
            Some(set) => {
                place.members.iter().for_each(|&state| self.meet(state));
                set
            }
            None => in_table(self.sets.intern_hashed(place.members, hash)),
        };
        let Some(Parts { places, index }) = &mut self.parts else {
            return set;
        };
        *index.entry((set, place.part)).or_insert_with(|| {
            places.push((set, place.part));
            Node::try_from(places.len() - 1).expect("fewer than 2^32 nodes")
        })
    }

    /// The state of a set of one state whose number is its node, and that is met with this. `None` for the other sets.
    #[inline]
    pub(super) fn meet_one(&mut self, set: Node) -> Option<StateId> {
        if set >= IN_TABLE || self.has_parts() {
            return None;
        }
        let state = StateId::new(set as usize);
        self.meet(state);
        Some(state)
    }

    /// Counts the set of this state alone.
    fn meet(&mut self, state: StateId) {
        let (word, bit) = (state.index() / 64, 1 << (state.index() % 64));
        if self.ones.len() <= word {
            self.ones.resize(word + 1, 0);
        }
        self.one_count += usize::from(self.ones[word] & bit == 0);
        self.ones[word] |= bit;
    }

    /// Reads from memory what numbering sets with these hashes looks at first, all at once.
    pub(super) fn look_ahead(&self, hashes: impl Iterator<Item = SetHash> + Clone) {
        self.sets.look_ahead(hashes);
    }

    /// Number of sets of specification states.
    pub(super) fn set_count(&self) -> usize {
        self.sets.len() + self.one_count
    }

    pub(super) fn bytes(&self) -> usize {
        let parts = self
            .parts
            .as_ref()
            .map_or(0, |parts| 3 * parts.places.len() * size_of::<(Node, u32)>());
        self.sets.bytes() + self.ones.len() * size_of::<u64>() + parts
    }
}
