//! `iolite fleet`: a campaign on many machines.

mod job;
mod make;
mod report;
mod status;
mod submit;
mod work;

use std::path::PathBuf;

use iolite::Error;
use iolite_fleet::{Fleet, FleetError, ServerOptions};

use crate::output::Exit;

/// Run a campaign on many machines, over a NATS server with `JetStream`
///
/// `submit` puts a campaign on the server, `work` makes its runs on any number of machines, `report` says
/// what all of them came to, as if one process had made them. docs/fleet.md has recipes.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: FleetCommand,
}

#[derive(clap::Subcommand)]
enum FleetCommand {
    Submit(submit::Args),
    Work(work::Args),
    Status(status::Args),
    Watch(status::WatchArgs),
    Report(Box<report::Args>),
    Stop(status::StopArgs),
    /// Makes the runs of one campaign, as a worker asks for them
    #[command(hide = true)]
    Make(make::Args),
}

/// How the server is reached.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct ServerArgs {
    /// The server: nats://HOST:PORT, tls://HOST:PORT, several with commas [default: `IOLITE_NATS`]. User
    /// and password may stand in it, as `nats://USER:PASSWORD@HOST`; others on the machine can read command
    /// lines, and not the environment
    #[arg(long, value_name = "URL")]
    nats: Option<String>,
    /// Credentials, as the tools of NATS make them
    #[arg(long, value_name = "FILE")]
    creds: Option<PathBuf>,
    /// A file that holds the seed of a user's key (an `NKey`, SU…)
    #[arg(long, value_name = "FILE", conflicts_with = "creds")]
    nkey: Option<PathBuf>,
    /// A file that holds a token
    #[arg(long, value_name = "FILE", conflicts_with_all = ["creds", "nkey"])]
    token: Option<PathBuf>,
    /// Certificates of authorities that the server's certificate may be of, beside those of the machine
    #[arg(long, value_name = "PEM")]
    tls_ca: Option<PathBuf>,
    /// The certificate that is shown to the server
    #[arg(long, value_name = "PEM", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Its key
    #[arg(long, value_name = "PEM", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

impl ServerArgs {
    /// Whether the command line names a server.
    pub(crate) fn is_named(&self) -> bool {
        self.nats.is_some()
    }

    /// The same flags for another process, in any folder; the address is for its environment.
    pub(crate) fn flags(&self) -> Vec<String> {
        let files = [
            ("--creds", &self.creds),
            ("--nkey", &self.nkey),
            ("--token", &self.token),
            ("--tls-ca", &self.tls_ca),
            ("--tls-cert", &self.tls_cert),
            ("--tls-key", &self.tls_key),
        ];
        let flag = |(flag, path): (&str, &Option<PathBuf>)| {
            let path = path.as_ref()?;
            Some(format!(
                "{flag}={}",
                super::recorded::absolute(path).display()
            ))
        };
        files.into_iter().filter_map(flag).collect()
    }

    pub(crate) fn options(&self) -> Result<ServerOptions, Error> {
        let of_environment = || {
            std::env::var("IOLITE_NATS")
                .ok()
                .filter(|url| !url.is_empty())
        };
        let Some(url) = self.nats.clone().or_else(of_environment) else {
            return Err(Error::input("no server is named")
                .hint("--nats URL, or IOLITE_NATS in the environment; `nats-server -js -sd FOLDER` starts one"));
        };
        let certificate = self.tls_cert.clone().zip(self.tls_key.clone());
        Ok(ServerOptions {
            url,
            credentials: self.creds.clone(),
            nkey: self.nkey.clone(),
            token: self.token.clone(),
            ca: self.tls_ca.clone(),
            certificate,
        })
    }

    fn connect(&self) -> Result<Fleet, Error> {
        Fleet::connect(&self.options()?).map_err(error)
    }
}

/// An error of the fleet in the words of the command.
fn error(error: FleetError) -> Error {
    match error {
        FleetError::Input(why) => Error::input(why),
        FleetError::Server(why) | FleetError::Lost(why) | FleetError::Content(why) => {
            Error::fault(why)
        }
    }
}

/// A time in seconds, as a flag gives it.
fn seconds(text: &str) -> Result<std::time::Duration, String> {
    let number: f64 = text.parse().map_err(|_| "a number of seconds".to_owned())?;
    match std::time::Duration::try_from_secs_f64(number) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err("a number of seconds above zero".to_owned()),
    }
}

/// A server that does not answer is waited for so long where somebody waits for an end.
const GIVE_UP: std::time::Duration = std::time::Duration::from_secs(600);

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    match &args.command {
        FleetCommand::Submit(args) => submit::run(args),
        FleetCommand::Work(args) => work::run(args),
        FleetCommand::Status(args) => status::run(args),
        FleetCommand::Watch(args) => status::watch(args),
        FleetCommand::Report(args) => report::run(args),
        FleetCommand::Stop(args) => status::stop(args),
        FleetCommand::Make(args) => make::run(args),
    }
}
