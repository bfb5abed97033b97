//! Sum sorts: a value is one of several variants, each with fields of its own, and fields may be of
//! the sort itself.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::sort::SortError;
use crate::{Sort, Value};

/// How deep a value of a sum sort may nest: a list of so many elements. Values are shared trees that
/// are compared, printed and dropped by recursion.
pub const MAX_VALUE_DEPTH: u32 = 1_000;

/// Elements of an array that are looked at one by one.
const LONG: usize = 64;

/// A sum sort: a member of a group of sums that may contain one another.
///
/// Within the fields of a group, [`Sort::Member`] stands for a sum of the same group, so that a
/// recursive sort is a finite tree that can be compared and hashed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SumSort {
    group: Arc<Group>,
    index: u32,
}

/// The sums of a group. A type of its own, so that shared ones are equal at a glance.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Group(Vec<SumDeclaration>);

/// How deep sums can nest in values of any of the sorts.
fn deepest_sum<'a>(mut sorts: impl Iterator<Item = &'a Sort>) -> Option<u32> {
    sorts.try_fold(0, |deepest, s| Some(deepest.max(s.deepest_sum()?)))
}

/// The declaration of one sum sort.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SumDeclaration {
    /// Its name.
    pub name: Box<str>,
    /// Its variants in order.
    pub variants: Vec<Variant>,
}

/// A variant of a sum sort: its constructor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// Its name.
    pub name: Box<str>,
    /// Its fields in order; [`Sort::Member`] in them stands for a sum of the group.
    pub fields: Vec<(Box<str>, Sort)>,
}

/// A value of a sum sort.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SumValue {
    /// Of variant and fields, so that long lists are not hashed again and again.
    hash: u64,
    sort: SumSort,
    variant: u32,
    fields: Box<[Value]>,
    depth: u32,
}

impl Hash for SumValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash.hash(state);
    }
}

impl Sort {
    /// The sums of a group, which may contain one another, in the order of the declarations. Each
    /// of them must have a value that is not infinite.
    pub fn sums(group: Vec<SumDeclaration>) -> Result<Vec<Self>, SortError> {
        for sum in &group {
            if sum.variants.is_empty() {
                return Err(SortError::EmptyEnum(sum.name.clone()));
            }
            let twice = |names: &mut dyn Iterator<Item = &Box<str>>| {
                let names: Vec<_> = names.collect();
                let repeated = names
                    .iter()
                    .enumerate()
                    .find(|(i, n)| names[..*i].contains(n));
                repeated.map(|(_, n)| (*n).clone())
            };
            let mut repeated = twice(&mut sum.variants.iter().map(|v| &v.name));
            for v in &sum.variants {
                repeated = repeated.or_else(|| twice(&mut v.fields.iter().map(|(n, _)| n)));
                if v.fields
                    .iter()
                    .any(|(_, s)| s.depth() >= crate::MAX_SORT_DEPTH)
                {
                    return Err(SortError::TooDeep);
                }
            }
            if let Some(name) = repeated {
                return Err(SortError::Twice {
                    sort: sum.name.clone(),
                    name,
                });
            }
        }
        let heights = heights(&group);
        if let Some(i) = heights.iter().position(Option::is_none) {
            return Err(SortError::NoFiniteValue(group[i].name.clone()));
        }
        let group = Arc::new(Group(group));
        Ok((0..group.0.len() as u32)
            .map(|index| {
                Self::Sum(SumSort {
                    group: group.clone(),
                    index,
                })
            })
            .collect())
    }

    /// How deep sums can nest in a value, if that has a bound.
    fn deepest_sum(&self) -> Option<u32> {
        match self {
            Self::Bool | Self::Int | Self::Range(_) | Self::Enum(_) | Self::String => Some(0),
            Self::Array(e) => e.deepest_sum(),
            Self::Record(r) => deepest_sum(r.fields.iter().map(|(_, s)| s)),
            Self::Sum(s) => {
                let fields = s.variants().iter().flat_map(|v| &v.fields);
                Some(1 + deepest_sum(fields.map(|(_, s)| s))?)
            }
            // A sum of sums like itself has none.
            _ => None,
        }
    }

    /// The sort with the sums of `group` for its members.
    fn closed(&self, group: &Arc<Group>) -> Self {
        match self {
            Self::Member(index) => Self::Sum(SumSort {
                group: group.clone(),
                index: *index,
            }),
            Self::Array(e) if e.is_open() => Self::Array(Arc::new(e.closed(group))),
            Self::Set(e) if e.is_open() => Self::Set(Arc::new(e.closed(group))),
            Self::Map(m) if self.is_open() => {
                Self::Map(Arc::new((m.0.closed(group), m.1.closed(group))))
            }
            Self::Record(r) if self.is_open() => {
                let fields = r.fields.iter().map(|(n, s)| (n.clone(), s.closed(group)));
                Self::Record(Arc::new(crate::RecordSort {
                    name: r.name.clone(),
                    fields: fields.collect(),
                }))
            }
            _ => self.clone(),
        }
    }

    /// Whether it contains [`Sort::Member`] outside of a sum.
    pub fn is_open(&self) -> bool {
        match self {
            Self::Member(_) => true,
            Self::Array(e) | Self::Set(e) => e.is_open(),
            Self::Map(m) => m.0.is_open() || m.1.is_open(),
            Self::Record(r) => r.fields.iter().any(|(_, s)| s.is_open()),
            _ => false,
        }
    }

    /// The least height of a value, where those of the members are known so far.
    fn height(&self, members: &[Option<u32>]) -> Option<u32> {
        match self {
            Self::Member(i) => members.get(*i as usize).copied().flatten(),
            Self::Record(r) => r
                .fields
                .iter()
                .try_fold(0, |h: u32, (_, s)| Some(h.max(s.height(members)?))),
            _ => Some(0),
        }
    }
}

fn heights(group: &[SumDeclaration]) -> Vec<Option<u32>> {
    let mut heights = vec![None; group.len()];
    // Each round finds the values that are one higher than those before.
    for round in 1..=group.len() as u32 {
        let known = heights.clone();
        for (i, sum) in group.iter().enumerate() {
            let grounded = |v: &Variant| {
                let mut fields = v.fields.iter();
                fields.all(|(_, s)| s.height(&known).is_some())
            };
            if heights[i].is_none() && sum.variants.iter().any(grounded) {
                heights[i] = Some(round);
            }
        }
    }
    heights
}

impl SumSort {
    fn declaration(&self) -> &SumDeclaration {
        &self.group.0[self.index as usize]
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.declaration().name
    }

    /// Its variants; their fields may be open, see [`SumSort::field_sort`].
    pub fn variants(&self) -> &[Variant] {
        &self.declaration().variants
    }

    /// A variant.
    pub fn variant(&self, variant: u32) -> Option<&Variant> {
        self.variants().get(variant as usize)
    }

    /// The number of a variant.
    pub fn variant_index(&self, name: &str) -> Option<u32> {
        let at = self.variants().iter().position(|v| &*v.name == name);
        at.map(|i| i as u32)
    }

    /// The sort of a field of a variant.
    pub fn field_sort(&self, variant: u32, field: u32) -> Option<Sort> {
        let (_, sort) = self.variant(variant)?.fields.get(field as usize)?;
        Some(sort.closed(&self.group))
    }

    /// The sorts of the fields of a variant.
    pub fn field_sorts(&self, variant: u32) -> Vec<Sort> {
        let fields = self.variant(variant).map_or(&[][..], |v| &v.fields);
        fields.iter().map(|(_, s)| s.closed(&self.group)).collect()
    }

    /// Whether values may contain values of the sort's own group.
    pub fn is_recursive(&self) -> bool {
        let mut fields = self
            .group
            .0
            .iter()
            .flat_map(|s| &s.variants)
            .flat_map(|v| &v.fields);
        fields.any(|(_, s)| s.is_open())
    }

    /// The declarations of its group, and its place among them.
    pub fn group(&self) -> (&[SumDeclaration], u32) {
        (&self.group.0, self.index)
    }

    /// The sum at this place of its group.
    #[must_use]
    pub(crate) fn sibling(&self, index: u32) -> Self {
        Self {
            group: self.group.clone(),
            index,
        }
    }

    /// The variant of the plainest value: the first of the least height.
    pub fn plainest(&self) -> u32 {
        let known = heights(&self.group.0);
        let of = |v: &Variant| {
            let mut heights = v.fields.iter().map(|(_, s)| s.height(&known));
            heights
                .try_fold(0, |h: u32, f| Some(h.max(f?)))
                .unwrap_or(u32::MAX)
        };
        let variants = self.variants().iter().enumerate();
        variants
            .min_by_key(|(_, v)| of(v))
            .map_or(0, |(i, _)| i as u32)
    }
}

// Only to give values some total order, for deterministic tables: by name, then by shape.
impl PartialOrd for SumSort {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SumSort {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name().cmp(other.name()).then_with(|| {
            if self == other {
                Ordering::Equal
            } else {
                format!("{self:?}").cmp(&format!("{other:?}"))
            }
        })
    }
}

impl SumValue {
    /// The sort.
    pub fn sort(&self) -> &SumSort {
        &self.sort
    }

    /// The number of the variant.
    pub fn variant(&self) -> u32 {
        self.variant
    }

    /// The name of the variant.
    pub fn variant_name(&self) -> &str {
        self.sort.variant(self.variant).map_or("?", |v| &v.name)
    }

    /// How deep sums nest in it.
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// The fields in order.
    pub fn fields(&self) -> &[Value] {
        &self.fields
    }
}

impl Value {
    /// A value of a sum sort, from the fields of one of its variants; `None` where they do not
    /// fit, or it would nest deeper than [`MAX_VALUE_DEPTH`].
    pub fn sum(sort: &SumSort, variant: u32, fields: Vec<Self>) -> Option<Self> {
        let sorts = sort.field_sorts(variant);
        sort.variant(variant)?;
        // A field was checked when it was built: what is left is whether it is of this sort.
        let fit =
            sorts.len() == fields.len() && sorts.iter().zip(&fields).all(|(s, v)| s.contains(v));
        fit.then_some(())?;
        Self::sum_of(sort.clone(), variant, fields)
    }

    /// The value of fields that are known to fit.
    pub(crate) fn sum_of(sort: SumSort, variant: u32, fields: Vec<Self>) -> Option<Self> {
        let depth = 1 + fields.iter().map(Self::depth).max().unwrap_or(0);
        let mut hasher = rustc_hash::FxHasher::default();
        (variant, &fields).hash(&mut hasher);
        (depth <= MAX_VALUE_DEPTH).then(|| {
            Self::Sum(Arc::new(SumValue {
                hash: hasher.finish(),
                sort,
                variant,
                fields: fields.into(),
                depth,
            }))
        })
    }

    /// How deep sums nest in the value. Long arrays are not looked through where their sort says how deep
    /// it can be at most.
    fn depth(&self) -> u32 {
        match self {
            Self::Sum(s) => s.depth,
            Self::Array(items) => {
                let one_by_one = || items.iter().map(Self::depth).max().unwrap_or(0);
                let first = items.get(LONG).and(items.first());
                let deepest = first.and_then(Self::sort).and_then(|s| s.deepest_sum());
                deepest.unwrap_or_else(one_by_one)
            }
            Self::Set(items) => items.iter().map(Self::depth).max().unwrap_or(0),
            Self::Map(pairs) => {
                let depths = pairs.iter().map(|(k, v)| k.depth().max(v.depth()));
                depths.max().unwrap_or(0)
            }
            Self::Record(_, items) => items.iter().map(Self::depth).max().unwrap_or(0),
            _ => 0,
        }
    }
}

impl fmt::Display for SumValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.variant_name())?;
        for (i, v) in self.fields.iter().enumerate() {
            write!(f, "{}{v}", if i == 0 { "(" } else { ", " })?;
        }
        if self.fields.is_empty() {
            Ok(())
        } else {
            f.write_str(")")
        }
    }
}
