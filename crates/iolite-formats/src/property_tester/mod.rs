//! Canonical testers of properties, and the test cases selected from them, as text, drawings, Aldebaran
//! graphs and JSON.
//!
//! All are written from one [`TesterDocument`], whose states are in the order of the document; the first
//! is the initial one.

pub mod aut;
pub mod dot;
pub mod json;
pub mod text;

use iolite_property::{CanonicalTester, PropertyTestCase, PropertyVerdict, StateId};
use serde::Serialize;

/// A canonical tester, or a test case selected from it, as its states and steps.
#[derive(Clone, Debug, Serialize)]
pub struct TesterDocument {
    property: String,
    relation: String,
    quiescence: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    states: Vec<StateDocument>,
}

#[derive(Clone, Debug, Serialize)]
struct StateDocument {
    name: String,
    verdict: String,
    /// What a test case does here: give this input, or only observe.
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<String>,
    steps: Vec<StepDocument>,
}

#[derive(Clone, Debug, Serialize)]
struct StepDocument {
    action: String,
    /// The position of a state in the list.
    target: usize,
}

impl TesterDocument {
    /// The whole tester of the named property, or, with a target, the test case that is selected for that
    /// verdict. `relation` is the word for the relation that it tests.
    pub fn new(
        property: &str,
        relation: &str,
        tester: &CanonicalTester,
        target: Option<PropertyVerdict>,
    ) -> Self {
        let case = target.map(|target| tester.select(target));
        Self::with_case(property, relation, tester, case.as_ref())
    }

    /// The same with a test case that was selected already.
    pub fn with_case(
        property: &str,
        relation: &str,
        tester: &CanonicalTester,
        case: Option<&PropertyTestCase>,
    ) -> Self {
        Self {
            property: property.to_owned(),
            relation: relation.to_owned(),
            quiescence: tester.options().quiescence,
            target: case.map(|c| c.target().to_string()),
            states: match case {
                None => whole(tester),
                Some(case) => selected(case),
            },
        }
    }
}

/// The states of the tester, the initial one first. A verdict is final, so nothing follows it.
fn whole(tester: &CanonicalTester) -> Vec<StateDocument> {
    let (s, sigma) = (tester.structure(), tester.alphabet());
    let mut order = vec![tester.initial()];
    let mut index: Vec<Option<usize>> = vec![None; s.len()];
    index[tester.initial().index()] = Some(0);
    let mut states = Vec::new();
    let mut done = 0;
    while done < order.len() {
        let q = order[done];
        done += 1;
        let mut steps = Vec::new();
        if !tester.verdict(q).is_final() {
            for l in sigma.iter() {
                let to = s.step(q, l);
                let target = *index[to.index()].get_or_insert_with(|| {
                    order.push(to);
                    order.len() - 1
                });
                let action = sigma.text(l);
                steps.push(StepDocument { action, target });
            }
        }
        states.push(StateDocument {
            name: tester.name(q).to_owned(),
            verdict: tester.verdict(q).to_string(),
            input: None,
            steps,
        });
    }
    states
}

fn selected(case: &PropertyTestCase) -> Vec<StateDocument> {
    let labels = case.alphabet().labels();
    (0..case.len())
        .map(StateId::new)
        .map(|q| StateDocument {
            name: case.name(q).to_owned(),
            verdict: case.verdict(q).to_string(),
            input: case.input(q).map(|l| labels.text(l)),
            steps: case
                .steps(q)
                .iter()
                .map(|&(l, to)| StepDocument {
                    action: labels.text(l),
                    target: to.index(),
                })
                .collect(),
        })
        .collect()
}

/// The steps of a state, with the actions that lead to the same state together.
fn grouped(state: &StateDocument) -> Vec<(usize, Vec<&str>)> {
    let mut groups: Vec<(usize, Vec<&str>)> = Vec::new();
    for step in &state.steps {
        match groups.iter_mut().find(|(t, _)| *t == step.target) {
            Some((_, actions)) => actions.push(&step.action),
            None => groups.push((step.target, vec![&step.action])),
        }
    }
    groups
}
