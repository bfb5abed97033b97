//! A tolerant parser of the DOT language, as far as automata need it.

use std::rc::Rc;

use iolite_lang::{Diagnostic, Rejected, Span, codes};
use rustc_hash::FxHashMap;

/// A node or edge label: its text, or markup that only Graphviz understands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Text {
    Plain(Rc<str>),
    Html(Rc<str>),
}

impl Text {
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Plain(t) | Self::Html(t) => t.trim().is_empty(),
        }
    }
}

/// The attributes that mean something for automata; all others are skipped.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes {
    pub(super) label: Option<Text>,
    pub(super) shape: Option<Rc<str>>,
    pub(super) initial: bool,
    pub(super) accepting: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) id: Rc<str>,
    pub(super) attributes: Attributes,
    pub(super) span: Span,
}

#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) source: usize,
    pub(super) target: usize,
    pub(super) label: Option<Text>,
    pub(super) span: Span,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
}

/// Subgraphs nested deeper than this are refused.
const DEEPEST: usize = 64;

pub(super) fn parse(bytes: &[u8]) -> Result<Graph, Rejected> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        Diagnostic::error(
            codes::NOT_UTF8,
            Span::at(e.valid_up_to()),
            "the file is not valid UTF-8",
        )
    })?;
    if text.trim().is_empty() {
        return Err(Diagnostic::error(codes::EMPTY_FILE, Span::at(0), "the file is empty").into());
    }
    let mut parser = Parser {
        lexer: Lexer { text, at: 0 },
        token: Token::End,
        span: Span::at(0),
        graph: Graph::default(),
        index: FxHashMap::default(),
        most_edges: 4 * text.len() + 1000,
    };
    parser.advance()?;
    parser.graph()?;
    Ok(parser.graph)
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token<'a> {
    /// A bare word or numeral.
    Word(&'a str),
    /// A quoted string, raw between its quotes.
    Quoted(&'a str),
    /// Markup, raw between its outermost angle brackets.
    Html(&'a str),
    Arrow,
    Line,
    Punct(char),
    End,
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

fn syntax(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(codes::DOT_SYNTAX, span, message)
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_blank(&mut self) -> Result<(), Diagnostic> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches([' ', '\t', '\r', '\n', '\u{feff}', '\u{c}']);
            self.at += rest.len() - trimmed.len();
            let at_line_start = self.at == 0 || self.text.as_bytes()[self.at - 1] == b'\n';
            if trimmed.starts_with("//") || (at_line_start && trimmed.starts_with('#')) {
                self.at += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if let Some(comment) = trimmed.strip_prefix("/*") {
                let start = self.at;
                let Some(end) = comment.find("*/") else {
                    return Err(syntax(
                        Span::new(start, start + 2),
                        "this comment is never closed",
                    ));
                };
                self.at += end + 4;
            } else {
                return Ok(());
            }
        }
    }

    fn next(&mut self) -> Result<(Token<'a>, Span), Diagnostic> {
        self.skip_blank()?;
        let start = self.at;
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let Some(&first) = bytes.first() else {
            return Ok((Token::End, Span::at(start)));
        };
        let token = match first {
            b'"' => {
                let mut end = 1;
                loop {
                    match bytes.get(end) {
                        None => {
                            return Err(syntax(
                                Span::new(start, start + 1),
                                "this string is never closed",
                            ));
                        }
                        Some(b'"') => break,
                        Some(b'\\') => end += 2,
                        Some(_) => end += 1,
                    }
                }
                self.at += end + 1;
                Token::Quoted(&rest[1..end])
            }
            b'<' => {
                let mut depth = 0usize;
                let end = bytes.iter().position(|&b| {
                    match b {
                        b'<' => depth += 1,
                        b'>' => depth -= 1,
                        _ => {}
                    }
                    depth == 0
                });
                let Some(end) = end else {
                    return Err(syntax(
                        Span::new(start, start + 1),
                        "this markup is never closed",
                    ));
                };
                self.at += end + 1;
                Token::Html(&rest[1..end])
            }
            b'-' if rest.starts_with("->") => {
                self.at += 2;
                Token::Arrow
            }
            b'-' if rest.starts_with("--") => {
                self.at += 2;
                Token::Line
            }
            b if is_word(b)
                || ((b == b'-' || b == b'.')
                    && bytes
                        .get(1)
                        .is_some_and(|&b| b == b'.' || b.is_ascii_digit())) =>
            {
                let numeral = !is_word(b) || b.is_ascii_digit();
                let len = 1 + bytes[1..]
                    .iter()
                    .take_while(|&&b| is_word(b) || (numeral && b == b'.'))
                    .count();
                self.at += len;
                Token::Word(&rest[..len])
            }
            _ => {
                let c = rest.chars().next().unwrap_or(' ');
                self.at += c.len_utf8();
                Token::Punct(c)
            }
        };
        Ok((token, Span::new(start, self.at)))
    }
}

/// `\"` is a quote and a backslash before a line end joins lines; names keep other escapes as they
/// are, labels read them.
fn unescape(raw: &str, label: bool) -> String {
    let mut result = String::with_capacity(raw.len());
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            result.push(c);
            continue;
        }
        match chars.next() {
            Some('"') => result.push('"'),
            Some('\n') => {}
            Some('\\') if label => result.push('\\'),
            Some('n') if label => result.push('\n'),
            Some('r') if label => result.push('\r'),
            Some(other) => {
                result.push('\\');
                result.push(other);
            }
            None => result.push('\\'),
        }
    }
    result
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    span: Span,
    graph: Graph,
    index: FxHashMap<Rc<str>, usize>,
    most_edges: usize,
}

/// Attributes that `node [..]` and `edge [..]` give to what follows in their scope.
#[derive(Clone, Default)]
struct Defaults {
    node: Attributes,
    edge: Attributes,
}

impl Parser<'_> {
    fn advance(&mut self) -> Result<(), Diagnostic> {
        (self.token, self.span) = self.lexer.next()?;
        Ok(())
    }

    fn is(&self, c: char) -> bool {
        self.token == Token::Punct(c)
    }

    fn keyword(&self, word: &str) -> bool {
        matches!(self.token, Token::Word(w) if w.eq_ignore_ascii_case(word))
    }

    fn expect(&mut self, c: char) -> Result<(), Diagnostic> {
        if self.is(c) {
            self.advance()
        } else {
            Err(syntax(
                self.span,
                format!("expected `{c}`, found {}", self.found()),
            ))
        }
    }

    fn found(&self) -> String {
        match &self.token {
            Token::Word(w) | Token::Quoted(w) => {
                format!("`{}`", w.chars().take(40).collect::<String>())
            }
            Token::Html(_) => "markup".to_owned(),
            Token::Arrow => "`->`".to_owned(),
            Token::Line => "`--`".to_owned(),
            Token::Punct(c) => format!("`{c}`"),
            Token::End => "the end of the file".to_owned(),
        }
    }

    fn graph(&mut self) -> Result<(), Diagnostic> {
        if self.keyword("strict") {
            self.advance()?;
        }
        if self.keyword("graph") {
            return Err(Diagnostic::error(
                codes::DOT_UNDIRECTED,
                self.span,
                "an undirected graph has no transitions",
            )
            .hint("write `digraph` and `->`"));
        }
        if !self.keyword("digraph") {
            return Err(syntax(
                self.span,
                format!("expected `digraph`, found {}", self.found()),
            )
            .hint("a DOT file is one `digraph name { … }`"));
        }
        self.advance()?;
        if !self.is('{') {
            self.name()?;
        }
        self.expect('{')?;
        self.statements(&mut Defaults::default(), 0, &mut Vec::new())?;
        self.expect('}')?;
        if self.token != Token::End {
            return Err(syntax(
                self.span,
                format!("expected the end of the file, found {}", self.found()),
            ));
        }
        Ok(())
    }

    fn statements(
        &mut self,
        defaults: &mut Defaults,
        depth: usize,
        members: &mut Vec<usize>,
    ) -> Result<(), Diagnostic> {
        loop {
            if self.is(';') || self.is(',') {
                self.advance()?;
            } else if self.is('}') || self.token == Token::End {
                return Ok(());
            } else {
                self.statement(defaults, depth, members)?;
            }
        }
    }

    fn statement(
        &mut self,
        defaults: &mut Defaults,
        depth: usize,
        members: &mut Vec<usize>,
    ) -> Result<(), Diagnostic> {
        for (word, which) in [("graph", 0), ("node", 1), ("edge", 2)] {
            if self.keyword(word) {
                self.advance()?;
                let mut ignored = Attributes::default();
                let target = match which {
                    0 => &mut ignored,
                    1 => &mut defaults.node,
                    _ => &mut defaults.edge,
                };
                let mut attributes = target.clone();
                self.attributes(&mut attributes)?;
                *match which {
                    0 => &mut ignored,
                    1 => &mut defaults.node,
                    _ => &mut defaults.edge,
                } = attributes;
                return Ok(());
            }
        }
        let start = self.span;
        let mut ends = vec![self.endpoint(defaults, depth, members)?];
        if self.is('=') {
            // `rankdir=LR`: an attribute of the graph. Its name was taken for a node.
            if ends[0].fresh {
                self.forget_last_node(members);
            }
            self.advance()?;
            self.name()?;
            return Ok(());
        }
        while matches!(self.token, Token::Arrow | Token::Line) {
            if self.token == Token::Line {
                return Err(Diagnostic::error(
                    codes::DOT_UNDIRECTED,
                    self.span,
                    "`--` joins nodes without a direction",
                )
                .hint("write `->`"));
            }
            self.advance()?;
            ends.push(self.endpoint(defaults, depth, members)?);
        }
        let span = Span::new(start.start, self.span.start.max(start.end));
        if ends.len() == 1 {
            let end = &ends[0];
            if let Some(node) = end.single {
                let mut attributes = std::mem::take(&mut self.graph.nodes[node].attributes);
                let result = self.attributes(&mut attributes);
                self.graph.nodes[node].attributes = attributes;
                result?;
            }
            return Ok(());
        }
        let mut attributes = defaults.edge.clone();
        self.attributes(&mut attributes)?;
        for pair in ends.windows(2) {
            let count = pair[0].nodes.len().saturating_mul(pair[1].nodes.len());
            if self.graph.edges.len().saturating_add(count) > self.most_edges {
                return Err(Diagnostic::error(
                    codes::DOT_TOO_BIG,
                    span,
                    "edges between groups of nodes multiply out of proportion",
                ));
            }
            for &source in &pair[0].nodes {
                for &target in &pair[1].nodes {
                    self.graph.edges.push(Edge {
                        source,
                        target,
                        label: attributes.label.clone(),
                        span,
                    });
                }
            }
        }
        Ok(())
    }

    fn forget_last_node(&mut self, members: &mut Vec<usize>) {
        if let Some(node) = self.graph.nodes.pop() {
            self.index.remove(&node.id);
            members.pop();
        }
    }

    fn endpoint(
        &mut self,
        defaults: &Defaults,
        depth: usize,
        members: &mut Vec<usize>,
    ) -> Result<Endpoint, Diagnostic> {
        let subgraph = self.keyword("subgraph");
        if subgraph {
            self.advance()?;
            if !self.is('{') {
                self.name()?;
            }
        }
        if subgraph && !self.is('{') {
            // A reference to a subgraph defined elsewhere: it adds nothing.
            return Ok(Endpoint::default());
        }
        if self.is('{') {
            if depth == DEEPEST {
                return Err(Diagnostic::error(
                    codes::DOT_TOO_BIG,
                    self.span,
                    format!("subgraphs are nested more than {DEEPEST} deep"),
                ));
            }
            self.advance()?;
            let mut inner = defaults.clone();
            let mut nodes = Vec::new();
            self.statements(&mut inner, depth + 1, &mut nodes)?;
            self.expect('}')?;
            nodes.sort_unstable();
            nodes.dedup();
            members.extend(&nodes);
            return Ok(Endpoint {
                nodes,
                single: None,
                fresh: false,
            });
        }
        let span = self.span;
        let id: Rc<str> = self.name()?.into();
        // A port, `node:port:compass`, says where an edge is drawn.
        while self.is(':') {
            self.advance()?;
            self.name()?;
        }
        let fresh = !self.index.contains_key(&id);
        let node = *self.index.entry(id.clone()).or_insert_with(|| {
            self.graph.nodes.push(Node {
                id,
                attributes: defaults.node.clone(),
                span,
            });
            self.graph.nodes.len() - 1
        });
        members.push(node);
        Ok(Endpoint {
            nodes: vec![node],
            single: Some(node),
            fresh,
        })
    }

    /// A name; strings joined by `+` are one.
    fn name(&mut self) -> Result<String, Diagnostic> {
        match self.value(false)? {
            Text::Plain(text) => Ok(text.to_string()),
            Text::Html(text) => Ok(format!("<{text}>")),
        }
    }

    fn value(&mut self, label: bool) -> Result<Text, Diagnostic> {
        let value = match self.token {
            Token::Word(word) => Text::Plain(word.into()),
            Token::Html(html) => Text::Html(html.into()),
            Token::Quoted(raw) => {
                let mut text = unescape(raw, label);
                self.advance()?;
                while self.is('+') {
                    self.advance()?;
                    let Token::Quoted(raw) = self.token else {
                        return Err(syntax(
                            self.span,
                            format!("expected a string after `+`, found {}", self.found()),
                        ));
                    };
                    text.push_str(&unescape(raw, label));
                    self.advance()?;
                }
                return Ok(Text::Plain(text.into()));
            }
            _ => {
                return Err(syntax(
                    self.span,
                    format!("expected a name, found {}", self.found()),
                ));
            }
        };
        self.advance()?;
        Ok(value)
    }

    fn attributes(&mut self, into: &mut Attributes) -> Result<(), Diagnostic> {
        while self.is('[') {
            self.advance()?;
            while !self.is(']') {
                if self.is(',') || self.is(';') {
                    self.advance()?;
                    continue;
                }
                let key = self.name()?;
                let value = if self.is('=') {
                    self.advance()?;
                    self.value(true)?
                } else {
                    Text::Plain("true".into())
                };
                set(into, &key, value);
            }
            self.advance()?;
        }
        Ok(())
    }
}

#[derive(Default)]
struct Endpoint {
    nodes: Vec<usize>,
    /// The node, when the endpoint is one and not a group.
    single: Option<usize>,
    /// Whether this mention is the first of the node.
    fresh: bool,
}

fn set(into: &mut Attributes, key: &str, value: Text) {
    let text = match &value {
        Text::Plain(t) | Text::Html(t) => t.clone(),
    };
    let yes = || matches!(&*text.to_ascii_lowercase(), "true" | "1" | "yes");
    match &*key.to_ascii_lowercase() {
        "label" => into.label = Some(value),
        "init" | "initial" | "start" => into.initial = yes(),
        "accepting" | "accept" | "final" => into.accepting = yes(),
        "peripheries" => into.accepting = &*text == "2",
        "shape" => {
            if &*text == "doublecircle" {
                into.accepting = true;
            }
            into.shape = Some(text);
        }
        _ => {}
    }
}
