//! Sets and maps: their sorts, values and evaluation. A value is kept in the order of its elements or
//! keys, so that equal ones look alike however they came about.

use std::sync::Arc;

use crate::sort::SortError;
use crate::term::Op;
use crate::typing::{Typed, error, mismatch};
use crate::{Sort, Span, Term, TypeErrorKind, Value};

impl Sort {
    /// `set<element>`.
    pub fn set(element: Self) -> Result<Self, SortError> {
        if element.has_collection() || element.is_open() {
            return Err(SortError::CollectionWithin(element.to_string().into()));
        }
        Self::Set(Arc::new(element)).checked()
    }

    /// `map<key, value>`.
    pub fn map(key: Self, value: Self) -> Result<Self, SortError> {
        if key.has_collection() || key.is_open() {
            return Err(SortError::CollectionWithin(key.to_string().into()));
        }
        Self::Map(Arc::new((key, value))).checked()
    }

    /// Whether values of the sort contain sets or maps.
    pub fn has_collection(&self) -> bool {
        match self {
            Self::Set(_) | Self::Map(_) => true,
            Self::Array(e) => e.has_collection(),
            Self::Record(r) => r.fields.iter().any(|(_, s)| s.has_collection()),
            Self::Sum(s) => {
                let variants = s.group().0.iter().flat_map(|d| &d.variants);
                variants
                    .flat_map(|v| &v.fields)
                    .any(|(_, s)| s.has_collection())
            }
            _ => false,
        }
    }

    /// What a quantifier ranges over: the elements of an array or a set.
    pub(crate) fn element(&self) -> Option<&Self> {
        match self {
            Self::Array(e) | Self::Set(e) => Some(e),
            _ => None,
        }
    }
}

impl Value {
    /// The set of these values.
    pub fn set(mut items: Vec<Self>) -> Self {
        items.sort();
        items.dedup();
        Self::Set(Arc::new(items))
    }

    /// The map of these pairs; of two with one key the later one counts.
    pub fn map(pairs: Vec<(Self, Self)>) -> Self {
        let map: std::collections::BTreeMap<Self, Self> = pairs.into_iter().collect();
        Self::Map(Arc::new(map.into_iter().collect()))
    }

    /// The value of a key.
    pub(crate) fn looked_up<'a>(pairs: &'a [(Self, Self)], key: &Self) -> Option<&'a Self> {
        let at = pairs.binary_search_by(|(k, _)| k.cmp(key)).ok()?;
        Some(&pairs[at].1)
    }
}

/// The set or map with one entry more, or another value for a key.
pub(crate) fn inserted(collection: Value, key: Value, value: Option<Value>) -> Option<Value> {
    match (collection, value) {
        (Value::Set(mut items), None) => {
            if let Err(at) = items.binary_search(&key) {
                Arc::make_mut(&mut items).insert(at, key);
            }
            Some(Value::Set(items))
        }
        (Value::Map(mut pairs), Some(value)) => {
            match pairs.binary_search_by(|(k, _)| k.cmp(&key)) {
                Ok(at) => Arc::make_mut(&mut pairs)[at].1 = value,
                Err(at) => Arc::make_mut(&mut pairs).insert(at, (key, value)),
            }
            Some(Value::Map(pairs))
        }
        _ => None,
    }
}

/// The set or map without an element or key.
pub(crate) fn removed(collection: Value, key: &Value) -> Option<Value> {
    match collection {
        Value::Set(mut items) => {
            if let Ok(at) = items.binary_search(key) {
                Arc::make_mut(&mut items).remove(at);
            }
            Some(Value::Set(items))
        }
        Value::Map(mut pairs) => {
            if let Ok(at) = pairs.binary_search_by(|(k, _)| k.cmp(key)) {
                Arc::make_mut(&mut pairs).remove(at);
            }
            Some(Value::Map(pairs))
        }
        _ => None,
    }
}

/// Whether a value is an element of a set, or a key of a map.
pub(crate) fn has(collection: &Value, key: &Value) -> Option<bool> {
    match collection {
        Value::Set(items) => Some(items.binary_search(key).is_ok()),
        Value::Map(pairs) => Some(Value::looked_up(pairs, key).is_some()),
        _ => None,
    }
}

/// Union, intersection or difference of two sets.
pub(crate) fn combined(op: &Op, a: &Value, b: &Value) -> Option<Value> {
    let (Value::Set(a), Value::Set(b)) = (a, b) else {
        return None;
    };
    let within = |x: &Value| b.binary_search(x).is_ok();
    Some(match op {
        Op::Union => Value::set(a.iter().chain(b.iter()).cloned().collect()),
        Op::Intersection => Value::Set(Arc::new(a.iter().filter(|x| within(x)).cloned().collect())),
        Op::Difference => Value::Set(Arc::new(a.iter().filter(|x| !within(x)).cloned().collect())),
        _ => return None,
    })
}

impl Term {
    /// The set of these elements.
    pub fn set(sort: &Sort, items: Vec<Self>, span: Span) -> Typed {
        let Sort::Set(element) = sort else {
            return Err(wrong("a set", sort, span));
        };
        let items: Vec<Self> = items
            .into_iter()
            .map(|t| t.coerce(element))
            .collect::<Result<_, _>>()?;
        let values: Option<Vec<Value>> = items.iter().map(|t| t.as_value().cloned()).collect();
        match values {
            Some(values) => Ok(Self::value_of_sort(Value::set(values), sort.clone())),
            None => Self::sized(Op::Set, items, sort.clone(), span),
        }
    }

    /// The map of these pairs; of two with one key the later one counts.
    pub fn map(sort: &Sort, pairs: Vec<(Self, Self)>, span: Span) -> Typed {
        let Sort::Map(sorts) = sort else {
            return Err(wrong("a map", sort, span));
        };
        let mut args = Vec::with_capacity(2 * pairs.len());
        for (key, value) in pairs {
            args.push(key.coerce(&sorts.0)?);
            args.push(value.coerce(&sorts.1)?);
        }
        let values: Option<Vec<Value>> = args.iter().map(|t| t.as_value().cloned()).collect();
        match values {
            Some(values) => {
                let pairs = values.chunks(2).map(|p| (p[0].clone(), p[1].clone()));
                let value = Value::map(pairs.collect());
                Ok(Self::value_of_sort(value, sort.clone()))
            }
            None => Self::sized(Op::Map, args, sort.clone(), span),
        }
    }

    /// The sort of an operation on a set or a map, once its number of arguments is right.
    pub(crate) fn collection_sort(op: &Op, args: &[Self]) -> Result<Sort, crate::TypeError> {
        let key = |of: &Self, key: &Self| match of.sort() {
            Sort::Set(e) if e.comparable(key.sort()) => Ok(()),
            Sort::Map(m) if m.0.comparable(key.sort()) => Ok(()),
            Sort::Set(e) => Err(mismatch(&**e, key)),
            Sort::Map(m) => Err(mismatch(&m.0, key)),
            _ => Err(mismatch("a set or a map", of)),
        };
        let sets = || match (args[0].sort(), args[1].sort()) {
            (Sort::Set(_), b) if args[0].sort() == b => Ok(b.clone()),
            (Sort::Set(_), _) => Err(mismatch(args[0].sort(), &args[1])),
            _ => Err(mismatch("a set", &args[0])),
        };
        match op {
            Op::Has => key(&args[1], &args[0]).map(|()| Sort::Bool),
            Op::Insert => match args[0].sort() {
                Sort::Set(_) => key(&args[0], &args[1]).map(|()| args[0].sort().clone()),
                _ => Err(mismatch("a set", &args[0])),
            },
            Op::Put => match args[0].sort() {
                Sort::Map(_) => key(&args[0], &args[1]).map(|()| args[0].sort().clone()),
                _ => Err(mismatch("a map", &args[0])),
            },
            Op::Remove => key(&args[0], &args[1]).map(|()| args[0].sort().clone()),
            Op::Lookup => match args[0].sort() {
                Sort::Map(m) => key(&args[0], &args[1]).map(|()| m.1.clone()),
                _ => Err(mismatch("a map", &args[0])),
            },
            Op::Keys => match args[0].sort() {
                Sort::Map(m) => Ok(Sort::Set(Arc::new(m.0.clone()))),
                _ => Err(mismatch("a map", &args[0])),
            },
            _ => sets(),
        }
    }

    /// Whether a value is an element of a set or a key of a map.
    pub(crate) fn has(key: &Self, collection: &Self) -> Self {
        Self::bool_app(Op::Has, vec![key.clone(), collection.clone()])
    }
}

fn wrong(expected: &str, found: &Sort, span: Span) -> crate::TypeError {
    let kind = TypeErrorKind::Mismatch {
        expected: expected.into(),
        found: found.clone(),
    };
    error(kind, span)
}
