//! A running model that another program explores.

use std::time::Duration;

use iolite_derive::ActionId;
use iolite_exec::{Adapter, ExecError, Received, RunningModel, Sent, Traffic};

use crate::ExplicitSpec;

/// A model that plays a system, and is a fault once whoever explores it has failed: its silence would be
/// none of the model's.
pub struct ExploredModel<S> {
    inner: S,
    spec: ExplicitSpec,
}

impl<S> ExploredModel<S> {
    /// The system that plays this specification.
    pub fn new(inner: S, spec: &ExplicitSpec) -> Self {
        Self {
            inner,
            spec: spec.clone(),
        }
    }

    fn believed<T>(
        &mut self,
        act: impl FnOnce(&mut S) -> Result<T, ExecError>,
    ) -> Result<T, ExecError> {
        let result = act(&mut self.inner);
        match self.spec.believe() {
            Ok(()) => result,
            Err(fault) => Err(ExecError::system("the model", fault.message())),
        }
    }
}

impl<S: Adapter> Adapter for ExploredModel<S> {
    fn start(&mut self, seed: u64) -> Result<(), ExecError> {
        self.believed(|inner| inner.start(seed))
    }

    fn poll(&mut self) -> Result<Option<Received>, ExecError> {
        self.believed(S::poll)
    }

    fn send(&mut self, stimulus: ActionId) -> Result<Sent, ExecError> {
        self.believed(|inner| inner.send(stimulus))
    }

    fn receive(&mut self, patience: Duration) -> Result<Received, ExecError> {
        self.believed(|inner| inner.receive(patience))
    }

    fn stop(&mut self) -> Result<(), ExecError> {
        self.inner.stop()
    }

    fn shares_process(&self) -> bool {
        self.inner.shares_process()
    }

    fn is_timed(&self) -> bool {
        self.inner.is_timed()
    }

    fn take_note(&mut self) -> Option<String> {
        self.inner.take_note()
    }

    fn keep_traffic(&mut self, keep: bool) {
        self.inner.keep_traffic(keep);
    }

    fn take_traffic(&mut self, traffic: &mut Vec<Traffic>) {
        self.inner.take_traffic(traffic);
    }
}

impl<S: RunningModel> RunningModel for ExploredModel<S> {
    fn can_move(&mut self) -> Result<bool, ExecError> {
        self.believed(S::can_move)
    }
}
