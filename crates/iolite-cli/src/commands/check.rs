//! `iolite check`: parse, check names and types, lint.

use iolite_derive::{Race, RaceLoss, races};
use iolite_expr::Solver;
use iolite_lang::{Diagnostic, File, LineIndex, Rejected, codes, diagnostic};
use iolite_lts::{LabelKind, Lts, QuiescencePolicy};
use iolite_sts::UnfoldBudget;
use serde::Serialize;

use crate::args::{bounds, workspace};
use crate::output::{Exit, counted, print, print_json};
use iolite::{Context, Error, Format, ModelRef, ReadOptions, SourceFile, read_foreign};

/// Parse model files, check names and types, and point out what is doubtful
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The files
    #[arg(required = true)]
    files: Vec<ModelRef>,
    #[command(flatten)]
    read: ReadOptions,
    /// With queues: also note where an input and an output may cross, and what a tester over pipes or
    /// sockets cannot tell apart there
    #[arg(long, value_name = "CONTEXT", default_value = "synchronous")]
    context: Context,
    /// Take warnings for errors
    #[arg(long)]
    deny_warnings: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    files: Vec<FileReport>,
}

#[derive(Serialize)]
struct FileReport {
    file: String,
    declarations: Vec<Declaration>,
    diagnostics: Vec<Finding>,
    /// Where messages may cross; only with `--context queues`, and never an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    races: Option<Vec<RaceNote>>,
}

/// What is said of the races of a system.
#[derive(Serialize)]
struct RaceNote {
    code: String,
    system: String,
    /// The races that are listed, and how many more there are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    races: Vec<RaceDocument>,
    #[serde(skip_serializing_if = "is_zero")]
    more: usize,
    /// Why not all of the model was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    incomplete: Option<String>,
}

#[derive(Serialize)]
struct RaceDocument {
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    locations: Vec<String>,
    trace: Vec<String>,
    input: String,
    output: String,
    /// What the system may have done, in two ways.
    confused: [Vec<String>; 2],
    /// How it looks to the tester, both times.
    seen: Vec<String>,
    loss: &'static str,
    /// What only one of the two can go on with.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<Vec<String>>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

#[derive(Serialize)]
struct Declaration {
    kind: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    states: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    transitions: Option<usize>,
}

#[derive(Serialize)]
struct Finding {
    code: String,
    severity: &'static str,
    line: u32,
    column: usize,
    /// Just behind the last character.
    end_line: u32,
    end_column: usize,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let mut report = Report { files: Vec::new() };
    let (mut errors, mut warnings) = (0, 0);
    let workspace = workspace(&args.read);
    let budget = bounds::budget();
    for reference in &args.files {
        budget.know(format!(
            "{} of {} files were checked, with {} and {}",
            report.files.len(),
            args.files.len(),
            counted(errors, "error"),
            counted(warnings, "warning")
        ));
        let source = workspace.source(reference.path())?;
        let mut systems = Vec::new();
        let (declarations, found) = look(&source, &args.read, &mut systems)?;
        let races = (args.context == Context::Queues)
            .then(|| systems.iter().map(race_note).collect::<Vec<RaceNote>>());
        errors += found.iter().filter(|d| d.is_error()).count();
        warnings += found.iter().filter(|d| !d.is_error()).count();
        if !args.json {
            eprint!("{}", source.rendered(&found));
            if !diagnostic::has_errors(&found) {
                print(&summary(reference, &declarations))?;
                for note in races.iter().flatten() {
                    print(&tell_races(reference, note))?;
                }
            }
        }
        let (bytes, index) = (source.bytes(), LineIndex::new(source.bytes()));
        report.files.push(FileReport {
            file: reference.path().display().to_string(),
            declarations,
            diagnostics: found.iter().map(|d| finding(d, &index, bytes)).collect(),
            races,
        });
    }
    if args.json {
        print_json(&report)?;
    } else if errors + warnings > 0 {
        let (errors, warnings) = (counted(errors, "error"), counted(warnings, "warning"));
        say!("\n{errors}, {warnings}; `iolite explain-code CODE` says more");
    }
    let bad = errors > 0 || args.deny_warnings && warnings > 0;
    Ok(if bad { Exit::BadInput } else { Exit::Holds })
}

/// A system, or why there is no table of it.
type NamedSystem = (String, Result<Lts, &'static str>);

fn look(
    source: &SourceFile,
    read: &ReadOptions,
    systems: &mut Vec<NamedSystem>,
) -> Result<(Vec<Declaration>, Vec<Diagnostic>), Error> {
    let format = Format::of(source.path())?;
    if format != Format::Iol {
        return Ok(match read_foreign(format, source.bytes(), read) {
            Err(Rejected(found)) => (Vec::new(), found),
            Ok(loaded) => {
                let declaration = Declaration {
                    kind: "system".to_owned(),
                    name: String::new(),
                    states: Some(loaded.value.state_count()),
                    transitions: Some(loaded.value.transition_count()),
                };
                systems.push((String::new(), Ok(loaded.value)));
                (vec![declaration], loaded.lints)
            }
        });
    }
    let (file, found) = source.tree();
    let mut found = found.to_vec();
    if diagnostic::has_errors(&found) {
        return Ok((Vec::new(), found));
    }
    let mut declarations = Vec::new();
    for item in &file.items {
        let name = item.name().text.clone();
        let mut declaration = Declaration {
            kind: item.keyword().to_owned(),
            name,
            states: None,
            transitions: None,
        };
        let done = declarations.len();
        let errors = found.iter().filter(|d| d.is_error()).count();
        bounds::budget().know(format!(
            "{}: names and types are right; of {} {done} were looked at, with {} and {}; {} `{}` is next",
            source.path().display(),
            counted(file.items.len(), "declaration"),
            counted(errors, "error"),
            counted(found.len() - errors, "warning"),
            declaration.kind,
            declaration.name,
        ));
        if iolite_lang::systems(file).contains(&declaration.name.as_str()) {
            if iolite_lang::has_data(file, &declaration.name) {
                let (more, lts) = data(file, &mut declaration, read.budget());
                found.extend(more);
                let none = "its data do not unfold to a small table";
                systems.push((declaration.name.clone(), lts.ok_or(none)));
            } else {
                match iolite_lang::lower_system(file, &declaration.name, read.budget()) {
                    Ok(lts) => {
                        declaration.states = Some(lts.state_count());
                        declaration.transitions = Some(lts.transition_count());
                        systems.push((declaration.name.clone(), Ok(lts)));
                    }
                    Err(more) => found.extend(more),
                }
            }
        }
        let more = match declaration.kind.as_str() {
            "property" => match iolite_lang::lower_property(file, &declaration.name, &[]) {
                Ok(automaton) => iolite_lang::guard_lints(file, &declaration.name, &automaton),
                Err(more) => more,
            },
            "observer" => iolite_lang::data_observer_lints(file, &declaration.name),
            _ => Vec::new(),
        };
        // A property that another one names is told once.
        for d in more {
            if !found
                .iter()
                .any(|o| (&o.code, &o.span) == (&d.code, &d.span))
            {
                found.push(d);
            }
        }
        declarations.push(declaration);
    }
    Ok((declarations, found))
}

/// States that data may unfold to while a file is checked; beyond it the count is left out.
const CHECKED_STATES: usize = 10_000;

/// The same for the values of one parameter.
const CHECKED_VALUES: usize = 64;

/// What is doubtful about a system with data, and its size where the data are finite and few.
fn data(
    file: &File,
    declaration: &mut Declaration,
    budget: usize,
) -> (Vec<Diagnostic>, Option<Lts>) {
    let mut solver = Solver::embedded();
    let found = match iolite_lang::data_lints(file, &declaration.name, &mut solver) {
        Ok(lints) => lints,
        Err(errors) => return (errors, None),
    };
    let budget = UnfoldBudget {
        states: budget.min(CHECKED_STATES),
        values: CHECKED_VALUES,
    };
    match iolite_lang::unfold_data(file, &declaration.name, &mut solver, budget) {
        Ok(lts) => {
            declaration.states = Some(lts.state_count());
            declaration.transitions = Some(lts.transition_count());
            let mut found = found;
            let unreached = iolite_lang::data_unreached(file, &declaration.name, &lts);
            for more in unreached.unwrap_or_default() {
                let told = found
                    .iter()
                    .any(|d| d.code == more.code && d.span == more.span);
                if !told {
                    found.push(more);
                }
            }
            (found, Some(lts))
        }
        // Infinite data are not an error: such a system has its own semantics.
        Err(more) => {
            let unfolds =
                |d: &Diagnostic| !matches!(d.code, codes::INFINITE_DATA | codes::UNFOLDING_BOUND);
            let mistakes = more.into_iter().filter(unfolds);
            (found.into_iter().chain(mistakes).collect(), None)
        }
    }
}

/// Sets of the suspension automaton that are looked at for races.
const RACING_SETS: usize = 20_000;

/// How many races of one system are listed.
const MOST_RACES: usize = 10;

fn race_note((name, system): &NamedSystem) -> RaceNote {
    let mut note = RaceNote {
        code: codes::RACE.to_string(),
        system: name.clone(),
        races: Vec::new(),
        more: 0,
        incomplete: None,
    };
    let lts = match system {
        Ok(lts) => lts,
        Err(why) => {
            note.incomplete = Some((*why).to_owned());
            return note;
        }
    };
    if lts.labels().of_kind(LabelKind::Undirected).next().is_some() {
        note.incomplete = Some("it has plain labels, which have no direction".to_owned());
        return note;
    }
    let report = races(lts, QuiescencePolicy::Livelock, RACING_SETS, MOST_RACES);
    if !report.complete {
        note.incomplete = Some(format!("only {RACING_SETS} sets of states were looked at"));
    }
    note.more = report.more;
    note.races = report.races.into_iter().map(race_document).collect();
    note
}

fn race_document(race: Race) -> RaceDocument {
    let confused = race.confused();
    let (loss, difference) = match race.loss {
        RaceLoss::Futures(difference) => ("futures", difference),
        RaceLoss::Excused => ("excused", None),
        RaceLoss::Unjudged => ("unjudged", None),
    };
    RaceDocument {
        line: race.line,
        locations: race.locations,
        trace: race.trace,
        input: race.input,
        output: race.output,
        seen: confused[0].clone(),
        confused,
        loss,
        difference,
    }
}

fn tell_races(reference: &ModelRef, note: &RaceNote) -> String {
    let mut text = String::new();
    let path = reference.path().display();
    let code = &note.code;
    for race in &note.races {
        let (input, output) = (&race.input, &race.output);
        let at = race.line.map_or(String::new(), |line| format!(":{line}"));
        text += &format!(
            "\nnote[{code}]: {input} and {output} may cross in {}\n  {path}{at}\n",
            race.locations.join(", ")
        );
        for trace in &race.confused {
            text += &format!("  the system did  {}\n", trace.join(" "));
        }
        text += &format!("  the tester saw  {}, both times\n", race.seen.join(" "));
        text += &match (race.loss, &race.difference) {
            ("excused", _) => format!(
                "  the model has {output} before {input} only: a system that sends it afterwards is not \
                 caught in such a run\n"
            ),
            ("unjudged", _) => format!(
                "  after {output} the model does not specify {input}: such a run ends there, and passes\n"
            ),
            (_, Some(trace)) => format!("  only one of the two goes on with {}\n", trace.join(" ")),
            (_, None) => "  the two lead to different places\n".to_owned(),
        };
    }
    let name = if note.system.is_empty() {
        path.to_string()
    } else {
        note.system.clone()
    };
    if note.more > 0 {
        text += &format!("\n{} more races of {name}\n", note.more);
    }
    match &note.incomplete {
        Some(why) if note.races.is_empty() => {
            text += &format!("  {name}: races were not looked for, {why}\n");
        }
        Some(why) => text += &format!("  {name}: {why}\n"),
        None if note.races.is_empty() => {
            text += &format!("  {name}: no races, queues lose nothing\n");
        }
        None => {}
    }
    text
}

fn finding(d: &Diagnostic, index: &LineIndex, bytes: &[u8]) -> Finding {
    let (line, column) = place(index, bytes, d.span.start);
    let (end_line, end_column) = place(index, bytes, d.span.end);
    Finding {
        code: d.code.to_string(),
        severity: if d.is_error() { "error" } else { "warning" },
        line,
        column,
        end_line,
        end_column,
        message: d.message.clone(),
        hint: d.hint.clone(),
    }
}

/// Line and column of an offset, both from 1; a column is a character.
fn place(index: &LineIndex, bytes: &[u8], offset: usize) -> (u32, usize) {
    let line = index.line(offset);
    let start = index.line_span(bytes, line).start;
    let before = bytes.get(start..offset).unwrap_or_default();
    (line, String::from_utf8_lossy(before).chars().count() + 1)
}

fn summary(reference: &ModelRef, declarations: &[Declaration]) -> String {
    let mut text = format!("{}: ok\n", reference.path().display());
    for Declaration {
        kind,
        name,
        states,
        transitions,
    } in declarations
    {
        text += &format!("  {kind} {name}");
        if let (Some(states), Some(transitions)) = (states, transitions) {
            text += &format!(
                "  ({}, {})",
                counted(*states, "state"),
                counted(*transitions, "transition")
            );
        }
        text.push('\n');
    }
    text
}
