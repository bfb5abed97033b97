//! Behaviour expressions and compositions of systems.
//!
//! `;` and guards bind tightest, then `[]`, the parallel operators, `[>` and `>>`; `hide`, `rename`,
//! `let`, `choice` and `accept` reach as far to the right as they can.

use super::item::ITEMS;
use super::{Kind, Parsed, Parser};
use crate::syntax::ast::{
    ANY, Behaviour, BehaviourKind, Event, EventKind, Gate, Name, Offer, Param, Sort, SortKind, Sync,
};
use crate::{Diagnostic, Span, codes};

impl Parser<'_> {
    pub(super) fn behaviour(&mut self) -> Parsed<Behaviour> {
        self.nested(Self::enabling)
    }

    /// `B >> C`, `B >> accept x: int in C`; to the right.
    fn enabling(&mut self) -> Parsed<Behaviour> {
        let left = self.disabling()?;
        if !self.eat(">>") {
            return Ok(left);
        }
        let accept = if self.eat_keyword("accept") {
            let params = self.param_list()?;
            self.expect_keyword("in")?;
            params
        } else {
            Vec::new()
        };
        let right = self.nested(Self::enabling)?;
        let span = left.span.to(right.span);
        let parts = Box::new([left, right]);
        Ok(Behaviour {
            kind: BehaviourKind::Enable { accept, parts },
            span,
        })
    }

    /// `B [> C`; to the right.
    fn disabling(&mut self) -> Parsed<Behaviour> {
        let left = self.parallel()?;
        if !self.eat("[>") {
            return Ok(left);
        }
        let right = self.nested(Self::disabling)?;
        let span = left.span.to(right.span);
        Ok(Behaviour {
            kind: BehaviourKind::Disable(Box::new([left, right])),
            span,
        })
    }

    /// `x: int, y: bool`, at least one.
    fn param_list(&mut self) -> Parsed<Vec<Param>> {
        let mut params = vec![self.param()?];
        while self.eat(",") {
            params.push(self.param()?);
        }
        Ok(params)
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

    /// An event of a process: `on(k)` gives a value, `mid(x: 0..3) [x > k]` takes one.
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
            if offers.is_empty() {
                let args = None;
                return Ok(EventKind::Label { kind, name, args });
            }
            let guard = if p.is("[") && !p.peek_is(1, "]") {
                p.bump();
                let guard = p.nested(Self::expr)?;
                p.expect("]")?;
                Some(Box::new(guard))
            } else {
                None
            };
            Ok(EventKind::Offer {
                kind,
                name,
                offers,
                guard,
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
            self.no_guard_here()?;
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

    /// A condition after an action that carries nothing belongs before it.
    fn no_guard_here(&mut self) -> Parsed<()> {
        if !self.is("[") || self.peek_is(1, "]") {
            return Ok(());
        }
        let error = Diagnostic::error(codes::EXPECTED, self.span(), "expected `;`, found `[`")
            .hint("a condition after an action is on its values, `a(x: 0..3) [x > 1]; B`; else write `[condition] -> a; B`");
        Err(self.report(error))
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
            Kind::Ident => {
                self.peek_is(1, ";")
                    || (self.peek_is(1, "(") || self.peek_is(1, "[") && !self.peek_is(2, "]"))
                        && self.semicolon_follows()
            }
            Kind::Keyword | Kind::End => false,
        }
    }

    /// Whether `;` stands behind the parenthesis that opens after this token, and the condition after it.
    fn semicolon_follows(&self) -> bool {
        let mut open = 0usize;
        for ahead in 1.. {
            match self.peek(ahead).kind {
                Kind::Punct("(" | "[") => open += 1,
                Kind::Punct(")" | "]") => {
                    open = open.saturating_sub(1);
                    if open == 0 {
                        if self.peek_is(ahead + 1, "[") && !self.peek_is(ahead + 2, "]") {
                            continue;
                        }
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
        } else if self.is_word("exit") {
            self.bump();
            BehaviourKind::Exit(self.exit_values()?)
        } else if self.is_word("choice") && self.peek(1).kind == Kind::Ident && self.peek_is(2, ":")
        {
            self.bump();
            let params = self.choice_params()?;
            let body = Box::new(self.behaviour()?);
            BehaviourKind::ChoiceOver { params, body }
        } else if self.is_word("let") && self.peek(1).kind == Kind::Ident {
            self.bump();
            self.let_in()?
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
            return Err(self.expected("a behaviour: `stop`, `exit`, `a; B`, a process or `(`"));
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

    /// After `exit`: `(n + 1, any bool)`, or nothing.
    fn exit_values(&mut self) -> Parsed<Vec<Offer>> {
        let mut values = Vec::new();
        if !self.eat("(") {
            return Ok(values);
        }
        while !self.is(")") {
            let any = self.is_word("any") && !self.peek_is(1, ",") && !self.peek_is(1, ")");
            values.push(if any {
                let span = self.bump().span;
                let name = Name {
                    text: ANY.to_owned(),
                    span,
                };
                Offer::Variable(Param {
                    name,
                    sort: self.sort()?,
                })
            } else {
                Offer::Value(self.nested(Self::expr)?)
            });
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(values)
    }

    /// `x: 0..3, y: bool []`. The sort reads `T[]` as an array, so the operator is taken back from it.
    fn choice_params(&mut self) -> Parsed<Vec<Param>> {
        let mut params = self.param_list()?;
        if self.is("[") && self.peek_is(1, "]") {
            self.bump();
            self.bump();
            return Ok(params);
        }
        if let Some(last) = params.last_mut()
            && let SortKind::Array(of) = &last.sort.kind
        {
            last.sort = Sort::clone(of);
            return Ok(params);
        }
        Err(self.expected("`[]` and a behaviour"))
    }

    /// After `let`: `x = a in B`, `x: int = a in B`.
    fn let_in(&mut self) -> Parsed<BehaviourKind> {
        let name = self.ident("a name")?;
        let sort = if self.eat(":") {
            Some(self.sort()?)
        } else {
            None
        };
        self.expect("=")?;
        let value = Box::new(self.expr_before_in()?);
        self.expect_keyword("in")?;
        let body = Box::new(self.behaviour()?);
        Ok(BehaviourKind::Let {
            name,
            sort,
            value,
            body,
        })
    }

    fn call(&mut self) -> Parsed<BehaviourKind> {
        let name = self.ident("a process")?;
        let gates = if self.is("[") && !self.peek_is(1, "]") {
            self.gate_names()?
        } else {
            Vec::new()
        };
        let mut args = Vec::new();
        if self.eat("(") {
            while !self.is(")") {
                let constant = if self.token().kind == Kind::Ident && self.peek_is(1, "=") {
                    let constant = self.ident("the name of a constant")?;
                    self.expect("=")?;
                    constant
                } else {
                    // Which parameter it is for is known once the whole file is read.
                    let span = Span::new(self.span().start, self.span().start);
                    let text = String::new();
                    Name { text, span }
                };
                args.push((constant, self.nested(Self::expr)?));
                if !self.eat(",") {
                    break;
                }
            }
            self.expect(")")?;
        }
        Ok(BehaviourKind::Call { name, gates, args })
    }

    /// `[a, b]`: gates by name, without values.
    pub(super) fn gate_names(&mut self) -> Parsed<Vec<Name>> {
        self.expect("[")?;
        let mut names = Vec::new();
        while !self.is("]") {
            let sigil = self.eat("?") || self.eat("!");
            names.push(self.label_name(sigil)?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect("]")?;
        Ok(names)
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
