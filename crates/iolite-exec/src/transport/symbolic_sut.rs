//! A model with data as the system under test, not unfolded.

use std::time::Duration;

use iolite_sts::{Simulation, SimulationError, ValuedAction};

use crate::transport::model_sut::scheduler_seed;
use crate::{Adapter, ExecError, Received, RunningModel};

/// Why a model does not run on, for people.
type Telling = Box<dyn Fn(&SimulationError) -> String + Send>;

/// A model with data that runs. Time does not pass: quiescence is known.
pub struct SymbolicSut {
    simulation: Simulation,
    seed: u64,
    telling: Telling,
    starting: Box<dyn Fn(&Simulation) + Send>,
}

impl SymbolicSut {
    /// Runs a model; `seed` sets its lots apart from those of others.
    pub fn new(simulation: Simulation, seed: u64) -> Self {
        Self {
            simulation,
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

    /// Who is told when a run has started.
    #[must_use]
    pub fn starting(mut self, starting: impl Fn(&Simulation) + Send + 'static) -> Self {
        self.starting = Box::new(starting);
        self
    }

    /// The model as it runs.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Meets an input that the model does not have.
    pub fn send_foreign(&mut self, stimulus: &str) -> Result<(), ExecError> {
        if self.simulation.refuse() {
            return Ok(());
        }
        Err(self.refused(stimulus.to_owned()))
    }

    fn refused(&self, stimulus: String) -> ExecError {
        ExecError::Refused {
            stimulus,
            reason: format!(
                "the model under test does not take it in state {}; complete its inputs",
                self.simulation.describe()
            ),
        }
    }

    fn fault(&self, error: &SimulationError) -> ExecError {
        ExecError::Model((self.telling)(error))
    }
}

impl RunningModel<ValuedAction> for SymbolicSut {
    fn can_move(&mut self) -> Result<bool, ExecError> {
        match self.simulation.is_quiescent() {
            Ok(quiescent) => Ok(!quiescent),
            // Whoever waits for it will hear of it.
            Err(SimulationError::Undecided { .. }) => Ok(true),
            Err(error) => Err(self.fault(&error)),
        }
    }
}

impl Adapter<ValuedAction> for SymbolicSut {
    fn start(&mut self, seed: u64) -> Result<(), ExecError> {
        let started = self.simulation.start(scheduler_seed(self.seed, seed));
        started.map_err(|e| self.fault(&e))?;
        (self.starting)(&self.simulation);
        Ok(())
    }

    /// A race between the waiting stimulus and what the model may do by itself.
    fn poll(&mut self) -> Result<Option<Received<ValuedAction>>, ExecError> {
        let output = self.simulation.race().map_err(|e| self.fault(&e))?;
        Ok(output.map(Received::Output))
    }

    fn send(&mut self, stimulus: &ValuedAction) -> Result<(), ExecError> {
        match self.simulation.input(stimulus) {
            Ok(true) => Ok(()),
            Ok(false) => {
                let label = self.simulation.model().label(stimulus);
                Err(self.refused(format!("?{label}")))
            }
            Err(error) => Err(self.fault(&error)),
        }
    }

    fn receive(&mut self, _: Duration) -> Result<Received<ValuedAction>, ExecError> {
        let output = self.simulation.observe().map_err(|e| self.fault(&e))?;
        Ok(output.map_or(Received::Nothing, Received::Output))
    }

    fn stop(&mut self) -> Result<(), ExecError> {
        Ok(())
    }

    fn is_timed(&self) -> bool {
        false
    }
}
