//! Servers that want to know who comes, and several that keep one campaign.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{root, write};
use crate::fixture::{
    Server, Worker, candy, completed, iolite, lasting, nats_server, test_line, work,
};

/// An authority (`ca.pem`), and certificates of it: the server's (`cert.pem`) and a client's (`client.pem`).
fn certificates(folder: &Path) -> bool {
    let made = |args: &str| {
        let made = Command::new("openssl")
            .args(args.split(' '))
            .current_dir(folder)
            .output();
        made.is_ok_and(|made| made.status.success())
    };
    let issued = |name: &str, what: &str| {
        made(&format!(
            "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={name} -CA ca.pem -CAkey ca-key.pem -addext \
             subjectAltName=DNS:localhost,IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE -keyout \
             {what}key.pem -out {what}.pem"
        ))
    };
    let authority = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -addext \
                     basicConstraints=critical,CA:TRUE -keyout ca-key.pem -out ca.pem";
    let all = made(authority) && issued("localhost", "cert") && issued("worker", "client");
    if !all {
        println!("skipped: there is no openssl that makes certificates");
    }
    all
}

/// Somebody who is known submits, works and reports; others are turned away.
fn only_with(folder: &Path, url: &str, flags: &[&str], others: &[&[&str]]) {
    let with = |words: &[&str], flags: &[&str], line: &[&str]| {
        let mut args = words.to_vec();
        args.extend(flags);
        args.extend(line);
        iolite(folder, url, &args)
    };
    let mut line = vec!["--"];
    line.extend(test_line(&["--runs", "4"]));
    with(&["fleet", "submit", "--id", "safe"], flags, &line).expect(0);
    for other in others {
        let refused = with(&["fleet", "status"], other, &[]);
        assert!(
            [2, 4].contains(&refused.code),
            "{other:?}: {}",
            refused.stdout
        );
    }
    let mut allowed = vec!["--allow", "models"];
    allowed.extend(flags);
    work(folder, url, &allowed).expect(0);
    let report = with(&["fleet", "report", "safe", "--json"], flags, &[]);
    assert_eq!(report.json()["runs"], 4);
}

/// A server that wants a certificate of its clients.
#[test]
fn certificates_of_clients() {
    let folder = candy("fleet-client");
    if !certificates(&folder) {
        return;
    }
    let config = format!(
        "tls {{ cert_file: \"{0}/cert.pem\", key_file: \"{0}/certkey.pem\", ca_file: \"{0}/ca.pem\", verify: true }}\n",
        folder.display()
    );
    let config = PathBuf::from(write(&folder, "nats.conf", config));
    let Some(server) = Server::configured(&folder, Some(&config)) else {
        return;
    };
    let url = format!("tls://127.0.0.1:{}", server.port);
    let known = [
        "--tls-ca",
        "ca.pem",
        "--tls-cert",
        "client.pem",
        "--tls-key",
        "clientkey.pem",
    ];
    let nobody: &[&str] = &known[..2];
    let missing: &[&str] = &["--tls-cert", "nowhere.pem", "--tls-key", "nowhere.pem"];
    only_with(&folder, &url, &known, &[nobody, missing]);
}

/// A file that the tests bring: keys that are of no use anywhere else.
fn credentials(name: &str) -> PathBuf {
    root()
        .join("crates/iolite-cli/tests/fleet/credentials")
        .join(name)
}

/// Credentials of an operator's account, as `nsc` makes them, and a user's key alone.
#[test]
fn credentials_and_keys() {
    for (config, flag, file) in [
        ("operator.conf", "--creds", "user.creds"),
        ("nkey.conf", "--nkey", "user.nkey"),
    ] {
        let folder = candy(&format!("fleet{flag}"));
        let Some(server) = Server::configured(&folder, Some(&credentials(config))) else {
            return;
        };
        let file = credentials(file).display().to_string();
        write(&folder, "wrong", "SUAOTHER\n");
        let others: &[&[&str]] = &[&[], &[flag, "wrong"], &[flag, "nowhere"]];
        only_with(&folder, &server.url(), &[flag, &file], others);
    }
}

/// Three servers that keep three copies.
struct Cluster {
    urls: Vec<String>,
    servers: Vec<Option<Child>>,
}

impl Cluster {
    fn start(folder: &Path) -> Option<Self> {
        let program = nats_server()?;
        let ports = || {
            let bound = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port"));
            let bound: Vec<TcpListener> = bound.collect();
            let ports = bound
                .iter()
                .map(|l| l.local_addr().expect("an address").port());
            ports.collect::<Vec<u16>>()
        };
        let (clients, routes) = (ports(), ports());
        let peers: Vec<String> = routes
            .iter()
            .map(|p| format!("nats://127.0.0.1:{p}"))
            .collect();
        let start = |k: usize| {
            let config = format!(
                "server_name: n{k}\nlisten: 127.0.0.1:{}\njetstream {{ store_dir: \"{}/n{k}\" }}\n\
                 cluster {{ name: fleet, listen: 127.0.0.1:{}, routes: [ {} ] }}\n",
                clients[k],
                folder.display(),
                routes[k],
                peers.join(", ")
            );
            let config = write(folder, &format!("n{k}.conf"), config);
            let mut command = Command::new(&program);
            command.arg("-c").arg(config);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            Some(command.spawn().expect("a server starts"))
        };
        Some(Self {
            servers: (0..3).map(start).collect(),
            urls: clients
                .iter()
                .map(|p| format!("nats://127.0.0.1:{p}"))
                .collect(),
        })
    }

    fn kill(&mut self, k: usize) {
        if let Some(mut server) = self.servers[k].take() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        (0..3).for_each(|k| self.kill(k));
    }
}

/// One of three servers dies while workers work: the answer is that of one process.
#[test]
fn a_cluster_loses_a_server() {
    let folder = candy("fleet-cluster");
    let Some(mut cluster) = Cluster::start(&folder) else {
        return;
    };
    let url = cluster.urls.join(",");
    let line = test_line(&["--runs", "20000"]);
    let mut alone = line.clone();
    alone.extend(["--json", "--no-journal"]);
    let alone = iolite(&folder, &url, &alone).expect(1).json();
    let mut args = vec![
        "fleet",
        "submit",
        "--id",
        "kept",
        "--replicas",
        "3",
        "--range",
        "10",
    ];
    args.extend(["--patience", "2", "--"]);
    args.extend(&line);
    // Three servers need a while to agree on who leads.
    let end = Instant::now() + Duration::from_secs(90);
    while iolite(&folder, &url, &args).code != 0 {
        assert!(Instant::now() < end, "the cluster does not come up");
        std::thread::sleep(Duration::from_millis(500));
    }
    let start = |name: &str| Worker::start(&folder, &url, name, &["--allow", "models"]);
    let _workers = [start("one"), start("two")];
    let mut killed = false;
    completed(&folder, &url, "kept", |_| {
        if !std::mem::replace(&mut killed, true) {
            cluster.kill(1);
        }
    });
    assert!(killed, "nothing was left to do when the server was to die");
    // With two of three, everything can still be read.
    iolite(&folder, &url, &["fleet", "status", "kept"]).expect(0);
    let together = iolite(&folder, &url, &["fleet", "report", "kept", "--json"]);
    assert_eq!(lasting(&together.expect(1).json()), lasting(&alone));
}

/// A server that wants a password and speaks TLS.
#[test]
fn tls_and_a_password() {
    let folder = candy("fleet-tls");
    if !certificates(&folder) {
        return;
    }
    let config = format!(
        "authorization {{ user: iolite, password: \"s3cret\" }}\n\
         tls {{ cert_file: \"{0}/cert.pem\", key_file: \"{0}/certkey.pem\" }}\n",
        folder.display()
    );
    let config = PathBuf::from(write(&folder, "nats.conf", config));
    let Some(server) = Server::configured(&folder, Some(&config)) else {
        return;
    };
    let address = format!("127.0.0.1:{}", server.port);
    let with = format!("tls://iolite:s3cret@{address}");
    let ca = ["--tls-ca", "ca.pem"];
    let line = test_line(&["--runs", "4"]);
    let mut args = vec!["fleet", "submit", "--id", "safe", "--json"];
    args.extend(ca);
    args.push("--");
    args.extend(&line);
    iolite(&folder, &with, &args).expect(0);
    work(&folder, &with, &["--allow", "models", ca[0], ca[1]]).expect(0);
    let report = ["fleet", "report", "safe", ca[0], ca[1], "--json"];
    assert_eq!(iolite(&folder, &with, &report).json()["runs"], 4);
    let status = |url: &str, more: &[&str]| {
        let mut args = vec!["fleet", "status"];
        args.extend(more);
        iolite(&folder, url, &args)
    };
    assert!(status(&with, &ca).expect(0).stdout.contains("4 of 4 runs"));
    // Nobody else, and no server that nobody vouches for; the password is not shown.
    status(&format!("tls://{address}"), &ca).expect(4);
    status(&format!("tls://iolite:wrong@{address}"), &ca).expect(4);
    let foreign = status(&with, &[]).expect(4);
    assert!(!foreign.stderr.contains("s3cret"), "{}", foreign.stderr);
}
