//! The breadth-first search over pairs that all relations share.

use std::ops::ControlFlow;

use rustc_hash::FxHashSet;

use crate::level_order::LevelOrder;
use crate::{Closure, LabelId, LabelKind, Semantics, StateId, Step};

use super::crew::Jobs;
use super::expansion::{ExpandedStep, Expander, Expansion, Taken};
use super::known::Known;
use super::nodes::{Node, Nodes, Place};
use super::pairs::{Order, Pairs};
use super::rules::{Next, PairRules};
use super::{Allowed, Counterexample, Effort, Observed, Search};

/// A violation with all that its counterexample needs.
pub(super) struct Violation {
    trace: Vec<LabelId>,
    observed: Observed,
    allowed: Allowed,
    implementation: StateId,
    specification: Vec<StateId>,
    kind: Kind,
}

/// What makes two counterexamples different: the node, and the action or `None` for a refusal.
type Kind = (Node, Option<LabelId>);

fn kind(node: Node, observed: &Observed) -> Kind {
    match observed {
        Observed::Action(label) => (node, Some(*label)),
        Observed::Refusal(_) => (node, None),
    }
}

impl Violation {
    pub(super) fn into_counterexample(self) -> Counterexample {
        let Self {
            trace,
            observed,
            allowed,
            implementation,
            specification,
            kind: _,
        } = self;
        Counterexample {
            trace,
            observed,
            allowed,
            implementation,
            specification,
        }
    }
}

pub(super) struct Outcome {
    pub(super) found: Vec<Violation>,
    pub(super) effort: Effort,
    /// Whether everything was looked at, or as many counterexamples found as wanted.
    pub(super) complete: bool,
}

/// How many pairs are taken between two questions whether to proceed.
const PATIENCE: usize = 1024;

/// Pairs whose internal steps are read at a time.
const NEAR: u32 = 256;

/// A search with fewer pairs is over before a better order is there.
const FEW_PAIRS: u32 = 1 << 16;

/// Walks the pairs, shortest traces first. `map` takes the labels of the implementation to the joint
/// table. Where more than one counterexample is wanted, one is looked for first in the order given;
/// the others are then listed without dropping a pair, since a larger set is another counterexample.
pub(super) fn search<R, M, J>(
    rules: &mut R,
    nodes: &mut Nodes,
    implementation: &M,
    map: &[LabelId],
    order: Order<'_>,
    jobs: J,
    how: &mut Search<'_>,
) -> Outcome
where
    R: PairRules,
    M: Semantics<State = StateId>,
    J: Jobs<R, M>,
{
    let wanted = how.counterexamples;
    let mut question = Question {
        rules,
        nodes,
        implementation,
        map,
        jobs,
        proceed: &mut *how.proceed,
    };
    let first = question.first_violation(order);
    if wanted <= 1 || first.found.is_empty() {
        return first;
    }
    question
        .walk(Order::Equality, u32::MAX, wanted, first.found)
        .1
}

/// What a search is asked.
struct Question<'a, R, M, J> {
    rules: &'a mut R,
    nodes: &'a mut Nodes,
    implementation: &'a M,
    map: &'a [LabelId],
    jobs: J,
    proceed: &'a mut dyn FnMut(&Effort) -> ControlFlow<()>,
}

impl<R: PairRules, M: Semantics<State = StateId>, J: Jobs<R, M>> Question<'_, R, M, J> {
    /// Looks for one violation. Where the order turns out to be wrong, since a set leaves something open, only equal pairs
    /// count as met, and where these are many, those that a cover allows.
    fn first_violation(&mut self, order: Order<'_>) -> Outcome {
        let few = match order {
            Order::Inclusion => FEW_PAIRS,
            // No other order is wanted.
            Order::Equality | Order::Covered(_) => u32::MAX,
        };
        let (mut end, mut outcome) = self.walk(order, few, 1, Vec::new());
        if matches!(end, End::Misled) {
            (end, outcome) = self.walk(Order::Equality, few, 1, Vec::new());
        }
        if matches!(end, End::Many) {
            let cover = self.rules.cover();
            let order = cover.as_ref().map_or(Order::Equality, Order::Covered);
            (_, outcome) = self.walk(order, u32::MAX, 1, Vec::new());
        }
        outcome
    }

    /// Walks until as many violations are found as wanted. `most` is how many pairs may be met while only equal ones
    /// count as met before.
    fn walk(
        &mut self,
        order: Order<'_>,
        most: u32,
        wanted: usize,
        found: Vec<Violation>,
    ) -> (End, Outcome) {
        let crew = self.jobs.crew(self.rules, self.implementation);
        let separate = self.rules.separates_parts();
        // With parts a number of a set is not that of a place.
        let states = (!self.rules.has_parts()).then(|| self.implementation.explicit_states());
        let known = Known::none_of(states.flatten().unwrap_or(0));
        Walk::<R, M, J> {
            lead: Expander::new(&mut *self.rules, self.implementation),
            crew,
            memory: Memory {
                implementation: self.implementation,
                proceed: &mut *self.proceed,
                wanted,
                pairs: Pairs::new(order, separate),
                most,
                closure: Closure::default(),
                depth: 0,
                taken: 0,
                bytes: 0,
                lost: None,
                misled: false,
                seen: FxHashSet::default(),
                found,
                met: Vec::new(),
                internal: InternalSteps::default(),
            },
            nodes: &mut *self.nodes,
            map: self.map,
            known,
        }
        .run()
    }
}

/// Why a walk ended before all pairs were taken.
enum End {
    /// Enough was found, or the caller has had enough.
    Enough,
    /// Pairs were dropped that may ask more than those they were dropped for.
    Misled,
    /// More pairs were met than is worth while without another order.
    Many,
}

struct Walk<'a, R, M, J: Jobs<R, M>> {
    /// Who asks the models.
    lead: Expander<'a, R, M>,
    crew: J::Crew,
    memory: Memory<'a, M>,
    nodes: &'a mut Nodes,
    map: &'a [LabelId],
    known: Known,
}

/// What a search remembers.
struct Memory<'a, M> {
    implementation: &'a M,
    proceed: &'a mut dyn FnMut(&Effort) -> ControlFlow<()>,
    wanted: usize,
    pairs: Pairs<'a>,
    /// How many pairs may be met while only equal ones count as met before.
    most: u32,
    /// Which states of the implementation have internal steps.
    closure: Closure,
    depth: usize,
    taken: usize,
    /// What rules and crew hold.
    bytes: usize,
    /// A pair of the next level that is known to violate the relation, where one will do.
    lost: Option<u32>,
    /// Whether pairs were dropped that may ask more than those they were dropped for.
    misled: bool,
    seen: FxHashSet<Kind>,
    found: Vec<Violation>,
    /// Violations that were met, without what was allowed.
    met: Vec<(u32, Node, Observed)>,
    internal: InternalSteps,
}

/// Pairs whose states have internal steps, and the rows of these.
#[derive(Default)]
struct InternalSteps {
    pairs: Vec<u32>,
    states: Vec<StateId>,
    rows: Vec<Step>,
    ends: Vec<usize>,
}

impl InternalSteps {
    fn clear(&mut self) {
        self.pairs.clear();
        self.states.clear();
        self.rows.clear();
        self.ends.clear();
    }
}

impl<M: Semantics<State = StateId>> Memory<'_, M> {
    fn effort(&self, nodes: &Nodes) -> Effort {
        Effort {
            pairs: self.pairs.len() as usize,
            sets: nodes.set_count(),
            depth: self.depth,
            bytes: self.bytes + nodes.bytes() + self.pairs.bytes(),
        }
    }

    /// Adds to the level that starts with the pair `first` what its pairs reach internally. Steps of several pairs are read at
    /// once: one after the other, each would wait for memory.
    fn internal_steps(&mut self, nodes: &Nodes, first: u32) -> ControlFlow<End> {
        let kinds = self.implementation.labels().kinds();
        let mut internal = std::mem::take(&mut self.internal);
        let mut next = first;
        while next < self.pairs.len() {
            let pairs = next..self.pairs.len().min(next + NEAR);
            next = pairs.end;
            internal.clear();
            for pair in pairs {
                let state = self.pairs.state(pair);
                let is_stable = self.closure.is_stable(self.implementation, state);
                if !is_stable && !self.pairs.is_replaced(pair) {
                    internal.pairs.push(pair);
                    internal.states.push(state);
                }
            }
            let InternalSteps {
                pairs,
                states,
                rows,
                ends,
            } = &mut internal;
            self.implementation
                .internal_successors_of(states, rows, ends);
            self.pairs
                .look_ahead(rows.iter().map(|&(_, target)| target));
            let mut start = 0;
            for (&pair, &end) in pairs.iter().zip(&*ends) {
                let row = &rows[std::mem::replace(&mut start, end)..end];
                // One before it may have replaced it meanwhile.
                if self.pairs.is_replaced(pair) {
                    continue;
                }
                self.ask(nodes)?;
                for &(label, target) in row {
                    if kinds[label.index()] == LabelKind::Internal {
                        self.pairs.reach_internally(nodes, target, pair);
                    }
                }
            }
        }
        self.internal = internal;
        ControlFlow::Continue(())
    }

    /// Asks now and then whether to proceed.
    fn ask(&mut self, nodes: &Nodes) -> ControlFlow<End> {
        self.taken += 1;
        if !self.taken.is_multiple_of(PATIENCE) {
            return ControlFlow::Continue(());
        }
        if self.pairs.len() > self.most && matches!(self.pairs.order(), Order::Equality) {
            return ControlFlow::Break(End::Many);
        }
        let effort = self.effort(nodes);
        (self.proceed)(&effort).map_break(|()| End::Enough)
    }

    /// What the states of some pairs refuse, and their visible steps.
    fn take(
        &mut self,
        nodes: &mut Nodes,
        known: &Known,
        pairs: &[u32],
        expansion: &mut Expansion,
    ) -> ControlFlow<End> {
        self.pairs.look_ahead(expansion.targets());
        nodes.look_ahead(expansion.sets.hashes());
        for (k, &pair) in pairs.iter().enumerate() {
            self.ask(nodes)?;
            if let Some(refused) = expansion.refusal(k) {
                self.violated(pair, Observed::Refusal(refused))?;
            }
            if self.lost.is_some() {
                // There is a violation after one more action; only a refusal here would be shorter.
                continue;
            }
            for step in expansion.steps_of(k) {
                let ExpandedStep {
                    label,
                    target,
                    next,
                } = expansion.step(step);
                match next {
                    Next::Go(goal) | Next::Lost(goal) => {
                        let sets = &mut expansion.sets;
                        let by = (pair, label);
                        let Some(new) = self.pairs.reach(nodes, sets, target, goal, by) else {
                            continue;
                        };
                        known.note(target, self.pairs.node(new));
                        if matches!(next, Next::Lost(_)) && self.wanted == 1 {
                            self.lost = Some(new);
                            break;
                        }
                    }
                    Next::Outside => {}
                    Next::Unspecified => self.left_open(),
                    Next::Forbidden => self.violated(pair, Observed::Action(label))?,
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// A set leaves something open.
    fn left_open(&mut self) {
        match self.pairs.order() {
            Order::Equality | Order::Covered(_) => {}
            // What dropped pairs may ask more, they ask after one more action at the earliest: this level has
            // all violations after as many actions, and one of them is an answer.
            Order::Inclusion if self.pairs.has_dropped() => self.misled = true,
            Order::Inclusion => self.pairs.compare_by_equality(),
        }
    }

    fn violated(&mut self, pair: u32, observed: Observed) -> ControlFlow<End> {
        let node = self.pairs.node(pair);
        if self.seen.insert(kind(node, &observed)) {
            self.met.push((pair, node, observed));
        }
        if self.found.len() + self.met.len() >= self.wanted {
            ControlFlow::Break(End::Enough)
        } else {
            ControlFlow::Continue(())
        }
    }
}

impl<R: PairRules, M: Semantics<State = StateId>, J: Jobs<R, M>> Walk<'_, R, M, J> {
    fn run(mut self) -> (End, Outcome) {
        let seen = self.memory.found.iter().map(|found| found.kind);
        self.memory.seen.extend(seen);
        let end = self.levels();
        self.explain_violations();
        let complete = end.is_continue() || self.memory.found.len() >= self.memory.wanted;
        let effort = self.memory.effort(self.nodes);
        let outcome = Outcome {
            found: self.memory.found,
            effort,
            complete,
        };
        (end.break_value().unwrap_or(End::Enough), outcome)
    }

    fn levels(&mut self) -> ControlFlow<End> {
        let (members, part) = self.lead.rules.initial();
        let start = Place {
            members: &members,
            part,
        };
        let initial = self.memory.implementation.initial();
        self.memory.pairs.start(self.nodes, initial, start);
        let mut first = 0;
        let mut level: Vec<u32> = Vec::new();
        let mut taken: Vec<Taken> = Vec::new();
        let mut order = LevelOrder::default();
        while first < self.memory.pairs.len() {
            level.clear();
            if let Some(pair) = self.memory.lost.take() {
                level.push(pair);
            } else {
                self.memory.internal_steps(self.nodes, first)?;
                let pairs = first..self.memory.pairs.len();
                level.extend(pairs.filter(|&pair| !self.memory.pairs.is_replaced(pair)));
            }
            let end = self.memory.pairs.len();
            let pairs = &mut self.memory.pairs;
            pairs.begin_level(end);
            // All pairs of one node together, so that its row is computed once a level.
            order.sort(&mut level, |pair| pairs.node(pair));
            taken.clear();
            let pair = |&pair: &u32| (pairs.state(pair), pairs.node(pair));
            taken.extend(level.iter().map(pair));
            self.take_level(&level, &taken)?;
            if self.memory.misled {
                return ControlFlow::Break(End::Misled);
            }
            first = end;
            self.memory.depth += 1;
        }
        ControlFlow::Continue(())
    }

    fn take_level(&mut self, level: &[u32], taken: &[Taken]) -> ControlFlow<End> {
        self.memory.bytes = self.lead.rules.bytes() + J::bytes(&self.crew) + self.known.bytes();
        let (memory, known) = (&mut self.memory, &self.known);
        J::level(
            &mut self.lead,
            &mut self.crew,
            taken,
            self.nodes,
            self.map,
            known,
            &mut |nodes, first, expansion| {
                let pairs = &level[first..first + expansion.len()];
                memory.take(nodes, known, pairs, expansion)
            },
        )
    }

    /// Adds to the violations that were met what was allowed instead.
    fn explain_violations(&mut self) {
        for (pair, node, observed) in std::mem::take(&mut self.memory.met) {
            let (members, part) = self.nodes.place(node);
            self.lead.rules.enter(Place {
                members: &members,
                part,
            });
            let kind = kind(node, &observed);
            self.memory.found.push(Violation {
                trace: self.memory.pairs.trace(pair),
                observed,
                allowed: self.lead.rules.allowed(),
                implementation: self.memory.pairs.state(pair),
                specification: members.to_vec(),
                kind,
            });
        }
    }
}
