//! Tokens of HOA.

use super::HoaError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// `name:`.
    Header(String),
    Name(String),
    Alias(String),
    Text(String),
    Number(usize),
    Sign(char),
    Body,
    End,
}

enum Peeked {
    Nothing,
    Token(Token),
    EndOfText,
}

pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    /// The token that was looked at; nothing inside at the end of the text.
    peeked: Peeked,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            line: 1,
            peeked: Peeked::Nothing,
        }
    }

    pub(super) fn error(&self, message: impl Into<String>) -> HoaError {
        HoaError::Syntax {
            line: self.line,
            message: message.into(),
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip(&mut self, bytes: usize) {
        self.line += self.text[self.at..self.at + bytes].matches('\n').count();
        self.at += bytes;
    }

    fn blanks(&mut self) -> Result<(), HoaError> {
        loop {
            let blank = self.rest().len() - self.rest().trim_start().len();
            self.skip(blank);
            if !self.rest().starts_with("/*") {
                return Ok(());
            }
            // Comments nest.
            let mut depth = 0_usize;
            loop {
                let rest = self.rest();
                if rest.starts_with("/*") {
                    depth += 1;
                    self.skip(2);
                } else if rest.starts_with("*/") {
                    depth -= 1;
                    self.skip(2);
                    if depth == 0 {
                        break;
                    }
                } else {
                    match rest.chars().next() {
                        Some(c) => self.skip(c.len_utf8()),
                        None => return Err(self.error("comment without end")),
                    }
                }
            }
        }
    }

    pub(super) fn peek(&mut self) -> Result<Option<&Token>, HoaError> {
        if matches!(self.peeked, Peeked::Nothing) {
            self.peeked = self.lex()?.map_or(Peeked::EndOfText, Peeked::Token);
        }
        Ok(match &self.peeked {
            Peeked::Token(token) => Some(token),
            Peeked::Nothing | Peeked::EndOfText => None,
        })
    }

    pub(super) fn next(&mut self) -> Result<Option<Token>, HoaError> {
        match std::mem::replace(&mut self.peeked, Peeked::Nothing) {
            Peeked::Token(token) => Ok(Some(token)),
            Peeked::Nothing | Peeked::EndOfText => self.lex(),
        }
    }

    pub(super) fn eat(&mut self, sign: char) -> Result<bool, HoaError> {
        let found = self.peek()? == Some(&Token::Sign(sign));
        if found {
            self.next()?;
        }
        Ok(found)
    }

    pub(super) fn expect(&mut self, sign: char) -> Result<(), HoaError> {
        if self.eat(sign)? {
            Ok(())
        } else {
            Err(self.error(format!("{sign} expected")))
        }
    }

    pub(super) fn number(&mut self) -> Result<usize, HoaError> {
        match self.next()? {
            Some(Token::Number(n)) => Ok(n),
            _ => Err(self.error("number expected")),
        }
    }

    fn lex(&mut self) -> Result<Option<Token>, HoaError> {
        self.blanks()?;
        let rest = self.rest();
        let Some(c) = rest.chars().next() else {
            return Ok(None);
        };
        for (mark, token) in [("--BODY--", Token::Body), ("--END--", Token::End)] {
            if rest.starts_with(mark) {
                self.skip(mark.len());
                return Ok(Some(token));
            }
        }
        if c == '"' {
            let mut text = String::new();
            let mut escaped = false;
            for (i, c) in rest.char_indices().skip(1) {
                match c {
                    _ if escaped => {
                        text.push(c);
                        escaped = false;
                    }
                    '\\' => escaped = true,
                    '"' => {
                        self.skip(i + 1);
                        return Ok(Some(Token::Text(text)));
                    }
                    _ => text.push(c),
                }
            }
            return Err(self.error("string without end"));
        }
        let word_end = |extra: &str| {
            rest.char_indices()
                .skip(1)
                .find(|&(_, c)| !(c.is_alphanumeric() || extra.contains(c)))
                .map_or(rest.len(), |(i, _)| i)
        };
        if c.is_ascii_digit() {
            let end = rest
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len());
            let number = rest[..end]
                .parse()
                .map_err(|_| self.error("number too large"))?;
            self.skip(end);
            return Ok(Some(Token::Number(number)));
        }
        if c == '@' {
            let end = word_end("_-");
            let name = rest[1..end].to_owned();
            self.skip(end);
            return Ok(Some(Token::Alias(name)));
        }
        if c.is_alphabetic() || c == '_' {
            let end = word_end("_-.");
            let name = rest[..end].to_owned();
            if rest[end..].starts_with(':') {
                self.skip(end + 1);
                return Ok(Some(Token::Header(name)));
            }
            self.skip(end);
            return Ok(Some(Token::Name(name)));
        }
        if "!&|()[]{}".contains(c) {
            self.skip(1);
            return Ok(Some(Token::Sign(c)));
        }
        Err(self.error(format!("unexpected {c:?}")))
    }
}
