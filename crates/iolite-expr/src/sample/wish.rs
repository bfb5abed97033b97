//! Wishes for values of one term, by its sort.

use rand::RngExt;

use super::extreme::extreme;
use super::neighbours::near_texts;
use super::{Sampler, Strategy, grant};
use crate::solver::{Model, Solver};
use crate::term::Op;
use crate::{Int, Sort, Span, SumSort, Term, Value};

/// How deep into arrays and records wishes go.
const MAX_DEPTH: u32 = 3;
/// Letters of a text that are chosen.
const MOST_LETTERS: usize = 64;
/// Elements of a set and keys of a map that are chosen.
const MOST_KEYS: usize = 4;

impl Sampler {
    pub(super) fn wish(
        &mut self,
        solver: &mut Solver,
        term: &Term,
        model: &mut Model,
        strategy: Strategy,
        depth: u32,
    ) {
        let own = strategy;
        let strategy = self.settled(term.sort(), strategy);
        if strategy == Strategy::Known && self.known(solver, term, model) {
            return;
        }
        match term.sort().clone() {
            Sort::Bool => {
                let wish = if self.rng.random_bool(0.5) {
                    term.clone()
                } else {
                    term.negated()
                };
                grant(solver, &wish, model);
            }
            Sort::Enum(e) => {
                let i = self.rng.random_range(0..e.variants.len()) as u32;
                if let Ok(wish) = term.equals_value(&Value::Enum(e, i)) {
                    grant(solver, &wish, model);
                }
            }
            Sort::Int | Sort::Range(_) => self.wish_int(solver, term, model, strategy),
            Sort::Decimal(_) => {
                if let Ok(units) = term.clone().units(Span::NONE) {
                    self.wish_int(solver, &units, model, strategy);
                }
            }
            Sort::Set(element) => {
                let length = Term::int_app(Op::Len, vec![term.clone()]);
                self.wish_length(solver, &length, model, strategy);
                self.wish_keys(solver, term, model, &element);
            }
            Sort::Map(m) => {
                let length = Term::int_app(Op::Len, vec![term.clone()]);
                self.wish_length(solver, &length, model, strategy);
                self.wish_keys(solver, term, model, &m.0);
            }
            Sort::String => {
                if strategy == Strategy::Boundary && self.beside_text(solver, term, model) {
                    return;
                }
                let length = Term::int_app(Op::StrLen, vec![term.clone()]);
                self.wish_length(solver, &length, model, strategy);
                self.letters(solver, term, model);
            }
            Sort::Array(_) => {
                let length = Term::int_app(Op::Len, vec![term.clone()]);
                self.wish_length(solver, &length, model, strategy);
                let n = match term.eval(model) {
                    Ok(Value::Array(items)) => items.len(),
                    _ => 0,
                };
                if depth < MAX_DEPTH {
                    for i in 0..n.min(8) {
                        let index = Term::from(Int::from(i));
                        if let Ok(item) =
                            Term::apply(Op::Select, vec![term.clone(), index], Span::NONE)
                        {
                            self.wish(solver, &item, model, own, depth + 1);
                        }
                    }
                }
            }
            Sort::Sum(s) => self.wish_sum(solver, term, model, &s, own, depth),
            Sort::Member(_) => {}
            Sort::Record(r) => {
                if depth < MAX_DEPTH {
                    for i in 0..r.fields.len() {
                        if let Ok(field) =
                            Term::apply(Op::Field(i as u32), vec![term.clone()], Span::NONE)
                        {
                            self.wish(solver, &field, model, own, depth + 1);
                        }
                    }
                }
            }
        }
    }

    /// Elements of a set or keys of a map at random, as many as the model has now.
    fn wish_keys(&mut self, solver: &mut Solver, term: &Term, model: &mut Model, sort: &Sort) {
        let count = match term.eval(model) {
            Ok(Value::Set(items)) => items.len(),
            Ok(Value::Map(pairs)) => pairs.len(),
            _ => return,
        };
        for _ in 0..count.min(MOST_KEYS) {
            let known = self.rng.random_bool(0.5);
            let known = known.then(|| self.known_value(sort)).flatten();
            let key = known.unwrap_or_else(|| self.plain_value(sort));
            let wish = Term::has(&Term::value_of_sort(key, sort.clone()), term);
            grant(solver, &wish, model);
        }
    }

    /// A value for an element or a key, whatever its place.
    pub(super) fn plain_value(&mut self, sort: &Sort) -> Value {
        if let Some(values) = sort.values(256) {
            return values[self.rng.random_range(0..values.len())].clone();
        }
        let value = match sort {
            Sort::Int | Sort::Range(_) => {
                let strategy = self.settled(sort, self.strategy);
                Value::Int(self.number(sort, strategy))
            }
            Sort::Decimal(scale) => {
                let strategy = self.settled(&Sort::Int, self.strategy);
                Value::Decimal(self.number(sort, strategy), *scale)
            }
            Sort::String => {
                let length = self.rng.random_range(0..6);
                Value::str(&self.text(length).iter().collect::<String>())
            }
            Sort::Record(r) => {
                let fields = r.fields.iter().map(|(_, s)| self.plain_value(s));
                Value::Record(r.clone(), fields.collect())
            }
            _ => sort.default_value(),
        };
        if sort.contains(&value) {
            value
        } else {
            sort.default_value()
        }
    }

    /// A variant at random, and then its fields.
    fn wish_sum(
        &mut self,
        solver: &mut Solver,
        term: &Term,
        model: &mut Model,
        sum: &SumSort,
        strategy: Strategy,
        depth: u32,
    ) {
        let wanted = self.rng.random_range(0..sum.variants().len()) as u32;
        grant(solver, &term.is_variant(wanted), model);
        let Ok(Value::Sum(value)) = term.eval(model) else {
            return;
        };
        if depth >= MAX_DEPTH {
            return;
        }
        // What follows is about this variant's fields.
        let variant = value.variant();
        for field in 0..value.fields().len() as u32 {
            let get = Term::apply(Op::Get(variant, field), vec![term.clone()], Span::NONE);
            if let Ok(field) = get {
                self.wish(solver, &field, model, strategy, depth + 1);
            }
        }
    }

    /// Letters at random for a text whose length is settled: all of them, or as many at its begin as
    /// the query allows. A solver left alone makes words of one length alike.
    fn letters(&mut self, solver: &mut Solver, term: &Term, model: &mut Model) {
        let length = match term.eval(model) {
            Ok(Value::Str(text)) => text.chars().count().min(MOST_LETTERS),
            _ => return,
        };
        let text = self.text(length);
        let whole: String = text.iter().collect();
        if let Ok(wish) = term.equals_value(&Value::str(&whole))
            && grant(solver, &wish, model)
        {
            return;
        }
        for taken in [length.min(4), 2, 1] {
            let begin: String = text.iter().take(taken).collect();
            let wish = Term::bool_app(Op::Prefix, vec![begin.as_str().into(), term.clone()]);
            if !begin.is_empty() && grant(solver, &wish, model) {
                return;
            }
        }
    }

    fn wish_length(
        &mut self,
        solver: &mut Solver,
        length: &Term,
        model: &mut Model,
        strategy: Strategy,
    ) {
        let n = self.length(strategy);
        self.near(solver, length, &n.into(), model);
    }

    /// A length by strategy.
    pub(super) fn length(&mut self, strategy: Strategy) -> usize {
        match strategy {
            Strategy::Boundary => [0, 1][self.rng.random_range(0..2)],
            Strategy::Small => self.rng.random_range(0..4),
            Strategy::Large => self.rng.random_range(12..40),
            _ => self.rng.random_range(0..12),
        }
    }

    /// A text of this length in one of some alphabets.
    pub(super) fn text(&mut self, length: usize) -> Vec<char> {
        // Some patterns want small letters or digits alone.
        let alphabets = [
            "abcdefghijklmnopqrstuvwxyz",
            "abcdefghijklmnopqrstuvwxyz",
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
            "0123456789",
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-.,:;/@+'äß€",
        ];
        let alphabet = alphabets[self.rng.random_range(0..alphabets.len())];
        let alphabet: Vec<char> = alphabet.chars().collect();
        (0..length)
            .map(|_| alphabet[self.rng.random_range(0..alphabet.len())])
            .collect()
    }

    fn wish_int(
        &mut self,
        solver: &mut Solver,
        term: &Term,
        model: &mut Model,
        strategy: Strategy,
    ) {
        let target: Int = match strategy {
            Strategy::Boundary => {
                if self.rng.random_bool(0.5) && self.beside_comparison(solver, term, model)
                    || self.rng.random_bool(0.3) && self.beside_number(solver, term, model)
                {
                    return;
                }
                let up = self.rng.random_bool(0.5);
                let Some(end) = extreme(solver, term, model, up) else {
                    return self.wish_int(solver, term, model, Strategy::Small);
                };
                let inward = Int::from(self.rng.random_range(0..2i64));
                if up { end - inward } else { end + inward }
            }
            _ => self.number(term.sort(), strategy),
        };
        self.near(solver, term, &target, model);
    }

    /// A text that the term is compared with, or one that the query compares with, or one beside it.
    fn beside_text(&mut self, solver: &mut Solver, term: &Term, model: &mut Model) -> bool {
        let mut texts = self.comparisons.texts_beside(term);
        if texts.is_empty() || self.rng.random_range(0..4) == 0 {
            texts = self.comparisons.texts();
        }
        if texts.is_empty() {
            return false;
        }
        let text = texts[self.rng.random_range(0..texts.len())].to_owned();
        self.near_text(solver, term, &text, model)
    }

    /// A text, or one that differs from it in one place.
    fn near_text(
        &mut self,
        solver: &mut Solver,
        term: &Term,
        text: &str,
        model: &mut Model,
    ) -> bool {
        let mut near = near_texts(text);
        let start = self.rng.random_range(0..near.len());
        near.rotate_left(start);
        near.iter().any(|candidate| {
            let wish = term.equals_value(&Value::str(candidate));
            wish.is_ok_and(|wish| grant(solver, &wish, model))
        })
    }

    /// A number that the query compares with, or its neighbour.
    fn beside_number(&mut self, solver: &mut Solver, term: &Term, model: &mut Model) -> bool {
        let numbers = self.comparisons.numbers();
        if numbers.is_empty() {
            return false;
        }
        let number = numbers[self.rng.random_range(0..numbers.len())].clone();
        self.near_number(solver, term, &number, model)
    }

    fn near_number(
        &mut self,
        solver: &mut Solver,
        term: &Term,
        number: &Int,
        model: &mut Model,
    ) -> bool {
        let target = number + &Int::from(self.rng.random_range(-1..=1i64));
        let wish = Term::bool_app(Op::Eq, vec![term.clone(), target.into()]);
        grant(solver, &wish, model)
    }

    /// One of the points where a comparison that the term stands in changes: both sides equal, or one
    /// apart.
    fn beside_comparison(&mut self, solver: &mut Solver, term: &Term, model: &mut Model) -> bool {
        let sides = self.comparisons.sides_with(term);
        if sides.is_empty() {
            return false;
        }
        let (left, right) = &sides[self.rng.random_range(0..sides.len())];
        let mut apart = [-1, 0, 1i64];
        apart.rotate_left(self.rng.random_range(0..3));
        apart.into_iter().any(|apart| {
            let beside = Term::int_app(Op::Add, vec![right.clone(), Int::from(apart).into()]);
            let wish = Term::bool_app(Op::Eq, vec![left.clone(), beside]);
            grant(solver, &Term::all([wish.defined(), wish]), model)
        })
    }

    /// The strategy for one value of this sort.
    pub(super) fn settled(&mut self, sort: &Sort, strategy: Strategy) -> Strategy {
        strategy.settled(self.known_weight(sort), &mut self.rng)
    }

    /// How much known values weigh beside the other strategies: not at all where there are none.
    fn known_weight(&self, sort: &Sort) -> u32 {
        if !matches!(
            sort,
            Sort::Int | Sort::Range(_) | Sort::String | Sort::Decimal(_)
        ) {
            return 0;
        }
        if self.candidates.words(sort).next().is_some() {
            3
        } else {
            let constants = self.candidates.constants(sort).next().is_some();
            u32::from(constants || self.memory.words(sort).next().is_some())
        }
    }

    /// A value of the dictionary, a constant of the model or a value of the run, or its neighbour.
    fn known(&mut self, solver: &mut Solver, term: &Term, model: &mut Model) -> bool {
        let Some(value) = self.known_value(term.sort()) else {
            return false;
        };
        // Mostly itself: a dictionary that is never quoted literally is none.
        let exact = self.rng.random_range(0..3) > 0;
        if exact
            && let Ok(wish) = term.equals_value(&value)
            && grant(solver, &wish, model)
        {
            return true;
        }
        match &value {
            Value::Int(number) => self.near_number(solver, term, number, model),
            Value::Str(text) => self.near_text(solver, term, text, model),
            _ => false,
        }
    }

    /// A value of the dictionary, a constant of the model or a value of the run.
    pub(super) fn known_value(&mut self, sort: &Sort) -> Option<Value> {
        let words: Vec<&Value> = self.candidates.words(sort).collect();
        let values = if words.is_empty() || self.rng.random_range(0..3) == 0 {
            let constants = self.candidates.constants(sort);
            let seen = self.memory.words(sort).chain(self.memory.met(sort));
            constants.chain(seen).collect()
        } else {
            words
        };
        if values.is_empty() {
            return None;
        }
        Some(values[self.rng.random_range(0..values.len())].clone())
    }

    /// The target itself, or beyond it, or on this side of it.
    pub(super) fn near(
        &mut self,
        solver: &mut Solver,
        term: &Term,
        target: &Int,
        model: &mut Model,
    ) {
        let relation = |op: Op| Term::bool_app(op, vec![term.clone(), target.clone().into()]);
        if grant(solver, &relation(Op::Eq), model) {
            return;
        }
        let first = self.rng.random_bool(0.5);
        for up in [first, !first] {
            if grant(solver, &relation(if up { Op::Ge } else { Op::Le }), model) {
                return;
            }
        }
    }
}
