//! The border between the engine and a system under test.
//!
//! Stimulating and observing are separate: a `step(input) -> output` interface could say neither
//! quiescence nor an unsolicited output.

use std::time::Duration;

use iolite_derive::ActionId;

use crate::{ExecError, Exit, Traffic};

/// What waiting for the system under test gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received<A = ActionId> {
    /// An output.
    Output(A),
    /// Patience ran out, and no part of a message is on its way: δ.
    Nothing,
    /// The system has ended; every output it gave before has been received.
    Ended(Box<Exit>),
}

/// What became of a stimulus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It was given.
    Given,
    /// The system did not take it: only a model does such a thing, which need not be input-enabled.
    Refused {
        /// Where it was, for people.
        reason: String,
    },
}

/// A system under test as the engine drives it. Actions are those of the tester's alphabet.
///
/// A fault is an `Err`, never a [`Received`]: the engine cannot take one for an observation.
pub trait Adapter {
    /// Brings the system to the start of a fresh run: starts it the first time, resets it later.
    /// Nothing that an earlier run left behind can be received afterwards. `seed` is the run's; a
    /// system that chooses at random chooses by it, so that a run can be repeated alone.
    fn start(&mut self, seed: u64) -> Result<(), ExecError>;

    /// Says how long the system may take for what is under way: at the end of a run, as its place asks for, and before a repetition,
    /// which waits longer. A system that goes on is left alone for the longest of these times, and the default timeout, before
    /// the next run [starts](Adapter::start).
    fn leave_time(&mut self, _time: Duration) {}

    /// What is already there, without waiting. The engine asks before every stimulus, because an
    /// output that is there pre-empts it.
    fn poll(&mut self) -> Result<Option<Received>, ExecError>;

    /// Gives a stimulus.
    fn send(&mut self, stimulus: ActionId) -> Result<Sent, ExecError>;

    /// Waits for the next output, at most for `patience` unless a message is half read.
    fn receive(&mut self, patience: Duration) -> Result<Received, ExecError>;

    /// Ends the system and frees what it held. [`Adapter::start`] may follow.
    fn stop(&mut self) -> Result<(), ExecError>;

    /// Whether waiting costs real time. Where it does not, the engine looks at the clock rarely.
    fn is_timed(&self) -> bool {
        true
    }

    /// Whether what the system does may end the tester, as code in the same process may. Everything is then written down before the
    /// system is asked for anything; else within a millisecond.
    fn shares_process(&self) -> bool {
        true
    }

    /// More about the last thing received, for the journal: the bytes of an undecodable message.
    fn take_note(&mut self) -> Option<String> {
        None
    }

    /// Whether bytes are kept for [`Adapter::take_traffic`] from now on. A system without bytes keeps none.
    fn keep_traffic(&mut self, _keep: bool) {}

    /// Replaces what is there, which was told, by the bytes that went either way since the last call, in their order, and what the
    /// system wrote to its standard error. Memory may be used again. Without bytes nothing is there.
    fn take_traffic(&mut self, _traffic: &mut Vec<Traffic>) {}
}

impl<P: Adapter + ?Sized> Adapter for Box<P> {
    fn start(&mut self, seed: u64) -> Result<(), ExecError> {
        (**self).start(seed)
    }

    fn leave_time(&mut self, time: Duration) {
        (**self).leave_time(time);
    }

    #[inline]
    fn poll(&mut self) -> Result<Option<Received>, ExecError> {
        (**self).poll()
    }

    #[inline]
    fn send(&mut self, stimulus: ActionId) -> Result<Sent, ExecError> {
        (**self).send(stimulus)
    }

    #[inline]
    fn receive(&mut self, patience: Duration) -> Result<Received, ExecError> {
        (**self).receive(patience)
    }

    fn stop(&mut self) -> Result<(), ExecError> {
        (**self).stop()
    }

    #[inline]
    fn is_timed(&self) -> bool {
        (**self).is_timed()
    }

    fn shares_process(&self) -> bool {
        (**self).shares_process()
    }

    #[inline]
    fn take_note(&mut self) -> Option<String> {
        (**self).take_note()
    }

    fn keep_traffic(&mut self, keep: bool) {
        (**self).keep_traffic(keep);
    }

    #[inline]
    fn take_traffic(&mut self, traffic: &mut Vec<Traffic>) {
        (**self).take_traffic(traffic);
    }
}
