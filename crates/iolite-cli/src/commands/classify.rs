//! `iolite classify`: where a property stands in the Safety–Progress hierarchy.

use std::path::PathBuf;

use iolite_formats::property::json::{self, AutomatonDocument};
use iolite_formats::property::{state_names, text};
use iolite_property::class::syntactic;
use iolite_property::{
    AutomatonError, Class, Classification, Minimised, Normalised, Partition, Quality, minimisation,
};
use serde::Serialize;

use super::show_property::{self, PropertyFormat};
use crate::args::{bounds, workspace};
use crate::output::{Exit, counted, print, print_json, write_whole};
use iolite::{Error, ModelRef, Origin, Property, PropertyReadOptions, ReadOptions};

/// The class of a property in the Safety–Progress hierarchy
///
/// First the class of its finite and infinite sequences together, then the lowest class of the infinite
/// ones alone, then what the shape of its automaton shows; a class with its m where it has one.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The property: FILE.iol#P, FILE.hoa, FILE.xml (Java-PT), or ltl:FORMULA
    property: ModelRef,
    /// Add an automaton in the shape of the lowest class
    #[arg(long)]
    normalise: bool,
    /// Add the smallest automaton with nested pairs for the same finite and infinite words, found by an exact search
    #[arg(long, conflicts_with = "normalise")]
    minimise: bool,
    /// Print the automaton only (the one that --normalise or --minimise adds), in this format
    #[arg(long, value_enum)]
    format: Option<PropertyFormat>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output_file: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long, conflicts_with = "format")]
    json: bool,
    #[command(flatten)]
    read: PropertyReadOptions,
}

#[derive(Serialize)]
struct ClassDocument {
    class: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    m: Option<usize>,
    /// One letter, as LTL tools print it.
    code: char,
}

fn class_document(class: Class) -> ClassDocument {
    let (name, m) = match class {
        Class::SafetyAndGuarantee => ("safety-and-guarantee", None),
        Class::Safety => ("safety", None),
        Class::Guarantee => ("guarantee", None),
        Class::Obligation(m) => ("obligation", Some(m)),
        Class::Response => ("response", None),
        Class::Persistence => ("persistence", None),
        Class::Reactivity(m) => ("reactivity", Some(m)),
    };
    ClassDocument {
        class: name,
        m,
        code: class.code(),
    }
}

#[derive(Serialize)]
struct Document {
    property: String,
    origin: Origin,
    /// Empty where the letters are valuations of too many propositions to be listed; then these are named.
    alphabet: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    propositions: Vec<String>,
    states: usize,
    pairs: usize,
    /// The class of the r-property, finite and infinite sequences together.
    class: ClassDocument,
    syntactic: ClassDocument,
    /// The lowest class of the infinitary part.
    semantic: ClassDocument,
    /// The least m of a disjunctive form.
    disjuncts: usize,
    /// Whether the automaton's shape shows the lowest class.
    pure: bool,
    finitary: ClassDocument,
    parts_differ: bool,
    partition: std::collections::BTreeMap<&'static str, Vec<String>>,
    /// States in which finite sequences end that the property does not judge.
    open: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    normalised: Option<NormalisedDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    minimised: Option<MinimisedDocument>,
}

#[derive(Serialize)]
struct MinimisedDocument {
    automaton: AutomatonDocument,
    /// Whether no automaton with nested pairs has fewer states; otherwise the search was given up.
    smallest: bool,
    /// How many states every automaton with nested pairs has at least, as far as that was found out.
    at_least: usize,
}

/// What is added on request.
struct Added {
    normalised: Option<Normalised>,
    minimised: Option<Minimised>,
}

#[derive(Serialize)]
struct NormalisedDocument {
    automaton: AutomatonDocument,
    /// A shortest finite sequence that the normalised automaton judges otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    finite_change: Option<String>,
}

const PARTS: [Quality; 4] = [
    Quality::Good,
    Quality::CurrentlyGood,
    Quality::CurrentlyBad,
    Quality::Bad,
];

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let property = workspace(&ReadOptions::default()).property(&args.property, &args.read)?;
    let automaton = &property.automaton;
    bounds::budget().know(format!(
        "{}: its automaton has {} and {}, and by its shape it is {} or lower",
        property.name,
        counted(automaton.structure().len(), "state"),
        counted(automaton.pairs().len(), "pair"),
        syntactic(automaton)
    ));
    let wrong = |e: &AutomatonError| {
        let message = format!("{}: {e}", property.name);
        if e.is_bound() {
            Error::undecided(message)
        } else {
            Error::input(message)
        }
    };
    let added = args.normalise || args.minimise;
    if added && args.format.is_none() {
        show_property::listable(automaton, &property.name)?;
    }
    let normalised = args.normalise.then(|| Normalised::new(automaton));
    let minimised = args
        .minimise
        .then(|| Minimised::new(automaton, minimisation::DEFAULT_STEPS));
    let added = Added {
        normalised: normalised.transpose().map_err(|e| wrong(&e))?,
        minimised: minimised.transpose().map_err(|e| wrong(&e))?,
    };
    if let Some(format) = args.format {
        let normalised = added.normalised.as_ref().map(|n| &n.automaton);
        let minimised = added.minimised.as_ref().map(|m| &m.automaton);
        let automaton = normalised.or(minimised).unwrap_or(automaton);
        let text = show_property::write(automaton, &property.name, &property.description, format)?;
        return put(args, &text);
    }
    let class = Classification::new(&property.automaton).map_err(|e| wrong(&e))?;
    if args.json {
        let document = document(&property, &class, &added);
        if args.output_file.is_none() {
            print_json(&document)?;
            return Ok(Exit::Holds);
        }
        let text = serde_json::to_string_pretty(&document)
            .map_err(|e| Error::fault(format!("writing JSON: {e}")))?;
        return put(args, &(text + "\n"));
    }
    put(args, &tell(&property, &class, &added))
}

fn put(args: &Args, text: &str) -> Result<Exit, Error> {
    match &args.output_file {
        Some(path) => write_whole(path, text.as_bytes())?,
        None => print(text)?,
    }
    Ok(Exit::Holds)
}

fn document(property: &Property, class: &Classification, added: &Added) -> Document {
    let automaton = &property.automaton;
    let sigma = automaton.alphabet();
    let partition = Partition::new(automaton);
    let listed = sigma.len() <= show_property::MAX_LETTERS;
    Document {
        property: property.name.clone(),
        origin: property.origin,
        alphabet: if listed {
            sigma.iter().map(|l| sigma.text(l)).collect()
        } else {
            Vec::new()
        },
        propositions: if listed {
            Vec::new()
        } else {
            sigma.propositions().to_vec()
        },
        states: automaton.structure().len(),
        pairs: automaton.pairs().len(),
        class: class_document(class.property),
        syntactic: class_document(class.syntactic),
        semantic: class_document(class.infinitary.class),
        disjuncts: class.infinitary.disjuncts,
        pure: class.is_pure(),
        finitary: class_document(class.finitary),
        parts_differ: class.parts_differ(),
        partition: PARTS
            .into_iter()
            .map(|part| {
                let names = state_names(automaton, &partition.part(part));
                (json::part_name(part), names)
            })
            .collect(),
        open: state_names(automaton, automaton.open()),
        normalised: added.normalised.as_ref().map(|n| NormalisedDocument {
            automaton: json::document(&n.automaton, &property.name),
            finite_change: n.finite_change.as_ref().map(|w| sigma.show(w)),
        }),
        minimised: added.minimised.as_ref().map(|m| MinimisedDocument {
            automaton: json::document(&m.automaton, &property.name),
            smallest: m.is_smallest,
            at_least: m.at_least,
        }),
    }
}

fn tell(property: &Property, class: &Classification, added: &Added) -> String {
    let automaton = &property.automaton;
    let counted = |n: usize, what: &str| {
        let plural = if n == 1 { "" } else { "s" };
        format!("{n} {what}{plural}")
    };
    let lowest = class.infinitary.class;
    let mut text = format!("{}: {}\n", property.name, class.property);
    text += &format!(
        "  property    {}, finite and infinite sequences together\n",
        class.property
    );
    text += &format!("  infinitary  {lowest}, the lowest class of its infinite sequences");
    if let Class::Obligation(_) | Class::Reactivity(_) = lowest {
        text += &format!(
            "; {} in the disjunctive form",
            counted(class.infinitary.disjuncts, "part")
        );
    }
    text += "\n";
    text += &format!("  finitary    {}", class.finitary);
    if class.parts_differ() {
        text += ", another class than that of the infinite sequences";
    }
    text += "\n";
    text += &format!(
        "  syntactic   {}, by the shape of the automaton ({}, {})\n",
        class.syntactic,
        counted(automaton.structure().len(), "state"),
        counted(automaton.pairs().len(), "pair"),
    );
    text += if class.is_pure() {
        "  pure        yes: the shape shows the lowest class of the infinite sequences\n"
    } else {
        "  pure        no: the shape shows more than the infinite sequences need; --normalise gives the lowest\n"
    };
    let partition = Partition::new(automaton);
    for part in PARTS {
        let names = state_names(automaton, &partition.part(part));
        if !names.is_empty() {
            text += &format!("  {:<15} {}\n", part.to_string(), shortened(&names));
        }
    }
    let open = state_names(automaton, automaton.open());
    if !open.is_empty() {
        text += &format!(
            "  {:<15} {}: no verdict on quiescence there\n",
            "open",
            shortened(&open)
        );
    }
    if let Some(m) = &added.minimised {
        let size = counted(m.automaton.structure().len(), "state");
        text += &if m.is_smallest {
            format!("\nwith {size}, no automaton with nested pairs has fewer:\n")
        } else {
            let least = counted(m.at_least, "state");
            format!(
                "\nwith {size}; the search for the smallest was given up, one with nested pairs has {least} at least:\n"
            )
        };
        text += &text::write(&m.automaton);
    }
    if let Some(n) = &added.normalised {
        text += &format!("\nin the shape of {}:\n", n.class.class);
        text += &text::write(&n.automaton);
        if let Some(word) = &n.finite_change {
            text += &format!(
                "the finite sequence {} is judged otherwise than before\n",
                automaton.alphabet().show(word)
            );
        }
    }
    text
}

/// States of a large automaton fill no screen.
fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 20;
    if names.len() <= SHOWN {
        names.join(" ")
    } else {
        format!("{} … ({} in all)", names[..SHOWN].join(" "), names.len())
    }
}
