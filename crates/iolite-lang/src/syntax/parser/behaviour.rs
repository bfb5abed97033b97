//! Behaviour expressions and compositions of systems.
//!
//! `;` and guards bind tightest, then `[]`, then the parallel operators; `hide` and `rename` reach as
//! far to the right as they can.

use super::item::ITEMS;
use super::{Kind, Parsed, Parser};
use crate::syntax::ast::{Behaviour, BehaviourKind, Event, EventKind, Gate, Offer, Sync};
use crate::{Diagnostic, Span, codes};

impl Parser<'_> {
    pub(super) fn behaviour(&mut self) -> Parsed<Behaviour> {
        self.nested(Self::parallel)
    }

    fn parallel(&mut self) -> Parsed<Behaviour> {
        let first = self.choice()?;
        let Some(mut sync) = self.sync_operator()? else {
            return Ok(first);
        };
        let mut parts = vec![first];
        loop {
            parts.push(self.choice()?);
            let operator = self.span();
            match self.sync_operator()? {
                None => break,
                Some(next) if same(&sync, &next) => {}
                Some(next) => {
                    let error = Diagnostic::error(
                        codes::MIXED_PARALLEL,
                        operator,
                        "different parallel operators side by side need parentheses",
                    )
                    .hint("`(A ||| B) || C` and `A ||| (B || C)` are different systems");
                    self.report(error);
                    let kind = BehaviourKind::Parallel { sync, parts };
                    let left = wrap(kind, operator);
                    parts = vec![left];
                    sync = next;
                }
            }
        }
        let span = parts[0].span.to(parts[parts.len() - 1].span);
        Ok(Behaviour {
            kind: BehaviourKind::Parallel { sync, parts },
            span,
        })
    }

    /// `||`, `|||`, `|[a, b]|`.
    fn sync_operator(&mut self) -> Parsed<Option<Sync>> {
        if self.eat("||") {
            return Ok(Some(Sync::All));
        }
        if self.eat("|||") {
            return Ok(Some(Sync::Interleave));
        }
        if !self.eat("|[") {
            return Ok(None);
        }
        let mut labels = Vec::new();
        while !self.is("]") {
            labels.push(self.gate()?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect("]")?;
        self.expect("|")?;
        Ok(Some(Sync::On(labels)))
    }

    /// A label of `hide`, `rename` or `|[…]|`: these go by name, so a sigil adds nothing.
    fn gate(&mut self) -> Parsed<Gate> {
        let start = self.span();
        let sigil = self.eat("?") || self.eat("!");
        let name = self.label_name(sigil)?;
        let values = if self.eat("(") {
            let values = self.nested(|p| p.list(")"))?;
            self.expect(")")?;
            Some(values)
        } else {
            None
        };
        Ok(Gate {
            name,
            values,
            span: self.since(start),
        })
    }

    /// An event of a process: `on(k)` gives a value, `mid(x: 0..3)` takes one.
    pub(super) fn action(&mut self) -> Parsed<Event> {
        self.event_with(|p, kind, name| {
            if !p.eat("(") {
                let args = None;
                return Ok(EventKind::Label { kind, name, args });
            }
            let mut offers = Vec::new();
            while !p.is(")") {
                offers.push(if p.token().kind == Kind::Ident && p.peek_is(1, ":") {
                    Offer::Variable(p.param()?)
                } else {
                    Offer::Value(p.expr()?)
                });
                if !p.eat(",") {
                    break;
                }
            }
            p.expect(")")?;
            Ok(if offers.is_empty() {
                let args = None;
                EventKind::Label { kind, name, args }
            } else {
                EventKind::Offer { kind, name, offers }
            })
        })
    }

    fn choice(&mut self) -> Parsed<Behaviour> {
        let first = self.prefix()?;
        if !(self.is("[") && self.peek_is(1, "]")) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.is("[") && self.peek_is(1, "]") {
            self.bump();
            self.bump();
            parts.push(self.prefix()?);
        }
        let span = parts[0].span.to(parts[parts.len() - 1].span);
        Ok(Behaviour {
            kind: BehaviourKind::Choice(parts),
            span,
        })
    }

    fn prefix(&mut self) -> Parsed<Behaviour> {
        let start = self.span();
        let mut events = Vec::new();
        while self.starts_prefix() {
            events.push(self.action()?);
            self.expect(";")?;
        }
        let rest = if self.is("[") && !self.peek_is(1, "]") {
            self.nested(Self::guarded)?
        } else {
            self.operand()?
        };
        if events.is_empty() {
            return Ok(rest);
        }
        // `a; (b; B)` is `a; b; B`.
        let rest = match rest.kind {
            BehaviourKind::Prefix {
                events: more,
                rest: inner,
            } => {
                events.extend(more);
                inner
            }
            _ => Box::new(rest),
        };
        Ok(Behaviour {
            kind: BehaviourKind::Prefix { events, rest },
            span: self.since(start),
        })
    }

    /// `[condition] -> B`.
    fn guarded(&mut self) -> Parsed<Behaviour> {
        let start = self.expect("[")?;
        let condition = self.expr()?;
        self.expect("]")?;
        self.expect("->")?;
        let body = Box::new(self.prefix()?);
        Ok(Behaviour {
            kind: BehaviourKind::Guard { condition, body },
            span: self.since(start),
        })
    }

    /// Whether an action and `;` come, and not a process.
    fn starts_prefix(&self) -> bool {
        match self.token().kind {
            Kind::Punct(p) => matches!(p, "?" | "!" | "*"),
            Kind::Int | Kind::Str => true,
            Kind::Ident => self.peek_is(1, ";") || self.peek_is(1, "(") && self.semicolon_follows(),
            Kind::Keyword | Kind::End => false,
        }
    }

    /// Whether `;` stands behind the parenthesis that opens after this token.
    fn semicolon_follows(&self) -> bool {
        let mut open = 0usize;
        for ahead in 1.. {
            match self.peek(ahead).kind {
                Kind::Punct("(") => open += 1,
                Kind::Punct(")") => {
                    open -= 1;
                    if open == 0 {
                        return self.peek_is(ahead + 1, ";");
                    }
                }
                Kind::Punct(";" | "->") | Kind::End => break,
                Kind::Keyword if ITEMS.contains(&self.slice(self.peek(ahead))) => break,
                _ => {}
            }
        }
        false
    }

    fn operand(&mut self) -> Parsed<Behaviour> {
        let start = self.span();
        let kind = if self.eat_keyword("stop") {
            BehaviourKind::Stop
        } else if self.eat("(") {
            let mut inner = self.behaviour()?;
            self.expect(")")?;
            inner.span = self.since(start);
            return Ok(inner);
        } else if self.eat_keyword("hide") {
            let mut labels = vec![self.gate()?];
            while self.eat(",") {
                labels.push(self.gate()?);
            }
            self.expect_keyword("in")?;
            let body = Box::new(self.behaviour()?);
            BehaviourKind::Hide { labels, body }
        } else if self.eat_keyword("rename") {
            let mut pairs = Vec::new();
            loop {
                let old = self.gate()?;
                self.expect("->")?;
                pairs.push((old, self.gate()?));
                if !self.eat(",") {
                    break;
                }
            }
            self.expect_keyword("in")?;
            let body = Box::new(self.behaviour()?);
            BehaviourKind::Rename { pairs, body }
        } else if self.eat_keyword("each") {
            self.each()?
        } else if self.token().kind == Kind::Ident {
            self.call()?
        } else {
            return Err(self.expected("a behaviour: `stop`, `a; B`, a process or `(`"));
        };
        Ok(Behaviour {
            kind,
            span: self.since(start),
        })
    }

    fn each(&mut self) -> Parsed<BehaviourKind> {
        let index = self.ident("the name of the index")?;
        self.expect_keyword("in")?;
        let (first, last) = self.range()?;
        let Some(sync) = self.sync_operator()? else {
            return Err(self.expected("`|||`, `||` or `|[…]|`"));
        };
        let body = Box::new(self.nested(Self::prefix)?);
        Ok(BehaviourKind::Each {
            index,
            range: (Box::new(first), Box::new(last)),
            sync,
            body,
        })
    }

    fn call(&mut self) -> Parsed<BehaviourKind> {
        let name = self.ident("a process")?;
        let mut args = Vec::new();
        if self.eat("(") {
            while !self.is(")") {
                if !(self.token().kind == Kind::Ident && self.peek_is(1, "=")) {
                    return Err(self.unnamed_value());
                }
                let constant = self.ident("the name of a constant")?;
                self.expect("=")?;
                args.push((constant, self.expr()?));
                if !self.eat(",") {
                    break;
                }
            }
            self.expect(")")?;
        }
        Ok(BehaviourKind::Call { name, args })
    }

    fn unnamed_value(&mut self) -> super::Unparsed {
        let error = Diagnostic::error(
            codes::EXPECTED,
            self.span(),
            format!("expected `name = value`, found {}", self.found_here()),
        )
        .hint("a process takes its values by name, `P(n = 1)`; an action is followed by `;`");
        self.report(error)
    }
}

fn same(a: &Sync, b: &Sync) -> bool {
    let names = |s: &Sync| match s {
        Sync::On(labels) => {
            let mut names: Vec<_> = labels.iter().map(crate::fmt::gate_text).collect();
            names.sort();
            names.dedup();
            Some(names)
        }
        _ => None,
    };
    std::mem::discriminant(a) == std::mem::discriminant(b) && names(a) == names(b)
}

fn wrap(kind: BehaviourKind, end: Span) -> Behaviour {
    let start = match &kind {
        BehaviourKind::Parallel { parts, .. } => parts[0].span,
        _ => end,
    };
    Behaviour {
        kind,
        span: start.to(end),
    }
}
