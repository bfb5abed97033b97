//! Past operators. A formula that speaks of the past only is true or false as soon as its position is
//! reached, so it can be followed beside the automaton: the rest of the formula is translated over
//! letters that carry the truth of its past parts.

use crate::alphabet::{Alphabet, Letter};

use super::{LetterSet, Ltl, LtlError, letters};

/// Past operators that are followed at once.
const MAX_PAST: usize = 10;

/// The past operators of a formula, operands before operators, with the memory they need.
pub(super) struct Past<'a> {
    /// Every past operator.
    nodes: Vec<&'a Ltl>,
    /// Which of them stand in the future part.
    outermost: Vec<usize>,
    letters: usize,
}

impl<'a> Past<'a> {
    pub(super) fn new(formula: &'a Ltl, alphabet: &Alphabet) -> Result<Self, LtlError> {
        let mut past = Self {
            nodes: Vec::new(),
            outermost: Vec::new(),
            letters: alphabet.len(),
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
    pub(super) fn start(&self) -> u32 {
        let bit = |(i, f): (usize, &&Ltl)| u32::from(matches!(f, Ltl::Historically(_))) << i;
        self.nodes.iter().enumerate().map(bit).sum()
    }

    /// What is remembered after a letter, and the truth of each operator at it.
    pub(super) fn step(
        &self,
        memory: u32,
        letter: Letter,
        alphabet: &Alphabet,
    ) -> Result<(u32, u32), LtlError> {
        let (mut next, mut now) = (0, 0);
        for (i, f) in self.nodes.iter().enumerate() {
            let before = memory >> i & 1 == 1;
            let value = |g: &Ltl| self.value(g, letter, now, alphabet);
            let (kept, holds) = match f {
                Ltl::Previous(a) => (value(a)?, before),
                Ltl::Once(a) => {
                    let holds = value(a)? || before;
                    (holds, holds)
                }
                Ltl::Historically(a) => {
                    let holds = value(a)? && before;
                    (holds, holds)
                }
                Ltl::Since(a, b) => {
                    let holds = value(b)? || value(a)? && before;
                    (holds, holds)
                }
                _ => unreachable!("only past operators are collected"),
            };
            next |= u32::from(kept) << i;
            now |= u32::from(holds) << i;
        }
        Ok((next, now))
    }

    fn value(&self, f: &Ltl, l: Letter, now: u32, sigma: &Alphabet) -> Result<bool, LtlError> {
        let value = |g: &Ltl| self.value(g, l, now, sigma);
        Ok(match f {
            Ltl::True => true,
            Ltl::False => false,
            Ltl::Atom(name) => letters(sigma, name)?.has(l),
            Ltl::AnyOf(names) => {
                let mut any = false;
                for name in names {
                    any |= letters(sigma, name)?.has(l);
                }
                any
            }
            Ltl::Not(a) => !value(a)?,
            Ltl::And(fs) => fs
                .iter()
                .try_fold(true, |all, g| Ok::<_, LtlError>(all & value(g)?))?,
            Ltl::Or(fs) => fs
                .iter()
                .try_fold(false, |any, g| Ok::<_, LtlError>(any | value(g)?))?,
            Ltl::Implies(a, b) => !value(a)? || value(b)?,
            Ltl::Iff(a, b) => value(a)? == value(b)?,
            _ => {
                let at = self
                    .nodes
                    .iter()
                    .position(|&g| g == f)
                    .ok_or(LtlError::FutureInPast)?;
                now >> at & 1 == 1
            }
        })
    }

    /// The alphabet that carries the truth of the outermost past formulas with each letter.
    pub(super) fn extended(&self) -> Result<Alphabet, LtlError> {
        let most = (1 << 12) >> self.outermost.len();
        if self.letters > most {
            return Err(LtlError::TooManyPast);
        }
        let count = self.letters << self.outermost.len();
        let names: Vec<String> = (0..count).map(|i| i.to_string()).collect();
        Ok(Alphabet::of_names(names.iter().map(String::as_str))?)
    }

    /// The extended letter for a letter and the truth of each operator at it.
    pub(super) fn letter(&self, letter: Letter, now: u32) -> Letter {
        let truth = self.outermost.iter().enumerate();
        let bits: usize = truth
            .map(|(k, &i)| (now >> i & 1) as usize * (1 << k))
            .sum();
        Letter::new(bits * self.letters + letter.index())
    }

    /// The extended letters at which an atom or an outermost past formula holds.
    pub(super) fn letters(&self, f: &Ltl, alphabet: &Alphabet) -> Result<LetterSet, LtlError> {
        if let (Ltl::Atom(name), true) = (f, self.outermost.is_empty()) {
            return letters(alphabet, name);
        }
        let count = self.letters << self.outermost.len();
        if let Ltl::Atom(name) = f {
            let holds = letters(alphabet, name)?;
            let holds = (0..count).map(|e| holds.has(Letter::new(e % self.letters)));
            return Ok(LetterSet::Listed(holds.collect()));
        }
        let at = self.outermost.iter().position(|&i| self.nodes[i] == f);
        let at = at.ok_or(LtlError::FutureInPast)?;
        let holds = (0..count).map(|e| (e / self.letters) >> at & 1 == 1);
        Ok(LetterSet::Listed(holds.collect()))
    }
}
