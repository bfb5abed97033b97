//! Where the names of a file are declared and used.
//!
//! The tree says it, not the search for equal words: a name is looked up as the checks of the language do.
//! What cannot be known from one file (the labels of a system elsewhere) and what the tree does not tell (the
//! field of a value whose sort is not written) has no symbol, rather than a wrong one.

mod actions;
mod behaviours;
mod builder;
mod declarations;
mod expressions;
mod machines;

use iolite_lang::check::Sorts;
use iolite_lang::syntax::{is_plain_name, quote};
use iolite_lang::{File, Span};

/// A symbol of a [`SymbolTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SymbolId(u32);

impl SymbolId {
    /// Its place among all symbols.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SymbolKind {
    /// A system, an observer and so on, by its word.
    Declaration(&'static str),
    State,
    /// With its sigil, which plain and internal actions do not have.
    Action(&'static str),
    Constant,
    Variable,
    /// Of an action, a function or a process.
    Parameter,
    /// Bound within an expression or a behaviour.
    Local,
    /// An action that a call gives a name to.
    Gate,
    /// A value of an enumeration, or a variant of a sum.
    Value,
    Field,
}

/// A name that means one thing.
#[derive(Debug)]
pub(crate) struct Symbol {
    pub(crate) name: String,
    pub(crate) kind: SymbolKind,
    /// What stands before it: `var`, `initial state`.
    word: &'static str,
    /// What follows it: `: int = 0`, `(l: int)`.
    detail: String,
    /// Where it is declared, the name alone.
    pub(crate) place: Span,
    /// The whole declaration.
    pub(crate) whole: Span,
    /// What it is a part of.
    pub(crate) owner: Option<SymbolId>,
    /// Whether it has a declaration. An action may occur without one; its place is where it first does.
    pub(crate) declared: bool,
}

impl Symbol {
    /// The name as it is written in a file, with its sigil.
    pub(crate) fn written(&self) -> String {
        let name = if is_plain_name(&self.name) {
            self.name.clone()
        } else {
            quote(&self.name)
        };
        match self.kind {
            SymbolKind::Action(sigil) => format!("{sigil}{name}"),
            _ => name,
        }
    }

    /// What follows the name, alone.
    pub(crate) fn shown_detail(&self) -> &str {
        self.detail.trim_start_matches([':', ' '])
    }

    /// The declaration in one line.
    pub(crate) fn line(&self) -> String {
        let (word, detail) = (self.word, &self.detail);
        let space = if word.is_empty() { "" } else { " " };
        format!("{word}{space}{}{detail}", self.written())
    }
}

/// The symbols of a file and their occurrences.
#[derive(Debug, Default)]
pub(crate) struct SymbolTable {
    symbols: Vec<Symbol>,
    /// In order of place. One place may name several symbols: an action of two systems that synchronise on it.
    occurrences: Vec<(Span, SymbolId)>,
}

impl SymbolTable {
    /// Looks at every declaration, also at what syntax errors have left of one.
    pub(crate) fn of(text: &str, file: &File) -> Self {
        let sorts = Sorts::new(file, &mut Vec::new());
        let mut table = builder::Builder::build(text, file, &sorts);
        table.occurrences.sort();
        table.occurrences.dedup();
        table
    }

    pub(crate) fn get(&self, id: SymbolId) -> &Symbol {
        &self.symbols[id.index()]
    }

    /// All symbols, what owns another one before it.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SymbolId, &Symbol)> {
        let ids = (0..).map(SymbolId);
        ids.zip(&self.symbols)
    }

    /// The symbols that the name at an offset stands for; its span. Between two names it is the second.
    pub(crate) fn at(&self, offset: usize) -> (Span, Vec<SymbolId>) {
        // Names do not overlap, so that the last one that starts here or before is it.
        let behind = self
            .occurrences
            .partition_point(|(span, _)| span.start <= offset);
        let Some((span, _)) = behind.checked_sub(1).map(|k| self.occurrences[k]) else {
            return (Span::at(offset), Vec::new());
        };
        if span.end < offset {
            return (Span::at(offset), Vec::new());
        }
        let same = self.occurrences[..behind].iter().rev();
        let mut ids: Vec<SymbolId> = same
            .take_while(|(other, _)| *other == span)
            .map(|(_, id)| *id)
            .collect();
        ids.reverse();
        (span, ids)
    }

    /// The places of symbols, in order.
    pub(crate) fn places<'a>(&'a self, of: &'a [SymbolId]) -> impl Iterator<Item = Span> + 'a {
        let mut last = None;
        let all = self.occurrences.iter();
        let named = all.filter(|(_, id)| of.contains(id)).map(|(span, _)| *span);
        named.filter(move |span| last.replace(*span) != Some(*span))
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use iolite_lang::parse_and_check;

    use super::*;

    fn models(folder: &Path, found: &mut Vec<PathBuf>) {
        let entries = std::fs::read_dir(folder).expect("a folder");
        for path in entries.map(|e| e.expect("an entry").path()) {
            if path.is_dir() {
                models(&path, found);
            } else if path.extension().is_some_and(|e| e == "iol") {
                found.push(path);
            }
        }
    }

    fn renamed(text: &str, places: impl Iterator<Item = Span>, name: &str) -> String {
        let mut result = String::new();
        let mut from = 0;
        for span in places {
            result.push_str(&text[from..span.start]);
            result.push_str(name);
            from = span.end;
        }
        result.push_str(&text[from..]);
        result
    }

    fn codes(text: &str) -> Vec<String> {
        let (_, found) = parse_and_check(text);
        found.iter().map(|d| d.code.to_string()).collect()
    }

    /// The places of a symbol are all its places: with another name at each of them the checks of the language find
    /// what they found. A place that is left out, or one too many, is a name that is not declared.
    #[test]
    fn names_can_be_replaced_at_their_places() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut paths = Vec::new();
        for folder in ["examples", "crates/iolite-lang/tests"] {
            models(&root.join(folder), &mut paths);
        }
        paths.sort();
        let (mut symbols, mut wrong) = (0, String::new());
        for path in paths {
            let text = std::fs::read_to_string(&path).expect("a model");
            let (file, found) = parse_and_check(&text);
            if found.iter().any(iolite_lang::Diagnostic::is_error) || text.len() > 20_000 {
                continue;
            }
            let before = codes(&text);
            let table = SymbolTable::of(&text, &file);
            for (id, symbol) in table.iter() {
                let fresh = "quite_another_name";
                let changed = renamed(&text, table.places(&[id]), fresh);
                if codes(&changed) != before {
                    let places: Vec<Span> = table.places(&[id]).collect();
                    wrong += &format!("{}: {symbol:?} at {places:?}\n", path.display());
                }
                symbols += 1;
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
        assert!(symbols > 1000, "{symbols}");
    }
}
