//! `iolite check`: parse, check names and types, lint.

use iolite_expr::Solver;
use iolite_lang::{Diagnostic, File, LineIndex, Rejected, codes, diagnostic};
use iolite_sts::UnfoldBudget;
use serde::Serialize;

use crate::args::workspace;
use crate::output::{Exit, print, print_json};
use iolite::{Error, Format, ModelRef, ReadOptions, SourceFile, read_foreign};

/// Parse model files, check names and types, and point out what is doubtful
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The files
    #[arg(required = true)]
    files: Vec<ModelRef>,
    #[command(flatten)]
    read: ReadOptions,
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
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let mut report = Report { files: Vec::new() };
    let (mut errors, mut warnings) = (0, 0);
    let workspace = workspace(&args.read);
    for reference in &args.files {
        let source = workspace.source(reference.path())?;
        let (declarations, found) = look(&source, &args.read)?;
        errors += found.iter().filter(|d| d.is_error()).count();
        warnings += found.iter().filter(|d| !d.is_error()).count();
        if !args.json {
            eprint!("{}", source.rendered(&found));
            if !diagnostic::has_errors(&found) {
                print(&summary(reference, &declarations))?;
            }
        }
        let (bytes, index) = (source.bytes(), LineIndex::new(source.bytes()));
        report.files.push(FileReport {
            file: reference.path().display().to_string(),
            declarations,
            diagnostics: found.iter().map(|d| finding(d, &index, bytes)).collect(),
        });
    }
    if args.json {
        print_json(&report)?;
    } else if errors + warnings > 0 {
        eprintln!("\n{errors} errors, {warnings} warnings; `iolite explain-code CODE` tells more");
    }
    let bad = errors > 0 || args.deny_warnings && warnings > 0;
    Ok(if bad { Exit::BadInput } else { Exit::Holds })
}

fn look(
    source: &SourceFile,
    read: &ReadOptions,
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
        if iolite_lang::systems(file).contains(&declaration.name.as_str()) {
            if iolite_lang::has_data(file, &declaration.name) {
                found.extend(data(file, &mut declaration, read.budget()));
            } else {
                match iolite_lang::lower_system(file, &declaration.name, read.budget()) {
                    Ok(lts) => {
                        declaration.states = Some(lts.state_count());
                        declaration.transitions = Some(lts.transition_count());
                    }
                    Err(more) => found.extend(more),
                }
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
fn data(file: &File, declaration: &mut Declaration, budget: usize) -> Vec<Diagnostic> {
    let mut solver = Solver::embedded();
    let found = match iolite_lang::data_lints(file, &declaration.name, &mut solver) {
        Ok(lints) => lints,
        Err(errors) => return errors,
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
            found
        }
        // Infinite data are no mistake: such a system has its own semantics.
        Err(more) => {
            let unfolds =
                |d: &Diagnostic| !matches!(d.code, codes::INFINITE_DATA | codes::UNFOLDING_BOUND);
            let mistakes = more.into_iter().filter(unfolds);
            found.into_iter().chain(mistakes).collect()
        }
    }
}

fn finding(d: &Diagnostic, index: &LineIndex, bytes: &[u8]) -> Finding {
    let offset = d.span.start;
    let line = index.line(offset);
    let start = index.line_span(bytes, line).start;
    let before = bytes.get(start..offset).unwrap_or_default();
    Finding {
        code: d.code.to_string(),
        severity: if d.is_error() { "error" } else { "warning" },
        line,
        column: String::from_utf8_lossy(before).chars().count() + 1,
        message: d.message.clone(),
        hint: d.hint.clone(),
    }
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
            text += &format!("  ({states} states, {transitions} transitions)");
        }
        text.push('\n');
    }
    text
}
