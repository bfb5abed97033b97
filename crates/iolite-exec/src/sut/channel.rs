//! The channels of a system under test, as they are described.

use serde::{Deserialize, Serialize};

use super::SutConfig;
use crate::codec::ChannelId;
use crate::{ExecError, Framing};

/// The two addresses of a UDP channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct UdpAddresses {
    /// Where the tester listens and sends from.
    pub own: String,
    /// Where the system is.
    pub peer: String,
}

/// How to reach the system on one channel: exactly one of the ways.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ChannelConfig {
    /// Name, for the actions that use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Standard input and output of the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdio: Option<bool>,
    /// `host:port` where the system listens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<String>,
    /// `host:port` where the tester listens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_listen: Option<String>,
    /// Own and peer address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub udp: Option<UdpAddresses>,
    /// `http://host:port/base`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<String>,
    /// `ws://host:port/path`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub websocket: Option<String>,
    /// Where messages end in a stream: `line`, `u8`, `u16be`, `u32be`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<String>,
}

impl ChannelConfig {
    pub(super) fn ways(&self) -> usize {
        usize::from(self.stdio == Some(true))
            + usize::from(self.tcp.is_some())
            + usize::from(self.tcp_listen.is_some())
            + usize::from(self.udp.is_some())
            + usize::from(self.http.is_some())
            + usize::from(self.websocket.is_some())
    }

    pub(super) fn framing(&self) -> Result<Framing, ExecError> {
        self.framing.as_deref().map_or(Ok(Framing::Line), |text| {
            text.parse().map_err(ExecError::Config)
        })
    }
}

impl SutConfig {
    /// The channels, those of the short forms included.
    pub(super) fn all_channels(&self) -> Vec<ChannelConfig> {
        let single = ChannelConfig {
            name: None,
            stdio: None,
            tcp: self.tcp.clone(),
            tcp_listen: self.tcp_listen.clone(),
            udp: self.udp.clone(),
            http: self.http.clone(),
            websocket: self.websocket.clone(),
            framing: self.framing.clone(),
        };
        let has_single = single.ways() > 0;
        let mut channels = self.channels.clone();
        if has_single {
            channels.insert(0, single);
        } else if channels.is_empty() && self.command.is_some() {
            channels.push(ChannelConfig {
                stdio: Some(true),
                ..single
            });
        }
        for (i, channel) in channels.iter_mut().enumerate() {
            channel.name.get_or_insert_with(|| {
                if i == 0 {
                    channel_name(channel.stdio, self)
                } else {
                    format!("channel{}", i + 1)
                }
            });
        }
        channels
    }

    pub(super) fn channel_id(&self, name: Option<&str>) -> Result<ChannelId, ExecError> {
        let Some(name) = name else {
            return Ok(ChannelId::FIRST);
        };
        let channels = self.all_channels();
        channels
            .iter()
            .position(|c| c.name.as_deref() == Some(name))
            .map(ChannelId::new)
            .ok_or_else(|| {
                let known: Vec<_> = channels.iter().filter_map(|c| c.name.as_deref()).collect();
                ExecError::Config(format!(
                    "there is no channel {name}; known: {}",
                    known.join(", ")
                ))
            })
    }
}

fn channel_name(stdio: Option<bool>, config: &SutConfig) -> String {
    let name = if stdio == Some(true) {
        "stdio"
    } else if config.tcp.is_some() || config.tcp_listen.is_some() {
        "tcp"
    } else if config.udp.is_some() {
        "udp"
    } else if config.http.is_some() {
        "http"
    } else if config.websocket.is_some() {
        "websocket"
    } else {
        "channel1"
    };
    name.into()
}
