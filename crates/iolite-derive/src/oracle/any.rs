//! An oracle of a kind known only at run time.

use std::any::Any;
use std::fmt::Debug;
use std::rc::Rc;

use iolite_expr::Term;

use crate::{
    ActionId, Alphabet, Criterion, Meaning, Notice, Oracle, Places, StateKey, Step, Undecided, Wish,
};

/// Any oracle behind a table of its functions, so that what is written over oracles is compiled once
/// for all of them. A state is an allocation and a step a call through the table: for oracles whose own
/// step costs more than that.
pub struct AnyOracle(Box<dyn DynOracle>);

/// A state of an [`AnyOracle`].
#[derive(Clone, Debug)]
pub struct AnyState(Rc<dyn Behind>);

/// What a state behind a table can do.
trait Behind: Any + Debug {}

impl<S: Any + Debug> Behind for S {}

impl AnyState {
    fn new<S: Any + Debug>(state: S) -> Self {
        Self(Rc::new(state))
    }

    /// The state as its oracle knows it.
    fn get<S: Any>(&self) -> &S {
        let state: &dyn Any = &*self.0;
        state.downcast_ref().expect("a state of this oracle")
    }
}

/// [`Oracle`] over states behind a table.
trait DynOracle {
    fn criterion(&self) -> Criterion;
    fn alphabet(&self) -> &Alphabet;
    fn begin(&mut self, seed: u64);
    fn initial(&mut self) -> Result<AnyState, Box<Undecided>>;
    fn stimuli(&mut self, at: &AnyState, menu: &mut Vec<ActionId>);
    fn after(&mut self, at: &AnyState, step: Step) -> Result<Meaning<AnyState>, Box<Undecided>>;
    fn happened(&mut self, at: &[AnyState], step: Step);
    fn out(&mut self, at: &AnyState) -> Vec<String>;
    fn places(&mut self, at: &AnyState) -> Places;
    fn waiting(&mut self, at: &AnyState) -> Vec<String>;
    fn trim(&mut self, at: AnyState) -> AnyState;
    fn trim_all(&mut self, states: &mut [AnyState]);
    fn is_same(&self, one: &AnyState, other: &AnyState) -> bool;
    fn conclude(&mut self, at: &AnyState) -> Vec<Notice>;
    fn unexplained(&self, at: &AnyState) -> Option<Undecided>;
    fn awaits_explanation(&self, at: &AnyState) -> bool;
    fn solve(&mut self, at: &AnyState, wish: &Wish) -> Option<ActionId>;
    fn constants(&mut self, at: &AnyState) -> Term;
    fn row(&mut self, at: &AnyState, row: &mut Vec<(ActionId, AnyState)>) -> Option<StateKey>;
    fn key(&self, at: &AnyState) -> Option<StateKey>;
    fn stays_silent(&mut self, at: &AnyState) -> bool;
    fn generation(&self) -> u64;
}

impl<O: Oracle<State: 'static>> DynOracle for O {
    fn criterion(&self) -> Criterion {
        Oracle::criterion(self)
    }

    fn alphabet(&self) -> &Alphabet {
        Oracle::alphabet(self)
    }

    fn begin(&mut self, seed: u64) {
        Oracle::begin(self, seed);
    }

    fn initial(&mut self) -> Result<AnyState, Box<Undecided>> {
        Oracle::initial(self).map(AnyState::new)
    }

    fn stimuli(&mut self, at: &AnyState, menu: &mut Vec<ActionId>) {
        Oracle::stimuli(self, at.get(), menu);
    }

    fn after(&mut self, at: &AnyState, step: Step) -> Result<Meaning<AnyState>, Box<Undecided>> {
        Ok(match Oracle::after(self, at.get(), step)? {
            Meaning::Allowed(next) => Meaning::Allowed(AnyState::new(next)),
            Meaning::Forbidden => Meaning::Forbidden,
            Meaning::Ends => Meaning::Ends,
            Meaning::Unspecified => Meaning::Unspecified,
        })
    }

    fn happened(&mut self, at: &[AnyState], step: Step) {
        if O::LISTENS {
            let at: Vec<O::State> = at.iter().map(|at| at.get::<O::State>().clone()).collect();
            Oracle::happened(self, &at, step);
        }
    }

    fn out(&mut self, at: &AnyState) -> Vec<String> {
        Oracle::out(self, at.get())
    }

    fn places(&mut self, at: &AnyState) -> Places {
        Oracle::places(self, at.get())
    }

    fn waiting(&mut self, at: &AnyState) -> Vec<String> {
        Oracle::waiting(self, at.get())
    }

    fn trim(&mut self, at: AnyState) -> AnyState {
        AnyState::new(Oracle::trim(self, at.get::<O::State>().clone()))
    }

    fn trim_all(&mut self, states: &mut [AnyState]) {
        let mut own: Vec<O::State> = states.iter().map(|s| s.get::<O::State>().clone()).collect();
        Oracle::trim_all(self, &mut own);
        for (state, own) in states.iter_mut().zip(own) {
            *state = AnyState::new(own);
        }
    }

    fn is_same(&self, one: &AnyState, other: &AnyState) -> bool {
        Oracle::is_same(self, one.get(), other.get())
    }

    fn conclude(&mut self, at: &AnyState) -> Vec<Notice> {
        Oracle::conclude(self, at.get())
    }

    fn unexplained(&self, at: &AnyState) -> Option<Undecided> {
        Oracle::unexplained(self, at.get())
    }

    fn awaits_explanation(&self, at: &AnyState) -> bool {
        Oracle::awaits_explanation(self, at.get())
    }

    fn solve(&mut self, at: &AnyState, wish: &Wish) -> Option<ActionId> {
        Oracle::solve(self, at.get(), wish)
    }

    fn constants(&mut self, at: &AnyState) -> Term {
        Oracle::constants(self, at.get())
    }

    fn row(&mut self, at: &AnyState, row: &mut Vec<(ActionId, AnyState)>) -> Option<StateKey> {
        let mut own = Vec::new();
        let key = Oracle::row(self, at.get(), &mut own);
        row.extend(own.into_iter().map(|(a, next)| (a, AnyState::new(next))));
        key
    }

    fn key(&self, at: &AnyState) -> Option<StateKey> {
        Oracle::key(self, at.get())
    }

    fn stays_silent(&mut self, at: &AnyState) -> bool {
        Oracle::stays_silent(self, at.get())
    }

    fn generation(&self) -> u64 {
        Oracle::generation(self)
    }
}

impl Debug for AnyOracle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AnyOracle")
            .field("criterion", &self.0.criterion())
            .finish_non_exhaustive()
    }
}

impl AnyOracle {
    /// The oracle behind a table.
    pub fn new<O: Oracle<State: 'static> + 'static>(oracle: O) -> Self {
        Self(Box::new(oracle))
    }
}

impl Oracle for AnyOracle {
    type State = AnyState;

    fn criterion(&self) -> Criterion {
        self.0.criterion()
    }

    fn alphabet(&self) -> &Alphabet {
        self.0.alphabet()
    }

    fn begin(&mut self, seed: u64) {
        self.0.begin(seed);
    }

    fn initial(&mut self) -> Result<AnyState, Box<Undecided>> {
        self.0.initial()
    }

    fn stimuli(&mut self, at: &AnyState, menu: &mut Vec<ActionId>) {
        self.0.stimuli(at, menu);
    }

    fn after(&mut self, at: &AnyState, step: Step) -> Result<Meaning<AnyState>, Box<Undecided>> {
        self.0.after(at, step)
    }

    const LISTENS: bool = true;

    fn happened(&mut self, at: &[AnyState], step: Step) {
        self.0.happened(at, step);
    }

    fn out(&mut self, at: &AnyState) -> Vec<String> {
        self.0.out(at)
    }

    fn places(&mut self, at: &AnyState) -> Places {
        self.0.places(at)
    }

    fn waiting(&mut self, at: &AnyState) -> Vec<String> {
        self.0.waiting(at)
    }

    fn trim(&mut self, at: AnyState) -> AnyState {
        self.0.trim(at)
    }

    fn trim_all(&mut self, states: &mut [AnyState]) {
        self.0.trim_all(states);
    }

    fn is_same(&self, one: &AnyState, other: &AnyState) -> bool {
        self.0.is_same(one, other)
    }

    fn conclude(&mut self, at: &AnyState) -> Vec<Notice> {
        self.0.conclude(at)
    }

    fn unexplained(&self, at: &AnyState) -> Option<Undecided> {
        self.0.unexplained(at)
    }

    fn awaits_explanation(&self, at: &AnyState) -> bool {
        self.0.awaits_explanation(at)
    }

    fn solve(&mut self, at: &AnyState, wish: &Wish) -> Option<ActionId> {
        self.0.solve(at, wish)
    }

    fn constants(&mut self, at: &AnyState) -> Term {
        self.0.constants(at)
    }

    fn row(&mut self, at: &AnyState, row: &mut Vec<(ActionId, AnyState)>) -> Option<StateKey> {
        self.0.row(at, row)
    }

    fn key(&self, at: &AnyState) -> Option<StateKey> {
        self.0.key(at)
    }

    fn stays_silent(&mut self, at: &AnyState) -> bool {
        self.0.stays_silent(at)
    }

    fn generation(&self) -> u64 {
        self.0.generation()
    }
}
