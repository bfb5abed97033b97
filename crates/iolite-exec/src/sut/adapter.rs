//! From the description of a system under test to the adapter that reaches it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use iolite_lts::{LabelId, Labels};

use super::{ResetKind, SutConfig, UdpAddresses};
use crate::codec::{ActionCodec, ChannelId, LabelCodec};
use crate::transport::framing::Framer;
use crate::transport::http::HttpLink;
use crate::transport::link::Link;
use crate::transport::process::Process;
use crate::transport::stdio::{PipeSlot, Stdio};
use crate::transport::stream_link::StreamLink;
use crate::transport::tcp::Tcp;
use crate::transport::udp::UdpLink;
use crate::transport::websocket::{WebSocket, WebSocketFrames};
use crate::{CommandSpec, ExecError, JobId, JobPlace, Reset, TcpRole, Wired};

impl SutConfig {
    /// An adapter for one job, with a codec of one's own.
    pub fn adapter<A, C: ActionCodec<A>>(
        &self,
        job: JobId,
        codec: C,
    ) -> Result<Wired<A, C>, ExecError> {
        self.check()?;
        if let Some(model) = &self.model {
            return Err(ExecError::Config(format!(
                "model {model} is no system behind bytes"
            )));
        }
        let mut place = JobPlace::new(job, self.base_port);
        let bounds = self.bounds();
        let slot: PipeSlot = Arc::new(Mutex::new(None));
        let mut links: Vec<(String, Box<dyn Link>)> = Vec::new();
        let mut stdio = None;
        for channel in self.all_channels() {
            let name = channel.name.clone().unwrap_or_default();
            let framer = Framer::new(channel.framing()?);
            let link: Box<dyn Link> = if let Some(address) = &channel.tcp {
                let tcp = Tcp::new(TcpRole::Client(place.fill(address)?));
                Box::new(StreamLink::new(&name, tcp, framer, bounds))
            } else if let Some(address) = &channel.tcp_listen {
                let tcp = Tcp::new(TcpRole::Server(place.fill(address)?));
                Box::new(StreamLink::new(&name, tcp, framer, bounds))
            } else if let Some(UdpAddresses { own, peer }) = &channel.udp {
                let (own, peer) = (place.fill(own)?, place.fill(peer)?);
                Box::new(UdpLink::new(&name, &own, &peer, bounds))
            } else if let Some(url) = &channel.http {
                Box::new(HttpLink::new(&name, &place.fill(url)?, bounds)?)
            } else if let Some(url) = &channel.websocket {
                let socket = WebSocket::new(&place.fill(url)?)?;
                let frames = WebSocketFrames::new(bounds);
                Box::new(StreamLink::new(&name, socket, frames, bounds))
            } else {
                stdio = Some(ChannelId::new(links.len()));
                let pipes = Stdio(Arc::clone(&slot));
                Box::new(StreamLink::new(&name, pipes, framer, bounds))
            };
            links.push((name, link));
        }
        let process = match &self.command {
            None => None,
            Some(command) => {
                let spec = CommandSpec {
                    argv: command
                        .words()?
                        .iter()
                        .map(|word| place.fill(word))
                        .collect::<Result<_, _>>()?,
                    dir: self
                        .dir
                        .as_ref()
                        .map(|dir| place.fill(&dir.display().to_string()).map(PathBuf::from))
                        .transpose()?,
                    env: self
                        .env
                        .iter()
                        .map(|(key, value)| Ok((key.clone(), place.fill(value)?)))
                        .collect::<Result<_, ExecError>>()?,
                    ready: self.ready.clone().filter(|_| stdio.is_none()),
                };
                Some(Process::new(spec, stdio.map(|_| slot), bounds.stop_grace))
            }
        };
        let reset = match self.reset {
            ResetKind::Restart => Reset::Restart,
            ResetKind::Reconnect => Reset::Reconnect,
            ResetKind::Action => Reset::Action {
                channel: self.channel_id(self.reset_channel.as_deref())?,
                send: self.reset_send.clone().unwrap_or_default().into_bytes(),
                expect: self.reset_expect.clone().map(String::into_bytes),
                settle: self.quiescence().default,
            },
        };
        let ready = stdio.zip(self.ready.clone().map(String::into_bytes));
        Ok(Wired::new(process, links, codec, reset, bounds)
            .ready_by(ready)
            .at(place))
    }

    /// An adapter for one job of a tester over labels.
    pub fn label_adapter(
        &self,
        job: JobId,
        labels: Arc<Labels>,
    ) -> Result<Wired<LabelId, LabelCodec>, ExecError> {
        let codec = LabelCodec::new(labels, self.action_map()?)?;
        self.adapter(job, codec)
    }
}
