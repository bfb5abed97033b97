//! The quality of a suite: a test case that fails what conforms, and an error that no test case detects
//! [LTS96, §3 and 7; IOCO99, §3].

use std::collections::BTreeSet;

use crate::claims::test_run::{Next, check_shape, next};
use crate::definitions::system::{DELTA, Policy, States, System};
use crate::format::document::{Certificate, Kind, Observation, Test, TestStep};
use crate::lists::check_list;
use crate::lists::{actions, check_locations};
use crate::{Fault, Outcome, Report, rejected};

/// The verdict of a certificate by which a test case fails what conforms.
pub(crate) const UNSOUND: &str = "unsound";
/// The verdict of a certificate by which a suite misses an error.
pub(crate) const UNDETECTED: &str = "undetected";

/// Traces with δs left out that are followed side by side.
const MOST_VIEWS: usize = 100_000;

/// Whether a certificate speaks of a suite.
pub(crate) fn is_claimed(certificate: &Certificate) -> bool {
    matches!(certificate.verdict.as_str(), UNSOUND | UNDETECTED)
}

pub(crate) fn check(certificate: &Certificate, report: &mut Report) -> Outcome<()> {
    let kind = certificate.kind.as_str();
    if !matches!(kind, "ioco" | "ioconf" | "conf") {
        return rejected(format!("no suite is judged for `{kind}`"));
    }
    if certificate.context != "synchronous" || !certificate.channels.is_empty() {
        return rejected("models and test cases take their steps together");
    }
    let others = certificate.implementation.is_some()
        || certificate.implementation_location.is_some()
        || certificate.complete_inputs.is_some()
        || certificate.property.is_some()
        || certificate.traces.is_some()
        || !certificate.observers.is_empty();
    if others {
        return rejected("test cases are judged by a specification and nothing else");
    }
    let policy = Policy::parse(&certificate.quiescence)?;
    let s = System::of(certificate.specification.as_ref(), policy)?;
    for test in certificate.test.iter().chain(&certificate.suite) {
        check_shape(test)?;
        check_fits(test, kind)?;
    }
    if certificate.verdict == UNDETECTED {
        return undetected(certificate, policy, &s, report);
    }
    match &certificate.test {
        Some(test) if certificate.suite.is_empty() => {
            unsound(certificate, policy, test, &s, report)
        }
        _ => rejected("one test case fails what conforms"),
    }
}

/// A test case for conf offers actions to be agreed on; the others stimulate and observe.
fn check_fits(test: &Test, kind: &str) -> Outcome<()> {
    let fits = |does: TestStep| match does {
        TestStep::End => true,
        TestStep::Offer => kind == "conf",
        TestStep::Stimulate | TestStep::Observe => kind != "conf",
    };
    if test.states.iter().all(|state| fits(state.does)) {
        Ok(())
    } else {
        rejected(format!("{} is no test case for {kind}", test.name))
    }
}

/// Whether a verdict says that an implementation does not conform.
fn claims(verdict: &str) -> bool {
    matches!(verdict, "fail" | "violate-fail")
}

/// Where a specification is after what an implementation that conforms did. It conforms as long as each
/// output and each δ is one of `out(s after σ)` for all its traces σ in the specification. Whoever is
/// silent changes no state, so who has a trace has it without its δs too: each of these that the
/// specification has is followed.
struct Conforming<'s> {
    s: &'s System,
    /// Whether traces hold δ: for ioco they do, for ioconf it ends them.
    suspension: bool,
    policy: Policy,
    views: BTreeSet<States>,
    quiet: bool,
}

impl<'s> Conforming<'s> {
    fn start(s: &'s System, suspension: bool, policy: Policy) -> Outcome<Self> {
        Ok(Self {
            s,
            suspension,
            policy,
            views: BTreeSet::from([s.start()?]),
            quiet: false,
        })
    }

    /// Whether an implementation that conforms may show this output or δ now.
    fn may_show(&self, observed: &str) -> Outcome<bool> {
        // Silence lasts until an input; only a livelock may end by itself.
        if self.quiet && observed != DELTA && self.policy != Policy::Livelock {
            return Ok(false);
        }
        for view in &self.views {
            if !self.s.out(view)?.contains(observed) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn step(&mut self, action: &str) -> Outcome<()> {
        let mut next = BTreeSet::new();
        if action == DELTA {
            next.clone_from(&self.views);
        }
        if action != DELTA || self.suspension {
            for view in &self.views {
                let after = self.s.after(view, action, true)?;
                if !after.is_empty() {
                    next.insert(after);
                }
            }
        }
        if next.len() > MOST_VIEWS {
            return Err(Fault::Undecided("too many silences to leave out".into()));
        }
        self.views = next;
        self.quiet = action == DELTA;
        Ok(())
    }
}

/// A run of the test case that ends in `fail`, and that an implementation which conforms may have.
fn unsound(
    certificate: &Certificate,
    policy: Policy,
    test: &Test,
    s: &System,
    report: &mut Report,
) -> Outcome<()> {
    let conf = certificate.kind == "conf";
    let suspension = certificate.kind == "ioco";
    let mut t = 0;
    let mut ended = None;
    let mut conforming = Conforming::start(s, suspension, policy)?;
    let mut at = s.start()?;
    let mut allowed = BTreeSet::new();
    let observed = match &certificate.observed {
        Some(Observation::Action(action)) => Some(action),
        _ => None,
    };
    let last = certificate.trace.len();
    for (k, action) in certificate.trace.iter().chain(observed).enumerate() {
        let step = k + 1;
        if ended.is_some() {
            return rejected(format!("step {step}: the test case has ended"));
        }
        match next(test, t, action) {
            Some(Next::State(to)) => t = to,
            Some(Next::End(verdict)) => ended = Some(verdict),
            None => {
                return rejected(format!("step {step}: the test case does not take {action}"));
            }
        }
        if !conf && !action.starts_with('?') && !conforming.may_show(action)? {
            return rejected(format!(
                "step {step}: what conforms does not show {action} there"
            ));
        }
        if k == last {
            // It is observed: the places are those before it.
            if action.starts_with('?') {
                return rejected(format!("{action} is the tester's own step"));
            }
            if !conf {
                allowed = may_follow(&conforming, s, test)?;
            }
            break;
        }
        conforming.step(action)?;
        // For ioconf silence is no part of a trace.
        if suspension || action != DELTA {
            at = s.after(&at, action, suspension)?;
        }
    }
    if let Some(Observation::Refusal(refusal)) = &certificate.observed {
        let offered = offers(test, t);
        if !conf || offered != Some(refusal.refuses.iter().cloned().collect()) {
            return rejected("that is not what the test case offers there");
        }
        // conf says something of refusals after traces of the specification only [LTS96, def. 4.7].
        if !at.is_empty() && !may_refuse(s, &at, &refusal.refuses)? {
            return rejected("what conforms does not refuse that there");
        }
        ended = Some(test.states[t].verdict.clone());
    }
    let state = &test.states[t];
    let verdict = match ended {
        Some(verdict) => verdict,
        None if state.does == TestStep::End => state.verdict.clone(),
        None => return rejected("the test case goes on there"),
    };
    if !claims(&verdict) {
        return rejected(format!(
            "the run ends with `{verdict}`, which accuses nobody"
        ));
    }
    report.confirmed.push(format!(
        "run: it ends with `{verdict}`, and an implementation that conforms may have it"
    ));
    let told = actions(&certificate.allowed)?;
    check_list("allowed", &told, &allowed, Clone::clone, report)?;
    check_locations(certificate, s, &at, Vec::new(), report)
}

/// The outputs of either alphabet, and δ, that what conforms may show.
fn may_follow(at: &Conforming<'_>, s: &System, test: &Test) -> Outcome<BTreeSet<String>> {
    let own = test.labels.iter().filter(|(kind, _)| *kind == Kind::Output);
    let own = own.map(|(_, text)| text.clone());
    let all = s.texts(Kind::Output).cloned().chain(own);
    let mut shown = BTreeSet::new();
    for observed in all.chain([DELTA.to_owned()]) {
        if at.may_show(&observed)? {
            shown.insert(observed);
        }
    }
    Ok(shown)
}

fn offers(test: &Test, t: usize) -> Option<BTreeSet<String>> {
    let state = &test.states[t];
    let texts = state.steps.iter().map(|&(l, _)| test.labels[l].1.clone());
    (state.does == TestStep::Offer).then(|| texts.collect())
}

fn may_refuse(s: &System, at: &States, actions: &[String]) -> Outcome<bool> {
    for &state in at {
        if s.refuses(state, actions)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// After a trace of the specification something is wrong that it does not allow, and no test case with
/// this run, or with the run without some of its δs, fails then for sure.
fn undetected(
    certificate: &Certificate,
    policy: Policy,
    s: &System,
    report: &mut Report,
) -> Outcome<()> {
    if certificate.test.is_some() || certificate.suite.is_empty() {
        return rejected("a suite misses an error, and it has test cases");
    }
    let suspension = certificate.kind == "ioco";
    let mut at = s.start()?;
    for (k, action) in certificate.trace.iter().enumerate() {
        at = s.after(&at, action, suspension)?;
        if at.is_empty() {
            let step = k + 1;
            return rejected(format!(
                "step {step}: {action} leaves the specification's traces"
            ));
        }
    }
    let steps = certificate.trace.len();
    report
        .confirmed
        .push(format!("trace: {steps} steps that the specification has"));
    let told = actions(&certificate.allowed)?;
    let (wrong, allowed) = match (&certificate.observed, certificate.kind == "conf") {
        (Some(Observation::Refusal(refusal)), true) => {
            let labels: BTreeSet<&String> = s.texts(Kind::Plain).collect();
            let labels: BTreeSet<&String> = &labels | &s.texts(Kind::Input).collect();
            let labels: BTreeSet<&String> = &labels | &s.texts(Kind::Output).collect();
            if let Some(foreign) = refusal.refuses.iter().find(|a| !labels.contains(a)) {
                return rejected(format!("the specification has no action {foreign}"));
            }
            if may_refuse(s, &at, &refusal.refuses)? {
                return rejected("the specification may refuse that there");
            }
            (Wrong::Refusal(&refusal.refuses), BTreeSet::new())
        }
        (Some(Observation::Action(action)), false) => {
            if action != DELTA && !action.starts_with('!') {
                return rejected(format!("{action} is neither an output nor delta"));
            }
            let quiet = certificate.trace.last().is_some_and(|last| last == DELTA);
            if quiet && action != DELTA && policy != Policy::Livelock {
                return rejected("silence lasts until an input");
            }
            let out = s.out(&at)?;
            if out.contains(action) {
                return rejected(format!("the specification allows {action} there"));
            }
            (Wrong::Action(action), out)
        }
        _ => return rejected("conf misses a refusal, and the others an output or delta"),
    };
    report
        .confirmed
        .push("observed: the specification does not allow it there".to_owned());
    for test in &certificate.suite {
        if detects(test, &certificate.trace, &wrong) {
            return rejected(format!("{} detects it", test.name));
        }
    }
    let count = certificate.suite.len();
    report
        .confirmed
        .push(format!("suite: none of {count} test cases detects it"));
    check_list("allowed", &told, &allowed, Clone::clone, report)?;
    check_locations(certificate, s, &at, Vec::new(), report)
}

/// What is wrong.
enum Wrong<'a> {
    Action(&'a String),
    Refusal(&'a [String]),
}

/// Whether a test case has the run, and fails whatever follows.
fn detects(test: &Test, trace: &[String], wrong: &Wrong<'_>) -> bool {
    let mut at = BTreeSet::from([0]);
    for action in trace {
        let moved = at.iter().filter_map(|&t| match next(test, t, action)? {
            Next::State(to) => Some(to),
            Next::End(_) => None,
        });
        let mut there: BTreeSet<usize> = moved.collect();
        if action == DELTA {
            there.extend(&at);
        }
        at = there;
    }
    let doomed = doomed(test);
    at.iter().any(|&t| match wrong {
        Wrong::Action(action) => match next(test, t, action) {
            Some(Next::State(to)) => doomed[to],
            Some(Next::End(verdict)) => claims(&verdict),
            None => false,
        },
        Wrong::Refusal(refused) => {
            let offered = offers(test, t);
            let within = offered.is_some_and(|set| set.iter().all(|a| refused.contains(a)));
            within && claims(&test.states[t].verdict)
        }
    })
}

/// For each state whether every run from there on fails after finitely many steps, whatever an
/// input-enabled implementation does.
fn doomed(test: &Test) -> Vec<bool> {
    let mut doomed = vec![false; test.states.len()];
    loop {
        let mut changed = false;
        for (t, state) in test.states.iter().enumerate().rev() {
            let mut steps = state.steps.iter().map(|&(_, to)| to).chain(state.theta);
            let all = steps.all(|to| doomed[to]);
            let here = claims(&state.verdict);
            let now = match state.does {
                TestStep::End => here,
                TestStep::Stimulate => all,
                TestStep::Observe if state.theta.is_some() => all,
                TestStep::Observe | TestStep::Offer => all && here,
            };
            changed |= now && !doomed[t];
            doomed[t] |= now;
        }
        if !changed {
            return doomed;
        }
    }
}
