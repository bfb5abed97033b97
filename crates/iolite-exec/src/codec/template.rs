//! Messages with typed holes: `BUTTON {n}`, `MSG {m:int} {b:bool}`, `{0xff}{len:u16be}{s:string}`,
//! `AT {p.x:int} {p.y:int}`, `TOKEN {$t}`.

use std::collections::BTreeMap;

use crate::WireValue;
use crate::codec::concrete_action::bytes_of_hex;

use super::matching::{Matching, Mismatch};
use super::slot_values::SlotValues;
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
pub(crate) enum Part {
    Literal(Vec<u8>),
    /// `slot` is `None` for `{_}`, whose value does not matter.
    Hole {
        slot: Option<usize>,
        kind: HoleKind,
    },
}

/// Where the value of a hole comes from, and goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// A parameter of the action, or a field of it: `{p.x}`.
    Param { param: usize, path: Vec<String> },
    /// What an earlier message of the run said: `{$token}`.
    Kept(String),
}

/// What messages of a run said in holes `{$name}`.
pub(crate) type KeptValues = BTreeMap<String, WireValue>;

/// Holes and literals beyond this are not read: matching recurses over the parts.
const PARTS: usize = 64;

/// A message with typed holes for the values of an action.
#[derive(Clone, Debug)]
pub struct Template {
    text: String,
    parts: Vec<Part>,
    slots: Vec<Slot>,
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
            slots: Vec::new(),
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
            self.parts.push(Part::Hole { slot: None, kind });
            return Ok(());
        }
        let slot = self.slot(name)?;
        let known = self.slots.iter().position(|s| *s == slot);
        let at = known.unwrap_or(self.slots.len());
        if known.is_none() {
            self.slots.push(slot);
        }
        self.parts.push(Part::Hole {
            slot: Some(at),
            kind,
        });
        Ok(())
    }

    /// What a name stands for; a new parameter comes behind those that are known.
    fn slot(&mut self, name: &str) -> Result<Slot, String> {
        if let Some(kept) = name.strip_prefix('$') {
            if kept.is_empty() {
                return Err("a hole {$} without a name".into());
            }
            return Ok(Slot::Kept(kept.into()));
        }
        let mut names = name.split('.');
        let param = names.next().unwrap_or_default();
        let path: Vec<String> = names.map(Into::into).collect();
        if param.is_empty() || path.iter().any(String::is_empty) {
            return Err(format!("{{{name}}} is no parameter and no field of one"));
        }
        let known = self.params.iter().position(|p| p == param);
        let at = known.unwrap_or(self.params.len());
        if known.is_none() {
            self.params.push(param.into());
        }
        // A value cannot be read as a whole and by its fields.
        let clash = self.slots.iter().any(|slot| match slot {
            Slot::Param { param, path: other } => {
                *param == at
                    && *other != path
                    && (other.starts_with(&path) || path.starts_with(other))
            }
            Slot::Kept(_) => false,
        });
        if clash {
            return Err(format!(
                "{{{name}}}: one hole is a part of another one; take the value or its fields"
            ));
        }
        Ok(Slot::Param { param: at, path })
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
        for slot in &mut self.slots {
            if let Slot::Param { param, .. } = slot {
                *param = map[*param];
            }
        }
        self.params = order.to_vec();
        Ok(self)
    }

    /// Checks that messages can be read by it: each parameter has a hole, and an open hole is
    /// followed by a literal or by nothing.
    pub fn check_readable(&self) -> Result<(), TemplateError> {
        self.check_holes_end()?;
        match (0..self.params.len()).find(|param| !self.reads(*param)) {
            None => Ok(()),
            Some(missing) => Err(TemplateError {
                template: self.text.clone(),
                reason: format!("parameter {} has no hole", self.params[missing]),
            }),
        }
    }

    /// Whether a hole gives this parameter, or a field of it.
    pub(crate) fn reads(&self, wanted: usize) -> bool {
        let is_wanted = |slot: &Slot| matches!(slot, Slot::Param { param, .. } if *param == wanted);
        self.slots.iter().any(is_wanted)
    }

    /// Checks that an open hole is followed by a literal or by nothing.
    pub(crate) fn check_holes_end(&self) -> Result<(), TemplateError> {
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
        Ok(())
    }

    /// Literals and holes, in order.
    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Names of the values that it keeps, or sends again.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &str> {
        self.slots.iter().filter_map(|slot| match slot {
            Slot::Kept(name) => Some(name.as_str()),
            Slot::Param { .. } => None,
        })
    }

    /// The holes of parameters; `None` where one is about a field alone.
    pub(crate) fn holes_of_params(&self) -> Option<Vec<(usize, &HoleKind)>> {
        let mut holes = Vec::new();
        for part in &self.parts {
            let Part::Hole {
                slot: Some(slot),
                kind,
            } = part
            else {
                continue;
            };
            match &self.slots[*slot] {
                Slot::Param { param, path } if path.is_empty() => holes.push((*param, kind)),
                Slot::Param { .. } => return None,
                Slot::Kept(_) => {}
            }
        }
        Some(holes)
    }

    /// Whether two holes must have the same value.
    pub(crate) fn repeats(&self) -> bool {
        let holes = |part: &&Part| matches!(part, Part::Hole { slot: Some(_), .. });
        self.parts.iter().filter(holes).count() > self.slots.len()
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
        let typing = |i| self.typing_of(i).unwrap_or(Typing::Text);
        (0..self.params.len()).map(typing).collect()
    }

    /// The same of one parameter; `None` where no hole is about it. Fields are of JSON's types where all
    /// of them are.
    pub(crate) fn typing_of(&self, wanted: usize) -> Option<Typing> {
        let holes = self.parts.iter().filter_map(|part| match part {
            Part::Hole {
                slot: Some(slot),
                kind,
            } => Some((&self.slots[*slot], kind)),
            _ => None,
        });
        let mut typing = None;
        for (slot, kind) in holes {
            let Slot::Param { param, path } = slot else {
                continue;
            };
            if *param != wanted {
                continue;
            }
            let json = matches!(kind, HoleKind::Json);
            typing = Some(match typing {
                None if json => Typing::Json,
                Some(Typing::Json) if json || path.is_empty() => Typing::Json,
                Some(Typing::Text) if json && path.is_empty() => Typing::Json,
                _ => Typing::Text,
            });
        }
        typing
    }

    /// The message itself, when there is no hole.
    pub fn constant(&self) -> Option<&[u8]> {
        match &*self.parts {
            [] => Some(b""),
            [Part::Literal(bytes)] => Some(bytes),
            _ => None,
        }
    }

    /// Appends the message with these values, and nothing for what was kept.
    pub fn write(&self, args: &[WireValue], bytes: &mut Vec<u8>) -> Result<(), CodecError> {
        self.write_with(args, &KeptValues::new(), bytes)
    }

    /// Appends the message with these values and those that were kept; nothing stands for one that was
    /// not seen yet.
    pub(crate) fn write_with(
        &self,
        args: &[WireValue],
        kept: &KeptValues,
        bytes: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
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
                Part::Hole { slot: None, .. } => {
                    return Err(CodecError(format!(
                        "template {:?} has a hole `_`, and nothing says what to send there",
                        self.text
                    )));
                }
                Part::Hole {
                    slot: Some(slot),
                    kind,
                } => match &self.slots[*slot] {
                    Slot::Kept(name) => {
                        if let Some(value) = kept.get(name) {
                            kind.write(value, bytes)?;
                        }
                    }
                    Slot::Param { param, path } => {
                        kind.write(field(&args[*param], path)?, bytes)?;
                    }
                },
            }
        }
        Ok(())
    }

    /// The values of a message, or why it does not fit.
    pub fn read(&self, bytes: &[u8]) -> Result<Vec<WireValue>, CodecError> {
        let mut values = SlotValues::new(self.params.len());
        values.take(self.read_slots(bytes)?)?;
        Ok(values.finish().0)
    }

    /// The values of a message's holes, or why it does not fit.
    pub(crate) fn read_slots(&self, bytes: &[u8]) -> Result<Vec<(&Slot, WireValue)>, CodecError> {
        let (at, part) = match Matching::new(&self.parts, bytes, self.slots.len()).run() {
            Ok(values) => {
                let slots = self.slots.iter().zip(values);
                return Ok(slots.filter_map(|(s, value)| Some((s, value?))).collect());
            }
            Err(Mismatch::GivenUp { attempts }) => {
                return Err(CodecError(format!(
                    "template {:?} was given up after {attempts} attempts",
                    self.text
                )));
            }
            Err(Mismatch::At { byte, part }) => (byte, part),
        };
        let wanted = match self.parts.get(part) {
            Some(Part::Literal(l)) => shown(l),
            Some(Part::Hole { slot, kind }) => {
                let name = match slot.map(|slot| &self.slots[slot]) {
                    None => "_".into(),
                    Some(Slot::Kept(name)) => format!("${name}"),
                    Some(Slot::Param { param, path }) => {
                        let param = [self.params[*param].clone()];
                        [&param[..], path].concat().join(".")
                    }
                };
                format!("{name} of type {}", kind.name())
            }
            None => "the end".into(),
        };
        Err(CodecError(format!("expected {wanted} at byte {at}")))
    }
}

/// A literal as its text, or as the template writes its bytes where they are none.
fn shown(literal: &[u8]) -> String {
    let is_text = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    match std::str::from_utf8(literal) {
        Ok(text) if text.chars().all(is_text) => format!("{text:?}"),
        _ => {
            let mut text = String::from("{0x");
            for byte in literal {
                text += &format!("{byte:02x}");
            }
            text + "}"
        }
    }
}

/// The field of a value that a path names.
fn field<'a>(value: &'a WireValue, path: &[String]) -> Result<&'a WireValue, CodecError> {
    path.iter().try_fold(value, |value, name| {
        let found = match value {
            WireValue::Record(fields) => fields.iter().find(|(n, _)| n == name),
            _ => None,
        };
        found
            .map(|(_, field)| field)
            .ok_or_else(|| CodecError(format!("value {value} has no field {name}")))
    })
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
            ("{v:json}", "0.5", "0.5"),
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
            ("AT {p.x:int},{p.y:int}!", "AT 3,-4!", "{x: 3, y: -4}"),
            (
                "{a.b.c} {n} {a.b.d:json} {a.e}",
                "1 2 [3] 4",
                "{b: {c: 1, d: [3]}, e: 4} | 2",
            ),
            ("{p.x:int},{p.x:int}", "3,4", "error"),
            ("{$t:word} {n:int}", "abc 3", "3"),
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
    fn what_is_dropped_need_not_be_text() {
        for (template, fits) in [
            ("{0x1234}{_}{0x0a000001}", true),
            ("{0x1234}{_}{0xc00c}{n:u16be}{_}", true),
            ("{_}", true),
            ("{0x1234}{x}{0x0a000001}", false),
            ("{0x1234}{_:string}{0x0a000001}", false),
            ("{0x1235}{_}", false),
        ] {
            let message = b"\x12\x34\x85\x80\x01one\xc0\x0c\x00\x01\x0a\x00\x00\x01";
            let read = Template::parse(template).unwrap().read(message);
            assert_eq!(read.is_ok(), fits, "{template}");
        }
    }

    #[test]
    fn a_mismatch_says_where() {
        assert_eq!(
            read("MSG {m:int} {b:bool}", "MSG 3 maybe"),
            Err("expected b of type bool at byte 6".into())
        );
        assert_eq!(
            read("{n:int}{0x85ff00}", "3x"),
            Err("expected {0x85ff00} at byte 1".into())
        );
    }

    #[test]
    fn bad_templates_are_refused() {
        for template in [
            "{",
            "}",
            "{}",
            "{n:float}",
            "{a}{b}",
            "{x:/(/}",
            "{0x1}",
            "{$}",
            "{.x}",
            "{p.}",
            "{p} {p.x}",
            "{p.x.y} {p.x}",
            "{p.x}{p.y}",
        ] {
            assert!(read(template, "").is_err(), "{template}");
        }
        assert!(Template::parse(&"{a}-".repeat(1000)).is_err());
    }

    #[test]
    fn an_ambiguous_template_does_not_hang() {
        let template = "{a} {b} {c} {d} {e}!";
        assert!(read(template, &" ".repeat(3000)).is_err());
    }

    #[test]
    fn fields_and_kept_values_are_written() {
        let template = Template::parse("{$t} {p.y:int} {p.x.z}").unwrap();
        let inner = WireValue::Record(vec![("z".into(), "w".into())]);
        let point = WireValue::Record(vec![("x".into(), inner), ("y".into(), 2.into())]);
        let mut bytes = Vec::new();
        let kept = KeptValues::from([("t".into(), "abc".into())]);
        let point = [point];
        template.write_with(&point, &kept, &mut bytes).unwrap();
        template.write(&point, &mut bytes).unwrap();
        assert_eq!(bytes, b"abc 2 w 2 w");
        let other = WireValue::Record(vec![("y".into(), 2.into())]);
        for other in [other, 3.into()] {
            let error = template.write(&[other], &mut bytes).unwrap_err();
            assert!(error.0.contains("has no field"), "{error}");
        }
    }

    proptest::proptest! {
        /// A record by its fields is the record.
        #[test]
        fn records_are_read_back_by_their_fields(x: i64, y: bool, z in "[a-z]{1,5}") {
            let template = Template::parse("{p.z:word} {q:int} {p.x:int} {p.y:bool}").unwrap();
            let fields = [("x", x.into()), ("y", y.into()), ("z", z.as_str().into())];
            let record = WireValue::Record(fields.map(|(n, v)| (n.to_owned(), v)).into());
            let args = [record, 7.into()];
            let mut bytes = Vec::new();
            template.write(&args, &mut bytes).unwrap();
            proptest::prop_assert_eq!(template.read(&bytes).unwrap(), args);
        }

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
