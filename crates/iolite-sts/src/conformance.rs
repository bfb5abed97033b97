//! ioco, uioco and ioconf between systems with data, by lemma 4 of [SYM04]: I ioco S iff I^δ satisfies the observer
//! (Σ!(det(S^δ)), Fail). For uioco det(S^δ) has an input only where every state takes it.
//!
//! A proof is an inductive invariant of the product, so a simulation of I by the tester of S; a refutation
//! is a run. Tests of bounded length say how long traces are on which there is no difference, and
//! make counterexamples shortest ones.

use iolite_expr::{Answer as Satisfiable, Solver, Sort, Span, Term, Var, VarId};
use iolite_lts::QuiescencePolicy;

use crate::analysis::{Answer, VerifyBudget, satisfies, verify};
use crate::closure::DeterminiseError;
use crate::compose::{ComposeError, same_signature};
use crate::iosts::{Gate, GateId, Iosts, LabelKind, LocationId, Transition, Variable, space};

/// Why the question cannot be asked so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConformanceError {
    /// The specification has no deterministic form.
    #[error("the specification has no deterministic form that was found: {0}")]
    Determinise(DeterminiseError),
    /// What the implementation refuses cannot be said.
    #[error("which inputs the implementation refuses was not found out: {0}")]
    Refusal(DeterminiseError),
    /// Where constants or variables of the specification have no value, its traces are those of all its
    /// instances, and no one of them decides.
    #[error("{0} of the specification has no value")]
    Unknown(Box<str>),
    /// An action has other parameters on the other side.
    #[error(transparent)]
    Compose(#[from] ComposeError),
}

/// How a question of conformance came out.
#[derive(Clone, Debug)]
pub struct Conformance {
    /// I^δ beside the tester of S, which the answer speaks of.
    pub product: Iosts,
    /// Proved, refuted or neither.
    pub answer: Answer,
    /// Up to this length of traces there is no difference.
    pub depth: usize,
}

/// Locations and transitions of det(S^δ).
const MOST: usize = 2_000;
/// Lengths of traces that are tried where the whole was not proved.
const LONGEST: usize = 24;

/// The relations that are decided so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataRelation {
    /// ioco.
    Ioco,
    /// uioco: inputs that some state refuses are not specified.
    Uioco,
    /// ioconf: δ ends a trace.
    Ioconf,
}

/// Decides I ioco S, I uioco S or I ioconf S.
pub fn conforms(
    implementation: &Iosts,
    specification: &Iosts,
    relation: DataRelation,
    policy: QuiescencePolicy,
    solver: &mut Solver,
    budget: VerifyBudget,
) -> Result<Conformance, ConformanceError> {
    let open = specification.variables.iter().find(|v| v.initial.is_none());
    let open = open.map(|v| &v.var).or_else(|| {
        let first = specification.constants.first();
        first.map(|c| &c.var)
    });
    if let Some(var) = open {
        return Err(ConformanceError::Unknown((*var.name).into()));
    }
    let implementation = implementation.with_gates_of(specification)?;
    let specification = specification.with_gates_of(&implementation)?;
    let quiescent = specification.quiescent_with(solver);
    let deterministic = match relation {
        DataRelation::Uioco => quiescent.determinised_for_uioco(solver, MOST),
        DataRelation::Ioco | DataRelation::Ioconf => quiescent.determinised(solver, MOST),
    };
    let deterministic = deterministic.map_err(ConformanceError::Determinise)?;
    let (mut tester, fail) = deterministic.output_completed();
    if relation == DataRelation::Ioconf {
        tester.end_at_delta(fail);
    }
    let mut ask = |tester: &Iosts, budget: VerifyBudget| {
        satisfies(&implementation, tester, &[fail], policy, solver, budget)
    };
    let (product, answer) = ask(&tester, budget)?;
    if let Answer::Proved(_) = answer {
        return Ok(Conformance {
            product,
            answer,
            depth: usize::MAX,
        });
    }
    let found = match &answer {
        Answer::Refuted(refutation) => Some(refutation.trace.len()),
        _ => None,
    };
    let part = VerifyBudget {
        steps: budget.steps / 4,
        time: budget.time / 4,
        ..budget
    };
    let begin = std::time::Instant::now();
    let mut depth = 0;
    for length in 1..=found.map_or(LONGEST, |n| n.saturating_sub(1)) {
        let (product, answer) = ask(&tester.within(length), part)?;
        match answer {
            Answer::Proved(_) => depth = length,
            refuted @ Answer::Refuted(_) => {
                return Ok(Conformance {
                    product,
                    answer: refuted,
                    depth,
                });
            }
            Answer::Unknown { .. } => break,
        }
        if begin.elapsed() > budget.time {
            break;
        }
    }
    Ok(Conformance {
        product,
        answer,
        depth,
    })
}

/// Whether every reachable state takes every input of the specification, after internal steps if need
/// be: proved, refuted by a run to a state that refuses the last input, or neither.
pub fn is_input_enabled(
    implementation: &Iosts,
    specification: &Iosts,
    solver: &mut Solver,
    budget: VerifyBudget,
) -> Result<(Iosts, Answer), ConformanceError> {
    let model = implementation.with_gates_of(specification)?;
    let (watched, refuses) = model.with_refused_inputs(solver)?;
    let answer = verify(&watched, &[refuses], solver, budget);
    Ok((watched, answer))
}

impl Iosts {
    /// The system in which an input that a state refuses changes nothing.
    pub fn input_completed(
        &self,
        specification: &Self,
        solver: &mut Solver,
    ) -> Result<Self, ConformanceError> {
        let model = self.with_gates_of(specification)?;
        let refused = model.refused_inputs(solver)?;
        let mut result = model;
        for (source, action, guard) in refused {
            result.push(source, action, guard, source);
        }
        result.index_outgoing();
        Ok(result)
    }

    /// The system with a new location, entered by inputs that a state refuses.
    fn with_refused_inputs(
        &self,
        solver: &mut Solver,
    ) -> Result<(Self, LocationId), ConformanceError> {
        let refused = self.refused_inputs(solver)?;
        let mut result = self.clone();
        let refuses = result.add_location("Refuses");
        for (source, action, guard) in refused {
            result.push(source, action, guard, refuses);
        }
        result.index_outgoing();
        Ok((result, refuses))
    }

    /// For each location the inputs that it may refuse, and when: no internal steps lead to them.
    fn refused_inputs(
        &self,
        solver: &mut Solver,
    ) -> Result<Vec<(LocationId, GateId, Term)>, ConformanceError> {
        let weak = self.without_internal(solver, MOST);
        let weak = weak.map_err(ConformanceError::Refusal)?;
        let mut all = Vec::new();
        for (source, _) in self.locations() {
            for (action, gate) in self.gates().filter(|(_, g)| g.kind == LabelKind::Input) {
                let own = weak.find_gate(gate.kind, &gate.name);
                let ways = weak.outgoing(source).iter().map(|t| weak.transition(*t));
                let ways = ways.filter(|t| Some(t.action) == own);
                let taken = ways.map(|t| Term::all([t.guard.defined(), t.guard.clone()]));
                let guard = Term::any(taken).negated().simplify();
                let never =
                    guard.is_false() || matches!(solver.check_with(&guard), Satisfiable::Unsat);
                if !never {
                    all.push((source, action, guard));
                }
            }
        }
        Ok(all)
    }

    fn push(&mut self, source: LocationId, action: GateId, guard: Term, target: LocationId) {
        self.transitions.push(Transition {
            source,
            action,
            guard,
            assignments: Vec::new(),
            target,
            span: Span::NONE,
        });
    }

    /// The system over its own visible actions and those of another one.
    pub(crate) fn with_gates_of(&self, other: &Self) -> Result<Self, ComposeError> {
        let mut result = self.clone();
        let visible = |g: &&Gate| matches!(g.kind, LabelKind::Input | LabelKind::Output);
        for gate in other.gates.iter().filter(visible) {
            match self.find_gate(gate.kind, &gate.name) {
                None => result.gates.push(gate.clone()),
                Some(own) if same_signature(self.gate(own), gate) => {}
                Some(_) => {
                    return Err(ComposeError::Signature {
                        action: gate.name.clone(),
                        left: self.name.clone(),
                        right: other.name.clone(),
                    });
                }
            }
        }
        Ok(result)
    }

    /// After δ, where it is allowed, nothing is judged any more.
    fn end_at_delta(&mut self, fail: LocationId) {
        let end = self.add_location("End");
        for i in 0..self.transitions.len() {
            let t = &self.transitions[i];
            if self.gate(t.action).kind == LabelKind::Delta && t.target != fail {
                self.transitions[i].target = end;
            }
        }
        self.index_outgoing();
    }

    /// The traces of at most this length.
    fn within(&self, length: usize) -> Self {
        let mut result = self.clone();
        let x = result.variables.len();
        let mut name = "length".to_owned();
        while result.variables.iter().any(|v| *v.var.name == *name) {
            name.push('\'');
        }
        let var = Var::new(VarId::new(space::VARIABLE, x), &name, Sort::Int);
        let count = var.term();
        let bound = i64::try_from(length).unwrap_or(i64::MAX);
        let (Ok(more), Ok(next)) = (count.lt(bound), count.plus(1)) else {
            return result;
        };
        result.variables.push(Variable {
            var,
            initial: Some(0.into()),
            span: Span::NONE,
        });
        for t in &mut result.transitions {
            t.guard = Term::all([more.clone(), t.guard.clone()]);
            t.assignments.push((x, next.clone()));
        }
        result
    }
}
