//! Typical mistakes, and what the user reads then.

mod common;

use common::{iolite, scratch, write};

#[track_caller]
fn mistake(args: &[&str], parts: &[&str]) {
    let ran = iolite(args).expect(2);
    assert_eq!(ran.stdout, "", "{args:?}");
    for part in parts {
        assert!(ran.stderr.contains(part), "{part}\n{}", ran.stderr);
    }
}

#[test]
fn models_that_are_not_there() {
    let fig3 = "examples/papers/lts96_fig3.iol";
    mistake(
        &["relate", "ioco", "nofile.iol", fig3],
        &["nofile.iol: no such file"],
    );
    mistake(
        &["relate", "ioco", fig3, fig3],
        &["more than one system", "#q1", "#q3"],
    );
    let q11 = format!("{fig3}#q11");
    mistake(
        &["show", &q11],
        &["no system or process `q11`", "did you mean"],
    );
    mistake(&["show", "README.md"], &["a model's name ends in .iol"]);
    mistake(
        &["relate", "ioko", fig3, fig3],
        &["unknown relation `ioko`", "uioco"],
    );
    mistake(&["relate", "ioco", fig3], &["expected IMPL and SPEC"]);
    mistake(&["relate", "ioconf-f", fig3, fig3], &["--traces FILE#F"]);
}

#[test]
fn labels_that_never_match() {
    let p1 = "examples/papers/lts96_fig1.iol#p1";
    let q1 = "examples/papers/lts96_fig3.iol#q1";
    mistake(
        &["relate", "trace", p1, q1],
        &["are different actions", "--input liq"],
    );
    mistake(
        &["relate", "ioco", p1, q1],
        &["plain label `shil`", "?inputs and !outputs"],
    );
    let folder = scratch("mismatch");
    let turned = write(
        &folder,
        "turned.iol",
        "system T { input liq  output but  initial state a { ?liq -> a  !but -> a } }",
    );
    let ran = iolite(&[
        "relate",
        "ioco",
        &turned,
        q1,
        "--complete-inputs",
        "self-loop",
    ]);
    assert!(ran.stderr.contains("warning: `?liq`"), "{}", ran.stderr);
}

#[test]
fn implementations_that_refuse_inputs() {
    let s1 = "examples/papers/lts96_fig5.iol#s1";
    mistake(
        &["relate", "ioco", s1, s1],
        &["not input-enabled", "?but", "--complete-inputs"],
    );
    iolite(&["relate", "ioco", s1, s1, "--complete-inputs", "self-loop"]).expect(0);
    // Chaos may do anything after the second push, which s1 leaves open too.
    iolite(&["relate", "ioco", s1, s1, "--complete-inputs", "chaos"]).expect(0);
}

#[test]
fn livelocks_under_the_strict_policy() {
    let s = "examples/papers/safe04_fig1.iol#S";
    let args = ["relate", "ioco", s, s, "--complete-inputs", "self-loop"];
    iolite(&args).expect(0);
    mistake(
        &[args.as_slice(), &["--quiescence", "strict"]].concat(),
        &["diverges", "q6"],
    );
    // Also where a search would end before it comes to the cycle, and where silence is not compared.
    let folder = scratch("livelocks-strict");
    let wrong = write(&folder, "i.aut", "des (0,1,1)\n(0,\"!x\",0)\n");
    let diverges = write(
        &folder,
        "s.aut",
        "des (0,4,3)\n(0,\"!y\",1)\n(1,i,2)\n(2,i,1)\n(2,\"!y\",0)\n",
    );
    let strict = ["--quiescence", "strict"];
    for relation in ["ioco", "ioconf", "trace", "testing", "conf"] {
        for [i, s] in [[&wrong, &diverges], [&diverges, &wrong]] {
            let args = ["relate", relation, i, s];
            mistake(&[&args[..], &strict].concat(), &["s.aut diverges"]);
        }
    }
    let never = write(
        &folder,
        "never.iol",
        "observer Never {\n  initial state Good { !y -> Bad }\n  violate state Bad\n}\n",
    );
    let args = ["verify", &diverges, "--property", &never];
    iolite(&args).expect(1);
    mistake(&[&args[..], &strict].concat(), &["s.aut diverges"]);
    mistake(
        &["show", s, "--view", "suspension", "--quiescence", "strict"],
        &["q6"],
    );
}

/// All mistakes of a file in one go, with places and hints.
#[test]
fn a_file_with_several_mistakes() {
    let folder = scratch("several");
    let path = write(
        &folder,
        "bad.iol",
        "system S {\n  input a\n  initial state Send_File { ?a -> Send_Fiel  ?b -> Send_File }\n}\n",
    );
    mistake(
        &["check", &path],
        &[
            "IOL104",
            "IOL105",
            "did you mean `Send_File`?",
            "bad.iol:3:",
        ],
    );
    let ran = iolite(&["check", &path, "--json"]).expect(2).json();
    let codes: Vec<_> = ran["files"][0]["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .collect();
    assert!(
        codes
            .iter()
            .any(|d| d["code"] == "IOL104" && d["line"] == 3),
        "{ran}"
    );
    let ran = iolite(&["explain-code", "iol104"]).expect(0);
    assert!(ran.stdout.starts_with("IOL104"), "{}", ran.stdout);
    iolite(&["explain-code", "IOL999"]).expect(2);
}

#[test]
fn files_that_are_no_models() {
    let folder = scratch("hostile");
    let files: [(&str, &[u8]); 5] = [
        ("empty.aut", b""),
        ("huge.aut", b"des (0,4294967295,4294967295)\n(0,a,1)\n"),
        ("cut.aut", b"des (0,2,2)\n(0,\"a\",1)\n"),
        ("bytes.dot", b"digraph \xff\xfe {"),
        ("bytes.iol", b"system \xff {"),
    ];
    for (name, bytes) in files {
        let path = write(&folder, name, bytes);
        let ran = iolite(&["show", &path]).expect(2);
        assert!(ran.stderr.contains("IOL"), "{name}: {}", ran.stderr);
    }
}

/// A bound that runs out is unknown, exit code 3, and says how far it got.
#[test]
fn bounds_end_in_unknown() {
    let folder = scratch("bounds");
    let mut text = String::from("des (0,40000,40000)\n");
    for k in 0..40_000 {
        text += &format!("({k},\"?a\",{})\n", (k + 1) % 40_000);
    }
    let path = write(&folder, "long.aut", text);
    let ran = iolite(&[
        "relate",
        "trace",
        &path,
        &path,
        "--max-memory",
        "100K",
        "--json",
    ]);
    let answer = ran.expect(3).json();
    assert_eq!(answer["holds"], serde_json::Value::Null);
    assert!(
        answer["unknown"].as_str().unwrap().contains("bytes"),
        "{answer}"
    );
    let ran = iolite(&["relate", "trace", &path, &path, "--timeout", "0"]).expect(3);
    assert!(
        ran.stdout.contains("no difference up to traces of length"),
        "{}",
        ran.stdout
    );
    iolite(&["relate", "trace", &path, &path]).expect(0);
    let bounded = ["--view", "determinised", "--max-states", "10"];
    let ran = iolite(&[&["show", &path][..], &bounded].concat()).expect(3);
    assert!(ran.stderr.contains("more than 10"), "{}", ran.stderr);
}

/// `observer W for S` and its siblings, used with another system than S: told of, and refused where
/// an action is missing. Instances of S are S.
#[test]
fn what_is_for_another_system() {
    let folder = scratch("for-another");
    let body = "initial state s { ?a(n) -> t }  state t { !x -> s }";
    let systems = format!(
        "system S {{ input a(n: 0..1)  output x  const k: 0..3  {body} }}
         system I = S(k = 2)
         system J = I
         system U {{ input a(n: 0..1)  output x  {body} }}
         system T {{ output x  initial state s {{ !x -> s }} }}"
    );
    let watchers = "observer W for S { initial state p { ?a -> q  * -> p }  state q { !x -> v }  violate state v }
         purpose P for S { initial state p { ?a -> q }  state q { !x -> v }  accept state v }
         property Q for S = ltl G(not !x)
         traces F for S = { !x }";
    let together = write(&folder, "together.iol", format!("{systems}\n{watchers}"));
    let alone = write(&folder, "alone.iol", watchers);
    let other = write(&folder, "other.iol", &systems);
    let suite = folder.join("suite").display().to_string();
    let use_with = |file: &str, model: &str| {
        let reference = |name| format!("{file}#{name}");
        let log = write(&folder, "run.log", "?a(0)\n");
        let silent = write(&folder, "silent.toml", format!("model = \"{model}\""));
        let size = [
            "--runs",
            "1",
            "--steps",
            "2",
            "--no-journal",
            "--complete-inputs",
            "self-loop",
        ];
        [
            iolite(&["verify", model, "--property", &reference("W")]),
            iolite(&["verify", model, "--property", &reference("Q")]),
            iolite(&["derive", model, "-o", &suite, "--purpose", &reference("P")]),
            iolite(
                &[
                    &[
                        "test",
                        model,
                        "--sut",
                        &silent,
                        "--observer",
                        &reference("W"),
                    ][..],
                    &size,
                ]
                .concat(),
            ),
            iolite(&["monitor", model, &log, "--observer", &reference("W")]),
            iolite(&[
                "relate",
                "ioconf-f",
                model,
                model,
                "--traces",
                &reference("F"),
                "--complete-inputs",
                "self-loop",
            ]),
        ]
        .map(|ran| ran.stderr)
    };
    for (file, model) in [
        (&together, format!("{together}#S(k = 1)")),
        (&together, format!("{together}#I")),
        (&together, format!("{together}#J")),
        (&alone, format!("{other}#I")),
        (&alone, format!("{other}#S(k = 1)")),
    ] {
        for told in use_with(file, &model) {
            assert!(!told.contains("is for"), "{file} {model}\n{told}");
        }
    }
    for (file, model) in [
        (&together, format!("{together}#U")),
        (&together, format!("{other}#I")),
        (&alone, format!("{other}#U")),
    ] {
        let names = ["W", "Q", "P", "W", "W", "F"];
        for (name, told) in names.iter().zip(use_with(file, &model)) {
            assert!(told.contains("warning: "), "{file} {model}\n{told}");
            assert!(told.contains(&format!("`{name}`")), "{told}");
            assert!(told.contains(&format!(", not for {model}")), "{told}");
        }
    }
    let model = format!("{together}#T");
    for (name, keyword) in [("W", "observer"), ("P", "purpose")] {
        let reference = format!("{together}#{name}");
        let flag = format!("--{keyword}");
        mistake(
            &["derive", &model, "-o", &suite, &flag, &reference],
            &[&format!(
                "{keyword} `{name}` of {together} is for system `S`, not for {model}, which has no `?a`"
            )],
        );
    }
}

#[test]
fn the_layout_of_files() {
    let folder = scratch("fmt");
    let text = "// kept\nsystem   S{input a initial state p{?a->p}}\n";
    let path = write(&folder, "ugly.iol", text);
    iolite(&["fmt", "--check", &path]).expect(1);
    iolite(&["fmt", "--write", &path]).expect(0);
    iolite(&["fmt", "--check", &path]).expect(0);
    let tidy = std::fs::read_to_string(&path).unwrap();
    assert!(tidy.starts_with("// kept\n"), "{tidy}");
    assert_eq!(
        std::fs::read_dir(&folder).unwrap().count(),
        1,
        "nothing half-written is left"
    );
}

/// What goes out comes in again.
#[test]
fn formats_of_show() {
    let folder = scratch("formats");
    let model = "examples/papers/ioco99_fig1.iol#r1";
    for ending in ["aut", "dot", "json", "iol"] {
        let path = folder.join(format!("r1.{ending}")).display().to_string();
        iolite(&["show", model, "-o", &path]).expect(0);
        iolite(&["relate", "ioco", &path, model]).expect(0);
        iolite(&["relate", "ioco", model, &path]).expect(0);
    }
    let svg = iolite(&["show", model, "--format", "svg"]).expect(0).stdout;
    assert!(svg.starts_with("<svg") || svg.starts_with("<?xml"), "{svg}");
}

#[test]
fn states_that_no_values_lead_to_and_guards_that_always_fault_are_told_of() {
    let folder = scratch("mistakes-unreached");
    let text = "\
system M {
  var n: 0..3 = 0
  input a(p: 0..3), b  output x(v: 0..3)
  initial state S {
    ?a(p) [p > 3] -> D
    ?b [n == 1] -> E
    ?a(p) [p == 1] / n := 2 -> S
    !x(v) [v == n && n == 0] -> S
  }
  state D { !x(v) -> S }
  state E { !x(v) -> S }
}
system F {
  var n: int = 0
  input a(p: int)  output x(v: int)
  initial state S { ?a(p) / n := p -> S  !x(v) [v == 1 / 0] -> S  !x(v) [v == [1, 2][2]] -> S  !x(v) [n < n] -> S }
}
system L { var n: 0..1 = 0 input a output x initial state S { ?a [n == 0] / n := 1 -> T } state T { !x -> S } }
system R { var n: 0..1 = 0 input x output y initial state S { ?x [n == 1] -> T } state T { !y -> S } }
system Both = L |[x]| R
";
    let file = write(&folder, "lints.iol", text);
    let report = iolite(&["check", &file, "--json"]).expect(0).json();
    let found = report["files"][0]["diagnostics"]
        .as_array()
        .expect("a list")
        .clone();
    let lines = |code: &str, part: &str| -> Vec<u64> {
        let said = |d: &&serde_json::Value| {
            d["code"] == code && d["message"].as_str().is_some_and(|m| m.contains(part))
        };
        let lines = found.iter().filter(said).map(|d| d["line"].as_u64());
        lines.map(|line| line.expect("a line")).collect()
    };
    assert_eq!(lines("IOL500", "never true"), [10], "{found:?}");
    assert_eq!(
        lines("IOL500", "no values lead there"),
        [11, 19],
        "{found:?}"
    );
    assert_eq!(lines("IOL504", "it faults"), [16, 16], "{found:?}");
    assert_eq!(lines("IOL504", "never true"), [5, 16], "{found:?}");
}

/// Slips of people who know other languages: one message each, with what to write instead.
#[test]
fn slips_in_models() {
    let folder = scratch("slips");
    let system = |body: &str| format!("system S {{ input a\n {body} }}");
    let loops = "initial state A { ?a -> A }";
    for (text, hint) in [
        (system("initial state A { ?a → A }"), "write `->`"),
        (
            format!("# a comment\n{}", system(loops)),
            "a comment starts with `//`",
        ),
        (
            system(&format!("const s: string = 'hi' {loops}")),
            "a string is written in double quotes",
        ),
        (
            system("var n: int = 0 initial state A { ?a [n = 3] -> A }"),
            "equality is `==`, an assignment `:=`",
        ),
        (
            system(&format!("var x: int = 0.5 {loops}")),
            "`round(…)`, `floor(…)` and `ceil(…)` are integers",
        ),
        (system(&format!("; {loops}")), "leave the `;` out"),
        (
            "property P over {a} = ltl []".to_owned(),
            "stand before a formula",
        ),
    ] {
        let file = write(&folder, "slip.iol", &text);
        let ran = iolite(&["check", &file]).expect(2);
        assert!(ran.stderr.contains(hint), "{text}\n{}", ran.stderr);
        assert!(
            ran.stderr.contains("\n1 error, 0 warnings"),
            "{text}\n{}",
            ran.stderr
        );
    }
}

/// Slips in descriptions, in the place where they are, without a word on `--sut`.
#[test]
fn slips_in_descriptions() {
    let folder = scratch("description-slips");
    for (text, hint) in [
        ("cmd = \"cat\"", "did you mean command?"),
        (
            "command = \"cat\"\nquiescence = 100",
            "write `[quiescence]`",
        ),
        (
            "command = \"cat\"\n[quiescence]\ntimeout-ms = \"100\"",
            "a number is written without quotes",
        ),
        ("command = \"cat | tee log\"", "there is no shell"),
        ("tcp = \"127.0.0.1\"", "has no port; write HOST:PORT"),
        (
            "command = \"cat\"\n[actions.liq]\nrecv = '{\"a\": 1}'",
            "a brace that is text is doubled: {{ and }}",
        ),
    ] {
        let file = write(&folder, "slip.toml", text);
        let ran = iolite(&["test", "examples/candy/candy.iol", "--sut", &file]).expect(2);
        assert!(ran.stderr.contains(hint), "{text}\n{}", ran.stderr);
        assert!(!ran.stderr.contains("--sut takes"), "{}", ran.stderr);
    }
    let candy = "examples/candy/candy.iol";
    let sut = "model:examples/candy/candy.iol";
    mistake(
        &["test", candy, "--purpose", "Crossed", "--sut", sut],
        &["together with its file: FILE#Crossed"],
    );
    let missing = iolite(&["replay", "nosuch"]);
    assert!(!missing.stderr.contains("line 0"), "{}", missing.stderr);
}

/// Editors want the end of a mistake too.
#[test]
fn mistakes_have_an_end_in_json() {
    let folder = scratch("spans");
    let file = write(
        &folder,
        "end.iol",
        "system S {\n  input abc\n  initial state A {}\n}",
    );
    let report = iolite(&["check", "--json", &file]).json();
    let found = &report["files"][0]["diagnostics"][0];
    let place = ["line", "column", "end_line", "end_column"].map(|k| found[k].as_u64());
    assert_eq!(place, [2, 9, 2, 12].map(Some), "{found}");
}

/// Descriptions of a system as people write them at first: each is refused before anything is started, with
/// what to write instead.
#[test]
fn descriptions_that_are_nearly_right() {
    let folder = scratch("nearly-right");
    let model = "examples/candy/candy.iol";
    let mistakes: &[(&str, &[&str])] = &[
        (
            "cmd = \"x\"",
            &["did you mean command?", "line 1, column 1"],
        ),
        (
            "command = \"x\"\n[send]\nshil = \"S\"",
            &["[actions.NAME]", "line 2"],
        ),
        (
            "command = \"x\"\n[actions]\nshil = \"S\"",
            &["[actions.NAME]", "line 3"],
        ),
        (
            "command = \"x\"\n[limits]\nmessage-bytes = 3",
            &["did you mean max-message-bytes?"],
        ),
        ("command = \"x\"\nenv = \"A=1\"", &["write `[env]`"]),
        (
            "command = \"x\"\ncontext = \"sync\"",
            &["did you mean synchronous?"],
        ),
        (
            "command = \"x\"\n[quiescence]\ntimeout-ms = 0",
            &["1 is the least"],
        ),
        (
            "command = \"x\"\n[quiescence.states]\nReady = 0",
            &["the timeout of Ready is 0"],
        ),
        (
            "command = \"x\"\n[quiescence]\ntimeout-ms = -5",
            &["none below zero"],
        ),
        (
            "command = \"x\"\n[quiescence]\ntimeout-ms = 0.5",
            &["a whole number"],
        ),
        ("command = \"cat ~/x\"", &["there is no shell", "~/x"]),
        (
            "command = \"cat $HOME/x\"",
            &["there is no shell", "$HOME/x"],
        ),
        (
            "command = \"x\"\ndir = \"nowhere\"",
            &["there is no folder", "nowhere"],
        ),
        ("tcp = \"tcp://127.0.0.1:9\"", &["leave tcp:// out"]),
        ("udp = \"127.0.0.1:9\"", &["own =", "peer ="]),
        (
            "http = \"http://127.0.0.1:9\"",
            &["which request input", "send = \"GET /"],
        ),
        (
            "http = \"http://127.0.0.1:9\"\n[actions.shil]\nsend = \"/x\"\n[actions.dub]\nsend = \"GET /y\"",
            &["begins with \"/x\"", "no `METHOD /path`"],
        ),
        (
            "http = \"http://127.0.0.1:9\"\n[actions.shil]\nsend = \"GET /x\"\n[actions.dub]\nsend = \"GET y\"",
            &["begins with \"GET y\""],
        ),
        (
            "http = \"http://127.0.0.1:9\"\n[actions.shil]\nmethod = \"GET\"",
            &["send = \"GET /path/{n}\""],
        ),
    ];
    for (text, parts) in mistakes {
        let sut = write(&folder, "sut.toml", text);
        mistake(&["test", model, "--sut", &sut], parts);
    }
    // No hint is better than a wrong one.
    let sut = write(&folder, "sut.toml", "command = \"x\"\nfrobnicate = 1");
    let ran = iolite(&["test", model, "--sut", &sut]).expect(2);
    assert!(!ran.stderr.contains("did you mean"), "{}", ran.stderr);
    // What is quoted, or in a list, is meant as it stands.
    for command in ["\"cat '$HOME' '~/x'\"", "[\"cat\", \"$HOME\"]"] {
        let sut = write(&folder, "sut.toml", format!("command = {command}"));
        let ran = iolite(&["test", model, "--sut", &sut, "--runs", "1", "--steps", "1"]);
        assert!(!ran.stderr.contains("there is no shell"), "{}", ran.stderr);
    }
}

#[test]
fn flags_that_are_nearly_right() {
    let model = "examples/candy/candy.iol";
    let sut = "examples/candy/sut.toml";
    mistake(
        &["test", model, "--sut", model],
        &["--sut model:examples/candy/candy.iol"],
    );
    mistake(
        &["test", model, "--sut", sut, "--quiescence-ms", "0"],
        &["all would be silence"],
    );
    mistake(
        &["test", model, "--sut", sut, "--property", "G(!liq)"],
        &["'ltl:G(!liq)'"],
    );
    mistake(
        &["test", model, "--campaign", "nightly", "--sut", sut],
        &["[campaign.NAME]"],
    );
    mistake(
        &["simulate", model, "--tcp", "8000"],
        &["--tcp 127.0.0.1:8000"],
    );
    mistake(
        &["test", model, "--sut", sut, "--annotations", "forge"],
        &["`gitlab:FILE.json`"],
    );
    mistake(
        &["show", model, "--collapse", "a"],
        &["expected numbers of states"],
    );
    mistake(
        &["show", model, "--view", "composition", "--format", "svg"],
        &["no composition"],
    );
    mistake(
        &["show", model, "--view", "product"],
        &["--observer FILE#W"],
    );
    let folder = scratch("lines-without-sigils");
    let log = write(&folder, "plain.log", "shil\nliq\n");
    mistake(&["monitor", model, &log], &["?shil or !shil"]);
    // A folder that is not there is found out before the runs, and says its name.
    for flag in ["--junit", "--report", "--annotations"] {
        let file = if flag == "--annotations" {
            "gitlab:nowhere/x"
        } else {
            "nowhere/x"
        };
        let ran = iolite(&["test", model, "--sut", sut, flag, file]).expect(4);
        assert!(
            ran.stderr.contains("there is no folder nowhere"),
            "{}",
            ran.stderr
        );
        assert_eq!(ran.stdout, "", "no run was made");
    }
}

/// What a system writes instead of the line that is awaited is shown.
#[test]
fn a_system_that_is_ready_in_other_words() {
    let folder = scratch("ready-in-other-words");
    let script = write(
        &folder,
        "s.py",
        "import time\nprint('Ready!', flush=True)\ntime.sleep(60)\n",
    );
    let text = format!(
        "command = \"python3 {script}\"\nready = \"ready\"\n[limits]\nstartup-timeout-ms = 1500\n"
    );
    let sut = write(&folder, "sut.toml", text);
    let ran = iolite(&[
        "test",
        "examples/candy/candy.iol",
        "--sut",
        &sut,
        "--runs",
        "1",
    ])
    .expect(4);
    let all = ran.stdout + &ran.stderr;
    assert!(
        all.contains("\"ready\"") && all.contains("what came last is \"Ready!\""),
        "{all}"
    );
}

/// A log of JSON lines is read as one, whatever it is called; lines that are no steps are told how steps look.
#[test]
fn logs_of_json() {
    let folder = scratch("logs-of-json");
    let candy = "examples/candy/candy.iol";
    let steps = "{\"action\":\"?shil\"}\n{\"action\":\"!liq\"}\n";
    for name in ["run.log", "run.txt", "run"] {
        let log = write(&folder, name, steps);
        let judged = iolite(&["monitor", candy, &log]).expect(0);
        assert!(judged.stdout.contains("2 steps"), "{}", judged.stdout);
    }
    let wrong = "{\"action\":\"?shil\"}\n{\"action\":\"!choc\"}\n";
    let log = write(&folder, "wrong.log", wrong);
    iolite(&["monitor", candy, &log]).expect(1);
    for other in ["{\"act\":\"?shil\"}\n", "[{\"action\":\"?shil\"}]\n"] {
        let log = write(&folder, "other.json", other);
        let judged = iolite(&["monitor", candy, &log]).expect(3);
        assert!(
            judged.stdout.contains("a step is an object in a line"),
            "{}",
            judged.stdout
        );
    }
}

#[test]
fn nothing_at_the_same_time() {
    let candy = "examples/candy/candy.iol";
    let sut = "model:examples/candy/candy.iol";
    let told = ["'0' for '--jobs <N>'", "1 is one after the other"];
    mistake(&["test", candy, "--sut", sut, "--jobs", "0"], &told);
    mistake(&["mutate", candy, "--jobs", "0"], &told);
}

/// A file that cannot be read declares nothing, and why it cannot be read is what helps.
#[test]
fn mistakes_of_a_file_are_told_whoever_asks_for_its_declarations() {
    let folder = scratch("mistakes-declared");
    let system = "system S { input a output x initial state A { ?a -> B } state B { !x -> A } }";
    let model = write(&folder, "s.iol", system);
    let bad = write(
        &folder,
        "bad.iol",
        "observer W over { ?a } { initial state A { * -> A } }",
    );
    let log = write(&folder, "log.txt", "?a\n!x\n");
    let suite = folder.join("suite").display().to_string();
    let sut = format!("model:{model}");
    let expected = ["IOL004", "bad.iol:1:12", "found the keyword `over`"];
    mistake(&["verify", &model, "--property", &bad], &expected);
    mistake(&["monitor", &model, &log, "--observer", &bad], &expected);
    mistake(&["monitor", &model, &log, "--property", &bad], &expected);
    mistake(
        &["test", &model, "--sut", &sut, "--observer", &bad],
        &expected,
    );
    mistake(
        &["test", &model, "--sut", &sut, "--purpose", &bad],
        &expected,
    );
    mistake(
        &["derive", &model, "-o", &suite, "--observer", &bad],
        &expected,
    );
}
