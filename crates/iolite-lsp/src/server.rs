//! The server: a message in, answers and notifications out. It reads and writes nothing else.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::diagnostics::Published;
use crate::document::{Change, Document, Documents, MOST_TEXT_BYTES, TooMuch};
use crate::features::{Asked, TextEdit};
use crate::framing::MOST_MESSAGE_BYTES;
use crate::position::{Encoding, Position, Range};
use crate::rpc::{ErrorCode, Message, Outbox, Refusal, params};

/// Where a session is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Nothing but `initialize` is answered.
    #[default]
    Fresh,
    Running,
    /// Nothing but `exit` is obeyed.
    ShutDown,
}

/// Whether the session goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    GoOn,
    Exit,
}

/// What the client said that it can do.
#[derive(Clone, Copy, Debug, Default)]
struct Client {
    encoding: Encoding,
    related_information: bool,
    /// Whether outlines may have children.
    outline_tree: bool,
    /// Whether hovers are shown as Markdown.
    markdown: bool,
}

/// One session with a client.
#[derive(Debug, Default)]
pub(crate) struct Server {
    phase: Phase,
    client: Client,
    documents: Documents,
    /// Documents whose diagnostics the client does not know yet.
    stale: BTreeSet<String>,
}

type Answer = Result<Value, Refusal>;

impl Server {
    /// Whether the client has asked for the end, as it should before it leaves.
    pub(crate) fn is_shut_down(&self) -> bool {
        self.phase == Phase::ShutDown
    }

    /// Takes a message.
    pub(crate) fn take(&mut self, body: &[u8], out: &mut Outbox) -> Flow {
        let message = match Message::parse(body) {
            Ok(message) => message,
            Err(refusal) => {
                out.refuse(None, &refusal);
                return Flow::GoOn;
            }
        };
        // Nothing is asked of the client, so that its answers are to nothing.
        let Some(method) = message.method.as_deref() else {
            return Flow::GoOn;
        };
        match &message.id {
            Some(id) => match self.request(method, message.params) {
                Ok(result) => out.answer(id, result),
                Err(refusal) => out.refuse(Some(id), &refusal),
            },
            None if method == "exit" => return Flow::Exit,
            None => {
                if self.phase == Phase::Running {
                    self.notification(method, message.params, out);
                }
            }
        }
        Flow::GoOn
    }

    /// A message that was too long to be read. It may have been a change, so that no text is known any more.
    pub(crate) fn dropped(&mut self, length: u64, out: &mut Outbox) {
        let most = MOST_MESSAGE_BYTES;
        let message = format!("a message of {length} bytes is longer than {most} and was dropped");
        out.refuse(
            None,
            &Refusal::new(ErrorCode::InvalidRequest, message.as_str()),
        );
        let forgotten = self.documents.close_all();
        if forgotten.is_empty() {
            return;
        }
        for uri in forgotten {
            self.stale.remove(&uri);
            publish(out, &Published::nothing(&uri));
        }
        warn(out, &format!("{message}; open the files again"));
    }

    /// Publishes what the client does not know yet.
    pub(crate) fn publish(&mut self, out: &mut Outbox) {
        for uri in std::mem::take(&mut self.stale) {
            if let Some((document, analysis)) = self.documents.analysed(&uri) {
                let Client {
                    encoding,
                    related_information,
                    ..
                } = self.client;
                let published =
                    Published::of(&uri, document, analysis, encoding, related_information);
                publish(out, &published);
            }
        }
    }

    fn request(&mut self, method: &str, raw: Option<&RawValue>) -> Answer {
        match (self.phase, method) {
            (Phase::Fresh, "initialize") => Ok(self.initialize(&params(raw)?)),
            (Phase::Fresh, _) => Err(Refusal::new(
                ErrorCode::ServerNotInitialized,
                "`initialize` comes first",
            )),
            (Phase::Running, "initialize") => Err(Refusal::new(
                ErrorCode::InvalidRequest,
                "`initialize` comes once",
            )),
            (Phase::ShutDown, _) => Err(Refusal::new(
                ErrorCode::InvalidRequest,
                "the server is shut down",
            )),
            (Phase::Running, "shutdown") => {
                self.phase = Phase::ShutDown;
                Ok(Value::Null)
            }
            (Phase::Running, "textDocument/formatting") => Ok(self.formatting(&params(raw)?)),
            (Phase::Running, "textDocument/documentSymbol") => {
                let asked: OfDocument = params(raw)?;
                let with_children = self.client.outline_tree;
                Ok(self.ask(&asked.text_document.uri, |of| {
                    if with_children {
                        json!(of.outline())
                    } else {
                        json!(of.flat_outline())
                    }
                }))
            }
            (Phase::Running, "textDocument/definition") => {
                let asked: AtPosition = params(raw)?;
                Ok(self.ask(&asked.text_document.uri, |of| of.definition(asked.position)))
            }
            (Phase::Running, "textDocument/references") => {
                let asked: AtPosition = params(raw)?;
                let with_declaration = asked.context.include_declaration;
                Ok(self.ask(&asked.text_document.uri, |of| {
                    of.references(asked.position, with_declaration)
                }))
            }
            (Phase::Running, "textDocument/hover") => {
                let asked: AtPosition = params(raw)?;
                let markdown = self.client.markdown;
                Ok(self.ask(&asked.text_document.uri, |of| {
                    of.hover(asked.position, markdown)
                }))
            }
            (Phase::Running, "textDocument/completion") => {
                let asked: AtPosition = params(raw)?;
                Ok(self.ask(&asked.text_document.uri, |of| of.completion(asked.position)))
            }
            (Phase::Running, _) => Err(Refusal::new(
                ErrorCode::MethodNotFound,
                "the server has no such method",
            )),
        }
    }

    /// Asks about a document; of one that is not open nothing is known.
    fn ask(&mut self, uri: &str, question: impl FnOnce(Asked<'_>) -> Value) -> Value {
        let encoding = self.client.encoding;
        let Some((document, analysis)) = self.documents.analysed(uri) else {
            return Value::Null;
        };
        question(Asked {
            uri,
            document,
            analysis,
            encoding,
        })
    }

    fn initialize(&mut self, asked: &Initialize) -> Value {
        let Capabilities {
            general,
            text_document,
        } = &asked.capabilities;
        self.client = Client {
            encoding: Encoding::negotiated(&general.position_encodings),
            related_information: text_document.publish_diagnostics.related_information,
            outline_tree: text_document
                .document_symbol
                .hierarchical_document_symbol_support,
            markdown: text_document
                .hover
                .content_format
                .first()
                .is_some_and(|kind| kind == "markdown"),
        };
        self.phase = Phase::Running;
        json!({
            "capabilities": {
                "positionEncoding": self.client.encoding.name(),
                "textDocumentSync": { "openClose": true, "change": 2, "save": true },
                "documentFormattingProvider": true,
                "documentSymbolProvider": true,
                "definitionProvider": true,
                "referencesProvider": true,
                "hoverProvider": true,
                "completionProvider": { "triggerCharacters": ["?", "!"] },
            },
            "serverInfo": { "name": "iolite", "version": env!("CARGO_PKG_VERSION") },
        })
    }

    /// A notification that nobody knows, or that is none, is ignored: there is nothing to answer to.
    fn notification(&mut self, method: &str, raw: Option<&RawValue>, out: &mut Outbox) {
        let taken = match method {
            "textDocument/didOpen" => params(raw).map(|opened| self.open(opened, out)),
            "textDocument/didChange" => match params(raw) {
                Ok(changed) => {
                    self.change(changed, out);
                    Ok(())
                }
                Err(refusal) => {
                    self.lost(raw, out);
                    Err(refusal)
                }
            },
            "textDocument/didClose" => {
                params(raw).map(|closed: OfDocument| self.close(&closed.text_document.uri, out))
            }
            "textDocument/didSave" => params(raw).map(|saved: OfDocument| {
                self.stale.insert(saved.text_document.uri);
            }),
            _ => Ok(()),
        };
        if let Err(refusal) = taken {
            warn(out, &format!("{method}: {}", refusal.message));
        }
    }

    fn open(&mut self, opened: DidOpen, out: &mut Outbox) {
        let Opened {
            uri,
            language_id,
            version,
            text,
        } = opened.text_document;
        let of_language = matches!(language_id.as_str(), "iol" | "iolite");
        let named_so = Path::new(&uri).extension().is_some_and(|e| e == "iol");
        if !of_language && !named_so {
            return;
        }
        let kept = self
            .documents
            .open(uri.clone(), Document::new(text, version));
        self.kept(uri, kept, out);
    }

    fn change(&mut self, changed: DidChange, out: &mut Outbox) {
        let Versioned { uri, version } = changed.text_document;
        if self.documents.get(&uri).is_some() {
            let changes = changed.content_changes;
            let encoding = self.client.encoding;
            let kept = self.documents.change(&uri, version, changes, encoding);
            self.kept(uri, kept, out);
        }
    }

    /// A change that cannot be read: the text is not what the client has any more.
    fn lost(&mut self, raw: Option<&RawValue>, out: &mut Outbox) {
        if let Ok(of) = params::<OfDocument>(raw) {
            self.close(&of.text_document.uri, out);
        }
    }

    /// Whether a text is followed from now on.
    fn kept(&mut self, uri: String, kept: Result<(), TooMuch>, out: &mut Outbox) {
        let Err(too_much) = kept else {
            self.stale.insert(uri);
            return;
        };
        let why = match too_much {
            TooMuch::Text => format!("it is longer than {MOST_TEXT_BYTES} bytes"),
            TooMuch::Texts => "the files that are open are too many or too long".to_owned(),
            TooMuch::Changes => "too many changes came at once".to_owned(),
        };
        warn(
            out,
            &format!("{uri} is not followed here, since {why}; `iolite check` reads it"),
        );
        self.stale.remove(&uri);
        publish(out, &Published::nothing(&uri));
    }

    fn close(&mut self, uri: &str, out: &mut Outbox) {
        self.stale.remove(uri);
        if self.documents.close(uri) {
            publish(out, &Published::nothing(uri));
        }
    }

    /// What `iolite fmt` does: one edit, or none where nothing changes or the text has syntax errors.
    fn formatting(&self, asked: &OfDocument) -> Value {
        let Some(document) = self.documents.get(&asked.text_document.uri) else {
            return Value::Null;
        };
        let text = &document.text;
        match iolite_lang::fmt::format(text) {
            Err(_) => Value::Null,
            Ok(laid_out) if laid_out == *text => json!([]),
            Ok(laid_out) => {
                let start = Position {
                    line: 0,
                    character: 0,
                };
                let end = document
                    .lines
                    .position(text, text.len(), self.client.encoding);
                let range = Range { start, end };
                json!([TextEdit {
                    range,
                    new_text: laid_out,
                }])
            }
        }
    }
}

fn publish(out: &mut Outbox, published: &Published<'_>) {
    out.notify("textDocument/publishDiagnostics", published);
}

fn warn(out: &mut Outbox, message: &str) {
    let params = json!({ "type": 2, "message": message });
    out.notify("window/showMessage", params);
}

#[derive(Debug, Deserialize)]
struct Initialize {
    #[serde(default)]
    capabilities: Capabilities,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Capabilities {
    general: General,
    text_document: TextDocument,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct General {
    position_encodings: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct TextDocument {
    publish_diagnostics: PublishDiagnostics,
    document_symbol: DocumentSymbol,
    hover: Hover,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DocumentSymbol {
    hierarchical_document_symbol_support: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Hover {
    content_format: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PublishDiagnostics {
    related_information: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DidOpen {
    text_document: Opened,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Opened {
    uri: String,
    #[serde(default)]
    language_id: String,
    version: i64,
    text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DidChange {
    text_document: Versioned,
    content_changes: Vec<Change>,
}

#[derive(Debug, Deserialize)]
struct Versioned {
    uri: String,
    version: i64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfDocument {
    text_document: Identified,
}

#[derive(Debug, Deserialize)]
struct Identified {
    uri: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AtPosition {
    text_document: Identified,
    position: Position,
    #[serde(default)]
    context: ReferenceContext,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ReferenceContext {
    include_declaration: bool,
}
