//! Subset construction on demand: one `after` and one `out` for the whole toolset.

use crate::closure::Closure;
use crate::set_table::SetTable;
use crate::{LabelId, LabelKind, Labels, Semantics, SetId, StateId, Step};

/// det(M), walked lazily: states are interned τ-closed sets of states of `M`, and the steps of a set
/// are computed when it is first asked for [Tretmans 1996, def. 6.3; Rusu et al. 2004, def. 3].
///
/// Over a [`Suspension`](crate::Suspension) it is the suspension automaton, in which `P after δ` are
/// the quiescent states of `P` and what they reach internally.
#[derive(Debug)]
pub struct Determinised<M> {
    model: M,
    sets: SetTable,
    /// For each set the range of its steps, once they are known.
    rows: Vec<Option<(u32, u32)>>,
    steps: Vec<(LabelId, SetId)>,
    closure: Closure,
    budget: usize,
    buckets: Vec<Vec<StateId>>,
    row: Vec<Step>,
    members: Vec<StateId>,
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
        let buckets = vec![Vec::new(); model.labels().len()];
        Self {
            model,
            sets: SetTable::default(),
            rows: Vec::new(),
            steps: Vec::new(),
            closure: Closure::default(),
            budget,
            buckets,
            row: Vec::new(),
            members: Vec::new(),
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
        self.members.clear();
        self.members.extend_from_slice(states);
        self.closure.close(&self.model, &mut self.members);
        let id = self.sets.intern(&self.members);
        self.rows.resize(self.sets.len(), None);
        id
    }

    /// The states of a set, in order.
    pub fn members(&self, set: SetId) -> &[StateId] {
        self.sets.members(set)
    }

    /// All visible steps of a set, sorted by label.
    pub fn row(&mut self, set: SetId) -> &[(LabelId, SetId)] {
        let (start, end) = match self.rows[set.index()] {
            Some(range) => range,
            None => self.compute_row(set),
        };
        &self.steps[start as usize..end as usize]
    }

    /// The row, if it was computed before: for walks that must not take the view mutably.
    pub fn known_row(&self, set: SetId) -> Option<&[(LabelId, SetId)]> {
        self.rows[set.index()].map(|(start, end)| &self.steps[start as usize..end as usize])
    }

    fn compute_row(&mut self, set: SetId) -> (u32, u32) {
        let Self {
            model,
            sets,
            buckets,
            row,
            ..
        } = self;
        row.clear();
        for state in sets.members(set) {
            model.successors(state, row);
        }
        let kinds = model.labels().kinds();
        let mut touched: Vec<LabelId> = Vec::new();
        for &(label, target) in row.iter() {
            if kinds[label.index()] != LabelKind::Internal {
                let bucket = &mut buckets[label.index()];
                if bucket.is_empty() {
                    touched.push(label);
                }
                bucket.push(target);
            }
        }
        touched.sort_unstable();
        let start = self.steps.len() as u32;
        for label in touched {
            let mut bucket = std::mem::take(&mut self.buckets[label.index()]);
            self.closure.close(&self.model, &mut bucket);
            let target = self.sets.intern(&bucket);
            bucket.clear();
            self.buckets[label.index()] = bucket;
            self.steps.push((label, target));
        }
        self.rows.resize(self.sets.len(), None);
        let end = u32::try_from(self.steps.len()).expect("fewer than 2^32 steps");
        self.rows[set.index()] = Some((start, end));
        (start, end)
    }

    /// `P after a`, or `None` when no state of `P` can do `a` [Tretmans 1996, def. 2.3].
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

    /// out(P): the outputs, and δ, that some state of `P` can show [Tretmans 1999, def. 11].
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
        self.sets.len()
    }

    /// Bytes that sets and steps take.
    pub fn bytes(&self) -> usize {
        self.sets.bytes()
            + self.rows.len() * size_of::<Option<(u32, u32)>>()
            + self.steps.len() * size_of::<(LabelId, SetId)>()
            + self.closure.bytes()
    }

    /// Drops the memo when it has outgrown its budget, all but the set that the caller stands in;
    /// the result is that set's id from now on, and every other id is void.
    pub fn trim(&mut self, keep: SetId) -> SetId {
        if self.bytes() <= self.budget {
            return keep;
        }
        let members = self.sets.members(keep).to_vec();
        self.sets.clear();
        self.rows.clear();
        self.steps.clear();
        let kept = self.sets.intern(&members);
        self.rows.push(None);
        kept
    }
}
