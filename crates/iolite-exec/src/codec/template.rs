//! Messages with typed holes: `BUTTON {n}`, `MSG {m:int} {b:bool}`, `{0xff}{len:u16be}{s:string}`.

use crate::WireValue;
use crate::codec::concrete_action::bytes_of_hex;

use super::hole::Extent;
use super::{CodecError, HoleKind, Typing};

/// Why a template cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("template {template:?}: {reason}")]
pub struct TemplateError {
    /// The template.
    pub template: String,
    /// What is wrong with it.
    pub reason: String,
}

#[derive(Clone, Debug)]
enum Part {
    Literal(Vec<u8>),
    /// `param` is `None` for `{_}`, whose value does not matter.
    Hole {
        param: Option<usize>,
        kind: HoleKind,
    },
}

/// Holes and literals beyond this are not read: matching recurses over the parts.
const PARTS: usize = 64;

/// Work a match may cost before it is given up; a hostile message could otherwise make a template
/// with several open holes take time of a high power of its length.
const BUDGET: u32 = 100_000;

/// A message with typed holes for the values of an action.
#[derive(Clone, Debug)]
pub struct Template {
    text: String,
    parts: Vec<Part>,
    params: Vec<String>,
}

impl Template {
    /// Reads a template. `{{` and `}}` stand for braces, `{0x0aff}` for raw bytes; what is read for
    /// `{_}` is dropped.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let fail = |reason: String| TemplateError {
            template: text.into(),
            reason,
        };
        let mut template = Self {
            text: text.into(),
            parts: Vec::new(),
            params: Vec::new(),
        };
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if rest.starts_with("{{") || rest.starts_with("}}") {
                template.literal(&rest.as_bytes()[..1]);
                rest = &rest[2..];
            } else if c == '}' {
                return Err(fail("a lone }; write }} for a brace".into()));
            } else if c == '{' {
                let (hole, after) =
                    Self::split_hole(&rest[1..]).ok_or_else(|| fail("a hole without }".into()))?;
                rest = after;
                if let Some(hex) = hole.strip_prefix("0x") {
                    let bytes = bytes_of_hex(hex.as_bytes())
                        .ok_or_else(|| fail(format!("{{{hole}}} is no row of bytes")))?;
                    template.literal(&bytes);
                } else {
                    template.hole(hole).map_err(fail)?;
                }
            } else {
                template.literal(&rest.as_bytes()[..c.len_utf8()]);
                rest = &rest[c.len_utf8()..];
            }
            if template.parts.len() > PARTS {
                return Err(fail(format!("more than {PARTS} parts")));
            }
        }
        Ok(template)
    }

    /// A regular expression may hold braces, so its hole ends at `/}`.
    fn split_hole(text: &str) -> Option<(&str, &str)> {
        let brace = text.find('}')?;
        let end = match text.find(":/") {
            Some(colon) if colon < brace => colon + 2 + text[colon + 2..].find("/}")? + 1,
            _ => brace,
        };
        Some((&text[..end], &text[end + 1..]))
    }

    fn literal(&mut self, bytes: &[u8]) {
        if let Some(Part::Literal(last)) = self.parts.last_mut() {
            last.extend_from_slice(bytes);
        } else {
            self.parts.push(Part::Literal(bytes.to_vec()));
        }
    }

    fn hole(&mut self, hole: &str) -> Result<(), String> {
        let (name, kind) = match hole.split_once(':') {
            Some((name, kind)) => (name.trim(), HoleKind::parse(kind.trim())?),
            None => (hole.trim(), HoleKind::Any),
        };
        if name.is_empty() {
            return Err("a hole without a name".into());
        }
        if name == "_" {
            self.parts.push(Part::Hole { param: None, kind });
            return Ok(());
        }
        let known = self.params.iter().position(|p| p == name);
        let param = Some(known.unwrap_or(self.params.len()));
        if known.is_none() {
            self.params.push(name.into());
        }
        self.parts.push(Part::Hole { param, kind });
        Ok(())
    }

    /// Puts the parameters in the order of the action's; each of the template's must be there.
    pub(crate) fn with_params(mut self, order: &[String]) -> Result<Self, TemplateError> {
        let fail = |reason: String| TemplateError {
            template: self.text.clone(),
            reason,
        };
        let mut map = Vec::new();
        for name in &self.params {
            let Some(at) = order.iter().position(|p| p == name) else {
                return Err(fail(format!(
                    "hole {name} is no parameter of the action ({})",
                    order.join(", ")
                )));
            };
            map.push(at);
        }
        for part in &mut self.parts {
            if let Part::Hole {
                param: Some(param), ..
            } = part
            {
                *param = map[*param];
            }
        }
        self.params = order.to_vec();
        Ok(self)
    }

    /// Checks that messages can be read by it: each parameter has a hole, and an open hole is
    /// followed by a literal or by nothing.
    pub fn check_readable(&self) -> Result<(), TemplateError> {
        let fail = |reason: String| TemplateError {
            template: self.text.clone(),
            reason,
        };
        for pair in self.parts.windows(2) {
            if let [Part::Hole { kind, .. }, Part::Hole { .. }] = pair
                && !kind.is_self_delimiting()
            {
                return Err(fail(format!(
                    "nothing tells where the hole of type {} ends before the next hole",
                    kind.name()
                )));
            }
        }
        for (i, name) in self.params.iter().enumerate() {
            if !self
                .parts
                .iter()
                .any(|p| matches!(p, Part::Hole { param, .. } if *param == Some(i)))
            {
                return Err(fail(format!("parameter {name} has no hole")));
            }
        }
        Ok(())
    }

    /// The template as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Names of the parameters, in order.
    pub fn params(&self) -> &[String] {
        &self.params
    }

    /// What a message says of the sorts of its values, one for each parameter.
    pub(crate) fn typing(&self) -> Vec<Typing> {
        let of = |i| {
            let json = self.parts.iter().any(|part| {
                matches!(part, Part::Hole { param, kind: HoleKind::Json } if *param == Some(i))
            });
            if json { Typing::Json } else { Typing::Text }
        };
        (0..self.params.len()).map(of).collect()
    }

    /// The message itself, when there is no hole.
    pub fn constant(&self) -> Option<&[u8]> {
        match &*self.parts {
            [] => Some(b""),
            [Part::Literal(bytes)] => Some(bytes),
            _ => None,
        }
    }

    /// Appends the message with these values.
    pub fn write(&self, args: &[WireValue], bytes: &mut Vec<u8>) -> Result<(), CodecError> {
        if args.len() != self.params.len() {
            return Err(CodecError(format!(
                "template {:?} takes {} values, not {}",
                self.text,
                self.params.len(),
                args.len()
            )));
        }
        for part in &self.parts {
            match part {
                Part::Literal(literal) => bytes.extend_from_slice(literal),
                Part::Hole { param: None, .. } => {
                    return Err(CodecError(format!(
                        "template {:?} has a hole `_`, and nothing says what to send there",
                        self.text
                    )));
                }
                Part::Hole {
                    param: Some(param),
                    kind,
                } => kind.write(&args[*param], bytes)?,
            }
        }
        Ok(())
    }

    /// The values of a message, or why it does not fit.
    pub fn read(&self, bytes: &[u8]) -> Result<Vec<WireValue>, CodecError> {
        let mut matching = Matching {
            parts: &self.parts,
            bytes,
            args: vec![None; self.params.len()],
            budget: BUDGET,
            furthest: (0, 0),
        };
        if matching.go(0, 0) {
            return Ok(matching.args.into_iter().flatten().collect());
        }
        if matching.budget == 0 {
            return Err(CodecError(format!(
                "template {:?} was given up after {BUDGET} attempts",
                self.text
            )));
        }
        let (at, part) = matching.furthest;
        let wanted = match self.parts.get(part) {
            Some(Part::Literal(l)) => format!("{:?}", String::from_utf8_lossy(l)),
            Some(Part::Hole { param, kind }) => {
                let name = param.map_or("_", |param| &*self.params[param]);
                format!("{name} of type {}", kind.name())
            }
            None => "the end".into(),
        };
        Err(CodecError(format!("expected {wanted} at byte {at}")))
    }
}

struct Matching<'a> {
    parts: &'a [Part],
    bytes: &'a [u8],
    args: Vec<Option<WireValue>>,
    budget: u32,
    /// Offset and part of the mismatch that got furthest, for the message.
    furthest: (usize, usize),
}

impl Matching<'_> {
    fn go(&mut self, part: usize, at: usize) -> bool {
        self.budget = self.budget.saturating_sub(1);
        if self.budget == 0 {
            return false;
        }
        self.furthest = self.furthest.max((at, part));
        let rest = &self.bytes[at..];
        match self.parts.get(part) {
            None => rest.is_empty(),
            Some(Part::Literal(l)) => rest.starts_with(l) && self.go(part + 1, at + l.len()),
            Some(Part::Hole { param, kind }) => match kind.extent(rest) {
                Extent::None => false,
                Extent::To(end) => self.fill(part, *param, kind, at, at + end),
                Extent::Open => match self.parts.get(part + 1) {
                    None => self.fill(part, *param, kind, at, self.bytes.len()),
                    Some(Part::Literal(l)) => {
                        let mut from = at;
                        while let Some(found) = find(&self.bytes[from..], l) {
                            if self.fill(part, *param, kind, at, from + found) {
                                return true;
                            }
                            if self.budget == 0 {
                                return false;
                            }
                            from += found + 1;
                        }
                        false
                    }
                    // Refused by `check_readable`.
                    Some(Part::Hole { .. }) => false,
                },
            },
        }
    }

    fn fill(
        &mut self,
        part: usize,
        param: Option<usize>,
        kind: &HoleKind,
        from: usize,
        to: usize,
    ) -> bool {
        let Some(value) = kind.read(&self.bytes[from..to]) else {
            return false;
        };
        let Some(param) = param else {
            return self.go(part + 1, to);
        };
        let before = self.args[param].clone();
        if before.as_ref().is_some_and(|known| *known != value) {
            return false;
        }
        self.args[param] = Some(value);
        let matched = self.go(part + 1, to);
        if !matched {
            self.args[param] = before;
        }
        matched
    }
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|w| w == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(template: &str, message: &str) -> Result<String, String> {
        let template = Template::parse(template).map_err(|e| e.to_string())?;
        template.check_readable().map_err(|e| e.to_string())?;
        template
            .read(message.as_bytes())
            .map(|args| {
                args.iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join(" | ")
            })
            .map_err(|e| e.to_string())
    }

    #[test]
    fn messages_are_read() {
        for (template, message, values) in [
            ("MSG {m:int} {b:bool}", "MSG -3 true", "-3 | true"),
            ("{n} {s} {t}", "7 007 -0", "7 | \"007\" | \"-0\""),
            ("{_:/4../} {s:json} {_}", "404 \"no\" at all", "no"),
            (
                "{s} and {t}",
                "salt and pepper and oil",
                "salt | \"pepper and oil\"",
            ),
            ("{a:word}, {b:word}", "x y, z, w", "error"),
            (
                "k={v:json};",
                r#"k={"b": [1, "};"], "a": true};"#,
                r#"{a: true, b: [1, "};"]}"#,
            ),
            ("{a:json} {b:json}", r#"{"x": 1} 2"#, "{x: 1} | 2"),
            ("{v:json}", "0.5", "error"),
            (
                "{v:json}",
                "123456789012345678901234567890",
                "123456789012345678901234567890",
            ),
            (
                "{n:int}",
                "123456789012345678901234567890",
                "123456789012345678901234567890",
            ),
            ("id {x:/[a-f]{2,3}/}!", "id abc!", "abc"),
            ("id {x:/[a-f]{2,3}/}!", "id abcd!", "error"),
            ("{x:hex}", "0aFF", "0x0aff"),
            ("{x:hex}", "0aF", "error"),
            ("{x:int}-{x:int}", "4-4", "4"),
            ("{x:int}-{x:int}", "4-5", "error"),
            ("{{{n}}}", "{7}", "7"),
            (
                "{0x41}{n:u16be}{m:u16le}",
                "A\u{1}\u{2}\u{1}\u{2}",
                "258 | 513",
            ),
            ("", "", ""),
        ] {
            let got = read(template, message);
            if values == "error" {
                assert!(got.is_err(), "{template} {message} {got:?}");
            } else {
                assert_eq!(got.as_deref(), Ok(values), "{template} {message}");
            }
        }
    }

    #[test]
    fn a_mismatch_says_where() {
        assert_eq!(
            read("MSG {m:int} {b:bool}", "MSG 3 maybe"),
            Err("expected b of type bool at byte 6".into())
        );
    }

    #[test]
    fn bad_templates_are_refused() {
        for template in ["{", "}", "{}", "{n:float}", "{a}{b}", "{x:/(/}", "{0x1}"] {
            assert!(read(template, "").is_err(), "{template}");
        }
        assert!(Template::parse(&"{a}-".repeat(1000)).is_err());
    }

    #[test]
    fn an_ambiguous_template_does_not_hang() {
        let template = "{a} {b} {c} {d} {e}!";
        assert!(read(template, &" ".repeat(3000)).is_err());
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read_back(n: i64, b: bool, w in "[a-z]{1,8}", s in "\\PC{0,12}") {
            let template = Template::parse("M {n:int} {b:bool} {w:word} {j:json} {s:string}").unwrap();
            let record = WireValue::Record(vec![("k".into(), s.as_str().into())]);
            let args = [n.into(), b.into(), w.as_str().into(), record, s.as_str().into()];
            let mut bytes = Vec::new();
            template.write(&args, &mut bytes).unwrap();
            proptest::prop_assert_eq!(template.read(&bytes).unwrap(), args);
        }

        #[test]
        fn hostile_messages_never_panic(template in "[a{}:/x0 int]{0,20}", bytes: Vec<u8>) {
            if let Ok(template) = Template::parse(&template) && template.check_readable().is_ok() {
                let _ = template.read(&bytes);
            }
        }
    }
}
