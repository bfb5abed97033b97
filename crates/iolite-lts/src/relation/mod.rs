//! Implementation relations, decided on the lazy views.
//!
//! Every relation here is a search over pairs of a state of the implementation and what the
//! specification may be in after the same trace (a set of its states). The implementation is never
//! determinised: the relations ask something of *each* of its states after a trace, so pairs with
//! single states decide them. The search is breadth first in the length of the visible trace, so the
//! first counterexample is a shortest one.
//!
//! | relation | σ ranges over | asked of each state i' of `i after σ` |
//! | --- | --- | --- |
//! | `trace` | traces(i) | σ ∈ traces(s) |
//! | `testing` | traces(i) | its refusals are refusals of `s after σ` |
//! | `conf` | traces(s) | its refusals are refusals of `s after σ` |
//! | `iot` | L* | its outputs and δ are in out(Δ_s after σ) |
//! | `ioconf` | traces(s) | the same |
//! | `ioconf-f` | F | the same |
//! | `ioco` | Straces(s) | its outputs and δ are in out(s after σ) |
//! | `uioco` | Utraces(s) | the same |

mod any_side;
mod cover;
mod crew;
#[cfg(test)]
mod crew_tests;
mod expansion;
mod known;
mod nodes;
#[cfg(test)]
mod order_tests;
mod output_inclusion;
mod pairs;
mod recheck;
mod recheck_queues;
mod refusal;
#[expect(
    clippy::module_inception,
    reason = "the relation among what decides it"
)]
mod relation;
mod rules;
mod search;
mod set_row;
mod trace_inclusion;
mod trace_set;
mod weak_initials;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::{LabelId, LabelKind, Labels, QuiescencePolicy, Semantics, StateId, Suspension};

pub use any_side::AnySide;
use crew::{Jobs, OneJob, SeveralJobs};
use nodes::Nodes;
use output_inclusion::{Domain, OutputInclusion};
use pairs::Order;
pub use recheck::{Claim, Followed, Recheck, follow_run, recheck, recheck_run};
pub use recheck_queues::follow_run_in_queues;
use refusal::RefusalInclusion;
pub use relation::{Relation, UnknownRelation};
use rules::PairRules;
use search::{Outcome, Violation, search};
use trace_inclusion::TraceInclusion;
pub use trace_set::TraceSet;

/// What the implementation showed and the specification does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observed {
    /// An action after the trace: a visible action for `trace`, an output or δ for the relations
    /// with inputs and outputs.
    Action(LabelId),
    /// The implementation refuses all of these after the trace.
    Refusal(Vec<LabelId>),
}

/// What the specification allows after the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// These actions.
    Actions(Vec<LabelId>),
    /// Refusals of subsets of these sets; with no set at all the trace itself is not allowed.
    Refusals(Vec<Vec<LabelId>>),
}

/// Why a relation does not hold. Labels are those of [`Answer::labels`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// A trace after which the two part; shortest for the first counterexample.
    pub trace: Vec<LabelId>,
    /// What the implementation shows.
    pub observed: Observed,
    /// What would have been right.
    pub allowed: Allowed,
    /// The state of the implementation that shows it.
    pub implementation: StateId,
    /// The states that the specification may be in.
    pub specification: Vec<StateId>,
}

/// How far a search went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Pairs of implementation state and specification set met.
    pub pairs: usize,
    /// Sets of specification states met.
    pub sets: usize,
    /// Length of the traces that are looked at now; all shorter ones are done.
    pub depth: usize,
    /// Bytes that the search holds.
    pub bytes: usize,
}

/// The outcome of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holds {
    /// The relation holds.
    Yes,
    /// It does not, and here is why: one counterexample, or one of each kind where all were asked
    /// for.
    No(Vec<Counterexample>),
    /// The search was stopped before it was decided.
    Unknown,
}

/// What [`SpecificationSide::check`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Whether the relation holds.
    pub holds: Holds,
    /// How much was searched.
    pub effort: Effort,
    /// The labels of both sides: the specification's, then what the implementation adds.
    pub labels: Labels,
}

/// Why a relation cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RelateError {
    /// The implementation lacks an input somewhere.
    #[error("the implementation is not input-enabled: state {state} does not take {input}")]
    NotInputEnabled {
        /// The state, in the model's words.
        state: String,
        /// The input, in `?a` notation.
        input: String,
    },
    /// A cycle of internal actions under the strict policy.
    #[error("the {side} diverges: state {state} lies on a cycle of internal actions")]
    Livelock {
        /// "implementation" or "specification".
        side: &'static str,
        /// The state, in the model's words.
        state: String,
    },
    /// A plain label where inputs and outputs must be told apart.
    #[error("the {side} has the plain label `{label}`; this relation needs ?inputs and !outputs")]
    Undirected {
        /// "implementation" or "specification".
        side: &'static str,
        /// The label.
        label: String,
    },
    /// `ioconf-f` without its set of traces.
    #[error("ioconf-f needs a set of traces")]
    NoTraceSet,
}

/// How to search.
pub struct Search<'a> {
    /// How many counterexamples to list, one for each observed action and specification set.
    pub counterexamples: usize,
    /// Asked now and then; `Break` ends the search with [`Holds::Unknown`].
    pub proceed: &'a mut dyn FnMut(&Effort) -> ControlFlow<()>,
}

/// The specification's side of a relation, with the sets it has met; it serves one implementation
/// after the other, so that a table of many pairs does the work on each specification once.
pub struct SpecificationSide<N: Semantics<State = StateId>> {
    relation: Relation,
    policy: QuiescencePolicy,
    rules: Rules<N>,
    nodes: Nodes,
}

enum Rules<N: Semantics<State = StateId>> {
    Traces(TraceInclusion<N>),
    Refusals(RefusalInclusion<N>),
    Outputs(OutputInclusion<N>),
}

impl<N: Semantics<State = StateId>> SpecificationSide<N> {
    /// Prepares a relation to `specification`. `traces` is F, for `ioconf-f` only, over the labels
    /// of the specification and then those that the implementation adds, as [`Answer::labels`] has them: the
    /// implementation may come to do wrong after actions that the specification has not.
    pub fn new(
        relation: Relation,
        specification: N,
        policy: QuiescencePolicy,
        traces: Option<TraceSet>,
    ) -> Result<Self, RelateError> {
        let outputs = |specification, domain| {
            let view = Suspension::new(specification, policy);
            Rules::Outputs(OutputInclusion::new(view, domain))
        };
        let refusals = |specification, all_traces| {
            Rules::Refusals(RefusalInclusion::new(specification, all_traces))
        };
        let rules = match relation {
            Relation::Trace => Rules::Traces(TraceInclusion::new(specification)),
            Relation::Testing => refusals(specification, true),
            Relation::Conf => refusals(specification, false),
            Relation::Iot => outputs(specification, Domain::AllTraces),
            Relation::Ioconf => outputs(specification, Domain::Traces),
            Relation::IoconfF => {
                let traces = traces.ok_or(RelateError::NoTraceSet)?;
                outputs(specification, Domain::Given(Arc::new(traces)))
            }
            Relation::Ioco => outputs(specification, Domain::SuspensionTraces),
            Relation::Uioco => outputs(specification, Domain::UniversalSuspensionTraces),
        };
        let has_parts = matches!(&rules, Rules::Outputs(rules) if rules.has_parts());
        Ok(Self {
            relation,
            policy,
            rules,
            nodes: Nodes::new(has_parts),
        })
    }

    /// The specification's labels.
    pub fn labels(&self) -> &Labels {
        match &self.rules {
            Rules::Traces(r) => r.model.labels(),
            Rules::Refusals(r) => r.model.labels(),
            Rules::Outputs(r) => r.model.labels(),
        }
    }

    /// A state of the specification in the model's words.
    pub fn describe(&self, state: StateId) -> String {
        match &self.rules {
            Rules::Traces(r) => r.model.describe(&state),
            Rules::Refusals(r) => r.model.describe(&state),
            Rules::Outputs(r) => r.model.describe(&state),
        }
    }

    /// Decides whether `implementation` is in the relation.
    pub fn check<M: Semantics<State = StateId>>(
        &mut self,
        implementation: &M,
        how: &mut Search<'_>,
    ) -> Result<Answer, RelateError> {
        self.decide(implementation, OneJob, how)
    }

    /// The same by several threads, with the same answer and the same counterexamples. Each has its own
    /// copies of the two systems, which number their states alike.
    pub fn check_with_jobs<M>(
        &mut self,
        implementation: &M,
        jobs: NonZeroUsize,
        how: &mut Search<'_>,
    ) -> Result<Answer, RelateError>
    where
        M: Semantics<State = StateId> + Clone + Send,
        N: Clone + Send,
    {
        // The strict policy reports the livelocks that a view has met, so there must be one view.
        let jobs = match self.policy {
            QuiescencePolicy::Strict => NonZeroUsize::MIN,
            QuiescencePolicy::Livelock | QuiescencePolicy::Fair => jobs,
        };
        self.decide(implementation.clone(), SeveralJobs::new(jobs), how)
    }

    fn decide<M, J>(
        &mut self,
        implementation: M,
        jobs: J,
        how: &mut Search<'_>,
    ) -> Result<Answer, RelateError>
    where
        M: Semantics<State = StateId>,
        J: Jobs<TraceInclusion<N>, M>
            + Jobs<RefusalInclusion<N>, M>
            + Jobs<OutputInclusion<N>, Suspension<M>>,
    {
        let mut labels = self.labels().clone();
        let map = labels.join(implementation.labels());
        if self.relation.is_directed() {
            self.check_directed(&implementation)?;
        }
        let nodes = &mut self.nodes;
        let Outcome {
            found,
            effort,
            complete,
        } = match &mut self.rules {
            Rules::Traces(rules) => {
                let order = Order::Inclusion;
                search(rules, nodes, &implementation, &map, order, jobs, how)
            }
            Rules::Refusals(rules) => {
                rules.begin(&labels);
                let order = Order::Inclusion;
                search(rules, nodes, &implementation, &map, order, jobs, how)
            }
            Rules::Outputs(rules) => {
                let view = Suspension::new(implementation, self.policy);
                // The strict policy reports the livelocks that are met, so all sets are.
                let order = match self.policy {
                    QuiescencePolicy::Livelock | QuiescencePolicy::Fair => Order::Inclusion,
                    QuiescencePolicy::Strict => Order::Equality,
                };
                let outcome = search(rules, nodes, &view, &map, order, jobs, how);
                let sides = [
                    ("implementation", view.livelock().map(|s| view.describe(&s))),
                    (
                        "specification",
                        rules.model.livelock().map(|s| rules.model.describe(&s)),
                    ),
                ];
                for (side, state) in sides {
                    if let Some(state) = state {
                        return Err(RelateError::Livelock { side, state });
                    }
                }
                outcome
            }
        };
        let holds = match (found.is_empty(), complete) {
            (true, true) => Holds::Yes,
            (true, false) => Holds::Unknown,
            (false, _) => Holds::No(
                found
                    .into_iter()
                    .map(Violation::into_counterexample)
                    .collect(),
            ),
        };
        Ok(Answer {
            holds,
            effort,
            labels,
        })
    }
}

impl<N: Semantics<State = StateId>> SpecificationSide<N> {
    /// What the relations with inputs and outputs take for granted: directed labels, and an
    /// implementation that takes every input everywhere.
    pub fn check_directed<M>(&self, implementation: &M) -> Result<(), RelateError>
    where
        M: Semantics<State = StateId>,
    {
        check_directed(self.labels(), implementation)
    }
}

/// The same, of a specification with these labels.
fn check_directed<M>(specification: &Labels, implementation: &M) -> Result<(), RelateError>
where
    M: Semantics<State = StateId>,
{
    let sides = [
        ("implementation", implementation.labels()),
        ("specification", specification),
    ];
    for (side, labels) in sides {
        if let Some(label) = labels.of_kind(LabelKind::Undirected).next() {
            return Err(RelateError::Undirected {
                side,
                label: labels.text(label),
            });
        }
    }
    let known = |input: &LabelId| {
        let name = &specification.label(*input).name;
        implementation
            .labels()
            .get(LabelKind::Input, name)
            .is_some()
    };
    let (state, input) = if let Some(input) = specification.inputs().find(|i| !known(i)) {
        // The implementation is taken to have the specification's inputs, L_I.
        (implementation.initial(), specification.text(input))
    } else if let Some((state, input)) = crate::missing_input(implementation) {
        (state, implementation.labels().text(input))
    } else {
        return Ok(());
    };
    Err(RelateError::NotInputEnabled {
        state: implementation.describe(&state),
        input,
    })
}

/// Decides one relation between two systems; see [`SpecificationSide`] for many.
pub fn relate<M, N>(
    relation: Relation,
    implementation: &M,
    specification: &N,
    policy: QuiescencePolicy,
    traces: Option<TraceSet>,
) -> Result<Answer, RelateError>
where
    M: Semantics<State = StateId>,
    N: Semantics<State = StateId>,
{
    let mut side = SpecificationSide::new(relation, specification, policy, traces)?;
    let mut proceed = |_: &Effort| ControlFlow::Continue(());
    side.check(
        implementation,
        &mut Search {
            counterexamples: 1,
            proceed: &mut proceed,
        },
    )
}
