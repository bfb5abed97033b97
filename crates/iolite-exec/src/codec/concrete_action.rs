//! Actions with values, as they cross the wire.

use std::borrow::Cow;
use std::fmt;

use num_bigint::BigInt;

/// A value of a message.
///
/// Enum members and strings are both [`WireValue::Text`]: on the wire nothing tells them apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WireValue {
    /// A Boolean.
    Bool(bool),
    /// An integer of any size.
    Int(BigInt),
    /// A number with a point or an exponent, as it was written.
    Number(String),
    /// A string, or the name of an enum's member.
    Text(String),
    /// Raw bytes.
    Bytes(Vec<u8>),
    /// An array.
    List(Vec<WireValue>),
    /// A record; fields in the order they came.
    Record(Vec<(String, WireValue)>),
}

impl From<bool> for WireValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for WireValue {
    fn from(value: i64) -> Self {
        Self::Int(value.into())
    }
}

impl From<&str> for WireValue {
    fn from(value: &str) -> Self {
        Self::Text(value.into())
    }
}

/// Whether [`Reader::word`] reads the whole of it.
fn is_bare(name: &str) -> bool {
    let within = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    !name.is_empty() && name.chars().all(within)
}

fn is_word(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
        && text != "true"
        && text != "false"
}

impl fmt::Display for WireValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(b) => write!(f, "{b}"),
            Self::Int(n) => write!(f, "{n}"),
            Self::Number(text) => f.write_str(text),
            Self::Text(t) if is_word(t) => f.write_str(t),
            Self::Text(t) => write!(f, "{}", serde_json::Value::from(t.as_str())),
            Self::Bytes(bytes) => {
                f.write_str("0x")?;
                bytes.iter().try_for_each(|b| write!(f, "{b:02x}"))
            }
            Self::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Self::Record(fields) => {
                f.write_str("{")?;
                for (i, (name, value)) in fields.iter().enumerate() {
                    f.write_str(if i > 0 { ", " } else { "" })?;
                    // Keys of maps may be any text.
                    if is_bare(name) {
                        write!(f, "{name}: {value}")?;
                    } else {
                        write!(f, "{}: {value}", serde_json::Value::from(name.as_str()))?;
                    }
                }
                f.write_str("}")
            }
        }
    }
}

/// The bare name of an action and its values: `MSG(3, true)`. Its direction is known from where it
/// stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConcreteAction {
    /// Name without `?` or `!`.
    pub name: String,
    /// Values in the order of the action's parameters.
    pub args: Vec<WireValue>,
}

impl fmt::Display for ConcreteAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.args.is_empty() {
            return Ok(());
        }
        for (i, arg) in self.args.iter().enumerate() {
            write!(f, "{}{arg}", if i > 0 { ", " } else { "(" })?;
        }
        f.write_str(")")
    }
}

impl ConcreteAction {
    /// An action without values.
    pub fn bare(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            args: Vec::new(),
        }
    }

    /// Reads `NAME` or `NAME(3, true, word, "text", 0x0aff, [1, 2], {a: 1})`, spaces free. Text that
    /// is not of that form is a bare name as a whole, so that every label of every model has a
    /// reading.
    pub fn parse(text: &str) -> Self {
        Self::parse_call(text).unwrap_or_else(|| Self::bare(text))
    }

    fn parse_call(text: &str) -> Option<Self> {
        let open = text.find('(')?;
        let name = text[..open].trim_end();
        if name.is_empty() {
            return None;
        }
        let mut reader = Reader {
            rest: &text[open + 1..],
        };
        let args = reader.list(')', |r| r.value(0))?;
        reader.rest.trim().is_empty().then(|| Self {
            name: name.into(),
            args,
        })
    }
}

/// Characters of a text that a message tells.
const TOLD: usize = 200;

/// A text for a message to people: a long one is cut, and what is left out is counted. Control characters are escaped.
pub fn brief(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(TOLD) {
        None => without_controls(text),
        Some((at, _)) => {
            let more = text[at..].chars().count();
            format!("{}… {more} characters more", without_controls(&text[..at])).into()
        }
    }
}

/// The text with control characters escaped, so that a system cannot talk to the tester's terminal.
pub(crate) fn without_controls(text: &str) -> Cow<'_, str> {
    let is_shown = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    if text.chars().all(is_shown) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_shown(c) {
            out.push(c);
        } else {
            out.extend(c.escape_default());
        }
    }
    out.into()
}

/// Nesting beyond this is not read: the reader recurses.
const DEPTH: usize = 64;

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn eat(&mut self, c: char) -> bool {
        let trimmed = self.rest.trim_start();
        match trimmed.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn list<T>(
        &mut self,
        close: char,
        mut item: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut items = Vec::new();
        if self.eat(close) {
            return Some(items);
        }
        loop {
            items.push(item(self)?);
            if self.eat(close) {
                return Some(items);
            }
            if !self.eat(',') {
                return None;
            }
        }
    }

    fn word(&mut self) -> Option<&str> {
        let text = self.rest.trim_start();
        let end = text
            .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
            .unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    /// A text in quotes, if one stands here; the inner option is empty where it is broken.
    #[expect(clippy::option_option, reason = "no text, and a broken one")]
    fn quoted(&mut self) -> Option<Option<String>> {
        let text = self.rest.trim_start();
        if !text.starts_with('"') {
            return None;
        }
        let mut stream = serde_json::Deserializer::from_str(text).into_iter::<String>();
        let string = stream.next().and_then(Result::ok);
        self.rest = &text[stream.byte_offset()..];
        Some(string)
    }

    /// A number with a point, if one stands here.
    fn number(&mut self) -> Option<WireValue> {
        let text = self.rest.trim_start();
        let end = text
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-' | '+')))
            .unwrap_or(text.len());
        let (number, rest) = text.split_at(end);
        let pointed = number.contains('.') && is_number(number.as_bytes());
        if !pointed {
            return None;
        }
        self.rest = rest;
        Some(WireValue::Number(number.to_owned()))
    }

    fn value(&mut self, depth: usize) -> Option<WireValue> {
        if depth > DEPTH {
            return None;
        }
        if self.eat('[') {
            return self.list(']', |r| r.value(depth + 1)).map(WireValue::List);
        }
        if self.eat('{') {
            return self
                .list('}', |r| {
                    let name = match r.quoted() {
                        Some(text) => text?,
                        None => r.word()?.to_owned(),
                    };
                    r.eat(':').then_some(())?;
                    Some((name, r.value(depth + 1)?))
                })
                .map(WireValue::Record);
        }
        if let Some(text) = self.quoted() {
            return text.map(WireValue::Text);
        }
        if let Some(number) = self.number() {
            return Some(number);
        }
        let word = self.word()?.to_owned();
        // A variant with its fields: `Circle(3)`.
        if self.rest.starts_with('(') && self.eat('(') {
            let fields = self.list(')', |r| r.value(depth + 1))?;
            return Some(WireValue::Record(vec![(word, WireValue::List(fields))]));
        }
        Some(match word.as_str() {
            "true" => WireValue::Bool(true),
            "false" => WireValue::Bool(false),
            _ => {
                if let Some(hex) = word.strip_prefix("0x") {
                    WireValue::Bytes(bytes_of_hex(hex.as_bytes())?)
                } else if let Some(n) = integer(word.as_bytes()) {
                    WireValue::Int(n)
                } else {
                    WireValue::Text(word)
                }
            }
        })
    }
}

/// Digits beyond this are no integer: reading them takes quadratic time.
const DIGITS: usize = 10_000;

/// A number as JSON writes it: `-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?`.
pub(crate) fn is_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_digit()).count();
    let rest = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(rest);
    let mut rest = &rest[whole..];
    if whole == 0 || text.len() > DIGITS {
        return false;
    }
    if let Some(fraction) = rest.strip_prefix(b".") {
        let places = digits(fraction);
        if places == 0 {
            return false;
        }
        rest = &fraction[places..];
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = match exponent {
            [b'+' | b'-', more @ ..] => more,
            _ => exponent,
        };
        let places = digits(exponent);
        if places == 0 {
            return false;
        }
        rest = &exponent[places..];
    }
    rest.is_empty()
}

/// `-?[0-9]+`, exactly.
pub(crate) fn integer(text: &[u8]) -> Option<BigInt> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if digits.is_empty() || digits.len() > DIGITS || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    BigInt::parse_bytes(text, 10)
}

pub(crate) fn bytes_of_hex(text: &[u8]) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    text.chunks(2)
        .map(|pair| {
            let high = char::from(pair[0]).to_digit(16)?;
            let low = char::from(pair[1]).to_digit(16)?;
            Some((high * 16 + low) as u8)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notation_is_read_with_free_spaces() {
        let action = ConcreteAction::parse("MSG( 3,true, RED ,\"a b\", [1, -2], {x: 0x0aff})");
        assert_eq!(action.name, "MSG");
        assert_eq!(
            action.to_string(),
            "MSG(3, true, RED, \"a b\", [1, -2], {x: 0x0aff})"
        );
        assert_eq!(ConcreteAction::parse(&action.to_string()), action);
    }

    #[test]
    fn other_text_is_a_bare_name() {
        for text in ["coffee", "a(b", "(x)", "f(1) g", "200 OK", ""] {
            assert_eq!(ConcreteAction::parse(text), ConcreteAction::bare(text));
        }
        let deep = format!("a({}{})", "[".repeat(10_000), "]".repeat(10_000));
        assert_eq!(ConcreteAction::parse(&deep).args, []);
    }
}
