//! A program that answers each line with one line.

use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use crate::transport::bounds::from_now;
use crate::transport::interrupt;
use crate::transport::process::{CommandSpec, Process};
use crate::transport::readiness::{reading, wait};
use crate::transport::stdio::Pipes;
use crate::transport::stream_buffer::StreamBuffer;
use crate::{ExecError, Exit, Interruption};

/// What keeps a hostile program from taking us down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DialogueLimits {
    /// Bytes of one answer.
    pub line_bytes: usize,
    /// How long one answer may take.
    pub answer: Duration,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DialogueError {
    /// It did not start.
    #[error("{0}")]
    Start(ExecError),
    /// It did not answer in time.
    #[error("no answer within {0:?}{1}")]
    Silent(Duration, Stderr),
    /// An answer that does not end.
    #[error("an answer has more than {0} bytes")]
    TooLong(usize),
    /// An answer that is no text.
    #[error("an answer is not UTF-8")]
    NotText,
    /// It wrote although nothing was asked.
    #[error("it wrote a line that nobody asked for: {0}")]
    Unasked(String),
    /// It ended.
    #[error("it ended: {0}")]
    Ended(Exit),
    /// Its pipes are closed, and it goes on.
    #[error("it closed its standard output{0}")]
    Closed(Stderr),
    /// A signal asked this process to end.
    #[error("interrupted by {0}")]
    Interrupted(Interruption),
    /// The operating system.
    #[error("{0}")]
    System(ExecError),
}

/// The last words of a program on standard error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stderr(String);

impl std::fmt::Display for Stderr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            return Ok(());
        }
        write!(f, "; standard error: {}", self.0)
    }
}

/// A child process that is asked and answers, a line each. It ends, with all that it started, when this
/// is dropped.
pub struct Dialogue {
    process: Process,
    pipes: Pipes,
    buffer: StreamBuffer,
    limits: DialogueLimits,
}

impl Dialogue {
    /// Starts the program.
    pub fn start(command: CommandSpec, limits: DialogueLimits) -> Result<Self, DialogueError> {
        let slot = Arc::new(Mutex::new(None));
        let mut process = Process::new(command, Some(Arc::clone(&slot)), Duration::ZERO);
        let deadline = from_now(limits.answer);
        process.start(deadline).map_err(DialogueError::Start)?;
        let pipes = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(pipes) = pipes else {
            let none = ExecError::unreachable("the program", "no pipes");
            return Err(DialogueError::Start(none));
        };
        Ok(Self {
            process,
            pipes,
            buffer: StreamBuffer::new(),
            limits,
        })
    }

    /// Asks a line, without its end; gives the answer, without its end.
    pub fn ask(&mut self, question: &str) -> Result<String, DialogueError> {
        self.buffer.read_from(&mut self.pipes.stdout);
        if !self.buffer.unread().is_empty() {
            let shown: String = String::from_utf8_lossy(self.buffer.unread())
                .chars()
                .take(80)
                .flat_map(char::escape_default)
                .collect();
            return Err(DialogueError::Unasked(shown));
        }
        self.buffer.output.extend_from_slice(question.as_bytes());
        self.buffer.output.push(b'\n');
        let deadline = from_now(self.limits.answer);
        let mut searched = 0;
        loop {
            // A program that is gone does not read: its end is told below.
            let left = self
                .buffer
                .write_to(&mut self.pipes.stdin)
                .unwrap_or_default();
            let read = self.buffer.read_from(&mut self.pipes.stdout);
            let unread = self.buffer.unread();
            if let Some(end) = unread[searched..].iter().position(|&b| b == b'\n') {
                let length = searched + end;
                if length > self.limits.line_bytes {
                    return Err(DialogueError::TooLong(self.limits.line_bytes));
                }
                let line = String::from_utf8(unread[..length].to_vec());
                self.buffer.take(length + 1);
                return line.map_err(|_| DialogueError::NotText);
            }
            searched = unread.len();
            if searched > self.limits.line_bytes {
                return Err(DialogueError::TooLong(self.limits.line_bytes));
            }
            if self.buffer.ended.is_some() {
                return Err(self.ending(deadline));
            }
            if !read {
                self.wait(left > 0, deadline)?;
            }
        }
    }

    /// Waits for something to read, or to write.
    fn wait(&mut self, writes: bool, deadline: Instant) -> Result<(), DialogueError> {
        self.process.drain();
        if let Some(signal) = crate::interrupted() {
            return Err(DialogueError::Interrupted(signal));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let stderr = Stderr(self.process.stderr_text());
            return Err(DialogueError::Silent(self.limits.answer, stderr));
        }
        let mut fds = vec![reading(&self.pipes.stdout)];
        if writes {
            let sink = self.pipes.stdin.as_fd();
            fds.push(PollFd::from_borrowed_fd(sink, PollFlags::OUT));
        }
        self.process.readers(&mut fds);
        if let Some(wake) = interrupt::wake() {
            fds.push(PollFd::from_borrowed_fd(wake, PollFlags::IN));
        }
        wait(&mut fds, Some(left)).map_err(DialogueError::System)?;
        Ok(())
    }

    /// Its output is closed: most often it has ended, or is about to.
    fn ending(&mut self, deadline: Instant) -> DialogueError {
        let soon = from_now(Duration::from_millis(500)).min(deadline);
        loop {
            if let Some(exit) = self.process.exited() {
                return DialogueError::Ended(exit);
            }
            if Instant::now() >= soon {
                return DialogueError::Closed(Stderr(self.process.stderr_text()));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
