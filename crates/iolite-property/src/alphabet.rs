//! The alphabet Σ of an r-property: some labels of a table, in a fixed order.
//!
//! Three kinds are used. In most, each letter is one action, with whatever values. Where a property has guards
//! on the values of an action, its letters are that action's cells, see [`GuardedAction`]. For formulas over
//! plain propositions (as the usual collections of LTL patterns have them) a letter is a valuation, and is
//! named by it.

use std::sync::{Arc, OnceLock};

use iolite_expr::Value;
use iolite_lts::{LabelId, LabelKind, Labels};
use thiserror::Error;

use crate::guarded_action::{EventReading, GuardedAction};

/// The position of a letter in its [`Alphabet`]: the column of the transition table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Letter(u64);

impl Letter {
    /// The letter at this position.
    pub fn new(index: usize) -> Self {
        Self(index as u64)
    }

    /// The valuation in which proposition i holds iff bit i is set.
    pub fn of_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The position as bits: of a valuation, the propositions that hold.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// The position.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Why a list of labels is no alphabet.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum AlphabetError {
    /// Σ must have a letter, else there are no infinite sequences to speak of.
    #[error("alphabet has no letter")]
    Empty,
    /// A letter twice.
    #[error("letter {0} occurs twice in the alphabet")]
    Duplicate(String),
    /// τ cannot be seen, so no property can speak of it.
    #[error("internal action {0} cannot be a letter of a property")]
    Internal(String),
    /// 2^n letters would be too many.
    #[error("{0} propositions are too many (at most {MAX_PROPOSITIONS})")]
    TooManyPropositions(usize),
}

/// A valuation is a number of 64 bits, and so is how many there are.
pub const MAX_PROPOSITIONS: usize = 63;
/// Propositions up to which tables have an entry for each valuation; beyond, rows are functions of the bits.
pub(crate) const MAX_TABLE_PROPOSITIONS: usize = 8;

const NO_COLUMN: u32 = u32::MAX;

/// The labels that letters are.
#[derive(Clone, Debug)]
struct Named {
    labels: Labels,
    letters: Vec<LabelId>,
    column: Vec<u32>,
}

/// Σ, with the labels that its letters are.
#[derive(Clone, Debug)]
pub struct Alphabet {
    len: usize,
    /// Made when they are asked for where the letters have a name by rule: valuations and numbers.
    named: OnceLock<Named>,
    propositions: Vec<String>,
    /// Actions with guards, and the letters of their cells.
    guarded: Arc<[(GuardedAction, Vec<Letter>)]>,
}

impl PartialEq for Alphabet {
    /// The same letters in the same order; other labels of the table do not count.
    fn eq(&self, other: &Self) -> bool {
        let same_rule = self.is_by_rule() && other.is_by_rule();
        self.len() == other.len()
            && self.propositions == other.propositions
            && self.guarded == other.guarded
            && (same_rule
                || self.iter().all(|l| {
                    self.labels().label(self.label(l)) == other.labels().label(other.label(l))
                }))
    }
}

impl Eq for Alphabet {}

impl Alphabet {
    /// The alphabet of these labels of a table.
    pub fn new(labels: Labels, letters: Vec<LabelId>) -> Result<Self, AlphabetError> {
        if letters.is_empty() {
            return Err(AlphabetError::Empty);
        }
        let mut column = vec![NO_COLUMN; labels.len()];
        for (i, &l) in letters.iter().enumerate() {
            if labels.kind(l) == LabelKind::Internal {
                return Err(AlphabetError::Internal(labels.text(l)));
            }
            if column[l.index()] != NO_COLUMN {
                return Err(AlphabetError::Duplicate(labels.text(l)));
            }
            column[l.index()] = u32::try_from(i).expect("fewer than 2^32 letters");
        }
        Ok(Self {
            len: letters.len(),
            named: OnceLock::from(Named {
                labels,
                letters,
                column,
            }),
            propositions: Vec::new(),
            guarded: Arc::new([]),
        })
    }

    /// So many letters, called by their numbers.
    pub(crate) fn numbers(count: usize) -> Result<Self, AlphabetError> {
        if count == 0 {
            return Err(AlphabetError::Empty);
        }
        Ok(Self {
            len: count,
            named: OnceLock::new(),
            propositions: Vec::new(),
            guarded: Arc::new([]),
        })
    }

    /// Whether the names of the letters follow from how many there are, or from the propositions.
    fn is_by_rule(&self) -> bool {
        self.named.get().is_none() || !self.propositions.is_empty()
    }

    fn named(&self) -> &Named {
        self.named.get_or_init(|| {
            let mut labels = Labels::new();
            let name = |l| labels.intern(LabelKind::Undirected, &self.name_by_rule(l));
            let letters: Vec<LabelId> = self.iter().map(name).collect();
            let mut column = vec![NO_COLUMN; labels.len()];
            for (i, l) in letters.iter().enumerate() {
                column[l.index()] = i as u32;
            }
            Named {
                labels,
                letters,
                column,
            }
        })
    }

    fn name_by_rule(&self, letter: Letter) -> String {
        if self.propositions.is_empty() {
            return letter.index().to_string();
        }
        let literal = |(i, p): (usize, &String)| {
            let sign = if letter.bits() >> i & 1 == 1 { "" } else { "!" };
            format!("{sign}{p}")
        };
        let literals: Vec<String> = self.propositions.iter().enumerate().map(literal).collect();
        literals.join("&")
    }

    /// The same alphabet, in which the letters that are named as the cells of these actions are their cells.
    #[must_use]
    pub fn with_guarded(mut self, actions: Vec<GuardedAction>) -> Self {
        let letters = |action: &GuardedAction| {
            let cells = 0..action.cells().len();
            let letter = |c| {
                let label = self.labels().get(action.kind(), &action.cell_name(c));
                label.and_then(|l| self.letter(l))
            };
            let letters: Option<Vec<Letter>> = cells.map(letter).collect();
            letters.expect("each cell is a letter")
        };
        let pairs: Vec<_> = actions.into_iter().map(|a| (letters(&a), a)).collect();
        self.guarded = pairs.into_iter().map(|(l, a)| (a, l)).collect();
        self
    }

    /// The same alphabet with the guards of another one, whose letters come first in this one.
    pub(crate) fn guarded_as(mut self, other: &Self) -> Self {
        self.guarded = Arc::clone(&other.guarded);
        self
    }

    /// The actions with guards, and the letters of their cells.
    pub fn guarded(&self) -> &[(GuardedAction, Vec<Letter>)] {
        &self.guarded
    }

    /// The guarded action that a letter is a cell of, and which.
    pub fn cell_of(&self, letter: Letter) -> Option<(&GuardedAction, usize)> {
        self.guarded.iter().find_map(|(action, letters)| {
            let cell = letters.iter().position(|&l| l == letter)?;
            Some((action, cell))
        })
    }

    /// What an action is to the property, by its text without a sigil: `reply(503)`. One without guards is its
    /// letter with whatever values.
    pub fn read(&self, kind: LabelKind, text: &str) -> EventReading {
        let (name, values) = Value::split_action(text);
        for (action, letters) in &*self.guarded {
            if action.kind() == kind && action.name() == name {
                return match action.cell(&values) {
                    Ok(cell) => EventReading::Letter(letters[cell]),
                    Err(why) => EventReading::Undefined(why),
                };
            }
        }
        let own = |name: &str| self.labels().get(kind, name).and_then(|l| self.letter(l));
        match own(text).or_else(|| own(name)) {
            Some(letter) => EventReading::Letter(letter),
            None => EventReading::Unseen,
        }
    }

    /// The alphabet of these names, in `?a`, `!x`, `delta` or plain notation.
    pub fn of_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, AlphabetError> {
        let mut labels = Labels::new();
        let letters = names.into_iter().map(|n| labels.intern_text(n)).collect();
        Self::new(labels, letters)
    }

    /// The 2^n valuations of n propositions; proposition i holds in letter l iff bit i of l's
    /// position is set.
    pub fn valuations<S: AsRef<str>>(propositions: &[S]) -> Result<Self, AlphabetError> {
        let n = propositions.len();
        if n > MAX_PROPOSITIONS {
            return Err(AlphabetError::TooManyPropositions(n));
        }
        if n == 0 {
            return Self::of_names(["true"]);
        }
        Ok(Self {
            // Where numbers have 32 bits there are fewer than that, but wide alphabets are not counted through.
            len: 1_usize.checked_shl(n as u32).unwrap_or(usize::MAX),
            named: OnceLock::new(),
            propositions: propositions.iter().map(|p| p.as_ref().to_owned()).collect(),
            guarded: Arc::new([]),
        })
    }

    /// The propositions whose valuations are the letters; none when letters are actions.
    pub fn propositions(&self) -> &[String] {
        &self.propositions
    }

    /// Whether letters are valuations of so many propositions that rows of automata are functions of them, and
    /// not tables. Such letters are never listed.
    pub fn is_wide(&self) -> bool {
        self.propositions.len() > MAX_TABLE_PROPOSITIONS
    }

    /// The table that the letters come from.
    pub fn labels(&self) -> &Labels {
        &self.named().labels
    }

    /// |Σ|.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never: an alphabet has a letter.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The letters, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Letter> + use<> {
        (0..self.len).map(Letter::new)
    }

    /// The label that a letter is.
    pub fn label(&self, letter: Letter) -> LabelId {
        self.named().letters[letter.index()]
    }

    /// The kind of a letter's label.
    pub fn kind(&self, letter: Letter) -> LabelKind {
        if self.is_by_rule() {
            return LabelKind::Undirected;
        }
        self.labels().kind(self.label(letter))
    }

    /// A letter's label in `?a`, `!x` notation.
    pub fn text(&self, letter: Letter) -> String {
        if self.is_by_rule() {
            return self.name_by_rule(letter);
        }
        self.labels().text(self.label(letter))
    }

    /// The letter that a label is, if it is one.
    #[inline]
    pub fn letter(&self, label: LabelId) -> Option<Letter> {
        self.named()
            .column
            .get(label.index())
            .copied()
            .filter(|&c| c != NO_COLUMN)
            .map(|c| Letter(u64::from(c)))
    }

    /// The letter written so, if there is one.
    pub fn letter_of_text(&self, text: &str) -> Option<Letter> {
        if !self.propositions.is_empty() {
            return self.valuation(text);
        }
        self.labels().get_text(text).and_then(|l| self.letter(l))
    }

    /// The valuation of this name, `a&!b`.
    fn valuation(&self, text: &str) -> Option<Letter> {
        let mut bits = 0_u64;
        let mut rest = text;
        for (i, p) in self.propositions.iter().enumerate() {
            if i > 0 {
                rest = rest.strip_prefix('&')?;
            }
            // A proposition may itself begin with `!`.
            if let Some(after) = rest.strip_prefix(p.as_str()) {
                bits |= 1 << i;
                rest = after;
            } else {
                rest = rest.strip_prefix('!')?.strip_prefix(p.as_str())?;
            }
        }
        rest.is_empty().then(|| Letter::of_bits(bits))
    }

    /// Reads a sequence of letters separated by blanks, `·`, `.` or commas.
    pub fn word(&self, text: &str) -> Option<Vec<Letter>> {
        text.split(|c: char| c.is_whitespace() || matches!(c, '·' | ','))
            .filter(|t| !t.is_empty())
            .map(|t| self.letter_of_text(t))
            .collect()
    }

    /// A sequence in `a·b·c` notation; ε when it is empty.
    pub fn show(&self, word: &[Letter]) -> String {
        if word.is_empty() {
            return "ε".to_owned();
        }
        word.iter()
            .map(|&l| self.text(l))
            .collect::<Vec<_>>()
            .join("·")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_keep_their_order_and_find_their_labels() {
        let sigma = Alphabet::of_names(["?a", "!b", "c"]).unwrap();
        assert_eq!(sigma.len(), 3);
        let b = sigma.letter_of_text("!b").unwrap();
        assert_eq!((b.index(), sigma.text(b)), (1, "!b".to_owned()));
        assert_eq!(sigma.letter(LabelId::DELTA), None);
        assert_eq!(sigma.show(&sigma.word("?a c").unwrap()), "?a·c");
        assert_eq!(
            Alphabet::of_names(["a", "a"]),
            Err(AlphabetError::Duplicate("a".into()))
        );
        assert_eq!(Alphabet::of_names([]), Err(AlphabetError::Empty));
        assert!(matches!(
            Alphabet::of_names(["tau"]),
            Err(AlphabetError::Internal(_))
        ));
    }

    #[test]
    fn valuations_are_numbered_by_their_bits() {
        let sigma = Alphabet::valuations(&["p", "q"]).unwrap();
        assert_eq!(sigma.text(Letter::new(2)), "!p&q");
        for l in sigma.iter() {
            assert_eq!(sigma.letter_of_text(&sigma.text(l)), Some(l));
            assert_eq!(sigma.labels().text(sigma.label(l)), sigma.text(l));
            assert_eq!(sigma.letter(sigma.label(l)), Some(l));
        }
        assert_eq!(sigma.letter_of_text("p"), None);
        assert_eq!(sigma.propositions(), ["p", "q"]);
    }
}
