//! Answers, each made by a process of the `iolite` command with bounds of its own.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use axum::http::StatusCode;
use serde::Serialize;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::sync::Semaphore;

use crate::refusal::Refusal;

/// Commands that work at the same time; others wait.
const AT_ONCE: usize = 3;

/// Bounds of one command. The second is for one that does not keep to the first.
const SECONDS: &str = "20";
const PATIENCE: Duration = Duration::from_secs(30);
const MEMORY: &str = "2G";

/// Bytes of an answer.
const MOST_BYTES: u64 = 32 << 20;

/// What a command is asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ask {
    args: Vec<String>,
    input: Option<String>,
    environment: Vec<(&'static str, String)>,
}

impl Ask {
    /// A command and its arguments, which are not of the request but of our own choosing.
    pub(crate) fn new(args: &[&str]) -> Self {
        Self {
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            input: None,
            environment: Vec::new(),
        }
    }

    /// Something that does not belong into a command line, which others can read.
    pub(crate) fn environment(mut self, name: &'static str, value: &str) -> Self {
        self.environment.push((name, value.to_owned()));
        self
    }

    /// One more argument, checked by whoever adds it.
    pub(crate) fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// The model, as the last argument. One of standard input with a name would be taken for a flag.
    pub(crate) fn model(self, reference: String) -> Self {
        let ask = if reference.starts_with('-') {
            self.arg("--")
        } else {
            self
        };
        ask.arg(reference)
    }

    /// A flag and its value.
    pub(crate) fn flag(self, flag: &str, value: impl Into<String>) -> Self {
        self.arg(flag).arg(value)
    }

    /// The same flag where there is a value.
    pub(crate) fn flag_if(self, flag: &str, value: Option<impl Into<String>>) -> Self {
        match value {
            Some(value) => self.flag(flag, value),
            None => self,
        }
    }

    /// What the command reads from standard input.
    pub(crate) fn input(mut self, text: Option<String>) -> Self {
        self.input = text;
        self
    }

    /// As it would be typed.
    pub(crate) fn line(&self) -> String {
        let quoted = |arg: &String| {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+%@".contains(c);
            if !arg.is_empty() && arg.chars().all(plain) {
                arg.clone()
            } else {
                format!("'{}'", arg.replace('\'', r"'\''"))
            }
        };
        let words = self.args.iter().map(quoted);
        let words = std::iter::once("iolite".to_owned()).chain(words);
        words.collect::<Vec<_>>().join(" ")
    }
}

/// What a command answered.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Answer {
    /// As it would be typed.
    pub(crate) command: String,
    /// 0 to 4, as commands end; `None` where it was ended.
    pub(crate) exit: Option<i32>,
    /// Its document, where it printed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) document: Option<Value>,
    /// What else it printed.
    pub(crate) text: String,
    /// Warnings and errors.
    pub(crate) said: String,
}

/// The command that makes the answers.
#[derive(Debug)]
pub(crate) struct Commands {
    program: PathBuf,
    folder: PathBuf,
    places: Semaphore,
}

impl Commands {
    pub(crate) fn new(program: &Path, folder: &Path) -> Self {
        Self {
            program: program.to_owned(),
            folder: folder.to_owned(),
            places: Semaphore::new(AT_ONCE),
        }
    }

    /// The process of an ask, not started. It ends when nobody waits for it any more.
    pub(crate) fn process(&self, ask: &Ask) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&ask.args)
            .current_dir(&self.folder)
            .env("NO_COLOR", "1")
            .envs(ask.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// Lets the command answer.
    pub(crate) async fn answer(&self, ask: Ask) -> Result<Answer, Refusal> {
        let line = ask.line();
        let failed = |what: &str| {
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            Refusal::new(status, format!("{line}: {what}"))
        };
        let Ok(_place) = self.places.acquire().await else {
            return Err(failed("the server ends"));
        };
        let mut bounded = ask.clone();
        // Behind the name of the command, since the model may come behind `--`.
        let bounds = ["--timeout", SECONDS, "--max-memory", MEMORY].map(str::to_owned);
        bounded.args.splice(1..1, bounds);
        let mut child = self
            .process(&bounded)
            .spawn()
            .map_err(|e| failed(&e.to_string()))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(failed("no pipes"));
        };
        let input = ask.input.unwrap_or_default();
        let work = async {
            // A command that does not read its input is no fault of the request.
            let write = async {
                let _ = stdin.write_all(input.as_bytes()).await;
                drop(stdin);
            };
            let ((), text, said) = tokio::join!(write, read(stdout), read(stderr));
            (text, said, child.wait().await)
        };
        let Ok((text, said, ended)) = tokio::time::timeout(PATIENCE, work).await else {
            return Err(failed("does not end"));
        };
        let ended = ended.map_err(|e| failed(&e.to_string()))?;
        let (Some(text), Some(said)) = (text, said) else {
            return Err(failed("the answer is too long"));
        };
        let document = serde_json::from_str(&text).ok();
        Ok(Answer {
            command: line,
            exit: ended.code(),
            text: if document.is_some() {
                String::new()
            } else {
                text
            },
            document,
            said,
        })
    }
}

/// Everything that comes, as text; `None` where it is too much.
async fn read(from: impl AsyncRead + Unpin) -> Option<String> {
    let mut bytes = Vec::new();
    let mut from = from.take(MOST_BYTES + 1);
    let read = from.read_to_end(&mut bytes).await;
    (read.is_ok() && bytes.len() as u64 <= MOST_BYTES)
        .then(|| String::from_utf8_lossy(&bytes).into_owned())
}
