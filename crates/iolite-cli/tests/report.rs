//! `iolite report`: one file that loads nothing and executes nothing of the system's, looked at as text and,
//! where there is one, in a browser.

mod common;

use std::path::Path;
use std::process::{Command, Stdio};

use common::{iolite, scratch, write};
use serde_json::Value;

/// A program that writes markup: on its output, as names of actions, and on standard error.
const HOSTILE: &str = r#"
import sys
print("ready", flush=True)
for line in sys.stdin:
    sys.stderr.write("<script>document.title='owned'</script>\n")
    sys.stderr.flush()
    if "boom" in line:
        sys.exit(3)
    print('</script><script>document.title="owned"</script><img src=x onerror="document.title=1">', flush=True)
"#;

const MODEL: &str = "
system Echo {
  input ping, boom
  output pong
  initial state Idle { ?ping -> Busy  ?boom -> Idle }
  state Busy { !pong -> Idle  ?boom -> Idle }
}
";

/// The report of a few runs of a hostile program.
fn hostile(folder: &Path) -> String {
    let model = write(folder, "echo.iol", MODEL);
    let program = write(folder, "hostile.py", HOSTILE);
    let sut = format!(
        "command = \"python3 {program}\"\nready = \"ready\"\nundecodable = \"output\"\n[quiescence]\ntimeout-ms = 300\n"
    );
    let sut = write(folder, "sut.toml", sut);
    let journal = folder.join("journal.jsonl").display().to_string();
    let mut args = vec!["test", &model, "--sut", &sut, "--journal", &journal];
    args.extend(["--runs", "6", "--steps", "4", "--keep-going"]);
    iolite(&args);
    let report = folder.join("report.html").display().to_string();
    iolite(&["report", &journal, "-o", &report]).expect(0);
    report
}

/// The data of the page.
fn data(page: &str) -> Value {
    let start = "<script type=\"application/json\" id=\"data\">";
    let (_, rest) = page.split_once(start).expect("data");
    let (text, _) = rest.split_once("</script>").expect("an end");
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn nothing_of_the_system_is_markup() {
    let folder = scratch("report-hostile");
    let page = std::fs::read_to_string(hostile(&folder)).expect("a page");
    // Its own two scripts and nothing else; no address; no handler.
    assert_eq!(page.matches("<script").count(), 2, "{page}");
    assert_eq!(page.matches("</script").count(), 2);
    for forbidden in [
        "<img",
        "onerror=\"",
        "http://",
        "https://",
        "<iframe",
        "<link",
        "src=\"",
        " onclick=",
    ] {
        let markup = page
            .split("<script>")
            .next()
            .expect("the part before the script");
        let found = markup.matches(forbidden).count();
        assert_eq!(found, 0, "{forbidden}");
    }
    assert!(page.contains("Content-Security-Policy") && page.contains("default-src 'none'"));
    let data = data(&page);
    let texts = data["actions"].to_string() + &data["runs"].to_string();
    assert!(
        texts.contains("owned"),
        "the journal has what the system wrote: {texts}"
    );
}

/// A report of the candy machine that fails, for the other tests.
fn candy(folder: &Path, more: &[&str]) -> String {
    let journal = folder.join("candy.jsonl").display().to_string();
    let mut args = vec![
        "test",
        "examples/candy/candy.iol",
        "--sut",
        "examples/candy/sut-generous.toml",
    ];
    args.extend(["--journal", &journal, "--runs", "6", "--steps", "12"]);
    iolite(&args);
    let report = folder.join("candy.html").display().to_string();
    let mut args = vec!["report", &journal, "-o", &report];
    args.extend(more);
    iolite(&args).expect(0);
    report
}

#[test]
fn a_page_has_what_people_look_for() {
    let folder = scratch("report-candy");
    let old = folder.join("old.jsonl").display().to_string();
    let mut args = vec![
        "test",
        "examples/candy/candy.iol",
        "--sut",
        "model:examples/candy/candy.iol",
    ];
    args.extend(["--journal", &old, "--runs", "3"]);
    iolite(&args).expect(0);
    let page = std::fs::read_to_string(candy(&folder, &["--against", &old])).expect("a page");
    for wanted in [
        "iolite replay ",
        "iolite shrink ",
        "id=\"failures\"",
        "href=\"#L",
        "id=\"L7\"",
        "data-state=\"0\"",
        "id=\"coverage\"",
        "id=\"times\"",
        "quiescence ",
        "Changes since ",
        "New failures: 1",
        "hash of its file",
        "aria-label=\"step of the run\"",
        "lang=\"en\"",
    ] {
        assert!(page.contains(wanted), "{wanted}");
    }
    let data = data(&page);
    let runs = data["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 6);
    let failing = runs
        .iter()
        .find(|run| run["verdict"] == "fail")
        .expect("a failing run");
    let steps = failing["rows"].as_array().expect("rows").len();
    // The places before the run and after each step but the one that fails.
    let lit = failing["lit"].as_array().expect("places");
    assert!(lit.len() > 1 && lit.len() <= steps, "{failing}");
    let set = |k: &Value| data["sets"][k.as_u64().expect("a number") as usize].clone();
    assert_eq!(set(&lit[0]), serde_json::json!(["Ready"]));
    assert_eq!(
        data["nodes"],
        serde_json::json!(["Ready", "Shilling", "Dubbeltje"])
    );
    // A page without its model says so, and one of shares is one of the whole.
    let journal = folder.join("candy.jsonl");
    let text = std::fs::read_to_string(&journal).expect("the journal");
    let other = text.replacen("candy.iol", "gone.iol", 2);
    let other = write(&folder, "gone.jsonl", other);
    let out = folder.join("gone.html").display().to_string();
    let ran = iolite(&["report", &other, "-o", &out]).expect(0);
    assert!(
        ran.stderr.contains("no picture of the model"),
        "{}",
        ran.stderr
    );
    let refused = iolite(&["report", "nosuch.jsonl", "-o", &out]).expect(2);
    assert!(
        refused.stderr.contains("nosuch.jsonl"),
        "{}",
        refused.stderr
    );
}

/// A browser, where there is one.
fn browser() -> Option<String> {
    let found = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| {
            let mut asked = Command::new(name);
            asked
                .arg("--version")
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            asked.status().is_ok_and(|status| status.success())
        });
    if found.is_none() {
        println!("skipped: there is no Chromium");
    }
    found.map(str::to_owned)
}

/// The page as the browser has it once its script has run.
fn opened(browser: &str, folder: &Path, page: &str) -> String {
    let profile = format!("--user-data-dir={}", folder.join("profile").display());
    let output = Command::new(browser)
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--virtual-time-budget=5000",
        ])
        .args([&profile, "--dump-dom", &format!("file://{page}")])
        .stdin(Stdio::null())
        .output()
        .expect("a browser");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn in_a_browser() {
    let Some(browser) = browser() else { return };
    let folder = scratch("report-browser");
    let hostile = hostile(&folder);
    let shown = opened(&browser, &folder, &hostile);
    assert!(shown.contains("<title>"), "{shown}");
    assert!(
        !shown.contains("<title>owned") && !shown.contains("<title>1<"),
        "a script of the system ran"
    );
    assert!(!shown.contains("<img"), "markup of the system");
    let shown = opened(&browser, &folder, &candy(&folder, &[]));
    // The script drew the list, the chart and the places.
    for drawn in [
        "class=\"link\"",
        "class=\"arrow s\"",
        "class=\"lit\"",
        "the model could be in",
        "class=\"missed\"",
        "6 of 6 runs",
    ] {
        let or_covered = drawn == "class=\"missed\"" && shown.contains("class=\"seen\"");
        assert!(shown.contains(drawn) || or_covered, "{drawn}\n{shown}");
    }
}

/// The shorter run stands beside the one that it comes from, with how often it failed again; what one more
/// run may show is said with what that rests on.
#[test]
fn shortened_runs_and_the_next_run_are_shown() {
    let folder = scratch("report-shrunk");
    let model = write(&folder, "echo.iol", MODEL);
    let wrong = MODEL.replace("!pong -> Idle", "!pong -> Idle  !ping -> Idle");
    let wrong = wrong.replace("output pong", "output pong, ping");
    let wrong = write(&folder, "wrong.iol", wrong);
    let sut = format!("model:{wrong}");
    let journal = folder.join("journal.jsonl").display().to_string();
    let mut args = vec!["test", &model, "--sut", &sut, "--journal", &journal];
    args.extend(["--runs", "30", "--steps", "40", "--seed", "5"]);
    let failing = iolite(&[&args[..], &["--json"]].concat()).expect(1).json();
    let run = failing["failures"][0]["run"].as_u64().expect("a run");
    let number = run.to_string();
    let shrunk = iolite(&["shrink", &journal, "--run", &number, "--json"]).expect(1);
    let told = shrunk.json();
    let steps = told["to_steps"].as_u64().expect("steps");
    let times = format!("{} of {} times", told["reproduced"], told["confirmations"]);
    let shrunk = write(&folder, "shrunk.json", &shrunk.stdout);
    let report = folder.join("report.html").display().to_string();
    iolite(&["report", &journal, "-o", &report, "--shrunk", &shrunk]).expect(0);
    let page = std::fs::read_to_string(&report).expect("a page");
    let (_, section) = page.split_once("Shortened runs").expect("a section");
    let (section, _) = section.split_once("</section>").expect("its end");
    assert!(section.contains(&times), "{section}");
    assert!(section.contains(&format!("<p>{steps} steps")), "{section}");
    let (_, next) = page.split_once("The next run").expect("a section");
    assert!(
        next.contains("something new with a chance of about"),
        "{page}"
    );

    let other = shrunk.replace("shrunk.json", "other.json");
    let text = std::fs::read_to_string(&shrunk).expect("a file");
    let text = text.replace(&format!("\"run\": {run}"), "\"run\": 4711");
    std::fs::write(&other, text).expect("a file");
    let refused = iolite(&["report", &journal, "-o", &report, "--shrunk", &other]).expect(2);
    assert!(refused.stderr.contains("4711"), "{}", refused.stderr);
    let refused = iolite(&["report", &journal, "-o", &report, "--shrunk", &model]).expect(2);
    assert!(
        refused.stderr.contains("iolite shrink"),
        "{}",
        refused.stderr
    );
}

/// A program whose messages differ from the names of its actions, one that it is sent no text, and that talks
/// on standard error.
const TALKER: &str = r#"
import sys
print("ready", flush=True)
for line in sys.stdin.buffer:
    sys.stderr.write("<b>heard</b> " + repr(line) + "\n")
    sys.stderr.flush()
    sys.stdout.buffer.write(b"PONG <i>\n")
    sys.stdout.flush()
"#;

#[test]
fn bytes_and_standard_error_stand_beside_their_steps() {
    let folder = scratch("report-bytes");
    let model = "system Echo { input ping, raw  output pong
      initial state Idle { ?ping -> Busy  ?raw -> Busy }  state Busy { !pong -> Idle } }";
    let model = write(&folder, "echo.iol", model);
    let program = write(&folder, "talker.py", TALKER);
    let sut = format!(
        "command = \"python3 {program}\"\nready = \"ready\"\n[quiescence]\ntimeout-ms = 2000\n\
         [actions.ping]\nsend = \"PING 1\"\n[actions.raw]\nsend = \"raw {{0xfffe}}\"\n[actions.pong]\nrecv = \"PONG {{_}}\"\n"
    );
    let sut = write(&folder, "sut.toml", sut);
    let journal = folder.join("journal.jsonl").display().to_string();
    let report = folder.join("report.html").display().to_string();
    let mut args = vec![
        "test",
        &model,
        "--sut",
        &sut,
        "--journal",
        &journal,
        "--seed",
        "1",
    ];
    args.extend([
        "--runs",
        "3",
        "--steps",
        "12",
        "--context",
        "synchronous",
        "--report",
        &report,
    ]);
    iolite(&args).expect(0);
    let text = std::fs::read_to_string(&journal).expect("a journal");
    let events: Vec<Value> = text
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    // Each message has the number of its step: that of a stimulus follows, that of an output comes before.
    let mut sent = 0;
    for (k, event) in events.iter().enumerate() {
        let step = |e: &Value| (e["run"].clone(), e["step"].clone());
        match event["event"].as_str() {
            Some("stimulus") => {
                let next = &events[k + 1];
                assert_eq!(
                    (&next["event"], &next["way"]),
                    (&"bytes".into(), &"sent".into())
                );
                assert_eq!(step(next), step(event));
                sent += 1;
            }
            Some("output") => {
                let before = events[..k].iter().rev().find(|e| e["way"] == "received");
                assert_eq!(step(before.expect("bytes")), step(event));
            }
            _ => {}
        }
    }
    assert!(sent > 5, "{text}");
    let of = |way: &str| -> Vec<&Value> { events.iter().filter(|e| e["way"] == way).collect() };
    assert!(
        of("sent")
            .iter()
            .any(|e| e["text"] == "PING 1" && e["length"] == 6)
    );
    assert!(
        of("sent").iter().any(|e| e["hex"] == "72617720fffe"),
        "{text}"
    );
    let heard: String = of("stderr")
        .iter()
        .filter_map(|e| e["text"].as_str())
        .collect();
    // What answers the last stimulus of a run may come after its end.
    let count = heard.matches("heard").count();
    assert!(count <= sent && count + 3 >= sent, "{heard}");
    // The journal is still one that can be replayed and judged again.
    iolite(&["replay", &journal, "--run", "0"]).expect(0);
    iolite(&["monitor", &model, &journal]).expect(0);
    let compact = folder.join("journal.iolj").display().to_string();
    args[5] = &compact;
    iolite(&args).expect(0);
    let shown = iolite(&["show", &compact]).expect(0).stdout;
    assert_eq!(shown.matches("\"way\":\"sent\"").count(), sent);
    let page = std::fs::read_to_string(&report).expect("a page");
    assert!(page.contains("Bytes and standard error"));
    assert!(
        !page.contains("<b>heard"),
        "what the system wrote is no markup"
    );
    let data = data(&page);
    let pieces = data["runs"][0]["bytes"].as_array().expect("bytes").clone();
    assert!(
        pieces
            .iter()
            .any(|piece| piece[1] == "s" && piece[4] == false)
    );
    assert!(
        pieces
            .iter()
            .any(|piece| piece[1] == "e" && piece[2].is_null())
    );
}

#[test]
fn a_report_of_data_says_which_boundaries_were_tried() {
    let folder = scratch("report-values");
    let model = "system Limit { var n: int = 0  input add(k: int)  output ok, full
      initial state Idle { ?add(k) [k > 0 && n + k <= 10] / n := n + k -> Good  ?add(k) [k > 0 && n + k > 10] -> Bad }
      state Good { !ok -> Idle }  state Bad { !full -> Idle } }";
    let model = write(&folder, "limit.iol", model);
    let journal = folder.join("journal.jsonl").display().to_string();
    let system = format!("model:{model}");
    let mut args = vec![
        "test",
        &model,
        "--sut",
        &system,
        "--journal",
        &journal,
        "--seed",
        "2",
    ];
    args.extend(["--runs", "2", "--steps", "30", "--json"]);
    let told = iolite(&args).expect(0).json();
    let report = folder.join("report.html").display().to_string();
    iolite(&["report", &journal, "-o", &report]).expect(0);
    let page = std::fs::read_to_string(&report).expect("a page");
    // What the campaign counted as it ran is what the page counts from the journal.
    let boundaries = &told["values"]["boundaries"];
    let counted = format!("<dd>{} of {}</dd>", boundaries["tried"], boundaries["of"]);
    assert!(page.contains(&counted), "{counted}");
    let untried = boundaries["untried"].as_array().expect("a list").len();
    let (_, section) = page.split_once("id=\"values\"").expect("a section");
    let (section, _) = section.split_once("</section>").expect("an end");
    assert_eq!(section.matches(">no</span>").count(), untried, "{section}");
}

#[test]
fn requirements_stand_beside_their_verdicts() {
    let folder = scratch("report-matrix");
    let journal = folder.join("journal.jsonl").display().to_string();
    let report = folder.join("report.html").display().to_string();
    let observers = write(
        &folder,
        "w.iol",
        "observer NoChoc { initial state s { !choc -> bad  * -> s }  violate state bad }
         observer NoLiq { initial state s { !liq -> bad  * -> s }  violate state bad }",
    );
    let (one, other) = (format!("{observers}#NoChoc"), format!("{observers}#NoLiq"));
    let candy = "examples/candy/candy.iol";
    let sut = format!("model:{candy}");
    let mut args = vec![
        "test",
        candy,
        "--sut",
        &sut,
        "--observer",
        &one,
        "--observer",
        &other,
    ];
    args.extend([
        "--runs",
        "4",
        "--steps",
        "20",
        "--journal",
        &journal,
        "--report",
        &report,
    ]);
    iolite(&args);
    let page = std::fs::read_to_string(&report).expect("a page");
    let (_, section) = page.split_once("class=\"matrix\"").expect("a matrix");
    let (section, _) = section.split_once("</table>").expect("an end");
    assert_eq!(section.matches("scope=\"row\"").count(), 2, "{section}");
    assert!(section.contains("v-violate"), "{section}");
    assert!(section.contains("href=\"#run-0\""), "{section}");
}
