//! As much XML as Java-PT writes.

use super::JavaPtError;

/// Elements may be nested this deep; the format needs four.
const MAX_DEPTH: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Element {
    pub(super) name: String,
    attributes: Vec<(String, String)>,
    pub(super) children: Vec<Self>,
    pub(super) text: String,
}

impl Element {
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, v)| v.as_str())
    }

    pub(super) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|c| c.name == name)
    }

    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |c| c.name == name)
    }
}

pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            _ => out.push(c),
        }
    }
    out
}

pub(super) fn parse(text: &str) -> Result<Element, JavaPtError> {
    let mut reader = Reader { text, at: 0 };
    reader.misc()?;
    let root = reader.element(0)?;
    reader.misc()?;
    if reader.at < text.len() {
        return Err(reader.error("text after the root element"));
    }
    Ok(root)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn error(&self, message: &'static str) -> JavaPtError {
        JavaPtError::Xml {
            at: self.at,
            message,
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, mark: &str) -> bool {
        let found = self.rest().starts_with(mark);
        if found {
            self.at += mark.len();
        }
        found
    }

    fn until(&mut self, end: &str, message: &'static str) -> Result<&'a str, JavaPtError> {
        let rest = self.rest();
        let length = rest.find(end).ok_or_else(|| self.error(message))?;
        self.at += length + end.len();
        Ok(&rest[..length])
    }

    /// Blanks, comments and processing instructions.
    fn misc(&mut self) -> Result<(), JavaPtError> {
        self.eat("\u{feff}");
        loop {
            self.blanks();
            if self.eat("<!--") {
                self.until("-->", "comment without end")?;
            } else if self.eat("<?") {
                self.until("?>", "processing instruction without end")?;
            } else if self.rest().starts_with("<!") {
                return Err(self.error("document type declarations are not read"));
            } else {
                return Ok(());
            }
        }
    }

    fn name(&mut self) -> Result<String, JavaPtError> {
        let rest = self.rest();
        let ok = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
        let length = rest.find(|c| !ok(c)).unwrap_or(rest.len());
        if length == 0 {
            return Err(self.error("name expected"));
        }
        self.at += length;
        Ok(rest[..length].to_owned())
    }

    fn unescape(&self, text: &str) -> Result<String, JavaPtError> {
        let mut out = String::with_capacity(text.len());
        let mut parts = text.split('&');
        out.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let (entity, rest) = part
                .split_once(';')
                .ok_or_else(|| self.error("& without ;"))?;
            let number = |digits: &str, radix| {
                u32::from_str_radix(digits, radix)
                    .ok()
                    .and_then(char::from_u32)
            };
            let c = match entity {
                "amp" => Some('&'),
                "lt" => Some('<'),
                "gt" => Some('>'),
                "quot" => Some('"'),
                "apos" => Some('\''),
                _ => match entity.strip_prefix("#x") {
                    Some(hex) => number(hex, 16),
                    None => entity.strip_prefix('#').and_then(|d| number(d, 10)),
                },
            };
            out.push(c.ok_or_else(|| self.error("unknown entity"))?);
            out.push_str(rest);
        }
        Ok(out)
    }

    fn element(&mut self, depth: usize) -> Result<Element, JavaPtError> {
        if depth > MAX_DEPTH {
            return Err(self.error("elements are nested too deep"));
        }
        if !self.eat("<") {
            return Err(self.error("element expected"));
        }
        let mut element = Element {
            name: self.name()?,
            ..Element::default()
        };
        loop {
            self.blanks();
            if self.eat("/>") {
                return Ok(element);
            }
            if self.eat(">") {
                break;
            }
            let name = self.name()?;
            self.blanks();
            if !self.eat("=") {
                return Err(self.error("= expected"));
            }
            self.blanks();
            let value = if self.eat("\"") {
                self.until("\"", "attribute without end")?
            } else if self.eat("'") {
                self.until("'", "attribute without end")?
            } else {
                return Err(self.error("quoted value expected"));
            };
            let value = self.unescape(value)?;
            element.attributes.push((name, value));
        }
        loop {
            let rest = self.rest();
            let length = rest
                .find('<')
                .ok_or_else(|| self.error("element without end"))?;
            let text = self.unescape(&rest[..length])?;
            element.text.push_str(&text);
            self.at += length;
            if self.eat("<!--") {
                self.until("-->", "comment without end")?;
            } else if self.eat("</") {
                if self.name()? != element.name {
                    return Err(self.error("closing tag of another element"));
                }
                self.blanks();
                return if self.eat(">") {
                    Ok(element)
                } else {
                    Err(self.error("> expected"))
                };
            } else {
                let child = self.element(depth + 1)?;
                element.children.push(child);
            }
        }
    }
}
