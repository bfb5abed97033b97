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

/// Reports that wait in the buffer are records that internal actions handed over: formulas know their fields, and nothing of the
/// certificate is left to the tester.
#[test]
fn certificates_of_orders_are_wholly_re_checked() {
    let path = scratch("orders-evidence").join("c.json");
    let path = path.display().to_string();
    let model = "examples/orders/orders.iol#Orders";
    let log = "examples/orders/order.log";
    iolite(&["monitor", model, log, "--certificate", &path]).expect(1);
    let explained = iolite(&["explain", &path, "--json"]).expect(0).json();
    assert_eq!(explained["confirmed"], true);
    assert_eq!(explained.get("not_rechecked"), None);
}

/// Six parts hand jobs to one another unseen. Whichever processor has a job, ways that come to the same values are one, so that
/// formulas decide what all interleavings allow.
#[test]
fn certificates_of_jobs_are_wholly_re_checked() {
    let folder = scratch("dispatch-evidence");
    let path = |name: &str| folder.join(name).display().to_string();
    let job = |id: u32, x: u32| {
        format!("?job(Job {{ id = {id}, description = \"A00a\", x = {x}, y = 6 }})\n")
    };
    let mut log = String::new();
    for round in 0..6 {
        let id = 4 * round;
        log += &(job(id + 1, 4) + &job(id + 2, 9) + &job(id + 3, 6));
        log += &format!("!finish(Done({}, 1, 3))\n", id + 2);
        log += &format!("!finish(Done({}, 3, 2))\n", id + 1);
        log += &job(id + 4, 5);
        log += &format!("!finish(Done({}, 4, 6))\n", id + 3);
        // There are four processors.
        let processor = if round == 5 { 5 } else { 1 };
        log += &format!("!finish(Done({}, {processor}, 1))\n", id + 4);
    }
    std::fs::write(path("jobs.log"), log).expect("a log");
    let (log, certificate) = (path("jobs.log"), path("c.json"));
    let model = "examples/dispatch/dispatch.iol#Dispatch";
    let context = ["--context", "queues", "--certificate", &certificate];
    iolite(&[&["monitor", model, &log], &context[..]].concat()).expect(1);
    let explained = iolite(&["explain", &certificate, "--json"])
        .expect(0)
        .json();
    assert_eq!(explained["confirmed"], true);
    assert_eq!(explained.get("not_rechecked"), None);
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

#[test]
fn a_till_that_rounds() {
    let passing = ["--steps", "30", "--runs", "3"];
    example("till", "till.iol", &passing, &[], &[]);
}

#[test]
fn pairs_for_three_processors() {
    let model = "examples/dispatch/multiproc.iol#Multi";
    let more = ["--steps", "12", "--runs", "2"];
    let json = test(model, &format!("model:{model}"), &more)
        .expect(0)
        .json();
    assert_eq!(json["verdict"], "pass", "{json}");
}

const SHELF: &str = "system Shelf {
  var stock: map<string, 0..99> = {}, wanted: set<int> = {}
  input put(m: map<string, 0..99>), want(s: set<int>), price(d: decimal(2))
  output has(m: map<string, 0..99>), want(s: set<int>), price(d: decimal(2))
  var last: decimal(2) = 0
  initial state I {
    ?put(m) [len(m) == 2 && forall k in m: m[k] > 0] / stock := m -> H
    ?want(s) [1000 in s && len(s) > 1] / wanted := s -> W
    ?price(d) [d * 1.5 == 10.02] / last := d -> P
  }
  state H { !has(m) [m == stock] -> I }
  state W { !want(s) [s == remove(wanted, 1000)] -> I }
  state P { !price(d) [d == last + 0.5] -> I }
}";

/// Values that a solver has to find, and values that come in another order, with other digits, or too many.
#[test]
fn sets_maps_and_decimals_are_solved_for_sent_and_judged() {
    let dir = scratch("variants-shelf");
    write(&dir, "shelf.iol", SHELF);
    let model = dir.join("shelf.iol").display().to_string();
    let more = ["--steps", "30", "--runs", "3"];
    let json = test(&model, &format!("model:{model}"), &more)
        .expect(0)
        .json();
    assert_eq!(json["verdict"], "pass", "{json}");
    assert_eq!(json["untried"], serde_json::json!([]), "{json}");
    let monitor = |name: &str, text: &str, code: i32| {
        write(&dir, name, text);
        iolite(&["monitor", &model, &dir.join(name).display().to_string()]).expect(code)
    };
    let right = "?put({a: 1, \"b c\": 2})\n!has({\"b c\": 2, a: 1})\n?want([1000, -3, 7])\n!want([7, -3])\n\
        ?price(6.68)\n!price(7.18)\n?price(6.68)\n!price(7.180)\n";
    monitor("right.log", right, 0);
    for (i, wrong) in [
        "?put({a: 1, b: 2})\n!has({a: 1})\n",
        "?want([1000, 7])\n!want([1000, 7])\n",
        "?price(6.68)\n!price(7.17)\n",
    ]
    .iter()
    .enumerate()
    {
        monitor(&format!("wrong{i}.log"), wrong, 1);
    }
    // An element that comes twice makes no set, and a third place no price: nothing is judged by them.
    for (i, unread) in [
        "?want([1000, 7])\n!want([7, 7])\n",
        "?price(6.68)\n!price(7.185)\n",
    ]
    .iter()
    .enumerate()
    {
        write(&dir, &format!("unread{i}.log"), unread);
        let log = dir.join(format!("unread{i}.log")).display().to_string();
        let ran = iolite(&["monitor", &model, &log]);
        assert_ne!(ran.code, 0, "{unread}\n{}", ran.stdout);
    }
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
