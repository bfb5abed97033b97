//! The elements of an array, in a balanced tree whose leaves hold a few dozen each.
//!
//! The state of a long run holds long arrays, and a step changes little of them. Here it copies the nodes on the
//! way to what it changes and shares the others; what was found out about a node (its hash, a sort that all
//! its elements belong to, where they can be looked up) is kept in it, so that nobody reads a whole array a step.

mod part_index;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Index, Range};
use std::sync::atomic::{self, AtomicU64};
use std::sync::{Arc, OnceLock};

use part_index::{PartFilter, PartIndex};
use rustc_hash::FxHasher;

pub(crate) use part_index::part;

use crate::{Sort, Value};

/// Elements of a leaf at most.
const LEAF: usize = 64;

/// A finite sequence of values that shares what it has in common with those it was made of.
#[derive(Clone)]
pub struct Sequence(Arc<Node>);

struct Node {
    len: usize,
    /// Of the elements in their order, whatever the shape of the tree.
    hash: u64,
    /// [`BASE`] to the power of the length.
    power: u64,
    /// 0 of a leaf.
    height: u32,
    /// A sort that all elements are known to belong to.
    sort: OnceLock<Sort>,
    /// No other node ever has this number.
    number: u64,
    /// The number of the last node that was found to have the same elements, or 0. A model and a system
    /// that both keep a list compare what they had before once.
    equal: AtomicU64,
    shape: Shape,
}

enum Shape {
    Leaf(Leaf),
    Branch(Branch),
}

struct Leaf {
    items: Vec<Value>,
    /// What one part of the items is, for the first part that was asked for.
    parts: OnceLock<PartIndex>,
}

struct Branch {
    left: Arc<Node>,
    right: Arc<Node>,
    /// The same of all elements below.
    parts: OnceLock<PartFilter>,
}

/// Any odd number will do: hashes say that sequences differ, never that they are equal.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

fn hash_of(value: &Value) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

impl Node {
    fn leaf(items: Vec<Value>) -> Arc<Self> {
        let mut hash = 0u64;
        let mut power = 1u64;
        for item in &items {
            hash = hash.wrapping_mul(BASE).wrapping_add(hash_of(item));
            power = power.wrapping_mul(BASE);
        }
        Self::hashed_leaf(items, hash, power)
    }

    fn hashed_leaf(items: Vec<Value>, hash: u64, power: u64) -> Arc<Self> {
        let parts = OnceLock::new();
        let (len, shape) = (items.len(), Shape::Leaf(Leaf { items, parts }));
        Self::new(len, (hash, power), 0, shape)
    }

    fn new(len: usize, (hash, power): (u64, u64), height: u32, shape: Shape) -> Arc<Self> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Arc::new(Self {
            len,
            hash,
            power,
            height,
            sort: OnceLock::new(),
            number: LAST.fetch_add(1, atomic::Ordering::Relaxed) + 1,
            equal: AtomicU64::new(0),
            shape,
        })
    }

    fn fits(&self, sort: &Sort) -> bool {
        if self.sort.get().is_some_and(|known| known == sort) {
            return true;
        }
        let fits = match &self.shape {
            Shape::Leaf(leaf) => leaf.items.iter().all(|item| sort.contains(item)),
            Shape::Branch(branch) => branch.left.fits(sort) && branch.right.fits(sort),
        };
        if fits {
            // Another sort that is known already is as good.
            let _ = self.sort.set(sort.clone());
        }
        fits
    }

    /// Whether both have the same elements.
    fn equals(&self, other: &Self) -> bool {
        let known = |a: &Self, b: &Self| a.equal.load(atomic::Ordering::Relaxed) == b.number;
        if self.number == other.number || known(self, other) || known(other, self) {
            return true;
        }
        if self.len != other.len || self.hash != other.hash {
            return false;
        }
        let equal = match (&self.shape, &other.shape) {
            (Shape::Leaf(a), Shape::Leaf(b)) => a.items == b.items,
            (Shape::Branch(a), Shape::Branch(b)) if a.left.len == b.left.len => {
                a.left.equals(&b.left) && a.right.equals(&b.right)
            }
            // The trees have other histories.
            _ => self.items().eq(other.items()),
        };
        if equal {
            self.equal.store(other.number, atomic::Ordering::Relaxed);
            other.equal.store(self.number, atomic::Ordering::Relaxed);
        }
        equal
    }

    fn items(&self) -> Iter<'_> {
        Iter {
            leaves: Leaves {
                stack: Vec::new(),
                next: Some(self),
            },
            items: [].iter(),
            left: self.len,
        }
    }

    /// The hash of a sequence after another one.
    fn joint_hash(left: &Self, right: &Self) -> (u64, u64) {
        let hash = left.hash.wrapping_mul(right.power).wrapping_add(right.hash);
        (hash, left.power.wrapping_mul(right.power))
    }

    fn branch(left: Arc<Self>, right: Arc<Self>) -> Arc<Self> {
        let joint = Self::joint_hash(&left, &right);
        let len = left.len + right.len;
        let height = 1 + left.height.max(right.height);
        let parts = OnceLock::new();
        Self::new(
            len,
            joint,
            height,
            Shape::Branch(Branch { left, right, parts }),
        )
    }

    /// Two leaves as one, or side by side where they are too long for that.
    fn merged(left: &Arc<Self>, right: &Arc<Self>, a: &Leaf, b: &Leaf) -> Arc<Self> {
        if left.len == 0 {
            return Arc::clone(right);
        }
        if right.len == 0 {
            return Arc::clone(left);
        }
        if left.len + right.len > LEAF {
            return Self::branch(Arc::clone(left), Arc::clone(right));
        }
        let items = a.items.iter().chain(&b.items).cloned().collect();
        let (hash, power) = Self::joint_hash(left, right);
        let node = Self::hashed_leaf(items, hash, power);
        // One element more asks for a look at that one.
        if let Some(known) = left.sort.get().or(right.sort.get())
            && left.fits(known)
            && right.fits(known)
        {
            let _ = node.sort.set(known.clone());
        }
        node
    }

    /// One after the other. Heights of neighbours differ by at most one, as in an AVL tree, so this takes as
    /// many steps as the heights differ, and a few.
    fn join(left: &Arc<Self>, right: &Arc<Self>) -> Arc<Self> {
        match (&left.shape, &right.shape) {
            (Shape::Leaf(a), Shape::Leaf(b)) => Self::merged(left, right, a, b),
            // A leaf goes down to the leaf beside it, so that elements that come one by one fill leaves.
            (
                Shape::Branch(Branch {
                    left: a, right: b, ..
                }),
                _,
            ) if right.height == 0 || left.height > right.height + 1 => {
                Self::balanced(Arc::clone(a), Self::join(b, right))
            }
            (
                _,
                Shape::Branch(Branch {
                    left: a, right: b, ..
                }),
            ) if left.height == 0 || right.height > left.height + 1 => {
                Self::balanced(Self::join(left, a), Arc::clone(b))
            }
            _ => Self::branch(Arc::clone(left), Arc::clone(right)),
        }
    }

    /// A branch of two nodes whose heights differ by at most two.
    fn balanced(left: Arc<Self>, right: Arc<Self>) -> Arc<Self> {
        if left.height > right.height + 1
            && let Shape::Branch(Branch {
                left: a, right: b, ..
            }) = &left.shape
        {
            if let Shape::Branch(Branch {
                left: c, right: d, ..
            }) = &b.shape
                && b.height > a.height
            {
                let outer = Self::branch(Arc::clone(a), Arc::clone(c));
                return Self::branch(outer, Self::branch(Arc::clone(d), right));
            }
            return Self::branch(Arc::clone(a), Self::branch(Arc::clone(b), right));
        }
        if right.height > left.height + 1
            && let Shape::Branch(Branch {
                left: a, right: b, ..
            }) = &right.shape
        {
            if let Shape::Branch(Branch {
                left: c, right: d, ..
            }) = &a.shape
                && a.height > b.height
            {
                let outer = Self::branch(Arc::clone(d), Arc::clone(b));
                return Self::branch(Self::branch(left, Arc::clone(c)), outer);
            }
            return Self::branch(Self::branch(left, Arc::clone(a)), Arc::clone(b));
        }
        Self::branch(left, right)
    }

    /// The tree of these nodes, which are leaves in order.
    fn tree(leaves: &[Arc<Self>]) -> Arc<Self> {
        match leaves {
            [] => Self::leaf(Vec::new()),
            [leaf] => Arc::clone(leaf),
            _ => {
                let (left, right) = leaves.split_at(leaves.len() / 2);
                Self::branch(Self::tree(left), Self::tree(right))
            }
        }
    }

    fn get(&self, i: usize) -> Option<&Value> {
        match &self.shape {
            Shape::Leaf(leaf) => leaf.items.get(i),
            Shape::Branch(Branch { left, .. }) if i < left.len => left.get(i),
            Shape::Branch(Branch { left, right, .. }) => right.get(i - left.len),
        }
    }

    fn with(&self, i: usize, value: Value) -> Arc<Self> {
        match &self.shape {
            Shape::Leaf(leaf) => {
                let mut items = leaf.items.clone();
                items[i] = value;
                Self::leaf(items)
            }
            Shape::Branch(Branch { left, right, .. }) if i < left.len => {
                Self::branch(left.with(i, value), Arc::clone(right))
            }
            Shape::Branch(Branch { left, right, .. }) => {
                Self::branch(Arc::clone(left), right.with(i - left.len, value))
            }
        }
    }

    fn slice(node: &Arc<Self>, range: Range<usize>) -> Arc<Self> {
        if range.len() == node.len {
            return Arc::clone(node);
        }
        match &node.shape {
            Shape::Leaf(leaf) => Self::leaf(leaf.items[range].to_vec()),
            Shape::Branch(Branch { left, right, .. }) => {
                let middle = left.len;
                if range.end <= middle {
                    return Self::slice(left, range);
                }
                if range.start >= middle {
                    return Self::slice(right, range.start - middle..range.end - middle);
                }
                let left = Self::slice(left, range.start..middle);
                Self::join(&left, &Self::slice(right, 0..range.end - middle))
            }
        }
    }
}

impl Sequence {
    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.0.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.len == 0
    }

    /// An element.
    pub fn get(&self, i: usize) -> Option<&Value> {
        self.0.get(i)
    }

    /// The first element.
    pub fn first(&self) -> Option<&Value> {
        self.get(0)
    }

    /// The elements in order.
    pub fn iter(&self) -> Iter<'_> {
        self.0.items()
    }

    /// These elements, then those.
    #[must_use]
    pub fn followed_by(&self, other: &Self) -> Self {
        Self(Node::join(&self.0, &other.0))
    }

    /// The same with another element at a place that it has.
    #[must_use]
    pub(crate) fn with(&self, i: usize, value: Value) -> Self {
        Self(self.0.with(i, value))
    }

    /// The elements at these places, which it has.
    #[must_use]
    pub(crate) fn slice(&self, range: Range<usize>) -> Self {
        Self(Node::slice(&self.0, range))
    }

    /// Whether all elements belong to a sort.
    pub(crate) fn fits(&self, sort: &Sort) -> bool {
        self.0.fits(sort)
    }

    /// Whether the part of some element that the fields lead to is the value; `None` where an element has
    /// no such part.
    pub(crate) fn has_part(&self, path: &[u32], value: &Value) -> Option<bool> {
        self.0.has_part(path, value, hash_of(value))
    }
}

impl Default for Sequence {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl From<Vec<Value>> for Sequence {
    fn from(items: Vec<Value>) -> Self {
        if items.len() <= LEAF {
            return Self(Node::leaf(items));
        }
        let leaves: Vec<_> = items.chunks(LEAF).map(|c| Node::leaf(c.to_vec())).collect();
        Self(Node::tree(&leaves))
    }
}

impl FromIterator<Value> for Sequence {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        Self::from(items.into_iter().collect::<Vec<_>>())
    }
}

impl Index<usize> for Sequence {
    type Output = Value;

    fn index(&self, i: usize) -> &Value {
        match self.get(i) {
            Some(item) => item,
            None => panic!("element {i} of {}", self.len()),
        }
    }
}

/// The leaves of a sequence in order.
struct Leaves<'a> {
    stack: Vec<&'a Node>,
    next: Option<&'a Node>,
}

impl<'a> Iterator for Leaves<'a> {
    type Item = &'a Leaf;

    fn next(&mut self) -> Option<Self::Item> {
        let mut node = self.next.take().or_else(|| self.stack.pop())?;
        loop {
            match &node.shape {
                Shape::Leaf(leaf) => return Some(leaf),
                Shape::Branch(Branch { left, right, .. }) => {
                    self.stack.push(right);
                    node = left;
                }
            }
        }
    }
}

/// The elements of a [`Sequence`] in order.
pub struct Iter<'a> {
    leaves: Leaves<'a>,
    items: std::slice::Iter<'a, Value>,
    left: usize,
}

impl<'a> Iterator for Iter<'a> {
    type Item = &'a Value;

    fn next(&mut self) -> Option<&'a Value> {
        loop {
            if let Some(item) = self.items.next() {
                self.left -= 1;
                return Some(item);
            }
            self.items = self.leaves.next()?.items.iter();
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'a> IntoIterator for &'a Sequence {
    type Item = &'a Value;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl PartialEq for Sequence {
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(&other.0)
    }
}

impl Eq for Sequence {}

impl PartialOrd for Sequence {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Sequence {
    fn cmp(&self, other: &Self) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) {
            return Ordering::Equal;
        }
        self.iter().cmp(other.iter())
    }
}

impl Hash for Sequence {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0.len, self.0.hash).hash(state);
    }
}

impl fmt::Debug for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is done to a sequence, and to the list beside it.
    #[derive(Clone, Debug)]
    enum Change {
        Before(u8, i64),
        After(u8, i64),
        Twice,
        Put(usize, i64),
        Cut(usize, usize),
    }

    fn change() -> impl Strategy<Value = Change> {
        prop_oneof![
            (1u8..90, -2i64..3).prop_map(|(n, x)| Change::Before(n, x)),
            (1u8..90, -2i64..3).prop_map(|(n, x)| Change::After(n, x)),
            Just(Change::Twice),
            (any::<usize>(), -2i64..3).prop_map(|(i, x)| Change::Put(i, x)),
            (any::<usize>(), any::<usize>()).prop_map(|(a, b)| Change::Cut(a, b)),
        ]
    }

    fn check(node: &Node) -> u32 {
        match &node.shape {
            Shape::Leaf(leaf) => {
                assert!(leaf.items.len() <= LEAF && node.height == 0);
                assert_eq!(leaf.items.len(), node.len);
                0
            }
            Shape::Branch(Branch {
                left: a, right: b, ..
            }) => {
                assert!(a.len > 0 && b.len > 0, "no empty leaf in a tree");
                let (left, right) = (check(a), check(b));
                assert!(left.abs_diff(right) <= 1, "heights {left} and {right}");
                assert_eq!(node.len, a.len + b.len);
                assert_eq!(node.height, 1 + left.max(right));
                node.height
            }
        }
    }

    proptest! {
        /// A sequence is the list that the same changes make, whatever its tree looks like.
        #[test]
        fn is_a_list(changes in prop::collection::vec(change(), 0..24)) {
            let (mut sequence, mut list) = (Sequence::default(), Vec::<Value>::new());
            for change in changes {
                match change {
                    Change::Before(n, x) => {
                        for _ in 0..n {
                            sequence = Sequence::from(vec![x.into()]).followed_by(&sequence);
                            list.insert(0, x.into());
                        }
                    }
                    Change::After(n, x) => {
                        let more = vec![Value::from(x); n.into()];
                        sequence = sequence.followed_by(&more.clone().into());
                        list.extend(more);
                    }
                    Change::Twice if list.len() < 2_000 => {
                        sequence = sequence.followed_by(&sequence);
                        list.extend(list.clone());
                    }
                    Change::Put(i, x) if !list.is_empty() => {
                        let i = i % list.len();
                        sequence = sequence.with(i, x.into());
                        list[i] = x.into();
                    }
                    Change::Cut(a, b) if !list.is_empty() => {
                        let (a, b) = (a % list.len(), b % list.len());
                        let range = a.min(b)..a.max(b);
                        sequence = sequence.slice(range.clone());
                        list = list[range].to_vec();
                    }
                    _ => {}
                }
                check(&sequence.0);
                prop_assert_eq!(sequence.len(), list.len());
                prop_assert!(sequence.iter().eq(&list));
                let built = Sequence::from(list.clone());
                prop_assert_eq!(&sequence, &built);
                prop_assert_eq!(sequence.0.hash, built.0.hash);
                prop_assert_eq!(sequence.get(list.len() / 2), list.get(list.len() / 2));
                prop_assert_eq!(sequence.get(list.len()), None);
                let range = Sort::range(-1, 2).expect("a range");
                prop_assert_eq!(sequence.fits(&range), list.iter().all(|v| range.contains(v)));
                prop_assert!(sequence.fits(&Sort::Int));
                for x in -3..4i64 {
                    let x = Value::from(x);
                    prop_assert_eq!(sequence.has_part(&[], &x), Some(list.contains(&x)));
                }
            }
        }

        /// Equality and order are those of lists.
        #[test]
        fn compares_like_a_list(
            a in prop::collection::vec(0i64..2, 0..140),
            b in prop::collection::vec(0i64..2, 0..140),
            at in 0usize..140,
        ) {
            let values = |list: &[i64]| list.iter().map(|&n| Value::from(n)).collect::<Vec<_>>();
            let (a, b) = (values(&a), values(&b));
            let cut = at.min(a.len());
            let joined = Sequence::from(a[..cut].to_vec()).followed_by(&a[cut..].to_vec().into());
            let other = Sequence::from(b.clone());
            prop_assert_eq!(&joined, &Sequence::from(a.clone()));
            prop_assert_eq!(joined == other, a == b);
            prop_assert_eq!(joined.cmp(&other), a.cmp(&b));
        }

        /// What is remembered of earlier comparisons and look-ups says nothing wrong of what came of the same lists.
        #[test]
        fn remembers_nothing_wrong(
            steps in prop::collection::vec((0i64..400, 0i64..400, any::<usize>(), 0u8..4), 1..300),
        ) {
            let (mut ours, mut theirs) = (Sequence::default(), Sequence::default());
            let (mut a, mut b) = (Vec::<Value>::new(), Vec::<Value>::new());
            for (x, y, at, kind) in steps {
                let (x, y) = (Value::from(x), Value::from(y));
                ours = Sequence::from(vec![x.clone()]).followed_by(&ours);
                a.insert(0, x.clone());
                theirs = Sequence::from(vec![x]).followed_by(&theirs);
                b.insert(0, a[0].clone());
                let at = at % a.len();
                match kind {
                    0 => {
                        theirs = theirs.with(at, y.clone());
                        b[at] = y.clone();
                    }
                    // Another tree for the same list, and the two are the same list again.
                    1 => {
                        let rest = ours.slice(at..a.len());
                        theirs = ours.slice(0..at).followed_by(&rest);
                        b = a.clone();
                    }
                    _ => {}
                }
                prop_assert_eq!(ours == theirs, a == b);
                prop_assert_eq!(theirs == ours, a == b);
                prop_assert_eq!(ours.has_part(&[], &y), Some(a.contains(&y)));
                prop_assert_eq!(theirs.has_part(&[], &y), Some(b.contains(&y)));
            }
        }
    }

    #[test]
    fn parts_of_records_are_looked_up() {
        let sort = Sort::record(
            "P",
            vec![("n".into(), Sort::Int), ("s".into(), Sort::String)],
        )
        .expect("a record");
        let of = |n: i64| Value::record(&sort, vec![n.into(), "t".into()]).expect("a value");
        let all: Sequence = (0..200).map(of).collect();
        assert_eq!(all.has_part(&[0], &Value::from(150)), Some(true));
        assert_eq!(all.has_part(&[0], &Value::from(200)), Some(false));
        assert_eq!(all.has_part(&[1], &Value::from("t")), Some(true));
        assert_eq!(all.has_part(&[1], &Value::from("u")), Some(false));
        assert_eq!(all.has_part(&[2], &Value::from(0)), None, "no such field");
        assert_eq!(all.has_part(&[], &of(7)), Some(true));
    }
}
