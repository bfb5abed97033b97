//! The certificate as it is written: one format for all negative answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The name and version of the format.
pub const FORMAT: &str = "iolite-certificate/2";

/// A claim, and all that is needed to look at it again.
///
/// A field that is not known is an error: nothing in a certificate goes unread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// [`FORMAT`].
    pub format: String,
    /// The criterion: a relation, `safety`, `purpose` or `property`.
    pub kind: String,
    /// What judged: the specification, or the property.
    pub model: Named,
    /// `fail`, `violate`, `violate-fail`, `weak-fail`, or `refuted` for a specification; `holds` of a
    /// relation and `proved` of an observer, where `pairs` show it; `unsound` of a test case and
    /// `undetected` of an error that a suite misses.
    pub verdict: String,
    /// Which states are quiescent: `livelock`, `strict` or `fair`.
    pub quiescence: String,
    /// `synchronous` or `queues`.
    pub context: String,
    /// With `queues`: the channels, where there are several or one loses or reorders messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<Channel>,
    /// How the implementation was made input-enabled: `self-loop` or `chaos`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete_inputs: Option<String>,
    /// The trace before the observation, in `?a`, `!x`, `delta` notation.
    pub trace: Vec<String>,
    /// Steps that are missing in the trace, because the run was too long.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub trace_omitted: u64,
    /// What was observed then; missing where the trace itself is the violation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Observation>,
    /// What would have been right.
    pub allowed: Vec<Observation>,
    /// Where the specification may be after the trace, as `Wait_Ack (line 12)`; then each observer, as
    /// `Observer: Busy`.
    pub locations: Vec<String>,
    /// The state of the implementation that shows the observation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implementation_location: Option<String>,
    /// The specification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub specification: Option<Model>,
    /// The implementation, where it is a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implementation: Option<Model>,
    /// The observers, or test purposes, beside the specification.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observers: Vec<Observer>,
    /// The same with data, which have no tables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data_observers: Vec<DataObserver>,
    /// Properties of any class beside the specification.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<WatchedProperty>,
    /// The property, where it judged alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub property: Option<Property>,
    /// The set F of `ioconf_F`, as an acceptor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traces: Option<Observer>,
    /// The test case, where a model fails one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<Test>,
    /// The test cases of a suite, where they miss an error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suite: Vec<Test>,
    /// How the execution goes on that refutes a property: `bad-prefix`, `output-lock`, `deadlock` or
    /// `cycle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    /// What comes again and again after the trace; nothing where internal actions do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Vec<String>>,
    /// The same step by step, internal actions included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<Execution>,
    /// Which executions count: `weak` or `strong` fairness; all of them where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness: Option<String>,
    /// `goes-on` where the environment gives another input whenever the specification waits for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// Where the answer is a positive one: pairs of states that contain the start and every step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<Pairs>,
    /// Where the data of a model were kept: what proves or refutes an observer beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataClaim>,
    /// Every file that the claim rests on.
    pub files: Vec<SourceText>,
    /// How the files were read. Only the reader of the files knows what it means.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub reading: serde_json::Value,
    /// The number of the run, from 0. This and the next two are told: no re-check can confirm them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<u64>,
    /// Its seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// How long silence had lasted where it was taken for δ, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience: Option<u64>,
}

impl Certificate {
    /// Reads a document. Whoever has a [`serde_json::Value`] calls this one, so that the code that reads all its
    /// parts is compiled once, in this crate.
    pub fn from_document(document: serde_json::Value) -> Result<Self, serde_json::Error> {
        serde_json::from_value(document)
    }

    /// The document; likewise.
    pub fn to_document(&self) -> Result<serde_json::Value, serde_json::Error> {
        serde_json::to_value(self)
    }

    /// The actions of the trace, and what was observed where that is an action.
    pub fn actions(&self) -> Vec<String> {
        let observed = match &self.observed {
            Some(Observation::Action(action)) => Some(action),
            Some(Observation::Refusal(_)) | None => None,
        };
        self.trace.iter().chain(observed).cloned().collect()
    }

    /// A claim without models and files: they are added.
    pub fn new(kind: &str, verdict: &str, quiescence: &str) -> Self {
        Self {
            format: FORMAT.to_owned(),
            kind: kind.to_owned(),
            model: Named::default(),
            verdict: verdict.to_owned(),
            quiescence: quiescence.to_owned(),
            context: "synchronous".to_owned(),
            channels: Vec::new(),
            complete_inputs: None,
            trace: Vec::new(),
            trace_omitted: 0,
            observed: None,
            allowed: Vec::new(),
            locations: Vec::new(),
            implementation_location: None,
            specification: None,
            implementation: None,
            observers: Vec::new(),
            data_observers: Vec::new(),
            properties: Vec::new(),
            property: None,
            traces: None,
            test: None,
            suite: Vec::new(),
            ending: None,
            cycle: None,
            execution: None,
            fairness: None,
            environment: None,
            pairs: None,
            data: None,
            files: Vec::new(),
            reading: serde_json::Value::Null,
            run: None,
            seed: None,
            patience: None,
        }
    }
}

/// A channel: order is kept within it, unless it reorders, and not between channels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Channel {
    /// Its name.
    pub name: String,
    /// Bare names of the inputs that it carries; one that no channel lists is carried by the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// Bare names of the outputs that it alone carries; others may come through any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
    /// Whether messages may be lost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loss: bool,
    /// Whether messages of one direction may overtake each other.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reorder: bool,
}

/// An observer, or a test purpose, with data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataObserver {
    /// `FILE#Name`.
    pub reference: String,
    /// Values of its own constants, as `max=3`; those that it shares with the specification are the
    /// specification's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constants: Vec<String>,
}

/// The name of a model, in parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// Its file, or a formula.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its name there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The hash of the file, or of the formula.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

/// An action, or a set of actions that are refused.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Observation {
    /// An action, or `delta`.
    Action(String),
    /// A refusal.
    Refusal(Refusal),
}

/// A set of actions that are refused.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// The actions.
    pub refuses: Vec<String>,
}

/// A state and the line of its declaration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Its name.
    pub state: String,
    /// Its line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{} (line {line})", self.state),
            None => f.write_str(&self.state),
        }
    }
}

/// A model, by name and as a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// `FILE#Name`, with the constants it was given.
    pub reference: String,
    /// Its transitions; missing for a model whose data were not unfolded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<Table>,
}

/// A finite labelled transition system, or the part of it that a trace needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// The labels, each with its kind; those that no transition carries are of the alphabet too.
    pub labels: Vec<(Kind, String)>,
    /// The states.
    pub states: Vec<State>,
    /// The initial state.
    pub initial: usize,
    /// For each state its transitions, as pairs of label and target; `null` for a state that the trace
    /// does not come to.
    pub rows: Vec<Option<Vec<(usize, usize)>>>,
}

/// The kind of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// `?a`.
    Input,
    /// `!x`.
    Output,
    /// A label without direction.
    Plain,
    /// τ, with or without a name.
    Internal,
}

/// A deterministic automaton over actions, with marked states. Where it has no step it is left for good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observer {
    /// `FILE#Name`.
    pub reference: String,
    /// Its own name.
    pub name: String,
    /// The actions that it knows.
    pub labels: Vec<String>,
    /// The names of its states.
    pub states: Vec<String>,
    /// The initial state.
    pub initial: usize,
    /// Violating states; of a set of traces, its accepting states.
    pub marked: Vec<usize>,
    /// Steps: state, label, state.
    pub steps: Vec<(usize, usize, usize)>,
}

/// A test case [LTS96, def. 3.1 and 7.1; IOCO99, §4]; its initial state is the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// Its file, or `FILE.iol#T`.
    pub reference: String,
    /// Its name.
    pub name: String,
    /// What it tests for: the kind of the certificate.
    pub criterion: String,
    /// Its alphabet.
    pub labels: Vec<(Kind, String)>,
    /// Its states.
    pub states: Vec<TestState>,
}

/// A state of a test case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestState {
    /// What is done here.
    pub does: TestStep,
    /// ν: the verdict of a run that ends here.
    pub verdict: String,
    /// Where the model of the test case may be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<String>,
    /// Its steps, as pairs of label and state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<(usize, usize)>,
    /// Where θ leads, the observation of δ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theta: Option<usize>,
}

/// What a test case does in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TestStep {
    /// Nothing: it is over.
    End,
    /// It gives one input.
    Stimulate,
    /// It waits for any output, and for silence.
    Observe,
    /// It offers actions to be agreed on.
    Offer,
}

/// A property as a deterministic, complete Streett automaton [PROP12, def. 2 and 3].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Property {
    /// `FILE#Name`, or `ltl:FORMULA`.
    pub reference: String,
    /// How executions and property are related: `inclusion`, …
    pub relation: String,
    /// The letters.
    pub letters: Vec<String>,
    /// Which letter an action with values is, where guards on them make the letters.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
    /// The initial state.
    pub initial: usize,
    /// For each state its successor on each letter.
    pub rows: Vec<Vec<usize>>,
    /// The states whose finite words are in the property; those that it leaves open are listed too, but not
    /// where it is `proved`.
    pub finite: Vec<usize>,
    /// The pairs.
    pub pairs: Vec<Pair>,
}

/// A property beside a specification: its canonical tester follows the run [PROP12, def. 15].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchedProperty {
    /// Its own name.
    pub name: String,
    /// The names of its states.
    pub states: Vec<String>,
    /// Silence says nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignores_silence: bool,
    /// The property.
    pub automaton: Property,
}

/// A Streett pair: a run meets `recurrent` infinitely often, or stays in `persistent` in the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// R.
    pub recurrent: Vec<usize>,
    /// P.
    pub persistent: Vec<usize>,
}

/// Steps of the specification, each an action and the state that it leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Execution {
    /// From the initial state.
    pub stem: Vec<(String, usize)>,
    /// Again and again after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cycle: Vec<(String, usize)>,
}

/// The pairs that show that something holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pairs {
    /// Sets of states of the specification, by number; none beside an observer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<Vec<usize>>,
    /// A state of the implementation and a set; or a state of the specification and one of the
    /// observer, or of the property.
    pub pairs: Vec<(usize, usize)>,
    /// Of a property: why no execution stays for ever where it would be rejected. First for executions of
    /// which the property sees the end, then for each pair of its automaton.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub descents: Vec<Vec<Group>>,
    /// For each pair the state of the set of traces, where there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<usize>,
    /// Through queues: places instead of pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<QueuePlaces>,
}

/// Pairs between which an execution may stay. Of the groups of a list no step leads back to an earlier one,
/// so an execution without end stays in one of them from some point on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The pairs, by number.
    pub pairs: Vec<usize>,
    /// An output or internal action that fairness asks for, and that no step within the group is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neglects: Option<String>,
    /// With strong fairness: groups of those pairs that do not enable it, since a fair execution comes to
    /// the others only finitely often.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rest: Vec<Group>,
}

/// The places of an implementation that is observed through queues.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueuePlaces {
    /// How many inputs may be under way at a time.
    pub max_in_flight: usize,
    /// Words of inputs.
    pub words: Vec<Vec<String>>,
    /// Explanations of one observation each: the number of a set, and of the word that is not taken.
    pub explanations: Vec<Vec<(usize, usize)>>,
    /// A state of the implementation, the number of the word that it has not taken, and of the
    /// explanations.
    pub places: Vec<(usize, usize, usize)>,
}

/// A proof or a refutation where data were kept: of an observer, of a relation that holds, or of a test case that a
/// model fails. This crate knows no terms: `iolite explain` looks at it with a solver.
///
/// It speaks of S^δ || ω, of I^δ beside the tester of S, or of I^δ beside the test case; their locations,
/// transitions and names follow from the texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataClaim {
    /// The observer, as `FILE#Name` or `ltl:FORMULA`, or the file of the test case; nothing for a relation.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub observer: String,
    /// Its own name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Of a relation: a condition for each location of the implementation, which shows that it takes every
    /// input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<Vec<LocationCondition>>,
    /// Of a relation to a specification whose constants have no values: the values of the instance that proves it,
    /// for the constants that the implementation does not have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<Vec<(String, String)>>,
    /// Beside an instance: a condition for each location of the implementation beside what other instances specify,
    /// which shows that no input is left open by this one alone; nothing for uioco.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub specified: Option<Vec<LocationCondition>>,
    /// Proved: a condition for each location, in their order, that every state there satisfies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invariant: Option<Vec<LocationCondition>>,
    /// Proved by k-induction: the steps k. The conditions are then lemmas that strengthen the property, and need not
    /// exclude the violating locations by themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub induction: Option<usize>,
    /// Proved: the transitions for which it is not excluded that a guard or an effect has no value, by
    /// number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<usize>,
    /// Refuted: a run to a violating location.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<ValuedRun>,
    /// Who found it. That is told: no re-check can confirm it.
    pub how: String,
}

/// A condition at a location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocationCondition {
    /// The location, as `Sent.Busy`.
    pub location: String,
    /// One of these holds, in the language's notation; nothing where the location is never reached.
    pub any: Vec<String>,
}

/// A run with all its values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValuedRun {
    /// Constants and their values.
    pub constants: Vec<(String, String)>,
    /// Variables and their values at the start.
    pub initial: Vec<(String, String)>,
    /// What happens, internal actions too.
    pub steps: Vec<ValuedStep>,
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValuedStep {
    /// The action with its values, as `?REQ(3)`, `timeout` or `delta`.
    pub action: String,
    /// The number of the transition.
    pub transition: usize,
    /// The values of its parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// The location that is reached.
    pub to: String,
}

/// A file, as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceText {
    /// Its path.
    pub path: String,
    /// 64 bits of FNV-1a over its bytes, as 16 hexadecimal digits.
    pub hash: String,
    /// Its text.
    pub text: String,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// The fingerprint of a file: FNV-1a, 64 bits.
pub fn hash(bytes: &[u8]) -> String {
    let step = |h: u64, &b: &u8| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, step))
}
