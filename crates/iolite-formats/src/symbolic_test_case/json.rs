//! The JSON form of a test case with data.
//!
//! ```json
//! {
//!   "format": "iolite-symbolic-test-case", "version": 1,
//!   "name": "NoSilence", "criterion": "safety",
//!   "model": { "name": "Sender", "hash": "fnv1a128:…" },
//!   "sorts": [{ "name": "Colour", "values": ["red", "green"] }], "functions": [],
//!   "constants": [["max", "int"]], "assumptions": [[">=", "max", 1]],
//!   "variables": [["rn", "int", 0], ["free", { "range": [0, 7] }]],
//!   "stimuli": [["REQ", ["l", "int"]]], "observations": [["MSG", ["m", "int"], ["b", "bool"]]],
//!   "locations": [{ "name": "Idle", "coreachable": ["<", "rn", "max"] },
//!                 { "name": "Bad", "verdict": "violate-fail" }],
//!   "transitions": [
//!     { "from": 0, "stimulate": "REQ", "guard": [">", "l", 0], "assign": [["rn", 0]], "to": 0 },
//!     { "from": 0, "observe": "MSG", "to": 0 },
//!     { "from": 0, "observe": "delta", "to": 1 }
//!   ]
//! }
//! ```
//!
//! The first location is the initial one. A transition gives a stimulus with values that its guard
//! allows, or observes; without a guard it may always be taken, and data that it does not assign keep
//! their values. `coreachable` is the condition under which the goal may be reached from a location
//! [SYM04, def. 14]; without one it is `true`. Sorts, functions and terms are those of `sort.rs`,
//! `function.rs` and `term.rs`. Unknown fields are errors.

use std::collections::BTreeMap;

use iolite_derive::{
    Criterion, ModelRef, SymbolicTestCase, SymbolicTestCaseError, UnknownCriterion, Verdict,
};
use iolite_expr::{Sort, Span, Term, Var};
use iolite_lts::LabelKind;
use iolite_sts::{BuildError, Builder, Gate, GateId, Iosts, LocationId, Transition};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::function::Functions;
use super::sort::{Sorts, write_sort};
use super::term::{self, Reader, Writer};

const FORMAT: &str = "iolite-symbolic-test-case";
const VERSION: u32 = 1;

/// Why a text is no test case with data.
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
    /// A part of it has no meaning.
    #[error("{place}: {why}")]
    Part {
        /// Which part.
        place: String,
        /// Why.
        why: String,
    },
    /// The parts do not fit together.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// What it was made for is not known.
    #[error(transparent)]
    Criterion(#[from] UnknownCriterion),
    /// Well-formed, but no test case.
    #[error(transparent)]
    TestCase(#[from] SymbolicTestCaseError),
}

/// Why a test case cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// Two sorts of one name, from models of different files.
    #[error("{0} means two different sorts")]
    Ambiguous(String),
    /// What was written cannot be read again, such as a value that nests too deep.
    #[error("it could not be read again: {0}")]
    Unreadable(String),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    version: u32,
    name: String,
    criterion: String,
    model: ModelRef,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sorts: Vec<Json>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    functions: Vec<Json>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    constants: Vec<(String, Json)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    assumptions: Vec<Json>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    variables: Vec<Vec<Json>>,
    stimuli: Vec<Vec<Json>>,
    observations: Vec<Vec<Json>>,
    locations: Vec<LocationDocument>,
    transitions: Vec<TransitionDocument>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LocationDocument {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    coreachable: Option<Json>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TransitionDocument {
    from: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stimulate: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    observe: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    guard: Option<Json>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    assign: Vec<(String, Json)>,
    to: usize,
}

/// Whether a text claims to be of this format.
pub fn is_one(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Head {
        format: String,
    }
    serde_json::from_str::<Head>(text).is_ok_and(|head| head.format == FORMAT)
}

/// The test case as one JSON document, for people.
pub fn write(case: &SymbolicTestCase) -> Result<String, WriteError> {
    let document = document(case)?;
    let text = serde_json::to_string_pretty(&document).expect("strings and numbers only") + "\n";
    readable(&text)?;
    Ok(text)
}

/// Appends the same on one line, for suites of many test cases in one file.
pub fn append_line(case: &SymbolicTestCase, text: &mut String) -> Result<(), WriteError> {
    let document = document(case)?;
    let line = serde_json::to_string(&document).expect("strings and numbers only");
    readable(&line)?;
    text.push_str(&line);
    text.push('\n');
    Ok(())
}

fn readable(text: &str) -> Result<(), WriteError> {
    let read = read(text).map(drop);
    read.map_err(|e| WriteError::Unreadable(e.to_string()))
}

fn document(case: &SymbolicTestCase) -> Result<Document, WriteError> {
    let program = case.program();
    let (mut sorts, mut functions) = (Sorts::default(), Functions::default());
    let variables = program.variables().iter().map(|v| &v.var);
    let constants = program.constants().iter().map(|c| &c.var);
    let params = program.gates().flat_map(|(_, g)| &g.params);
    for var in variables.chain(constants).chain(params) {
        sorts.note(&var.sort);
    }
    // A condition is an over-approximation that guides stimuli, so one that solvers hardly decide is left out.
    let condition = |id: LocationId| {
        let condition = case.coreachable(id);
        let said = !condition.is_true() && !term::is_quantified(condition);
        said.then_some(condition)
    };
    let initial = program.variables().iter().flat_map(|v| &v.initial);
    let conditions = program.locations().filter_map(|(id, _)| condition(id));
    let terms = program.transitions().flat_map(|(_, t)| terms_of(t));
    let terms = terms.chain(program.assumptions()).chain(initial);
    for term in terms.chain(conditions) {
        sorts.note_term(term);
        functions.note_term(term, &mut sorts);
    }
    if let Some(name) = sorts.ambiguous() {
        return Err(WriteError::Ambiguous(name.to_owned()));
    }
    let write = |term: &Term| Writer::new(&functions).write(term);
    // The initial location comes first.
    let first = program.initial().index();
    let place = |l: LocationId| match l.index() {
        i if i == first => 0,
        i if i < first => i + 1,
        i => i,
    };
    let mut transitions = Vec::new();
    for (_, t) in program.transitions() {
        let gate = program.gate(t.action);
        let (stimulate, observe) = match gate.kind {
            LabelKind::Output => (Some(gate.name.to_string()), None),
            LabelKind::Delta => (None, Some("delta".to_owned())),
            _ => (None, Some(observed_name(gate))),
        };
        let assigned = t.assignments.iter();
        transitions.push(TransitionDocument {
            from: place(t.source),
            stimulate,
            observe,
            guard: (!t.guard.is_true()).then(|| write(&t.guard)),
            assign: assigned
                .map(|(x, e)| {
                    let name = program.variables()[*x].var.name.to_string();
                    (name, write(e))
                })
                .collect(),
            to: place(t.target),
        });
    }
    let mut locations: Vec<(usize, LocationDocument)> = Vec::new();
    for (id, l) in program.locations() {
        let document = LocationDocument {
            name: l.name.to_string(),
            verdict: case.verdict(id),
            coreachable: condition(id).map(write),
        };
        locations.push((place(id), document));
    }
    locations.sort_by_key(|(at, _)| *at);
    let gates = |kind: LabelKind| {
        let of_kind = program.gates().filter(move |(_, g)| g.kind == kind);
        of_kind.map(|(_, g)| gate_document(g)).collect()
    };
    Ok(Document {
        format: FORMAT.to_owned(),
        version: VERSION,
        name: case.name().to_owned(),
        criterion: case.criterion().to_string(),
        model: case.model().clone(),
        constants: program
            .constants()
            .iter()
            .map(|c| (c.var.name.to_string(), write_sort(&c.var.sort)))
            .collect(),
        assumptions: program.assumptions().iter().map(write).collect(),
        variables: program
            .variables()
            .iter()
            .map(|v| {
                let mut all = vec![(*v.var.name).into(), write_sort(&v.var.sort)];
                all.extend(v.initial.as_ref().map(write));
                all
            })
            .collect(),
        stimuli: gates(LabelKind::Output),
        observations: gates(LabelKind::Input),
        sorts: sorts.declarations(),
        functions: functions.declarations(),
        locations: locations.into_iter().map(|(_, l)| l).collect(),
        transitions,
    })
}

fn terms_of(t: &Transition) -> impl Iterator<Item = &Term> {
    t.assignments.iter().map(|(_, e)| e).chain([&t.guard])
}

/// An observation called `delta` is not silence.
fn observed_name(gate: &Gate) -> String {
    match &*gate.name {
        "delta" => "!delta".to_owned(),
        name => name.to_owned(),
    }
}

fn gate_document(gate: &Gate) -> Vec<Json> {
    let params = gate.params.iter();
    let params = params.map(|p| json!([*p.name, write_sort(&p.sort)]));
    std::iter::once((*gate.name).into()).chain(params).collect()
}

/// Reads and checks what [`write()`] writes.
pub fn read(text: &str) -> Result<SymbolicTestCase, ReadError> {
    let document: Document = serde_json::from_str(text)?;
    if document.format != FORMAT || document.version != VERSION {
        return Err(ReadError::Format {
            format: document.format,
            version: document.version,
        });
    }
    let criterion: Criterion = document.criterion.parse()?;
    let (program, conditions) = program(&document)?;
    let verdicts = document.locations.iter().map(|l| l.verdict).collect();
    Ok(SymbolicTestCase::new(
        document.name,
        criterion,
        document.model,
        program,
        verdicts,
        conditions,
    )?)
}

fn part(place: impl Into<String>) -> impl FnOnce(String) -> ReadError {
    let place = place.into();
    move |why| ReadError::Part { place, why }
}

fn program(document: &Document) -> Result<(Iosts, Vec<Term>), ReadError> {
    let nowhere = Span::NONE;
    let mut sorts = Sorts::default();
    for declared in &document.sorts {
        sorts.declare(declared).map_err(part("sorts"))?;
    }
    let mut functions = Functions::default();
    for declared in &document.functions {
        let declared = functions.declare(declared, &sorts);
        declared.map_err(part("functions"))?;
    }
    let mut builder = Builder::new(&document.name);
    let mut constants: Vec<Var> = Vec::new();
    for (name, sort) in &document.constants {
        let sort = sorts.read(sort).map_err(part(format!("constant {name}")))?;
        constants.push(builder.constant(name, sort, nowhere)?);
    }
    let named = |vars: &[Var]| -> Vec<(String, Var)> {
        vars.iter()
            .map(|v| (v.name.to_string(), v.clone()))
            .collect()
    };
    let over_constants = named(&constants);
    let mut variables: Vec<Var> = Vec::new();
    for declared in &document.variables {
        let (name, sort, initial) = match declared.as_slice() {
            [Json::String(name), sort] => (name, sort, None),
            [Json::String(name), sort, initial] => (name, sort, Some(initial)),
            _ => {
                return Err(part("variables")(
                    "a variable is [name, sort, initial value]".to_owned(),
                ));
            }
        };
        let place = format!("variable {name}");
        let sort = sorts.read(sort).map_err(part(place.clone()))?;
        let reader = reader(&sorts, &functions, &over_constants);
        let initial = initial.map(|t| reader.term(t)).transpose();
        let initial = initial.map_err(part(place))?;
        variables.push(builder.variable(name, sort, initial, nowhere)?);
    }
    let data: Vec<(String, Var)> = over_constants
        .into_iter()
        .chain(named(&variables))
        .collect();
    for assumption in &document.assumptions {
        let term = reader(&sorts, &functions, &data).term(assumption);
        builder.assume(term.map_err(part("assumptions"))?)?;
    }
    let mut gates: BTreeMap<(bool, String), GateId> = BTreeMap::new();
    let kinds = [
        (LabelKind::Output, &document.stimuli),
        (LabelKind::Input, &document.observations),
    ];
    for (kind, declared) in kinds {
        for gate in declared {
            let (name, params) = gate_of(gate, &sorts).map_err(part("actions"))?;
            let params: Vec<(&str, Sort)> = params.iter().map(|(n, s)| (*n, s.clone())).collect();
            let id = builder.gate(kind, name, &params, nowhere)?;
            gates.insert((kind == LabelKind::Output, name.to_owned()), id);
        }
    }
    let delta = builder.delta(nowhere);
    let mut conditions = Vec::new();
    for (i, l) in document.locations.iter().enumerate() {
        builder.location(&l.name, i == 0, nowhere)?;
        let condition = l.coreachable.as_ref();
        let condition = condition
            .map(|t| reader(&sorts, &functions, &data).term(t))
            .transpose();
        let condition = condition.map_err(part(format!("location {}", l.name)))?;
        conditions.push(condition.unwrap_or_else(|| true.into()));
    }
    for (i, t) in document.transitions.iter().enumerate() {
        let place = format!("transition {i}");
        let action = match (&t.stimulate, &t.observe) {
            (Some(name), None) => gates.get(&(true, name.clone())).copied(),
            (None, Some(name)) if name == "delta" => Some(delta),
            (None, Some(name)) => {
                let name = if name == "!delta" { "delta" } else { name };
                gates.get(&(false, name.to_owned())).copied()
            }
            _ => None,
        };
        let Some(action) = action else {
            return Err(part(place)(
                "needs stimulate or observe with a declared action".to_owned(),
            ));
        };
        let location = |at: usize| {
            let known = at < document.locations.len();
            known
                .then(|| LocationId::new(at))
                .ok_or_else(|| ReadError::Part {
                    place: place.clone(),
                    why: format!("there is no location {at}"),
                })
        };
        let (source, target) = (location(t.from)?, location(t.to)?);
        let mut scope = data.clone();
        scope.extend(named(builder.params(action)));
        let reader = reader(&sorts, &functions, &scope);
        let guard = t.guard.as_ref().map(|g| reader.term(g)).transpose();
        let guard = guard.map_err(part(place.clone()))?;
        let mut assignments = Vec::new();
        for (name, value) in &t.assign {
            let var = variables.iter().find(|v| *v.name == **name);
            let Some(var) = var else {
                return Err(part(place)(format!("{name} is no variable")));
            };
            let value = reader.term(value).map_err(part(place.clone()))?;
            assignments.push((var.clone(), value));
        }
        builder.transition(source, action, guard, assignments, target, nowhere)?;
    }
    Ok((builder.build()?, conditions))
}

fn reader<'a>(
    sorts: &'a Sorts,
    functions: &'a Functions,
    scope: &'a [(String, Var)],
) -> Reader<'a> {
    Reader {
        sorts,
        functions,
        scope: scope.iter().map(|(name, v)| (name.as_str(), v)).collect(),
    }
}

/// The name of an action, and its parameters with their sorts.
type Signature<'a> = (&'a str, Vec<(&'a str, Sort)>);

fn gate_of<'a>(declared: &'a [Json], sorts: &Sorts) -> Result<Signature<'a>, String> {
    let Some((name, params)) = declared.split_first() else {
        return Err("an action is [name, parameters…]".to_owned());
    };
    let param = |p: &'a Json| {
        let [name, sort] = term::pair(p)?;
        Ok::<_, String>((term::text(name)?, sorts.read(sort)?))
    };
    let params: Result<Vec<_>, String> = params.iter().map(param).collect();
    Ok((term::text(name)?, params?))
}
