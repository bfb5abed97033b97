//! The choices of the derivation algorithm that ioco, ioconf and `ioconf_F` share: stop, stimulate or
//! observe.

use std::sync::Arc;

use iolite_lts::{LabelId, Labels};

use crate::oracle::SharedPlaces;
use crate::testcase::arena::Arena;
use crate::{
    Criterion, FiniteOracle, Meaning, ModelRef, TestCase, TestState, TestStateId, TestStep, Verdict,
};

/// The test case that follows `trace` and then checks the next observation; what leaves the trace
/// without being wrong ends with `leaving`: `pass` in [LTS96, def. A.6].
pub(crate) fn along<O: FiniteOracle>(
    oracle: &mut O,
    initial: O::State,
    trace: &[LabelId],
    leaving: Verdict,
    arena: &mut Arena,
) -> TestStateId {
    let root = arena.hole();
    let (mut id, mut at) = (root, initial);
    let mut stimuli = Vec::new();
    for &label in trace {
        stimuli.clear();
        oracle.inputs_from(at, &mut stimuli);
        let next_id = arena.hole();
        let places = oracle.places(&at).shared();
        let state = if let Some(&(_, next)) = stimuli.iter().find(|&&(l, _)| l == label) {
            let state = stimulate_state(oracle, at, label, next_id, places);
            at = next;
            state
        } else {
            let wanted = follow(oracle, at, label);
            let leave = &mut |arena: &mut Arena, _| arena.verdict(leaving);
            let mut state = observe_state(oracle, at, arena, leave, places);
            if state.verdict == Verdict::Pass {
                // Silence ends the run here, and is not what the trace has.
                state.verdict = leaving;
            }
            at = wanted.expect("the trace is one of the oracle's");
            redirect(state, label, next_id)
        };
        arena.states[id.index()] = state;
        id = next_id;
    }
    let places = oracle.places(&at).shared();
    let end = &mut |arena: &mut Arena, _| arena.verdict(Verdict::Pass);
    arena.states[id.index()] = observe_state(oracle, at, arena, end, places);
    root
}

fn follow<O: FiniteOracle>(oracle: &mut O, at: O::State, label: LabelId) -> Option<O::State> {
    match oracle.meaning(at, label) {
        Meaning::Allowed(next) => Some(next),
        _ => None,
    }
}

/// The same state with another target of one observation.
pub(crate) fn redirect(mut state: TestState, label: LabelId, to: TestStateId) -> TestState {
    if let TestStep::Observe {
        outputs,
        quiescence,
    } = &mut state.step
    {
        if label == LabelId::DELTA {
            *quiescence = Some(to);
        }
        for (l, target) in outputs {
            if *l == label {
                *target = to;
            }
        }
    }
    state
}

/// Choice 2 of the algorithm.
pub(crate) fn stimulate_state<O: FiniteOracle>(
    oracle: &mut O,
    at: O::State,
    stimulus: LabelId,
    next: TestStateId,
    places: SharedPlaces,
) -> TestState {
    let mut outputs = Vec::new();
    oracle.outputs_from(at, &mut outputs);
    let preempted = outputs
        .into_iter()
        .filter(|(_, meaning)| *meaning == Meaning::Forbidden)
        .map(|(label, _)| (label, Verdict::Fail))
        .collect();
    TestState {
        step: TestStep::Stimulate {
            stimulus,
            next,
            preempted,
        },
        verdict: Verdict::Pass,
        locations: places.locations,
        places: places.names,
    }
}

/// Choice 3 of the algorithm; `grow` gives the state in which a right observation goes on.
pub(crate) fn observe_state<O: FiniteOracle>(
    oracle: &mut O,
    at: O::State,
    arena: &mut Arena,
    grow: &mut impl FnMut(&mut Arena, O::State) -> TestStateId,
    places: SharedPlaces,
) -> TestState {
    let mut meanings = Vec::new();
    oracle.outputs_from(at, &mut meanings);
    let mut target = |arena: &mut Arena, meaning| match meaning {
        Meaning::Forbidden => arena.verdict(Verdict::Fail),
        Meaning::Ends | Meaning::Unspecified => arena.verdict(Verdict::Pass),
        Meaning::Allowed(next) => grow(arena, next),
    };
    let outputs = meanings
        .into_iter()
        .map(|(label, meaning)| (label, target(arena, meaning)))
        .collect();
    let silence = oracle.meaning(at, LabelId::DELTA);
    let (quiescence, verdict) = if oracle.criterion().ends_at_delta() {
        let verdict = match silence {
            Meaning::Forbidden => Verdict::Fail,
            _ => Verdict::Pass,
        };
        (None, verdict)
    } else {
        // ν of a state from which θ leads on is never a run's verdict; "not ended" is what it is.
        (Some(target(arena, silence)), Verdict::Inconc)
    };
    TestState {
        step: TestStep::Observe {
            outputs,
            quiescence,
        },
        verdict,
        locations: places.locations,
        places: places.names,
    }
}

/// The states as a test case, named `<model>-<n>`.
pub(crate) fn numbered_case(
    criterion: Criterion,
    model: &ModelRef,
    labels: &Arc<Labels>,
    n: usize,
    states: Vec<TestState>,
) -> TestCase {
    let name = match &model.name {
        None => format!("{criterion}-{n}"),
        Some(name) => format!("{name}-{n}"),
    };
    TestCase::new(name, criterion, model.clone(), Arc::clone(labels), states)
        .expect("the algorithm gives test cases")
}
