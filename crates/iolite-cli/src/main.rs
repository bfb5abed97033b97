//! The command line: flags → options → one call of the library → output and exit code.
//!
//! It holds no semantics and orchestrates nothing: what a command does, a user of the `iolite` library
//! can do as well.

#[macro_use]
mod output;
mod args;
mod commands;
mod out_of_memory;
mod project;

use std::process::ExitCode;

use clap::{Args as _, FromArgMatches as _, Parser, Subcommand};

use commands::{
    calibrate, check, classify, completions, derive, doctor, explain, explain_code, fmt, init, lsp,
    merge, monitor, mutate, passes, relate, replay, report, serve, show, simulate, suite, test,
    testable, tester, verify,
};
use iolite::Error;
use iolite_exec::Interruption;
use output::{Exit, status};

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
3 inconclusive or unknown; 4 infrastructure fault; 130 and 143 ended by SIGINT and SIGTERM.")]
struct Cli {
    #[command(flatten)]
    bounds: args::bounds::Bounds,
    #[command(flatten)]
    manners: args::manners::Manners,
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
    Merge(merge::Args),
    #[cfg(feature = "fleet")]
    Fleet(commands::fleet::Args),
    /// Run a campaign on many machines: this build is without it
    #[cfg(not(feature = "fleet"))]
    #[command(hide = true)]
    Fleet {
        /// Whatever was asked
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        asked: Vec<String>,
    },
    Report(report::Args),
    Serve(serve::Args),
    Lsp(lsp::Args),
    Monitor(monitor::Args),
    Passes(passes::Args),
    Suite(suite::Args),
    Mutate(Box<mutate::Args>),
    Classify(classify::Args),
    Testable(testable::Args),
    Tester(tester::Args),
    Calibrate(calibrate::Args),
    Explain(explain::Args),
    ExplainCode(explain_code::Args),
    Doctor(doctor::Args),
    Simulate(simulate::Args),
    Init(init::Args),
    Completions(completions::CompletionArgs),
    Man(completions::ManArgs),
}

impl Cli {
    /// What the arguments of this process say.
    ///
    /// To describe all commands with their flags takes longer than most of them work on a small model. So where the first word
    /// is one that is often asked, its flags alone are described. Whatever these do not take is parsed again with all
    /// of them, so that errors, help and version have one wording.
    fn of(args: Vec<String>) -> Result<Self, clap::Error> {
        if let Some(alone) = args.get(1).and_then(|name| Self::alone(name))
            && let Ok(matches) = alone.try_get_matches_from(&args)
            && let Ok(cli) = Self::from_arg_matches(&matches)
        {
            return Ok(cli);
        }
        Self::try_parse_from(args)
    }

    /// The command line with one command.
    fn alone(name: &str) -> Option<clap::Command> {
        type Flags = fn(clap::Command) -> clap::Command;
        let (name, flags): (&'static str, Flags) = match name {
            "check" => ("check", check::Args::augment_args),
            "show" => ("show", show::Args::augment_args),
            "relate" => ("relate", relate::Args::augment_args),
            "verify" => ("verify", verify::Args::augment_args),
            "derive" => ("derive", derive::Args::augment_args),
            "test" => ("test", test::Args::augment_args),
            "monitor" => ("monitor", monitor::Args::augment_args),
            _ => return None,
        };
        let command = flags(clap::Command::new(name));
        let all = clap::Command::new("iolite").subcommand_required(true);
        let all = args::bounds::Bounds::augment_args(all);
        Some(args::manners::Manners::augment_args(all).subcommand(command))
    }
}

/// Runs the command line of this process.
fn main() -> ExitCode {
    iolite_allocator::end_without_memory_by(out_of_memory::end);
    let args = match project::expand() {
        Ok(args) => args,
        Err(failure) => {
            say!("{failure}");
            return Exit::from(&failure).into();
        }
    };
    let cli = match Cli::of(args) {
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
    cli.manners.start();
    let started = args::overwriting::reject(&project::command()).and_then(|()| cli.bounds.start());
    // It says that not all was judged; what failed until then has failed.
    let has_own_exit = matches!(cli.command, Command::Monitor(_));
    let result = started.and_then(|()| run(cli.command));
    status::leave();
    // Nothing that rests on an explorer that failed counts, whatever was printed.
    let result = result.and_then(|exit| iolite::explorer_fault().map_or(Ok(exit), Err));
    let exit = result.unwrap_or_else(|failure| {
        say!("{failure}");
        Exit::from(&failure)
    });
    // What was found until then was printed; the exit code says that it is not all.
    match iolite_exec::interrupted() {
        None => exit.into(),
        // A failing verdict outweighs a bound.
        Some(Interruption::Bound) if exit == Exit::Fails => exit.into(),
        Some(_) if has_own_exit => exit.into(),
        Some(by) => ExitCode::from(by.exit_code()),
    }
}

fn run(command: Command) -> Result<Exit, Error> {
    match command {
        Command::Check(args) => check::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Fmt(args) => fmt::run(&args),
        Command::Relate(args) => relate::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Derive(args) => derive::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Replay(args) => replay::run_replay(&args),
        Command::Shrink(args) => replay::run_shrink(&args),
        Command::Merge(args) => merge::run(&args),
        #[cfg(feature = "fleet")]
        Command::Fleet(args) => commands::fleet::run(&args),
        #[cfg(not(feature = "fleet"))]
        Command::Fleet { .. } => Err(Error::input("this `iolite` was built without the fleet")
            .hint(
                "`cargo install --path crates/iolite-cli --features fleet` builds one that has it",
            )),
        Command::Report(args) => report::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Lsp(args) => lsp::run(&args),
        Command::Monitor(args) => monitor::run(&args),
        Command::Passes(args) => passes::run(&args),
        Command::Suite(args) => suite::run(&args),
        Command::Mutate(args) => mutate::run(&args),
        Command::Classify(args) => classify::run(&args),
        Command::Testable(args) => testable::run(&args),
        Command::Tester(args) => tester::run(&args),
        Command::Calibrate(args) => calibrate::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::ExplainCode(args) => explain_code::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => completions::run_man(&args),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    /// A command that is described alone has the flags that it has among all.
    #[test]
    fn a_command_alone_has_all_its_flags() {
        let mut all = Cli::command();
        all.build();
        let mut found = 0;
        for command in all.get_subcommands() {
            let Some(mut alone) = Cli::alone(command.get_name()) else {
                continue;
            };
            alone.build();
            let alone = alone.find_subcommand(command.get_name()).expect("itself");
            let flags = |command: &clap::Command| -> Vec<String> {
                let flags = command.get_arguments().map(|arg| format!("{arg:?}"));
                // Help and version are errors to the one command, and asked again.
                let own = |flag: &String| !flag.contains("id: \"version\"");
                let mut flags: Vec<String> = flags.filter(own).collect();
                flags.sort();
                flags
            };
            assert_eq!(flags(alone), flags(command), "{}", command.get_name());
            found += 1;
        }
        assert_eq!(found, 7);
    }
}
