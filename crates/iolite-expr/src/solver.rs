//! The port through which everything asks for satisfiability.
//!
//! A [`Solver`] keeps the stack of assertions and asks a [`Backend`]. Whatever the backend says,
//! a model leaves the port only after every assertion evaluated to `true` under it; what fails
//! this test is "unknown", with the fault named.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::eval::{Env, Fault};
use crate::term::{Kind, Op};
use crate::unfold_collection::rebuilt;
use crate::{Embedded, Substitution, Term, Value, Var, VarId, unfold};

/// Values for variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model(BTreeMap<VarId, Value>);

impl Model {
    /// A model of these values.
    pub fn new(values: BTreeMap<VarId, Value>) -> Self {
        Self(values)
    }

    /// The value of a variable.
    pub fn value(&self, var: VarId) -> Option<&Value> {
        self.0.get(&var)
    }

    /// Sets the value of a variable.
    pub fn insert(&mut self, var: VarId, value: Value) {
        self.0.insert(var, value);
    }

    /// All values, in the order of the variables.
    pub fn iter(&self) -> impl Iterator<Item = (VarId, &Value)> {
        self.0.iter().map(|(id, v)| (*id, v))
    }
}

impl Env for Model {
    fn get(&self, var: VarId) -> Option<&Value> {
        self.0.get(&var)
    }
}

/// What a solver says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Satisfiable, with a model that was checked by evaluation.
    Sat(Model),
    /// Unsatisfiable.
    Unsat,
    /// Neither was found out, and why.
    Unknown(Arc<str>),
}

impl Answer {
    /// "Unknown", with its reason.
    pub fn unknown(why: &str) -> Self {
        Self::Unknown(why.into())
    }

    /// `Some(true)` for sat, `Some(false)` for unsat.
    pub fn decided(&self) -> Option<bool> {
        match self {
            Self::Sat(_) => Some(true),
            Self::Unsat => Some(false),
            Self::Unknown(_) => None,
        }
    }
}

/// What one query may cost.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Time for one `check`. The embedded solver takes it as a number of steps, those that it makes in
    /// such a time on an idle machine, so that its answers do not depend on how busy the machine is;
    /// the clock ends it only after twelve times as long.
    pub time: Duration,
    /// Memory of a process solver, in MiB.
    pub memory_mb: u32,
    started: Option<Instant>,
    /// When all queries have to end.
    until: Option<Instant>,
}

/// How much longer than its time a query of the embedded solver may take before the clock ends it, and
/// what it may take in any case: a busy machine is no reason to give up.
const OUTER: u32 = 12;
const SHORTEST: Duration = Duration::from_secs(20);
/// The time that stands for all steps of the embedded solver; less is a part of them.
const WHOLE: Duration = Duration::from_secs(1);

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(5),
            memory_mb: 1_024,
            started: None,
            until: None,
        }
    }
}

impl Limits {
    /// These limits.
    pub fn new(time: Duration, memory_mb: u32) -> Self {
        Self {
            time,
            memory_mb,
            started: None,
            until: None,
        }
    }

    /// When the running query has to end.
    pub fn deadline(&self) -> Option<Instant> {
        self.within(self.time)
    }

    /// When the clock ends a query whose steps are counted.
    pub(crate) fn outer_deadline(&self) -> Option<Instant> {
        self.within((self.time * OUTER).max(SHORTEST))
    }

    fn within(&self, time: Duration) -> Option<Instant> {
        let started = self.started.unwrap_or_else(Instant::now);
        let own = started.checked_add(time);
        own.into_iter().chain(self.until).min()
    }

    /// The part of all its steps that the embedded solver may make, in thousandths.
    pub(crate) fn per_mille(&self) -> u64 {
        let part = self.time.min(WHOLE).as_millis() * 1_000 / WHOLE.as_millis();
        u64::try_from(part).unwrap_or(1_000).max(1)
    }
}

/// A decision procedure behind the port.
///
/// `check` decides whether there are values for `vars` (which contain all free variables) such
/// that all assertions evaluate to `true`. The assertions are conjoined with the conditions of
/// their definedness already. Consecutive queries mostly share a prefix, which a backend may use.
pub trait Backend: Send {
    /// Name and version, for people.
    fn name(&self) -> String;

    /// Steps that it has made in all, as far as it counts them.
    fn work(&self) -> u64 {
        0
    }

    /// Decides the conjunction.
    fn check(&mut self, assertions: &[Term], vars: &[Var], limits: &Limits) -> Answer;

    /// What is wrong with the backend itself, so that its answers are worth nothing.
    fn fault(&self) -> Option<String> {
        None
    }

    /// Whether its "unsatisfiable" is taken without a second look. A model is checked by evaluation
    /// whoever gives it; what has no model can only be asked of another solver.
    fn is_trusted(&self) -> bool {
        true
    }

    /// A quantifier-free term that is equivalent to `∃ vars: body` wherever `body` is defined for
    /// all values of `vars`, if the backend has a way of its own to find one.
    fn eliminate(&mut self, vars: &[Var], body: &Term, limits: &Limits) -> Option<Term> {
        let _ = (vars, body, limits);
        None
    }
}

/// What the port did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SolverStats {
    /// Calls of `check`.
    pub checks: u64,
    /// Answered by simplification alone.
    pub trivial: u64,
    /// Answered from the cache.
    pub cached: u64,
    /// Given to the backend.
    pub queries: u64,
    /// Models that evaluation refused.
    pub refused: u64,
    /// Steps of the backend: conflicts, pivots, candidates; a query counts for some of its own.
    pub work: u64,
    /// Nodes of terms that calls and quantifiers over collections were unfolded to.
    pub unfolded: u64,
}

/// A term that is ready to be asserted, again and again: simplifying it is paid once.
#[derive(Clone, Debug)]
pub struct Assertion {
    /// As asserted, for the final check by evaluation.
    original: Term,
    /// With its definedness, simplified.
    ready: Term,
}

impl Assertion {
    /// What is asserted of a term.
    ///
    /// # Panics
    /// When the term is not Boolean.
    pub fn new(term: &Term) -> Self {
        Self {
            original: term.clone(),
            ready: Term::all([term.defined(), term.clone()]).simplify(),
        }
    }
}

/// Answers kept before the cache is dropped.
const CACHE: usize = 4_096;

/// What a query counts for by itself.
const QUERY_WORK: u64 = 20;
/// What the embedded solver may spend on what another one calls unsatisfiable, in steps of such a time.
const SECOND_OPINION: Duration = Duration::from_millis(500);

/// The port: a stack of assertions, a backend, a cache.
pub struct Solver {
    backend: Box<dyn Backend>,
    assertions: Vec<Assertion>,
    frames: Vec<(usize, usize)>,
    declared: Vec<Var>,
    cache: FxHashMap<Vec<Term>, Answer>,
    limits: Limits,
    stats: SolverStats,
    /// Two solvers that do not agree.
    disagreement: Option<String>,
}

impl fmt::Debug for Solver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Solver")
            .field("backend", &self.backend.name())
            .field("assertions", &self.assertions.len())
            .finish_non_exhaustive()
    }
}

impl Default for Solver {
    fn default() -> Self {
        Self::embedded()
    }
}

impl Solver {
    /// A port to this backend.
    pub fn new(backend: Box<dyn Backend>) -> Self {
        Self {
            backend,
            assertions: Vec::new(),
            frames: Vec::new(),
            declared: Vec::new(),
            cache: FxHashMap::default(),
            limits: Limits::default(),
            stats: SolverStats::default(),
            disagreement: None,
        }
    }

    /// A port to the embedded backend.
    pub fn embedded() -> Self {
        Self::new(Box::new(crate::Embedded::new()))
    }

    /// The backend's name and version.
    pub fn name(&self) -> String {
        self.backend.name()
    }

    /// What makes the solver's answers worthless: it ended by itself, or the embedded solver has a
    /// model of what it calls unsatisfiable.
    pub fn fault(&self) -> Option<String> {
        self.disagreement.clone().or_else(|| self.backend.fault())
    }

    /// Whether what a query costs is counted, so that a clock is an outer limit only.
    pub fn is_counted(&self) -> bool {
        self.backend.is_trusted()
    }

    /// The embedded solver's word on what another one calls unsatisfiable.
    fn second_opinion(&mut self, ready: &[Term]) -> Answer {
        let vars = &free_vars(ready);
        let limits = Limits {
            time: self.limits.time.min(SECOND_OPINION),
            ..self.limits.clone()
        };
        let Answer::Sat(model) = Embedded::new().check(ready, vars, &limits) else {
            return Answer::Unsat;
        };
        if ready.iter().any(|t| t.eval_bool(&model) != Ok(true)) {
            return Answer::Unsat;
        }
        let why = format!(
            "{} says unsat, and {} has a model",
            self.backend.name(),
            Embedded::new().name()
        );
        self.disagreement.get_or_insert_with(|| why.clone());
        Answer::unknown(&why)
    }

    /// Sets what each query may cost from now on.
    pub fn set_limits(&mut self, limits: Limits) {
        // With more time the answer may be another one.
        self.cache
            .retain(|_, answer| !matches!(answer, Answer::Unknown(_)));
        let until = self.limits.until;
        self.limits = limits;
        self.limits.until = until;
    }

    /// Sets when all queries have to end: later ones are "unknown" at once.
    pub fn set_deadline(&mut self, until: Option<Instant>) {
        self.limits.until = until;
    }

    /// Whether the time for all queries has passed.
    pub fn is_out_of_time(&self) -> bool {
        self.limits
            .until
            .is_some_and(|until| Instant::now() >= until)
    }

    /// What was done so far.
    pub fn stats(&self) -> SolverStats {
        self.stats
    }

    /// Wants a value for `var` in models, even if no assertion reads it. Undone by `pop`.
    pub fn declare(&mut self, var: &Var) {
        if !self.declared.contains(var) {
            self.declared.push(var.clone());
        }
    }

    /// Opens a frame.
    pub fn push(&mut self) {
        self.frames
            .push((self.assertions.len(), self.declared.len()));
    }

    /// Drops everything since the matching `push`; nothing without one.
    pub fn pop(&mut self) {
        if let Some((assertions, declared)) = self.frames.pop() {
            self.assertions.truncate(assertions);
            self.declared.truncate(declared);
        }
    }

    /// Requires that `term`, a Boolean one, evaluates to `true`: not to `false`, and not to a
    /// fault.
    ///
    /// # Panics
    /// When the term is not Boolean.
    pub fn assert(&mut self, term: &Term) {
        self.assertions.push(Assertion::new(term));
    }

    /// Asserts what was made ready before.
    pub fn assert_ready(&mut self, assertion: &Assertion) {
        self.assertions.push(assertion.clone());
    }

    /// The current assertions, with their definedness, simplified.
    pub fn query(&self) -> impl Iterator<Item = &Term> {
        self.assertions.iter().map(|a| &a.ready)
    }

    /// The current assertions as they were made.
    pub(crate) fn originals(&self) -> impl Iterator<Item = &Term> {
        self.assertions.iter().map(|a| &a.original)
    }

    /// The current query in SMT-LIB, to be kept when the answer was "unknown".
    pub fn query_text(&self) -> String {
        let terms: Vec<Term> = self.query().cloned().collect();
        crate::smtlib::script(&terms)
    }

    /// A quantifier-free term that is equivalent to `∃ vars: body` wherever `body` is defined for
    /// all values of `vars`: by substitution and linear elimination, else by the backend.
    pub fn eliminate(&mut self, vars: &[Var], body: &Term) -> Option<Term> {
        crate::qe::eliminate(vars, body).or_else(|| {
            self.limits.started = Some(Instant::now());
            self.backend.eliminate(vars, body, &self.limits)
        })
    }

    /// Whether `extra` can hold together with what is asserted.
    pub fn check_with(&mut self, extra: &Term) -> Answer {
        self.push();
        self.assert(extra);
        let answer = self.check();
        self.pop();
        answer
    }

    /// Whether the assertions can all be true.
    pub fn check(&mut self) -> Answer {
        self.stats.checks += 1;
        let mut ready: Vec<Term> = Vec::with_capacity(self.assertions.len());
        for a in &self.assertions {
            if a.ready.is_false() {
                self.stats.trivial += 1;
                return Answer::Unsat;
            }
            if !a.ready.is_true() {
                ready.push(a.ready.clone());
            }
        }
        if ready.is_empty() {
            self.stats.trivial += 1;
            return self.finish(Answer::Sat(Model::default()));
        }
        let answer = if let Some(answer) = self.cache.get(&ready) {
            self.stats.cached += 1;
            answer.clone()
        } else if self.is_out_of_time() {
            Answer::unknown("the time for all queries has passed")
        } else {
            self.stats.queries += 1;
            let vars = free_vars(&ready);
            self.limits.started = Some(Instant::now());
            let before = self.backend.work();
            let (mut answer, asked) = self.ask(&ready, &vars);
            let size: u64 = ready.iter().map(|t| u64::from(t.size())).sum();
            self.stats.work += QUERY_WORK + size + (self.backend.work() - before);
            if answer == Answer::Unsat && !self.backend.is_trusted() {
                answer = self.second_opinion(&asked);
            }
            // "Unknown" is kept too: asking again would cost as much again.
            if !matches!(answer, Answer::Unknown(_)) || !self.is_out_of_time() {
                if self.cache.len() >= CACHE {
                    self.cache.clear();
                }
                self.cache.insert(ready, answer.clone());
            }
            answer
        };
        self.finish(answer)
    }

    /// The backend's answer, and what it was asked last: calls, quantifiers over arrays, sets and maps
    /// are unfolded for it. What has no model however what was cut off ends is unsatisfiable; a model
    /// counts where nothing was cut off on the way.
    fn ask(&mut self, ready: &[Term], vars: &[Var]) -> (Answer, Vec<Term>) {
        if !ready.iter().any(Term::unfolds) {
            return (
                self.backend.check(ready, vars, &self.limits),
                ready.to_vec(),
            );
        }
        if let Some(model) = unfold::guess(ready, vars) {
            return (Answer::Sat(model), ready.to_vec());
        }
        let mut answer = Answer::unknown("a function or a quantifier was unfolded without end");
        for fuel in unfold::ROUNDS {
            let unfolded = match unfold::unfold(ready, fuel) {
                Ok(unfolded) => unfolded,
                Err(why) => {
                    self.stats.unfolded += unfold::MAX_NODES;
                    answer = Answer::unknown(&why);
                    break;
                }
            };
            self.stats.unfolded += unfolded.nodes;
            let mut asked = unfolded.terms;
            asked.extend(unfolded.facts);
            let complete = unfolded.cuts.is_empty();
            let whole = asked.clone();
            asked.extend(unfolded.cuts.iter().map(|c| c.negated().simplify()));
            match self.backend.check(&asked, &free_vars(&asked), &self.limits) {
                Answer::Unsat if complete => return (Answer::Unsat, asked),
                Answer::Unsat => {
                    let vars = free_vars(&whole);
                    if self.backend.check(&whole, &vars, &self.limits) == Answer::Unsat {
                        return (Answer::Unsat, whole);
                    }
                }
                Answer::Unknown(why) => answer = Answer::Unknown(why),
                Answer::Sat(model) => {
                    let mut model = model;
                    for (var, value) in rebuilt(&unfolded.shapes, &model) {
                        model.insert(var.id, value);
                    }
                    let values = vars.iter().filter_map(|v| {
                        let value = model.value(v.id)?.clone();
                        Some((v.id, value))
                    });
                    return (Answer::Sat(Model::new(values.collect())), asked);
                }
            }
        }
        (answer, ready.to_vec())
    }

    /// Completes a model with plain values for what it leaves open, and checks it.
    fn finish(&mut self, answer: Answer) -> Answer {
        let Answer::Sat(mut model) = answer else {
            return answer;
        };
        let mut vars = BTreeMap::new();
        let mut seen = FxHashSet::default();
        for a in &self.assertions {
            a.original.collect_vars(&mut vars, &mut seen);
        }
        for v in vars.values().chain(&self.declared) {
            if model.value(v.id).is_none() {
                model.insert(v.id, v.sort.default_value());
            }
        }
        for v in vars.values().chain(&self.declared) {
            if model.value(v.id).is_some_and(|x| !v.sort.contains(x)) {
                self.stats.refused += 1;
                return Answer::unknown(&format!(
                    "the model gives {} a value outside its sort",
                    v.name
                ));
            }
        }
        for a in &self.assertions {
            match a.original.eval_bool(&model) {
                Ok(true) => {}
                // A quantifier over infinitely many values: what is left of it under the model has
                // no free variable, and the embedded solver decides that on its own.
                Err(e)
                    if e.fault == Fault::Quantifier
                        && holds(&a.original, &model, &self.limits) == Some(true) => {}
                Err(e) => {
                    self.stats.refused += 1;
                    return Answer::unknown(&format!("the model could not be checked: {e}"));
                }
                Ok(false) => {
                    self.stats.refused += 1;
                    return Answer::unknown("the model does not satisfy the query");
                }
            }
        }
        Answer::Sat(model)
    }
}

fn free_vars(terms: &[Term]) -> Vec<Var> {
    let mut vars = BTreeMap::new();
    let mut seen = FxHashSet::default();
    for t in terms {
        t.collect_vars(&mut vars, &mut seen);
    }
    vars.into_values().collect()
}

/// The truth of a term under a model, quantifiers included, if it can be told.
fn holds(term: &Term, model: &Model, limits: &Limits) -> Option<bool> {
    match term.kind() {
        Kind::App(Op::Not, args) => Some(!holds(&args[0], model, limits)?),
        Kind::App(Op::And, args) => {
            for a in args {
                if !holds(a, model, limits)? {
                    return Some(false);
                }
            }
            Some(true)
        }
        Kind::App(Op::Or, args) => {
            for a in args {
                if holds(a, model, limits)? {
                    return Some(true);
                }
            }
            Some(false)
        }
        Kind::App(Op::Exists(bound), args) => {
            let mut map = Substitution::new();
            for v in term.free_vars() {
                map.insert_value(&v, model.value(v.id)?.clone());
            }
            let body = args[0].substitute(&map).ok()?;
            // A fault for some value is a fault of the quantifier; only a clean answer counts.
            let faults = body.defined().negated().simplify();
            let body = body.simplify();
            let vars: Vec<Var> = bound.to_vec();
            let ask = |t: Term| Embedded::new().check(&[t], &vars, limits).decided();
            if !faults.is_false() && ask(faults)? {
                return None;
            }
            ask(body)
        }
        _ => term.eval_bool(model).ok(),
    }
}
