//! XML as build servers read it: an element a line, indented.

use std::fmt::Write;

/// An XML document that grows line by line. Texts are escaped; they must be of characters that XML 1.0 has.
pub(super) struct XmlLines {
    text: String,
    depth: usize,
}

/// Attributes of an element, in their order.
pub(super) type Attributes<'a> = &'a [(&'static str, &'a str)];

impl XmlLines {
    pub(super) fn new() -> Self {
        Self {
            text: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".into(),
            depth: 0,
        }
    }

    /// An element that others are in, until its [`end`](Self::end).
    pub(super) fn begin(&mut self, name: &str, attributes: Attributes<'_>) {
        self.tag(name, attributes);
        self.text.push_str(">\n");
        self.depth += 1;
    }

    pub(super) fn end(&mut self, name: &str) {
        self.depth -= 1;
        self.indent();
        let _ = writeln!(self.text, "</{name}>");
    }

    /// An element that nothing is in.
    pub(super) fn empty(&mut self, name: &str, attributes: Attributes<'_>) {
        self.tag(name, attributes);
        self.text.push_str("/>\n");
    }

    /// An element with a text, of one line or more.
    pub(super) fn text(&mut self, name: &str, attributes: Attributes<'_>, text: &str) {
        self.tag(name, attributes);
        self.text.push('>');
        self.escaped(text);
        let _ = writeln!(self.text, "</{name}>");
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    fn tag(&mut self, name: &str, attributes: Attributes<'_>) {
        self.indent();
        self.text.push('<');
        self.text.push_str(name);
        for (attribute, value) in attributes {
            let _ = write!(self.text, " {attribute}=\"");
            self.escaped(value);
            self.text.push('"');
        }
    }

    fn indent(&mut self) {
        for _ in 0..self.depth {
            self.text.push_str("    ");
        }
    }

    fn escaped(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '<' => self.text.push_str("&lt;"),
                '>' => self.text.push_str("&gt;"),
                '&' => self.text.push_str("&amp;"),
                '\'' => self.text.push_str("&apos;"),
                '"' => self.text.push_str("&quot;"),
                c => self.text.push(c),
            }
        }
    }
}
