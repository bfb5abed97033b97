//! A server of a test's own, workers in the background, and a campaign.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{Ran, root, scratch, write};

/// The server's program, as Debian and others install it.
pub(crate) fn nats_server() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.push("/usr/sbin".into());
    let found = folders
        .into_iter()
        .map(|f| f.join("nats-server"))
        .find(|p| p.is_file());
    if found.is_none() {
        println!("skipped: there is no nats-server; scripts/install-nats installs it");
    }
    found
}

/// A server of one test.
pub(crate) struct Server {
    program: PathBuf,
    folder: PathBuf,
    pub(crate) port: u16,
    config: Option<PathBuf>,
    child: Child,
}

impl Server {
    /// A server that keeps its streams in this folder; `None` where there is no program.
    pub(crate) fn start(folder: &Path) -> Option<Self> {
        Self::configured(folder, None)
    }

    pub(crate) fn configured(folder: &Path, config: Option<&Path>) -> Option<Self> {
        let program = nats_server()?;
        // A port that was free may be taken by then: by a client's end of a connection, for one.
        for _ in 0..5 {
            let port = TcpListener::bind("127.0.0.1:0")
                .ok()?
                .local_addr()
                .ok()?
                .port();
            let child = Self::spawn(&program, folder, port, config);
            let mut server = Self {
                program: program.clone(),
                folder: folder.to_owned(),
                port,
                config: config.map(Path::to_owned),
                child,
            };
            if server.listens() {
                return Some(server);
            }
        }
        panic!("the server does not start");
    }

    pub(crate) fn spawn(program: &Path, folder: &Path, port: u16, config: Option<&Path>) -> Child {
        let mut command = Command::new(program);
        command.args(["-js", "-a", "127.0.0.1", "-p", &port.to_string()]);
        command.arg("-sd").arg(folder.join("streams"));
        if let Some(config) = config {
            command.arg("-c").arg(config);
        }
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("the server starts")
    }

    /// Waits for what a server says first: a connection alone may be one of this socket with itself. `false` when it has ended.
    fn listens(&mut self) -> bool {
        let end = Instant::now() + Duration::from_secs(30);
        while self.says_first().ok() != Some(*b"INFO") {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return false;
            }
            assert!(Instant::now() < end, "the server does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        true
    }

    fn says_first(&self) -> std::io::Result<[u8; 4]> {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        let mut first = [0; 4];
        std::io::Read::read_exact(&mut stream, &mut first)?;
        Ok(first)
    }

    pub(crate) fn wait(&mut self) {
        assert!(self.listens(), "the server ended");
    }

    /// Killed, and started again with what it has on disk.
    pub(crate) fn restart(&mut self) {
        self.kill();
        std::thread::sleep(Duration::from_millis(300));
        self.child = Self::spawn(
            &self.program,
            &self.folder,
            self.port,
            self.config.as_deref(),
        );
        self.wait();
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// `iolite` in a folder, which knows the server.
pub(crate) fn command(folder: &Path, url: &str, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_iolite"));
    command
        .args(args)
        .current_dir(folder)
        .env("IOLITE_NATS", url);
    command
}

pub(crate) fn iolite(folder: &Path, url: &str, args: &[&str]) -> Ran {
    let output = command(folder, url, args).stdin(Stdio::null()).output();
    let output = output.expect("iolite starts");
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// A worker in the background.
pub(crate) struct Worker(pub(crate) Child);

impl Worker {
    pub(crate) fn start(folder: &Path, url: &str, name: &str, args: &[&str]) -> Self {
        let log = std::fs::File::create(folder.join(format!("{name}.log"))).expect("a log");
        let mut all = vec!["fleet", "work", "--name", name];
        all.extend(args);
        let mut command = command(folder, url, &all);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        Self(command.spawn().expect("a worker starts"))
    }

    pub(crate) fn signal(&self, signal: &str) {
        let id = self.0.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status();
        assert!(sent.is_ok_and(|s| s.success()), "{signal} {id}");
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A candy machine that now and then gives nothing for a dubbeltje.
pub(crate) const MISER: &str = "
system Miser {
  input shil, dub
  output liq, choc
  initial state Ready { ?shil -> Shilling  ?dub -> Dubbeltje  ?dub -> Ready }
  state Shilling { !liq -> Ready  ?shil -> Shilling  ?dub -> Shilling }
  state Dubbeltje { !choc -> Ready  ?shil -> Dubbeltje  ?dub -> Dubbeltje }
}
";

/// A folder with a campaign.
pub(crate) fn candy(name: &str) -> PathBuf {
    let folder = scratch(name);
    write(&folder, "miser.iol", MISER);
    let candy = root().join("examples/candy/candy.iol");
    std::fs::copy(candy, folder.join("candy.iol")).expect("an example");
    folder
}

pub(crate) fn test_line<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut line = vec![
        "test",
        "candy.iol",
        "--sut",
        "model:miser.iol",
        "--steps",
        "8",
    ];
    line.extend(more);
    line
}

/// What does not depend on the clock or on where the journal is.
pub(crate) fn lasting(document: &Value) -> Value {
    let mut document = document.clone();
    for key in ["seconds", "journal"] {
        document.as_object_mut().expect("an object").remove(key);
    }
    document
}

pub(crate) fn submit(folder: &Path, url: &str, more: &[&str], line: &[&str]) -> Value {
    let mut args = vec!["fleet", "submit", "--json"];
    args.extend(more);
    args.push("--");
    args.extend(line);
    iolite(folder, url, &args).expect(0).json()
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// Waits until a campaign is complete, and says how far it is.
pub(crate) fn completed(
    folder: &Path,
    url: &str,
    id: &str,
    mut meanwhile: impl FnMut(&Value),
) -> Value {
    let end = Instant::now() + Duration::from_secs(240);
    loop {
        let ran = iolite(folder, url, &["fleet", "status", id, "--json"]);
        // The server may be down for a moment.
        if ran.code == 0 {
            let status = ran.json();
            if status["complete"] == true {
                return status;
            }
            meanwhile(&status);
        }
        assert!(
            Instant::now() < end,
            "{}{}{}",
            ran.stdout,
            ran.stderr,
            logs(folder)
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// What the workers of a folder said, for a test that fails.
fn logs(folder: &Path) -> String {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let logs = entries.map(|e| e.path());
    let logs = logs.filter(|path| path.extension().is_some_and(|e| e == "log"));
    let said = logs.map(|path| {
        let said = std::fs::read_to_string(&path).unwrap_or_default();
        format!("{}:\n{said}\n", path.display())
    });
    said.collect::<Vec<String>>().concat()
}

/// A generator of numbers, so that a failing test can be repeated.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// Works on everything that is allowed until nothing is left; what the worker said.
pub(crate) fn work(folder: &Path, url: &str, more: &[&str]) -> Ran {
    let mut args = vec!["fleet", "work", "--until-done", "--name", "alone"];
    args.extend(more);
    iolite(folder, url, &args)
}

/// The protocol of NATS, as far as somebody needs it who wants to do harm.
pub(crate) struct Wire(std::io::BufReader<std::net::TcpStream>);

impl Wire {
    pub(crate) fn connect(port: u16) -> Self {
        use std::io::{BufRead, Write};
        let stream = std::net::TcpStream::connect(("127.0.0.1", port)).expect("a server");
        let mut reader = std::io::BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).expect("its greeting");
        let hello = "CONNECT {\"verbose\":false,\"pedantic\":false}\r\n";
        reader
            .get_mut()
            .write_all(hello.as_bytes())
            .expect("a greeting");
        Self(reader)
    }

    /// Publishes, and waits until the server has it.
    pub(crate) fn publish(&mut self, subject: &str, text: &str) {
        use std::io::{BufRead, Write};
        let message = format!("PUB {subject} {}\r\n{text}\r\nPING\r\n", text.len());
        self.0
            .get_mut()
            .write_all(message.as_bytes())
            .expect("the server reads");
        let mut line = String::new();
        while !line.starts_with("PONG") {
            line.clear();
            self.0.read_line(&mut line).expect("an answer");
            assert!(!line.starts_with("-ERR"), "{line}");
        }
        // The stream takes it after that.
        std::thread::sleep(Duration::from_millis(50));
    }
}
