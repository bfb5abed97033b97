//! What was found of a suite, as a document and in words.

use iolite_derive::{CoverageReport, Exhaustiveness, Undetected, Unsound, Verdict};
use iolite_recheck::Certificate;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::SemanticsOptions;

/// The quality of a suite.
#[derive(Clone, Debug, Serialize)]
pub struct SuiteDocument {
    /// The specification.
    pub specification: String,
    /// The relation.
    pub relation: String,
    /// What the specification means where it leaves it open.
    pub semantics: SemanticsOptions,
    /// Whether every test case is sound; `None` where that is not known.
    pub sound: Option<bool>,
    /// Why something is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// The test cases.
    pub cases: Vec<JudgedCase>,
    /// What runs of the test cases may come through; `None` where the specification is too large.
    pub coverage: Option<CoverageReport>,
    /// To what depth the suite finds every error.
    pub exhaustive: ExhaustivenessDocument,
    /// Whether the test cases have data, so that only their soundness is judged.
    #[serde(skip)]
    pub keeps_data: bool,
    /// Certificates that could not be made, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What the certificates of the test cases have in common.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub shared: Map<String, Value>,
    /// The certificate of the wrong observation that no test case detects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Box<Certificate>>,
    /// The certificate of the first test case that is not sound.
    #[serde(skip)]
    pub first_unsound: Option<Box<Certificate>>,
}

/// A test case, judged.
#[derive(Clone, Debug, Serialize)]
pub struct JudgedCase {
    /// Its name.
    pub case: String,
    /// Its place.
    pub file: String,
    /// What it says that it tests for.
    pub relation: String,
    /// Whether it fails nothing that conforms.
    pub sound: bool,
    /// A shortest run that it fails and that conforms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<UnsoundDocument>,
    /// The certificate of that run, but for what all have in common.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Map<String, Value>>,
}

/// A run that a test case fails although it conforms.
#[derive(Clone, Debug, Serialize)]
pub struct UnsoundDocument {
    /// The verdict.
    pub verdict: Verdict,
    /// The run, in `?a`, `!x`, `delta` notation.
    pub run: Vec<String>,
    /// The actions that are then refused, where that ends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refuses: Option<Vec<String>>,
    /// Whether the specification has the trace; otherwise it says nothing of it.
    pub specified: bool,
}

impl From<Unsound> for UnsoundDocument {
    fn from(found: Unsound) -> Self {
        Self {
            verdict: found.verdict,
            run: found.run,
            refuses: found.refuses,
            specified: found.specified,
        }
    }
}

/// To what depth a suite finds every error.
#[derive(Clone, Debug, Serialize)]
pub struct ExhaustivenessDocument {
    /// Every wrong observation up to this many actions is detected; `None` where that is so for all.
    pub depth: Option<usize>,
    /// Whether nothing more was found out, because the search was stopped.
    pub at_least: bool,
    /// A shortest wrong observation that no test case detects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<UndetectedDocument>,
}

/// A wrong observation that no test case detects.
#[derive(Clone, Debug, Serialize)]
pub struct UndetectedDocument {
    /// A trace of the specification.
    pub trace: Vec<String>,
    /// What must not be observed after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<String>,
    /// What must not be refused after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refuses: Option<Vec<String>>,
}

impl From<Exhaustiveness> for ExhaustivenessDocument {
    fn from(found: Exhaustiveness) -> Self {
        let witness = |u: Undetected| UndetectedDocument {
            trace: u.trace,
            observed: u.observed,
            refuses: u.refuses,
        };
        let (depth, at_least, witness) = match found {
            Exhaustiveness::Complete => (None, false, None),
            Exhaustiveness::UpTo(depth, found) => (Some(depth), false, Some(witness(found))),
            Exhaustiveness::AtLeast(depth) => (Some(depth), true, None),
        };
        Self {
            depth,
            at_least,
            witness,
        }
    }
}

fn after(trace: &[String]) -> String {
    match trace {
        [] => "at the start".to_owned(),
        trace => format!("after {}", trace.join(" ")),
    }
}

fn set(actions: &[String]) -> String {
    format!("the refusal of {{{}}}", actions.join(", "))
}

impl SuiteDocument {
    /// The answer for people.
    pub fn tell(&self) -> String {
        let mut text = String::new();
        for case in &self.cases {
            if let Some(witness) = &case.witness {
                text += &tell_unsound(case, witness);
            }
        }
        let all = self.cases.len();
        let unsound = self.cases.iter().filter(|case| !case.sound).count();
        let Self {
            specification,
            relation,
            ..
        } = self;
        text += &match self.sound {
            Some(true) => {
                format!(
                    "sound for {relation} to {specification}: none of {all} test cases fails what conforms\n"
                )
            }
            Some(false) => {
                format!(
                    "not sound for {relation} to {specification}: {unsound} of {all} test cases\n"
                )
            }
            None => format!("unknown whether it is sound for {relation} to {specification}\n"),
        };
        if !self.keeps_data {
            text += &self.tell_exhaustive();
            text += &self.tell_coverage();
        }
        if let Some(reason) = &self.unknown {
            text += &format!("given up: {reason}\n");
        }
        text
    }

    fn tell_exhaustive(&self) -> String {
        let ExhaustivenessDocument {
            depth,
            at_least,
            witness,
        } = &self.exhaustive;
        let mut text = match depth {
            None => "exhaustive: every wrong observation is detected\n".to_owned(),
            Some(depth) if *at_least => format!("exhaustive at least to depth {depth}\n"),
            Some(depth) => format!("exhaustive to depth {depth}\n"),
        };
        if let Some(witness) = witness {
            let what = match (&witness.observed, &witness.refuses) {
                (Some(observed), _) => observed.clone(),
                (None, refuses) => set(refuses.as_deref().unwrap_or_default()),
            };
            text += &format!("  not detected: {what} {}\n", after(&witness.trace));
        }
        text
    }

    fn tell_coverage(&self) -> String {
        let Some(coverage) = &self.coverage else {
            return match &self.unknown {
                Some(_) => "covers: not counted\n".to_owned(),
                None => "covers: not counted, the specification has too many states\n".to_owned(),
            };
        };
        let (states, transitions) = (coverage.model_states, coverage.model_transitions);
        let mut text = format!(
            "covers {} of {} states and {} of {} transitions of the model\n",
            states.seen, states.total, transitions.seen, transitions.total
        );
        for left in &coverage.left {
            text += &format!("  not covered: {left}\n");
        }
        text
    }
}

fn tell_unsound(case: &JudgedCase, witness: &UnsoundDocument) -> String {
    let run = match witness.run.as_slice() {
        [] => "nothing (at the start)".to_owned(),
        run => run.join(" "),
    };
    let refused = witness.refuses.as_ref();
    let refused = refused.map(|actions| format!(", then {}", set(actions)));
    let why = if witness.specified {
        "the specification allows it"
    } else {
        "the specification says nothing of it"
    };
    format!(
        "{}: not sound\n  run   {run}{}\n  ends  {}, but {why}\n",
        case.case,
        refused.unwrap_or_default(),
        witness.verdict
    )
}
