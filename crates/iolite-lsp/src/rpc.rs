//! JSON-RPC 2.0: requests, notifications, answers.

use std::borrow::Cow;
use std::io::Write;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The name of a request, which its answer has as well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Id {
    Number(i64),
    Text(String),
}

/// A message of the client. What it asks for is read once its method is known.
#[derive(Debug, Deserialize)]
pub(crate) struct Message<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    #[serde(default)]
    pub(crate) id: Option<Id>,
    /// None of an answer.
    #[serde(default, borrow)]
    pub(crate) method: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    pub(crate) params: Option<&'a RawValue>,
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
}

/// The codes of refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorCode {
    ParseError = -32700,
    InvalidRequest = -32600,
    MethodNotFound = -32601,
    InvalidParams = -32602,
    ServerNotInitialized = -32002,
}

impl Refusal {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}

impl<'a> Message<'a> {
    /// Reads a message. Values that nobody asks for are skipped without being built, whatever their nesting.
    pub(crate) fn parse(body: &'a [u8]) -> Result<Self, Refusal> {
        let first = body.iter().find(|b| !b.is_ascii_whitespace());
        let message: Self = serde_json::from_slice(body).map_err(|error| {
            let code = match error.classify() {
                serde_json::error::Category::Data => ErrorCode::InvalidRequest,
                _ => ErrorCode::ParseError,
            };
            Refusal::new(code, format!("not a message: {error}"))
        })?;
        // A list would be taken for the fields in their order; batches are not part of the protocol.
        if first != Some(&b'{') || message.jsonrpc != "2.0" {
            let told = "not a message of JSON-RPC 2.0";
            return Err(Refusal::new(ErrorCode::InvalidRequest, told));
        }
        Ok(message)
    }
}

/// The parameters of a method.
pub(crate) fn params<T: DeserializeOwned>(raw: Option<&RawValue>) -> Result<T, Refusal> {
    let text = raw.map_or("null", RawValue::get);
    serde_json::from_str(text)
        .map_err(|error| Refusal::new(ErrorCode::InvalidParams, format!("parameters: {error}")))
}

#[derive(Serialize)]
struct Answer<'a, T> {
    jsonrpc: &'static str,
    id: Option<&'a Id>,
    result: T,
}

#[derive(Serialize)]
struct Failure<'a> {
    jsonrpc: &'static str,
    id: Option<&'a Id>,
    error: FailureBody<'a>,
}

#[derive(Serialize)]
struct FailureBody<'a> {
    code: i32,
    message: &'a str,
}

#[derive(Serialize)]
struct Notification<'a, T> {
    jsonrpc: &'static str,
    method: &'a str,
    params: T,
}

/// Messages to the client, with their headers, until they are written.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    pub(crate) bytes: Vec<u8>,
}

impl Outbox {
    fn push(&mut self, message: &impl Serialize) {
        // Of these types neither step fails: no map has keys that are no texts, and a vector takes all bytes.
        if let Ok(body) = serde_json::to_vec(message) {
            let _ = write!(self.bytes, "Content-Length: {}\r\n\r\n", body.len());
            self.bytes.extend(body);
        }
    }

    /// The answer to a request.
    pub(crate) fn answer(&mut self, id: &Id, result: impl Serialize) {
        let jsonrpc = "2.0";
        self.push(&Answer {
            jsonrpc,
            id: Some(id),
            result,
        });
    }

    /// The refusal of a request, or of something whose name is unknown.
    pub(crate) fn refuse(&mut self, id: Option<&Id>, refusal: &Refusal) {
        self.push(&Failure {
            jsonrpc: "2.0",
            id,
            error: FailureBody {
                code: refusal.code as i32,
                message: &refusal.message,
            },
        });
    }

    /// Something that the client did not ask for.
    pub(crate) fn notify(&mut self, method: &str, params: impl Serialize) {
        let jsonrpc = "2.0";
        self.push(&Notification {
            jsonrpc,
            method,
            params,
        });
    }
}
