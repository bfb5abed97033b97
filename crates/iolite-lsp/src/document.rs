//! The texts that the client has open.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use iolite_lang::{Diagnostic, File};
use serde::Deserialize;

use crate::position::{Encoding, LineTable, Range};
use crate::symbols::SymbolTable;

/// The longest text that is looked at; models that people write are a thousandth of it.
pub(crate) const MOST_TEXT_BYTES: usize = 4 << 20;

/// All open texts with their names.
const MOST_BYTES: usize = 64 << 20;

/// What a document takes beside its text and its name.
const ENTRY_BYTES: usize = 256;

/// Changes in one notification; each makes the lines anew.
const MOST_CHANGES: usize = 10_000;

/// One text as the client has it.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) text: String,
    pub(crate) version: i64,
    pub(crate) lines: LineTable,
}

/// A part of a text replaced, or without a range the whole.
#[derive(Debug, Deserialize)]
pub(crate) struct Change {
    #[serde(default)]
    range: Option<Range>,
    text: String,
}

/// Why a text is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TooMuch {
    /// This text is too long.
    Text,
    /// All texts together are.
    Texts,
    /// So many changes at once.
    Changes,
}

impl Document {
    pub(crate) fn new(text: String, version: i64) -> Self {
        let lines = LineTable::new(&text);
        Self {
            text,
            version,
            lines,
        }
    }

    fn apply(&mut self, change: Change, encoding: Encoding) {
        match change.range {
            None => self.text = change.text,
            Some(Range { start, end }) => {
                let start = self.lines.offset(&self.text, start, encoding);
                let end = self.lines.offset(&self.text, end, encoding).max(start);
                self.text.replace_range(start..end, &change.text);
            }
        }
        self.lines = LineTable::new(&self.text);
    }
}

/// What is known of a text.
#[derive(Debug)]
pub(crate) struct Analysis {
    file: File,
    pub(crate) found: Vec<Diagnostic>,
    /// Made when it is first asked for: diagnostics need none.
    symbols: OnceCell<SymbolTable>,
}

impl Analysis {
    fn of(text: &str) -> Self {
        let (file, found) = iolite_lang::parse_and_check(text);
        let symbols = OnceCell::new();
        Self {
            file,
            found,
            symbols,
        }
    }

    /// The names of the text that this is known of.
    pub(crate) fn symbols(&self, text: &str) -> &SymbolTable {
        self.symbols
            .get_or_init(|| SymbolTable::of(text, &self.file))
    }
}

/// The open documents by their names.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    open: BTreeMap<String, Document>,
    /// What is known of the text that was asked about last: a tree takes many times the memory of its text.
    latest: Option<(String, Analysis)>,
}

impl Documents {
    pub(crate) fn get(&self, uri: &str) -> Option<&Document> {
        self.open.get(uri)
    }

    /// A document with what is known of it.
    pub(crate) fn analysed(&mut self, uri: &str) -> Option<(&Document, &Analysis)> {
        let document = self.open.get(uri)?;
        if self.latest.as_ref().is_none_or(|(of, _)| of != uri) {
            self.latest = Some((uri.to_owned(), Analysis::of(&document.text)));
        }
        let (_, analysis) = self.latest.as_ref()?;
        Some((document, analysis))
    }

    /// Whether the document was open.
    pub(crate) fn close(&mut self, uri: &str) -> bool {
        self.forget_analysis(uri);
        self.open.remove(uri).is_some()
    }

    /// The names of all, which are closed.
    pub(crate) fn close_all(&mut self) -> Vec<String> {
        self.latest = None;
        std::mem::take(&mut self.open).into_keys().collect()
    }

    pub(crate) fn open(&mut self, uri: String, document: Document) -> Result<(), TooMuch> {
        self.close(&uri);
        let entries = self.open.iter();
        let others: usize = entries.map(|(uri, d)| weight(uri, &d.text)).sum();
        if document.text.len() > MOST_TEXT_BYTES {
            return Err(TooMuch::Text);
        }
        if others + weight(&uri, &document.text) > MOST_BYTES {
            return Err(TooMuch::Texts);
        }
        self.open.insert(uri, document);
        Ok(())
    }

    /// Changes a document; one that is too long then is closed. Nothing happens to one that is not open.
    pub(crate) fn change(
        &mut self,
        uri: &str,
        version: i64,
        changes: Vec<Change>,
        encoding: Encoding,
    ) -> Result<(), TooMuch> {
        let Some(mut document) = self.open.remove(uri) else {
            return Ok(());
        };
        self.forget_analysis(uri);
        if changes.len() > MOST_CHANGES {
            return Err(TooMuch::Changes);
        }
        for change in changes {
            document.apply(change, encoding);
            if document.text.len() > MOST_TEXT_BYTES {
                return Err(TooMuch::Text);
            }
        }
        document.version = version;
        self.open(uri.to_owned(), document)
    }

    fn forget_analysis(&mut self, uri: &str) {
        self.latest.take_if(|(of, _)| of == uri);
    }
}

fn weight(uri: &str, text: &str) -> usize {
    uri.len() + text.len() + ENTRY_BYTES
}
