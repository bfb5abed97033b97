//! Evaluation of calls: with fuel, since a function may call itself without end.
//!
//! A call in the last place of a body is a loop. Others nest: on stacks of their own beyond a bound, so
//! that how deep a model's functions go is no matter of the thread that asks.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use crate::eval::{EvalError, Fault, Scope, boolean, eval, fault};
use crate::own_stack::on_own_stack;
use crate::term::{Kind, Op};
use crate::{Callee, Span, Term, Value, VarId};

/// Calls that one evaluation makes before it gives up.
pub(crate) const MAX_CALLS: u32 = 100_000;
/// Calls within calls.
const MAX_NESTED: u32 = 2_000;
/// Levels of terms that calls may take of the stack of the caller.
const CALLER_LEVELS: u32 = 100;
/// Levels of terms that a stack of our own has room for.
const OWN_LEVELS: u32 = 2_000;

/// The values of a function's parameters while its body is evaluated.
pub(crate) struct Frame {
    callee: Callee,
    values: Vec<Value>,
    /// Calls that are left to make.
    fuel: Cell<u32>,
    /// Calls that this one is within.
    nested: u32,
    /// Levels of terms that the stack still has room for.
    levels: u32,
}

impl Scope for Frame {
    fn get(&self, var: VarId) -> Option<&Value> {
        let at = self.callee.params().iter().position(|p| p.id == var)?;
        self.values.get(at)
    }

    fn frame(&self) -> Option<&Frame> {
        Some(self)
    }
}

/// Calls without an end that are remembered.
const REMEMBERED: usize = 32;

thread_local! {
    /// The latest calls from outside of functions that did not end, and how they faulted. A model that has
    /// one meets it again and again, and each time would take all of the fuel.
    static ENDLESS: RefCell<VecDeque<(Callee, Vec<Value>, Fault)>> = const { RefCell::new(VecDeque::new()) };
}

/// How the call faulted when its fuel ran out before.
fn known_endless(callee: &Callee, values: &[Value]) -> Option<Fault> {
    ENDLESS.with_borrow(|known| {
        let mut known = known.iter();
        let same = known.find(|(c, v, _)| c == callee && v == values);
        same.map(|(_, _, fault)| fault.clone())
    })
}

fn remember_endless(callee: &Callee, values: &[Value], fault: &Fault) {
    ENDLESS.with_borrow_mut(|known| {
        if known.len() >= REMEMBERED {
            known.pop_front();
        }
        known.push_back((callee.clone(), values.to_vec(), fault.clone()));
    });
}

/// What a term comes to in the last place of a body.
enum Tail {
    Value(Value),
    Call(Callee, Vec<Value>),
}

/// The value of the call of `callee`.
pub(crate) fn call(
    term: &Term,
    callee: &Callee,
    args: &[Term],
    env: &impl Scope,
) -> Result<Value, EvalError> {
    let values = args
        .iter()
        .map(|a| eval(a, env))
        .collect::<Result<Vec<_>, _>>()?;
    let outer = env.frame();
    let callee = outer.map_or_else(|| callee.clone(), |f| callee.outside(&f.callee));
    if outer.is_none()
        && let Some(known) = known_endless(&callee, &values)
    {
        return Err(fault(term, known));
    }
    let depth = callee.body().map_or(0, Term::depth);
    let (fuel, nested, levels) = match outer {
        Some(f) => (f.fuel.get(), f.nested + 1, f.levels),
        None => (MAX_CALLS, 0, CALLER_LEVELS),
    };
    let out_of_fuel = || fault(term, Fault::OutOfFuel(callee.name().into()));
    if nested > MAX_NESTED {
        return Err(out_of_fuel());
    }
    let frame = |levels| Frame {
        callee: callee.clone(),
        values: values.clone(),
        fuel: Cell::new(fuel),
        nested,
        levels,
    };
    let span = term.span();
    let (result, left) = if levels >= depth {
        run(frame(levels - depth), span)
    } else {
        // Everything that a body reads is in its frame, so it can be evaluated anywhere.
        on_own_stack(|| run(frame(OWN_LEVELS - depth.min(OWN_LEVELS)), span))
            .ok_or_else(out_of_fuel)?
    };
    match (outer, &result) {
        (Some(f), _) => f.fuel.set(left),
        (None, Err(error)) if matches!(error.fault, Fault::OutOfFuel(_)) => {
            remember_endless(&callee, &values, &error.fault);
        }
        (None, _) => {}
    }
    result
}

/// The value, and the fuel that is left.
fn run(mut frame: Frame, span: Span) -> (Result<Value, EvalError>, u32) {
    loop {
        let Some(left) = frame.fuel.get().checked_sub(1) else {
            let fault = Fault::OutOfFuel(frame.callee.name().into());
            return (Err(EvalError { fault, span }), 0);
        };
        frame.fuel.set(left);
        let Some(body) = frame.callee.body().cloned() else {
            let fault = Fault::WrongSort;
            return (Err(EvalError { fault, span }), left);
        };
        match tail(&body, &frame) {
            Ok(Tail::Value(value)) => return (Ok(value), frame.fuel.get()),
            Ok(Tail::Call(callee, values)) => {
                frame.callee = callee.outside(&frame.callee);
                frame.values = values;
            }
            Err(e) => return (Err(e), frame.fuel.get()),
        }
    }
}

fn tail(term: &Term, frame: &Frame) -> Result<Tail, EvalError> {
    let Kind::App(op, args) = term.kind() else {
        return eval(term, frame).map(Tail::Value);
    };
    match op {
        Op::Ite => tail(&args[if boolean(&args[0], frame)? { 1 } else { 2 }], frame),
        Op::And | Op::Or if !args.is_empty() => {
            let (last, before) = args.split_last().unwrap_or((term, &[]));
            let ends = *op == Op::Or;
            for a in before {
                if boolean(a, frame)? == ends {
                    return Ok(Tail::Value(Value::Bool(ends)));
                }
            }
            tail(last, frame)
        }
        // The frames of all calls of a group have room for a body of this depth.
        Op::Call(callee) => {
            let values = args
                .iter()
                .map(|a| eval(a, frame))
                .collect::<Result<_, _>>()?;
            Ok(Tail::Call(callee.clone(), values))
        }
        _ => eval(term, frame).map(Tail::Value),
    }
}
