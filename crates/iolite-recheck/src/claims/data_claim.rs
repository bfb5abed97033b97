//! Claims where data were kept: their shape. What they say is looked at with a solver, which this crate has not.

use crate::claims::test_run;
use crate::format::document::{Certificate, DataClaim};
use crate::{Outcome, rejected};

/// Where data were kept, a claim is of an observer, of a relation or of a test case, and of nothing else beside it.
pub(crate) fn check(certificate: &Certificate, data: &DataClaim) -> Outcome<()> {
    let by = match (&data.invariant, &data.run) {
        (Some(_), None) => "invariant",
        (None, Some(_)) if data.faults.is_empty() => "run",
        _ => return rejected("it is a proof by an invariant, or a refutation by a run"),
    };
    let verdict = certificate.verdict.as_str();
    let kind = certificate.kind.as_str();
    let known = matches!(kind, "ioco" | "uioco" | "ioconf" | "safety" | "purpose");
    let models = [&certificate.specification, &certificate.implementation].map(Option::is_some);
    let completed = certificate.complete_inputs.as_deref();
    let right = match (models, by) {
        ([true, false], "invariant") => kind == "safety" && verdict == "proved",
        ([true, false], _) => kind == "safety" && verdict == "refuted",
        ([true, true], "invariant") => known && kind != "safety" && verdict == "holds",
        ([false, true], "run") => known && test_run::FAILING.contains(&verdict),
        _ => false,
    };
    if !right {
        return rejected(format!("`{verdict}` of `{kind}` is not what it shows"));
    }
    let relation = models == [true, true];
    // A relation has no observer; that every input is taken is shown, or completion sees to it.
    if relation != data.observer.is_empty()
        || relation != data.name.is_empty()
        || data.enabled.is_some() != (relation && completed.is_none())
        || completed.is_some_and(|how| how != "self-loop" || !models[1])
    {
        return rejected(
            "the observer, or what shows that every input is taken, is missing or too much",
        );
    }
    let instance = data.instance.is_some();
    if instance && !relation || data.specified.is_some() != (instance && kind != "uioco") {
        return rejected("an instance is one of a specification that a relation is about");
    }
    let plain = Certificate {
        model: certificate.model.clone(),
        trace: certificate.trace.clone(),
        locations: certificate.locations.clone(),
        complete_inputs: certificate.complete_inputs.clone(),
        implementation_location: certificate.implementation_location.clone(),
        specification: certificate.specification.clone(),
        implementation: certificate.implementation.clone(),
        data: certificate.data.clone(),
        files: certificate.files.clone(),
        reading: certificate.reading.clone(),
        ..Certificate::new(kind, verdict, &certificate.quiescence)
    };
    let tells = !certificate.trace.is_empty() || !certificate.locations.is_empty();
    if by == "invariant" && tells
        || models != [false, true] && certificate.implementation_location.is_some()
    {
        return rejected("an invariant has no trace and no places");
    }
    let models = [&certificate.specification, &certificate.implementation];
    let tables = models.into_iter().flatten().any(|m| m.table.is_some());
    if tables || *certificate != plain {
        return rejected("it is of models without tables, and claims nothing else");
    }
    match certificate.quiescence.as_str() {
        "livelock" | "strict" | "fair" => Ok(()),
        other => rejected(format!("`{other}` is no policy of quiescence")),
    }
}
