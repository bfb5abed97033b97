//! Which declarations a syntax error has spoilt.

use crate::syntax::ast::SpoiltDeclarations;
use crate::syntax::lexer;
use crate::{Diagnostic, Span};

/// Notes what the parser goes over, declaration by declaration.
#[derive(Default)]
pub(super) struct Recovery {
    /// Where the lexer found something, in order.
    lexical: Vec<usize>,
    /// Whether the lexer stopped counting.
    hopeless: bool,
    /// In order.
    regions: Vec<Region>,
    /// Text that may declare anything.
    skipped: Vec<Span>,
}

/// A declaration up to the next one, or stray text.
struct Region {
    span: Span,
    is_spoilt: bool,
    is_named: bool,
    is_enumeration: bool,
}

impl Recovery {
    /// Before anything is parsed, with what the lexer has found.
    pub(super) fn new(lexical: &[Diagnostic]) -> Self {
        let mut starts: Vec<usize> = lexical.iter().map(|d| d.span.start).collect();
        starts.sort_unstable();
        Self {
            hopeless: starts.len() >= lexer::MOST_ERRORS,
            lexical: starts,
            ..Self::default()
        }
    }

    /// A declaration that starts with this word, and whether its parser has found something.
    pub(super) fn declaration(&mut self, span: Span, keyword: &str, named: bool, failed: bool) {
        let at = self.lexical.partition_point(|&start| start < span.start);
        let lexical = self.lexical.get(at).is_some_and(|&s| s < span.end);
        self.regions.push(Region {
            span,
            is_spoilt: failed || lexical || self.hopeless,
            is_named: named,
            is_enumeration: matches!(keyword, "enum" | "type"),
        });
    }

    /// Text between declarations. Unless it is one with a misspelt keyword, it may belong to what
    /// stands before it: a brace that closes too early leaves such text behind.
    pub(super) fn stray(&mut self, span: Span, is_declaration: bool) {
        if let Some(before) = self.regions.last_mut()
            && !is_declaration
        {
            before.is_spoilt = true;
        }
        self.regions.push(Region {
            span,
            is_spoilt: true,
            is_named: true,
            is_enumeration: false,
        });
        self.skipped.push(span);
    }

    /// The end of a declaration that could not be parsed.
    pub(super) fn skipped(&mut self, span: Span) {
        self.skipped.push(span);
    }

    pub(super) fn spoilt(self, text: &str) -> SpoiltDeclarations {
        let words = |spans: &[Span]| {
            let texts = spans.iter().map(|s| &text[s.start..s.end]);
            texts.flat_map(lexer::words).map(str::to_owned).collect()
        };
        let mut regions = self.regions;
        regions.retain(|r| r.is_spoilt);
        let spans: Vec<Span> = regions.iter().map(|r| r.span).collect();
        SpoiltDeclarations {
            words: words(&spans),
            values: words(&self.skipped),
            nameless: regions.iter().any(|r| !r.is_named),
            enumeration: regions.iter().any(|r| r.is_enumeration),
            spans,
        }
    }
}
