//! `iolite relate`: decide an implementation relation, with a shortest counterexample.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use iolite::{
    Context, DEFAULT_MAX_IN_FLIGHT, Error, ModelRef, ReadOptions, Relation, RelationOptions,
    SemanticsOptions, all_cores,
};
use iolite_lts::relation::Effort;

use super::relate_matrix::matrix;
use crate::args::bounds::{self, Watch};
use crate::args::workspace;
use crate::output::{Exit, beside_answer, counted, print, print_json, write_json};

const ABOUT: &str = "Decide an implementation relation between two models";

fn long_about() -> String {
    format!(
        "{ABOUT}\n\nRelations: {}. The counterexample is a shortest one. With --context queues the \
         implementation is observed through a FIFO each way, as a tester over pipes or sockets observes \
         it, and `holds` is said of traces with at most --max-in-flight inputs under way.",
        Relation::names_and_signs()
    )
}

#[derive(clap::Args)]
#[command(about = ABOUT, long_about = long_about())]
pub(crate) struct Args {
    #[arg(help = Relation::names())]
    pub(crate) relation: Relation,
    /// Implementation and specification; with --matrix, all models
    #[arg(required = true, value_name = "IMPL SPEC")]
    pub(crate) models: Vec<ModelRef>,
    /// Relate every model to every other, and print the table
    #[arg(long)]
    matrix: bool,
    /// The set F of ioconf-f: `traces` of an .iol file, or an automaton whose traces are meant
    #[arg(long, value_name = "FILE#F")]
    traces: Option<ModelRef>,
    /// Through what the implementation is observed: synchronous, or queues (messages cross; for ioco,
    /// uioco and ioconf)
    #[arg(long, value_name = "CONTEXT", default_value = "synchronous")]
    context: Context,
    /// With --context queues: how many inputs may be under way at a time
    #[arg(long, value_name = "N")]
    max_in_flight: Option<usize>,
    /// List the first counterexample of each kind (observation and specification states), at most N
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "100")]
    all: Option<usize>,
    /// How many threads read and search [default: one for each core]; neither the answer nor the
    /// counterexample depends on it
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    semantics: SemanticsOptions,
    #[command(flatten)]
    pub(crate) read: ReadOptions,
    /// Write the certificate to this file, for `iolite explain`: the counterexample, or the pairs of states
    /// that show that it holds, unless they are too many
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Print one JSON document; for a negative answer it is the certificate
    #[arg(long)]
    pub(crate) json: bool,
}

/// Watches time and memory, and tells how far a long search is.
pub(crate) struct Guard {
    watch: Watch,
}

impl Guard {
    pub(crate) fn new() -> Self {
        Self {
            watch: bounds::watch(),
        }
    }

    /// Why the search must end here, where it must.
    pub(crate) fn watch(&mut self, effort: &Effort) -> Option<String> {
        let &Effort {
            pairs,
            depth,
            bytes,
            ..
        } = effort;
        self.watch.report(|| {
            format!(
                "no difference up to traces of length {depth} ({pairs} pairs of states, {} MB)",
                bytes >> 20
            )
        });
        self.watch.exceeded_by(bytes)
    }
}

impl Args {
    pub(crate) fn options(&self) -> RelationOptions {
        RelationOptions {
            relation: self.relation,
            traces: self.traces.clone(),
            semantics: self.semantics,
            counterexamples: self.all.unwrap_or(1),
            context: self.context,
            max_in_flight: self.max_in_flight.unwrap_or(DEFAULT_MAX_IN_FLIGHT),
            certificate: self.json || self.certificate.is_some(),
            jobs: self.jobs.unwrap_or_else(all_cores),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    if (args.relation == Relation::IoconfF) != args.traces.is_some() {
        return Err(Error::input("--traces FILE#F and ioconf-f belong together"));
    }
    if args.max_in_flight.is_some() && args.context != Context::Queues {
        return Err(Error::input("--max-in-flight is for --context queues"));
    }
    if args.matrix {
        return matrix(args);
    }
    let [implementation, specification] = args.models.as_slice() else {
        return Err(Error::input(format!(
            "expected IMPL and SPEC, got {}",
            counted(args.models.len(), "model")
        ))
        .hint("to relate many models, add --matrix"));
    };
    let mut workspace = workspace(&args.read).with_jobs(args.options().jobs);
    if !args.options().certificate {
        workspace = workspace.without_texts().without_hashes();
    }
    let mut guard = Guard::new();
    let document = workspace.relate(
        implementation,
        specification,
        &args.options(),
        &mut |effort| guard.watch(effort),
    );
    let document = document?;
    if args.json {
        print_json(&document)?;
    } else {
        print(&document.tell())?;
    }
    let answer = match document.holds {
        Some(true) => Exit::Holds,
        Some(false) => Exit::Fails,
        None => Exit::Inconclusive,
    };
    let written = match (document.holds, &args.certificate) {
        (Some(false), Some(path)) => {
            if let Some(certificate) = &document.certificate {
                write_json(path, certificate)
            } else {
                warning!("warning: there is no certificate of this answer");
                Ok(())
            }
        }
        // A positive one may be too large, which changes nothing about the answer.
        (Some(true), Some(path)) => match workspace.certify_holding(&document) {
            Ok(certificate) => write_json(path, &certificate),
            Err(reason) => {
                warning!("warning: {}", reason.message());
                Ok(())
            }
        },
        _ => Ok(()),
    };
    Ok(beside_answer(answer, written))
}
