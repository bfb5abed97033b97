//! What goes wrong between a fleet and its server.

/// Why something could not be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FleetError {
    /// The user's to mend.
    #[error("{0}")]
    Input(String),
    /// The server cannot be reached, or does not do what it is asked.
    #[error("{0}")]
    Server(String),
    /// The server has not answered for longer than anybody wants to wait.
    #[error("{0}")]
    Lost(String),
    /// What the server holds is not what a fleet puts there.
    #[error("{0}")]
    Content(String),
}

impl FleetError {
    pub(crate) fn server(doing: &str, error: impl std::fmt::Display) -> Self {
        Self::Server(format!("{doing}: {error}"))
    }

    pub(crate) fn content(what: impl Into<String>) -> Self {
        Self::Content(what.into())
    }
}
