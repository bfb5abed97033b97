//! Several certificates that rest on the same models: what all of them say stands once.

use iolite_recheck::Certificate;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::Error;

/// Bytes that the certificates of one document may have together.
const MOST_BYTES: usize = 16 << 20;

/// Certificates in which what all have in common stands once.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SharedCertificates {
    /// What all of them say: most often the models, their tables and their texts.
    pub shared: Map<String, Value>,
    /// What each says by itself; `None` for one that has none, or that would be too much.
    #[serde(skip)]
    pub claims: Vec<Option<Map<String, Value>>>,
    /// How many were left out because all together would be too large.
    #[serde(skip)]
    pub omitted: usize,
}

impl SharedCertificates {
    /// Puts what is common to all of them in one place.
    pub fn new(certificates: &[Option<Certificate>]) -> Self {
        let object = |certificate: &Certificate| match certificate.to_document() {
            Ok(Value::Object(map)) => Some(map),
            _ => None,
        };
        let certificates = certificates.iter();
        let mut claims: Vec<Option<Map<String, Value>>> = certificates
            .map(|certificate| certificate.as_ref().and_then(object))
            .collect();
        let mut shared = claims.iter().flatten().next().cloned().unwrap_or_default();
        for claim in claims.iter().flatten() {
            shared.retain(|key, value| claim.get(key) == Some(value));
        }
        let mut size = bytes(&shared);
        let mut omitted = 0;
        for claim in &mut claims {
            let Some(own) = claim else { continue };
            own.retain(|key, _| !shared.contains_key(key));
            size += bytes(own);
            if size > MOST_BYTES {
                *claim = None;
                omitted += 1;
            }
        }
        Self {
            shared,
            claims,
            omitted,
        }
    }
}

fn bytes(map: &Map<String, Value>) -> usize {
    serde_json::to_vec(map).map_or(0, |bytes| bytes.len())
}

/// The whole certificate of a claim in a document that keeps what is shared apart.
pub(super) fn joined(document: &Value, claim: &Value) -> Result<Certificate, Error> {
    let none = Map::new();
    let shared = document.get("shared").and_then(Value::as_object);
    let mut whole = shared.unwrap_or(&none).clone();
    let claim = claim.as_object().unwrap_or(&none);
    for (key, value) in claim {
        if whole.insert(key.clone(), value.clone()).is_some() {
            return Err(Error::input(format!(
                "no certificate: `{key}` is shared by all, and stands in one of them too"
            )));
        }
    }
    Certificate::from_document(Value::Object(whole))
        .map_err(|e| Error::input(format!("no certificate: {e}")))
}

/// The claim of a run, or of a test case by its number, in a document with several.
pub(super) fn pick(document: &Value, run: u64) -> Result<&Value, Error> {
    let list = |key: &str| document.get(key).and_then(Value::as_array);
    let failures = list("failures").into_iter().flatten();
    let numbered = failures.filter(|f| f.get("run").and_then(Value::as_u64) == Some(run));
    let case = usize::try_from(run)
        .ok()
        .and_then(|k| list("cases")?.get(k));
    let found = numbered.chain(case).next();
    let found =
        found.ok_or_else(|| Error::input(format!("there is no failing run {run} in it")))?;
    found.get("certificate").ok_or_else(|| {
        Error::input(format!(
            "run {run} has no certificate in it, so there is nothing to re-check"
        ))
    })
}
