//! The description of a system under test.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use iolite_lts::{LabelId, Labels};
use serde::{Deserialize, Serialize};

use crate::codec::{
    ActionCodec, ActionMap, ActionRule, ChannelId, LabelCodec, OnUndecodable, Template,
};
use crate::command_line::CommandLine;
use crate::http::HttpLink;
use crate::key_hint::hint;
use crate::link::Link;
use crate::process::{PipeSlot, Process, StdioLink};
use crate::tcp::TcpLink;
use crate::udp::UdpLink;
use crate::websocket::WebSocketLink;
use crate::{
    Bounds, CommandSpec, ExecError, Framing, JobId, JobPlace, OnExit, Quiescence, Reset, TcpRole,
    Wired,
};

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

/// What becomes of undecodable messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UndecodableKind {
    /// An error.
    #[default]
    Error,
    /// The output `!undecodable`.
    Output,
}

/// When silence is quiescence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct QuiescenceConfig {
    /// Where nothing else is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// By the name of a place of the model.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub states: BTreeMap<String, u64>,
    /// By the last action, in `?a`, `!x` notation.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub actions: BTreeMap<String, u64>,
}

/// Limits against hostile systems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LimitsConfig {
    /// Bytes of one message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_message_bytes: Option<usize>,
    /// Bytes that may wait unread while a stimulus is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_pending_bytes: Option<usize>,
    /// How long the rest of a half-read message is waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_timeout_ms: Option<u64>,
    /// How long the system may take to start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub startup_timeout_ms: Option<u64>,
    /// How long a stimulus may take to be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_timeout_ms: Option<u64>,
    /// How long the process may take to end when asked to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_grace_ms: Option<u64>,
}

/// How one action meets bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ActionConfig {
    /// The message of the stimulus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send: Option<String>,
    /// The message of the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recv: Option<String>,
    /// Names of the parameters in the order of the model, where the template has another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<Vec<String>>,
    /// The channel of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// Quiescence after this action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// A system under test, as a TOML file or the command line describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SutConfig {
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Another model, `FILE#Name`, that plays the system.
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

    /// The channels, those of the short forms included.
    fn all_channels(&self) -> Vec<ChannelConfig> {
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

    fn channel_id(&self, name: Option<&str>) -> Result<ChannelId, ExecError> {
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

    /// The templates of the actions.
    pub fn action_map(&self) -> Result<ActionMap, ExecError> {
        let mut map = ActionMap::new().on_undecodable(match self.undecodable {
            UndecodableKind::Error => OnUndecodable::Error,
            UndecodableKind::Output => OnUndecodable::Output,
        });
        for (name, config) in &self.actions {
            let fail =
                |e: &dyn ToString| ExecError::Config(format!("action {name}: {}", e.to_string()));
            let template = |text: &Option<String>| -> Result<Option<Template>, ExecError> {
                text.as_ref()
                    .map(|text| {
                        let template = Template::parse(text).map_err(|e| fail(&e))?;
                        match &config.params {
                            Some(params) => template.with_params(params).map_err(|e| fail(&e)),
                            None => Ok(template),
                        }
                    })
                    .transpose()
            };
            let rule = ActionRule {
                send: template(&config.send)?,
                recv: template(&config.recv)?,
                channel: config
                    .channel
                    .as_deref()
                    .map(|c| self.channel_id(Some(c)))
                    .transpose()?,
            };
            if let Some(recv) = &rule.recv {
                recv.check_readable().map_err(|e| fail(&e))?;
            }
            map.insert(name.clone(), rule);
        }
        Ok(map)
    }

    /// When silence is quiescence.
    pub fn quiescence(&self) -> Quiescence {
        let times = |map: &BTreeMap<String, u64>| -> BTreeMap<String, Duration> {
            map.iter()
                .map(|(name, ms)| (name.clone(), Duration::from_millis(*ms)))
                .collect()
        };
        let mut quiescence = Quiescence {
            default: self
                .quiescence
                .timeout_ms
                .map_or(Quiescence::default().default, Duration::from_millis),
            states: times(&self.quiescence.states),
            actions: times(&self.quiescence.actions),
        };
        for (name, action) in &self.actions {
            if let Some(ms) = action.timeout_ms {
                let sigil = if action.recv.is_some() && action.send.is_none() {
                    '!'
                } else {
                    '?'
                };
                quiescence
                    .actions
                    .entry(format!("{sigil}{name}"))
                    .or_insert(Duration::from_millis(ms));
            }
        }
        quiescence
    }

    /// The limits.
    pub fn bounds(&self) -> Bounds {
        let limits = &self.limits;
        let default = Bounds::default();
        let time = |ms: Option<u64>, default| ms.map_or(default, Duration::from_millis);
        Bounds {
            max_message: limits.max_message_bytes.unwrap_or(default.max_message),
            max_pending: limits.max_pending_bytes.unwrap_or(default.max_pending),
            message_timeout: time(limits.message_timeout_ms, default.message_timeout),
            startup_timeout: time(limits.startup_timeout_ms, default.startup_timeout),
            send_timeout: time(limits.send_timeout_ms, default.send_timeout),
            stop_grace: time(limits.stop_grace_ms, default.stop_grace),
        }
    }

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
            let framing = channel.framing()?;
            let link: Box<dyn Link> = if let Some(address) = &channel.tcp {
                let role = TcpRole::Client(place.fill(address)?);
                Box::new(TcpLink::new(&name, role, framing, bounds))
            } else if let Some(address) = &channel.tcp_listen {
                let role = TcpRole::Server(place.fill(address)?);
                Box::new(TcpLink::new(&name, role, framing, bounds))
            } else if let Some(UdpAddresses { own, peer }) = &channel.udp {
                let (own, peer) = (place.fill(own)?, place.fill(peer)?);
                Box::new(UdpLink::new(&name, &own, &peer, bounds))
            } else if let Some(url) = &channel.http {
                Box::new(HttpLink::new(&name, &place.fill(url)?, bounds)?)
            } else if let Some(url) = &channel.websocket {
                Box::new(WebSocketLink::new(&name, &place.fill(url)?, bounds)?)
            } else {
                stdio = Some(ChannelId::new(links.len()));
                Box::new(StdioLink::new(&name, Arc::clone(&slot), framing, bounds))
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

impl ChannelConfig {
    fn ways(&self) -> usize {
        usize::from(self.stdio == Some(true))
            + usize::from(self.tcp.is_some())
            + usize::from(self.tcp_listen.is_some())
            + usize::from(self.udp.is_some())
            + usize::from(self.http.is_some())
            + usize::from(self.websocket.is_some())
    }

    fn framing(&self) -> Result<Framing, ExecError> {
        self.framing.as_deref().map_or(Ok(Framing::Line), |text| {
            text.parse().map_err(ExecError::Config)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
