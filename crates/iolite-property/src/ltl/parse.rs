//! The text of a formula.

use super::{Ltl, LtlError};

/// Nesting that is followed.
pub const MAX_DEPTH: usize = 200;
/// Operators and atoms that are followed.
pub const MAX_SIZE: usize = 8_000;

pub(super) fn parse(text: &str, known: &dyn Fn(&str) -> bool) -> Result<Ltl, LtlError> {
    let mut parser = Parser {
        text,
        at: 0,
        known,
        size: 0,
    };
    let formula = parser.iff(0)?;
    parser.blanks();
    if parser.at < text.len() {
        return Err(parser.error("unexpected text"));
    }
    Ok(formula)
}

/// The action and what follows it, of an atom with parameters or a guard.
pub(super) fn split_guarded(atom: &str) -> Option<(&str, &str)> {
    let at = atom.find(['(', '['])?;
    let (action, rest) = atom.split_at(at);
    (atom.ends_with([')', ']']) && !action.trim().is_empty()).then_some((action.trim_end(), rest))
}

/// Where the bracket at the beginning is closed, outside of quotes.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (i, c) in text.char_indices() {
        if quoted {
            quoted = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '"' => quoted = true,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(i);
                }
            }
            _ => {}
        }
    }
    None
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    known: &'a dyn Fn(&str) -> bool,
    size: usize,
}

type Binary = fn(Box<Ltl>, Box<Ltl>) -> Ltl;

fn in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl Parser<'_> {
    fn error(&self, message: &'static str) -> LtlError {
        LtlError::Syntax {
            at: self.at,
            message,
        }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Consumes one of these spellings; longer ones must come first.
    fn eat(&mut self, spellings: &[&str]) -> bool {
        self.blanks();
        for s in spellings {
            if self.rest().starts_with(s) {
                self.at += s.len();
                return true;
            }
        }
        false
    }

    /// Consumes a binary operator that is one letter standing alone.
    fn eat_word(&mut self, word: &str) -> bool {
        self.blanks();
        let alone = self
            .rest()
            .strip_prefix(word)
            .is_some_and(|r| !r.starts_with(in_name));
        if alone {
            self.at += word.len();
        }
        alone
    }

    fn deeper(&mut self, depth: usize) -> Result<usize, LtlError> {
        self.size += 1;
        if self.size > MAX_SIZE {
            return Err(LtlError::TooLarge);
        }
        if depth >= MAX_DEPTH {
            Err(LtlError::TooDeep)
        } else {
            Ok(depth + 1)
        }
    }

    fn iff(&mut self, depth: usize) -> Result<Ltl, LtlError> {
        let depth = self.deeper(depth)?;
        let left = self.implies(depth)?;
        if self.eat(&["<->", "<=>"]) {
            let right = self.iff(depth)?;
            return Ok(Ltl::Iff(Box::new(left), Box::new(right)));
        }
        Ok(left)
    }

    fn implies(&mut self, depth: usize) -> Result<Ltl, LtlError> {
        let depth = self.deeper(depth)?;
        let left = self.or(depth)?;
        if self.eat(&["->", "=>"]) {
            let right = self.implies(depth)?;
            return Ok(Ltl::Implies(Box::new(left), Box::new(right)));
        }
        Ok(left)
    }

    fn or(&mut self, depth: usize) -> Result<Ltl, LtlError> {
        let mut parts = vec![self.and(depth)?];
        while self.eat(&["||", "|", "∨"]) || self.eat_word("or") {
            parts.push(self.and(depth)?);
        }
        Ok(if parts.len() == 1 {
            parts.remove(0)
        } else {
            Ltl::Or(parts)
        })
    }

    fn and(&mut self, depth: usize) -> Result<Ltl, LtlError> {
        let mut parts = vec![self.until(depth)?];
        while self.eat(&["&&", "&", "∧"]) || self.eat_word("and") {
            parts.push(self.until(depth)?);
        }
        Ok(if parts.len() == 1 {
            parts.remove(0)
        } else {
            Ltl::And(parts)
        })
    }

    fn until(&mut self, depth: usize) -> Result<Ltl, LtlError> {
        let depth = self.deeper(depth)?;
        let left = self.unary(depth)?;
        let table: [(&str, Binary); 7] = [
            ("U", Ltl::Until),
            ("R", Ltl::Release),
            ("V", Ltl::Release),
            ("W", Ltl::WeakUntil),
            ("M", Ltl::StrongRelease),
            ("S", Ltl::Since),
            ("T", Ltl::trigger),
        ];
        for (word, build) in table {
            if self.eat_word(word) {
                let right = self.until(depth)?;
                return Ok(build(Box::new(left), Box::new(right)));
            }
        }
        Ok(left)
    }

    fn unary(&mut self, depth: usize) -> Result<Ltl, LtlError> {
        let depth = self.deeper(depth)?;
        self.blanks();
        let rest = self.rest();
        if rest.starts_with(['!', '?']) {
            let name: String = rest
                .chars()
                .take(1)
                .chain(rest[1..].chars().take_while(|&c| in_name(c) || c == '-'))
                .collect();
            // Names may contain a hyphen, but `!a->b` is no name.
            let name = name.trim_end_matches('-').to_owned();
            if name.len() > 1 && (self.known)(&name) {
                self.at += name.len();
                return self.guarded(name);
            }
            if rest.starts_with('?') {
                return Err(self.error("input that is not in the alphabet"));
            }
        }
        if self.eat(&["!", "~", "¬"]) || self.eat_word("not") {
            return Ok(Ltl::Not(Box::new(self.unary(depth)?)));
        }
        if self.eat(&["[]"]) {
            return Ok(Ltl::Always(Box::new(self.unary(depth)?)));
        }
        if self.eat(&["<>"]) {
            return Ok(Ltl::Eventually(Box::new(self.unary(depth)?)));
        }
        if self.eat(&["("]) {
            let inner = self.iff(depth)?;
            if !self.eat(&[")"]) {
                return Err(self.error("missing )"));
            }
            return Ok(inner);
        }
        if self.eat(&["{"]) {
            let mut names = Vec::new();
            loop {
                self.blanks();
                names.push(self.set_name()?);
                if self.eat(&["}"]) {
                    return Ok(Ltl::AnyOf(names));
                }
                if !self.eat(&[","]) {
                    return Err(self.error(", or } expected"));
                }
            }
        }
        if self.rest().starts_with('"') {
            return Ok(Ltl::Atom(self.quoted()?));
        }
        self.word(depth)
    }

    fn word(&mut self, depth: usize) -> Result<Ltl, LtlError> {
        let rest = self.rest();
        let end = |extra: &[char]| {
            rest.find(|c: char| !in_name(c) && !extra.contains(&c))
                .unwrap_or(rest.len())
        };
        let hyphened = rest[..end(&['-'])].trim_end_matches('-').to_owned();
        let word = rest[..end(&[])].to_owned();
        for name in [hyphened, word.clone()] {
            if !name.is_empty() && (self.known)(&name) {
                self.at += name.len();
                return self.guarded(name);
            }
        }
        let constant = match &*word {
            "true" | "tt" | "1" => Some(Ltl::True),
            "false" | "ff" | "0" => Some(Ltl::False),
            _ => None,
        };
        if let Some(constant) = constant {
            self.at += word.len();
            return Ok(constant);
        }
        let past: Option<fn(Box<Ltl>) -> Ltl> = match &*word {
            "Y" => Some(Ltl::Previous),
            "O" => Some(Ltl::Once),
            "H" => Some(Ltl::Historically),
            "Z" => Some(Ltl::weak_previous),
            _ => None,
        };
        if let Some(build) = past {
            let before = self.at;
            self.at += 1;
            // `Z` alone is a name like any other.
            self.blanks();
            let ends = self.rest().is_empty() || self.rest().starts_with([')', '&', '|', '-', '<']);
            if word == "Z" && ends {
                self.at = before + 1;
                return Ok(Ltl::Atom(word));
            }
            return Ok(build(Box::new(self.unary(depth)?)));
        }
        let build: fn(Box<Ltl>) -> Ltl = match word.chars().next() {
            None => return Err(self.error("formula expected")),
            Some('F') => Ltl::Eventually,
            Some('G') => Ltl::Always,
            Some('X') => Ltl::Next,
            Some(_) if matches!(&*word, "U" | "R" | "V" | "W" | "M" | "S" | "T") => {
                return Err(self.error("operand expected"));
            }
            Some(_) => {
                self.at += word.len();
                return self.guarded(word);
            }
        };
        self.at += 1;
        Ok(build(Box::new(self.unary(depth)?)))
    }

    /// An atom with what follows its name: `(code) [code >= 500]`.
    fn guarded(&mut self, name: String) -> Result<Ltl, LtlError> {
        let start = self.at;
        self.blanks();
        let mut text = name;
        if self.rest().starts_with('(') {
            let Some(end) = closing(self.rest()) else {
                return Err(self.error("missing ) of the parameters"));
            };
            text.push_str(&self.rest()[..=end]);
            self.at += end + 1;
            self.blanks();
        }
        if self.rest().starts_with('[') && !self.rest().starts_with("[]") {
            let Some(end) = closing(self.rest()) else {
                return Err(self.error("missing ] of the guard"));
            };
            text.push(' ');
            text.push_str(&self.rest()[..=end]);
            self.at += end + 1;
        } else if !text.ends_with(')') {
            self.at = start;
        }
        Ok(Ltl::Atom(text))
    }

    fn set_name(&mut self) -> Result<String, LtlError> {
        if self.rest().starts_with('"') {
            return self.quoted();
        }
        let name: String = self
            .rest()
            .chars()
            .enumerate()
            .take_while(|&(i, c)| in_name(c) || c == '-' || i == 0 && matches!(c, '?' | '!'))
            .map(|(_, c)| c)
            .collect();
        if name.is_empty() {
            return Err(self.error("name expected"));
        }
        self.at += name.len();
        Ok(name)
    }

    fn quoted(&mut self) -> Result<String, LtlError> {
        let Some(length) = self.rest()[1..].find('"') else {
            return Err(self.error("missing closing quote"));
        };
        let name = self.rest()[1..=length].to_owned();
        self.at += length + 2;
        Ok(name)
    }
}
