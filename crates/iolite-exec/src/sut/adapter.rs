//! From the description of a system under test to the adapter that reaches it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::{
    ChannelConfig, DatagramSource, ResetConfig, SutConfig, System, Transport, UdpAddresses,
};
use crate::codec::{ChannelId, WireCodec};
use crate::transport::framer::Framer;
use crate::transport::http::HttpLink;
use crate::transport::link::Link;
use crate::transport::process::Process;
use crate::transport::socket::Server;
use crate::transport::stdio::{PipeSlot, Stdio};
use crate::transport::stream_link::{Endpoint, StreamLink};
use crate::transport::tcp::{Tcp, TcpRole};
use crate::transport::udp::UdpLink;
use crate::transport::websocket::{WebSocket, WebSocketFrames};
use crate::{
    Bounds, ByteAdapter, CommandSpec, ExecError, Framing, JobId, JobPlace, Reset, TlsConfig,
};

impl SutConfig {
    /// An adapter for one job.
    pub fn adapter(&self, job: JobId, codec: WireCodec) -> Result<ByteAdapter, ExecError> {
        self.check()?;
        let (process, channels) = match &self.system {
            System::Channels { process, channels } => (process, channels),
            System::Model(model) => {
                return Err(ExecError::Config(format!(
                    "model {model} is no system behind bytes"
                )));
            }
        };
        let mut place = JobPlace::new(job, self.base_port);
        let bounds = self.bounds();
        let slot: PipeSlot = Arc::new(Mutex::new(None));
        let mut links: Vec<(String, Box<dyn Link>)> = Vec::new();
        let mut stdio = None;
        for ChannelConfig {
            name, transport, ..
        } in channels
        {
            let link: Box<dyn Link> = match transport {
                Transport::Stdio { framing } => {
                    stdio = Some(ChannelId::new(links.len()));
                    stream(name, Stdio(Arc::clone(&slot)), framing, bounds)
                }
                Transport::Tcp {
                    address,
                    framing,
                    tls,
                } => {
                    let tls = fill_tls(tls.as_ref(), &mut place)?;
                    let role = TcpRole::Client(Server::new(&place.fill(address)?, tls)?);
                    stream(name, Tcp::new(role), framing, bounds)
                }
                Transport::TcpListen { address, framing } => {
                    let role = TcpRole::Server(place.fill(address)?);
                    stream(name, Tcp::new(role), framing, bounds)
                }
                Transport::Udp(UdpAddresses {
                    own, peer, from, ..
                }) => {
                    let (own, peer) = (place.fill(own)?, place.fill(peer)?);
                    let any_port = *from == DatagramSource::AnyPort;
                    // Who says that it is ready may bind its port later.
                    let says = process.as_ref().is_some_and(|p| p.ready.is_some());
                    Box::new(
                        UdpLink::new(name, (&own, &peer), any_port, bounds)
                            .awaiting_peer(!says && !self.attach),
                    )
                }
                Transport::Http { url, tls } => {
                    let tls = fill_tls(tls.as_ref(), &mut place)?;
                    Box::new(
                        HttpLink::new(name, &place.fill(url)?, tls, bounds)?
                            .with_headers(self.header_names()),
                    )
                }
                Transport::WebSocket { url, tls } => {
                    let tls = fill_tls(tls.as_ref(), &mut place)?;
                    let socket = WebSocket::new(&place.fill(url)?, tls)?;
                    let frames = WebSocketFrames::new(bounds);
                    Box::new(StreamLink::new(name, socket, frames, bounds))
                }
            };
            links.push((name.clone(), link));
        }
        let ready = process.as_ref().and_then(|process| process.ready.clone());
        let process = match process {
            None => None,
            Some(process) => {
                let spec = CommandSpec {
                    argv: process
                        .command
                        .words()?
                        .iter()
                        .map(|word| place.fill(word))
                        .collect::<Result<_, _>>()?,
                    dir: process
                        .dir
                        .as_ref()
                        .map(|dir| place.fill(&dir.display().to_string()).map(PathBuf::from))
                        .transpose()?,
                    env: process
                        .env
                        .iter()
                        .map(|(key, value)| Ok((key.clone(), place.fill(value)?)))
                        .collect::<Result<_, ExecError>>()?,
                    ready: ready.clone().filter(|_| stdio.is_none()),
                };
                Some(Process::new(spec, stdio.map(|_| slot), bounds.stop_grace))
            }
        };
        let reset = match &self.reset {
            ResetConfig::Restart => Reset::Restart,
            ResetConfig::Reconnect => Reset::Reconnect,
            ResetConfig::Action {
                send,
                expect,
                channel,
            } => Reset::Action {
                channel: self.channel_id(channel.as_deref())?,
                send: send.clone().into_bytes(),
                expect: expect.clone().map(String::into_bytes),
            },
        };
        let ready = stdio.zip(ready.map(String::into_bytes));
        let silence = self.quiescence().default;
        Ok(
            ByteAdapter::new(process, links, codec, reset, silence, bounds)
                .ready_by(ready)
                .attaching(self.attach)
                .at(place),
        )
    }
}

/// The files of a TLS channel; those that the system will not write itself must be there.
fn fill_tls(tls: Option<&TlsConfig>, place: &mut JobPlace) -> Result<Option<TlsConfig>, ExecError> {
    let missing =
        |file: &Path| ExecError::Config(format!("tls: there is no file {}", file.display()));
    tls.map(|tls| tls.filled(|text| place.fill(text), missing))
        .transpose()
}

/// A channel over one byte stream.
fn stream<E: Endpoint + 'static>(
    name: &str,
    endpoint: E,
    framing: &Framing,
    bounds: Bounds,
) -> Box<dyn Link> {
    Box::new(StreamLink::new(
        name,
        endpoint,
        Framer::new(framing.clone()),
        bounds,
    ))
}
