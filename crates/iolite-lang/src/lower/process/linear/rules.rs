//! The operational rules over terms: those of `super::super::rules`, with guards instead of values.

use iolite_expr::{Sort as TermSort, Term, Var, VarId};
use iolite_lts::{LabelId, LabelKind, Lts};
use rustc_hash::FxHashMap;

use super::super::term::{DEEPEST_TERM, GateMap, Node, Table, gate_map};
use super::super::{Context, Stop};
use super::config::{Config, MOST_STATIC};
use super::data_machine::DataMachines;
use super::step::{Action, Step, of_sort};
use crate::gate::Pattern;
use crate::lower::composition::no_arguments;
use crate::lower::machine;
use crate::lower::parts::Meeting;
use crate::lower::term::{Scope, literal};
use crate::syntax::ast::{
    Behaviour, BehaviourKind, Definition, Event, EventKind, Expr, Item, Machine, Name, Offer,
    Param, Sync,
};
use crate::{Diagnostic, Span, codes};

/// The space of values that steps choose; they are gone when a transition is made.
const FRESH_SPACE: u8 = 101;
/// Terms that are made for one control point before the process is taken to grow without end.
const MOST_STARTS: usize = 20_000;

pub(super) struct Rules<'f> {
    pub(super) context: Context<'f>,
    table: Table<'f>,
    machines: Vec<Lts>,
    machine_ids: FxHashMap<&'f str, u32>,
    data: DataMachines,
    fresh: usize,
    starts: usize,
}

impl<'f> Rules<'f> {
    pub(super) fn new(context: Context<'f>) -> Self {
        Self {
            context,
            table: Table::new(usize::MAX),
            machines: Vec::new(),
            machine_ids: FxHashMap::default(),
            data: DataMachines::default(),
            fresh: 0,
            starts: 0,
        }
    }

    pub(super) fn initial(
        &mut self,
        body: &'f Behaviour,
        scope: &Scope,
    ) -> Result<Config<'f>, Stop> {
        self.start(body, scope, 0)
    }

    /// The steps of a control point.
    pub(super) fn steps(&mut self, config: &Config<'f>) -> Result<Vec<Step<'f>>, Stop> {
        self.starts = 0;
        self.row(config)
    }

    /// A value that a step chooses.
    fn choose(&mut self, name: &str, sort: TermSort) -> Var {
        let id = VarId::new(FRESH_SPACE, self.fresh);
        self.fresh += 1;
        Var::new(id, name, sort)
    }

    fn read(&mut self, scope: &Scope, node: &'f Behaviour) -> Result<Scope, Stop> {
        let id = self.table.restrict(scope, node)?;
        Ok((*self.table.scope(id)).clone())
    }

    /// What gates read has to be known.
    fn read_by_gates(&mut self, scope: &Scope, node: &'f Behaviour) -> Result<Scope, Stop> {
        let id = self.table.restrict_gates(scope, node)?;
        let scope = (*self.table.scope(id)).clone();
        if let Some((name, _)) = scope.iter().find(|(_, term)| !term.is_ground()) {
            let message = format!("the value of `{name}` names an action here, and is not known");
            let error = Diagnostic::error(codes::BAD_TERM, node.span, message);
            return Err(error.hint("give it a range of at most 64 values").into());
        }
        Ok(scope)
    }

    /// The term of an expression, its value where that is known.
    fn term(&self, expr: &Expr, scope: &Scope, sort: Option<&TermSort>) -> Result<Term, Stop> {
        let terms = self.context.terms;
        let term = terms.term(expr, scope, sort)?;
        if term.is_ground() {
            let value = terms.value(expr, scope, sort)?;
            let own = sort.cloned().or_else(|| value.sort());
            return Ok(match own {
                Some(own) => literal(value, &own, expr.span)?,
                None => term,
            });
        }
        match sort {
            Some(sort) => of_sort(&term, sort, expr.span),
            None => Ok(term),
        }
    }

    fn parameters(
        &self,
        definition: &Definition,
        args: &[(Name, Expr)],
        scope: &Scope,
        at: Span,
    ) -> Result<Scope, Stop> {
        let mut inner = Scope::new();
        for param in &definition.params {
            let given = args.iter().find(|(arg, _)| arg.text == param.name.text);
            let Some((_, expr)) = given else {
                let (process, param) = (&definition.name.text, &param.name.text);
                let message = format!("process `{process}` needs a value for `{param}`");
                return Err(Diagnostic::error(codes::INSTANCE_ARGUMENT, at, message).into());
            };
            let sort = self.context.terms.sort(&param.sort)?;
            inner.insert(
                param.name.text.clone(),
                self.term(expr, scope, Some(&sort))?,
            );
        }
        Ok(inner)
    }

    /// The configuration of a node of the tree; calls are replaced by what they call.
    fn start(
        &mut self,
        node: &'f Behaviour,
        scope: &Scope,
        level: u32,
    ) -> Result<Config<'f>, Stop> {
        self.starts += 1;
        if self.starts > MOST_STARTS {
            return Err(Stop::Budget);
        }
        if level > DEEPEST_TERM {
            let message =
                format!("more than {DEEPEST_TERM} processes are called within one another");
            return Err(Diagnostic::error(codes::TOO_DEEP, node.span, message).into());
        }
        let level = level + 1;
        Ok(match &node.kind {
            BehaviourKind::Stop | BehaviourKind::Error => Config::Stop,
            BehaviourKind::Prefix { .. }
            | BehaviourKind::Choice(_)
            | BehaviourKind::ChoiceOver { .. }
            | BehaviourKind::Exit(_) => Config::At(Node(node), 0, self.read(scope, node)?),
            BehaviourKind::Guard { condition, body } => {
                let term = self.term(condition, scope, Some(&TermSort::Bool))?;
                match term.as_value().and_then(iolite_expr::Value::as_bool) {
                    Some(true) => self.start(body, scope, level)?,
                    Some(false) => Config::Stop,
                    None => Config::At(Node(node), 0, self.read(scope, node)?),
                }
            }
            BehaviourKind::Let {
                name,
                sort,
                value,
                body,
            } => {
                let sort = sort
                    .as_ref()
                    .map(|s| self.context.terms.sort(s))
                    .transpose()?;
                let term = self.term(value, scope, sort.as_ref())?;
                let mut inner = scope.clone();
                inner.insert(name.text.clone(), term);
                self.start(body, &inner, level)?
            }
            BehaviourKind::Enable { parts, .. } => {
                let left = self.start(&parts[0], scope, level)?;
                Config::Enable(Node(node), self.read(scope, &parts[1])?, Box::new(left))
            }
            BehaviourKind::Disable(parts) => {
                let left = self.start(&parts[0], scope, level)?;
                let right = self.start(&parts[1], scope, level)?;
                Config::Disable(Box::new([left, right]))
            }
            BehaviourKind::Parallel { parts, .. } => {
                let parts = parts
                    .iter()
                    .map(|p| self.start(p, scope, level))
                    .collect::<Result<Vec<_>, _>>()?;
                Config::Parallel(Node(node), self.read_by_gates(scope, node)?, parts)
            }
            BehaviourKind::Hide { body, .. } | BehaviourKind::Rename { body, .. } => {
                let inner = self.start(body, scope, level)?;
                let gates = self.read_by_gates(scope, node)?;
                Config::Relabelled(Node(node), gates, Box::new(inner))
            }
            BehaviourKind::Each {
                index, range, body, ..
            } => {
                let mut parts = Vec::new();
                let mut inner = scope.clone();
                for value in self.context.terms.indices(range, body, scope)? {
                    // An index is known, so it belongs to the control point.
                    let alone = value.as_value().and_then(|v| v.as_int().cloned());
                    let alone = alone.and_then(|n| TermSort::range(n.clone(), n).ok());
                    let value = match alone {
                        Some(sort) => of_sort(&value, &sort, node.span)?,
                        None => value,
                    };
                    inner.insert(index.text.clone(), value);
                    parts.push(self.start(body, &inner, level)?);
                }
                let gates = self.read_by_gates(scope, node)?;
                match <[_; 1]>::try_from(parts) {
                    Ok([one]) => one,
                    Err(parts) => Config::Parallel(Node(node), gates, parts),
                }
            }
            BehaviourKind::Call { name, gates, args } => {
                match self.context.names.behaviour(&name.text, name.span)? {
                    Item::Definition(definition) => {
                        let inner = self.parameters(definition, args, scope, name.span)?;
                        let map = gate_map(definition, gates, name.span)?;
                        let inner = self.start(&definition.body, &inner, level)?;
                        Config::gated(&map, inner)
                    }
                    Item::Machine(m) if m.has_data() => {
                        self.data.start(self.context, m, args, scope, name.span)?
                    }
                    Item::Machine(m) => {
                        no_arguments(m, args)?;
                        let machine = self.machine(m)?;
                        Config::State(machine, self.machines[machine as usize].initial())
                    }
                    _ => Config::Stop,
                }
            }
        })
    }

    fn machine(&mut self, machine: &'f Machine) -> Result<u32, Stop> {
        let name = machine.name.text.as_str();
        if let Some(&id) = self.machine_ids.get(name) {
            return Ok(id);
        }
        let lts = machine::lower(self.context.file, machine).map_err(Stop::Found)?;
        let id = self.machines.len() as u32;
        self.machines.push(lts);
        self.machine_ids.insert(name, id);
        Ok(id)
    }

    fn row(&mut self, config: &Config<'f>) -> Result<Vec<Step<'f>>, Stop> {
        match config {
            Config::Stop => Ok(Vec::new()),
            Config::State(machine, state) => Ok(self.machine_steps(*machine, *state)),
            Config::Data(place, scope) => {
                let data = std::mem::take(&mut self.data);
                let steps = data.steps(place, scope, &mut |name, sort| self.choose(name, sort));
                self.data = data;
                steps
            }
            Config::At(node, k, scope) => self.at(*node, *k, scope),
            Config::Relabelled(node, scope, inner) => {
                let steps = self.row(inner)?;
                let terms = self.context.terms;
                let steps = match &node.0.kind {
                    BehaviourKind::Hide { labels, .. } => {
                        hidden(steps, &terms.patterns(labels, scope)?)
                    }
                    BehaviourKind::Rename { pairs, .. } => {
                        renamed(steps, &terms.pattern_pairs(pairs, scope)?)
                    }
                    _ => steps,
                };
                Ok(into_target(steps, |target| {
                    Config::Relabelled(*node, scope.clone(), Box::new(target))
                }))
            }
            Config::Gated(map, inner) => {
                let pattern = |name: &String| Pattern::new(name, Vec::new());
                let pairs: Vec<_> = map.iter().map(|(o, n)| (pattern(o), pattern(n))).collect();
                let steps = renamed(self.row(inner)?, &pairs);
                let map: &GateMap = map;
                Ok(into_target(steps, |target| Config::gated(map, target)))
            }
            Config::Enable(node, scope, left) => {
                let mut steps = Vec::new();
                for mut step in self.row(left)? {
                    if let Action::Exit(values) = step.action {
                        step.target = self.enabled(*node, scope, &values, step.span)?;
                        step.action = Action::Internal;
                    } else {
                        step.target = Config::Enable(*node, scope.clone(), Box::new(step.target));
                    }
                    steps.push(step);
                }
                Ok(steps)
            }
            Config::Disable(parts) => {
                let [left, right] = &**parts;
                let mut steps = Vec::new();
                for mut step in self.row(left)? {
                    // Once the left side has exited it cannot be disabled any more.
                    if !matches!(step.action, Action::Exit(_)) {
                        step.target = Config::Disable(Box::new([step.target, right.clone()]));
                    }
                    steps.push(step);
                }
                steps.extend(self.row(right)?);
                Ok(steps)
            }
            Config::Parallel(node, scope, parts) => self.parallel(*node, scope, parts),
        }
    }

    fn machine_steps(&self, machine: u32, state: iolite_lts::StateId) -> Vec<Step<'f>> {
        let lts = &self.machines[machine as usize];
        let step = |&(label, target): &(LabelId, iolite_lts::StateId)| {
            let known = lts.labels().label(label);
            let action = if known.kind.is_visible() && label != LabelId::TAU {
                Action::Visible {
                    kind: known.kind,
                    name: known.name.to_string(),
                    args: Vec::new(),
                }
            } else {
                Action::Internal
            };
            Step {
                action,
                guard: Vec::new(),
                condition: Vec::new(),
                fresh: Vec::new(),
                target: Config::State(machine, target),
                span: Span::default(),
            }
        };
        lts.steps(state).iter().map(step).collect()
    }

    fn at(&mut self, node: Node<'f>, k: u32, scope: &Scope) -> Result<Vec<Step<'f>>, Stop> {
        match &node.0.kind {
            BehaviourKind::Prefix { events, rest } => {
                let next = k as usize + 1;
                let event = &events[k as usize];
                let (mut step, scope) = self.event(event, scope)?;
                step.target = if next < events.len() {
                    let id = self.table.restrict_rest(&scope, &events[next..], rest)?;
                    Config::At(node, k + 1, (*self.table.scope(id)).clone())
                } else {
                    self.start(rest, &scope, 0)?
                };
                Ok(vec![step])
            }
            BehaviourKind::Choice(parts) => {
                let mut steps = Vec::new();
                for part in parts {
                    let part = self.start(part, scope, 0)?;
                    steps.extend(self.row(&part)?);
                }
                Ok(steps)
            }
            BehaviourKind::ChoiceOver { params, body } => self.choice(params, body, scope),
            BehaviourKind::Guard { condition, body } => {
                let guard = self.term(condition, scope, Some(&TermSort::Bool))?;
                let body = self.start(body, scope, 0)?;
                let mut steps = self.row(&body)?;
                for step in &mut steps {
                    step.guard.insert(0, guard.clone());
                }
                Ok(steps)
            }
            BehaviourKind::Exit(values) => {
                let (args, fresh, _) = self.offers(values, scope)?;
                Ok(vec![Step {
                    action: Action::Exit(args),
                    guard: Vec::new(),
                    condition: Vec::new(),
                    fresh,
                    target: Config::Stop,
                    span: node.0.span,
                }])
            }
            _ => Ok(Vec::new()),
        }
    }

    fn choice(
        &mut self,
        params: &'f [Param],
        body: &'f Behaviour,
        scope: &Scope,
    ) -> Result<Vec<Step<'f>>, Stop> {
        let Some((first, others)) = params.split_first() else {
            let body = self.start(body, scope, 0)?;
            return self.row(&body);
        };
        let sort = self.context.terms.sort(&first.sort)?;
        let mut inner = scope.clone();
        let name = &first.name.text;
        let Some(values) = sort.values(MOST_STATIC) else {
            let var = self.choose(name, sort);
            inner.insert(name.clone(), var.term());
            let mut steps = self.choice(others, body, &inner)?;
            for step in &mut steps {
                step.fresh.push(var.clone());
            }
            return Ok(steps);
        };
        let mut steps = Vec::new();
        for value in values {
            inner.insert(name.clone(), literal(value, &sort, first.name.span)?);
            steps.extend(self.choice(others, body, &inner)?);
        }
        Ok(steps)
    }

    /// What an action carries, the values that it takes, and what is known afterwards.
    fn offers(
        &mut self,
        offers: &[Offer],
        scope: &Scope,
    ) -> Result<(Vec<Term>, Vec<Var>, Scope), Stop> {
        let (mut args, mut fresh, mut scope) = (Vec::new(), Vec::new(), scope.clone());
        for offer in offers {
            args.push(match offer {
                Offer::Value(expr) => self.term(expr, &scope, None)?,
                Offer::Variable(param) => {
                    let sort = self.context.terms.sort(&param.sort)?;
                    let var = self.choose(&param.name.text, sort);
                    scope.insert(param.name.text.clone(), var.term());
                    fresh.push(var.clone());
                    var.term()
                }
            });
        }
        Ok((args, fresh, scope))
    }

    /// The step of an event, without its target, and what is known after it.
    fn event(&mut self, event: &'f Event, scope: &Scope) -> Result<(Step<'f>, Scope), Stop> {
        let step = |action, condition, fresh| Step {
            action,
            guard: Vec::new(),
            condition,
            fresh,
            target: Config::Stop,
            span: event.span,
        };
        match &event.kind {
            EventKind::Tau => {
                let step = step(Action::Internal, Vec::new(), Vec::new());
                Ok((step, scope.clone()))
            }
            EventKind::Label {
                kind,
                name,
                args: None,
            } => {
                let action = directed(*kind, &name.text, Vec::new(), event.span)?;
                Ok((step(action, Vec::new(), Vec::new()), scope.clone()))
            }
            EventKind::Offer {
                kind,
                name,
                offers,
                guard,
            } => {
                let (args, fresh, scope) = self.offers(offers, scope)?;
                let condition = match guard {
                    Some(guard) => vec![self.term(guard, &scope, Some(&TermSort::Bool))?],
                    None => Vec::new(),
                };
                let action = directed(*kind, &name.text, args, event.span)?;
                Ok((step(action, condition, fresh), scope))
            }
            _ => Err(Diagnostic::error(
                codes::EVENT_NOT_HERE,
                event.span,
                "a process names its actions",
            )
            .into()),
        }
    }

    /// What `>>` enables, with the values of the exit.
    fn enabled(
        &mut self,
        node: Node<'f>,
        scope: &Scope,
        values: &[Term],
        span: Span,
    ) -> Result<Config<'f>, Stop> {
        let BehaviourKind::Enable { accept, parts } = &node.0.kind else {
            return Ok(Config::Stop);
        };
        if accept.len() != values.len() {
            let (n, m) = (values.len(), accept.len());
            let message = format!("{n} values are handed on, and {m} accepted");
            return Err(Diagnostic::error(codes::EXIT_VALUES, span, message).into());
        }
        let mut inner = scope.clone();
        for (param, value) in accept.iter().zip(values) {
            let sort = self.context.terms.sort(&param.sort)?;
            inner.insert(param.name.text.clone(), of_sort(value, &sort, span)?);
        }
        self.start(&parts[1], &inner, 0)
    }

    fn meeting(&self, node: Node<'f>, scope: &Scope) -> Result<Meeting, Stop> {
        let (BehaviourKind::Parallel { sync, .. } | BehaviourKind::Each { sync, .. }) =
            &node.0.kind
        else {
            return Ok(Meeting::None);
        };
        Ok(match sync {
            Sync::All => Meeting::All,
            Sync::Interleave => Meeting::None,
            Sync::On(gates) => Meeting::On(self.context.terms.patterns(gates, scope)?),
        })
    }

    fn parallel(
        &mut self,
        node: Node<'f>,
        scope: &Scope,
        parts: &[Config<'f>],
    ) -> Result<Vec<Step<'f>>, Stop> {
        let gates = self.meeting(node, scope)?;
        let mut steps = Vec::new();
        let mut meeting: Vec<Vec<Step<'f>>> = Vec::new();
        for (k, part) in parts.iter().enumerate() {
            let (together, alone) = parted(self.row(part)?, &gates);
            meeting.push(together);
            for mut step in alone {
                let mut moved = parts.to_vec();
                moved[k] = step.target;
                step.target = Config::Parallel(node, scope.clone(), moved);
                steps.push(step);
            }
        }
        // On a gate all parts move together: extend every partial meeting by each part in turn.
        let mut rows = meeting.into_iter();
        let first = rows.next().unwrap_or_default();
        let mut met = into_target(first, |target| {
            Config::Parallel(node, scope.clone(), vec![target])
        });
        for row in rows {
            let mut next = Vec::new();
            for one in &met {
                for other in &row {
                    if let Some(both) = one.met(other)?
                        && !both.is_impossible()
                    {
                        next.push(both);
                    }
                    if next.len() > MOST_STARTS {
                        return Err(Stop::Budget);
                    }
                }
            }
            met = next;
        }
        steps.extend(met);
        Ok(steps)
    }
}

/// Where data are infinite, actions are inputs or outputs.
fn directed(kind: LabelKind, name: &str, args: Vec<Term>, span: Span) -> Result<Action, Stop> {
    if !matches!(kind, LabelKind::Input | LabelKind::Output) {
        let message =
            format!("`{name}` has no direction, and the data of the process are infinite");
        let error = Diagnostic::error(codes::BAD_TERM, span, message);
        let hint = format!("write `?{name}` or `!{name}`; or give the data finite sorts");
        return Err(error.hint(hint).into());
    }
    let name = name.to_owned();
    Ok(Action::Visible { kind, name, args })
}

fn into_target<'f>(
    mut steps: Vec<Step<'f>>,
    mut wrap: impl FnMut(Config<'f>) -> Config<'f>,
) -> Vec<Step<'f>> {
    for step in &mut steps {
        let target = std::mem::replace(&mut step.target, Config::Stop);
        step.target = wrap(target);
    }
    steps
}

/// Steps that parts do together, and those that each does alone.
type Parted<'f> = (Vec<Step<'f>>, Vec<Step<'f>>);

fn parted<'f>(steps: Vec<Step<'f>>, gates: &Meeting) -> Parted<'f> {
    let (mut together, mut alone) = (Vec::new(), Vec::new());
    for step in steps {
        match (&step.action, gates) {
            (Action::Exit(_), _) | (Action::Visible { .. }, Meeting::All) => together.push(step),
            (Action::Internal, _) | (_, Meeting::None) => alone.push(step),
            (_, Meeting::On(gates)) => {
                let mut left = Some(step);
                for gate in gates {
                    let Some(step) = left.take() else { break };
                    let (with, without) = step.split(gate);
                    together.extend(with);
                    left = without;
                }
                alone.extend(left);
            }
        }
    }
    (together, alone)
}

fn hidden<'f>(steps: Vec<Step<'f>>, gates: &[Pattern]) -> Vec<Step<'f>> {
    let (hidden, mut steps) = parted_by(steps, gates);
    for (_, mut step) in hidden {
        step.action = Action::Internal;
        steps.push(step);
    }
    steps
}

fn renamed<'f>(steps: Vec<Step<'f>>, pairs: &[(Pattern, Pattern)]) -> Vec<Step<'f>> {
    let old: Vec<Pattern> = pairs.iter().map(|(old, _)| old.clone()).collect();
    let (renamed, mut steps) = parted_by(steps, &old);
    for (k, mut step) in renamed {
        let (old, new) = &pairs[k];
        if let Action::Visible { name, args, .. } = &mut step.action {
            if args.is_empty() && *name != old.name && !old.is_instance() {
                // A label that looks like an instance of the action: only its text changes.
                *name = old.renamed(name, new);
            } else {
                name.clone_from(&new.name);
                let given = new.values.iter().cloned().map(Term::from);
                let kept = if old.is_instance() {
                    Vec::new()
                } else {
                    std::mem::take(args)
                };
                *args = given.chain(kept).collect();
            }
        }
        steps.push(step);
    }
    steps
}

/// Steps that gates name, each with the first gate that does, and the others.
type Named<'f> = (Vec<(usize, Step<'f>)>, Vec<Step<'f>>);

fn parted_by<'f>(steps: Vec<Step<'f>>, gates: &[Pattern]) -> Named<'f> {
    let (mut named, mut others) = (Vec::new(), Vec::new());
    for step in steps {
        let mut left = Some(step);
        for (k, gate) in gates.iter().enumerate() {
            let Some(step) = left.take() else { break };
            let (with, without) = step.split(gate);
            named.extend(with.map(|step| (k, step)));
            left = without;
        }
        others.extend(left);
    }
    (named, others)
}
