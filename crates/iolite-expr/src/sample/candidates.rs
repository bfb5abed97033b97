//! Values that may matter to the system, whatever the query at hand says.

use rustc_hash::FxHashSet;

use crate::decimal::MAX_SCALE;
use crate::{Int, Kind, Sort, Term, Value};

/// Values of one source that are kept.
const MOST: usize = 4096;
/// Values of one parameter that are combined with those of others.
const COLUMN: usize = 8;

/// Values from the model's guards and effects, and from the user's dictionary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CandidateValues {
    model: Vec<Value>,
    dictionary: Vec<Value>,
    /// Numbers of the dictionary with as many places as some sort may have.
    decimals: Vec<Value>,
}

fn add(values: &mut Vec<Value>, value: Value) {
    if values.len() < MOST && !values.contains(&value) {
        values.push(value);
    }
}

impl CandidateValues {
    /// Adds a constant of the model. Booleans and enumerations are drawn completely anyway.
    pub fn add_constant(&mut self, value: &Value) {
        match value {
            Value::Bool(_) | Value::Enum(..) => {}
            Value::Array(items) => items.iter().for_each(|item| self.add_constant(item)),
            Value::Set(items) => items.iter().for_each(|item| self.add_constant(item)),
            Value::Record(_, fields) => fields.iter().for_each(|field| self.add_constant(field)),
            Value::Sum(s) => s.fields().iter().for_each(|field| self.add_constant(field)),
            Value::Map(pairs) => pairs.iter().for_each(|(key, value)| {
                self.add_constant(key);
                self.add_constant(value);
            }),
            Value::Int(_) | Value::Decimal(..) | Value::Str(_) => {
                add(&mut self.model, value.clone());
            }
        }
    }

    /// Adds the constants of a term of the model.
    pub fn add_constants_of(&mut self, term: &Term) {
        let mut seen = FxHashSet::default();
        let mut stack = vec![term.clone()];
        while let Some(term) = stack.pop() {
            if let Some(value) = term.as_value() {
                self.add_constant(value);
            } else if let Kind::App(_, args) = term.kind()
                && seen.insert(term.clone())
            {
                stack.extend(args.iter().rev().cloned());
            }
        }
    }

    /// Adds a word of the dictionary: a text, and where it is written like a number that one too.
    pub fn add_word(&mut self, word: &str) {
        add(&mut self.dictionary, Value::str(word));
        if self.decimals.len() < MOST * usize::from(MAX_SCALE) {
            let scales = 1..=MAX_SCALE;
            self.decimals
                .extend(scales.filter_map(|scale| Value::decimal(word, scale)));
        }
        if let Ok(number) = word.parse::<Int>() {
            add(&mut self.dictionary, Value::Int(number));
        }
    }

    /// The model's constants that belong to a sort.
    pub fn constants(&self, sort: &Sort) -> impl Iterator<Item = &Value> {
        self.model.iter().filter(|value| sort.contains(value))
    }

    /// The dictionary's values that belong to a sort.
    pub fn words(&self, sort: &Sort) -> impl Iterator<Item = &Value> {
        let words = match sort {
            Sort::Decimal(_) => &self.decimals,
            _ => &self.dictionary,
        };
        words.iter().filter(|value| sort.contains(value))
    }

    /// The few values of a sort that are combined with those of other parameters; none where the sort
    /// has no leaves that are drawn.
    pub(super) fn column(&self, sort: &Sort) -> Vec<Value> {
        let plain: Vec<Value> = match sort {
            Sort::Bool | Sort::Enum(_) => {
                return sort.values(COLUMN as u64 * 2).unwrap_or_default();
            }
            Sort::Range(range) => vec![Value::Int(range.lo.clone()), Value::Int(range.hi.clone())],
            Sort::Int => [0, 1, -1].into_iter().map(Value::from).collect(),
            Sort::Decimal(scale) => [0, 1, -1]
                .into_iter()
                .map(|n| Value::Decimal(n.into(), *scale))
                .collect(),
            Sort::String => vec![Value::str(""), Value::str("a")],
            _ => return Vec::new(),
        };
        // The user's words first: they were given because they matter.
        let known = self.words(sort).chain(self.constants(sort)).cloned();
        let mut column: Vec<Value> = Vec::new();
        for value in known.take(COLUMN - plain.len()).chain(plain) {
            add(&mut column, value);
        }
        column
    }
}
