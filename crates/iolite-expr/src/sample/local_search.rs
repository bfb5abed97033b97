//! Rows of values that a guard holds for, found by trying and evaluating: no solver is asked.
//!
//! A row that makes a conjunct false is changed in one of the parts that the conjunct reads, towards
//! what the conjunct compares it with. What is found is right, because it was evaluated; that nothing
//! is found says nothing.

use std::cell::Cell;

use rand::RngExt;

use super::Sampler;
use super::guard_profile::{Aim, Atom, GuardProfile};
use super::part::Part;
use crate::eval::{Env, Fault};
use crate::{Int, Term, Value, Var, VarId};

/// Changes before a search for any row gives up.
const CHANGES: usize = 60;
/// Values that one change is chosen among.
const CHOICES: usize = 6;

/// Evaluations without an end, each of which takes its time, before nothing is tried any more.
const MOST_ENDLESS: u32 = 3;

/// A row of values for the variables of a guard, over values of what else it reads.
pub(super) struct Row<'a> {
    pub(super) profile: &'a GuardProfile,
    pub(super) below: &'a dyn Env,
    pub(super) values: Vec<Value>,
    /// Which conjuncts hold.
    holds: Vec<bool>,
    /// Evaluations that did not end.
    endless: Cell<u32>,
}

/// The values of a row while something is evaluated.
struct RowEnv<'a> {
    vars: &'a [Var],
    values: &'a [Value],
    bound: &'a [(VarId, Value)],
    below: &'a dyn Env,
}

impl Env for RowEnv<'_> {
    fn get(&self, var: VarId) -> Option<&Value> {
        if let Some((_, value)) = self.bound.iter().find(|(id, _)| *id == var) {
            return Some(value);
        }
        // Parameters are mostly numbered by position.
        let at = var.index();
        if self.vars.get(at).is_some_and(|v| v.id == var) {
            return self.values.get(at);
        }
        match self.vars.iter().position(|v| v.id == var) {
            Some(at) => self.values.get(at),
            None => self.below.get(var),
        }
    }
}

impl<'a> Row<'a> {
    /// The row, with what of the guard it makes true.
    pub(super) fn new(profile: &'a GuardProfile, below: &'a dyn Env, values: Vec<Value>) -> Self {
        let mut row = Self {
            profile,
            below,
            values,
            holds: Vec::new(),
            endless: Cell::new(0),
        };
        row.judge();
        row
    }

    /// Goes back to other values.
    pub(super) fn restore(&mut self, values: Vec<Value>) {
        self.values = values;
        self.judge();
    }

    /// Finds out which conjuncts hold.
    fn judge(&mut self) {
        let conjuncts = self.profile.conjuncts.iter();
        self.holds = conjuncts.map(|c| self.is_true(&c.term)).collect();
    }

    fn env<'b>(&'b self, bound: &'b [(VarId, Value)]) -> RowEnv<'b> {
        RowEnv {
            vars: &self.profile.vars,
            values: &self.values,
            bound,
            below: self.below,
        }
    }

    fn is_true(&self, term: &Term) -> bool {
        if self.endless.get() >= MOST_ENDLESS {
            return false;
        }
        let value = term.eval_bool(&self.env(&[]));
        if let Err(error) = &value
            && matches!(error.fault, Fault::OutOfFuel(_))
        {
            self.endless.set(self.endless.get() + 1);
        }
        value == Ok(true)
    }

    /// Whether the guard holds.
    pub(super) fn is_allowed(&self) -> bool {
        self.holds.iter().all(|h| *h)
    }

    /// Whether a conjunct has no value for the row.
    pub(super) fn is_unclear(&self) -> bool {
        let mut conjuncts = self.profile.conjuncts.iter();
        conjuncts.any(|c| c.term.eval_bool(&self.env(&[])).is_err())
    }

    /// Puts a value there; what it was before, with what was true then, or `None` where it does not fit.
    pub(super) fn put(&mut self, part: &Part, value: Value) -> Option<(Value, Vec<bool>)> {
        let new = part.replaced(&self.profile.vars, &self.values, value)?;
        let before = std::mem::replace(&mut self.values[part.column], new);
        let held = self.holds.clone();
        for (i, c) in self.profile.conjuncts.iter().enumerate() {
            if c.parts.iter().any(|p| p.overlaps(part)) {
                self.holds[i] = self.is_true(&c.term);
            }
        }
        Some((before, held))
    }

    /// Takes back what [`Row::put`] did.
    fn undo(&mut self, part: &Part, (before, held): (Value, Vec<bool>)) {
        self.values[part.column] = before;
        self.holds = held;
    }

    /// Puts a value there if the guard holds then.
    pub(super) fn try_put(&mut self, part: &Part, value: Value) -> bool {
        if part.value(&self.values) == Some(&value) {
            return self.is_allowed();
        }
        match self.put(part, value) {
            Some(_) if self.is_allowed() => true,
            Some(before) => {
                self.undo(part, before);
                false
            }
            None => false,
        }
    }

    fn failing(&self) -> usize {
        self.holds.iter().filter(|h| !**h).count()
    }

    fn integer(&self, term: &Term, bound: &[(VarId, Value)]) -> Option<Int> {
        match term.eval(&self.env(bound)) {
            Ok(Value::Int(n)) => Some(n),
            _ => None,
        }
    }

    /// Elements for the variables of an atom's quantifiers, any of their arrays.
    fn bound(&self, atom: &Atom, pick: &mut dyn FnMut(usize) -> usize) -> Vec<(VarId, Value)> {
        let mut bound: Vec<(VarId, Value)> = Vec::new();
        for (x, array) in &atom.binders {
            if let Some(item) = self.element(array, &bound, pick) {
                bound.push((x.id, item));
            }
        }
        bound
    }

    /// Any element of an array or a set, or key of a map.
    pub(super) fn element(
        &self,
        of: &Term,
        bound: &[(VarId, Value)],
        pick: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Value> {
        match of.eval(&self.env(bound)).ok()? {
            Value::Array(items) if !items.is_empty() => Some(items[pick(items.len())].clone()),
            Value::Set(items) if !items.is_empty() => Some(items[pick(items.len())].clone()),
            Value::Map(pairs) if !pairs.is_empty() => Some(pairs[pick(pairs.len())].0.clone()),
            _ => None,
        }
    }

    /// The value of a part with which `left - right` is about `apart`, as far as it depends on the part
    /// like a line.
    fn aimed(
        &self,
        (left, right): (&Term, &Term),
        bound: &[(VarId, Value)],
        part: &Part,
        apart: &Int,
    ) -> Option<Value> {
        let value = part.value(&self.values)?;
        let now = value.number()?.clone();
        let here = self.integer(left, bound)? - self.integer(right, bound)?;
        let beside = |by: i64| -> Option<Int> {
            let new = value.like(&now + &Int::from(by));
            let whole = part.replaced(&self.profile.vars, &self.values, new)?;
            let mut values = self.values.clone();
            values[part.column] = whole;
            let moved = Self {
                values,
                holds: Vec::new(),
                endless: self.endless.clone(),
                ..*self
            };
            let there = moved.integer(left, bound)? - moved.integer(right, bound)?;
            Some((there - here.clone()) * Int::from(by))
        };
        let slope = beside(1).or_else(|| beside(-1))?;
        let way = apart - &here;
        Some(value.like(match slope.signum() {
            0 => return None,
            1 => now + way.div_floor(&slope),
            _ => now - way.div_floor(&-slope),
        }))
    }

    /// Values of a part where what an atom says changes.
    pub(super) fn turning_points(
        &self,
        atom: &Atom,
        part: &Part,
        pick: &mut dyn FnMut(usize) -> usize,
    ) -> Vec<Value> {
        let bound = self.bound(atom, pick);
        match &atom.aim {
            Aim::Numbers(left, right) => [0, 1, -1i64]
                .into_iter()
                .filter_map(|apart| self.aimed((left, right), &bound, part, &apart.into()))
                .collect(),
            Aim::Equal(p, other) if p == part => {
                other.eval(&self.env(&bound)).into_iter().collect()
            }
            Aim::Member(p, of) if p == part => self.element(of, &bound, pick).into_iter().collect(),
            _ => Vec::new(),
        }
    }
}

impl Sampler {
    /// Changes a row until the guard holds; parts that are frozen stay as they are.
    pub(super) fn repair(&mut self, row: &mut Row<'_>, frozen: &[Part], most: usize) -> bool {
        let profile = row.profile;
        for _ in 0..most {
            let open: Vec<usize> = (0..row.holds.len()).filter(|&i| !row.holds[i]).collect();
            if open.is_empty() {
                return true;
            }
            let conjunct = open[self.rng.random_range(0..open.len())];
            let atoms = &profile.conjuncts[conjunct].atoms;
            if atoms.is_empty() {
                // Nothing that could be changed makes it true.
                return false;
            }
            let atom = &atoms[self.rng.random_range(0..atoms.len())];
            let part = atom.parts[self.rng.random_range(0..atom.parts.len())].clone();
            if frozen.iter().any(|f| f.overlaps(&part)) {
                continue;
            }
            let before = row.failing();
            let mut best: Option<(bool, usize, Value)> = None;
            for value in self.towards(row, atom, &part) {
                let Some(undo) = row.put(&part, value.clone()) else {
                    continue;
                };
                let (holds, failing) = (row.holds[conjunct], row.failing());
                row.undo(&part, undo);
                if best
                    .as_ref()
                    .is_none_or(|(h, f, _)| (!holds, failing) < (!*h, *f))
                {
                    best = Some((holds, failing, value));
                }
                if failing == 0 {
                    break;
                }
            }
            if let Some((holds, failing, value)) = best
                && (failing <= before || holds && self.rng.random_range(0..4) == 0)
            {
                row.put(&part, value);
            }
        }
        row.is_allowed()
    }

    /// Values of a part that may make a conjunct true in which an atom stands.
    fn towards(&mut self, row: &Row<'_>, atom: &Atom, part: &Part) -> Vec<Value> {
        let mut values = row.turning_points(atom, part, &mut |n| self.rng.random_range(0..n));
        match &atom.aim {
            Aim::Variant(p, variant) if p == part => {
                if let Some(Value::Sum(now)) = part.value(&row.values) {
                    let (sort, variant) = (now.sort().clone(), *variant);
                    values.extend(self.variant(row, part, &sort, variant, 0));
                }
            }
            Aim::Numbers(left, right) => {
                // Further away, on either side.
                let far = Int::from(self.rng.random_range(2..1_000i64));
                let bound = row.bound(atom, &mut |n| self.rng.random_range(0..n));
                for apart in [far.clone(), -far] {
                    values.extend(row.aimed((left, right), &bound, part, &apart));
                }
            }
            _ => {}
        }
        if let Some(sort) = part.sort(&row.profile.vars) {
            while values.len() < CHOICES {
                let strategy = self.settled(&sort, self.strategy);
                match self.proposal(row, part, &sort, strategy, 0) {
                    Some(value) => values.push(value),
                    None => break,
                }
            }
        }
        values
    }

    /// Any row for which the guard holds: one that was drawn of late, or else one that is searched for.
    pub(super) fn any_row<'a>(
        &mut self,
        profile: &'a GuardProfile,
        below: &'a dyn Env,
    ) -> Option<Row<'a>> {
        let vars = &profile.vars;
        let fits = |row: &Vec<Value>| {
            row.len() == vars.len() && vars.iter().zip(row).all(|(v, x)| v.sort.contains(x))
        };
        let recent: Vec<Vec<Value>> = self.memory.recent().filter(|r| fits(r)).cloned().collect();
        let mut nearest: Option<Row<'a>> = None;
        for values in recent.into_iter().take(3) {
            let row = Row::new(profile, below, values);
            if row.is_allowed() {
                return Some(row);
            }
            if nearest.as_ref().is_none_or(|n| row.failing() < n.failing()) {
                nearest = Some(row);
            }
        }
        let mut row = nearest.unwrap_or_else(|| {
            let values = vars.iter().map(|v| v.sort.default_value()).collect();
            Row::new(profile, below, values)
        });
        self.repair(&mut row, &[], CHANGES).then_some(row)
    }
}
