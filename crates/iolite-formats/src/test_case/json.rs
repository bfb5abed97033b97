//! The JSON form of a test case.
//!
//! ```json
//! {
//!   "format": "iolite-test-case", "version": 1,
//!   "name": "candy-1", "relation": "ioco",
//!   "model": { "name": "Candy", "hash": "fnv1a128:…" },
//!   "inputs": ["but"], "outputs": ["liq", "choc"], "actions": [],
//!   "states": [
//!     { "stimulate": "?but", "next": 1, "preempted": [["!liq", "fail"]],
//!       "verdict": "pass", "locations": ["Idle (line 4)"] },
//!     { "observe": [["!liq", 2], ["!choc", 3], ["delta", 3]], "verdict": "inconc" },
//!     { "verdict": "pass" },
//!     { "verdict": "fail" }
//!   ]
//! }
//! ```
//!
//! State 0 is the initial one. A state with `stimulate` gives that input and goes on at `next`;
//! `preempted` lists the outputs whose coming first is a failure. A state with `observe` has a step
//! for every output, and one for `delta` (θ) unless a missing output ends the run with the state's
//! verdict [LTS96, def. 7.1]. A state with `offer` proposes plain actions. A state with none
//! of the three ends the test. `verdict` is ν; `locations` are places of the model in words, and
//! `places` their bare names, which timeouts are given for, where these are not the locations without
//! their lines. Unknown fields are errors, and so is anything that is not a deterministic,
//! controllable, finite test case.

use std::collections::HashSet;
use std::sync::Arc;

use iolite_derive::{
    Criterion, ModelRef, TestCase, TestCaseError, TestState, TestStateId, TestStep, Verdict,
};
use iolite_lts::{LabelId, LabelKind, Labels};
use serde::{Deserialize, Serialize};

use super::state_text::{Layout, append_states, are_names_of};

const FORMAT: &str = "iolite-test-case";
const VERSION: u32 = 1;

/// Why a text is no test case.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Not JSON, or not of this shape.
    #[error("not a test case in JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// Another format or version.
    #[error("format {format} version {version} is not {FORMAT} version {VERSION}")]
    Format {
        /// The format named.
        format: String,
        /// The version named.
        version: u32,
    },
    /// A label that the alphabet does not have.
    #[error("state {state}: label {label} is not in the alphabet")]
    UnknownLabel {
        /// The state.
        state: usize,
        /// The label.
        label: String,
    },
    /// A state with more than one of `stimulate`, `observe`, `offer`, or with parts that do not go
    /// together.
    #[error("state {state} must have one of stimulate with next, observe, offer, or none of them")]
    Mixed {
        /// The state.
        state: usize,
    },
    /// Well-formed, but no test case.
    #[error(transparent)]
    TestCase(#[from] TestCaseError),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    version: u32,
    name: String,
    relation: String,
    model: ModelRef,
    inputs: Vec<String>,
    outputs: Vec<String>,
    #[serde(default)]
    actions: Vec<String>,
    states: Vec<State>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stimulate: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    preempted: Vec<(String, Verdict)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    observe: Option<Vec<(String, u32)>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offer: Option<Vec<(String, u32)>>,
    verdict: Verdict,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    locations: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    places: Option<Vec<String>>,
}

/// The test case as one JSON document, for people.
pub fn write(case: &TestCase) -> String {
    let mut text = serde_json::to_string_pretty(&head(case)).expect("strings and numbers only");
    // States come last, and are written without a document of their own.
    text.truncate(text.len() - "[]\n}".len());
    append_states(case, Layout::Pretty, &mut text);
    text.push_str("\n}");
    text
}

/// Appends the same on one line, for suites of many test cases in one file: a third of the bytes.
pub fn append_line(case: &TestCase, text: &mut String) {
    let head = serde_json::to_string(&head(case)).expect("strings and numbers only");
    text.push_str(&head[..head.len() - "[]}".len()]);
    append_states(case, Layout::Line, text);
    text.push_str("}\n");
}

/// The document without states.
fn head(case: &TestCase) -> Document {
    let names = |kind| {
        case.labels()
            .of_kind(kind)
            .map(|l| case.labels().label(l).name.to_string())
            .collect()
    };
    Document {
        format: FORMAT.to_owned(),
        version: VERSION,
        name: case.name().to_owned(),
        relation: case.criterion().to_string(),
        model: case.model().clone(),
        inputs: names(LabelKind::Input),
        outputs: names(LabelKind::Output),
        actions: names(LabelKind::Undirected),
        states: Vec::new(),
    }
}

/// Reads and checks what [`write()`] writes.
pub fn read(text: &str) -> Result<TestCase, ReadError> {
    Reader::default().read(text)
}

/// Reads test cases that share what they have in common: lists of places, which come again within a test case and from
/// one to the next, and are most of the memory of a suite.
#[derive(Debug, Default)]
pub struct Reader {
    lists: HashSet<Arc<[String]>>,
}

impl Reader {
    /// Reads and checks a test case.
    pub fn read(&mut self, text: &str) -> Result<TestCase, ReadError> {
        read_case(text, self)
    }

    fn shared(&mut self, list: Vec<String>) -> Arc<[String]> {
        if list.is_empty() {
            return Arc::default();
        }
        if let Some(known) = self.lists.get(list.as_slice()) {
            return Arc::clone(known);
        }
        let list: Arc<[String]> = list.into();
        self.lists.insert(Arc::clone(&list));
        list
    }
}

fn read_case(text: &str, reader: &mut Reader) -> Result<TestCase, ReadError> {
    let document: Document = serde_json::from_str(text)?;
    if document.format != FORMAT || document.version != VERSION {
        return Err(ReadError::Format {
            format: document.format,
            version: document.version,
        });
    }
    let mut labels = Labels::new();
    for (kind, names) in [
        (LabelKind::Input, &document.inputs),
        (LabelKind::Output, &document.outputs),
        (LabelKind::Undirected, &document.actions),
    ] {
        for name in names {
            labels.intern(kind, name);
        }
    }
    let states = document.states.into_iter().enumerate();
    let states = states.map(|(i, state)| read_state(&labels, i, state, reader));
    let mut states = states.collect::<Result<Vec<_>, _>>()?;
    // Like the rows in it, it grew one by one, to up to twice the memory that it needs.
    states.shrink_to_fit();
    Ok(TestCase::new(
        document.name,
        // Older test cases towards a goal have the goal's name there.
        document.relation.parse().unwrap_or(Criterion::Safety),
        document.model,
        Arc::new(labels),
        states,
    )?)
}

fn read_state(
    labels: &Labels,
    at: usize,
    state: State,
    reader: &mut Reader,
) -> Result<TestState, ReadError> {
    let label = |text: &str| {
        labels
            .get_text(text)
            .ok_or_else(|| ReadError::UnknownLabel {
                state: at,
                label: text.to_owned(),
            })
    };
    let row = |steps: Vec<(String, u32)>| -> Result<Vec<(LabelId, TestStateId)>, ReadError> {
        let steps = steps.into_iter();
        let steps = steps.map(|(l, t)| Ok((label(&l)?, TestStateId::new(t as usize))));
        let mut row = steps.collect::<Result<Vec<_>, ReadError>>()?;
        row.shrink_to_fit();
        Ok(row)
    };
    let mut preempted = state
        .preempted
        .into_iter()
        .map(|(l, v)| Ok((label(&l)?, v)))
        .collect::<Result<Vec<_>, ReadError>>()?;
    preempted.shrink_to_fit();
    let step = match (state.stimulate, state.next, state.observe, state.offer) {
        (None, None, None, None) if preempted.is_empty() => TestStep::End,
        (Some(stimulus), Some(next), None, None) => TestStep::Stimulate {
            stimulus: label(&stimulus)?,
            next: TestStateId::new(next as usize),
            preempted,
        },
        (None, None, Some(steps), None) if preempted.is_empty() => {
            let mut outputs = row(steps)?;
            let mut theta = outputs.extract_if(.., |(l, _)| *l == LabelId::DELTA);
            let quiescence = theta.next().map(|(_, next)| next);
            if theta.next().is_some() {
                return Err(TestCaseError::Nondeterministic {
                    state: at,
                    label: "delta".to_owned(),
                }
                .into());
            }
            drop(theta);
            TestStep::Observe {
                outputs,
                quiescence,
            }
        }
        (None, None, None, Some(steps)) if preempted.is_empty() => TestStep::Offer {
            actions: row(steps)?,
        },
        _ => return Err(ReadError::Mixed { state: at }),
    };
    let locations = reader.shared(state.locations);
    Ok(TestState {
        step,
        verdict: state.verdict,
        places: match state.places {
            Some(places) => reader.shared(places),
            None if are_names_of(&locations, &locations) => Arc::clone(&locations),
            None => reader.shared(without_lines(&locations)),
        },
        locations,
    })
}

/// The names of places that are only known in words, as far as these tell.
fn without_lines(locations: &[String]) -> Vec<String> {
    let mut places: Vec<String> = Vec::new();
    for location in locations {
        let name = name_of(location);
        if !places.iter().any(|p| p == name) {
            places.push(name.to_owned());
        }
    }
    places
}

/// The name of a place that is only known in words: without its line. What looks like values may be part
/// of a name, so it stays.
pub(super) fn name_of(location: &str) -> &str {
    location
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once(" (line "))
        .filter(|(_, line)| line.bytes().all(|b| b.is_ascii_digit()))
        .map_or(location, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Labels and places that need escapes, or look like places with lines.
    const WORDS: [&str; 8] = [
        "a",
        "b\"c",
        "d\\",
        "é\n",
        "p (line 3)",
        "p",
        "q (line x)",
        "",
    ];

    fn state(of: usize) -> impl Strategy<Value = (u8, [u8; 3], Verdict, Vec<usize>, Vec<usize>)> {
        let verdicts = [
            Verdict::Pass,
            Verdict::Fail,
            Verdict::Inconc,
            Verdict::ViolateFail,
        ];
        let words = || proptest::collection::vec(0..WORDS.len(), 0..4);
        (
            0..5u8,
            [0..of as u8, 0..of as u8, 0..of as u8],
            0..4usize,
            words(),
            words(),
        )
            .prop_map(move |(step, targets, verdict, locations, places)| {
                (step, targets, verdicts[verdict], locations, places)
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// The text is that of the document, and gives the same test case again.
        #[test]
        fn the_text_is_that_of_the_document(states in proptest::collection::vec(state(9), 1..12)) {
            let mut labels = Labels::new();
            let input = labels.intern(LabelKind::Input, WORDS[1]);
            let outputs = [WORDS[2], WORDS[3]].map(|w| labels.intern(LabelKind::Output, w));
            let plain = labels.intern(LabelKind::Undirected, "plain");
            let count = states.len();
            let words = |of: &[usize]| of.iter().map(|&w| WORDS[w].to_owned()).collect::<Vec<_>>();
            let states = states.iter().enumerate().map(|(i, (step, targets, verdict, locations, places))| {
                // Forward only, so that it is finite.
                let [a, b, c] = targets.map(|t| TestStateId::new((i + 1 + t as usize).min(count - 1)));
                let step = match step {
                    _ if i + 1 == count => TestStep::End,
                    0 => TestStep::End,
                    1 => TestStep::Stimulate { stimulus: input, next: a, preempted: Vec::new() },
                    2 => TestStep::Stimulate {
                        stimulus: input,
                        next: a,
                        preempted: outputs.map(|o| (o, Verdict::Fail)).to_vec(),
                    },
                    3 => TestStep::Observe {
                        outputs: vec![(outputs[0], a), (outputs[1], b)],
                        quiescence: (targets[2] % 2 == 0).then_some(c),
                    },
                    _ => TestStep::Offer { actions: vec![(plain, a)] },
                };
                let locations = words(locations);
                let places = match targets[0] % 3 {
                    0 => words(places),
                    _ => without_lines(&locations),
                };
                TestState { step, verdict: *verdict, locations: locations.into(), places: places.into() }
            });
            let model = ModelRef { name: Some("m\"".to_owned()), ..ModelRef::default() };
            let case = TestCase::new("c", Criterion::Safety, model, Arc::new(labels), states.collect());
            let case = case.expect("a test case");
            let text = write(&case);
            let document: Document = serde_json::from_str(&text).expect("JSON of this shape");
            prop_assert_eq!(serde_json::to_string_pretty(&document).expect("JSON"), &*text);
            let mut line = String::new();
            append_line(&case, &mut line);
            prop_assert_eq!(serde_json::to_string(&document).expect("JSON") + "\n", &*line);
            prop_assert_eq!(read(&line).expect("own text"), case.clone());
            prop_assert_eq!(read(&text).expect("own text"), case);
        }
    }
}
