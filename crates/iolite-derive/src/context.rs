//! What lies between tester and system.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How messages come from one side to the other, and so which orders of them explain what was seen.
/// Its name is the same on the command line, in descriptions, journals and certificates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Context {
    /// Tester and system step together.
    #[default]
    Synchronous,
    /// Messages are under way in a FIFO each way.
    Queues,
}

impl Context {
    /// The fixed spelling.
    pub fn name(self) -> &'static str {
        match self {
            Self::Synchronous => "synchronous",
            Self::Queues => "queues",
        }
    }

    /// Whether it is the papers' own, which documents leave out.
    pub fn is_synchronous(&self) -> bool {
        *self == Self::Synchronous
    }
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no context's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no context: synchronous and queues are")]
pub struct UnknownContext(pub String);

impl FromStr for Context {
    type Err = UnknownContext;

    fn from_str(name: &str) -> Result<Self, UnknownContext> {
        let all = [Self::Synchronous, Self::Queues];
        let found = all.into_iter().find(|c| c.name() == name);
        found.ok_or_else(|| UnknownContext(name.to_owned()))
    }
}
