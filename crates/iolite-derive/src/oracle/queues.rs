//! Testing through queues: messages are under way in a FIFO each way.
//!
//! What the tester sees need not be what the system did: an output that arrives after a stimulus may
//! have been sent before the stimulus was taken. So the observed trace is explained by *local* traces,
//! those at the system's own interface, and it is wrong only where none is left that the
//! specification allows.

use std::sync::Arc;

use super::explanations;
use crate::{
    ActionId, Alphabet, Channel, Criterion, Meaning, Notice, Oracle, Places, Step, Undecided,
};

/// Inputs that a tester lets be under way at most, where nothing else is said.
pub const DEFAULT_MAX_IN_FLIGHT: usize = 4;

/// Inputs under way beyond which a trace that somebody else chose is not explained any more.
pub(super) const MOST_PENDING: usize = 1024;

/// Configurations beyond which a trace is not explained any more.
pub(super) const MOST_CONFIGURATIONS: usize = 4096;

/// An oracle seen through a FIFO each way: inputs wait until the system takes them, outputs until the
/// tester reads them. [Verhaard, Tretmans, Kars and Brinksma 1993] call it a queue context.
///
/// A configuration is a state of the oracle inside, that is, what the specification may be doing after
/// *one* local suspension trace, together with the inputs that were sent and perhaps not taken yet.
///
/// - An input is appended to what is pending.
/// - An observed output is explained by any prefix of the pending inputs, taken before it. There is no
///   queue of outputs: one that was long under way is one that was sent before more inputs were taken.
/// - δ is explained only by taking everything that is pending, and then being quiescent. So a system
///   that is livelocked and reads its inputs no more counts as one that takes them some day.
/// - An input taken where the oracle inside calls it unspecified may be followed by anything, so that
///   nothing can be forbidden any more, and the run ends.
///
/// A step is forbidden when no configuration is left. That is *sound* for every relation whose oracle
/// is: the local trace of a conforming system is among those that are followed. For ioco a
/// configuration holds the *set* after one local trace; separate configurations for its members would
/// allow too much. For uioco it makes no difference: an input that one member refuses leaves the whole
/// set open. The answer is exact but for δs that nobody waited for: a system that may be silent and
/// then take an input may have been silent there unobserved, and a local trace with that δ could say
/// more. As a synchronous tester does, this one judges by the δs that were observed. To be exact, a
/// configuration would have to be the family of the sets for every way of leaving δs out, of which all
/// that are not empty must allow the event. The family doubles with each input taken where the
/// specification may be silent, and it made a difference for 2% of random systems, so it is not
/// followed.
#[derive(Debug)]
pub struct QueueOracle<O> {
    inner: O,
    options: QueueOptions,
    /// The input that may have been taken where it is not specified, and so ended the run.
    crossed: Option<ActionId>,
}

/// How much may be under way, and who chose it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueOptions {
    /// Stimuli are offered only while fewer inputs than this may be under way, so that an observation
    /// comes between. What is given all the same (by a log, or a replay) is judged like the rest.
    pub max_in_flight: usize,
    /// Whether the trace is somebody else's. Where nothing can be forbidden any more, a test is over
    /// and has passed; a log goes on and the rest of it is not judged, so its verdict is `inconc`.
    pub passive: bool,
    /// The channels, where there are several or one loses or reorders messages; such a system is seen
    /// through a [`ChannelOracle`](crate::ChannelOracle). Empty for a FIFO each way.
    pub channels: Arc<[Channel]>,
}

impl Default for QueueOptions {
    fn default() -> Self {
        Self {
            max_in_flight: DEFAULT_MAX_IN_FLIGHT,
            passive: false,
            channels: Arc::default(),
        }
    }
}

/// All explanations of an observed trace.
#[derive(Clone, Debug)]
pub struct QueueState<S> {
    /// The inputs that some configuration has not taken, oldest first.
    pending: Arc<[ActionId]>,
    configurations: Arc<[Configuration<S>]>,
    /// A way that was not decided. It is kept: without it, a later step could seem forbidden.
    doubt: Option<Arc<Undecided>>,
}

/// One explanation of an observed trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Configuration<S> {
    /// Where the specification may be after the local trace.
    pub at: S,
    /// How many of the inputs given last are not taken.
    pub untaken: usize,
}

impl<S> QueueState<S> {
    /// The explanations that are left.
    pub fn configurations(&self) -> &[Configuration<S>] {
        &self.configurations
    }

    /// The inputs that may be under way, oldest first.
    pub fn pending(&self) -> &[ActionId] {
        &self.pending
    }

    /// The inputs that a configuration has not taken.
    pub fn untaken(&self, configuration: &Configuration<S>) -> &[ActionId] {
        &self.pending[self.pending.len() - configuration.untaken..]
    }
}

/// Why anything may follow.
#[derive(Clone, Copy)]
pub(super) enum Open {
    /// This input may have been taken where it is not specified.
    Unspecified(ActionId),
    /// The relation says nothing of what comes after the observation.
    Ended,
}

/// What it means that an input may have been taken where it is not specified.
pub(super) fn unspecified<S>(
    passive: bool,
    alphabet: &Alphabet,
    input: ActionId,
) -> Result<Meaning<S>, Box<Undecided>> {
    if !passive {
        return Ok(Meaning::Ends);
    }
    Err(Box::new(Undecided {
        inconclusive: true,
        ..Undecided::new(format!(
            "{} may have been taken where the model does not specify it, so that anything may follow",
            alphabet.text(input)
        ))
    }))
}

/// What the explanations of a step come to.
struct Successors<S> {
    configurations: Vec<Configuration<S>>,
    doubt: Option<Arc<Undecided>>,
    /// Why anything may follow, where it may.
    open: Option<Open>,
}

impl<O: Oracle> QueueOracle<O> {
    /// The oracle seen through queues.
    pub fn new(inner: O, options: QueueOptions) -> Self {
        Self {
            inner,
            options,
            crossed: None,
        }
    }

    /// The oracle inside.
    pub fn inner(&self) -> &O {
        &self.inner
    }

    /// The oracle inside, to ask it more. It must not be trimmed from outside.
    pub fn inner_mut(&mut self) -> &mut O {
        &mut self.inner
    }

    /// One more input is taken. `None` where the way ends: it is open or in doubt from here on.
    fn take(
        &mut self,
        at: &O::State,
        input: ActionId,
        to: &mut Successors<O::State>,
    ) -> Option<O::State> {
        match self.inner.after(at, Step::Stimulus(input)) {
            Ok(Meaning::Allowed(next)) => Some(next),
            Ok(Meaning::Forbidden) => None,
            Ok(Meaning::Unspecified | Meaning::Ends) => {
                to.open.get_or_insert(Open::Unspecified(input));
                None
            }
            Err(why) => {
                to.doubt.get_or_insert_with(|| Arc::from(why));
                None
            }
        }
    }

    /// The observation is made where `untaken` inputs are left.
    fn observe(
        &mut self,
        at: &O::State,
        step: Step,
        untaken: usize,
        to: &mut Successors<O::State>,
    ) {
        match self.inner.after(at, step) {
            Ok(Meaning::Allowed(next)) => {
                let known = |c: &Configuration<O::State>| {
                    c.untaken == untaken && self.inner.is_same(&c.at, &next)
                };
                if !to.configurations.iter().any(known) {
                    to.configurations.push(Configuration { at: next, untaken });
                }
            }
            Ok(Meaning::Forbidden) => {}
            Ok(Meaning::Unspecified | Meaning::Ends) => {
                to.open.get_or_insert(Open::Ended);
            }
            Err(why) => {
                to.doubt.get_or_insert_with(|| Arc::from(why));
            }
        }
    }

    /// Every way to explain an observation.
    fn explain(&mut self, state: &QueueState<O::State>, step: Step) -> Successors<O::State> {
        let mut to = Successors {
            configurations: Vec::new(),
            doubt: state.doubt.clone(),
            open: None,
        };
        let silent = matches!(step, Step::Quiescence | Step::Deadlock);
        for configuration in &*state.configurations {
            let untaken = state.untaken(configuration);
            let mut at = configuration.at.clone();
            let mut taken = 0;
            loop {
                let left = untaken.len() - taken;
                if !silent || left == 0 {
                    self.observe(&at, step, left, &mut to);
                }
                let too_many = to.configurations.len() > MOST_CONFIGURATIONS;
                let Some(&input) = untaken.get(taken).filter(|_| !too_many) else {
                    break;
                };
                match self.take(&at, input, &mut to) {
                    Some(next) => at = next,
                    None => break,
                }
                taken += 1;
            }
        }
        to
    }

    /// A configuration after everything that is pending was taken; `None` where that is open or in
    /// doubt.
    fn settled(
        &mut self,
        state: &QueueState<O::State>,
        configuration: &Configuration<O::State>,
    ) -> Option<O::State> {
        let mut at = configuration.at.clone();
        for &input in state.untaken(configuration) {
            match self.inner.after(&at, Step::Stimulus(input)) {
                Ok(Meaning::Allowed(next)) => at = next,
                _ => return None,
            }
        }
        Some(at)
    }

    /// Where the oracle inside may be: in each configuration as it is, and after each of its pending
    /// inputs, as far as they are specified.
    pub(crate) fn stages(&mut self, state: &QueueState<O::State>) -> Vec<O::State> {
        let mut stages: Vec<O::State> = Vec::new();
        for configuration in &*state.configurations {
            let mut inputs = state.untaken(configuration).iter();
            let mut at = Some(configuration.at.clone());
            while let Some(now) = at {
                at = inputs.next().and_then(|&input| {
                    match self.inner.after(&now, Step::Stimulus(input)) {
                        Ok(Meaning::Allowed(next)) => Some(next),
                        _ => None,
                    }
                });
                if !stages.iter().any(|known| self.inner.is_same(known, &now)) {
                    stages.push(now);
                }
            }
        }
        stages
    }

    fn takes(&mut self, at: &O::State, input: ActionId) -> bool {
        let after = self.inner.after(at, Step::Stimulus(input));
        matches!(after, Ok(Meaning::Allowed(_)))
    }
}

impl<O: Oracle> Oracle for QueueOracle<O> {
    type State = QueueState<O::State>;

    fn criterion(&self) -> Criterion {
        self.inner.criterion()
    }

    fn alphabet(&self) -> &Alphabet {
        self.inner.alphabet()
    }

    fn begin(&mut self, seed: u64) {
        self.inner.begin(seed);
    }

    fn initial(&mut self) -> Result<Self::State, Box<Undecided>> {
        self.crossed = None;
        let at = self.inner.initial()?;
        Ok(QueueState {
            pending: Arc::default(),
            configurations: Arc::new([Configuration { at, untaken: 0 }]),
            doubt: None,
        })
    }

    /// Inputs that every explanation specifies, once everything sent was taken. Any other would leave
    /// the next observation unjudged; where nothing is under way and there are only others, they are
    /// offered, since waiting would tell no more.
    fn stimuli(&mut self, at: &Self::State, menu: &mut Vec<ActionId>) {
        let in_flight = at.configurations.iter().map(|c| c.untaken).max();
        let in_flight = in_flight.unwrap_or_default();
        if in_flight >= self.options.max_in_flight {
            return;
        }
        let mut places: Vec<O::State> = Vec::new();
        for configuration in &*at.configurations {
            let Some(place) = self.settled(at, configuration) else {
                return;
            };
            if !places.iter().any(|known| self.inner.is_same(known, &place)) {
                places.push(place);
            }
        }
        let begin = menu.len();
        for (i, place) in places.iter().enumerate() {
            let from = menu.len();
            self.inner.stimuli(place, menu);
            let mut offered = menu.split_off(from);
            offered.retain(|&input| {
                !menu[begin..].contains(&input)
                    && places
                        .iter()
                        .enumerate()
                        .all(|(k, other)| k == i || self.takes(other, input))
            });
            menu.extend(offered);
        }
        if menu.len() == begin && in_flight == 0 {
            for place in &places {
                let from = menu.len();
                self.inner.stimuli(place, menu);
                let mut offered = menu.split_off(from);
                offered.retain(|input| !menu[begin..].contains(input));
                menu.extend(offered);
            }
        }
    }

    fn after(
        &mut self,
        at: &Self::State,
        step: Step,
    ) -> Result<Meaning<Self::State>, Box<Undecided>> {
        if let Step::Stimulus(input) = step {
            if at.pending.len() >= MOST_PENDING {
                return Err(Box::new(Undecided::new(format!(
                    "more than {MOST_PENDING} inputs may be under way, too many to explain what \
                     follows"
                ))));
            }
            let pending = at.pending.iter().copied().chain([input]).collect();
            let more = |c: &Configuration<O::State>| Configuration {
                at: c.at.clone(),
                untaken: c.untaken + 1,
            };
            return Ok(Meaning::Allowed(QueueState {
                pending,
                configurations: at.configurations.iter().map(more).collect(),
                doubt: at.doubt.clone(),
            }));
        }
        let to = self.explain(at, step);
        if let Some(open) = to.open {
            let Open::Unspecified(input) = open else {
                return Ok(Meaning::Ends);
            };
            self.crossed = Some(input);
            return unspecified(self.options.passive, self.alphabet(), input);
        }
        if to.configurations.len() > MOST_CONFIGURATIONS {
            return Err(Box::new(Undecided::new(format!(
                "more than {MOST_CONFIGURATIONS} ways explain what was seen"
            ))));
        }
        let Some(most) = to.configurations.iter().map(|c| c.untaken).max() else {
            return match to.doubt {
                Some(doubt) => Err(Box::new((*doubt).clone())),
                None => Ok(Meaning::Forbidden),
            };
        };
        Ok(Meaning::Allowed(QueueState {
            pending: at.pending[at.pending.len() - most..].into(),
            configurations: to.configurations.into(),
            doubt: to.doubt,
        }))
    }

    const LISTENS: bool = O::LISTENS;

    /// An input happens where everything that was sent before was taken; of an output it is not known
    /// how much was.
    fn happened(&mut self, at: &[Self::State], step: Step) {
        if !O::LISTENS {
            return;
        }
        let mut places: Vec<O::State> = Vec::new();
        for state in at {
            for configuration in &*state.configurations {
                let place = if step.is_stimulus() {
                    self.settled(state, configuration)
                } else {
                    Some(configuration.at.clone())
                };
                let new = |p: &O::State| !places.iter().any(|known| self.inner.is_same(known, p));
                if let Some(place) = place.filter(new) {
                    places.push(place);
                }
            }
        }
        self.inner.happened(&places, step);
    }

    fn out(&mut self, at: &Self::State) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        let mut add = |text: String| {
            if !out.contains(&text) {
                out.push(text);
            }
        };
        for configuration in &*at.configurations {
            let untaken = at.untaken(configuration);
            let mut place = Some(configuration.at.clone());
            for taken in 0..=untaken.len() {
                let Some(now) = &place else { break };
                let last = taken == untaken.len();
                for text in self.inner.out(now) {
                    // Silence is explained only where everything was taken.
                    if last || !text.starts_with("delta") {
                        add(text);
                    }
                }
                if let Some(&input) = untaken.get(taken) {
                    place = match self.inner.after(now, Step::Stimulus(input)) {
                        Ok(Meaning::Allowed(next)) => Some(next),
                        Ok(_) => {
                            let input = self.inner.alphabet().text(input);
                            add(format!(
                                "anything, after {input} that is not specified there"
                            ));
                            None
                        }
                        Err(_) => None,
                    };
                }
            }
        }
        out
    }

    /// The places of every explanation, before, while and after the inputs under way are taken: all
    /// of them are where the system may be.
    fn places(&mut self, at: &Self::State) -> Places {
        let mut all = Places::default();
        for place in self.stages(at) {
            all.extend(self.inner.places(&place));
        }
        all
    }

    /// Silence is observed only after everything that is pending was taken.
    fn waiting(&mut self, at: &Self::State) -> Vec<String> {
        let mut settled = Vec::new();
        for configuration in &*at.configurations {
            settled.extend(self.settled(at, configuration));
        }
        explanations::waiting(&mut self.inner, settled)
    }

    fn trim(&mut self, at: Self::State) -> Self::State {
        let states = at.configurations.iter().map(|c| c.at.clone()).collect();
        let Some(states) = explanations::trimmed(&mut self.inner, states) else {
            return at;
        };
        let configurations = at.configurations.iter().zip(states);
        QueueState {
            configurations: configurations
                .map(|(c, at)| Configuration {
                    at,
                    untaken: c.untaken,
                })
                .collect(),
            ..at
        }
    }

    fn conclude(&mut self, at: &Self::State) -> Vec<Notice> {
        let states: Vec<&O::State> = at.configurations.iter().map(|c| &c.at).collect();
        let crossed = self.crossed.filter(|_| !self.options.passive);
        explanations::conclusions(&mut self.inner, &states, at.doubt.is_some(), crossed)
    }

    /// After δ nothing is under way.
    fn stays_silent(&mut self, at: &Self::State) -> bool {
        at.pending.is_empty()
            && at
                .configurations
                .iter()
                .all(|configuration| self.inner.stays_silent(&configuration.at))
    }

    fn generation(&self) -> u64 {
        self.inner.generation()
    }
}
