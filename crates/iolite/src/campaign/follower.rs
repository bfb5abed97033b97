//! Where runs are in a specification, beside whatever judges them.

use iolite_derive::{
    ActionId, ChannelOracle, ChannelState, Meaning, Oracle, QueueOptions, QueueOracle, QueueState,
    Step,
};

/// An oracle that follows runs, each with a [`Position`] of its own.
///
/// Where messages queue, a step is known to have been taken when only one local explanation of what was
/// seen is left. Through several channels that is so where at most one input was under way: of two, nobody knows which came first. Of
/// a channel that loses messages nothing is known.
pub(super) enum Follower<O: Oracle> {
    Synchronous(O),
    Queues(QueueOracle<O>),
    Channels(ChannelOracle<O>),
    Lossy(O),
}

/// Where a run is.
#[derive(Clone)]
pub(super) enum Position<S> {
    /// It has left the specification.
    Lost,
    Synchronous(S),
    Queues(QueueState<S>),
    Channels(ChannelState<S>),
}

impl<O: Oracle> Follower<O>
where
    O::State: Clone,
{
    pub(super) fn new(oracle: O, queues: Option<QueueOptions>) -> Self {
        match queues {
            None => Self::Synchronous(oracle),
            Some(queues) if queues.channels.is_empty() => {
                Self::Queues(QueueOracle::new(oracle, queues))
            }
            Some(queues) if queues.channels.iter().any(|channel| channel.loss) => {
                Self::Lossy(oracle)
            }
            Some(queues) => Self::Channels(ChannelOracle::new(oracle, queues)),
        }
    }

    pub(super) fn inner(&self) -> &O {
        match self {
            Self::Synchronous(oracle) | Self::Lossy(oracle) => oracle,
            Self::Queues(oracle) => oracle.inner(),
            Self::Channels(oracle) => oracle.inner(),
        }
    }

    pub(super) fn oracle(&mut self) -> &mut O {
        match self {
            Self::Synchronous(oracle) | Self::Lossy(oracle) => oracle,
            Self::Queues(oracle) => oracle.inner_mut(),
            Self::Channels(oracle) => oracle.inner_mut(),
        }
    }

    /// A run begins.
    pub(super) fn start(&mut self) -> Position<O::State> {
        let start = match self {
            Self::Synchronous(oracle) => oracle.initial().ok().map(Position::Synchronous),
            Self::Queues(oracle) => oracle.initial().ok().map(Position::Queues),
            Self::Channels(oracle) => oracle.initial().ok().map(Position::Channels),
            Self::Lossy(_) => None,
        };
        start.unwrap_or(Position::Lost)
    }

    /// Where the specification is, or will be once everything sent was taken; `None` where several
    /// places are possible.
    pub(super) fn place(&mut self, at: &Position<O::State>) -> Option<O::State> {
        match (self, at) {
            (_, Position::Synchronous(at)) => Some(at.clone()),
            (Self::Queues(oracle), Position::Queues(state)) => {
                let [only] = state.configurations() else {
                    return None;
                };
                let mut untaken = state.untaken(only).iter();
                untaken.try_fold(only.at.clone(), |place, &input| {
                    follow(oracle.inner_mut(), &place, Step::Stimulus(input))
                })
            }
            (Self::Channels(oracle), Position::Channels(state)) => match state.certain()? {
                (place, None) => Some(place.clone()),
                (place, Some(input)) => follow(oracle.inner_mut(), place, Step::Stimulus(input)),
            },
            _ => None,
        }
    }

    /// Where the specification is known to be now.
    pub(super) fn known(at: &Position<O::State>) -> Option<O::State> {
        match at {
            Position::Lost => None,
            Position::Synchronous(at) => Some(at.clone()),
            Position::Queues(state) => match state.configurations() {
                [only] if only.untaken == 0 => Some(only.at.clone()),
                _ => None,
            },
            Position::Channels(state) => match state.certain()? {
                (place, None) => Some(place.clone()),
                _ => None,
            },
        }
    }

    /// Goes on, and tells `count` of the steps that are known to have been taken, and from where.
    pub(super) fn step(
        &mut self,
        position: &mut Position<O::State>,
        step: Step,
        count: &mut impl FnMut(&mut O, &O::State, ActionId),
    ) {
        let before = std::mem::replace(position, Position::Lost);
        match (self, before) {
            (Self::Synchronous(oracle), Position::Synchronous(at)) => {
                count(oracle, &at, step.action());
                if let Some(next) = follow(oracle, &at, step) {
                    *position = Position::Synchronous(next);
                }
            }
            (Self::Queues(oracle), Position::Queues(from)) => {
                let Ok(Meaning::Allowed(next)) = oracle.after(&from, step) else {
                    return;
                };
                if let (false, [before], [after]) = (
                    step.is_stimulus(),
                    from.configurations(),
                    next.configurations(),
                ) {
                    let taken = before.untaken - after.untaken;
                    let mut place = Some(before.at.clone());
                    for &input in &from.untaken(before)[..taken] {
                        let Some(now) = place else { break };
                        count(oracle.inner_mut(), &now, input);
                        place = follow(oracle.inner_mut(), &now, Step::Stimulus(input));
                    }
                    if let Some(now) = place {
                        count(oracle.inner_mut(), &now, step.action());
                    }
                }
                *position = Position::Queues(next);
            }
            (Self::Channels(oracle), Position::Channels(from)) => {
                let Ok(Meaning::Allowed(next)) = oracle.after(&from, step) else {
                    return;
                };
                if let (false, Some((before, input)), Some((_, None))) =
                    (step.is_stimulus(), from.certain(), next.certain())
                {
                    let inner = oracle.inner_mut();
                    let mut place = Some(before.clone());
                    if let Some(input) = input {
                        count(inner, before, input);
                        place = follow(inner, before, Step::Stimulus(input));
                    }
                    if let Some(now) = place {
                        count(inner, &now, step.action());
                    }
                }
                *position = Position::Channels(next);
            }
            _ => {}
        }
    }
}

fn follow<O: Oracle>(oracle: &mut O, at: &O::State, step: Step) -> Option<O::State> {
    match oracle.after(at, step) {
        Ok(Meaning::Allowed(next)) => Some(next),
        _ => None,
    }
}
