//! A run of a model with data through several channels, or through one that loses or reorders messages: every order of
//! the system's own that explains what was seen, each looked at by formulas.
//!
//! Order is kept within a channel and not between channels. An output that was seen may have been sent before or after
//! those of other channels, also before some that are still to come; an input is taken after everything that was seen
//! before it was given. Messages of a channel that loses them may have no place at all.
//!
//! What is allowed after a run is asked in the same way, of one more output with any values.

use std::collections::{BTreeMap, BTreeSet};

use iolite_expr::{Solver, Term, Var};
use iolite_lang::DataNames;
use iolite_recheck::Channel;
use iolite_sts::{
    Beside, GateId, HasTrace, LabelKind, OUT_OF_POINTS, PathPlace, TraceStep, ValuedAction, space,
};

use super::CheckOutcome;
use super::data::{DataRun, LEFT_OPEN, step};
use super::told_texts::{Entry, Shown};
use crate::{Error, answers_count, solver};

/// Configurations that are looked at: orders that lead to the same points of runs and leave the same messages are one.
const MOST: usize = 2_000;

/// Steps between them, most of which lead to known ones.
const MOST_STEPS: usize = 100 * MOST;

/// Steps whose points are too many to be listed, each of which is as much work as many others.
const MOST_UNLISTED: usize = 16;

const UNEXPLAINED: &str = "no order of the messages explains the trace before it";

/// A message that has no place yet.
#[derive(Clone, PartialEq, Eq)]
struct Message {
    text: String,
    /// `None` where the specification does not have it.
    step: Option<TraceStep>,
    /// `None` for an output that may come through any of several.
    channel: Option<usize>,
    /// Whether it may have any values.
    any_values: bool,
}

impl Message {
    fn is_input(&self) -> bool {
        self.text.starts_with('?')
    }
}

/// One order, with what was seen and is no part of it yet.
#[derive(Clone)]
struct Order {
    done: Vec<TraceStep>,
    /// Outputs that nobody has seen, for each place in it; one more than it has steps.
    unseen: Vec<Vec<GateId>>,
    left: Vec<Message>,
    /// The step of it that may have any values.
    any_values_at: Option<usize>,
}

/// What two orders share that have the same future.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Configuration {
    /// The points that they lead to; the order itself where these are not known.
    class: Result<usize, String>,
    left: Vec<String>,
    /// Whether a step of it may have any values.
    is_any: bool,
}

impl Order {
    fn beside(&self) -> Beside<'_> {
        Beside {
            unseen: &self.unseen,
            any_values_at: self.any_values_at,
        }
    }
}

/// All orders of one run.
pub(super) struct Channels<'a, 'r> {
    run: &'a DataRun<'r>,
    carriers: &'a [Channel],
    /// The outputs of the specification, with their channels.
    outputs: Vec<(GateId, Option<usize>)>,
    solver: Solver,
    /// What was found of steps from points to points, by the classes of both.
    asked: BTreeMap<(usize, usize), bool>,
    steps: usize,
    unlisted: usize,
    /// Why to stop, where somebody wants it.
    pub(super) stop: Option<Stop<'a>>,
    /// What was out of bounds.
    pub(super) out_of_bounds: Option<String>,
}

/// Says why to stop: a bound that ran out, or a signal.
pub(super) type Stop<'a> = &'a dyn Fn() -> Option<String>;

/// Why the orders of a run say nothing.
type Found<T> = Result<T, CheckOutcome>;

/// What is allowed, and the conditions over constants under which the specification has the trace.
type Allowed = (Vec<Entry>, Vec<Term>);

impl<'a, 'r> Channels<'a, 'r> {
    pub(super) fn new(run: &'a DataRun<'r>, channels: &'a [Channel]) -> Result<Self, Error> {
        let mut solver = solver(run.solver)?;
        solver.set_deadline(run.until);
        let gates = run.model.gates();
        let outputs = gates.filter(|(_, gate)| gate.kind == LabelKind::Output);
        let outputs = outputs.map(|(id, gate)| {
            let text = format!("!{}", gate.name);
            (id, channel_of(channels, &text))
        });
        Ok(Self {
            run,
            carriers: channels,
            outputs: outputs.collect(),
            solver,
            asked: BTreeMap::new(),
            steps: 0,
            unlisted: 0,
            stop: None,
            out_of_bounds: None,
        })
    }

    /// Whether an observation after a trace has an order that explains it.
    pub(super) fn is_allowed(
        &mut self,
        trace: &[String],
        observed: &str,
    ) -> Result<Found<bool>, Error> {
        let found = self.explains(trace, observed);
        answers_count(&self.solver)?;
        Ok(found)
    }

    fn explains(&mut self, trace: &[String], observed: &str) -> Found<bool> {
        let orders = self.after_trace(trace)?;
        for order in self.after(orders, observed)? {
            if self.can_be_completed(&order)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The orders that explain a trace, some of which can be completed.
    fn after_trace(&mut self, trace: &[String]) -> Found<Vec<Order>> {
        let mut orders = vec![Order {
            done: Vec::new(),
            unseen: vec![self.lost()],
            left: Vec::new(),
            any_values_at: None,
        }];
        for text in trace {
            orders = self.after(orders, text)?;
        }
        let mut explained = false;
        for order in &orders {
            explained = explained || self.can_be_completed(order)?;
        }
        if !explained {
            return Err(CheckOutcome::Refuted(UNEXPLAINED.to_owned()));
        }
        Ok(orders)
    }

    /// The step of a trace after which no order explains it any more, where one does before; `None` where all of it is
    /// explained, or that is not found out. What has no explanation has none later either.
    pub(super) fn first_unexplained(&mut self, trace: &[String]) -> Option<usize> {
        let mut is_explained = |length: usize| {
            (self.asked, self.steps, self.unlisted) = (BTreeMap::new(), 0, 0);
            match self.after_trace(&trace[..length]) {
                Ok(_) => Some(true),
                Err(CheckOutcome::Refuted(why)) if why == UNEXPLAINED => Some(false),
                Err(_) => None,
            }
        };
        let (mut explained, mut unexplained) = (0, trace.len());
        if is_explained(unexplained)? {
            return None;
        }
        while unexplained - explained > 1 {
            let middle = usize::midpoint(explained, unexplained);
            if is_explained(middle)? {
                explained = middle;
            } else {
                unexplained = middle;
            }
        }
        Some(explained)
    }

    /// What is allowed after a trace, and the conditions over constants under which the specification has it.
    pub(super) fn allowed(&mut self, trace: &[String]) -> Result<Found<Allowed>, Error> {
        let found = self.allowed_after(trace);
        answers_count(&self.solver)?;
        Ok(found)
    }

    fn allowed_after(&mut self, trace: &[String]) -> Found<Allowed> {
        let outputs = self.carriers.iter().flat_map(|c| &c.outputs);
        if outputs.into_iter().any(|name| name.contains('(')) {
            let reason = "the channel of an output depends on its values";
            return Err(CheckOutcome::Undecided(reason.to_owned()));
        }
        let orders = self.after_trace(trace)?;
        // Without constants the trace that the specification has says nothing more.
        let mut known: Vec<Term> = Vec::new();
        if self.run.model.constants().is_empty() {
            known.push(true.into());
        } else {
            for order in &orders {
                known.extend(self.conditions(order)?);
            }
        }
        let mut entries = Vec::new();
        for (gate, channel) in self.outputs.clone() {
            let signature = self.run.model.gate(gate);
            let output = Message {
                text: format!("!{}", signature.name),
                step: Some(TraceStep::Action(ValuedAction {
                    action: gate,
                    values: Vec::new(),
                })),
                channel,
                any_values: !signature.params.is_empty(),
            };
            for order in self.after_output(orders.clone(), &output)? {
                let conditions = self.conditions(&order)?.into_iter();
                entries.extend(conditions.map(|condition| Entry {
                    what: Shown::Output(gate),
                    condition,
                }));
            }
        }
        for order in self.after_silence(orders)? {
            let conditions = self.conditions(&order)?.into_iter();
            entries.extend(conditions.map(|condition| Entry {
                what: Shown::Delta,
                condition,
            }));
        }
        Ok((entries, known))
    }

    /// Where the model may be after a trace: after every order that can be completed, whatever inputs under way it took.
    pub(super) fn places(&mut self, trace: &[String]) -> Result<Found<Vec<PathPlace>>, Error> {
        let found = self.places_after(trace);
        answers_count(&self.solver)?;
        Ok(found)
    }

    fn places_after(&mut self, trace: &[String]) -> Found<Vec<PathPlace>> {
        let orders = self.after_trace(trace)?;
        let mut all = Vec::new();
        for order in self.close(orders)? {
            if !self.can_be_completed(&order)? {
                continue;
            }
            let mut fronts = self.run.fronts.borrow_mut();
            let places = fronts.places(&order.done, order.beside(), &mut self.solver);
            all.extend(places.map_err(|why| CheckOutcome::Undecided(why.to_string()))?);
        }
        Ok(all)
    }

    /// When an order explains what was seen, for all ways to complete it.
    fn conditions(&mut self, order: &Order) -> Found<Vec<Term>> {
        let mut all = Vec::new();
        for mut whole in self.completions(order, false)? {
            // What is sent after all that was seen explains nothing of it.
            if let Some(last) = whole.unseen.last_mut() {
                last.clear();
            }
            let mut fronts = self.run.fronts.borrow_mut();
            let found = fronts.conditions(&whole.done, whole.beside(), &mut self.solver);
            for condition in found.map_err(|why| CheckOutcome::Undecided(why.to_string()))? {
                if !all.contains(&condition) {
                    all.push(condition);
                }
            }
        }
        Ok(all)
    }

    /// What is allowed after a trace as certificates write it; `None` where that is not found out.
    pub(super) fn allowed_texts(&mut self, trace: &[String]) -> Result<Option<Vec<String>>, Error> {
        let (entries, _) = match self.allowed(trace)? {
            Ok(found) => found,
            Err(CheckOutcome::Undecided(why)) => {
                let stopped = self.stop.and_then(|stop| stop());
                if stopped.is_some() || self.solver.is_out_of_time() || why == OUT_OF_POINTS {
                    self.out_of_bounds.get_or_insert(stopped.unwrap_or(why));
                }
                return Ok(None);
            }
            Err(_) => return Ok(None),
        };
        let model = self.run.model;
        let what: BTreeSet<Shown> = entries.iter().map(|entry| entry.what).collect();
        let mut texts = Vec::new();
        for what in what {
            let own = entries.iter().filter(|entry| entry.what == what);
            let whole = Term::any(own.map(|entry| entry.condition.clone())).simplify();
            let unknown = |v: &Var| v.id.space() == space::UNKNOWN;
            let open: Vec<Var> = whole.free_vars().into_iter().filter(unknown).collect();
            let closed = if open.is_empty() {
                Some(whole)
            } else {
                self.solver.eliminate(&open, &whole)
            };
            let Some(condition) = closed else {
                return Ok(None);
            };
            let (name, params): (_, &[Var]) = match what {
                Shown::Output(gate) => {
                    let gate = model.gate(gate);
                    (format!("!{}", gate.name), &gate.params)
                }
                Shown::Delta | Shown::Place(_) => ("delta".to_owned(), &[]),
            };
            let constants = model.constants().iter().map(|c| c.var.clone());
            let data: Vec<Var> = params.iter().cloned().chain(constants).collect();
            let names: Vec<&str> = params.iter().map(|p| &*p.name).collect();
            let mut text = name;
            if !names.is_empty() {
                text += &format!("({})", names.join(", "));
            }
            if !condition.is_true() {
                text += &format!(" [{}]", DataNames::over(&data).write(&condition));
            }
            if !condition.is_false() {
                texts.push(text);
            }
        }
        Ok(Some(texts))
    }

    fn message(&self, text: &str) -> Message {
        Message {
            text: text.to_owned(),
            step: step(self.run.spec, self.run.model, text),
            channel: channel_of(self.carriers, text),
            any_values: false,
        }
    }

    fn loses(&self, channel: Option<usize>) -> bool {
        match channel {
            Some(channel) => self.carriers[channel].loss,
            None => self.carriers.iter().any(|c| c.loss),
        }
    }

    /// The outputs that may be lost.
    fn lost(&self) -> Vec<GateId> {
        let lost = self.outputs.iter().filter(|(_, c)| self.loses(*c));
        lost.map(|&(gate, _)| gate).collect()
    }

    /// Those that may be on their way while these have no place: nothing of their channel was seen that they would
    /// have overtaken.
    fn on_their_way(&self, left: &[Message]) -> Vec<GateId> {
        let waits = |channel: usize| {
            let mut left = left.iter().filter(|m| !m.is_input());
            left.any(|m| m.channel == Some(channel))
        };
        let free =
            |channel: Option<usize>| channel.is_none_or(|c| self.carriers[c].reorder || !waits(c));
        let some = self.outputs.iter();
        let some = some.filter(|(_, c)| free(*c) || self.loses(*c));
        some.map(|&(gate, _)| gate).collect()
    }

    /// Whether a message can come next at the system while these, which were seen before it, have not.
    fn comes_next(&self, message: &Message, before: &[Message]) -> bool {
        before.iter().all(|other| {
            if message.is_input() && !other.is_input() {
                // It was sent before the input was given.
                return false;
            }
            if message.is_input() != other.is_input() {
                return true;
            }
            match message.channel {
                Some(channel) => other.channel != Some(channel) || self.carriers[channel].reorder,
                None => true,
            }
        })
    }

    fn has(&mut self, order: &Order) -> Found<bool> {
        self.steps += 1;
        if self.asked.len() > MOST || self.steps > MOST_STEPS {
            let reason = format!("more than {MOST} orders that differ would have to be looked at");
            return Err(CheckOutcome::Undecided(reason));
        }
        if let Some(why) = self.stop.and_then(|stop| stop()) {
            self.out_of_bounds = Some(why.clone());
            return Err(CheckOutcome::Undecided(why));
        }
        let mut fronts = self.run.fronts.borrow_mut();
        let (done, beside) = (&order.done, order.beside());
        let before = &done[..done.len().saturating_sub(1)];
        let mut class = |trace: &[TraceStep]| fronts.class(trace, beside, &mut self.solver);
        let step = class(before).zip(class(done));
        if let Some(&known) = step.and_then(|step| self.asked.get(&step)) {
            return Ok(known);
        }
        if step.is_none() {
            self.unlisted += 1;
            if self.unlisted > MOST_UNLISTED {
                let reason = "too many orders have too many ways to explain the trace";
                return Err(CheckOutcome::Undecided(reason.to_owned()));
            }
        }
        let found = match fronts.has(done, beside, &mut self.solver) {
            HasTrace::Yes => true,
            HasTrace::No => false,
            HasTrace::Unknown(why) => return Err(CheckOutcome::Undecided(why.to_string())),
        };
        if let Some(step) = step {
            self.asked.insert(step, found);
        }
        Ok(found)
    }

    /// The order with one more message at its end; `None` where the specification does not have it.
    fn place(&mut self, order: &Order, k: usize, ahead: bool) -> Found<Option<Order>> {
        let mut next = order.clone();
        let message = next.left.remove(k);
        let Some(step) = &message.step else {
            return if message.is_input() {
                Err(CheckOutcome::Refuted(LEFT_OPEN.to_owned()))
            } else {
                Ok(None)
            };
        };
        if message.any_values {
            next.any_values_at = Some(next.done.len());
        }
        next.done.push(step.clone());
        next.unseen.push(if ahead {
            self.on_their_way(&next.left)
        } else {
            self.lost()
        });
        if self.has(&next)? {
            if message.is_input() {
                self.is_taken(order, step)?;
            }
            return Ok(Some(next));
        }
        if message.is_input() {
            return Err(CheckOutcome::Refuted(LEFT_OPEN.to_owned()));
        }
        Ok(None)
    }

    /// Whether an input is specified wherever it may be taken.
    fn is_taken(&mut self, order: &Order, input: &TraceStep) -> Found<()> {
        let run = self.run;
        let unseen = order.unseen.iter().any(|gates| !gates.is_empty());
        if run.every_state
            || unseen
            || order.any_values_at.is_some() && run.model.constants().is_empty()
        {
            // After each output that nobody saw the states are others, and each must take it.
            let after = (order.done.as_slice(), order.beside());
            let mut fronts = run.fronts.borrow_mut();
            return match fronts.takes(after, input, &mut self.solver) {
                Ok(true) => Ok(()),
                Ok(false) if unseen => Err(CheckOutcome::Undecided(
                    "an input may be left open after an output that nobody saw".to_owned(),
                )),
                Ok(false) => Err(CheckOutcome::Refuted(LEFT_OPEN.to_owned())),
                Err(why) => Err(CheckOutcome::Undecided(why.to_string())),
            };
        }
        if run.model.constants().is_empty() {
            return Ok(());
        }
        if order.any_values_at.is_some() {
            let reason = "an input may be left open after an output with some values";
            return Err(CheckOutcome::Undecided(reason.to_owned()));
        }
        let mut longer = order.done.clone();
        longer.push(input.clone());
        match run.recheck_constants_of(&longer, &mut self.solver) {
            CheckOutcome::Confirmed => Ok(()),
            other => Err(other),
        }
    }

    /// What two orders share that have the same future: the points that they lead to, and what has no place yet.
    ///
    /// The last outputs that nobody sees may be others later, when some are on their way. These are all that may be lost and
    /// more, so that orders with the same points have the same ones then too.
    fn configuration(&mut self, order: &Order) -> Configuration {
        let mut fronts = self.run.fronts.borrow_mut();
        let class = fronts.class(&order.done, order.beside(), &mut self.solver);
        Configuration {
            class: class.ok_or_else(|| format!("{:?} {:?}", order.done, order.unseen)),
            left: order.left.iter().map(|m| m.text.clone()).collect(),
            is_any: order.any_values_at.is_some(),
        }
    }

    /// All orders that follow from these without anything new being seen, one for each configuration.
    fn close(&mut self, orders: Vec<Order>) -> Found<Vec<Order>> {
        let mut all = Vec::new();
        let mut met = BTreeSet::new();
        let mut todo = orders;
        while let Some(order) = todo.pop() {
            if !met.insert(self.configuration(&order)) {
                continue;
            }
            for k in 0..order.left.len() {
                let message = &order.left[k];
                if message.is_input() && self.loses(message.channel) {
                    let mut lost = order.clone();
                    lost.left.remove(k);
                    todo.push(lost);
                }
                if self.comes_next(message, &order.left[..k]) {
                    todo.extend(self.place(&order, k, false)?);
                }
            }
            all.push(order);
            if all.len() > MOST {
                let reason = format!("more than {MOST} orders that differ explain the trace");
                return Err(CheckOutcome::Undecided(reason));
            }
        }
        Ok(all)
    }

    fn after(&mut self, mut orders: Vec<Order>, text: &str) -> Found<Vec<Order>> {
        if matches!(text, "delta" | "deadlock") {
            return self.after_silence(orders);
        }
        let message = self.message(text);
        if !message.is_input() {
            return self.after_output(orders, &message);
        }
        for order in &mut orders {
            order.left.push(message.clone());
        }
        Ok(orders)
    }

    /// Nothing is under way any more.
    fn after_silence(&mut self, orders: Vec<Order>) -> Found<Vec<Order>> {
        let mut next = Vec::new();
        let mut met = BTreeSet::new();
        for mut order in self.close(orders)? {
            order.done.push(TraceStep::Delta);
            order.unseen.push(self.lost());
            if order.left.is_empty() && self.has(&order)? && met.insert(self.configuration(&order))
            {
                next.push(order);
            }
        }
        Ok(next)
    }

    fn after_output(&mut self, mut orders: Vec<Order>, output: &Message) -> Found<Vec<Order>> {
        for order in &mut orders {
            order.left.push(output.clone());
        }
        let reorders = output.channel.is_none_or(|c| self.carriers[c].reorder);
        let early = self.carriers.len() > 1 || reorders;
        let mut next = self.close(orders)?;
        next.retain(|order| early || !order.left.contains(output));
        Ok(next)
    }

    /// Whether what was seen and has no place can get one, with the help of outputs that are still to come.
    fn can_be_completed(&mut self, order: &Order) -> Found<bool> {
        match self.completions(order, true) {
            Ok(all) => Ok(!all.is_empty()),
            // An input may be taken where it is left open, and then anything explains it.
            Err(CheckOutcome::Refuted(_)) => Ok(true),
            Err(other) => Err(other),
        }
    }

    /// The orders in which all that was seen has a place, or one of them.
    fn completions(&mut self, order: &Order, one_is_enough: bool) -> Found<Vec<Order>> {
        let mut todo = vec![order.clone()];
        let mut met = BTreeSet::new();
        let mut complete = Vec::new();
        while let Some(mut order) = todo.pop() {
            if !met.insert(self.configuration(&order)) {
                continue;
            }
            if order.left.iter().all(Message::is_input) {
                complete.push(order);
                if one_is_enough {
                    break;
                }
                continue;
            }
            let now = self.on_their_way(&order.left);
            if let Some(last) = order.unseen.last_mut() {
                *last = now;
            }
            for k in 0..order.left.len() {
                let message = &order.left[k];
                if message.is_input() && self.loses(message.channel) {
                    let mut lost = order.clone();
                    lost.left.remove(k);
                    todo.push(lost);
                }
                if !self.comes_next(message, &order.left[..k]) {
                    continue;
                }
                todo.extend(self.place(&order, k, true)?);
            }
        }
        Ok(complete)
    }
}

/// The channel of an action: the one that lists it, or its name. Inputs that none lists go through the first, and
/// outputs through the only one, or any.
fn channel_of(channels: &[Channel], action: &str) -> Option<usize> {
    let name = action.trim_start_matches(['?', '!']);
    let bare = name.split('(').next().unwrap_or(name);
    let input = action.starts_with('?');
    let lists = |c: &Channel| {
        let names = if input { &c.inputs } else { &c.outputs };
        names.iter().any(|n| n == name || n == bare)
    };
    let found = channels.iter().position(lists);
    match (input, channels.len()) {
        (true, _) => Some(found.unwrap_or(0)),
        (false, 1) => Some(0),
        (false, _) => found,
    }
}
