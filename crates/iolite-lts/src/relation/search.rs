//! The breadth-first search over pairs that all relations share.

use std::ops::ControlFlow;

use rustc_hash::FxHashSet;

use crate::{Closure, LabelId, LabelKind, Semantics, StateId, Step};

use super::pairs::{Goal, Node, NodeSet, Order, Pairs};
use super::{Allowed, Counterexample, Effort, Observed, Search};

/// What becomes of a visible action of the implementation.
pub(super) enum Next {
    /// Both go on.
    Go(Goal),
    /// Both go on, to a pair that violates the relation whatever the implementation does there.
    Lost(Goal),
    /// The relation asks nothing about what comes after it, whatever the specification may be in.
    Outside,
    /// The set that the specification may be in leaves it open, so the relation asks nothing about
    /// what comes after it. A larger set might take it, and ask.
    Unspecified,
    /// The specification does not allow it here.
    Forbidden,
}

/// How one relation treats a pair.
///
/// A search drops a pair when it knows one of the same state with a smaller set that is reached by
/// no more actions. So where two sets have the same part, P ⊆ P', the rules promise, of each state
/// of the implementation:
///
/// 1. What is forbidden at P', or a refusal there, is so at P.
/// 2. Where a label leads from P' to Q', it is forbidden at P, or unspecified, or leads to a set
///    Q ⊆ Q' of the same part.
///
/// *Why that is enough.* Take a path of pairs that ends in a violation after n actions. By induction
/// along it the search takes, for each of its pairs (i', P'), a pair (i', P) with P ⊆ P' that is
/// reached by no more actions; or it meets, before, something forbidden, which is a violation
/// after fewer than n; or it meets something unspecified. At the end of the path 1 gives a violation
/// after n actions or fewer. Internal steps change the state and keep the set, and all of a level
/// are done before the first visible one, so that "no more actions" holds of every pair that is there
/// when another is dropped. So a search that meets nothing unspecified finds a shortest violation,
/// and one that does, after it has dropped a pair, has to begin again without dropping any.
pub(super) trait PairRules {
    /// What the specification may be in before any action.
    fn initial(&mut self) -> Node;

    /// From now on, until the next call, the questions are about `node`.
    fn enter(&mut self, node: Node);

    /// A refusal of `state` that the specification lacks, where the relation asks for refusals.
    fn refusal<M: Semantics<State = StateId>>(
        &mut self,
        _implementation: &M,
        _map: &[LabelId],
        _state: StateId,
    ) -> Option<Vec<LabelId>> {
        None
    }

    /// The visible action `label`, an id of the joint table. The kind comes along because the
    /// specification may not know the label.
    fn step(&mut self, label: LabelId, kind: LabelKind) -> Next;

    /// The set of a goal of the latest node that was entered.
    fn set(&self, goal: Goal) -> NodeSet<'_>;

    /// The number of such a goal.
    fn node(&mut self, goal: Goal) -> Node;

    /// What is allowed.
    fn allowed(&mut self) -> Allowed;

    /// The states that the specification may be in.
    fn members(&self) -> Vec<StateId>;

    /// Number of sets of specification states met so far, and the bytes they take.
    fn size(&self) -> (usize, usize);
}

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

/// Walks the pairs, shortest traces first. `map` takes the labels of the implementation to the joint
/// table. Where more than one counterexample is wanted, one is looked for first in the order given;
/// the others are then listed without dropping a pair, since a larger set is another counterexample.
pub(super) fn search<R: PairRules, M: Semantics<State = StateId>>(
    rules: &mut R,
    implementation: &M,
    map: &[LabelId],
    order: Order,
    how: &mut Search<'_>,
) -> Outcome {
    let mut walk = |order, wanted, found| {
        Walk {
            rules: &mut *rules,
            implementation,
            map,
            proceed: &mut *how.proceed,
            wanted,
            pairs: Pairs::new(order),
            closure: Closure::default(),
            depth: 0,
            taken: 0,
            lost: None,
            seen: FxHashSet::default(),
            found,
            row: Vec::new(),
        }
        .run()
    };
    let wanted = how.counterexamples;
    let first = match walk(order, 1, Vec::new()) {
        (End::Misled, _) => walk(Order::Equality, 1, Vec::new()).1,
        (_, outcome) => outcome,
    };
    if wanted <= 1 || first.found.is_empty() {
        return first;
    }
    walk(Order::Equality, wanted, first.found).1
}

/// Why a walk ended before all pairs were taken.
enum End {
    /// Enough was found, or the caller has had enough.
    Enough,
    /// Pairs were dropped that may ask more than those they were dropped for.
    Misled,
}

struct Walk<'a, R, M> {
    rules: &'a mut R,
    implementation: &'a M,
    map: &'a [LabelId],
    proceed: &'a mut dyn FnMut(&Effort) -> ControlFlow<()>,
    wanted: usize,
    pairs: Pairs,
    /// Which states of the implementation have internal steps.
    closure: Closure,
    depth: usize,
    taken: usize,
    /// A pair of the next level that is known to violate the relation, where one will do.
    lost: Option<u32>,
    seen: FxHashSet<Kind>,
    found: Vec<Violation>,
    row: Vec<Step>,
}

impl<R: PairRules, M: Semantics<State = StateId>> Walk<'_, R, M> {
    fn effort(&self) -> Effort {
        let (sets, bytes) = self.rules.size();
        Effort {
            pairs: self.pairs.len() as usize,
            sets,
            depth: self.depth,
            bytes: bytes + self.pairs.bytes(),
        }
    }

    fn run(mut self) -> (End, Outcome) {
        self.seen.extend(self.found.iter().map(|found| found.kind));
        let end = self.levels();
        let complete = end.is_continue() || self.found.len() >= self.wanted;
        let effort = self.effort();
        let outcome = Outcome {
            found: self.found,
            effort,
            complete,
        };
        (end.break_value().unwrap_or(End::Enough), outcome)
    }

    fn levels(&mut self) -> ControlFlow<End> {
        let start = Goal::Node(self.rules.initial());
        let initial = self.implementation.initial();
        self.pairs
            .reach(self.rules, initial, start, (0, LabelId::TAU));
        let mut first = 0;
        let mut level = Vec::new();
        while first < self.pairs.len() {
            level.clear();
            if let Some(pair) = self.lost.take() {
                level.push(pair);
            } else {
                self.internal_steps(first)?;
                let pairs = first..self.pairs.len();
                level.extend(pairs.filter(|&pair| !self.pairs.is_replaced(pair)));
            }
            let end = self.pairs.len();
            // All pairs of one node together, so that its row is computed once a level.
            level.sort_unstable_by_key(|&pair| (self.pairs.node(pair), pair));
            self.pairs.begin_level(end);
            let mut entered = None;
            for &pair in &level {
                let node = self.pairs.node(pair);
                if entered.replace(node) != Some(node) {
                    self.rules.enter(node);
                }
                self.take(pair, node)?;
            }
            first = end;
            self.depth += 1;
        }
        ControlFlow::Continue(())
    }

    /// Adds to the level that starts with the pair `first` what its pairs reach internally.
    fn internal_steps(&mut self, first: u32) -> ControlFlow<End> {
        let kinds = self.implementation.labels().kinds();
        let mut pair = first;
        while pair < self.pairs.len() {
            let state = self.pairs.state(pair);
            if !self.closure.is_stable(self.implementation, state) && !self.pairs.is_replaced(pair)
            {
                self.ask()?;
                let goal = Goal::Node(self.pairs.node(pair));
                self.row.clear();
                self.implementation.successors(&state, &mut self.row);
                for &(label, target) in &self.row {
                    if kinds[label.index()] == LabelKind::Internal {
                        let by = (pair, LabelId::TAU);
                        self.pairs.reach(self.rules, target, goal, by);
                    }
                }
            }
            pair += 1;
        }
        ControlFlow::Continue(())
    }

    /// Asks now and then whether to proceed.
    fn ask(&mut self) -> ControlFlow<End> {
        self.taken += 1;
        if !self.taken.is_multiple_of(PATIENCE) {
            return ControlFlow::Continue(());
        }
        let effort = self.effort();
        (self.proceed)(&effort).map_break(|()| End::Enough)
    }

    /// What the state of a pair refuses, and its visible steps.
    fn take(&mut self, pair: u32, node: Node) -> ControlFlow<End> {
        self.ask()?;
        let state = self.pairs.state(pair);
        if let Some(refused) = self.rules.refusal(self.implementation, self.map, state) {
            self.violated(pair, node, Observed::Refusal(refused))?;
        }
        if self.lost.is_some() {
            // There is a violation after one more action; only a refusal here would be shorter.
            return ControlFlow::Continue(());
        }
        let kinds = self.implementation.labels().kinds();
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        self.implementation.successors(&state, &mut row);
        for &(own, target) in &row {
            let kind = kinds[own.index()];
            if kind == LabelKind::Internal {
                continue;
            }
            let label = self.map[own.index()];
            match self.rules.step(label, kind) {
                Next::Go(goal) => {
                    self.pairs.reach(self.rules, target, goal, (pair, label));
                }
                Next::Lost(goal) => {
                    let new = self.pairs.len();
                    let is_new = self.pairs.reach(self.rules, target, goal, (pair, label));
                    if is_new && self.wanted == 1 {
                        self.lost = Some(new);
                        break;
                    }
                }
                Next::Outside => {}
                Next::Unspecified if self.pairs.order() == Order::Equality => {}
                Next::Unspecified if self.pairs.has_dropped() => {
                    return ControlFlow::Break(End::Misled);
                }
                Next::Unspecified => self.pairs.compare_by_equality(),
                Next::Forbidden => self.violated(pair, node, Observed::Action(label))?,
            }
        }
        self.row = row;
        ControlFlow::Continue(())
    }

    fn violated(&mut self, pair: u32, node: Node, observed: Observed) -> ControlFlow<End> {
        let action = match observed {
            Observed::Action(label) => Some(label),
            Observed::Refusal(_) => None,
        };
        let kind = (node, action);
        if self.seen.insert(kind) {
            self.found.push(Violation {
                trace: self.pairs.trace(pair),
                observed,
                allowed: self.rules.allowed(),
                implementation: self.pairs.state(pair),
                specification: self.rules.members(),
                kind,
            });
        }
        if self.found.len() >= self.wanted {
            ControlFlow::Break(End::Enough)
        } else {
            ControlFlow::Continue(())
        }
    }
}
