//! `iolite derive`: test cases from a specification.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use iolite::{
    Context, Cover, DerivationOptions, DerivationSelection, Derived, Error, GoalDerivation,
    GrowingFile, ModelGoal, ModelRef, PartFile, PruningGoal, PublishCase, QuiescenceFlag,
    ReadOptions, Relation, SymbolicGraph, UndecidedGoal, UnreachableGoal, all_cores,
};
use iolite_derive::{
    CompleteSuite, Completeness, Enumeration, ExhaustiveDerivation, RandomDerivation,
    SymbolicTestCase, TestCase, TestGraph, Weights,
};
use iolite_formats::drawing;
use iolite_formats::{symbolic_test_case, test_case, test_graph};
use serde::Serialize;

use crate::args::{bounds, workspace};
use crate::output::{Exit, counted, print, print_json, write_whole};

/// Derive test cases from a specification, and write them as a suite
///
/// By default at random; with --exhaustive all up to a depth; with --complete as many as find every fault of so many states; with --cover a suite that covers the
/// model; with --observer, --purpose or --property test cases that head for a goal. Towards observers and
/// purposes a model with data keeps them: the test case is then a program with variables.
#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(crate) struct Args {
    /// The specification
    model: ModelRef,
    /// The folder the test cases go to, or FILE.jsonl for all of them in one file, one a line
    #[arg(short, long, value_name = "FOLDER")]
    output_folder: PathBuf,
    /// For which relation: ioco, uioco, ioconf, conf, or ioconf-f with --traces
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
    limit: usize,
    /// Cover the determinised suspension automaton; of a model with data the symbolic model, with a test case
    /// for each goal that can be reached, and a proof for each that cannot
    #[arg(long, value_enum, value_name = "WHAT")]
    cover: Option<Cover>,
    /// Test cases that try to violate these safety properties, and a coverage matrix (repeatable)
    #[arg(long, alias = "observers", value_name = "FILE#W", num_args = 1..)]
    #[arg(conflicts_with_all = ["cover", "exhaustive", "complete"])]
    observer: Vec<ModelRef>,
    /// Test cases that try to reach these test purposes (repeatable)
    #[arg(long, value_name = "FILE#P", num_args = 1..)]
    #[arg(conflicts_with_all = ["observer", "cover", "exhaustive", "complete"])]
    purpose: Vec<ModelRef>,
    /// Test cases that try to violate these properties of any class, or to settle those that no finite
    /// run violates: FILE.iol#P, FILE.hoa, FILE.xml, ltl:FORMULA (repeatable)
    #[arg(long, value_name = "PROPERTY", num_args = 1..)]
    #[arg(conflicts_with_all = ["observer", "purpose", "cover", "exhaustive", "complete"])]
    property: Vec<ModelRef>,
    /// With a goal: so many test cases for each goal, the shortest way first
    #[arg(long, value_name = "N", default_value_t = 1)]
    alternatives: u64,
    /// With a goal: write the complete test graph too, as DOT and .aut
    #[arg(long)]
    graph: bool,
    /// Unfold data, for test cases of states
    #[arg(long)]
    unfold: bool,
    /// When a test case with data ends `inconc`: once property and conformance cannot be violated together
    /// any more, or once the property cannot be violated at all
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = InconcFlag::ViolateFail)]
    inconc: InconcFlag,
    /// Say for each transition that pruning removed or redirected which condition excluded it
    #[arg(long)]
    explain_pruning: bool,
    /// The solver for test cases with data [default: `IOLITE_SOLVER`, else embedded]
    #[arg(long, value_name = "PATH")]
    solver: Option<String>,
    /// Write each test case in these formats too: aut for those without data, iol for those with data
    #[arg(long, value_enum, value_delimiter = ',')]
    export: Vec<ExportFormat>,
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
enum ExportFormat {
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

#[derive(Default, Serialize)]
struct Document {
    cases: Vec<CaseDocument>,
    /// Whether an exhaustive derivation lists all there are up to the depth, and a complete suite is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    /// For which implementations a complete suite is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    completeness: Option<Completeness>,
    /// The longest run of a covering test case.
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    covered: Option<iolite_derive::Count>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    uncovered: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreachable: Vec<String>,
    /// What is proved to be out of reach in a model with data.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    proofs: Vec<UnreachableGoal>,
    /// What of a model with data is neither covered nor proved to be out of reach.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undecided: Vec<UndecidedGoal>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// What was pruned of test cases with data, where that is asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pruned: Vec<PrunedDocument>,
    /// Why there are no more test cases, where a bound ran out.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<String>,
}

#[derive(Serialize)]
struct CaseDocument {
    name: String,
    file: String,
    /// States, or locations of a test case with data.
    states: usize,
    /// The longest run; a test case with data need not have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<usize>,
    /// The coverage goal that a test case with data heads for.
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<String>,
}

impl CaseDocument {
    /// A test case without data, and where it is.
    fn of(case: &TestCase, file: String) -> Self {
        Self {
            name: case.name().to_owned(),
            file,
            states: case.states().len(),
            depth: Some(case.depth()),
            goal: None,
        }
    }
}

#[derive(Serialize)]
struct PrunedDocument {
    case: String,
    #[serde(skip)]
    text: String,
    transitions: Vec<iolite::PruningReason>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let options = options(args)?;
    let folder = &args.output_folder;
    let suite_file = SuiteFile::of(args)?;
    let document = Mutex::new(Document::default());
    let told = || document.lock().unwrap_or_else(PoisonError::into_inner);
    let folder_made = OnceLock::new();
    let make_folder = || {
        let made = folder_made.get_or_init(|| make_folder(folder));
        made.as_ref()
            .copied()
            .map_err(|e| Error::writing(folder, e))
    };
    // Threads write the files of their test cases, and these get their names in the order of the suite.
    let store = |case: TestCase| -> PublishCase<'_> {
        if let Some(suite_file) = &suite_file {
            let line = suite_file.line(&case);
            let written = CaseDocument::of(&case, format!("{}#{}", folder.display(), case.name()));
            return Box::new(move || {
                suite_file.append(line)?;
                let mut document = told();
                document.cases.push(written);
                Ok(go_on(&mut document))
            });
        }
        let files = make_folder().and_then(|is_new| write_case(args, &case, is_new));
        let path = file(args, case.name(), "json");
        let written = CaseDocument::of(&case, path.display().to_string());
        Box::new(move || {
            files?.into_iter().try_for_each(PartFile::publish)?;
            let mut document = told();
            document.cases.push(written);
            Ok(go_on(&mut document))
        })
    };
    let mut take = |derived: Derived<'_>| {
        if suite_file.is_some() {
            let message =
                "test cases with data, and what there is beside test cases, are files of their own";
            return Err(Error::input(message).hint("name a folder: -o FOLDER"));
        }
        make_folder()?;
        let mut document = told();
        match derived {
            Derived::Symbolic { case, graph, goal } => {
                write_symbolic_case(args, &case, &graph, goal, &mut document)
            }
            Derived::Graph { name, graph } => {
                write_graph(args, name, graph, &mut document)?;
                Ok(ControlFlow::Continue(()))
            }
            Derived::Matrix(table) => {
                let matrix = folder.join("coverage.csv");
                write_whole(&matrix, table.as_bytes())?;
                let note = format!("requirement × transition: {}", matrix.display());
                document.notes.push(note);
                Ok(ControlFlow::Continue(()))
            }
        }
    };
    let workspace = workspace(&args.read)
        .without_texts()
        .with_jobs(options.jobs);
    let derivation = workspace.derive(&args.model, &options, &store, &mut take);
    // What was made until something went wrong is there, as it is in a folder.
    if let Some(suite_file) = &suite_file {
        suite_file.publish()?;
    }
    let derivation = derivation?;
    let document = &mut *told();
    document.complete = derivation.complete;
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
        print_json(document)?;
    } else {
        print(&tell(args, document))?;
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

/// What lay in the folder before is part of the suite, too.
fn warn_of_older_cases(args: &Args, new: usize) {
    let folder = &args.output_folder;
    if !folder.is_dir() {
        return;
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let json = entries.filter(|e| e.path().extension().is_some_and(|e| e == "json"));
    let older = json.count().saturating_sub(new);
    if older > 0 {
        warning!(
            "warning: {} holds {older} more test cases from before; `iolite test --suite` runs them \
             too",
            folder.display()
        );
    }
}

fn depth(args: &Args) -> usize {
    args.depth.unwrap_or(20)
}

fn write_graph(
    args: &Args,
    name: &str,
    graph: &TestGraph,
    document: &mut Document,
) -> Result<(), Error> {
    if args.graph {
        let base = args.output_folder.join(file_name(name));
        write_whole(
            &base.with_extension("graph.dot"),
            test_graph::write_dot(graph, true).as_bytes(),
        )?;
        write_whole(
            &base.with_extension("graph.aut"),
            test_graph::write_aut(graph).as_bytes(),
        )?;
        document.notes.push(format!(
            "test graph: {}",
            base.with_extension("graph.dot").display()
        ));
    }
    Ok(())
}

/// A name that no file system minds.
fn file_name(name: &str) -> String {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.chars()
        .map(|c| if fits(c) { c } else { '_' })
        .collect()
}

/// One file for all test cases, which is made with the first of them.
struct SuiteFile {
    path: PathBuf,
    file: Mutex<Option<GrowingFile>>,
    /// The memory of lines that were written. A line has megabytes at times, which the system would give and take back for each.
    spare: Mutex<Vec<String>>,
}

impl SuiteFile {
    /// That of the arguments, where they ask for one.
    fn of(args: &Args) -> Result<Option<Self>, Error> {
        let path = &args.output_folder;
        if path.to_string_lossy().ends_with(".jsonl.gz") && !path.is_dir() {
            return Err(Error::input("a packed suite is read, and not written")
                .hint("write FILE.jsonl, and pack it: gzip FILE.jsonl"));
        }
        if path.extension().is_none_or(|e| e != "jsonl") || path.is_dir() {
            return Ok(None);
        }
        let goals = [&args.observer, &args.purpose, &args.property];
        if !args.export.is_empty() || args.graph || goals.iter().any(|g| !g.is_empty()) {
            return Err(Error::input(
                "--export, --graph, --observer, --purpose and --property write more than test cases",
            )
            .hint("name a folder: -o FOLDER"));
        }
        Ok(Some(Self {
            path: path.clone(),
            file: Mutex::new(None),
            spare: Mutex::default(),
        }))
    }

    fn spare(&self) -> MutexGuard<'_, Vec<String>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The line of a test case.
    fn line(&self, case: &TestCase) -> String {
        let mut line = self.spare().pop().unwrap_or_default();
        test_case::json::append_line(case, &mut line);
        line
    }

    fn file(&self) -> MutexGuard<'_, Option<GrowingFile>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn append(&self, mut line: String) -> Result<(), Error> {
        let mut file = self.file();
        let growing = match &mut *file {
            Some(growing) => growing,
            none => {
                if let Some(parent) = self.path.parent() {
                    std::fs::create_dir_all(parent).map_err(|e| Error::writing(parent, &e))?;
                }
                none.insert(GrowingFile::create(&self.path)?)
            }
        };
        let appended = growing.append(line.as_bytes());
        if appended.is_err() {
            *file = None;
        }
        line.clear();
        self.spare().push(line);
        appended
    }

    /// Gives the file its name, if there is one.
    fn publish(&self) -> Result<(), Error> {
        self.file().take().map_or(Ok(()), GrowingFile::publish)
    }
}

/// Makes the folder of a suite. Says whether there was none, so that nothing is in it but what is put there now.
fn make_folder(folder: &Path) -> std::io::Result<bool> {
    if let Some(parent) = folder.parent() {
        std::fs::create_dir_all(parent)?;
    }
    match std::fs::create_dir(folder) {
        Ok(()) => Ok(true),
        Err(_) => std::fs::create_dir_all(folder).map(|()| false),
    }
}

/// Writes the files of a test case, which have no names yet.
fn write_case(args: &Args, case: &TestCase, in_new_folder: bool) -> Result<Vec<PartFile>, Error> {
    let write = |ending, text: String| {
        let path = file(args, case.name(), ending);
        let content = |file: &mut dyn std::io::Write| {
            file.write_all(text.as_bytes())
                .map_err(|e| Error::writing(&path, &e))
        };
        if in_new_folder {
            PartFile::write_new(&path, content)
        } else {
            PartFile::write(&path, content)
        }
    };
    let mut files = vec![write("json", test_case::json::write(case))?];
    for format in &args.export {
        files.push(match format {
            ExportFormat::Aut => write("aut", test_case::aut::write(case))?,
            ExportFormat::Dot => write("dot", test_case::dot::write(case))?,
            ExportFormat::Ttcn3 => write("ttcn3", test_case::ttcn3::write(case))?,
            ExportFormat::Iol => {
                return Err(Error::input(
                    "--export iol is for test cases with data, and this one has none",
                ));
            }
        });
    }
    Ok(files)
}

/// Writes a test case with data.
fn write_symbolic_case(
    args: &Args,
    case: &SymbolicTestCase,
    graph: &SymbolicGraph,
    goal: Option<String>,
    document: &mut Document,
) -> Result<ControlFlow<()>, Error> {
    let name = case.name();
    let path = file(args, name, "json");
    let wrong = |e: &dyn std::fmt::Display| {
        Error::undecided(format!("{name}: {e}"))
            .hint("testing on the fly needs no such guard: `iolite test MODEL --observer FILE#W`")
    };
    let not_exported = |e: &dyn std::fmt::Display| {
        Error::undecided(format!("{name}: {e}"))
            .hint("the test case itself is stored; leave this --export out")
    };
    let text = symbolic_test_case::json::write(case).map_err(|e| wrong(&e))?;
    write_whole(&path, text.as_bytes())?;
    for format in &args.export {
        let (ending, text) = match format {
            ExportFormat::Dot => ("dot", drawing::dot::write(&graph.drawing())),
            ExportFormat::Ttcn3 => {
                let text = symbolic_test_case::ttcn3::write(case);
                ("ttcn3", text.map_err(|e| not_exported(&e))?)
            }
            ExportFormat::Iol => {
                let text = symbolic_test_case::iol::write(case);
                ("iol", text.map_err(|e| not_exported(&e))?)
            }
            ExportFormat::Aut => {
                return Err(Error::input(format!(
                    "{name} has data, and .aut has no place for them"
                ))
                .hint("export dot, iol or ttcn3; --unfold makes test cases of states"));
            }
        };
        write_whole(&file(args, name, ending), text.as_bytes())?;
    }
    document.cases.push(CaseDocument {
        name: name.to_owned(),
        file: path.display().to_string(),
        states: case.program().locations().len(),
        depth: None,
        goal,
    });
    if args.explain_pruning {
        document.pruned.push(PrunedDocument {
            case: name.to_owned(),
            text: graph.pruning(),
            transitions: graph.pruned.clone(),
        });
    }
    Ok(go_on(document))
}

/// The file of a test case.
fn file(args: &Args, name: &str, ending: &str) -> PathBuf {
    let mut path = args.output_folder.join(file_name(name)).into_os_string();
    path.push(format!(".{ending}"));
    path.into()
}

/// Whether there may be more.
fn go_on(document: &mut Document) -> ControlFlow<()> {
    let budget = bounds::budget();
    if let Some(what) = budget.exceeded() {
        document.stopped = Some(what.to_string());
        return ControlFlow::Break(());
    }
    let so_far = counted(document.cases.len(), "test case");
    budget.know(format!("{so_far} written so far"));
    ControlFlow::Continue(())
}

/// Where a goal stands in the model file.
fn at_line(goal: &ModelGoal) -> String {
    let line = goal.line.map(|line| format!(" (line {line})"));
    line.unwrap_or_default()
}

/// For which implementations a suite is complete.
fn told(done: &Completeness, limit: usize) -> String {
    let Completeness {
        states,
        bound,
        reached,
        told_apart,
        ..
    } = done;
    let what = if done.complete {
        format!("complete for implementations of at most {bound} states")
    } else {
        format!(
            "not complete: the limit of {limit} test cases, or what follows from it, was reached"
        )
    };
    format!(
        "{what}\nthe determinised suspension automaton of the model has {states}: {reached} are reached whatever \
         is shown, up to {told_apart} told apart pairwise\n"
    )
}

/// Uncovered transitions that are told one by one.
const UNCOVERED_TOLD: usize = 20;

fn tell(args: &Args, document: &Document) -> String {
    let folder: &Path = &args.output_folder;
    let cases = counted(document.cases.len(), "test case");
    let mut text = format!("{cases} in {}\n", folder.display());
    if let Some(why) = &document.stopped {
        text += &format!("not all: {why}\n");
    }
    if let Some(done) = &document.completeness {
        text += &told(done, args.limit);
    } else if document.complete == Some(false) {
        text += &format!(
            "not all up to depth {}: the limit of {} was reached\n",
            depth(args),
            args.limit
        );
    }
    if let Some(covered) = document.covered {
        text += &format!(
            "covered: {} of {} ({:.0}%)\n",
            covered.seen,
            covered.total,
            covered.percentage()
        );
    }
    let why = match (&document.stopped, document.depth) {
        (None, Some(depth)) => format!(" within depth {depth}"),
        _ => String::new(),
    };
    for place in document.uncovered.iter().take(UNCOVERED_TOLD) {
        text += &format!("not covered{why}: {place}\n");
    }
    if let Some(more @ 1..) = document.uncovered.len().checked_sub(UNCOVERED_TOLD) {
        text += &format!("and {more} more are not covered{why}: --json lists them\n");
    }
    for case in &document.cases {
        if let Some(goal) = &case.goal {
            text += &format!("{}: {goal}\n", case.name);
        }
    }
    for UnreachableGoal {
        goal,
        by,
        invariant,
    } in &document.proofs
    {
        let (name, line) = (&goal.name, at_line(goal));
        text += &format!("cannot be covered: {name}{line}: proved by {by}\n");
        for (location, condition) in invariant {
            text += &format!("  always in {location}: {condition}\n");
        }
    }
    for UndecidedGoal { goal, reason } in &document.undecided {
        let (name, line) = (&goal.name, at_line(goal));
        text += &format!("undecided: {name}{line}: {reason}\n");
    }
    for place in &document.unreachable {
        text += &format!("cannot be covered: {place} is unreachable\n");
    }
    for PrunedDocument {
        case, text: pruned, ..
    } in &document.pruned
    {
        text += &format!("pruned of {case}:\n");
        for line in pruned.lines() {
            text += &format!("  {line}\n");
        }
        if pruned.is_empty() {
            text += "  nothing\n";
        }
    }
    for note in &document.notes {
        text += &format!("{note}\n");
    }
    if !document.cases.is_empty() {
        text += &format!(
            "run them: iolite test {} --suite {} --sut …\n",
            args.model,
            folder.display()
        );
    }
    text
}
