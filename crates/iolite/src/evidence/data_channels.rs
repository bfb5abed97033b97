//! A run of a model with data through several channels, or through one that loses or reorders messages: every order of
//! the system's own that explains what was seen, each looked at by formulas.
//!
//! Order is kept within a channel and not between channels. An output that was seen may have been sent before or after
//! those of other channels, also before some that are still to come; an input is taken after everything that was seen
//! before it was given. Messages of a channel that loses them may have no place at all.

use std::collections::BTreeSet;

use iolite_expr::Solver;
use iolite_recheck::Channel;
use iolite_sts::{GateId, HasTrace, LabelKind, TraceStep};

use super::CheckOutcome;
use super::data::{BUDGET, DataRun, LEFT_OPEN, step};
use crate::{Error, answers_count, solver};

/// Orders that are looked at.
const MOST: usize = 2_000;

/// A message that has no place yet.
#[derive(Clone, PartialEq, Eq)]
struct Message {
    text: String,
    /// `None` where the specification does not have it.
    step: Option<TraceStep>,
    /// `None` for an output that may come through any of several.
    channel: Option<usize>,
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
}

/// All orders of one run.
pub(super) struct Channels<'a> {
    run: &'a DataRun<'a>,
    carriers: &'a [Channel],
    /// The outputs of the specification, with their channels.
    outputs: Vec<(GateId, Option<usize>)>,
    solver: Solver,
    asked: usize,
}

/// Why the orders of a run say nothing.
type Found<T> = Result<T, CheckOutcome>;

impl<'a> Channels<'a> {
    pub(super) fn new(run: &'a DataRun<'a>, channels: &'a [Channel]) -> Result<Self, Error> {
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
            asked: 0,
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
        let mut orders = vec![Order {
            done: Vec::new(),
            unseen: vec![self.lost()],
            left: Vec::new(),
        }];
        for text in trace {
            orders = self.after(orders, text)?;
            if orders.is_empty() {
                return Err(CheckOutcome::Refuted(
                    "no order of the messages explains the trace before it".to_owned(),
                ));
            }
        }
        let mut explained = false;
        for order in &orders {
            explained = explained || self.can_be_completed(order)?;
        }
        if !explained {
            return Err(CheckOutcome::Refuted(
                "no order of the messages explains the trace before it".to_owned(),
            ));
        }
        for order in self.after(orders, observed)? {
            if self.can_be_completed(&order)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn message(&self, text: &str) -> Message {
        Message {
            text: text.to_owned(),
            step: step(self.run.spec, self.run.model, text),
            channel: channel_of(self.carriers, text),
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

    fn has(&mut self, done: &[TraceStep], unseen: &[Vec<GateId>]) -> Found<bool> {
        self.asked += 1;
        if self.asked > MOST {
            let reason = format!("more than {MOST} orders would have to be looked at");
            return Err(CheckOutcome::Undecided(reason));
        }
        let run = self.run;
        let solver = &mut self.solver;
        match run
            .model
            .has_trace_beside(done, unseen, run.policy, solver, BUDGET)
        {
            HasTrace::Yes => Ok(true),
            HasTrace::No => Ok(false),
            HasTrace::Unknown(why) => Err(CheckOutcome::Undecided(why.to_string())),
        }
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
        next.done.push(step.clone());
        next.unseen.push(if ahead {
            self.on_their_way(&next.left)
        } else {
            self.lost()
        });
        if self.has(&next.done, &next.unseen)? {
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
        if run.every_state || unseen {
            // After each output that nobody saw the states are others, and each must take it.
            let after = (order.done.as_slice(), order.unseen.as_slice());
            let solver = &mut self.solver;
            let taken = run
                .model
                .takes_after(after, input, run.policy, solver, BUDGET);
            return match taken {
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
        let mut longer = order.done.clone();
        longer.push(input.clone());
        match run.recheck_constants_of(&longer, &mut self.solver) {
            CheckOutcome::Confirmed => Ok(()),
            other => Err(other),
        }
    }

    /// All orders that follow from these without anything new being seen.
    fn close(&mut self, orders: Vec<Order>) -> Found<Vec<Order>> {
        let mut all = Vec::new();
        let mut todo = orders;
        while let Some(order) = todo.pop() {
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
            if !all
                .iter()
                .any(|o: &Order| o.done == order.done && o.left == order.left)
            {
                all.push(order);
            }
            if all.len() + todo.len() > MOST {
                let reason = format!("more than {MOST} orders explain the trace");
                return Err(CheckOutcome::Undecided(reason));
            }
        }
        Ok(all)
    }

    fn after(&mut self, mut orders: Vec<Order>, text: &str) -> Found<Vec<Order>> {
        let message = self.message(text);
        let silent = matches!(text, "delta" | "deadlock");
        if !silent {
            for order in &mut orders {
                order.left.push(message.clone());
            }
        }
        if message.is_input() {
            return Ok(orders);
        }
        let mut next = Vec::new();
        for mut order in self.close(orders)? {
            if silent {
                // Nothing is under way any more.
                order.done.push(TraceStep::Delta);
                order.unseen.push(self.lost());
                if order.left.is_empty() && self.has(&order.done, &order.unseen)? {
                    next.push(order);
                }
                continue;
            }
            let reorders = message.channel.is_none_or(|c| self.carriers[c].reorder);
            let early = self.carriers.len() > 1 || reorders;
            if early || !order.left.contains(&message) {
                next.push(order);
            }
        }
        Ok(next)
    }

    /// Whether what was seen and has no place can get one, with the help of outputs that are still to come.
    fn can_be_completed(&mut self, order: &Order) -> Found<bool> {
        let mut todo = vec![order.clone()];
        let mut seen = BTreeSet::new();
        while let Some(mut order) = todo.pop() {
            if order.left.iter().all(Message::is_input) {
                return Ok(true);
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
                match self.place(&order, k, true) {
                    Ok(Some(next)) => {
                        let key = format!("{:?} {}", next.done, next.left.len());
                        if seen.insert(key) {
                            todo.push(next);
                        }
                    }
                    Ok(None) => {}
                    // An input may be taken where it is left open, and then anything explains it.
                    Err(CheckOutcome::Refuted(_)) => return Ok(true),
                    Err(other) => return Err(other),
                }
            }
        }
        Ok(false)
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
