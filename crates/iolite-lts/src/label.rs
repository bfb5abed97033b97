//! Action labels, interned with their kind.
//!
//! The papers write the alphabet as `L_I ∪ L_U ∪ {τ}` \[LTS96\], `L_I, L_U` \[IOCO99\]
//! or `A_? ∪ A_! ∪ I` \[SAFE04\]; here it is one table, and a label's kind tells its part.

use std::fmt;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// What a label is to the system that carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LabelKind {
    /// `?a`, initiated by the environment.
    Input,
    /// `!x`, initiated by the system.
    Output,
    /// Invisible: τ, written `i`, or a named internal action.
    Internal,
    /// A plain action of symmetric interaction [LTS96, §4].
    Undirected,
    /// δ, the observation that no output comes.
    Delta,
}

impl LabelKind {
    /// The mark that is written before the name.
    pub fn sigil(self) -> &'static str {
        match self {
            Self::Input => "?",
            Self::Output => "!",
            Self::Internal | Self::Undirected | Self::Delta => "",
        }
    }

    /// Whether the environment sees the action.
    #[inline]
    pub fn is_visible(self) -> bool {
        self != Self::Internal
    }

    /// Whether it belongs to `out`: an output or δ.
    #[inline]
    pub fn is_observation(self) -> bool {
        matches!(self, Self::Output | Self::Delta)
    }
}

/// Index of a label in its [`Labels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelId(u32);

impl LabelId {
    /// The anonymous internal action τ: the same id in every table.
    pub const TAU: Self = Self(0);
    /// Quiescence δ: the same id in every table.
    pub const DELTA: Self = Self(1);

    /// The id with this index. It must come from the table it is used with.
    #[inline]
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 labels"))
    }

    /// The index, for tables beside the label table.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A label: kind and bare name (`coffee`, not `!coffee`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label {
    /// Input, output, …
    pub kind: LabelKind,
    /// Name without its sigil.
    pub name: Box<str>,
}

impl Label {
    /// A label from kind and bare name.
    pub fn new(kind: LabelKind, name: &str) -> Self {
        Self {
            kind,
            name: name.into(),
        }
    }

    /// Reads the notation that counterexamples and traces use: `?a`, `!x`, `delta` or `δ` (with `_o` where
    /// the silence of a deadlock is told apart as `delta_d`), `i` or `tau`, and anything else as an
    /// undirected action.
    pub fn parse(text: &str) -> Self {
        match text {
            "i" | "tau" | "τ" => Self::new(LabelKind::Internal, "i"),
            "delta" | "δ" | "delta_o" | "δ_o" => Self::new(LabelKind::Delta, "delta"),
            "δ_d" => Self::new(LabelKind::Undirected, "delta_d"),
            _ => match text.as_bytes().first() {
                Some(b'?') if text.len() > 1 => Self::new(LabelKind::Input, &text[1..]),
                Some(b'!') if text.len() > 1 => Self::new(LabelKind::Output, &text[1..]),
                _ => Self::new(LabelKind::Undirected, text),
            },
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.kind.sigil(), self.name)
    }
}

/// An interned alphabet. τ and δ are always there, with fixed ids.
#[derive(Clone)]
pub struct Labels {
    entries: Vec<Label>,
    kinds: Vec<LabelKind>,
    index: HashTable<u32>,
}

impl Default for Labels {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.iter().map(|(_, l)| l.to_string()))
            .finish()
    }
}

impl PartialEq for Labels {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl Eq for Labels {}

fn hash(kind: LabelKind, name: &str) -> u64 {
    FxBuildHasher.hash_one((kind, name))
}

impl Labels {
    /// The name of an unfolded action with whatever values no transition has: `o(…)`.
    pub fn with_other_values(action: &str) -> String {
        format!("{action}(…)")
    }

    /// The label of an unfolded action for values that no label has, if it is one.
    pub fn other_values(&self, kind: LabelKind, action: &str) -> Option<LabelId> {
        self.get(kind, &Self::with_other_values(action))
    }

    /// A table that knows τ and δ only.
    pub fn new() -> Self {
        let mut table = Self {
            entries: Vec::new(),
            kinds: Vec::new(),
            index: HashTable::new(),
        };
        let tau = table.intern(LabelKind::Internal, "i");
        let delta = table.intern(LabelKind::Delta, "delta");
        debug_assert!(tau == LabelId::TAU && delta == LabelId::DELTA);
        table
    }

    /// The id of this label, which is added when it is new. Every spelling of δ is
    /// [`LabelId::DELTA`].
    pub fn intern(&mut self, kind: LabelKind, name: &str) -> LabelId {
        if let Some(id) = self.get(kind, name) {
            return id;
        }
        let id = LabelId::new(self.entries.len());
        self.entries.push(Label::new(kind, name));
        self.kinds.push(kind);
        let entries = &self.entries;
        self.index.insert_unique(hash(kind, name), id.0, |&i| {
            let l = &entries[i as usize];
            hash(l.kind, &l.name)
        });
        id
    }

    /// Interns what [`Label::parse`] reads.
    pub fn intern_text(&mut self, text: &str) -> LabelId {
        let label = Label::parse(text);
        self.intern(label.kind, &label.name)
    }

    /// The id of a label, if the table has it.
    pub fn get(&self, kind: LabelKind, name: &str) -> Option<LabelId> {
        if kind == LabelKind::Delta && !self.entries.is_empty() {
            // Before δ itself is interned the table has one label only.
            return (self.entries.len() > 1).then_some(LabelId::DELTA);
        }
        self.index
            .find(hash(kind, name), |&i| {
                let l = &self.entries[i as usize];
                l.kind == kind && &*l.name == name
            })
            .map(|&i| LabelId(i))
    }

    /// The id of a label in `?a`, `!x`, `delta` notation, if the table has it.
    pub fn get_text(&self, text: &str) -> Option<LabelId> {
        let label = Label::parse(text);
        self.get(label.kind, &label.name)
    }

    /// The label behind an id of this table.
    #[inline]
    pub fn label(&self, id: LabelId) -> &Label {
        &self.entries[id.index()]
    }

    /// The kind behind an id of this table.
    #[inline]
    pub fn kind(&self, id: LabelId) -> LabelKind {
        self.kinds[id.index()]
    }

    /// The kinds of all labels, by index: a dense table for inner loops.
    #[inline]
    pub fn kinds(&self) -> &[LabelKind] {
        &self.kinds
    }

    /// The label in `?a`, `!x`, `delta` notation.
    pub fn text(&self, id: LabelId) -> String {
        self.entries[id.index()].to_string()
    }

    /// Number of labels, τ and δ included.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no label beside τ and δ.
    pub fn is_empty(&self) -> bool {
        self.entries.len() <= 2
    }

    /// All labels with their ids, τ and δ first, then in the order of interning.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (LabelId, &Label)> {
        self.entries
            .iter()
            .enumerate()
            .map(|(i, l)| (LabelId::new(i), l))
    }

    /// The ids of one kind, in order.
    pub fn of_kind(&self, kind: LabelKind) -> impl Iterator<Item = LabelId> + '_ {
        self.iter()
            .filter(move |(_, l)| l.kind == kind)
            .map(|(id, _)| id)
    }

    /// `L_I`: the inputs, in order.
    pub fn inputs(&self) -> impl Iterator<Item = LabelId> + '_ {
        self.of_kind(LabelKind::Input)
    }

    /// `L_U`: the outputs, in order, without δ.
    pub fn outputs(&self) -> impl Iterator<Item = LabelId> + '_ {
        self.of_kind(LabelKind::Output)
    }

    /// Adds every label of `other`; the result maps the ids of `other` to ids here.
    pub fn join(&mut self, other: &Self) -> Vec<LabelId> {
        other
            .entries
            .iter()
            .map(|l| self.intern(l.kind, &l.name))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tau_and_delta_have_fixed_ids() {
        let mut labels = Labels::new();
        assert_eq!(labels.intern_text("tau"), LabelId::TAU);
        assert_eq!(labels.intern_text("delta"), LabelId::DELTA);
        assert_eq!(labels.intern_text("δ"), LabelId::DELTA);
        assert!(labels.is_empty());
    }

    #[test]
    fn the_same_name_with_another_kind_is_another_label() {
        let mut labels = Labels::new();
        let i = labels.intern_text("?a");
        let o = labels.intern_text("!a");
        let u = labels.intern_text("a");
        assert!(i != o && o != u && i != u);
        assert_eq!(labels.intern_text("?a"), i);
        assert_eq!(labels.text(o), "!a");
        assert_eq!(labels.inputs().collect::<Vec<_>>(), [i]);
    }

    #[test]
    fn join_maps_ids() {
        let (mut a, mut b) = (Labels::new(), Labels::new());
        a.intern_text("?x");
        b.intern_text("!y");
        b.intern_text("?x");
        let map = a.join(&b);
        assert_eq!(map[LabelId::DELTA.index()], LabelId::DELTA);
        assert_eq!(a.text(map[2]), "!y");
        assert_eq!(a.text(map[3]), "?x");
    }
}
