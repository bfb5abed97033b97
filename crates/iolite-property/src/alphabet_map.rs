//! From a system's concrete events to a property's abstract ones [PROP12, §11].
//!
//! A property speaks of `login`, the system of `?http_post(path, user)`. A map is a list of rules, each
//! a pattern for the action and a predicate on its parameters; the first rule that fits decides.

use iolite_lts::{Label, LabelId, LabelKind};

/// Which actions a rule looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionPattern {
    kind: Option<LabelKind>,
    /// The pieces between the stars.
    pieces: Vec<String>,
}

impl ActionPattern {
    /// Reads `?http_*`, `!x`, `*`, `name`: `*` stands for any text, and without `?` or `!` the
    /// kind does not matter.
    pub fn parse(text: &str) -> Self {
        let (kind, name) = match text.as_bytes().first() {
            Some(b'?') => (Some(LabelKind::Input), &text[1..]),
            Some(b'!') => (Some(LabelKind::Output), &text[1..]),
            _ => (None, text),
        };
        Self {
            kind,
            pieces: name.split('*').map(str::to_owned).collect(),
        }
    }

    /// Whether an action fits.
    pub fn fits(&self, label: &Label) -> bool {
        if self.kind.is_some_and(|k| k != label.kind) {
            return false;
        }
        let name: &str = &label.name;
        let [first, middle @ .., last] = &self.pieces[..] else {
            return name == self.pieces[0];
        };
        let Some(mut rest) = name.strip_prefix(first.as_str()) else {
            return false;
        };
        // The leftmost place for each piece leaves most room for those after it.
        for piece in middle {
            match rest.find(piece.as_str()) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
        rest.ends_with(last.as_str())
    }
}

/// A condition on an event's parameters.
pub trait Predicate<E: ?Sized>: Send + Sync {
    /// Whether the parameters meet it.
    fn holds(&self, parameters: &E) -> bool;
}

impl<E: ?Sized, F: Fn(&E) -> bool + Send + Sync> Predicate<E> for F {
    fn holds(&self, parameters: &E) -> bool {
        self(parameters)
    }
}

/// What an event is to the property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Image {
    /// This label of the property.
    Letter(LabelId),
    /// Nothing: the property does not see it.
    Unseen,
}

struct Rule<E: ?Sized> {
    pattern: ActionPattern,
    predicate: Option<Box<dyn Predicate<E>>>,
    image: Image,
}

/// A list of rules over events with parameters of type `E`.
pub struct AlphabetMap<E: ?Sized> {
    rules: Vec<Rule<E>>,
}

impl<E: ?Sized> Default for AlphabetMap<E> {
    fn default() -> Self {
        Self { rules: Vec::new() }
    }
}

impl<E: ?Sized> AlphabetMap<E> {
    /// The map without rules, under which the property sees nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule for every event whose action fits.
    #[must_use]
    pub fn rule(mut self, pattern: ActionPattern, image: Image) -> Self {
        self.rules.push(Rule {
            pattern,
            predicate: None,
            image,
        });
        self
    }

    /// Adds a rule for events whose action fits and whose parameters meet a predicate.
    #[must_use]
    pub fn rule_if(
        mut self,
        pattern: ActionPattern,
        predicate: impl Predicate<E> + 'static,
        image: Image,
    ) -> Self {
        self.rules.push(Rule {
            pattern,
            predicate: Some(Box::new(predicate)),
            image,
        });
        self
    }

    /// The image of an event; none when no rule fits, which the caller may take as an error or as
    /// unseen.
    pub fn image(&self, action: &Label, parameters: &E) -> Option<Image> {
        let fits = |r: &&Rule<E>| {
            r.pattern.fits(action) && r.predicate.as_ref().is_none_or(|p| p.holds(parameters))
        };
        self.rules.iter().find(fits).map(|r| r.image)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolite_lts::Labels;

    #[test]
    fn patterns() {
        let fits = |p: &str, l: &str| ActionPattern::parse(p).fits(&Label::parse(l));
        for (pattern, label, expected) in [
            ("?a", "?a", true),
            ("?a", "!a", false),
            ("a", "!a", true),
            ("*", "anything", true),
            ("?http_*", "?http_get", true),
            ("?http_*", "?http", false),
            ("a*b*a", "abba", true),
            ("ab*ba", "aba", false),
            ("a*a", "a", false),
            ("*x", "xyx", true),
        ] {
            assert_eq!(fits(pattern, label), expected, "{pattern} {label}");
        }
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let mut concrete = Labels::new();
        let post = concrete.intern_text("?http_post");
        let get = concrete.intern_text("?http_get");
        let mut property = Labels::new();
        let login = property.intern_text("login");
        let other = property.intern_text("other");
        let map: AlphabetMap<(&str, u32)> = AlphabetMap::new()
            .rule_if(
                ActionPattern::parse("?http_post"),
                |e: &(&str, u32)| e.0 == "/login" && e.1 > 0,
                Image::Letter(login),
            )
            .rule(ActionPattern::parse("?http_post"), Image::Letter(other))
            .rule(ActionPattern::parse("!*"), Image::Unseen);
        for (label, parameters, expected) in [
            (post, ("/login", 7), Some(Image::Letter(login))),
            (post, ("/login", 0), Some(Image::Letter(other))),
            (post, ("/logout", 7), Some(Image::Letter(other))),
            (get, ("/login", 7), None),
        ] {
            assert_eq!(map.image(concrete.label(label), &parameters), expected);
        }
    }
}
