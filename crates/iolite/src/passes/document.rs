//! What `passes` found, as a document and in words.

use std::collections::BTreeMap;

use iolite_derive::Verdict;
use iolite_exec::report::counted;
use iolite_recheck::Certificate;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{Place, SemanticsOptions};

/// Whether a model passes a suite.
#[derive(Clone, Debug, Serialize)]
pub struct PassesDocument {
    /// The model.
    pub implementation: String,
    /// Whether it passes all test cases; `None` where that is not known.
    pub passes: Option<bool>,
    /// Why it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// What the model means where it leaves it open.
    pub semantics: SemanticsOptions,
    /// The test cases, in the order of the suite, as far as they were tried.
    pub cases: Vec<TestedCase>,
    /// Why a positive answer says less than it seems to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What the certificates of the cases have in common.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub shared: Map<String, Value>,
    /// The certificate of the first case that fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Box<Certificate>>,
}

/// A test case and the runs that it has with the model.
#[derive(Clone, Debug, Serialize)]
pub struct TestedCase {
    /// Its name.
    pub case: String,
    /// Its place.
    pub file: String,
    /// What it tests for.
    pub relation: String,
    /// Whether no run fails.
    pub passes: bool,
    /// The verdicts that runs end in, each with the length of a shortest run.
    pub verdicts: BTreeMap<Verdict, usize>,
    /// A shortest failing run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failing: Option<TestRunDocument>,
    /// The certificate of that run, but for what all have in common.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Map<String, Value>>,
}

/// A test run.
#[derive(Clone, Debug, Serialize)]
pub struct TestRunDocument {
    /// Its verdict.
    pub verdict: Verdict,
    /// Its actions, in `?a`, `!x`, `delta` notation.
    pub run: Vec<String>,
    /// The actions that the implementation then refuses, where that ends the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refuses: Option<Vec<String>>,
    /// Where the implementation is then.
    pub implementation_state: Place,
}

impl PassesDocument {
    /// Nothing is decided yet.
    pub(super) fn new(implementation: String, semantics: SemanticsOptions) -> Self {
        Self {
            implementation,
            passes: None,
            unknown: None,
            semantics,
            cases: Vec::new(),
            warnings: Vec::new(),
            shared: serde_json::Map::new(),
            certificate: None,
        }
    }

    /// The answer for a suite of so many test cases. One that fails decides it; a case that no run
    /// passes or fails leaves it open.
    pub(super) fn decide(&self, all: usize) -> Option<bool> {
        if self.cases.iter().any(|case| !case.passes) {
            return Some(false);
        }
        let right = |v: &Verdict| matches!(v, Verdict::Pass | Verdict::WeakPass);
        let passed = |case: &TestedCase| case.verdicts.keys().any(right);
        let open = |case: &TestedCase| case.verdicts.contains_key(&Verdict::Unknown);
        let decided = self.cases.iter().all(|case| passed(case) && !open(case));
        (self.cases.len() == all && decided).then_some(true)
    }

    /// The answer for people.
    pub fn tell(&self) -> String {
        let mut text = String::new();
        for case in &self.cases {
            text += &tell_case(case, &self.implementation);
        }
        let failing = self.cases.iter().filter(|case| !case.passes).count();
        let all = self.cases.len();
        text += &match (self.passes, &self.unknown) {
            (Some(true), _) => format!(
                "{} passes {}\n",
                self.implementation,
                counted(all, "test case")
            ),
            (Some(false), _) => format!(
                "{} fails {failing} of {}\n",
                self.implementation,
                counted(all, "test case")
            ),
            (None, Some(reason)) => {
                format!("unknown after {}: {reason}\n", counted(all, "test case"))
            }
            (None, None) => {
                let open = |case: &TestedCase| case.verdicts.contains_key(&Verdict::Unknown);
                let rest = if self.cases.iter().any(open) {
                    "but of some it is unknown whether a run passes"
                } else {
                    "but of some no run passes either"
                };
                let all = counted(all, "test case");
                format!("{} fails none of {all}, {rest}\n", self.implementation)
            }
        };
        text
    }
}

fn tell_case(case: &TestedCase, implementation: &str) -> String {
    let Some(failing) = &case.failing else {
        let names: Vec<&str> = case.verdicts.keys().map(|v| v.name()).collect();
        return format!("{}: {}\n", case.case, names.join(", "));
    };
    let run = match failing.run.as_slice() {
        [] => "nothing (at the start)".to_owned(),
        run => run.join(" "),
    };
    let refused = failing.refuses.as_ref();
    let refused = refused.map(|set| format!(", then it refuses {{{}}}", set.join(", ")));
    let place = failing.implementation_state.show(implementation);
    format!(
        "{}: {}\n  run   {run}{}\n  ends  in {place}\n",
        case.case,
        failing.verdict,
        refused.unwrap_or_default()
    )
}
