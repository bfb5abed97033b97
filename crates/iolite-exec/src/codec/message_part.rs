//! What a message says beside its text: header fields of a response, values at paths of JSON.

use std::borrow::Cow;

use super::json_path::{JsonPath, Selected};
use super::template::{Part, Slot};
use super::{CodecError, HoleKind, Template};
use crate::WireValue;

/// A message as templates read it.
pub(crate) struct MessageView<'a> {
    /// The message without header fields.
    pub(crate) text: Cow<'a, [u8]>,
    headers: Vec<(&'a [u8], &'a [u8])>,
    /// What may be JSON: the body of a response, or all of another message.
    body: &'a [u8],
}

impl<'a> MessageView<'a> {
    pub(crate) fn plain(bytes: &'a [u8]) -> Self {
        Self {
            text: bytes.into(),
            headers: Vec::new(),
            body: bytes,
        }
    }

    /// A response: status, a space and the body, or where headers are asked for, lines with the status
    /// and the header fields, an empty line, and the body.
    pub(crate) fn of_response(bytes: &'a [u8]) -> Self {
        if bytes.get(3).is_none_or(|b| *b != b'\n') {
            let space = bytes.iter().position(|b| *b == b' ');
            return Self {
                body: space.map_or(&[], |at| &bytes[at + 1..]),
                ..Self::plain(bytes)
            };
        }
        let (head, body) = match bytes.windows(2).position(|pair| pair == b"\n\n") {
            Some(end) => (&bytes[..end], &bytes[end + 2..]),
            None => (bytes, &[][..]),
        };
        let mut lines = head.split(|b| *b == b'\n');
        let mut text = lines.next().unwrap_or_default().to_vec();
        if !body.is_empty() {
            text.push(b' ');
            text.extend_from_slice(body);
        }
        let headers = lines.filter_map(|line| {
            let colon = line.iter().position(|b| *b == b':')?;
            Some((&line[..colon], line[colon + 1..].trim_ascii()))
        });
        Self {
            text: text.into(),
            headers: headers.collect(),
            body,
        }
    }
}

/// Where a part of a message stands.
#[derive(Clone, Debug)]
enum Selector {
    /// A header field, by its name without regard to case.
    Header(String),
    /// A value of the JSON that the message, or its body, is.
    Json(JsonPath),
}

/// A part of a message with the template that it must fit.
#[derive(Clone, Debug)]
pub struct MessagePart {
    selector: Selector,
    template: Template,
}

impl MessagePart {
    /// A header field of a response. Where the field comes several times, one that fits is enough.
    pub fn header(name: &str, template: &str) -> Result<Self, String> {
        let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(format!("{name:?} is no name of a header field"));
        }
        Self::new(Selector::Header(name.into()), template)
    }

    /// The value at a path such as `$.user.id` or `items[0].name`.
    pub fn json(path: &str, template: &str) -> Result<Self, String> {
        Self::new(Selector::Json(path.parse()?), template)
    }

    fn new(selector: Selector, template: &str) -> Result<Self, String> {
        let template = Template::parse(template).map_err(|e| e.to_string())?;
        template.check_holes_end().map_err(|e| e.to_string())?;
        Ok(Self { selector, template })
    }

    /// The template.
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// Puts the parameters in the order of the action's.
    pub(crate) fn with_params(self, order: &[String]) -> Result<Self, String> {
        let template = self
            .template
            .with_params(order)
            .map_err(|e| e.to_string())?;
        Ok(Self { template, ..self })
    }

    /// As the description has it.
    pub(crate) fn name(&self) -> String {
        match &self.selector {
            Selector::Header(name) => format!("header {name}"),
            Selector::Json(path) => path.to_string(),
        }
    }

    /// The values that it gives.
    pub(crate) fn read(
        &self,
        view: &MessageView<'_>,
    ) -> Result<Vec<(&Slot, WireValue)>, CodecError> {
        match &self.selector {
            Selector::Header(name) => {
                let fits = |(n, _): &&(&[u8], &[u8])| n.eq_ignore_ascii_case(name.as_bytes());
                let mut reason = CodecError("the response has none".into());
                for (_, value) in view.headers.iter().filter(fits) {
                    match self.template.read_slots(value) {
                        Ok(values) => return Ok(values),
                        Err(e) => reason = e,
                    }
                }
                Err(reason)
            }
            Selector::Json(path) => {
                let selected = path.select(view.body)?;
                let text = self.text_of(&selected)?;
                self.template.read_slots(text.as_bytes())
            }
        }
    }

    /// What the template reads of a value. A string is its characters, but a hole of JSON takes the value
    /// as it is written. A hole alone keeps JSON's types apart: a number is no text, and a text no
    /// number.
    fn text_of<'a>(&self, selected: &'a Selected<'_>) -> Result<Cow<'a, str>, CodecError> {
        let alone = match self.template.parts() {
            [Part::Hole { kind, .. }] => Some(kind),
            _ => None,
        };
        let string = selected.string();
        let fits = match alone {
            Some(HoleKind::Json) => return Ok(selected.raw().into()),
            Some(HoleKind::Int | HoleKind::Bool | HoleKind::CapitalBool) => string.is_none(),
            Some(HoleKind::Text | HoleKind::Word | HoleKind::Hex | HoleKind::Regex(_)) => {
                string.is_some()
            }
            Some(_) | None => true,
        };
        match string {
            _ if !fits => Err(CodecError(format!(
                "{} is of another type",
                crate::brief(selected.raw())
            ))),
            Some(string) => Ok(string.into()),
            None => Ok(selected.raw().into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(part: &MessagePart, message: &str) -> Result<Vec<String>, String> {
        let view = MessageView::of_response(message.as_bytes());
        let values = part.read(&view).map_err(|e| e.0)?;
        Ok(values.iter().map(|(_, value)| value.to_string()).collect())
    }

    #[test]
    fn headers_are_read_by_name() {
        let message =
            "201\nset-cookie: a=1; Path=/\nset-cookie: b=xyz\nlocation: /orders/7\n\n{}\n\n";
        for (name, template, want) in [
            ("Location", "/orders/{n:int}", Some("7")),
            ("LOCATION", "/{_}/{n}", Some("7")),
            ("Set-Cookie", "b={b:word}", Some("xyz")),
            ("Set-Cookie", "a={a:int};{_}", Some("1")),
            ("Set-Cookie", "c={_}", None),
            ("ETag", "{_}", None),
        ] {
            let part = MessagePart::header(name, template).unwrap();
            let got = read(&part, message);
            assert_eq!(
                got.ok(),
                want.map(|w| vec![w.to_owned()]),
                "{name} {template}"
            );
        }
        let view = MessageView::of_response(message.as_bytes());
        assert_eq!(&*view.text, b"201 {}\n\n");
        for plain in ["200 {\"a\": 1}", "204", "", "200", "20"] {
            let view = MessageView::of_response(plain.as_bytes());
            assert_eq!(&*view.text, plain.as_bytes());
        }
        assert!(MessagePart::header("a b", "{_}").is_err());
        assert!(MessagePart::header("a", "{x}{y}").is_err());
    }

    #[test]
    fn values_keep_their_types() {
        for (template, value, want) in [
            ("{n:int}", "7", Some("7")),
            ("{n:int}", "\"7\"", None),
            ("{n}", "\"7\"", Some("7")),
            ("{s:string}", "\"a\\nb\"", Some("\"a\\nb\"")),
            ("{s:string}", "7", None),
            ("{v:json}", "[1, \"x\"]", Some("[1, x]")),
            ("{v:json}", "null", None),
            ("{b:bool}", "true", Some("true")),
            ("id-{n:int}", "\"id-12\"", Some("12")),
            ("{_}", "null", None),
        ] {
            let part = MessagePart::json("$.v", template).unwrap();
            let got = read(&part, &format!("200 {{\"v\": {value}}}"));
            match want {
                Some(want) => assert_eq!(got, Ok(vec![want.to_owned()]), "{template} {value}"),
                None => assert!(
                    !got.is_ok_and(|values| !values.is_empty()),
                    "{template} {value}"
                ),
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn hostile_messages_never_panic(bytes: Vec<u8>, text in "[0-9a:{}\\[\\]\" \n]{0,40}") {
            let header = MessagePart::header("a", "{x:int}{_}").unwrap();
            let json = MessagePart::json("a[0]", "{x}").unwrap();
            for bytes in [&*bytes, text.as_bytes()] {
                let view = MessageView::of_response(bytes);
                let _ = header.read(&view);
                let _ = json.read(&view);
            }
        }
    }
}
