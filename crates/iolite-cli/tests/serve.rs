//! `iolite serve`: who is answered, what can be reached, tests that are steered while they run; and the page
//! itself in a browser where there is one.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{root, scratch, write};
use serde_json::{Value, json};

/// A running server.
struct Server {
    child: Child,
    authority: String,
    token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A status and a body.
type Answered = (u16, String);

impl Server {
    fn start(folder: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_iolite"))
            .arg("serve")
            .arg(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("iolite starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("http://").expect("an address");
        let (authority, token) = address.split_once("/?token=").expect("a token");
        Self {
            child,
            authority: authority.to_owned(),
            token: token.to_owned(),
        }
    }

    fn raw(&self, request: &str) -> Answered {
        let mut stream = TcpStream::connect(&self.authority).expect("it listens");
        let patience = Some(Duration::from_secs(60));
        stream.set_read_timeout(patience).expect("a timeout");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("it answers");
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|s| s.parse().ok());
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        (status.expect("a status"), body.to_owned())
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Answered {
        let Self {
            authority, token, ..
        } = self;
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        self.raw(&format!(
            "{method} {path} HTTP/1.1\r\nHost: {authority}\r\nAuthorization: Bearer {token}\r\nContent-Type: \
             application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        ))
    }

    #[track_caller]
    fn document(&self, method: &str, path: &str, body: &Value) -> Value {
        let (status, text) = self.ask(method, path, body);
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
    }

    /// The messages of a test until it has ended, or until one fits.
    fn events(&self, id: u64, mut until: impl FnMut(&Value) -> bool) -> Vec<Value> {
        let Self {
            authority, token, ..
        } = self;
        let stream = TcpStream::connect(authority).expect("it listens");
        let patience = Some(Duration::from_secs(60));
        stream.set_read_timeout(patience).expect("a timeout");
        let request = format!(
            "GET /api/test/{id}/events?token={token} HTTP/1.1\r\nHost: {authority}\r\n\r\n"
        );
        (&stream).write_all(request.as_bytes()).expect("it reads");
        let mut all = Vec::new();
        for line in BufReader::new(stream).lines() {
            let line = line.expect("a message");
            let Some(text) = line.strip_prefix("data: ") else {
                continue;
            };
            let message: Value = serde_json::from_str(text).expect("JSON");
            let last = !message["ended"].is_null() || until(&message);
            all.push(message);
            if last {
                break;
            }
        }
        all
    }
}

/// A folder with the candy machine, and a file beside it that is none of the page's business.
fn folder(name: &str) -> PathBuf {
    let outer = scratch(name);
    let folder = outer.join("models");
    std::fs::create_dir_all(folder.join("candy")).expect("a folder");
    write(&outer, "secret.iol", "secret");
    for file in std::fs::read_dir(root().join("examples/candy")).expect("an example") {
        let file = file.expect("a file").path();
        if file.is_file() {
            let to = folder.join("candy").join(file.file_name().expect("a name"));
            std::fs::copy(&file, to).expect("a copy");
        }
    }
    folder
}

#[test]
fn only_who_has_the_token_and_comes_from_here_is_answered() {
    let server = Server::start(&folder("serve-guard"));
    let Server {
        authority, token, ..
    } = &server;
    let get = |path: &str, headers: &str| {
        server
            .raw(&format!(
                "GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"
            ))
            .0
    };
    let own = format!("Host: {authority}\r\n");
    let page = format!("/?token={token}");
    assert_eq!(get(&page, &own), 200);
    assert_eq!(get("/assets/main.js", &own), 200);
    let port = authority.rsplit_once(':').expect("a port").1;
    assert_eq!(get(&page, &format!("Host: localhost:{port}\r\n")), 200);
    for path in ["/", "/api/files", "/api/nosuch", "/?token=", "/?token=0"] {
        assert_eq!(get(path, &own), 401, "{path}");
    }
    let wrong = "0".repeat(token.len());
    assert_eq!(get(&format!("/?token={wrong}"), &own), 401);
    for foreign in [
        format!("Host: evil.example:{port}\r\n"),
        "Host: 127.0.0.1:1\r\n".to_owned(),
        format!("{own}Origin: http://evil.example\r\n"),
        format!("{own}Origin: null\r\n"),
        format!("{own}Origin: https://{authority}\r\n"),
    ] {
        for path in [&page, "/api/files", "/assets/main.js"] {
            assert_eq!(get(path, &foreign), 403, "{foreign}{path}");
        }
    }
    let same = format!("{own}Origin: http://{authority}\r\n");
    assert_eq!(get(&page, &same), 200);
}

#[test]
fn nothing_outside_of_the_folder_is_reached_and_no_program_but_the_folders() {
    let server = Server::start(&folder("serve-folder"));
    let listing = server.document("GET", "/api/files", &Value::Null);
    let paths: Vec<&str> = listing["files"]
        .as_array()
        .expect("files")
        .iter()
        .filter_map(|f| f["path"].as_str())
        .collect();
    assert!(paths.contains(&"candy/candy.iol") && paths.contains(&"candy/sut.toml"));
    for path in ["../secret.iol", "/etc/passwd", "candy/../../secret.iol"] {
        let (status, text) = server.ask("GET", &format!("/api/file?path={path}"), &Value::Null);
        assert_eq!(status, 400, "{path}");
        assert!(text.contains("not a file of the folder"), "{text}");
        for (call, body) in [
            ("/api/show", json!({ "model": path })),
            ("/api/check", json!({ "path": path })),
            ("/api/walk", json!({ "model": path, "trace": [] })),
        ] {
            assert_eq!(server.ask("POST", call, &body).0, 400, "{call} {path}");
        }
    }
    let model = "candy/candy.iol#Candy";
    let test = |sut: &str| json!({ "model": model, "sut": sut, "runs": 1, "steps": 1, "seed": 0 });
    for sut in [
        "cmd:touch owned",
        "tcp:127.0.0.1:1",
        "model:../secret.iol",
        "../sut.toml",
        "--help",
        "candy/candy.iol",
    ] {
        assert_eq!(server.ask("POST", "/api/test", &test(sut)).0, 400, "{sut}");
    }
    for (call, body) in [
        ("/api/walk", json!({ "model": model, "trace": ["--stdio"] })),
        ("/api/show", json!({ "model": model, "view": "--help" })),
        (
            "/api/relate",
            json!({ "relation": "-x", "implementation": model, "specification": model }),
        ),
        ("/api/show", json!({ "model": model, "output_file": "x" })),
    ] {
        let (status, text) = server.ask("POST", call, &body);
        assert!((400..500).contains(&status), "{call} {body}: {text}");
    }
    // A description names programs: it cannot be written here.
    let sut = server.document("GET", "/api/file?path=candy/sut.toml", &Value::Null);
    let save = json!({ "path": "candy/sut.toml", "text": "", "version": sut["version"] });
    assert_eq!(server.ask("PUT", "/api/file", &save).0, 403);
}

#[test]
fn models_are_shown_walked_related_checked_and_saved() {
    let folder = folder("serve-models");
    let server = Server::start(&folder);
    let model = "candy/candy.iol#Candy";
    let shown = server.document("POST", "/api/show", &json!({ "model": model }));
    let svg = shown["text"].as_str().expect("a picture");
    assert!(svg.contains("data-name=\"Dubbeltje\""), "{svg}");
    assert_eq!(
        shown["command"],
        "iolite show --format svg './candy/candy.iol#Candy'"
    );
    let walked = json!({ "model": model, "trace": ["?dub", "!liq"] });
    let walked = server.document("POST", "/api/walk", &walked);
    assert_eq!(walked["document"]["places"], json!(["Shilling"]));
    let stopped = json!({ "model": model, "trace": ["!liq"] });
    let stopped = server.document("POST", "/api/walk", &stopped);
    assert_eq!(stopped["document"]["stopped"]["action"], "!liq");
    assert_eq!(stopped["exit"], 1);
    // The text in the editor, which no file has.
    let text = "system Candy { input a initial state Here { ?a -> Here } }";
    let edited = json!({ "model": model, "trace": ["?a"], "text": text });
    let edited = server.document("POST", "/api/walk", &edited);
    assert_eq!(edited["document"]["places"], json!(["Here"]));
    let wrong = json!({ "path": "candy/candy.iol", "text": "system Candy { input a, }" });
    let wrong = server.document("POST", "/api/check", &wrong);
    let found = &wrong["document"]["files"][0]["diagnostics"][0];
    assert_eq!(found["line"], 1, "{wrong}");
    let related = json!({ "relation": "ioco", "implementation": model, "specification": model, "complete_inputs": "self-loop" });
    let related = server.document("POST", "/api/relate", &related);
    assert_eq!(related["document"]["holds"], true, "{related}");
    let formula = json!({ "property": "ltl:G(?a -> F !x)", "over": "?a,!x" });
    let property = server.document("POST", "/api/property", &formula);
    assert_eq!(property["class"]["document"]["class"]["class"], "response");
    assert!(
        property["picture"]["text"]
            .as_str()
            .is_some_and(|t| t.contains("<svg"))
    );

    let opened = server.document("GET", "/api/file?path=candy/candy.iol", &Value::Null);
    let save = json!({ "path": "candy/candy.iol", "text": text, "version": opened["version"] });
    server.document("PUT", "/api/file", &save);
    let on_disk = std::fs::read_to_string(folder.join("candy/candy.iol")).expect("a file");
    assert_eq!(on_disk, text);
    assert_eq!(server.ask("PUT", "/api/file", &save).0, 409, "edited twice");
}

#[test]
fn a_test_is_watched_and_steered() {
    let server = Server::start(&folder("serve-test"));
    let model = "candy/candy.iol#Candy";
    let asked = json!({ "model": model, "sut": "candy/sut-generous.toml", "runs": 2, "steps": 12, "seed": 0 });
    let started = server.document("POST", "/api/test", &asked);
    let id = started["id"].as_u64().expect("a number");
    let messages = server.events(id, |_| false);
    let ended = &messages.last().expect("a message")["ended"];
    assert_eq!(ended["exit"], 1, "{ended}");
    assert!(
        ended["said"].as_str().expect("words").contains("fail"),
        "{ended}"
    );
    let has = |messages: &[Value], kind: &str| {
        let of = |m: &Value| m["events"].as_array().cloned().unwrap_or_default();
        messages
            .iter()
            .flat_map(of)
            .any(|event| event["event"] == kind)
    };
    assert!(has(&messages, "stimulus") && has(&messages, "campaign-ended"));

    // One that waits for orders from the start.
    let asked = json!({ "model": model, "sut": "model:candy/candy.iol#Candy", "runs": 1, "steps": 5, "seed": 1, "paused": true });
    let id = server.document("POST", "/api/test", &asked)["id"]
        .as_u64()
        .expect("a number");
    let order = |text: &str| {
        server.ask(
            "POST",
            &format!("/api/test/{id}"),
            &json!({ "order": text }),
        )
    };
    let count = |messages: &[Value]| {
        messages
            .iter()
            .map(|m| m["events"].as_array().map_or(0, Vec::len))
            .sum::<usize>()
    };
    let waiting = server.events(id, |message| message["next"].as_u64() > Some(0));
    assert_eq!(count(&waiting), 1, "only the start of the run: {waiting:?}");
    assert_eq!(order("give ?dub").0, 200);
    let given = server.events(id, |message| message.to_string().contains("?dub"));
    assert!(
        given.iter().any(|m| m.to_string().contains("?dub")),
        "{given:?}"
    );
    assert_eq!(order("two\nlines").0, 400);
    assert_eq!(order("stop").0, 200);
    let ended = server.events(id, |_| false);
    assert_eq!(
        ended.last().expect("a message")["ended"]["exit"],
        0,
        "{ended:?}"
    );
    assert_eq!(order("pause").0, 409, "it has ended");
    assert_eq!(
        server
            .ask("POST", "/api/test/99", &json!({ "order": "stop" }))
            .0,
        404
    );
}

/// Sends SIGTERM.
fn terminate(child: &Child) {
    let id = child.id().to_string();
    let killed = Command::new("kill").arg(&id).status();
    assert!(killed.is_ok_and(|status| status.success()));
}

#[test]
fn the_end_of_the_server_is_the_end_of_its_tests() {
    let folder = folder("serve-end");
    let marker = folder.join("candy/alive").display().to_string();
    let program = format!(
        "import os, sys\nopen({marker:?}, 'w').write(str(os.getpid()))\nprint('ready', flush=True)\nfor line in sys.stdin: pass\n"
    );
    write(&folder, "candy/slow.py", program);
    let sut =
        "command = \"python3 slow.py\"\nready = \"ready\"\n[quiescence]\ntimeout-ms = 60000\n";
    write(&folder, "candy/slow.toml", sut);
    let mut server = Server::start(&folder);
    let asked = json!({ "model": "candy/candy.iol#Candy", "sut": "candy/slow.toml", "runs": 1, "steps": 5, "seed": 1 });
    let id = server.document("POST", "/api/test", &asked)["id"].as_u64();
    server.events(id.expect("a number"), |message| {
        message["next"].as_u64() > Some(0)
    });
    let system = std::fs::read_to_string(&marker).expect("it was started");
    let alive = || Path::new("/proc").join(&system).exists();
    assert!(alive());
    terminate(&server.child);
    let begin = Instant::now();
    let ended = server.child.wait().expect("it ends");
    assert!(ended.success(), "{ended}");
    assert!(begin.elapsed() < Duration::from_secs(30));
    while alive() && begin.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!alive(), "the system under test is still there");
}

#[test]
fn the_page_works_in_a_browser() {
    let script = root().join("web/serve/tests/page.mjs");
    let folder = folder("serve-page");
    let candy = std::fs::read_to_string(folder.join("candy/candy.iol")).expect("a model");
    let generous = candy.replacen("!liq -> Ready", "!choc -> Ready", 1);
    assert_ne!(generous, candy);
    write(&folder, "generous.iol", generous);
    let watched = "observer NoChoc { initial state s { !choc -> bad  * -> s }  violate state bad }";
    write(&folder, "watched.iol", watched);
    let net =
        "system Left { input a  output mid  initial state s { ?a -> t }  state t { !mid -> s } }
        system Right { input mid  output x  initial state s { ?mid -> t }  state t { !x -> s } }
        system Net = hide mid in (Left |[mid]| Right)";
    write(&folder, "net.iol", net);
    let server = Server::start(&folder);
    let address = format!("http://{}/?token={}", server.authority, server.token);
    let pictures = scratch("serve-pictures");
    let ran = Command::new("node")
        .arg(script)
        .args([&address, &pictures.display().to_string()])
        .current_dir(root())
        .stdin(Stdio::null())
        .output();
    let Ok(ran) = ran else {
        println!("skipped: there is no node");
        return;
    };
    let (said, wrong) = (
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr),
    );
    // 77: no browser, or nothing to drive one with.
    if ran.status.code() == Some(77) {
        println!("skipped: {said}");
        return;
    }
    assert!(ran.status.success(), "{said}\n{wrong}");
}
