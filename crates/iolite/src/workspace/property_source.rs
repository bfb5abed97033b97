//! From `FILE#P`, a file of another tool, or a formula on the command line, to a property.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use iolite_formats::hoa::{self, HoaReading};
use iolite_formats::javapt;
use iolite_lang::lower_property;
use iolite_property::ltl::Options;
use iolite_property::{Alphabet, Basis, Ltl, PropertyVerdict, Reading, Relation, StreettAutomaton};
use serde::Serialize;

use super::Failure;
use super::source::{self, Format, ModelRef};

/// `FILE.iol#P`, `FILE.hoa`, `FILE.xml`, or `ltl:FORMULA`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PropertyRef(pub(super) String);

impl FromStr for PropertyRef {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for PropertyRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&ModelRef> for PropertyRef {
    fn from(reference: &ModelRef) -> Self {
        Self(reference.to_string())
    }
}

/// How properties are read.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Reading properties")]
pub(super) struct PropertyReadOptions {
    /// The actions of an ltl: formula, such as ?a,!x; without it names are propositions
    #[arg(long, value_name = "ACTIONS", value_delimiter = ',')]
    pub(super) over: Vec<String>,
    /// What a proposition of an HOA file is [default: as the file says, else valuations]
    #[arg(long, value_name = "LETTERS")]
    pub(super) hoa: Option<HoaFlag>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum HoaFlag {
    /// An action: exactly one proposition holds at a time
    Actions,
    /// A letter is a valuation of the propositions
    Valuations,
}

/// The relation between the executions of an implementation and a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum RelationFlag {
    /// Exec ⊆ Π: the implementation respects the property
    Inclusion,
    /// Exec = Π
    Equality,
    /// Exec ∩ Π ≠ ∅: some execution is one of the property
    NonDisjointness,
    /// Π ⊆ Exec: the implementation implements the property
    Implementation,
}

impl RelationFlag {
    pub(super) fn relation(self) -> Relation {
        match self {
            Self::Inclusion => Relation::Inclusion,
            Self::Equality => Relation::Equality,
            Self::NonDisjointness => Relation::NonDisjointness,
            Self::Implementation => Relation::Implementation,
        }
    }
}

/// The relation's name on the command line.
pub(super) fn relation_name(relation: Relation) -> &'static str {
    match relation {
        Relation::Inclusion => "inclusion",
        Relation::Equality => "equality",
        Relation::NonDisjointness => "non-disjointness",
        Relation::Implementation => "implementation",
    }
}

/// On what verdicts rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum BasisFlag {
    /// The sequence and all its continuations, finite and infinite, agree
    #[default]
    FiniteAndInfinite,
    /// All infinite continuations agree: definition 1 to the letter
    Infinite,
    /// Good and bad states, as definition 13 builds the canonical tester
    Partition,
}

impl BasisFlag {
    pub(super) fn basis(self) -> Basis {
        match self {
            Self::FiniteAndInfinite => Basis::Determinacy(Reading::FiniteAndInfinite),
            Self::Infinite => Basis::Determinacy(Reading::Infinite),
            Self::Partition => Basis::Partition,
        }
    }
}

/// A verdict that a test case can be selected for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum TargetFlag {
    Pass,
    Fail,
    WeakPass,
    WeakFail,
}

impl TargetFlag {
    pub(super) fn verdict(self) -> PropertyVerdict {
        match self {
            Self::Pass => PropertyVerdict::Pass,
            Self::Fail => PropertyVerdict::Fail,
            Self::WeakPass => PropertyVerdict::WeakPass,
            Self::WeakFail => PropertyVerdict::WeakFail,
        }
    }
}

/// Where a property was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Origin {
    Iol,
    Hoa,
    JavaPt,
    Formula,
}

/// A property as the commands use it.
#[derive(Clone, Debug)]
pub(super) struct Property {
    /// The declaration's name, the file's, or the formula.
    pub(super) name: String,
    pub(super) automaton: StreettAutomaton,
    pub(super) origin: Origin,
    /// The reference, with its name filled in.
    pub(super) reference: ModelRef,
    /// Of the file's bytes, or of the formula.
    pub(super) hash: String,
    /// What Java-PT's file says of it.
    pub(super) description: String,
}

/// Whether a reference means a property rather than a system.
pub(super) fn is_property(reference: &ModelRef) -> Result<bool, Failure> {
    if is_formula(reference) {
        return Ok(true);
    }
    match extension(&reference.path) {
        "hoa" | "xml" => return Ok(true),
        "iol" => {}
        _ => return Ok(false),
    }
    let (file, _) = iolite_lang::parse_and_check_bytes(&source::read(&reference.path)?);
    let properties = source::declared(&file, "property");
    Ok(match &reference.name {
        Some(name) => properties.contains(&name.as_str()),
        None => iolite_lang::systems(&file).is_empty() && !properties.is_empty(),
    })
}

fn is_formula(reference: &ModelRef) -> bool {
    reference
        .path
        .to_str()
        .is_some_and(|p| p.starts_with("ltl:"))
}

/// Whether a reference is one to an `.iol` file.
pub(super) fn is_iol(reference: &ModelRef) -> bool {
    extension(&reference.path) == "iol"
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|e| e.to_str()).unwrap_or("")
}

/// The one property that a reference means.
pub(super) fn load(
    reference: &PropertyRef,
    options: &PropertyReadOptions,
) -> Result<Property, Failure> {
    let mut found = load_some(reference, options, true)?;
    found
        .pop()
        .ok_or_else(|| Failure::input(format!("{reference} declares no property")))
}

/// The properties that a reference means: all of an `.iol` file without `#Name`.
pub(super) fn load_all(
    reference: &PropertyRef,
    options: &PropertyReadOptions,
) -> Result<Vec<Property>, Failure> {
    load_some(reference, options, false)
}

fn load_some(
    reference: &PropertyRef,
    options: &PropertyReadOptions,
    one: bool,
) -> Result<Vec<Property>, Failure> {
    if let Some(formula) = reference.0.strip_prefix("ltl:") {
        return Ok(vec![inline(formula.trim(), reference, options)?]);
    }
    let place = ModelRef::from(reference.0.clone());
    let path = &place.path;
    let stem = || path.file_stem().unwrap_or_default().to_string_lossy();
    match extension(path) {
        "iol" => declared(&place, one),
        "hoa" => {
            let (text, hash) = text(&place)?;
            let reading = match options.hoa {
                None => HoaReading::AsMarked,
                Some(HoaFlag::Actions) => HoaReading::Actions,
                Some(HoaFlag::Valuations) => HoaReading::Valuations,
            };
            let automaton = hoa::read(&text, reading)
                .map_err(|e| Failure::input(format!("{}: {e}", path.display())))?;
            Ok(vec![Property {
                name: stem().into_owned(),
                automaton,
                origin: Origin::Hoa,
                reference: place.clone(),
                hash,
                description: String::new(),
            }])
        }
        "xml" => {
            let (text, hash) = text(&place)?;
            let found = javapt::read(&text)
                .map_err(|e| Failure::input(format!("{}: {e}", path.display())))?;
            Ok(vec![Property {
                name: stem().into_owned(),
                automaton: found.automaton,
                origin: Origin::JavaPt,
                reference: place.clone(),
                hash,
                description: found.description,
            }])
        }
        _ => Err(Failure::input(format!(
            "{reference}: a property is a declaration FILE.iol#P, a file .hoa or .xml, or ltl:FORMULA"
        ))),
    }
}

/// A file of one property without a name.
fn text(place: &ModelRef) -> Result<(String, String), Failure> {
    if let Some(name) = &place.name {
        return Err(Failure::input(format!(
            "{} holds one property, without a name; `#{name}` does not fit",
            place.path.display()
        )));
    }
    let bytes = source::read(&place.path)?;
    let hash = source::hash(&bytes);
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::input(format!("{}: no UTF-8 text", place.path.display())))?;
    Ok((text, hash))
}

fn declared(place: &ModelRef, one: bool) -> Result<Vec<Property>, Failure> {
    debug_assert_eq!(Format::of(&place.path).ok(), Some(Format::Iol));
    let bytes = source::read(&place.path)?;
    let file = source::parse(&place.path, &bytes)?;
    let names = source::declared(&file, "property");
    let wanted = match (&place.name, names.as_slice()) {
        (None, [_, ..]) if !one => names.clone(),
        _ => vec![source::pick(place, "property", &names)?],
    };
    let hash = source::hash(&bytes);
    wanted
        .into_iter()
        .map(|name| {
            let automaton = lower_property(&file, name)
                .map_err(|d| source::rejected(&place.path, &bytes, &d))?;
            Ok(Property {
                name: name.to_owned(),
                automaton,
                origin: Origin::Iol,
                reference: ModelRef {
                    path: place.path.clone(),
                    name: Some(name.to_owned()),
                },
                hash: hash.clone(),
                description: String::new(),
            })
        })
        .collect()
}

fn inline(
    formula: &str,
    reference: &PropertyRef,
    options: &PropertyReadOptions,
) -> Result<Property, Failure> {
    let wrong = |e: &dyn fmt::Display| Failure::input(format!("{reference}: {e}"));
    let (ltl, alphabet) = if options.over.is_empty() {
        if formula.contains('?') {
            return Err(wrong(&"it speaks of inputs, so its actions must be known")
                .hint("name them, as in --over '?a,!x'"));
        }
        Ltl::parse_propositional(formula).map_err(|e| wrong(&e))?
    } else {
        let names = options.over.iter().map(|n| n.trim());
        let alphabet =
            Alphabet::of_names(names).map_err(|e| Failure::input(format!("--over: {e}")))?;
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
        reference: ModelRef {
            path: reference.0.clone().into(),
            name: None,
        },
        hash: source::hash(formula.as_bytes()),
        description: formula.to_owned(),
    })
}
