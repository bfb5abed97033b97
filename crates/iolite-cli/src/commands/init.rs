//! `iolite init`: a first project that runs.

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use iolite::{Error, Starter, StarterKind};

use crate::output::{Exit, print, print_json, status};

/// Write a first project: a model, a system, one with a planted fault, and the commands that test them
///
/// Without --kind it asks, if there is somebody to ask.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where to write it; made if need be, and nothing in it is overwritten
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// How your system is reached
    #[arg(long, value_enum)]
    kind: Option<KindFlag>,
    /// With --kind in-process, which needs it: where the sources of the iolite library are, `crates/iolite` of this project
    #[arg(long, value_name = "FOLDER")]
    library: Option<PathBuf>,
    /// One JSON document: the files written and the commands to run
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum KindFlag {
    /// A program on standard input and output
    Stdio,
    /// A server behind a TCP port
    Tcp,
    /// An HTTP service
    Http,
    /// A Rust crate that tests itself
    InProcess,
}

fn kind(flag: KindFlag, library: Option<&Path>) -> Result<StarterKind, Error> {
    Ok(match flag {
        KindFlag::Stdio => StarterKind::Stdio,
        KindFlag::Tcp => StarterKind::Tcp,
        KindFlag::Http => StarterKind::Http,
        KindFlag::InProcess => {
            let Some(path) = library else {
                return Err(Error::input(
                    "a crate that tests itself depends on the iolite library: say where its sources are",
                )
                .hint("--library PATH, the folder crates/iolite of this project"));
            };
            if !path.join("Cargo.toml").is_file() {
                return Err(Error::input(format!(
                    "{}: no Cargo.toml is there, so it is not the folder of the iolite library",
                    path.display()
                ))
                .hint("it is the folder crates/iolite of this project"));
            }
            let library = std::path::absolute(path).map_err(|e| Error::reading(path, &e))?;
            StarterKind::InProcess { library }
        }
    })
}

#[derive(serde::Serialize)]
struct Document<'a> {
    folder: &'a Path,
    files: Vec<&'a str>,
    commands: &'a [String],
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    status::leave();
    let flag = match args.kind {
        Some(flag) => flag,
        None => ask()?,
    };
    if args.library.is_some() && flag != KindFlag::InProcess {
        return Err(Error::input(
            "--library is for --kind in-process, the only one that is a Rust crate",
        ));
    }
    let starter = Starter::new(&kind(flag, args.library.as_deref())?);
    starter.write(&args.folder)?;
    let files: Vec<&str> = starter.files.iter().map(|f| f.path).collect();
    if args.json {
        print_json(&Document {
            folder: &args.folder,
            files,
            commands: &starter.commands,
        })?;
        return Ok(Exit::Holds);
    }
    let mut text = String::new();
    for file in &starter.files {
        let path = args.folder.join(file.path);
        text.push_str(&format!("wrote {}: {}\n", path.display(), file.about));
    }
    text.push_str("\nnow run\n");
    if args.folder != Path::new(".") {
        text.push_str(&format!("  cd {}\n", args.folder.display()));
    }
    for command in &starter.commands {
        text.push_str(&format!("  {command}\n"));
    }
    print(&text)?;
    Ok(Exit::Holds)
}

/// The kind that somebody at the terminal chooses.
fn ask() -> Result<KindFlag, Error> {
    const QUESTION: &str = "How is your system reached?
  1  a program on standard input and output
  2  a server behind a TCP port
  3  an HTTP service
  4  it is a Rust crate that tests itself
1 to 4 [1]: ";
    let unasked =
        || Error::input("say how your system is reached: --kind stdio, tcp, http or in-process");
    if !std::io::stdin().is_terminal() {
        return Err(unasked());
    }
    let mut error = std::io::stderr().lock();
    for _ in 0..3 {
        let _ = write!(error, "{QUESTION}").and_then(|()| error.flush());
        let mut answer = String::new();
        match std::io::stdin().lock().read_line(&mut answer) {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        match answer.trim() {
            "" | "1" => return Ok(KindFlag::Stdio),
            "2" => return Ok(KindFlag::Tcp),
            "3" => return Ok(KindFlag::Http),
            "4" => return Ok(KindFlag::InProcess),
            _ => {}
        }
    }
    Err(unasked())
}
