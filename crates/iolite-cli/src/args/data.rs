//! What a user says about the data of a model.

use std::path::PathBuf;

use iolite::{DataOptions, Error, ModelRef, ValueOptions, Values};

/// How a model with data is understood.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct DataArgs {
    /// Values of constants, such as max=3,f=[1,2]; others are narrowed by what is seen
    #[arg(long = "const", value_name = "NAME=VALUE,…")]
    pub(crate) constants: Vec<String>,
    /// The solver: `embedded`, an SMT-LIB program, or `auto` for one that is found
    /// [default: `IOLITE_SOLVER`, else embedded]
    #[arg(long, value_name = "PATH")]
    pub(crate) solver: Option<String>,
    /// Unfold finite data into an explicit model instead of solving for values
    #[arg(long)]
    pub(crate) unfold: bool,
    /// Where the query is saved that a solver could not decide
    #[arg(long, value_name = "FILE", default_value = "iolite.unknown.smt2")]
    pub(crate) unknown_query: PathBuf,
}

impl DataArgs {
    pub(crate) fn options(&self) -> DataOptions {
        DataOptions {
            constants: self.constants.clone(),
            solver: self.solver.clone(),
            until: None,
            unknown_query: Some(self.unknown_query.clone()),
        }
    }

    /// What is only for solving is refused where nothing is solved.
    pub(crate) fn reject_without_solving(
        &self,
        model: &ModelRef,
        reason: Option<&str>,
    ) -> Result<(), Error> {
        let given = [
            (!self.constants.is_empty(), "--const"),
            (self.solver.is_some(), "--solver"),
        ];
        match given.into_iter().find(|(given, _)| *given) {
            Some((_, flag)) => Err(iolite::not_solved(flag, model, reason)),
            None => Ok(()),
        }
    }
}

/// Which values inputs carry.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct ValueArgs {
    /// Which values inputs carry
    #[arg(long, value_enum, default_value_t)]
    values: Values,
    /// How the values of one parameter of an input are drawn, where its guard allows (repeatable):
    /// values and ranges with weights, such as REQ.l=[1..3:8, 1000], and the names of --values,
    /// such as login.p=["":1, boundary:3]. Where one of them is possible nothing else is drawn, so name
    /// one of --values to have others too. Without a pool, values of the run come again now and then
    #[arg(long, value_name = "INPUT.PARAMETER=[DRAWS]")]
    pool: Vec<String>,
    /// A file of values that may matter, one a line (repeatable): tried as texts and, where a line is an
    /// integer, as numbers, wherever guards allow. A line in quotes is a text in JSON; lines that begin
    /// with # are left out. The model's own constants are tried without being asked for
    #[arg(long, value_name = "FILE")]
    pub(crate) dictionary: Vec<PathBuf>,
}

impl ValueArgs {
    pub(crate) fn options(&self) -> ValueOptions {
        ValueOptions {
            values: self.values,
            pool: self.pool.clone(),
            dictionary: self.dictionary.clone(),
        }
    }
}
