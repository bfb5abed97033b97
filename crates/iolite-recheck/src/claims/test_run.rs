//! A model of an implementation that fails a test case: one test run that leads to a failing verdict
//! [LTS96, def. 3.2].

use std::collections::BTreeSet;

use crate::definitions::system::{DELTA, Policy, States, System};
use crate::format::document::{Certificate, Kind, Observation, Test, TestState, TestStep};
use crate::lists::actions;
use crate::lists::check_list;
use crate::{Outcome, Report, rejected};

/// Verdicts that speak against an implementation.
pub(crate) const FAILING: [&str; 4] = ["fail", "violate-fail", "violate", "weak-fail"];

/// What an action is to a test case.
pub(crate) enum Next {
    /// A step to another state.
    State(usize),
    /// The end of the run, with this verdict.
    End(String),
}

pub(crate) fn check(certificate: &Certificate, report: &mut Report) -> Outcome<()> {
    let Some(test) = &certificate.test else {
        return rejected("the test case is missing");
    };
    if certificate.kind != test.criterion {
        return rejected(format!("the test case is for {}", test.criterion));
    }
    if certificate.context != "synchronous" || !certificate.channels.is_empty() {
        return rejected("models and test cases take their steps together");
    }
    let others = certificate.specification.is_some() || certificate.property.is_some();
    if others || certificate.traces.is_some() || !certificate.observers.is_empty() {
        return rejected("a test case judges alone");
    }
    check_shape(test)?;
    let i = implementation(certificate, test)?;
    let (mut t, mut before, mut at) = (0, 0, i.start()?);
    let mut ended = None;
    let mut run: Vec<&String> = certificate.trace.iter().collect();
    if let Some(Observation::Action(action)) = &certificate.observed {
        run.push(action);
    }
    for (k, action) in run.iter().enumerate() {
        let step = k + 1;
        if ended.is_some() {
            return rejected(format!("step {step}: the test case has ended"));
        }
        at = i.after(&at, action, true)?;
        if at.is_empty() {
            return rejected(format!(
                "step {step}: the implementation cannot do {action}"
            ));
        }
        before = t;
        match next(test, t, action) {
            Some(Next::State(to)) => t = to,
            Some(Next::End(verdict)) => ended = Some(verdict),
            None => {
                return rejected(format!("step {step}: the test case does not take {action}"));
            }
        }
    }
    report.confirmed.push(format!(
        "run: {} steps that the test case and the implementation take together",
        run.len()
    ));
    let mut places = at;
    if let Some(Observation::Refusal(refusal)) = &certificate.observed {
        places = deadlock(test, &i, t, &refusal.refuses, &places)?;
        ended = Some(test.states[t].verdict.clone());
        before = t;
        report
            .confirmed
            .push("observed: the implementation refuses all that is offered".to_owned());
    }
    let state = &test.states[t];
    let verdict = match ended {
        Some(verdict) => verdict,
        None if state.does == TestStep::End => state.verdict.clone(),
        None => return rejected("the test case goes on there"),
    };
    if verdict != certificate.verdict || !FAILING.contains(&verdict.as_str()) {
        return rejected(format!("the run ends with `{verdict}`"));
    }
    report.confirmed.push(format!("verdict: {verdict}"));
    check_told(certificate, test, before, report)?;
    let Some(place) = &certificate.implementation_location else {
        let note = "it does not say where the implementation is";
        report.notes.push(note.to_owned());
        return Ok(());
    };
    if !places.iter().any(|&s| i.state(s).to_string() == *place) {
        return rejected(format!("the implementation is not in {place}"));
    }
    report
        .confirmed
        .push("the place of the implementation".to_owned());
    Ok(())
}

/// The implementation, input-enabled unless the test case only offers actions [LTS96, def. 5.1].
fn implementation(certificate: &Certificate, test: &Test) -> Outcome<System> {
    let policy = Policy::parse(&certificate.quiescence)?;
    let mut i = System::of(certificate.implementation.as_ref(), policy)?;
    if let Some(how) = &certificate.complete_inputs {
        i.complete(how, &test.labels)?;
        return Ok(i);
    }
    if test.states.iter().all(is_symmetric) {
        return Ok(i);
    }
    let inputs = test.labels.iter().filter(|(kind, _)| *kind == Kind::Input);
    let mut inputs = inputs.map(|(_, text)| text);
    if let Some(input) = inputs.find(|input| !i.texts(Kind::Input).any(|own| own == *input)) {
        return rejected(format!("the implementation does not take {input}"));
    }
    if let Some((state, input)) = i.lacks_input()? {
        let state = &i.state(state).state;
        return rejected(format!(
            "{state} of the implementation does not take {input}"
        ));
    }
    Ok(i)
}

fn is_symmetric(state: &TestState) -> bool {
    matches!(state.does, TestStep::End | TestStep::Offer)
}

/// Numbers fit, and each state is as the definitions want it: one input, or all outputs, or actions, each
/// once.
pub(crate) fn check_shape(test: &Test) -> Outcome<()> {
    let texts: BTreeSet<&String> = test.labels.iter().map(|(_, text)| text).collect();
    if texts.len() < test.labels.len() || test.states.is_empty() {
        return rejected("the test case has a label twice, or no state");
    }
    let all = (0..test.labels.len()).filter(|&l| test.labels[l].0 == Kind::Output);
    let all: BTreeSet<usize> = all.collect();
    for (number, state) in test.states.iter().enumerate() {
        let count = test.states.len();
        let theta = state.theta.is_none_or(|to| to < count);
        let fits = state
            .steps
            .iter()
            .all(|&(label, to)| label < test.labels.len() && to < count);
        if !fits || !theta {
            return rejected("the test case names a state or label that it does not have");
        }
        let labels: BTreeSet<usize> = state.steps.iter().map(|&(label, _)| label).collect();
        let inputs = labels.iter().all(|&l| test.labels[l].0 == Kind::Input);
        let right = match state.does {
            TestStep::End => labels.is_empty(),
            TestStep::Stimulate => labels.len() == 1 && inputs,
            TestStep::Observe => labels == all,
            TestStep::Offer => true,
        };
        let silence = state.theta.is_none() || state.does == TestStep::Observe;
        if !right || !silence || labels.len() < state.steps.len() {
            return rejected(format!(
                "state {number} of the test case is not deterministic and controllable"
            ));
        }
    }
    Ok(())
}

/// The step of a test case under an action.
pub(crate) fn next(test: &Test, at: usize, action: &str) -> Option<Next> {
    let state = &test.states[at];
    if action == DELTA {
        return match (state.does, state.theta) {
            (TestStep::Observe, Some(to)) => Some(Next::State(to)),
            // Without θ, silence is deadlock [LTS96, def. 7.1].
            (TestStep::Observe, None) => Some(Next::End(state.verdict.clone())),
            _ => None,
        };
    }
    let find = |text: &str| {
        let own = state.steps.iter();
        own.copied()
            .find(|&(label, _)| test.labels[label].1 == text)
    };
    // A value that no label has is among the other values of its action.
    let known = test.labels.iter().any(|(_, text)| text == action);
    let other = || {
        let (name, _) = action.split_once('(').filter(|_| !known)?;
        find(&format!("{name}(…)"))
    };
    match find(action).or_else(other) {
        Some((_, to)) => Some(Next::State(to)),
        // An output that the test case does not know is allowed nowhere.
        None if state.does == TestStep::Observe && action.starts_with('!') => {
            Some(Next::End("fail".to_owned()))
        }
        None => None,
    }
}

/// The states of the implementation that refuse all that the test case offers.
fn deadlock(test: &Test, i: &System, t: usize, refused: &[String], at: &States) -> Outcome<States> {
    let state = &test.states[t];
    let offered = state.steps.iter().map(|&(l, _)| test.labels[l].1.clone());
    let offered: BTreeSet<String> = offered.collect();
    if state.does != TestStep::Offer || offered != refused.iter().cloned().collect() {
        return rejected("that is not what the test case offers there");
    }
    let offered: Vec<String> = offered.into_iter().collect();
    let mut refusing = States::new();
    for &s in at {
        if i.refuses(s, &offered)? {
            refusing.insert(s);
        }
    }
    if refusing.is_empty() {
        return rejected("the implementation cannot refuse that there");
    }
    Ok(refusing)
}

/// What would have been right, and where the model of the test case is.
fn check_told(
    certificate: &Certificate,
    test: &Test,
    at: usize,
    report: &mut Report,
) -> Outcome<()> {
    let state = &test.states[at];
    let fails = |to: usize| {
        let to = &test.states[to];
        to.does == TestStep::End && FAILING.contains(&to.verdict.as_str())
    };
    let mut allowed = BTreeSet::new();
    if certificate.observed.is_some() {
        let right = state.steps.iter().filter(|&&(_, to)| !fails(to));
        allowed.extend(right.map(|&(label, _)| test.labels[label].1.clone()));
        let silence = match state.theta {
            Some(to) => !fails(to),
            None => !FAILING.contains(&state.verdict.as_str()),
        };
        if state.does == TestStep::Observe && silence {
            allowed.insert(DELTA.to_owned());
        }
    }
    let told = actions(&certificate.allowed)?;
    check_list("allowed", &told, &allowed, Clone::clone, report)?;
    let places = state.locations.iter().cloned().collect();
    check_list(
        "locations",
        &certificate.locations,
        &places,
        Clone::clone,
        report,
    )
}
