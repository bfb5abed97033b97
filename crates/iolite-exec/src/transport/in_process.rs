//! A Rust program under test, driven in process.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use iolite_derive::ActionId;
use iolite_lts::LabelKind;

use crate::codec::concrete_action::without_controls;
use crate::codec::{Dictionary, Message};
use crate::transport::bounds::from_now;
use crate::{Adapter, ConcreteAction, ExecError, Exit, ExitKind, Received, Sent};

/// A system under test in the same process. Its outputs wait until they are asked for.
pub trait SystemUnderTest<A> {
    /// Goes back to the start.
    fn reset(&mut self);

    /// Takes an input.
    fn stimulate(&mut self, stimulus: &A);

    /// The next output that is there now; `None` when the system will give none without another
    /// input. A system with threads of its own waits up to `patience`.
    fn output(&mut self, patience: Duration) -> Option<A>;

    /// Why the last output could not be read, where there was one; it is asked where [`Self::output`] gave none, and no system needs to
    /// say anything here.
    fn unreadable(&mut self) -> Option<String> {
        None
    }
}

/// The adapter of a [`SystemUnderTest`]. A panic of the system is its end, not the tester's.
#[derive(Clone, Debug)]
pub struct InProcess<S> {
    system: S,
    timed: bool,
    panicked: Option<Exit>,
}

impl<S> InProcess<S> {
    /// A system that answers at once: quiescence costs no time.
    pub fn new(system: S) -> Self {
        Self {
            system,
            timed: false,
            panicked: None,
        }
    }

    /// A system with threads of its own, for which waiting means something.
    pub fn timed(system: S) -> Self {
        Self {
            timed: true,
            ..Self::new(system)
        }
    }

    /// The system.
    pub fn system(&self) -> &S {
        &self.system
    }

    /// The next output. One that cannot be read is none that the tester may take for silence.
    fn output(&mut self, patience: Duration) -> Result<Option<ActionId>, ExecError>
    where
        S: SystemUnderTest<ActionId>,
    {
        let output = self.guarded(|s| s.output(patience)).flatten();
        if output.is_some() {
            return Ok(output);
        }
        match self.guarded(S::unreadable).flatten() {
            Some(reason) => Err(ExecError::Undecodable {
                channel: "in process".into(),
                reason: without_controls(&reason).into_owned(),
                dump: String::new(),
            }),
            None => Ok(None),
        }
    }

    fn guarded<T>(&mut self, act: impl FnOnce(&mut S) -> T) -> Option<T> {
        if self.panicked.is_some() {
            return None;
        }
        match catch_unwind(AssertUnwindSafe(|| act(&mut self.system))) {
            Ok(value) => Some(value),
            Err(payload) => {
                let message = payload
                    .downcast_ref::<&str>()
                    .map(|s| (*s).to_owned())
                    .or_else(|| payload.downcast_ref::<String>().cloned())
                    .unwrap_or_else(|| "a panic without a message".into());
                self.panicked = Some(ExitKind::Panicked(message).into());
                None
            }
        }
    }
}

impl<S: SystemUnderTest<ActionId>> Adapter for InProcess<S> {
    fn start(&mut self, _: u64) -> Result<(), ExecError> {
        self.panicked = None;
        self.guarded(S::reset);
        match self.panicked.take() {
            None => Ok(()),
            Some(exit) => Err(ExecError::Reset(exit.to_string())),
        }
    }

    fn poll(&mut self) -> Result<Option<Received>, ExecError> {
        let output = self.output(Duration::ZERO)?;
        Ok(output.map(Received::Output).or_else(|| {
            self.panicked
                .clone()
                .map(|exit| Received::Ended(Box::new(exit)))
        }))
    }

    fn send(&mut self, stimulus: ActionId) -> Result<Sent, ExecError> {
        self.guarded(|s| s.stimulate(&stimulus));
        Ok(Sent::Given)
    }

    fn receive(&mut self, patience: Duration) -> Result<Received, ExecError> {
        let output = self.output(patience)?;
        Ok(match (output, &self.panicked) {
            (Some(output), _) => Received::Output(output),
            (None, Some(exit)) => Received::Ended(Box::new(exit.clone())),
            (None, None) => Received::Nothing,
        })
    }

    fn stop(&mut self) -> Result<(), ExecError> {
        Ok(())
    }

    fn is_timed(&self) -> bool {
        self.timed
    }
}

/// How a system in this process writes actions.
pub trait Notation: Sized {
    /// An input of the system, without `?`.
    fn of_action(action: ConcreteAction) -> Self;

    /// An output of the system, without `!`.
    fn to_action(&self) -> ConcreteAction;
}

/// `coin`, `REQ(3)`.
impl Notation for String {
    fn of_action(action: ConcreteAction) -> Self {
        action.to_string()
    }

    fn to_action(&self) -> ConcreteAction {
        ConcreteAction::parse(self)
    }
}

impl Notation for ConcreteAction {
    fn of_action(action: ConcreteAction) -> Self {
        action
    }

    fn to_action(&self) -> ConcreteAction {
        self.clone()
    }
}

/// A system that speaks of actions by name and values, for a tester with ids.
pub struct NamedSystem<A, S> {
    system: S,
    dictionary: Box<dyn Dictionary>,
    /// Why the last output is no action of the tester's.
    unreadable: Option<String>,
    notation: std::marker::PhantomData<fn() -> A>,
}

impl<A: Notation, S: SystemUnderTest<A>> NamedSystem<A, S> {
    /// The system, and what its names are to the tester. An output that the tester does not know is
    /// an action all the same, which no specification allows.
    pub fn new(system: S, dictionary: impl Dictionary + 'static) -> Self {
        Self {
            system,
            dictionary: Box::new(dictionary),
            unreadable: None,
            notation: std::marker::PhantomData,
        }
    }
}

impl<A: Notation, S: SystemUnderTest<A>> SystemUnderTest<ActionId> for NamedSystem<A, S> {
    fn reset(&mut self) {
        self.unreadable = None;
        self.system.reset();
    }

    fn stimulate(&mut self, stimulus: &ActionId) {
        let action = self.dictionary.write(*stimulus).action;
        self.system.stimulate(&A::of_action(action));
    }

    fn output(&mut self, patience: Duration) -> Option<ActionId> {
        let action = self.system.output(patience)?.to_action();
        let message = Message::exact(&action.to_string());
        let read = self.dictionary.read(LabelKind::Output, &message);
        let foreign = |_| self.dictionary.foreign(LabelKind::Output, &action);
        match read.or_else(foreign) {
            Ok(decoded) => Some(decoded.action),
            Err(reason) => {
                self.unreadable = Some(reason.0);
                None
            }
        }
    }

    fn unreadable(&mut self) -> Option<String> {
        self.unreadable.take()
    }
}

/// A system under test in the same process whose answers are futures, of any runtime or none.
pub trait AsyncSystemUnderTest<A> {
    /// Goes back to the start.
    fn reset(&mut self) -> impl Future<Output = ()>;

    /// Takes an input.
    fn stimulate(&mut self, stimulus: &A) -> impl Future<Output = ()>;

    /// The next output. Must be safe to drop when patience ends (cancel safe): an output that was
    /// not returned is still to come.
    fn output(&mut self) -> impl Future<Output = A>;
}

/// An [`AsyncSystemUnderTest`] as a [`SystemUnderTest`]: each call drives its future on the spot.
/// A system that needs a runtime enters it itself (with a handle that it keeps).
#[derive(Clone, Debug)]
pub struct Blocking<S>(pub S);

impl<A, S: AsyncSystemUnderTest<A>> SystemUnderTest<A> for Blocking<S> {
    fn reset(&mut self) {
        block_on(self.0.reset(), None);
    }

    fn stimulate(&mut self, stimulus: &A) {
        block_on(self.0.stimulate(stimulus), None);
    }

    fn output(&mut self, patience: Duration) -> Option<A> {
        block_on(self.0.output(), Some(from_now(patience)))
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Drives a future on this thread; drops it at the deadline.
pub(crate) fn block_on<T>(future: impl Future<Output = T>, deadline: Option<Instant>) -> Option<T> {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return Some(value);
        }
        match deadline {
            None => thread::park(),
            Some(deadline) => {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return None;
                }
                thread::park_timeout(left);
            }
        }
    }
}
