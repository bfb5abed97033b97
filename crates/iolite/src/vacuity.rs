//! Positive answers that say less than they seem to.
//!
//! `holds` and `proved` are true also where nothing could have gone wrong: the two models share no
//! action, the observer cannot be violated by anything. Such an answer comes with a warning.

use std::collections::BTreeSet;
use std::time::Duration;

use iolite_derive::{LetterMap, ModelRef, TestCase, TestState, TestStep};
use iolite_expr::Solver;
use iolite_lts::relation::{Relation, TraceSet};
use iolite_lts::{
    Label, LabelId, LabelKind, Labels, QuiescencePolicy, Semantics, StateId, Suspension,
};
use iolite_property::{Determinacy, Observer, Reading, StreettAutomaton};
use iolite_sts::analysis::{self, VerifyBudget};
use iolite_sts::{Iosts, LocationId};

use crate::ExplicitSpec;

/// What it may cost to find out whether an observer with data can be violated by anything at all.
const ALONE: VerifyBudget = VerifyBudget {
    steps: 6_000,
    time: Duration::from_secs(2),
    question: Duration::from_millis(200),
};

/// States that are looked at for an action that a model does; beyond them it is taken to do it.
const LOOK: usize = 1_000_000;

/// Whether a system can take a step with a wanted label, δ included. The walk ends at the first one,
/// which most models have near their initial state; a model that is too large to know is taken to
/// have one.
fn takes<M: Semantics<State = StateId>>(
    system: &M,
    policy: QuiescencePolicy,
    wanted: impl Fn(LabelId) -> bool,
) -> bool {
    let view = Suspension::new(system, policy);
    // States are numbered densely, so a flag for each number will do.
    let mut seen: Vec<bool> = Vec::new();
    let mut reach = |state: StateId| {
        if seen.len() <= state.index() {
            seen.resize(state.index() + 1, false);
        }
        !std::mem::replace(&mut seen[state.index()], true)
    };
    let mut todo = vec![view.initial()];
    reach(view.initial());
    let mut row = Vec::new();
    let mut looked = 0;
    while let Some(state) = todo.pop() {
        looked += 1;
        if looked > LOOK {
            return true;
        }
        row.clear();
        view.successors(&state, &mut row);
        for &(label, target) in &row {
            if wanted(label) {
                return true;
            }
            if reach(target) {
                todo.push(target);
            }
        }
    }
    false
}

/// Why it says little that a relation holds.
pub(crate) fn of_relation(
    relation: Relation,
    implementation: &ExplicitSpec,
    specification: &ExplicitSpec,
    traces: Option<&(TraceSet, Labels)>,
    policy: QuiescencePolicy,
) -> Vec<String> {
    let mut found = Vec::new();
    let (i, s) = (implementation.reference(), specification.reference());
    let visible = |labels: &Labels| -> BTreeSet<(LabelKind, Box<str>)> {
        let all = labels.iter().map(|(_, l)| l);
        let all = all.filter(|l| l.kind.is_visible() && l.kind != LabelKind::Delta);
        all.map(|l| (l.kind, l.name.clone())).collect()
    };
    if visible(implementation.labels()).is_disjoint(&visible(specification.labels())) {
        found.push(format!("{i} and {s} share no action"));
    }
    if traces.is_some_and(|(f, labels)| is_empty(f, labels)) {
        found.push("the set F holds no trace, so nothing was compared".to_owned());
    }
    let labels = implementation.labels();
    let directed = relation.is_directed();
    let compared = |l: LabelId| match labels.kind(l) {
        LabelKind::Output => true,
        LabelKind::Delta => false,
        kind => !directed && kind.is_visible(),
    };
    if !takes(&implementation.system(), policy, compared) {
        found.push(if directed {
            format!("{i} never gives an output, so only its silence was compared")
        } else {
            format!("{i} never does anything that can be seen")
        });
    }
    found
}

/// Why it says little that a model passes a suite.
pub(crate) fn of_suite(
    implementation: &ExplicitSpec,
    cases: &[&TestCase],
    policy: QuiescencePolicy,
) -> Vec<String> {
    let mut found = Vec::new();
    let (i, labels) = (implementation.reference(), implementation.labels());
    let given = |case: &&TestCase| {
        let stimulus = |s: &TestState| match s.step {
            TestStep::Stimulate { stimulus, .. } => Some(case.labels().label(stimulus).clone()),
            _ => None,
        };
        case.states()
            .iter()
            .filter_map(stimulus)
            .collect::<Vec<_>>()
    };
    let stimuli: Vec<_> = cases.iter().flat_map(given).collect();
    let knows = |l: &Label| labels.get(l.kind, &l.name).is_some();
    if !stimuli.is_empty() && !stimuli.iter().any(knows) {
        found.push(format!("{i} knows no input that the suite gives"));
    }
    let observes = |case: &&TestCase| {
        let mut states = case.states().iter();
        states.any(|s| matches!(s.step, TestStep::Observe { .. }))
    };
    let is_output = |l: LabelId| labels.kind(l) == LabelKind::Output;
    let silent = !takes(&implementation.system(), policy, is_output);
    if silent && cases.iter().any(observes) {
        found.push(format!(
            "{i} never gives an output, so only its silence was tested"
        ));
    }
    found
}

/// Whether a set of traces has no member.
fn is_empty(set: &TraceSet, labels: &Labels) -> bool {
    let mut seen = BTreeSet::from([set.initial()]);
    let mut todo = vec![set.initial()];
    while let Some(state) = todo.pop() {
        if set.accepts(state) {
            return false;
        }
        for (label, _) in labels.iter() {
            if let Some(next) = set.follow(state, label)
                && seen.insert(next)
            {
                todo.push(next);
            }
        }
    }
    true
}

/// Why it says little that a system satisfies an observer.
pub(crate) fn of_observer(
    observer: &Observer,
    spec: &ExplicitSpec,
    policy: QuiescencePolicy,
) -> Option<String> {
    let name = observer.name();
    if !observer.can_be_violated() {
        return Some(unreachable_violation(name));
    }
    let automaton = observer.automaton();
    let violates = |(_, to): &(LabelId, StateId)| observer.is_violate(*to);
    let steps = automaton.states().flat_map(|q| automaton.steps(q));
    let last: BTreeSet<LabelId> = steps.filter(violates).map(|(l, _)| l).collect();
    let labels = automaton.labels();
    let own = |l: &LabelId| {
        let label = labels.label(*l);
        spec.labels().get(label.kind, &label.name)
    };
    let violating: BTreeSet<LabelId> = last.iter().filter_map(own).collect();
    if !violating.is_empty() && takes(&spec.system(), policy, |l| violating.contains(&l)) {
        return None;
    }
    let last: Vec<String> = last.iter().take(5).map(|&l| labels.text(l)).collect();
    Some(format!(
        "{} never does anything that would violate {name} ({})",
        spec.reference(),
        last.join(", ")
    ))
}

fn unreachable_violation(name: &str) -> String {
    format!("no violating state of {name} can be reached, whatever a system does")
}

/// The same for an observer with data: by itself, whatever actions come with whatever values. Where that is not
/// found out soon nothing is said.
pub(crate) fn of_data_observer(
    name: &str,
    observer: &Iosts,
    violate: &[LocationId],
    solver: &mut Solver,
) -> Option<String> {
    let answer = analysis::verify(observer, violate, solver, ALONE);
    matches!(answer, analysis::Answer::Proved(_)).then(|| unreachable_violation(name))
}

/// Why it says little that a relation between models with data holds, by the actions that transitions carry.
pub(crate) fn of_data_relation(
    (i, implementation): (&ModelRef, &Iosts),
    (s, specification): (&ModelRef, &Iosts),
) -> Vec<String> {
    let carried = |model: &Iosts| -> BTreeSet<(LabelKind, Box<str>)> {
        let taken = model.transitions().filter(|(_, t)| !t.guard.is_false());
        let gates = taken.map(|(_, t)| model.gate(t.action));
        let visible = gates.filter(|g| matches!(g.kind, LabelKind::Input | LabelKind::Output));
        visible.map(|g| (g.kind, g.name.clone())).collect()
    };
    let (own, others) = (carried(implementation), carried(specification));
    let mut found = Vec::new();
    if own.is_disjoint(&others) {
        found.push(format!("{i} and {s} share no action"));
    }
    if own.iter().all(|(kind, _)| *kind != LabelKind::Output) {
        found.push(format!(
            "{i} never gives an output, so only its silence was compared"
        ));
    }
    found
}

/// Why it says little that a system satisfies a property.
pub(crate) fn of_property(
    name: &str,
    automaton: &StreettAutomaton,
    letters: &LetterMap,
    labels: &Labels,
    model: &ModelRef,
) -> Option<String> {
    if !labels.iter().any(|(l, _)| letters.letter(l).is_some()) {
        return Some(format!(
            "{name} knows no action of {model}, so it judges the empty sequence"
        ));
    }
    let determined = Determinacy::new(automaton, Reading::FiniteAndInfinite).ok()?;
    let initial = automaton.structure().initial();
    let always = determined.positive.contains(initial) && !automaton.open().contains(initial);
    always.then(|| format!("{name} holds of every sequence, whatever a system does"))
}
