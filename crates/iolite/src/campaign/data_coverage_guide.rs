//! Selection that knows a model with data: which of its goals were reached, and a solved path to one that
//! was not.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use iolite_derive::{Menu, Oracle, Step, SymbolicOracle, SymbolicPlace, Wish};
use iolite_exec::{Choice, Strategy};
use iolite_expr::{Solver, Term};
use iolite_sts::analysis::{self, Answer, Method, VerifyBudget};
use iolite_sts::{CoverageGoal, LabelKind, ValuedAction};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::examined_goals::{Examined, ExaminedGoals};
use super::follower::{Follower, Position};
use super::judge::AnyStrategy;
use super::open_constants::OpenConstants;
use super::shared_coverage::SharedCoverage;

/// What looking for a way from the middle of a run may cost.
const REPLANNING: VerifyBudget = VerifyBudget {
    steps: 20_000,
    time: Duration::from_millis(500),
    question: Duration::from_millis(100),
};
/// States of a set from which a way is looked for.
const STARTS: usize = 4;

/// Follows every run with an oracle of its own and counts the goals that it reaches, whichever tester judges
/// the run; leaves the choice to another strategy, or leads along a path to a goal that no run has reached.
///
/// A path is solved: from the start by the whole verification portfolio, from within a run by search. Where
/// the system leaves it, another one is solved from there. Goals that are proved to be out of reach are not
/// counted. Where constants are unknown, what runs left of them restricts the paths, and every other choice is a
/// stimulus that halves it.
pub(super) struct DataCoverageGuide {
    follower: Follower<SymbolicOracle>,
    at: Position<SymbolicPlace>,
    examined: Arc<ExaminedGoals>,
    /// By wanted goal.
    reached: Vec<bool>,
    /// By wanted goal: how often the system left the path to it.
    missed: Vec<u32>,
    plan: Option<Plan>,
    /// Steps before a way is looked for again in this run, and how many the next failure costs.
    pause: u32,
    patience: u32,
    is_start: bool,
    solver: Solver,
    otherwise: AnyStrategy,
    leads: bool,
    /// What others reached, and how much of it was taken over.
    shared: Option<(SharedCoverage, usize)>,
    constants: OpenConstants,
    /// Whether this guide leads the run at hand: recorded runs are only followed.
    led: bool,
}

/// The rest of a path to a goal.
struct Plan {
    /// Which of the wanted goals.
    goal: usize,
    steps: VecDeque<ValuedAction>,
}

impl DataCoverageGuide {
    /// A guide over an oracle of the model that the goals are of.
    pub(super) fn new(
        examined: Arc<ExaminedGoals>,
        follower: Follower<SymbolicOracle>,
        solver: Solver,
        otherwise: AnyStrategy,
        leads: bool,
        constants: OpenConstants,
    ) -> Self {
        let wanted = examined.known.len();
        Self {
            follower,
            at: Position::Lost,
            examined,
            reached: vec![false; wanted],
            missed: vec![0; wanted],
            plan: None,
            pause: 0,
            patience: 1,
            is_start: true,
            solver,
            otherwise,
            leads,
            shared: None,
            constants,
            led: false,
        }
    }

    /// The same, with others: goals are numbered as the criterion lists them.
    #[must_use]
    pub(super) fn sharing(mut self, seen: SharedCoverage) -> Self {
        seen.set_total(self.reached.len());
        let known = self.examined.known.iter().enumerate();
        let unreachable = known.filter(|(_, known)| matches!(known, Examined::Unreachable));
        seen.exclude(unreachable.map(|(k, _)| k));
        self.shared = Some((seen, 0));
        self.take_over();
        self
    }

    /// Takes what others reached since the last time.
    fn take_over(&mut self) {
        if let Some((shared, taken)) = &mut self.shared {
            let more = shared.after(*taken);
            *taken += more.len();
            for goal in more {
                if let Some(reached) = self.reached.get_mut(goal) {
                    *reached = true;
                }
            }
        }
    }

    /// Goals that may still be reached, by wanted goal.
    fn open(&self) -> impl Iterator<Item = usize> + '_ {
        let known = self.examined.known.iter().enumerate();
        known
            .filter(|(k, examined)| !self.reached[*k] && !matches!(examined, Examined::Unreachable))
            .map(|(k, _)| k)
    }

    fn goal(&self, wanted: usize) -> &CoverageGoal {
        self.examined
            .goals
            .goals
            .get(self.examined.goals.wanted[wanted])
    }

    /// Notes goals by their number among all of the model.
    fn note(&mut self, reached: &std::collections::BTreeSet<usize>) {
        for (k, goal) in self.examined.goals.wanted.iter().enumerate() {
            if reached.contains(goal)
                && !std::mem::replace(&mut self.reached[k], true)
                && let Some((shared, _)) = &self.shared
            {
                shared.add([k]);
            }
        }
    }

    /// The goals that the system was led to least often; those that it was led to more often come after.
    fn rounds(&self) -> Vec<Vec<usize>> {
        let least = self.open().map(|k| self.missed[k]).min().unwrap_or(0);
        let (first, others): (Vec<usize>, Vec<usize>) =
            self.open().partition(|k| self.missed[*k] == least);
        [first, others]
            .into_iter()
            .filter(|goals| !goals.is_empty())
            .collect()
    }

    /// A path from the start, if that is where the run is.
    fn plan_from_start(&self) -> Option<Plan> {
        let known = |k: usize| match &self.examined.known[k] {
            Examined::Reachable(way) => Some((k, way)),
            _ => None,
        };
        let round = self.rounds().into_iter().next()?;
        let (goal, way) = round
            .into_iter()
            .filter_map(known)
            .min_by_key(|(k, way)| (way.len(), *k))?;
        Some(Plan {
            goal,
            steps: way.iter().cloned().collect(),
        })
    }

    /// A path from where the run is to the nearest goal.
    fn plan_from_here(&mut self) -> Option<Plan> {
        let place = self.follower.place(&self.at)?;
        let learnt = self.constants.conditions();
        for round in self.rounds() {
            for state in place.states().iter().take(STARTS) {
                let semantics = self.follower.oracle().semantics();
                let Some(model) = semantics.restarted(state) else {
                    continue;
                };
                let model = model.assuming(learnt.iter().cloned());
                let wanted = round.iter().map(|k| self.goal(*k));
                let (probed, locations) = model.with_probes(wanted);
                let search = [Method::Explicit, Method::Bounded];
                let solver = &mut self.solver;
                let answer =
                    analysis::verify_by(&search, &probed, &locations, solver, REPLANNING, &mut []);
                if let Answer::Refuted(way) = answer {
                    let last = way.run.steps.last();
                    let end = last.map_or(probed.initial(), |(t, _)| probed.transition(*t).target);
                    let found = locations.iter().position(|l| *l == end)?;
                    return Some(Plan {
                        goal: round[found],
                        steps: way.trace.into(),
                    });
                }
            }
        }
        None
    }

    fn make_plan(&mut self) {
        if self.plan.is_some() || self.open().next().is_none() {
            return;
        }
        if self.is_start {
            // A path that failed had other constants than the system, or was left by it.
            let start = self.plan_from_start();
            let again = |plan: &Plan| self.missed[plan.goal] > 0;
            if start.as_ref().is_some_and(again) && !self.constants.conditions().is_empty() {
                self.plan = self.plan_from_here();
            }
            self.plan = self.plan.take().or(start);
        }
        if self.plan.is_none() && self.pause == 0 {
            self.plan = self.plan_from_here();
            if self.plan.is_none() {
                self.pause = self.patience;
                self.patience = self.patience.saturating_mul(2);
            }
        }
    }

    /// The next step of the path, as a choice.
    fn lead(&mut self, menu: &Menu) -> Option<Choice> {
        self.make_plan();
        let next = self.plan.as_ref()?.steps.front()?.clone();
        let model = Arc::clone(self.examined.model());
        let gate = model.gate(next.action);
        if gate.kind != LabelKind::Input {
            return menu.observe.then_some(Choice::Observe);
        }
        if menu.stimuli.is_empty() {
            return None;
        }
        let place = self.follower.place(&self.at)?;
        let given = gate.params.iter().zip(&next.values);
        let condition = Term::all(given.map(|(p, value)| analysis::equation(p, value)));
        let input = gate.name.clone();
        let oracle = self.follower.oracle();
        let given = oracle.solve(&place, &Wish { input, condition });
        if given.is_none() {
            // Only some values of the constants, or some of the states, take it.
            self.abandon();
        }
        given.map(Choice::Give)
    }

    /// Every other time, a stimulus that tells more of a constant; never in the middle of a path.
    fn split(&mut self, menu: &Menu) -> Option<Choice> {
        let can = self.plan.is_none() && !menu.stimuli.is_empty();
        if !can || !self.constants.take_turn() {
            return None;
        }
        let place = self.follower.place(&self.at)?;
        let oracle = self.follower.oracle();
        self.constants.learn(oracle, &mut self.solver, &place);
        let wish = self.constants.splitting(oracle, &place)?;
        oracle.solve(&place, &wish).map(Choice::Give)
    }

    fn abandon(&mut self) {
        if let Some(plan) = self.plan.take() {
            self.missed[plan.goal] += 1;
        }
    }
}

impl Strategy for DataCoverageGuide {
    fn begin(&mut self) {
        self.take_over();
        self.follower.oracle().begin(0);
        self.at = self.follower.start();
        let goals = Arc::clone(&self.examined.goals.goals);
        let semantics = self.follower.oracle().semantics();
        let reached = semantics.reached_initially(&goals);
        self.note(&reached);
        self.plan = None;
        self.constants.forget();
        self.led = false;
        self.is_start = true;
        (self.pause, self.patience) = (0, 1);
        self.otherwise.begin();
    }

    fn choose(&mut self, menu: &Menu, rng: &mut Xoshiro256PlusPlus) -> Choice {
        self.led = self.leads;
        let led = if self.leads {
            self.split(menu).or_else(|| self.lead(menu))
        } else {
            None
        };
        led.unwrap_or_else(|| self.otherwise.choose(menu, rng))
    }

    fn happened(&mut self, step: Step, preempted: bool) {
        let goals = Arc::clone(&self.examined.goals.goals);
        let mut reached = std::collections::BTreeSet::new();
        let mut count = |oracle: &mut SymbolicOracle, at: &SymbolicPlace, action| {
            reached.extend(oracle.reached(&goals, at, action));
        };
        self.follower.step(&mut self.at, step, &mut count);
        self.note(&reached);
        self.constants.forget();
        if self.led
            && !self.constants.is_empty()
            && let Some(place) = Follower::<SymbolicOracle>::known(&self.at)
        {
            let oracle = self.follower.oracle();
            self.constants.learn(oracle, &mut self.solver, &place);
        }
        self.is_start = false;
        self.pause = self.pause.saturating_sub(1);
        let taken = self.follower.oracle().valued(step.action());
        let expected = self.plan.as_mut().and_then(|plan| plan.steps.pop_front());
        match &self.plan {
            Some(plan) if self.reached[plan.goal] => self.plan = None,
            // Silence is not a step of the path: it was solved in the model without δ.
            Some(_) if expected == taken && expected.is_some() => {}
            Some(_) => self.abandon(),
            None => {}
        }
        self.otherwise.happened(step, preempted);
    }

    fn coverage(&self) -> Option<iolite_exec::Coverage> {
        let mut reached = self.reached.clone();
        if let Some((shared, taken)) = &self.shared {
            let more = shared.after(*taken);
            for goal in more {
                if let Some(reached) = reached.get_mut(goal) {
                    *reached = true;
                }
            }
        }
        let counted = self.examined.known.iter().zip(&reached);
        let counted =
            counted.filter(|(known, reached)| **reached || !matches!(known, Examined::Unreachable));
        let seen = reached.iter().filter(|r| **r).count();
        Some(iolite_exec::Coverage {
            seen: seen as u64,
            total: counted.count() as u64,
        })
    }
}
