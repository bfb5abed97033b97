//! Steps with their sources, on their way into rows.

use super::rows::Rows;
use super::{StateId, Step};
use crate::LabelKind;

/// Steps of a block, at most. Blocks of this size are small for the system's allocator: once it has got back a large one, it takes
/// others of that size from where they cannot grow but are copied.
const BLOCK: usize = 1 << 13;

/// How far a source may be beyond the number of steps for rows to be begun up to it: a state far away must not cost memory for
/// all before it.
const FAR: usize = 1024;

/// The steps of a system, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(super) struct Collected {
    /// Where the row of each state begins, up to the last source of `steps`.
    starts: Vec<u32>,
    /// The steps up to the first that is not in the order of sources. They are in their rows where they are.
    steps: Vec<Step>,
    /// Those from there on.
    blocks: Vec<Block>,
    /// How many there are in blocks.
    in_blocks: usize,
}

/// Some steps, and the source of each.
#[derive(Clone, Debug)]
struct Block {
    sources: Vec<StateId>,
    steps: Vec<Step>,
}

impl Block {
    fn new(capacity: usize) -> Self {
        Self {
            sources: Vec::with_capacity(capacity),
            steps: Vec::with_capacity(capacity),
        }
    }
}

impl Collected {
    pub(super) fn len(&self) -> usize {
        self.steps.len() + self.in_blocks
    }

    #[inline]
    pub(super) fn push(&mut self, source: StateId, step: Step) {
        if self.blocks.is_empty() && self.is_in_order(source, self.steps.len()) {
            self.steps.push(step);
            return;
        }
        self.in_blocks += 1;
        let count = self.blocks.len();
        match self.blocks.last_mut() {
            Some(block) if block.steps.len() < BLOCK => {
                block.sources.push(source);
                block.steps.push(step);
            }
            _ => {
                // The first one grows: most systems are small.
                let mut block = Block::new(if count == 0 { 1 } else { BLOCK });
                block.sources.push(source);
                block.steps.push(step);
                self.blocks.push(block);
            }
        }
    }

    /// Takes steps, each with its source, out of two lists, which are left with nothing.
    pub(super) fn append(&mut self, sources: &mut Vec<StateId>, steps: &mut Vec<Step>) {
        if self.blocks.is_empty() {
            let first = self.steps.len();
            let numbered = sources.iter().zip(first..);
            let in_order = numbered.take_while(|&(&source, step)| self.is_in_order(source, step));
            let count = in_order.count();
            self.steps.extend_from_slice(&steps[..count]);
            sources.drain(..count);
            steps.drain(..count);
        }
        if !steps.is_empty() {
            self.in_blocks += steps.len();
            self.blocks.push(Block {
                sources: std::mem::take(sources),
                steps: std::mem::take(steps),
            });
        }
    }

    /// Whether a step of this source that comes after so many is in order. If so, its row is begun.
    #[inline]
    fn is_in_order(&mut self, source: StateId, steps: usize) -> bool {
        let begun = self.starts.len();
        if source.index() + 1 == begun {
            return true;
        }
        if source.index() < begun || source.index() >= 2 * steps + FAR {
            return false;
        }
        let Ok(start) = u32::try_from(steps) else {
            return false;
        };
        self.starts.resize(source.index() + 1, start);
        true
    }

    /// The steps of so many states in rows, by so many threads. There are fewer than 2³² steps, and the kinds are those of
    /// their labels.
    pub(super) fn into_rows(mut self, states: usize, kinds: &[LabelKind], threads: usize) -> Rows {
        if self.blocks.is_empty() {
            self.starts.resize(states + 1, self.steps.len() as u32);
            return Rows::in_place(self.starts, self.steps, kinds, threads);
        }
        Rows::gathered(&self, states, kinds, threads)
    }

    /// Adds how many steps each of these states has.
    pub(super) fn count(&self, first: usize, counts: &mut [u32]) {
        for (row, count) in self.rows_from(first).zip(&mut *counts) {
            *count += row.len() as u32;
        }
        for source in self.blocks.iter().flat_map(|block| &block.sources) {
            if let Some(count) = counts.get_mut(source.index().wrapping_sub(first)) {
                *count += 1;
            }
        }
    }

    /// Copies the steps of these states to their places in `rows`, which move on.
    pub(super) fn copy(&self, first: usize, places: &mut [u32], begin: usize, rows: &mut [Step]) {
        for (row, place) in self.rows_from(first).zip(&mut *places) {
            let start = *place as usize - begin;
            rows[start..start + row.len()].copy_from_slice(row);
            *place += row.len() as u32;
        }
        for block in &self.blocks {
            for (source, step) in block.sources.iter().zip(&block.steps) {
                if let Some(place) = places.get_mut(source.index().wrapping_sub(first)) {
                    rows[*place as usize - begin] = *step;
                    *place += 1;
                }
            }
        }
    }

    /// The rows that are begun, from this state on.
    fn rows_from(&self, first: usize) -> impl Iterator<Item = &[Step]> {
        let starts = self.starts.get(first..).unwrap_or_default();
        let ends = starts.iter().skip(1).map(|&end| end as usize);
        let ends = ends.chain([self.steps.len()]);
        starts
            .iter()
            .zip(ends)
            .map(|(&start, end)| &self.steps[start as usize..end])
    }
}
