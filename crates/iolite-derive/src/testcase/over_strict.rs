//! Where a test case forbids what a specification allows, so that its `fail` proves nothing about it.

use std::collections::VecDeque;

use iolite_lts::LabelId;
use rustc_hash::FxHashSet;

use crate::{FiniteOracle, Meaning, TestCase, TestStateId, TestStep};

/// The shortest trace of the specification after which the test case fails an observation that the
/// specification allows, and the observation; `None` where there is none, among the first `limit`
/// pairs of a state of the test case and one of the oracle.
pub fn over_strict<O: FiniteOracle>(
    case: &TestCase,
    oracle: &mut O,
    limit: usize,
) -> Option<(Vec<String>, String)> {
    let start = (case.initial(), oracle.start());
    let mut seen = FxHashSet::default();
    seen.insert(start);
    let mut queue = VecDeque::from([(start, Vec::<String>::new())]);
    let fails = |t: TestStateId| {
        let to = case.state(t);
        to.step == TestStep::End && to.verdict.is_failing()
    };
    while let Some(((at, set), trace)) = queue.pop_front() {
        let state = case.state(at);
        let mut go = |next: TestStateId, to: O::State, text: String| {
            if seen.len() < limit && seen.insert((next, to)) {
                let mut longer = trace.clone();
                longer.push(text);
                queue.push_back(((next, to), longer));
            }
        };
        match &state.step {
            TestStep::End | TestStep::Offer { .. } => {}
            TestStep::Stimulate {
                stimulus,
                next,
                preempted,
            } => {
                for (label, _) in preempted.iter().filter(|(_, v)| v.is_failing()) {
                    let text = case.labels().text(*label);
                    let own = oracle.labels().get_text(&text);
                    if let Some(Meaning::Allowed(_)) = own.map(|l| oracle.meaning(set, l)) {
                        return Some((trace, text));
                    }
                }
                let text = case.labels().text(*stimulus);
                let mut inputs = Vec::new();
                oracle.inputs_from(set, &mut inputs);
                let own = oracle.labels().get_text(&text);
                if let Some(&(_, to)) = inputs.iter().find(|(l, _)| Some(*l) == own) {
                    go(*next, to, text);
                }
            }
            TestStep::Observe {
                outputs,
                quiescence,
            } => {
                let mut row: Vec<(LabelId, Option<TestStateId>)> =
                    outputs.iter().map(|&(l, t)| (l, Some(t))).collect();
                row.push((LabelId::DELTA, *quiescence));
                for (label, target) in row {
                    let text = case.labels().text(label);
                    let own = match label {
                        LabelId::DELTA => Some(LabelId::DELTA),
                        _ => oracle.labels().get_text(&text),
                    };
                    let Some(Meaning::Allowed(to)) = own.map(|l| oracle.meaning(set, l)) else {
                        continue;
                    };
                    let forbidden = match target {
                        Some(target) => fails(target),
                        None => state.verdict.is_failing(),
                    };
                    if forbidden {
                        return Some((trace, text));
                    }
                    if let Some(target) = target {
                        go(target, to, text);
                    }
                }
            }
        }
    }
    None
}
