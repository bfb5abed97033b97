//! Unfolding of finite data into the explicit kernel.
//!
//! Nothing is cut: a variable may be of an infinite sort as long as finitely many states are
//! reachable within the budget, a parameter as long as its guard allows finitely many values;
//! what does not fit is an error that names the culprit.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use iolite_expr::{Answer, Solver, Sort, Substitution, Term, Value, Var};
use iolite_lts::{BuildError, LabelId, Labels, Lts, LtsBuilder, StateId};
use rustc_hash::FxHashMap;

use crate::iosts::{Iosts, LabelKind, TransitionId};
use crate::semantics::{ModelFault, State, ValuedAction};
use crate::symbolic::literal;

/// Why a model does not unfold.
#[derive(Debug, thiserror::Error)]
pub enum UnfoldError {
    /// A constant or uninitialised variable with too many initial values.
    #[error("{name}: {sort} has {values} initial values{}", alone(*.together))]
    Data {
        /// The name.
        name: Box<str>,
        /// Its sort.
        sort: String,
        /// How many there are.
        values: TooMany,
        /// Whether they are those of several constants and variables together.
        together: bool,
    },
    /// A parameter with too many values.
    #[error("parameter {parameter} of {action} takes {values} values in {state}{}", alone(*.together))]
    Parameter {
        /// The action.
        action: Box<str>,
        /// The parameter.
        parameter: Box<str>,
        /// The state it was met in.
        state: String,
        /// How many there are.
        values: TooMany,
        /// Whether they are those of several parameters together.
        together: bool,
    },
    /// Too many states.
    #[error("more than {budget} states; {variable} takes the most values, {values} so far")]
    States {
        /// The budget.
        budget: usize,
        /// The variable with the most values.
        variable: Box<str>,
        /// How many it took.
        values: usize,
    },
    /// No initial state: the initial condition is false.
    #[error("the initial condition has no solution")]
    NoInitialState,
    /// The solver gave up.
    #[error("the solver could not enumerate the values of {what}: {reason}")]
    Unknown {
        /// Of what.
        what: Box<str>,
        /// Why.
        reason: std::sync::Arc<str>,
    },
    /// The model's terms have no value.
    #[error(transparent)]
    Fault(#[from] ModelFault),
    /// A value grows too large.
    #[error("a guard grows too large with these values")]
    TooLarge,
    /// The explicit kernel refuses.
    #[error(transparent)]
    Build(#[from] BuildError),
}

fn alone(together: bool) -> &'static str {
    if together {
        ", together with the others"
    } else {
        ""
    }
}

/// What unfolding may cost.
#[derive(Clone, Copy, Debug)]
pub struct UnfoldBudget {
    /// States.
    pub states: usize,
    /// Values of the parameters of one transition in one state, and initial valuations, where sorts are
    /// infinite: a solver finds them one by one. How many of finite sorts are tried follows `states`.
    pub values: usize,
}

impl Default for UnfoldBudget {
    fn default() -> Self {
        Self {
            states: 1_000_000,
            values: 10_000,
        }
    }
}

/// How many values were too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooMany {
    /// There is no end of them.
    Infinite,
    /// The sort has no end; so many were found, and more.
    Unbounded(usize),
    /// So many combinations of values of finite sorts.
    Finite {
        /// The combinations.
        combinations: u64,
        /// How many are tried.
        limit: usize,
    },
}

impl UnfoldError {
    /// The number of states that must be allowed for the values to be tried, where they have an end.
    pub fn needed_states(&self) -> Option<u64> {
        match self {
            Self::Data {
                values: TooMany::Finite { combinations, .. },
                ..
            } => Some(*combinations),
            Self::Parameter {
                values: TooMany::Finite { combinations, .. },
                ..
            } => combinations.checked_mul(TRIED_SHARE as u64),
            _ => None,
        }
    }
}

impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Infinite => f.write_str("infinitely many"),
            Self::Unbounded(n) => write!(f, "infinitely many, or more than {n},"),
            Self::Finite {
                combinations,
                limit,
            } => write!(f, "{combinations}, more than the {limit} that are tried,"),
        }
    }
}

/// Why the solutions of a guard could not be listed.
enum Listing {
    /// More than allowed; the variable is one that takes many values.
    TooMany(Var, TooMany),
    Unknown(std::sync::Arc<str>),
}

/// How many states are allowed for each combination of values that is tried in one of them.
const TRIED_SHARE: usize = 64;

/// Solutions that a solver is asked for before finite sorts are gone through value by value.
const PROBED: usize = 16;

/// Texts and arrays that are listed at most: each further one makes the next query larger, and it
/// takes a solver much longer to find than a number.
const LISTED_TEXTS: usize = 64;

/// All values of finite sorts under which `guard` holds, in order.
fn tried(vars: &[Var], guard: &Term) -> Vec<Vec<Value>> {
    let columns: Vec<Vec<Value>> = vars
        .iter()
        .map(|v| v.sort.values(u64::MAX).unwrap_or_default())
        .collect();
    let mut rows = Vec::new();
    if columns.iter().any(Vec::is_empty) {
        return rows;
    }
    let mut at = vec![0; vars.len()];
    loop {
        let row = || {
            columns
                .iter()
                .zip(&at)
                .map(|(column, &i)| column[i].clone())
        };
        let env: FxHashMap<_, Value> = vars.iter().map(|v| v.id).zip(row()).collect();
        if guard.eval_bool(&env).unwrap_or(false) {
            rows.push(row().collect());
        }
        let Some(next) = (0..at.len()).rev().find(|&i| at[i] + 1 < columns[i].len()) else {
            return rows;
        };
        at[next] += 1;
        at[next + 1..].fill(0);
    }
}

/// All values of `vars` under which `guard` holds, in order: at most `values` where a sort is infinite,
/// and out of at most `limit` combinations of finite sorts.
fn solutions(
    solver: &mut Solver,
    vars: &[Var],
    guard: &Term,
    values: usize,
    limit: usize,
) -> Result<Vec<Vec<Value>>, Listing> {
    if guard.is_false() {
        return Ok(Vec::new());
    }
    let free = guard.free_vars();
    let mut open = vars.iter().filter(|v| !free.contains(v));
    if let Some(infinite) = open.find(|v| v.sort.cardinality().is_none()) {
        return Err(Listing::TooMany(infinite.clone(), TooMany::Infinite));
    }
    let combinations = vars
        .iter()
        .try_fold(1u64, |n, v| n.checked_mul(v.sort.cardinality()?));
    let few = |most: usize| combinations.is_some_and(|n| n <= most as u64);
    let depends = vars.iter().any(|v| free.contains(v));
    if few(limit) && (few(values) || !depends) {
        return Ok(tried(vars, guard));
    }
    // A guard may leave few of many values, and a solver finds them sooner.
    let long =
        |v: &Var| v.sort.has_collection() || matches!(v.sort, Sort::String | Sort::Array(..));
    let most = if few(limit) {
        PROBED
    } else if vars.iter().any(long) {
        values.min(LISTED_TEXTS)
    } else {
        values
    };
    match solved(solver, vars, guard, most) {
        Err(_) if few(limit) => Ok(tried(vars, guard)),
        Err(Listing::TooMany(var, unbounded)) => {
            let finite =
                combinations.filter(|_| vars.iter().all(|v| v.sort.cardinality().is_some()));
            Err(match finite {
                Some(combinations) => {
                    let largest = vars.iter().max_by_key(|v| v.sort.cardinality());
                    let var = largest.cloned().unwrap_or(var);
                    Listing::TooMany(
                        var,
                        TooMany::Finite {
                            combinations,
                            limit,
                        },
                    )
                }
                None => Listing::TooMany(var, unbounded),
            })
        }
        listed => listed,
    }
}

fn solved(
    solver: &mut Solver,
    vars: &[Var],
    guard: &Term,
    limit: usize,
) -> Result<Vec<Vec<Value>>, Listing> {
    let mut rows = Vec::new();
    solver.push();
    for v in vars {
        solver.declare(v);
    }
    solver.assert(guard);
    let result = loop {
        match solver.check() {
            Answer::Unsat => break Ok(()),
            Answer::Unknown(why) => break Err(Listing::Unknown(why)),
            Answer::Sat(model) => {
                let row: Vec<Value> = vars
                    .iter()
                    .filter_map(|v| model.value(v.id).cloned())
                    .collect();
                let same = vars
                    .iter()
                    .zip(&row)
                    .filter_map(|(v, x)| v.term().equals_value(x).ok());
                solver.assert(&Term::all(same).negated());
                rows.push(row);
                if rows.len() > limit {
                    let most = (0..vars.len()).max_by_key(|&i| {
                        let column = rows.iter().map(|r: &Vec<Value>| &r[i]);
                        let infinite = vars[i].sort.cardinality().is_none();
                        (infinite, column.collect::<BTreeSet<_>>().len())
                    });
                    let var = vars[most.unwrap_or(0)].clone();
                    break Err(Listing::TooMany(var, TooMany::Unbounded(limit)));
                }
            }
        }
    };
    solver.pop();
    result?;
    rows.sort();
    Ok(rows)
}

impl Iosts {
    /// The reachable states as an explicit system. Valued actions become labels such as
    /// `!MSG(3, true)`. When there are several initial states, a first state chooses among them
    /// by internal steps.
    pub fn unfold(&self, solver: &mut Solver, budget: UnfoldBudget) -> Result<Lts, UnfoldError> {
        Unfolding {
            model: self,
            solver,
            budget,
            builder: LtsBuilder::new(),
            places: self.locations().map(|(_, l)| (*l.name).into()).collect(),
            states: Vec::new(),
            index: FxHashMap::default(),
        }
        .run()
    }
}

struct Unfolding<'a> {
    model: &'a Iosts,
    solver: &'a mut Solver,
    budget: UnfoldBudget,
    builder: LtsBuilder,
    /// The names of the locations.
    places: Vec<Arc<str>>,
    /// A state and the constants that it lives with.
    states: Vec<(State, Vec<Value>)>,
    index: FxHashMap<(State, Vec<Value>), StateId>,
}

impl Unfolding<'_> {
    fn run(mut self) -> Result<Lts, UnfoldError> {
        // The alphabet holds what is declared even if it never happens: L_U has every value of an
        // output, and those that no transition gives have one label together.
        for (_, a) in self.model.gates() {
            if a.params.is_empty() && a.kind.is_visible() {
                self.builder.label(a.kind, &a.name);
            } else if a.kind == LabelKind::Output {
                self.builder
                    .label(a.kind, &Labels::with_other_values(&a.name));
            }
        }
        let first = self.initial_states()?;
        if first.is_empty() {
            return Err(UnfoldError::NoInitialState);
        }
        let choice = (first.len() > 1).then(|| self.builder.named_state("initial choice"));
        for (i, s) in first.into_iter().enumerate() {
            let id = self.intern(s)?;
            match choice {
                Some(c) => self.builder.transition(c, LabelId::TAU, id),
                None if i == 0 => self.builder.set_initial(id),
                None => {}
            }
        }
        if let Some(c) = choice {
            self.builder.set_initial(c);
        }
        let mut next = 0;
        while next < self.states.len() {
            self.successors(next)?;
            next += 1;
        }
        Ok(self.builder.build()?)
    }

    fn intern(&mut self, key: (State, Vec<Value>)) -> Result<StateId, UnfoldError> {
        if let Some(&id) = self.index.get(&key) {
            return Ok(id);
        }
        if self.states.len() >= self.budget.states {
            let counts = (0..self.model.variables().len()).map(|i| {
                let values: BTreeSet<&Value> =
                    self.states.iter().map(|(s, _)| &s.values[i]).collect();
                (values.len(), i)
            });
            let (values, i) = counts.max().unwrap_or((0, 0));
            let variable = self
                .model
                .variables()
                .get(i)
                .map_or_else(|| "no variable".into(), |v| (*v.var.name).into());
            return Err(UnfoldError::States {
                budget: self.budget.states,
                variable,
                values,
            });
        }
        let id = self.builder.named_state(&self.model.describe(&key.0));
        let place = &self.places[key.0.location.index()];
        self.builder.set_place(id, Arc::clone(place));
        self.states.push(key.clone());
        self.index.insert(key, id);
        Ok(id)
    }

    fn initial_states(&mut self) -> Result<Vec<(State, Vec<Value>)>, UnfoldError> {
        let model = self.model;
        let vars: Vec<Var> = model
            .constants()
            .iter()
            .map(|c| c.var.clone())
            .chain(model.variables().iter().map(|v| v.var.clone()))
            .collect();
        let condition = model.initial_condition();
        let open: Vec<Var> = vars
            .iter()
            .filter(|v| {
                !model
                    .variables()
                    .iter()
                    .any(|x| x.var == **v && x.initial.is_some())
            })
            .cloned()
            .collect();
        // Initialised variables follow from the constants; only the open data are listed.
        let mut map = Substitution::new();
        for v in model.variables() {
            if let Some(t) = &v.initial {
                map.insert(v.var.id, t.clone());
            }
        }
        let assumptions = Term::all(model.assumptions().iter().cloned())
            .substitute(&map)
            .map_err(|_| UnfoldError::TooLarge)?;
        let guard = Term::all([assumptions.defined(), assumptions]).simplify();
        let UnfoldBudget { states, values } = self.budget;
        let limit = states.max(values);
        let rows = solutions(self.solver, &open, &guard, values, limit).map_err(|e| match e {
            Listing::TooMany(v, values) => UnfoldError::Data {
                name: (*v.name).into(),
                sort: v.sort.to_string(),
                together: open.len() > 1 && matches!(values, TooMany::Finite { .. }),
                values,
            },
            Listing::Unknown(reason) => UnfoldError::Unknown {
                what: "the initial condition".into(),
                reason,
            },
        })?;
        let mut out = Vec::new();
        for row in rows {
            let mut env: FxHashMap<_, Value> = open.iter().map(|v| v.id).zip(row).collect();
            let fault = |error| ModelFault {
                transition: crate::iosts::TransitionId::new(0),
                error,
            };
            for v in model.variables() {
                if let Some(t) = &v.initial {
                    let value = t.eval(&env).map_err(fault)?;
                    env.insert(v.var.id, value);
                }
            }
            if !condition.eval_bool(&env).map_err(fault)? {
                continue;
            }
            let get = |v: &Var| {
                env.get(&v.id)
                    .cloned()
                    .unwrap_or_else(|| v.sort.default_value())
            };
            let constants = model.constants().iter().map(|c| get(&c.var)).collect();
            let values = model.variables().iter().map(|v| get(&v.var)).collect();
            out.push((
                State {
                    location: model.initial(),
                    values,
                },
                constants,
            ));
        }
        Ok(out)
    }

    fn successors(&mut self, i: usize) -> Result<(), UnfoldError> {
        let model = self.model;
        let (state, constants) = self.states[i].clone();
        let source = self.index[&(state.clone(), constants.clone())];
        for &t in model.outgoing(state.location) {
            let transition = model.transition(t);
            let action = model.gate(transition.action);
            let rows = if action.params.is_empty() {
                vec![Vec::new()]
            } else {
                // An input is not specified for values for which its guard faults; an output or an
                // internal action that may fault leaves the state without a meaning.
                if action.kind != LabelKind::Input {
                    let map = self.values(&state, &constants);
                    if let Some(row) = model.faulting_values(self.solver, &map, t) {
                        model.fire(&state, &constants, t, &row)?;
                    }
                }
                self.parameters(&state, &constants, &transition.guard, &action.params)
                    .map_err(|e| match e {
                        Listing::TooMany(v, values) => UnfoldError::Parameter {
                            action: action.name.clone(),
                            parameter: (*v.name).into(),
                            state: model.describe(&state),
                            together: action.params.len() > 1
                                && matches!(values, TooMany::Finite { .. }),
                            values,
                        },
                        Listing::Unknown(reason) => UnfoldError::Unknown {
                            what: format!("the parameters of {}", action.name).into(),
                            reason,
                        },
                    })?
            };
            if rows.is_empty() && self.is_nowhere_defined(&state, &constants, t) {
                let row: Vec<Value> = action
                    .params
                    .iter()
                    .map(|p| p.sort.default_value())
                    .collect();
                model.fire(&state, &constants, t, &row)?;
            }
            for row in rows {
                let Some(next) = model.fire(&state, &constants, t, &row)? else {
                    continue;
                };
                let target = self.intern((next, constants.clone()))?;
                let label = if action.kind == LabelKind::Delta {
                    LabelId::DELTA
                } else {
                    let valued = ValuedAction {
                        action: transition.action,
                        values: row,
                    };
                    self.builder.label(action.kind, &model.label(&valued))
                };
                self.builder.transition(source, label, target);
            }
        }
        Ok(())
    }

    /// Whether the guard of a transition faults in this state whatever the parameters are: that is a
    /// mistake of the model, and no choice of values avoids it.
    fn is_nowhere_defined(&self, state: &State, constants: &[Value], t: TransitionId) -> bool {
        let defined = self.model.transition(t).guard.defined();
        let here = defined.substitute(&self.values(state, constants));
        !defined.is_true() && here.is_ok_and(|d| d.simplify().is_false())
    }

    fn values(&self, state: &State, constants: &[Value]) -> Substitution {
        let mut map = Substitution::new();
        for (c, x) in self.model.constants().iter().zip(constants) {
            map.insert(c.var.id, literal(&c.var, x.clone()));
        }
        for (v, x) in self.model.variables().iter().zip(state.values.iter()) {
            map.insert(v.var.id, literal(&v.var, x.clone()));
        }
        map
    }

    fn parameters(
        &mut self,
        state: &State,
        constants: &[Value],
        guard: &Term,
        params: &[Var],
    ) -> Result<Vec<Vec<Value>>, Listing> {
        let map = self.values(state, constants);
        let guard = guard
            .substitute(&map)
            .map_err(|_| Listing::Unknown("the guard grows too large".into()))?;
        let guard = Term::all([guard.defined(), guard]).simplify();
        let UnfoldBudget { states, values } = self.budget;
        let limit = values.max(states / TRIED_SHARE);
        solutions(self.solver, params, &guard, values, limit)
    }
}
