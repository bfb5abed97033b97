//! `iolite serve`: a folder of models in the browser.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use iolite::Error;
use iolite_serve::{FleetServer, ServeError, ServeOptions};

use crate::output::{Exit, print, status};

/// Show a folder of models in the browser: look, step, relate, test live, edit
///
/// Prints one line with the address, which holds a random token; whoever has it may read the folder,
/// change its models and start the systems under test that descriptions in it name, and nothing else.
/// Ends with Ctrl-C.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// The port [default: a free one]
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true
    )]
    port: u16,
    /// Listen on this address instead of the loopback interface: others on the network can then try to
    /// reach the page, which is not encrypted
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<IpAddr>,
    /// Show how far the campaigns of a fleet are; without --nats the server of `IOLITE_NATS`
    #[cfg(feature = "fleet")]
    #[arg(long)]
    fleet: bool,
    #[cfg(feature = "fleet")]
    #[command(flatten)]
    server: super::fleet::ServerArgs,
}

impl Args {
    #[cfg(feature = "fleet")]
    fn fleet(&self) -> Result<Option<FleetServer>, Error> {
        if !self.fleet && !self.server.is_named() {
            return Ok(None);
        }
        let url = self.server.options()?.url;
        let flags = self.server.flags();
        Ok(Some(FleetServer { url, flags }))
    }

    #[cfg(not(feature = "fleet"))]
    #[expect(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "as with a fleet"
    )]
    fn fleet(&self) -> Result<Option<FleetServer>, Error> {
        Ok(None)
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    status::leave();
    let program = std::env::current_exe()
        .map_err(|e| Error::fault(format!("cannot find this program again: {e}")))?;
    let ip = args.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    if !ip.is_loopback() {
        warning!(
            "warning: {ip} can be reached from other machines, and what is sent is not encrypted"
        );
    }
    let options = ServeOptions {
        folder: args.folder.clone(),
        program,
        address: SocketAddr::new(ip, args.port),
        fleet: args.fleet()?,
    };
    let ready = |url: &str| {
        let _ = print(&format!("{url}\n"));
        let _ = std::io::stdout().flush();
    };
    match iolite_serve::serve(&options, ready) {
        Ok(()) => Ok(Exit::Holds),
        Err(e @ ServeError::Folder { .. }) => Err(Error::input(e.to_string())),
        Err(e @ ServeError::System { .. }) => Err(Error::fault(e.to_string())),
    }
}
