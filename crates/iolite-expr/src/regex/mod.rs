//! Regular expressions over Unicode scalar values, by Brzozowski derivatives.
//!
//! Evaluation, the embedded solver and the SMT-LIB printer all read this one syntax tree, so that
//! a string that the solver invents for `matches` cannot be refused by the evaluation of the same
//! guard. Derivatives also give intersection and complement for free, which backtracking or
//! byte-automaton engines do not. A match is always of the whole string.

mod language;
mod parse;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

pub(crate) use language::{Language, readable};
pub use parse::RegexError;

/// States that the matching automaton may have before matching falls back to derivatives.
const DFA_STATES: usize = 1_000;

/// A regular expression with its source text.
#[derive(Clone)]
pub struct Regex {
    source: Arc<str>,
    re: Re,
    dfa: Arc<OnceLock<Option<Language>>>,
}

impl Regex {
    /// Reads the usual syntax: `.`, `[a-z]`, `[^…]`, `\d \w \s`, `|`, `* + ?`, `{n,m}`, groups.
    /// `^` and `$` are allowed at the very ends, where they say what is true anyway.
    pub fn parse(source: &str) -> Result<Self, RegexError> {
        let re = parse::parse(source)?;
        Ok(Self {
            source: source.into(),
            re,
            dfa: Arc::default(),
        })
    }

    /// Whether the whole text matches.
    pub fn is_match(&self, text: &str) -> bool {
        if let Some(dfa) = self.language() {
            dfa.accepts(text)
        } else {
            let mut re = self.re.clone();
            for c in text.chars() {
                re = re.derivative(c as u32);
            }
            re.nullable()
        }
    }

    /// The whole automaton, unless it has too many states.
    pub(crate) fn language(&self) -> Option<&Language> {
        let dfa = self.dfa.get_or_init(|| {
            let mut language = Language::new(self.re.clone(), DFA_STATES);
            language.explore_all().then_some(language)
        });
        dfa.as_ref()
    }

    /// The text it was read from.
    pub fn source(&self) -> &str {
        &self.source
    }

    pub(crate) fn re(&self) -> &Re {
        &self.re
    }
}

impl PartialEq for Regex {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Regex {}

impl Hash for Regex {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.source.hash(state);
    }
}

impl PartialOrd for Regex {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Regex {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.source.cmp(&other.source)
    }
}

impl fmt::Debug for Regex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/", self.source)
    }
}

/// A regular expression's tree, kept in the normal form of its constructors.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Re(Arc<ReNode>);

#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum ReNode {
    /// One character out of sorted, disjoint, non-adjacent ranges; none at all is ∅.
    Class(Vec<(u32, u32)>),
    /// In this order; the empty sequence is ε.
    Concat(Vec<Re>),
    Alt(Vec<Re>),
    Inter(Vec<Re>),
    Not(Re),
    /// `min` to `max` times, `None` for any number.
    Loop(Re, u32, Option<u32>),
}

/// The greatest scalar value.
pub(crate) const MAX_CHAR: u32 = 0x10_FFFF;

impl Re {
    pub(crate) fn node(&self) -> &ReNode {
        &self.0
    }

    pub(crate) fn class(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.retain(|(lo, hi)| lo <= hi);
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::new();
        for (lo, hi) in ranges {
            match merged.last_mut() {
                Some((_, end)) if lo <= end.saturating_add(1) => *end = (*end).max(hi),
                _ => merged.push((lo, hi)),
            }
        }
        Self(Arc::new(ReNode::Class(merged)))
    }

    /// Every scalar value that is in none of the ranges.
    pub(crate) fn negated_class(ranges: &[(u32, u32)]) -> Self {
        let Self(node) = Self::class(ranges.to_vec());
        let ReNode::Class(ranges) = &*node else {
            return Self::empty();
        };
        let (mut out, mut next) = (Vec::new(), 0);
        for &(lo, hi) in ranges {
            if lo > next {
                out.push((next, lo - 1));
            }
            next = hi + 1;
        }
        out.push((next, MAX_CHAR));
        Self::class(out)
    }

    pub(crate) fn empty() -> Self {
        Self(Arc::new(ReNode::Class(Vec::new())))
    }

    pub(crate) fn epsilon() -> Self {
        Self(Arc::new(ReNode::Concat(Vec::new())))
    }

    pub(crate) fn any_char() -> Self {
        Self::class(vec![(0, MAX_CHAR)])
    }

    /// Every string.
    pub(crate) fn all() -> Self {
        Self::any_char().repeat(0, None)
    }

    pub(crate) fn literal(text: &str) -> Self {
        Self::concat(
            text.chars()
                .map(|c| Self::class(vec![(c as u32, c as u32)]))
                .collect(),
        )
    }

    fn is_empty_class(&self) -> bool {
        matches!(self.node(), ReNode::Class(r) if r.is_empty())
    }

    fn is_all(&self) -> bool {
        match self.node() {
            ReNode::Loop(r, 0, None) => {
                matches!(r.node(), ReNode::Class(c) if c.as_slice() == [(0, MAX_CHAR)])
            }
            _ => false,
        }
    }

    pub(crate) fn concat(parts: Vec<Self>) -> Self {
        let mut flat = Vec::with_capacity(parts.len());
        for p in parts {
            match p.node() {
                ReNode::Concat(inner) => flat.extend(inner.iter().cloned()),
                _ => flat.push(p),
            }
        }
        if flat.iter().any(Self::is_empty_class) {
            return Self::empty();
        }
        if flat.len() == 1 {
            return flat.remove(0);
        }
        Self(Arc::new(ReNode::Concat(flat)))
    }

    pub(crate) fn alt(parts: Vec<Self>) -> Self {
        let mut flat = Vec::new();
        let mut classes = Vec::new();
        for p in parts {
            match p.node() {
                ReNode::Alt(inner) => {
                    for q in inner {
                        match q.node() {
                            ReNode::Class(c) => classes.extend_from_slice(c),
                            _ => flat.push(q.clone()),
                        }
                    }
                }
                ReNode::Class(c) => classes.extend_from_slice(c),
                _ => flat.push(p),
            }
        }
        if flat.iter().any(Self::is_all) {
            return Self::all();
        }
        if !classes.is_empty() {
            flat.push(Self::class(classes));
        }
        flat.sort();
        flat.dedup();
        match flat.len() {
            0 => Self::empty(),
            1 => flat.remove(0),
            _ => Self(Arc::new(ReNode::Alt(flat))),
        }
    }

    pub(crate) fn inter(parts: Vec<Self>) -> Self {
        let mut flat = Vec::new();
        for p in parts {
            match p.node() {
                ReNode::Inter(inner) => flat.extend(inner.iter().cloned()),
                _ => flat.push(p),
            }
        }
        if flat.iter().any(Self::is_empty_class) {
            return Self::empty();
        }
        flat.retain(|p| !p.is_all());
        flat.sort();
        flat.dedup();
        match flat.len() {
            0 => Self::all(),
            1 => flat.remove(0),
            _ => Self(Arc::new(ReNode::Inter(flat))),
        }
    }

    pub(crate) fn complement(&self) -> Self {
        match self.node() {
            ReNode::Not(inner) => inner.clone(),
            _ if self.is_empty_class() => Self::all(),
            _ if self.is_all() => Self::empty(),
            _ => Self(Arc::new(ReNode::Not(self.clone()))),
        }
    }

    pub(crate) fn repeat(&self, min: u32, max: Option<u32>) -> Self {
        if max == Some(0) {
            return Self::epsilon();
        }
        if self.is_empty_class() {
            return if min == 0 {
                Self::epsilon()
            } else {
                Self::empty()
            };
        }
        if matches!(self.node(), ReNode::Concat(v) if v.is_empty()) {
            return Self::epsilon();
        }
        if (min, max) == (1, Some(1)) {
            return self.clone();
        }
        if let ReNode::Loop(_, 0, None) = self.node() {
            return self.clone();
        }
        // A nullable body makes the lower bound void; the derivative below relies on it.
        let min = if self.nullable() { 0 } else { min };
        Self(Arc::new(ReNode::Loop(self.clone(), min, max)))
    }

    /// The words read backwards.
    fn reversed(&self) -> Self {
        let all = |v: &[Self]| v.iter().map(Self::reversed).collect::<Vec<_>>();
        match self.node() {
            ReNode::Class(_) => self.clone(),
            ReNode::Concat(v) => {
                let mut parts = all(v);
                parts.reverse();
                Self::concat(parts)
            }
            ReNode::Alt(v) => Self::alt(all(v)),
            ReNode::Inter(v) => Self::inter(all(v)),
            ReNode::Not(r) => r.reversed().complement(),
            ReNode::Loop(r, min, max) => r.reversed().repeat(*min, *max),
        }
    }

    /// The words w such that before·w·after is in the language.
    pub(crate) fn between(&self, before: &str, after: &str) -> Self {
        let begun = before
            .chars()
            .fold(self.clone(), |re, c| re.derivative(c as u32));
        if after.is_empty() {
            return begun;
        }
        let ended = after
            .chars()
            .rev()
            .fold(begun.reversed(), |re, c| re.derivative(c as u32));
        ended.reversed()
    }

    /// Nodes, shared ones counted each time.
    pub(crate) fn size(&self) -> usize {
        match self.node() {
            ReNode::Class(_) => 1,
            ReNode::Concat(v) | ReNode::Alt(v) | ReNode::Inter(v) => {
                1 + v.iter().map(Self::size).sum::<usize>()
            }
            ReNode::Not(r) | ReNode::Loop(r, _, _) => 1 + r.size(),
        }
    }

    /// Whether ε is in the language.
    pub(crate) fn nullable(&self) -> bool {
        match self.node() {
            ReNode::Class(_) => false,
            ReNode::Concat(v) | ReNode::Inter(v) => v.iter().all(Self::nullable),
            ReNode::Alt(v) => v.iter().any(Self::nullable),
            ReNode::Not(r) => !r.nullable(),
            ReNode::Loop(_, min, _) => *min == 0,
        }
    }

    /// The words w such that c·w is in the language.
    pub(crate) fn derivative(&self, c: u32) -> Self {
        match self.node() {
            ReNode::Class(ranges) => {
                if ranges.iter().any(|&(lo, hi)| lo <= c && c <= hi) {
                    Self::epsilon()
                } else {
                    Self::empty()
                }
            }
            ReNode::Concat(v) => {
                let mut alternatives = Vec::new();
                for (i, r) in v.iter().enumerate() {
                    let mut parts = vec![r.derivative(c)];
                    parts.extend_from_slice(&v[i + 1..]);
                    alternatives.push(Self::concat(parts));
                    if !r.nullable() {
                        break;
                    }
                }
                Self::alt(alternatives)
            }
            ReNode::Alt(v) => Self::alt(v.iter().map(|r| r.derivative(c)).collect()),
            ReNode::Inter(v) => Self::inter(v.iter().map(|r| r.derivative(c)).collect()),
            ReNode::Not(r) => r.derivative(c).complement(),
            ReNode::Loop(r, min, max) => Self::concat(vec![
                r.derivative(c),
                r.repeat(min.saturating_sub(1), max.map(|m| m - 1)),
            ]),
        }
    }

    /// Adds the points where the derivative may change as the character grows.
    fn boundaries(&self, out: &mut Vec<u32>) {
        match self.node() {
            ReNode::Class(ranges) => {
                for &(lo, hi) in ranges {
                    out.push(lo);
                    out.push(hi + 1);
                }
            }
            ReNode::Concat(v) => {
                for r in v {
                    r.boundaries(out);
                    if !r.nullable() {
                        break;
                    }
                }
            }
            ReNode::Alt(v) | ReNode::Inter(v) => v.iter().for_each(|r| r.boundaries(out)),
            ReNode::Not(r) | ReNode::Loop(r, _, _) => r.boundaries(out),
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_stands_between_two_texts() {
        for pattern in ["(ab|ba)*c?", "[a-c]{2,4}", "a.*b|c+", "(a|bc)+[^b]"] {
            let re = Regex::parse(pattern).unwrap();
            for before in ["", "a", "ab"] {
                for after in ["", "b", "ca", "c"] {
                    let inner = re.re().between(before, after);
                    for middle in ["", "a", "b", "ba", "cab", "abc", "bb"] {
                        let mut rest = inner.clone();
                        for c in middle.chars() {
                            rest = rest.derivative(c as u32);
                        }
                        let whole = format!("{before}{middle}{after}");
                        assert_eq!(rest.nullable(), re.is_match(&whole), "{pattern} {whole}");
                    }
                }
            }
        }
    }

    use super::*;

    fn check(re: &str, yes: &[&str], no: &[&str]) {
        let re = Regex::parse(re).unwrap();
        for t in yes {
            assert!(re.is_match(t), "{re:?} must match {t:?}");
        }
        for t in no {
            assert!(!re.is_match(t), "{re:?} must not match {t:?}");
        }
    }

    #[test]
    fn whole_strings_match() {
        check("", &[""], &["a"]);
        check("a|bc", &["a", "bc"], &["", "b", "abc"]);
        check(
            "[a-z]{3,8}",
            &["abc", "abcdefgh"],
            &["ab", "abcdefghi", "ABC"],
        );
        check("(a|b)*abb", &["abb", "aababb"], &["ab", "abba"]);
        check(r"\d+(\.\d+)?", &["1", "3.14"], &["", ".5", "3."]);
        check(r"[^@\s]+@[^@\s]+", &["a@b", "ü@ß"], &["@b", "a b@c"]);
        check("^ab$", &["ab"], &["a"]);
        check("(a?){3}", &["", "a", "aaa"], &["aaaa"]);
        check("(ab?){2,}", &["aa", "abab", "aba"], &["a", "abb"]);
        check(".", &["x", "😀"], &["", "xy"]);
        check(
            "((a{1,10}){1,10}){1,10}b",
            &["ab", "aaaaaaaaaaaab"],
            &["b", "aaaaaaaaaaaaba"],
        );
        check(r"[\]\-a]", &["]", "-", "a"], &["\\"]);
    }

    #[test]
    fn bad_syntax_is_an_error() {
        for bad in [
            "(", ")", "a{2,1}", "*", "[z-a]", "[a", "a{9999}", r"\q", "a^b", "a{2",
        ] {
            assert!(Regex::parse(bad).is_err(), "{bad} must not parse");
        }
        assert!(Regex::parse("((a{1,30}){1,30}){1,30}b").is_err());
        assert!(Regex::parse(&"(".repeat(10_000)).is_err());
        assert!(Regex::parse(&"a".repeat(100_000)).is_err());
    }
}
