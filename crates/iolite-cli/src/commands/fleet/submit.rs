//! `iolite fleet submit`: a campaign is put on the server.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use iolite::Error;
use iolite_fleet::{Capabilities, Description, Limits, TravellingFile, digest, is_plain_path};

use super::job::{Job, Prepared, add_all};
use super::{ServerArgs, error};
use crate::output::{Exit, counted, print, print_json};

/// Put a campaign on the server
///
/// The campaign is one of iolite.toml, or a command line of `iolite test`, `mutate` or `monitor` after `--`. Models,
/// descriptions and suites travel with it; programs that it starts must be on the workers, or travel by
/// --with. Prints the hash that a worker's allow-list names.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  iolite fleet submit nightly --nats nats://lab:4222
  iolite fleet submit --nats nats://lab:4222 -- test login.iol --sut sut.toml --runs 5000
  iolite fleet submit --nats nats://lab:4222 -- mutate login.iol --suite tests
  iolite fleet submit --nats nats://lab:4222 -- monitor login.iol logs/*.jsonl
  iolite fleet submit nightly --nats nats://lab:4222 --needs device=board7 -- --runs 100")]
pub(crate) struct Args {
    /// A campaign of iolite.toml; what follows `--` are more flags of `iolite test` then
    campaign: Option<String>,
    /// The command line, from `test`, `mutate` or `monitor` on
    #[arg(last = true)]
    line: Vec<String>,
    #[command(flatten)]
    server: ServerArgs,
    /// What it is called on the server [default: its name and the beginning of its hash, so that the same
    /// campaign is there once]
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// More files or folders that the campaign needs (repeatable)
    #[arg(long, value_name = "PATH")]
    with: Vec<PathBuf>,
    /// Only workers that offer this run it (repeatable)
    #[arg(long, value_name = "NAME=VALUE", value_parser = Capabilities::parse)]
    needs: Vec<(String, String)>,
    /// Stop the whole campaign so many seconds after its first run began
    #[arg(long, value_name = "SECONDS")]
    budget: Option<f64>,
    /// A run that ends its tester, or whose infrastructure fails, is tried so often before it is set aside
    #[arg(long, value_name = "N", default_value_t = 3)]
    tries: u32,
    /// End a run in which nothing happens for so many seconds, and try it again
    #[arg(long, value_name = "SECONDS")]
    run_timeout: Option<f64>,
    /// Runs that a worker takes at once [default: a 50th of all, 50 at most]
    #[arg(long, value_name = "N")]
    range: Option<u64>,
    /// Give the runs of a worker that says nothing for so many seconds to another
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    patience: f64,
    /// Copies that a cluster of servers keeps
    #[arg(long, value_name = "N", default_value_t = 1)]
    replicas: usize,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Args {
    /// The command line that makes all runs in one process.
    fn command(&self) -> Result<Vec<String>, Error> {
        let mut words = vec!["iolite".to_owned()];
        match (&self.campaign, self.line.first().map(String::as_str)) {
            (Some(name), _) => {
                words.extend(["test", "--campaign"].map(str::to_owned));
                words.push(name.clone());
                words.extend(self.line.iter().filter(|w| *w != "test").cloned());
                return crate::project::written_out(words);
            }
            (None, Some("test" | "mutate" | "monitor")) => words.extend(self.line.iter().cloned()),
            (None, Some(other)) => {
                return Err(
                    Error::input(format!("`{other}` is not a command that a fleet runs")).hint(
                        "after `--` comes a command line from `test`, `mutate` or `monitor` on",
                    ),
                );
            }
            (None, None) => {
                return Err(Error::input("there is no campaign").hint(
                    "name one of iolite.toml, or write a command line: \
                     iolite fleet submit -- test MODEL --sut SUT",
                ));
            }
        }
        crate::project::written_out(words)
    }
}

/// A file of the campaign as it travels, with its content.
fn packed(path: &Path) -> Result<(TravellingFile, Vec<u8>), Error> {
    let shown = path.display().to_string();
    let plain = shown.strip_prefix("./").unwrap_or(&shown).to_owned();
    if !is_plain_path(&plain) {
        return Err(Error::input(format!(
            "{shown} is not below the folder in which you submit"
        ))
        .hint("submit from a folder that holds all files of the campaign"));
    }
    let bytes = std::fs::read(path).map_err(|e| Error::reading(path, &e))?;
    let mode = std::fs::metadata(path).map_or(0, |m| m.permissions().mode());
    let file = TravellingFile {
        path: plain,
        sha256: digest(&bytes),
        bytes: bytes.len() as u64,
        executable: mode & 0o111 != 0,
    };
    Ok((file, bytes))
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let command = args.command()?;
    let job = Job::of(&command)?;
    let Prepared {
        items,
        files: mut paths,
        limits,
    } = job.prepare()?;
    for path in &args.with {
        add_all(path, &mut paths, 0)?;
    }
    let (travelling, contents): (Vec<_>, Vec<_>) = paths
        .iter()
        .map(|path| packed(path))
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .unzip();
    let name = args.campaign.as_deref().unwrap_or(job.kind().command());
    let mut description = Description::new(name, job.kind(), command, items);
    description.files = travelling;
    description.needs = args.needs.iter().cloned().collect();
    description.tries = args.tries;
    description.patience = args.patience;
    if let Some(range) = args.range {
        description.range = range;
    }
    description.limits = Limits {
        budget: args.budget.or(limits.budget),
        run_timeout: args.run_timeout,
        ..limits
    };
    description.check().map_err(Error::input)?;
    let programs = job.programs(Path::new("."), false)?;
    let fleet = args.server.connect()?;
    let id = args.id.as_deref();
    let submitted = fleet
        .submit(&description, &contents, id, args.replicas)
        .map_err(error)?;
    let (id, hash) = (&submitted.id, &submitted.hash);
    if args.json {
        print_json(&serde_json::json!({
            "id": id,
            "hash": format!("sha256:{hash}"),
            "items": description.items,
            "known": submitted.known,
            "programs": programs.programs,
            "addresses": programs.addresses,
        }))?;
        return Ok(Exit::Holds);
    }
    let was = if submitted.known {
        "was there already"
    } else {
        "is submitted"
    };
    let mut text = format!(
        "{id} {was}: {}\n",
        counted(description.items, description.kind.noun())
    );
    for program in &programs.programs {
        text += &format!("  starts:   {program}\n");
    }
    for address in &programs.addresses {
        text += &format!("  connects: {address}\n");
    }
    text += &format!("  work:     iolite fleet work --allow sha256:{hash}\n");
    text += &format!("  report:   iolite fleet report {id}\n");
    print(&text)?;
    Ok(Exit::Holds)
}
