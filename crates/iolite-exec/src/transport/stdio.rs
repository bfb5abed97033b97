//! Standard input and output of the system's process as a channel.

use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{ChildStdin, ChildStdout};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::ExecError;
use crate::transport::link::ExitProbe;
use crate::transport::stream_buffer::StreamBuffer;
use crate::transport::stream_link::{Endpoint, Stream};

/// Both pipes of a process.
pub(crate) struct Pipes {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
}

impl Stream for Pipes {
    fn source(&mut self) -> &mut impl Read {
        &mut self.stdout
    }

    fn sink(&mut self) -> &mut impl Write {
        &mut self.stdin
    }

    fn source_fd(&self) -> BorrowedFd<'_> {
        self.stdout.as_fd()
    }

    fn sink_fd(&self) -> BorrowedFd<'_> {
        self.stdin.as_fd()
    }
}

/// Where a process that was started leaves its pipes for its channel.
pub(crate) type PipeSlot = Arc<Mutex<Option<Pipes>>>;

/// The pipes of each process that leaves them here.
pub(crate) struct Stdio(pub(crate) PipeSlot);

impl Endpoint for Stdio {
    type Stream = Pipes;

    fn open(
        &mut self,
        _: &mut StreamBuffer,
        _: Instant,
        _: bool,
        _: ExitProbe,
    ) -> Result<Pipes, ExecError> {
        let pipes = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        pipes.ok_or_else(|| {
            ExecError::Reset(
                "standard input and output cannot be reconnected; restart the system".into(),
            )
        })
    }
}
