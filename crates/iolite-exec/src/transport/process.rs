//! A system under test that is a child process, in a process group of its own.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::PoisonError;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::PollFd;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::codec::concrete_action::without_controls;
use crate::record::traffic::MOST_KEPT;
use crate::transport::bounds::from_now;
use crate::transport::readiness::reading;
use crate::transport::stdio::{PipeSlot, Pipes};
use crate::transport::stream_buffer::{ReadOutcome, read_once};
use crate::transport::{interrupt, process_tree};
use crate::{ExecError, Exit, ExitKind, Traffic, Way};

/// What to start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandSpec {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Working directory; the tester's own when missing.
    pub dir: Option<PathBuf>,
    /// Environment variables to add.
    pub env: Vec<(String, String)>,
    /// A line on standard output that must come before the system counts as started.
    pub ready: Option<String>,
}

/// Bytes of standard error, or of unused standard output, that are kept.
const TAIL: usize = 4096;

/// The last bytes of a stream, and no more.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    bytes: VecDeque<u8>,
    cut: bool,
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        let excess = self.bytes.len().saturating_sub(TAIL);
        self.cut |= excess > 0;
        self.bytes.drain(..excess);
    }

    fn text(&self) -> String {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let cut = if self.cut { "…" } else { "" };
        format!("{cut}{}", without_controls(text.trim_end()))
    }
}

fn nonblocking(fd: impl AsFd) -> Result<(), ExecError> {
    rustix::io::ioctl_fionbio(fd, true).map_err(|e| ExecError::system("cannot set up a pipe", e))
}

/// A child process with its group.
pub(crate) struct Process {
    spec: CommandSpec,
    grace: Duration,
    /// Where standard input and output go when they are a channel.
    slot: Option<PipeSlot>,
    child: Option<Child>,
    stderr: Option<ChildStderr>,
    stderr_tail: Tail,
    /// Standard error that nobody has taken yet, its beginning, and how much there was.
    stderr_news: Vec<u8>,
    stderr_length: usize,
    /// Standard output that is no channel: it is read, so that the system does not block on it.
    stdout: Option<ChildStdout>,
    stdout_tail: Tail,
    /// What tells this start of the system from others, in the environment of its processes.
    mark: String,
    /// Kept open: many programs end at the end of their input.
    stdin: Option<ChildStdin>,
    /// Memory for reads.
    chunk: Box<[u8]>,
}

/// Bytes that are read at a time.
const CHUNK: usize = 4096;

impl Process {
    pub(crate) fn new(spec: CommandSpec, slot: Option<PipeSlot>, grace: Duration) -> Self {
        Self {
            spec,
            grace,
            slot,
            child: None,
            stderr: None,
            stderr_tail: Tail::default(),
            stderr_news: Vec::new(),
            stderr_length: 0,
            stdout: None,
            stdout_tail: Tail::default(),
            mark: String::new(),
            stdin: None,
            chunk: vec![0; CHUNK].into(),
        }
    }

    fn name(&self) -> String {
        format!("command `{}`", self.spec.argv.join(" "))
    }

    pub(crate) fn start(&mut self, deadline: Instant) -> Result<(), ExecError> {
        self.stop();
        let [program, args @ ..] = &*self.spec.argv else {
            return Err(ExecError::Config("the command is empty".into()));
        };
        self.mark = process_tree::new_mark();
        let mut command = Command::new(program);
        command
            .args(args)
            .env(process_tree::MARK, &self.mark)
            .envs(self.spec.env.iter().map(|(k, v)| (k, v)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        if let Some(dir) = &self.spec.dir {
            command.current_dir(dir);
        }
        let mut child = process_tree::start(&mut command, &self.mark)
            .map_err(|e| ExecError::unreachable(self.name(), self.not_started(&e)))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        self.child = Some(child);
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(ExecError::unreachable(self.name(), "no pipes"));
        };
        nonblocking(&stdin)?;
        nonblocking(&stdout)?;
        nonblocking(&stderr)?;
        self.stderr = Some(stderr);
        self.stderr_tail = Tail::default();
        self.forget_stderr();
        self.stdout_tail = Tail::default();
        if let Some(slot) = &self.slot {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(Pipes { stdin, stdout });
            return Ok(());
        }
        self.stdin = Some(stdin);
        self.stdout = Some(stdout);
        self.await_ready(deadline)
    }

    /// Why there is no process, in words that also say what the operating system does not.
    fn not_started(&self, error: &std::io::Error) -> String {
        let program = self.spec.argv.first().map_or("", String::as_str);
        let folder = self.spec.dir.as_ref().filter(|dir| !dir.is_dir());
        match (error.kind(), folder) {
            (_, Some(folder)) => format!("its folder {} is not there", folder.display()),
            (ErrorKind::NotFound, None) if program.contains(' ') => format!(
                "{error}; a list has one word an element: [\"{}\"], or the command is one line of text",
                program
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join("\", \"")
            ),
            (ErrorKind::PermissionDenied, None) => {
                format!(
                    "{error}; it is not executable: name the interpreter too, such as `python3 {program}`, or chmod +x"
                )
            }
            _ => error.to_string(),
        }
    }

    fn await_ready(&mut self, deadline: Instant) -> Result<(), ExecError> {
        let Some(ready) = self.spec.ready.clone() else {
            return Ok(());
        };
        loop {
            interrupt::check()?;
            self.drain();
            if self.stdout_tail.text().contains(&ready) {
                return Ok(());
            }
            if let Some(exit) = self.exited() {
                return Err(ExecError::unreachable(self.name(), exit));
            }
            if Instant::now() >= deadline {
                return Err(ExecError::unreachable(
                    self.name(),
                    format!(
                        "{ready:?} did not come on its standard output, which reads {:?}",
                        self.stdout_tail.text()
                    ),
                ));
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    pub(crate) fn readers<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        fds.extend(self.stderr.as_ref().map(reading));
        fds.extend(self.stdout.as_ref().map(reading));
    }

    /// Reads what the system wrote beside its channels.
    pub(crate) fn drain(&mut self) {
        fn drain(pipe: &mut Option<impl Read>, chunk: &mut [u8], mut taken: impl FnMut(&[u8])) {
            // Bounded, so that a flood here does not keep the channels from being looked at.
            for _ in 0..64 {
                let Some(reader) = pipe else { return };
                match read_once(reader, chunk) {
                    ReadOutcome::Bytes(count) => taken(&chunk[..count]),
                    ReadOutcome::Nothing => return,
                    ReadOutcome::Closed | ReadOutcome::Broken(_) => *pipe = None,
                }
            }
        }
        let Self {
            stderr_tail,
            stdout_tail,
            stderr_news,
            stderr_length,
            chunk,
            ..
        } = self;
        drain(&mut self.stderr, chunk, |bytes| {
            stderr_tail.push(bytes);
            let room = MOST_KEPT.saturating_sub(stderr_news.len());
            stderr_news.extend_from_slice(&bytes[..bytes.len().min(room)]);
            *stderr_length = stderr_length.saturating_add(bytes.len());
        });
        drain(&mut self.stdout, chunk, |bytes| stdout_tail.push(bytes));
    }

    /// Whether something was read from standard error that nobody has asked for.
    pub(crate) fn has_stderr(&self) -> bool {
        self.stderr_length > 0
    }

    /// What was read from standard error since it was last asked for.
    pub(crate) fn take_stderr(&mut self) -> Option<Traffic> {
        if !self.has_stderr() {
            return None;
        }
        let traffic = Traffic::new(Way::Stderr, None, &self.stderr_news, self.stderr_length);
        self.forget_stderr();
        Some(traffic)
    }

    pub(crate) fn forget_stderr(&mut self) {
        self.stderr_news.clear();
        self.stderr_length = 0;
    }

    /// The leader of the process group, and the mark of all that belongs to it.
    pub(crate) fn identity(&self) -> Option<(Pid, &str)> {
        Some((self.pid()?, &self.mark))
    }

    fn pid(&self) -> Option<Pid> {
        let id = i32::try_from(self.child.as_ref()?.id()).ok()?;
        Pid::from_raw(id)
    }

    /// How the process ended, if it has. It is not reaped here: its number, which is the group's,
    /// must not be given to another process before the group is killed.
    pub(crate) fn exited(&mut self) -> Option<Exit> {
        let pid = self.pid()?;
        let status = waitid(
            WaitId::Pid(pid),
            WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT,
        )
        .ok()??;
        let how = match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => ExitKind::Code(code),
            (None, Some(signal)) => ExitKind::Signal(signal),
            (None, None) => return None,
        };
        self.drain();
        Some(Exit {
            how,
            stderr: self.stderr_tail.text(),
            within: None,
        })
    }

    /// The last bytes of standard error.
    pub(crate) fn stderr_text(&mut self) -> String {
        self.drain();
        self.stderr_tail.text()
    }

    /// Ends the whole group and reaps the child.
    pub(crate) fn stop(&mut self) {
        self.stdin = None;
        if let Some(slot) = &self.slot {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        let pid = self.pid();
        if let Some(pid) = pid {
            if !self.grace.is_zero() && self.exited().is_none() {
                let _ = kill_process_group(pid, Signal::TERM);
                let deadline = from_now(self.grace);
                let mut nap = Duration::from_micros(100);
                while self.exited().is_none() && Instant::now() < deadline {
                    self.drain();
                    thread::sleep(nap);
                    nap = (nap * 2).min(Duration::from_millis(5));
                }
            }
            let _ = kill_process_group(pid, Signal::KILL);
        }
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
        if let Some(pid) = pid {
            process_tree::stopped(pid, &self.mark);
        }
        self.stdout = None;
        self.stderr = None;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop();
    }
}
