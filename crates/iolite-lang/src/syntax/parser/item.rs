//! Declarations.

use super::{Kind, Parsed, Parser};
use crate::syntax::ast::{
    Alias, Definition, Enum, Function, Item, Param, Record, Role, Sort, SortKind, Sum, Trace,
    TraceList, Variant,
};
use crate::{Diagnostic, Span, codes, diagnostic};

/// Words that start a declaration.
pub(super) const ITEMS: &[&str] = &[
    "system", "observer", "purpose", "process", "property", "traces", "test", "enum", "record",
    "type", "fn",
];

/// `int[][]…` deeper than this is refused.
const DEEPEST_ARRAY: u32 = 16;

impl Parser<'_> {
    pub(super) fn starts_item(&self) -> bool {
        self.token().kind == Kind::Keyword && ITEMS.contains(&self.word())
    }

    pub(super) fn items(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        while !self.at_end() {
            let start = self.span();
            let errors = self.found.len();
            if !self.starts_item() {
                let hint = diagnostic::did_you_mean(self.word(), ITEMS.iter().copied());
                let is_misspelt = hint.is_some();
                let message = format!("expected a declaration, found {}", self.found_here());
                let error = Diagnostic::error(codes::EXPECTED_DECLARATION, self.span(), message)
                    .hint("a declaration starts with `system`, `process`, `observer`, …")
                    .maybe_hint(hint);
                self.report(error);
                self.bump();
                self.skip_to_item();
                let end = self.span().start;
                self.recovery
                    .stray(Span::new(start.start, end), is_misspelt);
                continue;
            }
            let keyword = self.word();
            let named = self.peek(1).kind == Kind::Ident;
            let item = self.item();
            let failed = item.is_err() || self.found.len() > errors;
            match item {
                Ok(item) => items.push(item),
                Err(_) => self.skip_to_item(),
            }
            let region = Span::new(start.start, self.span().start);
            self.recovery.declaration(region, keyword, named, failed);
        }
        items
    }

    fn skip_to_item(&mut self) {
        let start = self.span().start;
        while !self.at_end() && !self.starts_item() {
            self.bump();
        }
        self.recovery.skipped(Span::new(start, self.span().start));
    }

    fn item(&mut self) -> Parsed<Item> {
        let start = self.bump().span;
        let keyword = &self.text[start.start..start.end];
        match keyword {
            "system" => {
                let name = self.ident("the name of the system")?;
                if self.is("=") || self.is("(") || self.is("[") || self.is_keyword("over") {
                    return self.definition(start, true, name);
                }
                self.machine(start, Role::System, name).map(Item::Machine)
            }
            "process" => {
                let name = self.ident("the name of the process")?;
                self.definition(start, false, name)
            }
            "observer" => {
                let name = self.ident("the name of the observer")?;
                self.machine(start, Role::Observer, name).map(Item::Machine)
            }
            "purpose" => {
                let name = self.ident("the name of the purpose")?;
                self.machine(start, Role::Purpose, name).map(Item::Machine)
            }
            "test" => {
                let name = self.ident("the name of the test case")?;
                self.machine(start, Role::Test, name).map(Item::Machine)
            }
            "traces" => self.traces(start),
            "property" => self.property(start).map(Item::Property),
            "enum" => {
                let name = self.ident("the name of the enumeration")?;
                let values = self.braced(|p| p.ident("a value"))?;
                let span = self.since(start);
                Ok(Item::Enum(Enum { name, values, span }))
            }
            "record" => {
                let name = self.ident("the name of the record")?;
                let fields = self.braced(Self::param)?;
                let span = self.since(start);
                Ok(Item::Record(Record { name, fields, span }))
            }
            "type" => {
                let name = self.ident("the name of the sort")?;
                self.expect("=")?;
                if self.starts_sum() {
                    let variants = self.variants()?;
                    let span = self.since(start);
                    return Ok(Item::Sum(Sum {
                        name,
                        variants,
                        span,
                    }));
                }
                let sort = self.sort()?;
                let span = self.since(start);
                Ok(Item::Alias(Alias { name, sort, span }))
            }
            _ => self.function(start),
        }
    }

    /// After `type T =`: whether variants follow, and not a sort. A bar may stand before the first.
    fn starts_sum(&self) -> bool {
        let variant = self.token().kind == Kind::Ident;
        let decimal = self.word() == "decimal" && self.peek(2).kind == Kind::Int;
        self.is("|") || variant && !decimal && (self.peek_is(1, "(") || self.peek_is(1, "|"))
    }

    /// `Circle(r: int) | Rect(w: int, h: int) | Point`.
    fn variants(&mut self) -> Parsed<Vec<Variant>> {
        let mut variants = Vec::new();
        self.eat("|");
        loop {
            let name = self.ident("the name of a variant")?;
            let fields = if self.is("(") {
                self.params()?
            } else {
                Vec::new()
            };
            variants.push(Variant { name, fields });
            if !self.eat("|") {
                return Ok(variants);
            }
        }
    }

    fn definition(
        &mut self,
        start: Span,
        is_system: bool,
        name: crate::syntax::ast::Name,
    ) -> Parsed<Item> {
        let gates = if self.is("[") {
            self.gate_names()?
        } else {
            Vec::new()
        };
        let params = if self.is("(") {
            self.params()?
        } else {
            Vec::new()
        };
        let over = if self.eat_keyword("over") {
            Some(self.braced(Self::action)?)
        } else {
            None
        };
        if !params.is_empty() && self.is("{") {
            let error = Diagnostic::error(codes::EXPECTED, self.span(), "expected `=`, found `{`")
                .hint("a system with states has constants instead: `system S { const n: int … }`");
            return Err(self.report(error));
        }
        self.expect("=")?;
        let body = self.behaviour()?;
        if !self.at_end() && !self.starts_item() {
            let what = if is_system {
                "an operator or the next declaration"
            } else {
                "`[]`, `|||`, `>>` or the next declaration"
            };
            self.expected(what);
            self.skip_to_item();
        }
        let span = Span::new(start.start, body.span.end);
        Ok(Item::Definition(Definition {
            is_system,
            name,
            gates,
            params,
            over,
            body,
            span,
        }))
    }

    fn function(&mut self, start: Span) -> Parsed<Item> {
        let name = self.ident("the name of the function")?;
        let params = self.params()?;
        self.expect(":")?;
        let result = self.sort()?;
        self.expect("=")?;
        let body = self.expr()?;
        let span = self.since(start);
        Ok(Item::Function(Function {
            name,
            params,
            result,
            body,
            span,
        }))
    }

    /// `(a: int, b: bool)`.
    pub(super) fn params(&mut self) -> Parsed<Vec<Param>> {
        self.expect("(")?;
        let mut params = Vec::new();
        while !self.is(")") {
            params.push(self.param()?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(params)
    }

    pub(super) fn param(&mut self) -> Parsed<Param> {
        let name = self.ident("a name")?;
        self.expect(":")?;
        let sort = self.sort()?;
        Ok(Param { name, sort })
    }

    pub(super) fn sort(&mut self) -> Parsed<Sort> {
        let start = self.span();
        let kind = match self.token().kind {
            Kind::Ident => {
                let range = self.peek_is(1, "..");
                match self.word() {
                    _ if range => self.range_sort()?,
                    "bool" => self.simple(SortKind::Bool),
                    "int" => self.simple(SortKind::Int),
                    "string" => self.simple(SortKind::String),
                    "decimal" if self.peek_is(1, "(") => {
                        self.bump();
                        self.bump();
                        let digits = self.token().span;
                        if self.token().kind != Kind::Int {
                            return Err(self.expected("the number of places after the point"));
                        }
                        self.bump();
                        self.expect(")")?;
                        SortKind::Decimal(self.text[digits.start..digits.end].to_owned())
                    }
                    "set" if self.peek_is(1, "<") => {
                        self.bump();
                        self.bump();
                        let of = self.nested(Self::sort)?;
                        self.close_angle()?;
                        SortKind::Set(Box::new(of))
                    }
                    "map" if self.peek_is(1, "<") => {
                        self.bump();
                        self.bump();
                        let key = self.nested(Self::sort)?;
                        self.expect(",")?;
                        let value = self.nested(Self::sort)?;
                        self.close_angle()?;
                        SortKind::Map(Box::new(key), Box::new(value))
                    }
                    name => self.simple(SortKind::Name(name.to_owned())),
                }
            }
            Kind::Int => self.range_sort()?,
            _ if self.is("-") || self.is("(") => self.range_sort()?,
            _ => return Err(self.expected("a sort")),
        };
        let mut sort = Sort {
            kind,
            span: self.since(start),
        };
        let mut depth = 0;
        while self.is("[") && self.peek_is(1, "]") {
            depth += 1;
            if depth > DEEPEST_ARRAY {
                return Err(self.error(
                    codes::TOO_DEEP,
                    format!("arrays are nested more than {DEEPEST_ARRAY} deep"),
                ));
            }
            self.bump();
            self.bump();
            sort = Sort {
                kind: SortKind::Array(Box::new(sort)),
                span: self.since(start),
            };
        }
        Ok(sort)
    }

    /// The `>` that ends a sort, which may be the first half of `>>` or `>=`.
    fn close_angle(&mut self) -> Parsed<()> {
        if self.split_angle() {
            return Ok(());
        }
        self.expect(">").map(|_| ())
    }

    fn simple(&mut self, kind: SortKind) -> SortKind {
        self.bump();
        kind
    }

    fn range_sort(&mut self) -> Parsed<SortKind> {
        let (first, last) = self.range()?;
        Ok(SortKind::Range(Box::new(first), Box::new(last)))
    }

    fn traces(&mut self, start: Span) -> Parsed<Item> {
        let name = self.ident("the name of the set of traces")?;
        if self.is("{") || self.is_keyword("for") && !self.traces_list_follows() {
            return self.machine(start, Role::Traces, name).map(Item::Machine);
        }
        let of = if self.eat_keyword("for") {
            Some(self.ident("the name of a system")?)
        } else {
            None
        };
        self.expect("=")?;
        let traces = self.braced(Self::trace)?;
        Ok(Item::Traces(TraceList {
            name,
            of,
            traces,
            span: self.since(start),
        }))
    }

    /// After `for`: whether `System =` comes, and not `System {`.
    fn traces_list_follows(&self) -> bool {
        self.peek_is(2, "=")
    }

    fn trace(&mut self) -> Parsed<Trace> {
        let start = self.span();
        let mut events = Vec::new();
        if self.is_word("eps") {
            self.bump();
        } else {
            loop {
                events.push(self.event()?);
                if !self.eat(".") {
                    break;
                }
            }
        }
        Ok(Trace {
            events,
            span: self.since(start),
        })
    }
}
