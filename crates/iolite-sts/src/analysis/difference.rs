//! A bounded search for a difference between systems with data, without a deterministic form of the
//! specification: ways through I^δ, shortest first, each beside the symbolic states of S^δ that the same
//! actions lead to.
//!
//! Constants and initial values of S that nothing fixes are unknowns of the states of S. A trace is one of S if
//! some values of them explain it: the specification is the union of its instances, as [SYM04, §2] puts the
//! constants into the initial state. What the search finds is solved for, and confirmed by the caller.

use std::rc::Rc;
use std::time::{Duration, Instant};

use iolite_expr::{Answer, Model, Solver, Substitution, Term, Value, Var, VarId};

use super::member::row;
use super::problem::{enabling, sound};
use super::run::Run;
use crate::iosts::{GateId, Iosts, LabelKind, LocationId, TransitionId, space};

/// Ways through I^δ that are kept.
const NODES: usize = 4_000;
/// States of S^δ beside one of them.
const BESIDE: usize = 64;
/// Candidates that the specification explains before one more is not tried.
const ROUNDS: usize = 6;
/// The size of one formula.
const SIZE: u32 = 20_000;
/// The length of traces.
const LONGEST: usize = 24;

/// What a search may cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DifferenceBudget {
    /// Questions to the solver.
    pub(crate) questions: usize,
    /// The outer limit.
    pub(crate) time: Duration,
}

/// The outcome of a search.
#[derive(Debug)]
pub(crate) struct Difference {
    /// A run of I^δ whose last step the specification does not allow.
    pub(crate) run: Option<Run>,
    /// Traces up to this length were all looked at.
    pub(crate) depth: usize,
    /// Why it ended.
    pub(crate) ended: String,
}

/// A state of S^δ: values over the trace and over what is unknown of S.
#[derive(Clone)]
struct Beside {
    location: LocationId,
    values: Vec<Term>,
    condition: Term,
}

struct Node {
    location: LocationId,
    values: Vec<Term>,
    condition: Term,
    from: Option<(usize, TransitionId, Vec<Var>)>,
    beside: Rc<Vec<Beside>>,
    /// Whether the last visible step was δ.
    silent: bool,
}

/// One search.
pub(crate) struct DifferenceSearch<'a> {
    /// I^δ.
    implementation: &'a Iosts,
    /// S^δ, over the same visible actions.
    specification: &'a Iosts,
    /// Whether δ ends a trace.
    ends_at_delta: bool,
    solver: &'a mut Solver,
    begin: Instant,
    budget: DifferenceBudget,
    asked: usize,
    fresh: usize,
    nodes: Vec<Node>,
    /// What is unknown of I at the start.
    free: Vec<Var>,
    /// The constants of S as unknowns.
    constants: Substitution,
    /// Unknowns that belong to S: its constants, initial values, and parameters of internal actions.
    unknown: Vec<Var>,
    /// Whether something of the present length was not decided.
    doubt: bool,
}

/// Whether a run, as far as the search can tell, shows a difference.
pub(crate) type Confirm<'c> = dyn FnMut(&Run) -> bool + 'c;

impl<'a> DifferenceSearch<'a> {
    pub(crate) fn new(
        implementation: &'a Iosts,
        specification: &'a Iosts,
        ends_at_delta: bool,
        solver: &'a mut Solver,
        budget: DifferenceBudget,
    ) -> Self {
        Self {
            implementation,
            specification,
            ends_at_delta,
            solver,
            begin: Instant::now(),
            budget,
            asked: 0,
            fresh: 0,
            nodes: Vec::new(),
            free: Vec::new(),
            constants: Substitution::new(),
            unknown: Vec::new(),
            doubt: false,
        }
    }

    /// Looks at longer and longer traces, until a run is confirmed or the budget is used up.
    pub(crate) fn run(mut self, confirm: &mut Confirm<'_>) -> Difference {
        let mut depth = 0;
        let ended = |run, depth, why: &str| Difference {
            run,
            depth,
            ended: why.to_owned(),
        };
        let Some(mut level) = self.start() else {
            return ended(None, 0, "the initial states are too large");
        };
        for length in 1..=LONGEST {
            let mut next = Vec::new();
            let mut at = 0;
            while at < level.len() {
                if self.is_over() {
                    return ended(None, depth, "the search used up its budget");
                }
                match self.extend(level[at], &mut level, &mut next, confirm) {
                    Some(run) => return ended(Some(run), depth, "found"),
                    None => at += 1,
                }
            }
            if !self.doubt {
                depth = length;
            }
            if next.is_empty() {
                let why = if self.doubt {
                    "some traces were not decided"
                } else {
                    "there are no longer traces to look at"
                };
                return ended(None, depth, why);
            }
            level = next;
        }
        ended(None, depth, "longer traces were not looked at")
    }

    fn is_over(&self) -> bool {
        self.asked >= self.budget.questions
            || self.begin.elapsed() > self.budget.time
            || self.nodes.len() > NODES
    }

    fn unknown(&mut self, like: &Var) -> Var {
        self.fresh += 1;
        let id = VarId::new(space::UNKNOWN, self.fresh);
        let name = format!("{}'{}", like.name, self.fresh);
        Var::new(id, &name, like.sort.clone())
    }

    fn check(&mut self, parts: impl IntoIterator<Item = Term>) -> Answer {
        let all = Term::all(parts).simplify();
        if all.is_false() {
            return Answer::Unsat;
        }
        if all.size() > SIZE {
            return Answer::Unknown("the formula is too large".into());
        }
        self.asked += 1;
        self.solver.check_with(&all)
    }

    /// The initial values of a system with what stands for its constants, and Θ.
    fn initial(
        &mut self,
        model: &Iosts,
        constants: &Substitution,
    ) -> Option<(Vec<Term>, Term, Vec<Var>)> {
        let (mut values, mut parts, mut free) = (Vec::new(), Vec::new(), Vec::new());
        for v in model.variables() {
            values.push(if let Some(initial) = &v.initial {
                let initial = initial.substitute(constants).ok()?;
                parts.push(initial.defined());
                initial
            } else {
                let unknown = self.unknown(&v.var);
                free.push(unknown.clone());
                unknown.term()
            });
        }
        let map = state_map(model, &values, constants);
        for a in model.assumptions() {
            parts.push(sound(a).substitute(&map).ok()?);
        }
        Some((values, Term::all(parts).simplify(), free))
    }

    fn start(&mut self) -> Option<Vec<usize>> {
        for c in self.specification.constants() {
            let unknown = self.unknown(&c.var);
            self.constants.insert(c.var.id, unknown.term());
            self.unknown.push(unknown);
        }
        let constants = self.constants.clone();
        let (values, condition, free) = self.initial(self.specification, &constants)?;
        self.unknown.extend(free);
        let first = Beside {
            location: self.specification.initial(),
            values,
            condition,
        };
        let beside = self.closed(vec![first], &true.into());
        let (values, condition, free) = self.initial(self.implementation, &Substitution::new())?;
        self.free = free;
        self.nodes.push(Node {
            location: self.implementation.initial(),
            values,
            condition,
            from: None,
            beside: Rc::new(beside),
            silent: false,
        });
        Some(vec![0])
    }

    /// One step of S from a state, where `given` are the values of the parameters.
    fn step(&mut self, s: &Beside, t: TransitionId, given: &[Term]) -> Option<Beside> {
        let model = self.specification;
        let transition = model.transition(t);
        let params = &model.gate(transition.action).params;
        let mut map = state_map(model, &s.values, &self.constants);
        for (p, value) in params.iter().zip(given) {
            map.insert(p.id, value.clone());
        }
        let guard = enabling(transition).substitute(&map).ok()?;
        let condition = Term::all([s.condition.clone(), guard]).simplify();
        let mut values = s.values.clone();
        for (x, e) in &transition.assignments {
            values[*x] = e.substitute(&map).ok()?.simplify();
        }
        let target = transition.target;
        (condition.size() <= SIZE).then_some(Beside {
            location: target,
            values,
            condition,
        })
    }

    /// The states with those that internal actions lead to, as far as they are possible where `here` holds.
    fn closed(&mut self, first: Vec<Beside>, here: &Term) -> Vec<Beside> {
        let mut states: Vec<Beside> = Vec::new();
        let mut open = first;
        open.reverse();
        while let Some(s) = open.pop() {
            if s.condition.is_false() {
                continue;
            }
            match self.check([here.clone(), s.condition.clone()]) {
                Answer::Unsat => continue,
                Answer::Sat(_) => {}
                // A state too many can only hide a difference.
                Answer::Unknown(_) => self.doubt = true,
            }
            let model = self.specification;
            let known = |o: &Beside| {
                (o.location, &o.values, &o.condition) == (s.location, &s.values, &s.condition)
            };
            if states.iter().any(known) {
                continue;
            }
            if states.len() >= BESIDE || self.is_over() {
                self.doubt = true;
                break;
            }
            for &t in model.outgoing(s.location) {
                if model.kind(t) != LabelKind::Internal {
                    continue;
                }
                let params = &model.gate(model.transition(t).action).params;
                let chosen: Vec<Var> = params.iter().map(|p| self.unknown(p)).collect();
                let given: Vec<Term> = chosen.iter().map(Var::term).collect();
                self.unknown.extend(chosen);
                match self.step(&s, t, &given) {
                    Some(next) => open.push(next),
                    None => self.doubt = true,
                }
            }
            states.push(s);
        }
        states
    }

    /// The states of S after an action.
    fn after(
        &mut self,
        beside: &[Beside],
        gate: Option<GateId>,
        given: &[Term],
        here: &Term,
    ) -> Vec<Beside> {
        let model = self.specification;
        let mut next = Vec::new();
        for s in beside {
            for &t in model.outgoing(s.location) {
                if Some(model.transition(t).action) != gate {
                    continue;
                }
                match self.step(s, t, given) {
                    Some(after) => next.push(after),
                    None => self.doubt = true,
                }
            }
        }
        self.closed(next, here)
    }

    /// Goes on from a node by every transition; a confirmed run ends the search.
    fn extend(
        &mut self,
        at: usize,
        level: &mut Vec<usize>,
        next: &mut Vec<usize>,
        confirm: &mut Confirm<'_>,
    ) -> Option<Run> {
        let model = self.implementation;
        for &t in model.outgoing(self.nodes[at].location) {
            let transition = model.transition(t);
            let gate = model.gate(transition.action);
            let kind = gate.kind;
            // A second δ in a row shows nothing new.
            if kind == LabelKind::Delta && self.nodes[at].silent {
                continue;
            }
            let params = gate.params.clone();
            let arguments: Vec<Var> = params.iter().map(|p| self.unknown(p)).collect();
            let given: Vec<Term> = arguments.iter().map(Var::term).collect();
            let mut map = state_map(model, &self.nodes[at].values, &Substitution::new());
            for (p, value) in params.iter().zip(&given) {
                map.insert(p.id, value.clone());
            }
            let Ok(guard) = enabling(transition).substitute(&map) else {
                self.doubt = true;
                continue;
            };
            let condition = Term::all([self.nodes[at].condition.clone(), guard]).simplify();
            let mut values = self.nodes[at].values.clone();
            let mut fits = condition.size() <= SIZE;
            for (x, e) in &transition.assignments {
                match e.substitute(&map) {
                    Ok(value) => values[*x] = value.simplify(),
                    Err(_) => fits = false,
                }
            }
            if !fits {
                self.doubt = true;
                continue;
            }
            let before = Rc::clone(&self.nodes[at].beside);
            let explained = explained(&before);
            match self.check([condition.clone(), explained.clone()]) {
                Answer::Unsat => continue,
                Answer::Sat(_) => {}
                Answer::Unknown(_) => self.doubt = true,
            }
            let beside = if kind == LabelKind::Internal {
                before
            } else {
                let own = self.specification.find_gate(kind, &gate.name);
                Rc::new(self.after(&before, own, &given, &condition))
            };
            let node = Node {
                location: transition.target,
                values,
                condition: condition.clone(),
                from: Some((at, t, arguments)),
                beside: Rc::clone(&beside),
                silent: kind == LabelKind::Delta || !kind.is_visible() && self.nodes[at].silent,
            };
            self.nodes.push(node);
            let new = self.nodes.len() - 1;
            if kind == LabelKind::Internal {
                level.push(new);
                continue;
            }
            if kind != LabelKind::Input
                && let Some(run) = self.differs(new, condition, explained, confirm)
            {
                return Some(run);
            }
            if !(beside.is_empty() || self.ends_at_delta && kind == LabelKind::Delta) {
                next.push(new);
            }
        }
        None
    }

    /// A run to a node whose last step no state of S explains, although one explains all before it.
    fn differs(
        &mut self,
        end: usize,
        condition: Term,
        explained: Term,
        confirm: &mut Confirm<'_>,
    ) -> Option<Run> {
        let mut parts = vec![condition, explained];
        let after = Rc::clone(&self.nodes[end].beside);
        let mut open = Vec::new();
        for s in after.iter() {
            let read = s.condition.free_vars();
            let own = self.unknown.iter().filter(|v| read.contains(v));
            let own: Vec<Var> = own.cloned().collect();
            match self.solver.eliminate(&own, &s.condition) {
                Some(allowed) => parts.push(sound(&allowed).negated()),
                None => open.push((own, s.condition.clone())),
            }
        }
        for _ in 0..ROUNDS {
            let found = match self.check(parts.iter().cloned()) {
                Answer::Unsat => return None,
                Answer::Unknown(_) => break,
                Answer::Sat(found) => found,
            };
            let Some(run) = self.way(end, &found) else {
                break;
            };
            if confirm(&run) {
                return Some(run);
            }
            // What explains this trace explains others: those are not asked for again.
            let mut learnt = false;
            for (own, allowed) in &open {
                let shown = self.shown(end, &found);
                let Ok(here) = allowed.substitute(&shown) else {
                    continue;
                };
                if let Answer::Sat(why) = self.check([here]) {
                    let values = own.iter().zip(row(&why, own));
                    let map = values.map(|(v, x)| (v.id, crate::symbolic::literal(v, x)));
                    let Ok(other) = allowed.substitute(&map.collect()) else {
                        continue;
                    };
                    parts.push(sound(&other).negated());
                    learnt = true;
                }
            }
            if !learnt {
                break;
            }
        }
        self.doubt = true;
        None
    }

    /// The transitions on the way to a node, with their parameters.
    fn steps(&self, end: usize) -> Vec<(TransitionId, Vec<Var>)> {
        let mut steps = Vec::new();
        let mut at = end;
        while let Some((before, t, arguments)) = &self.nodes[at].from {
            steps.push((*t, arguments.clone()));
            at = *before;
        }
        steps.reverse();
        steps
    }

    /// The values of the trace to a node.
    fn shown(&self, end: usize, found: &Model) -> Substitution {
        let arguments = self.steps(end).into_iter().flat_map(|(_, a)| a);
        let arguments: Vec<Var> = arguments.collect();
        let values = arguments.iter().zip(row(found, &arguments));
        values
            .map(|(v, x)| (v.id, crate::symbolic::literal(v, x)))
            .collect()
    }

    fn way(&self, end: usize, found: &Model) -> Option<Run> {
        let model = self.implementation;
        let constants: Vec<Var> = model.constants().iter().map(|c| c.var.clone()).collect();
        let values = constants.iter().chain(&self.free);
        let values: Vec<Var> = values.cloned().collect();
        // Values that nothing asks for are the default ones in every term.
        let fixed = values.iter().zip(row(found, &values));
        let fixed: Substitution = fixed
            .map(|(v, x)| (v.id, crate::symbolic::literal(v, x)))
            .collect();
        let initial = self.nodes[0].values.iter().map(|t| {
            let ground = t.substitute(&fixed).ok()?;
            ground.eval(&Model::default()).ok()
        });
        let initial: Option<Vec<Value>> = initial.collect();
        let steps = self.steps(end).into_iter();
        Some(Run {
            constants: row(found, &constants),
            initial: initial?,
            steps: steps.map(|(t, a)| (t, row(found, &a))).collect(),
        })
    }
}

/// Whether one of the states of S explains the trace.
fn explained(beside: &[Beside]) -> Term {
    Term::any(beside.iter().map(|s| s.condition.clone())).simplify()
}

fn state_map(model: &Iosts, values: &[Term], constants: &Substitution) -> Substitution {
    let mut map = constants.clone();
    for (v, t) in model.variables().iter().zip(values) {
        map.insert(v.var.id, t.clone());
    }
    map
}
