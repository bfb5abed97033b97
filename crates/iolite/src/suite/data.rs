//! The quality of a suite of test cases with data: is each of them sound.
//!
//! A test case is sound if no run of it that conforms ends in `fail`: a question of reachability in the product
//! with what the specification allows [SYM04, §4]. To what depth such a suite is exhaustive, and what it covers, is
//! not asked.

use std::path::PathBuf;

use iolite_derive::{Exhaustiveness, ModelRef, SuiteRelation, Verdict};
use iolite_sts::analysis::{Answer, VerifyBudget};
use iolite_sts::{Iosts, LocationId, TestProgram};

use super::{JudgedCase, SuiteDocument, SuiteOptions, UnsoundDocument};
use crate::passes::test_case_refused;
use crate::{Error, SymbolicSuiteCase, Workspace, as_iosts, solver};

impl Workspace {
    /// Judges test cases with data; `None` where the suite has others.
    pub(super) fn judge_data_suite(
        &self,
        specification: &ModelRef,
        suite: &[PathBuf],
        (relation, options): (SuiteRelation, SuiteOptions),
    ) -> Result<Option<SuiteDocument>, Error> {
        let Some(cases) = self.symbolic_suite(suite)? else {
            return Ok(None);
        };
        if relation != SuiteRelation::Ioco {
            return Err(Error::input(format!(
                "test cases that keep data are for ioco, not for {}",
                options.relation.name()
            )));
        }
        let spec = self.spec(specification)?;
        let model = as_iosts::of(&spec)?;
        let mut judged = Vec::new();
        let mut unknown = None;
        let mut warnings = Vec::new();
        for SymbolicSuiteCase { place, case } in &cases {
            if let Some(exceeded) = self.budget().exceeded() {
                unknown = Some(exceeded.to_string());
                break;
            }
            let program = case.program().mirrored();
            let verdicts: Vec<_> = case.verdicts().collect();
            let found = judge(&program, &model, &verdicts);
            let witness = match found? {
                Ok((witness, faults)) => {
                    if faults {
                        warnings.push(format!(
                            "{}: nothing is claimed of values with which a term has no value",
                            case.name()
                        ));
                    }
                    witness
                }
                Err(why) => {
                    unknown.get_or_insert(format!("{}: {why}", case.name()));
                    continue;
                }
            };
            judged.push(JudgedCase {
                case: case.name().to_owned(),
                file: place.clone(),
                relation: case.criterion().to_string(),
                sound: witness.is_none(),
                witness,
                certificate: None,
            });
        }
        let sound = if judged.iter().all(|case| case.sound) {
            (judged.len() == cases.len()).then_some(true)
        } else {
            Some(false)
        };
        for warning in &warnings {
            self.warn(&format!("warning: {warning}"));
        }
        Ok(Some(SuiteDocument {
            specification: spec.reference().to_string(),
            relation: options.relation.name().to_owned(),
            semantics: options.semantics,
            sound,
            unknown,
            cases: judged,
            coverage: None,
            exhaustive: Exhaustiveness::AtLeast(0).into(),
            keeps_data: true,
            warnings,
            shared: serde_json::Map::new(),
            certificate: None,
            first_unsound: None,
        }))
    }
}

/// A run that conforms and ends in `fail`, if there is one, and whether a term may have no value; or why that
/// was not found out.
type Judged = Result<(Option<UnsoundDocument>, bool), String>;

fn judge(
    program: &Iosts,
    specification: &Iosts,
    verdicts: &[(LocationId, Verdict)],
) -> Result<Judged, Error> {
    let all: Vec<LocationId> = verdicts.iter().map(|(l, _)| *l).collect();
    let failing = |v: &Verdict| matches!(v, Verdict::Fail | Verdict::ViolateFail);
    let some: Vec<LocationId> = verdicts
        .iter()
        .filter(|(_, v)| failing(v))
        .map(|(l, _)| *l)
        .collect();
    let test = TestProgram {
        model: program,
        verdicts: &all,
    };
    let budget = VerifyBudget::default();
    let found = test.is_sound(specification, &some, &mut solver(None)?, budget);
    let (product, answer, specified) = found.map_err(|e| test_case_refused(&e))?;
    Ok(match answer {
        Answer::Proved(proof) => Ok((None, !proof.faults.is_empty())),
        Answer::Unknown { left } => Err(left.join("; ")),
        Answer::Refuted(refutation) => {
            let run = refutation.texts(&product);
            // Who shows a trace shows it without its δs too, and the specification may forbid that one.
            if !specified && run.iter().any(|step| step == "delta") {
                return Ok(Err(format!(
                    "it fails {}, of which the specification says nothing; whether anything that conforms \
                     shows that was not found out",
                    run.join(" ")
                )));
            }
            let states = refutation.run.replay(&product).unwrap_or_default();
            let end = states.last().map(|s| &*product.location(s.location).name);
            let ends_in = |l: LocationId| {
                let name = format!(".{}", program.location(l).name);
                end.is_some_and(|end| end.ends_with(&name))
            };
            let ended = verdicts.iter().filter(|(l, v)| failing(v) && ends_in(*l));
            let ended = ended.max_by_key(|(l, _)| program.location(*l).name.len());
            let witness = UnsoundDocument {
                verdict: ended.map_or(Verdict::Fail, |(_, v)| *v),
                run,
                refuses: None,
                specified,
            };
            Ok((Some(witness), false))
        }
    })
}
