//! A run beside a specification that is observed through queues: every order of the messages counts.

use std::collections::BTreeSet;

use crate::claims::run::{AllowedThere, Rules};
use crate::definitions::channels::Channels;
use crate::definitions::queues::Queues;
use crate::definitions::system::{DELTA, States, System};
use crate::format::document::Certificate;
use crate::{Outcome, rejected};

/// Where the specification may be, in whatever order messages were taken.
pub(crate) fn through_queues(
    certificate: &Certificate,
    s: &System,
    rules: &Rules,
    observed: &str,
) -> Outcome<AllowedThere> {
    if certificate.traces.is_some() {
        return Err(crate::Fault::Undecided(
            "sets of traces through queues are not re-checked".to_owned(),
        ));
    }
    if !certificate.channels.is_empty() {
        let channels = Channels::new(s, &certificate.channels, rules.every_state)?;
        return explained(channels, certificate, rules, observed);
    }
    let queues = Queues::new(s, rules.suspension, rules.every_state)?;
    explained(queues, certificate, rules, observed)
}

/// All explanations of what was observed, through one pair of queues or through several channels.
trait Explanations: Sized {
    fn after(&self, action: &str) -> Outcome<Self>;
    fn is_empty(&self) -> bool;
    fn states(&self) -> Outcome<States>;
    fn out(&self) -> Outcome<BTreeSet<String>>;
}

macro_rules! explanations {
    ($type:ident) => {
        impl Explanations for $type<'_> {
            fn after(&self, action: &str) -> Outcome<Self> {
                $type::after(self, action)
            }

            fn is_empty(&self) -> bool {
                $type::is_empty(self)
            }

            fn states(&self) -> Outcome<States> {
                $type::states(self)
            }

            fn out(&self) -> Outcome<BTreeSet<String>> {
                $type::out(self)
            }
        }
    };
}

explanations!(Queues);
explanations!(Channels);

/// Follows the trace; some explanation must be left after each step of it.
fn explained(
    mut at: impl Explanations,
    certificate: &Certificate,
    rules: &Rules,
    observed: &str,
) -> Outcome<AllowedThere> {
    for (k, action) in certificate.trace.iter().enumerate() {
        let step = k + 1;
        if action == DELTA && !rules.suspension {
            let kind = &certificate.kind;
            return rejected(format!(
                "step {step}: {kind} knows no silence within a trace"
            ));
        }
        at = at.after(action)?;
        if at.is_empty() {
            return rejected(format!(
                "step {step}: no order of messages explains {action}"
            ));
        }
    }
    let is_allowed = !at.after(observed)?.is_empty();
    Ok((at.states()?, at.out()?, is_allowed))
}
