//! The oracle of any relation that test cases are derived for.

use iolite_lts::relation::TraceSet;
use iolite_lts::{LabelId, Labels, QuiescencePolicy, Semantics, SetId, StateId};

use super::ioconf::IoconfState;
use crate::{
    ActionId, Alphabet, Criterion, FiniteOracle, IocoOracle, IoconfOracle, Meaning, Notice, Oracle,
    Places, StateKey, Step, UiocoOracle, Undecided,
};

/// ioco, uioco, ioconf or `ioconf_F`, with one kind of states, so that derivations and searches are
/// compiled once for all of them.
#[derive(Clone, Debug)]
pub enum RelationOracle<M> {
    /// ioco.
    Ioco(IocoOracle<M>),
    /// uioco.
    Uioco(UiocoOracle<M>),
    /// ioconf and `ioconf_F`.
    Ioconf(IoconfOracle<M>),
}

impl<M: Semantics<State = StateId>> RelationOracle<M> {
    /// ioco, with an alphabet of its own.
    pub fn ioco(specification: M, policy: QuiescencePolicy) -> Self {
        Self::Ioco(IocoOracle::new(specification, policy))
    }

    /// uioco.
    pub fn uioco(specification: M, policy: QuiescencePolicy) -> Self {
        Self::Uioco(UiocoOracle::new(specification, policy))
    }

    /// ioconf, or `ioconf_F` where F is given.
    pub fn ioconf(specification: M, policy: QuiescencePolicy, traces: Option<TraceSet>) -> Self {
        Self::Ioconf(IoconfOracle::with_traces(specification, policy, traces))
    }
}

/// The place of a set, for relations without F.
fn place(set: SetId) -> IoconfState {
    IoconfState::of_set(set)
}

fn meaning(meaning: Meaning<SetId>) -> Meaning<IoconfState> {
    match meaning {
        Meaning::Allowed(set) => Meaning::Allowed(place(set)),
        Meaning::Forbidden => Meaning::Forbidden,
        Meaning::Ends => Meaning::Ends,
        Meaning::Unspecified => Meaning::Unspecified,
    }
}

/// Asks the oracle inside; the sets of ioco and uioco are taken out of a place first.
macro_rules! ask {
    ($self:expr, |$oracle:ident| $answer:expr) => {
        match $self {
            Self::Ioco($oracle) => $answer,
            Self::Uioco($oracle) => $answer,
            Self::Ioconf($oracle) => $answer,
        }
    };
    ($self:expr, $at:expr, |$oracle:ident, $state:ident| $answer:expr) => {
        match $self {
            Self::Ioco($oracle) => {
                let $state = $at.set();
                $answer
            }
            Self::Uioco($oracle) => {
                let $state = $at.set();
                $answer
            }
            Self::Ioconf($oracle) => {
                let $state = $at;
                $answer
            }
        }
    };
}

impl<M: Semantics<State = StateId>> Oracle for RelationOracle<M> {
    type State = IoconfState;

    fn criterion(&self) -> Criterion {
        ask!(self, |oracle| oracle.criterion())
    }

    fn alphabet(&self) -> &Alphabet {
        ask!(self, |oracle| oracle.alphabet())
    }

    fn begin(&mut self, seed: u64) {
        ask!(self, |oracle| oracle.begin(seed));
    }

    fn initial(&mut self) -> Result<IoconfState, Box<Undecided>> {
        Ok(self.start())
    }

    fn stimuli(&mut self, at: &IoconfState, menu: &mut Vec<ActionId>) {
        ask!(self, *at, |oracle, at| oracle.stimuli(&at, menu));
    }

    fn after(
        &mut self,
        at: &IoconfState,
        step: Step,
    ) -> Result<Meaning<IoconfState>, Box<Undecided>> {
        match self {
            Self::Ioco(oracle) => oracle.after(&at.set(), step).map(meaning),
            Self::Uioco(oracle) => oracle.after(&at.set(), step).map(meaning),
            Self::Ioconf(oracle) => oracle.after(at, step),
        }
    }

    fn out(&mut self, at: &IoconfState) -> Vec<String> {
        ask!(self, *at, |oracle, at| oracle.out(&at))
    }

    fn places(&mut self, at: &IoconfState) -> Places {
        ask!(self, *at, |oracle, at| oracle.places(&at))
    }

    fn waiting(&mut self, at: &IoconfState) -> Vec<String> {
        ask!(self, *at, |oracle, at| oracle.waiting(&at))
    }

    fn trim(&mut self, at: IoconfState) -> IoconfState {
        match self {
            Self::Ioco(oracle) => place(oracle.trim(at.set())),
            Self::Uioco(oracle) => place(oracle.trim(at.set())),
            Self::Ioconf(oracle) => oracle.trim(at),
        }
    }

    fn trim_all(&mut self, states: &mut [IoconfState]) {
        let mut sets: Vec<SetId> = Vec::new();
        match self {
            Self::Ioconf(oracle) => return oracle.trim_all(states),
            Self::Ioco(oracle) => {
                sets.extend(states.iter().map(|state| state.set()));
                oracle.trim_all(&mut sets);
            }
            Self::Uioco(oracle) => {
                sets.extend(states.iter().map(|state| state.set()));
                oracle.trim_all(&mut sets);
            }
        }
        for (state, set) in states.iter_mut().zip(sets) {
            *state = place(set);
        }
    }

    fn is_same(&self, one: &IoconfState, other: &IoconfState) -> bool {
        one == other
    }

    fn conclude(&mut self, at: &IoconfState) -> Vec<Notice> {
        ask!(self, *at, |oracle, at| oracle.conclude(&at))
    }

    fn row(
        &mut self,
        at: &IoconfState,
        row: &mut Vec<(ActionId, IoconfState)>,
    ) -> Option<StateKey> {
        let mut sets = Vec::new();
        let key = match self {
            Self::Ioconf(oracle) => return oracle.row(at, row),
            Self::Ioco(oracle) => oracle.row(&at.set(), &mut sets),
            Self::Uioco(oracle) => oracle.row(&at.set(), &mut sets),
        };
        row.extend(sets.into_iter().map(|(action, set)| (action, place(set))));
        key
    }

    fn key(&self, at: &IoconfState) -> Option<StateKey> {
        ask!(self, *at, |oracle, at| oracle.key(&at))
    }

    fn generation(&self) -> u64 {
        ask!(self, |oracle| oracle.generation())
    }
}

impl<M: Semantics<State = StateId>> FiniteOracle for RelationOracle<M> {
    fn labels(&self) -> &Labels {
        ask!(self, |oracle| oracle.labels())
    }

    fn members(&mut self, at: IoconfState) -> Vec<StateId> {
        ask!(self, at, |oracle, here| oracle.members(here))
    }

    fn livelock(&self) -> Option<String> {
        ask!(self, |oracle| oracle.livelock())
    }

    fn start(&mut self) -> IoconfState {
        match self {
            Self::Ioco(oracle) => place(oracle.start()),
            Self::Uioco(oracle) => place(oracle.start()),
            Self::Ioconf(oracle) => oracle.start(),
        }
    }

    fn inputs_from(&mut self, at: IoconfState, row: &mut Vec<(LabelId, IoconfState)>) {
        let mut sets = Vec::new();
        match self {
            Self::Ioconf(oracle) => return oracle.inputs_from(at, row),
            Self::Ioco(oracle) => oracle.inputs_from(at.set(), &mut sets),
            Self::Uioco(oracle) => oracle.inputs_from(at.set(), &mut sets),
        }
        row.extend(sets.into_iter().map(|(label, set)| (label, place(set))));
    }

    fn meaning(&mut self, at: IoconfState, observation: LabelId) -> Meaning<IoconfState> {
        match self {
            Self::Ioco(oracle) => meaning(oracle.meaning(at.set(), observation)),
            Self::Uioco(oracle) => meaning(oracle.meaning(at.set(), observation)),
            Self::Ioconf(oracle) => oracle.meaning(at, observation),
        }
    }
}
