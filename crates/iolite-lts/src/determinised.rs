//! Subset construction on demand: one `after` and one `out` for the whole toolset.

mod explore;

use std::ops::Range;

use crate::closure::Closure;
use crate::row_block::RowBlock;
use crate::set_table::SetTable;
use crate::{LabelId, LabelKind, Labels, Semantics, SetId, StateId};

/// det(M), walked lazily: states are interned τ-closed sets of states of `M`, and the steps of a set
/// are computed when it is first asked for [LTS96, def. 6.3; SAFE04, def. 3].
///
/// Over a [`Suspension`](crate::Suspension) it is the suspension automaton, in which `P after δ` are
/// the quiescent states of `P` and what they reach internally.
#[derive(Clone, Debug)]
pub struct Determinised<M> {
    model: M,
    memo: Memo,
    closure: Closure,
    budget: usize,
    block: RowBlock,
}

/// The sets that were met and the rows that are known, apart from the model.
#[derive(Clone, Debug, Default)]
struct Memo {
    sets: SetTable,
    /// For each set where its steps start, and how many they are, once they are known.
    rows: Vec<Row>,
    steps: Vec<(LabelId, SetId)>,
    /// For each state the set that it alone makes, or [`SetId::NONE`] as long as that is not known: most
    /// steps lead to such sets.
    singletons: Vec<SetId>,
}

impl Memo {
    /// Numbers the sets that the steps of a block lead to, and enters its rows as those of these sets.
    fn enter(&mut self, block: &RowBlock, sets: Range<usize>) {
        self.sets.look_ahead(block.hashes());
        let mut start = u32::try_from(self.steps.len()).expect("fewer than 2^32 steps");
        for (set, groups) in sets.zip(block.rows()) {
            for group in groups {
                let target = block.intern(group, &mut self.sets, &mut self.singletons);
                self.steps.push((group.label, target));
            }
            let end = u32::try_from(self.steps.len()).expect("fewer than 2^32 steps");
            self.rows.resize(self.sets.len(), Row::UNKNOWN);
            let len = end - start;
            self.rows[set] = Row { start, len };
            start = end;
        }
    }
}

/// The states of the sets of a [`Determinised`] view, without the view.
#[derive(Clone, Copy, Debug)]
pub struct SetMembers<'a>(&'a SetTable);

impl<'a> SetMembers<'a> {
    /// The states of a set, in order.
    pub fn of(self, set: SetId) -> &'a [StateId] {
        self.0.members(set)
    }
}

#[derive(Clone, Copy, Debug)]
struct Row {
    start: u32,
    len: u32,
}

impl Row {
    const UNKNOWN: Self = Self {
        start: 0,
        len: u32::MAX,
    };
}

/// The memo's byte budget where the caller sets none: 1 GiB.
pub const DEFAULT_MEMO_BYTES: usize = 1 << 30;

impl<M: Semantics<State = StateId>> Determinised<M> {
    /// The determinised view with the default memo budget.
    pub fn new(model: M) -> Self {
        Self::with_budget(model, DEFAULT_MEMO_BYTES)
    }

    /// The determinised view; `budget` bounds, in bytes, what [`Self::trim`] lets stand.
    pub fn with_budget(model: M, budget: usize) -> Self {
        Self {
            model,
            memo: Memo::default(),
            closure: Closure::default(),
            budget,
            block: RowBlock::default(),
        }
    }

    /// The model underneath.
    pub fn inner(&self) -> &M {
        &self.model
    }

    /// The alphabet.
    pub fn labels(&self) -> &Labels {
        self.model.labels()
    }

    /// `s₀ after ε`.
    pub fn initial(&mut self) -> SetId {
        let initial = self.model.initial();
        self.set_of(&[initial])
    }

    /// The set that these states and what they reach internally make.
    pub fn set_of(&mut self, states: &[StateId]) -> SetId {
        let mut members = states.to_vec();
        self.closure.close(&self.model, &mut members);
        self.memo.sets.intern(&members)
    }

    /// The states of a set, in order.
    pub fn members(&self, set: SetId) -> &[StateId] {
        self.memo.sets.members(set)
    }

    /// The states of all sets met so far, for threads that must not share the model's memory.
    pub fn set_members(&self) -> SetMembers<'_> {
        SetMembers(&self.memo.sets)
    }

    /// All visible steps of a set, sorted by label.
    #[inline]
    pub fn row(&mut self, set: SetId) -> &[(LabelId, SetId)] {
        if self.known_row(set).is_none() {
            self.remember_row(set);
        }
        self.known_row(set).unwrap_or_default()
    }

    /// The same, for walks that take all sets in the order of their numbers: the rows of some sets that
    /// come after this one are computed with it, which is faster than one by one.
    pub fn row_in_order(&mut self, set: SetId) -> &[(LabelId, SetId)] {
        if self.known_row(set).is_none() {
            let first = set.index();
            let mut end = first + 1;
            let mut members = self.memo.sets.members(set).len();
            while end < self.memo.sets.len()
                && self
                    .memo
                    .rows
                    .get(end)
                    .is_none_or(|row| row.len == u32::MAX)
                && members < RowBlock::MEMBERS
            {
                members += self.memo.sets.members(SetId::new(end)).len();
                end += 1;
            }
            self.remember_rows(first..end);
        }
        self.known_row(set).unwrap_or_default()
    }

    /// Computes a row that is not known. Apart from [`Self::row`], whose warm way is short enough to
    /// be inlined into the steps of a tester.
    #[cold]
    fn remember_row(&mut self, set: SetId) {
        self.remember_rows(set.index()..set.index() + 1);
    }

    /// Computes the rows of some sets, none of which is known.
    fn remember_rows(&mut self, sets: Range<usize>) {
        let mut block = std::mem::take(&mut self.block);
        block.read(&self.model, &self.memo.sets, sets.clone());
        block.find_known(&self.memo.singletons);
        block.close(&self.model, &mut self.closure);
        self.memo.enter(&block, sets);
        self.block = block;
    }

    /// The row, if it was computed before: for walks that must not take the view mutably.
    #[inline]
    pub fn known_row(&self, set: SetId) -> Option<&[(LabelId, SetId)]> {
        let row = self
            .memo
            .rows
            .get(set.index())
            .copied()
            .unwrap_or(Row::UNKNOWN);
        let start = row.start as usize;
        (row.len != u32::MAX).then(|| &self.memo.steps[start..start + row.len as usize])
    }

    /// `P after a`, or `None` when no state of `P` can do `a` [LTS96, def. 2.3].
    #[inline]
    pub fn after(&mut self, set: SetId, label: LabelId) -> Option<SetId> {
        let row = self.row(set);
        let i = row.partition_point(|&(l, _)| l < label);
        row.get(i).filter(|&&(l, _)| l == label).map(|&(_, t)| t)
    }

    /// `s₀ after σ`.
    pub fn after_trace(&mut self, trace: &[LabelId]) -> Option<SetId> {
        let initial = self.initial();
        trace
            .iter()
            .try_fold(initial, |set, &label| self.after(set, label))
    }

    /// out(P): the outputs, and δ, that some state of `P` can show [IOCO99, §4].
    pub fn out(&mut self, set: SetId) -> Vec<LabelId> {
        self.row(set);
        self.enabled(set, LabelKind::is_observation)
    }

    /// in(P): the inputs that some state of `P` can take.
    pub fn inputs(&mut self, set: SetId) -> Vec<LabelId> {
        self.row(set);
        self.enabled(set, |kind| kind == LabelKind::Input)
    }

    fn enabled(&self, set: SetId, wanted: impl Fn(LabelKind) -> bool) -> Vec<LabelId> {
        let kinds = self.model.labels().kinds();
        let row = self.known_row(set).unwrap_or_default();
        row.iter()
            .map(|&(l, _)| l)
            .filter(|l| wanted(kinds[l.index()]))
            .collect()
    }

    /// The states of a set in words, in order.
    pub fn describe(&self, set: SetId) -> Vec<String> {
        self.members(set)
            .iter()
            .map(|s| self.model.describe(s))
            .collect()
    }

    /// Number of sets met so far.
    pub fn set_count(&self) -> usize {
        self.memo.sets.len()
    }

    /// Bytes that sets and steps take.
    pub fn bytes(&self) -> usize {
        self.memo.sets.bytes()
            + self.memo.rows.len() * size_of::<Row>()
            + self.memo.singletons.len() * size_of::<SetId>()
            + self.memo.steps.len() * size_of::<(LabelId, SetId)>()
            + self.closure.bytes()
    }

    /// Drops the memo when it has outgrown its budget, all but the set that the caller stands in;
    /// the result is that set's id from now on, and every other id is void.
    pub fn trim(&mut self, keep: SetId) -> SetId {
        if self.bytes() <= self.budget {
            return keep;
        }
        let members = self.memo.sets.members(keep).to_vec();
        self.memo.sets.clear();
        self.memo.rows.clear();
        self.memo.steps.clear();
        self.memo.singletons.clear();
        self.memo.sets.intern(&members)
    }
}
