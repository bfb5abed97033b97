//! Testing through several channels, or through one that loses or reorders messages.

use std::sync::Arc;

use super::explanations;
use crate::channel::{channel_of_input, channel_of_output};
use crate::oracle::queues::{MOST_CONFIGURATIONS, MOST_PENDING, Open, unspecified};
use crate::{
    ActionId, Alphabet, Channel, Criterion, Meaning, Notice, Oracle, Places, QueueOptions, Step,
    Undecided,
};

/// Places that are looked at to find out whether an output that seems early can be explained by one
/// that is still to come; beyond it, it counts as explained.
const MOST_AHEAD: usize = 2048;

/// An oracle seen through channels: order is kept within a channel, and not between channels; a
/// channel may also lose messages, or let them overtake each other.
///
/// What was observed is a set of messages with an order in time, and an explanation is an order of the
/// system's own: a configuration is a state of the oracle inside after *one* local trace, together with
/// the messages that have no place in it yet.
///
/// - An input may be placed once everything that was observed before it was given has its place (the
///   system sent it before), and the inputs given before it on its channel.
/// - An output may be placed once the outputs observed before it on its channel have their place. It
///   may stay without one as long as outputs that are still to come, on other channels, can explain it.
/// - An input that is lost has no place; an output that is lost is a step that nobody observes.
/// - δ needs everything to have its place, or to be lost: nothing is under way any more.
///
/// As for [`QueueOracle`](crate::QueueOracle), a step is forbidden when no configuration is left, and
/// anything may follow once an input may have been taken where it is not specified.
#[derive(Debug)]
pub struct ChannelOracle<O> {
    inner: O,
    options: QueueOptions,
    channels: Arc<[Channel]>,
    crossed: Option<ActionId>,
}

/// A message that has no place in the local trace yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Message {
    Input(ActionId, usize),
    /// The channel is `None` where it is not known.
    Output(ActionId, Option<usize>),
}

/// One explanation.
#[derive(Clone, Debug)]
struct Configuration<S> {
    at: S,
    /// What has no place yet, in the order of time.
    left: Vec<Message>,
}

/// All explanations of an observed trace.
#[derive(Clone, Debug)]
pub struct ChannelState<S> {
    configurations: Arc<[Configuration<S>]>,
    /// Whether one of them is known to explain all that was observed, with outputs that are still to come at most.
    is_explained: bool,
    doubt: Option<Arc<Undecided>>,
}

impl<S> ChannelState<S> {
    /// The state inside, with the input that has no place in its trace yet if there is one: where only one explanation is left, and
    /// no more is under way, so that what comes next tells the way that was taken.
    pub fn certain(&self) -> Option<(&S, Option<ActionId>)> {
        let [only] = &*self.configurations else {
            return None;
        };
        match *only.left {
            [] => Some((&only.at, None)),
            [Message::Input(input, _)] => Some((&only.at, Some(input))),
            _ => None,
        }
    }
}

/// Which steps a search takes beside placing messages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beyond {
    /// None.
    Nothing,
    /// Outputs that were lost.
    Lost,
    /// And outputs that are still to come.
    Ahead,
}

/// How far a search goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// As far as it can.
    End,
    /// To where every output has its place: inputs are taken when there is a reason to.
    Placed,
}

/// Whether the outputs that have no place can get one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Viability {
    No,
    /// Outputs of a model with data are not listed, or a bound ran out.
    NotKnown,
    Yes,
}

/// A configuration that a search meets.
struct Met<S> {
    configuration: Configuration<S>,
    /// Whether its last step gave an observed output its place.
    placed: bool,
    /// Whether an output that is still to come was needed on the way.
    ahead: bool,
}

fn waits(left: &[Message]) -> bool {
    left.iter().any(|m| matches!(m, Message::Output(..)))
}

/// What a search found beside configurations.
#[derive(Default)]
struct Findings {
    doubt: Option<Arc<Undecided>>,
    open: Option<Open>,
    too_many: bool,
    /// Steps that nobody observes cannot be listed here.
    unlisted: bool,
}

impl<O: Oracle> ChannelOracle<O> {
    /// The oracle seen through the channels of `options`.
    pub fn new(inner: O, options: QueueOptions) -> Self {
        let channels = Arc::clone(&options.channels);
        Self {
            inner,
            options,
            channels,
            crossed: None,
        }
    }

    /// The oracle inside.
    pub fn inner(&self) -> &O {
        &self.inner
    }

    /// The same, to ask.
    pub fn inner_mut(&mut self) -> &mut O {
        &mut self.inner
    }

    fn name(&self, action: ActionId) -> Arc<str> {
        let action = self.inner.alphabet().action(action);
        action.map_or_else(|| "".into(), |action| Arc::clone(&action.name))
    }

    fn input(&self, action: ActionId) -> Message {
        let channel = channel_of_input(&self.channels, &self.name(action));
        Message::Input(action, channel)
    }

    fn output(&self, action: ActionId) -> Message {
        let channel = channel_of_output(&self.channels, &self.name(action));
        Message::Output(action, channel)
    }

    fn reorders(&self, channel: usize) -> bool {
        self.channels.get(channel).is_some_and(|c| c.reorder)
    }

    /// Whether a message of this channel may be lost; where the channel is not known, of any.
    fn loses(&self, channel: Option<usize>) -> bool {
        match channel {
            Some(channel) => self.channels.get(channel).is_some_and(|c| c.loss),
            None => self.channels.iter().any(|c| c.loss),
        }
    }

    /// Whether a message may be placed while these, which were seen before it, have no place.
    fn may_be_placed(&self, message: Message, before: &[Message]) -> bool {
        match message {
            Message::Input(_, channel) => before.iter().all(|other| match other {
                Message::Output(..) => false,
                Message::Input(_, other) => channel != *other || self.reorders(channel),
            }),
            Message::Output(_, None) => true,
            Message::Output(_, Some(channel)) => {
                self.reorders(channel)
                    || !before
                        .iter()
                        .any(|other| matches!(other, Message::Output(_, Some(c)) if *c == channel))
            }
        }
    }

    /// Whether an output can have been sent before others on other channels were, or on its own.
    fn may_be_early(&self, message: Message) -> bool {
        match message {
            Message::Output(_, Some(channel)) => self.channels.len() > 1 || self.reorders(channel),
            _ => true,
        }
    }

    /// Everything that is reached from configurations by placing and losing messages.
    fn explore(
        &mut self,
        from: Vec<Configuration<O::State>>,
        (beyond, until): (Beyond, Until),
        limit: usize,
        findings: &mut Findings,
    ) -> Vec<Met<O::State>> {
        let mut met: Vec<Met<O::State>> = Vec::new();
        for configuration in from {
            self.meet(&mut met, configuration, false, false);
        }
        let mut next = 0;
        while next < met.len() {
            if met.len() > limit {
                findings.too_many = true;
                break;
            }
            let Configuration { at, left } = met[next].configuration.clone();
            let ahead = met[next].ahead;
            next += 1;
            if until == Until::Placed && !waits(&left) {
                continue;
            }
            for (k, &message) in left.iter().enumerate() {
                let mut rest = left.clone();
                rest.remove(k);
                if let Message::Input(_, channel) = message
                    && self.loses(Some(channel))
                {
                    let lost = Configuration {
                        at: at.clone(),
                        left: rest.clone(),
                    };
                    self.meet(&mut met, lost, false, ahead);
                }
                if !self.may_be_placed(message, &left[..k]) {
                    continue;
                }
                let (step, is_output) = match message {
                    Message::Input(input, _) => (Step::Stimulus(input), false),
                    Message::Output(output, _) => (Step::Output(output), true),
                };
                match self.inner.after(&at, step) {
                    Ok(Meaning::Allowed(at)) => {
                        let placed = Configuration { at, left: rest };
                        self.meet(&mut met, placed, is_output, ahead);
                    }
                    Ok(Meaning::Forbidden) => {}
                    Ok(Meaning::Unspecified | Meaning::Ends) => {
                        let open = match message {
                            Message::Input(input, _) => Open::Unspecified(input),
                            Message::Output(..) => Open::Ended,
                        };
                        findings.open.get_or_insert(open);
                    }
                    Err(why) => {
                        findings.doubt.get_or_insert_with(|| Arc::from(why));
                    }
                }
            }
            if beyond != Beyond::Nothing {
                self.step_unobserved((&at, &left, ahead), beyond, &mut met, findings);
            }
        }
        met
    }

    /// Outputs that are lost, or still to come.
    fn step_unobserved(
        &mut self,
        (at, left, used): (&O::State, &[Message], bool),
        beyond: Beyond,
        met: &mut Vec<Met<O::State>>,
        findings: &mut Findings,
    ) {
        if beyond == Beyond::Lost && !self.channels.iter().any(|c| c.loss) {
            return;
        }
        let mut row = Vec::new();
        if self.inner.row(at, &mut row).is_none() {
            findings.unlisted = true;
            return;
        }
        for (action, next) in row {
            let kind = self.inner.alphabet().action(action).map(|a| a.kind);
            if kind != Some(iolite_lts::LabelKind::Output) {
                continue;
            }
            let message = self.output(action);
            let Message::Output(_, channel) = message else {
                continue;
            };
            let ahead = beyond == Beyond::Ahead && self.may_be_placed(message, left);
            if ahead || self.loses(channel) {
                let configuration = Configuration {
                    at: next,
                    left: left.to_vec(),
                };
                self.meet(met, configuration, false, used || ahead);
            }
        }
    }

    fn meet(
        &self,
        met: &mut Vec<Met<O::State>>,
        configuration: Configuration<O::State>,
        placed: bool,
        ahead: bool,
    ) {
        let same = |m: &&mut Met<O::State>| {
            m.ahead == ahead
                && m.configuration.left == configuration.left
                && self.inner.is_same(&m.configuration.at, &configuration.at)
        };
        match met.iter_mut().find(same) {
            Some(known) => known.placed |= placed,
            None => met.push(Met {
                configuration,
                placed,
                ahead,
            }),
        }
    }

    /// Whether the outputs that have no place, if any, can get one with the help of others still to come.
    /// What needs no such help was given its place in another configuration.
    fn viability(&mut self, configuration: &Configuration<O::State>) -> Viability {
        if !waits(&configuration.left) {
            return Viability::Yes;
        }
        let mut findings = Findings::default();
        let from = vec![configuration.clone()];
        let met = self.explore(
            from,
            (Beyond::Ahead, Until::Placed),
            MOST_AHEAD,
            &mut findings,
        );
        let Findings {
            doubt,
            open,
            too_many,
            unlisted,
        } = findings;
        // After an input that may have been taken where it is not specified anything may be sent. A log is not judged then.
        let anything = open.is_some() && !self.options.passive;
        if anything || met.iter().any(|m| m.ahead && !waits(&m.configuration.left)) {
            Viability::Yes
        } else if doubt.is_some() || open.is_some() || too_many || unlisted {
            Viability::NotKnown
        } else {
            Viability::No
        }
    }

    /// All configurations that are possible now, whatever of the messages under way has arrived.
    fn stages(&mut self, at: &ChannelState<O::State>) -> Vec<Configuration<O::State>> {
        let from = at.configurations.to_vec();
        let mut findings = Findings::default();
        let met = self.explore(
            from,
            (Beyond::Lost, Until::End),
            MOST_CONFIGURATIONS,
            &mut findings,
        );
        let mut stages: Vec<_> = met.into_iter().map(|m| m.configuration).collect();
        stages.retain(|configuration| self.viability(configuration) != Viability::No);
        stages
    }

    /// The explanations after an output, or after silence, and whether one of them is known to be one.
    fn explain(
        &mut self,
        state: &ChannelState<O::State>,
        step: Step,
        findings: &mut Findings,
    ) -> (Vec<Configuration<O::State>>, bool) {
        let silent = matches!(step, Step::Quiescence | Step::Deadlock);
        let mut from = state.configurations.to_vec();
        let message = self.output(step.action());
        if !silent {
            for configuration in &mut from {
                configuration.left.push(message);
            }
        }
        let started = from.len();
        let until = if silent { Until::End } else { Until::Placed };
        let how = (Beyond::Lost, until);
        let met = self.explore(from, how, MOST_CONFIGURATIONS, findings);
        let early = self.may_be_early(message);
        let mut kept: Vec<Met<O::State>> = Vec::new();
        let mut is_explained = silent;
        for (
            k,
            Met {
                configuration,
                placed,
                ..
            },
        ) in met.into_iter().enumerate()
        {
            if silent {
                if configuration.left.is_empty() {
                    match self.inner.after(&configuration.at, step) {
                        Ok(Meaning::Allowed(at)) => {
                            let left = Vec::new();
                            self.meet(&mut kept, Configuration { at, left }, false, false);
                        }
                        Ok(Meaning::Forbidden) => {}
                        Ok(Meaning::Unspecified | Meaning::Ends) => {
                            findings.open.get_or_insert(Open::Ended);
                        }
                        Err(why) => {
                            findings.doubt.get_or_insert_with(|| Arc::from(why));
                        }
                    }
                }
                continue;
            }
            let is_left = configuration.left.contains(&message);
            let kept_early = is_left && early && (placed || k < started);
            if !(placed && !is_left || kept_early) {
                continue;
            }
            let viability = self.viability(&configuration);
            is_explained |= viability == Viability::Yes;
            if viability != Viability::No {
                kept.push(Met {
                    configuration,
                    placed,
                    ahead: false,
                });
            }
        }
        let kept = kept.into_iter().map(|m| m.configuration);
        (kept.collect(), is_explained)
    }

    fn inputs_in(configuration: &Configuration<O::State>) -> usize {
        let is_input = |m: &&Message| matches!(m, Message::Input(..));
        configuration.left.iter().filter(is_input).count()
    }
}

impl<O: Oracle> Oracle for ChannelOracle<O> {
    type State = ChannelState<O::State>;

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
        let left = Vec::new();
        Ok(ChannelState {
            configurations: Arc::new([Configuration { at, left }]),
            is_explained: true,
            doubt: None,
        })
    }

    /// Inputs that are specified in whatever order the messages under way arrive; where nothing is
    /// under way and there are only others, those.
    fn stimuli(&mut self, at: &Self::State, menu: &mut Vec<ActionId>) {
        let in_flight = at.configurations.iter().map(Self::inputs_in).max();
        let in_flight = in_flight.unwrap_or_default();
        if in_flight >= self.options.max_in_flight {
            return;
        }
        let mut candidates = Vec::new();
        for Configuration { at, left } in self.stages(at) {
            if left.is_empty() {
                let mut own = Vec::new();
                self.inner.stimuli(&at, &mut own);
                own.retain(|input| !candidates.contains(input));
                candidates.extend(own);
            }
        }
        let begin = menu.len();
        for &input in &candidates {
            let message = self.input(input);
            let mut from = at.configurations.to_vec();
            for configuration in &mut from {
                configuration.left.push(message);
            }
            let mut findings = Findings::default();
            self.explore(
                from,
                (Beyond::Nothing, Until::End),
                MOST_CONFIGURATIONS,
                &mut findings,
            );
            if findings.open.is_none() && findings.doubt.is_none() && !findings.too_many {
                menu.push(input);
            }
        }
        if menu.len() == begin && in_flight == 0 {
            menu.extend(candidates);
        }
    }

    fn after(
        &mut self,
        at: &Self::State,
        step: Step,
    ) -> Result<Meaning<Self::State>, Box<Undecided>> {
        if let Step::Stimulus(input) = step {
            let most = at.configurations.iter().map(|c| c.left.len()).max();
            if most.unwrap_or_default() >= MOST_PENDING {
                return Err(Box::new(Undecided::new(format!(
                    "more than {MOST_PENDING} messages may be under way, too many to explain what \
                     follows"
                ))));
            }
            let message = self.input(input);
            let mut configurations = at.configurations.to_vec();
            for configuration in &mut configurations {
                configuration.left.push(message);
            }
            return Ok(Meaning::Allowed(ChannelState {
                configurations: configurations.into(),
                is_explained: at.is_explained,
                doubt: at.doubt.clone(),
            }));
        }
        let mut findings = Findings {
            doubt: at.doubt.clone(),
            ..Findings::default()
        };
        let (configurations, is_explained) = self.explain(at, step, &mut findings);
        match findings.open {
            Some(Open::Ended) => return Ok(Meaning::Ends),
            Some(Open::Unspecified(input)) => {
                self.crossed = Some(input);
                return unspecified(self.options.passive, self.alphabet(), input);
            }
            None => {}
        }
        if findings.too_many {
            return Err(Box::new(Undecided::new(format!(
                "more than {MOST_CONFIGURATIONS} ways explain what was seen"
            ))));
        }
        if configurations.is_empty() {
            return match findings.doubt {
                Some(doubt) => Err(Box::new((*doubt).clone())),
                None if findings.unlisted => Err(Box::new(Undecided {
                    inconclusive: true,
                    ..Undecided::new(
                        "a lost output may explain this, and for a model with data it is not known \
                         which",
                    )
                })),
                None => Ok(Meaning::Forbidden),
            };
        }
        Ok(Meaning::Allowed(ChannelState {
            configurations: configurations.into(),
            is_explained,
            doubt: findings.doubt,
        }))
    }

    fn unexplained(&self, at: &Self::State) -> Option<Undecided> {
        let ended = if self.options.passive { "log" } else { "run" };
        (!at.is_explained).then(|| Undecided {
            inconclusive: true,
            ..Undecided::new(format!(
                "the {ended} ends with an output that another one would explain which has not come, and for a model with \
                 data it is not known which; silence at its end would decide"
            ))
        })
    }

    fn awaits_explanation(&self, at: &Self::State) -> bool {
        at.configurations.iter().all(|c| waits(&c.left))
    }

    const LISTENS: bool = O::LISTENS;

    /// Where nothing is under way it is known where the step happens; else only that it did.
    fn happened(&mut self, at: &[Self::State], step: Step) {
        if !O::LISTENS {
            return;
        }
        let settled = at.iter().flat_map(|state| &*state.configurations);
        let settled = settled.filter(|configuration| configuration.left.is_empty());
        let places: Vec<O::State> = settled.map(|c| c.at.clone()).collect();
        self.inner.happened(&places, step);
    }

    fn out(&mut self, at: &Self::State) -> Vec<String> {
        let from = at.configurations.to_vec();
        let mut findings = Findings::default();
        let met = self.explore(
            from,
            (Beyond::Ahead, Until::End),
            MOST_CONFIGURATIONS,
            &mut findings,
        );
        let mut out: Vec<String> = Vec::new();
        for Met { configuration, .. } in met {
            for text in self.inner.out(&configuration.at) {
                if out.contains(&text) {
                    continue;
                }
                let step = match text.as_str() {
                    "delta" => Some(Step::Quiescence),
                    _ => self.alphabet().declared(&text).map(Step::Output),
                };
                // With data only the values are shown, and each order may have others.
                let right = step.is_none_or(|step| {
                    let meaning = self.after(at, step);
                    !matches!(meaning, Ok(Meaning::Forbidden))
                });
                if right {
                    out.push(text);
                }
            }
        }
        out
    }

    fn places(&mut self, at: &Self::State) -> Places {
        let mut all = Places::default();
        for configuration in self.stages(at) {
            all.extend(self.inner.places(&configuration.at));
        }
        all
    }

    fn waiting(&mut self, at: &Self::State) -> Vec<String> {
        let stages = self.stages(at).into_iter();
        let settled: Vec<O::State> = stages.filter(|c| c.left.is_empty()).map(|c| c.at).collect();
        explanations::waiting(&mut self.inner, settled)
    }

    fn trim(&mut self, at: Self::State) -> Self::State {
        let states = at.configurations.iter().map(|c| c.at.clone()).collect();
        let Some(states) = explanations::trimmed(&mut self.inner, states) else {
            return at;
        };
        let configurations = at.configurations.iter().zip(states);
        ChannelState {
            configurations: configurations
                .map(|(c, at)| Configuration {
                    at,
                    left: c.left.clone(),
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

    fn generation(&self) -> u64 {
        self.inner.generation()
    }
}
