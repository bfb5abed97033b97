//! Translation over many propositions: what is left after a letter stays a function of the letter.
//!
//! The states are those of the constructions over tables; only their rows are never listed. A part of the formula that
//! tells few letters apart is translated over the classes of these, where more reductions are known.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::alphabet::Alphabet;
use crate::diagram::{Diagrams, Function};
use crate::normalise::Normalised;
use crate::structure::{AutomatonError, Frontier, Structure};

use super::bdd::Bdd;
use super::core::{Formulas, Id, Letters};
use super::translate::{Options, Route, Translation, Translator, Turn, failed};
use super::{Ltl, LtlError, letters};

/// Classes of letters up to which a part is translated over them.
const NARROW_LETTERS: usize = 1 << 8;

type Values<'m> = &'m mut FxHashMap<Bdd, Function>;

impl Ltl {
    pub(super) fn translate_wide(
        &self,
        alphabet: &Arc<Alphabet>,
        options: Options,
    ) -> Result<Translation, LtlError> {
        let mut formulas = Formulas::new(Letters::Valuations(alphabet.propositions().len()));
        let f = formulas.normal_form(self, false, &|f| match f {
            Ltl::Atom(name) => letters(alphabet, name),
            _ => Err(LtlError::FutureInPast),
        })?;
        let mut translator = Translator::new(formulas, alphabet, options);
        translator.guard()?;
        if let Some((normal, classes)) = translator.over_classes(f, translator.narrow_letters())? {
            let narrow = Translation::new(normal, options.budget)?;
            let (diagrams, class) = translator.class_functions(&classes)?;
            return Ok(Translation {
                automaton: narrow
                    .automaton
                    .over_functions(alphabet, (&diagrams, class))?,
                class: narrow.class,
            });
        }
        Translation::new(translator.translated(f)?, options.budget)
    }
}

impl Normalised {
    /// Over a wide alphabet, of which each letter does as one of this automaton's does.
    pub(super) fn over_functions(
        self,
        alphabet: &Arc<Alphabet>,
        (classes, class): (&Diagrams, Function),
    ) -> Result<Self, LtlError> {
        Ok(Self {
            automaton: self.automaton.over_functions(alphabet, (classes, class))?,
            class: self.class,
            finite_change: None,
        })
    }
}

impl Translator<'_> {
    pub(super) fn narrow_letters(&self) -> usize {
        match self.options().route {
            Route::Functions => 1,
            _ => NARROW_LETTERS,
        }
    }

    /// The formula over the classes of letters that it tells apart, if these are few, and the classes.
    fn over_classes(
        &mut self,
        f: Id,
        limit: usize,
    ) -> Result<Option<(Normalised, Vec<Bdd>)>, LtlError> {
        let wide = &mut self.derivatives.formulas;
        let Some(classes) = wide.letter_classes(f, limit) else {
            return Ok(None);
        };
        let mut formulas = Formulas::new(Letters::Numbered(classes.len()));
        let f = formulas.narrowed(wide, f, &classes, &mut FxHashMap::default());
        let narrow = Arc::new(Alphabet::numbers(classes.len())?);
        let normal = Translator::new(formulas, &narrow, self.options()).translated(f)?;
        Ok(Some((normal, classes)))
    }

    /// The same over the letters of the whole formula; nothing where there are tables anyhow.
    pub(super) fn narrow(&mut self, f: Id, limit: usize) -> Result<Option<Normalised>, LtlError> {
        if !self.alphabet.is_wide() {
            return Ok(None);
        }
        let Some((normal, classes)) = self.over_classes(f, limit)? else {
            return Ok(None);
        };
        let (diagrams, class) = self.class_functions(&classes)?;
        let normal = normal.over_functions(self.alphabet, (&diagrams, class))?;
        Ok(Some(normal))
    }

    /// The class of each letter, as a function.
    fn class_functions(&self, classes: &[Bdd]) -> Result<(Diagrams, Function), AutomatonError> {
        let mut diagrams = Diagrams::default();
        let parts = classes.to_vec();
        let of = self.joint(
            &mut diagrams,
            parts,
            &mut FxHashMap::default(),
            &mut |_, at| {
                let class = at.iter().position(|&c| c == Bdd::TRUE);
                let class = class.expect("each letter is of a class");
                Ok::<_, AutomatonError>(Function::constant(class as u32))
            },
        )?;
        Ok((diagrams, of))
    }

    /// Several functions of the letter as one: `end` says what becomes of them where the letter does not matter
    /// any more.
    fn joint<E: From<AutomatonError>>(
        &self,
        diagrams: &mut Diagrams,
        parts: Vec<Bdd>,
        memo: &mut FxHashMap<Vec<Bdd>, Function>,
        end: &mut impl FnMut(&mut Diagrams, &[Bdd]) -> Result<Function, E>,
    ) -> Result<Function, E> {
        if let Some(&known) = memo.get(&parts) {
            return Ok(known);
        }
        let asked = |&p: &Bdd| self.derivatives.asked(p);
        let bit = parts.iter().filter_map(asked).map(|n| n.0).min();
        let made = match bit {
            None => end(diagrams, &parts)?,
            Some(bit) => {
                let half = |high: bool| {
                    let answered = |&p: &Bdd| match self.derivatives.asked(p) {
                        Some((own, _, yes)) if own == bit && high => yes,
                        Some((own, no, _)) if own == bit => no,
                        _ => p,
                    };
                    parts.iter().map(answered).collect::<Vec<Bdd>>()
                };
                let low = self.joint(diagrams, half(false), memo, end)?;
                let high = self.joint(diagrams, half(true), memo, end)?;
                diagrams.make(bit, low, high)?
            }
        };
        memo.insert(parts, made);
        Ok(made)
    }

    /// What is left of one formula, by the number of its function.
    fn left(
        &self,
        diagrams: &mut Diagrams,
        after: Bdd,
        memo: Values<'_>,
    ) -> Result<Function, AutomatonError> {
        if let Some(&known) = memo.get(&after) {
            return Ok(known);
        }
        let made = match self.derivatives.asked(after) {
            None => Function::constant(self.derivatives.told(after).index()),
            Some((bit, low, high)) => {
                let low = self.left(diagrams, low, memo)?;
                let high = self.left(diagrams, high, memo)?;
                diagrams.make(bit, low, high)?
            }
        };
        memo.insert(after, made);
        Ok(made)
    }

    /// The formula itself is the state.
    pub(super) fn after_functions(
        &mut self,
        start: Bdd,
    ) -> Result<(Structure, Vec<Bdd>), AutomatonError> {
        let mut memo = FxHashMap::default();
        Structure::explore_functions(
            self.alphabet.clone(),
            start,
            self.budget,
            |&f, diagrams, frontier| {
                let any = self.derivatives.after_any(f);
                self.guard()?;
                let left = self.left(diagrams, any, &mut memo)?;
                diagrams.followed(left, &mut |_, left| {
                    let to = frontier.number(Bdd::of(left))?;
                    Ok::<_, AutomatonError>(Function::constant(to))
                })
            },
        )
    }

    /// As [`Self::breakpoint`] over tables.
    pub(super) fn breakpoint_functions(
        &mut self,
        start: Turn,
        recurring: &[Option<Bdd>],
    ) -> Result<(Structure, Vec<Turn>), AutomatonError> {
        let last = recurring.len() - 1;
        let mut memo = FxHashMap::default();
        Structure::explore_functions(
            self.alphabet.clone(),
            start,
            self.budget,
            |(fs, turn, owed), diagrams, frontier| {
                let next = fs.iter().zip(recurring).map(|(&f, r)| match r {
                    Some(_) => f,
                    None => self.derivatives.after_any(f),
                });
                let next: Vec<Bdd> = next.collect();
                let paying = (*owed != Bdd::TRUE).then(|| self.derivatives.after_any(*owed));
                let inner: Vec<Option<Bdd>> = recurring
                    .iter()
                    .map(|r| r.map(|g| self.derivatives.after_any(g)))
                    .collect();
                self.guard()?;
                // First the vectors of formulas by number, so that the diagram of the debts comes behind.
                let mut vectors: Vec<Vec<Bdd>> = Vec::new();
                let which =
                    self.joint(diagrams, next, &mut FxHashMap::default(), &mut |_, at| {
                        vectors.push(at.iter().map(|&f| self.derivatives.told(f)).collect());
                        Ok::<_, AutomatonError>(Function::constant(vectors.len() as u32 - 1))
                    })?;
                diagrams.followed(which, &mut |diagrams, vector| {
                    let next = &vectors[vector as usize];
                    if next.contains(&Bdd::FALSE) {
                        let to = frontier.number(failed(next.clone()))?;
                        return Ok::<_, AutomatonError>(Function::constant(to));
                    }
                    let mut debts = Debts {
                        next,
                        inner: &inner,
                        memo: &mut memo,
                        frontier,
                    };
                    let from = if *turn == last { 0 } else { turn + 1 };
                    let Some(paying) = paying else {
                        return self.turned(diagrams, from, &mut debts);
                    };
                    let paid = self.left(diagrams, paying, debts.memo)?;
                    diagrams.followed(paid, &mut |diagrams, left| {
                        if Bdd::of(left) == Bdd::TRUE && *turn != last {
                            return self.turned(diagrams, from, &mut debts);
                        }
                        debts.owing(*turn, Bdd::of(left))
                    })
                })
            },
        )
    }

    /// The turn of one formula, or of the first after it that owes something, up to the end of the round.
    fn turned(
        &mut self,
        diagrams: &mut Diagrams,
        turn: usize,
        debts: &mut Debts<'_>,
    ) -> Result<Function, AutomatonError> {
        let owed = match debts.inner[turn] {
            Some(after) => self.left(diagrams, after, debts.memo)?,
            None => Function::constant(self.derivatives.obligations(debts.next[turn]).index()),
        };
        let last = debts.next.len() - 1;
        diagrams.followed(owed, &mut |diagrams, owed| {
            if Bdd::of(owed) == Bdd::TRUE && turn != last {
                return self.turned(diagrams, turn + 1, debts);
            }
            debts.owing(turn, Bdd::of(owed))
        })
    }
}

/// What is known of a step while the next one in turn is looked for.
struct Debts<'a> {
    next: &'a [Bdd],
    /// Of what recurs, what is left of the formula under its G.
    inner: &'a [Option<Bdd>],
    memo: &'a mut FxHashMap<Bdd, Function>,
    frontier: &'a mut Frontier<Turn>,
}

impl Debts<'_> {
    fn owing(&mut self, turn: usize, owed: Bdd) -> Result<Function, AutomatonError> {
        let to = self.frontier.number((self.next.to_vec(), turn, owed))?;
        Ok(Function::constant(to))
    }
}
