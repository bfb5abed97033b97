//! Expressions, by precedence climbing.

use super::{Kind, Parsed, Parser};
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::syntax::lexer;
use crate::{Diagnostic, Span, codes};

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.binary(0)
    }

    fn binary_op(&self) -> Option<BinaryOp> {
        let Kind::Punct(p) = self.token().kind else {
            return None;
        };
        BinaryOp::ALL.into_iter().find(|op| op.symbol() == p)
    }

    fn binary(&mut self, least: u8) -> Parsed<Expr> {
        self.nested(|p| {
            let mut left = p.unary()?;
            let mut compared = false;
            while let Some(op) = p.binary_op()
                && op.precedence() > least
            {
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
                let index = self.expr()?;
                self.expect("]")?;
                expr = Expr {
                    span: self.since(expr.span),
                    kind: ExprKind::Index(Box::new(expr), Box::new(index)),
                };
            } else if self.is(".") {
                self.operator()?;
                self.bump();
                if self.token().kind == Kind::Int && matches!(expr.kind, ExprKind::Int(_)) {
                    let error = Diagnostic::error(
                        codes::EXPECTED,
                        expr.span.to(self.span()),
                        "numbers are whole",
                    );
                    return Err(self.report(
                        error.hint("count in a smaller unit: cents, milliseconds, tenths"),
                    ));
                }
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
            Kind::Int => ExprKind::Int(self.bumped().to_owned()),
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
            Kind::Ident => self.named()?,
            _ if self.is("(") => {
                self.bump();
                let mut inner = self.expr()?;
                self.expect(")")?;
                inner.span = self.since(start);
                return Ok(inner);
            }
            _ if self.is("[") => {
                self.bump();
                let elements = self.list("]")?;
                self.expect("]")?;
                ExprKind::Array(elements)
            }
            _ => return Err(self.expected("an expression")),
        };
        Ok(Expr {
            kind,
            span: self.since(start),
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
            let args = self.nested(|p| p.list(")"))?;
            self.expect(")")?;
            return Ok(ExprKind::Call(name, args));
        }
        if self.is("{") {
            let fields = self.nested(|p| {
                p.braced(|p| {
                    let field = p.ident("the name of a field")?;
                    p.expect("=")?;
                    Ok((field, p.expr()?))
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
