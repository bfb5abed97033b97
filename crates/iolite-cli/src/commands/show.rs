//! `iolite show`: a model, or a view of it, in many formats.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use iolite::{
    Error, FEW_STATES, ModelRef, Property, PropertyReadOptions, QuiescenceFlag, ReadOptions, Spec,
    StateView, SymbolicGraph, SymbolicView, Workspace, all_cores, journal_lines, system_text,
    write_whole_by,
};
use iolite_exec::compact_first_line;
use iolite_formats::drawing::{self, Drawing, NodeId, mermaid, plantuml};
use iolite_formats::{aut, dot, iol, json, svg, symbolic_test_case};
use iolite_lts::{Lts, StateNames};

use super::show_property::{self, PropertyFormat};
use crate::args::workspace;
use crate::output::{Exit, print, write_whole};

/// Show a model, a view of it, a declaration, a stored test case or a property, as text, a picture, .aut,
/// .iol, JSON or HOA; a compact journal (.iolj) as JSON lines
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The model, or a property: FILE.iol#P, FILE.hoa, FILE.xml or ltl:FORMULA
    model: ModelRef,
    /// What to make of it first
    #[arg(long, value_enum, default_value_t = View::Model)]
    view: View,
    /// How to print it [default: by the ending of -o, else text]
    #[arg(long, value_enum)]
    format: Option<ShowFormat>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output_file: Option<PathBuf>,
    /// Whether a cycle of internal actions is quiescent, or an error
    #[arg(long, value_name = "POLICY", default_value = "livelock")]
    quiescence: QuiescenceFlag,
    /// Keep the data: locations with guards and assignments instead of states. So it is for `test` and
    /// `pruned`, and where a sort is infinite and there are more than 10000 states, or --max-states
    #[arg(long)]
    symbolic: bool,
    /// The property of the views `product`, `test` and `pruned`
    #[arg(long, value_name = "FILE#W")]
    observer: Option<ModelRef>,
    /// Say for each transition that pruning removed or redirected which condition excluded it
    #[arg(long)]
    explain_pruning: bool,
    /// The solver for views that keep data [default: `IOLITE_SOLVER`, else embedded]
    #[arg(long, value_name = "PATH")]
    solver: Option<String>,
    /// Pictures of more states than this fold strongly connected components, or what is far from the start,
    /// into one node each; 0 for never
    #[arg(long, value_name = "N", default_value_t = 400)]
    fold: usize,
    /// Draw these states as one, by the numbers that the picture's `data-state` has without --collapse and
    /// --fold (repeatable): what the page asks for when somebody folds by hand
    #[arg(long, value_name = "N,N,…")]
    collapse: Vec<NodeGroup>,
    /// How many threads read a model, determinise a model without data and write .aut [default: one for each
    /// core]; what is shown does not depend on it
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    #[command(flatten)]
    read: ReadOptions,
    #[command(flatten)]
    property: PropertyReadOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum View {
    /// The model as it is
    Model,
    /// S^δ: a δ-loop on every quiescent state
    Suspension,
    /// det(S)
    Determinised,
    /// det(S^δ), the suspension automaton
    SuspensionAutomaton,
    /// Δ of [LTS96, def. 6.3]: determinised, δ leads to stop
    DeltaTrace,
    /// Inputs that a state does not take change nothing
    SelfLoopCompleted,
    /// After an input that a state does not take anything may happen
    ChaosCompleted,
    /// The parts of a composition as boxes, and the actions between them (pictures only)
    Composition,
    /// S^δ ∥ ω: the model beside an observer, with --observer
    Product,
    /// test(S, ω) of a model with data: ω ∥ Σ!(det(S^δ)), with --observer
    Test,
    /// The same mirrored, without what cannot lead to a violation any more
    Pruned,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ShowFormat {
    /// Counts and properties, then the transitions
    Text,
    Dot,
    Svg,
    /// A flowchart for Markdown pages and wikis
    Mermaid,
    /// A state diagram
    #[value(name = "plantuml")]
    PlantUml,
    Aut,
    Iol,
    Json,
    /// Hanoi Omega-Automata (properties only)
    Hoa,
    /// Java-PT's XML (properties only)
    Xml,
}

/// States that are drawn as one.
#[derive(Clone, Debug)]
struct NodeGroup(Vec<NodeId>);

impl std::str::FromStr for NodeGroup {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| part.trim().parse::<u32>().map(|n| NodeId::new(n as usize));
        let numbers = text.split(',').map(number).collect::<Result<_, _>>();
        numbers
            .map(Self)
            .map_err(|_| "expected numbers of states, such as 3,4,7".to_owned())
    }
}

impl ShowFormat {
    fn is_picture(self) -> bool {
        matches!(self, Self::Dot | Self::Svg | Self::Mermaid | Self::PlantUml)
    }
}

/// The lines of a journal in the compact form; `None` for any other file.
fn compact_journal(args: &Args) -> Result<Option<Box<dyn BufRead>>, Error> {
    let path = args.model.path();
    let Ok(file) = File::open(path) else {
        return Ok(None);
    };
    let reading = |e: &std::io::Error| Error::reading(path, e);
    let mut reader = BufReader::new(file);
    // A folder cannot be read; the error is reported elsewhere.
    let is_compact = reader
        .fill_buf()
        .is_ok_and(|start| compact_first_line(start).is_some());
    if !is_compact {
        return Ok(None);
    }
    journal_lines(Box::new(reader))
        .map(Some)
        .map_err(|e| reading(&e))
}

/// Writes a journal as JSON lines, one at a time: it may be larger than memory.
fn show_journal(args: &Args, mut lines: Box<dyn BufRead>) -> Result<Exit, Error> {
    let other = args.format.is_some_and(|format| format != ShowFormat::Json);
    if other || args.view != View::Model || args.symbolic || args.observer.is_some() {
        return Err(Error::input(
            "a journal is shown as JSON lines and in no other way",
        ));
    }
    let mut to: Box<dyn Write> = match &args.output_file {
        Some(path) => Box::new(File::create(path).map_err(|e| Error::writing(path, &e))?),
        None => Box::new(std::io::stdout().lock()),
    };
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = lines.read_until(b'\n', &mut line);
        if read.map_err(|e| Error::reading(args.model.path(), &e))? == 0 {
            return Ok(Exit::Holds);
        }
        if line.last() != Some(&b'\n') {
            warning!(
                "warning: {} is cut off: the tester was killed while it wrote",
                args.model
            );
            return Ok(Exit::Holds);
        }
        if let Err(e) = to.write_all(&line) {
            return match (e.kind(), &args.output_file) {
                // Whoever reads has enough.
                (ErrorKind::BrokenPipe, None) => Ok(Exit::Holds),
                (_, Some(path)) => Err(Error::writing(path, &e)),
                (_, None) => Err(Error::fault(format!("standard output: {e}"))),
            };
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    if let Some(lines) = compact_journal(args)? {
        return show_journal(args, lines);
    }
    let workspace = workspace(&args.read)
        .without_texts()
        .without_hashes()
        .with_jobs(jobs(args));
    if let Some(case) = workspace.symbolic_case(&args.model)? {
        let text = match format(args)? {
            ShowFormat::Iol => symbolic_test_case::iol::write(&case)
                .map_err(|e| Error::input(format!("{}: {e}", args.model)))?,
            _ => symbolic_text(args, &SymbolicGraph::of_case(&case))?,
        };
        return put(args, &text);
    }
    if let Some(case) = workspace.test_case(&args.model)? {
        let format = format(args)?;
        let text = match format {
            ShowFormat::Svg | ShowFormat::Mermaid | ShowFormat::PlantUml => {
                draw(args, &Drawing::of_test_case(&case), format)?
            }
            ShowFormat::Dot => iolite_formats::test_case::dot::write(&case),
            _ => write(args, &case.to_lts(), case.name(), format)?,
        };
        return put(args, &text);
    }
    if workspace.is_property(&args.model)? {
        return show_property(args, &workspace);
    }
    if let Some(symbolic) = symbolic_view(args, &workspace)? {
        return show_symbolic(args, &workspace, symbolic);
    }
    let format = format(args)?;
    if args.view == View::Composition {
        if !format.is_picture() {
            return Err(Error::input("this view is a picture")
                .hint("--format svg, dot, mermaid or plantuml"));
        }
        let drawing = workspace.composition(&args.model)?;
        return put(args, &draw(args, &drawing, format)?);
    }
    if args.view == View::Model
        && format.is_picture()
        && let Some(drawing) = workspace.picture(&args.model)?
    {
        return put(args, &draw(args, &drawing, format)?);
    }
    let model = workspace.explicit(&args.model);
    let model = model.map_err(|e| match (e.unfolding(), args.view) {
        (None, _) => e,
        (Some(_), View::Model) => e.hint("--symbolic shows it with its data"),
        (Some(_), _) => {
            e.hint("this view is one of states; suspension and determinised can keep data")
        }
    })?;
    let names = match format {
        // It has no place for names.
        ShowFormat::Aut => StateNames::Numbers,
        _ => StateNames::Members,
    };
    let view = state_view(args.view)?;
    let lts = workspace.state_view(model.system(), view, args.quiescence, names)?;
    if let (ShowFormat::Aut, Some(path)) = (format, &args.output_file) {
        return write_aut(&lts, path, jobs(args));
    }
    let name = model.reference().name.as_deref().unwrap_or("Model");
    let text = write(args, &lts, name, format)?;
    put(args, &text)
}

fn jobs(args: &Args) -> NonZeroUsize {
    args.jobs.unwrap_or_else(all_cores)
}

/// The view of states; not every view is one.
fn state_view(view: View) -> Result<StateView, Error> {
    Ok(match view {
        View::Model => StateView::Model,
        View::Suspension => StateView::Suspension,
        View::Determinised => StateView::Determinised,
        View::SuspensionAutomaton => StateView::SuspensionAutomaton,
        View::DeltaTrace => StateView::DeltaTrace,
        View::SelfLoopCompleted => StateView::SelfLoopCompleted,
        View::ChaosCompleted => StateView::ChaosCompleted,
        View::Product | View::Test | View::Pruned => {
            return Err(Error::input("this view keeps data"));
        }
        View::Composition => return Err(Error::input("this view is a picture")),
    })
}

/// Writes a system to a file while its lines are made: they may take more memory than the system.
fn write_aut(lts: &Lts, path: &Path, jobs: NonZeroUsize) -> Result<Exit, Error> {
    write_whole_by(path, |file| {
        let mut lines = FileText {
            file,
            failure: None,
        };
        let written = aut::write_with_jobs(lts, &mut lines, jobs);
        match lines.failure {
            Some(e) => Err(Error::writing(path, &e)),
            None => written.map_err(|e| Error::input(e.to_string())),
        }
    })?;
    Ok(Exit::Holds)
}

/// A file that takes text, and keeps the error that writers of text have no place for.
struct FileText<'a> {
    file: &'a mut dyn Write,
    failure: Option<std::io::Error>,
}

impl std::fmt::Write for FileText<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.file.write_all(text.as_bytes()).map_err(|e| {
            self.failure = Some(e);
            std::fmt::Error
        })
    }
}

/// The view that keeps data, where one is asked for or the data are infinite; `None` for views of
/// states.
fn symbolic_view(args: &Args, workspace: &Workspace) -> Result<Option<SymbolicView>, Error> {
    let view = match args.view {
        View::Model => Some(SymbolicView::Model),
        View::Suspension => Some(SymbolicView::Suspension),
        View::Determinised => Some(SymbolicView::Determinised),
        View::SuspensionAutomaton => Some(SymbolicView::SuspensionAutomaton),
        View::Product => Some(SymbolicView::Product),
        View::Test => Some(SymbolicView::Test),
        View::Pruned => Some(SymbolicView::Pruned),
        View::DeltaTrace | View::SelfLoopCompleted | View::ChaosCompleted | View::Composition => {
            None
        }
    };
    let test = matches!(args.view, View::Product | View::Test | View::Pruned);
    if args.observer.is_some() && !test {
        return Err(Error::input(
            "--observer is for --view product, test and pruned",
        ));
    }
    if args.explain_pruning && args.view != View::Pruned {
        return Err(Error::input("--explain-pruning is for --view pruned"));
    }
    if args.symbolic && view.is_none() {
        return Err(Error::input(
            "this view has no form that keeps data; leave --symbolic out",
        ));
    }
    if test || args.symbolic {
        return Ok(view);
    }
    // Infinite data have no explicit form; the model itself is a text that people have already.
    let infinite = view.is_some()
        && args.view != View::Model
        && matches!(&*workspace.spec(&args.model)?, Spec::Symbolic(_))
        && workspace.states_soon(&args.model, FEW_STATES)?.is_err();
    Ok(view.filter(|_| infinite))
}

fn show_symbolic(args: &Args, workspace: &Workspace, view: SymbolicView) -> Result<Exit, Error> {
    let (observer, solver) = (args.observer.as_ref(), args.solver.as_deref());
    let graph = workspace.symbolic_view(&args.model, view, observer, solver)?;
    let mut text = symbolic_text(args, &graph)?;
    if args.explain_pruning && format(args)? == ShowFormat::Text {
        text += &graph.pruning();
    }
    put(args, &text)
}

/// A view that keeps data, or a test case with data, in the format that is asked for.
fn symbolic_text(args: &Args, graph: &SymbolicGraph) -> Result<String, Error> {
    let format = format(args)?;
    Ok(match format {
        ShowFormat::Text => graph.text(),
        ShowFormat::Json => {
            let document = serde_json::to_string_pretty(&graph.document());
            document.map_err(|e| Error::input(e.to_string()))? + "\n"
        }
        ShowFormat::Dot | ShowFormat::Svg | ShowFormat::Mermaid | ShowFormat::PlantUml => {
            draw(args, &graph.drawing(), format)?
        }
        ShowFormat::Aut | ShowFormat::Iol | ShowFormat::Hoa | ShowFormat::Xml => {
            return Err(Error::input(
                "this view keeps its data, and the format has no place for them",
            )
            .hint("it is shown as text, json or a picture"));
        }
    })
}

/// A drawing in one of the formats of pictures.
fn draw(args: &Args, drawing: &Drawing, format: ShowFormat) -> Result<String, Error> {
    let groups: Vec<Vec<NodeId>> = args.collapse.iter().map(|group| group.0.clone()).collect();
    let collapsed = (!groups.is_empty()).then(|| drawing.collapsed(&groups));
    let drawing = collapsed.as_ref().unwrap_or(drawing);
    let folded = drawing.folded(args.fold);
    if let Some(folded) = &folded {
        say!(
            "{} states are drawn as {}; --fold 0 draws them all",
            drawing.nodes.len(),
            folded.nodes.len()
        );
    }
    let drawing = folded.as_ref().unwrap_or(drawing);
    Ok(match format {
        ShowFormat::Mermaid => mermaid::write(drawing),
        ShowFormat::PlantUml => plantuml::write(drawing),
        ShowFormat::Dot => drawing::dot::write(drawing),
        _ => {
            let mut text = String::new();
            svg::write(drawing, &mut text).map_err(|e| Error::input(e.to_string()))?;
            text
        }
    })
}

fn put(args: &Args, text: &str) -> Result<Exit, Error> {
    match &args.output_file {
        Some(path) => write_whole(path, text.as_bytes())?,
        None => print(text)?,
    }
    Ok(Exit::Holds)
}

fn format(args: &Args) -> Result<ShowFormat, Error> {
    if args.json {
        return Ok(ShowFormat::Json);
    }
    if let Some(format) = args.format {
        return Ok(format);
    }
    let Some(path) = &args.output_file else {
        return Ok(ShowFormat::Text);
    };
    Ok(match path.extension().and_then(|e| e.to_str()) {
        Some("dot" | "gv") => ShowFormat::Dot,
        Some("svg") => ShowFormat::Svg,
        Some("mmd") => ShowFormat::Mermaid,
        Some("puml" | "plantuml") => ShowFormat::PlantUml,
        Some("aut") => ShowFormat::Aut,
        Some("iol") => ShowFormat::Iol,
        Some("json") => ShowFormat::Json,
        Some("txt") => ShowFormat::Text,
        Some("hoa") => ShowFormat::Hoa,
        Some("xml") => ShowFormat::Xml,
        _ => {
            return Err(Error::input(format!("{}: which format?", path.display()))
                .hint("add --format text|dot|svg|mermaid|plantuml|aut|iol|json"));
        }
    })
}

fn show_property(args: &Args, workspace: &Workspace) -> Result<Exit, Error> {
    let property = workspace.property(&args.model, &args.property)?;
    if args.view != View::Model {
        return Err(Error::input(format!(
            "{} is a property; --view is for systems",
            args.model
        )));
    }
    let asked = format(args)?;
    let format = match asked {
        ShowFormat::Text => PropertyFormat::Text,
        ShowFormat::Dot => PropertyFormat::Dot,
        ShowFormat::Iol => PropertyFormat::Iol,
        ShowFormat::Json => PropertyFormat::Json,
        ShowFormat::Hoa => PropertyFormat::Hoa,
        ShowFormat::Xml => PropertyFormat::Xml,
        ShowFormat::Svg | ShowFormat::Mermaid | ShowFormat::PlantUml => {
            show_property::listable(&property.automaton, &property.name)?;
            let drawing = Drawing::of_property(&property.name, &property.automaton);
            return put(args, &draw(args, &drawing, asked)?);
        }
        ShowFormat::Aut => {
            return Err(
                Error::input(format!("{} is a property; .aut is for systems", args.model))
                    .hint("properties are shown as text, pictures, json, iol, hoa or xml"),
            );
        }
    };
    let Property {
        automaton,
        name,
        description,
        ..
    } = &property;
    let text = show_property::write(automaton, name, description, format)?;
    match &args.output_file {
        Some(path) => write_whole(path, text.as_bytes())?,
        None => print(&text)?,
    }
    Ok(Exit::Holds)
}

fn write(args: &Args, lts: &Lts, name: &str, format: ShowFormat) -> Result<String, Error> {
    let mut text = String::new();
    let written = match format {
        ShowFormat::Text => return Ok(system_text(lts, args.quiescence)),
        ShowFormat::Dot => dot::write(lts, &[], &mut text),
        ShowFormat::Svg | ShowFormat::Mermaid | ShowFormat::PlantUml => {
            let drawing = Drawing::of_lts(name, lts, &[]).with_mealy_edges();
            return draw(args, &drawing, format);
        }
        ShowFormat::Aut => aut::write_with_jobs(lts, &mut text, jobs(args)),
        ShowFormat::Iol => iol::write(lts, name, &mut text),
        ShowFormat::Json => json::write(lts, &mut text),
        ShowFormat::Hoa | ShowFormat::Xml => {
            return Err(Error::input(format!(
                "{name} is a system; HOA and XML are for properties"
            )));
        }
    };
    written.map_err(|e| Error::input(e.to_string()))?;
    Ok(text)
}
