//! What editors ask of a text: its outline, what a name means, what could stand here.

use std::collections::BTreeSet;

use iolite_lang::{Span, codes, syntax};
use serde::Serialize;
use serde_json::{Value, json};

use crate::diagnostics::Location;
use crate::document::{Analysis, Document};
use crate::position::{Encoding, Position, Range};
use crate::symbols::{Symbol, SymbolId, SymbolKind, SymbolTable};

/// A document that is asked about.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) uri: &'a str,
    pub(crate) document: &'a Document,
    pub(crate) analysis: &'a Analysis,
    pub(crate) encoding: Encoding,
}

/// A node of the outline.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OutlineNode {
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    detail: String,
    kind: u8,
    range: Range,
    selection_range: Range,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    children: Vec<Self>,
}

/// The same without children, for clients that know no others.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FlatNode<'a> {
    name: String,
    kind: u8,
    location: Location<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    container_name: Option<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CompletionItem {
    label: String,
    kind: u8,
    #[serde(skip_serializing_if = "String::is_empty")]
    detail: String,
    filter_text: String,
    text_edit: TextEdit,
}

/// A part of a text replaced.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TextEdit {
    pub(crate) range: Range,
    pub(crate) new_text: String,
}

/// `SymbolKind` of the protocol.
fn symbol_kind(kind: SymbolKind) -> u8 {
    match kind {
        SymbolKind::Declaration("enum") => 10,
        SymbolKind::Declaration("record" | "type") => 23,
        SymbolKind::Declaration("fn") => 12,
        SymbolKind::Declaration("property") => 7,
        SymbolKind::Declaration("observer" | "purpose") => 11,
        SymbolKind::Declaration(_) => 5,
        // Neither states nor actions are among the kinds.
        SymbolKind::State => 19,
        SymbolKind::Action(_) | SymbolKind::Gate => 24,
        SymbolKind::Constant => 14,
        SymbolKind::Variable | SymbolKind::Parameter | SymbolKind::Local => 13,
        SymbolKind::Value => 22,
        SymbolKind::Field => 8,
    }
}

/// `CompletionItemKind` of the protocol.
fn completion_kind(kind: SymbolKind) -> u8 {
    match kind {
        SymbolKind::Declaration("enum") => 13,
        SymbolKind::Declaration("record" | "type") => 22,
        SymbolKind::Declaration("fn") => 3,
        SymbolKind::Declaration(_) => 9,
        SymbolKind::State => 18,
        SymbolKind::Action(_) | SymbolKind::Gate => 23,
        SymbolKind::Constant => 21,
        SymbolKind::Variable | SymbolKind::Parameter | SymbolKind::Local => 6,
        SymbolKind::Value => 20,
        SymbolKind::Field => 5,
    }
}

const KEYWORD: u8 = 14;

/// Whether the outline has it.
fn is_outlined(symbol: &Symbol) -> bool {
    let is_part = !matches!(
        symbol.kind,
        SymbolKind::Parameter | SymbolKind::Local | SymbolKind::Gate
    );
    symbol.declared && is_part
}

impl<'a> Asked<'a> {
    fn table(self) -> &'a SymbolTable {
        self.analysis.symbols(&self.document.text)
    }

    fn range(self, span: Span) -> Range {
        let Document { text, lines, .. } = self.document;
        lines.range(text, span, self.encoding)
    }

    fn offset(self, position: Position) -> usize {
        let Document { text, lines, .. } = self.document;
        lines.offset(text, position, self.encoding)
    }

    fn locations(self, spans: impl Iterator<Item = Span>) -> Value {
        let uri = self.uri;
        let location = |span| Location {
            uri,
            range: self.range(span),
        };
        json!(spans.map(location).collect::<Vec<_>>())
    }

    /// The declarations with their parts.
    pub(crate) fn outline(self) -> Vec<OutlineNode> {
        let table = self.table();
        let mut roots = Vec::new();
        // A part comes behind what it is a part of, so from behind all parts of a node are known.
        let mut parts: Vec<Vec<OutlineNode>> = Vec::new();
        let symbols: Vec<(SymbolId, &Symbol)> = table.iter().collect();
        parts.resize_with(symbols.len(), Vec::new);
        for (id, symbol) in symbols.into_iter().rev() {
            let mut children = std::mem::take(&mut parts[id.index()]);
            if !is_outlined(symbol) {
                continue;
            }
            children.sort_by_key(|node| node.range.start);
            let node = OutlineNode {
                name: symbol.written(),
                detail: symbol.shown_detail().to_owned(),
                kind: symbol_kind(symbol.kind),
                range: self.range(symbol.whole),
                selection_range: self.range(symbol.place),
                children,
            };
            match symbol.owner {
                Some(owner) => parts[owner.index()].push(node),
                None => roots.push(node),
            }
        }
        roots.sort_by_key(|node| node.range.start);
        roots
    }

    /// The declarations and their parts, one after the other.
    pub(crate) fn flat_outline(self) -> Vec<FlatNode<'a>> {
        let table = self.table();
        let outlined = table.iter().filter(|(_, symbol)| is_outlined(symbol));
        let flat = outlined.map(|(_, symbol)| FlatNode {
            name: symbol.written(),
            kind: symbol_kind(symbol.kind),
            location: Location {
                uri: self.uri,
                range: self.range(symbol.whole),
            },
            container_name: symbol.owner.map(|owner| table.get(owner).name.as_str()),
        });
        flat.collect()
    }

    /// Where what stands at a position is declared.
    pub(crate) fn definition(self, at: Position) -> Value {
        let (_, ids) = self.table().at(self.offset(at));
        let places: BTreeSet<Span> = ids.iter().map(|id| self.table().get(*id).place).collect();
        self.locations(places.into_iter())
    }

    /// Where what stands at a position is named.
    pub(crate) fn references(self, at: Position, with_declaration: bool) -> Value {
        let table = self.table();
        let (_, ids) = table.at(self.offset(at));
        let declared: BTreeSet<Span> = ids
            .iter()
            .map(|id| table.get(*id))
            .filter(|symbol| symbol.declared)
            .map(|symbol| symbol.place)
            .collect();
        let places = table.places(&ids);
        self.locations(places.filter(|span| with_declaration || !declared.contains(span)))
    }

    /// What a name is, and what the codes of the diagnostics at its place mean.
    pub(crate) fn hover(self, at: Position, markdown: bool) -> Value {
        let offset = self.offset(at);
        let table = self.table();
        let (span, ids) = table.at(offset);
        let mut parts = Vec::new();
        if !ids.is_empty() {
            let line = |id: &SymbolId| {
                let symbol = table.get(*id);
                let of = match symbol.owner.map(|owner| table.get(owner)) {
                    Some(owner) if owner.kind != symbol.kind => {
                        format!("  // of {}", owner.written())
                    }
                    _ => String::new(),
                };
                format!("{}{of}", symbol.line())
            };
            let lines: Vec<String> = ids.iter().map(line).collect();
            parts.push(fenced(&lines.join("\n"), markdown));
        }
        let here = |d: &&iolite_lang::Diagnostic| d.span.start <= offset && offset <= d.span.end;
        let found: Vec<_> = self.analysis.found.iter().filter(here).collect();
        let told: BTreeSet<String> = found.iter().map(|d| d.code.to_string()).collect();
        for explanation in told.iter().filter_map(|code| codes::explain(code)) {
            let (code, title, text) = (explanation.code, explanation.title, explanation.text);
            parts.push(if markdown {
                format!("**{code}**: {title}\n\n{}", escaped(text))
            } else {
                format!("{code}: {title}\n\n{text}")
            });
        }
        if parts.is_empty() {
            return Value::Null;
        }
        let span = match found.first() {
            Some(first) if ids.is_empty() => first.span,
            _ => span,
        };
        json!({
            "contents": {
                "kind": if markdown { "markdown" } else { "plaintext" },
                "value": parts.join("\n\n"),
            },
            "range": self.range(span),
        })
    }

    /// What could stand at a position: after a sigil actions, after `->` states, else all of it.
    pub(crate) fn completion(self, at: Position) -> Value {
        let offset = self.offset(at);
        let text = &self.document.text;
        let before = &text[..offset];
        let in_word = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
        let word = before.trim_end_matches(in_word);
        let (sigil, start) = match word.chars().next_back() {
            Some('?') => (Some("?"), word.len() - 1),
            Some('!') => (Some("!"), word.len() - 1),
            _ => (None, word.len()),
        };
        let wants_state = sigil.is_none() && word.trim_end().ends_with("->");
        let range = self.range(Span::new(start, offset));
        let table = self.table();
        // The declaration that the position is within.
        let mut items = table.iter().filter(|(_, s)| s.owner.is_none());
        let within = items.find(|(_, s)| s.whole.start <= offset && offset <= s.whole.end);
        let mut seen = BTreeSet::new();
        let mut list = Vec::new();
        for (_, symbol) in table.iter() {
            let is_here = match symbol.kind {
                // Values are known everywhere, and actions may be named by what watches their system.
                SymbolKind::Declaration(_) | SymbolKind::Action(_) | SymbolKind::Value => true,
                SymbolKind::Local | SymbolKind::Parameter => {
                    let whole = within.map(|(_, item)| item.whole);
                    let is_within = whole.is_some_and(|w| w.start <= symbol.place.start);
                    is_within && symbol.place.start < start
                }
                _ => symbol.owner.is_some() && symbol.owner == within.map(|(id, _)| id),
            };
            let fits = match symbol.kind {
                SymbolKind::Action(own) => sigil.is_none_or(|sigil| sigil == own) && !wants_state,
                SymbolKind::State => sigil.is_none(),
                SymbolKind::Field => false,
                // `!` negates as well.
                _ => sigil != Some("?") && !wants_state,
            };
            // What is being written is no proposal.
            let is_itself = !symbol.declared && symbol.place.end == offset;
            if !is_here || !fits || is_itself {
                continue;
            }
            let written = symbol.written();
            let new_text = match (sigil, symbol.kind) {
                (_, SymbolKind::Action(_)) | (None, _) => written.clone(),
                (Some(sigil), _) => format!("{sigil}{written}"),
            };
            if seen.insert(new_text.clone()) {
                list.push(CompletionItem {
                    label: written,
                    kind: completion_kind(symbol.kind),
                    detail: symbol.line(),
                    filter_text: new_text.clone(),
                    text_edit: TextEdit { range, new_text },
                });
            }
        }
        if sigil.is_none() && !wants_state {
            for word in syntax::KEYWORDS {
                let word = (*word).to_owned();
                if seen.insert(word.clone()) {
                    list.push(CompletionItem {
                        label: word.clone(),
                        kind: KEYWORD,
                        detail: String::new(),
                        filter_text: word.clone(),
                        text_edit: TextEdit {
                            range,
                            new_text: word,
                        },
                    });
                }
            }
        }
        json!(list)
    }
}

/// A piece of a model. Names may hold anything, also what would end the block.
fn fenced(text: &str, markdown: bool) -> String {
    if !markdown {
        return text.to_owned();
    }
    let runs = text.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0).max(2) + 1);
    format!("{fence}iol\n{text}\n{fence}")
}

/// Text that is no markup, in markup. What stands in backquotes stays as it is.
fn escaped(text: &str) -> String {
    let mut result = String::new();
    for (k, piece) in text.split('`').enumerate() {
        if k > 0 {
            result.push('`');
        }
        for c in piece.chars() {
            if k % 2 == 0 && matches!(c, '*' | '_' | '<' | '[' | '\\' | '#') {
                result.push('\\');
            }
            result.push(c);
        }
    }
    result
}
