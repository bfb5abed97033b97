//! Judging by a transition system with labels.

use std::collections::BTreeSet;
use std::sync::Arc;

use iolite_derive::{
    Alphabet, Criterion, Guide, IocoOracle, IoconfOracle, LabelGoal, MixedGoal, Objective,
    PropertyObjective, QueueOptions, Satisfaction, TestedOracle, UiocoOracle, verify,
};
use iolite_exec::guided;
use iolite_expr::Solver;
use iolite_lts::relation::{Relation, TraceSet};
use iolite_lts::{QuiescencePolicy, Semantics, Suspension};
use iolite_property::{Observer, Purpose};

use super::coverage_guide::CoverageGuide;
use super::judge::{AnyStrategy, AnyTester, JudgeOptions};
use super::property_judge::objectives;
use crate::explorer::ExploredTester;
use crate::{Error, ExplicitSpec, GoalAutomaton, Spec, System, Workspace};

/// What an explicit specification is asked for.
#[derive(Clone, Debug)]
enum Question {
    /// A relation with an oracle of its own.
    Relation(TestedRelation),
    /// The violation of safety properties.
    Safety(Vec<Observer>),
    /// Scenarios.
    Purposes(Vec<Purpose>),
    /// Properties of any class.
    Properties(Vec<PropertyObjective>),
    /// Either, some of them with data of their own.
    Mixed(Criterion, Vec<GoalAutomaton>),
}

#[derive(Clone, Debug)]
enum TestedRelation {
    Ioco,
    Uioco,
    Ioconf(Option<TraceSet>),
}

impl Question {
    /// The question for goals, of which there may be none.
    fn towards(goals: Vec<GoalAutomaton>) -> Option<Self> {
        let (mut observers, mut purposes) = (Vec::new(), Vec::new());
        let mut criterion = Criterion::Safety;
        let mut data = false;
        for goal in &goals {
            match goal {
                GoalAutomaton::Observer(observer) => observers.push(observer.clone()),
                GoalAutomaton::Purpose(purpose) => purposes.push(purpose.clone()),
                GoalAutomaton::Property(_) => data = true,
                GoalAutomaton::Data(automaton) => {
                    data = true;
                    if automaton.is_purpose() {
                        criterion = Criterion::Purpose;
                    }
                }
            }
        }
        if !purposes.is_empty() {
            criterion = Criterion::Purpose;
        }
        if data {
            Some(Self::Mixed(criterion, goals))
        } else if !observers.is_empty() {
            Some(Self::Safety(observers))
        } else if !purposes.is_empty() {
            Some(Self::Purposes(purposes))
        } else {
            None
        }
    }
}

/// Judges by a transition system with labels.
pub struct ExplicitJudge {
    spec: ExplicitSpec,
    question: Question,
    policy: QuiescencePolicy,
    queues: Option<QueueOptions>,
}

/// Pairs that are searched before a safety test for a specification that violates its own property.
const WARNING_PAIRS: usize = 1_000_000;

impl ExplicitJudge {
    pub(super) fn new(
        workspace: &Workspace,
        spec: &ExplicitSpec,
        options: &JudgeOptions,
    ) -> Result<Self, Error> {
        spec.reject_plain_labels()?;
        let policy = options.quiescence;
        spec.reject_livelock(policy, workspace.options().budget())?;
        let beside = Spec::Explicit(spec.clone());
        let goals = workspace.goals(&options.observers, &options.purposes, &beside)?;
        let traces = options
            .traces
            .as_ref()
            .map(|f| workspace.traces(f, spec.reference(), spec.labels()))
            .transpose()?;
        let question = if let Some(properties) = &options.properties {
            let (labels, reference) = (spec.labels(), spec.reference());
            Question::Properties(objectives(workspace, properties, labels, reference)?)
        } else if let Some(question) = Question::towards(goals) {
            question
        } else {
            Question::Relation(match options.relation {
                Relation::Ioco => TestedRelation::Ioco,
                Relation::Uioco => TestedRelation::Uioco,
                Relation::Ioconf | Relation::IoconfF => TestedRelation::Ioconf(traces),
                other => {
                    return Err(Error::input(format!(
                        "{other} cannot be tested on the fly; ioco, uioco, ioconf and ioconf-f can"
                    ))
                    .hint("`iolite relate` decides it between models"));
                }
            })
        };
        let judge = Self {
            spec: spec.clone(),
            question,
            policy,
            queues: options.queues.clone(),
        };
        if let Question::Mixed(_, goals) = &judge.question {
            // Mistakes show before anything is started.
            judge.towards_mixed(judge.spec.alphabet(), goals)?;
        }
        judge.warn_of_violations(workspace);
        Ok(judge)
    }

    /// The specification.
    pub fn spec(&self) -> &ExplicitSpec {
        &self.spec
    }

    pub(super) fn policy(&self) -> QuiescencePolicy {
        self.policy
    }

    pub(super) fn queues(&self) -> Option<&QueueOptions> {
        self.queues.as_ref()
    }

    pub(super) fn criterion(&self) -> Criterion {
        match &self.question {
            Question::Safety(_) | Question::Properties(_) => Criterion::Safety,
            Question::Purposes(_) => Criterion::Purpose,
            Question::Mixed(criterion, _) => *criterion,
            Question::Relation(relation) => Criterion::Relation(match relation {
                TestedRelation::Ioco => Relation::Ioco,
                TestedRelation::Uioco => Relation::Uioco,
                TestedRelation::Ioconf(None) => Relation::Ioconf,
                TestedRelation::Ioconf(Some(_)) => Relation::IoconfF,
            }),
        }
    }

    /// \[SAFE04\] take it that S ⊨ ω; where it is not so, the user is warned first.
    fn warn_of_violations(&self, workspace: &Workspace) {
        let Question::Safety(observers) = &self.question else {
            return;
        };
        let system = self.spec.system();
        let view = Suspension::new(&system, self.policy);
        let answers = verify(&view, observers, WARNING_PAIRS).answers;
        for (observer, answer) in observers.iter().zip(answers) {
            if let Satisfaction::Violated { trace, .. } = answer {
                let labels = self.spec.labels();
                let trace: Vec<String> = trace.iter().map(|&l| labels.text(l)).collect();
                workspace.warn(&format!(
                    "warning: the specification itself violates {}, after {}; the verdict is then \
                     `violate`",
                    observer.name(),
                    trace.join(" ")
                ));
            }
        }
    }

    pub(super) fn ioco(&self, alphabet: &Alphabet) -> IocoOracle<System> {
        IocoOracle::with_alphabet(self.spec.system(), self.policy, alphabet)
    }

    /// A tester for goals, and the strategy that follows its advice.
    fn towards<T: Objective + Clone>(&self, alphabet: &Alphabet, objectives: &[T]) -> Box<dyn Guide>
    where
        MixedGoal: From<LabelGoal<T>>,
    {
        let goal = |o: &T| LabelGoal::own(o.clone(), alphabet, self.spec.labels()).into();
        self.goal_tester(alphabet, objectives.iter().map(goal).collect())
    }

    fn goal_tester(&self, alphabet: &Alphabet, goals: Vec<MixedGoal>) -> Box<dyn Guide> {
        let ioco = TestedOracle::Ioco(self.ioco(alphabet));
        ioco.goal_tester(self.queues.clone(), goals, self.criterion())
    }

    /// The same for goals with data beside a model without.
    fn towards_mixed(
        &self,
        alphabet: &Alphabet,
        automata: &[GoalAutomaton],
    ) -> Result<Box<dyn Guide>, Error> {
        let goal = |automaton: &GoalAutomaton| {
            let labels = Some(self.spec.labels());
            automaton.goal(alphabet, labels, &[], Solver::embedded())
        };
        let goals = automata
            .iter()
            .map(goal)
            .collect::<Result<Vec<MixedGoal>, _>>()?;
        Ok(self.goal_tester(alphabet, goals))
    }

    /// The tester, which gives up where a program explores the model and fails.
    fn explored(&self, tester: AnyTester) -> AnyTester {
        match self.spec.explorer() {
            None => tester,
            Some(explorer) => Box::new(ExploredTester::new(tester, Arc::clone(explorer))),
        }
    }

    pub(super) fn tester(&self, alphabet: &Alphabet) -> Result<AnyTester, Error> {
        let system = || self.spec.system();
        let oracle = match &self.question {
            Question::Mixed(_, goals) => {
                let tester = self.towards_mixed(alphabet, goals)?;
                return Ok(self.explored(tester));
            }
            Question::Safety(observers) => {
                return Ok(self.explored(self.towards(alphabet, observers)));
            }
            Question::Purposes(purposes) => {
                return Ok(self.explored(self.towards(alphabet, purposes)));
            }
            Question::Properties(all) => return Ok(self.explored(self.towards(alphabet, all))),
            Question::Relation(TestedRelation::Ioco) => TestedOracle::Ioco(self.ioco(alphabet)),
            Question::Relation(TestedRelation::Uioco) => {
                TestedOracle::Uioco(UiocoOracle::with_alphabet(system(), self.policy, alphabet))
            }
            Question::Relation(TestedRelation::Ioconf(traces)) => TestedOracle::Ioconf(
                IoconfOracle::with_alphabet(system(), self.policy, traces.clone(), alphabet),
            ),
        };
        let tester = oracle.conformance_tester(self.queues.clone());
        Ok(self.explored(tester))
    }

    pub(super) fn towards_goal(
        &self,
        alphabet: &Alphabet,
        otherwise: impl FnOnce() -> AnyStrategy,
    ) -> Result<Option<(AnyTester, AnyStrategy)>, Error> {
        let tester = match &self.question {
            Question::Safety(observers) => self.towards(alphabet, observers),
            Question::Purposes(purposes) => self.towards(alphabet, purposes),
            Question::Properties(all) => self.towards(alphabet, all),
            Question::Mixed(_, goals) => self.towards_mixed(alphabet, goals)?,
            Question::Relation(_) => return Ok(None),
        };
        let (tester, strategy) = led(tester, otherwise());
        Ok(Some((self.explored(tester), strategy)))
    }

    /// A strategy that records coverage, and leads to what is not covered where `leads` says so;
    /// `None` where the model has more than `limit` sets.
    pub(super) fn covering(
        &self,
        alphabet: &Alphabet,
        otherwise: AnyStrategy,
        leads: bool,
        limit: usize,
    ) -> Result<CoverageGuide<System>, AnyStrategy> {
        let queues = self.queues.clone();
        CoverageGuide::new(self.ioco(alphabet), queues, otherwise, leads, limit)
    }

    pub(super) fn places(&self, limit: usize) -> Option<BTreeSet<String>> {
        let system = self.spec.whole_system(limit).ok()?;
        let place = |state| Semantics::place(&*system, &state);
        Some(system.states().map(place).collect())
    }
}

/// The tester, and the strategy that follows its advice.
pub(super) fn led(tester: Box<dyn Guide>, otherwise: AnyStrategy) -> (AnyTester, AnyStrategy) {
    let (tester, strategy) = guided(tester);
    (Box::new(tester), Box::new(strategy.otherwise(otherwise)))
}
