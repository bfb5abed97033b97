//! Mutants: models that differ from a given one in a single place.
//!
//! A mutant is made of the tree of a file, so that it reads like its model, comments included. The
//! places are counted and picked by number, and a mutant is made only when it is asked for: a model with
//! a million transitions has 10¹² mutants, and nobody wants to see them all.

mod expression;
mod operator;

use crate::fmt::{format_file, transition_text};
use crate::syntax::ast::{
    Binding, Event, EventKind, ExprKind, File, Item, LabelDecl, Machine, Member, Name, Role, State,
    Transition,
};
use crate::{diagnostic, parse_and_check};
use expression::Change;
use iolite_lts::LabelKind;
pub use operator::{Operator, UnknownOperator};

/// A model that differs from another in one place.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// In which way.
    pub operator: Operator,
    /// The line of the model, from 1.
    pub line: u32,
    /// What was there and what is there now.
    pub change: String,
    /// The whole file.
    pub text: String,
}

/// The places of a model where mutants differ from it.
#[derive(Debug)]
pub struct Mutations<'f> {
    file: &'f File,
    machines: Vec<Places<'f>>,
    /// How many each operator has at each machine, in order.
    sites: Vec<(Operator, usize, u64)>,
}

/// The places of one machine.
#[derive(Debug)]
struct Places<'f> {
    item: usize,
    machine: &'f Machine,
    /// The members that are states.
    states: Vec<usize>,
    /// Transitions: a member that is a state, and a position in it.
    transitions: Vec<(usize, usize)>,
    /// Events: a transition, and a position in it.
    events: Vec<(usize, usize)>,
    labels: Vec<(LabelKind, &'f LabelDecl)>,
    /// Variables.
    variables: Vec<&'f Binding>,
    /// Assignments: a transition, and a position in it.
    effects: Vec<(usize, usize)>,
    /// Guards: transitions that have one.
    guards: Vec<usize>,
    constants: Vec<ExprSite>,
    weakenings: Vec<ExprSite>,
    /// Events with parameters, and the positions of two of them.
    swaps: Vec<(usize, usize, usize)>,
}

/// A change within an expression.
#[derive(Clone, Debug)]
struct ExprSite {
    slot: Slot,
    node: usize,
    change: Change,
}

/// Where an expression stands.
#[derive(Clone, Copy, Debug)]
enum Slot {
    /// The value of a constant or variable: a member, and a position in it.
    Binding(usize, usize),
    /// The guard of a transition.
    Guard(usize),
    /// The value of an assignment.
    Effect(usize, usize),
}

impl<'f> Places<'f> {
    fn new(file: &'f File, item: usize, machine: &'f Machine) -> Self {
        let mut places = Self {
            item,
            machine,
            states: Vec::new(),
            transitions: Vec::new(),
            events: Vec::new(),
            labels: machine.labels().collect(),
            variables: machine
                .bindings()
                .filter_map(|(constant, b)| (!constant).then_some(b))
                .collect(),
            effects: Vec::new(),
            guards: Vec::new(),
            constants: Vec::new(),
            weakenings: Vec::new(),
            swaps: Vec::new(),
        };
        for (m, member) in machine.members.iter().enumerate() {
            match member {
                Member::State(state) => {
                    places.states.push(m);
                    for (t, transition) in state.transitions.iter().enumerate() {
                        places.transition(file, (m, t), transition);
                    }
                }
                Member::Const(bindings) | Member::Var(bindings) => {
                    for (b, binding) in bindings.iter().enumerate() {
                        if let Some(value) = &binding.value {
                            let slot = Slot::Binding(m, b);
                            collect(&mut places.constants, slot, |found| {
                                expression::constants(file, value, found);
                            });
                        }
                    }
                }
                Member::Assume { .. } | Member::Labels { .. } => {}
            }
        }
        places
    }

    fn transition(&mut self, file: &File, at: (usize, usize), transition: &Transition) {
        let t = self.transitions.len();
        self.transitions.push(at);
        for (e, event) in transition.events.iter().enumerate() {
            if let EventKind::Label { args, .. } = &event.kind {
                let count = args.as_ref().map_or(0, Vec::len);
                for i in 0..count {
                    for j in i + 1..count {
                        self.swaps.push((self.events.len(), i, j));
                    }
                }
            }
            self.events.push((t, e));
        }
        if let Some(guard) = &transition.guard {
            self.guards.push(t);
            let slot = Slot::Guard(t);
            collect(&mut self.constants, slot, |found| {
                expression::constants(file, guard, found);
            });
            collect(&mut self.weakenings, slot, |found| {
                expression::weakenings(guard, found);
            });
        }
        for (e, effect) in transition.effects.iter().enumerate() {
            self.effects.push((t, e));
            collect(&mut self.constants, Slot::Effect(t, e), |found| {
                expression::constants(file, &effect.value, found);
            });
        }
    }

    /// How many places an operator has; some of them give no mutant.
    fn count(&self, operator: Operator) -> u64 {
        let product = |factors: &[usize]| {
            let factors = factors.iter().map(|&n| n as u64);
            factors.fold(1, u64::saturating_mul)
        };
        match operator {
            Operator::Drop => product(&[self.events.len()]),
            Operator::Redirect => product(&[self.transitions.len(), self.states.len()]),
            // One more: an output becomes internal.
            Operator::Relabel => product(&[self.events.len(), self.labels.len() + 1]),
            Operator::Add => product(&[self.states.len(), self.labels.len(), self.states.len()]),
            Operator::Constant => product(&[self.constants.len()]),
            Operator::NegateGuard | Operator::DropGuard => product(&[self.guards.len()]),
            Operator::WeakenGuard => product(&[self.weakenings.len()]),
            Operator::DropAssignment => product(&[self.effects.len()]),
            // One more, the opposite, or another variable.
            Operator::ChangeAssignment => product(&[self.effects.len(), self.variables.len() + 2]),
            Operator::SwapParameters => product(&[self.swaps.len()]),
        }
    }

    fn state(&self, s: usize) -> Option<&'f State> {
        state(self.machine, *self.states.get(s)?)
    }

    fn target(&self, s: usize) -> Option<Name> {
        self.state(s).map(|state| state.name.clone())
    }
}

fn collect(into: &mut Vec<ExprSite>, slot: Slot, find: impl FnOnce(&mut dyn FnMut(usize, Change))) {
    find(&mut |node, change| into.push(ExprSite { slot, node, change }));
}

fn state(machine: &Machine, member: usize) -> Option<&State> {
    match machine.members.get(member)? {
        Member::State(state) => Some(state),
        _ => None,
    }
}

/// A machine that is being changed.
struct Draft<'p, 'f> {
    places: &'p Places<'f>,
    machine: Machine,
}

impl Draft<'_, '_> {
    fn state(&mut self, member: usize) -> Option<&mut State> {
        match self.machine.members.get_mut(member)? {
            Member::State(state) => Some(state),
            _ => None,
        }
    }

    fn transition(&mut self, t: usize) -> Option<&mut Transition> {
        let (member, at) = *self.places.transitions.get(t)?;
        self.state(member)?.transitions.get_mut(at)
    }

    fn original(&self, t: usize) -> Option<&Transition> {
        let (member, at) = *self.places.transitions.get(t)?;
        state(self.places.machine, member)?.transitions.get(at)
    }

    fn old_and_new(&mut self, t: usize) -> Option<(usize, String)> {
        let old = self.original(t)?;
        let (start, old) = (old.span.start, transition_text(old));
        let new = transition_text(self.transition(t)?);
        (old != new).then(|| (start, format!("{old}  becomes  {new}")))
    }

    /// Makes the change of the `k`-th place of an operator; gives where it is and what it is.
    fn apply(&mut self, operator: Operator, k: usize) -> Option<(usize, String)> {
        match operator {
            Operator::Drop => self.drop_event(k),
            Operator::Redirect => {
                let (t, s) = split(k, self.places.states.len())?;
                let target = self.places.target(s)?;
                let transition = self.transition(t)?;
                transition.target = target;
                self.old_and_new(t)
            }
            Operator::Relabel => self.relabel(k),
            Operator::Add => self.add(k),
            Operator::Constant => self.in_expression(&self.places.constants.get(k)?.clone()),
            Operator::WeakenGuard => self.in_expression(&self.places.weakenings.get(k)?.clone()),
            Operator::NegateGuard => {
                let t = *self.places.guards.get(k)?;
                expression::apply(self.transition(t)?.guard.as_mut()?, 0, &Change::Not)?;
                self.old_and_new(t)
            }
            Operator::DropGuard => {
                let t = *self.places.guards.get(k)?;
                self.transition(t)?.guard = None;
                self.old_and_new(t)
            }
            Operator::DropAssignment => {
                let (t, e) = *self.places.effects.get(k)?;
                let effects = &mut self.transition(t)?.effects;
                (e < effects.len()).then(|| effects.remove(e))?;
                self.old_and_new(t)
            }
            Operator::ChangeAssignment => self.change_assignment(k),
            Operator::SwapParameters => {
                let (event, i, j) = *self.places.swaps.get(k)?;
                let (t, e) = self.places.events[event];
                let event = self.transition(t)?.events.get_mut(e)?;
                if let EventKind::Label { args: Some(a), .. } = &mut event.kind {
                    a.swap(i, j);
                }
                self.old_and_new(t)
            }
        }
    }

    fn drop_event(&mut self, k: usize) -> Option<(usize, String)> {
        let (t, e) = *self.places.events.get(k)?;
        if self.original(t)?.events.len() > 1 {
            self.transition(t)?.events.remove(e);
            return self.old_and_new(t);
        }
        let (member, at) = *self.places.transitions.get(t)?;
        let gone = self.state(member)?.transitions.remove(at);
        let text = format!("{}  is missing", transition_text(&gone));
        Some((gone.span.start, text))
    }

    fn relabel(&mut self, k: usize) -> Option<(usize, String)> {
        let (event, l) = split(k, self.places.labels.len() + 1)?;
        let (t, e) = *self.places.events.get(event)?;
        let new = self.places.labels.get(l).copied();
        let known = self.places.labels.clone();
        let event = self.transition(t)?.events.get_mut(e)?;
        let EventKind::Label { kind, name, args } = &mut event.kind else {
            return None;
        };
        // A bare name may be that of a declared internal action.
        let old = known.iter().find(|(k, l)| {
            l.name.text == name.text && (k == kind || *kind == LabelKind::Undirected)
        });
        let (old_kind, old) = *old?;
        match new {
            Some((new_kind, new)) => {
                if new_kind != old_kind || new.params.len() != old.params.len() {
                    return None;
                }
                name.text.clone_from(&new.name.text);
            }
            None if old_kind == LabelKind::Output && args.is_none() => {
                event.kind = EventKind::Tau;
            }
            None => return None,
        }
        self.old_and_new(t)
    }

    fn add(&mut self, k: usize) -> Option<(usize, String)> {
        let states = self.places.states.len();
        let (rest, s) = split(k, states)?;
        let (from, l) = split(rest, self.places.labels.len())?;
        let (kind, label) = *self.places.labels.get(l)?;
        // An output with any value at all would say more about the sort than about the model.
        if kind == LabelKind::Output && !label.params.is_empty() {
            return None;
        }
        let target = self.places.target(s)?;
        let member = *self.places.states.get(from)?;
        let state = self.state(member)?;
        let span = state.span;
        let written = match kind {
            LabelKind::Internal => LabelKind::Undirected,
            kind => kind,
        };
        let event = Event {
            kind: EventKind::Label {
                kind: written,
                name: label.name.clone(),
                args: None,
            },
            span,
        };
        let there = state.transitions.iter().any(|t| {
            t.guard.is_none()
                && t.target.text == target.text
                && t.events.iter().any(|e| same_label(e, written, &label.name))
        });
        if there {
            return None;
        }
        let new = Transition {
            events: vec![event],
            guard: None,
            effects: Vec::new(),
            target,
            // Comments of the state stay in front of it.
            span: crate::Span::at(span.end),
        };
        let text = format!("state {} gets  {}", state.name.text, transition_text(&new));
        state.transitions.push(new);
        Some((span.start, text))
    }

    fn change_assignment(&mut self, k: usize) -> Option<(usize, String)> {
        let (at, how) = split(k, self.places.variables.len() + 2)?;
        let (t, e) = *self.places.effects.get(at)?;
        let variables = self.places.variables.clone();
        let effect = self.transition(t)?.effects.get_mut(e)?;
        match how {
            0 => expression::apply(&mut effect.value, 0, &Change::Increment)?,
            1 => expression::apply(&mut effect.value, 0, &Change::Not)?,
            v => {
                let name = &variables.get(v - 2)?.name.text;
                // x := x is the assignment dropped.
                if matches!(&effect.place.kind, ExprKind::Name(place) if place == name) {
                    return None;
                }
                effect.value.kind = ExprKind::Name(name.clone());
            }
        }
        self.old_and_new(t)
    }

    fn in_expression(&mut self, site: &ExprSite) -> Option<(usize, String)> {
        let expr = match site.slot {
            Slot::Guard(t) => self.transition(t)?.guard.as_mut()?,
            Slot::Effect(t, e) => &mut self.transition(t)?.effects.get_mut(e)?.value,
            Slot::Binding(member, b) => match self.machine.members.get_mut(member)? {
                Member::Const(list) | Member::Var(list) => list.get_mut(b)?.value.as_mut()?,
                _ => return None,
            },
        };
        // `x == 1` as `x <= 1` has a meaning for integers alone; the checks of the language know.
        let old = crate::fmt::expr_text(expr);
        let span = expr.span;
        expression::apply(expr, site.node, &site.change)?;
        let new = crate::fmt::expr_text(expr);
        match site.slot {
            Slot::Binding(member, b) => {
                let (Member::Const(list) | Member::Var(list)) = &self.machine.members[member]
                else {
                    return None;
                };
                let name = &list[b].name.text;
                Some((
                    span.start,
                    format!("{name} = {old}  becomes  {name} = {new}"),
                ))
            }
            Slot::Guard(t) | Slot::Effect(t, _) => self.old_and_new(t),
        }
    }
}

fn same_label(event: &Event, kind: LabelKind, name: &Name) -> bool {
    matches!(&event.kind, EventKind::Label { kind: k, name: n, .. } if *k == kind && n.text == name.text)
}

/// `k` as a number of two digits, the lower one below `base`.
fn split(k: usize, base: usize) -> Option<(usize, usize)> {
    (base > 0).then(|| (k / base, k % base))
}

impl<'f> Mutations<'f> {
    /// The places in the systems that a declaration is made of: itself, or what it calls.
    pub fn new(file: &'f File, name: &str, operators: &[Operator]) -> Self {
        let mut wanted = vec![name.to_owned()];
        let mut seen = 0;
        while seen < wanted.len() {
            let name = wanted[seen].clone();
            seen += 1;
            let item = file.items.iter().find(|i| i.name().text == name);
            if let Some(Item::Definition(d)) = item {
                d.body.calls(&mut |called| {
                    if !wanted.contains(&called.text) {
                        wanted.push(called.text.clone());
                    }
                });
            }
        }
        let machines: Vec<Places<'_>> = file
            .items
            .iter()
            .enumerate()
            .filter_map(|(k, item)| match item {
                Item::Machine(m) if m.role == Role::System && wanted.contains(&m.name.text) => {
                    Some(Places::new(file, k, m))
                }
                _ => None,
            })
            .collect();
        let of_operator = |&operator: &Operator| {
            let counts = machines.iter().enumerate();
            counts
                .map(move |(m, places)| (operator, m, places.count(operator)))
                .collect::<Vec<_>>()
        };
        Self {
            file,
            sites: operators.iter().flat_map(of_operator).collect(),
            machines,
        }
    }

    /// How many places there are. Not each has a mutant.
    pub fn len(&self) -> u64 {
        let counts = self.sites.iter().map(|&(_, _, count)| count);
        counts.fold(0, u64::saturating_add)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many places the operators have, in the order of the places.
    pub fn counts(&self) -> impl Iterator<Item = (Operator, u64)> {
        self.sites
            .iter()
            .map(|&(operator, _, count)| (operator, count))
    }

    fn site(&self, mut place: u64) -> Option<(Operator, usize, u64)> {
        for &(operator, machine, count) in &self.sites {
            if place < count {
                return Some((operator, machine, place));
            }
            place -= count;
        }
        None
    }

    /// The mutant of a place; `None` where nothing would change, or what comes out is no model.
    pub fn mutant(&self, place: u64) -> Option<Mutant> {
        let (operator, machine, k) = self.site(place)?;
        let places = &self.machines[machine];
        let mut draft = Draft {
            places,
            machine: places.machine.clone(),
        };
        let (offset, change) = draft.apply(operator, usize::try_from(k).ok()?)?;
        let mut file = self.file.clone();
        file.items[places.item] = Item::Machine(draft.machine);
        let text = format_file(&file);
        let (_, found) = parse_and_check(&text);
        if diagnostic::has_errors(&found) {
            return None;
        }
        Some(Mutant {
            operator,
            line: self.file.lines.line(offset),
            change,
            text,
        })
    }
}
