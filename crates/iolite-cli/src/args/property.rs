//! How properties judge.

use std::path::PathBuf;

use iolite::{ModelRef, PropertyOptions, PropertyReadOptions};
use iolite_property::{Basis, PropertyVerdict, Reading, Relation};

/// The relation between the executions of an implementation and a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum RelationFlag {
    /// Exec ⊆ Π: the implementation respects the property
    Inclusion,
    /// Exec = Π
    Equality,
    /// Exec ∩ Π ≠ ∅: some execution is one of the property
    NonDisjointness,
    /// Π ⊆ Exec: the implementation implements the property
    Implementation,
}

impl From<RelationFlag> for Relation {
    fn from(flag: RelationFlag) -> Self {
        match flag {
            RelationFlag::Inclusion => Self::Inclusion,
            RelationFlag::Equality => Self::Equality,
            RelationFlag::NonDisjointness => Self::NonDisjointness,
            RelationFlag::Implementation => Self::Implementation,
        }
    }
}

/// On what verdicts rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum BasisFlag {
    /// The sequence and all its continuations, finite and infinite, agree
    #[default]
    FiniteAndInfinite,
    /// All infinite continuations agree: definition 1 to the letter
    Infinite,
    /// Good and bad states, as definition 13 builds the canonical tester
    Partition,
}

impl From<BasisFlag> for Basis {
    fn from(flag: BasisFlag) -> Self {
        match flag {
            BasisFlag::FiniteAndInfinite => Self::Determinacy(Reading::FiniteAndInfinite),
            BasisFlag::Infinite => Self::Determinacy(Reading::Infinite),
            BasisFlag::Partition => Self::Partition,
        }
    }
}

/// A verdict that a test case can be selected for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TargetFlag {
    Pass,
    Fail,
    WeakPass,
    WeakFail,
}

impl From<TargetFlag> for PropertyVerdict {
    fn from(flag: TargetFlag) -> Self {
        match flag {
            TargetFlag::Pass => Self::Pass,
            TargetFlag::Fail => Self::Fail,
            TargetFlag::WeakPass => Self::WeakPass,
            TargetFlag::WeakFail => Self::WeakFail,
        }
    }
}

/// How properties judge a run.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Properties")]
pub(crate) struct PropertyArgs {
    /// Judge by these properties, alone or beside a model: FILE.iol#P (all of a file without #P), FILE.hoa, FILE.xml or
    /// ltl:FORMULA (repeatable)
    #[arg(long, value_name = "PROPERTY")]
    pub(crate) property: Vec<ModelRef>,
    /// The relation between executions and properties
    #[arg(long, value_enum, default_value = "inclusion", value_name = "RELATION")]
    property_relation: RelationFlag,
    /// From the system's events to the properties' actions: a TOML file of [[map]] rules
    #[arg(long, value_name = "TOML")]
    map: Option<PathBuf>,
    /// Only give inputs that lead on to this verdict, and stop where it is lost
    #[arg(long, value_enum, value_name = "VERDICT")]
    target: Option<TargetFlag>,
    /// The inputs to give [default: those of the properties]
    #[arg(long, value_name = "ACTIONS", value_delimiter = ',')]
    inputs: Vec<String>,
    /// Silence says nothing
    #[arg(long)]
    ignore_quiescence: bool,
    /// When a sequence determines a property
    #[arg(long, value_enum, default_value_t)]
    basis: BasisFlag,
    #[command(flatten)]
    pub(crate) read: PropertyReadOptions,
}

impl PropertyArgs {
    /// A flag that has no effect where a model judges.
    pub(crate) fn idle_beside_model(&self) -> Option<&'static str> {
        [
            (self.map.is_some(), "--map"),
            (self.target.is_some(), "--target"),
            (!self.inputs.is_empty(), "--inputs"),
            (self.ignore_quiescence, "--ignore-quiescence"),
        ]
        .into_iter()
        .find_map(|(given, flag)| given.then_some(flag))
    }

    pub(crate) fn options(&self) -> PropertyOptions {
        PropertyOptions {
            properties: self.property.clone(),
            relation: self.property_relation.into(),
            map: self.map.clone(),
            target: self.target.map(Into::into),
            inputs: self.inputs.clone(),
            ignore_quiescence: self.ignore_quiescence,
            basis: self.basis.into(),
            read: self.read.clone(),
        }
    }
}
