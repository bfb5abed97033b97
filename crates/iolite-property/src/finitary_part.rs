//! The finitary part that an infinitary language induces.
//!
//! A formula, or an automaton without marks for finite sequences, fixes an infinitary language φ and
//! nothing else; an r-property [PROP12, §3.5] needs a finitary part too, because quiescence is judged by
//! it (definitions 14 and 15). Here it is defined from φ alone. φ/σ = {w | σ·w ∈ φ} is the residual after
//! σ: what is still required.
//!
//! Up to obligation the language view of the paper induces the finitary part:
//!
//! | class of φ | a finite sequence σ is accepted iff |
//! | --- | --- |
//! | safety | φ/σ is not empty: `A_f` |
//! | guarantee | φ/σ is everything: `E_f` |
//! | obligation | the level of φ/σ in the minimal weak automaton is even |
//!
//! Above obligation R(ψ) and P(ψ) do not determine ψ: ψ and ψ with one sequence more have the same
//! infinitary partner. So σ is accepted or rejected only where the following rules say so, the first that
//! applies, and left *open* elsewhere. A tester gives no verdict on quiescence after an open sequence.
//!
//! 1. *Return.* There are infinite continuations of σ that come back to the residual φ/σ infinitely often,
//!    and all of them satisfy φ (accepted), or none does (rejected).
//! 2. *Stay.* There are infinite continuations of σ that never leave the residual φ/σ, and all of them
//!    satisfy φ, or none does. Silence is of their kind: it changes nothing of what is required.
//! 3. *Repeat.* Whether a continuation that stays satisfies φ depends only on which actions occur
//!    infinitely often in it, and the last action a of σ is one of those that stay: judged as σ·a^ω.
//!    For Boolean combinations of R and P over "the last action is one of X" this is the finitary part of
//!    that combination: with only a for ever, R and P of it hold iff a ∈ X, as `R_f` and `P_f` do.
//! 4. *Nothing yet.* As for rule 3, but σ is the empty word, which has no last action: accepted if some
//!    action that stays would be accepted when repeated. Over {a, b} the formulas G(a → F b) and G F b have
//!    the same infinite words; a system that ends before it did anything has left nothing pending by the
//!    first. The paper's Π₄ (example 11) has this language and accepts the empty word, and definition 14
//!    gives no negative verdict to quiescence alone.
//!
//! Both tables speak of φ, of residuals φ/σ and of the actions of σ only. No automaton and no formula
//! occurs in them, so that what has the same language has the same finitary part: commuted or
//! rewritten formulas, double negation, De Morgan, either construction of the translation, an
//! automaton read from a file. For the complement of φ rules 1 to 3 change accepted for rejected and
//! leave open what was open.

use rustc_hash::FxHashMap;

use crate::alphabet::Letter;
use crate::class::Class;
use crate::cycles::cyclic_components;
use crate::determinacy::Liveness;
use crate::diagram::{Diagrams, Function};
use crate::normalise::Normalised;
use crate::residual::Residuals;
use crate::state_set::StateSet;
use crate::streett::StreettAutomaton;
use crate::structure::{AutomatonError, DEFAULT_BUDGET, StateId, Structure};

/// Comparisons of cycles that rule 3 may take; beyond them it does not apply.
const MAX_SEARCH: usize = 1 << 14;

/// The r-property of an automaton's infinitary part with the finitary part that this induces, in the
/// shape of its class; what the automaton says of finite sequences is not looked at.
pub fn induced(automaton: &StreettAutomaton) -> Result<StreettAutomaton, AutomatonError> {
    of_normalised(Normalised::new(automaton)?, DEFAULT_BUDGET)
}

/// The same, for an automaton that has the shape of its class already.
pub(crate) fn of_normalised(
    normal: Normalised,
    budget: usize,
) -> Result<StreettAutomaton, AutomatonError> {
    match normal.class.class {
        // The shapes of these classes accept as the first table says.
        Class::SafetyAndGuarantee | Class::Safety | Class::Guarantee | Class::Obligation(_) => {
            Ok(normal.automaton)
        }
        Class::Response | Class::Persistence | Class::Reactivity(_) => {
            above_obligation(&normal.automaton, budget)
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Judgement {
    Accepted,
    Rejected,
    Open,
}

impl From<bool> for Judgement {
    fn from(accepted: bool) -> Self {
        if accepted {
            Self::Accepted
        } else {
            Self::Rejected
        }
    }
}

fn above_obligation(
    automaton: &StreettAutomaton,
    budget: usize,
) -> Result<StreettAutomaton, AutomatonError> {
    let automaton = automaton.reachable_part();
    let s = automaton.structure();
    let omega = automaton.to_omega();
    let rules = match Residuals::new(&omega, budget) {
        Ok(residuals) => Some(Rules::new(residuals)?),
        // Too many pairs to compare: only what is decided for good is judged.
        Err(AutomatonError::TooManyStates(_)) => None,
        Err(e) => return Err(e),
    };
    let live = Liveness::new(&automaton)?;
    let judge = |q: StateId, last: Option<Letter>| match &rules {
        Some(rules) => rules.judge(q, last),
        None if !live.accepting.contains(q) => Judgement::Rejected,
        None if !live.rejecting.contains(q) => Judgement::Accepted,
        None => Judgement::Open,
    };
    let start = (s.initial(), judge(s.initial(), None));
    let budget = budget.saturating_mul(3);
    let (structure, meaning) = if s.alphabet().is_wide() {
        Structure::explore_functions(
            s.alphabet().clone(),
            start,
            budget,
            |&(q, _), diagrams, frontier| {
                let row = s.function_in(q, diagrams)?;
                diagrams.followed(row, &mut |diagrams, to| {
                    let to = StateId::new(to as usize);
                    let Some((known, last)) = rules.as_ref().and_then(|r| r.by_last(to)) else {
                        let to = frontier.number((to, judge(to, None)))?;
                        return Ok::<_, AutomatonError>(Function::constant(to));
                    };
                    let mut lead = |_: &mut Diagrams, value| {
                        frontier.number((to, judgement(REPEATED[value as usize])))
                    };
                    diagrams.mapped(known, last, &mut FxHashMap::default(), &mut lead)
                })
            },
        )?
    } else {
        Structure::explore(s.alphabet().clone(), start, budget, |&(q, _), l| {
            let to = s.step(q, l);
            Ok::<_, AutomatonError>((to, judge(to, Some(l))))
        })?
    };
    let with = |wanted: &[Judgement]| {
        StateSet::of(structure.len(), |q| wanted.contains(&meaning[q.index()].1))
    };
    let finite = with(&[Judgement::Accepted, Judgement::Open]);
    let open = with(&[Judgement::Open]);
    let old: Vec<StateId> = meaning.iter().map(|&(q, _)| q).collect();
    Ok(automaton
        .image(structure, &old)
        .with_finite(finite)
        .with_open(&open)
        .reduced())
}

/// What is seen among some infinite continuations.
#[derive(Clone, Copy, Default)]
struct Seen {
    accepted: bool,
    rejected: bool,
}

impl Seen {
    fn add(&mut self, accepted: bool) {
        self.accepted |= accepted;
        self.rejected |= !accepted;
    }

    /// Their common verdict, if there is one.
    fn agreed(self) -> Option<bool> {
        (self.accepted != self.rejected).then_some(self.accepted)
    }
}

/// What rule 3 may say, by the numbers that functions of the last letter give.
const REPEATED: [Option<bool>; 3] = [None, Some(false), Some(true)];
const REJECTED: u32 = 1;
const ACCEPTED: u32 = 2;

fn judgement(known: Option<bool>) -> Judgement {
    known.map_or(Judgement::Open, Judgement::from)
}

/// The second table, worked out for every residual.
struct Rules {
    residuals: Residuals,
    /// By rules 1 and 2.
    settled: Vec<Option<bool>>,
    /// By rule 3, as a function of the last letter; where that says nothing at all, there is none.
    repeated: Vec<Option<Function>>,
    diagrams: Diagrams,
}

impl Rules {
    fn new(residuals: Residuals) -> Result<Self, AutomatonError> {
        let count = residuals.len();
        let mut members: Vec<Vec<StateId>> = vec![Vec::new(); count];
        for q in residuals.structure.states() {
            members[residuals.class[q.index()] as usize].push(q);
        }
        let mut returning = vec![Seen::default(); count];
        let all: Vec<StateId> = residuals.structure.states().collect();
        for i in residuals.priorities() {
            for cycle in least_cycles(&residuals, &residuals.structure, &all, i, |q| q) {
                for q in cycle {
                    returning[residuals.class[q.index()] as usize].add(i % 2 == 0);
                }
            }
        }
        let mut settled = Vec::with_capacity(count);
        let mut repeated = Vec::with_capacity(count);
        let mut diagrams = Diagrams::default();
        for (c, states) in members.iter().enumerate() {
            let mut verdict = returning[c].agreed();
            let mut by_last = None;
            if verdict.is_none() {
                let mut place = Place::new(&residuals, states, &mut diagrams)?;
                let staying = place.staying();
                verdict = staying.agreed();
                if staying.accepted && staying.rejected && place.depends_on_letters_only()? {
                    by_last = Some(place.repeated()?);
                }
            }
            settled.push(verdict);
            repeated.push(by_last);
        }
        Ok(Self {
            residuals,
            settled,
            repeated,
            diagrams,
        })
    }

    fn judge(&self, q: StateId, last: Option<Letter>) -> Judgement {
        let c = self.residuals.of(q) as usize;
        let by_last = || {
            let function = self.repeated[c]?;
            if let Some(l) = last {
                return REPEATED[self.diagrams.at(function, l.bits()) as usize];
            }
            // Rule 4.
            let values = self.diagrams.values(function);
            values.iter().any(|v| v.0 == ACCEPTED).then_some(true)
        };
        judgement(self.settled[c].or_else(by_last))
    }

    /// What rule 3 says at a state as a function of the last letter, where that is for it to say.
    fn by_last(&self, q: StateId) -> Option<(&Diagrams, Function)> {
        let c = self.residuals.of(q) as usize;
        match self.settled[c] {
            Some(_) => None,
            None => Some((&self.diagrams, self.repeated[c]?)),
        }
    }
}

/// The maximal cycles among `states` whose least priority is `i`.
fn least_cycles(
    residuals: &Residuals,
    structure: &Structure,
    states: &[StateId],
    i: u32,
    global: impl Fn(StateId) -> StateId,
) -> Vec<Vec<StateId>> {
    let priority = |q: StateId| residuals.priority[global(q).index()];
    let subset: Vec<StateId> = states
        .iter()
        .copied()
        .filter(|&q| priority(q) >= i)
        .collect();
    let mut cycles = cyclic_components(structure, &subset);
    cycles.retain(|c| c.iter().any(|&q| priority(q) == i));
    cycles
}

/// Some letters: by position, or over a wide alphabet as a function that is 1 at them.
#[derive(Clone, Debug, PartialEq, Eq)]
enum LetterSet {
    Listed(Vec<bool>),
    Function(Function),
}

impl LetterSet {
    fn listed(&self) -> &[bool] {
        match self {
            Self::Listed(letters) => letters,
            Self::Function(_) => &[],
        }
    }
}

/// The states of one residual, cut out of the automaton. What stays in them stays in the residual.
struct Place<'a> {
    residuals: &'a Residuals,
    states: &'a [StateId],
    diagrams: &'a mut Diagrams,
    /// Where each state goes: i stands for `states[i]`, and one more for whatever leaves.
    functions: Vec<Function>,
    /// The same as a table, one column a letter; empty over a wide alphabet.
    table: Vec<u32>,
    cut: Structure,
}

impl<'a> Place<'a> {
    fn new(
        residuals: &'a Residuals,
        states: &'a [StateId],
        diagrams: &'a mut Diagrams,
    ) -> Result<Self, AutomatonError> {
        let sink = states.len() as u32;
        let place = |to: StateId| states.binary_search(&to).map_or(sink, |i| i as u32);
        let mut functions = Vec::with_capacity(states.len());
        for &q in states {
            let row = residuals.structure.function_in(q, diagrams)?;
            functions.push(diagrams.followed(row, &mut |_, to| {
                let place = place(StateId::new(to as usize));
                Ok::<_, AutomatonError>(Function::constant(place))
            })?);
        }
        let mut table = Vec::new();
        if !residuals.structure.alphabet().is_wide() {
            let rows = states.iter().flat_map(|&q| residuals.structure.row(q));
            table.extend(rows.map(|&to| place(to)));
        }
        let cut = graph(diagrams, &functions)?;
        Ok(Self {
            residuals,
            states,
            diagrams,
            functions,
            table,
            cut,
        })
    }

    /// Where one of the states goes, letter by letter.
    fn row(&self, q: usize) -> &[u32] {
        let letters = self.residuals.structure.alphabet().len();
        &self.table[q * letters..(q + 1) * letters]
    }

    fn inside(&self) -> Vec<StateId> {
        (0..self.states.len()).map(StateId::new).collect()
    }

    fn cycles(&self, structure: &Structure, among: &[StateId], i: u32) -> Vec<Vec<StateId>> {
        least_cycles(self.residuals, structure, among, i, |q| {
            self.states[q.index()]
        })
    }

    fn staying(&self) -> Seen {
        let mut seen = Seen::default();
        for i in self.residuals.priorities() {
            if !self.cycles(&self.cut, &self.inside(), i).is_empty() {
                seen.add(i % 2 == 0);
            }
        }
        seen
    }

    /// Whether no two cycles with the same letters have different verdicts.
    fn depends_on_letters_only(&mut self) -> Result<bool, AutomatonError> {
        let sigma = self.residuals.structure.alphabet();
        let every = if sigma.is_wide() {
            LetterSet::Function(Function::constant(1))
        } else {
            LetterSet::Listed(vec![true; sigma.len()])
        };
        let mut left = MAX_SEARCH;
        let inside = self.inside();
        let cut = self.cut.clone();
        let priorities = self.residuals.priorities();
        for &i in priorities.iter().filter(|i| *i % 2 == 0) {
            for &j in priorities.iter().filter(|j| *j % 2 == 1) {
                for good in self.cycles(&cut, &inside, i) {
                    for bad in self.cycles(&cut, &inside, j) {
                        if self.alike((&good, i), (&bad, j), &every, &mut left)? {
                            return Ok(false);
                        }
                    }
                }
            }
        }
        Ok(true)
    }

    /// Whether two cycles with exactly the same letters lie in these, with the least priorities beside
    /// them. Letters that only one of the two has are of no use to either, and so they are taken away
    /// until both have the same.
    fn alike(
        &mut self,
        (one, i): (&[StateId], u32),
        (other, j): (&[StateId], u32),
        allowed: &LetterSet,
        left: &mut usize,
    ) -> Result<bool, AutomatonError> {
        let Some(rest) = left.checked_sub(1) else {
            // Not known; then the rule does not apply.
            return Ok(true);
        };
        *left = rest;
        let (a, b) = (self.letters(one, allowed)?, self.letters(other, allowed)?);
        if a == b {
            return Ok(true);
        }
        let (common, structure) = self.restricted(&a, &b)?;
        for p in self.cycles(&structure, one, i) {
            for q in self.cycles(&structure, other, j) {
                if self.alike((&p, i), (&q, j), &common, left)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The letters between states of a cycle.
    fn letters(
        &mut self,
        cycle: &[StateId],
        allowed: &LetterSet,
    ) -> Result<LetterSet, AutomatonError> {
        let mut stays = vec![false; self.states.len() + 1];
        for q in cycle {
            stays[q.index()] = true;
        }
        Ok(match allowed {
            LetterSet::Listed(allowed) => {
                let mut found = vec![false; allowed.len()];
                for q in cycle {
                    for (found, &to) in found.iter_mut().zip(self.row(q.index())) {
                        *found |= stays[to as usize];
                    }
                }
                let both = |(found, allowed): (bool, &bool)| found && *allowed;
                LetterSet::Listed(found.into_iter().zip(allowed).map(both).collect())
            }
            &LetterSet::Function(allowed) => {
                let mut found = Function::constant(0);
                for &q in cycle {
                    let f = self.functions[q.index()];
                    let with = |to: u32, known| known | u32::from(stays[to as usize]);
                    found = self.diagrams.combined(f, found, with)?;
                }
                LetterSet::Function(self.diagrams.combined(found, allowed, |x, y| x & y)?)
            }
        })
    }

    /// The letters that two sets have in common, and the transitions with these.
    fn restricted(
        &mut self,
        a: &LetterSet,
        b: &LetterSet,
    ) -> Result<(LetterSet, Structure), AutomatonError> {
        let sink = self.states.len() as u32;
        if let (&LetterSet::Function(a), &LetterSet::Function(b)) = (a, b) {
            let common = self.diagrams.combined(a, b, |x, y| x & y)?;
            let keep = |to, keep| if keep == 1 { to } else { sink };
            let mut functions = Vec::with_capacity(self.functions.len());
            for &f in &self.functions {
                functions.push(self.diagrams.combined(f, common, keep)?);
            }
            let structure = graph(self.diagrams, &functions)?;
            return Ok((LetterSet::Function(common), structure));
        }
        let (a, b) = (a.listed(), b.listed());
        let common: Vec<bool> = a.iter().zip(b).map(|(&x, &y)| x && y).collect();
        let mut successors: Vec<Vec<u32>> = Vec::with_capacity(self.states.len() + 1);
        for q in 0..self.states.len() {
            let row = self.row(q).iter().zip(&common);
            let kept = row.filter(|(_, keep)| **keep).map(|(to, _)| *to);
            let mut kept: Vec<u32> = kept.chain([sink]).collect();
            // Most letters lead the same way, and the graph is walked more than once.
            kept.sort_unstable();
            kept.dedup();
            successors.push(kept);
        }
        successors.push(vec![sink]);
        let structure = Structure::of_graph(StateId::new(self.states.len()), &successors)?;
        Ok((LetterSet::Listed(common), structure))
    }

    /// How the word that repeats a letter is judged, for each letter that stays.
    fn repeated(&mut self) -> Result<Function, AutomatonError> {
        let sink = self.states.len() as u32;
        let functions = &self.functions;
        // After as many steps as there are states the run is on its cycle, and after as many again it has been
        // all around it.
        let mut at = Function::constant(0);
        let step = |diagrams: &mut Diagrams, at: Function| {
            diagrams.followed(at, &mut |_, q| {
                let stays = functions.get(q as usize).copied();
                Ok::<_, AutomatonError>(stays.unwrap_or(Function::constant(sink)))
            })
        };
        let mut steady = false;
        for _ in 0..self.states.len() {
            let next = step(self.diagrams, at)?;
            steady = next == at;
            if steady {
                break;
            }
            at = next;
        }
        let priority = |q: u32| {
            let state = self.states.get(q as usize);
            state.map_or(u32::MAX >> 1, |q| self.residuals.priority[q.index()])
        };
        let mut least = Function::constant(u32::MAX >> 1);
        for _ in 0..if steady { 1 } else { self.states.len() } {
            least = self.diagrams.followed(at, &mut |diagrams, q| {
                diagrams.followed(least, &mut |_, low| {
                    Ok::<_, AutomatonError>(Function::constant(low.min(priority(q))))
                })
            })?;
            at = step(self.diagrams, at)?;
        }
        self.diagrams.combined(at, least, |q, low| match low % 2 {
            _ if q == sink => 0,
            0 => ACCEPTED,
            _ => REJECTED,
        })
    }
}

/// The transitions that the functions have, with a sink behind them.
fn graph(diagrams: &Diagrams, functions: &[Function]) -> Result<Structure, AutomatonError> {
    let sink = functions.len() as u32;
    let row = |&f: &Function| diagrams.values(f).into_iter().map(|(q, _)| q).collect();
    let mut successors: Vec<Vec<u32>> = functions.iter().map(row).collect();
    successors.push(vec![sink]);
    Structure::of_graph(StateId::new(functions.len()), &successors)
}
