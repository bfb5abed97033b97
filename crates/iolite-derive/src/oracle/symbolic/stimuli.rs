//! Which inputs are given, and with which values.

use std::collections::BTreeMap;
use std::sync::Arc;

use iolite_expr::{Answer, Term};
use iolite_lts::relation::Relation;
use iolite_sts::{Enabled, GateId, LabelKind, SymbolicState, TransitionId, ValuedAction};
use rand::RngExt;

use super::{SymbolicOracle, SymbolicPlace};
use crate::{ActionId, Meaning, Undecided};

/// How often values are drawn for an input before it is given with values that not all constants
/// specify.
const DRAWS: usize = 4;

impl SymbolicOracle {
    /// One stimulus for each input that is specified, or guesses where there is none.
    pub(super) fn offer_stimuli(&mut self, at: &SymbolicPlace, menu: &mut Vec<ActionId>) {
        if self.relation != Relation::Uioco && self.semantics.knows_constants() {
            return self.drawn_stimuli(at, menu);
        }
        // A model fault in a guard shows when the step is taken; here it offers nothing.
        let inputs = self.semantics.inputs(&at.states).unwrap_or_default();
        let mut gates: BTreeMap<GateId, Vec<Enabled>> = BTreeMap::new();
        for way in inputs {
            gates.entry(way.action).or_default().push(way);
        }
        let mut guesses = Vec::new();
        let mut sure = Vec::new();
        let uioco = self.relation == Relation::Uioco;
        for (gate, mut ways) in gates {
            let mut only_drawn = uioco;
            if uioco && let Some(all) = self.semantics.everywhere(&at.states, gate) {
                only_drawn = false;
                for way in &mut ways {
                    way.guard = Term::all([way.guard.clone(), all.clone()]).simplify();
                }
            }
            match self.specified(at, &ways) {
                Ok(input) => sure.extend(input),
                // What some state refuses is no stimulus of uioco. Where no condition says what all take, another
                // value than those that were drawn might be one.
                Err(_) if uioco => {
                    if only_drawn {
                        let why = "no value was found that every state is known to take";
                        self.untried.entry(gate).or_insert_with(|| why.into());
                    }
                }
                Err(guess) => guesses.push(guess),
            }
        }
        let offered = if sure.is_empty() {
            std::mem::take(&mut guesses)
        } else {
            sure
        };
        menu.extend(offered.iter().map(|input| self.action(input)));
        for guess in guesses {
            let why = "only some values of the unknown constants specify it";
            self.untried
                .entry(guess.action)
                .or_insert_with(|| why.into());
        }
    }

    /// Whether all constants that explain the run so far specify an input, as far as it matters;
    /// `None` where that is not found out.
    pub(super) fn is_specified(
        &mut self,
        at: &SymbolicPlace,
        input: &ValuedAction,
    ) -> Option<bool> {
        if self.relation == Relation::Uioco {
            let taken = self.semantics.takes_everywhere(&at.states, input);
            if taken.unwrap_or_default() != Some(true) {
                return None;
            }
        }
        if self.union || at.guessed.is_some() || self.semantics.knows_constants() {
            return Some(true);
        }
        self.semantics
            .specifies(&at.states, input)
            .unwrap_or_default()
    }

    /// For uioco: what an input means that some state refuses, or may refuse; `None` where all take it.
    pub(super) fn refused(
        &mut self,
        at: &SymbolicPlace,
        input: &ValuedAction,
    ) -> Option<Result<Meaning<SymbolicPlace>, Box<Undecided>>> {
        if self.relation != Relation::Uioco {
            return None;
        }
        let taken = self.semantics.takes_everywhere(&at.states, input);
        let input = &self.semantics.model().gate(input.action).name;
        match taken.unwrap_or_default() {
            Some(true) => None,
            Some(false) if self.union || self.semantics.knows_constants() => {
                Some(Ok(Meaning::Unspecified))
            }
            Some(false) => Some(Err(Box::new(Undecided {
                inconclusive: true,
                ..Undecided::new(format!(
                    "with some values of the constants a state refuses ?{input}, and uioco says nothing \
                     of what follows"
                ))
            }))),
            None => Some(Err(Box::new(Undecided::new(format!(
                "whether all states take ?{input} was not found out"
            ))))),
        }
    }

    /// Values for an input that all constants specify; one that only some do where no other was
    /// found.
    pub(super) fn specified(
        &mut self,
        at: &SymbolicPlace,
        ways: &[Enabled],
    ) -> Result<Option<ValuedAction>, ValuedAction> {
        let mut guess = None;
        for _ in 0..DRAWS {
            match self.solved(ways.to_vec()) {
                Some(input) if self.is_specified(at, &input) == Some(true) => {
                    return Ok(Some(input));
                }
                Some(input) => guess = guess.or(Some(input)),
                None => break,
            }
        }
        guess.map_or(Ok(None), Err)
    }

    /// One stimulus for each input that some state takes. Constants are known, so that what some state
    /// takes is specified.
    fn drawn_stimuli(&mut self, at: &SymbolicPlace, menu: &mut Vec<ActionId>) {
        let model = Arc::clone(self.model());
        let mut gates: BTreeMap<GateId, Vec<(&SymbolicState, TransitionId)>> = BTreeMap::new();
        for state in at.states.iter() {
            for &t in model.outgoing(state.location()) {
                if model.kind(t) == LabelKind::Input {
                    let ways = gates.entry(model.transition(t).action).or_default();
                    ways.push((state, t));
                }
            }
        }
        for (gate, mut ways) in gates {
            while !ways.is_empty() {
                let (state, t) = ways.swap_remove(self.rng.random_range(0..ways.len()));
                match self.choice.values_at(&mut self.semantics, state, t) {
                    Ok(Answer::Sat(found)) => {
                        let input = ValuedAction::of(&model, gate, &found);
                        menu.push(self.action(&input));
                        break;
                    }
                    // A model fault in a guard shows when the step is taken; here it offers nothing.
                    Ok(Answer::Unsat) | Err(_) => {}
                    Ok(Answer::Unknown(why)) => {
                        self.untried.entry(gate).or_insert(why);
                    }
                }
            }
        }
    }

    /// Values for one of the ways to take an input, tried in random order.
    pub(super) fn solved(&mut self, mut ways: Vec<Enabled>) -> Option<ValuedAction> {
        while !ways.is_empty() {
            let way = ways.swap_remove(self.rng.random_range(0..ways.len()));
            let found = match self.choice.values(&mut self.semantics, &way) {
                Answer::Sat(found) => found,
                Answer::Unsat => continue,
                // What the solver cannot decide is not offered: there is nothing to judge yet.
                Answer::Unknown(why) => {
                    self.untried.entry(way.action).or_insert(why);
                    continue;
                }
            };
            return Some(ValuedAction::of(self.semantics.model(), way.action, &found));
        }
        None
    }
}
