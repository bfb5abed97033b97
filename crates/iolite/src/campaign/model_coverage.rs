//! What of the model the runs of a campaign reached, and what they did not.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use iolite_derive::{Alphabet, Count, IocoOracle, Oracle, Step, SymbolicOracle};
use iolite_exec::{Event, ExecError, Sink};
use iolite_lang::LineIndex;
use iolite_lts::{LabelId, LabelKind, Lts, SetId, StateId};
use iolite_sts::CoverageGoals;
use iolite_sts::analysis::{self, Answer, VerifyBudget};
use serde::Serialize;

use super::follower::{Follower, Position};
use super::model_goal::{GoalKind, ModelGoal, named_goal};
use super::{Campaign, ExplicitJudge, Judge, SymbolicJudge};
use crate::{Error, ExplicitSpec, SymbolicSpec};

/// States of an explicit model that is measured.
const MOST_STATES: usize = 200_000;
/// Steps of a trace that is remembered as the way to a place.
const LONGEST_WAY: usize = 1_000;
/// Places to which a way is remembered.
const MOST_WAYS: usize = 10_000;
/// The time for one proof that a goal cannot be reached.
const ONE_PROOF: Duration = Duration::from_millis(300);

/// A goal that no run reached.
#[derive(Clone, Debug, Serialize)]
pub struct MissedGoal {
    /// The goal.
    #[serde(flatten)]
    pub goal: ModelGoal,
    /// A shortest trace among those of the runs that came nearest to it; `None` where none came near.
    pub nearest: Option<Vec<String>>,
}

/// What the runs reached.
#[derive(Clone, Debug, Serialize)]
pub struct ModelCoverageReport {
    /// How many goals of each kind were reached, of those that are not proved to be out of reach.
    pub reached: BTreeMap<GoalKind, CountDocument>,
    /// What was not reached, and may be reachable.
    pub missed: Vec<MissedGoal>,
    /// What is proved to be out of reach of every run.
    pub unreachable: Vec<ModelGoal>,
    /// Steps of runs that were followed, and whether these are all.
    pub steps: u64,
    /// Whether every step was followed.
    pub complete: bool,
}

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CountDocument {
    /// Reached.
    pub seen: usize,
    /// All that are not proved to be out of reach.
    pub total: usize,
}

impl From<CountDocument> for Count {
    fn from(count: CountDocument) -> Self {
        Self {
            seen: count.seen,
            total: count.total,
        }
    }
}

/// Follows the runs of a campaign by their events, with an oracle of its own. A goal counts as reached
/// when the run may have reached it: which of several nondeterministic transitions was really taken, no
/// observer can tell. Through queues, a step counts when it is the only explanation of what was seen.
pub struct ModelCoverage {
    model: CoveredModel,
    alphabet: Alphabet,
    goals: Vec<ModelGoal>,
    /// The edges of the model's graph, for ways to goals.
    edges: Vec<(usize, usize)>,
    reached: Vec<bool>,
    /// By node, a shortest trace that got there.
    ways: BTreeMap<usize, Vec<String>>,
    runs: BTreeMap<u64, FollowedRun>,
    steps: u64,
    limit: u64,
    complete: bool,
}

enum CoveredModel {
    Explicit(Box<ExplicitModel>),
    Symbolic(Box<SymbolicModel>),
}

/// A run that is followed: where it is, and its steps so far.
struct FollowedRun {
    at: AnyPosition,
    trace: Vec<String>,
}

enum AnyPosition {
    Explicit(Position<SetId>),
    Symbolic(Position<iolite_derive::SymbolicPlace>),
}

/// A model without data: goals are its states, then its transitions.
struct ExplicitModel {
    spec: ExplicitSpec,
    lts: Arc<Lts>,
    follower: Follower<IocoOracle<Arc<Lts>>>,
    /// By state, the number of its first transition.
    first: Vec<usize>,
    /// What was counted already.
    counted: BTreeSet<(SetId, LabelId)>,
}

struct SymbolicModel {
    spec: SymbolicSpec,
    follower: Follower<SymbolicOracle>,
    goals: Arc<CoverageGoals>,
}

impl Campaign {
    /// Measures what of the model runs reach, by their first `limit` steps; `None` where properties
    /// judge alone, or the model is too large.
    pub fn model_coverage(&self, limit: u64) -> Result<Option<ModelCoverage>, Error> {
        match self.judge() {
            Judge::Explicit(judge) => Ok(ModelCoverage::explicit(judge, limit)),
            Judge::Symbolic(judge) => ModelCoverage::symbolic(judge, limit).map(Some),
            Judge::Properties(_) => Ok(None),
        }
    }
}

impl ModelCoverage {
    fn explicit(judge: &ExplicitJudge, limit: u64) -> Option<Self> {
        let lts = judge.spec().whole_system(MOST_STATES).ok()?;
        if lts.state_count() > MOST_STATES {
            return None;
        }
        let alphabet = judge.spec().alphabet().fork();
        let mut goals = Vec::new();
        for state in lts.states() {
            goals.push(ModelGoal {
                kind: GoalKind::State,
                name: lts.name(state),
                line: lts.line(state),
                place: state.index(),
            });
        }
        let (mut first, mut edges) = (Vec::new(), Vec::new());
        for state in lts.states() {
            first.push(goals.len());
            for &(label, target) in lts.steps(state) {
                let label = lts.labels().text(label);
                goals.push(ModelGoal {
                    kind: GoalKind::Transition,
                    name: format!("{} {label} -> {}", lts.name(state), lts.name(target)),
                    line: lts.line(state),
                    place: state.index(),
                });
                edges.push((state.index(), target.index()));
            }
        }
        let oracle = IocoOracle::with_alphabet(Arc::clone(&lts), judge.policy(), &alphabet);
        let model = ExplicitModel {
            spec: judge.spec().clone(),
            follower: Follower::new(oracle, judge.queues().cloned()),
            lts,
            first,
            counted: BTreeSet::new(),
        };
        let model = CoveredModel::Explicit(Box::new(model));
        Some(Self::new(model, alphabet, goals, edges, limit))
    }

    fn symbolic(judge: &SymbolicJudge, limit: u64) -> Result<Self, Error> {
        let alphabet = Alphabet::default();
        let model = Arc::clone(judge.spec().model());
        let lines = LineIndex::new(judge.spec().source().bytes());
        let all = Arc::new(CoverageGoals::new(&model));
        let goals = all
            .iter()
            .map(|goal| named_goal(&model, &lines, goal, None))
            .collect();
        let edges = model
            .transitions()
            .map(|(_, t)| (t.source.index(), t.target.index()))
            .collect();
        let covered = SymbolicModel {
            follower: Follower::new(judge.oracle(&alphabet)?, judge.queues().cloned()),
            spec: judge.spec().clone(),
            goals: all,
        };
        let model = CoveredModel::Symbolic(Box::new(covered));
        Ok(Self::new(model, alphabet, goals, edges, limit))
    }

    fn new(
        model: CoveredModel,
        alphabet: Alphabet,
        goals: Vec<ModelGoal>,
        edges: Vec<(usize, usize)>,
        limit: u64,
    ) -> Self {
        Self {
            model,
            alphabet,
            reached: vec![false; goals.len()],
            goals,
            edges,
            ways: BTreeMap::new(),
            runs: BTreeMap::new(),
            steps: 0,
            limit,
            complete: true,
        }
    }

    fn start(&mut self, run: u64) {
        let (at, reached) = match &mut self.model {
            CoveredModel::Explicit(model) => {
                let at = model.follower.start();
                let initial = Follower::<IocoOracle<Arc<Lts>>>::known(&at);
                let reached = initial.map(|set| model.reached_at(set)).unwrap_or_default();
                (AnyPosition::Explicit(at), reached)
            }
            CoveredModel::Symbolic(model) => {
                if self.runs.is_empty() {
                    // Values of earlier runs are forgotten.
                    model.follower.oracle().begin(0);
                }
                let at = model.follower.start();
                let semantics = model.follower.oracle().semantics();
                let reached = semantics.reached_initially(&model.goals);
                (AnyPosition::Symbolic(at), reached)
            }
        };
        let trace = Vec::new();
        self.note(&reached, &trace);
        self.runs.insert(run, FollowedRun { at, trace });
    }

    fn note(&mut self, reached: &BTreeSet<usize>, trace: &[String]) {
        for &goal in reached {
            self.reached[goal] = true;
            let ModelGoal { kind, place, .. } = self.goals[goal];
            if kind != GoalKind::State || trace.len() > LONGEST_WAY {
                continue;
            }
            let known = self.ways.get(&place).map(Vec::len);
            let better = known.map_or(self.ways.len() < MOST_WAYS, |known| trace.len() < known);
            if better {
                self.ways.insert(place, trace.to_vec());
            }
        }
    }

    fn step(&mut self, run: u64, text: &str) {
        let Some(mut followed) = self.runs.remove(&run) else {
            return;
        };
        if self.steps >= self.limit {
            self.complete = false;
            return;
        }
        self.steps += 1;
        if !self.reached.contains(&false) {
            // Nothing is left to find, and reading a long message again takes as long as it is.
            self.runs.insert(run, followed);
            return;
        }
        let action = |text: &str| match &self.model {
            CoveredModel::Explicit(model) => model.spec.read_action(&self.alphabet, text),
            CoveredModel::Symbolic(model) => model.spec.read_action(&self.alphabet, text),
        };
        let Some(step) = Step::parse(text, action) else {
            // An action that the model does not have: the run has left it.
            return;
        };
        let mut reached = BTreeSet::new();
        match (&mut self.model, &mut followed.at) {
            (CoveredModel::Explicit(model), AnyPosition::Explicit(at)) => {
                let model = &mut **model;
                let (lts, first, counted) = (&model.lts, &model.first, &mut model.counted);
                model.follower.step(at, step, &mut |oracle, set, action| {
                    if let Some(label) = oracle.actions().label(action)
                        && counted.insert((*set, label))
                    {
                        let members = oracle.view_mut().members(*set).to_vec();
                        taken(lts, first, &members, Some(label), &mut reached);
                    }
                });
                if let Some(set) = Follower::<IocoOracle<Arc<Lts>>>::known(at) {
                    reached.extend(model.reached_at(set));
                }
            }
            (CoveredModel::Symbolic(model), AnyPosition::Symbolic(at)) => {
                let goals = Arc::clone(&model.goals);
                model.follower.step(at, step, &mut |oracle, place, action| {
                    reached.extend(oracle.reached(&goals, place, action));
                });
            }
            _ => {}
        }
        if followed.trace.len() <= LONGEST_WAY {
            followed.trace.push(text.to_owned());
        }
        self.note(&reached, &followed.trace);
        self.runs.insert(run, followed);
    }

    /// What was reached and what was not. What is left of a model with data is given to the verification
    /// portfolio for so long, and what it proves to be out of reach leaves the count.
    pub fn report(&self, proofs: Duration) -> Result<ModelCoverageReport, Error> {
        let unreachable = match &self.model {
            CoveredModel::Explicit(model) => model.unreachable(),
            CoveredModel::Symbolic(model) => model.unreachable(&self.reached, proofs)?,
        };
        let mut counts: BTreeMap<GoalKind, CountDocument> = BTreeMap::new();
        let (mut missed, mut out_of_reach) = (Vec::new(), Vec::new());
        let distances = self.distances();
        for (k, goal) in self.goals.iter().enumerate() {
            if unreachable.contains(&k) && !self.reached[k] {
                out_of_reach.push(goal.clone());
                continue;
            }
            let count = counts.entry(goal.kind).or_default();
            count.total += 1;
            if self.reached[k] {
                count.seen += 1;
            } else {
                missed.push(MissedGoal {
                    goal: goal.clone(),
                    nearest: distances[goal.place]
                        .and_then(|from| self.ways.get(&from))
                        .cloned(),
                });
            }
        }
        Ok(ModelCoverageReport {
            reached: counts,
            missed,
            unreachable: out_of_reach,
            steps: self.steps,
            complete: self.complete,
        })
    }

    /// For each node of the model's graph, the node with a known way that it is nearest to.
    fn distances(&self) -> Vec<Option<usize>> {
        let nodes = self.edges.iter().map(|&(a, b)| a.max(b) + 1);
        let places = self.goals.iter().map(|g| g.place + 1);
        let mut next = vec![Vec::new(); nodes.chain(places).max().unwrap_or(0)];
        for &(from, to) in &self.edges {
            next[from].push(to);
        }
        let mut nearest = vec![None; next.len()];
        let mut sources: Vec<(usize, usize)> =
            self.ways.iter().map(|(&n, way)| (way.len(), n)).collect();
        sources.sort_unstable();
        let mut queue: VecDeque<usize> = VecDeque::new();
        for (_, node) in sources {
            nearest[node] = Some(node);
            queue.push_back(node);
        }
        while let Some(node) = queue.pop_front() {
            for &target in &next[node] {
                if nearest[target].is_none() {
                    nearest[target] = nearest[node];
                    queue.push_back(target);
                }
            }
        }
        nearest
    }
}

impl Sink for ModelCoverage {
    fn event(&mut self, event: &Event) -> Result<(), ExecError> {
        match event {
            Event::RunStarted { run, .. } => {
                if self.steps < self.limit {
                    self.start(*run);
                } else {
                    self.complete = false;
                }
            }
            Event::Stimulus { run, action, .. } | Event::Output { run, action, .. } => {
                self.step(*run, action);
            }
            Event::Quiescence { run, .. } | Event::Deadlock { run, .. } => self.step(*run, "delta"),
            Event::RunEnded { run, .. } | Event::Fault { run, .. } => _ = self.runs.remove(run),
            _ => {}
        }
        Ok(())
    }

    fn wants_steps(&self) -> bool {
        !self.runs.is_empty()
    }
}

/// The transitions under a label, or the internal ones, of some states.
fn taken(
    lts: &Lts,
    first: &[usize],
    members: &[StateId],
    label: Option<LabelId>,
    reached: &mut BTreeSet<usize>,
) {
    let kinds = lts.labels().kinds();
    for &state in members {
        for (k, &(own, _)) in lts.steps(state).iter().enumerate() {
            let fits = match label {
                Some(label) => own == label,
                None => kinds[own.index()] == LabelKind::Internal,
            };
            if fits {
                reached.insert(first[state.index()] + k);
            }
        }
    }
}

impl ExplicitModel {
    /// The states that a run may be in, and the internal transitions between them.
    fn reached_at(&mut self, set: SetId) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        // τ is no label of a step, so it stands for having been here.
        if self.counted.insert((set, LabelId::TAU)) {
            let members = self.follower.oracle().view_mut().members(set).to_vec();
            reached.extend(members.iter().map(|s| s.index()));
            taken(&self.lts, &self.first, &members, None, &mut reached);
        }
        reached
    }

    /// What no way of the model leads to.
    fn unreachable(&self) -> BTreeSet<usize> {
        let seen = iolite_lts::reachable(&self.lts);
        let mut unreachable = BTreeSet::new();
        for state in self.lts.states().filter(|s| !seen[s.index()]) {
            unreachable.insert(state.index());
            let first = self.first[state.index()];
            unreachable.extend(first..first + self.lts.steps(state).len());
        }
        unreachable
    }
}

impl SymbolicModel {
    /// Which of the goals that were not reached are proved to be out of reach.
    fn unreachable(&self, reached: &[bool], proofs: Duration) -> Result<BTreeSet<usize>, Error> {
        let until = Instant::now() + proofs;
        let mut unreachable = BTreeSet::new();
        let mut solver = crate::solver(None)?;
        for (k, goal) in self.goals.iter().enumerate() {
            let left = until.saturating_duration_since(Instant::now());
            if reached[k] || left.is_zero() {
                continue;
            }
            let (probed, location) = self.spec.model().with_probe(goal);
            let budget = VerifyBudget {
                steps: 50_000,
                time: left.min(ONE_PROOF),
                question: Duration::from_millis(100),
            };
            // A proof that leaves out constants with which the model has faults is none here.
            if let Answer::Proved(proof) =
                analysis::verify(&probed, &[location], &mut solver, budget)
                && proof.faults.is_empty()
            {
                unreachable.insert(k);
            }
        }
        Ok(unreachable)
    }
}

impl ModelCoverageReport {
    /// The counts, and the first few of what was not reached.
    pub fn tell(&self, file: &str) -> String {
        let counts = GoalKind::ALL.into_iter().filter_map(|kind| {
            let count = self.reached.get(&kind)?;
            Some(format!(
                "{} of {} {}",
                count.seen,
                count.total,
                kind.plural()
            ))
        });
        let counts: Vec<String> = counts.collect();
        let mut text = format!("reached: {}", counts.join(", "));
        if !self.unreachable.is_empty() {
            let out = self.unreachable.len();
            text += &format!("; {out} more are proved to be out of reach");
        }
        if !self.complete {
            text += &format!("; by the first {} steps", self.steps);
        }
        text.push('\n');
        for MissedGoal { goal, nearest } in self.missed.iter().take(3) {
            let line = goal.line.map(|l| format!(" ({file}:{l})"));
            let near = match nearest {
                None => String::new(),
                Some(way) if way.is_empty() => ", nearest: at the start".to_owned(),
                Some(way) => format!(", nearest after {}", way.join(" ")),
            };
            let (name, line) = (&goal.name, line.unwrap_or_default());
            text += &format!("  not reached: {name}{line}{near}\n");
        }
        let more = self.missed.len().saturating_sub(3);
        if more > 0 {
            text += &format!("  and {more} more: --coverage FILE lists them\n");
        }
        text
    }
}
