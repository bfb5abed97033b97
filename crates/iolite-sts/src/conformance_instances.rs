//! Conformance to a specification whose constants, or initial values, are not all known.
//!
//! S is the union of its instances S(c) [SYM04, §2], and ioco is not monotone in S, so it is not enough that I
//! conforms to one of them: another one may specify an input that this one leaves open, and forbid what I does
//! after it. I ioco S holds if for some c
//!
//! 1. I ioco S(c), and
//! 2. after no trace that I has some S(c') specifies an input that S(c) does not.
//!
//! Proof: a trace of I that is one of S(c') is one of S(c), by induction over its length: outputs by 1,
//! inputs by 2; so what I shows after it is allowed by S(c), and so by S. Uioco needs no second part, since an
//! input that S(c) leaves open in some state is left open by S too.
//!
//! Which c: constants that I has too have I's values, for each of which the question is asked; values for
//! the others are guessed, and corrected by the traces that a wrong guess does not explain.

use std::time::Instant;

use iolite_expr::{Answer as Satisfiable, Solver, Substitution, Term, Value, Var, VarId, qe};
use iolite_lts::QuiescencePolicy;

use crate::analysis::{Answer, ObservedProduct, Refutation, VerifyBudget, watch, watched_product};
use crate::conformance::{Conformance, ConformanceError, DataRelation, InstanceProof, Question};
use crate::conformance_search::Confirmation;
use crate::iosts::{Iosts, LabelKind, LocationId, space};
use crate::path_formula::TraceStep;
use crate::semantics::ValuedAction;

/// Values of constants that are tried.
const GUESSES: usize = 8;
/// Points of runs that are looked at to learn from a trace.
const POINTS: usize = 500;

impl Question<'_> {
    /// The search for a shortest difference first, then a proof by an instance. S^δ and det(S^δ) are of the whole.
    pub(crate) fn by_instances(
        &mut self,
        quiescent: &Iosts,
        deterministic: &Iosts,
    ) -> Result<Conformance, ConformanceError> {
        let begin = Instant::now();
        let searched = self.searched(quiescent);
        if let Some(refutation) = searched.refutation {
            return Ok(Conformance {
                product: searched.model,
                answer: Answer::Refuted(refutation),
                depth: searched.depth,
                instance: None,
            });
        }
        let mut left = Vec::new();
        let mut learnt: Vec<Term> = Vec::new();
        for _ in 0..GUESSES {
            if begin.elapsed() > self.budget.time {
                left.push("the time is up".to_owned());
                break;
            }
            let guess = match self.guess(&learnt) {
                Ok(guess) => guess,
                Err(why) => {
                    left.push(why);
                    break;
                }
            };
            let known: Vec<(&str, Value)> = guess.iter().map(|(n, v)| (&**n, v.clone())).collect();
            let Ok(instance) = deterministic.instance(deterministic.name(), &known) else {
                left.push("the values that were tried for constants do not fit".to_owned());
                break;
            };
            if !has_instances(&self.implementation, &instance) {
                left.push(
                    "not all values of the implementation's constants are values of the specification's"
                        .to_owned(),
                );
                break;
            }
            match self.instance_decides(&instance, deterministic)? {
                Decided::Yes(mut conformance) => {
                    if let Some(proof) = &mut conformance.instance {
                        proof.values = guess;
                    }
                    return Ok(*conformance);
                }
                Decided::Trace(trace) => match self.explanations(&trace) {
                    Some(conditions) if !guess.is_empty() => {
                        learnt.push(Term::any(conditions));
                    }
                    _ => {
                        left.push(format!(
                            "with these values of its constants{} the specification forbids a trace \
                             that it has with others",
                            told(&guess)
                        ));
                        break;
                    }
                },
                Decided::Open(why) => {
                    left.extend(why);
                    break;
                }
            }
        }
        left.push(format!("search for a difference: {}", searched.ended));
        Ok(Conformance {
            product: searched.model,
            answer: Answer::Unknown { left },
            depth: searched.depth,
            instance: None,
        })
    }

    /// Values for the constants that the implementation does not have.
    fn guess(&mut self, learnt: &[Term]) -> Result<Vec<(Box<str>, Value)>, String> {
        let open = self.specification.constants.iter().map(|c| &c.var);
        let shared = |v: &&Var| same_constant(&self.implementation, v).is_none();
        let open: Vec<Var> = open.filter(shared).cloned().collect();
        if open.is_empty() {
            return Ok(Vec::new());
        }
        let solver = &mut *self.solver;
        solver.push();
        for v in &open {
            solver.declare(v);
        }
        let condition = self.specification.initial_condition();
        solver.assert(&Term::all([condition.defined(), condition]));
        for term in learnt {
            solver.assert(term);
        }
        let answer = solver.check();
        solver.pop();
        let found = match answer {
            Satisfiable::Sat(found) => found,
            Satisfiable::Unsat => {
                return Err("no one instance of the specification explains all traces".to_owned());
            }
            Satisfiable::Unknown(why) => return Err(why.to_string()),
        };
        let value = |v: &Var| {
            let value = found.value(v.id).cloned();
            let value = value.unwrap_or_else(|| v.sort.default_value());
            ((*v.name).into(), value)
        };
        Ok(open.iter().map(value).collect())
    }

    fn instance_decides(
        &mut self,
        instance: &Iosts,
        whole: &Iosts,
    ) -> Result<Decided, ConformanceError> {
        let part = VerifyBudget {
            steps: self.budget.steps / 2,
            time: self.budget.time / 3,
            ..self.budget
        };
        let (tester, fail) = self.tester(instance);
        let (product, answer) = self.ask(&tester, &[fail], part)?;
        let proof = match answer {
            Answer::Proved(proof) => proof,
            Answer::Unknown { left } => return Ok(Decided::Open(left)),
            Answer::Refuted(found) => return Ok(self.refuted(product, found)),
        };
        let mut specified = None;
        if self.relation != DataRelation::Uioco {
            let (watched, gone) = left_open(instance, whole)?;
            let (product, answer) = self.ask(&watched, &gone, part)?;
            match answer {
                Answer::Proved(proof) => specified = Some((product, proof)),
                Answer::Unknown { left } => return Ok(Decided::Open(left)),
                Answer::Refuted(_) => {
                    let why = "an input is specified with some values of the constants only";
                    return Ok(Decided::Open(vec![why.to_owned()]));
                }
            }
        }
        let answer = Answer::Proved(proof);
        let depth = usize::MAX;
        Ok(Decided::Yes(Box::new(Conformance {
            product,
            answer,
            depth,
            instance: Some(InstanceProof {
                values: Vec::new(),
                specified,
            }),
        })))
    }

    /// What one instance forbids all of them may forbid.
    fn refuted(&self, product: Iosts, found: Refutation) -> Decided {
        let asked = Confirmation {
            implementation: &self.implementation,
            specification: &self.specification,
            relation: self.relation,
            policy: self.policy,
        };
        if asked.confirms(&found.run, &product) {
            return Decided::Yes(Box::new(Conformance {
                depth: 0,
                answer: Answer::Refuted(found),
                product,
                instance: None,
            }));
        }
        let step = |a: &ValuedAction| {
            let gate = product.gate(a.action);
            if gate.kind == LabelKind::Delta {
                return Some(TraceStep::Delta);
            }
            let action = self.specification.find_gate(gate.kind, &gate.name)?;
            let values = a.values.clone();
            Some(TraceStep::Action(ValuedAction { action, values }))
        };
        let trace: Option<Vec<TraceStep>> = found.trace.iter().map(step).collect();
        trace.map_or_else(|| Decided::Open(Vec::new()), Decided::Trace)
    }

    /// The conditions over the constants under which S has a trace.
    fn explanations(&mut self, trace: &[TraceStep]) -> Option<Vec<Term>> {
        let found = self
            .specification
            .trace_conditions(trace, self.policy, self.solver, POINTS);
        found.ok().filter(|all| !all.is_empty())
    }
}

/// What a proof by an instance speaks of: I^δ beside the tester of S(c), and, but for uioco, beside the inputs that
/// another instance specifies and this one does not.
#[derive(Clone, Debug)]
pub struct InstanceComparison {
    /// [SYM04, lemma 4] for S(c).
    pub product: ObservedProduct,
    /// That S(c) specifies every input that matters.
    pub specified: Option<ObservedProduct>,
}

impl InstanceComparison {
    /// The products for an instance with these values; `None` where they do not fit, or the instance has no initial
    /// state for some values of the implementation's constants, so that a product would be empty and prove anything.
    pub fn new(
        implementation: &Iosts,
        specification: &Iosts,
        relation: DataRelation,
        values: &[(&str, Value)],
        policy: QuiescencePolicy,
        solver: &mut Solver,
    ) -> Result<Option<Self>, ConformanceError> {
        let implementation = implementation.with_gates_of(specification)?;
        let specification = specification.with_gates_of(&implementation)?;
        let quiescent = specification.quiescent_with(solver);
        let whole = relation.determinised(&quiescent, solver);
        let whole = whole.map_err(ConformanceError::Determinise)?;
        let Ok(instance) = whole.instance(whole.name(), values) else {
            return Ok(None);
        };
        if !has_instances(&implementation, &instance) {
            return Ok(None);
        }
        let (tester, fail) = relation.tester(&instance);
        let product = watch(&implementation, &tester, &[fail], policy)?;
        let specified = if relation == DataRelation::Uioco {
            None
        } else {
            let (watched, gone) = left_open(&instance, &whole)?;
            Some(watch(&implementation, &watched, &gone, policy)?)
        };
        Ok(Some(Self { product, specified }))
    }
}

/// What one instance says.
enum Decided {
    /// It decides the whole.
    Yes(Box<Conformance>),
    /// It forbids this trace, and others do not.
    Trace(Vec<TraceStep>),
    /// Nothing.
    Open(Vec<String>),
}

fn told(guess: &[(Box<str>, Value)]) -> String {
    let all: Vec<String> = guess.iter().map(|(n, v)| format!("{n} = {v}")).collect();
    if all.is_empty() {
        String::new()
    } else {
        format!(" ({})", all.join(", "))
    }
}

/// The constant of a system with this name and sort.
fn same_constant(system: &Iosts, var: &Var) -> Option<Var> {
    let all = system.constants.iter().map(|c| &c.var);
    let mut same = all.filter(|c| c.name == var.name && c.sort == var.sort);
    same.next().cloned()
}

/// Whether S has, for all values of the constants of I, an initial state in which the constants that both have
/// are the same. Without it a product with S would be empty for some of them, and prove anything.
pub(crate) fn has_instances(implementation: &Iosts, specification: &Iosts) -> bool {
    let mut map = Substitution::new();
    let mut open: Vec<Var> = Vec::new();
    let mut unknown = |like: &Var| {
        let id = VarId::new(space::UNKNOWN, open.len() + 1);
        let var = Var::new(id, &like.name, like.sort.clone());
        open.push(var.clone());
        var.term()
    };
    for c in &specification.constants {
        let value = match same_constant(implementation, &c.var) {
            Some(own) => own.term(),
            None => unknown(&c.var),
        };
        map.insert(c.var.id, value);
    }
    let mut parts = Vec::new();
    let mut initial = Vec::new();
    for v in &specification.variables {
        let value = match &v.initial {
            None => Ok(unknown(&v.var)),
            Some(term) => term.substitute(&map),
        };
        let Ok(value) = value else { return false };
        parts.push(value.defined());
        initial.push((v.var.id, value));
    }
    for (id, value) in initial {
        map.insert(id, value);
    }
    for a in &specification.assumptions {
        let (Ok(defined), Ok(a)) = (a.defined().substitute(&map), a.substitute(&map)) else {
            return false;
        };
        parts.extend([defined, a]);
    }
    let there = Term::all(parts).simplify();
    let read = there.free_vars();
    open.retain(|v| read.contains(v));
    let there = if open.is_empty() {
        there
    } else if let Some(there) = qe::eliminate(&open, &there) {
        there
    } else {
        return false;
    };
    let initial = implementation.initial_condition();
    let none = Term::all([initial.defined(), initial, there.negated()]).simplify();
    matches!(Solver::embedded().check_with(&none), Satisfiable::Unsat)
}

/// An observer that reports an input which some instance of S specifies where this one does not: the two side by
/// side, both following the trace.
fn left_open(
    instance: &Iosts,
    whole: &Iosts,
) -> Result<(Iosts, Vec<LocationId>), ConformanceError> {
    let mut own = instance.output_completed().0;
    let open = own.add_location("Open");
    for (source, _) in instance.locations() {
        for (action, gate) in instance.gates() {
            if gate.kind == LabelKind::Input {
                own.push(source, action, instance.not_taken(source, action), open);
            }
        }
    }
    own.index_outgoing();
    let mut other = whole.output_completed().0;
    // They have nothing to do with the constants of the others.
    for c in &mut other.constants {
        let name = format!("{}'", c.var.name);
        c.var = Var::new(c.var.id, &name, c.var.sort.clone());
    }
    Ok(watched_product(&other, &own, &[open])?)
}
