//! Values: what variables hold and actions carry.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::sort::{EnumSort, RecordSort};
use crate::{Int, Sequence, Sort, SumValue};

/// A value of some [`Sort`]. Cheap to clone: the large ones are shared.
#[derive(Clone, Eq, PartialOrd, Ord)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// An integer, of `int` or a range.
    Int(Int),
    /// A string.
    Str(Arc<str>),
    /// A value of an enumeration.
    Enum(Arc<EnumSort>, u32),
    /// A finite sequence.
    Array(Sequence),
    /// A decimal: how many units of its last place, and how many places.
    Decimal(Int, u8),
    /// The elements of a set in their order, each once.
    Set(Arc<Vec<Value>>),
    /// The pairs of a map in the order of their keys, each key once.
    Map(Arc<Vec<(Value, Value)>>),
    /// One value a field, in the order of the sort.
    Record(Arc<RecordSort>, Arc<[Value]>),
    /// A variant of a sum with its fields.
    Sum(Arc<SumValue>),
}

// What is shared is equal at a glance: long lists mostly share their elements.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Str(a), Self::Str(b)) => Arc::ptr_eq(a, b) || a == b,
            (Self::Enum(e, a), Self::Enum(f, b)) => a == b && e == f,
            (Self::Array(a), Self::Array(b)) => a == b,
            (Self::Set(a), Self::Set(b)) => Arc::ptr_eq(a, b) || a == b,
            (Self::Map(a), Self::Map(b)) => Arc::ptr_eq(a, b) || a == b,
            (Self::Decimal(a, s), Self::Decimal(b, t)) => s == t && a == b,
            (Self::Record(r, a), Self::Record(s, b)) => r == s && (Arc::ptr_eq(a, b) || a == b),
            (Self::Sum(a), Self::Sum(b)) => Arc::ptr_eq(a, b) || a == b,
            _ => false,
        }
    }
}

/// Elements at each end of a set or map that its hash reads. States of long runs hold long ones that
/// share their elements: comparing them is cheap, reading all of them is not.
const HASHED: usize = 8;

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Bool(b) => b.hash(state),
            Self::Int(n) | Self::Decimal(n, _) => n.hash(state),
            Self::Str(s) => s.hash(state),
            // Values that meet in one table are mostly of one sort.
            Self::Enum(_, i) => i.hash(state),
            Self::Map(pairs) => {
                pairs.len().hash(state);
                let late = pairs.len().saturating_sub(HASHED).max(HASHED);
                for pair in pairs.iter().take(HASHED).chain(pairs.iter().skip(late)) {
                    pair.hash(state);
                }
            }
            Self::Array(items) => items.hash(state),
            Self::Set(items) => {
                items.len().hash(state);
                let late = items.len().saturating_sub(HASHED).max(HASHED);
                for item in items.iter().take(HASHED).chain(items.iter().skip(late)) {
                    item.hash(state);
                }
            }
            Self::Record(_, fields) => fields.iter().for_each(|f| f.hash(state)),
            Self::Sum(s) => s.hash(state),
        }
    }
}

// Only to give values some total order, for deterministic tables: by name, then by shape.
impl PartialOrd for EnumSort {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for EnumSort {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.name
            .cmp(&other.name)
            .then_with(|| self.variants.cmp(&other.variants))
    }
}

impl PartialOrd for RecordSort {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RecordSort {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |r: &Self| -> Vec<(Box<str>, String)> {
            r.fields
                .iter()
                .map(|(n, s)| (n.clone(), format!("{s:?}")))
                .collect()
        };
        self.name.cmp(&other.name).then_with(|| {
            if self == other {
                std::cmp::Ordering::Equal
            } else {
                key(self).cmp(&key(other))
            }
        })
    }
}

impl Value {
    /// An integer.
    pub fn int(n: impl Into<Int>) -> Self {
        Self::Int(n.into())
    }

    /// A string.
    pub fn str(text: &str) -> Self {
        Self::Str(text.into())
    }

    /// An array.
    pub fn array(items: Vec<Self>) -> Self {
        Self::Array(items.into())
    }

    /// The value `name` of an enumeration.
    pub fn variant(sort: &Sort, name: &str) -> Option<Self> {
        let Sort::Enum(e) = sort else { return None };
        let i = e.variants.iter().position(|v| &**v == name)?;
        Some(Self::Enum(e.clone(), i as u32))
    }

    /// A record of the sort, from its fields in order.
    pub fn record(sort: &Sort, fields: Vec<Self>) -> Option<Self> {
        let Sort::Record(r) = sort else { return None };
        let value = Self::Record(r.clone(), fields.into());
        let Self::Record(_, items) = &value else {
            return None;
        };
        (items.len() == r.fields.len() && sort.contains(&value)).then_some(value)
    }

    /// The truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(b) = self {
            Some(*b)
        } else {
            None
        }
    }

    /// The integer, if it is one.
    pub fn as_int(&self) -> Option<&Int> {
        if let Self::Int(n) = self {
            Some(n)
        } else {
            None
        }
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Str(s) = self {
            Some(s)
        } else {
            None
        }
    }

    /// The narrowest sort that can be told from the value alone. `None` for an empty array, set or
    /// map, whose element sort no value shows.
    pub fn sort(&self) -> Option<Sort> {
        Some(match self {
            Self::Bool(_) => Sort::Bool,
            Self::Int(_) => Sort::Int,
            Self::Str(_) => Sort::String,
            Self::Enum(e, _) => Sort::Enum(e.clone()),
            Self::Array(items) => Sort::Array(Arc::new(items.first()?.sort()?)),
            Self::Decimal(_, scale) => Sort::Decimal(*scale),
            Self::Set(items) => Sort::Set(Arc::new(items.first()?.sort()?)),
            Self::Map(pairs) => {
                let (key, value) = pairs.first()?;
                Sort::Map(Arc::new((key.sort()?, value.sort()?)))
            }
            Self::Record(r, _) => Sort::Record(r.clone()),
            Self::Sum(s) => Sort::Sum(s.sort().clone()),
        })
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Self {
        Self::Bool(b)
    }
}

impl From<i64> for Value {
    fn from(n: i64) -> Self {
        Self::Int(n.into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::str(text)
    }
}

fn write_list<'a>(
    f: &mut fmt::Formatter<'_>,
    items: impl IntoIterator<Item = &'a Value>,
) -> fmt::Result {
    for (i, v) in items.into_iter().enumerate() {
        if i > 0 {
            write!(f, ", ")?;
        }
        write!(f, "{v}")?;
    }
    Ok(())
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(b) => write!(f, "{b}"),
            Self::Int(n) => write!(f, "{n}"),
            Self::Str(s) => write!(f, "{s:?}"),
            Self::Enum(e, i) => match e.variants.get(*i as usize) {
                Some(name) => write!(f, "{name}"),
                None => write!(f, "{}#{i}", e.name),
            },
            Self::Array(items) => {
                write!(f, "[")?;
                write_list(f, items)?;
                write!(f, "]")
            }
            Self::Decimal(units, scale) => crate::decimal::write_decimal(f, units, *scale),
            Self::Set(items) => {
                write!(f, "{{")?;
                write_list(f, items.iter())?;
                write!(f, "}}")
            }
            Self::Map(pairs) => {
                write!(f, "{{")?;
                for (i, (key, value)) in pairs.iter().enumerate() {
                    write!(f, "{}{key}: {value}", if i > 0 { ", " } else { "" })?;
                }
                write!(f, "}}")
            }
            Self::Record(r, items) => {
                write!(f, "{} {{", r.name)?;
                for (i, ((name, _), v)) in r.fields.iter().zip(items.iter()).enumerate() {
                    write!(f, "{} {name} = {v}", if i > 0 { "," } else { "" })?;
                }
                write!(f, " }}")
            }
            Self::Sum(s) => write!(f, "{s}"),
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
