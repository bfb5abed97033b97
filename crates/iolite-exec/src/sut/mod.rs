//! The description of a system under test.

mod action;
mod adapter;
mod channel;
mod timing;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use action::{ActionConfig, UndecodableKind};
pub use channel::{ChannelConfig, UdpAddresses};
pub use timing::{LimitsConfig, QuiescenceConfig};

use crate::key_hint::hint;
use crate::transport::command_line::CommandLine;
use crate::{ExecError, OnExit};

/// How a run resets the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResetKind {
    /// End the process and start it anew.
    #[default]
    Restart,
    /// Connect anew.
    Reconnect,
    /// Send `reset-send`.
    Action,
}

/// A system under test, as a TOML file or the command line describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SutConfig {
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Another model, `FILE#Name`, that plays the system; a file in the folder of the description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What to start. Without another way to reach it, it is driven over standard input and output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandLine>,
    /// Its working directory; the description's own folder when missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dir: Option<PathBuf>,
    /// Environment variables to add.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// What it writes to standard output when it is ready: a whole message where that is a channel,
    /// else a part of the text. Without it, the time that the system takes to start counts as
    /// silence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<String>,
    /// See [`ChannelConfig::tcp`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp: Option<String>,
    /// See [`ChannelConfig::tcp_listen`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_listen: Option<String>,
    /// See [`ChannelConfig::udp`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub udp: Option<UdpAddresses>,
    /// See [`ChannelConfig::http`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http: Option<String>,
    /// See [`ChannelConfig::websocket`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub websocket: Option<String>,
    /// See the field of [`ChannelConfig`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub framing: Option<String>,
    /// Several channels, instead of one above.
    #[serde(rename = "channel", skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<ChannelConfig>,
    /// The first port of `{port}`; free ones when missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_port: Option<u16>,
    /// How a run resets the system.
    pub reset: ResetKind,
    /// The message that resets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reset_send: Option<String>,
    /// The message that says that it is reset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reset_expect: Option<String>,
    /// The channel of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reset_channel: Option<String>,
    /// What the end of the system during a run means.
    pub on_exit: OnExit,
    /// What becomes of undecodable messages.
    pub undecodable: UndecodableKind,
    /// When silence is quiescence.
    pub quiescence: QuiescenceConfig,
    /// Limits against hostile systems.
    pub limits: LimitsConfig,
    /// How actions meet bytes, by bare name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub actions: BTreeMap<String, ActionConfig>,
}

impl SutConfig {
    /// Reads a TOML file; relative directories are relative to it.
    pub fn load(path: &Path) -> Result<Self, ExecError> {
        let text = fs::read_to_string(path)
            .map_err(|e| ExecError::Config(format!("cannot read {}: {e}", path.display())))?;
        let mut config = Self::parse(&text)
            .map_err(|e| ExecError::Config(format!("{}: {e}", path.display())))?;
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
        if let Some(folder) = folder {
            config.dir = Some(match &config.dir {
                Some(dir) => folder.join(dir),
                None => folder.to_owned(),
            });
            config.model = config
                .model
                .map(|model| folder.join(model).display().to_string());
        }
        Ok(config)
    }

    /// Reads TOML text and checks it. An unknown key is an error with a hint.
    pub fn parse(text: &str) -> Result<Self, ExecError> {
        let config: Self = toml::from_str(text).map_err(|e| {
            let message = e.to_string();
            match hint(&message) {
                Some(hint) => ExecError::Config(format!("{}\n{hint}", message.trim_end())),
                None => ExecError::Config(message),
            }
        })?;
        config.check()?;
        Ok(config)
    }

    /// Reads the short form of the command line: `cmd:PROGRAM ARGS`, `tcp:HOST:PORT`,
    /// `tcp-listen:HOST:PORT`, `udp:OWN,PEER`, `http://…`, `ws://…`, `model:FILE#Name`, or the path
    /// of a TOML file.
    pub fn from_flag(flag: &str) -> Result<Self, ExecError> {
        let mut config = Self::default();
        if flag.starts_with("http://") {
            config.http = Some(flag.into());
        } else if flag.starts_with("ws://") {
            config.websocket = Some(flag.into());
        } else {
            match flag.split_once(':') {
                Some(("cmd", line)) => config.command = Some(CommandLine::Line(line.into())),
                Some(("tcp", address)) => config.tcp = Some(address.into()),
                Some(("tcp-listen", address)) => config.tcp_listen = Some(address.into()),
                Some(("model", model)) => config.model = Some(model.into()),
                Some(("udp", addresses)) => {
                    let (own, peer) = addresses.split_once(',').ok_or_else(|| {
                        ExecError::Config(format!("{flag:?} is not udp:OWN,PEER"))
                    })?;
                    config.udp = Some(UdpAddresses {
                        own: own.into(),
                        peer: peer.into(),
                    });
                }
                _ => return Self::load(Path::new(flag)),
            }
        }
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), ExecError> {
        let fail = |reason: String| Err(ExecError::Config(reason));
        if self.model.is_some() {
            return Ok(());
        }
        let channels = self.all_channels();
        if channels.is_empty() {
            return fail(
                "nothing says how to reach the system: give command, tcp, tcp-listen, udp, http, \
                 websocket, model or [[channel]]"
                    .into(),
            );
        }
        let mut stdio = 0;
        for (i, channel) in channels.iter().enumerate() {
            let name = channel.name.as_deref().unwrap_or_default();
            if channel.ways() != 1 {
                return fail(format!(
                    "channel {name} must have exactly one of stdio, tcp, tcp-listen, udp, http, \
                     websocket"
                ));
            }
            if channels[..i].iter().any(|c| c.name == channel.name) {
                return fail(format!("two channels are named {name}"));
            }
            if channel.stdio == Some(true) {
                stdio += 1;
                if self.command.is_none() {
                    return fail(format!("channel {name} is stdio, and there is no command"));
                }
            }
            channel.framing()?;
        }
        if stdio > 1 {
            return fail("two channels are stdio".into());
        }
        if self.ready.is_some() && self.command.is_none() {
            return fail("ready is what a command says, and there is no command".into());
        }
        if self.reset == ResetKind::Action && self.reset_send.is_none() {
            return fail("reset = \"action\" needs reset-send".into());
        }
        if self.reset != ResetKind::Action
            && (self.reset_send.is_some() || self.reset_expect.is_some())
        {
            return fail("reset-send and reset-expect need reset = \"action\"".into());
        }
        if self.reset == ResetKind::Reconnect && stdio > 0 {
            return fail("standard input and output cannot be reconnected; use restart".into());
        }
        if let Some(command) = &self.command
            && command.words()?.is_empty()
        {
            return fail("the command is empty".into());
        }
        self.channel_id(self.reset_channel.as_deref())?;
        self.action_map().map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::codec::ChannelId;

    #[test]
    fn a_full_description_is_read() {
        let config = SutConfig::parse(
            r#"
            command = "python3 'my server.py' {port} {dir}"
            ready = "listening"
            reset = "action"
            reset-send = "RESET"
            reset-expect = "READY"
            reset-channel = "control"
            on-exit = "deadlock"
            undecodable = "output"

            [[channel]]
            name = "data"
            tcp = "127.0.0.1:{port}"
            framing = "u16be"

            [[channel]]
            name = "control"
            udp = { own = "127.0.0.1:{port2}", peer = "127.0.0.1:{port3}" }

            [quiescence]
            timeout-ms = 50
            states = { Busy = 500 }

            [limits]
            max-message-bytes = 1000

            [actions.BUTTON]
            send = "BUTTON {n}"
            timeout-ms = 70

            [actions.MSG]
            recv = "MSG {b:bool} {m:int}"
            params = ["m", "b"]
            channel = "control"
            "#,
        )
        .unwrap();
        assert_eq!(
            config.command.as_ref().unwrap().words().unwrap()[1],
            "my server.py"
        );
        assert_eq!(config.bounds().max_message, 1000);
        let quiescence = config.quiescence();
        assert_eq!(quiescence.default, Duration::from_millis(50));
        assert_eq!(quiescence.actions["?BUTTON"], Duration::from_millis(70));
        let action = config
            .action_map()
            .unwrap()
            .decode(ChannelId::new(1), b"MSG true 3")
            .unwrap();
        assert_eq!(action.to_string(), "MSG(3, true)");
        let again = toml::to_string(&config).unwrap();
        assert_eq!(SutConfig::parse(&again).unwrap(), config);
    }

    #[test]
    fn mistakes_are_told() {
        for (text, part) in [
            ("comand = \"x\"", "did you mean command?"),
            ("command = \"x\"\n[quiescence]\ntimeout = 3", "timeout-ms"),
            ("", "nothing says how to reach"),
            ("tcp = \"a:1\"\nhttp = \"http://a\"", "exactly one"),
            ("command = \"x\"\nframing = \"words\"", "unknown framing"),
            (
                "command = \"x\"\nreset = \"reconnect\"",
                "cannot be reconnected",
            ),
            ("command = \"x\"\nreset = \"action\"", "needs reset-send"),
            ("command = \"'x\"", "open quote"),
            (
                "command = \"x\"\n[actions.A]\nchannel = \"y\"",
                "no channel y; known: stdio",
            ),
            (
                "command = \"x\"\n[actions.A]\nrecv = \"{a}{b}\"",
                "action A",
            ),
            ("command = \"x\"\non-exit = \"pass\"", "deadlock"),
        ] {
            let error = SutConfig::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}\n{error}");
        }
    }

    #[test]
    fn flags_are_read() {
        assert!(SutConfig::from_flag("cmd:cat").unwrap().command.is_some());
        assert_eq!(
            SutConfig::from_flag("tcp:localhost:80")
                .unwrap()
                .tcp
                .as_deref(),
            Some("localhost:80")
        );
        assert!(SutConfig::from_flag("udp:1").is_err());
        assert!(
            SutConfig::from_flag("model:a.iol#B")
                .unwrap()
                .model
                .is_some()
        );
        assert!(
            SutConfig::from_flag("http://localhost")
                .unwrap()
                .http
                .is_some()
        );
        assert!(SutConfig::from_flag("no-such-file.toml").is_err());
    }
}
