//! A model with data as the system under test, not unfolded.

use std::time::Duration;

use iolite_sts::{Simulation, SimulationError, ValuedAction};

use crate::model_sut::scheduler_seed;
use crate::{Adapter, ExecError, Received, RunningModel};

/// Where in its text a model's term has no value, for people.
type Placing = Box<dyn Fn(&SimulationError) -> Option<String> + Send>;

/// A model with data that runs. Time does not pass: quiescence is known.
pub struct SymbolicSut {
    simulation: Simulation,
    seed: u64,
    placing: Placing,
    starting: Box<dyn Fn(&Simulation) + Send>,
}

impl SymbolicSut {
    /// Runs a model; `seed` sets its lots apart from those of others.
    pub fn new(simulation: Simulation, seed: u64) -> Self {
        Self {
            simulation,
            seed,
            placing: Box::new(|_| None),
            starting: Box::new(|_| ()),
        }
    }

    /// How errors say where they are.
    #[must_use]
    pub fn placing(
        mut self,
        placing: impl Fn(&SimulationError) -> Option<String> + Send + 'static,
    ) -> Self {
        self.placing = Box::new(placing);
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
        ExecError::Model(match (self.placing)(error) {
            Some(place) => format!("{place}: {error}"),
            None => error.to_string(),
        })
    }
}

impl RunningModel<ValuedAction> for SymbolicSut {
    fn can_move(&mut self) -> Result<bool, ExecError> {
        let quiescent = self.simulation.is_quiescent();
        quiescent.map(|q| !q).map_err(|e| self.fault(&e))
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
