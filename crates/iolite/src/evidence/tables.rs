//! Models as the tables that certificates carry, and tables compared with models.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use iolite_derive::{TestCase, TestStateId, TestStep};
use iolite_lts::relation::TraceSet;
use iolite_lts::{Label, LabelId, LabelKind, Labels, Semantics, StateId};
use iolite_property::star_automaton::StarAutomaton;
use iolite_property::{Alphabet, StateSet, StreettAutomaton};
use iolite_recheck::{
    Kind, Observer, Pair, Property, State, Table, Test, TestState, TestStep as Does,
};

use crate::System;

/// States up to which a certificate carries a model whole.
const WHOLE: usize = 500;

/// What a table has to hold beside the initial state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need<'a> {
    /// The actions that are followed, the observed one included.
    pub(super) actions: &'a [&'a str],
    /// Whether they may be taken in another order.
    pub(super) queues: bool,
    /// Whether outputs that are not among them may have been sent.
    pub(super) unobserved: bool,
    /// Whether inputs that are not taken are swallowed.
    pub(super) completed: bool,
}

fn steps(system: &System, state: StateId) -> Vec<(LabelId, StateId)> {
    let mut row = Vec::new();
    system.successors(&state, &mut row);
    row
}

fn kind(kind: LabelKind) -> Option<Kind> {
    match kind {
        LabelKind::Input => Some(Kind::Input),
        LabelKind::Output => Some(Kind::Output),
        LabelKind::Undirected => Some(Kind::Plain),
        LabelKind::Internal => Some(Kind::Internal),
        LabelKind::Delta => None,
    }
}

/// The labels but δ, and their numbers in the table.
fn labels_of(labels: &Labels) -> (Vec<(Kind, String)>, BTreeMap<LabelId, usize>) {
    let mut listed = Vec::new();
    let mut numbers = BTreeMap::new();
    for (id, label) in labels.iter() {
        if let Some(kind) = kind(label.kind) {
            numbers.insert(id, listed.len());
            listed.push((kind, labels.text(id)));
        }
    }
    (listed, numbers)
}

fn state_of(system: &System, state: StateId) -> State {
    State {
        state: system.describe(&state),
        line: system.line(&state),
    }
}

/// All states of a small system, or those that a trace needs.
pub(super) fn table(system: &System, need: Need<'_>) -> Table {
    let wanted = all_states(system, WHOLE).unwrap_or_else(|| states_along(system, need));
    numbered(system, &wanted).0
}

/// All states of a system that has no more than so many, and the number of each.
pub(super) fn whole_table(
    system: &System,
    limit: usize,
) -> Option<(Table, BTreeMap<StateId, usize>)> {
    Some(numbered(system, &all_states(system, limit)?))
}

fn numbered(system: &System, wanted: &BTreeSet<StateId>) -> (Table, BTreeMap<StateId, usize>) {
    let (labels, numbers) = labels_of(system.labels());
    let mut found = BTreeMap::from([(system.initial(), 0)]);
    let mut order = vec![system.initial()];
    let mut rows = Vec::new();
    while let Some(&state) = order.get(rows.len()) {
        if !wanted.contains(&state) {
            rows.push(None);
            continue;
        }
        let mut row = Vec::new();
        for (label, target) in steps(system, state) {
            let Some(&label) = numbers.get(&label) else {
                continue;
            };
            let next = found.len();
            let number = *found.entry(target).or_insert(next);
            if number == next {
                order.push(target);
            }
            row.push((label, number));
        }
        rows.push(Some(row));
    }
    let states = order.iter().map(|&s| state_of(system, s)).collect();
    let table = Table {
        labels,
        states,
        initial: 0,
        rows,
    };
    (table, found)
}

fn all_states(system: &System, limit: usize) -> Option<BTreeSet<StateId>> {
    let mut states = BTreeSet::from([system.initial()]);
    let mut todo = vec![system.initial()];
    while let Some(state) = todo.pop() {
        for (_, target) in steps(system, state) {
            if states.insert(target) {
                if states.len() > limit {
                    return None;
                }
                todo.push(target);
            }
        }
    }
    Some(states)
}

/// At least the states that are looked at when a trace is followed.
fn states_along(system: &System, need: Need<'_>) -> BTreeSet<StateId> {
    let labels = system.labels();
    let mut all = BTreeSet::new();
    let mut at = BTreeSet::from([system.initial()]);
    let close = |at: &mut BTreeSet<StateId>, taken: &dyn Fn(LabelId) -> bool| {
        let mut todo: Vec<StateId> = at.iter().copied().collect();
        while let Some(state) = todo.pop() {
            for (label, target) in steps(system, state) {
                if taken(label) && at.insert(target) {
                    todo.push(target);
                }
            }
        }
    };
    let internal = |label: LabelId| labels.kind(label) == LabelKind::Internal;
    if need.queues {
        let actions: BTreeSet<&str> = need.actions.iter().copied().collect();
        let sent = |label| need.unobserved && labels.kind(label) == LabelKind::Output;
        let taken =
            |label| internal(label) || sent(label) || actions.contains(labels.text(label).as_str());
        close(&mut at, &taken);
        return at;
    }
    close(&mut at, &internal);
    for action in need.actions {
        all.extend(&at);
        let label = labels.get_text(action);
        let stays = *action == "delta" || need.completed && action.starts_with('?');
        let next = at.iter().flat_map(|&s| steps(system, s));
        let mut next: BTreeSet<StateId> = next
            .filter(|(l, _)| Some(*l) == label)
            .map(|(_, target)| target)
            .collect();
        if stays {
            next.extend(&at);
        }
        close(&mut next, &internal);
        at = next;
    }
    all.extend(&at);
    all
}

/// Where a table is not what a model means; `None` where all of it is.
pub(super) fn difference(system: &System, table: &Table) -> Option<String> {
    let (labels, numbers) = labels_of(system.labels());
    if labels != table.labels {
        return Some("the alphabet is another one".to_owned());
    }
    let mut meant = vec![None; table.states.len()];
    let mut todo = VecDeque::from([(table.initial, system.initial())]);
    let mut met = 0;
    while let Some((number, state)) = todo.pop_front() {
        let known = meant.get_mut(number)?;
        match known {
            Some(known) if *known == state => continue,
            Some(_) => return Some(format!("state {number} stands for two")),
            None => *known = Some(state),
        }
        met += 1;
        let told = &table.states[number];
        if *told != state_of(system, state) {
            return Some(format!(
                "{told} is {} in the model",
                state_of(system, state)
            ));
        }
        let Some(Some(row)) = table.rows.get(number) else {
            continue;
        };
        let own = steps(system, state).into_iter();
        let own = own.filter_map(|(label, target)| Some((*numbers.get(&label)?, target)));
        let own: Vec<(usize, StateId)> = own.collect();
        let same = own.len() == row.len() && own.iter().zip(row).all(|(o, t)| o.0 == t.0);
        if !same {
            return Some(format!("{told} has other transitions in the model"));
        }
        todo.extend(
            row.iter()
                .zip(own)
                .map(|(&(_, number), (_, to))| (number, to)),
        );
    }
    (met < table.states.len()).then(|| "it has a state that nothing leads to".to_owned())
}

/// A deterministic automaton with marks.
pub(super) fn observer(
    reference: String,
    automaton: &StarAutomaton,
    is_marked: impl Fn(StateId) -> bool,
) -> Observer {
    let labels = automaton.labels();
    let visible = labels.iter().filter(|(_, l)| l.kind != LabelKind::Internal);
    let visible: Vec<LabelId> = visible.map(|(id, _)| id).collect();
    let states = || automaton.states();
    let mut steps = Vec::new();
    for state in states() {
        for (number, &label) in visible.iter().enumerate() {
            if let Some(to) = automaton.step(state, label) {
                steps.push((state.index(), number, to.index()));
            }
        }
    }
    Observer {
        reference,
        name: automaton.name().to_owned(),
        labels: visible.iter().map(|&l| labels.text(l)).collect(),
        states: states().map(|s| automaton.place(s).name.clone()).collect(),
        initial: automaton.initial().index(),
        marked: states()
            .filter(|&s| is_marked(s))
            .map(StateId::index)
            .collect(),
        steps,
    }
}

/// A test case. Verdicts on outputs that pre-empt a stimulus are not part of it: where test case and
/// model take their steps together, nothing does.
pub(super) fn test(place: &str, case: &TestCase) -> Test {
    let (labels, numbers) = labels_of(case.labels());
    let row = |steps: &[(LabelId, TestStateId)]| -> Vec<(usize, usize)> {
        let number = |&(l, to): &(LabelId, TestStateId)| Some((*numbers.get(&l)?, to.index()));
        steps.iter().filter_map(number).collect()
    };
    let state = |state: &iolite_derive::TestState| {
        let mut theta = None;
        let (does, steps) = match &state.step {
            TestStep::End => (Does::End, Vec::new()),
            TestStep::Stimulate { stimulus, next, .. } => {
                (Does::Stimulate, row(&[(*stimulus, *next)]))
            }
            TestStep::Observe {
                outputs,
                quiescence,
            } => {
                theta = quiescence.map(TestStateId::index);
                (Does::Observe, row(outputs))
            }
            TestStep::Offer { actions } => (Does::Offer, row(actions)),
        };
        TestState {
            does,
            verdict: state.verdict.name().to_owned(),
            locations: state.locations.to_vec(),
            steps,
            theta,
        }
    };
    Test {
        reference: place.to_owned(),
        name: case.name().to_owned(),
        criterion: case.criterion().name().to_owned(),
        labels,
        states: case.states().iter().map(state).collect(),
    }
}

/// A set of traces as an acceptor.
pub(super) fn trace_set(reference: String, set: &TraceSet, labels: &Labels) -> Observer {
    numbered_trace_set(reference, set, labels).0
}

/// The same, and the number of each state in it.
pub(super) fn numbered_trace_set(
    reference: String,
    set: &TraceSet,
    labels: &Labels,
) -> (Observer, BTreeMap<StateId, usize>) {
    let visible = labels.iter().filter(|(_, l)| l.kind.is_visible());
    let visible: Vec<LabelId> = visible.map(|(id, _)| id).collect();
    let mut numbers = BTreeMap::from([(set.initial(), 0)]);
    let mut order = vec![set.initial()];
    let mut steps = Vec::new();
    let mut done = 0;
    while let Some(&state) = order.get(done) {
        for (label, &id) in visible.iter().enumerate() {
            if let Some(to) = set.follow(state, id) {
                let next = numbers.len();
                let number = *numbers.entry(to).or_insert(next);
                if number == next {
                    order.push(to);
                }
                steps.push((done, label, number));
            }
        }
        done += 1;
    }
    let accepts = |&(_, s): &(usize, &StateId)| set.accepts(*s);
    let table = Observer {
        name: reference.clone(),
        reference,
        labels: visible.iter().map(|&l| labels.text(l)).collect(),
        states: (0..order.len()).map(|k| k.to_string()).collect(),
        initial: 0,
        marked: order
            .iter()
            .enumerate()
            .filter(accepts)
            .map(|(k, _)| k)
            .collect(),
        steps,
    };
    (table, numbers)
}

/// Which letters these actions are by their values, where the property has guards on them.
pub(super) fn letters_of_values<'a>(
    sigma: &Alphabet,
    events: impl IntoIterator<Item = &'a String>,
) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    if sigma.guarded().is_empty() {
        return values;
    }
    for event in events {
        let label = Label::parse(event);
        let kinds = [label.kind, LabelKind::Undirected];
        let mut readings = kinds.iter().map(|&kind| sigma.read(kind, &label.name));
        let letter = readings.find_map(|r| r.letter());
        if let Some(letter) = letter.filter(|&l| sigma.cell_of(l).is_some()) {
            values.insert(event.clone(), sigma.text(letter));
        }
    }
    values
}

/// A property's automaton. Words that it leaves open count as its own, so that they fail nothing. `events` are
/// the actions whose letters depend on their values.
pub(super) fn property<'a>(
    reference: String,
    relation: &str,
    automaton: &StreettAutomaton,
    events: impl IntoIterator<Item = &'a String>,
) -> Property {
    let (s, sigma) = (automaton.structure(), automaton.alphabet());
    let numbers = |set: &StateSet| -> Vec<usize> {
        let members = s.states().filter(|&q| set.contains(q));
        members.map(StateId::index).collect()
    };
    let open = automaton.open();
    let finite = |q: &StateId| automaton.finite().contains(*q) || open.contains(*q);
    Property {
        reference,
        relation: relation.to_owned(),
        letters: sigma.iter().map(|l| sigma.text(l)).collect(),
        values: letters_of_values(sigma, events),
        initial: s.initial().index(),
        rows: s
            .states()
            .map(|q| s.row(q).iter().map(|to| to.index()).collect())
            .collect(),
        finite: s.states().filter(finite).map(StateId::index).collect(),
        pairs: automaton
            .pairs()
            .iter()
            .map(|p| Pair {
                recurrent: numbers(&p.recurrent),
                persistent: numbers(&p.persistent),
            })
            .collect(),
    }
}

/// The same for a property that is satisfied: finite words that it leaves open are not in it for certain.
pub(super) fn closed_property<'a>(
    reference: String,
    automaton: &StreettAutomaton,
    events: impl IntoIterator<Item = &'a String>,
) -> Property {
    let mut property = property(reference, "inclusion", automaton, events);
    let open = automaton.open();
    property.finite.retain(|&q| {
        automaton.finite().contains(StateId::new(q)) && !open.contains(StateId::new(q))
    });
    property
}
