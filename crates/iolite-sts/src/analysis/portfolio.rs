//! The portfolio: members take turns until one of them has an answer that stands.

use std::time::{Duration, Instant};

use iolite_expr::{Limits, Solver, Term, Value};

use super::answer::{Answer, Proof, Refutation};
use super::backward::Backward;
use super::bounded::Bounded;
use super::claim::faults;
use super::explicit::Explicit;
use super::houdini::Houdini;
use super::interpretation::Interpretation;
use super::invariant::{Invariant, broken, excludes};
use super::k_induction::{Induction, not_inductive};
use super::member::{InvariantSource, Member, Meter, Outcome, Shared, Slice, Suggestion};
use super::minimise::minimised;
use super::pdr::Pdr;
use super::problem::Problem;
use super::run::{Run, run_through};
use crate::iosts::{Iosts, LocationId};

/// What a verification may cost.
#[derive(Clone, Copy, Debug)]
pub struct VerifyBudget {
    /// Steps of all members together: a fired transition is one, a question to the solver twenty.
    /// The answer depends on these alone, unless the time runs out first.
    pub steps: u64,
    /// The outer limit, for questions that take long.
    pub time: Duration,
    /// The time of one question to the solver.
    pub question: Duration,
}

impl Default for VerifyBudget {
    fn default() -> Self {
        Self {
            steps: 400_000,
            time: Duration::from_secs(60),
            question: Duration::from_millis(500),
        }
    }
}

/// A member of the portfolio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// States with all their values, breadth first.
    Explicit,
    /// Path formulas, shortest ways first.
    Bounded,
    /// The strongest conjunction of simple conditions that is inductive.
    Simple,
    /// Abstract interpretation: boxes, octagons, polyhedra.
    Abstract,
    /// Exact preimages of the violations; k-induction is a part of it.
    Backward,
    /// Property-directed reachability.
    Directed,
}

impl Method {
    /// All of them, in the order of their turns.
    pub const ALL: [Self; 6] = [
        Self::Explicit,
        Self::Bounded,
        Self::Simple,
        Self::Abstract,
        Self::Backward,
        Self::Directed,
    ];

    fn member(self) -> Box<dyn Member> {
        match self {
            Self::Explicit => Box::new(Explicit::default()),
            Self::Bounded => Box::new(Bounded::default()),
            Self::Simple => Box::new(Houdini::default()),
            Self::Abstract => Box::new(Interpretation::default()),
            Self::Backward => Box::new(Backward::default()),
            Self::Directed => Box::new(Pdr::default()),
        }
    }
}

/// Runs that are refused, because a term faults on their way, before members are sent home.
const REJECTED: usize = 20;

/// A source from outside may use one part in so many of the time.
const SHARE: u32 = 4;

/// The depth and the size of conditions up to which an invariant is surely read again where it is written.
const READABLE_DEPTH: u32 = 40;
const READABLE_SIZE: u32 = 800;

/// The first slice of each member; each round doubles it.
const SLICE: u64 = 1_500;

/// Whether one of the violating locations can be reached: explicit search, bounded search, simple
/// invariants, abstract interpretation, backward search (k-induction) and property-directed reachability by turns.
///
/// Constants have any values that the assumptions allow. What is proved was checked again as an
/// inductive invariant, what is refuted was fired step by step; an answer that does not pass is none.
pub fn verify(
    model: &Iosts,
    violating: &[LocationId],
    solver: &mut Solver,
    budget: VerifyBudget,
) -> Answer {
    verify_by(&Method::ALL, model, violating, solver, budget, &mut [])
}

/// The same by some methods only, and with invariants from outside.
pub fn verify_by(
    methods: &[Method],
    model: &Iosts,
    violating: &[LocationId],
    solver: &mut Solver,
    budget: VerifyBudget,
    sources: &mut [Box<dyn InvariantSource>],
) -> Answer {
    let problem = Problem::new(model, violating);
    let deadline = Instant::now().checked_add(budget.time);
    let memory = Limits::default().memory_mb;
    solver.set_limits(Limits::new(budget.question, memory));
    solver.set_deadline(deadline);
    let answer = Portfolio {
        problem: &problem,
        solver,
        left: budget.steps,
        time: budget.time,
        shared: Shared {
            lemmas: Invariant::trivial(model),
            samples: Vec::new(),
        },
    }
    .run(methods, sources);
    solver.set_deadline(None);
    solver.set_limits(Limits::default());
    answer
}

struct Portfolio<'a> {
    problem: &'a Problem<'a>,
    solver: &'a mut Solver,
    left: u64,
    time: Duration,
    shared: Shared,
}

impl Portfolio<'_> {
    fn run(mut self, methods: &[Method], sources: &mut [Box<dyn InvariantSource>]) -> Answer {
        let mut notes: Vec<String> = Vec::new();
        for source in sources {
            if let Some(answer) = self.ask(source.as_mut(), &mut notes) {
                return answer;
            }
        }
        let mut members: Vec<Box<dyn Member>> = methods.iter().map(|m| m.member()).collect();
        let mut slice = SLICE;
        let mut rejected = 0;
        while !members.is_empty() {
            let mut next = Vec::new();
            for mut member in members {
                // Whoever uses the answer asks for this too; nobody waits for what is worth nothing.
                if let Some(fault) = self.solver.fault() {
                    return Answer::Unknown { left: vec![fault] };
                }
                if self.left == 0 || self.solver.is_out_of_time() {
                    notes.push(format!("{}: the budget ran out", member.name()));
                    continue;
                }
                let given = slice.min(self.left);
                let mut meter = Meter::new(given);
                let outcome = member.run(
                    self.problem,
                    &mut Slice {
                        solver: self.solver,
                        meter: &mut meter,
                        shared: &mut self.shared,
                    },
                );
                self.left -= given - meter.left();
                let name = member.name();
                match outcome {
                    Outcome::More => next.push(member),
                    Outcome::Stuck(why) => notes.push(format!("{name}: {why}")),
                    Outcome::Proved(invariant) => match self.proof(&invariant, &name) {
                        Ok(mut proof) => {
                            proof.induction = self.induction(&proof.invariant, member.k());
                            return Answer::Proved(proof);
                        }
                        Err(why) => notes.push(format!("{name}: {why}")),
                    },
                    Outcome::Refuted(run) => match self.refutation(run, &name) {
                        Some(refutation) => return Answer::Refuted(refutation),
                        None if rejected < REJECTED => {
                            rejected += 1;
                            next.push(member);
                        }
                        None => notes.push(format!("{name}: runs on which terms fault")),
                    },
                }
            }
            members = next;
            slice = slice.saturating_mul(2);
        }
        Answer::Unknown { left: notes }
    }

    /// An invariant from outside is a proof, or a lemma for the others; a way is a refutation once it is a run.
    fn ask(&mut self, source: &mut dyn InvariantSource, notes: &mut Vec<String>) -> Option<Answer> {
        let name = source.name();
        let invariant = match source.candidate(self.problem, self.solver, self.time / SHARE) {
            Ok(Suggestion::Invariant(invariant)) => invariant,
            Ok(Suggestion::Way(states)) => {
                let refutation = self.refutation_by(&states, &name);
                if refutation.is_none() {
                    notes.push(format!(
                        "{name}: says that a violation is reachable, by a way that is no run"
                    ));
                }
                return refutation.map(Answer::Refuted);
            }
            Err(why) => {
                notes.push(format!("{name}: {why}"));
                return None;
            }
        };
        match broken(self.problem, &invariant, self.solver) {
            Ok(None) => {
                self.shared.lemmas = self.shared.lemmas.and(&invariant);
                match self.proof(&invariant, &name) {
                    Ok(proof) => return Some(Answer::Proved(proof)),
                    Err(why) => notes.push(format!("{name}: {why}")),
                }
            }
            Ok(Some(broken)) => notes.push(format!("{name}: {broken}")),
            Err(undecided) => notes.push(format!("{name}: {undecided}")),
        }
        None
    }

    fn proof(&mut self, invariant: &Invariant, how: &str) -> Result<Proof, String> {
        let full = self.checked(invariant, how)?;
        let smaller = minimised(self.problem, invariant, self.solver);
        let smaller = smaller.and_then(|i| self.checked(&i, how).ok());
        // The full invariant may exclude faults that the smaller one does not speak of.
        let proof = smaller.filter(|p| p.faults.len() <= full.faults.len());
        Ok(proof.unwrap_or(full))
    }

    fn checked(&mut self, invariant: &Invariant, how: &str) -> Result<Proof, String> {
        match broken(self.problem, invariant, self.solver) {
            Ok(None) => {}
            Ok(Some(broken)) => return Err(format!("its invariant does not hold: {broken}")),
            Err(undecided) => return Err(undecided.to_string()),
        }
        match excludes(self.problem, invariant, self.solver) {
            Ok(true) => {}
            Ok(false) => return Err("its invariant allows a violation".into()),
            Err(undecided) => return Err(undecided.to_string()),
        }
        Ok(Proof {
            invariant: invariant.clone(),
            how: how.into(),
            faults: faults(self.problem.model, invariant, self.solver),
            induction: None,
        })
    }

    /// What is proved, as k-induction, where the invariant may be too large to be read and that holds as well: a
    /// search that ended because preimages repeat themselves is none.
    fn induction(&mut self, invariant: &Invariant, k: Option<usize>) -> Option<Induction> {
        let k = k?;
        let model = self.problem.model;
        let readable = |t: &Term| t.depth() <= READABLE_DEPTH && t.size() <= READABLE_SIZE;
        if model.locations().all(|(l, _)| readable(invariant.at(l))) {
            return None;
        }
        let lemmas = self.shared.lemmas.clone();
        match not_inductive(self.problem, &lemmas, k, self.solver) {
            Ok(None) => Some(Induction {
                k,
                faults: faults(model, &lemmas, self.solver),
                lemmas,
            }),
            _ => None,
        }
    }

    /// The refutation by a run through these states.
    fn refutation_by(
        &mut self,
        states: &[(LocationId, Vec<Value>)],
        how: &str,
    ) -> Option<Refutation> {
        let mut slice = Slice {
            solver: &mut *self.solver,
            meter: &mut Meter::new(self.left),
            shared: &mut self.shared,
        };
        let run = run_through(states, self.problem, &mut slice)?;
        self.refutation(run, how)
    }

    fn refutation(&mut self, run: Run, how: &str) -> Option<Refutation> {
        run.refutes(self.problem, self.solver).then(|| Refutation {
            trace: run.trace(self.problem.model),
            run,
            how: how.into(),
        })
    }
}
