//! From `FILE#P`, a file of another tool, or a formula, to a property.

use std::sync::Arc;

use iolite_derive::ModelRef;
use iolite_formats::hoa::{self, HoaReading};
use iolite_formats::javapt;
use iolite_lang::{lower_property, systems};
use iolite_property::ltl::Options;
use iolite_property::{Alphabet, Ltl, StreettAutomaton};
use serde::{Deserialize, Serialize};

use super::{SourceFile, Workspace, hash, pick, pick_all};
use crate::Error;

/// How properties are read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", command(next_help_heading = "Reading properties"))]
pub struct PropertyReadOptions {
    /// The actions of an ltl: formula, such as ?a,!x; without it names are propositions
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "ACTIONS", value_delimiter = ',')
    )]
    pub over: Vec<String>,
    /// What a proposition of an HOA file is [default: as the file says, else valuations]
    #[cfg_attr(feature = "clap", arg(long, value_name = "LETTERS"))]
    pub hoa: Option<HoaLetters>,
}

/// What a proposition of an HOA file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum HoaLetters {
    /// An action: exactly one proposition holds at a time
    Actions,
    /// A letter is a valuation of the propositions
    Valuations,
}

/// Where a property was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// In our own language.
    Iol,
    /// As an automaton in the HOA format.
    Hoa,
    /// As an automaton of Java-PT.
    JavaPt,
    /// As a formula in the place of a file.
    Formula,
}

/// A property as commands and campaigns use it.
#[derive(Clone, Debug)]
pub struct Property {
    /// The declaration's name, the file's, or the formula.
    pub name: String,
    /// The Streett automaton.
    pub automaton: StreettAutomaton,
    /// Where it was written.
    pub origin: Origin,
    /// The reference, with its name filled in and the hash of the file or the formula.
    pub reference: ModelRef,
    /// What Java-PT's file says of it, or the formula.
    pub description: String,
}

/// Whether the reference is a formula, not a file.
pub(crate) fn formula(reference: &ModelRef) -> Option<&str> {
    reference.file.as_deref()?.strip_prefix("ltl:")
}

impl Workspace {
    /// Whether a reference means a property rather than a system.
    pub fn is_property(&self, reference: &ModelRef) -> Result<bool, Error> {
        if formula(reference).is_some() {
            return Ok(true);
        }
        match reference.ending() {
            "hoa" | "xml" => return Ok(true),
            "iol" => {}
            _ => return Ok(false),
        }
        let source = self.source(reference.path())?;
        let properties = source.declared("property");
        Ok(match &reference.name {
            Some(name) => properties.contains(&name.as_str()),
            None => systems(source.tree().0).is_empty() && !properties.is_empty(),
        })
    }

    /// The one property that a reference means.
    pub fn property(
        &self,
        reference: &ModelRef,
        options: &PropertyReadOptions,
    ) -> Result<Property, Error> {
        let mut found = self.load_properties(reference, options, true)?;
        found
            .pop()
            .ok_or_else(|| Error::input(format!("{reference} declares no property")))
    }

    /// The properties that a reference means: all of an `.iol` file without `#Name`.
    pub fn properties(
        &self,
        reference: &ModelRef,
        options: &PropertyReadOptions,
    ) -> Result<Vec<Property>, Error> {
        self.load_properties(reference, options, false)
    }

    fn load_properties(
        &self,
        reference: &ModelRef,
        options: &PropertyReadOptions,
        one: bool,
    ) -> Result<Vec<Property>, Error> {
        if let Some(formula) = formula(reference) {
            return Ok(vec![inline(formula.trim(), reference, options)?]);
        }
        let path = reference.path();
        let wrong = |e: &dyn std::fmt::Display| Error::input(format!("{}: {e}", path.display()));
        let (origin, automaton, description, source) = match reference.ending() {
            "iol" => return self.declared_properties(reference, one),
            "hoa" => {
                let source = self.unnamed(reference)?;
                let reading = match options.hoa {
                    None => HoaReading::AsMarked,
                    Some(HoaLetters::Actions) => HoaReading::Actions,
                    Some(HoaLetters::Valuations) => HoaReading::Valuations,
                };
                let automaton = hoa::read(source.text()?, reading).map_err(|e| wrong(&e))?;
                (Origin::Hoa, automaton, String::new(), source)
            }
            "xml" => {
                let source = self.unnamed(reference)?;
                let found = javapt::read(source.text()?).map_err(|e| wrong(&e))?;
                (Origin::JavaPt, found.automaton, found.description, source)
            }
            _ => {
                return Err(Error::input(format!(
                    "{reference}: a property is a declaration FILE.iol#P, a file .hoa or .xml, or \
                     ltl:FORMULA"
                )));
            }
        };
        Ok(vec![Property {
            name: path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            automaton,
            origin,
            reference: reference.with_hash(source.hash()),
            description,
        }])
    }

    /// A file of one property without a name.
    fn unnamed(&self, reference: &ModelRef) -> Result<Arc<SourceFile>, Error> {
        if let Some(name) = &reference.name {
            return Err(Error::input(format!(
                "{} holds one property, without a name; `#{name}` does not fit",
                reference.path().display()
            )));
        }
        self.source(reference.path())
    }

    fn declared_properties(&self, reference: &ModelRef, one: bool) -> Result<Vec<Property>, Error> {
        let source = self.source(reference.path())?;
        let file = source.file()?;
        let names = source.declared("property");
        let wanted = if one {
            vec![pick(reference, "property", &names)?]
        } else {
            pick_all(reference, "property", &names)?
        };
        let property = |name: &str| {
            let automaton = lower_property(file, name).map_err(|d| source.rejected(&d))?;
            Ok(Property {
                name: name.to_owned(),
                automaton,
                origin: Origin::Iol,
                reference: reference.with_name(name).with_hash(source.hash()),
                description: String::new(),
            })
        };
        wanted.into_iter().map(property).collect()
    }
}

fn inline(
    formula: &str,
    reference: &ModelRef,
    options: &PropertyReadOptions,
) -> Result<Property, Error> {
    let wrong = |e: &dyn std::fmt::Display| Error::input(format!("{reference}: {e}"));
    let (ltl, alphabet) = if options.over.is_empty() {
        if formula.contains('?') {
            return Err(wrong(&"it speaks of inputs, so its actions must be known")
                .hint("name them, as in --over '?a,!x'"));
        }
        Ltl::parse_propositional(formula).map_err(|e| wrong(&e))?
    } else {
        let names = options.over.iter().map(|n| n.trim());
        let alphabet =
            Alphabet::of_names(names).map_err(|e| Error::input(format!("--over: {e}")))?;
        let ltl = Ltl::parse(formula, &alphabet).map_err(|e| wrong(&e))?;
        (ltl, alphabet)
    };
    let translation = ltl
        .translate(&Arc::new(alphabet), Options::default())
        .map_err(|e| wrong(&e))?;
    Ok(Property {
        name: formula.to_owned(),
        automaton: translation.automaton,
        origin: Origin::Formula,
        reference: reference.with_hash(hash(formula.as_bytes())),
        description: formula.to_owned(),
    })
}
