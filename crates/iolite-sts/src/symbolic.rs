//! The set of symbolic states after a trace: `after`, `out`, and the inputs, without
//! determinisation.
//!
//! Nondeterminism and internal actions give several states, unknown constants and unread values
//! give terms over unknowns; each state carries the condition under which the trace leads to it,
//! so what is observed narrows the unknowns, and a contradiction leaves no state. Where all values
//! are known, guards are evaluated and no solver is asked.

use std::sync::Arc;
use std::time::{Duration, Instant};

use iolite_expr::{Answer, GuardProfile, Solver, Span, Substitution, Term, Value, Var, VarId};
use iolite_lts::QuiescencePolicy;
use rustc_hash::FxHashSet;

use crate::closure::DeterminiseError;
use crate::coverage_goal::Recorder;
use crate::firing::Firing;
use crate::iosts::{Iosts, LabelKind, LocationId, TransitionId, space};
use crate::only_row::HarmlessGuards;
use crate::quiescence::DeltaGuard;
use crate::semantics::{ModelFault, State, ValuedAction};
use crate::symbolic_state::{Data, SymbolicState, last_unknown, merged, renumber, settle};

/// The states after a trace, closed under internal actions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SymbolicStates {
    pub(crate) states: Vec<SymbolicState>,
}

impl SymbolicStates {
    /// The states.
    pub fn iter(&self) -> impl Iterator<Item = &SymbolicState> {
        self.states.iter()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// The states at locations that are wanted.
    #[must_use]
    pub fn at(&self, wanted: impl Fn(LocationId) -> bool) -> Self {
        let states = self.states.iter().filter(|s| wanted(s.location));
        Self {
            states: states.cloned().collect(),
        }
    }

    /// Whether every value is known.
    pub fn is_concrete(&self) -> bool {
        self.states
            .iter()
            .all(|s| matches!(s.data, Data::Concrete(_)))
    }
}

/// What an observation or a stimulus means for the model.
#[derive(Clone, Debug)]
pub enum After {
    /// The model allows it, and is in these states then.
    Possible(SymbolicStates),
    /// The model does not: for an output or δ that is non-conformance, for an input that it is
    /// not specified.
    Impossible,
    /// The solver or a bound gave up; neither a pass nor a fail.
    Unknown {
        /// Why.
        reason: Arc<str>,
        /// The undecided query in SMT-LIB, if there is one.
        query: String,
    },
}

/// What can go wrong while states are computed. None of these is a verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SymbolicError {
    /// The model's terms have no value.
    #[error(transparent)]
    Fault(#[from] ModelFault),
    /// An initial value has none.
    #[error("initial value: {0}")]
    Initial(iolite_expr::EvalError),
    /// A bound ran out; the public methods answer "unknown" for it.
    #[error("{0}")]
    Bound(&'static str),
    /// A value for a constant that the model does not have, or of a wrong sort.
    #[error("constant {0} does not exist or the value is of a wrong sort")]
    BadConstant(Box<str>),
}

/// States that one set may have.
const DEFAULT_STATES: usize = 1_000;
/// Size that the conditions and values of one set may have together. Where each internal step makes
/// them longer, this ends the search long before the number of states does.
const MOST_TERMS: u64 = 100_000;
/// Steps of the solver for one step of a trace. Counted and not timed, so that the answer does not
/// depend on the machine.
const MOST_WORK: u64 = 200_000;
/// Time for one step of a trace: the outer limit, and that of a solver whose steps are not counted.
const LONGEST_STEP: Duration = Duration::from_secs(60);
const LONGEST_UNCOUNTED_STEP: Duration = Duration::from_secs(5);
/// Values that are tried one by one instead of being unknown.
const DEFAULT_CASES: usize = 64;
/// Why something is not known when the time is up.
pub(crate) const OUT_OF_TIME: &str = "the time is up";
/// Values deeper or larger than this get a name of their own.
const NAMED: u32 = 60;

/// The symbolic semantics of a model, with its solver and what it has learnt about guards.
#[derive(Debug)]
pub struct Symbolic {
    pub(crate) model: Arc<Iosts>,
    pub(crate) constants: Vec<Option<Value>>,
    /// All constants, when they are all known.
    pub(crate) known: Option<Vec<Value>>,
    pub(crate) policy: QuiescencePolicy,
    pub(crate) solver: Solver,
    pub(crate) delta: Vec<Option<DeltaGuard>>,
    /// Per transition: guard and assignments are defined and the guard holds.
    enabling: Vec<Option<Term>>,
    /// Per transition: the guard has no value, or it holds and an assignment has none.
    faulting: Vec<Option<Term>>,
    /// Per transition: what it asks of its parameters.
    profiles: Vec<Option<Arc<GuardProfile>>>,
    /// Per transition: what its guard says of its parameters.
    pub(crate) firings: Vec<Option<Firing>>,
    pub(crate) harmless: HarmlessGuards,
    /// Where a term without a value was met last.
    pub(crate) fault: Option<Span>,
    has_internal: Vec<bool>,
    pub(crate) cycles: Option<Vec<bool>>,
    pub(crate) max_states: usize,
    pub(crate) max_cases: usize,
    /// The system without internal actions, once somebody asked for it, or why it has no such form.
    pub(crate) without_internal: Option<Result<Arc<Iosts>, DeterminiseError>>,
    /// Who notes what steps reach, while somebody wants to know.
    pub(crate) recorder: Option<Recorder>,
}

/// Gathers what the solver could not decide, and where the model has no meaning.
#[derive(Default)]
pub(crate) struct Doubt {
    undecided: Option<(Arc<str>, String)>,
    /// Conditions over the constants under which a term has no value.
    faults: Vec<Term>,
}

impl Symbolic {
    /// The semantics of `model`, with values for some of its constants.
    pub fn new(
        model: Arc<Iosts>,
        constants: &[(&str, Value)],
        policy: QuiescencePolicy,
        solver: Solver,
    ) -> Result<Self, SymbolicError> {
        let mut values: Vec<Option<Value>> = vec![None; model.constants().len()];
        for (name, value) in constants {
            let i = model.constants().iter().position(|c| &*c.var.name == *name);
            match i {
                Some(i) if model.constants()[i].var.sort.contains(value) => {
                    values[i] = Some(value.clone());
                }
                _ => return Err(SymbolicError::BadConstant((*name).into())),
            }
        }
        let has_internal = model
            .locations()
            .map(|(l, _)| {
                model
                    .outgoing(l)
                    .iter()
                    .any(|t| model.kind(*t) == LabelKind::Internal)
            })
            .collect();
        let delta = (0..model.locations().len()).map(|_| None).collect();
        let enabling = vec![None; model.transitions().len()];
        let faulting = enabling.clone();
        let profiles = vec![None; model.transitions().len()];
        let firings = (0..model.transitions().len()).map(|_| None).collect();
        Ok(Self {
            known: values.iter().cloned().collect(),
            constants: values,
            policy,
            solver,
            delta,
            enabling,
            faulting,
            profiles,
            firings,
            harmless: HarmlessGuards::default(),
            fault: None,
            has_internal,
            cycles: None,
            max_states: DEFAULT_STATES,
            max_cases: DEFAULT_CASES,
            without_internal: None,
            recorder: None,
            model,
        })
    }

    /// The model.
    pub fn model(&self) -> &Arc<Iosts> {
        &self.model
    }

    /// Whether each constant has one value.
    pub fn knows_constants(&self) -> bool {
        self.known.is_some()
    }

    /// The solver, for its statistics and limits.
    pub fn solver(&mut self) -> &mut Solver {
        &mut self.solver
    }

    /// Bounds the number of states of one set; beyond it the answer is "unknown".
    pub fn set_max_states(&mut self, max: usize) {
        self.max_states = max;
    }

    /// Data of sorts with at most so many values are split into cases instead of being kept as
    /// unknowns; 0 keeps everything symbolic.
    pub fn set_max_cases(&mut self, max: usize) {
        self.max_cases = max;
    }

    /// The states after a valued input or output.
    pub fn after(
        &mut self,
        states: &SymbolicStates,
        observed: &ValuedAction,
    ) -> Result<After, SymbolicError> {
        bounded(self.try_after(states, observed))
    }

    fn try_after(
        &mut self,
        states: &SymbolicStates,
        observed: &ValuedAction,
    ) -> Result<After, SymbolicError> {
        self.fault = None;
        let mut doubt = Doubt::default();
        let mut next = Vec::new();
        let model = self.model.clone();
        let begin = (self.solver.stats().work, Instant::now());
        // Looked at once: values may be long.
        if !model.gate(observed.action).takes(&observed.values) {
            return self.finish(&states.states, next, doubt);
        }
        for s in &states.states {
            for &t in model.outgoing(s.location) {
                if model.transition(t).action != observed.action {
                    continue;
                }
                next.extend(self.step(s, t, Some(&observed.values), &mut doubt)?);
            }
            if next.len() > self.max_states {
                // Many ways may lead to few states.
                let mut seen = FxHashSet::default();
                next.retain(|s: &SymbolicState| seen.insert(s.clone()));
                next = self.fewer(next);
            }
            if let Err(bound) = self.bound(&next, begin) {
                // A query that was left open says more than the bound that it ran into.
                return match doubt.first() {
                    Some((reason, query)) => Ok(After::Unknown { reason, query }),
                    None => Err(bound),
                };
            }
        }
        self.finish(&states.states, next, doubt)
    }

    /// The states, merged where that is safe. The closure under internal actions ends when states come
    /// again, and the condition of a merged one would be another each time.
    fn fewer(&self, states: Vec<SymbolicState>) -> Vec<SymbolicState> {
        if self.has_internal.contains(&true) {
            states
        } else {
            merged(states)
        }
    }

    /// Whether the states of one step are few and small enough, and so is the work for them.
    fn bound(
        &self,
        states: &[SymbolicState],
        (work, begin): (u64, Instant),
    ) -> Result<(), SymbolicError> {
        if states.len() > self.max_states {
            return Err(SymbolicError::Bound(
                "one step leads to too many symbolic states",
            ));
        }
        if states.iter().map(SymbolicState::size).sum::<u64>() > MOST_TERMS {
            return Err(SymbolicError::Bound("conditions and values grow too long"));
        }
        let longest = if self.solver.is_counted() {
            LONGEST_STEP
        } else {
            LONGEST_UNCOUNTED_STEP
        };
        if self.solver.stats().work - work > MOST_WORK || begin.elapsed() > longest {
            return Err(SymbolicError::Bound("one step asks too much of the solver"));
        }
        Ok(())
    }

    pub(crate) fn enabling(&mut self, t: TransitionId) -> Term {
        let transition = self.model.transition(t);
        self.enabling[t.index()]
            .get_or_insert_with(|| {
                let guard = &transition.guard;
                let assignments = transition.assignments.iter().map(|(_, e)| e.defined());
                Term::all(
                    [guard.defined(), guard.clone()]
                        .into_iter()
                        .chain(assignments),
                )
                .simplify()
            })
            .clone()
    }

    /// What a transition asks of its parameters.
    pub(crate) fn profile(&mut self, t: TransitionId) -> Arc<GuardProfile> {
        if let Some(known) = &self.profiles[t.index()] {
            return Arc::clone(known);
        }
        let guard = self.enabling(t);
        let params = &self.model.gate(self.model.transition(t).action).params;
        let profile = Arc::new(GuardProfile::new(&guard, params));
        self.profiles[t.index()] = Some(Arc::clone(&profile));
        profile
    }

    pub(crate) fn faulting(&mut self, t: TransitionId) -> Term {
        let transition = self.model.transition(t);
        self.faulting[t.index()]
            .get_or_insert_with(|| {
                let guard = &transition.guard;
                // An effect counts only where the guard holds.
                let effects = transition.assignments.iter().map(|(_, e)| e.defined());
                let lost = Term::all([guard.clone(), Term::all(effects).negated()]);
                Term::any([guard.defined().negated(), lost]).simplify()
            })
            .clone()
    }

    /// Gives the constants other values, or takes them away. What is known of guards holds for all.
    pub(crate) fn set_constants(&mut self, values: Vec<Option<Value>>) {
        self.known = values.iter().cloned().collect();
        self.constants = values;
        self.harmless = HarmlessGuards::default();
    }

    pub(crate) fn constant_map(&self) -> Substitution {
        let mut map = Substitution::new();
        for (c, v) in self.model.constants().iter().zip(&self.constants) {
            if let Some(v) = v {
                map.insert_value(&c.var, v.clone());
            }
        }
        map
    }

    pub(crate) fn state_map(
        &self,
        values: &[Term],
        params: Option<(&[Var], &[Term])>,
    ) -> Substitution {
        let mut map = self.constant_map();
        for (v, t) in self.model.variables().iter().zip(values) {
            map.insert(v.var.id, t.clone());
        }
        for (p, t) in params
            .iter()
            .flat_map(|(vars, terms)| vars.iter().zip(*terms))
        {
            map.insert(p.id, t.clone());
        }
        map
    }

    /// An internal transition from one state. Parameters of small sorts are tried one by one, so
    /// that concrete states stay concrete; others become unknowns.
    pub(crate) fn internal(
        &mut self,
        s: &SymbolicState,
        t: TransitionId,
        doubt: &mut Doubt,
    ) -> Result<Vec<SymbolicState>, SymbolicError> {
        if let Some(row) = self.only_row(s, t) {
            return Ok(self.step(s, t, Some(&row), doubt)?.into_iter().collect());
        }
        let model = self.model.clone();
        let params = &model.gate(model.transition(t).action).params;
        let rows = params
            .iter()
            .try_fold(vec![Vec::new()], |rows: Vec<Vec<Value>>, p| {
                let column = p.sort.values(self.max_cases as u64)?;
                if rows.len() * column.len() > self.max_cases {
                    return None;
                }
                let extended = rows.iter().flat_map(|row| {
                    column
                        .iter()
                        .map(|x| row.iter().chain([x]).cloned().collect())
                });
                Some(extended.collect())
            });
        let Some(rows) = rows else {
            return Ok(self.step(s, t, None, doubt)?.into_iter().collect());
        };
        let mut out = Vec::new();
        for row in rows {
            out.extend(self.step(s, t, Some(&row), doubt)?);
        }
        Ok(out)
    }

    /// One transition from one state; without values for the parameters they are unknown, and those that
    /// are given are of the parameters' sorts.
    pub(crate) fn step(
        &mut self,
        s: &SymbolicState,
        t: TransitionId,
        params: Option<&[Value]>,
        doubt: &mut Doubt,
    ) -> Result<Option<SymbolicState>, SymbolicError> {
        let next = self.stepped(s, t, params, doubt)?;
        if next.is_some() && self.recorder.is_some() {
            let none = self
                .model
                .gate(self.model.transition(t).action)
                .params
                .is_empty();
            self.record(s, t, params.or(none.then_some(&[])));
        }
        Ok(next)
    }

    /// The same, and nothing notes that it was taken.
    pub(crate) fn stepped(
        &mut self,
        s: &SymbolicState,
        t: TransitionId,
        params: Option<&[Value]>,
        doubt: &mut Doubt,
    ) -> Result<Option<SymbolicState>, SymbolicError> {
        if self.solver.is_out_of_time() {
            return Err(SymbolicError::Bound(OUT_OF_TIME));
        }
        let model = self.model.clone();
        let transition = model.transition(t);
        let signature = &model.gate(transition.action).params;
        let given = params.or(if signature.is_empty() {
            Some(&[])
        } else {
            None
        });
        if let (Data::Concrete(values), Some(constants), Some(given)) =
            (&s.data, &self.known, given)
        {
            let state = State {
                location: s.location,
                values: values.clone(),
            };
            let next = model.fire_fitting(&state, constants, t, given)?;
            return Ok(next.map(|next| SymbolicState {
                location: next.location,
                data: Data::Concrete(next.values),
                certain: true,
                tainted: s.tainted,
            }));
        }
        let values = s.values(&self.model);
        let condition = s.condition();
        let mut unknowns = last_unknown(&values, &condition);
        let arguments: Vec<Term> = match given {
            Some(given) => signature
                .iter()
                .zip(given)
                .map(|(p, v)| literal(p, v.clone()))
                .collect(),
            None => signature
                .iter()
                .map(|p| Ok(unknown(p, &mut unknowns)?.term()))
                .collect::<Result<_, SymbolicError>>()?,
        };
        let map = self.state_map(&values, Some((signature, &arguments)));
        let faulting = substituted(&self.faulting(t), &map)?;
        self.exclude(&condition, &faulting, transition.span, doubt);
        let enabling = substituted(&self.enabling(t), &map)?;
        let joint = Term::all([condition.clone(), enabling]).simplify();
        if joint.is_false() {
            return Ok(None);
        }
        let mut new = values;
        let mut extra = Vec::new();
        let assigned: Vec<(usize, Term)> = transition
            .assignments
            .iter()
            .map(|(x, e)| Ok((*x, substituted(e, &map)?.simplify())))
            .collect::<Result<_, SymbolicError>>()?;
        for (x, mut value) in assigned {
            if value.size() > NAMED {
                let name = unknown(&model.variables()[x].var, &mut unknowns)?;
                if let Ok(equal) = name.term().equals(&value) {
                    extra.push(equal);
                    value = name.term();
                }
            }
            new[x] = value;
        }
        let joint = Term::all([joint].into_iter().chain(extra));
        let before = s.certain.then_some(&condition);
        let next = self.settled(transition.target, new, joint, before, doubt);
        Ok(next.map(|next| SymbolicState {
            tainted: s.tainted,
            ..next
        }))
    }

    /// The state, if its condition can be true; `before` is a condition known to be satisfiable.
    pub(crate) fn settled(
        &mut self,
        location: LocationId,
        mut values: Vec<Term>,
        condition: Term,
        before: Option<&Term>,
        doubt: &mut Doubt,
    ) -> Option<SymbolicState> {
        let mut condition = settle(&mut values, condition);
        renumber(&mut values, &mut condition);
        if condition.is_false() {
            return None;
        }
        if condition.is_true() && self.known.is_some() {
            let concrete: Option<Vec<Value>> =
                values.iter().map(|t| t.as_value().cloned()).collect();
            if let Some(concrete) = concrete {
                return Some(SymbolicState {
                    location,
                    data: Data::Concrete(concrete.into()),
                    certain: true,
                    tainted: false,
                });
            }
        }
        let certain = if condition.is_true() || before == Some(&condition) {
            true
        } else {
            self.solver.push();
            self.solver.assert(&condition);
            let answer = self.solver.check();
            if let Answer::Unknown(reason) = &answer {
                doubt.note(reason, || self.solver.query_text());
            }
            self.solver.pop();
            match answer {
                Answer::Sat(_) => true,
                Answer::Unsat => return None,
                Answer::Unknown(_) => false,
            }
        };
        let data = Data::Symbolic {
            values: values.into(),
            condition,
        };
        Some(SymbolicState {
            location,
            data,
            certain,
            tainted: false,
        })
    }

    /// Closes under internal actions and turns states and doubts into an answer.
    pub(crate) fn finish(
        &mut self,
        before: &[SymbolicState],
        first: Vec<SymbolicState>,
        mut doubt: Doubt,
    ) -> Result<After, SymbolicError> {
        let mut states = self.fewer(first);
        if states.len() > 1 || states.iter().any(|s| self.has_internal[s.location.index()]) {
            let mut seen: FxHashSet<SymbolicState> = FxHashSet::default();
            states.retain(|s| seen.insert(s.clone()));
            let mut next = 0;
            let mut size = 0;
            while next < states.len() {
                let s = states[next].clone();
                next += 1;
                if !self.has_internal[s.location.index()] {
                    continue;
                }
                let model = self.model.clone();
                for &t in model.outgoing(s.location) {
                    if model.kind(t) != LabelKind::Internal {
                        continue;
                    }
                    for s in self.internal(&s, t, &mut doubt)? {
                        if seen.insert(s.clone()) {
                            size += s.size();
                            states.push(s);
                        }
                    }
                }
                if states.len() > self.max_states {
                    return Ok(After::Unknown {
                        reason: format!("more than {} symbolic states", self.max_states).into(),
                        query: String::new(),
                    });
                }
                if size > MOST_TERMS {
                    return Err(SymbolicError::Bound(
                        "internal actions lead to ever longer conditions and values",
                    ));
                }
            }
        }
        if !doubt.faults.is_empty() {
            let Some(left) = self.without_faults(before, states, &mut doubt) else {
                let (reason, query) = doubt.undecided.unwrap_or_default();
                return Ok(After::Unknown { reason, query });
            };
            states = left;
        }
        if states.iter().any(SymbolicState::is_certain) {
            return Ok(After::Possible(SymbolicStates { states }));
        }
        Ok(match doubt.undecided {
            Some((reason, query)) => After::Unknown { reason, query },
            None if states.is_empty() => After::Impossible,
            None => After::Unknown {
                reason: "only undecided states are left".into(),
                query: String::new(),
            },
        })
    }
}

impl Doubt {
    /// The first thing that was not decided: why, and the query.
    pub(crate) fn first(self) -> Option<(Arc<str>, String)> {
        self.undecided
    }

    /// Whether everything was decided, and has a meaning.
    pub(crate) fn is_none(&self) -> bool {
        self.undecided.is_none() && self.faults.is_empty()
    }

    pub(crate) fn note(&mut self, reason: &str, query: impl FnOnce() -> String) {
        if self.undecided.is_none() {
            self.undecided = Some((reason.into(), query()));
        }
    }

    /// The model has no meaning for constants that meet this condition.
    pub(crate) fn fault(&mut self, constants: Term) {
        if !self.faults.contains(&constants) {
            self.faults.push(constants);
        }
    }

    /// The conditions under which the model has no meaning.
    pub(crate) fn faults(&self) -> &[Term] {
        &self.faults
    }
}

/// A fresh unknown, named after what it is a value of.
pub(crate) fn unknown(like: &Var, last: &mut usize) -> Result<Var, SymbolicError> {
    *last += 1;
    if *last >= 1 << 24 {
        return Err(SymbolicError::Bound("too many unknown values"));
    }
    let name = format!("{}'{last}", like.name);
    Ok(Var::new(
        VarId::new(space::UNKNOWN, *last),
        &name,
        like.sort.clone(),
    ))
}

/// A literal of the variable's sort.
pub(crate) fn literal(var: &Var, value: Value) -> Term {
    let mut map = Substitution::new();
    map.insert_value(var, value);
    var.term().substitute(&map).unwrap_or_else(|_| var.term())
}

pub(crate) fn substituted(term: &Term, map: &Substitution) -> Result<Term, SymbolicError> {
    term.substitute(map)
        .map_err(|_| SymbolicError::Bound("an expression grows too large"))
}

/// A bound that ran out is "unknown"; the other errors are errors.
pub(crate) fn bounded(result: Result<After, SymbolicError>) -> Result<After, SymbolicError> {
    match result {
        Err(SymbolicError::Bound(why)) => Ok(After::Unknown {
            reason: why.into(),
            query: String::new(),
        }),
        other => other,
    }
}
