//! A page in the browser for a folder of models.
//!
//! The server answers on a loopback address, to whoever knows its random token, and does nothing that the
//! `iolite` command does not do: each answer is made by a process of that command, with its bounds, in the
//! folder. It names no file outside of the folder, and starts no system under test but those that
//! descriptions in the folder name.
//!
//! ```no_run
//! # fn main() -> Result<(), iolite_serve::ServeError> {
//! iolite_serve::serve(
//!     &iolite_serve::ServeOptions {
//!         folder: "models".into(),
//!         program: "iolite".into(),
//!         address: "127.0.0.1:0".parse().expect("an address"),
//!         fleet: None,
//!     },
//!     |url| println!("{url}"),
//! )
//! # }
//! ```

mod api;
mod assets;
mod command;
mod folder;
mod guard;
mod live;
mod refusal;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::command::Commands;
use crate::folder::Folder;
use crate::guard::Guard;
use crate::live::LiveTests;

/// Where to listen, and what is shown.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The folder of models.
    pub folder: PathBuf,
    /// The `iolite` command that makes the answers.
    pub program: PathBuf,
    /// The address; port 0 for a free one.
    pub address: SocketAddr,
    /// The fleet that is shown, where one is.
    pub fleet: Option<FleetServer>,
}

/// How the command reaches the server of a fleet.
#[derive(Clone, Debug, Default)]
pub struct FleetServer {
    /// Its address, which the command reads from the environment, since passwords may stand in it.
    pub url: String,
    /// More flags of `iolite fleet status`.
    pub flags: Vec<String>,
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The folder cannot be read.
    #[error("{folder}: {reason}")]
    Folder {
        /// Its path.
        folder: String,
        /// Why, in the words of the operating system.
        reason: std::io::Error,
    },
    /// The address cannot be listened on, or the operating system refuses something else.
    #[error("{what}: {reason}")]
    System {
        /// What was tried.
        what: String,
        /// Why.
        reason: std::io::Error,
    },
}

impl ServeError {
    fn system(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |reason| Self::System { what, reason }
    }
}

/// What every request may use.
#[derive(Debug)]
struct Shared {
    guard: Guard,
    folder: Folder,
    commands: Commands,
    tests: LiveTests,
    fleet: Option<FleetServer>,
}

/// Serves the page until SIGINT or SIGTERM; `ready` gets its address, token included.
pub fn serve(options: &ServeOptions, ready: impl FnOnce(&str)) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(ServeError::system("cannot start"))?;
    runtime.block_on(answer(options, ready))
}

async fn answer(options: &ServeOptions, ready: impl FnOnce(&str)) -> Result<(), ServeError> {
    let folder = Folder::open(&options.folder).map_err(|reason| ServeError::Folder {
        folder: options.folder.display().to_string(),
        reason,
    })?;
    let address = options.address;
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(ServeError::system(address.to_string()))?;
    let address = listener
        .local_addr()
        .map_err(ServeError::system(address.to_string()))?;
    let guard = Guard::new(address).map_err(ServeError::system("no random token"))?;
    let url = guard.url();
    let commands = Commands::new(&options.program, folder.root());
    let shared = Arc::new(Shared {
        guard,
        folder,
        tests: LiveTests::default(),
        commands,
        fleet: options.fleet.clone(),
    });
    let mut interrupt = signal(SignalKind::interrupt()).map_err(ServeError::system("signals"))?;
    let mut terminate = signal(SignalKind::terminate()).map_err(ServeError::system("signals"))?;
    let ended = {
        let shared = Arc::clone(&shared);
        async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            // Streams of events end with their tests, and the server waits for them.
            shared.tests.end_all().await;
        }
    };
    ready(&url);
    axum::serve(listener, api::routes(&shared))
        .with_graceful_shutdown(ended)
        .await
        .map_err(ServeError::system("serving"))
}
