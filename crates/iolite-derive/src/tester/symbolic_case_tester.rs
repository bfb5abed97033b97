//! A stored test case with data, run as a tester.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use iolite_expr::{Answer, Solver, Strategy, Value};
use iolite_lts::QuiescencePolicy;
use iolite_sts::{
    After, Enabled, GateId, InputChoice, LabelKind, Symbolic, SymbolicError, SymbolicState,
    SymbolicStates, ValuedAction,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::case_plan::CasePlan;
use crate::oracle::symbolic::{guarded, shortened};
use crate::{
    ActionId, Alphabet, Menu, Notice, Progress, Step, SymbolicOracleError, SymbolicTestCase,
    Tester, Undecided, Verdict, action_of, valued_action,
};

/// Runs a test case with data. It stands in a set of symbolic states of the program: one concrete
/// state where all constants are known.
///
/// Stimuli are solved for, so that the goal stays within reach after them. Where the goal is to be accepted (a
/// purpose, coverage) a path to it is solved, and its next stimulus is among those that are offered. Constants without a value
/// stand for each value that the assumptions allow: an observation fails if it fails for all that
/// explain the run, and a verdict that only some of them have is `unknown`.
#[derive(Debug)]
pub struct SymbolicCaseTester {
    case: Arc<SymbolicTestCase>,
    alphabet: Alphabet,
    /// The program as the system has its actions: stimuli are inputs.
    judge: Symbolic,
    /// The same, with stimuli only where the goal is within reach after them.
    aim: Symbolic,
    choice: InputChoice,
    rng: Xoshiro256PlusPlus,
    initial: SymbolicStates,
    at: SymbolicStates,
    /// Whether the last step was a silence that changed nothing.
    settled: bool,
    ended: Option<Verdict>,
    /// Why nothing can fail any more: some values of the constants are not followed.
    lost: Option<Undecided>,
    untried: BTreeMap<GateId, Arc<str>>,
    tried: BTreeSet<GateId>,
    /// What the run has to say.
    notices: Vec<Notice>,
    /// The way to what is to be accepted.
    plan: Option<CasePlan>,
}

/// Keeps the values apart from whatever else a run's seed decides.
const VALUES: u64 = 0x51b3_92ce_07d4_6ea9;

impl SymbolicCaseTester {
    /// A tester that follows `case`. `constants` are the values that are known; those that the program
    /// does not read are passed over. `solver` makes a solver.
    pub fn new<E: From<SymbolicOracleError>>(
        case: Arc<SymbolicTestCase>,
        constants: &[(String, Value)],
        alphabet: &Alphabet,
        strategy: Strategy,
        mut solver: impl FnMut() -> Result<Solver, E>,
    ) -> Result<Self, E> {
        let program = case.program().mirrored();
        let conditions: Vec<_> = program
            .locations()
            .map(|(l, _)| case.coreachable(l).clone())
            .collect();
        let aimed = program.aimed(&conditions);
        let known: Vec<(&str, Value)> = constants
            .iter()
            .filter(|(name, _)| program.constants().iter().any(|c| *c.var.name == **name))
            .map(|(name, value)| (name.as_str(), value.clone()))
            .collect();
        let policy = QuiescencePolicy::Strict;
        let wrong = |e: SymbolicError| E::from(e.into());
        let mut judge =
            Symbolic::new(Arc::new(program), &known, policy, solver()?).map_err(wrong)?;
        let aim = Symbolic::new(Arc::new(aimed), &known, policy, solver()?).map_err(wrong)?;
        let accepted = case.verdicts().filter(|(_, v)| *v == Verdict::Pass);
        let accepted: Vec<_> = accepted.map(|(l, _)| l).collect();
        let plan = match accepted.as_slice() {
            [] => None,
            _ => Some(CasePlan::new(accepted, solver()?)),
        };
        let initial = match judge.initial().map_err(wrong)? {
            After::Possible(states) => states,
            After::Impossible => return Err(SymbolicOracleError::NoInitialState.into()),
            After::Unknown { reason, .. } => {
                return Err(SymbolicOracleError::Undecided(reason).into());
            }
        };
        let mut choice = InputChoice::new(0, strategy);
        choice.set_candidates(Arc::new(judge.candidates()));
        Ok(Self {
            case,
            alphabet: alphabet.clone(),
            judge,
            aim,
            choice,
            rng: Xoshiro256PlusPlus::seed_from_u64(0),
            at: initial.clone(),
            initial,
            settled: false,
            ended: None,
            lost: None,
            untried: BTreeMap::new(),
            tried: BTreeSet::new(),
            notices: Vec::new(),
            plan,
        })
    }

    /// The test case.
    pub fn case(&self) -> &Arc<SymbolicTestCase> {
        &self.case
    }

    fn end(&mut self, verdict: Verdict) -> Progress {
        self.ended = Some(verdict);
        Progress::Ended(verdict)
    }

    fn undecided(&mut self, why: Undecided) -> Progress {
        let verdict = why.verdict();
        self.notices.push(Notice::Undecided(why));
        self.end(verdict)
    }

    /// A failing verdict, unless values of the constants that are not followed explain the run.
    fn failed(&mut self, verdict: Verdict) -> Progress {
        match self.lost.clone() {
            Some(why) => self.undecided(why),
            None => self.end(verdict),
        }
    }

    fn valued(&self, step: Step) -> Option<ValuedAction> {
        let action = self.alphabet.action(step.action())?;
        let valued = valued_action(self.judge.model(), &action)?;
        let given = self.judge.model().gate(valued.action).kind == LabelKind::Input;
        (given == step.is_stimulus()).then_some(valued)
    }

    fn take(&mut self, step: Step) -> Progress {
        let Some(action) = self.valued(step) else {
            return if step.is_stimulus() {
                self.end(Verdict::Inconc)
            } else {
                // An output that nobody declared is allowed nowhere.
                self.failed(Verdict::Fail)
            };
        };
        if step.is_stimulus() {
            self.tried.insert(action.action);
            self.guess(&action);
        }
        let model = Arc::clone(self.judge.model());
        self.choice.happened(&model, &action);
        match self.judge.after(&self.at, &action) {
            Ok(After::Possible(states)) => {
                self.settled = step.action() == ActionId::DELTA && states == self.at;
                if let Some(plan) = &mut self.plan {
                    plan.taken(&model, &action, self.settled);
                }
                self.arrive(&states, step)
            }
            Ok(After::Impossible) if step.is_stimulus() => self.end(Verdict::Inconc),
            // Every observation with values of its sorts has a step, so these are not of its sorts.
            Ok(After::Impossible) => self.failed(Verdict::Fail),
            Ok(After::Unknown { reason, query }) => {
                let place = self.judge.fault_place();
                self.undecided(Undecided {
                    query,
                    place,
                    ..Undecided::new(reason)
                })
            }
            Err(error) => {
                let why = format!("the test case has no meaning here: {error}");
                self.undecided(Undecided::new(why))
            }
        }
    }

    /// Notes that a stimulus is not specified by all values of the constants.
    fn guess(&mut self, input: &ValuedAction) {
        if self.lost.is_some() || self.judge.knows_constants() {
            return;
        }
        let specified = self.judge.specifies(&self.at, input).unwrap_or_default();
        let name = self.judge.model().gate(input.action).name.to_string();
        let why = match specified {
            Some(true) => return,
            Some(false) => Undecided {
                inconclusive: true,
                ..Undecided::new(format!(
                    "no values of the constants that specify ?{name} explain this, but the others do"
                ))
            },
            None => Undecided::new(format!(
                "no values of the constants that specify ?{name} explain this; whether all do was \
                 not found out"
            )),
        };
        if specified == Some(false) {
            self.notices.push(Notice::Guessed { input: name });
        }
        self.lost = Some(why);
    }

    /// What it means to be in these states.
    fn arrive(&mut self, states: &SymbolicStates, step: Step) -> Progress {
        let case = Arc::clone(&self.case);
        let failing = |l| {
            let verdict = case.verdict(l);
            matches!(verdict, Some(Verdict::Fail | Verdict::ViolateFail))
        };
        let conforming = states.at(|l| !failing(l));
        if conforming.is_empty() {
            let violated = |s: &SymbolicState| {
                s.is_certain() && case.verdict(s.location()) == Some(Verdict::ViolateFail)
            };
            let all = states.iter().all(violated);
            return self.failed(if all {
                Verdict::ViolateFail
            } else {
                Verdict::Fail
            });
        }
        if !conforming.iter().any(SymbolicState::is_certain) {
            return self.undecided(Undecided::new(
                "the solver could not decide whether this conforms",
            ));
        }
        let verdicts: BTreeSet<Option<Verdict>> = conforming
            .iter()
            .map(|s| case.verdict(s.location()))
            .collect();
        let only = (verdicts.len() == 1).then(|| verdicts.first().copied().flatten());
        match only {
            Some(None) => {
                self.at = conforming;
                Progress::Continue
            }
            Some(Some(Verdict::Violate)) => self.failed(Verdict::Violate),
            Some(Some(verdict)) => {
                if verdict == Verdict::Inconc {
                    self.leave(step);
                }
                self.end(verdict)
            }
            None if verdicts == BTreeSet::from([None, Some(Verdict::Inconc)]) => {
                // With some values of the constants the test is over; they explain whatever follows.
                self.lost.get_or_insert_with(|| Undecided {
                    inconclusive: true,
                    ..Undecided::new(
                        "the goal was out of reach before with some values of the constants, and \
                         they are not judged any more",
                    )
                });
                self.at = conforming.at(|l| case.verdict(l).is_none());
                Progress::Continue
            }
            None => {
                let names: Vec<&str> = self
                    .judge
                    .model()
                    .constants()
                    .iter()
                    .map(|c| &*c.var.name)
                    .collect();
                let why = format!(
                    "{}: the verdict depends on the unknown {}; give values with --const",
                    case.name(),
                    names.join(", ")
                );
                self.undecided(Undecided::new(why))
            }
        }
    }

    /// Says why a run ends `inconc`.
    fn leave(&mut self, step: Step) {
        let seen = match step {
            Step::Quiescence | Step::Deadlock => "silence".to_owned(),
            step => step.text(&self.alphabet),
        };
        let model = self.judge.model();
        let mut wanted: Vec<String> = Vec::new();
        for s in self.at.iter() {
            let condition = self.case.coreachable(s.location());
            let name = &model.location(s.location()).name;
            let text = if condition.is_false() {
                format!("from {name} it cannot be reached")
            } else {
                format!("from {name} it can be reached where {condition}")
            };
            if !wanted.contains(&text) {
                wanted.push(text);
            }
        }
        self.notices.push(Notice::LeftGoal(format!(
            "{}: {seen} does not lead to the goal: {}",
            self.case.name(),
            shortened(wanted).join(", ")
        )));
    }

    /// Values for one of the ways to give a stimulus, tried in random order.
    fn solved(&mut self, mut ways: Vec<Enabled>) -> Option<ValuedAction> {
        while !ways.is_empty() {
            let way = ways.swap_remove(self.rng.random_range(0..ways.len()));
            let found = match self.choice.values(&mut self.aim, &way) {
                Answer::Sat(found) => found,
                Answer::Unsat => continue,
                Answer::Unknown(why) => {
                    self.untried.entry(way.action).or_insert(why);
                    continue;
                }
            };
            let params = &self.aim.model().gate(way.action).params;
            let value = |p: &iolite_expr::Var| found.value(p.id).cloned();
            let values = params.iter();
            let values = values.map(|p| value(p).unwrap_or_else(|| p.sort.default_value()));
            return Some(ValuedAction {
                action: way.action,
                values: values.collect(),
            });
        }
        None
    }

    /// The stimulus that the way to the goal asks for now, if all values of the constants specify it.
    fn planned(&mut self) -> Option<ValuedAction> {
        let next = self.plan.as_mut()?.next(&self.judge, &self.at)?.clone();
        let stimulus = self.judge.model().gate(next.action).kind == LabelKind::Input;
        (stimulus && self.is_specified(&next)).then_some(next)
    }

    fn is_specified(&mut self, input: &ValuedAction) -> bool {
        self.lost.is_some()
            || self.judge.knows_constants()
            || matches!(self.judge.specifies(&self.at, input), Ok(Some(true)))
    }
}

impl Tester for SymbolicCaseTester {
    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn reset(&mut self) {
        self.at = self.initial.clone();
        self.ended = None;
        self.lost = None;
        self.settled = false;
        self.notices.clear();
        if let Some(plan) = &mut self.plan {
            plan.reset();
        }
    }

    fn begin(&mut self, seed: u64) {
        self.alphabet.begin_run();
        let own = seed.rotate_left(29) ^ VALUES;
        self.choice.reseed(own);
        self.rng = Xoshiro256PlusPlus::seed_from_u64(own);
        self.reset();
    }

    fn menu(&mut self, menu: &mut Menu) {
        if self.ended.is_some() {
            menu.stop = true;
            return;
        }
        menu.observe = true;
        menu.settled = self.settled;
        let planned = self.planned();
        let planned = planned.map(|input| action_of(self.judge.model(), &self.alphabet, &input));
        let ways = self.aim.inputs(&self.at).unwrap_or_default();
        let mut gates: BTreeMap<GateId, Vec<Enabled>> = BTreeMap::new();
        for way in ways {
            gates.entry(way.action).or_default().push(way);
        }
        let (mut sure, mut guesses) = (Vec::new(), Vec::new());
        for ways in gates.into_values() {
            if let Some(input) = self.solved(ways) {
                let action = action_of(self.judge.model(), &self.alphabet, &input);
                if self.is_specified(&input) {
                    sure.push(action);
                } else {
                    guesses.push(action);
                }
            }
        }
        // Others are offered beside it, so that runs differ.
        sure.extend(planned.filter(|action| !sure.contains(action)));
        menu.stimuli
            .extend(if sure.is_empty() { guesses } else { sure });
    }

    fn step(&mut self, step: Step) -> Progress {
        if let Some(verdict) = self.ended {
            return Progress::Ended(verdict);
        }
        self.take(step)
    }

    fn verdict(&self) -> Verdict {
        self.ended.unwrap_or_else(|| self.case.open_verdict())
    }

    fn allowed(&mut self) -> Vec<String> {
        let model = Arc::clone(self.judge.model());
        let mut texts: Vec<String> = Vec::new();
        for s in self.at.iter() {
            for &t in model.outgoing(s.location()) {
                let transition = model.transition(t);
                let verdict = self.case.verdict(transition.target);
                let kind = model.kind(t);
                if kind == LabelKind::Input
                    || matches!(verdict, Some(Verdict::Fail | Verdict::ViolateFail))
                {
                    continue;
                }
                let Some(guard) = self.judge.guard_at(s, t) else {
                    continue;
                };
                let way = Enabled {
                    action: transition.action,
                    transition: t,
                    guard,
                    condition: s.condition(),
                };
                let possible =
                    iolite_expr::Term::all([way.condition.clone(), way.guard.clone()]).simplify();
                let text = guarded(&model, &way);
                if !possible.is_false() && !texts.contains(&text) {
                    texts.push(text);
                }
            }
        }
        shortened(texts)
    }

    fn locations(&mut self) -> Vec<String> {
        let model = self.judge.model();
        let mut texts: Vec<String> = Vec::new();
        for s in self.at.iter() {
            let text = s.describe(model);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        shortened(texts)
    }

    fn places(&mut self) -> Vec<String> {
        let model = self.judge.model();
        let mut names: Vec<String> = Vec::new();
        for s in self.at.iter() {
            // A location is one of det(S^δ), places of S, beside one of the goal.
            let name = &*model.location(s.location()).name;
            let own = name.rsplit_once('.').map_or(name, |(own, _)| own);
            for place in own.split('|') {
                let place = place.split_once('#').map_or(place, |(place, _)| place);
                if !names.iter().any(|n| n == place) {
                    names.push(place.to_owned());
                }
            }
        }
        names
    }

    fn conclude(&mut self) -> Vec<Notice> {
        let mut notices = std::mem::take(&mut self.notices);
        let name = |gate: &GateId| self.judge.model().gate(*gate).name.to_string();
        notices.extend(
            self.tried
                .iter()
                .map(|gate| Notice::Tried { input: name(gate) }),
        );
        notices.extend(self.untried.iter().map(|(gate, why)| Notice::Untried {
            input: name(gate),
            reason: Arc::clone(why),
        }));
        for semantics in [&mut self.judge, &mut self.aim] {
            notices.extend(semantics.solver().fault().map(Notice::SolverFault));
        }
        notices
    }
}
