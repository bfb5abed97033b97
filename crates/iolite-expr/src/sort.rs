//! Sorts: the types of data.

use std::fmt;
use std::sync::Arc;

use crate::{Int, Sequence, SumSort, Value};

/// How deep arrays and records may nest. Values and their traversals recurse over their sort.
pub const MAX_SORT_DEPTH: usize = 16;

/// The type of a value, a variable or a term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Sort {
    /// `bool`.
    Bool,
    /// `int`, unbounded.
    Int,
    /// `lo..hi`, both ends included; a subsort of `int`.
    Range(Arc<RangeSort>),
    /// `string`: a sequence of Unicode scalar values.
    String,
    /// A named, finite set of names.
    Enum(Arc<EnumSort>),
    /// `T[]`: a finite sequence, indexed from 0.
    Array(Arc<Sort>),
    /// Named fields.
    Record(Arc<RecordSort>),
    /// `decimal(n)`: numbers with this many places after the point.
    Decimal(u8),
    /// `set<T>`.
    Set(Arc<Sort>),
    /// `map<K, V>`.
    Map(Arc<(Sort, Sort)>),
    /// One of several variants with fields.
    Sum(SumSort),
    /// Within the fields of a sum: this sum of the same group. No term has this sort.
    Member(u32),
}

/// The bounds of a range, both included.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RangeSort {
    /// Least value.
    pub lo: Int,
    /// Greatest value.
    pub hi: Int,
}

/// A named enumeration.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct EnumSort {
    /// Name of the sort.
    pub name: Box<str>,
    /// Names of its values.
    pub variants: Vec<Box<str>>,
}

/// A named record.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct RecordSort {
    /// Name of the sort.
    pub name: Box<str>,
    /// Fields in order.
    pub fields: Vec<(Box<str>, Sort)>,
}

/// Why a sort cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SortError {
    /// `hi < lo`.
    #[error("range {lo}..{hi} has no value")]
    EmptyRange {
        /// Lower bound.
        lo: Int,
        /// Upper bound.
        hi: Int,
    },
    /// An enumeration without values.
    #[error("enum {0} has no value")]
    EmptyEnum(Box<str>),
    /// Two values or fields of one name.
    #[error("{sort} declares {name} twice")]
    Twice {
        /// The sort.
        sort: Box<str>,
        /// The repeated name.
        name: Box<str>,
    },
    /// A sum sort whose every value would contain another one.
    #[error("{0} has no finite value: each of its variants contains it again")]
    NoFiniteValue(Box<str>),
    /// A set or a map within the elements of a set, or the keys of a map.
    #[error("elements of sets and keys of maps contain no sets or maps, and {0} does")]
    CollectionWithin(Box<str>),
    /// Nested deeper than [`MAX_SORT_DEPTH`].
    #[error("arrays and records nest deeper than {MAX_SORT_DEPTH}")]
    TooDeep,
}

impl Sort {
    /// The range `lo..hi`, both included.
    pub fn range(lo: impl Into<Int>, hi: impl Into<Int>) -> Result<Self, SortError> {
        let (lo, hi) = (lo.into(), hi.into());
        if lo > hi {
            return Err(SortError::EmptyRange { lo, hi });
        }
        Ok(Self::Range(Arc::new(RangeSort { lo, hi })))
    }

    /// An enumeration.
    pub fn enumeration<S: AsRef<str>>(name: &str, variants: &[S]) -> Result<Self, SortError> {
        if variants.is_empty() {
            return Err(SortError::EmptyEnum(name.into()));
        }
        let variants: Vec<Box<str>> = variants.iter().map(|v| v.as_ref().into()).collect();
        for (i, v) in variants.iter().enumerate() {
            if variants[..i].contains(v) {
                return Err(SortError::Twice {
                    sort: name.into(),
                    name: v.clone(),
                });
            }
        }
        Ok(Self::Enum(Arc::new(EnumSort {
            name: name.into(),
            variants,
        })))
    }

    /// `element[]`.
    pub fn array(element: Self) -> Result<Self, SortError> {
        Self::Array(Arc::new(element)).checked()
    }

    /// A record with these fields.
    pub fn record(name: &str, fields: Vec<(Box<str>, Self)>) -> Result<Self, SortError> {
        for (i, (f, _)) in fields.iter().enumerate() {
            if fields[..i].iter().any(|(g, _)| g == f) {
                return Err(SortError::Twice {
                    sort: name.into(),
                    name: f.clone(),
                });
            }
        }
        Self::Record(Arc::new(RecordSort {
            name: name.into(),
            fields,
        }))
        .checked()
    }

    pub(crate) fn checked(self) -> Result<Self, SortError> {
        if self.depth() > MAX_SORT_DEPTH {
            Err(SortError::TooDeep)
        } else {
            Ok(self)
        }
    }

    pub(crate) fn depth(&self) -> usize {
        match self {
            Self::Array(e) | Self::Set(e) => 1 + e.depth(),
            Self::Map(m) => 1 + m.0.depth().max(m.1.depth()),
            Self::Record(r) => 1 + r.fields.iter().map(|(_, s)| s.depth()).max().unwrap_or(0),
            Self::Sum(s) => {
                let fields = s.variants().iter().flat_map(|v| &v.fields);
                1 + fields.map(|(_, s)| s.depth()).max().unwrap_or(0)
            }
            _ => 1,
        }
    }

    /// Whether this is `int` or a range.
    pub fn is_int(&self) -> bool {
        matches!(self, Self::Int | Self::Range(_))
    }

    /// `int` for ranges, the sort itself otherwise.
    #[must_use]
    pub fn widened(&self) -> Self {
        if let Self::Range(_) = self {
            Self::Int
        } else {
            self.clone()
        }
    }

    /// Whether every value of this sort is one of `other`.
    pub fn fits(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Range(a), Self::Range(b)) => b.lo <= a.lo && a.hi <= b.hi,
            (Self::Range(_), Self::Int) => true,
            (Self::Array(a), Self::Array(b)) | (Self::Set(a), Self::Set(b)) => a.fits(b),
            (Self::Map(a), Self::Map(b)) => a.0.fits(&b.0) && a.1.fits(&b.1),
            _ => self == other,
        }
    }

    /// Whether the sorts are the same once ranges are read as `int`.
    pub fn comparable(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Array(a), Self::Array(b)) | (Self::Set(a), Self::Set(b)) => a.comparable(b),
            (Self::Map(a), Self::Map(b)) => a.0.comparable(&b.0) && a.1.comparable(&b.1),
            _ => self == other || (self.is_int() && other.is_int()),
        }
    }

    /// How many values the sort has; `None` when they are infinitely many or more than 2^63.
    pub fn cardinality(&self) -> Option<u64> {
        match self {
            Self::Bool => Some(2),
            Self::Range(r) => (&(&r.hi - &r.lo) + &Int::ONE)
                .to_i64()
                .and_then(|n| u64::try_from(n).ok()),
            Self::Enum(e) => Some(e.variants.len() as u64),
            Self::Record(r) => r
                .fields
                .iter()
                .try_fold(1u64, |n, (_, s)| n.checked_mul(s.cardinality()?)),
            Self::Sum(s) => s.variants().iter().try_fold(0u64, |n, v| {
                let mut sorts = v.fields.iter().map(|(_, s)| s);
                let product = sorts.try_fold(1u64, |n, s| n.checked_mul(s.cardinality()?))?;
                n.checked_add(product)
            }),
            Self::Set(e) => 1u64.checked_shl(u32::try_from(e.cardinality()?).ok()?),
            // Each key is absent, or has one of the values.
            Self::Map(m) => {
                let (keys, values) = (m.0.cardinality()?, m.1.cardinality()?);
                values
                    .checked_add(1)?
                    .checked_pow(u32::try_from(keys).ok()?)
            }
            Self::Int | Self::String | Self::Decimal(_) | Self::Array(_) | Self::Member(_) => None,
        }
    }

    /// All values in order, when there are at most `limit`.
    pub fn values(&self, limit: u64) -> Option<Vec<Value>> {
        if self.cardinality()? > limit {
            return None;
        }
        Some(match self {
            Self::Bool => vec![Value::Bool(false), Value::Bool(true)],
            Self::Range(r) => {
                let mut all = Vec::new();
                let mut n = r.lo.clone();
                while n <= r.hi {
                    all.push(Value::Int(n.clone()));
                    n += &Int::ONE;
                }
                all
            }
            Self::Enum(e) => (0..e.variants.len() as u32)
                .map(|i| Value::Enum(e.clone(), i))
                .collect(),
            Self::Record(r) => rows(r.fields.iter().map(|(_, s)| s), limit)?
                .into_iter()
                .map(|row| Value::Record(r.clone(), row.into()))
                .collect(),
            Self::Sum(s) => {
                let mut all = Vec::new();
                for i in 0..s.variants().len() as u32 {
                    for row in rows(s.field_sorts(i).iter(), limit)? {
                        all.push(Value::sum_of(s.clone(), i, row)?);
                    }
                }
                all
            }
            Self::Set(e) => {
                let mut all = vec![Vec::new()];
                for item in e.values(limit)? {
                    let with = all.iter().map(|s: &Vec<Value>| {
                        let mut s = s.clone();
                        s.push(item.clone());
                        s
                    });
                    let with: Vec<_> = with.collect();
                    all.extend(with);
                }
                all.into_iter().map(Value::set).collect()
            }
            Self::Map(m) => {
                let values = m.1.values(limit)?;
                let mut all = vec![Vec::new()];
                for key in m.0.values(limit)? {
                    let with = all.iter().flat_map(|pairs: &Vec<(Value, Value)>| {
                        values.iter().map(|v| {
                            let mut pairs = pairs.clone();
                            pairs.push((key.clone(), v.clone()));
                            pairs
                        })
                    });
                    let with: Vec<_> = with.collect();
                    all.extend(with);
                }
                all.into_iter().map(Value::map).collect()
            }
            Self::Int | Self::String | Self::Decimal(_) | Self::Array(_) | Self::Member(_) => {
                return None;
            }
        })
    }

    /// Some value of the sort, the plainest one: `false`, 0 or the bound next to it, `""`, the
    /// first name, the empty array.
    pub fn default_value(&self) -> Value {
        match self {
            Self::Bool | Self::Member(_) => Value::Bool(false),
            Self::Int => Value::Int(Int::ZERO),
            Self::Range(r) => Value::Int(Int::ZERO.clamp(r.lo.clone(), r.hi.clone())),
            Self::String => Value::Str("".into()),
            Self::Enum(e) => Value::Enum(e.clone(), 0),
            Self::Array(_) => Value::Array(Sequence::default()),
            Self::Decimal(scale) => Value::Decimal(Int::ZERO, *scale),
            Self::Set(_) => Value::Set(Arc::new(Vec::new())),
            Self::Map(_) => Value::Map(Arc::new(Vec::new())),
            Self::Record(r) => Value::Record(
                r.clone(),
                r.fields.iter().map(|(_, s)| s.default_value()).collect(),
            ),
            Self::Sum(s) => {
                let variant = s.plainest();
                let fields = s.field_sorts(variant);
                let fields = fields.iter().map(Self::default_value).collect();
                // The plainest value nests no deeper than its group has sorts.
                Value::sum_of(s.clone(), variant, fields).unwrap_or(Value::Bool(false))
            }
        }
    }

    /// Whether `value` belongs to the sort.
    pub fn contains(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Bool, Value::Bool(_))
            | (Self::Int, Value::Int(_))
            | (Self::String, Value::Str(_)) => true,
            (Self::Range(r), Value::Int(n)) => r.lo <= *n && *n <= r.hi,
            (Self::Enum(e), Value::Enum(f, _)) => e == f,
            (Self::Array(e), Value::Array(items)) => items.fits(e),
            (Self::Set(e), Value::Set(items)) => items.iter().all(|v| e.contains(v)),
            (Self::Map(m), Value::Map(pairs)) => pairs
                .iter()
                .all(|(k, v)| m.0.contains(k) && m.1.contains(v)),
            (Self::Decimal(scale), Value::Decimal(_, own)) => scale == own,
            (Self::Record(r), Value::Record(s, items)) => {
                r == s
                    && r.fields
                        .iter()
                        .zip(items.iter())
                        .all(|((_, s), v)| s.contains(v))
            }
            // A sum is built of fields that fit.
            (Self::Sum(s), Value::Sum(v)) => s == v.sort(),
            _ => false,
        }
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => write!(f, "bool"),
            Self::Int => write!(f, "int"),
            Self::Range(r) => write!(f, "{}..{}", r.lo, r.hi),
            Self::String => write!(f, "string"),
            Self::Enum(e) => write!(f, "{}", e.name),
            Self::Array(e) => write!(f, "{e}[]"),
            Self::Decimal(scale) => write!(f, "decimal({scale})"),
            Self::Set(e) => write!(f, "set<{e}>"),
            Self::Map(m) => write!(f, "map<{}, {}>", m.0, m.1),
            Self::Record(r) => write!(f, "{}", r.name),
            Self::Sum(s) => write!(f, "{}", s.name()),
            Self::Member(i) => write!(f, "#{i}"),
        }
    }
}

/// All combinations of values of these sorts, the last changing fastest.
fn rows<'a>(sorts: impl Iterator<Item = &'a Sort>, limit: u64) -> Option<Vec<Vec<Value>>> {
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    for sort in sorts {
        let column = sort.values(limit)?;
        rows = rows
            .into_iter()
            .flat_map(|row| {
                column.iter().map(move |v| {
                    let mut row = row.clone();
                    row.push(v.clone());
                    row
                })
            })
            .collect();
    }
    Some(rows)
}
