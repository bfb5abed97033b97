//! The command line: flags → options → one function a command → exit code.

mod abstraction;
mod action_table;
mod calibrate;
mod check;
mod classify;
mod data_explain;
mod data_options;
mod data_session;
mod derive;
mod dialogue;
mod doctor;
mod effort;
mod explain;
mod explain_code;
mod failure;
mod fmt;
mod foreign_names;
mod goals;
mod judge;
mod learnt;
mod monitor;
mod objective;
mod played_model;
mod property_explain;
mod property_monitor;
mod property_run;
mod property_show;
mod property_source;
mod relate;
mod relate_document;
mod relate_matrix;
mod replay;
mod semantics_options;
mod show;
mod signature;
mod silence;
mod simulate;
mod source;
mod suite;
mod symbolic_run;
mod target;
mod test;
mod test_report;
mod testable;
mod tester;
mod time_limit;
mod valued_codec;
mod verify;
mod watched;
mod weights;
mod wire_value;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Failure;

/// Tests real systems against formal models and says, for each verdict, what it proves.
#[derive(Parser)]
#[command(
    name = "iolite",
    version,
    propagate_version = true,
    max_term_width = 100
)]
#[command(after_help = "\
Models are files: .iol, .aut, .dot. FILE#Name picks one declaration of a file.

Exit codes: 0 holds, pass, proved; 1 does not hold, a failing verdict, refuted; 2 bad input or usage;
3 inconclusive or unknown; 4 infrastructure fault.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(check::Args),
    Show(show::Args),
    Fmt(fmt::Args),
    Relate(relate::Args),
    Verify(verify::Args),
    Derive(derive::Args),
    Test(Box<test::Args>),
    Replay(replay::ReplayArgs),
    Shrink(replay::ShrinkArgs),
    Monitor(monitor::Args),
    Classify(classify::Args),
    Testable(testable::Args),
    Tester(tester::Args),
    Calibrate(calibrate::Args),
    Explain(explain::Args),
    ExplainCode(explain_code::Args),
    Doctor(doctor::Args),
    Simulate(simulate::Args),
}

/// How a command ended, as scripts see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    /// Holds, pass, proved.
    Holds = 0,
    /// Does not hold, a failing verdict, refuted.
    Fails = 1,
    /// Bad input or usage.
    BadInput = 2,
    /// Inconclusive or unknown.
    Inconclusive = 3,
    /// The infrastructure let us down.
    Fault = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(usage) => {
            // Help and version come as "errors" too, for standard output and exit code 0.
            let exit = if usage.use_stderr() {
                Exit::BadInput
            } else {
                Exit::Holds
            };
            let _ = usage.print();
            return exit.into();
        }
    };
    let result = match cli.command {
        Command::Check(args) => check::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Fmt(args) => fmt::run(&args),
        Command::Relate(args) => relate::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Derive(args) => derive::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Replay(args) => replay::run_replay(&args),
        Command::Shrink(args) => replay::run_shrink(&args),
        Command::Monitor(args) => monitor::run(&args),
        Command::Classify(args) => classify::run(&args),
        Command::Testable(args) => testable::run(&args),
        Command::Tester(args) => tester::run(&args),
        Command::Calibrate(args) => calibrate::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::ExplainCode(args) => explain_code::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Simulate(args) => simulate::run(&args),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(failure) => {
            eprintln!("{failure}");
            failure.exit.into()
        }
    }
}

/// Prints to standard output; a reader that went away (`| head`) is no fault.
fn print(text: &str) -> Result<(), Failure> {
    use std::io::{ErrorKind, Write};
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::fault(format!("standard output: {e}")))
        }
        _ => Ok(()),
    }
}

/// Prints one JSON document to standard output.
fn print_json(document: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(document)
        .map_err(|e| Failure::fault(format!("writing JSON: {e}")))?;
    print(&format!("{text}\n"))
}
