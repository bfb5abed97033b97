//! Which executions of a specification a property is asked about [PROP12, def. 3].

use crate::definitions::streett::check_table;
use crate::format::document::{Certificate, Property};
use crate::{Outcome, rejected};

/// A specification and a property, and nothing else.
pub(crate) fn check_alone(certificate: &Certificate, property: &Property) -> Outcome<()> {
    check_table(property)?;
    if property.letters.iter().any(|letter| letter == "delta_d") {
        return Err(crate::Fault::Undecided(
            "the property tells a deadlock from other silence, which is not re-checked".to_owned(),
        ));
    }
    let others = certificate.implementation.is_some()
        || certificate.traces.is_some()
        || !certificate.observers.is_empty()
        || !certificate.channels.is_empty();
    if others || certificate.complete_inputs.is_some() || certificate.context != "synchronous" {
        return rejected("a specification satisfies a property by itself");
    }
    let tells = certificate.observed.is_some()
        || !certificate.allowed.is_empty()
        || !certificate.locations.is_empty()
        || certificate.implementation_location.is_some();
    if tells || property.relation != "inclusion" {
        return rejected("its executions are in the property or not, and nothing else is told");
    }
    Ok(())
}

/// Which executions count.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Fairness {
    /// An output or internal action that stays enabled is taken again and again.
    pub(crate) weak: bool,
    /// One that is enabled again and again is.
    pub(crate) strong: bool,
    /// The environment gives another input whenever the specification waits for one.
    pub(crate) goes_on: bool,
}

pub(crate) fn fairness(certificate: &Certificate) -> Outcome<Fairness> {
    let mut fair = Fairness::default();
    match certificate.fairness.as_deref() {
        None => {}
        Some("weak") => fair.weak = true,
        Some("strong") => fair.strong = true,
        Some(other) => return rejected(format!("`{other}` is no fairness")),
    }
    match certificate.environment.as_deref() {
        None => {}
        Some("goes-on") => fair.goes_on = true,
        Some(other) => return rejected(format!("`{other}` is no environment")),
    }
    Ok(fair)
}
