//! Sums, functions that call themselves, quantifiers over arrays, parts of strings: what they mean in a
//! model, unfolded and as it is.

use iolite_expr::Solver;
use iolite_lang::{codes, diagnostic, parse_and_check, unfold_data};
use iolite_sts::UnfoldBudget;

/// The value that a model with these declarations gives out.
fn value(declarations: &str, sort: &str, expression: &str) -> Result<String, String> {
    let text = format!(
        "{declarations}\nsystem S {{ const c: {sort} = {expression} input go output x(v: {sort})
         initial state I {{ ?go -> T }} state T {{ !x(v) [v == c] -> I }} }}"
    );
    let (file, found) = parse_and_check(&text);
    assert!(!diagnostic::has_errors(&found), "{expression}: {found:?}");
    let mut solver = Solver::embedded();
    let lts = unfold_data(&file, "S", &mut solver, UnfoldBudget::default());
    let lts = lts.map_err(|d| d[0].message.clone())?;
    let labels = lts.labels().iter().map(|(_, label)| label.to_string());
    let shown = labels.filter_map(|l| Some(l.strip_prefix("!x(")?.strip_suffix(')')?.to_owned()));
    shown
        .filter(|v| v != "…")
        .last()
        .ok_or_else(|| "no value".to_owned())
}

const LISTS: &str = "
    type List = Nil | Cons(head: int, tail: List)
    type Tree = Leaf(n: int) | Node(left: Tree, right: Tree)
    type Rose = Rose(n: int, children: Rose[])
    record Named { name: string, list: List }
    type Weekend = Saturday | Sunday
    fn length(l: List): int = match l { Nil => 0, Cons(_, t) => 1 + length(t) }
    fn sum(t: Tree): int = if t is Leaf then t.n else sum(t.left) + sum(t.right)
    fn gcd(a: int, b: int): int = if b == 0 then a else gcd(b, a % b)
    fn even(n: int): bool = n == 0 || odd(n - 1)
    fn odd(n: int): bool = n != 0 && even(n - 1)
    fn add(n: int, l: List): List = match l { Nil => Cons(n, Nil), Cons(h, t) => if h == n then l else Cons(h, add(n, t)) }
    fn last(l: List): int = match l { Cons(h, Nil) => h, _ => 0 }
";

#[test]
fn expressions_have_the_values_that_they_say() {
    let lists = LISTS
        .lines()
        .filter(|l| !l.contains("fn last"))
        .collect::<Vec<_>>()
        .join("\n");
    for (sort, expression, expected) in [
        ("int", "length(Cons(7, Cons(8, Nil)))", "2"),
        ("int", "sum(Node(Leaf(1), Node(Leaf(2), Leaf(3))))", "6"),
        ("int", "gcd(1071, 462)", "21"),
        ("bool", "even(500)", "true"),
        (
            "List",
            "add(3, add(2, add(3, Nil)))",
            "Cons(3, Cons(2, Nil))",
        ),
        ("List", "Cons { tail = Nil, head = 4 }", "Cons(4, Nil)"),
        ("int", "Cons(5, Nil).head", "5"),
        ("bool", "Nil is Nil && !(Nil is Cons)", "true"),
        ("int", "match Sunday { Saturday => 6, Sunday => 7 }", "7"),
        ("bool", "Saturday is Sunday", "false"),
        ("Rose", "Rose(1, [Rose(2, [])])", "Rose(1, [Rose(2, [])])"),
        (
            "int",
            "length(Named { name = \"n\", list = Cons(1, Nil) }.list)",
            "1",
        ),
        (
            "bool",
            "forall x in [1, 2, 3]: x > 0 && exists y in [2, 4, 6]: y == 2 * x",
            "true",
        ),
        (
            "bool",
            "exists x in [1, 2]: forall y in [1, 2]: x < y",
            "false",
        ),
        ("bool", "3 in [1, 2] ++ [3] && !(4 in [1])", "true"),
        ("bool", "forall x in slice([1, 2], 0, 0): x > 5", "true"),
        ("int", "let n = 3 in let m = n + 1 in m * n", "12"),
        ("string", "\"grün\"[2] ++ at(\"abc\", 0)", "\"üa\""),
        ("string", "slice(\"grün\", 1, 3)", "\"rü\""),
        (
            "int",
            "indexOf(\"banana\", \"nan\") * 100 + indexOf(\"banana\", \"x\")",
            "199",
        ),
    ] {
        let found = value(&lists, sort, expression);
        assert_eq!(found.as_deref(), Ok(expected), "{expression}");
    }
    for (expression, reason) in [
        ("Nil.head", "Nil is no Cons"),
        ("length(Nil) / 0", "division by zero"),
        (
            "len(at(\"abc\", 3))",
            "index 3 out of range for a string of length 3",
        ),
        (
            "len(slice(\"abc\", 2, 4))",
            "slice 2..4 out of range for a string of length 3",
        ),
    ] {
        let found = value(&lists, "int", expression).expect_err(expression);
        assert!(found.contains(reason), "{expression}: {found}");
    }
}

#[test]
fn patterns_nest() {
    for (expression, expected) in [
        ("last(Nil)", "0"),
        ("last(Cons(3, Nil))", "3"),
        ("last(Cons(3, Cons(4, Nil)))", "0"),
    ] {
        let found = value(LISTS, "int", expression);
        assert_eq!(found.as_deref(), Ok(expected), "{expression}");
    }
}

/// A stack that is a list, of numbers below `n`.
fn stack(depth: u32) -> String {
    format!(
        "type List = Nil | Cons(head: 0..1, tail: List)
         fn length(l: List): int = match l {{ Nil => 0, Cons(_, t) => 1 + length(t) }}
         system S {{ input push(x: 0..1), pop output top(x: 0..1), none var s: List = Nil
           initial state I {{
             ?push(x) [length(s) < {depth}] / s := Cons(x, s) -> I
             ?pop [s is Cons] -> P
             ?pop [s is Nil] -> E
           }}
           state P {{ !top(x) [x == s.head] / s := s.tail -> I }}
           state E {{ !none -> I }} }}"
    )
}

#[test]
fn a_stack_unfolds_to_its_contents() {
    let (file, found) = parse_and_check(&stack(3));
    assert!(!diagnostic::has_errors(&found), "{found:?}");
    let mut solver = Solver::embedded();
    let lts = unfold_data(&file, "S", &mut solver, UnfoldBudget::default()).expect("finite");
    // 15 stacks of depth 0 to 3, of which 14 can be popped, and the empty one.
    assert_eq!(lts.state_count(), 15 + 14 + 1);
}

#[test]
fn what_runs_out_is_a_bound_and_no_mistake() {
    let text = "fn up(n: int): int = if n < 0 then n else up(n + 1)
        system S { input a output x var n: int = 0
          initial state I { ?a / n := up(n) -> I } }";
    let (file, found) = parse_and_check(text);
    assert!(!diagnostic::has_errors(&found), "{found:?}");
    let mut solver = Solver::embedded();
    let found = unfold_data(&file, "S", &mut solver, UnfoldBudget::default()).expect_err("no end");
    assert_eq!(found[0].code, codes::UNFOLDING_BOUND, "{found:?}");
    assert!(
        found[0].message.contains("up calls itself too often"),
        "{found:?}"
    );
}

#[test]
fn sorts_that_contain_one_another_go_together() {
    let text = "type A = Stop | Go(b: B, r: R)
        type B = Back(a: A) | Many(all: A[])
        record R { a: A, n: int }
        fn depth(a: A): int = match a { Stop => 0, Go(b, r) => 1 + max(below(b), depth(r.a)) }
        fn below(b: B): int = match b { Back(a) => depth(a), Many(all) => len(all) }";
    let go = "Go(Back(Stop), R { a = Go(Many([Stop, Stop]), R { a = Stop, n = 1 }), n = 2 })";
    let expression = format!("depth({go})");
    assert_eq!(value(text, "int", &expression).as_deref(), Ok("4"));
}
