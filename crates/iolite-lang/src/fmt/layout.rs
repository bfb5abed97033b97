//! Lines, levels and comments.

use iolite_lts::LabelKind;

use super::expr::{expr, ltl, regex};
use super::text::{
    self, Level, Place, behaviour, events, name, names, property_event, sort, trace,
};
use crate::Span;
use crate::syntax::ast::{
    BehaviourKind, Binding, Definition, Event, File, Formula, FormulaKind, Function, Item, Machine,
    Member, Param, Property, PropertyEvent, State, Streett, Sum, Transition, Variant,
};

/// Definitions longer than this are broken at their outermost operator.
const WIDEST: usize = 88;

pub(super) fn file(file: &File) -> String {
    let mut printer = Printer {
        file,
        out: String::new(),
        level: 0,
        comment: 0,
        last_line: 0,
        fresh: true,
        starts: line_starts(file),
    };
    let mut before: Option<&Item> = None;
    for item in &file.items {
        // A declaration of several lines has room around it.
        printer.separate(before.is_some_and(is_tall) || (before.is_some() && is_tall(item)));
        printer.item(item);
        before = Some(item);
    }
    printer.comments_before(usize::MAX);
    printer.out
}

fn is_tall(item: &Item) -> bool {
    match item {
        Item::Machine(_) => true,
        Item::Property(p) => has_automaton(&p.body),
        _ => false,
    }
}

fn has_automaton(formula: &Formula) -> bool {
    match &formula.kind {
        FormulaKind::Streett(_) => true,
        FormulaKind::Not(f) => has_automaton(f),
        FormulaKind::And(parts) | FormulaKind::Or(parts) => parts.iter().any(has_automaton),
        _ => false,
    }
}

struct Printer<'f> {
    file: &'f File,
    out: String,
    level: usize,
    /// The next comment that is not printed yet.
    comment: usize,
    /// The source line on which the last printed thing ends.
    last_line: u32,
    /// Whether a block, or the file, has just begun: no empty line comes then.
    fresh: bool,
    /// Where the things that get lines of their own start, closing braces included.
    starts: Vec<usize>,
}

/// The places that begin a line of the layout, in order.
fn line_starts(file: &File) -> Vec<usize> {
    let mut starts = Vec::new();
    let block = |states: &mut dyn Iterator<Item = &State>, starts: &mut Vec<usize>| {
        for s in states {
            starts.push(s.span.start);
            starts.extend(s.transitions.iter().map(|t| t.span.start));
            starts.push(s.span.end.saturating_sub(1));
        }
    };
    for item in &file.items {
        starts.push(item.span().start);
        match item {
            Item::Machine(m) => {
                starts.extend(m.members.iter().map(|member| member.span().start));
                block(&mut m.states(), &mut starts);
                starts.push(m.span.end.saturating_sub(1));
            }
            Item::Property(p) => {
                if let FormulaKind::Streett(automaton) = &p.body.kind {
                    block(&mut automaton.states.iter(), &mut starts);
                    starts.extend(automaton.pairs.iter().map(|pair| pair.span.start));
                    starts.push(p.span.end.saturating_sub(1));
                }
            }
            _ => {}
        }
    }
    starts.sort_unstable();
    starts
}

impl<'f> Printer<'f> {
    fn line_of(&self, offset: usize) -> u32 {
        self.file.lines.line(offset)
    }

    /// Asks for an empty line before what comes next.
    fn separate(&mut self, wanted: bool) {
        if wanted && !self.fresh && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// Keeps an empty line of the source.
    fn keep_gap(&mut self, line: u32) {
        self.separate(self.last_line > 0 && line > self.last_line + 1);
    }

    fn put(&mut self, text: &str) {
        for _ in 0..self.level {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.fresh = false;
    }

    /// Comments that start before `offset`, each on a line of its own.
    fn comments_before(&mut self, offset: usize) {
        while let Some(comment) = self.file.comments.get(self.comment) {
            if comment.span.start >= offset {
                return;
            }
            self.comment += 1;
            self.keep_gap(self.line_of(comment.span.start));
            self.put(&comment.text);
            self.out.push('\n');
            self.last_line = self.line_of(comment.span.end.saturating_sub(1));
        }
    }

    /// Ends the line of something that ends at `offset`, with the comments behind it.
    fn end(&mut self, offset: usize) {
        self.last_line = self.line_of(offset.saturating_sub(1));
        while let Some(comment) = self.file.comments.get(self.comment) {
            let behind = comment.span.start >= offset
                && self.line_of(comment.span.start) == self.last_line
                && self.nothing_between(offset, comment.span.start);
            if !behind {
                break;
            }
            self.comment += 1;
            self.out.push_str("  ");
            self.out.push_str(&comment.text);
            self.last_line = self.line_of(comment.span.end.saturating_sub(1));
            if comment.text.starts_with("//") || comment.text.contains('\n') {
                break;
            }
        }
        self.out.push('\n');
    }

    /// Whether a comment belongs to what ends at `end`: nothing else starts in between.
    fn nothing_between(&self, end: usize, comment: usize) -> bool {
        let next = self.starts.partition_point(|&s| s < end);
        self.starts.get(next).is_none_or(|&start| start > comment)
    }

    /// Something that fits on one line: comments inside go before it.
    fn line(&mut self, span: Span, text: &str) {
        self.comments_before(span.end);
        self.keep_gap(self.line_of(span.start));
        self.put(text);
        self.end(span.end);
    }

    /// Opens a block whose first line is `head {`.
    fn open(&mut self, span: Span, head_end: usize, head: &str) {
        self.comments_before(head_end);
        self.keep_gap(self.line_of(span.start));
        self.put(head);
        self.out.push_str(" {\n");
        self.level += 1;
        self.fresh = true;
        self.last_line = 0;
    }

    fn close(&mut self, span: Span) {
        self.comments_before(span.end);
        self.level -= 1;
        self.put("}");
        self.end(span.end);
    }

    fn item(&mut self, item: &'f Item) {
        match item {
            Item::Machine(m) => self.machine(m),
            Item::Definition(d) => self.definition(d),
            Item::Traces(t) => {
                let list: Vec<_> = t.traces.iter().map(trace).collect();
                let text = format!(
                    "traces {}{} = {}",
                    t.name.text,
                    of(t.of.as_ref()),
                    braces(&list.join(", "))
                );
                self.line(t.span, &text);
            }
            Item::Property(p) => self.property(p),
            Item::Enum(e) => {
                let text = format!("enum {} {}", e.name.text, braces(&names(&e.values)));
                self.line(e.span, &text);
            }
            Item::Record(r) => {
                let text = format!("record {} {}", r.name.text, braces(&params(&r.fields)));
                self.line(r.span, &text);
            }
            Item::Sum(s) => self.sum(s),
            Item::Alias(a) => {
                let text = format!("type {} = {}", a.name.text, sort(&a.sort));
                self.line(a.span, &text);
            }
            Item::Function(f) => self.function(f),
        }
    }

    fn sum(&mut self, s: &Sum) {
        let variant = |v: &Variant| match v.fields.as_slice() {
            [] => v.name.text.clone(),
            fields => format!("{}({})", v.name.text, params(fields)),
        };
        let variants: Vec<_> = s.variants.iter().map(variant).collect();
        let head = format!("type {} =", s.name.text);
        // One variant without fields would read like another name for a sort.
        let bar = if variants.len() == 1 && s.is_enumeration() {
            " |"
        } else {
            ""
        };
        let line = format!("{head}{bar} {}", variants.join(" | "));
        if line.chars().count() < WIDEST {
            return self.line(s.span, &line);
        }
        self.line(s.span, &format!("{head}\n  | {}", variants.join("\n  | ")));
    }

    fn function(&mut self, f: &Function) {
        let text = format!(
            "fn {}({}): {} = {}",
            f.name.text,
            params(&f.params),
            sort(&f.result),
            expr(&f.body)
        );
        self.line(f.span, &text);
    }

    fn definition(&mut self, d: &Definition) {
        let keyword = if d.is_system { "system" } else { "process" };
        let over = over(d.over.as_deref());
        let params = if d.params.is_empty() {
            String::new()
        } else {
            format!("({})", params(&d.params))
        };
        let gates = text::gate_names(&d.gates);
        let head = format!("{keyword} {}{gates}{params}{over} =", d.name.text);
        let body = behaviour(&d.body, Level::Whole);
        if head.chars().count() + body.chars().count() < WIDEST {
            self.line(d.span, &format!("{head} {body}"));
            return;
        }
        let (parts, operator, level) = match &d.body.kind {
            BehaviourKind::Choice(parts) => (parts, "[]".to_owned(), Level::Choice),
            BehaviourKind::Parallel { sync, parts } => {
                (parts, text::operator(sync), Level::Parallel)
            }
            _ => {
                self.line(d.span, &format!("{head} {body}"));
                return;
            }
        };
        let mut text = head;
        for (k, part) in parts.iter().enumerate() {
            let mark = if k == 0 {
                String::new()
            } else {
                format!("{operator} ")
            };
            text.push_str(&format!("\n  {mark}{}", behaviour(part, level)));
        }
        self.line(d.span, &text);
    }

    fn machine(&mut self, m: &'f Machine) {
        let head = format!("{} {}{}", m.role.keyword(), m.name.text, of(m.of.as_ref()));
        let head_end = m.of.as_ref().unwrap_or(&m.name).span.end;
        if m.members.is_empty() && !self.comment_within(Span::new(head_end, m.span.end)) {
            self.line(m.span, &format!("{head} {{}}"));
            return;
        }
        self.open(m.span, head_end, &head);
        for member in &m.members {
            self.member(member);
        }
        self.close(m.span);
    }

    fn comment_within(&self, span: Span) -> bool {
        self.file.comments[self.comment..]
            .iter()
            .any(|c| span.start <= c.span.start && c.span.start < span.end)
    }

    fn member(&mut self, member: &'f Member) {
        match member {
            Member::Const(list) => {
                self.line(member.span(), &format!("const {}", bindings(list)));
            }
            Member::Var(list) => self.line(member.span(), &format!("var {}", bindings(list))),
            Member::Assume { condition, span } => {
                self.line(*span, &format!("assume {}", expr(condition)));
            }
            Member::Labels { kind, labels, span } => {
                let keyword = match kind {
                    LabelKind::Input => "input",
                    LabelKind::Output => "output",
                    LabelKind::Internal => "internal",
                    LabelKind::Undirected | LabelKind::Delta => "action",
                };
                let labels: Vec<_> = labels
                    .iter()
                    .map(|l| {
                        let mut text = name(&l.name);
                        if !l.params.is_empty() {
                            text.push_str(&format!("({})", params(&l.params)));
                        }
                        text
                    })
                    .collect();
                self.line(*span, &format!("{keyword} {}", labels.join(", ")));
            }
            Member::State(s) => self.state(s),
        }
    }

    fn state(&mut self, s: &State) {
        let mut head = String::new();
        for mark in &s.marks {
            head.push_str(mark.keyword());
            head.push(' ');
        }
        head.push_str(&format!("state {}", name(&s.name)));
        if s.transitions.is_empty() && !self.comment_within(Span::new(s.name.span.end, s.span.end))
        {
            self.line(s.span, &head);
            return;
        }
        self.open(s.span, s.name.span.end, &head);
        for t in &s.transitions {
            self.line(t.span, &transition(t));
        }
        self.close(s.span);
    }

    fn property(&mut self, p: &'f Property) {
        let head = format!(
            "property {}{}{} =",
            p.name.text,
            of(p.of.as_ref()),
            property_over(p.over.as_deref())
        );
        if let FormulaKind::Streett(automaton) = &p.body.kind {
            let head_end = p.body.span.start;
            self.open(p.span, head_end, &format!("{head} streett"));
            self.streett(automaton);
            self.close(p.span);
        } else {
            let text = format!("{head} {}", formula(&p.body));
            self.line(p.span, &text);
        }
    }

    fn streett(&mut self, automaton: &'f Streett) {
        // States and pairs may be mixed in the source; they stay in its order.
        let mut pairs = automaton.pairs.iter().peekable();
        for state in &automaton.states {
            while let Some(pair) = pairs.next_if(|p| p.span.start < state.span.start) {
                self.line(pair.span, &text_of_pair(pair));
            }
            self.state(state);
        }
        for pair in pairs {
            self.line(pair.span, &text_of_pair(pair));
        }
    }
}

fn text_of_pair(pair: &crate::syntax::ast::StreettPair) -> String {
    format!(
        "pair recurrent {} persistent {}",
        set(&pair.recurrent),
        set(&pair.persistent)
    )
}

fn set(list: &[crate::syntax::ast::Name]) -> String {
    format!("{{{}}}", names(list))
}

fn braces(inner: &str) -> String {
    if inner.is_empty() {
        "{}".to_owned()
    } else {
        format!("{{ {inner} }}")
    }
}

fn of(system: Option<&crate::syntax::ast::Name>) -> String {
    system.map_or_else(String::new, |s| format!(" for {}", s.text))
}

fn over(alphabet: Option<&[Event]>) -> String {
    alphabet.map_or_else(String::new, |list| {
        format!(" over {}", braces(&events(list, Place::Transition)))
    })
}

fn property_over(alphabet: Option<&[PropertyEvent]>) -> String {
    alphabet.map_or_else(String::new, |list| {
        let list = list.iter().map(|e| property_event(e, Place::Transition));
        format!(" over {}", braces(&list.collect::<Vec<_>>().join(", ")))
    })
}

fn params(list: &[Param]) -> String {
    list.iter().map(text::param).collect::<Vec<_>>().join(", ")
}

fn bindings(list: &[Binding]) -> String {
    let texts: Vec<_> = list
        .iter()
        .map(|b| {
            let value = b
                .value
                .as_ref()
                .map_or_else(String::new, |e| format!(" = {}", expr(e)));
            format!("{}: {}{value}", b.name.text, sort(&b.sort))
        })
        .collect();
    texts.join(", ")
}

pub(super) fn transition(t: &Transition) -> String {
    format!("{} -> {}", step(t), name(&t.target))
}

/// `events [guard] / effects`.
pub(super) fn step(t: &Transition) -> String {
    let mut text = events(&t.events, Place::Transition);
    if let Some(guard) = &t.guard {
        text.push_str(&format!(" [{}]", expr(guard)));
    }
    if !t.effects.is_empty() {
        let effects: Vec<_> = t
            .effects
            .iter()
            .map(|e| format!("{} := {}", expr(&e.place), expr(&e.value)))
            .collect();
        text.push_str(&format!(" / {}", effects.join(", ")));
    }
    text
}

/// A formula; its parts are bracketed where a temporal formula would reach too far.
fn formula(f: &Formula) -> String {
    match &f.kind {
        FormulaKind::Not(inner) => format!("not {}", formula_part(inner)),
        FormulaKind::And(parts) => joined(parts, " and "),
        FormulaKind::Or(parts) => joined(parts, " or "),
        FormulaKind::Ltl(l) => format!("ltl {}", ltl(l)),
        FormulaKind::Language {
            quantifier,
            finitary,
            regex: r,
        } => {
            let suffix = if *finitary { "_f" } else { "" };
            // A language that starts with a bracket stays readable without more of them.
            format!("{}{suffix} {}", quantifier.keyword(), regex(r))
        }
        FormulaKind::Streett(automaton) => inline_automaton(automaton),
        FormulaKind::Name(n) => n.text.clone(),
        FormulaKind::Error => String::new(),
    }
}

fn joined(parts: &[Formula], operator: &str) -> String {
    let texts: Vec<_> = parts.iter().map(formula_part).collect();
    texts.join(operator)
}

fn formula_part(f: &Formula) -> String {
    match &f.kind {
        FormulaKind::Name(_) | FormulaKind::Streett(_) => formula(f),
        _ => format!("({})", formula(f)),
    }
}

/// An automaton inside a Boolean combination, on one line.
fn inline_automaton(automaton: &Streett) -> String {
    let mut text = "streett {".to_owned();
    for s in &automaton.states {
        for mark in &s.marks {
            text.push_str(&format!(" {}", mark.keyword()));
        }
        text.push_str(&format!(" state {} {{", name(&s.name)));
        for t in &s.transitions {
            text.push_str(&format!(" {}", transition(t)));
        }
        text.push_str(" }");
    }
    for pair in &automaton.pairs {
        text.push_str(&format!(" {}", text_of_pair(pair)));
    }
    text.push_str(" }");
    text
}
