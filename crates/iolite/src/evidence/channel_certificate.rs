//! The certificate of a run through several channels, or through one that loses or reorders messages, while it is made. What
//! was allowed is asked of formulas: the tester looks at one order after the other, and does not list what outputs on their way
//! explain. That may be costly, so it ends with the bounds of the command.

use iolite_recheck::{Certificate, Observation};

use super::data::{Between, DataRun, fronts_for_making};
use super::data_channels::Channels;
use super::policy;
use crate::{Budget, Error, Spec};

/// Writes what formulas say was allowed into the certificate of a run through several channels; where they do not
/// say it, the tester's list stays. Why there can be no certificate, where a bound ran out: the tester's list would be
/// refuted by who has more time.
pub(super) fn allow(
    whole: &mut Certificate,
    spec: &Spec,
    budget: &Budget,
) -> Result<Option<String>, Error> {
    let Spec::Symbolic(symbolic) = spec else {
        return Ok(None);
    };
    if whole.context != "queues" || whole.channels.is_empty() {
        return Ok(None);
    }
    // A campaign that a signal ended still tells why its runs failed; one more signal ends that too.
    let earlier = iolite_exec::interrupted().is_some();
    let budget = budget.clone();
    let until = budget.until();
    let stop = move || {
        let bound = budget.exceeded().map(|what| what.to_string());
        bound.or_else(|| {
            let signal = !earlier && iolite_exec::interrupted().is_some();
            signal.then(|| "a signal ended it".to_owned())
        })
    };
    let fronts = {
        let stop = stop.clone();
        fronts_for_making(symbolic.model(), policy(whole), move || stop().is_some())
    };
    let run = DataRun {
        spec,
        model: symbolic.model(),
        policy: policy(whole),
        solver: None,
        until,
        every_state: whole.kind == "uioco",
        of_the_union: false,
        fronts,
    };
    let carriers = whole.channels.clone();
    let mut channels = Channels::new(&run, &carriers)?;
    channels.stop = Some(&stop);
    let mut texts = channels.allowed_texts(&whole.trace)?;
    if texts.is_none()
        && channels.out_of_bounds.is_none()
        && let Some(k) = channels.first_unexplained(&whole.trace)
    {
        // The tester waits for outputs that would explain an early one, and notices at the next silence that there are none.
        // The claim is about the output.
        let watched = !whole.observers.is_empty()
            || !whole.data_observers.is_empty()
            || !whole.properties.is_empty();
        if watched || whole.trace[k].starts_with('?') {
            let reason = format!("no order explains step {}, which was noticed later", k + 1);
            return Ok(Some(reason));
        }
        whole.observed = Some(Observation::Action(whole.trace[k].clone()));
        whole.trace.truncate(k);
        let found = run.found(&whole.trace, Between::Channels(&carriers))?;
        whole.locations = found.map(|found| found.locations).unwrap_or_default();
        texts = channels.allowed_texts(&whole.trace)?;
    }
    if let Some(why) = channels.out_of_bounds {
        let reason = format!("what would have been allowed was not found out within bounds: {why}");
        return Ok(Some(reason));
    }
    if let Some(texts) = texts {
        whole.allowed = texts.into_iter().map(Observation::Action).collect();
    }
    Ok(None)
}
