//! Whether a model passes test cases with data: a question of reachability in I^δ ∥ T.

use std::collections::BTreeMap;
use std::sync::Arc;

use iolite_derive::{Criterion, ModelRef, SymbolicTestCase, Verdict};
use iolite_expr::Solver;
use iolite_sts::analysis::{Answer, Refutation, VerifyBudget};
use iolite_sts::{ConformanceError, Iosts, LocationId, TestProgram, is_input_enabled};

use super::{PassesDocument, TestRunDocument, TestedCase};
use crate::relation::{not_enabled, own_state};
use crate::workspace::SymbolicSuiteCase;
use crate::{CompletionFlag, Error, Place, SemanticsOptions, Workspace, as_iosts, solver};

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
        let mut document = PassesDocument {
            implementation: spec.reference().to_string(),
            passes: Some(true),
            unknown: None,
            semantics,
            cases: Vec::new(),
            warnings: Vec::new(),
            shared: serde_json::Map::new(),
            certificate: None,
        };
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
            };
            let tested = examined.test(&mut solver(None)?);
            match tested.map_err(|e| e.about(&document.implementation, case.name()))? {
                Ok((verdicts, failing)) => document.cases.push(TestedCase {
                    case: case.name().to_owned(),
                    file: place.clone(),
                    relation: case.criterion().to_string(),
                    passes: failing.is_none(),
                    verdicts,
                    failing,
                    certificate: None,
                }),
                Err(reason) => {
                    document.unknown = Some(format!("{}: {reason}", case.name()));
                    break;
                }
            }
        }
        document.passes = document.decide(suite.len());
        Ok(document)
    }
}

/// The verdicts that runs end in, and a failing run; or why that was not found out.
type Tested = Result<(BTreeMap<Verdict, usize>, Option<TestRunDocument>), String>;

/// One test case beside an implementation.
struct Examination<'a> {
    implementation: Arc<Iosts>,
    reference: &'a ModelRef,
    /// The program as the system has its actions.
    program: Iosts,
    case: &'a SymbolicTestCase,
    semantics: SemanticsOptions,
}

impl Examination<'_> {
    fn test(mut self, solver: &mut Solver) -> Result<Tested, Error> {
        let budget = VerifyBudget::default();
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
                let enabled = is_input_enabled(&self.implementation, &self.program, solver, budget);
                let (watched, answer) = enabled.map_err(|e| refused(&e))?;
                if let Some(unknown) = not_enabled(&watched, &answer, self.reference)? {
                    return Ok(Err(unknown));
                }
            }
        }
        let (product, answer) = self.avoids(Verdict::is_failing, solver)?;
        Ok(match answer {
            Answer::Refuted(run) => {
                let failing = self.failing(&product, &run);
                let length = failing.run.len();
                Ok((BTreeMap::from([(failing.verdict, length)]), Some(failing)))
            }
            Answer::Proved(proof) if proof.faults.is_empty() => {
                let verdicts = self.other_verdicts(solver)?;
                Ok((verdicts, None))
            }
            Answer::Proved(_) => Err("terms of the models may have no value".to_owned()),
            Answer::Unknown { left } => Err(left.join("; ")),
        })
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
        let budget = VerifyBudget::default();
        let found = test.avoids(&self.implementation, &some, policy, solver, budget);
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

    fn failing(&self, product: &Iosts, refutation: &Refutation) -> TestRunDocument {
        let states = refutation.run.replay(product).unwrap_or_default();
        let end = states.last().map(|s| &*product.location(s.location).name);
        let ends_in = |l: LocationId| {
            let name = format!(".{}", self.program.location(l).name);
            end.is_some_and(|end| end.ends_with(&name))
        };
        let failing = self.case.verdicts().filter(|(_, v)| v.is_failing());
        let ended = failing.filter(|(l, _)| ends_in(*l));
        // The longest name, should one end with another.
        let ended = ended.max_by_key(|(l, _)| self.program.location(*l).name.len());
        let state = states
            .last()
            .map(|s| own_state(product, s, &self.implementation));
        TestRunDocument {
            // What the test case does not know fails.
            verdict: ended.map_or(Verdict::Fail, |(_, verdict)| verdict),
            run: refutation.texts(product),
            refuses: None,
            implementation_state: Place {
                state: state.unwrap_or_default(),
                line: None,
            },
        }
    }
}

fn refused(error: &ConformanceError) -> Error {
    match error {
        ConformanceError::Unknown(name) => Error::undecided(format!(
            "{name} of the test case has no value, and what a run means depends on it"
        ))
        .hint("derive it from an instance, as in `FILE#Sender(max = 3)`"),
        ConformanceError::Determinise(_) | ConformanceError::Refusal(_) => {
            Error::undecided(error.to_string())
        }
        ConformanceError::Compose(_) => Error::input(error.to_string()),
    }
}
