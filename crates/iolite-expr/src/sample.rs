//! Diverse models: boundaries, small, large and random values, and the user's own, seeded.
//!
//! A solver left alone gives the same model over and over. A [`Sampler`] steers it: for each
//! variable in turn it wishes for a value and keeps the wish when the rest can still be satisfied.
//! It works through the port alone, so it does with every backend what it does with one.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::FxHashSet;

use crate::solver::{Answer, Model, Solver};
use crate::term::{Kind, Op};
use crate::{Int, Sort, Span, Term, Value, Var, VarId};

/// What values to wish for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// The least and greatest possible values, what the query compares with, and their neighbours.
    Boundary,
    /// Close to zero, short.
    Small,
    /// Far from zero, long.
    Large,
    /// Anywhere.
    Random,
    /// Each of the others in turn, by lot.
    Mixed,
}

/// A way to come to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Draw {
    /// This value.
    Value(Value),
    /// An integer between these, each as likely as the other.
    Between(Int, Int),
    /// As a strategy has it.
    By(Strategy),
}

/// What a user wants a variable's values to be like: ways to come to one, with their weights.
///
/// They win: where one of them is possible, nothing else is drawn. Who wants other values beside a
/// short list names a strategy in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution(pub Vec<(Draw, u32)>);

impl FromIterator<Value> for Distribution {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        Self(values.into_iter().map(|v| (Draw::Value(v), 1)).collect())
    }
}

/// Draws models of what a solver has asserted.
#[derive(Clone, Debug)]
pub struct Sampler {
    rng: Xoshiro256PlusPlus,
    strategy: Strategy,
    distributions: BTreeMap<VarId, Distribution>,
    recent: VecDeque<Vec<Value>>,
    /// Values that were met in the run at hand, the latest last: sent, or seen in outputs.
    met: Vec<Value>,
    /// Rows that were really used in it, the latest last.
    used: Vec<Vec<Value>>,
    /// The literals of the query at hand.
    compared: Vec<Value>,
}

/// Models that are not drawn again as long as there are others, unless that is done on purpose.
const MEMORY: usize = 12;
/// Values and rows of a run that are drawn again on purpose.
const MET: usize = 24;
/// One draw of so many is a row that was used before; half of these are the latest. Faults of
/// duplicates, idempotence and caches need the same values twice.
const ROW_AGAIN: u32 = 5;
/// One variable of so many gets a value that was met before.
const VALUE_AGAIN: u32 = 4;
/// How deep into arrays and records wishes go.
const MAX_DEPTH: u32 = 3;
/// Literals of a query that are looked at for values beside them.
const MOST_LITERALS: usize = 64;
/// Letters of a text that are chosen.
const MOST_LETTERS: usize = 64;

impl Sampler {
    /// A sampler; the same seed gives the same models for the same queries.
    pub fn new(seed: u64, strategy: Strategy) -> Self {
        Self {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            strategy,
            distributions: BTreeMap::new(),
            recent: VecDeque::new(),
            met: Vec::new(),
            used: Vec::new(),
            compared: Vec::new(),
        }
    }

    /// How the values of a variable are drawn, as far as the query allows.
    pub fn set_distribution(&mut self, var: VarId, distribution: Distribution) {
        self.distributions.insert(var, distribution);
    }

    /// A value was met in the run at hand: it was sent, or seen in an output. Some draws take it
    /// again.
    pub fn meet(&mut self, value: &Value) {
        remember(&mut self.met, value);
    }

    /// These values of the variables were really used, all together.
    pub fn use_row(&mut self, row: &[Value]) {
        if self.used.len() >= MET {
            self.used.remove(0);
        }
        self.used.push(row.to_vec());
    }

    /// A model of the solver's assertions with diverse values for `vars`. The solver's stack is
    /// as before afterwards.
    pub fn sample(&mut self, solver: &mut Solver, vars: &[Var]) -> Answer {
        solver.push();
        for v in vars {
            solver.declare(v);
        }
        let answer = self.drawn(solver, vars);
        solver.pop();
        if let Answer::Sat(model) = &answer {
            let row: Vec<Value> = vars
                .iter()
                .filter_map(|v| model.value(v.id).cloned())
                .collect();
            self.recent.push_back(row);
            if self.recent.len() > MEMORY {
                self.recent.pop_front();
            }
        }
        answer
    }

    fn drawn(&mut self, solver: &mut Solver, vars: &[Var]) -> Answer {
        let mut model = match solver.check() {
            Answer::Sat(model) => model,
            other => return other,
        };
        if vars.is_empty() {
            return Answer::Sat(model);
        }
        // Before the query says what was drawn of late.
        self.compared = compared(solver);
        let wanted = vars.iter().any(|v| self.distributions.contains_key(&v.id));
        if !wanted && self.used_again(solver, vars, &mut model) {
            return Answer::Sat(model);
        }
        // Something new, if there is anything new. Where the user says what is drawn, that counts, and
        // a short list of values comes again and again.
        let news = self
            .recent
            .iter()
            .filter(|row| row.len() == vars.len())
            .map(|row| {
                let same = vars
                    .iter()
                    .zip(row)
                    .filter_map(|(v, x)| v.term().equals_value(x).ok());
                Term::all(same).negated()
            });
        let news = Term::all(news);
        if !wanted && let Answer::Sat(m) = solver.check_with(&news) {
            model = m;
            solver.assert(&news);
        }
        let mut order: Vec<usize> = (0..vars.len()).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, self.rng.random_range(0..=i));
        }
        for i in order {
            let var = &vars[i];
            if self.drawn_as_wanted(solver, var, &mut model)
                || self.met_again(solver, var, &mut model)
            {
                continue;
            }
            self.wish(solver, &var.term(), &mut model, self.strategy, 0);
        }
        Answer::Sat(model)
    }

    /// A row that was used before, now and then; false where none is possible.
    fn used_again(&mut self, solver: &mut Solver, vars: &[Var], model: &mut Model) -> bool {
        if self.used.is_empty() || self.rng.random_range(0..ROW_AGAIN) > 0 {
            return false;
        }
        let latest = self.used.len() - 1;
        let i = if self.rng.random_bool(0.5) {
            latest
        } else {
            self.rng.random_range(0..=latest)
        };
        let row = &self.used[i];
        if row.len() != vars.len() || !vars.iter().zip(row).all(|(v, x)| v.sort.contains(x)) {
            return false;
        }
        let same = vars.iter().zip(row).map(|(v, x)| v.term().equals_value(x));
        match same.collect::<Result<Vec<_>, _>>() {
            Ok(same) => grant(solver, &Term::all(same), model),
            Err(_) => false,
        }
    }

    /// A value that was met before, now and then; false where none of its sort is possible.
    fn met_again(&mut self, solver: &mut Solver, var: &Var, model: &mut Model) -> bool {
        let few = matches!(var.sort, Sort::Bool | Sort::Enum(_));
        if few || self.met.is_empty() || self.rng.random_range(0..VALUE_AGAIN) > 0 {
            return false;
        }
        let fitting: Vec<usize> = (0..self.met.len())
            .filter(|&i| var.sort.contains(&self.met[i]))
            .collect();
        if fitting.is_empty() {
            return false;
        }
        let value = &self.met[fitting[self.rng.random_range(0..fitting.len())]];
        let wish = var.term().equals_value(value);
        wish.is_ok_and(|wish| grant(solver, &wish, model))
    }

    /// By the user's distribution; false where there is none, or none of its ways is possible.
    fn drawn_as_wanted(&mut self, solver: &mut Solver, var: &Var, model: &mut Model) -> bool {
        let Some(Distribution(mut ways)) = self.distributions.get(&var.id).cloned() else {
            return false;
        };
        loop {
            let total: u64 = ways.iter().map(|(_, weight)| u64::from(*weight)).sum();
            if total == 0 {
                return false;
            }
            let mut left = self.rng.random_range(0..total);
            let picked = ways.iter().position(|(_, weight)| {
                let hit = left < u64::from(*weight);
                left = left.saturating_sub(u64::from(*weight));
                hit
            });
            let Some(i) = picked else { return false };
            // What is impossible now leaves the others their weights.
            let (way, _) = ways.swap_remove(i);
            let granted = match way {
                Draw::Value(value) => match var.term().equals_value(&value) {
                    Ok(wish) if var.sort.contains(&value) => grant(solver, &wish, model),
                    _ => false,
                },
                Draw::Between(lo, hi) => self.between(solver, &var.term(), &lo, &hi, model),
                Draw::By(strategy) => {
                    self.wish(solver, &var.term(), model, strategy, 0);
                    true
                }
            };
            if granted {
                return true;
            }
        }
    }

    fn between(
        &mut self,
        solver: &mut Solver,
        term: &Term,
        lo: &Int,
        hi: &Int,
        model: &mut Model,
    ) -> bool {
        let relation = |op: Op, n: &Int| Term::bool_app(op, vec![term.clone(), n.clone().into()]);
        let inside = Term::all([relation(Op::Ge, lo), relation(Op::Le, hi)]);
        if !term.sort().is_int() || !grant(solver, &inside, model) {
            return false;
        }
        let width = (hi - lo).to_i64().unwrap_or(i64::MAX - 1);
        let target = lo + &Int::from(self.rng.random_range(0..=width));
        self.near(solver, term, &target, model);
        true
    }

    fn wish(
        &mut self,
        solver: &mut Solver,
        term: &Term,
        model: &mut Model,
        strategy: Strategy,
        depth: u32,
    ) {
        let own = strategy;
        let strategy = match strategy {
            Strategy::Mixed => [
                Strategy::Boundary,
                Strategy::Small,
                Strategy::Large,
                Strategy::Random,
            ][self.rng.random_range(0..4)],
            s => s,
        };
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

    /// Letters at random for a text whose length is settled: all of them, or as many at its begin as
    /// the query allows. A solver left alone makes words of one length alike.
    fn letters(&mut self, solver: &mut Solver, term: &Term, model: &mut Model) {
        let length = match term.eval(model) {
            Ok(Value::Str(text)) => text.chars().count().min(MOST_LETTERS),
            _ => return,
        };
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
        let text: Vec<char> = (0..length)
            .map(|_| alphabet[self.rng.random_range(0..alphabet.len())])
            .collect();
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
        let n: i64 = match strategy {
            Strategy::Boundary => [0, 1][self.rng.random_range(0..2)],
            Strategy::Small => self.rng.random_range(0..4),
            Strategy::Large => self.rng.random_range(12..40),
            _ => self.rng.random_range(0..12),
        };
        self.near(solver, length, &n.into(), model);
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
                if self.rng.random_bool(0.3) && self.beside_number(solver, term, model) {
                    return;
                }
                let up = self.rng.random_bool(0.5);
                let Some(end) = extreme(solver, term, model, up) else {
                    return self.wish_int(solver, term, model, Strategy::Small);
                };
                let inward = Int::from(self.rng.random_range(0..2i64));
                if up { end - inward } else { end + inward }
            }
            Strategy::Small => self.rng.random_range(-3..=3i64).into(),
            Strategy::Large => {
                // Where machine numbers end, and anywhere between.
                let edges = [31, 32, 53, 63, 64];
                let size = if self.rng.random_bool(0.4) {
                    let edge = edges[self.rng.random_range(0..edges.len())];
                    power_of_two(edge) + Int::from(self.rng.random_range(-1..=1i64))
                } else {
                    let bits = self.rng.random_range(10..70u32);
                    let digits = Int::from(self.rng.random_range(0..1i64 << 20));
                    let unit = power_of_two(bits.saturating_sub(20));
                    power_of_two(bits) + &digits * &unit
                };
                if self.rng.random_bool(0.5) {
                    size
                } else {
                    -size
                }
            }
            Strategy::Random | Strategy::Mixed => {
                if let Sort::Range(r) = term.sort() {
                    match (r.lo.to_i64(), r.hi.to_i64()) {
                        (Some(lo), Some(hi)) => self.rng.random_range(lo..=hi).into(),
                        _ => r.lo.clone(),
                    }
                } else {
                    // All magnitudes are equally likely.
                    let bits = self.rng.random_range(1..14u32);
                    self.rng.random_range(-(1i64 << bits)..=1 << bits).into()
                }
            }
        };
        self.near(solver, term, &target, model);
    }

    /// A text that the query compares with, or one that differs from it in one place: programs that
    /// compare too little are found there and hardly anywhere else.
    fn beside_text(&mut self, solver: &mut Solver, term: &Term, model: &mut Model) -> bool {
        let texts: Vec<&Arc<str>> = self
            .compared
            .iter()
            .filter_map(|value| match value {
                Value::Str(text) => Some(text),
                _ => None,
            })
            .collect();
        if texts.is_empty() {
            return false;
        }
        let text: Vec<char> = texts[self.rng.random_range(0..texts.len())]
            .chars()
            .collect();
        let (last, rest) = match text.split_last() {
            Some((last, rest)) => (*last, rest),
            None => ('a', &text[..]),
        };
        let other = if last == 'x' { 'y' } else { 'x' };
        let with = |head: &[char], tail: &[char]| head.iter().chain(tail).collect::<String>();
        let flipped = |c: char| {
            if c.is_lowercase() {
                c.to_uppercase().collect()
            } else {
                c.to_lowercase().collect::<String>()
            }
        };
        let mut near = [
            with(rest, &[other]),
            with(rest, &[]),
            with(&text, &['x']),
            with(&['x'], &text),
            text.iter().map(|c| flipped(*c)).collect(),
            text.iter().collect(),
        ];
        let start = self.rng.random_range(0..near.len());
        near.rotate_left(start);
        near.iter().any(|candidate| {
            let wish = term.equals_value(&Value::str(candidate));
            wish.is_ok_and(|wish| grant(solver, &wish, model))
        })
    }

    /// A number that the query compares with, or its neighbour.
    fn beside_number(&mut self, solver: &mut Solver, term: &Term, model: &mut Model) -> bool {
        let numbers: Vec<&Int> = self
            .compared
            .iter()
            .filter_map(|value| match value {
                Value::Int(n) => Some(n),
                _ => None,
            })
            .collect();
        if numbers.is_empty() {
            return false;
        }
        let number = numbers[self.rng.random_range(0..numbers.len())];
        let target = number + &Int::from(self.rng.random_range(-1..=1i64));
        let wish = Term::bool_app(Op::Eq, vec![term.clone(), target.into()]);
        grant(solver, &wish, model)
    }

    /// The target itself, or beyond it, or on this side of it.
    fn near(&mut self, solver: &mut Solver, term: &Term, target: &Int, model: &mut Model) {
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

/// Puts a value, and what arrays and records hold, at the end; each is there once.
fn remember(met: &mut Vec<Value>, value: &Value) {
    match value {
        Value::Bool(_) | Value::Enum(..) => return,
        Value::Array(items) => {
            for item in items.iter().take(8) {
                remember(met, item);
            }
        }
        Value::Record(_, fields) => {
            for field in fields.iter() {
                remember(met, field);
            }
        }
        _ => {}
    }
    met.retain(|known| known != value);
    if met.len() >= MET {
        met.remove(0);
    }
    met.push(value.clone());
}

fn power_of_two(exponent: u32) -> Int {
    (0..exponent).fold(Int::ONE, |n, _| &n + &n)
}

/// Keeps the wish if it can be had.
fn grant(solver: &mut Solver, wish: &Term, model: &mut Model) -> bool {
    match solver.check_with(wish) {
        Answer::Sat(found) => {
            solver.assert(wish);
            *model = found;
            true
        }
        _ => false,
    }
}

/// The literals of the query, in the order they stand there, each once.
fn compared(solver: &Solver) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    let mut seen = FxHashSet::default();
    let mut stack: Vec<Term> = solver.query().cloned().collect();
    stack.reverse();
    while let Some(term) = stack.pop() {
        if found.len() == MOST_LITERALS || !seen.insert(term.clone()) {
            continue;
        }
        if let Some(value) = term.as_value() {
            found.push(value.clone());
        } else if let Kind::App(_, args) = term.kind() {
            stack.extend(args.iter().rev().cloned());
        }
    }
    found
}

/// The greatest (least) value of an integer term, if it is bounded within reason.
fn extreme(solver: &mut Solver, term: &Term, model: &Model, up: bool) -> Option<Int> {
    let Ok(Value::Int(mut best)) = term.eval(model) else {
        return None;
    };
    let beyond = |from: &Int, solver: &mut Solver| -> Option<Int> {
        let op = if up { Op::Ge } else { Op::Le };
        let wish = Term::bool_app(op, vec![term.clone(), from.clone().into()]);
        match solver.check_with(&wish) {
            Answer::Sat(m) => match term.eval(&m) {
                Ok(Value::Int(n)) => Some(n),
                _ => None,
            },
            _ => None,
        }
    };
    let offset = |n: &Int, by: &Int| if up { n + by } else { n - by };
    // Mostly there is no end, and one question shows it.
    if beyond(&offset(&best, &power_of_two(40)), solver).is_some() {
        return None;
    }
    let mut step = Int::ONE;
    let mut limit = loop {
        let wanted = offset(&best, &step);
        match beyond(&wanted, solver) {
            Some(n) => best = n,
            None => break wanted,
        }
        step = &step + &step;
        if step.bits() > 40 {
            return None;
        }
    };
    // best is possible, limit is not.
    loop {
        let middle = (&best + &limit).div_floor(&Int::from(2));
        if middle == best || middle == limit {
            // For the lower end the floor may hit the limit itself: look one further.
            let next = offset(&best, &Int::ONE);
            if next == limit {
                return Some(best);
            }
            match beyond(&next, solver) {
                Some(n) => best = n,
                None => return Some(best),
            }
            continue;
        }
        match beyond(&middle, solver) {
            Some(n) => best = n,
            None => limit = middle,
        }
    }
}
