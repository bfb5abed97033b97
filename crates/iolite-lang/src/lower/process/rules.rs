//! The operational rules [LTS96, def. 2.4].

use std::collections::BTreeMap;
use std::rc::Rc;

use iolite_expr::Value;
use iolite_lts::{Label, LabelId, LabelKind, Labels, Lts};
use rustc_hash::FxHashMap;

use super::term::{DEEPEST_TERM, GateMap, Node, ScopeId, Table, Term, TermId, gate_map};
use super::{Context, Stop};
use crate::gate::{self, Pattern};
use crate::lower::composition::{gate_mismatch, no_arguments};
use crate::lower::machine;
use crate::lower::parts::Meeting;
use crate::lower::term::Scope;
use crate::names::{Names, event_id};
use crate::syntax::ast::{Behaviour, BehaviourKind, Event, EventKind, Item, Machine, Offer, Sync};
use crate::{Diagnostic, Span, codes};

/// Steps a budget of one state pays for.
const STEPS_PER_STATE: usize = 64;
/// Choices and compositions that call one another deeper than this are refused.
const DEEPEST_ROW: u32 = 1000;

/// The name of the labels of `exit`, which no action of a text has.
const EXIT: &str = "\u{1}exit";

pub(super) type Row = Rc<[(LabelId, TermId)]>;

/// What `hide` or `rename` does.
enum Relabelling {
    Hide(Vec<Pattern>),
    Rename(Vec<(Pattern, Pattern)>),
}

pub(super) struct Rules<'f> {
    context: Context<'f>,
    labels: Labels,
    /// Actions and values behind labels that have any.
    values: BTreeMap<String, (String, Vec<Value>)>,
    table: Table<'f>,
    /// Terms of tree nodes, so that a shared process is built once.
    starts: FxHashMap<(Node<'f>, ScopeId), TermId>,
    rows: Vec<Option<Row>>,
    meetings: FxHashMap<(Node<'f>, ScopeId), Rc<Meeting>>,
    relabellings: FxHashMap<(Node<'f>, ScopeId), Rc<Relabelling>>,
    gatings: FxHashMap<Rc<GateMap>, Rc<Relabelling>>,
    /// The labels of `exit`, with what it hands on.
    exits: FxHashMap<LabelId, Vec<Value>>,
    machines: Vec<(Lts, Vec<LabelId>)>,
    machine_ids: FxHashMap<&'f str, u32>,
    steps: usize,
    most_steps: usize,
}

impl<'f> Rules<'f> {
    pub(super) fn new(context: Context<'f>, budget: usize) -> Self {
        Self {
            context,
            labels: Labels::new(),
            values: BTreeMap::new(),
            table: Table::new(budget.saturating_mul(8).saturating_add(65_536)),
            starts: FxHashMap::default(),
            rows: Vec::new(),
            meetings: FxHashMap::default(),
            relabellings: FxHashMap::default(),
            gatings: FxHashMap::default(),
            exits: FxHashMap::default(),
            machines: Vec::new(),
            machine_ids: FxHashMap::default(),
            steps: 0,
            most_steps: budget.saturating_mul(STEPS_PER_STATE).saturating_add(4096),
        }
    }

    pub(super) fn names(&self) -> &'f Names<'f> {
        self.context.names
    }

    pub(super) fn table(&self) -> &Table<'f> {
        &self.table
    }

    pub(super) fn machine_states(&self, machine: u32) -> &Lts {
        &self.machines[machine as usize].0
    }

    pub(super) fn line_of(&self, span: Span) -> u32 {
        self.context.file.lines.line(span.start)
    }

    pub(super) fn label(&self, label: LabelId) -> &Label {
        self.labels.label(label)
    }

    pub(super) fn take_values(&mut self) -> BTreeMap<String, (String, Vec<Value>)> {
        std::mem::take(&mut self.values)
    }

    /// The term of a whole behaviour.
    pub(super) fn initial(&mut self, body: &'f Behaviour, scope: &Scope) -> Result<TermId, Stop> {
        self.start(body, scope, 0)
    }

    /// The steps of a term, in order.
    pub(super) fn steps(&mut self, term: TermId) -> Result<Row, Stop> {
        self.row(term, 0)
    }

    /// The term of a node of the tree; calls are replaced by what they call.
    fn start(&mut self, node: &'f Behaviour, scope: &Scope, level: u32) -> Result<TermId, Stop> {
        let here = self.table.restrict(scope, node)?;
        if let Some(&term) = self.starts.get(&(Node(node), here)) {
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
            BehaviourKind::Stop | BehaviourKind::Error => self.table.intern(Term::Stop)?,
            BehaviourKind::Prefix { .. }
            | BehaviourKind::Choice(_)
            | BehaviourKind::ChoiceOver { .. }
            | BehaviourKind::Exit(_) => self.table.intern(Term::At(Node(node), 0, here))?,
            BehaviourKind::Let {
                name,
                sort,
                value,
                body,
            } => {
                let mut inner = scope.clone();
                let term = self.context.terms.bound(sort.as_ref(), value, scope)?;
                inner.insert(name.text.clone(), term);
                self.start(body, &inner, level)?
            }
            BehaviourKind::Enable { parts, .. } => {
                let left = self.start(&parts[0], scope, level)?;
                let right = self.table.restrict(scope, &parts[1])?;
                self.table.intern(Term::Enable(Node(node), right, left))?
            }
            BehaviourKind::Disable(parts) => {
                let left = self.start(&parts[0], scope, level)?;
                let right = self.start(&parts[1], scope, level)?;
                self.table.intern(Term::Disable(left, right))?
            }
            BehaviourKind::Guard { condition, body } => {
                if self.context.terms.holds(condition, scope)? {
                    self.start(body, scope, level)?
                } else {
                    self.table.intern(Term::Stop)?
                }
            }
            BehaviourKind::Parallel { parts, .. } => {
                let parts: Rc<[TermId]> = parts
                    .iter()
                    .map(|p| self.start(p, scope, level))
                    .collect::<Result<_, _>>()?;
                let gates = self.table.restrict_gates(scope, node)?;
                self.table
                    .intern(Term::Parallel(Node(node), gates, parts))?
            }
            BehaviourKind::Hide { body, .. } | BehaviourKind::Rename { body, .. } => {
                let inner = self.start(body, scope, level)?;
                let gates = self.table.restrict_gates(scope, node)?;
                self.table
                    .intern(Term::Relabelled(Node(node), gates, inner))?
            }
            BehaviourKind::Each {
                index, range, body, ..
            } => {
                let mut parts = Vec::new();
                let mut inner = scope.clone();
                for value in self.context.terms.indices(range, body, scope)? {
                    inner.insert(index.text.clone(), value);
                    parts.push(self.start(body, &inner, level)?);
                }
                if let [one] = parts[..] {
                    one
                } else {
                    let gates = self.table.restrict_gates(scope, node)?;
                    let parts = parts.into();
                    self.table
                        .intern(Term::Parallel(Node(node), gates, parts))?
                }
            }
            BehaviourKind::Call { name, gates, args } => {
                match self.context.names.behaviour(&name.text, name.span)? {
                    Item::Definition(definition) => {
                        let terms = self.context.terms;
                        let inner = terms.parameters(definition, args, scope, name.span)?;
                        let map = gate_map(definition, gates, name.span)?;
                        let inner = self.start(&definition.body, &inner, level)?;
                        self.table.gated(map, inner)?
                    }
                    Item::Machine(m) => {
                        no_arguments(m, args)?;
                        let machine = self.machine(m)?;
                        let initial = self.machines[machine as usize].0.initial();
                        self.table.intern(Term::State(machine, initial))?
                    }
                    _ => self.table.intern(Term::Stop)?,
                }
            }
        };
        self.starts.insert((Node(node), here), term);
        Ok(term)
    }

    fn machine(&mut self, machine: &'f Machine) -> Result<u32, Stop> {
        let name = machine.name.text.as_str();
        if let Some(&id) = self.machine_ids.get(name) {
            return Ok(id);
        }
        let lts = machine::lower(self.context.file, machine).map_err(Stop::Found)?;
        let map = self.labels.join(lts.labels());
        let id = self.machines.len() as u32;
        self.machines.push((lts, map));
        self.machine_ids.insert(name, id);
        Ok(id)
    }

    fn row(&mut self, term: TermId, level: u32) -> Result<Row, Stop> {
        self.rows.resize(self.table.len(), None);
        if let Some(row) = &self.rows[term.index()] {
            return Ok(row.clone());
        }
        if level > DEEPEST_ROW {
            return Err(self.too_deep(term));
        }
        let level = level + 1;
        let mut steps = Vec::new();
        match self.table.get(term).clone() {
            Term::Stop => {}
            Term::State(machine, state) => {
                let (lts, map) = &self.machines[machine as usize];
                for &(label, target) in lts.steps(state) {
                    let target = self.table.intern(Term::State(machine, target))?;
                    steps.push((map[label.index()], target));
                }
            }
            Term::At(node, k, scope) => match &node.0.kind {
                BehaviourKind::Prefix { events, rest } => {
                    let scope = self.table.scope(scope);
                    let next = k as usize + 1;
                    for (label, scope) in self.event(&events[k as usize], &scope)? {
                        let target = if next < events.len() {
                            let left = &events[next..];
                            let scope = self.table.restrict_rest(&scope, left, rest)?;
                            self.table.intern(Term::At(node, k + 1, scope))?
                        } else {
                            self.start(rest, &scope, 0)?
                        };
                        steps.push((label, target));
                    }
                }
                BehaviourKind::Choice(parts) => {
                    let scope = self.table.scope(scope);
                    for part in parts {
                        let part = self.start(part, &scope, 0)?;
                        steps.extend_from_slice(&self.row(part, level)?);
                    }
                }
                BehaviourKind::ChoiceOver { params, body } => {
                    let scope = self.table.scope(scope);
                    let most = self.most_steps.saturating_sub(self.steps);
                    let scopes = self.context.terms.choices(params, &scope, most)?;
                    for scope in scopes.ok_or(Stop::Budget)? {
                        let part = self.start(body, &scope, 0)?;
                        steps.extend_from_slice(&self.row(part, level)?);
                        if self.steps + steps.len() > self.most_steps {
                            return Err(Stop::Budget);
                        }
                    }
                }
                BehaviourKind::Exit(values) => {
                    let scope = self.table.scope(scope);
                    let end = self.table.intern(Term::Stop)?;
                    for label in self.exit(values, &scope)? {
                        steps.push((label, end));
                    }
                }
                _ => {}
            },
            Term::Enable(node, scope, left) => {
                for &(label, target) in self.row(left, level)?.iter() {
                    steps.push(if self.is_exit(label) {
                        (LabelId::TAU, self.enabled(node, scope, label)?)
                    } else {
                        let target = Term::Enable(node, scope, target);
                        (label, self.table.intern(target)?)
                    });
                }
            }
            Term::Disable(left, right) => {
                for &(label, target) in self.row(left, level)?.iter() {
                    // Once the left side has exited it cannot be disabled any more.
                    steps.push(if self.is_exit(label) {
                        (label, target)
                    } else {
                        (label, self.table.intern(Term::Disable(target, right))?)
                    });
                }
                steps.extend_from_slice(&self.row(right, level)?);
            }
            Term::Gated(map, inner) => {
                let relabelling = self.gating(&map);
                for &(label, target) in self.row(inner, level)?.iter() {
                    let label = self.relabel(&relabelling, label);
                    steps.push((label, self.table.gated((*map).clone(), target)?));
                }
            }
            Term::Relabelled(node, scope, inner) => {
                let relabelling = self.relabelling(node, scope)?;
                for &(label, target) in self.row(inner, level)?.iter() {
                    let label = self.relabel(&relabelling, label);
                    let target = Term::Relabelled(node, scope, target);
                    steps.push((label, self.table.intern(target)?));
                }
            }
            Term::Parallel(node, scope, parts) => {
                self.parallel(node, scope, &parts, level, &mut steps)?;
            }
        }
        steps.sort_unstable();
        steps.dedup();
        self.steps += steps.len();
        if self.steps > self.most_steps {
            return Err(Stop::Budget);
        }
        let row: Row = steps.into();
        self.rows.resize(self.table.len(), None);
        self.rows[term.index()] = Some(row.clone());
        Ok(row)
    }

    fn too_deep(&self, term: TermId) -> Stop {
        let span = match self.table.get(term) {
            Term::At(node, ..) | Term::Parallel(node, ..) | Term::Relabelled(node, ..) => {
                node.0.span
            }
            Term::Enable(node, ..) => node.0.span,
            Term::Stop | Term::State(..) | Term::Disable(..) | Term::Gated(..) => Span::default(),
        };
        let message = format!("more than {DEEPEST_ROW} choices are called within one another");
        Diagnostic::error(codes::TOO_DEEP, span, message).into()
    }

    /// The labels of an event, each with what is known after it.
    pub(super) fn event(
        &mut self,
        event: &Event,
        scope: &Scope,
    ) -> Result<Vec<(LabelId, Scope)>, Stop> {
        match &event.kind {
            EventKind::Label {
                kind,
                name,
                args: None,
            } => Ok(vec![(self.labels.intern(*kind, &name.text), scope.clone())]),
            EventKind::Offer {
                kind,
                name,
                offers,
                guard,
            } => {
                let terms = self.context.terms;
                let instances = terms.instances(offers, scope, self.most_steps)?;
                let mut instances = instances.ok_or(Stop::Budget)?;
                if let Some(guard) = guard {
                    let mut held = Vec::new();
                    for instance in instances {
                        if terms.holds(guard, &instance.scope)? {
                            held.push(instance);
                        }
                    }
                    instances = held;
                }
                self.steps += instances.len();
                if self.steps > self.most_steps {
                    return Err(Stop::Budget);
                }
                let mut steps = Vec::new();
                for instance in instances {
                    let text = gate::instance(&name.text, &instance.values);
                    steps.push((self.labels.intern(*kind, &text), instance.scope));
                    self.values
                        .entry(text)
                        .or_insert_with(|| (name.text.clone(), instance.values));
                }
                Ok(steps)
            }
            _ => match event_id(event, &self.labels) {
                Some(label) => Ok(vec![(label, scope.clone())]),
                None => Err(Diagnostic::error(
                    codes::EVENT_NOT_HERE,
                    event.span,
                    "a process names its actions, without `*`",
                )
                .into()),
            },
        }
    }

    /// The labels of an `exit`, one for each combination of values.
    fn exit(&mut self, values: &[Offer], scope: &Scope) -> Result<Vec<LabelId>, Stop> {
        let terms = self.context.terms;
        let instances = terms.instances(values, scope, self.most_steps)?;
        let instances = instances.ok_or(Stop::Budget)?;
        let mut labels = Vec::new();
        for instance in instances {
            let text = gate::instance(EXIT, &instance.values);
            let label = self.labels.intern(LabelKind::Internal, &text);
            self.exits.entry(label).or_insert(instance.values);
            labels.push(label);
        }
        Ok(labels)
    }

    pub(super) fn is_exit(&self, label: LabelId) -> bool {
        self.exits.contains_key(&label)
    }

    /// What `>>` enables once its left side exits by `label`.
    fn enabled(&mut self, node: Node<'f>, scope: ScopeId, label: LabelId) -> Result<TermId, Stop> {
        let BehaviourKind::Enable { accept, parts } = &node.0.kind else {
            return self.table.intern(Term::Stop);
        };
        let mut inner = (*self.table.scope(scope)).clone();
        let values = self.exits.get(&label).cloned().unwrap_or_default();
        self.context
            .terms
            .accept(accept, &values, &mut inner, node.0.span)?;
        self.start(&parts[1], &inner, 0)
    }

    fn gating(&mut self, map: &Rc<GateMap>) -> Rc<Relabelling> {
        if let Some(known) = self.gatings.get(map) {
            return known.clone();
        }
        let pattern = |name: &String| Pattern::new(name, Vec::new());
        let pairs = map.iter().map(|(old, new)| (pattern(old), pattern(new)));
        let relabelling = Rc::new(Relabelling::Rename(pairs.collect()));
        self.gatings.insert(map.clone(), relabelling.clone());
        relabelling
    }

    fn relabelling(&mut self, node: Node<'f>, scope: ScopeId) -> Result<Rc<Relabelling>, Stop> {
        if let Some(known) = self.relabellings.get(&(node, scope)) {
            return Ok(known.clone());
        }
        let terms = self.context.terms;
        let values = self.table.scope(scope);
        let relabelling = match &node.0.kind {
            BehaviourKind::Hide { labels, .. } => {
                Relabelling::Hide(terms.patterns(labels, &values)?)
            }
            BehaviourKind::Rename { pairs, .. } => {
                Relabelling::Rename(terms.pattern_pairs(pairs, &values)?)
            }
            _ => Relabelling::Hide(Vec::new()),
        };
        let relabelling = Rc::new(relabelling);
        self.relabellings.insert((node, scope), relabelling.clone());
        Ok(relabelling)
    }

    fn relabel(&mut self, relabelling: &Relabelling, label: LabelId) -> LabelId {
        let known = self.labels.label(label);
        if !matches!(
            known.kind,
            LabelKind::Input | LabelKind::Output | LabelKind::Undirected
        ) {
            return label;
        }
        match relabelling {
            Relabelling::Hide(gates) if gates.iter().any(|g| g.matches(&known.name)) => {
                LabelId::TAU
            }
            Relabelling::Hide(_) => label,
            Relabelling::Rename(pairs) => match gate::renaming(&known.name, pairs) {
                Some((old, new)) => {
                    let kind = known.kind;
                    let text = old.renamed(&known.name, new);
                    let mut values = new.values.clone();
                    if let (Some((_, more)), false) =
                        (self.values.get(&*known.name), old.is_instance())
                    {
                        values.extend_from_slice(more);
                    }
                    if !values.is_empty() {
                        let valued = (new.name.clone(), values);
                        self.values.entry(text.clone()).or_insert(valued);
                    }
                    self.labels.intern(kind, &text)
                }
                None => label,
            },
        }
    }

    fn meeting(&mut self, node: Node<'f>, scope: ScopeId) -> Result<Rc<Meeting>, Stop> {
        if let Some(known) = self.meetings.get(&(node, scope)) {
            return Ok(known.clone());
        }
        let meeting = Rc::new(match &node.0.kind {
            BehaviourKind::Parallel { sync, .. } | BehaviourKind::Each { sync, .. } => match sync {
                Sync::All => Meeting::All,
                Sync::Interleave => Meeting::None,
                Sync::On(gates) => {
                    let values = self.table.scope(scope);
                    Meeting::On(self.context.terms.patterns(gates, &values)?)
                }
            },
            _ => Meeting::None,
        });
        self.meetings.insert((node, scope), meeting.clone());
        Ok(meeting)
    }

    fn parallel(
        &mut self,
        node: Node<'f>,
        scope: ScopeId,
        parts: &Rc<[TermId]>,
        level: u32,
        steps: &mut Vec<(LabelId, TermId)>,
    ) -> Result<(), Stop> {
        let gates = self.meeting(node, scope)?;
        let rows = parts
            .iter()
            .map(|&p| self.row(p, level))
            .collect::<Result<Vec<_>, _>>()?;
        let mut meeting: Vec<Vec<(LabelId, TermId)>> = vec![Vec::new(); parts.len()];
        for (k, row) in rows.iter().enumerate() {
            for &(label, target) in row.iter() {
                if self.is_gate(&gates, label) {
                    meeting[k].push((label, target));
                } else {
                    let mut moved = parts.to_vec();
                    moved[k] = target;
                    let moved = Term::Parallel(node, scope, moved.into());
                    steps.push((label, self.table.intern(moved)?));
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
            let together = Term::Parallel(node, scope, targets.into());
            steps.push((label, self.table.intern(together)?));
        }
        Ok(())
    }

    fn is_gate(&self, gates: &Meeting, label: LabelId) -> bool {
        if self.is_exit(label) {
            return true;
        }
        let label = self.labels.label(label);
        label.kind.is_visible()
            && match gates {
                Meeting::All => true,
                Meeting::None => false,
                Meeting::On(gates) => gates.iter().any(|g| g.matches(&label.name)),
            }
    }

    fn joint(&mut self, a: LabelId, b: LabelId, node: &Behaviour) -> Result<LabelId, Stop> {
        use LabelKind::{Input, Output};
        let (left, right) = (self.labels.kind(a), self.labels.kind(b));
        match (left, right) {
            _ if left == right => Ok(a),
            (Output, Input) => Ok(a),
            (Input, Output) => Ok(b),
            _ => Err(gate_mismatch(node.span, &self.labels.text(a), &self.labels.text(b)).into()),
        }
    }
}
