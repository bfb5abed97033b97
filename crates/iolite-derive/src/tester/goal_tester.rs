//! On-the-fly tests with a goal: no graph is built, a bounded look ahead finds the way.

use std::collections::VecDeque;

use iolite_lts::{LabelKind, QuiescencePolicy, Semantics, StateId};
use iolite_property::{Observer, Purpose};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    ActionId, Alphabet, Goal, Guide, Hint, IocoOracle, LabelGoal, Meaning, Menu, Move, Notice,
    Objective, Oracle, Progress, StateKey, Step, Tester, Undecided, Verdict,
};

/// test(S, ω) on the fly [SAFE04, §4], for one observer or several, over an explicit specification.
pub type SafetyTester<M> = GoalTester<IocoOracle<M>, LabelGoal<Observer>>;

/// A test purpose on the fly, or several at once, over an explicit specification.
pub type PurposeTester<M> = GoalTester<IocoOracle<M>, LabelGoal<Purpose>>;

/// How many pairs one look ahead visits at most, where the caller sets nothing: milliseconds.
const DEFAULT_LOOKAHEAD: usize = 4096;

/// Even a run that sees no goal looks this far ahead.
const SHORTEST_LOOKAHEAD: usize = 64;

/// From so many remembered pairs on, what is known of the way is forgotten and found anew.
const MAX_KNOWN: usize = 1 << 20;

/// Drives a system under test towards its goals, and judges it by the specification on the way.
///
/// Where the oracle can be enumerated, it looks ahead before it gives a stimulus, at most so many
/// pairs far, whether a goal is still reachable behind it, and does not give one that is proved to
/// lead nowhere. When that is proved of the place where the run is, the goal ends `inconc`. A look
/// ahead that hits its bound proves nothing: the run goes on, and [`Notice::LookaheadBound`] says so.
///
/// With several goals, each gets its own result; the run ends when all are decided, or with the first
/// failing verdict.
#[derive(Debug)]
pub struct GoalTester<O: Oracle, G: Goal> {
    oracle: O,
    at: Option<O::State>,
    goals: Vec<Tracked<O, G>>,
    lookahead: usize,
    /// The bound of the next look ahead: shorter while looks ahead come to nothing, so that a run far
    /// from its goal is not slow.
    reach: usize,
    lookahead_hit: bool,
    /// Whether the last step was δ and left specification and goals as they were.
    settled: bool,
    generation: u64,
    ended: Option<Verdict>,
    doubt: Option<Undecided>,
}

#[derive(Debug)]
struct Tracked<O: Oracle, G: Goal> {
    goal: G,
    at: G::State,
    result: Option<Verdict>,
    known: FxHashMap<(StateKey, G::State), Known>,
    row: Vec<(ActionId, O::State)>,
}

/// What is known of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// A goal is this many steps away, the first under this action.
    Live { next: ActionId, distance: u32 },
    /// No goal is reachable: proved.
    Dead,
    /// The look ahead ended without an answer.
    Open,
}

/// A pair of a look ahead, with the one it was met from.
struct Met<S, T> {
    set: S,
    at: T,
    key: StateKey,
    from: Option<(usize, ActionId)>,
}

impl<M: Semantics<State = StateId>, T: Objective> GoalTester<IocoOracle<M>, LabelGoal<T>> {
    /// A tester for one or more objectives of an explicit specification, with an alphabet of its own.
    pub fn explicit(specification: M, policy: QuiescencePolicy, objectives: Vec<T>) -> Self {
        let mut oracle = IocoOracle::new(specification, policy);
        let labels = oracle.actions().labels().clone();
        let goal = |o| LabelGoal::own(o, oracle.alphabet(), &labels);
        let goals = objectives.into_iter().map(goal).collect();
        Self::new(oracle, goals)
    }
}

impl<O: Oracle, G: Goal> GoalTester<O, G> {
    /// A tester for one or more goals.
    pub fn new(oracle: O, goals: Vec<G>) -> Self {
        Self::with_lookahead(oracle, goals, DEFAULT_LOOKAHEAD)
    }

    /// The same with a bound for one look ahead, in pairs.
    pub fn with_lookahead(oracle: O, goals: Vec<G>, lookahead: usize) -> Self {
        let goals = goals
            .into_iter()
            .map(|goal| Tracked {
                at: goal.initial(),
                goal,
                result: None,
                known: FxHashMap::default(),
                row: Vec::new(),
            })
            .collect();
        let mut tester = Self {
            oracle,
            at: None,
            goals,
            lookahead: lookahead.max(1),
            reach: lookahead.max(1),
            lookahead_hit: false,
            settled: false,
            generation: 0,
            ended: None,
            doubt: None,
        };
        tester.reset();
        tester
    }

    /// The oracle.
    pub fn oracle(&self) -> &O {
        &self.oracle
    }

    /// Whether some look ahead of this run hit its bound, so that "no goal in sight" was not proof.
    pub fn lookahead_hit(&self) -> bool {
        self.lookahead_hit
    }

    /// What is known of a place and a state of goal `k`, after looking ahead if need be.
    fn look(&mut self, k: usize, set: &O::State, at: &G::State) -> Known {
        let Some(key) = self.oracle.key(set) else {
            // The goal's automaton alone may know that there is no way.
            let goal = &self.goals[k].goal;
            return goal.distance(at).map_or(Known::Dead, |_| Known::Open);
        };
        let tracked = &mut self.goals[k];
        if let Some(&known) = tracked.known.get(&(key, at.clone())) {
            self.lookahead_hit |= known == Known::Open;
            return known;
        }
        if tracked.known.len() > MAX_KNOWN {
            tracked.known.clear();
        }
        let answer = tracked.search(&mut self.oracle, (set, at, key), self.reach);
        if answer == Known::Open {
            self.reach = (self.reach / 2).max(SHORTEST_LOOKAHEAD.min(self.lookahead));
            self.lookahead_hit = true;
        } else {
            self.reach = self.lookahead;
        }
        answer
    }

    fn end(&mut self, verdict: Verdict) -> Progress {
        self.ended = Some(verdict);
        Progress::Ended(verdict)
    }

    /// Why a run that ends here says nothing.
    fn unexplained(&self) -> Option<Undecided> {
        let at = self.at.as_ref().filter(|_| self.ended.is_none())?;
        self.oracle.unexplained(at)
    }

    /// The verdict of all goals together. A goal that is lost says nothing as long as another is
    /// open: the run may go on.
    fn overall(&self) -> Verdict {
        Verdict::worst(self.goals.iter().map(Tracked::verdict)).unwrap_or(Verdict::Pass)
    }

    /// Goes on after a step that the specification allows.
    fn advance(&mut self, action: ActionId, next: O::State) -> Progress {
        for k in 0..self.goals.len() {
            if self.goals[k].result.is_some() {
                continue;
            }
            let tracked = &mut self.goals[k];
            if tracked.goal.asks_constants() {
                tracked.goal.learn(self.oracle.constants(&next));
            }
            match tracked.goal.allowed(&tracked.at, action) {
                Move::To(at) => {
                    tracked.at = at.clone();
                    if self.look(k, &next, &at) == Known::Dead {
                        self.goals[k].result = Some(Verdict::Inconc);
                    }
                }
                Move::Goal(verdict) => tracked.result = Some(verdict),
                Move::Lost => tracked.result = Some(Verdict::Inconc),
                Move::Open => {
                    tracked.result = Some(Verdict::Unknown);
                    self.doubt = self.doubt.take().or_else(|| tracked.goal.doubt());
                }
            }
        }
        self.at = Some(self.oracle.trim(next));
        if self.oracle.generation() != self.generation {
            self.generation = self.oracle.generation();
            for tracked in &mut self.goals {
                tracked.known.clear();
            }
        }
        let failing = self
            .goals
            .iter()
            .any(|g| g.result.is_some_and(Verdict::is_failing));
        // Where all goals are decided, an output without an explanation may still be a fault of the system.
        let decided = self.goals.iter().all(|g| g.result.is_some());
        if failing || decided && !self.awaits_explanation() {
            return self.end(self.overall());
        }
        Progress::Continue
    }

    /// An observation that the specification does not allow.
    fn breach(&mut self, action: ActionId) -> Progress {
        let mut overall = Verdict::Fail;
        for tracked in &mut self.goals {
            if tracked.result.is_none() {
                let verdict = tracked.goal.forbidden(&tracked.at, action).verdict;
                tracked.result = Some(verdict);
                if verdict == Verdict::ViolateFail {
                    overall = verdict;
                }
            }
        }
        self.end(overall)
    }
}

impl<O: Oracle, G: Goal> Tracked<O, G> {
    /// Its own verdict once it is decided, else what it is when the run ends here.
    fn verdict(&self) -> Verdict {
        self.result
            .unwrap_or_else(|| self.goal.verdict_at(&self.at))
    }

    /// A search breadth first for the goal, of at most `reach` pairs; what it finds is remembered.
    fn search(
        &mut self,
        oracle: &mut O,
        (set, at, key): (&O::State, &G::State, StateKey),
        reach: usize,
    ) -> Known {
        let mut met = vec![Met {
            set: set.clone(),
            at: at.clone(),
            key,
            from: None,
        }];
        let mut index: FxHashSet<(StateKey, G::State)> = FxHashSet::default();
        index.insert((key, at.clone()));
        let mut queue = VecDeque::from([0]);
        let mut bounded = false;
        if self.goal.distance(at).is_some() {
            while let Some(i) = queue.pop_front() {
                self.row.clear();
                oracle.row(&met[i].set, &mut self.row);
                if let Some((next, distance)) = self.goal_step(&met[i]) {
                    return self.remember(&met, i, next, distance);
                }
                if met.len() > reach {
                    bounded = true;
                    break;
                }
                let row = std::mem::take(&mut self.row);
                for (action, next) in &row {
                    let Move::To(to) = self.goal.allowed(&met[i].at, *action) else {
                        continue;
                    };
                    let Some(key) = oracle
                        .key(next)
                        .filter(|_| self.goal.distance(&to).is_some())
                    else {
                        continue;
                    };
                    let pair = (key, to);
                    if self.known.get(&pair) == Some(&Known::Dead) || !index.insert(pair.clone()) {
                        continue;
                    }
                    queue.push_back(met.len());
                    met.push(Met {
                        set: next.clone(),
                        at: pair.1,
                        key,
                        from: Some((i, *action)),
                    });
                }
                self.row = row;
            }
        }
        // An output that cannot be listed may still be a violation.
        let unlisted = !self.goal.lists_observations() && self.goal.distance(at).is_some();
        if bounded || unlisted {
            self.known.insert((key, at.clone()), Known::Open);
            return Known::Open;
        }
        for pair in met {
            self.known.insert((pair.key, pair.at), Known::Dead);
        }
        Known::Dead
    }

    /// Marks the way to pair `i`, from which the goal is `distance` steps away.
    fn remember(
        &mut self,
        met: &[Met<O::State, G::State>],
        mut i: usize,
        mut next: ActionId,
        mut distance: u32,
    ) -> Known {
        loop {
            let pair = &met[i];
            let live = Known::Live { next, distance };
            self.known.insert((pair.key, pair.at.clone()), live);
            let Some((from, action)) = pair.from else {
                return live;
            };
            (i, next, distance) = (from, action, distance + 1);
        }
    }

    /// A step from a pair to the goal, or to where the way is known, with the distance. The row of the
    /// pair is loaded.
    fn goal_step(&mut self, pair: &Met<O::State, G::State>) -> Option<(ActionId, u32)> {
        let known = self.known.get(&(pair.key, pair.at.clone()));
        if let Some(Known::Live { next, distance }) = known {
            return Some((*next, *distance));
        }
        // The goal's own distance says when a look at the steps is worth while.
        if self.goal.distance(&pair.at) != Some(1) {
            return None;
        }
        let Self { goal, row, .. } = self;
        let mut allowed = row.iter().map(|(a, _)| *a);
        let step = allowed.find(|&a| match goal.allowed(&pair.at, a) {
            Move::Goal(verdict) => goal.wants(verdict),
            Move::To(_) | Move::Lost | Move::Open => false,
        });
        let step = step.or_else(|| {
            (0..goal.observations().len()).find_map(|i| {
                let o = goal.observations()[i];
                let absent = !row.iter().any(|(a, _)| *a == o);
                (absent && goal.forbidden(&pair.at, o).goal).then_some(o)
            })
        });
        step.map(|action| (action, 1))
    }
}

impl<O: Oracle, G: Goal> Tester for GoalTester<O, G> {
    fn alphabet(&self) -> &Alphabet {
        self.oracle.alphabet()
    }

    fn reset(&mut self) {
        self.lookahead_hit = false;
        self.settled = false;
        self.ended = None;
        self.doubt = None;
        for tracked in &mut self.goals {
            tracked.at = tracked.goal.initial();
            tracked.result = None;
        }
        let initial = match self.oracle.initial() {
            Ok(initial) => initial,
            Err(why) => {
                self.ended = Some(why.verdict());
                self.doubt = Some(*why);
                return;
            }
        };
        for k in 0..self.goals.len() {
            let goal = &mut self.goals[k].goal;
            if goal.asks_constants() {
                goal.learn(self.oracle.constants(&initial));
            }
            let at = self.goals[k].at.clone();
            let dead = self.look(k, &initial, &at) == Known::Dead;
            self.goals[k].result = dead.then_some(Verdict::Inconc);
        }
        self.at = Some(initial);
        if self.goals.iter().all(|g| g.result.is_some()) {
            self.ended = Some(self.overall());
        }
    }

    fn begin(&mut self, seed: u64) {
        self.oracle.begin(seed);
        self.reset();
    }

    fn menu(&mut self, menu: &mut Menu) {
        menu.stop = true;
        let (None, Some(at)) = (self.ended, self.at.clone()) else {
            return;
        };
        menu.observe = true;
        menu.settled = self.settled;
        self.oracle.stimuli(&at, &mut menu.stimuli);
        for tracked in self.goals.iter().filter(|g| g.result.is_none()) {
            for wish in tracked.goal.wishes(&tracked.at) {
                if let Some(stimulus) = self.oracle.solve(&at, &wish)
                    && !menu.stimuli.contains(&stimulus)
                {
                    menu.stimuli.push(stimulus);
                }
            }
        }
        menu.stimuli.retain(|&stimulus| {
            let mut after = None;
            (0..self.goals.len()).any(|k| {
                let tracked = &mut self.goals[k];
                if tracked.result.is_some() {
                    return false;
                }
                match tracked.goal.allowed(&tracked.at, stimulus) {
                    Move::Goal(verdict) => tracked.goal.wants(verdict),
                    Move::Open => true,
                    Move::Lost => false,
                    // Without a way to look ahead, a stimulus need not be tried out either.
                    Move::To(_) if self.oracle.key(&at).is_none() => true,
                    Move::To(to) => {
                        let next = after.get_or_insert_with(|| {
                            match self.oracle.after(&at, Step::Stimulus(stimulus)) {
                                Ok(Meaning::Allowed(next)) => Some(next),
                                _ => None,
                            }
                        });
                        let next = next.clone();
                        next.is_some_and(|next| self.look(k, &next, &to) != Known::Dead)
                    }
                }
            })
        });
    }

    fn step(&mut self, step: Step) -> Progress {
        if let Some(verdict) = self.ended {
            return Progress::Ended(verdict);
        }
        let Some(at) = &self.at else {
            return Progress::Ended(Verdict::Unknown);
        };
        if O::LISTENS {
            self.oracle.happened(std::slice::from_ref(at), step);
        }
        match self.oracle.after(at, step) {
            Ok(Meaning::Allowed(next)) => {
                let silent = step == Step::Quiescence && self.oracle.stays_silent(&next);
                let progress = self.advance(step.action(), next);
                self.settled = silent && self.goals.iter_mut().all(Tracked::stays_silent);
                progress
            }
            Ok(Meaning::Forbidden) => self.breach(step.action()),
            // The relation ends here with nothing wrong; the goals were not reached.
            Ok(Meaning::Ends) => self.end(self.overall()),
            Ok(Meaning::Unspecified) => self.end(Verdict::Inconc),
            Err(why) => {
                let verdict = why.verdict();
                self.doubt = Some(*why);
                self.end(verdict)
            }
        }
    }

    fn verdict(&self) -> Verdict {
        let unexplained = self.unexplained().map(|why| why.verdict());
        let open = || Verdict::worst([self.overall()].into_iter().chain(unexplained));
        self.ended.or_else(open).unwrap_or(Verdict::Pass)
    }

    fn awaits_explanation(&self) -> bool {
        let at = self.at.as_ref().filter(|_| self.ended.is_none());
        at.is_some_and(|at| self.oracle.awaits_explanation(at))
    }

    fn allowed(&mut self) -> Vec<String> {
        let at = self.at.as_ref();
        at.map(|at| self.oracle.out(at)).unwrap_or_default()
    }

    fn locations(&mut self) -> Vec<String> {
        let at = self.at.as_ref();
        let places = at.map(|at| self.oracle.places(at).locations);
        let mut places = places.unwrap_or_default();
        for Tracked { goal, at, .. } in &self.goals {
            places.push(format!("{}: {}", goal.name(), goal.describe(at)));
        }
        places
    }

    fn places(&mut self) -> Vec<String> {
        let at = self.at.as_ref();
        at.map(|at| self.oracle.waiting(at)).unwrap_or_default()
    }

    fn results(&self) -> Vec<(String, Verdict)> {
        let unexplained = self.unexplained().map(|why| why.verdict());
        let result = |t: &Tracked<O, G>| {
            let verdicts = [t.verdict()].into_iter().chain(unexplained);
            let verdict = Verdict::worst(verdicts).unwrap_or(Verdict::Pass);
            (t.goal.name().to_owned(), verdict)
        };
        self.goals.iter().map(result).collect()
    }

    fn conclude(&mut self) -> Vec<Notice> {
        let doubt = self.doubt.clone().or_else(|| self.unexplained());
        let doubt = doubt.map(Notice::Undecided);
        let mut notices: Vec<Notice> = doubt.into_iter().collect();
        if let Some(at) = &self.at {
            notices.extend(self.oracle.conclude(at));
        }
        if self.verdict() != Verdict::Pass {
            // Only a run that passed is explained by the constants that are left.
            notices.retain(|notice| !matches!(notice, Notice::Learnt(_)));
        }
        if self.lookahead_hit {
            notices.push(Notice::LookaheadBound);
        }
        notices
    }
}

impl<O: Oracle, G: Goal> Tracked<O, G> {
    /// How far the goal's own automaton is from the goal after an action; 0 where it is the goal.
    fn distance_after(&mut self, action: ActionId) -> Option<u32> {
        match self.goal.allowed(&self.at, action) {
            Move::Goal(_) => Some(0),
            Move::To(to) => self.goal.distance(&to),
            Move::Lost | Move::Open => None,
        }
    }

    /// Whether δ would leave the goal where it is: a goal may count silences, whatever the specification does.
    fn stays_silent(&mut self) -> bool {
        self.result.is_some()
            || matches!(self.goal.allowed(&self.at, ActionId::DELTA), Move::To(to) if to == self.at)
    }

    /// A step that brings the goal's automaton nearer, with the distance then.
    fn nearer(&mut self, menu: &Menu, settled: bool) -> Option<(u32, Hint)> {
        let now = self.goal.distance(&self.at)?;
        let mut best: Option<(u32, Hint)> = None;
        for &stimulus in &menu.stimuli {
            if let Some(d) = self.distance_after(stimulus).filter(|d| *d < now)
                && best.is_none_or(|(b, _)| d < b)
            {
                best = Some((d, Hint::Stimulate(stimulus)));
            }
        }
        let seen = self.goal.after_observation(&self.at);
        let seen = seen.filter(|d| *d < now && !settled);
        match (best, seen) {
            (None, Some(d)) => Some((d, Hint::Observe)),
            (Some((b, _)), Some(d)) if d < b => Some((d, Hint::Observe)),
            (best, _) => best,
        }
    }
}

impl<O: Oracle, G: Goal> Guide for GoalTester<O, G> {
    /// The first step of the shortest way found to the nearest goal. Where nothing can be looked at
    /// ahead, the goal's own distance tells what leads nearer. An output that a way begins with is waited
    /// for until silence has changed nothing: a system that is quiescent shows it after a stimulus only.
    fn hint(&mut self, menu: &Menu) -> Option<Hint> {
        let (None, Some(at)) = (self.ended, self.at.clone()) else {
            return None;
        };
        let blind = self.oracle.key(&at).is_none();
        let mut best: Option<(u32, Hint)> = None;
        for k in 0..self.goals.len() {
            if self.goals[k].result.is_some() {
                continue;
            }
            let found = if blind {
                self.goals[k].nearer(menu, self.settled)
            } else {
                let goal_at = self.goals[k].at.clone();
                match self.look(k, &at, &goal_at) {
                    Known::Live { next, distance } => {
                        let action = self.oracle.alphabet().action(next);
                        let input = action.is_some_and(|a| a.kind == LabelKind::Input);
                        let hint = if input {
                            Hint::Stimulate(next)
                        } else {
                            Hint::Observe
                        };
                        Some((distance, hint))
                    }
                    Known::Dead | Known::Open => None,
                }
            };
            if let Some((distance, hint)) = found
                && !(self.settled && hint == Hint::Observe)
                && best.is_none_or(|(d, _)| distance < d)
            {
                best = Some((distance, hint));
            }
        }
        best.map(|(_, hint)| hint)
    }
}
