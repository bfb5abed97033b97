//! Pairs of values of two parameters: most faults that depend on several parameters depend on two.

use std::collections::{BTreeMap, BTreeSet};

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::CandidateValues;
use crate::{Value, Var};

/// Parameters whose values are combined.
const MOST_COLUMNS: usize = 12;
/// How often a pair is wished for in vain before it is left alone.
const TRIES: u32 = 3;

/// A value of a parameter: column and row of the candidates.
type Cell = (usize, usize);

/// Which pairs of candidate values were tried together: a covering array of strength two, built row by
/// row as a run goes on, since guards and states decide what is possible.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairCover {
    columns: Vec<Vec<Value>>,
    covered: BTreeSet<(Cell, Cell)>,
    failed: BTreeMap<(Cell, Cell), u32>,
}

impl PairCover {
    /// Nothing is covered of the pairs that the candidates make for these parameters.
    pub fn new(params: &[Var], candidates: &CandidateValues) -> Self {
        let columns = params.iter().take(MOST_COLUMNS);
        Self {
            columns: columns.map(|p| candidates.column(&p.sort)).collect(),
            ..Self::default()
        }
    }

    /// How many pairs there are, possible or not.
    pub fn total(&self) -> usize {
        let pairs = self.columns.iter().enumerate();
        pairs
            .map(|(i, a)| a.len() * self.columns[i + 1..].iter().map(Vec::len).sum::<usize>())
            .sum()
    }

    /// How many of them were tried.
    pub fn tried(&self) -> usize {
        self.covered.len()
    }

    /// A row of values was used.
    pub fn cover(&mut self, row: &[Value]) {
        if self.covered.len() == self.total() {
            return;
        }
        let cells: Vec<Cell> = self
            .columns
            .iter()
            .zip(row)
            .enumerate()
            .filter_map(|(i, (column, value))| Some((i, column.iter().position(|v| v == value)?)))
            .collect();
        for (i, &one) in cells.iter().enumerate() {
            for &other in &cells[i + 1..] {
                self.covered.insert((one, other));
            }
        }
    }

    /// What another run tried of the same pairs was tried as well.
    pub fn merge(&mut self, other: &Self) {
        self.covered.extend(&other.covered);
    }

    /// A pair that was not tried yet, chosen at random.
    pub(super) fn uncovered(&self, rng: &mut Xoshiro256PlusPlus) -> Option<(Cell, Cell)> {
        let mut open = Vec::new();
        for (i, a) in self.columns.iter().enumerate() {
            for (j, b) in self.columns.iter().enumerate().skip(i + 1) {
                for pair in (0..a.len()).flat_map(|x| (0..b.len()).map(move |y| ((i, x), (j, y)))) {
                    let hopeless = self.failed.get(&pair).is_some_and(|&n| n >= TRIES);
                    if !hopeless && !self.covered.contains(&pair) {
                        open.push(pair);
                    }
                }
            }
        }
        (!open.is_empty()).then(|| open[rng.random_range(0..open.len())])
    }

    /// The value of another column that makes most new pairs with these cells; the first of equals.
    pub(super) fn best(&self, column: usize, cells: &[Cell]) -> Option<Cell> {
        let new = |row: usize| {
            let pairs = cells.iter().filter(|&&cell| {
                let own = (column, row);
                let pair = (cell.min(own), cell.max(own));
                !self.covered.contains(&pair)
            });
            pairs.count()
        };
        let rows = 0..self.columns.get(column)?.len();
        let best = rows.max_by_key(|&row| (new(row), std::cmp::Reverse(row)))?;
        (new(best) > 0).then_some((column, best))
    }

    /// The value of a cell.
    pub(super) fn value(&self, (column, row): Cell) -> &Value {
        &self.columns[column][row]
    }

    /// A pair was not possible where it was wished for.
    pub(super) fn fail(&mut self, pair: (Cell, Cell)) {
        *self.failed.entry(pair).or_default() += 1;
    }
}
