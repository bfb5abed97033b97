//! `iolite fleet work`: this machine makes runs of campaigns.

use std::path::{Path, PathBuf};

use iolite::Error;
use iolite_fleet::{
    Accepts, AllowList, Capabilities, Description, MakerSpec, Programs, WorkEnd, WorkOptions,
};

use super::job::Job;
use super::{ServerArgs, error};
use crate::commands::recorded::absolute;
use crate::output::Exit;

/// Make runs of campaigns on this machine
///
/// A campaign can start programs, so only those are run that the allow-list names: by the hash that
/// `iolite fleet submit` prints, or `models` for all that start no program and connect to nothing. Ends
/// with Ctrl-C, after which others make what was begun; with --until-done when nothing is left.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    server: ServerArgs,
    /// A campaign that may be run here: sha256:HASH, or models (repeatable)
    #[arg(long, value_name = "WHAT")]
    allow: Vec<String>,
    /// A file of them, one a line; what follows # is left out
    #[arg(long, value_name = "FILE")]
    allow_list: Option<PathBuf>,
    /// What this machine has, such as device=board7 (repeatable)
    #[arg(long, value_name = "NAME=VALUE", value_parser = Capabilities::parse)]
    offers: Vec<(String, String)>,
    /// Test the system of this description, or this short form, instead of the campaign's own
    #[arg(long, value_name = "SUT")]
    sut: Option<String>,
    /// Only these campaigns (repeatable)
    #[arg(long, value_name = "ID")]
    only: Vec<String>,
    /// Runs at the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = crate::args::parse_jobs)]
    jobs: usize,
    /// End when the campaigns that fit are complete; wait until there is one
    #[arg(long)]
    until_done: bool,
    /// End with exit code 4 when the server has not answered for so long [default: never; 600 with --until-done]
    #[arg(long, value_name = "SECONDS", value_parser = super::seconds)]
    give_up: Option<std::time::Duration>,
    /// What this worker is called [default: the machine's name and a number]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

/// What this command knows of descriptions.
struct Knowledge {
    own_system: bool,
}

impl Accepts for Knowledge {
    fn programs(&self, description: &Description, folder: &Path) -> Result<Programs, String> {
        let job = Job::of(&description.command).map_err(|e| e.message().to_owned())?;
        if job.kind() != description.kind {
            return Err("its command is of another kind".to_owned());
        }
        let programs = job.programs(folder, self.own_system);
        programs.map_err(|e| e.message().to_owned())
    }

    fn say(&self, text: &str) {
        say!("{text}");
    }
}

fn machine() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

/// A system under test as a process in another folder names it.
fn from_anywhere(sut: &str) -> String {
    match sut.strip_prefix("model:") {
        Some(model) => format!("model:{}", absolute(Path::new(model)).display()),
        None if Path::new(sut).is_file() => absolute(Path::new(sut)).display().to_string(),
        None => sut.to_owned(),
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let mut allow = AllowList::default();
    for entry in &args.allow {
        allow
            .add(entry)
            .map_err(|why| Error::input(format!("--allow: {why}")))?;
    }
    if let Some(path) = &args.allow_list {
        let text = std::fs::read_to_string(path).map_err(|e| Error::reading(path, &e))?;
        let added = allow.add_lines(&text);
        added.map_err(|why| Error::input(format!("{}: {why}", path.display())))?;
    }
    if allow.is_empty() {
        return Err(Error::input("nothing may be run here: the allow-list is empty").hint(
            "--allow sha256:HASH names a campaign, as `iolite fleet submit` prints it; --allow models all \
             that start no program",
        ));
    }
    let program = std::env::current_exe()
        .map_err(|e| Error::fault(format!("cannot find this program again: {e}")))?;
    let mut arguments = vec!["fleet".to_owned(), "make".to_owned()];
    if let Some(sut) = &args.sut {
        arguments.push(format!("--sut={}", from_anywhere(sut)));
    }
    let name = args.name.clone();
    let options = WorkOptions {
        name: name.unwrap_or_else(|| format!("{}-{}", machine(), std::process::id())),
        offers: args.offers.iter().cloned().collect(),
        allow,
        only: args.only.clone(),
        lanes: args.jobs,
        until_done: args.until_done,
        give_up: args.give_up.or(args.until_done.then_some(super::GIVE_UP)),
        maker: MakerSpec { program, arguments },
    };
    let fleet = args.server.connect()?;
    let knowledge = Knowledge {
        own_system: args.sut.is_some(),
    };
    match fleet.work(&options, &knowledge).map_err(error)? {
        WorkEnd::Done => Ok(Exit::Holds),
        WorkEnd::Signal(number) => std::process::exit(128 + number),
    }
}
