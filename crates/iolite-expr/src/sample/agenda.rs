//! Values that are tried once before any of them is tried again.
//!
//! Drawn with replacement, one value of two hundred is missed by one campaign of two hundred draws in
//! three. So what may matter to the system is listed for each part of a row in an order that the seed
//! decides, and struck out when it was really used.

use std::collections::BTreeMap;

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::part::Part;
use super::{CandidateValues, Sampler, power_of_two};
use crate::decimal::ten_to;
use crate::{Int, Sort, Value};

/// Draws of a hundred that take a value that was not tried yet, as long as there are some of the first kind:
/// where this is the only part that has such values, and where there are several, so that ordinary ones
/// still meet.
const FIRST_ALONE: u32 = 60;
const FIRST: u32 = 35;
/// The same when only others are left.
const REST: u32 = 12;
/// Values from which one is chosen. Several inputs may be drawn for a step that takes one of them, and
/// what the guard refuses now it may allow later.
const NEXT: usize = 64;
/// Values that are compared with what was used; a long dictionary is not read at each step.
const LOOKED_AT: usize = 256;
/// What a value may cost before it is left alone: most draws are for steps that then take another input, and a
/// guard that refuses it may be one of several.
const PATIENCE: u16 = 400;
const DRAWN: u16 = 1;
const REFUSED: u16 = 10;
/// Values of the dictionary and of the model that are of the first kind, and those whose neighbours are too.
const KNOWN: usize = 64;
const WITH_NEIGHBOURS: usize = 8;
/// Powers of two at which machine numbers end.
const BITS: [u32; 9] = [7, 8, 15, 16, 31, 32, 63, 64, 53];
/// Digits of powers of ten at which programs often change, and of the widest machine numbers.
const COMMON_DIGITS: u8 = 6;
const DIGITS: u8 = 18;

/// What is left to be tried, for each part of a row that was drawn.
#[derive(Clone, Debug, Default)]
pub(super) struct Agenda {
    parts: BTreeMap<Part, OpenValues>,
    /// Whether the row that is being drawn has a value of these.
    pub(super) taken: bool,
}

/// The values of one part that were not tried yet, the next ones last.
#[derive(Clone, Debug)]
struct OpenValues {
    values: Vec<(Value, u16)>,
    /// How many of them, at the begin of the list, are of the second kind.
    rest: usize,
}

impl OpenValues {
    fn new(sort: &Sort, candidates: &CandidateValues, rng: &mut Xoshiro256PlusPlus) -> Self {
        let (mut first, mut rest) = numbers_to_try(sort);
        let known = candidates.words(sort).chain(candidates.constants(sort));
        for (i, value) in known.enumerate() {
            let kind = if i < KNOWN { &mut first } else { &mut rest };
            kind.push(value.clone());
            if let Some(n) = value.number() {
                let beside = [n - &Int::ONE, n + &Int::ONE].map(|n| value.like(n));
                let kind = if i < WITH_NEIGHBOURS {
                    &mut first
                } else {
                    &mut rest
                };
                kind.extend(beside);
            }
        }
        first.sort_unstable();
        first.dedup();
        rest.sort_unstable();
        rest.dedup();
        rest.retain(|value| sort.contains(value) && first.binary_search(value).is_err());
        first.retain(|value| sort.contains(value));
        shuffle(&mut first, rng);
        shuffle(&mut rest, rng);
        let number = rest.len();
        let values = rest.into_iter().chain(first).map(|value| (value, 0));
        Self {
            values: values.collect(),
            rest: number,
        }
    }

    /// Where the values begin from which the next one is chosen: those of the first kind come first.
    fn next(&self) -> usize {
        let begin = self.values.len().saturating_sub(NEXT);
        if self.values.len() > self.rest {
            begin.max(self.rest)
        } else {
            begin
        }
    }

    fn remove(&mut self, i: usize) {
        self.values.remove(i);
        if i < self.rest {
            self.rest -= 1;
        }
    }

    /// A value was drawn.
    fn drawn(&mut self, i: usize) {
        self.values[i].1 += DRAWN;
        if self.values[i].1 >= PATIENCE {
            self.remove(i);
        }
    }

    /// The guard does not allow a value: the others of its kind come first.
    fn refused(&mut self, i: usize) {
        self.values[i].1 += REFUSED;
        if self.values[i].1 >= PATIENCE {
            self.remove(i);
        } else {
            let begin = if i < self.rest { 0 } else { self.rest };
            self.values[begin..=i].rotate_right(1);
        }
    }

    fn find(&self, value: &Value) -> Option<usize> {
        let begin = self.values.len().saturating_sub(LOOKED_AT);
        let found = self.values[begin..].iter().position(|(v, _)| v == value);
        found.map(|i| begin + i)
    }
}

fn shuffle(values: &mut [Value], rng: &mut Xoshiro256PlusPlus) {
    for i in (1..values.len()).rev() {
        values.swap(i, rng.random_range(0..=i));
    }
}

/// The numbers of a sort at which programs change, whatever the model says: those that are met most often,
/// and the others. Machine numbers end at powers of two, texts and tables at powers of ten.
fn numbers_to_try(sort: &Sort) -> (Vec<Value>, Vec<Value>) {
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    let of = match sort {
        Sort::Int | Sort::Range(_) => Value::Int(Int::ZERO),
        Sort::Decimal(scale) => Value::Decimal(Int::ZERO, *scale),
        _ => return (first, rest),
    };
    if let Sort::Range(r) = sort {
        first.extend([&r.lo, &r.hi].map(|n| Value::Int(n.clone())));
        rest.extend([&r.lo + &Int::ONE, &r.hi - &Int::ONE].map(Value::Int));
    }
    first.extend([-1, 0, 1].map(|n| of.like(n.into())));
    for bits in BITS {
        let end = power_of_two(bits);
        first.extend([&end - &Int::ONE, end.clone()].map(|n| of.like(n)));
        let others = [
            -&end,
            -(&end + &Int::ONE),
            &end + &Int::ONE,
            -(&end - &Int::ONE),
        ];
        rest.extend(others.map(|n| of.like(n)));
    }
    for digits in 1..=DIGITS {
        let power = ten_to(digits);
        let kind = if digits <= COMMON_DIGITS {
            &mut first
        } else {
            &mut rest
        };
        kind.push(of.like(power.clone()));
        let others = [&power - &Int::ONE, &power + &Int::ONE, -&power];
        rest.extend(others.map(|n| of.like(n)));
    }
    if let Sort::Decimal(scale) = sort {
        // Amounts without a fraction.
        let one = ten_to(*scale);
        for whole in [-1, 1, 10, 100, 1_000] {
            first.push(of.like(&one * &Int::from(whole)));
        }
    }
    (first, rest)
}

impl Sampler {
    /// A value of a part that was not tried yet, now and then.
    pub(super) fn untried(&mut self, part: &Part, sort: &Sort) -> Option<Value> {
        let leaf = matches!(
            sort,
            Sort::Int | Sort::Range(_) | Sort::Decimal(_) | Sort::String
        );
        if self.strategy != super::Strategy::Mixed || !leaf {
            return None;
        }
        if !self.agenda.parts.contains_key(part) {
            let open = OpenValues::new(sort, &self.candidates, &mut self.rng);
            self.agenda.parts.insert(part.clone(), open);
        }
        let alone = self.agenda.parts.len() == 1;
        let open = self.agenda.parts.get_mut(part)?;
        if open.values.is_empty() {
            return None;
        }
        let share = match (open.values.len() > open.rest, alone) {
            (true, true) => FIRST_ALONE,
            (true, false) => FIRST,
            (false, _) => REST,
        };
        if self.rng.random_range(0..100) >= share {
            return None;
        }
        let at = self.rng.random_range(open.next()..open.values.len());
        let value = open.values[at].0.clone();
        open.drawn(at);
        Some(value)
    }

    /// The guard did not allow a value that was to be tried.
    pub(super) fn refuse_untried(&mut self, part: &Part, value: &Value) {
        let Some(open) = self.agenda.parts.get_mut(part) else {
            return;
        };
        if let Some(i) = open.find(value) {
            open.refused(i);
        }
    }
}

impl Agenda {
    /// These values were really used.
    pub(super) fn strike_out(&mut self, row: &[Value]) {
        for (part, open) in &mut self.parts {
            if let Some(value) = part.value(row)
                && let Some(i) = open.find(value)
            {
                open.remove(i);
            }
        }
    }
}
