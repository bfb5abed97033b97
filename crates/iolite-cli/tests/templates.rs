//! Holes of templates and the parameters of the model: by name, by position, or a mistake.

mod common;

use std::path::Path;

use common::{iolite, scratch, write};

/// Takes one number from another, and says what was taken.
const MODEL: &str = "system Minus {
  var a: int = 0, b: int = 0
  input sub(x: int, y: int)
  output is(d: int, y: int)
  initial state Ready { ?sub(x, y) / a := x, b := y -> Asked }
  state Asked { !is(d, y) [d == a - b && y == b] -> Ready }
}
";

/// Reads `TAKE y FROM x` and writes `AFTER y LEFT d`: both name the values in another order than the model.
const SYSTEM: &str = "import sys
print('ready', flush=True)
for line in sys.stdin:
    _, y, _, x = line.split()
    print('AFTER', y, 'LEFT', int(x) - int(y), flush=True)
";

fn described(folder: &Path, actions: &str) -> String {
    write(folder, "minus.py", SYSTEM);
    let text = format!(
        "command = \"python3 minus.py\"\nready = \"ready\"\n[quiescence]\ntimeout-ms = 200\n[actions]\n{actions}"
    );
    write(folder, "sut.toml", &text)
}

#[test]
fn holes_with_the_names_of_the_model_are_matched_by_name() {
    let folder = scratch("template-names");
    let model = write(&folder, "minus.iol", MODEL);
    let by_name = "sub.send = \"TAKE {y} FROM {x}\"\nis.recv = \"AFTER {y:int} LEFT {d:int}\"\n";
    let own_names = "sub.send = \"TAKE {b} FROM {a}\"\nsub.params = [\"a\", \"b\"]\n\
                     is.recv = \"AFTER {number:int} LEFT {rest:int}\"\nis.params = [\"rest\", \"number\"]\n";
    for actions in [by_name, own_names] {
        let sut = described(&folder, actions);
        let ran = iolite(&[
            "test",
            &model,
            "--sut",
            &sut,
            "--runs",
            "3",
            "--steps",
            "12",
            "--no-journal",
        ]);
        assert_eq!(ran.code, 0, "{actions}\n{}{}", ran.stdout, ran.stderr);
        // The same templates read a log, and a model that plays the system.
        for (log, code) in [
            ("TAKE 2 FROM 9\nAFTER 2 LEFT 7\n", 0),
            ("TAKE 2 FROM 9\nAFTER 2 LEFT -7\n", 1),
        ] {
            let log = write(&folder, "log.txt", log);
            let ran = iolite(&["monitor", &model, &log, "--templates", &sut]);
            assert_eq!(ran.code, code, "{actions}\n{}{}", ran.stdout, ran.stderr);
        }
    }
    // Names of one's own are matched by position: the system takes x from y.
    let sut = described(
        &folder,
        "sub.send = \"TAKE {b} FROM {a}\"\nis.recv = \"AFTER {number:int} LEFT {rest:int}\"\n",
    );
    let ran = iolite(&["test", &model, "--sut", &sut, "--runs", "3", "--no-journal"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn holes_that_do_not_fit_are_found_before_anything_is_started() {
    let folder = scratch("template-mistakes");
    let model = write(&folder, "minus.iol", MODEL);
    let good = "is.recv = \"AFTER {y:int} LEFT {d:int}\"\n";
    for (actions, part) in [
        (
            "sub.send = \"TAKE {y} FROM {number}\"\n",
            "action sub: `send` has y where the model has x; name all holes as the model does (x, y)",
        ),
        (
            "sub.send = \"TAKE {y}\"\n",
            "action sub: `send` has 1 hole (y), and the model declares 2 parameters (x, y)",
        ),
        (
            "sub.send = \"TAKE {y} FROM {x}\"\nsub.params = [\"y\", \"x\"]\n",
            "action sub: `params` has y where the model has x",
        ),
        (
            "sub.send = \"TAKE {y} FROM {x}\"\nsub.params = [\"x\", \"y\", \"z\"]\n",
            "action sub: `params` has 3 names",
        ),
    ] {
        let sut = described(&folder, &format!("{actions}{good}"));
        let ran = iolite(&["test", &model, "--sut", &sut, "--runs", "1", "--no-journal"]);
        assert_eq!(ran.code, 2, "{actions}\n{}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(part), "{actions}\n{}", ran.stderr);
    }
    // What is read and dropped has a hole of its own.
    let drops =
        "sub.send = \"TAKE {y} FROM {x}\"\nis.recv = \"AFTER {y:int} LEFT {d:int}{rest}\"\n";
    let sut = described(&folder, drops);
    let ran = iolite(&["test", &model, "--sut", &sut, "--runs", "1", "--no-journal"]);
    assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr.contains("`{_}` in recv reads what is dropped"),
        "{}",
        ran.stderr
    );
}
