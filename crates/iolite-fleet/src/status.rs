//! How far a campaign is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Bounds, Kind};

/// Why a campaign was ended before all its items were made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "because")]
pub enum StopReason {
    /// An item failed, and that was to end it.
    Failed {
        /// The item.
        item: u64,
    },
    /// The coverage that was asked for is reached.
    Covered,
    /// Its time is over.
    Budget,
    /// The infrastructure failed in every try of an item.
    Fault {
        /// The item.
        item: u64,
    },
    /// Somebody asked for it.
    Asked,
    /// What stands there is not understood.
    Unknown,
}

impl StopReason {
    pub(crate) fn read(value: &[u8]) -> Self {
        serde_json::from_slice(value).unwrap_or(Self::Unknown)
    }

    /// In words.
    pub fn tell(&self, noun: &str) -> String {
        match self {
            Self::Failed { item } => format!("{noun} {item} failed"),
            Self::Covered => "the coverage that was asked for is reached".to_owned(),
            Self::Budget => "its time is over".to_owned(),
            Self::Fault { item } => {
                format!("the infrastructure failed in every try of {noun} {item}")
            }
            Self::Asked => "somebody stopped it".to_owned(),
            Self::Unknown => "the server does not say why".to_owned(),
        }
    }
}

/// A worker, as it says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerStatus {
    /// Its name.
    pub name: String,
    /// What it offers.
    pub offers: String,
    /// Items that it wrote.
    pub written: u64,
    /// Seconds since it was heard.
    #[serde(default)]
    pub heard: f64,
}

/// How far a campaign is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Status {
    /// Its name on the server.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// What its items are.
    pub kind: Kind,
    /// The hash of its description.
    pub hash: String,
    /// How many items there are.
    pub items: u64,
    /// Those that are done.
    pub done: u64,
    /// How often each verdict was seen; `error` counts items that were set aside.
    pub verdicts: BTreeMap<String, u64>,
    /// Items that were set aside, the first hundred.
    pub set_aside: Vec<u64>,
    /// What workers must offer.
    pub needs: String,
    /// Whether nothing is left to do.
    pub complete: bool,
    /// Why it was ended before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<StopReason>,
    /// Seconds from the first item to the last that was done, by the server's clock.
    pub seconds: f64,
    /// Transitions of the suspension automaton that all workers saw, and all there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<(u64, u64)>,
    /// What was learnt of constants.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub learnt: Vec<String>,
    /// The least and the greatest value that is left of constants, where they steer.
    #[serde(skip_serializing_if = "Bounds::is_empty")]
    pub bounds: Bounds,
    /// Who works, or did.
    pub workers: Vec<WorkerStatus>,
}
