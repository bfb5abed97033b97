//! TLS over real sockets: a server of `rustls` on the other side, correct, misconfigured, hostile.

mod support;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use iolite_derive::Verdict;
use iolite_exec::{ExecError, SutConfig};
use iolite_lts::Lts;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use support::{lts, run_once, script};

type Tls = StreamOwned<ServerConnection, TcpStream>;

fn file(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/certificates")).join(name)
}

fn certificate(name: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_file(file(name)).unwrap()
}

/// A server's side with the certificate of this name; `asking` for one of the client.
fn server_config(name: &str, asking: bool) -> Arc<ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate("ca.pem")).unwrap();
    let builder = if asking {
        let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
        builder.with_client_cert_verifier(verifier.build().unwrap())
    } else {
        builder.with_no_client_auth()
    };
    let key = PrivateKeyDer::from_pem_file(file(&format!("{name}.key"))).unwrap();
    let chain = vec![certificate(&format!("{name}.pem"))];
    Arc::new(builder.with_single_cert(chain, key).unwrap())
}

/// Takes one connection, with a bound on each wait, and does `then` with it.
fn serve(then: impl FnOnce(TcpStream) + Send + 'static) -> (u16, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let timeout = Some(Duration::from_secs(30));
        stream.set_read_timeout(timeout).unwrap();
        stream.set_write_timeout(timeout).unwrap();
        then(stream);
    });
    (port, server)
}

fn serve_tls(
    name: &'static str,
    asking: bool,
    then: impl FnOnce(&mut Tls) + Send + 'static,
) -> (u16, JoinHandle<()>) {
    serve(move |stream| {
        let connection = ServerConnection::new(server_config(name, asking)).unwrap();
        then(&mut StreamOwned::new(connection, stream));
    })
}

fn line(stream: &mut impl Read) -> String {
    let mut line = Vec::new();
    let mut byte = [0];
    while !line.ends_with(b"\n") {
        match stream.read(&mut byte) {
            Ok(1) => line.push(byte[0]),
            _ => break,
        }
    }
    String::from_utf8(line).unwrap()
}

fn echo() -> Lts {
    lts(&[(0, "?a", 1), (1, "!x", 0)])
}

fn config(text: &str) -> SutConfig {
    let certificates = file("").display().to_string();
    let mut config = SutConfig::parse(&text.replace("CERTS", &certificates)).unwrap();
    config.quiescence.timeout_ms = Some(10_000);
    config
}

fn tcp(port: u16, tls: &str) -> SutConfig {
    config(&format!("tcp = \"127.0.0.1:{port}\"\ntls = {tls}"))
}

const CA: &str = "{ ca = \"CERTS/ca.pem\" }";

fn answer(config: &SutConfig) -> Result<Verdict, ExecError> {
    let begin = Instant::now();
    let spec = echo();
    let result = run_once(&spec, config, &mut script(&spec, &["?a", "observe"]));
    assert!(begin.elapsed() < Duration::from_secs(60));
    result.map(|outcome| outcome.verdict)
}

fn reply(stream: &mut Tls) {
    assert_eq!(line(stream), "a\n");
    stream.write_all(b"x\n").unwrap();
    // Until the tester has gone.
    let _ = stream.read(&mut [0]);
}

#[test]
fn messages_go_through_tls() {
    for (name, tls) in [
        ("server", CA),
        ("server", "{ ca = \"CERTS/server.pem\" }"),
        ("self", "{ ca = \"CERTS/self.pem\" }"),
        (
            "server",
            "{ ca = \"CERTS/ca.pem\", name = \"localhost\", cert = \"CERTS/client.pem\", key = \"CERTS/client.key\" }",
        ),
    ] {
        let (port, server) = serve_tls(name, tls.contains("client"), reply);
        assert_eq!(answer(&tcp(port, tls)), Ok(Verdict::Pass), "{name} {tls}");
        server.join().unwrap();
    }
}

/// More than fits any buffer on the way goes both ways, and comes back whole.
#[test]
fn long_messages_go_both_ways() {
    const LENGTH: usize = 3_000_000;
    let (port, server) = serve_tls("server", false, |stream| {
        let got = line(stream);
        assert_eq!(got.len(), LENGTH + 1);
        stream.write_all(got.as_bytes()).unwrap();
        let _ = stream.read(&mut [0]);
    });
    let mut config = tcp(port, CA);
    let long = "y".repeat(LENGTH);
    config.limits.max_message_bytes = Some(LENGTH + 10);
    config.limits.send_timeout_ms = Some(30_000);
    config.actions.entry("a".into()).or_default().send = Some(long.clone());
    config.actions.entry("x".into()).or_default().recv = Some(long);
    assert_eq!(answer(&config), Ok(Verdict::Pass));
    server.join().unwrap();
}

#[test]
fn mistakes_are_faults_with_a_hint() {
    let accept = |stream: &mut Tls| {
        let _ = stream.read(&mut [0]);
    };
    for (name, tls, hint) in [
        (
            "server",
            "{ ca = \"CERTS/self.pem\" }",
            "does not vouch for its certificate",
        ),
        ("self", CA, "tls = { ca = \"FILE.pem\" }"),
        ("server", "true", "tls = { ca = \"FILE.pem\" }"),
        (
            "server",
            "{ ca = \"CERTS/ca.pem\", name = \"shop.example\" }",
            "not for shop.example but for localhost, 127.0.0.1",
        ),
        (
            "self",
            "{ ca = \"CERTS/self.pem\", name = \"shop.example\" }",
            "tls = { name = \"NAME\" }",
        ),
        (
            "server",
            "{ ca = \"CERTS/server.key\" }",
            "there is no certificate in",
        ),
        (
            "server",
            "{ ca = \"CERTS/ca.pem\", cert = \"CERTS/client.pem\", key = \"CERTS/ca.pem\" }",
            "no private key in",
        ),
        (
            "server",
            "{ ca = \"CERTS/ca.pem\", cert = \"CERTS/client.pem\", key = \"CERTS/self.key\" }",
            "client.pem and",
        ),
    ] {
        let (port, server) = serve_tls(name, false, accept);
        let error = answer(&tcp(port, tls)).unwrap_err();
        assert_eq!(error.code(), "unreachable", "{error}");
        assert!(error.to_string().contains(hint), "{tls}: {error}");
        // Where files are wrong, a connection was made all the same.
        server.join().unwrap();
    }
    let error = answer(&tcp(1, "{ ca = \"no-such.pem\" }")).unwrap_err();
    assert_eq!(error.code(), "config");
    assert!(error.to_string().contains("no-such.pem"), "{error}");
}

/// The server says after the handshake that it wants to know who is there.
#[test]
fn a_missing_client_certificate_is_said() {
    let (port, server) = serve_tls("server", true, |stream| {
        let _ = stream.read(&mut [0]);
    });
    let error = answer(&tcp(port, CA)).unwrap_err();
    assert!(error.to_string().contains("CertificateRequired"), "{error}");
    server.join().unwrap();
}

#[test]
fn a_plain_server_is_told_from_a_broken_one() {
    let (port, server) = serve(|mut stream| {
        let _ = stream.read(&mut [0; 1000]);
        let _ = stream.write_all(b"HTTP/1.0 400 Bad Request\r\n\r\n");
        let _ = stream.read(&mut [0]);
    });
    let config = config(&format!(
        "http = \"https://127.0.0.1:{port}\"\ntls = {CA}\n[actions.a]\nsend = \"GET /\""
    ));
    let error = answer(&config).unwrap_err();
    assert_eq!(error.code(), "unreachable");
    let text = error.to_string();
    assert!(text.contains("no TLS: \"HTTP/1.0 400 Bad"), "{text}");
    assert!(text.contains("http:// for https://"), "{text}");
    server.join().unwrap();
    let (port, server) = serve(drop);
    let error = answer(&tcp(port, CA)).unwrap_err();
    assert!(
        error.to_string().contains("does the server speak TLS?"),
        "{error}"
    );
    server.join().unwrap();
}

/// And a server of TLS that is spoken to without it.
#[test]
fn a_tls_server_is_recognised_over_plain_http() {
    let (port, server) = serve_tls("server", false, |stream| {
        let _ = stream.read(&mut [0]);
    });
    let config = config(&format!(
        "http = \"http://127.0.0.1:{port}\"\n[actions.a]\nsend = \"GET /\""
    ));
    let error = answer(&config).unwrap_err();
    assert!(error.to_string().contains("https://"), "{error}");
    server.join().unwrap();
}

/// Silent, dripping, endless: the handshake ends with the time for starting, whatever comes.
#[test]
fn hostile_handshakes_end_in_time() {
    fn silent(mut stream: TcpStream) {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    }
    /// One byte of a record at a time, of a record that is longer than anybody waits.
    fn dripping(mut stream: TcpStream) {
        let begin = Instant::now();
        let mut record = [&b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc"[..], &[0; 10_000]].concat();
        record.reverse();
        while begin.elapsed() < Duration::from_secs(30) {
            let byte = [record.pop().unwrap_or(0)];
            if stream.write_all(&byte).is_err() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
    /// Alerts that warn of nothing, without end.
    fn endless(mut stream: TcpStream) {
        let begin = Instant::now();
        let alerts = b"\x15\x03\x03\x00\x02\x01\x5a".repeat(1000);
        while begin.elapsed() < Duration::from_secs(30) && stream.write_all(&alerts).is_ok() {}
    }
    for hostile in [silent, dripping, endless] {
        let (port, server) = serve(hostile);
        let mut config = tcp(port, CA);
        config.limits.startup_timeout_ms = Some(1000);
        let begin = Instant::now();
        let error = answer(&config).unwrap_err();
        assert_eq!(error.code(), "unreachable", "{error}");
        assert!(begin.elapsed() < Duration::from_secs(20), "{error}");
        server.join().unwrap();
    }
}

/// Half a record is no silence, and neither is half a message.
#[test]
fn half_a_record_is_never_quiescence() {
    let (port, server) = serve_tls("server", false, |stream| {
        assert_eq!(line(stream), "a\n");
        // A record of 100 bytes, of which 10 come.
        stream
            .sock
            .write_all(b"\x17\x03\x03\x00\x64aaaaaaaaaa")
            .unwrap();
        let _ = stream.sock.read(&mut [0; 100]);
    });
    let mut config = tcp(port, CA);
    config.quiescence.timeout_ms = Some(300);
    config.limits.message_timeout_ms = Some(200);
    let error = answer(&config).unwrap_err();
    assert_eq!(error.code(), "half-message", "{error}");
    server.join().unwrap();
}

/// A record that was changed on its way, or was never one.
#[test]
fn broken_records_end_the_run() {
    let (port, server) = serve_tls("server", false, |stream| {
        assert_eq!(line(stream), "a\n");
        stream
            .sock
            .write_all(b"\x17\x03\x03\x00\x20aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
            .unwrap();
        let _ = stream.sock.read(&mut [0; 100]);
    });
    let error = answer(&tcp(port, CA)).unwrap_err();
    assert!(error.to_string().contains("decrypt"), "{error}");
    server.join().unwrap();
}

fn https(port: u16) -> SutConfig {
    config(&format!(
        "http = \"https://127.0.0.1:{port}\"\ntls = {CA}\n\
         [actions.a]\nsend = \"GET /a\"\n[actions.x]\nrecv = \"200 x\""
    ))
}

fn request(stream: &mut Tls) {
    while !matches!(&*line(stream), "\r\n" | "") {}
}

#[test]
fn requests_and_responses_go_through_tls() {
    let (port, server) = serve_tls("server", false, |stream| {
        request(stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
        let _ = stream.read(&mut [0]);
    });
    assert_eq!(answer(&https(port)), Ok(Verdict::Pass));
    server.join().unwrap();
}

/// Accepts and never answers, sends headers without end, drips.
#[test]
fn hostile_responses_end_in_time() {
    fn silent(stream: &mut Tls) {
        let _ = stream.read(&mut [0]);
    }
    fn endless(stream: &mut Tls) {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        let begin = Instant::now();
        let header = b"Name: value\r\n".repeat(100);
        while begin.elapsed() < Duration::from_secs(30) && stream.write_all(&header).is_ok() {}
    }
    fn dripping(stream: &mut Tls) {
        let begin = Instant::now();
        let mut rest = &b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"[..];
        while begin.elapsed() < Duration::from_secs(30) {
            let (byte, after) = rest.split_first().unwrap_or((&b'x', &[]));
            rest = after;
            if stream
                .write_all(&[*byte])
                .and_then(|()| stream.flush())
                .is_err()
            {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
    type Answer = fn(&mut Tls);
    for (answers, want) in [
        (silent as Answer, Ok(Verdict::Fail)),
        (endless, Err("undecodable")),
        (dripping, Err("half-message")),
    ] {
        let (port, server) = serve_tls("server", false, move |stream| {
            request(stream);
            answers(stream);
        });
        let mut config = https(port);
        config.quiescence.timeout_ms = Some(600);
        config.limits.message_timeout_ms = Some(600);
        let begin = Instant::now();
        let got = answer(&config);
        assert_eq!(
            got.as_ref().map_err(ExecError::code),
            want.as_ref().map_err(|c| *c),
            "{got:?}"
        );
        assert!(begin.elapsed() < Duration::from_secs(20));
        server.join().unwrap();
    }
}

#[test]
fn websockets_go_through_tls() {
    let (port, server) = serve(|stream| {
        let connection = ServerConnection::new(server_config("server", false)).unwrap();
        let stream = StreamOwned::new(connection, stream);
        let mut socket = tungstenite::accept(stream).unwrap();
        assert_eq!(socket.read().unwrap().into_text().unwrap().as_str(), "a");
        socket.send("x".into()).unwrap();
        while socket.read().is_ok() {}
    });
    let config = config(&format!(
        "websocket = \"wss://127.0.0.1:{port}/\"\ntls = {CA}"
    ));
    assert_eq!(answer(&config), Ok(Verdict::Pass));
    server.join().unwrap();
}

/// A system that does not read blocks the tester no longer than it allows.
#[test]
fn a_system_that_does_not_read_ends_the_run() {
    let (port, server) = serve_tls("server", false, |stream| {
        while let Ok(true) = stream
            .conn
            .complete_io(&mut stream.sock)
            .map(|_| stream.conn.is_handshaking())
        {}
        thread::sleep(Duration::from_secs(4));
    });
    let mut config = tcp(port, CA);
    config.limits.send_timeout_ms = Some(500);
    config.limits.max_message_bytes = Some(1 << 30);
    config.actions.entry("a".into()).or_default().send = Some("y".repeat(30_000_000));
    let error = answer(&config).unwrap_err();
    assert_eq!(error.code(), "send-blocked", "{error}");
    server.join().unwrap();
}
