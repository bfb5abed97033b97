//! The child process: questions, answers, and a hard end.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use crate::solver::Limits;

/// How a question can fail.
#[derive(Debug)]
pub(super) enum Trouble {
    Timeout,
    Memory,
    Died,
    Confused(String),
}

#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    asked: u64,
}

/// Longest answer that is read, in bytes.
const MAX_ANSWER: usize = 64 << 20;

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
        let (send, lines) = sync_channel(1_024);
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let Ok(line) = line else { break };
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self {
            child,
            stdin: Some(stdin),
            lines,
            asked: 0,
        })
    }

    /// Sends commands and returns all that is printed for them.
    pub(super) fn ask(&mut self, commands: &str, limits: &Limits) -> Result<String, Trouble> {
        self.asked += 1;
        let marker = format!("iolite-answer-{}", self.asked);
        let message = format!("{commands}(echo \"{marker}\")\n");
        let Some(stdin) = &mut self.stdin else {
            return Err(Trouble::Died);
        };
        stdin
            .write_all(message.as_bytes())
            .and_then(|()| stdin.flush())
            .map_err(|_| Trouble::Died)?;
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
                    output.push('\n');
                    if output.len() > MAX_ANSWER {
                        return Err(Trouble::Memory);
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
        self.stdin = None;
        // It may be gone already; either way nothing is left behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
