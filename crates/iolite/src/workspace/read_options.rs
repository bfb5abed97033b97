//! How model files are understood.

use iolite_formats::Directions;
use iolite_formats::aut::AutOptions;
use iolite_formats::dot::{self, DotMode, DotOptions, MealyOptions};
use iolite_sts::UnfoldBudget;
use serde::{Deserialize, Serialize};

/// How a DOT file is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum DotKind {
    /// Labels `?a`, `!x`: an edge is a transition
    Iolts,
    /// Labels `a/x`: an edge is an input and the output that answers it
    Mealy,
    /// Labels `a`, and the target state names the output
    Moore,
    /// A language: only the double circles belong to the system
    Acceptor,
}

/// How model files are read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", command(next_help_heading = "Reading models"))]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// How a DOT file is meant [default: mealy if every label is `a/x`, else iolts]
    #[cfg_attr(feature = "clap", arg(long, value_name = "KIND"))]
    pub dot: Option<DotKind>,
    /// Output of a Mealy machine that stands for silence, such as `epsilon` (repeatable)
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME"))]
    pub silent_output: Vec<String>,
    /// Plain label that is an input (repeatable, or comma-separated)
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "NAME", value_delimiter = ',')
    )]
    pub input: Vec<String>,
    /// Plain label that is an output (repeatable, or comma-separated)
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "NAME", value_delimiter = ',')
    )]
    pub output: Vec<String>,
    /// Prefix of plain labels that are inputs, such as `I_`
    #[cfg_attr(feature = "clap", arg(long, value_name = "PREFIX"))]
    pub input_prefix: Vec<String>,
    /// Prefix of plain labels that are outputs, such as `O_`
    #[cfg_attr(feature = "clap", arg(long, value_name = "PREFIX"))]
    pub output_prefix: Vec<String>,
    /// How many states a process or a composition may unfold to [default: 1000000]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub max_states: Option<usize>,
}

impl ReadOptions {
    /// States that a process or a composition may unfold to.
    pub fn budget(&self) -> usize {
        self.max_states.unwrap_or(iolite_lang::DEFAULT_BUDGET)
    }

    /// What finite data may unfold to. Each further value of an infinite sort costs a larger query, so
    /// their number is kept low.
    pub(crate) fn unfolding(&self) -> UnfoldBudget {
        UnfoldBudget {
            states: self.budget(),
            values: 512,
        }
    }

    pub(crate) fn directions(&self) -> Directions {
        Directions {
            inputs: self.input.clone(),
            outputs: self.output.clone(),
            input_prefixes: self.input_prefix.clone(),
            output_prefixes: self.output_prefix.clone(),
            strip_prefixes: false,
        }
    }

    pub(crate) fn aut_options(&self) -> AutOptions {
        AutOptions {
            directions: self.directions(),
            ..AutOptions::default()
        }
    }

    pub(crate) fn dot_options(&self, bytes: &[u8]) -> DotOptions {
        let machine = || MealyOptions {
            silent_outputs: self.silent_output.clone(),
        };
        let mode = match self.dot {
            Some(DotKind::Moore) => DotMode::Moore(machine()),
            Some(DotKind::Mealy) => DotMode::Mealy(machine()),
            None if dot::looks_like_mealy(bytes) => DotMode::Mealy(machine()),
            None | Some(DotKind::Iolts | DotKind::Acceptor) => DotMode::Iolts,
        };
        DotOptions {
            mode,
            directions: self.directions(),
            ..DotOptions::default()
        }
    }
}
