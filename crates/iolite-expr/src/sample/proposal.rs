//! Values that are proposed for a part of a row, by its sort and by what the guard compares it with.

use rand::RngExt;

use super::local_search::Row;
use super::neighbours::near_texts;
use super::part::Part;
use super::{Sampler, Strategy};
use crate::regex::Language;
use crate::{Int, Sort, SumSort, Value};

/// How deep into a value parts are proposed; below, values are plain.
const MAX_DEPTH: u32 = 4;
/// Elements of a new array.
const ELEMENTS: usize = 4;

impl Sampler {
    /// A value for a part; `None` where its sort has nothing to choose.
    pub(super) fn proposal(
        &mut self,
        row: &Row<'_>,
        part: &Part,
        sort: &Sort,
        strategy: Strategy,
        depth: u32,
    ) -> Option<Value> {
        if strategy == Strategy::Known
            && let Some(value) = self.known_value(sort)
        {
            return Some(self.beside(value));
        }
        Some(match sort {
            Sort::Bool => Value::Bool(self.rng.random_bool(0.5)),
            Sort::Enum(e) => {
                Value::Enum(e.clone(), self.rng.random_range(0..e.variants.len()) as u32)
            }
            Sort::Int | Sort::Range(_) => {
                Value::Int(self.proposed_number(row, part, sort, strategy))
            }
            Sort::String => self.proposed_text(row, part, strategy),
            Sort::Decimal(scale) => {
                let number = self.proposed_number(row, part, sort, strategy);
                Value::Decimal(number, *scale)
            }
            Sort::Array(_) | Sort::Record(_) | Sort::Sum(_) | Sort::Set(_) | Sort::Map(_)
                if depth >= MAX_DEPTH =>
            {
                sort.default_value()
            }
            Sort::Array(element) => {
                let most = self.length(strategy).min(ELEMENTS);
                let items = (0..most).filter_map(|_| {
                    if let Some(member) = self.member(row, element) {
                        return Some(member);
                    }
                    let strategy = self.settled(element, self.strategy);
                    // Nothing is known of elements by their place.
                    self.proposal(row, part, element, strategy, depth + 1)
                });
                Value::array(items.collect())
            }
            Sort::Set(element) => {
                let most = self.length(strategy).min(ELEMENTS);
                let items = (0..most).map(|_| self.proposed_key(row, element));
                Value::set(items.collect())
            }
            Sort::Map(m) => {
                let most = self.length(strategy).min(ELEMENTS);
                let pairs = (0..most).map(|_| {
                    let key = self.proposed_key(row, &m.0);
                    let strategy = self.settled(&m.1, self.strategy);
                    let value = self.proposal(row, part, &m.1, strategy, depth + 1);
                    (key, value.unwrap_or_else(|| m.1.default_value()))
                });
                Value::map(pairs.collect())
            }
            Sort::Record(r) => {
                let fields = r.fields.iter().enumerate().map(|(i, (_, sort))| {
                    let strategy = self.settled(sort, self.strategy);
                    let field = part.field(i as u32);
                    let value = self.proposal(row, &field, sort, strategy, depth + 1);
                    value.unwrap_or_else(|| sort.default_value())
                });
                Value::Record(r.clone(), fields.collect())
            }
            Sort::Sum(s) => {
                let variant = self.rng.random_range(0..s.variants().len()) as u32;
                self.variant(row, part, s, variant, depth)?
            }
            Sort::Member(_) => return None,
        })
    }

    /// Half of the time, an element of one of the arrays, sets and maps that the guard reads: `subset(names, keys(prices))`
    /// holds for few others.
    fn member(&mut self, row: &Row<'_>, sort: &Sort) -> Option<Value> {
        let collections = &row.profile.collections;
        if collections.is_empty() || self.rng.random_bool(0.5) {
            return None;
        }
        let of = &collections[self.rng.random_range(0..collections.len())];
        let member = row.element(of, &[], &mut |n| self.rng.random_range(0..n));
        member.filter(|value| sort.contains(value))
    }

    /// An element of a set or a key of a map: one that the guard knows, one that is known otherwise, or any.
    fn proposed_key(&mut self, row: &Row<'_>, sort: &Sort) -> Value {
        if let Some(member) = self.member(row, sort) {
            return member;
        }
        let known = self.rng.random_bool(0.5);
        let known = known.then(|| self.known_value(sort)).flatten();
        known.unwrap_or_else(|| self.plain_value(sort))
    }

    /// A value of a variant.
    pub(super) fn variant(
        &mut self,
        row: &Row<'_>,
        part: &Part,
        sort: &SumSort,
        variant: u32,
        depth: u32,
    ) -> Option<Value> {
        let sorts = sort.field_sorts(variant);
        let fields = sorts.iter().enumerate().map(|(i, sort)| {
            let strategy = self.settled(sort, self.strategy);
            let field = part.get(variant, i as u32);
            let value = self.proposal(row, &field, sort, strategy, depth + 1);
            value.unwrap_or_else(|| sort.default_value())
        });
        let fields = fields.collect();
        Value::sum(sort, variant, fields)
    }

    /// Mostly the value itself, else its neighbour.
    fn beside(&mut self, value: Value) -> Value {
        if self.rng.random_range(0..3) > 0 {
            return value;
        }
        match value {
            Value::Int(n) => Value::Int(n + Int::from(self.rng.random_range(-1..=1i64))),
            Value::Decimal(n, scale) => {
                Value::Decimal(n + Int::from(self.rng.random_range(-1..=1i64)), scale)
            }
            Value::Str(text) => {
                let near = near_texts(&text);
                Value::str(&near[self.rng.random_range(0..near.len())])
            }
            other => other,
        }
    }

    fn proposed_number(
        &mut self,
        row: &Row<'_>,
        part: &Part,
        sort: &Sort,
        strategy: Strategy,
    ) -> Int {
        if strategy != Strategy::Boundary {
            return self.number(sort, strategy);
        }
        let ends = match sort {
            Sort::Range(r) => vec![r.lo.clone(), r.hi.clone()],
            _ => Vec::new(),
        };
        let mut points = ends;
        for atom in row.profile.atoms_of(part) {
            let turns = row.turning_points(atom, part, &mut |n| self.rng.random_range(0..n));
            points.extend(turns.iter().filter_map(Value::number).cloned());
        }
        let numbers = &row.profile.numbers;
        if points.is_empty() || !numbers.is_empty() && self.rng.random_range(0..5) == 0 {
            points = numbers
                .iter()
                .map(|n| n + &Int::from(self.rng.random_range(-1..=1i64)))
                .collect();
        }
        if points.is_empty() {
            // The guard has no boundaries here, but the system may.
            let strategy = [Strategy::Small, Strategy::Large][self.rng.random_range(0..2)];
            return self.number(sort, strategy);
        }
        points.swap_remove(self.rng.random_range(0..points.len()))
    }

    fn proposed_text(&mut self, row: &Row<'_>, part: &Part, strategy: Strategy) -> Value {
        let forms = row.profile.forms(part);
        let texts = &row.profile.texts;
        if strategy == Strategy::Boundary {
            let mut near: Vec<Value> = Vec::new();
            for atom in row.profile.atoms_of(part) {
                near.extend(row.turning_points(atom, part, &mut |n| self.rng.random_range(0..n)));
            }
            if !texts.is_empty() && (near.is_empty() || self.rng.random_range(0..4) == 0) {
                near.clone_from(texts);
            }
            if !near.is_empty()
                && let Value::Str(text) = &near[self.rng.random_range(0..near.len())]
            {
                let near = near_texts(text);
                return Value::str(&near[self.rng.random_range(0..near.len())]);
            }
        }
        let length = self.length(strategy);
        if !forms.is_empty()
            && let Some(language) = forms[self.rng.random_range(0..forms.len())].language()
            && let Some(lengths) = language.lengths(length, &mut 0)
        {
            let either = [lengths.below, lengths.above];
            let length = if lengths.exact {
                Some(length)
            } else {
                let first = usize::from(self.rng.random_bool(0.5));
                let nearest = either[first].or(either[1 - first]);
                nearest.map(|nearest| self.at_least(nearest, language))
            };
            let mut pick = |n| self.rng.random_range(0..n);
            let words = length.map(|length| language.words(length, 1, &mut pick, &mut 0));
            if let Some(word) = words.and_then(|mut words| words.pop()) {
                return Value::str(&word);
            }
        }
        let text: String = self.text(length).iter().collect();
        Value::str(&text)
    }
    /// One of the lengths that a language has from this one on. Most lengths that are drawn are short, so
    /// that the shortest words alone would be met: a system that looks at their first characters only
    /// would never be told from one that looks at all.
    fn at_least(&mut self, length: usize, language: &Language) -> usize {
        let wanted = length + self.rng.random_range(0..=8);
        match language.lengths(wanted, &mut 0) {
            Some(found) if found.exact => wanted,
            Some(found) => found.below.map_or(length, |below| below.max(length)),
            None => length,
        }
    }
}
