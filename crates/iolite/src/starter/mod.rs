//! A first project: a model, a system, one with a planted fault, and how they are tested.

use std::path::{Path, PathBuf};

use crate::Error;
use crate::files::write_whole;

/// How the system of the project is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StarterKind {
    /// A program on standard input and output.
    Stdio,
    /// A server behind a TCP port.
    Tcp,
    /// An HTTP service.
    Http,
    /// A Rust crate that tests itself.
    InProcess {
        /// Where the sources of this library are, which is not in the registry.
        library: PathBuf,
    },
}

/// A file of a project: its path within it, and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StarterFile {
    /// Relative to the project's folder, with `/`.
    pub path: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// What stands in it.
    pub text: String,
}

/// A first project, not yet written.
#[derive(Clone, Debug)]
pub struct Starter {
    /// The files, the README last.
    pub files: Vec<StarterFile>,
    /// The commands that test it, run in its folder: first the system, then the broken one.
    pub commands: Vec<String>,
}

const MODEL: &str = include_str!("files/turnstile.iol");

impl Starter {
    /// A project of a kind.
    pub fn new(kind: &StarterKind) -> Self {
        let (mut files, commands) = match kind {
            StarterKind::Stdio => python(
                "stdio.py",
                include_str!("files/stdio.py"),
                include_str!("files/stdio.toml"),
            ),
            StarterKind::Tcp => python(
                "tcp.py",
                include_str!("files/tcp.py"),
                include_str!("files/tcp.toml"),
            ),
            StarterKind::Http => python(
                "http_service.py",
                include_str!("files/http_service.py"),
                include_str!("files/http.toml"),
            ),
            StarterKind::InProcess { library } => rust(library),
        };
        let text = readme(&files, &commands);
        let model = file("turnstile.iol", "the model: what the system may do", MODEL);
        files.insert(0, model);
        files.push(file("README.md", "how to go on", text));
        Self { files, commands }
    }

    /// Writes the project into a folder, which is made if need be. Nothing is overwritten: if one of the
    /// files is there already, none is written.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        let taken = |f: &&StarterFile| folder.join(f.path).symlink_metadata().is_ok();
        if let Some(there) = self.files.iter().find(taken) {
            return Err(Error::input(format!(
                "{} is there already, and is not overwritten; nothing was written (name another folder)",
                folder.join(there.path).display()
            )));
        }
        for file in &self.files {
            let path = folder.join(file.path);
            let parent = path.parent().unwrap_or(folder);
            std::fs::create_dir_all(parent).map_err(|e| Error::writing(parent, &e))?;
            write_whole(&path, file.text.as_bytes())?;
        }
        Ok(())
    }
}

fn file(path: &'static str, about: &'static str, text: impl Into<String>) -> StarterFile {
    StarterFile {
        path,
        about,
        text: text.into(),
    }
}

/// A system in Python, the program `name` around the turnstile, with the descriptions of both.
fn python(
    name: &'static str,
    program: &'static str,
    description: &str,
) -> (Vec<StarterFile>, Vec<String>) {
    let files = vec![
        file(
            "machine.py",
            "the turnstile, right and broken",
            include_str!("files/machine.py"),
        ),
        file(name, "the system under test", program),
        file(
            "sut.toml",
            "how the system is reached",
            description.replace("@BROKEN@", ""),
        ),
        file(
            "sut-broken.toml",
            "the same with the planted fault",
            description.replace("@BROKEN@", " broken"),
        ),
    ];
    let test = |sut| format!("iolite test turnstile.iol --sut {sut} --steps 30 --stop-on-fail");
    (files, vec![test("sut.toml"), test("sut-broken.toml")])
}

fn rust(library: &Path) -> (Vec<StarterFile>, Vec<String>) {
    // Debug output of a path is a basic string of TOML too, as far as paths are text.
    let dependency = format!("{{ path = {:?} }}", library.display().to_string());
    let files = vec![
        file(
            "Cargo.toml",
            "the crate",
            include_str!("files/manifest.toml").replace("@IOLITE@", &dependency),
        ),
        file(
            "src/lib.rs",
            "the turnstile, right and broken",
            include_str!("files/src/lib.rs"),
        ),
        file(
            "tests/conformance.rs",
            "the tests that drive it",
            include_str!("files/tests/conformance.rs"),
        ),
    ];
    let commands = ["the_turnstile_conforms", "the_planted_fault_is_found"];
    let commands = commands.map(|test| format!("cargo test {test} -- --nocapture"));
    (files, commands.to_vec())
}

fn readme(files: &[StarterFile], commands: &[String]) -> String {
    let rows: Vec<String> = files
        .iter()
        .map(|f| format!("| `{}` | {} |", f.path, f.about))
        .collect();
    let commands: Vec<String> = commands.iter().map(|c| format!("    {c}")).collect();
    include_str!("files/readme.md")
        .replace("@FILES@", &rows.join("\n"))
        .replace("@COMMANDS@", &commands.join("\n"))
}
