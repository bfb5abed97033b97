//! The text of an action, and what is worked out once for it.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The text of an action, which all its events share: `?a`, `!x(1)`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionText(Arc<str>);

impl ActionText {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Where the text is. No other text is there as long as this one is kept.
    fn address(&self) -> usize {
        self.0.as_ptr().addr()
    }
}

impl Deref for ActionText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ActionText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<T: Into<Arc<str>>> From<T> for ActionText {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl Serialize for ActionText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ActionText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

/// Places where a [`ByAction`] looks for texts, two texts each.
const PLACES: usize = 256;

/// What is known of actions, by where their texts are, which is faster than by what they say. A text that is met again elsewhere is
/// another one here, and the third of a place drives out the first: who asks works it out again.
#[derive(Debug)]
pub(super) struct ByAction<T> {
    places: Box<[Place<T>]>,
}

type Place<T> = [Option<(ActionText, T)>; 2];

impl<T> Default for ByAction<T> {
    fn default() -> Self {
        let places = (0..PLACES).map(|_| [None, None]).collect();
        Self { places }
    }
}

impl<T> ByAction<T> {
    #[inline]
    fn place(action: &ActionText) -> usize {
        // The upper bits of a product depend on all bits of an address, of which the lowest are alike.
        let mixed = (action.address() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> (64 - PLACES.ilog2())) as usize
    }

    #[inline]
    pub(super) fn get(&self, action: &ActionText) -> Option<&T> {
        let known = self.places[Self::place(action)].iter().flatten();
        // Kept texts stay where they are, so one that is there is the same.
        let mut same = known.filter(|(text, _)| text.address() == action.address());
        same.next().map(|(_, value)| value)
    }

    pub(super) fn insert(&mut self, action: &ActionText, value: T) {
        let place = &mut self.places[Self::place(action)];
        place.swap(0, 1);
        place[0] = Some((action.clone(), value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_that_of_the_text() {
        let texts: Vec<ActionText> = (0..2000).map(|n| format!("?a{n}").into()).collect();
        let mut known = ByAction::default();
        for (n, text) in texts.iter().enumerate() {
            assert_eq!(known.get(text), None);
            known.insert(text, n);
            assert_eq!(known.get(text), Some(&n));
        }
        let kept = texts.iter().enumerate().filter_map(|(n, text)| {
            let value = known.get(text)?;
            assert_eq!(*value, n);
            Some(())
        });
        assert!((PLACES..=2 * PLACES).contains(&kept.count()));
    }

    /// A text that is gone leaves its memory to others, which must not be taken for it.
    #[test]
    fn memory_that_is_used_again_is_another_text() {
        let mut known = ByAction::default();
        for n in 0..10_000 {
            let text = ActionText::from(format!("?a{n}"));
            assert_eq!(known.get(&text), None);
            known.insert(&text, n);
        }
    }
}
