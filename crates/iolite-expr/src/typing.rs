//! The sorts of operations: [`Term::apply`] checks its arguments and finds the sort of the result.

use crate::regex::RegexError;
use crate::term::{Kind, MAX_DEPTH, MAX_SIZE, Op};
use crate::{Sort, Span, SumSort, Term, Value};

/// A term that cannot be, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct TypeError {
    /// What is wrong.
    pub kind: TypeErrorKind,
    /// The place of the offending term.
    pub span: Span,
}

/// What is wrong with a term.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TypeErrorKind {
    /// A sort was wanted and another one found.
    #[error("expected {expected}, found {found}")]
    Mismatch {
        /// The wanted sort, or a kind of sort.
        expected: String,
        /// The sort found.
        found: Sort,
    },
    /// Two sorts that have to agree do not.
    #[error("cannot mix {left} and {right}")]
    Incomparable {
        /// Left sort.
        left: Sort,
        /// Right sort.
        right: Sort,
    },
    /// Wrong number of arguments.
    #[error("expected {expected} arguments, found {found}")]
    Arity {
        /// How many were wanted.
        expected: usize,
        /// How many came.
        found: usize,
    },
    /// No such field.
    #[error("{sort} has no field {field}")]
    NoField {
        /// The sort.
        sort: Sort,
        /// The missing field.
        field: Box<str>,
    },
    /// A constant outside its range.
    #[error("{value} does not fit {sort}")]
    DoesNotFit {
        /// The constant.
        value: Value,
        /// The range.
        sort: Sort,
    },
    /// A bad regular expression.
    #[error(transparent)]
    Regex(#[from] RegexError),
    /// Too deep or too large.
    #[error("expression grows too large")]
    TooLarge,
}

/// Chains of operators that are deeper are made flat.
const FLATTENED: u32 = 64;

pub(crate) type Typed = Result<Term, TypeError>;

pub(crate) fn error(kind: TypeErrorKind, span: Span) -> TypeError {
    TypeError { kind, span }
}

pub(crate) fn mismatch(expected: &(impl ToString + ?Sized), found: &Term) -> TypeError {
    error(
        TypeErrorKind::Mismatch {
            expected: expected.to_string(),
            found: found.sort().clone(),
        },
        found.span(),
    )
}

fn want(term: &Term, sort: &Sort) -> Result<(), TypeError> {
    if term.sort().widened() == *sort {
        Ok(())
    } else {
        Err(mismatch(sort, term))
    }
}

fn no_field(term: &Term, field: &str) -> TypeError {
    let kind = TypeErrorKind::NoField {
        sort: term.sort().clone(),
        field: field.into(),
    };
    error(kind, term.span())
}

/// What a quantifier ranges over.
fn ranged(term: &Term) -> Result<Sort, TypeError> {
    let element = term.sort().element().cloned();
    element.ok_or_else(|| mismatch("an array or a set", term))
}

fn element(term: &Term) -> Result<Sort, TypeError> {
    match term.sort() {
        Sort::Array(e) => Ok((**e).clone()),
        _ => Err(mismatch("an array", term)),
    }
}

impl Term {
    /// An operation on arguments, type-checked. Integer arguments are narrowed where an element
    /// or a field has a range sort.
    pub fn apply(op: Op, args: Vec<Self>, span: Span) -> Typed {
        let sort = Self::result_sort(&op, &args, span)?;
        let args = Self::narrowed(&op, args)?;
        let (op, args) = Self::flattened(op, args);
        Self::sized(op, args, sort, span)
    }

    /// A long chain of one operator, or of sums and differences, as one operation: a chain is as
    /// deep as it is long, and depth is bounded.
    fn flattened(op: Op, args: Vec<Self>) -> (Op, Vec<Self>) {
        let sum = matches!(op, Op::Add | Op::Sub);
        let chain = sum || matches!(op, Op::And | Op::Or | Op::Mul | Op::Concat);
        if !chain || args.iter().all(|a| a.depth() < FLATTENED) {
            return (op, args);
        }
        let difference = op == Op::Sub;
        let op = if sum { Op::Add } else { op };
        let mut flat = Vec::new();
        // The rest of the chain, what comes first on top; with `true` it is subtracted.
        let args = args.into_iter().enumerate().rev();
        let mut open: Vec<(Self, bool)> = args.map(|(i, a)| (a, difference && i == 1)).collect();
        while let Some((term, minus)) = open.pop() {
            match term.kind() {
                Kind::App(inner, parts) if *inner == op => {
                    open.extend(parts.iter().rev().map(|p| (p.clone(), minus)));
                }
                Kind::App(Op::Sub, parts) if sum => {
                    open.push((parts[1].clone(), !minus));
                    open.push((parts[0].clone(), minus));
                }
                _ if minus => flat.push(Self::int_app(Op::Neg, vec![term])),
                _ => flat.push(term),
            }
        }
        (op, flat)
    }

    pub(crate) fn sized(op: Op, args: Vec<Self>, sort: Sort, span: Span) -> Typed {
        let depth = args.iter().map(Self::depth).max().unwrap_or(0) + 1;
        let size = args.iter().map(Self::size).fold(1, u32::saturating_add);
        if depth > MAX_DEPTH || size > MAX_SIZE {
            return Err(error(TypeErrorKind::TooLarge, span));
        }
        Ok(Self::app(op, args, sort, span))
    }

    fn result_sort(op: &Op, args: &[Self], span: Span) -> Result<Sort, TypeError> {
        let arity = |n: usize| {
            if args.len() == n {
                Ok(())
            } else {
                Err(error(
                    TypeErrorKind::Arity {
                        expected: n,
                        found: args.len(),
                    },
                    span,
                ))
            }
        };
        let all = |sort: &Sort| args.iter().try_for_each(|a| want(a, sort));
        Ok(match op {
            Op::Not | Op::Exists(_) => {
                arity(1)?;
                all(&Sort::Bool)?;
                Sort::Bool
            }
            Op::And | Op::Or => {
                all(&Sort::Bool)?;
                Sort::Bool
            }
            Op::Implies => {
                arity(2)?;
                all(&Sort::Bool)?;
                Sort::Bool
            }
            Op::Ite => {
                arity(3)?;
                want(&args[0], &Sort::Bool)?;
                let (a, b) = (args[1].sort(), args[2].sort());
                if a.fits(b) {
                    b.clone()
                } else if b.fits(a) {
                    a.clone()
                } else if a.is_int() && b.is_int() {
                    Sort::Int
                } else {
                    return Err(error(
                        TypeErrorKind::Incomparable {
                            left: a.clone(),
                            right: b.clone(),
                        },
                        args[2].span().or(span),
                    ));
                }
            }
            Op::Eq | Op::Ne => {
                arity(2)?;
                let (a, b) = (args[0].sort(), args[1].sort());
                if !a.comparable(b) {
                    return Err(error(
                        TypeErrorKind::Incomparable {
                            left: a.clone(),
                            right: b.clone(),
                        },
                        args[1].span().or(span),
                    ));
                }
                Sort::Bool
            }
            Op::Lt | Op::Le | Op::Gt | Op::Ge => {
                arity(2)?;
                all(&Sort::Int)?;
                Sort::Bool
            }
            Op::Neg | Op::Abs => {
                arity(1)?;
                all(&Sort::Int)?;
                Sort::Int
            }
            Op::Add | Op::Mul => {
                all(&Sort::Int)?;
                Sort::Int
            }
            Op::Sub | Op::Div | Op::Mod => {
                arity(2)?;
                all(&Sort::Int)?;
                Sort::Int
            }
            Op::Concat => {
                all(&Sort::String)?;
                Sort::String
            }
            Op::StrLen => {
                arity(1)?;
                all(&Sort::String)?;
                Sort::Int
            }
            Op::Prefix | Op::Suffix | Op::Contains => {
                arity(2)?;
                all(&Sort::String)?;
                Sort::Bool
            }
            Op::Matches(_) => {
                arity(1)?;
                all(&Sort::String)?;
                Sort::Bool
            }
            Op::At => {
                arity(2)?;
                want(&args[0], &Sort::String)?;
                want(&args[1], &Sort::Int)?;
                Sort::String
            }
            Op::Substring => {
                arity(3)?;
                want(&args[0], &Sort::String)?;
                want(&args[1], &Sort::Int)?;
                want(&args[2], &Sort::Int)?;
                Sort::String
            }
            Op::IndexOf => {
                arity(2)?;
                all(&Sort::String)?;
                Sort::Int
            }
            Op::Select => {
                arity(2)?;
                want(&args[1], &Sort::Int)?;
                element(&args[0])?
            }
            Op::Store => {
                arity(3)?;
                element(&args[0])?;
                want(&args[1], &Sort::Int)?;
                args[0].sort().clone()
            }
            Op::Len => {
                arity(1)?;
                if !matches!(args[0].sort(), Sort::Set(_) | Sort::Map(_)) {
                    element(&args[0])?;
                }
                Sort::Int
            }
            Op::Units => {
                arity(1)?;
                match args[0].sort() {
                    Sort::Decimal(_) => Sort::Int,
                    _ => return Err(mismatch("a decimal", &args[0])),
                }
            }
            Op::Has
            | Op::Insert
            | Op::Remove
            | Op::Lookup
            | Op::Union
            | Op::Intersection
            | Op::Difference => {
                arity(2)?;
                Self::collection_sort(op, args)?
            }
            Op::Put => {
                arity(3)?;
                Self::collection_sort(op, args)?
            }
            Op::Keys => {
                arity(1)?;
                Self::collection_sort(op, args)?
            }
            Op::Append => {
                arity(2)?;
                element(&args[0])?;
                if args[0].sort() != args[1].sort() {
                    return Err(mismatch(args[0].sort(), &args[1]));
                }
                args[0].sort().clone()
            }
            Op::Slice => {
                arity(3)?;
                element(&args[0])?;
                want(&args[1], &Sort::Int)?;
                want(&args[2], &Sort::Int)?;
                args[0].sort().clone()
            }
            Op::Is(variant) => {
                arity(1)?;
                Self::variant_of(&args[0], *variant)?;
                Sort::Bool
            }
            Op::Get(variant, field) => {
                arity(1)?;
                let sum = Self::variant_of(&args[0], *variant)?;
                let Some(sort) = sum.field_sort(*variant, *field) else {
                    return Err(no_field(&args[0], &format!("#{field}")));
                };
                sort
            }
            Op::ForAll(x) | Op::ForSome(x) => {
                arity(2)?;
                if !ranged(&args[0])?.fits(&x.sort) {
                    return Err(mismatch(&x.sort, &args[0]));
                }
                want(&args[1], &Sort::Bool)?;
                Sort::Bool
            }
            Op::Field(i) => {
                arity(1)?;
                Self::field_sort(&args[0], *i)?
            }
            Op::Update(i) => {
                arity(2)?;
                Self::field_sort(&args[0], *i)?;
                args[0].sort().clone()
            }
            // Their sort is no function of the arguments; they have constructors of their own.
            Op::Array
            | Op::Set
            | Op::Map
            | Op::Decimal
            | Op::Record
            | Op::Narrow
            | Op::Construct(_)
            | Op::Call(_) => {
                return Err(error(
                    TypeErrorKind::Arity {
                        expected: 0,
                        found: args.len(),
                    },
                    span,
                ));
            }
        })
    }

    fn variant_of(sum: &Self, variant: u32) -> Result<&SumSort, TypeError> {
        match sum.sort() {
            Sort::Sum(s) if s.variant(variant).is_some() => Ok(s),
            Sort::Sum(_) => Err(no_field(sum, &format!("variant #{variant}"))),
            _ => Err(mismatch("a sum", sum)),
        }
    }

    fn field_sort(record: &Self, field: u32) -> Result<Sort, TypeError> {
        let Sort::Record(r) = record.sort() else {
            return Err(mismatch("a record", record));
        };
        r.fields
            .get(field as usize)
            .map(|(_, s)| s.clone())
            .ok_or_else(|| no_field(record, &format!("#{field}")))
    }

    fn narrowed(op: &Op, mut args: Vec<Self>) -> Result<Vec<Self>, TypeError> {
        let (at, sort) = match op {
            Op::Store => (2, element(&args[0])?),
            Op::Insert => (1, ranged(&args[0])?),
            Op::Put => {
                if let Sort::Map(m) = args[0].sort().clone() {
                    let key = args[1].clone();
                    args[1] = key.coerce(&m.0)?;
                    (2, m.1.clone())
                } else {
                    return Ok(args);
                }
            }
            Op::Update(i) => (1, Self::field_sort(&args[0], *i)?),
            _ => return Ok(args),
        };
        let value = args[at].clone();
        args[at] = value.coerce(&sort)?;
        Ok(args)
    }

    /// This term as one of another sort: itself when its sort fits, narrowed with a check at run
    /// time when it is an integer and the sort a range, an error otherwise.
    pub fn coerce(self, sort: &Sort) -> Typed {
        if self.sort().fits(sort) {
            return Ok(self);
        }
        if let (Some(value), Sort::Range(_)) = (self.as_value(), sort)
            && self.sort().is_int()
        {
            if sort.contains(value) {
                return Ok(Self::value_of_sort(value.clone(), sort.clone()));
            }
            let kind = TypeErrorKind::DoesNotFit {
                value: value.clone(),
                sort: sort.clone(),
            };
            return Err(error(kind, self.span()));
        }
        if let Some(value) = self.as_value()
            && self.sort().comparable(sort)
            && sort.contains(value)
        {
            return Ok(Self::value_of_sort(value.clone(), sort.clone()));
        }
        if let Sort::Decimal(places) = sort {
            let exact = match self.sort() {
                Sort::Decimal(own) => own <= places,
                own => own.is_int(),
            };
            if exact {
                let span = self.span();
                return self.with_places(*places, span);
            }
        }
        match (self.kind(), sort) {
            // A literal set or map of integers becomes one of ranges or decimals likewise.
            (Kind::App(Op::Set, items), Sort::Set(_)) => {
                return Self::set(sort, items.to_vec(), self.span());
            }
            (Kind::App(Op::Map, args), Sort::Map(_)) => {
                let pairs = args.chunks(2).map(|p| (p[0].clone(), p[1].clone()));
                return Self::map(sort, pairs.collect(), self.span());
            }
            // A literal array of integers becomes one of ranges element by element.
            (Kind::App(Op::Array, items), Sort::Array(_)) => {
                return Self::array(sort, items.to_vec(), self.span());
            }
            _ if self.sort().is_int() && matches!(sort, Sort::Range(_)) => {
                let span = self.span();
                return Self::sized(Op::Narrow, vec![self], sort.clone(), span);
            }
            _ => {}
        }
        Err(mismatch(sort, &self))
    }
}
