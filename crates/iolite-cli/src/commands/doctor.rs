//! `iolite doctor`: what this machine offers.

use iolite_expr::{Answer, SOLVER_VARIABLE, Smtlib, Solver, Term};
use serde::Serialize;

use crate::output::{Exit, print, print_json};
use iolite::Error;

/// Show versions, and which solvers are found and answer
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Look at this SMT-LIB solver too
    #[arg(long, value_name = "PATH")]
    solver: Option<std::path::PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Document {
    version: &'static str,
    system: String,
    embedded_solver: bool,
    process_solver: Option<ProcessSolver>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
}

#[derive(Serialize)]
struct ProcessSolver {
    path: String,
    version: String,
    answers: bool,
}

/// Whether a solver decides the plainest query.
fn answers(mut solver: Solver) -> bool {
    solver.assert(&Term::from(true));
    matches!(solver.check(), Answer::Sat(_))
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    // Where the project's own script puts one.
    let local = std::path::PathBuf::from(".tools/z3/bin/z3");
    let given = match Smtlib::find(args.solver.as_deref()) {
        None if local.is_file() => Some(local),
        _ => args.solver.clone(),
    };
    let path = Smtlib::find(given.as_deref());
    let found = Smtlib::detect(given.as_deref());
    let missing = found.as_ref().err().map(ToString::to_string);
    let process_solver = found.ok().map(|solver| ProcessSolver {
        path: path.map_or_else(String::new, |p| p.display().to_string()),
        version: solver.version().to_owned(),
        answers: answers(Solver::new(Box::new(solver))),
    });
    let document = Document {
        version: env!("CARGO_PKG_VERSION"),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        embedded_solver: answers(Solver::embedded()),
        process_solver,
        missing,
    };
    // A solver that was asked for and is not there is a mistake; none at all is not.
    let asked = args.solver.is_some() || std::env::var_os(SOLVER_VARIABLE).is_some();
    let sound = document.embedded_solver
        && match &document.process_solver {
            Some(solver) => solver.answers,
            None => !asked,
        };
    if args.json {
        print_json(&document)?;
    } else {
        print(&tell(&document))?;
    }
    Ok(if sound { Exit::Holds } else { Exit::Fault })
}

fn tell(document: &Document) -> String {
    let state = |answers| {
        if answers {
            "answers"
        } else {
            "does not answer"
        }
    };
    let mut text = format!("iolite {} on {}\n", document.version, document.system);
    text += &format!("embedded solver: {}\n", state(document.embedded_solver));
    match (&document.process_solver, &document.missing) {
        (Some(solver), _) => {
            text += &format!(
                "SMT-LIB solver: {} ({}), {}\n  use it with --solver {}\n",
                solver.version,
                solver.path,
                state(solver.answers),
                solver.path
            );
        }
        (None, missing) => {
            text += &format!("SMT-LIB solver: {}\n", missing.as_deref().unwrap_or("none"));
            text += "  not needed: the embedded solver is complete for Booleans, enums, ranges and \
                     linear integers\n";
        }
    }
    text
}
