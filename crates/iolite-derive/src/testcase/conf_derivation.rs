//! Derivation for conf [LTS96, algorithm 4.11].

use std::collections::VecDeque;
use std::sync::Arc;

use iolite_lts::relation::Relation;
use iolite_lts::{Determinised, LabelId, Semantics, SetId, StateId};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::FxHashMap;

use crate::location::places;
use crate::testcase::arena::Arena;
use crate::{
    Criterion, Enumerated, Enumeration, ExhaustiveDerivation, ModelRef, RandomDerivation, TestCase,
    TestState, TestStateId, TestStep, Verdict,
};

/// From this many initial actions on, only the smallest sets A are listed: there are too many.
const MAX_LISTED_ACTIONS: usize = 12;

/// A set A that algorithm 4.11 may offer, with ν.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedSet {
    /// The actions, in order.
    pub actions: Vec<LabelId>,
    /// The verdict at deadlock: `fail` where the specification always goes on with one of the
    /// actions, `pass` where it may refuse them all.
    pub verdict: Verdict,
}

/// The traces of a specification with what it must not refuse after each.
#[derive(Debug)]
pub struct ConfDerivation<M> {
    view: Determinised<M>,
    leaves_out: bool,
}

impl<M: Semantics<State = StateId>> ConfDerivation<M> {
    /// Derives from `specification`.
    pub fn new(specification: M) -> Self {
        Self {
            view: Determinised::new(specification),
            leaves_out: false,
        }
    }

    /// Why sets A were left out of those that were asked for, where some were: that is no matter of how many test cases
    /// are wanted.
    pub fn left_out(&self) -> Option<String> {
        self.leaves_out.then(|| {
            format!(
                "after some trace more than {MAX_LISTED_ACTIONS} actions may come, and of the sets to be offered there \
                 only smallest ones were listed"
            )
        })
    }

    /// `C_s = { init(s') | s ⟹ε s' }`, each in order, without repetition.
    ///
    /// After the first step the algorithm goes on with `Σ{ i; s' }`, whose own initial actions are
    /// the union of the others and so change no condition; they are left out.
    pub fn initials(&mut self, set: SetId) -> Vec<Vec<LabelId>> {
        let members = self.view.members(set).to_vec();
        let mut sets: Vec<Vec<LabelId>> = members
            .into_iter()
            .map(|state| {
                let closed = self.view.set_of(&[state]);
                self.view.row(closed).iter().map(|&(l, _)| l).collect()
            })
            .collect();
        sets.sort_unstable();
        sets.dedup();
        sets
    }

    /// The set before anything happened.
    pub(crate) fn initial(&mut self) -> SetId {
        self.view.initial()
    }

    /// The steps of a set.
    pub(crate) fn row(&mut self, set: SetId) -> Vec<(LabelId, SetId)> {
        self.view.row(set).to_vec()
    }

    /// The smallest sets of actions that the specification cannot refuse here, and whether these are all.
    pub(crate) fn forbidden_refusals(&mut self, set: SetId) -> (Vec<Vec<LabelId>>, bool) {
        let (offers, complete) = self.offers(set, false);
        let forbidden = offers.into_iter().filter(|o| o.verdict == Verdict::Fail);
        (forbidden.map(|o| o.actions).collect(), complete)
    }

    /// `init(s)`.
    fn init(&mut self, set: SetId) -> Vec<LabelId> {
        self.view.row(set).iter().map(|&(l, _)| l).collect()
    }

    /// The non-empty sets A of the algorithm; `every` of them or the smallest only. The flag says
    /// whether all that were asked for are there.
    pub fn offers(&mut self, set: SetId, every: bool) -> (Vec<OfferedSet>, bool) {
        let initials = self.initials(set);
        let init = self.init(set);
        if init.is_empty() {
            return (Vec::new(), true);
        }
        if initials.iter().any(Vec::is_empty) {
            let all = OfferedSet {
                actions: init,
                verdict: Verdict::Pass,
            };
            return (vec![all], true);
        }
        let hits = |actions: &[LabelId]| {
            initials
                .iter()
                .all(|c| c.iter().any(|l| actions.contains(l)))
        };
        let fail = |actions| OfferedSet {
            actions,
            verdict: Verdict::Fail,
        };
        if init.len() > MAX_LISTED_ACTIONS {
            self.leaves_out = true;
            // One smallest set from each starting action, and all actions.
            let mut found: Vec<Vec<LabelId>> = (0..init.len())
                .map(|k| {
                    let mut actions = init.clone();
                    actions.rotate_left(k);
                    shrink(actions, &hits)
                })
                .collect();
            found.push(init);
            found.sort_unstable();
            found.dedup();
            return (found.into_iter().map(fail).collect(), false);
        }
        let mut found: Vec<Vec<LabelId>> = (1u32..1 << init.len())
            .map(|mask| {
                let chosen = (0..init.len()).filter(|i| mask >> i & 1 == 1);
                chosen.map(|i| init[i]).collect::<Vec<_>>()
            })
            .filter(|actions| hits(actions))
            .collect();
        if !every {
            found.retain(|actions| {
                (0..actions.len()).all(|skip| {
                    let fewer: Vec<LabelId> = (0..actions.len())
                        .filter(|&i| i != skip)
                        .map(|i| actions[i])
                        .collect();
                    !hits(&fewer)
                })
            });
        }
        found.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        (found.into_iter().map(fail).collect(), true)
    }

    fn offer_state(
        &self,
        set: SetId,
        offered: &OfferedSet,
        targets: Vec<TestStateId>,
    ) -> TestState {
        let places = places(&self.view, set).shared();
        TestState {
            step: TestStep::Offer {
                actions: offered.actions.iter().copied().zip(targets).collect(),
            },
            verdict: offered.verdict,
            locations: places.locations,
            places: places.names,
        }
    }

    fn finish(&self, model: &ModelRef, n: usize, states: Vec<TestState>) -> TestCase {
        let criterion = Criterion::Relation(Relation::Conf);
        let base = model.name.as_deref().unwrap_or(criterion.name());
        TestCase::new(
            format!("{base}-{n}"),
            criterion,
            model.clone(),
            Arc::new(self.view.labels().clone()),
            states,
        )
        .expect("the algorithm gives test cases")
    }

    /// Seeded random derivation; the weights of stimulating and observing together are that of going
    /// on.
    pub fn random(&mut self, how: &RandomDerivation, model: &ModelRef) -> Vec<TestCase> {
        self.random_cases(how, model).collect()
    }

    /// The same one by one, each made when it is asked for.
    pub fn random_cases(
        &mut self,
        how: &RandomDerivation,
        model: &ModelRef,
    ) -> impl Iterator<Item = TestCase> {
        (1..=how.count).map(move |n| {
            let states = self.random_one(how, &mut how.rng(n));
            self.finish(model, n, states)
        })
    }

    fn random_one(
        &mut self,
        how: &RandomDerivation,
        rng: &mut Xoshiro256PlusPlus,
    ) -> Vec<TestState> {
        let mut arena = Arena::default();
        let root = arena.hole();
        let mut queue = VecDeque::from([(root, self.view.initial(), how.depth)]);
        let weights = how.weights;
        let go_on = u64::from(weights.stimulate) + u64::from(weights.observe);
        while let Some((id, set, depth)) = queue.pop_front() {
            let total = go_on + u64::from(weights.stop);
            let stop = depth == 0
                || arena.states.len() >= how.max_states
                || total == 0
                || rng.random_range(0..total) >= go_on;
            let offered = if stop {
                None
            } else {
                self.random_offer(set, rng)
            };
            arena.states[id.index()] = match offered {
                None => {
                    let places = places(&self.view, set).shared();
                    TestState {
                        locations: places.locations,
                        places: places.names,
                        ..TestState::end(Verdict::Pass)
                    }
                }
                Some(offered) => {
                    let mut targets = Vec::new();
                    for &label in &offered.actions {
                        let next = self.view.after(set, label).expect("an initial action");
                        let id = arena.hole();
                        queue.push_back((id, next, depth - 1));
                        targets.push(id);
                    }
                    self.offer_state(set, &offered, targets)
                }
            };
        }
        arena.states
    }

    fn random_offer(&mut self, set: SetId, rng: &mut Xoshiro256PlusPlus) -> Option<OfferedSet> {
        let initials = self.initials(set);
        let mut init = self.init(set);
        if init.is_empty() {
            return None;
        }
        if initials.iter().any(Vec::is_empty) {
            return Some(OfferedSet {
                actions: init,
                verdict: Verdict::Pass,
            });
        }
        init.shuffle(rng);
        let hits = |actions: &[LabelId]| {
            initials
                .iter()
                .all(|c| c.iter().any(|l| actions.contains(l)))
        };
        let mut actions = shrink(init.clone(), &hits);
        for label in init {
            if !actions.contains(&label) && rng.random_bool(0.5) {
                actions.push(label);
            }
        }
        actions.sort_unstable();
        Some(OfferedSet {
            actions,
            verdict: Verdict::Fail,
        })
    }

    /// Exhaustive derivation up to a depth. By traces, the last set offered ranges over the smallest
    /// ones, and on the way there everything is offered.
    pub fn exhaustive(&mut self, how: &ExhaustiveDerivation, model: &ModelRef) -> Enumerated {
        let depth = how
            .depth
            .min(crate::testcase::exhaustive_derivation::MAX_ENUMERATION_DEPTH);
        let mut all = AllOffers {
            arena: Arena::default(),
            memo: FxHashMap::default(),
            every: how.enumeration == Enumeration::Every,
            limit: how.limit,
            states: how.limit.saturating_mul(64).max(1 << 16),
            complete: depth == how.depth,
        };
        let initial = self.view.initial();
        let mut roots = match how.enumeration {
            Enumeration::Traces | Enumeration::GoalTraces => {
                self.follow_traces(depth, how.limit, &mut all)
            }
            _ => all.tests(self, initial, depth),
        };
        if roots.len() > how.limit {
            roots.truncate(how.limit);
            all.complete = false;
        }
        let cases = roots
            .iter()
            .zip(1..)
            .map(|(&root, n)| self.finish(model, n, all.arena.extract(root)))
            .collect();
        Enumerated {
            cases,
            complete: all.complete,
        }
    }

    fn follow_traces(
        &mut self,
        depth: usize,
        limit: usize,
        all: &mut AllOffers,
    ) -> Vec<TestStateId> {
        let initial = self.view.initial();
        let mut roots = Vec::new();
        if depth == 0 {
            return vec![all.arena.verdict(Verdict::Pass)];
        }
        let mut queue: VecDeque<(Vec<LabelId>, SetId)> = VecDeque::from([(Vec::new(), initial)]);
        while let Some((trace, set)) = queue.pop_front() {
            let (offers, complete) = self.offers(set, false);
            all.complete &= complete;
            for last in offers.iter().filter(|o| o.verdict == Verdict::Fail) {
                if roots.len() >= limit {
                    all.complete = false;
                    return roots;
                }
                roots.push(self.along(&trace, initial, last, &mut all.arena));
            }
            if trace.len() + 1 < depth {
                for &(label, next) in self.view.row(set) {
                    if queue.len() + roots.len() > limit {
                        all.complete = false;
                    } else {
                        queue.push_back(([&trace[..], &[label]].concat(), next));
                    }
                }
            }
        }
        roots
    }

    fn along(
        &mut self,
        trace: &[LabelId],
        initial: SetId,
        last: &OfferedSet,
        arena: &mut Arena,
    ) -> TestStateId {
        let root = arena.hole();
        let (mut id, mut set) = (root, initial);
        for &label in trace {
            let may_refuse = self.initials(set).iter().any(Vec::is_empty);
            let everything = OfferedSet {
                actions: self.init(set),
                verdict: if may_refuse {
                    Verdict::Pass
                } else {
                    Verdict::Fail
                },
            };
            let next_id = arena.hole();
            let targets = everything
                .actions
                .iter()
                .map(|&l| {
                    if l == label {
                        next_id
                    } else {
                        arena.verdict(Verdict::Pass)
                    }
                })
                .collect();
            arena.states[id.index()] = self.offer_state(set, &everything, targets);
            set = self.view.after(set, label).expect("a trace");
            id = next_id;
        }
        let end = arena.verdict(Verdict::Pass);
        let targets = vec![end; last.actions.len()];
        arena.states[id.index()] = self.offer_state(set, last, targets);
        root
    }
}

/// Drops what is not needed, last actions first.
fn shrink(mut actions: Vec<LabelId>, hits: &impl Fn(&[LabelId]) -> bool) -> Vec<LabelId> {
    for i in (0..actions.len()).rev() {
        let label = actions.remove(i);
        if !hits(&actions) {
            actions.insert(i, label);
        }
    }
    actions.sort_unstable();
    actions
}

/// All test cases of a set and a depth, remembered.
struct AllOffers {
    arena: Arena,
    memo: FxHashMap<(SetId, usize), Vec<TestStateId>>,
    every: bool,
    limit: usize,
    states: usize,
    complete: bool,
}

impl AllOffers {
    fn tests<M: Semantics<State = StateId>>(
        &mut self,
        of: &mut ConfDerivation<M>,
        set: SetId,
        depth: usize,
    ) -> Vec<TestStateId> {
        if depth == 0 {
            return vec![self.arena.verdict(Verdict::Pass)];
        }
        if let Some(found) = self.memo.get(&(set, depth)) {
            return found.clone();
        }
        let (offers, complete) = of.offers(set, true);
        self.complete &= complete;
        let mut found = Vec::new();
        if self.every || offers.is_empty() {
            found.push(self.arena.verdict(Verdict::Pass));
        }
        'offers: for offered in &offers {
            let choices: Vec<Vec<TestStateId>> = offered
                .actions
                .iter()
                .map(|&label| {
                    let next = of.view.after(set, label).expect("an initial action");
                    self.tests(of, next, depth - 1)
                })
                .collect();
            let mut index = vec![0; choices.len()];
            loop {
                let full = !found.is_empty()
                    && (found.len() >= self.limit || self.arena.states.len() >= self.states);
                if full {
                    self.complete = false;
                    break 'offers;
                }
                let targets = (0..index.len()).map(|i| choices[i][index[i]]).collect();
                let state = of.offer_state(set, offered, targets);
                found.push(self.arena.push(state));
                let Some(turn) = (0..index.len()).rfind(|&i| index[i] + 1 < choices[i].len())
                else {
                    break;
                };
                index[turn] += 1;
                index[turn + 1..].fill(0);
            }
        }
        self.memo.insert((set, depth), found.clone());
        found
    }
}
