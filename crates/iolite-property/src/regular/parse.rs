//! The text of a regular expression.

use super::{MAX_DEPTH, Regular, RegularError};

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl Parser<'_> {
    pub(super) fn error(&self, message: &'static str) -> RegularError {
        RegularError::Syntax {
            at: self.at,
            message,
        }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    pub(super) fn blanks(&mut self) {
        while let Some(c) = self.peek().filter(|c| c.is_whitespace() || *c == '·') {
            self.at += c.len_utf8();
        }
    }

    pub(super) fn alt(&mut self, depth: usize) -> Result<Regular, RegularError> {
        if depth > MAX_DEPTH {
            return Err(RegularError::TooDeep);
        }
        let mut e = self.and(depth)?;
        let mut count = 0;
        loop {
            self.blanks();
            if !matches!(self.peek(), Some('|' | '+')) {
                return Ok(e);
            }
            count = Self::deeper(count)?;
            self.at += 1;
            e = Regular::Alt(Box::new(e), Box::new(self.and(depth)?));
        }
    }

    fn and(&mut self, depth: usize) -> Result<Regular, RegularError> {
        let mut e = self.concat(depth)?;
        let mut count = 0;
        loop {
            self.blanks();
            if self.peek() != Some('&') {
                return Ok(e);
            }
            count = Self::deeper(count)?;
            self.at += 1;
            e = Regular::And(Box::new(e), Box::new(self.concat(depth)?));
        }
    }

    /// Left-nested chains are nesting too: dropping one recurses.
    fn deeper(count: usize) -> Result<usize, RegularError> {
        if count >= MAX_DEPTH * 4 {
            Err(RegularError::TooDeep)
        } else {
            Ok(count + 1)
        }
    }

    fn concat(&mut self, depth: usize) -> Result<Regular, RegularError> {
        let mut e = self.postfix(depth)?;
        let mut count = 0;
        loop {
            self.blanks();
            match self.peek() {
                None | Some('|' | '&' | ')' | '+') => return Ok(e),
                Some(_) => {
                    count = Self::deeper(count)?;
                    e = Regular::Concat(Box::new(e), Box::new(self.postfix(depth)?));
                }
            }
        }
    }

    fn postfix(&mut self, depth: usize) -> Result<Regular, RegularError> {
        let mut e = self.atom(depth)?;
        let mut count = 0;
        loop {
            // A postfix operator follows without a blank; `a + b` is a choice.
            let rest = &self.text[self.at..];
            let name_follows = |c: char| c.is_alphanumeric() || c == '_';
            let wrap = match rest.chars().next() {
                Some('*') => Regular::Star,
                Some('+') => Regular::Plus,
                Some('?') if !rest[1..].starts_with(name_follows) => Regular::Opt,
                _ => return Ok(e),
            };
            count = Self::deeper(count)?;
            self.at += 1;
            e = wrap(Box::new(e));
        }
    }

    fn atom(&mut self, depth: usize) -> Result<Regular, RegularError> {
        self.blanks();
        match self.peek() {
            Some('(') => {
                self.at += 1;
                self.blanks();
                if self.peek() == Some(')') {
                    self.at += 1;
                    return Ok(Regular::Epsilon);
                }
                let e = self.alt(depth + 1)?;
                self.blanks();
                if self.peek() != Some(')') {
                    return Err(self.error("missing )"));
                }
                self.at += 1;
                Ok(e)
            }
            Some('~') => {
                self.at += 1;
                if depth >= MAX_DEPTH {
                    return Err(RegularError::TooDeep);
                }
                Ok(Regular::Not(Box::new(self.postfix(depth + 1)?)))
            }
            Some('.') => {
                self.at += 1;
                Ok(Regular::Any)
            }
            Some('ε') => {
                self.at += 'ε'.len_utf8();
                Ok(Regular::Epsilon)
            }
            Some('∅') => {
                self.at += '∅'.len_utf8();
                Ok(Regular::Empty)
            }
            Some(c) if c.is_alphanumeric() || matches!(c, '_' | '?' | '!') => {
                let start = self.at;
                if matches!(c, '?' | '!') {
                    self.at += 1;
                }
                while let Some(c) = self
                    .peek()
                    .filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
                {
                    self.at += c.len_utf8();
                }
                let name = &self.text[start..self.at];
                if name.len() == 1 && matches!(c, '?' | '!') {
                    return Err(self.error("name expected"));
                }
                Ok(Regular::Symbol(name.to_owned()))
            }
            _ => Err(self.error("action, (, ~ or . expected")),
        }
    }
}
