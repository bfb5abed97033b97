//! `iolite lsp`, as an editor runs it: over pipes, one message after the other.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use common::iolite_with_input;

/// An editor with its server.
struct Editor {
    server: Child,
    answers: BufReader<ChildStdout>,
    requests: i64,
}

impl Editor {
    fn start() -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_iolite"))
            .args(["lsp", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("iolite starts");
        let answers = BufReader::new(server.stdout.take().expect("piped"));
        Self {
            server,
            answers,
            requests: 0,
        }
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let input = self.server.stdin.as_mut().expect("piped");
        write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("it reads");
        input.flush().expect("it reads");
    }

    fn receive(&mut self) -> Value {
        let mut length = None;
        loop {
            let mut line = String::new();
            self.answers.read_line(&mut line).expect("a header");
            match line.trim_end() {
                "" => break,
                line => length = line.strip_prefix("Content-Length: ").map(str::to_owned),
            }
        }
        let length = length.and_then(|n| n.parse().ok()).expect("a length");
        let mut body = vec![0; length];
        self.answers.read_exact(&mut body).expect("a message");
        serde_json::from_slice(&body).expect("JSON")
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The result of a request.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"].clone()
    }

    /// What is wrong with the file now.
    fn diagnostics(&mut self) -> Vec<Value> {
        let told = self.receive();
        assert_eq!(told["method"], "textDocument/publishDiagnostics");
        told["params"]["diagnostics"]
            .as_array()
            .expect("a list")
            .clone()
    }
}

fn range(from: (u32, u32), to: (u32, u32)) -> Value {
    let at = |(line, character)| json!({ "line": line, "character": character });
    json!({ "start": at(from), "end": at(to) })
}

#[test]
fn an_editor_works_with_a_model() {
    let mut editor = Editor::start();
    // What Visual Studio Code says of itself, as far as it matters.
    let capabilities = json!({
        "general": { "positionEncodings": ["utf-16"] },
        "textDocument": {
            "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
            "hover": { "contentFormat": ["markdown", "plaintext"] },
            "publishDiagnostics": { "relatedInformation": true },
        },
    });
    let told = editor.ask(
        "initialize",
        &json!({ "processId": null, "rootUri": null, "capabilities": capabilities }),
    );
    assert_eq!(told["capabilities"]["positionEncoding"], "utf-16");
    editor.notify("initialized", &json!({}));

    let uri = "file:///work/th%C3%A9.iol";
    let of = json!({ "uri": uri });
    let text = "system Th\u{e9} {\n  input th\u{e9}\n  output \"\u{1d11e}\"\n  initial state s {\n    \
                /* \u{1d11e} */ ?th\u{e9} -> u\n  }\n  state t { !\"\u{1d11e}\", !y -> s }\n}\n";
    let document = json!({ "uri": uri, "languageId": "iol", "version": 1, "text": text });
    editor.notify("textDocument/didOpen", &json!({ "textDocument": document }));
    let found = editor.diagnostics();
    let shown: Vec<(&Value, &Value)> = found.iter().map(|d| (&d["code"], &d["range"])).collect();
    let (state, label) = (range((4, 21), (4, 22)), range((6, 19), (6, 21)));
    assert_eq!(
        shown,
        [(&json!("IOL104"), &state), (&json!("IOL105"), &label)]
    );

    let changes = json!([
        { "range": label, "text": "!\"\u{1d11e}\"" },
        { "range": state, "text": "t" },
    ]);
    let version = json!({ "uri": uri, "version": 2 });
    let params = json!({ "textDocument": version, "contentChanges": changes });
    editor.notify("textDocument/didChange", &params);
    assert_eq!(editor.diagnostics(), [] as [Value; 0]);

    let options = json!({ "tabSize": 2, "insertSpaces": true });
    let params = json!({ "textDocument": of, "options": options });
    let edits = editor.ask("textDocument/formatting", &params);
    assert_eq!(edits.as_array().map(Vec::len), Some(1));
    assert_eq!(edits[0]["range"], range((0, 0), (8, 0)));
    let laid_out = edits[0]["newText"].as_str().expect("a text").to_owned();
    assert!(laid_out.contains("  state t {\n"), "{laid_out}");
    let version = json!({ "uri": uri, "version": 3 });
    let changes = json!([{ "range": edits[0]["range"], "text": laid_out }]);
    let params = json!({ "textDocument": version, "contentChanges": changes });
    editor.notify("textDocument/didChange", &params);
    assert_eq!(editor.diagnostics(), [] as [Value; 0]);

    let outline = editor.ask(
        "textDocument/documentSymbol",
        &json!({ "textDocument": of }),
    );
    let parts = outline[0]["children"].as_array().expect("parts").iter();
    let names: Vec<&str> = parts.filter_map(|part| part["name"].as_str()).collect();
    assert_eq!(names, ["?th\u{e9}", "!\"\u{1d11e}\"", "s", "t"]);

    // From the target of the first transition to its state.
    let line = |wanted: &str| {
        laid_out
            .lines()
            .position(|l| l.contains(wanted))
            .expect("a line")
    };
    let at = |text: &str| {
        let line = line(text);
        let before = laid_out
            .lines()
            .nth(line)
            .and_then(|l| l.find("-> t"))
            .expect("a target");
        let before = laid_out
            .lines()
            .nth(line)
            .map(|l| l[..before].encode_utf16().count());
        json!({ "line": line, "character": before.expect("a line") + 3 })
    };
    let params = json!({ "textDocument": of, "position": at("-> t") });
    let places = editor.ask("textDocument/definition", &params);
    assert_eq!(places[0]["uri"], uri);
    assert_eq!(places[0]["range"]["start"]["line"], line("state t"));
    let hover = editor.ask("textDocument/hover", &params);
    assert_eq!(
        hover["contents"]["value"],
        "```iol\nstate t  // of Th\u{e9}\n```"
    );

    assert_eq!(editor.ask("shutdown", &Value::Null), Value::Null);
    editor.notify("exit", &Value::Null);
    assert_eq!(editor.server.wait().expect("an end").code(), Some(0));
}

#[test]
fn a_session_without_its_end() {
    for (input, code, told) in [
        ("", 1, ""),
        (
            "Content-Length: 33\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}",
            1,
            "",
        ),
        ("hello\n\n", 2, "has no `:`"),
    ] {
        let ran = iolite_with_input(&["lsp"], input).expect(code);
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
}
