//! A system under observation: S^δ || ω with its violating locations [SYM04, def. 6, 7, 9 and 10].

use iolite_expr::{Op, Solver, Span, Term};
use iolite_lts::QuiescencePolicy;

use super::answer::Answer;
use super::claim::is_without_fault;
use super::member::InvariantSource;
use super::portfolio::{Method, VerifyBudget, verify_by};
use crate::compose::ComposeError;
use crate::iosts::{Iosts, LabelKind, LocationId, Transition};
use crate::path_formula::HasTrace;

/// The product of a quiescent system and an observer.
#[derive(Clone, Debug)]
pub struct ObservedProduct {
    /// S^δ || ω.
    pub model: Iosts,
    /// Its locations that hold a marked one of ω.
    pub marked: Vec<LocationId>,
    /// The same with δ wherever a cycle of internal actions might be silent, if there are such
    /// places: what is proved of it is proved of the system, what is refuted need not be.
    pub silent: Option<(Iosts, Vec<LocationId>)>,
}

/// S^δ || ω, and its locations that hold one of the `marked` locations of ω: violating ones of an
/// observer, accepting or refusing ones of a purpose.
///
/// The data of the two are apart [def. 5], but for one thing: a constant of ω that has the name and
/// the sort of a constant of S is that constant. A property may so speak of `max` without a value.
pub fn watch(
    system: &Iosts,
    observer: &Iosts,
    marked: &[LocationId],
    policy: QuiescencePolicy,
) -> Result<ObservedProduct, ComposeError> {
    let quiescent = system.quiescent();
    let (model, here) = product(system, &quiescent, observer, marked)?;
    let cycles = system.internal_cycles();
    // Who does not mind δ need not know whether a cycle is silent.
    let minds = observer.transitions().any(|(_, t)| {
        let delta = observer.gate(t.action).kind == LabelKind::Delta;
        delta && (t.target != t.source || !t.assignments.is_empty())
    });
    // Under the fair policy fewer of them are silent, so this is still no less than there is.
    let livelock = policy != QuiescencePolicy::Strict && cycles.contains(&true);
    let silent = if livelock && minds {
        let mut noisy = quiescent;
        let delta = noisy.gates().find(|(_, g)| g.kind == LabelKind::Delta);
        let delta = delta.map(|(id, _)| id);
        for (i, _) in cycles.iter().enumerate().filter(|(_, on)| **on) {
            let Some(action) = delta else { break };
            let at = LocationId::new(i);
            noisy.transitions.push(Transition {
                source: at,
                action,
                guard: true.into(),
                assignments: Vec::new(),
                target: at,
                span: system.location(at).span,
            });
        }
        noisy.index_outgoing();
        Some(product(system, &noisy, observer, marked)?)
    } else {
        None
    };
    Ok(ObservedProduct {
        model,
        marked: here,
        silent,
    })
}

/// Marks the locations of ω in the names of the product: a character that no name of a model has.
const MARK: &str = ".\u{1}";

/// M || ω for a system M that has δ already, and its locations that hold a marked one of ω.
pub(crate) fn watched_product(
    quiescent: &Iosts,
    observer: &Iosts,
    marked: &[LocationId],
) -> Result<(Iosts, Vec<LocationId>), ComposeError> {
    product(quiescent, quiescent, observer, marked)
}

impl Iosts {
    /// S^δ || ω for an observer ω of S, and its locations that hold a violating one [SYM04, §4].
    pub fn observed_by(
        &self,
        observer: &Self,
        violate: &[LocationId],
    ) -> Result<(Self, Vec<LocationId>), ComposeError> {
        watched_product(&self.quiescent(), observer, violate)
    }
}

fn product(
    system: &Iosts,
    quiescent: &Iosts,
    observer: &Iosts,
    marked: &[LocationId],
) -> Result<(Iosts, Vec<LocationId>), ComposeError> {
    let mut numbered = observer.clone();
    for (i, l) in numbered.locations.iter_mut().enumerate() {
        l.name = format!("\u{1}{i}").into();
    }
    let mut model = quiescent.product(&numbered)?;
    let mut here = Vec::new();
    for (i, l) in model.locations.iter_mut().enumerate() {
        let name = l.name.to_string();
        let Some((own, number)) = name.rsplit_once(MARK) else {
            continue;
        };
        let Ok(number) = number.parse::<usize>() else {
            continue;
        };
        let of = LocationId::new(number);
        l.name = format!("{own}.{}", observer.location(of).name).into();
        if marked.contains(&of) {
            here.push(LocationId::new(i));
        }
    }
    let first = system.constants().len();
    for (i, c) in observer.constants().iter().enumerate() {
        let own = system
            .constants()
            .iter()
            .position(|d| d.var.name == c.var.name && d.var.sort == c.var.sort);
        let Some(own) = own else { continue };
        let sides = [own, first + i].map(|k| model.constants[k].var.term());
        let same = Term::apply(Op::Eq, sides.to_vec(), Span::NONE);
        model.assumptions.extend(same);
    }
    Ok((model, here))
}

/// Whether S satisfies the observer [def. 10], with the product that the answer speaks of.
pub fn satisfies(
    system: &Iosts,
    observer: &Iosts,
    violating: &[LocationId],
    policy: QuiescencePolicy,
    solver: &mut Solver,
    budget: VerifyBudget,
) -> Result<(Iosts, Answer), ComposeError> {
    satisfies_with(system, observer, violating, policy, solver, budget, &mut [])
}

/// The same with invariants from outside.
pub fn satisfies_with(
    system: &Iosts,
    observer: &Iosts,
    violating: &[LocationId],
    policy: QuiescencePolicy,
    solver: &mut Solver,
    budget: VerifyBudget,
    sources: &mut [Box<dyn InvariantSource>],
) -> Result<(Iosts, Answer), ComposeError> {
    let mut verify = |model: &Iosts, marked: &[LocationId], solver: &mut Solver, budget| {
        verify_by(&Method::ALL, model, marked, solver, budget, sources)
    };
    let watched = watch(system, observer, violating, policy)?;
    let Some((silent, marked)) = watched.silent else {
        let answer = verify(&watched.model, &watched.marked, solver, budget);
        let answer = confirmed(answer, &watched.model, system, solver);
        return Ok((watched.model, answer));
    };
    let half = VerifyBudget {
        steps: budget.steps / 2,
        time: budget.time / 2,
        ..budget
    };
    let answer = verify(&silent, &marked, solver, half);
    if let Answer::Proved(_) = answer {
        return Ok((silent, answer));
    }
    let answer = match verify(&watched.model, &watched.marked, solver, half) {
        refuted @ Answer::Refuted(_) => refuted,
        Answer::Proved(_) => Answer::Unknown {
            left: vec!["a cycle of internal actions may be silent".into()],
        },
        unknown @ Answer::Unknown { .. } => unknown,
    };
    let answer = confirmed(answer, &watched.model, system, solver);
    Ok((watched.model, answer))
}

/// A short run that violates the observer, by bounded search alone: where most systems are wrong, and wrong soon, the
/// members that look for proofs would cost most of the time. `None` where the budget ran out first.
pub(crate) fn refuted_soon(
    system: &Iosts,
    observer: &Iosts,
    violating: &[LocationId],
    policy: QuiescencePolicy,
    solver: &mut Solver,
    budget: VerifyBudget,
) -> Result<Option<(Iosts, Answer)>, ComposeError> {
    let ObservedProduct { model, marked, .. } = watch(system, observer, violating, policy)?;
    let answer = verify_by(&[Method::Bounded], &model, &marked, solver, budget, &mut []);
    let answer = confirmed(answer, &model, system, solver);
    let found = matches!(answer, Answer::Refuted(_));
    Ok(found.then_some((model, answer)))
}

/// A refutation, unless a term of the system faults on the way of its trace with these constants.
fn confirmed(answer: Answer, model: &Iosts, system: &Iosts, solver: &mut Solver) -> Answer {
    let Answer::Refuted(refutation) = &answer else {
        return answer;
    };
    match is_without_fault(&refutation.run, model, system, solver) {
        HasTrace::Yes => answer,
        HasTrace::No => Answer::Unknown {
            left: vec!["the trace of the violation was not confirmed".into()],
        },
        HasTrace::Unknown(why) => Answer::Unknown {
            left: vec![format!("the trace of the violation: {why}")],
        },
    }
}
