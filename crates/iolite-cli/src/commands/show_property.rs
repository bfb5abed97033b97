//! A property's automaton in the format that a flag names.

use iolite_formats::javapt::{self, JavaPtProperty};
use iolite_formats::{hoa, property};
use iolite_property::StreettAutomaton;

use iolite::Error;

/// How an automaton is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PropertyFormat {
    /// The states with their part of the partition, and the transitions
    Text,
    /// Hanoi Omega-Automata
    Hoa,
    /// Java-PT's XML
    Xml,
    Dot,
    Json,
    /// A `property … = streett { … }` declaration
    Iol,
}

/// Letters that are listed.
pub(crate) const MAX_LETTERS: usize = 1 << 12;

/// Whether the letters can be listed, as all formats but HOA do.
pub(crate) fn listable(automaton: &StreettAutomaton, name: &str) -> Result<(), Error> {
    let sigma = automaton.alphabet();
    if sigma.len() <= MAX_LETTERS {
        return Ok(());
    }
    let count = sigma.propositions().len();
    let message = format!("{name}: {count} propositions have too many valuations to be listed");
    Err(Error::undecided(message).hint("--format hoa has functions for labels"))
}

/// Prints an automaton.
pub(crate) fn write(
    automaton: &StreettAutomaton,
    name: &str,
    description: &str,
    format: PropertyFormat,
) -> Result<String, Error> {
    if format != PropertyFormat::Hoa {
        listable(automaton, name)?;
    }
    Ok(match format {
        PropertyFormat::Text => property::text::write(automaton),
        PropertyFormat::Hoa => hoa::write(automaton, name),
        PropertyFormat::Xml => {
            let property = JavaPtProperty {
                automaton: automaton.clone(),
                description: description.to_owned(),
            };
            javapt::write(&property).map_err(|e| Error::input(format!("{name}: {e}")))?
        }
        PropertyFormat::Dot => property::dot::write(automaton),
        PropertyFormat::Json => property::json::write(automaton, name),
        PropertyFormat::Iol => property::iol::write(automaton, name).map_err(|e| {
            Error::input(format!("{name}: {e}")).hint("--format hoa or json keeps it")
        })?,
    })
}
