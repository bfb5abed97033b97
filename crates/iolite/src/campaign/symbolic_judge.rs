//! Judging by a model with data: values are solved for while the system answers.

use iolite_derive::{
    Alphabet, ConformanceTester, Criterion, GoalTester, LabelGoal, Objective, QueueOptions,
    QueueOracle, SymbolicOracle, SymbolicOracleError,
};
use iolite_expr::Strategy;
use iolite_lts::QuiescencePolicy;
use iolite_lts::relation::Relation;
use iolite_property::{Observer, Purpose};

use super::explicit_judge::AnyGuide;
use super::judge::{AnyStrategy, AnyTester, JudgeOptions};
use crate::data::Drawing;
use crate::{Error, KnownModel, Spec, SymbolicSpec, Workspace};

/// What a model with data is asked for.
#[derive(Clone, Debug)]
enum Question {
    Ioco,
    Safety(Vec<Observer>),
    Purposes(Vec<Purpose>),
}

/// Judges by a model with data.
pub struct SymbolicJudge {
    model: KnownModel,
    question: Question,
    drawing: Vec<Drawing>,
    strategy: Strategy,
    policy: QuiescencePolicy,
    queues: Option<QueueOptions>,
    seed: u64,
}

impl SymbolicJudge {
    pub(super) fn new(
        workspace: &Workspace,
        spec: &SymbolicSpec,
        options: &JudgeOptions,
    ) -> Result<Self, Error> {
        let model = spec.model();
        // Only the locations are looked at: whether values allow the cycle is not decided here.
        if let (QuiescencePolicy::Strict, Some(location)) =
            (options.quiescence, model.internal_cycle())
        {
            return Err(Error::input(format!(
                "{} may diverge: location {} lies on a cycle of internal actions",
                spec.reference(),
                model.location(location).name
            ))
            .hint(
                "--quiescence livelock takes a livelock for quiescent; --unfold looks at values",
            ));
        }
        let beside = Spec::Symbolic(spec.clone());
        let mut observers = Vec::new();
        for reference in &options.observers {
            observers.extend(workspace.observers(reference, &beside)?);
        }
        let mut purposes = Vec::new();
        for reference in &options.purposes {
            purposes.extend(workspace.purposes(reference, &beside)?);
        }
        let question = if !observers.is_empty() {
            Question::Safety(observers)
        } else if !purposes.is_empty() {
            Question::Purposes(purposes)
        } else {
            Question::Ioco
        };
        let judge = Self {
            model: KnownModel::new(spec, &options.data)?,
            question,
            drawing: options.values.drawing(spec.file(), model)?,
            strategy: options.values.values.into(),
            policy: options.quiescence,
            queues: options.queues,
            seed: options.seed,
        };
        // Mistakes show before anything is started.
        judge.oracle(&Alphabet::default())?;
        Ok(judge)
    }

    /// The model, named with the constants that were given.
    pub fn spec(&self) -> &SymbolicSpec {
        self.model.spec()
    }

    pub(super) fn unknown_constants(&self) -> Vec<String> {
        self.model.unknown_constants()
    }

    pub(super) fn queues(&self) -> Option<QueueOptions> {
        self.queues
    }

    pub(super) fn criterion(&self) -> Criterion {
        match &self.question {
            Question::Ioco => Criterion::Relation(Relation::Ioco),
            Question::Safety(_) => Criterion::Safety,
            Question::Purposes(_) => Criterion::Purpose,
        }
    }

    /// The oracle, with a solver of its own.
    pub fn oracle(&self, alphabet: &Alphabet) -> Result<SymbolicOracle, Error> {
        let semantics = self.model.semantics(self.policy)?;
        let oracle = SymbolicOracle::new(semantics, alphabet, self.seed, self.strategy);
        let mut oracle = oracle.map_err(|e| {
            let message = format!("{}: {e}", self.spec().reference());
            match e {
                SymbolicOracleError::Undecided(_) => Error::undecided(message),
                _ => Error::input(message),
            }
        })?;
        for (gate, position, distribution) in &self.drawing {
            oracle.draw(*gate, *position, distribution.clone());
        }
        Ok(oracle)
    }

    fn towards<T: Objective + Clone + 'static>(
        &self,
        alphabet: &Alphabet,
        objectives: &[T],
        labels: impl Fn(&T) -> &std::sync::Arc<iolite_lts::Labels>,
    ) -> Result<Box<dyn AnyGuide>, Error> {
        let goal = |o: &T| LabelGoal::by_text(o.clone(), alphabet, labels(o));
        let goals = objectives.iter().map(goal).collect();
        let oracle = self.oracle(alphabet)?;
        Ok(match self.queues {
            None => Box::new(GoalTester::new(oracle, goals)),
            Some(queues) => Box::new(GoalTester::new(QueueOracle::new(oracle, queues), goals)),
        })
    }

    /// The tester with goals; `None` without.
    fn guide(&self, alphabet: &Alphabet) -> Result<Option<Box<dyn AnyGuide>>, Error> {
        Ok(match &self.question {
            Question::Ioco => None,
            Question::Safety(all) => Some(self.towards(alphabet, all, Observer::labels)?),
            Question::Purposes(all) => Some(self.towards(alphabet, all, Purpose::labels)?),
        })
    }

    pub(super) fn tester(&self, alphabet: &Alphabet) -> Result<AnyTester, Error> {
        if let Some(guide) = self.guide(alphabet)? {
            return Ok(guide.tester());
        }
        let oracle = self.oracle(alphabet)?;
        Ok(match self.queues {
            None => Box::new(ConformanceTester::new(oracle)),
            Some(queues) => Box::new(ConformanceTester::new(QueueOracle::new(oracle, queues))),
        })
    }

    pub(super) fn towards_goal(
        &self,
        alphabet: &Alphabet,
        otherwise: impl FnOnce() -> AnyStrategy,
    ) -> Result<Option<(AnyTester, AnyStrategy)>, Error> {
        let guide = self.guide(alphabet)?;
        Ok(guide.map(|guide| guide.led(otherwise())))
    }
}
