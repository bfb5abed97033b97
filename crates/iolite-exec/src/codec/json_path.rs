//! Paths into JSON: `$.user.id`, `items[0].name`, `$['a key']`.

use std::fmt;
use std::str::FromStr;

use serde_json::value::RawValue;

use super::CodecError;
use super::json::Fields;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Key(String),
    Index(usize),
}

/// The way from a JSON document to one of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonPath {
    text: String,
    segments: Vec<Segment>,
}

/// Longer paths are not read: each segment reads the value before it again.
const SEGMENTS: usize = 32;

impl FromStr for JsonPath {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fail =
            || format!("{text:?} is no path of JSON; write $.user.id, items[0].name or $['a key']");
        let mut rest = text.strip_prefix('$').unwrap_or(text);
        if rest.len() == text.len() && !rest.starts_with('[') {
            // Without `$` the first key has no dot before it.
            let (key, after) = split_key(rest).ok_or_else(fail)?;
            rest = after;
            return Self::with(text, vec![Segment::Key(key.into())], rest).ok_or_else(fail);
        }
        Self::with(text, Vec::new(), rest).ok_or_else(fail)
    }
}

fn split_key(text: &str) -> Option<(&str, &str)> {
    let end = text.find(['.', '[']).unwrap_or(text.len());
    let (key, rest) = text.split_at(end);
    (!key.is_empty() && !key.contains([']', '\'', '"'])).then_some((key, rest))
}

impl JsonPath {
    fn with(text: &str, mut segments: Vec<Segment>, mut rest: &str) -> Option<Self> {
        while !rest.is_empty() {
            if segments.len() >= SEGMENTS {
                return None;
            }
            if let Some(after) = rest.strip_prefix('.') {
                let (key, after) = split_key(after)?;
                segments.push(Segment::Key(key.into()));
                rest = after;
            } else if let Some(after) = rest.strip_prefix("['") {
                let (key, after) = after.split_once("']")?;
                segments.push(Segment::Key(key.into()));
                rest = after;
            } else {
                let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
                segments.push(Segment::Index(index.parse().ok()?));
                rest = after;
            }
        }
        Some(Self {
            text: text.into(),
            segments,
        })
    }

    /// The value at the path, as it is written.
    pub(crate) fn select<'a>(&self, document: &'a [u8]) -> Result<Selected<'a>, CodecError> {
        let mut at: &'a RawValue =
            serde_json::from_slice(document).map_err(|e| CodecError(format!("no JSON: {e}")))?;
        for segment in &self.segments {
            at = step(at, segment)?;
        }
        Ok(Selected(at))
    }
}

fn step<'a>(value: &'a RawValue, segment: &Segment) -> Result<&'a RawValue, CodecError> {
    let missing = || {
        CodecError(match segment {
            Segment::Key(key) => format!("there is no key {key:?}"),
            Segment::Index(index) => format!("there is no element {index}"),
        })
    };
    match segment {
        Segment::Key(key) => {
            if !value.get().starts_with('{') {
                return Err(missing());
            }
            let Fields(fields) = serde_json::from_str(value.get())
                .map_err(|e| CodecError(format!("no JSON: {e}")))?;
            let mut found = fields.into_iter().filter(|(name, _)| name == key);
            match (found.next(), found.next()) {
                (Some((_, value)), None) => Ok(value),
                (None, _) => Err(missing()),
                (Some(_), Some(_)) => Err(CodecError(format!("the key {key:?} comes twice"))),
            }
        }
        Segment::Index(index) => {
            if !value.get().starts_with('[') {
                return Err(missing());
            }
            let items: Vec<&RawValue> = serde_json::from_str(value.get())
                .map_err(|e| CodecError(format!("no JSON: {e}")))?;
            items.get(*index).copied().ok_or_else(missing)
        }
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A value of a JSON document.
pub(crate) struct Selected<'a>(&'a RawValue);

impl Selected<'_> {
    /// As it is written.
    pub(crate) fn raw(&self) -> &str {
        self.0.get()
    }

    /// The characters of a string; `None` for other values.
    pub(crate) fn string(&self) -> Option<String> {
        if !self.raw().starts_with('"') {
            return None;
        }
        serde_json::from_str(self.raw()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found() {
        let document = br#" {"user": {"id": 12345678901234567890, "a key": ["x", {"n": true}]}, "e": [], "t": 1, "t": 2} "#;
        for (path, want) in [
            ("$.user.id", Some("12345678901234567890")),
            ("user.id", Some("12345678901234567890")),
            ("$.user['a key'][0]", Some("\"x\"")),
            ("user['a key'][1].n", Some("true")),
            ("$['user']['a key'][2]", None),
            ("$.e[0]", None),
            ("$.e.x", None),
            ("$.user[0]", None),
            ("$.t", None),
            ("$.nothing", None),
        ] {
            let got = path.parse::<JsonPath>().unwrap().select(document);
            assert_eq!(got.as_ref().ok().map(Selected::raw), want, "{path}");
        }
        let all = "$".parse::<JsonPath>().unwrap();
        assert_eq!(all.select(b"[1]").unwrap().raw(), "[1]");
        let first = "[1]".parse::<JsonPath>().unwrap();
        assert_eq!(first.select(b"[1, 2]").unwrap().raw(), "2");
        assert!(all.select(b"{").is_err());
        assert!(all.select(b"\xff").is_err());
    }

    #[test]
    fn other_texts_are_no_paths() {
        for text in [
            "", "$.", "a..b", "a[", "a[x]", "a[-1]", "$a", "a]", "a['b", "$.a'b",
        ] {
            assert!(text.parse::<JsonPath>().is_err(), "{text}");
        }
        assert!(".a".repeat(33).parse::<JsonPath>().is_err());
    }
}
