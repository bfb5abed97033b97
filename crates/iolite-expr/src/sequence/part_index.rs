//! Where one part of the elements of an array can be looked up, for `exists x in a: x.id == n`.

use super::{Leaf, Node, Shape, hash_of};
use crate::Value;

/// Words of the filter of a branch. More than a few thousand elements below it fill the filter, and then
/// the branches further down tell where to look.
const WORDS: usize = 64;

/// The hashes of one part of all items of a leaf, in order.
pub(super) struct PartIndex {
    path: Box<[u32]>,
    hashes: Box<[u64]>,
}

/// For one part of all elements below a branch, the bits that their hashes set. A bit that is not set says
/// that no element has such a part; one that is set says nothing.
pub(super) struct PartFilter {
    path: Box<[u32]>,
    bits: Box<[u64; WORDS]>,
}

fn place(hash: u64) -> (usize, u64) {
    // The upper bits of these hashes are the good ones.
    let bit = (hash >> (64 - 12)) as usize;
    (bit / 64, 1 << (bit % 64))
}

/// The part of a record that the fields lead to.
pub(crate) fn part<'a>(item: &'a Value, path: &[u32]) -> Option<&'a Value> {
    path.iter().try_fold(item, |item, &i| match item {
        Value::Record(_, fields) => fields.get(i as usize),
        _ => None,
    })
}

impl Leaf {
    /// The hashes of a part of the items; `None` where an item has no such part, or where another part
    /// was asked for first.
    fn index(&self, path: &[u32]) -> Option<&PartIndex> {
        if self.parts.get().is_none() {
            let hashes = self.items.iter().map(|item| part(item, path).map(hash_of));
            let mut hashes: Box<[u64]> = hashes.collect::<Option<_>>()?;
            hashes.sort_unstable();
            let path = path.into();
            let _ = self.parts.set(PartIndex { path, hashes });
        }
        self.parts.get().filter(|index| *index.path == *path)
    }

    /// Whether the part of some item is the value; `None` where an item has no such part.
    fn has_part(&self, path: &[u32], value: &Value, hash: u64) -> Option<bool> {
        let index = self.index(path);
        if index.is_some_and(|index| index.hashes.binary_search(&hash).is_err()) {
            return Some(false);
        }
        for item in &self.items {
            if part(item, path)? == value {
                return Some(true);
            }
        }
        Some(false)
    }
}

impl Node {
    /// Whether the part of some element is the value; `None` where an element has no such part.
    pub(super) fn has_part(&self, path: &[u32], value: &Value, hash: u64) -> Option<bool> {
        match &self.shape {
            Shape::Leaf(leaf) => leaf.has_part(path, value, hash),
            Shape::Branch(branch) => {
                let (word, bit) = place(hash);
                if self.filter(path).is_some_and(|f| f.bits[word] & bit == 0) {
                    return Some(false);
                }
                let left = branch.left.has_part(path, value, hash)?;
                Some(left || branch.right.has_part(path, value, hash)?)
            }
        }
    }

    /// The filter of a branch, made of those below it the first time that it is asked for.
    fn filter(&self, path: &[u32]) -> Option<&PartFilter> {
        let Shape::Branch(branch) = &self.shape else {
            return None;
        };
        if branch.parts.get().is_none() {
            let mut bits = Box::new([0; WORDS]);
            for side in [&branch.left, &branch.right] {
                side.mark(path, &mut bits)?;
            }
            let path = path.into();
            let _ = branch.parts.set(PartFilter { path, bits });
        }
        branch.parts.get().filter(|filter| *filter.path == *path)
    }

    fn mark(&self, path: &[u32], bits: &mut [u64; WORDS]) -> Option<()> {
        if let Shape::Leaf(leaf) = &self.shape {
            for &hash in &leaf.index(path)?.hashes {
                let (word, bit) = place(hash);
                bits[word] |= bit;
            }
        } else {
            let below = self.filter(path)?;
            for (word, more) in bits.iter_mut().zip(below.bits.iter()) {
                *word |= more;
            }
        }
        Some(())
    }
}
