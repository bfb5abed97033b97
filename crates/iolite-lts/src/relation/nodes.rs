//! What the specification may be in, numbered.

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

/// The node for "σ is no trace of the specification" where there are no parts. It is the last one, so
/// that pairs with it are taken last.
const NO_TRACE: Node = Node::MAX;

/// The places met so far, each once.
#[derive(Default)]
pub(super) struct Nodes {
    sets: SetTable,
    /// Without parts the number of a set is its node; only with parts places are numbered anew.
    parts: Option<Parts>,
}

#[derive(Default)]
struct Parts {
    places: Vec<(Option<SetId>, u32)>,
    index: FxHashMap<(Option<SetId>, u32), Node>,
}

impl Nodes {
    /// No nodes yet; `has_parts` where places differ by more than their sets.
    pub(super) fn new(has_parts: bool) -> Self {
        Self {
            sets: SetTable::default(),
            parts: has_parts.then(Parts::default),
        }
    }

    pub(super) fn place(&self, node: Node) -> Place<'_> {
        let (set, part) = match &self.parts {
            Some(parts) => parts.places[node as usize],
            None => ((node != NO_TRACE).then(|| SetId::new(node as usize)), 0),
        };
        Place {
            members: set.map_or(&[], |set| self.sets.members(set)),
            part,
        }
    }

    /// The number of a place, where the hash of its set is known.
    pub(super) fn intern(&mut self, place: Place<'_>, hash: SetHash) -> Node {
        let is_trace = !place.members.is_empty();
        let set = is_trace.then(|| self.sets.intern_hashed(place.members, hash));
        let Some(Parts { places, index }) = &mut self.parts else {
            return set.map_or(NO_TRACE, |set| set.index() as Node);
        };
        *index.entry((set, place.part)).or_insert_with(|| {
            places.push((set, place.part));
            Node::try_from(places.len() - 1).expect("fewer than 2^32 nodes")
        })
    }

    /// Reads from memory what numbering sets with these hashes looks at first, all at once.
    pub(super) fn look_ahead(&self, hashes: impl Iterator<Item = SetHash> + Clone) {
        self.sets.look_ahead(hashes);
    }

    /// Number of sets of specification states.
    pub(super) fn set_count(&self) -> usize {
        self.sets.len()
    }

    pub(super) fn bytes(&self) -> usize {
        let parts = self.parts.as_ref().map_or(0, |parts| {
            3 * parts.places.len() * size_of::<(Option<SetId>, u32)>()
        });
        self.sets.bytes() + parts
    }
}
