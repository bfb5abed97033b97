//! The logical view: linear temporal logic, translated to deterministic automata.
//!
//! A formula speaks of infinite sequences, so the infinitary part of its r-property is fixed. The
//! finitary part is the one that this language induces, see [`crate::finitary_part`]; formulas with the
//! same infinite sequences have the same finite ones.
//!
//! Letters are actions, one at each position, or valuations of propositions; see [`Alphabet`].
//! Past operators (`Y`, `O`, `H`, `S`) may stand anywhere, over formulas that speak of the present
//! and the past only.

mod bdd;
mod buchi;
mod core;
mod derivative;
mod determinise;
mod lasso;
mod parse;
mod past;
mod shape;
mod tableau;
mod translate;
mod wide;

pub use buchi::Step;
pub use determinise::NondeterministicBuchi;

use thiserror::Error;

use crate::alphabet::{Alphabet, AlphabetError, Letter};
use crate::structure::AutomatonError;

pub use parse::{MAX_DEPTH, MAX_SIZE};
pub use shape::Shape;
pub use translate::{Options, Route, Translation};

/// A formula of linear temporal logic with its atoms still names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ltl {
    /// Every sequence.
    True,
    /// No sequence.
    False,
    /// The first action is this one; or, over valuations, this proposition holds first.
    Atom(String),
    /// The first action is one of these.
    AnyOf(Vec<String>),
    /// Negation.
    Not(Box<Self>),
    /// All of these.
    And(Vec<Self>),
    /// One of these.
    Or(Vec<Self>),
    /// `a -> b`.
    Implies(Box<Self>, Box<Self>),
    /// `a <-> b`.
    Iff(Box<Self>, Box<Self>),
    /// `X a`: next.
    Next(Box<Self>),
    /// `F a`: eventually.
    Eventually(Box<Self>),
    /// `G a`: always.
    Always(Box<Self>),
    /// `a U b`: until.
    Until(Box<Self>, Box<Self>),
    /// `a R b`: release.
    Release(Box<Self>, Box<Self>),
    /// `a W b`: weak until.
    WeakUntil(Box<Self>, Box<Self>),
    /// `a M b`: strong release.
    StrongRelease(Box<Self>, Box<Self>),
    /// `Y a`: there is a position before this one, and a held there.
    Previous(Box<Self>),
    /// `O a`: once, here or before.
    Once(Box<Self>),
    /// `H a`: here and always before.
    Historically(Box<Self>),
    /// `a S b`: since b held, a has.
    Since(Box<Self>, Box<Self>),
}

/// Why a formula has no automaton.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LtlError {
    /// Not the text of a formula.
    #[error("{message} at byte {at} of the formula")]
    Syntax {
        /// Byte offset.
        at: usize,
        /// What is wrong.
        message: &'static str,
    },
    /// More nested than is followed.
    #[error("formula is nested deeper than {MAX_DEPTH}")]
    TooDeep,
    /// More operators and atoms than are followed.
    #[error("formula has more than {MAX_SIZE} operators")]
    TooLarge,
    /// An atom that is no action or proposition of the alphabet.
    #[error("{0} is neither an action nor a proposition of the alphabet")]
    UnknownAtom(String),
    /// A bare name that stands for several actions, such as `?log` and `!log`.
    #[error("{0} is ambiguous, write it with ? or !")]
    AmbiguousAtom(String),
    /// Past operators over future ones would have to guess.
    #[error("a past operator stands over a future one")]
    FutureInPast,
    /// More past operators than can be followed at once.
    #[error("too many past operators")]
    TooManyPast,
    /// No alphabet from its propositions.
    #[error(transparent)]
    Alphabet(#[from] AlphabetError),
    /// The automaton would be too large.
    #[error(transparent)]
    Automaton(#[from] AutomatonError),
}

impl LtlError {
    /// Whether a bound was met, so that nothing is known of the formula; else it is wrong.
    pub fn is_bound(&self) -> bool {
        match self {
            Self::Automaton(e) => e.is_bound(),
            Self::Alphabet(e) => matches!(e, AlphabetError::TooManyPropositions(_)),
            Self::TooManyPast => true,
            _ => false,
        }
    }
}

impl Ltl {
    /// Weak yesterday: true in the first step, else what was true in the step before.
    pub fn weak_previous(inner: Box<Self>) -> Self {
        Self::Not(Box::new(Self::Previous(Box::new(Self::Not(inner)))))
    }

    /// Trigger, the dual of since: the second has held since the first did, the step of the first
    /// included, or always so far.
    pub fn trigger(left: Box<Self>, right: Box<Self>) -> Self {
        let (left, right) = (Self::Not(left), Self::Not(right));
        Self::Not(Box::new(Self::Since(Box::new(left), Box::new(right))))
    }

    /// Reads a formula over the letters or propositions of an alphabet.
    ///
    /// `! & | -> <-> X F G U R W M true false`, with Spot's other spellings `&& || [] <> => <=>`;
    /// atoms are names, `?a`, `!x`, `"any text"`, or sets `{?a, !x}`. `!log` is the output `log`
    /// when the alphabet has it, else the negation of `log`; `! log` is always the negation. A word that
    /// is no name of the alphabet and begins with F, G or X is read as that operator first. The past
    /// operators Y, Z, O, H, S and T stand alone. An action may have names for its parameters and a guard,
    /// `!reply(code) [code >= 500]`; see [`Ltl::guarded_atoms`].
    pub fn parse(text: &str, alphabet: &Alphabet) -> Result<Self, LtlError> {
        let formula = parse::parse(text, &|name| resolves(alphabet, name))?;
        formula.check(alphabet)?;
        Ok(formula)
    }

    /// Reads a formula over plain propositions, and the alphabet of their valuations; propositions
    /// in alphabetical order.
    pub fn parse_propositional(text: &str) -> Result<(Self, Alphabet), LtlError> {
        let formula = parse::parse(text, &|_| false)?;
        let mut names = formula.atoms();
        names.sort();
        let alphabet = Alphabet::valuations(&names)?;
        Ok((formula, alphabet))
    }

    /// The atoms, in order of appearance, each once.
    pub fn atoms(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut todo = vec![self];
        while let Some(f) = todo.pop() {
            let names = match f {
                Self::Atom(name) => std::slice::from_ref(name),
                Self::AnyOf(names) => names,
                _ => &[],
            };
            for name in names {
                if !found.contains(name) {
                    found.push(name.clone());
                }
            }
            todo.extend(f.operands().into_iter().rev());
        }
        found
    }

    /// The atoms with guards, `!reply(code) [code >= 500]`, each once.
    pub fn guarded_atoms(&self) -> Vec<String> {
        let guarded = |a: &String| parse::split_guarded(a).is_some();
        self.atoms().into_iter().filter(guarded).collect()
    }

    /// The formula in which an atom is replaced by the letters that it stands for, where `letters` knows it.
    #[must_use]
    pub fn with_letters(&self, letters: &dyn Fn(&str) -> Option<Vec<String>>) -> Self {
        let one = |a: &Self| Box::new(a.with_letters(letters));
        let all = |list: &[Self]| list.iter().map(|a| a.with_letters(letters)).collect();
        let known = |name: &String| letters(name).unwrap_or_else(|| vec![name.clone()]);
        match self {
            Self::True => Self::True,
            Self::False => Self::False,
            Self::Atom(name) => match letters(name) {
                None => self.clone(),
                Some(none) if none.is_empty() => Self::False,
                Some(several) => Self::AnyOf(several),
            },
            Self::AnyOf(names) => {
                let names: Vec<String> = names.iter().flat_map(known).collect();
                if names.is_empty() {
                    Self::False
                } else {
                    Self::AnyOf(names)
                }
            }
            Self::Not(a) => Self::Not(one(a)),
            Self::And(list) => Self::And(all(list)),
            Self::Or(list) => Self::Or(all(list)),
            Self::Implies(a, b) => Self::Implies(one(a), one(b)),
            Self::Iff(a, b) => Self::Iff(one(a), one(b)),
            Self::Next(a) => Self::Next(one(a)),
            Self::Eventually(a) => Self::Eventually(one(a)),
            Self::Always(a) => Self::Always(one(a)),
            Self::Until(a, b) => Self::Until(one(a), one(b)),
            Self::Release(a, b) => Self::Release(one(a), one(b)),
            Self::WeakUntil(a, b) => Self::WeakUntil(one(a), one(b)),
            Self::StrongRelease(a, b) => Self::StrongRelease(one(a), one(b)),
            Self::Previous(a) => Self::Previous(one(a)),
            Self::Once(a) => Self::Once(one(a)),
            Self::Historically(a) => Self::Historically(one(a)),
            Self::Since(a, b) => Self::Since(one(a), one(b)),
        }
    }

    /// Formulas can be built without the parser, so its limits are checked again.
    fn check_size(&self) -> Result<(), LtlError> {
        let (mut count, mut todo) = (0, vec![(self, 0)]);
        while let Some((f, depth)) = todo.pop() {
            count += 1;
            if count > MAX_SIZE {
                return Err(LtlError::TooLarge);
            }
            // The parser counts several levels for one operator.
            if depth > MAX_DEPTH {
                return Err(LtlError::TooDeep);
            }
            todo.extend(f.operands().into_iter().map(|g| (g, depth + 1)));
        }
        Ok(())
    }

    fn operands(&self) -> Vec<&Self> {
        match self {
            Self::True | Self::False | Self::Atom(_) | Self::AnyOf(_) => Vec::new(),
            Self::And(fs) | Self::Or(fs) => fs.iter().collect(),
            Self::Not(a)
            | Self::Next(a)
            | Self::Eventually(a)
            | Self::Always(a)
            | Self::Previous(a)
            | Self::Once(a)
            | Self::Historically(a) => vec![a],
            Self::Implies(a, b)
            | Self::Iff(a, b)
            | Self::Until(a, b)
            | Self::Release(a, b)
            | Self::WeakUntil(a, b)
            | Self::StrongRelease(a, b)
            | Self::Since(a, b) => vec![a, b],
        }
    }

    fn is_past(&self) -> bool {
        matches!(
            self,
            Self::Previous(_) | Self::Once(_) | Self::Historically(_) | Self::Since(..)
        )
    }

    fn is_future(&self) -> bool {
        matches!(
            self,
            Self::Next(_)
                | Self::Eventually(_)
                | Self::Always(_)
                | Self::Until(..)
                | Self::Release(..)
                | Self::WeakUntil(..)
                | Self::StrongRelease(..)
        )
    }

    fn check(&self, alphabet: &Alphabet) -> Result<(), LtlError> {
        // Guards are looked at by whoever makes letters of them.
        let known = |a: &String| match (letters(alphabet, a), parse::split_guarded(a)) {
            (Err(_), Some((action, _))) => letters(alphabet, action).map(|_| ()),
            (found, _) => found.map(|_| ()),
        };
        self.atoms().iter().try_for_each(known)
    }
}

fn resolves(alphabet: &Alphabet, name: &str) -> bool {
    letters(alphabet, name).is_ok()
}

/// The letters in which an atom holds.
#[derive(Clone, Debug)]
pub(crate) enum LetterSet {
    /// The valuations in which this proposition holds.
    Proposition(usize),
    /// By position.
    Listed(Vec<bool>),
}

impl LetterSet {
    pub(crate) fn has(&self, letter: Letter) -> bool {
        match self {
            Self::Proposition(i) => letter.bits() >> i & 1 == 1,
            Self::Listed(holds) => holds[letter.index()],
        }
    }
}

/// The letters in which an atom holds.
pub(crate) fn letters(alphabet: &Alphabet, atom: &str) -> Result<LetterSet, LtlError> {
    let unknown = || LtlError::UnknownAtom(atom.to_owned());
    if let Some(i) = alphabet.propositions().iter().position(|p| p == atom) {
        if alphabet.is_wide() {
            return Ok(LetterSet::Proposition(i));
        }
        let holds = |l: Letter| l.bits() >> i & 1 == 1;
        return Ok(LetterSet::Listed(alphabet.iter().map(holds).collect()));
    }
    if alphabet.is_wide() {
        return Err(unknown());
    }
    if let Some(letter) = alphabet.letter_of_text(atom) {
        let listed = alphabet.iter().map(|l| l == letter).collect();
        return Ok(LetterSet::Listed(listed));
    }
    if !alphabet.propositions().is_empty() {
        return Err(unknown());
    }
    // A bare name may leave ? or ! away.
    let named: Vec<bool> = alphabet
        .iter()
        .map(|l| &*alphabet.labels().label(alphabet.label(l)).name == atom)
        .collect();
    match named.iter().filter(|&&n| n).count() {
        0 => Err(unknown()),
        1 => Ok(LetterSet::Listed(named)),
        _ => Err(LtlError::AmbiguousAtom(atom.to_owned())),
    }
}
