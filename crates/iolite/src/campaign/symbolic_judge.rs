//! Judging by a model with data: values are solved for while the system answers.

use std::sync::Arc;

use iolite_derive::{
    Alphabet, Criterion, Guide, QueueOptions, SymbolicOracle, SymbolicOracleError, TestedOracle,
};
use iolite_expr::{Solver, Strategy, Value};
use iolite_lts::QuiescencePolicy;
use iolite_lts::relation::Relation;
use iolite_sts::Iosts;

use super::data_coverage_guide::DataCoverageGuide;
use super::examined_goals::ExaminedGoals;
use super::explicit_judge::led;
use super::follower::Follower;
use super::judge::{AnyStrategy, AnyTester, CaseValues, JudgeOptions};
use super::open_constants::OpenConstants;
use super::property_judge::objectives;
use super::shared_constants::SharedConstants;
use crate::data::Drawing;
use crate::{Error, GoalAutomaton, KnownModel, Spec, SymbolicSpec, Workspace};

/// What a model with data is asked for, beside ioco.
struct Goals {
    criterion: Criterion,
    automata: Vec<GoalAutomaton>,
    /// Values of constants that the automata have and the model does not.
    constants: Vec<(String, Value)>,
}

/// Judges by a model with data.
pub struct SymbolicJudge {
    model: KnownModel,
    goals: Option<Goals>,
    drawing: Vec<Drawing>,
    /// Words of the user's dictionaries.
    words: Vec<String>,
    strategy: Strategy,
    relation: Relation,
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
        let (observers, purposes) = (&options.observers, &options.purposes);
        let mut automata = workspace.goals(observers, purposes, &beside)?;
        if let Some(properties) = &options.properties {
            let labels = Arc::new(spec.gate_labels(&[]));
            let found = objectives(workspace, properties, &labels, spec.reference())?;
            automata.extend(found.into_iter().map(GoalAutomaton::Property));
        }
        let mut data = options.data.clone();
        let constants = data.take_goal_constants(model, &automata)?;
        let criterion = if observers.is_empty() && options.properties.is_none() {
            Criterion::Purpose
        } else {
            Criterion::Safety
        };
        let goals = (!automata.is_empty()).then_some(Goals {
            criterion,
            automata,
            constants,
        });
        let judge = Self {
            model: KnownModel::new(spec, &data)?,
            goals,
            drawing: options.values.drawing(spec.file(), model)?,
            words: options.values.words()?,
            strategy: options.values.values.into(),
            relation: options.relation,
            policy: options.quiescence,
            queues: options.queues.clone(),
            seed: options.seed,
        };
        // Mistakes show before anything is started.
        let alphabet = Alphabet::default();
        judge.oracle(&alphabet)?;
        judge.guide(&alphabet)?;
        Ok(judge)
    }

    /// The model, named with the constants that were given.
    pub fn spec(&self) -> &SymbolicSpec {
        self.model.spec()
    }

    pub(super) fn unknown_constants(&self) -> Vec<String> {
        self.model.unknown_constants()
    }

    pub(super) fn queues(&self) -> Option<&QueueOptions> {
        self.queues.as_ref()
    }

    pub(super) fn criterion(&self) -> Criterion {
        let relation = Criterion::Relation(self.relation);
        self.goals
            .as_ref()
            .map_or(relation, |goals| goals.criterion)
    }

    /// What a test case with data needs to know.
    pub(super) fn case_values(&self) -> CaseValues {
        let (solver, until) = self.model.solver_options();
        CaseValues {
            constants: self.model.constants().to_vec(),
            strategy: self.strategy,
            solver,
            until,
        }
    }

    /// A solver of its own.
    pub(super) fn solver(&self) -> Result<Solver, Error> {
        self.model.solver()
    }

    /// A model with the constants of this one, with their values where they are known.
    pub(super) fn with_known_constants(&self, model: &Iosts) -> Iosts {
        model.with_constants(self.model.constants())
    }

    /// Counts what runs cover of the goals, and leads to what they do not where that is asked for.
    pub(super) fn covering(
        &self,
        alphabet: &Alphabet,
        goals: Arc<ExaminedGoals>,
        otherwise: AnyStrategy,
        leads: bool,
        learnt: SharedConstants,
    ) -> Result<DataCoverageGuide, Error> {
        let oracle = self.oracle_of(goals.model(), alphabet)?;
        let unknown = self.unknown_constants();
        let constants = goals.model().constants().iter().map(|c| c.var.clone());
        let constants = constants.filter(|c| unknown.iter().any(|name| **name == *c.name));
        let constants = OpenConstants::new(constants, learnt);
        let follower = Follower::new(oracle, self.queues.clone());
        let solver = self.solver()?;
        Ok(DataCoverageGuide::new(
            goals, follower, solver, otherwise, leads, constants,
        ))
    }

    /// The oracle, with a solver of its own.
    pub fn oracle(&self, alphabet: &Alphabet) -> Result<SymbolicOracle, Error> {
        self.oracle_of(self.spec().model(), alphabet)
    }

    /// The same over another form of the model.
    fn oracle_of(&self, model: &Arc<Iosts>, alphabet: &Alphabet) -> Result<SymbolicOracle, Error> {
        let semantics = self.model.semantics_of(model, self.policy)?;
        let oracle = SymbolicOracle::new(semantics, alphabet, self.seed, self.strategy);
        let mut oracle = oracle.map_err(|e| {
            let message = format!("{}: {e}", self.spec().reference());
            match e {
                SymbolicOracleError::Undecided(_) => Error::undecided(message),
                SymbolicOracleError::SolverFault(_) => Error::fault(message),
                _ => Error::input(message),
            }
        })?;
        // Goals are defined beside ioco.
        if self.goals.is_none() {
            oracle = oracle.for_relation(self.relation);
        }
        for (gate, position, distribution) in &self.drawing {
            oracle.draw(*gate, *position, distribution.clone());
        }
        if !self.words.is_empty() {
            oracle.add_words(self.words.iter().map(String::as_str));
        }
        Ok(oracle)
    }

    /// The tester with goals; `None` without.
    fn guide(&self, alphabet: &Alphabet) -> Result<Option<Box<dyn Guide>>, Error> {
        let Some(goals) = &self.goals else {
            return Ok(None);
        };
        let known = self.model.constants().iter().chain(&goals.constants);
        let known: Vec<(String, Value)> = known.cloned().collect();
        let mut all = Vec::new();
        for automaton in &goals.automata {
            all.push(automaton.goal(alphabet, None, &known, self.model.solver()?)?);
        }
        let oracle = TestedOracle::Symbolic(Box::new(self.oracle(alphabet)?));
        let queues = self.queues.clone();
        Ok(Some(oracle.goal_tester(queues, all, goals.criterion)))
    }

    pub(super) fn tester(&self, alphabet: &Alphabet) -> Result<AnyTester, Error> {
        if let Some(guide) = self.guide(alphabet)? {
            return Ok(guide);
        }
        let oracle = TestedOracle::Symbolic(Box::new(self.oracle(alphabet)?));
        Ok(oracle.conformance_tester(self.queues.clone()))
    }

    pub(super) fn towards_goal(
        &self,
        alphabet: &Alphabet,
        otherwise: impl FnOnce() -> AnyStrategy,
    ) -> Result<Option<(AnyTester, AnyStrategy)>, Error> {
        let guide = self.guide(alphabet)?;
        Ok(guide.map(|guide| led(guide, otherwise())))
    }
}
