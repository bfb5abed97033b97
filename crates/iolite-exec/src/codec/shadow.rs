//! Templates that can never match, because another one takes all of their messages first.
//!
//! Templates of outputs are tried in the order of the actions' names. Where every message that one of
//! them reads is read by an earlier one too, the later action is never observed. That is inclusion of
//! two regular languages. The later template is taken for more than it reads and the earlier one for
//! less where a hole is not exactly a regular language of characters, so what is said is sure, and not
//! all that is true is said.

use std::collections::{BTreeSet, VecDeque};

use super::template::Part;
use super::{ActionMap, ActionRule, HoleKind, Template};

/// Pairs of positions that are looked at; beyond them nothing is said.
const PAIRS: usize = 4_000;

/// Positions of one template.
const POSITIONS: usize = 2_000;

/// A character, or behind all of them a byte that belongs to none.
type Symbol = u32;

const BYTES: Symbol = 0x11_0000;

/// A character that no literal has.
const OTHER: Symbol = 0x10_FFFF;

#[derive(Clone, Copy, Debug)]
enum Class {
    One(Symbol),
    /// Every character: text.
    Character,
    NoSpace,
    NoDot,
    Digit,
    HexDigit,
    /// One byte: an ASCII character, or a byte that belongs to none.
    Byte,
    Everything,
}

impl Class {
    fn has(self, symbol: Symbol) -> bool {
        let is = |test: fn(&u8) -> bool| u8::try_from(symbol).is_ok_and(|b| test(&b));
        match self {
            Self::One(one) => one == symbol,
            Self::Character => symbol < BYTES,
            Self::NoSpace => symbol < BYTES && !is(u8::is_ascii_whitespace),
            Self::NoDot => symbol < BYTES && symbol != u32::from('.'),
            Self::Digit => is(u8::is_ascii_digit),
            Self::HexDigit => is(u8::is_ascii_hexdigit),
            Self::Byte => !(128..BYTES).contains(&symbol),
            Self::Everything => true,
        }
    }
}

/// The symbols of a literal.
fn symbols(bytes: &[u8]) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    for chunk in bytes.utf8_chunks() {
        symbols.extend(chunk.valid().chars().map(Symbol::from));
        symbols.extend(chunk.invalid().iter().map(|b| BYTES + Symbol::from(*b)));
    }
    symbols
}

/// Whether a hole may be taken for more, or for less, than it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Approximation {
    More,
    Less,
}

/// An automaton over symbols, whose last position accepts.
#[derive(Debug, Default)]
struct Automaton {
    steps: Vec<Vec<(Class, usize)>>,
    silent: Vec<Vec<usize>>,
}

impl Automaton {
    /// The messages of a template; `None` for one with too many positions.
    fn of(template: &Template, approximation: Approximation) -> Option<Self> {
        let mut automaton = Self::default();
        automaton.position();
        let parts = template.parts();
        for (i, part) in parts.iter().enumerate() {
            match part {
                Part::Literal(bytes) => {
                    for symbol in symbols(bytes) {
                        automaton.one(Class::One(symbol));
                    }
                }
                Part::Hole {
                    slot: None,
                    kind: HoleKind::Any,
                } => automaton.any_number(Class::Everything),
                Part::Hole { kind, .. } => {
                    automaton.hole(kind, parts.get(i + 1), approximation);
                }
            }
            if automaton.steps.len() > POSITIONS {
                return None;
            }
        }
        Some(automaton)
    }

    fn position(&mut self) -> usize {
        self.steps.push(Vec::new());
        self.silent.push(Vec::new());
        self.steps.len() - 1
    }

    fn last(&self) -> usize {
        self.steps.len() - 1
    }

    fn one(&mut self, class: Class) {
        let from = self.last();
        let to = self.position();
        self.steps[from].push((class, to));
    }

    fn any_number(&mut self, class: Class) {
        let from = self.last();
        self.steps[from].push((class, from));
        // What follows begins at a position of its own.
        let to = self.position();
        self.silent[from].push(to);
    }

    fn words(&mut self, words: [&str; 2]) {
        let from = self.last();
        let mut ends = Vec::new();
        for word in words {
            let mut at = from;
            for symbol in word.chars() {
                let to = self.position();
                self.steps[at].push((Class::One(symbol.into()), to));
                at = to;
            }
            ends.push(at);
        }
        let to = self.position();
        for end in ends {
            self.silent[end].push(to);
        }
    }

    fn hole(&mut self, kind: &HoleKind, next: Option<&Part>, approximation: Approximation) {
        let less = approximation == Approximation::Less;
        match kind {
            HoleKind::Any | HoleKind::Text => self.any_number(Class::Character),
            HoleKind::Word => {
                self.one(Class::NoSpace);
                self.any_number(Class::NoSpace);
            }
            // It takes all digits that are there, so a digit behind it is never met.
            HoleKind::Int
                if less
                    && match next {
                        None => false,
                        Some(Part::Literal(l)) => l.first().is_some_and(u8::is_ascii_digit),
                        Some(Part::Hole { .. }) => true,
                    } =>
            {
                self.position();
            }
            HoleKind::Int => {
                let from = self.last();
                self.one(Class::One('-'.into()));
                let digits = self.last();
                self.silent[from].push(digits);
                self.one(Class::Digit);
                self.any_number(Class::Digit);
            }
            HoleKind::Bool => self.words(["true", "false"]),
            HoleKind::CapitalBool => self.words(["True", "False"]),
            HoleKind::Hex => {
                let from = self.last();
                self.one(Class::HexDigit);
                let odd = self.last();
                self.steps[odd].push((Class::HexDigit, from));
                let to = self.position();
                self.silent[from].push(to);
            }
            HoleKind::DotLines if less => self.any_number(Class::NoDot),
            HoleKind::Binary { width, .. } if less => {
                for _ in 0..*width {
                    self.one(Class::Byte);
                }
            }
            HoleKind::Binary { .. } => self.any_number(Class::Everything),
            // Nothing is known for sure of what they read.
            HoleKind::Json | HoleKind::Regex(_) if less => {
                self.position();
            }
            HoleKind::Json | HoleKind::Regex(_) | HoleKind::DotLines => {
                self.any_number(Class::Character);
            }
        }
    }

    fn closure(&self, mut positions: BTreeSet<usize>) -> BTreeSet<usize> {
        let mut todo: Vec<usize> = positions.iter().copied().collect();
        while let Some(at) = todo.pop() {
            for &to in &self.silent[at] {
                if positions.insert(to) {
                    todo.push(to);
                }
            }
        }
        positions
    }

    fn after(&self, positions: &BTreeSet<usize>, symbol: Symbol) -> BTreeSet<usize> {
        let steps = positions.iter().flat_map(|&at| &self.steps[at]);
        let targets = steps.filter(|(class, _)| class.has(symbol));
        self.closure(targets.map(|&(_, to)| to).collect())
    }

    fn literals(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.steps
            .iter()
            .flatten()
            .filter_map(|(class, _)| match class {
                Class::One(symbol) => Some(*symbol),
                _ => None,
            })
    }
}

/// Whether surely every message that `later` reads is read by `earlier`.
fn takes_all(earlier: &Template, later: &Template) -> bool {
    // Holes that must agree make a language that is not regular.
    if earlier.repeats() {
        return false;
    }
    let (Some(some), Some(all)) = (
        Automaton::of(earlier, Approximation::Less),
        Automaton::of(later, Approximation::More),
    ) else {
        return false;
    };
    let mut alphabet: BTreeSet<Symbol> = (0..128).chain([OTHER, BYTES + 255]).collect();
    alphabet.extend(some.literals().chain(all.literals()));
    let start = (all.closure([0].into()), some.closure([0].into()));
    let mut seen = BTreeSet::from([start.clone()]);
    let mut todo = VecDeque::from([start]);
    while let Some((in_all, in_some)) = todo.pop_front() {
        if in_all.contains(&all.last()) && !in_some.contains(&some.last()) {
            return false;
        }
        for &symbol in &alphabet {
            let next = all.after(&in_all, symbol);
            if next.is_empty() {
                continue;
            }
            let pair = (next, some.after(&in_some, symbol));
            // Nothing is read here by the earlier one whatever follows, and something may be by the later.
            if pair.1.is_empty() {
                return false;
            }
            if seen.len() > PAIRS {
                return false;
            }
            if seen.insert(pair.clone()) {
                todo.push_back(pair);
            }
        }
    }
    true
}

/// An action whose messages another one takes first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shadow {
    /// The action that is never observed.
    pub hidden: String,
    /// The action that is observed in its place.
    pub by: String,
}

impl ActionMap {
    /// Actions that are surely never observed, because another one reads all of their messages: one with an earlier name, or any one with a
    /// template where they are among `outputs` and have none, since their notation is read where no template fits.
    /// `takes` says that an action of the model has so many parameters, and whatever values
    /// these holes read for them: a message that does not fit the model is left to the next template.
    pub fn shadows(
        &self,
        outputs: impl Iterator<Item = String>,
        takes: impl Fn(&str, usize, &[(usize, &HoleKind)]) -> bool,
    ) -> Vec<Shadow> {
        let rules: Vec<(&str, &ActionRule, &Template)> = self
            .rules()
            .filter_map(|(name, rule)| Some((name, rule, rule.recv.as_ref()?)))
            .collect();
        let takes_first = |earlier: &(&str, &ActionRule, &Template), later: &Template| {
            let (by, rule, earlier) = earlier;
            rule.parts.is_empty()
                && earlier
                    .holes_of_params()
                    .is_some_and(|holes| takes(by, earlier.params().len(), &holes))
                && takes_all(earlier, later)
        };
        let mut shadows = Vec::new();
        for hidden in outputs.filter(|name| rules.iter().all(|(ruled, ..)| ruled != name)) {
            // Whether it has values is not known here. Its notation comes on any channel.
            let notation = [hidden.clone(), format!("{hidden}({{_}})")];
            let Ok(notation) = notation
                .map(|text| Template::parse(&text))
                .into_iter()
                .collect()
            else {
                continue;
            };
            let notation: Vec<Template> = notation;
            let by = rules.iter().find(|earlier| {
                let any_channel = earlier.1.channel.is_none();
                any_channel && notation.iter().all(|later| takes_first(earlier, later))
            });
            if let Some((by, ..)) = by {
                shadows.push(Shadow {
                    hidden,
                    by: (*by).to_owned(),
                });
            }
        }
        for (i, (hidden, rule, later)) in rules.iter().enumerate() {
            let by = rules[..i].iter().find(|earlier| {
                let channel = earlier.1.channel;
                (channel.is_none() || channel == rule.channel) && takes_first(earlier, later)
            });
            if let Some((by, ..)) = by {
                shadows.push(Shadow {
                    hidden: (*hidden).to_owned(),
                    by: (*by).to_owned(),
                });
            }
        }
        shadows
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn template(text: &str) -> Template {
        Template::parse(text).unwrap()
    }

    #[test]
    fn inclusion_is_decided() {
        for (earlier, later, want) in [
            ("${s}", "$-1", true),
            ("$-1", "${s}", false),
            ("${n:int}", "$-1", true),
            ("${n:int}\n{s}", "$-1", false),
            ("{_}", "ERR {n:int}", true),
            ("{_}", "", true),
            ("{_}", "{0xff}{s}", true),
            ("{s}", "a{_}", false),
            ("{w:word}", "", false),
            ("{w:word}", "a b", false),
            ("{w:word}", "ä{n:int}", true),
            ("{x:hex}", "00{n:u8}", false),
            ("{x:hex}", "0a{y:hex}FF", true),
            ("{b:bool}", "true", true),
            ("{b:bool}", "{c:bool}", true),
            ("{n:int}", "{c:bool}", false),
            ("{n:int}5", "15", false),
            ("{n:int}{m:int}", "15", false),
            ("{s}", "{0xff}", false),
            ("{n:u8}", "{0xff}", true),
            ("{n:u16be}", "ab", true),
            ("{n:u16be}", "é", false),
            ("{_:/[a-z]+/}", "abc", false),
            ("OK {_}", "OK {_:/[a-z]+/}", true),
            ("OK {_}", "OK {v:json}", true),
            ("{v:json}", "1", false),
            ("{s:dot-lines}", "a\nb", true),
            ("{s:dot-lines}", ".", false),
            ("{x}-{x}", "1-1", false),
            ("{_}-{_}", "{n:int}-x", true),
            ("2{_}", "2{_}", true),
            ("200 {_}", "{_:/2../} {_}", false),
        ] {
            assert_eq!(
                takes_all(&template(earlier), &template(later)),
                want,
                "{earlier} {later}"
            );
        }
        let long = template(&"x".repeat(3000));
        assert!(!takes_all(&template("{_}"), &long));
    }

    fn part() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "1",
            "-",
            "a",
            " ",
            ".",
            "true",
            "{0xc3}",
            "é",
            "{_}",
            "{_:int}",
            "{_:word}",
            "{_:bool}",
            "{_:hex}",
            "{_:u8}",
            "{_:json}",
            "{_:/[1a]*/}",
            "{_:dot-lines}",
        ])
    }

    fn text() -> impl Strategy<Value = String> {
        prop::collection::vec(part(), 0..4).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        /// What is said to be taken first is: every message that the later template reads is read by the
        /// earlier one.
        #[test]
        fn shadows_are_real(
            earlier in text(),
            later in text(),
            messages in prop::collection::vec(
                prop::collection::vec(
                    prop::sample::select(vec![
                        &b"1"[..], b"-", b"a", b" ", b".", b"true", b"\xc3", b"\xa9", b"\n", b"\"",
                    ]),
                    0..6,
                ),
                40,
            ),
        ) {
            let (earlier, later) = (template(&earlier), template(&later));
            prop_assume!(earlier.check_readable().is_ok() && later.check_readable().is_ok());
            if takes_all(&earlier, &later) {
                for message in messages.iter().map(|parts| parts.concat()) {
                    prop_assert!(
                        later.read(&message).is_err() || earlier.read(&message).is_ok(),
                        "{message:?}"
                    );
                }
            }
        }
    }
}
