//! Waiting for descriptors.

use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::ExecError;

/// A descriptor that is waited for to be read.
pub(crate) fn reading(fd: &impl AsFd) -> PollFd<'_> {
    PollFd::new(fd, PollFlags::IN)
}

/// Waits until one of the descriptors is ready or time is over, and says how many are ready; `None`
/// when a signal came first.
pub(crate) fn wait(
    fds: &mut [PollFd<'_>],
    timeout: Option<Duration>,
) -> Result<Option<usize>, ExecError> {
    let timeout = timeout.map(|timeout| Timespec {
        tv_sec: (timeout.as_secs().min(1 << 30) as u32).into(),
        tv_nsec: timeout.subsec_nanos().into(),
    });
    match poll(fds, timeout.as_ref()) {
        Ok(ready) => Ok(Some(ready)),
        Err(rustix::io::Errno::INTR) => Ok(None),
        Err(e) => Err(ExecError::system("poll", e)),
    }
}
