//! The certificates of failing runs, and why some have none.

use iolite::{Certificate, Error, SharedCertificates, WholeCertificate};

/// Failing runs whose certificates are made for one document.
const MOST: usize = 1_000;

/// The certificates of failing runs, in their order.
#[derive(Default)]
pub(crate) struct Certificates {
    /// The whole one of the first.
    pub(crate) first: Option<WholeCertificate>,
    /// All of them, with what they have in common in one place.
    pub(crate) all: SharedCertificates,
    /// Why some have none.
    pub(crate) warnings: Vec<String>,
}

/// A whole certificate, or why there is none.
pub(crate) type Certified = Result<WholeCertificate, String>;

impl Certificates {
    /// Makes them; `certify` makes one. What cannot be made changes no verdict, and is warned of.
    pub(crate) fn new<'a>(
        failures: impl Iterator<Item = &'a Certificate>,
        certify: impl Fn(&Certificate) -> Result<Certified, Error>,
    ) -> Self {
        let mut made = Vec::new();
        let mut missing: Vec<(u64, String)> = Vec::new();
        let mut beyond = 0;
        for judged in failures {
            if made.len() >= MOST {
                beyond += 1;
                continue;
            }
            let certified = certify(judged).unwrap_or_else(|e| Err(e.message().to_owned()));
            made.push(certified.map_err(|e| missing.push((judged.run, e))).ok());
        }
        let all = SharedCertificates::new(&made);
        let mut warnings = Vec::new();
        if let Some((run, reason)) = missing.first() {
            let more = match missing.len() - 1 {
                0 => String::new(),
                n => format!(", nor for {n} more runs"),
            };
            warnings.push(format!(
                "there is no certificate for run {run}{more}: {reason}"
            ));
        }
        if all.omitted + beyond > 0 {
            warnings.push(format!(
                "{} failures have no certificate in the document, which would be too large; \
                 `iolite explain JOURNAL --run N` makes them",
                all.omitted + beyond
            ));
        }
        for warning in &warnings {
            warning!("warning: {warning}");
        }
        Self {
            first: made.into_iter().next().flatten(),
            all,
            warnings,
        }
    }

    /// What each failing run says by itself; `None` for one that has none.
    pub(crate) fn claims(&self) -> impl Iterator<Item = Option<&Claim>> {
        let claims = self.all.claims.iter().map(Option::as_ref);
        claims.chain(std::iter::repeat(None))
    }

    /// What all of them say, where there is anything.
    pub(crate) fn shared(&self) -> Option<&Claim> {
        Some(&self.all.shared).filter(|shared| !shared.is_empty())
    }
}

/// Keys of a certificate.
pub(crate) type Claim = serde_json::Map<String, serde_json::Value>;

/// A failing run: the claim, and its certificate but for what all have in common.
#[derive(serde::Serialize)]
pub(crate) struct FailureDocument<'a> {
    #[serde(flatten)]
    pub(crate) judged: &'a Certificate,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) certificate: Option<&'a Claim>,
}
