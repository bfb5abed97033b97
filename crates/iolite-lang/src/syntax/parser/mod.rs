//! Recursive descent with recovery at declarations, members, transitions.
//!
//! At one token at most one error is reported, so that a slip does not drown in its consequences.
//! Nesting is bounded: recursion here, and in everything that walks the tree, stays shallow.

mod behaviour;
mod expr;
mod habit;
mod item;
mod machine;
mod property;
mod recovery;

use self::recovery::Recovery;
use super::ast::{Event, EventKind, File, Name};
use super::lexer::{self, Kind, Token};
use super::positional;
use crate::{Code, Diagnostic, LineIndex, Span, codes, diagnostic};
use iolite_lts::LabelKind;

/// Parentheses and the like nested deeper than this are refused.
const DEEPEST: u32 = 100;
/// Operators in one expression beyond this are refused: their tree may be as deep.
const MOST_OPERATORS: u32 = 1000;
/// A file with more errors than this is not parsed on.
const MOST_ERRORS: usize = 200;

pub(super) fn parse(text: &str) -> (File, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let lexed = lexer::lex(text, &mut found);
    let mut parser = Parser {
        text,
        tokens: lexed.tokens,
        at: 0,
        found,
        error_at: usize::MAX,
        depth: 0,
        operators: 0,
        before_in: false,
        before_brace: false,
        recovery: Recovery::default(),
    };
    parser.recovery = Recovery::new(&parser.found);
    let mut items = parser.items();
    positional::name_values(&mut items);
    let spoilt = parser.recovery.spoilt(text);
    let mut found = parser.found;
    if items.is_empty() && found.is_empty() {
        found.push(
            Diagnostic::error(
                codes::NO_DECLARATION,
                Span::at(0),
                "the file declares nothing",
            )
            .hint("a model starts with `system Name { … }` or `process Name = …`"),
        );
    }
    diagnostic::sort(&mut found);
    (
        File {
            items,
            comments: lexed.comments,
            lines: LineIndex::new(text.as_bytes()),
            spoilt,
        },
        found,
    )
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
    found: Vec<Diagnostic>,
    /// The token of the last error.
    error_at: usize,
    depth: u32,
    /// Operators so far in the outermost expression.
    operators: u32,
    /// Whether `in` ends the expression: that of `let x = a in b`.
    before_in: bool,
    /// Whether `{` ends the expression: that of `match s { … }`.
    before_brace: bool,
    recovery: Recovery,
}

/// A part that could not be parsed; its diagnostic is recorded.
struct Unparsed;

type Parsed<T> = Result<T, Unparsed>;

impl<'t> Parser<'t> {
    fn token(&self) -> Token {
        self.tokens[self.at]
    }

    fn peek(&self, ahead: usize) -> Token {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + ahead).min(last)]
    }

    fn slice(&self, token: Token) -> &'t str {
        &self.text[token.span.start..token.span.end]
    }

    fn word(&self) -> &'t str {
        self.slice(self.token())
    }

    fn span(&self) -> Span {
        self.token().span
    }

    /// The span of the token before this one.
    fn behind(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    fn since(&self, start: Span) -> Span {
        Span::new(start.start, self.behind().end.max(start.end))
    }

    fn bump(&mut self) -> Token {
        let token = self.token();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    fn is(&self, punct: &str) -> bool {
        matches!(self.token().kind, Kind::Punct(p) if p == punct)
    }

    fn peek_is(&self, ahead: usize, punct: &str) -> bool {
        matches!(self.peek(ahead).kind, Kind::Punct(p) if p == punct)
    }

    fn is_keyword(&self, keyword: &str) -> bool {
        self.token().kind == Kind::Keyword && self.word() == keyword
    }

    /// A bare word that means something here only.
    fn is_word(&self, word: &str) -> bool {
        self.token().kind == Kind::Ident && self.word() == word
    }

    fn at_end(&self) -> bool {
        self.token().kind == Kind::End
    }

    fn eat(&mut self, punct: &str) -> bool {
        let is = self.is(punct);
        if is {
            self.bump();
        }
        is
    }

    fn eat_keyword(&mut self, keyword: &str) -> bool {
        let is = self.is_keyword(keyword);
        if is {
            self.bump();
        }
        is
    }

    fn error(&mut self, code: Code, message: impl Into<String>) -> Unparsed {
        let diagnostic = Diagnostic::error(code, self.span(), message);
        self.report(diagnostic)
    }

    fn report(&mut self, diagnostic: Diagnostic) -> Unparsed {
        if self.error_at != self.at {
            self.error_at = self.at;
            self.found.push(diagnostic);
        }
        if self.found.len() >= MOST_ERRORS {
            self.give_up();
        }
        Unparsed
    }

    fn give_up(&mut self) {
        let rest = Span::new(self.span().start, self.text.len());
        self.recovery.skipped(rest);
        self.at = self.tokens.len() - 1;
        self.error_at = self.at;
    }

    fn found_here(&self) -> String {
        match self.token().kind {
            Kind::End => "the end of the file".to_owned(),
            Kind::Keyword => format!("the keyword `{}`", self.word()),
            _ => {
                let word = self.word();
                let short: String = word.chars().take(40).collect();
                let dots = if short.len() < word.len() { "…" } else { "" };
                format!("`{short}{dots}`")
            }
        }
    }

    fn expected(&mut self, what: &str) -> Unparsed {
        let message = format!("expected {what}, found {}", self.found_here());
        let hint = self.habit(what);
        let error = Diagnostic::error(codes::EXPECTED, self.span(), message).maybe_hint(hint);
        self.report(error)
    }

    /// Takes the `>` that another sign begins with.
    fn split_angle(&mut self) -> bool {
        let rest = match self.token().kind {
            Kind::Punct(">>") => ">",
            Kind::Punct(">=") => "=",
            _ => return false,
        };
        let token = &mut self.tokens[self.at];
        token.kind = Kind::Punct(rest);
        token.span = Span::new(token.span.start + 1, token.span.end);
        true
    }

    fn expect(&mut self, punct: &str) -> Parsed<Span> {
        if self.is(punct) {
            Ok(self.bump().span)
        } else {
            Err(self.expected(&format!("`{punct}`")))
        }
    }

    fn expect_keyword(&mut self, keyword: &str) -> Parsed<()> {
        if self.eat_keyword(keyword) {
            Ok(())
        } else {
            Err(self.expected(&format!("`{keyword}`")))
        }
    }

    /// Runs a parser one level deeper, or gives up on the file where it nests too deep.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEEPEST {
            self.error(
                codes::TOO_DEEP,
                format!("this is nested more than {DEEPEST} deep"),
            );
            self.give_up();
            return Err(Unparsed);
        }
        if self.depth == 0 {
            self.operators = 0;
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Called for each operator whose operands nest the tree deeper.
    fn operator(&mut self) -> Parsed<()> {
        self.operators += 1;
        if self.operators > MOST_OPERATORS {
            self.error(
                codes::TOO_DEEP,
                format!("more than {MOST_OPERATORS} operators in one expression"),
            );
            self.give_up();
            return Err(Unparsed);
        }
        Ok(())
    }

    /// A bare identifier.
    fn ident(&mut self, what: &str) -> Parsed<Name> {
        if self.token().kind == Kind::Ident {
            let token = self.bump();
            return Ok(Name {
                text: self.slice(token).to_owned(),
                span: token.span,
            });
        }
        if self.token().kind == Kind::Keyword {
            let word = self.word();
            let diagnostic = Diagnostic::error(
                codes::KEYWORD_NAME,
                self.span(),
                format!("expected {what}, but `{word}` is a keyword"),
            )
            .hint("choose another name");
            return Err(self.report(diagnostic));
        }
        Err(self.expected(what))
    }

    /// A name of a state or a label: an identifier, a number, or anything in quotes.
    fn name(&mut self, what: &str) -> Parsed<Name> {
        match self.token().kind {
            Kind::Int => {
                let token = self.bump();
                Ok(Name {
                    text: self.slice(token).to_owned(),
                    span: token.span,
                })
            }
            Kind::Str => {
                let token = self.bump();
                Ok(Name {
                    // A bad escape is reported by the lexer.
                    text: lexer::unquote(self.slice(token)).unwrap_or_default(),
                    span: token.span,
                })
            }
            Kind::Keyword => {
                let word = self.word();
                let behind = self.behind();
                let hint = if &self.text[behind.start..behind.end] == "," && self.starts_member() {
                    format!("if `{word}` begins the next declaration, leave the `,` before it out")
                } else {
                    format!("write it in quotes: `\"{word}\"`")
                };
                let diagnostic = Diagnostic::error(
                    codes::KEYWORD_NAME,
                    self.span(),
                    format!("expected {what}, but `{word}` is a keyword"),
                )
                .hint(hint);
                Err(self.report(diagnostic))
            }
            _ => self.ident(what),
        }
    }

    /// A label's bare name; after `?` or `!` a keyword is a name like any other.
    fn label_name(&mut self, after_sigil: bool) -> Parsed<Name> {
        if after_sigil && self.token().kind == Kind::Keyword {
            let token = self.bump();
            return Ok(Name {
                text: self.slice(token).to_owned(),
                span: token.span,
            });
        }
        self.name("a label")
    }

    /// `{ a, b }`, a comma after the last is allowed.
    fn braced<T>(&mut self, mut one: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.expect("{")?;
        let mut list = Vec::new();
        while !self.is("}") {
            list.push(one(self)?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(list)
    }

    fn starts_event(&self) -> bool {
        self.is("?")
            || self.is("!")
            || self.is("*")
            || matches!(self.token().kind, Kind::Ident | Kind::Str | Kind::Int)
    }

    /// `?a`, `!x(p, _)`, `plain`, `i`, `delta`, `*`.
    fn event(&mut self) -> Parsed<Event> {
        self.event_with(|p, kind, name| {
            let args = if p.is("(") {
                Some(p.event_args()?)
            } else {
                None
            };
            Ok(EventKind::Label { kind, name, args })
        })
    }

    /// An event whose label, after its name, is up to `label`.
    fn event_with(
        &mut self,
        label: impl FnOnce(&mut Self, LabelKind, Name) -> Parsed<EventKind>,
    ) -> Parsed<Event> {
        let start = self.span();
        let kind = if self.eat("*") {
            EventKind::Any
        } else if self.token().kind == Kind::Ident && matches!(self.word(), "i" | "tau" | "τ") {
            self.bump();
            EventKind::Tau
        } else if self.token().kind == Kind::Ident && matches!(self.word(), "delta" | "δ") {
            self.bump();
            EventKind::Delta
        } else {
            let kind = if self.eat("?") {
                LabelKind::Input
            } else if self.eat("!") {
                LabelKind::Output
            } else {
                LabelKind::Undirected
            };
            let name = self.label_name(kind != LabelKind::Undirected)?;
            label(self, kind, name)?
        };
        Ok(Event {
            kind,
            span: self.since(start),
        })
    }

    fn event_args(&mut self) -> Parsed<Vec<Name>> {
        self.expect("(")?;
        let mut args = Vec::new();
        while !self.is(")") {
            if self.token().kind != Kind::Ident {
                let diagnostic = Diagnostic::error(
                    codes::EXPECTED,
                    self.span(),
                    format!(
                        "expected a name for the parameter, found {}",
                        self.found_here()
                    ),
                )
                .hint("name the parameter, and constrain it in the guard: `!x(p) [p == 3]`");
                return Err(self.report(diagnostic));
            }
            args.push(self.ident("a name for the parameter")?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(args)
    }
}
