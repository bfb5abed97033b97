//! Test cases from a specification, by relation, coverage or goal.

mod covering;
mod symbolic;
mod towards;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use iolite_derive::{
    CaseSelection, CaseWork, CompleteSuite, Completeness, ConfDerivation, Context, Count,
    CoverageGoal, CoverageSuite, DEFAULT_MAX_IN_FLIGHT, ExhaustiveDerivation, ModelRef, Publish,
    QueueOptions, RandomDerivation, RelationOracle, SymbolicTestCase, TestCase, TestGraph,
    derive_cases,
};
use iolite_lts::relation::Relation;
use iolite_lts::{BudgetExceeded, Lts, QuiescencePolicy};
use iolite_sts::CoverageCriterion;

use crate::campaign::reject_relation_towards;
use crate::{Error, ExplicitSpec, SymbolicGraph, Workspace};

pub use covering::{UndecidedGoal, UnreachableGoal};
pub use towards::GoalDerivation;

/// Nodes of a test graph, and sets of a covered automaton, at most.
const LARGEST: usize = 5_000_000;

/// Which test cases are derived, and for what.
#[derive(Clone, Debug)]
pub struct DerivationOptions {
    /// The relation that the test cases decide; ioco where they head for goals or coverage.
    pub relation: Relation,
    /// The set F of `ioconf_F`.
    pub traces: Option<ModelRef>,
    /// What will lie between tester and system.
    pub context: Context,
    /// How many inputs may be under way at a time, through queues; the default, if none is given.
    pub max_in_flight: Option<usize>,
    /// When a cycle of internal actions is quiescent.
    pub policy: QuiescencePolicy,
    /// States of the specification at most.
    pub budget: usize,
    /// Which of the test cases there are.
    pub selection: DerivationSelection,
    /// Why data are unfolded, where they are; otherwise test cases towards goals keep them.
    pub unfold: Option<&'static str>,
    /// The solver for test cases that keep data; the default, if none is named.
    pub solver: Option<String>,
    /// How many threads make test cases without data. The suite does not depend on it.
    pub jobs: NonZeroUsize,
}

/// Which test cases are made, of all that there are.
#[derive(Clone, Debug)]
pub enum DerivationSelection {
    /// Some, at random.
    Random(RandomDerivation),
    /// All up to a depth.
    Exhaustive(ExhaustiveDerivation),
    /// As many as every implementation of so many states fails that does not conform.
    Complete(CompleteSuite),
    /// As many as cover the determinised suspension automaton; of a model whose data are kept, the symbolic
    /// model.
    Cover {
        /// What is to be covered.
        criterion: CoverageCriterion,
        /// The longest run; what fits the size of the model, if none is given. Test cases with data go on
        /// until their goal is reached, or out of reach.
        depth: Option<usize>,
    },
    /// Those that head for observers, purposes or properties.
    Goals(GoalDerivation),
}

/// What is left to do with a test case when its turn comes.
pub type PublishCase<'a> = Box<dyn FnOnce() -> Result<ControlFlow<()>, Error> + Send + 'a>;

/// Who stores test cases without data: done by the thread that made the test case, whatever the others are at. What
/// it gives is done by the calling thread in the order of the suite, and may end the derivation; what was stored ahead
/// is then dropped without its turn.
pub type StoreDerived<'a> = dyn Fn(TestCase) -> PublishCase<'a> + Sync + 'a;

/// What a derivation makes beside test cases without data, as it is made: nothing is kept.
#[derive(Debug)]
pub enum Derived<'a> {
    /// A test case with data.
    Symbolic {
        /// The test case.
        case: Box<SymbolicTestCase>,
        /// The same to be looked at, with what was pruned.
        graph: Box<SymbolicGraph>,
        /// The coverage goal that it heads for.
        goal: Option<String>,
    },
    /// All test cases towards one goal, in one graph.
    Graph {
        /// The goal.
        name: &'a str,
        /// The graph.
        graph: &'a TestGraph,
    },
    /// Which requirement's test cases touch which transition, as CSV.
    Matrix(String),
}

/// Who takes what is derived, and may end the derivation.
pub type TakeDerived<'a> = dyn FnMut(Derived<'_>) -> Result<ControlFlow<()>, Error> + 'a;

/// What a derivation came to, beside its test cases.
#[derive(Clone, Debug, Default)]
pub struct Derivation {
    /// Whether an exhaustive derivation lists all there are up to the depth, and a complete suite is one.
    pub complete: Option<bool>,
    /// Why an exhaustive derivation does not list all, where that is not its limit.
    pub left_out: Option<String>,
    /// For which implementations a complete suite is one.
    pub completeness: Option<Completeness>,
    /// The longest run of a covering test case.
    pub depth: Option<usize>,
    /// How much of the model a covering suite covers.
    pub covered: Option<Count>,
    /// What could be covered by longer test cases only.
    pub uncovered: Vec<String>,
    /// What no test case can cover.
    pub unreachable: Vec<String>,
    /// The same for a model with data, with proofs.
    pub proofs: Vec<UnreachableGoal>,
    /// Goals of a model with data of which neither is known.
    pub undecided: Vec<UndecidedGoal>,
    /// What there is to know of goals.
    pub notes: Vec<String>,
}

/// What test cases are derived from.
struct DerivationSource<'a> {
    workspace: &'a Workspace,
    spec: &'a ExplicitSpec,
    lts: &'a Lts,
    /// How test cases name it.
    model: ModelRef,
    policy: QuiescencePolicy,
}

impl Workspace {
    /// Derives test cases and keeps those without data, in the order of the suite; what else there is is handed over as it is made.
    pub fn derive_all(
        &self,
        model: &ModelRef,
        options: &DerivationOptions,
        take: &mut TakeDerived<'_>,
    ) -> Result<(Vec<TestCase>, Derivation), Error> {
        let cases = Mutex::new(Vec::new());
        let store = |case: TestCase| -> PublishCase<'_> {
            let cases = &cases;
            Box::new(move || {
                let mut cases = cases.lock().unwrap_or_else(PoisonError::into_inner);
                cases.push(case);
                Ok(ControlFlow::Continue(()))
            })
        };
        let derivation = self.derive(model, options, &store, take)?;
        let cases = cases.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((cases, derivation))
    }

    /// Derives test cases from a specification and has each stored or handed over as it is made.
    pub fn derive(
        &self,
        model: &ModelRef,
        options: &DerivationOptions,
        store: &StoreDerived<'_>,
        take: &mut TakeDerived<'_>,
    ) -> Result<Derivation, Error> {
        options.check()?;
        match &options.selection {
            DerivationSelection::Goals(goals) => {
                if let Some(source) = self.symbolic_source(model, options, Some(goals))? {
                    return goals.derive_symbolic(&source, take);
                }
            }
            DerivationSelection::Cover { criterion, depth } => {
                if let Some(source) = self.symbolic_source(model, options, None)? {
                    reject_depth(*depth)?;
                    return source.cover(*criterion, take);
                }
            }
            DerivationSelection::Random(_)
            | DerivationSelection::Exhaustive(_)
            | DerivationSelection::Complete(_) => {}
        }
        let spec = self.explicit(model).map_err(|e| match e.unfolding() {
            Some(_) => e.hint(
                "--observer, --purpose and --cover derive test cases that keep the data, without --unfold and \
                 --alternatives",
            ),
            None => e,
        })?;
        // Only conf speaks of plain actions, and derives by itself.
        if options.relation != Relation::Conf {
            spec.reject_plain_labels()?;
        }
        let name = spec.reference().name.clone().unwrap_or_else(|| {
            let stem = spec.reference().path().file_stem().unwrap_or_default();
            stem.to_string_lossy().into_owned()
        });
        let lts = spec.whole_system(options.budget)?;
        self.budget().know(format!(
            "the model has {} states and {} transitions, and no test case was written yet",
            lts.states().len(),
            lts.transition_count()
        ));
        spec.reject_livelock(options.policy, options.budget)?;
        let source = DerivationSource {
            workspace: self,
            spec: &spec,
            model: ModelRef::of(name, &lts),
            lts: &lts,
            policy: options.policy,
        };
        let failed = Mutex::new(None);
        let failure = || failed.lock().unwrap_or_else(PoisonError::into_inner);
        let store = |case: TestCase| -> Publish<'_> {
            let publish = store(case);
            Box::new(move || {
                publish().unwrap_or_else(|error| {
                    *failure() = Some(error);
                    ControlFlow::Break(())
                })
            })
        };
        let work = CaseWork {
            jobs: options.jobs,
            store: &store,
        };
        let derivation = match &options.selection {
            DerivationSelection::Goals(goals) => goals.derive(&source, work, take),
            DerivationSelection::Cover { criterion, depth } => {
                cover(&source, of_states(*criterion)?, *depth, work)
            }
            DerivationSelection::Random(_)
            | DerivationSelection::Exhaustive(_)
            | DerivationSelection::Complete(_) => by_relation(&source, options, work),
        };
        // What could not be stored ended the derivation.
        let failed = failure().take();
        failed.map_or(derivation, Err)
    }
}

impl DerivationOptions {
    /// The option that gives what the test cases head for, if one does.
    fn goal(&self) -> Option<&'static str> {
        match &self.selection {
            DerivationSelection::Cover { .. } => Some("--cover"),
            DerivationSelection::Goals(goals) => Some(goals.flag()),
            DerivationSelection::Random(_)
            | DerivationSelection::Exhaustive(_)
            | DerivationSelection::Complete(_) => None,
        }
    }

    fn check(&self) -> Result<(), Error> {
        let complete = matches!(self.selection, DerivationSelection::Complete(_));
        if complete && !matches!(self.relation, Relation::Ioco | Relation::Uioco) {
            return Err(Error::input(format!(
                "--complete derives suites for ioco and uioco, not for {}",
                self.relation
            )));
        }
        if complete && self.context == Context::Queues {
            return Err(Error::input(
                "--complete is for --context synchronous: queues have no bound on the states of what is \
                 tested through them",
            ));
        }
        if self.context == Context::Queues
            && (self.goal().is_some() || self.relation == Relation::Conf)
        {
            return Err(Error::input(
                "--context queues is for test cases of ioco, uioco and ioconf at random or --exhaustive: \
                 a way to a goal is planned in step with the system, and conf knows no inputs",
            )
            .hint(
                "`iolite test --suite` knows the context of the system, and takes back a failure that an \
                 order of the messages explains; `iolite test` on the fly loses nothing",
            ));
        }
        match (self.max_in_flight, self.context) {
            (Some(0), _) => return Err(Error::input("--max-in-flight is at least 1")),
            (Some(_), Context::Synchronous) => {
                return Err(Error::input("--max-in-flight is for --context queues"));
            }
            _ => {}
        }
        if (self.relation == Relation::IoconfF) != self.traces.is_some() {
            return Err(Error::input(
                "--traces FILE#F and --relation ioconf-f belong together",
            ));
        }
        if let Some(flag) = self.goal() {
            reject_relation_towards(flag, self.relation)?;
        }
        Ok(())
    }
}

fn by_relation(
    source: &DerivationSource<'_>,
    options: &DerivationOptions,
    work: CaseWork<'_>,
) -> Result<Derivation, Error> {
    let (lts, model, policy) = (source.lts, &source.model, source.policy);
    match options.relation {
        Relation::Conf => {
            let mut derivation = ConfDerivation::new(lts);
            match &options.selection {
                DerivationSelection::Exhaustive(how) => {
                    let all = derivation.exhaustive(how, model);
                    let _ = work.take(&mut all.cases.into_iter());
                    Ok(Derivation {
                        complete: Some(all.complete),
                        left_out: derivation.left_out(),
                        ..Derivation::default()
                    })
                }
                DerivationSelection::Random(how) => {
                    let _ = work.take(&mut derivation.random_cases(how, model));
                    Ok(Derivation::default())
                }
                _ => Ok(Derivation::default()),
            }
        }
        Relation::Ioco => by_oracle(RelationOracle::ioco(lts, policy), options, model, work),
        Relation::Uioco => by_oracle(RelationOracle::uioco(lts, policy), options, model, work),
        Relation::Ioconf | Relation::IoconfF => {
            let traces = options.traces.as_ref().map(|f| {
                let reference = source.spec.reference();
                source.workspace.traces(f, reference, lts.labels())
            });
            let oracle = RelationOracle::ioconf(lts, policy, traces.transpose()?);
            by_oracle(oracle, options, model, work)
        }
        other => Err(Error::input(format!(
            "test cases are derived for ioco, uioco, ioconf, ioconf-f and conf, not for {other}"
        ))),
    }
}

fn by_oracle(
    oracle: RelationOracle<&Lts>,
    options: &DerivationOptions,
    model: &ModelRef,
    work: CaseWork<'_>,
) -> Result<Derivation, Error> {
    let queues = (options.context != Context::Synchronous).then(|| QueueOptions {
        max_in_flight: options.max_in_flight.unwrap_or(DEFAULT_MAX_IN_FLIGHT),
        ..QueueOptions::default()
    });
    let selection = match &options.selection {
        DerivationSelection::Random(how) => CaseSelection::Random(how),
        DerivationSelection::Exhaustive(how) => CaseSelection::Exhaustive(how),
        DerivationSelection::Complete(how) => CaseSelection::Complete(how),
        // Goals and coverage walk the specification, not an oracle.
        DerivationSelection::Cover { .. } | DerivationSelection::Goals(_) => {
            return Ok(Derivation::default());
        }
    };
    let derived =
        derive_cases(oracle, queues, selection, model, work).map_err(|e| too_large(&e))?;
    match derived.undecided {
        Some(why) => Err(Error::undecided(why.reason.to_string())),
        None => Ok(Derivation {
            complete: derived.complete,
            completeness: derived.completeness,
            ..Derivation::default()
        }),
    }
}

/// What is covered of a model without data.
fn of_states(criterion: CoverageCriterion) -> Result<CoverageGoal, Error> {
    match criterion {
        CoverageCriterion::Locations => Ok(CoverageGoal::States),
        CoverageCriterion::Transitions => Ok(CoverageGoal::Transitions),
        CoverageCriterion::Branches | CoverageCriterion::SwitchPairs => Err(Error::input(
            "branches of guards and switch pairs are covered of models with data, and this one has none, \
             or is unfolded",
        )
        .hint("--cover states and --cover transitions cover the determinised suspension automaton")),
    }
}

fn reject_depth(depth: Option<usize>) -> Result<(), Error> {
    match depth {
        Some(_) => Err(Error::input(
            "--depth has no effect on test cases with data: they go on until their goal is reached, or out \
             of reach",
        )
        .hint("--unfold derives test cases of states, where the data are finite")),
        None => Ok(()),
    }
}

fn cover(
    source: &DerivationSource<'_>,
    goal: CoverageGoal,
    depth: Option<usize>,
    work: CaseWork<'_>,
) -> Result<Derivation, Error> {
    let fitting = || CoverageSuite::fitting_depth(source.lts.transition_count());
    let suite = CoverageSuite {
        goal,
        depth: depth.unwrap_or_else(fitting),
        limit: LARGEST,
    };
    let covering = suite
        .derive_each(source.lts, source.policy, &source.model, work)
        .map_err(|e| too_large(&e))?;
    Ok(Derivation {
        depth: Some(suite.depth),
        covered: Some(covering.covered),
        uncovered: covering.uncovered,
        unreachable: covering.unreachable,
        ..Derivation::default()
    })
}

fn too_large(error: &BudgetExceeded) -> Error {
    Error::undecided(format!("the test graph is too large: {error}"))
}
