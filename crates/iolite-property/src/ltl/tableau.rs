//! A nondeterministic Büchi automaton for any formula, with acceptance on its transitions.
//!
//! A state is a set of temporal formulas that must all hold; the minimal sets that satisfy what is
//! left after a letter are its successors, and each eventuality must infinitely often not be put
//! off [Couvreur 1999]. That an eventuality is put off is a variable of its own: a step that puts
//! it off and one that fulfils it while another formula asks for it anew lead to comparable sets, and
//! without the mark the second would be dropped as not minimal. A counter makes one condition of all.

use rustc_hash::FxHashMap;

use crate::alphabet::Alphabet;
use crate::structure::AutomatonError;

use super::LtlError;
use super::bdd::Bdd;
use super::buchi::Buchi;
use super::core::Id;
use super::derivative::{Derivatives, PUT_OFF};

type Obligations = Vec<u32>;
/// The set that comes next, and the eventualities put off.
type Step = (u32, Vec<u32>);

impl Buchi {
    /// For a formula.
    pub(super) fn of_formula(
        derivatives: &mut Derivatives,
        formula: Id,
        alphabet: &Alphabet,
        budget: usize,
    ) -> Result<Self, LtlError> {
        derivatives.mark_promises(true);
        let result = Self::build(derivatives, formula, alphabet, budget);
        derivatives.mark_promises(false);
        result
    }

    fn build(
        derivatives: &mut Derivatives,
        formula: Id,
        alphabet: &Alphabet,
        budget: usize,
    ) -> Result<Self, LtlError> {
        let start = derivatives.bdd(formula);
        let mut sets: Vec<Obligations> = Vec::new();
        let mut index: FxHashMap<Obligations, u32> = FxHashMap::default();
        let mut intern = |set: Obligations, sets: &mut Vec<Obligations>| -> u32 {
            *index.entry(set).or_insert_with_key(|set| {
                sets.push(set.clone());
                sets.len() as u32 - 1
            })
        };
        let first: Vec<u32> = derivatives
            .formulas
            .bdds
            .minimal_models(start)
            .into_iter()
            .map(|set| intern(set, &mut sets))
            .collect();
        let mut steps: Vec<Vec<Vec<Step>>> = Vec::new();
        while steps.len() < sets.len() {
            let from = sets[steps.len()].clone();
            let mut row = Vec::with_capacity(alphabet.len());
            let any = from.iter().fold(Bdd::TRUE, |all, &f| {
                let v = derivatives.formulas.bdds.var(f);
                let after = derivatives.after_any(v);
                derivatives.formulas.bdds.and(all, after)
            });
            let mut known: FxHashMap<Bdd, Vec<Step>> = FxHashMap::default();
            for l in alphabet.iter() {
                let left = derivatives.at(any, l);
                if let Some(steps) = known.get(&left) {
                    row.push(steps.clone());
                    continue;
                }
                let models = derivatives.formulas.bdds.minimal_models(left);
                let split = |m: Vec<u32>| {
                    let (put_off, set): (Vec<u32>, Vec<u32>) =
                        m.into_iter().partition(|v| v & PUT_OFF != 0);
                    (
                        intern(set, &mut sets),
                        put_off.iter().map(|v| v & !PUT_OFF).collect(),
                    )
                };
                let steps: Vec<Step> = models.into_iter().map(split).collect();
                known.insert(left, steps.clone());
                row.push(steps);
                if sets.len() > budget || derivatives.formulas.bdds.overflowed() {
                    return Err(AutomatonError::TooManyStates(budget).into());
                }
            }
            steps.push(row);
        }
        Self::degeneralise(alphabet, &first, &steps, budget)
    }

    fn degeneralise(
        alphabet: &Alphabet,
        first: &[u32],
        steps: &[Vec<Vec<Step>>],
        budget: usize,
    ) -> Result<Self, LtlError> {
        let mut eventualities: Vec<u32> = steps
            .iter()
            .flatten()
            .flatten()
            .flat_map(|(_, put_off)| put_off)
            .copied()
            .collect();
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
        let initial = first.iter().map(|&s| intern((s, 0), &mut states)).collect();
        let mut next = Vec::new();
        let mut done = 0;
        while done < states.len() {
            let (set, waiting) = states[done];
            done += 1;
            for l in alphabet.iter() {
                let mut row = Vec::new();
                for (to, put_off) in &steps[set as usize][l.index()] {
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
                    row.push((intern((*to, level), &mut states), accepting));
                }
                row.sort_unstable();
                row.dedup();
                next.push(row);
                if states.len() > budget {
                    return Err(AutomatonError::TooManyStates(budget).into());
                }
            }
        }
        Ok(Self::new(alphabet.len(), initial, next).reduced())
    }
}
