//! The child process: questions, answers, and a hard end.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use crate::solver::Limits;

/// How a question can fail.
#[derive(Debug)]
pub(super) enum Trouble {
    Timeout,
    Memory,
    Died,
    /// It writes what is no answer to anything.
    Noise,
    Confused(String),
}

#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// Texts that a thread writes: a program that does not read must not make us wait for ever.
    questions: Option<SyncSender<String>>,
    lines: Receiver<String>,
    asked: u64,
}

/// Longest answer that is read, in bytes.
const MAX_ANSWER: usize = 16 << 20;
/// Longest line of it. A program that prints without end is stopped here.
const MAX_LINE: u64 = 4 << 20;
/// Lines that wait to be read; the program waits when there are more.
const WAITING: usize = 4;

/// What a program prints for `--version`: a few bytes in a few seconds, whatever it is.
pub(super) fn version(path: &Path) -> std::io::Result<String> {
    let mut child = Command::new(path)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (send, line) = sync_channel(1);
    if let Some(stdout) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut line = Vec::new();
            let read = BufReader::new(stdout.take(MAX_VERSION)).read_until(b'\n', &mut line);
            let _ = send.send(read.map(|_| line));
        });
    }
    let line = line.recv_timeout(HANDSHAKE);
    // It may be gone already; either way nothing is left behind.
    let _ = child.kill();
    let _ = child.wait();
    match line {
        Ok(line) => Ok(String::from_utf8_lossy(&line?).trim().to_owned()),
        Err(_) => Err(std::io::Error::other("it does not tell its version")),
    }
}

/// Longest line for a version, in bytes.
const MAX_VERSION: u64 = 4_096;
/// How long a program may take to say something when it starts.
pub(super) const HANDSHAKE: Duration = Duration::from_secs(5);

impl Process {
    pub(super) fn start(path: &Path, memory_mb: u32) -> Result<Self, Trouble> {
        let name = path
            .file_name()
            .map(|n| n.to_string_lossy().to_lowercase())
            .unwrap_or_default();
        let mut command = Command::new(path);
        if name.contains("z3") {
            command.args(["-in", "-smt2", &format!("-memory:{memory_mb}")]);
        } else if name.contains("cvc") {
            command.args([
                "--incremental",
                "--lang=smt2",
                "--produce-models",
                "--strings-exp",
            ]);
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|_| Trouble::Died)?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Trouble::Died);
        };
        // Bounded, so that a solver that prints without end waits for us.
        let (send, lines) = sync_channel(WAITING);
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            loop {
                let mut line = Vec::new();
                let read = (&mut stdout).take(MAX_LINE).read_until(b'\n', &mut line);
                if !read.is_ok_and(|n| n > 0 && (n as u64) < MAX_LINE) {
                    break;
                }
                let line = String::from_utf8_lossy(&line).into_owned();
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        let (questions, texts) = sync_channel::<String>(WAITING);
        std::thread::spawn(move || {
            let mut stdin = stdin;
            for text in texts {
                let written = stdin.write_all(text.as_bytes());
                if written.and_then(|()| stdin.flush()).is_err() {
                    break;
                }
            }
        });
        Ok(Self {
            child,
            questions: Some(questions),
            lines,
            asked: 0,
        })
    }

    /// Sends commands and returns all that is printed for them.
    pub(super) fn ask(&mut self, commands: &str, limits: &Limits) -> Result<String, Trouble> {
        self.asked += 1;
        let marker = format!("iolite-answer-{}", self.asked);
        let message = format!("{commands}(echo \"{marker}\")\n");
        let sent = self.questions.as_ref().map(|q| q.try_send(message));
        if !matches!(sent, Some(Ok(()))) {
            return Err(Trouble::Died);
        }
        let deadline = limits.deadline();
        let mut output = String::new();
        loop {
            let now = Instant::now();
            let left = match deadline {
                Some(d) if d <= now => return Err(Trouble::Timeout),
                Some(d) => d - now,
                None => Duration::from_secs(3_600),
            };
            match self.lines.recv_timeout(left.min(Duration::from_millis(50))) {
                Ok(line) if line.trim().trim_matches('"') == marker => return Ok(output),
                Ok(line) => {
                    output.push_str(&line);
                    if output.len() > MAX_ANSWER {
                        return Err(Trouble::Noise);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    if self
                        .resident_mb()
                        .is_some_and(|mb| mb > u64::from(limits.memory_mb))
                    {
                        return Err(Trouble::Memory);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(if output.contains("out of memory") {
                        Trouble::Memory
                    } else {
                        Trouble::Died
                    });
                }
            }
        }
    }

    /// Resident memory, where the system shows it.
    fn resident_mb(&self) -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/statm", self.child.id())).ok()?;
        let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
        Some(pages * 4 / 1_024)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.questions = None;
        // It may be gone already; either way nothing is left behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
