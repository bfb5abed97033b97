//! Certificates: made whole, and looked at again with code that shares nothing with the searches.

mod certify;
mod channel_certificate;
mod compare;
mod data;
mod data_channels;
mod data_claim;
mod data_relation;
mod data_test;
mod execution;
mod explain;
mod holding;
mod holding_queues;
mod recheck_data;
mod satisfied;
mod shared;
mod suite;
mod tables;
mod test_run;
mod told;
mod told_texts;
mod watched_property;
mod watcher;

use std::time::Instant;

use iolite_derive::ModelRef;
use iolite_lts::QuiescencePolicy;
use iolite_recheck::Certificate;

use crate::PropertyReadOptions;

pub use certify::JudgedBy;
pub(crate) use data_relation::RelationProof;
pub use shared::SharedCertificates;

/// How a certificate is looked at.
#[derive(Clone, Debug, Default)]
pub struct ExplainOptions {
    /// Another implementation than the one it names.
    pub implementation: Option<ModelRef>,
    /// Another specification than the one it names.
    pub specification: Option<ModelRef>,
    /// Which states are quiescent, for certificates that do not say it.
    pub quiescence: QuiescencePolicy,
    /// The solver, for models with data.
    pub solver: Option<String>,
    /// When solving has to end, and what is said then.
    pub until: Option<(Instant, String)>,
    /// How properties are read, for certificates that do not say it.
    pub property: PropertyReadOptions,
    /// Which run or test case, where the document has several.
    pub run: Option<u64>,
}

/// What looking again has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckOutcome {
    /// The certificate is right.
    Confirmed,
    /// It is not, for this reason.
    Refuted(String),
    /// A solver or a bound gave up, or something is missing.
    Undecided(String),
}

/// A part of a claim, and who confirmed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The part.
    pub what: String,
    /// Who confirmed it.
    pub by: &'static str,
}

/// A certificate, and what looking again has shown.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The claim.
    pub claim: Certificate,
    /// What was shown.
    pub checked: CheckOutcome,
    /// Models that are not those that the certificate was made from.
    pub models_changed: Vec<ModelRef>,
    /// The parts that were confirmed.
    pub parts: Vec<Part>,
    /// What is true, but not as it would have been written.
    pub notes: Vec<String>,
    /// What is not confirmed by anybody.
    pub told: Vec<String>,
    /// Parts of the claim that nobody says but the tester that made it.
    pub not_rechecked: Vec<String>,
}

/// The checker that shares nothing with what made the claim.
const RECHECK: &str = "iolite-recheck, from the definitions";

/// The reader of model texts.
const READER: &str = "the reader of the language, which read the text again";

fn policy(claim: &Certificate) -> QuiescencePolicy {
    match claim.quiescence.as_str() {
        "strict" => QuiescencePolicy::Strict,
        "fair" => QuiescencePolicy::Fair,
        _ => QuiescencePolicy::Livelock,
    }
}
