//! The description as its file has it: flat, with short forms. It becomes a [`SutConfig`] in which
//! what excludes each other cannot be said, and is written again from one, for the journal.

use std::collections::BTreeMap;
use std::path::PathBuf;

use iolite_derive::Context;
use serde::{Deserialize, Serialize};

use super::channel::{ChannelConfig, ProcessConfig, System, Transport, UdpAddresses};
use super::tls::{TlsConfig, TlsKey};
use super::{
    ActionConfig, LimitsConfig, QuiescenceConfig, ResetConfig, SutConfig, UndecodableKind,
};
use crate::{CommandLine, ExecError, Framing, OnExit};

/// The key `reset`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ResetKind {
    #[default]
    Restart,
    Reconnect,
    Action,
}

/// A table `[[channel]]`, or the short form of the only channel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawChannel {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stdio: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tcp: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tcp_listen: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    udp: Option<UdpAddresses>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    http: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    websocket: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tls: Option<TlsKey>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    framing: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    context: Option<Context>,
}

impl RawChannel {
    /// Every transport that is given.
    fn transports(self) -> Result<Vec<Transport>, ExecError> {
        let framing: Framing = match &self.framing {
            Some(text) => text.parse().map_err(ExecError::Config)?,
            None => Framing::Line,
        };
        let stdio = (self.stdio == Some(true)).then(|| Transport::Stdio {
            framing: framing.clone(),
        });
        let switched_off = self.tls == Some(TlsKey::Switch(false));
        let given = self.tls.and_then(TlsKey::config);
        let of_url = |url: &str, scheme: &str| match (&given, url.starts_with(scheme)) {
            (None, true) if switched_off => mistake(format!(
                "tls = false, and {url:?} is TLS: write {} for {scheme}",
                scheme.replace("s://", "://")
            )),
            (None, true) => Ok(Some(TlsConfig::default())),
            (Some(_), false) => mistake(format!(
                "tls has no effect, since {url:?} is not TLS: write {scheme}"
            )),
            (given, _) => Ok(given.clone()),
        };
        let tcp = self.tcp.map(|address| Transport::Tcp {
            address,
            framing: framing.clone(),
            tls: given.clone(),
        });
        let tcp_listen = self
            .tcp_listen
            .map(|address| Transport::TcpListen { address, framing });
        let udp = self.udp.map(Transport::Udp);
        let http = self.http.map(|url| {
            let tls = of_url(&url, "https://")?;
            Ok::<_, ExecError>(Transport::Http { url, tls })
        });
        let websocket = self.websocket.map(|url| {
            let tls = of_url(&url, "wss://")?;
            Ok::<_, ExecError>(Transport::WebSocket { url, tls })
        });
        let all = [
            stdio,
            tcp,
            tcp_listen,
            udp,
            http.transpose()?,
            websocket.transpose()?,
        ];
        let all: Vec<Transport> = all.into_iter().flatten().collect();
        if given.is_some() && all.iter().all(|transport| transport.tls().is_none()) {
            return mistake("tls is for tcp, http and websocket");
        }
        Ok(all)
    }

    fn of(transport: Transport) -> Self {
        let mut raw = Self::default();
        match transport {
            Transport::Stdio { framing } => {
                raw.stdio = Some(true);
                raw.framing = framing_key(&framing);
            }
            Transport::Tcp {
                address,
                framing,
                tls,
            } => {
                raw.tcp = Some(address);
                raw.framing = framing_key(&framing);
                raw.tls = tls.map(TlsKey::from);
            }
            Transport::TcpListen { address, framing } => {
                raw.tcp_listen = Some(address);
                raw.framing = framing_key(&framing);
            }
            Transport::Udp(addresses) => raw.udp = Some(addresses),
            // The address says that it is TLS, if nothing else has to be said.
            Transport::Http { url, tls } => {
                raw.http = Some(url);
                raw.tls = tls
                    .filter(|tls| *tls != TlsConfig::default())
                    .map(TlsKey::from);
            }
            Transport::WebSocket { url, tls } => {
                raw.websocket = Some(url);
                raw.tls = tls
                    .filter(|tls| *tls != TlsConfig::default())
                    .map(TlsKey::from);
            }
        }
        raw
    }
}

fn framing_key(framing: &Framing) -> Option<String> {
    (*framing != Framing::Line).then(|| framing.to_string())
}

/// The keys of a description.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawSut {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<CommandLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dir: Option<PathBuf>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ready: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tcp: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tcp_listen: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    udp: Option<UdpAddresses>,
    #[serde(skip_serializing_if = "Option::is_none")]
    http: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    websocket: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls: Option<TlsKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    framing: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<Context>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_in_flight: Option<usize>,
    /// Several channels, instead of one above.
    #[serde(rename = "channel", skip_serializing_if = "Vec::is_empty")]
    channels: Vec<RawChannel>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    attach: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_port: Option<u16>,
    reset: ResetKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    reset_send: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reset_expect: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reset_channel: Option<String>,
    on_exit: OnExit,
    undecodable: UndecodableKind,
    quiescence: QuiescenceConfig,
    limits: LimitsConfig,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    actions: BTreeMap<String, ActionConfig>,
}

fn mistake<T>(reason: impl Into<String>) -> Result<T, ExecError> {
    Err(ExecError::Config(reason.into()))
}

impl RawSut {
    /// The channels with their names, the one of the short form first.
    fn take_channels(&mut self) -> Result<Vec<ChannelConfig>, ExecError> {
        let mut short = RawChannel {
            name: None,
            stdio: None,
            tcp: self.tcp.take(),
            tcp_listen: self.tcp_listen.take(),
            udp: self.udp.take(),
            http: self.http.take(),
            websocket: self.websocket.take(),
            tls: self.tls.take(),
            framing: self.framing.take(),
            // What is said of the system goes for all of its channels.
            context: None,
        };
        let mut channels = std::mem::take(&mut self.channels);
        let has_short = !short.clone().transports()?.is_empty();
        if has_short {
            channels.insert(0, short);
        } else if channels.is_empty() && self.command.is_some() {
            short.stdio = Some(true);
            channels.push(short);
        }
        let channels = channels.into_iter().enumerate().map(|(i, mut raw)| {
            let name = raw.name.take();
            let context = raw.context;
            let mut transports = raw.transports()?;
            let usual = match transports.first() {
                Some(first) if i == 0 && (has_short || first.is_stdio()) => first.name().into(),
                _ => format!("channel{}", i + 1),
            };
            let name = name.unwrap_or(usual);
            match (transports.pop(), transports.pop()) {
                (Some(transport), None) => Ok(ChannelConfig {
                    name,
                    transport,
                    context,
                }),
                _ => mistake(format!(
                    "channel {name} must have exactly one of stdio, tcp, tcp-listen, udp, http, \
                     websocket"
                )),
            }
        });
        channels.collect()
    }

    fn take_process(&mut self) -> Result<Option<ProcessConfig>, ExecError> {
        match self.command.take() {
            Some(command) => Ok(Some(ProcessConfig {
                command,
                dir: self.dir.take(),
                env: std::mem::take(&mut self.env),
                ready: self.ready.take(),
            })),
            None if self.ready.is_some() => {
                mistake("ready is what a command says, and there is no command")
            }
            None => Ok(None),
        }
    }

    fn take_reset(&mut self) -> Result<ResetConfig, ExecError> {
        let (send, expect) = (self.reset_send.take(), self.reset_expect.take());
        match (self.reset, send) {
            (ResetKind::Action, Some(send)) => Ok(ResetConfig::Action {
                send,
                expect,
                channel: self.reset_channel.clone(),
            }),
            (ResetKind::Action, None) => mistake("reset = \"action\" needs reset-send"),
            (ResetKind::Restart, None) if expect.is_none() => Ok(ResetConfig::Restart),
            (ResetKind::Reconnect, None) if expect.is_none() => Ok(ResetConfig::Reconnect),
            (ResetKind::Restart | ResetKind::Reconnect, _) => {
                mistake("reset-send and reset-expect need reset = \"action\"")
            }
        }
    }
}

impl TryFrom<RawSut> for SutConfig {
    type Error = ExecError;

    fn try_from(mut raw: RawSut) -> Result<Self, ExecError> {
        let (system, reset) = if let Some(model) = raw.model.take() {
            // The rest of the description is about the system that the model replaces.
            (System::Model(model), ResetConfig::default())
        } else {
            let channels = raw.take_channels()?;
            let process = raw.take_process()?;
            let system = System::Channels { process, channels };
            (system, raw.take_reset()?)
        };
        let config = Self {
            name: raw.name,
            system,
            context: raw.context,
            max_in_flight: raw.max_in_flight,
            attach: raw.attach,
            base_port: raw.base_port,
            reset,
            on_exit: raw.on_exit,
            undecodable: raw.undecodable,
            quiescence: raw.quiescence,
            limits: raw.limits,
            actions: raw.actions,
        };
        config.check()?;
        config.channel_id(raw.reset_channel.as_deref())?;
        Ok(config)
    }
}

impl From<SutConfig> for RawSut {
    fn from(config: SutConfig) -> Self {
        let mut raw = Self {
            name: config.name,
            context: config.context,
            max_in_flight: config.max_in_flight,
            attach: config.attach,
            base_port: config.base_port,
            on_exit: config.on_exit,
            undecodable: config.undecodable,
            quiescence: config.quiescence,
            limits: config.limits,
            actions: config.actions,
            ..Self::default()
        };
        match config.reset {
            ResetConfig::Restart => {}
            ResetConfig::Reconnect => raw.reset = ResetKind::Reconnect,
            ResetConfig::Action {
                send,
                expect,
                channel,
            } => {
                raw.reset = ResetKind::Action;
                raw.reset_send = Some(send);
                raw.reset_expect = expect;
                raw.reset_channel = channel;
            }
        }
        let (process, channels) = match config.system {
            System::Model(model) => {
                raw.model = Some(model);
                return raw;
            }
            System::Channels { process, channels } => (process, channels),
        };
        let only = channels.len() == 1;
        for (i, channel) in channels.into_iter().enumerate() {
            let usual = i == 0 && channel.name == channel.transport.name();
            let stdio = channel.transport.is_stdio();
            let form = RawChannel::of(channel.transport);
            if usual && (only || !stdio) && channel.context.is_none() {
                // The short form. That of standard input and output is the command itself.
                raw.tcp = form.tcp;
                raw.tcp_listen = form.tcp_listen;
                raw.udp = form.udp;
                raw.http = form.http;
                raw.websocket = form.websocket;
                raw.tls = form.tls;
                raw.framing = form.framing;
            } else {
                raw.channels.push(RawChannel {
                    name: Some(channel.name),
                    context: channel.context,
                    ..form
                });
            }
        }
        if let Some(process) = process {
            raw.command = Some(process.command);
            raw.dir = process.dir;
            raw.env = process.env;
            raw.ready = process.ready;
        }
        raw
    }
}
