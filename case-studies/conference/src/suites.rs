//! Stored test cases against the mutants: the paper's other half.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use iolite::{
    Campaign, Context, Cover, DerivationOptions, DerivationSelection, Error, Judge, JudgeOptions,
    ModelRef, Relation, Workspace,
};
use iolite_derive::{CompleteSuite, Enumeration, ExhaustiveDerivation, RandomDerivation};
use iolite_lts::QuiescencePolicy;

use crate::FAULTS;
use crate::in_step::InStep;

/// A way to make a suite.
pub struct Suite {
    /// What it is called.
    pub name: String,
    selection: DerivationSelection,
    model: SuiteModel,
}

/// What a suite is derived from.
#[derive(Clone, Copy)]
enum SuiteModel {
    Node,
    /// The entity without its inbox.
    Entity,
    /// The same, which tells the others in order.
    OrderedEntity,
}

impl SuiteModel {
    fn reference(self, file: &Path) -> ModelRef {
        let name = match self {
            Self::Node => "Node",
            Self::Entity => "Entity",
            Self::OrderedEntity => "OrderedEntity",
        };
        ModelRef::file(file).with_name(name)
    }
}

impl Suite {
    /// The suites that are compared.
    pub fn all() -> Vec<Self> {
        let exhaustive = |depth| Self {
            name: format!("exhaustive to depth {depth}"),
            selection: DerivationSelection::Exhaustive(ExhaustiveDerivation {
                depth,
                enumeration: Enumeration::Traces,
                limit: 200_000,
            }),
            model: SuiteModel::Node,
        };
        let random = |count| Self {
            name: format!("{count} at random, depth 20"),
            selection: DerivationSelection::Random(RandomDerivation {
                count,
                depth: 20,
                ..RandomDerivation::default()
            }),
            model: SuiteModel::Node,
        };
        let covering = |name: &str, cover: Cover| Self {
            name: format!("covering all {name}"),
            selection: DerivationSelection::Cover {
                criterion: cover.into(),
                depth: None,
            },
            model: SuiteModel::Node,
        };
        let bare = Self {
            name: "covering all transitions, no inbox".to_owned(),
            model: SuiteModel::Entity,
            ..covering("transitions", Cover::Transitions)
        };
        // Where the order is left open there is no end: each state that is not reached for sure makes continuations longer.
        let complete = Self {
            name: "complete, no inbox, in order".to_owned(),
            selection: DerivationSelection::Complete(CompleteSuite {
                extra: 0,
                limit: 20_000,
                states: 5000,
            }),
            model: SuiteModel::OrderedEntity,
        };
        vec![
            exhaustive(2),
            exhaustive(3),
            exhaustive(4),
            covering("states", Cover::States),
            covering("transitions", Cover::Transitions),
            random(13),
            random(1000),
            bare,
            complete,
        ]
    }

    /// Derives the suite and runs it against all mutants.
    pub fn score(&self, model: &Path) -> Result<Score, Error> {
        let workspace = Workspace::new();
        let begin = Instant::now();
        let options = DerivationOptions {
            relation: Relation::Ioco,
            traces: None,
            context: Context::Synchronous,
            max_in_flight: None,
            policy: QuiescencePolicy::Livelock,
            budget: workspace.options().budget(),
            selection: self.selection.clone(),
            // A suite of states is asked for.
            unfold: Some("the experiment"),
            solver: None,
            jobs: std::num::NonZeroUsize::MIN,
        };
        let reference = self.model.reference(model);
        let (cases, derivation) =
            workspace.derive_all(&reference, &options, &mut |_| Ok(ControlFlow::Continue(())))?;
        let derived = begin.elapsed();
        let judge = JudgeOptions {
            unfold: Some("the experiment"),
            ..JudgeOptions::default()
        };
        let campaign = Campaign::new(Judge::new(&workspace, &reference, &judge)?);
        let begin = Instant::now();
        let mut score = Score {
            cases: cases.len(),
            complete: derivation.complete,
            killed: Vec::new(),
            original_fails: false,
            events: 0,
            derived,
            run: Duration::ZERO,
        };
        for fault in 0..=FAULTS {
            let mut fails = false;
            for case in &cases {
                let summary = campaign.run_case_in_process(case, InStep::new(fault))?;
                score.events += summary.steps;
                fails |= !summary.failures.is_empty();
                if fails {
                    break;
                }
            }
            match fault {
                0 => score.original_fails = fails,
                _ if fails => score.killed.push(fault),
                _ => {}
            }
        }
        score.run = begin.elapsed();
        Ok(score)
    }
}

/// What a suite came to.
#[derive(Clone, Debug)]
pub struct Score {
    /// How many test cases it has.
    pub cases: usize,
    /// Whether these are all up to the depth, where it has one.
    pub complete: Option<bool>,
    /// The mutants that it fails.
    pub killed: Vec<u8>,
    /// Whether it fails the original, which would be wrong.
    pub original_fails: bool,
    /// Test events, until the first failure of each implementation.
    pub events: u64,
    /// How long deriving took.
    pub derived: Duration,
    /// How long running took, all implementations together.
    pub run: Duration,
}
