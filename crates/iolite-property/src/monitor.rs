//! Several properties watched at once for about the price of one.
//!
//! The product of the testers is built while it is walked: a state of the product is interned the
//! first time it is met, and its steps are filled in the first time they are taken. From then on
//! an event is one look-up, whatever the number of properties. The table has a bound; when it is
//! full it is dropped and grows anew from where the run stands.

use iolite_lts::{LabelId, Labels};
use rustc_hash::FxHashMap;

use crate::alphabet::Letter;
use crate::canonical_tester::CanonicalTester;
use crate::structure::StateId;
use crate::verdict::PropertyVerdict;

const NOT_YET: u32 = u32::MAX;
const UNSEEN: u32 = u32::MAX;

/// Steps that the table of product states may hold at most.
const MOST_STEPS: usize = 1 << 27;

/// What one event is to each tester; `None` where it is nothing to it.
type Column = Box<[Option<Letter>]>;

/// What is said after an event: a bit a tester for those that are settled, and for those that have something
/// pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said<'a> {
    /// The testers whose verdict is final, 64 in a word.
    pub settled: &'a [u64],
    /// The testers after whose state every sequence is rejected as it stands.
    pub pending: &'a [u64],
}

/// A run of several canonical testers on one stream of events.
#[derive(Clone, Debug)]
pub struct Monitor {
    testers: Vec<CanonicalTester>,
    labels: Labels,
    /// Column of each label that some property knows.
    column: Vec<u32>,
    /// For each column, the letter of each tester.
    letters: Vec<Column>,
    /// Columns by their letters, once columns are added as they are met.
    columns: FxHashMap<Column, u32>,
    /// Columns that a row of the table has room for.
    stride: usize,
    /// Product states, and their steps.
    tuples: Vec<Box<[StateId]>>,
    index: FxHashMap<Box<[StateId]>, u32>,
    next: Vec<u32>,
    verdicts: Vec<Box<[PropertyVerdict]>>,
    finished: Vec<bool>,
    /// What each product state says, a row of words each; see [`Said`].
    said: Vec<u64>,
    at: u32,
    limit: usize,
}

impl Monitor {
    /// A monitor with room for this many product states (at least two).
    pub fn new(testers: Vec<CanonicalTester>, limit: usize) -> Self {
        let mut labels = Labels::new();
        let maps: Vec<Vec<LabelId>> = testers
            .iter()
            .map(|t| labels.join(t.alphabet().labels()))
            .collect();
        let mut column = vec![UNSEEN; labels.len()];
        let mut letters: Vec<Column> = Vec::new();
        for (i, tester) in testers.iter().enumerate() {
            for l in tester.alphabet().iter() {
                let label = maps[i][tester.alphabet().label(l).index()];
                if column[label.index()] == UNSEEN {
                    column[label.index()] = letters.len() as u32;
                    letters.push(vec![None; testers.len()].into());
                }
                letters[column[label.index()] as usize][i] = Some(l);
            }
        }
        let mut monitor = Self {
            testers,
            labels,
            column,
            stride: letters.len(),
            letters,
            columns: FxHashMap::default(),
            tuples: Vec::new(),
            index: FxHashMap::default(),
            next: Vec::new(),
            verdicts: Vec::new(),
            finished: Vec::new(),
            said: Vec::new(),
            at: 0,
            limit: limit.max(2),
        };
        monitor.reset();
        monitor
    }

    /// The labels of all properties; events are given by their ids here.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The testers, in the order of their verdicts.
    pub fn testers(&self) -> &[CanonicalTester] {
        &self.testers
    }

    /// Starts a new run.
    pub fn reset(&mut self) {
        let start = self.testers.iter().map(CanonicalTester::initial).collect();
        self.at = self.intern(start);
    }

    /// Takes an event. Labels that no property knows change nothing.
    #[inline]
    pub fn step(&mut self, label: LabelId) {
        let Some(&column) = self.column.get(label.index()) else {
            return;
        };
        if column == UNSEEN {
            return;
        }
        self.take(column);
    }

    /// Takes an event that is this letter to each tester, or nothing: where guards make the letters, one event
    /// may be different ones to different testers.
    pub fn step_letters(&mut self, letters: &[Option<Letter>]) {
        if letters.iter().all(Option::is_none) {
            return;
        }
        if self.columns.is_empty() {
            let known = self.letters.iter().cloned().zip(0..);
            self.columns = known.collect();
        }
        let column = match self.columns.get(letters) {
            Some(&column) => column,
            None => self.add_column(letters),
        };
        self.take(column);
    }

    #[cold]
    fn add_column(&mut self, letters: &[Option<Letter>]) -> u32 {
        let column = self.letters.len() as u32;
        self.letters.push(letters.into());
        self.columns.insert(letters.into(), column);
        if self.letters.len() > self.stride {
            self.stride = (2 * self.stride).max(8);
            let at = self.tuples[self.at as usize].clone();
            self.forget();
            self.at = self.intern(at);
        }
        column
    }

    #[inline]
    fn take(&mut self, column: u32) {
        let slot = self.at as usize * self.stride + column as usize;
        let to = self.next[slot];
        self.at = if to == NOT_YET {
            self.extend(column)
        } else {
            to
        };
    }

    #[cold]
    fn extend(&mut self, column: u32) -> u32 {
        let from = self.at;
        let to: Box<[StateId]> = self
            .testers
            .iter()
            .zip(&self.tuples[from as usize])
            .zip(&self.letters[column as usize])
            .map(|((tester, &q), letter)| letter.map_or(q, |l| tester.structure().step(q, l)))
            .collect();
        let limit = self.limit.min(MOST_STEPS / self.stride.max(1)).max(2);
        if self.tuples.len() >= limit && !self.index.contains_key(&to) {
            self.forget();
            return self.intern(to);
        }
        let id = self.intern(to);
        self.next[from as usize * self.stride + column as usize] = id;
        id
    }

    fn forget(&mut self) {
        self.tuples.clear();
        self.index.clear();
        self.next.clear();
        self.verdicts.clear();
        self.finished.clear();
        self.said.clear();
    }

    fn intern(&mut self, tuple: Box<[StateId]>) -> u32 {
        if let Some(&id) = self.index.get(&tuple) {
            return id;
        }
        let id = self.tuples.len() as u32;
        let verdicts: Box<[PropertyVerdict]> = self
            .testers
            .iter()
            .zip(&tuple)
            .map(|(t, &q)| t.verdict(q))
            .collect();
        self.finished.push(verdicts.iter().all(|v| v.is_final()));
        let words = self.words();
        let row = self.said.len();
        self.said.resize(row + 2 * words, 0);
        let (settled, pending) = self.said[row..].split_at_mut(words);
        let says = self.testers.iter().zip(&tuple).zip(&verdicts);
        for (i, ((tester, &q), verdict)) in says.enumerate() {
            settled[i / 64] |= u64::from(verdict.is_final()) << (i % 64);
            pending[i / 64] |= u64::from(tester.is_pending(q)) << (i % 64);
        }
        self.verdicts.push(verdicts);
        self.next.extend(std::iter::repeat_n(NOT_YET, self.stride));
        self.tuples.push(tuple.clone());
        self.index.insert(tuple, id);
        id
    }

    /// The verdict of each property so far.
    pub fn verdicts(&self) -> &[PropertyVerdict] {
        &self.verdicts[self.at as usize]
    }

    /// Words that have a bit for each tester.
    fn words(&self) -> usize {
        self.testers.len().div_ceil(64)
    }

    /// Which testers are settled and which have something pending.
    #[inline]
    pub fn said(&self) -> Said<'_> {
        let words = self.words();
        let row = &self.said[self.at as usize * 2 * words..];
        Said {
            settled: &row[..words],
            pending: &row[words..2 * words],
        }
    }

    /// The state that each tester is in.
    pub fn states(&self) -> &[StateId] {
        &self.tuples[self.at as usize]
    }

    /// Whether no event can change a verdict any more.
    pub fn is_finished(&self) -> bool {
        self.finished[self.at as usize]
    }
}
