//! What a campaign's command line asks for, checked for being one that a fleet can run.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use clap::Parser;
use iolite::{Campaign, Error, Judge, ModelRef, Relation, Target, Workspace, explorer_command};
use iolite_exec::{SutConfig, System};
use iolite_fleet::{Kind, Limits, Programs};

use crate::args::workspace;
use crate::commands::test_suite::AnyCase;
use crate::commands::{monitor, mutate, test};
use crate::{Cli, Command};

/// The job of a campaign.
pub(super) enum Job {
    Test(Box<test::Args>),
    Mutate(Box<mutate::Args>),
    Monitor(Box<monitor::Args>),
}

/// What is known of a campaign before it is submitted.
#[derive(Default)]
pub(super) struct Prepared {
    pub(super) items: u64,
    pub(super) files: BTreeSet<PathBuf>,
    pub(super) limits: Limits,
}

/// A test that is set up.
pub(super) struct TestSetup {
    pub(super) workspace: Workspace,
    pub(super) target: Target,
    pub(super) campaign: Campaign,
    /// The test cases of a suite.
    pub(super) cases: Option<Vec<AnyCase>>,
}

impl TestSetup {
    pub(super) fn new(args: &test::Args) -> Result<Self, Error> {
        let workspace = workspace(&args.read);
        let target = Target::new(&workspace, &args.target_options())?;
        let campaign = args.campaign(&workspace, &target)?;
        let cases = if args.suite.is_empty() {
            None
        } else {
            Some(AnyCase::all(args, &workspace, &campaign)?)
        };
        Ok(Self {
            workspace,
            target,
            campaign,
            cases,
        })
    }

    /// Runs of the whole campaign.
    pub(super) fn items(&self, args: &test::Args) -> u64 {
        match &self.cases {
            Some(cases) => (cases.len() as u64).saturating_mul(args.repeat),
            None => args.effort.number_of_runs(),
        }
    }
}

impl Job {
    /// Reads the command line of a campaign. What it starts, and where it may write, is not left to it.
    pub(super) fn of(command: &[String]) -> Result<Self, Error> {
        if let Some(word) = command.iter().skip(2).find(|word| leaves_folder(word)) {
            return Err(
                Error::input(format!("{word}: a campaign's files are below its folder"))
                    .hint("submit from a folder that holds all of them, and name them from there"),
            );
        }
        let parsed = Cli::try_parse_from(command).map_err(|e| Error::input(e.to_string()))?;
        let first = |flags: &[(bool, &'static str)]| {
            let given = flags.iter().find(|(given, _)| *given);
            given.map(|(_, flag)| *flag)
        };
        let refused = |flag: Option<&str>| match flag {
            Some(flag) => Err(Error::input(format!("{flag} is not of a campaign"))),
            None => Ok(()),
        };
        match parsed.command {
            Command::Mutate(args) => {
                refused(first(&[
                    (args.folder.is_some(), "-o"),
                    (args.partition.is_some(), "--partition"),
                    (args.range.is_some(), "--range"),
                    (args.jobs.is_some_and(|jobs| jobs > 1), "--jobs"),
                    (args.json, "--json"),
                ]))?;
                Ok(Self::Mutate(args))
            }
            Command::Monitor(args) => {
                refused(first(&[
                    (args.partition.is_some(), "--partition"),
                    (args.run.is_some(), "--run"),
                    (args.certificate.is_some(), "--certificate"),
                    (args.picture.is_some(), "--picture"),
                    (args.json, "--json"),
                    (
                        args.data.unknown_query.components().count() != 1,
                        "--unknown-query",
                    ),
                ]))?;
                if args.logs.is_empty() {
                    return Err(Error::input(
                        "a campaign of `iolite monitor` has a MODEL and LOGs",
                    ));
                }
                Ok(Self::Monitor(Box::new(args)))
            }
            Command::Test(args) => {
                let elsewhere = args.report.given();
                let elsewhere = elsewhere.map(|flag| (flag, "`iolite fleet report`"));
                let of_process = args.effort.of_process();
                let of_process = of_process.map(|flag| (flag, "the workers"));
                if let Some((flag, whose)) = elsewhere.or(of_process) {
                    return Err(Error::input(format!(
                        "{flag} is not of a campaign: it is for {whose}"
                    )));
                }
                if args.judge.relation == Relation::Conf {
                    return Err(Error::input(
                        "a fleet does not test conf: it has no runs by number",
                    ));
                }
                if args.data.unknown_query.components().count() != 1 {
                    return Err(Error::input("--unknown-query is not of a campaign"));
                }
                Ok(Self::Test(args))
            }
            _ => Err(Error::input(
                "a campaign is one of `iolite test`, `iolite mutate` or `iolite monitor`",
            )),
        }
    }

    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Test(_) => Kind::Test,
            Self::Mutate(_) => Kind::Mutate,
            Self::Monitor(_) => Kind::Monitor,
        }
    }

    /// Sets the whole campaign up, so that mistakes are found before anybody works on them.
    pub(super) fn prepare(&self) -> Result<Prepared, Error> {
        let mut prepared = Prepared::default();
        match self {
            Self::Test(args) => {
                let setup = TestSetup::new(args)?;
                setup.campaign.prepare(&setup.workspace, &setup.target)?;
                let properties = matches!(setup.campaign.judge(), Judge::Properties(_));
                if args.effort.until_coverage.is_some() && properties {
                    return Err(Error::input(
                        "--until-coverage is for models: properties alone have nothing that is covered",
                    ));
                }
                prepared.files = files(args, &setup)?;
                prepared.items = setup.items(args);
                prepared.limits = Limits {
                    stop_on_fail: args.effort.stop_on_fail,
                    until_coverage: args.effort.until_coverage,
                    budget: args.effort.time,
                    keep_going: args.effort.keep_going,
                    run_timeout: None,
                };
            }
            Self::Mutate(args) => {
                let workspace = workspace(&args.read);
                prepared.items = workspace.count_mutants(&args.model, &args.options())? as u64;
                prepared.files = workspace.hashes().into_keys().collect();
                // A mutant that cannot be looked at is named, and the others are looked at.
                prepared.limits.keep_going = true;
                for path in &args.suite {
                    add_all(&file_of(path), &mut prepared.files, 0)?;
                }
            }
            Self::Monitor(args) => {
                let workspace = workspace(&args.read);
                prepared.items = args.logs.len() as u64;
                prepared.limits.keep_going = true;
                let references = args.properties.property.iter().chain([&args.model]);
                let references = references
                    .chain(&args.judge.observer)
                    .chain(&args.judge.purpose);
                for reference in references.filter(|r| r.path().is_file()) {
                    workspace.source(reference.path())?;
                }
                prepared.files = workspace.hashes().into_keys().collect();
                prepared.files.extend(args.logs.iter().cloned());
                prepared.files.extend(args.templates.clone());
            }
        }
        Ok(prepared)
    }

    /// What the campaign would start or connect to, with its files in `folder`; `own_system` where the
    /// worker has its own description of the system.
    pub(super) fn programs(&self, folder: &Path, own_system: bool) -> Result<Programs, Error> {
        let mut found = Programs::default();
        let mut explored = |models: &mut dyn Iterator<Item = &ModelRef>| {
            let commands = models.filter_map(|m| explorer_command(m).map(str::to_owned));
            found.programs.extend(commands);
        };
        let args = match self {
            Self::Test(args) => args,
            Self::Mutate(args) => {
                explored(&mut args.options().properties.iter().chain([&args.model]));
                return Ok(found);
            }
            Self::Monitor(args) => {
                let models = args.judge.observer.iter().chain(&args.judge.purpose);
                explored(&mut models.chain(&args.properties.property).chain([&args.model]));
                let solver = args.data.solver.iter().filter(|p| *p != "embedded");
                found.programs.extend(solver.cloned());
                return Ok(found);
            }
        };
        found
            .programs
            .extend(args.programs().filter(|p| p != "embedded"));
        let models = args.judge.observer.iter().chain(&args.judge.purpose);
        found
            .programs
            .extend(models.filter_map(|m| explorer_command(m).map(str::to_owned)));
        if own_system {
            return Ok(found);
        }
        let sut = &args.target.sut;
        let file = folder.join(sut);
        let config = if sut.contains(':') && !file.is_file() {
            SutConfig::from_flag(sut)
        } else {
            SutConfig::load(&file)
        };
        match config.map_err(|e| Error::input(e.to_string()))?.system {
            System::Model(model) => {
                let reference = ModelRef::from(model.as_str());
                found
                    .programs
                    .extend(explorer_command(&reference).map(str::to_owned));
                let path = reference.path();
                let below = path.strip_prefix(folder).unwrap_or(path);
                if below
                    .components()
                    .any(|c| !matches!(c, Component::Normal(_)))
                {
                    return Err(Error::input(format!(
                        "{model} is not below the campaign's folder"
                    )));
                }
            }
            System::Channels { process, channels } => {
                if let Some(process) = process {
                    let words = process.command.words();
                    let words = words.map_err(|e| Error::input(e.to_string()))?;
                    found.programs.push(words.join(" "));
                }
                let addresses = channels.iter().filter(|c| !c.transport.is_stdio());
                found
                    .addresses
                    .extend(addresses.map(|c| format!("{:?}", c.transport)));
            }
        }
        Ok(found)
    }
}

/// The files that a test reads, as its command line names them.
fn files(args: &test::Args, setup: &TestSetup) -> Result<BTreeSet<PathBuf>, Error> {
    let mut files: BTreeSet<PathBuf> = setup.workspace.hashes().into_keys().collect();
    let sut = Path::new(&args.target.sut);
    if sut.is_file() {
        files.insert(sut.to_owned());
    }
    files.extend(args.values.dictionary.iter().cloned());
    for path in &args.suite {
        add_all(&file_of(path), &mut files, 0)?;
    }
    Ok(files)
}

/// The file of `FILE.iol#T`.
fn file_of(path: &Path) -> PathBuf {
    let text = path.display().to_string();
    match text.split_once('#') {
        Some((file, _)) if !path.exists() => PathBuf::from(file),
        _ => path.to_owned(),
    }
}

/// Folders within folders that are looked into.
const MOST_NESTED: usize = 32;

/// A file, or all files of a folder.
pub(super) fn add_all(
    path: &Path,
    files: &mut BTreeSet<PathBuf>,
    nested: usize,
) -> Result<(), Error> {
    if !path.is_dir() || nested > MOST_NESTED {
        files.insert(path.to_owned());
        return Ok(());
    }
    let entries = std::fs::read_dir(path).map_err(|e| Error::reading(path, &e))?;
    for entry in entries {
        let entry = entry.map_err(|e| Error::reading(path, &e))?;
        add_all(&entry.path(), files, nested + 1)?;
    }
    Ok(())
}

/// Whether a word of a command line names something outside of the campaign's folder.
fn leaves_folder(word: &str) -> bool {
    let value = match word.strip_prefix("--") {
        Some(flag) => flag.split_once('=').map_or("", |(_, value)| value),
        None => word,
    };
    let value = value.strip_prefix("model:").unwrap_or(value);
    let foreign = ["cmd:", "ltl:", "explore:"];
    if foreign.iter().any(|prefix| value.starts_with(prefix)) || value.contains("://") {
        return false;
    }
    let path = value.split('#').next().unwrap_or(value);
    let leaves = |c: Component| matches!(c, Component::ParentDir | Component::RootDir);
    Path::new(path).components().any(leaves)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(line: &str) -> Result<Job, String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        Job::of(&words).map_err(|e| e.to_string())
    }

    #[test]
    fn hostile_command_lines_are_refused() {
        assert!(job("iolite test a.iol --sut model:b.iol --runs 5").is_ok());
        for wrong in [
            "iolite test /etc/passwd --sut model:b.iol",
            "iolite test a.iol --sut model:../b.iol",
            "iolite test a.iol --sut model:b.iol --journal=x",
            "iolite test a.iol --sut model:b.iol --journal /etc/cron.d/x",
            "iolite test a.iol --sut model:b.iol --junit x",
            "iolite test a.iol --sut model:b.iol --certificate x",
            "iolite test a.iol --sut model:b.iol --events x",
            "iolite test a.iol --sut model:b.iol --coverage x",
            "iolite test a.iol --sut model:b.iol --report x",
            "iolite test a.iol --sut model:b.iol --unknown-query a/b",
            "iolite test a.iol --sut model:b.iol --unknown-query=/x",
            "iolite test a.iol --sut model:b.iol --range 0..5",
            "iolite test a.iol --sut model:b.iol --jobs 2",
            "iolite test a.iol --sut model:b.iol --steer",
            "iolite test a.iol --sut model:b.iol --suite ../x",
            "iolite mutate a.iol -o /tmp/x",
            "iolite mutate a.iol -o x",
            "iolite mutate a.iol --range 0..1",
            "iolite monitor a.iol l.jsonl --certificate x",
            "iolite monitor a.iol ../l.jsonl",
            "iolite serve",
            "iolite fleet work",
            "iolite",
            "iolite test",
        ] {
            assert!(job(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn programs_are_found() {
        let programs = |line: &str| {
            let found = job(line).unwrap().programs(Path::new("."), false).unwrap();
            (found.programs, found.addresses.len())
        };
        assert_eq!(programs("iolite test a.iol --sut model:b.iol"), (vec![], 0));
        assert_eq!(programs("iolite test a.iol --sut=cmd:sh").0[0], "sh");
        assert_eq!(programs("iolite test a.iol --sut tcp:h:1"), (vec![], 1));
        let solver = programs("iolite test a.iol --sut model:b.iol --solver z3");
        assert_eq!(solver, (vec!["z3".to_owned()], 0));
        let explorer = programs("iolite test explore:sh --sut model:b.iol");
        assert_eq!(explorer, (vec!["sh".to_owned()], 0));
        assert_eq!(
            programs("iolite test a.iol --sut model:explore:sh").0[0],
            "sh"
        );
    }
}
