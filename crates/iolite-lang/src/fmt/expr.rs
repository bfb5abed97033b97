//! Expressions, formulas and regular expressions, with the parentheses they need and no others.

use super::text::{Place, property_event};
use crate::syntax::ast::{
    Arm, BinaryOp, Expr, ExprKind, Ltl, LtlBinary, LtlKind, LtlUnary, Pattern, PatternKind, Regex,
    RegexKind, UnaryOp,
};
use crate::syntax::quote;

pub(super) fn expr(e: &Expr) -> String {
    at(e, 0)
}

/// The ends of a range are sums at most.
pub(super) fn range_end(e: &Expr) -> String {
    at(e, BinaryOp::Add.precedence())
}

/// An expression where only operators of precedence `least` and above can stand bare.
fn at(e: &Expr, least: u8) -> String {
    const TIGHT: u8 = 8;
    const POSTFIX: u8 = 9;
    let (text, own) = match &e.kind {
        ExprKind::Int(digits) | ExprKind::Decimal(digits) => (digits.clone(), u8::MAX),
        ExprKind::Bool(b) => (b.to_string(), u8::MAX),
        ExprKind::Str(s) => (quote(s), u8::MAX),
        ExprKind::Name(n) => (n.clone(), u8::MAX),
        ExprKind::Error => (String::new(), u8::MAX),
        ExprKind::Unary(op, a) => {
            let symbol = match op {
                UnaryOp::Neg => "-",
                UnaryOp::Not => "!",
            };
            (format!("{symbol}{}", at(a, TIGHT)), TIGHT)
        }
        ExprKind::Binary(op, a, b) => {
            let own = op.precedence();
            let (left, right) = if op.is_comparison() {
                (own + 1, own + 1)
            } else if op.is_right_associative() {
                (own + 1, own)
            } else {
                (own, own + 1)
            };
            let text = format!("{} {} {}", at(a, left), op.symbol(), at(b, right));
            (text, own)
        }
        ExprKind::Is(a, variant) => {
            let own = BinaryOp::Eq.precedence();
            (format!("{} is {}", at(a, own + 1), variant.text), own)
        }
        ExprKind::Match(of, arms) => {
            let arms: Vec<_> = arms.iter().map(arm).collect();
            let of = before_brace(of, 0);
            (format!("match {of} {{ {} }}", arms.join(", ")), u8::MAX)
        }
        ExprKind::Let(name, a, b) => {
            let (value, body) = (before_in(a), expr(b));
            (format!("let {} = {value} in {body}", name.text), 0)
        }
        ExprKind::Quantified(q, name, a, b) => {
            let array = before_brace(a, BinaryOp::Concat.precedence());
            let text = format!("{} {} in {array}: {}", q.word(), name.text, expr(b));
            (text, 0)
        }
        ExprKind::If(c, a, b) => (
            format!("if {} then {} else {}", expr(c), expr(a), expr(b)),
            0,
        ),
        ExprKind::Call(name, args) => (format!("{}({})", name.text, list(args)), u8::MAX),
        ExprKind::Index(a, i) => (format!("{}[{}]", at(a, POSTFIX), expr(i)), u8::MAX),
        ExprKind::Field(a, f) => (format!("{}.{}", at(a, POSTFIX), f.text), u8::MAX),
        ExprKind::Array(elements) => (format!("[{}]", list(elements)), u8::MAX),
        ExprKind::Set(elements) => (format!("{{{}}}", list(elements)), u8::MAX),
        ExprKind::Map(pairs) => {
            let pairs: Vec<_> = pairs
                .iter()
                .map(|(key, value)| format!("{}: {}", expr(key), expr(value)))
                .collect();
            (format!("{{{}}}", pairs.join(", ")), u8::MAX)
        }
        ExprKind::Record(name, fields) => {
            let fields: Vec<_> = fields
                .iter()
                .map(|(n, e)| format!("{} = {}", n.text, expr(e)))
                .collect();
            let text = if fields.is_empty() {
                format!("{} {{}}", name.text)
            } else {
                format!("{} {{ {} }}", name.text, fields.join(", "))
            };
            (text, u8::MAX)
        }
    };
    if own < least {
        format!("({text})")
    } else {
        text
    }
}

fn arm(arm: &Arm) -> String {
    format!("{} => {}", pattern(&arm.pattern), expr(&arm.body))
}

fn pattern(p: &Pattern) -> String {
    match &p.kind {
        PatternKind::Any => "_".to_owned(),
        PatternKind::Name(name) => name.text.clone(),
        PatternKind::Literal(e) => expr(e),
        PatternKind::Variant(name, fields) => {
            let fields: Vec<_> = fields.iter().map(pattern).collect();
            format!("{}({})", name.text, fields.join(", "))
        }
    }
}

/// An expression of precedence `least` that a brace may follow: a record would take it for its own.
fn before_brace(e: &Expr, least: u8) -> String {
    fn is_open(e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Unary(_, a) | ExprKind::Field(a, _) | ExprKind::Index(a, _) => is_open(a),
            ExprKind::Binary(_, a, b) => is_open(a) || is_open(b),
            ExprKind::Record(..)
            | ExprKind::Is(..)
            | ExprKind::If(..)
            | ExprKind::Let(..)
            | ExprKind::Quantified(..) => true,
            _ => false,
        }
    }
    if is_open(e) {
        format!("({})", expr(e))
    } else {
        at(e, least)
    }
}

/// An expression that `in` ends.
pub(super) fn before_in(e: &Expr) -> String {
    fn asks(e: &Expr) -> bool {
        let mut found = matches!(
            e.kind,
            ExprKind::Binary(BinaryOp::In, ..) | ExprKind::Let(..)
        );
        e.parts(&mut |part| found |= asks(part));
        found
    }
    if asks(e) {
        format!("({})", expr(e))
    } else {
        expr(e)
    }
}

fn list(items: &[Expr]) -> String {
    items.iter().map(expr).collect::<Vec<_>>().join(", ")
}

pub(super) fn ltl(l: &Ltl) -> String {
    ltl_at(l, 0)
}

fn ltl_at(l: &Ltl, least: u8) -> String {
    const TIGHT: u8 = 6;
    let (text, own) = match &l.kind {
        LtlKind::Constant(b) => (b.to_string(), u8::MAX),
        LtlKind::Atom(e) => (property_event(e, Place::Ltl), u8::MAX),
        LtlKind::Error => (String::new(), u8::MAX),
        LtlKind::Unary(op, a) => {
            let word = match op {
                LtlUnary::Not => "not",
                LtlUnary::Next => "X",
                LtlUnary::Globally => "G",
                LtlUnary::Finally => "F",
                LtlUnary::Yesterday => "Y",
                LtlUnary::WeakYesterday => "Z",
                LtlUnary::Once => "O",
                LtlUnary::Historically => "H",
            };
            (format!("{word} {}", ltl_at(a, TIGHT)), TIGHT)
        }
        LtlKind::Binary(op, a, b) => {
            let (symbol, own, right) = match op {
                LtlBinary::Equivalent => ("<->", 1, false),
                LtlBinary::Implies => ("->", 2, true),
                LtlBinary::Or => ("or", 3, false),
                LtlBinary::And => ("and", 4, false),
                LtlBinary::Until => ("U", 5, true),
                LtlBinary::WeakUntil => ("W", 5, true),
                LtlBinary::Release => ("R", 5, true),
                LtlBinary::StrongRelease => ("M", 5, true),
                LtlBinary::Since => ("S", 5, true),
                LtlBinary::Trigger => ("T", 5, true),
            };
            let (left_least, right_least) = if right {
                (own + 1, own)
            } else {
                (own, own + 1)
            };
            let text = format!(
                "{} {symbol} {}",
                ltl_at(a, left_least),
                ltl_at(b, right_least)
            );
            (text, own)
        }
    };
    if own < least {
        format!("({text})")
    } else {
        text
    }
}

pub(super) fn regex(r: &Regex) -> String {
    regex_at(r, 0)
}

fn regex_at(r: &Regex, least: u8) -> String {
    let (text, own) = match &r.kind {
        RegexKind::Empty => ("eps".to_owned(), 3),
        RegexKind::Any => (".".to_owned(), 3),
        RegexKind::Error => (String::new(), 3),
        RegexKind::Atom(e) => (property_event(e, Place::Regex), 3),
        RegexKind::Traces(n) => (format!("@{}", n.text), 3),
        RegexKind::Star(a) => (format!("{}*", regex_at(a, 2)), 2),
        RegexKind::Plus(a) => (format!("{}+", regex_at(a, 2)), 2),
        RegexKind::Sequence(parts) => {
            let parts: Vec<_> = parts.iter().map(|p| regex_at(p, 2)).collect();
            (parts.join(" "), 1)
        }
        RegexKind::Alternatives(parts) => {
            let parts: Vec<_> = parts.iter().map(|p| regex_at(p, 1)).collect();
            (parts.join(" | "), 0)
        }
    };
    if own < least {
        format!("({text})")
    } else {
        text
    }
}
