//! `iolite tester`: the canonical tester of a property, and test cases selected from it.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use iolite_lts::{LabelId, LabelKind, Labels};
use iolite_property::{
    Alphabet, CanonicalTester, PropertyVerdict, StateId, StreettAutomaton, Structure, TesterOptions,
};
use serde::Serialize;

use super::failure::write_whole;
use super::property_show::quoted;
use super::property_source::{
    self, BasisFlag, PropertyReadOptions, PropertyRef, RelationFlag, TargetFlag, relation_name,
};
use super::{Exit, Failure, print};

/// The canonical tester of a property, or a test case selected for a verdict
#[derive(clap::Args)]
pub(super) struct Args {
    /// The property: FILE.iol#P, FILE.hoa, FILE.xml (Java-PT), or ltl:FORMULA
    property: PropertyRef,
    /// The relation that it tests
    #[arg(long, value_enum, default_value = "inclusion")]
    relation: RelationFlag,
    /// Observe quiescence: an output lock and a deadlock, told apart
    #[arg(long)]
    quiescence: bool,
    /// Select a controllable test case for this verdict
    #[arg(long, value_enum, value_name = "VERDICT")]
    target: Option<TargetFlag>,
    /// Plain actions that the tester controls
    #[arg(long, value_name = "ACTIONS", value_delimiter = ',')]
    inputs: Vec<String>,
    /// When a sequence determines the property
    #[arg(long, value_enum, default_value_t)]
    basis: BasisFlag,
    /// How to print it [default: by the ending of -o, else text]
    #[arg(long, value_enum)]
    format: Option<TesterFormat>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output_file: Option<PathBuf>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    #[command(flatten)]
    read: PropertyReadOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum TesterFormat {
    Text,
    Dot,
    /// A state with a verdict has a loop that is labelled with it
    Aut,
    Json,
}

#[derive(Serialize)]
struct Document {
    property: String,
    relation: &'static str,
    quiescence: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    states: Vec<StateDocument>,
}

#[derive(Serialize)]
struct StateDocument {
    name: String,
    verdict: String,
    /// What a test case does here: give this input, or only observe.
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<String>,
    steps: Vec<StepDocument>,
}

#[derive(Serialize)]
struct StepDocument {
    action: String,
    /// The position of a state in the list.
    target: usize,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let property = property_source::load(&args.property, &args.read)?;
    let automaton = directed(&property.automaton, &args.inputs)?;
    let options = TesterOptions {
        relation: args.relation.relation(),
        quiescence: args.quiescence,
        basis: args.basis.basis(),
    };
    let tester = CanonicalTester::new(&automaton, options)
        .map_err(|e| Failure::input(format!("{}: {e}", property.name)))?;
    if let Some(target) = args.target {
        let found = !tester.with_verdict(target.verdict()).is_empty();
        if !found {
            return Err(Failure::input(format!(
                "{}: the canonical tester never says {} for {}",
                property.name,
                target.verdict(),
                relation_name(options.relation)
            ))
            .hint("`iolite testable` tells which verdicts can be had, and why not the others"));
        }
    }
    let document = Document {
        property: property.name,
        relation: relation_name(options.relation),
        quiescence: args.quiescence,
        target: args.target.map(|t| t.verdict().to_string()),
        states: match args.target {
            None => whole(&tester),
            Some(target) => selected(&tester, target.verdict()),
        },
    };
    let text = match format(args)? {
        TesterFormat::Text => tell(&document),
        TesterFormat::Dot => dot(&document),
        TesterFormat::Aut => aut(&document),
        TesterFormat::Json => {
            let text = serde_json::to_string_pretty(&document);
            text.map_err(|e| Failure::fault(format!("writing JSON: {e}")))? + "\n"
        }
    };
    match &args.output_file {
        Some(path) => write_whole(path, text.as_bytes())?,
        None => print(&text)?,
    }
    Ok(Exit::Holds)
}

fn format(args: &Args) -> Result<TesterFormat, Failure> {
    if args.json {
        return Ok(TesterFormat::Json);
    }
    let Some((path, None)) = args.output_file.as_ref().map(|p| (p, args.format)) else {
        return Ok(args.format.unwrap_or(TesterFormat::Text));
    };
    Ok(match path.extension().and_then(|e| e.to_str()) {
        Some("dot" | "gv") => TesterFormat::Dot,
        Some("aut") => TesterFormat::Aut,
        Some("json") => TesterFormat::Json,
        Some("txt") => TesterFormat::Text,
        _ => {
            return Err(Failure::input(format!("{}: which format?", path.display()))
                .hint("add --format text|dot|aut|json"));
        }
    })
}

/// The same automaton with plain actions turned into inputs.
fn directed(automaton: &StreettAutomaton, inputs: &[String]) -> Result<StreettAutomaton, Failure> {
    if inputs.is_empty() {
        return Ok(automaton.clone());
    }
    let sigma = automaton.alphabet();
    for name in inputs {
        let plain = sigma
            .letter_of_text(name)
            .is_some_and(|l| sigma.kind(l) == LabelKind::Undirected);
        if !plain {
            let known: Vec<String> = sigma.iter().map(|l| sigma.text(l)).collect();
            return Err(Failure::input(format!(
                "--inputs: `{name}` is no plain action of the property"
            ))
            .hint(format!("its actions are: {}", known.join(" "))));
        }
    }
    let mut labels = Labels::new();
    let letters: Vec<LabelId> = sigma
        .iter()
        .map(|l| {
            let label = sigma.labels().label(sigma.label(l));
            let input = inputs.iter().any(|name| **name == *label.name);
            let kind = if input { LabelKind::Input } else { label.kind };
            labels.intern(kind, &label.name)
        })
        .collect();
    let wrong = |e: &dyn std::fmt::Display| Failure::input(format!("--inputs: {e}"));
    let alphabet = Alphabet::new(labels, letters).map_err(|e| wrong(&e))?;
    let s = automaton.structure();
    let table = s.states().flat_map(|q| s.row(q).to_vec()).collect();
    let structure =
        Structure::new(Arc::new(alphabet), s.initial(), table).map_err(|e| wrong(&e))?;
    let directed = StreettAutomaton::new(structure, automaton.pairs().to_vec())
        .map_err(|e| wrong(&e))?
        .with_finite(automaton.finite().clone());
    Ok(directed.with_names(s.states().map(|q| automaton.name(q)).collect()))
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

fn selected(tester: &CanonicalTester, target: PropertyVerdict) -> Vec<StateDocument> {
    let case = tester.select(target);
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

fn tell(document: &Document) -> String {
    let what = match &document.target {
        None => "canonical tester".to_owned(),
        Some(target) => format!("test case for {target}"),
    };
    let quiet = if document.quiescence {
        ", with quiescence"
    } else {
        ""
    };
    let mut text = format!(
        "{}: {what}, {}{quiet}\n",
        document.property, document.relation
    );
    for (k, state) in document.states.iter().enumerate() {
        let initial = if k == 0 { " initial," } else { "" };
        let _ = writeln!(text, "state {}:{initial} {}", state.name, state.verdict);
        for (target, actions) in grouped(state) {
            let _ = writeln!(
                text,
                "  {} -> {}",
                actions.join(", "),
                document.states[target].name
            );
        }
    }
    text
}

fn dot(document: &Document) -> String {
    let mut text = String::from("digraph tester {\n  rankdir=LR;\n  node [style=filled];\n");
    text += "  start [shape=point];\n  start -> 0;\n";
    for (k, state) in document.states.iter().enumerate() {
        let colour = match state.verdict.as_str() {
            "pass" | "weak-pass" => "palegreen",
            "fail" | "weak-fail" => "lightcoral",
            "inconc" => "lightyellow",
            _ => "white",
        };
        let label = format!("{} {}", state.name, state.verdict);
        let _ = writeln!(
            text,
            "  {k} [shape=box, fillcolor={colour}, label={}];",
            quoted(&label)
        );
        for (target, actions) in grouped(state) {
            let _ = writeln!(
                text,
                "  {k} -> {target} [label={}];",
                quoted(&actions.join(", "))
            );
        }
    }
    text + "}\n"
}

fn aut(document: &Document) -> String {
    let mut lines = Vec::new();
    for (k, state) in document.states.iter().enumerate() {
        for step in &state.steps {
            lines.push(format!("({k}, {}, {})", quoted(&step.action), step.target));
        }
        if state.verdict != "unknown" {
            lines.push(format!("({k}, {}, {k})", quoted(&state.verdict)));
        }
    }
    let mut text = format!("des (0, {}, {})\n", lines.len(), document.states.len());
    for line in lines {
        text += &line;
        text.push('\n');
    }
    text
}
