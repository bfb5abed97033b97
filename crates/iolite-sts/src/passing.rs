//! Test cases with data, every run counted: whether an implementation passes one, and whether one fails
//! what the specification allows.

use iolite_expr::{Answer as Satisfiable, Solver, Span, Substitution, Term, Var};
use iolite_lts::QuiescencePolicy;

use crate::analysis::{
    Answer, ObservedProduct, VerifyBudget, refuted_soon, satisfies, verify, watch, watched_product,
};
use crate::conformance::{ConformanceError, MOST};
use crate::conformance_instances::has_instances;
use crate::iosts::{Iosts, LabelKind, LocationId, Transition};
use crate::semantics::ValuedAction;
use crate::symbolic::literal;

/// One part in so many of the steps is for short failing runs, before anything is proved.
const EARLY: u64 = 4;

/// A test case as the system has its actions: its stimuli are inputs. It takes every observation of its own
/// gates, except in the locations of its verdicts.
///
/// A constant of the test case without a value stands for all its values, and a run has a verdict only if it
/// has it for all of them. One that the system has too, by name and sort, is first taken to be that one: where
/// no run ends so with it, no run does for all values; a run that does is then followed with all of them.
#[derive(Clone, Copy, Debug)]
pub struct TestProgram<'a> {
    /// The program.
    pub model: &'a Iosts,
    /// The locations with a verdict.
    pub verdicts: &'a [LocationId],
}

impl TestProgram<'_> {
    /// Whether a run of the test case with the implementation ends in one of these verdicts, or fails by an
    /// output that the test case does not know; refuted by such a run. The product is the one that the answer
    /// speaks of.
    ///
    /// # Errors
    ///
    /// Where a constant of the test case has no value, and not every value of the implementation's is one of
    /// its own.
    pub fn avoids(
        self,
        implementation: &Iosts,
        verdicts: &[LocationId],
        policy: QuiescencePolicy,
        solver: &mut Solver,
        budget: VerifyBudget,
    ) -> Result<(Iosts, Answer), ConformanceError> {
        self.check_instances(implementation)?;
        let (system, program, avoided) = self.beside(implementation, verdicts)?;
        let found = satisfies(&system, &program, &avoided, policy, solver, budget)?;
        Ok(confirmed(found, &program, &avoided, solver))
    }

    /// The same where the test case is for the very instance that it runs with: constants of the same name have the
    /// same values, and a run with some values of them refutes.
    ///
    /// # Errors
    ///
    /// As for [`TestProgram::avoids`].
    pub fn avoids_in_each_instance(
        self,
        implementation: &Iosts,
        verdicts: &[LocationId],
        policy: QuiescencePolicy,
        solver: &mut Solver,
        budget: VerifyBudget,
    ) -> Result<(Iosts, Answer), ConformanceError> {
        self.check_instances(implementation)?;
        let (system, program, avoided) = self.beside(implementation, verdicts)?;
        let early = VerifyBudget {
            steps: budget.steps / EARLY,
            ..budget
        };
        if let Some(found) = refuted_soon(&system, &program, &avoided, policy, solver, early)? {
            return Ok(found);
        }
        Ok(satisfies(
            &system, &program, &avoided, policy, solver, budget,
        )?)
    }

    /// System and program over the same actions, and the locations of the program that are avoided.
    fn beside(
        self,
        implementation: &Iosts,
        verdicts: &[LocationId],
    ) -> Result<(Iosts, Iosts, Vec<LocationId>), ConformanceError> {
        let system = implementation.with_gates_of(self.model)?;
        let (program, avoided) = self.with_foreign(&system, verdicts)?;
        Ok((system, program, avoided))
    }

    /// Whether a run ends in one of these verdicts although the specification allows every observation in it,
    /// or says nothing of it any more after an input; refuted by such a run. The flag says whether the
    /// specification has the trace.
    ///
    /// # Errors
    ///
    /// As for [`TestProgram::avoids`]; or the specification has no deterministic form.
    pub fn is_sound(
        self,
        specification: &Iosts,
        verdicts: &[LocationId],
        solver: &mut Solver,
        budget: VerifyBudget,
    ) -> Result<(Iosts, Answer, bool), ConformanceError> {
        self.check_instances(specification)?;
        let specification = specification.with_gates_of(self.model)?;
        let (program, avoided) = self.with_foreign(&specification, verdicts)?;
        let quiescent = specification.quiescent_with(solver);
        let deterministic = quiescent.determinised(solver, MOST);
        let mut allows = deterministic.map_err(ConformanceError::Determinise)?;
        // What it allows is what it has; after an input that it does not specify, it is everything.
        let own = allows.locations().len();
        let anything = allows.add_location("Anything");
        for k in 0..own {
            let source = LocationId::new(k);
            let inputs: Vec<_> = allows
                .gates()
                .filter(|(_, g)| g.kind == LabelKind::Input)
                .map(|(id, _)| id)
                .collect();
            for action in inputs {
                let open = allows.not_taken(source, action);
                if !open.is_false() {
                    allows.push(source, action, open, anything);
                }
            }
        }
        let all: Vec<_> = allows.gates().map(|(id, _)| id).collect();
        for action in all {
            allows.push(anything, action, true.into(), anything);
        }
        allows.index_outgoing();
        let (product, failing) = watched_product(&allows, &program, &avoided)?;
        let answer = verify(&product, &failing, solver, budget);
        let (product, answer) = confirmed((product, answer), &program, &avoided, solver);
        let specified = match &answer {
            Answer::Refuted(refutation) => {
                let states = refutation.run.replay(&product).unwrap_or_default();
                let end = states.last().map(|s| &*product.location(s.location).name);
                let gone = format!("{}.", allows.location(anything).name);
                !end.is_some_and(|name| name.starts_with(&gone))
            }
            _ => true,
        };
        Ok((product, answer, specified))
    }

    /// The product that answers of [`TestProgram::avoids`] speak of; runs that end in one of these verdicts, or
    /// fail by an output that the test case does not know, come to its marked locations.
    ///
    /// # Errors
    ///
    /// Where a constant of the test case has no value: a run of the product then says nothing of the others.
    pub fn product(
        self,
        implementation: &Iosts,
        verdicts: &[LocationId],
        policy: QuiescencePolicy,
    ) -> Result<ObservedProduct, ConformanceError> {
        if let Some(var) = self.open() {
            return Err(ConformanceError::Unknown((*var.name).into()));
        }
        let (system, program, avoided) = self.beside(implementation, verdicts)?;
        Ok(watch(&system, &program, &avoided, policy)?)
    }

    /// A variable or constant of the test case without a value.
    fn open(&self) -> Option<&Var> {
        let open = self.model.variables().iter();
        let open = open.filter(|v| v.initial.is_none()).map(|v| &v.var);
        let constants = self.model.constants().iter().map(|c| &c.var);
        open.chain(constants).next()
    }

    fn check_instances(self, system: &Iosts) -> Result<(), ConformanceError> {
        match self.open() {
            Some(var) if !has_instances(system, self.model) => {
                Err(ConformanceError::Unknown((*var.name).into()))
            }
            _ => Ok(()),
        }
    }

    /// The program over the actions of a system as well: what it does not know leads to a new location, which
    /// is avoided too.
    fn with_foreign(
        self,
        system: &Iosts,
        verdicts: &[LocationId],
    ) -> Result<(Iosts, Vec<LocationId>), ConformanceError> {
        let mut program = self.model.with_gates_of(system)?;
        let foreign = program.add_location("Foreign");
        let known = self.model.gates().len();
        let gates: Vec<_> = program.gates().skip(known).map(|(id, _)| id).collect();
        for (source, _) in self.model.locations() {
            for &action in &gates {
                // New inputs are never given.
                if self.verdicts.contains(&source) || !program.gate(action).kind.is_observation() {
                    continue;
                }
                program.transitions.push(Transition {
                    source,
                    action,
                    guard: true.into(),
                    assignments: Vec::new(),
                    target: foreign,
                    span: Span::NONE,
                });
            }
        }
        program.index_outgoing();
        let avoided = verdicts.iter().copied().chain([foreign]);
        Ok((program, avoided.collect()))
    }
}

/// A refutation stands if the run ends so with every value of the program's constants.
fn confirmed(
    (product, answer): (Iosts, Answer),
    program: &Iosts,
    ends: &[LocationId],
    solver: &mut Solver,
) -> (Iosts, Answer) {
    let is_open =
        !program.constants.is_empty() || program.variables.iter().any(|v| v.initial.is_none());
    let Answer::Refuted(refutation) = &answer else {
        return (product, answer);
    };
    if is_open && ends_for_all(program, ends, &refutation.trace, &product, solver) != Some(true) {
        let left = vec![
            "a run ends so with some values of the test case's constants, and perhaps not with others"
                .to_owned(),
        ];
        return (product, Answer::Unknown { left });
    }
    (product, answer)
}

/// Whether a trace leads a deterministic program to one of these locations with all values of its constants;
/// `None` where that is not found out.
fn ends_for_all(
    program: &Iosts,
    ends: &[LocationId],
    trace: &[ValuedAction],
    of: &Iosts,
    solver: &mut Solver,
) -> Option<bool> {
    let start: Option<Vec<Term>> = program
        .variables
        .iter()
        .map(|v| v.initial.clone())
        .collect();
    // Without an initial value the variable itself would have to stand for it.
    let mut states = vec![(program.initial(), start?, Term::from(true))];
    let mut faults = Vec::new();
    for action in trace {
        let gate = of.gate(action.action);
        let own = program.find_gate(gate.kind, &gate.name)?;
        let mut next = Vec::new();
        for (location, values, condition) in &states {
            if ends.contains(location) {
                // Values that have come to an end stay there while others go on.
                next.push((*location, values.clone(), condition.clone()));
            }
            for &t in program.outgoing(*location) {
                let transition = program.transition(t);
                if transition.action != own {
                    continue;
                }
                let variables = program.variables.iter().zip(values);
                let mut map: Substitution = variables.map(|(v, x)| (v.var.id, x.clone())).collect();
                let params = &program.gate(own).params;
                for (p, value) in params.iter().zip(&action.values) {
                    map.insert(p.id, literal(p, value.clone()));
                }
                let guard = &transition.guard;
                let no_value = guard.defined().negated().substitute(&map).ok()?;
                faults.push(Term::all([condition.clone(), no_value]).simplify());
                let effects = transition.assignments.iter().map(|(_, e)| e.defined());
                let fires = [guard.defined(), guard.clone()].into_iter().chain(effects);
                let fires = Term::all(fires).substitute(&map).ok()?;
                let condition = Term::all([condition.clone(), fires]).simplify();
                if condition.is_false() {
                    continue;
                }
                let mut after = values.clone();
                for (x, e) in &transition.assignments {
                    after[*x] = e.substitute(&map).ok()?.simplify();
                }
                next.push((transition.target, after, condition));
            }
        }
        states = next;
    }
    let ended = states.into_iter().filter(|(l, ..)| ends.contains(l));
    let ended = Term::any(ended.map(|(_, _, condition)| condition));
    let start = program.initial_condition();
    // Values with which a guard on the way has no value are no test case.
    let sound = Term::any(faults).negated();
    let others = Term::all([start.defined(), start, sound, ended.negated()]);
    match solver.check_with(&others.simplify()) {
        Satisfiable::Unsat => Some(true),
        Satisfiable::Sat(_) => Some(false),
        Satisfiable::Unknown(_) => None,
    }
}
