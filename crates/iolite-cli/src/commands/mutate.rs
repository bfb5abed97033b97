//! `iolite mutate`: mutants of a model, and what kills them.

use std::path::PathBuf;

use iolite::{
    CompletionFlag, Error, ModelRef, MutationDocument, MutationOptions, OnTheFly, Operator,
    Partition, QuiescenceFlag, ReadOptions, Relation, RunRange, Share, all_cores,
};

use crate::args::bounds;
use crate::args::workspace;
use crate::output::{Exit, print, print_json};

/// Make mutants of a model, and say which conform and which are killed
///
/// Each mutant differs from the model in one place. Those that still conform are proved to; the others
/// come with a shortest trace that tells them from the model. With --suite, --purpose, --property or
/// --runs they are tested, and the survivors listed with that trace. docs/mutation.md describes the operators.
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes: 0 all is known, and tests, where there are any, killed every wrong mutant; 1 a wrong mutant
survived, or a test failed a conforming one; 2 bad input or usage; 3 of some mutants it is unknown
whether they conform, and nothing killed them.")]
pub(crate) struct Args {
    /// The model
    pub(crate) model: ModelRef,
    /// Write the mutants, and what they came to, to this folder; an analysis that was interrupted goes
    /// on from there
    #[arg(short = 'o', value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Begin again, whatever the folder holds
    #[arg(long, requires = "folder")]
    pub(crate) restart: bool,
    /// Operators [default: all of them]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    operators: Vec<Operator>,
    /// The relation that sorts: ioco, uioco, ioconf, iot, conf, testing or trace
    #[arg(long, default_value = "ioco", value_name = "RELATION")]
    relation: Relation,
    /// What mutants do with inputs that they do not take [default: self-loop; as they are for conf, testing and trace]
    #[arg(long, value_name = "HOW")]
    complete_inputs: Option<CompletionFlag>,
    /// Whether a cycle of internal actions is quiescent, or an error
    #[arg(long, value_name = "POLICY", default_value = "livelock")]
    quiescence: QuiescenceFlag,
    /// The most mutants; where there are more, they are chosen at random, the operators in turn
    #[arg(long, value_name = "N", default_value_t = 1000)]
    max: usize,
    /// Look only at the K-th of N parts; `iolite merge` joins the documents of --json
    #[arg(long, value_name = "K/N")]
    pub(crate) partition: Option<Partition>,
    /// Look only at mutants A+1, …, B
    #[arg(long, value_name = "A..B", conflicts_with = "partition")]
    pub(crate) range: Option<RunRange>,
    /// Mutants at the same time [default: one for each core]; the answer does not depend on it
    #[arg(long, value_name = "N", value_parser = crate::args::parse_jobs)]
    pub(crate) jobs: Option<usize>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Kill by stored test cases: JSON files, folders of them, FILE.jsonl with one a line, or those that FILE.iol declares
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub(crate) suite: Vec<PathBuf>,
    /// Kill by testing on the fly: so many runs of each mutant, until one fails
    #[arg(long, value_name = "N")]
    runs: Option<u64>,
    /// Steps of a run on the fly [default: 100]
    #[arg(long, value_name = "N", requires = "runs")]
    steps: Option<u64>,
    /// Kill by test cases that are derived towards these test purposes; with --runs, by going there on
    /// the fly instead (repeatable)
    #[arg(long, value_name = "FILE#P")]
    purpose: Vec<String>,
    /// Kill by these properties and observers, which the model satisfies: FILE.iol#P, FILE.hoa,
    /// ltl:FORMULA (repeatable)
    #[arg(long, value_name = "FILE#P", num_args = 1..)]
    property: Vec<ModelRef>,
    /// On the fly, go towards transitions of the model that no run has seen yet
    #[arg(long, requires = "runs", conflicts_with = "purpose")]
    coverage: bool,
    #[command(flatten)]
    pub(crate) read: ReadOptions,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

impl Args {
    pub(crate) fn options(&self) -> MutationOptions {
        MutationOptions {
            operators: self.operators.clone(),
            relation: self.relation,
            quiescence: self.quiescence,
            complete_inputs: self.complete_inputs,
            most: self.max,
            seed: self.seed,
            jobs: self.jobs.unwrap_or_else(|| all_cores().get()),
            share: match (self.partition, self.range) {
                (Some(partition), _) => Share::Partition(partition),
                (None, Some(range)) => Share::Range(range),
                (None, None) => Share::Whole,
            },
            folder: self.folder.clone(),
            restart: self.restart,
            suite: self.suite.clone(),
            purposes: match self.runs {
                None => self.purpose.iter().map(|p| p.as_str().into()).collect(),
                Some(_) => Vec::new(),
            },
            properties: self.property.clone(),
            on_the_fly: self.runs.map(|runs| OnTheFly {
                runs,
                steps: self.steps.unwrap_or(100),
                purposes: self.purpose.clone(),
                coverage: self.coverage,
            }),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let workspace = workspace(&args.read);
    let mut watch = bounds::watch();
    let document = workspace.mutate(&args.model, &args.options(), &mut |done, all| {
        watch.report(|| format!("{done} of {all} mutants"));
        match watch.exceeded() {
            Some(_) if done == all => Ok(()),
            Some(reason) => Err(stopped(&reason, done, all, args.folder.is_some())),
            None => Ok(()),
        }
    });
    conclude(&document?, args.json)
}

/// Prints what mutants came to.
pub(crate) fn conclude(document: &MutationDocument, json: bool) -> Result<Exit, Error> {
    if json {
        print_json(document)?;
    } else {
        print(&document.tell())?;
    }
    Ok(exit(document))
}

fn stopped(reason: &str, done: usize, all: usize, kept: bool) -> Error {
    let error = Error::undecided(format!("{reason}: {done} of {all} mutants were looked at"));
    error.hint(if kept {
        "the same command goes on from there"
    } else {
        "with -o DIR the same command goes on from there"
    })
}

fn exit(document: &MutationDocument) -> Exit {
    let score = &document.score;
    if !score.survivors.is_empty() || !score.unsound.is_empty() {
        Exit::Fails
    } else if score.unknown > 0 || !score.untested.is_empty() {
        Exit::Inconclusive
    } else {
        Exit::Holds
    }
}
