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

use crate::alphabet::Letter;
use crate::class::Class;
use crate::cycles::cyclic_components;
use crate::determinacy::Liveness;
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
    let (structure, meaning) = Structure::explore(
        s.alphabet().clone(),
        (s.initial(), judge(s.initial(), None)),
        budget.saturating_mul(3),
        |&(q, _), l| {
            let to = s.step(q, l);
            Ok::<_, AutomatonError>((to, judge(to, Some(l))))
        },
    )?;
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

/// The second table, worked out for every residual.
struct Rules {
    residuals: Residuals,
    /// By rules 1 and 2.
    settled: Vec<Option<bool>>,
    /// By rule 3, for each last letter; then by rule 4 for none.
    repeated: Vec<Vec<Option<bool>>>,
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
        let letters = residuals.structure.alphabet().len();
        let mut settled = Vec::with_capacity(count);
        let mut repeated = Vec::with_capacity(count);
        for (c, states) in members.iter().enumerate() {
            let mut row = vec![None; letters + 1];
            let mut verdict = returning[c].agreed();
            if verdict.is_none() {
                let place = Place::new(&residuals, states)?;
                let staying = place.staying();
                verdict = staying.agreed();
                if staying.accepted && staying.rejected && place.depends_on_letters_only()? {
                    for l in residuals.structure.alphabet().iter() {
                        let to = residuals.structure.step(states[0], l);
                        if residuals.class[to.index()] as usize == c {
                            row[l.index()] = Some(residuals.accepts(states[0], &[l]));
                        }
                    }
                    row[letters] = row.contains(&Some(true)).then_some(true);
                }
            }
            settled.push(verdict);
            repeated.push(row);
        }
        Ok(Self {
            residuals,
            settled,
            repeated,
        })
    }

    fn judge(&self, q: StateId, last: Option<Letter>) -> Judgement {
        let c = self.residuals.of(q) as usize;
        let row = &self.repeated[c];
        self.settled[c]
            .or(row[last.map_or(row.len() - 1, Letter::index)])
            .map_or(Judgement::Open, Judgement::from)
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

/// The states of one residual, cut out of the automaton. What stays in them stays in the residual.
struct Place<'a> {
    residuals: &'a Residuals,
    states: &'a [StateId],
    /// State i is `states[i]`; the last one is a sink for whatever leaves.
    cut: Structure,
}

impl<'a> Place<'a> {
    fn new(residuals: &'a Residuals, states: &'a [StateId]) -> Result<Self, AutomatonError> {
        let sink = StateId::new(states.len());
        let s = &residuals.structure;
        let mut next = Vec::with_capacity((states.len() + 1) * s.alphabet().len());
        for &q in states {
            next.extend(
                s.row(q)
                    .iter()
                    .map(|to| states.binary_search(to).map_or(sink, StateId::new)),
            );
        }
        next.extend(std::iter::repeat_n(sink, s.alphabet().len()));
        let cut = Structure::new(s.alphabet().clone(), sink, next)?;
        Ok(Self {
            residuals,
            states,
            cut,
        })
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
    fn depends_on_letters_only(&self) -> Result<bool, AutomatonError> {
        let every: Vec<bool> = vec![true; self.cut.alphabet().len()];
        let mut left = MAX_SEARCH;
        let inside = self.inside();
        for &i in self.residuals.priorities().iter().filter(|i| *i % 2 == 0) {
            for &j in self.residuals.priorities().iter().filter(|j| *j % 2 == 1) {
                for good in self.cycles(&self.cut, &inside, i) {
                    for bad in self.cycles(&self.cut, &inside, j) {
                        if self.alike(&good, i, &bad, j, &every, &mut left)? {
                            return Ok(false);
                        }
                    }
                }
            }
        }
        Ok(true)
    }

    /// Whether two cycles with exactly the same letters lie in these, with least priorities `i` and
    /// `j`. Letters that only one of the two has are of no use to either, and so they are taken away
    /// until both have the same.
    fn alike(
        &self,
        one: &[StateId],
        i: u32,
        other: &[StateId],
        j: u32,
        allowed: &[bool],
        left: &mut usize,
    ) -> Result<bool, AutomatonError> {
        let Some(rest) = left.checked_sub(1) else {
            // Not known; then the rule does not apply.
            return Ok(true);
        };
        *left = rest;
        let (a, b) = (self.letters(one, allowed), self.letters(other, allowed));
        if a == b {
            return Ok(true);
        }
        let common: Vec<bool> = a.iter().zip(&b).map(|(&x, &y)| x && y).collect();
        let structure = self.restricted(&common)?;
        for p in self.cycles(&structure, one, i) {
            for q in self.cycles(&structure, other, j) {
                if self.alike(&p, i, &q, j, &common, left)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The letters between states of a cycle.
    fn letters(&self, cycle: &[StateId], allowed: &[bool]) -> Vec<bool> {
        let mut found = vec![false; allowed.len()];
        for &q in cycle {
            for l in self.cut.alphabet().iter().filter(|l| allowed[l.index()]) {
                found[l.index()] |= cycle.binary_search(&self.cut.step(q, l)).is_ok();
            }
        }
        found
    }

    fn restricted(&self, allowed: &[bool]) -> Result<Structure, AutomatonError> {
        let sink = StateId::new(self.states.len());
        let mut next = Vec::with_capacity(self.cut.len() * allowed.len());
        for q in self.cut.states() {
            next.extend(
                self.cut
                    .row(q)
                    .iter()
                    .zip(allowed)
                    .map(|(&to, &keep)| if keep { to } else { sink }),
            );
        }
        Structure::new(self.cut.alphabet().clone(), sink, next)
    }
}
