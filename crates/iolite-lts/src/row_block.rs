//! The rows of some sets, computed together.

use std::ops::Range;

use crate::closure::Closure;
use crate::set_table::{SetHash, SetTable};
use crate::{LabelId, LabelKind, Semantics, SetId, StateId, Step};

/// The states of some sets, one set after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemberLists {
    members: Vec<StateId>,
    /// Where the members of each set end.
    ends: Vec<usize>,
}

impl MemberLists {
    /// Replaces them by those of these sets of a table.
    pub(crate) fn read(&mut self, table: &SetTable, sets: Range<usize>) {
        table.members_of_all(sets, &mut self.members, &mut self.ends);
    }

    /// Replaces them by some of others.
    fn copy(&mut self, others: &Self, sets: Range<usize>) {
        let start = others.start(sets.start);
        let ends = &others.ends[sets];
        let end = ends.last().map_or(start, |&end| end);
        self.members.clear();
        self.members.extend_from_slice(&others.members[start..end]);
        self.ends.clear();
        self.ends.extend(ends.iter().map(|end| end - start));
    }

    /// Where the members of a set start.
    fn start(&self, set: usize) -> usize {
        set.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// How many sets from this one on make a block of so many members: one at least, if it is there.
    pub(crate) fn block(&self, first: usize, members: usize) -> usize {
        let enough = self.start(first) + members;
        let small = self.ends[first..].partition_point(|&end| end < enough);
        (small + 1).min(self.ends.len() - first)
    }
}

/// The steps of some sets of states on their way to being rows of [`Determinised`](crate::Determinised).
///
/// A large system is spread over memory, and to follow one step after the other is to wait for each. So
/// all sets of a block take one stage before the first takes the next: the steps of their members, the
/// groups of one label, what these reach internally, and the numbers of the sets that come of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowBlock {
    sets: MemberLists,
    steps: Vec<Step>,
    /// Where the steps of each member end.
    ends: Vec<usize>,
    groups: Vec<Group>,
    /// For each set where its groups end.
    rows: Vec<u32>,
    targets: Vec<StateId>,
    closed: Vec<StateId>,
}

/// The steps of one set under one label.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) label: LabelId,
    /// The one state that they lead to, where there is one.
    only: Option<StateId>,
    /// Where the set that they lead to is among the targets: what `Self::set` stands for, or first the
    /// states that they lead to and then what these reach.
    targets: (u32, u32),
    /// The set that they lead to, once it is known.
    set: SetId,
    hash: SetHash,
}

impl Group {
    fn targets(&self) -> Range<usize> {
        self.targets.0 as usize..self.targets.1 as usize
    }
}

impl RowBlock {
    /// How many members the sets of a block have together, if there are as many.
    pub(crate) const MEMBERS: usize = 256;

    /// Replaces the block by the steps of these sets of a table.
    pub(crate) fn read<M: Semantics<State = StateId>>(
        &mut self,
        model: &M,
        table: &SetTable,
        sets: Range<usize>,
    ) {
        self.sets.read(table, sets);
        self.read_steps(model);
    }

    /// The same, of some of these sets.
    pub(crate) fn read_copies<M: Semantics<State = StateId>>(
        &mut self,
        model: &M,
        lists: &MemberLists,
        sets: Range<usize>,
    ) {
        self.sets.copy(lists, sets);
        self.read_steps(model);
    }

    fn read_steps<M: Semantics<State = StateId>>(&mut self, model: &M) {
        self.steps.clear();
        self.ends.clear();
        self.groups.clear();
        self.rows.clear();
        self.targets.clear();
        model.successors_of(&self.sets.members, &mut self.steps, &mut self.ends);
        let kinds = model.labels().kinds();
        let mut start = 0;
        for &member in &self.sets.ends {
            let end = member.checked_sub(1).map_or(0, |last| self.ends[last]);
            let row = visible(&mut self.steps[start..end], kinds);
            sort(row);
            for group in row.chunk_by(|a, b| a.0 == b.0) {
                let from = self.targets.len() as u32;
                for &(_, target) in group {
                    if self.targets.len() == from as usize || self.targets.last() != Some(&target) {
                        self.targets.push(target);
                    }
                }
                let to = self.targets.len() as u32;
                self.groups.push(Group {
                    label: group[0].0,
                    only: (to - from == 1).then(|| group[0].1),
                    targets: (from, to),
                    set: SetId::NONE,
                    hash: SetHash::default(),
                });
            }
            self.rows.push(self.groups.len() as u32);
            start = end;
        }
    }

    /// Notes the sets that are known, by the one state that steps lead to.
    pub(crate) fn find_known(&mut self, singletons: &[SetId]) {
        for group in &mut self.groups {
            let known = group.only.and_then(|s| singletons.get(s.index()));
            group.set = known.copied().unwrap_or(SetId::NONE);
        }
    }

    /// Closes the targets under internal steps, but for those whose set is known.
    pub(crate) fn close<M: Semantics<State = StateId>>(
        &mut self,
        model: &M,
        closure: &mut Closure,
    ) {
        let open = self.groups.iter().filter(|g| g.set == SetId::NONE);
        let targets = open.flat_map(|g| &self.targets[g.targets()]).copied();
        closure.learn(model, targets);
        let mut closed = std::mem::take(&mut self.closed);
        for group in self.groups.iter_mut().filter(|g| g.set == SetId::NONE) {
            let targets = &self.targets[group.targets()];
            if !targets.iter().all(|&s| closure.is_stable(model, s)) {
                closed.clear();
                closed.extend_from_slice(targets);
                closure.close(model, &mut closed);
                let from = self.targets.len() as u32;
                self.targets.extend_from_slice(&closed);
                group.targets = (from, self.targets.len() as u32);
            }
            group.hash = SetHash::of(&self.targets[group.targets()]);
        }
        self.closed = closed;
    }

    /// The hashes of the sets that are not known.
    pub(crate) fn hashes(&self) -> impl Iterator<Item = SetHash> + Clone {
        let open = self.groups.iter().filter(|g| g.set == SetId::NONE);
        open.map(|g| g.hash)
    }

    /// The groups of each set.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[Group]> {
        let mut start = 0;
        self.rows.iter().map(move |&end| {
            let groups = &self.groups[start..end as usize];
            start = end as usize;
            groups
        })
    }

    /// The number of the set that a group leads to.
    pub(crate) fn intern(
        &self,
        group: &Group,
        table: &mut SetTable,
        singletons: &mut Vec<SetId>,
    ) -> SetId {
        if group.set != SetId::NONE {
            return group.set;
        }
        let set = table.intern_hashed(&self.targets[group.targets()], group.hash);
        if let Some(only) = group.only {
            if singletons.len() <= only.index() {
                singletons.resize(only.index() + 1, SetId::NONE);
            }
            singletons[only.index()] = set;
        }
        set
    }
}

/// Sorts steps by label and target, as one number each.
fn sort(steps: &mut [Step]) {
    let key = |&(label, target): &Step| (label.index() as u64) << 32 | target.index() as u64;
    if !steps.is_sorted_by_key(key) {
        steps.sort_unstable_by_key(key);
    }
}

/// The visible ones among some steps, which come to the front.
fn visible<'a>(steps: &'a mut [Step], kinds: &[LabelKind]) -> &'a mut [Step] {
    let mut kept = 0;
    for k in 0..steps.len() {
        if kinds[steps[k].0.index()] != LabelKind::Internal {
            steps[kept] = steps[k];
            kept += 1;
        }
    }
    &mut steps[..kept]
}
