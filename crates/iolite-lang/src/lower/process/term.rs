//! The states of behaviour expressions, hash-consed.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use iolite_lts::StateId;
use rustc_hash::FxHashMap;

use super::Stop;
use crate::lower::term::Scope;
use crate::syntax::ast::{
    Behaviour, BehaviourKind, Definition, Event, EventKind, Expr, ExprKind, Gate, Name, Offer, Sync,
};
use crate::{Diagnostic, Span, codes};

/// Terms nested deeper than this belong to a process that grows without bound.
pub(super) const DEEPEST_TERM: u32 = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct TermId(u32);

impl TermId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Values of the names that a term reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ScopeId(u32);

/// The scope without names.
const NOTHING: ScopeId = ScopeId(0);

/// A node of the tree, told from its equals by its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'f>(pub(super) &'f Behaviour);

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
pub(super) enum Term<'f> {
    Stop,
    /// A prefix after some of its events, or a choice.
    At(Node<'f>, u32, ScopeId),
    /// The parts of a parallel composition.
    Parallel(Node<'f>, ScopeId, Rc<[TermId]>),
    /// What `hide` or `rename` is applied to.
    Relabelled(Node<'f>, ScopeId, TermId),
    /// What stands before `>>`, with the values that what follows reads.
    Enable(Node<'f>, ScopeId, TermId),
    /// What stands before and after `[>`.
    Disable(TermId, TermId),
    /// A process whose formal gates are these actions here.
    Gated(Rc<GateMap>, TermId),
    /// A state of a machine.
    State(u32, StateId),
}

/// Formal gates and the actions that they are.
pub(super) type GateMap = BTreeMap<String, String>;

/// Terms and scopes by number.
pub(super) struct Table<'f> {
    terms: Vec<Term<'f>>,
    depths: Vec<u32>,
    ids: FxHashMap<Term<'f>, TermId>,
    scopes: Vec<Rc<Scope>>,
    scope_ids: FxHashMap<Rc<Scope>, ScopeId>,
    /// The names that a node reads, as far as asked.
    read: FxHashMap<Node<'f>, Rc<BTreeSet<&'f str>>>,
    most_terms: usize,
}

impl<'f> Table<'f> {
    pub(super) fn new(most_terms: usize) -> Self {
        let nothing = Rc::new(Scope::new());
        Self {
            terms: Vec::new(),
            depths: Vec::new(),
            ids: FxHashMap::default(),
            scopes: vec![nothing.clone()],
            scope_ids: FxHashMap::from_iter([(nothing, NOTHING)]),
            read: FxHashMap::default(),
            most_terms,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    pub(super) fn get(&self, term: TermId) -> &Term<'f> {
        &self.terms[term.index()]
    }

    pub(super) fn intern(&mut self, term: Term<'f>) -> Result<TermId, Stop> {
        if let Some(&id) = self.ids.get(&term) {
            return Ok(id);
        }
        let depth_of = |t: TermId| self.depths[t.index()];
        let depth = match &term {
            Term::Stop | Term::At(..) | Term::State(..) => 0,
            Term::Relabelled(_, _, inner) | Term::Enable(_, _, inner) | Term::Gated(_, inner) => {
                1 + depth_of(*inner)
            }
            Term::Disable(left, right) => 1 + depth_of(*left).max(depth_of(*right)),
            Term::Parallel(_, _, parts) => {
                1 + parts.iter().map(|&p| depth_of(p)).max().unwrap_or(0)
            }
        };
        if depth > DEEPEST_TERM || self.terms.len() > self.most_terms {
            return Err(Stop::Budget);
        }
        let id = TermId(u32::try_from(self.terms.len()).map_err(|_| Stop::Budget)?);
        self.terms.push(term.clone());
        self.depths.push(depth);
        self.ids.insert(term, id);
        Ok(id)
    }

    /// A process with actions for its formal gates. Gates of gates are put together, so that a process
    /// that calls itself with its own gates is one term; what is called does no formal gates but its own.
    pub(super) fn gated(&mut self, map: GateMap, inner: TermId) -> Result<TermId, Stop> {
        let (map, inner) = match self.get(inner) {
            Term::Gated(before, inner) => {
                let through = |name: &String| map.get(name).unwrap_or(name).clone();
                let composed = before.iter().map(|(old, new)| (old.clone(), through(new)));
                (composed.collect(), *inner)
            }
            _ => (map, inner),
        };
        if map.is_empty() || *self.get(inner) == Term::Stop {
            return Ok(inner);
        }
        self.intern(Term::Gated(Rc::new(map), inner))
    }

    pub(super) fn scope(&self, id: ScopeId) -> Rc<Scope> {
        self.scopes[id.0 as usize].clone()
    }

    /// A scope without the names that a node does not read: what differs in them only is one term.
    pub(super) fn restrict(&mut self, scope: &Scope, node: &'f Behaviour) -> Result<ScopeId, Stop> {
        if scope.is_empty() {
            return Ok(NOTHING);
        }
        let read = self.read(node);
        self.keep(scope, &read)
    }

    /// The same for what is left of a prefix.
    pub(super) fn restrict_rest(
        &mut self,
        scope: &Scope,
        events: &'f [Event],
        rest: &'f Behaviour,
    ) -> Result<ScopeId, Stop> {
        if scope.is_empty() {
            return Ok(NOTHING);
        }
        let mut read = BTreeSet::clone(&self.read(rest));
        for event in events {
            read_by_event(event, &mut read);
        }
        self.keep(scope, &read)
    }

    /// The same for the gates of an operator alone.
    pub(super) fn restrict_gates(
        &mut self,
        scope: &Scope,
        node: &'f Behaviour,
    ) -> Result<ScopeId, Stop> {
        let mut read = BTreeSet::new();
        read_by_gates(node, &mut read);
        self.keep(scope, &read)
    }

    fn keep(&mut self, scope: &Scope, read: &BTreeSet<&str>) -> Result<ScopeId, Stop> {
        let kept = scope
            .iter()
            .filter(|(name, _)| read.contains(name.as_str()));
        let kept = kept.map(|(name, term)| (name.clone(), term.clone()));
        let scope = Rc::new(kept.collect::<Scope>());
        if let Some(&id) = self.scope_ids.get(&scope) {
            return Ok(id);
        }
        let id = ScopeId(u32::try_from(self.scopes.len()).map_err(|_| Stop::Budget)?);
        self.scopes.push(scope.clone());
        self.scope_ids.insert(scope, id);
        Ok(id)
    }

    /// All names that occur in the expressions of a node; those that it binds may be among them.
    fn read(&mut self, node: &'f Behaviour) -> Rc<BTreeSet<&'f str>> {
        if let Some(read) = self.read.get(&Node(node)) {
            return read.clone();
        }
        let mut read = BTreeSet::new();
        match &node.kind {
            BehaviourKind::Prefix { events, .. } => {
                for event in events {
                    read_by_event(event, &mut read);
                }
            }
            BehaviourKind::Guard { condition, .. } => read_by(condition, &mut read),
            BehaviourKind::Call { args, .. } => {
                for (_, value) in args {
                    read_by(value, &mut read);
                }
            }
            BehaviourKind::Each { range, .. } => {
                read_by(&range.0, &mut read);
                read_by(&range.1, &mut read);
            }
            BehaviourKind::Exit(values) => read_by_offers(values, &mut read),
            BehaviourKind::Let { value, .. } => read_by(value, &mut read),
            _ => {}
        }
        read_by_gates(node, &mut read);
        for part in node.parts() {
            read.extend(self.read(part).iter());
        }
        let read = Rc::new(read);
        self.read.insert(Node(node), read.clone());
        read
    }
}

fn read_by<'f>(expr: &'f Expr, out: &mut BTreeSet<&'f str>) {
    if let ExprKind::Name(name) = &expr.kind {
        out.insert(name);
    }
    expr.parts(&mut |part| read_by(part, out));
}

fn read_by_event<'f>(event: &'f Event, out: &mut BTreeSet<&'f str>) {
    if let EventKind::Offer { offers, guard, .. } = &event.kind {
        read_by_offers(offers, out);
        if let Some(guard) = guard {
            read_by(guard, out);
        }
    }
}

fn read_by_offers<'f>(offers: &'f [Offer], out: &mut BTreeSet<&'f str>) {
    for offer in offers {
        if let Offer::Value(expr) = offer {
            read_by(expr, out);
        }
    }
}

fn read_by_gates<'f>(node: &'f Behaviour, out: &mut BTreeSet<&'f str>) {
    let mut gate = |g: &'f Gate| g.values.iter().flatten().for_each(|e| read_by(e, out));
    match &node.kind {
        BehaviourKind::Hide { labels, .. } => labels.iter().for_each(gate),
        BehaviourKind::Rename { pairs, .. } => {
            for (old, new) in pairs {
                gate(old);
                gate(new);
            }
        }
        BehaviourKind::Parallel {
            sync: Sync::On(gates),
            ..
        }
        | BehaviourKind::Each {
            sync: Sync::On(gates),
            ..
        } => gates.iter().for_each(gate),
        _ => {}
    }
}

/// The actions that a call gives to the formal gates of a process.
pub(super) fn gate_map(
    called: &Definition,
    gates: &[Name],
    at: Span,
) -> Result<GateMap, Diagnostic> {
    if called.gates.len() != gates.len() {
        let message = format!(
            "process `{}` has {} gates, and {} are given",
            called.name.text,
            called.gates.len(),
            gates.len()
        );
        return Err(Diagnostic::error(codes::INSTANCE_ARGUMENT, at, message));
    }
    let pairs = called.gates.iter().zip(gates);
    Ok(pairs
        .map(|(formal, actual)| (formal.text.clone(), actual.text.clone()))
        .collect())
}
