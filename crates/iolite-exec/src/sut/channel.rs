//! The channels of a system under test, and the process behind them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use iolite_derive::{Channel, Context};
use serde::{Deserialize, Serialize};

use super::{ActionConfig, SutConfig, TlsConfig};
use crate::codec::ChannelId;
use crate::{CommandLine, ExecError, Framing};

/// The two addresses of a UDP channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct UdpAddresses {
    /// Where the tester listens and sends from.
    pub own: String,
    /// Where the system is.
    pub peer: String,
    /// Whose datagrams are taken.
    #[serde(default, skip_serializing_if = "DatagramSource::is_peer")]
    pub from: DatagramSource,
    /// Whether datagrams may be lost on their way, in either direction: the verdict then allows for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loss: bool,
    /// Whether datagrams may overtake each other, in either direction.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reorder: bool,
}

/// Whose datagrams a UDP channel takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DatagramSource {
    /// Those of the peer's address.
    #[default]
    Peer,
    /// Those of any port of the peer's host, and what follows is sent to that port: a server of TFTP answers
    /// each transfer from a port of its own (RFC 1350, §4).
    AnyPort,
}

impl DatagramSource {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
    fn is_peer(&self) -> bool {
        *self == Self::Peer
    }
}

/// What carries the messages of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Standard input and output of the process.
    Stdio {
        /// Where messages end.
        framing: Framing,
    },
    /// The system listens at `host:port`.
    Tcp {
        /// The address.
        address: String,
        /// Where messages end.
        framing: Framing,
        /// TLS, and how it is checked.
        tls: Option<TlsConfig>,
    },
    /// The tester listens at `host:port`, and the system connects.
    TcpListen {
        /// The address.
        address: String,
        /// Where messages end.
        framing: Framing,
    },
    /// A message is a datagram.
    Udp(UdpAddresses),
    /// A request of `http://host:port/base` is a stimulus, its response an output.
    Http {
        /// The address.
        url: String,
        /// How TLS is checked; with `https://` alone.
        tls: Option<TlsConfig>,
    },
    /// Messages of `ws://host:port/path`.
    WebSocket {
        /// The address.
        url: String,
        /// How TLS is checked; with `wss://` alone.
        tls: Option<TlsConfig>,
    },
}

/// Whether an address is `host:port`, the port a number or a placeholder.
fn has_port(address: &str) -> bool {
    let port = address.rsplit_once(':').map(|(_, port)| port);
    port.is_some_and(|port| port.contains('{') || port.parse::<u16>().is_ok())
}

impl Transport {
    /// The addresses of sockets.
    fn addresses(&self) -> impl Iterator<Item = &str> {
        let (one, other) = match self {
            Self::Tcp { address, .. } | Self::TcpListen { address, .. } => (Some(address), None),
            Self::Udp(UdpAddresses { own, peer, .. }) => (Some(own), Some(peer)),
            Self::Stdio { .. } | Self::Http { .. } | Self::WebSocket { .. } => (None, None),
        };
        one.into_iter().chain(other).map(String::as_str)
    }

    /// An address of sockets that lacks its port.
    pub(super) fn address_without_port(&self) -> Option<&str> {
        self.addresses().find(|address| !has_port(address))
    }

    /// An address of sockets that is written as a URL: its scheme and the rest.
    pub(super) fn address_with_scheme(&self) -> Option<(&str, &str)> {
        self.addresses()
            .find_map(|address| address.split_once("://"))
    }

    /// The name of a channel that has no other.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Stdio { .. } => "stdio",
            Self::Tcp { .. } | Self::TcpListen { .. } => "tcp",
            Self::Udp(_) => "udp",
            Self::Http { .. } => "http",
            Self::WebSocket { .. } => "websocket",
        }
    }

    /// What lies between tester and system unless the description says otherwise. An HTTP request is
    /// answered before the next one is sent on its connection; all else is under way.
    pub(super) fn usual_context(&self) -> Context {
        match self {
            Self::Http { .. } => Context::Synchronous,
            Self::Stdio { .. }
            | Self::Tcp { .. }
            | Self::TcpListen { .. }
            | Self::Udp(_)
            | Self::WebSocket { .. } => Context::Queues,
        }
    }

    /// How its TLS is checked.
    pub(super) fn tls(&self) -> Option<&TlsConfig> {
        match self {
            Self::Tcp { tls, .. } | Self::Http { tls, .. } | Self::WebSocket { tls, .. } => {
                tls.as_ref()
            }
            Self::Stdio { .. } | Self::TcpListen { .. } | Self::Udp(_) => None,
        }
    }

    pub(super) fn tls_mut(&mut self) -> Option<&mut TlsConfig> {
        match self {
            Self::Tcp { tls, .. } | Self::Http { tls, .. } | Self::WebSocket { tls, .. } => {
                tls.as_mut()
            }
            Self::Stdio { .. } | Self::TcpListen { .. } | Self::Udp(_) => None,
        }
    }

    /// Whether messages are requests and responses.
    pub fn is_http(&self) -> bool {
        matches!(self, Self::Http { .. })
    }

    /// Whether it is standard input and output.
    pub fn is_stdio(&self) -> bool {
        matches!(self, Self::Stdio { .. })
    }
}

/// A channel to the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelConfig {
    /// Name, for the actions that use it.
    pub name: String,
    /// What carries its messages.
    pub transport: Transport,
    /// What lies between tester and system; what is usual for the transport when missing.
    pub context: Option<Context>,
}

impl ChannelConfig {
    /// A channel with the usual name.
    pub fn new(transport: Transport) -> Self {
        Self {
            name: transport.name().into(),
            transport,
            context: None,
        }
    }
}

/// The process that is started for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessConfig {
    /// Program and arguments.
    pub command: CommandLine,
    /// Its working directory; the description's own folder when missing.
    pub dir: Option<PathBuf>,
    /// Environment variables to add.
    pub env: BTreeMap<String, String>,
    /// What it writes to standard output when it is ready: a whole message where that is a channel,
    /// else a part of the text. Without it, the time that the system takes to start counts as
    /// silence.
    pub ready: Option<String>,
}

impl From<CommandLine> for ProcessConfig {
    fn from(command: CommandLine) -> Self {
        Self {
            command,
            dir: None,
            env: BTreeMap::new(),
            ready: None,
        }
    }
}

/// What stands for the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum System {
    /// Another model, `FILE#Name`, is executed in its place.
    Model(String),
    /// It is reached through channels of bytes.
    Channels {
        /// What is started first; a system that runs already has none.
        process: Option<ProcessConfig>,
        /// How it is reached; at least one.
        channels: Vec<ChannelConfig>,
    },
}

/// Nothing that could be reached, for descriptions of actions alone.
impl Default for System {
    fn default() -> Self {
        Self::Channels {
            process: None,
            channels: Vec::new(),
        }
    }
}

impl From<Transport> for System {
    fn from(transport: Transport) -> Self {
        Self::Channels {
            process: None,
            channels: vec![ChannelConfig::new(transport)],
        }
    }
}

/// A process that is driven over its standard input and output, a message a line.
impl From<CommandLine> for System {
    fn from(command: CommandLine) -> Self {
        Self::Channels {
            process: Some(command.into()),
            channels: vec![ChannelConfig::new(Transport::Stdio {
                framing: Framing::Line,
            })],
        }
    }
}

impl System {
    /// The model that is executed in place of the system.
    pub fn model(&self) -> Option<&str> {
        match self {
            Self::Model(model) => Some(model),
            Self::Channels { .. } => None,
        }
    }

    /// The process that is started.
    pub fn process(&self) -> Option<&ProcessConfig> {
        match self {
            Self::Model(_) => None,
            Self::Channels { process, .. } => process.as_ref(),
        }
    }

    /// The process that is started.
    pub fn process_mut(&mut self) -> Option<&mut ProcessConfig> {
        match self {
            Self::Model(_) => None,
            Self::Channels { process, .. } => process.as_mut(),
        }
    }

    /// The channels; a model has none.
    pub fn channels(&self) -> &[ChannelConfig] {
        match self {
            Self::Model(_) => &[],
            Self::Channels { channels, .. } => channels,
        }
    }

    /// The same process, reached through one channel.
    #[must_use]
    pub fn over(self, transport: Transport) -> Self {
        let process = match self {
            Self::Model(_) => None,
            Self::Channels { process, .. } => process,
        };
        Self::Channels {
            process,
            channels: vec![ChannelConfig::new(transport)],
        }
    }
}

impl SutConfig {
    /// What lies between tester and system: queues if they do on one channel.
    pub fn context(&self) -> Context {
        let of_channel = |channel: &ChannelConfig| {
            let said = channel.context.or(self.context);
            said.unwrap_or_else(|| channel.transport.usual_context())
        };
        let channels = self.system.channels();
        match &self.system {
            System::Model(_) => self.context.unwrap_or_default(),
            System::Channels { .. }
                if channels.iter().any(|c| of_channel(c) == Context::Queues) =>
            {
                Context::Queues
            }
            System::Channels { .. } => Context::Synchronous,
        }
    }

    /// The channels as the judge sees them; none where all there is is a FIFO each way.
    pub fn judged_channels(&self) -> Vec<Channel> {
        let channels = self.system.channels();
        let judged: Vec<Channel> = channels
            .iter()
            .map(|config| {
                let (loss, reorder) = match &config.transport {
                    Transport::Udp(udp) => (udp.loss, udp.reorder),
                    _ => (false, false),
                };
                let own = |has: fn(&ActionConfig) -> bool| {
                    let rules = self.actions.iter();
                    let own = rules.filter(move |(_, rule)| {
                        rule.channel.as_ref() == Some(&config.name) && has(rule)
                    });
                    own.map(|(name, _)| name.clone()).collect()
                };
                Channel {
                    name: config.name.clone(),
                    inputs: own(|_| true),
                    // Without `recv` the output is its own message, on whatever channel.
                    outputs: own(|rule| rule.recv.is_some()),
                    loss,
                    reorder,
                }
            })
            .collect();
        match judged.as_slice() {
            [] => Vec::new(),
            [only] if !only.loss && !only.reorder => Vec::new(),
            _ => judged,
        }
    }

    pub(super) fn channel_id(&self, name: Option<&str>) -> Result<ChannelId, ExecError> {
        let Some(name) = name else {
            return Ok(ChannelId::FIRST);
        };
        if self.system.model().is_some() {
            // A description may be used with a model in place of its system, whose actions are no
            // bytes and need no channel.
            return Ok(ChannelId::FIRST);
        }
        let channels = self.system.channels();
        channels
            .iter()
            .position(|c| c.name == name)
            .map(ChannelId::new)
            .ok_or_else(|| {
                let known: Vec<_> = channels.iter().map(|c| &*c.name).collect();
                ExecError::Config(format!(
                    "there is no channel {name}; known: {}",
                    known.join(", ")
                ))
            })
    }
}
