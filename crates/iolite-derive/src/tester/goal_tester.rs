//! On-the-fly tests with a goal: no graph is built, a bounded look ahead finds the way.

use std::collections::VecDeque;

use iolite_lts::{
    DEFAULT_MEMO_BYTES, Determinised, LabelId, LabelKind, Labels, QuiescencePolicy, Semantics,
    SetId, StateId, Suspension,
};
use iolite_property::{Observer, Purpose};
use rustc_hash::FxHashMap;

use crate::location::{locations, places};
use crate::tester::ioco_tester::show;
use crate::{Guide, Hint, Menu, Move, Objective, Observation, Pair, Progress, Tester, Verdict};

/// test(S, ω) on the fly [SAFE04, §4], for one observer or several.
pub type SafetyTester<M> = GoalTester<M, Observer>;

/// A test purpose on the fly, or several at once.
pub type PurposeTester<M> = GoalTester<M, Purpose>;

/// How many pairs one look ahead visits at most, where the caller sets nothing: milliseconds.
pub const DEFAULT_LOOKAHEAD: usize = 4096;

/// Even a run that sees no goal looks this far ahead.
const SHORTEST_LOOKAHEAD: usize = 64;

/// From so many remembered pairs on, what is known of the way is forgotten and found anew.
const MAX_KNOWN: usize = 1 << 20;

/// Drives a system under test towards the goals of its objectives, and judges it by the
/// specification on the way.
///
/// Before it gives a stimulus it looks ahead, at most so many pairs far, whether a goal is still
/// reachable behind it, and does not give one that is proved to lead nowhere. When that is proved of
/// the place where the run is, the objective ends `inconc`. A look ahead that hits its bound proves
/// nothing: the run goes on, and [`Self::lookahead_hit`] says so.
///
/// With several objectives, each gets its own result; the run ends when all are decided, or with the
/// first failing verdict.
#[derive(Debug)]
pub struct GoalTester<M, O> {
    view: Determinised<Suspension<M>>,
    observations: Vec<LabelId>,
    set: SetId,
    goals: Vec<Tracked<O>>,
    lookahead: usize,
    /// The bound of the next look ahead: shorter while looks ahead come to nothing, so that a run far
    /// from its goal is not slow.
    reach: usize,
    lookahead_hit: bool,
    ended: Option<Verdict>,
    queue: VecDeque<Pair>,
    before: FxHashMap<Pair, (Pair, LabelId)>,
}

#[derive(Debug)]
struct Tracked<O> {
    objective: O,
    at: StateId,
    result: Option<Verdict>,
    known: FxHashMap<Pair, Known>,
}

/// What is known of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// A goal is this many steps away, the first under this label.
    Live { next: LabelId, distance: u32 },
    /// No goal is reachable: proved.
    Dead,
    /// The look ahead ended without an answer.
    Open,
}

impl<M: Semantics<State = StateId>, O: Objective> GoalTester<M, O> {
    /// A tester for one or more objectives.
    pub fn new(specification: M, policy: QuiescencePolicy, objectives: Vec<O>) -> Self {
        Self::with_budget(
            specification,
            policy,
            objectives,
            DEFAULT_LOOKAHEAD,
            DEFAULT_MEMO_BYTES,
        )
    }

    /// The same with a bound for one look ahead, in pairs, and for the memo, in bytes.
    pub fn with_budget(
        specification: M,
        policy: QuiescencePolicy,
        objectives: Vec<O>,
        lookahead: usize,
        bytes: usize,
    ) -> Self {
        let mut view = Determinised::with_budget(Suspension::new(specification, policy), bytes);
        let observations = view
            .labels()
            .iter()
            .filter(|(_, l)| l.kind.is_observation())
            .map(|(id, _)| id)
            .collect();
        let set = view.initial();
        let goals = objectives
            .into_iter()
            .map(|objective| objective.over_labels(view.labels()))
            .map(|objective| Tracked {
                at: objective.initial(),
                objective,
                result: None,
                known: FxHashMap::default(),
            })
            .collect();
        let mut tester = Self {
            view,
            observations,
            set,
            goals,
            lookahead: lookahead.max(1),
            reach: lookahead.max(1),
            lookahead_hit: false,
            ended: None,
            queue: VecDeque::new(),
            before: FxHashMap::default(),
        };
        tester.reset();
        tester
    }

    /// The alphabet of the actions.
    pub fn labels(&self) -> &Labels {
        self.view.labels()
    }

    /// Name and result of each objective, in their order: its own verdict once it is decided, else
    /// what it is when the run ends here.
    pub fn results(&self) -> impl Iterator<Item = (&str, Verdict)> {
        self.goals.iter().map(|g| {
            let open = || g.objective.open_verdict();
            (g.objective.name(), g.result.unwrap_or_else(open))
        })
    }

    /// The first livelock that the strict policy met, in words.
    pub fn livelock(&self) -> Option<String> {
        let state = self.view.inner().livelock()?;
        Some(self.view.inner().describe(&state))
    }

    /// Bytes of the memo of sets.
    pub fn bytes(&self) -> usize {
        self.view.bytes()
    }

    /// Whether some look ahead of this run hit its bound, so that "no goal in sight" was not proof.
    pub fn lookahead_hit(&self) -> bool {
        self.lookahead_hit
    }

    /// What is known of a pair for objective `k`, after looking ahead if need be.
    fn look(&mut self, k: usize, pair: Pair) -> Known {
        if let Some(&known) = self.goals[k].known.get(&pair) {
            self.lookahead_hit |= known == Known::Open;
            return known;
        }
        if self.goals[k].known.len() > MAX_KNOWN {
            self.goals[k].known.clear();
        }
        self.queue.clear();
        self.before.clear();
        self.queue.push_back(pair);
        let mut bounded = false;
        let mut met = vec![pair];
        let mut found = None;
        if self.goals[k].objective.distance(pair.at).is_some() {
            while let Some(at) = self.queue.pop_front() {
                if let Some((next, distance)) = self.goal_step(k, at) {
                    found = Some((at, next, distance));
                    break;
                }
                if met.len() > self.reach {
                    bounded = true;
                    break;
                }
                self.expand(k, pair, at, &mut met);
            }
        }
        if !bounded {
            self.reach = self.lookahead;
        }
        if let Some((mut at, mut next, mut distance)) = found {
            let known = &mut self.goals[k].known;
            known.insert(at, Known::Live { next, distance });
            while let Some(&(from, label)) = self.before.get(&at) {
                distance += 1;
                next = label;
                known.insert(from, Known::Live { next, distance });
                at = from;
            }
            return known[&pair];
        }
        if bounded {
            self.reach = (self.reach / 2).max(SHORTEST_LOOKAHEAD.min(self.lookahead));
            self.lookahead_hit = true;
            self.goals[k].known.insert(pair, Known::Open);
            return Known::Open;
        }
        for at in met {
            self.goals[k].known.insert(at, Known::Dead);
        }
        Known::Dead
    }

    /// A step from `pair` to the goal or to where the way is known, with the distance.
    fn goal_step(&mut self, k: usize, pair: Pair) -> Option<(LabelId, u32)> {
        let tracked = &self.goals[k];
        if let Some(Known::Live { next, distance }) = tracked.known.get(&pair) {
            return Some((*next, *distance));
        }
        // The objective's own distance says when a look at the steps is worth while.
        if tracked.objective.distance(pair.at) != Some(1) {
            return None;
        }
        let row = self.view.row(pair.set);
        let allowed = row
            .iter()
            .map(|&(l, _)| l)
            .find(|&l| matches!(tracked.objective.allowed(pair.at, l), Move::Goal(_)));
        let step = allowed.or_else(|| {
            self.observations.iter().copied().find(|&l| {
                row.binary_search_by_key(&l, |&(r, _)| r).is_err()
                    && tracked.objective.forbidden(pair.at, l).goal
            })
        });
        step.map(|label| (label, 1))
    }

    fn expand(&mut self, k: usize, start: Pair, at: Pair, met: &mut Vec<Pair>) {
        let tracked = &self.goals[k];
        for &(label, set) in self.view.row(at.set) {
            let Move::To(next) = tracked.objective.allowed(at.at, label) else {
                continue;
            };
            if tracked.objective.distance(next).is_none() {
                continue;
            }
            let pair = Pair { set, at: next };
            if pair == start || tracked.known.get(&pair) == Some(&Known::Dead) {
                continue;
            }
            self.before.entry(pair).or_insert_with(|| {
                self.queue.push_back(pair);
                met.push(pair);
                (at, label)
            });
        }
    }

    fn end(&mut self, verdict: Verdict) -> Progress {
        self.ended = Some(verdict);
        Progress::Ended(verdict)
    }

    /// The verdict of all objectives together.
    fn overall(&self) -> Verdict {
        let mut overall = Verdict::Pass;
        for (_, verdict) in self.results() {
            match verdict {
                Verdict::Pass => {}
                Verdict::ViolateFail => return verdict,
                v if v.is_failing() => overall = v,
                v if !overall.is_failing() => overall = v,
                _ => {}
            }
        }
        overall
    }

    /// Goes on after a step that the specification allows.
    fn advance(&mut self, label: LabelId, set: SetId) -> Progress {
        self.set = set;
        for k in 0..self.goals.len() {
            if self.goals[k].result.is_some() {
                continue;
            }
            let tracked = &mut self.goals[k];
            match tracked.objective.allowed(tracked.at, label) {
                Move::To(at) => {
                    tracked.at = at;
                    if self.look(k, Pair { set, at }) == Known::Dead {
                        self.goals[k].result = Some(Verdict::Inconc);
                    }
                }
                Move::Goal(verdict) => tracked.result = Some(verdict),
                Move::Lost => tracked.result = Some(Verdict::Inconc),
            }
        }
        self.trim();
        let failing = self
            .goals
            .iter()
            .any(|g| g.result.is_some_and(Verdict::is_failing));
        if failing || self.goals.iter().all(|g| g.result.is_some()) {
            return self.end(self.overall());
        }
        Progress::Continue
    }

    fn trim(&mut self) {
        let before = self.view.set_count();
        self.set = self.view.trim(self.set);
        if self.view.set_count() != before {
            for tracked in &mut self.goals {
                tracked.known.clear();
            }
        }
    }
}

impl<M: Semantics<State = StateId>, O: Objective> Tester for GoalTester<M, O> {
    type Action = LabelId;

    fn reset(&mut self) {
        self.set = self.view.initial();
        self.lookahead_hit = false;
        self.ended = None;
        for k in 0..self.goals.len() {
            let at = self.goals[k].objective.initial();
            self.goals[k].at = at;
            let pair = Pair { set: self.set, at };
            let dead = self.look(k, pair) == Known::Dead;
            self.goals[k].result = dead.then_some(Verdict::Inconc);
        }
        if self.goals.iter().all(|g| g.result.is_some()) {
            self.ended = Some(self.overall());
        }
    }

    fn menu(&mut self, menu: &mut Menu<LabelId>) {
        menu.stop = true;
        if self.ended.is_some() {
            return;
        }
        menu.observe = true;
        let mut i = 0;
        while let Some(&(label, set)) = self.view.row(self.set).get(i) {
            i += 1;
            if self.view.labels().kind(label) != LabelKind::Input {
                continue;
            }
            let leads_on = (0..self.goals.len()).any(|k| {
                let tracked = &self.goals[k];
                tracked.result.is_none()
                    && match tracked.objective.allowed(tracked.at, label) {
                        Move::To(at) => self.look(k, Pair { set, at }) != Known::Dead,
                        Move::Goal(_) => true,
                        Move::Lost => false,
                    }
            });
            if leads_on {
                menu.stimuli.push(label);
            }
        }
    }

    fn stimulate(&mut self, stimulus: &LabelId) -> Progress {
        if let Some(verdict) = self.ended {
            return Progress::Ended(verdict);
        }
        match self.view.after(self.set, *stimulus) {
            Some(set) => self.advance(*stimulus, set),
            None => self.end(Verdict::Inconc),
        }
    }

    fn observe(&mut self, observation: &Observation<LabelId>) -> Progress {
        if let Some(verdict) = self.ended {
            return Progress::Ended(verdict);
        }
        let label = match observation {
            Observation::Output(label) => *label,
            Observation::Quiescence | Observation::Deadlock => LabelId::DELTA,
        };
        if let Some(set) = self.view.after(self.set, label) {
            return self.advance(label, set);
        }
        let known = label.index() < self.view.labels().len();
        let mut overall = Verdict::Fail;
        for tracked in &mut self.goals {
            let verdict = if known {
                tracked.objective.forbidden(tracked.at, label).verdict
            } else {
                Verdict::Fail
            };
            if tracked.result.is_none() {
                tracked.result = Some(verdict);
                if verdict == Verdict::ViolateFail {
                    overall = verdict;
                }
            }
        }
        self.end(overall)
    }

    fn verdict(&self) -> Verdict {
        self.ended.unwrap_or_else(|| self.overall())
    }

    fn allowed(&mut self) -> Vec<String> {
        let out = self.view.out(self.set);
        out.iter().map(|&l| self.view.labels().text(l)).collect()
    }

    fn locations(&mut self) -> Vec<String> {
        let mut places = locations(&self.view, self.set);
        for tracked in &self.goals {
            places.push(format!(
                "{}: {}",
                tracked.objective.name(),
                tracked.objective.describe(tracked.at)
            ));
        }
        places
    }

    fn places(&mut self) -> Vec<String> {
        places(&self.view, self.set)
    }

    fn show(&self, action: &LabelId) -> String {
        show(self.view.labels(), *action)
    }
}

impl<M: Semantics<State = StateId>, O: Objective> Guide for GoalTester<M, O> {
    /// The first step of the shortest way found to the nearest goal.
    fn hint(&mut self) -> Option<Hint<LabelId>> {
        if self.ended.is_some() {
            return None;
        }
        let mut best: Option<(u32, LabelId)> = None;
        for k in 0..self.goals.len() {
            if self.goals[k].result.is_some() {
                continue;
            }
            let pair = Pair {
                set: self.set,
                at: self.goals[k].at,
            };
            if let Known::Live { next, distance } = self.look(k, pair)
                && best.is_none_or(|(d, _)| distance < d)
            {
                best = Some((distance, next));
            }
        }
        let (_, label) = best?;
        Some(if self.view.labels().kind(label) == LabelKind::Input {
            Hint::Stimulate(label)
        } else {
            Hint::Observe
        })
    }
}
