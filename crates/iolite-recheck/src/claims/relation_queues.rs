//! Two models through queues.

use crate::claims::relation::systems;
use crate::definitions::queues::Queues;
use crate::definitions::system::{DELTA, States};
use crate::format::document::{Certificate, Observation};
use crate::lists::check_list;
use crate::lists::{actions, check_locations};
use crate::{Outcome, Report, rejected};

/// The claim that an implementation shows something through queues that its specification does not
/// explain in any order.
pub(crate) fn check(certificate: &Certificate, report: &mut Report) -> Outcome<()> {
    let kind = certificate.kind.as_str();
    if !matches!(kind, "ioco" | "uioco" | "ioconf") {
        return rejected(format!("`{kind}` is not asked through queues"));
    }
    if certificate.traces.is_some() {
        return rejected("ioconf-f and a set of traces belong together");
    }
    let observed = match &certificate.observed {
        Some(Observation::Action(action)) => action.as_str(),
        _ => return rejected("an output or silence is needed"),
    };
    if observed != DELTA && !observed.starts_with('!') {
        return rejected(format!("{observed} is neither an output nor delta"));
    }
    let (i, s) = systems(certificate, true)?;
    let suspension = kind != "ioconf";
    // The implementation takes every input everywhere, so nothing is left open on its side.
    let mut shows = Queues::new(&i, true, false)?;
    let mut explains = Queues::new(&s, suspension, kind == "uioco")?;
    for (k, action) in certificate.trace.iter().enumerate() {
        let step = k + 1;
        if action == DELTA && !suspension {
            return rejected(format!(
                "step {step}: {kind} knows no silence within a trace"
            ));
        }
        shows = shows.after(action)?;
        if shows.is_empty() {
            return rejected(format!(
                "step {step}: the implementation shows no {action} there, in whatever order it takes \
                 its inputs"
            ));
        }
        explains = explains.after(action)?;
        if explains.is_empty() {
            return rejected(format!(
                "step {step}: no order of messages explains {action}"
            ));
        }
    }
    report.confirmed.push(format!(
        "trace: {} steps that the implementation shows through queues, and that the specification \
         explains",
        certificate.trace.len()
    ));
    if shows.after(observed)?.is_empty() {
        return rejected(format!("the implementation cannot show {observed} there"));
    }
    if !explains.after(observed)?.is_empty() {
        return rejected(format!("the specification explains {observed} there"));
    }
    report.confirmed.push(format!(
        "observed: {observed}, which the implementation shows and no order of messages explains"
    ));
    let told = actions(&certificate.allowed)?;
    check_list("allowed", &told, &explains.out()?, Clone::clone, report)?;
    match &certificate.implementation_location {
        None => report
            .notes
            .push("it does not say where the implementation is".to_owned()),
        Some(place) => {
            let mut found = false;
            shows.each_stage(|states, left| {
                // Silence is seen only where nothing is under way.
                if observed == DELTA && !left.is_empty() {
                    return Ok(());
                }
                for &state in states.iter().filter(|&&q| i.state(q).to_string() == *place) {
                    let here = i.close(States::from([state]))?;
                    found |= !i.after(&here, observed, true)?.is_empty();
                }
                Ok(())
            })?;
            if !found {
                return rejected(format!("the implementation does not show it in {place}"));
            }
            report
                .confirmed
                .push("the place of the implementation".to_owned());
        }
    }
    check_locations(certificate, &s, &explains.states()?, Vec::new(), report)
}
