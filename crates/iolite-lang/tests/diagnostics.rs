//! What people see when something is wrong: one snapshot a mistake, from `data/mistakes.txt`.

use std::fmt::Write;

use iolite_lang::{Style, parse_and_check, render};

/// Cases are separated by lines of dashes.
const MISTAKES: &str = include_str!("data/mistakes.txt");

#[test]
fn mistakes() {
    let mut out = String::new();
    for case in MISTAKES.split("-----\n") {
        let (_, found) = parse_and_check(case);
        let text = render("m.iol", case.as_bytes(), &found, Style::default());
        assert!(!found.is_empty(), "no mistake in:\n{case}");
        writeln!(out, "{}\n{text}", "=".repeat(60)).expect("a string");
    }
    expect_test::expect_file!["data/mistakes.expected.txt"].assert_eq(&out);
}

#[test]
fn all_mistakes_of_a_file_come_at_once() {
    let text = "system S {\n  state a { ?x -> }\n  state b { -> c }\n  sate c\n}\nproces P = stop\nprocess Q = a; [] b\n";
    let (file, found) = parse_and_check(text);
    let lines: Vec<u32> = found
        .iter()
        .map(|d| file.lines.line(d.span.start))
        .collect();
    assert_eq!(lines, [2, 3, 4, 6, 7]);
}

/// What people write out of habit from other languages and tools gets told what stands for it here.
#[test]
fn habits_of_other_languages() {
    let members = [
        ("const MAX = 3", "its sort is missing: `MAX: int = …`"),
        ("var q: list<int>", "`int[]`"),
        ("input a, output x", "leave the `,` before it out"),
        ("input c(k: integer)", "write `int`"),
        ("input c(k: Boolean)", "write `bool`"),
        ("input c(f: float)", "decimals of fixed places"),
    ];
    let transitions = [
        ("?b(k) [k <> 1] -> s", "different is written `!=`"),
        ("?b(k) [k =< 1] -> s", "at most is written `<=`"),
        ("?b(k) [k == 1 and n == 2] -> s", "write `&&`"),
        ("?b(k) [k == 1 or n == 2] -> s", "write `||`"),
        ("?b(k) [not k == 1] -> s", "write `!`"),
        ("?b(k) [k > 10ms] -> s", "numbers have no units"),
        ("?b(k) / n++ -> s", "write `n := n + 1`"),
        ("?b(k) / n += k -> s", "write `n := n + …`"),
        ("?b(k) / !y -> s", "an output is a transition of its own"),
        ("?b(k) [k = 1] -> s", "equality is `==`"),
        (
            "?t(w) [w contains \"x\"] -> s",
            "write `contains(a, b)` for texts, `b in a` for sets",
        ),
        (
            "?t(w) [w.contains(\"x\")] -> s",
            "write `contains(a, b)` for texts",
        ),
        (
            "?t(w) [w.length() > 3] -> s",
            "for `a.length(…)` write `len(a)`",
        ),
        (
            "?t(w) [len(w) == 3 && w startsWith \"x\"] -> s",
            "write `prefix(b, a)`",
        ),
        (
            "?t(w) [w.reverse() == w] -> s",
            "values have no methods: write `reverse(a, b)`",
        ),
    ];
    let system = |member: &str, transition: &str| {
        format!(
            "system S {{ {member}\n var n: int = 0  input b(k: int), t(w: string)  output y\n initial state s {{ {transition} }} }}"
        )
    };
    let members = members.map(|(member, hint)| (system(member, "?b(k) -> s"), hint));
    let transitions = transitions.map(|(transition, hint)| (system("", transition), hint));
    let property = (
        system("", "?b(k) -> s") + "\nproperty P for S = G (?b -> F !y)",
        "starts with `ltl`",
    );
    for (text, hint) in members.into_iter().chain(transitions).chain([property]) {
        let (_, found) = parse_and_check(&text);
        let shown = render("m.iol", text.as_bytes(), &found, Style::default());
        assert!(shown.contains(hint), "{hint}\n{shown}");
    }
    // A label that stands there in the wrong direction is one mistake, not two.
    let turned = "system S { input a  initial state s { !a -> s } }";
    let (_, found) = parse_and_check(turned);
    assert_eq!(found.len(), 1, "{found:?}");
}
