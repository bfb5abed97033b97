//! Sessions with the server in process: a table of messages and answers, and hostile input.

use std::io::Read;

use iolite_lsp::{Ending, serve};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A message with its header.
fn framed(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Hands over one message at a time, as a client does that waits for answers.
struct OneByOne<'a>(std::slice::Iter<'a, Vec<u8>>, &'a [u8]);

impl Read for OneByOne<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.1.is_empty() {
            self.1 = self.0.next().map_or(&[][..], Vec::as_slice);
        }
        self.1.read(buffer)
    }
}

/// The messages of the server, and how the session ended.
fn told(messages: &[Vec<u8>]) -> (Vec<Value>, Result<Ending, String>) {
    let mut out = Vec::new();
    let ending = serve(OneByOne(messages.iter(), &[]), &mut out).map_err(|e| e.to_string());
    let mut rest = out.as_slice();
    let mut answers = Vec::new();
    while let Some(at) = rest.windows(4).position(|w| w == b"\r\n\r\n") {
        let header = std::str::from_utf8(&rest[..at]).expect("a header");
        let length = header.strip_prefix("Content-Length: ").expect("a length");
        let body = &rest[at + 4..][..length.parse::<usize>().expect("a number")];
        let answer: Value = serde_json::from_slice(body).expect("JSON");
        assert_eq!(answer["jsonrpc"], "2.0");
        answers.push(answer);
        rest = &rest[at + 4 + body.len()..];
    }
    assert!(rest.is_empty());
    (answers, ending)
}

fn session(messages: &[Value]) -> (Vec<Value>, Result<Ending, String>) {
    told(&messages.iter().map(framed).collect::<Vec<_>>())
}

fn request(id: i64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

fn initialize() -> Value {
    let document = json!({
        "hover": { "contentFormat": ["plaintext"] },
        "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
        "publishDiagnostics": { "relatedInformation": true },
    });
    let capabilities = json!({ "textDocument": document });
    request(
        0,
        "initialize",
        &json!({ "processId": null, "capabilities": capabilities }),
    )
}

const URI: &str = "file:///m.iol";

fn open(text: &str) -> Value {
    let document = json!({ "uri": URI, "languageId": "iol", "version": 1, "text": text });
    notification("textDocument/didOpen", &json!({ "textDocument": document }))
}

fn change(version: i64, changes: &Value) -> Value {
    let document = json!({ "uri": URI, "version": version });
    let params = json!({ "textDocument": document, "contentChanges": changes });
    notification("textDocument/didChange", &params)
}

/// The last answer to a request about a text, which is asked behind `initialize` and `didOpen`.
fn asked(text: &str, method: &str, params: &Value) -> Value {
    let mut all = json!({ "textDocument": { "uri": URI } });
    for (key, value) in params.as_object().into_iter().flatten() {
        all[key] = value.clone();
    }
    let (mut answers, _) = session(&[initialize(), open(text), request(1, method, &all)]);
    let last = answers.pop().expect("an answer");
    assert_eq!(last["id"], 1, "{last}");
    last["result"].clone()
}

/// The position of `|` in a text, and the text without it.
fn cursor(marked: &str) -> (String, Value) {
    let at = marked.find('|').expect("a cursor");
    let line = marked[..at].matches('\n').count();
    let start = marked[..at].rfind('\n').map_or(0, |n| n + 1);
    let character = marked[start..at].encode_utf16().count();
    let position = json!({ "line": line, "character": character });
    (marked.replacen('|', "", 1), position)
}

/// What a range of a text holds.
fn held<'t>(text: &'t str, range: &Value) -> &'t str {
    let offset = |position: &Value| {
        let line = position["line"].as_u64().expect("a line") as usize;
        let units = position["character"].as_u64().expect("a character") as usize;
        let before: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let mut left = units;
        let rest = text[before..].char_indices();
        let mut rest = rest.skip_while(|(_, c)| {
            let stays = left > 0;
            left = left.saturating_sub(c.len_utf16());
            stays
        });
        rest.next().map_or(text.len(), |(at, _)| before + at)
    };
    &text[offset(&range["start"])..offset(&range["end"])]
}

#[test]
fn a_session_has_a_beginning_and_an_end() {
    let code = |answer: &Value| answer["error"]["code"].clone();
    let (answers, ending) = session(&[
        request(1, "textDocument/hover", &json!({})),
        notification("textDocument/didOpen", &json!({})),
        initialize(),
        notification("initialized", &json!({})),
        initialize(),
        request(2, "textDocument/rename", &json!({})),
        notification("$/cancelRequest", &json!({ "id": 2 })),
        notification("workspace/didChangeConfiguration", &json!({})),
        json!({ "jsonrpc": "2.0", "id": 7, "result": null }),
        json!({ "jsonrpc": "2.0", "id": "a name", "method": "textDocument/hover", "params": [1] }),
        request(3, "shutdown", &Value::Null),
        request(4, "textDocument/hover", &json!({})),
        open("system"),
        notification("exit", &Value::Null),
        request(5, "never/read", &json!({})),
    ]);
    assert_eq!(code(&answers[0]), -32002);
    assert_eq!(answers[1]["result"]["serverInfo"]["name"], "iolite");
    assert_eq!(
        answers[1]["result"]["capabilities"]["positionEncoding"],
        "utf-16"
    );
    assert_eq!(code(&answers[2]), -32600);
    assert_eq!(code(&answers[3]), -32601);
    assert_eq!(
        (&answers[4]["id"], code(&answers[4])),
        (&json!("a name"), json!(-32602))
    );
    assert_eq!(
        (&answers[5]["id"], &answers[5]["result"]),
        (&json!(3), &Value::Null)
    );
    assert_eq!(code(&answers[6]), -32600);
    assert_eq!(answers.len(), 7);
    assert_eq!(ending, Ok(Ending::ShutDown));
    for messages in [
        &[][..],
        &[initialize()],
        &[notification("exit", &Value::Null)],
    ] {
        assert_eq!(session(messages).1, Ok(Ending::Left));
    }
}

const WRONG: &str = "system S {\n  input a\n  initial state s {\n    ?\"\u{1d11e}\u{e9}\", ?b -> t\n  }\n}\nsystem S { initial state x }\n";

#[test]
fn diagnostics_follow_the_text() {
    let (answers, _) = session(&[
        initialize(),
        open(WRONG),
        change(
            2,
            &json!([{
                "range": { "start": { "line": 3, "character": 5 }, "end": { "line": 3, "character": 14 } },
                "text": "a",
            }, {
                "range": { "start": { "line": 3, "character": 10 }, "end": { "line": 3, "character": 11 } },
                "text": "s",
            }, {
                "range": { "start": { "line": 6, "character": 0 }, "end": { "line": 99, "character": 0 } },
                "text": "",
            }]),
        ),
        change(3, &json!([{ "text": "system" }])),
        notification(
            "textDocument/didClose",
            &json!({ "textDocument": { "uri": URI } }),
        ),
        change(4, &json!([{ "text": "system" }])),
    ]);
    let found = &answers[1]["params"];
    assert_eq!((&found["uri"], &found["version"]), (&json!(URI), &json!(1)));
    let found = found["diagnostics"].as_array().expect("diagnostics");
    let shown: Vec<(&str, &str, u64)> = found
        .iter()
        .map(|d| {
            let code = d["code"].as_str().expect("a code");
            let severity = d["severity"].as_u64().expect("a severity");
            assert_eq!(d["source"], "iolite");
            (code, held(WRONG, &d["range"]), severity)
        })
        .collect();
    assert!(
        shown.contains(&("IOL105", "?\"\u{1d11e}\u{e9}\"", 1)),
        "{shown:?}"
    );
    assert!(shown.iter().any(|(_, at, _)| *at == "?b"), "{shown:?}");
    assert!(
        shown
            .iter()
            .any(|(_, at, severity)| (*at, *severity) == ("a", 2)),
        "{shown:?}"
    );
    let twice = found.iter().find(|d| d["relatedInformation"].is_array());
    let related = &twice.expect("a declaration twice")["relatedInformation"][0];
    assert_eq!(related["location"]["uri"], URI);
    assert_eq!(held(WRONG, &related["location"]["range"]), "S");
    assert_eq!(related["message"], "first declared here");
    assert_eq!(
        answers[2]["params"]["diagnostics"],
        json!([]),
        "{}",
        answers[2]
    );
    assert_eq!(answers[2]["params"]["version"], 2);
    assert_ne!(answers[3]["params"]["diagnostics"], json!([]));
    assert_eq!(answers[4]["params"]["diagnostics"], json!([]));
    assert_eq!(answers.len(), 5);
}

#[test]
fn clients_may_count_bytes_and_know_less() {
    let capabilities = json!({ "general": { "positionEncodings": ["utf-8", "utf-16"] } });
    let first = request(0, "initialize", &json!({ "capabilities": capabilities }));
    let (answers, _) = session(&[
        first,
        open(WRONG),
        request(
            1,
            "textDocument/documentSymbol",
            &json!({ "textDocument": { "uri": URI } }),
        ),
    ]);
    assert_eq!(
        answers[0]["result"]["capabilities"]["positionEncoding"],
        "utf-8"
    );
    let found = answers[1]["params"]["diagnostics"]
        .as_array()
        .expect("diagnostics");
    let b = found
        .iter()
        .find(|d| d["message"].as_str().is_some_and(|m| m.contains("`?b`")));
    // Four bytes and two, where 16-bit units are two and one.
    assert_eq!(
        b.expect("?b")["range"]["start"],
        json!({ "line": 3, "character": 15 })
    );
    assert!(found.iter().all(|d| d.get("relatedInformation").is_none()));
    assert_eq!(answers[2]["result"][1]["containerName"], "S");
}

#[test]
fn changes_at_once_are_judged_once() {
    let mut all = Vec::new();
    for message in [
        initialize(),
        open("system"),
        change(2, &json!([{ "text": "// empty" }])),
    ] {
        all.extend(framed(&message));
    }
    let (answers, _) = told(&[all]);
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[1]["params"]["version"], 2);
}

#[test]
fn layout_is_one_edit_or_none() {
    let laid_out = "system S {\n  initial state s\n}\n";
    for (text, edits) in [
        (laid_out, json!([])),
        ("system S { initial state", Value::Null),
        (
            "// \u{1d11e}\r\nsystem S{initial state s}",
            json!([{
                "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 1, "character": 25 } },
                "newText": format!("// \u{1d11e}\n{laid_out}"),
            }]),
        ),
    ] {
        assert_eq!(
            asked(text, "textDocument/formatting", &json!({ "options": {} })),
            edits
        );
    }
}

const MODEL: &str = "\
enum Colour { red, green }
record Point { x: int, y: 0..7 }
fn far(p: Point): bool = p.x > 3

system Robot {
  const limit: int = 9
  var at: Point, colour: Colour = red
  input go(to: Point), halt
  output moved(n: int)
  initial state Idle {
    ?go(to) [!far(to) && to.x < limit] / at := to, at.y := 1 -> Moving
    ?\"halt\" -> Idle
  }
  state Moving { !moved(n) [n == at.x && colour == red] -> Idle }
}

observer W for Robot {
  initial state Ok { !moved -> Bad   * -> Ok }
  violate state Bad
}

process Left = ?a; !mid; Left
process Right(k: int) over { ?mid, !x } = ?mid; [k > 0] -> !x; Right(k = k - 1)
system Net = hide mid in (Left |[mid]| Right(k = 3))
property P for Net = ltl G (?a -> F !x)
property Q over { !y } = streett { initial state 1 { !y -> 2 } state 2 { * -> 1 } pair recurrent {2} persistent {} }
";

/// The places of an answer, as line from 1 and text.
fn places(answer: &Value) -> Vec<String> {
    let locations = answer.as_array().expect("locations").iter();
    let told = locations.map(|l| {
        let line = l["range"]["start"]["line"].as_u64().expect("a line") + 1;
        format!("{line}:{}", held(MODEL, &l["range"]))
    });
    told.collect()
}

#[test]
fn names_lead_to_their_declarations() {
    for (from, to, definitions, references) in [
        // Functions, sorts, fields, values, parameters.
        ("[!fa", "r(to)", vec!["3:far"], vec!["3:far", "11:far"]),
        (
            "fn far(p: Poi",
            "nt)",
            vec!["2:Point"],
            vec!["2:Point", "3:Point", "7:Point", "8:Point"],
        ),
        (
            "to.",
            "x <",
            vec!["2:x"],
            vec!["2:x", "3:x", "11:x", "14:x"],
        ),
        ("at.", "y :=", vec!["2:y"], vec!["2:y", "11:y"]),
        (
            "colour == r",
            "ed]",
            vec!["1:red"],
            vec!["1:red", "7:red", "14:red"],
        ),
        ("= ", "p.x", vec!["3:p"], vec!["3:p", "3:p"]),
        // Constants, variables, parameters of transitions.
        ("< limi", "t]", vec!["6:limit"], vec!["6:limit", "11:limit"]),
        (
            "/ a",
            "t := to",
            vec!["7:at"],
            vec!["7:at", "11:at", "11:at", "14:at"],
        ),
        (
            "at := t",
            "o",
            vec!["11:to"],
            vec!["11:to", "11:to", "11:to", "11:to"],
        ),
        // Actions, also of the system that is watched; quotes are part of a name.
        (
            "?\"ha",
            "lt\"",
            vec!["8:halt"],
            vec!["8:halt", "12:\"halt\""],
        ),
        (
            "Ok { !mov",
            "ed",
            vec!["9:moved"],
            vec!["9:moved", "14:moved", "18:moved"],
        ),
        // States and systems.
        (
            "1 -> Mov",
            "ing",
            vec!["14:Moving"],
            vec!["11:Moving", "14:Moving"],
        ),
        (
            "for Rob",
            "ot",
            vec!["5:Robot"],
            vec!["5:Robot", "17:Robot"],
        ),
        (
            "!moved -> B",
            "ad",
            vec!["19:Bad"],
            vec!["18:Bad", "19:Bad"],
        ),
        // Processes: an action has no declaration, or the alphabet; a gate stands for the action of each.
        (
            "?mid; [",
            "k > 0",
            vec!["23:k"],
            vec!["23:k", "23:k", "23:k", "23:k", "24:k"],
        ),
        (
            "hide mi",
            "d in",
            vec!["22:mid", "23:mid"],
            vec!["22:mid", "23:mid", "23:mid", "24:mid", "24:mid"],
        ),
        (
            "(?a -> F !",
            "x)",
            vec!["23:x"],
            vec!["23:x", "23:x", "25:x"],
        ),
        ("G (?", "a ->", vec!["22:a"], vec!["22:a", "25:a"]),
        (
            "!mid; Le",
            "ft",
            vec!["22:Left"],
            vec!["22:Left", "22:Left", "24:Left"],
        ),
        // Automata of properties.
        ("!y -> ", "2 }", vec!["26:2"], vec!["26:2", "26:2", "26:2"]),
        ("1 { !", "y ->", vec!["26:y"], vec!["26:y", "26:y"]),
        // What has no name here.
        ("int, y: 0..", "7 }", vec![], vec![]),
        ("violate sta", "te Bad", vec![], vec![]),
    ] {
        let around = format!("{from}{to}");
        assert_eq!(MODEL.matches(&around).count(), 1, "{around}");
        let at = MODEL.find(&around).expect("there") + from.len();
        let line = MODEL[..at].matches('\n').count();
        let start = MODEL[..at].rfind('\n').map_or(0, |n| n + 1);
        let position = json!({ "line": line, "character": at - start });
        let params = json!({ "position": position, "context": { "includeDeclaration": true } });
        let answer = asked(MODEL, "textDocument/definition", &params);
        assert_eq!(places(&answer), definitions, "{around}");
        let answer = asked(MODEL, "textDocument/references", &params);
        assert_eq!(places(&answer), references, "{around}");
    }
}

#[test]
fn the_model_of_these_tests_is_right() {
    let (answers, _) = session(&[initialize(), open(MODEL)]);
    let found = answers[1]["params"]["diagnostics"]
        .as_array()
        .expect("a list");
    assert!(found.iter().all(|d| d["severity"] != 1), "{found:?}");
}

#[test]
fn references_without_declarations() {
    let at = json!({ "line": 9, "character": 17 });
    for (with, count) in [(true, 3), (false, 2)] {
        let params = json!({ "position": at, "context": { "includeDeclaration": with } });
        let answer = asked(MODEL, "textDocument/references", &params);
        assert_eq!(answer.as_array().map(Vec::len), Some(count));
    }
}

/// The nodes of an outline, a line each.
fn lines(nodes: &Value, depth: usize, out: &mut Vec<String>) {
    for node in nodes.as_array().into_iter().flatten() {
        let (name, detail) = (&node["name"], node["detail"].as_str().unwrap_or_default());
        let detail = if detail.is_empty() {
            String::new()
        } else {
            format!(" | {detail}")
        };
        out.push(format!(
            "{}{}{detail}",
            "  ".repeat(depth),
            name.as_str().expect("a name")
        ));
        lines(&node["children"], depth + 1, out);
    }
}

#[test]
fn the_outline_is_declarations_with_their_parts() {
    let outline = asked(MODEL, "textDocument/documentSymbol", &Value::Null);
    let mut told = Vec::new();
    lines(&outline, 0, &mut told);
    let expected = [
        "Colour | { red, green }",
        "  red",
        "  green",
        "Point | { x: int, y: 0..7 }",
        "  x | int",
        "  y | 0..7",
        "far | (p: Point): bool",
        "Robot",
        "  limit | int = 9",
        "  at | Point",
        "  colour | Colour = red",
        "  ?go | (to: Point)",
        "  ?halt",
        "  !moved | (n: int)",
        "  Idle",
        "  Moving",
        "W | for Robot",
        "  Ok",
        "  Bad",
        "Left",
        "Right | (k: int)",
        "  ?mid",
        "  !x",
        "Net",
        "P | for Net",
        "Q",
        "  !y",
        "  1",
        "  2",
    ];
    assert_eq!(told, expected);
    let robot = &outline[3];
    assert!(held(MODEL, &robot["range"]).starts_with("system Robot {"));
    assert_eq!(held(MODEL, &robot["selectionRange"]), "Robot");
}

#[test]
fn hover_tells_kind_and_sort_and_explains_codes() {
    for (marked, expected) in [
        (
            "system S { var n|: int = 0 initial state s }",
            "var n: int = 0  // of S",
        ),
        (
            "system S { input go(x: 0..3, \"a b\": bool) initial state s { ?g|o(x, _) -> s } }",
            "input ?go(x: 0..3, \"a b\": bool)  // of S",
        ),
        (
            "system S { input go(x: 0..3) initial state s { ?go(x) [x| > 1] -> s } }",
            "x: 0..3  // of ?go",
        ),
        ("fn f(a: int[]): bool = exists e in a: e| > 0", "e: int"),
        (
            "system S { initial state s|\n state t }",
            "initial state s  // of S",
        ),
    ] {
        let (text, position) = cursor(marked);
        let answer = asked(
            &text,
            "textDocument/hover",
            &json!({ "position": position }),
        );
        let value = answer["contents"]["value"].as_str().unwrap_or_default();
        let first = value.split("\n\n").next().unwrap_or_default();
        if !marked.contains("\"a b\"") {
            assert_eq!(first, expected, "{marked}");
        }
        assert_eq!(answer["contents"]["kind"], "plaintext");
    }
    let (text, position) = cursor("system S { initial state s { ?a -> no|where } }");
    let answer = asked(
        &text,
        "textDocument/hover",
        &json!({ "position": position }),
    );
    let value = answer["contents"]["value"].as_str().expect("a text");
    let explained = iolite_lang::codes::explain("IOL104").expect("a code");
    let told = format!(
        "{}: {}\n\n{}",
        explained.code, explained.title, explained.text
    );
    assert_eq!(value, told);
    assert_eq!(held(&text, &answer["range"]), "nowhere");
    let (text, position) = cursor("| system S { initial state s }");
    assert!(
        asked(
            &text,
            "textDocument/hover",
            &json!({ "position": position })
        )
        .is_null()
    );
}

#[test]
fn completion_offers_what_may_stand_there() {
    let proposals = |marked: &str| -> Vec<String> {
        let (text, position) = cursor(marked);
        let answer = asked(
            &text,
            "textDocument/completion",
            &json!({ "position": position }),
        );
        let items = answer.as_array().expect("a list").iter();
        items
            .map(|item| {
                let edit = &item["textEdit"];
                format!(
                    "{}>{}",
                    held(&text, &edit["range"]),
                    edit["newText"].as_str().expect("a text")
                )
            })
            .collect()
    };
    let head = "system S { var n: int = 0 input a, ab output x initial state s { ";
    assert_eq!(
        proposals(&format!("{head}?a| -> s }} state t }}")),
        ["?a>?a", "?a>?ab"]
    );
    assert_eq!(
        proposals(&format!("{head}?a -> | }} state t }}")),
        [">s", ">t"]
    );
    let guard = proposals(&format!("{head}?a [n| > 0] -> s }} state t }}"));
    for wanted in ["n>n", "n>S", "n>?a", "n>!x", "n>if"] {
        assert!(guard.contains(&wanted.to_owned()), "{wanted}: {guard:?}");
    }
    let negated = proposals(&format!("{head}?a [!| ] -> s }} state t }}"));
    assert!(negated.contains(&"!>!x".to_owned()) && negated.contains(&"!>!n".to_owned()));
}

#[test]
fn other_files_are_left_alone() {
    let document =
        json!({ "uri": "file:///m.dot", "languageId": "dot", "version": 1, "text": "digraph {}" });
    let of = json!({ "textDocument": { "uri": "file:///m.dot" }, "position": { "line": 0, "character": 0 } });
    let (answers, _) = session(&[
        initialize(),
        notification("textDocument/didOpen", &json!({ "textDocument": document })),
        request(1, "textDocument/hover", &of),
        request(2, "textDocument/formatting", &of),
    ]);
    assert_eq!(answers.len(), 3);
    assert!(answers[1..].iter().all(|a| a["result"].is_null()));
}

#[test]
fn what_is_no_message_is_refused() {
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"x\",\"params\":{}{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let framed_text =
        |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes();
    for (body, code) in [
        ("", -32700),
        ("{", -32700),
        ("hello", -32700),
        ("\u{0}", -32700),
        ("[]", -32600),
        ("[\"2.0\",1,\"shutdown\",null]", -32600),
        ("null", -32600),
        ("{}", -32600),
        (
            "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"shutdown\"}",
            -32600,
        ),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"shutdown\"}",
            -32600,
        ),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"shutdown\"}",
            -32600,
        ),
        (deep.as_str(), -32601),
    ] {
        let shown = &body[..body.len().min(60)];
        let (answers, ending) = told(&[framed(&initialize()), framed_text(body)]);
        assert_eq!(answers[1]["error"]["code"], code, "{shown}: {}", answers[1]);
        assert_eq!(ending, Ok(Ending::Left));
    }
    // Nobody knows where the next message begins.
    for bytes in [
        &b"hello\r\n\r\n"[..],
        b"Content-Length: many\r\n\r\n",
        b"Content-Length: 9\r\n\r\n{}",
    ] {
        let (answers, ending) = told(&[framed(&initialize()), bytes.to_vec()]);
        assert_eq!(answers[1]["error"]["code"], -32700);
        assert!(ending.is_err());
    }
}

#[test]
fn texts_that_are_lost_or_too_long_are_not_followed() {
    let long = " ".repeat((4 << 20) + 1);
    let (answers, _) = session(&[
        initialize(),
        open("system"),
        change(2, &json!([{ "text": long }])),
        open(&long),
        open("system"),
        change(3, &json!("not a list")),
        change(4, &json!([{ "text": "" }])),
    ]);
    let methods: Vec<&str> = answers[1..]
        .iter()
        .map(|a| a["method"].as_str().expect("a method"))
        .collect();
    let (publish, show) = ("textDocument/publishDiagnostics", "window/showMessage");
    assert_eq!(
        methods,
        [
            publish, show, publish, show, publish, publish, publish, show
        ]
    );
    assert_eq!(answers[7]["params"]["diagnostics"], json!([]));
    // One message that is too long may have been a change of any text.
    let body = framed(&open(&" ".repeat(16 << 20)));
    let after = framed(&change(5, &json!([{ "text": "system" }])));
    let (answers, ending) = told(&[framed(&initialize()), framed(&open("system")), body, after]);
    assert_eq!(answers[2]["error"]["code"], -32600);
    assert_eq!(answers[3]["params"]["diagnostics"], json!([]));
    assert_eq!(answers.len(), 5);
    assert_eq!(ending, Ok(Ending::Left));
}

#[test]
fn texts_of_any_shape_are_asked_about() {
    let many = |piece: &str| piece.repeat(5_000);
    let wrapped = |text: String| {
        format!("system S {{ var n: int = 0 initial state s {{ ?a [{text}] -> s }} }}")
    };
    let process = |k: u32| format!("process P{k} = rename a -> b in P{}\n", (k + 1) % 500);
    let many_processes = (0..500).map(process).collect::<Vec<_>>().concat();
    for text in [
        wrapped(format!("{}n", many("("))),
        wrapped(format!("n{}", many(".n"))),
        wrapped(format!("n{}", many(" + n"))),
        wrapped(format!("{}n", many("let n = n in "))),
        wrapped(format!("{}n", many("exists n in "))),
        format!("process P = {}stop", many("a; ")),
        format!("process P = {}stop", many("hide a in (")),
        format!("process P = {}stop", many("P [] ")),
        many_processes,
        format!("property P = ltl {} !a", many("G ")),
        format!("type T = {}", many("set<")),
        many("system S { "),
        many("state \u{1d11e} "),
        many("\r"),
        many("?"),
    ] {
        let at = json!({ "line": 0, "character": 60 });
        let params = json!({ "position": at, "context": { "includeDeclaration": true } });
        for method in [
            "definition",
            "references",
            "hover",
            "completion",
            "documentSymbol",
            "formatting",
        ] {
            asked(&text, &format!("textDocument/{method}"), &params);
        }
    }
}

/// Numbers at the ends of what fits, and beyond.
fn number() -> impl Strategy<Value = i64> {
    prop_oneof![
        0..30i64,
        Just(-1),
        Just(i64::from(u32::MAX)),
        Just(i64::MAX)
    ]
}

fn position() -> impl Strategy<Value = Value> {
    (number(), number())
        .prop_map(|(line, character)| json!({ "line": line, "character": character }))
}

fn any_message() -> impl Strategy<Value = Vec<u8>> {
    let methods = [
        "definition",
        "references",
        "hover",
        "completion",
        "formatting",
        "documentSymbol",
    ];
    let about =
        (prop::sample::select(methods.to_vec()), position()).prop_map(|(method, position)| {
            let params = json!({ "textDocument": { "uri": URI }, "position": position });
            framed(&request(1, &format!("textDocument/{method}"), &params))
        });
    let pieces = [
        "{",
        "}",
        "?go",
        "system S",
        "->",
        "\u{1d11e}",
        "\r",
        "\n",
        "state",
        "(",
        ":=",
        "`",
        "hide x in",
    ];
    let edit = (
        position(),
        position(),
        prop::sample::select(pieces.to_vec()),
    )
        .prop_map(|(start, end, text)| {
            framed(&change(
                1,
                &json!([{ "range": { "start": start, "end": end }, "text": text }]),
            ))
        });
    let reset = Just(framed(&open(MODEL)));
    let garbage = proptest::collection::vec(any::<u8>(), 0..30).prop_map(|body| {
        [
            format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(),
            &body,
        ]
        .concat()
    });
    prop_oneof![4 => about, 4 => edit, 1 => reset, 1 => garbage]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn any_session_ends_in_order(messages in proptest::collection::vec(any_message(), 0..40)) {
        let mut all = vec![framed(&initialize()), framed(&open(MODEL))];
        all.extend(messages);
        prop_assert_eq!(told(&all).1, Ok(Ending::Left));
    }

    #[test]
    fn any_bytes_end_in_order(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = told(&[framed(&initialize()), bytes]);
    }
}
