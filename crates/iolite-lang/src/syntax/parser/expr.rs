//! Expressions, by precedence climbing.

use super::{Kind, Parsed, Parser};
use crate::syntax::ast::{
    Arm, ArrayQuantifier, BinaryOp, Expr, ExprKind, Pattern, PatternKind, UnaryOp,
};
use crate::syntax::lexer;
use crate::{Diagnostic, Span, codes};

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.binary(0)
    }

    fn binary_op(&self) -> Option<BinaryOp> {
        let p = match self.token().kind {
            Kind::Punct(p) => p,
            Kind::Keyword if self.word() == "in" && !self.before_in => "in",
            _ => return None,
        };
        BinaryOp::ALL.into_iter().find(|op| op.symbol() == p)
    }

    fn binary(&mut self, least: u8) -> Parsed<Expr> {
        self.nested(|p| {
            let mut left = p.unary()?;
            let mut compared = false;
            loop {
                if p.is_word("is") && BinaryOp::Eq.precedence() > least {
                    p.operator()?;
                    p.bump();
                    let variant = p.ident("the name of a variant")?;
                    left = Expr {
                        span: left.span.to(variant.span),
                        kind: ExprKind::Is(Box::new(left), variant),
                    };
                    continue;
                }
                let Some(op) = p.binary_op().filter(|op| op.precedence() > least) else {
                    break;
                };
                p.operator()?;
                if op.is_comparison() && compared {
                    let error = Diagnostic::error(
                        codes::CHAINED_COMPARISON,
                        p.span(),
                        "comparisons do not chain",
                    )
                    .hint("write `a < b && b < c`");
                    p.report(error);
                }
                compared = op.is_comparison();
                p.bump();
                let bound = op.precedence() - u8::from(op.is_right_associative());
                let right = p.binary(bound)?;
                left = Expr {
                    span: left.span.to(right.span),
                    kind: ExprKind::Binary(op, Box::new(left), Box::new(right)),
                };
            }
            Ok(left)
        })
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let op = if self.is("-") {
            UnaryOp::Neg
        } else if self.is("!") {
            UnaryOp::Not
        } else {
            return self.postfix();
        };
        self.bump();
        let operand = self.nested(Self::unary)?;
        Ok(Expr {
            span: start.to(operand.span),
            kind: ExprKind::Unary(op, Box::new(operand)),
        })
    }

    pub(super) fn postfix(&mut self) -> Parsed<Expr> {
        let mut expr = self.primary()?;
        loop {
            // `0..7[]` is a sort: `[]` is no index.
            if self.is("[") && !self.peek_is(1, "]") {
                self.operator()?;
                self.bump();
                let index = self.enclosed(Self::expr)?;
                self.expect("]")?;
                expr = Expr {
                    span: self.since(expr.span),
                    kind: ExprKind::Index(Box::new(expr), Box::new(index)),
                };
            } else if self.is(".") {
                self.operator()?;
                self.bump();
                let field = self.ident("the name of a field")?;
                expr = Expr {
                    span: expr.span.to(field.span),
                    kind: ExprKind::Field(Box::new(expr), field),
                };
            } else {
                return Ok(expr);
            }
        }
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let kind = match self.token().kind {
            Kind::Int => self.number(),
            Kind::Str => {
                let literal = self.bumped();
                ExprKind::Str(lexer::unquote(literal).unwrap_or_default())
            }
            Kind::Keyword if matches!(self.word(), "true" | "false") => {
                ExprKind::Bool(self.bumped() == "true")
            }
            Kind::Keyword if self.word() == "if" => {
                self.bump();
                self.conditional()?
            }
            Kind::Keyword if self.word() == "match" => {
                self.bump();
                self.cases()?
            }
            Kind::Ident if self.is_word("let") && self.binds("=") => {
                self.bump();
                self.binding()?
            }
            Kind::Ident if self.array_quantifier().is_some() => self.quantified()?,
            Kind::Ident => self.named()?,
            _ if self.is("(") => {
                self.bump();
                let mut inner = self.enclosed(Self::expr)?;
                self.expect(")")?;
                inner.span = self.since(start);
                return Ok(inner);
            }
            _ if self.is("[") => {
                self.bump();
                let elements = self.enclosed(|p| p.list("]"))?;
                self.expect("]")?;
                ExprKind::Array(elements)
            }
            _ if self.is("{") => {
                self.bump();
                let literal = self.nested(|p| p.enclosed(Self::set_or_map))?;
                self.expect("}")?;
                literal
            }
            _ => return Err(self.expected("an expression")),
        };
        Ok(Expr {
            kind,
            span: self.since(start),
        })
    }

    /// `12`, or `12.50` without spaces.
    fn number(&mut self) -> ExprKind {
        let start = self.span();
        let (point, places) = (self.peek(1).span, self.peek(2).span);
        let pointed = self.peek_is(1, ".") && self.peek(2).kind == Kind::Int;
        if pointed && start.end == point.start && point.end == places.start {
            self.bump();
            self.bump();
            self.bump();
            return ExprKind::Decimal(self.text[start.start..places.end].to_owned());
        }
        ExprKind::Int(self.bumped().to_owned())
    }

    /// After `{`: the elements of a set, or the pairs of a map.
    fn set_or_map(&mut self) -> Parsed<ExprKind> {
        let mut items = Vec::new();
        let mut pairs = Vec::new();
        while !self.is("}") {
            let key = self.expr()?;
            if items.is_empty() && (!pairs.is_empty() || self.is(":")) {
                self.expect(":")?;
                pairs.push((key, self.expr()?));
            } else {
                items.push(key);
            }
            if !self.eat(",") {
                break;
            }
        }
        Ok(if pairs.is_empty() {
            ExprKind::Set(items)
        } else {
            ExprKind::Map(pairs)
        })
    }

    fn bumped(&mut self) -> &str {
        let Span { start, end } = self.bump().span;
        &self.text[start..end]
    }

    fn conditional(&mut self) -> Parsed<ExprKind> {
        let condition = self.expr()?;
        self.expect_keyword("then")?;
        let yes = self.expr()?;
        self.expect_keyword("else")?;
        let no = self.expr()?;
        Ok(ExprKind::If(
            Box::new(condition),
            Box::new(yes),
            Box::new(no),
        ))
    }

    /// Whether a name and then this follow.
    fn binds(&self, sign: &str) -> bool {
        let next = self.peek(2);
        let found = &self.text[next.span.start..next.span.end];
        self.peek(1).kind == Kind::Ident && found == sign
    }

    fn array_quantifier(&self) -> Option<ArrayQuantifier> {
        [ArrayQuantifier::ForAll, ArrayQuantifier::Exists]
            .into_iter()
            .find(|q| self.is_word(q.word()) && self.binds("in"))
    }

    /// `forall x in a: condition`; it reaches as far to the right as it can.
    fn quantified(&mut self) -> Parsed<ExprKind> {
        let quantifier = self.array_quantifier().unwrap_or(ArrayQuantifier::ForAll);
        self.bump();
        let name = self.ident("a name for the elements")?;
        self.expect_keyword("in")?;
        let outer = std::mem::replace(&mut self.before_brace, true);
        let array = self.binary(BinaryOp::Eq.precedence());
        self.before_brace = outer;
        let array = array?;
        self.expect(":")?;
        let body = self.expr()?;
        let (array, body) = (Box::new(array), Box::new(body));
        Ok(ExprKind::Quantified(quantifier, name, array, body))
    }

    /// `let x = a in b`.
    fn binding(&mut self) -> Parsed<ExprKind> {
        let name = self.ident("a name")?;
        self.expect("=")?;
        let value = Box::new(self.expr_before_in()?);
        self.expect_keyword("in")?;
        let body = Box::new(self.expr()?);
        Ok(ExprKind::Let(name, value, body))
    }

    /// An expression whose own `in` is not the one that ends it.
    pub(super) fn expr_before_in(&mut self) -> Parsed<Expr> {
        let outer = std::mem::replace(&mut self.before_in, true);
        let value = self.expr();
        self.before_in = outer;
        value
    }

    /// `match s { Circle(r) => r, _ => 0 }`.
    fn cases(&mut self) -> Parsed<ExprKind> {
        let outer = std::mem::replace(&mut self.before_brace, true);
        let of = self.expr();
        self.before_brace = outer;
        let of = Box::new(of?);
        let arms = self.nested(|p| p.enclosed(|p| p.braced(Self::arm)))?;
        Ok(ExprKind::Match(of, arms))
    }

    fn arm(&mut self) -> Parsed<Arm> {
        let pattern = self.pattern("the name of a variant, a literal, or `_`")?;
        self.expect("=>")?;
        Ok(Arm {
            pattern,
            body: self.expr()?,
        })
    }

    /// `Cons(Some(n), _)`, `0`, `"text"`, `_`.
    fn pattern(&mut self, what: &str) -> Parsed<Pattern> {
        let start = self.span();
        let literal = match self.token().kind {
            Kind::Int | Kind::Str => true,
            Kind::Keyword => matches!(self.word(), "true" | "false"),
            _ => self.is("-"),
        };
        let kind = if literal {
            PatternKind::Literal(Box::new(self.unary()?))
        } else {
            let name = self.ident(what)?;
            if self.eat("(") {
                let mut fields = Vec::new();
                while !self.is(")") {
                    fields
                        .push(self.nested(|p| p.pattern("a name for a field, a pattern, or `_`"))?);
                    if !self.eat(",") {
                        break;
                    }
                }
                self.expect(")")?;
                PatternKind::Variant(name, fields)
            } else if name.text == "_" {
                PatternKind::Any
            } else {
                PatternKind::Name(name)
            }
        };
        let span = self.since(start);
        Ok(Pattern { kind, span })
    }

    /// What stands in parentheses or the like is free of what comes after it.
    fn enclosed<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let outer = (self.before_in, self.before_brace);
        (self.before_in, self.before_brace) = (false, false);
        let result = inner(self);
        (self.before_in, self.before_brace) = outer;
        result
    }

    pub(super) fn list(&mut self, close: &str) -> Parsed<Vec<Expr>> {
        let mut list = Vec::new();
        while !self.is(close) {
            list.push(self.expr()?);
            if !self.eat(",") {
                break;
            }
        }
        Ok(list)
    }

    fn named(&mut self) -> Parsed<ExprKind> {
        let name = self.ident("a name")?;
        if self.eat("(") {
            let args = self.nested(|p| p.enclosed(|p| p.list(")")))?;
            self.expect(")")?;
            return Ok(ExprKind::Call(name, args));
        }
        if self.is("{") && !self.before_brace {
            let fields = self.nested(|p| {
                p.enclosed(|p| {
                    p.braced(|p| {
                        let field = p.ident("the name of a field")?;
                        p.expect("=")?;
                        Ok((field, p.expr()?))
                    })
                })
            })?;
            return Ok(ExprKind::Record(name, fields));
        }
        Ok(ExprKind::Name(name.text))
    }

    /// `first..last`; the ends are sums, so that `0..n - 1` is one range.
    pub(super) fn range(&mut self) -> Parsed<(Expr, Expr)> {
        let least = BinaryOp::Concat.precedence();
        let first = self.binary(least)?;
        self.expect("..")?;
        let last = self.binary(least)?;
        Ok((first, last))
    }
}
