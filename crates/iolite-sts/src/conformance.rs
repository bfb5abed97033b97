//! ioco, uioco and ioconf between systems with data, by lemma 4 of [SYM04]: I ioco S iff I^δ satisfies the observer
//! (Σ!(det(S^δ)), Fail). For uioco det(S^δ) has an input only where every state takes it.
//!
//! A proof is an inductive invariant of the product, so a simulation of I by the tester of S; a refutation
//! is a run. Tests of bounded length say how long traces are on which there is no difference, and
//! make counterexamples shortest ones.
//!
//! Lemma 4 is about one det(S^δ). Where constants of S have no value its instances have one each
//! (`conformance_instances.rs`), and where there is none, traces are searched instead (`conformance_search.rs`).

use iolite_expr::{Answer as Satisfiable, Solver, Sort, Span, Term, Value, Var, VarId};
use iolite_lts::QuiescencePolicy;

use crate::analysis::{Answer, ObservedProduct, Proof, VerifyBudget, satisfies, verify, watch};
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
    /// A constant or variable has no value, and what a run or a proof means depends on it.
    #[error("{0} has no value")]
    Unknown(Box<str>),
    /// An action has other parameters on the other side.
    #[error(transparent)]
    Compose(#[from] ComposeError),
}

/// How a question of conformance came out.
#[derive(Clone, Debug)]
pub struct Conformance {
    /// What the answer speaks of: I^δ beside the tester of S, or I^δ alone where runs were searched for.
    pub product: Iosts,
    /// Proved, refuted or neither.
    pub answer: Answer,
    /// Up to this length of traces there is no difference.
    pub depth: usize,
    /// Which instance of the specification a proof speaks of, where constants of it have no value.
    pub instance: Option<InstanceProof>,
}

/// A proof by one instance of a specification: what else is needed for it to be one of the whole
/// (`conformance_instances.rs`).
#[derive(Clone, Debug)]
pub struct InstanceProof {
    /// Values of the constants that the implementation does not have.
    pub values: Vec<(Box<str>, Value)>,
    /// I^δ beside the inputs that another instance specifies and this one does not, with the invariant that
    /// excludes them; nothing for uioco, which needs none.
    pub specified: Option<(Iosts, Proof)>,
}

/// Locations and transitions of det(S^δ).
pub(crate) const MOST: usize = 2_000;
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

/// An implementation and the tester of a specification in which everything has a value: what proofs of a
/// relation speak of.
#[derive(Clone, Debug)]
pub struct Comparison {
    implementation: Iosts,
    tester: Iosts,
    fail: LocationId,
}

impl Comparison {
    /// The tester of S is Σ!(det(S^δ)), over the actions of both.
    pub fn new(
        implementation: &Iosts,
        specification: &Iosts,
        relation: DataRelation,
        solver: &mut Solver,
    ) -> Result<Self, ConformanceError> {
        let open = specification.variables.iter().find(|v| v.initial.is_none());
        let open = open.map(|v| &v.var);
        if let Some(var) = open.or_else(|| specification.constants.first().map(|c| &c.var)) {
            return Err(ConformanceError::Unknown((*var.name).into()));
        }
        let implementation = implementation.with_gates_of(specification)?;
        let specification = specification.with_gates_of(&implementation)?;
        let quiescent = specification.quiescent_with(solver);
        let deterministic = relation.determinised(&quiescent, solver);
        let deterministic = deterministic.map_err(ConformanceError::Determinise)?;
        let (tester, fail) = relation.tester(&deterministic);
        Ok(Self {
            implementation,
            tester,
            fail,
        })
    }

    /// I^δ beside the tester.
    pub fn product(&self, policy: QuiescencePolicy) -> Result<ObservedProduct, ConformanceError> {
        let Self {
            implementation,
            tester,
            fail,
        } = self;
        Ok(watch(implementation, tester, &[*fail], policy)?)
    }
}

impl DataRelation {
    /// det(S^δ), as the relation reads it.
    pub(crate) fn determinised(
        self,
        quiescent: &Iosts,
        solver: &mut Solver,
    ) -> Result<Iosts, DeterminiseError> {
        match self {
            Self::Uioco => quiescent.determinised_for_uioco(solver, MOST),
            Self::Ioco | Self::Ioconf => quiescent.determinised(solver, MOST),
        }
    }

    /// Σ!(det(S^δ)) and its location Fail.
    pub(crate) fn tester(self, deterministic: &Iosts) -> (Iosts, LocationId) {
        let (mut tester, fail) = deterministic.output_completed();
        if self == Self::Ioconf {
            tester.end_at_delta(fail);
        }
        (tester, fail)
    }
}

/// One question of conformance: the two systems over the same visible actions, and how they are compared.
pub(crate) struct Question<'a> {
    pub(crate) implementation: Iosts,
    pub(crate) specification: Iosts,
    pub(crate) relation: DataRelation,
    pub(crate) policy: QuiescencePolicy,
    pub(crate) solver: &'a mut Solver,
    pub(crate) budget: VerifyBudget,
}

/// Decides I ioco S, I uioco S or I ioconf S.
///
/// Constants of S without a value belong to its initial states [SYM04, §2], so Traces(S^δ) are those of
/// all its instances. A constant of I stands for each of its values.
pub fn conforms(
    implementation: &Iosts,
    specification: &Iosts,
    relation: DataRelation,
    policy: QuiescencePolicy,
    solver: &mut Solver,
    budget: VerifyBudget,
) -> Result<Conformance, ConformanceError> {
    let implementation = implementation.with_gates_of(specification)?;
    let specification = specification.with_gates_of(&implementation)?;
    let is_open = !specification.constants.is_empty()
        || specification.variables.iter().any(|v| v.initial.is_none());
    let question = Question {
        implementation,
        specification,
        relation,
        policy,
        solver,
        budget,
    };
    question.decide(is_open)
}

impl Question<'_> {
    fn decide(mut self, is_open: bool) -> Result<Conformance, ConformanceError> {
        let quiescent = self.specification.quiescent_with(self.solver);
        match self.relation.determinised(&quiescent, self.solver) {
            Err(error) => {
                let why =
                    format!("the specification has no deterministic form that was found: {error}");
                Ok(self.search(&quiescent, vec![why]))
            }
            Ok(deterministic) if is_open => self.by_instances(&quiescent, &deterministic),
            Ok(deterministic) => self.by_tester(&deterministic),
        }
    }

    /// Σ!(det(S^δ)) and its location Fail.
    pub(crate) fn tester(&self, deterministic: &Iosts) -> (Iosts, LocationId) {
        self.relation.tester(deterministic)
    }

    /// Whether I^δ satisfies an observer.
    pub(crate) fn ask(
        &mut self,
        observer: &Iosts,
        violating: &[LocationId],
        budget: VerifyBudget,
    ) -> Result<(Iosts, Answer), ConformanceError> {
        let (policy, i) = (self.policy, &self.implementation);
        Ok(satisfies(
            i,
            observer,
            violating,
            policy,
            self.solver,
            budget,
        )?)
    }

    fn by_tester(&mut self, deterministic: &Iosts) -> Result<Conformance, ConformanceError> {
        let (tester, fail) = self.tester(deterministic);
        let budget = self.budget;
        let (product, answer) = self.ask(&tester, &[fail], budget)?;
        if let Answer::Proved(_) = answer {
            return Ok(Conformance {
                product,
                answer,
                depth: usize::MAX,
                instance: None,
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
            let (product, answer) = self.ask(&tester.within(length), &[fail], part)?;
            match answer {
                Answer::Proved(_) => depth = length,
                refuted @ Answer::Refuted(_) => {
                    return Ok(Conformance {
                        product,
                        answer: refuted,
                        depth,
                        instance: None,
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
            instance: None,
        })
    }
}

/// Whether every reachable state takes every input of the specification, after internal steps if need
/// be: proved, refuted by a run to a state that refuses the last input, or neither.
pub fn is_input_enabled(
    implementation: &Iosts,
    specification: &Iosts,
    solver: &mut Solver,
    budget: VerifyBudget,
) -> Result<(Iosts, Answer), ConformanceError> {
    let watched = refusing(implementation, specification, solver)?;
    let answer = verify(&watched.model, &watched.marked, solver, budget);
    Ok((watched.model, answer))
}

/// The implementation with a marked location that is entered by the inputs which a state refuses.
pub fn refusing(
    implementation: &Iosts,
    specification: &Iosts,
    solver: &mut Solver,
) -> Result<ObservedProduct, ConformanceError> {
    let model = implementation.with_gates_of(specification)?;
    let (model, refuses) = model.with_refused_inputs(solver)?;
    Ok(ObservedProduct {
        model,
        marked: vec![refuses],
        silent: None,
    })
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

    pub(crate) fn push(
        &mut self,
        source: LocationId,
        action: GateId,
        guard: Term,
        target: LocationId,
    ) {
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
