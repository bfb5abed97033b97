//! What looking again comes to.

/// What looking again has shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The parts that were found again, one a line.
    pub confirmed: Vec<String>,
    /// What is true, but not written as it would have been.
    pub notes: Vec<String>,
    /// What the certificate says and nobody can check.
    pub told: Vec<String>,
}

/// Why a certificate is not confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A part of the claim is false.
    Rejected(String),
    /// It is neither confirmed nor found false.
    Undecided(String),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rejected(reason) | Self::Undecided(reason) => f.write_str(reason),
        }
    }
}

pub(crate) type Outcome<T> = Result<T, Fault>;

pub(crate) fn rejected<T>(reason: impl Into<String>) -> Outcome<T> {
    Err(Fault::Rejected(reason.into()))
}
