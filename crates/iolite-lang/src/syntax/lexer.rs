//! Tokens and comments of `.iol`.

use super::ast::Comment;
use crate::{Diagnostic, Span, codes};

/// Words that start declarations or build expressions, and so cannot be bare names.
pub const KEYWORDS: &[&str] = &[
    "accept", "action", "and", "assume", "const", "each", "else", "enum", "false", "fn", "for",
    "hide", "if", "in", "initial", "input", "internal", "match", "not", "observer", "or", "output",
    "over", "process", "property", "purpose", "record", "refuse", "rename", "state", "stop",
    "system", "test", "then", "traces", "true", "type", "var", "violate",
];

/// Longest first where one starts another.
const PUNCTUATION: &[&str] = &[
    "|||", "<->", "||", "|[", "|", "->", "=>", ":=", "==", "!=", "<=", ">=", ">>", "&&", "&", "..",
    "++", "[>", "[", "]", "{", "}", "(", ")", ",", ";", ":", "?", "!", "*", "+", "-", "/", "%",
    "<", ">", "=", ".", "@",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name that is no keyword.
    Ident,
    Keyword,
    Int,
    Str,
    Punct(&'static str),
    End,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) span: Span,
}

fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '\''
}

/// A character of another language: how much of the text belongs to it, what it was meant to be, and
/// what is written here instead.
struct Foreign {
    length: usize,
    stands_for: Option<Kind>,
    hint: Option<&'static str>,
}

impl Foreign {
    /// What stands at the beginning of `rest`, which starts no token of this language. Where it is clear
    /// what was meant the lexer goes on as if it stood there, so that one slip is one message.
    fn at(rest: &str) -> Self {
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let line = rest.find('\n').unwrap_or(rest.len());
        let (length, stands_for, hint) = match rest.chars().next() {
            Some('#') => (line, None, "a comment starts with `//`"),
            Some('\'') => {
                let closed = rest[1..line].find('\'').map_or(first, |end| end + 2);
                (
                    closed,
                    Some(Kind::Str),
                    "a string is written in double quotes",
                )
            }
            Some('→' | '⟶' | '➝') => (first, Some(Kind::Punct("->")), "write `->`"),
            Some('≤') => (first, Some(Kind::Punct("<=")), "write `<=`"),
            Some('≥') => (first, Some(Kind::Punct(">=")), "write `>=`"),
            Some('≠') => (first, Some(Kind::Punct("!=")), "write `!=`"),
            Some('∧') => (first, Some(Kind::Punct("&&")), "write `and` or `&&`"),
            Some('∨') => (first, Some(Kind::Punct("||")), "write `or` or `||`"),
            Some('“' | '”' | '„') => {
                (first, None, "a string is written in straight double quotes")
            }
            _ => {
                return Self {
                    length: first,
                    stands_for: None,
                    hint: None,
                };
            }
        };
        Self {
            length,
            stands_for,
            hint: Some(hint),
        }
    }
}

/// The words of any text, good or bad.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !continues_name(c)).filter(|w| !w.is_empty())
}

/// Whether a name can be written without quotes.
pub fn is_plain_name(text: &str) -> bool {
    let mut chars = text.chars();
    let named = chars.next().is_some_and(starts_name)
        && chars.all(continues_name)
        && KEYWORDS.binary_search(&text).is_err();
    named || is_number(text)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// The text as a string literal.
pub fn quote(text: &str) -> String {
    let mut result = String::with_capacity(text.len() + 2);
    result.push('"');
    for c in text.chars() {
        match c {
            '"' => result.push_str("\\\""),
            '\\' => result.push_str("\\\\"),
            '\n' => result.push_str("\\n"),
            '\r' => result.push_str("\\r"),
            '\t' => result.push_str("\\t"),
            c if c.is_control() => result.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => result.push(c),
        }
    }
    result.push('"');
    result
}

/// The text of a string literal; `None` when an escape is wrong.
pub(super) fn unquote(literal: &str) -> Option<String> {
    let inner = literal.strip_prefix('"')?;
    let inner = inner.strip_suffix('"')?;
    let mut result = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            result.push(c);
            continue;
        }
        result.push(match chars.next()? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            c @ ('"' | '\\') => c,
            'u' => {
                if chars.next()? != '{' {
                    return None;
                }
                let digits: String = chars.by_ref().take_while(|&c| c != '}').collect();
                char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
            }
            _ => return None,
        });
    }
    Some(result)
}

pub(super) struct Lexed {
    /// Ends with an [`Kind::End`] token.
    pub(super) tokens: Vec<Token>,
    pub(super) comments: Vec<Comment>,
}

/// A file with more bad characters than this is not text.
pub(super) const MOST_ERRORS: usize = 50;

pub(super) fn lex(text: &str, found: &mut Vec<Diagnostic>) -> Lexed {
    let mut tokens = Vec::new();
    let mut comments = Vec::new();
    let mut at = if text.starts_with('\u{feff}') { 3 } else { 0 };
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let start = at;
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            comments.push(Comment {
                text: rest[..at - start].trim_end().to_owned(),
                span: Span::new(start, at),
            });
            continue;
        }
        if let Some(comment) = rest.strip_prefix("/*") {
            if let Some(end) = comment.find("*/") {
                at += end + 4;
            } else {
                at = text.len();
                found.push(Diagnostic::error(
                    codes::UNCLOSED,
                    Span::new(start, start + 2),
                    "this comment is never closed",
                ));
            }
            comments.push(Comment {
                text: text[start..at].to_owned(),
                span: Span::new(start, at),
            });
            continue;
        }
        let kind = if c == '"' {
            at += string_length(rest);
            let span = Span::new(start, at);
            if !rest[1..at - start].ends_with('"') || unquote(&text[start..at]).is_none() {
                let closed = at - start > 1 && text[..at].ends_with('"');
                found.push(if closed {
                    Diagnostic::error(codes::BAD_STRING, span, "the string has an unknown escape")
                        .hint("known are \\\" \\\\ \\n \\r \\t and \\u{…}")
                } else {
                    Diagnostic::error(codes::UNCLOSED, span, "this string is never closed")
                });
            }
            Kind::Str
        } else if starts_name(c) {
            at += rest.find(|c| !continues_name(c)).unwrap_or(rest.len());
            if KEYWORDS.binary_search(&&text[start..at]).is_ok() {
                Kind::Keyword
            } else {
                Kind::Ident
            }
        } else if c.is_ascii_digit() {
            at += rest
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len());
            Kind::Int
        } else if let Some(p) = PUNCTUATION.iter().find(|p| rest.starts_with(**p)) {
            at += p.len();
            Kind::Punct(p)
        } else {
            let foreign = Foreign::at(rest);
            let end = at + c.len_utf8();
            at += foreign.length;
            if found.len() < MOST_ERRORS {
                let message = format!("`{}` is no character of the language", c.escape_debug());
                found.push(
                    Diagnostic::error(codes::BAD_CHARACTER, Span::new(start, end), message)
                        .maybe_hint(foreign.hint.map(str::to_owned)),
                );
            }
            match foreign.stands_for {
                Some(kind) => kind,
                None => continue,
            }
        };
        tokens.push(Token {
            kind,
            span: Span::new(start, at),
        });
    }
    tokens.push(Token {
        kind: Kind::End,
        span: Span::at(text.len()),
    });
    Lexed { tokens, comments }
}

/// Length of the string literal at the start of `rest`; it ends with its line at the latest.
fn string_length(rest: &str) -> usize {
    let mut escaped = false;
    for (i, c) in rest.char_indices().skip(1) {
        match c {
            '\n' | '\r' => return i,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return i + 1,
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_sorted() {
        assert!(KEYWORDS.is_sorted());
    }

    #[test]
    fn strings_round_trip() {
        for text in ["", "a b", "q\"\\\n\t\r\u{1}é", "G !TRUE"] {
            assert_eq!(unquote(&quote(text)).as_deref(), Some(text));
        }
        assert_eq!(unquote("\"\\x\""), None);
        assert_eq!(unquote("\"\\u{110000}\""), None);
        assert_eq!(unquote("\""), None);
    }

    #[test]
    fn bad_text_is_reported_and_skipped() {
        let mut found = Vec::new();
        let lexed = lex("a $ \"open\nb /* c", &mut found);
        assert_eq!(lexed.tokens.len(), 4);
        let codes: Vec<_> = found.iter().map(|d| d.code).collect();
        assert_eq!(
            codes,
            [codes::BAD_CHARACTER, codes::UNCLOSED, codes::UNCLOSED]
        );
    }

    /// Where it is clear what was meant, the tokens are those of what should have been written.
    #[test]
    fn characters_of_other_languages_stand_for_ours() {
        for (foreign, ours) in [
            ("?a → B", "?a -> B"),
            ("x ≤ 'hi' # rest\ny", "x <= \"hi\"\ny"),
            ("a ∧ b ∨ c ≠ d", "a && b || c != d"),
        ] {
            let kinds = |text: &str| {
                let lexed = lex(text, &mut Vec::new());
                lexed.tokens.iter().map(|t| t.kind).collect::<Vec<_>>()
            };
            assert_eq!(kinds(foreign), kinds(ours), "{foreign}");
        }
        // A quote that is never closed takes nothing along.
        let mut found = Vec::new();
        assert_eq!(lex("' a b", &mut found).tokens.len(), 4);
        assert_eq!(found.len(), 1);
    }
}
