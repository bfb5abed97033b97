//! The typed constructors of terms.

use crate::term::{Kind, Op};
use crate::typing::{Typed, error, mismatch};
use crate::{Int, Regex, Sort, Span, SumSort, Term, TypeError, TypeErrorKind, Value, Var};

impl Term {
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

    /// The variant `variant` of the sum sort `sort` from its fields in order.
    pub fn construct(sort: &SumSort, variant: u32, fields: Vec<Self>, span: Span) -> Typed {
        let sorts = sort.field_sorts(variant);
        if sorts.len() != fields.len() {
            let kind = TypeErrorKind::Arity {
                expected: sorts.len(),
                found: fields.len(),
            };
            return Err(error(kind, span));
        }
        let fields: Vec<Self> = fields
            .into_iter()
            .zip(&sorts)
            .map(|(t, s)| t.coerce(s))
            .collect::<Result<_, _>>()?;
        Self::sized(
            Op::Construct(variant),
            fields,
            Sort::Sum(sort.clone()),
            span,
        )
    }

    /// Whether a sum is of this variant.
    pub(crate) fn is_variant(&self, variant: u32) -> Self {
        Self::bool_app(Op::Is(variant), vec![self.clone()])
    }

    /// `record.name`, or the field of whatever variant of a sum has one of this name.
    pub fn field(record: Self, name: &str, span: Span) -> Typed {
        if let Sort::Sum(sum) = record.sort() {
            return Self::sum_field(&record, sum, name, span);
        }
        let i = Self::field_index(&record, name, span)?;
        Self::apply(Op::Field(i), vec![record], span)
    }

    fn sum_field(sum: &Self, sort: &SumSort, name: &str, span: Span) -> Typed {
        let places = sort
            .variants()
            .iter()
            .enumerate()
            .filter_map(|(v, variant)| {
                let at = variant.fields.iter().position(|(n, _)| &**n == name)?;
                Some((v as u32, at as u32))
            });
        let mut result: Option<Self> = None;
        for (variant, field) in places.collect::<Vec<_>>().into_iter().rev() {
            let get = Self::apply(Op::Get(variant, field), vec![sum.clone()], span)?;
            result = Some(match result {
                None => get,
                Some(rest) => {
                    let is = Self::apply(Op::Is(variant), vec![sum.clone()], span)?;
                    Self::apply(Op::Ite, vec![is, get, rest], span)?
                }
            });
        }
        result.ok_or_else(|| {
            let kind = TypeErrorKind::NoField {
                sort: sum.sort().clone(),
                field: name.into(),
            };
            error(kind, span)
        })
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
            Value::Array(_) | Value::Set(_) | Value::Map(_) => {
                Self::value_of_sort(value.clone(), self.sort().clone())
            }
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
