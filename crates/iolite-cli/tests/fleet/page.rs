//! The page.

use std::process::Stdio;

use crate::fixture::{Server, Worker, candy, command, submit, test_line, work};

/// The page shows how far campaigns are, to whoever has its token.
#[test]
fn the_page_shows_the_fleet() {
    use std::io::{BufRead, BufReader, Read, Write};
    let folder = candy("fleet-page");
    let Some(server) = Server::start(&folder) else {
        return;
    };
    let url = server.url();
    let line = test_line(&["--runs", "4"]);
    submit(&folder, &url, &["--id", "shown"], &line);
    work(&folder, &url, &["--allow", "models"]).expect(0);
    let mut serve = command(&folder, "", &["serve", ".", "--nats", &url]);
    let serve = serve
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a page");
    let mut serve = Worker(serve);
    let output = serve.0.stdout.take().expect("piped");
    let mut address = String::new();
    let read = BufReader::new(output).read_line(&mut address);
    read.expect("its address");
    let (host, token) = address
        .trim()
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once("/?token="))
        .expect("an address with a token");
    let get = |token: &str| {
        let mut stream = std::net::TcpStream::connect(host).expect("the page listens");
        let request = format!(
            "GET /api/fleet HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).expect("a request");
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    };
    let answer = get(token);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(
        answer.contains("\"id\":\"shown\"") && answer.contains("\"done\":4"),
        "{answer}"
    );
    assert!(!answer.contains(&url), "{answer}");
    assert!(get("guessed").starts_with("HTTP/1.1 4"));
}
