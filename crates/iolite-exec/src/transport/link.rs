//! One byte-carrying channel to a system under test.
//!
//! Channels are read by the engine's own thread, without blocking, after one `poll` over all of
//! them. There is no reader thread: nothing is read from the operating system that is not known to
//! the half-message rule, a flood stays in the operating system's buffers and stops the sender, and
//! a step costs no hand-over between threads.

use std::os::fd::BorrowedFd;
use std::time::Instant;

use rustix::event::PollFd;

use crate::{ExecError, Exit};

/// Asks whether the system has ended while the tester waits for its connection.
pub(crate) type ExitProbe<'a> = &'a mut dyn FnMut() -> Option<Exit>;

/// Where a system is to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Address<'a> {
    /// It accepts connections there.
    Tcp(&'a str),
    /// It receives datagrams there.
    Udp(&'a str),
}

/// What a channel holds once everything available has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inbox {
    /// A complete message.
    Message,
    /// The beginning of a message.
    Half,
    /// The channel is closed and empty.
    Ended,
    /// Nothing so far; more may come.
    Empty,
}

/// A channel that carries messages.
pub(crate) trait Link: Send {
    /// Prepares the channel before the system is started: a server starts to listen.
    fn prepare(&mut self) -> Result<(), ExecError> {
        Ok(())
    }

    /// The address at which the system will answer, to be free before it is started.
    fn address(&self) -> Option<Address<'_>> {
        None
    }

    /// Connects. `retry` says that the system is just starting, so a refusal is not final.
    fn connect(
        &mut self,
        deadline: Instant,
        retry: bool,
        alive: ExitProbe,
    ) -> Result<(), ExecError>;

    /// Forgets the connection and everything that was read from it.
    fn close(&mut self);

    /// Adds the descriptors whose readiness for reading matters.
    fn readers<'a>(&'a self, fds: &mut Vec<PollFd<'a>>);

    /// The descriptor to wait for while a stimulus is not written out.
    fn writer(&self) -> Option<BorrowedFd<'_>>;

    /// Reads once without blocking; true if bytes or the end of the stream came.
    fn pump(&mut self) -> Result<bool, ExecError>;

    /// Moves the next complete message into `message`.
    fn next(&mut self, message: &mut Vec<u8>) -> Result<bool, ExecError>;

    /// Moves the next complete message into `message`, and reads for it, without blocking, where none
    /// is complete.
    fn receive(&mut self, message: &mut Vec<u8>) -> Result<Inbox, ExecError> {
        loop {
            if self.next(message)? {
                return Ok(Inbox::Message);
            }
            if !self.pump()? {
                return Ok(self.rest());
            }
        }
    }

    /// What the channel holds where no message is complete and there is nothing to read.
    fn rest(&self) -> Inbox {
        if self.half().is_some() {
            Inbox::Half
        } else if self.ended().is_some() {
            Inbox::Ended
        } else {
            Inbox::Empty
        }
    }

    /// The bytes of a message that is not complete.
    fn half(&self) -> Option<&[u8]>;

    /// What would end the message that is not complete, in words, where that can be told.
    fn missing(&self) -> Option<String> {
        None
    }

    /// Bytes that were read and not taken yet.
    fn pending(&self) -> usize;

    /// Whether the system owes an answer that may come after those to later messages.
    fn owes(&self) -> bool {
        false
    }

    /// Whether the system says nothing here but answers, so that nothing is to be expected where it [owes](Self::owes) none.
    fn only_answers(&self) -> bool {
        false
    }

    /// Whether what an earlier run left under way comes here although the channel was closed and opened again: whoever has bound a port
    /// gets the datagrams that are sent there.
    fn is_connectionless(&self) -> bool {
        false
    }

    /// Forgets everything that has come to a channel that is [connectionless](Self::is_connectionless).
    fn discard(&mut self) -> Result<(), ExecError> {
        Ok(())
    }

    /// Gives up answers that the system owes: they are not read any more.
    fn forsake(&mut self) {}

    /// Why the system can give no more messages here.
    fn ended(&self) -> Option<&str>;

    /// Queues a message for writing. A channel that has to connect first may wait for that.
    fn enqueue(&mut self, message: &[u8]) -> Result<(), ExecError>;

    /// Writes as much as possible without blocking; returns how many bytes are left.
    fn flush(&mut self) -> Result<usize, ExecError>;
}
