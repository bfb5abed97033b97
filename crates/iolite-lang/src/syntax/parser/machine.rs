//! Systems, observers, purposes and test cases: members, states, transitions.

use iolite_lts::LabelKind;

use super::{Kind, Parsed, Parser, Unparsed};
use crate::syntax::ast::{
    Binding, Effect, Expr, ExprKind, LabelDecl, Machine, Mark, Member, Name, Role, State,
    Transition,
};
use crate::{Diagnostic, Span, codes, diagnostic};

const MEMBERS: &[&str] = &[
    "const", "assume", "var", "input", "output", "internal", "action", "state", "initial",
    "violate", "accept", "refuse",
];

impl Parser<'_> {
    pub(super) fn machine(&mut self, start: Span, role: Role, name: Name) -> Parsed<Machine> {
        let of = if self.eat_keyword("for") {
            Some(self.ident("the name of a system")?)
        } else {
            None
        };
        let brace = self.expect("{")?;
        let mut members = Vec::new();
        loop {
            if self.eat("}") {
                break;
            }
            if self.at_end() || self.starts_item() {
                self.unclosed(brace, &format!("{} `{}`", role.keyword(), name.text));
                break;
            }
            if self.starts_member() {
                match self.member() {
                    Ok(member) => members.push(member),
                    Err(Unparsed) => self.skip_to_member(),
                }
            } else {
                let hint = if self.is(";") {
                    Some("nothing stands between declarations; leave the `;` out".to_owned())
                } else {
                    self.habit("a declaration or a state")
                        .or_else(|| diagnostic::did_you_mean(self.word(), MEMBERS.iter().copied()))
                };
                let message = format!(
                    "expected a declaration or a state, found {}",
                    self.found_here()
                );
                let error =
                    Diagnostic::error(codes::EXPECTED, self.span(), message).maybe_hint(hint);
                self.report(error);
                self.bump();
                self.skip_to_member();
            }
        }
        Ok(Machine {
            role,
            name,
            of,
            members,
            span: self.since(start),
        })
    }

    fn unclosed(&mut self, brace: Span, what: &str) {
        let error = Diagnostic::error(
            codes::UNCLOSED,
            brace,
            format!("the brace of {what} is never closed"),
        )
        .related(self.span(), "it should be closed before this");
        self.report(error);
    }

    pub(super) fn starts_member(&self) -> bool {
        (self.token().kind == Kind::Keyword && MEMBERS.contains(&self.word()))
            || self.starts_verdict()
    }

    /// `pass state`, `fail initial state`: verdicts are words only where a state follows.
    fn starts_verdict(&self) -> bool {
        self.token().kind == Kind::Ident
            && matches!(self.word(), "pass" | "fail" | "inconc")
            && self.peek(1).kind == Kind::Keyword
            && matches!(self.slice(self.peek(1)), "state" | "initial")
    }

    fn skip_to_member(&mut self) {
        let mut open = 0usize;
        while !self.at_end() && !self.starts_item() {
            if open == 0 && (self.starts_member() || self.is("}")) {
                return;
            }
            if self.is("{") {
                open += 1;
            } else if self.is("}") {
                open -= 1;
            }
            self.bump();
        }
    }

    fn member(&mut self) -> Parsed<Member> {
        let start = self.span();
        match self.word() {
            "const" => {
                self.bump();
                self.bindings().map(Member::Const)
            }
            "var" => {
                self.bump();
                self.bindings().map(Member::Var)
            }
            "assume" => {
                self.bump();
                let condition = self.expr()?;
                Ok(Member::Assume {
                    condition,
                    span: self.since(start),
                })
            }
            "input" => self.labels(LabelKind::Input),
            "output" => self.labels(LabelKind::Output),
            "internal" => self.labels(LabelKind::Internal),
            "action" => self.labels(LabelKind::Undirected),
            _ => self.state().map(Member::State),
        }
    }

    fn bindings(&mut self) -> Parsed<Vec<Binding>> {
        let mut list = Vec::new();
        loop {
            let start = self.span();
            let name = self.ident("a name")?;
            self.expect(":")?;
            let sort = self.sort()?;
            if self.is(":=") {
                let error =
                    Diagnostic::error(codes::EXPECTED, self.span(), "expected `=`, found `:=`")
                        .hint(
                            "an initial value is written `=`, an assignment in a transition `:=`",
                        );
                self.report(error);
            }
            let value = if self.eat("=") || self.eat(":=") {
                Some(self.expr()?)
            } else {
                None
            };
            list.push(Binding {
                name,
                sort,
                value,
                span: self.since(start),
            });
            if !self.eat(",") {
                return Ok(list);
            }
        }
    }

    fn labels(&mut self, kind: LabelKind) -> Parsed<Member> {
        let start = self.bump().span;
        let mut labels = Vec::new();
        loop {
            if self.is(kind.sigil()) {
                // `input ?a` says it twice, which does no harm.
                self.bump();
            }
            let name = self.name("the name of a label")?;
            let params = if self.is("(") {
                self.params()?
            } else {
                Vec::new()
            };
            labels.push(LabelDecl { name, params });
            if !self.eat(",") {
                break;
            }
        }
        Ok(Member::Labels {
            kind,
            labels,
            span: self.since(start),
        })
    }

    fn mark(&self) -> Option<Mark> {
        if !matches!(self.token().kind, Kind::Keyword | Kind::Ident) {
            return None;
        }
        Some(match self.word() {
            "initial" => Mark::Initial,
            "violate" => Mark::Violate,
            "accept" => Mark::Accept,
            "refuse" => Mark::Refuse,
            "pass" => Mark::Pass,
            "fail" => Mark::Fail,
            "inconc" => Mark::Inconc,
            _ => return None,
        })
    }

    pub(super) fn state(&mut self) -> Parsed<State> {
        let start = self.span();
        let mut marks = Vec::new();
        while let Some(mark) = self.mark() {
            self.repeated_mark(&mut marks, mark);
        }
        self.expect_keyword("state")?;
        let name = self.name("the name of the state")?;
        // `state 1 initial { … }`, as property automata are often written.
        while self.is_keyword("initial") && !self.peek_is_state() {
            self.repeated_mark(&mut marks, Mark::Initial);
        }
        marks.sort_unstable();
        let mut transitions = Vec::new();
        if self.is("{") {
            let brace = self.bump().span;
            loop {
                if self.eat("}") {
                    break;
                }
                if self.at_end() || self.starts_item() || self.starts_member() {
                    self.unclosed(brace, &format!("state `{}`", name.text));
                    break;
                }
                match self.transition() {
                    Ok(transition) => transitions.push(transition),
                    Err(Unparsed) => self.skip_transition(),
                }
            }
        }
        Ok(State {
            name,
            marks,
            transitions,
            span: self.since(start),
        })
    }

    /// Whether the mark here belongs to the next state: `state A  initial state B`.
    fn peek_is_state(&self) -> bool {
        matches!(self.peek(1).kind, Kind::Keyword)
            && matches!(
                self.slice(self.peek(1)),
                "state" | "violate" | "accept" | "refuse"
            )
    }

    fn repeated_mark(&mut self, marks: &mut Vec<Mark>, mark: Mark) {
        if marks.contains(&mark) {
            self.error(
                codes::REPEATED_MARK,
                format!("the state is marked `{}` twice", mark.keyword()),
            );
        } else {
            marks.push(mark);
        }
        self.bump();
    }

    fn transition(&mut self) -> Parsed<Transition> {
        let start = self.span();
        if !self.starts_event() {
            return Err(self.expected("a transition, `event [guard] / effect -> state`"));
        }
        let mut events = vec![self.event()?];
        while self.eat(",") {
            events.push(self.event()?);
        }
        let guard = self.guard()?;
        let mut effects = Vec::new();
        if self.eat("/") {
            loop {
                effects.push(self.effect()?);
                if !self.eat(",") {
                    break;
                }
            }
        }
        if !self.is("->") {
            let message = format!("expected `->`, found {}", self.found_here());
            let error = Diagnostic::error(codes::EXPECTED, self.span(), message)
                .hint("a transition is written `event [guard] / x := 1, y := 2 -> state`");
            return Err(self.report(error));
        }
        self.bump();
        let target = self.name("the name of a state")?;
        self.eat(";");
        Ok(Transition {
            span: start.to(target.span),
            events,
            guard,
            effects,
            target,
        })
    }

    pub(super) fn guard(&mut self) -> Parsed<Option<Expr>> {
        if !self.eat("[") {
            return Ok(None);
        }
        let guard = self.expr()?;
        self.expect("]")?;
        Ok(Some(guard))
    }

    fn effect(&mut self) -> Parsed<Effect> {
        let place = self.nested(Self::postfix)?;
        if !is_place(&place) {
            let error = Diagnostic::error(
                codes::NOT_ASSIGNABLE,
                place.span,
                "only a variable, an element or a field can be assigned to",
            );
            self.report(error);
        }
        if self.is("=") {
            let error = Diagnostic::error(codes::EXPECTED, self.span(), "expected `:=`, found `=`")
                .hint("an assignment is written `:=`");
            self.report(error);
            self.bump();
        } else {
            self.expect(":=")?;
        }
        let value = self.expr()?;
        Ok(Effect { place, value })
    }

    /// Skips the rest of a transition, its target and what it may have in braces included.
    fn skip_transition(&mut self) {
        let mut open = 0usize;
        while !self.at_end() && !self.starts_item() && !self.starts_member() {
            if self.is("{") {
                open += 1;
            } else if self.is("}") {
                if open == 0 {
                    return;
                }
                open -= 1;
            }
            if self.eat("->") {
                if matches!(self.token().kind, Kind::Ident | Kind::Int | Kind::Str) {
                    self.bump();
                }
                return;
            }
            self.bump();
        }
    }
}

fn is_place(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(_) | ExprKind::Error => true,
        ExprKind::Index(base, _) | ExprKind::Field(base, _) => is_place(base),
        _ => false,
    }
}
