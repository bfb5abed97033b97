//! Steps packed into the rows of their sources, by several threads.
//!
//! States are cut into ranges, and a thread has the rows of a range to itself. A row is sorted and without repetition, so it depends
//! neither on the order in which its steps came nor on where states are cut.

use std::convert::Infallible;
use std::ops::ControlFlow;

use super::collected::Collected;
use crate::{LabelId, LabelKind, StateId, Step, in_order};

/// States whose bits are one word: ranges of states begin with a word.
const WORD: usize = u64::BITS as usize;

/// The steps of all states, one row after the other.
pub(super) struct Rows {
    /// Where the row of each state begins, and where the last one ends.
    pub(super) offsets: Vec<u32>,
    pub(super) steps: Vec<Step>,
    /// One bit for each state: whether it has internal steps.
    pub(super) unstable: Vec<u64>,
}

impl Rows {
    /// Rows of steps that lie in the order of their states, by so many threads. Offsets are as many as states and one more, and
    /// the kinds are those of the labels.
    pub(super) fn in_place(
        offsets: Vec<u32>,
        steps: Vec<Step>,
        kinds: &[LabelKind],
        threads: usize,
    ) -> Self {
        let mut rows = Self::over(offsets, steps);
        let kept = on_threads(rows.ranges(threads), &|mut range: Range<'_>| {
            range.tidy(kinds)
        });
        rows.close_gaps(&kept);
        rows
    }

    /// Rows of steps in any order. Not where these lie: that would save memory for a while, but steps would change places all over
    /// it, which takes several times as long as reading them from a file.
    pub(super) fn gathered(
        steps: &Collected,
        states: usize,
        kinds: &[LabelKind],
        threads: usize,
    ) -> Self {
        let offsets = offsets(steps, states, threads);
        let mut rows = Self::over(offsets, untouched(steps.len()));
        let kept = on_threads(rows.ranges(threads), &|mut range: Range<'_>| {
            range.fill(steps);
            range.tidy(kinds)
        });
        rows.close_gaps(&kept);
        rows
    }

    fn over(offsets: Vec<u32>, steps: Vec<Step>) -> Self {
        let unstable = vec![0; (offsets.len() - 1).div_ceil(WORD)];
        Self {
            offsets,
            steps,
            unstable,
        }
    }

    /// All states in at most so many ranges of about as many steps.
    fn ranges(&mut self, count: usize) -> Vec<Range<'_>> {
        let states = self.offsets.len() - 1;
        let cut = |k: usize| {
            let before = (self.steps.len() / count * k) as u32;
            let state = self.offsets.partition_point(|&start| start < before);
            state.min(states) / WORD * WORD
        };
        let mut cuts: Vec<usize> = (1..count).map(cut).collect();
        cuts.push(states);
        let ends = cuts.iter().map(|&state| self.offsets[state] as usize);
        let ends: Vec<usize> = ends.collect();
        let (mut starts, mut steps) = (&mut self.offsets[..states], &mut self.steps[..]);
        let mut unstable = &mut self.unstable[..];
        let mut ranges = Vec::new();
        let (mut first, mut begin) = (0, 0);
        for (state, end) in cuts.into_iter().zip(ends) {
            if state == first {
                continue;
            }
            let words = (state - first).div_ceil(WORD);
            ranges.push(Range {
                first,
                begin,
                starts: starts.split_off_mut(..state - first).unwrap_or_default(),
                steps: steps.split_off_mut(..end - begin).unwrap_or_default(),
                unstable: unstable.split_off_mut(..words).unwrap_or_default(),
            });
            (first, begin) = (state, end);
        }
        ranges
    }

    /// Moves together what was kept of the steps of each range.
    fn close_gaps(&mut self, kept: &[Kept]) {
        let states = self.offsets.len() - 1;
        let mut end = 0;
        for (k, range) in kept.iter().enumerate() {
            let gap = range.begin - end;
            if gap > 0 {
                let steps = range.begin..range.begin + range.count;
                self.steps.copy_within(steps, end);
                let next = kept.get(k + 1).map_or(states, |next| next.first);
                for start in &mut self.offsets[range.first..next] {
                    *start -= gap as u32;
                }
            }
            end += range.count;
        }
        self.offsets[states] = end as u32;
        self.steps.truncate(end);
        self.steps.shrink_to_fit();
    }
}

/// Where the row of each state begins, and where the last one ends.
fn offsets(steps: &Collected, states: usize, threads: usize) -> Vec<u32> {
    let mut offsets = vec![0; states + 1];
    let range = states.div_ceil(threads);
    let ranges = offsets[..states].chunks_mut(range).enumerate().collect();
    on_threads(ranges, &|(k, counts): (usize, &mut [u32])| {
        steps.count(k * range, counts);
    });
    let mut start = 0;
    for offset in &mut offsets {
        start += std::mem::replace(offset, start);
    }
    offsets
}

/// So many steps that are to be replaced. Zeros come from the system without being written, and become steps where they are, so the
/// threads that replace them are the first to touch them.
fn untouched(count: usize) -> Vec<Step> {
    let zeros = vec![(0u32, 0u32); count];
    let step = |(label, target)| (LabelId::new(label as usize), StateId::new(target as usize));
    zeros.into_iter().map(step).collect()
}

/// What is left of the steps of a range, which begin where they began.
struct Kept {
    first: usize,
    begin: usize,
    count: usize,
}

/// The rows of some states.
struct Range<'a> {
    /// The first of them.
    first: usize,
    /// Where its row begins.
    begin: usize,
    /// Where each row begins, among the steps of all states.
    starts: &'a mut [u32],
    /// Those of these states alone.
    steps: &'a mut [Step],
    unstable: &'a mut [u64],
}

impl Range<'_> {
    /// Puts those steps here whose sources are these states.
    fn fill(&mut self, steps: &Collected) {
        steps.copy(self.first, self.starts, self.begin, self.steps);
        // The place of each row has moved to where the next one begins.
        self.starts.copy_within(..self.starts.len() - 1, 1);
        self.starts[0] = self.begin as u32;
    }

    /// Sorts each row, removes repetitions, and notes which states have internal steps.
    fn tidy(&mut self, kinds: &[LabelKind]) -> Kept {
        let is_internal = |(label, _): &Step| kinds[label.index()] == LabelKind::Internal;
        let (mut from, mut count) = (0, 0);
        for row in 0..self.starts.len() {
            let next = self.starts.get(row + 1);
            let to = next.map_or(self.steps.len(), |&next| next as usize - self.begin);
            let steps = &mut self.steps[from..to];
            let kept = sort(steps);
            let bit = u64::from(steps[..kept].iter().any(is_internal));
            self.unstable[row / WORD] |= bit << (row % WORD);
            if count < from {
                self.steps.copy_within(from..from + kept, count);
            }
            self.starts[row] = (self.begin + count) as u32;
            count += kept;
            from = to;
        }
        Kept {
            first: self.first,
            begin: self.begin,
            count,
        }
    }
}

/// Sorts a row by label and target, as one number each. How many steps are left at its front when repetitions are gone.
fn sort(row: &mut [Step]) -> usize {
    let key = |&(label, target): &Step| (label.index() as u64) << 32 | target.index() as u64;
    if row.is_sorted_by(|a, b| key(a) < key(b)) {
        return row.len();
    }
    row.sort_unstable_by_key(key);
    let mut kept = 1;
    for k in 1..row.len() {
        if row[k] != row[kept - 1] {
            row[kept] = row[k];
            kept += 1;
        }
    }
    kept
}

/// Does the work for each part, each by a thread of its own. The results are in the order of the parts.
fn on_threads<P: Send, T: Send>(parts: Vec<P>, work: &(dyn Fn(P) -> T + Sync)) -> Vec<T> {
    let mut results = Vec::with_capacity(parts.len());
    let count = parts.len();
    let helpers = vec![work; count.saturating_sub(1)];
    let end = in_order(
        parts.into_iter(),
        &mut { work },
        helpers,
        &|taken| taken + count,
        &mut |result| {
            results.push(result);
            ControlFlow::<Infallible>::Continue(())
        },
    );
    let ControlFlow::Continue(()) = end;
    results
}
