//! Past operators. A formula that speaks of the past only is true or false as soon as its position is
//! reached, so it can be followed beside the automaton: the rest of the formula is translated over
//! letters that carry the truth of its past parts.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::alphabet::{Alphabet, Letter, MAX_PROPOSITIONS, MAX_TABLE_PROPOSITIONS};
use crate::diagram::{Diagrams, Function};
use crate::omega::OmegaAutomaton;
use crate::state_set::StateSet;
use crate::structure::{AutomatonError, StateId, Structure};

use super::{LetterSet, Ltl, LtlError, letters};

/// Past operators that are followed at once: bits of a memory.
const MAX_PAST: usize = u64::BITS as usize;

/// The past operators of a formula, operands before operators, with the memory they need.
pub(super) struct Past<'a> {
    /// Every past operator.
    nodes: Vec<&'a Ltl>,
    /// Which of them stand in the future part.
    outermost: Vec<usize>,
    alphabet: &'a Arc<Alphabet>,
    /// Bits that tell letters apart.
    bits: u32,
}

impl<'a> Past<'a> {
    pub(super) fn new(formula: &'a Ltl, alphabet: &'a Arc<Alphabet>) -> Result<Self, LtlError> {
        let bits = if alphabet.is_wide() {
            alphabet.propositions().len() as u32
        } else {
            alphabet.len().next_power_of_two().trailing_zeros()
        };
        let mut past = Self {
            nodes: Vec::new(),
            outermost: Vec::new(),
            alphabet,
            bits,
        };
        past.collect(formula, false)?;
        Ok(past)
    }

    fn collect(&mut self, f: &'a Ltl, inside: bool) -> Result<(), LtlError> {
        if inside && f.is_future() {
            return Err(LtlError::FutureInPast);
        }
        let is_past = f.is_past();
        for g in f.operands() {
            self.collect(g, inside || is_past)?;
        }
        if is_past && !self.nodes.contains(&f) {
            if self.nodes.len() >= MAX_PAST {
                return Err(LtlError::TooManyPast);
            }
            self.nodes.push(f);
        }
        if is_past && !inside {
            let at = self
                .nodes
                .iter()
                .position(|&g| g == f)
                .expect("just collected");
            if !self.outermost.contains(&at) {
                self.outermost.push(at);
            }
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// What is remembered before the first letter, one bit an operator.
    fn start(&self) -> u64 {
        let bit = |(i, f): (usize, &&Ltl)| u64::from(matches!(f, Ltl::Historically(_))) << i;
        self.nodes.iter().enumerate().map(bit).sum()
    }

    /// The alphabet that carries the truth of the outermost past formulas with each letter: the bits of the letter,
    /// and one for each formula. Bits that mean nothing make it wide, so that its letters are never listed.
    pub(super) fn extended(&self) -> Result<Alphabet, LtlError> {
        let needed = self.bits as usize + self.outermost.len();
        if needed > MAX_PROPOSITIONS {
            return Err(LtlError::TooManyPast);
        }
        let count = needed.max(MAX_TABLE_PROPOSITIONS + 1);
        let names: Vec<String> = (0..count).map(|i| i.to_string()).collect();
        Ok(Alphabet::valuations(&names)?)
    }

    /// The extended letters at which an atom or an outermost past formula holds.
    pub(super) fn letters(&self, f: &Ltl) -> Result<LetterSet, LtlError> {
        if let Ltl::Atom(name) = f {
            return letters(self.alphabet, name);
        }
        let at = self.outermost.iter().position(|&i| self.nodes[i] == f);
        let at = at.ok_or(LtlError::FutureInPast)?;
        Ok(LetterSet::Proposition(self.bits as usize + at))
    }

    /// The bits of a letter in the extended alphabet. A number has its highest bit first there, as formulas over
    /// numbered letters ask for them.
    fn key(&self, letter: u64) -> u64 {
        match self.bits {
            bits if self.alphabet.is_wide() || bits == 0 => letter,
            bits => letter.reverse_bits() >> (u64::BITS - bits),
        }
    }

    /// The letters in which something holds, as a function that is 1 there.
    fn function(
        &self,
        set: &LetterSet,
        diagrams: &mut Diagrams,
    ) -> Result<Function, AutomatonError> {
        match set {
            LetterSet::Proposition(i) => {
                diagrams.make(*i as u32, Function::constant(0), Function::constant(1))
            }
            LetterSet::Listed(holds) => {
                let row: Vec<u32> = (0..1_u64 << self.bits)
                    .map(|key| {
                        let letter = self.key(key) as usize;
                        // A number without a letter does as the one without its highest bit.
                        let known = holds.get(letter).or_else(|| {
                            let highest = self.bits.saturating_sub(1);
                            holds.get(letter & !(1 << highest))
                        });
                        u32::from(known == Some(&true))
                    })
                    .collect();
                diagrams.of_row(&row)
            }
        }
    }

    /// A formula of the present and the past, where the truth of past operators is known so far.
    fn value(
        &self,
        f: &Ltl,
        now: &[Function],
        diagrams: &mut Diagrams,
    ) -> Result<Function, LtlError> {
        let (no, yes) = (Function::constant(0), Function::constant(1));
        Ok(match f {
            Ltl::True => yes,
            Ltl::False => no,
            Ltl::Atom(name) => self.function(&letters(self.alphabet, name)?, diagrams)?,
            Ltl::AnyOf(names) => {
                let mut any = no;
                for name in names {
                    let one = self.function(&letters(self.alphabet, name)?, diagrams)?;
                    any = diagrams.combined(any, one, |x, y| x | y)?;
                }
                any
            }
            Ltl::Not(a) => {
                let a = self.value(a, now, diagrams)?;
                diagrams.combined(a, yes, |x, y| x ^ y)?
            }
            Ltl::And(fs) | Ltl::Or(fs) => {
                let both = matches!(f, Ltl::And(_));
                let mut all = if both { yes } else { no };
                for g in fs {
                    let g = self.value(g, now, diagrams)?;
                    all = diagrams.combined(all, g, |x, y| if both { x & y } else { x | y })?;
                }
                all
            }
            Ltl::Implies(a, b) => {
                let (a, b) = (self.value(a, now, diagrams)?, self.value(b, now, diagrams)?);
                diagrams.combined(a, b, |x, y| (1 - x) | y)?
            }
            Ltl::Iff(a, b) => {
                let (a, b) = (self.value(a, now, diagrams)?, self.value(b, now, diagrams)?);
                diagrams.combined(a, b, |x, y| 1 - (x ^ y))?
            }
            _ => {
                let at = self.nodes.iter().position(|&g| g == f);
                let known = at.and_then(|at| now.get(at));
                *known.ok_or(LtlError::FutureInPast)?
            }
        })
    }

    /// For each operator what is remembered of it after a letter, and then whether it holds at the letter.
    fn functions(&self, memory: u64, diagrams: &mut Diagrams) -> Result<Vec<Function>, LtlError> {
        let (mut kept, mut now) = (Vec::new(), Vec::new());
        for (i, f) in self.nodes.iter().enumerate() {
            let before = (memory >> i & 1) as u32;
            let (keeps, holds) = match f {
                Ltl::Previous(a) => {
                    let a = self.value(a, &now, diagrams)?;
                    (a, Function::constant(before))
                }
                Ltl::Once(a) => {
                    let a = self.value(a, &now, diagrams)?;
                    let holds = diagrams.combined(a, a, |x, _| x | before)?;
                    (holds, holds)
                }
                Ltl::Historically(a) => {
                    let a = self.value(a, &now, diagrams)?;
                    let holds = diagrams.combined(a, a, |x, _| x & before)?;
                    (holds, holds)
                }
                Ltl::Since(a, b) => {
                    let a = self.value(a, &now, diagrams)?;
                    let b = self.value(b, &now, diagrams)?;
                    let holds = diagrams.combined(a, b, |x, y| y | x & before)?;
                    (holds, holds)
                }
                _ => unreachable!("only past operators are collected"),
            };
            kept.push(keeps);
            now.push(holds);
        }
        kept.extend(self.outermost.iter().map(|&i| now[i]));
        Ok(kept)
    }

    /// An automaton over the extended alphabet beside the memory of the past: over the formula's own alphabet.
    pub(super) fn beside(
        &self,
        future: &OmegaAutomaton,
        budget: usize,
    ) -> Result<OmegaAutomaton, LtlError> {
        let mut moves = Moves::default();
        let start = (future.structure.initial(), self.start());
        let (structure, meaning) = if self.alphabet.is_wide() {
            Structure::explore_functions(
                self.alphabet.clone(),
                start,
                budget,
                |&(q, memory), diagrams, frontier| {
                    let which = moves.function(self, memory)?;
                    let mut same = |_: &mut Diagrams, id| Ok::<_, LtlError>(id);
                    let mut memo = FxHashMap::default();
                    let which = diagrams.mapped(&moves.diagrams, which, &mut memo, &mut same)?;
                    let (own, row) = future.structure.function(q).expect("a wide alphabet");
                    diagrams.followed(which, &mut |diagrams, id| {
                        let Move { truth, next } = moves.list[id as usize];
                        let mut lead = |_: &mut Diagrams, to: u32| {
                            let to = StateId::new(to as usize);
                            Ok::<_, LtlError>(frontier.number((to, next))?)
                        };
                        let answers = (self.bits, truth);
                        diagrams.answered(own, row, answers, &mut FxHashMap::default(), &mut lead)
                    })
                },
            )?
        } else {
            Structure::explore(self.alphabet.clone(), start, budget, |&(q, memory), l| {
                let key = self.key(l.bits());
                let which = moves.function(self, memory)?;
                let Move { truth, next } = moves.list[moves.diagrams.at(which, key) as usize];
                let letter = Letter::of_bits(key | truth << self.bits);
                Ok::<_, LtlError>((future.structure.step(q, letter), next))
            })?
        };
        let colours = meaning
            .iter()
            .map(|(q, _)| future.colours[q.index()].clone())
            .collect();
        Ok(OmegaAutomaton {
            colours,
            acceptance: future.acceptance.clone(),
            finite: StateSet::empty(structure.len()),
            structure,
        })
    }
}

/// What a letter makes of the past: the truth of the outermost formulas at it, and what is remembered after it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Move {
    truth: u64,
    next: u64,
}

/// Moves by number, and for each memory the function of the letter that leads to them.
#[derive(Default)]
struct Moves {
    diagrams: Diagrams,
    list: Vec<Move>,
    index: FxHashMap<Move, u32>,
    of: FxHashMap<u64, Function>,
}

impl Moves {
    fn function(&mut self, past: &Past<'_>, memory: u64) -> Result<Function, LtlError> {
        if let Some(&known) = self.of.get(&memory) {
            return Ok(known);
        }
        let mut scratch = Diagrams::default();
        let parts = past.functions(memory, &mut scratch)?;
        let bits = |values: &[u32]| -> u64 {
            let bit = |(i, &v): (usize, &u32)| u64::from(v) << i;
            values.iter().enumerate().map(bit).sum()
        };
        let mut number = |values: &[u32]| {
            let (kept, now) = values.split_at(past.nodes.len());
            let made = Move {
                truth: bits(now),
                next: bits(kept),
            };
            Ok::<_, LtlError>(*self.index.entry(made).or_insert_with(|| {
                self.list.push(made);
                self.list.len() as u32 - 1
            }))
        };
        let mut memo = FxHashMap::default();
        let made = self
            .diagrams
            .joint(&scratch, parts, &mut memo, &mut number)?;
        self.of.insert(memory, made);
        Ok(made)
    }
}
