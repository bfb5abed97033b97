//! Diverse models: boundaries, small, large and random values, and the user's own, seeded.
//!
//! A solver left alone gives the same model over and over. A [`Sampler`] wishes for a value for each
//! variable in turn and keeps the wish when the rest can still be satisfied. It tries by evaluation
//! first (`drawing.rs`): most guards are met by a value or two that is aimed at what they compare, and
//! no solver is asked. Else wishes go through the port alone, so it does with every backend what it does
//! with one.

mod agenda;
mod candidates;
mod comparisons;
mod distribution;
mod drawing;
mod extreme;
mod guard_profile;
mod local_search;
mod neighbours;
mod numbers;
mod pair_cover;
mod part;
mod proposal;
mod run_memory;
mod strategy;
mod wish;

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::solver::{Answer, Model, Solver};
use crate::term::Op;
use crate::{Int, Sort, Term, Value, Var, VarId};

use agenda::Agenda;
pub use candidates::CandidateValues;
use comparisons::Comparisons;
pub use distribution::{Distribution, Draw};
pub use drawing::Drawn;
use drawing::Standstill;
pub use guard_profile::GuardProfile;
pub use pair_cover::PairCover;
use part::Part;
use run_memory::RunMemory;
pub use strategy::Strategy;

/// Draws models of what a solver has asserted.
#[derive(Clone, Debug)]
pub struct Sampler {
    rng: Xoshiro256PlusPlus,
    strategy: Strategy,
    distributions: BTreeMap<VarId, Distribution>,
    memory: RunMemory,
    candidates: Arc<CandidateValues>,
    /// Which pairs of candidate values were used, once the variables are known.
    pairs: Option<PairCover>,
    /// What may matter and was not tried yet.
    agenda: Agenda,
    /// What the query at hand compares.
    comparisons: Comparisons,
    /// Parts that did not change of late.
    standstill: Standstill,
    /// The query that was asked last, taken apart.
    profile: Option<(Vec<Term>, Arc<GuardProfile>)>,
}

/// One draw of so many is a row that was used before; half of these are the latest. Faults of
/// duplicates, idempotence and caches need the same values twice.
const ROW_AGAIN: u32 = 8;
/// One variable of so many gets a value that was met before.
const VALUE_AGAIN: u32 = 6;
/// One draw of so many begins with two candidate values that were not used together yet.
const PAIR: u32 = 6;

impl Sampler {
    /// A sampler; the same seed gives the same models for the same queries.
    pub fn new(seed: u64, strategy: Strategy) -> Self {
        Self::with_candidates(seed, strategy, Arc::default())
    }

    /// The same with values that may matter.
    pub fn with_candidates(
        seed: u64,
        strategy: Strategy,
        candidates: Arc<CandidateValues>,
    ) -> Self {
        Self {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            strategy,
            distributions: BTreeMap::new(),
            memory: RunMemory::default(),
            candidates,
            pairs: None,
            agenda: Agenda::default(),
            comparisons: Comparisons::default(),
            standstill: Standstill::default(),
            profile: None,
        }
    }

    /// How the values of a variable are drawn, as far as the query allows.
    pub fn set_distribution(&mut self, var: VarId, distribution: Distribution) {
        self.distributions.insert(var, distribution);
    }

    /// A value was met in the run at hand: it was sent, or seen in an output. Some draws take it
    /// again.
    pub fn meet(&mut self, value: &Value) {
        self.memory.meet(value);
    }

    /// These values of the variables were really used, all together.
    pub fn use_row(&mut self, row: &[Value]) {
        self.memory.use_row(row);
        self.agenda.strike_out(row);
        if let Some(pairs) = &mut self.pairs {
            pairs.cover(row);
        }
    }

    /// A model of the solver's assertions with diverse values for `vars`. The solver's stack is
    /// as before afterwards.
    pub fn sample(&mut self, solver: &mut Solver, vars: &[Var]) -> Answer {
        match self.by_evaluation(solver, vars) {
            Some(Drawn::Row(row)) => Answer::Sat(model_of(vars, row)),
            Some(Drawn::Standing(row)) => match self.ask(solver, vars) {
                Answer::Sat(model) => Answer::Sat(model),
                _ => Answer::Sat(model_of(vars, row)),
            },
            Some(Drawn::Impossible) => Answer::Unsat,
            Some(Drawn::NotFound) | None => self.ask(solver, vars),
        }
    }

    /// What comes of drawing without a solver; `None` where the query is about more than `vars`.
    fn by_evaluation(&mut self, solver: &Solver, vars: &[Var]) -> Option<Drawn> {
        let query: Vec<Term> = solver.originals().cloned().collect();
        let profile = match &self.profile {
            Some((known, profile)) if *known == query && profile.vars == vars => profile.clone(),
            _ => {
                let profile = Arc::new(GuardProfile::of_all(query.iter(), vars));
                self.profile = Some((query, profile.clone()));
                profile
            }
        };
        if !profile.others().is_empty() {
            return None;
        }
        Some(self.draw(&profile, &Model::default()))
    }

    /// The same by wishes that the solver grants or refuses.
    pub fn ask(&mut self, solver: &mut Solver, vars: &[Var]) -> Answer {
        solver.push();
        for v in vars {
            solver.declare(v);
        }
        let answer = self.drawn(solver, vars);
        solver.pop();
        if let Answer::Sat(model) = &answer {
            let row = vars.iter().filter_map(|v| model.value(v.id).cloned());
            self.memory.draw(row.collect());
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
        self.comparisons = Comparisons::of(solver);
        let wanted = vars.iter().any(|v| self.distributions.contains_key(&v.id));
        if !wanted && self.used_again(solver, vars, &mut model) {
            return Answer::Sat(model);
        }
        // Something new, if there is anything new. Where the user says what is drawn, that counts, and
        // a short list of values comes again and again.
        let news = self.memory.news(vars);
        if !wanted && let Answer::Sat(m) = solver.check_with(&news) {
            model = m;
            solver.assert(&news);
        }
        let mut order: Vec<usize> = (0..vars.len()).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, self.rng.random_range(0..=i));
        }
        if !wanted {
            let paired = self.paired(solver, vars, &mut model);
            order.retain(|i| !paired.contains(i));
        }
        for i in order {
            let var = &vars[i];
            if self.drawn_as_wanted(solver, var, &mut model)
                || self.met_again(solver, var, &mut model)
                || self.tried_first(solver, i, var, &mut model)
            {
                continue;
            }
            self.wish(solver, &var.term(), &mut model, self.strategy, 0);
        }
        Answer::Sat(model)
    }

    /// A row that was used before, now and then; false where none is possible.
    fn used_again(&mut self, solver: &mut Solver, vars: &[Var], model: &mut Model) -> bool {
        if !self.memory.has_used() || self.rng.random_range(0..ROW_AGAIN) > 0 {
            return false;
        }
        let Some(row) = self.memory.used_row(&mut self.rng) else {
            return false;
        };
        if row.len() != vars.len() || !vars.iter().zip(row).all(|(v, x)| v.sort.contains(x)) {
            return false;
        }
        let same = vars.iter().zip(row).map(|(v, x)| v.term().equals_value(x));
        match same.collect::<Result<Vec<_>, _>>() {
            Ok(same) => grant(solver, &Term::all(same), model),
            Err(_) => false,
        }
    }

    /// Two values, now and then, that were not used together yet, and others that fit to them: the
    /// positions of the variables that have their values then.
    fn paired(&mut self, solver: &mut Solver, vars: &[Var], model: &mut Model) -> Vec<usize> {
        if vars.len() < 2 || self.strategy != Strategy::Mixed {
            return Vec::new();
        }
        let candidates = &self.candidates;
        let pairs = self
            .pairs
            .get_or_insert_with(|| PairCover::new(vars, candidates));
        if self.rng.random_range(0..PAIR) > 0 {
            return Vec::new();
        }
        let Some((one, other)) = pairs.uncovered(&mut self.rng) else {
            return Vec::new();
        };
        let is = |cell: (usize, usize)| vars[cell.0].term().equals_value(pairs.value(cell));
        let both = is(one).and_then(|a| Ok(Term::all([a, is(other)?])));
        if !both.is_ok_and(|both| grant(solver, &both, model)) {
            pairs.fail((one, other));
            return Vec::new();
        }
        let mut cells = vec![one, other];
        for column in (0..vars.len()).filter(|&c| c != one.0 && c != other.0) {
            if let Some(cell) = pairs.best(column, &cells)
                && let Ok(wish) = vars[column].term().equals_value(pairs.value(cell))
                && grant(solver, &wish, model)
            {
                cells.push(cell);
            }
        }
        cells.into_iter().map(|(column, _)| column).collect()
    }

    /// A value that was met before, now and then; false where none of its sort is possible.
    fn met_again(&mut self, solver: &mut Solver, var: &Var, model: &mut Model) -> bool {
        let few = matches!(var.sort, Sort::Bool | Sort::Enum(_));
        let fitting = self.memory.met(&var.sort);
        if few || fitting.is_empty() || self.rng.random_range(0..VALUE_AGAIN) > 0 {
            return false;
        }
        let value = fitting[self.rng.random_range(0..fitting.len())];
        let wish = var.term().equals_value(value);
        wish.is_ok_and(|wish| grant(solver, &wish, model))
    }

    /// A value that may matter and was not tried yet, now and then.
    fn tried_first(
        &mut self,
        solver: &mut Solver,
        column: usize,
        var: &Var,
        model: &mut Model,
    ) -> bool {
        let part = Part::whole(column);
        let Some(value) = self.untried(&part, &var.sort) else {
            return false;
        };
        let wish = var.term().equals_value(&value);
        let granted = wish.is_ok_and(|wish| grant(solver, &wish, model));
        if !granted {
            self.refuse_untried(&part, &value);
        }
        granted
    }

    /// By the user's distribution; false where there is none, or none of its ways is possible.
    fn drawn_as_wanted(&mut self, solver: &mut Solver, var: &Var, model: &mut Model) -> bool {
        let Some(mut ways) = self.distributions.get(&var.id).cloned() else {
            return false;
        };
        while let Some(way) = ways.take(&mut self.rng) {
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
        false
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
}

fn model_of(vars: &[Var], row: Vec<Value>) -> Model {
    Model::new(vars.iter().map(|v| v.id).zip(row).collect())
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
