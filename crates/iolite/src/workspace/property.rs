//! From `FILE#P`, a file of another tool, or a formula, to a property.

use std::sync::Arc;

use iolite_derive::ModelRef;
use iolite_formats::hoa::{self, HoaReading};
use iolite_formats::javapt;
use iolite_lang::{ActionSignature, action_letters, lower_property, systems};
use iolite_lts::{Determinised, LabelKind, Suspension};
use iolite_property::conformance::conformance;
use iolite_property::ltl::Options;
use iolite_property::{Alphabet, Ltl, LtlError, StreettAutomaton};
use serde::{Deserialize, Serialize};

use super::{SourceFile, Spec, Workspace, hash, pick, pick_all};
use crate::Error;

/// How properties are read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", command(next_help_heading = "Reading properties"))]
pub struct PropertyReadOptions {
    /// The actions of an ltl: formula, such as ?a,!x or !reply(code: int); without it names are propositions
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "ACTIONS", value_delimiter = ',')
    )]
    pub over: Vec<String>,
    /// What a proposition of an HOA file is [default: as the file says, else valuations]
    #[cfg_attr(feature = "clap", arg(long, value_name = "LETTERS"))]
    pub hoa: Option<HoaLetters>,
    /// The model that stands beside the properties, whose parameters their guards speak of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub beside: Option<ModelRef>,
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
    /// As a model that a system should conform to.
    Model,
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

/// The model of `ioco:MODEL`, conformance to it as a property.
pub(crate) fn conformance_model(reference: &ModelRef) -> Option<ModelRef> {
    let file = reference.file.as_deref()?.strip_prefix("ioco:")?;
    Some(ModelRef {
        file: Some(file.to_owned()),
        hash: None,
        ..reference.clone()
    })
}

/// Sets of states that conformance may need as a property: its table is whole.
const CONFORMANCE_STATES: usize = 100_000;

impl Workspace {
    /// Whether a reference means a property rather than a system.
    pub fn is_property(&self, reference: &ModelRef) -> Result<bool, Error> {
        if formula(reference).is_some() || conformance_model(reference).is_some() {
            return Ok(true);
        }
        match reference.ending() {
            "hoa" | "xml" => return Ok(true),
            "iol" => {}
            _ => return Ok(false),
        }
        let source = self.source(reference.path())?;
        let properties = source.declared("property")?;
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
            return Ok(vec![self.inline(formula.trim(), reference, options)?]);
        }
        if let Some(model) = conformance_model(reference) {
            return Ok(vec![self.conformance_property(&model)?]);
        }
        let path = reference.path();
        let wrong = |e: &dyn std::fmt::Display| Error::input(format!("{}: {e}", path.display()));
        let (origin, automaton, description, source) = match reference.ending() {
            "iol" => return self.declared_properties(reference, options, one),
            "hoa" => {
                let source = self.unnamed(reference)?;
                let reading = match options.hoa {
                    None => HoaReading::AsMarked,
                    Some(HoaLetters::Actions) => HoaReading::Actions,
                    Some(HoaLetters::Valuations) => HoaReading::Valuations,
                };
                let automaton = hoa::read(source.text()?, reading).map_err(|e| match e {
                    e if e.is_bound() => Error::undecided(format!("{}: {e}", path.display())),
                    e => wrong(&e),
                })?;
                (Origin::Hoa, automaton, String::new(), source)
            }
            "xml" => {
                let source = self.unnamed(reference)?;
                let found = javapt::read(source.text()?).map_err(|e| wrong(&e))?;
                (Origin::JavaPt, found.automaton, found.description, source)
            }
            _ => {
                let error = Error::input(format!(
                    "{reference}: a property is a declaration FILE.iol#P, a file .hoa or .xml, \
                     ltl:FORMULA, or ioco:MODEL"
                ));
                let text = reference.to_string();
                return Err(if text.contains(['(', ' ']) {
                    let formula = text.strip_prefix("ltl ").unwrap_or(&text);
                    error.hint(format!("a formula begins with ltl: — 'ltl:{formula}'"))
                } else {
                    error
                });
            }
        };
        let sigma = automaton.alphabet();
        let guarded = |text: &String| text.ends_with(']') && text.contains(" [");
        // Valuations are no actions, and may be too many to look at.
        let actions = sigma.propositions().is_empty().then(|| sigma.iter());
        let mut texts = actions.into_iter().flatten().map(|l| sigma.text(l));
        if let Some(letter) = texts.find(guarded) {
            return Err(wrong(&format!("{letter} is an action with a guard")).hint(
                "guards on values are read from .iol files: `iolite show --format iol` writes one",
            ));
        }
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

    /// ioco to a model, as the property that its suspension automaton is [PROP12, §9.1].
    fn conformance_property(&self, model: &ModelRef) -> Result<Property, Error> {
        let spec = self.explicit(model)?;
        spec.reject_plain_labels()?;
        let system = spec.system();
        let policy = iolite_lts::QuiescencePolicy::default();
        let mut sets = Determinised::new(Suspension::new(&system, policy));
        let visible = spec.labels().iter().filter(|(_, l)| {
            matches!(
                l.kind,
                LabelKind::Input | LabelKind::Output | LabelKind::Delta
            )
        });
        let letters = visible.map(|(id, _)| id).collect();
        let name = format!("ioco:{model}");
        let wrong = |e: &dyn std::fmt::Display| Error::input(format!("{name}: {e}"));
        let sigma = Alphabet::new((**spec.labels()).clone(), letters).map_err(|e| wrong(&e))?;
        let sigma = Arc::new(sigma);
        let start = sets.initial();
        let labels: Vec<_> = sigma.iter().map(|l| sigma.label(l)).collect();
        let automaton = conformance(
            Arc::clone(&sigma),
            start,
            CONFORMANCE_STATES,
            |&set, letter| sets.after(set, labels[letter.index()]),
        );
        let automaton = automaton.map_err(|e| match e {
            e if e.is_bound() => Error::undecided(format!("{name}: {e}")),
            e => wrong(&e),
        })?;
        let reference = spec.reference().clone();
        Ok(Property {
            name,
            automaton,
            origin: Origin::Model,
            reference: ModelRef {
                file: reference.file.as_ref().map(|f| format!("ioco:{f}")),
                ..reference
            },
            description: "conformance".to_owned(),
        })
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

    fn declared_properties(
        &self,
        reference: &ModelRef,
        options: &PropertyReadOptions,
        one: bool,
    ) -> Result<Vec<Property>, Error> {
        let source = self.source(reference.path())?;
        let file = source.file()?;
        let names = source.declared("property")?;
        let wanted = if one {
            vec![pick(reference, "property", &names)?]
        } else {
            pick_all(reference, "property", &names)?
        };
        let signature = self.signature_beside(options)?;
        let property = |name: &str| {
            let automaton =
                lower_property(file, name, &signature).map_err(|d| source.rejected(&d))?;
            self.warn_of_guards(name, automaton.alphabet());
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

    /// The parameters of the actions of the model beside properties, where it has data.
    fn signature_beside(
        &self,
        options: &PropertyReadOptions,
    ) -> Result<Vec<ActionSignature>, Error> {
        let Some(model) = &options.beside else {
            return Ok(Vec::new());
        };
        Ok(match &*self.spec(model)? {
            Spec::Symbolic(spec) => ActionSignature::of_model(spec.model()),
            Spec::Explicit(spec) => spec.signature().map_or_else(Vec::new, |signature| {
                ActionSignature::of_model(signature.model())
            }),
            Spec::Properties(_) => Vec::new(),
        })
    }

    /// Says where a guard has no value, and where letters may be impossible ones.
    fn warn_of_guards(&self, name: &str, sigma: &Alphabet) {
        for (action, _) in sigma.guarded() {
            for fault in action.faults() {
                self.warn(&format!(
                    "warning: {name}: {fault}; the verdict is unknown from such an action on"
                ));
            }
            for doubt in action.doubts() {
                self.warn(&format!(
                    "warning: {name}: whether there is {doubt}; it is taken to be possible, so classes may be \
                     too high"
                ));
            }
        }
    }

    fn inline(
        &self,
        formula: &str,
        reference: &ModelRef,
        options: &PropertyReadOptions,
    ) -> Result<Property, Error> {
        let told = |e: LtlError| formula_error(reference, &e);
        let over = whole_actions(&options.over);
        let (ltl, alphabet) = self.formula_alphabet(formula, &over, reference, options)?;
        self.warn_of_guards(formula, &alphabet);
        self.budget().know(format!(
            "{formula}: by its shape the class of its infinite sequences is {} or lower; its automaton was \
             not made",
            ltl.shape().name()
        ));
        let translation = ltl
            .translate(&Arc::new(alphabet), Options::default())
            .map_err(told)?;
        Ok(Property {
            name: formula.to_owned(),
            automaton: translation.automaton,
            origin: Origin::Formula,
            reference: reference.with_hash(hash(formula.as_bytes())),
            description: formula.to_owned(),
        })
    }

    /// A formula over its alphabet: these actions, told apart by its guards, or valuations of its propositions.
    fn formula_alphabet(
        &self,
        formula: &str,
        over: &[String],
        reference: &ModelRef,
        options: &PropertyReadOptions,
    ) -> Result<(Ltl, Alphabet), Error> {
        let wrong = |e: &dyn std::fmt::Display| Error::input(format!("{reference}: {e}"));
        let bare: Vec<&str> = over.iter().map(|a| bare(a)).collect();
        if over.is_empty() {
            if formula.contains('?') {
                return Err(wrong(&"it speaks of inputs, so its actions must be known")
                    .hint("name them, as in --over '?a,!x'"));
            }
            let (ltl, alphabet) =
                Ltl::parse_propositional(formula).map_err(|e| formula_error(reference, &e))?;
            if ltl.guarded_atoms().is_empty() {
                return Ok((ltl, alphabet));
            }
            return Err(
                wrong(&"it has guards on values, so its actions must be known")
                    .hint("name them, as in --over '!reply(code: int)'"),
            );
        }
        let plain = Alphabet::of_names(bare.iter().copied())
            .map_err(|e| Error::input(format!("--over: {e}")))?;
        let ltl = Ltl::parse(formula, &plain).map_err(|e| wrong(&e))?;
        let guarded = ltl.guarded_atoms().into_iter();
        let atoms: Vec<String> = guarded
            .filter(|a| plain.letter_of_text(a).is_none())
            .collect();
        if atoms.is_empty() {
            return Ok((ltl, plain));
        }
        let signature = self.signature_beside(options)?;
        let empty = iolite_lang::parse("").0;
        let file = match &options.beside {
            Some(model) if model.is_iol() => Some(self.source(model.path())?),
            _ => None,
        };
        let file = match &file {
            Some(source) => source.file()?,
            None => &empty,
        };
        let all: Vec<String> = bare.iter().map(|a| (*a).to_owned()).chain(atoms).collect();
        let made = action_letters(file, &signature, over, &all).map_err(|e| wrong(&e))?;
        let texts = |atom: &str| {
            let at = all.iter().position(|a| a == atom);
            // A bare name may leave ? or ! away.
            let at = at.or_else(|| {
                let same = |a: &String| a.trim_start_matches(['?', '!']) == atom;
                all.iter().position(same)
            })?;
            let letters = made.atoms[at].iter();
            Some(letters.map(|&l| made.alphabet.text(l)).collect::<Vec<_>>())
        };
        Ok((ltl.with_letters(&texts), made.alphabet))
    }
}

/// A bound that was met leaves the question open; other errors are mistakes.
fn formula_error(reference: &ModelRef, error: &LtlError) -> Error {
    let message = format!("{reference}: {error}");
    if error.is_bound() {
        Error::undecided(message)
    } else {
        Error::input(message)
    }
}

/// Actions given in a list that was cut at every comma, also at those between parameters.
fn whole_actions(parts: &[String]) -> Vec<String> {
    let mut actions: Vec<String> = Vec::new();
    for part in parts {
        let part = part.trim();
        let open = |a: &String| a.matches('(').count() > a.matches(')').count();
        match actions.last_mut() {
            Some(last) if open(last) => {
                last.push_str(", ");
                last.push_str(part);
            }
            _ => actions.push(part.to_owned()),
        }
    }
    actions
}

/// An action without the declaration of its parameters. What carries values stays.
fn bare(action: &str) -> &str {
    match action.split_once('(') {
        Some((name, params)) if params.contains(':') => name.trim_end(),
        _ => action,
    }
}
