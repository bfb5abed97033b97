//! Diagnostics of the language as editors show them.

use iolite_lang::{Diagnostic, Severity};
use serde::Serialize;

use crate::document::{Analysis, Document};
use crate::position::{Encoding, Range};

/// `textDocument/publishDiagnostics`.
#[derive(Debug, Serialize)]
pub(crate) struct Published<'a> {
    uri: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i64>,
    diagnostics: Vec<Shown<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    range: Range,
    severity: u8,
    code: String,
    source: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    related_information: Option<[Related<'a>; 1]>,
}

#[derive(Debug, Serialize)]
struct Related<'a> {
    location: Location<'a>,
    message: &'a str,
}

/// A place in a document.
#[derive(Debug, Serialize)]
pub(crate) struct Location<'a> {
    pub(crate) uri: &'a str,
    pub(crate) range: Range,
}

impl<'a> Published<'a> {
    /// All that is known of a document.
    pub(crate) fn of(
        uri: &'a str,
        document: &Document,
        analysis: &'a Analysis,
        encoding: Encoding,
        with_related: bool,
    ) -> Self {
        let range = |span| document.lines.range(&document.text, span, encoding);
        let show =
            |d: &'a Diagnostic| Shown {
                range: range(d.span),
                severity: match d.severity {
                    Severity::Error => 1,
                    Severity::Warning => 2,
                },
                code: d.code.to_string(),
                source: "iolite",
                message: match &d.hint {
                    None => d.message.clone(),
                    Some(hint) => format!("{}\nhint: {hint}", d.message),
                },
                related_information: d.related.as_ref().filter(|_| with_related).map(
                    |(span, what)| {
                        let location = Location {
                            uri,
                            range: range(*span),
                        };
                        [Related {
                            location,
                            message: what,
                        }]
                    },
                ),
            };
        Self {
            uri,
            version: Some(document.version),
            diagnostics: analysis.found.iter().map(show).collect(),
        }
    }

    /// Nothing more is said of a document.
    pub(crate) fn nothing(uri: &'a str) -> Self {
        Self {
            uri,
            version: None,
            diagnostics: Vec::new(),
        }
    }
}
