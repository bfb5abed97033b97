//! The declarations of a file by name, and the alphabets of its systems.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use iolite_lts::{LabelId, LabelKind, Labels};

use crate::syntax::ast::{
    Behaviour, BehaviourKind, Event, EventKind, File, Item, Machine, Role, Spoilt, Sync,
};
use crate::{Diagnostic, Span, codes, diagnostic};

/// Declarations by name; of two with one name the first counts.
#[derive(Clone, Debug)]
pub struct Names<'f> {
    items: BTreeMap<&'f str, &'f Item>,
    spoilt: &'f Spoilt,
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
            spoilt: &file.spoilt,
            alphabets: OnceCell::new(),
        }
    }

    /// The declaration of a name.
    pub fn get(&self, name: &str) -> Option<&'f Item> {
        self.items.get(name).copied()
    }

    /// Whether a declaration with a syntax error may have this name: nothing is known of it then.
    pub(crate) fn is_spoilt(&self, name: &str) -> bool {
        !self.items.contains_key(name) && self.spoilt.may_declare(name)
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
    /// labels that no reachable transition carries.
    pub fn alphabet(&self, name: &str) -> Option<Labels> {
        let mut labels = Labels::new();
        for (kind, name) in self.labels_of(name, self.alphabets())? {
            labels.intern(kind, &name);
        }
        Some(labels)
    }

    /// The alphabet of a behaviour, as far as its calls are known.
    pub(crate) fn labels_of_body(&self, behaviour: &Behaviour) -> Vec<(LabelKind, String)> {
        self.behaviour_labels(behaviour, self.alphabets())
            .unwrap_or_default()
    }

    /// The bare names of the visible labels that occur in a behaviour; `None` where it calls
    /// something unknown.
    pub(crate) fn labels_in(&self, behaviour: &Behaviour) -> Option<BTreeSet<String>> {
        let labels = self.behaviour_labels(behaviour, self.alphabets())?;
        Some(
            labels
                .into_iter()
                .filter(|(kind, _)| kind.is_visible())
                .map(|(_, name)| name)
                .collect(),
        )
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
            for _ in 0..MOST_ROUNDS {
                let mut changed = false;
                for item in self.iter() {
                    if let Item::Definition(d) = item {
                        let declared = d.over.iter().flatten().filter_map(event_label);
                        let labels = self
                            .behaviour_labels(&d.body, &known)
                            .map(|inner| distinct(declared.chain(inner)));
                        let old = known.insert(&d.name.text, labels.clone());
                        changed |= old != Some(labels);
                    }
                }
                if !changed {
                    break;
                }
            }
            known
        })
    }

    fn labels_of(&self, name: &str, known: &Alphabets<'f>) -> Option<Vec<KindAndName>> {
        match self.get(name)? {
            Item::Machine(machine) => {
                let labels = machine_labels(machine);
                let texts = labels.iter().skip(2);
                Some(texts.map(|(_, l)| (l.kind, l.name.to_string())).collect())
            }
            Item::Definition(_) => known.get(name)?.clone(),
            _ => None,
        }
    }

    fn behaviour_labels(
        &self,
        behaviour: &Behaviour,
        known: &Alphabets<'f>,
    ) -> Option<Vec<KindAndName>> {
        let all = |parts: &[Behaviour]| {
            let mut labels = Vec::new();
            for part in parts {
                labels.extend(self.behaviour_labels(part, known)?);
            }
            Some(labels)
        };
        let labels = match &behaviour.kind {
            BehaviourKind::Stop | BehaviourKind::Error => Vec::new(),
            BehaviourKind::Prefix { events, rest } => {
                let mut labels: Vec<_> = events.iter().filter_map(event_label).collect();
                labels.extend(self.behaviour_labels(rest, known)?);
                labels
            }
            BehaviourKind::Choice(parts) => all(parts)?,
            BehaviourKind::Parallel { sync, parts } => merge_gates(sync, all(parts)?),
            BehaviourKind::Hide { labels, body } => {
                let mut inner = self.behaviour_labels(body, known)?;
                inner.retain(|(_, name)| !labels.iter().any(|l| l.text == *name));
                inner
            }
            BehaviourKind::Rename { pairs, body } => {
                let mut inner = self.behaviour_labels(body, known)?;
                for (_, name) in &mut inner {
                    if let Some((_, new)) = pairs.iter().find(|(old, _)| old.text == *name) {
                        name.clone_from(&new.text);
                    }
                }
                inner
            }
            BehaviourKind::Call { name, .. } => self.labels_of(&name.text, known)?,
            BehaviourKind::Each { body, .. } => self.behaviour_labels(body, known)?,
        };
        Some(distinct(labels))
    }
}

fn distinct(labels: impl IntoIterator<Item = KindAndName>) -> Vec<KindAndName> {
    let mut seen = BTreeSet::new();
    labels
        .into_iter()
        .filter(|label| seen.insert(label.clone()))
        .collect()
}

/// Rounds after which alphabets are taken as they are; processes nested in one another deeper than
/// this through renamings would need more.
const MOST_ROUNDS: usize = 64;

type Alphabets<'f> = BTreeMap<&'f str, Option<Vec<KindAndName>>>;

type KindAndName = (LabelKind, String);

/// Where an output and an input meet, the output is seen.
fn merge_gates(sync: &Sync, labels: Vec<KindAndName>) -> Vec<KindAndName> {
    let is_gate = |name: &str| match sync {
        Sync::All => true,
        Sync::Interleave => false,
        Sync::On(gates) => gates.iter().any(|g| g.text == name),
    };
    let outputs: BTreeSet<String> = labels
        .iter()
        .filter(|(kind, name)| *kind == LabelKind::Output && is_gate(name))
        .map(|(_, name)| name.clone())
        .collect();
    let mut labels = labels;
    labels.retain(|(kind, name)| *kind != LabelKind::Input || !outputs.contains(name));
    labels
}

fn event_label(event: &Event) -> Option<KindAndName> {
    match &event.kind {
        EventKind::Label { kind, name, .. } => Some((*kind, name.text.clone())),
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
            if let Some((kind, name)) = event_label(event) {
                labels.intern(kind, &name);
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
        EventKind::Any => None,
        EventKind::Label { kind, name, .. } => labels.get(*kind, &name.text).or_else(|| {
            (*kind == LabelKind::Undirected)
                .then(|| labels.get(LabelKind::Internal, &name.text))
                .flatten()
        }),
    }
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
    let candidates: Vec<String> = labels.iter().skip(2).map(|(_, l)| l.to_string()).collect();
    Diagnostic::error(
        codes::UNKNOWN_LABEL,
        event.span,
        format!("{whose} has no label `{written}`"),
    )
    .maybe_hint(diagnostic::did_you_mean(
        &written,
        candidates.iter().map(String::as_str),
    ))
}
