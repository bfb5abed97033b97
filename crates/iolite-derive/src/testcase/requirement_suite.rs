//! Suites from requirements: one test case for each observer, and what of the model it touches.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use iolite_lts::{
    BudgetExceeded, Determinised, LabelId, LabelKind, Lts, QuiescencePolicy, Suspension, in_order,
};
use iolite_property::Observer;

use crate::{Drawing, ModelRef, ModelTransition, SafetyTest, TestCase, TestStep, location};

/// What came of one requirement.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// The observer's name.
    pub name: String,
    /// The test case, the shortest way to a violation; `None` when no trace of the specification
    /// leads to where the requirement could be violated.
    pub case: Option<TestCase>,
    /// A trace on which the specification itself violates the requirement.
    pub specification_violates: Option<Vec<LabelId>>,
    /// Which transitions of the model a run of the test case may take: one flag for each column of
    /// the matrix.
    pub covers: Vec<bool>,
}

/// A suite with its coverage matrix, requirement × model transition.
#[derive(Clone, Debug)]
pub struct RequirementSuite {
    /// The rows, in the order of the observers.
    pub requirements: Vec<Requirement>,
    /// The columns: the transitions of the model, in order.
    pub transitions: Vec<ModelTransition>,
}

impl RequirementSuite {
    /// Derives the suite; each test graph has at most `limit` nodes. Observers are taken over to the
    /// labels of the specification. So many threads look at different observers.
    pub fn derive(
        specification: &Lts,
        policy: QuiescencePolicy,
        observers: &[Observer],
        model: &ModelRef,
        limit: usize,
        jobs: NonZeroUsize,
    ) -> Result<Self, BudgetExceeded> {
        let transitions: Vec<ModelTransition> = specification.transitions().collect();
        let requirement = |observer: &Observer| -> Result<Requirement, BudgetExceeded> {
            let observer = observer.over(specification.shared_labels());
            let name = observer.name().to_owned();
            let test = SafetyTest::build(specification, policy, observer, limit)?;
            let case = test
                .is_reachable()
                .then(|| test.draw(Drawing::default(), model));
            let taken = case
                .as_ref()
                .map(|case| transitions_of(case, specification, policy))
                .unwrap_or_default();
            Ok(Requirement {
                name,
                specification_violates: test.specification_violates(),
                covers: transitions.iter().map(|t| taken.contains(t)).collect(),
                case,
            })
        };
        let helpers = jobs.get().min(observers.len()).saturating_sub(1);
        let mut requirements = Vec::new();
        let end = in_order(
            observers.iter(),
            &mut { requirement },
            vec![requirement; helpers],
            &|taken| taken + jobs.get(),
            &mut |requirement| match requirement {
                Ok(requirement) => {
                    requirements.push(requirement);
                    ControlFlow::Continue(())
                }
                Err(e) => ControlFlow::Break(e),
            },
        );
        if let ControlFlow::Break(e) = end {
            return Err(e);
        }
        Ok(Self {
            requirements,
            transitions,
        })
    }

    /// A column in words, `Idle -?a-> Busy`.
    pub fn describe(&self, column: usize, specification: &Lts) -> String {
        let (source, label, target) = self.transitions[column];
        format!(
            "{} -{}-> {}",
            location(specification, source),
            specification.labels().text(label),
            specification.name(target)
        )
    }

    /// The matrix as comma-separated values, one row a requirement, `1` for covered.
    pub fn to_csv(&self, specification: &Lts) -> String {
        let field = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let mut out = "requirement".to_owned();
        for column in 0..self.transitions.len() {
            out.push(',');
            out.push_str(&field(&self.describe(column, specification)));
        }
        out.push('\n');
        for requirement in &self.requirements {
            out.push_str(&field(&requirement.name));
            for &covers in &requirement.covers {
                out.push_str(if covers { ",1" } else { ",0" });
            }
            out.push('\n');
        }
        out
    }
}

/// The transitions of the model that runs of a test case may take.
pub(crate) fn transitions_of(
    case: &TestCase,
    specification: &Lts,
    policy: QuiescencePolicy,
) -> BTreeSet<ModelTransition> {
    let mut view = Determinised::new(Suspension::new(specification, policy));
    let labels = specification.labels();
    let mut taken = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let initial = (case.initial(), view.initial());
    let mut stack = vec![initial];
    seen.insert(initial);
    while let Some((at, set)) = stack.pop() {
        let state = case.state(at);
        for &member in view.members(set) {
            for &(label, target) in specification.steps(member) {
                if labels.kind(label) == LabelKind::Internal {
                    taken.insert((member, label, target));
                }
            }
        }
        if state.step == TestStep::End {
            continue;
        }
        for (label, next) in state.steps() {
            let label = case.labels().label(label);
            let Some(label) = labels.get(label.kind, &label.name) else {
                continue;
            };
            let Some(after) = view.after(set, label) else {
                continue;
            };
            for &member in view.members(set) {
                for &(l, target) in specification.steps_on(member, label) {
                    taken.insert((member, l, target));
                }
            }
            if seen.insert((next, after)) {
                stack.push((next, after));
            }
        }
    }
    taken
}
