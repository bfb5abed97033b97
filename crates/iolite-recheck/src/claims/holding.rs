//! Positive answers: a set of pairs that contains the start, is closed under the steps, and in which
//! nothing is wrong. Whoever finds such a set has shown that the relation holds: every run of the
//! implementation stays in it.

use std::collections::BTreeSet;

use crate::definitions::observer::{check_observer, observer_step};
use crate::definitions::system::{DELTA, Policy, States, System};
use crate::format::document::{Certificate, Kind, Observer, Pairs};
use crate::{Outcome, Report, rejected};

/// A state of the implementation and the set of states that the specification may be in.
type Pair<'a> = (usize, &'a States);

struct Claim<'c> {
    kind: &'c str,
    i: System,
    s: System,
    sets: Vec<States>,
    /// The set F, and after the pair the state of it.
    traces: Option<&'c Observer>,
    pairs: BTreeSet<(usize, usize, usize)>,
}

/// The claim that a relation holds.
pub(crate) fn relation(certificate: &Certificate, report: &mut Report) -> Outcome<()> {
    let pairs = bare(certificate)?;
    let kind = certificate.kind.as_str();
    let directed = matches!(kind, "iot" | "ioconf" | "ioconf-f" | "ioco" | "uioco");
    if (kind == "ioconf-f") != certificate.traces.is_some() {
        return rejected("ioconf-f and a set of traces belong together");
    }
    if !directed && !matches!(kind, "trace" | "testing" | "conf") {
        return rejected(format!("`{kind}` is no relation whose pairs are listed"));
    }
    if certificate.verdict != "holds" || !certificate.observers.is_empty() {
        return rejected("a relation between models `holds`, without observers");
    }
    let policy = Policy::parse(&certificate.quiescence)?;
    let mut i = System::of(certificate.implementation.as_ref(), policy)?;
    let s = System::of(certificate.specification.as_ref(), policy)?;
    if !i.is_whole() || !s.is_whole() {
        return rejected("a part of a model proves nothing of the rest");
    }
    if let Some(how) = &certificate.complete_inputs {
        i.complete(how, s.labels())?;
    } else if directed {
        let own: BTreeSet<&String> = i.texts(Kind::Input).collect();
        if let Some(input) = s.texts(Kind::Input).find(|input| !own.contains(input)) {
            return rejected(format!("the implementation does not take {input}"));
        }
        if let Some((state, input)) = i.lacks_input()? {
            let state = &i.state(state).state;
            return rejected(format!(
                "{state} of the implementation does not take {input}"
            ));
        }
    }
    if certificate.context == "queues" {
        return super::holding_queues::check(certificate, pairs, (&i, &s), report);
    }
    let claim = Claim::new(kind, i, s, certificate.traces.as_ref(), pairs)?;
    claim.check()?;
    report.confirmed.push(format!(
        "pairs: {} of them, with the start, closed under all steps, and right each",
        claim.pairs.len()
    ));
    Ok(())
}

/// The pairs of a claim that has nothing else to tell.
fn bare(certificate: &Certificate) -> Outcome<&Pairs> {
    let Some(pairs) = &certificate.pairs else {
        return rejected("the pairs are missing");
    };
    let tells = !certificate.trace.is_empty()
        || certificate.observed.is_some()
        || !certificate.allowed.is_empty()
        || !certificate.locations.is_empty()
        || certificate.implementation_location.is_some();
    if tells || !certificate.channels.is_empty() {
        return rejected("a positive answer has no trace, no observation and no channels");
    }
    match (certificate.context.as_str(), &pairs.queues) {
        ("synchronous", None) | ("queues", Some(_)) => {}
        _ => return rejected("queues and places belong together"),
    }
    if certificate.property.is_some() || !pairs.descents.is_empty() {
        return rejected("neither relations nor observers have properties");
    }
    Ok(pairs)
}

impl<'c> Claim<'c> {
    fn new(
        kind: &'c str,
        i: System,
        s: System,
        traces: Option<&'c Observer>,
        told: &Pairs,
    ) -> Outcome<Self> {
        let places = if let Some(traces) = traces {
            check_observer(traces)?;
            let fits = |&f: &usize| f < traces.states.len();
            if told.traces.len() != told.pairs.len() || !told.traces.iter().all(fits) {
                return rejected("each pair has one state of the set of traces");
            }
            told.traces.clone()
        } else if told.traces.is_empty() {
            vec![0; told.pairs.len()]
        } else {
            return rejected("there is no set of traces");
        };
        let mut sets: Vec<States> = Vec::new();
        for set in &told.sets {
            let members: States = set.iter().copied().collect();
            if members.iter().any(|&q| q >= s.count()) || s.close(members.clone())? != members {
                return rejected("a set is not closed under internal actions");
            }
            sets.push(members);
        }
        let fits = |&(p, set): &(usize, usize)| p < i.count() && set < sets.len();
        if !told.pairs.iter().all(fits) {
            return rejected("a pair names a state or a set that is not there");
        }
        Ok(Self {
            kind,
            i,
            s,
            sets,
            traces,
            pairs: told
                .pairs
                .iter()
                .zip(places)
                .map(|(&(p, set), f)| (p, set, f))
                .collect(),
        })
    }

    /// Whether a pair is in the relation; sets are compared, not their numbers.
    fn has(&self, p: usize, set: &States, f: usize) -> bool {
        let same = |k: usize| self.sets[k] == *set;
        self.pairs
            .range((p, 0, 0)..=(p, usize::MAX, usize::MAX))
            .any(|&(_, k, own)| own == f && same(k))
    }

    fn check(&self) -> Outcome<()> {
        let start = self.traces.map_or(0, |traces| traces.initial);
        if !self.has(self.i.initial(), &self.s.start()?, start) {
            return rejected("the pair of the initial states is missing");
        }
        for &(p, set, f) in &self.pairs {
            let pair = (p, &self.sets[set]);
            if self.traces.is_none_or(|traces| traces.marked.contains(&f)) {
                self.check_here(pair)?;
            }
            self.check_steps(pair, f)?;
        }
        Ok(())
    }

    /// What the relation asks of a pair itself.
    fn check_here(&self, (p, set): Pair<'_>) -> Outcome<()> {
        let wrong = |what: &str| {
            let p = self.i.state(p);
            rejected(format!("{p} of the implementation: {what}"))
        };
        match self.kind {
            "iot" | "ioconf" | "ioconf-f" | "ioco" | "uioco" => {
                let own = self.i.out(&States::from([p]))?;
                let allowed = self.s.out(set)?;
                match own.difference(&allowed).next() {
                    Some(x) => wrong(&format!("{x} is not allowed there")),
                    None => Ok(()),
                }
            }
            "trace" => {
                if set.is_empty() {
                    wrong("its trace is none of the specification")
                } else {
                    Ok(())
                }
            }
            // All that p refuses, some state of the set refuses: one that can do no more than p.
            _ if self.kind == "conf" && set.is_empty() => Ok(()),
            _ => {
                let own = enabled(&self.i, p)?;
                for &q in set {
                    if enabled(&self.s, q)?.is_subset(&own) {
                        return Ok(());
                    }
                }
                wrong("it refuses more than the specification may")
            }
        }
    }

    /// Every step of the implementation leads to a pair that is there, as far as the relation speaks of
    /// its trace.
    fn check_steps(&self, (p, set): Pair<'_>, f: usize) -> Outcome<()> {
        let suspension = matches!(self.kind, "ioco" | "uioco");
        let within = !matches!(self.kind, "testing" | "iot" | "ioconf-f");
        for (kind, action, next) in self.i.steps(p)? {
            if kind == Kind::Internal {
                self.wants(next, set, f, "an internal action")?;
                continue;
            }
            let Some(f) = self.follow(f, action) else {
                continue;
            };
            if self.kind == "uioco" && kind == Kind::Input && self.is_refused(set, action)? {
                continue;
            }
            let after = self.s.after(set, action, suspension)?;
            // Only after traces of the specification is anything asked; for ≤tr each must be one.
            if after.is_empty() && within && self.kind != "trace" {
                continue;
            }
            self.wants(next, &after, f, action)?;
        }
        if suspension && self.i.is_quiescent(p)? {
            let after = self.s.after(set, DELTA, true)?;
            if !after.is_empty() {
                self.wants(p, &after, f, DELTA)?;
            }
        }
        Ok(())
    }

    /// The state of F after an action; `None` where no trace of F goes on so.
    fn follow(&self, f: usize, action: &str) -> Option<usize> {
        match self.traces {
            None => Some(f),
            // Only what it names is a trace of it.
            Some(traces) if traces.labels.iter().any(|known| known == action) => {
                observer_step(traces, f, action)
            }
            Some(_) => None,
        }
    }

    fn is_refused(&self, set: &States, input: &str) -> Outcome<bool> {
        for &q in set {
            if self.s.refuses(q, &[input.to_owned()])? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn wants(&self, p: usize, set: &States, f: usize, action: &str) -> Outcome<()> {
        if self.has(p, set, f) {
            return Ok(());
        }
        let p = self.i.state(p);
        rejected(format!("the pair with {p} after {action} is missing"))
    }
}

/// What a state can do, itself or after internal actions.
fn enabled(of: &System, state: usize) -> Outcome<BTreeSet<String>> {
    of.enabled(&of.close(States::from([state]))?)
}

/// The claim that a specification satisfies an observer [SAFE04, def. 6]: pairs of a state and a state of
/// the observer; where the observer is left for good, nothing is asked any more.
pub(crate) fn observer(certificate: &Certificate, report: &mut Report) -> Outcome<()> {
    let told = bare(certificate)?;
    let [observer] = certificate.observers.as_slice() else {
        return rejected("one observer is proved at a time");
    };
    if certificate.verdict != "proved" || certificate.kind != "safety" || !told.sets.is_empty() {
        return rejected("an observer is `proved`, by pairs of states");
    }
    if certificate.context != "synchronous" {
        return rejected("an observer is proved without queues");
    }
    if certificate.implementation.is_some() || certificate.complete_inputs.is_some() {
        return rejected("a specification satisfies an observer by itself");
    }
    if certificate.traces.is_some() || !told.traces.is_empty() {
        return rejected("sets of traces are for ioconf-f");
    }
    check_observer(observer)?;
    let policy = Policy::parse(&certificate.quiescence)?;
    let s = System::of(certificate.specification.as_ref(), policy)?;
    let pairs: BTreeSet<(usize, usize)> = told.pairs.iter().copied().collect();
    if !pairs.contains(&(s.initial(), observer.initial)) {
        return rejected("the pair of the initial states is missing");
    }
    for &(q, w) in &pairs {
        if q >= s.count() || w >= observer.states.len() {
            return rejected("a pair names a state that is not there");
        }
        let place = || format!("{} with {}", s.state(q), observer.states[w]);
        if observer.marked.contains(&w) {
            return rejected(format!("{}: a violation", place()));
        }
        let mut steps: Vec<(bool, &str, usize)> = Vec::new();
        for (kind, action, to) in s.steps(q)? {
            steps.push((kind != Kind::Internal, action, to));
        }
        if s.is_quiescent(q)? {
            steps.push((true, DELTA, q));
        }
        for (visible, action, to) in steps {
            let next = if visible {
                observer_step(observer, w, action)
            } else {
                Some(w)
            };
            if next.is_some_and(|next| !pairs.contains(&(to, next))) {
                return rejected(format!("{}: the pair after {action} is missing", place()));
            }
        }
    }
    report.confirmed.push(format!(
        "pairs: {} of them, with the start, closed under all steps, and none violates",
        pairs.len()
    ));
    Ok(())
}
