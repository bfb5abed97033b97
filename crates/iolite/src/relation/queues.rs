//! Relations to an implementation that is observed through queues.

use std::ops::ControlFlow;

use iolite_derive::{QueueCounterexample, relate_in_queues};
use iolite_lts::relation::{RelateError, Relation};
use iolite_lts::{Semantics, StateId};

use super::{
    CounterexampleDocument, Decision, ObservedDocument, Place, PreparedSpecification, Proceed,
    RelationOptions, explain_error,
};
use crate::{Error, ExplicitSpec};

/// Inputs under way beyond which no search would end.
const MOST_IN_FLIGHT: usize = 64;

/// Relations and bounds that make no sense through queues.
pub(super) fn reject(options: &RelationOptions) -> Result<(), Error> {
    match options.relation {
        Relation::Ioco | Relation::Uioco | Relation::Ioconf => {}
        Relation::IoconfF => {
            return Err(Error::input(
                "ioconf-f speaks of given traces of the system, and through queues its traces are not \
                 seen; --context queues is for ioco, uioco and ioconf",
            ));
        }
        other => {
            return Err(Error::input(format!(
                "{other} asks what a system refuses or may do next, which nobody sees through queues; \
                 --context queues is for ioco, uioco and ioconf"
            )));
        }
    }
    if options.max_in_flight == 0 || options.max_in_flight > MOST_IN_FLIGHT {
        return Err(Error::input(format!(
            "--max-in-flight is a number from 1 to {MOST_IN_FLIGHT}, not {}",
            options.max_in_flight
        )));
    }
    Ok(())
}

impl PreparedSpecification<'_> {
    pub(super) fn check_in_queues(
        &self,
        implementation: &ExplicitSpec,
        view: &dyn Semantics<State = StateId>,
        max_in_flight: usize,
        proceed: &mut Proceed<'_>,
    ) -> Result<Decision, Error> {
        let explain = |e: RelateError| explain_error(&e, implementation, &self.spec);
        self.side.check_directed(view).map_err(explain)?;
        let mut gave_up = None;
        let answer = relate_in_queues(
            self.relation,
            (view, self.side.specification()),
            self.semantics.policy(),
            max_in_flight,
            self.counterexamples,
            &mut |effort| {
                gave_up = proceed(effort);
                match gave_up {
                    Some(_) => ControlFlow::Break(()),
                    None => ControlFlow::Continue(()),
                }
            },
        );
        for (side, state) in ["implementation", "specification"]
            .into_iter()
            .zip(answer.livelocks)
        {
            if let Some(state) = state {
                return Err(explain(RelateError::Livelock { side, state }));
            }
        }
        let tell = |c: QueueCounterexample| self.tell_in_queues(c, view);
        let counterexamples: Vec<_> = answer.counterexamples.into_iter().map(tell).collect();
        let holds = match (counterexamples.is_empty(), answer.complete) {
            (true, true) => Some(true),
            (true, false) => None,
            (false, _) => Some(false),
        };
        Ok(Decision {
            holds,
            unknown: gave_up.or(answer.undecided).filter(|_| holds.is_none()),
            counterexamples,
            effort: answer.effort,
        })
    }

    fn tell_in_queues(
        &self,
        found: QueueCounterexample,
        view: &dyn Semantics<State = StateId>,
    ) -> CounterexampleDocument {
        let allowed = found.allowed.into_iter().map(ObservedDocument::Action);
        let states = found.specification.iter();
        CounterexampleDocument {
            trace: found.trace,
            observed: ObservedDocument::Action(found.observed),
            allowed: allowed.collect(),
            implementation_state: Place::of(view, found.implementation),
            specification_states: states
                .map(|&s| Place::of(self.side.specification(), s))
                .collect(),
        }
    }
}
