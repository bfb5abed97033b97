//! What determines the runs of a campaign, so that shares of it can be told from runs of another.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{JournalHeader, Share};

/// What determines the runs of a campaign, beside criterion, model, context, seed and system, which the
/// header names. Run r is a function of all this and of r.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// Runs of the whole campaign; none where only a slice was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u64>,
    /// Which of them were to be made here; none where shares were merged and some are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<Share>,
    /// Further options, by the name of their flag.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, Vec<String>>,
    /// The files that models, properties and test cases were read from, by their hash.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

/// How two campaigns differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// In what.
    pub what: String,
    /// What one has.
    pub one: String,
    /// What the other has.
    pub other: String,
}

/// The first name with different values.
fn different<V: PartialEq>(
    one: &BTreeMap<String, V>,
    other: &BTreeMap<String, V>,
    show: impl Fn(&V) -> String,
) -> Option<Difference> {
    let names = one.keys().chain(other.keys());
    let name = names
        .into_iter()
        .find(|name| one.get(*name) != other.get(*name))?;
    let value = |map: &BTreeMap<String, V>| match map.get(name) {
        Some(value) => show(value),
        None => "nothing".to_owned(),
    };
    Some(Difference {
        what: name.clone(),
        one: value(one),
        other: value(other),
    })
}

impl JournalHeader {
    /// In what two journals are not of one campaign; `None` where they are.
    pub fn difference(&self, other: &Self) -> Option<Difference> {
        let model = |header: &Self| match &header.model.hash {
            // Another machine may have it in another place.
            Some(hash) => {
                let name = header.model.name.as_deref().unwrap_or_default();
                format!("{name} (hash {hash})")
            }
            None => header.model.to_string(),
        };
        let parts = [
            ("model", model(self), model(other)),
            ("criterion", self.kind.to_string(), other.kind.to_string()),
            (
                "context",
                self.context.to_string(),
                other.context.to_string(),
            ),
            ("seed", self.seed.to_string(), other.seed.to_string()),
        ];
        for (what, one, other) in parts {
            if one != other {
                let what = what.to_owned();
                return Some(Difference { what, one, other });
            }
        }
        let (one, other) = (self.description.as_ref()?, other.description.as_ref()?);
        if let (Some(runs), Some(others)) = (one.runs, other.runs)
            && runs != others
        {
            return Some(Difference {
                what: "number of runs".to_owned(),
                one: runs.to_string(),
                other: others.to_string(),
            });
        }
        let options = different(&one.options, &other.options, |values| {
            match values.as_slice() {
                [] => "nothing".to_owned(),
                values => values.join(" "),
            }
        });
        let flag = |mut d: Difference| {
            d.what = format!("--{}", d.what);
            d
        };
        let files = || different(&one.files, &other.files, |hash| format!("hash {hash}"));
        options.map(flag).or_else(files)
    }
}
