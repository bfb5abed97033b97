//! What a run has sent and seen.

use std::collections::VecDeque;

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Int, Sort, Term, Value, Var};

/// Models that are not drawn again as long as there are others, unless that is done on purpose.
const RECENT: usize = 12;
/// Values and rows of a run that are drawn again on purpose.
const MET: usize = 24;
/// Words of one text that are looked at, and their length.
const WORDS: usize = 8;
const WORD_LENGTH: usize = 64;
/// Elements of one collection that are looked at, and how deep they may lie.
const PARTS: usize = 8;
const DEPTH: u32 = 4;

/// Values of the run at hand.
#[derive(Clone, Debug, Default)]
pub(super) struct RunMemory {
    /// Rows that were drawn of late.
    recent: VecDeque<Vec<Value>>,
    /// Values that were met, the latest last: sent, or seen in outputs.
    met: Vec<Value>,
    /// Words and numbers that stand in texts that were met, the latest last.
    words: Vec<Value>,
    /// Rows that were really used, the latest last.
    used: Vec<Vec<Value>>,
}

impl RunMemory {
    /// A value was sent, or seen in an output.
    pub(super) fn meet(&mut self, value: &Value) {
        remember(&mut self.met, value);
        self.read_words(value, 0);
    }

    /// Looks at the texts in a value for words.
    fn read_words(&mut self, value: &Value, depth: u32) {
        let Value::Str(text) = value else {
            if depth < DEPTH {
                for part in parts(value) {
                    self.read_words(part, depth + 1);
                }
            }
            return;
        };
        let words = text.split(|c: char| !c.is_alphanumeric());
        for word in words.filter(|w| !w.is_empty()).take(WORDS) {
            if word.len() > WORD_LENGTH {
                continue;
            }
            if word.len() < text.len() {
                remember(&mut self.words, &Value::str(word));
            }
            if let Ok(number) = word.parse::<Int>() {
                remember(&mut self.words, &Value::Int(number));
            }
        }
    }

    /// These values were really used, all together.
    pub(super) fn use_row(&mut self, row: &[Value]) {
        if self.used.len() >= MET {
            self.used.remove(0);
        }
        self.used.push(row.to_vec());
    }

    /// These values were drawn.
    pub(super) fn draw(&mut self, row: Vec<Value>) {
        self.recent.push_back(row);
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
    }

    /// The rows that were drawn of late, the latest first.
    pub(super) fn recent(&self) -> impl Iterator<Item = &Vec<Value>> {
        self.recent.iter().rev()
    }

    /// That the variables have other values than of late.
    pub(super) fn news(&self, vars: &[Var]) -> Term {
        let rows = self.recent.iter().filter(|row| row.len() == vars.len());
        Term::all(rows.map(|row| {
            let same = vars
                .iter()
                .zip(row)
                .filter_map(|(v, x)| v.term().equals_value(x).ok());
            Term::all(same).negated()
        }))
    }

    /// Whether any row was used.
    pub(super) fn has_used(&self) -> bool {
        !self.used.is_empty()
    }

    /// A row that was used, half of the time the latest.
    pub(super) fn used_row(&self, rng: &mut Xoshiro256PlusPlus) -> Option<&[Value]> {
        let latest = self.used.len().checked_sub(1)?;
        let i = if rng.random_bool(0.5) {
            latest
        } else {
            rng.random_range(0..=latest)
        };
        Some(&self.used[i])
    }

    /// The values of a sort that were met.
    pub(super) fn met(&self, sort: &Sort) -> Vec<&Value> {
        self.met.iter().filter(|v| sort.contains(v)).collect()
    }

    /// The words of texts that were met and belong to a sort.
    pub(super) fn words(&self, sort: &Sort) -> impl Iterator<Item = &Value> {
        self.words.iter().filter(|v| sort.contains(v))
    }
}

/// Elements of arrays that are remembered as a whole.
const LONGEST: usize = 64;

/// How deep variants of variants are looked into: a longer list is long.
const DEEPEST: u32 = 16;

/// Whether the value holds a long array, set, map or list: comparing such ones costs more than it finds.
fn is_long(value: &Value, depth: u32) -> bool {
    let below = |part: &Value| is_long(part, depth + 1);
    match value {
        _ if depth > DEEPEST => true,
        Value::Array(items) => items.len() > LONGEST,
        Value::Set(items) => items.len() > LONGEST,
        Value::Map(pairs) => pairs.len() > LONGEST,
        Value::Record(_, fields) => fields.iter().any(below),
        Value::Sum(sum) => sum.fields().iter().any(below),
        _ => false,
    }
}

/// What a value is made of; of collections, the first elements.
fn parts(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter().take(PARTS)),
        Value::Set(items) => Box::new(items.iter().take(PARTS)),
        Value::Map(pairs) => {
            let pairs = pairs.iter().take(PARTS);
            Box::new(pairs.flat_map(|(key, value)| [key, value]))
        }
        Value::Record(_, fields) => Box::new(fields.iter()),
        Value::Sum(sum) => Box::new(sum.fields().iter()),
        Value::Bool(_) | Value::Enum(..) | Value::Int(_) | Value::Decimal(..) | Value::Str(_) => {
            Box::new([].iter())
        }
    }
}

/// Puts a value, and what it is made of, at the end; each is there once.
fn remember(met: &mut Vec<Value>, value: &Value) {
    remember_below(met, value, 0);
}

fn remember_below(met: &mut Vec<Value>, value: &Value, depth: u32) {
    if let Value::Bool(_) | Value::Enum(..) = value {
        return;
    }
    if depth < DEPTH {
        for part in parts(value) {
            remember_below(met, part, depth + 1);
        }
    }
    if is_long(value, 0) {
        return;
    }
    met.retain(|known| known != value);
    if met.len() >= MET {
        met.remove(0);
    }
    met.push(value.clone());
}
