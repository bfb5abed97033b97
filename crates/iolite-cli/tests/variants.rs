//! Sorts with variants, recursive functions and quantifiers through the command line: on the fly, from
//! logs, by simulation, and against real programs, correct and broken.

mod common;

use common::{Ran, iolite, scratch, write};

fn python() -> bool {
    let there = std::process::Command::new("python3")
        .arg("--version")
        .output();
    let there = there.is_ok_and(|o| o.status.success());
    if !there {
        println!("skipped: there is no python3");
    }
    there
}

fn test(model: &str, sut: &str, more: &[&str]) -> Ran {
    let args = [
        "test",
        model,
        "--sut",
        sut,
        "--no-journal",
        "--stop-on-fail",
        "--json",
    ];
    iolite(&[&args[..], more].concat())
}

fn example(name: &str, model: &str, passing: &[&str], failing: &[&str], faults: &[&str]) {
    if !python() {
        return;
    }
    let model = format!("examples/{name}/{model}");
    let sut = |fault: &str| format!("examples/{name}/sut{fault}.toml");
    let json = test(&model, &sut(""), passing).expect(0).json();
    assert_eq!(json["verdict"], "pass", "{json}");
    for fault in faults {
        let json = test(&model, &sut(&format!("-{fault}")), failing)
            .expect(1)
            .json();
        assert_eq!(json["verdict"], "fail", "{fault}");
    }
}

#[test]
fn who_is_lucky() {
    let faults = ["late", "name"];
    let (passing, failing) = (
        ["--steps", "30", "--runs", "3"],
        ["--steps", "150", "--runs", "20"],
    );
    example("lucky", "lucky.iol", &passing, &failing, &faults);
}

#[test]
fn customers_and_orders() {
    let faults = ["no-fax", "order", "forgets"];
    let (passing, failing) = (
        ["--steps", "8", "--runs", "2"],
        ["--steps", "10", "--runs", "12"],
    );
    example("orders", "orders.iol#Orders", &passing, &failing, &faults);
}

#[test]
fn jobs_for_four_processors() {
    // The other faults need longer runs.
    let faults = ["fails"];
    let (passing, failing) = (
        ["--steps", "6", "--runs", "2"],
        ["--steps", "30", "--runs", "20"],
    );
    example(
        "dispatch",
        "dispatch.iol#Dispatch",
        &passing,
        &failing,
        &faults,
    );
}

const STACK: &str = "type List = Nil | Cons(head: int, tail: List)
fn length(l: List): int = match l { Nil => 0, Cons(_, t) => 1 + length(t) }
fn total(l: List): int = match l { Nil => 0, Cons(h, t) => h + total(t) }
system Stack {
  input push(x: int), load(l: List), sum
  output is(n: int)
  var s: List = Nil
  initial state I {
    ?push(x) [length(s) < 4] / s := Cons(x, s) -> I
    ?load(l) [length(l) == 2 && total(l) > 100] / s := l -> I
    ?sum -> T
  }
  state T { !is(n) [n == total(s)] -> I }
}
system Wrong {
  input push(x: int), load(l: List), sum
  output is(n: int)
  var s: List = Nil
  initial state I {
    ?push(x) [length(s) < 4] / s := Cons(x, s) -> I
    ?push(x) [length(s) >= 4] -> I
    ?load(l) / s := l -> I
    ?sum -> T
  }
  state T { !is(n) [n == (if length(s) == 3 then 0 else total(s))] -> I }
}";

#[test]
fn lists_are_solved_for_sent_and_judged() {
    let dir = scratch("variants-lists");
    write(&dir, "stack.iol", STACK);
    let file = |name: &str| format!("{}#{name}", dir.join("stack.iol").display());
    let model = |name: &str| format!("model:{}", file(name));
    let more = ["--steps", "12", "--runs", "2"];
    let json = test(&file("Stack"), &model("Stack"), &more)
        .expect(0)
        .json();
    assert_eq!(json["verdict"], "pass", "{json}");
    assert_eq!(json["untried"], serde_json::json!([]), "{json}");
    let more = ["--steps", "60", "--runs", "10"];
    let json = test(&file("Stack"), &model("Wrong"), &more)
        .expect(1)
        .json();
    assert_eq!(json["verdict"], "fail");

    let log = |name: &str, text: &str| {
        write(&dir, name, text);
        dir.join(name).display().to_string()
    };
    let right = log(
        "right.log",
        "?push(5)\n?load(Cons(100, Cons(7, Nil)))\n?push(1)\n?sum\n!is(108)\n",
    );
    iolite(&["monitor", &file("Stack"), &right]).expect(0);
    let wrong = log(
        "wrong.log",
        "?load(Cons(100, Cons(7, Nil)))\n?sum\n!is(106)\n",
    );
    let ran = iolite(&["monitor", &file("Stack"), &wrong]).expect(1);
    assert!(ran.stdout.contains("fail"), "{}", ran.stdout);
}

#[test]
fn what_has_no_end_is_undecided() {
    let dir = scratch("variants-endless");
    let text = "fn up(n: int): int = if n < 0 then n else up(n + 1)
system Up {
  input go
  output x(n: int)
  initial state I { ?go -> T }
  state T { !x(n) [n == up(1)] -> I }
}";
    write(&dir, "up.iol", text);
    write(&dir, "up.log", "?go\n!x(3)\n");
    let file = dir.join("up.iol").display().to_string();
    let log = dir.join("up.log").display().to_string();
    let ran = iolite(&["monitor", &file, &log]).expect(3);
    assert!(ran.stdout.contains("unknown"), "{}", ran.stdout);
    let shown = iolite(&["show", &file]).expect(3);
    assert!(shown.stderr.contains("IOL408"), "{}", shown.stderr);
}
