//! The description of a system under test.

mod action;
mod adapter;
mod channel;
mod raw;
mod timing;
mod tls;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use iolite_derive::Context;
use serde::{Deserialize, Serialize};

pub use action::{ActionConfig, UndecodableKind};
pub use channel::{ChannelConfig, DatagramSource, ProcessConfig, System, Transport, UdpAddresses};
pub use timing::{LimitsConfig, QuiescenceConfig};
pub use tls::TlsConfig;

use self::raw::RawSut;
use crate::key_hint::hint;
use crate::transport::command_line::CommandLine;
use crate::{ExecError, Framing, OnExit};

/// How a run resets the system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ResetConfig {
    /// The process is ended and started anew.
    #[default]
    Restart,
    /// The channels are closed and connected anew.
    Reconnect,
    /// A message resets it.
    Action {
        /// The message.
        send: String,
        /// The message that says that it is reset.
        expect: Option<String>,
        /// The channel of both; the first when missing.
        channel: Option<String>,
    },
}

/// A system under test, as a TOML file or the command line describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawSut", into = "RawSut")]
pub struct SutConfig {
    /// A name for people.
    pub name: Option<String>,
    /// What stands for the system, and how it is reached.
    pub system: System,
    /// What lies between tester and system on channels that say nothing themselves.
    pub context: Option<Context>,
    /// How many inputs may be under way at most, where messages queue.
    pub max_in_flight: Option<usize>,
    /// Whether a process that answers at the address before the command was started is tested.
    pub attach: bool,
    /// The first port of `{port}`; free ones when missing.
    pub base_port: Option<u16>,
    /// How a run resets the system.
    pub reset: ResetConfig,
    /// What the end of the system during a run means.
    pub on_exit: OnExit,
    /// What becomes of undecodable messages.
    pub undecodable: UndecodableKind,
    /// When silence is quiescence.
    pub quiescence: QuiescenceConfig,
    /// Limits against hostile systems.
    pub limits: LimitsConfig,
    /// How actions meet bytes, by bare name.
    pub actions: BTreeMap<String, ActionConfig>,
}

impl SutConfig {
    /// Reads a TOML file; the working directory and the file of a model are relative to it.
    pub fn load(path: &Path) -> Result<Self, ExecError> {
        let text = fs::read_to_string(path)
            .map_err(|e| ExecError::Config(format!("cannot read {}: {e}", path.display())))?;
        let mut config = Self::parse(&text)
            .map_err(|e| ExecError::Config(format!("{}: {e}", path.display())))?;
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
        match (folder, &mut config.system) {
            (Some(folder), System::Model(model)) => {
                *model = folder.join(&*model).display().to_string();
            }
            (Some(folder), System::Channels { process, channels }) => {
                for channel in channels {
                    if let Some(tls) = channel.transport.tls_mut() {
                        tls.relative_to(folder);
                    }
                }
                if let Some(process) = process {
                    process.dir = Some(match &process.dir {
                        Some(dir) => folder.join(dir),
                        None => folder.to_owned(),
                    });
                }
            }
            (None, _) => {}
        }
        if let System::Channels {
            process: Some(process),
            ..
        } = &config.system
            // One with a place to be filled in belongs to a job.
            && let Some(dir) = process.dir.as_ref().filter(|dir| !dir.is_dir())
            && !dir.to_string_lossy().contains('{')
        {
            return Err(ExecError::Config(format!(
                "{}: dir: there is no folder {}",
                path.display(),
                dir.display()
            )));
        }
        Ok(config)
    }

    /// Reads TOML text and checks it. An unknown key is an error with a hint.
    pub fn parse(text: &str) -> Result<Self, ExecError> {
        let raw: RawSut = toml::from_str(text).map_err(|e| {
            let message = e.to_string();
            match hint(&message) {
                Some(hint) => ExecError::Config(format!("{}\n{hint}", message.trim_end())),
                None => ExecError::Config(message),
            }
        })?;
        raw.try_into()
    }

    /// Reads the short form of the command line: `cmd:PROGRAM ARGS`, `tcp:HOST:PORT`,
    /// `tls:HOST:PORT`, `tcp-listen:HOST:PORT`, `udp:OWN,PEER`, `http://…`, `https://…`, `ws://…`,
    /// `wss://…`, `model:FILE#Name`, or the path of a TOML file.
    pub fn from_flag(flag: &str) -> Result<Self, ExecError> {
        let framing = Framing::Line;
        let url = flag.to_owned();
        let system = match flag.split_once("://") {
            Some(("http", _)) => Transport::Http { url, tls: None }.into(),
            Some(("https", _)) => {
                let tls = Some(TlsConfig::default());
                Transport::Http { url, tls }.into()
            }
            Some(("ws", _)) => Transport::WebSocket { url, tls: None }.into(),
            Some(("wss", _)) => {
                let tls = Some(TlsConfig::default());
                Transport::WebSocket { url, tls }.into()
            }
            _ => match flag.split_once(':') {
                Some(("cmd", line)) => CommandLine::Line(line.into()).into(),
                Some((scheme @ ("tcp" | "tls"), address)) => Transport::Tcp {
                    address: address.into(),
                    framing,
                    tls: (scheme == "tls").then(TlsConfig::default),
                }
                .into(),
                Some(("tcp-listen", address)) => Transport::TcpListen {
                    address: address.into(),
                    framing,
                }
                .into(),
                Some(("model", model)) => System::Model(model.into()),
                Some(("udp", addresses)) => {
                    let (own, peer) = addresses.split_once(',').ok_or_else(|| {
                        ExecError::Config(format!("{flag:?} is not udp:OWN,PEER"))
                    })?;
                    Transport::Udp(UdpAddresses {
                        own: own.into(),
                        peer: peer.into(),
                        from: DatagramSource::Peer,
                        loss: false,
                        reorder: false,
                    })
                    .into()
                }
                _ => return Self::load(Path::new(flag)),
            },
        };
        let config = Self {
            system,
            ..Self::default()
        };
        config.check()?;
        Ok(config)
    }

    /// What the types leave open: names, the one pair of pipes, templates.
    fn check(&self) -> Result<(), ExecError> {
        let fail = |reason: String| Err(ExecError::Config(reason));
        if self.max_in_flight == Some(0) {
            return fail("max-in-flight = 0 would allow no input at all; 1 is the least".into());
        }
        let System::Channels { process, channels } = &self.system else {
            return Ok(());
        };
        if let Some(place) = self.zero_timeout() {
            return fail(format!(
                "{place} is 0: an answer needs some time, and all would be silence; 1 is the least"
            ));
        }
        if channels.is_empty() {
            return fail(
                "nothing says how to reach the system: give command, tcp, tcp-listen, udp, http, \
                 websocket, model or [[channel]]"
                    .into(),
            );
        }
        for (i, channel) in channels.iter().enumerate() {
            let ChannelConfig {
                name, transport, ..
            } = channel;
            if channels[..i].iter().any(|c| c.name == *name) {
                return fail(format!("two channels are named {name}"));
            }
            if transport.is_stdio() && process.is_none() {
                return fail(format!("channel {name} is stdio, and there is no command"));
            }
            if let Some(mistake) = transport.tls().and_then(TlsConfig::mistake) {
                return fail(mistake.into());
            }
            if let Some((scheme, address)) = transport.address_with_scheme() {
                return fail(format!(
                    "channel {name}: an address is HOST:PORT; leave {scheme}:// out: {address:?}"
                ));
            }
            if let Some(address) = transport.address_without_port() {
                return fail(format!(
                    "channel {name}: {address:?} has no port; write HOST:PORT, such as \
                     \"127.0.0.1:7000\", or \"127.0.0.1:{{port}}\" for a free one"
                ));
            }
        }
        if self.attach && process.is_none() {
            return fail("attach = true has no effect without a command".into());
        }
        let stdio = channels.iter().filter(|c| c.transport.is_stdio()).count();
        if stdio > 1 {
            return fail("two channels are stdio".into());
        }
        if self.reset == ResetConfig::Reconnect && stdio > 0 {
            return fail("standard input and output cannot be reconnected; use restart".into());
        }
        if let Some(process) = process
            && process.command.words()?.is_empty()
        {
            return fail("the command is empty".into());
        }
        if let ResetConfig::Action { channel, .. } = &self.reset {
            self.channel_id(channel.as_deref())?;
        }
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
            config.system.process().unwrap().command.words().unwrap()[1],
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
    fn the_judge_knows_what_carries_an_action() {
        let judged = |text: &str| SutConfig::parse(text).unwrap().judged_channels();
        // One channel that keeps order is nothing special.
        assert_eq!(judged("command = \"cat\""), []);
        assert_eq!(judged("tcp = \"a:1\"\n[actions.x]\nchannel = \"tcp\""), []);
        let lossy = judged("udp = { own = \"a:1\", peer = \"b:2\", loss = true }");
        assert_eq!(lossy.len(), 1);
        assert!(lossy[0].loss && !lossy[0].reorder);
        let two = judged(
            r#"
            [[channel]]
            name = "data"
            tcp = "127.0.0.1:1"
            [[channel]]
            name = "control"
            udp = { own = "127.0.0.1:2", peer = "127.0.0.1:3", reorder = true }
            [actions.stop]
            channel = "control"
            [actions.stopped]
            recv = "STOPPED"
            channel = "control"
            [actions.anywhere]
            recv = "ANY"
            "#,
        );
        assert_eq!(two[0].inputs, [""; 0]);
        assert_eq!(two[1].inputs, ["stop", "stopped"]);
        // `stop` is its own message as an output, and may come through any channel.
        assert_eq!(two[1].outputs, ["stopped"]);
        assert!(two[1].reorder && !two[1].loss && !two[0].reorder);
    }

    #[test]
    fn mistakes_are_reported() {
        for (text, part) in [
            ("comand = \"x\"", "did you mean command?"),
            ("command = \"x\"\n[quiescence]\ntimeout = 3", "timeout-ms"),
            ("command = \"x\"\ntimeout-ms = 3", "write `[quiescence]`"),
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
            (
                "command = \"x\"\ntls = true",
                "tls is for tcp, http and websocket",
            ),
            (
                "tcp-listen = \"a:1\"\ntls = true",
                "tls is for tcp, http and websocket",
            ),
            ("http = \"http://a\"\ntls = true", "write https://"),
            (
                "http = \"https://a\"\ntls = false",
                "write http:// for https://",
            ),
            (
                "tcp = \"a:1\"\ntls = { cart = \"x\" }",
                "did you mean cert?",
            ),
            (
                "tcp = \"a:1\"\ntls = { cert = \"x\" }",
                "cert needs the key",
            ),
            ("tcp = \"a:1\"\ntls = \"yes\"", "true, false or a table"),
        ] {
            let error = SutConfig::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}\n{error}");
        }
    }

    #[test]
    fn flags_are_read() {
        let system = |flag: &str| SutConfig::from_flag(flag).unwrap().system;
        assert!(system("cmd:cat").process().is_some());
        assert!(system("cmd:cat").channels()[0].transport.is_stdio());
        let framing = Framing::Line;
        let address = "localhost:80".to_owned();
        assert_eq!(
            system("tcp:localhost:80"),
            Transport::Tcp {
                address,
                framing: framing.clone(),
                tls: None,
            }
            .into()
        );
        let address = "[::1]:0".to_owned();
        assert_eq!(
            system("tcp-listen:[::1]:0"),
            Transport::TcpListen { address, framing }.into()
        );
        assert!(SutConfig::from_flag("udp:1").is_err());
        assert_eq!(system("model:a.iol#B").model(), Some("a.iol#B"));
        assert_eq!(
            system("http://localhost"),
            Transport::Http {
                url: "http://localhost".into(),
                tls: None
            }
            .into()
        );
        assert!(
            system("https://localhost").channels()[0]
                .transport
                .tls()
                .is_some()
        );
        assert!(
            system("wss://localhost").channels()[0]
                .transport
                .tls()
                .is_some()
        );
        assert!(
            system("tls:localhost:1").channels()[0]
                .transport
                .tls()
                .is_some()
        );
        assert!(SutConfig::from_flag("no-such-file.toml").is_err());
    }

    /// The short forms give a channel its name, whatever stands beside it.
    #[test]
    fn channels_have_names() {
        for (text, names) in [
            ("command = \"x\"", &["stdio"][..]),
            ("command = \"x\"\ntcp = \"a:1\"", &["tcp"]),
            ("tcp-listen = \"a:1\"", &["tcp"]),
            (
                "websocket = \"ws://a\"\n[[channel]]\ntcp = \"a:1\"",
                &["websocket", "channel2"],
            ),
            (
                "[[channel]]\ntcp = \"a:1\"\n[[channel]]\nname = \"b\"\ntcp = \"a:2\"",
                &["channel1", "b"],
            ),
            (
                "command = \"x\"\n[[channel]]\nstdio = true\n[[channel]]\nhttp = \"http://a\"",
                &["stdio", "channel2"],
            ),
        ] {
            let config = SutConfig::parse(text).unwrap();
            let got: Vec<_> = config.system.channels().iter().map(|c| &*c.name).collect();
            assert_eq!(got, names, "{text}");
        }
    }

    /// With a model in its place, nothing else of the description is needed or in the way.
    #[test]
    fn a_model_may_stand_in_for_a_described_system() {
        let text = "model = \"m.iol\"\nreset = \"action\"\n[[channel]]\nname = \"c\"\ntcp = \"a:1\"\n[actions.A]\nchannel = \"c\"";
        let config = SutConfig::parse(text).unwrap();
        assert_eq!(config.system.model(), Some("m.iol"));
        config.action_map().unwrap();
    }

    /// What journals keep is read back: as it was, and as it is written now.
    #[test]
    fn journals_keep_descriptions() {
        let rest = r#""reset":"restart","on-exit":"crash","undecodable":"error","quiescence":{},"limits":{}"#;
        for (old, flag) in [
            (r#""command":"cat -u""#, "cmd:cat -u"),
            (r#""dir":"examples","tcp":"a:1""#, "tcp:a:1"),
            (r#""udp":{"own":"a:1","peer":"b:2"}"#, "udp:a:1,b:2"),
            (r#""model":"a.iol#B","dir":"x""#, "model:a.iol#B"),
            (r#""websocket":"ws://a/b""#, "ws://a/b"),
        ] {
            let config: SutConfig = serde_json::from_str(&format!("{{{old},{rest}}}")).unwrap();
            assert_eq!(config, SutConfig::from_flag(flag).unwrap());
        }
        for text in [
            "command = [\"a\", \"b c\"]\nframing = \"u16le\"\nready = \"r\"\ndir = \"d\"\nname = \"n\"\nenv = { A = \"b\" }",
            "command = \"x\"\ntcp = \"a:1\"\nframing = \"u8\"\nbase-port = 7000\nreset = \"reconnect\"",
            "tcp-listen = \"a:1\"\nframing = \"line\"",
            "http = \"http://a\"\nreset = \"action\"\nreset-send = \"GET /r\"\nreset-expect = \"200\"\nreset-channel = \"http\"",
            "command = \"x\"\n[[channel]]\nstdio = true\nframing = \"u64be\"\n[[channel]]\nwebsocket = \"ws://a\"",
            "command = \"x\"\n[[channel]]\nname = \"pipe\"\nstdio = true",
            "tcp = \"a:1\"\ntls = true",
            "http = \"https://a\"\ntls = { ca = \"ca.pem\", name = \"b\", cert = \"c\", key = \"{dir}/k\" }",
            "[[channel]]\nname = \"c\"\nwebsocket = \"wss://a\"",
            "tcp = \"a:1\"\n[[channel]]\ntcp = \"a:2\"\nframing = \"u32le\"\n[actions.A]\nchannel = \"channel2\"",
            "[[channel]]\nname = \"tcp\"\ntcp = \"a:1\"\n[[channel]]\nname = \"x\"\nudp = { own = \"a:1\", peer = \"a:2\" }",
        ] {
            let config = SutConfig::parse(text).unwrap();
            let json = serde_json::to_string(&config).unwrap();
            let again: SutConfig = serde_json::from_str(&json).unwrap();
            assert_eq!(again, config, "{text}\n{json}");
        }
        let json = serde_json::to_string(&SutConfig::from_flag("cmd:cat -u").unwrap()).unwrap();
        assert_eq!(json, format!("{{\"command\":\"cat -u\",{rest}}}"));
    }
}
