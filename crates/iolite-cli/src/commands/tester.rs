//! `iolite tester`: the canonical tester of a property, and test cases selected from it.

use std::path::PathBuf;
use std::sync::Arc;

use iolite_formats::drawing::Drawing;
use iolite_formats::property_tester::{TesterDocument, aut, dot, json, text};
use iolite_formats::svg;
use iolite_lts::{LabelId, LabelKind, Labels};
use iolite_property::{
    Alphabet, CanonicalTester, PropertyTestCase, PropertyVerdict, Selection, StreettAutomaton,
    Structure, TesterOptions,
};

use crate::args::property::{BasisFlag, RelationFlag, TargetFlag};
use crate::args::workspace;
use crate::output::write_whole;
use crate::output::{Exit, print};
use iolite::{Error, ModelRef, PropertyReadOptions, ReadOptions};

/// The canonical tester of a property, or a test case selected for a verdict
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The property: FILE.iol#P, FILE.hoa, FILE.xml (Java-PT), ltl:FORMULA, or ioco:MODEL
    property: ModelRef,
    /// The relation that it tests
    #[arg(long, value_enum, default_value = "inclusion")]
    relation: RelationFlag,
    /// Observe quiescence: an output lock and a deadlock, told apart
    #[arg(long)]
    quiescence: bool,
    /// Select a controllable test case for this verdict
    #[arg(long, value_enum, value_name = "VERDICT")]
    target: Option<TargetFlag>,
    /// Give this input in this state, as in 1=?a; elsewhere one on a shortest way (repeatable)
    #[arg(long, value_name = "STATE=INPUT", requires = "target")]
    choose: Vec<String>,
    /// Go through these states, in this order, before the verdict
    #[arg(
        long,
        value_name = "STATES",
        value_delimiter = ',',
        requires = "target"
    )]
    visit: Vec<String>,
    /// Keep away from these states: no input leads there, and the test ends `inconc` where an output does
    #[arg(
        long,
        value_name = "STATES",
        value_delimiter = ',',
        requires = "target"
    )]
    avoid: Vec<String>,
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
    /// A picture of the whole tester: a colour for each verdict
    Svg,
    /// A state with a verdict has a loop that is labelled with it
    Aut,
    Json,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let property = workspace(&ReadOptions::default()).property(&args.property, &args.read)?;
    super::show_property::listable(&property.automaton, &property.name)?;
    let automaton = directed(&property.automaton, &args.inputs)?;
    let options = TesterOptions {
        relation: args.relation.into(),
        quiescence: args.quiescence,
        basis: args.basis.into(),
    };
    let tester = CanonicalTester::new(&automaton, options)
        .map_err(|e| Error::input(format!("{}: {e}", property.name)))?;
    if let Some(target) = args.target {
        let found = !tester
            .with_verdict(PropertyVerdict::from(target))
            .is_empty();
        if !found {
            return Err(Error::input(format!(
                "{}: the canonical tester never says {} for {}",
                property.name,
                PropertyVerdict::from(target),
                options.relation.name()
            ))
            .hint("`iolite testable` tells which verdicts can be had, and why not the others"));
        }
    }
    let case = args
        .target
        .map(|target| selected(args, &tester, target.into(), &property.name));
    let document = TesterDocument::with_case(
        &property.name,
        options.relation.name(),
        &tester,
        case.transpose()?.as_ref(),
    );
    let text = match format(args)? {
        TesterFormat::Text => text::write(&document),
        TesterFormat::Dot => dot::write(&document),
        TesterFormat::Svg if args.target.is_some() => {
            return Err(
                Error::input("--format svg draws the whole tester, not a test case")
                    .hint("--format dot draws both"),
            );
        }
        TesterFormat::Svg => {
            let mut text = String::new();
            let drawing = Drawing::of_tester(&property.name, &tester);
            svg::write(&drawing, &mut text).map_err(|e| Error::input(e.to_string()))?;
            text
        }
        TesterFormat::Aut => aut::write(&document),
        TesterFormat::Json => json::write(&document),
    };
    match &args.output_file {
        Some(path) => write_whole(path, text.as_bytes())?,
        None => print(&text)?,
    }
    Ok(Exit::Holds)
}

/// The test case that the flags select [PROP12, §7.2 and remark 5].
fn selected(
    args: &Args,
    tester: &CanonicalTester,
    target: PropertyVerdict,
    property: &str,
) -> Result<PropertyTestCase, Error> {
    let state = |name: &String| {
        let mut states = tester.structure().states();
        let known = || {
            let names = tester.structure().states().map(|q| tester.name(q));
            names.collect::<Vec<_>>().join(" ")
        };
        states
            .find(|&q| tester.name(q) == name.trim())
            .ok_or_else(|| {
                Error::input(format!("{property}: its tester has no state `{name}`"))
                    .hint(format!("its states are: {}", known()))
            })
    };
    let states = |names: &[String]| names.iter().map(state).collect::<Result<Vec<_>, _>>();
    let input = |text: &String| {
        let (at, input) = text.split_once('=').ok_or_else(|| {
            Error::input(format!(
                "--choose {text}: write STATE=INPUT, as in 1=?op_uns"
            ))
        })?;
        let sigma = tester.alphabet();
        let letter = sigma.letter_of_text(input.trim()).ok_or_else(|| {
            let known: Vec<String> = sigma.iter().map(|l| sigma.text(l)).collect();
            Error::input(format!("{property}: it has no action `{input}`"))
                .hint(format!("its actions are: {}", known.join(" ")))
        })?;
        Ok((state(&at.to_owned())?, letter))
    };
    let selection = Selection {
        target,
        inputs: args
            .choose
            .iter()
            .map(input)
            .collect::<Result<_, Error>>()?,
        visit: states(&args.visit)?,
        avoid: states(&args.avoid)?,
    };
    tester
        .select_by(&selection)
        .map_err(|e| Error::input(format!("{property}: {e}")))
}

fn format(args: &Args) -> Result<TesterFormat, Error> {
    if args.json {
        return Ok(TesterFormat::Json);
    }
    let Some((path, None)) = args.output_file.as_ref().map(|p| (p, args.format)) else {
        return Ok(args.format.unwrap_or(TesterFormat::Text));
    };
    Ok(match path.extension().and_then(|e| e.to_str()) {
        Some("dot" | "gv") => TesterFormat::Dot,
        Some("svg") => TesterFormat::Svg,
        Some("aut") => TesterFormat::Aut,
        Some("json") => TesterFormat::Json,
        Some("txt") => TesterFormat::Text,
        _ => {
            return Err(Error::input(format!("{}: which format?", path.display()))
                .hint("add --format text|dot|svg|aut|json"));
        }
    })
}

/// The same automaton with plain actions turned into inputs.
fn directed(automaton: &StreettAutomaton, inputs: &[String]) -> Result<StreettAutomaton, Error> {
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
            return Err(Error::input(format!(
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
    let wrong = |e: &dyn std::fmt::Display| Error::input(format!("--inputs: {e}"));
    let alphabet = Alphabet::new(labels, letters).map_err(|e| wrong(&e))?;
    let s = automaton.structure();
    let table = s.table().map_err(|e| wrong(&e))?.into_owned();
    let structure =
        Structure::new(Arc::new(alphabet), s.initial(), table).map_err(|e| wrong(&e))?;
    let directed = StreettAutomaton::new(structure, automaton.pairs().to_vec())
        .map_err(|e| wrong(&e))?
        .with_finite(automaton.finite().clone())
        .with_open(automaton.open());
    Ok(directed.with_names(s.states().map(|q| automaton.name(q)).collect()))
}
