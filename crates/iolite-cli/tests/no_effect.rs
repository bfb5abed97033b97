//! Nothing is ignored silently: what has no effect is a warning with a hint, or an error.

mod common;

use common::{iolite, scratch, write};

const MODEL: &str = "system Lamp {
  input press
  output on
  initial state Off { ?press -> On }
  state On { !on -> Off  ?press -> On }
}
observer Never for Lamp {
  initial state Good { * -> Good }
  violate state Bad
}
";

const LAMP: &str = "cmd:sed -u s/.*/on/";

#[test]
fn descriptions_that_have_no_effect() {
    let folder = scratch("no-effect-descriptions");
    let model = write(&folder, "lamp.iol", MODEL);
    for (text, part) in [
        ("[actions.\"?press\"]\nsend = \"P\"", "[actions.press]"),
        ("[actions.press]\nrecv = \"P\"", "did you mean `send`?"),
        ("[actions.on]\nsend = \"on\"", "did you mean `recv`?"),
    ] {
        let text = format!("command = \"sed -u s/.*/on/\"\n{text}\n");
        let sut = write(&folder, "sut.toml", text);
        let args = [
            "test",
            &model,
            "--sut",
            &sut,
            "--runs",
            "1",
            "--steps",
            "2",
            "--no-journal",
        ];
        let ran = iolite(&[&args[..], &["--quiescence-ms", "100"]].concat());
        assert!(
            ran.stderr.contains("no effect") && ran.stderr.contains(part),
            "{}",
            ran.stderr
        );
    }
}

/// A message is read by the first template that fits: one that comes too late is never read.
#[test]
fn templates_that_never_match() {
    let folder = scratch("no-effect-templates");
    let redis = "system Redis {
  input get
  output bulk, null
  initial state Idle { ?get -> Asked }
  state Asked { !bulk -> Idle  !null -> Idle }
}
";
    let with_data = redis.replace("output bulk", "output bulk(s: string)");
    let with_data = with_data.replace("!bulk", "!bulk(s)");
    for (model, bulk, warns) in [
        (redis, "${_}", true),
        (redis, "${_:int}\\n{_}", false),
        (&with_data, "${s}", true),
        (&with_data, "${s:/[a-z]+/}", false),
    ] {
        let model = write(&folder, "redis.iol", model);
        let text = format!(
            "command = \"sed -u s/.*/$-1/\"\n[actions.bulk]\nrecv = \"{bulk}\"\n[actions.null]\nrecv = \"$-1\"\n"
        );
        let sut = write(&folder, "sut.toml", text);
        let args = ["test", &model, "--sut", &sut, "--runs", "1", "--steps", "2"];
        let ran = iolite(&[&args[..], &["--no-journal", "--quiescence-ms", "2000"]].concat());
        let told = ran.stderr.contains("output `null` is never observed")
            && ran.stderr.contains("read as `bulk` first");
        assert_eq!(told, warns, "{bulk}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn directions_of_a_file_that_has_its_own() {
    let folder = scratch("no-effect-directions");
    let model = write(&folder, "lamp.iol", MODEL);
    let ran = iolite(&["show", &model, "--input", "press"]);
    assert!(
        ran.stderr.contains("--input press has no effect") && ran.stderr.contains("`input a`"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.stderr.matches("no effect").count(), 1, "{}", ran.stderr);
}

#[test]
fn flags_that_have_no_effect() {
    let folder = scratch("no-effect-flags");
    let model = write(&folder, "lamp.iol", MODEL);
    let args = [
        "test",
        &model,
        "--sut",
        LAMP,
        "--runs",
        "1",
        "--steps",
        "2",
        "--no-journal",
    ];
    for (more, part) in [
        (
            ["--map", "nosuch.toml"],
            "--map has no effect beside a model",
        ),
        (["--inputs", "x"], "--inputs has no effect beside a model"),
        (["--until-coverage", "0.9"], "90 means that share"),
    ] {
        let ran = iolite(&[&args[..], &more].concat()).expect(2);
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
    let log = write(&folder, "some.log", "?press\n");
    let ran = iolite(&["monitor", &model, &log, "--map", "nosuch.toml"]).expect(2);
    assert!(ran.stderr.contains("--map has no effect"), "{}", ran.stderr);
}

#[test]
fn names_of_plain_labels() {
    let folder = scratch("no-effect-labels");
    let aut = write(
        &folder,
        "plain.aut",
        "des (0, 2, 2)\n(0, \"send(1)\", 1)\n(1, \"got(1)\", 0)\n",
    );
    let show =
        |more: &[&str]| iolite(&[&["show", &aut, "--format", "aut"], more].concat()).expect(0);
    let ran = show(&["--input", "send", "--output", "got"]);
    assert!(
        ran.stdout.contains("?send(1)") && ran.stdout.contains("!got(1)"),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.stderr, "");
    let ran = show(&["--input", "sent"]);
    assert!(
        ran.stderr.contains("--input sent has no effect"),
        "{}",
        ran.stderr
    );
    let ran = show(&["--output-prefix", "O_"]);
    assert!(
        ran.stderr.contains("--output-prefix O_ has no effect"),
        "{}",
        ran.stderr
    );
}

#[test]
fn logs_and_observers() {
    let folder = scratch("no-effect-logs");
    let model = write(&folder, "lamp.iol", MODEL);
    let log = write(&folder, "other.log", "hello\nworld\n");
    let ran = iolite(&["monitor", &format!("{model}#Lamp"), &log, "--skip-other"]).expect(3);
    assert!(
        ran.stdout.contains("no line of the log is a step"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stderr.contains("--skip-other left out every line"),
        "{}",
        ran.stderr
    );
    let never = format!("{model}#Never");
    let ran = iolite(&["verify", &format!("{model}#Lamp"), "--property", &never]);
    assert!(
        ran.stderr.contains("nothing can violate it"),
        "{}\n{}",
        ran.stdout,
        ran.stderr
    );
}

/// Goals and coverage judge by ioco, which fails what another relation allows: a relation beside them is refused, and not
/// ignored.
#[test]
fn relations_beside_goals_and_coverage() {
    let folder = scratch("no-effect-relations");
    let spec = write(
        &folder,
        "s.aut",
        "des (0,4,4)\n(0,\"?a\",1)\n(0,\"?a\",2)\n(1,\"?b\",3)\n(3,\"!x\",3)\n",
    );
    // It conforms for uioco, since a state after ?a refuses ?b, and not for ioco.
    let lazy = write(
        &folder,
        "i.aut",
        "des (0,4,2)\n(0,\"?a\",1)\n(0,\"?b\",0)\n(1,\"?a\",1)\n(1,\"?b\",1)\n",
    );
    iolite(&["relate", "uioco", &lazy, &spec]).expect(0);
    iolite(&["relate", "ioco", &lazy, &spec]).expect(1);
    let goals = write(
        &folder,
        "g.iol",
        "purpose Deep {\n  initial state Q { ?b -> Done }\n  accept state Done\n}\n\
         observer Never {\n  initial state Good { !x -> Bad }\n  violate state Bad\n}\n",
    );
    let goal = |name: &str| format!("{goals}#{name}");
    let (purpose, observer) = (goal("Deep"), goal("Never"));
    let purpose = ["--purpose", purpose.as_str()];
    let observer = ["--observer", observer.as_str()];
    let property = ["--property", "ltl:G(?a -> F !x)"];
    let cover = ["--cover", "transitions"];
    let out = folder.join("d").display().to_string();
    let log = write(&folder, "l.log", "?a\n?b\ndelta\n");
    let sut = format!("model:{lazy}");
    let derive = ["derive", spec.as_str(), "-o", out.as_str()];
    let test = ["test", spec.as_str(), "--sut", sut.as_str(), "--no-journal"];
    let monitor = ["monitor", spec.as_str(), log.as_str()];
    let mutate = ["mutate", spec.as_str()];
    let asked: [(&[&str], &[&[&str]]); 4] = [
        (&derive, &[&cover, &purpose, &observer, &property]),
        (&test, &[&purpose, &observer, &property]),
        // Beside it a property judges the log alone, and the relation is asked as well.
        (&monitor, &[&purpose, &observer]),
        (&mutate, &[&purpose]),
    ];
    for (command, goals) in asked {
        for goal in goals {
            let ran = iolite(&[command, goal, &["--relation", "uioco"]].concat()).expect(2);
            let said = format!("--relation uioco and {} do not go together", goal[0]);
            assert!(ran.stderr.contains(&said), "{command:?}: {}", ran.stderr);
            let ran = iolite(&[command, goal].concat());
            assert!(
                !ran.stderr.contains("go together"),
                "{command:?}: {}",
                ran.stderr
            );
        }
    }
    for relation in ["conf", "trace", "ioconf"] {
        let ran = iolite(&[&derive[..], &cover, &["--relation", relation]].concat()).expect(2);
        assert!(ran.stderr.contains("do not go together"), "{}", ran.stderr);
    }
}
