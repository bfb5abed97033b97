//! `iolite tester`: the canonical tester of a property, and test cases selected from it.

use std::path::PathBuf;
use std::sync::Arc;

use iolite_formats::property_tester::{TesterDocument, aut, dot, json, text};
use iolite_lts::{LabelId, LabelKind, Labels};
use iolite_property::{
    Alphabet, CanonicalTester, PropertyVerdict, StreettAutomaton, Structure, TesterOptions,
};

use crate::args::property::{BasisFlag, RelationFlag, TargetFlag};
use crate::args::workspace;
use crate::output::write_whole;
use crate::output::{Exit, print};
use iolite::{Error, ModelRef, PropertyReadOptions, ReadOptions};

/// The canonical tester of a property, or a test case selected for a verdict
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The property: FILE.iol#P, FILE.hoa, FILE.xml (Java-PT), or ltl:FORMULA
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

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let property = workspace(&ReadOptions::default()).property(&args.property, &args.read)?;
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
    let document = TesterDocument::new(
        &property.name,
        options.relation.name(),
        &tester,
        args.target.map(PropertyVerdict::from),
    );
    let text = match format(args)? {
        TesterFormat::Text => text::write(&document),
        TesterFormat::Dot => dot::write(&document),
        TesterFormat::Aut => aut::write(&document),
        TesterFormat::Json => json::write(&document),
    };
    match &args.output_file {
        Some(path) => write_whole(path, text.as_bytes())?,
        None => print(&text)?,
    }
    Ok(Exit::Holds)
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
        Some("aut") => TesterFormat::Aut,
        Some("json") => TesterFormat::Json,
        Some("txt") => TesterFormat::Text,
        _ => {
            return Err(Error::input(format!("{}: which format?", path.display()))
                .hint("add --format text|dot|aut|json"));
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
    let table = s.states().flat_map(|q| s.row(q).to_vec()).collect();
    let structure =
        Structure::new(Arc::new(alphabet), s.initial(), table).map_err(|e| wrong(&e))?;
    let directed = StreettAutomaton::new(structure, automaton.pairs().to_vec())
        .map_err(|e| wrong(&e))?
        .with_finite(automaton.finite().clone())
        .with_open(automaton.open());
    Ok(directed.with_names(s.states().map(|q| automaton.name(q)).collect()))
}
