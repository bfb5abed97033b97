//! What a run is judged by.

use std::fmt;
use std::str::FromStr;

use iolite_lts::relation::Relation;
use serde::{Deserialize, Serialize};

/// What a run, a test case or a certificate is about. Its name is the same on the command line, in
/// journals and in certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Criterion {
    /// An implementation relation.
    Relation(Relation),
    /// Observers of safety properties beside a specification [SAFE04, §4].
    Safety,
    /// Test purposes beside a specification.
    Purpose,
    /// Properties alone \[PROP12\].
    Property,
    /// A hand-written test case, whose verdicts are its author's.
    Written,
}

impl Default for Criterion {
    fn default() -> Self {
        Self::Relation(Relation::Ioco)
    }
}

impl Criterion {
    /// The fixed spelling.
    pub fn name(self) -> &'static str {
        match self {
            Self::Relation(relation) => relation.name(),
            Self::Safety => "safety",
            Self::Purpose => "purpose",
            Self::Property => "property",
            Self::Written => "test",
        }
    }

    /// Whether δ can only be the last observation.
    pub(crate) fn ends_at_delta(self) -> bool {
        matches!(self, Self::Relation(relation) if relation.ends_at_delta())
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no criterion's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no criterion: a relation, safety, purpose, property and test are")]
pub struct UnknownCriterion(pub String);

impl FromStr for Criterion {
    type Err = UnknownCriterion;

    fn from_str(name: &str) -> Result<Self, UnknownCriterion> {
        let others = [Self::Safety, Self::Purpose, Self::Property, Self::Written];
        let relation = name.parse().ok().map(Self::Relation);
        relation
            .or_else(|| others.into_iter().find(|c| c.name() == name))
            .ok_or_else(|| UnknownCriterion(name.to_owned()))
    }
}

impl From<Criterion> for String {
    fn from(criterion: Criterion) -> Self {
        criterion.name().to_owned()
    }
}

impl TryFrom<String> for Criterion {
    type Error = UnknownCriterion;

    fn try_from(name: String) -> Result<Self, UnknownCriterion> {
        name.parse()
    }
}
