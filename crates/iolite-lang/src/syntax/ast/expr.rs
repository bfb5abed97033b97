//! Expressions and functions.

use super::{Name, Param, Sort};
use crate::Span;

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<Param>,
    /// The sort of its value.
    pub result: Sort,
    /// Its value.
    pub body: Expr,
    /// All of it.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// Which.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

impl Expr {
    /// Visits the expressions it is made of.
    pub fn parts<'a>(&'a self, visit: &mut dyn FnMut(&'a Self)) {
        match &self.kind {
            ExprKind::Unary(_, a) | ExprKind::Field(a, _) | ExprKind::Is(a, _) => visit(a),
            ExprKind::Binary(_, a, b)
            | ExprKind::Index(a, b)
            | ExprKind::Let(_, a, b)
            | ExprKind::Quantified(_, _, a, b) => {
                visit(a);
                visit(b);
            }
            ExprKind::If(a, b, c) => {
                visit(a);
                visit(b);
                visit(c);
            }
            ExprKind::Call(_, list) | ExprKind::Array(list) | ExprKind::Set(list) => {
                list.iter().for_each(visit);
            }
            ExprKind::Map(pairs) => {
                for (key, value) in pairs {
                    visit(key);
                    visit(value);
                }
            }
            ExprKind::Record(_, fields) => fields.iter().for_each(|(_, e)| visit(e)),
            ExprKind::Match(a, arms) => {
                visit(a);
                for arm in arms {
                    visit(&arm.body);
                }
            }
            ExprKind::Int(_)
            | ExprKind::Decimal(_)
            | ExprKind::Bool(_)
            | ExprKind::Str(_)
            | ExprKind::Name(_)
            | ExprKind::Error => {}
        }
    }
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    /// Decimal digits; integers are unbounded.
    Int(String),
    /// `12.50`, as it is written.
    Decimal(String),
    /// `true`, `false`.
    Bool(bool),
    /// `"text"`.
    Str(String),
    /// A variable, constant, parameter or enumeration value.
    Name(String),
    /// A unary operator.
    Unary(UnaryOp, Box<Expr>),
    /// A binary operator.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `if c then a else b`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `f(x, y)`.
    Call(Name, Vec<Expr>),
    /// `a[i]`.
    Index(Box<Expr>, Box<Expr>),
    /// `r.x`.
    Field(Box<Expr>, Name),
    /// `[1, 2, 3]`.
    Array(Vec<Expr>),
    /// `{1, 2, 3}`; without elements a set or a map.
    Set(Vec<Expr>),
    /// `{1: "one", 2: "two"}`.
    Map(Vec<(Expr, Expr)>),
    /// `Point { x = 1, y = 2 }`.
    Record(Name, Vec<(Name, Expr)>),
    /// `s is Circle`.
    Is(Box<Expr>, Name),
    /// `match s { Circle(r) => r, _ => 0 }`.
    Match(Box<Expr>, Vec<Arm>),
    /// `let x = a in b`.
    Let(Name, Box<Expr>, Box<Expr>),
    /// `forall x in a: b`, `exists x in a: b`.
    Quantified(ArrayQuantifier, Name, Box<Expr>, Box<Expr>),
    /// What could not be parsed.
    Error,
}

/// One case of a `match`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    /// The values that it takes.
    pub pattern: Pattern,
    /// The value.
    pub body: Expr,
}

/// What a case of a `match` takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Which.
    pub kind: PatternKind,
    /// Where.
    pub span: Span,
}

/// The kinds of patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternKind {
    /// `_`: anything.
    Any,
    /// A variant, or a name for what stands there: the declarations say which.
    Name(Name),
    /// `Circle(p)`: a variant, with patterns for its fields in order.
    Variant(Name, Vec<Pattern>),
    /// A number, a text, `true` or `false`.
    Literal(Box<Expr>),
}

/// Quantifiers over the elements of an array or a set, or the keys of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArrayQuantifier {
    /// `forall`.
    ForAll,
    /// `exists`.
    Exists,
}

impl ArrayQuantifier {
    /// As it is written.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::ForAll => "forall",
            Self::Exists => "exists",
        }
    }
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`.
    Neg,
    /// `!`.
    Not,
}

/// Binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `=>`.
    Implies,
    /// `||`.
    Or,
    /// `&&`.
    And,
    /// `==`.
    Eq,
    /// `!=`.
    Ne,
    /// `<`.
    Lt,
    /// `<=`.
    Le,
    /// `>`.
    Gt,
    /// `>=`.
    Ge,
    /// `x in a`: whether it is an element.
    In,
    /// `++`: strings or arrays joined.
    Concat,
    /// `+`.
    Add,
    /// `-`.
    Sub,
    /// `*`.
    Mul,
    /// `/`: SMT-LIB's `div`.
    Div,
    /// `%`: SMT-LIB's `mod`.
    Mod,
}

impl BinaryOp {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::Implies,
        Self::Or,
        Self::And,
        Self::Eq,
        Self::Ne,
        Self::Lt,
        Self::Le,
        Self::Gt,
        Self::Ge,
        Self::In,
        Self::Concat,
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::Div,
        Self::Mod,
    ];

    /// As it is written.
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Implies => "=>",
            Self::Or => "||",
            Self::And => "&&",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::In => "in",
            Self::Concat => "++",
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Mod => "%",
        }
    }

    /// How tightly it binds; a higher number is tighter.
    pub(crate) fn precedence(self) -> u8 {
        match self {
            Self::Implies => 1,
            Self::Or => 2,
            Self::And => 3,
            Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge | Self::In => 4,
            Self::Concat => 5,
            Self::Add | Self::Sub => 6,
            Self::Mul | Self::Div | Self::Mod => 7,
        }
    }

    /// Whether `a op b op c` is `a op (b op c)`.
    pub(crate) fn is_right_associative(self) -> bool {
        self == Self::Implies
    }

    /// Whether it compares, and so does not chain.
    pub(crate) fn is_comparison(self) -> bool {
        self.precedence() == 4
    }
}
