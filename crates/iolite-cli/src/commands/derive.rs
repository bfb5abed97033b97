//! `iolite derive`: test cases from a specification.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use iolite::{
    Context, DEFAULT_MAX_IN_FLIGHT, Error, ExplicitSpec, ModelRef, PropertyOptions, QuiescenceFlag,
    ReadOptions, Relation, Workspace,
};
use iolite_derive::{
    ConfDerivation, CoverageGoal, CoverageSuite, Drawing, Enumerated, Enumeration,
    ExhaustiveDerivation, FiniteOracle, FiniteQueueOracle, GoalTest, IocoOracle, IoconfOracle,
    Objective, QueueOptions, RandomDerivation, RequirementSuite, SafetyTest, TestCase, TestGraph,
    UiocoOracle, Weights,
};
use iolite_formats::{test_case, test_graph};
use iolite_lts::Lts;
use serde::Serialize;

use crate::args::{bounds, workspace};
use crate::output::{Exit, print, print_json, write_whole};

/// Derive test cases from a specification, and write them as a suite
///
/// By default at random; with --exhaustive all up to a depth; with --cover a suite that covers the
/// model; with --observer, --purpose or --property test cases that head for a goal.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The specification
    model: ModelRef,
    /// The folder the test cases go to
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
    /// At most so many test cases of an exhaustive derivation
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    limit: usize,
    /// Cover all states, or all transitions, of the determinised suspension automaton
    #[arg(long, value_enum)]
    cover: Option<CoverFlag>,
    /// Test cases that try to violate these safety properties, and a coverage matrix (repeatable)
    #[arg(long, alias = "observers", value_name = "FILE#W", num_args = 1..)]
    #[arg(conflicts_with_all = ["cover", "exhaustive"])]
    observer: Vec<ModelRef>,
    /// Test cases that try to reach these test purposes (repeatable)
    #[arg(long, value_name = "FILE#P", num_args = 1..)]
    #[arg(conflicts_with_all = ["observer", "cover", "exhaustive"])]
    purpose: Vec<ModelRef>,
    /// Test cases that try to violate these properties of any class, or to settle those that no finite
    /// run violates: FILE.iol#P, FILE.hoa, FILE.xml, ltl:FORMULA (repeatable)
    #[arg(long, value_name = "PROPERTY", num_args = 1..)]
    #[arg(conflicts_with_all = ["observer", "purpose", "cover", "exhaustive"])]
    property: Vec<ModelRef>,
    /// With a goal: so many test cases for each goal, the shortest way first
    #[arg(long, value_name = "N", default_value_t = 1)]
    alternatives: u64,
    /// With a goal: write the complete test graph too, as DOT and .aut
    #[arg(long)]
    graph: bool,
    /// Write each test case in these formats too
    #[arg(long, value_enum, value_delimiter = ',')]
    export: Vec<ExportFormat>,
    /// Whether a cycle of internal actions is quiescent, or an error
    #[arg(long, value_name = "POLICY", default_value = "livelock")]
    quiescence: QuiescenceFlag,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    read: ReadOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum EnumerationFlag {
    Every,
    Maximal,
    Traces,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum CoverFlag {
    States,
    Transitions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ExportFormat {
    Aut,
    Dot,
    Ttcn3,
}

/// Nodes of a test graph, and sets of a covered automaton, at most.
const LARGEST: usize = 5_000_000;

#[derive(Default, Serialize)]
struct Document {
    cases: Vec<CaseDocument>,
    /// Whether an exhaustive derivation lists all there are up to the depth.
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    /// The longest run of a covering test case.
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    covered: Option<iolite_derive::Count>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    uncovered: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreachable: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// Why there are no more test cases, where a bound ran out.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<String>,
}

#[derive(Serialize)]
struct CaseDocument {
    name: String,
    file: String,
    states: usize,
    depth: usize,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let goals = [&args.observer, &args.purpose, &args.property];
    let towards_goal = args.cover.is_some() || goals.iter().any(|g| !g.is_empty());
    if args.context == Context::Queues && (towards_goal || args.relation == Relation::Conf) {
        return Err(Error::input(
            "--context queues is for test cases of ioco, uioco and ioconf at random or --exhaustive: \
             a way to a goal is planned in step with the system, and conf knows no inputs",
        )
        .hint(
            "`iolite test --suite` knows the context of the system, and takes back a failure that an \
             order of the messages explains; `iolite test` on the fly loses nothing",
        ));
    }
    match (args.max_in_flight, args.context) {
        (Some(0), _) => return Err(Error::input("--max-in-flight is at least 1")),
        (Some(_), Context::Synchronous) => {
            return Err(Error::input("--max-in-flight is for --context queues"));
        }
        _ => {}
    }
    if (args.relation == Relation::IoconfF) != args.traces.is_some() {
        return Err(Error::input(
            "--traces FILE#F and --relation ioconf-f belong together",
        ));
    }
    let workspace = workspace(&args.read);
    let spec = workspace.explicit(&args.model)?;
    // Only conf speaks of plain actions, and derives by itself, towards no goal.
    let goal = args.cover.is_some()
        || !(args.observer.is_empty() && args.purpose.is_empty() && args.property.is_empty());
    if args.relation != Relation::Conf || goal {
        spec.reject_plain_labels()?;
    }
    let name = spec.reference().name.clone().unwrap_or_else(|| {
        let stem = spec.reference().path().file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    });
    let lts = spec.system().explicit(args.read.budget())?;
    spec.reject_livelock(args.quiescence.policy(), args.read.budget())?;
    let source = Source {
        workspace: &workspace,
        model: ModelRef::of(name, &lts),
        lts: &lts,
        spec: &spec,
    };
    let folder = &args.output_folder;
    std::fs::create_dir_all(folder).map_err(|e| Error::writing(folder, &e))?;
    let mut document = Document::default();
    if !args.observer.is_empty() {
        safety(args, &source, &mut document)?;
    } else if !args.purpose.is_empty() {
        purposes(args, &source, &mut document)?;
    } else if !args.property.is_empty() {
        properties(args, &source, &mut document)?;
    } else if let Some(cover) = args.cover {
        covering(args, cover, &source, &mut document)?;
    } else {
        derived(args, &source, &mut document)?;
    }
    warn_of_older_cases(args, document.cases.len());
    if args.json {
        print_json(&document)?;
    } else {
        print(&tell(args, &document))?;
    }
    let incomplete = document.complete == Some(false);
    Ok(if incomplete || document.stopped.is_some() {
        Exit::Inconclusive
    } else {
        Exit::Holds
    })
}

/// What test cases are derived from.
struct Source<'a> {
    workspace: &'a Workspace,
    spec: &'a ExplicitSpec,
    lts: &'a Lts,
    /// How test cases name it.
    model: ModelRef,
}

/// What lay in the folder before is part of the suite, too.
fn warn_of_older_cases(args: &Args, new: usize) {
    let folder = &args.output_folder;
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let json = entries.filter(|e| e.path().extension().is_some_and(|e| e == "json"));
    let older = json.count().saturating_sub(new);
    if older > 0 {
        eprintln!(
            "warning: {} holds {older} more test cases from before; `iolite test --suite` runs them \
             too",
            folder.display()
        );
    }
}

fn derived(args: &Args, source: &Source<'_>, document: &mut Document) -> Result<(), Error> {
    let policy = args.quiescence.policy();
    let random = RandomDerivation {
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
    };
    let exhaustive = args.exhaustive.map(|which| ExhaustiveDerivation {
        depth: depth(args),
        enumeration: match which {
            EnumerationFlag::Every => Enumeration::Every,
            EnumerationFlag::Maximal => Enumeration::Maximal,
            EnumerationFlag::Traces => Enumeration::GoalTraces,
        },
        limit: args.limit,
    });
    let how = (random, exhaustive);
    let Source { lts, model, .. } = source;
    let lts: &Lts = lts;
    match args.relation {
        Relation::Conf => {
            let mut derivation = ConfDerivation::new(lts);
            let (random, exhaustive) = &how;
            match exhaustive {
                Some(how) => write_all(args, derivation.exhaustive(how, model), document),
                None => write_cases(args, derivation.random_cases(random, model), document),
            }
        }
        Relation::Ioco => {
            let oracle = IocoOracle::new(lts, policy);
            by_oracle(args, oracle, &how, model, document)
        }
        Relation::Uioco => {
            let oracle = UiocoOracle::new(lts, policy);
            by_oracle(args, oracle, &how, model, document)
        }
        Relation::Ioconf | Relation::IoconfF => {
            let traces = args.traces.as_ref().map(|f| {
                let reference = source.spec.reference();
                source.workspace.traces(f, reference, lts.labels())
            });
            let oracle = IoconfOracle::with_traces(lts, policy, traces.transpose()?);
            by_oracle(args, oracle, &how, model, document)
        }
        other => Err(Error::input(format!(
            "test cases are derived for ioco, uioco, ioconf, ioconf-f and conf, not for {other}"
        ))),
    }
}

fn depth(args: &Args) -> usize {
    args.depth.unwrap_or(20)
}

fn by_oracle(
    args: &Args,
    mut oracle: impl FiniteOracle<State: Ord>,
    how: &(RandomDerivation, Option<ExhaustiveDerivation>),
    model: &ModelRef,
    document: &mut Document,
) -> Result<(), Error> {
    if args.context == Context::Synchronous {
        return derive_by(args, &mut oracle, how, model, document);
    }
    let options = QueueOptions {
        max_in_flight: args.max_in_flight.unwrap_or(DEFAULT_MAX_IN_FLIGHT),
        ..QueueOptions::default()
    };
    let mut oracle = FiniteQueueOracle::new(oracle, options);
    derive_by(args, &mut oracle, how, model, document)?;
    match oracle.undecided() {
        Some(why) => Err(Error::undecided(why.reason.to_string())),
        None => Ok(()),
    }
}

fn derive_by(
    args: &Args,
    oracle: &mut impl FiniteOracle,
    how: &(RandomDerivation, Option<ExhaustiveDerivation>),
    model: &ModelRef,
    document: &mut Document,
) -> Result<(), Error> {
    match how {
        (random, None) => write_cases(args, random.cases(oracle, model), document),
        (_, Some(how)) => write_all(args, how.derive(oracle, model), document),
    }
}

/// Writes an enumeration.
fn write_all(args: &Args, all: Enumerated, document: &mut Document) -> Result<(), Error> {
    document.complete = Some(all.complete);
    write_cases(args, all.cases, document)
}

/// Writes each test case as it is made, so that none is kept.
fn write_cases(
    args: &Args,
    cases: impl IntoIterator<Item = TestCase>,
    document: &mut Document,
) -> Result<(), Error> {
    for case in cases {
        if write_case(args, &case, document)?.is_break() {
            break;
        }
    }
    Ok(())
}

fn texts(lts: &Lts, trace: &[iolite_lts::LabelId]) -> Vec<String> {
    trace.iter().map(|&l| lts.labels().text(l)).collect()
}

fn too_large(error: &iolite_lts::BudgetExceeded) -> Error {
    Error::undecided(format!("the test graph is too large: {error}"))
}

fn covering(
    args: &Args,
    cover: CoverFlag,
    source: &Source<'_>,
    document: &mut Document,
) -> Result<(), Error> {
    let goal = match cover {
        CoverFlag::States => CoverageGoal::States,
        CoverFlag::Transitions => CoverageGoal::Transitions,
    };
    let fitting = || CoverageSuite::fitting_depth(source.lts.transition_count());
    let suite = CoverageSuite {
        goal,
        depth: args.depth.unwrap_or_else(fitting),
        limit: LARGEST,
    };
    document.depth = Some(suite.depth);
    let mut failed = None;
    let covering = suite
        .derive_each(
            source.lts,
            args.quiescence.policy(),
            &source.model,
            &mut |case| {
                write_case(args, &case, document).unwrap_or_else(|error| {
                    failed = Some(error);
                    ControlFlow::Break(())
                })
            },
        )
        .map_err(|e| too_large(&e))?;
    if let Some(error) = failed {
        return Err(error);
    }
    document.covered = Some(covering.covered);
    document.uncovered = covering.uncovered;
    document.unreachable = covering.unreachable;
    Ok(())
}

/// Steps that a run towards a goal may take more than the shortest way, as those towards coverage may.
const DETOUR: usize = 10;

fn drawing(args: &Args, k: u64) -> Drawing {
    match k {
        // The shortest way, and ways back to it where the system chooses otherwise.
        0 => Drawing {
            seed: None,
            slack: DETOUR,
        },
        _ => Drawing {
            seed: Some(args.seed + k),
            slack: depth(args),
        },
    }
}

fn numbered(case: TestCase, goal: &str, k: u64) -> TestCase {
    let name = if k == 0 {
        goal.to_owned()
    } else {
        format!("{goal}-{}", k + 1)
    };
    case.named(name)
}

fn safety(args: &Args, source: &Source<'_>, document: &mut Document) -> Result<(), Error> {
    let policy = args.quiescence.policy();
    let Source { lts, model, .. } = source;
    let mut observers = Vec::new();
    for reference in &args.observer {
        observers.extend(source.workspace.observers_of(reference, source.spec)?);
    }
    let suite = RequirementSuite::derive(lts, policy, &observers, model, LARGEST)
        .map_err(|e| too_large(&e))?;
    let matrix = args.output_folder.join("coverage.csv");
    write_whole(&matrix, suite.to_csv(lts).as_bytes())?;
    document
        .notes
        .push(format!("requirement × transition: {}", matrix.display()));
    for (observer, requirement) in observers.into_iter().zip(&suite.requirements) {
        let name = &requirement.name;
        if let Some(trace) = &requirement.specification_violates {
            document.notes.push(format!(
                "the specification itself violates {name}, after {}",
                texts(lts, trace).join(" ")
            ));
        }
        let test = SafetyTest::build(lts, policy, observer, LARGEST).map_err(|e| too_large(&e))?;
        if !test.is_reachable() {
            document.notes.push(format!(
                "{name}: no trace of the specification comes near it"
            ));
            continue;
        }
        write_graph(args, name, test.graph(), document)?;
        let case = |k| numbered(test.draw(drawing(args, k), model), name, k);
        write_cases(args, (0..args.alternatives).map(case), document)?;
    }
    Ok(())
}

fn purposes(args: &Args, source: &Source<'_>, document: &mut Document) -> Result<(), Error> {
    for reference in &args.purpose {
        for purpose in source.workspace.purposes_of(reference, source.spec)? {
            towards(args, source, purpose, document)?;
        }
    }
    Ok(())
}

fn properties(args: &Args, source: &Source<'_>, document: &mut Document) -> Result<(), Error> {
    let options = PropertyOptions {
        properties: args.property.clone(),
        ..PropertyOptions::default()
    };
    for property in source
        .workspace
        .property_objectives(&options, source.spec)?
    {
        towards(args, source, property, document)?;
    }
    Ok(())
}

/// Test cases towards one goal.
fn towards<O: Objective>(
    args: &Args,
    source: &Source<'_>,
    goal: O,
    document: &mut Document,
) -> Result<(), Error> {
    let name = goal.name().to_owned();
    let test = GoalTest::build(source.lts, args.quiescence.policy(), goal, LARGEST)
        .map_err(|e| too_large(&e))?;
    if !test.is_reachable() {
        let note = format!("{name}: no trace of the specification reaches it");
        document.notes.push(note);
        return Ok(());
    }
    write_graph(args, &name, test.graph(), document)?;
    let case = |k| numbered(test.draw(drawing(args, k), &source.model), &name, k);
    write_cases(args, (0..args.alternatives).map(case), document)
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

/// Writes a test case. Where a bound ran out there are no more after it.
fn write_case(
    args: &Args,
    case: &TestCase,
    document: &mut Document,
) -> Result<ControlFlow<()>, Error> {
    let base: PathBuf = args.output_folder.join(file_name(case.name()));
    let with = |ending: &str| -> PathBuf {
        let mut path = base.clone().into_os_string();
        path.push(format!(".{ending}"));
        path.into()
    };
    let path = with("json");
    write_whole(&path, test_case::json::write(case).as_bytes())?;
    for format in &args.export {
        match format {
            ExportFormat::Aut => write_whole(&with("aut"), test_case::aut::write(case).as_bytes())?,
            ExportFormat::Dot => write_whole(&with("dot"), test_case::dot::write(case).as_bytes())?,
            ExportFormat::Ttcn3 => {
                write_whole(&with("ttcn3"), test_case::ttcn3::write(case).as_bytes())?;
            }
        }
    }
    document.cases.push(CaseDocument {
        name: case.name().to_owned(),
        file: path.display().to_string(),
        states: case.states().len(),
        depth: case.depth(),
    });
    let budget = bounds::budget();
    if let Some(what) = budget.exceeded() {
        document.stopped = Some(what.to_string());
        return Ok(ControlFlow::Break(()));
    }
    if document.cases.len().is_multiple_of(64) {
        budget.know(format!("{} test cases were written", document.cases.len()));
    }
    Ok(ControlFlow::Continue(()))
}

fn tell(args: &Args, document: &Document) -> String {
    let folder: &Path = &args.output_folder;
    let mut text = format!(
        "{} test cases in {}\n",
        document.cases.len(),
        folder.display()
    );
    if let Some(why) = &document.stopped {
        text += &format!("not all: {why}\n");
    }
    if document.complete == Some(false) {
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
    for place in &document.uncovered {
        let depth = document.depth.unwrap_or_default();
        text += &format!("not covered within depth {depth}: {place}\n");
    }
    for place in &document.unreachable {
        text += &format!("cannot be covered: {place} is unreachable\n");
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
