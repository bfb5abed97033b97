//! Observers and test purposes with data as goals [SYM04, def. 9].
//!
//! The automaton ω is walked as a set of symbolic states of its own, beside the oracle of the
//! specification. Where its constants and initial values are known, that is one concrete state, and
//! no solver is asked. What has no value is existential, as in the product of [SYM04, def. 6]: a trace
//! is in L(ω) if some values take it there. The exception are constants that ω shares with the
//! specification: the run is then judged for each of their values, and a violation counts if all
//! values that explain the run have it. If only some do, the answer is open.

use std::collections::VecDeque;
use std::sync::Arc;

use iolite_expr::{Answer, Solver, Substitution, Term, Value, Var, VarId};
use iolite_lts::QuiescencePolicy;
use iolite_sts::{
    After, Iosts, LabelKind, LocationId, Symbolic, SymbolicError, SymbolicStates, ValuedAction,
    space,
};

use crate::{
    Action, ActionId, Alphabet, Breach, Goal, Move, Undecided, Verdict, Wish, valued_action,
    valued_label,
};

/// Which locations of ω mean something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GoalMarks {
    /// An observer: the property is violated there.
    Violate(Vec<LocationId>),
    /// A test purpose.
    Purpose {
        /// The scenario is reached there.
        accept: Vec<LocationId>,
        /// It is given up there.
        refuse: Vec<LocationId>,
    },
}

impl GoalMarks {
    fn goals(&self) -> &[LocationId] {
        match self {
            Self::Violate(all) | Self::Purpose { accept: all, .. } => all,
        }
    }

    fn refuses(&self, location: LocationId) -> bool {
        matches!(self, Self::Purpose { refuse, .. } if refuse.contains(&location))
    }

    /// The verdict of a goal that is reached on a trace of the specification [SYM04, §4].
    fn reached(&self) -> Verdict {
        match self {
            Self::Violate(_) => Verdict::Violate,
            Self::Purpose { .. } => Verdict::Pass,
        }
    }
}

/// Why an automaton with data cannot be a goal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DataGoalError {
    /// Its initial condition has no solution.
    #[error("no values of its constants and variables satisfy the assumptions")]
    NoInitialState,
    /// The solver could not tell whether it has.
    #[error("its initial states could not be computed: {0}")]
    Undecided(Arc<str>),
    /// A constant or an initial value has no value.
    #[error(transparent)]
    Model(#[from] SymbolicError),
}

/// An observer or a test purpose with data, beside any oracle over the same actions.
#[derive(Debug)]
pub struct DataGoal {
    semantics: Symbolic,
    marks: GoalMarks,
    alphabet: Alphabet,
    initial: SymbolicStates,
    /// δ, and the outputs without values.
    observations: Vec<ActionId>,
    /// By location: steps to a goal at least, whatever the data.
    distances: Vec<Option<u32>>,
    /// Constants of the specification without a value, each with the constant of ω that it is.
    shared: Vec<(VarId, Var)>,
    /// The specification's other constants without a value, renamed apart.
    foreign: Vec<(VarId, Term)>,
    /// What is known of the shared constants.
    known: Term,
    doubt: Option<Undecided>,
}

/// Whether a run has reached a marked location.
enum Reached {
    Yes,
    No,
    Open(Undecided),
}

/// The space of the specification's constants that ω does not have.
const FOREIGN: u8 = 4;

impl DataGoal {
    /// The goal. `constants` are the values that are known, of the specification's constants and of
    /// ω's own; those that ω does not have are passed over.
    pub fn new(
        automaton: &Arc<Iosts>,
        marks: GoalMarks,
        specification: &Iosts,
        constants: &[(String, Value)],
        alphabet: &Alphabet,
        solver: Solver,
    ) -> Result<Self, DataGoalError> {
        let has = |name: &str| {
            let own = automaton.constants().iter();
            own.clone().any(|c| *c.var.name == *name)
        };
        let values: Vec<(&str, Value)> = constants
            .iter()
            .filter(|(name, _)| has(name))
            .map(|(name, value)| (name.as_str(), value.clone()))
            .collect();
        let policy = QuiescencePolicy::Livelock;
        let mut semantics = Symbolic::new(Arc::clone(automaton), &values, policy, solver)?;
        let initial = match semantics.initial()? {
            After::Possible(states) => states,
            After::Impossible => return Err(DataGoalError::NoInitialState),
            After::Unknown { reason, .. } => return Err(DataGoalError::Undecided(reason)),
        };
        let (mut shared, mut foreign) = (Vec::new(), Vec::new());
        for c in specification.constants() {
            if constants.iter().any(|(name, _)| **name == *c.var.name) {
                continue;
            }
            let same =
                |d: &&iolite_sts::Constant| d.var.name == c.var.name && d.var.sort == c.var.sort;
            if let Some(own) = automaton.constants().iter().find(same) {
                shared.push((c.var.id, own.var.clone()));
            } else {
                let id = VarId::new(FOREIGN, c.var.id.index());
                let renamed = Var::new(id, &c.var.name, c.var.sort.clone());
                foreign.push((c.var.id, renamed.term()));
            }
        }
        let mut observations = vec![ActionId::DELTA];
        for (_, gate) in automaton.gates() {
            if gate.kind == LabelKind::Output && gate.params.is_empty() {
                observations.push(alphabet.intern(Action::plain(gate.kind, &gate.name)));
            }
        }
        // Its ids outlive runs.
        alphabet.pin();
        Ok(Self {
            observations,
            distances: distances(automaton, marks.goals()),
            semantics,
            marks,
            alphabet: alphabet.clone(),
            initial,
            shared,
            foreign,
            known: true.into(),
            doubt: None,
        })
    }

    fn valued(&self, action: ActionId) -> Option<ValuedAction> {
        let action = self.alphabet.action(action)?;
        let model = self.semantics.model();
        let valued = valued_action(model, &action);
        if valued.is_some() || !action.args.is_empty() {
            return valued;
        }
        valued_label(model, action.kind, &action.name)
    }

    fn step(&mut self, at: &SymbolicStates, action: &ValuedAction) -> Result<After, Undecided> {
        self.semantics.after(at, action).map_err(|e| {
            let name = self.semantics.model().name();
            Undecided::new(format!("{name}: {e}"))
        })
    }

    /// Whether the marked states among `after` say that the run is in L(ω).
    fn reached(&mut self, marked: &SymbolicStates) -> Reached {
        if marked.is_empty() {
            return Reached::No;
        }
        let name = self.semantics.model().name().to_owned();
        if self.shared.is_empty() {
            return if marked.iter().any(iolite_sts::SymbolicState::is_certain) {
                Reached::Yes
            } else {
                let why =
                    format!("{name}: the solver could not decide whether the goal is reached");
                Reached::Open(Undecided::new(why))
            };
        }
        let known = self.known.clone();
        let solver = self.semantics.solver();
        let possible = marked.iter().any(|s| {
            let joint = Term::all([known.clone(), s.condition()]);
            !matches!(solver.check_with(&joint), Answer::Unsat)
        });
        if !possible {
            return Reached::No;
        }
        let mut ways = Vec::new();
        for s in marked.iter() {
            ways.extend(self.of_shared(&s.condition()));
        }
        let never = Term::any(ways).negated();
        let otherwise = Term::all([known, never]);
        let solver = self.semantics.solver();
        if matches!(solver.check_with(&otherwise), Answer::Unsat) {
            return Reached::Yes;
        }
        let names: Vec<&str> = self.shared.iter().map(|(_, v)| &*v.name).collect();
        Reached::Open(Undecided::new(format!(
            "{name}: whether the goal is reached depends on the unknown {}; give values with --const",
            names.join(", ")
        )))
    }

    /// The condition over the shared constants alone; `None` where what has no value cannot be
    /// eliminated.
    fn of_shared(&mut self, condition: &Term) -> Option<Term> {
        let shared = |v: &Var| self.shared.iter().any(|(_, own)| own.id == v.id);
        let others: Vec<Var> = condition.free_vars();
        let others: Vec<Var> = others.into_iter().filter(|v| !shared(v)).collect();
        if others.is_empty() {
            return Some(condition.clone());
        }
        self.semantics.solver().eliminate(&others, condition)
    }

    fn open(&mut self, why: Undecided) -> Move<SymbolicStates> {
        self.doubt = Some(why);
        Move::Open
    }
}

/// The least number of transitions from each location to one of the goals.
fn distances(automaton: &Iosts, goals: &[LocationId]) -> Vec<Option<u32>> {
    let mut distances = vec![None; automaton.locations().len()];
    let mut queue = VecDeque::new();
    for goal in goals {
        distances[goal.index()] = Some(0);
        queue.push_back((*goal, 0));
    }
    while let Some((at, distance)) = queue.pop_front() {
        for (_, t) in automaton.transitions().filter(|(_, t)| t.target == at) {
            let source = &mut distances[t.source.index()];
            if source.is_none() && !t.guard.is_false() {
                *source = Some(distance + 1);
                queue.push_back((t.source, distance + 1));
            }
        }
    }
    distances
}

impl Goal for DataGoal {
    type State = SymbolicStates;

    fn name(&self) -> &str {
        self.semantics.model().name()
    }

    fn initial(&self) -> SymbolicStates {
        self.initial.clone()
    }

    fn allowed(&mut self, at: &SymbolicStates, action: ActionId) -> Move<SymbolicStates> {
        let Some(valued) = self.valued(action) else {
            // An action that the goal's alphabet does not have changes nothing.
            return Move::To(at.clone());
        };
        let states = match self.step(at, &valued) {
            Ok(After::Possible(states)) => states,
            // No trace from here is in L(ω), and that is all it means.
            Ok(After::Impossible) => return Move::Lost,
            Ok(After::Unknown { reason, query }) => {
                return self.open(Undecided {
                    query,
                    ..Undecided::new(reason)
                });
            }
            Err(why) => return self.open(why),
        };
        let marks = self.marks.clone();
        let marked = states.at(|l| marks.goals().contains(&l));
        match self.reached(&marked) {
            Reached::Yes => return Move::Goal(marks.reached()),
            Reached::Open(why) => return self.open(why),
            Reached::No => {}
        }
        let rest = states.at(|l| !marks.goals().contains(&l) && !marks.refuses(l));
        if rest.is_empty() {
            Move::Lost
        } else {
            Move::To(rest)
        }
    }

    /// Rules \[β\] and \[γ\] of [SAFE04, def. 10]. What is not decided is no violation: the
    /// implementation does not conform, whatever ω says.
    fn forbidden(&mut self, at: &SymbolicStates, action: ActionId) -> Breach {
        let fail = Breach {
            verdict: Verdict::Fail,
            goal: false,
        };
        let GoalMarks::Violate(violate) = self.marks.clone() else {
            return fail;
        };
        let after = self.valued(action).map(|valued| self.step(at, &valued));
        let Some(Ok(After::Possible(states))) = after else {
            return fail;
        };
        match self.reached(&states.at(|l| violate.contains(&l))) {
            Reached::Yes => Breach {
                verdict: Verdict::ViolateFail,
                goal: true,
            },
            Reached::No | Reached::Open(_) => fail,
        }
    }

    fn distance(&self, at: &SymbolicStates) -> Option<u32> {
        let all = at.iter().map(|s| self.distances[s.location().index()]);
        all.flatten().min()
    }

    fn observations(&self) -> &[ActionId] {
        &self.observations
    }

    fn lists_observations(&self) -> bool {
        let gates = self.semantics.model().gates();
        let mut outputs = gates.filter(|(_, g)| g.kind == LabelKind::Output);
        outputs.all(|(_, g)| g.params.is_empty())
    }

    fn after_observation(&mut self, at: &SymbolicStates) -> Option<u32> {
        let model = self.semantics.model();
        let steps = at.iter().flat_map(|s| model.outgoing(s.location()));
        let seen = steps.filter(|t| {
            let kind = model.kind(**t);
            matches!(kind, LabelKind::Output | LabelKind::Delta)
        });
        seen.filter_map(|t| self.distances[model.transition(*t).target.index()])
            .min()
    }

    fn wishes(&self, at: &SymbolicStates) -> Vec<Wish> {
        let model = self.semantics.model();
        let mut wishes = Vec::new();
        let Some(now) = self.distance(at) else {
            return wishes;
        };
        for state in at.iter() {
            for &t in model.outgoing(state.location()) {
                let transition = model.transition(t);
                let nearer = self.distances[transition.target.index()].is_some_and(|d| d < now);
                let gate = model.gate(transition.action);
                if gate.kind != LabelKind::Input || !nearer || gate.params.is_empty() {
                    continue;
                }
                let Some(condition) = self.semantics.guard_at(state, t) else {
                    continue;
                };
                // Only what speaks of the parameters alone means the same to the specification.
                let own = |v: &Var| v.id.space() == space::PARAMETER;
                if !condition.is_false() && condition.free_vars().iter().all(own) {
                    wishes.push(Wish {
                        input: gate.name.clone(),
                        condition,
                    });
                }
            }
        }
        wishes
    }

    fn asks_constants(&self) -> bool {
        !self.shared.is_empty()
    }

    fn learn(&mut self, known: Term) {
        let mut map = Substitution::new();
        for (id, own) in &self.shared {
            map.insert(*id, own.term());
        }
        for (id, renamed) in &self.foreign {
            map.insert(*id, renamed.clone());
        }
        // A weaker condition is right too.
        self.known = known.substitute(&map).unwrap_or_else(|_| true.into());
    }

    fn doubt(&self) -> Option<Undecided> {
        self.doubt.clone()
    }

    fn open_verdict(&self) -> Verdict {
        match self.marks {
            GoalMarks::Violate(_) => Verdict::Pass,
            GoalMarks::Purpose { .. } => Verdict::Inconc,
        }
    }

    fn describe(&self, at: &SymbolicStates) -> String {
        let model = self.semantics.model();
        let states: Vec<String> = at.iter().map(|s| s.describe(model)).collect();
        states.join(" or ")
    }
}
