//! A model with data as the system under test, not unfolded.

use std::time::Duration;

use iolite_derive::ActionId;
use iolite_lts::LabelKind;
use iolite_sts::{Simulation, SimulationError, ValuedAction};

use crate::codec::{Dictionary, Message, concrete, valued};
use crate::transport::model_sut::scheduler_seed;
use crate::{Adapter, ExecError, Received, RunningModel, Sent};

/// Why a model does not run on, for people.
type Telling = Box<dyn Fn(&SimulationError) -> String + Send>;

/// A model with data that runs. Time does not pass: quiescence is known.
pub struct SymbolicSut {
    simulation: Simulation,
    dictionary: Box<dyn Dictionary>,
    seed: u64,
    telling: Telling,
    starting: Box<dyn Fn(&Simulation) + Send>,
}

impl SymbolicSut {
    /// Runs a model for a tester whose actions the dictionary knows; `seed` sets its random choices
    /// apart from those of others.
    pub fn new(simulation: Simulation, dictionary: impl Dictionary + 'static, seed: u64) -> Self {
        Self {
            simulation,
            dictionary: Box::new(dictionary),
            seed,
            telling: Box::new(ToString::to_string),
            starting: Box::new(|_| ()),
        }
    }

    /// How errors are put into words: whoever knows the model's text also knows the place.
    #[must_use]
    pub fn telling(
        mut self,
        telling: impl Fn(&SimulationError) -> String + Send + 'static,
    ) -> Self {
        self.telling = Box::new(telling);
        self
    }

    /// Called when a run has started.
    #[must_use]
    pub fn starting(mut self, starting: impl Fn(&Simulation) + Send + 'static) -> Self {
        self.starting = Box::new(starting);
        self
    }

    /// The model as it runs.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    fn refused(&self) -> Sent {
        Sent::Refused {
            reason: format!(
                "the model under test does not take it in state {}; complete its inputs",
                self.simulation.describe()
            ),
        }
    }

    /// What an output of the model is to the tester.
    fn output(&self, output: &ValuedAction) -> Result<Received, ExecError> {
        let message = Message::typed(concrete(self.simulation.model(), output));
        let read = self.dictionary.read(LabelKind::Output, &message);
        let foreign = |_| self.dictionary.foreign(LabelKind::Output, &message.action);
        let decoded = read.or_else(foreign).map_err(|e| ExecError::Config(e.0))?;
        Ok(Received::Output(decoded.action))
    }

    fn fault(&self, error: &SimulationError) -> ExecError {
        ExecError::Model((self.telling)(error))
    }
}

impl RunningModel for SymbolicSut {
    fn can_move(&mut self) -> Result<bool, ExecError> {
        match self.simulation.is_quiescent() {
            Ok(quiescent) => Ok(!quiescent),
            // Whoever waits for it gets the error.
            Err(SimulationError::Undecided { .. }) => Ok(true),
            Err(error) => Err(self.fault(&error)),
        }
    }
}

impl Adapter for SymbolicSut {
    fn start(&mut self, seed: u64) -> Result<(), ExecError> {
        let started = self.simulation.start(scheduler_seed(self.seed, seed));
        started.map_err(|e| self.fault(&e))?;
        (self.starting)(&self.simulation);
        Ok(())
    }

    /// A race between the waiting stimulus and what the model may do by itself.
    fn poll(&mut self) -> Result<Option<Received>, ExecError> {
        let output = self.simulation.race().map_err(|e| self.fault(&e))?;
        output.map(|output| self.output(&output)).transpose()
    }

    fn send(&mut self, stimulus: ActionId) -> Result<Sent, ExecError> {
        let message = self.dictionary.write(stimulus);
        let Ok(input) = valued(self.simulation.model(), LabelKind::Input, &message) else {
            // An input that the model does not have.
            let taken = self.simulation.refuse();
            return Ok(if taken { Sent::Given } else { self.refused() });
        };
        match self.simulation.input(&input) {
            Ok(true) => Ok(Sent::Given),
            Ok(false) => Ok(self.refused()),
            Err(error) => Err(self.fault(&error)),
        }
    }

    fn receive(&mut self, _: Duration) -> Result<Received, ExecError> {
        let output = self.simulation.observe().map_err(|e| self.fault(&e))?;
        output.map_or(Ok(Received::Nothing), |output| self.output(&output))
    }

    fn stop(&mut self) -> Result<(), ExecError> {
        Ok(())
    }

    /// A model takes nothing down.
    fn shares_process(&self) -> bool {
        false
    }

    fn is_timed(&self) -> bool {
        false
    }
}
