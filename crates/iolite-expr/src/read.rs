//! Values of a known sort from the text that shows them.
//!
//! Labels, logs and records write values in one of two ways: as [`Value`] displays them
//! (`Point { x = 1 }`), or as they crossed the wire (`{x: 1}`, a word without quotes). Both are read;
//! expressions are not.

use crate::{Int, Sort, Value};

/// Nesting beyond this is not read.
const DEPTH: usize = 64;

/// Digits beyond this are no integer: reading them takes quadratic time.
const DIGITS: usize = 10_000;

impl Value {
    /// The value of this sort that a text shows. An integer outside of its range is still read.
    pub fn read(text: &str, sort: &Sort) -> Option<Self> {
        read(text, sort, 0)
    }

    /// The name of an action and the texts of its values: `MSG(3, true)`. A text of another form is a name
    /// as a whole.
    pub fn split_action(text: &str) -> (&str, Vec<&str>) {
        let call = || {
            let (name, rest) = text.split_once('(')?;
            let inner = rest.trim_end().strip_suffix(')')?;
            let name = name.trim_end();
            (!name.is_empty()).then_some((name, split(inner)?))
        };
        call().unwrap_or((text, Vec::new()))
    }
}

fn read(text: &str, sort: &Sort, depth: usize) -> Option<Value> {
    let text = text.trim();
    if depth > DEPTH {
        return None;
    }
    let inner = |text: &str, sort: &Sort| read(text, sort, depth + 1);
    match sort {
        Sort::Bool => text.parse().ok().map(Value::Bool),
        Sort::Int | Sort::Range(_) => {
            let digits = text.strip_prefix('-').unwrap_or(text);
            let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            let number = (plain && digits.len() <= DIGITS).then(|| text.parse::<Int>());
            number?.ok().map(Value::Int)
        }
        Sort::String if text.starts_with('"') => unquote(text).map(|s| Value::str(&s)),
        Sort::String => (!text.is_empty()).then(|| Value::str(text)),
        Sort::Enum(_) => Value::variant(sort, text),
        Sort::Array(of) => {
            let items = split(text.strip_prefix('[')?.strip_suffix(']')?)?;
            let items: Option<Vec<Value>> = items.into_iter().map(|t| inner(t, of)).collect();
            items.map(Value::array)
        }
        Sort::Decimal(scale) => Value::decimal(text, *scale),
        Sort::Set(of) => {
            let items = enclosed(text)?;
            let items: Option<Vec<Value>> = items.into_iter().map(|t| inner(t, of)).collect();
            let items = items?;
            let count = items.len();
            // An element that comes twice is a mistake of whoever wrote it.
            match Value::set(items) {
                Value::Set(set) if set.len() == count => Some(Value::Set(set)),
                _ => None,
            }
        }
        Sort::Map(m) => {
            let pair = |item: &str| {
                // `[key, value]`, or `key: value`.
                let (key, value) = match item.strip_prefix('[') {
                    Some(open) if item.ends_with(']') => {
                        match split(open.strip_suffix(']')?)?.as_slice() {
                            [key, value] => (*key, *value),
                            _ => return None,
                        }
                    }
                    _ => {
                        let at = colon(item)?;
                        (&item[..at], &item[at + 1..])
                    }
                };
                Some((inner(key, &m.0)?, inner(value, &m.1)?))
            };
            let items = enclosed(text)?;
            let pairs: Option<Vec<(Value, Value)>> = items.into_iter().map(pair).collect();
            let pairs = pairs?;
            let count = pairs.len();
            match Value::map(pairs) {
                Value::Map(map) if map.len() == count => Some(Value::Map(map)),
                _ => None,
            }
        }
        Sort::Record(r) => {
            let fields = fields(text, &r.name)?;
            let items: Option<Vec<Value>> = named(&fields, &r.fields, &inner);
            Value::record(sort, items?)
        }
        Sort::Sum(sum) => {
            // `Circle(2)`, `Rect { w = 1, h = 2 }`, `{Rect: {w: 1, h: 2}}`, `{Circle: [2]}`, `Dot`.
            let wrapped = text.strip_prefix('{').and_then(|t| t.strip_suffix('}'));
            let (name, rest) = match wrapped {
                Some(one) => one.split_once(':')?,
                None => text.split_at(text.find(['(', '{']).unwrap_or(text.len())),
            };
            let variant = sum.variant_index(name.trim())?;
            let names = sum.variant(variant)?.fields.iter().map(|(name, _)| name);
            let declared: Vec<(Box<str>, Sort)> =
                names.cloned().zip(sum.field_sorts(variant)).collect();
            let rest = rest.trim();
            let items = if rest.starts_with('{') {
                named(&fields(rest, "")?, &declared, &inner)?
            } else {
                let open = rest.strip_prefix(['(', '[']).unwrap_or_default();
                let items = split(open.strip_suffix([')', ']']).unwrap_or_default())?;
                let fits = items.len() == declared.len();
                let items = items.into_iter().zip(&declared);
                let items: Option<_> = items.map(|(t, (_, of))| inner(t, of)).collect();
                items.filter(|_| fits)?
            };
            Value::sum(sum, variant, items)
        }
        // Members are only within the declarations of sums.
        Sort::Member(_) => None,
    }
}

/// The fields of `Name { a = 1 }` or `{a: 1}`.
fn fields<'a>(text: &'a str, name: &str) -> Option<Vec<(&'a str, &'a str)>> {
    let text = text.strip_prefix(name).unwrap_or(text).trim_start();
    let items = split(text.strip_prefix('{')?.strip_suffix('}')?)?;
    let field = |item: &'a str| {
        let at = item.find(['=', ':'])?;
        Some((item[..at].trim(), item[at + 1..].trim()))
    };
    items.into_iter().map(field).collect()
}

fn named(
    fields: &[(&str, &str)],
    declared: &[(Box<str>, Sort)],
    read: &impl Fn(&str, &Sort) -> Option<Value>,
) -> Option<Vec<Value>> {
    if fields.len() != declared.len() {
        return None;
    }
    let value = |(name, sort): &(Box<str>, Sort)| {
        let (_, text) = fields.iter().find(|(n, _)| *n == &**name)?;
        read(text, sort)
    };
    declared.iter().map(value).collect()
}

/// What stands in braces or brackets.
fn enclosed(text: &str) -> Option<Vec<&str>> {
    let braces = text.strip_prefix('{').and_then(|t| t.strip_suffix('}'));
    let inner = braces.or_else(|| text.strip_prefix('[')?.strip_suffix(']'))?;
    split(inner)
}

/// The first colon that stands in no bracket and no quotes.
fn colon(text: &str) -> Option<usize> {
    let (mut open, mut quoted, mut escaped) = (0u32, false, false);
    for (i, c) in text.char_indices() {
        if quoted {
            quoted = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '"' => quoted = true,
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => open = open.checked_sub(1)?,
            ':' if open == 0 => return Some(i),
            _ => {}
        }
    }
    None
}

/// The parts between commas that stand in no bracket and no quotes.
fn split(text: &str) -> Option<Vec<&str>> {
    if text.trim().is_empty() {
        return Some(Vec::new());
    }
    let (mut parts, mut start, mut open) = (Vec::new(), 0, Vec::new());
    let (mut quoted, mut escaped) = (false, false);
    for (i, c) in text.char_indices() {
        if quoted {
            quoted = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '"' => quoted = true,
            '(' => open.push(')'),
            '[' => open.push(']'),
            '{' => open.push('}'),
            ')' | ']' | '}' if open.pop() != Some(c) => return None,
            ',' if open.is_empty() => {
                parts.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    (open.is_empty() && !quoted).then_some(parts)
}

/// A text in quotes, with the escapes of JSON and `\u{e9}`.
fn unquote(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut result = String::with_capacity(inner.len());
    let mut rest = inner.chars();
    while let Some(c) = rest.next() {
        match c {
            '"' => return None,
            '\\' => match rest.next()? {
                'n' => result.push('\n'),
                'r' => result.push('\r'),
                't' => result.push('\t'),
                'b' => result.push('\u{8}'),
                'f' => result.push('\u{c}'),
                '0' => result.push('\0'),
                'u' => {
                    let mut first = unicode(&mut rest)?;
                    // JSON writes what is beyond 16 bits as two.
                    if (0xD800..0xDC00).contains(&first) {
                        (rest.next()? == '\\' && rest.next()? == 'u').then_some(())?;
                        let second = unicode(&mut rest)?.checked_sub(0xDC00)?;
                        first = 0x10000 + ((first - 0xD800) << 10) + second;
                    }
                    result.push(char::from_u32(first)?);
                }
                other @ ('"' | '\\' | '/' | '\'') => result.push(other),
                _ => return None,
            },
            c => result.push(c),
        }
    }
    Some(result)
}

fn unicode(rest: &mut std::str::Chars<'_>) -> Option<u32> {
    let text = rest.as_str();
    let (digits, length) = if let Some(inner) = text.strip_prefix('{') {
        let end = inner.find('}')?;
        (&inner[..end], end + 2)
    } else {
        (text.get(..4)?, 4)
    };
    *rest = text[length..].chars();
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, sort: &Sort) -> Option<String> {
        Value::read(text, sort).map(|v| v.to_string())
    }

    #[test]
    fn values_are_read_as_they_are_shown() {
        let colour = Sort::enumeration("Colour", &["red", "green"]).unwrap();
        let fields = vec![("x".into(), Sort::Int), ("c".into(), colour.clone())];
        let point = Sort::record("Point", fields).unwrap();
        let points = Sort::array(point.clone()).unwrap();
        for (text, sort, value) in [
            ("-12", &Sort::Int, Some("-12")),
            ("1.5", &Sort::Int, None),
            ("", &Sort::Int, None),
            ("true", &Sort::Bool, Some("true")),
            ("1", &Sort::Bool, None),
            ("word", &Sort::String, Some("\"word\"")),
            ("7", &Sort::String, Some("\"7\"")),
            (r#""a,\"b\" \u00e9""#, &Sort::String, Some(r#""a,\"b\" é""#)),
            (r#""\ud83d\ude00\u{e9}""#, &Sort::String, Some("\"😀é\"")),
            (r#""open"#, &Sort::String, None),
            ("green", &colour, Some("green")),
            ("blue", &colour, None),
            ("{c: red, x: 3}", &point, Some("Point { x = 3, c = red }")),
            (
                "Point { x = 3, c = red }",
                &point,
                Some("Point { x = 3, c = red }"),
            ),
            ("{x: 3}", &point, None),
            (
                "[{x: 1, c: red}, Point {x = 2, c = green}]",
                &points,
                Some("[Point { x = 1, c = red }, Point { x = 2, c = green }]"),
            ),
            ("[]", &points, Some("[]")),
            ("[1", &points, None),
        ] {
            assert_eq!(shown(text, sort).as_deref(), value, "{text} of {sort}");
        }
    }

    #[test]
    fn actions_are_split_at_their_own_commas() {
        for (text, name, args) in [
            ("go", "go", vec![]),
            ("go()", "go", vec![]),
            (
                "MSG(3, [1, 2], \"a, )\")",
                "MSG",
                vec!["3", "[1, 2]", "\"a, )\""],
            ),
            ("odd(3", "odd(3", vec![]),
            ("(3)", "(3)", vec![]),
        ] {
            assert_eq!(Value::split_action(text), (name, args), "{text}");
        }
    }
}
