//! The declarations of a file by name, and the alphabets of its systems.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use iolite_lts::{LabelId, LabelKind, Labels};

use crate::gate::is_instance;
use crate::syntax::ast::{
    Behaviour, BehaviourKind, Event, EventKind, File, Gate, Item, Machine, Role, Sync,
};
use crate::syntax::quote;
use crate::{Diagnostic, Span, codes, diagnostic, gate_parameters, lower};

/// Declarations by name; of two with one name the first counts.
#[derive(Clone, Debug)]
pub struct Names<'f> {
    items: BTreeMap<&'f str, &'f Item>,
    file: &'f File,
    alphabets: OnceCell<Alphabets<'f>>,
}

impl<'f> Names<'f> {
    /// Looks at every declaration of the file that has no syntax error.
    pub fn new(file: &'f File) -> Self {
        let mut items = BTreeMap::new();
        for item in file.sound_items() {
            items.entry(item.name().text.as_str()).or_insert(item);
        }
        Self {
            items,
            file,
            alphabets: OnceCell::new(),
        }
    }

    /// The declaration of a name.
    pub fn get(&self, name: &str) -> Option<&'f Item> {
        self.items.get(name).copied()
    }

    /// Whether a declaration with a syntax error may have this name: nothing is known of it then.
    pub(crate) fn is_spoilt(&self, name: &str) -> bool {
        !self.items.contains_key(name) && self.file.spoilt.may_declare(name)
    }

    /// All declarations, by name.
    pub fn iter(&self) -> impl Iterator<Item = &'f Item> + '_ {
        self.items.values().copied()
    }

    /// The declaration of a system or process, or why there is none.
    pub(crate) fn behaviour(&self, name: &str, span: Span) -> Result<&'f Item, Diagnostic> {
        match self.get(name) {
            Some(
                item @ (Item::Definition(_)
                | Item::Machine(Machine {
                    role: Role::System | Role::Test,
                    ..
                })),
            ) => Ok(item),
            Some(item) => Err(Diagnostic::error(
                codes::WRONG_KIND,
                span,
                format!(
                    "`{name}` is declared as {}, not as a system or process",
                    item.keyword()
                ),
            )
            .related(item.name().span, "declared here")),
            None => {
                let candidates = self
                    .iter()
                    .filter(|i| matches!(i.keyword(), "system" | "process"))
                    .map(|i| i.name().text.as_str());
                Err(Diagnostic::error(
                    codes::UNKNOWN_NAME,
                    span,
                    format!("no system or process is called `{name}`"),
                )
                .maybe_hint(diagnostic::did_you_mean(name, candidates)))
            }
        }
    }

    /// The alphabet of a system or process: what it declares, or what occurs in it. It may have
    /// labels that no reachable transition carries. `None` where there is no such system, or its
    /// actions carry too many values to follow.
    pub fn alphabet(&self, name: &str) -> Option<Labels> {
        if let Some(distinct) = gate_parameters::distinct(self.file) {
            return Names::new(&distinct).alphabet_by_name(name);
        }
        self.alphabet_by_name(name)
    }

    /// The same where no action's name means two.
    fn alphabet_by_name(&self, name: &str) -> Option<Labels> {
        let actions = self.actions_of(name, self.alphabets())?;
        if actions.iter().any(|a| a.has_values) && !lower::has_data(self.file, name) {
            // Only the steps tell which values there are.
            let lts = lower::lower_system(self.file, name, MOST_EXPLORED).ok()?;
            return Some(lts.labels().clone());
        }
        let mut labels = Labels::new();
        for action in actions {
            labels.intern(action.kind, &action.name);
        }
        Some(labels)
    }

    /// The alphabet of a behaviour, as far as its calls are known, without actions that carry
    /// values.
    pub(crate) fn labels_of_body(&self, behaviour: &Behaviour) -> Vec<(LabelKind, String)> {
        let actions = self.behaviour_actions(behaviour, self.alphabets());
        let plain = actions.into_iter().flatten().filter(|a| !a.has_values);
        plain.map(|a| (a.kind, a.name)).collect()
    }

    /// The actions of a behaviour, as far as its calls are known, whatever values they carry.
    pub(crate) fn actions_of_body(&self, behaviour: &Behaviour) -> Vec<(LabelKind, String)> {
        let actions = self.behaviour_actions(behaviour, self.alphabets());
        actions
            .into_iter()
            .flatten()
            .map(|a| (a.kind, a.name))
            .collect()
    }

    /// The bare names of the visible actions that occur in a behaviour; `None` where it calls
    /// something unknown.
    pub(crate) fn actions_in(&self, behaviour: &Behaviour) -> Option<BTreeSet<String>> {
        let actions = self.behaviour_actions(behaviour, self.alphabets())?;
        let visible = actions.into_iter().filter(|a| a.kind.is_visible());
        Some(visible.map(|a| a.name).collect())
    }

    /// The alphabets of all definitions, as a fixed point, since processes call one another.
    fn alphabets(&self) -> &Alphabets<'f> {
        self.alphabets.get_or_init(|| {
            let mut known: Alphabets<'f> = self
                .iter()
                .filter_map(|item| match item {
                    Item::Definition(d) => Some((d.name.text.as_str(), Some(Vec::new()))),
                    _ => None,
                })
                .collect();
            let (order, callers) = self.calls();
            let mut waiting: BTreeSet<&str> = order.iter().copied().collect();
            let mut left = order.len().saturating_mul(MOST_ROUNDS);
            let mut queue = VecDeque::from(order);
            while let Some(name) = queue.pop_front() {
                waiting.remove(name);
                let Some(Item::Definition(d)) = self.get(name) else {
                    continue;
                };
                let declared = d.over.iter().flatten().filter_map(event_action);
                let actions = self
                    .behaviour_actions(&d.body, &known)
                    .map(|inner| distinct(declared.chain(inner)));
                left = left.saturating_sub(1);
                if known.get(name) == Some(&actions) || left == 0 {
                    continue;
                }
                known.insert(name, actions);
                for &caller in callers.get(name).into_iter().flatten() {
                    if waiting.insert(caller) {
                        queue.push_back(caller);
                    }
                }
            }
            known
        })
    }

    /// The definitions, what is called before what calls it as far as there is no cycle; and the
    /// callers of each.
    pub(crate) fn calls(&self) -> (Vec<&'f str>, BTreeMap<&'f str, BTreeSet<&'f str>>) {
        let mut callees: BTreeMap<&'f str, Vec<&'f str>> = BTreeMap::new();
        let mut callers: BTreeMap<&'f str, BTreeSet<&'f str>> = BTreeMap::new();
        for item in self.iter() {
            if let Item::Definition(d) = item {
                let name = d.name.text.as_str();
                let mut called = Vec::new();
                d.body.calls(&mut |call| called.push(call.text.as_str()));
                for callee in &called {
                    callers.entry(callee).or_default().insert(name);
                }
                callees.insert(name, called);
            }
        }
        let mut order = Vec::with_capacity(callees.len());
        let mut seen = BTreeSet::new();
        for &root in callees.keys() {
            let mut path = vec![(root, 0)];
            while let Some((name, k)) = path.pop() {
                if k == 0 && !seen.insert(name) {
                    continue;
                }
                match callees.get(name).and_then(|c| c.get(k)) {
                    Some(&callee) => {
                        path.push((name, k + 1));
                        if callees.contains_key(callee) {
                            path.push((callee, 0));
                        }
                    }
                    None => order.push(name),
                }
            }
        }
        (order, callers)
    }

    fn actions_of(&self, name: &str, known: &Alphabets<'f>) -> Option<Vec<Action>> {
        match self.get(name)? {
            Item::Machine(machine) => {
                let labels = machine_labels(machine);
                let labels = labels.iter().skip(2);
                Some(
                    labels
                        .map(|(_, l)| Action::plain(l.kind, &l.name))
                        .collect(),
                )
            }
            Item::Definition(_) => known.get(name)?.clone(),
            _ => None,
        }
    }

    fn behaviour_actions(
        &self,
        behaviour: &Behaviour,
        known: &Alphabets<'f>,
    ) -> Option<Vec<Action>> {
        let mut actions = Vec::new();
        if let BehaviourKind::Prefix { events, .. } = &behaviour.kind {
            actions.extend(events.iter().filter_map(event_action));
        }
        for part in behaviour.parts() {
            actions.extend(self.behaviour_actions(part, known)?);
        }
        match &behaviour.kind {
            BehaviourKind::Call { name, gates, .. } => {
                actions = self.actions_of(&name.text, known)?;
                if let Some(Item::Definition(called)) = self.get(&name.text) {
                    let formal = |a: &Action| called.gates.iter().position(|g| g.text == a.name);
                    for action in &mut actions {
                        if let Some(gate) = formal(action).and_then(|k| gates.get(k)) {
                            action.name.clone_from(&gate.text);
                        }
                    }
                }
            }
            BehaviourKind::Parallel { sync, .. } => merge_gates(sync, &mut actions),
            BehaviourKind::Hide { labels, .. } => {
                actions.retain(|a| !labels.iter().any(|gate| is_whole(gate, a)));
            }
            BehaviourKind::Rename { pairs, .. } => rename(pairs, &mut actions),
            BehaviourKind::Stop
            | BehaviourKind::Exit(_)
            | BehaviourKind::Let { .. }
            | BehaviourKind::ChoiceOver { .. }
            | BehaviourKind::Enable { .. }
            | BehaviourKind::Disable(_)
            | BehaviourKind::Error
            | BehaviourKind::Prefix { .. }
            | BehaviourKind::Guard { .. }
            | BehaviourKind::Choice(_)
            | BehaviourKind::Each { .. } => {}
        }
        Some(distinct(actions))
    }
}

/// An action that occurs somewhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Action {
    kind: LabelKind,
    name: String,
    /// Whether it carries values, so that its labels are not known by the text alone.
    has_values: bool,
}

impl Action {
    fn plain(kind: LabelKind, name: &str) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            has_values: false,
        }
    }
}

/// Whether a gate stands for all of an action.
fn is_whole(gate: &Gate, action: &Action) -> bool {
    gate.values.is_none() && is_instance(&action.name, &gate.name.text)
}

fn rename(pairs: &[(Gate, Gate)], actions: &mut Vec<Action>) {
    let mut more = Vec::new();
    for action in actions.iter_mut() {
        let instances = pairs.iter().filter(|(old, _)| {
            old.values.is_some() && action.has_values && old.name.text == action.name
        });
        for (_, new) in instances {
            more.push(Action {
                kind: action.kind,
                name: new.name.text.clone(),
                has_values: new.values.is_some(),
            });
        }
        if let Some((_, new)) = pairs.iter().find(|(old, _)| is_whole(old, action)) {
            action.name.clone_from(&new.name.text);
            action.has_values |= new.values.is_some();
        }
    }
    actions.append(&mut more);
}

fn distinct(actions: impl IntoIterator<Item = Action>) -> Vec<Action> {
    let mut seen = BTreeSet::new();
    actions
        .into_iter()
        .filter(|action| seen.insert(action.clone()))
        .collect()
}

/// Looks at each definition after which alphabets are taken as they are; processes nested in one
/// another deeper than this through renamings would need more.
const MOST_ROUNDS: usize = 64;

/// States that are explored to learn which values the actions of a process carry.
const MOST_EXPLORED: usize = 10_000;

type Alphabets<'f> = BTreeMap<&'f str, Option<Vec<Action>>>;

/// Where an output and an input meet, the output is seen.
fn merge_gates(sync: &Sync, actions: &mut Vec<Action>) {
    let is_gate = |action: &Action| match sync {
        Sync::All => true,
        Sync::Interleave => false,
        Sync::On(gates) => gates.iter().any(|gate| is_whole(gate, action)),
    };
    let outputs: BTreeSet<String> = actions
        .iter()
        .filter(|a| a.kind == LabelKind::Output && is_gate(a))
        .map(|a| a.name.clone())
        .collect();
    actions.retain(|a| a.kind != LabelKind::Input || !outputs.contains(&a.name));
}

fn event_action(event: &Event) -> Option<Action> {
    match &event.kind {
        EventKind::Label { kind, name, .. } => Some(Action::plain(*kind, &name.text)),
        EventKind::Offer { kind, name, .. } => Some(Action {
            has_values: true,
            ..Action::plain(*kind, &name.text)
        }),
        _ => None,
    }
}

/// The alphabet of a machine: its declarations in order, or without any, what occurs.
pub(crate) fn machine_labels(machine: &Machine) -> Labels {
    let mut labels = Labels::new();
    for (kind, label) in machine.labels() {
        labels.intern(kind, &label.name.text);
    }
    if machine.labels().next().is_none() {
        for event in events(machine) {
            if let EventKind::Label { kind, name, .. } = &event.kind {
                labels.intern(*kind, &name.text);
            }
        }
    }
    labels
}

/// The events of all transitions, in order.
pub(crate) fn events(machine: &Machine) -> impl Iterator<Item = &Event> {
    machine
        .states()
        .flat_map(|s| &s.transitions)
        .flat_map(|t| &t.events)
}

/// The label of an event in this alphabet; a bare name may be an internal action.
pub(crate) fn event_id(event: &Event, labels: &Labels) -> Option<LabelId> {
    match &event.kind {
        EventKind::Tau => Some(LabelId::TAU),
        EventKind::Delta => Some(LabelId::DELTA),
        EventKind::Any | EventKind::Offer { .. } => None,
        EventKind::Label { kind, name, .. } => labels.get(*kind, &name.text).or_else(|| {
            (*kind == LabelKind::Undirected)
                .then(|| labels.get(LabelKind::Internal, &name.text))
                .flatten()
        }),
    }
}

/// The labels that an event stands for: its own, or where actions carry their values, each
/// `REQ(…)` for `REQ`. Empty where there is none.
pub(crate) fn event_ids(event: &Event, labels: &Labels) -> Vec<LabelId> {
    if let Some(label) = event_id(event, labels) {
        return vec![label];
    }
    let EventKind::Label { kind, name, .. } = &event.kind else {
        return Vec::new();
    };
    let valued = labels
        .iter()
        .filter(|(_, label)| label.kind == *kind && is_instance(&label.name, &name.text));
    valued.map(|(id, _)| id).collect()
}

/// Why an event is none of this alphabet, with the nearest label.
pub(crate) fn unknown_label(event: &Event, labels: &Labels, whose: &str) -> Diagnostic {
    let EventKind::Label { kind, name, .. } = &event.kind else {
        return Diagnostic::error(
            codes::EVENT_NOT_HERE,
            event.span,
            "this event cannot stand here",
        );
    };
    let written = format!("{}{}", kind.sigil(), name.text);
    let twin = labels
        .iter()
        .skip(2)
        .find(|(_, l)| *l.name == *name.text)
        .map(|(_, l)| l);
    if let Some(label) = twin {
        let what = match label.kind {
            LabelKind::Input => "an input",
            LabelKind::Output => "an output",
            LabelKind::Internal => "internal",
            _ => "a plain action",
        };
        return Diagnostic::error(
            codes::LABEL_DIRECTION,
            event.span,
            format!("`{}` is {what} of {whose}", name.text),
        )
        .hint(format!("write `{label}`"));
    }
    let unknown = Diagnostic::error(
        codes::UNKNOWN_LABEL,
        event.span,
        format!("{whose} has no label `{written}`"),
    );
    let mut known = labels.iter().skip(2).map(|(_, l)| l);
    if let Some(label) = known.find(|l| is_instance(&l.name, &name.text)) {
        let instance = quote(&label.name);
        return unknown.hint(format!(
            "the action carries values: write `{}{instance}`",
            label.kind.sigil()
        ));
    }
    let candidates: Vec<String> = labels.iter().skip(2).map(|(_, l)| l.to_string()).collect();
    unknown.maybe_hint(diagnostic::did_you_mean(
        &written,
        candidates.iter().map(String::as_str),
    ))
}

/// `on` of `on(1)`.
pub(crate) fn bare(action: &str) -> &str {
    action.split('(').next().unwrap_or(action)
}
