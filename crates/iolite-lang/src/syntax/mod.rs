//! The syntax of `.iol`: tokens, tree, parser.

pub mod ast;
mod lexer;
mod parser;
mod positional;

pub use ast::File;
pub use lexer::{KEYWORDS, is_plain_name, quote};

use crate::{Diagnostic, Span, codes};

/// Parses a file. Parsing never stops at a mistake: the tree holds whatever could be made out, with
/// what is spoilt ([`ast::SpoiltDeclarations`]), and every mistake has its diagnostic.
pub fn parse(text: &str) -> (File, Vec<Diagnostic>) {
    parser::parse(text)
}

/// Parses bytes that may be no text at all. A byte order mark is skipped.
pub fn parse_bytes(bytes: &[u8]) -> (File, Vec<Diagnostic>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(text),
        Err(e) => (
            File::default(),
            vec![Diagnostic::error(
                codes::NOT_UTF8,
                Span::new(e.valid_up_to(), e.valid_up_to() + 1),
                "the file is not valid UTF-8",
            )],
        ),
    }
}
