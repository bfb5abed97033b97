//! Stored test cases with data: reactive programs with variables [SYM04, §4 and §5].

use std::sync::Arc;

use iolite_expr::{Sort, Term};
use iolite_sts::{Iosts, LabelKind, LocationId, SymbolicTest, TestKind, space};

use super::test_case::Fnv;
use crate::{Criterion, ModelRef, Verdict};

/// The hash of a model with data: of its text, as it is lowered.
pub fn symbolic_model_hash(model: &Iosts) -> String {
    let mut hash = Fnv::default();
    hash.write(model.to_string().as_bytes());
    hash.text()
}

/// Why a system is no test case.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SymbolicTestCaseError {
    /// A list has not one entry for each location.
    #[error("{what}: {found} entries for {locations} locations")]
    Length {
        /// Which list.
        what: &'static str,
        /// Its entries.
        found: usize,
        /// The locations.
        locations: usize,
    },
    /// A verdict is final.
    #[error("location {0} has a verdict and is left again")]
    Left(Box<str>),
    /// Nobody sees an internal action.
    #[error("action {0} is neither given nor observed")]
    Unseen(Box<str>),
    /// A condition reads what is no data of the program, or is none.
    #[error("location {0}: its condition is not one over variables and constants")]
    Condition(Box<str>),
}

/// A test case with data: it gives its outputs, which are inputs of the system under test, and
/// observes its inputs and δ, by guards over its variables.
///
/// It is the mirror image [SYM04, §4] of a product with the specification, so it need not end; its
/// verdicts are locations.
#[derive(Clone, Debug)]
pub struct SymbolicTestCase {
    name: String,
    criterion: Criterion,
    model: ModelRef,
    program: Arc<Iosts>,
    verdicts: Vec<Option<Verdict>>,
    coreachable: Vec<Term>,
}

impl SymbolicTestCase {
    /// A test case of its parts. `verdicts` and `coreachable`, the condition under which the goal may
    /// be reached [SYM04, def. 14], are by location.
    pub fn new(
        name: impl Into<String>,
        criterion: Criterion,
        model: ModelRef,
        program: Iosts,
        verdicts: Vec<Option<Verdict>>,
        coreachable: Vec<Term>,
    ) -> Result<Self, SymbolicTestCaseError> {
        let locations = program.locations().len();
        let lists = [
            ("verdicts", verdicts.len()),
            ("coreachable", coreachable.len()),
        ];
        for (what, found) in lists {
            if found != locations {
                return Err(SymbolicTestCaseError::Length {
                    what,
                    found,
                    locations,
                });
            }
        }
        for (_, gate) in program.gates() {
            let seen = matches!(
                gate.kind,
                LabelKind::Input | LabelKind::Output | LabelKind::Delta
            );
            if !seen {
                return Err(SymbolicTestCaseError::Unseen(gate.name.clone()));
            }
        }
        for (id, location) in program.locations() {
            let name = || location.name.clone();
            if verdicts[id.index()].is_some() && !program.outgoing(id).is_empty() {
                return Err(SymbolicTestCaseError::Left(name()));
            }
            let condition = &coreachable[id.index()];
            let parameter = |v: &iolite_expr::Var| v.id.space() == space::PARAMETER;
            if *condition.sort() != Sort::Bool || condition.free_vars().iter().any(parameter) {
                return Err(SymbolicTestCaseError::Condition(name()));
            }
        }
        Ok(Self {
            name: name.into(),
            criterion,
            model,
            program: Arc::new(program),
            verdicts,
            coreachable,
        })
    }

    /// A pruned test as a test case.
    pub fn of(name: impl Into<String>, model: ModelRef, test: &SymbolicTest) -> Self {
        let program = test.model.clone();
        let mut verdicts = vec![None; program.locations().len()];
        for (location, verdict) in verdict_locations(test) {
            verdicts[location.index()] = Some(verdict);
        }
        let mut coreachable = test.coreachable.clone();
        coreachable.resize(program.locations().len(), true.into());
        Self {
            name: name.into(),
            criterion: match test.kind {
                TestKind::Observer => Criterion::Safety,
                TestKind::Purpose => Criterion::Purpose,
            },
            model,
            program: Arc::new(program),
            verdicts,
            coreachable,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it was made for.
    pub fn criterion(&self) -> Criterion {
        self.criterion
    }

    /// The model that it was made from.
    pub fn model(&self) -> &ModelRef {
        &self.model
    }

    /// The program, as the tester sees it: it gives outputs and observes inputs and δ.
    pub fn program(&self) -> &Arc<Iosts> {
        &self.program
    }

    /// The verdict of a location; `None` where the test goes on.
    pub fn verdict(&self, location: LocationId) -> Option<Verdict> {
        self.verdicts[location.index()]
    }

    /// The locations with a verdict.
    pub fn verdicts(&self) -> impl Iterator<Item = (LocationId, Verdict)> {
        let all = self.verdicts.iter().enumerate();
        all.filter_map(|(i, v)| Some((LocationId::new(i), (*v)?)))
    }

    /// The condition under which the goal may be reached from a location.
    pub fn coreachable(&self, location: LocationId) -> &Term {
        &self.coreachable[location.index()]
    }

    /// The verdict of a run that was broken off where nothing was wrong.
    pub fn open_verdict(&self) -> Verdict {
        match self.criterion {
            Criterion::Purpose => Verdict::Inconc,
            _ => Verdict::Pass,
        }
    }
}

/// The locations of a test with their verdicts [SYM04, §4 and §5]; a purpose that is reached passes.
pub fn verdict_locations(test: &SymbolicTest) -> Vec<(LocationId, Verdict)> {
    let groups = [
        (&test.violate_fail, Verdict::ViolateFail),
        (&test.fail, Verdict::Fail),
        (&test.violate, Verdict::Violate),
        (&test.accept, Verdict::Pass),
        (&test.inconc, Verdict::Inconc),
    ];
    let groups = groups.into_iter();
    groups
        .flat_map(|(locations, verdict)| locations.iter().map(move |l| (*l, verdict)))
        .collect()
}
