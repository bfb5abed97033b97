//! `iolite derive`: test cases from a specification.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use iolite::{
    Context, Cover, DerivationOptions, DerivationSelection, Error, GoalDerivation, ModelRef,
    PruningGoal, QuiescenceFlag, ReadOptions, Relation, all_cores,
};
use iolite_derive::{CompleteSuite, Enumeration, ExhaustiveDerivation, RandomDerivation, Weights};

use super::derive_document::tell;
use super::derive_storage::{Storage, warn_of_older_cases};
use crate::args::workspace;
use crate::output::{Exit, print, print_json};

/// Derive test cases from a specification, and write them as a suite
///
/// By default at random; with --exhaustive all up to a depth; with --complete as many as find every fault of so many states; with --cover a suite that covers the
/// model; with --observer, --purpose or --property test cases that head for a goal. Towards observers and
/// purposes a model with data keeps them: the test case is then a program with variables.
#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(crate) struct Args {
    /// The specification
    pub(super) model: ModelRef,
    /// The folder the test cases go to, or FILE.jsonl for all of them in one file, one a line; tables and graphs are
    /// then beside it
    #[arg(short, long, value_name = "FOLDER")]
    pub(super) output_folder: PathBuf,
    /// For which relation: ioco, uioco, ioconf, conf, or ioconf-f with --traces; ioco with --cover, --observer, --purpose
    /// and --property
    #[arg(long, default_value = "ioco", value_name = "RELATION")]
    relation: Relation,
    /// The set F of ioconf-f
    #[arg(long, value_name = "FILE#F")]
    traces: Option<ModelRef>,
    /// What will lie between tester and system: synchronous, or queues (messages cross), for test
    /// cases at random and --exhaustive
    #[arg(long, value_name = "CONTEXT", default_value = "synchronous")]
    context: Context,
    /// With --context queues: how many inputs may be under way at a time
    #[arg(long, value_name = "N")]
    max_in_flight: Option<usize>,
    /// How many test cases
    #[arg(long, value_name = "N", default_value_t = 10)]
    count: usize,
    /// Longest run of a test case [default: 20; with --cover of a large model more, up to 500]
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Weights for stopping, stimulating and observing
    #[arg(
        long,
        value_name = "STOP,STIMULATE,OBSERVE",
        value_delimiter = ',',
        num_args = 1
    )]
    weights: Vec<u32>,
    /// All test cases up to the depth: every one, only the maximal ones, or one for each trace, in which
    /// a run that leaves its trace ends `inconc`
    #[arg(long, value_enum, conflicts_with = "cover")]
    exhaustive: Option<EnumerationFlag>,
    /// A suite that every implementation fails which is not correct and whose determinised suspension automaton
    /// has at most EXTRA states more than the model's (those with the same futures counted once), for ioco and
    /// uioco; each test case has to be repeated until everything was seen that the system does
    #[arg(long, value_name = "EXTRA", conflicts_with_all = ["cover", "exhaustive"])]
    complete: Option<usize>,
    /// At most so many test cases of an exhaustive derivation or a complete suite
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(super) limit: usize,
    /// Cover the determinised suspension automaton; of a model with data the symbolic model, with a test case
    /// for each goal that can be reached, and a proof for each that cannot
    #[arg(long, value_enum, value_name = "WHAT")]
    cover: Option<Cover>,
    /// Test cases that try to violate these safety properties, and a coverage matrix (repeatable)
    #[arg(long, alias = "observers", value_name = "FILE#W", num_args = 1..)]
    #[arg(conflicts_with_all = ["cover", "exhaustive", "complete"])]
    pub(super) observer: Vec<ModelRef>,
    /// Test cases that try to reach these test purposes (repeatable)
    #[arg(long, value_name = "FILE#P", num_args = 1..)]
    #[arg(conflicts_with_all = ["observer", "cover", "exhaustive", "complete"])]
    pub(super) purpose: Vec<ModelRef>,
    /// Test cases that try to violate these properties of any class, or to settle those that no finite
    /// run violates: FILE.iol#P, FILE.hoa, FILE.xml, ltl:FORMULA (repeatable)
    #[arg(long, value_name = "PROPERTY", num_args = 1..)]
    #[arg(conflicts_with_all = ["observer", "purpose", "cover", "exhaustive", "complete"])]
    pub(super) property: Vec<ModelRef>,
    /// With a goal: so many test cases for each goal, the shortest way first
    #[arg(long, value_name = "N", default_value_t = 1)]
    alternatives: u64,
    /// With a goal: write the complete test graph too, as DOT and .aut
    #[arg(long)]
    pub(super) graph: bool,
    /// Unfold data, for test cases of states
    #[arg(long)]
    unfold: bool,
    /// When a test case with data ends `inconc`: once property and conformance cannot be violated together
    /// any more, or once the property cannot be violated at all
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = InconcFlag::ViolateFail)]
    inconc: InconcFlag,
    /// Say for each transition that pruning removed or redirected which condition excluded it
    #[arg(long)]
    pub(super) explain_pruning: bool,
    /// The solver for test cases with data [default: `IOLITE_SOLVER`, else embedded]
    #[arg(long, value_name = "PATH")]
    solver: Option<String>,
    /// Write each test case in these formats too: aut for those without data, iol for those with data
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(super) export: Vec<ExportFormat>,
    /// How many threads read the model and make, check and write test cases without data [default: one for each
    /// core]; the suite does not depend on it
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Whether a cycle of internal actions is quiescent, or an error
    #[arg(long, value_name = "POLICY", default_value = "livelock")]
    quiescence: QuiescenceFlag,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    read: ReadOptions,
}

/// States of an automaton that a complete suite is derived for: every two of them are compared.
const LARGEST_AUTOMATON: usize = 5000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum EnumerationFlag {
    Every,
    Maximal,
    Traces,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ExportFormat {
    Aut,
    Dot,
    Iol,
    Ttcn3,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum InconcFlag {
    /// `violate-fail` is out of reach [SYM04, def. 15]
    ViolateFail,
    /// `violate` is out of reach as well
    Violation,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let options = options(args)?;
    let storage = Storage::of(args)?;
    let workspace = workspace(&args.read)
        .without_texts()
        .with_jobs(options.jobs);
    let derivation = workspace.derive(
        &args.model,
        &options,
        &|case| storage.store(&case),
        &mut |derived| storage.take(derived),
    );
    // What was made until something went wrong is there, as it is in a folder.
    let mut document = storage.publish()?;
    let derivation = derivation?;
    document.complete = derivation.complete;
    document.left_out = derivation.left_out;
    document.completeness = derivation.completeness;
    document.depth = derivation.depth;
    document.covered = derivation.covered;
    document.uncovered = derivation.uncovered;
    document.unreachable = derivation.unreachable;
    document.proofs = derivation.proofs;
    document.undecided = derivation.undecided;
    document.notes.extend(derivation.notes);
    warn_of_older_cases(args, document.cases.len());
    if args.json {
        print_json(&document)?;
    } else {
        print(&tell(args, &document))?;
    }
    let incomplete = document.complete == Some(false) || !document.undecided.is_empty();
    Ok(if incomplete || document.stopped.is_some() {
        Exit::Inconclusive
    } else {
        Exit::Holds
    })
}

fn options(args: &Args) -> Result<DerivationOptions, Error> {
    let goals = [&args.observer, &args.purpose, &args.property];
    let selection = if goals.iter().any(|g| !g.is_empty()) {
        DerivationSelection::Goals(GoalDerivation {
            observers: args.observer.clone(),
            purposes: args.purpose.clone(),
            properties: args.property.clone(),
            alternatives: args.alternatives,
            seed: args.seed,
            slack: depth(args),
            pruning: match args.inconc {
                InconcFlag::ViolateFail => PruningGoal::ViolateFail,
                InconcFlag::Violation => PruningGoal::Violation,
            },
        })
    } else if let Some(cover) = args.cover {
        DerivationSelection::Cover {
            criterion: cover.into(),
            depth: args.depth,
        }
    } else if let Some(extra) = args.complete {
        DerivationSelection::Complete(CompleteSuite {
            extra,
            limit: args.limit,
            states: args.read.budget().min(LARGEST_AUTOMATON),
        })
    } else if let Some(which) = args.exhaustive {
        DerivationSelection::Exhaustive(ExhaustiveDerivation {
            depth: depth(args),
            enumeration: match which {
                EnumerationFlag::Every => Enumeration::Every,
                EnumerationFlag::Maximal => Enumeration::Maximal,
                EnumerationFlag::Traces => Enumeration::GoalTraces,
            },
            limit: args.limit,
        })
    } else {
        DerivationSelection::Random(RandomDerivation {
            count: args.count,
            depth: depth(args),
            seed: args.seed,
            weights: match args.weights.as_slice() {
                [] => Weights::default(),
                [stop, stimulate, observe] => Weights {
                    stop: *stop,
                    stimulate: *stimulate,
                    observe: *observe,
                },
                _ => return Err(Error::input("--weights takes three numbers")),
            },
            ..RandomDerivation::default()
        })
    };
    Ok(DerivationOptions {
        relation: args.relation,
        traces: args.traces.clone(),
        context: args.context,
        max_in_flight: args.max_in_flight,
        policy: args.quiescence.policy(),
        budget: args.read.budget(),
        selection,
        unfold: unfolding(args)?,
        solver: args.solver.clone(),
        jobs: args.jobs.unwrap_or_else(all_cores),
    })
}

/// Why data are unfolded. What was asked for of test cases that keep them is then a mistake.
fn unfolding(args: &Args) -> Result<Option<&'static str>, Error> {
    let reasons = [
        (args.unfold, "--unfold"),
        (args.alternatives > 1, "--alternatives"),
        (args.graph, "--graph"),
    ];
    let reason = reasons
        .into_iter()
        .find_map(|(asked, flag)| asked.then_some(flag));
    let kept = [
        (args.explain_pruning, "--explain-pruning"),
        (args.inconc != InconcFlag::ViolateFail, "--inconc"),
        (args.solver.is_some(), "--solver"),
    ];
    let kept = kept
        .into_iter()
        .find_map(|(asked, flag)| asked.then_some(flag));
    let goals = !args.observer.is_empty()
        || !args.purpose.is_empty()
        || args.cover.is_some() && kept != Some("--inconc");
    match (reason, kept) {
        (Some(reason), Some(kept)) => Err(Error::input(format!(
            "{kept} is for test cases with data, and {reason} unfolds them"
        ))),
        (None, Some(kept)) if !goals => Err(Error::input(format!(
            "{kept} is for test cases with data, towards --observer, --purpose{}",
            if kept == "--inconc" {
                ""
            } else {
                " or --cover"
            }
        ))),
        (reason, _) => Ok(reason),
    }
}

/// The longest run.
pub(super) fn depth(args: &Args) -> usize {
    args.depth.unwrap_or(20)
}
