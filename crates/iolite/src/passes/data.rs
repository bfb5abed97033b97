//! Whether a model passes test cases with data: a question of reachability in I^δ ∥ T.

use std::collections::BTreeMap;
use std::sync::Arc;

use iolite_derive::{Criterion, ModelRef, SymbolicTestCase, Verdict};
use iolite_expr::Solver;
use iolite_sts::analysis::{Answer, Refutation, Run, VerifyBudget};
use iolite_sts::{
    ConformanceError, Iosts, LocationId, TestProgram, ValuedAction, is_input_enabled,
};

use super::{CERTIFIED, PassesDocument, TestRunDocument, TestedCase};
use crate::relation::{not_enabled, own_state};
use crate::workspace::SymbolicSuiteCase;
use crate::{
    CompletionFlag, Error, Place, SemanticsOptions, SharedCertificates, Workspace, as_iosts, solver,
};

impl Workspace {
    /// The same for test cases with data. Neither a proof nor a run is an answer too.
    pub(super) fn passes_data(
        &self,
        implementation: &ModelRef,
        suite: &[SymbolicSuiteCase],
        semantics: SemanticsOptions,
    ) -> Result<PassesDocument, Error> {
        let spec = self.spec(implementation)?;
        let model = as_iosts::of(&spec)?;
        let mut document = PassesDocument::new(spec.reference().to_string(), semantics);
        let mut certificates = Vec::new();
        for SymbolicSuiteCase { place, case } in suite {
            if let Some(exceeded) = self.budget().exceeded() {
                document.unknown = Some(exceeded.to_string());
                break;
            }
            let examined = Examination {
                implementation: Arc::clone(&model),
                reference: implementation,
                program: case.program().mirrored(),
                case,
                semantics,
                budget: VerifyBudget::default(),
                instances: Instances::All,
            };
            let tested = examined.test(&mut solver(None)?);
            match tested.map_err(|e| e.about(&document.implementation, case.name()))? {
                Ok((verdicts, failing)) => {
                    let made = certificates.iter().flatten().count();
                    let is_open = is_open(case.program());
                    if failing.is_some() && is_open {
                        let warning =
                            "a constant of it has no value, so its failing run has no certificate";
                        document
                            .warnings
                            .push(format!("{}: {warning}", case.name()));
                    }
                    let certified = failing.as_ref().filter(|_| made < CERTIFIED && !is_open);
                    let whole = certified.map(|failing| {
                        let case = (place.as_str(), &**case);
                        self.certify_failing(&spec.reference(), case, failing, semantics)
                    });
                    certificates.push(whole.transpose()?);
                    document.cases.push(TestedCase {
                        case: case.name().to_owned(),
                        file: place.clone(),
                        relation: case.criterion().to_string(),
                        passes: failing.is_none(),
                        verdicts,
                        failing: failing.map(|failing| failing.told),
                        certificate: None,
                    });
                }
                Err(reason) => {
                    document.unknown = Some(format!("{}: {reason}", case.name()));
                    break;
                }
            }
        }
        let all = SharedCertificates::new(&certificates);
        document.shared = all.shared;
        for (case, claim) in document.cases.iter_mut().zip(all.claims) {
            case.certificate = claim;
        }
        document.certificate = certificates.into_iter().flatten().next().map(Box::new);
        document.passes = document.decide(suite.len());
        Ok(document)
    }
}

/// Whether what a run of a program means depends on values that nobody gave.
fn is_open(program: &Iosts) -> bool {
    !program.constants().is_empty() || program.variables().iter().any(|v| v.initial.is_none())
}

/// A failing run, in words and as it was found.
pub(crate) struct FailingRun {
    pub(crate) told: TestRunDocument,
    pub(crate) product: Iosts,
    pub(crate) found: Refutation,
}

/// The verdicts that runs end in, and a failing run; or why that was not found out.
type Tested = Result<(BTreeMap<Verdict, usize>, Option<FailingRun>), String>;

/// One test case beside an implementation.
struct Examination<'a> {
    implementation: Arc<Iosts>,
    reference: &'a ModelRef,
    /// The program as the system has its actions.
    program: Iosts,
    case: &'a SymbolicTestCase,
    semantics: SemanticsOptions,
    budget: VerifyBudget,
    instances: Instances,
}

/// Which values of constants without one a run is to fail with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instances {
    /// With all of them: the tester does not know those of the system.
    All,
    /// With some of them: each instance of the system runs with the same instance of the test case.
    Each,
}

/// A failing run, and the values of constants with which it fails where others may not.
pub(crate) struct InstanceRun {
    pub(crate) told: TestRunDocument,
    pub(crate) with: Vec<String>,
}

/// A run of a system with a test case that ends in `fail` or `violate-fail`, all runs counted; or why that was
/// not found out. `violate` says nothing of conformance.
pub(crate) fn failing_run(
    system: Arc<Iosts>,
    reference: &ModelRef,
    case: &SymbolicTestCase,
    semantics: SemanticsOptions,
    budget: VerifyBudget,
    instances: Instances,
) -> Result<Result<Option<InstanceRun>, String>, Error> {
    let mut examined = Examination {
        implementation: system,
        reference,
        program: case.program().mirrored(),
        case,
        semantics,
        budget,
        instances,
    };
    let mut solver = solver(None)?;
    if let Some(unknown) = examined.enable(&mut solver)? {
        return Ok(Err(unknown));
    }
    let failing = |v| matches!(v, Verdict::Fail | Verdict::ViolateFail);
    let (product, answer) = examined.avoids(failing, &mut solver)?;
    Ok(match answer {
        Answer::Refuted(run) => {
            let values = run.constants(&product);
            // With all values alike, none is worth telling; the test case's own are those of the system.
            let constants = examined.implementation.constants();
            let is_own = |name: &str| constants.iter().any(|c| &*c.var.name == name);
            let values = values.filter(|(name, _)| instances == Instances::Each && is_own(name));
            Ok(Some(InstanceRun {
                told: examined.told(&product, &run),
                with: values
                    .map(|(name, value)| format!("{name} = {value}"))
                    .collect(),
            }))
        }
        Answer::Proved(proof) if proof.faults.is_empty() => Ok(None),
        Answer::Proved(_) => Err(NO_VALUE.to_owned()),
        Answer::Unknown { left } => Err(left.join("; ")),
    })
}

const NO_VALUE: &str = "terms of the models may have no value";

impl Examination<'_> {
    /// Makes the system take every input, or asks whether it does; why that was not found out, where it was not.
    fn enable(&mut self, solver: &mut Solver) -> Result<Option<String>, Error> {
        match self.semantics.complete_inputs {
            Some(CompletionFlag::SelfLoop) => {
                let completed = self.implementation.input_completed(&self.program, solver);
                self.implementation = Arc::new(completed.map_err(|e| refused(&e))?);
            }
            Some(CompletionFlag::Chaos) => {
                return Err(Error::input(
                    "--complete-inputs chaos needs the states of the implementation, and a test case \
                     with data takes it as it is",
                )
                .hint("--complete-inputs self-loop does not"));
            }
            None => {
                let budget = self.budget;
                let enabled = is_input_enabled(&self.implementation, &self.program, solver, budget);
                let (watched, answer) = enabled.map_err(|e| refused(&e))?;
                return not_enabled(&watched, &answer, self.reference);
            }
        }
        Ok(None)
    }

    fn test(mut self, solver: &mut Solver) -> Result<Tested, Error> {
        if let Some(unknown) = self.enable(solver)? {
            return Ok(Err(unknown));
        }
        let (product, answer) = self.avoids(Verdict::is_failing, solver)?;
        Ok(match answer {
            Answer::Refuted(run) => {
                let told = self.told(&product, &run);
                let verdicts = BTreeMap::from([(told.verdict, told.run.len())]);
                let failing = FailingRun {
                    told,
                    product,
                    found: run,
                };
                Ok((verdicts, Some(failing)))
            }
            Answer::Proved(proof) if proof.faults.is_empty() => {
                let verdicts = self.other_verdicts(solver)?;
                Ok((verdicts, None))
            }
            Answer::Proved(_) => Err(NO_VALUE.to_owned()),
            Answer::Unknown { left } => Err(left.join("; ")),
        })
    }

    /// A failing run in words.
    fn told(&self, product: &Iosts, found: &Refutation) -> TestRunDocument {
        let (program, implementation) = (&self.program, &self.implementation);
        failing(self.case, program, implementation, product, &found.run)
    }

    /// Whether no run ends in one of these verdicts.
    fn avoids(
        &self,
        wanted: impl Fn(Verdict) -> bool,
        solver: &mut Solver,
    ) -> Result<(Iosts, Answer), Error> {
        let all: Vec<LocationId> = self.case.verdicts().map(|(l, _)| l).collect();
        let some = self.case.verdicts().filter(|(_, v)| wanted(*v));
        let some: Vec<LocationId> = some.map(|(l, _)| l).collect();
        let test = TestProgram {
            model: &self.program,
            verdicts: &all,
        };
        let policy = self.semantics.policy();
        let (system, budget) = (&*self.implementation, self.budget);
        let found = match self.instances {
            Instances::All => test.avoids(system, &some, policy, solver, budget),
            Instances::Each => test.avoids_in_each_instance(system, &some, policy, solver, budget),
        };
        found.map_err(|e| refused(&e))
    }

    /// Where no run fails: a run may be broken off anywhere, and a purpose has to be reached to pass.
    fn other_verdicts(&self, solver: &mut Solver) -> Result<BTreeMap<Verdict, usize>, Error> {
        if self.case.criterion() != Criterion::Purpose {
            return Ok(BTreeMap::from([(Verdict::Pass, 0)]));
        }
        let (_, answer) = self.avoids(|v| v == Verdict::Pass, solver)?;
        Ok(match answer {
            Answer::Refuted(run) => BTreeMap::from([(Verdict::Pass, run.trace.len())]),
            Answer::Proved(_) => BTreeMap::from([(Verdict::Inconc, 0)]),
            Answer::Unknown { .. } => BTreeMap::from([(Verdict::Unknown, 0)]),
        })
    }
}

/// A run of the product that fails, in words.
pub(crate) fn failing(
    case: &SymbolicTestCase,
    program: &Iosts,
    implementation: &Iosts,
    product: &Iosts,
    run: &Run,
) -> TestRunDocument {
    let states = run.replay(product).unwrap_or_default();
    let end = states.last().map(|s| &*product.location(s.location).name);
    let ends_in = |l: LocationId| {
        let name = format!(".{}", program.location(l).name);
        end.is_some_and(|end| end.ends_with(&name))
    };
    let failing = case.verdicts().filter(|(_, v)| v.is_failing());
    let ended = failing.filter(|(l, _)| ends_in(*l));
    // The longest name, should one end with another.
    let ended = ended.max_by_key(|(l, _)| program.location(*l).name.len());
    let state = states.last().map(|s| own_state(product, s, implementation));
    let text = |action: &ValuedAction| {
        let sigil = product.gate(action.action).kind.sigil();
        format!("{sigil}{}", product.label(action))
    };
    TestRunDocument {
        // What the test case does not know fails.
        verdict: ended.map_or(Verdict::Fail, |(_, verdict)| verdict),
        run: run.trace(product).iter().map(text).collect(),
        refuses: None,
        implementation_state: Place {
            state: state.unwrap_or_default(),
            line: None,
        },
    }
}

pub(crate) fn refused(error: &ConformanceError) -> Error {
    match error {
        ConformanceError::Unknown(name) => Error::undecided(format!(
            "{name} of the test case has no value, and the model's own values are not all among those that it may \
             have"
        ))
        .hint("derive the test case from an instance, as in `FILE#Sender(max = 3)`"),
        ConformanceError::Determinise(_) | ConformanceError::Refusal(_) => {
            Error::undecided(error.to_string())
        }
        ConformanceError::Compose(_) => Error::input(error.to_string()),
    }
}
