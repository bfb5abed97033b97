//! Names, events and behaviours on one line.

use iolite_lts::LabelKind;

use super::expr;
use crate::syntax::ast::{
    ANY, Behaviour, BehaviourKind, Event, EventKind, Expr, Gate, Name, Offer, Param, PropertyEvent,
    Sort, SortKind, Sync, Trace,
};
use crate::syntax::{is_plain_name, quote};

/// Where an event stands: bare words that mean something there need quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Transition,
    Ltl,
    Regex,
    Trace,
}

pub(super) fn name(name: &Name) -> String {
    if is_plain_name(&name.text) {
        name.text.clone()
    } else {
        quote(&name.text)
    }
}

pub(super) fn names(list: &[Name]) -> String {
    list.iter().map(name).collect::<Vec<_>>().join(", ")
}

pub(super) fn event(event: &Event, place: Place) -> String {
    match &event.kind {
        EventKind::Tau => "i".to_owned(),
        EventKind::Delta => "delta".to_owned(),
        EventKind::Any => "*".to_owned(),
        EventKind::Offer {
            kind,
            name: label,
            offers: list,
            guard,
        } => {
            let mut text = format!("{}({})", bare(*kind, label, place), offers(list));
            if let Some(guard) = guard {
                text.push_str(&format!(" [{}]", expr::expr(guard)));
            }
            text
        }
        EventKind::Label {
            kind,
            name: label,
            args,
        } => {
            let mut text = bare(*kind, label, place);
            if let Some(args) = args {
                let args: Vec<_> = args.iter().map(|a| a.text.as_str()).collect();
                text.push_str(&format!("({})", args.join(", ")));
            }
            text
        }
    }
}

/// An action of a property with its condition.
pub(super) fn property_event(e: &PropertyEvent, place: Place) -> String {
    let mut text = event(&e.event, place);
    if let (EventKind::Label { kind, name, args }, false) = (&e.event.kind, e.sorts.is_empty()) {
        let params = args.iter().flatten().zip(&e.sorts);
        let params = params.map(|(name, of)| format!("{}: {}", name.text, sort(of)));
        let params: Vec<_> = params.collect();
        text = format!("{}({})", bare(*kind, name, place), params.join(", "));
    }
    if let Some(guard) = &e.guard {
        text.push_str(&format!(" [{}]", expr::expr(guard)));
    }
    text
}

fn bare(kind: LabelKind, label: &Name, place: Place) -> String {
    if kind == LabelKind::Undirected && is_special(&label.text, place) {
        quote(&label.text)
    } else {
        format!("{}{}", kind.sigil(), name(label))
    }
}

fn offers(list: &[Offer]) -> String {
    let texts: Vec<_> = list.iter().map(offer).collect();
    texts.join(", ")
}

fn offer(offer: &Offer) -> String {
    match offer {
        Offer::Value(e) => expr::expr(e),
        Offer::Variable(p) if p.name.text == ANY => format!("any {}", sort(&p.sort)),
        Offer::Variable(p) => param(p),
    }
}

fn param_list(list: &[Param]) -> String {
    let texts: Vec<_> = list.iter().map(param).collect();
    texts.join(", ")
}

/// `[a, b]`, or nothing.
pub(super) fn gate_names(list: &[Name]) -> String {
    if list.is_empty() {
        return String::new();
    }
    format!("[{}]", names(list))
}

pub(super) fn param(p: &Param) -> String {
    format!("{}: {}", p.name.text, sort(&p.sort))
}

fn gates(list: &[Gate]) -> String {
    list.iter().map(gate).collect::<Vec<_>>().join(", ")
}

/// A label of `hide`, `rename` or `|[…]|`.
pub(crate) fn gate(gate: &Gate) -> String {
    let mut text = name(&gate.name);
    if let Some(values) = &gate.values {
        let values: Vec<_> = values.iter().map(expr::expr).collect();
        text.push_str(&format!("({})", values.join(", ")));
    }
    text
}

fn is_special(label: &str, place: Place) -> bool {
    match label {
        "i" | "tau" | "τ" | "delta" | "δ" => true,
        "eps" => matches!(place, Place::Regex | Place::Trace),
        "X" | "G" | "F" | "Y" | "O" | "H" | "U" | "W" | "R" | "S" => place == Place::Ltl,
        _ => false,
    }
}

pub(super) fn events(list: &[Event], place: Place) -> String {
    let texts: Vec<_> = list.iter().map(|e| event(e, place)).collect();
    texts.join(", ")
}

pub(super) fn trace(trace: &Trace) -> String {
    if trace.events.is_empty() {
        return "eps".to_owned();
    }
    let texts: Vec<_> = trace
        .events
        .iter()
        .map(|e| event(e, Place::Trace))
        .collect();
    texts.join(".")
}

pub(super) fn sort(sort: &Sort) -> String {
    match &sort.kind {
        SortKind::Bool => "bool".to_owned(),
        SortKind::Int => "int".to_owned(),
        SortKind::String => "string".to_owned(),
        SortKind::Name(name) => name.clone(),
        SortKind::Range(a, b) => range(a, b),
        SortKind::Array(of) => format!("{}[]", self::sort(of)),
        SortKind::Decimal(places) => format!("decimal({places})"),
        SortKind::Set(of) => format!("set<{}>", self::sort(of)),
        SortKind::Map(key, value) => format!("map<{}, {}>", self::sort(key), self::sort(value)),
        SortKind::Error => String::new(),
    }
}

pub(super) fn range(first: &crate::syntax::ast::Expr, last: &crate::syntax::ast::Expr) -> String {
    format!("{}..{}", expr::range_end(first), expr::range_end(last))
}

/// How tightly what surrounds a behaviour binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// A whole definition, or the inside of parentheses.
    Whole,
    /// What `>>` follows.
    Enabling,
    /// What `[>` follows.
    Disabling,
    /// A part of a parallel composition.
    Parallel,
    /// An alternative of a choice.
    Choice,
    /// What follows a prefix, or an instance of `each`.
    Operand,
}

/// A behaviour on one line, a prefix without its first `skip` events.
pub(crate) fn behaviour_text(node: &Behaviour, skip: usize) -> String {
    if let BehaviourKind::Prefix { events, rest } = &node.kind {
        return prefix(&events[skip..], rest);
    }
    behaviour(node, Level::Whole)
}

fn prefix(events: &[Event], rest: &Behaviour) -> String {
    let mut text = String::new();
    for e in events {
        text.push_str(&event(e, Place::Transition));
        text.push_str("; ");
    }
    text + &behaviour(rest, Level::Operand)
}

pub(super) fn behaviour(node: &Behaviour, level: Level) -> String {
    let (text, own) = match &node.kind {
        BehaviourKind::Stop => return "stop".to_owned(),
        BehaviourKind::Error => return String::new(),
        BehaviourKind::Exit(values) if values.is_empty() => return "exit".to_owned(),
        BehaviourKind::Exit(values) => return format!("exit({})", offers(values)),
        BehaviourKind::Call { name, gates, args } => {
            let mut text = format!("{}{}", name.text, gate_names(gates));
            if !args.is_empty() {
                let arg = |(n, e): &(Name, Expr)| {
                    let value = expr::expr(e);
                    if n.text.is_empty() {
                        return value;
                    }
                    format!("{} = {value}", n.text)
                };
                let args: Vec<_> = args.iter().map(arg).collect();
                text.push_str(&format!("({})", args.join(", ")));
            }
            return text;
        }
        BehaviourKind::Prefix { events, rest } => (prefix(events, rest), Level::Choice),
        BehaviourKind::Guard { condition, body } => {
            let condition = expr::expr(condition);
            let body = behaviour(body, Level::Choice);
            (format!("[{condition}] -> {body}"), Level::Choice)
        }
        BehaviourKind::Choice(parts) => {
            let parts: Vec<_> = parts.iter().map(|p| behaviour(p, Level::Choice)).collect();
            (parts.join(" [] "), Level::Parallel)
        }
        BehaviourKind::Parallel { sync, parts } => {
            let parts: Vec<_> = parts
                .iter()
                .map(|p| behaviour(p, Level::Parallel))
                .collect();
            let text = parts.join(&format!(" {} ", operator(sync)));
            (text, Level::Disabling)
        }
        BehaviourKind::ChoiceOver { params, body } => {
            let body = behaviour(body, Level::Choice);
            (
                format!("choice {} [] {body}", param_list(params)),
                Level::Whole,
            )
        }
        BehaviourKind::Let {
            name,
            sort: of,
            value,
            body,
        } => {
            let of = of.as_ref().map(|s| format!(": {}", sort(s)));
            let (value, body) = (expr::before_in(value), behaviour(body, Level::Choice));
            let text = format!(
                "let {}{} = {value} in {body}",
                name.text,
                of.unwrap_or_default()
            );
            (text, Level::Whole)
        }
        BehaviourKind::Enable { accept, parts } => {
            let [left, right] = &**parts;
            let left = behaviour(left, Level::Enabling);
            let right = behaviour(right, Level::Whole);
            let accept = if accept.is_empty() {
                String::new()
            } else {
                format!("accept {} in ", param_list(accept))
            };
            (format!("{left} >> {accept}{right}"), Level::Whole)
        }
        BehaviourKind::Disable(parts) => {
            let [left, right] = &**parts;
            let left = behaviour(left, Level::Disabling);
            let right = behaviour(right, Level::Enabling);
            (format!("{left} [> {right}"), Level::Enabling)
        }
        BehaviourKind::Hide { labels, body } => (
            format!(
                "hide {} in {}",
                gates(labels),
                behaviour(body, Level::Operand)
            ),
            Level::Whole,
        ),
        BehaviourKind::Rename { pairs, body } => {
            let pairs: Vec<_> = pairs
                .iter()
                .map(|(old, new)| format!("{} -> {}", gate(old), gate(new)))
                .collect();
            (
                format!(
                    "rename {} in {}",
                    pairs.join(", "),
                    behaviour(body, Level::Operand)
                ),
                Level::Whole,
            )
        }
        BehaviourKind::Each {
            index,
            range: (first, last),
            sync,
            body,
        } => (
            format!(
                "each {} in {} {} {}",
                index.text,
                range(first, last),
                operator(sync),
                behaviour(body, Level::Operand)
            ),
            Level::Whole,
        ),
    };
    if own < level {
        format!("({text})")
    } else {
        text
    }
}

pub(super) fn operator(sync: &Sync) -> String {
    match sync {
        Sync::All => "||".to_owned(),
        Sync::Interleave => "|||".to_owned(),
        Sync::On(labels) => format!("|[{}]|", gates(labels)),
    }
}
