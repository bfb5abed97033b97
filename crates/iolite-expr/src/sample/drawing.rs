//! A row of diverse values that a guard holds for, drawn by evaluation alone.

use std::collections::BTreeMap;

use rand::RngExt;

use super::guard_profile::{Conjunct, GuardProfile};
use super::local_search::Row;
use super::part::Part;
use super::{PAIR, PairCover, ROW_AGAIN, Sampler, Strategy, VALUE_AGAIN};
use crate::eval::Env;
use crate::{Int, Sort, SumSort, Value};

/// What came of drawing without a solver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// Values for which the guard holds.
    Row(Vec<Value>),
    /// The same, but one of the values has been as it is for long: a solver may find another one.
    Standing(Vec<Value>),
    /// There are none: each of the few rows was tried, or the guard is false whatever the variables are.
    Impossible,
    /// None were found; a solver may find some.
    NotFound,
}

/// Rows that are tried one by one.
const FEW: u64 = 64;
/// Changes that make room for a wish.
const ROOM: usize = 4;
/// How often all variables are changed before a row that was drawn of late is drawn again.
const ROUNDS: usize = 4;
/// Proposals for one part.
const PROPOSALS: usize = 3;
/// How often a part may come out as it was before a solver is asked for another value.
const PATIENCE: u32 = 8;
/// Draws after which it is asked again at the latest.
const LONGEST_PAUSE: u32 = 4096;
/// How deep into a value wishes go.
const MAX_DEPTH: u32 = 4;

/// Parts that do not change, and when a solver was asked for other values of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Standstill {
    /// For how many draws each part has been as it is.
    draws: BTreeMap<Part, u32>,
    /// Draws before a solver is asked again.
    pause: u32,
    /// How long the last such pause was.
    last: u32,
}

impl Standstill {
    /// A row was drawn; whether a solver should look for another one. That is asked more and more
    /// seldom: what does not move then is what the guard fixes.
    fn asks(&mut self, still: impl Iterator<Item = (Part, bool)>) -> bool {
        let mut long = false;
        for (part, same) in still {
            let draws = self.draws.entry(part).or_default();
            *draws = if same { *draws + 1 } else { 0 };
            long |= *draws >= PATIENCE;
        }
        self.pause = self.pause.saturating_sub(1);
        if !long || self.pause > 0 {
            return false;
        }
        self.last = (2 * self.last).clamp(2 * PATIENCE, LONGEST_PAUSE);
        self.pause = self.last;
        self.draws.values_mut().for_each(|n| *n = 0);
        true
    }
}

impl Sampler {
    /// Diverse values for the variables of a guard; `below` has values for what else it reads. Where
    /// the user says how values are drawn, none are found here.
    pub fn draw(&mut self, profile: &GuardProfile, below: &dyn Env) -> Drawn {
        let vars = &profile.vars;
        if vars.iter().any(|v| self.distributions.contains_key(&v.id)) {
            return Drawn::NotFound;
        }
        for Conjunct { term, parts, .. } in &profile.conjuncts {
            if parts.is_empty() {
                match term.eval_bool(&Below(below)) {
                    Ok(true) => {}
                    Ok(false) => return Drawn::Impossible,
                    Err(_) => return Drawn::NotFound,
                }
            }
        }
        if vars.is_empty() {
            return Drawn::Row(Vec::new());
        }
        let drawn = match few_rows(profile) {
            Some(rows) => self.one_of(profile, below, rows),
            None => self.search(profile, below),
        };
        if let Drawn::Row(row) | Drawn::Standing(row) = &drawn {
            self.memory.draw(row.clone());
        }
        drawn
    }

    /// One of all rows there are, mostly one that was not drawn of late.
    fn one_of(&mut self, profile: &GuardProfile, below: &dyn Env, rows: Vec<Vec<Value>>) -> Drawn {
        let mut allowed: Vec<Vec<Value>> = Vec::new();
        for values in rows {
            let row = Row::new(profile, below, values);
            if row.is_allowed() {
                allowed.push(row.values);
            } else if row.is_unclear() {
                return Drawn::NotFound;
            }
        }
        if allowed.is_empty() {
            return Drawn::Impossible;
        }
        if let Some(row) = self.row_again(|row| allowed.iter().any(|a| a == row)) {
            return Drawn::Row(row);
        }
        let recent: Vec<&Vec<Value>> = self.memory.recent().collect();
        let fresh: Vec<&Vec<Value>> = allowed.iter().filter(|r| !recent.contains(r)).collect();
        let among = if fresh.is_empty() {
            allowed.iter().collect()
        } else {
            fresh
        };
        Drawn::Row(among[self.rng.random_range(0..among.len())].clone())
    }

    /// A row that was used before, now and then.
    fn row_again(&mut self, is_allowed: impl Fn(&[Value]) -> bool) -> Option<Vec<Value>> {
        if !self.memory.has_used() || self.rng.random_range(0..ROW_AGAIN) > 0 {
            return None;
        }
        let row = self.memory.used_row(&mut self.rng)?;
        is_allowed(row).then(|| row.to_vec())
    }

    fn search(&mut self, profile: &GuardProfile, below: &dyn Env) -> Drawn {
        let vars = &profile.vars;
        let again = self.row_again(|row| {
            let fits = vars.iter().zip(row).all(|(v, x)| v.sort.contains(x));
            let whole = row.len() == vars.len() && fits;
            whole && Row::new(profile, below, row.to_vec()).is_allowed()
        });
        if let Some(row) = again {
            return Drawn::Row(row);
        }
        let Some(mut row) = self.any_row(profile, below) else {
            return Drawn::NotFound;
        };
        let mut granted = Vec::new();
        self.pair(&mut row, &mut granted);
        let mut order: Vec<usize> = (0..vars.len()).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, self.rng.random_range(0..=i));
        }
        order.retain(|&i| !granted.contains(&Part::whole(i)));
        let last = self.memory.recent().next().cloned();
        self.agenda.taken = false;
        for _ in 0..ROUNDS {
            for &i in &order {
                if !self.again(&mut row, i, &mut granted) {
                    let sort = vars[i].sort.clone();
                    self.change(&mut row, &Part::whole(i), &sort, &mut granted, 0);
                }
            }
            // What is to be tried was drawn of late where another input was taken then.
            if self.agenda.taken || self.memory.recent().all(|old| *old != row.values) {
                break;
            }
            granted.clear();
        }
        if self.stands_still(&row, last.as_deref()) {
            return Drawn::Standing(row.values);
        }
        Drawn::Row(row.values)
    }

    /// Two values, now and then, that were not used together yet.
    fn pair(&mut self, row: &mut Row<'_>, granted: &mut Vec<Part>) {
        let vars = &row.profile.vars;
        if vars.len() < 2 || self.strategy != Strategy::Mixed {
            return;
        }
        let candidates = &self.candidates;
        let pairs = self
            .pairs
            .get_or_insert_with(|| PairCover::new(vars, candidates));
        if self.rng.random_range(0..PAIR) > 0 {
            return;
        }
        let Some((one, other)) = pairs.uncovered(&mut self.rng) else {
            return;
        };
        let (a, b) = (pairs.value(one).clone(), pairs.value(other).clone());
        let before = row.values.clone();
        let mut both = vec![Part::whole(one.0), Part::whole(other.0)];
        let put = row.put(&both[0], a).is_some() && row.put(&both[1], b).is_some();
        if !put || !row.is_allowed() && !self.repair(row, &both, ROOM) {
            row.restore(before);
            if let Some(pairs) = &mut self.pairs {
                pairs.fail((one, other));
            }
            return;
        }
        granted.append(&mut both);
        let mut cells = vec![one, other];
        for column in (0..row.values.len()).filter(|&c| c != one.0 && c != other.0) {
            let Some(pairs) = &self.pairs else {
                return;
            };
            if let Some(cell) = pairs.best(column, &cells)
                && row.try_put(&Part::whole(column), pairs.value(cell).clone())
            {
                cells.push(cell);
                granted.push(Part::whole(column));
            }
        }
    }

    /// A value that was met before, now and then.
    fn again(&mut self, row: &mut Row<'_>, column: usize, granted: &mut Vec<Part>) -> bool {
        let sort = &row.profile.vars[column].sort;
        if matches!(sort, Sort::Bool | Sort::Enum(_)) {
            return false;
        }
        let fitting = self.memory.met(sort);
        if fitting.is_empty() || self.rng.random_range(0..VALUE_AGAIN) > 0 {
            return false;
        }
        let value = fitting[self.rng.random_range(0..fitting.len())].clone();
        self.wish_for(row, &Part::whole(column), value, granted)
    }

    /// Puts a value there if the guard can hold then, perhaps with other values elsewhere.
    fn wish_for(
        &mut self,
        row: &mut Row<'_>,
        part: &Part,
        value: Value,
        granted: &mut Vec<Part>,
    ) -> bool {
        if row.try_put(part, value.clone()) {
            granted.push(part.clone());
            return true;
        }
        let before = row.values.clone();
        if row.put(part, value).is_none() {
            return false;
        }
        granted.push(part.clone());
        if self.repair(row, granted, ROOM) {
            return true;
        }
        granted.pop();
        row.restore(before);
        false
    }

    /// Wishes for other values of a part, by its sort.
    fn change(
        &mut self,
        row: &mut Row<'_>,
        part: &Part,
        sort: &Sort,
        granted: &mut Vec<Part>,
        depth: u32,
    ) {
        match sort {
            Sort::Record(r) if depth < MAX_DEPTH => {
                for (i, (_, sort)) in r.fields.iter().enumerate() {
                    self.change(row, &part.field(i as u32), sort, granted, depth + 1);
                }
            }
            Sort::Sum(s) if depth < MAX_DEPTH => self.change_sum(row, part, s, granted, depth),
            _ => {
                if let Some(value) = self.untried(part, sort) {
                    if self.wish_for(row, part, value.clone(), granted) {
                        self.agenda.taken = true;
                        return;
                    }
                    self.refuse_untried(part, &value);
                }
                let mut refused = None;
                for _ in 0..PROPOSALS {
                    let strategy = self.settled(sort, self.strategy);
                    let Some(value) = self.proposal(row, part, sort, strategy, depth) else {
                        return;
                    };
                    if self.wish_for(row, part, value.clone(), granted) {
                        return;
                    }
                    // Many guards have a side of zero.
                    if let Value::Int(n) = &value
                        && self.wish_for(row, part, Value::Int(-n), granted)
                    {
                        return;
                    }
                    refused = Some(value);
                }
                if let Some(value) = refused {
                    self.near_value(row, part, &value, granted);
                }
            }
        }
    }

    fn change_sum(
        &mut self,
        row: &mut Row<'_>,
        part: &Part,
        sum: &SumSort,
        granted: &mut Vec<Part>,
        depth: u32,
    ) {
        let wanted = self.rng.random_range(0..sum.variants().len()) as u32;
        let now = |row: &Row<'_>| match part.value(&row.values) {
            Some(Value::Sum(value)) => Some(value.variant()),
            _ => None,
        };
        if now(row) != Some(wanted) {
            let Some(value) = self.variant(row, part, sum, wanted, depth) else {
                return;
            };
            // Its fields may still change.
            if self.wish_for(row, part, value, granted) {
                granted.pop();
            }
        }
        let Some(variant) = now(row) else {
            return;
        };
        for (i, sort) in sum.field_sorts(variant).iter().enumerate() {
            let field = part.get(variant, i as u32);
            self.change(row, &field, sort, granted, depth + 1);
        }
    }

    /// Where a number cannot be had, the nearest of those where comparisons change.
    fn near_value(
        &mut self,
        row: &mut Row<'_>,
        part: &Part,
        value: &Value,
        granted: &mut Vec<Part>,
    ) {
        let Some(wanted) = value.number() else {
            return;
        };
        let mut points: Vec<Int> = Vec::new();
        for atom in row.profile.atoms_of(part) {
            let turns = row.turning_points(atom, part, &mut |n| self.rng.random_range(0..n));
            points.extend(turns.iter().filter_map(Value::number).cloned());
        }
        points.sort_by_key(|p| (p - wanted).abs());
        points.dedup();
        points.truncate(ROOM);
        for point in points {
            if row.try_put(part, value.like(point)) {
                granted.push(part.clone());
                return;
            }
        }
    }

    /// Whether a part has not changed for so long that a solver should look for another value.
    fn stands_still(&mut self, row: &Row<'_>, last: Option<&[Value]>) -> bool {
        let Some(last) = last else {
            return false;
        };
        let mut leaves = Vec::new();
        for (i, v) in row.profile.vars.iter().enumerate() {
            leaves_of(&Part::whole(i), &v.sort, &row.values[i], &mut leaves);
        }
        let still = leaves.into_iter().map(|leaf| {
            let same = leaf.value(&row.values) == leaf.value(last);
            (leaf, same)
        });
        self.standstill.asks(still)
    }
}

struct Below<'a>(&'a dyn Env);

impl Env for Below<'_> {
    fn get(&self, var: crate::VarId) -> Option<&Value> {
        self.0.get(var)
    }
}

/// The parts of a value that have many values.
fn leaves_of(part: &Part, sort: &Sort, value: &Value, leaves: &mut Vec<Part>) {
    match (sort, value) {
        (Sort::Record(r), Value::Record(_, items)) => {
            for (i, ((_, sort), value)) in r.fields.iter().zip(items.iter()).enumerate() {
                leaves_of(&part.field(i as u32), sort, value, leaves);
            }
        }
        (Sort::Int | Sort::Range(_) | Sort::Decimal(_) | Sort::String, _) => {
            leaves.push(part.clone());
        }
        _ => {}
    }
}

/// All rows, where they are few.
fn few_rows(profile: &GuardProfile) -> Option<Vec<Vec<Value>>> {
    let mut rows = vec![Vec::new()];
    for v in &profile.vars {
        let column = v.sort.values(FEW / rows.len() as u64)?;
        rows = rows
            .iter()
            .flat_map(|row: &Vec<Value>| {
                column.iter().map(|x| {
                    let mut row = row.clone();
                    row.push(x.clone());
                    row
                })
            })
            .collect();
    }
    Some(rows)
}
