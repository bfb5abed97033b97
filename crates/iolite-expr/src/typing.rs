//! The typed constructors of terms.

use std::sync::Arc;

use crate::regex::RegexError;
use crate::term::{Kind, MAX_DEPTH, MAX_SIZE, Op};
use crate::{Int, Regex, Sort, Span, Term, Value, Var};

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

type Typed = Result<Term, TypeError>;

fn error(kind: TypeErrorKind, span: Span) -> TypeError {
    TypeError { kind, span }
}

fn mismatch(expected: &(impl ToString + ?Sized), found: &Term) -> TypeError {
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
        Self::sized(op, args, sort, span)
    }

    fn sized(op: Op, args: Vec<Self>, sort: Sort, span: Span) -> Typed {
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
                element(&args[0])?;
                Sort::Int
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
            Op::Array | Op::Record | Op::Narrow => {
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

    fn field_sort(record: &Self, field: u32) -> Result<Sort, TypeError> {
        let Sort::Record(r) = record.sort() else {
            return Err(mismatch("a record", record));
        };
        r.fields
            .get(field as usize)
            .map(|(_, s)| s.clone())
            .ok_or_else(|| {
                error(
                    TypeErrorKind::NoField {
                        sort: record.sort().clone(),
                        field: format!("#{field}").into(),
                    },
                    record.span(),
                )
            })
    }

    fn narrowed(op: &Op, mut args: Vec<Self>) -> Result<Vec<Self>, TypeError> {
        let (at, sort) = match op {
            Op::Store => (2, element(&args[0])?),
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
        match (self.kind(), sort) {
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

    /// An array of the array sort `sort` from its elements.
    pub fn array(sort: &Sort, items: Vec<Self>, span: Span) -> Typed {
        let Sort::Array(element) = sort else {
            return Err(error(
                TypeErrorKind::Mismatch {
                    expected: "an array".into(),
                    found: sort.clone(),
                },
                span,
            ));
        };
        let items: Vec<Self> = items
            .into_iter()
            .map(|t| t.coerce(element))
            .collect::<Result<_, _>>()?;
        let values: Option<Vec<Value>> = items.iter().map(|t| t.as_value().cloned()).collect();
        match values {
            Some(values) => Ok(Self::value_of_sort(Value::array(values), sort.clone())),
            None => Self::sized(Op::Array, items, sort.clone(), span),
        }
    }

    /// A record of the record sort `sort` from its fields in order.
    pub fn record(sort: &Sort, fields: Vec<Self>, span: Span) -> Typed {
        let Sort::Record(r) = sort else {
            return Err(error(
                TypeErrorKind::Mismatch {
                    expected: "a record".into(),
                    found: sort.clone(),
                },
                span,
            ));
        };
        if r.fields.len() != fields.len() {
            let kind = TypeErrorKind::Arity {
                expected: r.fields.len(),
                found: fields.len(),
            };
            return Err(error(kind, span));
        }
        let fields: Vec<Self> = fields
            .into_iter()
            .zip(&r.fields)
            .map(|(t, (_, s))| t.coerce(s))
            .collect::<Result<_, _>>()?;
        Self::sized(Op::Record, fields, sort.clone(), span)
    }

    /// `record.name`.
    pub fn field(record: Self, name: &str, span: Span) -> Typed {
        let i = Self::field_index(&record, name, span)?;
        Self::apply(Op::Field(i), vec![record], span)
    }

    /// `record` with another value for `name`.
    pub fn update(record: Self, name: &str, value: Self, span: Span) -> Typed {
        let i = Self::field_index(&record, name, span)?;
        Self::apply(Op::Update(i), vec![record, value], span)
    }

    fn field_index(record: &Self, name: &str, span: Span) -> Result<u32, TypeError> {
        let Sort::Record(r) = record.sort() else {
            return Err(mismatch("a record", record));
        };
        r.fields
            .iter()
            .position(|(n, _)| &**n == name)
            .map(|i| i as u32)
            .ok_or_else(|| {
                error(
                    TypeErrorKind::NoField {
                        sort: record.sort().clone(),
                        field: name.into(),
                    },
                    span,
                )
            })
    }

    /// Whether the whole of `text` matches the regular expression `pattern`.
    pub fn matches(text: Self, pattern: &str, span: Span) -> Typed {
        let re = Regex::parse(pattern).map_err(|e| error(e.into(), span))?;
        Self::apply(Op::Matches(re), vec![text], span)
    }

    /// A literal, at a place.
    pub fn literal(value: Value, sort: &Sort, span: Span) -> Typed {
        if !sort.contains(&value) {
            return Err(error(
                TypeErrorKind::DoesNotFit {
                    value,
                    sort: sort.clone(),
                },
                span,
            ));
        }
        Ok(Self::value_of_sort(value, sort.clone()))
    }

    /// The conjunction of Boolean terms, `true` of none.
    ///
    /// # Panics
    /// When one is not Boolean.
    pub fn all(terms: impl IntoIterator<Item = Self>) -> Self {
        let terms: Vec<Self> = terms.into_iter().filter(|t| !t.is_true()).collect();
        assert!(
            terms.iter().all(|t| *t.sort() == Sort::Bool),
            "operands are Boolean"
        );
        match terms.len() {
            0 => true.into(),
            1 => terms[0].clone(),
            _ => Self::bool_app(Op::And, terms),
        }
    }

    /// The disjunction of Boolean terms, `false` of none.
    ///
    /// # Panics
    /// When one is not Boolean.
    pub fn any(terms: impl IntoIterator<Item = Self>) -> Self {
        let terms: Vec<Self> = terms.into_iter().filter(|t| !t.is_false()).collect();
        assert!(
            terms.iter().all(|t| *t.sort() == Sort::Bool),
            "operands are Boolean"
        );
        match terms.len() {
            0 => false.into(),
            1 => terms[0].clone(),
            _ => Self::bool_app(Op::Or, terms),
        }
    }

    /// The negation of a Boolean term.
    ///
    /// # Panics
    /// When it is not Boolean.
    #[must_use]
    pub fn negated(&self) -> Self {
        assert!(*self.sort() == Sort::Bool, "operand is Boolean");
        match self.kind() {
            Kind::Lit(Value::Bool(b)) => (!b).into(),
            Kind::App(Op::Not, args) => args[0].clone(),
            _ => Self::bool_app(Op::Not, vec![self.clone()]),
        }
    }

    /// `∃ vars: body`, with no quantifier where there is nothing to quantify.
    ///
    /// # Panics
    /// When the body is not Boolean.
    pub fn exists(vars: Vec<Var>, body: Self) -> Self {
        assert!(*body.sort() == Sort::Bool, "body is Boolean");
        if vars.is_empty() || body.is_ground() {
            return body;
        }
        Self::bool_app(Op::Exists(vars.into()), vec![body])
    }

    /// `self == value`, when the value is of a sort that can be compared.
    pub fn equals_value(&self, value: &Value) -> Typed {
        let literal = match value {
            Value::Array(_) => Self::value_of_sort(value.clone(), self.sort().clone()),
            _ => value.clone().into(),
        };
        Self::apply(Op::Eq, vec![self.clone(), literal], self.span())
    }
}

macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident $op:ident),* $(,)?) => {
        /// Short forms of [`Term::apply`] without a place, for models that are built by program.
        impl Term {
            $($(#[$doc])*
            pub fn $name(&self, other: impl Into<Self>) -> Typed {
                Self::apply(Op::$op, vec![self.clone(), other.into()], Span::NONE)
            })*
        }
    };
}

binary! {
    /// `self == other`.
    equals Eq,
    /// `self != other`.
    differs Ne,
    /// `self < other`.
    lt Lt,
    /// `self <= other`.
    le Le,
    /// `self > other`.
    gt Gt,
    /// `self >= other`.
    ge Ge,
    /// `self + other`.
    plus Add,
    /// `self - other`.
    minus Sub,
    /// `self * other`.
    times Mul,
    /// `self / other`.
    div Div,
    /// `self % other`.
    modulo Mod,
    /// `self && other`.
    and And,
    /// `self || other`.
    or Or,
    /// `self => other`.
    implies Implies,
    /// `self[other]`.
    select Select,
    /// String concatenation.
    concat Concat,
}

impl From<&Term> for Term {
    fn from(term: &Term) -> Self {
        term.clone()
    }
}

impl From<&Var> for Term {
    fn from(var: &Var) -> Self {
        var.term()
    }
}

impl From<Int> for Term {
    fn from(n: Int) -> Self {
        Value::Int(n).into()
    }
}

/// A user function without recursion. Calls are inlined: a body can only call functions that
/// exist before it, so there is no way to write a recursion.
#[derive(Clone, Debug)]
pub struct Function {
    name: Arc<str>,
    params: Vec<Var>,
    result: Sort,
    body: Term,
}

impl Function {
    /// A function; the body must not read other variables than the parameters, and is coerced to
    /// the result sort.
    pub fn new(name: &str, params: Vec<Var>, result: Sort, body: Term) -> Result<Self, TypeError> {
        let body = body.coerce(&result)?;
        Ok(Self {
            name: name.into(),
            params,
            result,
            body,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its parameters.
    pub fn params(&self) -> &[Var] {
        &self.params
    }

    /// Its result sort.
    pub fn result(&self) -> &Sort {
        &self.result
    }

    /// The call, inlined.
    pub fn call(&self, args: Vec<Term>, span: Span) -> Typed {
        if args.len() != self.params.len() {
            let kind = TypeErrorKind::Arity {
                expected: self.params.len(),
                found: args.len(),
            };
            return Err(error(kind, span));
        }
        let mut map = crate::Substitution::new();
        for (p, a) in self.params.iter().zip(args) {
            map.insert(p.id, a.coerce(&p.sort)?);
        }
        self.body
            .substitute(&map)
            .map_err(|_| error(TypeErrorKind::TooLarge, span))
    }
}
