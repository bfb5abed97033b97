//! A nondeterministic Büchi automaton for any formula, with acceptance on its transitions.
//!
//! A state is a set of temporal formulas that must all hold; the minimal sets that satisfy what is
//! left after a letter are its successors, and each eventuality must infinitely often not be put
//! off [Couvreur 1999]. That an eventuality is put off is a variable of its own: a step that puts
//! it off and one that fulfils it while another formula asks for it anew lead to comparable sets, and
//! without the mark the second would be dropped as not minimal. A counter makes one condition of all.
//!
//! What is left after a letter is a function of the letter, and so is the choice of successors.

use rustc_hash::FxHashMap;

use crate::diagram::{Diagrams, Function};
use crate::structure::AutomatonError;

use super::LtlError;
use super::bdd::Bdd;
use super::buchi::{Buchi, Choices};
use super::core::Id;
use super::derivative::{Derivatives, PUT_OFF};

type Obligations = Vec<u32>;
/// The set that comes next, and the eventualities put off.
type Step = (u32, Vec<u32>);

/// Sets of formulas and the choices between them, both by number.
struct Tableau<'a> {
    derivatives: &'a mut Derivatives,
    sets: Vec<Obligations>,
    index: FxHashMap<Obligations, u32>,
    diagrams: Diagrams,
    choices: Vec<Vec<Step>>,
    /// The choices that what is left of a set stands for, as a function of the letter.
    memo: FxHashMap<Bdd, Function>,
    budget: usize,
}

impl Buchi {
    /// For a formula.
    pub(super) fn of_formula(
        derivatives: &mut Derivatives,
        formula: Id,
        budget: usize,
    ) -> Result<Self, LtlError> {
        derivatives.mark_promises(true);
        let mut tableau = Tableau {
            derivatives,
            sets: Vec::new(),
            index: FxHashMap::default(),
            diagrams: Diagrams::default(),
            choices: Vec::new(),
            memo: FxHashMap::default(),
            budget,
        };
        let result = tableau.build(formula);
        derivatives.mark_promises(false);
        Ok(result?.reduced())
    }
}

impl Tableau<'_> {
    fn build(&mut self, formula: Id) -> Result<Buchi, AutomatonError> {
        let start = self.derivatives.bdd(formula);
        let first = self.models(start).into_iter().map(|m| m.0).collect();
        let mut rows: Vec<Function> = Vec::new();
        while rows.len() < self.sets.len() {
            let from = self.sets[rows.len()].clone();
            let any = from.iter().fold(Bdd::TRUE, |all, &f| {
                let v = self.derivatives.formulas.bdds.var(f);
                let after = self.derivatives.after_any(v);
                self.derivatives.formulas.bdds.and(all, after)
            });
            rows.push(self.choice(any)?);
        }
        self.degeneralised(first, &rows)
    }

    /// The minimal sets that make a function of formulas true.
    fn models(&mut self, left: Bdd) -> Vec<Step> {
        let models = self.derivatives.formulas.bdds.minimal_models(left);
        let split = |m: Vec<u32>| {
            let (put_off, set): (Vec<u32>, Vec<u32>) =
                m.into_iter().partition(|v| v & PUT_OFF != 0);
            let number = *self.index.entry(set).or_insert_with_key(|set| {
                self.sets.push(set.clone());
                self.sets.len() as u32 - 1
            });
            (number, put_off.iter().map(|v| v & !PUT_OFF).collect())
        };
        models.into_iter().map(split).collect()
    }

    /// The choice that a letter leaves, as a function of it.
    fn choice(&mut self, after: Bdd) -> Result<Function, AutomatonError> {
        if let Some(&known) = self.memo.get(&after) {
            return Ok(known);
        }
        let made = if let Some((bit, low, high)) = self.derivatives.asked(after) {
            let low = self.choice(low)?;
            let high = self.choice(high)?;
            self.diagrams.make(bit, low, high)?
        } else {
            let steps = self.models(after);
            self.choices.push(steps);
            Function::constant(self.choices.len() as u32 - 1)
        };
        if self.sets.len() > self.budget || self.derivatives.formulas.bdds.overflowed() {
            return Err(AutomatonError::TooManyStates(self.budget));
        }
        self.memo.insert(after, made);
        Ok(made)
    }

    /// A state is a set and the eventuality that is waited for.
    fn degeneralised(&self, first: Vec<u32>, rows: &[Function]) -> Result<Buchi, AutomatonError> {
        let put_off = self
            .choices
            .iter()
            .flatten()
            .flat_map(|(_, put_off)| put_off);
        let mut eventualities: Vec<u32> = put_off.copied().collect();
        eventualities.sort_unstable();
        eventualities.dedup();
        let mut index: FxHashMap<(u32, usize), u32> = FxHashMap::default();
        let mut states: Vec<(u32, usize)> = Vec::new();
        let mut intern = |s: (u32, usize), states: &mut Vec<(u32, usize)>| -> u32 {
            *index.entry(s).or_insert_with(|| {
                states.push(s);
                states.len() as u32 - 1
            })
        };
        let initial = first
            .into_iter()
            .map(|s| intern((s, 0), &mut states))
            .collect();
        let (mut diagrams, mut choices) = (Diagrams::default(), Choices::default());
        let mut memo = vec![FxHashMap::default(); eventualities.len().max(1)];
        let mut next: Vec<Function> = Vec::new();
        while next.len() < states.len() {
            let (set, waiting) = states[next.len()];
            let mut steps = |_: &mut Diagrams, choice: u32| {
                let mut steps = Vec::new();
                for (to, put_off) in &self.choices[choice as usize] {
                    let advance = |from: usize| {
                        let blocked = eventualities[from..]
                            .iter()
                            .position(|f| put_off.contains(f));
                        blocked.map_or(eventualities.len(), |i| from + i)
                    };
                    let mut level = advance(waiting);
                    let accepting = level == eventualities.len();
                    if accepting {
                        level = advance(0) % eventualities.len().max(1);
                    }
                    steps.push((intern((*to, level), &mut states), accepting));
                }
                if states.len() > self.budget {
                    return Err(AutomatonError::TooManyStates(self.budget));
                }
                Ok(choices.number(steps))
            };
            let row = rows[set as usize];
            next.push(diagrams.mapped(&self.diagrams, row, &mut memo[waiting], &mut steps)?);
        }
        Ok(Buchi::new(initial, diagrams, next, choices))
    }
}
