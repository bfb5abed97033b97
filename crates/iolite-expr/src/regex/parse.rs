//! Reading regular expressions.

use super::{MAX_CHAR, Re, ReNode};

const MAX_LENGTH: usize = 4_000;
const MAX_DEPTH: usize = 50;
const MAX_REPEAT: u32 = 1_000;
/// What the counts of repetitions inside of repetitions may multiply to: a derivative may have so
/// many alternatives.
const MAX_NESTED: usize = 5_000;

/// Why a text is no regular expression, with the character position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("regular expression: {what} at character {at}")]
pub struct RegexError {
    /// What is wrong.
    pub what: &'static str,
    /// Where, counted in characters.
    pub at: usize,
}

pub(super) fn parse(source: &str) -> Result<Re, RegexError> {
    if source.len() > MAX_LENGTH {
        return Err(RegexError {
            what: "too long",
            at: MAX_LENGTH,
        });
    }
    let chars: Vec<char> = source.chars().collect();
    let mut p = Parser {
        chars: &chars,
        at: 0,
    };
    if p.peek() == Some('^') {
        p.at += 1;
    }
    let re = p.alternatives(0)?;
    if p.peek() == Some('$') && p.at + 1 == chars.len() {
        p.at += 1;
    }
    match p.peek() {
        None => Ok(re),
        Some(')') => Err(p.error("unmatched )")),
        Some(_) => Err(p.error("unexpected character")),
    }
}

/// The greatest product of counts of repetitions inside of one another.
fn nested(re: &Re) -> usize {
    match re.node() {
        ReNode::Class(_) => 1,
        ReNode::Concat(v) | ReNode::Alt(v) | ReNode::Inter(v) => {
            v.iter().map(nested).max().unwrap_or(1)
        }
        ReNode::Not(inner) => nested(inner),
        ReNode::Loop(inner, min, max) => {
            let times = max.unwrap_or(*min).max(1) as usize;
            nested(inner).saturating_mul(times)
        }
    }
}

struct Parser<'a> {
    chars: &'a [char],
    at: usize,
}

type Ranges = Vec<(u32, u32)>;

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn error(&self, what: &'static str) -> RegexError {
        RegexError { what, at: self.at }
    }

    fn take(&mut self, c: char) -> bool {
        let hit = self.peek() == Some(c);
        self.at += usize::from(hit);
        hit
    }

    fn alternatives(&mut self, depth: usize) -> Result<Re, RegexError> {
        if depth > MAX_DEPTH {
            return Err(self.error("groups nest too deep"));
        }
        let mut alternatives = vec![self.sequence(depth)?];
        while self.take('|') {
            alternatives.push(self.sequence(depth)?);
        }
        Ok(Re::alt(alternatives))
    }

    fn sequence(&mut self, depth: usize) -> Result<Re, RegexError> {
        let mut parts = Vec::new();
        while let Some(c) = self.peek() {
            if matches!(c, '|' | ')') || (c == '$' && self.at + 1 == self.chars.len()) {
                break;
            }
            let atom = self.atom(depth)?;
            parts.push(self.repetitions(atom)?);
        }
        Ok(Re::concat(parts))
    }

    fn repetitions(&mut self, mut atom: Re) -> Result<Re, RegexError> {
        let mut stacked = 0;
        loop {
            let (min, max) = match self.peek() {
                Some('*') => (0, None),
                Some('+') => (1, None),
                Some('?') => (0, Some(1)),
                Some('{') => {
                    self.at += 1;
                    let min = self.number()?;
                    let max = if self.take(',') {
                        if self.peek() == Some('}') {
                            None
                        } else {
                            Some(self.number()?)
                        }
                    } else {
                        Some(min)
                    };
                    if self.peek() != Some('}') {
                        return Err(self.error("expected }"));
                    }
                    if max.is_some_and(|m| m < min) {
                        return Err(self.error("empty repetition range"));
                    }
                    (min, max)
                }
                _ => return Ok(atom),
            };
            self.at += 1;
            stacked += 1;
            if stacked > 3 {
                return Err(self.error("too many repetitions of a repetition"));
            }
            atom = atom.repeat(min, max);
            if nested(&atom) > MAX_NESTED {
                return Err(self.error("repetitions that multiply to more than 5000"));
            }
        }
    }

    fn number(&mut self) -> Result<u32, RegexError> {
        let mut n: Option<u32> = None;
        while let Some(d) = self.peek().and_then(|c| c.to_digit(10)) {
            let next = n.unwrap_or(0) * 10 + d;
            if next > MAX_REPEAT {
                return Err(self.error("repetition count over 1000"));
            }
            n = Some(next);
            self.at += 1;
        }
        n.ok_or_else(|| self.error("expected a number"))
    }

    fn atom(&mut self, depth: usize) -> Result<Re, RegexError> {
        let Some(c) = self.peek() else {
            return Err(self.error("unexpected end"));
        };
        self.at += 1;
        match c {
            '.' => Ok(Re::any_char()),
            '(' => {
                if self.take('?') && !self.take(':') {
                    return Err(self.error("only (?:…) groups are known"));
                }
                let inner = self.alternatives(depth + 1)?;
                if self.take(')') {
                    Ok(inner)
                } else {
                    Err(self.error("expected )"))
                }
            }
            '[' => self.class(),
            '\\' => Ok(Re::class(self.escape()?)),
            '*' | '+' | '?' | '{' => Err(self.error("nothing to repeat")),
            '^' | '$' => {
                Err(self.error("a match is of the whole string; ^ and $ only at its ends"))
            }
            _ => Ok(Re::class(vec![(c as u32, c as u32)])),
        }
    }

    fn escape(&mut self) -> Result<Ranges, RegexError> {
        let Some(c) = self.peek() else {
            return Err(self.error("unexpected end"));
        };
        self.at += 1;
        let span = |a: char, b: char| (a as u32, b as u32);
        let digit = vec![span('0', '9')];
        let word = vec![
            span('0', '9'),
            span('A', 'Z'),
            span('_', '_'),
            span('a', 'z'),
        ];
        let space = vec![span('\t', '\r'), span(' ', ' ')];
        let negated = |ranges: &[(u32, u32)]| match Re::negated_class(ranges).node() {
            super::ReNode::Class(r) => r.clone(),
            _ => Vec::new(),
        };
        Ok(match c {
            'd' => digit,
            'w' => word,
            's' => space,
            'D' => negated(&digit),
            'W' => negated(&word),
            'S' => negated(&space),
            'n' => vec![span('\n', '\n')],
            't' => vec![span('\t', '\t')],
            'r' => vec![span('\r', '\r')],
            c if !c.is_alphanumeric() => vec![span(c, c)],
            _ => return Err(self.error("unknown escape")),
        })
    }

    fn class(&mut self) -> Result<Re, RegexError> {
        let negated = self.take('^');
        let mut ranges: Ranges = Vec::new();
        loop {
            let Some(c) = self.peek() else {
                return Err(self.error("expected ]"));
            };
            self.at += 1;
            let single = match c {
                ']' => break,
                '\\' => {
                    let escaped = self.escape()?;
                    match escaped.as_slice() {
                        &[(lo, hi)] if lo == hi => lo,
                        _ => {
                            ranges.extend(escaped);
                            continue;
                        }
                    }
                }
                c => c as u32,
            };
            let is_range =
                self.peek() == Some('-') && self.chars.get(self.at + 1).is_some_and(|c| *c != ']');
            if !is_range {
                ranges.push((single, single));
                continue;
            }
            self.at += 1;
            let end = match self.peek() {
                Some('\\') => {
                    self.at += 1;
                    match self.escape()?.as_slice() {
                        &[(lo, hi)] if lo == hi => lo,
                        _ => return Err(self.error("a range must end with one character")),
                    }
                }
                Some(c) => {
                    self.at += 1;
                    c as u32
                }
                None => return Err(self.error("expected ]")),
            };
            if end < single || end > MAX_CHAR {
                return Err(self.error("empty range"));
            }
            ranges.push((single, end));
        }
        Ok(if negated {
            Re::negated_class(&ranges)
        } else {
            Re::class(ranges)
        })
    }
}
