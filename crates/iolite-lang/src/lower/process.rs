//! Behaviour expressions as explicit systems, by their operational rules.
//!
//! States are terms, hash-consed: a position in the text of a process, or an operator over terms.
//! The steps of a term are computed once, from those of its parts [Tretmans 1996, def. 2.4], with
//! LOTOS's `|||`, `|[A]|` and `hide` beside the paper's operators.

use std::collections::VecDeque;
use std::rc::Rc;

use iolite_lts::{LabelId, LabelKind, Labels, Lts, LtsBuilder, StateId};
use rustc_hash::FxHashMap;

use super::{machine, over_budget};
use crate::names::{Names, event_id};
use crate::syntax::ast::{Behaviour, BehaviourKind, Event, EventKind, File, Item, Sync};
use crate::{Diagnostic, check, codes};

/// Terms nested deeper than this belong to a process that grows without bound.
const DEEPEST_TERM: u32 = 200;
/// Steps a budget of one state pays for.
const STEPS_PER_STATE: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct TermId(u32);

/// A node of the tree, told from its equals by its place.
#[derive(Clone, Copy, Debug)]
struct Node<'f>(&'f Behaviour);

impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Node<'_> {}

impl std::hash::Hash for Node<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.0).hash(state);
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Term<'f> {
    Stop,
    /// A prefix after some of its events, or a choice.
    At(Node<'f>, u32),
    /// The parts of a parallel composition.
    Parallel(Node<'f>, Rc<[TermId]>),
    /// What `hide` or `rename` is applied to.
    Relabelled(Node<'f>, TermId),
    /// A state of a machine.
    State(u32, StateId),
}

type Row = Rc<[(LabelId, TermId)]>;

struct Rules<'f> {
    file: &'f File,
    names: &'f Names<'f>,
    labels: Labels,
    /// What the result knows beside the labels of its transitions. Hidden labels are not in it.
    alphabet: Labels,
    terms: Vec<Term<'f>>,
    depths: Vec<u32>,
    ids: FxHashMap<Term<'f>, TermId>,
    /// Terms of tree nodes, so that a shared process is built once.
    starts: FxHashMap<Node<'f>, TermId>,
    rows: Vec<Option<Row>>,
    machines: Vec<(Lts, Vec<LabelId>)>,
    machine_ids: FxHashMap<&'f str, u32>,
    steps: usize,
    most_steps: usize,
    most_terms: usize,
}

/// Why a term has no steps that could be given.
enum Stop {
    /// Too many states, steps or levels.
    Budget,
    Found(Vec<Diagnostic>),
}

impl From<Diagnostic> for Stop {
    fn from(d: Diagnostic) -> Self {
        Self::Found(vec![d])
    }
}

pub(super) fn lower<'f>(
    file: &'f File,
    names: &'f Names<'f>,
    item: &'f Item,
    budget: usize,
) -> Result<Lts, Vec<Diagnostic>> {
    let Item::Definition(definition) = item else {
        return Err(Vec::new());
    };
    let name = definition.name.text.as_str();
    let over = definition.over.as_deref().unwrap_or_default();
    lower_behaviour(file, names, &definition.body, over, name, budget)
}

pub(super) fn lower_behaviour<'f>(
    file: &'f File,
    names: &'f Names<'f>,
    body: &'f Behaviour,
    over: &[Event],
    name: &str,
    budget: usize,
) -> Result<Lts, Vec<Diagnostic>> {
    let unguarded = check::unguarded(names, body);
    if !unguarded.is_empty() {
        return Err(unguarded);
    }
    let mut rules = Rules {
        file,
        names,
        labels: Labels::new(),
        alphabet: Labels::new(),
        terms: Vec::new(),
        depths: Vec::new(),
        ids: FxHashMap::default(),
        starts: FxHashMap::default(),
        rows: Vec::new(),
        machines: Vec::new(),
        machine_ids: FxHashMap::default(),
        steps: 0,
        most_steps: budget.saturating_mul(STEPS_PER_STATE).saturating_add(4096),
        most_terms: budget.saturating_mul(8).saturating_add(65_536),
    };
    for event in over {
        if let EventKind::Label { kind, name, .. } = &event.kind {
            rules.alphabet.intern(*kind, &name.text);
        }
    }
    for (kind, label) in names.labels_of_body(body) {
        rules.alphabet.intern(kind, &label);
    }
    rules.explore(body, budget).map_err(|stop| match stop {
        Stop::Budget => vec![over_budget(file, name, budget)],
        Stop::Found(found) => found,
    })
}

impl<'f> Rules<'f> {
    fn explore(&mut self, body: &'f Behaviour, budget: usize) -> Result<Lts, Stop> {
        let initial = self.start(body, 0)?;
        let mut builder = LtsBuilder::new();
        let mut states: FxHashMap<TermId, StateId> = FxHashMap::default();
        let mut queue = VecDeque::from([initial]);
        states.insert(initial, builder.state());
        let mut transitions = Vec::new();
        while let Some(term) = queue.pop_front() {
            let source = states[&term];
            for &(label, target) in self.row(term)?.iter() {
                let target = *states.entry(target).or_insert_with(|| {
                    queue.push_back(target);
                    builder.state()
                });
                transitions.push((source, label, target));
            }
            if builder.state_count() > budget {
                return Err(Stop::Budget);
            }
        }
        *builder.labels_mut() = self.alphabet.clone();
        for (source, label, target) in transitions {
            let label = self.labels.label(label);
            let label = builder.label(label.kind, &label.name);
            builder.transition(source, label, target);
        }
        let mut named: Vec<_> = states.into_iter().map(|(t, s)| (s, t)).collect();
        named.sort_unstable();
        for (state, term) in named {
            let mut text = String::new();
            self.describe(term, &mut text);
            builder.set_name(state, &text);
            if let Some(line) = self.line(term) {
                builder.set_line(state, line);
            }
        }
        builder.build().map_err(|_| Stop::Budget)
    }

    fn intern(&mut self, term: Term<'f>) -> Result<TermId, Stop> {
        if let Some(&id) = self.ids.get(&term) {
            return Ok(id);
        }
        let depth = match &term {
            Term::Stop | Term::At(..) | Term::State(..) => 0,
            Term::Relabelled(_, inner) => 1 + self.depth(*inner),
            Term::Parallel(_, parts) => 1 + parts.iter().map(|&p| self.depth(p)).max().unwrap_or(0),
        };
        if depth > DEEPEST_TERM || self.terms.len() > self.most_terms {
            return Err(Stop::Budget);
        }
        let id = TermId(u32::try_from(self.terms.len()).map_err(|_| Stop::Budget)?);
        self.terms.push(term.clone());
        self.depths.push(depth);
        self.rows.push(None);
        self.ids.insert(term, id);
        Ok(id)
    }

    fn depth(&self, term: TermId) -> u32 {
        self.depths[term.0 as usize]
    }

    /// The term of a node of the tree; calls are replaced by what they call.
    fn start(&mut self, node: &'f Behaviour, level: u32) -> Result<TermId, Stop> {
        if let Some(&term) = self.starts.get(&Node(node)) {
            return Ok(term);
        }
        if level > DEEPEST_TERM {
            return Err(Diagnostic::error(
                codes::TOO_DEEP,
                node.span,
                format!("more than {DEEPEST_TERM} processes are called within one another"),
            )
            .into());
        }
        let level = level + 1;
        let term = match &node.kind {
            BehaviourKind::Stop | BehaviourKind::Error => self.intern(Term::Stop)?,
            BehaviourKind::Prefix { .. } | BehaviourKind::Choice(_) => {
                self.intern(Term::At(Node(node), 0))?
            }
            BehaviourKind::Parallel { parts, .. } => {
                let parts: Rc<[TermId]> = parts
                    .iter()
                    .map(|p| self.start(p, level))
                    .collect::<Result<_, _>>()?;
                self.intern(Term::Parallel(Node(node), parts))?
            }
            BehaviourKind::Hide { body, .. } | BehaviourKind::Rename { body, .. } => {
                let inner = self.start(body, level)?;
                self.intern(Term::Relabelled(Node(node), inner))?
            }
            BehaviourKind::Each { range, body, .. } => {
                let count = super::parts::count(range, body)?;
                let one = self.start(body, level)?;
                if count == 1 {
                    one
                } else {
                    self.intern(Term::Parallel(Node(node), vec![one; count].into()))?
                }
            }
            BehaviourKind::Call { name, args } => {
                match self.names.behaviour(&name.text, name.span)? {
                    Item::Definition(definition) => self.start(&definition.body, level)?,
                    Item::Machine(m) => {
                        super::composition::no_arguments(m, args)?;
                        let machine = self.machine(&m.name.text, m)?;
                        let initial = self.machines[machine as usize].0.initial();
                        self.intern(Term::State(machine, initial))?
                    }
                    _ => self.intern(Term::Stop)?,
                }
            }
        };
        self.starts.insert(Node(node), term);
        Ok(term)
    }

    fn machine(
        &mut self,
        name: &'f str,
        machine: &'f crate::syntax::ast::Machine,
    ) -> Result<u32, Stop> {
        if let Some(&id) = self.machine_ids.get(name) {
            return Ok(id);
        }
        let lts = machine::lower(self.file, machine).map_err(Stop::Found)?;
        let map = self.labels.join(lts.labels());
        let id = self.machines.len() as u32;
        self.machines.push((lts, map));
        self.machine_ids.insert(name, id);
        Ok(id)
    }

    fn row(&mut self, term: TermId) -> Result<Row, Stop> {
        if let Some(row) = &self.rows[term.0 as usize] {
            return Ok(row.clone());
        }
        let mut steps = Vec::new();
        match self.terms[term.0 as usize].clone() {
            Term::Stop => {}
            Term::State(machine, state) => {
                let (lts, map) = &self.machines[machine as usize];
                let targets: Vec<_> = lts
                    .steps(state)
                    .iter()
                    .map(|&(l, t)| (map[l.index()], t))
                    .collect();
                for (label, target) in targets {
                    steps.push((label, self.intern(Term::State(machine, target))?));
                }
            }
            Term::At(node, k) => match &node.0.kind {
                BehaviourKind::Prefix { events, rest } => {
                    let label = self.event(&events[k as usize])?;
                    let next = k + 1;
                    let target = if (next as usize) < events.len() {
                        self.intern(Term::At(node, next))?
                    } else {
                        self.start(rest, 0)?
                    };
                    steps.push((label, target));
                }
                BehaviourKind::Choice(parts) => {
                    for part in parts {
                        let part = self.start(part, 0)?;
                        steps.extend_from_slice(&self.row(part)?);
                    }
                }
                _ => {}
            },
            Term::Relabelled(node, inner) => {
                for &(label, target) in self.row(inner)?.iter() {
                    let label = self.relabel(node.0, label);
                    steps.push((label, self.intern(Term::Relabelled(node, target))?));
                }
            }
            Term::Parallel(node, parts) => self.parallel(node, &parts, &mut steps)?,
        }
        steps.sort_unstable();
        steps.dedup();
        self.steps += steps.len();
        if self.steps > self.most_steps {
            return Err(Stop::Budget);
        }
        let row: Row = steps.into();
        self.rows[term.0 as usize] = Some(row.clone());
        Ok(row)
    }

    fn event(&mut self, event: &crate::syntax::ast::Event) -> Result<LabelId, Stop> {
        if let EventKind::Label {
            kind,
            name,
            args: None,
        } = &event.kind
        {
            return Ok(self.labels.intern(*kind, &name.text));
        }
        event_id(event, &self.labels).ok_or_else(|| {
            Diagnostic::error(
                codes::EVENT_NOT_HERE,
                event.span,
                "a process names its actions, without `*` and without parameters",
            )
            .into()
        })
    }

    fn relabel(&mut self, node: &Behaviour, label: LabelId) -> LabelId {
        let known = self.labels.label(label);
        if !matches!(
            known.kind,
            LabelKind::Input | LabelKind::Output | LabelKind::Undirected
        ) {
            return label;
        }
        match &node.kind {
            BehaviourKind::Hide { labels, .. } if labels.iter().any(|l| *l.text == *known.name) => {
                LabelId::TAU
            }
            BehaviourKind::Rename { pairs, .. } => {
                match pairs.iter().find(|(old, _)| *old.text == *known.name) {
                    Some((_, new)) => {
                        let kind = known.kind;
                        self.labels.intern(kind, &new.text)
                    }
                    None => label,
                }
            }
            _ => label,
        }
    }

    fn parallel(
        &mut self,
        node: Node<'f>,
        parts: &Rc<[TermId]>,
        steps: &mut Vec<(LabelId, TermId)>,
    ) -> Result<(), Stop> {
        let (BehaviourKind::Parallel { sync, .. } | BehaviourKind::Each { sync, .. }) =
            &node.0.kind
        else {
            return Ok(());
        };
        let rows = parts
            .iter()
            .map(|&p| self.row(p))
            .collect::<Result<Vec<_>, _>>()?;
        let mut meeting: Vec<Vec<(LabelId, TermId)>> = vec![Vec::new(); parts.len()];
        for (k, row) in rows.iter().enumerate() {
            for &(label, target) in row.iter() {
                if self.is_gate(sync, label) {
                    meeting[k].push((label, target));
                } else {
                    let mut moved = parts.to_vec();
                    moved[k] = target;
                    steps.push((label, self.intern(Term::Parallel(node, moved.into()))?));
                }
            }
        }
        // On a gate all parts move together: extend every partial meeting by each part in turn.
        let mut met: Vec<(LabelId, Vec<TermId>)> = meeting[0]
            .iter()
            .map(|&(label, target)| (label, vec![target]))
            .collect();
        for offers in &meeting[1..] {
            let mut next = Vec::new();
            for (label, targets) in &met {
                for &(other, target) in offers {
                    if self.labels.label(*label).name != self.labels.label(other).name {
                        continue;
                    }
                    let joint = self.joint(*label, other, node.0)?;
                    let mut targets = targets.clone();
                    targets.push(target);
                    next.push((joint, targets));
                    if next.len() > self.most_steps {
                        return Err(Stop::Budget);
                    }
                }
            }
            met = next;
        }
        for (label, targets) in met {
            steps.push((label, self.intern(Term::Parallel(node, targets.into()))?));
        }
        Ok(())
    }

    fn is_gate(&self, sync: &Sync, label: LabelId) -> bool {
        let label = self.labels.label(label);
        label.kind.is_visible()
            && match sync {
                Sync::All => true,
                Sync::Interleave => false,
                Sync::On(gates) => gates.iter().any(|g| *g.text == *label.name),
            }
    }

    fn joint(&mut self, a: LabelId, b: LabelId, node: &Behaviour) -> Result<LabelId, Stop> {
        use LabelKind::{Input, Output};
        let (left, right) = (self.labels.kind(a), self.labels.kind(b));
        match (left, right) {
            _ if left == right => Ok(a),
            (Output, Input) => Ok(a),
            (Input, Output) => Ok(b),
            _ => Err(super::composition::gate_mismatch(
                node.span,
                &self.labels.text(a),
                &self.labels.text(b),
            )
            .into()),
        }
    }

    /// The term in the notation of the language; long ones are cut.
    fn describe(&self, term: TermId, out: &mut String) {
        const LONGEST: usize = 120;
        if out.len() > LONGEST {
            if !out.ends_with('…') {
                out.push('…');
            }
            return;
        }
        match &self.terms[term.0 as usize] {
            Term::Stop => out.push_str("stop"),
            Term::State(machine, state) => {
                out.push_str(&self.machines[*machine as usize].0.name(*state));
            }
            Term::At(node, k) => {
                let text = crate::fmt::behaviour_text(node.0, *k as usize);
                out.extend(text.chars().take(LONGEST));
                if text.chars().count() > LONGEST {
                    out.push('…');
                }
            }
            Term::Relabelled(_, inner) => self.describe(*inner, out),
            Term::Parallel(_, parts) => {
                out.push('(');
                for (k, part) in parts.iter().enumerate() {
                    if k > 0 {
                        out.push_str(", ");
                    }
                    self.describe(*part, out);
                }
                out.push(')');
            }
        }
    }

    fn line(&self, term: TermId) -> Option<u32> {
        match &self.terms[term.0 as usize] {
            Term::Stop => None,
            Term::State(machine, state) => self.machines[*machine as usize].0.line(*state),
            Term::At(node, k) => {
                let span = match &node.0.kind {
                    BehaviourKind::Prefix { events, .. } => events[*k as usize].span,
                    _ => node.0.span,
                };
                Some(self.file.lines.line(span.start))
            }
            Term::Relabelled(_, inner) => self.line(*inner),
            Term::Parallel(_, parts) => parts.first().and_then(|&p| self.line(p)),
        }
    }
}
