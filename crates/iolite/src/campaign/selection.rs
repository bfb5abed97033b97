//! How the next step is chosen.

use std::sync::{Arc, OnceLock};

use iolite_derive::{Alphabet, Context};
use iolite_exec::{Patient, Uniform, Weighted, WithoutWeightless};

use super::SymbolicJudge;
use super::examined_goals::ExaminedGoals;
use super::judge::{AnyStrategy, AnyTester, Judge};
use super::shared_constants::SharedConstants;
use super::shared_coverage::SharedCoverage;
use super::weights::{ActionWeight, InputWeights};
use crate::{Cover, Error};

/// How the next step is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Selection {
    /// Stimulating and observing alike; with --observer or --purpose, mostly the shortest way there
    #[default]
    Uniform,
    /// By --weights
    Weighted,
    /// Towards what of the model no run has seen yet: transitions, or what --cover names
    Coverage,
}

/// Which steps a campaign chooses.
#[derive(Clone, Debug, Default)]
pub struct SelectionOptions {
    /// The strategy.
    pub selection: Selection,
    /// Weights for stopping, stimulating and observing.
    pub weights: Vec<f64>,
    /// How often inputs are chosen beside the others.
    pub inputs: Vec<ActionWeight>,
    /// Whether coverage is asked for, so that a model that is too large for it is an error.
    pub coverage_asked: bool,
    /// What is to be covered, where somebody says so; transitions otherwise.
    pub cover: Option<Cover>,
}

impl SelectionOptions {
    fn check_cover(&self, judge: &Judge, asked: bool) -> Result<(), Error> {
        let Some(cover) = self.cover else {
            return Ok(());
        };
        if !asked {
            return Err(Error::input(
                "--cover says what --strategy coverage and --until-coverage look at, and neither is given",
            ));
        }
        match judge {
            Judge::Explicit(_) if cover != Cover::Transitions => Err(Error::input(
                "of a model without data, or one that is unfolded, transitions are covered, and nothing else",
            )),
            _ => Ok(()),
        }
    }
}

/// Sets of the suspension automaton up to which coverage is recorded without being asked for.
const COVERAGE_LIMIT: usize = 20_000;

/// The same, where the user asks for coverage.
const COVERAGE_LIMIT_ASKED: usize = 5_000_000;

/// Goals that the first who asks examines, for all who ask.
pub(super) type SharedGoals = Arc<OnceLock<Arc<ExaminedGoals>>>;

/// How the next step is chosen, with everything checked.
pub(crate) struct Chooser {
    selection: Selection,
    weights: Option<(f64, f64, f64)>,
    inputs: Option<InputWeights>,
    asked: bool,
    seen: Option<SharedCoverage>,
    learnt: SharedConstants,
    cover: Cover,
    /// The goals of a model with data, for all jobs.
    examined: SharedGoals,
}

impl Chooser {
    /// Options that belong together, and the weights of the inputs.
    pub(super) fn new(
        options: &SelectionOptions,
        judge: &Judge,
        (seen, learnt): (Option<SharedCoverage>, SharedConstants),
        examined: SharedGoals,
    ) -> Result<Self, Error> {
        let weights = match options.weights.as_slice() {
            [stop, stimulate, observe] => Some((*stop, *stimulate, *observe)),
            _ => None,
        };
        if (options.selection == Selection::Weighted) != weights.is_some() {
            return Err(Error::input(
                "--strategy weighted and --weights STOP,STIMULATE,OBSERVE belong together",
            ));
        }
        let labels = match judge {
            Judge::Explicit(judge) => Some(&**judge.spec().labels()),
            Judge::Symbolic(_) | Judge::Properties(_) => None,
        };
        let inputs = match options.inputs.as_slice() {
            [] => None,
            given => Some(InputWeights::new(given, &judge.actions(), labels)?),
        };
        let asked = options.coverage_asked || options.selection == Selection::Coverage;
        options.check_cover(judge, asked)?;
        Ok(Self {
            selection: options.selection,
            weights,
            inputs,
            asked,
            seen,
            learnt,
            cover: options.cover.unwrap_or_default(),
            examined,
        })
    }

    /// The choice without a lead.
    fn plain(&self, alphabet: &Alphabet) -> AnyStrategy {
        if self.weights.is_none() && self.inputs.is_none() {
            return Box::new(Uniform);
        }
        let (stop, stimulate, observe) = self.weights.unwrap_or((0.0, 1.0, 1.0));
        let inputs = self.inputs.clone().unwrap_or_default();
        Box::new(Weighted {
            stop,
            stimulate,
            observe,
            stimuli: inputs.of_job(alphabet),
        })
    }

    /// Inputs of weight 0 are kept from a strategy that follows a lead.
    fn sparing(&self, alphabet: &Alphabet, strategy: AnyStrategy) -> AnyStrategy {
        match &self.inputs {
            Some(inputs) => Box::new(WithoutWeightless::new(strategy, inputs.of_job(alphabet))),
            None => strategy,
        }
    }

    /// Tester and strategy of one job.
    pub(crate) fn pair(
        &self,
        judge: &Judge,
        alphabet: &Alphabet,
    ) -> Result<(AnyTester, AnyStrategy), Error> {
        let (tester, strategy) = self.chosen(judge, alphabet)?;
        Ok(match judge.context() {
            Context::Synchronous => (tester, strategy),
            Context::Queues => (tester, Box::new(Patient::new(strategy))),
        })
    }

    fn chosen(
        &self,
        judge: &Judge,
        alphabet: &Alphabet,
    ) -> Result<(AnyTester, AnyStrategy), Error> {
        if self.selection == Selection::Uniform
            && let Some((tester, strategy)) =
                judge.towards_goal(alphabet, || self.plain(alphabet))?
        {
            return Ok((tester, self.sparing(alphabet, strategy)));
        }
        Ok((judge.tester(alphabet)?, self.strategy(judge, alphabet)?))
    }

    /// The goals of a model with data, examined by the first job that asks.
    fn examined(&self, judge: &SymbolicJudge) -> Result<Arc<ExaminedGoals>, Error> {
        if let Some(known) = self.examined.get() {
            return Ok(Arc::clone(known));
        }
        let goals = Arc::new(ExaminedGoals::new(judge, self.cover.into())?);
        Ok(Arc::clone(self.examined.get_or_init(|| goals)))
    }

    fn strategy(&self, judge: &Judge, alphabet: &Alphabet) -> Result<AnyStrategy, Error> {
        let choice = self.plain(alphabet);
        let leads = self.selection == Selection::Coverage;
        let explicit = match judge {
            Judge::Explicit(explicit) => explicit,
            Judge::Symbolic(symbolic) if self.asked => {
                let goals = self.examined(symbolic)?;
                let guide =
                    symbolic.covering(alphabet, goals, choice, leads, self.learnt.clone())?;
                let guide = match &self.seen {
                    Some(seen) => guide.sharing(seen.clone()),
                    None => guide,
                };
                return Ok(self.sparing(alphabet, Box::new(guide)));
            }
            Judge::Symbolic(_) | Judge::Properties(_) => return Ok(choice),
        };
        if explicit.spec().explorer().is_some() && !self.asked {
            // The whole model would have to be asked for.
            return Ok(choice);
        }
        let limit = if self.asked {
            COVERAGE_LIMIT_ASKED
        } else {
            COVERAGE_LIMIT
        };
        let guide = explicit.covering(alphabet, choice, leads, limit);
        let guide = guide.map(|guide| match &self.seen {
            Some(seen) => guide.sharing(seen.clone()),
            None => guide,
        });
        match guide {
            Ok(guide) if leads => Ok(self.sparing(alphabet, Box::new(guide))),
            Ok(guide) => Ok(Box::new(guide)),
            Err(choice) if !self.asked => Ok(choice),
            Err(_) => Err(Error::input(format!(
                "the model's suspension automaton has more than {limit} states, too many to \
                 measure coverage"
            ))),
        }
    }
}
