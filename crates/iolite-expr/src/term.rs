//! Terms: typed expressions over variables.
//!
//! A term is a shared, immutable tree (`Arc`), not an index into a hash-consed store: building
//! needs no mutable store, so symbolic states of different threads share values freely; and each
//! node keeps the place it was written at, which hash-consing would merge away. Hash, size,
//! depth and totality are cached in the node, so equality mostly ends at a pointer or a hash, and the limits
//! [`MAX_DEPTH`] and [`MAX_SIZE`] hold for every term that the public constructors return:
//! recursion over a term is therefore bounded.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::{Callee, Regex, Sort, Span, Value};

/// Greatest depth of a term.
pub const MAX_DEPTH: u32 = 200;
/// Greatest size of a term, counted as a tree.
pub const MAX_SIZE: u32 = 200_000;

/// A variable's identity: a space, which the user of this crate gives a meaning (state variables,
/// parameters, …), and an index within it. Spaces 251 to 255 are this crate's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(u32);

impl VarId {
    /// The space of the variables that this crate makes up.
    pub(crate) const OWN_SPACE: u8 = u8::MAX;

    /// The space of variables that quantifiers over arrays bind.
    pub const BOUND_SPACE: u8 = 253;

    /// The space of the parameters of functions, numbered by position.
    pub const FUNCTION_SPACE: u8 = 251;

    /// The variable `index` of `space`.
    pub fn new(space: u8, index: usize) -> Self {
        assert!(index < 1 << 24, "fewer than 2^24 variables in a space");
        Self(u32::from(space) << 24 | index as u32)
    }

    /// The space.
    pub fn space(self) -> u8 {
        (self.0 >> 24) as u8
    }

    /// The index within the space.
    pub fn index(self) -> usize {
        (self.0 & 0xFF_FFFF) as usize
    }
}

/// A variable: identity, sort and the name people see.
#[derive(Clone, Debug)]
pub struct Var {
    /// Identity; two variables are the same when their ids are.
    pub id: VarId,
    /// Sort.
    pub sort: Sort,
    /// Name, for display only.
    pub name: Arc<str>,
}

impl Var {
    /// A variable.
    pub fn new(id: VarId, name: &str, sort: Sort) -> Self {
        Self {
            id,
            sort,
            name: name.into(),
        }
    }

    /// The term that reads this variable.
    pub fn term(&self) -> Term {
        self.at(Span::NONE)
    }

    /// The term that reads this variable, at a place.
    pub fn at(&self, span: Span) -> Term {
        Term::node(Kind::Var(self.clone()), self.sort.clone(), span)
    }
}

impl PartialEq for Var {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Var {}

impl Hash for Var {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl PartialOrd for Var {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Var {
    fn cmp(&self, other: &Self) -> Ordering {
        self.id.cmp(&other.id)
    }
}

/// What an inner node computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// `!a`.
    Not,
    /// `a && b && …`, from left to right: what follows a false operand is not evaluated.
    And,
    /// `a || b || …`, from left to right.
    Or,
    /// `a => b`; `b` is not evaluated when `a` is false.
    Implies,
    /// `if c then a else b`; only the chosen branch is evaluated.
    Ite,
    /// `a == b`, for any sort.
    Eq,
    /// `a != b`, for any sort.
    Ne,
    /// `a < b`.
    Lt,
    /// `a <= b`.
    Le,
    /// `a > b`.
    Gt,
    /// `a >= b`.
    Ge,
    /// `-a`.
    Neg,
    /// `a + b + …`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b * …`.
    Mul,
    /// `a / b`, the quotient of SMT-LIB: `a = b·q + r` with `0 ≤ r < |b|`. Division by 0 is a
    /// fault, unlike in SMT-LIB, where it has some unspecified value.
    Div,
    /// `a % b`, the remainder of SMT-LIB, never negative.
    Mod,
    /// `abs(a)`.
    Abs,
    /// String concatenation.
    Concat,
    /// Number of characters (Unicode scalar values).
    StrLen,
    /// Whether the first string is a prefix of the second.
    Prefix,
    /// Whether the first string is a suffix of the second.
    Suffix,
    /// Whether the second string is contained in the first.
    Contains,
    /// Whether the whole string matches.
    Matches(Regex),
    /// The character at an index, as a string of length 1; an index out of range is a fault.
    At,
    /// The characters `lo` to `hi - 1`; fault unless `0 ≤ lo ≤ hi ≤ len(s)`.
    Substring,
    /// Where the second string occurs first in the first; -1 where it does not.
    IndexOf,
    /// An array of these elements.
    Array,
    /// `a[i]`; an index out of range is a fault.
    Select,
    /// `a` with `v` at index `i`; an index out of range is a fault.
    Store,
    /// Number of elements of an array, a set or a map.
    Len,
    /// Two arrays, one after the other.
    Append,
    /// The elements `lo` to `hi - 1`; fault unless `0 ≤ lo ≤ hi ≤ len(a)`.
    Slice,
    /// How many units of its last place a decimal has.
    Units,
    /// The decimal of so many units of the last place that the sort of the node has.
    Decimal,
    /// A set of these elements.
    Set,
    /// A map of these keys and values, in turn; of two values of one key the later one counts.
    Map,
    /// Whether the first argument is an element of a set, or a key of a map.
    Has,
    /// A set with one more element.
    Insert,
    /// A map with this value for this key.
    Put,
    /// A set without an element, a map without a key.
    Remove,
    /// The value of a key; a key that the map does not have is a fault.
    Lookup,
    /// The keys of a map.
    Keys,
    /// The elements of either set.
    Union,
    /// The elements of both sets.
    Intersection,
    /// The elements of the first set that are not in the second.
    Difference,
    /// A record of these fields.
    Record,
    /// A sum of the variant with this number, from its fields.
    Construct(u32),
    /// Whether a sum is of the variant with this number.
    Is(u32),
    /// A field, the second number, of a sum of the variant of the first; a fault for others.
    Get(u32, u32),
    /// The value of a function that may call itself.
    Call(Callee),
    /// `forall x in a: body`, `a` the first argument. The body has a value for every element, or
    /// the quantifier has none.
    ForAll(Var),
    /// `exists x in a: body`, likewise.
    ForSome(Var),
    /// Field by index.
    Field(u32),
    /// The record with another value in this field.
    Update(u32),
    /// The same integer as a value of the (range) sort of the node; a fault when it does not fit.
    Narrow,
    /// `exists vars: body`. Not part of what users write: definition 7 of \[SYM04\] needs
    /// it where the quantifier cannot be eliminated.
    Exists(Arc<[Var]>),
}

/// The three shapes of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A value.
    Lit(Value),
    /// A variable.
    Var(Var),
    /// An operation on arguments.
    App(Op, Box<[Term]>),
}

struct Node {
    kind: Kind,
    sort: Sort,
    span: Span,
    hash: u64,
    depth: u32,
    size: u32,
    ground: bool,
    total: bool,
    unfolds: bool,
}

/// A typed term. Cloning is cheap; equality ignores places.
#[derive(Clone)]
pub struct Term(Arc<Node>);

/// A term would be deeper than [`MAX_DEPTH`] or larger than [`MAX_SIZE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expression grows too large")]
pub struct TermTooLarge;

impl Term {
    fn node(kind: Kind, sort: Sort, span: Span) -> Self {
        let mut hasher = rustc_hash::FxHasher::default();
        let (mut depth, mut size, mut ground, mut total) = (1, 1u32, true, true);
        let mut unfolds = false;
        match &kind {
            Kind::Lit(v) => v.hash(&mut hasher),
            Kind::Var(v) => {
                ground = false;
                unfolds = sort.has_collection();
                (1u8, v.id).hash(&mut hasher);
            }
            Kind::App(op, args) => {
                op.hash(&mut hasher);
                for a in args {
                    a.0.hash.hash(&mut hasher);
                    depth = depth.max(a.0.depth + 1);
                    size = size.saturating_add(a.0.size);
                    ground &= a.0.ground;
                    total &= a.0.total;
                    unfolds |= a.0.unfolds;
                }
                total &= op.is_total(args);
                match op {
                    Op::Exists(_) => ground = false,
                    Op::ForAll(x) | Op::ForSome(x) => {
                        ground = args[0].0.ground && args[1].free_vars().iter().all(|v| v == x);
                        unfolds = true;
                    }
                    // Of a literal set nothing but the question shows that a solver does not know what it is.
                    Op::Call(_) | Op::Has | Op::Lookup => unfolds = true,
                    _ => unfolds = unfolds || sort.has_collection(),
                }
            }
        }
        Self(Arc::new(Node {
            kind,
            sort,
            span,
            hash: hasher.finish(),
            depth,
            size,
            ground,
            total,
            unfolds,
        }))
    }

    /// An application whose sorts are known to be right.
    pub(crate) fn app(op: Op, args: Vec<Self>, sort: Sort, span: Span) -> Self {
        Self::node(Kind::App(op, args.into()), sort, span)
    }

    pub(crate) fn bool_app(op: Op, args: Vec<Self>) -> Self {
        Self::app(op, args, Sort::Bool, Span::NONE)
    }

    pub(crate) fn int_app(op: Op, args: Vec<Self>) -> Self {
        Self::app(op, args, Sort::Int, Span::NONE)
    }

    /// The same node with other arguments.
    pub(crate) fn with_args(&self, args: Vec<Self>) -> Self {
        match &self.0.kind {
            Kind::App(op, _) => Self::app(op.clone(), args, self.0.sort.clone(), self.0.span),
            _ => self.clone(),
        }
    }

    pub(crate) fn value_of_sort(value: Value, sort: Sort) -> Self {
        Self::node(Kind::Lit(value), sort, Span::NONE)
    }

    pub(crate) fn key(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// The shape of the root.
    pub fn kind(&self) -> &Kind {
        &self.0.kind
    }

    /// The sort.
    pub fn sort(&self) -> &Sort {
        &self.0.sort
    }

    /// Where the term was written.
    pub fn span(&self) -> Span {
        self.0.span
    }

    /// Depth as a tree.
    pub fn depth(&self) -> u32 {
        self.0.depth
    }

    /// Whether no subterm can fault.
    pub fn is_total(&self) -> bool {
        self.0.total
    }

    /// Whether there are calls of functions, quantifiers over arrays, sets or maps in it, which
    /// solvers are given unfolded.
    pub(crate) fn unfolds(&self) -> bool {
        self.0.unfolds
    }

    /// Size as a tree, saturating.
    pub fn size(&self) -> u32 {
        self.0.size
    }

    /// Whether the term has no variable.
    pub fn is_ground(&self) -> bool {
        self.0.ground
    }

    /// The value, if the term is a literal.
    pub fn as_value(&self) -> Option<&Value> {
        if let Kind::Lit(v) = self.kind() {
            Some(v)
        } else {
            None
        }
    }

    /// The variable, if the term is one.
    pub fn as_var(&self) -> Option<&Var> {
        if let Kind::Var(v) = self.kind() {
            Some(v)
        } else {
            None
        }
    }

    /// Whether this is the literal `true`.
    pub fn is_true(&self) -> bool {
        matches!(self.kind(), Kind::Lit(Value::Bool(true)))
    }

    /// Whether this is the literal `false`.
    pub fn is_false(&self) -> bool {
        matches!(self.kind(), Kind::Lit(Value::Bool(false)))
    }

    /// This term, or the limit it breaks.
    pub fn bounded(self) -> Result<Self, TermTooLarge> {
        if self.0.depth > MAX_DEPTH || self.0.size > MAX_SIZE {
            Err(TermTooLarge)
        } else {
            Ok(self)
        }
    }
}

impl PartialEq for Term {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.hash == other.0.hash
                && self.0.size == other.0.size
                && self.0.kind == other.0.kind
                && self.0.sort == other.0.sort)
    }
}

impl Eq for Term {}

impl Hash for Term {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash.hash(state);
    }
}

impl PartialOrd for Term {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Some total order, the same in every run: by size, then by structure.
impl Ord for Term {
    fn cmp(&self, other: &Self) -> Ordering {
        if self == other {
            return Ordering::Equal;
        }
        self.0
            .size
            .cmp(&other.0.size)
            .then_with(|| self.0.kind.cmp(&other.0.kind))
            .then_with(|| format!("{:?}", self.0.sort).cmp(&format!("{:?}", other.0.sort)))
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Value> for Term {
    /// The literal; an empty array becomes one of `int`, so write those with [`Term::array`].
    fn from(value: Value) -> Self {
        let sort = value
            .sort()
            .unwrap_or_else(|| Sort::Array(Arc::new(Sort::Int)));
        Self::node(Kind::Lit(value), sort, Span::NONE)
    }
}

impl From<bool> for Term {
    fn from(b: bool) -> Self {
        Value::Bool(b).into()
    }
}

impl From<i64> for Term {
    fn from(n: i64) -> Self {
        Value::from(n).into()
    }
}

impl From<&str> for Term {
    fn from(text: &str) -> Self {
        Value::str(text).into()
    }
}
