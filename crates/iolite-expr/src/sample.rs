//! Diverse models: boundaries, small, large and random values, and the user's own, seeded.
//!
//! A solver left alone gives the same model over and over. A [`Sampler`] steers it: for each
//! variable in turn it wishes for a value and keeps the wish when the rest can still be satisfied.
//! It works through the port alone, so it does with every backend what it does with one.

use std::collections::{BTreeMap, VecDeque};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::solver::{Answer, Model, Solver};
use crate::term::Op;
use crate::{Int, Sort, Span, Term, Value, Var, VarId};

/// What values to wish for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// The least and greatest possible values, and their neighbours.
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

/// Draws models of what a solver has asserted.
#[derive(Clone, Debug)]
pub struct Sampler {
    rng: Xoshiro256PlusPlus,
    strategy: Strategy,
    pools: BTreeMap<VarId, Vec<Value>>,
    recent: VecDeque<Vec<Value>>,
}

/// Models that are not drawn again as long as there are others.
const MEMORY: usize = 12;
/// How deep into arrays and records wishes go.
const MAX_DEPTH: u32 = 3;

impl Sampler {
    /// A sampler; the same seed gives the same models for the same queries.
    pub fn new(seed: u64, strategy: Strategy) -> Self {
        Self {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            strategy,
            pools: BTreeMap::new(),
            recent: VecDeque::new(),
        }
    }

    /// Values to prefer for a variable. A value that is given twice is drawn twice as often.
    pub fn set_pool(&mut self, var: VarId, values: Vec<Value>) {
        self.pools.insert(var, values);
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
        // Something new, if there is anything new.
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
        if let Answer::Sat(m) = solver.check_with(&news) {
            model = m;
            solver.assert(&news);
        }
        let mut order: Vec<usize> = (0..vars.len()).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, self.rng.random_range(0..=i));
        }
        for i in order {
            let var = &vars[i];
            let pool = self.pools.get(&var.id).cloned().unwrap_or_default();
            if !pool.is_empty() && self.rng.random_range(0..4) > 0 {
                let start = self.rng.random_range(0..pool.len());
                let hit = (0..pool.len()).any(|k| {
                    let value = &pool[(start + k) % pool.len()];
                    match var.term().equals_value(value) {
                        Ok(wish) if var.sort.contains(value) => grant(solver, &wish, &mut model),
                        _ => false,
                    }
                });
                if hit {
                    continue;
                }
            }
            self.wish(solver, &var.term(), &mut model, 0);
        }
        Answer::Sat(model)
    }

    fn wish(&mut self, solver: &mut Solver, term: &Term, model: &mut Model, depth: u32) {
        let strategy = match self.strategy {
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
                let length = Term::int_app(Op::StrLen, vec![term.clone()]);
                self.wish_length(solver, &length, model, strategy);
                // A first letter by lot: words of one length are otherwise alike.
                let letters = b"abcdefghijklmnopqrstuvwxyzABCXYZ0123456789 _-";
                let c = char::from(letters[self.rng.random_range(0..letters.len())]);
                let wish = Term::bool_app(
                    Op::Prefix,
                    vec![c.to_string().as_str().into(), term.clone()],
                );
                grant(solver, &wish, model);
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
                            self.wish(solver, &item, model, depth + 1);
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
                            self.wish(solver, &field, model, depth + 1);
                        }
                    }
                }
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
                let up = self.rng.random_bool(0.5);
                let Some(end) = extreme(solver, term, model, up) else {
                    return self.wish_int(solver, term, model, Strategy::Small);
                };
                let inward = Int::from(self.rng.random_range(0..2i64));
                if up { end - inward } else { end + inward }
            }
            Strategy::Small => self.rng.random_range(-3..=3i64).into(),
            Strategy::Large => {
                let bits = self.rng.random_range(10..40u32);
                let size = self.rng.random_range(1i64 << (bits - 1)..1 << bits);
                Int::from(if self.rng.random_bool(0.5) {
                    size
                } else {
                    -size
                })
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
